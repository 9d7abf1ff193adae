#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/engine_flags.h"
#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/load_model.h"
#include "cli/read_input.h"
#include "cli/token_ids.h"
#include "cli/token_score.h"
#include "engine/fit.h"
#include "format/safetensors.h"
#include "text/tokenizer.h"

namespace tessera::cli {
namespace {

using kernels::RowClass;

struct ScoreOptions {
  std::string model;
  std::string text_file, ids_file;
  std::string output_file, logits_file;
  LoneModelOptions load;
  int64_t max_model_len = 0;
  int64_t prefill_chunk = 0;
  int64_t decode_from = std::numeric_limits<int64_t>::max();
  int64_t generate = 0;
  bool json = false;
};

struct Input {
  std::vector<int32_t> tokens;
  std::optional<text::Tokenizer> tokenizer;  // none if ids are scored on a checkpoint without one
  size_t text_bytes = 0;                     // 0: ids were given
};

/// What is known once the model's files are there.
struct ScorePlan {
  int64_t window = 0;  // tokens that share a context
  int64_t chunk = 0;   // rows of a prefill step, a multiple of 64
};

struct Totals {
  double logprob = 0;
  int64_t scored = 0;
  std::vector<int32_t> generated;
};

Expected<Input> read_tokens(const ScoreOptions& options, const OpenedModel& opened) {
  const int64_t vocab = opened.config.vocab_size;
  const auto file = opened.checkpoint.directory() / "tokenizer.json";
  Input input;
  std::error_code ignored;
  const bool by_ids = !options.ids_file.empty();
  if (!by_ids || std::filesystem::exists(file, ignored)) {
    TESSERA_ASSIGN_OR_RETURN(input.tokenizer, text::Tokenizer::load(file));
  }
  TESSERA_ASSIGN_OR_RETURN(const std::string text, read_input(by_ids ? options.ids_file : options.text_file));
  if (by_ids) {
    auto ids = parse_token_ids(text);
    if (!ids.ok()) return ids.status().with_context(options.ids_file);
    input.tokens = std::move(*ids);
  } else {
    TESSERA_ASSIGN_OR_RETURN(input.tokens, input.tokenizer->encode(text));
    input.text_bytes = text.size();
  }
  if (input.tokens.empty()) return Status(StatusCode::invalid_argument, "there are no tokens to score");
  for (size_t i = 0; i < input.tokens.size(); ++i) {
    if (input.tokens[i] >= vocab) {
      return error(StatusCode::invalid_argument, "token {} is {}, and this model's ids end at {}", i, input.tokens[i],
                   vocab - 1);
    }
  }
  return input;
}

Expected<ScorePlan> make_plan(const ScoreOptions& options, const OpenedModel& opened, int64_t tokens) {
  const model::ModelConfig& config = opened.config;
  ScorePlan plan;
  plan.window = options.max_model_len > 0 ? options.max_model_len : config.max_position_embeddings;
  plan.window = std::min(plan.window, tokens + options.generate);
  if (options.generate > 0 && plan.window < tokens + options.generate) {
    return error(StatusCode::invalid_argument, "{} tokens and {} generated ones do not fit in a window of {}", tokens,
                 options.generate, plan.window);
  }
  plan.chunk = options.prefill_chunk > 0 ? options.prefill_chunk : rows_of_logits_max(config);
  return plan;
}

Expected<std::ofstream> open_output(const std::string& file) {
  std::ofstream stream(file, std::ios::binary);
  if (stream) return stream;
  return error(StatusCode::invalid_argument, "cannot write {}: {}", file, std::strerror(errno));
}

/// What is read shall not be overwritten, and hours of work shall not end in a file that cannot be there.
Status check_outputs(const ScoreOptions& options) {
  std::error_code ignored;
  for (const std::string* output : {&options.output_file, &options.logits_file}) {
    if (std::filesystem::is_directory(*output, ignored)) {
      return error(StatusCode::invalid_argument, "cannot write {}: it is a directory", *output);
    }
    for (const std::string* input : {&options.text_file, &options.ids_file}) {
      if (!std::filesystem::is_regular_file(*input, ignored)) continue;
      if (std::filesystem::equivalent(*input, *output, ignored)) {
        return error(StatusCode::invalid_argument, "{} is read and would be overwritten; name another file", *output);
      }
    }
  }
  return {};
}

/// Where per-token scores and logits go, besides the totals.
class Sink {
 public:
  static Expected<std::unique_ptr<Sink>> open(const ScoreOptions& options, const Input& input, int64_t vocab) {
    auto sink = std::make_unique<Sink>();
    sink->tokenizer_ = input.tokenizer ? &*input.tokenizer : nullptr;
    if (!options.output_file.empty()) {
      sink->csv_ = options.output_file.ends_with(".csv");
      TESSERA_ASSIGN_OR_RETURN(sink->scores_, open_output(options.output_file));
      if (sink->csv_) sink->scores_ << "index,id,logprob,rank\n";
    }
    if (!options.logits_file.empty()) {
      TESSERA_ASSIGN_OR_RETURN(
          sink->logits_,
          format::SafetensorsWriter::create(
              options.logits_file, {{"logits", DType::f32, {static_cast<int64_t>(input.tokens.size()), vocab}}}));
    }
    return sink;
  }

  void add_score(int64_t index, int32_t id, const TokenScore& score) {
    if (!scores_.is_open()) return;
    if (csv_) {
      scores_ << fmt::format("{},{},{:.9g},{}\n", index, id, score.logprob, score.rank);
      return;
    }
    nlohmann::ordered_json line = {{"index", index}, {"id", id}};
    if (tokenizer_ != nullptr) line["token"] = tokenizer_->token_bytes(id);
    line["logprob"] = score.logprob;
    line["rank"] = score.rank;
    // Tokens may hold parts of a code point: these become U+FFFD.
    scores_ << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  }

  Status add_logits(std::span<const float> logits) {
    return logits_ ? logits_->write(std::as_bytes(logits)) : Status();
  }

  Status finish(const ScoreOptions& options) {
    if (scores_.is_open()) scores_.close();
    if (!scores_) {
      return error(StatusCode::resource_exhausted, "cannot write {}; is the disk full?", options.output_file);
    }
    return logits_ ? logits_->finish() : Status();
  }

 private:
  const text::Tokenizer* tokenizer_ = nullptr;
  bool csv_ = false;
  std::ofstream scores_;
  std::optional<format::SafetensorsWriter> logits_;
};

/// Rows of the next step at `position` of a window of `size` tokens, and their class.
std::pair<int64_t, RowClass> next_step(const ScoreOptions& options, const ScorePlan& plan, int64_t position,
                                       int64_t size) {
  if (position >= options.decode_from) return {1, RowClass::decode};
  return {std::min({plan.chunk, size - position, options.decode_from - position}), RowClass::prefill};
}

/// Scores tokens [first, first + rows) of `input`, whose logits are given: row i says how likely token i + 1 is.
Status score_rows(const Input& input, int64_t first, std::span<const float> logits, int64_t vocab, ThreadPool& pool,
                  Sink& sink, Totals& totals) {
  const auto rows = static_cast<int64_t>(logits.size()) / vocab;
  const auto row = [&](int64_t i) {
    return logits.subspan(static_cast<size_t>(i * vocab), static_cast<size_t>(vocab));
  };
  const int64_t scored = std::min(rows, static_cast<int64_t>(input.tokens.size()) - 1 - first);
  const int32_t* next = input.tokens.data() + first + 1;
  std::vector<TokenScore> scores(static_cast<size_t>(std::max<int64_t>(scored, 0)));
  pool.run_chunks(scored, [&](int64_t i, int) { scores[static_cast<size_t>(i)] = score_token(row(i), next[i]); });
  for (int64_t i = 0; i < scored; ++i) {
    const TokenScore& score = scores[static_cast<size_t>(i)];
    if (std::isnan(score.logprob)) {
      return error(StatusCode::corrupt_data, "the logits after token {} are not numbers; the weights are damaged",
                   first + i);
    }
    sink.add_score(first + i + 1, next[i], score);
    totals.logprob += score.logprob;
    ++totals.scored;
  }
  return sink.add_logits(logits);
}

/// A greedy continuation of what `sequence` has seen; `row` [vocab] holds the logits of its last token. As in the
/// engine, ids beyond the tokenizer's, the padding of the embedding, are never chosen.
Expected<std::vector<int32_t>> generate(model::LoneSequence& sequence, std::span<float> row, const Input& input,
                                        int64_t count) {
  const size_t known = input.tokenizer ? static_cast<size_t>(input.tokenizer->vocab_size()) : row.size();
  std::vector<int32_t> generated;
  for (int64_t i = 0; i < count; ++i) {
    generated.push_back(greedy_token(row.first(std::min(known, row.size()))));
    if (i + 1 < count) TESSERA_RETURN_IF_ERROR(sequence.run({&generated.back(), 1}, RowClass::decode, row));
  }
  return generated;
}

Expected<Totals> run_model(const ScoreOptions& options, const ScorePlan& plan, const Input& input, LoneModel& loaded,
                           Sink& sink) {
  const int64_t vocab = loaded.model->config().vocab_size;
  const auto count = static_cast<int64_t>(input.tokens.size());
  const int64_t rows_max = std::min(plan.chunk, count);
  model::LoneSequence& sequence = *loaded.sequence;
  AlignedBuffer<float> logits(static_cast<size_t>(rows_max * vocab));
  Totals totals;
  for (int64_t start = 0; start < count; start += plan.window) {
    const int64_t size = std::min(plan.window, count - start);
    sequence.restart();
    while (sequence.position() < size) {
      const int64_t first = start + sequence.position();
      const auto [rows, row_class] = next_step(options, plan, sequence.position(), size);
      const std::span<float> filled(logits.data(), static_cast<size_t>(rows * vocab));
      TESSERA_RETURN_IF_ERROR(sequence.run(
          std::span(input.tokens).subspan(static_cast<size_t>(first), static_cast<size_t>(rows)), row_class, filled));
      TESSERA_RETURN_IF_ERROR(score_rows(input, first, filled, vocab, *loaded.pool, sink, totals));
      if (first + rows == count && options.generate > 0) {
        TESSERA_ASSIGN_OR_RETURN(totals.generated,
                                 generate(sequence, filled.last(static_cast<size_t>(vocab)), input, options.generate));
      }
    }
  }
  return totals;
}

void print_summary(const ScoreOptions& options, const ScorePlan& plan, const Input& input, const LoneModel& loaded,
                   const Totals& totals) {
  const auto scored = static_cast<double>(totals.scored);
  const auto count = static_cast<int64_t>(input.tokens.size());
  const int64_t windows = (count + plan.window - 1) / plan.window;
  const double bits_per_byte = -totals.logprob / std::log(2.0) / static_cast<double>(input.text_bytes);
  if (options.json) {
    nlohmann::ordered_json summary = {{"device", loaded.device},
                                      {"kv_cache_dtype", loaded.kv_cache_dtype},
                                      {"tokens", count},
                                      {"scored", totals.scored},
                                      {"windows", windows},
                                      {"window_tokens", plan.window},
                                      {"log_likelihood", totals.logprob}};
    if (totals.scored > 0) summary["perplexity"] = std::exp(-totals.logprob / scored);
    if (totals.scored > 0 && input.text_bytes > 0) summary["bits_per_byte"] = bits_per_byte;
    if (options.generate > 0) summary["generated"] = totals.generated;
    print("{}\n", summary.dump());
    return;
  }
  print("device          {}, KV cache {}\n", loaded.device, loaded.kv_cache_dtype);
  print("tokens          {} ({} scored, {} window{} of {})\n", count, totals.scored, windows, windows == 1 ? "" : "s",
        plan.window);
  if (totals.scored > 0) {
    print("log-likelihood  {:.4f} ({:.5f} per token)\n", totals.logprob, totals.logprob / scored);
    print("perplexity      {:.5f}\n", std::exp(-totals.logprob / scored));
    if (input.text_bytes > 0) print("bits per byte   {:.5f}\n", bits_per_byte);
  }
  if (options.generate > 0) write_out(fmt::format("generated       [{}]\n", fmt::join(totals.generated, ", ")));
}

Status score(const ScoreOptions& options) {
  TESSERA_RETURN_IF_ERROR(check_outputs(options));
  TESSERA_ASSIGN_OR_RETURN(const OpenedModel opened, engine::open_model(options.model));
  TESSERA_ASSIGN_OR_RETURN(const Input input, read_tokens(options, opened));
  TESSERA_ASSIGN_OR_RETURN(const ScorePlan plan, make_plan(options, opened, static_cast<int64_t>(input.tokens.size())));
  if (!options.logits_file.empty()) {
    set_last_rites([partial = options.logits_file + ".partial"] {
      std::error_code ignored;
      std::filesystem::remove(partial, ignored);
    });
  }
  TESSERA_ASSIGN_OR_RETURN(const auto sink, Sink::open(options, input, opened.config.vocab_size));
  LoneModelOptions load = options.load;
  load.tokens_max = plan.window;
  load.rows_max = std::min(plan.chunk, static_cast<int64_t>(input.tokens.size()));
  TESSERA_ASSIGN_OR_RETURN(LoneModel loaded, load_model(opened, load));
  TESSERA_ASSIGN_OR_RETURN(const Totals totals, run_model(options, plan, input, loaded, *sink));
  TESSERA_RETURN_IF_ERROR(sink->finish(options));
  set_last_rites({});
  print_summary(options, plan, input, loaded, totals);
  return {};
}

void add_input_flags(CLI::App& command, ScoreOptions& options) {
  CLI::Option* ids =
      command.add_option("--ids", options.ids_file, "Token ids instead (a JSON array, or numbers): needs no tokenizer");
  ids->type_name("FILE")->check(readable_text())->group("Input");
  command.add_option("--text", options.text_file, "Text to score; - for standard input")
      ->type_name("FILE")
      ->check(readable_text())
      ->excludes(ids)
      ->group("Input");
}

void add_output_flags(CLI::App& command, ScoreOptions& options) {
  const char* group = "Output";
  command.add_option("--output", options.output_file, "Write one line for each token: JSON, or CSV if it ends in .csv")
      ->type_name("FILE")
      ->group(group);
  command.add_option("--logits", options.logits_file, "Write fp32 logits [tokens, vocabulary] as safetensors")
      ->type_name("FILE")
      ->group(group);
  command.add_option("--generate", options.generate, "Continue greedily by N tokens and print their ids")
      ->type_name("N")
      ->check(whole(0, 1 << 20))
      ->group(group);
  command.add_flag("--json", options.json, "Print the summary as JSON")->group(group);
}

void add_computation_flags(CLI::App& command, ScoreOptions& options) {
  const char* group = "Computation";
  command
      .add_option("--max-model-len", options.max_model_len,
                  "Tokens that share a context; longer input is cut into windows (default: the model's limit)")
      ->type_name("N")
      ->transform(with_suffix())
      ->check(whole(1, 1 << 30))
      ->group(group);
  add_requantize_flag(command, options.load.requantize_projections, group);
  add_device_flags(command, options.load, group);
  command.add_option("--prefill-chunk", options.prefill_chunk, "Rows of a prefill step, a multiple of 64")
      ->type_name("N")
      ->check(multiple_of(64, 1 << 20))
      ->group(group);
  command.add_option("--decode-from", options.decode_from, "Run tokens from position N on one at a time, as decode")
      ->type_name("N")
      ->check(whole(0, 1 << 30))
      ->group(group);
  command.add_option("--threads", options.load.threads, "CPU threads (default: all cores)")
      ->type_name("N")
      ->check(whole(1, engine::kThreadsLimit))
      ->group(group);
}

}  // namespace

void add_score(CLI::App& app, Action& action) {
  auto options = std::make_shared<ScoreOptions>();
  CLI::App* command = app.add_subcommand("score", "Log-probabilities and perplexity of a text, or of token ids");
  command->add_option("MODEL", options->model, "A model")->required();
  add_input_flags(*command, *options);
  add_output_flags(*command, *options);
  add_computation_flags(*command, *options);
  command->add_flag("-q,--quiet", options->load.quiet, "Nothing on standard error but failures");
  command->footer(
      "Examples:\n"
      "  tessera score MODEL --text book.txt\n"
      "  tessera score MODEL --ids ids.json --compute fp32 --logits logits.safetensors");
  command->callback([options, &action] {
    if (options->text_file.empty() && options->ids_file.empty()) {
      throw CLI::ValidationError("--text or --ids is required");
    }
    action = [options] { return score(*options); };
  });
}

}  // namespace tessera::cli
