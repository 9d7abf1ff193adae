#include "simulation.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <span>

#include "base/temp_directory.h"
#include "engine/device_choice.h"
#include "engine/request_check.h"
#include "format/checkpoint.h"
#include "model/cpu_runner.h"
#include "model/cuda_runner.h"
#include "simulation_draws.h"
#include "test_device.h"

namespace tessera::engine {
namespace {

/// Makes rows 2 i and 2 i + 1 of the output head alike, in the file.
void tie_logits(const std::filesystem::path& directory) {
  std::string file;
  uint64_t offset = 0;
  size_t row_bytes = 0;
  int64_t rows = 0;
  {
    const auto checkpoint = format::Checkpoint::open(directory);
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
    const auto head = checkpoint->tensor("lm_head.weight");
    ASSERT_TRUE(head.ok()) << head.status().message();
    const auto place = checkpoint->place(head->bytes);
    ASSERT_TRUE(place);
    file = checkpoint->shards().at(place->shard)->path().string();
    offset = place->offset;
    rows = head->shape.at(0);
    row_bytes = head->bytes.size() / static_cast<size_t>(rows);
  }
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  std::string row(row_bytes, 0);
  for (int64_t i = 0; i + 1 < rows; i += 2) {
    const auto at = static_cast<std::streamoff>(offset + static_cast<uint64_t>(i) * row_bytes);
    stream.seekg(at);
    stream.read(row.data(), static_cast<std::streamsize>(row_bytes));
    stream.seekp(at + static_cast<std::streamoff>(row_bytes));
    stream.write(row.data(), static_cast<std::streamsize>(row_bytes));
  }
  ASSERT_TRUE(stream.good());
}

guide::Vocabulary vocabulary_of(const text::Tokenizer& tokenizer, int64_t size) {
  guide::Vocabulary vocabulary{.tokens = std::vector<std::string>(static_cast<size_t>(size)),
                               .stop_ids = {kEndOfAnswer}};
  for (int32_t id = 0; id < static_cast<int32_t>(size); ++id) {
    if (!tokenizer.is_special(id)) vocabulary.tokens[static_cast<size_t>(id)] = tokenizer.token_bytes(id);
  }
  return vocabulary;
}

/// Runs all jobs together.
void run_together(World& world, std::vector<Job>& jobs, const std::vector<IdleJob>& idle) {
  size_t arrived = 0, idle_arrived = 0;
  for (int64_t step = 0;; ++step) {
    for (; idle_arrived < idle.size() && idle[idle_arrived].arrival_step <= step; ++idle_arrived) {
      world.loop.prefill_when_idle(idle[idle_arrived].prefill);
    }
    for (; arrived < jobs.size() && jobs[arrived].arrival_step <= step; ++arrived) {
      auto channel = world.loop.submit(jobs[arrived].request);
      EXPECT_TRUE(channel.ok()) << channel.status().message();
      jobs[arrived].channel = *channel;
    }
    for (size_t i = 0; i < arrived; ++i) {
      if (jobs[i].cancel_step == step) jobs[i].channel->cancel();
    }
    if (!world.step() && arrived == jobs.size()) break;
    if (step > 50'000) {
      ADD_FAILURE() << "no end in sight";
      break;
    }
  }
}

/// Files of the disk's tier are not what they were; there are others besides. Returns how many.
int damage(const std::filesystem::path& directory, Dice& dice) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == ".kv") files.push_back(entry.path());
  }
  std::ranges::sort(files);  // else the order is the file system's
  int damaged = 0;
  for (const auto& file : files) {
    if (!dice.one_in(3)) continue;
    ++damaged;
    const auto size = static_cast<int64_t>(std::filesystem::file_size(file));
    const int64_t at = dice.between(0, size - 1);
    switch (dice.between(0, 4)) {
      case 0:  // torn
        std::filesystem::resize_file(file, static_cast<uint64_t>(at));
        break;
      case 1:  // what has its name is of other tokens
        if (const auto& other = files[static_cast<size_t>(at) % files.size()];
            other != file && std::filesystem::exists(other)) {  // not removed before
          std::filesystem::copy_file(other, file, std::filesystem::copy_options::overwrite_existing);
        }
        break;
      case 2: std::filesystem::remove(file); break;
      default: {  // a bit
        std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
        stream.seekg(at);
        const int byte = stream.get();
        stream.seekp(at);
        stream.put(static_cast<char>(byte ^ (1 << dice.between(0, 7))));
      }
    }
  }
  std::ofstream(directory / "notes.txt") << "somebody's";
  std::ofstream(directory / "0123456789abcdef.kv.partial") << "being written when the program ended";
  std::ofstream(directory / "0123456789abcdef.kv") << "of nothing known";
  std::filesystem::create_directory(directory / "0123456789abcdee.kv");
  return damaged;
}

/// What is on the disk can be gone on from, without anything else.
void expect_whole_chains(const DiskTier& disk, const std::filesystem::path& path) {
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().extension() != ".kv") continue;
    const auto file = KvFile::open(entry.path(), disk.directory().format());
    ASSERT_TRUE(file.ok()) << file.status().message();
    EXPECT_TRUE(disk.directory().find(kv_key(file->entry()))) << entry.path();
  }
}

}  // namespace

Fixture::Fixture(TinyKind kind, int threads, bool ties)
    : device(choose_devices(test_device(), /*needs_cpu=*/false)->front()),
      files(kind),
      pool(threads),
      tokenizer(*text::Tokenizer::load(files.directory() / "tokenizer.json")) {
  if (ties) tie_logits(files.directory());
  auto checkpoint = format::Checkpoint::open(files.directory());
  auto config = model::parse_config(**checkpoint->read_text("config.json"), "config.json");
  auto opened = open_backend(device, *config, {.pool = &pool, .workspace = &workspace});
  EXPECT_TRUE(opened.ok()) << opened.status().message();
  backend = *std::move(opened);
  const auto draft_head = kind == TinyKind::moe ? format::WeightFormat::fp8_e4m3 : format::WeightFormat::nvfp4;
  auto loaded =
      model::Model::load(*checkpoint, *config, *backend, {.plan = {.with_mtp = true, .draft_head = draft_head}});
  EXPECT_TRUE(loaded.ok()) << loaded.status().message();
  model = *std::move(loaded);
  guide::Compiler compiler([this] { return vocabulary_of(tokenizer, model->config().vocab_size); });
  using Kind = GrammarSource::Kind;
  for (const GrammarSource& source : {GrammarSource{.kind = Kind::regex, .text = "[a-e]{2,6}"},
                                      GrammarSource{.kind = Kind::choice, .choices = {"yes", "no", "yes, but"}},
                                      GrammarSource{.kind = Kind::json_schema, .text = R"({"type": "boolean"})"}}) {
    auto grammar = compiler.compile(source);
    EXPECT_TRUE(grammar.ok()) << grammar.status().message();
    grammars.push_back(*std::move(grammar));
  }
}

Fixture& fixture(TinyKind kind, int threads) {
  static std::map<std::pair<TinyKind, int>, std::unique_ptr<Fixture>> fixtures;
  auto& found = fixtures[{kind, threads}];
  if (!found) found = std::make_unique<Fixture>(kind, threads);
  return *found;
}

std::unique_ptr<model::StepRunner> make_runner(Fixture& f, kernels::Cache& cache, kernels::HostPages* pages,
                                               const Sizes& s) {
  const auto samples_max = static_cast<int32_t>(logit_rows_max(s.decode_rows()));
  if (!f.device) {
    return *model::make_cpu_runner({.model = f.model.get(),
                                    .cache = &cache,
                                    .pages = pages,
                                    .pool = &f.pool,
                                    .known_ids = f.tokenizer.vocab_size(),
                                    .rows_max = s.rows,
                                    .samples_max = samples_max,
                                    .drafts_max = s.drafts_max,
                                    .steps_ahead = s.steps_ahead});
  }
  auto made = model::make_cuda_runner({.model = f.model.get(),
                                       .cache = &cache,
                                       .pages = pages,
                                       .gpu = *f.device,
                                       .known_ids = f.tokenizer.vocab_size(),
                                       .rows_max = s.rows,
                                       .sequences_max = s.slots,
                                       .sequence_blocks_max = s.blocks,
                                       .samples_max = samples_max,
                                       .drafts_max = s.drafts_max,
                                       .graphs = s.graphs});
  EXPECT_TRUE(made.ok()) << made.status().message();
  return *std::move(made);
}

std::vector<Seen> drain(EventChannel& channel, int choices) {
  std::vector<Seen> seen(static_cast<size_t>(choices));
  while (auto event = channel.try_next()) {
    Seen& choice = seen.at(static_cast<size_t>(event->choice));
    EXPECT_EQ(choice.finish_reason, FinishReason::none) << "an event after the last";
    choice.tokens.insert(choice.tokens.end(), event->tokens.begin(), event->tokens.end());
    choice.text += event->text;
    for (auto& entry : event->logprobs) choice.logprobs.push_back(std::move(entry));
    if (!event->prompt_logprobs.empty()) choice.prompt_logprobs = std::move(event->prompt_logprobs);
    choice.finish_reason = event->finish_reason;
    choice.stop_reason = event->stop_reason;
  }
  EXPECT_TRUE(channel.finished());
  return seen;
}

void expect_same_bits(const std::vector<std::vector<TokenLogprob>>& a,
                      const std::vector<std::vector<TokenLogprob>>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].size(), b[i].size());
    for (size_t j = 0; j < a[i].size(); ++j) {
      ASSERT_EQ(a[i][j].token, b[i][j].token);
      ASSERT_EQ(a[i][j].rank, b[i][j].rank);
      ASSERT_EQ(std::bit_cast<uint32_t>(a[i][j].logprob), std::bit_cast<uint32_t>(b[i][j].logprob));
    }
  }
}

void expect_empty(const StepLoop& loop) {
  const EngineStats stats = loop.stats();
  EXPECT_EQ(stats.kv_blocks_used, 0);
  EXPECT_EQ(stats.state_slots_used, 0);
  EXPECT_EQ(stats.running, 0);
  EXPECT_EQ(stats.waiting, 0);
}

std::vector<Seen> run_alone(Fixture& f, const Request& request) {
  World world(f, {.graphs = false});
  auto channel = world.loop.submit(request);
  while (world.step()) {
  }
  return drain(**channel, request.sampling.n);
}

void expect_as_alone(Fixture& f, const Request& request, const std::vector<Seen>& seen, bool may_be_cut) {
  const std::vector<Seen> alone = run_alone(f, request);
  ASSERT_EQ(seen.size(), alone.size());
  for (size_t choice = 0; choice < seen.size(); ++choice) {
    const Seen& a = seen[choice];
    const Seen& b = alone[choice];
    if (a.finish_reason == FinishReason::cancelled) {
      ASSERT_TRUE(may_be_cut);
      ASSERT_LE(a.tokens.size(), b.tokens.size());
      ASSERT_TRUE(std::equal(a.tokens.begin(), a.tokens.end(), b.tokens.begin()));
      continue;
    }
    ASSERT_EQ(a.tokens, b.tokens);
    ASSERT_EQ(a.text, b.text);
    ASSERT_EQ(a.finish_reason, b.finish_reason);
    ASSERT_EQ(a.stop_reason, b.stop_reason);
    expect_same_bits(a.logprobs, b.logprobs);
    expect_same_bits(a.prompt_logprobs, b.prompt_logprobs);
  }
}

std::vector<std::vector<Seen>> run_as_alone(Fixture& f, World& world, const std::vector<Request>& requests) {
  std::vector<std::shared_ptr<EventChannel>> channels;
  for (const Request& request : requests) {
    auto channel = world.loop.submit(request);
    EXPECT_TRUE(channel.ok()) << channel.status().message();
    channels.push_back(*channel);
  }
  while (world.step()) {
  }
  expect_empty(world.loop);
  std::vector<std::vector<Seen>> seen;
  for (size_t i = 0; i < requests.size(); ++i) {
    SCOPED_TRACE("request " + std::to_string(i));
    seen.push_back(drain(*channels[i], requests[i].sampling.n));
    expect_as_alone(f, requests[i], seen.back());
  }
  return seen;
}

SimulationCounts simulate(uint64_t seed) {
  SCOPED_TRACE("to replay: TESSERA_SIMULATION_SEED=" + std::to_string(seed));
  Dice dice(seed);
  const TinyKind kind = dice.one_of({TinyKind::moe, TinyKind::dense});
  Fixture& f = fixture(kind, dice.one_in(6) ? 2 : 1);
  Sizes sizes = random_sizes(dice);
  const test::TempDirectory directory;
  Dice of_disk(~seed);
  if (sizes.host_pages > 0 && !of_disk.one_in(5)) {
    sizes.disk = directory.path();
    sizes.waits_for_disk = of_disk.one_in(2);
    if (of_disk.one_in(3)) sizes.disk_pages = static_cast<int>(of_disk.between(4, 30));
  }
  const int64_t context = int64_t{sizes.context_blocks} * 64;
  std::vector<Job> jobs = random_jobs(dice, f, context, sizes.host_pages > 0 ? 2 : 1);
  const RequestLimits limits{.vocab_size = 3200, .max_model_len = context, .has_tokenizer = true};
  for (Job& job : jobs) {
    // Alone there is more room; the context must end where it ends here.
    if (job.request.sampling.max_tokens < 0) {
      job.request.sampling.max_tokens = context - static_cast<int64_t>(job.request.prompt.size());
    }
    const Status status = check_request(job.request, limits);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  Dice of_idle(seed ^ 0x1D1E);
  std::vector<IdleJob> idle;
  if (sizes.kept_states >= 0) idle = random_idle_jobs(of_idle, jobs, context);
  SimulationCounts counts;
  const int runs = sizes.disk.empty() ? 1 : 2;
  for (int run = 0; run < runs && !testing::Test::HasFailure(); ++run) {
    SCOPED_TRACE("run " + std::to_string(run));
    if (run > 0) counts.damaged += damage(sizes.disk, of_disk);
    World world(f, sizes);
    run_together(world, jobs, idle);
    expect_empty(world.loop);
    for (const Job& job : jobs) {
      const std::vector<Seen> seen = drain(*job.channel, job.request.sampling.n);
      expect_as_alone(fixture(kind), job.request, seen, job.cancel_step >= 0);
      counts.guided += job.request.guide.grammar != nullptr || !job.request.guide.beginnings.empty() ? 1 : 0;
      for (const Seen& choice : seen) {
        counts.cancelled += choice.finish_reason == FinishReason::cancelled ? 1 : 0;
        counts.stopped += choice.finish_reason == FinishReason::stop ? 1 : 0;
      }
    }
    if (!of_disk.one_in(3)) world.settle();  // else it ends in the middle of what the disk has to do
    counts.add(world.loop.stats());
    if (world.disk) {
      EXPECT_LE(world.disk->directory().bytes_used(), world.disk->directory().bytes_max());
      world.disk->wait_for_all();
      if (run == 0) expect_whole_chains(*world.disk, sizes.disk);
    }
  }
  return counts;
}

void SimulationCounts::add(const EngineStats& run) {
  stats.preemptions += run.preemptions;
  stats.prefix_hits += run.prefix_hits;
  stats.idle_prefill_tokens += run.idle_prefill_tokens;
  stats.tier.hits += run.tier.hits;
  stats.disk.hits += run.disk.hits;
  stats.disk.writes += run.disk.writes;
  stats.disk.failures += run.disk.failures;
  stats.drafts.proposed += run.drafts.proposed;
  stats.drafts.accepted += run.drafts.accepted;
}

SimulationCounts simulate(uint64_t first, uint64_t last) {
  if (const char* seed = std::getenv("TESSERA_SIMULATION_SEED")) first = last = std::strtoull(seed, nullptr, 10);
  SimulationCounts all;
  for (uint64_t seed = first; seed <= last && !testing::Test::HasFailure(); ++seed) {
    const SimulationCounts run = simulate(seed);
    all.add(run.stats);
    all.guided += run.guided;
    all.cancelled += run.cancelled;
    all.stopped += run.stopped;
    all.damaged += run.damaged;
  }
  return all;
}

namespace {

int64_t count_files(const std::filesystem::path& directory) {
  return std::distance(std::filesystem::directory_iterator(directory), std::filesystem::directory_iterator());
}

int64_t count_descriptors() { return count_files("/proc/self/fd"); }

Request any_request(Dice& dice, int64_t context) {
  const auto beginning = static_cast<int32_t>(100 * dice.between(1, 4));
  Request request;
  request.prompt.resize(static_cast<size_t>(dice.between(1, context - 64)));
  for (size_t i = 0; i < request.prompt.size(); ++i) {
    request.prompt[i] = beginning + static_cast<int32_t>(i % 1000);
  }
  if (dice.one_in(2)) request.prompt.back() = static_cast<int32_t>(dice.between(0, 3000));
  request.sampling = random_sampling(dice, 60);
  request.sampling.prompt_logprobs.reset();
  if (dice.one_in(4)) request.cache_salt = std::to_string(dice.between(0, 3));
  return request;
}

}  // namespace

void cancel_many(int requests, uint64_t seed) {
  Fixture& f = fixture(TinyKind::moe);
  const test::TempDirectory directory;
  const Sizes sizes{.blocks = 14,
                    .slots = 4,
                    .rows = 300,
                    .steps_ahead = 1,
                    .kept_states = 2,
                    .host_pages = 40,
                    .disk = directory.path() / "kv",
                    .disk_pages = 120,
                    .waits_for_disk = true,
                    .drafts_max = 3};
  constexpr int64_t kContext = 14 * 64;
  World world(f, sizes);
  world.settle();
  const int64_t descriptors = count_descriptors(), other_files = count_files(sizes.disk);
  Dice dice(seed);
  std::vector<Job> open;
  int64_t submitted = 0, cancelled = 0;
  for (int64_t step = 0; submitted < requests || !open.empty(); ++step) {
    while (submitted < requests && open.size() < 8) {
      Job& job = open.emplace_back();
      job.request = any_request(dice, kContext);
      job.cancel_step = step + dice.between(0, 6);
      auto channel = world.loop.submit(job.request);
      ASSERT_TRUE(channel.ok()) << channel.status().message();
      job.channel = *channel;
      ++submitted;
    }
    world.step();
    cancelled += std::erase_if(open, [&](const Job& job) {
      if (job.cancel_step > step) return false;
      job.channel->cancel();  // and nobody reads what it has
      return true;
    });
  }
  EXPECT_EQ(cancelled, requests);
  world.settle();
  expect_empty(world.loop);
  const EngineStats stats = world.loop.stats();
  EXPECT_GT(stats.disk.writes, 0U);
  EXPECT_LE(stats.disk.bytes_used, stats.disk.bytes_total);
  EXPECT_EQ(count_files(sizes.disk), other_files + static_cast<int64_t>(stats.disk.entries));
  EXPECT_EQ(count_descriptors(), descriptors);
  // All blocks, and every slot.
  Request largest;
  for (int32_t i = 0; i < kContext - 10; ++i) largest.prompt.push_back(50 + i % 2000);
  largest.sampling.max_tokens = 10;
  largest.sampling.seed = 1;
  run_as_alone(f, world, {largest});
  largest.prompt = {1, 2, 3};
  run_as_alone(f, world, std::vector<Request>(4, largest));
}

}  // namespace tessera::engine
