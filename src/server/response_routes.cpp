#include "server/response_routes.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

#include "server/error_reply.h"
#include "server/event_stream.h"
#include "server/query.h"
#include "server/responses/response_json.h"

namespace tessera::server {
namespace {

using SharedExchange = std::shared_ptr<Exchange>;
using responses::ResponseStore;
using responses::SharedResponse;

constexpr std::string_view kPath = "/v1/responses/";
constexpr int64_t kEventsMax = int64_t{1} << 40;

/// Between the beginning of the path and `behind`.
std::string id_of(const SharedExchange& exchange, std::string_view behind = {}) {
  const std::string& path = exchange->request.path;
  return path.substr(kPath.size(), path.size() - kPath.size() - behind.size());
}

void refuse(const SharedExchange& exchange, const ApiError& error) {
  exchange->reply(error_reply(error, exchange->request.path));
}

/// Whole, or as events: those behind `starting_after`, and those that are still to come.
void answer_get(const SharedExchange& exchange, Work& work, ResponseStore& store) {
  const std::string id = id_of(exchange);
  const SharedResponse kept = store.find(id);
  if (kept == nullptr) return refuse(exchange, responses::response_not_found(id));
  const std::string& query = exchange->request.query;
  bool streams = false;
  int64_t after = -1;
  if (const auto error = read_query_flag(query, "stream", streams)) return refuse(exchange, *error);
  if (const auto error = read_query_whole(query, "starting_after", 0, kEventsMax, after)) {
    return refuse(exchange, *error);
  }
  if (!streams || exchange->request.method == "HEAD") {
    return exchange->reply({.body = kept->json()});
  }
  if (!kept->events) {
    return refuse(exchange, bad_request("stream",
                                        "stream is true, expected false: events are kept of responses that were asked "
                                        "for with \"background\": true"));
  }
  if (const auto events = static_cast<int64_t>(kept->events->count()); kept->events->ended() && after >= events) {
    return refuse(exchange,
                  bad_request("starting_after", fmt::format("starting_after is {}, and the last event of this "
                                                            "response has number {}",
                                                            after, events - 1)));
  }
  stream_events(exchange, kept->events, static_cast<size_t>(after + 1), {},
                static_cast<size_t>(work.limits.unsent_bytes_max));
}

/// Ends the response with this id where it is, if it is being made.
void stop(const Work& work, const std::string& id) {
  const auto open = std::vector(work.open.begin(), work.open.end());  // it may end
  for (const auto& generation : open) {
    if (responses::response_id(generation->id()) == id) generation->stop();
  }
}

void answer_delete(const SharedExchange& exchange, Work& work, ResponseStore& store) {
  const std::string id = id_of(exchange);
  stop(work, id);
  if (!store.erase(id)) return refuse(exchange, responses::response_not_found(id));
  exchange->reply({.body = responses::deleted_json(id)});
}

void answer_input_items(const SharedExchange& exchange, Work& /*work*/, ResponseStore& store) {
  constexpr int64_t kLimitMax = 100;
  const std::string id = id_of(exchange, "/input_items");
  if (store.find(id) == nullptr) return refuse(exchange, responses::response_not_found(id));
  const std::string& query = exchange->request.query;
  responses::ItemPage page;
  std::string order;
  if (const auto error = read_query_word(query, "order", {"asc", "desc"}, order)) return refuse(exchange, *error);
  if (const auto error = read_query_text(query, "after", page.after)) return refuse(exchange, *error);
  if (const auto error = read_query_whole(query, "limit", 1, kLimitMax, page.limit)) return refuse(exchange, *error);
  page.ascending = order == "asc";
  std::vector<SharedResponse> conversation;
  if (const auto error = store.conversation(id, conversation)) return refuse(exchange, *error);
  exchange->reply({.body = responses::input_items_json(conversation, page)});
}

/// Ends a response that is being made; one that has ended stays as it is.
void answer_cancel(const SharedExchange& exchange, Work& work, ResponseStore& store) {
  const std::string id = id_of(exchange, "/cancel");
  stop(work, id);
  const SharedResponse kept = store.find(id);
  if (kept == nullptr) return refuse(exchange, responses::response_not_found(id));
  exchange->reply({.body = kept->json()});
}

}  // namespace

void add_response_routes(std::function<Work&()> work, std::vector<Route>& routes) {
  const auto with_store = [work](void (*answer)(const SharedExchange&, Work&, ResponseStore&)) {
    return [work, answer](const SharedExchange& exchange) { answer(exchange, work(), *work().model.responses); };
  };
  routes.push_back({"GET", "/v1/responses/{id}/input_items", true, true, with_store(answer_input_items)});
  routes.push_back({"POST", "/v1/responses/{id}/cancel", true, true, with_store(answer_cancel)});
  routes.push_back({"GET", "/v1/responses/{id}", true, true, with_store(answer_get)});
  routes.push_back({"DELETE", "/v1/responses/{id}", true, true, with_store(answer_delete)});
}

}  // namespace tessera::server
