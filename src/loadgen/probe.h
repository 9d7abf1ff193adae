#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "base/status.h"
#include "loadgen/client.h"
#include "loadgen/load.h"

// What is asked of a server before and beside the load.
namespace tessera::loadgen {

struct ServerFacts {
  std::string model;
  std::string software;       // what it calls itself; may be empty
  int64_t max_model_len = 0;  // 0: it does not say
};

/// Whether the server answers, takes the key, and has `wanted` (empty: which model it has).
Expected<ServerFacts> probe(const HttpOptions& options, const std::string& wanted, const std::atomic<bool>& stop);

/// Sums that a server counts by itself, under vllm's names.
struct ServerCounters {
  std::optional<double> prompt_tokens = {}, output_tokens = {}, drafts = {}, drafted = {}, accepted = {};

  /// What has been added since `before`; nothing where either does not know.
  [[nodiscard]] ServerCounters since(const ServerCounters& before) const;
  [[nodiscard]] ServerCounters plus(const ServerCounters& other) const;
};
/// All empty if there is no /metrics.
ServerCounters read_counters(const HttpOptions& options, const std::atomic<bool>& stop);
ServerCounters parse_counters(std::string_view metrics);

/// Asks one prompt of each kind of `load.prompts`, and sets how many bytes of it the model counts as a token.
Status calibrate(Client& client, const PromptSet& prompts, int64_t context_tokens, Thinking thinking, LoadOptions& load,
                 const std::atomic<bool>& stop);

}  // namespace tessera::loadgen
