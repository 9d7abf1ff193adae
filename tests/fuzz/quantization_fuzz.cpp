// The JSON that decides how weights are read: quantization_config, hf_quant_config.json and the shard index. The first
// byte picks the reader; for two files, a 0 byte stands between them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "format/quantization_info.h"
#include "format/shard_index.h"

namespace {

void require_message(const tessera::Status& status) {
  if (!status.ok() && status.message().empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  if (data[0] % 2 == 0) {
    const auto index = tessera::format::parse_shard_index(text, "index");
    require_message(index.status());
    if (!index.ok()) return 0;
    for (const auto& [tensor, shard] : *index) {
      if (shard.empty() || shard.find('/') != shard.npos) std::abort();
      (void)tessera::format::canonical_name(tensor);
    }
  } else {
    const size_t cut = text.find('\0');
    const std::string_view second = cut == text.npos ? std::string_view() : text.substr(cut + 1);
    require_message(tessera::format::parse_quantization_info(text.substr(0, cut), second).status());
  }
  return 0;
}
