#include "model/synth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "checkpoint_files.h"
#include "format/decode_floats.h"
#include "kernels/cpu/backend.h"
#include "model/config.h"
#include "model/model.h"

namespace tessera::model {
namespace {

using format::Dialect;
using format::WeightFormat;
using test::read_directory;
using test::small_shape;
using test::synthesize;
using test::TempDirectory;
using ::testing::HasSubstr;

ModelConfig config_in(const std::filesystem::path& directory) {
  const auto config = parse_config(test::read_file(directory / "config.json"), "config.json");
  EXPECT_TRUE(config.ok()) << config.status().message();
  return *config;
}

TEST(Synth, PresetsHaveTheReleasedShapes) {
  const auto large = synth_preset("397b");
  ASSERT_TRUE(large.ok());
  EXPECT_EQ(large->hidden_size, 4096);
  EXPECT_EQ(large->num_hidden_layers, 60);
  EXPECT_EQ(large->num_experts, 512);
  EXPECT_EQ(large->num_experts_per_tok, 10);
  EXPECT_EQ(large->linear_num_value_heads, 64);
  EXPECT_EQ(synth_preset("122b")->hidden_size, 3072);
  EXPECT_EQ(synth_preset("35b")->moe_intermediate_size, 512);
  EXPECT_FALSE(synth_preset("27b")->is_moe);
  EXPECT_EQ(synth_preset("27b")->intermediate_size, 17408);
  EXPECT_THAT(synth_preset("28b").status().message(), HasSubstr("397b, 122b, 35b, 27b and tiny"));
}

TEST(Synth, BytesAreKnownBeforehand) {
  SynthOptions options{.shape = *synth_preset("397b"), .formats = {{TensorKind::routed_expert, WeightFormat::nvfp4}}};
  const auto large = random_checkpoint_bytes(options);
  ASSERT_TRUE(large.ok());
  EXPECT_NEAR(static_cast<double>(*large), 237.0e9 + 13.2e9, 0.5e9);
  const TempDirectory directory;
  options.shape = small_shape();
  synthesize(directory / "model", options);
  EXPECT_EQ(test::open(directory / "model").tensor_bytes(), *random_checkpoint_bytes(options));
}

struct Choice {
  const char* name;
  SynthOptions options;
};

std::vector<Choice> choices() {
  using enum TensorKind;
  const KindFormats mixed = {{routed_expert, WeightFormat::nvfp4},
                             {mlp, WeightFormat::nvfp4},
                             {shared_expert, WeightFormat::mxfp4},
                             {attention, WeightFormat::fp8_e4m3},
                             {delta_net, WeightFormat::fp8_e4m3},
                             {lm_head, WeightFormat::nvfp4},
                             {mtp, WeightFormat::nvfp4}};
  SynthShape odd = small_shape();
  odd.num_hidden_layers = 5;
  odd.full_attention_interval = 2;
  odd.num_attention_heads = 6;
  odd.num_key_value_heads = 3;
  odd.linear_num_key_heads = 3;
  odd.linear_num_value_heads = 9;
  odd.linear_key_head_dim = 16;
  odd.num_experts = 7;
  odd.shared_expert_intermediate_size = 0;
  odd.mtp_num_hidden_layers = 2;
  SynthShape tied = small_shape(false);
  tied.tie_word_embeddings = true;
  tied.mtp_num_hidden_layers = 0;
  return {{"plain", {.shape = small_shape()}},
          {"f32_fused", {.shape = small_shape(), .plain = WeightFormat::f32, .fused_experts = true}},
          {"f16_flat", {.shape = small_shape(), .plain = WeightFormat::f16, .prefix = "model."}},
          {"modelopt", {.shape = small_shape(), .formats = mixed}},
          {"compressed_tensors",
           {.shape = small_shape(), .formats = mixed, .dialect = Dialect::compressed_tensors, .prefix = "model."}},
          {"dense", {.shape = small_shape(false), .formats = mixed}},
          {"tied_dense", {.shape = tied, .prefix = "model."}},
          {"odd_shape", {.shape = odd, .formats = mixed}}};
}

class EveryChoice : public ::testing::TestWithParam<Choice> {};

TEST_P(EveryChoice, OpensAndLoads) {
  const TempDirectory directory;
  synthesize(directory / "model", GetParam().options);
  const SynthShape& shape = GetParam().options.shape;
  const format::Checkpoint checkpoint = test::open(directory / "model");
  const ModelConfig config = config_in(directory / "model");
  const std::map<std::string_view, std::string> dtypes = {{"F32", "float32"}, {"F16", "float16"}, {"BF16", "bfloat16"}};
  EXPECT_EQ(nlohmann::json::parse(test::read_file(directory / "model/config.json"))["dtype"],
            dtypes.at(name(checkpoint.tensor("model.embed_tokens.weight")->dtype)));
  EXPECT_EQ(config.is_moe, shape.is_moe);
  EXPECT_EQ(config.hidden_size, shape.hidden_size);
  EXPECT_EQ(config.num_layers(), shape.num_hidden_layers);
  EXPECT_EQ(config.mtp_layers, shape.mtp_num_hidden_layers);
  EXPECT_EQ(config.tie_word_embeddings, shape.tie_word_embeddings);
  ThreadPool pool(1);
  kernels::Workspace workspace;
  const auto backend = kernels::cpu::make_backend({kernels::Compute::bf16, &pool, &workspace});
  size_t done = 0, total = 0;
  const auto note = [&](size_t d, size_t t) {
    EXPECT_GE(d, done);
    done = d;
    total = t;
  };
  const auto model = Model::load(checkpoint, config, *backend, {.plan = {.with_mtp = true}, .progress = note});
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ((*model)->has_mtp(), shape.mtp_num_hidden_layers > 0);
  const auto plan = plan_weights(checkpoint, config, {.with_mtp = true});
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(plan->placed_bytes(*backend), backend->weight_bytes());
  EXPECT_EQ(plan->stored_bytes(), total);
  EXPECT_EQ(done, total);
}

TEST_P(EveryChoice, StoresKindsAsAsked) {
  const TempDirectory directory;
  synthesize(directory / "model", GetParam().options);
  const format::Checkpoint checkpoint = test::open(directory / "model");
  for (const auto& [name, view] : checkpoint.tensors()) {
    const auto module = linear_module(name);
    if (!module || *module == name) continue;
    const auto matrix = checkpoint.matrix(std::string(*module));
    ASSERT_TRUE(matrix.ok()) << matrix.status().message();
    const auto listed = GetParam().options.formats.find(classify(name));
    const WeightFormat expected =
        listed == GetParam().options.formats.end() ? GetParam().options.plain : listed->second;
    EXPECT_EQ(format::name(matrix->format), format::name(expected)) << name;
  }
}

/// A deviation of 1 / sqrt(columns), give or take what a small sample does, in every format.
TEST_P(EveryChoice, KeepsTheSizeOfActivations) {
  const TempDirectory directory;
  synthesize(directory / "model", GetParam().options);
  const format::Checkpoint checkpoint = test::open(directory / "model");
  for (const auto& [name, view] : checkpoint.tensors()) {
    const auto module = linear_module(name);
    if (!module || *module == name) continue;
    const auto matrix = checkpoint.matrix(std::string(*module));
    ASSERT_TRUE(matrix.ok());
    const std::vector<float> values = test::decode(*matrix);
    if (values.size() < 1000) continue;
    double squares = 0;
    for (const float v : values) {
      ASSERT_TRUE(std::isfinite(v)) << name;
      squares += static_cast<double>(v) * v;
    }
    const double deviation = std::sqrt(squares / static_cast<double>(values.size()));
    const double relative = deviation * std::sqrt(static_cast<double>(matrix->cols));
    // MXFP4 has powers of two for scales only.
    EXPECT_GT(relative, 0.6) << name;
    EXPECT_LT(relative, 1.7) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Choices, EveryChoice, ::testing::ValuesIn(choices()),
                         [](const auto& param) { return param.param.name; });

TEST(Synth, SameOptionsSameBytes) {
  const TempDirectory directory;
  const auto make = [&](const char* name, uint64_t seed) {
    synthesize(directory / name, {.shape = small_shape(),
                                  .formats = {{TensorKind::routed_expert, WeightFormat::nvfp4}},
                                  .files = {{"tokenizer.json", "{}"}},
                                  .seed = seed,
                                  .shard_bytes_max = 100'000});
    return read_directory(directory / name);
  };
  const auto first = make("a", 1);
  EXPECT_EQ(first, make("b", 1));
  const auto other = make("c", 2);
  EXPECT_EQ(first.at("config.json"), other.at("config.json"));
  EXPECT_EQ(first.at("tokenizer.json"), "{}");
  EXPECT_TRUE(first.contains("model.safetensors.index.json"));
  for (const auto& [name, bytes] : first) {
    if (!name.ends_with(".safetensors")) continue;
    EXPECT_NE(bytes, other.at(name)) << name;
  }
}

TEST(Synth, ProgressEndsWithAllOfIt) {
  const TempDirectory directory;
  std::vector<std::pair<size_t, size_t>> told;
  synthesize(directory / "model",
             {.shape = small_shape(), .progress = [&](size_t done, size_t total) { told.emplace_back(done, total); }});
  ASSERT_FALSE(told.empty());
  const size_t bytes = test::open(directory / "model").tensor_bytes();
  EXPECT_EQ(told.back(), std::pair(bytes, bytes));
}

/// Readers that look at the whole model alone find there whether its embedding is its head.
TEST(Synth, TiedEmbeddingsAreSaidAtBothLevels) {
  for (const bool tied : {true, false}) {
    const TempDirectory directory;
    SynthShape shape = small_shape();
    shape.tie_word_embeddings = tied;
    synthesize(directory / "model", {.shape = shape});
    const auto json = nlohmann::json::parse(test::read_file(directory / "model/config.json"));
    EXPECT_EQ(json["tie_word_embeddings"], tied);
    EXPECT_EQ(json["text_config"]["tie_word_embeddings"], tied);
  }
}

TEST(Synth, SmallTensorsAreNotTrivial) {
  const TempDirectory directory;
  synthesize(directory / "model", {.shape = small_shape()});
  const format::Checkpoint checkpoint = test::open(directory / "model");
  for (const char* name : {"model.norm.weight", "model.layers.0.input_layernorm.weight",
                           "model.layers.0.linear_attn.A_log", "model.layers.0.linear_attn.dt_bias",
                           "model.layers.0.linear_attn.norm.weight", "mtp.pre_fc_norm_hidden.weight"}) {
    const auto tensor = checkpoint.tensor(name);
    ASSERT_TRUE(tensor.ok()) << name;
    std::vector<float> values(tensor->bytes.size() / 2);
    ASSERT_TRUE(format::decode_floats(*tensor, values).ok());
    const float first = values.front();
    EXPECT_TRUE(std::any_of(values.begin(), values.end(), [&](float v) { return v != first; })) << name;
  }
}

TEST(Synth, EachTensorFollowsTheSeed) {
  for (const bool fused : {false, true}) {
    const TempDirectory directory;
    const auto make = [&](const char* name, uint64_t seed) {
      synthesize(directory / name, {.shape = small_shape(), .fused_experts = fused, .seed = seed});
      return test::open(directory / name);
    };
    const format::Checkpoint one = make("one", 1), two = make("two", 2);
    for (const auto& [name, tensor] : one.tensors()) {
      EXPECT_FALSE(std::ranges::equal(tensor.bytes, two.tensor(name)->bytes)) << name;
    }
  }
}

TEST(Synth, RefusesNonsense) {
  const TempDirectory directory;
  const auto message = [&](const std::function<void(SynthOptions&)>& change) {
    SynthOptions options{.shape = small_shape()};
    change(options);
    const Status status = write_random_checkpoint(directory / "model", options);
    EXPECT_FALSE(status.ok());
    EXPECT_FALSE(std::filesystem::exists(directory / "model" / "config.json"));
    return status.message();
  };
  EXPECT_THAT(message([](auto& o) { o.shape.hidden_size = 0; }), HasSubstr("\"hidden_size\" is 0"));
  EXPECT_THAT(message([](auto& o) { o.shape.num_experts_per_tok = 6; }),
              HasSubstr("num_experts_per_tok 6 exceeds num_experts 5"));
  EXPECT_THAT(message([](auto& o) { o.shape.full_attention_interval = 0; }), HasSubstr("expected 1..4096"));
  EXPECT_THAT(message([](auto& o) { o.shape.num_hidden_layers = int64_t{1} << 40; }), HasSubstr("expected 1..4096"));
  // What the reader would refuse is not written.
  EXPECT_THAT(message([](auto& o) { o.shape.num_key_value_heads = 3; }), HasSubstr("is not a multiple of"));
  EXPECT_THAT(message([](auto& o) { o.shape.head_dim = 7; }), HasSubstr("head_dim is 7, expected an even number"));
  EXPECT_THAT(message([](auto& o) { o.shape.max_position_embeddings = 0; }), HasSubstr("max_position_embeddings"));
  EXPECT_THAT(message([](auto& o) { o.prefix = "../x"; }), HasSubstr("start with \"../x\""));
  EXPECT_THAT(message([](auto& o) {
                o.shape.moe_intermediate_size = 24;
                o.formats = {{TensorKind::routed_expert, WeightFormat::nvfp4}};
              }),
              HasSubstr("down_proj has 24 columns"));
  SynthOptions options{.shape = small_shape()};
  options.shape.moe_intermediate_size = 48;
  options.formats = {{TensorKind::routed_expert, WeightFormat::mxfp4}};
  EXPECT_THAT(message([&](auto& o) { o = options; }),
              HasSubstr("down_proj has 48 columns, which MXFP4 (groups of 32) cannot hold"));
  options.formats = {{TensorKind::routed_expert, WeightFormat::nvfp4}};  // three groups of 16
  synthesize(directory / "there", options);
  EXPECT_THAT(write_random_checkpoint(directory / "there", options).message(), HasSubstr("already holds a checkpoint"));
}

}  // namespace
}  // namespace tessera::model
