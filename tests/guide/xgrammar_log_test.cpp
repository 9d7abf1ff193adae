#include "guide/xgrammar_log.h"

#include <gtest/gtest.h>

#include <stdexcept>

// What xgrammar calls, and this repository defines.
namespace xgrammar {
[[noreturn]] void LogFatalImpl(const std::string& file, int line, const std::string& message);
void LogMessageImpl(const std::string& file, int line, int level, const std::string& message);
}  // namespace xgrammar

namespace tessera::guide {
namespace {

std::string fault_of(const std::string& message) {
  try {
    xgrammar::LogFatalImpl("a.cc", 3, message);
  } catch (const std::runtime_error& fault) {
    return fault.what();
  }
}

TEST(XgrammarLog, AFailedCheckSaysWhatStandsBehindIt) {
  EXPECT_EQ(fault_of("no such rule"), "no such rule");
  EXPECT_EQ(fault_of("Check failed: (a < b) is false: too many rules"), "too many rules");
  EXPECT_EQ(fault_of("Check failed: (a < b) is false: "), "Check failed: (a < b) is false: ") << "better than nothing";
  EXPECT_EQ(fault_of("the rule (a) is false: b"), "the rule (a) is false: b") << "no check";
}

TEST(XgrammarLog, WarningsGoToWhoeverListensOnTheThread) {
  constexpr int kInfo = 1, kWarning = 2;
  xgrammar::LogMessageImpl("a.cc", 3, kWarning, "nobody listens");
  const Warnings warnings;
  xgrammar::LogMessageImpl("a.cc", 3, kInfo, "so it is");
  EXPECT_TRUE(warnings.messages().empty());
  xgrammar::LogMessageImpl("a.cc", 3, kWarning, "it is ignored");
  ASSERT_EQ(warnings.messages().size(), 1U);
  EXPECT_EQ(warnings.messages()[0], "it is ignored");
}

}  // namespace
}  // namespace tessera::guide
