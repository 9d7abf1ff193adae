// A conversation on a pseudo-terminal.

#include <gmock/gmock.h>

#include "cli/model_directory.h"

namespace tessera::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kReady = "\x1b[?2004h";  // the editor listens

class ChatTest : public ModelDirectoryTest {
 protected:
  Arguments chat(const std::string& max_tokens = "6") const {
    return {"run",      model(),        "--max-model-len", "4096", "--max-tokens",
            max_tokens, "--ignore-eos", "--seed",          "1",    "--verbose"};
  }
  /// Tokens of prompt that the last answer reported.
  static int prompt_tokens(const TerminalSession& session) {
    const std::string& shown = session.shown();
    const size_t end = shown.rfind(" tokens of prompt");
    const size_t start = shown.find_last_not_of("0123456789", end - 1) + 1;
    return std::stoi(shown.substr(start, end - start));
  }
  static void ask(TerminalSession& session, const std::string& keys) {
    ASSERT_TRUE(session.wait_for(kReady)) << session.shown();
    session.type(keys);
  }
};

TEST_F(ChatTest, KeepsTheConversationUntilItIsCleared) {
  int growth[2] = {0, 0};  // of the prompt from the first message to the second, after short and long answers
  for (const bool long_answers : {false, true}) {
    TerminalSession session(chat(long_answers ? "60" : "6"));
    ask(session, "/think off\r");
    ASSERT_TRUE(session.wait_for("Thinking is off."));
    ask(session, "Hello\r");
    ASSERT_TRUE(session.wait_for("tokens of prompt"));
    const int first = prompt_tokens(session);
    ask(session, "Hello\r");
    ASSERT_TRUE(session.wait_for("tokens of prompt"));
    growth[long_answers] = prompt_tokens(session) - first;
    ask(session, "/clear\r");
    ASSERT_TRUE(session.wait_for("forgotten"));
    ask(session, "Hello\r");
    ASSERT_TRUE(session.wait_for("tokens of prompt"));
    EXPECT_EQ(prompt_tokens(session), first);
    ask(session, "\x04");
    EXPECT_EQ(session.wait(), 0);
  }
  EXPECT_GT(growth[0], 6);
  EXPECT_GT(growth[1], growth[0] + 30);  // noise, when tokenized again, has not the same number of tokens
}

TEST_F(ChatTest, ShowsThinkingDimUnderAMarker) {
  TerminalSession session(chat());
  ask(session, "Hello\r");
  ASSERT_TRUE(session.wait_for("\x1b[2mthinking\r\n")) << session.shown();
  ASSERT_TRUE(session.wait_for("thought for ")) << session.shown();
  EXPECT_TRUE(session.wait_for("\x1b[0m"));
  ask(session, "/exit\r");
  EXPECT_EQ(session.wait(), 0);
}

TEST_F(ChatTest, AnInterruptStopsTheAnswerAndNotTheProgram) {
  TerminalSession session(chat("3000"));
  ask(session, "Hello\r");
  ASSERT_TRUE(session.wait_for("thinking"));
  session.type("\x03");
  ASSERT_TRUE(session.wait_for("(stopped)")) << session.shown();
  ask(session, "/help\r");
  ASSERT_TRUE(session.wait_for("/clear"));
  ask(session, "\x03");
  ASSERT_TRUE(session.wait_for("(Ctrl-D leaves)"));
  ask(session, "\x04");
  EXPECT_EQ(session.wait(), 0);
}

TEST_F(ChatTest, LinesCanBeEditedAndRecalled) {
  TerminalSession session(chat());
  // "/thnk on": left over " on" and "k", an "i" is put in.
  ask(session, "/thnk on\x1b[D\x1b[D\x1b[D\x1b[D\x1b[Di\r");
  ASSERT_TRUE(session.wait_for("Thinking is on.")) << session.shown();
  ask(session, "/xyz\r");
  ASSERT_TRUE(session.wait_for("There is no /xyz."));
  ask(session, "\x1b[A\x1b[A\x01\x05\r");  // Up twice, Home, End
  ASSERT_TRUE(session.wait_for("Thinking is on."));
  ask(session, "/clera\r");
  ASSERT_TRUE(session.wait_for("did you mean /clear?"));
  ask(session, "rubbish\x15/exit\r");
  EXPECT_EQ(session.wait(), 0);
}

TEST_F(ChatTest, PastedLinesAreOneMessage) {
  TerminalSession session(chat());
  ask(session, "/think off\r");
  ask(session, "\x1b[200~one\rtwo\rthree\x1b[201~\r");
  ASSERT_TRUE(session.wait_for("tokens of prompt"));
  ask(session, "\x04");
  EXPECT_EQ(session.wait(), 0);
  const std::string& shown = session.shown();
  EXPECT_EQ(shown.find("tokens of prompt"), shown.rfind("tokens of prompt")) << "one answer for three lines";
}

TEST_F(ChatTest, LinesTypedAheadAreRead) {
  TerminalSession session(chat());
  session.type("/think off\n/xyz\n");  // before the editor listens
  ASSERT_TRUE(session.wait_for("Thinking is off.")) << session.shown();
  ASSERT_TRUE(session.wait_for("There is no /xyz."));
  ask(session, "\x04");
  EXPECT_EQ(session.wait(), 0);
}

TEST_F(ChatTest, ABrokenTemplateShowsBeforeTheFirstMessage) {
  write_file(model_file("chat_template.jinja"), "{% if %}");
  TerminalSession session(chat());
  EXPECT_TRUE(session.wait_for("chat_template.jinja"));
  EXPECT_EQ(session.wait(), 1);
}

TEST_F(ChatTest, AMessageThatDoesNotFitDoesNotEndTheChat) {
  Arguments arguments = chat();
  *std::find(arguments.begin(), arguments.end(), "4096") = "64";
  TerminalSession session(arguments);
  ask(session, "\x1b[200~" + std::string(2000, 'x') + "\x1b[201~\r");
  ASSERT_TRUE(session.wait_for("the prompt has")) << session.shown();
  ask(session, "/think off\r");
  ask(session, "Hi\r");
  ASSERT_TRUE(session.wait_for("tokens of prompt")) << session.shown();
  ask(session, "\x04");
  EXPECT_EQ(session.wait(), 0);
}

TEST_F(ChatTest, ADumbTerminalGetsPlainText) {
  TerminalSession session(chat(), "dumb");
  ASSERT_TRUE(session.wait_for("> "));
  session.type("Hello\n");
  ASSERT_TRUE(session.wait_for("<think>"));
  ASSERT_TRUE(session.wait_for("tokens of prompt"));
  ASSERT_TRUE(session.wait_for("> "));
  session.type("\x04");
  EXPECT_EQ(session.wait(), 0);
  EXPECT_THAT(session.shown(), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace tessera::cli
