#include "kernels/cpu/vocab_scan.h"

#include <algorithm>
#include <array>

#include "kernels/sample_math.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/vocab_scan.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

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

/// spelt::depth, exp_minus and mass, operation by operation, on a vector.
template <class D, class V = hn::Vec<D>>
struct DepthLanes {
  DepthLanes(D d, float max, float by) : largest(hn::Set(d, max)), inverse(hn::Set(d, by)) {}

  HWY_INLINE V Depth(V logit) const { return hn::Mul(hn::Sub(largest, logit), inverse); }

  HWY_INLINE V ExpMinus(D d, V depth) const {
    const hn::RebindToUnsigned<D> du;
    const auto x = hn::Min(depth, hn::Set(d, 40.0F));
    const auto shifter = hn::Set(d, 12582912.0F);
    const auto shifted = hn::Sub(shifter, hn::Mul(x, hn::Set(d, 1.44269504F)));
    const auto n = hn::Sub(shifted, shifter);
    const auto high = hn::Sub(hn::Sub(hn::Zero(d), x), hn::Mul(n, hn::Set(d, 0.693145752F)));
    const auto r = hn::Sub(high, hn::Mul(n, hn::Set(d, 1.42860682e-6F)));
    auto p = hn::Add(hn::Mul(hn::Set(d, 0.00138145596F), r), hn::Set(d, 0.008368745094F));
    p = hn::Add(hn::Mul(p, r), hn::Set(d, 0.04166839044F));
    p = hn::Add(hn::Mul(p, r), hn::Set(d, 0.166665204F));
    p = hn::Add(hn::Mul(p, r), hn::Set(d, 0.4999999343F));
    p = hn::Add(hn::Mul(p, hn::Mul(r, r)), r);
    p = hn::Add(p, hn::Set(d, 1.0F));
    return hn::BitCast(d, hn::Add(hn::BitCast(du, p), hn::ShiftLeft<23>(hn::BitCast(du, shifted))));
  }

  /// Of the lower and of the upper half of the lanes.
  template <class Wide = hn::RepartitionToWide<hn::RebindToUnsigned<D>>>
  HWY_INLINE void Masses(D d, V depth, hn::Vec<Wide>& lower, hn::Vec<Wide>& upper) const {
    const hn::RebindToUnsigned<D> du;
    const hn::Half<decltype(du)> dh;
    const Wide dw;
    const auto bits = hn::BitCast(du, ExpMinus(d, depth));
    const auto significand = hn::Or(hn::And(bits, hn::Set(du, 0x7fffffU)), hn::Set(du, 0x800000U));
    const auto by = hn::Sub(hn::Set(du, 127U), hn::ShiftRight<23>(bits));
    constexpr int kShift = spelt::kMassBits - 23;
    const auto scale = [&](auto half, auto half_by) HWY_ATTR {
      return hn::Shr(hn::ShiftLeft<kShift>(hn::PromoteTo(dw, half)), hn::PromoteTo(dw, half_by));
    };
    lower = scale(hn::LowerHalf(dh, significand), hn::LowerHalf(dh, by));
    upper = scale(hn::UpperHalf(dh, significand), hn::UpperHalf(dh, by));
  }

  V largest, inverse;
};

void Weigh(const float* logits, int64_t count, float largest, float inverse, uint64_t* masses, int32_t* buckets) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::RepartitionToWide<hn::RebindToUnsigned<decltype(d)>> dw;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const DepthLanes<decltype(d)> from(d, largest, inverse);
  const auto last = hn::Set(d, static_cast<float>(spelt::kBuckets - 1));
  const auto weigh = [&](const float* in, uint64_t* mass, int32_t* bucket) HWY_ATTR {
    const auto depth = from.Depth(hn::LoadU(d, in));
    hn::Vec<decltype(dw)> lower, upper;
    from.Masses(d, depth, lower, upper);
    hn::StoreU(lower, dw, mass);
    hn::StoreU(upper, dw, mass + lanes / 2);
    const auto steps = hn::Mul(depth, hn::Set(d, static_cast<float>(spelt::kBucketsPerUnit)));
    hn::StoreU(hn::ConvertTo(di, hn::Min(steps, last)), di, bucket);
  };
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) weigh(logits + i, masses + i, buckets + i);
  if (i == count) return;
  HWY_ALIGN float in[HWY_MAX_BYTES / sizeof(float)] = {};
  HWY_ALIGN uint64_t mass[HWY_MAX_BYTES / sizeof(float)];
  HWY_ALIGN int32_t bucket[HWY_MAX_BYTES / sizeof(float)];
  std::copy(logits + i, logits + count, in);
  weigh(in, mass, bucket);
  std::copy(mass, mass + (count - i), masses + i);
  std::copy(bucket, bucket + (count - i), buckets + i);
}

uint64_t TotalMass(std::span<const float> logits, float largest) {
  const hn::ScalableTag<float> d;
  const hn::RepartitionToWide<hn::RebindToUnsigned<decltype(d)>> dw;
  const auto lanes = hn::Lanes(d);
  const DepthLanes<decltype(d)> from(d, largest, 1.0F);
  auto sum = hn::Zero(dw);
  const auto add = [&](hn::Vec<decltype(d)> x) HWY_ATTR {
    hn::Vec<decltype(dw)> lower, upper;
    from.Masses(d, from.Depth(x), lower, upper);
    sum = hn::Add(sum, hn::Add(lower, upper));
  };
  size_t i = 0;
  for (; i + lanes <= logits.size(); i += lanes) add(hn::LoadU(d, logits.data() + i));
  if (i < logits.size()) {
    HWY_ALIGN std::array<float, HWY_MAX_BYTES / sizeof(float)> in;
    in.fill(-std::numeric_limits<float>::infinity());
    std::copy(logits.begin() + static_cast<std::ptrdiff_t>(i), logits.end(), in.begin());
    add(hn::Load(d, in.data()));
  }
  return hn::GetLane(hn::SumOfLanes(dw, sum));
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
HWY_EXPORT(Weigh);
HWY_EXPORT(TotalMass);
HWY_EXPORT(NoiseBlock);

bool block_maxima(std::span<const float> logits, float* maxima) {
  return HWY_DYNAMIC_DISPATCH(BlockMaxima)(logits, maxima);
}

void weigh(const float* logits, int64_t count, float largest, float inverse, uint64_t* masses, int32_t* buckets) {
  HWY_DYNAMIC_DISPATCH(Weigh)(logits, count, largest, inverse, masses, buckets);
}

uint64_t total_mass(std::span<const float> logits, float largest) {
  return HWY_DYNAMIC_DISPATCH(TotalMass)(logits, largest);
}

uint32_t noise_block(const NoiseStream& stream, int32_t first, uint32_t* bits) {
  return HWY_DYNAMIC_DISPATCH(NoiseBlock)(stream, first, bits);
}

}  // namespace tessera::kernels
#endif
