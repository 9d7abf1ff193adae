#include "format/read_ahead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <random>
#include <thread>

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

/// Open files, as a checkpoint has them.
class Files {
 public:
  explicit Files(const std::vector<std::filesystem::path>& paths) {
    for (const auto& path : paths) files_.push_back(std::move(*MappedFile::open(path)));
  }
  [[nodiscard]] std::vector<const MappedFile*> all() const {
    std::vector<const MappedFile*> files;
    for (const MappedFile& file : files_) files.push_back(&file);
    return files;
  }

 private:
  std::vector<MappedFile> files_;
};

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

/// From `begin` on the file is on the disk alone, where its file system has one.
void drop_from_cache(const std::filesystem::path& path, off_t begin) {
  const int fd = ::open(path.c_str(), O_RDONLY);
  EXPECT_EQ(::fsync(fd), 0);  // only what is on the disk leaves the cache
  EXPECT_EQ(::posix_fadvise(fd, begin, 0, POSIX_FADV_DONTNEED), 0);
  ::close(fd);
}

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
  const Files files({directory.write("a", contents[0]), directory.write("b", contents[1])});
  // Ends of files, single bytes, nothing, several pieces, one place twice.
  const std::vector<FileRange> ranges = {{0, 8'999'999, 2}, {1, 0, 70'000},   {0, 3, 9'000'000 - 3}, {1, 69'999, 1},
                                         {1, 4096, 0},      {1, 4095, 4'097}, {0, 4096, 4096},       {0, 4096, 4096}};
  std::string expected;
  for (const FileRange& range : ranges) expected += contents[range.file].substr(range.offset, range.bytes);
  for (const bool direct : {false, true}) {
    for (const int threads : {1, 5}) {
      for (const size_t slots : {1, 3, 16}) {
        Ring ring(slots);
        ReadAhead reader(files.all(), ranges, ring.bytes(), {.threads = threads, .direct = direct});
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
  const Files files({directory.write("a", content)});
  std::mt19937 random(4);
  std::vector<FileRange> ranges;
  std::string expected;
  for (int i = 0; i < 3000; ++i) {
    const FileRange range{0, random() % 900'000, random() % 5000};
    ranges.push_back(range);
    expected += content.substr(range.offset, range.bytes);
  }
  Ring ring(4);
  ReadAhead reader(files.all(), ranges, ring.bytes(), {.threads = 4, .direct = true});
  EXPECT_TRUE(read_everything(reader, expected.size()) == expected);
}

TEST(ReadAhead, SaysWhatItCannotRead) {
  const TempDirectory directory;
  const auto path = directory.write("short", random_bytes(6000, 5));
  const Files files({path});
  std::filesystem::resize_file(path, 5000);
  Ring ring(2);
  for (const bool direct : {false, true}) {
    ReadAhead reader(files.all(), {{0, 0, 4000}, {0, 4000, 1001}}, ring.bytes(), {.threads = 1, .direct = direct});
    auto piece = reader.next();
    while (piece.ok()) piece = reader.next();
    EXPECT_EQ(piece.status().code(), StatusCode::unavailable);
    EXPECT_THAT(piece.status().message(), ::testing::HasSubstr("short: cannot read "));
    EXPECT_THAT(piece.status().message(), ::testing::HasSubstr("the file has become shorter"));
  }
}

/// What the page cache has is taken from it, the rest of a piece from the disk: from the first page that is not there.
TEST(ReadAhead, BringsWhatThePageCacheHasInPart) {
  const TempDirectory directory;
  const std::string content = random_bytes(300'001, 7);
  const auto path = directory.write("a", content);
  const Files files({path});
  for (const bool direct : {false, true}) {
    for (const off_t gone : {0, 40'960, 126'976}) {
      drop_from_cache(path, gone);
      Ring ring(1);
      ReadAhead reader(files.all(), {{0, 5'000, 290'000}}, ring.bytes(), {.threads = 1, .direct = direct});
      EXPECT_TRUE(read_everything(reader, 290'000) == content.substr(5'000, 290'000)) << gone;
    }
  }
}

/// The file that was opened is read, whatever its path names by then.
TEST(ReadAhead, KeepsToTheFilesThatWereOpened) {
  const TempDirectory directory;
  const std::string content = random_bytes(100'000, 9);
  const auto path = directory.write("a", content);
  const Files files({path});
  std::filesystem::remove(path);
  directory.write("a", random_bytes(100'000, 10));
  Ring ring(2);
  for (const bool direct : {false, true}) {
    ReadAhead reader(files.all(), {{0, 0, content.size()}}, ring.bytes(), {.threads = 2, .direct = direct});
    EXPECT_TRUE(read_everything(reader, content.size()) == content) << direct;
  }
}

/// A failure belongs to its range: who loads a tensor is told of that tensor's bytes, not of those far ahead.
TEST(ReadAhead, BringsWhatIsBeforeWhatItCannotRead) {
  const TempDirectory directory;
  const std::string content = random_bytes(5000, 7);
  const auto cut = directory.write("cut", "xy");
  const Files files({directory.write("whole", content), cut});
  std::filesystem::resize_file(cut, 1);
  std::vector<FileRange> ranges(30, {0, 0, 5000});
  ranges.push_back({1, 0, 2});
  ranges.push_back({0, 4000, 1000});
  Ring ring(64);
  for (int run = 0; run < 50; ++run) {
    ReadAhead reader(files.all(), ranges, ring.bytes(), {.threads = 1 + run % 4});
    if (run == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the failure is there before the first
    EXPECT_TRUE(read_everything(reader, 30 * content.size()).size() == 30 * content.size());
    for (int again = 0; again < 2; ++again) {
      EXPECT_THAT(reader.next().status().message(), ::testing::HasSubstr("cut: cannot read"));
    }
  }
}

/// Of two pieces that cannot be read, the first is told, whichever failed first, whether that is asked before both have
/// failed or after. A piece fails once its bytes have been read up to where the file ends.
TEST(ReadAhead, TellsTheFirstOfTwoFailures) {
  const TempDirectory directory;
  const auto large = directory.write("large", random_bytes(ReadAhead::kPieceBytes, 11));
  const auto small = directory.write("small", random_bytes(2'000'000, 12));
  const Files files({large, small});
  std::filesystem::resize_file(large, ReadAhead::kPieceBytes - 1);
  std::filesystem::resize_file(small, 1'999'999);
  Ring ring(4);
  const auto threads = [] { return std::ranges::distance(std::filesystem::directory_iterator("/proc/self/task")); };
  const auto before = threads();
  for (int run = 0; run < 200; ++run) {
    const size_t first = run % 2;
    const std::vector<FileRange> both = {{0, 0, ReadAhead::kPieceBytes}, {1, 0, 2'000'000}};
    const bool waits = run % 4 < 2;
    // While the first is read from the disk, the second is begun.
    for (const auto& path : {large, small}) {
      if (waits) drop_from_cache(path, 0);
    }
    ReadAhead reader(files.all(), {both[first], both[1 - first]}, ring.bytes(), {.threads = 2});
    while (waits && threads() > before) std::this_thread::yield();  // they end with their failures
    EXPECT_THAT(reader.next().status().message(),
                ::testing::HasSubstr(first == 0 ? "large: cannot read" : "small: cannot read"));
  }
}

/// A server that loads again and again must not run out of descriptors.
TEST(ReadAhead, WhatWasOpenedIsClosed) {
  const auto open_files = [] {
    const std::filesystem::directory_iterator descriptors("/proc/self/fd");
    return std::distance(begin(descriptors), end(descriptors));
  };
  const TempDirectory directory;
  const auto path = directory.write("a", random_bytes(5000, 13));
  Ring ring(1);
  const auto before = open_files();
  {
    const Files files({path});
    const auto mapped = open_files();
    EXPECT_EQ(mapped, before + 1);
    { const ReadAhead reader(files.all(), {{0, 0, 5000}}, ring.bytes(), {.threads = 1, .direct = true}); }
    EXPECT_EQ(open_files(), mapped);
  }
  EXPECT_EQ(open_files(), before);
}

// The sanitizers reserve terabytes of address space, so it cannot be limited under them.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(ReadAheadDeathTest, GoesOnWithTheThreadsThatItGets) {
  const TempDirectory directory;
  const std::string content = random_bytes(1'000'000, 8);
  const Files files({directory.write("a", content)});
  Ring ring(2);
  const auto read_with_little_memory = [&] {
    // Room for the stacks of a few threads.
    std::ifstream statm("/proc/self/statm");
    size_t pages = 0;
    statm >> pages;
    const rlim_t bytes = pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE)) + (size_t{200} << 20);
    const rlimit limit{bytes, bytes};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) std::exit(2);
    ReadAhead reader(files.all(), {{0, 0, content.size()}}, ring.bytes(), {.threads = 1000});
    std::exit(read_everything(reader, content.size()) == content ? 0 : 1);
  };
  EXPECT_EXIT(read_with_little_memory(), ::testing::ExitedWithCode(0), "");
}
#endif

TEST(ReadAhead, MayEndEarly) {
  const TempDirectory directory;
  const Files files({directory.write("a", random_bytes(100'000, 6))});
  Ring ring(2);
  for (int taken = 0; taken < 3; ++taken) {
    ReadAhead reader(files.all(), std::vector<FileRange>(100, {0, 0, 100'000}), ring.bytes(), {.threads = 3});
    for (int i = 0; i < taken; ++i) ASSERT_TRUE(reader.next().ok());
  }
}

}  // namespace
}  // namespace tessera::format
