#include "format/decode_floats.h"

#include <vector>

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
  if (tensor.dtype == DType::f32) return copy_bytes(tensor.file, tensor.bytes, std::as_writable_bytes(out).data());
  std::vector<uint16_t> stored(out.size());
  TESSERA_RETURN_IF_ERROR(copy_bytes(tensor.file, tensor.bytes, std::as_writable_bytes(std::span(stored)).data()));
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = tensor.dtype == DType::bf16 ? bf16_to_float(stored[i]) : f16_to_float(stored[i]);
  }
  return {};
}

}  // namespace tessera::format
