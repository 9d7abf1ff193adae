#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/model_directory.h"

namespace tessera::cli {
namespace {

using ::testing::HasSubstr;

class SynthTest : public ModelDirectoryTest {};

TEST_F(SynthTest, EveryFormatRuns) {
  const Arguments variants[] = {
      {"--format", "mxfp4"},
      {"--format", "bf16"},
      {"--format", "f32", "--flat"},
      {"--format", "bf16", "--fused-experts"},
      {"--dense", "--format", "fp8", "--tie-word-embeddings"},
      {"--dialect", "compressed-tensors", "--attention", "fp8", "--delta-net", "fp8", "--shared-expert", "nvfp4"},
      {"--lm-head", "nvfp4", "--embed", "nvfp4", "--mtp", "nvfp4", "--fp8-kv", "--plain", "f16"},
      {"--layers", "3", "--num-experts", "5", "--num-experts-per-tok", "2", "--mtp-layers", "0", "--prefix",
       "language_model.model."},
      {"--profile", "v2"},
      {"--profile", "p6", "--dialect", "compressed-tensors"},
      {"--shard-size", "1"}};
  int number = 0;
  for (Arguments arguments : variants) {
    const std::string directory = path("variant" + std::to_string(number++));
    arguments.insert(arguments.begin(), {"synth", directory});
    const Finished made = run_tessera(arguments);
    ASSERT_EQ(made.exit_code, 0) << ::testing::PrintToString(arguments) << made.err;
    EXPECT_THAT(made.out, HasSubstr("noise"));
    const Finished answer = run_tessera({"run", directory, "Hi", "--max-tokens", "3", "-q", "--max-model-len", "2048"});
    EXPECT_EQ(answer.exit_code, 0) << ::testing::PrintToString(arguments) << answer.err;
  }
}

TEST_F(SynthTest, TheConfigHasTheShapeOfTheFlags) {
  using Shape = std::vector<std::pair<std::string, int>>;
  const auto config_of = [&](const char* name, const Shape& shape, const Arguments& more) {
    Arguments arguments = {"synth", path(name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    for (const auto& [key, value] : shape) {
      std::string flag = "--" + key;
      std::ranges::replace(flag, '_', '-');
      arguments.insert(arguments.end(), {flag, std::to_string(value)});
    }
    const Finished made = run_tessera(arguments);
    EXPECT_EQ(made.exit_code, 0) << made.err;
    const auto config = nlohmann::json::parse(read_file(path(name) + "/config.json"));
    for (const auto& [key, value] : shape) EXPECT_EQ(config["text_config"][key], value) << key;
    return config;
  };
  const auto experts = config_of("experts",
                                 {{"hidden_size", 192},
                                  {"num_hidden_layers", 6},
                                  {"full_attention_interval", 3},
                                  {"num_attention_heads", 8},
                                  {"num_key_value_heads", 4},
                                  {"head_dim", 64},
                                  {"linear_num_key_heads", 3},
                                  {"linear_num_value_heads", 12},
                                  {"linear_key_head_dim", 16},
                                  {"linear_value_head_dim", 48},
                                  {"num_experts", 7},
                                  {"num_experts_per_tok", 5},
                                  {"moe_intermediate_size", 80},
                                  {"shared_expert_intermediate_size", 112},
                                  {"vocab_size", 4100},
                                  {"mtp_num_hidden_layers", 0},
                                  {"max_position_embeddings", 5000}},
                                 {});
  EXPECT_FALSE(experts["tie_word_embeddings"]);
  EXPECT_TRUE(experts["quantization_config"]["kv_cache_quant_algo"].is_null());
  const auto dense = config_of("dense", {{"intermediate_size", 176}}, {"--dense", "--tie-word-embeddings", "--fp8-kv"});
  EXPECT_TRUE(dense["tie_word_embeddings"]);
  EXPECT_EQ(dense["quantization_config"]["kv_cache_quant_algo"], "FP8");
}

/// As the released models do: an answer ends with its turn, or with the text.
TEST_F(SynthTest, TheTokensThatEndAnAnswerAreTheTokenizers) {
  const auto generation = nlohmann::json::parse(read_file(model_file("generation_config.json")));
  const Finished ids = run_tessera({"tokenize", model(), "<|im_end|><|endoftext|>"});
  EXPECT_EQ(generation["eos_token_id"], nlohmann::json::parse(ids.out));
}

TEST_F(SynthTest, TheFormatOfADenseModelIsThatOfItsMlp) {
  for (const std::string format : {"nvfp4", "mxfp4"}) {
    ASSERT_EQ(run_tessera({"synth", path(format), "--dense", "--format", format}).exit_code, 0);
    const auto found = nlohmann::json::parse(run_tessera({"inspect", path(format), "--json"}).out);
    std::string formats;
    for (const auto& part : found["parts"]) {
      if (part["kind"] == "mlp") formats += part["format"].get<std::string>();
    }
    std::ranges::transform(formats, formats.begin(), [](unsigned char c) { return std::tolower(c); });
    EXPECT_EQ(formats, format);
  }
}

TEST_F(SynthTest, EachKindHasTheFormatThatIsAskedFor) {
  const auto formats_of = [&](const char* name, const Arguments& flags) {
    Arguments arguments = {"synth", path(name)};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    EXPECT_EQ(run_tessera(arguments).exit_code, 0);
    std::map<std::string, std::string> formats;
    const auto found = nlohmann::json::parse(run_tessera({"inspect", path(name), "--json"}).out);
    for (const auto& part : found["parts"]) formats[part["kind"]] += part["format"].get<std::string>();
    return formats;
  };
  auto formats = formats_of("mixed", {"--attention", "fp8", "--delta-net", "nvfp4", "--router", "fp8", "--embed",
                                      "mxfp4", "--shared-expert", "plain", "--plain", "f16"});
  for (const auto& [kind, format] : std::map<std::string, std::string>{{"attention", "FP8"},
                                                                       {"delta-net", "NVFP4"},
                                                                       {"router", "FP8"},
                                                                       {"embed", "MXFP4"},
                                                                       {"shared-expert", "F16"},
                                                                       {"lm-head", "F16"},
                                                                       {"routed-expert", "NVFP4"}}) {
    EXPECT_EQ(formats[kind], format) << kind;
  }
  formats = formats_of("plain", {"--format", "f32", "--plain", "f16", "--embed", "plain"});
  for (const char* kind : {"routed-expert", "attention", "embed"}) EXPECT_EQ(formats[kind], "F32") << kind;
}

TEST_F(SynthTest, TheInspectedPageHasEveryPartAndNoMore) {
  const Finished result = run_tessera({"inspect", model(), "--gpu", "h200", "--html", path("page.html")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string page = read_file(path("page.html"));
  const auto found = nlohmann::json::parse(run_tessera({"inspect", model(), "--json"}).out);
  for (const auto& part : found["parts"]) EXPECT_THAT(page, HasSubstr(">" + part["kind"].get<std::string>() + "<"));
  EXPECT_THAT(page, HasSubstr("On one H200"));
  EXPECT_THAT(page, Not(HasSubstr("http")));  // it holds all it needs
  EXPECT_EQ(run_tessera({"inspect", model(), "--tensors", "*", "--html", path("page.html")}).exit_code, 2);
}

/// Weights and states, which are read and written, at the GPU's rate.
TEST_F(SynthTest, TheInspectedStepTakesAsLongAsItsBytes) {
  const auto found = nlohmann::json::parse(run_tessera({"inspect", model(), "--gpu", "h200", "--json"}).out);
  ASSERT_FALSE(found["steps"].empty());
  const double state = found["state_bytes_per_sequence"], rate = found["gpu"]["read_gb_s"];
  EXPECT_GT(state, 0);
  for (const auto& step : found["steps"]) {
    const double weights = step["weight_bytes"], states = step["state_bytes"], ms = step["ms_at_least"];
    EXPECT_EQ(states, 2 * state * step["batch"].get<double>());
    EXPECT_NEAR(ms, (weights + states) / (rate * 1e6), 1e-9 * ms);
  }
  for (const auto& bound : found["bounds"]) {
    const double tokens = bound["tokens_per_second"], bandwidth = bound["bandwidth_gb_s"];
    EXPECT_NEAR(tokens, bandwidth * 1e9 / found["weight_bytes_per_token"].get<double>(), 1e-9 * tokens);
    if (bound["gpu"] == found["gpu"]["name"]) EXPECT_EQ(bandwidth, rate * bound["count"].get<double>());
  }
}

/// The vision tower is not loaded: a GPU that it alone would fill has room for the rest.
TEST_F(SynthTest, TheInspectedWeightsThatFitAreThoseThatAreLoaded) {
  constexpr uint64_t kVisionBytes = 100'000'000'000;  // a hole in the file
  const std::string file = read_file(model_file("model.safetensors"));
  uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, file.data(), sizeof header_bytes);
  auto header = nlohmann::json::parse(file.substr(sizeof header_bytes, header_bytes));
  const std::string weights = file.substr(sizeof header_bytes + header_bytes);
  header["model.visual.pos"] = {{"dtype", "BF16"},
                                {"shape", {kVisionBytes / 2}},
                                {"data_offsets", {weights.size(), weights.size() + kVisionBytes}}};
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  header_bytes = text.size();
  write_file(model_file("model.safetensors"),
             std::string(reinterpret_cast<const char*>(&header_bytes), sizeof header_bytes) + text + weights);
  std::filesystem::resize_file(model_file("model.safetensors"),
                               sizeof header_bytes + text.size() + weights.size() + kVisionBytes);
  const Finished inspected = run_tessera({"inspect", model(), "--json"});
  ASSERT_EQ(inspected.exit_code, 0) << inspected.err;
  const auto found = nlohmann::json::parse(inspected.out);
  EXPECT_GT(found["tensor_bytes"], kVisionBytes);
  for (const auto& bound : found["bounds"]) EXPECT_TRUE(bound["weights_fit"]) << bound;
  EXPECT_THAT(run_tessera({"inspect", model()}).out, Not(HasSubstr("too big")));
}

/// Whoever reads the published names and whoever reads the files' find the same tensors.
TEST_F(SynthTest, TensorsAreInspectedByTheirNameInTheFileAndByTheCanonicalOne) {
  ASSERT_EQ(run_tessera({"synth", path("prefixed"), "--prefix", "language_model.model."}).exit_code, 0);
  const Finished stored =
      run_tessera({"inspect", path("prefixed"), "--tensors", "language_model.model.layers.0.*norm*"});
  ASSERT_EQ(stored.exit_code, 0) << stored.err;
  EXPECT_THAT(stored.out, HasSubstr("layers.0.input_layernorm.weight"));
  const Finished canonical = run_tessera({"inspect", path("prefixed"), "--tensors", "model.layers.0.*norm*"});
  EXPECT_EQ(canonical.out, stored.out);
  const Finished json = run_tessera({"inspect", path("prefixed"), "--tensors", "model.layers.0.input*norm*", "--json"});
  const auto listed = nlohmann::json::parse(json.out);
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0]["name"], "language_model.model.layers.0.input_layernorm.weight");
  EXPECT_EQ(listed[0]["dtype"], "BF16");
  ASSERT_EQ(listed[0]["shape"].size(), 1U);
  EXPECT_EQ(listed[0]["bytes"], 2 * listed[0]["shape"][0].get<int>());
  const Finished neither = run_tessera({"inspect", path("prefixed"), "--tensors", "layers.0.*norm*"});
  EXPECT_EQ(neither.exit_code, 1);
  EXPECT_THAT(neither.err, HasSubstr("no tensor matches \"layers.0.*norm*\""));
}

/// A megabyte is 10^6 bytes of weights; a tensor that is larger has a file of its own.
TEST_F(SynthTest, AFileHoldsNoMoreThanItsMegabytes) {
  const auto expect_at_most = [&](const std::string& name, uint64_t megabytes) {
    int files = 0;
    for (const auto& file : std::filesystem::directory_iterator(path(name))) {
      if (file.path().extension() != ".safetensors") continue;
      files++;
      const std::string bytes = read_file(file.path());
      uint64_t header_bytes = 0;
      std::memcpy(&header_bytes, bytes.data(), sizeof header_bytes);
      if (nlohmann::json::parse(bytes.substr(sizeof header_bytes, header_bytes)).size() <= 2)
        continue;  // with metadata
      EXPECT_LE(bytes.size() - sizeof header_bytes - header_bytes, megabytes * 1'000'000) << file.path();
    }
    EXPECT_GT(files, 1) << name;
  };
  for (const int megabytes : {1, 2}) {
    const std::string limit = std::to_string(megabytes), source = "bf16 " + limit, quantized = "fp8 " + limit;
    ASSERT_EQ(run_tessera({"synth", path(source), "--format", "bf16", "--shard-size", limit}).exit_code, 0);
    expect_at_most(source, megabytes);
    ASSERT_EQ(
        run_tessera({"quantize", path(source), path(quantized), "--format", "fp8", "--shard-size", limit}).exit_code,
        0);
    expect_at_most(quantized, megabytes);
  }
}

TEST_F(SynthTest, TheSameSeedGivesTheSameBytes) {
  ASSERT_EQ(run_tessera({"synth", path("same"), "--seed", "7"}).exit_code, 0);
  ASSERT_EQ(run_tessera({"synth", path("other"), "--seed", "8"}).exit_code, 0);
  const std::string weights = read_file(model_file("model.safetensors"));
  EXPECT_EQ(read_file(path("same/model.safetensors")), weights);
  EXPECT_NE(read_file(path("other/model.safetensors")), weights);
}

TEST_F(SynthTest, RefusesWhatCannotBe) {
  const Finished again = run_tessera({"synth", model()});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("already holds a checkpoint"));
  const Finished huge = run_tessera({"synth", path("huge"), "--preset", "397b", "--vocab-size", "10000000", "--layers",
                                     "4000", "--num-experts", "1"});
  EXPECT_EQ(huge.exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(path("huge")));
  const Finished vocabulary = run_tessera({"synth", path("small"), "--vocab-size", "100"});
  EXPECT_EQ(vocabulary.exit_code, 1);
  EXPECT_THAT(vocabulary.err, HasSubstr("--no-tokenizer"));
  EXPECT_EQ(run_tessera({"synth", path("small"), "--vocab-size", "100", "--no-tokenizer"}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(path("small/tokenizer.json")));
  const std::string less = "--vocab-size is 100, less than the ";
  const size_t at = vocabulary.err.find(less);
  ASSERT_NE(at, std::string::npos) << vocabulary.err;
  const int64_t tokens = std::stoll(vocabulary.err.substr(at + less.size()));  // of the tokenizer: these have to fit
  EXPECT_EQ(run_tessera({"synth", path("full"), "--vocab-size", std::to_string(tokens - 1)}).exit_code, 1);
  EXPECT_EQ(run_tessera({"synth", path("full"), "--vocab-size", std::to_string(tokens)}).exit_code, 0);
  EXPECT_EQ(run_tessera({"tokenize", path("full"), "Hi"}).exit_code, 0);
  const Finished columns = run_tessera({"synth", path("odd"), "--moe-intermediate-size", "40"});
  EXPECT_EQ(columns.exit_code, 1);
  EXPECT_THAT(columns.err, HasSubstr("groups of 16"));
  EXPECT_THAT(run_tessera({"synth", ""}).err, HasSubstr("name is empty"));
}

}  // namespace
}  // namespace tessera::cli
