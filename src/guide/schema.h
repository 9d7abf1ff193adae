#pragma once

#include <nlohmann/json.hpp>

#include "guide/source.h"

namespace tessera::guide {

/// prepare_schema of a schema that is read already; `place` names it in errors.
Status prepare_schema(nlohmann::ordered_json& schema, const std::string& place);

/// JSON of a bounded depth.
Expected<nlohmann::ordered_json> parse_source(const std::string& text, const char* what);

}  // namespace tessera::guide
