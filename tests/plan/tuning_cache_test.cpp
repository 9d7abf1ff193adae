#include "plan/tuning_cache.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "plan/candidates.h"

namespace tessera::plan {
namespace {

using ::testing::HasSubstr;

constexpr const char* kGpu = "NVIDIA RTX PRO 6000 Blackwell Workstation Edition";
constexpr const char* kBuild = "1f2e3d4c";

Desc desc_397b(Op op, int64_t tokens) {
  return {.op = op, .hidden = 4096, .intermediate = 1024, .experts = 512, .experts_per_token = 10, .tokens = tokens};
}

TuningCache example() {
  TuningCache cache{.gpu = kGpu, .build = kBuild, .entries = {}};
  cache.entries.push_back(
      {desc_397b(Op::gate_up, 8), make_tile(Path::w4a16, WeightFormat::nvfp4, 64, 8, 256, 2), 155.25});
  cache.entries.push_back(
      {desc_397b(Op::down, 4096), make_tile(Path::w4a16, WeightFormat::nvfp4, 128, 128, 64, 1), 3.2});
  return cache;
}

std::filesystem::path temporary(const std::string& name) {
  return std::filesystem::path(::testing::TempDir()) / (std::to_string(::getpid()) + name);
}

TEST(TuningCache, ABuildIsNamedByItsVersionAndTiles) {
  const std::string build = tuning_build("0.1.0");
  EXPECT_EQ(build, tuning_build("0.1.0"));
  EXPECT_NE(build, tuning_build("0.1.1"));
  EXPECT_EQ(build.substr(0, 6), "0.1.0-");
  EXPECT_EQ(build.size(), 14U);
}

TEST(TuningCache, ReadsWhatItWrote) {
  const auto file = temporary("round_trip");
  ASSERT_TRUE(write_tuning(file, example()).ok());
  const auto read = read_tuning(file, kGpu, kBuild);
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->entries.size(), 2U);
  EXPECT_EQ(read->entries[0].tile, example().entries[0].tile);
  EXPECT_EQ(read->entries[1].us, 3.2);
  EXPECT_TRUE(read->entries[0].is_for(desc_397b(Op::gate_up, 5)));
  EXPECT_FALSE(read->entries[0].is_for(desc_397b(Op::gate_up, 9)));
  EXPECT_FALSE(read->entries[0].is_for(desc_397b(Op::down, 8)));
  // Written over the old one; nothing is left beside it.
  ASSERT_TRUE(write_tuning(file, {.gpu = kGpu, .build = kBuild, .entries = {}}).ok());
  EXPECT_EQ(read_tuning(file, kGpu, kBuild)->entries.size(), 0U);
  for (const auto& entry : std::filesystem::directory_iterator(file.parent_path())) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(file.filename().string() + ".")) << entry.path();
  }
  std::filesystem::remove(file);
}

TEST(TuningCache, FormatsAndPathsComeBack) {
  TuningCache cache{.gpu = kGpu, .build = kBuild, .entries = {}};
  for (const Path path : {Path::w4a16, Path::w4a4}) {
    for (const WeightFormat format : {WeightFormat::nvfp4, WeightFormat::mxfp4}) {
      TunedTile& entry = cache.entries.emplace_back(example().entries[0]);
      entry.desc.format = format;
      entry.desc.path = path;
      entry.tile = candidates(path, format).front();
    }
  }
  const auto text = tuning_text(cache);
  ASSERT_TRUE(text.ok()) << text.status().message();
  const auto read = parse_tuning(*text, kGpu, kBuild, "f");
  ASSERT_TRUE(read.ok()) << read.status().message();
  for (size_t i = 0; i < cache.entries.size(); ++i) {
    EXPECT_EQ(read->entries[i].desc.format, cache.entries[i].desc.format);
    EXPECT_EQ(read->entries[i].desc.path, cache.entries[i].desc.path);
    EXPECT_EQ(read->entries[i].tile, cache.entries[i].tile);
  }
}

TEST(TuningCache, RefusesEveryChangedByte) {
  const std::string text = *tuning_text(example());
  ASSERT_TRUE(parse_tuning(text, kGpu, kBuild, "f").ok());
  for (size_t i = 0; i < text.size(); ++i) {
    for (int change = 1; change < 256; ++change) {
      std::string damaged = text;
      damaged[i] = static_cast<char>(damaged[i] ^ change);
      const auto parsed = parse_tuning(damaged, kGpu, kBuild, "f");
      ASSERT_FALSE(parsed.ok()) << "byte " << i << " xor " << change;
      ASSERT_THAT(parsed.status().message(), HasSubstr("run `tessera tune`"));
      // Beyond the line that names the version, it is the checksum that finds it.
      if (i > text.find('\n')) {
        ASSERT_THAT(parsed.status().message(), HasSubstr("damaged"));
      }
    }
  }
}

TEST(TuningCache, RefusesEveryTruncationAndAddition) {
  const std::string text = *tuning_text(example());
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(parse_tuning(text.substr(0, length), kGpu, kBuild, "f").ok()) << length;
  }
  EXPECT_FALSE(parse_tuning(text + "\n", kGpu, kBuild, "f").ok());
  EXPECT_FALSE(parse_tuning(text + text, kGpu, kBuild, "f").ok());
}

/// `text` with `from` replaced and a checksum that agrees: what a careful hand, or another program, could write.
std::string forged(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  text.resize(text.rfind("checksum "));
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  char line[64];
  (void)std::snprintf(line, sizeof line, "checksum %016llx\n", static_cast<unsigned long long>(hash));
  return text + line;
}

TEST(TuningCache, SaysWhatIsForeign) {
  const std::string text = *tuning_text(example());
  const auto gpu = parse_tuning(text, "NVIDIA H200", kBuild, "file");
  EXPECT_EQ(gpu.status().code(), StatusCode::unsupported);
  EXPECT_THAT(gpu.status().message(), HasSubstr("file: of another GPU or build, expected GPU \"NVIDIA H200\""));
  EXPECT_EQ(parse_tuning(text, kGpu, "other", "f").status().code(), StatusCode::unsupported);
  const auto version = parse_tuning(forged(text, "tuning 2", "tuning 1"), kGpu, kBuild, "f");
  EXPECT_THAT(version.status().message(), HasSubstr("of another version, this build reads 2; run `tessera tune`"));
  EXPECT_THAT(parse_tuning("{\"json\": 1}", kGpu, kBuild, "f").status().message(), HasSubstr("not a tuning file"));
}

TEST(TuningCache, RefusesEntriesThatThisBuildWouldNotWrite) {
  const std::string text = *tuning_text(example());
  const std::pair<const char*, const char*> forgeries[] = {
      {"64x8x256 2", "64x8x512 2"},    // no such tile
      {"64x8x256 2", "64x8x256 1"},    // in another family
      {"64x8x256 2", "256x64x256 2"},  // does not fit
      {"64x8x256 2", "2147483647x8x256 2"},
      {"64x8x256 2", "99999999999999999999x8x256 2"},
      {"155.250", "155.25"},
      {"155.250", "-155.250"},
      {"155.250", "nan"},
      {"155.250", "1e300"},
      {" 4096 1024", " 4095 1024"},
      {" 4096 1024", " 04096 1024"},
      {"10 8:", "10 9:"},
      {"10 8:", "10 -8:"},
      {"gate_up", "gate"},
      {"NVFP4", "nvfp4"},
      {"w4a16", "w4a8"},
      {"gate_up NVFP4 w4a16 4096 1024 512 10 8: 64x8x256 2 155.250\n", "\n"},
      // The first description twice.
      {"down NVFP4 w4a16 4096 1024 512 10 4096", "gate_up NVFP4 w4a16 4096 1024 512 10 8"},
  };
  for (const auto& [from, to] : forgeries) {
    const auto parsed = parse_tuning(forged(text, from, to), kGpu, kBuild, "f");
    EXPECT_EQ(parsed.status().code(), StatusCode::corrupt_data) << to << parsed.status().message();
  }
  EXPECT_TRUE(parse_tuning(forged(text, "155.250", "155.125"), kGpu, kBuild, "f").ok());
}

TEST(TuningCache, RefusesToWriteWhatItCouldNotRead) {
  const auto refused = [](auto change) {
    TuningCache cache = example();
    change(cache);
    return tuning_text(cache).status().code() == StatusCode::invalid_argument;
  };
  EXPECT_TRUE(refused([](TuningCache& c) { c.gpu = ""; }));
  EXPECT_TRUE(refused([](TuningCache& c) { c.build = "a\nb"; }));
  EXPECT_TRUE(refused([](TuningCache& c) { c.entries[0].us = 0; }));
  EXPECT_TRUE(refused([](TuningCache& c) { c.entries[0].tile.stages += 1; }));
  EXPECT_TRUE(refused([](TuningCache& c) { c.entries[0].desc.format = WeightFormat::mxfp4; }));
  EXPECT_TRUE(refused([](TuningCache& c) { c.entries[0].desc.path = Path::w4a4; }));
  EXPECT_TRUE(refused([](TuningCache& c) { c.entries[0].desc.tokens = 7; }));
  EXPECT_TRUE(refused([](TuningCache& c) { c.entries[1] = c.entries[0]; }));
  EXPECT_TRUE(refused([](TuningCache& c) { c.entries.push_back(c.entries[0]); }));  // not beside the first
  EXPECT_TRUE(refused([](TuningCache& c) { c.entries.resize(kTuningEntriesMax + 1); }));
  EXPECT_TRUE(refused([](TuningCache& c) { c.entries[0].us = 1e9; }));
  EXPECT_TRUE(refused([](TuningCache& c) { c.entries[0].us = 4e-4; }));  // would be written as 0.000
  EXPECT_FALSE(refused([](TuningCache& c) { c.entries[0].us = 6e-4; }));
  EXPECT_TRUE(refused([](TuningCache& c) { c.entries[0].us = 1e9 - 1e-4; }));  // and this as 1e9
  EXPECT_TRUE(refused([](TuningCache& c) { c.gpu = "a\x7f"; }));
  EXPECT_TRUE(refused([](TuningCache& c) { c.gpu.assign(257, 'a'); }));
  EXPECT_FALSE(refused([](TuningCache& c) { c.gpu.assign(256, 'a'); }));
}

TEST(TuningCache, AFullFileIsReadBack) {
  TuningCache cache{.gpu = kGpu, .build = kBuild, .entries = {}};
  for (int64_t i = 0; i < static_cast<int64_t>(kTuningEntriesMax); ++i) {
    TunedTile& entry = cache.entries.emplace_back(example().entries[0]);
    entry.desc.hidden = 64 * (1 + i % 512);
    entry.desc.intermediate = 16 * (1 + i / 512);
  }
  const auto text = tuning_text(cache);
  ASSERT_TRUE(text.ok()) << text.status().message();
  const auto read = parse_tuning(*text, kGpu, kBuild, "f");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->entries.size(), kTuningEntriesMax);
  cache.entries.push_back(example().entries[0]);
  EXPECT_EQ(tuning_text(cache).status().code(), StatusCode::invalid_argument) << "one more than can be read";
}

/// A tile that was measured for one layer is not that of another, whichever size differs.
TEST(TuningCache, ATileIsForLayersOfItsSizesAlone) {
  const TunedTile entry = example().entries[0];
  const auto is_for = [&](auto change) {
    Desc other = entry.desc;
    change(other);
    return entry.is_for(other);
  };
  EXPECT_TRUE(is_for([](Desc& d) { d.tokens = 5; }));
  EXPECT_FALSE(is_for([](Desc& d) { d.hidden *= 2; }));
  EXPECT_FALSE(is_for([](Desc& d) { d.intermediate *= 2; }));
  EXPECT_FALSE(is_for([](Desc& d) { d.experts /= 2; }));
  EXPECT_FALSE(is_for([](Desc& d) { d.experts_per_token = 8; }));
  EXPECT_FALSE(is_for([](Desc& d) { d.format = WeightFormat::mxfp4; }));
  EXPECT_FALSE(is_for([](Desc& d) { d.path = Path::w4a4; }));
  EXPECT_EQ(tuned_for(example(), 4096, 1024, 512, 10), 2U);
  EXPECT_EQ(tuned_for(example(), 2048, 1024, 512, 10), 0U);
  EXPECT_EQ(tuned_for(example(), 4096, 512, 512, 10), 0U);
  EXPECT_EQ(tuned_for(example(), 4096, 1024, 256, 10), 0U);
  EXPECT_EQ(tuned_for(example(), 4096, 1024, 512, 8), 0U);
}

TEST(TuningCache, FilesAreInTheUsersCache) {
  std::map<std::string, std::string> before;
  for (const char* name : {"XDG_CACHE_HOME", "HOME"}) {
    if (const char* value = std::getenv(name)) before[name] = value;
  }
  const auto folder = [](const char* cache, const char* home) {
    cache == nullptr ? ::unsetenv("XDG_CACHE_HOME") : ::setenv("XDG_CACHE_HOME", cache, 1);
    home == nullptr ? ::unsetenv("HOME") : ::setenv("HOME", home, 1);
    return tuning_file("gpu").parent_path().string();
  };
  EXPECT_EQ(folder("/x", "/h"), "/x/tessera");
  EXPECT_EQ(folder("", "/h"), "/h/.cache/tessera");
  EXPECT_EQ(folder(nullptr, "/h"), "/h/.cache/tessera");
  EXPECT_EQ(folder(nullptr, ""), "./.cache/tessera");
  EXPECT_EQ(folder(nullptr, nullptr), "./.cache/tessera");
  for (const char* name : {"XDG_CACHE_HOME", "HOME"}) {
    before.contains(name) ? ::setenv(name, before[name].c_str(), 1) : ::unsetenv(name);
  }
}

TEST(TuningCache, NamesItsFile) {
  EXPECT_EQ(tuning_file_name("NVIDIA RTX PRO 6000", "1f2e"), "NVIDIA-RTX-PRO-6000-1f2e.tuning");
  EXPECT_EQ(tuning_file_name("../a", "b/c"), "---a-b-c.tuning");
}

TEST(TuningCache, FilesThatCannotBeReadOrWritten) {
  EXPECT_EQ(read_tuning(temporary("nothing"), kGpu, kBuild).status().code(), StatusCode::not_found);
  EXPECT_FALSE(read_tuning(::testing::TempDir(), kGpu, kBuild).ok());
  const Status unwritten = write_tuning(temporary("no_directory") / "file", example());
  EXPECT_EQ(unwritten.code(), StatusCode::unavailable);
  EXPECT_THAT(unwritten.message(), HasSubstr("No such file or directory"));
  const auto huge = temporary("huge");
  std::ofstream(huge).close();
  std::filesystem::resize_file(huge, kTuningFileBytesMax + 1);
  EXPECT_EQ(read_tuning(huge, kGpu, kBuild).status().code(), StatusCode::corrupt_data);
  std::filesystem::remove(huge);
  // What may block or never end is not read.
  const auto pipe = temporary("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(read_tuning(pipe, kGpu, kBuild).status().message(), HasSubstr("is a pipe, expected a regular file"));
  std::filesystem::remove(pipe);
  EXPECT_THAT(read_tuning("/dev/zero", kGpu, kBuild).status().message(), HasSubstr("is a device"));
}

TEST(TuningCache, ChoosesOnlyAmongTheKept) {
  const DeviceFacts gpu = *find_device("rtx-pro-6000");
  Plan plan = *make_plan(desc_397b(Op::gate_up, 6), gpu);
  TuningCache cache = example();
  // Another than the plan's own choice.
  cache.entries[0].tile = make_tile(Path::w4a16, WeightFormat::nvfp4, 128, 32, 64, 2);
  ASSERT_NE(plan.chosen().tile, cache.entries[0].tile);
  EXPECT_TRUE(apply_tuning(cache, plan));
  EXPECT_EQ(plan.chosen().tile, cache.entries[0].tile);
  plan.candidates[plan.choice].rejected_because = "said so";
  plan.choice = 0;
  EXPECT_FALSE(apply_tuning(cache, plan));
  EXPECT_EQ(plan.choice, 0U);
  Plan other = *make_plan(desc_397b(Op::gate_up, 9), gpu);
  EXPECT_FALSE(apply_tuning(cache, other));
}

}  // namespace
}  // namespace tessera::plan
