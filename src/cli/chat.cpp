#include "cli/chat.h"

#include <algorithm>
#include <cstdlib>

#include "base/status.h"
#include "cli/batch_input.h"
#include "cli/console.h"
#include "cli/conversation_file.h"
#include "cli/interrupt.h"
#include "cli/line_editor.h"
#include "cli/sampling.h"
#include "cli/suggest.h"

namespace tessera::cli {
namespace {

constexpr const char* kHelpOfKeys =
    "Ctrl-C stops an answer. Alt-Enter starts a new line; pasted text keeps its lines. A message that begins with a\n"
    "slash starts with two.\n";

/// "~/file" is in the user's home, as in a shell.
std::string expanded(const std::string& file) {
  const char* home = std::getenv("HOME");
  return file.starts_with("~/") && home != nullptr ? home + file.substr(1) : file;
}

/// "0.7", "[\"a\"]", or a text that is no JSON as it is.
nlohmann::ordered_json value_of(const std::string& text) { return parse_json(text).value_or(text); }

class Chat {
 public:
  Chat(Engine& engine, ChatOptions options) : engine_(engine), options_(std::move(options)) {}

  Status run() {
    say("Type a message; /help lists commands, Ctrl-D leaves.");
    const std::string prompt = options_.style.colours ? "\x1b[1m>\x1b[0m " : "> ";
    LineEditor editor;
    for (std::string line; !leaving_;) {
      const LineEditor::End end = read_line(editor, prompt, line);
      if (end == LineEditor::End::closed) {
        write_out("\n");
        return {};
      }
      if (end == LineEditor::End::interrupted && line.empty()) say("(Ctrl-D leaves)");
      if (end == LineEditor::End::interrupted || line.find_first_not_of(" \t\n") == std::string::npos) continue;
      if (line.front() == '/' && !line.starts_with("//")) {
        command(line);
      } else {
        if (options_.prompt.raw) history_.clear();
        history_.push_back({.role = "user", .content = line.starts_with("//") ? line.substr(1) : line});
        if (!answer()) history_.pop_back();
      }
      TESSERA_RETURN_IF_ERROR(engine_.status());
    }
    return {};
  }

 private:
  struct Command {
    const char* name;
    const char* argument;
    const char* what;
    void (Chat::*act)(const std::string& argument);
  };
  static const Command kCommands[];

  /// Without raw mode, Ctrl-C arrives as a signal; the line is thrown away by the terminal itself.
  static LineEditor::End read_line(LineEditor& editor, const std::string& prompt, std::string& line) {
    const OnInterrupt ignore([&] { write_out("\n" + prompt); });
    return editor.read(prompt, 2, line);
  }

  /// Words of the program's own.
  void say(const std::string& text) const {
    const std::string shown = without_controls(text);
    print("{}\n", options_.style.colours ? "\x1b[2m" + shown + "\x1b[0m" : shown);
  }

  void command(const std::string& line);

  void clear(const std::string& /*argument*/) {
    history_.clear();
    say("The conversation is forgotten.");
  }

  void system(const std::string& argument) {
    options_.prompt.system = argument;
    say(argument.empty() ? "There is no system message." : "The system message is set, for the next answer on.");
  }

  void think(const std::string& argument) {
    if (argument != "on" && argument != "off") return say("/think is followed by on or off.");
    options_.prompt.enable_thinking = argument == "on";
    say(options_.prompt.enable_thinking ? "Thinking is on." : "Thinking is off.");
  }

  void set(const std::string& argument);

  void regenerate(const std::string& /*argument*/) {
    const std::vector<ChatMessage> before = history_;
    if (!history_.empty() && history_.back().role == "assistant") history_.pop_back();
    if (history_.empty() || history_.back().role != "user") {
      history_ = before;
      return say("There is nothing to answer anew.");
    }
    if (options_.sampling.seed) say("(the seed is set, so the answer is the same; /set seed -1 takes a random one)");
    if (!answer()) history_ = before;
  }

  void save(const std::string& argument) {
    if (argument.empty()) return say("/save is followed by a file.");
    if (history_.empty()) return say("There is no conversation to save.");
    std::vector<ChatMessage> messages = history_;
    if (!options_.prompt.system.empty()) {
      messages.insert(messages.begin(), {.role = "system", .content = options_.prompt.system});
    }
    const Status status = save_conversation(expanded(argument), messages);
    say(status.ok() ? fmt::format("The conversation is in {}.", argument) : status.message());
  }

  void load(const std::string& argument) {
    if (argument.empty()) return say("/load is followed by a file.");
    auto messages = load_conversation(expanded(argument));
    if (!messages) return say(messages.status().message());
    history_ = std::move(*messages);
    options_.prompt.system.clear();
    if (history_.front().role != "user" && history_.front().role != "assistant") {
      options_.prompt.system = history_.front().content;
      history_.erase(history_.begin());
    }
    say(fmt::format("{} message{} loaded{}.", history_.size(), history_.size() == 1 ? " is" : "s are",
                    options_.prompt.system.empty() ? "" : ", and a system message"));
  }

  void leave(const std::string& /*argument*/) { leaving_ = true; }
  void help(const std::string& argument);

  /// Answers the conversation, which ends with the user's message. False: there is no answer, and a note says why.
  bool answer() {
    const Status status = try_answer();
    if (status.ok() || !engine_.status().ok()) return true;
    note("{}{}", status.message(), history_.size() == 1 ? "" : " (/clear starts a new conversation)");
    return false;
  }

  Status try_answer() {
    TESSERA_ASSIGN_OR_RETURN(const Prompt prompt, make_prompt(engine_, history_, options_.prompt));
    AnswerView view(options_.style, prompt.opens_thinking);
    TESSERA_ASSIGN_OR_RETURN(const Outcome outcome,
                             stream_answer(engine_, prompt, options_.sampling, view, options_.prompt.grammar));
    if (outcome.interrupted) say("(stopped)");
    if (outcome.reason == FinishReason::length) say("(cut: the limit of tokens is reached)");
    if (options_.verbose) say(speed_text(outcome));
    history_.push_back({.role = "assistant", .content = view.content()});
    return {};
  }

  Engine& engine_;
  ChatOptions options_;
  std::vector<ChatMessage> history_;  // without the system message
  bool leaving_ = false;
};

const Chat::Command Chat::kCommands[] = {
    {"/clear", "", "forget the conversation", &Chat::clear},
    {"/system", "TEXT", "the system message; without TEXT there is none", &Chat::system},
    {"/think", "on|off", "whether the model thinks before it answers", &Chat::think},
    {"/set", "NAME VALUE", "a sampling parameter, such as temperature 0.7; alone, it lists them", &Chat::set},
    {"/regen", "", "answer the last message anew", &Chat::regenerate},
    {"/save", "FILE", "write the conversation, JSON in the shape of OpenAI's messages", &Chat::save},
    {"/load", "FILE", "go on with one", &Chat::load},
    {"/exit", "", "leave (or Ctrl-D)", &Chat::leave},
    {"/help", "", "this", &Chat::help},
};

void Chat::command(const std::string& line) {
  const size_t name_end = std::min(line.find_first_of(" \t\n"), line.size());
  const size_t begin = line.find_first_not_of(" \t\n", name_end);
  const size_t end = line.find_last_not_of(" \t\n") + 1;
  const std::string name = line.substr(0, name_end);
  const std::string argument = begin == std::string::npos ? "" : line.substr(begin, end - begin);
  std::vector<std::string> names;
  for (const Command& known : kCommands) {
    if (name != known.name && !(name == "/quit" && known.act == &Chat::leave)) {
      names.emplace_back(known.name);
      continue;
    }
    if (argument.empty() || *known.argument != '\0') return (this->*known.act)(argument);
    return say(fmt::format("{} takes nothing behind it.", known.name));
  }
  const std::string nearest = nearest_name(name, names);
  say(fmt::format("There is no {}{} /help lists the commands.", line,
                  nearest.empty() ? "." : fmt::format("; did you mean {}?", nearest)));
}

void Chat::set(const std::string& argument) {
  const size_t name_end = std::min(argument.find_first_of(" \t="), argument.size());
  std::string name = argument.substr(0, name_end);
  std::ranges::replace(name, '-', '_');
  const size_t begin = argument.find_first_not_of(" \t=", name_end);
  // One answer is shown, without log-probabilities.
  std::vector<std::string> names = sampling_keys();
  std::erase_if(names, [](const std::string& key) { return key == "n" || key == "logprobs"; });
  const bool known = std::ranges::find(names, name) != names.end();
  if (!name.empty() && !known) {
    const std::string nearest = nearest_name(name, names);
    return say(fmt::format("There is no {}{} /set lists the parameters.", name,
                           nearest.empty() ? "." : fmt::format("; did you mean {}?", nearest)));
  }
  if (begin != std::string::npos) {
    const Status status = apply_sampling({{name, value_of(argument.substr(begin))}}, options_.sampling);
    if (!status.ok()) return say(status.message());
  }
  const auto values = sampling_values(options_.sampling);
  for (const std::string& key : names) {
    if (name.empty() || key == name) say(fmt::format("{:<18} {}", key, values[key].dump()));
  }
}

void Chat::help(const std::string& /*argument*/) {
  for (const Command& known : kCommands) {
    print("{:<16} {}\n", fmt::format("{} {}", known.name, known.argument), known.what);
  }
  write_out(kHelpOfKeys);
}

}  // namespace

Status chat(Engine& engine, ChatOptions options) {
  // Whatever is wrong with the template or the tokenizer shows now; and the template's process is up when needed.
  const auto trial = make_prompt(engine, {{.role = "user", .content = "Hello"}}, options.prompt);
  if (!trial.ok()) return trial.status();
  return Chat(engine, std::move(options)).run();
}

}  // namespace tessera::cli
