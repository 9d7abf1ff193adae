#include "server/request/guide.h"

#include <string>

#include "text/dialect/dialect.h"

namespace tessera::server {

namespace dialect = text::dialect;

Expected<Guide> make_guide(bool opens_thinking, std::optional<int64_t> thinking_budget, AnswerStart start,
                           const Tokenise& tokenise) {
  Guide guide;
  if (!opens_thinking) return guide;
  if (thinking_budget || start != AnswerStart::unguided) {
    TESSERA_ASSIGN_OR_RETURN(const std::vector<int32_t> end, tokenise(std::string(dialect::kThinkingClose)));
    if (end.size() != 1) {
      return error(StatusCode::unsupported,
                   "thinking cannot be bounded, nor the answer behind it guided: this model has no token for {}",
                   dialect::kThinkingClose);
    }
    guide.thinking_end = end[0];
    if (start != AnswerStart::unguided) {
      TESSERA_ASSIGN_OR_RETURN(const std::vector<int32_t> call, tokenise(std::string(dialect::kCallOpen)));
      if (call.size() == 1) guide.thinking_excludes = call[0];
    }
  }
  if (thinking_budget) {
    guide.thinking_tokens_max = *thinking_budget;
    TESSERA_ASSIGN_OR_RETURN(guide.thinking_closer, tokenise(std::string(dialect::kThinkingCloser)));
  }
  if (start == AnswerStart::guided) {
    TESSERA_ASSIGN_OR_RETURN(std::vector<int32_t> gap, tokenise(std::string(dialect::kAnswerGap)));
    guide.beginnings.push_back(std::move(gap));
  }
  return guide;
}

}  // namespace tessera::server
