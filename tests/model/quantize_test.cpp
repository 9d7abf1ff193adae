#include "model/quantize.h"

#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include "format/f16.h"
#include "quantize_fixture.h"

namespace tessera::model {
namespace {

using format::Checkpoint;
using format::Dialect;
using format::WeightFormat;
using test::check_result;
using test::decode;
using test::matrices;
using test::Quantize;
using test::quantize;
using test::read_directory;
using test::read_file;
using test::recipe;
using test::rewrite;
using test::small_shape;
using test::synthesize;
using test::TempDirectory;
using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

TEST_F(Quantize, DialectsDecodeToTheSameBits) {
  make_source();
  test::vary(directory_ / "source");
  ASSERT_TRUE(run({.formats = recipe("all"), .dialect = Dialect::modelopt}, "mo").ok());
  ASSERT_TRUE(run({.formats = recipe("all"), .dialect = Dialect::compressed_tensors}, "ct").ok());
  const Checkpoint modelopt = test::open(directory_ / "mo");
  const Checkpoint compressed = test::open(directory_ / "ct");
  const Checkpoint source = test::open(directory_ / "source");
  const auto ours = matrices(modelopt), originals = matrices(source);
  int global_scales = 0;
  for (const auto& [module, matrix] : matrices(compressed)) {
    const auto found = ours.find(module);
    ASSERT_NE(found, ours.end()) << module;
    EXPECT_EQ(std::bit_cast<uint32_t>(matrix.scale), std::bit_cast<uint32_t>(found->second.scale)) << module;
    EXPECT_EQ(decode(matrix), decode(found->second)) << module;
    if (matrix.format != WeightFormat::nvfp4) continue;
    // Each of the two spellings as it was chosen: the inverse of the other one may be off by a unit.
    const auto scale = format::nvfp4_tensor_scale(test::largest(originals, test::stack_of(module)));
    const auto stored = [&](const Checkpoint& checkpoint, const char* name) {
      float value = 0;
      std::memcpy(&value, checkpoint.tensors().at(module + name).bytes.data(), sizeof value);
      return value;
    };
    EXPECT_EQ(stored(compressed, ".weight_global_scale"), scale.divisor) << module;
    EXPECT_EQ(stored(modelopt, ".weight_scale_2"), scale.multiplier) << module;
    ++global_scales;
  }
  EXPECT_GT(global_scales, 50);
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
  const std::string text = R"("text_config": {)";
  config.insert(config.find(text) + text.size(), R"("quantization_config": {"quant_method": "older"},)");
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
  before["text_config"].erase("quantization_config");
  after.erase("quantization_config");
  EXPECT_EQ(before.dump(), after.dump());
}

TEST_F(Quantize, CopiesTheVisionTower) {
  make_source();
  rewrite(directory_ / "source", [](auto& tensors) {
    tensors["model.visual.blocks.0.attn.qkv.weight"] = {
        "model.visual.blocks.0.attn.qkv.weight", "BF16", {2, 3}, "abcdefghijkl"};
    tensors["model.visual.blocks.0.norm1.weight"] = {"model.visual.blocks.0.norm1.weight", "BF16", {2}, "abcd"};
    tensors["model.visual.pos_embed"] = {"model.visual.pos_embed", "BF16", {1, 2}, "abcd"};
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
  std::vector<std::string> listed = format::read_quantization_info(test::open(directory_ / "out"))->ignored;
  std::erase_if(listed, [](const std::string& module) { return module.find("visual") == std::string::npos; });
  EXPECT_THAT(listed, ::testing::Each("model.visual.blocks.0.attn.qkv"))
      << "norms and embeddings are no linear modules";
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
    const auto is_routed = [](const QuantizedPart& p) { return p.kind == TensorKind::routed_expert; };
    const auto routed = std::ranges::find_if(report->parts, is_routed);
    ASSERT_NE(routed, report->parts.end());
    EXPECT_EQ(routed->tensors, 4 * 5 * 3) << "scales are no matrices";
    EXPECT_EQ(routed->bytes_after, routed->bytes_before);
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

/// Without NVFP4, whose spelling is kept, a source's own dialect is what is written unless another one is asked for.
TEST_F(Quantize, WritesTheDialectThatIsAskedForOrTheSources) {
  const auto name_of = [](Dialect dialect) { return dialect == Dialect::modelopt ? "modelopt" : "compressed-tensors"; };
  for (const Dialect own : {Dialect::modelopt, Dialect::compressed_tensors}) {
    const TempDirectory directory;
    synthesize(directory / "source",
               {.shape = small_shape(), .formats = {{TensorKind::attention, WeightFormat::fp8_e4m3}}, .dialect = own});
    for (const std::optional<Dialect> asked :
         {std::optional<Dialect>(), std::optional(Dialect::modelopt), std::optional(Dialect::compressed_tensors)}) {
      const std::string out = fmt::format("out {}", asked ? name_of(*asked) : "");
      const auto report = quantize(directory / "source", directory / out, {.formats = recipe("mlp"), .dialect = asked});
      ASSERT_TRUE(report.ok()) << report.status().message();
      EXPECT_EQ(report->dialect, asked.value_or(own)) << name_of(own) << ", " << out;
      const Checkpoint source = test::open(directory / "source"), result = test::open(directory / out);
      EXPECT_EQ(format::read_quantization_info(result)->method, name_of(asked.value_or(own))) << out;
      for (const char* module : {"model.layers.3.self_attn.o_proj", "model.layers.3.self_attn.k_proj"}) {
        EXPECT_EQ(result.matrix(module)->format, WeightFormat::fp8_e4m3);
        EXPECT_EQ(decode(*result.matrix(module)), decode(*source.matrix(module))) << out;
      }
    }
  }
  make_source();
  const auto report = run({.formats = recipe("mlp")});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->dialect, Dialect::modelopt) << "of a source that has none";
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
