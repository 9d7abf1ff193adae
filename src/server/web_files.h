#pragma once

#include <span>
#include <string_view>

namespace tessera::server {

struct WebFile {
  std::string_view path;   // "/app.js"
  std::string_view bytes;  // as long as the program runs
};

/// The files of the page: src/server/web and libraries of the distribution, as they were when this program was built.
std::span<const WebFile> web_files();

}  // namespace tessera::server
