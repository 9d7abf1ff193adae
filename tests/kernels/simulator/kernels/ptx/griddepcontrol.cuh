#pragma once

#include "kernels/simulator/block.h"

namespace tessera::kernels::ptx {

inline void griddepcontrol_wait() { simulator::wait_for_grids(); }
inline void griddepcontrol_launch_dependents() { simulator::trigger_dependents(); }
inline void griddepcontrol_launch_dependents_early() {}

}  // namespace tessera::kernels::ptx
