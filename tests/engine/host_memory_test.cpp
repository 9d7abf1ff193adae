#include "engine/host_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace tessera::engine {
namespace {

class HostMemory : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::path(testing::TempDir()) / ("tessera_host_memory_" + std::to_string(::getpid()));
    std::filesystem::remove_all(root_);
    write("proc/meminfo", "MemTotal:       2000 kB\nMemFree:  100 kB\nMemAvailable:   1000 kB\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  std::filesystem::path root_;
};

TEST_F(HostMemory, WithoutCgroups) { EXPECT_EQ(available_memory_bytes(root_), 1000U * 1024); }

TEST_F(HostMemory, Version2CountsCacheAsFreeAndTakesTheTightestLevel) {
  write("proc/self/cgroup", "0::/a/b\n");
  write("sys/fs/cgroup/a/b/memory.max", "max\n");
  write("sys/fs/cgroup/a/b/memory.current", "400000\n");
  write("sys/fs/cgroup/a/memory.max", "900000\n");
  write("sys/fs/cgroup/a/memory.current", "600000\n");
  write("sys/fs/cgroup/a/memory.stat", "anon 1\nactive_file 50000\ninactive_file 100000\n");
  EXPECT_EQ(available_memory_bytes(root_), 900000U - 450000U);
}

TEST_F(HostMemory, Version2InAContainerSeesTheMountsRoot) {
  write("proc/self/cgroup", "0::/not/mounted/here\n");
  write("sys/fs/cgroup/memory.max", "500000\n");
  write("sys/fs/cgroup/memory.current", "600000\n");
  EXPECT_EQ(available_memory_bytes(root_), 0U);
}

TEST_F(HostMemory, Version1) {
  write("proc/self/cgroup", "5:cpu:/\n4:memory:/x\n0::/\n");
  write("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "800000\n");
  write("sys/fs/cgroup/memory/x/memory.usage_in_bytes", "300000\n");
  write("sys/fs/cgroup/memory/x/memory.stat", "active_file 7\ntotal_active_file 10000\ntotal_inactive_file 20000\n");
  EXPECT_EQ(available_memory_bytes(root_), 800000U - 270000U);
}

/// The two are not read at one moment: there may be more cache than was in use just before.
TEST_F(HostMemory, MoreCacheThanUseIsAllFree) {
  write("proc/self/cgroup", "0::/a\n");
  write("sys/fs/cgroup/a/memory.max", "500000\n");
  write("sys/fs/cgroup/a/memory.current", "100000\n");
  write("sys/fs/cgroup/a/memory.stat", "active_file 60000\ninactive_file 50000\n");
  EXPECT_EQ(available_memory_bytes(root_), 500000U);
}

/// A group within another may have the wider limit, or the tighter one; the same of the mount's root.
TEST_F(HostMemory, OfGroupsWithLimitsTheTightestCounts) {
  for (const bool version_2 : {true, false}) {
    const std::string mount = version_2 ? "sys/fs/cgroup/" : "sys/fs/cgroup/memory/";
    write("proc/self/cgroup", version_2 ? "0::/a/b\n" : "4:memory:/a/b\n");
    const std::vector<std::string> groups = {"a/b/", "a/", ""};
    for (const std::string& tightest : groups) {
      for (const std::string& group : groups) {
        write(mount + group + (version_2 ? "memory.max" : "memory.limit_in_bytes"),
              group == tightest ? "500000\n" : "900000\n");
        write(mount + group + (version_2 ? "memory.current" : "memory.usage_in_bytes"), "100000\n");
      }
      EXPECT_EQ(available_memory_bytes(root_), 400000U) << mount << tightest;
    }
  }
}

TEST(HostMemoryHere, IsSomething) { EXPECT_GT(available_memory_bytes(), size_t{1} << 20); }

}  // namespace
}  // namespace tessera::engine
