#include "kernels/linear.h"

#include <cstring>

#include "base/check.h"
#include "kernels/cpu/matmul.h"
#include "kernels/cpu/parallel.h"

namespace tessera::kernels {
namespace {

struct Rows {
  const float* data = nullptr;
  int64_t stride = 0;
};

/// Copies the rows that `index` names, side by side.
Rows gather(const Context& context, const Rows& x, std::span<const int32_t> index, int64_t k, float* to) {
  cpu::parallel_ranges(context, static_cast<int64_t>(index.size()), [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      std::memcpy(to + row * k, x.data + index[static_cast<size_t>(row)] * x.stride,
                  static_cast<size_t>(k) * sizeof(float));
    }
  });
  return {to, k};
}

}  // namespace

void linear(const Context& context, const LinearArgs& args) {
  if (args.outputs.empty() || args.rows <= 0) return;
  TESSERA_CHECK(args.row_index.empty() || static_cast<int64_t>(args.row_index.size()) == args.rows);
  const int64_t k = args.outputs[0].weight->cols;
  Workspace::Frame frame(*context.workspace);
  Rows x{args.x, args.x_stride};
  if (!args.row_index.empty())
    x = gather(context, x, args.row_index, k, frame.take<float>(static_cast<size_t>(args.rows * k)));
  auto* products = frame.take<cpu::Matmul>(args.outputs.size());
  for (size_t i = 0; i < args.outputs.size(); ++i) {
    const LinearOutput& output = args.outputs[i];
    TESSERA_CHECK_EQ(output.weight->cols, k);
    products[i] = {.weight = output.weight,
                   .x = x.data,
                   .x_stride = x.stride,
                   .rows = args.rows,
                   .out = output.out,
                   .out_stride = output.stride,
                   .round = args.round_output};
  }
  cpu::matmul(context, {products, args.outputs.size()});
}

}  // namespace tessera::kernels
