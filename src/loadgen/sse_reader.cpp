#include "loadgen/sse_reader.h"

namespace tessera::loadgen {

bool SseReader::feed(std::string_view bytes, const std::function<bool(std::string_view)>& on_data) {
  while (!stopped_ && !bytes.empty()) {
    if (after_return_ && bytes.front() == '\n') bytes.remove_prefix(1);  // the second half of "\r\n"
    after_return_ = false;
    const size_t end = bytes.find_first_of("\r\n");
    if (end == std::string_view::npos) {
      line_ += bytes;
      stopped_ = line_.size() + data_.size() > kEventBytesMax;
      break;
    }
    after_return_ = bytes[end] == '\r';
    if (line_.empty()) {
      stopped_ = !line(bytes.substr(0, end), on_data);
    } else {
      line_ += bytes.substr(0, end);
      const std::string whole = std::move(line_);
      line_.clear();
      stopped_ = !line(whole, on_data);
    }
    bytes.remove_prefix(end + 1);
  }
  return !stopped_;
}

bool SseReader::line(std::string_view text, const std::function<bool(std::string_view)>& on_data) {
  if (text.empty()) {
    if (!has_data_) return true;
    has_data_ = false;
    const std::string data = std::move(data_);
    data_.clear();
    return on_data(data);
  }
  if (!text.starts_with("data:")) return true;  // a comment, or a field that nobody here asks for
  text.remove_prefix(text.starts_with("data: ") ? 6 : 5);
  if (has_data_) data_ += '\n';
  has_data_ = true;
  data_ += text;
  return data_.size() <= kEventBytesMax;
}

}  // namespace tessera::loadgen
