#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/kv_file.h"

namespace tessera::engine {

/// A directory of entries of the prefix cache, which outlives the program. One process has it at a time; it reads,
/// writes and removes only files whose names it has made up itself: "lock", and sixteen hex digits and ".kv" or
/// ".kv.partial". Bounded by the bytes of all these, the ones of other models and builds included, which go first;
/// then go the entries that were used least recently. An entry that begins behind a prompt's first block can only be
/// used behind the one that ends there; that one counts as used whenever it is, and later, so that of a conversation
/// the end goes first.
///
/// Any thread; files are read and written by the calling one.
class KvDirectory {
 public:
  /// What is known of an entry without reading its file.
  struct Known {
    int32_t first_block = 0, end_block = 0;
  };

  /// Makes the directory if there is none (mode 0700), takes its lock, and reads the heads of its files; those that are
  /// of no use are named in the log. unavailable: it cannot be made or written, or another process has it.
  static Expected<std::unique_ptr<KvDirectory>> open(const std::filesystem::path& directory, const KvFormat& format,
                                                     uint64_t bytes_max);
  ~KvDirectory();
  KvDirectory(const KvDirectory&) = delete;
  KvDirectory& operator=(const KvDirectory&) = delete;

  [[nodiscard]] const KvFormat& format() const { return format_; }
  /// An entry of this key, which may be of other tokens, where those that it stands behind are there too.
  [[nodiscard]] std::optional<Known> find(uint64_t key) const;
  /// Makes room for `entry` and writes it, in place of what had its key. resource_exhausted: with those that it stands
  /// behind it is larger than all of the room.
  Status write(const KvEntry& entry, std::span<const std::byte* const> pages);
  /// Reads the pages of blocks [first_block, first_block + blocks) of the entry with this key, and with `state` those
  /// of its state behind them. not_found: it is of other tokens, or gone; corrupt_data: it is damaged. The file is then
  /// removed.
  Status read(uint64_t key, std::string_view salt, std::span<const int32_t> tokens, int32_t first_block, int32_t blocks,
              bool state, std::span<std::byte* const> pages);

  [[nodiscard]] uint64_t bytes_used() const;
  [[nodiscard]] uint64_t bytes_max() const { return bytes_max_; }
  [[nodiscard]] size_t entries() const;

 private:
  struct Kept {
    Known known;
    uint64_t before = 0;  // the key of what ends where it begins, which may not be there
    uint64_t bytes = 0;
    uint64_t used = 0;  // the larger, the more recently; in by_use_ from its first use on
  };
  using Files = std::vector<std::filesystem::path>;

  KvDirectory(std::filesystem::path directory, const KvFormat& format, uint64_t bytes_max, int lock);
  void read_names();
  void add_file(const std::filesystem::path& file, uint64_t bytes);
  [[nodiscard]] std::filesystem::path file_of(uint64_t key) const;
  [[nodiscard]] const Kept* find_kept(uint64_t key, int32_t end_block) const;
  [[nodiscard]] uint64_t chain_bytes(uint64_t key, int32_t end_block) const;
  void make_room(uint64_t bytes, Files& gone);
  void use(uint64_t key, int32_t end_block);
  void forget(uint64_t key, Files& gone);

  const std::filesystem::path directory_;
  const KvFormat format_;
  const uint64_t bytes_max_;
  const int lock_;

  mutable std::mutex mutex_;  // guards what follows
  std::map<uint64_t, Kept> kept_;
  std::set<std::pair<uint64_t, uint64_t>> by_use_;       // [used, key]
  std::map<std::filesystem::path, uint64_t> of_no_use_;  // bytes
  uint64_t bytes_used_ = 0;
  uint64_t uses_ = 0;
};

}  // namespace tessera::engine
