#pragma once

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <variant>

// How Tessera reports what went wrong. Three tiers:
//  - a bad request, file or flag: a returned Status or Expected<T>;
//  - a broken invariant: TESSERA_CHECK (src/base/check.h), which prints its operands and stops;
//  - a CUDA failure: a macro in src/device that quotes the call.
namespace tessera {

enum class StatusCode {
  ok,
  invalid_argument,    // the caller asked for something that makes no sense
  not_found,           // a file, a tensor or a model is not there
  corrupt_data,        // bytes from outside do not mean what they claim
  unsupported,         // well-formed, but this build or version cannot do it
  resource_exhausted,  // a named limit (memory, queue, length) is reached
  cancelled,           // stopped at the caller's wish
  unavailable,         // a helper process or device is gone; trying again may work
  internal,            // a fault of ours
};

/// Success, or a code and a message that says what was found, what was expected and what to do.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  [[nodiscard]] bool ok() const { return code_ == StatusCode::ok; }
  [[nodiscard]] StatusCode code() const { return code_; }
  [[nodiscard]] const std::string& message() const { return message_; }

  /// The same code, with "context: " put before the message.
  [[nodiscard]] Status with_context(const std::string& context) const {
    return ok() ? *this : Status(code_, context + ": " + message_);
  }

 private:
  StatusCode code_ = StatusCode::ok;
  std::string message_;
};

/// A value, or the Status that says why there is none. Taking the value of an error stops the program.
template <typename T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : value_(std::in_place_index<0>, std::move(value)) {}           // NOLINT(google-explicit-constructor)
  Expected(Status status) : value_(std::in_place_index<1>, std::move(status)) {     // NOLINT(google-explicit-constructor)
    if (std::get<1>(value_).ok()) die("Expected built from an ok Status");
  }

  [[nodiscard]] bool ok() const { return value_.index() == 0; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] Status status() const { return ok() ? Status() : std::get<1>(value_); }

  [[nodiscard]] T& operator*() & { return get(); }
  [[nodiscard]] const T& operator*() const& { return const_cast<Expected*>(this)->get(); }
  [[nodiscard]] T&& operator*() && { return std::move(get()); }
  T* operator->() { return &get(); }
  const T* operator->() const { return &const_cast<Expected*>(this)->get(); }

 private:
  T& get() {
    if (!ok()) die(std::get<1>(value_).message().c_str());
    return std::get<0>(value_);
  }
  [[noreturn]] static void die(const char* why) {
    std::fprintf(stderr, "tessera: value taken from a failed Expected: %s\n", why);
    std::abort();
  }
  std::variant<T, Status> value_;
};

}  // namespace tessera
