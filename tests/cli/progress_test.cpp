#include "cli/progress.h"

#include <gtest/gtest.h>

#include <string>

namespace tessera::cli {
namespace {

using Unit = ProgressBar::Unit;

constexpr uint64_t kTotal = 1'000'000'000;

TEST(Progress, TheTimeLeftIsThatOfTheRest) {
  EXPECT_EQ(pace_text(Unit::bytes, 0, kTotal, 2), "2.00 s");  // no rate yet
  EXPECT_EQ(pace_text(Unit::bytes, kTotal / 4, kTotal, 2), "125 MB/s, 6.00 s left");
  EXPECT_EQ(pace_text(Unit::bytes, kTotal / 10 * 9, kTotal, 9), "100 MB/s, 1.00 s left");
  EXPECT_EQ(pace_text(Unit::bytes, kTotal, kTotal, 8), "125 MB/s, 0.00 s left");
  EXPECT_EQ(pace_text(Unit::bytes, kTotal + 1, kTotal, 8), "125 MB/s, 0.00 s left");
  EXPECT_EQ(pace_text(Unit::steps, 30, 120, 2), "2.00 s, 6.00 s left");
}

/// What standard error has where it is no terminal.
std::string noted(bool quiet, uint64_t total, int updates) {
  ::testing::internal::CaptureStderr();
  ProgressBar bar("loading", quiet);
  for (int i = 0; i <= updates; ++i) {
    bar.update(total / static_cast<uint64_t>(updates) * static_cast<uint64_t>(i), total);
  }
  bar.clear();
  return ::testing::internal::GetCapturedStderr();
}

TEST(Progress, ALineIsWrittenForEachTenthPart) {
  const std::string text = noted(/*quiet=*/false, kTotal, 50);
  size_t at = 0;
  for (int tenth = 1; tenth < 10; ++tenth) {
    const std::string line =
        "loading: " + std::to_string(tenth) + "00 MB of 1.00 GB (" + std::to_string(tenth) + "0 %), ";
    EXPECT_EQ(text.compare(at, line.size(), line), 0) << line << "\n" << text;
    at = text.find('\n', at) + 1;
  }
  EXPECT_EQ(at, text.size()) << text;
  EXPECT_EQ(noted(/*quiet=*/true, kTotal, 50), "");
  EXPECT_EQ(noted(/*quiet=*/false, 0, 50), "");
}

}  // namespace
}  // namespace tessera::cli
