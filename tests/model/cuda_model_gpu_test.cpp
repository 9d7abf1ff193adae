// Whole models on the GPU: against the CPU with a tolerance, against themselves bit for bit.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "checkpoint_files.h"
#include "gpu_model.h"
#include "model/loaded_model.h"
#include "model/selected_hidden.h"

namespace tessera::model {
namespace {

using format::WeightFormat;
using kernels::Compute;
using kernels::RowClass;

double relative_error(std::span<const float> found, std::span<const float> want) {
  EXPECT_EQ(found.size(), want.size());
  double error = 0, size = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    error += std::pow(double{found[i]} - want[i], 2);
    size += std::pow(double{want[i]}, 2);
  }
  return std::sqrt(error / size);
}

/// Errors against fp32 of single rows of logits, of the GPU and of the CPU in BF16. Both round at the same places, but
/// a router's near tie falls to one side or the other, and then a row's logits are others: so rows are many, and what
/// is compared is where their errors lie.
class RowErrors {
 public:
  explicit RowErrors(size_t vocab) : vocab_(vocab) {}

  void add(std::span<const float> cuda, std::span<const float> bf16, std::span<const float> fp32) {
    for (size_t row = 0; row < fp32.size(); row += vocab_) {
      cuda_.push_back(relative_error(cuda.subspan(row, vocab_), fp32.subspan(row, vocab_)));
      bf16_.push_back(relative_error(bf16.subspan(row, vocab_), fp32.subspan(row, vocab_)));
    }
  }

  void expect_alike(const std::string& what) {
    std::sort(cuda_.begin(), cuda_.end());
    std::sort(bf16_.begin(), bf16_.end());
    ASSERT_GE(cuda_.size(), 50U);
    for (const double share : {0.25, 0.5, 0.75}) {
      const auto at = static_cast<size_t>(share * static_cast<double>(cuda_.size()));
      EXPECT_LE(cuda_[at], 1.5 * bf16_[at] + 0.005) << what << ", quantile " << share << " of " << cuda_.size();
    }
    EXPECT_LT(cuda_.back(), 2) << what << ": the worst row; the CPU's is " << bf16_.back();
  }

 private:
  size_t vocab_;
  std::vector<double> cuda_, bf16_;
};

void expect_same_bits(std::span<const float> found, std::span<const float> want, const std::string& what) {
  ASSERT_EQ(found.size(), want.size()) << what;
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(std::memcmp(&found[i], &want[i], sizeof(float)), 0)
        << what << ": element " << i << " is " << found[i] << ", want " << want[i];
  }
}

void expect_like_cpu(const std::string& directory, DType kv_dtype = DType::bf16) {
  LoadedModel cuda(directory, gpu(), kv_dtype), bf16(directory, Compute::bf16, 4, kv_dtype),
      fp32(directory, Compute::f32, 4);
  const auto tokens = random_tokens(200, cuda.vocab());
  RowErrors prefill(cuda.vocab()), decode(cuda.vocab()), mtp(cuda.vocab());
  for (const size_t prompt : {1, 63, 64, 65, 140}) {
    const auto rows = std::span(tokens).first(prompt);
    prefill.add(cuda.step(rows, 0, RowClass::prefill), bf16.step(rows, 0, RowClass::prefill),
                fp32.step(rows, 0, RowClass::prefill));
    for (size_t t = prompt; t < prompt + 20; ++t) {
      const auto row = std::span(tokens).subspan(t, 1);
      const auto at = static_cast<int32_t>(t);
      decode.add(cuda.step(row, at, RowClass::decode), bf16.step(row, at, RowClass::decode),
                 fp32.step(row, at, RowClass::decode));
    }
  }
  prefill.expect_alike("prefill");
  decode.expect_alike("decode");
  if (!cuda->has_mtp()) return;
  const auto rows = std::span(tokens).first(100), next = std::span(tokens).subspan(1, 100);
  for (LoadedModel* model : {&cuda, &bf16, &fp32}) model->step(rows, 0, RowClass::prefill);
  mtp.add(cuda.mtp_step(next), bf16.mtp_step(next), fp32.mtp_step(next));
  mtp.expect_alike("the MTP head");
}

TEST(CudaModel, GoldenModelsAreLikeTheCpus) {
  for (const char* name : {"qwen3_5_moe", "qwen3_5_dense", "qwen3_5_yarn"}) {
    SCOPED_TRACE(name);
    expect_like_cpu(std::string(TESSERA_SOURCE_DIR "/tests/golden/") + name);
  }
}

/// The factor of attention in YaRN, beside its frequencies, in a prompt so short that the simulator has time for it.
TEST(CudaModel, PositionsOfYarnAreScaledAsOnTheCpu) {
  const std::string directory = TESSERA_SOURCE_DIR "/tests/golden/qwen3_5_yarn";
  LoadedModel cuda(directory, gpu()), bf16(directory, Compute::bf16, 4), fp32(directory, Compute::f32, 4);
  const auto tokens = random_tokens(60, cuda.vocab());
  RowErrors errors(cuda.vocab());
  errors.add(cuda.step(tokens, 0, RowClass::prefill), bf16.step(tokens, 0, RowClass::prefill),
             fp32.step(tokens, 0, RowClass::prefill));
  errors.expect_alike("a short prompt");
}

TEST(CudaModel, TheBundledModelIsLikeTheCpus) { expect_like_cpu(TESSERA_SOURCE_DIR "/models/demo"); }

SynthOptions synth(bool is_moe, WeightFormat experts, WeightFormat rest, bool fused = false) {
  SynthOptions options;
  options.shape = test::small_shape(is_moe);
  options.shape.num_hidden_layers = 4;
  for (const TensorKind kind : {TensorKind::routed_expert, TensorKind::mlp}) options.formats[kind] = experts;
  for (const TensorKind kind :
       {TensorKind::attention, TensorKind::delta_net, TensorKind::shared_expert, TensorKind::lm_head}) {
    options.formats[kind] = rest;
  }
  options.fused_experts = fused;
  return options;
}

/// That no norm can be without.
void enlarge_epsilon(const test::TempDirectory& directory, const std::string& model) {
  std::string config = test::read_file(directory / model / "config.json");
  const std::string usual = R"("rms_norm_eps": 1e-06)";
  const size_t at = config.find(usual);
  ASSERT_NE(at, std::string::npos);
  directory.write(model + "/config.json", config.replace(at, usual.size(), R"("rms_norm_eps": 0.5)"));
}

/// Gives up_proj a tensor scale of its own, half of gate_proj's, where there is one.
void part_gate_and_up(const std::filesystem::path& directory) {
  test::rewrite(directory, [](auto& tensors) {
    for (auto& [name, tensor] : tensors) {
      if (!name.ends_with("up_proj.weight_scale_2") && !name.ends_with("up_proj.weight_scale")) continue;
      if (tensor.data.size() != sizeof(float)) continue;
      float scale = 0;
      std::memcpy(&scale, tensor.data.data(), sizeof scale);
      scale /= 2;
      std::memcpy(tensor.data.data(), &scale, sizeof scale);
    }
  });
}

TEST(CudaModel, EveryFormatIsLikeTheCpus) {
  constexpr auto kBf16 = WeightFormat::bf16, kFp8 = WeightFormat::fp8_e4m3, kNvfp4 = WeightFormat::nvfp4,
                 kMxfp4 = WeightFormat::mxfp4;
  const std::pair<WeightFormat, WeightFormat> formats[] = {{kBf16, kBf16},   {kNvfp4, kBf16},  {kNvfp4, kFp8},
                                                           {kNvfp4, kNvfp4}, {kMxfp4, kMxfp4}, {kFp8, kFp8}};
  for (const bool is_moe : {true, false}) {
    for (const auto& [experts, rest] : formats) {
      const test::TempDirectory directory;
      SCOPED_TRACE(std::string(is_moe ? "MoE " : "dense ") + std::string(format::name(experts)) + " " +
                   std::string(format::name(rest)));
      test::synthesize(directory / "model", synth(is_moe, experts, rest));
      enlarge_epsilon(directory, "model");
      part_gate_and_up(directory / "model");
      expect_like_cpu((directory / "model").string());
    }
  }
  const test::TempDirectory directory;
  test::synthesize(directory / "fused", synth(true, kBf16, kBf16, /*fused=*/true));
  expect_like_cpu((directory / "fused").string());
}

TEST(CudaModel, Fp8KvIsLikeTheCpus) { expect_like_cpu(TESSERA_SOURCE_DIR "/models/demo", DType::f8_e4m3); }

TEST(CudaModel, BitsDoNotDependOnPrefillSplit) {
  for (const char* path : {"/models/demo", "/tests/golden/qwen3_5_moe", "/tests/golden/qwen3_5_dense"}) {
    const std::string directory = std::string(TESSERA_SOURCE_DIR) + path;
    LoadedModel whole(directory, gpu()), split(directory, gpu());
    const auto tokens = random_tokens(300, whole.vocab());
    const auto once = whole.step(tokens, 0, RowClass::prefill);
    for (const size_t piece : {64, 128, 192}) {
      std::vector<float> pieces;
      for (size_t first = 0; first < tokens.size(); first += piece) {
        const size_t count = std::min(piece, tokens.size() - first);
        const auto logits =
            split.step(std::span(tokens).subspan(first, count), static_cast<int32_t>(first), RowClass::prefill);
        pieces.insert(pieces.end(), logits.begin(), logits.end());
      }
      expect_same_bits(pieces, once, std::string(path) + ", pieces of " + std::to_string(piece));
    }
  }
}

/// A token's are those it chooses; many tokens choose all of them.
TEST(CudaModel, ExpertsThatAreReadAreCounted) {
  kernels::ExpertsRead read;
  LoadedModel loaded(TESSERA_SOURCE_DIR "/tests/golden/qwen3_5_moe",
                     *kernels::make_cuda_backend({.gpu = 0, .experts_read = &read}));
  const ModelConfig& config = loaded->config();
  const auto tokens = random_tokens(500, loaded.vocab());
  const auto count = [&](size_t rows, kernels::RowClass row_class) {
    read = {.on = true};
    loaded.step(std::span(tokens).first(rows), 0, row_class);
    EXPECT_EQ(read.layers, config.num_layers());
    return read.experts;
  };
  EXPECT_EQ(count(1, RowClass::decode), config.num_layers() * config.experts_per_token);
  EXPECT_EQ(count(tokens.size(), RowClass::prefill), config.num_layers() * config.num_experts);
}

TEST(CudaModel, SelectedHiddenRowsAreThoseSelected) {
  LoadedModel loaded(TESSERA_SOURCE_DIR "/models/demo", gpu());
  test::expect_hidden_rows_are_those_selected(loaded);
}

}  // namespace
}  // namespace tessera::model
