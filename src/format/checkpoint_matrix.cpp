#include <algorithm>
#include <cmath>

#include "format/checkpoint.h"
#include "format/decode_floats.h"
#include "format/printable.h"
#include "format/row_scales.h"

// From stored tensors to MatrixView: the dialects are told apart here, and nowhere else.
namespace tessera::format {
namespace {

std::string describe(const TensorView& tensor) {
  return fmt::format("{} [{}]", name(tensor.dtype), fmt::join(tensor.shape, ", "));
}

bool is_plain(DType dtype) { return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16; }

WeightFormat plain_format(DType dtype) {
  return dtype == DType::f32 ? WeightFormat::f32 : dtype == DType::f16 ? WeightFormat::f16 : WeightFormat::bf16;
}

bool is_scalar(const std::vector<int64_t>& shape) {
  return std::all_of(shape.begin(), shape.end(), [](int64_t dim) { return dim == 1; });
}

/// Scales multiply weights: zero or less, infinity and NaN are faults of the file.
Status check_scale(float scale) {
  if (std::isfinite(scale) && scale > 0) return {};
  return error(StatusCode::corrupt_data, "is {}; a scale must be finite and positive", scale);
}

MatrixView plain_matrix(const TensorView& tensor) {
  MatrixView view;
  view.format = plain_format(tensor.dtype);
  view.rows = tensor.shape[0];
  view.cols = tensor.shape[1];
  view.data = tensor.bytes.data();
  view.file = tensor.file;
  return view;
}

}  // namespace

bool Checkpoint::has_matrix(const std::string& module) const {
  return has(module + ".weight") || has(module + ".weight_packed");
}

Expected<MatrixView> Checkpoint::matrix(const std::string& module) const {
  TESSERA_ASSIGN_OR_RETURN(MatrixView view, stored_matrix(module));
  TESSERA_RETURN_IF_ERROR(read_scales(module, view));
  return view;
}

Status Checkpoint::read_scales(const std::string& module, MatrixView& view) const {
  if (view.format == WeightFormat::nvfp4) return read_tensor_scale(module, view);
  if (view.format == WeightFormat::fp8_e4m3) return read_fp8_scales(module, view);
  return {};
}

Expected<MatrixView> Checkpoint::stored_matrix(const std::string& module) const {
  const std::string packed_name = module + ".weight_packed";
  const std::string weight_name = module + ".weight";
  if (has(packed_name)) {
    if (has(weight_name)) {
      return error(StatusCode::corrupt_data, "module '{}' has both weight and weight_packed", printable(module));
    }
    return packed_matrix(module, packed_name);
  }
  TESSERA_ASSIGN_OR_RETURN(const TensorView weight, tensor(weight_name));
  if (weight.shape.size() != 2) {
    return error(StatusCode::corrupt_data, "'{}' is {}; a matrix [rows, cols] was expected", printable(weight_name),
                 describe(weight));
  }
  if (weight.dtype == DType::u8) return packed_matrix(module, weight_name);
  if (weight.dtype == DType::f8_e4m3) return fp8_matrix(module, weight);
  if (is_plain(weight.dtype)) return plain_matrix(weight);
  return error(StatusCode::unsupported, "'{}' is {}; BF16, F16, F32, F8_E4M3 or U8 (two 4-bit codes) were expected",
               printable(weight_name), describe(weight));
}

Expected<MatrixView> Checkpoint::packed_matrix(const std::string& module, const std::string& codes_name) const {
  TESSERA_ASSIGN_OR_RETURN(const TensorView codes, tensor(codes_name));
  if (codes.dtype != DType::u8 || codes.shape.size() != 2 || codes.shape[1] > INT64_MAX / 2) {
    return error(StatusCode::unsupported, "'{}' is {}; 4-bit floats packed as U8 [rows, cols / 2] were expected",
                 printable(codes_name), describe(codes));
  }
  const std::string scales_name = module + ".weight_scale";
  TESSERA_ASSIGN_OR_RETURN(const TensorView scales, tensor(scales_name));
  MatrixView view;
  view.format = scales.dtype == DType::f8_e4m3 ? WeightFormat::nvfp4 : WeightFormat::mxfp4;
  view.rows = codes.shape[0];
  view.cols = codes.shape[1] * 2;
  view.data = codes.bytes.data();
  view.block_scales = scales.bytes.data();
  view.file = codes.file;
  view.scales_file = scales.file;
  const bool known_scale =
      scales.dtype == DType::f8_e4m3 || scales.dtype == DType::f8_e8m0 || scales.dtype == DType::u8;
  const int64_t group = group_size(view.format);
  const std::vector<int64_t> expected = {view.rows, view.cols / group};
  if (!known_scale || view.cols % group != 0 || scales.shape != expected) {
    return error(StatusCode::unsupported,
                 "'{}' is {}; with codes for [{}, {}], NVFP4 has F8_E4M3 [rows, cols / 16] and MXFP4 U8 or F8_E8M0 "
                 "[rows, cols / 32]",
                 printable(scales_name), describe(scales), view.rows, view.cols);
  }

  const std::string divisor_name = module + ".weight_global_scale";
  const std::string multiplier_name = module + ".weight_scale_2";
  if (view.format == WeightFormat::mxfp4) {
    for (const std::string& name : {divisor_name, multiplier_name}) {
      if (has(name)) {
        return error(StatusCode::unsupported, "'{}' stands beside block scales of MXFP4, which has no tensor scale",
                     printable(name));
      }
    }
    return view;
  }
  if (has(divisor_name) == has(multiplier_name)) {
    return error(StatusCode::corrupt_data,
                 "module '{}' is NVFP4 and has {} weight_global_scale (compressed-tensors) and weight_scale_2 "
                 "(ModelOpt); one of them was expected",
                 printable(module), has(divisor_name) ? "both" : "neither");
  }
  return view;
}

Status Checkpoint::read_tensor_scale(const std::string& module, MatrixView& view) const {
  const std::string divisor_name = module + ".weight_global_scale";
  if (!has(divisor_name)) {
    TESSERA_ASSIGN_OR_RETURN(view.scale, tensor_scale(module + ".weight_scale_2"));
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(const float divisor, tensor_scale(divisor_name));
  view.scale = 1.0F / divisor;
  return check_scale(view.scale).with_context(fmt::format("1 / '{}'", printable(divisor_name)));
}

Expected<float> Checkpoint::tensor_scale(const std::string& scale_name) const {
  TESSERA_ASSIGN_OR_RETURN(const TensorView stored, tensor(scale_name));
  if (stored.dtype != DType::f32 || !is_scalar(stored.shape)) {
    return error(StatusCode::corrupt_data, "'{}' is {}; one F32 number was expected", printable(scale_name),
                 describe(stored));
  }
  float scale = 0;
  TESSERA_RETURN_IF_ERROR(decode_floats(stored, {&scale, 1}).with_context(printable(scale_name)));
  TESSERA_RETURN_IF_ERROR(check_scale(scale).with_context(fmt::format("'{}'", printable(scale_name))));
  return scale;
}

Expected<MatrixView> Checkpoint::fp8_matrix(const std::string& module, const TensorView& weight) const {
  const std::string scale_name = module + ".weight_scale";
  if (has(scale_name + "_inv")) {
    return error(StatusCode::unsupported,
                 "'{}_inv': FP8 with a scale per 128 x 128 block (DeepSeek's form) is not supported yet; FP8 per "
                 "tensor or per row is",
                 printable(scale_name));
  }
  TESSERA_ASSIGN_OR_RETURN(const TensorView stored, tensor(scale_name));
  MatrixView view;
  view.format = WeightFormat::fp8_e4m3;
  view.rows = weight.shape[0];
  view.cols = weight.shape[1];
  view.data = weight.bytes.data();
  view.file = weight.file;
  const bool per_row =
      stored.shape == std::vector<int64_t>{view.rows} || stored.shape == std::vector<int64_t>{view.rows, 1};
  if (!is_plain(stored.dtype) || !(is_scalar(stored.shape) || per_row)) {
    return error(StatusCode::unsupported,
                 "'{}' is {}; for FP8 weights [{}, {}] a number or one per row was expected, in F32, F16 or BF16",
                 printable(scale_name), describe(stored), view.rows, view.cols);
  }
  return view;
}

Status Checkpoint::read_fp8_scales(const std::string& module, MatrixView& view) const {
  const std::string scale_name = module + ".weight_scale";
  TESSERA_ASSIGN_OR_RETURN(const TensorView stored, tensor(scale_name));
  std::vector<float> values(is_scalar(stored.shape) ? size_t{1} : static_cast<size_t>(view.rows));
  TESSERA_RETURN_IF_ERROR(decode_floats(stored, values).with_context(printable(scale_name)));
  for (size_t i = 0; i < values.size(); ++i) {
    TESSERA_RETURN_IF_ERROR(check_scale(values[i]).with_context(fmt::format("'{}'[{}]", printable(scale_name), i)));
  }
  if (values.size() == 1) {
    view.scale = values[0];
    return {};
  }
  const std::lock_guard lock(row_scales_->mutex);
  std::vector<float>& scales = row_scales_->by_module[module];
  if (scales.empty()) scales = std::move(values);
  view.row_scales = scales;
  return {};
}

Expected<MatrixView> Checkpoint::fused_matrix(const std::string& name, int64_t expert, int64_t first_row,
                                              int64_t rows) const {
  TESSERA_ASSIGN_OR_RETURN(const TensorView fused, tensor(name));
  if (!is_plain(fused.dtype) || fused.shape.size() != 3) {
    return error(StatusCode::unsupported, "'{}' is {}; BF16, F16 or F32 [experts, rows, cols] was expected",
                 printable(name), describe(fused));
  }
  const int64_t experts = fused.shape[0];
  const int64_t all_rows = fused.shape[1];
  if (expert < 0 || expert >= experts || first_row < 0 || rows < 0 || first_row > all_rows ||
      rows > all_rows - first_row) {
    return error(StatusCode::invalid_argument, "'{}' is {}: it has no rows [{}, {} + {}) of expert {}", printable(name),
                 describe(fused), first_row, first_row, rows, expert);
  }
  MatrixView view;
  view.format = plain_format(fused.dtype);
  view.rows = rows;
  view.cols = fused.shape[2];
  const size_t rows_before =
      static_cast<size_t>(expert) * static_cast<size_t>(all_rows) + static_cast<size_t>(first_row);
  view.data = fused.bytes.data() + rows_before * row_bytes(view.format, view.cols);
  view.file = fused.file;
  return view;
}

}  // namespace tessera::format
