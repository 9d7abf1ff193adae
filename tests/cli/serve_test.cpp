#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "cli/model_directory.h"

namespace tessera::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ServeCommand, FlagsThatMakeNoSense) {
  const std::pair<Arguments, const char*> kWrong[] = {
      {{}, "MODEL is required"},
      {{"m", "--model", "m"}, "twice"},
      {{"m", "--port", "70000"}, "from 0 to 65535"},
      {{"m", "--prot", "1"}, "did you mean --port?"},
      {{"m", "--max-body-bytes", "0"}, "whole number"},
      {{"m", "--override-generation-config", "7"}, "JSON object"},
      {{"m", "--override-generation-config", R"({"temperature": -1})"}, "temperature"},
      {{"m", "--override-generation-config", R"({"temprature": 1})"}, "there is no sampling parameter temprature"},
      {{"m", "--override-generation-config", R"({"typical_p": 0.5})"}, "typical_p is 0.5: it is not supported"},
      {{"m", "--override-generation-config", R"({"max_new_tokens": -7})"}, "max_tokens is -7"},
      {{"m", "--default-chat-template-kwargs", "{"}, "JSON object"},
      {{"m", "--allowed-origins", "[1]"}, "--allowed-origins"},
      {{"m", "--tool-call-parser", "hermes"}, "qwen3_coder"},
      {{"m", "--api-key", ""}, "--api-key"},
      {{"m", "-tp", "2"}, "there is one process"},
      {{"m", "--tensor_parallel_size=2"}, "found \"2\", expected 1: there is one process"},
      {{"m", "-pp", "2"}, "--pipeline-parallel-size: found"},
      {{"m", "-dp", "2"}, "--data-parallel-size: found"},
      {{"m", "-dcp", "2"}, "--decode-context-parallel-size: found"},
      {{"m", "-pcp", "2"}, "--prefill-context-parallel-size: found"},
      {{"m", "-sc", "5"}, "--speculative-config: found 5"},
      {{"m", "--dtype", "float16"}, "found \"float16\", expected auto or bfloat16"},
      {{"m", "--rope-scaling", "{}"}, "--rope-scaling: it is not supported: positions are what config.json says"},
      {{"m", "--enable-lora"}, "--enable-lora: it is not supported: there are no adapters"},
      {{"m", "--speculative-config.method", "mtp"}, R"(expected JSON such as {"method": "mtp")"},
      {{"m", "--generation-config", "folder"}, "expected one of auto, vllm"},
      {{"m", "--kv-cache-dtype", "fp8_e5m2"}, "expected one of auto, bfloat16, fp8"},
      {{"m", "--config", "/nonexistent.yaml"}, "/nonexistent.yaml"},
  };
  for (const auto& [flags, says] : kWrong) {
    Arguments arguments = {"serve"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const Finished finished = run_tessera(arguments);
    EXPECT_EQ(finished.exit_code, 2) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr(says));
  }
  EXPECT_THAT(run_tessera({"serve", "/nonexistent", "--port", "0"}).err, HasSubstr("/nonexistent"));
  EXPECT_EQ(run_tessera({"serve", "/nonexistent", "--port", "0"}).exit_code, 1);
}

TEST(ServeCommand, AllUnknownFlagsAreToldAtOnce) {
  const Finished finished = run_tessera({"serve", "m", "--prot", "1", "-O3", "--max-modle-len", "-1", "--zzzzzz"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("unknown flags:\n  --prot; did you mean --port?\n"
                                      "  --max-modle-len; did you mean --max-model-len?\n  --zzzzzz\n"));
}

/// A command line as people paste it; the model is not there, which is found after all of it was read.
TEST(ServeCommand, WhatIsPastedFromVllm) {
  const Finished finished = run_tessera({"serve",
                                         "/nonexistent",
                                         "--port",
                                         "0",
                                         "-tp",
                                         "1",
                                         "--max_model_len",
                                         "32k",
                                         "--max-num-seqs",
                                         "64",
                                         "--max-num-batched-tokens",
                                         "8192",
                                         "--trust-remote-code",
                                         "--enable-chunked-prefill",
                                         "--enable-prefix-caching",
                                         "--no-enable-prefix-caching",
                                         "--no-enable-lora",
                                         "-ep",
                                         "-cc",
                                         "{}",
                                         "-ac",
                                         "{}",
                                         "-asc",
                                         "2",
                                         "--async-scheduling",
                                         "--seed",
                                         "0",
                                         "--load-format",
                                         "safetensors",
                                         "--generation-config",
                                         "auto",
                                         "-O3",
                                         "--kv-cache-dtype",
                                         "fp8_e4m3",
                                         "--enforce-eager",
                                         "--swap-space",
                                         "16",
                                         "--disable-log-requests",
                                         "--tool-call-parser",
                                         "qwen3_coder",
                                         "--reasoning-parser",
                                         "qwen3",
                                         "--enable-auto-tool-choice",
                                         "--served-model-name",
                                         "a",
                                         "b",
                                         "--limit-mm-per-prompt",
                                         "{\"image\":0}",
                                         "--limit-mm-per-prompt.video",
                                         "0",
                                         "--language-model-only",
                                         "--speculative-config",
                                         "{}",
                                         "--dtype",
                                         "bfloat16",
                                         "--distributed-executor-backend",
                                         "mp",
                                         "--cuda-graph-sizes",
                                         "1",
                                         "2",
                                         "4"});
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("without effect here: "));
  for (const char* ignored :
       {"--seed (", "--swap-space (", "--optimization-level (", "--async-scheduling (", "--enable-lora (",
        "--enable-expert-parallel (", "--compilation-config (", "--attention-config (", "--api-server-count ("}) {
    EXPECT_THAT(finished.err, HasSubstr(ignored));
  }
  EXPECT_THAT(finished.err, Not(HasSubstr("--max-model-len (")));
}

/// One that is exported without a value asks for no key: it would be the one of clients that show none.
TEST(ServeCommand, AnEmptyVariableIsNoKey) {
  for (const char* name : {"TESSERA_API_KEY", "VLLM_API_KEY"}) {
    const auto listening = [&](const char* key) {
      ::setenv(name, key, 1);
      const Finished finished = run_tessera({"serve", "/nonexistent", "--port", "0"});
      ::unsetenv(name);
      EXPECT_THAT(finished.err, HasSubstr("listening on http://127.0.0.1:"));
      return finished.err;
    };
    EXPECT_THAT(listening("k"), HasSubstr("for those who have a key")) << name;
    EXPECT_THAT(listening(""), Not(HasSubstr("for those who have a key"))) << name;
  }
}

TEST(ServeCommand, SaysThatAnybodyMayUseItWhereThatIsSo) {
  const std::string socket = ::testing::TempDir() + "tessera_uds_" + std::to_string(::getpid());
  const std::pair<Arguments, bool> cases[] = {{{}, false},
                                              {{"--host", "localhost"}, false},
                                              {{"--host", "127.0.0.2"}, false},
                                              {{"--host", "0.0.0.0"}, true},
                                              {{"--host", "0.0.0.0", "--api-key", "k"}, false},
                                              {{"--host", "0.0.0.0", "--uds", socket}, false},
                                              {{"--host", "0.0.0.0", "--quiet"}, false}};
  for (const auto& [flags, open] : cases) {
    Arguments arguments = {"serve", "/nonexistent", "--port", "0"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const std::string err = run_tessera(arguments).err;
    EXPECT_EQ(err.find("anybody who reaches") != err.npos, open) << err;
  }
}

TEST(ServeCommand, ConfigFiles) {
  const std::string file = ::testing::TempDir() + "tessera_config_" + std::to_string(::getpid()) + ".yaml";
  const auto serve = [&](const std::string& yaml, const Arguments& more) {
    std::ofstream(file) << yaml;
    Arguments arguments = {"serve", "--config", file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_tessera(arguments);
  };
  const std::string whole =
      "# a server\nmodel: /nonexistent/of-file\nport: 0\nmax_model_len: 16k\ntrust-remote-code: true\n"
      "enable-chunked-prefill: false\nenable-lora: false\nenforce-eager: false\nserved-model-name:\n  - a\n  - \"b "
      "c\"\n"
      "override-generation-config: {temperature: 0.5, stop: ['7', x]}\nseed: ~\n";
  const Finished all = serve(whole, {});
  EXPECT_EQ(all.exit_code, 1) << all.err;
  EXPECT_THAT(all.err, HasSubstr("/nonexistent/of-file"));
  EXPECT_THAT(all.err, HasSubstr("--trust-remote-code ("));
  EXPECT_THAT(all.err, HasSubstr("--enable-chunked-prefill ("));
  EXPECT_THAT(all.err, HasSubstr("--enable-lora ("));
  EXPECT_THAT(serve("enable-lora: true\n", {"/nonexistent"}).err, HasSubstr("--enable-lora: it is not supported"));
  EXPECT_THAT(all.err, Not(HasSubstr("--seed")));
  // The command line wins, in any spelling.
  const std::string wrong = "max-model-len: none\n";
  EXPECT_THAT(serve(wrong, {"--model", "/nonexistent/m"}).err, HasSubstr("found \"none\""));
  EXPECT_THAT(serve(wrong, {"--model", "/nonexistent/m", "--port=0", "--max_model_len=4k"}).err,
              HasSubstr("/nonexistent/m"));
  // MODEL as well, wherever it stands among flags and their values.
  for (const Arguments& more : {Arguments{"/nonexistent/of-line"},
                                {"/nonexistent/of-line", "--port", "0"},
                                {"--port", "0", "/nonexistent/of-line"},
                                {"--port=0", "--no-pdl", "/nonexistent/of-line"},
                                {"--served-model-name", "a", "b", "--", "/nonexistent/of-line"}}) {
    EXPECT_THAT(serve("model: /nonexistent/of-file\n", more).err, HasSubstr("'/nonexistent/of-line'"));
  }
  EXPECT_THAT(serve("model: /nonexistent/of-file\n", {"--served-model-name", "a", "b"}).err, HasSubstr("of-file"));
  // What stands behind "--" is no flag; what a file says stands before it.
  EXPECT_THAT(serve(wrong, {"--", "/nonexistent/m"}).err, HasSubstr("found \"none\""));
  EXPECT_THAT(run_tessera({"serve", "--", "--config=/nonexistent/x.yaml"}).err,
              HasSubstr("--config=/nonexistent/x.yaml"));
  EXPECT_THAT(serve("prot: 1\nmax-modle-len: 2\n", {"--model", "m"}).err,
              HasSubstr("unknown flags:\n  --prot; did you mean --port?\n  --max-modle-len"));
  EXPECT_THAT(serve("a: [1\n", {}).err, HasSubstr("it is not YAML"));
  EXPECT_THAT(serve("port: 1\nport: 2\n", {}).err, HasSubstr("line 2: port is there twice"));
  EXPECT_THAT(serve("- port\n", {}).err, HasSubstr("expected lines \"flag: value\""));
  EXPECT_THAT(serve("a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*c]\n", {}).err, HasSubstr("nested more than"));
  std::remove(file.c_str());
}

/// What systemd would hear.
class NotifySocket {
 public:
  NotifySocket() : descriptor_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    const timeval patience{.tv_sec = 30, .tv_usec = 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setenv("NOTIFY_SOCKET", path_.c_str(), 1);
  }
  ~NotifySocket() {
    ::unsetenv("NOTIFY_SOCKET");
    ::close(descriptor_);
    std::remove(path_.c_str());
  }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  [[nodiscard]] std::string hear() const {
    char text[64] = {};
    const ssize_t size = ::recv(descriptor_, text, sizeof text, 0);
    return size > 0 ? std::string(text, static_cast<size_t>(size)) : "";
  }

 private:
  std::string path_ = ::testing::TempDir() + "tessera_serve_" + std::to_string(::getpid());
  int descriptor_;
};

using ServeCommandTest = ModelDirectoryTest;

TEST_F(ServeCommandTest, TellsSystemdAndEndsInPeace) {
  for (const int signal : {SIGTERM, SIGINT}) {
    const NotifySocket socket;
    Process server({"serve", model(), "--port", "0", "--kv-cache-memory-bytes", "64M"});
    EXPECT_EQ(socket.hear(), "READY=1");
    server.signal(signal);
    EXPECT_EQ(socket.hear(), "STOPPING=1");
    const Finished finished = server.wait();
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("listening on http://127.0.0.1:"));
  }
}

TEST_F(ServeCommandTest, AHangUpIsNoPeacefulEnd) {
  const NotifySocket socket;
  Process server({"serve", model(), "--port", "0", "--kv-cache-memory-bytes", "64M"});
  EXPECT_EQ(socket.hear(), "READY=1");
  server.signal(SIGHUP);
  EXPECT_EQ(server.wait().exit_code, 128 + SIGHUP);
}

}  // namespace
}  // namespace tessera::cli
