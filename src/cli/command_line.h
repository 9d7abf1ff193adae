#pragma once

namespace tessera::cli {

// Exit codes.
inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;
inline constexpr int kUsage = 2;          // a command line that makes no sense
inline constexpr int kInterrupted = 130;  // 128 + SIGINT, as shells report it; SIGTERM gives 143

/// The whole program: parses, acts, reports. Returns an exit code.
int run_command_line(int argc, char** argv);

}  // namespace tessera::cli
