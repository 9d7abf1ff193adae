#include "server/response_routes.h"

#include <charconv>
#include <string>
#include <utility>

#include "server/error_reply.h"
#include "server/http_text.h"
#include "server/responses/response_json.h"

namespace tessera::server {
namespace {

using SharedExchange = std::shared_ptr<Exchange>;
using responses::ResponseStore;
using responses::SharedResponse;

constexpr std::string_view kPath = "/v1/responses/";

/// Between the beginning of the path and `behind`.
std::string id_of(const SharedExchange& exchange, std::string_view behind = {}) {
  const std::string& path = exchange->request.path;
  return path.substr(kPath.size(), path.size() - kPath.size() - behind.size());
}

void refuse(const SharedExchange& exchange, const ApiError& error) {
  exchange->reply(error_reply(error, exchange->request.path));
}

/// The value of `key` in "a=1&b=2".
std::string_view query_value(std::string_view query, std::string_view key) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    if (pair.size() > key.size() && pair.starts_with(key) && pair[key.size()] == '=') {
      return pair.substr(key.size() + 1);
    }
  }
  return {};
}

void answer_get(const SharedExchange& exchange, ResponseStore& store) {
  const std::string id = id_of(exchange);
  if (query_value(exchange->request.query, "stream") == "true") {
    return refuse(exchange, bad_request("stream", "stream is true, expected false: what was streamed is kept whole"));
  }
  const SharedResponse kept = store.find(id);
  if (kept == nullptr) return refuse(exchange, responses::response_not_found(id));
  exchange->reply({.body = kept->json()});
}

void answer_delete(const SharedExchange& exchange, ResponseStore& store) {
  const std::string id = id_of(exchange);
  if (!store.erase(id)) return refuse(exchange, responses::response_not_found(id));
  exchange->reply({.body = responses::deleted_json(id)});
}

void answer_input_items(const SharedExchange& exchange, ResponseStore& store) {
  constexpr int64_t kLimitMax = 100;
  const std::string id = id_of(exchange, "/input_items");
  if (store.find(id) == nullptr) return refuse(exchange, responses::response_not_found(id));
  const std::string& query = exchange->request.query;
  responses::ItemPage page{.ascending = query_value(query, "order") == "asc",
                           .after = std::string(query_value(query, "after"))};
  if (const std::string_view limit = query_value(query, "limit"); !limit.empty()) {
    const auto [end, fault] = std::from_chars(limit.data(), limit.data() + limit.size(), page.limit);
    if (fault != std::errc() || end != limit.data() + limit.size() || page.limit < 1 || page.limit > kLimitMax) {
      return refuse(exchange, bad_request("limit", "limit is \"" + std::string(limit.substr(0, 40)) +
                                                       "\", expected a whole number from 1 to 100"));
    }
  }
  std::vector<SharedResponse> conversation;
  if (const auto error = store.conversation(id, conversation)) return refuse(exchange, *error);
  exchange->reply({.body = responses::input_items_json(conversation, page)});
}

/// Ends a response that is being streamed; one that has ended stays as it is.
void answer_cancel(const SharedExchange& exchange, Work& work, ResponseStore& store) {
  const std::string id = id_of(exchange, "/cancel");
  const auto open = std::vector(work.open.begin(), work.open.end());  // it may end
  for (const auto& generation : open) {
    if (responses::response_id(generation->id()) == id) generation->stop();
  }
  const SharedResponse kept = store.find(id);
  if (kept == nullptr) return refuse(exchange, responses::response_not_found(id));
  exchange->reply({.body = kept->json()});
}

}  // namespace

void add_response_routes(std::function<Work&()> work, std::vector<Route>& routes) {
  const auto with_store = [work](void (*answer)(const SharedExchange&, ResponseStore&)) {
    return [work, answer](const SharedExchange& exchange) { answer(exchange, *work().model.responses); };
  };
  const auto cancel = [work](const SharedExchange& exchange) {
    answer_cancel(exchange, work(), *work().model.responses);
  };
  routes.push_back({"GET", "/v1/responses/{id}/input_items", true, true, with_store(answer_input_items)});
  routes.push_back({"POST", "/v1/responses/{id}/cancel", true, true, cancel});
  routes.push_back({"GET", "/v1/responses/{id}", true, true, with_store(answer_get)});
  routes.push_back({"DELETE", "/v1/responses/{id}", true, true, with_store(answer_delete)});
}

}  // namespace tessera::server
