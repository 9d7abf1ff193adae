#pragma once

#include <memory>
#include <vector>

#include "kernels/backend.h"

namespace tessera::model {

/// One decoder layer: a mixer, then a feed-forward network. Of each pair one is there.
struct Layer {
  std::unique_ptr<kernels::AttentionBlock> attention;
  std::unique_ptr<kernels::DeltaNetBlock> delta_net;
  std::unique_ptr<kernels::MoeBlock> moe;
  std::unique_ptr<kernels::MlpBlock> mlp;
};

/// The multi-token-prediction head: full-attention layers behind an input of their own.
struct Mtp {
  std::unique_ptr<kernels::MtpInput> input;
  std::vector<Layer> layers;
  std::unique_ptr<kernels::Head> head;
};

struct Layers {
  std::unique_ptr<kernels::Embedding> embedding;
  std::vector<Layer> layers;
  std::unique_ptr<kernels::Head> head;
  std::unique_ptr<Mtp> mtp;  // null: the checkpoint has none
};

}  // namespace tessera::model
