// One prompt, one answer.

#include <gmock/gmock.h>
#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/model_directory.h"

namespace tessera::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class RunTest : public ModelDirectoryTest {
 protected:
  /// `run MODEL ...` that must succeed; its standard output.
  std::string run(Arguments arguments, const std::string& input = "") {
    arguments.insert(arguments.begin(), {"run", model(), "--quiet", "--max-tokens", "12", "--seed", "3"});
    const Finished result = run_tessera(arguments, input);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, IsEmpty());
    return result.out;
  }
};

TEST_F(RunTest, ThinkingStandsBetweenMarkers) {
  const std::string answer = run({"Hello"});
  EXPECT_THAT(answer, StartsWith("<think>\n"));
  EXPECT_THAT(answer, HasSubstr("\n</think>\n"));
  EXPECT_THAT(run({"Hello", "--no-thinking"}), Not(HasSubstr("think>")));
  EXPECT_EQ(run({"Hello", "--no-thinking"}),
            run({"Hello", "--default-chat-template-kwargs", R"({"enable_thinking": false})"}));
  // This model never ends its thinking within 12 tokens.
  EXPECT_THAT(run({"Hello", "--hide-thinking"}), IsEmpty());
}

TEST_F(RunTest, TheSameSeedGivesTheSameAnswer) {
  const std::string answer = run({"Hello"});
  EXPECT_EQ(run({"Hello"}), answer);
  EXPECT_EQ(run({"Hello", "--threads", "1", "--max-num-seqs", "3"}), answer);
  EXPECT_NE(run({"Hello", "--temperature", "2"}), answer);
  EXPECT_NE(run({"Hello", "--system", "Be brief."}), answer);
}

TEST_F(RunTest, AFlagWinsOverTheSameParameterInJson) {
  const std::string greedy = run({"Hello", "--temperature", "0"}), hot = R"({"temperature": 2, "max_new_tokens": 9})";
  EXPECT_NE(run({"Hello", "--override-generation-config", R"({"temperature": 2})"}), greedy);
  EXPECT_EQ(run({"Hello", "--override-generation-config", R"({"temperature": 0})"}), greedy);
  EXPECT_EQ(run({"Hello", "--override-generation-config", hot, "--temperature", "0"}), greedy);
  EXPECT_EQ(run({"Hello", "--temperature", "0", "--override-generation-config", hot}), greedy);
}

TEST_F(RunTest, ThePromptMayComeFromStandardInput) {
  EXPECT_EQ(run({}, "Hello"), run({"Hello"}));
  EXPECT_EQ(run({"-"}, "Hello"), run({"Hello"}));
  const Finished by_flag = run_tessera({"run", "--model", model(), "Hello", "-q", "--max-tokens", "12", "--seed", "3"});
  EXPECT_EQ(by_flag.out, run({"Hello"}));
}

TEST_F(RunTest, EmptyStandardInputIsAnError) {
  for (const char* input : {"", " \n\n"}) {
    const Finished result = run_tessera({"run", model(), "--quiet"}, input);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.out, IsEmpty());
    EXPECT_THAT(result.err, HasSubstr("standard input is empty, expected a prompt"));
  }
}

// What stands in the table stands in docs/environment.md, but for variables that are set.
TEST_F(RunTest, VerboseSaysWhatWasChosenAndWhy) {
  ::setenv("OMP_NUM_THREADS", "7", 1);
  const Finished result = run_tessera({"run", model(), "Hello", "--verbose", "--device", "cpu", "--threads", "2",
                                       "--max-num-seqs", "3", "--max-tokens", "2"});
  ::unsetenv("OMP_NUM_THREADS");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, ContainsRegex("threads +2 +by flag or command +--threads"));
  EXPECT_THAT(result.err, ContainsRegex("sequences at once +3 +by flag or command +--max-num-seqs"));
  EXPECT_THAT(result.err, ContainsRegex("rows of a step +[0-9]+ +the default of the device, or what fits"));
  EXPECT_THAT(result.err, ContainsRegex("OMP_NUM_THREADS +set +without effect: --threads N"));

  std::ifstream file(TESSERA_SOURCE_DIR "/docs/environment.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  std::istringstream table(result.err.substr(result.err.find("\nthreads") + 1));
  std::string line;
  int rows = 0;
  while (std::getline(table, line) && line.find("  ") != std::string::npos && line.find('_') > line.find("  ")) {
    EXPECT_THAT(page, HasSubstr("| " + line.substr(0, line.find("  ")) + " |"));
    ++rows;
  }
  EXPECT_GE(rows, 5) << result.err;
}

TEST_F(RunTest, JsonHoldsEverything) {
  const auto answer =
      nlohmann::json::parse(run({"Hello", "--json", "--no-thinking", "--n", "2", "--logprobs", "3", "--token-ids"}));
  EXPECT_EQ(answer["index"], 0);
  ASSERT_EQ(answer["choices"].size(), 2U);
  EXPECT_NE(answer["choices"][0]["text"], answer["choices"][1]["text"]);
  for (const auto& choice : answer["choices"]) {
    EXPECT_EQ(choice["finish_reason"], "length");
    EXPECT_EQ(choice["token_ids"].size(), 12U);
    ASSERT_EQ(choice["logprobs"].size(), 12U);
    EXPECT_EQ(choice["logprobs"][0]["id"], choice["token_ids"][0]);
    EXPECT_EQ(choice["logprobs"][0]["top"].size(), 3U);
    EXPECT_LT(choice["logprobs"][0]["logprob"], 0);
    for (const auto& token : choice["logprobs"]) {
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(token["top"][i]["rank"], i + 1);
        EXPECT_EQ(token["top"][i]["id"] == token["id"], token["rank"] == i + 1);
      }
      EXPECT_GE(token["top"][0]["logprob"], token["top"][1]["logprob"]);
    }
    const auto& first = choice["logprobs"][0];
    EXPECT_EQ(run_tessera({"tokenize", model(), "--decode", first["id"].dump()}).out, first["token"]);
  }
  EXPECT_EQ(answer["usage"]["completion_tokens"], 24);
  EXPECT_GT(answer["usage"]["prompt_tokens"], 5);
}

TEST_F(RunTest, RawCompletesTheTextItself) {
  const auto raw = nlohmann::json::parse(run({"Hello", "--raw", "--json", "--token-ids"}));
  const Finished ids = run_tessera({"tokenize", model(), "Hello"});
  EXPECT_EQ(raw["usage"]["prompt_tokens"], nlohmann::json::parse(ids.out).size());
  EXPECT_FALSE(raw.contains("reasoning"));
}

/// What a model writes must not act on the terminal; whoever reads it from a pipe gets it as it is.
TEST_F(RunTest, ControlCharactersDoNotReachATerminal) {
  for (const char* how : {"--raw", "--no-thinking"}) {
    const Arguments asked = {"Hello", how, "--regex", R"(\x1b\]0;t\x07)"};
    EXPECT_EQ(run(asked), "\x1b]0;t\x07\n") << how;
    Arguments arguments = {"run", model(), "--quiet", "--max-tokens", "12"};
    arguments.insert(arguments.end(), asked.begin(), asked.end());
    TerminalSession session(arguments);
    EXPECT_EQ(session.wait(), 0);
    EXPECT_THAT(session.shown(), HasSubstr("^[]0;t^G")) << how;
    EXPECT_THAT(session.shown(), Not(HasSubstr("\x1b]0;"))) << how;
  }
}

TEST_F(RunTest, StopStringsEndTheAnswer) {
  const std::string all = run({"Hello", "--raw"});
  const std::string stop = all.substr(all.find(' ') + 1, 3);
  const std::string cut = run({"Hello", "--raw", "--stop", stop});
  EXPECT_EQ(cut, all.substr(0, all.find(stop)) + "\n");
  EXPECT_EQ(run({"--stop", "@@", "--stop", stop, "--raw", "Hello"}), cut);
  // Thinking may hold them. Nearly every text has one of these letters.
  Arguments thinks = {"Hello"}, answers = {"Hello", "--no-thinking"};
  const std::string thinking = run(thinks), answer = run(answers);
  for (const char* letter : {"a", "e", "i", "o", "n", "t", "r", "s", "l", "c", "d", "u", " ", "m"}) {
    for (Arguments* arguments : {&thinks, &answers}) arguments->insert(arguments->end(), {"--stop", letter});
  }
  EXPECT_EQ(run(thinks), thinking);
  EXPECT_LT(run(answers).size(), answer.size());
}

TEST_F(RunTest, TheFitReportComesBeforeTheAnswer) {
  const Finished result = run_tessera({"run", model(), "Hello", "--max-tokens", "2", "--max-model-len", "4k",
                                       "--trust-remote-code", "--enable-chunked-prefill"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("without effect here: --trust-remote-code (code from a model's repository is never "
                                    "run), --enable-chunked-prefill ("));
  EXPECT_THAT(result.err, HasSubstr("of weights"));
  EXPECT_THAT(result.err, HasSubstr("up to 1 sequence at once, of 4000 tokens each at most"));
  EXPECT_THAT(run_tessera({"run", model(), "Hello", "--max-tokens", "2", "--json", "--n", "3"}).err,
              HasSubstr("up to 3 sequences at once"));
}

TEST_F(RunTest, APromptThatIsNotTextIsRefused) {
  const Finished result = run_tessera({"run", model(), "caf\xE9", "--quiet"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("not valid UTF-8: byte 0xE9 at offset 3"));
}

TEST_F(RunTest, AModelThatDoesNotFitIsRefused) {
  const Finished result = run_tessera({"run", model(), "Hello", "--kv-cache-memory-bytes", "10k"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, StartsWith("tessera: "));
  EXPECT_THAT(result.err, HasSubstr("does not fit"));
  EXPECT_THAT(result.out, IsEmpty());
}

TEST_F(RunTest, AnInterruptStopsTheAnswerAndTheProgram) {
  Process process({"run", model(), "Hello", "--quiet", "--ignore-eos", "--max-tokens", "100000"});
  ASSERT_TRUE(process.wait_for_output("<think>\n"));
  process.signal(SIGINT);
  const Finished result = process.wait();
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_THAT(result.out, HasSubstr("</think>"));
}

TEST_F(RunTest, AHangUpEndsTheProgramAtOnce) {
  Process process({"run", model(), "Hello", "--quiet", "--ignore-eos", "--max-tokens", "100000"});
  ASSERT_TRUE(process.wait_for_output("<think>\n"));
  process.signal(SIGHUP);
  const Finished result = process.wait();
  EXPECT_EQ(result.exit_code, 128 + SIGHUP);
  EXPECT_THAT(result.out, Not(HasSubstr("</think>")));
}

TEST_F(RunTest, AReaderThatLeavesEndsTheProgramQuietly) {
  Process process({"run", model(), "Hello", "--quiet", "--ignore-eos", "--max-tokens", "100000"});
  ASSERT_TRUE(process.wait_for_output("<think>\n"));
  process.close_output();
  const Finished result = process.wait();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, IsEmpty());
}

TEST_F(RunTest, AFullDiskIsAFailure) {
  const Finished result =
      run_tessera({"run", model(), "Hello", "--max-tokens", "2", "--input", "-", "--output", "/dev/full"});
  EXPECT_EQ(result.exit_code, 2);  // PROMPT and --input
  const Finished batch =
      run_tessera({"run", model(), "--max-tokens", "2", "--quiet", "--input", "-", "--output", "/dev/full"}, "Hello\n");
  EXPECT_EQ(batch.exit_code, 1);
  EXPECT_THAT(batch.err, HasSubstr("No space left on device"));
}

}  // namespace
}  // namespace tessera::cli
