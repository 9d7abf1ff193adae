#include "engine/kv_identity.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/hash.h"
#include "format/mapped_file.h"

namespace tessera::engine {
namespace {

constexpr off_t kPlaces = 64;
constexpr size_t kPlaceBytes = 4096;
constexpr size_t kProgramReadBytes = size_t{1} << 20;

class Digest {
 public:
  void add(std::span<const std::byte> bytes) {
    for (size_t i = 0; i < sums_.size(); ++i) sums_[i] = checksum(bytes, sums_[i] + i);
  }
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  void add(int64_t number) { add(std::as_bytes(std::span(&number, 1))); }
  [[nodiscard]] const KvIdentity& sums() const { return sums_; }

 private:
  KvIdentity sums_ = {1, 2};
};

/// `places` pieces of `file`, evenly spread, the first at its beginning; 0: all of it.
Status add_file(const std::filesystem::path& file, off_t places, Digest& digest) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat about {};
  if (descriptor < 0 || ::fstat(descriptor, &about) != 0) {
    const int reason = errno;
    if (descriptor >= 0) ::close(descriptor);
    return error(StatusCode::unavailable, "cannot read {}: {}", file.string(), std::strerror(reason));
  }
  digest.add(about.st_size);
  std::vector<std::byte> piece(places == 0 ? kProgramReadBytes : kPlaceBytes);
  const auto step = places == 0 ? static_cast<off_t>(piece.size())
                                : std::max(about.st_size / places, static_cast<off_t>(piece.size()));
  Status status;
  for (off_t at = 0; at < about.st_size && status.ok(); at += step) {
    const ssize_t got = format::read_at(descriptor, piece.data(), piece.size(), static_cast<uint64_t>(at));
    if (got < 0) status = error(StatusCode::unavailable, "cannot read {}: {}", file.string(), std::strerror(errno));
    if (got > 0) digest.add(std::span(piece).first(static_cast<size_t>(got)));
  }
  if (places > 0) {
    digest.add(about.st_mtim.tv_sec);
    digest.add(about.st_mtim.tv_nsec);
  }
  ::close(descriptor);
  return status;
}

}  // namespace

Expected<KvIdentity> kv_identity(const std::filesystem::path& model, std::string_view settings) {
  Digest digest;
  digest.add(settings);
  TESSERA_RETURN_IF_ERROR(add_file("/proc/self/exe", 0, digest));
  std::vector<std::filesystem::path> files;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(model, failure)) {
    const auto& file = entry.path();
    if (file.extension() == ".safetensors" || file.extension() == ".json") files.push_back(file);
  }
  if (failure) return error(StatusCode::unavailable, "cannot list {}: {}", model.string(), failure.message());
  std::ranges::sort(files);
  for (const auto& file : files) {
    digest.add(file.filename().string());
    TESSERA_RETURN_IF_ERROR(add_file(file, kPlaces, digest));
  }
  return digest.sums();
}

}  // namespace tessera::engine
