#pragma once

#include <array>
#include <string>
#include <string_view>

// The dialect of Qwen3 models (reasoning parser "qwen3", tool call parser "qwen3_coder"): the marks that answers are
// made of. Whoever reads answers or begins them for the model takes the marks from here; what they mean is said at the
// parsers.
namespace tessera::text::dialect {

inline constexpr std::string_view kReasoningParser = "qwen3";
inline constexpr std::string_view kToolCallParser = "qwen3_coder";

inline constexpr std::string_view kThinkingOpen = "<think>";
inline constexpr std::string_view kThinkingClose = "</think>";
/// What closes thinking where the model does not.
inline constexpr std::string_view kThinkingCloser = "\n</think>";
/// Between the end of thinking and the answer, as the model has learnt it.
inline constexpr std::string_view kAnswerGap = "\n\n";

inline constexpr std::string_view kCallOpen = "<tool_call>";
inline constexpr std::string_view kCallClose = "</tool_call>";
inline constexpr std::string_view kFunctionOpen = "<function=";  // then the name and '>'
inline constexpr std::string_view kFunctionClose = "</function>";
inline constexpr std::string_view kParameterOpen = "<parameter=";  // then the name and '>'
inline constexpr std::string_view kParameterClose = "</parameter>";

/// Of the name of a function or parameter, in bytes: a longer one is text.
inline constexpr size_t kNameLengthMax = 256;

/// Of a turn, in prompts.
inline constexpr std::string_view kTurnOpen = "<|im_start|>";
inline constexpr std::string_view kUserTurnOpen = "<|im_start|>user\n";

/// Around what a tool answered, in prompts.
inline constexpr std::string_view kToolAnswerOpen = "<tool_response>";
inline constexpr std::string_view kToolAnswerClose = "</tool_response>";

/// Those that have a token of their own.
inline constexpr std::array<std::string_view, 6> kTokens = {kThinkingOpen, kThinkingClose,  kCallOpen,
                                                            kCallClose,    kToolAnswerOpen, kToolAnswerClose};

/// How a call of `function` begins, up to its first parameter.
inline std::string call_beginning(std::string_view function) {
  return std::string(kCallOpen) + "\n" + std::string(kFunctionOpen) + std::string(function) + ">\n";
}

}  // namespace tessera::text::dialect
