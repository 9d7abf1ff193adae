#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server/request/api_error.h"
#include "server/responses/event_log.h"

namespace tessera::server::responses {

/// A response as it is kept, as JSON texts.
struct StoredResponse {
  std::string previous_id = {};              // empty: none
  std::string input = {};                    // array of the request's own input items
  std::string head = {};                     // the response object up to its output, which is its last member
  std::string output = {};                   // array of items
  std::vector<std::string> output_ids = {};  // of these items, for references to them
  bool ended = true;                         // false: being generated
  std::shared_ptr<EventLog> events = {};     // of one that is made in the background

  [[nodiscard]] std::string json() const { return head + output + "}"; }
};

using SharedResponse = std::shared_ptr<const StoredResponse>;

/// Responses that requests may go on from, in memory, up to a number and to bytes: beyond, those that have ended and
/// that nobody has asked for longest are forgotten. A response does not hold those before it: where one of them is
/// gone, so is the conversation. Any thread.
class ResponseStore {
 public:
  struct Limits {
    size_t count_max = 4096;
    size_t bytes_max = size_t{256} << 20;
  };
  explicit ResponseStore(Limits limits) : limits_(limits) {}

  [[nodiscard]] bool keeps_any() const { return limits_.count_max > 0 && limits_.bytes_max > 0; }
  /// In place of what is kept under this id. One that alone is beyond the limits is not kept, or without its events.
  void put(const std::string& id, StoredResponse response);
  /// Null: not kept.
  SharedResponse find(const std::string& id);
  /// The response with this item in its output; null: not kept.
  SharedResponse find_item(const std::string& item_id);
  bool erase(const std::string& id);

  /// `id` and all before it, oldest first. An error, at previous_response_id, where one is not kept or has not ended.
  std::optional<ApiError> conversation(const std::string& id, std::vector<SharedResponse>& out);

  [[nodiscard]] size_t bytes() const;

 private:
  struct Entry {
    std::string id;
    SharedResponse response;
    size_t bytes;
  };
  using Place = std::list<Entry>::iterator;

  [[nodiscard]] bool over_limits() const;
  SharedResponse use(Place place);
  void remove(Place place);

  Limits limits_;
  mutable std::mutex mutex_;  // guards what follows
  std::list<Entry> kept_;     // last used first
  std::unordered_map<std::string, Place> by_id_, by_item_;
  size_t bytes_ = 0;
};

/// 404, as OpenAI says it of GET and DELETE.
ApiError response_not_found(std::string_view id);

}  // namespace tessera::server::responses
