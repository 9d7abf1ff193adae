#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera::server {

/// A few threads for work on text (JSON, templates, tokens) that would hold up the network thread. Jobs are started in
/// order, but for one thread that takes small jobs alone: however many large ones there are, a small one waits for
/// small ones only. Their number is bounded by those who post: one for each request that was let in.
class TextPool {
 public:
  enum class JobSize { small, large };
  /// Of a request whose body has so many bytes. A small one takes milliseconds.
  static JobSize job_size(size_t bytes) { return bytes <= kSmallBytesMax ? JobSize::small : JobSize::large; }

  /// `threads` for every job, and one for small ones if `favours_small`.
  explicit TextPool(int threads, bool favours_small = false);
  ~TextPool() { close(); }
  TextPool(const TextPool&) = delete;
  TextPool& operator=(const TextPool&) = delete;

  /// Any thread. After close() jobs are dropped.
  void post(JobSize size, std::function<void()> job);
  /// Waits for the jobs that have begun; the others are dropped.
  void close();

 private:
  static constexpr size_t kSmallBytesMax = size_t{64} << 10;

  struct Job {
    JobSize size;
    std::function<void()> run;
  };
  void run(bool only_small);

  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  std::deque<Job> jobs_;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tessera::server
