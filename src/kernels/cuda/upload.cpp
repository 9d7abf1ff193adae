#include "kernels/cuda/upload.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "base/status.h"
#include "kernels/cuda/atom.h"
#include "kernels/cuda/dummy.h"

namespace tessera::kernels::cuda {
namespace {

constexpr size_t kPinnedBytes = size_t{32} << 20;
constexpr size_t kPinnedBuffers = 4;
constexpr size_t kThreadBytes = size_t{2} << 20;  // a thread's share of a pinned buffer at least

/// memcpy by several threads: one alone is bound by page faults of the mapped file.
void copy_in_parallel(std::byte* to, const std::byte* from, size_t size) {
  const size_t threads =
      std::clamp<size_t>(std::min<size_t>(size / kThreadBytes, std::thread::hardware_concurrency()), 1, 16);
  const size_t share = (size + threads - 1) / threads;
  std::vector<std::thread> helpers;
  for (size_t i = 1; i < threads; ++i) {
    const size_t begin = std::min(size, i * share), end = std::min(size, begin + share);
    helpers.emplace_back([=] { std::memcpy(to + begin, from + begin, end - begin); });
  }
  std::memcpy(to, from, std::min(size, share));
  for (std::thread& helper : helpers) helper.join();
}

size_t scale_bytes(const format::MatrixView& view) {
  const int64_t group = format::group_size(view.format);
  return group == 0 ? 0 : static_cast<size_t>(view.rows * view.cols / group);
}
size_t data_bytes(const format::MatrixView& view) {
  return static_cast<size_t>(view.rows) * format::row_bytes(view.format, view.cols);
}
constexpr size_t aligned(size_t bytes) { return (bytes + 255) / 256 * 256; }

/// Rows [first, first + rows) of a view.
format::MatrixView row_range(const format::MatrixView& view, int64_t first, int64_t rows) {
  format::MatrixView part = view;
  part.rows = rows;
  if (part.data != nullptr) part.data += static_cast<size_t>(first) * format::row_bytes(view.format, view.cols);
  if (view.block_scales != nullptr) part.block_scales += first * view.cols / format::group_size(view.format);
  if (!view.row_scales.empty()) {
    part.row_scales = view.row_scales.subspan(static_cast<size_t>(first), static_cast<size_t>(rows));
  }
  return part;
}

/// Gate and up as two parts, also where they are stored as one matrix.
std::vector<format::MatrixView> gate_and_up(const SwigluSource& source) {
  if (source.gate_up.parts.size() == 2) return source.gate_up.parts;
  const format::MatrixView& both = source.gate_up.parts[0];
  return {row_range(both, 0, source.inner), row_range(both, source.inner, source.inner)};
}

}  // namespace

Expected<Uploader> Uploader::create() {
  Uploader uploader;
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamCreateWithFlags(uploader.stream_.fill(), cudaStreamNonBlocking));
  uploader.pinned_.resize(kPinnedBuffers);
  for (PinnedBuffer& buffer : uploader.pinned_) {
    TESSERA_CUDA_RETURN_IF_ERROR(cudaHostAlloc(buffer.memory.fill(), kPinnedBytes, cudaHostAllocDefault));
    TESSERA_CUDA_RETURN_IF_ERROR(cudaEventCreateWithFlags(buffer.copied.fill(), cudaEventDisableTiming));
  }
  TESSERA_ASSIGN_OR_RETURN(uploader.bad_scale_, DeviceBuffer::create(sizeof(int32_t)));
  return uploader;
}

Status Uploader::rest() {
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream_.get()));
  staging_ = {};
  return {};
}

/// Makes room for a matrix as the checkpoint has it. What the GPU still does with the one before comes first, in order
/// of the stream.
Status Uploader::stage(size_t size) {
  if (size <= staging_.bytes) return {};
  TESSERA_RETURN_IF_ERROR(rest());
  TESSERA_ASSIGN_OR_RETURN(staging_, DeviceBuffer::create(size));
  return {};
}

Status Uploader::copy(const std::byte* from, size_t size, std::byte* to) {
  while (size > 0) {
    PinnedBuffer& buffer = pinned_[next_];
    next_ = (next_ + 1) % pinned_.size();
    TESSERA_CUDA_RETURN_IF_ERROR(cudaEventSynchronize(buffer.copied.get()));  // ready at once before its first use
    const size_t count = std::min(size, kPinnedBytes);
    auto* pinned = static_cast<std::byte*>(buffer.memory.get());
    copy_in_parallel(pinned, from, count);
    TESSERA_CUDA_RETURN_IF_ERROR(cudaMemcpyAsync(to, pinned, count, cudaMemcpyHostToDevice, stream_.get()));
    TESSERA_CUDA_RETURN_IF_ERROR(cudaEventRecord(buffer.copied.get(), stream_.get()));
    from += count;
    to += count;
    size -= count;
  }
  return {};
}

/// Re-lays `parts` into `out` on the GPU.
Status Uploader::pack(const MatrixSource& source, std::span<const format::MatrixView> parts, RowOrder order,
                      std::byte* out) {
  const auto shape = atom_shape(parts, order);
  if (!shape.ok()) return shape.status().with_context(source.name);
  if (parts[0].data == nullptr) {
    return fill_dummy_atoms(shape->format, ++dummies_, out, atom_matrix_bytes(*shape), stream_.get());
  }
  size_t size = 0;
  for (const format::MatrixView& part : parts) size += aligned(data_bytes(part)) + aligned(scale_bytes(part));
  TESSERA_RETURN_IF_ERROR(stage(size));
  PackArgs args;
  args.shape = *shape;
  args.source = parts[0].format;
  args.part_count = static_cast<int>(parts.size());
  args.out = out;
  args.bad_scale = bad_scale_.as<int32_t>();
  std::byte* at = staging_.as<std::byte>();
  for (size_t i = 0; i < parts.size(); ++i) {
    const format::MatrixView& part = parts[i];
    args.parts[i] = {.data = at, .scales = at + aligned(data_bytes(part)), .rows = part.rows};
    TESSERA_RETURN_IF_ERROR(copy(part.data, data_bytes(part), at));
    at += aligned(data_bytes(part));
    if (part.block_scales != nullptr) TESSERA_RETURN_IF_ERROR(copy(part.block_scales, scale_bytes(part), at));
    at += aligned(scale_bytes(part));
  }
  TESSERA_RETURN_IF_ERROR(pack_atoms(args, stream_.get()));
  return {};
}

Expected<DeviceMatrix> Uploader::matrix(const MatrixSource& source, RowOrder order) {
  const auto shape = atom_shape(source.parts, order);
  if (!shape.ok()) return shape.status().with_context(source.name);
  DeviceMatrix matrix;
  matrix.format = shape->format;
  matrix.rows = shape->rows;
  matrix.depth = shape->cols;
  TESSERA_ASSIGN_OR_RETURN(matrix.weights, DeviceBuffer::create(atom_matrix_bytes(*shape)));
  std::vector<float> alpha(static_cast<size_t>(strips(*shape)) * kAtomRows);
  row_alphas(source.parts, *shape, alpha);
  TESSERA_ASSIGN_OR_RETURN(matrix.row_alpha, floats(alpha));
  TESSERA_RETURN_IF_ERROR(pack(source, source.parts, order, matrix.weights.as<std::byte>()));
  weight_bytes_ += matrix.weights.bytes;
  TESSERA_RETURN_IF_ERROR(check(source, source.parts, order));
  return matrix;
}

/// Finds out whether the GPU met a weight or a scale that cannot be, and what it was.
Status Uploader::check(const MatrixSource& source, std::span<const format::MatrixView> parts, RowOrder order) {
  int32_t bad = 0;
  TESSERA_CUDA_RETURN_IF_ERROR(
      cudaMemcpyAsync(&bad, bad_scale_.as<int32_t>(), sizeof bad, cudaMemcpyDeviceToHost, stream_.get()));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream_.get()));
  if (bad == 0) return {};
  TESSERA_ASSIGN_OR_RETURN(const AtomShape shape, atom_shape(parts, order));
  std::vector<std::byte> again(atom_matrix_bytes(shape));
  return kernels::pack_atoms(parts, again.data(), order).with_context(source.name);
}

Expected<DeviceMatrix> Uploader::gate_up(const SwigluSource& source) {
  return matrix({.name = source.gate_up.name, .parts = gate_and_up(source)}, RowOrder::interleaved);
}

Expected<DeviceExperts> Uploader::experts(std::span<const SwigluSource> sources, int64_t hidden) {
  DeviceExperts experts;
  experts.experts = static_cast<int64_t>(sources.size());
  experts.hidden = hidden;
  experts.inner = sources[0].inner;
  const auto first = gate_and_up(sources[0]);
  TESSERA_ASSIGN_OR_RETURN(const AtomShape up, atom_shape(first, RowOrder::interleaved));
  TESSERA_ASSIGN_OR_RETURN(const AtomShape down, atom_shape(sources[0].down.parts, RowOrder::stacked));
  experts.format = up.format;
  TESSERA_ASSIGN_OR_RETURN(experts.gate_up, DeviceBuffer::create(sources.size() * atom_matrix_bytes(up)));
  TESSERA_ASSIGN_OR_RETURN(experts.down, DeviceBuffer::create(sources.size() * atom_matrix_bytes(down)));
  std::vector<float> up_alpha, down_alpha;
  for (size_t e = 0; e < sources.size(); ++e) {
    const SwigluSource& source = sources[e];
    const auto parts = gate_and_up(source);
    const auto matches = [&](const MatrixSource& matrix, std::span<const format::MatrixView> of, RowOrder order,
                             const AtomShape& want) -> Status {
      const auto shape = atom_shape(of, order);
      if (!shape.ok()) return shape.status().with_context(matrix.name);
      if (shape->format == want.format && shape->rows == want.rows && shape->cols == want.cols) return {};
      return error(StatusCode::unsupported,
                   "{} is {} [{}, {}], but expert 0 of its layer is {} [{}, {}]; on a GPU the "
                   "experts of a layer are of one format",
                   matrix.name, format::name(shape->format), shape->rows, shape->cols, format::name(want.format),
                   want.rows, want.cols);
    };
    for (const MatrixSource* matrix : {&source.gate_up, &source.down}) {
      if (matrix->parts[0].row_scales.empty()) continue;
      return error(StatusCode::unsupported,
                   "{} is FP8 with a scale for each row; on a GPU routed experts have one for "
                   "the whole matrix",
                   matrix->name);
    }
    TESSERA_RETURN_IF_ERROR(matches(source.gate_up, parts, RowOrder::interleaved, up));
    TESSERA_RETURN_IF_ERROR(matches(source.down, source.down.parts, RowOrder::stacked, down));
    for (const format::MatrixView& part : parts) up_alpha.push_back(atom_alpha(up.format, part.scale));
    for (int twice = 0; twice < 2; ++twice) {
      down_alpha.push_back(atom_alpha(down.format, source.down.parts[0].scale));
    }
    TESSERA_RETURN_IF_ERROR(
        pack(source.gate_up, parts, RowOrder::interleaved, experts.gate_up.as<std::byte>(e * atom_matrix_bytes(up))));
    TESSERA_RETURN_IF_ERROR(pack(source.down, source.down.parts, RowOrder::stacked,
                                 experts.down.as<std::byte>(e * atom_matrix_bytes(down))));
  }
  TESSERA_ASSIGN_OR_RETURN(experts.gate_up_alpha, floats(up_alpha));
  TESSERA_ASSIGN_OR_RETURN(experts.down_alpha, floats(down_alpha));
  weight_bytes_ += experts.gate_up.bytes + experts.down.bytes;
  int32_t bad = 0;
  TESSERA_CUDA_RETURN_IF_ERROR(
      cudaMemcpyAsync(&bad, bad_scale_.as<int32_t>(), sizeof bad, cudaMemcpyDeviceToHost, stream_.get()));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream_.get()));
  for (size_t e = 0; bad != 0 && e < sources.size(); ++e) {
    TESSERA_RETURN_IF_ERROR(check(sources[e].gate_up, gate_and_up(sources[e]), RowOrder::interleaved));
    TESSERA_RETURN_IF_ERROR(check(sources[e].down, sources[e].down.parts, RowOrder::stacked));
  }
  return experts;
}

Expected<DeviceBuffer> Uploader::floats(std::span<const float> values) {
  return bytes(reinterpret_cast<const std::byte*>(values.data()), values.size_bytes());
}

Expected<DeviceBuffer> Uploader::bytes(const std::byte* data, size_t size) {
  TESSERA_ASSIGN_OR_RETURN(auto buffer, DeviceBuffer::create(size));
  TESSERA_RETURN_IF_ERROR(copy(data, size, buffer.as<std::byte>()));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream_.get()));
  return buffer;
}

}  // namespace tessera::kernels::cuda
