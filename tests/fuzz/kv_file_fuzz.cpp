// A file of the prefix cache's tier on disk: what its head is accepted as must be what its writer would write, and what
// is read of a file that was changed is what was written, or an error.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "engine/kv_file.h"

namespace tessera::engine {
namespace {

constexpr KvFormat kFormat = {.identity = {}, .page_bytes = 8, .state_pages = 1};

void check(bool holds) {
  if (!holds) std::abort();
}

/// The last eight bytes of a head are its checksum, which no fuzzer finds: here it is made right, wherever it may be.
void check_heads(const std::string& text) {
  for (size_t pages = 1; pages * 8 + 8 < text.size() && pages < 64; ++pages) {
    const size_t end = text.size() - pages * 8 - 8;
    const uint64_t sum = checksum(std::as_bytes(std::span(text).first(end)));
    std::string fixed = text;
    fixed.replace(end, 8, reinterpret_cast<const char*>(&sum), 8);
    const auto head = parse_kv_head(kFormat, fixed, fixed.size());
    if (!head.ok()) continue;
    check(kv_file_bytes(kFormat, head->entry) == fixed.size());
    check(head->pages_offset + head->page_sums.size() * kFormat.page_bytes == fixed.size());
    check(head->entry.first_block >= 0 && head->entry.blocks() > 0);
  }
  const auto head = parse_kv_head(kFormat, text, text.size());
  check(head.ok() || !head.status().message().empty());
}

std::vector<std::byte*> pages_of(std::vector<std::byte>& memory) {
  std::vector<std::byte*> pages;
  for (size_t at = 0; at < memory.size(); at += kFormat.page_bytes) pages.push_back(memory.data() + at);
  return pages;
}

/// `text` says what is written, and then what is changed: three bytes a change, where and what.
void check_changes(std::string_view text) {
  const auto take = [&text] {
    const auto byte = static_cast<uint8_t>(text.empty() ? 0 : text.front());
    text.remove_prefix(std::min<size_t>(text.size(), 1));
    return byte;
  };
  const int blocks = 1 + take() % 3;
  KvEntry entry{.salt = std::string(take() % 8, 's'), .tokens = {}, .first_block = take() % blocks};
  entry.tokens.assign(static_cast<size_t>(blocks) * 64, take());
  std::vector<std::byte> memory((static_cast<size_t>(entry.blocks()) + 1) * kFormat.page_bytes, std::byte{take()});
  const std::vector<std::byte*> pages = pages_of(memory);
  std::string file = make_kv_head(kFormat, entry, std::vector<const std::byte*>(pages.begin(), pages.end()));
  for (const std::byte byte : memory) file += static_cast<char>(byte);
  const std::string whole = file;
  while (text.size() >= 3) {
    const size_t at = (size_t{take()} << 8 | take()) % (file.size() + 1);
    const uint8_t change = take();
    if (at == file.size() || change == 0) {
      file.resize(at + change % 4);
    } else {
      file[at] = static_cast<char>(file[at] ^ change);
    }
  }

  static const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("tessera_kv_file_fuzz_" + std::to_string(::getpid()));
  std::ofstream(path, std::ios::binary) << file;
  const auto opened = KvFile::open(path, kFormat);
  std::filesystem::remove(path);
  std::vector<std::byte> read(memory.size());
  const bool same = opened.ok() && opened->entry() == entry && opened->read_pages(0, pages_of(read)).ok();
  check(!opened.ok() || opened->entry() == entry);
  check(!same || read == memory);
  check(file != whole || same);
}

}  // namespace
}  // namespace tessera::engine

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    tessera::engine::check_heads(text);
  } else {
    tessera::engine::check_changes(text);
  }
  return 0;
}
