#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <tuple>
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

std::string shape_of(const nlohmann::json& tile) {
  return fmt::format("{}x{}x{}", tile["m"].get<int>(), tile["n"].get<int>(), tile["k"].get<int>());
}

/// What `tiles` says with `flags`, with one blank between words.
std::string words_of(Arguments flags) {
  flags.insert(flags.begin(), "tiles");
  return std::regex_replace(run_tessera(flags).out, std::regex(" {2,}"), " ");
}

nlohmann::json json_of(Arguments flags) {
  flags.insert(flags.begin(), "tiles");
  flags.emplace_back("--json");
  return nlohmann::json::parse(run_tessera(flags).out);
}

TEST(Tiles, WhatIsChosenForManyTokensIsWhatIsChosenForEach) {
  const std::string all = words_of({"--gpu", "rtx-pro-6000"});
  EXPECT_THAT(all, HasSubstr("\n 1 10 ")) << "experts of one token";
  for (const char* tokens : {"1", "64", "8192"}) {
    const auto json = json_of({"--gpu", "rtx-pro-6000", "--tokens", tokens});
    std::string row;
    for (const char* op : {"gate_up", "down"}) {
      for (const auto& tile : json["tiles"]) {
        if (!tile["kept"].get<bool>() || !tile[op]["chosen"].get<bool>()) continue;
        const double us = tile[op]["estimate_us"];
        row += fmt::format(" {} {:.{}f}", shape_of(tile), us, us < 10 ? 2 : us < 100 ? 1 : 0);
      }
    }
    EXPECT_TRUE(std::regex_search(all, std::regex(fmt::format("\n ?{} [0-9]+{}\n", tokens, row)))) << tokens << row;
  }
}

TEST(Tiles, TheLayersFastestComeFirst) {
  const Arguments tiles = {"tiles", "--gpu", "h200", "--tokens", "64"};
  const std::string text = run_tessera(tiles).out;
  std::istringstream lines(text.substr(text.find("\ntile ") + 1));
  std::vector<std::string> shown, figures;
  std::string line;
  for (std::getline(lines, line); std::getline(lines, line) && !line.empty();) {
    std::istringstream words(line);
    std::string family, six;
    words >> shown.emplace_back() >> family;
    for (int i = 0; i < 6 && words >> line; ++i) six += line + " ";
    figures.push_back(six);
  }
  Arguments as_json = tiles;
  as_json.emplace_back("--json");
  const auto json = nlohmann::json::parse(run_tessera(as_json).out);
  std::vector<std::tuple<double, std::string, std::string>> times;
  for (const auto& tile : json["tiles"]) {
    if (!tile["kept"].get<bool>()) continue;
    std::string six;
    for (const char* key : {"stages", "stage_bytes", "smem_bytes", "blocks_per_sm", "threads", "registers_estimate"}) {
      six += tile[key].dump() + " ";
    }
    times.emplace_back(tile["gate_up"]["estimate_us"].get<double>() + tile["down"]["estimate_us"].get<double>(),
                       shape_of(tile), six);
  }
  std::ranges::stable_sort(times, {}, [](const auto& timed) { return std::get<0>(timed); });
  std::vector<std::string> expected, expected_figures;
  for (const auto& timed : times) {
    expected.push_back(std::get<1>(timed));
    expected_figures.push_back(std::get<2>(timed));
  }
  EXPECT_EQ(shown, expected);
  EXPECT_EQ(figures, expected_figures);
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
        for (const char* op : {"gate_up", "down"}) {
          chosen += tile[op]["chosen"].get<bool>() ? 1 : 0;
          if (tile[op]["bound"] != "memory") continue;
          for (const char* other : {"l2_us", "smem_us", "mma_us", "issue_us"}) {
            EXPECT_LE(tile[op][other], tile[op]["memory_us"]) << tile;
          }
        }
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
  const std::string words = std::regex_replace(result.out, std::regex(" {2,}"), " ");
  for (const char* gpu : {"rtx-pro-6000", "h200"}) {
    for (const char* path : {"w4a16", "w4a4"}) {
      const auto json = json_of({"--gpu", gpu, "--format", "mxfp4", "--path", path});
      std::map<int, int> kept;
      for (const auto& tile : json["tiles"]) ++kept[tile["kept"].get<bool>() ? tile["k"].get<int>() : 0];
      EXPECT_THAT(words, HasSubstr(fmt::format("\n{} MXFP4 {} {} {} {} {}\n", json["gpu"].get<std::string>(), path,
                                               kept[64], kept[128], kept[256], kept[0])));
    }
  }
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
