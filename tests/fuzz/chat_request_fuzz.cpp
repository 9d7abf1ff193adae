// Bodies of requests, as bytes. What is refused has a message and, once it is JSON, names a field; what is taken can be
// written for the template and is within its limits.
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/openai/chat_request.h"
#include "server/openai/completion_request.h"
#include "server/openai/error_json.h"
#include "server/openai/tokenize_request.h"
#include "text/json_depth.h"

namespace {

using namespace tessera::server;
using namespace tessera::server::openai;

void require(bool condition) {
  if (!condition) std::abort();
}

const RequestOptions& options() {
  static const RequestOptions kOptions = [] {
    RequestOptions options;
    options.template_kwargs_allowed = {"style"};
    return options;
  }();
  return kOptions;
}

void check_refusal(const ApiError& error, bool is_json) {
  require(error.http_status == 400 && !error.message.empty() && error.message.size() < 2000);
  require(!is_json || !error.param.empty());
  require(nlohmann::json::accept(error_json(error)));
}

void check_template_request(const Json& request) {
  require(!tessera::text::json_depth_exceeds(request, 128));
  require(nlohmann::json::accept(request.dump()));
}

void check_sampling(const tessera::SamplingParams& sampling) {
  require(sampling.temperature >= 0 && sampling.top_p > 0 && sampling.top_p <= 1 && sampling.n >= 1);
  require(sampling.n <= 16 && sampling.max_tokens >= -1 && sampling.stop.size() <= 16);
  for (const auto& [token, bias] : sampling.logit_bias) require(token >= 0 && bias >= -100 && bias <= 100);
}

void parse_chat(const Json& body) {
  ChatRequest request;
  if (const auto error = parse_chat_request(body, options(), request)) return check_refusal(*error, true);
  check_template_request(template_request(request));
  check_sampling(request.sampling);
  require(request.tools.json.size() >= request.tools.schemas.size());
}

void parse_completion(const Json& body) {
  CompletionRequest request;
  if (const auto error = parse_completion_request(body, options(), request)) return check_refusal(*error, true);
  check_sampling(request.sampling);
  require(!request.prompts.empty());
}

void parse_tokenize(const Json& body) {
  TokenizeRequest request;
  if (const auto error = parse_tokenize_request(body, options(), request)) return check_refusal(*error, true);
  if (!request.prompt) check_template_request(template_request(request.chat));
}

void parse_detokenize(const Json& body) {
  DetokenizeRequest request;
  if (const auto error = parse_detokenize_request(body, options(), request)) check_refusal(*error, true);
}

}  // namespace

/// One text for all: most fields mean the same everywhere.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Json body;
  if (const auto error = parse_body(text, options().limits, body)) {
    check_refusal(*error, false);
    return 0;
  }
  parse_chat(body);
  parse_completion(body);
  parse_tokenize(body);
  parse_detokenize(body);
  return 0;
}
