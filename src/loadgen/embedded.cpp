#include "loadgen/embedded.h"

#include "base/embed.h"

// CMakeLists.txt says where they are.
TESSERA_EMBED(tessera_loadgen_prompts, TESSERA_LOADGEN_SOURCE "/prompts.txt")
TESSERA_EMBED(tessera_loadgen_page_html, TESSERA_LOADGEN_SOURCE "/page.html")
TESSERA_EMBED(tessera_loadgen_page_script, TESSERA_LOADGEN_SOURCE "/page.js")
TESSERA_EMBED(tessera_loadgen_chart, TESSERA_CHART_LIBRARY)
TESSERA_EMBED(tessera_loadgen_chart_license, TESSERA_CHART_LICENSE)

namespace tessera::loadgen {

std::string_view prompts_text() { return {tessera_loadgen_prompts, tessera_loadgen_prompts_end}; }
std::string_view page_html() { return {tessera_loadgen_page_html, tessera_loadgen_page_html_end}; }
std::string_view page_script() { return {tessera_loadgen_page_script, tessera_loadgen_page_script_end}; }
std::string_view chart_library() { return {tessera_loadgen_chart, tessera_loadgen_chart_end}; }
std::string_view chart_license() { return {tessera_loadgen_chart_license, tessera_loadgen_chart_license_end}; }

}  // namespace tessera::loadgen
