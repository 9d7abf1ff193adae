// The head of a file of the prefix cache's tier on disk. What is accepted must be what its writer would write.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "engine/kv_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tessera;
  constexpr engine::KvFormat kFormat = {.identity = {}, .page_bytes = 8, .state_pages = 1};
  // The last eight bytes of the head are its checksum, which no fuzzer finds: with an odd first byte it is made right.
  if (size == 0) return 0;
  std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  for (size_t pages = data[0] % 2 == 0 ? 0 : 1; pages != 0 && pages * 8 + 8 < text.size() && pages < 64; ++pages) {
    const size_t end = text.size() - pages * 8 - 8;
    const uint64_t sum = checksum(std::as_bytes(std::span(text).first(end)));
    std::string fixed = text;
    fixed.replace(end, 8, reinterpret_cast<const char*>(&sum), 8);
    const auto head = engine::parse_kv_head(kFormat, fixed, fixed.size());
    if (!head.ok()) continue;
    if (engine::kv_file_bytes(kFormat, head->entry) != fixed.size()) std::abort();
    if (head->pages_offset + head->page_sums.size() * kFormat.page_bytes != fixed.size()) std::abort();
    if (head->entry.first_block < 0 || head->entry.blocks() <= 0) std::abort();
  }
  const auto head = engine::parse_kv_head(kFormat, text, text.size());
  if (!head.ok() && head.status().message().empty()) std::abort();
  return 0;
}
