// The folder tree is the architecture: an include against the arrows is a fault, whatever links.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

namespace tessera {
namespace {

namespace fs = std::filesystem;
using Folders = std::set<std::string>;

// Direct arrows; an arrow permits everything below it. `engine -> text`: stop strings are matched while decoding.
const std::map<std::string, Folders> kArrows = {
    {"base", {}},
    {"device", {"base"}},
    {"format", {"base"}},
    {"text", {"base"}},
    {"guide", {"base"}},
    {"plan", {"format"}},
    {"kernels", {"plan", "device"}},
    {"selftest", {"kernels"}},
    {"model", {"kernels"}},
    {"engine", {"model", "text", "guide"}},
    {"doctor", {"engine"}},
    {"server", {"engine", "text"}},
    {"loadgen", {"base"}},
    {"cli", {"server", "selftest", "plan", "loadgen", "doctor"}},
};
const Folders kFreeOfCuda = {"base", "format", "plan", "text", "guide", "doctor", "server", "loadgen", "cli"};

Folders reachable(const std::string& folder) {
  Folders all = {folder};
  for (const std::string& next : kArrows.at(folder)) all.merge(reachable(next));
  return all;
}

/// Project includes and CUDA includes of one file: "folder" or "cuda".
std::set<std::string> includes(const fs::path& path) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*["<](?:([a-z_]+)/|(cuda|cublas|nccl)[a-z_]*\.h))");
  std::set<std::string> found;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::smatch match;
    if (!std::regex_search(line, match, kInclude)) continue;
    if (match[2].matched) found.insert("cuda");
    if (kArrows.contains(match[1])) found.insert(match[1]);
  }
  return found;
}

TEST(IncludeArrows, EveryIncludeFollowsAnArrow) {
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(TESSERA_SOURCE_DIR "/src")) {
    if (!entry.is_regular_file()) continue;
    const std::string extension = entry.path().extension().string();
    if (extension != ".h" && extension != ".cpp" && extension != ".cu" && extension != ".cuh") continue;
    const std::string folder = fs::relative(entry.path(), TESSERA_SOURCE_DIR "/src").begin()->string();
    ASSERT_TRUE(kArrows.contains(folder)) << "src/" << folder << " has no arrows in this test";
    const Folders allowed = reachable(folder);
    for (const std::string& included : includes(entry.path())) {
      if (included == "cuda") {
        EXPECT_FALSE(kFreeOfCuda.contains(folder)) << entry.path() << " includes CUDA";
      } else {
        EXPECT_TRUE(allowed.contains(included)) << entry.path() << " includes " << included << "/ against the arrows";
      }
    }
    ++files;
  }
  EXPECT_GT(files, 30);
}

TEST(IncludeArrows, PublicHeadersIncludeOnlyThemselves) {
  for (const auto& entry : fs::directory_iterator(TESSERA_SOURCE_DIR "/include/tessera")) {
    EXPECT_TRUE(includes(entry.path()).empty()) << entry.path();
  }
}

TEST(IncludeArrows, CMakeDependsAreTheArrows) {
  static const std::regex kDepends(R"(DEPENDS\s+([a-z\s]+))");
  for (const auto& [folder, arrows] : kArrows) {
    std::ifstream file(std::string(TESSERA_SOURCE_DIR "/src/") + folder + "/CMakeLists.txt");
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    for (auto it = std::sregex_iterator(text.begin(), text.end(), kDepends); it != std::sregex_iterator(); ++it) {
      std::istringstream names((*it)[1].str());
      for (std::string name; names >> name;) {
        if (!kArrows.contains(name)) continue;
        EXPECT_TRUE(reachable(folder).contains(name)) << "src/" << folder << "/CMakeLists.txt depends on " << name;
      }
    }
  }
}

}  // namespace
}  // namespace tessera
