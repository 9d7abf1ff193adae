#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/temp_directory.h"
#include "format/safetensors.h"

// Files for tests, built byte by byte, independent of SafetensorsWriter.
namespace tessera::format::test {

using tessera::test::TempDirectory;

inline std::span<const std::byte> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Length, header, data.
inline std::string safetensors(std::string_view header, std::string_view data) {
  std::string file;
  for (size_t i = 0; i < 8; ++i) file += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return file.append(header).append(data);
}

struct StoredTensor {
  std::string name;
  std::string dtype;
  std::vector<int64_t> shape;
  std::string data;
};

inline std::string safetensors(const std::vector<StoredTensor>& tensors) {
  std::string header = "{";
  std::string data;
  for (const StoredTensor& t : tensors) {
    header +=
        fmt::format(R"({}"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", header.size() > 1 ? "," : "",
                    t.name, t.dtype, fmt::join(t.shape, ","), data.size(), data.size() + t.data.size());
    data += t.data;
  }
  return safetensors(header + "}", data);
}

}  // namespace tessera::format::test
