// A chat in the terminal with nothing but the public API: example_chat MODEL [DEVICE]
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "tessera/engine.h"

namespace {

int fail(const tessera::Status& status) {
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    return fail({tessera::StatusCode::invalid_argument, "usage: example_chat MODEL [auto|cpu|cuda|cuda:N]"});
  }
  const std::string device = argc == 3 ? argv[2] : "auto";
  auto engine = tessera::Engine::create({.model = argv[1], .device = device, .max_num_seqs = 1});
  if (!engine) return fail(engine.status());
  std::cerr << "on " << engine->fit().device << "\n";

  std::vector<tessera::ChatMessage> history;
  for (std::string line; std::cout << "> " << std::flush && std::getline(std::cin, line);) {
    history.push_back({.role = "user", .content = line});
    auto prompt = engine->chat_prompt(history);
    if (!prompt) return fail(prompt.status());
    auto stream = engine->submit({.prompt = *prompt, .sampling = engine->default_sampling()});
    if (!stream) return fail(stream.status());

    std::string answer;
    while (const auto event = stream->next()) {
      std::cout << event->text << std::flush;
      answer += event->text;
      if (event->finish_reason == tessera::FinishReason::error) return fail(event->error);
    }
    std::cout << "\n";
    history.push_back({.role = "assistant", .content = answer});
  }
  return 0;
}
