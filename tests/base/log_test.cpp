#include "base/log.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace tessera {
namespace {

/// The level of the log where TESSERA_LOG is `value`; null: not set.
spdlog::level::level_enum level_of(const char* value) {
  const auto before = spdlog::default_logger();
  value == nullptr ? ::unsetenv("TESSERA_LOG") : ::setenv("TESSERA_LOG", value, 1);
  init_logging();
  ::unsetenv("TESSERA_LOG");
  const auto level = spdlog::default_logger()->level();
  spdlog::set_default_logger(before);
  spdlog::drop("tessera");
  return level;
}

TEST(Log, WarnsUnlessTheEnvironmentSaysOtherwise) {
  EXPECT_EQ(level_of(nullptr), spdlog::level::warn);
  EXPECT_EQ(level_of("trace"), spdlog::level::trace);
  EXPECT_EQ(level_of("info"), spdlog::level::info);
  EXPECT_EQ(level_of("error"), spdlog::level::err);
  EXPECT_EQ(level_of("off"), spdlog::level::off);
}

}  // namespace
}  // namespace tessera
