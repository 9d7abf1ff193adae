#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.h"

// What is wrong with a machine, as a pure function of its facts.
namespace tessera::doctor {

enum class Level { ok, warn, fail };

/// Something that is looked at: its name is its anchor in docs/doctor.md.
struct Check {
  std::string_view name;
  std::string_view why;  // it matters
};
std::span<const Check> checks();
/// The check of this name, which must be one of checks().
const Check& find_check(std::string_view name);

struct Finding {
  std::string_view check;  // Check::name
  Level level = Level::ok;
  std::string found;
  std::string mend;  // the command or setting; empty: nothing is to be done
};

/// In the order of checks(); of a check that does not apply there is none, of one there may be several.
std::vector<Finding> check(const Facts& facts);

/// The worst of all.
Level worst(std::span<const Finding> findings);

// Each area adds its findings.
void check_gpus(const Facts& facts, std::vector<Finding>& findings);
void check_links(const Facts& facts, std::vector<Finding>& findings);
void check_host(const Facts& facts, std::vector<Finding>& findings);
void check_places(const Facts& facts, std::vector<Finding>& findings);
void check_model(const Facts& facts, std::vector<Finding>& findings);

/// "1.79 TB/s", "27.0 GB/s".
std::string rate_text(double bytes_per_second);

}  // namespace tessera::doctor
