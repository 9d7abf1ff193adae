#include "cli/settings.h"

#include <gmock/gmock.h>

#include <map>
#include <string>

namespace tessera::cli {
namespace {

using Settings = std::map<std::string, Setting>;

Settings settings_of(const EngineOptions& options, const FitReport& fit) {
  Settings by_name;
  for (const Setting& setting : engine_settings(options, fit)) {
    EXPECT_TRUE(by_name.emplace(setting.name, setting).second) << setting.name;
  }
  return by_name;
}

TEST(Settings, ValuesAreThoseOfTheFit) {
  const FitReport fit{.kv_block_bytes = 1'000'000,
                      .kv_blocks = 30,
                      .state_slot_bytes = 500'000,
                      .max_num_seqs = 5,
                      .kept_states = 7,
                      .max_model_len = 4096,
                      .max_num_batched_tokens = 512,
                      .kv_cache_dtype = "fp8"};
  const EngineOptions given{.device = "cpu",
                            .kv_cache_dtype = "bfloat16",
                            .max_model_len = 9000,
                            .max_num_seqs = 9,
                            .max_num_batched_tokens = 900,
                            .memory_bytes = 90'000'000,
                            .threads = 2};
  const Settings chosen = settings_of({}, fit), by_flag = settings_of(given, fit);
  for (const auto& [name, value] : std::map<std::string, std::string>{{"device", "cpu"},
                                                                      {"sequences at once", "5"},
                                                                      {"tokens of a sequence", "4096"},
                                                                      {"rows of a step", "512"},
                                                                      {"KV cache and states", "36.0 MB"},
                                                                      {"keys and values", "fp8"}}) {
    EXPECT_EQ(chosen.at(name).value, value) << name;
    EXPECT_EQ(by_flag.at(name).value, value) << name;
    EXPECT_NE(chosen.at(name).why, "by flag or command") << name;
    EXPECT_EQ(by_flag.at(name).why, "by flag or command") << name;
  }
  EXPECT_EQ(by_flag.at("threads").value, "2");
  EXPECT_FALSE(chosen.contains("GPU memory"));
}

TEST(Settings, AGpuHasItsOwn) {
  const FitReport fit{.device = "cuda:0", .kv_cache_dtype = "fp8"};
  const Settings all = settings_of({.gpu_memory_utilization = 0.75, .cuda_graphs = false}, fit);
  EXPECT_EQ(all.at("device").value, "cuda:0");
  EXPECT_EQ(all.at("GPU memory").value, "75 %");
  EXPECT_EQ(all.at("CUDA graphs").value, "off");
  EXPECT_EQ(all.at("dependent launch").value, "on");
  EXPECT_EQ(settings_of({.pdl = false}, fit).at("dependent launch").value, "off");
}

}  // namespace
}  // namespace tessera::cli
