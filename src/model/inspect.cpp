#include "model/inspect.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "format/printable.h"
#include "model/stored_tensors.h"
#include "model/weight_profile.h"

namespace tessera::model {
namespace {

namespace fs = std::filesystem;
using format::WeightFormat;
using Json = nlohmann::json;

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
  std::map<std::tuple<size_t, std::string_view>, StoredPart> parts;  // kind's place, format
  std::set<std::string> dialects;
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
  }
  for (auto& [key, part] : parts) found.parts.push_back(std::move(part));
  found.dialects.assign(dialects.begin(), dialects.end());
}

}  // namespace

size_t Inspection::loaded_bytes() const {
  size_t bytes = 0;
  for (const StoredPart& part : parts) bytes += part.kind ? part.bytes : 0;
  return bytes;
}

Expected<Inspection> inspect_checkpoint(const format::Checkpoint& checkpoint) {
  Inspection found;
  TESSERA_RETURN_IF_ERROR(read_small_files(checkpoint, found));
  add_tensors(checkpoint, found);
  const auto plan = plan_weights(checkpoint, found.config);
  found.complete = plan.status();
  if (plan.ok()) {
    found.profile = profile_name(*plan);
    found.traffic = plan->traffic();
    found.active_parameters = plan->active_weights();
  }
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
