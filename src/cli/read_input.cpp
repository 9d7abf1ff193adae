#include "cli/read_input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/read_file.h"

namespace tessera::cli {
namespace {

constexpr size_t kInputBytesMax = size_t{1} << 30;

Expected<std::string> read_descriptor(int descriptor, const std::string& name) {
  std::string text;
  if (!read_to_end(descriptor, kInputBytesMax, text)) {
    return error(StatusCode::invalid_argument, "cannot read {}: {}", name, std::strerror(errno));
  }
  if (text.size() > kInputBytesMax) {
    return error(StatusCode::resource_exhausted, "{} is larger than 1 GiB; split it", name);
  }
  return text;
}

}  // namespace

Expected<std::string> read_input(const std::string& file) {
  if (file == "-") return read_descriptor(STDIN_FILENO, "standard input");
  struct stat info {};
  if (::stat(file.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISFIFO(info.st_mode)) {
    return error(StatusCode::invalid_argument, "{} is {}, expected a file or a pipe", file,
                 irregular_kind(info.st_mode));
  }
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return error(StatusCode::not_found, "cannot open {}: {}", file, std::strerror(errno));
  auto text = read_descriptor(descriptor, file);
  ::close(descriptor);
  return text;
}

}  // namespace tessera::cli
