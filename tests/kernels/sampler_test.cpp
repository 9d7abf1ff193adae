#include "kernels/cpu/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/sample_math.h"

namespace tessera::kernels {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

Expected<Draw> draw(std::vector<float> logits, const SampleParams& params, uint64_t position = 0,
                    const TokenCounts* counts = nullptr, std::vector<int32_t> banned = {}, int64_t known_ids = -1,
                    uint64_t seed = 1) {
  Sampler sampler;
  DrawArgs args;
  args.logits = logits;
  args.known_ids = known_ids < 0 ? static_cast<int64_t>(logits.size()) : known_ids;
  args.params = &params;
  args.counts = counts;
  args.banned = banned;
  args.noise = {.key = noise_key(seed, std::vector<int32_t>{1, 2}), .position = position};
  return sampler.draw(args);
}

TEST(Sampler, NothingIsKeptFromDrawToDraw) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0, 3);
  Sampler sampler;
  for (uint64_t position = 0; position < 100; ++position) {
    std::vector<float> logits(300 + 100 * (position % 4));
    for (float& logit : logits) logit = normal(random);
    SampleParams params;
    params.top_p = position % 3 == 0 ? 1.0F : 0.5F;
    params.top_k = position % 5 == 0 ? 7 : 0;
    params.logprobs = 3;
    const auto want = draw(logits, params, position);
    DrawArgs args;
    args.logits = logits;
    args.known_ids = static_cast<int64_t>(logits.size());
    args.params = &params;
    args.noise = {.key = noise_key(1, std::vector<int32_t>{1, 2}), .position = position};
    const auto got = sampler.draw(args);
    ASSERT_TRUE(got.ok()) << got.status().message();
    EXPECT_EQ(got->token, want->token) << position;
    EXPECT_EQ(got->logprobs.size(), want->logprobs.size()) << position;
  }
}

/// Token counts of `draws` draws at successive positions.
std::map<int32_t, int> histogram(const std::vector<float>& logits, const SampleParams& params, int draws) {
  std::map<int32_t, int> counts;
  for (int i = 0; i < draws; ++i) ++counts[draw(logits, params, static_cast<uint64_t>(i))->token];
  return counts;
}

std::vector<int32_t> support(const std::vector<float>& logits, const SampleParams& params) {
  std::vector<int32_t> ids;
  for (const auto& [id, count] : histogram(logits, params, 4000)) ids.push_back(id);
  return ids;
}

/// Chi-square of a histogram against softmax(logits / temperature) over the ids in `kept`.
void expect_softmax(const std::vector<float>& logits, const SampleParams& params, const std::vector<int32_t>& kept) {
  constexpr int kDraws = 50000;
  const auto counts = histogram(logits, params, kDraws);
  double sum = 0;
  for (const int32_t id : kept) sum += std::exp(logits[static_cast<size_t>(id)] / params.temperature);
  double chi_square = 0;
  int seen = 0;
  for (const int32_t id : kept) {
    const double expected = kDraws * std::exp(logits[static_cast<size_t>(id)] / params.temperature) / sum;
    ASSERT_GT(expected, 5) << "the test needs every kept id to be likely";
    const auto found = counts.find(id);
    const int count = found == counts.end() ? 0 : found->second;
    chi_square += (count - expected) * (count - expected) / expected;
    seen += count;
  }
  EXPECT_EQ(seen, kDraws) << "an id outside the kept ones was drawn";
  // Mean d, variance 2 d. Six deviations: one in a million or so for a right sampler, and these draws are fixed.
  const double degrees = static_cast<double>(kept.size()) - 1;
  EXPECT_LT(chi_square, degrees + 6 * std::sqrt(2 * degrees) + 6);
}

std::vector<float> some_logits(size_t size) {
  std::vector<float> logits(size);
  for (size_t i = 0; i < size; ++i) logits[i] = 2.0F * std::sin(static_cast<float>(7 * i + 3));
  return logits;
}

std::vector<int32_t> all_ids(size_t size) {
  std::vector<int32_t> ids(size);
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

std::vector<int32_t> best_ids(const std::vector<float>& logits, size_t count) {
  auto ids = all_ids(logits.size());
  std::stable_sort(ids.begin(), ids.end(), [&](int32_t a, int32_t b) {
    return logits[static_cast<size_t>(a)] > logits[static_cast<size_t>(b)];
  });
  ids.resize(count);
  return ids;
}

TEST(SamplerDistribution, PlainSoftmax) {
  const auto logits = some_logits(520);  // three blocks
  expect_softmax(logits, {}, all_ids(520));
}

TEST(SamplerDistribution, Temperature) {
  const auto logits = some_logits(300);
  expect_softmax(logits, {.temperature = 2.5F}, all_ids(300));
  expect_softmax(some_logits(12), {.temperature = 0.7F}, all_ids(12));
}

TEST(SamplerDistribution, TopK) {
  const auto logits = some_logits(300);
  expect_softmax(logits, {.top_k = 40}, best_ids(logits, 40));
}

TEST(SamplerDistribution, TopP) {
  const auto logits = some_logits(300);
  const auto order = best_ids(logits, 300);
  double sum = 0, mass = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
  size_t kept = 0;
  while (mass < 0.8 * sum) mass += std::exp(static_cast<double>(logits[static_cast<size_t>(order[kept++])]));
  expect_softmax(logits, {.top_p = 0.8F}, best_ids(logits, kept));
}

TEST(SamplerDistribution, MinP) {
  const auto logits = some_logits(300);
  const float max = *std::max_element(logits.begin(), logits.end());
  const auto kept = static_cast<size_t>(
      std::count_if(logits.begin(), logits.end(), [&](float x) { return std::exp(x - max) >= 0.3F; }));
  expect_softmax(logits, {.min_p = 0.3F}, best_ids(logits, kept));
}

TEST(SamplerDistribution, EverythingAtOnce) {
  // Probabilities 8/16 4/16 2/16 1/16 1/16 (ids in this order); top_k 4 leaves 8 4 2 1 of 15; top_p 0.9 needs 13.5,
  // so 8 + 4 + 2; min_p 0.3 then drops what is below 2.4, which leaves ids 0 and 1.
  std::vector<float> logits;
  for (const double weight : {8.0, 4.0, 2.0, 1.0, 1.0}) logits.push_back(static_cast<float>(std::log(weight)));
  expect_softmax(logits, {.top_k = 4, .top_p = 0.9F, .min_p = 0.3F}, {0, 1});
  EXPECT_THAT(support(logits, {.top_k = 4, .top_p = 0.9F}), testing::ElementsAre(0, 1, 2));
  EXPECT_THAT(support(logits, {.top_k = 3, .min_p = 0.01F}), testing::ElementsAre(0, 1, 2));  // no filter loosens
}

TEST(Sampler, TopKKeepsTheLowerIdsOfATie) {
  EXPECT_THAT(support({1, 2, 2, 2, 0}, {.top_k = 2}), testing::ElementsAre(1, 2));
  EXPECT_THAT(support({1, 2, 2, 2, 0}, {.top_k = 4}), testing::ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(support({1, 2, 2}, {.top_k = 100}), testing::ElementsAre(0, 1, 2));
}

TEST(Sampler, TopKWhereTheBlocksLeaveExactlyThatMany) {
  // Four blocks; only three ids reach the third largest block maximum, and the last of them is not the worst.
  std::vector<float> logits(1024, -9.0F);
  logits[0] = 1;
  logits[256] = 3;
  logits[512] = 2;
  EXPECT_THAT(support(logits, {.top_k = 3}), testing::ElementsAre(0, 256, 512));
}

TEST(Sampler, TopPKeepsTheTokenThatCrosses) {
  // Four equal probabilities: 0.5 is reached by two of them exactly, 0.51 needs three.
  EXPECT_THAT(support({0, 0, 0, 0}, {.top_p = 0.5F}), testing::ElementsAre(0, 1));
  EXPECT_THAT(support({0, 0, 0, 0}, {.top_p = 0.51F}), testing::ElementsAre(0, 1, 2));
  EXPECT_THAT(support({0, 5, 0, 0}, {.top_p = 1e-9F}), testing::ElementsAre(1));
  EXPECT_THAT(support({0, 1, 2, 3}, {.top_p = 0.99999994F}), testing::ElementsAre(0, 1, 2, 3));
}

TEST(Sampler, TopPMeasuresTheMassThatTopKLeft) {
  // 4/10 3/10 2/10 1/10; top_k 2 leaves 4/7 and 3/7, and 4/7 alone reaches 0.55.
  std::vector<float> logits;
  for (const double weight : {4.0, 3.0, 2.0, 1.0}) logits.push_back(static_cast<float>(std::log(weight)));
  EXPECT_THAT(support(logits, {.top_k = 2, .top_p = 0.55F}), testing::ElementsAre(0));
  EXPECT_THAT(support(logits, {.top_p = 0.55F}), testing::ElementsAre(0, 1));
}

TEST(Sampler, MinPOfOneKeepsTheBestAndItsTies) {
  EXPECT_THAT(support({3, 1, 3, 2.999F}, {.min_p = 1.0F}), testing::ElementsAre(0, 2));
}

TEST(Sampler, MinPIsMeasuredAfterTemperature) {
  // exp(-1) = 0.37 at temperature 1, exp(-2) = 0.14 at 0.5.
  EXPECT_THAT(support({0, -1}, {.min_p = 0.3F}), testing::ElementsAre(0, 1));
  EXPECT_THAT(support({0, -1}, {.temperature = 0.5F, .min_p = 0.3F}), testing::ElementsAre(0));
}

TEST(Sampler, GreedyTakesTheLowestOfEqualIds) {
  std::vector<float> logits(1000, 0.0F);
  logits[300] = logits[600] = logits[999] = 5;
  EXPECT_EQ(draw(logits, {.temperature = 0})->token, 300);
  EXPECT_EQ(draw({-kInf, -kInf, -3}, {.temperature = 0})->token, 2);
}

TEST(Sampler, LogitBiasComesFirst) {
  EXPECT_EQ(draw({1, 2, 3}, {.temperature = 0, .logit_bias = {{0, 2.5F}}})->token, 0);
  // Bias makes the logit positive, so the repetition penalty divides: (1 + 3) / 2 = 2 against 2.5.
  const TokenCounts counts(std::vector<int32_t>{0});
  EXPECT_EQ(draw({1, 2.5F}, {.temperature = 0, .repetition_penalty = 2, .logit_bias = {{0, 3}}}, 0, &counts)->token, 1);
}

TEST(Sampler, Penalties) {
  TokenCounts counts(std::vector<int32_t>{0, 1});
  counts.add_output(1);
  counts.add_output(2);
  counts.add_output(2);
  std::vector<float> logits{4, -4, 4, 4};
  counts.apply({.repetition_penalty = 2, .presence_penalty = 0.25F, .frequency_penalty = 0.5F}, logits);
  EXPECT_THAT(logits, testing::ElementsAre(2, -8 - 0.5F - 0.25F, 2 - 1 - 0.25F, 4));
}

TEST(Sampler, CountsSaturate) {
  TokenCounts counts(std::vector<int32_t>{});
  for (int i = 0; i < 40000; ++i) counts.add_output(0);
  std::vector<float> logits{0};
  counts.apply({.frequency_penalty = 1}, logits);
  EXPECT_EQ(logits[0], -32767);
}

TEST(Sampler, BannedAndUnknownIdsAreNeverDrawn) {
  EXPECT_EQ(draw({9, 1, 2, 99}, {.temperature = 0}, 0, nullptr, {0}, 3)->token, 2);
  for (uint64_t position = 0; position < 200; ++position) {
    EXPECT_EQ(draw({9, 1, 2, 99}, {.temperature = 5}, position, nullptr, {0, 1}, 3)->token, 2);
  }
}

TEST(Sampler, BadLogitsAreAnError) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), kInf}) {
    const auto result = draw({1, bad, 2}, {});
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.status().code(), StatusCode::corrupt_data);
  }
  EXPECT_EQ(draw({-kInf, -kInf}, {}).status().code(), StatusCode::corrupt_data);
  EXPECT_EQ(draw({-kInf, -kInf}, {}, 0, nullptr, {0}).status().code(), StatusCode::invalid_argument);
  EXPECT_EQ(draw({1, 2}, {}, 0, nullptr, {0, 1}).status().code(), StatusCode::invalid_argument);
}

TEST(Sampler, AMaskHidesNoBadLogits) {
  const std::vector<uint32_t> allowed = {5};
  const SampleParams greedy{.temperature = 0};
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), kInf}) {
    std::vector<float> logits = {1, bad, 2, 3};
    Sampler sampler;
    DrawArgs args;
    args.logits = logits;
    args.known_ids = 4;
    args.params = &greedy;
    args.allowed = allowed;
    EXPECT_EQ(sampler.draw(args).status().code(), StatusCode::corrupt_data);
    logits[1] = -kInf;  // which a bias may give
    EXPECT_EQ(sampler.draw(args)->token, 2);
  }
}

TEST(Sampler, AMaskWinsOverBans) {
  const std::vector<uint32_t> allowed = {4};
  const std::vector<int32_t> banned = {2};
  const SampleParams greedy{.temperature = 0};
  std::vector<float> logits = {1, 3, 2, 0};
  Sampler sampler;
  DrawArgs args;
  args.logits = logits;
  args.known_ids = 4;
  args.params = &greedy;
  args.banned = banned;
  args.allowed = allowed;
  const auto draw = sampler.draw(args);
  ASSERT_TRUE(draw.ok()) << draw.status().message();
  EXPECT_EQ(draw->token, 2);
}

TEST(Sampler, AMaskAllowsNoUnknownIds) {
  const std::vector<uint32_t> allowed = {0b1100};
  const SampleParams greedy{.temperature = 0};
  std::vector<float> logits = {1, 3, 2, 4};
  DrawArgs args;
  args.logits = logits;
  args.known_ids = 3;
  args.params = &greedy;
  args.allowed = allowed;
  const auto draw = Sampler().draw(args);
  ASSERT_TRUE(draw.ok()) << draw.status().message();
  EXPECT_EQ(draw->token, 2);
}

TEST(Sampler, ExtremeTemperaturesStayFinite) {
  EXPECT_EQ(draw({1, 2, 1.9F}, {.temperature = 1e-45F})->token, 1);
  EXPECT_THAT(support({1, 2, 2, 2}, {.temperature = 1e-30F}),
              testing::ElementsAre(1, 2, 3));  // as likely as each other
  EXPECT_THAT(support({-3e38F, 3e38F, -kInf}, {.temperature = 3e38F}), testing::ElementsAre(1));
  EXPECT_EQ(draw({-3e38F, 3e38F, 0}, {.temperature = 1e-30F, .top_p = 0.9F, .min_p = 0.1F})->token, 1);
  EXPECT_EQ(support({1, 2, 3}, {.temperature = 1e30F}).size(), 3U);
}

TEST(Sampler, ADrawIsAFunctionOfItsName) {
  const auto logits = some_logits(5000);
  const SampleParams params{.top_k = 500, .top_p = 0.9F};
  Sampler sampler;
  for (uint64_t position = 0; position < 50; ++position) {
    EXPECT_EQ(draw(logits, params, position)->token, draw(logits, params, position)->token);
  }
  EXPECT_GT(histogram(logits, params, 50).size(), 20U);
  int same = 0;
  for (uint64_t p = 0; p < 50; ++p) {
    const auto other = draw(logits, params, p, nullptr, {}, -1, /*seed=*/12);
    same += draw(logits, params, p)->token == other->token ? 1 : 0;
  }
  EXPECT_LT(same, 10);
}

/// The definition, without blocks, buckets and bounds.
int32_t brute_force(const std::vector<float>& logits, const SampleParams& params, const NoiseStream& noise) {
  auto order = best_ids(logits, logits.size());
  const float max = logits[static_cast<size_t>(order[0])];
  const float inverse = spelt::inverse_temperature(params.temperature);
  const auto depth_of = [&](int32_t id) { return spelt::depth(max, logits[static_cast<size_t>(id)], inverse); };
  if (params.top_k > 0 && static_cast<size_t>(params.top_k) < order.size()) {
    order.resize(static_cast<size_t>(params.top_k));
  }
  if (params.top_p < 1) {
    uint64_t total = 0, sum = 0;
    for (const int32_t id : order) total += spelt::mass(depth_of(id));
    const uint64_t target = spelt::share(total, spelt::top_p_fraction(params.top_p));
    size_t kept = 0;
    while (sum < target) sum += spelt::mass(depth_of(order[kept++]));
    order.resize(kept);
  }
  int32_t best = -1;
  float best_score = 0;
  for (const int32_t id : order) {
    if (depth_of(id) > spelt::min_p_depth(params.min_p)) continue;
    const float score = spelt::gumbel(noise_bits(noise, id)) - depth_of(id);
    if (best < 0 || score > best_score || (score == best_score && id < best)) {
      best = id;
      best_score = score;
    }
  }
  return best;
}

/// Far behind the best logit an id wins by its noise alone, and it does so up to the last bit of its depth: what skips
/// its block must not do so one bit too early. Of scores that are alike the lower id wins, in whichever block.
TEST(Sampler, ABlockIsSkippedOnlyIfNothingInItCanWin) {
  constexpr uint64_t kRare = 762'343;  // there id 285 has noise of 19.9: one of five hundred million, 22.9 is the most
  std::vector<uint64_t> positions(1000);
  std::iota(positions.begin(), positions.end(), 0);
  positions.push_back(kRare);
  int cases = 0;
  for (const uint64_t position : positions) {
    const NoiseStream noise{.key = noise_key(1, std::vector<int32_t>{1, 2}), .position = position};
    const auto gumbel_of = [&](int32_t id) { return spelt::gumbel(noise_bits(noise, id)); };
    const bool best_first = position % 2 == 0 || position == kRare;
    const int32_t best_id = best_first ? 3 : 300, others = best_first ? 256 : 0;
    int32_t lucky = others;
    for (int32_t id = others; id < others + 256; ++id) lucky = gumbel_of(id) > gumbel_of(lucky) ? id : lucky;
    // Both beside the best id, and the lucky one wins as long as it is less deep than this.
    const float best = gumbel_of(best_id), luck = gumbel_of(lucky);
    float depth = luck - best;
    if (depth <= 0.01F) continue;
    while (luck - depth <= best) depth = std::nextafter(depth, 0.0F);
    while (luck - std::nextafter(depth, kInf) > best) depth = std::nextafter(depth, kInf);
    std::vector<float> logits(512, -40.0F);
    logits[static_cast<size_t>(best_id)] = 0;
    logits[static_cast<size_t>(lucky)] = -depth;
    EXPECT_EQ(draw(logits, {}, position)->token, lucky) << "at depth " << depth;
    const float deeper = std::nextafter(depth, kInf);
    const bool alike = luck - deeper == best;
    logits[static_cast<size_t>(lucky)] = -deeper;
    EXPECT_EQ(draw(logits, {}, position)->token, alike ? std::min(best_id, lucky) : best_id) << "below " << depth;
    ++cases;
  }
  EXPECT_GT(cases, 800);
}

/// A filter's last logit may be the largest of a block.
TEST(Sampler, TiesOfTheLastLogitInOtherBlocksAreKept) {
  std::vector<float> logits(1024, -9.0F);
  for (const size_t id : {5, 300, 600, 900}) logits[id] = 2;
  EXPECT_THAT(support(logits, {.top_k = 3}), testing::ElementsAre(5, 300, 600));
  EXPECT_THAT(support(logits, {.top_k = 4}), testing::ElementsAre(5, 300, 600, 900));
}

RC_GTEST_PROP(SamplerProperty, SkippingBlocksChangesNothing, (uint64_t seed)) {
  std::mt19937_64 random(seed);
  const size_t size = 1 + random() % 5000;
  const std::array<float, 5> spreads{0, 0.5F, 2, 8, 60};
  std::normal_distribution<float> normal(0, spreads[random() % spreads.size()]);
  std::vector<float> logits(size);
  for (float& logit : logits) logit = normal(random);
  SampleParams params;
  params.temperature = std::array<float, 4>{0.01F, 0.6F, 1, 7}[random() % 4];
  if (random() % 2 == 0) params.top_k = static_cast<int>(1 + random() % (random() % 2 == 0 ? 100 : 3000));
  if (random() % 2 == 0) params.top_p = std::array<float, 4>{1e-6F, 0.3F, 0.95F, 0.99999994F}[random() % 4];
  if (random() % 3 == 0) params.min_p = std::array<float, 3>{1e-4F, 0.2F, 1.0F}[random() % 3];
  const NoiseStream noise{.key = noise_key(seed, std::vector<int32_t>{1, 2}), .position = 5};
  RC_ASSERT(draw(logits, params, 5, nullptr, {}, -1, seed)->token == brute_force(logits, params, noise));
}

TEST(Logprobs, AreTheLogSoftmaxOfTheRawLogits) {
  const auto logits = some_logits(1000);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
  SampleParams params{.temperature = 0.5F, .top_k = 3, .logit_bias = {{17, 50.0F}}, .logprobs = 5};
  const auto result = draw(logits, params);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->token, 17);
  ASSERT_EQ(result->logprobs.size(), 6U);
  const auto order = best_ids(logits, 1000);
  const auto rank = std::find(order.begin(), order.end(), 17) - order.begin() + 1;
  EXPECT_EQ(result->logprobs[0].token, 17);
  EXPECT_EQ(result->logprobs[0].rank, rank);
  EXPECT_NEAR(result->logprobs[0].logprob, logits[17] - std::log(sum), 2e-6);
  for (size_t i = 1; i <= 5; ++i) {
    const TokenLogprob& entry = result->logprobs[i];
    EXPECT_EQ(entry.token, order[i - 1]);
    EXPECT_EQ(entry.rank, static_cast<int64_t>(i));
    EXPECT_NEAR(entry.logprob, logits[static_cast<size_t>(entry.token)] - std::log(sum), 2e-6);
  }
}

TEST(Logprobs, OfADrawAreOfTheWholeVocabulary) {
  const std::vector<float> logits{1, 2, 4, 3};  // the last two stand for no token
  const auto result = draw(logits, {.temperature = 0, .logprobs = 1}, 0, nullptr, {}, /*known_ids=*/2);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->token, 1);
  const auto want = Sampler().logprobs(logits, 1, 1);
  ASSERT_EQ(result->logprobs.size(), 2U);
  EXPECT_EQ(result->logprobs[0].logprob, (*want)[0].logprob);
  EXPECT_EQ(result->logprobs[0].rank, 3);
  EXPECT_EQ(result->logprobs[1].token, 2);
}

TEST(Logprobs, AreWithin1e5thOfDoublePrecisionForAWholeVocabulary) {
  std::mt19937 random(1);
  for (const float spread : {0.0F, 1.0F, 6.0F}) {
    std::normal_distribution<float> normal(0, std::max(spread, 1e-30F));
    std::vector<float> logits(248320);
    for (float& logit : logits) logit = normal(random);
    double sum = 0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
    Sampler sampler;
    for (const int32_t token : {0, 77777, 248319}) {
      const auto result = sampler.logprobs(logits, token, 20);
      ASSERT_TRUE(result.ok());
      for (const TokenLogprob& entry : *result) {
        EXPECT_NEAR(entry.logprob, logits[static_cast<size_t>(entry.token)] - std::log(sum), 1e-5) << spread;
      }
    }
  }
}

TEST(Logprobs, OfLogitsThatRuleATokenOut) {
  Sampler sampler;
  const auto result = sampler.logprobs(std::vector<float>{1, -kInf, 2}, 1, 3);
  ASSERT_EQ(result->size(), 3U) << "what is ruled out is no alternative";
  EXPECT_EQ((*result)[0].logprob, -kInf);
  EXPECT_EQ((*result)[0].rank, 3);
  EXPECT_EQ(sampler.logprobs(std::vector<float>{-kInf, -kInf}, 1, 3).status().code(), StatusCode::corrupt_data);
}

TEST(Logprobs, TiesRankByIdAndZeroAlternativesIsTheTokenAlone) {
  Sampler sampler;
  const std::vector<float> logits{1, 3, 3, 2};
  const auto alone = sampler.logprobs(logits, 2, 0);
  ASSERT_EQ(alone->size(), 1U);
  EXPECT_EQ((*alone)[0].rank, 2);
  const auto all = sampler.logprobs(logits, 0, 20);
  ASSERT_EQ(all->size(), 5U);
  EXPECT_EQ((*all)[0].rank, 4);
  EXPECT_EQ((*all)[1].token, 1);
  EXPECT_EQ((*all)[2].token, 2);
}

}  // namespace
}  // namespace tessera::kernels
