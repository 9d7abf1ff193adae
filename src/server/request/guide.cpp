#include "server/request/guide.h"

#include <string>

#include "text/dialect/dialect.h"

namespace tessera::server {

namespace dialect = text::dialect;
Expected<Guide> make_guide(bool opens_thinking, std::optional<int64_t> thinking_budget, const ToolFields& tools,
                           const Tokenise& tokenise) {
  Guide guide;
  const bool forced = tools.choice.mode == ToolMode::required || tools.choice.mode == ToolMode::named;
  if (opens_thinking && (thinking_budget || forced)) {
    TESSERA_ASSIGN_OR_RETURN(const std::vector<int32_t> end, tokenise(std::string(dialect::kThinkingClose)));
    if (end.size() != 1) {
      return error(StatusCode::unsupported,
                   "thinking cannot be bounded or a tool call required: this model has no token for {}",
                   dialect::kThinkingClose);
    }
    guide.thinking_end = end[0];
  }
  if (opens_thinking && thinking_budget) {
    guide.thinking_tokens_max = *thinking_budget;
    TESSERA_ASSIGN_OR_RETURN(guide.thinking_closer, tokenise(std::string(dialect::kThinkingCloser)));
  }
  if (!forced) return guide;
  for (const text::ToolSchema& tool : tools.schemas) {
    if (tools.choice.mode == ToolMode::named && tool.name != tools.choice.name) continue;
    // Where the prompt opens no thinking it ends with the gap.
    const std::string beginning =
        std::string(opens_thinking ? dialect::kAnswerGap : "") + dialect::call_beginning(tool.name);
    TESSERA_ASSIGN_OR_RETURN(std::vector<int32_t> tokens, tokenise(beginning));
    guide.beginnings.push_back(std::move(tokens));
  }
  return guide;
}

}  // namespace tessera::server
