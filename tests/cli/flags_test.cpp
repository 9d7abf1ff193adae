#include "cli/flags.h"

#include <gmock/gmock.h>

#include <string>
#include <tuple>
#include <vector>

#include "cli/engine_flags.h"
#include "cli/vllm_flags.h"

namespace tessera::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

/// What is said of the text.
std::string said(const CLI::Validator& validator, std::string text) { return validator(text); }
/// What the text becomes.
std::string made(const CLI::Validator& validator, std::string text) {
  EXPECT_THAT(validator(text), IsEmpty());
  return text;
}

TEST(Flags, BothBoundsAreIncluded) {
  for (const char* fine : {"2", "5", "8"}) {
    EXPECT_THAT(said(whole(2, 8), fine), IsEmpty()) << fine;
    EXPECT_THAT(said(number(2, 8), fine), IsEmpty()) << fine;
    EXPECT_THAT(said(multiple_of(1, 8), fine), IsEmpty()) << fine;
  }
  for (const char* wrong : {"1", "9", "-3", "", " 5", "5 ", "5x", "nan"}) {
    EXPECT_THAT(said(whole(2, 8), wrong), HasSubstr("from 2 to 8")) << wrong;
    EXPECT_THAT(said(number(2, 8), wrong), HasSubstr("from 2 to 8")) << wrong;
  }
  EXPECT_THAT(said(number(2, 8), "8.001"), HasSubstr("8.001"));
  EXPECT_THAT(said(multiple_of(4, 8), "0"), HasSubstr("multiple of 4"));
}

TEST(Flags, SuffixesGiveWholeNumbersThatAreNoMore) {
  EXPECT_EQ(made(with_suffix(), "4k"), "4000");
  EXPECT_EQ(made(with_suffix(), "4K"), "4096");
  EXPECT_EQ(made(with_suffix(), "1.5m"), "1500000");
  EXPECT_EQ(made(with_suffix(), "2G"), "2147483648");
  EXPECT_EQ(made(with_suffix(), "0.0019k"), "1");  // rounded down
  for (const char* left : {"", "k", "12", "x4k", "-1k", "9000000000g", "4t"})
    EXPECT_EQ(made(with_suffix(), left), left);
}

TEST(Flags, SeedsHave64Bits) {
  for (const char* fine : {"0", "18446744073709551615"}) EXPECT_THAT(said(whole_u64(), fine), IsEmpty()) << fine;
  for (const char* wrong : {"18446744073709551616", "-1", "1.5", ""}) {
    EXPECT_THAT(said(whole_u64(), wrong), HasSubstr("from 0 to 18446744073709551615")) << wrong;
  }
}

TEST(Flags, DevicesAreNamedInFull) {
  for (const char* fine : {"auto", "cpu", "cuda", "cuda:0", "cuda:12"}) {
    EXPECT_THAT(said(device_words(), fine), IsEmpty()) << fine;
  }
  for (const char* wrong : {"", "CPU", "cuda:", "cuda:-1", "cuda:1x", "cuda: 1", "cuda0"}) {
    EXPECT_THAT(said(device_words(), wrong), HasSubstr("expected auto, cpu, cuda or cuda:N")) << wrong;
  }
}

TEST(Flags, WordsStandBetweenCommasOrInAJsonList) {
  using Words = std::vector<std::string>;
  const auto words = [](const char* text) { return parse_words("--flag", text, "[\"WORD\", ...]"); };
  EXPECT_EQ(words("*"), Words{"*"});
  EXPECT_EQ(words("a,bc,d"), (Words{"a", "bc", "d"}));
  EXPECT_EQ(words(",a,,bc,"), (Words{"a", "bc"}));
  EXPECT_EQ(words(""), Words{});
  EXPECT_EQ(words(R"(["*", "a,b", ""])"), (Words{"*", "a,b", ""}));
  EXPECT_EQ(words("[]"), Words{});
  for (const char* wrong : {"[1]", R"(["a", 1])", "[", R"(["a")", "[[]]"}) {
    try {
      (void)words(wrong);
      ADD_FAILURE() << wrong;
    } catch (const CLI::ValidationError& error) {
      EXPECT_STREQ(error.what(), fmt::format("--flag: found '{}', expected [\"WORD\", ...]", wrong).c_str());
    }
  }
}

TEST(EngineFlags, DraftsAreMadeAsFarAsTheyPayUnlessAdaptiveIsFalse) {
  const auto always = [](const std::string& json) {
    CLI::App app;
    EngineFlags flags;
    add_engine_flags(app, flags);
    app.parse(std::vector<std::string>{json, "--speculative-config"});  // from the last to the first
    return flags.options.speculative_always;
  };
  EXPECT_FALSE(always("{}"));
  EXPECT_FALSE(always(R"({"adaptive": true})"));
  EXPECT_TRUE(always(R"({"adaptive": false})"));
}

/// Each flag does what it says, in vllm's spelling too.
TEST(EngineFlags, EachSetsWhatItNames) {
  using Arguments = std::vector<std::string>;
  const std::tuple<Arguments, bool (*)(const EngineOptions&)> kFlags[] = {
      {{"--max-model-len", "16k"}, [](const EngineOptions& o) { return o.max_model_len == 16'000; }},
      {{"--max-num-seqs", "3"}, [](const EngineOptions& o) { return o.max_num_seqs == 3; }},
      {{"--max-num-batched-tokens", "1K"}, [](const EngineOptions& o) { return o.max_num_batched_tokens == 1024; }},
      {{"--kv-cache-dtype", "bf16"}, [](const EngineOptions& o) { return o.kv_cache_dtype == "bfloat16"; }},
      {{"--kv-cache-dtype", "fp8_e4m3"}, [](const EngineOptions& o) { return o.kv_cache_dtype == "fp8"; }},
      {{"--kv-cache-memory-bytes", "4G"}, [](const EngineOptions& o) { return o.memory_bytes == size_t{4} << 30; }},
      {{"--gpu-memory-utilization", "0.5"}, [](const EngineOptions& o) { return o.gpu_memory_utilization == 0.5; }},
      {{"--no-cuda-graphs"}, [](const EngineOptions& o) { return !o.cuda_graphs && o.pdl; }},
      {{"--enforce-eager"}, [](const EngineOptions& o) { return !o.cuda_graphs && o.pdl; }},
      {{"--no-pdl"}, [](const EngineOptions& o) { return !o.pdl && o.cuda_graphs; }},
      {{"--no-enable-prefix-caching"}, [](const EngineOptions& o) { return !o.prefix_caching && o.idle_prefill; }},
      {{"--no-idle-prefill"}, [](const EngineOptions& o) { return !o.idle_prefill && o.prefix_caching; }},
      {{"--prefix-cache-mode", "fast"}, [](const EngineOptions& o) { return o.prefix_cache_keeps_answers; }},
      {{"--prefix-cache-mode", "exact"}, [](const EngineOptions& o) { return !o.prefix_cache_keeps_answers; }},
      {{"--kv-offload-dir", "d"}, [](const EngineOptions& o) { return o.kv_offload_dir == "d"; }},
      {{"--prefill-step-ms", "0"}, [](const EngineOptions& o) { return o.prefill_step_ms == 0; }},
      {{"--num-speculative-tokens", "3"}, [](const EngineOptions& o) { return o.speculative_tokens == 3; }},
      {{"--speculative-config", R"({"method": "qwen3_next_mtp", "num_speculative_tokens": 2, "draft_head": "fp8"})"},
       [](const EngineOptions& o) { return o.speculative_tokens == 2 && o.draft_head == "fp8"; }},
      {{"--load-format", "safetensors"}, [](const EngineOptions& o) { return o.load_format == "auto"; }},
      {{"--load-format", "dummy"}, [](const EngineOptions& o) { return o.load_format == "dummy"; }},
      {{"--requantize-projections", "fp8"}, [](const EngineOptions& o) { return o.requantize_projections == "fp8"; }},
      {{"--compute", "fp32"}, [](const EngineOptions& o) { return o.compute == "fp32"; }},
      {{"--threads", "2"}, [](const EngineOptions& o) { return o.threads == 2; }}};
  for (const auto& [words, holds] : kFlags) {
    CLI::App app;
    EngineFlags flags;
    add_engine_flags(app, flags);
    app.parse(Arguments(words.rbegin(), words.rend()));
    EXPECT_TRUE(holds(flags.options)) << testing::PrintToString(words);
  }
}

TEST(EngineFlags, RoomForTheCacheIsInGiB) {
  const auto options = [](const std::string& name) {
    CLI::App app;
    EngineFlags flags;
    add_engine_flags(app, flags);
    app.parse(std::vector<std::string>{"1.5", name});  // from the last to the first
    return flags.options;
  };
  constexpr size_t kBytes = size_t{3} << 29;
  EXPECT_EQ(options("--kv-offload-gib").kv_offload_bytes, kBytes);
  EXPECT_EQ(options("--kv-offloading-size").kv_offload_bytes, kBytes);
  EXPECT_EQ(options("--kv-offload-dir-gib").kv_offload_dir_bytes, kBytes);
}

TEST(VllmFlags, ValuesAreFineAsAWholeAndTheLastCounts) {
  /// What is ignored of a command line with these.
  const auto ignored = [](const std::string& name, std::vector<std::string> values) {
    CLI::App app;
    std::vector<std::string> told;
    add_vllm_flags(app, told);
    std::vector<std::string> line;  // from the last word to the first
    for (auto value = values.rbegin(); value != values.rend(); ++value) line.insert(line.end(), {*value, name});
    app.parse(line);
    return told;
  };
  const std::tuple<const char*, std::vector<std::string>, std::vector<std::string>> kValues[] = {
      {"--tensor-parallel-size", {"1"}, {"16", "11", "01", "", "2"}},
      {"--cpu-offload-gb", {"0"}, {"0.5", "00", "10"}},
      {"--dtype", {"auto", "bfloat16"}, {"autox", "auto|bfloat16", "bfloat", "Auto", ""}},
      {"--hf-overrides", {"{}"}, {R"({"a": 1})", "{}{}"}},
  };
  for (const auto& [name, fine, wrong] : kValues) {
    for (const std::string& value : fine) {
      EXPECT_THAT(ignored(name, {value}), ElementsAre(StartsWith(name + std::string(" ("))));
      for (const std::string& other : wrong) {
        EXPECT_THROW(ignored(name, {other}), CLI::ValidationError) << name << " " << other;
        EXPECT_THROW(ignored(name, {value, other}), CLI::ValidationError) << name << " " << other;
        EXPECT_THAT(ignored(name, {other, value}), SizeIs(1)) << name << " " << other;
      }
    }
  }
}

TEST(EngineFlags, TheFitReportSaysWhatTheMemoryIsFor) {
  FitReport fit;
  fit.available_bytes = 9'000'000'000;
  fit.weight_bytes = 2'000'000'000;
  fit.workspace_bytes = 30'000'000;
  fit.kv_block_bytes = 1'000'000;
  fit.kv_blocks = 500;
  fit.state_slot_bytes = 4'000'000;
  fit.max_num_seqs = 1;
  fit.kept_states = 2;
  fit.max_model_len = 4096;
  fit.kv_cache_dtype = "fp8";
  EXPECT_EQ(fit_text("m", fit),
            "m: 2.00 GB of weights, 500 MB of KV cache (32000 tokens, fp8), 12.0 MB of states, 30.0 MB to work in; "
            "9.00 GB of memory are free\nup to 1 sequence at once, of 4096 tokens each at most");
  fit.host_pages = 7;
  fit.max_num_seqs = 8;
  EXPECT_EQ(fit_text("m", fit),
            "m: 2.00 GB of weights, 500 MB of KV cache (32000 tokens, fp8), 40.0 MB of states, 30.0 MB to work in, "
            "7.00 MB of the host's memory for what the prefix cache gives up; 9.00 GB of memory are free\n"
            "up to 8 sequences at once, of 4096 tokens each at most");
}

TEST(VllmFlags, OnlyTheNameIsSpeltAnew) {
  const std::pair<const char*, const char*> kSpelt[] = {
      {"-tp", "--tensor-parallel-size"},
      {"--max_model_len", "--max-model-len"},
      {"--served_model_name=my_model.v1=a_b", "--served-model-name=my_model.v1=a_b"},
      {"--limit_mm_per_prompt.image_url", "--limit-mm-per-prompt"},
      {"--limit-mm-per-prompt.image=a_b.c", "--limit-mm-per-prompt=a_b.c"},
      {"-t_p", "-t_p"},
      {"my_model.v1", "my_model.v1"},
  };
  for (const auto& [word, spelt] : kSpelt) EXPECT_EQ(vllm_spelling(word), spelt);
}

}  // namespace
}  // namespace tessera::cli
