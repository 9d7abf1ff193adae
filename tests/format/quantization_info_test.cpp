#include "format/quantization_info.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "files.h"

namespace tessera::format {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr const char* kFourBit = R"({"num_bits":4,"type":"float","strategy":"tensor_group","group_size":16,)"
                                 R"("symmetric":true,"dynamic":false,"scale_dtype":"torch.float8_e4m3fn"})";

std::string compressed_tensors(const std::string& activations, const std::string& rest = "") {
  return R"({"quantization_config":{"quant_method":"compressed-tensors","format":"nvfp4-pack-quantized",)"
         R"("config_groups":{"group_0":{"targets":["Linear"],"weights":)" +
         std::string(kFourBit) + R"(,"input_activations":)" + activations + "}}" + rest + "}}";
}

TEST(QuantizationInfo, IsEmptyWithoutConfigs) {
  const auto info = parse_quantization_info("{}", "");
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->method, "");
  EXPECT_FALSE(info->activations_4bit);
  EXPECT_FALSE(info->fp8_kv_cache);
  EXPECT_TRUE(parse_quantization_info("", "").ok());
  EXPECT_EQ(parse_quantization_info(R"({"quantization_config":null})", "")->method, "");
}

TEST(QuantizationInfo, ReadsCompressedTensors) {
  const auto w4a4 = parse_quantization_info(
      compressed_tensors(kFourBit, R"(,"ignore":["lm_head","re:.*mlp.gate$"],"kv_cache_scheme":null)"), "");
  ASSERT_TRUE(w4a4.ok()) << w4a4.status().message();
  EXPECT_EQ(w4a4->method, "compressed-tensors");
  EXPECT_TRUE(w4a4->activations_4bit);
  EXPECT_FALSE(w4a4->fp8_kv_cache);
  EXPECT_THAT(w4a4->ignored, ElementsAre("lm_head", "re:.*mlp.gate$"));

  const auto w4a16 = parse_quantization_info(
      compressed_tensors("null", R"(,"kv_cache_scheme":{"num_bits":8,"type":"float","dynamic":false})"), "");
  ASSERT_TRUE(w4a16.ok());
  EXPECT_FALSE(w4a16->activations_4bit);
  EXPECT_TRUE(w4a16->fp8_kv_cache);
  EXPECT_FALSE(
      parse_quantization_info(compressed_tensors("null", R"(,"kv_cache_scheme":{"num_bits":8,"type":"int"})"), "")
          ->fp8_kv_cache);
}

TEST(QuantizationInfo, ReadsMixedPrecisionGroups) {
  const std::string fp8 = R"({"num_bits":8,"type":"float"})";
  const std::string config = R"({"text_config":{"quantization_config":{"quant_method":"compressed-tensors",)"
                             R"("format":"mixed-precision","config_groups":{)"
                             R"("group_0":{"targets":["re:.*self_attn.*"],"format":"float-quantized","weights":)" +
                             fp8 + R"(,"input_activations":)" + fp8 +
                             R"(},"group_1":{"targets":["Linear"],"format":"nvfp4-pack-quantized","weights":)" +
                             kFourBit + R"(,"input_activations":)" + kFourBit + "}}}}}";
  const auto info = parse_quantization_info(config, "");
  ASSERT_TRUE(info.ok()) << info.status().message();
  EXPECT_TRUE(info->activations_4bit);
  EXPECT_FALSE(info->fp8_kv_cache);
}

TEST(QuantizationInfo, ReadsModelOpt) {
  const auto info = parse_quantization_info(
      R"({"quantization_config":{"quant_method":"modelopt","quant_algo":"NVFP4","ignore":["lm_head"]}})",
      R"({"producer":{"name":"modelopt"},"quantization":{"quant_algo":"NVFP4","kv_cache_quant_algo":"FP8",)"
      R"("group_size":16,"exclude_modules":["model.layers.*.self_attn*","lm_head"]}})");
  ASSERT_TRUE(info.ok()) << info.status().message();
  EXPECT_EQ(info->method, "modelopt");
  EXPECT_TRUE(info->activations_4bit);
  EXPECT_TRUE(info->fp8_kv_cache);
  EXPECT_THAT(info->ignored, ElementsAre("model.layers.*.self_attn*", "lm_head"));
  const auto alone =
      parse_quantization_info("{}", R"({"quantization":{"quant_algo":"FP8","kv_cache_quant_algo":null}})");
  EXPECT_EQ(alone->method, "modelopt");
  EXPECT_FALSE(alone->activations_4bit);
  EXPECT_FALSE(alone->fp8_kv_cache);
}

TEST(QuantizationInfo, ASchemeWithoutATypeIsOfFloats) {
  EXPECT_TRUE(
      parse_quantization_info(R"({"quantization_config":{"kv_cache_scheme":{"num_bits":8}}})", "")->fp8_kv_cache);
}

TEST(QuantizationInfo, TheMethodIsThatOfConfigJson) {
  const auto info = parse_quantization_info(R"({"quantization_config":{"quant_method":"compressed-tensors"}})",
                                            R"({"quantization":{"quant_algo":"FP8"}})");
  EXPECT_EQ(info->method, "compressed-tensors");
}

TEST(QuantizationInfo, EitherFileMaySayThatTheCacheIsFp8) {
  const std::string config =
      R"({"quantization_config":{"quant_method":"modelopt","kv_cache_scheme":{"num_bits":8,"type":"float"}}})";
  const std::string silent = R"({"quantization":{"quant_algo":"NVFP4"}})";
  EXPECT_TRUE(parse_quantization_info(config, "")->fp8_kv_cache);
  EXPECT_TRUE(parse_quantization_info(config, silent)->fp8_kv_cache);
  EXPECT_FALSE(parse_quantization_info("{}", silent)->fp8_kv_cache);
}

TEST(QuantizationInfo, EitherFileMaySayThatActivationsAre4Bit) {
  const std::string silent = R"({"quantization":{"kv_cache_quant_algo":"FP8"}})";
  EXPECT_TRUE(parse_quantization_info(R"({"quantization_config":{"quant_algo":"NVFP4"}})", silent)->activations_4bit);
  EXPECT_FALSE(parse_quantization_info("{}", silent)->activations_4bit);
}

TEST(QuantizationInfo, TargetsOfConfigJsonStayUnlessThereIsALayerList) {
  const std::string config = R"({"quantization_config":{"config_groups":{"a":{"targets":["re:.*mlp.*"],"weights":)" +
                             std::string(kFourBit) + "}}}}";
  const auto targets = [&](const char* quantization) {
    return parse_quantization_info(config, R"({"quantization":)" + std::string(quantization) + "}")->targets;
  };
  EXPECT_THAT(targets(R"({"quant_algo":"FP8"})"), ElementsAre(Pair("re:.*mlp.*", WeightFormat::nvfp4)));
  EXPECT_THAT(targets(R"({"quantized_layers":{"model.layers.0.q":{"quant_algo":"FP8"}}})"),
              ElementsAre(Pair("model.layers.0.q", WeightFormat::fp8_e4m3)));
  const std::string groups =
      R"("config_groups":{"a":{"targets":["model.layers.0.q"],"weights":)" + std::string(kFourBit);
  EXPECT_THAT(
      targets((R"({)" + groups + R"(}},"quantized_layers":{"model.layers.0.q":{"quant_algo":"FP8"}}})").c_str()),
      ElementsAre(Pair("model.layers.0.q", WeightFormat::fp8_e4m3)));
}

TEST(QuantizationInfo, TargetsAreWhatGroupsNameAndWithoutAnyAllThatIsLinear) {
  const auto targets = [](const char* config) {
    return parse_quantization_info(R"({"quantization_config":)" + std::string(config) + "}", "")->targets;
  };
  EXPECT_THAT(targets(R"({"quant_algo":"W4A16_NVFP4"})"), ElementsAre(Pair("Linear", WeightFormat::nvfp4)));
  EXPECT_THAT(targets(R"({"quant_algo":"NVFP4","config_groups":{"a":{"targets":["re:.*attn.*"],)"
                      R"("weights":{"num_bits":8,"type":"float"}}}})"),
              ElementsAre(Pair("re:.*attn.*", WeightFormat::fp8_e4m3)));
  EXPECT_THAT(targets(R"({"quant_algo":"INT4_AWQ"})"), ElementsAre());
}

TEST(QuantizationInfo, FourBitsInGroupsOf32AreMxfp4) {
  for (const auto& [group, format] : {std::pair{16, WeightFormat::nvfp4}, {32, WeightFormat::mxfp4}}) {
    const auto info =
        parse_quantization_info(fmt::format(R"({{"quantization_config":{{"config_groups":{{"a":{{"targets":["Linear"],)"
                                            R"("weights":{{"num_bits":4,"type":"float","group_size":{}}}}}}}}}}})",
                                            group),
                                "");
    ASSERT_TRUE(info.ok()) << info.status().message();
    EXPECT_THAT(info->targets, ElementsAre(Pair("Linear", format)));
  }
}

TEST(QuantizationInfo, LayerListDecidesAboutActivations) {
  // config.json claims 4-bit activations; the layers are W4A16.
  const std::string config =
      R"({"quantization_config":{"quant_method":"modelopt","config_groups":{"group_1":{"targets":["Linear"],"weights":)" +
      std::string(kFourBit) + R"(,"input_activations":)" + kFourBit + "}}}}";
  const auto layers = [](const char* algorithm) {
    return R"({"quantization":{"quant_algo":"MIXED_PRECISION","quantized_layers":{)"
           R"("model.layers.0.q":{"quant_algo":"FP8"},"model.layers.0.mlp.up_proj":{"quant_algo":")" +
           std::string(algorithm) + R"(","group_size":16}}}})";
  };
  EXPECT_TRUE(parse_quantization_info(config, "")->activations_4bit);
  const auto info = parse_quantization_info(config, layers("W4A16_NVFP4"));
  EXPECT_FALSE(info->activations_4bit);
  EXPECT_THAT(info->targets, ElementsAre(Pair("model.layers.0.q", WeightFormat::fp8_e4m3),
                                         Pair("model.layers.0.mlp.up_proj", WeightFormat::nvfp4)));
  EXPECT_THAT(parse_quantization_info("", layers("W4A16_MXFP4"))->targets,
              Contains(Pair("model.layers.0.mlp.up_proj", WeightFormat::mxfp4)));
  EXPECT_TRUE(parse_quantization_info(config, layers("NVFP4"))->activations_4bit);
}

TEST(QuantizationInfo, OneLayerOrGroupOf4BitActivationsIsEnoughWhereverItStands) {
  const std::string fp8 = R"({"quant_algo":"FP8"})", nvfp4 = R"({"quant_algo":"NVFP4"})";
  const std::string four = fmt::format(R"({{"weights":{0},"input_activations":{0}}})", kFourBit);
  const std::string weights_alone = fmt::format(R"({{"weights":{}}})", kFourBit);
  const auto groups = [](const std::string& a, const std::string& b) {
    return R"({"quantization_config":{"config_groups":{"a":)" + a + R"(,"b":)" + b + "}}}";
  };
  const auto layers = [](const std::string& a, const std::string& b) {
    return R"({"quantization":{"quantized_layers":{"a":)" + a + R"(,"b":)" + b + "}}}";
  };
  EXPECT_TRUE(parse_quantization_info(groups(four, weights_alone), "")->activations_4bit);
  EXPECT_TRUE(parse_quantization_info(groups(weights_alone, four), "")->activations_4bit);
  EXPECT_FALSE(parse_quantization_info(groups(weights_alone, weights_alone), "")->activations_4bit);
  EXPECT_TRUE(parse_quantization_info("", layers(nvfp4, fp8))->activations_4bit);
  EXPECT_TRUE(parse_quantization_info("", layers(fp8, nvfp4))->activations_4bit);
  EXPECT_FALSE(parse_quantization_info("", layers(fp8, fp8))->activations_4bit);
}

struct Malformed {
  const char* config;
  const char* hf_quant_config;
  const char* message;
};

class MalformedQuantization : public ::testing::TestWithParam<Malformed> {};

TEST_P(MalformedQuantization, NamesFileAndKey) {
  const auto info = parse_quantization_info(GetParam().config, GetParam().hf_quant_config);
  ASSERT_FALSE(info.ok());
  EXPECT_EQ(info.status().code(), StatusCode::corrupt_data);
  EXPECT_THAT(info.status().message(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    QuantizationInfo, MalformedQuantization,
    ::testing::Values(
        Malformed{"{", "", "config.json: not valid JSON"}, Malformed{"[]", "", "config.json: not a JSON object"},
        Malformed{R"({"quantization_config":"nvfp4"})", "", "config.json.quantization_config: an object"},
        Malformed{R"({"quantization_config":{"quant_method":4}})", "", "quantization_config.quant_method: a string"},
        Malformed{R"({"quantization_config":{"ignore":"lm_head"}})", "",
                  "quantization_config.ignore: a list of strings"},
        Malformed{R"({"quantization_config":{"ignore":[1]}})", "", "quantization_config.ignore: a list of strings"},
        Malformed{R"({"quantization_config":{"config_groups":[]}})", "", "config_groups: an object"},
        Malformed{R"({"quantization_config":{"config_groups":{"g":{"weights":4}}}})", "", "g.weights: an object"},
        Malformed{R"({"quantization_config":{"config_groups":{"g":{"weights":{"num_bits":"4"}}}}})", "",
                  "g.weights.num_bits: an integer"},
        Malformed{R"({"quantization_config":{"config_groups":{"g":{"targets":"Linear"}}}})", "", "g.targets: a list"},
        Malformed{R"({"quantization_config":{"kv_cache_scheme":"fp8"}})", "", "kv_cache_scheme: an object"},
        Malformed{"{}", "nonsense", "hf_quant_config.json: not valid JSON"},
        Malformed{"{}", "{}", "hf_quant_config.json: has no object 'quantization'"},
        Malformed{"{}", R"({"quantization":{"exclude_modules":{}}})", "quantization.exclude_modules: a list"},
        Malformed{"{}", R"({"quantization":{"quantized_layers":{"x":{"quant_algo":1}}}})",
                  "quantized_layers.x.quant_algo: a string"}),
    [](const auto& test_case) { return std::to_string(test_case.index); });

TEST(QuantizationInfo, ReadsACheckpointsFiles) {
  const test::TempDirectory model;
  model.write("model.safetensors", test::safetensors(R"({})", ""));
  model.write("config.json", compressed_tensors(kFourBit));
  const auto checkpoint = Checkpoint::open(model.path());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  EXPECT_TRUE(read_quantization_info(*checkpoint)->activations_4bit);
  model.write("hf_quant_config.json", "{");
  EXPECT_THAT(read_quantization_info(*checkpoint).status().message(), HasSubstr(model.path().string()));
}

}  // namespace
}  // namespace tessera::format
