#include "server/http/http_server.h"

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <thread>
#include <vector>

#include "server/http/connection.h"
#include "server/http/http_text.h"

namespace tessera::server {
namespace {

using asio::ip::tcp;
using boost::system::error_code;
using Local = asio::local::stream_protocol;

constexpr std::chrono::milliseconds kTick(250);         // deadlines are looked at this often
constexpr std::chrono::milliseconds kAcceptPause(100);  // after a failure such as too many open files
constexpr int kSendBufferBytes = 256 << 10;             // of the kernel, for each client: unread answers pile up here

Status failed(const std::string& what, const error_code& why) {
  return {StatusCode::unavailable, fmt::format("{}: {}", what, why.message())};
}

template <typename Option>
void set(Socket& socket, int level, int name, Option value) {
  ::setsockopt(socket.native_handle(), level, name, &value, sizeof value);
}

/// A client whose machine is gone says nothing: the kernel asks it, and gives up.
void prepare_socket(Socket& socket, const HttpLimits& limits, bool is_tcp) {
  set(socket, SOL_SOCKET, SO_SNDBUF, kSendBufferBytes);
  if (!is_tcp) return;
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, 20);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, 4);
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT,
      static_cast<int>(std::min<int64_t>(limits.write_stall_seconds_max, 86400)) * 1000);
}

Status load_tls(const HttpOptions& options, std::optional<asio::ssl::context>& tls) {
  if (options.ssl_certfile.empty() && options.ssl_keyfile.empty()) return {};
  if (options.ssl_certfile.empty()) {
    return {StatusCode::invalid_argument,
            "ssl_keyfile is given without ssl_certfile, the certificate that belongs to it"};
  }
  tls.emplace(asio::ssl::context::tls_server);
  SSL_CTX_set_min_proto_version(tls->native_handle(), TLS1_2_VERSION);
  SSL_CTX_set_mode(tls->native_handle(), SSL_MODE_RELEASE_BUFFERS);
  error_code ec;
  tls->use_certificate_chain_file(options.ssl_certfile, ec);
  if (ec) return failed(options.ssl_certfile + ": no PEM certificate chain could be read", ec);
  const std::string& key = options.ssl_keyfile.empty() ? options.ssl_certfile : options.ssl_keyfile;
  tls->use_private_key_file(key, asio::ssl::context::pem, ec);
  if (ec) return failed(key + ": no PEM private key of that certificate could be read", ec);
  return {};
}

using FileId = std::pair<dev_t, ino_t>;

/// What is at `path`, whatever it is; nothing if nothing is.
std::optional<FileId> file_of(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return std::nullopt;
  return FileId(info.st_dev, info.st_ino);
}

/// Makes room for a socket at `path`, if what is there is one of a server that was killed.
Status clear_socket(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return {};
  if (!S_ISSOCK(info.st_mode)) {
    return {StatusCode::invalid_argument,
            fmt::format("{}: there is a file that is no socket; expected a free path for the server's (unix_socket)",
                        path)};
  }
  asio::io_context io;
  Local::socket probe(io);
  error_code ec;
  probe.connect(Local::endpoint(path), ec);
  if (ec == boost::system::errc::connection_refused) {  // nobody listens
    ::unlink(path.c_str());
    return {};
  }
  if (ec) return failed(path + ": there is a socket, and whether it is in use cannot be found out", ec);
  return {StatusCode::unavailable,
          fmt::format("{}: a server listens there; choose another path (unix_socket), or end that server", path)};
}

}  // namespace

struct HttpServer::State {
  explicit State(HttpOptions given, HttpCallbacks callbacks) : options(std::move(given)) {
    network.limits = options.limits;
    network.callbacks = std::move(callbacks);
  }

  Status bind();
  Status bind_tcp();
  Status bind_unix();
  template <typename Acceptor>
  asio::awaitable<void> accept(Acceptor& acceptor);
  void take(Socket socket, std::string client, bool is_tcp);
  asio::awaitable<void> tick();
  asio::awaitable<void> repeat(std::chrono::duration<double> period, std::function<void()> task);
  void stop_listening();

  HttpOptions options;
  std::string url;
  uint16_t port = 0;
  asio::io_context io{1};
  Network network;
  std::optional<tcp::acceptor> acceptor;
  std::optional<Local::acceptor> unix_acceptor;
  std::optional<FileId> bound;  // what is at unix_socket
  std::vector<std::pair<double, std::function<void()>>> repeated;
  std::thread thread;
};

Status HttpServer::State::bind() {
  TESSERA_RETURN_IF_ERROR(load_tls(options, network.tls));
  return options.unix_socket.empty() ? bind_tcp() : bind_unix();
}

Status HttpServer::State::bind_tcp() {
  const std::string where = fmt::format("{}:{}", options.host, options.port);
  error_code ec;
  tcp::resolver resolver(io);
  const auto found = resolver.resolve(options.host, std::to_string(options.port),
                                      tcp::resolver::passive | tcp::resolver::numeric_service, ec);
  if (ec) return failed("cannot listen on " + where, ec);
  for (const auto& entry : found) {
    acceptor.emplace(io);
    const tcp::endpoint endpoint = entry.endpoint();
    acceptor->open(endpoint.protocol(), ec);
    if (!ec) acceptor->set_option(asio::socket_base::reuse_address(true), ec);
    if (!ec) acceptor->bind(endpoint, ec);
    if (!ec) acceptor->listen(asio::socket_base::max_listen_connections, ec);
    if (!ec) break;
  }
  if (ec) {
    return failed("cannot listen on " + where, ec)
        .with_context(ec == boost::system::errc::address_in_use ? "choose another port, or end what uses this one"
                                                                : "host, port");
  }
  port = acceptor->local_endpoint().port();
  const bool v6 = options.host.find(':') != std::string::npos;
  url = fmt::format("{}://{}{}{}:{}", network.tls ? "https" : "http", v6 ? "[" : "", options.host, v6 ? "]" : "", port);
  return {};
}

Status HttpServer::State::bind_unix() {
  const std::string& path = options.unix_socket;
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path) {
    return {StatusCode::invalid_argument,
            fmt::format("{}: a socket's path has at most {} bytes (unix_socket)", path, sizeof address.sun_path - 1)};
  }
  TESSERA_RETURN_IF_ERROR(clear_socket(path));
  error_code ec;
  unix_acceptor.emplace(io);
  unix_acceptor->open(Local(), ec);
  if (!ec) unix_acceptor->bind(Local::endpoint(path), ec);
  if (!ec) unix_acceptor->listen(asio::socket_base::max_listen_connections, ec);
  if (ec) return failed("cannot listen on " + path, ec);
  bound = file_of(path);
  url = fmt::format("unix:{}", path);
  return {};
}

template <typename Acceptor>
asio::awaitable<void> HttpServer::State::accept(Acceptor& from) {
  asio::steady_timer pause(io);
  while (from.is_open()) {
    auto [ec, socket] = co_await from.async_accept(kResult);
    if (ec == asio::error::operation_aborted) break;
    if (ec) {
      pause.expires_after(kAcceptPause);
      co_await pause.async_wait(kResult);
      continue;
    }
    constexpr bool kTcp = std::is_same_v<Acceptor, tcp::acceptor>;
    std::string client = "unix";
    if constexpr (kTcp) {
      error_code gone;
      const auto peer = socket.remote_endpoint(gone);
      if (gone) continue;
      client = fmt::format("{}:{}", peer.address().to_string(), peer.port());
    }
    take(Socket(std::move(socket)), std::move(client), kTcp);
  }
}

void HttpServer::State::take(Socket socket, std::string client, bool is_tcp) {
  prepare_socket(socket, options.limits, is_tcp);
  error_code ignored;
  socket.non_blocking(true, ignored);
  if (network.connections.size() >= static_cast<size_t>(options.limits.connections_max)) {
    if (network.tls) return;
    HttpReply reply =
        network.callbacks.fault(503, "the server has as many connections as it takes; try again later", "");
    std::string text;
    append_reply_head(reply, BodyFraming::length, reply.body.size(), /*keep_alive=*/false, text);
    socket.write_some(asio::buffer(text + reply.body), ignored);
    return;
  }
  std::make_shared<Connection>(std::move(socket), std::move(client), network)->start();
}

asio::awaitable<void> HttpServer::State::tick() {
  asio::steady_timer timer(io);
  for (;;) {
    timer.expires_after(kTick);
    co_await timer.async_wait(kResult);
    const auto now = Clock::now();
    const auto connections = std::vector(network.connections.begin(), network.connections.end());  // some may end
    for (const auto& connection : connections) connection->tick(now);
  }
}

asio::awaitable<void> HttpServer::State::repeat(std::chrono::duration<double> period, std::function<void()> task) {
  asio::steady_timer timer(io);
  for (;;) {
    timer.expires_after(std::chrono::duration_cast<Clock::duration>(period));
    co_await timer.async_wait(kResult);
    task();
  }
}

void HttpServer::State::stop_listening() {
  error_code ignored;
  if (acceptor) acceptor->close(ignored);
  if (unix_acceptor && unix_acceptor->is_open()) {
    unix_acceptor->close(ignored);
    // Somebody may have put another in its place.
    if (file_of(options.unix_socket) == bound) ::unlink(options.unix_socket.c_str());
  }
}

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Expected<std::unique_ptr<HttpServer>> HttpServer::open(HttpOptions options, HttpCallbacks callbacks) {
  auto state = std::make_unique<State>(std::move(options), std::move(callbacks));
  TESSERA_RETURN_IF_ERROR(state->bind());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

HttpServer::~HttpServer() {
  if (state_->thread.joinable()) {
    post([this] {
      state_->stop_listening();
      close_connections();
      // Behind what closing has led to.
      asio::post(state_->io, [this] { asio::post(state_->io, [this] { state_->io.stop(); }); });
    });
    state_->thread.join();
  }
}

void HttpServer::run() {
  State& s = *state_;
  if (s.acceptor) asio::co_spawn(s.io, s.accept(*s.acceptor), asio::detached);
  if (s.unix_acceptor) asio::co_spawn(s.io, s.accept(*s.unix_acceptor), asio::detached);
  asio::co_spawn(s.io, s.tick(), asio::detached);
  for (auto& [seconds, task] : s.repeated) {
    asio::co_spawn(s.io, s.repeat(std::chrono::duration<double>(seconds), std::move(task)), asio::detached);
  }
  s.thread = std::thread([&s] {
    pthread_setname_np(pthread_self(), "network");
    const auto work = asio::make_work_guard(s.io);
    for (;;) {
      try {
        s.io.run();
        return;
      } catch (const std::exception& failure) {  // such as out of memory in one request's handler: the others go on
        spdlog::error("the network thread met {}", failure.what());
      }
    }
  });
}

const std::string& HttpServer::url() const { return state_->url; }
uint16_t HttpServer::port() const { return state_->port; }
void HttpServer::post(std::function<void()> task) { asio::post(state_->io, std::move(task)); }

void HttpServer::every(double seconds, std::function<void()> task) {
  state_->repeated.emplace_back(seconds, std::move(task));
}

void HttpServer::drain() {
  state_->stop_listening();
  state_->network.draining = true;
}

void HttpServer::close_connections() {
  const auto connections = std::vector(state_->network.connections.begin(), state_->network.connections.end());
  for (const auto& connection : connections) connection->lose();
}

int HttpServer::connections() const { return static_cast<int>(state_->network.connections.size()); }
int HttpServer::exchanges() const { return state_->network.exchanges; }

bool HttpServer::receiving() const {
  const auto& all = state_->network.connections;
  return std::any_of(all.begin(), all.end(), [](const auto& connection) { return connection->receiving(); });
}

bool HttpServer::sending() const {
  const auto& all = state_->network.connections;
  return std::any_of(all.begin(), all.end(), [](const auto& connection) { return connection->unsent() > 0; });
}

}  // namespace tessera::server
