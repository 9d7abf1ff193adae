#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tessera/status.h"

namespace tessera::device {

/// A copy from one GPU's memory into another's, counted as CUDA does, and what came of it.
struct PeerCopy {
  enum class Result { equal, differs, hangs, failed };

  int from = 0, to = 0;
  bool direct = false;  // the driver lets one GPU write the other's memory; else the copy goes through the host's
  Result result = Result::failed;
  double bytes_per_second = 0;
  std::string error;  // failed: the call
};

/// Copies `bytes` of noise between all GPUs of this process, each way, and compares what arrives: a platform that
/// redirects or drops writes between GPUs says that it can copy, and then does not. Takes `bytes` on each of two GPUs
/// at a time. After a copy that has not arrived within seconds no other is tried, and the process must end without
/// tearing CUDA down, which would wait for it.
Expected<std::vector<PeerCopy>> try_peer_copies(size_t bytes);

}  // namespace tessera::device
