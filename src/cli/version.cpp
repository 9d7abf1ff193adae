#include "cli/version.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include "commit.h"
#include "kernels/cpu/simd_target.h"

namespace tessera::cli {

std::string version_text() {
  utsname machine{};
  (void)::uname(&machine);
  return fmt::format(
      "tessera {}\n"
      "commit: {}\n"
      "compilers: {}\n"
      "GPU architectures: {}\n"
      "CPU: {}, kernels for {} are used here",
      TESSERA_VERSION, TESSERA_COMMIT, TESSERA_COMPILERS, TESSERA_GPU_ARCHITECTURES, machine.machine,
      kernels::cpu::simd_target());
}

}  // namespace tessera::cli
