#include "cli/write_file.h"

#include <cstring>

#include "base/status.h"
#include "base/write_all.h"

namespace tessera::cli {

Status write_file(const std::filesystem::path& file, std::string_view text) {
  const int reason = replace_file(file, text);
  if (reason == 0) return {};
  return error(StatusCode::unavailable, "cannot write {}: {}", file.string(), std::strerror(reason));
}

}  // namespace tessera::cli
