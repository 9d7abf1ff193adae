#pragma once

#include <optional>
#include <string>

#include "base/status.h"

namespace tessera::engine {

/// The GPU that EngineOptions::device means, or nullopt for the CPU. auto: the first GPU that this build has kernels
/// for, else the CPU; the CPU too where needs_cpu (compute fp32). invalid_argument for other words; not_found and
/// unsupported where a GPU was asked for and there is none, or none that this build can use.
Expected<std::optional<int>> choose_gpu(const std::string& device, bool needs_cpu);

}  // namespace tessera::engine
