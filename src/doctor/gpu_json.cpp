#include <array>
#include <nlohmann/json.hpp>

#include "doctor/gather.h"

namespace tessera::doctor {
namespace {

using Json = nlohmann::ordered_json;
using device::PeerCopy;

constexpr std::array kResults = {
    std::pair{PeerCopy::Result::equal, "equal"},
    std::pair{PeerCopy::Result::differs, "differs"},
    std::pair{PeerCopy::Result::hangs, "hangs"},
    std::pair{PeerCopy::Result::failed, "failed"},
};

void put(Json& json, const char* name, const Number& number) {
  if (number) json[name] = *number;
}
Number number_of(const Json& json, const char* name) {
  const auto found = json.is_object() ? json.find(name) : json.end();
  return json.is_object() && found != json.end() && found->is_number_integer() ? Number(found->get<int64_t>())
                                                                               : std::nullopt;
}
std::string text_of(const Json& json, const char* name) {
  const auto found = json.is_object() ? json.find(name) : json.end();
  return json.is_object() && found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}
bool flag_of(const Json& json, const char* name) {
  const auto found = json.is_object() ? json.find(name) : json.end();
  return json.is_object() && found != json.end() && found->is_boolean() && found->get<bool>();
}
/// The objects of a list; none where there is no such list.
std::vector<Json> list_of(const Json& json, const char* name) {
  const auto found = json.is_object() ? json.find(name) : json.end();
  if (!json.is_object() || found == json.end() || !found->is_array()) return {};
  return {found->begin(), found->end()};
}

Json gpu_json(const Gpu& gpu) {
  Json json = {{"name", gpu.name}, {"pci_bus_id", gpu.pci_bus_id}};
  for (const auto& field : device::driver_numbers()) put(json, field.name, gpu.*field.value);
  put(json, "smem_per_block_bytes", gpu.smem_per_block_bytes);
  put(json, "read_bytes_per_second", gpu.read_bytes_per_second);
  put(json, "cuda_index", gpu.cuda_index);
  return json;
}

Gpu parse_gpu(const Json& json) {
  Gpu gpu;
  gpu.name = text_of(json, "name");
  gpu.pci_bus_id = text_of(json, "pci_bus_id");
  for (const auto& field : device::driver_numbers()) gpu.*field.value = number_of(json, field.name);
  gpu.smem_per_block_bytes = number_of(json, "smem_per_block_bytes");
  gpu.read_bytes_per_second = number_of(json, "read_bytes_per_second");
  gpu.cuda_index = number_of(json, "cuda_index");
  return gpu;
}

/// Whether both ends of a pair are among the GPUs: a file may say anything.
bool in_range(int from, int to, const GpuFacts& facts) {
  const auto count = static_cast<int>(facts.gpus.size());
  return from >= 0 && to >= 0 && from < count && to < count && from != to;
}

}  // namespace

std::string gpu_facts_json(const GpuFacts& facts) {
  Json json = {{"driver_version", facts.driver_version},
               {"cuda_version", facts.cuda_version},
               {"error", facts.error},
               {"error_text", facts.error_text},
               {"built_with_cuda", facts.built_with_cuda},
               {"cuda_error", facts.cuda_error},
               {"gpus", Json::array()},
               {"pairs", Json::array()},
               {"peer_copies", Json::array()}};
  put(json, "cuda_count", facts.cuda_count);
  for (const Gpu& gpu : facts.gpus) json["gpus"].push_back(gpu_json(gpu));
  for (const device::DriverPair& pair : facts.pairs) {
    Json& line = json["pairs"].emplace_back(Json{{"from", pair.from}, {"to", pair.to}});
    put(line, "p2p_read", pair.p2p_read);
    put(line, "topology", pair.topology);
  }
  for (const PeerCopy& copy : facts.peer_copies) {
    const char* result = "";
    for (const auto& [value, name] : kResults) result = value == copy.result ? name : result;
    json["peer_copies"].push_back({{"from", copy.from},
                                   {"to", copy.to},
                                   {"direct", copy.direct},
                                   {"result", result},
                                   {"bytes_per_second", static_cast<int64_t>(copy.bytes_per_second)},
                                   {"error", copy.error}});
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

GpuFacts parse_gpu_facts(const std::string& text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  GpuFacts facts;
  facts.driver_version = text_of(json, "driver_version");
  facts.cuda_version = static_cast<int>(number_of(json, "cuda_version").value_or(0));
  facts.error = static_cast<int>(number_of(json, "error").value_or(0));
  facts.error_text = text_of(json, "error_text");
  facts.built_with_cuda = flag_of(json, "built_with_cuda");
  facts.cuda_error = text_of(json, "cuda_error");
  facts.cuda_count = number_of(json, "cuda_count");
  for (const Json& gpu : list_of(json, "gpus")) facts.gpus.push_back(parse_gpu(gpu));
  for (const Json& line : list_of(json, "pairs")) {
    const auto from = static_cast<int>(number_of(line, "from").value_or(-1));
    const auto to = static_cast<int>(number_of(line, "to").value_or(-1));
    if (!in_range(from, to, facts)) continue;
    facts.pairs.push_back(
        {.from = from, .to = to, .p2p_read = number_of(line, "p2p_read"), .topology = number_of(line, "topology")});
  }
  for (const Json& line : list_of(json, "peer_copies")) {
    PeerCopy copy;
    copy.from = static_cast<int>(number_of(line, "from").value_or(-1));
    copy.to = static_cast<int>(number_of(line, "to").value_or(-1));
    if (!in_range(copy.from, copy.to, facts)) continue;
    copy.direct = flag_of(line, "direct");
    copy.bytes_per_second = static_cast<double>(number_of(line, "bytes_per_second").value_or(0));
    copy.error = text_of(line, "error");
    for (const auto& [value, name] : kResults) copy.result = text_of(line, "result") == name ? value : copy.result;
    facts.peer_copies.push_back(std::move(copy));
  }
  return facts;
}

}  // namespace tessera::doctor
