// The tuning file: as it is, and, so that more than the checksum is reached, as the entries of a file whose header and
// checksum are right.
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "plan/budget.h"
#include "plan/tuning_cache.h"

namespace {

using tessera::plan::parse_tuning;

void check(const std::string& text) {
  const auto parsed = parse_tuning(text, "gpu", "build", "file");
  if (!parsed.ok()) {
    if (parsed.status().message().empty()) std::abort();
    return;
  }
  for (const auto& entry : parsed->entries) {
    if (!validate(entry.desc).ok() || !fits(entry.tile)) std::abort();
  }
  if (*tessera::plan::tuning_text(*parsed) != text) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  check(bytes);
  std::string text = "tessera tuning 2\ngpu gpu\nbuild build\n" + bytes;
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  check(text + fmt::format("checksum {:016x}\n", hash));
  return 0;
}
