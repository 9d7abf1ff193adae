#include "model/inspect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "checkpoint_files.h"
#include "format/sharded_writer.h"
#include "model/stored_tensors.h"

namespace tessera::model {
namespace {

using format::WeightFormat;
using test::small_shape;
using test::TempDirectory;
using ::testing::ElementsAre;

ModelConfig config_of(const char* preset) {
  const auto shape = synth_preset(preset);
  EXPECT_TRUE(shape.ok());
  const SynthShape& s = *shape;
  const std::string json = fmt::format(
      R"({{"model_type":"{}","hidden_size":{},"num_hidden_layers":{},"num_attention_heads":{},"num_key_value_heads":{},
          "linear_num_value_heads":{},"num_experts":{},"num_experts_per_tok":{},"moe_intermediate_size":{},
          "shared_expert_intermediate_size":{},"intermediate_size":{},"mtp_num_hidden_layers":1}})",
      s.is_moe ? "qwen3_5_moe_text" : "qwen3_5_text", s.hidden_size, s.num_hidden_layers, s.num_attention_heads,
      s.num_key_value_heads, s.linear_num_value_heads, s.num_experts, s.num_experts_per_tok, s.moe_intermediate_size,
      s.shared_expert_intermediate_size, s.intermediate_size);
  const auto config = parse_config(json, preset);
  EXPECT_TRUE(config.ok()) << config.status().message();
  return *config;
}

/// Published mixtures of formats, from the least to the most quantised.
KindFormats mixture(const std::string& name) {
  using enum TensorKind;
  const WeightFormat nvfp4 = WeightFormat::nvfp4;
  const WeightFormat fp8 = WeightFormat::fp8_e4m3;
  KindFormats formats = {{routed_expert, nvfp4}};  // P1
  if (name == "P2" || name == "P3" || name == "P5") formats[shared_expert] = nvfp4;
  if (name == "P3" || name == "P5") formats[attention] = nvfp4;
  if (name == "P5") formats[delta_net] = formats[delta_net_ab] = nvfp4;
  if (name == "P4" || name == "P6") {
    formats[shared_expert] = formats[attention] = formats[delta_net] = formats[delta_net_ab] = fp8;
  }
  if (name == "P6") formats[lm_head] = nvfp4;
  return formats;
}

WeightTraffic traffic_of(const ModelConfig& config, const KindFormats& formats) {
  return plan_dummy_weights(config, formats)->traffic();
}

// Gigabytes that a token reads, worked out by hand from the shapes.
TEST(WeightTraffic, AgreesWithTheBooks) {
  struct Row {
    const char* mixture;
    double gb_397b, gb_122b, gb_35b;
  };
  constexpr Row rows[] = {{"P1", 21.81, 12.81, 4.45}, {"P2", 20.72, 12.16, 4.26}, {"P3", 18.46, 10.80, 3.87},
                          {"P4", 14.17, 8.22, 3.04},  {"P5", 10.83, 6.22, 2.42},  {"P6", 12.71, 7.13, 2.30}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.mixture);
    const auto gigabytes = [&](const char* preset) {
      return traffic_of(config_of(preset), mixture(row.mixture)).bytes_per_step(1) / 1e9;
    };
    EXPECT_NEAR(gigabytes("397b"), row.gb_397b, 0.003 * row.gb_397b);
    EXPECT_NEAR(gigabytes("122b"), row.gb_122b, 0.003 * row.gb_122b);
    EXPECT_NEAR(gigabytes("35b"), row.gb_35b, 0.003 * row.gb_35b);
  }
  const KindFormats dense = {{TensorKind::mlp, WeightFormat::nvfp4}};
  EXPECT_NEAR(traffic_of(config_of("27b"), dense).bytes_per_step(1), 26.65e9, 0.1e9);
}

TEST(WeightTraffic, CountsWeights) {
  const auto counts = plan_dummy_weights(config_of("397b"), {}, {.with_mtp = true})->weights_by_kind();
  EXPECT_NEAR(counts.at(TensorKind::attention), 1.573e9, 1e6);
  EXPECT_NEAR(counts.at(TensorKind::delta_net) + counts.at(TensorKind::delta_net_ab), 5.311e9, 5e6);
  EXPECT_NEAR(counts.at(TensorKind::routed_expert), 386.55e9, 1e7);
  EXPECT_NEAR(counts.at(TensorKind::shared_expert), 0.755e9, 1e6);
  EXPECT_NEAR(counts.at(TensorKind::router), 0.126e9, 1e6);
  EXPECT_EQ(counts.at(TensorKind::lm_head), 248320 * 4096);
  EXPECT_NEAR(counts.at(TensorKind::mtp), 6.60e9, 1e7);
  EXPECT_FALSE(counts.contains(TensorKind::mlp));
  EXPECT_NEAR(plan_dummy_weights(config_of("27b"), {})->weights_by_kind().at(TensorKind::mlp), 17.11e9, 1e7);
}

TEST(WeightTraffic, CountsDistinctExperts) {
  const WeightTraffic traffic = traffic_of(config_of("397b"), {});
  EXPECT_DOUBLE_EQ(traffic.distinct_experts(1), 10);
  EXPECT_NEAR(traffic.distinct_experts(6), 57, 0.5);
  EXPECT_NEAR(traffic.distinct_experts(8), 75, 0.5);
  EXPECT_NEAR(traffic.distinct_experts(16), 139, 0.5);
  EXPECT_NEAR(traffic.distinct_experts(64), 367, 0.5);
  EXPECT_NEAR(traffic.distinct_experts(1'000'000), 512, 1e-6);
  // All experts: everything is read once.
  EXPECT_NEAR(traffic.bytes_per_step(1'000'000), traffic.fixed_bytes + traffic.routed_bytes, 1);
  const WeightTraffic dense = traffic_of(config_of("27b"), {});
  EXPECT_EQ(dense.distinct_experts(8), 0);
  EXPECT_EQ(dense.bytes_per_step(8), dense.bytes_per_step(1));
}

/// A checkpoint on disk says the same as its config, but for scalar scales and the dtype of small tensors.
TEST(Inspect, AgreesWithTheConfig) {
  const std::vector<KindFormats> choices = {
      {},
      mixture("P1"),
      mixture("P4"),
      {{TensorKind::mtp, WeightFormat::nvfp4}, {TensorKind::mlp, WeightFormat::mxfp4}}};
  for (const bool is_moe : {true, false}) {
    for (size_t i = 0; i < choices.size(); ++i) {
      SCOPED_TRACE(fmt::format("choice {}{}", i, is_moe ? "" : ", dense"));
      const TempDirectory directory;
      test::synthesize(directory / "model", {.shape = small_shape(is_moe), .formats = choices[i]});
      const auto found = inspect_checkpoint(test::open(directory / "model"));
      ASSERT_TRUE(found.ok()) << found.status().message();
      const WeightTraffic expected = traffic_of(found->config, choices[i]);
      EXPECT_NEAR(found->traffic.fixed_bytes, expected.fixed_bytes, 512);
      EXPECT_NEAR(found->traffic.routed_bytes, expected.routed_bytes, 512);
      double total = 0;
      double active = 0;
      for (const auto& [kind, weights] : plan_dummy_weights(found->config, {}, {.with_mtp = true})->weights_by_kind()) {
        const auto count = static_cast<double>(weights);
        if (kind == TensorKind::mtp) {
          EXPECT_NEAR(static_cast<double>(found->mtp_parameters), count, 100);
          continue;
        }
        total += count;
        if (kind == TensorKind::routed_expert) active += count * 2 / 5;
        if (kind != TensorKind::routed_expert && kind != TensorKind::embed) active += count;
      }
      EXPECT_EQ(static_cast<double>(found->parameters), total);
      EXPECT_DOUBLE_EQ(found->active_parameters, active);
    }
  }
}

TEST(Inspect, TellsWhatIsThere) {
  const TempDirectory directory;
  test::synthesize(directory / "model",
                   {.shape = small_shape(),
                    .formats = mixture("P4"),
                    .dialect = format::Dialect::compressed_tensors,
                    .fp8_kv_cache = true,
                    .files = {{"tokenizer.json", "{}"}, {"tokenizer_config.json", R"({"chat_template": "x"})"}}});
  test::rewrite(directory / "model", [](auto& tensors) {
    tensors["model.visual.pos"] = {"model.visual.pos", "BF16", {3}, "abcdef"};
  });
  const auto found = inspect_checkpoint(test::open(directory / "model"));
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->model_type, "qwen3_5_moe_text");
  EXPECT_THAT(found->dialects, ElementsAre("compressed-tensors"));
  EXPECT_EQ(found->quantization.method, "compressed-tensors");
  EXPECT_TRUE(found->quantization.fp8_kv_cache);
  EXPECT_TRUE(found->has_mtp && found->has_vision && found->has_tokenizer);
  EXPECT_EQ(found->chat_template_file, "tokenizer_config.json");
  EXPECT_EQ(found->shards, 1U);
  const auto part = [&](TensorKind kind) {
    std::vector<StoredPart> parts;
    for (const StoredPart& p : found->parts) {
      if (p.kind == kind) parts.push_back(p);
    }
    EXPECT_EQ(parts.size(), 1U) << name(kind);
    return parts.front();
  };
  const StoredPart routed = part(TensorKind::routed_expert);
  EXPECT_EQ(routed.format, "NVFP4");
  EXPECT_EQ(routed.tensors, 4 * 5 * 3);
  EXPECT_EQ(routed.elements, 4 * 5 * 3 * 64 * 32);
  EXPECT_EQ(routed.bytes, static_cast<size_t>(routed.elements) * 9 / 16 + 4 * 5 * 3 * sizeof(float));
  EXPECT_EQ(part(TensorKind::attention).format, "FP8");
  EXPECT_EQ(part(TensorKind::mtp).format, "BF16");
  EXPECT_FALSE(found->parts.back().kind.has_value());
  EXPECT_EQ(found->parts.back().bytes, 6U);
  size_t bytes = 0;
  for (const StoredPart& p : found->parts) bytes += p.bytes;
  EXPECT_EQ(bytes, found->tensor_bytes);
  EXPECT_EQ(found->loaded_bytes(), bytes - 6);
  EXPECT_EQ(bytes, test::open(directory / "model").tensor_bytes() + 6);
  EXPECT_GT(found->disk_bytes, bytes);
  // One attention layer of two KV heads of 32; three layers of four states [32, 32] and three inputs of 256 channels.
  EXPECT_EQ(found->kv_bytes_per_token_bf16, 2U * 2 * 32 * 2);
  EXPECT_EQ(found->mtp_kv_bytes_per_token_bf16, 2U * 2 * 32 * 2);
  EXPECT_EQ(found->state_bytes, 3U * (4 * 32 * 32 + 3 * 256) * 4);
}

/// As in the cache of a hub, where every file is a link. What is no file there takes no room.
TEST(Inspect, LinksTakeTheRoomOfTheirFiles) {
  const TempDirectory directory;
  const auto model = directory / "model";
  test::synthesize(model, {.shape = small_shape()});
  const auto disk_bytes = [&] {
    const auto found = inspect_checkpoint(test::open(model));
    EXPECT_TRUE(found.ok()) << found.status().message();
    return found->disk_bytes;
  };
  EXPECT_EQ(disk_bytes(), std::filesystem::file_size(model / "model.safetensors") +
                              std::filesystem::file_size(model / "config.json"));
  const auto before = disk_bytes();
  for (const char* file : {"model.safetensors", "config.json"}) {
    std::filesystem::rename(model / file, directory / file);
    std::filesystem::create_symlink(directory / file, model / file);
  }
  std::filesystem::create_symlink("gone", model / "dangling");
  std::filesystem::create_directory(model / "folder");
  EXPECT_EQ(disk_bytes(), before);
}

/// The head's tensors may stand anywhere, and a tokenizer's settings need not hold a template.
TEST(Inspect, TellsOfAHeadInTheMiddle) {
  const TempDirectory directory;
  test::synthesize(directory / "model", {.shape = small_shape(), .files = {{"tokenizer_config.json", "{}"}}});
  test::rewrite(directory / "model", [](auto& tensors) {
    auto all = std::exchange(tensors, {});
    for (auto& [name, tensor] : all) {
      const std::string moved = name.starts_with("mtp.") ? "model.language_model." + name : name;
      tensor.name = moved;
      tensors[moved] = std::move(tensor);
    }
  });
  const auto found = inspect_checkpoint(test::open(directory / "model"));
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_TRUE(found->has_mtp);
  EXPECT_GT(found->mtp_parameters, 0);
  EXPECT_EQ(found->chat_template_file, "");
}

TEST(Inspect, AHeadThatOnlyTheConfigHasIsNone) {
  const TempDirectory directory;
  test::synthesize(directory / "model", {.shape = small_shape()});
  test::rewrite(directory / "model", [](auto& tensors) {
    std::erase_if(tensors, [](const auto& tensor) { return tensor.first.starts_with("mtp."); });
  });
  const auto found = inspect_checkpoint(test::open(directory / "model"));
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_GT(found->config.mtp_layers, 0);
  EXPECT_FALSE(found->has_mtp);
  EXPECT_EQ(found->mtp_kv_bytes_per_token_bf16, 0U);
}

TEST(Inspect, EveryLayerOfTheMtpHeadHasACache) {
  const TempDirectory directory;
  SynthShape shape = small_shape();
  shape.mtp_num_hidden_layers = 2;
  test::synthesize(directory / "model", {.shape = shape});
  const auto found = inspect_checkpoint(test::open(directory / "model"));
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->mtp_kv_bytes_per_token_bf16, 2U * found->kv_bytes_per_token_bf16);
}

TEST(Inspect, TiedEmbeddingIsTheHead) {
  const TempDirectory directory;
  SynthShape shape = small_shape();
  shape.mtp_num_hidden_layers = 0;
  test::synthesize(directory / "two", {.shape = shape});
  shape.tie_word_embeddings = true;
  test::synthesize(directory / "model", {.shape = shape});
  const auto found = inspect_checkpoint(test::open(directory / "model"));
  const auto of_two = inspect_checkpoint(test::open(directory / "two"));
  ASSERT_TRUE(found.ok() && of_two.ok());
  EXPECT_FALSE(found->has_mtp);
  // A token uses it as it does a head of its own; it is there once.
  EXPECT_DOUBLE_EQ(found->traffic.fixed_bytes, of_two->traffic.fixed_bytes);
  EXPECT_DOUBLE_EQ(found->active_parameters, of_two->active_parameters);
  EXPECT_EQ(found->parameters, of_two->parameters - 224 * 64);
  EXPECT_DOUBLE_EQ(found->traffic.fixed_bytes, traffic_of(found->config, {}).fixed_bytes);
}

TEST(Inspect, SaysWhatItMisses) {
  const TempDirectory directory;
  test::synthesize(directory / "model", {.shape = small_shape()});
  const auto message = [&] { return inspect_checkpoint(test::open(directory / "model")).status().message(); };
  EXPECT_EQ(message(), "");
  directory.write("model/config.json", R"({"model_type": "llama"})");
  EXPECT_THAT(message(), ::testing::HasSubstr("model_type \"llama\""));
  std::filesystem::remove(directory / "model/config.json");
  EXPECT_THAT(message(), ::testing::HasSubstr("config.json: is not there"));
}

/// Headers are enough: the weights of this one do not even exist on disk. 9 GB, 92,160 tensors.
TEST(Inspect, ReadsHeadersOnly) {
  const TempDirectory directory;
  SynthShape shape = small_shape();
  shape.num_experts = 2;
  test::synthesize(directory / "model", {.shape = shape});
  std::string header = "{";
  size_t end = 0;
  const auto declare = [&](const std::string& name, const char* dtype, const std::vector<int64_t>& dims, size_t bytes) {
    header += fmt::format(R"({}"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", end == 0 ? "" : ",", name,
                          dtype, fmt::join(dims, ","), end, end + bytes);
    end += bytes;
  };
  for (int layer = 0; layer < 20; ++layer) {
    for (int expert = 0; expert < 512; ++expert) {
      for (const char* part : {"gate_proj", "up_proj", "down_proj"}) {
        const std::string module = fmt::format("model.language_model.layers.{}.mlp.experts.{}.{}", layer, expert, part);
        declare(module + ".weight", "U8", {512, 512}, 512 * 512);
        declare(module + ".weight_scale", "F8_E4M3", {512, 64}, 512 * 64);
        declare(module + ".weight_scale_2", "F32", {}, 4);
      }
    }
  }
  const auto path = directory.write("model/model.safetensors", format::test::safetensors(header + "}", ""));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) + end);
  const auto found = inspect_checkpoint(test::open(directory / "model"));
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_EQ(found->parts.size(), 1U);
  EXPECT_EQ(found->parts[0].tensors, 20 * 512 * 3);
  EXPECT_EQ(found->parts[0].elements, int64_t{20} * 512 * 3 * 512 * 1024);
  EXPECT_NEAR(found->parts[0].bits_per_weight(), 4.5, 0.001);
  EXPECT_THAT(found->complete.message(), ::testing::HasSubstr("model.embed_tokens.weight"));
}

TEST(StoredTensors, FollowTheFile) {
  const TempDirectory directory;
  test::synthesize(directory / "model", {.shape = small_shape(), .formats = mixture("P1")});
  const format::Checkpoint checkpoint = test::open(directory / "model");
  const auto tensors = stored_tensors(checkpoint);
  const auto at = [&](const std::string& suffix) {
    return *std::find_if(tensors.begin(), tensors.end(), [&](const auto& t) { return t.name.ends_with(suffix); });
  };
  for (size_t i = 1; i < tensors.size(); ++i) {
    EXPECT_LE(tensors[i - 1].view.bytes.data(), tensors[i].view.bytes.data());
  }
  EXPECT_EQ(tensors.front().name, "model.language_model.embed_tokens.weight");
  const StoredTensor scale = at("layers.0.mlp.experts.3.up_proj.weight_scale");
  EXPECT_EQ(scale.module, "model.layers.0.mlp.experts.3.up_proj");
  EXPECT_EQ(scale.format, "NVFP4");
  EXPECT_EQ(scale.elements, 0);
  EXPECT_FALSE(scale.is_weight);
  const StoredTensor decay = at("layers.1.linear_attn.A_log");
  EXPECT_EQ(decay.module, "");
  EXPECT_EQ(decay.kind, TensorKind::small);
  EXPECT_EQ(decay.format, "BF16");
}

}  // namespace
}  // namespace tessera::model
