#pragma once

#include <string_view>

// Files that are built into the program.
namespace tessera::loadgen {

std::string_view prompts_text();   // prompts.txt
std::string_view page_html();      // page.html: the frame of a report
std::string_view page_script();    // page.js
std::string_view chart_library();  // Chart.js, as the distribution has it
std::string_view chart_license();

}  // namespace tessera::loadgen
