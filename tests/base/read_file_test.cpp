#include "base/read_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "temp_directory.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;

/// The number that the next file to be opened has: the lowest that is free.
int next_descriptor() {
  const int descriptor = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(descriptor);
  return descriptor;
}

TEST(ReadFile, ReadsAllOfARegularFile) {
  const test::TempDirectory directory;
  const int next = next_descriptor();
  for (const size_t size : {size_t{0}, size_t{1}, size_t{65536}, size_t{1'000'000}}) {
    std::string content(size, 'x');
    if (size > 0) content.back() = '\0';
    const auto text = read_regular_file(directory.write("file", content), 1'000'000);
    ASSERT_TRUE(text.ok()) << text.status().message();
    EXPECT_EQ(*text, content);
  }
  std::filesystem::create_symlink("file", directory / "link");
  EXPECT_TRUE(read_regular_file(directory / "link", 1'000'000).ok());
  EXPECT_EQ(next_descriptor(), next) << "files stay open";
}

TEST(ReadFile, RefusesTheRest) {
  const test::TempDirectory directory;
  const auto refused = [](const std::filesystem::path& file, StatusCode code, const char* why) {
    const int next = next_descriptor();
    const Status status = read_regular_file(file, 10).status();
    EXPECT_EQ(next_descriptor(), next) << file << " stays open";
    EXPECT_EQ(status.code(), code) << file;
    EXPECT_THAT(status.message(), ::testing::AllOf(HasSubstr(file.string()), HasSubstr(why)));
  };
  refused(directory / "nothing", StatusCode::not_found, "No such file or directory");
  refused(directory.write("file", "text") / "below", StatusCode::not_found, "Not a directory");
  refused(directory.write("large", std::string(11, 'x')), StatusCode::resource_exhausted, "larger than 10 bytes");
  refused(directory.path(), StatusCode::invalid_argument, "is a directory, expected a regular file");
  ASSERT_EQ(::mkfifo((directory / "pipe").c_str(), 0600), 0);
  refused(directory / "pipe", StatusCode::invalid_argument, "is a pipe, expected a regular file");
  refused("/dev/zero", StatusCode::invalid_argument, "is a device, expected a regular file");
}

}  // namespace
}  // namespace tessera
