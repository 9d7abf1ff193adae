#include "loadgen/schedule.h"

#include "loadgen/random.h"

namespace tessera::loadgen {

std::vector<double> arrivals(double rate, int64_t count, uint64_t seed) {
  constexpr uint64_t kStream = 0xa221;
  Random random(seed, kStream);
  std::vector<double> due;
  double at = 0;
  for (int64_t i = 0; i < count; ++i) {
    due.push_back(at);
    at += random.wait(rate);
  }
  return due;
}

std::vector<double> user_starts(int64_t users, double spread) {
  std::vector<double> due;
  for (int64_t i = 0; i < users; ++i) due.push_back(spread * static_cast<double>(i) / static_cast<double>(users));
  return due;
}

}  // namespace tessera::loadgen
