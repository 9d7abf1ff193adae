#include "kernels/cuda/upload.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <thread>

#include "base/check.h"
#include "base/status.h"
#include "format/row_copy.h"
#include "kernels/cuda/atom.h"
#include "kernels/cuda/device_bytes.h"
#include "kernels/cuda/dummy.h"
#include "kernels/source_matrices.h"

namespace tessera::kernels::cuda {
namespace {

constexpr size_t kPinnedBytes = size_t{8} << 20;
constexpr size_t kPinnedBuffers = 2;
constexpr size_t kRingSlotsMin = 8, kRingSlotsMax = 64;  // of 4 MiB
/// One thread copies some 5 GB/s from the page cache; a GPU takes 25 to 55 GB/s over PCIe 4 or 5. On a disk that many
/// reads of 4 MiB are under way.
constexpr unsigned kReadThreadsMax = 12;
constexpr int kNoneBadByte = 0x7f;
constexpr int32_t kNoneBad = 0x7f7f7f7f;

/// Whether files of so many bytes had better not go through the page cache: they would push out all else, and
/// themselves before they are read again.
bool too_large_to_cache(size_t bytes) {
  const auto memory = static_cast<size_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES))) *
                      static_cast<size_t>(std::max(0L, ::sysconf(_SC_PAGESIZE)));
  return bytes > memory / 2;
}

Status check_alphas(const MatrixSource& source, std::span<const float> alphas) {
  for (size_t i = 0; i < alphas.size(); ++i) {
    if (std::isfinite(alphas[i])) continue;
    return error(StatusCode::corrupt_data,
                 "{}: the scale of row {} makes its factor {}; "
                 "expected a finite number",
                 source.name, i, alphas[i]);
  }
  return {};
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
  TESSERA_ASSIGN_OR_RETURN(uploader.first_bad_, DeviceBuffer::create(sizeof(int32_t), kNoneBadByte));
  return uploader;
}

// ---- reading ----

Status Uploader::read_ahead(const format::Checkpoint& checkpoint, std::span<const BlockSource* const> sources) {
  TESSERA_RETURN_IF_ERROR(rest());
  std::vector<const format::MappedFile*> files;
  for (const auto& shard : checkpoint.shards()) files.push_back(&shard->file());
  std::vector<format::FileRange> ranges;
  size_t bytes = 0, largest = 0;
  const auto announce = [&](const std::byte* data, size_t size) {
    if (data == nullptr || size == 0) return;
    const auto place = checkpoint.place({data, size});
    if (!place) return;
    ranges.push_back({.file = place->shard, .offset = place->offset, .bytes = size});
    announced_.push_back(data);
    bytes += size;
  };
  for (const BlockSource* source : sources) {
    largest = std::max(largest, staging_bytes(*source));
    for_each_matrix(*source, [&](const MatrixSource& matrix, MatrixUse use) {
      const auto parts = use.order == RowOrder::interleaved ? gate_and_up(matrix) : matrix.parts;
      for (const format::MatrixView& part : parts) {
        announce(part.data, element_bytes(part));
        announce(part.block_scales, block_scale_bytes(part));
      }
    });
  }
  if (ranges.empty()) return {};
  TESSERA_RETURN_IF_ERROR(stage(largest));
  const size_t slots = std::clamp(bytes / format::ReadAhead::kPieceBytes, kRingSlotsMin, kRingSlotsMax);
  const size_t ring_bytes = slots * format::ReadAhead::kSlotBytes;
  TESSERA_CUDA_RETURN_IF_ERROR(cudaHostAlloc(ring_.fill(), ring_bytes, cudaHostAllocDefault));
  piece_copied_.resize(slots);
  for (device::Event& event : piece_copied_) {
    TESSERA_CUDA_RETURN_IF_ERROR(cudaEventCreateWithFlags(event.fill(), cudaEventDisableTiming));
  }
  const unsigned threads = std::clamp(std::thread::hardware_concurrency(), 2U, kReadThreadsMax);
  reader_ = std::make_unique<format::ReadAhead>(
      files, std::move(ranges), std::span(static_cast<std::byte*>(ring_.get()), ring_bytes),
      format::ReadAhead::Options{.threads = static_cast<int>(threads), .direct = too_large_to_cache(bytes)});
  return {};
}

Status Uploader::rest() {
  reader_.reset();  // whatever the device says: the files may be closed behind this
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream_.get()));
  ring_ = {};
  piece_copied_.clear();
  pieces_.clear();
  announced_.clear();
  staging_ = {};
  pending_.clear();  // of a block that failed
  return forget_bad();
}

/// Makes room for a matrix as the checkpoint has it. What the GPU still does with the one before comes first.
Status Uploader::stage(size_t size) {
  if (size <= staging_.bytes) return {};
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream_.get()));
  staging_ = {};
  TESSERA_ASSIGN_OR_RETURN(staging_, DeviceBuffer::allocate(size));
  return {};
}

Status Uploader::copy(const std::byte* from, size_t size, std::byte* to) {
  if (size == 0) return {};
  if (announced_.empty() || announced_.front() != from) {
    // What was announced is asked for in its order: a reader that nobody takes from would be of no use, silently.
    TESSERA_CHECK(std::find(announced_.begin(), announced_.end(), from) == announced_.end());
    return copy_memory(from, size, to);
  }
  announced_.pop_front();
  return copy_read(size, to);
}

Status Uploader::copy_memory(const std::byte* from, size_t size, std::byte* to) {
  while (size > 0) {
    PinnedBuffer& buffer = pinned_[next_];
    next_ = (next_ + 1) % pinned_.size();
    TESSERA_CUDA_RETURN_IF_ERROR(cudaEventSynchronize(buffer.copied.get()));  // ready at once before its first use
    const size_t count = std::min(size, kPinnedBytes);
    std::memcpy(buffer.memory.get(), from, count);
    TESSERA_CUDA_RETURN_IF_ERROR(
        cudaMemcpyAsync(to, buffer.memory.get(), count, cudaMemcpyHostToDevice, stream_.get()));
    TESSERA_CUDA_RETURN_IF_ERROR(cudaEventRecord(buffer.copied.get(), stream_.get()));
    from += count;
    to += count;
    size -= count;
  }
  return {};
}

Status Uploader::copy_read(size_t size, std::byte* to) {
  while (size > 0) {
    TESSERA_RETURN_IF_ERROR(free_pieces());
    TESSERA_ASSIGN_OR_RETURN(const auto piece, reader_->next());
    TESSERA_CHECK_LE(piece.bytes.size(), size);
    TESSERA_CUDA_RETURN_IF_ERROR(
        cudaMemcpyAsync(to, piece.bytes.data(), piece.bytes.size(), cudaMemcpyHostToDevice, stream_.get()));
    TESSERA_CUDA_RETURN_IF_ERROR(cudaEventRecord(piece_copied_[piece.slot].get(), stream_.get()));
    pieces_.push_back(piece.slot);
    to += piece.bytes.size();
    size -= piece.bytes.size();
  }
  return {};
}

/// Gives slots back to the readers: those that the GPU is done with, and as many as leave them half of the ring.
Status Uploader::free_pieces() {
  while (!pieces_.empty()) {
    const cudaEvent_t copied = piece_copied_[pieces_.front()].get();
    const WatchedCall watched("cudaEventQuery");
    const cudaError_t state = cudaEventQuery(copied);
    if (state == cudaErrorNotReady) {
      if (pieces_.size() < piece_copied_.size() / 2) break;
      TESSERA_CUDA_RETURN_IF_ERROR(cudaEventSynchronize(copied));
    } else {
      TESSERA_RETURN_IF_ERROR(device::cuda_status(state, "cudaEventQuery"));
    }
    reader_->release();
    pieces_.pop_front();
  }
  return {};
}

// ---- packing ----

Expected<DeviceBuffer> Uploader::take(size_t size) {
  TESSERA_ASSIGN_OR_RETURN(auto buffer, DeviceBuffer::allocate(size));
  weight_bytes_ += size;
  return buffer;
}

/// Re-lays `parts` into `out` on the GPU.
Status Uploader::pack(const MatrixSource& source, std::span<const format::MatrixView> parts, RowOrder order,
                      std::byte* out) {
  TESSERA_ASSIGN_OR_RETURN(const AtomShape shape, atom_shape(parts, order));
  if (parts[0].data == nullptr) {
    return fill_dummy_atoms(shape.format, ++dummies_, out, atom_matrix_bytes(shape), stream_.get());
  }
  TESSERA_RETURN_IF_ERROR(stage(staging_bytes(parts)));
  PackArgs args;
  args.shape = shape;
  args.source = parts[0].format;
  args.part_count = static_cast<int>(parts.size());
  args.out = out;
  args.number = static_cast<int32_t>(pending_.size());
  args.first_bad = first_bad_.as<int32_t>();
  std::byte* at = staging_.as<std::byte>();
  for (size_t i = 0; i < parts.size(); ++i) {
    const format::MatrixView& part = parts[i];
    args.parts[i] = {.data = at, .scales = at + staging_aligned(element_bytes(part)), .rows = part.rows};
    TESSERA_RETURN_IF_ERROR(copy(part.data, element_bytes(part), at).with_context(source.name));
    at += staging_aligned(element_bytes(part));
    TESSERA_RETURN_IF_ERROR(copy(part.block_scales, block_scale_bytes(part), at).with_context(source.name));
    at += staging_aligned(block_scale_bytes(part));
  }
  pending_.push_back({&source, {parts.begin(), parts.end()}});
  return pack_atoms(args, stream_.get());
}

Expected<DeviceMatrix> Uploader::matrix(const MatrixSource& source, RowOrder order) {
  const auto parts = order == RowOrder::interleaved ? gate_and_up(source) : source.parts;
  const auto shape = atom_shape(parts, order);
  if (!shape.ok()) return shape.status().with_context(source.name);
  DeviceMatrix matrix;
  matrix.format = shape->format;
  matrix.rows = shape->rows;
  matrix.depth = shape->cols;
  TESSERA_ASSIGN_OR_RETURN(matrix.weights, take(atom_matrix_bytes(*shape)));
  std::vector<float> alpha(static_cast<size_t>(strips(*shape)) * kAtomRows);
  row_alphas(parts, *shape, alpha);
  TESSERA_RETURN_IF_ERROR(check_alphas(source, alpha));
  TESSERA_ASSIGN_OR_RETURN(matrix.row_alpha, floats(alpha));
  TESSERA_RETURN_IF_ERROR(pack(source, parts, order, matrix.weights.as<std::byte>()));
  return matrix;
}

Expected<DeviceMatrix> Uploader::gate_up(const SwigluSource& source) {
  return matrix(source.gate_up, RowOrder::interleaved);
}

/// One matrix of an expert, which must be like that of the first.
Status Uploader::pack_expert(const MatrixSource& source, RowOrder order, const AtomShape& want, std::byte* out,
                             std::vector<float>& alphas) {
  const auto parts = order == RowOrder::interleaved ? gate_and_up(source) : source.parts;
  const auto shape = atom_shape(parts, order);
  if (!shape.ok()) return shape.status().with_context(source.name);
  if (shape->format != want.format || shape->rows != want.rows || shape->cols != want.cols) {
    return error(StatusCode::unsupported,
                 "{} is {} [{}, {}], but expert 0 of its layer is {} [{}, {}]; on a GPU the experts of a layer are of "
                 "one format",
                 source.name, format::name(shape->format), shape->rows, shape->cols, format::name(want.format),
                 want.rows, want.cols);
  }
  for (const format::MatrixView& part : parts) {
    if (part.row_scales.empty()) continue;
    return error(StatusCode::unsupported,
                 "{} is FP8 with a scale for each row; on a GPU routed experts have one for the whole matrix",
                 source.name);
  }
  const float factors[2] = {atom_alpha(want.format, parts.front().scale), atom_alpha(want.format, parts.back().scale)};
  TESSERA_RETURN_IF_ERROR(check_alphas(source, factors));
  alphas.insert(alphas.end(), std::begin(factors), std::end(factors));
  return pack(source, parts, order, out);
}

Expected<DeviceExperts> Uploader::experts(std::span<const SwigluSource> sources, int64_t hidden) {
  DeviceExperts experts;
  experts.experts = static_cast<int64_t>(sources.size());
  experts.hidden = hidden;
  experts.inner = sources[0].inner;
  const auto up = atom_shape(gate_and_up(sources[0].gate_up), RowOrder::interleaved);
  if (!up.ok()) return up.status().with_context(sources[0].gate_up.name);
  const auto down = atom_shape(sources[0].down.parts, RowOrder::stacked);
  if (!down.ok()) return down.status().with_context(sources[0].down.name);
  experts.format = up->format;
  const size_t up_bytes = atom_matrix_bytes(*up), down_bytes = atom_matrix_bytes(*down);
  TESSERA_ASSIGN_OR_RETURN(experts.gate_up, take(sources.size() * up_bytes));
  TESSERA_ASSIGN_OR_RETURN(experts.down, take(sources.size() * down_bytes));
  std::vector<float> up_alpha, down_alpha;
  for (size_t e = 0; e < sources.size(); ++e) {
    TESSERA_RETURN_IF_ERROR(pack_expert(sources[e].gate_up, RowOrder::interleaved, *up,
                                        experts.gate_up.as<std::byte>(e * up_bytes), up_alpha));
    TESSERA_RETURN_IF_ERROR(
        pack_expert(sources[e].down, RowOrder::stacked, *down, experts.down.as<std::byte>(e * down_bytes), down_alpha));
  }
  TESSERA_ASSIGN_OR_RETURN(experts.gate_up_alpha, floats(up_alpha));
  TESSERA_ASSIGN_OR_RETURN(experts.down_alpha, floats(down_alpha));
  return experts;
}

Expected<DeviceBuffer> Uploader::floats(std::span<const float> values) {
  TESSERA_ASSIGN_OR_RETURN(auto buffer, take(values.size_bytes()));
  TESSERA_RETURN_IF_ERROR(
      copy_memory(reinterpret_cast<const std::byte*>(values.data()), values.size_bytes(), buffer.as<std::byte>()));
  return buffer;
}

Status Uploader::forget_bad() {
  TESSERA_CUDA_RETURN_IF_ERROR(cudaMemsetAsync(first_bad_.as<int32_t>(), kNoneBadByte, sizeof(int32_t), stream_.get()));
  return {};
}

Status Uploader::settle() {
  int32_t bad = kNoneBad;
  TESSERA_CUDA_RETURN_IF_ERROR(
      cudaMemcpyAsync(&bad, first_bad_.as<int32_t>(), sizeof bad, cudaMemcpyDeviceToHost, stream_.get()));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream_.get()));
  const std::vector<Pending> pending = std::move(pending_);
  pending_.clear();
  if (bad == kNoneBad) return {};
  TESSERA_RETURN_IF_ERROR(forget_bad());
  TESSERA_CHECK_LT(static_cast<size_t>(bad), pending.size());
  const auto& [source, parts] = pending[static_cast<size_t>(bad)];
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string name = parts.size() == 1 ? source->name : fmt::format("{}, part {}", source->name, i);
    format::RowCopy copy;
    const auto stored = copy.rows(parts[i], 0, parts[i].rows);
    TESSERA_RETURN_IF_ERROR((stored.ok() ? check_weights(*stored) : stored.status()).with_context(name));
  }
  return error(StatusCode::corrupt_data,
               "{}: a weight or scale was NaN or infinite on the GPU, and is not in the file: was it changed?",
               source->name);
}

}  // namespace tessera::kernels::cuda
