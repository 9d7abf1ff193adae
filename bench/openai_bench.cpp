// What the server does with every token of every stream: an event becomes a delta, a delta the JSON text of a chunk.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "server/openai/chat_request.h"
#include "server/openai/logprobs.h"
#include "server/openai/responses.h"
#include "server/request/chat_choice.h"

namespace {

using namespace tessera;
using namespace tessera::server;
using namespace tessera::server::openai;

const ResponseHead kHead{.id = "chatcmpl-0123456789abcdef0123456789abcdef",
                         .created = 1'700'000'000,
                         .model = "Qwen/Qwen3.5-397B-A17B-NVFP4",
                         .fingerprint = "tessera-0.1.0"};

/// The text of one token: 4 bytes of prose, or the same with what must be escaped or looked at.
std::string token_text(int64_t kind) { return kind == 0 ? " the" : kind == 1 ? " \"a\n" : " \xc3\xa9t\xc3\xa9"; }

void BM_WriteChunk(benchmark::State& state) {
  const ChunkWriter writer(ChunkWriter::Kind::chat, kHead, /*usage_null=*/true);
  const ChatDelta delta{.content = token_text(state.range(0))};
  std::string out;
  for (auto _ : state) {
    out.clear();
    writer.delta(0, delta, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_WriteChunk)->ArgName("text")->Arg(0)->Arg(1)->Arg(2);

void BM_EventToChunk(benchmark::State& state) {
  const ChunkWriter writer(ChunkWriter::Kind::chat, kHead, true);
  ChatChoice::Options options{.request_id = kHead.id};
  if (state.range(0) != 0) options.tools = {{"get_weather", {{"city"}}}};
  ChatChoice choice(options);
  const Event event{.tokens = {1234}, .text = " the"};
  std::string out;
  for (auto _ : state) {
    out.clear();
    writer.delta(0, choice.feed(event), out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_EventToChunk)->ArgName("tools")->Arg(0)->Arg(1);

void BM_EventToChunkWithLogprobs(benchmark::State& state) {
  const ChunkWriter writer(ChunkWriter::Kind::chat, kHead, true);
  const TokenBytes token_bytes = [](int32_t) { return std::string(" the"); };
  ChatChoice::Options options{.request_id = kHead.id};
  options.append_logprob = [&](const std::vector<TokenLogprob>& token, std::string& json) {
    append_chat_logprob(token, token_bytes, json);
  };
  ChatChoice choice(options);
  Event event{.tokens = {1234}, .text = " the", .logprobs = {{}}};
  for (int i = 0; i < 21; ++i) event.logprobs[0].push_back({i, -0.123F * static_cast<float>(i + 1), i + 1});
  std::string out;
  for (auto _ : state) {
    out.clear();
    writer.delta(0, choice.feed(event), out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_EventToChunkWithLogprobs);

/// Reading a conversation of state.range(0) messages of about 1 KB.
void BM_ParseChatRequest(benchmark::State& state) {
  std::string body = R"({"model":"m","stream":true,"temperature":0.7,"messages":[)";
  for (int64_t i = 0; i < state.range(0); ++i) {
    body += std::string(i > 0 ? "," : "") + R"({"role":")" + (i % 2 == 0 ? "user" : "assistant") + R"(","content":")" +
            std::string(1000, 'x') + "\"}";
  }
  body += "]}";
  const RequestOptions options;
  for (auto _ : state) {
    Json json;
    ChatRequest request;
    if (parse_body(body, options.limits, json) || parse_chat_request(json, options, request))
      state.SkipWithError("bad");
    benchmark::DoNotOptimize(request);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(body.size()));
}
BENCHMARK(BM_ParseChatRequest)->Arg(1)->Arg(100);

}  // namespace

BENCHMARK_MAIN();
