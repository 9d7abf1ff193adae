#include "cli/html_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/page_style.h"
#include "cli/console.h"

namespace tessera::cli {
namespace {

/// Okabe and Ito's colours (2008), told apart by most eyes; made lighter for dark text.
constexpr std::array kColours = {"#9ecbf0", "#f5c46b", "#7fd1b3", "#f0a9cc",
                                 "#f3ec8a", "#f2a070", "#b9c2cc", "#8fb0dc"};

constexpr std::string_view kBarStyle = R"css(
  .bar { display: grid; grid-template-columns: 11rem 1fr; gap: 0 .8rem; margin: .25rem 0; align-items: center; }
  .bar > span { text-align: right; overflow-wrap: anywhere; }
  .track { position: relative; display: flex; height: 1.7rem; background: #f6f8fa; }
  .track > div { flex: none; overflow: hidden; white-space: nowrap; font-size: .8rem; line-height: 1.7rem; padding-left: .3rem;
    box-sizing: border-box; border-right: 1px solid #fff; min-width: 1px; }
  .track > .note { background: none; border: 0; overflow: visible; color: #57606a; }
  .track > .limit { position: absolute; top: -.25rem; bottom: -.25rem; padding: 0; border-right: 2px solid #b3261e; }
  .key { display: inline-block; padding: 0 .5rem; margin-right: .6rem; }
)css";

const char* colour_of(const std::vector<std::string>& groups, const std::string& group) {
  const auto at = static_cast<size_t>(std::ranges::find(groups, group) - groups.begin());
  return kColours[at % kColours.size()];
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : without_controls(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string html_table(std::string_view alignment, const Rows& rows) {
  std::string out = "<div class=\"wide\"><table>\n";
  for (size_t row = 0; row < rows.size(); ++row) {
    const char* cell = row == 0 ? "th" : "td";
    out += "<tr>";
    for (size_t column = 0; column < rows[row].size(); ++column) {
      out += fmt::format("<{} style=\"text-align:{}\">{}</{}>", cell, alignment[column] == '<' ? "left" : "right",
                         html_text(rows[row][column]), cell);
    }
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

std::string html_facts(const std::vector<std::pair<std::string, std::string>>& facts) {
  std::string out = "<dl>\n";
  for (const auto& [name, value] : facts) {
    out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", html_text(name), html_text(value));
  }
  return out + "</dl>\n";
}

std::string html_bars(const std::vector<Bar>& bars, double limit, std::string_view limit_text) {
  std::vector<std::string> groups;
  double longest = limit;
  for (const Bar& bar : bars) {
    double length = 0;
    for (const Bar::Part& part : bar.parts) {
      length += part.value;
      if (std::ranges::find(groups, part.group) == groups.end()) groups.push_back(part.group);
    }
    longest = std::max(longest, length);
  }
  // Room behind the longest for its note.
  const bool notes = std::ranges::any_of(bars, [](const Bar& bar) { return !bar.note.empty(); });
  const double percent = longest > 0 ? (notes ? 70 : 100) / longest : 0;
  std::string out = "<p>";
  for (const std::string& group : groups) {
    out += fmt::format("<span class=\"key\" style=\"background:{}\">{}</span>", colour_of(groups, group),
                       html_text(group));
  }
  if (limit > 0) out += fmt::format("<span style=\"color:#b3261e\">| {}</span>", html_text(limit_text));
  out += "</p>\n";
  for (const Bar& bar : bars) {
    out += fmt::format("<div class=\"bar\"><span>{}</span><div class=\"track\">", html_text(bar.label));
    for (const Bar::Part& part : bar.parts) {
      const std::string text = html_text(part.text);
      out += fmt::format("<div style=\"width:{:.3f}%;background:{}\" title=\"{}\">{}</div>", part.value * percent,
                         colour_of(groups, part.group), text, part.value * percent >= 6 ? text : "");
    }
    if (!bar.note.empty()) out += fmt::format("<div class=\"note\">{}</div>", html_text(bar.note));
    if (limit > 0) out += fmt::format("<div class=\"limit\" style=\"left:{:.3f}%\"></div>", limit * percent);
    out += "</div></div>\n";
  }
  return out;
}

std::string html_page(std::string_view title, std::string_view body) {
  const std::string name = html_text(title);
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}{}</style>\n</head>\n<body>\n<h1>{}</h1>\n{}</body>\n</html>\n",
      name, kPageStyle, kBarStyle, name, body);
}

}  // namespace tessera::cli
