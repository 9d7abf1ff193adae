#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera::server {

/// A few threads for work on text (JSON, templates, tokens) that would hold up the network thread. Jobs are started in
/// order. Their number is bounded by those who post: one for each request that was let in.
class TextPool {
 public:
  explicit TextPool(int threads);
  ~TextPool() { close(); }
  TextPool(const TextPool&) = delete;
  TextPool& operator=(const TextPool&) = delete;

  /// Any thread. After close() jobs are dropped.
  void post(std::function<void()> job);
  /// Waits for the jobs that have begun; the others are dropped.
  void close();

 private:
  void run();

  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tessera::server
