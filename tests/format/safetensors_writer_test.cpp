#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "files.h"
#include "format/checkpoint.h"
#include "format/safetensors.h"
#include "format/sharded_writer.h"

namespace tessera::format {
namespace {

using test::as_bytes;
using ::testing::HasSubstr;

constexpr DType kDTypes[] = {DType::u8,  DType::i32,  DType::i64,     DType::f32,
                             DType::f16, DType::bf16, DType::f8_e4m3, DType::f8_e8m0};

RC_GTEST_PROP(SafetensorsWriter, RoundTrips, ()) {
  const test::TempDirectory directory;
  // Names of every kind, distinct by their number.
  const auto names = *rc::gen::container<std::vector<std::string>>(
      rc::gen::container<std::string>(rc::gen::element('a', 'B', '.', '"', '\\', '/', '\n', '\x01', ' ')));
  std::vector<SafetensorsWriter::Declaration> tensors;
  std::vector<std::string> contents;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto shape = *rc::gen::scale(0.1, rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(0, 5)));
    const DType dtype = *rc::gen::elementOf(std::vector<DType>(std::begin(kDTypes), std::end(kDTypes)));
    size_t bytes = size_bytes(dtype);
    for (const int64_t dim : shape) bytes *= static_cast<size_t>(dim);
    tensors.push_back({names[i] + std::to_string(i), dtype, shape});
    contents.push_back(*rc::gen::container<std::string>(bytes, rc::gen::arbitrary<char>()));
  }
  const std::map<std::string, std::string> metadata = {{"format", "pt"}, {"quote\"", "\t\\"}};
  auto writer = SafetensorsWriter::create(directory / "m.safetensors", tensors, metadata);
  RC_ASSERT(writer.ok());
  for (const std::string& content : contents) {
    const auto cut = *rc::gen::inRange<size_t>(0, content.size() + 1);
    RC_ASSERT(writer->write(as_bytes(content).first(cut)).ok());
    RC_ASSERT(writer->write(as_bytes(content).subspan(cut)).ok());
  }
  RC_ASSERT(!std::filesystem::exists(directory / "m.safetensors"));
  RC_ASSERT(writer->finish().ok());

  const auto file = SafetensorsFile::open(directory / "m.safetensors");
  RC_ASSERT(file.ok());
  RC_ASSERT((*file)->metadata() == metadata);
  RC_ASSERT((*file)->tensors().size() == tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorView& view = (*file)->tensors().at(tensors[i].name);
    RC_ASSERT(view.dtype == tensors[i].dtype);
    RC_ASSERT(view.shape == tensors[i].shape);
    RC_ASSERT(std::string(reinterpret_cast<const char*>(view.bytes.data()), view.bytes.size()) == contents[i]);
  }
}

TEST(SafetensorsWriter, AlignsTheData) {
  const test::TempDirectory directory;
  for (const char* name : {"a", "ab", "abc", "abcd", "abcde"}) {
    auto writer = SafetensorsWriter::create(directory / "m", {{name, DType::u8, {1}}});
    ASSERT_TRUE(writer->write(as_bytes("x")).ok());
    ASSERT_TRUE(writer->finish().ok());
    EXPECT_EQ(std::filesystem::file_size(directory / "m") % 8, 1U);
  }
}

TEST(SafetensorsWriter, RefusesBadDeclarations) {
  const test::TempDirectory directory;
  const auto message = [&](std::vector<SafetensorsWriter::Declaration> tensors) {
    const auto writer = SafetensorsWriter::create(directory / "m", std::move(tensors));
    EXPECT_EQ(writer.status().code(), StatusCode::invalid_argument);
    return writer.status().message();
  };
  EXPECT_THAT(message({{"a", DType::u8, {1}}, {"a", DType::u8, {1}}}), HasSubstr("declared twice"));
  EXPECT_THAT(message({{"__metadata__", DType::u8, {1}}}), HasSubstr("reserved"));
  EXPECT_THAT(message({{"a", DType::u8, {-1}}}), HasSubstr("negative"));
  EXPECT_THAT(message({{"a", DType::f32, {INT64_MAX, 4}}}), HasSubstr("overflows"));
  EXPECT_THAT(message({{"a", DType::u8, {INT64_MAX}}, {"b", DType::u8, {INT64_MAX}}, {"c", DType::u8, {2}}}),
              HasSubstr("overflows"));
  EXPECT_THAT(message({{"\xff", DType::u8, {1}}}), HasSubstr("UTF-8"));
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  EXPECT_THAT(SafetensorsWriter::create(directory / "no/such/m", {}).status().message(), HasSubstr("cannot create"));
}

TEST(SafetensorsWriter, RefusesTooManyAndTooFewBytes) {
  const test::TempDirectory directory;
  {
    auto writer = SafetensorsWriter::create(directory / "m", {{"a", DType::u8, {2}}, {"b", DType::u8, {2}}});
    ASSERT_TRUE(writer.ok());
    EXPECT_THAT(writer->write(as_bytes("123")).message(), HasSubstr("tensor 'a', which has room for 2"));
    EXPECT_TRUE(writer->write(as_bytes("12")).ok());
    EXPECT_TRUE(writer->write(as_bytes("3")).ok());
    EXPECT_THAT(writer->finish().message(), HasSubstr("tensor 'b' has 1 of 2 bytes"));
    EXPECT_TRUE(writer->write(as_bytes("4")).ok());
    EXPECT_THAT(writer->write(as_bytes("5")).message(), HasSubstr("more than declared"));
    // Not finished: nothing stays behind.
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(SafetensorsWriter, WhatCannotBePutInPlaceIsRemoved) {
  const test::TempDirectory directory;
  const auto kept = directory.write("m/kept", "x");
  {
    auto writer = SafetensorsWriter::create(directory / "m", {{"a", DType::u8, {2}}});
    ASSERT_TRUE(writer->write(as_bytes("12")).ok());
    EXPECT_THAT(writer->finish().message(), HasSubstr("m.partial: cannot rename into place: Is a directory"));
  }
  EXPECT_FALSE(std::filesystem::exists(directory / "m.partial"));
  EXPECT_TRUE(std::filesystem::exists(kept));
}

TEST(SafetensorsWriter, ReportsAFullDisk) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP();
  const test::TempDirectory directory;
  std::filesystem::create_symlink("/dev/full", directory / "m.partial");
  auto writer = SafetensorsWriter::create(directory / "m", {{"a", DType::u8, {1 << 22}}});
  Status status = writer.status();
  if (status.ok()) status = writer->write(as_bytes(std::string(1 << 22, 'x')));
  EXPECT_EQ(status.code(), StatusCode::resource_exhausted);
  EXPECT_THAT(status.message(), HasSubstr("No space left"));
}

TEST(ShardedWriter, SplitsAndIndexes) {
  const test::TempDirectory directory;
  const std::vector<SafetensorsWriter::Declaration> tensors = {
      {"a", DType::u8, {6}}, {"b\"", DType::u8, {4}}, {"c", DType::u8, {20}}, {"d", DType::u8, {0}}};
  auto writer = ShardedWriter::create(directory.path(), tensors, 10);
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  EXPECT_EQ(writer->total_bytes(), 30U);
  for (const size_t bytes : {3, 3, 4, 20}) ASSERT_TRUE(writer->write(as_bytes(std::string(bytes, 'x'))).ok());
  EXPECT_THAT(writer->write(as_bytes("y")).message(), HasSubstr("more than declared"));
  ASSERT_TRUE(writer->finish().ok());

  const auto checkpoint = Checkpoint::open(directory.path());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  EXPECT_EQ(checkpoint->tensor("c")->bytes.size(), 20U);
  std::ifstream index(directory / "model.safetensors.index.json");
  const std::string json((std::istreambuf_iterator<char>(index)), {});
  EXPECT_THAT(json, HasSubstr(R"("total_size": 30)"));
  EXPECT_THAT(json, HasSubstr(R"("b\"": "model-00001-of-00003.safetensors")"));
  EXPECT_THAT(json, HasSubstr(R"("d": "model-00003-of-00003.safetensors")"));
}

/// It has a shard of its own, the first as well as others: none is empty.
TEST(ShardedWriter, ATensorLargerThanAShardIsAlone) {
  const test::TempDirectory directory;
  auto writer = ShardedWriter::create(directory.path(), {{"a", DType::u8, {12}}, {"b", DType::u8, {2}}}, 6);
  for (const size_t bytes : {12, 2}) ASSERT_TRUE(writer->write(as_bytes(std::string(bytes, 'x'))).ok());
  ASSERT_TRUE(writer->finish().ok());
  const auto checkpoint = Checkpoint::open(directory.path());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  EXPECT_EQ(checkpoint->shards().size(), 2U);
  EXPECT_TRUE(std::filesystem::exists(directory / "model-00001-of-00002.safetensors"));
}

/// No byte is written that would begin it.
TEST(ShardedWriter, ALastShardMayHoldEmptyTensorsAlone) {
  const test::TempDirectory directory;
  auto writer = ShardedWriter::create(directory.path(), {{"a", DType::u8, {12}}, {"b", DType::u8, {0}}}, 6);
  ASSERT_TRUE(writer->write(as_bytes(std::string(12, 'x'))).ok());
  ASSERT_TRUE(writer->finish().ok());
  const auto checkpoint = Checkpoint::open(directory.path());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  EXPECT_EQ(checkpoint->shards().size(), 2U);
  EXPECT_TRUE(checkpoint->has("b"));
}

/// The shards are whole, but nobody would find them.
TEST(ShardedWriter, AnIndexThatCannotBeWrittenIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP();
  const test::TempDirectory directory;
  std::filesystem::create_symlink("/dev/full", directory / "model.safetensors.index.json");
  auto writer = ShardedWriter::create(directory.path(), {{"a", DType::u8, {6}}, {"b", DType::u8, {6}}}, 6);
  for (int shard = 0; shard < 2; ++shard) ASSERT_TRUE(writer->write(as_bytes("123456")).ok());
  EXPECT_THAT(writer->finish().message(), HasSubstr("model.safetensors.index.json; is the disk full?"));
}

TEST(ShardedWriter, RefusesToFinishEarly) {
  const test::TempDirectory directory;
  auto writer = ShardedWriter::create(directory.path(), {{"a", DType::u8, {6}}, {"b", DType::u8, {6}}}, 6);
  ASSERT_TRUE(writer->write(as_bytes("123")).ok());
  EXPECT_THAT(writer->finish().message(), HasSubstr("tensor 'a' has 3 of 6 bytes"));
}

TEST(ShardedWriter, SmallModelsHaveOneFileAndNoIndex) {
  const test::TempDirectory directory;
  auto writer = ShardedWriter::create(directory.path(), {{"a", DType::u8, {2}}}, 6);
  ASSERT_TRUE(writer->write(as_bytes("12")).ok());
  ASSERT_TRUE(writer->finish().ok());
  EXPECT_TRUE(std::filesystem::exists(directory / "model.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(directory / "model.safetensors.index.json"));
}

}  // namespace
}  // namespace tessera::format
