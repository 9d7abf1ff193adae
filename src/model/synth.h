#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "format/matrix.h"
#include "format/matrix_writer.h"
#include "model/config.h"
#include "model/tensor_kind.h"

namespace tessera::model {

/// The numbers that make a Qwen3.5 checkpoint, named as in config.json. Defaults: the `tiny` preset.
struct SynthShape {
  bool is_moe = true;
  int64_t hidden_size = 128;
  int64_t num_hidden_layers = 4;
  int64_t full_attention_interval = 4;
  int64_t num_attention_heads = 4;
  int64_t num_key_value_heads = 2;
  int64_t head_dim = 64;
  int64_t linear_num_key_heads = 2;
  int64_t linear_num_value_heads = 4;
  int64_t linear_key_head_dim = 32;
  int64_t linear_value_head_dim = 32;
  int64_t num_experts = 16;
  int64_t num_experts_per_tok = 4;
  int64_t moe_intermediate_size = 64;
  int64_t shared_expert_intermediate_size = 64;
  int64_t intermediate_size = 256;  // dense models
  int64_t vocab_size = 4096;
  int64_t mtp_num_hidden_layers = 1;
  int64_t max_position_embeddings = 262144;
  bool tie_word_embeddings = false;
};

/// "397b", "122b", "35b", "27b" (dense), "tiny"; not_found lists them.
Expected<SynthShape> synth_preset(std::string_view name);

struct SynthOptions {
  SynthShape shape;
  KindFormats formats = {};                                 // empty: everything plain
  format::WeightFormat plain = format::WeightFormat::bf16;  // bf16, f16 or f32
  format::Dialect dialect = format::Dialect::modelopt;
  bool fused_experts = false;  // plain routed experts as 3-D tensors, as the BF16 originals have them
  /// Prefix of the text model's tensors: "model.language_model." (ForConditionalGeneration, as released) or "model."
  /// (ForCausalLM, flat config).
  std::string prefix = "model.language_model.";
  bool fp8_kv_cache = false;
  /// Small files written beside the weights, name to content: tokenizer.json, chat_template.jinja, ...
  std::map<std::string, std::string> files = {};
  uint64_t seed = 0;
  size_t shard_bytes_max = size_t{5} << 30;
  std::function<void(size_t done, size_t total)> progress = {};
};

/// What parse_config makes of such a checkpoint's config.json.
Expected<ModelConfig> synth_config(const SynthShape& shape);

/// Bytes of the tensors that write_random_checkpoint would write.
Expected<size_t> random_checkpoint_bytes(const SynthOptions& options);

/// Writes a random checkpoint with its config.json and `files` into `directory` (created; must not hold a checkpoint
/// yet). Weights are drawn straight in their stored format, scaled so that
/// activations keep their size through the layers; norms, decays and biases are random too, so that a loader that
/// confuses w with 1 + w is found out. The same options give the same bytes.
Status write_random_checkpoint(const std::filesystem::path& directory, const SynthOptions& options);

}  // namespace tessera::model
