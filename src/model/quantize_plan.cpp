#include "model/quantize_plan.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "format/printable.h"
#include "model/config.h"
#include "model/stored_tensors.h"

namespace tessera::model {
namespace {

using format::Checkpoint;
using format::Dialect;
using format::MatrixView;
using format::printable;
using format::WeightFormat;

/// Projections that engines stack into one matrix with one tensor scale.
struct Fused {
  std::string_view leaf;
  std::string_view stack;
};
constexpr std::array<Fused, 9> kFused = {{
    {"gate_proj", "gate_up"},
    {"up_proj", "gate_up"},
    {"q_proj", "qkv"},
    {"k_proj", "qkv"},
    {"v_proj", "qkv"},
    {"in_proj_qkv", "in_proj_qkvz"},
    {"in_proj_z", "in_proj_qkvz"},
    {"in_proj_a", "in_proj_ba"},
    {"in_proj_b", "in_proj_ba"},
}};

/// Modules of one stack give the same key, all others their own name.
std::string scale_key(const std::string& module) {
  const size_t dot = module.rfind('.') + 1;
  const std::string_view leaf = std::string_view(module).substr(dot);
  const auto* found = std::find_if(kFused.begin(), kFused.end(), [&](const Fused& f) { return f.leaf == leaf; });
  return found == kFused.end() ? module : module.substr(0, dot).append(found->stack);
}

bool is_plain(std::string_view format) {
  return format == format::name(WeightFormat::f32) || format == format::name(WeightFormat::f16) ||
         format == format::name(WeightFormat::bf16);
}

std::optional<WeightFormat> quantized_format(std::string_view name) {
  for (const auto f : {WeightFormat::fp8_e4m3, WeightFormat::nvfp4, WeightFormat::mxfp4}) {
    if (format::name(f) == name) return f;
  }
  return std::nullopt;
}

/// A fused expert tensor: its module is the whole name, there is no ".weight".
bool is_fused(const StoredTensor& tensor) { return tensor.is_weight && tensor.module == tensor.canonical; }

class QuantizePlanner {
 public:
  QuantizePlanner(const Checkpoint& source, const ModelConfig& config, const QuantizeOptions& options)
      : source_(source), config_(config), options_(options) {}

  Expected<QuantizePlan> plan();

 private:
  [[nodiscard]] std::optional<WeightFormat> target(const StoredTensor& tensor) const;
  Status add(const StoredTensor& tensor);
  Status copy(const StoredTensor& tensor);
  void list_module(const StoredTensor& tensor);
  Status split(const StoredTensor& tensor, WeightFormat to);
  Status convert(const StoredTensor& tensor, const MatrixView& matrix, const std::string& stored_module,
                 const std::string& module, WeightFormat to);
  Status settle_dialect(const std::vector<StoredTensor>& tensors);

  const Checkpoint& source_;
  const ModelConfig& config_;
  const QuantizeOptions& options_;
  QuantizePlan plan_;
  std::map<std::string, size_t> groups_;
  std::set<std::string> already_;
};

/// The format that the options ask for; none: stay.
std::optional<WeightFormat> QuantizePlanner::target(const StoredTensor& tensor) const {
  if (!tensor.kind || !tensor.is_weight) return std::nullopt;
  TensorKind kind = *tensor.kind;
  if (kind == TensorKind::mtp) {
    const std::string inner = "model." + tensor.canonical.substr(std::string_view("mtp.").size());
    if (classify(inner) == TensorKind::router) kind = TensorKind::router;
  }
  if (kind == TensorKind::lm_head && config_.tie_word_embeddings) return std::nullopt;
  const auto found = options_.formats.find(kind);
  return found == options_.formats.end() ? std::nullopt : std::optional(found->second);
}

Status QuantizePlanner::add(const StoredTensor& tensor) {
  const std::optional<WeightFormat> to = target(tensor);
  if (!to || tensor.format == format::name(*to)) return copy(tensor);
  if (!is_plain(tensor.format)) {
    already_.insert(fmt::format("{} is {}", name(*tensor.kind), tensor.format));
    return copy(tensor);
  }
  if (is_fused(tensor)) return split(tensor, *to);
  TESSERA_ASSIGN_OR_RETURN(const MatrixView matrix, source_.matrix(tensor.module));
  const size_t suffix = tensor.canonical.size() - tensor.module.size();
  return convert(tensor, matrix, tensor.name.substr(0, tensor.name.size() - suffix), tensor.module, *to);
}

Status QuantizePlanner::copy(const StoredTensor& tensor) {
  // What is broken shall not be copied into something that looks fresh.
  if (tensor.is_weight && quantized_format(tensor.format)) {
    TESSERA_RETURN_IF_ERROR(source_.matrix(tensor.module).status());
  }
  list_module(tensor);
  plan_.declarations.push_back({tensor.name, tensor.view.dtype, tensor.view.shape});
  plan_.steps.push_back({.name = tensor.name,
                         .kind = tensor.kind,
                         .from = tensor.format,
                         .elements = tensor.elements,
                         .tensor = tensor.view,
                         .conversion = std::nullopt});
  return {};
}

/// quantization_config names every linear module. In the vision tower, whose names are not ours to know, these are
/// the weights with two dimensions.
void QuantizePlanner::list_module(const StoredTensor& tensor) {
  std::string module = tensor.name;
  if (!tensor.kind) {
    if (tensor.view.shape.size() != 2 || !module.ends_with(".weight")) return;
    module.resize(module.rfind('.'));
  } else if (!tensor.is_weight) {
    return;
  } else if (is_fused(tensor)) {
    module.resize(module.rfind('.'));  // "….mlp.experts" is one module
  } else {
    module.resize(module.size() - (tensor.canonical.size() - tensor.module.size()));
  }
  if (const auto format = quantized_format(tensor.format)) {
    plan_.modules.modules[module] = *format;
  } else {
    plan_.modules.plain.push_back(module);
  }
}

/// [experts, 2 x inner, hidden] holds gate over up of each expert, [experts, hidden, inner] down.
Status QuantizePlanner::split(const StoredTensor& tensor, WeightFormat to) {
  const auto& shape = tensor.view.shape;
  const bool gate_up = tensor.canonical.ends_with(".gate_up_proj");
  if (shape.size() != 3 || (gate_up && shape[1] % 2 != 0)) {
    return error(StatusCode::corrupt_data, "'{}' has shape [{}]; fused experts are [experts, {}, columns]",
                 printable(tensor.name), fmt::join(shape, ", "), gate_up ? "2 x rows" : "rows");
  }
  const std::string stored_prefix = tensor.name.substr(0, tensor.name.rfind('.') + 1);
  const std::string prefix = tensor.canonical.substr(0, tensor.canonical.rfind('.') + 1);
  const auto add_part = [&](int64_t expert, std::string_view part, int64_t first_row, int64_t rows) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const MatrixView matrix, source_.fused_matrix(tensor.canonical, expert, first_row, rows));
    const std::string leaf = fmt::format("{}.{}", expert, part);
    return convert(tensor, matrix, stored_prefix + leaf, prefix + leaf, to);
  };
  for (int64_t expert = 0; expert < shape[0]; ++expert) {
    if (!gate_up) {
      TESSERA_RETURN_IF_ERROR(add_part(expert, "down_proj", 0, shape[1]));
      continue;
    }
    TESSERA_RETURN_IF_ERROR(add_part(expert, "gate_proj", 0, shape[1] / 2));
    TESSERA_RETURN_IF_ERROR(add_part(expert, "up_proj", shape[1] / 2, shape[1] / 2));
  }
  return {};
}

Status QuantizePlanner::convert(const StoredTensor& tensor, const MatrixView& matrix, const std::string& stored_module,
                                const std::string& module, WeightFormat to) {
  const int64_t group = format::group_size(to);
  if (group > 0 && matrix.cols % group != 0) {
    return error(StatusCode::unsupported,
                 "'{}' has {} columns, which groups of {} ({}) do not divide; choose another format for {}",
                 printable(tensor.name), matrix.cols, group, format::name(to), name(*tensor.kind));
  }
  for (auto& declaration : format::declare_matrix(plan_.dialect, stored_module, to, matrix.rows, matrix.cols)) {
    plan_.declarations.push_back(std::move(declaration));
  }
  if (quantized_format(format::name(to))) {
    plan_.modules.modules[stored_module] = to;
  } else {
    plan_.modules.plain.push_back(stored_module);
  }
  const std::string key = options_.shared_scales ? scale_key(module) : module;
  const size_t scale_group = groups_.try_emplace(key, plan_.scale_groups.size()).first->second;
  if (scale_group == plan_.scale_groups.size()) plan_.scale_groups.emplace_back();
  plan_.scale_groups[scale_group].push_back(plan_.steps.size());
  const bool fused = is_fused(tensor);
  plan_.steps.push_back(
      {.name = stored_module,
       .kind = tensor.kind,
       .from = tensor.format,
       .elements = matrix.rows * matrix.cols,
       .tensor = {},
       .conversion = Conversion{matrix, to, fused ? stored_module + " of " + tensor.name : tensor.name, scale_group}});
  return {};
}

/// NVFP4 that is copied keeps its spelling, and a checkpoint has one.
Status QuantizePlanner::settle_dialect(const std::vector<StoredTensor>& tensors) {
  std::optional<Dialect> stored;
  for (const StoredTensor& tensor : tensors) {
    if (!tensor.is_weight || tensor.format != format::name(WeightFormat::nvfp4)) continue;
    const Dialect dialect =
        source_.has(tensor.module + ".weight_global_scale") ? Dialect::compressed_tensors : Dialect::modelopt;
    if (stored && *stored != dialect) {
      return error(StatusCode::unsupported,
                   "{}: spells some NVFP4 weights as ModelOpt does and some as "
                   "compressed-tensors does; quantize writes one of the two",
                   printable(source_.directory().string()));
    }
    stored = dialect;
  }
  if (!stored) {
    TESSERA_ASSIGN_OR_RETURN(const format::QuantizationInfo info, format::read_quantization_info(source_));
    if (info.method == "compressed-tensors") stored = Dialect::compressed_tensors;
  } else if (options_.dialect && *options_.dialect != *stored) {
    const bool modelopt = *stored == Dialect::modelopt;
    return error(StatusCode::invalid_argument,
                 "the source has NVFP4 weights in the {} dialect, which are copied as they are; ask for that dialect",
                 modelopt ? "modelopt" : "compressed-tensors");
  }
  plan_.dialect = options_.dialect.value_or(stored.value_or(Dialect::modelopt));
  return {};
}

Expected<QuantizePlan> QuantizePlanner::plan() {
  for (const auto& shard : source_.shards()) {
    for (const auto& [tensor, dtype] : shard->foreign_tensors()) {
      return error(StatusCode::unsupported, "'{}' has dtype {}, which Tessera does not copy", printable(tensor), dtype);
    }
  }
  const std::vector<StoredTensor> tensors = stored_tensors(source_);
  TESSERA_RETURN_IF_ERROR(settle_dialect(tensors));
  for (const StoredTensor& tensor : tensors) TESSERA_RETURN_IF_ERROR(add(tensor));
  plan_.already_quantized.assign(already_.begin(), already_.end());
  if (plan_.scale_groups.empty()) {
    return error(
        StatusCode::invalid_argument, "nothing to quantise: {}",
        already_.empty()
            ? std::string("the source has no weights of the chosen kinds in another format; choose other kinds")
            : fmt::format("of what was asked for, {} already; start from a checkpoint that is not quantised",
                          fmt::join(already_, ", ")));
  }
  TESSERA_ASSIGN_OR_RETURN(const format::QuantizationInfo info, format::read_quantization_info(source_));
  plan_.modules.fp8_kv_cache = info.fp8_kv_cache;
  return std::move(plan_);
}

}  // namespace

Expected<QuantizePlan> plan_quantization(const Checkpoint& source, const QuantizeOptions& options) {
  for (const auto& [kind, to] : options.formats) {
    const bool known = to == WeightFormat::bf16 || quantized_format(format::name(to)).has_value();
    if (kind == TensorKind::small || !known) {
      return error(StatusCode::invalid_argument, "{} cannot be stored as {}", name(kind), format::name(to));
    }
  }
  TESSERA_ASSIGN_OR_RETURN(const std::optional<std::string> json, source.read_text("config.json"));
  const std::string path = printable((source.directory() / "config.json").string());
  if (!json) return error(StatusCode::not_found, "{}: is not there", path);
  TESSERA_ASSIGN_OR_RETURN(const ModelConfig config, parse_config(*json, path));
  return QuantizePlanner(source, config, options).plan();
}

}  // namespace tessera::model
