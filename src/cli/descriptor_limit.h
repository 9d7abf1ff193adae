#pragma once

#include <cstdint>

namespace tessera::cli {

/// How many files and connections this process may have open at once. -1: as many as it likes.
struct DescriptorLimit {
  int64_t before = 0, after = 0;
};

/// Raises the soft limit, 1024 on many systems, to the hard one: every connection takes a descriptor.
DescriptorLimit raise_descriptor_limit();

}  // namespace tessera::cli
