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

/// Takes the lock of a file; whether another process has it. On file systems without locks nobody does.
bool locked_by_another(int descriptor) { return ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; }

}  // namespace

BatchOutput::BatchOutput(BatchOutput&& other) noexcept
    : file_(std::move(other.file_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      replaced_(std::exchange(other.replaced_, -1)),
      digests_(std::move(other.digests_)),
      done_(std::move(other.done_)),
      failed_(other.failed_),
      stale_(other.stale_) {}

BatchOutput::~BatchOutput() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (replaced_ >= 0) ::close(replaced_);
}

Expected<BatchOutput> BatchOutput::open(const std::string& file, std::vector<std::string> digests) {
  if (file.empty()) return BatchOutput({}, -1, std::move(digests));
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    return error(StatusCode::invalid_argument, "cannot write {}: {}", file, std::strerror(errno));
  }
  BatchOutput output(file, descriptor, std::move(digests));
  if (locked_by_another(descriptor)) {
    return error(StatusCode::unavailable, "{} is being written by another process", file);
  }
  TESSERA_RETURN_IF_ERROR(output.read_done());
  return output;
}

Status BatchOutput::read_done() {
  // A pipe or device (/dev/stdout) holds nothing to go on with.
  if (::lseek(descriptor_, 0, SEEK_END) <= 0) return {};
  TESSERA_ASSIGN_OR_RETURN(const std::string text, read_input(file_));
  const auto not_ours = [&](size_t number) {
    return error(StatusCode::corrupt_data,
                 "{} line {} is no answer to a prompt of this input ({} lines); name another --output or remove it",
                 file_, number, digests_.size());
  };
  std::string kept;
  size_t at = 0;
  size_t number = 1;
  for (; at < text.size(); ++number) {
    const size_t newline = text.find('\n', at);
    if (newline == std::string::npos) break;
    const auto answer = nlohmann::json::parse(text.begin() + static_cast<ptrdiff_t>(at),
                                              text.begin() + static_cast<ptrdiff_t>(newline), nullptr, false);
    const bool has_index = answer.is_object() && answer.contains("index") && answer["index"].is_number_unsigned();
    const nlohmann::json said = has_index ? answer.value("digest", nlohmann::json("")) : nlohmann::json();
    if (!has_index || answer["index"].get<uint64_t>() >= digests_.size() || !said.is_string()) return not_ours(number);
    const auto index = answer["index"].get<int64_t>();
    if (said == digest(index) && done_.insert(index).second) {
      failed_ += answer.contains("error") ? 1 : 0;
      kept.append(text, at, newline + 1 - at);
    } else {
      ++stale_;
    }
    at = newline + 1;
  }
  if (!may_be_ours(std::string_view(text).substr(at))) return not_ours(number);
  if (stale_ > 0) return replace(kept);
  if (at < text.size() && ::ftruncate(descriptor_, static_cast<off_t>(at)) != 0) {
    return error(StatusCode::invalid_argument, "cannot cut the torn last line off {}: {}", file_, std::strerror(errno));
  }
  return {};
}

/// Puts a file with `text` in the place of the one that is open, at once: whatever ends the program leaves one of them.
Status BatchOutput::replace(const std::string& text) {
  const std::string next = file_ + ".new";
  const int descriptor = ::open(next.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  const bool usable = descriptor >= 0 && !locked_by_another(descriptor);
  const int failure = !usable ? errno : write_all(descriptor, text);
  if (failure != 0 || ::fsync(descriptor) != 0 || ::rename(next.c_str(), file_.c_str()) != 0) {
    const int why = failure != 0 ? failure : errno;
    if (descriptor >= 0) ::close(descriptor);
    return error(StatusCode::invalid_argument, "cannot take old answers out of {}: {}", file_, std::strerror(why));
  }
  replaced_ = std::exchange(descriptor_, descriptor);
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
