// Decodes lines of a packed weight (cpu/weight.h) to fp32 vectors whose lanes are the 16 rows of a block.

#if defined(TESSERA_KERNELS_CPU_DECODE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_KERNELS_CPU_DECODE_INL_H_
#undef TESSERA_KERNELS_CPU_DECODE_INL_H_
#else
#define TESSERA_KERNELS_CPU_DECODE_INL_H_
#endif

#include "format/matrix.h"
#include "kernels/cpu/simd_math-inl.h"
#include "kernels/cpu/weight.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::kernels::cpu {
namespace HWY_NAMESPACE {

using format::WeightFormat;

/// Part `part` of the 16 words that begin at `line` + `offset` bytes.
HWY_INLINE VU load_words(const uint8_t* line, size_t part, size_t offset = 0) {
  return hn::BitCast(DU(), hn::LoadU(hn::Repartition<uint8_t, DU>(), line + part * kPartLanes * 4 + offset));
}

/// fp32 bits of 2^9 times the E2M1 values 0, 0.5, 1, 1.5, 2, 3, 4, 6; then their negatives. The low half is 0.
alignas(64) inline constexpr float kE2m1Times512[16] = {0.0F,     256.0F,   512.0F,   768.0F,  1024.0F, 1536.0F,
                                                        2048.0F,  3072.0F,  -0.0F,    -256.0F, -512.0F, -768.0F,
                                                        -1024.0F, -1536.0F, -2048.0F, -3072.0F};

/// 2^9 times the E2M1 code in bits [kShift, kShift + 4) of each lane; the other bits may hold anything.
template <int kShift>
HWY_INLINE V decode_e2m1_lanes(VU bits) {
  const D d;
  const DU du;
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  // The instruction reads only the low four bits of an index, so it is built without the check of IndicesFromVec.
  const V table = hn::Load(d, kE2m1Times512);
  return hn::TableLookupLanes(table, hn::Indices512<float>{hn::ShiftRight<kShift>(bits).raw});
#elif HWY_TARGET == HWY_AVX2
  // The instruction reads three bits of an index, the magnitude. Shifted to the top the code brings its sign into place
  // and its magnitude into bits 28 to 30, where the table has been flipped by just that.
  alignas(32) static constexpr uint32_t kFlipped[8] = {0x00000000U, 0x53800000U, 0x64000000U, 0x74400000U,
                                                       0x04800000U, 0x14c00000U, 0x25000000U, 0x35400000U};
  const VU code = hn::ShiftRight<kShift>(bits);
  const VU magnitude = hn::TableLookupLanes(hn::Load(du, kFlipped), hn::Indices256<uint32_t>{code.raw});
  return hn::BitCast(d, hn::Xor(magnitude, hn::ShiftLeft<28>(code)));
#else
  // Upper two bytes of the value; index 0 gives 0 in the lower bytes.
  alignas(16) static constexpr uint8_t kByte3[16] = {0,    0x43, 0x44, 0x44, 0x44, 0x44, 0x45, 0x45,
                                                     0x80, 0xc3, 0xc4, 0xc4, 0xc4, 0xc4, 0xc5, 0xc5};
  alignas(16) static constexpr uint8_t kByte2[16] = {0, 0x80, 0, 0x40, 0x80, 0xc0, 0, 0x40,
                                                     0, 0x80, 0, 0x40, 0x80, 0xc0, 0, 0x40};
  const hn::Repartition<uint8_t, DU> d8;
  const VU code = hn::And(hn::ShiftRight<kShift>(bits), hn::Set(du, 0xfU));
  // Each byte of the word looks up; the words' upper bytes look up entry 0 and are shifted out.
  const VU byte3 = hn::BitCast(du, hn::TableLookupBytes(hn::LoadDup128(d8, kByte3), hn::BitCast(d8, code)));
  const VU byte2 = hn::BitCast(du, hn::TableLookupBytes(hn::LoadDup128(d8, kByte2), hn::BitCast(d8, code)));
  return hn::BitCast(d, hn::Or(hn::ShiftLeft<24>(byte3), hn::ShiftLeft<16>(byte2)));
#endif
}

/// Scales of block kBlock out of a line of scales: NVFP4's divided by 2^9, MXFP4's as they are.
template <WeightFormat kFormat, int kBlock>
HWY_INLINE F32x16 decode_scales(const uint8_t* line) {
  const DU du;
  F32x16 scales;
  TESSERA_UNROLL
  for (size_t part = 0; part < kParts; ++part) {
    const VU bytes = load_words(line, part);
    if constexpr (kFormat == WeightFormat::nvfp4) {
      const VU moved =
          kBlock < 3 ? hn::ShiftLeft < kBlock < 3 ? 20 - 8 * kBlock : 0 > (bytes) : hn::ShiftRight<4>(bytes);
      // Exponents 109 to 126 are 0b011xxxxx.
      scales.part[part] = hn::BitCast(D(), hn::OrAnd(hn::Set(du, 0x30000000U), moved, hn::Set(du, 0x0ff00000U)));
    } else {
      const VU moved =
          kBlock < 3 ? hn::ShiftLeft < kBlock < 3 ? 23 - 8 * kBlock : 0 > (bytes) : hn::ShiftRight<1>(bytes);
      const VU power = hn::And(moved, hn::Set(du, 0x7f800000U));
      // Byte 0 is 2^-127, a subnormal.
      scales.part[part] = hn::BitCast(D(), hn::Max(power, hn::Set(du, 0x00400000U)));
    }
  }
  return scales;
}

/// Columns that one step decodes: two, the only one of an f32 word, or all four of an FP8 word where one vector holds
/// them.
template <WeightFormat kFormat>
inline constexpr int kStepColumns = kFormat == WeightFormat::f32                      ? 1
                                    : kFormat == WeightFormat::fp8_e4m3&& kParts == 1 ? 4
                                                                                      : 2;

/// Step kStep of the word at `line` for lanes [part * kPartLanes, ...) of a block: fp32 values of columns
/// kStep * kStepColumns and following.
template <WeightFormat kFormat, int kStep>
HWY_INLINE void decode_step(const uint8_t* line, size_t part, V* columns) {
  const D d;
  if constexpr (kFormat == WeightFormat::f32) {
    columns[0] = hn::BitCast(d, load_words(line, part));
  } else if constexpr (kFormat == WeightFormat::bf16) {
    const VU words = load_words(line, part);
    columns[0] = hn::BitCast(d, hn::ShiftLeft<16>(words));
    columns[1] = hn::BitCast(d, hn::And(words, hn::Set(DU(), 0xffff0000U)));
  } else if constexpr (kFormat == WeightFormat::f16) {
    const hn::Rebind<hwy::float16_t, D> d16;
    const auto* halves = reinterpret_cast<const hwy::float16_t*>(line) + part * kPartLanes;
    columns[0] = from_half(hn::LoadU(d16, halves));
    columns[1] = from_half(hn::LoadU(d16, halves + 16));
  } else if constexpr (kFormat == WeightFormat::fp8_e4m3) {
    // s eeee mmm in the upper byte of a 16-bit lane, moved right by one and the copy of s cleared, is a binary16.
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
    const hn::ScalableTag<int16_t> di16;  // the whole line
    const hn::Half<hn::ScalableTag<hwy::float16_t>> d16;
#else
    const hn::Rebind<int16_t, D> di16;
    const hn::Rebind<hwy::float16_t, D> d16;
#endif
    const auto mask = hn::Set(di16, static_cast<int16_t>(0xbf80));
    const auto both = hn::LoadU(di16, reinterpret_cast<const int16_t*>(line) + kStep * 16 + part * kPartLanes);
    const auto even = hn::And(hn::ShiftRight<1>(hn::ShiftLeft<8>(both)), mask);
    const auto odd = hn::And(hn::ShiftRight<1>(both), mask);
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
    const hn::Half<decltype(di16)> half;
    columns[0] = from_half(hn::BitCast(d16, hn::LowerHalf(half, even)));
    columns[1] = from_half(hn::BitCast(d16, hn::LowerHalf(half, odd)));
    columns[2] = from_half(hn::BitCast(d16, hn::UpperHalf(half, even)));
    columns[3] = from_half(hn::BitCast(d16, hn::UpperHalf(half, odd)));
#else
    columns[0] = from_half(hn::BitCast(d16, even));
    columns[1] = from_half(hn::BitCast(d16, odd));
#endif
  } else {
    // A load that begins kStep bytes later brings the next two codes down for free.
    const VU bits = load_words(line, part, kStep);
    columns[0] = decode_e2m1_lanes<0>(bits);
    columns[1] = decode_e2m1_lanes<4>(bits);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tessera::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, once per target
