#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/status.h"

namespace tessera::format {

/// The weight_map of a model.safetensors.index.json: tensor name (as in the file) to shard. A shard is a plain file
/// name; anything with a path in it is refused. `file` names the index in errors.
Expected<std::map<std::string, std::string, std::less<>>> parse_shard_index(std::string_view json,
                                                                            const std::string& file);

/// The canonical name of a tensor (checkpoint.h); empty for vision tensors.
std::string canonical_name(std::string_view name);

}  // namespace tessera::format
