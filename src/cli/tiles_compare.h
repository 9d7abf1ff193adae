#pragma once

namespace tessera::cli {

/// Prints the stock K = 128 tiles beside ours, on a GPU with 99 KB of shared memory a block and on one with 227 KB:
/// bytes of a stage, stages, resident blocks, and how many tiles of each K exist.
void print_k128_comparison();

}  // namespace tessera::cli
