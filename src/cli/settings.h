#pragma once

#include <string>
#include <vector>

#include "tessera/engine.h"

// What was chosen at start, for --verbose: one table. docs/environment.md says the same of every setting.
namespace tessera::cli {

struct Setting {
  std::string name, value;
  std::string why;       // where the value comes from
  std::string override;  // the flag or variable that says otherwise; empty: nothing does
};

/// What an engine with `options` has chosen, which `fit` says, and what it finds on this machine: its cores, pages and
/// clock, and the variables of the environment that guides tell people to set.
std::vector<Setting> engine_settings(const EngineOptions& options, const FitReport& fit);

/// A table with a heading.
std::string settings_text(const std::vector<Setting>& settings);

}  // namespace tessera::cli
