#pragma once

// Programmatic dependent launch. Without the launch attribute both do nothing.
namespace tessera::kernels::ptx {

/// Returns when the kernels that this one depends on have finished, their writes visible.
__device__ inline void griddepcontrol_wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

/// Lets the dependent kernel's blocks start. Called after this kernel's own wait, so that at most two are under way.
__device__ inline void griddepcontrol_launch_dependents() { asm volatile("griddepcontrol.launch_dependents;"); }

}  // namespace tessera::kernels::ptx
