#include "base/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tessera {
bool read_to_end(int descriptor, size_t bytes_max, std::string& text) {
  while (text.size() <= bytes_max) {
    const size_t before = text.size();
    const size_t piece = std::min(std::max<size_t>(before, size_t{1} << 16), bytes_max + 1 - before);
    text.resize(before + piece);
    const ssize_t got = ::read(descriptor, text.data() + before, piece);
    text.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) break;
    if (got < 0 && errno != EINTR) return false;
  }
  return true;
}

std::string irregular_kind(unsigned mode) {
  if (S_ISREG(mode)) return {};
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  return S_ISSOCK(mode) ? "a socket" : "a device";
}

Expected<std::string> read_regular_file(const std::filesystem::path& file, size_t bytes_max) {
  const auto failed = [&](StatusCode code) {
    return error(code, "cannot read {}: {}", file.string(), std::strerror(errno));
  };
  // O_NONBLOCK: to open a pipe must not wait for who writes. It means nothing for a regular file.
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) {
    return failed(errno == ENOENT || errno == ENOTDIR ? StatusCode::not_found : StatusCode::invalid_argument);
  }
  const auto read = [&]() -> Expected<std::string> {
    struct stat info {};
    if (::fstat(descriptor, &info) != 0) return failed(StatusCode::unavailable);
    if (const std::string kind = irregular_kind(info.st_mode); !kind.empty()) {
      return error(StatusCode::invalid_argument, "{} is {}, expected a regular file", file.string(), kind);
    }
    std::string text;
    if (!read_to_end(descriptor, bytes_max, text)) return failed(StatusCode::unavailable);
    if (text.size() > bytes_max) {
      return error(StatusCode::resource_exhausted,
                   "{} is larger than {} bytes, which are the most that such a file has", file.string(), bytes_max);
    }
    return text;
  };
  auto text = read();
  ::close(descriptor);
  return text;
}

}  // namespace tessera
