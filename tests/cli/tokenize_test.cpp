#include <gmock/gmock.h>

#include "cli/model_directory.h"

namespace tessera::cli {
namespace {

using ::testing::HasSubstr;

class TokenizeTest : public ModelDirectoryTest {};

TEST_F(TokenizeTest, RoundTrip) {
  for (const std::string text : {"Hello, world!", "  spaces\t\ttabs\n\nlines\r\n",
                                 "\xE4\xBD\xA0\xE5\xA5\xBD \xF0\x9F\x98\x80 \xC3\xA9", "<|im_start|>user"}) {
    const Finished ids = run_tessera({"tokenize", model()}, text);
    ASSERT_EQ(ids.exit_code, 0) << ids.err;
    EXPECT_EQ(run_tessera({"tokenize", model(), "--decode"}, ids.out).out, text);
    EXPECT_EQ(run_tessera({"tokenize", model(), "--", text}).out, ids.out);
    EXPECT_EQ(run_tessera({"tokenize", model_file("tokenizer.json"), "--", text}).out, ids.out);
  }
}

TEST_F(TokenizeTest, SpecialTokensCanBeText) {
  const Finished special = run_tessera({"tokenize", model(), "<|im_end|>"});
  const Finished text = run_tessera({"tokenize", model(), "<|im_end|>", "--no-special"});
  EXPECT_EQ(special.out.find(','), std::string::npos);
  EXPECT_NE(text.out.find(','), std::string::npos);
  EXPECT_EQ(run_tessera({"tokenize", model(), "--decode", "--skip-special-tokens", special.out}).out, "");
}

TEST_F(TokenizeTest, PiecesShowBytes) {
  const Finished pieces = run_tessera({"tokenize", model(), "--pieces", "a\n\x7F\xF0\x9F\x98\x80\\n\t~"});
  EXPECT_THAT(pieces.out, HasSubstr("\ta\n"));
  EXPECT_THAT(pieces.out, HasSubstr("\t\\n\n"));
  EXPECT_THAT(pieces.out, HasSubstr("\t\\x7f\n"));
  EXPECT_THAT(pieces.out, HasSubstr("\\xf0"));
  EXPECT_THAT(pieces.out, HasSubstr("\t\\\\\n"));  // else this and an n would read as a line's end
  EXPECT_THAT(pieces.out, HasSubstr("\t\\x09\n"));
  EXPECT_THAT(pieces.out, HasSubstr("\t~\n"));
}

/// What tokens stand for must not act on the terminal.
TEST_F(TokenizeTest, ControlCharactersDoNotReachATerminal) {
  const Finished ids = run_tessera({"tokenize", model()}, "\x1b]0;t\x07");
  TerminalSession session({"tokenize", model(), "--decode", ids.out});
  EXPECT_EQ(session.wait(), 0);
  EXPECT_THAT(session.shown(), HasSubstr("^[]0;t^G"));
}

TEST_F(TokenizeTest, DecodeTakesManyArguments) {
  EXPECT_EQ(run_tessera({"tokenize", model(), "--decode", "10", "11", "12"}).out,
            run_tessera({"tokenize", model(), "--decode", "[10, 11, 12]"}).out);
}

TEST_F(TokenizeTest, SaysWhatIsWrong) {
  const Finished utf8 = run_tessera({"tokenize", model()}, "abc\xFF");
  EXPECT_EQ(utf8.exit_code, 1);
  EXPECT_THAT(utf8.err, HasSubstr("UTF-8"));
  const Finished ids = run_tessera({"tokenize", model(), "--decode", "1", "two"});
  EXPECT_EQ(ids.exit_code, 1);
  EXPECT_THAT(ids.err, HasSubstr("\"two\""));
  const Finished unknown = run_tessera({"tokenize", model(), "--decode", "1", "99999"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("token 1 is 99999"));
  EXPECT_EQ(run_tessera({"tokenize", path("nowhere"), "x"}).exit_code, 1);
  EXPECT_EQ(run_tessera({"tokenize", model(), ""}, "not read").out, "[]\n");
}

}  // namespace
}  // namespace tessera::cli
