#include "text/chat_seams.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <utility>

#include "base/hash.h"
#include "text/chat_template.h"
#include "text/dialect/dialect.h"
#include "text/json_depth.h"

namespace tessera::text {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kSpaces = " \t\r\n";

/// Puts one seam wherever it belongs.
class Sewing {
 public:
  Sewing(const Tokenizer& tokenizer, std::string_view seam) : tokenizer_(tokenizer), seam_(seam) {}

  [[nodiscard]] bool any() const { return any_; }

  void conversation(ordered_json& request) {
    for (auto& [name, value] : request.items()) {
      if (name != "messages" || !value.is_array()) {
        all(value);
        continue;
      }
      for (ordered_json& entry : value) message(entry);
    }
  }

 private:
  void message(ordered_json& message) {
    if (!message.is_object()) return;
    const auto role = message.value("role", ordered_json());
    for (auto& [name, value] : message.items()) {
      if (role == "assistant" && (name == "content" || name == "reasoning_content")) {
        all(value, {});
      } else if (role == "user" && name == "content" && value.is_string()) {
        user_text(value.get_ref<std::string&>());
      } else {
        all(value);
      }
    }
  }

  void user_text(std::string& text) {
    const size_t first = text.find_first_not_of(kSpaces);
    const size_t end = first == std::string::npos ? 0 : text.find_last_not_of(kSpaces) + 1;
    const auto shown = std::string_view(text).substr(std::min(first, end), end - std::min(first, end));
    const size_t marks = dialect::kToolAnswerOpen.size() + dialect::kToolAnswerClose.size();
    if (shown.size() < marks || !shown.starts_with(dialect::kToolAnswerOpen) ||
        !shown.ends_with(dialect::kToolAnswerClose)) {
      sew(text, dialect::kTokens);
      return;
    }
    std::string inside(shown.substr(dialect::kToolAnswerOpen.size(), shown.size() - marks));
    sew(inside, dialect::kTokens);
    text.replace(first + dialect::kToolAnswerOpen.size(), shown.size() - marks, inside);
  }

  void all(ordered_json& value, std::span<const std::string_view> others = dialect::kTokens) {
    if (value.is_string()) {
      sew(value.get_ref<std::string&>(), others);
    } else if (value.is_array()) {
      for (ordered_json& element : value) all(element, others);
    } else if (value.is_object()) {
      bool any_name = false;
      for (auto& [name, member] : value.items()) {
        all(member, others);
        std::string text = name;
        any_name = sew(text, others) || any_name;
      }
      if (!any_name) return;
      // Names cannot be changed in place.
      ordered_json sewn = ordered_json::object();
      for (auto& [name, member] : value.items()) {
        std::string text = name;
        sew(text, others);
        sewn[text] = std::move(member);
      }
      value = std::move(sewn);
    }
  }

  bool sew(std::string& text, std::span<const std::string_view> others) {
    const bool sewn = tokenizer_.put_seams(text, seam_, others);
    any_ = any_ || sewn;
    return sewn;
  }

  const Tokenizer& tokenizer_;
  std::string_view seam_;
  bool any_ = false;
};

/// Sixteen digits that are not in `text`. They come from all of it, so that nobody writes a text with many of them.
std::string unused_digits(std::string_view text) {
  constexpr uint64_t kLeast = 1'000'000'000'000'000;
  uint64_t state = fnv1a(text);
  std::string digits;
  do digits = std::to_string(kLeast + splitmix64(state) % (9 * kLeast));
  while (text.find(digits) != std::string_view::npos);
  return digits;
}

}  // namespace

std::string put_seams(const Tokenizer& tokenizer, ordered_json& request) {
  if (json_depth_exceeds(request, ChatTemplate::kRequestDepthMax)) return {};  // which will be refused
  Sewing trial(tokenizer, "");
  trial.conversation(request);
  if (!trial.any()) return {};
  std::string seam =
      unused_digits(request.dump(-1, ' ', /*ensure_ascii=*/false, ordered_json::error_handler_t::replace));
  Sewing(tokenizer, seam).conversation(request);
  return seam;
}

}  // namespace tessera::text
