#include "format/read_ahead.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "base/check.h"

namespace tessera::format {
namespace {

/// Opens the file once more for reads past the page cache: this very file, whatever its path names by now. -1: it
/// cannot.
int open_direct([[maybe_unused]] const MappedFile& file) {
#if defined(O_DIRECT)
  return ::open(fmt::format("/proc/self/fd/{}", file.descriptor()).c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT);
#else
  return -1;
#endif
}

/// As many bytes from the beginning as the page cache holds; 0 where that cannot be asked.
size_t read_cached(int fd, std::byte* to, size_t size, uint64_t offset) {
  size_t done = 0;
#if defined(RWF_NOWAIT)
  while (done < size) {
    const iovec part{to + done, size - done};
    const ssize_t count = ::preadv2(fd, &part, 1, static_cast<off_t>(offset + done), RWF_NOWAIT);
    if (count <= 0) break;
    done += static_cast<size_t>(count);
  }
#else
  (void)fd, (void)to, (void)size, (void)offset;
#endif
  return done;
}

std::vector<FileRange> cut(const std::vector<FileRange>& ranges) {
  std::vector<FileRange> pieces;
  for (const FileRange& range : ranges) {
    for (size_t done = 0; done < range.bytes;) {
      const uint64_t offset = range.offset + done;
      // Cuts are at multiples of a piece in the file, so that direct reads overlap by nothing.
      const size_t room = ReadAhead::kPieceBytes - offset % ReadAhead::kPieceBytes;
      const size_t bytes = std::min(range.bytes - done, room);
      pieces.push_back({range.file, offset, bytes});
      done += bytes;
    }
  }
  return pieces;
}

}  // namespace

ReadAhead::ReadAhead(const std::vector<const MappedFile*>& files, std::vector<FileRange> ranges,
                     std::span<std::byte> ring, const Options& options)
    : pieces_(cut(ranges)), ring_(ring), slots_(ring.size() / kSlotBytes) {
  TESSERA_CHECK(!slots_.empty() && reinterpret_cast<uintptr_t>(ring.data()) % kAlignment == 0);
  for (const MappedFile* file : files) {
    files_.push_back({.mapped = file, .direct = options.direct ? open_direct(*file) : -1});
  }
  try {
    for (int i = 0; i < options.threads; ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    if (!threads_.empty()) return;  // those that there are do as well
    stop();
    throw;
  }
}

ReadAhead::~ReadAhead() { stop(); }

void ReadAhead::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  freed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  for (const File& file : files_) {
    if (file.direct >= 0) ::close(file.direct);
  }
}

void ReadAhead::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    freed_.wait(lock, [&] {
      return stop_ || !failure_.ok() || started_ == pieces_.size() || started_ < released_ + slots_.size();
    });
    if (stop_ || !failure_.ok() || started_ == pieces_.size()) return;
    const size_t piece = started_++;
    const size_t slot = piece % slots_.size();
    lock.unlock();
    size_t begin = 0;
    const Status status = read(pieces_[piece], ring_.data() + slot * kSlotBytes, begin);
    lock.lock();
    if (status.ok()) {
      slots_[slot] = {.ready = piece + 1, .begin = begin};
    } else {
      fail(piece, status);
    }
    filled_.notify_all();
  }
}

/// With the lock. No piece is begun any more; those before this one are under way or there.
void ReadAhead::fail(size_t piece, Status status) {
  if (!failure_.ok() && failed_ < piece) return;
  failure_ = std::move(status);
  failed_ = piece;
  freed_.notify_all();
}

/// Fills a slot: the piece's bytes begin at `begin`, as far from a multiple of kAlignment as in the file.
Status ReadAhead::read(const FileRange& piece, std::byte* slot, size_t& begin) {
  const File& file = files_[piece.file];
  begin = piece.offset % kAlignment;
  std::byte* const to = slot + begin;
  size_t done = read_cached(file.mapped->descriptor(), to, piece.bytes, piece.offset);
  if (done < piece.bytes && file.direct >= 0) {
    const size_t first = (begin + done) / kAlignment * kAlignment;
    const size_t last = (begin + piece.bytes + kAlignment - 1) / kAlignment * kAlignment;
    const ssize_t count = read_at(file.direct, slot + first, last - first, piece.offset - begin + first);
    if (count > 0) done = std::min(piece.bytes, std::max(done, first + static_cast<size_t>(count) - begin));
  }
  if (done == piece.bytes) return {};
  return file.mapped->read(file.mapped->bytes().subspan(piece.offset + done, piece.bytes - done), to + done);
}

Expected<ReadAhead::Piece> ReadAhead::next() {
  std::unique_lock lock(mutex_);
  TESSERA_CHECK_LT(taken_, pieces_.size());
  TESSERA_CHECK_LT(taken_, released_ + slots_.size());
  const size_t slot = taken_ % slots_.size();
  const auto failed = [&] { return !failure_.ok() && failed_ == taken_; };
  filled_.wait(lock, [&] { return failed() || slots_[slot].ready == taken_ + 1; });
  if (failed()) return failure_;
  const std::byte* const bytes = ring_.data() + slot * kSlotBytes + slots_[slot].begin;
  return Piece{.bytes = {bytes, pieces_[taken_++].bytes}, .slot = slot};
}

void ReadAhead::release() {
  {
    const std::lock_guard lock(mutex_);
    TESSERA_CHECK_LT(released_, taken_);
    ++released_;
  }
  freed_.notify_one();
}

}  // namespace tessera::format
