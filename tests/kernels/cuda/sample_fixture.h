#pragma once

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <initializer_list>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "kernels/cpu/sampler.h"
#include "kernels/cuda/on_device.h"
#include "kernels/cuda/sample.h"
#include "kernels/sample_math.h"

// Rows to sample, what the CPU makes of them, and a sampler in device memory.
namespace tessera::kernels::cuda {

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr int32_t kSlots = 7;
inline constexpr int32_t kUntouched = -77;

/// A row and all that it refers to.
struct Row {
  std::vector<float> logits;
  SampleParams params;
  std::vector<int32_t> banned = {};
  std::vector<uint32_t> allowed = {};
  std::vector<int32_t> prompt = {}, output = {};  // of the slot, where there are penalties
  int32_t target = -1;
  NoiseStream noise = {};
  bool is_unsure = false;
  std::vector<int32_t> drafts = {};
};

struct Result {
  StatusCode status = StatusCode::ok;
  int32_t token = 0;
  std::vector<TokenLogprob> logprobs;
};

inline std::string show(const Result& r) {
  std::string text = "status " + std::to_string(static_cast<int>(r.status)) + " token " + std::to_string(r.token);
  for (const TokenLogprob& l : r.logprobs) {
    text += " (" + std::to_string(l.token) + " " + std::to_string(l.logprob) + " " +
            std::to_string(std::bit_cast<uint32_t>(l.logprob)) + " " + std::to_string(l.rank) + ")";
  }
  return text;
}

inline std::string show(const Row& row) {
  const SampleParams& p = row.params;
  return "temperature " + std::to_string(p.temperature) + " top_k " + std::to_string(p.top_k) + " top_p " +
         std::to_string(p.top_p) + " min_p " + std::to_string(p.min_p) + " penalties " +
         std::to_string(p.repetition_penalty) + " " + std::to_string(p.presence_penalty) + " " +
         std::to_string(p.frequency_penalty) + " biases " + std::to_string(p.logit_bias.size()) + " logprobs " +
         std::to_string(p.logprobs.value_or(-1)) + " banned " + std::to_string(row.banned.size()) + " allowed " +
         std::to_string(row.allowed.size()) + " target " + std::to_string(row.target);
}

inline Result cpu_result(const Row& row, int64_t known_ids) {
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
  for (const int32_t token : row.drafts) counts.add_output(token);
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

inline uint16_t count_of(uint32_t in_output, bool in_prompt) {
  return static_cast<uint16_t>(std::min(in_output, kTokenCountMax) | (in_prompt ? 0x8000U : 0U));
}

inline std::vector<uint16_t> expected_counts(const Row& row, int64_t vocab) {
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
        last_token_(static_cast<size_t>((1 + kDraftsMax) * kSlots)),
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
    std::vector<UnsureDraw> unsure;
    for (size_t i = 0; i < rows.size(); ++i) {
      std::copy(rows[i].logits.begin(), rows[i].logits.end(), logits.begin() + static_cast<std::ptrdiff_t>(i) * vocab_);
      samples.push_back({.row = static_cast<int32_t>(i),
                         .slot = slot(i),
                         .target = rows[i].target,
                         .draft = draft(i),
                         .params = &rows[i].params,
                         .banned = rows[i].banned,
                         .allowed = rows[i].allowed,
                         .noise = rows[i].noise});
      unsure.push_back({.is_unsure = rows[i].is_unsure, .drafts = rows[i].drafts});
    }
    upload(logits_.get(), std::span<const float>(logits));
    std::memset(pinned_, 0xcd, capacity_.bytes());
    const Status status = write_sample_tables(samples, {.vocab = vocab_, .slots = kSlots, .has_counts = true},
                                              capacity_, {pinned_, capacity_.bytes()}, unsure);
    ASSERT_TRUE(status.ok()) << status.message();
    const std::vector<int32_t> untouched((1 + kDraftsMax) * kSlots, kUntouched);
    upload(last_token_.get(), std::span<const int32_t>(untouched));
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
    args.slots = kSlots;
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
      ASSERT_EQ(last_token[static_cast<size_t>(draft(i) * kSlots) + slot_at], row.target >= 0 ? kUntouched : want.token)
          << what << ", row " << i;
      if (!row.params.has_penalty()) continue;
      auto want_counts = expected_counts(row, vocab_);
      if (row.target < 0 && want.status == StatusCode::ok && !row.is_unsure) {
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
  static int32_t draft(size_t row) { return static_cast<int32_t>(row * 5 % (1 + kDraftsMax)); }

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

inline std::vector<float> random_logits(std::mt19937_64& random, int64_t vocab) {
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

inline Row random_row(std::mt19937_64& random, int64_t vocab, int64_t known_ids) {
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
    if (rarely()) {
      row.is_unsure = true;
      for (uint64_t i = random() % 9; i > 0; --i) row.drafts.push_back(any_id() % (i % 2 == 0 ? 50 : known_ids));
    }
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

inline std::vector<Row> random_rows(std::mt19937_64& random, size_t count, int64_t vocab, int64_t known_ids) {
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

}  // namespace tessera::kernels::cuda
