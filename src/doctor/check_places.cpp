#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/byte_text.h"
#include "doctor/check.h"
#include "doctor/environment.h"

namespace tessera::doctor {
namespace {

void environment(const EnvironmentFacts& facts, std::vector<Finding>& findings) {
  std::vector<std::string> acting, unused;
  for (const auto& [name, value] : facts.variables) {
    const VariableRule* rule = find_rule(name);
    if (rule == nullptr) continue;
    switch (rule->effect) {
      case VariableEffect::nothing: unused.push_back(name); break;
      case VariableEffect::instead:
        findings.push_back(
            {"environment-unused", Level::warn, fmt::format("{} has no effect", name), std::string(rule->text)});
        break;
      case VariableEffect::acts: acting.push_back(name); break;
      case VariableEffect::slows:
        if (value == "0") break;
        findings.push_back({"environment", Level::warn, fmt::format("{}: {}", name, rule->text), "unset " + name});
        break;
      case VariableEffect::hides_gpus:
        if (value.empty() || value == "-1") {
          findings.push_back({"environment", Level::warn, name + " hides every GPU", "unset " + name});
        } else {
          acting.push_back(value == "set" ? name : name + "=" + value);
        }
        break;
    }
  }
  if (!acting.empty())
    findings.push_back({"environment", Level::ok, fmt::format("has effect: {}", fmt::join(acting, ", ")), ""});
  if (!unused.empty()) {
    findings.push_back(
        {"environment-unused", Level::ok, fmt::format("for others, without effect: {}", fmt::join(unused, ", ")), ""});
  }
}

void places(const PlaceFacts& facts, std::vector<Finding>& findings) {
  if (facts.port > 0) {
    const bool free = facts.port_error.empty();
    findings.push_back(
        {"port", free ? Level::ok : Level::warn,
         free ? fmt::format("{} is free", facts.port) : fmt::format("{}: {}", facts.port, facts.port_error),
         free ? ""
              : fmt::format("ss -ltnp 'sport = :{}' shows who listens there; tessera serve --port N", facts.port)});
  }
  constexpr int64_t kFreeMin = 64 << 20;
  if (!facts.cache_error.empty()) {
    findings.push_back({"cache-directory", Level::warn,
                        fmt::format("{} cannot be written: {}", facts.cache_directory, facts.cache_error),
                        "make it writable, or set XDG_CACHE_HOME to a directory that is"});
  } else if (facts.cache_free_bytes && *facts.cache_free_bytes < kFreeMin) {
    findings.push_back({"cache-directory", Level::warn,
                        fmt::format("{} has {} free", facts.cache_directory,
                                    format_bytes(static_cast<uint64_t>(*facts.cache_free_bytes))),
                        "free some room there, or set XDG_CACHE_HOME to another directory"});
  } else {
    findings.push_back({"cache-directory", Level::ok, facts.cache_directory + " can be written", ""});
  }
}

}  // namespace

void check_places(const Facts& facts, std::vector<Finding>& findings) {
  environment(facts.environment, findings);
  if (facts.places) places(*facts.places, findings);
}

}  // namespace tessera::doctor
