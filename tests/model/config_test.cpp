#include "model/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tessera::model {
namespace {

using testing::HasSubstr;

const char* const kMinimal = R"({"model_type": "qwen3_5_moe_text", "num_hidden_layers": 8})";

ModelConfig parse(const std::string& json) {
  auto config = parse_config(json, "config.json");
  EXPECT_TRUE(config.ok()) << config.status().message();
  return config.ok() ? *config : ModelConfig();
}

std::string fault(const std::string& json) {
  const auto config = parse_config(json, "config.json");
  EXPECT_FALSE(config.ok()) << json;
  return config.status().message();
}

TEST(Config, MissingKeysTakeTransformersDefaults) {
  const ModelConfig config = parse(kMinimal);
  EXPECT_TRUE(config.is_moe);
  EXPECT_EQ(config.max_position_embeddings, 262144);
  EXPECT_EQ(config.mtp_layers, 0);
  EXPECT_EQ(config.attention.heads, 16);
  EXPECT_EQ(config.attention.kv_heads, 2);
  EXPECT_EQ(config.attention.head_dim, 256);
  EXPECT_EQ(config.attention.rotary_dim, 64);
  EXPECT_EQ(config.delta_net.key_heads, 16);
  EXPECT_EQ(config.delta_net.value_heads, 32);
  EXPECT_EQ(config.delta_net.key_dim, 128);
  EXPECT_EQ(config.delta_net.value_dim, 128);
  EXPECT_EQ(config.delta_net.conv_width, 4);
  EXPECT_EQ(config.num_experts, 256);
  EXPECT_EQ(config.experts_per_token, 8);
  EXPECT_EQ(config.moe_intermediate_size, 512);
  EXPECT_EQ(config.shared_expert_intermediate_size, 512);
  EXPECT_EQ(config.count(LayerType::full_attention), 2);
  EXPECT_EQ(config.layer_types[3], LayerType::full_attention);
  EXPECT_EQ(config.layer_types[4], LayerType::linear_attention);
  EXPECT_FLOAT_EQ(config.inv_freq[1], 0.604296390F);  // 1e7^(-2/64)
  EXPECT_EQ(parse(R"({"model_type": "qwen3_5_text"})").intermediate_size, 12288);
}

TEST(Config, StopTokensOutsideTheVocabularyNeverComeUp) {
  const ModelConfig config = parse(R"({"model_type": "qwen3_5_text", "vocab_size": 100,
    "eos_token_id": [99, 100, 2000000000, 0]})");
  EXPECT_THAT(config.eos_token_ids, testing::ElementsAre(99, 0));
  EXPECT_THAT(fault(R"({"model_type": "qwen3_5_text", "eos_token_id": [99, -1]})"),
              HasSubstr("\"eos_token_id\" is -1, expected token ids"));
}

TEST(Config, AttentionHeadsAreEven) {
  EXPECT_THAT(fault(R"({"model_type": "qwen3_5_text", "head_dim": 17})"), HasSubstr("head_dim is 17"));
}

TEST(Config, TheTextModelsOwnWordOnTiesGoesFirst) {
  EXPECT_FALSE(parse(R"({"model_type": "qwen3_5", "tie_word_embeddings": true,
    "text_config": {"model_type": "qwen3_5_text", "tie_word_embeddings": false}})")
                   .tie_word_embeddings);
}

TEST(Config, TextConfigMayBeNested) {
  const ModelConfig config = parse(R"({"model_type": "qwen3_5", "tie_word_embeddings": true,
    "text_config": {"model_type": "qwen3_5_text", "hidden_size": 96, "num_hidden_layers": 4, "intermediate_size": 7}})");
  EXPECT_FALSE(config.is_moe);
  EXPECT_EQ(config.hidden_size, 96);
  EXPECT_EQ(config.attention.kv_heads, 4);
  EXPECT_EQ(config.intermediate_size, 7);
  EXPECT_TRUE(config.tie_word_embeddings);
  for (const char* family : {"qwen3_5", "qwen3_5_moe"}) {
    const std::string name = family;
    EXPECT_EQ(parse(R"({"model_type": ")" + name + R"(", "text_config": {"max_position_embeddings": 4000}})").is_moe,
              name == "qwen3_5_moe")
        << "of the file as a whole, where its text model has none";
  }
  EXPECT_EQ(
      parse(R"({"model_type": "qwen3_5", "text_config": {"max_position_embeddings": 4000}})").max_position_embeddings,
      4000);
}

TEST(Config, OldSpellingOfRotaryValues) {
  const ModelConfig config = parse(R"({"model_type": "qwen3_5_text", "rope_theta": 10000.0, "head_dim": 64,
    "partial_rotary_factor": 0.5})");
  EXPECT_EQ(config.attention.rotary_dim, 32);
  EXPECT_FLOAT_EQ(config.inv_freq[1], 0.562341325F);  // 1e4^(-2/32)
}

/// What an object of rotary values does not have stands beside it.
TEST(Config, OldSpellingOfRotaryValuesBesideAnObject) {
  const std::string yarn = R"("factor": 4.0, "original_max_position_embeddings": 262144)";
  const std::string values = R"("rope_theta": 1e6, "partial_rotary_factor": 0.5)";
  const auto read = [](const std::string& fields) {
    return parse(R"({"model_type": "qwen3_5_moe_text", )" + fields + "}");
  };
  for (const std::string key : {"rope_scaling", "rope_parameters"}) {
    const auto beside = [&](const std::string& more) { return values + ", \"" + key + "\": {" + more + "}"; };
    const auto inside = [&](const std::string& more) { return "\"" + key + "\": {" + values + ", " + more + "}"; };
    for (const std::string& more : {R"("type": "yarn", )" + yarn, std::string(R"("type": "mrope")")}) {
      const ModelConfig found = read(beside(more)), want = read(inside(more));
      EXPECT_EQ(found.attention.rotary_dim, 128) << key << ", " << more;
      EXPECT_EQ(found.inv_freq, want.inv_freq) << key << ", " << more;
      EXPECT_FLOAT_EQ(found.inv_freq.at(1), 0.805842188F) << key << ", " << more;  // 1e6^(-2/128)
      EXPECT_EQ(found.rope_scale, want.rope_scale) << key << ", " << more;
    }
  }
}

TEST(Config, YarnStretchesLowFrequenciesOnly) {
  const ModelConfig plain = parse(kMinimal);
  const ModelConfig yarn = parse(R"({"model_type": "qwen3_5_moe_text", "rope_parameters": {"rope_type": "yarn",
    "factor": 4.0, "original_max_position_embeddings": 262144, "rope_theta": 1e7, "partial_rotary_factor": 0.25}})");
  EXPECT_FLOAT_EQ(yarn.inv_freq.front(), plain.inv_freq.front());
  EXPECT_FLOAT_EQ(yarn.inv_freq.back(), plain.inv_freq.back() / 4);
  EXPECT_FLOAT_EQ(yarn.rope_scale, 1.1386294F);  // 0.1 ln 4 + 1
}

/// "mrope" says nothing of frequencies, wherever it stands beside a type that does.
TEST(Config, YarnBesideMropeIsYarn) {
  const auto of_types = [](const std::string& key, const std::string& types) {
    return parse(R"({"model_type": "qwen3_5_moe_text", ")" + key + R"(": {"factor": 4.0,
      "original_max_position_embeddings": 262144)" +
                 types + "}}");
  };
  for (const std::string key : {"rope_parameters", "rope_scaling"}) {
    const ModelConfig plain = of_types(key, ""), yarn = of_types(key, R"(, "rope_type": "yarn")");
    EXPECT_NE(yarn.inv_freq, plain.inv_freq);
    EXPECT_NE(yarn.rope_scale, plain.rope_scale);
    for (const char* types : {R"(, "rope_type": "yarn", "type": "mrope")", R"(, "type": "mrope", "rope_type": "yarn")",
                              R"(, "rope_type": "yarn", "type": "yarn")", R"(, "type": "yarn")"}) {
      const ModelConfig found = of_types(key, types);
      EXPECT_EQ(found.inv_freq, yarn.inv_freq) << key << types;
      EXPECT_EQ(found.rope_scale, yarn.rope_scale) << key << types;
    }
    for (const char* types : {R"(, "rope_type": "default", "type": "mrope")", R"(, "type": "mrope")"}) {
      EXPECT_EQ(of_types(key, types).inv_freq, plain.inv_freq) << key << types;
    }
  }
}

/// Between the two ends of the ramp, by the formula of the paper in double precision.
TEST(Config, YarnsRampIsLinearBetweenItsEnds) {
  const auto frequencies = [](const std::string& more) {
    return parse(R"({"model_type": "qwen3_5_moe_text", "rope_parameters": {"rope_type": "yarn", "factor": 4.0,
      "original_max_position_embeddings": 262144, "rope_theta": 1e7, "partial_rotary_factor": 0.25)" +
                 more + "}}")
        .inv_freq;
  };
  const auto expect_from_14 = [](const std::vector<float>& found, const std::vector<double>& expected) {
    ASSERT_EQ(found.size(), 32U);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(found[14 + i] / expected[i], 1, 1e-6) << "frequency " << 14 + i;
    }
  };
  expect_from_14(frequencies(""),  // a ramp from 14 to 22
                 {8.65964323e-4, 4.74239823e-4, 2.56935060e-4, 1.37349745e-4, 7.21738740e-5, 3.70722498e-5,
                  1.84492220e-5, 8.75977007e-6, 3.84981632e-6, 2.32643010e-6});
  expect_from_14(frequencies(R"(, "truncate": false)"),  // from 14.241 to 21.122
                 {8.65964323e-4, 4.80003490e-4, 2.55595307e-4, 1.33625788e-4, 6.81623692e-5, 3.35838669e-5,
                  1.56980854e-5, 6.70863335e-6, 3.84981632e-6});
  expect_from_14(frequencies(R"(, "beta_fast": 64, "beta_slow": 0.5)"),  // from 12 to 23
                 {7.47878279e-4, 4.16260659e-4, 2.29983830e-4, 1.25949173e-4, 6.82371173e-5, 3.64775078e-5,
                  1.91680229e-5, 9.84569198e-6, 4.89976622e-6, 2.32643010e-6});
  // It would end at 74, beyond the last of 64 dimensions: from 25 to 63.
  const auto capped = parse(R"({"model_type": "qwen3_5_moe_text", "rope_parameters": {"rope_type": "yarn",
    "factor": 4.0, "original_max_position_embeddings": 262144, "rope_theta": 100, "partial_rotary_factor": 0.25,
    "beta_fast": 1000}})")
                          .inv_freq;
  EXPECT_NEAR(capped.at(31) / (std::pow(100.0, -62.0 / 64) * (1 - 0.75 * 6 / 38)), 1, 1e-6);
}

/// A ramp that would begin before the first frequency begins there.
TEST(Config, YarnsRampBeginsWithTheFirstFrequency) {
  const auto yarn = parse(R"({"model_type": "qwen3_5_moe_text", "rope_parameters": {"rope_type": "yarn", "factor": 4.0,
    "original_max_position_embeddings": 262144, "rope_theta": 1e7, "partial_rotary_factor": 0.25,
    "beta_fast": 1e6}})")
                        .inv_freq;
  EXPECT_EQ(yarn.front(), 1);
  EXPECT_NEAR(yarn.at(11) / (std::pow(1e7, -22.0 / 64) * (1 - 0.75 * 11 / 22)), 1, 1e-6);  // it ends at 22
}

/// A ramp of no width, at the first frequency, is a step behind it.
TEST(Config, YarnsRampMayHaveNoWidth) {
  const ModelConfig plain = parse(kMinimal);
  const auto yarn = parse(R"({"model_type": "qwen3_5_moe_text", "rope_parameters": {"rope_type": "yarn", "factor": 4.0,
    "original_max_position_embeddings": 262144, "rope_theta": 1e7, "partial_rotary_factor": 0.25,
    "beta_fast": 1e6, "beta_slow": 42000}})")
                        .inv_freq;
  EXPECT_EQ(yarn.at(0), 1);
  EXPECT_FLOAT_EQ(yarn.at(1), plain.inv_freq.at(1) / 4);
}

std::string with(const std::string& field, const char* type = "qwen3_5_text") {
  return R"({"model_type": ")" + std::string(type) + R"(", )" + field + "}";
}

TEST(Config, NumbersHaveRanges) {
  const char* const kMoe = "qwen3_5_moe_text";
  for (const std::string field : {R"("rms_norm_eps": 1.5)", R"("rms_norm_eps": -0.1)",
                                  R"("partial_rotary_factor": 1.01)", R"("rope_theta": 0.5)"}) {
    EXPECT_THAT(fault(with(field)), HasSubstr(field.substr(0, field.find(':')))) << field;
  }
  EXPECT_EQ(parse(with(R"("hidden_size": 1048576)")).hidden_size, 1048576);
  EXPECT_EQ(parse(with(R"("num_experts": 8, "num_experts_per_tok": 8)", kMoe)).experts_per_token, 8) << "all of them";
  EXPECT_EQ(parse(kMinimal).hidden_size, 2048);
  EXPECT_EQ(parse(with(R"("num_hidden_layers": 4)")).hidden_size, 4096);
  EXPECT_THAT(fault(with(R"("linear_num_key_heads": 3, "linear_num_value_heads": 8)")), HasSubstr("not a multiple"));
  EXPECT_THAT(fault(with(R"("num_hidden_layers": 1, "layer_types": ["full_attention", "full_attention"])")),
              HasSubstr("layer_types"));
  const ModelConfig odd = parse(with(R"("head_dim": 28)"));
  EXPECT_EQ(odd.attention.rotary_dim, 6) << "a quarter is 7, and they turn in pairs";
  EXPECT_EQ(odd.inv_freq.size(), 3U);
}

/// The range that a message gives is the one that holds.
TEST(Config, MessagesSayWhatNumbersMayBe) {
  const char* const kDense = "qwen3_5_text";
  const char* const kMoe = "qwen3_5_moe_text";
  const struct {
    const char *key, *type;
    int64_t min, max;
  } cases[] = {{"hidden_size", kDense, 1, 1 << 20},
               {"vocab_size", kDense, 1, 1 << 24},
               {"max_position_embeddings", kDense, 1, 2147483647},
               {"mtp_num_hidden_layers", kDense, 0, 16},
               {"num_hidden_layers", kDense, 1, 4096},
               {"full_attention_interval", kDense, 1, 4096},
               {"num_attention_heads", kDense, 1, 4096},
               {"num_key_value_heads", kDense, 1, 4096},
               {"head_dim", kDense, 2, 4096},
               {"linear_num_key_heads", kDense, 1, 4096},
               {"linear_num_value_heads", kDense, 1, 4096},
               {"linear_key_head_dim", kDense, 1, 1024},
               {"linear_value_head_dim", kDense, 1, 1024},
               {"linear_conv_kernel_dim", kDense, 2, 16},
               {"intermediate_size", kDense, 1, 1 << 20},
               {"num_experts", kMoe, 1, 65536},
               {"num_experts_per_tok", kMoe, 1, 1024},
               {"moe_intermediate_size", kMoe, 1, 1 << 20},
               {"shared_expert_intermediate_size", kMoe, 0, 1 << 20}};
  for (const auto& [key, type, min, max] : cases) {
    for (const int64_t value : {min - 1, max + 1}) {
      EXPECT_THAT(fault(with(fmt::format(R"("{}": {})", key, value), type)),
                  HasSubstr(fmt::format("\"{}\" is {}, expected {}..{}", key, value, min, max)));
    }
  }
  for (const char* one : {R"("num_hidden_layers": 1)", R"("head_dim": 2)", R"("mtp_num_hidden_layers": 16)"}) {
    (void)parse(with(one));
  }
}

TEST(Config, WhatIsNotImplementedIsRefused) {
  EXPECT_THAT(fault(with(R"("attention_bias": true)")), HasSubstr("attention_bias"));
  EXPECT_THAT(fault(with(R"("attn_output_gate": false)")), HasSubstr("attn_output_gate"));
  EXPECT_THAT(fault(with(R"("output_gate_type": "gelu")")), HasSubstr("gelu"));
  EXPECT_THAT(fault(with(R"("mlp_only_layers": [1])", "qwen3_5_moe_text")), HasSubstr("mlp_only_layers"));
  (void)parse(with(R"("mlp_only_layers": [])", "qwen3_5_moe_text"));
  (void)parse(with(R"("attention_bias": false, "attn_output_gate": true, "hidden_act": "silu")"));
  for (const char* gate : {"swish", "silu"}) (void)parse(with(R"("output_gate_type": ")" + std::string(gate) + '"'));
  (void)parse(with(R"("rope_parameters": {"rope_type": "mrope"})"));
}

/// Levels are those of lists and objects, not of brackets in texts.
TEST(Config, NestingIsCountedOutsideOfTexts) {
  const auto nested = [](size_t levels) {
    return with(R"("more": )" + std::string(levels - 1, '[') + std::string(levels - 1, ']'));
  };
  (void)parse(nested(64));
  EXPECT_THAT(fault(nested(65)), HasSubstr("deeper than 64"));
  std::string beside;  // each ends where the next begins
  for (int i = 0; i < 100; ++i) beside += i == 0 ? "[[], {}" : ", [], {}";
  (void)parse(with(R"("more": )" + beside + ']'));
  const std::string many(100, '[');
  (void)parse(with(R"("more": ")" + many + '"'));
  (void)parse(with(R"("more": "a \" )" + many + '"'));
  (void)parse(with(R"("more": "a \\", "and": ")" + many + '"'));
  EXPECT_THAT(fault(with(R"("more": "a \\", "and": )" + many + std::string(100, ']'))), HasSubstr("deeper than 64"));
}

TEST(Config, ErrorsNameTheFieldAndTheRange) {
  EXPECT_THAT(fault("[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(fault("{"), HasSubstr("not a JSON object"));
  EXPECT_THAT(fault(R"({"model_type": "llama"})"), HasSubstr("\"llama\" is not supported"));
  EXPECT_THAT(fault(R"({"model_type": "qwen3_5_text", "hidden_size": -1})"), HasSubstr("\"hidden_size\" is -1"));
  EXPECT_THAT(fault(R"({"model_type": "qwen3_5_text", "hidden_size": 18446744073709551615})"),
              HasSubstr("\"hidden_size\""));
  EXPECT_THAT(fault(R"({"model_type": "qwen3_5_text", "hidden_size": 1e3})"), HasSubstr("expected an integer"));
  EXPECT_THAT(fault(R"({"model_type": "qwen3_5_text", "num_attention_heads": 6, "num_key_value_heads": 4})"),
              HasSubstr("not a multiple"));
  EXPECT_THAT(fault(R"({"model_type": "qwen3_5_moe_text", "num_experts": 4, "num_experts_per_tok": 5})"),
              HasSubstr("exceeds num_experts"));
  EXPECT_THAT(fault(R"({"model_type": "qwen3_5_text", "num_hidden_layers": 2, "layer_types": ["full_attention"]})"),
              HasSubstr("layer_types"));
  EXPECT_THAT(fault(with(R"("num_hidden_layers": 1, "layer_types": {"0": "full_attention"})")),
              HasSubstr("expected an array of num_hidden_layers = 1 names"));
  EXPECT_THAT(fault(with(R"("attn_output_gate": 1)")), HasSubstr("\"attn_output_gate\" is 1, expected true or false"));
  // A value is shown in 60 characters at most.
  EXPECT_THAT(fault(with(R"("hidden_size": ")" + std::string(58, 'a') + '"')),
              HasSubstr("is \"" + std::string(58, 'a') + "\", expected an integer"));
  EXPECT_THAT(fault(with(R"("hidden_size": ")" + std::string(59, 'a') + '"')),
              HasSubstr("is \"" + std::string(56, 'a') + "..., expected an integer"));
  EXPECT_THAT(fault(R"({"model_type": "qwen3_5_text", "hidden_act": "gelu"})"), HasSubstr("gelu"));
  EXPECT_THAT(fault(R"({"model_type": "qwen3_5_text", "rope_parameters": {"rope_type": "llama3"}})"),
              HasSubstr("llama3"));
  EXPECT_THAT(fault(R"({"model_type": "qwen3_5_text", "rope_parameters": 7})"), HasSubstr("rope_parameters"));
  // Two fields that say the same thing must say the same.
  EXPECT_THAT(fault(R"({"model_type": "qwen3_5_text", "rope_theta": 1e6, "rope_parameters": {"rope_theta": 1e7}})"),
              HasSubstr("\"rope_theta\" is 1000000.0 and \"rope_parameters.rope_theta\" is 10000000.0"));
  EXPECT_THAT(fault(R"({"model_type": "qwen3_5_text", "rope_parameters": {"rope_type": "default"},
                       "rope_scaling": {"rope_type": "yarn", "factor": 4.0}})"),
              HasSubstr("\"rope_scaling\" is"));
  EXPECT_THAT(fault(R"({"model_type": "qwen3_5_text", "rope_parameters": {"rope_type": "default", "type": "yarn"}})"),
              HasSubstr("rope_parameters.type"));
  EXPECT_TRUE(parse_config(R"({"model_type": "qwen3_5_text", "rope_theta": 1e7, "rope_scaling": null,
                             "rope_parameters": {"rope_theta": 10000000, "rope_type": "default", "type": "mrope"}})",
                           "config.json")
                  .ok());
  EXPECT_THAT(fault(std::string(100000, '[')), HasSubstr("nested"));
}

}  // namespace
}  // namespace tessera::model
