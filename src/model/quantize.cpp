#include "model/quantize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <tuple>

#include "base/byte_text.h"
#include "format/decode.h"
#include "format/printable.h"
#include "format/row_copy.h"
#include "format/sharded_writer.h"
#include "model/quantize_plan.h"

namespace tessera::model {
namespace {

namespace fs = std::filesystem;
using format::MatrixView;
using format::printable;
using format::QuantizationError;
using format::WeightFormat;
using OrderedJson = nlohmann::ordered_json;

// Rows that are read, encoded and written at a time. 16 MB keeps every core busy for milliseconds and is nothing
// against a matrix.
constexpr size_t kPieceBytes = size_t{16} << 20;
// Elements of a chunk, the unit of work of one thread: fixed, since sums of errors are added chunk by chunk.
constexpr int64_t kChunkElements = int64_t{1} << 16;
constexpr uintmax_t kMaxFileBytes = 256'000'000;  // of files other than weights

int64_t rows_per_piece(const MatrixView& m) {
  return std::max<int64_t>(1, static_cast<int64_t>(kPieceBytes / std::max<size_t>(1, row_bytes(m.format, m.cols))));
}

int64_t rows_per_chunk(const MatrixView& m) {
  return std::max<int64_t>(1, kChunkElements / std::max<int64_t>(1, m.cols));
}

/// Narrowing to BF16, measured as quantising is.
void encode_bf16(std::span<const float> row, std::byte* out, QuantizationError& rounding) {
  for (size_t i = 0; i < row.size(); ++i) {
    const uint16_t bits = float_to_bf16(row[i]);
    std::memcpy(out + 2 * i, &bits, sizeof bits);
    const double value = row[i];
    const double e = value - bf16_to_float(bits);
    rounding.sum_of_squared_error += e * e;
    rounding.sum_of_squares += value * value;
    rounding.max_abs_error = std::max(rounding.max_abs_error, std::fabs(e));
  }
  rounding.count += static_cast<int64_t>(row.size());
}

/// Carries out a plan: reads, rounds and writes step by step.
class Converter {
 public:
  Converter(const format::Checkpoint& source, const QuantizeOptions& options, const QuantizePlan& plan,
            ThreadPool& pool, format::ShardedWriter& writer);

  Status run();
  std::vector<QuantizedPart> parts() const;

 private:
  Status copy(const QuantizeStep& step);
  Status convert(const QuantizeStep& step);
  Status encode(const QuantizeStep& step, float scale, QuantizationError& rounding);
  Expected<float> group_magnitude(const Conversion& conversion);
  Expected<float> magnitude(const Conversion& conversion);
  QuantizedPart& part(const QuantizeStep& step, std::string_view to);
  Status write(QuantizedPart& part, std::span<const std::byte> bytes);
  Status advance(size_t bytes);

  const format::Checkpoint& source_;
  const QuantizeOptions& options_;
  const QuantizePlan& plan_;
  ThreadPool& pool_;
  format::ShardedWriter& writer_;
  std::vector<std::optional<float>> magnitudes_;  // of each scale group, once known
  std::vector<std::vector<float>> row_;           // scratch of each thread
  std::vector<format::RowCopy> source_rows_;      // of each thread
  std::vector<std::byte> copied_;                 // a piece of what stays as it is
  std::vector<std::byte> codes_;                  // of one piece
  std::vector<std::byte> block_scales_;           // of one matrix
  size_t done_bytes_ = 0;
  size_t total_bytes_ = 0;
  std::map<std::tuple<size_t, std::string_view, std::string_view>, QuantizedPart> parts_;  // kind's place, from, to
};

Converter::Converter(const format::Checkpoint& source, const QuantizeOptions& options, const QuantizePlan& plan,
                     ThreadPool& pool, format::ShardedWriter& writer)
    : source_(source),
      options_(options),
      plan_(plan),
      pool_(pool),
      writer_(writer),
      magnitudes_(plan.scale_groups.size()),
      row_(static_cast<size_t>(pool.size())),
      source_rows_(static_cast<size_t>(pool.size())) {
  for (const QuantizeStep& step : plan.steps) {
    total_bytes_ += step.conversion ? element_bytes(step.conversion->matrix) : step.tensor.bytes.size();
  }
}

Status Converter::run() {
  for (const QuantizeStep& step : plan_.steps) {
    TESSERA_RETURN_IF_ERROR(step.conversion ? convert(step) : copy(step));
  }
  return source_.check_unchanged();
}

Status Converter::advance(size_t bytes) {
  done_bytes_ += bytes;
  if (!options_.progress || options_.progress(done_bytes_, total_bytes_)) return {};
  return error(StatusCode::cancelled, "stopped after {} of {} bytes; nothing was kept", done_bytes_, total_bytes_);
}

QuantizedPart& Converter::part(const QuantizeStep& step, std::string_view to) {
  const size_t place = step.kind ? static_cast<size_t>(*step.kind) : kTensorKinds.size();
  QuantizedPart& found = parts_[{place, step.from, to}];
  found.kind = step.kind;
  found.from = step.from;
  found.to = to;
  return found;
}

Status Converter::write(QuantizedPart& part, std::span<const std::byte> bytes) {
  part.bytes_after += bytes.size();
  return writer_.write(bytes);
}

Status Converter::copy(const QuantizeStep& step) {
  QuantizedPart& to = part(step, step.from);
  to.tensors += step.elements > 0 ? 1 : 0;
  to.elements += step.elements;
  to.bytes_before += step.tensor.bytes.size();
  for (auto left = step.tensor.bytes; !left.empty();) {
    const auto piece = left.first(std::min(left.size(), kPieceBytes));
    copied_.resize(piece.size());
    TESSERA_RETURN_IF_ERROR(format::copy_bytes(step.tensor.file, piece, copied_.data()));
    TESSERA_RETURN_IF_ERROR(write(to, copied_));
    TESSERA_RETURN_IF_ERROR(advance(piece.size()));
    left = left.subspan(piece.size());
  }
  return {};
}

/// The largest magnitude of one matrix. A NaN or an infinity is an error.
Expected<float> Converter::magnitude(const Conversion& conversion) {
  const MatrixView& m = conversion.matrix;
  float largest = 0;
  std::vector<float> chunk_largest;
  for (int64_t row = 0; row < m.rows;) {
    const MatrixView piece = format::rows_of(m, row, std::min(rows_per_piece(m), m.rows - row));
    const int64_t chunk_rows = rows_per_chunk(m);
    chunk_largest.assign(static_cast<size_t>((piece.rows + chunk_rows - 1) / chunk_rows), 0);
    pool_.run_chunks(static_cast<int64_t>(chunk_largest.size()), [&](int64_t chunk, int /*thread*/) {
      const int64_t first = chunk * chunk_rows;
      const auto found = format::max_magnitude(format::rows_of(piece, first, std::min(chunk_rows, piece.rows - first)));
      chunk_largest[static_cast<size_t>(chunk)] = found.ok() ? *found : HUGE_VALF;
    });
    largest = std::max(largest, *std::max_element(chunk_largest.begin(), chunk_largest.end()));
    if (std::isinf(largest)) {
      // Once more in order, for the row number within the whole.
      return format::max_magnitude(m).status().with_context(printable(conversion.source));
    }
    row += piece.rows;
  }
  if (conversion.to == WeightFormat::bf16 && std::isinf(round_to_bf16(largest))) {
    return error(StatusCode::unsupported, "{}: {} is too large for BF16", printable(conversion.source), largest);
  }
  return largest;
}

Expected<float> Converter::group_magnitude(const Conversion& conversion) {
  std::optional<float>& known = magnitudes_[conversion.scale_group];
  if (!known) {
    float largest = 0;
    for (const size_t step : plan_.scale_groups[conversion.scale_group]) {
      TESSERA_ASSIGN_OR_RETURN(const float found, magnitude(*plan_.steps[step].conversion));
      largest = std::max(largest, found);
    }
    known = largest;
  }
  return *known;
}

Status Converter::convert(const QuantizeStep& step) {
  const Conversion& c = *step.conversion;
  TESSERA_ASSIGN_OR_RETURN(const float largest, group_magnitude(c));
  const format::TensorScale nvfp4_scale = format::nvfp4_tensor_scale(largest);
  const float scale = c.to == WeightFormat::nvfp4      ? nvfp4_scale.multiplier
                      : c.to == WeightFormat::fp8_e4m3 ? format::fp8_tensor_scale(largest)
                                                       : 1.0F;
  QuantizationError rounding;
  TESSERA_RETURN_IF_ERROR(encode(step, scale, rounding));
  QuantizedPart& to = part(step, format::name(c.to));
  TESSERA_RETURN_IF_ERROR(write(to, block_scales_));
  if (c.to == WeightFormat::nvfp4 || c.to == WeightFormat::fp8_e4m3) {
    // As the quantiser chose it: an inverse of the inverse can be off by one unit.
    const bool inverse = c.to == WeightFormat::nvfp4 && plan_.dialect == format::Dialect::compressed_tensors;
    const float stored = inverse ? nvfp4_scale.divisor : scale;
    TESSERA_RETURN_IF_ERROR(write(to, std::as_bytes(std::span(&stored, 1))));
  }
  ++to.tensors;
  to.elements += step.elements;
  to.bytes_before += element_bytes(c.matrix);
  to.error.add(rounding);
  if (to.worst.empty() || rounding.relative_l2() > to.worst_error) {
    to.worst = step.name;
    to.worst_error = rounding.relative_l2();
  }
  return {};
}

/// Writes the codes of a matrix piece by piece, and leaves its block scales, which come after them.
Status Converter::encode(const QuantizeStep& step, float scale, QuantizationError& rounding) {
  const Conversion& c = *step.conversion;
  const MatrixView& m = c.matrix;
  const size_t code_bytes = format::row_bytes(c.to, m.cols);
  const int64_t group = format::group_size(c.to);
  const size_t scale_bytes = group == 0 ? 0 : static_cast<size_t>(m.cols / group);
  const int64_t chunk_rows = rows_per_chunk(m);
  block_scales_.resize(static_cast<size_t>(m.rows) * scale_bytes);
  for (auto& scratch : row_) scratch.resize(static_cast<size_t>(m.cols));
  std::vector<QuantizationError> errors;
  for (int64_t first = 0; first < m.rows;) {
    const MatrixView piece = format::rows_of(m, first, std::min(rows_per_piece(m), m.rows - first));
    codes_.resize(static_cast<size_t>(piece.rows) * code_bytes);
    errors.assign(static_cast<size_t>((piece.rows + chunk_rows - 1) / chunk_rows), {});
    std::mutex mutex;
    Status failure;
    pool_.run_chunks(static_cast<int64_t>(errors.size()), [&](int64_t chunk, int thread) {
      std::vector<float>& values = row_[static_cast<size_t>(thread)];
      const int64_t begin = chunk * chunk_rows, end = std::min(piece.rows, begin + chunk_rows);
      const auto stored = source_rows_[static_cast<size_t>(thread)].rows(piece, begin, end - begin);
      if (!stored.ok()) {
        const std::lock_guard lock(mutex);
        failure = stored.status();
        return;
      }
      for (int64_t row = begin; row < end; ++row) {
        const auto r = static_cast<size_t>(row);
        format::decode_row(*stored, row - begin, values);
        std::byte* codes = codes_.data() + r * code_bytes;
        std::byte* scales = block_scales_.data() + (static_cast<size_t>(first) + r) * scale_bytes;
        QuantizationError& sum = errors[static_cast<size_t>(chunk)];
        if (c.to == WeightFormat::bf16) {
          encode_bf16(values, codes, sum);
        } else {
          format::quantize_row(c.to, options_.scales, scale, values, codes, scales, sum);
        }
      }
    });
    TESSERA_RETURN_IF_ERROR(failure.with_context(printable(c.source)));
    for (const QuantizationError& e : errors) rounding.add(e);
    TESSERA_RETURN_IF_ERROR(write(part(step, format::name(c.to)), codes_));
    TESSERA_RETURN_IF_ERROR(advance(element_bytes(piece)));
    first += piece.rows;
  }
  return {};
}

std::vector<QuantizedPart> Converter::parts() const {
  std::vector<QuantizedPart> all;
  for (const auto& [key, found] : parts_) all.push_back(found);
  return all;
}

/// Removes what was written unless told otherwise.
class PartialDirectory {
 public:
  static Expected<PartialDirectory> create(const fs::path& destination) {
    std::error_code failed;
    PartialDirectory partial;
    partial.destination_ = destination;
    fs::path path = destination;
    path += ".partial";
    if (fs::exists(fs::symlink_status(path, failed))) {
      return error(StatusCode::invalid_argument,
                   "{}: is there, left by a quantize that was killed or still runs; remove it",
                   printable(path.string()));
    }
    fs::create_directories(path, failed);
    if (failed) {
      return error(StatusCode::invalid_argument, "cannot create {}: {}", printable(path.string()), failed.message());
    }
    partial.path_ = path;
    return partial;
  }
  PartialDirectory(PartialDirectory&& other) noexcept
      : destination_(std::move(other.destination_)), path_(std::exchange(other.path_, {})) {}
  PartialDirectory& operator=(PartialDirectory&&) = delete;
  ~PartialDirectory() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }

  [[nodiscard]] const fs::path& path() const { return path_; }

  Status keep() {
    // rename(2) would replace an empty directory.
    std::error_code failed;
    if (fs::exists(fs::symlink_status(destination_, failed))) {
      return error(StatusCode::invalid_argument, "{}: has come into being meanwhile", printable(destination_.string()));
    }
    fs::rename(path_, destination_, failed);
    if (failed) {
      return error(StatusCode::unavailable, "cannot rename {} to {}: {}", printable(path_.string()),
                   printable(destination_.string()), failed.message());
    }
    path_.clear();
    return {};
  }

 private:
  PartialDirectory() = default;
  fs::path destination_;
  fs::path path_;
};

/// Files beside the weights, and those that stay behind.
struct SmallFiles {
  std::vector<fs::path> copied;
  std::vector<std::string> left_out;
  uintmax_t bytes = 0;
};

Expected<SmallFiles> list_small_files(const fs::path& directory) {
  SmallFiles files;
  std::error_code failed;
  for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end; entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    const bool rewritten = name == "config.json" || name == "hf_quant_config.json" || name.ends_with(".safetensors") ||
                           name == "model.safetensors.index.json";
    if (rewritten || name.starts_with(".")) continue;
    std::error_code unknown;
    const uintmax_t bytes = entry->is_regular_file(unknown) ? entry->file_size(unknown) : kMaxFileBytes + 1;
    if (unknown || bytes > kMaxFileBytes) {
      files.left_out.push_back(name);
    } else {
      files.copied.push_back(entry->path());
      files.bytes += bytes;
    }
  }
  if (failed) {
    return error(StatusCode::not_found, "cannot list {}: {}", printable(directory.string()), failed.message());
  }
  std::sort(files.copied.begin(), files.copied.end());
  std::sort(files.left_out.begin(), files.left_out.end());
  return files;
}

Status check_space(const fs::path& destination, uintmax_t bytes) {
  fs::path existing = fs::absolute(destination).parent_path();
  std::error_code failed;
  while (!fs::exists(existing, failed) && existing.has_relative_path()) existing = existing.parent_path();
  const fs::space_info space = fs::space(existing, failed);
  constexpr uintmax_t kMargin = 64 << 20;  // headers, the index, what others write meanwhile
  if (failed || space.available >= bytes + kMargin) return {};
  return error(StatusCode::resource_exhausted, "{}: {} are needed and {} are free on that disk",
               printable(destination.string()), format_bytes(bytes + kMargin), format_bytes(space.available));
}

Status write_text(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file ? Status() : error(StatusCode::unavailable, "cannot write {}; is the disk full?", path.string());
}

/// config.json comes last: a directory that has it has everything.
Status write_texts(const format::Checkpoint& source, const fs::path& directory, const SmallFiles& files,
                   const QuantizePlan& plan) {
  for (const fs::path& file : files.copied) {
    std::error_code failed;
    fs::copy_file(file, directory / file.filename(), failed);
    if (failed) return error(StatusCode::unavailable, "cannot copy {}: {}", printable(file.string()), failed.message());
  }
  if (plan.dialect == format::Dialect::modelopt && !plan.modules.modules.empty()) {
    TESSERA_RETURN_IF_ERROR(
        write_text(directory / "hf_quant_config.json", hf_quant_config(plan.modules).dump(2) + "\n"));
  }
  TESSERA_ASSIGN_OR_RETURN(const std::optional<std::string> text, source.read_text("config.json"));
  OrderedJson config = OrderedJson::parse(text.value_or(""), nullptr, /*allow_exceptions=*/false);
  if (!config.is_object()) return error(StatusCode::corrupt_data, "config.json has changed meanwhile");
  const auto drop_old = [](OrderedJson& object) {
    object.erase("quantization_config");
    object.erase("compression_config");  // its name in old files
  };
  drop_old(config);
  if (config.contains("text_config") && config["text_config"].is_object()) drop_old(config["text_config"]);
  if (!plan.modules.modules.empty()) config["quantization_config"] = quantization_config(plan.dialect, plan.modules);
  return write_text(directory / "config.json", config.dump(2) + "\n");
}

uintmax_t total_bytes(const QuantizePlan& plan) {
  uintmax_t total = 0;
  for (const auto& tensor : plan.declarations) {
    uintmax_t bytes = size_bytes(tensor.dtype);
    for (const int64_t dim : tensor.shape) bytes *= static_cast<uintmax_t>(dim);
    total += bytes;
  }
  return total;
}

}  // namespace

Expected<KindFormats> quantize_recipe(std::string_view recipe, WeightFormat format) {
  using enum TensorKind;
  const KindFormats mlps = {{routed_expert, format}, {shared_expert, format}, {mlp, format}};
  const auto with = [&](std::vector<TensorKind> kinds, WeightFormat to) {
    KindFormats formats = mlps;
    for (const TensorKind kind : kinds) formats[kind] = to;
    return formats;
  };
  if (recipe == "experts") return KindFormats{{routed_expert, format}, {mlp, format}};
  if (recipe == "mlp") return mlps;
  if (recipe == "balanced") return with({attention, delta_net}, WeightFormat::fp8_e4m3);
  if (recipe == "all") return with({attention, delta_net, lm_head, mtp}, format);
  return error(StatusCode::not_found, "no recipe \"{}\"; there are experts, mlp, balanced and all", recipe);
}

Expected<QuantizeReport> quantize_checkpoint(const format::Checkpoint& source, const fs::path& destination,
                                             const QuantizeOptions& options, ThreadPool& pool) {
  fs::path target = destination.lexically_normal();
  if (!target.has_filename()) target = target.parent_path();  // "out/"
  std::error_code failed;
  if (target.empty()) return Status(StatusCode::invalid_argument, "the destination's name is empty");
  if (fs::exists(fs::symlink_status(target, failed))) {
    return error(StatusCode::invalid_argument, "{}: is there already; name a directory that is not",
                 printable(destination.string()));
  }
  TESSERA_ASSIGN_OR_RETURN(QuantizePlan plan, plan_quantization(source, options));
  TESSERA_ASSIGN_OR_RETURN(SmallFiles files, list_small_files(source.directory()));
  TESSERA_RETURN_IF_ERROR(check_space(target, total_bytes(plan) + files.bytes));
  TESSERA_ASSIGN_OR_RETURN(PartialDirectory partial, PartialDirectory::create(target));
  TESSERA_ASSIGN_OR_RETURN(auto writer, format::ShardedWriter::create(partial.path(), std::move(plan.declarations),
                                                                      options.shard_bytes_max));
  Converter converter(source, options, plan, pool, writer);
  TESSERA_RETURN_IF_ERROR(converter.run());
  TESSERA_RETURN_IF_ERROR(writer.finish());
  TESSERA_RETURN_IF_ERROR(write_texts(source, partial.path(), files, plan));
  TESSERA_RETURN_IF_ERROR(partial.keep());
  return QuantizeReport{plan.dialect, converter.parts(), std::move(plan.already_quantized), std::move(files.left_out)};
}

}  // namespace tessera::model
