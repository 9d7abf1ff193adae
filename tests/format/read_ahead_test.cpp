#include "format/read_ahead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "format/files.h"

namespace tessera::format {
namespace {

using test::TempDirectory;

std::string random_bytes(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string bytes(count, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

/// Memory for a ring of so many slots.
class Ring {
 public:
  explicit Ring(size_t slots) : memory_(slots * ReadAhead::kSlotBytes + ReadAhead::kAlignment), slots_(slots) {}

  std::span<std::byte> bytes() {
    auto at = reinterpret_cast<uintptr_t>(memory_.data());
    at = (at + ReadAhead::kAlignment - 1) / ReadAhead::kAlignment * ReadAhead::kAlignment;
    return {reinterpret_cast<std::byte*>(at), slots_ * ReadAhead::kSlotBytes};
  }

 private:
  std::vector<std::byte> memory_;
  size_t slots_;
};

/// Everything that comes, with as many pieces held at once as there are slots.
std::string read_everything(ReadAhead& reader, size_t bytes) {
  std::string all;
  size_t held = 0;
  while (all.size() < bytes) {
    if (held == reader.slots()) {
      reader.release();
      --held;
    }
    const auto piece = reader.next();
    EXPECT_TRUE(piece.ok()) << piece.status().message();
    if (!piece.ok()) break;
    all.append(reinterpret_cast<const char*>(piece->bytes.data()), piece->bytes.size());
    ++held;
  }
  return all;
}

TEST(ReadAhead, BringsRangesInTheirOrder) {
  const TempDirectory directory;
  const std::vector<std::string> contents = {random_bytes(9'000'001, 1), random_bytes(70'000, 2)};
  const std::vector<std::filesystem::path> paths = {directory.write("a", contents[0]),
                                                    directory.write("b", contents[1])};
  // Ends of files, single bytes, nothing, several pieces, one place twice.
  const std::vector<FileRange> ranges = {{0, 8'999'999, 2}, {1, 0, 70'000},   {0, 3, 9'000'000 - 3}, {1, 69'999, 1},
                                         {1, 4096, 0},      {1, 4095, 4'097}, {0, 4096, 4096},       {0, 4096, 4096}};
  std::string expected;
  for (const FileRange& range : ranges) expected += contents[range.file].substr(range.offset, range.bytes);
  for (const bool direct : {false, true}) {
    for (const int threads : {1, 5}) {
      for (const size_t slots : {1, 3, 16}) {
        Ring ring(slots);
        ReadAhead reader(paths, ranges, ring.bytes(), {.threads = threads, .direct = direct});
        ASSERT_EQ(reader.slots(), slots);
        EXPECT_TRUE(read_everything(reader, expected.size()) == expected)
            << threads << " threads, " << slots << " slots";
      }
    }
  }
}

TEST(ReadAhead, ManySmallRanges) {
  const TempDirectory directory;
  const std::string content = random_bytes(1'000'000, 3);
  const std::vector<std::filesystem::path> paths = {directory.write("a", content)};
  std::mt19937 random(4);
  std::vector<FileRange> ranges;
  std::string expected;
  for (int i = 0; i < 3000; ++i) {
    const FileRange range{0, random() % 900'000, random() % 5000};
    ranges.push_back(range);
    expected += content.substr(range.offset, range.bytes);
  }
  Ring ring(4);
  ReadAhead reader(paths, ranges, ring.bytes(), {.threads = 4, .direct = true});
  EXPECT_TRUE(read_everything(reader, expected.size()) == expected);
}

TEST(ReadAhead, SaysWhatItCannotRead) {
  const TempDirectory directory;
  const auto path = directory.write("short", random_bytes(5000, 5));
  Ring ring(2);
  {
    ReadAhead reader({path}, {{0, 0, 4000}, {0, 4000, 1001}}, ring.bytes(), {.threads = 1});
    auto piece = reader.next();
    while (piece.ok()) piece = reader.next();
    EXPECT_EQ(piece.status().code(), StatusCode::unavailable);
    EXPECT_THAT(piece.status().message(), ::testing::HasSubstr("cannot read 1001 bytes at 4000"));
  }
  ReadAhead reader({directory / "nothing"}, {{0, 0, 1}}, ring.bytes(), {.threads = 2});
  EXPECT_THAT(reader.next().status().message(), ::testing::HasSubstr("nothing: cannot open the file again"));
}

TEST(ReadAhead, MayEndEarly) {
  const TempDirectory directory;
  const auto path = directory.write("a", random_bytes(100'000, 6));
  Ring ring(2);
  for (int taken = 0; taken < 3; ++taken) {
    ReadAhead reader({path}, std::vector<FileRange>(100, {0, 0, 100'000}), ring.bytes(), {.threads = 3});
    for (int i = 0; i < taken; ++i) ASSERT_TRUE(reader.next().ok());
  }
}

}  // namespace
}  // namespace tessera::format
