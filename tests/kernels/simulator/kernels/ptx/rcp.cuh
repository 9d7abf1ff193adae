#pragma once

namespace tessera::kernels::ptx {

inline float rcp_approx(float x) { return 1.0F / x; }

}  // namespace tessera::kernels::ptx
