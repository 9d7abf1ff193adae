#include "format/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "files.h"
#include "format/shard_index.h"

namespace tessera::format {
namespace {

using test::safetensors;
using test::StoredTensor;
using test::TempDirectory;
using ::testing::HasSubstr;

StoredTensor byte(const std::string& name) { return {name, "U8", {1}, "x"}; }

std::string message_of(const TempDirectory& model) { return Checkpoint::open(model.path()).status().message(); }

/// An index that puts each of `tensors` into the shard named beside it.
std::string index_of(const std::vector<std::pair<std::string, std::string>>& tensors) {
  std::string json = R"({"metadata":{"total_size":1},"weight_map":{)";
  for (const auto& [tensor, shard] : tensors) {
    json += (json.ends_with('{') ? "\"" : ",\"") + tensor + "\":\"" + shard + "\"";
  }
  return json + "}}";
}

TEST(CanonicalName, MapsEveryPrefix) {
  EXPECT_EQ(canonical_name("model.language_model.layers.0.A_log"), "model.layers.0.A_log");
  EXPECT_EQ(canonical_name("model.layers.0.A_log"), "model.layers.0.A_log");
  EXPECT_EQ(canonical_name("language_model.model.layers.0.A_log"), "model.layers.0.A_log");
  EXPECT_EQ(canonical_name("language_model.lm_head.weight"), "lm_head.weight");
  EXPECT_EQ(canonical_name("model.language_model.lm_head.weight"), "lm_head.weight");
  EXPECT_EQ(canonical_name("lm_head.weight"), "lm_head.weight");
  EXPECT_EQ(canonical_name("mtp.fc.weight"), "mtp.fc.weight");
  EXPECT_EQ(canonical_name("model.mtp.fc.weight"), "mtp.fc.weight");
  EXPECT_EQ(canonical_name("model.language_model.mtp.fc.weight"), "mtp.fc.weight");
  EXPECT_EQ(canonical_name("language_model.model.mtp.fc.weight"), "mtp.fc.weight");
  EXPECT_EQ(canonical_name("language_model.mtp.fc.weight"), "mtp.fc.weight");
  EXPECT_EQ(canonical_name("model.lm_head.weight"), "lm_head.weight");
  EXPECT_EQ(canonical_name("model.visual.blocks.0.norm1.weight"), "");
  EXPECT_EQ(canonical_name("visual.patch_embed.proj.weight"), "");
  EXPECT_EQ(canonical_name("model.vision_tower.patch_embed.proj.weight"), "");
  EXPECT_EQ(canonical_name("vision_tower.patch_embed.proj.weight"), "");
  EXPECT_EQ(canonical_name("language_model.visual.patch_embed.proj.weight"), "");
}

TEST(Checkpoint, AChangeOfAnyShardIsNoticed) {
  for (const char* changed : {"one.safetensors", "two.safetensors"}) {
    const TempDirectory model;
    model.write("one.safetensors", safetensors({byte("a")}));
    model.write("two.safetensors", safetensors({byte("b")}));
    model.write("model.safetensors.index.json", index_of({{"a", "one.safetensors"}, {"b", "two.safetensors"}}));
    const auto checkpoint = Checkpoint::open(model.path());
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
    EXPECT_TRUE(checkpoint->check_unchanged().ok());
    const auto path = model.path() / changed;
    std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) + std::chrono::milliseconds(10));
    EXPECT_THAT(checkpoint->check_unchanged().message(), HasSubstr(changed));
  }
}

TEST(Checkpoint, AnotherSizeIsAChangeWhateverTheTime) {
  const TempDirectory model;
  const auto path = model.write("model.safetensors", safetensors({byte("a")}));
  const auto checkpoint = Checkpoint::open(model.path());
  const auto written = std::filesystem::last_write_time(path);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) + 1);
  std::filesystem::last_write_time(path, written);
  EXPECT_EQ(checkpoint->check_unchanged().code(), StatusCode::unavailable);
}

TEST(Checkpoint, OpensASingleFile) {
  const TempDirectory model;
  model.write("model.safetensors", safetensors({byte("model.language_model.norm.weight"),
                                                byte("model.visual.pos"),
                                                byte("lm_head.weight"),
                                                {"model.language_model.mask", "BOOL", {1}, "x"}}));
  const auto checkpoint = Checkpoint::open(model.path());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  EXPECT_EQ(checkpoint->tensors().size(), 2U);
  EXPECT_TRUE(checkpoint->has("model.norm.weight"));
  EXPECT_FALSE(checkpoint->has("model.visual.pos"));
  EXPECT_EQ(checkpoint->tensor_bytes(), 2U);
  EXPECT_EQ(checkpoint->tensor("model.mask").status().code(), StatusCode::unsupported);
  EXPECT_THAT(checkpoint->tensor("model.mask").status().message(), HasSubstr("dtype BOOL"));
  const Status missing = checkpoint->tensor("model.norm").status();
  EXPECT_EQ(missing.code(), StatusCode::not_found);
  EXPECT_THAT(missing.message(), HasSubstr("nearest are: lm_head.weight, model.norm.weight"));
}

TEST(Checkpoint, AMissingTensorIsToldWithItsNeighbours) {
  const TempDirectory model;
  model.write("model.safetensors", safetensors({byte("d"), byte("a"), byte("b"), byte("e")}));
  const auto checkpoint = Checkpoint::open(model.path());
  const auto message = [&](const char* name) { return checkpoint->tensor(name).status().message(); };
  EXPECT_THAT(message("A"), HasSubstr("of its 4 the nearest are: a"));
  EXPECT_THAT(message("c"), HasSubstr("nearest are: b, d"));
  EXPECT_THAT(message("f"), HasSubstr("nearest are: e"));
}

TEST(Checkpoint, OpensShards) {
  const TempDirectory model;
  model.write("one.safetensors", safetensors({byte("a"), byte("unlisted")}));
  model.write("two.safetensors", safetensors({byte("b")}));
  model.write("stray.safetensors", safetensors({byte("a")}));
  model.write("model.safetensors.index.json", index_of({{"a", "one.safetensors"}, {"b", "two.safetensors"}}));
  const auto checkpoint = Checkpoint::open(model.path());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  EXPECT_TRUE(checkpoint->has("a") && checkpoint->has("b") && checkpoint->has("unlisted"));
}

TEST(Checkpoint, AnIndexMayNameTensorsThatAreNotRead) {
  const TempDirectory model;
  model.write("one.safetensors", safetensors({byte("a"), {"mask", "BOOL", {1}, "x"}}));
  model.write("model.safetensors.index.json", index_of({{"a", "one.safetensors"}, {"mask", "one.safetensors"}}));
  EXPECT_EQ(message_of(model), "");
}

TEST(Checkpoint, OutlivesMovesAndCopies) {
  const TempDirectory model;
  model.write("model.safetensors", safetensors({byte("a")}));
  auto opened = Checkpoint::open(model.path());
  ASSERT_TRUE(opened.ok());
  const Checkpoint copy = *opened;
  const Checkpoint moved = std::move(*opened);
  EXPECT_EQ(copy.tensor("a")->bytes[0], std::byte{'x'});
  EXPECT_EQ(moved.tensor("a")->bytes[0], std::byte{'x'});
}

TEST(Checkpoint, NamesMissingShards) {
  const TempDirectory model;
  model.write("one.safetensors", safetensors({byte("a")}));
  model.write("model.safetensors.index.json", index_of({{"a", "one.safetensors"}, {"b", "two.safetensors"}}));
  EXPECT_THAT(message_of(model), HasSubstr("1 of 2 shards are missing: two.safetensors"));
  std::filesystem::create_symlink("blobs/1", model / "two.safetensors");
  EXPECT_THAT(message_of(model), HasSubstr("dangles"));
}

TEST(Checkpoint, ComparesIndexAndShards) {
  const TempDirectory model;
  model.write("one.safetensors", safetensors({byte("a")}));
  model.write("two.safetensors", safetensors({byte("c")}));
  model.write("model.safetensors.index.json", index_of({{"a", "one.safetensors"}, {"b", "two.safetensors"}}));
  EXPECT_THAT(message_of(model), HasSubstr("says that 'b' is in two.safetensors, but it is not"));
  model.write("two.safetensors", safetensors({byte("b"), byte("a")}));
  EXPECT_THAT(message_of(model), HasSubstr("tensor 'a' is there twice"));
  model.write("two.safetensors", safetensors({byte("b"), {"a", "BOOL", {1}, "x"}}));
  EXPECT_THAT(message_of(model), HasSubstr("tensor 'a' is there twice"));
  model.write("one.safetensors", safetensors({{"a", "BOOL", {1}, "x"}}));
  model.write("two.safetensors", safetensors({byte("b"), byte("a")}));
  EXPECT_THAT(message_of(model), HasSubstr("tensor 'a' is there twice"));
  model.write("one.safetensors", safetensors({byte("a")}));
  model.write("two.safetensors", safetensors({byte("b"), byte("model.x"), byte("model.language_model.x")}));
  EXPECT_THAT(message_of(model), HasSubstr("x' is there twice"));
  model.write("two.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 4999\n");
  EXPECT_THAT(message_of(model), HasSubstr("git lfs pull"));
}

TEST(Checkpoint, RefusesBrokenIndexes) {
  const TempDirectory model;
  model.write("model.safetensors", safetensors({byte("a")}));
  const auto message = [&](const std::string& index) {
    model.write("model.safetensors.index.json", index);
    return message_of(model);
  };
  EXPECT_THAT(message("{"), HasSubstr("not valid JSON"));
  EXPECT_THAT(message("[]"), HasSubstr("no object weight_map"));
  EXPECT_THAT(message("{}"), HasSubstr("no object weight_map"));
  EXPECT_THAT(message(R"({"weight_map":{}})"), HasSubstr("is empty"));
  EXPECT_THAT(message(R"({"weight_map":{"a":1}})"), HasSubstr("weight_map['a']"));
  for (const char* shard : {"", ".", "..", "../model.safetensors", "/etc/passwd", "x\\u0000y"}) {
    EXPECT_THAT(message(index_of({{"a", shard}})), HasSubstr("not the name of a file")) << shard;
  }
  EXPECT_THAT(message(R"({"weight_map":{"a":"m","a":"m"}})"), HasSubstr("twice"));
}

TEST(Checkpoint, SaysWhatADirectoryLacks) {
  const TempDirectory model;
  model.write("pytorch_model.bin", "x");
  EXPECT_THAT(message_of(model), HasSubstr("no .safetensors file"));
  model.write("model-00001-of-00002.safetensors", safetensors({byte("a")}));
  model.write("model-00002-of-00002.safetensors", safetensors({byte("b")}));
  EXPECT_THAT(message_of(model), HasSubstr("but no model.safetensors.index.json"));
  model.write("three.safetensors", safetensors({byte("c")}));
  EXPECT_THAT(message_of(model), HasSubstr("holds 3 .safetensors files (model-00001-of-00002.safetensors, "
                                           "model-00002-of-00002.safetensors, three.safetensors) but"));
  model.write("two.safetensors", safetensors({byte("d")}));
  EXPECT_THAT(message_of(model), HasSubstr("model-00002-of-00002.safetensors, three.safetensors and 1 more) but"));
  EXPECT_EQ(Checkpoint::open(model / "nowhere").status().code(), StatusCode::not_found);
}

/// A download that was broken off: another file must not stand in for the one that is meant.
TEST(Checkpoint, AModelFileThatDanglesIsSaid) {
  const TempDirectory model;
  std::filesystem::create_symlink("blobs/1", model / "model.safetensors");
  model.write("adapter.safetensors", safetensors({byte("a")}));
  EXPECT_THAT(message_of(model), HasSubstr("model.safetensors: the link dangles"));
}

TEST(Checkpoint, ReadsTexts) {
  const TempDirectory model;
  model.write("model.safetensors", safetensors({byte("a")}));
  model.write("config.json", "{}");
  const auto checkpoint = Checkpoint::open(model.path());
  ASSERT_TRUE(checkpoint.ok());
  EXPECT_EQ(**checkpoint->read_text("config.json"), "{}");
  EXPECT_EQ(*checkpoint->read_text("generation_config.json"), std::nullopt);
  for (const std::string& name : {std::string("../config.json"), std::string(), std::string("."), std::string(".."),
                                  std::string("config.json\0x", 13)}) {
    const Status refused = checkpoint->read_text(name).status();
    EXPECT_EQ(refused.code(), StatusCode::invalid_argument) << name;
    EXPECT_THAT(refused.message(), HasSubstr("is not a plain file name")) << name;
  }
  std::filesystem::create_symlink("gone", model / "tokenizer.json");
  EXPECT_THAT(checkpoint->read_text("tokenizer.json").status().message(), HasSubstr("dangles"));
  std::filesystem::resize_file(model / "config.json", 256'000'001);
  EXPECT_EQ(checkpoint->read_text("config.json").status().code(), StatusCode::resource_exhausted);
}

}  // namespace
}  // namespace tessera::format
