#pragma once

#include <string>
#include <vector>

namespace tessera::guide {

/// While it lives, what xgrammar warns of on this thread is kept: mostly parts of a schema that it leaves out of
/// account. One at a time on a thread.
class Warnings {
 public:
  Warnings();
  ~Warnings();
  Warnings(const Warnings&) = delete;
  Warnings& operator=(const Warnings&) = delete;

  [[nodiscard]] const std::vector<std::string>& messages() const { return messages_; }
  void add(std::string message) { messages_.push_back(std::move(message)); }

 private:
  std::vector<std::string> messages_;
};

}  // namespace tessera::guide
