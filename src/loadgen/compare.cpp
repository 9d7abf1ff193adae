#include "loadgen/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace tessera::loadgen {
namespace {

constexpr int kDraws = 2000;
constexpr int64_t kRoundsMin = 3;  // fewer say nothing about how rounds differ
constexpr size_t kComparedRequestsMin = 5;

/// A request as far as figures are made of it; nothing where it has none.
struct Row {
  int64_t index = 0, round = 0;
  std::optional<double> ttft, tpot, itl, e2e, tokens;
};

using Rows = std::vector<const Row*>;
using Figure = std::optional<double> (*)(const Rows&);

template <std::optional<double> Row::*kField>
std::optional<double> median_of(const Rows& rows) {
  std::vector<double> values;
  for (const Row* row : rows) {
    if (row->*kField) values.push_back(*(row->*kField));
  }
  if (values.empty()) return std::nullopt;
  return percentile(std::move(values), 50);
}

/// Tokens over the time that their requests took. In a closed loop that is the throughput of one user.
std::optional<double> tokens_per_second(const Rows& rows) {
  double tokens = 0, ms = 0;
  for (const Row* row : rows) {
    if (!row->tokens || !row->e2e) continue;
    tokens += *row->tokens;
    ms += *row->e2e;
  }
  if (ms <= 0 || tokens <= 0) return std::nullopt;
  return tokens / ms * 1e3;
}

constexpr std::pair<const char*, Figure> kFigures[] = {{"TTFT p50, ms", &median_of<&Row::ttft>},
                                                       {"TPOT p50, ms", &median_of<&Row::tpot>},
                                                       {"ITL p95 of a request, p50, ms", &median_of<&Row::itl>},
                                                       {"E2E p50, ms", &median_of<&Row::e2e>},
                                                       {"output tok/s of a user", &tokens_per_second}};

std::vector<Row> rows_of(const Json& made) {
  std::vector<Row> rows;
  const auto number = [](const Json& record, const char* key) -> std::optional<double> {
    const auto found = record.find(key);
    if (found == record.end() || !found->is_number()) return std::nullopt;
    return found->get<double>();
  };
  for (const Json& record : made.at("records")) {
    if (record.contains("error")) continue;
    rows.push_back({record.at("index"), record.at("round"), number(record, "ttft_ms"), number(record, "tpot_ms"),
                    number(record, "itl_p95_ms"), number(record, "e2e_ms"), number(record, "output_tokens")});
  }
  return rows;
}

/// The rows of two runs, from which samples are drawn.
class Sampler {
 public:
  Sampler(const std::vector<Row>& a, const std::vector<Row>& b, bool same_prompts, bool by_rounds)
      : by_rounds_(by_rounds) {
    std::map<std::pair<int64_t, int64_t>, const Row*> theirs;
    for (const Row& row : b) theirs[{row.round, row.index}] = &row;
    if (same_prompts) {
      for (const Row& row : a) {
        if (const auto found = theirs.find({row.round, row.index}); found != theirs.end()) {
          pairs_[round_key(row)].emplace_back(&row, found->second);
        }
      }
      return;
    }
    for (const Row& row : a) a_[round_key(row)].push_back(&row);
    for (const Row& row : b) b_[round_key(row)].push_back(&row);
  }

  [[nodiscard]] bool paired() const { return !pairs_.empty(); }

  [[nodiscard]] std::pair<Rows, Rows> all() const {
    std::pair<Rows, Rows> rows;
    for (const auto& [round, pairs] : pairs_) {
      for (const auto& [a, b] : pairs) rows.first.push_back(a), rows.second.push_back(b);
    }
    for (const auto& [round, of] : a_) rows.first.insert(rows.first.end(), of.begin(), of.end());
    for (const auto& [round, of] : b_) rows.second.insert(rows.second.end(), of.begin(), of.end());
    return rows;
  }

  std::pair<Rows, Rows> draw(Random& random) const {
    std::pair<Rows, Rows> rows;
    draw_groups(random, pairs_, [&](const auto& pair) {
      rows.first.push_back(pair.first);
      rows.second.push_back(pair.second);
    });
    draw_groups(random, a_, [&](const Row* row) { rows.first.push_back(row); });
    draw_groups(random, b_, [&](const Row* row) { rows.second.push_back(row); });
    return rows;
  }

 private:
  [[nodiscard]] int64_t round_key(const Row& row) const { return by_rounds_ ? row.round : 0; }

  /// As many groups as there are, each by chance, and of each as many of its own as it has, by chance too.
  template <typename Groups, typename Take>
  static void draw_groups(Random& random, const Groups& groups, const Take& take) {
    for (size_t i = 0; i < groups.size(); ++i) {
      const auto& group = std::next(groups.begin(), static_cast<std::ptrdiff_t>(random.below(groups.size())))->second;
      for (size_t k = 0; k < group.size(); ++k) take(group[random.below(group.size())]);
    }
  }

  bool by_rounds_;
  std::map<int64_t, std::vector<std::pair<const Row*, const Row*>>> pairs_;
  std::map<int64_t, Rows> a_, b_;
};

int64_t rounds_of(const std::vector<Row>& rows) {
  int64_t rounds = 0;
  for (const Row& row : rows) rounds = std::max(rounds, row.round + 1);
  return rounds;
}

void compare_case(const std::string& name, const std::vector<Row>& a, const std::vector<Row>& b, bool same_prompts,
                  Comparison& out) {
  const bool by_rounds = std::min(rounds_of(a), rounds_of(b)) >= kRoundsMin;
  const Sampler sampler(a, b, same_prompts, by_rounds);
  const auto [all_a, all_b] = sampler.all();
  if (std::min(all_a.size(), all_b.size()) < kComparedRequestsMin) {
    out.notes.push_back(fmt::format("{}: {} and {} requests, too few to compare", name, all_a.size(), all_b.size()));
    return;
  }
  for (const auto& [figure, value] : kFigures) {
    const std::optional<double> of_a = value(all_a), of_b = value(all_b);
    if (!of_a || !of_b || *of_a <= 0) continue;
    Random random(fnv1a(figure));
    const Interval interval = bootstrap(kDraws, [&] {
      const auto [drawn_a, drawn_b] = sampler.draw(random);
      const std::optional<double> x = value(drawn_a), y = value(drawn_b);
      return x && y && *x > 0 ? *y / *x : *of_b / *of_a;
    });
    out.changes.push_back({name, figure, *of_a, *of_b, *of_b / *of_a, interval, sampler.paired(), by_rounds,
                           static_cast<int64_t>(all_a.size()), static_cast<int64_t>(all_b.size())});
  }
}

Comparison compare_all(const Json& a, const Json& b) {
  Comparison out;
  for (const char* key : {"model", "sampling", "prompts"}) {
    if (a.value(key, Json()) != b.value(key, Json())) {
      out.notes.push_back(fmt::format("the runs differ in {}: {} and {}", key, a.value(key, Json()).dump(),
                                      b.value(key, Json()).dump()));
    }
  }
  const bool same_prompts = a.at("prompts") == b.at("prompts");
  for (const Json& of_a : a.at("cases")) {
    const auto found = std::find_if(b.at("cases").begin(), b.at("cases").end(),
                                    [&](const Json& of_b) { return of_b.at("case") == of_a.at("case"); });
    const std::string name = of_a.at("name");
    if (found == b.at("cases").end()) {
      out.notes.push_back(fmt::format("{}: only the first file has it", name));
      continue;
    }
    compare_case(name, rows_of(of_a), rows_of(*found), same_prompts, out);
    for (const auto& [which, of] : {std::pair("the first", &of_a), std::pair("the second", &*found)}) {
      for (const Json& warning : of->at("warnings")) {
        if (warning.at("code") == "few_requests") continue;  // the intervals say so
        out.notes.push_back(fmt::format("{}, {} file: {}", name, which, warning.at("text").get<std::string>()));
      }
    }
  }
  for (const Json& of_b : b.at("cases")) {
    const bool there = std::any_of(a.at("cases").begin(), a.at("cases").end(),
                                   [&](const Json& of_a) { return of_a.at("case") == of_b.at("case"); });
    if (!there) out.notes.push_back(fmt::format("{}: only the second file has it", of_b.at("name").get<std::string>()));
  }
  return out;
}

}  // namespace

Expected<Comparison> compare(const Json& a, const Json& b) {
  try {  // at() and get() throw where a file was edited
    return compare_all(a, b);
  } catch (const Json::exception& fault) {
    return error(StatusCode::corrupt_data, "a file of results has been changed: {}", fault.what());
  }
}

}  // namespace tessera::loadgen
