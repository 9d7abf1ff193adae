#pragma once

#include <memory>
#include <span>

#include "kernels/backend.h"
#include "kernels/context.h"

namespace tessera::kernels::cpu {

/// The reference backend and the embedded default: every operation, on any machine. What `context` points to must
/// outlive it; one thread at a time uses it.
std::unique_ptr<kernels::Backend> make_backend(const Context& context);

/// The logits of a pass of this backend's, in place, for a sampler: [logit_rows_max, vocab], those of the last pass
/// first.
std::span<float> logits(Pass& pass);

}  // namespace tessera::kernels::cpu
