#include "text/stream_detokenizer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "text/utf8.h"
#include "tokenizer_files.h"

namespace tessera::text {
namespace {

const Tokenizer& bytes_tokenizer() {
  static const Tokenizer tokenizer = test::parse(test::small_tokenizer({}, {"<s>"}));
  return tokenizer;
}

TEST(StreamDetokenizer, HoldsUnfinishedCodePoints) {
  StreamDetokenizer stream(bytes_tokenizer(), true);
  EXPECT_EQ(stream.feed('a'), "a");
  EXPECT_EQ(stream.feed(0xF0), "");
  EXPECT_EQ(stream.feed(0x9F), "");
  EXPECT_EQ(stream.feed(256), "") << "a skipped token does not interrupt";
  EXPECT_EQ(stream.feed(0x98), "");
  EXPECT_EQ(stream.feed(0x80), "\U0001F600");
  EXPECT_EQ(stream.flush(), "");
}

TEST(StreamDetokenizer, ReplacesWhatCannotBeFinished) {
  StreamDetokenizer stream(bytes_tokenizer(), false);
  EXPECT_EQ(stream.feed(0xE2), "");
  EXPECT_EQ(stream.feed('x'), "\uFFFDx");
  EXPECT_EQ(stream.feed(0x80), "\uFFFD");
  EXPECT_EQ(stream.feed(0xE2), "");
  EXPECT_EQ(stream.feed(0x82), "");
  EXPECT_EQ(stream.flush(), "\uFFFD");
  EXPECT_EQ(stream.flush(), "");
  EXPECT_EQ(stream.feed(256), "<s>");
  EXPECT_EQ(stream.feed(1'000'000), "");
}

RC_GTEST_PROP(StreamDetokenizer, EqualsDecodingAtOnce, ()) {
  const auto ids = *rc::gen::container<std::vector<int32_t>>(rc::gen::oneOf(rc::gen::inRange<int32_t>(0, 257),
                                                                            rc::gen::inRange<int32_t>(0x80, 0xC0),
                                                                            rc::gen::inRange<int32_t>(0xC0, 0x100)));
  const bool skip = *rc::gen::arbitrary<bool>();
  StreamDetokenizer stream(bytes_tokenizer(), skip);
  std::string text;
  for (const int32_t id : ids) {
    const std::string piece = stream.feed(id);
    RC_ASSERT(find_invalid_utf8(piece) == std::string::npos);
    text += piece;
  }
  text += stream.flush();
  RC_ASSERT(text == bytes_tokenizer().decode(ids, skip));
}

RC_GTEST_PROP(StreamDetokenizer, EqualsDecodingAtOnceWithTheBundledTokenizer, ()) {
  const auto ids = *rc::gen::container<std::vector<int32_t>>(rc::gen::inRange<int32_t>(-1, 3100));
  StreamDetokenizer stream(test::bundled_tokenizer(), true);
  std::string text;
  for (const int32_t id : ids) text += stream.feed(id);
  text += stream.flush();
  RC_ASSERT(text == test::bundled_tokenizer().decode(ids, true));
}

}  // namespace
}  // namespace tessera::text
