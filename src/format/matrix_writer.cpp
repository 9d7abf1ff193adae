#include "format/matrix_writer.h"

#include "base/check.h"

namespace tessera::format {

std::vector<SafetensorsWriter::Declaration> declare_matrix(Dialect dialect, const std::string& module,
                                                           WeightFormat format, int64_t rows, int64_t cols) {
  const bool modelopt = dialect == Dialect::modelopt;
  const std::vector<int64_t> scalar = modelopt ? std::vector<int64_t>{} : std::vector<int64_t>{1};
  switch (format) {
    case WeightFormat::f32: return {{module + ".weight", DType::f32, {rows, cols}}};
    case WeightFormat::f16: return {{module + ".weight", DType::f16, {rows, cols}}};
    case WeightFormat::bf16: return {{module + ".weight", DType::bf16, {rows, cols}}};
    case WeightFormat::fp8_e4m3:
      return {{module + ".weight", DType::f8_e4m3, {rows, cols}}, {module + ".weight_scale", DType::f32, scalar}};
    case WeightFormat::nvfp4:
      TESSERA_CHECK_EQ(cols % 16, 0);
      return {{module + (modelopt ? ".weight" : ".weight_packed"), DType::u8, {rows, cols / 2}},
              {module + ".weight_scale", DType::f8_e4m3, {rows, cols / 16}},
              {module + (modelopt ? ".weight_scale_2" : ".weight_global_scale"), DType::f32, scalar}};
    case WeightFormat::mxfp4:
      TESSERA_CHECK_EQ(cols % 32, 0);
      return {{module + ".weight_packed", DType::u8, {rows, cols / 2}},
              {module + ".weight_scale", DType::u8, {rows, cols / 32}}};
  }
  return {};
}

float stored_scale(Dialect dialect, WeightFormat format, float multiplier) {
  return dialect == Dialect::compressed_tensors && format == WeightFormat::nvfp4 ? 1.0F / multiplier : multiplier;
}

}  // namespace tessera::format
