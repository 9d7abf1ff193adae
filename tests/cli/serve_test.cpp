#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "cli/model_directory.h"

namespace tessera::cli {
namespace {

using ::testing::HasSubstr;

TEST(ServeCommand, FlagsThatMakeNoSense) {
  const std::pair<Arguments, const char*> kWrong[] = {
      {{}, "MODEL is required"},
      {{"m", "--model", "m"}, "twice"},
      {{"m", "--port", "70000"}, "from 0 to 65535"},
      {{"m", "--prot", "1"}, "did you mean --port?"},
      {{"m", "--max-body-bytes", "0"}, "whole number"},
      {{"m", "--override-generation-config", "7"}, "JSON object"},
      {{"m", "--override-generation-config", R"({"temperature": -1})"}, "temperature"},
      {{"m", "--default-chat-template-kwargs", "{"}, "JSON object"},
      {{"m", "--allowed-origins", "[1]"}, "--allowed-origins"},
      {{"m", "--override-generation-config", R"({"temprature": 1})"}, "there is no sampling parameter temprature"},
      {{"m", "--override-generation-config", R"({"typical_p": 0.5})"}, "typical_p is 0.5: it is not supported"},
      {{"m", "--override-generation-config", R"({"max_new_tokens": -7})"}, "max_tokens is -7"},
      {{"m", "--tool-call-parser", "hermes"}, "qwen3_coder"},
      {{"m", "--api-key", ""}, "--api-key"},
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

}  // namespace
}  // namespace tessera::cli
