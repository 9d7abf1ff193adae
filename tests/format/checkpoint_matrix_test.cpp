#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <thread>

#include "files.h"
#include "format/checkpoint.h"
#include "format/decode.h"
#include "format/f16.h"
#include "format/matrix_writer.h"
#include "format/quantize.h"

namespace tessera::format {
namespace {

using test::bytes_of;
using test::StoredTensor;
using test::TempDirectory;
using ::testing::HasSubstr;

/// A checkpoint of one file.
class Model {
 public:
  explicit Model(const std::vector<StoredTensor>& tensors) {
    directory_.write("model.safetensors", test::safetensors(tensors));
    auto opened = Checkpoint::open(directory_.path());
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    if (opened.ok()) checkpoint_ = std::move(*opened);
  }
  const Checkpoint* operator->() const { return &checkpoint_; }
  [[nodiscard]] std::string error_of(const std::string& module) const {
    return checkpoint_.matrix(module).status().message();
  }

 private:
  TempDirectory directory_;
  Checkpoint checkpoint_;
};

StoredTensor f32(const std::string& name, const std::vector<int64_t>& shape, const std::vector<float>& values) {
  return {name, "F32", shape, bytes_of(values)};
}
StoredTensor raw(const std::string& name, const std::string& dtype, const std::vector<int64_t>& shape, char fill) {
  size_t bytes = dtype == "BF16" || dtype == "F16" ? 2 : dtype == "F32" || dtype == "I32" ? 4 : 1;
  for (const int64_t dim : shape) bytes *= static_cast<size_t>(dim);
  return {name, dtype, shape, std::string(bytes, fill)};
}

std::vector<float> decode(const MatrixView& view) {
  std::vector<float> values(static_cast<size_t>(view.rows * view.cols));
  for (int64_t r = 0; r < view.rows; ++r) {
    decode_row(view, r, std::span(values).subspan(static_cast<size_t>(r * view.cols), static_cast<size_t>(view.cols)));
  }
  return values;
}

// Codes 0x72: even columns 1 (code 2), odd columns 6 (code 7). Block scale 0x40: 2.
const StoredTensor kPacked = raw("m.weight_packed", "U8", {2, 16}, 0x72);
const StoredTensor kModelOpt = raw("m.weight", "U8", {2, 16}, 0x72);
const StoredTensor kScales = raw("m.weight_scale", "F8_E4M3", {2, 2}, 0x40);

TEST(CheckpointMatrix, CompressedTensorsNvfp4) {
  const Model model({kPacked, kScales, f32("m.weight_global_scale", {1}, {3.0F})});
  EXPECT_TRUE(model->has_matrix("m"));
  EXPECT_FALSE(model->has_matrix("n"));
  const auto view = model->matrix("m");
  ASSERT_TRUE(view.ok()) << view.status().message();
  EXPECT_EQ(view->format, WeightFormat::nvfp4);
  EXPECT_EQ(view->rows, 2);
  EXPECT_EQ(view->cols, 32);
  EXPECT_EQ(view->scale, 1.0F / 3.0F);
  const auto values = decode(*view);
  EXPECT_EQ(values[0], 2.0F * (1.0F / 3.0F));
  EXPECT_EQ(values[63], 12.0F * (1.0F / 3.0F));
}

TEST(CheckpointMatrix, ModelOptNvfp4) {
  const Model model({kModelOpt, kScales, f32("m.weight_scale_2", {}, {0.25F}), f32("m.input_scale", {}, {0.5F})});
  const auto view = model->matrix("m");
  ASSERT_TRUE(view.ok()) << view.status().message();
  EXPECT_EQ(view->format, WeightFormat::nvfp4);
  EXPECT_EQ(view->scale, 0.25F);
  EXPECT_EQ(decode(*view)[1], 3.0F);
  EXPECT_TRUE(model->tensor("m.input_scale").ok());
}

TEST(CheckpointMatrix, Mxfp4InBothSpellings) {
  for (const StoredTensor& codes : {kPacked, kModelOpt}) {
    for (const char* dtype : {"U8", "F8_E8M0"}) {
      const Model model({codes, raw("m.weight_scale", dtype, {2, 1}, 126)});
      const auto view = model->matrix("m");
      ASSERT_TRUE(view.ok()) << view.status().message();
      EXPECT_EQ(view->format, WeightFormat::mxfp4);
      EXPECT_EQ(decode(*view)[3], 3.0F);
    }
  }
}

TEST(CheckpointMatrix, Fp8ScaleShapes) {
  const StoredTensor weight = raw("m.weight", "F8_E4M3", {2, 3}, 0x38);  // ones
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{}, {1}, {1, 1}}) {
    const Model model({weight, f32("m.weight_scale", shape, {0.5F})});
    const auto view = model->matrix("m");
    ASSERT_TRUE(view.ok()) << view.status().message();
    EXPECT_EQ(view->format, WeightFormat::fp8_e4m3);
    EXPECT_TRUE(view->row_scales.empty());
    EXPECT_EQ(decode(*view), std::vector<float>(6, 0.5F));
  }
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{2}, {2, 1}}) {
    const std::string bf16 = bytes_of(std::vector<uint16_t>{float_to_bf16(0.5F), float_to_bf16(4.0F)});
    const std::string f16 = bytes_of(std::vector<uint16_t>{float_to_f16(0.5F), float_to_f16(4.0F)});
    for (const StoredTensor& scale :
         {f32("m.weight_scale", shape, {0.5F, 4.0F}), StoredTensor{"m.weight_scale", "BF16", shape, bf16},
          StoredTensor{"m.weight_scale", "F16", shape, f16}}) {
      const Model model({weight, scale});
      const auto view = model->matrix("m");
      ASSERT_TRUE(view.ok()) << view.status().message();
      EXPECT_EQ(decode(*view), (std::vector<float>{0.5F, 0.5F, 0.5F, 4, 4, 4}));
      EXPECT_EQ(model->matrix("m")->row_scales.data(), view->row_scales.data());
    }
  }
}

TEST(CheckpointMatrix, RowScalesFromManyThreads) {
  std::vector<StoredTensor> tensors;
  for (int i = 0; i < 50; ++i) {
    const std::string module = std::to_string(i);
    tensors.push_back(raw(module + ".weight", "F8_E4M3", {4, 2}, 0x38));
    tensors.push_back(f32(module + ".weight_scale", {4}, {1, 2, 3, static_cast<float>(i + 1)}));
  }
  const Model model(tensors);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(model->matrix(std::to_string(i))->row_scales[3], static_cast<float>(i + 1));
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(CheckpointMatrix, PlainFormats) {
  for (const char* dtype : {"F32", "BF16", "F16"}) {
    const Model model({raw("m.weight", dtype, {3, 5}, 0)});
    const auto view = model->matrix("m");
    ASSERT_TRUE(view.ok());
    EXPECT_EQ(name(view->format), dtype);
    EXPECT_EQ(view->rows, 3);
    EXPECT_EQ(view->cols, 5);
    EXPECT_EQ(view->scale, 1.0F);
  }
}

TEST(CheckpointMatrix, StoredFormWinsOverIgnoreLists) {
  // The router of released ModelOpt files is BF16 and not listed; here one that is listed is packed all the same.
  TempDirectory directory;
  directory.write("model.safetensors", test::safetensors({kModelOpt, kScales, f32("m.weight_scale_2", {}, {1.0F})}));
  directory.write("hf_quant_config.json", R"({"quantization":{"quant_algo":"NVFP4","exclude_modules":["m"]}})");
  const auto checkpoint = Checkpoint::open(directory.path());
  ASSERT_TRUE(checkpoint.ok());
  EXPECT_EQ(checkpoint->matrix("m")->format, WeightFormat::nvfp4);
}

struct Broken {
  std::vector<StoredTensor> tensors;
  StatusCode code;
  const char* message;
};

class BrokenMatrix : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenMatrix, IsRefusedByName) {
  const Model model(GetParam().tensors);
  const Status status = model->matrix("m").status();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), GetParam().code) << status.message();
  EXPECT_THAT(status.message(), HasSubstr(GetParam().message));
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr auto kCorrupt = StatusCode::corrupt_data;
constexpr auto kUnsupported = StatusCode::unsupported;
const StoredTensor kFp8 = raw("m.weight", "F8_E4M3", {256, 128}, 0x38);

StoredTensor divisor(float value) { return f32("m.weight_global_scale", {1}, {value}); }
StoredTensor multiplier(float value) { return f32("m.weight_scale_2", {}, {value}); }

INSTANTIATE_TEST_SUITE_P(
    CheckpointMatrix, BrokenMatrix,
    ::testing::Values(
        Broken{{}, StatusCode::not_found, "no tensor 'm.weight'"},
        Broken{{kPacked}, StatusCode::not_found, "m.weight_scale"},
        Broken{{kPacked, kScales}, kCorrupt, "neither weight_global_scale"},
        Broken{{kModelOpt, kScales}, kCorrupt, "neither weight_global_scale"},
        Broken{{kPacked, kScales, divisor(1), multiplier(1)}, kCorrupt, "both weight_global_scale"},
        Broken{{kPacked, kModelOpt, kScales}, kCorrupt, "both weight and weight_packed"},
        Broken{{kPacked, kScales, divisor(0)}, kCorrupt, "'m.weight_global_scale': is 0"},
        Broken{{kPacked, kScales, divisor(-1)}, kCorrupt, "is -1"},
        Broken{{kPacked, kScales, divisor(kNan)}, kCorrupt, "is nan"},
        Broken{{kPacked, kScales, divisor(kInf)}, kCorrupt, "is inf"},
        Broken{{kPacked, kScales, divisor(1e-45F)}, kCorrupt, "1 / 'm.weight_global_scale': is inf"},
        Broken{{kModelOpt, kScales, multiplier(0)}, kCorrupt, "'m.weight_scale_2': is 0"},
        Broken{{kModelOpt, kScales, f32("m.weight_scale_2", {2}, {1, 1})}, kCorrupt, "F32 [2]; one F32 number"},
        Broken{{kModelOpt, kScales, raw("m.weight_scale_2", "BF16", {}, 1)}, kCorrupt, "BF16 []; one F32 number"},
        Broken{{kPacked, raw("m.weight_scale", "F8_E4M3", {2, 1}, 1), divisor(1)}, kUnsupported, "F8_E4M3 [2, 1]"},
        Broken{{kPacked, raw("m.weight_scale", "F8_E4M3", {3, 2}, 1), divisor(1)}, kUnsupported, "F8_E4M3 [3, 2]"},
        Broken{{kPacked, raw("m.weight_scale", "F8_E4M3", {4}, 1), divisor(1)}, kUnsupported, "F8_E4M3 [4]"},
        Broken{{kPacked, raw("m.weight_scale", "BF16", {2, 2}, 1), divisor(1)}, kUnsupported, "BF16 [2, 2]"},
        Broken{{kPacked, raw("m.weight_scale", "U8", {2, 2}, 1)}, kUnsupported, "U8 [2, 2]"},
        Broken{{kPacked, raw("m.weight_scale", "U8", {2, 1}, 1), divisor(1)}, kUnsupported, "MXFP4"},
        Broken{{kPacked, raw("m.weight_scale", "U8", {2, 1}, 1), multiplier(1)}, kUnsupported, "'m.weight_scale_2'"},
        Broken{{raw("m.weight_packed", "U8", {2, 12}, 1), raw("m.weight_scale", "F8_E4M3", {2, 1}, 1), divisor(1)},
               kUnsupported,
               "codes for [2, 24]"},
        Broken{{raw("m.weight_packed", "I32", {2, 4}, 1), kScales}, kUnsupported, "I32 [2, 4]; 4-bit floats"},
        Broken{{raw("m.weight_packed", "U8", {32}, 1), kScales}, kUnsupported, "U8 [32]; 4-bit floats"},
        Broken{{raw("m.weight", "BF16", {4}, 1)}, kCorrupt, "BF16 [4]; a matrix"},
        Broken{{raw("m.weight", "I32", {4, 4}, 1)}, kUnsupported, "I32 [4, 4]"},
        Broken{{raw("m.weight", "I8", {4, 4}, 1)}, kUnsupported, "dtype I8"},
        Broken{{kFp8}, StatusCode::not_found, "m.weight_scale"},
        Broken{{kFp8, f32("m.weight_scale", {}, {0})}, kCorrupt, "'m.weight_scale'[0]: is 0"},
        Broken{{kFp8, f32("m.weight_scale_inv", {2, 1}, {1, 1})}, kUnsupported, "128 x 128"},
        Broken{{kFp8, f32("m.weight_scale", {2, 1}, {1, 1})}, kUnsupported, "F32 [2, 1]; for FP8 weights [256, 128]"},
        Broken{{raw("m.weight", "F8_E4M3", {2, 2}, 1), f32("m.weight_scale", {2}, {1, kNan})},
               kCorrupt,
               "'m.weight_scale'[1]: is nan"}),
    [](const auto& test_case) { return std::to_string(test_case.index); });

TEST(CheckpointMatrix, FusedExperts) {
  std::vector<float> values(2 * 4 * 3);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Model model(
      {f32("e.gate_up_proj", {2, 4, 3}, values), raw("e.flat", "BF16", {2, 4}, 0), raw("e.codes", "U8", {2, 4, 3}, 0)});
  const auto up = model->fused_matrix("e.gate_up_proj", 1, 2, 2);
  ASSERT_TRUE(up.ok()) << up.status().message();
  EXPECT_EQ(up->rows, 2);
  EXPECT_EQ(up->cols, 3);
  EXPECT_EQ(decode(*up), (std::vector<float>{18, 19, 20, 21, 22, 23}));
  EXPECT_FALSE(model->fused_matrix("e.gate_up_proj", 2, 0, 1).ok());
  EXPECT_FALSE(model->fused_matrix("e.gate_up_proj", -1, 0, 1).ok());
  EXPECT_FALSE(model->fused_matrix("e.gate_up_proj", 0, 3, 2).ok());
  EXPECT_FALSE(model->fused_matrix("e.gate_up_proj", 0, -1, 2).ok());
  EXPECT_FALSE(model->fused_matrix("e.gate_up_proj", 0, INT64_MAX, INT64_MAX).ok());
  EXPECT_EQ(model->fused_matrix("e.flat", 0, 0, 1).status().code(), StatusCode::unsupported);
  EXPECT_EQ(model->fused_matrix("e.codes", 0, 0, 1).status().code(), StatusCode::unsupported);
  EXPECT_EQ(model->fused_matrix("e.gone", 0, 0, 1).status().code(), StatusCode::not_found);
}

/// Quantises `weights` [rows, cols] and writes them as module "m".
void write_quantized(const TempDirectory& directory, Dialect dialect, WeightFormat format, int64_t cols,
                     const std::vector<float>& weights) {
  const auto rows = static_cast<int64_t>(weights.size()) / cols;
  const MatrixView source{WeightFormat::f32, rows, cols, reinterpret_cast<const std::byte*>(weights.data()),
                          nullptr,           1.0F, {}};
  const TensorScale tensor = nvfp4_tensor_scale(*max_magnitude(source));
  std::vector<std::byte> codes(static_cast<size_t>(rows) * row_bytes(format, cols));
  std::vector<std::byte> scales(static_cast<size_t>(rows * (cols / group_size(format))));
  QuantizationError error;
  for (size_t r = 0; r < static_cast<size_t>(rows); ++r) {
    const auto width = static_cast<size_t>(cols);
    quantize_row(format, ScaleChoice::amax, tensor.multiplier, std::span(weights).subspan(r * width, width),
                 codes.data() + r * row_bytes(format, cols),
                 scales.data() + r * width / static_cast<size_t>(group_size(format)), error);
  }
  auto writer =
      SafetensorsWriter::create(directory / "model.safetensors", declare_matrix(dialect, "m", format, rows, cols));
  RC_ASSERT(writer.ok());
  RC_ASSERT(writer->write(codes).ok());
  RC_ASSERT(writer->write(scales).ok());
  if (format == WeightFormat::nvfp4) {
    const float stored = stored_scale(dialect, format, tensor.multiplier);
    RC_ASSERT(writer->write(std::as_bytes(std::span(&stored, 1))).ok());
  }
  RC_ASSERT(writer->finish().ok());
}

RC_GTEST_PROP(CheckpointMatrix, BothDialectsHoldTheSameNumbers, (uint32_t seed)) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, std::exp2(static_cast<float>(*rc::gen::inRange(-30, 30))));
  const int64_t cols = 32 * *rc::gen::inRange<int64_t>(1, 5);
  std::vector<float> weights(static_cast<size_t>(cols * *rc::gen::inRange<int64_t>(1, 9)));
  for (float& w : weights) w = normal(random);
  for (const WeightFormat format : {WeightFormat::nvfp4, WeightFormat::mxfp4}) {
    std::vector<std::vector<float>> decoded;
    for (const Dialect dialect : {Dialect::modelopt, Dialect::compressed_tensors}) {
      const TempDirectory directory;
      write_quantized(directory, dialect, format, cols, weights);
      const auto checkpoint = Checkpoint::open(directory.path());
      RC_ASSERT(checkpoint.ok());
      const auto view = checkpoint->matrix("m");
      RC_ASSERT(view.ok());
      RC_ASSERT(view->format == format);
      decoded.push_back(decode(*view));
    }
    RC_ASSERT(decoded[0] == decoded[1]);
    double squared_error = 0;
    double squares = 0;
    for (size_t i = 0; i < weights.size(); ++i) {
      squared_error += std::pow(decoded[0][i] - static_cast<double>(weights[i]), 2);
      squares += std::pow(static_cast<double>(weights[i]), 2);
    }
    // An error is at most a quarter of its element or of its block's scale, and 32 such scales at most a quarter each
    // of their block's largest element.
    RC_ASSERT(squared_error <= (1.0 + 32.0 / 16.0) / 16.0 * squares);
  }
}

}  // namespace
}  // namespace tessera::format
