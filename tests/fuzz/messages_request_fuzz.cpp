// Bodies of /v1/messages, as bytes. What is refused has a message and, once it is JSON, names a field; what is taken
// can be written for the template and is within its limits.
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/anthropic/error_json.h"
#include "server/anthropic/messages_request.h"
#include "text/json_depth.h"

namespace {

using namespace tessera::server;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_refusal(const ApiError& error, bool is_json) {
  require(error.http_status == 400 && !error.message.empty() && error.message.size() < 2000);
  require(!is_json || !error.param.empty());
  require(nlohmann::json::accept(anthropic::error_json(error)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const RequestOptions options;
  Json body;
  if (const auto error = parse_body({reinterpret_cast<const char*>(data), size}, options.limits, body)) {
    check_refusal(*error, false);
    return 0;
  }
  ChatRequest request;
  if (const auto error = anthropic::parse_messages_request(body, options, request)) {
    check_refusal(*error, true);
    return 0;
  }
  const Json prompt = template_request(request);
  require(!prompt["messages"].empty() && !tessera::text::json_depth_exceeds(prompt, 128));
  require(nlohmann::json::accept(prompt.dump()));
  require(request.sampling.n == 1 && request.sampling.stop.size() <= 16 && request.notes.size() <= 16);
  require(request.tools.json.size() >= request.tools.schemas.size());
  std::string rendered = prompt["messages"].back()["content"].get<std::string>() + "<|im_end|>";
  cut_at_continuation(request, rendered);
  return 0;
}
