#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>

#include <cstdlib>

namespace tessera {

void init_logging() {
  auto logger = spdlog::stderr_color_mt("tessera");
  logger->set_pattern("[%H:%M:%S.%e] %^%l%$: %v");
  const char* level = std::getenv("TESSERA_LOG");
  logger->set_level(level != nullptr ? spdlog::level::from_str(level) : spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace tessera
