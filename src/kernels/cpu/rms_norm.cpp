#include "kernels/cpu/parallel.h"
#include "kernels/linear.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rms_norm.cpp"
#include "hwy/foreach_target.h"
#include "kernels/cpu/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::kernels::cpu {
namespace HWY_NAMESPACE {

void norm_rows(const RmsNormArgs& args, int64_t begin, int64_t end, bool to_bf16) {
  for (int64_t row = begin; row < end; ++row) {
    rms_norm_row(args.x + row * args.x_stride, args.weight, args.n, args.eps, to_bf16, args.out + row * args.n);
  }
}

void add_norm_rows(const AddNormArgs& args, int64_t begin, int64_t end, bool to_bf16) {
  for (int64_t row = begin; row < end; ++row) {
    float* residual = args.residual + row * args.n;
    for (int64_t i = 0; args.delta != nullptr && i < args.n; i += 16) {
      const int64_t n = args.n - i;
      const F32x16 sum = add(load_n(residual + i, n), load_n(args.delta + row * args.n + i, n));
      store_n(round_if(to_bf16, sum), n, residual + i);
    }
    rms_norm_row(residual, args.weight, args.n, args.eps, to_bf16, args.out + row * args.n);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tessera::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::kernels {
namespace cpu {
HWY_EXPORT(norm_rows);
HWY_EXPORT(add_norm_rows);
}  // namespace cpu

void rms_norm(const Context& context, const RmsNormArgs& args) {
  using namespace cpu;
  const auto norm = HWY_DYNAMIC_DISPATCH(norm_rows);
  parallel_ranges(context, args.rows,
                  [&](int64_t begin, int64_t end, int) { norm(args, begin, end, context.compute == Compute::bf16); });
}

void add_norm(const Context& context, const AddNormArgs& args) {
  using namespace cpu;
  const auto norm = HWY_DYNAMIC_DISPATCH(add_norm_rows);
  parallel_ranges(context, args.rows,
                  [&](int64_t begin, int64_t end, int) { norm(args, begin, end, context.compute == Compute::bf16); });
}

}  // namespace tessera::kernels
#endif
