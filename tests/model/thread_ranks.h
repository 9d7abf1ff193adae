#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/dtype.h"
#include "kernels/comm.h"

namespace tessera::model::test {

/// Ranks of tensor parallelism as threads of one process. Rows go through host memory, and every call waits for all
/// ranks: slow, simple, and in the order that kernels/comm.h promises.
class ThreadRanks {
 public:
  /// How rows get from a backend's memory to the host and back, [rows, columns] dense.
  struct Memory {
    virtual ~Memory() = default;
    virtual Status read(const kernels::CommRows& rows, std::vector<float>& values) {
      const auto* from = static_cast<const float*>(rows.data);
      for (int64_t i = 0; i < rows.rows; ++i) {
        values.insert(values.end(), from + i * rows.stride, from + i * rows.stride + rows.columns);
      }
      return {};
    }
    virtual Status write(const std::vector<float>& values, const kernels::CommRows& rows) {
      for (int64_t i = 0; i < rows.rows; ++i) {
        std::copy_n(values.begin() + i * rows.columns, rows.columns, static_cast<float*>(rows.data) + i * rows.stride);
      }
      return {};
    }
  };

  explicit ThreadRanks(int world, std::shared_ptr<Memory> memory = std::make_shared<Memory>())
      : memory_(std::move(memory)), sent_(static_cast<size_t>(world)) {
    for (int rank = 0; rank < world; ++rank) ends_.push_back(std::make_unique<End>(*this, rank));
  }

  [[nodiscard]] int world() const { return static_cast<int>(ends_.size()); }
  kernels::Comm& comm(int rank) { return *ends_[static_cast<size_t>(rank)]; }
  [[nodiscard]] int sums() const { return sums_; }        // calls of rank 0
  [[nodiscard]] int rounded() const { return rounded_; }  // those of them that were to be rounded
  [[nodiscard]] int gathers() const { return gathers_; }  // calls of rank 0
  /// A fault: this rank's part is left out of all sums.
  int dropped = -1;

  /// Runs `work(rank)` on a thread for each rank.
  void run(const std::function<void(int)>& work) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < world(); ++rank) threads.emplace_back([&, rank] { work(rank); });
    for (std::thread& thread : threads) thread.join();
  }

 private:
  class End final : public kernels::Comm {
   public:
    End(ThreadRanks& ranks, int index) : ranks_(ranks), index_(index) {}
    [[nodiscard]] kernels::Rank rank() const override { return {index_, ranks_.world()}; }
    Status all_reduce(const kernels::CommRows& rows, bool round) override {
      if (index_ == 0) ++ranks_.sums_;
      if (index_ == 0 && round) ++ranks_.rounded_;
      return ranks_.all_reduce(index_, rows, round);
    }
    Status all_gather(const kernels::CommRows& rows) override {
      if (index_ == 0) ++ranks_.gathers_;
      return ranks_.all_gather(index_, rows);
    }

   private:
    ThreadRanks& ranks_;
    int index_;
  };

  /// All ranks' rows, in sent_; the caller waits again before anybody sends the next.
  Status send(int rank, const kernels::CommRows& rows) {
    std::vector<float>& sent = sent_[static_cast<size_t>(rank)];
    sent.clear();
    Status status = memory_->read(rows, sent);
    if (!status.ok()) return status;
    return wait();
  }

  Status all_reduce(int rank, const kernels::CommRows& rows, bool round) {
    Status status = send(rank, rows);
    if (!status.ok()) return status;
    status = check_sizes();
    if (!status.ok()) return status;
    std::vector<float> sum(sent_[0].size(), 0.0F);
    for (int from = 0; from < world(); ++from) {
      const std::vector<float>& part = sent_[static_cast<size_t>(from)];
      if (from == dropped) continue;
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
    }
    if (round) {
      for (float& value : sum) value = bf16_to_float(float_to_bf16(value));
    }
    status = memory_->write(sum, rows);
    return status.ok() ? wait() : status;
  }

  Status all_gather(int rank, const kernels::CommRows& rows) {
    EXPECT_EQ(rows.columns % world(), 0);
    Status status = send(rank, rows);
    if (!status.ok()) return status;
    status = check_sizes();
    if (!status.ok()) return status;
    std::vector<float> all = sent_[static_cast<size_t>(rank)];
    const int64_t each = rows.columns / world();
    for (int64_t i = 0; i < static_cast<int64_t>(all.size()); ++i) {
      all[static_cast<size_t>(i)] = sent_[static_cast<size_t>(i % rows.columns / each)][static_cast<size_t>(i)];
    }
    status = memory_->write(all, rows);
    return status.ok() ? wait() : status;
  }

  /// Whether all ranks have made the same call.
  [[nodiscard]] Status check_sizes() const {
    for (const std::vector<float>& part : sent_) {
      if (part.size() == sent_[0].size()) continue;
      return {StatusCode::internal, "a rank sends " + std::to_string(part.size()) + " elements, and rank 0 " +
                                        std::to_string(sent_[0].size())};
    }
    return {};
  }

  /// Until all ranks are here.
  Status wait() {
    constexpr std::chrono::seconds kDeadline{60};
    std::unique_lock lock(mutex_);
    const int64_t meeting = meeting_;
    if (++here_ == world()) {
      here_ = 0;
      ++meeting_;
      all_here_.notify_all();
      return {};
    }
    if (all_here_.wait_for(lock, kDeadline, [&] { return meeting_ != meeting; })) return {};
    return {StatusCode::unavailable, "a rank has not come for " + std::to_string(kDeadline.count()) + " s"};
  }

  std::shared_ptr<Memory> memory_;
  std::vector<std::unique_ptr<End>> ends_;
  std::vector<std::vector<float>> sent_;  // by rank
  std::atomic<int> sums_{0}, rounded_{0}, gathers_{0};
  std::mutex mutex_;
  std::condition_variable all_here_;
  int here_ = 0;
  int64_t meeting_ = 0;
};

/// Of rows of logits, the median of errors against `oracle`, each relative to its row.
inline double median_error(std::span<const float> found, std::span<const float> oracle, size_t vocab) {
  EXPECT_EQ(found.size(), oracle.size());
  std::vector<double> errors;
  for (size_t row = 0; row < oracle.size(); row += vocab) {
    double error = 0, size = 0;
    for (size_t i = row; i < row + vocab; ++i) {
      error += std::pow(double{found[i]} - oracle[i], 2);
      size += std::pow(double{oracle[i]}, 2);
    }
    errors.push_back(std::sqrt(error / size));
  }
  std::nth_element(errors.begin(), errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2), errors.end());
  return errors[errors.size() / 2];
}

}  // namespace tessera::model::test
