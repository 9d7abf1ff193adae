// What the quantiser does not do, and what it leaves then: nothing.

#include "quantize_fixture.h"

namespace tessera::model {
namespace {

using format::WeightFormat;
using test::Quantize;
using test::quantize;
using test::recipe;
using test::rewrite;
using test::small_shape;
using ::testing::HasSubstr;

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

/// A weight that cannot be rounded, and what is said of it.
struct SpoiltWeight {
  const char* what;
  SynthOptions synth;
  std::string tensor;
  size_t element;
  std::string bytes;
  KindFormats formats;
  StatusCode code;
  std::string message;
};

TEST_F(Quantize, NamesTheWeightThatCannotBeRounded) {
  const std::string up = "model.language_model.layers.2.mlp.experts.3.up_proj.weight";
  const std::string fused = "model.language_model.layers.1.mlp.experts.gate_up_proj";  // [5, 64, 64]
  const KindFormats head_to_bf16 = {{TensorKind::lm_head, WeightFormat::bf16}};
  const SpoiltWeight cases[] = {{"infinity",
                                 {.shape = small_shape()},
                                 up,
                                 5 * 64 + 7,
                                 "\x80\x7f",
                                 recipe("mlp"),
                                 StatusCode::corrupt_data,
                                 up + ": row 5, column 7 is inf"},
                                {"NaN of an expert in a fused tensor",
                                 {.shape = small_shape(), .fused_experts = true},
                                 fused,
                                 (4 * 64 + 32 + 9) * 64 + 1,
                                 "\xff\xff",
                                 recipe("mlp"),
                                 StatusCode::corrupt_data,
                                 "experts.4.up_proj of " + fused + ": row 9, column 1 is "},
                                {"beyond BF16",
                                 {.shape = small_shape(), .plain = WeightFormat::f32},
                                 "lm_head.weight",
                                 0,
                                 "\x9e\xc9\x7f\x7f",
                                 head_to_bf16,
                                 StatusCode::unsupported,
                                 "too large for BF16"}};
  for (const SpoiltWeight& c : cases) {
    SCOPED_TRACE(c.what);
    std::filesystem::remove_all(directory_ / "source");
    make_source(c.synth);
    rewrite(directory_ / "source", [&](auto& tensors) {
      tensors.at(c.tensor).data.replace(c.element * c.bytes.size(), c.bytes.size(), c.bytes);
    });
    const Status status = failure({.formats = c.formats});
    EXPECT_EQ(status.code(), c.code);
    EXPECT_THAT(status.message(), HasSubstr(c.message));
    // What is only copied may be as it is.
    std::filesystem::remove_all(directory_ / "copied");
    const bool head = c.tensor == "lm_head.weight";
    EXPECT_TRUE(
        run({.formats = {{head ? TensorKind::attention : TensorKind::lm_head, WeightFormat::nvfp4}}}, "copied").ok());
  }
}

TEST_F(Quantize, CopiesNoBrokenScales) {
  make_source({.shape = small_shape(), .formats = {{TensorKind::routed_expert, WeightFormat::nvfp4}}});
  const std::string scale = "model.language_model.layers.0.mlp.experts.1.up_proj.weight_scale_2";
  rewrite(directory_ / "source", [&](auto& tensors) { tensors.at(scale).data.assign(4, '\0'); });
  const Status status = failure({.formats = {{TensorKind::attention, WeightFormat::nvfp4}}});
  EXPECT_EQ(status.code(), StatusCode::corrupt_data);
  EXPECT_THAT(status.message(), HasSubstr("a scale must be finite and positive"));
}

TEST_F(Quantize, LeavesNothingWhenStopped) {
  make_source();
  size_t calls = 0;
  std::string reached;
  QuantizeOptions options{.formats = recipe("mlp")};
  options.progress = [&](size_t done, size_t total) {
    EXPECT_LE(done, total);
    reached = fmt::format("stopped after {} of {} bytes", done, total);
    return ++calls < 20;
  };
  const Status stopped = failure(options);
  EXPECT_EQ(stopped.code(), StatusCode::cancelled);
  EXPECT_THAT(stopped.message(), HasSubstr(reached));
  EXPECT_EQ(calls, 20U);
  size_t last = 0;
  options.progress = [&](size_t done, size_t total) {
    last = total - done;
    return true;
  };
  EXPECT_TRUE(run(options).ok());
  EXPECT_EQ(last, 0U);
}

/// Somebody else's, be it empty.
TEST_F(Quantize, ADestinationThatComesIntoBeingMeanwhileIsNotReplaced) {
  make_source();
  QuantizeOptions options{.formats = recipe("mlp")};
  options.progress = [&](size_t /*done*/, size_t /*total*/) {
    std::filesystem::create_directory(directory_ / "out");
    return true;
  };
  EXPECT_THAT(run(options).status().message(), HasSubstr("has come into being meanwhile"));
  EXPECT_TRUE(std::filesystem::is_empty(directory_ / "out"));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "out.partial"));
}

TEST_F(Quantize, RefusesWhatItDoesNotKnow) {
  make_source();
  EXPECT_EQ(failure({.formats = {{TensorKind::small, WeightFormat::nvfp4}}}).code(), StatusCode::invalid_argument);
  EXPECT_EQ(failure({.formats = {{TensorKind::mlp, WeightFormat::f16}}}).code(), StatusCode::invalid_argument);
  EXPECT_THAT(quantize_recipe("alll", WeightFormat::nvfp4).status().message(), HasSubstr("experts, mlp, balanced"));
  rewrite(directory_ / "source", [](auto& tensors) { tensors["odd"] = {"odd", "F64", {1}, "12345678"}; });
  EXPECT_THAT(failure({.formats = recipe("mlp")}).message(), HasSubstr("'odd' has dtype F64"));
}

}  // namespace
}  // namespace tessera::model
