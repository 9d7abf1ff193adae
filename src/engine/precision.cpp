#include "engine/precision.h"

namespace tessera::engine {

Expected<Precision> parse_precision(const std::string& compute, const std::string& kv_cache_dtype) {
  Precision precision;
  if (compute == "fp32") {
    precision.compute = kernels::Compute::f32;
  } else if (compute != "bf16") {
    return error(StatusCode::invalid_argument, "compute is '{}'; it must be bf16 or fp32", compute);
  }
  if (kv_cache_dtype == "bfloat16") {
    precision.kv_dtype = DType::bf16;
  } else if (kv_cache_dtype == "fp8") {
    precision.kv_dtype = DType::f8_e4m3;
  } else if (kv_cache_dtype != "auto") {
    return error(StatusCode::invalid_argument, "kv_cache_dtype is '{}'; it must be auto, bfloat16 or fp8",
                 kv_cache_dtype);
  }
  if (precision.compute != kernels::Compute::f32) return precision;
  if (precision.kv_dtype) {
    return error(StatusCode::invalid_argument, "kv_cache_dtype is '{}', but compute fp32 keeps KV in float32; use auto",
                 kv_cache_dtype);
  }
  precision.kv_dtype = DType::f32;
  return precision;
}

std::string_view kv_dtype_name(DType dtype) {
  return dtype == DType::f32 ? "float32" : dtype == DType::f8_e4m3 ? "fp8" : "bfloat16";
}

}  // namespace tessera::engine
