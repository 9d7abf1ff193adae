#include "server/openai/guide.h"

#include <string>

namespace tessera::server::openai {
namespace {

constexpr const char* kThinkingEnd = "</think>";
constexpr const char* kCloser = "\n</think>";
// Between "</think>" and the answer, as the model has learnt it; where the prompt opens no thinking it ends with that.
constexpr const char* kGap = "\n\n";

}  // namespace

Expected<Guide> make_guide(bool opens_thinking, std::optional<int64_t> thinking_budget, const ToolFields& tools,
                           const Tokenise& tokenise) {
  Guide guide;
  const bool forced = tools.choice.mode == ToolMode::required || tools.choice.mode == ToolMode::named;
  if (opens_thinking && (thinking_budget || forced)) {
    TESSERA_ASSIGN_OR_RETURN(const std::vector<int32_t> end, tokenise(kThinkingEnd));
    if (end.size() != 1) {
      return error(StatusCode::unsupported,
                   "thinking cannot be bounded or a tool call required: this model has no token for {}", kThinkingEnd);
    }
    guide.thinking_end = end[0];
  }
  if (opens_thinking && thinking_budget) {
    guide.thinking_tokens_max = *thinking_budget;
    TESSERA_ASSIGN_OR_RETURN(guide.thinking_closer, tokenise(kCloser));
  }
  if (!forced) return guide;
  for (const text::ToolSchema& tool : tools.schemas) {
    if (tools.choice.mode == ToolMode::named && tool.name != tools.choice.name) continue;
    const std::string beginning =
        std::string(opens_thinking ? kGap : "") + "<tool_call>\n<function=" + tool.name + ">\n";
    TESSERA_ASSIGN_OR_RETURN(std::vector<int32_t> tokens, tokenise(beginning));
    guide.beginnings.push_back(std::move(tokens));
  }
  return guide;
}

}  // namespace tessera::server::openai
