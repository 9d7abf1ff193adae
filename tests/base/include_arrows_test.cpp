// The folder tree is the architecture: an include against the arrows is a fault, whatever links.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace tessera {
namespace {

namespace fs = std::filesystem;
using Folders = std::set<std::string>;

const fs::path kSources = TESSERA_SOURCE_DIR "/src";

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
    {"server/http", {"base"}},
    {"server/request", {"engine"}},
    {"server/openai", {"server/request"}},
    {"server/anthropic", {"server/request"}},
    {"server/responses", {"server/openai"}},
    {"server", {"server/http", "server/openai", "server/anthropic", "server/responses"}},
    {"loadgen", {"base"}},
    {"cli", {"server", "selftest", "plan", "loadgen", "doctor"}},
};
const Folders kMayUseCuda = {"device", "kernels", "selftest", "model", "engine"};

Folders reachable(const std::string& folder) {
  Folders all = {folder};
  for (const std::string& next : kArrows.at(folder)) all.merge(reachable(next));
  return all;
}

/// The folder with arrows that a path below src/ lies in, the deepest; empty if none.
std::string folder_of(fs::path path) {
  while (path.has_parent_path()) {
    path = path.parent_path();
    if (kArrows.contains(path.string())) return path.string();
  }
  return "";
}

/// Project includes and CUDA includes of one file: a folder, or "cuda".
Folders includes(const fs::path& path) {
  static const std::regex kInclude(
      R"(^\s*#\s*include\s*["<](?:([a-z_/]+/[a-z0-9_-]+\.[a-z]+)|(cuda|cublas|nccl)[a-z_]*\.h)[">])");
  Folders found;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::smatch match;
    if (!std::regex_search(line, match, kInclude)) continue;
    found.insert(match[2].matched ? "cuda" : folder_of(match[1].str()));
  }
  found.erase("");  // a library's, or tessera/, which is public
  return found;
}

/// What the files of each folder include.
std::map<std::string, Folders> includes_of_folders() {
  std::map<std::string, Folders> all;
  for (const auto& entry : fs::recursive_directory_iterator(kSources)) {
    if (!entry.is_regular_file()) continue;
    const std::string extension = entry.path().extension().string();
    if (extension != ".h" && extension != ".cpp" && extension != ".cu" && extension != ".cuh") continue;
    const std::string folder = folder_of(fs::relative(entry.path(), kSources));
    EXPECT_NE(folder, "") << entry.path() << " lies in a folder that has no arrows in this test";
    all[folder].merge(includes(entry.path()));
  }
  return all;
}

TEST(IncludeArrows, EveryIncludeFollowsAnArrow) {
  const auto all = includes_of_folders();
  EXPECT_EQ(all.size(), kArrows.size());
  for (const auto& [folder, included] : all) {
    if (folder.empty()) continue;
    const Folders allowed = reachable(folder);
    for (const std::string& name : included) {
      if (name == "cuda") {
        EXPECT_TRUE(kMayUseCuda.contains(folder)) << "src/" << folder << " includes CUDA";
      } else {
        EXPECT_TRUE(allowed.contains(name)) << "src/" << folder << " includes " << name << "/ against the arrows";
      }
    }
  }
}

TEST(IncludeArrows, PublicHeadersIncludeOnlyThemselves) {
  for (const auto& entry : fs::directory_iterator(TESSERA_SOURCE_DIR "/include/tessera")) {
    EXPECT_TRUE(includes(entry.path()).empty()) << entry.path();
  }
}

/// What each folder's CMakeLists.txt links it with, of the project: of tessera_library(NAME ... DEPENDS names ...).
std::map<std::string, Folders> links_of_folders() {
  static const std::regex kLibrary(R"(tessera_library\(([a-z]+)\s([^)]*)\))");
  static const std::regex kDepends(R"(\sDEPENDS\s+([a-z\s]+))");
  std::map<std::string, std::string> folder_of_library;
  for (const auto& [folder, arrows] : kArrows) folder_of_library[fs::path(folder).filename()] = folder;
  std::map<std::string, Folders> all;
  for (const auto& [folder, arrows] : kArrows) {
    std::ifstream file(kSources / folder / "CMakeLists.txt");
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    for (auto it = std::sregex_iterator(text.begin(), text.end(), kLibrary); it != std::sregex_iterator(); ++it) {
      if ((*it)[1] != fs::path(folder).filename().string()) continue;
      Folders& links = all[folder];
      const std::string arguments = (*it)[2];
      std::smatch depends;
      if (!std::regex_search(arguments, depends, kDepends)) continue;
      std::istringstream names(depends[1].str());
      for (std::string name; names >> name;) {
        EXPECT_TRUE(folder_of_library.contains(name)) << "src/" << folder << "/CMakeLists.txt depends on " << name;
        links.insert(folder_of_library[name]);
      }
    }
  }
  return all;
}

/// All that is linked with a folder, itself included.
Folders linked(const std::map<std::string, Folders>& links, const std::string& folder) {
  Folders all = {folder};
  for (const std::string& next : links.at(folder)) all.merge(linked(links, next));
  return all;
}

TEST(IncludeArrows, LinksAreTheArrowsAndCoverTheIncludes) {
  const auto links = links_of_folders();
  ASSERT_EQ(links.size(), kArrows.size());
  for (const auto& [folder, included] : includes_of_folders()) {
    if (folder.empty()) continue;
    const Folders all = linked(links, folder);
    for (const std::string& name : all) {
      EXPECT_TRUE(reachable(folder).contains(name))
          << "src/" << folder << " is linked with " << name << " against the arrows";
    }
    for (const std::string& name : included) {
      const bool is_linked = name == "cuda" || all.contains(name);
      EXPECT_TRUE(is_linked) << "src/" << folder << " includes " << name << "/, not linked";
    }
  }
}

}  // namespace
}  // namespace tessera
