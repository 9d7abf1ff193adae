#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "base/call_watch.h"
#include "cli/settings.h"
#include "tessera/engine.h"

namespace tessera::cli {

/// The flags of `vllm serve` that shape an engine.
struct EngineFlags {
  EngineOptions options;
  std::vector<std::string> ignored;  // what to say about flags that were accepted and mean nothing here
  bool print_plan = false;           // on standard error, what steps launch
  bool quiet = false;
  bool verbose = false;           // on standard error, what was chosen at start
  std::vector<Setting> settings;  // the command's own among these
};

/// Adds them to `command`. Flags that mean something only on a GPU are accepted, so that command lines can be shared,
/// and what is ignored is gathered; a value that asks for more than there is is an error. `flags` must outlive the
/// parsing.
void add_engine_flags(CLI::App& command, EngineFlags& flags);

/// Adds --chat-template, for commands that render chats, to the flags of `group`.
void add_chat_template_flag(CLI::App& command, EngineFlags& flags, const char* group);

/// Adds --verbose, which tells `what` besides the table of settings; for commands that open an engine by open_engine.
void add_verbose_flag(CLI::App& command, EngineFlags& flags, const std::string& what, const char* group);

/// Adds --device, where a model runs (engine/device_choice.h).
CLI::Option* add_device_flag(CLI::App& command, std::string& device, const char* group);

/// Adds --gpu, for commands that measure one GPU.
CLI::Option* add_gpu_flag(CLI::App& command, int& gpu);

/// Adds --requantize-projections.
void add_requantize_flag(CLI::App& command, std::string& format, const char* group);

/// Engine::create with the fit report and the progress of loading on standard error; with --verbose what was chosen,
/// too.
Expected<Engine> open_engine(const EngineFlags& flags);

/// What to say when so many projections of so many bytes become FP8.
std::string requantized_text(int matrices, size_t stored_bytes);

/// Ends the program at once, with a message and exit code 1: for an engine whose device has failed. To give back what
/// it holds could wait for the device for ever.
[[noreturn]] void end_without_teardown(const Status& why);

/// Ends the program so when a call into a GPU's driver has not returned for so long: while a model is loaded, its steps
/// are captured, scored or measured, or launches wait for others. (A step of an engine that hangs is an error of its
/// requests first: Engine::on_failure.)
void watch_gpu_calls(std::chrono::milliseconds limit = kHangLimit);

/// Closes an engine. `status`, what came of its use, is returned; but where the device has failed the program ends
/// here.
Status close_engine(Engine& engine, Status status);

/// The fit report in two lines: what the memory is for, and what that leaves.
std::string fit_text(const std::string& model, const FitReport& fit);

}  // namespace tessera::cli
