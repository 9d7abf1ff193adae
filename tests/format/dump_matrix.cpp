// dump_matrix DIRECTORY MODULE...: opens the checkpoint in DIRECTORY and writes the fp32 values of each module's matrix
// to standard output, row by row, in the machine's byte order.
#include <cstdio>
#include <vector>

#include "format/checkpoint.h"
#include "format/decode.h"

int main(int argc, char** argv) {
  using namespace tessera::format;
  if (argc < 3) {
    std::fprintf(stderr, "usage: dump_matrix DIRECTORY MODULE...\n");
    return 2;
  }
  const auto checkpoint = Checkpoint::open(argv[1]);
  if (!checkpoint.ok()) {
    std::fprintf(stderr, "%s\n", checkpoint.status().message().c_str());
    return 1;
  }
  for (int i = 2; i < argc; ++i) {
    const auto view = checkpoint->matrix(argv[i]);
    if (!view.ok()) {
      std::fprintf(stderr, "%s\n", view.status().message().c_str());
      return 1;
    }
    std::vector<float> row(static_cast<size_t>(view->cols));
    for (int64_t r = 0; r < view->rows; ++r) {
      decode_row(*view, r, row);
      if (std::fwrite(row.data(), sizeof(float), row.size(), stdout) != row.size()) return 1;
    }
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}
