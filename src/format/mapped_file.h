#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "base/status.h"

namespace tessera::format {

/// A file mapped for reading, so that what lies in it has addresses and can be passed around as views.
///
/// Who loads does not follow those addresses but copies with read(): a file that somebody shortens ends the process
/// that touches its mapping (SIGBUS), where read() is an error. Const members may be called from several threads.
class MappedFile {
 public:
  /// Says what is wrong in the user's terms: nothing there, a dangling link of a download cache, a directory, no
  /// permission, an empty file, a Git LFS pointer instead of the content.
  static Expected<MappedFile> open(const std::filesystem::path& path);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Whether `part` lies inside this mapping.
  [[nodiscard]] bool contains(std::span<const std::byte> part) const;
  /// Copies `part`, which lies inside this mapping, from the file. unavailable: the file has become shorter, or cannot
  /// be read; names the file.
  Status read(std::span<const std::byte> part, std::byte* to) const;
  /// unavailable if the file has been written since it was opened, as its size and time of change tell: what was read
  /// may be of two versions.
  [[nodiscard]] Status check_unchanged() const;
  /// Of the open file; -1 if there is none.
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  std::span<const std::byte> bytes_;
  std::filesystem::path path_;
  int descriptor_ = -1;
  int64_t changed_at_ = 0;  // modification time, ns
};

/// Copies bytes that lie in `file`, or in memory if there is none.
Status copy_bytes(const MappedFile* file, std::span<const std::byte> bytes, std::byte* to);

/// pread of all of it; the number of bytes that were there, -1 with errno.
ssize_t read_at(int descriptor, std::byte* to, size_t size, uint64_t offset);

}  // namespace tessera::format
