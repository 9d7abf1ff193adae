#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "kernels/backend.h"

// Blocks and states that move between a cache and pages of the host's memory.
namespace tessera::kernels {

/// A KV block of all layers, which is a page, or a page's worth of a slot's state of all layers.
struct PageMove {
  enum class What : uint8_t { block, state };
  What what = What::block;
  bool to_host = false;
  int32_t index = 0;  // the block's number, or the slot's
  int32_t piece = 0;  // of a state: its bytes from piece * page_bytes on
  int32_t page = 0;

  bool operator==(const PageMove&) const = default;
};

/// Pages that a state takes.
constexpr int32_t pages_of_state(const CacheBytes& bytes) {
  return bytes.kv_block == 0 ? 0 : static_cast<int32_t>((bytes.state + bytes.kv_block - 1) / bytes.kv_block);
}

/// A part of an object of a cache: `rows` runs of bytes, one for each layer, `pitch` apart. In a page they lie one
/// behind the other.
struct LayeredBytes {
  std::byte* first = nullptr;
  size_t pitch = 0, width = 0, rows = 0;
};

/// Calls copy(layered, page_offset) for the bytes [begin, end) of an object, in order: whole rows together.
template <typename Copy>
void for_each_run(std::span<const LayeredBytes> object, size_t begin, size_t end, const Copy& copy) {
  size_t part_begin = 0;
  for (const LayeredBytes& part : object) {
    const size_t part_end = part_begin + part.rows * part.width;
    for (size_t at = std::max(begin, part_begin); at < std::min(end, part_end);) {
      const size_t row = (at - part_begin) / part.width, column = (at - part_begin) % part.width;
      const size_t left = std::min(end, part_end) - at;
      LayeredBytes run = part;
      run.first += row * part.pitch + column;
      run.rows = column == 0 ? left / part.width : 0;
      if (run.rows == 0) {
        run.rows = 1;
        run.width = std::min(left, part.width - column);
      }
      copy(run, at - begin);
      at += run.rows * run.width;
    }
    part_begin = part_end;
  }
}

/// The bytes that a move is about: copy(layered, bytes in the page). `object` is what it moves of the cache.
template <typename Copy>
void for_each_run(const PageMove& move, std::span<const LayeredBytes> object, const HostPages& pages,
                  const Copy& copy) {
  TESSERA_CHECK(move.page >= 0 && move.page < pages.count());
  const size_t begin = static_cast<size_t>(move.piece) * pages.page_bytes();
  for_each_run(object, begin, begin + pages.page_bytes(),
               [&](const LayeredBytes& run, size_t offset) { copy(run, pages.page(move.page) + offset); });
}

}  // namespace tessera::kernels
