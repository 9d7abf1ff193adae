#pragma once

#include <cstddef>

namespace tessera {

/// Memory of this process that is in RAM; 0 where the system does not say.
size_t resident_bytes();

}  // namespace tessera
