#include "kernels/sample.h"

#include "base/status.h"

namespace tessera::kernels {

Status non_finite_logits() {
  return {StatusCode::corrupt_data,
          "the model produced logits that are NaN or infinite; its weights are damaged or do not match its config"};
}

Status no_token_left(int64_t known_ids) {
  return error(StatusCode::invalid_argument,
               "no token is left to choose: all {} are ruled out; lower min_tokens or shorten stop_token_ids",
               known_ids);
}

}  // namespace tessera::kernels
