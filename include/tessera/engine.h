#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/grammar.h"
#include "tessera/status.h"
#include "tessera/token_logprob.h"

/// The public C++ API: load a model, submit requests, stream events, cancel.
namespace tessera {

namespace engine {
class EventChannel;
struct EngineMaker;
}  // namespace engine

/// How tokens are chosen. Defaults are neutral; Engine::default_sampling() has the model's own
/// (generation_config.json). Ranges are checked by Engine::submit. Order of application: logit_bias, repetition,
/// presence and frequency penalties, min_tokens, bad_words, allowed_token_ids, temperature, top_k, top_p, min_p, draw.
struct SamplingParams {
  float temperature = 1.0F;                                // >= 0; 0 is greedy
  int top_k = 0;                                           // 0: off
  float top_p = 1.0F;                                      // (0, 1]
  float min_p = 0.0F;                                      // [0, 1]
  float repetition_penalty = 1.0F;                         // > 0; over prompt and output
  float presence_penalty = 0.0F;                           // [-2, 2]; over output
  float frequency_penalty = 0.0F;                          // [-2, 2]; over output
  std::vector<std::pair<int32_t, float>> logit_bias = {};  // token id, addend in [-100, 100]
  /// At most 1,024. The last token of a word is not drawn where it would complete the word, as it is spelt at the
  /// beginning of a text or behind a space. What a Guide settles before the model draws is not looked at.
  std::vector<std::string> bad_words = {};
  std::vector<int32_t> allowed_token_ids = {};  // no others are drawn, stop tokens included; empty: all
  std::optional<uint64_t> seed =
      {};                   // same prompt, parameters and seed: same tokens, whatever else is served; none: random
  int n = 1;                // choices, 1..16
  int64_t max_tokens = -1;  // per choice; -1: as many as fit; 0: none (for prompt_logprobs)
  int64_t min_tokens = 0;   // no stop token or string before that many
  bool ignore_eos = false;
  std::vector<int32_t> stop_token_ids = {};  // besides the model's own
  std::vector<std::string> stop = {};        // at most 16 strings; the text ends before the first match
  bool include_stop_str_in_output = false;
  bool skip_special_tokens = true;          // in text; ids always hold them
  std::optional<int> logprobs = {};         // 0..20 alternatives per token, besides the chosen one
  std::optional<int> prompt_logprobs = {};  // the same for prompt tokens
  /// Only so many of the prompt's last tokens are read; -1: as many as the context has room for beside max_tokens.
  std::optional<int> truncate_prompt_tokens = {};
};

/// Tokens that are settled before the model draws: a bound on thinking, how the answer after it begins, and what it
/// follows.
struct Guide {
  /// The prompt leaves the model inside thinking, which ends at this token (that of "</think>"); -1: it does not.
  int32_t thinking_end = -1;
  int64_t thinking_tokens_max = -1;  // -1: no bound
  /// Takes the place of drawn tokens once the bound is reached; ends with thinking_end.
  std::vector<int32_t> thinking_closer = {};
  /// A token that the model does not draw inside thinking (that of "<tool_call>", which would begin the answer without
  /// an end of the thinking, and so of what the answer follows); -1: none.
  int32_t thinking_excludes = -1;
  /// What follows the thinking, or the prompt where there is none, begins with one of these, which the model chooses
  /// token by token; empty: with anything. None may be the beginning of another.
  std::vector<std::vector<int32_t>> beginnings = {};
  /// What the rest follows, to its end; null: nothing. The answer ends, by a stop token of the model, only where the
  /// grammar is complete, not inside thinking either; it may be cut by max_tokens or a stop string.
  CompiledGrammar grammar = {};
};

/// Where stop strings count: in the answer that a user reads, not in the thinking before it nor inside calls of tools.
struct StopScope {
  bool opens_thinking = false;          // the prompt leaves the model inside thinking
  std::vector<std::string> tools = {};  // whose calls are calls; none: there are none
};

struct Request {
  std::vector<int32_t> prompt = {};  // token ids; see Engine::tokenize and Engine::render_chat
  SamplingParams sampling = {};
  Guide guide = {};
  std::optional<StopScope> stop_scope = {};  // none: stop strings count everywhere
  std::string cache_salt = {};               // what is kept of this prompt is for requests with the same alone
  /// Tokens of the prompt behind which later prompts are likely to go elsewhere (the ends of the system message and of
  /// the conversation so far), in any order: the prefix cache makes sure that they can go on from there.
  std::vector<int64_t> likely_ends = {};
};

/// The beginning of prompts that are likely to come.
struct IdlePrefill {
  std::vector<int32_t> tokens = {};
  std::string cache_salt = {};  // of the requests that it is for
};

enum class FinishReason { none, stop, length, cancelled, error };

/// What ended a choice with FinishReason::stop: an end token of the model's, one of stop_token_ids, a stop string.
enum class StopCause { none, model, token, string };

/// Something that happened to one choice of a request, in order.
/// What the MTP head has proposed and the model has drawn too.
struct DraftStats {
  uint64_t steps = 0;  // rows of one sequence with drafts, in one step
  uint64_t proposed = 0, accepted = 0;
  std::array<uint64_t, 8> accepted_at = {};  // by position behind the last token

  /// Of one sequence in one step.
  void count(size_t proposed_now, size_t accepted_now);
  DraftStats& operator+=(const DraftStats& other);
};

struct Event {
  int choice = 0;
  std::vector<int32_t> tokens = {};  // new tokens (usually one), the stop token included
  std::string text = {};             // new text: whole UTF-8 code points, stop strings removed
  /// For each new token when logprobs were asked: the chosen token first, then the alternatives, best first.
  std::vector<std::vector<TokenLogprob>> logprobs = {};
  /// In the first event of choice 0 when prompt_logprobs were asked; entry i is prompt token i (entry 0 is empty).
  std::vector<std::vector<TokenLogprob>> prompt_logprobs = {};
  FinishReason finish_reason = FinishReason::none;  // set in the last event of a choice
  std::string stop_reason = {};                     // the stop string matched, or the stop token id in decimal, if any
  StopCause stop_cause = StopCause::none;
  Status error = {};  // with FinishReason::error
  /// When the first rows of the choice were planned; no time at all if they never were.
  std::chrono::steady_clock::time_point scheduled = {};
  // Once rows were planned, in every event: tokens of the prompt that the prefix cache had, and, at least as many,
  // those whose keys and values it had, some perhaps without a state behind them to go on from.
  int64_t cached_tokens = 0, matched_tokens = 0;
  int64_t tier_tokens = 0;  // of cached_tokens, those that only its tier in the host's memory had
  DraftStats drafts = {};   // of the choice; with finish_reason
};

/// One running request. Events queue up (at most max_tokens + 1 of them a choice) and never hold the engine back.
/// Destroying the stream cancels what is still running. Used by one thread at a time; cancel() by any.
class RequestStream {
 public:
  RequestStream(RequestStream&&) noexcept;
  RequestStream& operator=(RequestStream&&) noexcept;
  ~RequestStream();

  /// Waits for the next event; nullopt after the last one (every choice has finished).
  std::optional<Event> next();
  /// The next event if one is there; nullopt otherwise (finished() tells why).
  std::optional<Event> try_next();
  /// Every choice has finished and every event was taken.
  [[nodiscard]] bool finished() const;
  /// Ends every choice soon, with FinishReason::cancelled; events already queued stay.
  void cancel();
  /// Called from the engine thread whenever events were added, and at once if some are waiting; must be quick, must
  /// not call the engine or destroy the stream. Once the stream is destroyed it is not called again.
  void on_ready(std::function<void()> callback);

 private:
  friend class Engine;
  explicit RequestStream(std::shared_ptr<engine::EventChannel> channel);
  std::shared_ptr<engine::EventChannel> channel_;
};

/// Where the memory goes. Computed before anything is loaded.
struct FitReport {
  std::string device = "cpu";  // or "cuda:0", ...
  size_t available_bytes = 0;  // free now, on the device: the least of MemAvailable and what the cgroup limits leave,
                               // or what of a GPU's memory may be used
  size_t reserve_bytes = 0;    // left alone
  size_t weight_bytes = 0;
  size_t workspace_bytes = 0;  // activations and logits of one step
  size_t kv_block_bytes = 0;   // 64 tokens, all attention layers
  int kv_blocks = 0;
  size_t state_slot_bytes = 0;  // Gated DeltaNet states of one sequence; on a GPU the counts of its tokens too
  int max_num_seqs = 0;         // each with a state slot
  int kept_states = 0;          // state slots besides, for the prefix cache, which also has those of no sequence
  int host_pages = 0;           // of the host's memory, kv_block_bytes each, for what the prefix cache gives up
  int state_pages = 0;          // that a state takes of them
  int drafts_max = 0;           // of a sequence, by the MTP head; 0: nothing is drafted
  int64_t max_model_len = 0;    // tokens of one sequence, prompt and output
  int max_num_batched_tokens = 0;
  std::string kv_cache_dtype;           // bfloat16, fp8 or float32
  int requantized_matrices = 0;         // that become FP8 when they are loaded
  size_t requantized_stored_bytes = 0;  // what they are before

  [[nodiscard]] size_t kv_bytes() const { return kv_block_bytes * static_cast<size_t>(kv_blocks); }
  [[nodiscard]] size_t state_bytes() const { return state_slot_bytes * static_cast<size_t>(state_slots()); }
  [[nodiscard]] size_t host_bytes() const { return kv_block_bytes * static_cast<size_t>(host_pages); }
  [[nodiscard]] int state_slots() const { return max_num_seqs + kept_states; }
  [[nodiscard]] size_t total_bytes() const { return weight_bytes + workspace_bytes + kv_bytes() + state_bytes(); }
};

struct EngineOptions {
  std::string model = {};             // a directory, or a name in the Hugging Face cache
  std::string chat_template = {};     // a template file; empty: the model's own, else the bundled one
  std::string device = "auto";        // auto (the first GPU that can run it, else the CPU), cpu, cuda, cuda:N
  bool parse_special_tokens = false;  // control tokens that a conversation spells are those tokens, not text
  std::string load_format = "auto";   // or "dummy": random weights in the shape and formats of config.json, on a GPU
  std::string requantize_projections = {};  // "fp8": BF16 projections of attention, Gated DeltaNet and shared experts
                                            // become FP8, a scale a row
  std::string compute = "bf16";             // or "fp32", the oracle, on the CPU alone
  std::string kv_cache_dtype = "auto";      // auto (bf16, or fp8 where the checkpoint says so), bfloat16, fp8
  int64_t max_model_len = 0;                // 0: the model's limit, or what fits
  int max_num_seqs = 0;                     // 0: chosen to fit (at most 64)
  int max_num_batched_tokens = 0;           // rows of a step; 0: 512, on a GPU 8192
  size_t memory_bytes = 0;              // for KV and states; 0: what they can use of the free memory, less a reserve
  double gpu_memory_utilization = 0.9;  // of a GPU's memory, what weights, KV, states and steps may take together
  bool cuda_graphs = true;              // decode steps as CUDA graphs; changes no bit
  bool pdl = true;                      // programmatic dependent launch; changes no bit
  bool prefix_caching = true;           // what prompts begin with is computed once; changes no bit
  /// Of answers as well, as they were decoded: what goes on from one then has other bits than without a cache.
  bool prefix_cache_keeps_answers = false;
  bool idle_prefill = true;     // Engine::prefill_when_idle does something; changes no bit
  size_t kv_offload_bytes = 0;  // of the host's memory, for what the prefix cache has no room for on the device
  /// A directory that keeps a copy of what is in that memory, for this engine and those that come later; empty: none.
  /// Needs kv_offload_bytes. One engine has it at a time.
  std::string kv_offload_dir = {};
  size_t kv_offload_dir_bytes = size_t{64} << 30;  // of all files there, at most
  /// Milliseconds that a step may take which reads prompts while other sequences decode; 0: no bound; -1: twice the
  /// median of what steps without prompts take. Changes no bit.
  int prefill_step_ms = -1;
  /// Most drafts of the MTP head, 0 to 8: as many as pay are made, down to none. -1: 5 on a GPU where the model has a
  /// head, else none. Changes no bit.
  int speculative_tokens = -1;
  bool speculative_always = false;  // so many in every step, whether they pay or not
  /// What drafts are drawn from: "full", lm_head as it is loaded; "fp8" or "nvfp4", a copy of it in fewer bytes, where
  /// it is BF16. "auto": fp8 on a GPU. Changes no bit.
  std::string draft_head = "auto";
  int threads = 0;  // 0: all cores this process may use
  /// Before loading; not called when the model does not fit. Called again where device auto goes on to another device.
  std::function<void(const FitReport&)> on_fit = {};
  std::function<void(size_t done_bytes, size_t total_bytes)> on_load_progress = {};
};

/// A conversation as a chat template has written it; see Engine::tokenize.
struct RenderedChat {
  std::string text = {};
  /// Stands in each control token that the conversation spelt as text, and nowhere else; empty: it spelt none.
  std::string seam = {};
};

struct ChatMessage {
  std::string role;  // system, user, assistant
  std::string content;
};

/// The decode steps so far: the least that they read of the GPU's memory, and how long they took.
struct DecodeTraffic {
  uint64_t steps = 0;
  double bytes = 0, seconds = 0;
};

/// Of the GPU that runs the model. What its driver does not say is left out.
struct GpuStats {
  double read_bytes_per_second = 0;  // measured at start, by it decode steps are judged; 0: not measured
  std::optional<double> sm_clock_hertz = {}, memory_clock_hertz = {}, power_watts = {};  // of about the last second
};

/// How many tokens, of prompts and answers, the steps so far computed.
struct StepTokens {
  static constexpr std::array<int, 13> kBounds = {1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384};
  std::array<uint64_t, kBounds.size() + 1> steps = {};  // of at most kBounds[i] tokens, more than the one before
  uint64_t tokens = 0;

  void count(size_t step);
};

/// Of the prefix cache's tier in the host's memory.
struct TierStats {
  uint64_t bytes_used = 0, bytes_total = 0;    // 0 in all: there is none
  uint64_t bytes_saved = 0, bytes_loaded = 0;  // moved there, and back
  uint64_t hits = 0;                           // tokens of prompts that only the tier had
};

/// Of the directory behind that tier.
struct DiskStats {
  uint64_t entries = 0;
  uint64_t bytes_used = 0, bytes_total = 0;  // 0 in all: there is none
  uint64_t hits = 0;                         // tokens of prompts that only the directory had
  uint64_t writes = 0, failures = 0;         // entries written; reads and writes that failed
};

struct EngineStats {
  int running = 0, waiting = 0;
  int kv_blocks_used = 0, kv_blocks_total = 0;
  int state_slots_used = 0, state_slots_total = 0;
  int kept_blocks = 0, kept_states = 0;  // by the prefix cache, for no sequence that runs
  uint64_t steps = 0, preemptions = 0, prompt_tokens = 0, generated_tokens = 0;
  uint64_t prefix_queries = 0, prefix_hits = 0;  // tokens of prompts that began, and of those what was kept
  uint64_t idle_prefill_tokens = 0;              // computed by Engine::prefill_when_idle; in none of the other totals
  TierStats tier = {};
  DiskStats disk = {};
  StepTokens step_tokens = {};
  DraftStats drafts = {};
  DecodeTraffic decode = {};         // on a GPU
  std::optional<GpuStats> gpu = {};  // none: the model runs on the CPU
};

/// A loaded model and the one thread that runs it. All members may be called from any thread.
class Engine {
 public:
  /// Finds the model, checks that it fits, loads it and starts the engine thread. A model directory without
  /// tokenizer.json is served by token ids alone: events have no text, stop strings are refused.
  static Expected<Engine> create(EngineOptions options);
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();  // cancels everything and joins

  /// Errors: a parameter out of range, a prompt that is empty or too long, too many requests waiting.
  Expected<RequestStream> submit(Request request);

  /// Whether submit would take a request with them, for whoever has work to do before.
  [[nodiscard]] Status check(const SamplingParams& params) const;

  /// Computes the beginning of prompts to come for the prefix cache, while no request wants a step; one that comes
  /// waits for a step with a chunk of it at most. All but the last token count, in whole blocks of 64. The newest few
  /// that it is called for are worked on, the newest first, and nothing says when, or whether, that is done: what the
  /// prefix cache has is given up for it only where it saves less. Does nothing where prefills_when_idle() is false.
  /// Errors: no tokens, more than a prompt may have, a token that the model does not have.
  Status prefill_when_idle(IdlePrefill prefill);
  /// EngineOptions::idle_prefill, where there is a prefix cache.
  [[nodiscard]] bool prefills_when_idle() const;

  /// The tokens of `text`, in which control tokens are found; in a conversation only those of its template, unless
  /// EngineOptions::parse_special_tokens is set. One that has more than `tokens_max` is not worked through: what is
  /// returned has more too, and says nothing else.
  [[nodiscard]] Expected<std::vector<int32_t>> tokenize(const std::string& text,
                                                        size_t tokens_max = std::numeric_limits<size_t>::max()) const;
  [[nodiscard]] Expected<std::vector<int32_t>> tokenize(const RenderedChat& chat,
                                                        size_t tokens_max = std::numeric_limits<size_t>::max()) const;
  /// It has at least so many tokens; 0 where the tokenizer promises nothing.
  [[nodiscard]] size_t tokens_min(const RenderedChat& chat) const;
  [[nodiscard]] std::string detokenize(const std::vector<int32_t>& tokens, bool skip_special_tokens = true) const;
  /// The bytes that a token stands for, perhaps a part of a code point; empty if there is no such token.
  [[nodiscard]] std::string token_bytes(int32_t token) const;
  /// The token that is exactly `text`, such as "</think>".
  [[nodiscard]] std::optional<int32_t> token_id(const std::string& text) const;

  /// The chat template's text for a JSON object: messages, and what else the template reads (tools,
  /// add_generation_prompt, enable_thinking...). The first call starts the renderer.
  [[nodiscard]] Expected<RenderedChat> render_chat(const std::string& request_json) const;
  /// Plain messages with a generation prompt.
  [[nodiscard]] Expected<RenderedChat> render_chat(const std::vector<ChatMessage>& messages,
                                                   bool enable_thinking = true) const;
  /// Their tokens.
  Expected<std::vector<int32_t>> chat_prompt(const std::vector<ChatMessage>& messages, bool enable_thinking = true);
  /// What Guide::grammar is made of: takes some ms for a small schema and seconds for a large one, at most the limits
  /// of guide/source.h, on the calling thread. What was used last is kept, by content. The error says which part is at
  /// fault; unsupported where the model has no tokenizer or no stop token.
  [[nodiscard]] Expected<CompiledGrammar> compile(const GrammarSource& source) const;
  /// What compile() would give, if it is kept; null otherwise.
  [[nodiscard]] CompiledGrammar compiled(const GrammarSource& source) const;
  [[nodiscard]] const SamplingParams& default_sampling() const;
  [[nodiscard]] int64_t max_model_len() const;
  [[nodiscard]] const FitReport& fit() const;
  [[nodiscard]] EngineStats stats() const;
  /// Not ok once the engine has stopped by an error of its device; requests get it too.
  [[nodiscard]] Status status() const;
  /// Called once, from the engine thread, when the engine has stopped by an error of its device and every request has
  /// it, and at once if it has already; must be quick, must not call the engine or destroy it. Takes the place of the
  /// callback before; none is running once this returns.
  void on_failure(std::function<void()> callback);
  /// Ends everything that is open and waits for the engine thread, as the destructor does; what was generated can still
  /// be read. Not ok where the device has failed: it may hang, and the destructor, which gives its memory back, would
  /// wait for it. A program should then end without destroying the engine (std::_Exit).
  Status close();

 private:
  friend struct engine::EngineMaker;
  struct Impl;
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera
