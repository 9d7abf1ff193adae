#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "base/thread_pool.h"
#include "doctor/gather.h"

namespace tessera::doctor {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

}  // namespace

Number measure_memory_rate(size_t available_bytes) {
  constexpr size_t kBytes = size_t{512} << 20;  // past the last-level caches of servers
  constexpr size_t kChunk = size_t{4} << 20;
  constexpr int kPasses = 4;  // the first touches the pages
  if (available_bytes < 4 * kBytes) return std::nullopt;
  const std::unique_ptr<uint64_t[]> words(new (std::nothrow) uint64_t[kBytes / sizeof(uint64_t)]);
  if (!words) return std::nullopt;
  ThreadPool pool(default_thread_count());
  std::atomic<uint64_t> sink = 0;
  double best = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    const auto begin = Clock::now();
    pool.run_chunks(kBytes / kChunk, [&](int64_t chunk, int) {
      uint64_t* const first = words.get() + static_cast<size_t>(chunk) * kChunk / sizeof(uint64_t);
      uint64_t* const last = first + kChunk / sizeof(uint64_t);
      if (pass == 0) {
        std::fill(first, last, 1);
        return;
      }
      uint64_t sums[8] = {};  // as many additions under way as loads
      for (const uint64_t* word = first; word != last; word += 8) {
        for (int i = 0; i < 8; ++i) sums[i] += word[i];
      }
      for (const uint64_t sum : sums) sink += sum;
    });
    if (pass > 0) best = std::max(best, static_cast<double>(kBytes) / seconds_since(begin));
  }
  return sink > 0 ? Number(static_cast<int64_t>(best)) : std::nullopt;
}

Number measure_disk_rate(const std::filesystem::path& file, double seconds) {
  constexpr size_t kPiece = size_t{4} << 20;
  constexpr size_t kBytesMin = size_t{64} << 20;  // of less, the time says nothing
  constexpr size_t kAlignment = 4096;
  constexpr int kThreads = 8;
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT);
  if (descriptor < 0) return std::nullopt;
  struct stat info {};
  const bool big = ::fstat(descriptor, &info) == 0 && static_cast<size_t>(info.st_size) >= kBytesMin;
  const size_t pieces = big ? static_cast<size_t>(info.st_size) / kPiece : 0;
  std::atomic<size_t> next = 0, bytes = 0;
  std::atomic<bool> failed = false;
  const auto begin = Clock::now();
  const auto read_some = [&] {
    const std::unique_ptr<void, void (*)(void*)> buffer(std::aligned_alloc(kAlignment, kPiece), std::free);
    while (buffer && !failed && seconds_since(begin) < seconds) {
      const size_t piece = next++;
      if (piece >= pieces) return;
      const ssize_t got = ::pread(descriptor, buffer.get(), kPiece, static_cast<off_t>(piece * kPiece));
      if (got <= 0) failed = true;
      bytes += static_cast<size_t>(std::max<ssize_t>(got, 0));
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads && pieces > 0; ++i) threads.emplace_back(read_some);
  }
  const double taken = seconds_since(begin);
  ::close(descriptor);
  if (failed || bytes < kBytesMin) return std::nullopt;
  return static_cast<int64_t>(static_cast<double>(bytes) / taken);
}

}  // namespace tessera::doctor
