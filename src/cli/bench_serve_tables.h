#pragma once

#include <string>
#include <vector>

#include "loadgen/case_summary.h"
#include "loadgen/compare.h"

namespace tessera::cli {

void print_summaries(const std::vector<loadgen::Summary>& summaries);
void print_comparison(const std::string& file_a, const std::string& file_b, const loadgen::Comparison& comparison);

}  // namespace tessera::cli
