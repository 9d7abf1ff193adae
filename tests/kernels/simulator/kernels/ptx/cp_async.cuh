#pragma once

#include "kernels/simulator/block.h"

namespace tessera::kernels::ptx {

inline void cp_async_ca_16(uint32_t shared_to, const void* from, uint32_t bytes) {
  if (bytes != 0 && bytes != 16) simulator::fail("cp.async of %u bytes", bytes);
  simulator::copy_later(shared_to, from, 16, bytes == 0);
}
inline void cp_async_ca_4(uint32_t shared_to, const void* from) {
  simulator::copy_later(shared_to, from, 4, /*zero=*/false);
}
inline void cp_async_cg_16(uint32_t shared_to, const void* from) { cp_async_ca_16(shared_to, from, 16); }
inline void cp_async_commit_group() { simulator::commit_copies(); }
template <int pending>
void cp_async_wait_group() {
  simulator::wait_for_copies(pending);
}
inline void cp_async_mbarrier_arrive_noinc(uint32_t barrier) { simulator::arrive_after_copies(barrier); }

}  // namespace tessera::kernels::ptx
