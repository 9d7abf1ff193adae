#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "format/mapped_file.h"

namespace tessera::format {

inline constexpr size_t kMaxHeaderBytes = 100'000'000;  // the format's own limit

/// A tensor in a mapped file. The bytes live as long as the SafetensorsFile and need not be aligned; who loads copies
/// them (copy_bytes of mapped_file.h).
struct TensorView {
  DType dtype = DType::u8;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;
  const MappedFile* file = nullptr;  // that the bytes lie in; null: in memory
};

/// One memory-mapped .safetensors file, checked on opening: header length (at most 100 MB), JSON, UTF-8, dtypes,
/// shapes, overflow, duplicate names, offsets in range, without overlap or hole, data_offsets against shape x dtype.
/// Unaligned tensors are allowed.
class SafetensorsFile {
 public:
  static Expected<std::shared_ptr<const SafetensorsFile>> open(const std::filesystem::path& path);
  /// The same checks on bytes in memory (fuzzing, tests); `bytes` must outlive the result.
  static Expected<std::shared_ptr<const SafetensorsFile>> parse(std::span<const std::byte> bytes,
                                                                const std::string& name);
  SafetensorsFile(const SafetensorsFile&) = delete;
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;

  [[nodiscard]] const std::map<std::string, TensorView, std::less<>>& tensors() const { return tensors_; }
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// Tensors of a dtype that the format knows and Tessera does not (BOOL, F64, I16, ...), name to dtype: they are
  /// checked like the others and left out of tensors(), so that a file is refused only when such a tensor is needed.
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& foreign_tensors() const {
    return foreign_tensors_;
  }

  /// The file's path; empty for parse.
  [[nodiscard]] const std::filesystem::path& path() const { return file_.path(); }
  /// The whole mapping, header included; empty for parse. A byte's place in it is its place in the file.
  [[nodiscard]] std::span<const std::byte> mapping() const { return file_.bytes(); }
  /// Whether `bytes` lie in this file's mapping (never for parse).
  [[nodiscard]] bool contains(std::span<const std::byte> bytes) const { return file_.contains(bytes); }
  [[nodiscard]] const MappedFile& file() const { return file_; }

 private:
  SafetensorsFile() = default;
  Status read_header(std::string_view header, std::span<const std::byte> buffer, const std::string& name);
  MappedFile file_;
  std::map<std::string, TensorView, std::less<>> tensors_;
  std::map<std::string, std::string, std::less<>> foreign_tensors_;
  std::map<std::string, std::string> metadata_;
};

/// Writes a file tensor by tensor: names, dtypes and shapes first, then the bytes in the order declared, so that
/// memory stays small whatever the file's size. The file appears under its name only when finish() succeeds.
class SafetensorsWriter {
 public:
  struct Declaration {
    std::string name;
    DType dtype = DType::u8;
    std::vector<int64_t> shape;
  };
  static Expected<SafetensorsWriter> create(const std::filesystem::path& path, std::vector<Declaration> tensors,
                                            std::map<std::string, std::string> metadata = {});
  SafetensorsWriter(SafetensorsWriter&&) noexcept;
  SafetensorsWriter& operator=(SafetensorsWriter&&) noexcept;
  ~SafetensorsWriter();

  /// Appends bytes of the tensor that is due next; a tensor may come in several pieces.
  Status write(std::span<const std::byte> bytes);
  /// Checks that everything declared was written, syncs, renames into place.
  Status finish();

 private:
  struct State;
  explicit SafetensorsWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tessera::format
