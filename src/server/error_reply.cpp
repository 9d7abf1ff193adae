#include "server/error_reply.h"

#include "server/anthropic/error_json.h"
#include "server/openai/error_json.h"

namespace tessera::server {

HttpReply error_reply(const ApiError& error, std::string_view path) {
  const bool anthropic = path.starts_with("/v1/messages");
  HttpReply reply{.status = error.http_status,
                  .body = anthropic ? anthropic::error_json(error) : openai::error_json(error)};
  if (error.http_status == 401) reply.headers.emplace_back("www-authenticate", "Bearer");
  if (error.http_status == 429 || error.http_status == 503) reply.headers.emplace_back("retry-after", "1");
  return reply;
}

}  // namespace tessera::server
