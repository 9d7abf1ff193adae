#include "cli/batch_output.h"

#include <gmock/gmock.h>

#include <sstream>

#include "base/temp_directory.h"

namespace tessera::cli {
namespace {

using test::TempDirectory;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string text_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

/// Of an earlier run, what is of this input counts, once; an error that has been put right is no failure any more.
TEST(BatchOutput, GoesOnWithWhatIsOfThisInput) {
  const TempDirectory directory;
  const std::string answer = R"({"index":0,"digest":"a","text":"first"})"
                             "\n";
  const std::string failure = R"({"index":2,"digest":"c","error":"too long"})"
                              "\n";
  const std::string unsaid = R"({"index":3,"error":"of a line that holds no prompt now"})"
                             "\n";
  const std::string stale = R"({"index":1,"digest":"z","error":"there is no key temprature"})"
                            "\n";
  const std::string file = directory.write("answers", stale + answer + failure + unsaid + answer + failure + "{\"ind");
  {
    const auto output = BatchOutput::open(file, {"a", "b", "c", ""});
    ASSERT_TRUE(output.ok()) << output.status().message();
    EXPECT_THAT(output->done(), ElementsAre(0, 2, 3));
    EXPECT_EQ(output->failed(), 2U);
    EXPECT_EQ(output->stale(), 3U);
    EXPECT_EQ(text_of(file), answer + failure + unsaid);
  }
  auto output = BatchOutput::open(file, {"a", "b", "c", "d"});
  ASSERT_TRUE(output.ok()) << output.status().message();
  EXPECT_EQ(output->failed(), 1U);
  EXPECT_EQ(output->stale(), 1U);
  ASSERT_TRUE(output->write("more").ok());
  EXPECT_EQ(text_of(file), answer + failure + "more\n");
}

TEST(BatchOutput, OfATornLineAloneNothingIsLeft) {
  const TempDirectory directory;
  const std::string file = directory.write("answers", R"({"index":0,"dig)");
  const auto output = BatchOutput::open(file, {"a"});
  ASSERT_TRUE(output.ok()) << output.status().message();
  EXPECT_THAT(output->done(), IsEmpty());
  EXPECT_EQ(output->stale(), 0U);
  EXPECT_EQ(text_of(file), "");
}

}  // namespace
}  // namespace tessera::cli
