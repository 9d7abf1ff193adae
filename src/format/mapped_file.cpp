#include "format/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "format/printable.h"

namespace tessera::format {
namespace {

Status cannot_open(const std::filesystem::path& path, int error_number) {
  const std::string name = printable(path.string());
  std::error_code ignored;
  if (error_number == ENOENT && std::filesystem::is_symlink(path, ignored)) {
    const auto target = std::filesystem::read_symlink(path, ignored);
    return error(StatusCode::not_found,
                 "{}: the link dangles: its target {} is not there (an interrupted or pruned download); download the "
                 "model again",
                 name, printable(target.string()));
  }
  const StatusCode code =
      error_number == ENOENT || error_number == ENOTDIR ? StatusCode::not_found : StatusCode::invalid_argument;
  return error(code, "{}: cannot open the file: {}", name, std::strerror(error_number));
}

int64_t modified_at(const struct stat& info) {
  return int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
}

bool is_lfs_pointer(int descriptor) {
  constexpr std::string_view kPrefix = "version https://git-lfs.github.com/spec/";
  std::array<std::byte, kPrefix.size()> start;
  const ssize_t found = read_at(descriptor, start.data(), start.size(), 0);
  return found == static_cast<ssize_t>(start.size()) && std::memcmp(start.data(), kPrefix.data(), start.size()) == 0;
}

}  // namespace

Expected<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const std::string name = printable(path.string());
  // O_NONBLOCK: opening a FIFO must not wait for a writer; it means nothing for a regular file.
  MappedFile mapped;
  mapped.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (mapped.descriptor_ < 0) return cannot_open(path, errno);
  struct stat info {};
  if (::fstat(mapped.descriptor_, &info) != 0) return cannot_open(path, errno);
  if (S_ISDIR(info.st_mode)) return error(StatusCode::invalid_argument, "{}: is a directory, not a file", name);
  if (!S_ISREG(info.st_mode)) return error(StatusCode::invalid_argument, "{}: is not a regular file", name);
  if (info.st_size == 0) {
    return error(StatusCode::corrupt_data, "{}: the file is empty; download it again", name);
  }
  const auto size = static_cast<size_t>(info.st_size);
  if (is_lfs_pointer(mapped.descriptor_)) {
    return error(StatusCode::corrupt_data,
                 "{}: is a Git LFS pointer of {} bytes, not the content it points to; run `git lfs pull` in that "
                 "repository",
                 name, size);
  }
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, mapped.descriptor_, 0);
  if (address == MAP_FAILED) {
    return error(StatusCode::resource_exhausted, "{}: cannot map {} bytes: {}", name, size, std::strerror(errno));
  }
  mapped.bytes_ = {static_cast<const std::byte*>(address), size};
  mapped.path_ = path;
  mapped.changed_at_ = modified_at(info);
  return mapped;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})),
      path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      changed_at_(other.changed_at_) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(changed_at_, other.changed_at_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool MappedFile::contains(std::span<const std::byte> part) const {
  const std::less_equal<const std::byte*> at_most;
  return !bytes_.empty() && at_most(bytes_.data(), part.data()) &&
         at_most(part.data() + part.size(), bytes_.data() + bytes_.size());
}

Status MappedFile::read(std::span<const std::byte> part, std::byte* to) const {
  TESSERA_CHECK(contains(part));
  const auto offset = static_cast<uint64_t>(part.data() - bytes_.data());
  const ssize_t count = read_at(descriptor_, to, part.size(), offset);
  if (count == static_cast<ssize_t>(part.size())) return {};
  return error(StatusCode::unavailable, "{}: cannot read {} bytes at {}: {}", printable(path_.string()), part.size(),
               offset, count < 0 ? std::strerror(errno) : "the file has become shorter");
}

Status MappedFile::check_unchanged() const {
  struct stat info {};
  if (::fstat(descriptor_, &info) == 0 && static_cast<size_t>(info.st_size) == bytes_.size() &&
      modified_at(info) == changed_at_) {
    return {};
  }
  return error(StatusCode::unavailable,
               "{}: has been written while it was read; what was read may be of two versions, so nothing is kept: try "
               "again once it is whole",
               printable(path_.string()));
}

Status copy_bytes(const MappedFile* file, std::span<const std::byte> bytes, std::byte* to) {
  if (file != nullptr) return file->read(bytes, to);
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  return {};
}

ssize_t read_at(int descriptor, std::byte* to, size_t size, uint64_t offset) {
  size_t done = 0;
  while (done < size) {
    const ssize_t count = ::pread(descriptor, to + done, size - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -1;
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  return static_cast<ssize_t>(done);
}

}  // namespace tessera::format
