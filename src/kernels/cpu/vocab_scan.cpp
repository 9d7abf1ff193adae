#include "kernels/cpu/vocab_scan.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/vocab_scan.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

bool BlockMaxima(std::span<const float> logits, float* maxima) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto size = static_cast<int64_t>(logits.size());
  const auto lowest = hn::Set(d, -std::numeric_limits<float>::infinity());
  const auto limit = hn::Set(d, std::numeric_limits<float>::max());
  bool good = true;
  for (int64_t first = 0; first < size; first += kScanBlock) {
    const int64_t end = std::min(first + kScanBlock, size);
    auto max = lowest;
    auto all_below = hn::Le(lowest, limit);  // x <= largest finite, of all x: false for NaN and +inf
    int64_t i = first;
    for (; i + lanes <= end; i += lanes) {
      const auto x = hn::LoadU(d, logits.data() + i);
      all_below = hn::And(all_below, hn::Le(x, limit));
      max = hn::Max(max, x);
    }
    float tail = hn::GetLane(hn::MaxOfLanes(d, max));
    good &= hn::AllTrue(d, all_below);
    for (; i < end; ++i) {
      good &= logits[static_cast<size_t>(i)] <= std::numeric_limits<float>::max();
      tail = std::max(tail, logits[static_cast<size_t>(i)]);
    }
    maxima[first / kScanBlock] = tail;
  }
  return good;
}

void ExpWeights(const float* logits, int64_t count, double max, double inv_temperature, double* weights) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto v_max = hn::Set(d, max);
  const auto v_scale = hn::Set(d, inv_temperature);
  const auto lowest = hn::Set(d, -700.0);  // exp(-700) is the end of the normal range; below it the weight is 0
  const auto weigh = [&](const float* in) HWY_ATTR {
    const auto x = hn::Mul(hn::Sub(hn::PromoteTo(d, hn::LoadU(df, in)), v_max), v_scale);
    return hn::IfThenElseZero(hn::Ge(x, lowest), hn::Exp(d, hn::Max(x, lowest)));
  };
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(weigh(logits + i), d, weights + i);
  if (i == count) return;
  HWY_ALIGN float in[HWY_MAX_BYTES / sizeof(double)] = {};
  HWY_ALIGN double out[HWY_MAX_BYTES / sizeof(double)];
  std::copy(logits + i, logits + count, in);
  hn::StoreU(weigh(in), d, out);
  std::copy(out, out + (count - i), weights + i);
}

/// High and low halves of a * b, lane by lane; the lanes of b are all equal.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void MultiplyWide(D d, V a, V b, V& high, V& low) {
  const hn::RepartitionToWide<D> dw;
  const auto even = hn::BitCast(d, hn::MulEven(a, b));  // (low, high) pairs of lanes 0, 2, ...
  const auto odd = hn::BitCast(d, hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(dw, a))), b));
  low = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(hn::BitCast(dw, odd))), even);
  high = hn::OddEven(odd, hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(dw, even))));
}

/// Philox on counters (first, first + 1, ...), one in each lane.
template <class D, class V = hn::Vec<D>>
struct PhiloxLanes {
  PhiloxLanes(D d, const NoiseStream& stream, uint32_t first)
      : c0(hn::Iota(d, first)),
        c1(hn::Set(d, static_cast<uint32_t>(stream.position))),
        c2(hn::Set(d, static_cast<uint32_t>(stream.position >> 32))),
        c3(hn::Set(d, stream.choice)) {}

  HWY_INLINE void Round(D d, uint32_t k0, uint32_t k1) {
    V high0, low0, high1, low1;
    MultiplyWide(d, c0, hn::Set(d, kPhiloxM0), high0, low0);
    MultiplyWide(d, c2, hn::Set(d, kPhiloxM1), high1, low1);
    c0 = hn::Xor(hn::Xor(high1, c1), hn::Set(d, k0));
    c2 = hn::Xor(hn::Xor(high0, c3), hn::Set(d, k1));
    c1 = low1;
    c3 = low0;
  }
  HWY_INLINE V Largest() const { return hn::Max(hn::Max(c0, c1), hn::Max(c2, c3)); }

  V c0, c1, c2, c3;
};

uint32_t NoiseBlock(const NoiseStream& stream, int32_t first, uint32_t* bits) {
  // 256 ids are 64 counters; two vectors of them at a time, because a round waits for the one before it.
  const hn::CappedTag<uint32_t, 16> d;
  const auto lanes = static_cast<uint32_t>(hn::Lanes(d));
  auto largest = hn::Zero(d);
  for (uint32_t i = 0; i < kScanBlock / 4; i += 2 * lanes) {
    const uint32_t counter = static_cast<uint32_t>(first) / 4 + i;
    PhiloxLanes<decltype(d)> a(d, stream, counter), b(d, stream, counter + lanes);
    auto k0 = static_cast<uint32_t>(stream.key);
    auto k1 = static_cast<uint32_t>(stream.key >> 32);
    for (int round = 0; round < kPhiloxRounds; ++round) {
      a.Round(d, k0, k1);
      b.Round(d, k0, k1);
      k0 += kPhiloxW0;
      k1 += kPhiloxW1;
    }
    largest = hn::Max(largest, hn::Max(a.Largest(), b.Largest()));
    hn::StoreInterleaved4(a.c0, a.c1, a.c2, a.c3, d, bits + size_t{4} * i);
    hn::StoreInterleaved4(b.c0, b.c1, b.c2, b.c3, d, bits + size_t{4} * (i + lanes));
  }
  return hn::GetLane(hn::MaxOfLanes(d, largest));
}

}  // namespace tessera::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::kernels {

HWY_EXPORT(BlockMaxima);
HWY_EXPORT(ExpWeights);
HWY_EXPORT(NoiseBlock);

bool block_maxima(std::span<const float> logits, float* maxima) {
  return HWY_DYNAMIC_DISPATCH(BlockMaxima)(logits, maxima);
}

void exp_weights(const float* logits, int64_t count, double max, double inv_temperature, double* weights) {
  HWY_DYNAMIC_DISPATCH(ExpWeights)(logits, count, max, inv_temperature, weights);
}

uint32_t noise_block(const NoiseStream& stream, int32_t first, uint32_t* bits) {
  return HWY_DYNAMIC_DISPATCH(NoiseBlock)(stream, first, bits);
}

}  // namespace tessera::kernels
#endif
