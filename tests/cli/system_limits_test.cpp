// A full disk, closed streams, no more threads: an answer for each, and nothing half-written left behind.

#include <gmock/gmock.h>

#include "cli/model_directory.h"

// The sanitizers reserve terabytes of address space, so it cannot be limited under them.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TESSERA_SANITIZED 1
#else
#define TESSERA_SANITIZED 0
#endif

namespace tessera::cli {
namespace {

using ::testing::HasSubstr;

class SystemLimitsTest : public ModelDirectoryTest {
 protected:
  [[nodiscard]] bool exists(const std::string& name) const { return std::filesystem::exists(path(name)); }
};

TEST_F(SystemLimitsTest, AFileThatMayNotGrowIsAFailure) {
  const std::string few = "ulimit -f 64";  // blocks of 512 bytes
  const Finished synth = run_tessera_after(few, {"synth", path("new")});
  EXPECT_EQ(synth.exit_code, 1);
  EXPECT_THAT(synth.err, HasSubstr("File too large"));
  EXPECT_FALSE(exists("new/config.json") || exists("new/model.safetensors.partial"));

  const Finished quantize = run_tessera_after(few, {"quantize", model(), path("quantized")});
  EXPECT_EQ(quantize.exit_code, 1);
  EXPECT_THAT(quantize.err, HasSubstr("File too large"));
  EXPECT_FALSE(exists("quantized") || exists("quantized.partial"));

  write_file(path("ids"), "1 2 3 4 5 6 7 8");
  const Finished score = run_tessera_after(few, {"score", model(), "--ids", path("ids"), "--logits", path("logits")});
  EXPECT_EQ(score.exit_code, 1);
  EXPECT_THAT(score.err, HasSubstr("File too large"));
  EXPECT_FALSE(exists("logits") || exists("logits.partial"));
}

TEST_F(SystemLimitsTest, ABatchGoesOnWhereTheDiskWasFull) {
  write_file(path("prompts"), "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n");
  const Arguments batch = {"run",     model(),        "--input", path("prompts"), "--output", path("answers"),
                           "--quiet", "--max-tokens", "64",      "--ignore-eos"};
  const Finished full = run_tessera_after("ulimit -f 1", batch);
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.err, HasSubstr("run the same command again"));
  ASSERT_EQ(run_tessera(batch).exit_code, 0);
  const std::string answers = read_file(path("answers"));
  EXPECT_EQ(std::count(answers.begin(), answers.end(), '\n'), 8);
}

TEST_F(SystemLimitsTest, ClosedStreamsAreNotWrittenInto) {
  const Finished run = run_tessera_after("exec >&-", {"run", model(), "Hello", "--max-tokens", "2", "--quiet"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("cannot write standard output"));
  // The checkpoint's file must not get a descriptor that progress or results are printed to.
  EXPECT_EQ(run_tessera_after("exec <&- >&- 2>&-", {"synth", path("new"), "--seed", "7"}).exit_code, 1);
  EXPECT_EQ(read_file(path("new/model.safetensors")), read_file(model_file("model.safetensors")));
  // Nor must the file of answers, whichever stream it would take the place of.
  write_file(path("prompts"), "Hello\n");
  std::string whole;
  for (const char* closed : {":", "exec <&-", "exec >&-", "exec 2>&-", "exec <&- >&- 2>&-"}) {
    std::filesystem::remove(path("answers"));
    const Finished batch = run_tessera_after(closed, {"run", model(), "--seed", "5", "--max-tokens", "2", "--input",
                                                      path("prompts"), "--output", path("answers")});
    EXPECT_EQ(batch.exit_code, 0) << closed << batch.err;
    if (whole.empty()) whole = read_file(path("answers"));
    EXPECT_EQ(read_file(path("answers")), whole) << closed;
  }
}

TEST_F(SystemLimitsTest, AClosedStandardInputIsNoEmptyOne) {
  const Finished run = run_tessera_after("exec <&-", {"run", model(), "--quiet"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("cannot read standard input: Bad file descriptor"));
}

TEST_F(SystemLimitsTest, NoMoreThreadsIsAFailure) {
  if (TESSERA_SANITIZED) GTEST_SKIP() << "sanitizers reserve more address space than the limit";
  const Finished result = run_tessera_after("ulimit -v 1000000", {"inspect", model()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  write_file(path("ids"), "1 2 3");
  const Finished many =
      run_tessera_after("ulimit -v 1000000", {"score", model(), "--ids", path("ids"), "--threads", "1024"});
  EXPECT_EQ(many.exit_code, 1);
  EXPECT_THAT(many.err, HasSubstr("cannot start a thread"));
}

}  // namespace
}  // namespace tessera::cli
