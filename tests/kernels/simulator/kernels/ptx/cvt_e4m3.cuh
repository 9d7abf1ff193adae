#pragma once

#include "base/dtype.h"
#include "format/e4m3.h"

namespace tessera::kernels::ptx {

inline uint32_t cvt_bf16x2_e4m3x2(uint32_t codes) {
  const auto bf16 = [](uint32_t code) {
    return uint32_t{float_to_bf16(format::decode_e4m3(static_cast<uint8_t>(code & 0xffU)))};
  };
  return bf16(codes) | bf16(codes >> 8) << 16;
}
inline uint32_t cvt_e4m3x2(float high, float low) {
  return uint32_t{format::encode_e4m3(low)} | uint32_t{format::encode_e4m3(high)} << 8;
}

}  // namespace tessera::kernels::ptx
