#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "base/status.h"

namespace tessera::format {

/// A file mapped for reading. A file that somebody shortens while it is mapped ends the process (SIGBUS), as with
/// any mapping.
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
  /// Gives back the memory of the pages wholly inside `part`; they are read from the file again if touched. Nothing
  /// happens for bytes outside this mapping.
  void drop_pages(std::span<const std::byte> part) const;

 private:
  std::span<const std::byte> bytes_;
  std::filesystem::path path_;
};

}  // namespace tessera::format
