#include "format/shard_index.h"

#include <simdjson.h>

#include <array>

#include "format/printable.h"

namespace tessera::format {
namespace {

/// First match wins. Prefixes seen in released checkpoints and in what common tools write.
struct Prefix {
  std::string_view stored;
  std::string_view canonical;
};
constexpr std::array<Prefix, 9> kPrefixes = {{
    {"model.language_model.lm_head.", "lm_head."},
    {"model.language_model.mtp.", "mtp."},
    {"model.language_model.", "model."},
    {"language_model.model.mtp.", "mtp."},
    {"language_model.model.", "model."},
    {"language_model.lm_head.", "lm_head."},
    {"language_model.mtp.", "mtp."},
    {"model.lm_head.", "lm_head."},
    {"model.mtp.", "mtp."},
}};
constexpr std::array<std::string_view, 5> kVisionPrefixes = {"model.visual.", "visual.", "model.vision_tower.",
                                                             "vision_tower.", "language_model.visual."};

}  // namespace

Expected<std::map<std::string, std::string, std::less<>>> parse_shard_index(std::string_view json,
                                                                            const std::string& file) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (const auto code = parser.parse(json.data(), json.size()).get(root); code != simdjson::SUCCESS) {
    return error(StatusCode::corrupt_data, "{}: not valid JSON: {}", file, simdjson::error_message(code));
  }
  simdjson::dom::object entries;
  if (root["weight_map"].get(entries) != simdjson::SUCCESS) {
    return error(StatusCode::corrupt_data, "{}: has no object weight_map (tensor name to shard file)", file);
  }
  std::map<std::string, std::string, std::less<>> shards;
  for (const auto& [tensor, value] : entries) {
    std::string_view shard;
    if (value.get(shard) != simdjson::SUCCESS || shard.empty() || shard == "." || shard == ".." ||
        shard.find_first_of(std::string_view("/\0", 2)) != std::string_view::npos) {
      return error(StatusCode::corrupt_data, "{}: weight_map['{}'] is not the name of a file beside the index", file,
                   printable(tensor));
    }
    if (!shards.emplace(tensor, shard).second) {
      return error(StatusCode::corrupt_data, "{}: weight_map has '{}' twice", file, printable(tensor));
    }
  }
  if (shards.empty()) return error(StatusCode::corrupt_data, "{}: weight_map is empty", file);
  return shards;
}

std::string canonical_name(std::string_view name) {
  for (const std::string_view prefix : kVisionPrefixes) {
    if (name.starts_with(prefix)) return {};
  }
  for (const Prefix& prefix : kPrefixes) {
    if (name.starts_with(prefix.stored)) {
      return std::string(prefix.canonical).append(name.substr(prefix.stored.size()));
    }
  }
  return std::string(name);
}

}  // namespace tessera::format
