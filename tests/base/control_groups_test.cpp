#include "base/control_groups.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "temp_directory.h"

namespace tessera {
namespace {

constexpr int kNone = std::numeric_limits<int>::max();

TEST(CpuQuota, APartOfACoreIsOne) {
  const test::TempDirectory root;
  root.write("proc/self/cgroup", "5:cpu,cpuacct:/other\n0::/\n");
  EXPECT_EQ(cores_of_quota(root.path()), kNone);
  const std::vector<std::pair<std::string, int>> cases = {
      {"max 100000", kNone}, {"50000 100000", 1}, {"100000 100000", 1}, {"150000 100000", 2}, {"250000 100000", 3},
      {"300000 100000", 3},  {"20000 10000", 2},  {"", kNone},          {"100000", kNone},    {"100000 0", kNone}};
  for (const auto& [text, cores] : cases) {
    root.write("sys/fs/cgroup/cpu.max", text + "\n");
    EXPECT_EQ(cores_of_quota(root.path()), cores) << text;
  }
}

/// Such as that of a service's slice. A container may not see the group that it is in.
TEST(CpuQuota, OfTheGroupsAboveTheTightestCounts) {
  const std::vector<std::string> groups = {"a/b/", "a/", ""};
  for (const std::string& tightest : groups) {
    const test::TempDirectory root;
    root.write("proc/self/cgroup", "0::/a/b\n");
    root.write("sys/fs/cgroup/" + tightest + "cpu.max", "200000 100000\n");
    EXPECT_EQ(cores_of_quota(root.path()), 2) << tightest;
    for (const std::string& group : groups) {
      if (group != tightest) root.write("sys/fs/cgroup/" + group + "cpu.max", "400000 100000\n");
    }
    EXPECT_EQ(cores_of_quota(root.path()), 2) << tightest;
  }
}

}  // namespace
}  // namespace tessera
