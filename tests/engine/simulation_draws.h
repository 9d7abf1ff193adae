#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <random>
#include <vector>

#include "simulation.h"

// What a run of the simulation draws from its seed: requests, and the sizes of what they share.
namespace tessera::engine {

struct Job {
  Request request;
  int64_t arrival_step = 0;
  int64_t cancel_step = -1;  // -1: never
  std::shared_ptr<EventChannel> channel;
};

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  bool one_in(int64_t n) { return between(1, n) == 1; }
  template <typename T>
  T one_of(std::initializer_list<T> values) {
    return *(values.begin() + between(0, static_cast<int64_t>(values.size()) - 1));
  }

 private:
  std::mt19937_64 random_;
};

/// What is to be prefilled while nobody wants a step, from this step on.
struct IdleJob {
  IdlePrefill prefill;
  int64_t arrival_step = 0;
};

SamplingParams random_sampling(Dice& dice, int64_t max_tokens);
/// Their prompts begin in so many ways.
std::vector<Job> random_jobs(Dice& dice, const Fixture& f, int64_t context, int64_t beginnings);
/// Some are for the jobs, which then leave time for them; what else they hold nobody asks for.
std::vector<IdleJob> random_idle_jobs(Dice& dice, std::vector<Job>& jobs, int64_t context);
Sizes random_sizes(Dice& dice);

}  // namespace tessera::engine
