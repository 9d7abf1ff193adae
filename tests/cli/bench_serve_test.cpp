#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <thread>

#include "cli/model_directory.h"
#include "cli/scripted_server.h"
#include "server/certificate.h"
#include "server/http/exchange.h"
#include "server/http/http_server.h"

namespace tessera::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;
using Connection = ScriptedServer::Connection;
using Request = ScriptedServer::Request;

class BenchServeTest : public ::testing::Test {
 protected:
  BenchServeTest() {
    ::unsetenv("OPENAI_API_KEY");
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  ~BenchServeTest() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (directory_ / name).string(); }

  /// `bench serve URL ... --json`, and what it wrote.
  Finished bench(const std::string& url, const Arguments& more) {
    Arguments arguments = {"bench", "serve", url, "--json", path("r.json")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Finished finished = run_tessera(arguments);
    const std::string text = read_file(path("r.json"));
    results = text.empty() ? Json() : Json::parse(text);
    return finished;
  }

  Json results;

 private:
  std::filesystem::path directory_ =
      std::filesystem::path(::testing::TempDir()) / ("tessera_bench_serve_" + std::to_string(::getpid()));
};

std::string chunk(const std::string& text, int tokens) {
  return R"({"choices":[{"index":0,"delta":{"content":")" + text +
         R"("}}],"usage":{"prompt_tokens":50,"completion_tokens":)" + std::to_string(tokens) +
         R"(,"prompt_tokens_details":{"cached_tokens":0}}})";
}
const char* const kFinish = R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})";

/// A whole answer of `tokens` tokens, each `pause` after the one before.
void answer_well(const Connection& to, int tokens, std::chrono::milliseconds pause = {}) {
  to.begin_stream();
  for (int i = 1; i <= tokens; ++i) {
    std::this_thread::sleep_for(pause);
    to.event(chunk(" w" + std::to_string(i), i));
  }
  to.event(kFinish);
  to.event("[DONE]");
}

TEST_F(BenchServeTest, FlagsThatMakeNoSense) {
  const std::pair<Arguments, const char*> kWrong[] = {
      {{}, "expected the address of a server"},
      {{"http://h", "--users", "0"}, "whole number"},
      {{"http://h", "--rate", "-1"}, "found \"-1\""},
      {{"http://h", "--users", "2", "--rate", "1"}, "--users"},
      {{"http://h", "--thinking", "of"}, "did you mean off?"},
      {{"http://h", "--prompts", "chat,cod"}, "did you mean code?"},
      {{"http://h", "--goodput", "tft:1"}, "found \"tft:1\", expected NAME:MILLISECONDS"},
      {{"http://h", "--extra-body", "[1]"}, "JSON object"},
      {{"http://h", "--prefix-reuse", "0.5"}, "a share of --context"},
      {{"--compare", "/nonexistent"}, "--compare"},
      {{"--compare", "/nonexistent", "/nonexistent"}, "cannot read /nonexistent"},
  };
  for (const auto& [flags, says] : kWrong) {
    Arguments arguments = {"bench", "serve"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const Finished finished = run_tessera(arguments);
    EXPECT_EQ(finished.exit_code, 2) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr(says));
  }
  EXPECT_THAT(run_tessera({"bench", "serve", "ftp://h"}).err, HasSubstr("expected http://HOST:PORT"));
}

TEST_F(BenchServeTest, CountsAndTimesWhatTheServerDid) {
  std::mutex mutex;
  std::set<std::string> bodies;
  const ScriptedServer server([&](const Request& request, const Connection& to) {
    {
      const std::lock_guard lock(mutex);
      EXPECT_TRUE(bodies.insert(Json::parse(request.body)["messages"].dump()).second) << "a prompt came twice";
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    answer_well(to, 40, std::chrono::milliseconds(5));
  });
  const Finished finished =
      bench(server.url(), {"--users", "1,3", "--requests", "6", "--output", "40", "--goodput", "ttft:60000,e2e:200",
                           "--csv", path("r.csv"), "--html", path("r.html")});
  EXPECT_EQ(finished.exit_code, 0) << finished.err << finished.out;
  EXPECT_EQ(bodies.size(), 6U + 1 + 6 + 3);  // the warm-ups too
  ASSERT_EQ(results["cases"].size(), 2U);
  for (const Json& made : results["cases"]) {
    EXPECT_EQ(made["requests_ok"], 6);
    double tokens = 0;
    for (const Json& record : made["records"]) tokens += record["output_tokens"].get<double>();
    EXPECT_EQ(tokens, 240);
    // Only lower bounds: the machine may be as slow as it likes.
    EXPECT_GE(made["ttft_ms"]["min"], 105);
    EXPECT_GE(made["e2e_ms"]["min"], 300);
    EXPECT_GE(made["tpot_ms"]["min"], 4.9);
    EXPECT_EQ(made["goodput"]["share"], 0);
    EXPECT_NEAR(made["throughput"]["output_tokens_per_second"].get<double>() * made["seconds"].get<double>(), 240,
                1e-6);
    // Users come one after the other: no more under way than have come.
    const double spread = made["users_spread_s"], users = made["case"]["users"];
    EXPECT_GE(spread, 0.3 * 32 / 40);
    for (const Json& record : made["records"]) {
      const double start = record["start_s"];
      const auto under_way = std::count_if(made["records"].begin(), made["records"].end(), [&](const Json& other) {
        return other["start_s"] <= start && start < other["end_s"];
      });
      EXPECT_LE(static_cast<double>(under_way - 1), start * users / spread + 1e-6);
    }
  }
  // The table has the same figures.
  const std::string shown = std::regex_replace(finished.out, std::regex(" {2,}"), " ");
  for (const Json& made : results["cases"]) {
    const auto figure = [&](const char* at) { return made.at(Json::json_pointer(at)).get<double>(); };
    EXPECT_THAT(shown, HasSubstr(fmt::format("{} 6/6 {:.1f} {:.2f} {:.0f} {:.1f} ", made["name"].get<std::string>(),
                                             figure("/seconds"), figure("/throughput/requests_per_second"),
                                             figure("/throughput/input_tokens_per_second"),
                                             figure("/throughput/output_tokens_per_second"))));
    EXPECT_THAT(shown, HasSubstr(fmt::format(" {:.1f} 50 40 0 % 0 % - 0 % 0.00/s\n",
                                             figure("/stream_output_tokens_per_second"))));
  }
  EXPECT_THAT(read_file(path("r.html")), HasSubstr("Chart"));
  const std::string csv = read_file(path("r.csv"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  const Finished compared = run_tessera({"bench", "serve", "--compare", path("r.json"), path("r.json")});
  EXPECT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("1.000 to 1.000"));
  EXPECT_THAT(compared.out, HasSubstr("no difference seen"));
}

/// Also where the answers of a warm-up are as short as those that count: its round alone tells it from the case.
TEST_F(BenchServeTest, NoPromptOfAWarmUpOrARoundComesAgain) {
  std::mutex mutex;
  std::set<std::string> prompts;
  const ScriptedServer server([&](const Request& request, const Connection& to) {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(prompts.insert(Json::parse(request.body)["messages"].dump()).second) << "a prompt came twice";
    answer_well(to, 4);
  });
  const Finished finished =
      bench(server.url(), {"--users", "1", "--requests", "4", "--warmup", "3", "--output", "4", "--rounds", "2"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err << finished.out;
  EXPECT_EQ(prompts.size(), 2U * (3 + 4));
}

TEST_F(BenchServeTest, SharedBeginningsAreAsManyAsAsked) {
  std::mutex mutex;
  std::set<std::string> beginnings;
  const ScriptedServer server([&](const Request& request, const Connection& to) {
    const Json first = Json::parse(request.body)["messages"][0];
    const std::lock_guard lock(mutex);
    if (first["role"] == "system") beginnings.insert(first["content"]);  // those that measure tokens share nothing
    answer_well(to, 1);
  });
  const Finished finished =
      bench(server.url(), {"--users", "1", "--requests", "24", "--warmup", "0", "--output", "1", "--prompts",
                           "document", "--context", "200", "--prefix-reuse", "0.5", "--prefix-groups", "3"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err << finished.out;
  EXPECT_EQ(beginnings.size(), 3U);
}

/// What a server counts between the rounds of a case, as warm-ups and other cases, is not the case's.
TEST_F(BenchServeTest, TheServersCountsAreOfAllRoundsOfACase) {
  std::atomic<int> tokens = 1'000'000;
  const ScriptedServer server(
      [&](const Request&, const Connection& to) {
        tokens += 4;
        answer_well(to, 4);
      },
      [&](const Request& request, const Connection& to) {
        if (request.line.find("/metrics") == std::string::npos) {
          to.answer(200, R"({"data":[{"id":"m"}]})");
        } else {
          to.answer(200, "vllm:generation_tokens_total " + std::to_string(tokens) + "\n");
        }
      });
  const Finished finished =
      bench(server.url(), {"--users", "1,2", "--requests", "5", "--output", "4", "--rounds", "3"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err << finished.out;
  ASSERT_EQ(results["cases"].size(), 2U);
  for (const Json& made : results["cases"]) {
    EXPECT_EQ(made["requests_ok"], 15);
    EXPECT_EQ(made["server_counted"]["output_tokens"], 60);
    EXPECT_EQ(made["server_counted"]["input_tokens"], nullptr);
  }
}

/// Every fault is counted by its kind, and the others' answers count.
TEST_F(BenchServeTest, FaultsAreCountedByKind) {
  std::atomic<int> number = 0;
  const ScriptedServer server([&](const Request&, const Connection& to) {
    switch (number++ % 9) {
      case 0: to.answer(429, R"({"error":{"message":"too many"}})"); break;
      case 1: to.answer(500, "oops"); break;
      case 2: to.answer(400, R"({"error":{"message":"max_tokens is odd"}})"); break;
      case 3:  // cut in the middle
        to.begin_stream();
        to.event(chunk("a", 1));
        to.send("data: {\"choi");
        break;
      case 4:
        to.begin_stream();
        to.event("{\"choices\": [");
        break;
      case 5:
        to.begin_stream();
        to.event(R"({"error":{"message":"kernel failed"}})");
        break;
      case 6: to.answer(200, R"({"choices":[{"message":{"content":"not streamed"}}]})"); break;
      case 7: to.send("\x16\x03 this is no HTTP\r\n\r\n"); break;
      default: answer_well(to, 40);
    }
  });
  const Finished finished =
      bench(server.url(), {"--users", "1", "--requests", "18", "--output", "40", "--warmup", "0"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  const Json& made = results["cases"][0];
  EXPECT_EQ(made["requests_ok"], 2);
  std::map<std::string, int> counts;
  for (const auto& [kind, failures] : made["failures"].items()) counts[kind] = failures["count"];
  EXPECT_EQ(counts, (std::map<std::string, int>{{"rate_limited", 2},
                                                {"server_error", 2},
                                                {"bad_request", 2},
                                                {"stream_cut", 2},
                                                {"bad_stream", 6},
                                                {"stream_error", 2}}));
  for (const char* says : {"too many", "oops", "max_tokens is odd", "inside a chunk", "no JSON object", "kernel failed",
                           "16 of 18 requests failed"}) {
    EXPECT_THAT(finished.out, HasSubstr(says));
  }
}

TEST_F(BenchServeTest, WhatKeepsItFromBeginning) {
  const auto fails = [&](const std::string& url, const Arguments& more, const char* says) {
    const Finished finished = bench(url, more);
    EXPECT_EQ(finished.exit_code, 1);
    EXPECT_THAT(finished.err, HasSubstr(says));
  };
  fails("http://127.0.0.1:1", {}, "is the server running");
  fails("unix:" + path("nobody"), {}, "is the server running");
  fails("http://no-such-host.invalid", {}, "is the server running");
  const ScriptedServer refusing(
      [](const Request&, const Connection& to) { to.answer(401, R"({"error":{"message":"a key is needed"}})"); });
  fails(refusing.url(), {}, "(unauthorized): HTTP 401: a key is needed");
  fails(refusing.url(), {"--model", "gpt"}, "no model \"gpt\"; it has scripted");
  fails(refusing.url(), {"--context", "4000", "--output", "2000"}, "do not fit into the 5000");
  fails(refusing.url(), {"--context", "1000"}, "of kind chat was not answered");
  const ScriptedServer empty([](const Request&, const Connection&) {});
  fails(empty.url(), {"--users", "1"}, "no request of the warm-up was answered (stream_cut)");
}

/// What flags say of requests is in them.
TEST_F(BenchServeTest, RequestsAskForWhatFlagsSay) {
  std::mutex mutex;
  std::vector<Json> bodies;
  const ScriptedServer server([&](const Request& request, const Connection& to) {
    {
      const std::lock_guard lock(mutex);
      bodies.push_back(Json::parse(request.body));
    }
    answer_well(to, 4);
  });
  const auto asked = [&](const Arguments& more) {
    bodies.clear();
    Arguments arguments = {"--users", "1", "--requests", "2", "--warmup", "0", "--output", "7"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = bench(server.url(), arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.err << finished.out;
    EXPECT_EQ(bodies.size(), 2U);
    return bodies.at(0);
  };
  const Json plain = asked({});
  EXPECT_EQ(plain["model"], "scripted");
  EXPECT_EQ(plain["max_tokens"], 7);
  EXPECT_EQ(plain.at("chat_template_kwargs")["enable_thinking"], false);
  EXPECT_EQ(plain["stream_options"]["continuous_usage_stats"], true);
  EXPECT_FALSE(plain.contains("ignore_eos"));
  EXPECT_EQ(results["prompts"]["seed"], 0);
  EXPECT_EQ(asked({}), plain);
  EXPECT_NE(asked({"--seed", "5"})["messages"], plain["messages"]);
  EXPECT_EQ(asked({"--thinking", "on"})["chat_template_kwargs"]["enable_thinking"], true);
  const Json other = asked({"--thinking", "default", "--ignore-eos", "--plain-usage", "--seed", "5", "--extra-body",
                            R"({"temperature": 0.25})"});
  EXPECT_FALSE(other.contains("chat_template_kwargs"));
  EXPECT_EQ(other["ignore_eos"], true);
  EXPECT_FALSE(other["stream_options"].contains("continuous_usage_stats"));
  EXPECT_EQ(other["temperature"], 0.25);
  EXPECT_EQ(results["prompts"]["seed"], 5);
  EXPECT_EQ(results["sampling"], Json::parse(R"({"fields": {"temperature": 0.25}, "ignore_eos": true})"));
}

/// A user each warms up, four requests of a rate; then --duration alone ends a case.
TEST_F(BenchServeTest, CasesOfADurationEndByThemselves) {
  std::atomic<int> requests = 0;
  const ScriptedServer server([&](const Request&, const Connection& to) {
    ++requests;
    answer_well(to, 4, std::chrono::milliseconds(1));
  });
  for (const auto& [load, value, warm] : {std::tuple("--users", "2", 2), {"--rate", "100", 4}}) {
    requests = 0;
    const Finished finished = bench(server.url(), {load, value, "--duration", "0.5", "--output", "4"});
    EXPECT_EQ(finished.exit_code, 0) << finished.err << finished.out;
    EXPECT_EQ(results["cases"][0]["requests_ok"].get<int>() + warm, requests) << load;
    EXPECT_EQ(results["duration_s"], 0.5);
  }
}

/// With everything that is asked, also what only looks at the server.
TEST_F(BenchServeTest, TheKeyIsTheFlagsOrElseTheEnvironments) {
  std::mutex mutex;
  std::set<std::string> keys;
  const auto note = [&](const Request& request) {
    std::smatch found;
    const bool has_key = std::regex_search(request.head, found, std::regex("Authorization: ([^\r\n]*)"));
    const std::lock_guard lock(mutex);
    keys.insert(has_key ? found[1].str() : "none");
  };
  const ScriptedServer server(
      [&](const Request& request, const Connection& to) {
        note(request);
        answer_well(to, 4);
      },
      [&](const Request& request, const Connection& to) {
        note(request);
        to.answer(200, R"({"data":[{"id":"m"}]})");
      });
  const auto keys_of = [&](const Arguments& more) {
    keys.clear();
    Arguments arguments = {"--users", "1", "--requests", "1", "--warmup", "0", "--output", "4"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = bench(server.url(), arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.err << finished.out;
    return keys;
  };
  using Keys = std::set<std::string>;
  EXPECT_EQ(keys_of({}), Keys{"none"});
  EXPECT_EQ(keys_of({"--api-key", "flag"}), Keys{"Bearer flag"});
  ::setenv("OPENAI_API_KEY", "environment", 1);
  EXPECT_EQ(keys_of({}), Keys{"Bearer environment"});
  EXPECT_EQ(keys_of({"--api-key", "flag"}), Keys{"Bearer flag"});
  ::unsetenv("OPENAI_API_KEY");
}

/// One that nobody has signed and that is another name's.
TEST_F(BenchServeTest, AnyCertificateIsTrustedOnlyWhereThatIsAsked) {
  const server::Certificate certificate;
  const auto opened = server::HttpServer::open(
      {.host = "127.0.0.1", .ssl_certfile = certificate.certificate_file, .ssl_keyfile = certificate.key_file},
      {.check = [](const server::HttpRequest&, server::RequestFacts&) { return std::nullopt; },
       .handle =
           [](const std::shared_ptr<server::Exchange>& exchange) {
             const bool looks = exchange->request.method == "GET";
             exchange->reply(
                 {.content_type = looks ? "application/json" : "text/event-stream",
                  .body = looks ? R"({"data":[{"id":"m"}]})"
                                : "data: " + chunk("a", 1) + "\n\ndata: " + kFinish + "\n\ndata: [DONE]\n\n"});
           },
       .finished = [](const server::Exchange&) {},
       .fault = [](int status, const std::string& message,
                   const std::string&) { return server::HttpReply{.status = status, .body = message}; }});
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  (*opened)->run();
  const Arguments one = {"--users", "1", "--requests", "1", "--warmup", "0", "--output", "1"};
  const Finished refused = bench((*opened)->url(), one);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("; --insecure trusts any certificate"));
  Arguments insecure = one;
  insecure.emplace_back("--insecure");
  const Finished finished = bench((*opened)->url(), insecure);
  EXPECT_EQ(finished.exit_code, 0) << finished.err << finished.out;
  EXPECT_EQ(results["cases"][0]["requests_ok"], 1);
}

TEST_F(BenchServeTest, SlowServersMeetTheTimeout) {
  std::atomic<bool> over = false;
  std::atomic<int> number = 0;
  {
    const ScriptedServer server([&](const Request&, const Connection& to) {
      if (number++ % 2 == 0) return answer_well(to, 40);
      to.begin_stream();
      while (!over && to.event(chunk("a", 1))) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    });
    const Finished finished =
        bench(server.url(), {"--users", "2", "--requests", "4", "--output", "40", "--timeout", "1.5", "--warmup", "0"});
    over = true;
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    EXPECT_EQ(results["cases"][0]["failures"]["timeout"]["count"], 2);
    EXPECT_EQ(results["cases"][0]["requests_ok"], 2);
    EXPECT_THAT(finished.out, HasSubstr("not done after 1.5 s"));
  }
}

TEST_F(BenchServeTest, GivesUpWhereNothingSucceeds) {
  std::atomic<int> number = 0;
  const ScriptedServer server([&](const Request&, const Connection& to) {
    ++number;
    to.answer(503, R"({"error":{"message":"loading"}})");
  });
  const Finished finished = bench(server.url(), {"--users", "2", "--requests", "100000", "--warmup", "0"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.out, HasSubstr("given up"));
  EXPECT_LT(number, 100);
  EXPECT_EQ(results["cases"][0]["failures"]["server_error"]["first"], "HTTP 503: loading");
}

TEST_F(BenchServeTest, AnInterruptEndsWithTheResultsSoFar) {
  std::atomic<bool> over = false;
  std::atomic<int> number = 0;
  const ScriptedServer server([&](const Request&, const Connection& to) {
    if (number++ < 3) return answer_well(to, 40);
    to.begin_stream();
    while (!over && to.event(chunk("a", 1))) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  });
  Process process({"bench", "serve", server.url(), "--users", "1", "--requests", "10", "--output", "40", "--warmup",
                   "0", "--json", path("r.json")});
  for (int i = 0; i < 3000 && number < 4; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  process.signal(SIGINT);
  const Finished finished = process.wait();
  over = true;
  EXPECT_EQ(finished.exit_code, 130) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("interrupted: the figures are of the requests that had ended"));
  const Json made = Json::parse(read_file(path("r.json")))["cases"][0];
  EXPECT_EQ(made["requests_ok"], 3);
  EXPECT_EQ(made["failures"]["interrupted"]["count"], 1);
}

TEST_F(BenchServeTest, ARateThatTheServerCannotBear) {
  std::mutex one_at_a_time;
  const ScriptedServer server([&](const Request&, const Connection& to) {
    const std::lock_guard lock(one_at_a_time);
    answer_well(to, 40, std::chrono::milliseconds(2));
  });
  const Finished finished =
      bench(server.url(), {"--rate", "60", "--requests", "80", "--output", "40", "--warmup", "0"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(results["cases"][0]["requests_ok"], 80);
  EXPECT_THAT(finished.out, HasSubstr("the server fell behind"));
  EXPECT_THAT(finished.out, Not(HasSubstr("--max-in-flight")));
  bench(server.url(), {"--rate", "60", "--requests", "20", "--output", "40", "--warmup", "0", "--max-in-flight", "2"});
  EXPECT_GT(results["cases"][0]["client"]["held_back"], 0);
}

/// A GET over a Unix socket; empty if nobody answers.
std::string get(const std::string& socket_path, const std::string& path) {
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket_path.copy(address.sun_path, sizeof address.sun_path - 1);
  std::string text;
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    Connection(socket).send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    char bytes[65536];
    for (ssize_t got = 0; (got = ::recv(socket, bytes, sizeof bytes, 0)) > 0;) {
      text.append(bytes, static_cast<size_t>(got));
    }
  }
  ::close(socket);
  return text;
}

double metric(const std::string& text, const std::string& name) {
  std::smatch found;
  const std::regex line("(?:^|\n)" + name + R"((?:\{[^\n]*\})? ([-+.e0-9]+))");
  EXPECT_TRUE(std::regex_search(text, found, line)) << name;
  return found.empty() ? -1 : std::stod(found[1]);
}

/// The bundled model: the client's sums are the server's own.
TEST_F(BenchServeTest, AgreesWithTheMetricsOfTessera) {
  const std::string socket = path("s");
  Process server({"serve", TESSERA_SOURCE_DIR "/models/demo", "--uds", socket});
  for (int i = 0; i < 6000 && get(socket, "/health").find("200 OK") == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const Finished finished = bench("unix:" + socket, {"--users", "3", "--requests", "9", "--output", "24", "--thinking",
                                                     "off,on", "--prompts", "chat,code,agent", "--warmup", "0"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err << finished.out;
  double input = 0, output = 0, ttft = 0, e2e = 0;
  ASSERT_EQ(results["cases"].size(), 2U);
  for (const Json& made : results["cases"]) {
    EXPECT_EQ(made["requests_ok"], 9);
    for (const Json& record : made["records"]) {
      input += record["input_tokens"].get<double>();
      output += record["output_tokens"].get<double>();
      ttft += record["ttft_ms"].is_null() ? 0 : record["ttft_ms"].get<double>() / 1e3;
      e2e += record["e2e_ms"].get<double>() / 1e3;
      EXPECT_LE(record["output_tokens"], 24);
    }
  }
  EXPECT_EQ(results["cases"][0]["thinking_share"], 0);
  EXPECT_GT(results["cases"][1]["thinking_share"], 0);
  const std::string metrics = get(socket, "/metrics");
  EXPECT_EQ(metric(metrics, "vllm:prompt_tokens_total"), input);
  EXPECT_EQ(metric(metrics, "vllm:generation_tokens_total"), output);
  EXPECT_EQ(metric(metrics, "vllm:e2e_request_latency_seconds_count"), 18);
  // What the client adds to the server's times is a matter of the machine: told, not tested.
  std::cout << "sums of TTFT, client and server: " << ttft << " and "
            << metric(metrics, "vllm:time_to_first_token_seconds_sum") << " s; of E2E: " << e2e << " and "
            << metric(metrics, "vllm:e2e_request_latency_seconds_sum") << " s\n";
  EXPECT_GE(e2e, metric(metrics, "vllm:e2e_request_latency_seconds_sum") * 0.5);
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait().exit_code, 0);
}

}  // namespace
}  // namespace tessera::cli
