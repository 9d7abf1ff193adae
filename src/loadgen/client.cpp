#include "loadgen/client.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "loadgen/answer_reader.h"
#include "loadgen/statistics.h"

namespace tessera::loadgen {
namespace {

constexpr size_t kErrorBodyMax = 16 << 10;
constexpr int kEvents = 256;

double thread_cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

ErrorKind kind_of_status(long status) {
  switch (status) {
    case 401:
    case 403: return ErrorKind::unauthorized;
    case 404: return ErrorKind::not_found;
    case 429: return ErrorKind::rate_limited;
    default: return status >= 500 ? ErrorKind::server_error : ErrorKind::bad_request;
  }
}

ErrorKind kind_of_curl(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST: return ErrorKind::connect;
    case CURLE_OPERATION_TIMEDOUT: return ErrorKind::timeout;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE: return ErrorKind::tls;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL: return ErrorKind::bad_stream;
    default: return ErrorKind::stream_cut;
  }
}

}  // namespace

/// One request on its way, and what is kept from one to the next: libcurl's handle.
struct Client::Transfer {
  Easy easy;
  std::string body, error_body;
  char error[CURL_ERROR_SIZE] = {};
  AnswerReader reader;
  Record* record = nullptr;
  Client* client = nullptr;
  long status = 0;  // once a byte of the body has come
};

Client::Client(HttpOptions options) : options_(std::move(options)) {}

Expected<std::unique_ptr<Client>> Client::make(HttpOptions options) {
  std::unique_ptr<Client> client(new Client(std::move(options)));
  TESSERA_RETURN_IF_ERROR(client->open());
  return client;
}

double Client::now() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

int Client::running() const { return static_cast<int>(running_.size()); }

Client::~Client() {
  (void)abandon();
  if (multi_ != nullptr) curl_multi_cleanup(multi_);
  if (epoll_ >= 0) ::close(epoll_);
}

Status Client::open() {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  multi_ = curl_multi_init();
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (initialised != CURLE_OK || multi_ == nullptr || epoll_ < 0) {
    return error(StatusCode::internal, "cannot begin to use the network: {}", std::strerror(errno));
  }
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &Client::on_socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &Client::on_timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  curl_slist* list = curl_slist_append(nullptr, "Content-Type: application/json");
  list = curl_slist_append(list, "Accept: text/event-stream");
  list = curl_slist_append(list, "Expect:");  // or long bodies would wait for a 100 Continue
  if (const std::string key = key_header(options_); !key.empty()) list = curl_slist_append(list, key.c_str());
  headers_.reset(list);
  return {};
}

int Client::on_socket(CURL* /*easy*/, curl_socket_t socket, int what, void* self, void* known) {
  auto& client = *static_cast<Client*>(self);
  if (what == CURL_POLL_REMOVE) {
    ::epoll_ctl(client.epoll_, EPOLL_CTL_DEL, socket, nullptr);  // fails where it is closed already, which is as good
    return 0;
  }
  epoll_event event{};
  event.events = ((what & CURL_POLL_IN) != 0 ? EPOLLIN : 0U) | ((what & CURL_POLL_OUT) != 0 ? EPOLLOUT : 0U);
  event.data.fd = socket;
  if (::epoll_ctl(client.epoll_, known == nullptr ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, &event) != 0) return -1;
  curl_multi_assign(client.multi_, socket, &client);  // now it is known
  return 0;
}

int Client::on_timer(CURLM* /*multi*/, long milliseconds, void* self) {
  auto& client = *static_cast<Client*>(self);
  client.timer_ = milliseconds < 0 ? -1 : client.now() + 1e-3 * static_cast<double>(milliseconds);
  return 0;
}

size_t Client::on_body(char* bytes, size_t size, size_t count, void* of) {
  auto& transfer = *static_cast<Transfer*>(of);
  const double now = transfer.client->now();
  const std::string_view text(bytes, size * count);
  if (transfer.status == 0) curl_easy_getinfo(transfer.easy.get(), CURLINFO_RESPONSE_CODE, &transfer.status);
  if (transfer.error_body.size() < kErrorBodyMax) {
    // Of answers that are no stream, too: an error told with 200.
    if (transfer.status != 200 || transfer.record->deliveries.empty()) transfer.error_body += text;
  }
  if (transfer.status == 200 && !transfer.reader.feed(text, now)) return CURL_WRITEFUNC_ERROR;
  return text.size();
}

std::unique_ptr<Client::Transfer> Client::idle_transfer() {
  if (!idle_.empty()) {
    auto transfer = std::move(idle_.back());
    idle_.pop_back();
    return transfer;
  }
  auto transfer = std::make_unique<Transfer>();
  transfer->client = this;
  transfer->easy.reset(curl_easy_init());
  CURL* easy = transfer->easy.get();
  TESSERA_CHECK(easy != nullptr);
  set_up(easy, options_, transfer->error);
  set(easy, CURLOPT_URL, (options_.server.api + "/chat/completions").c_str());
  set(easy, CURLOPT_POST, 1L);
  set(easy, CURLOPT_HTTPHEADER, headers_.get());
  set(easy, CURLOPT_TIMEOUT_MS, std::max(1L, static_cast<long>(options_.timeout_seconds * 1e3)));
  set(easy, CURLOPT_WRITEFUNCTION, &Client::on_body);
  set(easy, CURLOPT_WRITEDATA, transfer.get());
  set(easy, CURLOPT_PRIVATE, transfer.get());
  return transfer;
}

Status Client::start(Record& record, std::string body) {
  auto transfer = idle_transfer();
  CURL* easy = transfer->easy.get();
  transfer->body = std::move(body);
  transfer->error_body.clear();
  transfer->error[0] = '\0';
  transfer->record = &record;
  transfer->status = 0;
  transfer->reader.begin(record);
  set(easy, CURLOPT_POSTFIELDS, transfer->body.c_str());
  set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(transfer->body.size()));
  // All connections are kept: with each request on a new one, connecting would be a part of what is measured.
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(running_.size() + idle_.size() + 8));
  record.start = record.due = now();
  if (const CURLMcode code = curl_multi_add_handle(multi_, easy); code != CURLM_OK) {
    return error(StatusCode::internal, "cannot begin a request: {}", curl_multi_strerror(code));
  }
  running_.push_back(std::move(transfer));
  return {};
}

void Client::drive(double until) {
  double wake = until;
  if (timer_ >= 0) wake = std::min(wake, timer_);
  const double seconds = wake - now();
  epoll_event events[kEvents];
  // Rounded up: a wait of less than a millisecond would spin.
  const int wait_ms = seconds <= 0 ? 0 : static_cast<int>(std::min(seconds * 1e3 + 1, 1000.0));
  const int count = ::epoll_wait(epoll_, events, kEvents, wait_ms);
  const double woken = now();
  int left = 0;
  for (int i = 0; i < count; ++i) {
    const uint32_t what = events[i].events;
    const int mask = ((what & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) | ((what & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
                     ((what & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0);
    curl_multi_socket_action(multi_, events[i].data.fd, mask, &left);
  }
  if (timer_ >= 0 && now() >= timer_) {
    timer_ = -1;
    curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &left);
  }
  turns_.push_back(now() - woken);
}

void Client::end(Transfer& transfer, CURLcode code) {
  Record& record = *transfer.record;
  record.end = now();
  long status = 0;
  curl_easy_getinfo(transfer.easy.get(), CURLINFO_RESPONSE_CODE, &status);
  if (record.ok() && code != CURLE_OK && code != CURLE_WRITE_ERROR) {
    record.error = kind_of_curl(code);
    record.message = transfer.error[0] != '\0' ? transfer.error : curl_easy_strerror(code);
    if (record.error == ErrorKind::timeout) {
      record.message =
          fmt::format("not done after {:.1f} s, with {} pieces of text", record.e2e(), record.deliveries.size());
    }
  } else if (record.ok() && status != 200) {
    record.error = kind_of_status(status);
    record.message = fmt::format("HTTP {}: {}", status, error_text(transfer.error_body));
  } else if (record.ok() && record.deliveries.empty() && transfer.error_body.find("data:") == std::string::npos) {
    record.error = ErrorKind::bad_stream;
    record.message = fmt::format("an answer that is no event stream: \"{}\"", error_text(transfer.error_body));
  }
  transfer.reader.finish();
}

void Client::take_ended(std::vector<Record*>& ended) {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* easy = message->easy_handle;
    const CURLcode code = message->data.result;
    Transfer* transfer = nullptr;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
    curl_multi_remove_handle(multi_, easy);  // `message` is gone with it
    end(*transfer, code);
    ended.push_back(transfer->record);
    const auto at = std::find_if(running_.begin(), running_.end(), [&](const auto& t) { return t.get() == transfer; });
    idle_.push_back(std::move(*at));
    *at = std::move(running_.back());
    running_.pop_back();
  }
}

std::vector<Record*> Client::wait(double until) {
  std::vector<Record*> ended;
  do {
    drive(until);
    take_ended(ended);
  } while (ended.empty() && now() < until);
  return ended;
}

std::vector<Record*> Client::abandon() {
  std::vector<Record*> ended;
  for (auto& transfer : running_) {
    curl_multi_remove_handle(multi_, transfer->easy.get());
    Record& record = *transfer->record;
    record.end = now();
    record.error = ErrorKind::interrupted;
    record.message = "interrupted";
    transfer->reader.finish();
    ended.push_back(&record);
    idle_.push_back(std::move(transfer));
  }
  running_.clear();
  return ended;
}

void Client::begin_cost() {
  cpu_begin_ = thread_cpu_seconds();
  turns_.clear();
}

ClientCost Client::cost() const {
  ClientCost cost{.cpu_seconds = thread_cpu_seconds() - cpu_begin_};
  if (turns_.empty()) return cost;
  cost.turn_max = *std::max_element(turns_.begin(), turns_.end());
  cost.turn_p99 = percentile(turns_, 99);
  return cost;
}

}  // namespace tessera::loadgen
