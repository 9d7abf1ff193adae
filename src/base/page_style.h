#pragma once

#include <string_view>

namespace tessera {

/// CSS of the pages that commands write: text, tables, definitions.
inline constexpr std::string_view kPageStyle = R"css(
  :root { color-scheme: light; font: 15px/1.5 system-ui, sans-serif; }
  body { max-width: 76rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f24; background: #fff; }
  h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
  table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
  .wide { overflow-x: auto; }
  th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid #d8dee4; white-space: nowrap; }
  th:first-child, td:first-child { text-align: left; }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; } dt { color: #57606a; } dd { margin: 0; overflow-wrap: anywhere; }
)css";

}  // namespace tessera
