#pragma once

#include <vector>

#include "server/router.h"

namespace tessera::server {

/// GET / and the files of the page.
void add_page_routes(std::vector<Route>& routes);

}  // namespace tessera::server
