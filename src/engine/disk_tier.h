#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/status.h"
#include "engine/kv_directory.h"
#include "kernels/backend.h"

namespace tessera::engine {

/// What is to be written to the disk, or read from it, between files and pages of the host. Nobody else uses the pages
/// meanwhile.
struct DiskJob {
  /// Blocks [first_block, first_block + blocks) of the entry that ends behind `end_block`.
  struct Piece {
    uint64_t key = 0;
    int32_t end_block = 0, first_block = 0, blocks = 0;
    bool state = false;  // and the state behind them
  };
  bool writes = false;
  KvEntry entry = {};              // that is written; to read: the prompt's beginning, up to the last piece's end
  std::vector<Piece> pieces = {};  // that are read, in the order of `pages`
  std::vector<int32_t> pages = {};
  Status status = {};  // when it is done
};

/// A directory of entries, and the thread that reads and writes its files. All members but the thread's are called by
/// the engine thread.
class DiskTier {
 public:
  /// `pages` outlive it.
  DiskTier(std::unique_ptr<KvDirectory> directory, const kernels::HostPages& pages);
  /// Ends when the job that the thread is in has ended; those behind it are dropped.
  ~DiskTier();
  DiskTier(const DiskTier&) = delete;
  DiskTier& operator=(const DiskTier&) = delete;

  [[nodiscard]] const KvDirectory& directory() const { return *directory_; }
  void submit(std::unique_ptr<DiskJob> job);
  /// A job that is done, the oldest first; null if there is none.
  std::unique_ptr<DiskJob> take_done();
  using Time = std::chrono::steady_clock::time_point;
  /// Waits until take_done() has one, if jobs are under way.
  void wait_for_one();
  /// Waits until none is under way; until `deadline` at most.
  void wait_for_all(Time deadline = Time::max());
  [[nodiscard]] bool has_done() const { return done_count_ > 0; }
  /// Called by the thread when a job is done; must be quick, and call nothing here but has_done(). None of what was
  /// set before runs once this returns.
  void on_done(std::function<void()> callback);

 private:
  void run();
  Status read(const DiskJob& job);
  Status write(const DiskJob& job);

  const std::unique_ptr<KvDirectory> directory_;
  const kernels::HostPages& pages_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<std::unique_ptr<DiskJob>> jobs_, done_;
  std::atomic<int> done_count_{0};  // to be read without the lock
  bool working_ = false, stopped_ = false;
  std::function<void()> on_done_;
  std::thread thread_;
};

}  // namespace tessera::engine
