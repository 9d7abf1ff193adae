// config.json. What is accepted must have a layer list and positive sizes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = tessera::model::parse_config(text, "config.json");
  if (!config.ok()) {
    if (config.status().message().empty()) std::abort();
    return 0;
  }
  if (config->layer_types.empty() || config->hidden_size <= 0 || config->vocab_size <= 0) std::abort();
  return 0;
}
