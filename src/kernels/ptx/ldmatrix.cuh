#pragma once

#include <cstdint>

// 8x8 matrices of 16-bit elements from shared memory to the fragments of a warp. Lane 8 i + r gives the address of row
// r of matrix i: 16 bytes, aligned to 16. Lane 4 g + q holds of each matrix the elements 2q and 2q+1 of row g; with
// trans those of column g, rows 2q and 2q+1.
namespace tessera::kernels::ptx {

__device__ inline void ldmatrix_x4(uint32_t (&d)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(address)
               : "memory");
}

__device__ inline void ldmatrix_x4_trans(uint32_t (&d)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(address)
               : "memory");
}

/// Two matrices, by the addresses of lanes 0 to 15.
__device__ inline void ldmatrix_x2_trans(uint32_t (&d)[2], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(address)
               : "memory");
}

}  // namespace tessera::kernels::ptx
