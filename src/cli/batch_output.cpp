#include "cli/batch_output.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/write_all.h"
#include "cli/console.h"
#include "cli/read_input.h"

namespace tessera::cli {
namespace {

// How each line of ours begins. A last line without a newline is cut off only if it may be one.
constexpr std::string_view kLineStart = R"({"index":)";

bool may_be_ours(std::string_view torn) { return torn.starts_with(kLineStart) || kLineStart.starts_with(torn); }

}  // namespace

BatchOutput::BatchOutput(BatchOutput&& other) noexcept
    : file_(std::move(other.file_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      done_(std::move(other.done_)),
      failed_(other.failed_) {}

BatchOutput::~BatchOutput() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Expected<BatchOutput> BatchOutput::open(const std::string& file, int64_t lines) {
  if (file.empty()) return BatchOutput({}, -1);
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    return error(StatusCode::invalid_argument, "cannot write {}: {}", file, std::strerror(errno));
  }
  BatchOutput output(file, descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return error(StatusCode::unavailable, "{} is being written by another process", file);
  }
  TESSERA_RETURN_IF_ERROR(output.read_done(lines));
  return output;
}

Status BatchOutput::read_done(int64_t lines) {
  // A pipe or device (/dev/stdout) holds nothing to go on with.
  if (::lseek(descriptor_, 0, SEEK_END) <= 0) return {};
  TESSERA_ASSIGN_OR_RETURN(const std::string text, read_input(file_));
  const auto not_ours = [&](size_t number) {
    return error(StatusCode::corrupt_data,
                 "{} line {} is no answer to a prompt of this input ({} lines); name another --output or remove it",
                 file_, number, lines);
  };
  size_t at = 0;
  size_t number = 1;
  for (; at < text.size(); ++number) {
    const size_t newline = text.find('\n', at);
    if (newline == std::string::npos) break;
    const auto answer = nlohmann::json::parse(text.begin() + static_cast<ptrdiff_t>(at),
                                              text.begin() + static_cast<ptrdiff_t>(newline), nullptr, false);
    const bool has_index = answer.is_object() && answer.contains("index") && answer["index"].is_number_unsigned();
    if (!has_index || answer["index"].get<uint64_t>() >= static_cast<uint64_t>(lines)) {
      return not_ours(number);
    }
    const bool first = done_.insert(answer["index"].get<int64_t>()).second;
    failed_ += first && answer.contains("error") ? 1 : 0;
    at = newline + 1;
  }
  if (!may_be_ours(std::string_view(text).substr(at))) return not_ours(number);
  if (at < text.size() && ::ftruncate(descriptor_, static_cast<off_t>(at)) != 0) {
    return error(StatusCode::invalid_argument, "cannot cut the torn last line off {}: {}", file_, std::strerror(errno));
  }
  return {};
}

Status BatchOutput::write(const std::string& line) {
  const std::string text = line + "\n";
  if (descriptor_ < 0) {
    write_out(text);
    return {};
  }
  const int failure = write_all(descriptor_, text);
  if (failure == 0) return {};
  return error(StatusCode::resource_exhausted, "cannot write {}: {}; run the same command again to go on from here",
               file_, std::strerror(failure));
}

}  // namespace tessera::cli
