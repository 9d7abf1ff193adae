#include "base/write_all.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace tessera {

int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

int replace_file(const std::filesystem::path& file, std::string_view text) {
  std::string partial = file.string() + ".XXXXXX";
  const int descriptor = ::mkostemp(partial.data(), O_CLOEXEC);
  if (descriptor < 0) return errno;
  int reason = write_all(descriptor, text);
  if (reason == 0 && ::fsync(descriptor) != 0) reason = errno;
  if (::close(descriptor) != 0 && reason == 0) reason = errno;
  if (reason == 0 && std::rename(partial.c_str(), file.c_str()) != 0) reason = errno;
  if (reason != 0) (void)::unlink(partial.c_str());
  return reason;
}

}  // namespace tessera
