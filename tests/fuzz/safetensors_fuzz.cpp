// The safetensors header. What is accepted must lie inside the file and tile it; what is refused must say so.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <vector>

#include "format/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tessera;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto parsed = format::SafetensorsFile::parse(bytes, "fuzz");
  if (!parsed.ok()) {
    if (parsed.status().message().empty()) std::abort();
    return 0;
  }
  unsigned sum = 0;
  for (const auto& [name, tensor] : (*parsed)->tensors()) {
    uint64_t elements = 1;
    for (const int64_t dim : tensor.shape) elements *= static_cast<uint64_t>(dim);
    if (elements * size_bytes(tensor.dtype) != tensor.bytes.size()) std::abort();
    // The sanitizer sees a view that leaves the file.
    if (!tensor.bytes.empty())
      sum += static_cast<unsigned>(tensor.bytes.front()) + static_cast<unsigned>(tensor.bytes.back());
  }
  // A result that depends on the bytes, so that they are read.
  return sum == UINT32_MAX ? -1 : 0;
}
