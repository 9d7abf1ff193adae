// What the quantiser makes of checkpoints of every layout.

#include "kernels/cpu/backend.h"
#include "model/model.h"
#include "quantize_fixture.h"

namespace tessera::model {
namespace {

using format::Checkpoint;
using format::Dialect;
using format::WeightFormat;
using test::check_result;
using test::quantize;
using test::read_file;
using test::recipe;
using test::small_shape;
using test::synthesize;
using test::TempDirectory;

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

/// What is left as it is is listed by its modules, as other engines look them up: fused experts are one.
TEST_P(EveryLayout, ListsTheModulesThatStay) {
  for (const Dialect dialect : {Dialect::modelopt, Dialect::compressed_tensors}) {
    const auto out = directory_ / fmt::format("out-{}", static_cast<int>(dialect));
    const KindFormats formats = {{TensorKind::lm_head, WeightFormat::nvfp4}};
    ASSERT_TRUE(quantize(directory_ / "source", out, {.formats = formats, .dialect = dialect}).ok());
    const auto info = format::read_quantization_info(test::open(out));
    ASSERT_TRUE(info.ok()) << info.status().message();
    for (const std::string& layer : {GetParam().prefix + std::string("layers.3."), std::string("mtp.layers.0.")}) {
      std::vector<std::string> listed, expected;
      for (const std::string& name : info->ignored) {
        if (name.starts_with(layer)) listed.push_back(name.substr(layer.size()));
      }
      for (const char* part : {"q", "k", "v", "o"}) expected.push_back(fmt::format("self_attn.{}_proj", part));
      const auto add_mlp = [&](const std::string& module) {
        for (const char* part : {"gate", "up", "down"}) expected.push_back(fmt::format("{}.{}_proj", module, part));
      };
      add_mlp(GetParam().is_moe ? "mlp.shared_expert" : "mlp");
      if (GetParam().is_moe) expected.insert(expected.end(), {"mlp.gate", "mlp.shared_expert_gate"});
      if (GetParam().fused) expected.emplace_back("mlp.experts");
      // Single ones are a glob, or in compressed-tensors an expression (quantization_config_test.cpp).
      if (GetParam().is_moe && !GetParam().fused && dialect == Dialect::modelopt) add_mlp("mlp.experts.*");
      EXPECT_THAT(listed, ::testing::UnorderedElementsAreArray(expected)) << layer;
    }
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

}  // namespace
}  // namespace tessera::model
