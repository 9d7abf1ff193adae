#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/table.h"

// Pages of one file, without script and without anything from elsewhere.
namespace tessera::cli {

/// Text as HTML shows it, whatever is in it.
std::string html_text(std::string_view text);

/// A table of what format_table() takes.
std::string html_table(std::string_view alignment, const Rows& rows);

std::string html_facts(const std::vector<std::pair<std::string, std::string>>& facts);

struct Bar {
  struct Part {
    double value;
    std::string text;   // on the part, where it is wide enough, and under the pointer
    std::string group;  // parts of one group have one colour
  };
  std::string label;
  std::vector<Part> parts = {};  // from left to right
  std::string note = {};         // behind the bar
};

/// Bars below each other on one scale, the longest over the whole width, with what the colours mean. `limit` > 0: a
/// line there, called `limit_text`.
std::string html_bars(const std::vector<Bar>& bars, double limit = 0, std::string_view limit_text = "");

/// `body` is HTML.
std::string html_page(std::string_view title, std::string_view body);

}  // namespace tessera::cli
