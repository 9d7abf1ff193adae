#include <array>
#include <bit>
#include <optional>
#include <random>
#include <string>

#include "kernels/cpu/sampler.h"
#include "kernels/cuda/on_device.h"
#include "kernels/cuda/sample.h"
#include "kernels/sample_math.h"

// The sampler on a GPU (label gpu) and, but for tests named Large*, in the simulator: the CPU's tokens, statuses,
// log-probabilities and counts, bit for bit.
namespace tessera::kernels::cuda {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr int32_t kSlots = 7;
constexpr int32_t kUntouched = -77;

/// A row and all that it refers to.
struct Row {
  std::vector<float> logits;
  SampleParams params;
  std::vector<int32_t> banned = {};
  std::vector<uint32_t> allowed = {};
  std::vector<int32_t> prompt = {}, output = {};  // of the slot, where there are penalties
  int32_t target = -1;
  NoiseStream noise = {};
};

struct Result {
  StatusCode status = StatusCode::ok;
  int32_t token = 0;
  std::vector<TokenLogprob> logprobs;
};

std::string show(const Result& r) {
  std::string text = "status " + std::to_string(static_cast<int>(r.status)) + " token " + std::to_string(r.token);
  for (const TokenLogprob& l : r.logprobs) {
    text += " (" + std::to_string(l.token) + " " + std::to_string(l.logprob) + " " +
            std::to_string(std::bit_cast<uint32_t>(l.logprob)) + " " + std::to_string(l.rank) + ")";
  }
  return text;
}

std::string show(const Row& row) {
  const SampleParams& p = row.params;
  return "temperature " + std::to_string(p.temperature) + " top_k " + std::to_string(p.top_k) + " top_p " +
         std::to_string(p.top_p) + " min_p " + std::to_string(p.min_p) + " penalties " +
         std::to_string(p.repetition_penalty) + " " + std::to_string(p.presence_penalty) + " " +
         std::to_string(p.frequency_penalty) + " biases " + std::to_string(p.logit_bias.size()) + " logprobs " +
         std::to_string(p.logprobs.value_or(-1)) + " banned " + std::to_string(row.banned.size()) + " allowed " +
         std::to_string(row.allowed.size()) + " target " + std::to_string(row.target);
}

Result cpu_result(const Row& row, int64_t known_ids) {
  static Sampler sampler;
  Result result;
  if (row.target >= 0) {
    const auto logprobs = sampler.logprobs(row.logits, row.target, row.params.logprobs.value_or(0));
    result.status = logprobs.status().code();
    if (logprobs.ok()) {
      result.token = row.target;
      result.logprobs = *logprobs;
    }
    return result;
  }
  std::vector<float> logits = row.logits;
  TokenCounts counts(row.prompt);
  for (const int32_t token : row.output) counts.add_output(token);
  const auto draw = sampler.draw({.logits = logits,
                                  .known_ids = known_ids,
                                  .params = &row.params,
                                  .counts = row.params.has_penalty() ? &counts : nullptr,
                                  .banned = row.banned,
                                  .allowed = row.allowed,
                                  .noise = row.noise});
  result.status = draw.status().code();
  if (draw.ok()) {
    result.token = draw->token;
    result.logprobs = draw->logprobs;
  }
  return result;
}

uint16_t count_of(uint32_t in_output, bool in_prompt) {
  return static_cast<uint16_t>(std::min(in_output, kTokenCountMax) | (in_prompt ? 0x8000U : 0U));
}

std::vector<uint16_t> expected_counts(const Row& row, int64_t vocab) {
  std::vector<uint32_t> in_output(static_cast<size_t>(vocab));
  std::vector<bool> in_prompt(static_cast<size_t>(vocab));
  for (const int32_t token : row.prompt) in_prompt[static_cast<size_t>(token)] = true;
  for (const int32_t token : row.output) ++in_output[static_cast<size_t>(token)];
  std::vector<uint16_t> counts;
  for (size_t i = 0; i < in_output.size(); ++i) counts.push_back(count_of(in_output[i], in_prompt[i]));
  return counts;
}

using HostMemory = device::Handle<void*, cudaFreeHost>;

template <typename T>
T* host_memory(HostMemory& memory, size_t count) {
  EXPECT_EQ(cudaHostAlloc(memory.fill(), count * sizeof(T), cudaHostAllocMapped), cudaSuccess);
  return static_cast<T*>(memory.get());
}

/// A sampler of up to rows_max rows with all of its memory, which is used again and again.
class GpuSampler {
 public:
  GpuSampler(int32_t rows_max, int64_t vocab, int64_t known_ids)
      : capacity_{.rows_max = rows_max, .pool_words = static_cast<uint32_t>(rows_max * (vocab / 16 + 2048))},
        vocab_(vocab),
        known_ids_(known_ids),
        logits_(static_cast<size_t>(rows_max * vocab)),
        tables_(capacity_.bytes()),
        counts_(static_cast<size_t>(kSlots * vocab)),
        last_token_(static_cast<size_t>(kSlots)),
        workspace_(sample_workspace_bytes(rows_max, vocab)),
        pinned_(host_memory<std::byte>(pinned_memory_, capacity_.bytes())),
        out_(host_memory<SampleOutput>(out_memory_, static_cast<size_t>(rows_max))) {
    EXPECT_EQ(cudaStreamCreateWithFlags(stream_.fill(), cudaStreamNonBlocking), cudaSuccess);
  }

  [[nodiscard]] device::Queue queue() const { return {.stream = stream_.get(), .pdl = pdl}; }

  /// The rows at the places where they are sampled; the other rows, if any, hold garbage that may not be looked at.
  void prepare(std::span<const Row> rows) {
    rows_ = rows;
    std::vector<float> logits(static_cast<size_t>(capacity_.rows_max * vocab_), std::nanf(""));
    std::vector<SampleRow> samples;
    for (size_t i = 0; i < rows.size(); ++i) {
      std::copy(rows[i].logits.begin(), rows[i].logits.end(), logits.begin() + static_cast<std::ptrdiff_t>(i) * vocab_);
      samples.push_back({.row = static_cast<int32_t>(i),
                         .slot = slot(i),
                         .target = rows[i].target,
                         .params = &rows[i].params,
                         .banned = rows[i].banned,
                         .allowed = rows[i].allowed,
                         .noise = rows[i].noise});
    }
    ASSERT_EQ(cudaMemcpy(logits_.get(), logits.data(), logits.size() * 4, cudaMemcpyHostToDevice), cudaSuccess);
    std::memset(pinned_, 0xcd, capacity_.bytes());
    const Status status = write_sample_tables(samples, {.vocab = vocab_, .slots = kSlots, .has_counts = true},
                                              capacity_, {pinned_, capacity_.bytes()});
    ASSERT_TRUE(status.ok()) << status.message();
    const std::vector<int32_t> untouched(kSlots, kUntouched);
    ASSERT_EQ(cudaMemcpy(last_token_.get(), untouched.data(), kSlots * 4, cudaMemcpyHostToDevice), cudaSuccess);
    for (int32_t i = 0; i < capacity_.rows_max; ++i) out_[i].token = kUntouched;
  }

  void write_histories() {
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (!rows_[i].params.has_penalty()) continue;
      const OnDevice<int32_t> prompt{std::span<const int32_t>(rows_[i].prompt)};
      const OnDevice<int32_t> output{std::span<const int32_t>(rows_[i].output)};
      const Status status = set_history({.counts = counts_.get(),
                                         .vocab = vocab_,
                                         .slot = slot(i),
                                         .prompt = prompt.get(),
                                         .prompt_tokens = static_cast<int64_t>(rows_[i].prompt.size()),
                                         .output = output.get(),
                                         .output_tokens = static_cast<int64_t>(rows_[i].output.size())},
                                        queue());
      ASSERT_TRUE(status.ok()) << status.message();
      ASSERT_EQ(cudaStreamSynchronize(stream_.get()), cudaSuccess);  // before the histories' memory goes
    }
  }

  [[nodiscard]] SampleArgs args() const {
    SampleArgs args;
    args.logits = logits_.get();
    args.vocab = vocab_;
    args.known_ids = known_ids_;
    args.tables = capacity_.tables(tables_.get());
    args.counts = counts_.get();
    args.last_token = last_token_.get();
    args.out = out_;
    args.workspace = workspace_.get();
    return args;
  }

  /// What a step does. May be captured.
  [[nodiscard]] Status launch() const {
    TESSERA_RETURN_IF_ERROR(
        stage_sample_tables({.from = pinned_, .to = tables_.get(), .capacity = capacity_}, queue()));
    return sample(args(), queue());
  }

  std::vector<Result> run(std::span<const Row> rows) {
    prepare(rows);
    write_histories();
    const Status status = launch();
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(cudaStreamSynchronize(stream_.get()), cudaSuccess);
    return results();
  }

  std::vector<Result> results() {
    std::vector<Result> results;
    for (size_t i = 0; i < rows_.size(); ++i) {
      const SampleResult result = sample_result(out_[i], known_ids_);
      results.push_back({result.status.code(), result.token, result.logprobs});
    }
    for (size_t i = rows_.size(); i < static_cast<size_t>(capacity_.rows_max); ++i) {
      EXPECT_EQ(out_[i].token, kUntouched) << "row " << i << " is dead";
    }
    return results;
  }

  /// Runs the rows and compares with the CPU all that a step leaves.
  void expect_as_cpu(std::span<const Row> rows, const std::string& what) {
    const auto got = run(rows);
    const auto last_token = last_token_.read();
    const auto counts = counts_.read();
    for (size_t i = 0; i < rows.size(); ++i) {
      const Row& row = rows[i];
      const Result want = cpu_result(row, known_ids_);
      ASSERT_EQ(show(got[i]), show(want)) << what << ", row " << i << ": " << show(row);
      if (rows.size() > static_cast<size_t>(kSlots)) continue;  // slots have several rows
      const auto slot_at = static_cast<size_t>(slot(i));
      ASSERT_EQ(last_token[slot_at], row.target >= 0 ? kUntouched : want.token) << what << ", row " << i;
      if (!row.params.has_penalty()) continue;
      auto want_counts = expected_counts(row, vocab_);
      if (row.target < 0 && want.status == StatusCode::ok) {
        uint16_t& count = want_counts[static_cast<size_t>(want.token)];
        count = count_of((count & 0x7fffU) + 1, (count & 0x8000U) != 0);
      }
      const auto begin = counts.begin() + static_cast<std::ptrdiff_t>(slot_at) * vocab_;
      ASSERT_TRUE(std::equal(want_counts.begin(), want_counts.end(), begin)) << what << ", counts of row " << i;
    }
  }

  [[nodiscard]] std::vector<uint16_t> counts() const { return counts_.read(); }
  [[nodiscard]] uint16_t* counts_memory() const { return counts_.get(); }
  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }

  bool pdl = true;

 private:
  /// Not the row's own number.
  static int32_t slot(size_t row) { return static_cast<int32_t>((row * 3 + 2) % kSlots); }

  SampleCapacity capacity_;
  int64_t vocab_, known_ids_;
  OnDevice<float> logits_;
  OnDevice<std::byte> tables_;
  OnDevice<uint16_t> counts_;
  OnDevice<int32_t> last_token_;
  OnDevice<std::byte> workspace_;  // zero at first
  HostMemory pinned_memory_, out_memory_;
  std::byte* pinned_;
  SampleOutput* out_;
  device::Stream stream_;
  std::span<const Row> rows_;
};

// ---- rows ----

template <typename T>
T one_of(std::mt19937_64& random, std::initializer_list<T> values) {
  return values.begin()[random() % values.size()];
}

std::vector<float> random_logits(std::mt19937_64& random, int64_t vocab) {
  std::vector<float> logits(static_cast<size_t>(vocab));
  std::normal_distribution<float> normal;
  const auto fill = [&](auto&& f) {
    for (float& logit : logits) logit = f();
  };
  const auto spread = one_of<float>(random, {0.01F, 1, 3, 8, 60});
  switch (random() % 10) {
    case 0: fill([&] { return static_cast<float>(random() % 8) * 0.25F * spread; }); break;    // ties
    case 1: fill([&] { return random() % 2 == 0 ? 0.0F : -0.0F; }); break;                     // all equal
    case 2: fill([&] { return random() % 3 == 0 ? -kInf : normal(random) * spread; }); break;  // ruled out
    case 3: fill([&] { return static_cast<float>(random() % 3) * 3e38F - 3e38F; }); break;     // extremes
    case 4:
      fill([&] { return normal(random); });  // a few tokens have it all
      for (int i = 0; i < 5; ++i) logits[random() % logits.size()] = 15 + normal(random);
      break;
    case 5: fill([&] { return random() % 40 == 0 ? 5 + 1e-3F * normal(random) : -20.0F; }); break;  // a plateau
    default: fill([&] { return normal(random) * spread; });
  }
  return logits;
}

Row random_row(std::mt19937_64& random, int64_t vocab, int64_t known_ids) {
  Row row;
  row.logits = random_logits(random, vocab);
  const auto any_id = [&] { return static_cast<int32_t>(random() % static_cast<uint64_t>(vocab)); };
  const auto rarely = [&] { return random() % 4 == 0; };
  SampleParams& p = row.params;
  p.temperature = one_of<float>(random, {0, 0.3F, 0.7F, 1, 1, 2.5F, 1e-45F, 1e-30F, 1e30F, 3e38F});
  if (!rarely()) p.top_k = one_of<int>(random, {0, 1, 2, 20, 50, 513, 2000, 1000000});
  if (!rarely()) p.top_p = one_of<float>(random, {1e-9F, 0.1F, 0.5F, 0.9F, 0.95F, 0.99999994F});
  if (rarely()) p.min_p = one_of<float>(random, {1e-40F, 0.01F, 0.2F, 1});
  if (rarely()) p.logprobs = one_of<int>(random, {0, 1, 5, 20});
  if (rarely()) {
    p.repetition_penalty = one_of<float>(random, {1, 1.3F, 0.5F});
    p.presence_penalty = one_of<float>(random, {0, 0.7F, -1});
    p.frequency_penalty = one_of<float>(random, {0.01F, 0.3F, -0.2F});
    for (uint64_t i = random() % 300; i > 0; --i) row.prompt.push_back(any_id());
    for (uint64_t i = random() % 300; i > 0; --i) row.output.push_back(any_id() % 50);
  }
  if (rarely()) {
    for (uint64_t i = one_of<uint64_t>(random, {1, 3, 33, 300}); i > 0; --i) {
      p.logit_bias.emplace_back(any_id(), one_of<float>(random, {-100, -1, 0.5F, 7, 100}));
    }
  }
  if (rarely()) {
    for (uint64_t i = one_of<uint64_t>(random, {1, 4, 40}); i > 0; --i) row.banned.push_back(any_id());
  }
  if (rarely()) {
    row.allowed.assign(static_cast<size_t>((vocab + 31) / 32), 0);
    const auto one_in = one_of<uint64_t>(random, {1, 5, 400});
    for (int64_t id = 0; id < vocab; ++id) {
      if (random() % one_in == 0) row.allowed[static_cast<size_t>(id) / 32] |= 1U << (id % 32);
    }
  }
  if (random() % 8 == 0) {
    row.target = any_id();
    row.params.logprobs = one_of<int>(random, {0, 3, 20});
  }
  if (random() % 12 == 0) {
    row.logits[static_cast<size_t>(any_id())] = one_of<float>(random, {kInf, std::nanf(""), -std::nanf("")});
  }
  if (random() % 24 == 0) std::fill(row.logits.begin(), row.logits.begin() + known_ids, -kInf);
  row.noise = {.key = random(), .choice = static_cast<uint32_t>(random()), .position = random() % 1000};
  return row;
}

std::vector<Row> random_rows(std::mt19937_64& random, size_t count, int64_t vocab, int64_t known_ids) {
  std::vector<Row> rows;
  while (rows.size() < count) {
    rows.push_back(random_row(random, vocab, known_ids));
    // One row a slot, and a slot's counts are those of its row.
    if (rows.size() > static_cast<size_t>(kSlots)) {
      SampleParams& p = rows.back().params;
      p.repetition_penalty = 1;
      p.presence_penalty = p.frequency_penalty = 0;
    }
  }
  return rows;
}

void expect_random_rows_as_cpu(int64_t vocab, int64_t known_ids, int32_t rows_max, int runs, uint64_t seed) {
  GpuSampler gpu(rows_max, vocab, known_ids);
  std::mt19937_64 random(seed);
  for (int run = 0; run < runs; ++run) {
    const auto rows = random_rows(random, 1 + random() % static_cast<uint64_t>(rows_max), vocab, known_ids);
    gpu.expect_as_cpu(
        rows, "vocab " + std::to_string(vocab) + " seed " + std::to_string(seed) + " run " + std::to_string(run));
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Sample, RandomRowsAreAsOnTheCpu) {
  expect_random_rows_as_cpu(5000, 4800, 6, 12, 1);
  expect_random_rows_as_cpu(4096, 4096, 3, 12, 2);
  expect_random_rows_as_cpu(1000, 999, 7, 12, 3);
}

TEST(Sample, VocabulariesOfAnySize) {
  for (const int64_t vocab : {1, 2, 3, 31, 33, 255, 256, 257, 511, 1003, 2049}) {
    expect_random_rows_as_cpu(vocab, std::max<int64_t>(1, vocab - 1), 2, 3, static_cast<uint64_t>(vocab));
  }
}

TEST(Sample, LargeVocabularyIsAsOnTheCpu) {
  expect_random_rows_as_cpu(248320, 248077, 1, 60, 11);
  expect_random_rows_as_cpu(248320, 248077, 7, 40, 12);
  expect_random_rows_as_cpu(248320, 248320, 64, 8, 13);
  expect_random_rows_as_cpu(248319, 248077, 5, 10, 14);
  expect_random_rows_as_cpu(kSampleVocabMax, 500000, 2, 10, 15);
}

// ---- one thing at a time ----

Row plain(std::vector<float> logits, SampleParams params) {
  Row row;
  row.logits = std::move(logits);
  row.params = std::move(params);
  row.noise = {.key = 5, .choice = 1, .position = 9};
  return row;
}

std::vector<float> normal_logits(size_t vocab, uint64_t seed, float spread = 2) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, spread);
  std::vector<float> logits(vocab);
  for (float& logit : logits) logit = normal(random);
  return logits;
}

/// Every filter on logits of which more than a sorted list holds are equal, or nearly.
TEST(Sample, ManyEqualLogits) {
  GpuSampler gpu(4, 5000, 5000);
  std::vector<float> equal(5000, 1.5F), nearly(5000);
  for (size_t i = 0; i < nearly.size(); ++i) nearly[i] = 1 + static_cast<float>(i * 7919 % 5000) * 0x1p-20F;
  for (const auto& logits : {equal, nearly}) {
    for (const SampleParams& params :
         {SampleParams{.top_k = 3, .logprobs = 20}, SampleParams{.top_k = 3000}, SampleParams{.top_p = 0.7F},
          SampleParams{.top_k = 4000, .top_p = 0.99F}, SampleParams{.temperature = 0, .logprobs = 3}}) {
      gpu.expect_as_cpu(std::vector<Row>{plain(logits, params)}, "many equal");
    }
  }
}

/// The cut lies in the second of two crowds, each too large to be sorted, which only the last bits of ranks tell apart.
TEST(Sample, CrowdsOfEqualLogits) {
  GpuSampler gpu(3, 7000, 7000);
  std::vector<float> logits(7000, 1.0F);
  for (size_t i = 0; i < logits.size(); i += 2) logits[i] = 1 + 0x1p-20F;
  gpu.expect_as_cpu(std::vector<Row>{plain(logits, {.top_k = 5000}), plain(logits, {.top_p = 0.8F}),
                                     plain(logits, {.top_k = 6000, .top_p = 0.9F})},
                    "two crowds");
}

/// The row at two positions: where the last id that top_p keeps is drawn, and where the first that it drops would be.
std::vector<Row> at_the_cut(Row row) {
  const float max = *std::max_element(row.logits.begin(), row.logits.end());
  const float inverse = spelt::inverse_temperature(row.params.temperature);
  std::vector<int32_t> order(row.logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto logit = [&](int32_t id) { return row.logits[static_cast<size_t>(id)]; };
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return logit(a) > logit(b); });
  uint64_t total = 0, sum = 0;
  const auto mass = [&](int32_t id) { return spelt::mass(spelt::depth(max, logit(id), inverse)); };
  for (const int32_t id : order) total += mass(id);
  const uint64_t target = spelt::share(total, spelt::top_p_fraction(row.params.top_p));
  size_t kept = 0;
  while (sum < target) sum += mass(order[kept++]);
  Row open = row;
  open.params.top_p = 1;
  std::optional<Row> last, first;
  for (row.noise.position = 0; !last || !first; ++row.noise.position) {
    open.noise = row.noise;
    const int32_t token = cpu_result(open, static_cast<int64_t>(row.logits.size())).token;
    if (token == order[kept - 1]) last = row;
    if (token == order[kept]) first = row;
  }
  return {*last, *first};
}

/// Half of the mass lies in thousands of deep ids, whose sum overflows 32 bits again and again.
TEST(Sample, TheCutAmongManyDeepIds) {
  GpuSampler gpu(2, 3000, 3000);
  auto logits = normal_logits(3000, 1, 0.3F);
  for (const float first : {8.0F, 1.0F}) {
    logits[77] = first;
    for (const float top_p : {0.7F, 0.9F}) {
      gpu.expect_as_cpu(at_the_cut(plain(logits, {.top_p = top_p})), "deep ids");
    }
  }
}

/// Draws that the likeliest id nearly wins, against blocks of equal logits: what a bound taken from its score and from
/// the best of a block leaves out shows here.
TEST(Sample, CloseCalls) {
  constexpr size_t kVocab = 600, kCalls = 35;
  std::vector<float> logits(kVocab, 0.0F);
  std::fill(logits.begin() + 256, logits.begin() + 512, -kInf);
  logits[321] = 6;
  const Row row = plain(logits, {});
  std::vector<std::pair<float, uint64_t>> margins;
  for (uint64_t position = 0; position < 40000; ++position) {
    const NoiseStream stream{.key = row.noise.key, .choice = row.noise.choice, .position = position};
    float best = -100;
    for (size_t id = 0; id < kVocab; ++id) {
      if (id == 321) continue;
      best = std::max(best, spelt::gumbel(noise_bits(stream, static_cast<int32_t>(id))) - (6 - logits[id]));
    }
    const float margin = best - spelt::gumbel(noise_bits(stream, 321));
    if (margin >= 0) margins.emplace_back(margin, position);
  }
  std::partial_sort(margins.begin(), margins.begin() + kCalls, margins.end());
  EXPECT_LT(margins[kCalls - 1].first, 0.01F);
  GpuSampler gpu(7, kVocab, kVocab);
  for (size_t i = 0; i < kCalls; i += 7) {
    std::vector<Row> rows(7, row);
    for (size_t j = 0; j < 7; ++j) rows[j].noise.position = margins[i + j].second;
    gpu.expect_as_cpu(rows, "margin " + std::to_string(margins[i].first));
  }
}

TEST(Sample, BadLogitsAndNoTokenLeft) {
  GpuSampler gpu(6, 1000, 900);
  const auto with = [](size_t at, float value, SampleParams params) {
    auto logits = normal_logits(1000, 3);
    logits[at] = value;
    return plain(logits, std::move(params));
  };
  std::vector<Row> rows{with(3, std::nanf(""), {}),
                        with(899, kInf, {.temperature = 0}),
                        with(950, kInf, {.temperature = 0}),           // not a known id
                        with(950, kInf, {.top_k = 5, .logprobs = 2}),  // but one that has a probability
                        plain(std::vector<float>(1000, -kInf), {}),
                        with(4, -kInf, {.top_k = 2})};
  gpu.expect_as_cpu(rows, "bad logits");
  const auto results = gpu.run(rows);
  const std::array<StatusCode, 6> want{StatusCode::corrupt_data, StatusCode::corrupt_data,     StatusCode::ok,
                                       StatusCode::corrupt_data, StatusCode::invalid_argument, StatusCode::ok};
  for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(results[i].status, want[i]) << i;

  Row banned = plain(normal_logits(1000, 4), {.top_k = 3, .logit_bias = {{5, 3e38F}, {5, 3e38F}}});
  rows = {banned, banned, banned};
  for (int32_t id = 0; id < 900; ++id) rows[1].banned.push_back(id);
  rows[2].allowed.assign(32, 0);
  gpu.expect_as_cpu(rows, "banned");
}

TEST(Sample, NeighboursGridsAndDeadRowsChangeNothing) {
  constexpr int64_t kVocab = 5000;
  std::mt19937_64 random(21);
  const auto rows = random_rows(random, 6, kVocab, kVocab);
  GpuSampler wide(20, kVocab, kVocab), medium(6, kVocab, kVocab), one(1, kVocab, kVocab);
  const auto together = medium.run(rows), among_dead = wide.run(rows);
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto alone = one.run({&rows[i], 1});
    EXPECT_EQ(show(alone[0]), show(together[i])) << show(rows[i]);
    EXPECT_EQ(show(alone[0]), show(among_dead[i])) << show(rows[i]);
  }
  wide.pdl = false;
  const auto without_pdl = wide.run(rows);
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(show(without_pdl[i]), show(together[i]));
  EXPECT_TRUE(wide.run({}).empty()) << "no live row at all";
}

TEST(Sample, AWorkspaceServesFewerRowsToo) {
  const auto bytes = sample_workspace_bytes(64, 5000);
  EXPECT_GT(bytes, sample_workspace_bytes(1, 5000));
  const OnDevice<std::byte> workspace(bytes);
  std::mt19937_64 random(31);
  for (const int32_t rows_max : {5, 1, 7, 2}) {
    GpuSampler gpu(rows_max, 2000, 2000);
    const auto rows = random_rows(random, static_cast<size_t>(rows_max), 2000, 2000);
    gpu.prepare(rows);
    gpu.write_histories();
    ASSERT_TRUE(gpu.launch().ok());  // on its own workspace
    SampleArgs args = gpu.args();
    ASSERT_EQ(cudaStreamSynchronize(gpu.stream()), cudaSuccess);
    gpu.prepare(rows);
    gpu.write_histories();
    args.workspace = workspace.get();
    ASSERT_TRUE(sample(args, gpu.queue()).ok());
    ASSERT_EQ(cudaStreamSynchronize(gpu.stream()), cudaSuccess);
    const auto results = gpu.results();
    for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(show(results[i]), show(cpu_result(rows[i], 2000))) << i;
  }
}

TEST(Sample, OneGraphServesAnyRows) {
  constexpr int64_t kVocab = 2000;
  GpuSampler gpu(5, kVocab, kVocab);
  ASSERT_EQ(cudaStreamBeginCapture(gpu.stream(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
  ASSERT_TRUE(gpu.launch().ok());
  device::Handle<cudaGraph_t, cudaGraphDestroy> graph;
  ASSERT_EQ(cudaStreamEndCapture(gpu.stream(), graph.fill()), cudaSuccess);
  device::Handle<cudaGraphExec_t, cudaGraphExecDestroy> exec;
  ASSERT_EQ(cudaGraphInstantiate(exec.fill(), graph.get(), 0), cudaSuccess);
  std::mt19937_64 random(41);
  for (const size_t live : {5, 1, 0, 3}) {
    const auto rows = random_rows(random, live, kVocab, kVocab);
    gpu.prepare(rows);
    gpu.write_histories();
    ASSERT_EQ(cudaGraphLaunch(exec.get(), gpu.stream()), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(gpu.stream()), cudaSuccess);
    const auto results = gpu.results();
    for (size_t i = 0; i < live; ++i) EXPECT_EQ(show(results[i]), show(cpu_result(rows[i], kVocab))) << i;
  }
}

/// Step after step, so that what one draw counts the next one sees.
TEST(Sample, PenaltiesSeeWhatWasDrawn) {
  GpuSampler gpu(1, 300, 300);
  Row row =
      plain(normal_logits(300, 51, 0.5F),
            {.temperature = 0.5F, .repetition_penalty = 1.1F, .presence_penalty = 0.2F, .frequency_penalty = 0.4F});
  row.prompt = {1, 2, 3};
  gpu.prepare({&row, 1});
  gpu.write_histories();
  for (int step = 0; step < 20; ++step) {
    row.noise.position = static_cast<uint64_t>(step);
    gpu.prepare({&row, 1});
    ASSERT_TRUE(gpu.launch().ok());
    ASSERT_EQ(cudaStreamSynchronize(gpu.stream()), cudaSuccess);
    const Result want = cpu_result(row, 300);
    ASSERT_EQ(show(gpu.results()[0]), show(want)) << step;
    row.output.push_back(want.token);
  }
}

TEST(Sample, HistoriesSaturateAndLeaveOtherSlotsAlone) {
  for (const int64_t vocab : {100, 101}) {  // slots of an odd vocabulary share a word
    const std::vector<uint16_t> before(static_cast<size_t>(3 * vocab), 0x1234);
    const OnDevice<uint16_t> counts{std::span<const uint16_t>(before)};
    std::vector<int32_t> prompt{0, 5, 5, 99}, output(40000, 99);
    output.insert(output.end(), {7, 0, 7, static_cast<int32_t>(vocab) - 1});
    const OnDevice<int32_t> device_prompt{std::span<const int32_t>(prompt)};
    const OnDevice<int32_t> device_output{std::span<const int32_t>(output)};
    device::Stream stream;
    ASSERT_EQ(cudaStreamCreateWithFlags(stream.fill(), cudaStreamNonBlocking), cudaSuccess);
    const SetHistoryArgs args{.counts = counts.get(),
                              .vocab = vocab,
                              .slot = 1,
                              .prompt = device_prompt.get(),
                              .prompt_tokens = 4,
                              .output = device_output.get(),
                              .output_tokens = static_cast<int64_t>(output.size())};
    ASSERT_TRUE(set_history(args, {.stream = stream.get()}).ok());
    ASSERT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
    Row row;
    row.prompt = prompt;
    row.output = output;
    auto want = before;
    const auto slot = expected_counts(row, vocab);
    std::copy(slot.begin(), slot.end(), want.begin() + vocab);
    EXPECT_EQ(counts.read(), want);
    EXPECT_EQ(want[static_cast<size_t>(vocab) + 99], 0xffff);
  }
}

TEST(Sample, WhatCannotRunIsRefused) {
  const GpuSampler gpu(1, 100, 100);
  const auto code = [&](auto&& change) {
    SampleArgs args = gpu.args();
    change(args);
    return sample(args, gpu.queue()).code();
  };
  EXPECT_EQ(code([](SampleArgs& a) { a.vocab = kSampleVocabMax + 1; }), StatusCode::unsupported);
  EXPECT_EQ(code([](SampleArgs& a) { a.known_ids = 101; }), StatusCode::unsupported);
  EXPECT_EQ(code([](SampleArgs& a) { a.tables.rows_max = kSampleRowsMax + 1; }), StatusCode::unsupported);
  EXPECT_EQ(code([](SampleArgs& a) { a.workspace = nullptr; }), StatusCode::invalid_argument);
  EXPECT_EQ(code([](SampleArgs& a) { a.logits += 1; }), StatusCode::invalid_argument);
  EXPECT_EQ(code([](SampleArgs& a) { a.tables.rows_max = 0; }), StatusCode::ok);
  EXPECT_EQ(set_history({}, gpu.queue()).code(), StatusCode::invalid_argument);
  EXPECT_EQ(stage_sample_tables({}, gpu.queue()).code(), StatusCode::invalid_argument);
}

}  // namespace
}  // namespace tessera::kernels::cuda
