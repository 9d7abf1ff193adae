#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/tiny_model.h"
#include "server/raw_client.h"
#include "server/server.h"
#include "tessera/engine.h"
#include "test_device.h"

namespace tessera::server {

/// One tiny model on disk for all tests of a program.
inline const engine::TinyModel& tiny_model() {
  static const engine::TinyModel model(engine::TinyKind::moe);
  return model;
}

/// One whose answers can end, as a grammar wants it: at "<|im_end|>" of the bundled tokenizer.
inline const engine::TinyModel& tiny_model_that_ends() {
  static const engine::TinyModel model(engine::TinyKind::moe, 1, R"({"eos_token_id": 3048})");
  return model;
}

inline EngineOptions engine_options(int max_num_seqs = 8, const engine::TinyModel& model = tiny_model()) {
  EngineOptions options;
  options.model = model.directory().string();
  options.max_num_seqs = max_num_seqs;
  options.memory_bytes = size_t{256} << 20;
  options.threads = 1;
  options.device = test_device();
  options.gpu_memory_utilization = kTestGpuMemoryUtilization;
  return options;
}

inline Engine open_engine(const EngineOptions& options = engine_options()) {
  auto engine = Engine::create(options);
  EXPECT_TRUE(engine.ok()) << engine.status().message();
  return std::move(*engine);
}

inline ServerOptions test_options() {
  ServerOptions options;
  options.port = 0;
  options.served_names = {"tiny", "tiny-too"};
  options.version = "1.2.3";
  options.access_log = false;
  return options;
}

/// A server of the tiny model on a port of its own.
class ServedModel {
 public:
  explicit ServedModel(ServerOptions options = test_options(), int max_num_seqs = 8,
                       const engine::TinyModel& model = tiny_model())
      : ServedModel(std::move(options), open_engine(engine_options(max_num_seqs, model))) {}
  ServedModel(ServerOptions options, Engine engine) {
    auto opened = Server::open(std::move(options));
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    server_ = std::move(*opened);
    const Status status = server_->serve(std::move(engine));
    EXPECT_TRUE(status.ok()) << status.message();
  }

  [[nodiscard]] uint16_t port() const { return server_->port(); }
  Server& server() { return *server_; }

  /// A gauge or counter of /metrics; `name` may end in labels.
  [[nodiscard]] double metric(const std::string& name) const { return value_of(metrics(), name); }

  /// Waits until nothing is in use of what requests hold; the name of what stays in use, or nothing. What is only slow
  /// shows in steps of the engine; who does not move any more, while the server answers a thousand questions and for
  /// longer than any wait of these tests, stays.
  [[nodiscard]] std::string left_over() const {
    constexpr std::chrono::seconds kLongestWait(15);
    constexpr int kQuestions = 1000;
    std::vector<double> before;
    auto since = std::chrono::steady_clock::now();
    for (int questions = 0;; ++questions) {
      const std::string text = metrics();
      std::vector<double> now = {value_of(text, "tessera:engine_steps_total")};
      std::string left;
      for (const char* name : {"vllm:num_requests_running", "vllm:num_requests_waiting", "tessera:kv_blocks_used",
                               "tessera:state_slots_used", "tessera:http_requests_in_flight"}) {
        now.push_back(value_of(text, name));
        if (now.back() != 0) left = name;
      }
      now.push_back(value_of(text, "tessera:http_connections"));
      if (now.back() > 1) left = "connections";  // the one that asks
      if (left.empty()) return left;
      if (now != before) {
        before = std::move(now);
        since = std::chrono::steady_clock::now();
        questions = 0;
      }
      if (questions >= kQuestions && std::chrono::steady_clock::now() - since > kLongestWait) return left;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

 private:
  [[nodiscard]] std::string metrics() const { return ask(port(), get("/metrics", "x-api-key: k\r\n")).body; }
  static double value_of(const std::string& metrics, const std::string& name) {
    const size_t at = metrics.find('\n' + name);  // behind the comment that is first
    return at == std::string::npos ? -1 : std::stod(metrics.substr(metrics.find(' ', at + 1)));
  }

  std::unique_ptr<Server> server_;
};

}  // namespace tessera::server
