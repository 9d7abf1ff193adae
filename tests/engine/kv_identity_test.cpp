#include "engine/kv_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "base/temp_directory.h"

namespace tessera::engine {
namespace {

constexpr size_t kShardBytes = size_t{1} << 20;

class KvIdentityTest : public testing::Test {
 protected:
  KvIdentityTest() {
    model_.write("config.json", "{}");
    model_.write("model.safetensors", std::string(kShardBytes, 'a'));
    std::filesystem::last_write_time(shard(), time_);
  }

  [[nodiscard]] std::filesystem::path shard() const { return model_ / "model.safetensors"; }
  [[nodiscard]] KvIdentity identity(const std::string& settings = "cpu bf16") const {
    const auto made = kv_identity(model_.path(), settings);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return made.ok() ? *made : KvIdentity{};
  }
  /// With the time that it had.
  void put(std::streamoff at, char byte) const {
    {
      std::fstream stream(shard(), std::ios::in | std::ios::out | std::ios::binary);
      stream.seekp(at);
      stream.put(byte);
    }
    std::filesystem::last_write_time(shard(), time_);
  }

  test::TempDirectory model_;
  std::filesystem::file_time_type time_ = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
};

TEST_F(KvIdentityTest, IsOfTheModelAndOfHowItIsComputed) {
  const KvIdentity first = identity();
  EXPECT_EQ(identity(), first);
  std::set<KvIdentity> all = {first, identity("cpu fp32")};
  put(0, 'b');  // in the head
  all.insert(identity());
  put(0, 'a');
  EXPECT_EQ(identity(), first);
  put(kShardBytes / 2 + 100, 'b');  // among the weights, at one of the places that are looked at
  all.insert(identity());
  put(kShardBytes / 2 + 100, 'a');
  for (const auto later : {std::chrono::milliseconds(1), std::chrono::milliseconds(2000)}) {
    std::filesystem::last_write_time(shard(), time_ + later);
    all.insert(identity());
  }
  std::filesystem::resize_file(shard(), kShardBytes - 64);  // at the places that are looked at it is the same
  std::filesystem::last_write_time(shard(), time_);
  all.insert(identity());
  std::filesystem::resize_file(shard(), kShardBytes);
  for (size_t at = kShardBytes - 64; at < kShardBytes; ++at) put(static_cast<std::streamoff>(at), 'a');
  EXPECT_EQ(identity(), first);

  model_.write("config.json", R"({"a": 1})");
  all.insert(identity());
  model_.write("model-2.safetensors", "more");
  all.insert(identity());
  std::filesystem::rename(model_ / "model-2.safetensors", model_ / "model-3.safetensors");
  all.insert(identity());
  model_.write("README.md", "of no account");
  all.insert(identity());
  EXPECT_EQ(all.size(), 10U);
  std::set<uint64_t> halves;
  for (const KvIdentity& one : all) halves.insert(one.begin(), one.end());
  EXPECT_EQ(halves.size(), 2 * all.size()) << "both are of all of it";
}

TEST_F(KvIdentityTest, NoFileStaysOpen) {
  const auto count = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); };
  const auto before = count();
  EXPECT_EQ(identity(), identity());
  EXPECT_EQ(count(), before);
}

TEST_F(KvIdentityTest, WhatCannotBeReadIsAnError) {
  const auto missing = kv_identity(model_ / "missing", "cpu");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), StatusCode::unavailable);
  EXPECT_THAT(missing.status().message(), testing::HasSubstr("missing"));
}

}  // namespace
}  // namespace tessera::engine
