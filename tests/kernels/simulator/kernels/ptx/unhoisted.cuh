#pragma once

namespace tessera::kernels::ptx {

inline int unhoisted(int x) { return x; }

}  // namespace tessera::kernels::ptx
