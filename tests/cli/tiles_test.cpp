#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "base/temp_directory.h"
#include "cli/model_directory.h"
#include "cli/process.h"

namespace tessera::cli {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(Tiles, PrintsTheTableOfAnAbsentGpu) {
  const Finished result = run_tessera({"tiles", "--gpu", "rtx-pro-6000"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, IsEmpty());
  EXPECT_THAT(result.out, HasSubstr("RTX PRO 6000: compute capability 12.0, 188 SMs, 101376 B"));
  EXPECT_THAT(result.out, HasSubstr("\n64x8x256     decode        3    13312    39984          2"));
  const std::string one = run_tessera({"tiles", "--gpu", "rtx-pro-6000", "--tokens", "1"}).out;
  EXPECT_THAT(one, HasSubstr("  gate_up\n"));
  EXPECT_THAT(one, HasSubstr("  down\n"));
  EXPECT_THAT(run_tessera({"tiles", "--gpu", "rtx-pro-6000", "--tokens", "512"}).out, HasSubstr("gate_up, down\n"));
  EXPECT_THAT(result.out, HasSubstr("--explain says why"));
  EXPECT_THAT(result.out, HasSubstr("not measurements"));
  EXPECT_THAT(result.out, Not(HasSubstr("over 50176")));
}

TEST(Tiles, TheLayersFastestComeFirst) {
  const Arguments tiles = {"tiles", "--gpu", "rtx-pro-6000", "--tokens", "64"};
  const std::string text = run_tessera(tiles).out;
  std::istringstream lines(text.substr(text.find("\ntile ") + 1));
  std::vector<std::string> shown;
  std::string line;
  for (std::getline(lines, line); std::getline(lines, line) && !line.empty();) {
    shown.push_back(line.substr(0, line.find(' ')));
  }
  Arguments as_json = tiles;
  as_json.emplace_back("--json");
  const auto json = nlohmann::json::parse(run_tessera(as_json).out);
  std::vector<std::pair<double, std::string>> times;
  for (const auto& tile : json["tiles"]) {
    if (!tile["kept"].get<bool>()) continue;
    times.emplace_back(tile["gate_up"]["estimate_us"].get<double>() + tile["down"]["estimate_us"].get<double>(),
                       fmt::format("{}x{}x{}", tile["m"].get<int>(), tile["n"].get<int>(), tile["k"].get<int>()));
  }
  std::ranges::stable_sort(times, {}, [](const auto& timed) { return timed.first; });
  std::vector<std::string> expected;
  for (const auto& timed : times) expected.push_back(timed.second);
  EXPECT_EQ(shown, expected);
}

TEST(Tiles, ExplainsRejectionsWithBytes) {
  const Finished result = run_tessera({"tiles", "--gpu", "dgx-spark", "--explain", "--path", "w4a4"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("55328 B, 5152 B over 50176 (2 blocks an SM)"));
  EXPECT_THAT(result.out, Not(HasSubstr("emulated")));
  EXPECT_THAT(run_tessera({"tiles", "--gpu", "h200", "--path", "w4a4"}).out, HasSubstr("emulated"));
}

TEST(Tiles, WhatNeedsAGpuSaysSoWithoutOne) {
  ASSERT_EQ(::setenv("CUDA_VISIBLE_DEVICES", "", 1), 0);  // whatever this machine has
  for (const auto& command : std::vector<std::vector<std::string>>{{"tune"},
                                                                   {"tune", "35b", "--format", "nvfp4,mxfp4"},
                                                                   {"bench", "moe", "--tokens", "1,64"},
                                                                   {"bench", "moe", "35b", "--tiles"},
                                                                   {"selftest"}}) {
    const Finished result = run_tessera(command);
    EXPECT_EQ(result.exit_code, 1) << command[0];
    EXPECT_THAT(result.out, IsEmpty()) << command[0];
    EXPECT_THAT(result.err, AnyOf(HasSubstr("built without CUDA"), HasSubstr("no NVIDIA GPU"))) << command[0];
  }
  ASSERT_EQ(::unsetenv("CUDA_VISIBLE_DEVICES"), 0);
  EXPECT_THAT(run_tessera({"tune", "13b"}).err, HasSubstr("deepseek-v3"));
  EXPECT_THAT(run_tessera({"bench", "moe", "--tokens", "0"}).err, HasSubstr("65536"));
  EXPECT_EQ(run_tessera({"bench"}).exit_code, 2);
  EXPECT_THAT(run_tessera({"bench", "engine", "--output", "0"}).err, HasSubstr("--output"));
  EXPECT_THAT(run_tessera({"bench", "engine", "MODEL", "--routing", "skewed"}).err, HasSubstr("dummy weights"));
}

TEST(Tiles, ThePageHasEveryTile) {
  const test::TempDirectory directory;
  const std::string file = (directory / "tiles.html").string();
  const Finished result = run_tessera({"tiles", "--gpu", "rtx-pro-6000", "--html", file});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, IsEmpty());
  const std::string page = read_file(file);
  const auto tiles = nlohmann::json::parse(run_tessera({"tiles", "--gpu", "rtx-pro-6000", "--json"}).out)["tiles"];
  for (const auto& tile : tiles) {
    EXPECT_THAT(page,
                HasSubstr(fmt::format(">{}x{}x{}<", tile["m"].get<int>(), tile["n"].get<int>(), tile["k"].get<int>())));
  }
  EXPECT_THAT(page, HasSubstr("| 102400 B"));
  EXPECT_THAT(page, HasSubstr("chosen: gate_up"));
  EXPECT_EQ(run_tessera({"tiles", "--html", file, "--json"}).exit_code, 2);
  EXPECT_THAT(run_tessera({"tiles", "--html", "/nowhere/tiles.html"}).err,
              HasSubstr("cannot write /nowhere/tiles.html"));
}

TEST(Tiles, JsonHoldsEveryCandidate) {
  for (const char* gpu : {"rtx-pro-6000", "rtx-pro-5000", "rtx-5090", "dgx-spark", "h200", "b200"}) {
    for (const char* format : {"nvfp4", "mxfp4"}) {
      const Finished result = run_tessera(
          {"tiles", "--gpu", gpu, "--format", format, "--path", "w4a4", "--model", "35b", "--tokens", "1k", "--json"});
      ASSERT_EQ(result.exit_code, 0) << result.err;
      const auto json = nlohmann::json::parse(result.out);
      EXPECT_EQ(json["tokens"], 1000);
      EXPECT_EQ(json["format"], format);
      int chosen = 0;
      for (const auto& tile : json["tiles"]) {
        if (!tile["kept"].get<bool>()) {
          EXPECT_FALSE(tile["rejected_because"].get<std::string>().empty());
          continue;
        }
        EXPECT_LE(tile["smem_bytes"].get<int>(), 101'376);
        EXPECT_GE(tile["stages"].get<int>(), 2);
        EXPECT_GE(tile["blocks_per_sm"].get<int>(), tile["blocks_per_sm_wanted"].get<int>());
        for (const char* op : {"gate_up", "down"}) chosen += tile[op]["chosen"].get<bool>() ? 1 : 0;
      }
      EXPECT_EQ(chosen, 2) << gpu;
    }
  }
}

TEST(Tiles, ComparesWithTheStockList) {
  const Finished result = run_tessera({"tiles", "--compare", "k128"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("128x128x128    18432  18432"));
  EXPECT_THAT(result.out, HasSubstr("5 x 1"));
  EXPECT_THAT(result.out, HasSubstr("128x8x128"));
  EXPECT_THAT(result.out, Not(HasSubstr("none")));
  EXPECT_THAT(result.out, HasSubstr("H200 MXFP4 w4a4"));
}

TEST(Tiles, MistakesAreExplained) {
  const std::pair<Arguments, const char*> mistakes[] = {
      {{"tiles", "--gpu", "rtx-pro-600"}, "did you mean rtx-pro-6000?"},
      {{"tiles", "--model", "400b"}, "expected one of 397b, 397b-tp4"},
      {{"tiles", "--format", "fp8"}, "expected one of nvfp4, mxfp4"},
      {{"tiles", "--tokens", "65537"}, "expected a whole number from 0 to 65536"},
      {{"tiles", "--compare", "k64"}, "expected one of k128"},
      {{"tiles", "--compare", "k128", "--json"}, "excludes"},
  };
  for (const auto& [arguments, message] : mistakes) {
    const Finished result = run_tessera(arguments);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(message));
  }
}

}  // namespace
}  // namespace tessera::cli
