#include "server/responses/response_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "server/request/json_text.h"

namespace tessera::server::responses {
namespace {

constexpr size_t kEntryBytes = 512;  // of tables and pointers, about

size_t bytes_of(const std::string& id, const StoredResponse& response) {
  size_t bytes = kEntryBytes + 3 * id.size() + response.previous_id.size() + response.input.size() +
                 response.head.size() + response.output.size();
  if (response.events) bytes += response.events->bytes();
  for (const std::string& item : response.output_ids) bytes += kEntryBytes + 2 * item.size();
  return bytes;
}

}  // namespace

void ResponseStore::put(const std::string& id, StoredResponse response) {
  size_t bytes = bytes_of(id, response);
  if (bytes > limits_.bytes_max) {
    response.events = nullptr;
    bytes = bytes_of(id, response);
  }
  const std::lock_guard lock(mutex_);
  if (const auto found = by_id_.find(id); found != by_id_.end()) remove(found->second);
  if (bytes > limits_.bytes_max || limits_.count_max == 0) return;
  auto shared = std::make_shared<const StoredResponse>(std::move(response));
  kept_.push_front({.id = id, .response = shared, .bytes = bytes});
  by_id_[id] = kept_.begin();
  for (const std::string& item : shared->output_ids) by_item_[item] = kept_.begin();
  bytes_ += bytes;
  // Of those that have ended: who asks for one that is being made must find it.
  for (auto place = kept_.end(); place != kept_.begin() && over_limits();) {
    if (const auto oldest = std::prev(place); oldest->response->ended) {
      remove(oldest);
    } else {
      place = oldest;
    }
  }
}

SharedResponse ResponseStore::find(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : use(found->second);
}

SharedResponse ResponseStore::find_item(const std::string& item_id) {
  const std::lock_guard lock(mutex_);
  const auto found = by_item_.find(item_id);
  return found == by_item_.end() ? nullptr : use(found->second);
}

bool ResponseStore::erase(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return false;
  remove(found->second);
  return true;
}

std::optional<ApiError> ResponseStore::conversation(const std::string& id, std::vector<SharedResponse>& out) {
  const std::string param = "previous_response_id";
  const std::lock_guard lock(mutex_);
  for (std::string next = id; !next.empty(); next = out.back()->previous_id) {
    const auto found = by_id_.find(next);
    if (found == by_id_.end()) {
      ApiError error = bad_request(
          param, fmt::format("Previous response with id '{}' not found: it is not kept here, or no more; give the "
                             "conversation as input",
                             shortened(next, kIdBytesShown)));
      error.code = "previous_response_not_found";
      return error;
    }
    if (!found->second->response->ended) {
      return bad_request(param, fmt::format("Response with id '{}' has not ended yet", shortened(next, kIdBytesShown)));
    }
    out.push_back(use(found->second));
  }
  std::ranges::reverse(out);
  return std::nullopt;
}

size_t ResponseStore::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

bool ResponseStore::over_limits() const { return bytes_ > limits_.bytes_max || kept_.size() > limits_.count_max; }

SharedResponse ResponseStore::use(Place place) {
  kept_.splice(kept_.begin(), kept_, place);
  return place->response;
}

void ResponseStore::remove(Place place) {
  for (const std::string& item : place->response->output_ids) by_item_.erase(item);
  by_id_.erase(place->id);
  bytes_ -= place->bytes;
  kept_.erase(place);
}

ApiError response_not_found(std::string_view id) {
  return {.http_status = 404, .message = fmt::format("Response with id '{}' not found.", shortened(id, kIdBytesShown))};
}

}  // namespace tessera::server::responses
