#include "cli/chat.h"

#include "base/status.h"
#include "cli/console.h"
#include "cli/interrupt.h"
#include "cli/line_editor.h"
#include "cli/suggest.h"

namespace tessera::cli {
namespace {

constexpr const char* kHelp =
    "/clear         forget the conversation\n"
    "/think on|off  whether the model thinks before it answers\n"
    "/exit          leave (or Ctrl-D)\n"
    "/help          this\n"
    "Ctrl-C stops an answer. Alt-Enter starts a new line; pasted text keeps its lines. A message that begins with a\n"
    "slash starts with two.\n";

const std::vector<std::string> kCommands = {"/clear", "/think", "/exit", "/quit", "/help"};

class Chat {
 public:
  Chat(Engine& engine, ChatOptions options) : engine_(engine), options_(std::move(options)) {}

  Status run() {
    print("{}\n", dim("Type a message; /help lists commands, Ctrl-D leaves."));
    const std::string prompt = options_.style.colours ? "\x1b[1m>\x1b[0m " : "> ";
    LineEditor editor;
    for (std::string line;;) {
      const LineEditor::End end = read_line(editor, prompt, line);
      if (end == LineEditor::End::closed) {
        write_out("\n");
        return {};
      }
      if (end == LineEditor::End::interrupted && line.empty()) print("{}\n", dim("(Ctrl-D leaves)"));
      if (end == LineEditor::End::interrupted || line.find_first_not_of(" \t\n") == std::string::npos) continue;
      if (line.front() == '/' && !line.starts_with("//")) {
        if (!command(line)) return {};
        continue;
      }
      answer(line.starts_with("//") ? line.substr(1) : line);
      TESSERA_RETURN_IF_ERROR(engine_.status());
    }
  }

 private:
  /// Without raw mode, Ctrl-C arrives as a signal; the line is thrown away by the terminal itself.
  static LineEditor::End read_line(LineEditor& editor, const std::string& prompt, std::string& line) {
    const OnInterrupt ignore([&] { write_out("\n" + prompt); });
    return editor.read(prompt, 2, line);
  }

  [[nodiscard]] std::string dim(const std::string& text) const {
    return options_.style.colours ? "\x1b[2m" + text + "\x1b[0m" : text;
  }

  /// False to leave.
  bool command(const std::string& line) {
    if (line == "/exit" || line == "/quit") return false;
    if (line == "/clear") {
      history_.clear();
      print("{}\n", dim("The conversation is forgotten."));
    } else if (line == "/think on" || line == "/think off") {
      options_.prompt.enable_thinking = line == "/think on";
      print("{}\n", dim(options_.prompt.enable_thinking ? "Thinking is on." : "Thinking is off."));
    } else if (line == "/help") {
      write_out(kHelp);
    } else {
      const std::string nearest = nearest_name(line.substr(0, line.find(' ')), kCommands);
      print("{}\n", dim(fmt::format("There is no {}{} /help lists the commands.", line,
                                    nearest.empty() ? "." : fmt::format("; did you mean {}?", nearest))));
    }
    return true;
  }

  void answer(const std::string& message) {
    if (options_.prompt.raw) history_.clear();
    history_.push_back({.role = "user", .content = message});
    const Status status = try_answer();
    if (status.ok() || !engine_.status().ok()) return;
    history_.pop_back();
    note("{}{}", status.message(), history_.empty() ? "" : " (/clear starts a new conversation)");
  }

  Status try_answer() {
    TESSERA_ASSIGN_OR_RETURN(const Prompt prompt, make_prompt(engine_, history_, options_.prompt));
    AnswerView view(options_.style, prompt.opens_thinking);
    TESSERA_ASSIGN_OR_RETURN(const Outcome outcome,
                             stream_answer(engine_, prompt, options_.sampling, view, options_.prompt.grammar));
    if (outcome.interrupted) print("{}\n", dim("(stopped)"));
    if (outcome.reason == FinishReason::length) print("{}\n", dim("(cut: the limit of tokens is reached)"));
    if (options_.verbose) print("{}\n", dim(speed_text(outcome)));
    history_.push_back({.role = "assistant", .content = view.content()});
    return {};
  }

  Engine& engine_;
  ChatOptions options_;
  std::vector<ChatMessage> history_;
};

}  // namespace

Status chat(Engine& engine, ChatOptions options) {
  // Whatever is wrong with the template or the tokenizer shows now; and the template's process is up when needed.
  const auto trial = make_prompt(engine, {{.role = "user", .content = "Hello"}}, options.prompt);
  if (!trial.ok()) return trial.status();
  return Chat(engine, std::move(options)).run();
}

}  // namespace tessera::cli
