#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/temp_directory.h"
#include "doctor/check.h"
#include "doctor/gather.h"

namespace tessera::doctor {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string findings_of(const Tree& tree) {
  constexpr std::array kLevels = {"ok", "warn", "fail"};
  std::string text;
  for (const Finding& finding : check(gather(tree, {.live = false, .model = {}}))) {
    text += std::string(kLevels.at(static_cast<size_t>(finding.level))) + " " + std::string(finding.check) + ": " +
            finding.found + "\n";
  }
  return text;
}

/// Each folder of tests/doctor/trees, which make_trees.py writes, holds expected.txt: its findings, all of them.
class Trees : public ::testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] fs::path root() const { return fs::path(TESSERA_SOURCE_DIR "/tests/doctor/trees") / GetParam(); }
};

TEST_P(Trees, GivesExactlyItsFindings) {
  ASSERT_TRUE(fs::is_directory(root()));
  EXPECT_EQ(findings_of(Tree(root())), read_file(root() / "expected.txt"));
}

TEST_P(Trees, ItsRecordGivesTheSame) {
  const test::TempDirectory directory;
  Tree tree(root());
  tree.record_to(directory.path());
  const std::string findings = findings_of(tree);
  ASSERT_EQ(tree.record_error(), "");
  EXPECT_EQ(findings_of(Tree(directory.path())), findings);
}

INSTANTIATE_TEST_SUITE_P(Machines, Trees,
                         ::testing::Values("rtx-pro-6000-x4", "wsl2-rtx-5090", "dgx-spark", "laptop", "h200-x4"),
                         [](const auto& tree) {
                           std::string name = tree.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(Tree, AnEmptyOneIsAMachineOfWhichNothingIsKnown) {
  const test::TempDirectory directory;
  EXPECT_EQ(findings_of(Tree(directory.path())),
            "warn gpu-driver: no NVIDIA GPU on the PCI bus: models run on the CPU\n"
            "warn cpu-instructions: neither AVX2 nor AVX-512\n");
}

}  // namespace
}  // namespace tessera::doctor
