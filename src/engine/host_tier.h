#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/id_pool.h"
#include "kernels/page_move.h"

namespace tessera::engine {

/// Pages of the host's memory for what the device's pools have no room for, and the moves of blocks and states there
/// and back that the next step begins with. Moves are done in their order, so a page, a block or a slot that is given
/// back here may be given to others at once. Knows no tokens.
class HostTier {
 public:
  /// No pages: there is no tier.
  HostTier(int32_t pages, int32_t state_pages) : pages_(pages), state_pages_(state_pages) {}

  [[nodiscard]] const IdPool& pages() const { return pages_; }
  [[nodiscard]] int32_t state_pages() const { return state_pages_; }

  /// From the device; as many pages as it takes must be available.
  int32_t save_block(int32_t block) { return move({.what = Move::What::block, .to_host = true, .index = block}); }
  std::vector<int32_t> save_state(int32_t slot) {
    std::vector<int32_t> pages;
    for (int32_t piece = 0; piece < state_pages_; ++piece) {
      pages.push_back(move({.what = Move::What::state, .to_host = true, .index = slot, .piece = piece}));
    }
    return pages;
  }
  /// Back to the device. The page is given back; those of a state stay.
  void load_block(int32_t page, int32_t block) {
    moves_.push_back({.what = Move::What::block, .index = block, .page = page});
    ++loaded_;
    pages_.give_back(page);
  }
  void load_state(std::span<const int32_t> pages, int32_t slot) {
    int32_t piece = 0;
    for (const int32_t page : pages) {
      moves_.push_back({.what = Move::What::state, .index = slot, .piece = piece++, .page = page});
    }
    loaded_ += pages.size();
  }
  void give_back(int32_t page) { pages_.give_back(page); }
  /// For what is no move: to be filled by others. One must be available.
  int32_t take_page() { return *pages_.take(); }
  void share(int32_t page) { pages_.share(page); }
  [[nodiscard]] bool has_moves() const { return !moves_.empty(); }

  /// For the next step that is submitted; they are nobody else's from here on.
  [[nodiscard]] std::vector<kernels::PageMove> take_moves() { return std::exchange(moves_, {}); }
  /// Pages so far.
  [[nodiscard]] uint64_t saved() const { return saved_; }
  [[nodiscard]] uint64_t loaded() const { return loaded_; }

 private:
  using Move = kernels::PageMove;

  int32_t move(Move move) {
    move.page = *pages_.take();
    moves_.push_back(move);
    ++saved_;
    return move.page;
  }

  IdPool pages_;
  int32_t state_pages_;
  std::vector<Move> moves_;
  uint64_t saved_ = 0, loaded_ = 0;
};

}  // namespace tessera::engine
