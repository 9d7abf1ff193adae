#pragma once

#include <string>

#include "plan/device_facts.h"
#include "plan/tile.h"

namespace tessera::plan {

/// Why this tile cannot run on this GPU, in one line with the numbers; empty if it can. The first rule that a tile
/// breaks speaks: shape, shared memory, registers (more of them where K is summed in segments), then what this GPU has.
std::string reject_reason(const Tile& tile, const DeviceFacts& device, int segments = 1);

}  // namespace tessera::plan
