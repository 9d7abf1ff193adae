#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "server/served_model.h"

namespace tessera::server {

inline constexpr int kClientsAtOnce = 32;

/// Of a request to one of the endpoints that generate; some answers follow a grammar.
inline nlohmann::json random_body(std::string_view path, std::mt19937& random) {
  const auto below = [&](uint32_t bound) { return random() % bound; };
  const nlohmann::json messages = {{{"role", "user"}, {"content", "Hi"}}};
  const bool guided = below(3) == 0;
  nlohmann::json body = {{"stream", below(2) == 0}};
  const uint32_t tokens = 1 + below(600);
  if (path == "/v1/responses") {
    body["input"] = "Hi";
    body["max_output_tokens"] = tokens;
    if (guided) {
      body["text"]["format"] = {{"type", "json_schema"},
                                {"name", "numbers"},
                                {"schema", {{"type", "array"}, {"items", {{"type", "integer"}}}, {"minItems", 5}}}};
    }
    return body;
  }
  body["max_tokens"] = tokens;
  if (path == "/v1/completions") {
    body["prompt"] = "Go";
  } else {
    body["messages"] = messages;
  }
  if (path == "/v1/messages") return body;
  body["n"] = 1 + below(3);
  if (guided) {
    body["guided_regex"] = "[a-z]{20,}";
  } else {
    body["ignore_eos"] = true;
  }
  return body;
}

/// A client that goes as far as chance wants, and leaves in one way or another.
inline void leave_at_random(uint16_t port, uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t bound) { return random() % bound; };
  const char* const path =
      std::array{"/v1/completions", "/v1/chat/completions", "/v1/messages", "/v1/responses"}[below(4)];
  const std::string request = post(path, random_body(path, random).dump());
  RawClient client(port, below(2) == 0 ? 2048 : 0);
  if (!client.connected()) return;
  switch (below(5)) {
    case 0: break;
    case 1: client.send(std::string_view(request).substr(0, below(static_cast<uint32_t>(request.size())))); break;
    case 2: client.send(request); break;
    case 3:
      client.send(request);
      std::this_thread::sleep_for(std::chrono::milliseconds(below(30)));
      break;
    default: client.send(request); client.wait_for("HTTP/1.1 200");
  }
  switch (below(3)) {
    case 0: client.reset(); break;
    case 1:
      client.half_close();
      std::this_thread::sleep_for(std::chrono::milliseconds(below(5)));
      break;
    default: break;
  }
}

/// Nothing is left of `clients` of them, and the server goes on.
inline void storm(int clients) {
  const ServedModel served(test_options(), 8, tiny_model_that_ends());
  std::atomic<int> next = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kClientsAtOnce; ++i) {
      threads.emplace_back([&] {
        for (int client = next++; client < clients; client = next++) {
          leave_at_random(served.port(), static_cast<uint32_t>(client));
        }
      });
    }
  }
  EXPECT_EQ(served.left_over(), "");
  const RawAnswer answer =
      ask(served.port(), post("/v1/completions", R"({"prompt":"Go","max_tokens":3,"ignore_eos":true})"));
  EXPECT_EQ(nlohmann::json::parse(answer.body)["usage"]["completion_tokens"], 3);
}

}  // namespace tessera::server
