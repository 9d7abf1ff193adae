#include "guide/xgrammar_log.h"

#include <spdlog/spdlog.h>

#include <stdexcept>
#include <utility>

#include "base/check.h"

namespace tessera::guide {
namespace {

thread_local Warnings* warnings = nullptr;

}  // namespace

Warnings::Warnings() {
  TESSERA_CHECK(warnings == nullptr);
  warnings = this;
}

Warnings::~Warnings() { warnings = nullptr; }

}  // namespace tessera::guide

// What xgrammar calls when it is built with XGRAMMAR_LOG_CUSTOMIZE.
namespace xgrammar {

constexpr int kWarning = 2;

[[noreturn]] void LogFatalImpl(const std::string& /*file*/, int /*line*/, const std::string& message) {
  // "Check failed: (EXPRESSION) is false: what a client can do something with"
  static constexpr std::string_view kExpression = ") is false: ";
  const bool check = message.find("heck failed: (") < 16;
  const size_t end = check ? message.find(kExpression) : std::string::npos;
  std::string text = end == std::string::npos ? message : message.substr(end + kExpression.size());
  throw std::runtime_error(text.empty() ? message : std::move(text));
}

void LogMessageImpl(const std::string& /*file*/, int /*line*/, int level, const std::string& message) {
  if (level >= kWarning && tessera::guide::warnings != nullptr) return tessera::guide::warnings->add(message);
  spdlog::debug("xgrammar: {}", message);
}

}  // namespace xgrammar
