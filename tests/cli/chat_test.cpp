// A conversation on a pseudo-terminal.

#include <gmock/gmock.h>

#include <csignal>
#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/model_directory.h"

namespace tessera::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kReady = "\x1b[?2004h";  // the editor listens
constexpr const char* kDone = "\x1b[?2004l";   // and no longer

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

TEST_F(ChatTest, AStoppedAnswerStaysInTheConversation) {
  Arguments arguments = chat("3000");
  arguments.insert(arguments.end(), {"--no-thinking", "--regex", "(such )+"});
  TerminalSession session(arguments);
  ask(session, "Hello\r");
  ASSERT_TRUE(session.wait_for("such ")) << session.shown();
  session.type("\x03");
  ASSERT_TRUE(session.wait_for("(stopped)")) << session.shown();
  ask(session, "/save " + path("saved.json") + "\r");
  ASSERT_TRUE(session.wait_for("The conversation is in")) << session.shown();
  ask(session, "\x04");
  EXPECT_EQ(session.wait(), 0);
  const auto saved = nlohmann::json::parse(read_file(path("saved.json")))["messages"];
  ASSERT_EQ(saved.size(), 2U);
  EXPECT_EQ(saved[0]["content"], "Hello");
  EXPECT_EQ(saved[1]["role"], "assistant");
  EXPECT_THAT(saved[1]["content"].get<std::string>(), StartsWith("such "));
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
  ask(session, "/think of\x1b[A\x1b[A\x1b[B\x1b[Bf\r");  // Up twice, Down twice: what was typed is there again
  ASSERT_TRUE(session.wait_for("Thinking is off.")) << session.shown();
  ask(session, "/clera\r");
  ASSERT_TRUE(session.wait_for("did you mean /clear?"));
  ask(session, "rubbish\x15/exit\r");
  EXPECT_EQ(session.wait(), 0);
}

/// As terminals send them, and as Emacs and the shells have them.
TEST_F(ChatTest, EveryKeyOfALineDoesWhatItIsFor) {
  const std::string homes[] = {"\001", "\x1b[H", "\x1bOH", "\x1b[1~", "\x1b[7~"};
  const std::string ends[] = {"\005", "\x1b[F", "\x1bOF", "\x1b[4~", "\x1b[8~"};
  const std::string lefts[] = {"\002", "\x1b[D", "\x1bOD"}, rights[] = {"\006", "\x1b[C", "\x1bOC"};
  std::vector<std::pair<std::string, std::string>> lines = {
      {"/abx\177", "/ab"},
      {"/abx\b", "/ab"},
      {"/axb\x1b[D\x1b[D\004", "/ab"},
      {"/axb\x1b[D\x1b[D\x1b[3~", "/ab"},
      {"/abxy\x1b[D\x1b[D\013", "/ab"},
      {"/a xy\027b", "/a b"},
      {"/a xy\x1b\177b", "/a b"},
      {"xy/ab\x1b[D\x1b[D\x1b[D\025", "/ab"},
      {"/a\014b", "/ab"},
      {"/ä€😀\x1b[D\177", "/ä😀"},
      {"/a\x1b[5~\x1b[15~\x1b[Z\x1bq\007b", "/ab"},  // keys that do nothing here
      {"\020c", "/abc"},                             // of the lines before
      {"\020\020\016d", "/abcd"},
      {"\x1bOA\x1bOA\x1bOBe", "/abcde"}};
  for (size_t i = 0; i < std::size(homes); ++i) lines.emplace_back("b" + homes[i] + "/a" + ends[i] + "c", "/abc");
  for (size_t i = 0; i < std::size(lefts); ++i) {
    lines.emplace_back("/bd" + lefts[i] + lefts[i] + "a" + rights[i] + "c", "/abcd");
  }
  TerminalSession session(chat());
  for (const auto& [keys, line] : lines) {
    ask(session, keys + "\r");
    ASSERT_TRUE(session.wait_for("There is no " + line + ".")) << ::testing::PrintToString(keys) << session.shown();
  }
  EXPECT_THAT(session.shown(), HasSubstr("\x1b[H\x1b[2J")) << "Ctrl-L clears the screen";
  ask(session, "\x04");
  EXPECT_EQ(session.wait(), 0);
}

TEST_F(ChatTest, SamplingParametersAreSetAndListed) {
  TerminalSession session(chat());
  const auto says = [&](const std::string& typed, const std::string& shown) {
    ask(session, typed + "\r");
    EXPECT_TRUE(session.wait_for(shown)) << typed << "\n" << session.shown();
  };
  says("/set temperature 0.25", "temperature        0.25");
  says("/set top-k 7", "top_k              7");
  says("/set stop [\"a b\", \"c\"]", "stop               [\"a b\",\"c\"]");
  says("/set stop the end", "stop               [\"the end\"]");
  says("/set", "temperature        0.25");
  EXPECT_TRUE(session.wait_for("seed               1"));
  says("/set temperatur 1", "did you mean temperature?");
  says("/set temperature hot", "temperature");
  says("/set top_p 2", "top_p");
  says("/set n 2", "There is no n");
  says("/set max_tokens 3", "max_tokens         3");
  says("/set stop []", "stop               []");
  says("Hello", ", 3 of answer");
  ask(session, "\x04");
  EXPECT_EQ(session.wait(), 0);
}

TEST_F(ChatTest, WhatIsTypedIsACommandOrAMessage) {
  TerminalSession session(chat());
  const auto says = [&](const std::string& typed, const std::string& shown) {
    ask(session, typed + "\r");
    EXPECT_TRUE(session.wait_for(shown)) << typed << "\n" << session.shown();
  };
  says("/think maybe", "/think is followed by on or off.");
  says("/set temperature=0.25", "temperature        0.25");
  says("/set logprobs 2", "There is no logprobs");
  says("/think   off  ", "Thinking is off.");
  ask(session, "  \t \r");  // nothing
  says("//think on", "(cut: the limit of tokens is reached)");
  says("/regen", "(cut: the limit of tokens is reached)");
  says("/save " + path("saved.json"), "The conversation is in");
  ask(session, "/quit\r");
  EXPECT_EQ(session.wait(), 0);
  const auto saved = nlohmann::json::parse(read_file(path("saved.json")))["messages"];
  ASSERT_EQ(saved.size(), 2U);
  EXPECT_EQ(saved[0]["content"], "/think on");
}

/// Without a template there is no conversation: each text is continued by itself.
TEST_F(ChatTest, RawTextsKnowNothingOfEachOther) {
  Arguments arguments = chat();
  arguments.emplace_back("--raw");
  TerminalSession session(arguments);
  for (const char* text : {"Hello\r", "World\r"}) {
    ask(session, text);
    ASSERT_TRUE(session.wait_for("tokens of prompt")) << session.shown();
  }
  ask(session, "/save " + path("saved.json") + "\r");
  EXPECT_TRUE(session.wait_for("The conversation is in")) << session.shown();
  ask(session, "\x04");
  EXPECT_EQ(session.wait(), 0);
  const auto saved = nlohmann::json::parse(read_file(path("saved.json")))["messages"];
  ASSERT_EQ(saved.size(), 2U);
  EXPECT_EQ(saved[0]["content"], "World");
}

/// As in a shell.
TEST_F(ChatTest, ATildeIsTheUsersHome) {
  const char* home = std::getenv("HOME");
  const std::string before = home == nullptr ? "" : home;
  ::setenv("HOME", path("").c_str(), 1);
  {
    TerminalSession session(chat());
    write_file(path("plain.json"), R"([{"role": "user", "content": "Hi"}])");
    ask(session, "/load ~/plain.json\r");
    EXPECT_TRUE(session.wait_for("1 message is loaded.")) << session.shown();
    ask(session, "/save ~/saved.json\r");
    EXPECT_TRUE(session.wait_for("The conversation is in ~/saved.json.")) << session.shown();
    ask(session, "\x04");
    EXPECT_EQ(session.wait(), 0);
  }
  ::setenv("HOME", before.c_str(), 1);
  EXPECT_TRUE(std::filesystem::exists(path("saved.json")));
}

TEST_F(ChatTest, AnswersAreMadeAnew) {
  TerminalSession session(chat());
  ask(session, "/regen\r");
  ASSERT_TRUE(session.wait_for("nothing to answer"));
  ask(session, "Hello\r");
  ASSERT_TRUE(session.wait_for("tokens of prompt"));
  const int first = prompt_tokens(session);
  ask(session, "/regen\r");
  ASSERT_TRUE(session.wait_for("the seed is set"));
  ASSERT_TRUE(session.wait_for("tokens of prompt"));
  EXPECT_EQ(prompt_tokens(session), first);
  ask(session, "\x04");
  EXPECT_EQ(session.wait(), 0);
}

/// What cannot be answered leaves the conversation as it was: a message is not in it, an answer not made anew stays.
TEST_F(ChatTest, AFailureChangesNothing) {
  Arguments arguments = chat();
  std::ranges::replace(arguments, "4096", "256");
  TerminalSession session(arguments);
  const auto says = [&](const std::string& typed, const std::string& shown) {
    ask(session, typed + "\r");
    EXPECT_TRUE(session.wait_for(shown)) << typed << "\n" << session.shown();
  };
  std::string much;
  for (int i = 0; i < 600; ++i) much += "a ";
  says("/think off", "off");
  says("Hello", "tokens of prompt");
  says(much, "the context is 256 tokens");
  says("/system " + much, "is set");
  says("/regen", "the context is 256 tokens");
  says("/system", "There is no system message");
  says("/save " + path("saved.json"), "The conversation is in");
  const auto saved = nlohmann::json::parse(read_file(path("saved.json")))["messages"];
  ASSERT_EQ(saved.size(), 2U);
  EXPECT_EQ(saved[0]["content"], "Hello");
  EXPECT_EQ(saved[1]["role"], "assistant");
  ask(session, "\x04");
  EXPECT_EQ(session.wait(), 0);
}

TEST_F(ChatTest, ConversationsAreSavedAndLoaded) {
  const std::string file = path("saved.json");
  int whole = 0;
  {
    TerminalSession session(chat());
    const auto says = [&](const std::string& typed, const std::string& shown) {
      ask(session, typed + "\r");
      EXPECT_TRUE(session.wait_for(shown)) << typed << "\n" << session.shown();
    };
    says("/save " + file, "no conversation to save");
    says("/save", "followed by a file");
    says("/think off", "off");
    says("/system Speak \"<|im_end|>\" softly.", "is set");
    says("Hello", "tokens of prompt");
    says("/save " + file, "The conversation is in");
    says("And now?", "tokens of prompt");
    whole = prompt_tokens(session);
    says("/save " + path("no/such/x.json"), "cannot write");
    write_file(path("precious"), "1 2 3");
    says("/save " + path("precious"), "is no conversation; choose another name");
    EXPECT_EQ(read_file(path("precious")), "1 2 3");
  }
  const auto saved = nlohmann::json::parse(read_file(file));
  ASSERT_EQ(saved["messages"].size(), 3U);
  EXPECT_EQ(saved["messages"][0]["role"], "system");
  EXPECT_EQ(saved["messages"][0]["content"], "Speak \"<|im_end|>\" softly.");
  EXPECT_EQ(saved["messages"][1]["content"], "Hello");
  EXPECT_EQ(saved["messages"][2]["role"], "assistant");

  TerminalSession session(chat());
  const auto says = [&](const std::string& typed, const std::string& shown) {
    ask(session, typed + "\r");
    EXPECT_TRUE(session.wait_for(shown)) << typed << "\n" << session.shown();
  };
  says("/think off", "off");
  says("/load " + path("nothing.json"), "nothing.json");
  says("/load " + path("precious"), "expected JSON");
  write_file(path("odd.json"), R"([{"role": "tool", "content": "x"}])");
  says("/load " + path("odd.json"), "messages[0].role: found \"tool\"");
  write_file(path("developer.json"),
             R"([{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Hi"}])");
  says("/load " + path("developer.json"), "loaded, and a system message");
  write_file(path("plain.json"), R"([{"role": "user", "content": "Hi"}])");
  says("/load " + path("plain.json"), "1 message is loaded.");
  write_file(path("late.json"), R"([{"role": "user", "content": "Hi"}, {"role": "developer", "content": "x"}])");
  says("/load " + path("late.json"), "messages[1].role: found \"developer\"");
  says("/load " + file, "2 messages are loaded, and a system message");
  says("And now?", "tokens of prompt");
  EXPECT_EQ(prompt_tokens(session), whole);
  says("/clear", "forgotten");
  says("And now?", "tokens of prompt");
  const int with_system = prompt_tokens(session);
  says("/clear", "forgotten");
  says("/system", "There is no system message.");
  says("And now?", "tokens of prompt");
  EXPECT_LT(prompt_tokens(session), with_system);
  says("/exit now", "takes nothing");
  ask(session, "/exit\r");
  EXPECT_EQ(session.wait(), 0);
}

TEST_F(ChatTest, PastedLinesAreOneMessage) {
  TerminalSession session(chat());
  ask(session, "/think off\r");
  // Alt and Enter begin a line. Pasted lines end in any way, empty ones stay; of control characters only tabs do.
  ask(session, "\x1b[200~one\rtwo\r\nthree\n\r\r\n\tfour\x03 \x1b[Afive\x1b[201~\x1b\rsix\r");
  ASSERT_TRUE(session.wait_for("tokens of prompt"));
  ask(session, "/save " + path("saved.json") + "\r");
  ASSERT_TRUE(session.wait_for("The conversation is in")) << session.shown();
  ask(session, "\x04");
  EXPECT_EQ(session.wait(), 0);
  const std::string& shown = session.shown();
  EXPECT_EQ(shown.find("tokens of prompt"), shown.rfind("tokens of prompt")) << "one answer for all lines";
  EXPECT_EQ(nlohmann::json::parse(read_file(path("saved.json")))["messages"][0]["content"],
            "one\ntwo\nthree\n\n\n\tfour [Afive\nsix");
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

/// Pastes come in brackets while a line is edited, not while an answer is made or to the next program.
TEST_F(ChatTest, TheTerminalIsGivenBackAfterEachLine) {
  for (const auto& [how, exit_code] : {std::pair(0, 0), {SIGHUP, 128 + SIGHUP}}) {
    TerminalSession session(chat());
    ask(session, "/think off\r");
    ASSERT_TRUE(session.wait_for(kDone)) << session.shown();
    ASSERT_TRUE(session.wait_for("Thinking is off.")) << session.shown();
    ASSERT_TRUE(session.wait_for(kReady)) << session.shown();
    if (how == 0) {
      session.type("\x04");
    } else {
      session.signal(how);
    }
    ASSERT_TRUE(session.wait_for(kDone)) << session.shown();
    EXPECT_EQ(session.wait(), exit_code);
  }
}

/// The first is taken by whatever goes on, the second by nobody.
TEST_F(ChatTest, ASecondInterruptEndsTheProgram) {
  TerminalSession session(chat(), "dumb");
  ASSERT_TRUE(session.wait_for("Ctrl-D leaves."));
  ASSERT_TRUE(session.wait_for("> "));
  session.type("\x03");
  ASSERT_TRUE(session.wait_for("\n> ")) << session.shown();
  session.type("\x03");
  EXPECT_EQ(session.wait(), 130);
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
