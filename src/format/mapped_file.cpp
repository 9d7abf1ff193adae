#include "format/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>

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

struct FileDescriptor {
  int fd = -1;
  ~FileDescriptor() {
    if (fd >= 0) ::close(fd);
  }
};

bool is_lfs_pointer(std::span<const std::byte> bytes) {
  constexpr std::string_view kPrefix = "version https://git-lfs.github.com/spec/";
  return bytes.size() >= kPrefix.size() && std::memcmp(bytes.data(), kPrefix.data(), kPrefix.size()) == 0;
}

}  // namespace

Expected<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const std::string name = printable(path.string());
  // O_NONBLOCK: opening a FIFO must not wait for a writer; it means nothing for a regular file.
  const FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) return cannot_open(path, errno);
  struct stat info {};
  if (::fstat(file.fd, &info) != 0) return cannot_open(path, errno);
  if (S_ISDIR(info.st_mode)) return error(StatusCode::invalid_argument, "{}: is a directory, not a file", name);
  if (!S_ISREG(info.st_mode)) return error(StatusCode::invalid_argument, "{}: is not a regular file", name);
  if (info.st_size == 0) {
    return error(StatusCode::corrupt_data, "{}: the file is empty; download it again", name);
  }
  const auto size = static_cast<size_t>(info.st_size);
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (address == MAP_FAILED) {
    return error(StatusCode::resource_exhausted, "{}: cannot map {} bytes: {}", name, size, std::strerror(errno));
  }
  MappedFile mapped;
  mapped.bytes_ = {static_cast<const std::byte*>(address), size};
  mapped.path_ = path;
  if (is_lfs_pointer(mapped.bytes_)) {
    return error(StatusCode::corrupt_data,
                 "{}: is a Git LFS pointer of {} bytes, not the content it points to; run `git lfs pull` in that "
                 "repository",
                 name, size);
  }
  return mapped;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), path_(std::move(other.path_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(path_, other.path_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

bool MappedFile::contains(std::span<const std::byte> part) const {
  const std::less_equal<const std::byte*> at_most;
  return !bytes_.empty() && at_most(bytes_.data(), part.data()) &&
         at_most(part.data() + part.size(), bytes_.data() + bytes_.size());
}

void MappedFile::drop_pages(std::span<const std::byte> part) const {
  if (!contains(part)) return;
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(part.data()) + page - 1) / page * page;
  uintptr_t end = reinterpret_cast<uintptr_t>(part.data() + part.size());
  // The file's last page holds nothing else than its last bytes.
  if (part.data() + part.size() != bytes_.data() + bytes_.size()) end = end / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace tessera::format
