// Files of prompts: answers by index, interruption at any point, repair.

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/wait_until.h"
#include "cli/model_directory.h"

namespace tessera::cli {
namespace {

using test::wait_until;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class BatchTest : public ModelDirectoryTest {
 protected:
  /// Answers by index; every line must be whole, every index there once.
  std::map<int64_t, nlohmann::json> answers() const {
    std::map<int64_t, nlohmann::json> by_index;
    std::istringstream lines(read_file(path("answers.jsonl")));
    for (std::string line; std::getline(lines, line);) {
      const auto answer = nlohmann::json::parse(line);
      EXPECT_TRUE(by_index.emplace(answer["index"].get<int64_t>(), answer).second) << line;
    }
    return by_index;
  }
  Arguments batch(const std::string& max_tokens = "16") const {
    return {"run",
            model(),
            "--input",
            path("prompts"),
            "--output",
            path("answers.jsonl"),
            "--quiet",
            "--max-tokens",
            max_tokens,
            "--seed",
            "5",
            "--ignore-eos",
            "--max-num-seqs",
            "4",
            "--max-model-len",
            "4096"};
  }
  void write_prompts(int count) const {
    std::string prompts;
    for (int i = 0; i < count; ++i) prompts += "Tell me about the number " + std::to_string(i) + ".\n";
    write_file(path("prompts"), prompts);
  }
};

/// Of several choices too, more of which are asked for than may wait in the engine at once.
TEST_F(BatchTest, AnswersAreThoseOfEachPromptAlone) {
  write_prompts(9);
  for (const char* n : {"1", "3"}) {
    Arguments arguments = batch();
    arguments.insert(arguments.end(), {"--n", n});
    const Finished finished = run_tessera(arguments);
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
    const auto all = answers();
    ASSERT_EQ(all.size(), 9U);
    const Finished alone = run_tessera({"run", model(), "Tell me about the number 7.", "--json", "--quiet",
                                        "--max-tokens", "16", "--seed", "5", "--ignore-eos", "--n", n});
    auto expected = nlohmann::json::parse(alone.out);
    expected["index"] = 7;
    expected["digest"] = all.at(7)["digest"];
    EXPECT_EQ(all.at(7), expected);
  }
}

TEST_F(BatchTest, JsonLinesHaveTheirOwnParameters) {
  write_file(path("prompts"), R"({"prompt": "one", "max_tokens": 3, "id": "first"})"
                              "\n"
                              R"({"messages": [{"role": "user", "content": "two"}], "enable_thinking": false})"
                              "\n"
                              "\n"
                              R"({"token_ids": [5, 6, 7], "max_tokens": 4})"
                              "\n"
                              R"({"prompt": "four", "temprature": 1})"
                              "\n"
                              R"({"token_ids": [99999999]})"
                              "\n");
  const Finished result = run_tessera(batch());
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("2 of 5 prompts could not be run"));
  const auto all = answers();
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all.at(0)["id"], "first");
  EXPECT_EQ(all.at(0)["usage"]["completion_tokens"], 3);
  EXPECT_TRUE(all.at(0).contains("reasoning"));
  EXPECT_FALSE(all.at(1).contains("reasoning"));
  EXPECT_EQ(all.at(3)["usage"]["prompt_tokens"], 3);
  EXPECT_EQ(all.at(3)["usage"]["completion_tokens"], 4);
  EXPECT_THAT(all.at(4)["error"].get<std::string>(), HasSubstr("did you mean \"temperature\"?"));
  EXPECT_THAT(all.at(5)["error"].get<std::string>(), HasSubstr("99999999"));
  for (const auto& [index, answer] : all) EXPECT_EQ(answer.value("digest", "").size(), 16U) << answer;
  // Going on does not make them good.
  const Finished again = run_tessera(batch());
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("2 of 5 prompts could not be run"));
  EXPECT_EQ(answers().size(), 5U);
  // Nor does one more that can be run.
  write_file(path("prompts"), read_file(path("prompts")) + R"({"token_ids": [5], "max_tokens": 1})" + "\n");
  const Finished more = run_tessera(batch());
  EXPECT_EQ(more.exit_code, 1);
  EXPECT_THAT(more.err, HasSubstr("2 of 6 prompts could not be run"));
  EXPECT_EQ(answers().size(), 6U);
}

/// --system is for conversations that begin without instructions of their own, whichever of both names those have.
TEST_F(BatchTest, AConversationsOwnSystemMessageIsTheOnlyOne) {
  const auto asked = [](const std::string& first) {
    return R"({"messages": [)" + first + R"({"role": "user", "content": "Hi"}]})" + "\n";
  };
  write_file(path("prompts"), asked(R"({"role": "system", "content": "Be brief."}, )") +
                                  asked(R"({"role": "developer", "content": "Be brief."}, )") + asked(""));
  const auto prompt_tokens = [&](const Arguments& more) {
    std::filesystem::remove(path("answers.jsonl"));
    Arguments arguments = batch("1");
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = run_tessera(arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    std::vector<int> counts;
    for (const auto& [index, answer] : answers()) counts.push_back(answer["usage"]["prompt_tokens"]);
    return counts;
  };
  const std::vector<int> alone = prompt_tokens({}), with_flag = prompt_tokens({"--system", "Be brief."});
  ASSERT_EQ(alone.size(), 3U);
  EXPECT_EQ(alone[0], alone[1]);
  EXPECT_LT(alone[2], alone[0]);
  EXPECT_EQ(with_flag, std::vector<int>(3, alone[0]));
}

/// Nearly every text has one of these letters: thinking may hold them, an answer ends at the first.
TEST_F(BatchTest, StopStringsMatchInTheAnswerAlone) {
  const std::string stop = R"("stop": ["a", "e", "i", "o", "n", "t", "r", "s", "l", "c", "d", "u", " ", "m"])";
  write_file(path("prompts"),
             "{\"prompt\": \"Hi\", " + stop + "}\n{\"prompt\": \"Hi\", \"enable_thinking\": false, " + stop + "}\n");
  ASSERT_EQ(run_tessera(batch()).exit_code, 0);
  const auto all = answers();
  EXPECT_EQ(all.at(0)["usage"]["completion_tokens"], 16) << all.at(0);
  EXPECT_LT(all.at(1)["usage"]["completion_tokens"], 16) << all.at(1);
  EXPECT_EQ(all.at(0)["finish_reason"], "length");
  EXPECT_FALSE(all.at(0).contains("stop_reason"));
  EXPECT_EQ(all.at(1)["finish_reason"], "stop");
  EXPECT_THAT(stop, HasSubstr(all.at(1).value("stop_reason", nlohmann::json()).dump()));
}

TEST_F(BatchTest, AKilledRunGoesOn) {
  write_prompts(24);
  {
    Process killed(batch("40"));
    ASSERT_TRUE(wait_until([&] { return read_file(path("answers.jsonl")).find('\n') != std::string::npos; }));
    killed.signal(SIGKILL);
    EXPECT_EQ(killed.wait().exit_code, 128 + SIGKILL);
  }
  const size_t before = answers().size();
  EXPECT_GE(before, 1U);
  EXPECT_LT(before, 24U);
  // As if the last write had been cut.
  std::string text = read_file(path("answers.jsonl"));
  write_file(path("answers.jsonl"), text + text.substr(0, 50));
  const Finished resumed = run_tessera(batch("40"));
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  const auto all = answers();
  EXPECT_EQ(all.size(), 24U);
  // What an uninterrupted run gives.
  std::filesystem::rename(path("answers.jsonl"), path("resumed.jsonl"));
  ASSERT_EQ(run_tessera(batch("40")).exit_code, 0);
  EXPECT_EQ(answers(), all);
  // A third run has nothing to do.
  const std::string complete = read_file(path("answers.jsonl"));
  EXPECT_EQ(run_tessera(batch("40")).exit_code, 0);
  EXPECT_EQ(read_file(path("answers.jsonl")), complete);
}

TEST_F(BatchTest, AnInterruptedRunSaysSoAndGoesOn) {
  write_prompts(24);
  std::string before;
  for (int run = 0; run < 2; ++run) {
    Process process(batch("40"));
    ASSERT_TRUE(wait_until([&] { return read_file(path("answers.jsonl")) != before; }));
    process.signal(SIGTERM);
    const Finished result = process.wait();
    EXPECT_EQ(result.exit_code, 130);
    EXPECT_THAT(result.err, HasSubstr("interrupted with " + std::to_string(answers().size()) +
                                      " of 24 prompts answered; the same command goes on from here"));
    EXPECT_LT(answers().size(), 24U);
    before = read_file(path("answers.jsonl"));
  }
  ASSERT_EQ(run_tessera(batch("40")).exit_code, 0);
  EXPECT_EQ(answers().size(), 24U);
}

TEST_F(BatchTest, AnotherFileIsNotTouched) {
  write_prompts(3);
  for (const char* foreign : {"my notes\n", "{\"index\": 3}\n", "{\"index\": -1}\n", "{\"a\": 1}\n{\"index\": 0}\n",
                              "{\"index\": 0, \"digest\": 7}\n"}) {
    write_file(path("answers.jsonl"), foreign);
    const Finished result = run_tessera(batch());
    EXPECT_EQ(result.exit_code, 1) << foreign;
    EXPECT_THAT(result.err, HasSubstr("line 1 is no answer to a prompt of this input")) << foreign;
    EXPECT_EQ(read_file(path("answers.jsonl")), foreign);
  }
  // Without a newline it might be a torn line of ours, if it began like one.
  for (const char* foreign : {"my notes", "{\"id", "0"}) {
    write_file(path("answers.jsonl"), foreign);
    EXPECT_EQ(run_tessera(batch()).exit_code, 1) << foreign;
    EXPECT_EQ(read_file(path("answers.jsonl")), foreign);
  }
}

TEST_F(BatchTest, ATornLineIsAnsweredAgain) {
  write_prompts(1);
  for (const char* torn : {"{", "{\"ind", "{\"index\":0,\"text\":\"half a"}) {
    write_file(path("answers.jsonl"), torn);
    EXPECT_EQ(run_tessera(batch()).exit_code, 0) << torn;
    EXPECT_EQ(answers().size(), 1U);
  }
}

TEST_F(BatchTest, OldAnswersToSomethingElseAreMadeAnew) {
  const std::string prompts = "one\ntwo\nthree\n";
  write_file(path("prompts"), prompts);
  const auto run_aloud = [&](const std::string& max_tokens = "16") {
    Arguments arguments = batch(max_tokens);
    std::erase(arguments, "--quiet");
    const Finished finished = run_tessera(arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    EXPECT_EQ(answers().size(), 3U);
    return finished.err;
  };
  run_aloud();
  const auto before = answers();
  EXPECT_THAT(run_aloud(), HasSubstr("all 3 prompts are answered"));
  // A prompt.
  write_file(path("prompts"), "one\nTWO\nthree\n");
  write_file(path("answers.jsonl.new"), R"({"index": 7})"
                                        "\n");  // left by a run that ended at a bad moment
  EXPECT_THAT(run_aloud(), AllOf(HasSubstr("1 answers in "), HasSubstr("2 of 3 prompts are answered already"),
                                 HasSubstr("answered 1 of 1, 16 tokens in ")));
  EXPECT_EQ(answers().at(0), before.at(0));
  EXPECT_NE(answers().at(1), before.at(1));
  EXPECT_EQ(answers().at(2), before.at(2));
  write_file(path("prompts"), prompts);
  EXPECT_THAT(run_aloud(), HasSubstr("1 answers in "));
  EXPECT_EQ(answers(), before);
  // A parameter.
  EXPECT_THAT(run_aloud("3"), HasSubstr("3 answers in "));
  EXPECT_EQ(answers().at(1)["usage"]["completion_tokens"], 3);
  run_aloud();
  EXPECT_EQ(answers(), before);
  // Lines that do not say what they were made of.
  std::string unsaid;
  for (auto [index, answer] : before) {
    answer.erase("digest");
    unsaid += "{\"index\":" + std::to_string(index) + "," + answer.dump().substr(1) + "\n";
  }
  write_file(path("answers.jsonl"), unsaid);
  EXPECT_THAT(run_aloud(), HasSubstr("3 answers in "));
  // The model: other weights of the same shape, under the same name.
  ASSERT_EQ(run_tessera({"synth", path("other"), "--seed", "8"}).exit_code, 0);
  std::filesystem::remove_all(model());
  std::filesystem::rename(path("other"), model());
  EXPECT_THAT(run_aloud(), HasSubstr("3 answers in "));
  EXPECT_NE(answers(), before);
}

/// Whatever an answer depends on: with one thing more that is not as before, the answers that are there are to
/// something else.
TEST_F(BatchTest, WhatAnswersDependOnMakesThemAnew) {
  write_prompts(3);
  write_file(path("template"), "{% for m in messages %}{{ m.content }}{% endfor %}");
  Arguments arguments = batch("2");
  ASSERT_EQ(run_tessera(arguments).exit_code, 0);
  std::erase(arguments, "--quiet");
  for (const Arguments& more : {Arguments{"--system", "Be brief."},
                                {"--no-thinking"},
                                {"--parse-special-tokens"},
                                {"--chat-template", path("template")},
                                {"--regex", "[a-z]*"},
                                {"--token-ids"},
                                {"--kv-cache-dtype", "fp8"},
                                {"--raw"}}) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = run_tessera(arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("3 answers in ")) << more.front();
    EXPECT_EQ(answers().size(), 3U);
  }
  EXPECT_THAT(run_tessera(arguments).err, HasSubstr("all 3 prompts are answered"));
}

/// Files that answers depend on are what they hold, not what they are called.
TEST_F(BatchTest, FilesOfOtherContentsMakeAnswersAnew) {
  write_prompts(3);
  const std::tuple<const char*, const char*, const char*> kFiles[] = {
      {"--json-schema", R"({"type": "string"})", R"({"type": "integer"})"},
      {"--grammar", "root ::= \"a\"", "root ::= \"b\""},
      {"--chat-template", "{{ messages[0].content }}", "{{ messages[0].content }}!"}};
  for (const auto& [flag, before, after] : kFiles) {
    const auto run_with = [&, flag = flag](const char* file) {
      Arguments arguments = batch("2");
      std::erase(arguments, "--quiet");
      arguments.insert(arguments.end(), {flag, path(file)});
      const Finished finished = run_tessera(arguments);
      EXPECT_EQ(finished.exit_code, 0) << flag << finished.err;
      return finished.err;
    };
    write_file(path("one"), before);
    write_file(path("other"), before);
    run_with("one");
    EXPECT_THAT(run_with("other"), HasSubstr("all 3 prompts are answered")) << flag;
    write_file(path("other"), after);
    EXPECT_THAT(run_with("other"), HasSubstr("3 answers in ")) << flag;
  }
}

TEST_F(BatchTest, TwoRunsDoNotWriteOneFile) {
  write_prompts(24);
  const Process first(batch("400"));
  ASSERT_TRUE(wait_until([&] { return !read_file(path("answers.jsonl")).empty(); }));
  const Finished second = run_tessera(batch("40"));
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_THAT(second.err, HasSubstr("is being written by another process"));
}

/// Nor where the first one has put a file in the place of one with answers to something else.
TEST_F(BatchTest, TwoRunsDoNotWriteOneFileThatWasMadeAnew) {
  write_prompts(24);
  ASSERT_EQ(run_tessera(batch("1")).exit_code, 0);
  const std::string stale = read_file(path("answers.jsonl"));
  const Process first(batch("400"));
  ASSERT_TRUE(wait_until([&] { return read_file(path("answers.jsonl")) != stale; }));
  EXPECT_FALSE(std::filesystem::exists(path("answers.jsonl.new")));
  const Finished second = run_tessera(batch("40"));
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_THAT(second.err, HasSubstr("is being written by another process"));
}

TEST_F(BatchTest, AnEmptyFileIsDoneAtOnce) {
  write_file(path("prompts"), "\n\n");
  const Finished result = run_tessera(batch());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(answers(), IsEmpty());
  EXPECT_THAT(run_tessera({"run", model(), "--input", path("prompts")}).err, HasSubstr("holds no prompts"));
}

/// It may be named, too: a pipe holds nothing to go on with.
TEST_F(BatchTest, WithoutOutputAnswersGoToStandardOutput) {
  for (const Arguments& more : {Arguments{}, {"--output", "/dev/stdout"}}) {
    Arguments arguments = {"run", model(), "--input", "-", "--quiet", "--max-tokens", "2", "--token-ids"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished result = run_tessera(arguments, "one\ntwo\n");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::istringstream lines(result.out);
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      EXPECT_EQ(nlohmann::json::parse(line)["token_ids"].size(), 2U);
    }
    EXPECT_EQ(count, 2);
  }
}

}  // namespace
}  // namespace tessera::cli
