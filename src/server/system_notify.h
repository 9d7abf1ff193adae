#pragma once

#include <string_view>

namespace tessera::server {

/// Tells systemd "READY=1", "STOPPING=1" or "WATCHDOG=1" (sd_notify(3)); does nothing without NOTIFY_SOCKET.
void notify_system(std::string_view state);

/// Seconds between two signs of life, half of what systemd waits: WATCHDOG_USEC of sd_watchdog_enabled(3). 0: none.
double watchdog_interval();

}  // namespace tessera::server
