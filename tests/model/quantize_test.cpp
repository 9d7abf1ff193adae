#include "model/quantize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "checkpoint_files.h"
#include "format/e4m3.h"
#include "format/f16.h"
#include "kernels/cpu/backend.h"
#include "model/model.h"

namespace tessera::model {
namespace {

using format::Checkpoint;
using format::Dialect;
using format::MatrixView;
using format::WeightFormat;
using test::decode;
using test::read_directory;
using test::read_file;
using test::rewrite;
using test::small_shape;
using test::synthesize;
using test::TempDirectory;
using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

Expected<QuantizeReport> quantize(const std::filesystem::path& source, const std::filesystem::path& destination,
                                  const QuantizeOptions& options, int threads = 2) {
  ThreadPool pool(threads);
  return quantize_checkpoint(test::open(source), destination, options, pool);
}

KindFormats recipe(const char* name, WeightFormat format = WeightFormat::nvfp4) {
  const auto formats = quantize_recipe(name, format);
  EXPECT_TRUE(formats.ok());
  return *formats;
}

/// Every matrix of a checkpoint by module, fused experts taken apart.
std::map<std::string, MatrixView> matrices(const Checkpoint& checkpoint) {
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
std::vector<std::string> stack_of(const std::string& module) {
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

float largest(const std::map<std::string, MatrixView>& matrices, const std::vector<std::string>& modules) {
  float found = 0;
  for (const std::string& module : modules) {
    for (const float value : decode(matrices.at(module))) found = std::max(found, std::fabs(value));
  }
  return found;
}

/// What `source` decodes to after quantising with a tensor scale for `amax`.
std::vector<float> rounded(const MatrixView& source, WeightFormat to, format::ScaleChoice choice, float amax) {
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
std::optional<WeightFormat> wanted(const KindFormats& formats, const std::string& module) {
  TensorKind kind = classify(module + ".weight");
  if (kind == TensorKind::mtp && module.ends_with("gate")) kind = TensorKind::router;
  const auto found = formats.find(kind);
  return found == formats.end() ? std::nullopt : std::optional(found->second);
}

struct Sums {
  double squared_error = 0, squares = 0;
  int64_t elements = 0;
};

/// Checks every matrix of `result` against `source`, and the report against what is found.
void check_result(const Checkpoint& source, const Checkpoint& result, const QuantizeOptions& options,
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
    for (size_t i = 0; i < values.size(); ++i) {
      const double e = static_cast<double>(originals[i]) - values[i];
      sum.squared_error += e * e;
      sum.squares += static_cast<double>(originals[i]) * originals[i];
    }
    sum.elements += static_cast<int64_t>(values.size());
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
    EXPECT_GE(part.worst_error, part.error.relative_l2());
    EXPECT_FALSE(part.worst.empty());
  }
  EXPECT_TRUE(sums.empty()) << "a kind is missing in the report";
  EXPECT_EQ(bytes_before, source.tensor_bytes());
  EXPECT_EQ(bytes_after, result.tensor_bytes());
}

struct Layout {
  const char* name;
  bool is_moe, fused;
  const char* prefix;
};

class EveryLayout : public ::testing::TestWithParam<Layout> {
 protected:
  void SetUp() override {
    SynthOptions synth;
    synth.shape = small_shape(GetParam().is_moe);
    synth.fused_experts = GetParam().fused;
    synth.prefix = GetParam().prefix;
    synthesize(directory_ / "source", synth);
    test::vary(directory_ / "source");
  }
  TempDirectory directory_;
};

TEST_P(EveryLayout, HoldsWhatTheQuantiserMakes) {
  const Checkpoint source = test::open(directory_ / "source");
  const KindFormats odd = {
      {TensorKind::routed_expert, WeightFormat::mxfp4}, {TensorKind::lm_head, WeightFormat::nvfp4},
      {TensorKind::delta_net_ab, WeightFormat::nvfp4},  {TensorKind::router, WeightFormat::fp8_e4m3},
      {TensorKind::embed, WeightFormat::fp8_e4m3},      {TensorKind::mlp, WeightFormat::fp8_e4m3}};
  const std::vector<KindFormats> choices = {
      recipe("experts"), recipe("mlp"), recipe("balanced"), recipe("all"), recipe("all", WeightFormat::mxfp4), odd};
  for (size_t i = 0; i < choices.size(); ++i) {
    for (const Dialect dialect : {Dialect::modelopt, Dialect::compressed_tensors}) {
      SCOPED_TRACE(fmt::format("choice {}, dialect {}", i, static_cast<int>(dialect)));
      const auto destination = directory_ / fmt::format("{}-{}", i, static_cast<int>(dialect));
      const QuantizeOptions options{.formats = choices[i], .dialect = dialect};
      const auto report = quantize(directory_ / "source", destination, options);
      ASSERT_TRUE(report.ok()) << report.status().message();
      EXPECT_EQ(report->dialect, dialect);
      const Checkpoint result = test::open(destination);
      check_result(source, result, options, *report);
      const auto info = format::read_quantization_info(result);
      ASSERT_TRUE(info.ok()) << info.status().message();
      EXPECT_EQ(info->method, dialect == Dialect::modelopt ? "modelopt" : "compressed-tensors");
      EXPECT_FALSE(info->activations_4bit);
      EXPECT_EQ(std::filesystem::exists(destination / "hf_quant_config.json"), dialect == Dialect::modelopt);
      EXPECT_FALSE(std::filesystem::exists(destination.string() + ".partial"));
    }
  }
}

TEST_P(EveryLayout, KeepsStoredNames) {
  const std::string prefix = GetParam().prefix;
  ASSERT_TRUE(quantize(directory_ / "source", directory_ / "out", {.formats = recipe("all")}).ok());
  const auto file = format::SafetensorsFile::open(directory_ / "out" / "model.safetensors");
  ASSERT_TRUE(file.ok());
  const auto& tensors = (*file)->tensors();
  const std::string mlp = prefix + "layers.1.mlp.";
  EXPECT_TRUE(tensors.contains(prefix + "embed_tokens.weight"));
  EXPECT_TRUE(tensors.contains("lm_head.weight_scale_2"));
  EXPECT_TRUE(tensors.contains("mtp.fc.weight_scale_2"));
  if (GetParam().is_moe) {
    EXPECT_TRUE(tensors.contains(mlp + "experts.4.gate_proj.weight_scale_2"));
    EXPECT_TRUE(tensors.contains("mtp.layers.0.mlp.experts.4.down_proj.weight_scale_2"));
    EXPECT_FALSE(tensors.contains(mlp + "experts.gate_up_proj"));
    EXPECT_EQ(tensors.at(mlp + "experts.4.down_proj.weight").shape, (std::vector<int64_t>{64, 16}));
    EXPECT_EQ(tensors.at("mtp.layers.0.mlp.gate.weight").dtype, DType::bf16) << "a router";
  } else {
    EXPECT_TRUE(tensors.contains(mlp + "up_proj.weight_scale_2"));
  }
}

TEST_P(EveryLayout, LoadsAsAModel) {
  ASSERT_TRUE(quantize(directory_ / "source", directory_ / "out", {.formats = recipe("balanced")}).ok());
  ThreadPool pool(1);
  kernels::Workspace workspace;
  const auto backend = kernels::cpu::make_backend({kernels::Compute::bf16, &pool, &workspace});
  const Checkpoint checkpoint = test::open(directory_ / "out");
  const auto config = parse_config(read_file(directory_ / "out" / "config.json"), "config.json");
  ASSERT_TRUE(config.ok()) << config.status().message();
  const auto model = Model::load(checkpoint, *config, *backend);
  EXPECT_TRUE(model.ok()) << model.status().message();
}

INSTANTIATE_TEST_SUITE_P(Layouts, EveryLayout,
                         ::testing::Values(Layout{"nested_fused", true, true, "model.language_model."},
                                           Layout{"nested_per_expert", true, false, "model.language_model."},
                                           Layout{"flat_fused", true, true, "model."},
                                           Layout{"flat_per_expert", true, false, "model."},
                                           Layout{"nested_dense", false, false, "model.language_model."},
                                           Layout{"flat_dense", false, false, "model."}),
                         [](const auto& param) { return param.param.name; });

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

TEST_F(Quantize, DialectsDecodeToTheSameBits) {
  make_source();
  test::vary(directory_ / "source");
  ASSERT_TRUE(run({.formats = recipe("all"), .dialect = Dialect::modelopt}, "mo").ok());
  ASSERT_TRUE(run({.formats = recipe("all"), .dialect = Dialect::compressed_tensors}, "ct").ok());
  const Checkpoint modelopt = test::open(directory_ / "mo");
  const Checkpoint compressed = test::open(directory_ / "ct");
  const auto ours = matrices(modelopt);
  for (const auto& [module, matrix] : matrices(compressed)) {
    const auto found = ours.find(module);
    ASSERT_NE(found, ours.end()) << module;
    EXPECT_EQ(std::bit_cast<uint32_t>(matrix.scale), std::bit_cast<uint32_t>(found->second.scale)) << module;
    EXPECT_EQ(decode(matrix), decode(found->second)) << module;
  }
}

TEST_F(Quantize, BytesDoNotDependOnThreads) {
  SynthOptions synth{.shape = small_shape()};
  synth.shape.vocab_size = 5000;  // several chunks
  make_source(synth);
  ASSERT_TRUE(run({.formats = recipe("all"), .scales = format::ScaleChoice::mse}, "one", 1).ok());
  ASSERT_TRUE(run({.formats = recipe("all"), .scales = format::ScaleChoice::mse}, "three", 3).ok());
  EXPECT_EQ(read_directory(directory_ / "one"), read_directory(directory_ / "three"));
}

TEST_F(Quantize, LeastSquaresScalesAreMoreExact) {
  make_source();
  test::vary(directory_ / "source");
  const QuantizeOptions options{.formats = recipe("mlp"), .scales = format::ScaleChoice::mse};
  const auto exact = run(options, "mse");
  const auto plain = run({.formats = recipe("mlp")}, "amax");
  ASSERT_TRUE(exact.ok() && plain.ok());
  check_result(test::open(directory_ / "source"), test::open(directory_ / "mse"), options, *exact);
  for (size_t i = 0; i < exact->parts.size(); ++i) {
    if (exact->parts[i].from == exact->parts[i].to) continue;
    EXPECT_LT(exact->parts[i].error.relative_l2(), plain->parts[i].error.relative_l2());
  }
}

TEST_F(Quantize, StacksShareTheirScaleUnlessToldOtherwise) {
  make_source();
  test::vary(directory_ / "source");
  const QuantizeOptions separate{.formats = recipe("balanced"), .shared_scales = false};
  ASSERT_TRUE(run({.formats = recipe("balanced")}, "shared").ok());
  const auto report = run(separate, "separate");
  ASSERT_TRUE(report.ok());
  check_result(test::open(directory_ / "source"), test::open(directory_ / "separate"), separate, *report);
  const auto scale = [&](const char* directory, const std::string& module) {
    return test::open(directory_ / directory).matrix("model.layers." + module)->scale;
  };
  for (const auto& [a, b] : {std::pair("0.mlp.experts.2.gate_proj", "0.mlp.experts.2.up_proj"),
                             std::pair("3.self_attn.q_proj", "3.self_attn.v_proj"),
                             std::pair("0.linear_attn.in_proj_qkv", "0.linear_attn.in_proj_z")}) {
    EXPECT_EQ(scale("shared", a), scale("shared", b)) << a;
    EXPECT_NE(scale("separate", a), scale("separate", b)) << a;
  }
}

TEST_F(Quantize, ReadsF32AndF16AndNarrowsToBf16) {
  for (const WeightFormat plain : {WeightFormat::f32, WeightFormat::f16}) {
    const std::string name(format::name(plain));
    synthesize(directory_ / name, {.shape = small_shape(), .plain = plain});
    QuantizeOptions options{.formats = recipe("mlp")};
    options.formats[TensorKind::attention] = WeightFormat::bf16;
    const auto report = quantize(directory_ / name, directory_ / (name + "-out"), options);
    ASSERT_TRUE(report.ok()) << report.status().message();
    const Checkpoint source = test::open(directory_ / name);
    const Checkpoint result = test::open(directory_ / (name + "-out"));
    EXPECT_EQ(result.matrix("model.embed_tokens")->format, plain);
    EXPECT_EQ(result.matrix("model.layers.0.mlp.experts.0.up_proj")->format, WeightFormat::nvfp4);
    std::vector<float> expected = decode(*source.matrix("model.layers.3.self_attn.k_proj"));
    for (float& value : expected) value = round_to_bf16(value);
    EXPECT_EQ(decode(*result.matrix("model.layers.3.self_attn.k_proj")), expected);
  }
}

TEST_F(Quantize, PreservesConfigAndSmallFiles) {
  make_source();
  const auto source = directory_ / "source";
  std::string config = read_file(source / "config.json");
  config.replace(config.rfind('}'), 1,
                 R"(, "odd": {"z": 1e-06, "a": 123456789012345678, "list": [true, null, "\u00e9"]},
                    "quantization_config": {"quant_method": "old"}, "compression_config": {}})");
  directory_.write("source/config.json", config);
  directory_.write("source/original/params.json", "{}");
  directory_.write("source/hf_quant_config.json", R"({"quantization": {"quant_algo": "FP8"}})");
  directory_.write("source/.gitattributes", "x");
  const auto report = run({.formats = recipe("mlp"), .dialect = Dialect::compressed_tensors});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_THAT(report->files_left_out, ::testing::ElementsAre("original"));
  const auto files = read_directory(directory_ / "out");
  EXPECT_EQ(files.at("tokenizer.json"), "{\"a\": 1}");
  EXPECT_THAT(files, ::testing::SizeIs(3)) << "config.json, tokenizer.json, model.safetensors";
  Json before = Json::parse(config);
  Json after = Json::parse(files.at("config.json"));
  EXPECT_EQ(after["quantization_config"]["quant_method"], "compressed-tensors");
  before.erase("quantization_config");
  before.erase("compression_config");
  after.erase("quantization_config");
  EXPECT_EQ(before.dump(), after.dump());
}

TEST_F(Quantize, CopiesTheVisionTower) {
  make_source();
  rewrite(directory_ / "source", [](auto& tensors) {
    tensors["model.visual.blocks.0.attn.qkv.weight"] = {
        "model.visual.blocks.0.attn.qkv.weight", "BF16", {2, 3}, "abcdefghijkl"};
    tensors["model.visual.patch_embed.proj.bias"] = {"model.visual.patch_embed.proj.bias", "F32", {1}, "wxyz"};
  });
  const auto report = run({.formats = recipe("all")});
  ASSERT_TRUE(report.ok()) << report.status().message();
  const auto file = format::SafetensorsFile::open(directory_ / "out" / "model.safetensors");
  ASSERT_TRUE(file.ok());
  const auto& qkv = (*file)->tensors().at("model.visual.blocks.0.attn.qkv.weight");
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(qkv.bytes.data()), qkv.bytes.size()), "abcdefghijkl");
  EXPECT_TRUE((*file)->tensors().contains("model.visual.patch_embed.proj.bias"));
  EXPECT_FALSE(report->parts.back().kind.has_value());
  EXPECT_EQ(report->parts.back().bytes_after, 4U);
  EXPECT_THAT(read_file(directory_ / "out" / "hf_quant_config.json"), HasSubstr("\"model.visual.blocks.0.attn.qkv\""));
}

TEST_F(Quantize, WritesShards) {
  make_source();
  ASSERT_TRUE(run({.formats = recipe("mlp")}, "one").ok());
  ASSERT_TRUE(run({.formats = recipe("mlp"), .shard_bytes_max = 50'000}, "many").ok());
  const Checkpoint one = test::open(directory_ / "one");
  const Checkpoint many = test::open(directory_ / "many");
  EXPECT_GT(many.shards().size(), 5U);
  for (const auto& [module, matrix] : matrices(one)) {
    EXPECT_EQ(decode(matrix), decode(*many.matrix(module))) << module;
  }
}

TEST_F(Quantize, CopiesWhatIsQuantisedAlready) {
  for (const Dialect dialect : {Dialect::modelopt, Dialect::compressed_tensors}) {
    const TempDirectory directory;
    synthesize(directory / "source", {.shape = small_shape(),
                                      .formats = {{TensorKind::routed_expert, WeightFormat::nvfp4},
                                                  {TensorKind::attention, WeightFormat::fp8_e4m3}},
                                      .dialect = dialect,
                                      .fp8_kv_cache = true});
    QuantizeOptions options{.formats = recipe("mlp")};
    options.formats[TensorKind::attention] = WeightFormat::nvfp4;
    const auto report = quantize(directory / "source", directory / "out", options);
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_EQ(report->dialect, dialect);
    EXPECT_THAT(report->already_quantized, ::testing::ElementsAre("attention is FP8"));
    const Checkpoint source = test::open(directory / "source");
    const Checkpoint result = test::open(directory / "out");
    EXPECT_EQ(decode(*source.matrix("model.layers.0.mlp.experts.1.up_proj")),
              decode(*result.matrix("model.layers.0.mlp.experts.1.up_proj")));
    EXPECT_EQ(result.matrix("model.layers.3.self_attn.o_proj")->format, WeightFormat::fp8_e4m3);
    EXPECT_EQ(result.matrix("model.layers.3.mlp.shared_expert.up_proj")->format, WeightFormat::nvfp4);
    EXPECT_TRUE(format::read_quantization_info(result)->fp8_kv_cache);
    // Its own NVFP4 cannot change its spelling on the way.
    options.dialect = dialect == Dialect::modelopt ? Dialect::compressed_tensors : Dialect::modelopt;
    EXPECT_THAT(quantize(directory / "source", directory / "other", options).status().message(),
                HasSubstr("ask for that dialect"));
  }
}

TEST_F(Quantize, RefusesWhenThereIsNothingToDo) {
  make_source({.shape = small_shape(), .formats = {{TensorKind::routed_expert, WeightFormat::nvfp4}}});
  EXPECT_THAT(failure({.formats = {{TensorKind::routed_expert, WeightFormat::mxfp4}}}).message(),
              HasSubstr("nothing to quantise: of what was asked for, routed-expert is NVFP4"));
  EXPECT_THAT(failure({.formats = {}}).message(), HasSubstr("nothing to quantise"));
}

TEST_F(Quantize, RefusesAnExistingDestination) {
  make_source();
  std::filesystem::create_directory(directory_ / "out");
  EXPECT_THAT(run({.formats = recipe("mlp")}).status().message(), HasSubstr("is there already"));
  EXPECT_TRUE(std::filesystem::is_empty(directory_ / "out"));
  std::filesystem::create_directory(directory_ / "other.partial");
  EXPECT_THAT(run({.formats = recipe("mlp")}, "other").status().message(), HasSubstr("remove it"));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "other"));
  EXPECT_TRUE(run({.formats = recipe("mlp")}, "new/parents/").ok());
  EXPECT_TRUE(std::filesystem::exists(directory_ / "new/parents/config.json"));
}

TEST_F(Quantize, RefusesWhatTheDiskCannotHold) {
  make_source();
  // 4 TB that are one hole; FP8 would take two of them.
  const auto file = directory_.write(
      "source/model.safetensors",
      format::test::safetensors(
          R"({"lm_head.weight":{"dtype":"BF16","shape":[1048576,2097152],"data_offsets":[0,4398046511104]}})", ""));
  std::error_code failed;
  std::filesystem::resize_file(file, std::filesystem::file_size(file) + 4398046511104, failed);
  if (failed || std::filesystem::space(directory_.path()).available > 2'000'000'000'000) {
    GTEST_SKIP() << "no sparse files here, or room for 2 TB";
  }
  const Status status = failure({.formats = {{TensorKind::lm_head, WeightFormat::fp8_e4m3}}});
  EXPECT_EQ(status.code(), StatusCode::resource_exhausted);
  EXPECT_THAT(status.message(), HasSubstr("2.20 TB are needed"));
}

TEST_F(Quantize, RefusesColumnsThatTheGroupDoesNotDivide) {
  SynthShape shape = small_shape();
  shape.moe_intermediate_size = 24;
  make_source({.shape = shape});
  const Status status = failure({.formats = recipe("experts")});
  EXPECT_EQ(status.code(), StatusCode::unsupported);
  EXPECT_THAT(status.message(), HasSubstr("down_proj.weight' has 24 columns, which groups of 16"));
  EXPECT_THAT(status.message(), HasSubstr("routed-expert"));
  EXPECT_TRUE(run({.formats = recipe("experts", WeightFormat::fp8_e4m3)}).ok());
}

TEST_F(Quantize, NamesTheTensorAndElementThatIsNotFinite) {
  const std::string up = "model.language_model.layers.2.mlp.experts.3.up_proj.weight";
  make_source();
  rewrite(directory_ / "source", [&](auto& tensors) { tensors.at(up).data.replace((5 * 64 + 7) * 2, 2, "\x80\x7f"); });
  const Status status = failure({.formats = recipe("mlp")});
  EXPECT_EQ(status.code(), StatusCode::corrupt_data);
  EXPECT_THAT(status.message(), HasSubstr(up + ": row 5, column 7 is inf"));
  EXPECT_TRUE(run({.formats = {{TensorKind::lm_head, WeightFormat::nvfp4}}}).ok()) << "not among what is rounded";
}

TEST_F(Quantize, TakesLargeMatricesPieceByPiece) {
  SynthOptions synth{.shape = small_shape()};
  synth.shape.vocab_size = 150'000;  // 19 MB
  make_source(synth);
  const auto set = [&](size_t row, const char* bits) {
    rewrite(directory_ / "source",
            [&](auto& tensors) { tensors.at("lm_head.weight").data.replace((row * 64 + 3) * 2, 2, bits, 2); });
  };
  set(70'000, "\x48\x42");  // 50: the largest by far, inside the first piece
  const QuantizeOptions options{.formats = {{TensorKind::lm_head, WeightFormat::nvfp4}}};
  const auto report = run(options);
  ASSERT_TRUE(report.ok()) << report.status().message();
  check_result(test::open(directory_ / "source"), test::open(directory_ / "out"), options, *report);
  std::filesystem::remove_all(directory_ / "out");
  set(149'999, "\x80\xff");
  EXPECT_THAT(failure(options).message(), HasSubstr("lm_head.weight: row 149999, column 3 is -inf"));
}

TEST_F(Quantize, NamesTheExpertOfAFusedTensor) {
  make_source({.shape = small_shape(), .fused_experts = true});
  const std::string fused = "model.language_model.layers.1.mlp.experts.gate_up_proj";  // [5, 64, 64]
  rewrite(directory_ / "source",
          [&](auto& tensors) { tensors.at(fused).data.replace(((4 * 64 + 32 + 9) * 64 + 1) * 2, 2, "\xff\xff"); });
  EXPECT_THAT(failure({.formats = recipe("mlp")}).message(),
              HasSubstr("experts.4.up_proj of " + fused + ": row 9, column 1 is "));
}

TEST_F(Quantize, RefusesValuesBeyondBf16) {
  make_source({.shape = small_shape(), .plain = WeightFormat::f32});
  rewrite(directory_ / "source", [&](auto& tensors) {
    const float huge = 3.4e38F;
    std::memcpy(tensors.at("lm_head.weight").data.data(), &huge, sizeof huge);
  });
  EXPECT_THAT(failure({.formats = {{TensorKind::lm_head, WeightFormat::bf16}}}).message(),
              HasSubstr("too large for BF16"));
}

TEST_F(Quantize, LeavesNothingWhenStopped) {
  make_source();
  size_t calls = 0;
  QuantizeOptions options{.formats = recipe("mlp")};
  options.progress = [&](size_t done, size_t total) {
    EXPECT_LE(done, total);
    return ++calls < 20;
  };
  EXPECT_EQ(failure(options).code(), StatusCode::cancelled);
  EXPECT_EQ(calls, 20U);
  size_t last = 0;
  options.progress = [&](size_t done, size_t total) {
    last = total - done;
    return true;
  };
  EXPECT_TRUE(run(options).ok());
  EXPECT_EQ(last, 0U);
}

TEST_F(Quantize, RefusesWhatItDoesNotKnow) {
  make_source();
  EXPECT_EQ(failure({.formats = {{TensorKind::small, WeightFormat::nvfp4}}}).code(), StatusCode::invalid_argument);
  EXPECT_EQ(failure({.formats = {{TensorKind::mlp, WeightFormat::f16}}}).code(), StatusCode::invalid_argument);
  EXPECT_THAT(quantize_recipe("alll", WeightFormat::nvfp4).status().message(), HasSubstr("experts, mlp, balanced"));
  rewrite(directory_ / "source", [](auto& tensors) { tensors["odd"] = {"odd", "F64", {1}, "12345678"}; });
  EXPECT_THAT(failure({.formats = recipe("mlp")}).message(), HasSubstr("'odd' has dtype F64"));
}

TEST_F(Quantize, CopiesAHeadThatTheEmbeddingStandsInFor) {
  SynthShape shape = small_shape();
  shape.tie_word_embeddings = true;
  make_source({.shape = shape});
  rewrite(directory_ / "source", [](auto& tensors) {
    auto head = tensors.at("model.language_model.embed_tokens.weight");
    head.name = "lm_head.weight";
    tensors["lm_head.weight"] = head;
  });
  ASSERT_TRUE(run({.formats = recipe("all")}).ok());
  EXPECT_EQ(test::open(directory_ / "out").matrix("lm_head")->format, WeightFormat::bf16);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
size_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<size_t>(usage.ru_maxrss) * 1024;
}

TEST_F(Quantize, MemoryStaysSmall) {
  SynthShape shape = small_shape();
  shape.hidden_size = 1024;
  shape.vocab_size = 32'000;  // matrices of 65 MB
  shape.num_experts = 16;
  shape.moe_intermediate_size = 512;
  make_source({.shape = shape, .fused_experts = true});
  const size_t before = peak_bytes();
  const auto report =
      run({.formats = {{TensorKind::lm_head, WeightFormat::nvfp4}, {TensorKind::mtp, WeightFormat::nvfp4}}});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_GT(std::filesystem::file_size(directory_ / "source" / "model.safetensors"), size_t{300} << 20);
  // A piece of 16 MB as read, a quarter of it as codes, and a 32nd of the largest matrix as scales.
  EXPECT_LT(peak_bytes() - before, size_t{48} << 20);
}
#endif

}  // namespace
}  // namespace tessera::model
