#include "kernels/embed.h"

#include "base/check.h"
#include "base/dtype.h"
#include "kernels/cpu/parallel.h"

namespace tessera::kernels {

void embed(const Context& context, const EmbedArgs& args) {
  const int64_t hidden = args.table->cols;
  const auto rows = static_cast<int64_t>(args.tokens.size());
  const bool round = context.compute == Compute::bf16;
  cpu::parallel_ranges(context, rows, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t token = args.tokens[static_cast<size_t>(row)];
      TESSERA_CHECK(token >= 0 && token < args.table->rows);
      float* out = args.out + row * hidden;
      decode_row(*args.table, token, out);
      for (int64_t i = 0; round && i < hidden; ++i) out[i] = round_to_bf16(out[i]);
    }
  });
}

}  // namespace tessera::kernels
