#include "loadgen/sse_reader.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace tessera::loadgen {
namespace {

using Texts = std::vector<std::string>;

Texts read(const Texts& pieces) {
  Texts events;
  SseReader reader;
  for (const std::string& piece : pieces) {
    EXPECT_TRUE(reader.feed(piece, [&](std::string_view data) {
      events.emplace_back(data);
      return true;
    }));
  }
  return events;
}

TEST(SseReader, ReadsWhatTheFormatAllows) {
  EXPECT_EQ(read({"data: a\n\ndata:b\r\n\r\n: comment\n\nevent: x\ndata: c\ndata: d\n\nid: 7\n\n"}),
            (Texts{"a", "b", "c\nd"}));
  EXPECT_EQ(read({"data: a\r\rdata:  b\n\n"}), (Texts{"a", " b"}));
  EXPECT_EQ(read({"data:\n\n"}), Texts{""});
  EXPECT_EQ(read({"data: unfinished\n"}), Texts{});
}

/// Wherever the network cuts them, the same events come out.
RC_GTEST_PROP(SseReader, CutsMeanNothing, (const std::vector<uint8_t>& cuts)) {
  const std::string text = "data: {\"a\": 1}\r\n\r\n:ping\r\n\r\ndata: x\ndata: y\n\ndata: [DONE]\n\n";
  Texts pieces;
  size_t at = 0;
  for (const uint8_t cut : cuts) {
    const size_t size = std::min<size_t>(cut % 7, text.size() - at);
    pieces.push_back(text.substr(at, size));
    at += size;
  }
  pieces.push_back(text.substr(at));
  RC_ASSERT(read(pieces) == (Texts{"{\"a\": 1}", "x\ny", "[DONE]"}));
}

TEST(SseReader, EventsWithoutEndAreRefused) {
  SseReader reader;
  const std::string piece(1 << 20, 'x');
  const auto ignore = [](std::string_view) { return true; };
  int pieces = 0;
  while (pieces < 100 && reader.feed(piece, ignore)) ++pieces;
  EXPECT_EQ(pieces, 16);
  EXPECT_FALSE(reader.feed("\n\n", ignore));
}

/// Nor those of many lines, whole or not.
TEST(SseReader, EventsOfManyLinesHaveAnEndToo) {
  const std::string line = "data: " + std::string(size_t{1} << 20, 'x') + "\n";
  const auto ignore = [](std::string_view) { return true; };
  SseReader lines;
  int fed = 0;
  while (fed < 100 && lines.feed(line, ignore)) ++fed;
  EXPECT_EQ(fed, 15) << "with their line breaks";
  SseReader part;
  for (int i = 0; i < 15; ++i) EXPECT_TRUE(part.feed(line, ignore));
  EXPECT_FALSE(part.feed("data: " + std::string(size_t{2} << 20, 'x'), ignore));
}

TEST(SseReader, StopsWhenToldTo) {
  SseReader reader;
  int events = 0;
  EXPECT_FALSE(reader.feed("data: a\n\ndata: b\n\n", [&](std::string_view) { return ++events > 1; }));
  EXPECT_EQ(events, 1);
}

}  // namespace
}  // namespace tessera::loadgen
