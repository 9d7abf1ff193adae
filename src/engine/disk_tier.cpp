#include "engine/disk_tier.h"

#include <span>
#include <utility>

#include "kernels/batch.h"

namespace tessera::engine {

DiskTier::DiskTier(std::unique_ptr<KvDirectory> directory, const kernels::HostPages& pages)
    : directory_(std::move(directory)), pages_(pages), thread_([this] { run(); }) {}

DiskTier::~DiskTier() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void DiskTier::submit(std::unique_ptr<DiskJob> job) {
  const std::lock_guard lock(mutex_);
  jobs_.push_back(std::move(job));
  changed_.notify_all();
}

std::unique_ptr<DiskJob> DiskTier::take_done() {
  if (!has_done()) return nullptr;
  const std::lock_guard lock(mutex_);
  auto job = std::move(done_.front());
  done_.pop_front();
  --done_count_;
  return job;
}

void DiskTier::wait_for_one() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !done_.empty() || (jobs_.empty() && !working_); });
}

void DiskTier::wait_for_all(Time deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [this] { return jobs_.empty() && !working_; });
}

void DiskTier::on_done(std::function<void()> callback) {
  const std::lock_guard lock(mutex_);
  on_done_ = std::move(callback);
}

void DiskTier::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopped_ || !jobs_.empty(); });
    if (stopped_) return;
    auto job = std::move(jobs_.front());
    jobs_.pop_front();
    working_ = true;
    lock.unlock();
    job->status = job->writes ? write(*job) : read(*job);
    lock.lock();
    working_ = false;
    done_.push_back(std::move(job));
    ++done_count_;
    changed_.notify_all();
    if (on_done_) on_done_();
  }
}

Status DiskTier::write(const DiskJob& job) {
  std::vector<const std::byte*> pages;
  for (const int32_t page : job.pages) pages.push_back(pages_.page(page));
  return directory_->write(job.entry, pages);
}

Status DiskTier::read(const DiskJob& job) {
  std::vector<std::byte*> pages;
  for (const int32_t page : job.pages) pages.push_back(pages_.page(page));
  std::span<std::byte* const> rest = pages;
  for (const DiskJob::Piece& piece : job.pieces) {
    const auto tokens = std::span(job.entry.tokens).first(static_cast<size_t>(piece.end_block) * kernels::kBlockTokens);
    const auto count =
        static_cast<size_t>(piece.blocks) + (piece.state ? static_cast<size_t>(directory_->format().state_pages) : 0);
    TESSERA_RETURN_IF_ERROR(directory_->read(piece.key, job.entry.salt, tokens, piece.first_block, piece.blocks,
                                             piece.state, rest.first(count)));
    rest = rest.subspan(count);
  }
  return {};
}

}  // namespace tessera::engine
