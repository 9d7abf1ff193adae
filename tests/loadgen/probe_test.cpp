#include "loadgen/probe.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/temp_directory.h"
#include "loadgen/scripted_answers.h"

namespace tessera::loadgen {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::atomic<bool> kNever = false;

/// A server that answers each GET with `status` and `body`.
struct Getter {
  int status = 200;
  std::string body, head;  // of the answer; of the last request
  ScriptedServer server{[](const Request&, const Connection&) {},
                        [this](const Request& request, const Connection& to) {
                          head = request.head;
                          to.send(
                              fmt::format("HTTP/1.1 {} X\r\nServer:  scripted 1.2 \r\nConnection: "
                                          "close\r\n\r\n{}",
                                          status, body));
                        }};

  [[nodiscard]] HttpOptions options(const std::string& key = "") const {
    return {.server = *ServerAddress::parse(server.url()), .api_key = key};
  }
  Expected<ServerFacts> probe(const std::string& wanted, const std::string& key = "") {
    return loadgen::probe(options(key), wanted, kNever);
  }
};

TEST(Probe, FindsTheModel) {
  Getter getter;
  getter.body =
      R"({"data":[{"name":"no id"},{"id":"a","max_model_len":100},{"id":"b","max_model_len":200},{"id":"c"}]})";
  auto facts = getter.probe("");
  ASSERT_TRUE(facts.ok()) << facts.status().message();
  EXPECT_EQ(facts->model, "a") << "the first, where nobody says which";
  EXPECT_EQ(facts->max_model_len, 100);
  EXPECT_EQ(facts->software, "scripted 1.2");
  EXPECT_THAT(getter.head, HasSubstr("GET /v1/models HTTP/1.1\r\n"));
  EXPECT_THAT(getter.head, Not(HasSubstr("Authorization")));
  facts = getter.probe("b", "key");
  ASSERT_TRUE(facts.ok()) << facts.status().message();
  EXPECT_EQ(facts->model, "b");
  EXPECT_EQ(facts->max_model_len, 200);
  EXPECT_THAT(getter.head, HasSubstr("Authorization: Bearer key\r\n"));
  facts = getter.probe("c");
  ASSERT_TRUE(facts.ok()) << facts.status().message();
  EXPECT_EQ(facts->model, "c");
  EXPECT_EQ(facts->max_model_len, 0) << "it does not say";
  EXPECT_THAT(getter.probe("d").status().message(), HasSubstr("no model \"d\"; it has a, b, c"));
  getter.body = R"({"data":[{"name":"no id"}]})";
  EXPECT_THAT(getter.probe("").status().message(), HasSubstr("names no model"));
  for (const char* none : {"", "[]", R"({"data":[]})", R"({"data":{}})", "<html>"}) {
    getter.body = none;
    EXPECT_THAT(getter.probe("a").status().message(), HasSubstr("no OpenAI server")) << none;
  }
}

/// Names of models begin alike: "qwen" is neither "qwen-large" nor "Qwen".
TEST(Probe, AModelIsTheOneOfItsWholeName) {
  Getter getter;
  getter.body = R"({"data":[{"id":"b"},{"id":"a-b","max_model_len":1},{"id":"a","max_model_len":2},)"
                R"({"id":"A","max_model_len":3},{"id":"a-c","max_model_len":4}]})";
  const auto facts = getter.probe("a");
  ASSERT_TRUE(facts.ok()) << facts.status().message();
  EXPECT_EQ(facts->model, "a");
  EXPECT_EQ(facts->max_model_len, 2);
  EXPECT_EQ(getter.probe("a-").status().code(), StatusCode::not_found);
}

TEST(Probe, SaysWhyTheServerRefuses) {
  Getter getter;
  getter.body = R"({"error":{"message":"a key is needed"}})";
  for (const int status : {401, 403}) {
    getter.status = status;
    const Status without = getter.probe("a").status();
    EXPECT_EQ(without.code(), StatusCode::invalid_argument);
    EXPECT_THAT(without.message(), HasSubstr(fmt::format("HTTP {}: a key is needed; give the server's key", status)));
    EXPECT_THAT(getter.probe("a", "k").status().message(), HasSubstr("is not one of the server's"));
  }
  for (const int status : {404, 405}) {  // no list of models, which is no fault if it is known which is asked for
    getter.status = status;
    const auto facts = getter.probe("a");
    ASSERT_TRUE(facts.ok()) << facts.status().message();
    EXPECT_EQ(facts->model, "a");
    EXPECT_THAT(getter.probe("").status().message(), HasSubstr(fmt::format("(HTTP {}): say with --model", status)));
  }
  getter.status = 500;
  getter.body = R"({"data":[{"id":"a"}]})";
  EXPECT_EQ(getter.probe("a").status().code(), StatusCode::unavailable);
}

TEST(Probe, EndsWhereItIsAskedTo) {
  Gate over;
  const std::atomic<bool> stop = true;
  const auto wait = [&](const Request&, const Connection&) { over.pass(); };
  const ScriptedServer server(wait, wait);
  const HttpOptions options{.server = *ServerAddress::parse(server.url()), .api_key = {}};
  EXPECT_EQ(probe(options, "a", stop).status().code(), StatusCode::cancelled);
  const auto client = Client::make(options);
  ASSERT_TRUE(client.ok());
  LoadOptions load;
  load.prompts.kinds = {PromptKind::chat};
  EXPECT_EQ(calibrate(**client, PromptSet::built_in(), 100, Thinking::off, load, stop).code(), StatusCode::cancelled);
  EXPECT_EQ((*client)->running(), 0);
  const auto late = http_get(options, server.url() + "/x", /*timeout_seconds=*/0.2, kNever);
  over.open();
  EXPECT_EQ(late.status().code(), StatusCode::unavailable);
  EXPECT_THAT(late.status().message(), HasSubstr(server.url() + "/x: "));
  const auto nobody = probe({.server = *ServerAddress::parse("unix:/nonexistent/socket"), .api_key = {}}, "a", kNever);
  EXPECT_THAT(nobody.status().message(), HasSubstr("/nonexistent/socket: "));
  EXPECT_THAT(nobody.status().message(), HasSubstr("is the server running"));
}

/// A socket that is listened on, where nobody answers.
TEST(Probe, GoesToTheSocketThatIsNamed) {
  const test::TempDirectory directory;
  const std::string path = (directory.path() / "s").string();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0) << path;
  ASSERT_EQ(::listen(listener, 8), 0);
  const HttpOptions options{.server = *ServerAddress::parse("unix:" + path), .api_key = {}};
  const auto answer = http_get(options, options.server.root + "/x", /*timeout_seconds=*/0.2, kNever);
  EXPECT_THAT(answer.status().message(), HasSubstr(path + ": "));
  EXPECT_THAT(answer.status().message(), HasSubstr("timed out"));
  ::close(listener);
}

TEST(Probe, AnswersHaveAnEnd) {
  Getter getter;
  getter.body.assign(size_t{65} << 20, 'x');
  EXPECT_EQ(http_get(getter.options(), getter.server.url() + "/x", 500, kNever).status().code(),
            StatusCode::unavailable);
}

TEST(Probe, CountersAreThoseOfMetricsAlone) {
  Getter getter;
  getter.body = "vllm:prompt_tokens_total 12\n";
  EXPECT_EQ(read_counters(getter.options(), kNever).prompt_tokens, 12);
  EXPECT_THAT(getter.head, HasSubstr("GET /metrics HTTP/1.1\r\n"));
  getter.status = 404;
  EXPECT_FALSE(read_counters(getter.options(), kNever).prompt_tokens);
}

/// A prompt of each kind by itself, as the load's will be but shorter, tells how many bytes are a token of the model.
TEST(Probe, CalibratesEachKindByItself) {
  std::vector<Json> asked;
  int64_t tokens = 100;
  const ScriptedServer server([&](const Request& request, const Connection& to) {
    asked.push_back(Json::parse(request.body));
    if (tokens < 0) return void(to.answer(500, "oops"));
    to.begin_stream();
    to.event(R"({"choices":[{"delta":{"content":"a"},"finish_reason":"length"}],"usage":{"prompt_tokens":)" +
             std::to_string(tokens) + "}}");
    tokens += 100;
  });
  const auto client = Client::make({.server = *ServerAddress::parse(server.url()), .api_key = {}});
  ASSERT_TRUE(client.ok());
  const PromptSet prompts = PromptSet::built_in();
  LoadOptions options;
  options.model = "m";
  options.prompts.kinds = {PromptKind::code, PromptKind::chat};
  options.prompts.shared = 0.5;
  options.prompts.bytes_per_token = {1, 2, 3, 4};
  ASSERT_TRUE(calibrate(**client, prompts, 50'000, Thinking::on, options, kNever).ok());
  ASSERT_EQ(asked.size(), 2U);
  for (const size_t i : {0U, 1U}) {
    const auto kind = i == 0 ? PromptKind::code : PromptKind::chat;
    PromptPlan plan = options.prompts;
    plan.kinds = {kind};
    plan.shared = 0;
    plan.context_tokens = 2000;
    plan.bytes_per_token[static_cast<size_t>(kind)] = 4;
    const Prompt prompt = prompts.make(plan, static_cast<int64_t>(kind));
    EXPECT_EQ(asked[i]["messages"], prompt.messages);
    EXPECT_EQ(asked[i]["max_tokens"], 1);
    EXPECT_EQ(asked[i]["chat_template_kwargs"]["enable_thinking"], true);
    EXPECT_EQ(options.prompts.bytes_per_token[static_cast<size_t>(kind)],
              static_cast<double>(prompt.bytes) / (i == 0 ? 100 : 200));
  }
  EXPECT_EQ(options.prompts.bytes_per_token[2], 3);
  EXPECT_EQ(options.prompts.kinds.size(), 2U);
  tokens = 0;
  EXPECT_THAT(calibrate(**client, prompts, 100, Thinking::off, options, kNever).message(), HasSubstr("sends no usage"));
  PromptPlan brief = options.prompts;
  brief.kinds = {PromptKind::code};
  brief.shared = 0;
  brief.context_tokens = 100;
  brief.bytes_per_token[static_cast<size_t>(PromptKind::code)] = 4;
  EXPECT_EQ(asked.back()["messages"], prompts.make(brief, static_cast<int64_t>(PromptKind::code)).messages);
  tokens = -1;
  EXPECT_THAT(calibrate(**client, prompts, 100, Thinking::off, options, kNever).message(),
              HasSubstr("of kind code was not answered (server_error): HTTP 500: oops"));
}

TEST(Counters, AreReadAndSummedOverModels) {
  const ServerCounters counters = parse_counters(
      "# HELP vllm:prompt_tokens_total Prompt tokens\n# TYPE vllm:prompt_tokens_total counter\n"
      "vllm:prompt_tokens_total{model_name=\"a b}c\"} 12\nvllm:prompt_tokens_total{engine=\"1\"} 30.5\n"
      "vllm:generation_tokens_total 7\nvllm:generation_tokens_totals 99\nvllm:spec_decode_num_drafts_total{x=\"y\"} "
      "1e2\n"
      "vllm:spec_decode_num_draft_tokens_total NaN?\n\nbroken{");
  EXPECT_EQ(counters.prompt_tokens, 42.5);
  EXPECT_EQ(counters.output_tokens, 7);
  EXPECT_EQ(counters.drafts, 100);
  EXPECT_FALSE(counters.accepted);
  EXPECT_FALSE(parse_counters("").prompt_tokens);
  const ServerCounters more = parse_counters("vllm:generation_tokens_total 17\nvllm:prompt_tokens_total 3");
  EXPECT_EQ(more.since(counters).output_tokens, 10);
  EXPECT_FALSE(more.since(counters).drafts);
  EXPECT_FALSE(counters.since(more).drafts) << "nobody knows since when";
  EXPECT_FALSE(counters.plus(more).drafts);
  EXPECT_EQ(more.plus(counters).output_tokens, 24);
  const ServerCounters all = parse_counters(
      "vllm:prompt_tokens_total 1\nvllm:generation_tokens_total 2\nvllm:spec_decode_num_drafts_total 3\n"
      "vllm:spec_decode_num_draft_tokens_total 4\nvllm:spec_decode_num_accepted_tokens_total 5\n");
  for (const ServerCounters& same : {all, all.plus(all).since(all)}) {
    EXPECT_EQ(same.prompt_tokens, 1);
    EXPECT_EQ(same.output_tokens, 2);
    EXPECT_EQ(same.drafts, 3);
    EXPECT_EQ(same.drafted, 4);
    EXPECT_EQ(same.accepted, 5);
  }
}

TEST(RequestBody, HasWhatWasAsked) {
  LoadOptions options;
  options.model = "m";
  options.ignore_eos = true;
  options.more = {{"temperature", 0}, {"max_tokens", 5}};
  const Case of{.users = 1, .output = 64, .thinking = Thinking::on};
  const Json body = request_body(of, options, {.messages = Json::array(), .tools = nullptr}, (uint64_t{1} << 40) + 3);
  EXPECT_EQ(body["model"], "m");
  EXPECT_EQ(body["max_tokens"], 5);  // the user's fields win
  EXPECT_EQ(body["seed"], 3);
  EXPECT_EQ(body["ignore_eos"], true);
  EXPECT_EQ(body["stream_options"]["continuous_usage_stats"], true);
  EXPECT_EQ(body["chat_template_kwargs"]["enable_thinking"], true);
  EXPECT_FALSE(body.contains("tools"));
  EXPECT_EQ(body["stream"], true);
  EXPECT_EQ(body["stream_options"]["include_usage"], true);
  const Json tools = Json::array({"a tool"});
  EXPECT_EQ(request_body(of, options, {.messages = Json::array(), .tools = tools}, 1)["tools"], tools);
  options.continuous_usage = options.ignore_eos = false;
  const Json plain = request_body({.users = 1, .output = 64, .thinking = Thinking::server}, options, {}, 1);
  EXPECT_FALSE(plain.contains("chat_template_kwargs"));
  const Json off = request_body({.users = 1, .output = 64, .thinking = Thinking::off}, options, {}, 1);
  EXPECT_EQ(off["chat_template_kwargs"]["enable_thinking"], false);
  EXPECT_FALSE(plain.contains("ignore_eos"));
  EXPECT_FALSE(plain["stream_options"].contains("continuous_usage_stats"));
}

TEST(Load, RequestsOfACase) {
  LoadOptions options;
  EXPECT_EQ(requests_of({.users = 1}, options), 16);
  EXPECT_EQ(requests_of({.users = 64}, options), 256);
  EXPECT_EQ(requests_of({.rate = 2.5}, options), 75);
  EXPECT_EQ(requests_of({.rate = 2.51}, options), 76) << "half a minute of them, and no less";
  options.duration_seconds = 10;
  EXPECT_GT(requests_of({.users = 1}, options), 100000);
  EXPECT_GE(requests_of({.rate = 100}, options), 1200);
  options.requests = 3;
  EXPECT_EQ(requests_of({.users = 64}, options), 3);
}

}  // namespace
}  // namespace tessera::loadgen
