#pragma once

#include <vector>

#include "plan/desc.h"
#include "plan/device_facts.h"
#include "plan/tile.h"
#include "tessera/status.h"

namespace tessera::cli {

/// Tiles of one product that are worth a measurement on this GPU, the most promising first. Estimates rank tiles well
/// enough that the fastest is not far down; a run of every tile would take minutes a shape. unsupported: none can run.
Expected<std::vector<plan::Tile>> worth_measuring(const plan::Desc& desc, const plan::DeviceFacts& gpu);

}  // namespace tessera::cli
