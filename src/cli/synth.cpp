#include "model/synth.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/check.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "model/weight_profile.h"
#include "text/bundled.h"
#include "text/tokenizer.h"

namespace tessera::cli {
namespace {

using format::WeightFormat;
using model::SynthShape;
using model::TensorKind;

struct ShapeFlag {
  const char* flag;
  int64_t SynthShape::*field;
  const char* what;
};

constexpr ShapeFlag kShapeFlags[] = {
    {"--hidden-size", &SynthShape::hidden_size, "Width of the residual stream"},
    {"--layers,--num-hidden-layers", &SynthShape::num_hidden_layers, "Decoder layers"},
    {"--full-attention-interval", &SynthShape::full_attention_interval, "Every Nth layer has full attention"},
    {"--num-attention-heads", &SynthShape::num_attention_heads, "Query heads"},
    {"--num-key-value-heads", &SynthShape::num_key_value_heads, "Key and value heads"},
    {"--head-dim", &SynthShape::head_dim, "Size of an attention head"},
    {"--linear-num-key-heads", &SynthShape::linear_num_key_heads, "Key heads of Gated DeltaNet"},
    {"--linear-num-value-heads", &SynthShape::linear_num_value_heads, "Value heads of Gated DeltaNet"},
    {"--linear-key-head-dim", &SynthShape::linear_key_head_dim, "Size of such a key head"},
    {"--linear-value-head-dim", &SynthShape::linear_value_head_dim, "Size of such a value head"},
    {"--num-experts", &SynthShape::num_experts, "Routed experts of a layer"},
    {"--num-experts-per-tok", &SynthShape::num_experts_per_tok, "Routed experts that a token visits"},
    {"--moe-intermediate-size", &SynthShape::moe_intermediate_size, "Inner size of a routed expert"},
    {"--shared-expert-intermediate-size", &SynthShape::shared_expert_intermediate_size,
     "Inner size of the shared expert; 0 for none"},
    {"--intermediate-size", &SynthShape::intermediate_size, "Inner size of a dense model's MLP"},
    {"--vocab-size", &SynthShape::vocab_size, "Rows of the embedding"},
    {"--mtp-layers,--mtp-num-hidden-layers", &SynthShape::mtp_num_hidden_layers, "Layers of the MTP head; 0 for none"},
    {"--max-position-embeddings", &SynthShape::max_position_embeddings, "Longest sequence"},
};

constexpr std::pair<const char*, WeightFormat> kSynthFormats[] = {
    {"nvfp4", WeightFormat::nvfp4}, {"mxfp4", WeightFormat::mxfp4}, {"fp8", WeightFormat::fp8_e4m3},
    {"bf16", WeightFormat::bf16},   {"f16", WeightFormat::f16},     {"f32", WeightFormat::f32}};

/// Of a name that a flag's check has let through.
WeightFormat format_from_name(const std::string& name) {
  const auto* known =
      std::find_if(std::begin(kSynthFormats), std::end(kSynthFormats), [&](const auto& f) { return f.first == name; });
  TESSERA_CHECK(known != std::end(kSynthFormats));
  return known->second;
}

constexpr std::pair<TensorKind, const char*> kSynthKinds[] = {
    {TensorKind::routed_expert, "Routed experts"},
    {TensorKind::shared_expert, "Shared expert"},
    {TensorKind::attention, "Full attention: q, k, v, o"},
    {TensorKind::delta_net, "Gated DeltaNet: qkv, z, out"},
    {TensorKind::delta_net_ab, "Gated DeltaNet: a, b"},
    {TensorKind::mlp, "MLP of dense models"},
    {TensorKind::router, "Router and shared expert gate"},
    {TensorKind::embed, "Embedding"},
    {TensorKind::lm_head, "Output head"},
    {TensorKind::mtp, "MTP head"},
};

struct SynthOptions {
  std::string directory;
  std::string preset = "tiny";
  bool dense = false;
  std::array<std::optional<int64_t>, std::size(kShapeFlags)> shape;  // overrides, in the order of kShapeFlags
  std::string format = "nvfp4";
  std::string profile;  // instead of format
  std::string plain = "bf16";
  std::map<TensorKind, std::string> kinds;  // empty strings: not asked for
  std::string dialect = "modelopt";
  std::string prefix;
  bool flat = false;
  bool fused_experts = false;
  bool fp8_kv = false;
  bool tied = false;
  bool no_tokenizer = false;
  bool quiet = false;
  uint64_t seed = 0;
  uint64_t shard_megabytes = 5000;
};

/// Tokenizer, chat template and generation defaults (those of the released models) for a checkpoint.
Expected<std::map<std::string, std::string>> text_files(int64_t vocab_size) {
  TESSERA_ASSIGN_OR_RETURN(const auto tokenizer,
                           text::Tokenizer::parse(text::bundled_tokenizer_json(), "tokenizer.json"));
  if (tokenizer.vocab_size() > vocab_size) {
    return error(StatusCode::invalid_argument,
                 "--vocab-size is {}, less than the {} tokens of the bundled tokenizer; raise it or add --no-tokenizer",
                 vocab_size, tokenizer.vocab_size());
  }
  nlohmann::ordered_json generation = {{"do_sample", true}, {"temperature", 0.6}, {"top_k", 20}, {"top_p", 0.95}};
  for (const char* stop : {"<|im_end|>", "<|endoftext|>"}) {
    if (const auto id = tokenizer.id_of(stop)) generation["eos_token_id"].push_back(*id);
  }
  return std::map<std::string, std::string>{
      {"tokenizer.json", std::string(text::bundled_tokenizer_json())},
      {"tokenizer_config.json", std::string(text::bundled_tokenizer_config_json())},
      {"chat_template.jinja", std::string(text::bundled_chat_template())},
      {"generation_config.json", generation.dump(2) + "\n"}};
}

Expected<model::SynthOptions> synth_options(const SynthOptions& options) {
  model::SynthOptions synth;
  TESSERA_ASSIGN_OR_RETURN(synth.shape, model::synth_preset(options.preset));
  if (options.dense) synth.shape.is_moe = false;
  if (options.tied) synth.shape.tie_word_embeddings = true;
  for (size_t i = 0; i < options.shape.size(); ++i) {
    if (options.shape[i]) synth.shape.*kShapeFlags[i].field = *options.shape[i];
  }
  const WeightFormat format = format_from_name(options.format);
  const bool quantized = format::group_size(format) > 0 || format == WeightFormat::fp8_e4m3;
  synth.plain = quantized ? format_from_name(options.plain) : format;
  if (quantized) synth.formats = {{TensorKind::routed_expert, format}, {TensorKind::mlp, format}};
  if (!options.profile.empty()) {
    TESSERA_ASSIGN_OR_RETURN(synth.formats, model::profile_formats(options.profile));
  }
  for (const auto& [kind, name] : options.kinds) {
    if (!name.empty()) synth.formats[kind] = name == "plain" ? synth.plain : format_from_name(name);
  }
  if (options.fused_experts) synth.formats[TensorKind::routed_expert] = synth.plain;
  synth.dialect = options.dialect == "modelopt" ? format::Dialect::modelopt : format::Dialect::compressed_tensors;
  synth.fused_experts = options.fused_experts;
  if (options.flat) synth.prefix = "model.";
  if (!options.prefix.empty()) synth.prefix = options.prefix;
  synth.fp8_kv_cache = options.fp8_kv;
  synth.seed = options.seed;
  synth.shard_bytes_max = options.shard_megabytes * 1'000'000;
  if (!options.no_tokenizer) {
    TESSERA_ASSIGN_OR_RETURN(synth.files, text_files(synth.shape.vocab_size));
  }
  return synth;
}

Status check_disk(const std::string& directory, const model::SynthOptions& synth) {
  TESSERA_ASSIGN_OR_RETURN(const size_t bytes, model::random_checkpoint_bytes(synth));
  // The directory may not exist yet: its nearest parent that does is on the same disk.
  std::error_code failure;
  std::filesystem::path place = std::filesystem::absolute(directory, failure);
  while (!std::filesystem::exists(place, failure) && place.has_relative_path()) place = place.parent_path();
  const auto space = std::filesystem::space(place, failure);
  if (failure || bytes <= space.available) return {};
  return error(StatusCode::resource_exhausted,
               "{} would take {}, but {} are free there; choose fewer layers or experts, a smaller format, or another "
               "disk",
               directory, format_bytes(bytes), format_bytes(space.available));
}

void remove_partial_files(const std::filesystem::path& directory) {
  std::error_code failure;
  for (const auto& file : std::filesystem::directory_iterator(directory, failure)) {
    if (file.path().extension() == ".partial") std::filesystem::remove(file.path(), failure);
  }
}

Status synth(const SynthOptions& options) {
  TESSERA_ASSIGN_OR_RETURN(model::SynthOptions synth, synth_options(options));
  TESSERA_RETURN_IF_ERROR(check_disk(options.directory, synth));
  ProgressBar bar("writing", options.quiet);
  uint64_t bytes = 0;
  synth.progress = [&](size_t done, size_t total) {
    bytes = total;
    bar.update(done, total);
  };
  set_last_rites([&] { remove_partial_files(options.directory); });
  const Status written = model::write_random_checkpoint(options.directory, synth);
  set_last_rites({});
  bar.clear();
  TESSERA_RETURN_IF_ERROR(written);
  const SynthShape& shape = synth.shape;
  print("{}: {} of weights in {} layers{}, {} small files, {}\n", options.directory, format_bytes(bytes),
        shape.num_hidden_layers, shape.is_moe ? fmt::format(" of {} experts", shape.num_experts) : "",
        synth.files.size(), format_seconds(bar.seconds()));
  print("The weights are random: whatever this model says is noise.\n");
  return {};
}

void add_shape_flags(CLI::App* command, SynthOptions& options) {
  command->add_option("--preset", options.preset, "397b, 122b, 35b, 27b (dense) or tiny (default)")
      ->type_name("NAME")
      ->check(one_of({"397b", "122b", "35b", "27b", "tiny"}));
  command->add_flag("--dense", options.dense, "An MLP instead of experts");
  command->add_flag("--tie-word-embeddings", options.tied, "The output head is the embedding");
  for (size_t i = 0; i < std::size(kShapeFlags); ++i) {
    command->add_option(kShapeFlags[i].flag, options.shape[i], kShapeFlags[i].what)
        ->type_name("N")
        ->check(whole(0, int64_t{1} << 40));
  }
  for (CLI::Option* option : command->get_options({})) {
    if (option->nonpositional() && option != command->get_help_ptr()) option->group("Shape (overrides the preset)");
  }
}

void add_format_flags(CLI::App* command, SynthOptions& options) {
  const char* group = "Formats";
  CLI::Option* format =
      command
          ->add_option("--format", options.format,
                       "Of routed experts, or of a dense model's MLP: nvfp4 (default), mxfp4, fp8; or bf16, f16, f32: "
                       "nothing quantised")
          ->type_name("F")
          ->check(one_of({"nvfp4", "mxfp4", "fp8", "bf16", "f16", "f32"}))
          ->group(group);
  command
      ->add_option("--profile", options.profile,
                   "A published mixture instead: p1 (routed experts or MLP in NVFP4), v2 (attention, Gated DeltaNet, "
                   "shared expert in FP8) or p6 (the "
                   "same, shared expert and head in NVFP4)")
      ->type_name("P")
      ->check(one_of({"p1", "v2", "p6"}))
      ->excludes(format)
      ->group(group);
  command->add_option("--plain", options.plain, "Of what is not quantised: bf16 (default), f16, f32")
      ->type_name("F")
      ->check(one_of({"bf16", "f16", "f32"}))
      ->group(group);
  for (const auto& [kind, what] : kSynthKinds) {
    command
        ->add_option("--" + std::string(model::name(kind)), options.kinds[kind],
                     fmt::format("{}: nvfp4, mxfp4, fp8 or plain", what))
        ->type_name("F")
        ->check(one_of({"nvfp4", "mxfp4", "fp8", "plain"}))
        ->group(group);
  }
  command->add_option("--dialect", options.dialect, "How they are spelled: modelopt (default) or compressed-tensors")
      ->type_name("D")
      ->check(one_of({"modelopt", "compressed-tensors"}))
      ->group(group);
  command->add_flag("--fused-experts", options.fused_experts, "Plain routed experts as 3-D tensors")->group(group);
  command->add_flag("--fp8-kv", options.fp8_kv, "Ask for an FP8 KV cache")->group(group);
  command->add_flag("--flat", options.flat, "A text-only checkpoint: flat config, tensor names start with \"model.\"")
      ->group(group);
  command->add_option("--prefix", options.prefix, "Start of tensor names (\"model.language_model.\")")
      ->type_name("P")
      ->group(group);
}

}  // namespace

void add_synth(CLI::App& app, Action& action) {
  auto options = std::make_shared<SynthOptions>();
  CLI::App* command = app.add_subcommand("synth", "Write a checkpoint of any Qwen3.5 shape with random weights");
  add_shape_flags(command, *options);
  add_format_flags(command, *options);
  command->add_option("DIR", options->directory, "Directory to write; made if it is not there")->required();
  command->add_option("--seed", options->seed, "Same seed and flags, same bytes (default 0)")
      ->type_name("N")
      ->check(whole_u64());
  command->add_flag("--no-tokenizer", options->no_tokenizer, "Weights and config alone, for use by token ids");
  command->add_option("--shard-size", options->shard_megabytes, "Megabytes of a file at most (default 5000)")
      ->type_name("MB")
      ->check(whole(1, 10'000'000));
  command->add_flag("-q,--quiet", options->quiet, "No progress");
  command->footer(
      "Examples:\n"
      "  tessera synth /tmp/tiny\n"
      "  tessera synth /tmp/small-35b --preset 35b --layers 4 --num-experts 32\n"
      "  tessera synth /tmp/mixed --shared-expert fp8 --attention fp8 --dialect compressed-tensors");
  command->callback([options, &action] { action = [options] { return synth(*options); }; });
}

}  // namespace tessera::cli
