#include "server/http/exchange.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "server/http/connection.h"
#include "server/http/http_text.h"

namespace tessera::server {

Exchange::Exchange(HttpRequest taken, Connection* connection) : request(std::move(taken)), connection_(connection) {}

void Exchange::reply(HttpReply reply) {
  if (connection_ == nullptr) return;
  facts.status = reply.status;
  reply.headers.insert(reply.headers.end(), reply_headers.begin(), reply_headers.end());
  const bool bodiless = reply.status == 204 || reply.status == 304;
  std::string text;
  append_reply_head(reply, bodiless ? BodyFraming::none : BodyFraming::length, reply.body.size(),
                    connection_->keeps_alive(), text);
  if (!bodiless && request.method != "HEAD") text += reply.body;
  begun_ = true;
  if (!connection_->keeps_alive()) connection_->close_behind_answer();
  connection_->send(text);
  if (connection_ != nullptr) connection_->answer_ended();
}

void Exchange::begin(HttpReply reply) {
  if (connection_ == nullptr) return;
  facts.status = reply.status;
  reply.headers.insert(reply.headers.end(), reply_headers.begin(), reply_headers.end());
  chunked_ = request.version == 11;
  const bool keeps = connection_->keeps_alive() && chunked_;
  if (!keeps) connection_->close_behind_answer();
  std::string text;
  append_reply_head(reply, chunked_ ? BodyFraming::chunked : BodyFraming::until_close, 0, keeps, text);
  begun_ = true;
  connection_->send(text);
  write(reply.body);
}

void Exchange::write(std::string_view bytes) {
  if (connection_ == nullptr || bytes.empty()) return;
  if (chunked_) {
    connection_->out_ += fmt::format("{:x}\r\n", bytes.size());
    connection_->out_ += bytes;
    connection_->send("\r\n");
  } else {
    connection_->send(bytes);
  }
}

void Exchange::end() {
  if (connection_ == nullptr) return;
  if (chunked_) connection_->send("0\r\n\r\n");
  if (connection_ != nullptr) connection_->answer_ended();
}

void Exchange::abort() {
  if (connection_ != nullptr) connection_->lose();
}

void Exchange::body_prepared() {
  if (connection_ != nullptr) connection_->count_body(0);
}

size_t Exchange::unsent() const { return connection_ == nullptr ? 0 : connection_->unsent(); }

}  // namespace tessera::server
