#include "engine/kv_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <set>

#include "base/hash.h"

namespace tessera::engine {
namespace {

using testing::HasSubstr;

constexpr KvFormat kFormat = {.identity = {1, 2}, .page_bytes = 100, .state_pages = 2};

KvEntry entry_of(size_t blocks, int32_t first_block) {
  KvEntry entry{.salt = "salt", .tokens = std::vector<int32_t>(64 * blocks), .first_block = first_block};
  std::iota(entry.tokens.begin(), entry.tokens.end(), 7);
  return entry;
}

struct Pages {
  explicit Pages(size_t count) : memory(count * kFormat.page_bytes) {
    uint64_t random = 1;
    for (std::byte& byte : memory) byte = static_cast<std::byte>(splitmix64(random));
    for (size_t i = 0; i < count; ++i) {
      pages.push_back(memory.data() + i * kFormat.page_bytes);
      constant.push_back(pages.back());
    }
  }
  std::vector<std::byte> memory;
  std::vector<std::byte*> pages;
  std::vector<const std::byte*> constant;
};

class KvFileTest : public testing::Test {
 protected:
  KvFileTest() {
    static int count = 0;
    directory_ = std::filesystem::path(testing::TempDir()) /
                 ("tessera_kv_file_" + std::to_string(::getpid()) + "_" + std::to_string(count++));
    std::filesystem::create_directory(directory_);
    file_ = directory_ / "entry.kv";
  }
  ~KvFileTest() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] std::string text() const {
    std::ifstream stream(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void overwrite(const std::string& text) const { std::ofstream(file_, std::ios::binary) << text; }
  /// Opens the file and reads all of it.
  [[nodiscard]] Status read_all(size_t count) const {
    Pages read(count);
    const auto file = KvFile::open(file_, kFormat);
    if (!file.ok()) return file.status();
    return file->read_pages(0, read.pages);
  }

  std::filesystem::path directory_, file_;
};

TEST_F(KvFileTest, WhatWasWrittenIsRead) {
  const KvEntry entry = entry_of(5, 2);
  const Pages pages(3 + 2);
  ASSERT_TRUE(write_kv_file(file_, kFormat, entry, pages.constant).ok());
  EXPECT_EQ(std::filesystem::file_size(file_), kv_file_bytes(kFormat, entry));
  struct stat facts = {};
  ASSERT_EQ(::stat(file_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
  EXPECT_FALSE(std::filesystem::exists(file_.string() + ".partial"));

  const auto file = KvFile::open(file_, kFormat);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->entry(), entry);
  Pages read(5);
  std::ranges::fill(read.memory, std::byte{0});
  ASSERT_TRUE(file->read_pages(0, read.pages).ok());
  EXPECT_EQ(read.memory, pages.memory);
  Pages some(2);
  ASSERT_TRUE(file->read_pages(3, some.pages).ok());
  EXPECT_TRUE(std::ranges::equal(some.memory, std::span(pages.memory).subspan(300)));
}

TEST_F(KvFileTest, EveryByteThatIsNotWhatWasWrittenIsNoticed) {
  const Pages pages(1 + 2);
  ASSERT_TRUE(write_kv_file(file_, kFormat, entry_of(2, 1), pages.constant).ok());
  const std::string whole = text();
  ASSERT_TRUE(read_all(3).ok());
  const int descriptor = ::open(file_.c_str(), O_RDWR);
  ASSERT_GE(descriptor, 0);
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int bit : {0, 3, 7}) {
      const auto damaged = static_cast<char>(whole[at] ^ (1 << bit));
      ASSERT_EQ(::pwrite(descriptor, &damaged, 1, static_cast<off_t>(at)), 1);
      const Status status = read_all(3);
      ASSERT_FALSE(status.ok()) << "byte " << at << ", bit " << bit;
      ASSERT_TRUE(status.code() == StatusCode::corrupt_data || status.code() == StatusCode::unsupported);
      const bool in_head = at < whole.size() - 3 * kFormat.page_bytes;
      ASSERT_EQ(KvFile::open(file_, kFormat).ok(), !in_head) << "byte " << at << ", bit " << bit;
    }
    ASSERT_EQ(::pwrite(descriptor, &whole[at], 1, static_cast<off_t>(at)), 1);
  }
  ::close(descriptor);
  EXPECT_TRUE(read_all(3).ok());
}

TEST_F(KvFileTest, ATornFileIsNoticedWhereverItEnds) {
  const Pages pages(1 + 2);
  ASSERT_TRUE(write_kv_file(file_, kFormat, entry_of(2, 1), pages.constant).ok());
  const std::string whole = text();
  const int descriptor = ::open(file_.c_str(), O_RDWR);
  ASSERT_GE(descriptor, 0);
  const auto length = static_cast<off_t>(whole.size());
  for (off_t size = 0; size < length; ++size) {
    ASSERT_EQ(::ftruncate(descriptor, size), 0);
    ASSERT_EQ(read_all(3).code(), StatusCode::corrupt_data) << size;
    ASSERT_EQ(::ftruncate(descriptor, length), 0);  // zeros, as a file system may leave it
    if (text() != whole) {
      ASSERT_FALSE(read_all(3).ok()) << size;
    }
    ASSERT_EQ(::pwrite(descriptor, whole.data(), whole.size(), 0), length);
  }
  ::close(descriptor);
  overwrite(whole + "x");
  const Status longer = read_all(3);
  EXPECT_EQ(longer.code(), StatusCode::corrupt_data);
  EXPECT_THAT(longer.message(),
              HasSubstr(fmt::format("it has {} bytes, and its head says {}", whole.size() + 1, whole.size())));
}

TEST_F(KvFileTest, FilesOfOthersAreToldApart) {
  const Pages pages(1 + 2);
  ASSERT_TRUE(write_kv_file(file_, kFormat, entry_of(2, 1), pages.constant).ok());
  for (const KvFormat& other : {KvFormat{.identity = {1, 3}, .page_bytes = 100, .state_pages = 2},
                                KvFormat{.identity = {1, 2}, .page_bytes = 150, .state_pages = 0},
                                KvFormat{.identity = {1, 2}, .page_bytes = 100, .state_pages = 1}}) {
    EXPECT_EQ(KvFile::open(file_, other).status().code(), StatusCode::unsupported);
  }
  overwrite("a text of somebody that is longer than the head of an entry, and no entry at all");
  const Status status = KvFile::open(file_, kFormat).status();
  EXPECT_EQ(status.code(), StatusCode::corrupt_data);
  EXPECT_THAT(status.message(), HasSubstr(file_.string()));
}

/// Of the same identity, but with pages of another size or number.
TEST_F(KvFileTest, PagesOfAnotherShapeAreToldApart) {
  const Pages pages(3 + 2);
  ASSERT_TRUE(write_kv_file(file_, kFormat, entry_of(5, 2), pages.constant).ok());
  KvFormat larger = kFormat, more = kFormat;
  larger.page_bytes = 101;
  more.state_pages = 3;
  for (const KvFormat& format : {larger, more}) {
    const Status status = KvFile::open(file_, format).status();
    EXPECT_EQ(status.code(), StatusCode::unsupported);
    EXPECT_THAT(status.message(), HasSubstr("its pages have 100 bytes, 2 to a state"));
  }
}

TEST_F(KvFileTest, AnEntryWithoutABlockIsNone) {
  const Pages pages(2);
  overwrite(make_kv_head(kFormat, entry_of(3, 3), pages.constant) + std::string(2 * kFormat.page_bytes, 0));
  EXPECT_THAT(KvFile::open(file_, kFormat).status().message(), HasSubstr("head is damaged"));
}

/// Whatever sum they make: what is out of bounds is not added up.
TEST_F(KvFileTest, NumbersOutOfBoundsAreDamage) {
  struct Case {
    uint64_t tokens = 0;
    uint32_t first_block = 0;
    uint64_t salt_bytes = 0;
    bool sound = false;
  };
  const Pages pages(1 + 2);
  for (const Case& one :
       {Case{64, 0, 0, true}, Case{0, 0, 0, false}, Case{65, 0, 0, false}, Case{128, 1, 0, true},
        Case{128, 2, 0, false}, Case{kEntryTokensMax, 0, kSaltMax, true}, Case{kEntryTokensMax + 64, 0, 0, false},
        Case{uint64_t{1} << 62, 0, 0, false}, Case{64, 0, kSaltMax + 1, false}, Case{64, 0, ~uint64_t{0}, false}}) {
    std::string head = make_kv_head(kFormat, entry_of(1, 0), pages.constant);
    std::memcpy(head.data() + 32, &one.tokens, sizeof(one.tokens));
    std::memcpy(head.data() + 40, &one.first_block, sizeof(one.first_block));
    std::memcpy(head.data() + 48, &one.salt_bytes, sizeof(one.salt_bytes));
    const Status status = parse_kv_head(kFormat, head, /*file_bytes=*/0).status();
    EXPECT_EQ(status.code(), StatusCode::corrupt_data);
    EXPECT_THAT(status.message(), HasSubstr(one.sound ? "it has 0 bytes, and its head says" : "its head is damaged"))
        << one.tokens << " tokens from block " << one.first_block << " on, a salt of " << one.salt_bytes << " bytes";
  }
}

/// By somebody, while it is open; each page is told by its number.
TEST_F(KvFileTest, PagesThatAreCutOffOrChangedAreNoticed) {
  const Pages pages(2 + 2);
  ASSERT_TRUE(write_kv_file(file_, kFormat, entry_of(2, 0), pages.constant).ok());
  const auto file = KvFile::open(file_, kFormat);
  ASSERT_TRUE(file.ok());
  Pages read(4);
  const auto expect = [&](const char* what) {
    const Status status = file->read_pages(0, read.pages);
    EXPECT_EQ(status.code(), StatusCode::corrupt_data);
    EXPECT_THAT(status.message(), HasSubstr(what));
  };
  const size_t end = kv_file_bytes(kFormat, entry_of(2, 0));
  std::filesystem::resize_file(file_, end - kFormat.page_bytes);
  expect("page 3 is cut off");
  std::filesystem::resize_file(file_, end - 2 * kFormat.page_bytes - 1);
  expect("page 1 is cut off");
  std::filesystem::resize_file(file_, end);  // with zeros
  expect("the checksum of page 1 is wrong");
}

TEST_F(KvFileTest, IsOpenAsLongAsItIsHeld) {
  const auto count = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); };
  const Pages pages(1 + 2);
  const auto before = count();
  ASSERT_TRUE(write_kv_file(file_, kFormat, entry_of(2, 1), pages.constant).ok());
  ASSERT_TRUE(KvFile::open(file_, kFormat).ok());
  std::filesystem::resize_file(file_, 100);
  ASSERT_FALSE(KvFile::open(file_, kFormat).ok());
  EXPECT_EQ(count(), before);
}

TEST_F(KvFileTest, LinksPipesAndDirectoriesAreNotRead) {
  EXPECT_EQ(KvFile::open(file_, kFormat).status().code(), StatusCode::not_found);
  std::filesystem::create_symlink("/etc/passwd", file_);
  EXPECT_FALSE(KvFile::open(file_, kFormat).ok());
  std::filesystem::remove(file_);
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  EXPECT_EQ(KvFile::open(file_, kFormat).status().code(), StatusCode::corrupt_data);
  EXPECT_EQ(KvFile::open(directory_, kFormat).status().code(), StatusCode::corrupt_data);
}

/// By a program that ended while it wrote something longer.
TEST_F(KvFileTest, WhatWasLeftOfAnotherWriteIsOverwritten) {
  const Pages pages(1 + 2);
  std::ofstream(file_.string() + ".partial", std::ios::binary) << std::string(1'000'000, 'x');
  ASSERT_TRUE(write_kv_file(file_, kFormat, entry_of(2, 1), pages.constant).ok());
  EXPECT_EQ(std::filesystem::file_size(file_), kv_file_bytes(kFormat, entry_of(2, 1)));
  EXPECT_TRUE(read_all(3).ok());
}

TEST_F(KvFileTest, WhatCannotBeWrittenLeavesNothing) {
  const Pages pages(1 + 2);
  const Status status = write_kv_file(directory_ / "missing" / "entry.kv", kFormat, entry_of(2, 1), pages.constant);
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
  std::filesystem::create_directories(file_ / "below");  // which nothing can be put in place of
  EXPECT_FALSE(write_kv_file(file_, kFormat, entry_of(2, 1), pages.constant).ok());
  EXPECT_FALSE(std::filesystem::exists(file_.string() + ".partial"));
}

/// As those of a pipe do not.
TEST_F(KvFileTest, WhoseBytesDoNotReachTheDiskDoesNotTakeItsName) {
  const std::string partial = file_.string() + ".partial";
  ASSERT_EQ(::mkfifo(partial.c_str(), 0600), 0);
  const int reader = ::open(partial.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  EXPECT_EQ(write_kv_file(file_, kFormat, entry_of(2, 1), Pages(1 + 2).constant).code(), StatusCode::unavailable);
  ::close(reader);
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

TEST(KvKey, TellsSaltsTokensAndLengthsApart) {
  std::set<uint64_t> keys = {kv_root_key(""), kv_root_key("a")};
  for (const size_t blocks : {1, 2, 3}) {
    KvEntry entry = entry_of(blocks, 0);
    keys.insert(kv_key(entry));
    entry.salt = "another";
    keys.insert(kv_key(entry));
    entry.tokens.back() ^= 1;
    keys.insert(kv_key(entry));
  }
  EXPECT_EQ(keys.size(), 11U);
  EXPECT_EQ(kv_key(entry_of(2, 0)), kv_key(entry_of(2, 1)));
}

TEST(Checksum, NoticesFlipsThatWouldCancelInASum) {
  std::vector<std::byte> bytes(256);
  const uint64_t whole = checksum(bytes);
  for (size_t a = 0; a < 256; a += 8) {
    for (size_t b = a + 8; b < 256; b += 8) {
      bytes[a + 7] ^= std::byte{0x80};
      bytes[b + 7] ^= std::byte{0x80};
      EXPECT_NE(checksum(bytes), whole) << a << " " << b;
      bytes[a + 7] ^= std::byte{0x80};
      bytes[b + 7] ^= std::byte{0x80};
    }
  }
  EXPECT_NE(checksum({bytes.data(), 255}), whole);
  EXPECT_NE(checksum(bytes, 1), whole);
}

}  // namespace
}  // namespace tessera::engine
