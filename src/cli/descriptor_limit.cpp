#include "cli/descriptor_limit.h"

#include <sys/resource.h>

namespace tessera::cli {
namespace {

int64_t count(rlim_t limit) { return limit == RLIM_INFINITY ? -1 : static_cast<int64_t>(limit); }

}  // namespace

DescriptorLimit raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  const int64_t before = count(limit.rlim_cur);
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return {before, before};
  return {before, count(limit.rlim_cur)};
}

}  // namespace tessera::cli
