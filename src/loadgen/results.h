#pragma once

#include <string>
#include <vector>

#include "loadgen/case_summary.h"

// What is kept of a benchmark: JSON with every request in it, CSV with a line for each case, a page with plots.
namespace tessera::loadgen {

constexpr int kResultsVersion = 1;

/// `about`: what was run, on which server, by which command.
Json results_json(Json about, const std::vector<CaseResult>& cases);
/// Of what results_json has made.
std::string results_csv(const Json& results);
/// One file that asks for nothing else.
std::string results_page(const Json& results);
/// Reads a file of results; errors name it.
Expected<Json> read_results(const std::string& file);

}  // namespace tessera::loadgen
