#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/request/chat_choice.h"
#include "server/request/custom_tool.h"
#include "server/responses/compaction.h"
#include "server/responses/item_json.h"
#include "server/responses/response_json.h"

namespace tessera::server::responses {

/// Makes the output of a response from deltas, and for a stream the events that tell of it: items and their ids are the
/// same in both.
///
/// response.created, response.in_progress; for each item response.output_item.added, its parts and deltas,
/// response.output_item.done; then response.completed, .incomplete or .failed with the whole response. A call that was
/// cut ends as an item that is incomplete, and so does the response.
class OutputItems {
 public:
  OutputItems(const ResponseHead& head, const ResponsesRequest& request);

  /// All of these append events to `out`, if the request wants a stream.
  void begin(std::string& out);
  void feed(const ChatDelta& delta, std::string& out);
  void add_compaction(const Compaction& compaction, std::string& out);
  /// Ends what is open. Where deltas did not say how the answer ended, `state.status` counts; else completed and
  /// incomplete follow from them.
  void end(ResponseState state, std::string& out);
  void keep_alive(std::string& out);

  [[nodiscard]] std::string json() const { return stored_.head + stored_.output + "}"; }
  /// The response as of begin() or end(), to be kept.
  [[nodiscard]] const StoredResponse& stored() const { return stored_; }

 private:
  void event(std::string_view type, std::string_view members, std::string& out);
  void item_event(std::string_view type, std::string_view members, std::string& out);
  void open(OutputItem item, std::string& out);
  void open_text(OutputItem::Kind kind, std::string& out);
  void open_call(const ToolCallDelta& call, std::string& out);
  void add_text(std::string_view text, std::string_view logprobs, std::string& out);
  void add_arguments(std::string_view arguments, std::string& out);
  void add_commands(std::string& out);
  void end_text(const OutputItem& item, std::string& out);
  void end_call(OutputItem& item, std::string& out);
  void close(ItemStatus status, std::string& out);
  void set_state(const ResponseState& state);

  [[nodiscard]] bool is_open(OutputItem::Kind kind) const { return open_ && items_.back().kind == kind; }

  ResponseHead head_;
  std::string echo_;
  ToolNames tools_;
  bool streams_, shows_summary_, shows_sealed_;
  std::vector<OutputItem> items_;
  bool open_ = false;  // the last of them
  CallInput input_;    // of the call that is open, if its tool is custom
  ChatFinish finish_ = ChatFinish::none;
  bool call_is_cut_ = false;
  int64_t sequence_ = 0;  // of the next event
  StoredResponse stored_;
};

}  // namespace tessera::server::responses
