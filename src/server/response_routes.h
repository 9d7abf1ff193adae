#pragma once

#include <functional>
#include <vector>

#include "server/generation.h"
#include "server/router.h"

namespace tessera::server {

/// Responses that are kept: GET and DELETE /v1/responses/{id}, GET .../input_items, POST .../cancel. `work` is there
/// once there is a model.
void add_response_routes(std::function<Work&()> work, std::vector<Route>& routes);

}  // namespace tessera::server
