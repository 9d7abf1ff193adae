#include "server/text_pool.h"

#include <pthread.h>

#include <utility>

namespace tessera::server {

TextPool::TextPool(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

void TextPool::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void TextPool::post(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    if (closing_) return;
    jobs_.push_back(std::move(job));
  }
  wake_.notify_one();
}

void TextPool::run() {
  pthread_setname_np(pthread_self(), "text");
  for (;;) {
    std::function<void()> job;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return closing_ || !jobs_.empty(); });
      if (closing_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job();
  }
}

}  // namespace tessera::server
