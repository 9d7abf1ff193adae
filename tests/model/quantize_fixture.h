#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint_files.h"
#include "format/quantize.h"
#include "model/quantize.h"

// Quantised checkpoints, and what must be in them.
namespace tessera::model::test {

using format::Checkpoint;
using format::Dialect;
using format::MatrixView;
using format::WeightFormat;

inline Expected<QuantizeReport> quantize(const std::filesystem::path& source, const std::filesystem::path& destination,
                                         const QuantizeOptions& options, int threads = 2) {
  ThreadPool pool(threads);
  return quantize_checkpoint(test::open(source), destination, options, pool);
}

inline KindFormats recipe(const char* name, WeightFormat format = WeightFormat::nvfp4) {
  const auto formats = quantize_recipe(name, format);
  EXPECT_TRUE(formats.ok());
  return *formats;
}

/// Every matrix of a checkpoint by module, fused experts taken apart.
inline std::map<std::string, MatrixView> matrices(const Checkpoint& checkpoint) {
  std::map<std::string, MatrixView> found;
  const auto add_fused = [&](const std::string& tensor, int64_t e, const char* part, int64_t first, int64_t rows) {
    const std::string module = fmt::format("{}{}.{}", tensor.substr(0, tensor.rfind('.') + 1), e, part);
    found[module] = *checkpoint.fused_matrix(tensor, e, first, rows);
  };
  for (const auto& [name, view] : checkpoint.tensors()) {
    const auto module = linear_module(name);
    if (!module) continue;
    if (*module != name) {
      found[std::string(*module)] = *checkpoint.matrix(std::string(*module));
      continue;
    }
    for (int64_t e = 0; e < view.shape[0]; ++e) {
      if (name.ends_with("down_proj")) {
        add_fused(name, e, "down_proj", 0, view.shape[1]);
      } else {
        add_fused(name, e, "gate_proj", 0, view.shape[1] / 2);
        add_fused(name, e, "up_proj", view.shape[1] / 2, view.shape[1] / 2);
      }
    }
  }
  return found;
}

/// The modules that share a tensor scale with `module`, itself included.
inline std::vector<std::string> stack_of(const std::string& module) {
  const std::vector<std::vector<std::string>> stacks = {{"gate_proj", "up_proj"},
                                                        {"q_proj", "k_proj", "v_proj"},
                                                        {"in_proj_qkv", "in_proj_z"},
                                                        {"in_proj_a", "in_proj_b"}};
  const size_t dot = module.rfind('.') + 1;
  for (const auto& stack : stacks) {
    if (std::find(stack.begin(), stack.end(), module.substr(dot)) == stack.end()) continue;
    std::vector<std::string> modules;
    for (const std::string& leaf : stack) modules.push_back(module.substr(0, dot) + leaf);
    return modules;
  }
  return {module};
}

inline float largest(const std::map<std::string, MatrixView>& matrices, const std::vector<std::string>& modules) {
  float found = 0;
  for (const std::string& module : modules) {
    for (const float value : decode(matrices.at(module))) found = std::max(found, std::fabs(value));
  }
  return found;
}

/// What `source` decodes to after quantising with a tensor scale for `amax`.
inline std::vector<float> rounded(const MatrixView& source, WeightFormat to, format::ScaleChoice choice, float amax) {
  const auto cols = static_cast<size_t>(source.cols);
  const int64_t group = format::group_size(to);
  const float scale = to == WeightFormat::nvfp4      ? format::nvfp4_tensor_scale(amax).multiplier
                      : to == WeightFormat::fp8_e4m3 ? format::fp8_tensor_scale(amax)
                                                     : 1.0F;
  std::vector<std::byte> codes(format::row_bytes(to, source.cols));
  std::vector<std::byte> scales(group == 0 ? 0 : cols / static_cast<size_t>(group));
  const MatrixView row_view{to, 1, source.cols, codes.data(), scales.data(), scale, {}};
  std::vector<float> values = decode(source);
  format::QuantizationError ignored;
  for (size_t row = 0; row < static_cast<size_t>(source.rows); ++row) {
    const auto part = std::span(values).subspan(row * cols, cols);
    format::quantize_row(to, choice, scale, part, codes.data(), scales.data(), ignored);
    format::decode_row(row_view, 0, part);
  }
  return values;
}

/// The format that `formats` has for a module, as the header of quantize_checkpoint words it.
inline std::optional<WeightFormat> wanted(const KindFormats& formats, const std::string& module) {
  TensorKind kind = classify(module + ".weight");
  if (kind == TensorKind::mtp && module.ends_with("gate")) kind = TensorKind::router;
  const auto found = formats.find(kind);
  return found == formats.end() ? std::nullopt : std::optional(found->second);
}

struct Sums {
  double squared_error = 0, squares = 0;
  int64_t elements = 0;
  std::string worst;  // the module of the largest relative error
  double worst_error = -1;
};

/// Checks every matrix of `result` against `source`, and the report against what is found.
inline void check_result(const Checkpoint& source, const Checkpoint& result, const QuantizeOptions& options,
                         const QuantizeReport& report) {
  const auto before = matrices(source);
  const auto after = matrices(result);
  std::map<std::pair<TensorKind, std::string>, Sums> sums;
  for (const auto& [module, original] : before) {
    SCOPED_TRACE(module);
    const auto to = wanted(options.formats, module);
    const auto found = after.find(module);
    if (!to) {
      // A fused tensor that is left alone stays fused; matrices() takes it apart again.
      ASSERT_NE(found, after.end());
      ASSERT_EQ(found->second.format, original.format);
      ASSERT_EQ(decode(found->second), decode(original));
      continue;
    }
    ASSERT_NE(found, after.end());
    ASSERT_EQ(found->second.format, *to);
    const float amax = largest(before, options.shared_scales ? stack_of(module) : std::vector{module});
    const std::vector<float> values = decode(found->second);
    ASSERT_EQ(values, rounded(original, *to, options.scales, amax));
    Sums& sum = sums[{classify(module + ".weight"), std::string(format::name(*to))}];
    const std::vector<float> originals = decode(original);
    double squared_error = 0, squares = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const double e = static_cast<double>(originals[i]) - values[i];
      squared_error += e * e;
      squares += static_cast<double>(originals[i]) * originals[i];
    }
    sum.squared_error += squared_error;
    sum.squares += squares;
    sum.elements += static_cast<int64_t>(values.size());
    if (const double relative = std::sqrt(squared_error / squares); relative > sum.worst_error) {
      sum.worst = module;
      sum.worst_error = relative;
    }
  }
  EXPECT_EQ(before.size(), after.size());
  size_t bytes_before = 0;
  size_t bytes_after = 0;
  for (const QuantizedPart& part : report.parts) {
    bytes_before += part.bytes_before;
    bytes_after += part.bytes_after;
    if (part.from == part.to) continue;
    SCOPED_TRACE(name(*part.kind));
    const auto sum = sums.extract({*part.kind, part.to});
    ASSERT_FALSE(sum.empty());
    EXPECT_EQ(part.elements, sum.mapped().elements);
    EXPECT_NEAR(part.error.relative_l2(), std::sqrt(sum.mapped().squared_error / sum.mapped().squares), 1e-10);
    EXPECT_NEAR(part.worst_error, sum.mapped().worst_error, 1e-10);
    const std::string& worst = sum.mapped().worst;  // stored names may have more before "layers"
    EXPECT_TRUE(part.worst.ends_with(worst.substr(worst.starts_with("model.") ? 6 : 0))) << part.worst << ", " << worst;
  }
  EXPECT_TRUE(sums.empty()) << "a kind is missing in the report";
  EXPECT_EQ(bytes_before, source.tensor_bytes());
  EXPECT_EQ(bytes_after, result.tensor_bytes());
}

class Quantize : public ::testing::Test {
 protected:
  void make_source(const SynthOptions& synth) { synthesize(directory_ / "source", synth); }
  void make_source() { make_source({.shape = small_shape(), .files = {{"tokenizer.json", "{\"a\": 1}"}}}); }
  Expected<QuantizeReport> run(const QuantizeOptions& options, const char* destination = "out", int threads = 2) {
    return quantize(directory_ / "source", directory_ / destination, options, threads);
  }
  Status failure(const QuantizeOptions& options) {
    const Status status = run(options).status();
    EXPECT_FALSE(status.ok());
    EXPECT_FALSE(std::filesystem::exists(directory_ / "out"));
    EXPECT_FALSE(std::filesystem::exists(directory_ / "out.partial"));
    return status;
  }
  TempDirectory directory_;
};

}  // namespace tessera::model::test
