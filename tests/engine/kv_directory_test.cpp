#include "engine/kv_directory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>
#include <numeric>
#include <thread>

namespace tessera::engine {
namespace {

using testing::HasSubstr;

constexpr KvFormat kFormat = {.identity = {1, 2}, .page_bytes = 4096, .state_pages = 1};
constexpr uint64_t kPlenty = uint64_t{1} << 30;

/// Of tokens that begin with `first`.
KvEntry entry_of(int32_t first, size_t blocks = 2, int32_t first_block = 0) {
  KvEntry entry{.salt = "salt", .tokens = std::vector<int32_t>(64 * blocks), .first_block = first_block};
  std::iota(entry.tokens.begin(), entry.tokens.end(), first);
  return entry;
}

struct Pages {
  explicit Pages(size_t count, std::byte fill = std::byte{0}) : memory(count * kFormat.page_bytes, fill) {
    for (size_t i = 0; i < count; ++i) pages.push_back(memory.data() + i * kFormat.page_bytes);
    constant.assign(pages.begin(), pages.end());
  }
  std::vector<std::byte> memory;
  std::vector<std::byte*> pages;
  std::vector<const std::byte*> constant;
};

class KvDirectoryTest : public testing::Test {
 protected:
  KvDirectoryTest() {
    static int count = 0;
    path_ = std::filesystem::path(testing::TempDir()) /
            ("tessera_kv_directory_" + std::to_string(::getpid()) + "_" + std::to_string(count++));
  }
  ~KvDirectoryTest() override { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::unique_ptr<KvDirectory> open(uint64_t bytes_max = kPlenty,
                                                  const KvFormat& format = kFormat) const {
    auto opened = KvDirectory::open(path_, format, bytes_max);
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return *std::move(opened);
  }
  static Status write(KvDirectory& directory, const KvEntry& entry) {
    const Pages pages(static_cast<size_t>(entry.blocks()) + 1, static_cast<std::byte>(entry.tokens[0]));
    return directory.write(entry, pages.constant);
  }
  static bool has(KvDirectory& directory, const KvEntry& entry) {
    Pages pages(static_cast<size_t>(entry.blocks()) + 1);
    const Status status = directory.read(kv_key(entry), entry.salt, entry.tokens, entry.first_block, entry.blocks(),
                                         /*state=*/true, pages.pages);
    const std::vector<std::byte> expected(pages.memory.size(), static_cast<std::byte>(entry.tokens[0]));
    if (status.ok()) {
      EXPECT_EQ(pages.memory, expected);
    }
    return status.ok();
  }
  [[nodiscard]] size_t files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }
  [[nodiscard]] std::filesystem::path file_of(const KvEntry& entry) const {
    return path_ / fmt::format("{:016x}.kv", kv_key(entry));
  }

  std::filesystem::path path_;
};

TEST_F(KvDirectoryTest, EntriesOutliveTheProgram) {
  const KvEntry first = entry_of(2), second = entry_of(2, 5, 2);
  {
    const auto directory = open();
    ASSERT_TRUE(write(*directory, first).ok());
    ASSERT_TRUE(write(*directory, second).ok());
  }
  testing::internal::CaptureStdout();
  const auto directory = open();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "") << "nothing is amiss";
  EXPECT_EQ(directory->entries(), 2U);
  EXPECT_EQ(directory->bytes_used(), kv_file_bytes(kFormat, first) + kv_file_bytes(kFormat, second));
  EXPECT_TRUE(has(*directory, first));
  EXPECT_TRUE(has(*directory, second));
  const auto known = directory->find(kv_key(second));
  ASSERT_TRUE(known);
  EXPECT_EQ(known->first_block, 2);
  EXPECT_EQ(known->end_block, 5);
  EXPECT_FALSE(directory->find(kv_key(entry_of(3))));
  struct stat facts = {};
  ASSERT_EQ(::stat(path_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0700U);
  ASSERT_EQ(::stat((path_ / "lock").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
}

TEST_F(KvDirectoryTest, AKeyOfOtherTokensIsNoHit) {
  const auto directory = open();
  const KvEntry entry = entry_of(1);
  ASSERT_TRUE(write(*directory, entry).ok());
  Pages pages(3);
  std::vector<int32_t> others = entry.tokens;
  others[5] ^= 1;
  const auto read = [&](std::string_view salt, std::span<const int32_t> tokens, int32_t blocks) {
    return directory->read(kv_key(entry), salt, tokens, 0, blocks, /*state=*/false, pages.pages).code();
  };
  EXPECT_EQ(read("salt", others, 2), StatusCode::not_found);
  EXPECT_EQ(read("another", entry.tokens, 2), StatusCode::not_found);
  EXPECT_EQ(read("salt", entry.tokens, 3), StatusCode::not_found);
  EXPECT_EQ(read("salt", entry.tokens, 2), StatusCode::ok);
}

TEST_F(KvDirectoryTest, APartOfAnEntryIsRead) {
  const auto directory = open();
  const KvEntry entry = entry_of(1, 7, 2);
  Pages written(5 + 1);
  for (size_t i = 0; i < written.memory.size(); ++i) {
    written.memory[i] = static_cast<std::byte>(10 * (i / kFormat.page_bytes));
  }
  ASSERT_TRUE(directory->write(entry, written.constant).ok());
  const auto read = [&](int32_t first_block, int32_t blocks, bool state) {
    Pages pages(static_cast<size_t>(blocks) + (state ? 1 : 0));
    EXPECT_TRUE(directory->read(kv_key(entry), entry.salt, entry.tokens, first_block, blocks, state, pages.pages).ok());
    std::vector<int> begins;
    for (const std::byte* page : pages.pages) begins.push_back(std::to_integer<int>(*page));
    return begins;
  };
  EXPECT_THAT(read(2, 5, true), testing::ElementsAre(0, 10, 20, 30, 40, 50));
  EXPECT_THAT(read(4, 3, true), testing::ElementsAre(20, 30, 40, 50));
  EXPECT_THAT(read(3, 2, false), testing::ElementsAre(10, 20));
  Pages pages(2);
  EXPECT_EQ(directory->read(kv_key(entry), entry.salt, entry.tokens, 1, 2, /*state=*/false, pages.pages).code(),
            StatusCode::not_found)
      << "it begins behind that";
  EXPECT_THAT(read(7, 0, true), testing::ElementsAre(50));
}

TEST_F(KvDirectoryTest, WhatCannotBeWrittenTakesNoRoom) {
  const auto directory = open();
  ASSERT_TRUE(write(*directory, entry_of(1)).ok());
  const uint64_t used = directory->bytes_used();
  std::filesystem::create_directories(file_of(entry_of(2)) / "below");  // which nothing can be put in place of
  EXPECT_FALSE(write(*directory, entry_of(2)).ok());
  EXPECT_EQ(directory->bytes_used(), used);
  EXPECT_EQ(directory->entries(), 1U);
}

TEST_F(KvDirectoryTest, WhatWasUsedLongestAgoGoesFirst) {
  const uint64_t each = kv_file_bytes(kFormat, entry_of(1));
  {
    const auto directory = open(3 * each);
    for (const int32_t i : {1, 2, 3}) {
      ASSERT_TRUE(write(*directory, entry_of(i)).ok());
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // a file's time is no finer than some of them
    }
    EXPECT_TRUE(has(*directory, entry_of(1)));
    ASSERT_TRUE(write(*directory, entry_of(4)).ok());
    EXPECT_FALSE(has(*directory, entry_of(2)));
    EXPECT_EQ(directory->bytes_used(), 3 * each);
    EXPECT_EQ(files(), 3U + 1);  // and the lock
  }
  const auto smaller = open(3 * each - 1);  // the order outlives the program
  EXPECT_EQ(smaller->entries(), 2U);
  EXPECT_EQ(files(), 2U + 1);
  EXPECT_TRUE(has(*smaller, entry_of(1)));
  EXPECT_TRUE(has(*smaller, entry_of(4)));
  const Status large = write(*smaller, entry_of(5, 100));
  EXPECT_EQ(large.code(), StatusCode::resource_exhausted);
  EXPECT_THAT(large.message(), HasSubstr(fmt::format("an entry of {} bytes, behind others of 0, is larger than the KV "
                                                     "cache's directory, {}",
                                                     kv_file_bytes(kFormat, entry_of(5, 100)), 3 * each - 1)));
  EXPECT_EQ(smaller->entries(), 2U);
}

TEST_F(KvDirectoryTest, WhatFillsItToTheLastByteIsWrittenAndNothingMore) {
  const uint64_t each = kv_file_bytes(kFormat, entry_of(1));
  EXPECT_EQ(write(*open(each - 1), entry_of(1)).code(), StatusCode::resource_exhausted);
  EXPECT_TRUE(write(*open(each), entry_of(1)).ok());
}

TEST_F(KvDirectoryTest, TheFilesTimesAreTheOrderOfWhatWasThereBefore) {
  const uint64_t each = kv_file_bytes(kFormat, entry_of(1));
  for (const auto& [older, newer] : {std::pair{1, 2}, {2, 1}}) {
    {
      const auto directory = open();
      for (const auto& [entry, time] : {std::pair{entry_of(older), timespec{.tv_sec = 1000, .tv_nsec = 999'999'999}},
                                        {entry_of(newer), timespec{.tv_sec = 1001, .tv_nsec = 0}}}) {
        ASSERT_TRUE(write(*directory, entry).ok());
        const timespec times[2] = {time, time};
        ASSERT_EQ(::utimensat(AT_FDCWD, file_of(entry).c_str(), times, 0), 0);
      }
    }
    const auto directory = open(each);
    EXPECT_FALSE(directory->find(kv_key(entry_of(older))));
    EXPECT_TRUE(directory->find(kv_key(entry_of(newer))));
  }
}

/// A conversation's entries, each behind the one before.
std::vector<KvEntry> conversation(int32_t first, int32_t entries) {
  std::vector<KvEntry> all;
  for (int32_t i = 0; i < entries; ++i) all.push_back(entry_of(first, 2 * static_cast<size_t>(i + 1), 2 * i));
  return all;
}

TEST_F(KvDirectoryTest, AConversationLosesItsEndFirst) {
  const auto talk = conversation(1, 3);
  const uint64_t room = 2 * kv_file_bytes(kFormat, talk[2]) + 2 * kv_file_bytes(kFormat, talk[0]);
  {
    const auto directory = open(room);
    for (const KvEntry& entry : talk) ASSERT_TRUE(write(*directory, entry).ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // a file's time is no finer than some of them
    ASSERT_TRUE(write(*directory, entry_of(100)).ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_TRUE(has(*directory, talk[2]));  // and so those before it are used
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ASSERT_TRUE(write(*directory, entry_of(200)).ok());
    EXPECT_FALSE(directory->find(kv_key(entry_of(100))));
    EXPECT_EQ(directory->entries(), 4U);
  }
  const auto directory = open(room);  // the order outlives the program
  const auto left = [&] {
    std::vector<bool> all;
    for (const KvEntry& entry : talk) all.push_back(directory->find(kv_key(entry)).has_value());
    return all;
  };
  ASSERT_THAT(left(), testing::ElementsAre(true, true, true));
  ASSERT_TRUE(write(*directory, entry_of(300)).ok());
  EXPECT_THAT(left(), testing::ElementsAre(true, true, false));
  ASSERT_TRUE(write(*directory, entry_of(400)).ok());
  EXPECT_THAT(left(), testing::ElementsAre(true, false, false));
  ASSERT_TRUE(write(*directory, entry_of(500)).ok());
  EXPECT_THAT(left(), testing::ElementsAre(false, false, false));
  EXPECT_TRUE(directory->find(kv_key(entry_of(200))));
}

TEST_F(KvDirectoryTest, AnEntryDoesNotPushOutWhatItStandsBehind) {
  const auto talk = conversation(1, 3);
  const uint64_t two = kv_file_bytes(kFormat, talk[0]) + kv_file_bytes(kFormat, talk[1]);
  const auto directory = open(two + 4096);
  ASSERT_TRUE(write(*directory, talk[0]).ok());
  ASSERT_TRUE(write(*directory, entry_of(100)).ok());
  ASSERT_TRUE(write(*directory, talk[1]).ok());  // the other one goes, used since as it is
  EXPECT_FALSE(directory->find(kv_key(entry_of(100))));
  EXPECT_TRUE(has(*directory, talk[0]));
  EXPECT_EQ(write(*directory, talk[2]).code(), StatusCode::resource_exhausted);
  EXPECT_TRUE(has(*directory, talk[0]));
  EXPECT_TRUE(has(*directory, talk[1]));
}

TEST_F(KvDirectoryTest, WhatWasWrittenLastGoesBeforeWhatItStandsBehind) {
  const auto talk = conversation(1, 2);
  const auto directory = open(kv_file_bytes(kFormat, talk[0]) + kv_file_bytes(kFormat, talk[1]));
  for (const KvEntry& entry : talk) ASSERT_TRUE(write(*directory, entry).ok());
  ASSERT_TRUE(write(*directory, entry_of(100)).ok());
  EXPECT_TRUE(directory->find(kv_key(talk[0])));
  EXPECT_FALSE(directory->find(kv_key(talk[1])));
}

/// What KvDirectory promises, without files: entries in the order in which they go, and before them those of another
/// model. `before` is the key of what ends where an entry begins; 0: nothing has to.
class DirectoryModel {
 public:
  struct Known {
    uint64_t key = 0, before = 0, bytes = 0;
    int32_t first_block = 0, end_block = 0;
  };

  explicit DirectoryModel(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  [[nodiscard]] static Known known_of(const KvEntry& entry) {
    KvEntry begin = entry;
    begin.tokens.resize(static_cast<size_t>(entry.first_block) * 64);
    return {kv_key(entry), entry.first_block == 0 ? 0 : kv_key(begin), kv_file_bytes(kFormat, entry), entry.first_block,
            entry.end_block()};
  }
  [[nodiscard]] const Known* get(uint64_t key, int32_t end_block) const {
    const auto found = std::ranges::find_if(
        entries, [&](const Known& known) { return known.key == key && known.end_block == end_block; });
    return found == entries.end() ? nullptr : &*found;
  }
  /// The entry and what it stands behind, as far as that is there.
  [[nodiscard]] std::vector<Known> chain(const Known& from) const {
    std::vector<Known> all = {from};
    while (all.back().first_block > 0) {
      const Known* next = get(all.back().before, all.back().first_block);
      if (next == nullptr) break;
      all.push_back(*next);
    }
    return all;
  }
  [[nodiscard]] bool found(const Known& known) const {
    return get(known.key, known.end_block) != nullptr &&
           chain(*get(known.key, known.end_block)).back().first_block == 0;
  }
  void use(const Known& known) {
    for (const Known& used : chain(known)) {
      if (std::erase_if(entries, [&](const Known& other) { return other.key == used.key; }) > 0) {
        entries.push_back(used);
      }
    }
  }
  [[nodiscard]] uint64_t bytes() const {
    uint64_t sum = 0;
    for (const Known& known : entries) sum += known.bytes;
    for (const auto& [key, bytes] : foreign) sum += bytes;
    return sum;
  }
  bool write(const Known& known) {
    uint64_t wanted = 0;
    for (const Known& one : chain(known)) wanted += one.bytes;
    if (wanted > bytes_max_) return false;
    std::erase_if(entries, [&](const Known& other) { return other.key == known.key; });
    use(known);
    make_room(known.bytes);
    foreign.erase(known.key);
    entries.push_back(known);
    use(known);
    return true;
  }
  void make_room(uint64_t more) {
    while (bytes() + more > bytes_max_ && !foreign.empty()) foreign.erase(foreign.begin());
    while (bytes() + more > bytes_max_) entries.erase(entries.begin());
  }

  std::vector<Known> entries;            // the next to go first
  std::map<uint64_t, uint64_t> foreign;  // bytes of each; as their names do, the smallest goes first

 private:
  uint64_t bytes_max_;
};

TEST_F(KvDirectoryTest, AnyWritesAndReadsLeaveWhatAModelOfItSays) {
  std::vector<KvEntry> all;
  for (const int32_t first : {1, 1000, 2000}) {
    for (const KvEntry& entry : conversation(first, 4)) all.push_back(entry);
    all.push_back(entry_of(first, 6));  // by itself what the third of them ends
  }
  all.push_back(entry_of(5000, 30));  // most of the room
  uint32_t random = 1;
  const auto pick = [&](size_t below) {
    random = random * 1664525 + 1013904223;
    return static_cast<size_t>(random >> 8) % below;
  };
  for (int round = 0; round < 3; ++round) {
    std::filesystem::remove_all(path_);
    const uint64_t room = kv_file_bytes(kFormat, all.back()) + 4096 * pick(3);
    DirectoryModel model(room);
    KvFormat other = kFormat;
    other.identity = {3, 4};
    for (size_t i = 0; i < 4; ++i) {
      const KvEntry& entry = all[pick(all.size() - 1)];
      const Pages pages(static_cast<size_t>(entry.blocks()) + 1);
      ASSERT_TRUE(open(kPlenty, other)->write(entry, pages.constant).ok());
      model.foreign[kv_key(entry)] = std::filesystem::file_size(file_of(entry));
    }
    auto directory = open(room);
    model.make_room(0);
    for (int turn = 0; turn < 60; ++turn) {
      const KvEntry& entry = all[pick(all.size())];
      const auto known = DirectoryModel::known_of(entry);
      const auto* kept = model.get(known.key, known.end_block);
      const bool same = kept != nullptr && kept->first_block == entry.first_block;
      if (const size_t what = pick(16); what < 7) {
        ASSERT_EQ(write(*directory, entry).ok(), model.write(known));
      } else if (what < 12) {
        if (kept != nullptr && !same) continue;  // a part of what has the key may be there
        ASSERT_EQ(has(*directory, entry), same);
        if (same) model.use(known);
      } else {  // a program that ends, and one that comes next
        directory.reset();
        int64_t seconds = 1000;
        for (const auto& one : model.entries) {
          const timespec time = {.tv_sec = seconds, .tv_nsec = 2000 - seconds};
          const timespec times[2] = {time, time};
          const auto file = path_ / fmt::format("{:016x}.kv", one.key);
          ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
          ++seconds;
        }
        directory = open(room);
        for (const auto& one : std::vector(model.entries)) model.use(one);
      }
      ASSERT_EQ(directory->entries(), model.entries.size());
      ASSERT_EQ(directory->bytes_used(), model.bytes());
      ASSERT_EQ(files(), model.entries.size() + model.foreign.size() + 1);
      for (const KvEntry& each : all) {
        ASSERT_EQ(directory->find(kv_key(each)).has_value(), model.found(DirectoryModel::known_of(each)));
      }
    }
  }
}

TEST_F(KvDirectoryTest, WhatStandsBehindSomethingThatIsGoneIsNotFound) {
  const auto talk = conversation(1, 3);
  const auto directory = open();
  for (const KvEntry& entry : talk) ASSERT_TRUE(write(*directory, entry).ok());
  std::filesystem::remove(file_of(talk[1]));
  EXPECT_FALSE(has(*directory, talk[1]));
  EXPECT_TRUE(directory->find(kv_key(talk[0])));
  EXPECT_FALSE(directory->find(kv_key(talk[2])));
  ASSERT_TRUE(write(*directory, talk[1]).ok());
  EXPECT_TRUE(directory->find(kv_key(talk[2])));
  const KvEntry behind_one = entry_of(100, 2, 1);
  ASSERT_TRUE(write(*directory, behind_one).ok());
  EXPECT_FALSE(directory->find(kv_key(behind_one)));
  ASSERT_TRUE(write(*directory, entry_of(100, 1)).ok());
  EXPECT_TRUE(directory->find(kv_key(behind_one)));
}

TEST_F(KvDirectoryTest, DamagedAndForeignFilesAreLeftOut) {
  const KvEntry good = entry_of(1), damaged_head = entry_of(2), damaged_page = entry_of(3), torn = entry_of(4);
  {
    const auto directory = open();
    for (const KvEntry* entry : {&good, &damaged_head, &damaged_page, &torn}) {
      ASSERT_TRUE(write(*directory, *entry).ok());
    }
  }
  const auto damage = [&](const KvEntry& entry, std::streamoff at) {
    std::fstream stream(file_of(entry), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(at);
    stream.put('\x5a');
  };
  damage(damaged_head, 100);
  damage(damaged_page, static_cast<std::streamoff>(kv_file_bytes(kFormat, damaged_page)) - 100);
  std::filesystem::resize_file(file_of(torn), 5000);
  std::filesystem::rename(file_of(good), path_ / "0123456789abcdef.kv");  // the name of other tokens
  std::filesystem::copy_file(path_ / "0123456789abcdef.kv", file_of(good));
  std::ofstream(path_ / "notes.txt") << "somebody's";
  std::ofstream(path_ / "0123456789abcdee.kv.partial") << "being written when the program ended";
  std::ofstream(path_ / "0123456789abcdee.kv.partner") << "nor is this";
  std::ofstream(path_ / "0123456789ABCDEE.kv.partial") << "a name that is not made here";
  std::ofstream(path_ / "0123456789abcdee0.kv.partial") << "nor is one so long";
  std::ofstream(path_ / "0000000000000000.kv") << "damaged";
  std::filesystem::create_directory(path_ / "0123456789abcded.kv");

  testing::internal::CaptureStdout();
  const auto directory = open();
  EXPECT_THAT(testing::internal::GetCapturedStdout(),
              AllOf(HasSubstr("4 of 6 files"), HasSubstr("0123456789abcdef.kv: its name is of other tokens")));
  EXPECT_EQ(directory->entries(), 2U);
  EXPECT_TRUE(has(*directory, good));
  testing::internal::CaptureStdout();
  EXPECT_FALSE(has(*directory, damaged_page));  // noticed when it is read
  EXPECT_THAT(testing::internal::GetCapturedStdout(),
              HasSubstr(": " + file_of(damaged_page).string() + ": the checksum of page 2 is wrong"));
  EXPECT_FALSE(std::filesystem::exists(file_of(damaged_page)));
  EXPECT_EQ(directory->entries(), 1U);
  EXPECT_TRUE(std::filesystem::exists(path_ / "notes.txt"));
  EXPECT_FALSE(std::filesystem::exists(path_ / "0123456789abcdee.kv.partial"));
  EXPECT_TRUE(std::filesystem::exists(path_ / "0123456789ABCDEE.kv.partial"));
  EXPECT_TRUE(std::filesystem::exists(path_ / "0123456789abcdee0.kv.partial"));
  EXPECT_TRUE(std::filesystem::exists(path_ / "0123456789abcdee.kv.partner"));
  ASSERT_TRUE(write(*directory, torn).ok());  // in place of the torn one
  uint64_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(path_)) {
    if (file.is_regular_file() && file.path().extension() == ".kv") bytes += file.file_size();
  }
  EXPECT_EQ(directory->bytes_used(), bytes);
  EXPECT_TRUE(has(*directory, torn));
  std::filesystem::resize_file(file_of(torn), 5000);
  testing::internal::CaptureStdout();
  EXPECT_FALSE(has(*directory, torn));
  EXPECT_THAT(testing::internal::GetCapturedStdout(),
              HasSubstr("directory: " + file_of(torn).string() + ": it has 5000 bytes"));
}

TEST_F(KvDirectoryTest, FilesOfAnotherModelGiveWay) {
  const uint64_t each = kv_file_bytes(kFormat, entry_of(1));
  ASSERT_TRUE(write(*open(), entry_of(1)).ok());
  KvFormat other = kFormat;
  other.identity = {3, 4};
  testing::internal::CaptureStdout();
  const auto directory = open(3 * each - 1, other);
  EXPECT_THAT(testing::internal::GetCapturedStdout(),
              AllOf(HasSubstr("1 of 1 files"), Not(HasSubstr("left alone in the KV cache's directory"))))
      << "after an update there may be thousands";
  EXPECT_EQ(directory->entries(), 0U);
  EXPECT_FALSE(has(*directory, entry_of(1)));
  EXPECT_EQ(directory->bytes_used(), each);
  ASSERT_TRUE(write(*directory, entry_of(2)).ok());
  EXPECT_EQ(files(), 2U + 1);
  ASSERT_TRUE(write(*directory, entry_of(3)).ok());
  EXPECT_TRUE(has(*directory, entry_of(2)));
  EXPECT_TRUE(has(*directory, entry_of(3)));
  EXPECT_EQ(files(), 2U + 1);
}

TEST_F(KvDirectoryTest, FilesOfAnotherModelStayWhereThereIsRoomToTheLastByte) {
  const uint64_t each = kv_file_bytes(kFormat, entry_of(1));
  ASSERT_TRUE(write(*open(), entry_of(1)).ok());
  KvFormat other = kFormat;
  other.identity = {3, 4};
  const auto directory = open(2 * each, other);
  ASSERT_TRUE(write(*directory, entry_of(2)).ok());
  EXPECT_EQ(directory->bytes_used(), 2 * each);
  EXPECT_TRUE(std::filesystem::exists(file_of(entry_of(1))));
}

/// It is then an entry like any other, and does not go before those that were used longer ago.
TEST_F(KvDirectoryTest, WhatTookThePlaceOfAFileOfAnotherModelStays) {
  KvFormat other = kFormat;
  other.identity = {3, 4};
  ASSERT_TRUE(write(*open(kPlenty, other), entry_of(1)).ok());
  const uint64_t each = kv_file_bytes(kFormat, entry_of(1));
  const auto directory = open(2 * each);
  ASSERT_TRUE(write(*directory, entry_of(1)).ok());
  ASSERT_TRUE(write(*directory, entry_of(2)).ok());
  EXPECT_TRUE(has(*directory, entry_of(1)));
  ASSERT_TRUE(write(*directory, entry_of(3)).ok());
  EXPECT_TRUE(has(*directory, entry_of(1)));
  EXPECT_FALSE(directory->find(kv_key(entry_of(2))));
  EXPECT_EQ(directory->bytes_used(), 2 * each);
}

TEST_F(KvDirectoryTest, OneProcessHasItAtATime) {
  const auto first = open();
  const auto second = KvDirectory::open(path_, kFormat, kPlenty);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), StatusCode::unavailable);
  EXPECT_THAT(second.status().message(), HasSubstr("another process"));
}

TEST_F(KvDirectoryTest, WhatCannotBeADirectoryIsAnError) {
  std::ofstream(path_) << "a file";
  for (const auto& path : {path_, path_ / "below", path_.parent_path() / "missing" / "below"}) {
    const auto opened = KvDirectory::open(path, kFormat, kPlenty);
    ASSERT_FALSE(opened.ok()) << path;
    EXPECT_EQ(opened.status().code(), StatusCode::unavailable);
    EXPECT_THAT(opened.status().message(), HasSubstr(path.string()));
  }
}

TEST_F(KvDirectoryTest, AProcessThatIsKilledWhileItWritesLeavesWholeEntries) {
  std::vector<KvEntry> entries;
  for (int32_t i = 1; i <= 30; ++i) entries.push_back(entry_of(i, 40));
  size_t kept = 0;
  for (int round = 0; round < 6; ++round) {
    int news[2];
    ASSERT_EQ(::pipe(news), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(news[0]);
      auto directory = KvDirectory::open(path_, kFormat, kPlenty);
      if (!directory.ok()) ::_exit(1);
      for (;;) {
        for (const KvEntry& entry : entries) {
          if (!write(**directory, entry).ok()) ::_exit(2);
          if (::write(news[1], "x", 1) != 1) ::_exit(3);
        }
      }
    }
    ::close(news[1]);
    char some[8];
    // Killed in the middle of one of the next writes.
    for (int i = 0; i < 3 + round; ++i) EXPECT_EQ(::read(news[0], some, 1), 1);
    std::this_thread::sleep_for(std::chrono::microseconds(500 * round));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    ::close(news[0]);

    const auto directory = open();
    kept = 0;
    for (const KvEntry& entry : entries) {
      if (!directory->find(kv_key(entry))) continue;
      ++kept;
      EXPECT_TRUE(has(*directory, entry));
    }
    EXPECT_GE(kept, static_cast<size_t>(2 + round));  // all but what was being written
    EXPECT_EQ(files(), kept + 1);
  }
}

}  // namespace
}  // namespace tessera::engine
