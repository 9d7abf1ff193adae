#include "server/openai/error_json.h"

#include "server/request/json_text.h"

namespace tessera::server::openai {

std::string error_json(const ApiError& error) {
  const auto text_or_null = [](const std::string& text, std::string& out) {
    if (text.empty()) {
      out += "null";
    } else {
      append_string(text, out);
    }
  };
  std::string out = R"({"error":{"message":)";
  append_string(error.message, out);
  out += R"(,"type":)";
  append_string(error.type, out);
  out += R"(,"param":)";
  text_or_null(error.param, out);
  out += R"(,"code":)";
  text_or_null(error.code, out);
  return out + "}}";
}

}  // namespace tessera::server::openai
