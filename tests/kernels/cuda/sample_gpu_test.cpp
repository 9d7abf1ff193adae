#include "kernels/cuda/sample_fixture.h"

// The sampler on a GPU (label gpu) and, but for tests named Large*, in the simulator: the CPU's tokens, statuses,
// log-probabilities and counts, bit for bit.
namespace tessera::kernels::cuda {
namespace {

void expect_random_rows_as_cpu(int64_t vocab, int64_t known_ids, int32_t rows_max, int runs, uint64_t seed) {
  GpuSampler gpu(rows_max, vocab, known_ids);
  std::mt19937_64 random(seed);
  for (int run = 0; run < runs; ++run) {
    const auto rows = random_rows(random, 1 + random() % static_cast<uint64_t>(rows_max), vocab, known_ids);
    gpu.expect_as_cpu(
        rows, "vocab " + std::to_string(vocab) + " seed " + std::to_string(seed) + " run " + std::to_string(run));
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Sample, RandomRowsAreAsOnTheCpu) {
  expect_random_rows_as_cpu(5000, 4800, 6, 12, 1);
  expect_random_rows_as_cpu(4096, 4096, 3, 12, 2);
  expect_random_rows_as_cpu(1000, 999, 7, 12, 3);
  expect_random_rows_as_cpu(8192, 8191, 2, 4, 4);
  expect_random_rows_as_cpu(8193, 8193, 2, 4, 5);
}

TEST(Sample, VocabulariesOfAnySize) {
  for (const int64_t vocab : {1, 2, 3, 31, 33, 255, 256, 257, 511, 1003, 2049}) {
    expect_random_rows_as_cpu(vocab, std::max<int64_t>(1, vocab - 1), 2, 3, static_cast<uint64_t>(vocab));
  }
}

TEST(Sample, LargeVocabularyIsAsOnTheCpu) {
  expect_random_rows_as_cpu(248320, 248077, 1, 60, 11);
  expect_random_rows_as_cpu(248320, 248077, 7, 40, 12);
  expect_random_rows_as_cpu(248320, 248320, 64, 8, 13);
  expect_random_rows_as_cpu(248319, 248077, 5, 10, 14);
  expect_random_rows_as_cpu(kSampleVocabMax, 500000, 2, 10, 15);
}

// ---- one thing at a time ----

Row plain(std::vector<float> logits, SampleParams params) {
  Row row;
  row.logits = std::move(logits);
  row.params = std::move(params);
  row.noise = {.key = 5, .choice = 1, .position = 9};
  return row;
}

std::vector<float> normal_logits(size_t vocab, uint64_t seed, float spread = 2) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, spread);
  std::vector<float> logits(vocab);
  for (float& logit : logits) logit = normal(random);
  return logits;
}

/// Every filter on logits of which more than a sorted list holds are equal, or nearly.
TEST(Sample, ManyEqualLogits) {
  GpuSampler gpu(4, 5000, 5000);
  std::vector<float> equal(5000, 1.5F), nearly(5000);
  for (size_t i = 0; i < nearly.size(); ++i) nearly[i] = 1 + static_cast<float>(i * 7919 % 5000) * 0x1p-20F;
  for (const auto& logits : {equal, nearly}) {
    for (const SampleParams& params :
         {SampleParams{.top_k = 3, .logprobs = 20}, SampleParams{.top_k = 3000}, SampleParams{.top_p = 0.7F},
          SampleParams{.top_k = 4000, .top_p = 0.99F}, SampleParams{.temperature = 0, .logprobs = 3}}) {
      gpu.expect_as_cpu(std::vector<Row>{plain(logits, params)}, "many equal");
    }
  }
}

/// The cut lies in the second of two crowds, each too large to be sorted, which only the last bits of ranks tell apart.
TEST(Sample, CrowdsOfEqualLogits) {
  GpuSampler gpu(3, 7000, 7000);
  std::vector<float> logits(7000, 1.0F);
  for (size_t i = 0; i < logits.size(); i += 2) logits[i] = 1 + 0x1p-20F;
  gpu.expect_as_cpu(std::vector<Row>{plain(logits, {.top_k = 5000}), plain(logits, {.top_p = 0.8F}),
                                     plain(logits, {.top_k = 6000, .top_p = 0.9F})},
                    "two crowds");
}

/// A crowd at the edge of a bin, and ids a bit above it in the bin before: these count once.
TEST(Sample, ACrowdAtTheEdgeOfABin) {
  GpuSampler gpu(4, 3301, 3301);
  std::vector<float> logits(3301, 1.0F - 1.0F / spelt::kBucketsPerUnit);
  for (size_t i = 1; i <= 300; ++i) logits[i] = std::nextafter(logits[i], 1.0F);
  logits[0] = 1.0F;
  for (uint64_t position = 0; position < 24; position += 4) {
    std::vector<Row> rows(4, plain(logits, {.top_k = 2801}));
    for (size_t i = 0; i < rows.size(); ++i) rows[i].noise.position = position + i;
    gpu.expect_as_cpu(rows, "a crowd at an edge");
  }
}

/// The cut is at the last of those with which the sum is what top_k or top_p wants, and nothing more: among few, in a
/// list, behind a bin.
TEST(Sample, WhatIsJustReachedIsEnough) {
  GpuSampler gpu(16, 7000, 7000);
  std::vector<float> four(7000, -100.0F), stairs(7000, -3.0F);
  for (const size_t id : {5U, 300U, 4000U, 6999U}) four[id] = 3;
  for (size_t i = 0; i < stairs.size(); ++i) stairs[i] = i % 7 == 0 ? 3.0F : i % 7 < 4 ? 2.0F : 1.0F;
  for (const auto& [logits, params] :
       {std::pair(four, SampleParams{.top_k = 4, .top_p = 0.5F}), std::pair(four, SampleParams{.top_p = 0.5F}),
        std::pair(four, SampleParams{.top_p = 0.75F}), std::pair(stairs, SampleParams{.top_k = 4000})}) {
    std::vector<Row> rows(16, plain(logits, params));
    for (size_t i = 0; i < rows.size(); ++i) rows[i].noise.position = i;
    gpu.expect_as_cpu(rows, "top_k " + std::to_string(params.top_k) + " top_p " + std::to_string(params.top_p));
  }
}

/// The best ids are in pairs of blocks so far apart that the search for few of them takes each pair for one.
TEST(Sample, TheBestIdsOfManyBlocks) {
  constexpr int64_t kVocab = 70'400, kApart = 256;  // 275 blocks
  auto logits = normal_logits(kVocab, 6, 0.5F);
  for (int64_t block = 0; block < 19; ++block) {
    const float logit = 10 + 0.01F * static_cast<float>(block * 7 % 19);
    logits[static_cast<size_t>(block * 256 + 7)] = logit;
    logits[static_cast<size_t>((block + kApart) * 256 + 3)] = logit + 0.005F;
  }
  GpuSampler gpu(8, kVocab, kVocab);
  for (const SampleParams& params :
       {SampleParams{.top_k = 20, .logprobs = 20}, SampleParams{.top_k = 37, .top_p = 0.9F}, SampleParams{.top_k = 64},
        SampleParams{.top_k = 65}, SampleParams{.temperature = 0, .logprobs = 12}}) {
    std::vector<Row> rows(8, plain(logits, params));
    for (size_t i = 0; i < rows.size(); ++i) rows[i].noise.position = 100 * i;
    gpu.expect_as_cpu(rows, "top_k " + std::to_string(params.top_k));
  }
}

/// One block of ids more than the threads of a thread block look at in one go, and the best ids in it.
TEST(Sample, TheBestIdsBehindVeryManyBlocks) {
  constexpr int64_t kVocab = 4 * 256 * 256 + 4;
  auto logits = normal_logits(static_cast<size_t>(kVocab), 8, 0.5F);
  for (size_t i = 1; i <= 4; ++i) logits[static_cast<size_t>(kVocab) - i] = 10 + 0.01F * static_cast<float>(i);
  GpuSampler gpu(1, kVocab, kVocab);
  gpu.expect_as_cpu(std::vector<Row>{plain(logits, {.top_k = 5})}, "1,025 blocks");
}

/// A vocabulary whose values fit a thread block's registers: the best ids are all one thread's, all ids are as good, or
/// fewer are allowed than top_k wants.
TEST(Sample, TheBestIdsOfFewBlocks) {
  constexpr size_t kVocab = 4096;
  auto one_thread = normal_logits(kVocab, 7, 0.5F);
  for (const size_t first : {0U, 128U, 2048U, 2176U}) {
    for (size_t i = 0; i < 4; ++i) one_thread[first + i] = 10 + 0.01F * static_cast<float>((first / 64 + 5 * i) % 23);
  }
  GpuSampler gpu(6, static_cast<int64_t>(kVocab), static_cast<int64_t>(kVocab));
  for (const int top_k : {1, 16, 20, 128, 129}) {
    const SampleParams params{.top_k = top_k, .top_p = 0.97F, .logprobs = 5};
    std::vector<Row> rows = {plain(one_thread, params),
                             plain(one_thread, params),
                             plain(std::vector<float>(kVocab, 1.5F), params),
                             plain(std::vector<float>(kVocab, 1.5F), params),
                             plain(one_thread, params),
                             plain(one_thread, params)};
    for (size_t i = 0; i < rows.size(); ++i) rows[i].noise.position = 100 * i;
    for (size_t i = 4; i < 6; ++i) {
      rows[i].allowed.assign(static_cast<size_t>(mask_words(static_cast<int64_t>(kVocab))), 0);
      rows[i].allowed[3] = 0x00f00f01;
    }
    gpu.expect_as_cpu(rows, "top_k " + std::to_string(top_k));
  }
}

/// The row at two positions: where the last id that top_k, then top_p keep is drawn, and where the first that they drop
/// would be.
std::vector<Row> at_the_cut(Row row) {
  const float max = *std::max_element(row.logits.begin(), row.logits.end());
  const int top_k = row.params.top_k;
  const float inverse = spelt::inverse_temperature(row.params.temperature);
  std::vector<int32_t> order(row.logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto logit = [&](int32_t id) { return row.logits[static_cast<size_t>(id)]; };
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return logit(a) > logit(b); });
  uint64_t total = 0, sum = 0;
  const auto mass = [&](int32_t id) { return spelt::mass(spelt::depth(max, logit(id), inverse)); };
  size_t kept = top_k > 0 ? static_cast<size_t>(top_k) : order.size();
  for (size_t i = 0; i < kept; ++i) total += mass(order[i]);
  if (row.params.top_p < 1) {
    const uint64_t target = spelt::share(total, spelt::top_p_fraction(row.params.top_p));
    for (kept = 0; sum < target;) sum += mass(order[kept++]);
  }
  Row open = row;
  open.params.top_p = 1;
  if (top_k > 0) open.params.top_k = top_k + 1;
  std::optional<Row> last, first;
  for (row.noise.position = 0; !last || !first; ++row.noise.position) {
    open.noise = row.noise;
    const int32_t token = cpu_result(open, static_cast<int64_t>(row.logits.size())).token;
    if (token == order[kept - 1]) last = row;
    if (token == order[kept]) first = row;
  }
  return {*last, *first};
}

/// Half of the mass lies in thousands of deep ids, whose sum overflows 32 bits again and again.
TEST(Sample, TheCutAmongManyDeepIds) {
  GpuSampler gpu(2, 3000, 3000);
  auto logits = normal_logits(3000, 1, 0.3F);
  for (const float first : {8.0F, 1.0F}) {
    logits[77] = first;
    for (const float top_p : {0.7F, 0.9F}) {
      gpu.expect_as_cpu(at_the_cut(plain(logits, {.top_p = top_p})), "deep ids");
    }
  }
}

/// top_k keeps so many and no more, whichever way they are found: of few blocks, of more by groups of four, two and
/// one, by depth.
TEST(Sample, TopKKeepsAsManyAsItSays) {
  for (const auto& [vocab, top_ks] :
       {std::pair<size_t, std::vector<int>>{3000, {5, 300, 1000}}, {10'240, {5, 10, 20}}}) {
    GpuSampler gpu(2, static_cast<int64_t>(vocab), static_cast<int64_t>(vocab));
    for (const int top_k : top_ks) {
      const Row row = plain(normal_logits(vocab, 5, 0.1F), {.temperature = 2, .top_k = top_k});
      gpu.expect_as_cpu(at_the_cut(row), std::to_string(vocab) + " ids, top_k " + std::to_string(top_k));
    }
  }
}

/// As many ids as a thread block has threads are equally good, and one more, which is the first of them.
TEST(Sample, OneMoreThanThereAreThreads) {
  GpuSampler gpu(1, 4096, 4096);
  std::vector<float> logits(4096, -1.0F);
  std::fill(logits.begin() + 2048, logits.begin() + 2304, 2.0F);
  for (const int32_t best : {2048, 2047}) {
    logits[static_cast<size_t>(best)] = 2;
    gpu.expect_as_cpu(std::vector<Row>{plain(logits, {.top_k = 1})}, "from " + std::to_string(best) + " on");
  }
}

/// Other rows' logits, however large, are no part of a row.
TEST(Sample, RowsOfManyBlocksBesideLargerOnes) {
  constexpr int64_t kVocab = 10'240;
  std::vector<Row> rows;
  for (uint64_t i = 0; i < 3; ++i) {
    rows.push_back(plain(normal_logits(static_cast<size_t>(kVocab), i), {.top_k = 3, .logprobs = 2}));
    for (float& logit : rows.back().logits) logit += 30 * static_cast<float>(i);
  }
  GpuSampler(3, kVocab, kVocab).expect_as_cpu(rows, "larger rows follow");
}

/// Draws that the likeliest id nearly wins, against blocks of equal logits: what a bound taken from its score and from
/// the best of a block leaves out shows here.
TEST(Sample, CloseCalls) {
  constexpr size_t kVocab = 600, kCalls = 35;
  std::vector<float> logits(kVocab, 0.0F);
  std::fill(logits.begin() + 256, logits.begin() + 512, -kInf);
  logits[321] = 6;
  const Row row = plain(logits, {});
  std::vector<std::pair<float, uint64_t>> margins;
  for (uint64_t position = 0; position < 40000; ++position) {
    const NoiseStream stream{.key = row.noise.key, .choice = row.noise.choice, .position = position};
    float best = -100;
    for (size_t id = 0; id < kVocab; ++id) {
      if (id == 321) continue;
      best = std::max(best, spelt::gumbel(noise_bits(stream, static_cast<int32_t>(id))) - (6 - logits[id]));
    }
    const float margin = best - spelt::gumbel(noise_bits(stream, 321));
    if (margin >= 0) margins.emplace_back(margin, position);
  }
  std::partial_sort(margins.begin(), margins.begin() + kCalls, margins.end());
  EXPECT_LT(margins[kCalls - 1].first, 0.01F);
  GpuSampler gpu(7, kVocab, kVocab);
  for (size_t i = 0; i < kCalls; i += 7) {
    std::vector<Row> rows(7, row);
    for (size_t j = 0; j < 7; ++j) rows[j].noise.position = margins[i + j].second;
    gpu.expect_as_cpu(rows, "margin " + std::to_string(margins[i].first));
  }
}

/// The largest noise there is carries an id over one that is as much likelier as noise can be: no bound may leave it
/// out.
TEST(Sample, TheLargestNoiseWinsFromAfar) {
  constexpr int32_t kLikely = 321, kLucky = 222;
  Row row = plain(std::vector<float>(600, -60.0F), {});
  row.noise.position = 652402;
  ASSERT_EQ(noise_bits(row.noise, kLucky), 0xffffffffU);
  row.logits[kLikely] = 0;
  const float likely = spelt::gumbel(noise_bits(row.noise, kLikely));
  GpuSampler gpu(2, 600, 600);
  std::vector<Row> rows(2, row);
  rows[0].logits[kLucky] = -(spelt::gumbel(0xffffffffU) - likely - 0x1p-10F);
  rows[1].logits[kLucky] = -(spelt::gumbel(0xffffffffU) - likely + 0x1p-10F);
  EXPECT_EQ(cpu_result(rows[0], 600).token, kLucky);
  EXPECT_EQ(cpu_result(rows[1], 600).token, kLikely);
  gpu.expect_as_cpu(rows, "the largest noise");
}

TEST(Sample, BadLogitsAndNoTokenLeft) {
  GpuSampler gpu(8, 1000, 900);
  const auto with = [](size_t at, float value, SampleParams params) {
    auto logits = normal_logits(1000, 3);
    logits[at] = value;
    return plain(logits, std::move(params));
  };
  std::vector<Row> rows{with(3, std::nanf(""), {}),
                        with(899, kInf, {.temperature = 0}),
                        with(950, kInf, {.temperature = 0}),           // not a known id
                        with(950, kInf, {.top_k = 5, .logprobs = 2}),  // but one that has a probability
                        plain(std::vector<float>(1000, -kInf), {}),
                        with(4, -kInf, {.top_k = 2}),
                        plain(std::vector<float>(1000, -kInf), {}),
                        plain(std::vector<float>(1000, -kInf), {.logprobs = 1})};
  rows[6].banned = {7};
  rows[7].target = 7;
  gpu.expect_as_cpu(rows, "bad logits");
  const auto results = gpu.run(rows);
  const std::array<StatusCode, 8> want{StatusCode::corrupt_data,     StatusCode::corrupt_data, StatusCode::ok,
                                       StatusCode::corrupt_data,     StatusCode::corrupt_data, StatusCode::ok,
                                       StatusCode::invalid_argument, StatusCode::corrupt_data};
  for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(results[i].status, want[i]) << i;

  Row banned = plain(normal_logits(1000, 4), {.top_k = 3, .logit_bias = {{5, 3e38F}, {5, 3e38F}}});
  rows = {banned, banned, banned};
  for (int32_t id = 0; id < 900; ++id) rows[1].banned.push_back(id);
  rows[2].allowed.assign(32, 0);
  gpu.expect_as_cpu(rows, "banned");
}

TEST(Sample, NeighboursGridsAndDeadRowsChangeNothing) {
  constexpr int64_t kVocab = 5000;
  std::mt19937_64 random(21);
  const auto rows = random_rows(random, 6, kVocab, kVocab);
  GpuSampler wide(20, kVocab, kVocab), medium(6, kVocab, kVocab), one(1, kVocab, kVocab);
  const auto together = medium.run(rows), among_dead = wide.run(rows);
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto alone = one.run({&rows[i], 1});
    EXPECT_EQ(show(alone[0]), show(together[i])) << show(rows[i]);
    EXPECT_EQ(show(alone[0]), show(among_dead[i])) << show(rows[i]);
  }
  wide.pdl = false;
  const auto without_pdl = wide.run(rows);
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(show(without_pdl[i]), show(together[i]));
  EXPECT_TRUE(wide.run({}).empty()) << "no live row at all";
}

TEST(Sample, AWorkspaceServesFewerRowsToo) {
  const auto bytes = sample_workspace_bytes(64, 5000);
  EXPECT_GT(bytes, sample_workspace_bytes(1, 5000));
  const OnDevice<std::byte> workspace(bytes);
  std::mt19937_64 random(31);
  for (const int32_t rows_max : {5, 1, 7, 2}) {
    GpuSampler gpu(rows_max, 2000, 2000);
    const auto rows = random_rows(random, static_cast<size_t>(rows_max), 2000, 2000);
    gpu.prepare(rows);
    gpu.write_histories();
    ASSERT_TRUE(gpu.launch().ok());  // on its own workspace
    SampleArgs args = gpu.args();
    ASSERT_EQ(cudaStreamSynchronize(gpu.stream()), cudaSuccess);
    gpu.prepare(rows);
    gpu.write_histories();
    args.workspace = workspace.get();
    ASSERT_TRUE(sample(args, gpu.queue()).ok());
    ASSERT_EQ(cudaStreamSynchronize(gpu.stream()), cudaSuccess);
    const auto results = gpu.results();
    for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(show(results[i]), show(cpu_result(rows[i], 2000))) << i;
  }
}

TEST(Sample, OneGraphServesAnyRows) {
  constexpr int64_t kVocab = 2000;
  GpuSampler gpu(5, kVocab, kVocab);
  ASSERT_EQ(cudaStreamBeginCapture(gpu.stream(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
  ASSERT_TRUE(gpu.launch().ok());
  device::Handle<cudaGraph_t, cudaGraphDestroy> graph;
  ASSERT_EQ(cudaStreamEndCapture(gpu.stream(), graph.fill()), cudaSuccess);
  device::Handle<cudaGraphExec_t, cudaGraphExecDestroy> exec;
  ASSERT_EQ(cudaGraphInstantiate(exec.fill(), graph.get(), 0), cudaSuccess);
  std::mt19937_64 random(41);
  for (const size_t live : {5, 1, 0, 3}) {
    const auto rows = random_rows(random, live, kVocab, kVocab);
    gpu.prepare(rows);
    gpu.write_histories();
    ASSERT_EQ(cudaGraphLaunch(exec.get(), gpu.stream()), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(gpu.stream()), cudaSuccess);
    const auto results = gpu.results();
    for (size_t i = 0; i < live; ++i) EXPECT_EQ(show(results[i]), show(cpu_result(rows[i], kVocab))) << i;
  }
}

/// Each changes what the next one does.
TEST(Sample, BiasesComeBeforePenalties) {
  GpuSampler gpu(3, 300, 300);
  std::vector<float> logits(300, -9.0F);
  logits[7] = 1, logits[290] = 2.5F;
  Row row = plain(logits, {.temperature = 0, .repetition_penalty = 2, .logit_bias = {{7, 3}}});
  std::vector<Row> rows(3, row);
  rows[0].prompt = {7};                   // (1 + 3) / 2 against 2.5, not 1 / 2 + 3
  rows[1].params.logit_bias = {{7, -3}};  // (1 - 3) * 2 against -3, not 1 / 2 - 3
  rows[1].logits[290] = -3;
  rows[1].output = {7};
  gpu.expect_as_cpu(rows, "biased and penalised");
  const std::array<int32_t, 3> want{290, 290, 7};
  for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(gpu.results()[i].token, want[i]) << i;
}

/// Step after step, so that what one draw counts the next one sees.
TEST(Sample, PenaltiesSeeWhatWasDrawn) {
  // Counts are read four at a time, and one by one.
  for (const auto& [vocab, temperature] : {std::pair<int64_t, float>{300, 0.5F}, {301, 0.0F}}) {
    GpuSampler gpu(1, vocab, vocab);
    Row row = plain(
        normal_logits(static_cast<size_t>(vocab), 51, 0.5F),
        {.temperature = temperature, .repetition_penalty = 1.1F, .presence_penalty = 0.2F, .frequency_penalty = 0.4F});
    row.prompt = {1, 2, 3};
    gpu.prepare({&row, 1});
    gpu.write_histories();
    for (int step = 0; step < 20; ++step) {
      row.noise.position = static_cast<uint64_t>(step);
      gpu.prepare({&row, 1});
      ASSERT_TRUE(gpu.launch().ok());
      ASSERT_EQ(cudaStreamSynchronize(gpu.stream()), cudaSuccess);
      const Result want = cpu_result(row, vocab);
      ASSERT_EQ(show(gpu.results()[0]), show(want)) << vocab << " ids, step " << step;
      row.output.push_back(want.token);
    }
  }
}

TEST(Sample, PenaltiesSeeDraftsThatNobodyCounts) {
  constexpr int64_t kVocab = 1002;  // the counts of some slots are not aligned to eight bytes
  GpuSampler gpu(4, kVocab, kVocab);
  for (const int32_t token : {0, 3, 256, 1001}) {
    // Its second best token is drawn where a draft is the best one, and where two are the third.
    std::vector<float> logits = normal_logits(kVocab, 3);
    for (const int32_t i : {0, 1, 2}) logits[static_cast<size_t>((token + i) % kVocab)] = 20 - static_cast<float>(i);
    std::vector<Row> rows(4, plain(logits, {.temperature = 0, .frequency_penalty = 5}));
    rows[1].drafts = {token};
    rows[2].drafts = {token, (token + 1) % static_cast<int32_t>(kVocab)};
    rows[3].drafts = {5, token, token};
    for (Row& row : rows) row.is_unsure = true;
    gpu.expect_as_cpu(rows, "token " + std::to_string(token));
    const auto results = gpu.results();
    for (int32_t i = 0; i < 3; ++i) {
      EXPECT_EQ(results[static_cast<size_t>(i)].token, (token + i) % static_cast<int32_t>(kVocab));
    }
  }
}

TEST(Sample, TokensAreAddedToCounts) {
  constexpr int64_t kVocab = 33;  // odd, so that slots share words
  GpuSampler gpu(1, kVocab, kVocab);
  const OnDevice<int32_t> prompt(std::vector<int32_t>{1, 2}), output(std::vector<int32_t>{2, 2, 32, 33, 99, -1});
  for (const bool adds : {false, true, true}) {
    const Status status = set_history({.counts = gpu.counts_memory(),
                                       .vocab = kVocab,
                                       .slot = 3,
                                       .prompt = prompt.get(),
                                       .prompt_tokens = adds ? 0 : 2,
                                       .output = output.get(),
                                       .output_tokens = 6,
                                       .adds = adds},
                                      gpu.queue());
    ASSERT_TRUE(status.ok()) << status.message();
  }
  ASSERT_EQ(cudaStreamSynchronize(gpu.stream()), cudaSuccess);
  std::vector<uint16_t> want(static_cast<size_t>(kSlots * kVocab));
  want[3 * kVocab + 1] = count_of(0, true);
  want[3 * kVocab + 2] = count_of(6, true);
  want[3 * kVocab + 32] = count_of(3, false);
  EXPECT_EQ(gpu.counts(), want);
}

TEST(Sample, HistoriesSaturateAndLeaveOtherSlotsAlone) {
  for (const int64_t vocab : {100, 101}) {  // slots of an odd vocabulary share a word
    const std::vector<uint16_t> before(static_cast<size_t>(3 * vocab), 0x1234);
    const OnDevice<uint16_t> counts{std::span<const uint16_t>(before)};
    std::vector<int32_t> prompt{0, 5, 5, 99}, output(40000, 99);
    output.insert(output.end(), {7, 0, 7, static_cast<int32_t>(vocab) - 1});
    const OnDevice<int32_t> device_prompt{std::span<const int32_t>(prompt)};
    const OnDevice<int32_t> device_output{std::span<const int32_t>(output)};
    device::Stream stream;
    ASSERT_EQ(cudaStreamCreateWithFlags(stream.fill(), cudaStreamNonBlocking), cudaSuccess);
    const SetHistoryArgs args{.counts = counts.get(),
                              .vocab = vocab,
                              .slot = 1,
                              .prompt = device_prompt.get(),
                              .prompt_tokens = 4,
                              .output = device_output.get(),
                              .output_tokens = static_cast<int64_t>(output.size())};
    ASSERT_TRUE(set_history(args, {.stream = stream.get()}).ok());
    ASSERT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
    Row row;
    row.prompt = prompt;
    row.output = output;
    auto want = before;
    const auto slot = expected_counts(row, vocab);
    std::copy(slot.begin(), slot.end(), want.begin() + vocab);
    EXPECT_EQ(counts.read(), want);
    EXPECT_EQ(want[static_cast<size_t>(vocab) + 99], 0xffff);
  }
}

TEST(Sample, ADrawIsCountedUpToTheMost) {
  GpuSampler gpu(2, 500, 500);
  std::vector<float> logits(500, 0.0F);
  logits[77] = 100;
  Row row = plain(logits, {.temperature = 0, .presence_penalty = 0.5F});
  std::vector<Row> rows(2, row);
  rows[0].prompt = {77};
  rows[0].output.assign(kTokenCountMax, 77);
  rows[1].output.assign(kTokenCountMax - 1, 77);
  gpu.expect_as_cpu(rows, "counts at the most");
}

TEST(Sample, DraftsAreCountedUpToTheMost) {
  GpuSampler gpu(1, 500, 500);
  std::vector<float> logits(500, 0.0F);
  logits[77] = 100;
  Row row = plain(logits, {.temperature = 0, .frequency_penalty = 0.01F});
  row.output.assign(kTokenCountMax, 77);
  row.drafts = {77, 77};
  row.is_unsure = true;
  gpu.expect_as_cpu({{row}}, "drafts beyond the most");
  EXPECT_NE(gpu.results()[0].token, 77);
}

TEST(Sample, NoiseDependsOnAllOfAPosition) {
  GpuSampler gpu(5, 3000, 3000);
  for (const int top_k : {0, 100}) {  // noise of four ids at a time, and of one
    std::vector<Row> rows(5, plain(std::vector<float>(3000, 0.0F), {.top_k = top_k}));
    for (size_t i = 0; i < rows.size(); ++i) rows[i].noise.position = uint64_t{i} << (i < 3 ? 32 : 50);
    gpu.expect_as_cpu(rows, "positions, top_k " + std::to_string(top_k));
  }
}

/// More words than the grid has threads, and of all of them those that are in use.
TEST(Sample, LongListsArriveWhole) {
  const SampleCapacity capacity{.rows_max = 200, .pool_words = 30'000};
  constexpr int32_t kRows = 150;
  constexpr uint32_t kPoolWords = 25'001;
  HostMemory memory;
  auto* from = host_memory<std::byte>(memory, capacity.bytes());
  auto* words = reinterpret_cast<uint32_t*>(from);
  for (uint32_t i = 0; i < capacity.bytes() / 4; ++i) words[i] = i * 2'654'435'761U;
  const SampleHeader header{.rows = kRows, .pool_words = kPoolWords};
  std::memcpy(from, &header, sizeof header);
  std::vector<std::byte> want(capacity.bytes(), std::byte{0xee});
  const OnDevice<std::byte> to{std::span<const std::byte>(want)};
  std::copy_n(from, sizeof header + kRows * sizeof(SampleEntry), want.begin());
  std::copy_n(from + capacity.pool_offset(), size_t{4} * kPoolWords,
              want.begin() + static_cast<std::ptrdiff_t>(capacity.pool_offset()));
  device::Stream stream;
  ASSERT_EQ(cudaStreamCreateWithFlags(stream.fill(), cudaStreamNonBlocking), cudaSuccess);
  ASSERT_TRUE(stage_sample_tables({.from = from, .to = to.get(), .capacity = capacity}, {.stream = stream.get()}).ok());
  ASSERT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
  EXPECT_TRUE(to.read() == want);
}

TEST(Sample, TheMostRowsAndIdsCanRun) {
  const GpuSampler gpu(1, 100, 100);
  SampleArgs args = gpu.args();
  args.vocab = args.known_ids = kSampleVocabMax;
  args.tables.rows_max = kSampleRowsMax;
  std::vector<device::PlannedLaunch> launches;
  EXPECT_TRUE(sample(args, {.plan = &launches}).ok());
  EXPECT_EQ(launches.size(), 3U);
}

TEST(Sample, WhatCannotRunIsRefused) {
  const GpuSampler gpu(1, 100, 100);
  const auto code = [&](auto&& change) {
    SampleArgs args = gpu.args();
    change(args);
    return sample(args, gpu.queue()).code();
  };
  EXPECT_EQ(code([](SampleArgs& a) { a.vocab = kSampleVocabMax + 1; }), StatusCode::unsupported);
  EXPECT_EQ(code([](SampleArgs& a) { a.known_ids = 101; }), StatusCode::unsupported);
  EXPECT_EQ(code([](SampleArgs& a) { a.tables.rows_max = kSampleRowsMax + 1; }), StatusCode::unsupported);
  EXPECT_EQ(code([](SampleArgs& a) { a.workspace = nullptr; }), StatusCode::invalid_argument);
  EXPECT_EQ(code([](SampleArgs& a) { a.logits += 1; }), StatusCode::invalid_argument);
  EXPECT_EQ(code([](SampleArgs& a) { a.tables.rows_max = 0; }), StatusCode::ok);
  EXPECT_EQ(set_history({}, gpu.queue()).code(), StatusCode::invalid_argument);
  EXPECT_EQ(stage_sample_tables({}, gpu.queue()).code(), StatusCode::invalid_argument);
}

}  // namespace
}  // namespace tessera::kernels::cuda
