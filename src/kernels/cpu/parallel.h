#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "kernels/context.h"

namespace tessera::kernels::cpu {

/// Calls body(begin, end, thread) over [0, count), cut into at most 8 ranges a thread: few enough that taking a
/// range costs nothing, enough to even out unequal work. `grain` > 0 fixes the length of a range instead (1 where an
/// item is large). Allocates nothing.
template <typename Body>
void parallel_ranges(const Context& context, int64_t count, const Body& body, int64_t grain = 0) {
  if (count <= 0) return;
  if (grain <= 0) grain = (count + 8 * context.pool->size() - 1) / (8 * context.pool->size());
  const auto run = [&](int64_t chunk, int thread) {
    body(chunk * grain, std::min(count, (chunk + 1) * grain), thread);
  };
  context.pool->run_chunks((count + grain - 1) / grain, std::cref(run));
}

}  // namespace tessera::kernels::cpu
