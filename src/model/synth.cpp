#include "model/synth.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>

#include "base/check.h"
#include "base/hash.h"
#include "format/f16.h"
#include "format/printable.h"
#include "format/shard_index.h"
#include "format/sharded_writer.h"
#include "model/config.h"
#include "model/quantization_config.h"

namespace tessera::model {
namespace {

using format::WeightFormat;
using OrderedJson = nlohmann::ordered_json;

/// SplitMix64 (Steele, Lea, Flood 2014): one stream per tensor, keyed by its name, so that a tensor's values do not
/// depend on which others are written.
class Random {
 public:
  Random(uint64_t seed, std::string_view name) : state_(fnv1a(name, seed)) { next(); }
  uint64_t next() { return splitmix64(state_); }
  float uniform(float low, float high) { return low + (high - low) * static_cast<float>(next() >> 40) * 0x1p-24F; }

 private:
  uint64_t state_;
};

struct MatrixSpec {
  std::string module;
  int64_t rows, cols;
  WeightFormat format;
};

struct SmallSpec {
  std::string name;
  std::vector<int64_t> shape;
  float low, high;  // uniform
};

struct FusedSpec {
  std::string name;
  int64_t experts, rows, cols;
};

/// Everything that will be written, in order.
struct Plan {
  std::vector<MatrixSpec> matrices;
  std::vector<SmallSpec> smalls;
  std::vector<FusedSpec> fused;
};

class SynthPlanner {
 public:
  explicit SynthPlanner(const SynthOptions& options) : options_(options), shape_(options.shape) {}

  Plan plan() {
    matrix(options_.prefix + "embed_tokens", shape_.vocab_size, shape_.hidden_size);
    for (int64_t i = 0; i < shape_.num_hidden_layers; ++i) {
      layer(fmt::format("{}layers.{}.", options_.prefix, i), (i + 1) % shape_.full_attention_interval == 0);
    }
    norm(options_.prefix + "norm.weight", shape_.hidden_size);
    if (!shape_.tie_word_embeddings) matrix("lm_head", shape_.vocab_size, shape_.hidden_size);
    if (shape_.mtp_num_hidden_layers > 0) {
      matrix("mtp.fc", shape_.hidden_size, 2 * shape_.hidden_size);
      for (const char* name :
           {"mtp.pre_fc_norm_embedding.weight", "mtp.pre_fc_norm_hidden.weight", "mtp.norm.weight"}) {
        norm(name, shape_.hidden_size);
      }
    }
    for (int64_t i = 0; i < shape_.mtp_num_hidden_layers; ++i) layer(fmt::format("mtp.layers.{}.", i), true);
    return std::move(plan_);
  }

 private:
  void matrix(const std::string& module, int64_t rows, int64_t cols) {
    const auto it = options_.formats.find(classify(module + "."));
    plan_.matrices.push_back({module, rows, cols, it == options_.formats.end() ? options_.plain : it->second});
  }
  void small(const std::string& name, std::vector<int64_t> shape, float low, float high) {
    plan_.smalls.push_back({name, std::move(shape), low, high});
  }
  void norm(const std::string& name, int64_t size) { small(name, {size}, -0.3F, 0.3F); }

  void layer(const std::string& prefix, bool full_attention) {
    norm(prefix + "input_layernorm.weight", shape_.hidden_size);
    norm(prefix + "post_attention_layernorm.weight", shape_.hidden_size);
    if (full_attention) {
      attention(prefix + "self_attn.");
    } else {
      delta_net(prefix + "linear_attn.");
    }
    if (shape_.is_moe) {
      moe(prefix + "mlp.");
    } else {
      swiglu(prefix + "mlp.", shape_.intermediate_size);
    }
  }

  void attention(const std::string& prefix) {
    const int64_t queries = shape_.num_attention_heads * shape_.head_dim;
    const int64_t keys = shape_.num_key_value_heads * shape_.head_dim;
    matrix(prefix + "q_proj", 2 * queries, shape_.hidden_size);
    matrix(prefix + "k_proj", keys, shape_.hidden_size);
    matrix(prefix + "v_proj", keys, shape_.hidden_size);
    matrix(prefix + "o_proj", shape_.hidden_size, queries);
    norm(prefix + "q_norm.weight", shape_.head_dim);
    norm(prefix + "k_norm.weight", shape_.head_dim);
  }

  void delta_net(const std::string& prefix) {
    const int64_t heads = shape_.linear_num_value_heads;
    const int64_t values = heads * shape_.linear_value_head_dim;
    const int64_t channels = 2 * shape_.linear_num_key_heads * shape_.linear_key_head_dim + values;
    matrix(prefix + "in_proj_qkv", channels, shape_.hidden_size);
    matrix(prefix + "in_proj_z", values, shape_.hidden_size);
    matrix(prefix + "in_proj_b", heads, shape_.hidden_size);
    matrix(prefix + "in_proj_a", heads, shape_.hidden_size);
    matrix(prefix + "out_proj", shape_.hidden_size, values);
    small(prefix + "conv1d.weight", {channels, 1, 4}, -0.8F, 0.8F);
    small(prefix + "A_log", {heads}, -1.0F, 2.5F);
    small(prefix + "dt_bias", {heads}, -5.0F, 1.0F);
    small(prefix + "norm.weight", {shape_.linear_value_head_dim}, 0.7F, 1.3F);
  }

  void swiglu(const std::string& prefix, int64_t inner) {
    matrix(prefix + "gate_proj", inner, shape_.hidden_size);
    matrix(prefix + "up_proj", inner, shape_.hidden_size);
    matrix(prefix + "down_proj", shape_.hidden_size, inner);
  }

  void moe(const std::string& prefix) {
    matrix(prefix + "gate", shape_.num_experts, shape_.hidden_size);
    if (options_.fused_experts) {
      plan_.fused.push_back(
          {prefix + "experts.gate_up_proj", shape_.num_experts, 2 * shape_.moe_intermediate_size, shape_.hidden_size});
      plan_.fused.push_back(
          {prefix + "experts.down_proj", shape_.num_experts, shape_.hidden_size, shape_.moe_intermediate_size});
    }
    for (int64_t e = 0; e < shape_.num_experts && !options_.fused_experts; ++e) {
      swiglu(fmt::format("{}experts.{}.", prefix, e), shape_.moe_intermediate_size);
    }
    if (shape_.shared_expert_intermediate_size > 0) {
      swiglu(prefix + "shared_expert.", shape_.shared_expert_intermediate_size);
      matrix(prefix + "shared_expert_gate", 1, shape_.hidden_size);
    }
  }

  const SynthOptions& options_;
  const SynthShape& shape_;
  Plan plan_;
};

/// Draws tensors piece by piece and hands them to the writer.
class Drawer {
 public:
  Drawer(const SynthOptions& options, format::ShardedWriter& writer) : options_(options), writer_(writer) {}

  Status matrix(const MatrixSpec& spec) {
    Random random(options_.seed, spec.module);
    const auto rows = static_cast<size_t>(spec.rows);
    // A standard deviation of 1 / sqrt(cols) keeps the size of activations.
    const float sigma = 1.0F / std::sqrt(static_cast<float>(spec.cols));
    switch (spec.format) {
      case WeightFormat::f32:
      case WeightFormat::f16:
      case WeightFormat::bf16: return plain(random, spec.format, spec.rows * spec.cols, sigma);
      case WeightFormat::fp8_e4m3:
        // Random signs and mantissas, exponent fields 4..11: magnitudes 2^-3..30, root mean square near 9.7.
        TESSERA_RETURN_IF_ERROR(bytes(random, rows * static_cast<size_t>(spec.cols), [](uint64_t r) {
          return (r & 0xdfdfdfdfdfdfdfdfULL) | ((~r >> 1) & 0x2020202020202020ULL);
        }));
        return scalar(spec.format, sigma / 9.7F);
      case WeightFormat::nvfp4:
        // Uniform codes have a root mean square of 2.93; block scales 2^-1..2^1 (E4M3 0x30..0x3f) vary around 1.
        TESSERA_RETURN_IF_ERROR(bytes(random, rows * static_cast<size_t>(spec.cols) / 2, [](uint64_t r) { return r; }));
        TESSERA_RETURN_IF_ERROR(bytes(random, rows * static_cast<size_t>(spec.cols) / 16,
                                      [](uint64_t r) { return (r & 0x0f0f0f0f0f0f0f0fULL) | 0x3030303030303030ULL; }));
        return scalar(spec.format, sigma / 2.93F);
      case WeightFormat::mxfp4: {
        // The block scale holds the size: 2^e or half of it, whose root mean square is 0.79 of 2^e.
        const auto exponent = static_cast<uint64_t>(127 + std::lround(std::log2(sigma / (2.93F * 0.79F))));
        TESSERA_RETURN_IF_ERROR(bytes(random, rows * static_cast<size_t>(spec.cols) / 2, [](uint64_t r) { return r; }));
        return bytes(random, rows * static_cast<size_t>(spec.cols) / 32, [exponent](uint64_t r) {
          return (r & 0x0101010101010101ULL) + (exponent - 1) * 0x0101010101010101ULL;
        });
      }
    }
    return {};
  }

  Status small(const SmallSpec& spec) {
    Random random(options_.seed, spec.name);
    int64_t count = 1;
    for (const int64_t d : spec.shape) count *= d;
    return floats(options_.plain, count, [&] { return random.uniform(spec.low, spec.high); });
  }

  Status fused(const FusedSpec& spec) {
    Random random(options_.seed, spec.name);
    return plain(random, options_.plain, spec.experts * spec.rows * spec.cols,
                 1.0F / std::sqrt(static_cast<float>(spec.cols)));
  }

 private:
  static constexpr size_t kPiece = size_t{1} << 16;

  Status plain(Random& random, WeightFormat format, int64_t count, float sigma) {
    const float bound = sigma * std::numbers::sqrt3_v<float>;  // of a uniform distribution
    return floats(format, count, [&] { return random.uniform(-bound, bound); });
  }

  template <typename Draw>
  Status floats(WeightFormat format, int64_t count, const Draw& draw) {
    const size_t element = format::row_bytes(format, 1);
    std::vector<std::byte> piece(kPiece * element);
    for (auto left = static_cast<size_t>(count); left > 0;) {
      const size_t n = std::min(left, kPiece);
      for (size_t i = 0; i < n; ++i) {
        const float value = draw();
        if (format == WeightFormat::f32) {
          std::memcpy(&piece[i * 4], &value, 4);
        } else {
          const uint16_t bits = format == WeightFormat::bf16 ? float_to_bf16(value) : format::float_to_f16(value);
          std::memcpy(&piece[i * 2], &bits, 2);
        }
      }
      TESSERA_RETURN_IF_ERROR(write(std::span(piece).first(n * element)));
      left -= n;
    }
    return {};
  }

  template <typename Shape>
  Status bytes(Random& random, size_t count, const Shape& shape) {
    std::vector<std::byte> piece(kPiece);
    for (size_t left = count; left > 0;) {
      const size_t n = std::min(left, kPiece);
      for (size_t i = 0; i < n; i += sizeof(uint64_t)) {
        const uint64_t word = shape(random.next());
        std::memcpy(&piece[i], &word, std::min(sizeof word, n - i));
      }
      TESSERA_RETURN_IF_ERROR(write(std::span(piece).first(n)));
      left -= n;
    }
    return {};
  }

  Status scalar(WeightFormat format, float multiplier) {
    const float stored = format::stored_scale(options_.dialect, format, multiplier);
    return write(std::as_bytes(std::span(&stored, 1)));
  }

  Status write(std::span<const std::byte> piece) {
    TESSERA_RETURN_IF_ERROR(writer_.write(piece));
    done_ += piece.size();
    if (options_.progress && (done_ / (64 << 20) != reported_ || done_ == writer_.total_bytes())) {
      reported_ = done_ / (64 << 20);
      options_.progress(done_, writer_.total_bytes());
    }
    return {};
  }

  const SynthOptions& options_;
  format::ShardedWriter& writer_;
  size_t done_ = 0;
  size_t reported_ = 0;
};

DType plain_dtype(WeightFormat format) {
  return format == WeightFormat::f32 ? DType::f32 : format == WeightFormat::f16 ? DType::f16 : DType::bf16;
}

OrderedJson text_config(const SynthOptions& options) {
  const SynthShape& s = options.shape;
  OrderedJson c = {{"model_type", s.is_moe ? "qwen3_5_moe_text" : "qwen3_5_text"},
                   {"hidden_size", s.hidden_size},
                   {"num_hidden_layers", s.num_hidden_layers},
                   {"full_attention_interval", s.full_attention_interval}};
  for (int64_t i = 0; i < s.num_hidden_layers; ++i) {
    c["layer_types"].push_back((i + 1) % s.full_attention_interval == 0 ? "full_attention" : "linear_attention");
  }
  c.update({{"num_attention_heads", s.num_attention_heads},
            {"num_key_value_heads", s.num_key_value_heads},
            {"head_dim", s.head_dim},
            {"linear_num_key_heads", s.linear_num_key_heads},
            {"linear_num_value_heads", s.linear_num_value_heads},
            {"linear_key_head_dim", s.linear_key_head_dim},
            {"linear_value_head_dim", s.linear_value_head_dim},
            {"linear_conv_kernel_dim", 4}});
  if (s.is_moe) {
    c.update({{"num_experts", s.num_experts},
              {"num_experts_per_tok", s.num_experts_per_tok},
              {"moe_intermediate_size", s.moe_intermediate_size},
              {"shared_expert_intermediate_size", s.shared_expert_intermediate_size}});
  } else {
    c["intermediate_size"] = s.intermediate_size;
  }
  const int64_t pairs = s.head_dim / 8;  // rotary_dim / 2 with a quarter of head_dim rotated
  c.update({{"vocab_size", s.vocab_size},
            {"rms_norm_eps", 1e-6},
            {"hidden_act", "silu"},
            {"attention_bias", false},
            {"attn_output_gate", true},
            {"mamba_ssm_dtype", "float32"},
            {"max_position_embeddings", s.max_position_embeddings},
            {"mtp_num_hidden_layers", s.mtp_num_hidden_layers},
            {"mtp_use_dedicated_embeddings", false},
            {"rope_parameters",
             {{"rope_type", "default"},
              {"rope_theta", 10000000},
              {"partial_rotary_factor", 0.25},
              {"mrope_section", {pairs - 2 * (pairs / 3), pairs / 3, pairs / 3}},
              {"mrope_interleaved", true}}},
            {"tie_word_embeddings", s.tie_word_embeddings}});
  return c;
}

QuantizedModules quantized_modules(const Plan& plan, const SynthOptions& options) {
  QuantizedModules quantized;
  quantized.fp8_kv_cache = options.fp8_kv_cache;
  for (const MatrixSpec& spec : plan.matrices) {
    if (spec.format == options.plain) {
      quantized.plain.push_back(spec.module);
    } else {
      quantized.modules[spec.module] = spec.format;
    }
  }
  return quantized;
}

Status write_file(const std::filesystem::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file ? Status() : error(StatusCode::unavailable, "cannot write {}; is the disk full?", path.string());
}

Status write_texts(const std::filesystem::path& directory, const Plan& plan, const SynthOptions& options) {
  const bool flat = options.prefix == "model.";
  OrderedJson config;
  const char* family = options.shape.is_moe ? "Qwen3_5Moe" : "Qwen3_5";
  config["architectures"] = {std::string(family) + (flat ? "ForCausalLM" : "ForConditionalGeneration")};
  const QuantizedModules quantized = quantized_modules(plan, options);
  if (flat) {
    config.update(text_config(options));
  } else {
    config["model_type"] = options.shape.is_moe ? "qwen3_5_moe" : "qwen3_5";
    config["text_config"] = text_config(options);
    config["tie_word_embeddings"] = options.shape.tie_word_embeddings;
  }
  config["dtype"] = options.plain == WeightFormat::f32   ? "float32"
                    : options.plain == WeightFormat::f16 ? "float16"
                                                         : "bfloat16";
  if (!quantized.modules.empty()) {
    config["quantization_config"] = quantization_config(options.dialect, quantized);
    if (options.dialect == format::Dialect::modelopt) {
      TESSERA_RETURN_IF_ERROR(
          write_file(directory / "hf_quant_config.json", hf_quant_config(quantized).dump(2) + "\n"));
    }
  }
  TESSERA_RETURN_IF_ERROR(write_file(directory / "config.json", config.dump(2) + "\n"));
  for (const auto& [name, text] : options.files) TESSERA_RETURN_IF_ERROR(write_file(directory / name, text));
  return {};
}

/// As the reader will judge what is about to be written.
Status check_shape(const SynthOptions& options) {
  const auto check = [](const char* field, int64_t value, int64_t low, int64_t high) {
    if (value >= low && value <= high) return Status();
    return error(StatusCode::invalid_argument, "{} is {}, expected {}..{}", field, value, low, high);
  };
  const SynthShape& s = options.shape;
  // The config has an entry for each layer.
  TESSERA_RETURN_IF_ERROR(check("num_hidden_layers", s.num_hidden_layers, 1, 4096));
  TESSERA_RETURN_IF_ERROR(check("full_attention_interval", s.full_attention_interval, 1, 4096));
  if (format::canonical_name(options.prefix + "norm.weight") != "model.norm.weight") {
    return error(StatusCode::invalid_argument,
                 "no model has tensor names that start with \"{}\"; expected model.language_model. or model.",
                 format::printable(options.prefix));
  }
  return parse_config(text_config(options).dump(), "this shape").status();
}

Status check_formats(const Plan& plan) {
  for (const MatrixSpec& spec : plan.matrices) {
    const int64_t group = format::group_size(spec.format);
    if (group > 0 && spec.cols % group != 0) {
      return error(StatusCode::invalid_argument,
                   "{} has {} columns, which {} (groups of {}) cannot hold; choose another size or format", spec.module,
                   spec.cols, format::name(spec.format), group);
    }
  }
  return {};
}

std::vector<format::SafetensorsWriter::Declaration> declare(const Plan& plan, const SynthOptions& options) {
  std::vector<format::SafetensorsWriter::Declaration> tensors;
  for (const MatrixSpec& m : plan.matrices) {
    for (auto& t : format::declare_matrix(options.dialect, m.module, m.format, m.rows, m.cols))
      tensors.push_back(std::move(t));
  }
  for (const SmallSpec& s : plan.smalls) tensors.push_back({s.name, plain_dtype(options.plain), s.shape});
  for (const FusedSpec& f : plan.fused)
    tensors.push_back({f.name, plain_dtype(options.plain), {f.experts, f.rows, f.cols}});
  return tensors;
}

}  // namespace

Expected<SynthShape> synth_preset(std::string_view name) {
  SynthShape s;
  if (name == "tiny") return s;
  s.head_dim = 256;
  s.linear_num_key_heads = 16;
  s.linear_key_head_dim = s.linear_value_head_dim = 128;
  s.vocab_size = 248320;
  const auto moe = [&s](int64_t hidden, int64_t layers, int64_t heads, int64_t value_heads, int64_t experts,
                        int64_t top, int64_t inner) {
    s.hidden_size = hidden;
    s.num_hidden_layers = layers;
    s.num_attention_heads = heads;
    s.num_key_value_heads = 2;
    s.linear_num_value_heads = value_heads;
    s.num_experts = experts;
    s.num_experts_per_tok = top;
    s.moe_intermediate_size = s.shared_expert_intermediate_size = inner;
    return s;
  };
  if (name == "397b") return moe(4096, 60, 32, 64, 512, 10, 1024);
  if (name == "122b") return moe(3072, 48, 32, 64, 256, 8, 1024);
  if (name == "35b") return moe(2048, 40, 16, 32, 256, 8, 512);
  if (name == "27b") {
    s.is_moe = false;
    s.hidden_size = 5120;
    s.num_hidden_layers = 64;
    s.num_attention_heads = 24;
    s.num_key_value_heads = 4;
    s.linear_num_value_heads = 48;
    s.intermediate_size = 17408;
    return s;
  }
  return error(StatusCode::not_found, "no preset \"{}\"; there are 397b, 122b, 35b, 27b and tiny", name);
}

Expected<ModelConfig> synth_config(const SynthShape& shape) {
  const SynthOptions options{.shape = shape};
  TESSERA_RETURN_IF_ERROR(check_shape(options));
  return parse_config(text_config(options).dump(), "a synthetic config.json");
}

Expected<size_t> random_checkpoint_bytes(const SynthOptions& options) {
  TESSERA_RETURN_IF_ERROR(check_shape(options));
  const Plan plan = SynthPlanner(options).plan();
  TESSERA_RETURN_IF_ERROR(check_formats(plan));
  size_t total = 0;
  for (const auto& tensor : declare(plan, options)) {
    size_t bytes = size_bytes(tensor.dtype);
    for (const int64_t dim : tensor.shape) bytes *= static_cast<size_t>(dim);  // check_shape bounds one tensor
    if (__builtin_add_overflow(total, bytes, &total)) {
      return Status(StatusCode::invalid_argument, "this shape has more than 2^64 bytes; choose a smaller one");
    }
  }
  return total;
}

Status write_random_checkpoint(const std::filesystem::path& directory, const SynthOptions& options) {
  TESSERA_RETURN_IF_ERROR(check_shape(options));
  const Plan plan = SynthPlanner(options).plan();
  TESSERA_RETURN_IF_ERROR(check_formats(plan));
  std::error_code failure;
  if (directory.empty()) return {StatusCode::invalid_argument, "the directory's name is empty"};
  std::filesystem::create_directories(directory, failure);
  if (failure) {
    return error(StatusCode::invalid_argument, "cannot create {}: {}", directory.string(), failure.message());
  }
  if (std::filesystem::exists(directory / "config.json", failure)) {
    return error(StatusCode::invalid_argument, "{} already holds a checkpoint; name another directory or remove it",
                 directory.string());
  }
  TESSERA_ASSIGN_OR_RETURN(auto writer,
                           format::ShardedWriter::create(directory, declare(plan, options), options.shard_bytes_max));
  Drawer drawer(options, writer);
  for (const MatrixSpec& m : plan.matrices) TESSERA_RETURN_IF_ERROR(drawer.matrix(m));
  for (const SmallSpec& s : plan.smalls) TESSERA_RETURN_IF_ERROR(drawer.small(s));
  for (const FusedSpec& f : plan.fused) TESSERA_RETURN_IF_ERROR(drawer.fused(f));
  TESSERA_RETURN_IF_ERROR(writer.finish());
  return write_texts(directory, plan, options);
}

}  // namespace tessera::model
