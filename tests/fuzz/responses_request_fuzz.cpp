// Bodies of /v1/responses, as bytes. What is refused has a message and, once it is JSON, names a field; what is taken
// can be written for the template, is within its limits, and makes a response that is JSON, whole and in events.
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/openai/error_json.h"
#include "server/responses/output_items.h"
#include "server/responses/responses_request.h"
#include "text/json_depth.h"

namespace {

using namespace tessera::server;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_refusal(const ApiError& error, bool is_json) {
  require((error.http_status == 400 || error.http_status == 404) && !error.message.empty());
  require(error.message.size() < 2000 && (!is_json || !error.param.empty()));
  require(nlohmann::json::accept(openai::error_json(error)));
}

/// A call of each tool, whose arguments are what the body happens to be.
void check_answer(const responses::ResponsesRequest& request, std::string_view bytes) {
  responses::OutputItems items({.id = "resp_1", .model = "m"}, request);
  std::string events;
  items.begin(events);
  items.feed({.reasoning = std::string(bytes), .content = std::string(bytes)}, events);
  int index = 0;
  for (const auto& tool : request.chat.tools.schemas) {
    items.feed({.tool_calls = {{.index = index, .id = "call_1", .name = tool.name}}}, events);
    for (size_t at = 0; at < bytes.size() && index < 4; at += 3) {
      items.feed({.tool_calls = {{.index = index, .arguments = std::string(bytes.substr(at, 3))}}}, events);
    }
    ++index;
  }
  items.end({.status = responses::ResponseStatus::completed, .usage = Usage{}}, events);
  require(nlohmann::json::accept(items.json()));
  for (size_t at = 0; (at = events.find("\ndata: ", at)) != std::string::npos; ++at) {
    require(nlohmann::json::accept(events.substr(at + 7, events.find('\n', at + 1) - at - 7)));
  }
  require(events.empty() != request.chat.stream.stream);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const RequestOptions options;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  responses::ResponseStore store({});
  store.put("resp_1", {.input = R"([{"id":"1","role":"user","content":"a"}])",
                       .head = "{",
                       .output = R"([{"id":"msg_1","type":"message","role":"assistant","content":"b"}])",
                       .output_ids = {"msg_1"}});
  Json body;
  if (const auto error = parse_body(bytes, options.limits, body)) {
    check_refusal(*error, false);
    return 0;
  }
  responses::ResponsesRequest request;
  if (const auto error = responses::parse_responses_request(body, options, "resp_2", store, request)) {
    check_refusal(*error, true);
    return 0;
  }
  const Json prompt = template_request(request.chat);
  require(!prompt["messages"].empty() && !tessera::text::json_depth_exceeds(prompt, 128));
  require(nlohmann::json::accept(prompt.dump(-1, ' ', false, Json::error_handler_t::replace)));
  require(request.chat.sampling.n == 1 && request.chat.notes.size() <= 16);
  require(request.chat.tools.json.size() >= request.chat.tools.schemas.size());
  require(request.input.empty() == !request.store);
  if (request.store) store.put("resp_2", {.previous_id = request.previous_id, .input = request.input, .output = "[]"});
  check_answer(request, bytes.substr(0, 200));
  return 0;
}
