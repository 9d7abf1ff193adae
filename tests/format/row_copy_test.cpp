#include "format/row_copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "format/files.h"
#include "format/mapped_file.h"

namespace tessera::format {
namespace {

using test::TempDirectory;

/// Six rows of NVFP4, 32 columns: 16 bytes of codes and 2 scales of blocks each.
constexpr int64_t kRows = 6, kCols = 32;
constexpr size_t kRowBytes = 16, kRowScales = 2;

/// Bytes that tell where they come from.
std::string counted(size_t count, char first) {
  std::string bytes(count, '\0');
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>(first + static_cast<char>(i));
  return bytes;
}

std::string text_of(const std::byte* bytes, size_t count) { return {reinterpret_cast<const char*>(bytes), count}; }

MatrixView nvfp4(const std::byte* codes, const std::byte* scales) {
  MatrixView matrix;
  matrix.format = WeightFormat::nvfp4;
  matrix.rows = kRows;
  matrix.cols = kCols;
  matrix.data = codes;
  matrix.block_scales = scales;
  return matrix;
}

TEST(RowCopy, CountsTheBytesOfRows) {
  const MatrixView four_bit = nvfp4(nullptr, nullptr);
  EXPECT_EQ(element_bytes(four_bit, 3), 3 * kRowBytes);
  EXPECT_EQ(block_scale_bytes(four_bit, 3), 3 * kRowScales);
  EXPECT_EQ(element_bytes(four_bit), kRows * kRowBytes);
  EXPECT_EQ(block_scale_bytes(four_bit), kRows * kRowScales);
  MatrixView plain;
  plain.format = WeightFormat::bf16;
  plain.cols = 7;
  EXPECT_EQ(element_bytes(plain, 2), 28U);
  EXPECT_EQ(block_scale_bytes(plain, 2), 0U);
}

TEST(RowCopy, RowsInMemoryStayWhereTheyAre) {
  const std::string codes = counted(kRows * kRowBytes, 0), scales = counted(kRows * kRowScales, 0);
  const MatrixView all = nvfp4(test::as_bytes(codes).data(), test::as_bytes(scales).data());
  const MatrixView part = *RowCopy().rows(all, 2, 3);
  EXPECT_EQ(part.rows, 3);
  EXPECT_EQ(part.cols, kCols);
  EXPECT_EQ(part.data, all.data + 2 * kRowBytes);
  EXPECT_EQ(part.block_scales, all.block_scales + 2 * kRowScales);
  EXPECT_TRUE(part.row_scales.empty());

  const std::vector<float> row_scales = {0, 1, 2, 3, 4, 5};
  MatrixView per_row = all;
  per_row.format = WeightFormat::fp8_e4m3;
  per_row.block_scales = nullptr;
  per_row.row_scales = row_scales;
  const MatrixView two = rows_of(per_row, 1, 2);
  EXPECT_THAT(two.row_scales, testing::ElementsAre(1, 2));
  EXPECT_EQ(two.data, all.data + kCols);
  EXPECT_EQ(two.block_scales, nullptr);
}

TEST(RowCopy, RowsInFilesAreCopied) {
  const TempDirectory directory;
  const std::string codes = counted(kRows * kRowBytes, 1), scales = counted(kRows * kRowScales, 100);
  const auto path = directory.write("codes", codes);
  const MappedFile file = std::move(*MappedFile::open(path));
  const MappedFile scales_file = std::move(*MappedFile::open(directory.write("scales", scales)));
  MatrixView all = nvfp4(file.bytes().data(), scales_file.bytes().data());
  all.file = &file;
  all.scales_file = &scales_file;
  RowCopy copy;
  for (const auto& [first, rows] : {std::pair<int64_t, int64_t>{4, 1}, {1, 3}, {0, kRows}, {5, 1}}) {
    const auto part = copy.rows(all, first, rows);
    ASSERT_TRUE(part.ok()) << part.status().message();
    EXPECT_EQ(part->rows, rows);
    EXPECT_EQ(part->file, nullptr);
    EXPECT_EQ(part->scales_file, nullptr);
    const auto begin = static_cast<size_t>(first), count = static_cast<size_t>(rows);
    EXPECT_NE(part->data, all.data + begin * kRowBytes);
    EXPECT_NE(part->block_scales, all.block_scales + begin * kRowScales);
    EXPECT_EQ(text_of(part->data, count * kRowBytes), codes.substr(begin * kRowBytes, count * kRowBytes));
    EXPECT_EQ(text_of(part->block_scales, count * kRowScales), scales.substr(begin * kRowScales, count * kRowScales));
  }
  // Each of the two may be in memory.
  all.scales_file = nullptr;
  EXPECT_EQ(copy.rows(all, 1, 2)->block_scales, all.block_scales + kRowScales);

  std::filesystem::resize_file(path, kRowBytes);
  EXPECT_TRUE(copy.rows(all, 0, 1).ok());
  EXPECT_EQ(copy.rows(all, 0, 2).status().code(), StatusCode::unavailable);
}

}  // namespace
}  // namespace tessera::format
