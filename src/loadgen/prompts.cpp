#include "loadgen/prompts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/check.h"
#include "loadgen/embedded.h"

namespace tessera::loadgen {
namespace {

constexpr std::string_view kSections[] = {"chat",          "code task",  "code part",  "agent system",
                                          "agent tool",    "agent task", "agent call", "agent result",
                                          "agent thought", "heading",    "paragraph",  "question"};
constexpr uint64_t kGroupStreams = uint64_t{1} << 62;  // beyond every index
constexpr size_t kResultBytes = 1600;                  // of one tool's result, where there is much to be filled
constexpr size_t kNaturalDocumentBytes = 2400;

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

std::vector<std::string> split(std::string_view text, std::string_view separator) {
  std::vector<std::string> items;
  for (;;) {
    const size_t at = text.find(separator);
    items.emplace_back(trim(text.substr(0, at)));
    if (at == std::string_view::npos) return items;
    text.remove_prefix(at + separator.size());
  }
}

/// "K7QX-20MA": 8 characters without those that look alike.
std::string code_of(Random& random) {
  constexpr std::string_view kLetters = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
  std::string code;
  for (int i = 0; i < 8; ++i) {
    if (i == 4) code += '-';
    code += kLetters[random.below(kLetters.size())];
  }
  return code;
}

Json message(std::string_view role, std::string content) {
  return {{"role", std::string(role)}, {"content", std::move(content)}};
}

}  // namespace

std::vector<PromptKind> all_kinds() {
  return {PromptKind::chat, PromptKind::code, PromptKind::agent, PromptKind::document};
}

/// One prompt's draws.
class PromptSet::Writer {
 public:
  Writer(const PromptSet& set, const PromptPlan& plan, int64_t index)
      : set_(set), plan_(plan), own_(plan.seed, static_cast<uint64_t>(index)), group_(0) {
    prompt_.kind = plan.kinds[own_.below(plan.kinds.size())];
    const uint64_t group =
        plan.shared > 0 ? own_.below(static_cast<size_t>(plan.groups)) : static_cast<uint64_t>(index);
    group_ = Random(plan.seed, kGroupStreams + group);
  }

  Prompt write() {
    const auto kind = static_cast<size_t>(prompt_.kind);
    budget_ = static_cast<size_t>(static_cast<double>(plan_.context_tokens) * plan_.bytes_per_token[kind]);
    prompt_.messages = Json::array();
    begin();
    switch (prompt_.kind) {
      case PromptKind::chat: write_chat(); break;
      case PromptKind::code: write_code(); break;
      case PromptKind::agent: write_agent(); break;
      case PromptKind::document: write_document(); break;
    }
    return std::move(prompt_);
  }

 private:
  /// An item of a section, filled.
  std::string draw(Random& random, std::string_view section) {
    const auto& items = set_.sections_.find(section)->second;
    return fill(random, items[random.below(items.size())]);
  }

  std::string slot(Random& random, std::string_view name) {
    if (name == "id") return code_of(random);
    if (name == "n") return std::to_string(12 + random.below(80));
    if (name == "m") return std::to_string(120 + random.below(800));
    if (name == "k") return std::to_string(2 + random.below(8));
    const auto& items = set_.sections_.find("list " + std::string(name))->second;
    return items[random.below(items.size())];
  }

  /// `@name@` becomes an item; the same slot twice in one text is the same item.
  std::string fill(Random& random, const std::string& text) {
    std::map<std::string, std::string, std::less<>> filled;
    std::string out;
    for (size_t at = 0; at < text.size();) {
      const size_t open = text.find('@', at);
      const size_t close = open == std::string::npos ? open : text.find('@', open + 1);
      if (close == std::string::npos) return out + text.substr(at);
      out.append(text, at, open - at);
      const std::string name = text.substr(open + 1, close - open - 1);
      auto found = filled.find(name);
      if (found == filled.end()) {
        const bool another = std::isdigit(static_cast<unsigned char>(name.back())) != 0;
        const std::string list = another ? name.substr(0, name.size() - 1) : name;
        std::string item = slot(random, list);
        for (int i = 0; i < 9 && another && filled.contains(list) && filled[list] == item; ++i) {
          item = slot(random, list);
        }
        found = filled.emplace(name, item).first;
      }
      out += found->second;
      at = close + 1;
    }
    return out;
  }

  void add(Json made, size_t bytes) {
    prompt_.messages.push_back(std::move(made));
    prompt_.bytes += bytes;
  }
  void add(std::string_view role, std::string content) {
    const size_t bytes = content.size();
    add(message(role, std::move(content)), bytes);
  }

  [[nodiscard]] size_t left(size_t reserved = 0) const {
    return budget_ > prompt_.bytes + reserved ? budget_ - prompt_.bytes - reserved : 0;
  }

  /// Parts of a section until there are `bytes` of them, the last one cut at a word. `headed`: some have headings.
  std::string parts(Random& random, std::string_view section, size_t bytes, bool headed) {
    std::string text;
    for (int count = 0; text.size() < bytes; ++count) {
      if (headed && count % 6 == 0) text += "## " + draw(random, "heading") + " (" + code_of(random) + ")\n\n";
      text += draw(random, section) + "\n\n";
    }
    if (text.size() > bytes) text.resize(bytes);
    const size_t word = text.find_last_of(" \n");
    if (word != std::string::npos && text.size() - word < 40) text.resize(word);
    return text;
  }

  /// What every prompt begins with: tools, which templates put first, then a system message. Of the group's draws,
  /// so that with shared beginnings they are the same text, and otherwise one of their own.
  void begin() {
    const std::string code = code_of(group_);
    if (prompt_.kind == PromptKind::agent) {
      prompt_.tools = Json::array();
      for (const std::string& tool : set_.sections_.find("agent tool")->second) {
        prompt_.tools.push_back({{"type", "function"}, {"function", Json::parse(tool)}});
      }
      // The first tool's name is the first text that differs; a cache has only the template's own words before it.
      Json& first = prompt_.tools[0]["function"]["name"];
      std::string name = fmt::format("n{}_{}", code, first.get<std::string>());
      std::replace(name.begin(), name.end(), '-', '_');
      first = name;
      search_ = name;
      prompt_.bytes += prompt_.tools.dump().size();
    }
    const bool agent = prompt_.kind == PromptKind::agent;
    std::string text = fmt::format("Reference {}.", code);
    if (agent) text.append(" ").append(draw(group_, "agent system"));
    if (plan_.shared > 0) {
      const auto bytes = static_cast<size_t>(static_cast<double>(budget_) * plan_.shared);
      if (bytes > text.size()) text += "\n\n" + parts(group_, "paragraph", bytes - text.size(), /*headed=*/true);
    } else if (!agent) {
      opening_ = text + "\n\n";
      return;
    }
    add("system", std::move(text));
    if (plan_.shared > 0) opening_ = fmt::format("Reference {}.\n\n", code_of(own_));
  }

  void write_chat() {
    std::string question = draw(own_, "chat");
    if (plan_.context_tokens == 0) return add("user", opening_ + question);
    // An earlier turn with what the user has pasted, as long as is asked for.
    const std::string answer = "Thank you, I have read it. What would you like to know?";
    std::string pasted = opening_ + "Keep these notes in mind.\n\n";
    pasted += parts(own_, "paragraph", left(pasted.size() + answer.size() + question.size()), /*headed=*/false);
    add("user", std::move(pasted));
    add("assistant", answer);
    add("user", std::move(question));
  }

  void write_code() {
    std::string task = draw(own_, "code task");
    std::string text = opening_ + "```\n";
    const size_t other = text.size() + task.size() + 6;
    text += plan_.context_tokens == 0 ? draw(own_, "code part") : parts(own_, "code part", left(other), false);
    add("user", text + "\n```\n\n" + task);
  }

  void write_document() {
    std::string question = draw(own_, "question");
    const size_t bytes =
        plan_.context_tokens == 0 ? kNaturalDocumentBytes : left(opening_.size() + question.size() + 2);
    add("user", opening_ + parts(own_, "paragraph", bytes, /*headed=*/true) + "\n\n" + question);
  }

  void write_agent() {
    add("user", (plan_.shared > 0 ? opening_ : std::string()) + draw(own_, "agent task"));
    const size_t natural_rounds = 1 + own_.below(3);
    for (size_t round = 0; round < (plan_.context_tokens == 0 ? natural_rounds : size_t{1} << 20); ++round) {
      const std::string arguments = draw(own_, "agent call"), thought = round == 0 ? "" : draw(own_, "agent thought");
      const std::string id = "call_" + std::to_string(round);
      const size_t call = arguments.size() + thought.size() + search_.size();
      size_t bytes = kResultBytes;
      if (plan_.context_tokens > 0) {
        const size_t room = left(call);
        if (round > 0 && room < 200) return;  // less than a result is worth
        bytes = room < 2 * kResultBytes ? room : kResultBytes;
      }
      const Json function = {{"name", search_}, {"arguments", arguments}};
      add({{"role", "assistant"},
           {"content", thought},
           {"tool_calls", Json::array({{{"id", id}, {"type", "function"}, {"function", function}}})}},
          call);
      std::string result = plan_.context_tokens > 0 ? parts(own_, "agent result", bytes, /*headed=*/false)
                                                    : draw(own_, "agent result") + "\n" + draw(own_, "agent result");
      const size_t size = result.size();
      add({{"role", "tool"}, {"tool_call_id", id}, {"content", std::move(result)}}, size);
    }
  }

  const PromptSet& set_;
  const PromptPlan& plan_;
  Random own_, group_;
  size_t budget_ = 0;
  std::string opening_, search_;
  Prompt prompt_;
};

Expected<PromptSet> PromptSet::parse(std::string_view text) {
  PromptSet set;
  size_t at = text.find("\n== ");
  while (at != std::string_view::npos) {
    const size_t name_at = at + 4, line_end = text.find('\n', name_at);
    at = text.find("\n== ", name_at);
    if (line_end == std::string_view::npos || line_end > at) break;
    const std::string name(trim(text.substr(name_at, line_end - name_at)));
    const bool list = name.starts_with("list ");
    set.sections_[name] =
        split(text.substr(line_end, at == std::string_view::npos ? at : at + 1 - line_end), list ? "," : "\n--\n");
  }
  for (const std::string_view section : kSections) {
    if (!set.sections_.contains(section)) {
      return error(StatusCode::corrupt_data, "the prompts have no section \"== {}\"", section);
    }
  }
  for (const auto& [name, items] : set.sections_) {
    for (const std::string& item : items) {
      if (item.empty()) return error(StatusCode::corrupt_data, "the section \"== {}\" has an empty item", name);
      if (name == "agent tool" && !Json::accept(item)) {
        return error(StatusCode::corrupt_data, "the section \"== agent tool\" has an item that is no JSON: {}", item);
      }
      for (size_t open = item.find('@'); open != std::string::npos; open = item.find('@', open + 1)) {
        const size_t close = item.find('@', open + 1);
        std::string slot = item.substr(open + 1, close == std::string::npos ? close : close - open - 1);
        const bool numbered = !slot.empty() && std::isdigit(static_cast<unsigned char>(slot.back())) != 0;
        if (numbered) slot.pop_back();
        const bool known = slot == "id" || slot == "n" || slot == "m" || slot == "k";
        if (close == std::string::npos || !(known || set.sections_.contains("list " + slot))) {
          return error(StatusCode::corrupt_data, "the section \"== {}\" has @{}@, which has no list", name, slot);
        }
        open = close;
      }
    }
  }
  return set;
}

PromptSet PromptSet::built_in() {
  Expected<PromptSet> set = parse(prompts_text());
  TESSERA_CHECK(set.ok());  // a test reads them
  return *std::move(set);
}

Prompt PromptSet::make(const PromptPlan& plan, int64_t index) const { return Writer(*this, plan, index).write(); }

}  // namespace tessera::loadgen
