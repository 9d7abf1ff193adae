#pragma once

#include <string>
#include <string_view>

#include "tessera/status.h"

namespace tessera::kernels::cpu {

/// The environment variable by which the program and tests choose; unset or empty: the best that the CPU has.
inline constexpr const char* kSimdVariable = "TESSERA_SIMD";

/// Keeps kernels to one instruction set, in place of the best: "ssse3", "avx2", "avx512" on x86-64. Results are the
/// same bits on all of them. To be called before kernels run. An error names what is compiled and what this CPU has.
Status use_simd_target(std::string_view name);

/// use_simd_target with what kSimdVariable says, if it says something.
Status use_simd_target_of_environment();

/// What kernels run on: "avx512", "avx2", ...
std::string simd_target();

}  // namespace tessera::kernels::cpu
