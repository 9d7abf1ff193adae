#include "kernels/cuda/dense.h"

#include <algorithm>

#include "base/status.h"
#include "kernels/atom.h"
#include "kernels/cuda/dense_decode.h"
#include "plan/budget.h"
#include "plan/candidates.h"
#include "plan/plan.h"
#include "plan/registers.h"

// What dense() runs. No device code.
namespace tessera::kernels::cuda {
namespace {

plan::Desc desc_of(const DenseArgs& args, const DenseMatrix& m) {
  return plan::dense_desc(m.format, m.rows, args.depth, args.rows_max);
}

bool has_norm(const DenseArgs& args) { return args.norm.residual != nullptr; }

bool norm_needs_workspace(const DenseArgs& args) { return has_norm(args) && args.norm.normed_out == nullptr; }

Status check_matrix(const DenseArgs& args, const DenseMatrix& m) {
  TESSERA_RETURN_IF_ERROR(plan::validate(desc_of(args, m)));
  const auto what = [&] { return plan::describe(desc_of(args, m)); };
  if (m.weights == nullptr || m.row_alpha == nullptr || m.out == nullptr) {
    return error(StatusCode::invalid_argument, "{}: no {}", what(),
                 m.weights == nullptr     ? "weights"
                 : m.row_alpha == nullptr ? "factors of rows"
                                          : "memory for results");
  }
  if (m.epilogue == Epilogue::swiglu && m.rows % kAtomRows != 0) {
    return error(StatusCode::unsupported, "{}: SwiGLU takes gate and up rows by 8, so M must be a multiple of {}",
                 what(), kAtomRows);
  }
  const int32_t width = m.epilogue == Epilogue::swiglu ? m.rows / 2 : m.rows;
  if (m.out_stride < width || (m.epilogue != Epilogue::f32 && m.out_stride % 8 != 0)) {
    return error(StatusCode::invalid_argument, "{}: results are {} elements apart, expected at least {}{}", what(),
                 m.out_stride, width, m.epilogue == Epilogue::f32 ? "" : " and a multiple of 8");
  }
  return {};
}

Status check_rows(const DenseArgs& args) {
  if (has_norm(args) == (args.x != nullptr)) {
    return error(StatusCode::invalid_argument, "a dense product reads x, or the residual of its norm; found {}",
                 args.x != nullptr ? "both" : "neither");
  }
  if (has_norm(args) && args.row_index != nullptr) {
    return error(StatusCode::unsupported, "a norm before a product of gathered rows: norm the rows first");
  }
  if (has_norm(args) && args.overlaps_previous) {
    return error(StatusCode::unsupported, "a norm in a product that overlaps the kernel before it");
  }
  if (args.x != nullptr && (args.x_stride < args.depth || args.x_stride % 8 != 0)) {
    return error(StatusCode::invalid_argument,
                 "rows of x are {} elements apart, expected a multiple of 8 that is at least the depth {}",
                 args.x_stride, args.depth);
  }
  if (norm_needs_workspace(args) && args.workspace == nullptr && args.rows_max > 0) {
    return error(StatusCode::invalid_argument, "a norm of {} rows needs normed_out or a workspace", args.rows_max);
  }
  return {};
}

const DenseKernel* find_kernel(const plan::Desc& desc, const plan::Tile& tile) {
  if (plan::k_segments(desc) > 1 && !plan::folds_segments(tile)) return nullptr;
  const auto all = dense_kernels(desc.format);
  const auto found = std::find_if(all.begin(), all.end(), [&](const DenseKernel& k) { return k.tile == tile; });
  return found == all.end() ? nullptr : &*found;
}

/// Matrices that share a launch: of one format, and of one number of K segments, which not every tile can sum.
struct MatrixGroup {
  const DenseMatrix* matrices[kDenseMatricesMax];
  int count = 0;
  int segments = 1;
  int64_t strips = 0;  // of all of them
};

int group_matrices(const DenseArgs& args, MatrixGroup (&groups)[kDenseMatricesMax]) {
  int count = 0;
  for (int i = 0; i < args.count; ++i) {
    const DenseMatrix& m = args.matrices[i];
    const int segments = launch_segments(args, m);
    int g = 0;
    while (g < count && (groups[g].matrices[0]->format != m.format || groups[g].segments != segments)) ++g;
    count = std::max(count, g + 1);
    groups[g].matrices[groups[g].count++] = &m;
    groups[g].segments = segments;
    groups[g].strips += (m.rows + kAtomRows - 1) / kAtomRows;
  }
  return count;
}

/// As one matrix, which must have as many segments, and no more rows than a matrix may have.
plan::Desc desc_of(const DenseArgs& args, const MatrixGroup& group) {
  const int64_t most = group.segments > 1 ? plan::kSegmentStripsMax - 1 : plan::kDenseRowsMax / kAtomRows;
  const int64_t strips = std::min(group.strips, most);
  return plan::dense_desc(group.matrices[0]->format, strips * kAtomRows, args.depth, args.rows_max);
}

DenseGemmArgs gemm_args(const DenseArgs& args, const MatrixGroup& group, const plan::Tile& tile) {
  DenseGemmArgs gemm;
  gemm.depth = args.depth;
  gemm.x = args.x;
  gemm.x_stride = args.x_stride;
  gemm.x_rows = args.row_index;
  gemm.live_rows = args.live_rows;
  gemm.rows_max = args.rows_max;
  gemm.overlaps_previous = args.overlaps_previous;
  gemm.column_tiles = (args.rows_max + tile.n - 1) / tile.n;
  for (; gemm.count < group.count; ++gemm.count) {
    const DenseMatrix& m = *group.matrices[gemm.count];
    const int32_t strips = (m.rows + kAtomRows - 1) / kAtomRows, tile_strips = tile.m / plan::kMmaRows;
    gemm.matrices[gemm.count] = {.weights = m.weights,
                                 .row_alpha = m.row_alpha,
                                 .out = m.out,
                                 .out_stride = m.out_stride,
                                 .strips = strips,
                                 .rows = m.rows,
                                 .segments = group.segments,
                                 .epilogue = m.epilogue,
                                 .first_row_tile = gemm.row_tiles};
    gemm.row_tiles += (strips + tile_strips - 1) / tile_strips;
  }
  return gemm;
}

Status multiply(const DenseArgs& args, const MatrixGroup& group, const plan::Tile& tile, const device::Queue& queue) {
  const plan::Desc desc = desc_of(args, group);
  const DenseKernel* kernel = find_kernel(desc, tile);
  if (kernel == nullptr) {
    return error(StatusCode::unsupported,
                 "no dense kernel of tile {} {}, {} stages, {} blocks an SM, for {} in {} K segments",
                 format::name(tile.format), plan::shape_name(tile), tile.stages, tile.blocks_per_sm,
                 plan::describe(desc), plan::k_segments(desc));
  }
  const DenseGemmArgs gemm = gemm_args(args, group, tile);
  return device::launch(kernel->function, queue, static_cast<unsigned>(gemm.row_tiles * gemm.column_tiles),
                        static_cast<unsigned>(plan::threads(tile)),
                        static_cast<size_t>(plan::smem_layout(tile).total_bytes), gemm);
}

/// The norm as a launch of its own, and the products' arguments after it.
Expected<DenseArgs> norm_first(const DenseArgs& args, const device::Queue& queue) {
  AddNormArgs norm{.norm = args.norm, .hidden = args.depth, .live_rows = args.live_rows, .rows_max = args.rows_max};
  if (norm.norm.normed_out == nullptr) norm.norm.normed_out = reinterpret_cast<uint16_t*>(args.workspace);
  TESSERA_RETURN_IF_ERROR(add_norm(norm, queue));
  DenseArgs products = args;
  products.x = norm.norm.normed_out;
  products.x_stride = args.depth;
  products.norm = {};
  return products;
}

}  // namespace

Status supports(const DenseArgs& args) {
  if (args.count < 1 || args.count > kDenseMatricesMax) {
    return error(StatusCode::invalid_argument, "{} matrices in a dense product, expected 1 to {}", args.count,
                 kDenseMatricesMax);
  }
  for (int i = 0; i < args.count; ++i) TESSERA_RETURN_IF_ERROR(check_matrix(args, args.matrices[i]));
  return check_rows(args);
}

size_t dense_workspace_bytes(const DenseArgs& args) {
  if (!norm_needs_workspace(args)) return 0;
  return static_cast<size_t>(args.rows_max) * static_cast<size_t>(args.depth) * sizeof(uint16_t);
}

bool can_run_dense(const plan::Desc& desc, const plan::Tile& tile) { return find_kernel(desc, tile) != nullptr; }

Expected<plan::Tile> choose_dense_tile(const plan::Desc& desc, const plan::DeviceFacts& device) {
  TESSERA_ASSIGN_OR_RETURN(const plan::Plan plan, plan::make_plan(desc, device));
  if (can_run_dense(desc, plan.chosen().tile)) return plan.chosen().tile;
  const plan::Candidate* best = nullptr;
  for (const plan::Candidate& candidate : plan.candidates) {
    if (!candidate.kept() || !can_run_dense(desc, candidate.tile)) continue;
    if (best == nullptr || candidate.cost.estimate_us < best->cost.estimate_us) best = &candidate;
  }
  if (best == nullptr) {
    return error(StatusCode::unsupported, "no compiled kernel for {} on {}", plan::describe(desc), device.name);
  }
  return best->tile;
}

Status dense_tiled(const DenseArgs& args, const plan::Tile& tile, const device::Queue& queue) {
  TESSERA_RETURN_IF_ERROR(supports(args));
  if (args.rows_max == 0) return {};
  MatrixGroup groups[kDenseMatricesMax];
  const int count = group_matrices(args, groups);
  for (int g = 0; g < count; ++g) TESSERA_RETURN_IF_ERROR(multiply(args, groups[g], tile, queue));
  return {};
}

Status dense(const DenseArgs& args, const plan::DeviceFacts& device, const device::Queue& queue) {
  TESSERA_RETURN_IF_ERROR(supports(args));
  if (args.rows_max == 0) return {};
  DenseArgs products = args;
  if (has_norm(args) && !norm_is_fused(args, device)) {
    TESSERA_ASSIGN_OR_RETURN(products, norm_first(args, queue));
  }
  if (args.rows_max <= kDecodeRowsMax) return dense_decode(decode_launch(products, device), queue);
  MatrixGroup groups[kDenseMatricesMax];
  const int count = group_matrices(products, groups);
  for (int g = 0; g < count; ++g) {
    TESSERA_ASSIGN_OR_RETURN(const plan::Tile tile, choose_dense_tile(desc_of(products, groups[g]), device));
    TESSERA_RETURN_IF_ERROR(multiply(products, groups[g], tile, queue));
  }
  return {};
}

}  // namespace tessera::kernels::cuda
