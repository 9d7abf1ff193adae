// The program's outside: help, versions, mistakes in the command line, exit codes.

#include <gmock/gmock.h>

#include "cli/process.h"

namespace tessera::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST(CommandLine, PrintsItsVersion) {
  const Finished result = run_tessera({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, StartsWith("tessera 0."));
  // Enough for a bug report. A build outside a git checkout says "unknown".
  EXPECT_THAT(result.out, ContainsRegex("\ncommit: ([0-9a-f]{7,}(-dirty)?|unknown)\n"));
  EXPECT_THAT(result.out, ContainsRegex("\ncompilers: [A-Za-z]+ [0-9]+"));
  EXPECT_THAT(result.out, ContainsRegex("\nGPU architectures: (none|sm_[0-9])"));
  EXPECT_THAT(result.out, ContainsRegex("\nCPU: [a-z0-9_]+, kernels for [a-z0-9_]+ are used here\n"));
  EXPECT_THAT(result.err, IsEmpty());
}

#if defined(__x86_64__)
TEST(CommandLine, TheInstructionSetCanBeChosen) {
  const Finished chosen = run_tessera_after("export TESSERA_SIMD=ssse3", {"--version"});
  EXPECT_EQ(chosen.exit_code, 0);
  EXPECT_THAT(chosen.out, HasSubstr(", kernels for ssse3 are used here\n"));
  const Finished wrong = run_tessera_after("export TESSERA_SIMD=fast", {"--version"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_EQ(wrong.err, "tessera: TESSERA_SIMD is \"fast\"; expected one of ssse3, avx2, avx512\n");
  const Arguments question = {"run",    "demo", "What is 17 + 25?", "--max-tokens", "24", "--temperature", "1",
                              "--seed", "5"};
  const Finished plain = run_tessera_after("true", question),
                 slow = run_tessera_after("export TESSERA_SIMD=ssse3", question);
  EXPECT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_FALSE(plain.out.empty());
  EXPECT_EQ(slow.out, plain.out);
  const Finished doctor = run_tessera_after("export TESSERA_SIMD=ssse3", {"doctor"});
  EXPECT_THAT(doctor.out, HasSubstr("TESSERA_SIMD"));
}
#endif

TEST(CommandLine, HelpListsTheCommandsAndTheirFlags) {
  const Finished help = run_tessera({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* command : {"run", "serve", "score", "tokenize", "inspect", "synth", "quantize", "plan", "tiles",
                              "tune", "bench", "selftest", "completion"}) {
    EXPECT_THAT(help.out, HasSubstr(std::string("\n  ") + command + " ")) << command;
    const Finished command_help = run_tessera({command, "--help"});
    EXPECT_EQ(command_help.exit_code, 0) << command;
    EXPECT_THAT(command_help.out, StartsWith(std::string("usage: tessera ") + command));
    EXPECT_THAT(command_help.out, HasSubstr("--help"));
    EXPECT_EQ(run_tessera({"help", command}).out, command_help.out);
  }
  EXPECT_EQ(run_tessera({"help"}).out, help.out);
}

TEST(CommandLine, TheBundledModelIsFoundByItsName) {
  const Finished result = run_tessera({"tokenize", "demo", "Hello"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, run_tessera({"tokenize", TESSERA_SOURCE_DIR "/models/demo", "Hello"}).out);
}

TEST(CommandLine, HelpNamesValuesByWhatTheyAre) {
  const Arguments commands[] = {{"run"},      {"serve"},           {"score"},       {"tokenize"}, {"inspect"},
                                {"synth"},    {"quantize"},        {"plan"},        {"tiles"},    {"tune"},
                                {"selftest"}, {"bench", "engine"}, {"bench", "moe"}};
  for (Arguments command : commands) {
    command.emplace_back("--help");
    const Finished help = run_tessera(command);
    EXPECT_EQ(help.exit_code, 0);
    for (const char* type : {" INT", " UINT", " FLOAT", ":FLOAT"}) {
      EXPECT_THAT(help.out, Not(HasSubstr(type))) << ::testing::PrintToString(command);
    }
  }
}

TEST(CommandLine, NoCommandShowsTheHelpAsAnError) {
  const Finished result = run_tessera({});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, StartsWith("usage: tessera"));
}

struct Mistake {
  Arguments arguments;
  const char* message;
};

TEST(CommandLine, MistakesAreExplainedWithExitCode2) {
  const std::string kFile = TESSERA_SOURCE_DIR "/README.md";
  const Mistake mistakes[] = {
      {{"rnu"}, "unknown command \"rnu\"; did you mean run?"},
      {{"frobnicate"}, "unknown command \"frobnicate\"\n"},
      {{"--hlep"}, "unknown flag --hlep; did you mean --help?"},
      {{"run", "m", "hi", "--temprature", "1"}, "unknown flag --temprature; did you mean --temperature?"},
      {{"run", "m", "hi", "--temprature=1"}, "unknown flag --temprature; did you mean --temperature?"},
      {{"run", "--max-tokesn", "1"}, "unknown flag --max-tokesn; did you mean --max-tokens?"},
      {{"run", "m", "--frobnicate"}, "unknown flag --frobnicate\n"},
      {{"run", "m", "-x"}, "unknown flag -x\n"},
      {{"run", "m", "--frobnicate", "-x"}, "unknown flags:\n  --frobnicate\n  -x\n"},
      {{"run", "m", "--stop", "-x", "--frobnicate", "-5"}, "unknown flag --frobnicate\n"},
      {{"run", "m", "--frobnicate", "--", "-x"}, "unknown flag --frobnicate\n"},
      {{"bench", "srve"}, "unknown command \"srve\"; did you mean serve?\n(try: tessera bench --help)"},
      {{"bench", "serve", "--uesrs", "1"}, "did you mean --users?\n(try: tessera bench serve --help)"},
      {{"bench", "moe", "36b"}, "did you mean 35b?"},
      {{"bench", "moe", "--tokens", "1,0"}, "--tokens: found \"0\""},
      {{"run"}, "MODEL is required"},
      {{"run", "m", "two", "words"}, "one argument too many: \"words\""},
      {{"run", "m", "hi", "--model", "m"}, "MODEL is given twice"},
      {{"run", "m", "--temperature"}, "--temperature"},
      {{"run", "m", "--temperature", "hot"}, "--temperature: found \"hot\", expected a number of at least 0"},
      {{"run", "m", "--top-p", "1.5"}, "--top-p: found \"1.5\", expected a number above 0, at most 1"},
      {{"run", "m", "--max-num-seqs", "0"}, "--max-num-seqs: found \"0\", expected a whole number from 1 to 1024"},
      {{"run", "m", "--kv-cache-dtype", "fp9"}, "expected one of auto, bfloat16, fp8; did you mean fp8?"},
      {{"run", "m", "-tp", "2"}, "--tensor-parallel-size: found \"2\", expected 1"},
      {{"run", "m", "--speculative-config", R"({"method": "ngram"})"}, "whose method is not mtp"},
      {{"run", "m", "--speculative-config", R"({"num_speculative_tokens": 9})"}, "is not a whole number from 0 to 8"},
      {{"run", "m", "--speculative-config", R"({"model": "small"})"}, "with the unknown \"model\""},
      {{"run", "m", "--speculative-config", R"({"draft_head": "int4"})"}, "none of auto, full, fp8 and nvfp4"},
      {{"run", "m", "--speculative-config", R"({"adaptive": 1})"}, "whose adaptive is neither true nor false"},
      {{"run", "m", "--speculative-config", "5"}, "found 5, which is no JSON object"},
      {{"run", "m", "--num-speculative-tokens", "9"}, "--num-speculative-tokens: found \"9\""},
      {{"run", "m", "--input", "/nonexistent"}, "cannot read /nonexistent: No such file or directory"},
      {{"run", "m", "--input", "/"}, "/ is a directory, expected a file"},
      {{"run", "m", "--input", "/dev/zero"}, "/dev/zero is a device, expected a file"},
      {{"score", "m", "--text", "/dev/zero"}, "/dev/zero is a device, expected a file"},
      {{"run", "m", "--chat-template", "/dev/zero"}, "/dev/zero is a device, expected a file"},
      {{"serve", "m", "--api-key-file", "/dev/zero"}, "/dev/zero is a device, expected a file"},
      {{"serve", "m", "--ssl-certfile", "-"}, "cannot read -: No such file or directory"},
      {{"run", "m", "hi", "--input", "-"}, "either a PROMPT or --input"},
      {{"run", "m", "hi", "--output", "x"}, "--output needs --input"},
      {{"run", "m", "hi", "--n", "2"}, "--n needs --json or --input"},
      {{"run", "m", "hi", "--default-chat-template-kwargs", "{"}, "expected a JSON object"},
      {{"run", "m", "hi", "--default-chat-template-kwargs", "{\"tools\": []}"}, "expected {\"enable_thinking\""},
      {{"run", "m", "hi", "--override-generation-config", "{\"top_k\": -2}"}, "top_k is -2"},
      {{"run", "m", "hi", "--regex", "a", "--json-schema", kFile}, "excludes"},
      {{"run", "m", "hi", "--regex", "a", "--grammar", kFile}, "excludes"},
      {{"run", "m", "hi", "--json-schema", kFile, "--grammar", kFile}, "excludes"},
      {{"score", "m"}, "--text or --ids is required"},
      {{"score", "m", "--text", "-", "--ids", "-"}, "excludes"},
      {{"score", "m", "--ids", "-", "--prefill-chunk", "100"}, "found \"100\", expected a multiple of 64"},
      {{"run", "m", "hi", "--device", "gpu"}, "--device: found \"gpu\", expected auto, cpu, cuda or cuda:N"},
      {{"serve", "m", "--device", "cuda:"}, "--device: found \"cuda:\""},
      {{"serve", "m", "--gpu-memory-utilization", "nan"}, "found \"nan\", expected a number from 0.01 to 1"},
      {{"score", "m", "--ids", "-", "--device", "cuda:-1"}, "--device: found \"cuda:-1\""},
      {{"quantize", "m", "d", "--device", "cpu"}, "--device requires --check"},
      {{"quantize", "m", "d", "--check", "-", "--device", "CPU"}, "--device: found \"CPU\""},
      {{"plan"}, "MODEL or --preset is required"},
      {{"plan", "--preset", "36b"}, "did you mean 35b?"},
      {{"plan", "m", "--profile", "v2"}, "excludes"},
      {{"bench", "engine", "m", "--layers", "2"}, "excludes"},
      {{"bench", "engine", "--preset", "36b"}, "did you mean 35b?"},
      {{"selftest", "--gpu", "-1"}, "--gpu: found \"-1\", expected a whole number"},
      {{"synth"}, "DIR is required"},
      {{"synth", "d", "--profile", "p1", "--format", "fp8"}, "excludes"},
      {{"synth", "d", "--preset", "36b"}, "did you mean 35b?"},
      {{"tokenize"}, "MODEL is required"},
  };
  for (const Mistake& mistake : mistakes) {
    const Finished result = run_tessera(mistake.arguments);
    const std::string line = ::testing::PrintToString(mistake.arguments);
    EXPECT_EQ(result.exit_code, 2) << line << result.err;
    EXPECT_THAT(result.err, StartsWith("tessera: ")) << line;
    EXPECT_THAT(result.err, HasSubstr(mistake.message)) << line;
    EXPECT_THAT(result.err, HasSubstr("--help)")) << line;
    EXPECT_THAT(result.out, IsEmpty()) << line;
  }
}

}  // namespace
}  // namespace tessera::cli
