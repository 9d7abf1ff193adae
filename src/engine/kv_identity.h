#pragma once

#include <filesystem>
#include <string_view>

#include "engine/kv_file.h"

namespace tessera::engine {

/// Of what decides the bits of keys, values and states: this program's file, the checkpoint in `model`, and `settings`,
/// which names device and types. Of weights, the shards' names, sizes, times and heads and 64 places in each are looked
/// at: a checkpoint that was copied or touched counts as another one.
Expected<KvIdentity> kv_identity(const std::filesystem::path& model, std::string_view settings);

}  // namespace tessera::engine
