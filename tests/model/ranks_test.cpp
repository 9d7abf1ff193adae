// Tensor parallelism, whole: ranks as threads, each with its share of a model, against one rank with all of it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>

#include "checkpoint_files.h"
#include "kernels/step_plan.h"
#include "loaded_model.h"
#include "model/cpu_runner.h"
#include "thread_ranks.h"

namespace tessera::model {
namespace {

using format::WeightFormat;
using kernels::Compute;
using kernels::RowClass;
using test::median_error;
using test::ThreadRanks;

/// A shape that so many ranks can share, in every format; four have two KV heads.
SynthShape shape_for(int world, bool is_moe) {
  SynthShape shape = test::small_shape(is_moe);
  shape.linear_num_key_heads = world;
  shape.linear_num_value_heads = 2 * world;
  shape.moe_intermediate_size = 32 * world;
  shape.shared_expert_intermediate_size = 64 * world;
  shape.intermediate_size = 96 * world;
  return shape;
}

SynthOptions synth(const SynthShape& shape, WeightFormat format) {
  SynthOptions options;
  options.shape = shape;
  const bool is_plain = format == WeightFormat::bf16 || format == WeightFormat::f16 || format == WeightFormat::f32;
  if (is_plain) {
    options.plain = format;
    return options;
  }
  for (const TensorKind kind : {TensorKind::routed_expert, TensorKind::mlp, TensorKind::attention,
                                TensorKind::delta_net, TensorKind::shared_expert, TensorKind::lm_head}) {
    options.formats[kind] = format;
  }
  return options;
}

std::vector<int32_t> random_tokens(size_t count, size_t vocab) {
  std::mt19937 random(7);
  std::vector<int32_t> tokens(count);
  for (int32_t& token : tokens) token = static_cast<int32_t>(random() % vocab);
  return tokens;
}

/// Logits of a prompt in two chunks, of decode steps behind it, and of the MTP head on the last of the chunks, each row
/// behind the one before.
std::vector<float> logits_of(LoadedModel& model) {
  constexpr size_t kChunk = 64, kPrompt = 100, kTokens = 116;
  const auto tokens = random_tokens(kTokens + 1, model.vocab());
  std::vector<float> all;
  const auto add = [&](const std::vector<float>& logits) { all.insert(all.end(), logits.begin(), logits.end()); };
  add(model.step(std::span(tokens).first(kChunk), 0, RowClass::prefill));
  add(model.step(std::span(tokens).subspan(kChunk, kPrompt - kChunk), kChunk, RowClass::prefill));
  if (model->has_mtp()) add(model.mtp_step(std::span(tokens).subspan(kChunk + 1, kPrompt - kChunk)));
  for (size_t t = kPrompt; t < kTokens; ++t) {
    add(model.step(std::span(tokens).subspan(t, 1), static_cast<int32_t>(t), RowClass::decode));
  }
  return all;
}

struct Case {
  std::string directory;
  Compute compute = Compute::f32;
  DType kv_dtype = DType::f32;
  PlanOptions plan = {.with_mtp = true};
};

std::vector<float> alone(const Case& c) {
  LoadedModel model(c.directory, c.compute, 2, c.kv_dtype, nullptr, c.plan);
  return logits_of(model);
}

/// The logits of ranks, which are the same bits on all of them.
std::vector<float> together(const Case& c, ThreadRanks& ranks) {
  std::vector<std::vector<float>> logits(static_cast<size_t>(ranks.world()));
  ranks.run([&](int rank) {
    LoadedModel model(c.directory, c.compute, 1, c.kv_dtype, &ranks.comm(rank), c.plan);
    logits[static_cast<size_t>(rank)] = logits_of(model);
  });
  for (const auto& of_rank : logits) {
    EXPECT_EQ(of_rank.size(), logits[0].size());
    EXPECT_EQ(std::memcmp(of_rank.data(), logits[0].data(), logits[0].size() * sizeof(float)), 0);
  }
  return logits[0];
}

struct Worst {
  double error = 0;  // of an element, as a share of the largest logit
  size_t row = 0, id = 0;
  float found = 0, want = 0;
};

Worst worst_element(std::span<const float> found, std::span<const float> want, size_t vocab) {
  EXPECT_EQ(found.size(), want.size());
  float largest = 0;
  for (const float value : want) largest = std::max(largest, std::abs(value));
  Worst worst;
  for (size_t i = 0; i < want.size(); ++i) {
    const double error = std::abs(double{found[i]} - want[i]) / largest;
    if (error > worst.error || std::isnan(error)) worst = {error, i / vocab, i % vocab, found[i], want[i]};
    if (std::isnan(error)) break;
  }
  return worst;
}

/// In fp32 nothing differs but the order of sums.
constexpr double kTolerance = 1e-4;

void expect_alike(const Case& c, int world, size_t vocab) {
  ThreadRanks ranks(world);
  const Worst worst = worst_element(together(c, ranks), alone(c), vocab);
  std::printf("%d ranks, worst element: row %zu, id %zu: %.7g, alone %.7g (%.2g of the largest)\n", world, worst.row,
              worst.id, worst.found, worst.want, worst.error);
  EXPECT_LT(worst.error, kTolerance);
  EXPECT_GT(ranks.sums(), 0);
  EXPECT_GT(ranks.gathers(), 0);
}

class Ranks : public testing::TestWithParam<std::tuple<int, bool>> {
 protected:
  [[nodiscard]] int world() const { return std::get<0>(GetParam()); }
  [[nodiscard]] bool is_moe() const { return std::get<1>(GetParam()); }
  [[nodiscard]] SynthShape shape() const { return shape_for(world(), is_moe()); }
  [[nodiscard]] Case write(const SynthOptions& options) const {
    const auto name = std::to_string(written_++);
    test::synthesize(directory_ / name, options);
    return {.directory = (directory_ / name).string()};
  }

  test::TempDirectory directory_;
  mutable int written_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Shapes, Ranks, testing::Combine(testing::Values(2, 4), testing::Bool()),
                         [](const auto& instance) {
                           return std::to_string(std::get<0>(instance.param)) +
                                  (std::get<1>(instance.param) ? "Moe" : "Dense");
                         });

TEST_P(Ranks, EveryFormatIsLikeOneRank) {
  const auto vocab = static_cast<size_t>(shape().vocab_size);
  for (const WeightFormat format : {WeightFormat::bf16, WeightFormat::f16, WeightFormat::f32, WeightFormat::fp8_e4m3,
                                    WeightFormat::nvfp4, WeightFormat::mxfp4}) {
    for (const auto dialect : {format::Dialect::modelopt, format::Dialect::compressed_tensors}) {
      SynthOptions options = synth(shape(), format);
      if (options.formats.empty() && dialect != format::Dialect::modelopt) continue;
      options.dialect = dialect;
      SCOPED_TRACE(format::name(format));
      expect_alike(write(options), world(), vocab);
    }
  }
}

TEST_P(Ranks, OtherLayoutsAreLikeOneRank) {
  SynthOptions tied = synth(shape(), WeightFormat::bf16);
  tied.shape.tie_word_embeddings = true;
  expect_alike(write(tied), world(), static_cast<size_t>(shape().vocab_size));
  SynthOptions fused = synth(shape(), WeightFormat::bf16);
  fused.fused_experts = true;
  expect_alike(write(fused), world(), static_cast<size_t>(shape().vocab_size));
  // A row has one scale, of all its columns, whoever has them.
  Case requantized = write(synth(shape(), WeightFormat::bf16));
  requantized.plan.requantize_projections = true;
  expect_alike(requantized, world(), static_cast<size_t>(shape().vocab_size));
}

TEST_P(Ranks, ADroppedPartIsSeen) {
  const auto vocab = static_cast<size_t>(shape().vocab_size);
  const Case c = write(synth(shape(), WeightFormat::nvfp4));
  const auto want = alone(c);
  for (int rank = 0; rank < world(); ++rank) {
    ThreadRanks ranks(world());
    ranks.dropped = rank;
    const auto found = together(c, ranks);
    const double error = median_error(found, want, vocab);
    std::printf("%d ranks, without rank %d: median error of a row %.3f\n", world(), rank, error);
    EXPECT_GT(worst_element(found, want, vocab).error, 100 * kTolerance) << "without rank " << rank;
    EXPECT_GT(error, 0.2) << "without rank " << rank << ": no more than rounding in BF16";
  }
}

/// In BF16 each rank's part is rounded, so errors are others, but no larger; a router's near tie may fall to the other
/// side, hence the median.
TEST_P(Ranks, RoundAsFinelyAsOneRank) {
  const auto vocab = static_cast<size_t>(shape().vocab_size);
  Case c = write(synth(shape(), WeightFormat::nvfp4));
  const auto oracle = alone(c);
  c.compute = Compute::bf16;
  for (const DType kv_dtype : {DType::bf16, DType::f8_e4m3}) {
    c.kv_dtype = kv_dtype;
    ThreadRanks ranks(world());
    const double of_ranks = median_error(together(c, ranks), oracle, vocab);
    const double of_one = median_error(alone(c), oracle, vocab);
    std::printf("%d ranks, median error of a row: %.4f, alone %.4f\n", world(), of_ranks, of_one);
    EXPECT_LT(of_ranks, 1.5 * of_one + 0.002);
  }
}

/// Greedy tokens behind a prompt, with how far each was ahead of the second.
struct Drawn {
  std::vector<int32_t> tokens;
  std::vector<float> margins;
};

Drawn generate(LoadedModel& model, DType kv_dtype, int count) {
  Drawn drawn;
  const std::vector<int32_t> blocks = {2, 0, 1};
  const auto prompt = random_tokens(70, model.vocab());
  auto cache = *model->make_cache(kv_dtype, /*blocks=*/3, /*state_slots=*/2, /*with_mtp=*/false);
  const auto runner = *make_cpu_runner({.model = &*model,
                                        .cache = cache.get(),
                                        .pool = &model.pool(),
                                        .known_ids = static_cast<int64_t>(model.vocab()),
                                        .rows_max = 128,
                                        .samples_max = 2});
  const kernels::SampleParams params{.temperature = 0, .logprobs = 2};
  for (int i = 0; i < count; ++i) {
    Step step;
    step.tokens = i == 0 ? prompt : std::vector<int32_t>{kLastDrawn};
    const auto rows = static_cast<int32_t>(step.tokens.size());
    const auto first = i == 0 ? 0 : static_cast<int32_t>(prompt.size()) + i - 1;
    step.sequences = {{.rows = rows,
                       .first_position = first,
                       .row_class = i == 0 ? RowClass::prefill : RowClass::decode,
                       .state_slot = 1,
                       .block_table = blocks}};
    step.samples = {{.row = rows - 1,
                     .slot = 1,
                     .params = &params,
                     .noise = {.key = 7, .position = static_cast<uint64_t>(first + rows)}}};
    const Status status = runner->submit(step);
    EXPECT_TRUE(status.ok()) << status.message();
    const auto results = runner->collect();
    EXPECT_TRUE(results.ok() && (*results)[0].status.ok());
    drawn.tokens.push_back((*results)[0].token);
    const auto& logprobs = (*results)[0].logprobs;
    drawn.margins.push_back(logprobs.at(1).logprob - logprobs.at(2).logprob);
  }
  return drawn;
}

/// Every rank draws what one rank does, until that has a choice between two that are nearly as likely.
TEST_P(Ranks, DrawTheSameTokens) {
  constexpr int kCount = 40;
  for (const WeightFormat format : {WeightFormat::bf16, WeightFormat::nvfp4}) {
    const Case c = write(synth(shape(), format));
    LoadedModel model(c.directory, Compute::f32);
    const Drawn want = generate(model, DType::f32, kCount);
    ThreadRanks ranks(world());
    std::vector<Drawn> found(static_cast<size_t>(world()));
    ranks.run([&](int rank) {
      LoadedModel share(c.directory, Compute::f32, 1, DType::f32, &ranks.comm(rank));
      found[static_cast<size_t>(rank)] = generate(share, DType::f32, kCount);
    });
    for (const Drawn& drawn : found) EXPECT_EQ(drawn.tokens, found[0].tokens);
    size_t sure = 0;
    while (sure < want.margins.size() && want.margins[sure] > 1e-3F) ++sure;
    EXPECT_GE(sure, 10U) << "the model is never sure";
    EXPECT_THAT(
        std::span(found[0].tokens).first(sure),
        testing::ElementsAreArray(want.tokens.begin(), want.tokens.begin() + static_cast<std::ptrdiff_t>(sure)));
  }
}

/// A rank that has nobody to talk to says nothing.
TEST(RankCalls, AreNoneOfOneRank) {
  const test::TempDirectory directory;
  test::synthesize(directory / "model", {.shape = test::small_shape()});
  const Case c{.directory = (directory / "model").string(), .compute = Compute::bf16, .kv_dtype = DType::bf16};
  ThreadRanks one(1);
  const auto with = together(c, one), without = alone(c);
  ASSERT_EQ(with.size(), without.size());
  EXPECT_EQ(std::memcmp(with.data(), without.data(), with.size() * sizeof(float)), 0);
  EXPECT_EQ(one.sums(), 0);
  EXPECT_EQ(one.gathers(), 0);
}

TEST(RankCalls, AreASumBehindEachBlockAndOneOfLogits) {
  const test::TempDirectory directory;
  const SynthShape shape = shape_for(2, /*is_moe=*/true);
  test::synthesize(directory / "model", {.shape = shape});
  for (const Compute compute : {Compute::bf16, Compute::f32}) {
    ThreadRanks ranks(2);
    ranks.run([&](int rank) {
      LoadedModel share((directory / "model").string(), compute, 1, DType::f32, &ranks.comm(rank));
      share.step(random_tokens(5, share.vocab()), 0, RowClass::prefill);
    });
    EXPECT_EQ(ranks.sums(), 2 * shape.num_hidden_layers);
    EXPECT_EQ(ranks.rounded(), compute == Compute::bf16 ? ranks.sums() : 0);
    EXPECT_EQ(ranks.gathers(), 1);
  }
}

// ---- on a GPU that need not be there ----

/// A rank without others, for what never runs.
struct LoneEnd final : kernels::Comm {
  explicit LoneEnd(kernels::Rank r) : own(r) {}
  [[nodiscard]] kernels::Rank rank() const override { return own; }
  Status all_reduce(const kernels::CommRows& rows, bool round) override {
    EXPECT_TRUE(round && rows.dtype == DType::bf16 && rows.queue != nullptr && rows.live_rows != nullptr);
    ++sums;
    return {};
  }
  Status all_gather(const kernels::CommRows& rows) override {
    EXPECT_TRUE(rows.dtype == DType::f32 && rows.queue != nullptr && rows.live_rows != nullptr);
    ++gathers;
    return {};
  }

  kernels::Rank own;
  int sums = 0, gathers = 0;
};

void plan_step(const Model& model, int32_t rows, RowClass row_class) {
  const bool prefill = row_class == RowClass::prefill;
  const int32_t sequences = prefill ? 1 : rows;
  const auto cache = *model.make_cache(DType::bf16, /*blocks=*/64, sequences, /*with_mtp=*/false);
  const auto pass = *model.make_pass({.rows_max = rows,
                                      .sequences_max = sequences,
                                      .logit_rows_max = sequences,
                                      .state_slots = sequences,
                                      .sequence_blocks_max = 64});
  std::vector<kernels::SequenceRows> all(static_cast<size_t>(sequences));
  std::vector<int32_t> logit_rows;
  for (int32_t i = 0; i < sequences; ++i) {
    all[static_cast<size_t>(i)] = {
        .first_row = i, .rows = prefill ? rows : 1, .row_class = row_class, .state_slot = i, .block_table = {}};
    logit_rows.push_back(prefill ? rows - 1 : i);
  }
  const std::vector<int32_t> tokens(static_cast<size_t>(rows));
  Status status = model.backend().begin(*pass, *cache, {.tokens = tokens, .sequences = all}, logit_rows);
  EXPECT_TRUE(status.ok()) << status.message();
  status = model.forward(*pass);
  EXPECT_TRUE(status.ok()) << status.message();
}

/// There are kernels for the shapes of shares; the delta is asked for once a block, the logits once.
TEST(RankPlans, SharesOfReleasedShapesHaveKernels) {
  for (const char* name : {"397b", "122b", "35b", "27b"}) {
    SynthShape shape = *synth_preset(name);
    shape.num_hidden_layers = 4;
    const ModelConfig config = *synth_config(shape);
    const KindFormats formats = {{TensorKind::routed_expert, WeightFormat::nvfp4},
                                 {TensorKind::mlp, WeightFormat::nvfp4},
                                 {TensorKind::attention, WeightFormat::fp8_e4m3}};
    for (const char* gpu : {"h200", "rtx-pro-6000"}) {
      for (const int world : {1, 2, 4, 8}) {
        SCOPED_TRACE(fmt::format("{} on {}, {} ranks", name, gpu, world));
        LoneEnd comm({world - 1, world});
        std::vector<kernels::PlannedOperation> operations;
        const auto backend = kernels::make_planning_backend(*plan::find_device(gpu), {}, operations, &comm);
        if (!backend.ok()) GTEST_SKIP() << "built without CUDA";
        const auto model = Model::dummy(config, formats, **backend, {.rank = comm.own});
        ASSERT_TRUE(model.ok()) << model.status().message();
        int steps = 0;
        for (const int32_t rows : {1, 8, 64}) plan_step(**model, rows, RowClass::decode), ++steps;
        for (const int32_t rows : {64, 512}) plan_step(**model, rows, RowClass::prefill), ++steps;
        EXPECT_EQ(comm.sums, world == 1 ? 0 : steps * 2 * config.num_layers());
        EXPECT_EQ(comm.gathers, world == 1 ? 0 : steps);
        // What ranks add is rows.
        const bool norm_sums_experts = std::any_of(operations.begin(), operations.end(), [](const auto& operation) {
          return std::any_of(operation.kernels.begin(), operation.kernels.end(),
                             [](const auto& kernel) { return kernel.name == "add_norm_rows<true>"; });
        });
        EXPECT_EQ(norm_sums_experts, world == 1 && config.is_moe);
      }
    }
  }
}

}  // namespace
}  // namespace tessera::model
