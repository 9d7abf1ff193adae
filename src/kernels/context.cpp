#include "kernels/context.h"

#include <algorithm>

namespace tessera::kernels {

std::byte* Workspace::take_bytes(size_t bytes) {
  bytes = (bytes + 63) / 64 * 64;
  while (chunk_ < chunks_.size() && used_ + bytes > chunks_[chunk_].size()) {
    ++chunk_;
    used_ = 0;
  }
  if (chunk_ == chunks_.size()) chunks_.emplace_back(std::max<size_t>(bytes, 1 << 20));
  std::byte* taken = chunks_[chunk_].data() + used_;
  used_ += bytes;
  return taken;
}

}  // namespace tessera::kernels
