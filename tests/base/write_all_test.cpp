#include "base/write_all.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <iterator>

#include "base/read_file.h"
#include "temp_directory.h"

namespace tessera {
namespace {

std::ptrdiff_t files_in(const std::filesystem::path& directory) {
  return std::distance(std::filesystem::directory_iterator(directory), {});
}

TEST(ReplaceFile, HoldsTheNewTextAndNothingLiesBeside) {
  const test::TempDirectory directory;
  for (const std::string text : {"first", "", "another, and longer"}) {
    EXPECT_EQ(replace_file(directory / "file", text), 0);
    EXPECT_EQ(*read_regular_file(directory / "file", 100), text);
  }
  EXPECT_EQ(files_in(directory.path()), 1);
}

TEST(ReplaceFile, WhatCannotBePutInPlaceLeavesNothing) {
  const test::TempDirectory directory;
  std::filesystem::create_directory(directory / "file");  // where the text is to be
  EXPECT_EQ(replace_file(directory / "file", "text"), EISDIR);
  EXPECT_EQ(files_in(directory.path()), 1);
  EXPECT_EQ(replace_file(directory / "none/file", "text"), ENOENT);
}

/// As any new file; a file that is there keeps whom it is for.
TEST(ReplaceFile, HasTheModeOfTheFileBeforeItOrOfANewOne) {
  const test::TempDirectory directory;
  const auto mode_of_written = [&] {
    EXPECT_EQ(replace_file(directory / "file", "text"), 0);
    return static_cast<unsigned>(std::filesystem::status(directory / "file").permissions());
  };
  const mode_t before = ::umask(027);
  EXPECT_EQ(mode_of_written(), 0640U);
  std::filesystem::permissions(directory / "file", std::filesystem::perms{0604});
  EXPECT_EQ(mode_of_written(), 0604U);
  ::umask(before);
}

TEST(WriteAll, SaysWhatIsWrong) { EXPECT_EQ(write_all(-1, "text"), EBADF); }

}  // namespace
}  // namespace tessera
