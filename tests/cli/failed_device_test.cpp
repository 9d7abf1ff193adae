// What becomes of the program when the device under its engine hangs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cli/batch_run.h"
#include "cli/engine_flags.h"
#include "engine/hanging_engine.h"
#include "server/server.h"

namespace tessera::cli {
namespace {

using engine::hanging_engine;
using ::testing::ExitedWithCode;
using ::testing::HasSubstr;

constexpr const char* kWhy = "the engine has stopped: step 3 has been on the GPU for 120 s: it hangs";

class FailedDeviceTest : public ::testing::Test {
 protected:
  // The program starts anew for each death, so that no thread is lost to a fork.
  void SetUp() override { ::testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

Status generate(Engine& engine, int64_t tokens) {
  auto stream = engine.submit({.prompt = {1, 2, 3}, .sampling = {.max_tokens = tokens}});
  if (!stream.ok()) return stream.status();
  Status last;
  while (const auto event = stream->next()) last = event->error;
  return last;
}

TEST_F(FailedDeviceTest, AGoodEngineIsClosedAndReturnsWhatCameOfIt) {
  Engine engine = hanging_engine(1000);
  EXPECT_TRUE(generate(engine, 5).ok());
  EXPECT_TRUE(close_engine(engine, {}).ok());
  EXPECT_EQ(close_engine(engine, {StatusCode::not_found, "no such thing"}).message(), "no such thing");
  EXPECT_EQ(generate(engine, 5).code(), StatusCode::cancelled);
}

TEST_F(FailedDeviceTest, TheProgramEndsWithoutTearingDown) {
  EXPECT_EXIT(
      {
        Engine engine = hanging_engine(3);
        const Status status = generate(engine, 100);
        EXPECT_THAT(status.message(), HasSubstr(kWhy));
        (void)close_engine(engine, status);
        std::_Exit(0);
      },
      ExitedWithCode(1), kWhy);
}

/// The prompts that were under way are not written down as failed: the same command runs them again.
TEST_F(FailedDeviceTest, ABatchKeepsItsPromptsForLater) {
  // The program that dies has another process number: it is told the name.
  constexpr const char* kFile = "TESSERA_FAILED_DEVICE_TEST_FILE";
  const auto own = std::filesystem::path(::testing::TempDir()) / ("tessera_hang_" + std::to_string(::getpid()));
  ASSERT_EQ(::setenv(kFile, own.c_str(), /*overwrite=*/0), 0);
  const std::string file = std::getenv(kFile);
  const BatchInput input = split_batch_input("{\"token_ids\": [1], \"max_tokens\": 2}\n{\"token_ids\": [2]}\n");
  EXPECT_EXIT(
      {
        Engine engine = hanging_engine(10);
        auto output = BatchOutput::open(file, std::vector<std::string>(input.items.size()));
        BatchOptions options;
        options.quiet = true;
        (void)close_engine(engine, run_batch(engine, input, options, *output));
        std::_Exit(0);
      },
      ExitedWithCode(1), kWhy);
  std::ifstream written(file);
  std::string line, more;
  std::getline(written, line);
  EXPECT_THAT(line, ::testing::StartsWith("{\"index\":0,"));
  EXPECT_FALSE(std::getline(written, more)) << more;
  std::filesystem::remove(file);
}

/// A kernel or a driver that hangs where nobody waits for a step: while a model is loaded, its steps are captured,
/// scored or measured, or launches wait for others. All of it goes through calls that are watched (device/cuda.h).
TEST_F(FailedDeviceTest, ACallThatDoesNotReturnEndsTheProgram) {
  EXPECT_EXIT(
      {
        watch_gpu_calls(std::chrono::milliseconds(500));
        const WatchedCall call("cudaStreamSynchronize(stream)");
        for (;;) ::pause();
      },
      ExitedWithCode(1),
      "tessera: the GPU's driver has not returned from cudaStreamSynchronize\\(stream\\) for 0.5 s: a kernel, or the "
      "driver, hangs");
}

TEST_F(FailedDeviceTest, AServerShutsDownByItself) {
  EXPECT_EXIT(
      {
        server::ServerOptions options;
        options.port = 0;
        options.served_names = {"tiny"};
        options.access_log = false;
        auto server = server::Server::open(options);
        Engine engine = hanging_engine(3);
        auto stream = engine.submit({.prompt = {1, 2, 3}, .sampling = {.max_tokens = 100}});
        if (!(*server)->serve(std::move(engine)).ok()) std::_Exit(2);
        const Status status = (*server)->wait();  // nobody has asked it to end
        if (!status.ok()) end_without_teardown(status);
        std::_Exit(0);
      },
      ExitedWithCode(1), kWhy);
}

}  // namespace
}  // namespace tessera::cli
