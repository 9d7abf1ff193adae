#include "model/weight_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "base/ascii.h"
#include "checkpoint_files.h"
#include "format/quantize.h"
#include "model/loaded_model.h"
#include "model/requantize.h"

namespace tessera::model {
namespace {

using format::Dialect;
using format::WeightFormat;
using test::TempDirectory;
using ::testing::HasSubstr;

/// Named mixtures, and single formats of routed experts and MLPs.
std::vector<std::pair<std::string, KindFormats>> mixtures() {
  std::vector<std::pair<std::string, KindFormats>> all;
  for (const char* name : {"p1", "v2", "p6"}) all.emplace_back(name, *profile_formats(name));
  for (const WeightFormat format : {WeightFormat::mxfp4, WeightFormat::fp8_e4m3}) {
    all.emplace_back(format::name(format), KindFormats{{TensorKind::routed_expert, format}, {TensorKind::mlp, format}});
  }
  all.emplace_back("bf16", KindFormats{});
  return all;
}

std::vector<float> logits_of(const std::string& directory) {
  LoadedModel model(directory, kernels::Compute::bf16);
  std::vector<int32_t> tokens(20);
  for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<int32_t>(i * 37 % model.vocab());
  return model.step(tokens, 0, kernels::RowClass::prefill);
}

TEST(WeightProfile, EveryMixtureLoadsAndIsReadBackFromItsConfig) {
  for (const bool is_moe : {true, false}) {
    for (const auto& [name, formats] : mixtures()) {
      for (const Dialect dialect : {Dialect::modelopt, Dialect::compressed_tensors}) {
        SCOPED_TRACE(fmt::format("{}, {}{}", name, dialect == Dialect::modelopt ? "ModelOpt" : "compressed-tensors",
                                 is_moe ? "" : ", dense"));
        const TempDirectory directory;
        const SynthShape shape = test::small_shape(is_moe);
        test::synthesize(directory / "model", {.shape = shape, .formats = formats, .dialect = dialect});
        for (const float logit : logits_of(directory / "model")) ASSERT_TRUE(std::isfinite(logit));

        const auto config = synth_config(shape);
        const auto told = configured_formats(format::Checkpoint::without_weights(directory / "model"), *config);
        ASSERT_TRUE(told.ok()) << told.status().message();
        const auto stored = plan_weights(test::open(directory / "model"), *config);
        ASSERT_TRUE(stored.ok()) << stored.status().message();
        const WeightPlan made_up = *plan_dummy_weights(*config, *told);
        EXPECT_EQ(made_up.stored_bytes(), stored->stored_bytes());
        EXPECT_EQ(profile_name(made_up), profile_name(*stored));
      }
    }
  }
}

TEST(WeightProfile, HasAName) {
  const auto config = synth_config(test::small_shape());
  const auto name_of = [&](const KindFormats& formats) { return profile_name(*plan_dummy_weights(*config, formats)); };
  EXPECT_EQ(name_of(*profile_formats("p1")), "P1");
  EXPECT_EQ(name_of(*profile_formats("v2")), "V2");
  EXPECT_EQ(name_of(*profile_formats("p6")), "P6");
  EXPECT_EQ(name_of({}), "BF16");
  EXPECT_EQ(name_of({{TensorKind::routed_expert, WeightFormat::mxfp4}}), "mixed");
  EXPECT_THAT(profile_formats("p9").status().message(), HasSubstr("p1, v2, p6"));
  const WeightPlan v2 = *plan_dummy_weights(*config, *profile_formats("p1"), {.requantize_projections = true});
  EXPECT_EQ(profile_name(v2), "V2");
  // The MTP head and what it draws drafts from have no part in it.
  const PlanOptions drafting{.with_mtp = true, .draft_head = WeightFormat::fp8_e4m3};
  EXPECT_EQ(profile_name(*plan_dummy_weights(*config, *profile_formats("p1"), drafting)), "P1");
  EXPECT_EQ(profile_name(*plan_dummy_weights(*config, {{TensorKind::mtp, WeightFormat::nvfp4}}, drafting)), "BF16");
}

/// One expert in another format than the others, and the checkpoint is of no profile.
TEST(WeightProfile, IsOfEveryMatrixOfAKind) {
  const SynthShape shape = test::small_shape();
  for (const char* profile : {"p1", "v2", "p6"}) {
    const TempDirectory directory;
    test::synthesize(directory / "model", {.shape = shape, .formats = *profile_formats(profile)});
    const auto found = [&] {
      const auto plan = plan_weights(test::open(directory / "model"), *synth_config(shape));
      EXPECT_TRUE(plan.ok()) << plan.status().message();
      return plan.ok() ? profile_name(*plan) : "";
    };
    EXPECT_EQ(found(), upper(profile));
    test::rewrite(directory / "model", [&](auto& tensors) {
      const std::string weight = "model.language_model.layers.2.mlp.experts.3.down_proj.weight";
      const std::vector<int64_t> dims = {shape.hidden_size, shape.moe_intermediate_size};
      tensors[weight] = {weight, "BF16", dims, std::string(static_cast<size_t>(2 * dims[0] * dims[1]), '\0')};
      tensors.erase(weight + "_scale");
      tensors.erase(weight + "_scale_2");
    });
    EXPECT_EQ(found(), "mixed") << profile;
  }
}

/// As compressed-tensors reads it: what is ignored stays as it is, a name goes before "Linear" wherever it stands.
TEST(WeightProfile, IgnoredModulesAndNamedOnesGoFirst) {
  const TempDirectory directory;
  test::synthesize(directory / "model", {.shape = test::small_shape()});
  const auto config = synth_config(test::small_shape());
  const auto path = directory / "model/config.json";
  const std::string attention = R"({"targets": ["re:.*self_attn.*"], "weights": {"num_bits": 8, "type": "float"}})";
  const std::string four_bits = R"("weights": {"num_bits": 4, "type": "float", "group_size": 16}})";
  const std::string linear = R"({"targets": ["Linear"], )" + four_bits;
  for (const bool first : {true, false}) {
    std::ofstream(path) << R"({"quantization_config": {"quant_method": "compressed-tensors", "config_groups": {"a": )"
                        << (first ? attention : linear) << R"(, "b": )" << (first ? linear : attention)
                        << R"(}, "ignore": ["lm_head"]}})";
    const auto told = configured_formats(format::Checkpoint::without_weights(directory / "model"), *config);
    ASSERT_TRUE(told.ok()) << told.status().message();
    EXPECT_EQ(told->at(TensorKind::attention), WeightFormat::fp8_e4m3);
    EXPECT_EQ(told->at(TensorKind::routed_expert), WeightFormat::nvfp4);
    EXPECT_FALSE(told->contains(TensorKind::lm_head));
    EXPECT_FALSE(told->contains(TensorKind::embed));
  }
  std::ofstream(path) << R"({"quantization_config": {"quant_method": "compressed-tensors", "config_groups": {"a": )"
                      << R"({"targets": ["re:.*mlp.*"], )" << four_bits << R"(}, "ignore": ["re:.*gate$"]}})";
  const auto told = configured_formats(format::Checkpoint::without_weights(directory / "model"), *config);
  ASSERT_TRUE(told.ok()) << told.status().message();
  EXPECT_EQ(told->at(TensorKind::routed_expert), WeightFormat::nvfp4);
  EXPECT_EQ(told->at(TensorKind::shared_expert), WeightFormat::nvfp4);
  EXPECT_FALSE(told->contains(TensorKind::router));
  EXPECT_FALSE(told->contains(TensorKind::attention));
}

/// A name is about a module, or about all that is in one.
TEST(WeightProfile, ABeginningOfANameIgnoresNothing) {
  const TempDirectory directory;
  test::synthesize(directory / "model", {.shape = test::small_shape()});
  const auto formats_ignoring = [&](const char* name) {
    std::ofstream(directory / "model/config.json")
        << R"({"quantization_config": {"quant_method": "compressed-tensors", "config_groups": {"a": )"
        << R"({"targets": ["Linear"], "weights": {"num_bits": 4, "type": "float", "group_size": 16}}}, "ignore": [")"
        << name << R"("]}})";
    return *configured_formats(format::Checkpoint::without_weights(directory / "model"),
                               *synth_config(test::small_shape()));
  };
  EXPECT_FALSE(formats_ignoring("lm_head").contains(TensorKind::lm_head));
  EXPECT_TRUE(formats_ignoring("lm").contains(TensorKind::lm_head));
  EXPECT_FALSE(formats_ignoring("re:.*self_attn").contains(TensorKind::attention));
  EXPECT_TRUE(formats_ignoring("re:self_attn").contains(TensorKind::attention)) << "a name begins otherwise";
  EXPECT_FALSE(formats_ignoring("model.layers").contains(TensorKind::attention));
  EXPECT_FALSE(formats_ignoring("language_model.model.layers").contains(TensorKind::attention));
  EXPECT_TRUE(formats_ignoring("model.layer").contains(TensorKind::attention));
  // Of a kind the middle one counts: the first layers are often left alone.
  EXPECT_TRUE(formats_ignoring("model.layers.0").contains(TensorKind::routed_expert));
  EXPECT_FALSE(formats_ignoring("model.layers.2").contains(TensorKind::routed_expert));
}

TEST(WeightProfile, AnUnknownQuantisationIsNotTakenForBf16) {
  const TempDirectory directory;
  test::synthesize(directory / "model", {.shape = test::small_shape()});
  std::string config = test::read_file(directory / "model/config.json");
  config.insert(1, R"("quantization_config": {"quant_method": "awq", "bits": 4},)");
  directory.write("model/config.json", config);
  const auto told =
      configured_formats(format::Checkpoint::without_weights(directory / "model"), *synth_config(test::small_shape()));
  EXPECT_EQ(told.status().code(), StatusCode::unsupported);
  EXPECT_THAT(told.status().message(), HasSubstr("awq"));
}

/// Both spellings of the experts, with the same weights.
TEST(ExpertDialects, GiveTheSameBits) {
  const TempDirectory directory;
  const SynthShape shape = test::small_shape();
  for (const char* name : {"fused", "single"}) {
    test::synthesize(directory / name, {.shape = shape, .fused_experts = true});
  }
  test::rewrite(directory / "single", [&](auto& tensors) {
    auto fused = tensors;
    for (const auto& [name, tensor] : fused) {
      const size_t at = name.find(".experts.");
      if (at == std::string::npos) continue;
      const std::string experts = name.substr(0, at + 9);
      const bool gate_up = name.ends_with("gate_up_proj");
      const size_t bytes = tensor.data.size() / static_cast<size_t>(shape.num_experts);
      for (int64_t e = 0; e < shape.num_experts; ++e) {
        const std::string data = tensor.data.substr(static_cast<size_t>(e) * bytes, bytes);
        const auto add = [&](const char* module, int64_t rows, const std::string& part) {
          const std::string single = fmt::format("{}{}.{}.weight", experts, e, module);
          tensors[single] = {single, "BF16", {rows, tensor.shape[2]}, part};
        };
        if (gate_up) {
          add("gate_proj", tensor.shape[1] / 2, data.substr(0, bytes / 2));
          add("up_proj", tensor.shape[1] / 2, data.substr(bytes / 2));
        } else {
          add("down_proj", tensor.shape[1], data);
        }
      }
      tensors.erase(name);
    }
  });
  EXPECT_EQ(logits_of(directory / "fused"), logits_of(directory / "single"));
}

// ---- --requantize-projections ----

format::MatrixView view_of(const std::vector<float>& values, int64_t rows, int64_t cols) {
  format::MatrixView view;
  view.rows = rows;
  view.cols = cols;
  view.data = reinterpret_cast<const std::byte*>(values.data());
  return view;
}

float max_magnitude(std::span<const float> values) {
  float amax = 0;
  for (const float value : values) amax = std::max(amax, std::abs(value));
  return amax;
}

TEST(Requantizer, RoundsEachRowByItsOwnScale) {
  constexpr int64_t kRows = 37, kCols = 48;
  std::vector<float> values(kRows * kCols);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto row = static_cast<float>(i / kCols);
    values[i] = std::sin(static_cast<float>(i)) * std::ldexp(1.0F, static_cast<int>(row) - 18);
  }
  std::fill_n(values.begin() + 5 * kCols, kCols, 0.0F);
  std::fill_n(values.begin() + 9 * kCols, kCols, -3000.0F);  // its largest magnitude is below 0
  const format::MatrixView view = view_of(values, kRows, kCols);
  Requantizer requantizer(nullptr);
  const auto found = requantizer.requantize(view, format::WeightFormat::fp8_e4m3);
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_EQ(found->row_scales.size(), static_cast<size_t>(kRows));
  for (size_t row = 0; row < static_cast<size_t>(kRows); ++row) {
    EXPECT_EQ(found->row_scales[row],
              format::fp8_tensor_scale(max_magnitude(std::span(values).subspan(row * kCols, kCols))))
        << "row " << row;
  }
  const auto decoded = test::decode(*found);
  for (size_t i = 0; i < values.size(); ++i) {
    // Three bits behind the point: half a step is a 16th, of numbers that are not too small for E4M3's exponents.
    const float scale = found->row_scales[i / kCols];
    EXPECT_NEAR(decoded[i], values[i], std::max(std::abs(values[i]) / 16, scale * 0x1p-10F)) << i;
  }
}

TEST(Requantizer, RefusesWhatIsNotFinite) {
  constexpr int64_t kRows = 37, kCols = 48;
  std::vector<float> values(kRows * kCols, 1.0F);
  const format::MatrixView view = view_of(values, kRows, kCols);
  struct Place {
    int64_t row, col;
  };
  for (const auto& [row, col] : {Place{7, 3}, {0, 0}, {36, 47}}) {
    for (const float bad : {NAN, INFINITY, -INFINITY}) {
      float& value = values[static_cast<size_t>(row * kCols + col)];
      value = bad;
      for (const auto format : {format::WeightFormat::fp8_e4m3, format::WeightFormat::nvfp4}) {
        Requantizer requantizer(nullptr);
        const Status damaged = requantizer.requantize(view, format).status();
        EXPECT_EQ(damaged.code(), StatusCode::corrupt_data) << bad;
        EXPECT_THAT(damaged.message(), HasSubstr(fmt::format("row {}, column {}", row, col)));
      }
      value = 1;
    }
  }
}

TEST(Requantizer, MakesNvfp4) {
  constexpr int64_t kRows = 33;
  for (const int64_t cols : {64, 16}) {  // several groups, and one
    std::vector<float> values(static_cast<size_t>(kRows * cols));
    for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i)) * 0.1F;
    const format::MatrixView view = view_of(values, kRows, cols);
    Requantizer requantizer(nullptr);
    const auto found = requantizer.requantize(view, format::WeightFormat::nvfp4);
    ASSERT_TRUE(found.ok()) << found.status().message();
    ASSERT_NE(found->block_scales, nullptr);
    EXPECT_EQ(found->scale, format::nvfp4_tensor_scale(max_magnitude(values)).multiplier);
    const auto decoded = test::decode(*found);
    double error = 0, squares = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      error += (decoded[i] - values[i]) * (decoded[i] - values[i]);
      squares += values[i] * values[i];
    }
    EXPECT_LT(std::sqrt(error / squares), 0.12);
    EXPECT_GT(error, 0);
  }
}

/// Drafts are drawn from a copy of lm_head, which nothing else reads.
TEST(DraftHead, IsACopyOfTheHeadInFewerBytes) {
  const TempDirectory directory;
  SynthShape shape = test::small_shape();
  test::synthesize(directory / "model", {.shape = shape});
  const auto checkpoint = test::open(directory / "model");
  const auto config = synth_config(shape);
  ASSERT_GT(config->mtp_layers, 0);
  ThreadPool pool(2);
  kernels::Workspace workspace;
  const auto bytes = [&](const PlanOptions& options) {
    const auto backend = kernels::cpu::make_backend({kernels::Compute::bf16, &pool, &workspace});
    const auto plan = plan_weights(checkpoint, *config, options);
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    const auto model = Model::load(checkpoint, *config, *backend, {.plan = options});
    EXPECT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(plan->placed_bytes(*backend), backend->weight_bytes()) << "the fit report counts it";
    EXPECT_EQ(plan->traffic().fixed_bytes, plan_weights(checkpoint, *config)->traffic().fixed_bytes);
    EXPECT_EQ(plan->requantized().matrices, 0);
    return backend->weight_bytes();
  };
  const size_t without = bytes({.with_mtp = true});
  const size_t fp8 = bytes({.with_mtp = true, .draft_head = WeightFormat::fp8_e4m3}) - without;
  const size_t nvfp4 = bytes({.with_mtp = true, .draft_head = WeightFormat::nvfp4}) - without;
  const auto weights = static_cast<size_t>(config->vocab_size * config->hidden_size);
  EXPECT_GE(fp8, weights);
  EXPECT_LT(fp8, weights + weights / 4);
  EXPECT_GE(nvfp4, weights / 2);
  EXPECT_LT(nvfp4, weights * 3 / 4);
  EXPECT_EQ(bytes({.draft_head = WeightFormat::fp8_e4m3}), bytes({})) << "where nothing is drafted";
}

TEST(DraftHead, IsNoneWhereTheHeadIsSmallAsItIs) {
  const TempDirectory directory;
  const SynthShape shape = test::small_shape();
  test::synthesize(directory / "model", {.shape = shape, .formats = {{TensorKind::lm_head, WeightFormat::fp8_e4m3}}});
  const auto checkpoint = test::open(directory / "model");
  const auto config = synth_config(shape);
  const auto plan = plan_weights(checkpoint, *config, {.with_mtp = true, .draft_head = WeightFormat::nvfp4});
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(plan->stored_bytes(), plan_weights(checkpoint, *config, {.with_mtp = true})->stored_bytes());
}

TEST(Requantize, ChangesProjectionsAndNothingElse) {
  const TempDirectory directory;
  const SynthShape shape = test::small_shape();
  test::synthesize(directory / "model",
                   {.shape = shape, .formats = {{TensorKind::routed_expert, WeightFormat::nvfp4}}});
  const auto checkpoint = test::open(directory / "model");
  const auto config = synth_config(shape);
  const PlanOptions options{.requantize_projections = true};
  const auto plan = plan_weights(checkpoint, *config, options);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  plan->for_each([&](const PlannedBlock&, const Placement& p) {
    if (p.matrix == nullptr) return;
    const bool projection =
        p.kind == TensorKind::attention || p.kind == TensorKind::delta_net || p.kind == TensorKind::shared_expert;
    EXPECT_EQ(p.becomes.has_value(), projection) << p.name;
    EXPECT_EQ(format::name(p.matrix->format), projection ? "FP8" : format::name(p.stored.format)) << p.name;
  });
  ThreadPool pool(2);
  kernels::Workspace workspace;
  const auto backend = kernels::cpu::make_backend({kernels::Compute::bf16, &pool, &workspace});
  const auto model = Model::load(checkpoint, *config, *backend, {.plan = options});
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(plan->placed_bytes(*backend), backend->weight_bytes());
  EXPECT_EQ((*model)->traffic().fixed_bytes, plan->traffic().fixed_bytes);
  EXPECT_LT((*model)->traffic().fixed_bytes, plan_weights(checkpoint, *config)->traffic().fixed_bytes);
}

}  // namespace
}  // namespace tessera::model
