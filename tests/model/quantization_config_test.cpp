#include "model/quantization_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "format/quantization_info.h"

namespace tessera::model {
namespace {

using format::Dialect;
using format::WeightFormat;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;
using Json = nlohmann::ordered_json;

constexpr const char* kLayer = "model.language_model.layers.0.";

QuantizedModules mixed() {
  const std::string layer = kLayer;
  return {{{layer + "mlp.experts.0.up_proj", WeightFormat::nvfp4},
           {layer + "mlp.experts.1.up_proj", WeightFormat::nvfp4},
           {layer + "mlp.shared_expert.up_proj", WeightFormat::mxfp4},
           {layer + "self_attn.q_proj", WeightFormat::fp8_e4m3}},
          {layer + "mlp.gate", "lm_head", layer + "mlp.experts.0.down_proj", layer + "mlp.experts.12.down_proj",
           layer + "mlp.experts.gate_up_proj"},
          true};
}

QuantizedModules only_nvfp4() { return {{{"model.layers.0.mlp.up_proj", WeightFormat::nvfp4}}, {"lm_head"}, false}; }

TEST(QuantizationConfig, CompressedTensorsGroupsByFormat) {
  const Json config = quantization_config(Dialect::compressed_tensors, mixed());
  EXPECT_EQ(config["quant_method"], "compressed-tensors");
  EXPECT_EQ(config["format"], "mixed-precision");
  EXPECT_EQ(config["kv_cache_scheme"]["num_bits"], 8);
  EXPECT_THAT(config["ignore"].get<std::vector<std::string>>(),
              UnorderedElementsAre("lm_head", "model.language_model.layers.0.mlp.gate",
                                   "re:model\\.language_model\\.layers\\.0\\.mlp\\.experts\\.\\d+\\.down_proj$",
                                   "model.language_model.layers.0.mlp.experts.gate_up_proj"));
  std::map<std::string, Json> by_format;
  for (const auto& [name, group] : config["config_groups"].items()) {
    EXPECT_TRUE(group["input_activations"].is_null()) << "weights only";
    by_format[group["format"].get<std::string>()] = group;
  }
  ASSERT_EQ(by_format.size(), 3U);
  const Json& nvfp4 = by_format.at("nvfp4-pack-quantized");
  EXPECT_THAT(nvfp4["targets"].get<std::vector<std::string>>(),
              ElementsAre("re:model\\.language_model\\.layers\\.0\\.mlp\\.experts\\.\\d+\\.up_proj$"));
  EXPECT_EQ(nvfp4["weights"]["group_size"], 16);
  EXPECT_EQ(nvfp4["weights"]["strategy"], "tensor_group");
  const Json& mxfp4 = by_format.at("mxfp4-pack-quantized");
  EXPECT_EQ(mxfp4["weights"]["group_size"], 32);
  EXPECT_EQ(mxfp4["weights"]["strategy"], "group");
  EXPECT_EQ(mxfp4["weights"]["scale_dtype"], "torch.uint8");
  const Json& fp8 = by_format.at("float-quantized");
  EXPECT_THAT(fp8["targets"].get<std::vector<std::string>>(),
              ElementsAre("model.language_model.layers.0.self_attn.q_proj"));
  EXPECT_EQ(fp8["weights"]["num_bits"], 8);
  EXPECT_EQ(fp8["weights"]["strategy"], "tensor");
}

TEST(QuantizationConfig, CompressedTensorsOfOneFormat) {
  const Json config = quantization_config(Dialect::compressed_tensors, only_nvfp4());
  EXPECT_EQ(config["format"], "nvfp4-pack-quantized");
  EXPECT_EQ(config["config_groups"].size(), 1U);
  EXPECT_TRUE(config["kv_cache_scheme"].is_null());
}

TEST(QuantizationConfig, ModelOptListsLayersOnlyWhenMixed) {
  const Json config = quantization_config(Dialect::modelopt, mixed());
  EXPECT_EQ(config["quant_method"], "modelopt");
  EXPECT_EQ(config["quant_algo"], "MIXED_PRECISION");
  EXPECT_EQ(config["kv_cache_quant_algo"], "FP8");
  const Json& layers = config["quantized_layers"];
  EXPECT_EQ(layers.size(), 3U);
  EXPECT_EQ(layers[std::string(kLayer) + "mlp.experts.*.up_proj"]["quant_algo"], "W4A16_NVFP4");
  EXPECT_EQ(layers[std::string(kLayer) + "mlp.experts.*.up_proj"]["group_size"], 16);
  EXPECT_EQ(layers[std::string(kLayer) + "self_attn.q_proj"]["quant_algo"], "FP8");
  EXPECT_THAT(config["ignore"].get<std::vector<std::string>>(),
              UnorderedElementsAre("lm_head", "model.language_model.layers.0.mlp.gate",
                                   "model.language_model.layers.0.mlp.experts.*.down_proj",  // a glob
                                   "model.language_model.layers.0.mlp.experts.gate_up_proj"));

  const Json one = quantization_config(Dialect::modelopt, only_nvfp4());
  EXPECT_EQ(one["quant_algo"], "W4A16_NVFP4");
  EXPECT_EQ(one["group_size"], 16);
  EXPECT_FALSE(one.contains("quantized_layers"));
  EXPECT_TRUE(one["kv_cache_quant_algo"].is_null());
}

TEST(QuantizationConfig, HfQuantConfigSaysTheSame) {
  const Json config = quantization_config(Dialect::modelopt, mixed());
  const Json file = hf_quant_config(mixed());
  EXPECT_EQ(file["producer"]["name"], "tessera");
  const Json& body = file["quantization"];
  for (const char* key : {"quant_algo", "kv_cache_quant_algo", "quantized_layers"}) EXPECT_EQ(body[key], config[key]);
  EXPECT_EQ(body["exclude_modules"], config["ignore"]);
}

TEST(QuantizationConfig, IsReadBack) {
  for (const bool fp8_kv : {false, true}) {
    for (const Dialect dialect : {Dialect::modelopt, Dialect::compressed_tensors}) {
      QuantizedModules modules = mixed();
      modules.fp8_kv_cache = fp8_kv;
      const Json config = {{"quantization_config", quantization_config(dialect, modules)}};
      const bool modelopt = dialect == Dialect::modelopt;
      const auto info =
          format::parse_quantization_info(config.dump(), modelopt ? hf_quant_config(modules).dump() : std::string());
      ASSERT_TRUE(info.ok()) << info.status().message();
      EXPECT_EQ(info->method, modelopt ? "modelopt" : "compressed-tensors");
      EXPECT_EQ(info->fp8_kv_cache, fp8_kv);
      EXPECT_FALSE(info->activations_4bit);
      EXPECT_THAT(info->ignored, ::testing::Contains("lm_head"));
    }
  }
}

}  // namespace
}  // namespace tessera::model
