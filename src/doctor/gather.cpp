#include "doctor/gather.h"

namespace tessera::doctor {

Facts gather(const Tree& tree, const GatherOptions& options) {
  Facts facts;
  facts.host = gather_host(tree, options);
  facts.environment = gather_environment(tree, options);
  facts.pci = gather_pci(tree);
  facts.gpu = gather_gpus(tree, options);
  if (options.live) facts.places = gather_places(options.port);
  if (!options.model.empty()) facts.model = gather_model(facts.gpu, options);
  return facts;
}

}  // namespace tessera::doctor
