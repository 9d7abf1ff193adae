// What the prefix cache finds again of prompts that come in patterns as users and agents make them, on a device with a
// little room and a tier in memory. Beside it what a cache would find that keeps blocks alone, by their last use, and
// needs no states: `lru`. Shares are of all tokens of prompts; the time is that of the cache's own work for a request.
// docs/benchmarks/server.md has the table.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "engine/scheduler.h"

namespace {

using namespace tessera::engine;
using Random = std::mt19937;
using Prompt = std::vector<int32_t>;

constexpr int64_t kBlock = 64;
constexpr int32_t kDeviceBlocks = 1024, kDeviceSlots = 24;
constexpr int32_t kStatePages = 48;  // of the 35B shape: 63 MB, a block 1.3 MB

struct Asked {
  Prompt prompt;
  std::vector<int64_t> likely_ends;  // as a chat template tells them: behind system prompt and tools
};

/// Prompts, one behind the other.
using Pattern = std::function<std::vector<Asked>(Random&)>;

int64_t between(Random& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

void append(Prompt& prompt, Random& random, int64_t tokens) {
  for (int64_t i = 0; i < tokens; ++i) prompt.push_back(static_cast<int32_t>(random() & 0xFFFFF));
}

Prompt fresh(Random& random, int64_t tokens) {
  Prompt prompt;
  append(prompt, random, tokens);
  return prompt;
}

/// The scheduler with its cache: prompts are read one behind the other, and answered with one token.
class Cache {
 public:
  explicit Cache(int32_t tier_pages)
      : scheduler_({.blocks = kDeviceBlocks,
                    .slots = 1,
                    .kept_slots = kDeviceSlots,
                    .max_batched_rows = 8192,
                    .prefix_caching = true,
                    .host_pages = tier_pages,
                    .state_pages = kStatePages}) {}

  /// Returns how many tokens were there.
  int64_t read(const Asked& asked) {
    Sequence sequence;
    sequence.prompt = std::make_shared<const Prompt>(asked.prompt);
    sequence.likely_ends = asked.likely_ends;
    sequence.tokens_max = sequence.prompt_size() + 1;
    if (!scheduler_.check_fits(sequence.tokens_max).ok()) std::abort();
    scheduler_.add(&sequence);
    int64_t found = 0;
    while (true) {
      const std::vector<ScheduledRows> step = scheduler_.plan();
      if (step.empty()) break;
      found = sequence.resumed;
      benchmark::DoNotOptimize(scheduler_.take_moves());
      scheduler_.mark_submitted();
      scheduler_.commit(&sequence, step[0].rows, step[0].rows);
    }
    scheduler_.remove(&sequence);
    return found;
  }

 private:
  Scheduler scheduler_;
};

/// Blocks by their last use, the later ones of a prompt going first.
class NewestBlocks {
 public:
  explicit NewestBlocks(int64_t blocks) : room_(blocks) {}

  int64_t read(const Prompt& prompt) {
    std::vector<uint64_t> chain;
    uint64_t hash = 0;
    for (size_t i = 0; i + kBlock <= prompt.size(); ++i) {
      hash = (hash ^ static_cast<uint64_t>(prompt[i])) * 0x9E3779B97F4A7C15U;
      hash ^= hash >> 29;
      if ((i + 1) % kBlock == 0) chain.push_back(hash);
    }
    int64_t found = 0;
    while (found < static_cast<int64_t>(chain.size()) && used_.contains(chain[static_cast<size_t>(found)])) ++found;
    ++now_;
    for (size_t depth = 0; depth < chain.size(); ++depth) {
      const Age age = {now_, -static_cast<int64_t>(depth), chain[depth]};
      if (const auto known = used_.find(chain[depth]); known != used_.end()) order_.erase(known->second);
      used_[chain[depth]] = age;
      order_.insert(age);
    }
    while (static_cast<int64_t>(order_.size()) > room_) {
      used_.erase(std::get<2>(*order_.begin()));
      order_.erase(order_.begin());
    }
    return found * kBlock;
  }

 private:
  using Age = std::tuple<int64_t, int64_t, uint64_t>;
  int64_t room_, now_ = 0;
  std::map<uint64_t, Age> used_;
  std::set<Age> order_;
};

/// Conversations that take turns, each going on from where it was.
Pattern turns(int conversations, int rounds, int64_t first, int64_t more, bool by_chance) {
  return [=](Random& random) {
    std::vector<Prompt> open(static_cast<size_t>(conversations));
    std::vector<Asked> prompts;
    for (Prompt& prompt : open) prompt = fresh(random, first);
    for (int i = 0; i < conversations * rounds; ++i) {
      Prompt& prompt = open[static_cast<size_t>(by_chance ? between(random, 0, conversations - 1) : i % conversations)];
      prompts.push_back({prompt, {}});
      append(prompt, random, more);
    }
    return prompts;
  };
}

/// One conversation, and between its turns prompts that come once.
Pattern one_among_others(int turns, int others) {
  return [=](Random& random) {
    std::vector<Asked> prompts;
    Prompt own = fresh(random, 6000);
    for (int turn = 0; turn < turns; ++turn) {
      prompts.push_back({own, {}});
      append(own, random, between(random, 300, 1500));
      for (int i = 0; i < others; ++i) prompts.push_back({fresh(random, between(random, 500, 6000)), {}});
    }
    return prompts;
  };
}

/// Chats behind one of a few system prompts, or none; each has some turns, and others begin meanwhile.
Pattern chats(int open_at_once, int requests, int systems) {
  return [=](Random& random) {
    std::vector<Prompt> system(static_cast<size_t>(systems));
    for (Prompt& prompt : system) prompt = fresh(random, between(random, 200, 4000));
    std::vector<Asked> open, prompts;
    while (static_cast<int>(prompts.size()) < requests) {
      if (static_cast<int>(open.size()) < open_at_once) {
        Asked& asked = open.emplace_back();
        if (between(random, 0, 1) == 0) asked.prompt = system[static_cast<size_t>(between(random, 0, systems - 1))];
        asked.likely_ends = {static_cast<int64_t>(asked.prompt.size())};
        append(asked.prompt, random, between(random, 20, 2000));
      }
      const auto which = static_cast<size_t>(between(random, 0, static_cast<int64_t>(open.size()) - 1));
      prompts.push_back(open[which]);
      append(open[which].prompt, random, between(random, 100, 900));
      if (between(random, 0, 5) == 0) open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
    }
    return prompts;
  };
}

/// Agents' long conversations, which send helpers off with the same tools and short tasks of their own.
Pattern agents(int count, int steps) {
  return [=](Random& random) {
    const Asked tools = {fresh(random, 9000), {9000}};
    std::vector<Asked> agent(static_cast<size_t>(count), tools), prompts;
    for (Asked& asked : agent) append(asked.prompt, random, 500);
    for (int i = 0; i < steps; ++i) {
      Asked& own = agent[static_cast<size_t>(i % count)];
      prompts.push_back(own);
      append(own.prompt, random, between(random, 200, 2500));
      if (between(random, 0, 3) != 0) continue;
      Asked helper = tools;
      append(helper.prompt, random, 300);
      for (int64_t k = between(random, 1, 5); k > 0; --k) {
        prompts.push_back(helper);
        append(helper.prompt, random, between(random, 200, 2000));
      }
    }
    return prompts;
  };
}

/// Long documents, each asked some questions in a row, and some of them again later.
Pattern documents(int count, int visits) {
  return [=](Random& random) {
    std::vector<Prompt> all(static_cast<size_t>(count));
    for (Prompt& prompt : all) prompt = fresh(random, between(random, 4000, 16'000));
    std::vector<Asked> prompts;
    for (int i = 0; i < visits; ++i) {
      const auto which = static_cast<size_t>(std::min(between(random, 0, count - 1), between(random, 0, count - 1)));
      for (int64_t k = between(random, 1, 4); k > 0; --k) {
        prompts.push_back({all[which], {}});
        append(prompts.back().prompt, random, between(random, 20, 200));
      }
    }
    return prompts;
  };
}

/// `state.range(0)`: pages of the tier.
void read_all(benchmark::State& state, const Pattern& pattern) {
  Random random(1);
  const std::vector<Asked> prompts = pattern(random);
  const auto pages = static_cast<int32_t>(state.range(0));
  int64_t tokens = 0, found = 0, newest = 0;
  for ([[maybe_unused]] auto _ : state) {
    Cache cache(pages);
    for (const Asked& asked : prompts) found += cache.read(asked);
  }
  NewestBlocks blocks(pages + kDeviceBlocks);
  for (const Asked& asked : prompts) {
    tokens += static_cast<int64_t>(asked.prompt.size());
    newest += blocks.read(asked.prompt);
  }
  const auto share = [&](int64_t part) { return static_cast<double>(part) / static_cast<double>(tokens); };
  state.counters["found"] = share(found) / static_cast<double>(state.iterations());
  state.counters["lru"] = share(newest);
  state.counters["a_request"] = benchmark::Counter(
      static_cast<double>(prompts.size()), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

const std::map<std::string, Pattern>& patterns() {
  static const std::map<std::string, Pattern> all = {
      {"turns_in_order", turns(40, 8, 2000, 500, false)},
      {"turns_by_chance", turns(40, 8, 2000, 500, true)},
      {"turns_that_do_not_grow", turns(60, 8, 3000, 0, false)},
      {"one_among_others", one_among_others(40, 4)},
      {"chats", chats(12, 500, 4)},
      {"many_chats", chats(60, 1000, 4)},
      {"agents", agents(4, 80)},
      {"documents", documents(30, 150)},
      {"all_new", turns(300, 1, 4000, 0, false)},
  };
  return all;
}

}  // namespace

int main(int count, char** words) {
  for (const auto& [name, pattern] : patterns()) {
    benchmark::RegisterBenchmark(name.c_str(),
                                 [pattern = pattern](benchmark::State& state) { read_all(state, pattern); })
        ->Arg(1000)
        ->Arg(2000)
        ->Arg(4000)
        ->Arg(8000)
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&count, words);
  benchmark::RunSpecifiedBenchmarks();
}
