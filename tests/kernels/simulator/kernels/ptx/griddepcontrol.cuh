#pragma once

namespace tessera::kernels::ptx {

inline void griddepcontrol_wait() {}  // grids run one after another here
inline void griddepcontrol_launch_dependents() {}

}  // namespace tessera::kernels::ptx
