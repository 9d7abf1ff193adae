#include "format/decode_floats.h"

#include <cstring>

#include "format/f16.h"

namespace tessera::format {

Status decode_floats(const TensorView& tensor, std::span<float> out) {
  if (tensor.dtype != DType::f32 && tensor.dtype != DType::bf16 && tensor.dtype != DType::f16) {
    return error(StatusCode::corrupt_data, "dtype is {}, expected F32, BF16 or F16", name(tensor.dtype));
  }
  const size_t element = size_bytes(tensor.dtype);
  if (tensor.bytes.size() != out.size() * element) {
    return error(StatusCode::corrupt_data, "{} elements, expected {}", tensor.bytes.size() / element, out.size());
  }
  if (tensor.dtype == DType::f32) {
    std::memcpy(out.data(), tensor.bytes.data(), tensor.bytes.size());
    return {};
  }
  for (size_t i = 0; i < out.size(); ++i) {
    uint16_t bits = 0;
    std::memcpy(&bits, tensor.bytes.data() + i * sizeof bits, sizeof bits);
    out[i] = tensor.dtype == DType::bf16 ? bf16_to_float(bits) : f16_to_float(bits);
  }
  return {};
}

}  // namespace tessera::format
