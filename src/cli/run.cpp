#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/hash.h"
#include "cli/answer.h"
#include "cli/batch_digest.h"
#include "cli/batch_run.h"
#include "cli/chat.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/engine_flags.h"
#include "cli/flags.h"
#include "cli/generate.h"
#include "cli/read_input.h"
#include "cli/sampling.h"
#include "cli/vllm_flags.h"
#include "format/checkpoint.h"

namespace tessera::cli {
namespace {

using Json = nlohmann::ordered_json;

struct RunOptions {
  std::string model_word;  // the first argument: MODEL, or with --model the prompt
  std::string prompt;      // the second, if any
  bool has_prompt = false;
  std::string input_file, output_file;
  PromptOptions prompts;
  Json sampling = Json::object();                // what flags say; wins over generation_config.json
  std::string schema_file, regex, grammar_file;  // what answers follow; one of them at most
  EngineFlags engine;
  bool json = false;
  bool token_ids = false;
  bool hide_thinking = false;
};

Expected<SamplingParams> sampling(const RunOptions& options, const Engine& engine) {
  SamplingParams params = engine.default_sampling();
  TESSERA_RETURN_IF_ERROR(apply_sampling(options.sampling, params));
  return params;
}

/// Compiles what answers are to follow.
Status set_grammar(RunOptions& options, Engine& engine) {
  GrammarSource source;
  std::string flag = "--regex";
  if (!options.schema_file.empty()) {
    flag = options.schema_file;
    source.kind = GrammarSource::Kind::json_schema;
    TESSERA_ASSIGN_OR_RETURN(source.text, read_input(options.schema_file));
  } else if (!options.grammar_file.empty()) {
    flag = options.grammar_file;
    source.kind = GrammarSource::Kind::grammar;
    TESSERA_ASSIGN_OR_RETURN(source.text, read_input(options.grammar_file));
  } else if (!options.regex.empty()) {
    source = {.kind = GrammarSource::Kind::regex, .text = options.regex};
  } else {
    return {};
  }
  auto grammar = engine.compile(source);
  if (!grammar) return grammar.status().with_context(flag + " cannot be followed");
  options.prompts.grammar = std::move(*grammar);
  return {};
}

BatchOptions batch_options(const RunOptions& options, SamplingParams params) {
  BatchOptions batch;
  batch.defaults.prompt = options.prompts;
  batch.defaults.sampling = std::move(params);
  batch.token_ids = options.token_ids;
  batch.quiet = options.engine.quiet;
  return batch;
}

/// Of everything besides its line that an answer of a file depends on.
Expected<uint64_t> common_digest(const RunOptions& options) {
  const EngineOptions& engine = options.engine.options;
  TESSERA_ASSIGN_OR_RETURN(const std::filesystem::path directory, format::find_model(engine.model));
  TESSERA_ASSIGN_OR_RETURN(const uint64_t model, model_digest(directory));
  Json all = {{"model", model},
              {"sampling", options.sampling},
              {"system", options.prompts.system},
              {"thinking", options.prompts.enable_thinking},
              {"raw", options.prompts.raw},
              {"special_tokens", engine.parse_special_tokens},
              {"regex", options.regex},
              {"token_ids", options.token_ids},
              {"weights", {engine.load_format, engine.requantize_projections}},
              {"compute", {engine.compute, engine.kv_cache_dtype}}};
  for (const std::string* file : {&options.schema_file, &options.grammar_file, &engine.chat_template}) {
    if (file->empty()) {
      all["files"].push_back(nullptr);
    } else {
      TESSERA_ASSIGN_OR_RETURN(const std::string text, read_input(*file));
      all["files"].push_back(fnv1a(text));
    }
  }
  return fnv1a(all.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Status run_file(RunOptions options) {
  TESSERA_ASSIGN_OR_RETURN(std::string text, read_input(options.input_file));
  const BatchInput input = split_batch_input(std::move(text));
  if (input.items.empty()) {
    if (!options.engine.quiet)
      note("{} holds no prompts", options.input_file == "-" ? "standard input" : options.input_file);
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(const uint64_t common, common_digest(options));
  TESSERA_ASSIGN_OR_RETURN(BatchOutput output, BatchOutput::open(options.output_file, batch_digests(input, common)));
  if (output.stale() > 0 && !options.engine.quiet) {
    note("{} answers in {} were to other prompts, with other parameters or of another model: they are made anew",
         output.stale(), options.output_file);
  }
  if (output.done().size() == input.items.size()) {
    if (output.failed() > 0) {
      return error(StatusCode::invalid_argument,
                   "{} of {} prompts could not be run; their lines say why; remove these to try again", output.failed(),
                   input.items.size());
    }
    if (!options.engine.quiet) note("all {} prompts are answered in {}", input.items.size(), options.output_file);
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(Engine engine, open_engine(options.engine));
  TESSERA_RETURN_IF_ERROR(set_grammar(options, engine));
  TESSERA_ASSIGN_OR_RETURN(SamplingParams params, sampling(options, engine));
  return close_engine(engine, run_batch(engine, input, batch_options(options, std::move(params)), output));
}

/// One prompt with one answer as text.
Status run_prompt(const RunOptions& options, Engine& engine, const SamplingParams& params) {
  TESSERA_ASSIGN_OR_RETURN(const Prompt prompt,
                           make_prompt(engine, {{.role = "user", .content = options.prompt}}, options.prompts));
  AnswerView view(answer_style(options.hide_thinking, options.prompts.raw), prompt.opens_thinking);
  TESSERA_ASSIGN_OR_RETURN(const Outcome outcome, stream_answer(engine, prompt, params, view, options.prompts.grammar));
  if (options.engine.verbose) note("{}", speed_text(outcome));
  return outcome.interrupted ? Status(StatusCode::cancelled, "") : Status();
}

/// One prompt with its answers as a JSON line, as a batch of one.
Status run_json(const RunOptions& options, Engine& engine, SamplingParams params) {
  BatchInput input;
  input.lines = 1;
  input.items = {{.index = 0, .line = options.prompt}};
  TESSERA_ASSIGN_OR_RETURN(BatchOutput output, BatchOutput::open("", {""}));
  BatchOptions batch = batch_options(options, std::move(params));
  batch.quiet = true;
  return run_batch(engine, input, batch, output);
}

Status run(RunOptions options) {
  if (!options.input_file.empty()) return run_file(std::move(options));
  const bool chatting = !options.has_prompt && is_terminal(Stream::in);
  if (!options.has_prompt && !chatting) {
    TESSERA_ASSIGN_OR_RETURN(options.prompt, read_input("-"));
    if (options.prompt.find_first_not_of(" \t\r\n") == std::string::npos) {
      return Status(StatusCode::invalid_argument,
                    "standard input is empty, expected a prompt; give one as PROMPT, or start from a terminal to chat");
    }
  }
  // A single user needs the memory of one sequence, or of n.
  if (options.engine.options.max_num_seqs == 0) options.engine.options.max_num_seqs = options.sampling.value("n", 1);
  TESSERA_ASSIGN_OR_RETURN(Engine engine, open_engine(options.engine));
  TESSERA_RETURN_IF_ERROR(set_grammar(options, engine));
  TESSERA_ASSIGN_OR_RETURN(SamplingParams params, sampling(options, engine));
  if (chatting) {
    return close_engine(engine, chat(engine, {.prompt = options.prompts,
                                              .sampling = std::move(params),
                                              .style = answer_style(options.hide_thinking, options.prompts.raw),
                                              .verbose = options.engine.verbose}));
  }
  return close_engine(
      engine, options.json ? run_json(options, engine, std::move(params)) : run_prompt(options, engine, params));
}

/// Tells MODEL from PROMPT, and refuses what contradicts itself.
void check(RunOptions& options) {
  std::string& model = options.engine.options.model;
  if (!model.empty() && options.has_prompt) throw CLI::ValidationError("MODEL is given twice; leave --model out");
  if (model.empty()) {
    if (options.model_word.empty())
      throw CLI::ValidationError("MODEL is required: a directory, owner/name, or demo, the bundled one");
    model = options.model_word;
  } else if (!options.model_word.empty()) {
    options.prompt = options.model_word;
    options.has_prompt = true;
  }
  const bool file = !options.input_file.empty();
  if (file && options.has_prompt) throw CLI::ValidationError("give either a PROMPT or --input, not both");
  options.has_prompt = options.has_prompt && options.prompt != "-";
  if (!file && !options.output_file.empty()) throw CLI::ValidationError("--output needs --input");
  if (!file && !options.json) {
    for (const char* key : {"n", "logprobs"}) {
      if (options.sampling.contains(key)) throw CLI::ValidationError(fmt::format("--{} needs --json or --input", key));
    }
    if (options.token_ids) throw CLI::ValidationError("--token-ids needs --json or --input");
  }
}

void add_prompt_flags(CLI::App& command, RunOptions& options) {
  const char* group = "Prompts";
  command
      .add_option("--input", options.input_file,
                  "File of prompts: one a line, or JSON lines with \"prompt\", \"messages\" or \"token_ids\" and "
                  "sampling parameters; - for standard input")
      ->type_name("FILE")
      ->check(readable_text())
      ->group(group);
  command
      .add_option("--output", options.output_file,
                  "File of answers, JSON lines (default: standard output); a run that was interrupted goes on")
      ->type_name("FILE")
      ->group(group);
  command.add_option("--system", options.prompts.system, "System message")->type_name("TEXT")->group(group);
  command.add_flag("--raw", options.prompts.raw, "Complete the prompt as it is, without the chat template")
      ->group(group);
  command
      .add_flag("--enable-thinking,!--no-thinking", options.prompts.enable_thinking,
                "Whether the model may think first (default: yes)")
      ->group(group);
  add_chat_template_flag(command, options.engine, group);
  const auto kwargs = [&options](const std::string& text) {
    const Json object = parse_object("--default-chat-template-kwargs", text);
    const bool known =
        object.size() == object.count("enable_thinking") && (object.empty() || object["enable_thinking"].is_boolean());
    if (!known) {
      throw CLI::ValidationError("--default-chat-template-kwargs",
                                 fmt::format("found '{}', expected {{\"enable_thinking\": true or false}}", text));
    }
    options.prompts.enable_thinking = object.value("enable_thinking", options.prompts.enable_thinking);
  };
  command
      .add_option_function<std::string>("--default-chat-template-kwargs", kwargs,
                                        "The same as JSON: '{\"enable_thinking\": false}'")
      ->type_name("JSON")
      ->group(group);
}

void add_grammar_flags(CLI::App& command, RunOptions& options) {
  const char* group = "What answers follow (behind the thinking)";
  CLI::Option* schema = command.add_option("--json-schema", options.schema_file, "JSON that this JSON schema allows")
                            ->type_name("FILE")
                            ->check(readable_file())
                            ->group(group);
  CLI::Option* regex = command.add_option("--regex", options.regex, "Text that this regular expression matches, whole")
                           ->type_name("RE")
                           ->group(group);
  command
      .add_option("--grammar", options.grammar_file,
                  "Text of this grammar: EBNF (GBNF) with a rule \"root\", or Lark with a rule \"start\"")
      ->type_name("FILE")
      ->check(readable_file())
      ->group(group)
      ->excludes(schema)
      ->excludes(regex);
  regex->excludes(schema);
}

void add_output_flags(CLI::App& command, RunOptions& options) {
  const char* group = "Output";
  command.add_flag("--hide-thinking", options.hide_thinking, "Show the answer, not the thinking")->group(group);
  command.add_flag("--json", options.json, "The answer as a JSON line")->group(group);
  command.add_flag("--token-ids", options.token_ids, "Token ids of answers, in JSON")->group(group);
  add_verbose_flag(command, options.engine, "What was chosen at start, and tokens and speed after each answer", group);
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Chat in the terminal, answer one prompt, or answer a file of prompts");
  command->add_option("MODEL", options->model_word,
                      "A directory, owner/name in the Hugging Face cache, or demo (bundled)");
  CLI::Option* prompt =
      command->add_option("PROMPT", options->prompt, "What to answer; none: chat, or read it from standard input");
  command->add_option("--model", options->engine.options.model, "The same as MODEL")->type_name("M");
  add_prompt_flags(*command, *options);
  command->option_defaults()->group("Sampling (default: what the model's generation_config.json says)");
  add_sampling_flags(*command, options->sampling);
  const auto generation = [options](const std::string& text) {
    const Json object = parse_sampling(text);
    for (const auto& [key, value] : object.items()) {
      if (!options->sampling.contains(key)) options->sampling[key] = value;
    }
  };
  command
      ->add_option_function<std::string>("--override-generation-config", generation,
                                         "Several of these as JSON: '{\"top_k\": 5}'")
      ->type_name("JSON");
  command->option_defaults()->group("Other");
  add_grammar_flags(*command, *options);
  add_output_flags(*command, *options);
  add_engine_flags(*command, options->engine);
  add_vllm_flags(*command, options->engine.ignored);
  command->footer(
      "Examples:\n"
      "  tessera run MODEL                                   chat; /help lists what can be typed\n"
      "  tessera run MODEL \"Why is the sky blue?\"            one answer\n"
      "  tessera run MODEL < question.txt                    the same\n"
      "  tessera run MODEL --input prompts.txt --output answers.jsonl");
  command->callback([options, prompt, &action] {
    options->has_prompt = !prompt->empty();
    check(*options);
    action = [options] { return run(*options); };
  });
}

}  // namespace tessera::cli
