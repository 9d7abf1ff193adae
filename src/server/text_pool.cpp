#include "server/text_pool.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

namespace tessera::server {

TextPool::TextPool(int threads, bool favours_small) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(/*only_small=*/false); });
  if (favours_small) threads_.emplace_back([this] { run(/*only_small=*/true); });
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

void TextPool::post(JobSize size, std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    if (closing_) return;
    jobs_.push_back({size, std::move(job)});
  }
  wake_.notify_all();  // not every thread takes every job
}

void TextPool::run(bool only_small) {
  pthread_setname_np(pthread_self(), "text");
  const auto first = [&] {
    return std::ranges::find_if(jobs_, [&](const Job& job) { return !only_small || job.size == JobSize::small; });
  };
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return closing_ || first() != jobs_.end(); });
      if (closing_) return;
      const auto found = first();
      job = std::move(*found);
      jobs_.erase(found);
    }
    job.run();
  }
}

}  // namespace tessera::server
