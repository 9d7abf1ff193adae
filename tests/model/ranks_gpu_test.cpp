// Tensor parallelism on a GPU: ranks as threads that share one, each with its own backend, stream and share of a model.

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "checkpoint_files.h"
#include "device/cuda.h"
#include "gpu_model.h"
#include "model/cuda_runner.h"
#include "model/loaded_model.h"
#include "thread_ranks.h"

namespace tessera::model {
namespace {

using format::WeightFormat;
using kernels::Compute;
using kernels::RowClass;
using test::median_error;
using test::ThreadRanks;

/// Rows on a GPU, by way of the host. It waits for the stream: not to be captured in a graph.
struct GpuMemory final : ThreadRanks::Memory {
  Status read(const kernels::CommRows& rows, std::vector<float>& values) override {
    const auto width = static_cast<size_t>(rows.columns), height = static_cast<size_t>(rows.rows);
    const size_t size = size_bytes(rows.dtype), stride = static_cast<size_t>(rows.stride) * size;
    std::vector<std::byte> bytes(width * height * size);
    TESSERA_CUDA_RETURN_IF_ERROR(cudaMemcpy2DAsync(bytes.data(), width * size, rows.data, stride, width * size, height,
                                                   cudaMemcpyDeviceToHost, rows.queue->stream));
    TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(rows.queue->stream));
    values.resize(width * height);
    for (size_t i = 0; i < values.size(); ++i) {
      uint16_t bf16 = 0;
      std::memcpy(rows.dtype == DType::bf16 ? static_cast<void*>(&bf16) : &values[i], bytes.data() + i * size, size);
      if (rows.dtype == DType::bf16) values[i] = bf16_to_float(bf16);
    }
    return {};
  }
  Status write(const std::vector<float>& values, const kernels::CommRows& rows) override {
    const auto width = static_cast<size_t>(rows.columns), height = static_cast<size_t>(rows.rows);
    const size_t size = size_bytes(rows.dtype), stride = static_cast<size_t>(rows.stride) * size;
    std::vector<std::byte> bytes(width * height * size);
    for (size_t i = 0; i < values.size(); ++i) {
      const uint16_t bf16 = float_to_bf16(values[i]);
      std::memcpy(bytes.data() + i * size, rows.dtype == DType::bf16 ? static_cast<const void*>(&bf16) : &values[i],
                  size);
    }
    TESSERA_CUDA_RETURN_IF_ERROR(cudaMemcpy2DAsync(rows.data, stride, bytes.data(), width * size, width * size, height,
                                                   cudaMemcpyHostToDevice, rows.queue->stream));
    TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(rows.queue->stream));
    return {};
  }
};

SynthOptions synth(int world, bool is_moe, WeightFormat experts, WeightFormat rest) {
  SynthOptions options;
  options.shape = test::small_shape(is_moe);
  options.shape.linear_num_key_heads = world;
  options.shape.linear_num_value_heads = 2 * world;
  options.shape.moe_intermediate_size = 32 * world;
  options.shape.shared_expert_intermediate_size = 64 * world;
  options.shape.intermediate_size = 96 * world;
  for (const TensorKind kind : {TensorKind::routed_expert, TensorKind::mlp}) options.formats[kind] = experts;
  for (const TensorKind kind :
       {TensorKind::attention, TensorKind::delta_net, TensorKind::shared_expert, TensorKind::lm_head}) {
    options.formats[kind] = rest;
  }
  return options;
}

/// Logits of a prompt, of decode steps behind it and of the MTP head.
std::vector<float> logits_of(LoadedModel& model) {
  constexpr size_t kPrompt = 100, kTokens = 120;
  const auto tokens = random_tokens(kTokens + 1, model.vocab(), 7);
  std::vector<float> all = model.step(std::span(tokens).first(kPrompt), 0, RowClass::prefill);
  const auto add = [&](const std::vector<float>& logits) { all.insert(all.end(), logits.begin(), logits.end()); };
  add(model.mtp_step(std::span(tokens).subspan(1, kPrompt)));
  for (size_t t = kPrompt; t < kTokens; ++t) {
    add(model.step(std::span(tokens).subspan(t, 1), static_cast<int32_t>(t), RowClass::decode));
  }
  return all;
}

std::vector<float> together(const std::string& directory, ThreadRanks& ranks, const PlanOptions& plan) {
  std::vector<std::vector<float>> logits(static_cast<size_t>(ranks.world()));
  ranks.run([&](int rank) {
    LoadedModel model(directory, gpu(true, &ranks.comm(rank)), DType::bf16, plan);
    logits[static_cast<size_t>(rank)] = logits_of(model);
  });
  for (const auto& of_rank : logits) {
    EXPECT_EQ(of_rank.size(), logits[0].size());
    EXPECT_EQ(std::memcmp(of_rank.data(), logits[0].data(), logits[0].size() * sizeof(float)), 0)
        << "ranks do not agree";
  }
  return logits[0];
}

/// Against the CPU in fp32, ranks are as good as one, and without a part far worse.
TEST(RanksOnOneGpu, AreLikeOneRank) {
  constexpr auto kBf16 = WeightFormat::bf16, kFp8 = WeightFormat::fp8_e4m3, kNvfp4 = WeightFormat::nvfp4,
                 kMxfp4 = WeightFormat::mxfp4;
  const std::pair<WeightFormat, WeightFormat> formats[] = {{kBf16, kBf16}, {kNvfp4, kFp8}, {kMxfp4, kMxfp4}};
  for (const int world : {2, 4}) {
    for (const bool is_moe : {true, false}) {
      for (const auto& [experts, rest] : formats) {
        SCOPED_TRACE(std::to_string(world) + (is_moe ? " MoE " : " dense ") + std::string(format::name(experts)));
        const test::TempDirectory directory;
        test::synthesize(directory / "model", synth(world, is_moe, experts, rest));
        const std::string path = (directory / "model").string();
        PlanOptions plan = {.with_mtp = true};
        if (experts == kNvfp4) plan.draft_head = kNvfp4;
        LoadedModel fp32(path, Compute::f32, 4), one(path, gpu(), DType::bf16, plan);
        const auto oracle = logits_of(fp32);
        const double of_one = median_error(logits_of(one), oracle, fp32.vocab());
        ThreadRanks ranks(world, std::make_shared<GpuMemory>());
        const double of_ranks = median_error(together(path, ranks, plan), oracle, fp32.vocab());
        ThreadRanks faulty(world, std::make_shared<GpuMemory>());
        faulty.dropped = world - 1;
        const double of_faulty = median_error(together(path, faulty, plan), oracle, fp32.vocab());
        std::printf("%d ranks, %s, %s: median error of a row %.4f, one rank %.4f, a part dropped %.4f\n", world,
                    is_moe ? "MoE" : "dense", std::string(format::name(experts)).c_str(), of_ranks, of_one, of_faulty);
        EXPECT_LT(of_ranks, 1.5 * of_one + 0.005);
        EXPECT_GT(of_faulty, 3 * of_ranks);
        EXPECT_GT(ranks.sums(), 0);
        EXPECT_GT(ranks.gathers(), 0);
      }
    }
  }
}

TEST(RanksOnOneGpu, LoadWhatThePlanSays) {
  const test::TempDirectory directory;
  test::synthesize(directory / "model", synth(2, /*is_moe=*/true, WeightFormat::nvfp4, WeightFormat::bf16));
  const auto checkpoint = test::open(directory / "model");
  const auto config = synth_config(synth(2, true, WeightFormat::nvfp4, WeightFormat::bf16).shape);
  for (const bool requantize : {false, true}) {
    for (int rank = 0; rank < 2; ++rank) {
      ThreadRanks ranks(2);
      const auto backend = gpu(true, &ranks.comm(rank));
      const PlanOptions options{.with_mtp = true, .requantize_projections = requantize, .rank = {rank, 2}};
      const auto plan = plan_weights(checkpoint, *config, options);
      ASSERT_TRUE(plan.ok()) << plan.status().message();
      const auto model = Model::load(checkpoint, *config, *backend, {.plan = options});
      ASSERT_TRUE(model.ok()) << model.status().message();
      EXPECT_EQ(backend->weight_bytes(), plan->placed_bytes(*backend));
    }
  }
}

struct Drawn {
  std::vector<int32_t> tokens;
  std::vector<float> logprobs;

  bool operator==(const Drawn&) const = default;
};

/// A runner's tokens behind a prompt: greedy and with a seed, one sequence each.
Drawn generate(LoadedModel& model, bool graphs, bool pdl, int count) {
  constexpr int32_t kSequences = 2;
  Drawn drawn;
  const std::vector<int32_t> blocks[kSequences] = {{2, 0, 5}, {1, 4, 3}};
  const auto prompt = random_tokens(70, model.vocab(), 7);
  auto cache = *model->make_cache(DType::bf16, /*blocks=*/6, kSequences, /*with_mtp=*/false);
  auto made = make_cuda_runner({.model = &*model,
                                .cache = cache.get(),
                                .gpu = 0,
                                .known_ids = static_cast<int64_t>(model.vocab()),
                                .rows_max = 256,
                                .sequences_max = kSequences,
                                .sequence_blocks_max = 3,
                                .samples_max = 4,
                                .graphs = graphs,
                                .pdl = pdl});
  EXPECT_TRUE(made.ok()) << made.status().message();
  const auto runner = *std::move(made);
  const kernels::SampleParams params[kSequences] = {{.temperature = 0, .logprobs = 1},
                                                    {.temperature = 0.8F, .logprobs = 1}};
  for (int i = 0; i < count; ++i) {
    Step step;
    for (int32_t s = 0; s < kSequences; ++s) {
      const auto rows = i == 0 ? static_cast<int32_t>(prompt.size()) : 1;
      const auto first_row = static_cast<int32_t>(step.tokens.size());
      const auto first = i == 0 ? 0 : static_cast<int32_t>(prompt.size()) + i - 1;
      if (i == 0) {
        step.tokens.insert(step.tokens.end(), prompt.begin(), prompt.end());
      } else {
        step.tokens.push_back(kLastDrawn);
      }
      step.sequences.push_back({.first_row = first_row,
                                .rows = rows,
                                .first_position = first,
                                .row_class = i == 0 ? RowClass::prefill : RowClass::decode,
                                .state_slot = s,
                                .block_table = blocks[s]});
      step.samples.push_back({.row = first_row + rows - 1,
                              .slot = s,
                              .params = &params[s],
                              .noise = {.key = 7, .position = static_cast<uint64_t>(first + rows)}});
    }
    const Status status = runner->submit(step);
    EXPECT_TRUE(status.ok()) << status.message();
    const auto results = runner->collect();
    EXPECT_TRUE(results.ok()) << results.status().message();
    if (!status.ok() || !results.ok()) return drawn;
    for (const auto& result : *results) {
      EXPECT_TRUE(result.status.ok()) << result.status.message();
      drawn.tokens.push_back(result.token);
      if (!result.logprobs.empty()) drawn.logprobs.push_back(result.logprobs[0].logprob);
    }
  }
  return drawn;
}

/// Each rank has a runner of its own, and all draw the same; programmatic launches change no bit.
TEST(RanksOnOneGpu, RunnersDrawTheSameTokens) {
  constexpr int kWorld = 2, kCount = 30;
  const test::TempDirectory directory;
  test::synthesize(directory / "model", synth(kWorld, /*is_moe=*/true, WeightFormat::nvfp4, WeightFormat::fp8_e4m3));
  const std::string path = (directory / "model").string();
  Drawn want;
  for (const bool pdl : {true, false}) {
    ThreadRanks ranks(kWorld, std::make_shared<GpuMemory>());
    std::vector<Drawn> found(kWorld);
    ranks.run([&](int rank) {
      LoadedModel share(path, gpu(pdl, &ranks.comm(rank)));
      found[static_cast<size_t>(rank)] = generate(share, /*graphs=*/false, pdl, kCount);
    });
    EXPECT_EQ(found[0].tokens.size(), 2U * kCount);
    EXPECT_TRUE(found[0] == found[1]) << "ranks drew other tokens";
    if (pdl) want = found[0];
    EXPECT_TRUE(found[0] == want) << "programmatic launches changed bits";
  }
}

/// A rank that has nobody to talk to says nothing, captured or not.
TEST(RanksOnOneGpu, OneRankCallsNobody) {
  const test::TempDirectory directory;
  test::synthesize(directory / "model", synth(2, /*is_moe=*/true, WeightFormat::nvfp4, WeightFormat::fp8_e4m3));
  const std::string path = (directory / "model").string();
  ThreadRanks one(1, std::make_shared<GpuMemory>());
  LoadedModel with(path, gpu(&one.comm(0))), without(path, gpu());
  for (const bool graphs : {true, false}) {
    EXPECT_TRUE(generate(with, graphs, true, 20) == generate(without, graphs, true, 20));
  }
  EXPECT_EQ(one.sums(), 0);
  EXPECT_EQ(one.gathers(), 0);
}

}  // namespace
}  // namespace tessera::model
