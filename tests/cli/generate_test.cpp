#include "cli/generate.h"

#include <gtest/gtest.h>

namespace tessera::cli {
namespace {

/// The rate is of the tokens behind the first, in the time behind it.
TEST(Outcome, SaysHowFastItWas) {
  EXPECT_EQ(speed_text({.prompt_tokens = 7, .tokens = 25, .first_token_seconds = 1.5, .seconds = 3.5}),
            "7 tokens of prompt, 25 of answer in 3.50 s (first after 1.50 s, then 12.0 tokens/s)");
  EXPECT_EQ(speed_text({.prompt_tokens = 7, .tokens = 1, .first_token_seconds = 1.5, .seconds = 1.5}),
            "7 tokens of prompt, 1 of answer in 1.50 s");
}

}  // namespace
}  // namespace tessera::cli
