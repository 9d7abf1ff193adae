#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/status.h"
#include "format/mapped_file.h"

namespace tessera::format {

/// Bytes of a file.
struct FileRange {
  size_t file = 0;  // which of the files
  uint64_t offset = 0;
  size_t bytes = 0;
};

/// Reads ranges of files into a ring of buffers, some threads at once, ahead of one consumer that takes them in order.
///
/// A range is cut into pieces of at most kPieceBytes, and each piece has a slot of the ring. What the page cache holds
/// is copied from there. The rest is read from the disk: past the cache if `direct` and the file system can, through it
/// otherwise. Contract: next() and release() are the consumer's, on one thread; pieces are released in their order.
class ReadAhead {
 public:
  static constexpr size_t kAlignment = 4096;  // of offsets, sizes and memory of direct reads
  static constexpr size_t kPieceBytes = size_t{4} << 20;
  static constexpr size_t kSlotBytes = kPieceBytes + 2 * kAlignment;

  struct Options {
    int threads = 4;
    bool direct = false;
  };

  /// Begins to read. `files` and `ring` must outlive the object; `ring` is aligned to kAlignment and holds one slot of
  /// kSlotBytes or more. A file that cannot be read fails next(). Fewer threads than were asked for will
  /// do where the system gives no more; std::system_error where it gives none.
  ReadAhead(const std::vector<const MappedFile*>& files, std::vector<FileRange> ranges, std::span<std::byte> ring,
            const Options& options);
  /// Ends the reads that are under way; the rest is left.
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  struct Piece {
    std::span<const std::byte> bytes;
    size_t slot = 0;
  };
  /// The next piece, once it is there. Pieces of one range follow one another, and so do ranges; there must be one
  /// left. What could not be read fails where it would have come, and from then on: pieces before it are brought.
  Expected<Piece> next();
  /// The oldest piece that was taken and not given back is done with.
  void release();

  [[nodiscard]] size_t slots() const { return slots_.size(); }

 private:
  struct File {
    const MappedFile* mapped = nullptr;
    int direct = -1;  // the same file opened for reads past the page cache; -1: it cannot
  };
  struct Slot {
    size_t ready = 0;  // 1 + number of the piece that lies in it
    size_t begin = 0;  // where its bytes begin in the slot
  };

  void work();
  void stop();
  void fail(size_t piece, Status status);
  Status read(const FileRange& piece, std::byte* slot, size_t& begin);

  std::vector<File> files_;
  std::vector<FileRange> pieces_;
  std::span<std::byte> ring_;
  std::vector<Slot> slots_;
  std::vector<std::thread> threads_;

  std::mutex mutex_;
  std::condition_variable freed_, filled_;
  size_t started_ = 0;  // pieces that threads have begun to read
  size_t taken_ = 0;    // by next()
  size_t released_ = 0;
  bool stop_ = false;
  Status failure_;     // of the first piece that could not be read,
  size_t failed_ = 0;  // and its number
};

}  // namespace tessera::format
