#include "model/inspect.h"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "format/printable.h"
#include "model/stored_tensors.h"

namespace tessera::model {
namespace {

namespace fs = std::filesystem;
using format::WeightFormat;
using Json = nlohmann::json;

double bytes_per_weight(WeightFormat format) {
  const double codes = static_cast<double>(format::row_bytes(format, 32)) / 32;
  const int64_t group = format::group_size(format);
  return group == 0 ? codes : codes + 1.0 / static_cast<double>(group);
}

/// Where the weights that a token reads are found. Tied models read the embedding as their head.
enum class Reading { never, every_step, by_expert };

Reading reading(TensorKind kind, bool tied) {
  switch (kind) {
    case TensorKind::mtp: return Reading::never;
    case TensorKind::embed: return tied ? Reading::every_step : Reading::never;
    case TensorKind::lm_head: return tied ? Reading::never : Reading::every_step;
    case TensorKind::routed_expert: return Reading::by_expert;
    default: return Reading::every_step;
  }
}

WeightTraffic no_traffic(const ModelConfig& config) {
  return config.is_moe ? WeightTraffic{0, 0, config.num_experts, config.experts_per_token} : WeightTraffic{};
}

void add(WeightTraffic& traffic, Reading how, double bytes) {
  if (how == Reading::every_step) traffic.fixed_bytes += bytes;
  if (how == Reading::by_expert) traffic.routed_bytes += bytes;
}

double attention_weights(const ModelConfig& c) {
  return static_cast<double>(c.hidden_size) * c.attention.head_dim *
         (3.0 * c.attention.heads + 2.0 * c.attention.kv_heads);
}

/// Adds the weights of the feed-forward half of `layers` decoder layers under their kinds.
void count_feed_forward(const ModelConfig& c, double layers, WeightCounts& counts) {
  using enum TensorKind;
  const auto projections = [&](int64_t inner) { return layers * 3 * static_cast<double>(c.hidden_size * inner); };
  if (!c.is_moe) {
    counts[mlp] += projections(c.intermediate_size);
    return;
  }
  const int gates = c.num_experts + (c.shared_expert_intermediate_size > 0 ? 1 : 0);
  counts[router] += layers * static_cast<double>(c.hidden_size) * gates;
  counts[routed_expert] += projections(c.moe_intermediate_size) * c.num_experts;
  counts[shared_expert] += projections(c.shared_expert_intermediate_size);
}

/// Reads what the tensors cannot tell.
Status read_small_files(const format::Checkpoint& checkpoint, Inspection& found) {
  TESSERA_ASSIGN_OR_RETURN(const auto config, checkpoint.read_text("config.json"));
  const std::string path = format::printable((checkpoint.directory() / "config.json").string());
  if (!config) return error(StatusCode::not_found, "{}: is not there", path);
  TESSERA_ASSIGN_OR_RETURN(found.config, parse_config(*config, path));
  const Json json = Json::parse(*config, nullptr, /*allow_exceptions=*/false);
  const auto type_of = [](const Json& object) {
    const auto type = object.find("model_type");
    return type != object.end() && type->is_string() ? format::printable(type->get<std::string>()) : std::string();
  };
  const auto text = json.find("text_config");
  if (text != json.end()) found.model_type = type_of(*text);
  if (found.model_type.empty()) found.model_type = type_of(json);
  TESSERA_ASSIGN_OR_RETURN(found.quantization, format::read_quantization_info(checkpoint));

  const auto is_there = [&](const char* file) {
    std::error_code ignored;
    return fs::exists(checkpoint.directory() / file, ignored);
  };
  found.has_tokenizer = is_there("tokenizer.json");
  if (is_there("chat_template.jinja")) {
    found.chat_template_file = "chat_template.jinja";
  } else if (is_there("tokenizer_config.json")) {
    TESSERA_ASSIGN_OR_RETURN(const auto tokenizer, checkpoint.read_text("tokenizer_config.json"));
    const Json settings = Json::parse(tokenizer.value_or(""), nullptr, /*allow_exceptions=*/false);
    if (settings.is_object() && settings.contains("chat_template")) found.chat_template_file = "tokenizer_config.json";
  }
  return {};
}

uintmax_t directory_bytes(const fs::path& directory) {
  uintmax_t total = 0;
  std::error_code failed;
  for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end; entry.increment(failed)) {
    std::error_code unknown;
    const uintmax_t bytes = entry->is_regular_file(unknown) ? entry->file_size(unknown) : 0;
    if (!unknown) total += bytes;
  }
  return total;
}

void add_tensors(const format::Checkpoint& checkpoint, Inspection& found) {
  const bool tied = found.config.tie_word_embeddings;
  std::map<std::tuple<size_t, std::string_view>, StoredPart> parts;  // kind's place, format
  std::set<std::string> dialects;
  found.traffic = no_traffic(found.config);
  double routed_parameters = 0;
  for (const StoredTensor& tensor : stored_tensors(checkpoint)) {
    StoredPart& part = parts[{tensor.kind ? static_cast<size_t>(*tensor.kind) : kTensorKinds.size(), tensor.format}];
    part.kind = tensor.kind;
    part.format = tensor.format;
    part.tensors += tensor.elements > 0 ? 1 : 0;
    part.elements += tensor.elements;
    part.bytes += tensor.view.bytes.size();
    found.tensor_bytes += tensor.view.bytes.size();
    if (!tensor.kind) {
      found.has_vision = true;
      continue;
    }
    if (tensor.is_weight && tensor.format == format::name(WeightFormat::nvfp4)) {
      const bool divides = checkpoint.has(tensor.module + ".weight_global_scale");
      dialects.insert(divides ? "compressed-tensors" : "modelopt");
    }
    // A norm of the MTP head is of kind `small`.
    const bool mtp = tensor.canonical.starts_with("mtp.");
    found.has_mtp = found.has_mtp || mtp;
    (mtp ? found.mtp_parameters : found.parameters) += tensor.elements;
    const Reading how = mtp ? Reading::never : reading(*tensor.kind, tied);
    add(found.traffic, how, static_cast<double>(tensor.view.bytes.size()));
    if (how == Reading::every_step) found.active_parameters += static_cast<double>(tensor.elements);
    if (how == Reading::by_expert) routed_parameters += static_cast<double>(tensor.elements);
  }
  if (found.config.is_moe) {
    found.active_parameters += routed_parameters * found.config.experts_per_token / found.config.num_experts;
  }
  for (auto& [key, part] : parts) found.parts.push_back(std::move(part));
  found.dialects.assign(dialects.begin(), dialects.end());
}

}  // namespace

double WeightTraffic::distinct_experts(int64_t batch) const {
  if (experts == 0) return 0;
  const double unread = 1.0 - static_cast<double>(experts_per_token) / experts;
  return experts * (1.0 - std::pow(unread, static_cast<double>(batch)));
}

double WeightTraffic::bytes_per_step(int64_t batch) const {
  return experts == 0 ? fixed_bytes : fixed_bytes + routed_bytes * distinct_experts(batch) / experts;
}

WeightCounts weight_counts(const ModelConfig& c) {
  using enum TensorKind;
  WeightCounts counts;
  const auto hidden = static_cast<double>(c.hidden_size);
  const auto& net = c.delta_net;
  const auto channels = static_cast<double>(net.channels());
  const double full = c.count(LayerType::full_attention);
  const double linear = c.count(LayerType::linear_attention);
  const double attention_norms = 2.0 * c.attention.head_dim;
  counts[embed] = static_cast<double>(c.vocab_size) * hidden;
  counts[lm_head] = c.tie_word_embeddings ? 0 : counts[embed];
  counts[attention] = full * attention_weights(c);
  counts[delta_net] = linear * hidden * (channels + 2.0 * net.value_heads * net.value_dim);
  counts[delta_net_ab] = linear * hidden * 2 * net.value_heads;
  count_feed_forward(c, full + linear, counts);
  counts[small] = hidden + (full + linear) * 2 * hidden + full * attention_norms +
                  linear * (channels * net.conv_width + 2.0 * net.value_heads + net.value_dim);
  if (c.mtp_layers > 0) {
    WeightCounts inner;
    count_feed_forward(c, c.mtp_layers, inner);
    counts[mtp] = hidden * (2 * hidden + 3) + c.mtp_layers * (attention_weights(c) + 2 * hidden + attention_norms);
    for (const auto& [kind, count] : inner) counts[mtp] += count;
  }
  std::erase_if(counts, [](const auto& entry) { return entry.second == 0; });
  return counts;
}

WeightTraffic weight_traffic(const ModelConfig& config, const KindFormats& formats) {
  WeightTraffic traffic = no_traffic(config);
  for (const auto& [kind, count] : weight_counts(config)) {
    const auto listed = formats.find(kind);
    const WeightFormat format = listed == formats.end() ? WeightFormat::bf16 : listed->second;
    add(traffic, reading(kind, config.tie_word_embeddings), count * bytes_per_weight(format));
  }
  return traffic;
}

Expected<Inspection> inspect_checkpoint(const format::Checkpoint& checkpoint) {
  Inspection found;
  TESSERA_RETURN_IF_ERROR(read_small_files(checkpoint, found));
  add_tensors(checkpoint, found);
  found.shards = checkpoint.shards().size();
  found.disk_bytes = directory_bytes(checkpoint.directory());
  const auto& c = found.config;
  const size_t layer_kv =
      size_t{4} * static_cast<size_t>(c.attention.kv_heads) * static_cast<size_t>(c.attention.head_dim);
  found.kv_bytes_per_token_bf16 = layer_kv * static_cast<size_t>(c.count(LayerType::full_attention));
  if (found.has_mtp) found.mtp_kv_bytes_per_token_bf16 = layer_kv * static_cast<size_t>(c.mtp_layers);
  found.state_bytes = static_cast<size_t>(c.count(LayerType::linear_attention)) *
                      static_cast<size_t>(c.delta_net.state_floats()) * sizeof(float);
  return found;
}

}  // namespace tessera::model
