#include "cli/batch_digest.h"

#include <gtest/gtest.h>

#include "base/temp_directory.h"

namespace tessera::cli {
namespace {

using test::TempDirectory;

std::vector<std::string> digests(const std::string& text, uint64_t common = 7) {
  const BatchInput input = split_batch_input(text);
  return batch_digests(input, common);
}

TEST(BatchDigest, IsOfALineAndOfWhatAllHaveInCommon) {
  const auto all = digests("one\n\ntwo\none\n");
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].size(), 16U);
  EXPECT_EQ(all[1], "") << "no prompt";
  EXPECT_NE(all[0], all[2]);
  EXPECT_EQ(all[0], all[3]) << "wherever it stands";
  EXPECT_NE(all[0], digests("one\n", 8)[0]);
}

/// What is a prompt in a file of text is a request in one of JSON lines.
TEST(BatchDigest, ALineMeansSomethingElseInAFileOfAnotherKind) {
  const std::string line = "\n{\"prompt\": \"two\"}\n";
  EXPECT_NE(digests("one" + line)[1], digests("{\"prompt\": \"one\"}" + line)[1]);
}

TEST(BatchDigest, AModelIsItsSmallFilesAndTheEndsOfItsWeights) {
  const TempDirectory model;
  model.write("config.json", "{1}");
  model.write("chat_template.jinja", "a");
  model.write("model.safetensors", std::string(100'000, 'x') + "y");
  const uint64_t before = *model_digest(model.path());
  model.write("README.md", "nothing that answers depend on");
  EXPECT_EQ(*model_digest(model.path()), before);
  const auto changed = [&](const char* file, const std::string& text, const std::string& old) {
    model.write(file, text);
    const uint64_t now = *model_digest(model.path());
    model.write(file, old);
    EXPECT_EQ(*model_digest(model.path()), before);
    return now != before;
  };
  EXPECT_TRUE(changed("config.json", "{2}", "{1}"));
  EXPECT_TRUE(changed("chat_template.jinja", "b", "a"));
  const std::string weights = std::string(100'000, 'x') + "y";
  EXPECT_TRUE(changed("model.safetensors", std::string(100'000, 'x') + "z", weights));
  EXPECT_TRUE(changed("model.safetensors", std::string(100'001, 'x') + "y", weights)) << "of another length";
  std::filesystem::rename(model / "config.json", model / "generation_config.json");
  EXPECT_NE(*model_digest(model.path()), before);
  EXPECT_FALSE(model_digest(model / "not_there").ok());
}

}  // namespace
}  // namespace tessera::cli
