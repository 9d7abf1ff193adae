#pragma once

// Programmatic dependent launch: kernels/cuda/step_tables.h has the rule. Without the launch attribute both do nothing.
namespace tessera::kernels::ptx {

/// Returns when the kernels that this one depends on have finished, their writes visible.
__device__ inline void griddepcontrol_wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

/// Lets the dependent kernel's blocks start, once every block of this one has called it or ended.
__device__ inline void griddepcontrol_launch_dependents() { asm volatile("griddepcontrol.launch_dependents;"); }

}  // namespace tessera::kernels::ptx
