#pragma once

#include <string_view>

// Files of this folder that are part of the binary.
namespace tessera::text {

/// A byte-level BPE tokenizer of 3072 tokens in the form of Qwen3.5's, and the tokenizer_config.json that goes with it:
/// for checkpoints without a tokenizer of their own. Trained by tools/train_test_tokenizer.py.
std::string_view bundled_tokenizer_json();
std::string_view bundled_tokenizer_config_json();

/// The chat template for models that have none.
std::string_view bundled_chat_template();

/// The program that renders chat templates (chat_template.h).
std::string_view template_worker_source();

}  // namespace tessera::text
