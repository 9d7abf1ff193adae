#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace tessera::internal {

void check_failed(const char* file, int line, const char* text, const std::string& operands) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s%s%s%s\n", file, line, text, operands.empty() ? "" : " (",
               operands.c_str(), operands.empty() ? "" : ")");
  std::abort();
}

}  // namespace tessera::internal
