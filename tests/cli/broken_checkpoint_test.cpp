// What can be wrong with a model directory: each a clear line and exit code 1, before any answer.

#include <gmock/gmock.h>

#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

#include "cli/model_directory.h"
#include "format/safetensors.h"

namespace tessera::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class BrokenCheckpointTest : public ModelDirectoryTest {
 protected:
  void expect_failure(const std::string& message) const {
    const Finished result =
        run_tessera({"run", model(), "Hello", "--quiet", "--max-tokens", "2", "--max-model-len", "2048"});
    EXPECT_EQ(result.exit_code, 1) << message;
    EXPECT_THAT(result.out, IsEmpty()) << message;
    EXPECT_THAT(result.err, StartsWith("tessera: "));
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }

  using Edit = std::function<bool(format::SafetensorsWriter::Declaration& declaration, std::string& bytes)>;
  /// Writes model.safetensors again, each tensor as `edit` leaves it, or not if it returns false.
  void rewrite_tensors(const Edit& edit) const {
    const auto file = format::SafetensorsFile::open(model_file("model.safetensors"));
    ASSERT_TRUE(file.ok());
    std::vector<format::SafetensorsWriter::Declaration> declarations;
    std::vector<std::string> contents;
    for (const auto& [name, tensor] : (*file)->tensors()) {
      format::SafetensorsWriter::Declaration declaration{name, tensor.dtype, tensor.shape};
      std::string bytes(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
      if (!edit(declaration, bytes)) continue;
      declarations.push_back(std::move(declaration));
      contents.push_back(std::move(bytes));
    }
    auto writer = format::SafetensorsWriter::create(model_file("rewritten"), std::move(declarations));
    ASSERT_TRUE(writer.ok());
    for (const std::string& bytes : contents) ASSERT_TRUE(writer->write(std::as_bytes(std::span(bytes))).ok());
    ASSERT_TRUE(writer->finish().ok());
    std::filesystem::rename(model_file("rewritten"), model_file("model.safetensors"));
  }
  /// Overwrites the first element of a tensor.
  void poison(const std::string& tensor, const std::string& element) const {
    rewrite_tensors([&](auto& declaration, std::string& bytes) {
      if (declaration.name.ends_with(tensor)) bytes.replace(0, element.size(), element);
      return true;
    });
  }
};

TEST_F(BrokenCheckpointTest, TruncatedWeights) {
  std::filesystem::resize_file(model_file("model.safetensors"), 3'000'000);
  expect_failure("model.safetensors");
}

TEST_F(BrokenCheckpointTest, InspectSaysWhatIsMissing) {
  rewrite_tensors(
      [](auto& declaration, std::string&) { return !declaration.name.ends_with("layers.3.self_attn.q_norm.weight"); });
  const Finished text = run_tessera({"inspect", model()});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.out, HasSubstr("it cannot be loaded: "));
  EXPECT_THAT(text.out, Not(HasSubstr("a token uses")));  // what that would be is not known
  const auto json = nlohmann::json::parse(run_tessera({"inspect", model(), "--json"}).out);
  EXPECT_FALSE(json["complete"].get<bool>());
  EXPECT_EQ(json["experts"], 16);
  EXPECT_EQ(json["experts_per_token"], 4);
}

TEST_F(BrokenCheckpointTest, EmptyWeights) {
  write_file(model_file("model.safetensors"), "");
  expect_failure("model.safetensors");
}

TEST_F(BrokenCheckpointTest, GitLfsPointer) {
  write_file(model_file("model.safetensors"),
             "version https://git-lfs.github.com/spec/v1\noid sha256:4665a5\nsize 5127184\n");
  expect_failure("git lfs pull");
}

TEST_F(BrokenCheckpointTest, DanglingCacheLink) {
  std::filesystem::remove(model_file("model.safetensors"));
  std::filesystem::create_symlink("../../blobs/0123456789abcdef", model_file("model.safetensors"));
  expect_failure("dangles");
}

TEST_F(BrokenCheckpointTest, MissingShard) {
  write_file(model_file("model.safetensors.index.json"),
             R"({"metadata": {}, "weight_map": {"lm_head.weight": "model-00002-of-00002.safetensors"}})");
  expect_failure("model-00002-of-00002.safetensors");
}

TEST_F(BrokenCheckpointTest, NoWeights) {
  std::filesystem::remove(model_file("model.safetensors"));
  expect_failure(".safetensors");
}

TEST_F(BrokenCheckpointTest, MissingTensor) {
  rewrite_tensors(
      [](auto& declaration, std::string&) { return !declaration.name.ends_with("layers.2.linear_attn.A_log"); });
  expect_failure("model.layers.2.linear_attn.A_log");
}

TEST_F(BrokenCheckpointTest, WrongShape) {
  rewrite_tensors([](auto& declaration, std::string& bytes) {
    if (declaration.name.ends_with("layers.3.self_attn.o_proj.weight")) {
      declaration.shape = {64, 128};
      bytes.resize(64 * 128 * 2);
    }
    return true;
  });
  expect_failure("model.layers.3.self_attn.o_proj is [64, 128], expected [128, 256]");
}

TEST_F(BrokenCheckpointTest, WrongDtype) {
  rewrite_tensors([](auto& declaration, std::string&) {
    if (declaration.name.ends_with("layers.0.input_layernorm.weight")) {
      declaration.dtype = DType::i32;
      declaration.shape = {64};
    }
    return true;
  });
  expect_failure("model.layers.0.input_layernorm.weight");
}

TEST_F(BrokenCheckpointTest, ConfigOfAnotherModel) {
  std::string config = read_file(model_file("config.json"));
  const std::string hidden = "\"hidden_size\": 128";
  config.replace(config.find(hidden), hidden.size(), "\"hidden_size\": 256");
  write_file(model_file("config.json"), config);
  expect_failure("from config.json");
}

TEST_F(BrokenCheckpointTest, NanInWeights) {
  const std::string nan("\xC0\x7F", 2);  // BF16
  for (const char* tensor : {"layers.0.linear_attn.in_proj_qkv.weight", "layers.3.self_attn.q_proj.weight",
                             "embed_tokens.weight", "layers.1.input_layernorm.weight", "layers.1.mlp.gate.weight"}) {
    std::filesystem::remove_all(model());
    ASSERT_EQ(run_tessera({"synth", model()}).exit_code, 0);
    poison(tensor, nan);
    const std::string name(tensor);
    expect_failure(name.substr(0, name.rfind('.')));
  }
}

/// After hours of work: what was found out of the weights is kept, beside the line that says what is missing.
TEST_F(BrokenCheckpointTest, TheReportOfACopyThatCannotBeComparedIsWritten) {
  poison("layers.1.input_layernorm.weight", "\xC0\x7F");  // copied as it is, and refused where it is run
  write_file(path("text"), "The sum of two and three is five.");
  write_file(path("report.json"), "the last report");
  const Finished made = run_tessera({"quantize", model(), path("copy"), "--attention", "fp8", "--check", path("text"),
                                     "--device", "cpu", "--report", path("report.json")});
  EXPECT_EQ(made.exit_code, 1);
  EXPECT_THAT(made.err, HasSubstr("copy is written, but could not be compared with its source: "));
  EXPECT_THAT(made.err, HasSubstr("layers.1.input_layernorm"));
  EXPECT_TRUE(std::filesystem::exists(path("copy/model.safetensors")));
  const auto report = nlohmann::json::parse(read_file(path("report.json")), nullptr, /*allow_exceptions=*/false);
  ASSERT_TRUE(report.is_object()) << read_file(path("report.json"));
  EXPECT_FALSE(report["parts"].empty());
  EXPECT_FALSE(report.contains("check"));
}

TEST_F(BrokenCheckpointTest, NanInQuantizedWeights) {
  const std::string nan("\x7F", 1);  // E4M3 block scale
  poison("layers.0.mlp.experts.3.up_proj.weight_scale", nan);
  expect_failure("model.layers.0.mlp.experts.3");
}

TEST_F(BrokenCheckpointTest, NoConfig) {
  std::filesystem::remove(model_file("config.json"));
  expect_failure("config.json");
}

TEST_F(BrokenCheckpointTest, BrokenTexts) {
  const std::pair<const char*, const char*> broken[] = {
      {"config.json", "{"},
      {"config.json", "[]"},
      {"config.json", R"({"model_type": "llama"})"},
      {"hf_quant_config.json", "{"},
      {"generation_config.json", "{\"temperature\": \"hot\"}"},
      {"generation_config.json", "not json"},
      {"tokenizer.json", "{"},
      {"tokenizer.json", "{\"model\": {\"type\": \"WordPiece\"}}"},
      {"chat_template.jinja", "{% if %}"},
      {"chat_template.jinja", "{{ raise_exception('refused') }}"},
      {"chat_template.jinja", "{% for i in range(10**9) %}x{% endfor %}"},
  };
  for (const auto& [file, text] : broken) {
    const std::string good = read_file(model_file(file));
    write_file(model_file(file), text);
    expect_failure(file);
    write_file(model_file(file), good);
  }
}

TEST_F(BrokenCheckpointTest, NoTokenizer) {
  std::filesystem::remove(model_file("tokenizer.json"));
  expect_failure("no tokenizer.json");
}

TEST_F(BrokenCheckpointTest, NoModel) {
  std::filesystem::remove_all(model());
  expect_failure("no such directory");
}

}  // namespace
}  // namespace tessera::cli
