#include "kernels/skewed_router.h"

#include "kernels/atom.h"

namespace tessera::kernels {

void skew_dummy_router(MatrixSource& router) {
  constexpr float kFalloff = 0.9F;
  if (router.parts.size() != 1 || router.parts[0].data != nullptr) return;
  const format::MatrixView all = router.parts[0];
  router.parts.clear();
  float scale = all.scale;
  for (int64_t i = 0, begin = 0; i < kAtomPartsMax; ++i, scale *= kFalloff) {
    const int64_t end = all.rows * (i + 1) / kAtomPartsMax;
    if (end == begin) continue;
    format::MatrixView& part = router.parts.emplace_back(all);
    part.rows = end - begin;
    part.scale = scale;
    begin = end;
  }
}

}  // namespace tessera::kernels
