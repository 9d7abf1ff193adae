#include "model/weight_profile.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <set>
#include <vector>

#include "base/ascii.h"
#include "format/printable.h"

namespace tessera::model {
namespace {

using format::WeightFormat;
using enum TensorKind;

constexpr std::array kProfiles = {"p1", "v2", "p6"};
constexpr std::string_view kAllLinear = "Linear";  // as a target: every linear module
constexpr std::array kProfiled = {attention, delta_net, routed_expert, shared_expert, mlp, lm_head};

/// Names under which files know a module: with the language model's prefix, and without.
std::vector<std::string> spellings(const std::string& canonical) {
  static constexpr std::string_view kPrefix = "model.";
  if (!canonical.starts_with(kPrefix)) return {canonical};
  return {canonical, "model.language_model." + canonical.substr(kPrefix.size()), "language_model." + canonical};
}

/// Whether a name, "re:" expression, glob or beginning of a name is about a module.
bool is_about(const std::string& pattern, const std::string& module) {
  for (const std::string& name : spellings(module)) {
    if (pattern.starts_with("re:")) {
      try {
        const std::regex expression(pattern.substr(3));
        if (std::regex_search(name, expression, std::regex_constants::match_continuous)) return true;
      } catch (const std::regex_error&) {
        return false;  // what no reader of the file would match either
      }
    } else if (::fnmatch(pattern.c_str(), name.c_str(), 0) == 0 || name.starts_with(pattern + ".")) {
      return true;
    }
  }
  return false;
}

}  // namespace

Expected<KindFormats> profile_formats(std::string_view name) {
  if (std::find(kProfiles.begin(), kProfiles.end(), name) == kProfiles.end()) {
    return error(StatusCode::not_found, "no profile \"{}\"; there are {}", format::printable(std::string(name)),
                 fmt::join(kProfiles, ", "));
  }
  KindFormats formats = {{routed_expert, WeightFormat::nvfp4}, {mlp, WeightFormat::nvfp4}};
  if (name == "p1") return formats;
  formats[attention] = formats[delta_net] = formats[shared_expert] = WeightFormat::fp8_e4m3;
  if (name == "p6") formats[shared_expert] = formats[lm_head] = WeightFormat::nvfp4;
  return formats;
}

std::string profile_name(const WeightPlan& plan) {
  std::map<TensorKind, std::set<WeightFormat>> stored;
  std::set<WeightFormat> all;
  plan.for_each([&](const PlannedBlock& block, const Placement& p) {
    if (p.matrix == nullptr || block.mtp) return;
    all.insert(p.matrix->format);
    stored[p.kind].insert(p.matrix->format);
  });
  if (all.size() == 1) return std::string(format::name(*all.begin()));
  for (const char* profile : kProfiles) {
    const KindFormats formats = *profile_formats(profile);
    const bool matches = std::all_of(kProfiled.begin(), kProfiled.end(), [&](TensorKind kind) {
      const auto listed = formats.find(kind);
      const WeightFormat wanted = listed == formats.end() ? WeightFormat::bf16 : listed->second;
      const auto found = stored.find(kind);
      return found == stored.end() || found->second == std::set<WeightFormat>{wanted};
    });
    if (matches) return upper(std::string(profile));
  }
  return "mixed";
}

Expected<KindFormats> configured_formats(const format::Checkpoint& checkpoint, const ModelConfig& config) {
  TESSERA_ASSIGN_OR_RETURN(const auto quantization, format::read_quantization_info(checkpoint));
  if (!quantization.method.empty() && quantization.targets.empty()) {
    return error(StatusCode::unsupported,
                 "{}: quantization_config ({}) names no format that Tessera reads: NVFP4, MXFP4 or FP8",
                 format::printable(checkpoint.directory().string()), format::printable(quantization.method));
  }
  TESSERA_ASSIGN_OR_RETURN(const WeightPlan plan, plan_dummy_weights(config, {}, {.with_mtp = true}));
  std::map<TensorKind, std::vector<const std::string*>> modules;
  plan.for_each([&](const PlannedBlock&, const Placement& p) {
    if (p.matrix != nullptr) modules[p.kind].push_back(&p.name);
  });
  KindFormats formats;
  for (const auto& [kind, names] : modules) {
    const std::string& module = *names[names.size() / 2];
    const auto ignored = [&](const std::string& pattern) { return is_about(pattern, module); };
    if (std::any_of(quantization.ignored.begin(), quantization.ignored.end(), ignored)) continue;
    // A target that names modules goes before "Linear", which is all of them, wherever either stands.
    const auto& targets = quantization.targets;
    const auto named = std::find_if(targets.begin(), targets.end(),
                                    [&](const auto& t) { return t.first != kAllLinear && is_about(t.first, module); });
    const auto all = std::find_if(targets.begin(), targets.end(), [](const auto& t) { return t.first == kAllLinear; });
    if (named != targets.end()) {
      formats[kind] = named->second;
    } else if (all != targets.end() && kind != embed) {
      formats[kind] = all->second;
    }
  }
  return formats;
}

}  // namespace tessera::model
