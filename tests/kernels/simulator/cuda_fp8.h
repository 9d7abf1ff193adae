#pragma once

#include "format/e4m3.h"

// The one conversion that kernels take from CUDA's header, from ours.
enum __nv_saturation_t { __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3 };

inline uint8_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t, __nv_fp8_interpretation_t) {
  return static_cast<uint8_t>(tessera::format::encode_e4m3(x));
}
