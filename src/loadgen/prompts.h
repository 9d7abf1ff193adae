#pragma once

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "loadgen/random.h"

// What a load asks: prompts composed of the parts in prompts.txt. A prompt is a function of seed and index alone, so
// that servers can be asked the same ones, and no two are alike: each begins with a code of its own, behind which no
// prefix cache has anything.
namespace tessera::loadgen {

using Json = nlohmann::ordered_json;

enum class PromptKind { chat, code, agent, document };
constexpr size_t kPromptKinds = 4;
constexpr std::array<std::string_view, kPromptKinds> kPromptKindNames = {"chat", "code", "agent", "document"};

std::vector<PromptKind> all_kinds();

struct PromptPlan {
  uint64_t seed = 0;
  std::vector<PromptKind> kinds = all_kinds();
  int64_t context_tokens = 0;  // 0: as long as the prompts are by themselves
  /// Bytes of text that make a token of the served model: a prompt of N tokens is N times as long.
  std::array<double, kPromptKinds> bytes_per_token = {4, 4, 4, 4};
  double shared = 0;   // this share of a prompt is the same text in all prompts of a group, at its beginning
  int64_t groups = 1;  // how many such texts there are
};

struct Prompt {
  PromptKind kind = PromptKind::chat;
  Json messages;
  Json tools;        // null: none
  size_t bytes = 0;  // of text, tools included
};

class PromptSet {
 public:
  /// Reads the form that the head of prompts.txt describes.
  static Expected<PromptSet> parse(std::string_view text);
  /// The set that is built in.
  static PromptSet built_in();

  [[nodiscard]] Prompt make(const PromptPlan& plan, int64_t index) const;

 private:
  class Writer;
  std::map<std::string, std::vector<std::string>, std::less<>> sections_;
};

}  // namespace tessera::loadgen
