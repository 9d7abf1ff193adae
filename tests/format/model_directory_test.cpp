#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "files.h"
#include "format/checkpoint.h"

namespace tessera::format {
namespace {

using ::testing::HasSubstr;

/// Sets an environment variable (or unsets it: nullptr), and restores it.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    set(value);
  }
  ~Environment() { set(old_ ? old_->c_str() : nullptr); }

 private:
  void set(const char* value) const { value == nullptr ? ::unsetenv(name_) : ::setenv(name_, value, 1); }
  const char* name_;
  std::optional<std::string> old_;
};

constexpr const char* kCommit = "0123456789abcdef0123456789abcdef01234567";

class ModelDirectory : public ::testing::Test {
 protected:
  void add_model(const std::string& folder, const std::string& revision = "main", const std::string& commit = kCommit) {
    cache_.write(folder + "/refs/" + revision, commit);
    cache_.write(folder + "/snapshots/" + commit + "/config.json", "{}");
  }
  [[nodiscard]] std::string error_of(const std::string& name) const { return find_model(name).status().message(); }

  test::TempDirectory cache_;
  Environment hub_{"HF_HUB_CACHE", cache_.path().c_str()};
  Environment home_{"HF_HOME", nullptr};
  Environment xdg_{"XDG_CACHE_HOME", nullptr};
};

TEST_F(ModelDirectory, TakesADirectory) {
  const test::TempDirectory model;
  EXPECT_THAT(error_of(model.path()), HasSubstr("has no config.json"));
  model.write("config.json", "{}");
  const auto found = find_model(model.path());
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(*found, model.path());
  EXPECT_THAT(error_of(model / "config.json"), HasSubstr("is a file"));
  EXPECT_THAT(error_of(model / "not-there"), HasSubstr("no such directory"));
}

TEST_F(ModelDirectory, ADirectoryComesBeforeOtherModelsOfItsName) {
  const test::TempDirectory here;
  here.write("demo/config.json", "{}");
  add_model("models--demo");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(here.path());
  const auto found = find_model("demo");
  std::filesystem::current_path(before);
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(*found, "demo");
}

TEST_F(ModelDirectory, FindsACachedModel) {
  add_model("models--Qwen--Qwen3.5-35B-A3B");
  const auto found = find_model("Qwen/Qwen3.5-35B-A3B");
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(*found, cache_ / "models--Qwen--Qwen3.5-35B-A3B" / "snapshots" / kCommit);
  EXPECT_EQ(*find_model(std::string("Qwen/Qwen3.5-35B-A3B@") + kCommit), *found);
}

TEST_F(ModelDirectory, ARepositoryMayHaveNoOwner) {
  add_model("models--gpt_2.small");
  const auto found = find_model("gpt_2.small");
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->filename(), kCommit);
}

TEST_F(ModelDirectory, FindsARevision) {
  add_model("models--a--b", "main", "c1");
  add_model("models--a--b", "v2", "c2\n");
  add_model("models--a--b", "refs/pr/7", "c3");
  std::filesystem::rename(cache_ / "models--a--b/snapshots/c2\n", cache_ / "models--a--b/snapshots/c2");
  EXPECT_EQ(find_model("a/b@v2")->filename(), "c2");
  cache_.write("models--a--b/refs/windows", "c1 \r\n");
  EXPECT_EQ(find_model("a/b@windows")->filename(), "c1");
  EXPECT_EQ(find_model("a/b@refs/pr/7")->filename(), "c3");
  EXPECT_EQ(find_model("a/b@c1")->filename(), "c1");
  EXPECT_THAT(error_of("a/b@v3"), HasSubstr("not its revision 'v3'"));
  EXPECT_THAT(error_of("a/b@v3"), HasSubstr("c1, c2, c3"));
}

TEST_F(ModelDirectory, FollowsTheEnvironment) {
  const test::TempDirectory home;
  home.write("hub/models--a--b/refs/main", "c");
  home.write("hub/models--a--b/snapshots/c/config.json", "{}");
  EXPECT_FALSE(find_model("a/b").ok());
  const Environment no_hub("HF_HUB_CACHE", nullptr);
  const Environment hf_home("HF_HOME", home.path().c_str());
  EXPECT_TRUE(find_model("a/b").ok());
  const test::TempDirectory user;
  std::filesystem::create_directories(user / ".cache");
  std::filesystem::rename(home.path() / "hub", user / "hub");
  std::filesystem::create_directories(user / ".cache/huggingface");
  std::filesystem::rename(user / "hub", user / ".cache/huggingface/hub");
  const Environment no_hf_home("HF_HOME", nullptr);
  const Environment user_home("HOME", user.path().c_str());
  EXPECT_TRUE(find_model("a/b").ok());
  const Environment xdg("XDG_CACHE_HOME", (user / ".cache").c_str());
  const Environment no_home("HOME", nullptr);
  EXPECT_TRUE(find_model("a/b").ok());
  const Environment no_xdg("XDG_CACHE_HOME", nullptr);
  EXPECT_THAT(error_of("a/b"), HasSubstr("set HF_HUB_CACHE"));
}

/// Of several variables the one that names the cache most closely decides; an empty one is none.
TEST_F(ModelDirectory, TheClosestVariableDecides) {
  const test::TempDirectory root;
  const std::pair<const char*, const char*> hubs[] = {
      {"home", "home/.cache/huggingface/hub"}, {"xdg", "xdg/huggingface/hub"}, {"hf", "hf/hub"}, {"hub", "hub"}};
  for (const auto& [commit, hub] : hubs) {
    root.write(fmt::format("{}/models--a--b/refs/main", hub), commit);
    root.write(fmt::format("{}/models--a--b/snapshots/{}/config.json", hub, commit), "{}");
  }
  const Environment home("HOME", (root / "home").c_str());
  for (const char* unset : {static_cast<const char*>(nullptr), ""}) {
    const auto found = [] {
      const auto model = find_model("a/b");
      return model.ok() ? model->filename().string() : model.status().message();
    };
    const Environment no_hub("HF_HUB_CACHE", unset), no_hf("HF_HOME", unset), no_xdg("XDG_CACHE_HOME", unset);
    EXPECT_EQ(found(), "home");
    const Environment xdg("XDG_CACHE_HOME", (root / "xdg").c_str());
    EXPECT_EQ(found(), "xdg");
    const Environment hf("HF_HOME", (root / "hf").c_str());
    EXPECT_EQ(found(), "hf");
    const Environment hub("HF_HUB_CACHE", (root / "hub").c_str());
    EXPECT_EQ(found(), "hub");
  }
}

TEST_F(ModelDirectory, SuggestsWhatTheCacheHolds) {
  EXPECT_THAT(error_of("Qwen/Qwen3.5"), HasSubstr("the cache holds no models"));
  add_model("models--Qwen--Qwen3.5-35B-A3B");
  add_model("models--other--thing");
  add_model("datasets--Qwen--Qwen3.5-35B");
  const std::string message = error_of("Qwen/Qwen3.5-35B");
  EXPECT_THAT(message, HasSubstr("models--Qwen--Qwen3.5-35B;"));
  EXPECT_THAT(message, HasSubstr("the cache holds Qwen/Qwen3.5-35B-A3B, other/thing."));
  EXPECT_THAT(message, HasSubstr("hf download"));
}

/// By how many letters differ or are too many, whatever the order of the directory or the alphabet.
TEST_F(ModelDirectory, SuggestsTheNearestFirst) {
  for (const char* name : {"vvvdef", "zbcdef", "ssssss", "wwwwef", "abcdefghijklm", "yycdef", "uuuuuf"}) {
    add_model(std::string("models--o--") + name);
  }
  EXPECT_THAT(error_of("o/abcdef"),
              HasSubstr("the cache holds o/zbcdef, o/yycdef, o/vvvdef, o/wwwwef, o/uuuuuf and 2 more."));
}

TEST_F(ModelDirectory, RefusesNamesThatLeaveTheCache) {
  for (const char* name : {"../x/y", "a/../b", "/a/b", "a/b/c", "a//b", "a/b@../../x", "a/b@", ".hidden/x", "a b/c",
                           "-a/b", "a/b@-c", "a/:b", "a/b@B[", "a/`b", "a/{b", "a/\xc3\xa9"}) {
    EXPECT_THAT(error_of(name), HasSubstr("not a name of the form")) << name;
  }
  EXPECT_THAT(error_of(""), HasSubstr("empty"));
  cache_.write("models--a--b/refs/main", "../../../etc");
  EXPECT_THAT(error_of("a/b"), HasSubstr("not a commit id"));
}

TEST_F(ModelDirectory, TakesNamesToTheEndsOfTheirAlphabets) {
  add_model("models--aZ09--A-z_9.0", "zZ");
  const auto found = find_model("aZ09/A-z_9.0@zZ");
  EXPECT_TRUE(found.ok()) << found.status().message();
}

TEST_F(ModelDirectory, SaysThatALinkDangles) {
  add_model("models--a--b");
  const auto config = cache_ / "models--a--b" / "snapshots" / kCommit / "config.json";
  std::filesystem::remove(config);
  std::filesystem::create_symlink("../../blobs/77", config);
  EXPECT_THAT(error_of("a/b"), HasSubstr("dangles"));
}

}  // namespace
}  // namespace tessera::format
