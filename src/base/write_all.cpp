#include "base/write_all.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
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
  static std::atomic<unsigned> made{0};
  std::string partial;
  int descriptor = -1;
  do {  // not mkstemp: its files are for their owner alone
    partial = file.string() + "." + std::to_string(::getpid()) + "-" + std::to_string(made++);
    descriptor = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EEXIST);
  if (descriptor < 0) return errno;
  struct stat before {};
  if (::stat(file.c_str(), &before) == 0 && S_ISREG(before.st_mode)) (void)::fchmod(descriptor, before.st_mode & 0777);
  int reason = write_all(descriptor, text);
  if (reason == 0 && ::fsync(descriptor) != 0) reason = errno;
  if (::close(descriptor) != 0 && reason == 0) reason = errno;
  if (reason == 0 && std::rename(partial.c_str(), file.c_str()) != 0) reason = errno;
  if (reason != 0) (void)::unlink(partial.c_str());
  return reason;
}

}  // namespace tessera
