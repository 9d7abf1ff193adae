#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "server/limits.h"

namespace tessera::server {

/// What the operator of a server decides; the engine has its own options.
struct ServerOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 8000;                             // 0: any free one
  std::string unix_socket = {};                     // a path; if not empty, in place of host and port
  std::string ssl_certfile = {}, ssl_keyfile = {};  // PEM; both empty: no TLS

  std::vector<std::string> api_keys = {};         // empty: none is asked for
  std::vector<std::string> allowed_hosts = {};    // names of this server, asked for where no key is; "*": all
  std::vector<std::string> allowed_origins = {};  // of web pages besides the server's own; "*": all

  std::vector<std::string> served_names = {};  // at least one; the first is written to metrics
  std::string model_root = {};                 // where the weights are, for GET /v1/models
  std::string version = {};

  bool ignores_generation_config = false;                                     // sampling is neutral by default
  nlohmann::ordered_json sampling = nlohmann::ordered_json::object();         // wins over generation_config.json
  nlohmann::ordered_json template_kwargs = nlohmann::ordered_json::object();  // where a request is silent
  std::vector<std::string> template_kwargs_allowed = {};  // that requests may set, besides the usual ones

  bool stops_everywhere = false;  // stop strings match in thinking and calls too
  bool drops_media = false;       // pictures are left out of requests, not refused

  bool access_log = true;
  bool state_line = false;  // one line a second of what the engine does, while it changes
  Limits limits = {};
};

}  // namespace tessera::server
