#pragma once

#include <memory>

#include "server/http/exchange.h"
#include "server/responses/event_log.h"

namespace tessera::server {

/// Answers with the events of `log` from number `first` on, those that are still to come too, until the log ends or the
/// client leaves. A client that reads slowly holds back nothing but its own stream: at most `unsent_bytes_max` wait for
/// it. Network thread.
void stream_events(const std::shared_ptr<Exchange>& exchange, std::shared_ptr<responses::EventLog> log, size_t first,
                   HttpHeaders headers, size_t unsent_bytes_max);

/// The head of an answer that is a stream of events.
HttpReply event_stream_head(HttpHeaders headers);

}  // namespace tessera::server
