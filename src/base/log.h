#pragma once

#include <spdlog/spdlog.h>

// Logging is spdlog as it is: spdlog::info("..."), ::warn, ::error, to standard error.
namespace tessera {

/// Sends log lines to standard error, at the level named by TESSERA_LOG (trace, debug, info, warn, error, off;
/// default warn). Called once by main; library code only logs.
void init_logging();

}  // namespace tessera
