#pragma once

#include <condition_variable>
#include <mutex>
#include <string>

#include "cli/scripted_server.h"

// What servers of these tests say.
namespace tessera::loadgen {

using cli::ScriptedServer;
using Connection = ScriptedServer::Connection;
using Request = ScriptedServer::Request;

/// A piece of text, and how many tokens there are with it.
inline std::string chunk(const std::string& text, int tokens) {
  return R"({"choices":[{"index":0,"delta":{"content":")" + text +
         R"("}}],"usage":{"prompt_tokens":50,"completion_tokens":)" + std::to_string(tokens) + "}}";
}
inline const std::string kFinish = R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})";

inline void answer_well(const Connection& to, int tokens) {
  to.begin_stream();
  for (int i = 1; i <= tokens; ++i) to.event(chunk(" w" + std::to_string(i), i));
  to.event(kFinish);
  to.event("[DONE]");
}

/// What threads of a server wait for.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return open_; });
  }
  /// Opens once so many have come.
  void meet(int wanted) {
    {
      const std::lock_guard lock(mutex_);
      if (++come_ == wanted) open_ = true;
      changed_.notify_all();
    }
    pass();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int come_ = 0;
};

}  // namespace tessera::loadgen
