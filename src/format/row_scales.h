#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "format/checkpoint.h"

namespace tessera::format {

/// FP8 row scales as aligned fp32, decoded on first use. Map nodes stay where they are, so that spans into them hold.
struct Checkpoint::RowScales {
  std::mutex mutex;
  std::map<std::string, std::vector<float>> by_module;
};

}  // namespace tessera::format
