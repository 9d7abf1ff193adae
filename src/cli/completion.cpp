#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "cli/shell_completion.h"

namespace tessera::cli {

void add_completion(CLI::App& app, Action& action) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "Print what a shell reads to complete commands and flags");
  command->add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(one_of({"bash", "zsh", "fish"}));
  command->footer(
      "Examples (a package has installed all three):\n"
      "  source <(tessera completion bash)                 also from ~/.bashrc or ~/.zshrc\n"
      "  tessera completion fish > ~/.config/fish/completions/tessera.fish");
  command->callback([&app, shell, &action] {
    action = [&app, shell] {
      const bool is_bash = *shell == "bash", is_zsh = *shell == "zsh";
      write_out(is_bash ? bash_completion(app) : is_zsh ? zsh_completion(app) : fish_completion(app));
      return Status();
    };
  });
}

}  // namespace tessera::cli
