#pragma once

#include <fmt/format.h>

#include "base/propagate.h"
#include "tessera/status.h"

namespace tessera {

/// error(StatusCode::not_found, "no tensor '{}' in {}", name, file)
template <typename... Args>
Status error(StatusCode code, fmt::format_string<Args...> message, Args&&... args) {
  return {code, fmt::format(message, std::forward<Args>(args)...)};
}

}  // namespace tessera
