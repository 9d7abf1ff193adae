#include "text/chat_template.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include <fmt/chrono.h>

#include "text/worker_process.h"
#include "tokenizer_files.h"

namespace tessera::text {
namespace {

using nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

ChatTemplate make(const std::string& text, ChatTemplate::Options options = {}, const std::string& tool_use = {}) {
  auto created = ChatTemplate::create({text, tool_use, "test.jinja"}, std::move(options));
  if (!created.ok()) ADD_FAILURE() << created.status().message();
  return std::move(*created);
}

std::string render(const std::string& text, const ordered_json& request = ordered_json::object()) {
  const auto rendered = make(text).render(request);
  return rendered.ok() ? *rendered : "error: " + rendered.status().message();
}

/// One template, and so one worker, for many: `request["n"]` chooses.
ChatTemplate make_choice(const std::vector<std::string>& bodies) {
  std::string text = "{% if false %}";
  for (size_t i = 0; i < bodies.size(); ++i) text += "{% elif n == " + std::to_string(i) + " %}" + bodies[i];
  return make(text + "{% endif %}");
}

/// Short limits, so that tests of what exceeds them are short as well.
ChatTemplate::Options tight() {
  ChatTemplate::Options options;
  options.render_seconds_max = 1;
  options.memory_bytes_max = size_t{256} << 20;
  options.output_bytes_max = 100'000;
  options.request_bytes_max = 10'000'000;
  return options;
}

TEST(ChatTemplate, RendersAsTransformersDoes) {
  EXPECT_EQ(render("a\n  {% if true %}\n  b\n  {% endif %}\nHello {{ name }}!\n", {{"name", "w\u00f6rld"}}),
            "a\n  b\nHello w\u00f6rld!")
      << "trim_blocks and lstrip_blocks";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"{{ v | tojson }}", R"({"b": [1, 2.0, null, true], "a": "<)"
                           "\u00e9'\\\"&>\"}"},
      {"{{ v.b | tojson(indent=2) }}", "[\n  1,\n  2.0,\n  null,\n  true\n]"},
      {"{% for i in range(9) %}{% if i == 1 %}{% continue %}{% endif %}{% if i > 3 %}{% break %}{% endif %}{{ i }}"
       "{% endfor %}",
       "023"},
      {"x{% generation %}{{ 1 + 1 }}{% endgeneration %}y", "x2y"},
      {"{{ missing }}{{ none }}", "None"},
      {"{{ strftime_now('%Y')|length }}", "4"},
      {"{{ '\\u00e9' }}{{ 'a b'|wordwrap(1) }}{{ {1: 2}|pprint }}",
       "\u00e9"
       "a\nb{1: 2}"},
      {"{{ s }}", std::string("\0\n", 2)},
      {"{% for k in v %}{{ k }}{% endfor %}", "ba"},  // keys keep their order
  };
  std::vector<std::string> bodies;
  for (const auto& entry : cases) bodies.push_back(entry.first);
  const auto chat = make_choice(bodies);
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto rendered = chat.render(
        {{"n", i}, {"s", std::string("\0\n", 2)}, {"v", {{"b", {1, 2.0, nullptr, true}}, {"a", "<\u00e9'\"&>"}}}});
    ASSERT_TRUE(rendered.ok()) << rendered.status().message();
    EXPECT_EQ(*rendered, cases[i].second) << cases[i].first;
  }
}

TEST(ChatTemplate, ToolUseTemplateIsForRequestsWithTools) {
  const auto chat = make("plain", {}, "tools");
  EXPECT_EQ(*chat.render({{"messages", {1}}}), "plain");
  EXPECT_EQ(*chat.render({{"tools", ordered_json::array()}}), "plain");
  EXPECT_EQ(*chat.render({{"tools", {1}}}), "tools");
  EXPECT_EQ(*make("plain").render({{"tools", {1}}}), "plain") << "where there is no other";
}

void expect_invalid(const Status& status, const std::string& text) {
  EXPECT_EQ(status.code(), StatusCode::invalid_argument) << status.message();
  EXPECT_THAT(status.message(), AllOf(HasSubstr(text), HasSubstr("test.jinja")));
}

TEST(ChatTemplate, SyntaxErrorsCarryTheMessageOfJinja) {
  const auto status_of = [](const std::string& text) {
    return ChatTemplate::create({text, {}, "test.jinja"}).status();
  };
  expect_invalid(status_of("a\n{% if %}"), "line 2: Expected an expression");
  expect_invalid(status_of("{% nonsense %}"), "unknown tag 'nonsense'");
  expect_invalid(status_of("\xFF"), "UTF-8");
  expect_invalid(ChatTemplate::create({"fine", "\xFF", "test.jinja"}).status(), "UTF-8");
}

TEST(ChatTemplate, ErrorsWhileRenderingCarryTheMessageOfJinja) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"{{ raise_exception('roles must alternate') }}", "roles must alternate"},
      {"{{ raise_exception(5) }}", "5"},
      {"{{ missing.attribute }}", "'missing' is undefined"},
      {"{{ n.nothing() }}", "has no attribute 'nothing'"},
      {"{{ 'a' + n }}", "TypeError"},
      {"{{ 1 / (n - n) }}", "ZeroDivisionError"},
      {"{% include 'other' %}", "no loader"},
      {"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "RecursionError"},
      {"{{ '\\ud800' }}", "surrogates"},
  };
  std::vector<std::string> bodies;
  for (const auto& entry : cases) bodies.push_back(entry.first);
  const auto chat = make_choice(bodies);
  for (size_t i = 0; i < cases.size(); ++i) expect_invalid(chat.render({{"n", i}}).status(), cases[i].second);
}

TEST(ChatTemplate, TheSandboxHolds) {
  const std::vector<std::string> attempts{"{{ ''.__class__.__mro__ }}",
                                          "{{ ''.__class__ }}",
                                          "{{ ''['__class__'] }}",
                                          "{{ ''|attr('__class__') }}",
                                          "{{ cycler.__init__.__globals__ }}",
                                          "{{ lipsum.__globals__['os'].popen('id').read() }}",
                                          "{{ self.__init__.__globals__ }}",
                                          "{{ ().__class__.__bases__[0].__subclasses__() }}",
                                          "{{ '{0.__class__.__mro__}'.format('') }}",
                                          "{{ ('{0.__class__}'|attr('format'))('') }}",
                                          "{{ raise_exception.__globals__ }}",
                                          "{{ strftime_now.__code__ }}",
                                          "{{ range.__self__ }}",
                                          "{{ namespace.__init__.__globals__ }}",
                                          "{{ joiner.__init__.__globals__.sys }}"};
  const auto chat = make_choice(attempts);
  for (size_t i = 0; i < attempts.size(); ++i) {
    const auto rendered = chat.render({{"n", i}});
    if (rendered.ok()) {  // an undefined attribute renders as nothing
      EXPECT_EQ(*rendered, "") << attempts[i];
    } else {
      EXPECT_THAT(rendered.status().message(), AnyOf(HasSubstr("unsafe"), HasSubstr("undefined"))) << attempts[i];
    }
  }
}

TEST(ChatTemplate, DataCannotBeChanged) {
  const std::vector<std::string> attempts{"{{ list.append(3) }}",         "{{ list.extend([3]) }}",
                                          "{{ map.update({'b': 2}) }}",   "{{ map.pop('a') }}",
                                          "{{ map.setdefault('c', 1) }}", "{{ list.sort() }}"};
  const auto chat = make_choice(attempts);
  for (size_t i = 0; i < attempts.size(); ++i) {
    const Status status = chat.render({{"n", i}, {"list", {1, 2}}, {"map", {{"a", 1}}}}).status();
    EXPECT_EQ(status.code(), StatusCode::invalid_argument) << attempts[i];
    EXPECT_THAT(status.message(), HasSubstr("is unsafe")) << attempts[i];
  }
}

/// Limits end a render with resource_exhausted, and the next one works.
void expect_limit(const std::string& bomb, const std::string& message, ChatTemplate::Options options = tight()) {
  const auto chat = make("{% if bomb %}" + bomb + "{% else %}fine{% endif %}", options);
  const auto rendered = chat.render({{"bomb", true}, {"n", 9}});
  EXPECT_EQ(rendered.status().code(), StatusCode::resource_exhausted) << bomb;
  EXPECT_THAT(rendered.status().message(), HasSubstr(message)) << bomb;
  const auto next = chat.render(ordered_json::object());
  ASSERT_TRUE(next.ok()) << next.status().message();
  EXPECT_EQ(*next, "fine");
}

TEST(ChatTemplate, EndlessTemplatesAreStopped) {
  expect_limit("{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}", "the time is up");
  expect_limit("{{ n ** (n ** n) }}", "the time is up");
}

TEST(ChatTemplate, MemoryIsLimited) {
  ChatTemplate::Options options = tight();
  options.render_seconds_max = 60;
  for (const char* bomb :
       {"{{ ('x' * n * 100000000) | length }}", "{{ '%999999999d' | format(n) | length }}",
        "{% set ns = namespace(s='x') %}{% for i in range(40) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}"}) {
    expect_limit(bomb, "bytes of memory", options);
  }
}

TEST(ChatTemplate, OutputIsLimited) {
  expect_limit("{% for i in range(99999) %}xxxxxxxxxxxx{% endfor %}", "longer than 100000 bytes");
  expect_limit("{{ 'x' * 100001 }}", "longer than 100000 bytes");
  expect_limit("{{ '\u4f60' * 50000 }}", "longer than 100000 bytes");
}

TEST(ChatTemplate, CompilingIsLimitedToo) {
  const auto created = ChatTemplate::create({"{{ 9 ** (9 ** 9) }}", {}, "bomb.jinja"}, tight());
  EXPECT_EQ(created.status().code(), StatusCode::resource_exhausted);
  EXPECT_EQ(ChatTemplate::create({std::string(ChatTemplate::kSourceBytesMax + 1, 'x'), {}, "x"}).status().code(),
            StatusCode::invalid_argument);
}

/// As large as it may be is not too large.
TEST(ChatTemplate, LimitsAreReached) {
  EXPECT_TRUE(ChatTemplate::create({std::string(ChatTemplate::kSourceBytesMax, 'x'), {}, "x"}).ok());
  EXPECT_EQ(make("{{ 'x' * 100000 }}").render(ordered_json::object())->size(), 100'000U);
  ChatTemplate::Options options;
  options.request_bytes_max = std::string_view(R"({"template":0,"context":{"s":"four"}})").size();
  options.output_bytes_max = 10;
  const auto chat = make("{{ raise_exception('no ' * 300) if s == 'five' else s }}", options);
  EXPECT_EQ(*chat.render({{"s", "four"}}), "four");
  EXPECT_EQ(chat.render({{"s", "five5"}}).status().code(), StatusCode::resource_exhausted);
  // A refusal may be longer than what is rendered.
  const Status refused = chat.render({{"s", "five"}}).status();
  EXPECT_EQ(refused.code(), StatusCode::invalid_argument) << refused.message();
  EXPECT_THAT(refused.message(), HasSubstr("no no no"));
}

TEST(ChatTemplate, WhoReachedALimitIsTrustedNoMore) {
  ChatTemplate::Options options;
  options.output_bytes_max = 10;
  const auto chat = make("{{ 'x' * n }}", options);
  EXPECT_GT(chat.worker_pid(), 0);
  EXPECT_EQ(chat.render({{"n", 11}}).status().code(), StatusCode::resource_exhausted);
  EXPECT_EQ(chat.worker_pid(), -1);
  EXPECT_EQ(chat.render({{"n", 10}})->size(), 10U);
  EXPECT_GT(chat.worker_pid(), 0);
}

TEST(ChatTemplate, InputIsLimited) {
  const auto chat = make("{{ s|length }}", tight());
  EXPECT_EQ(*chat.render({{"s", std::string(1'000'000, 'x')}}), "1000000");
  EXPECT_EQ(chat.render({{"s", std::string(10'000'001, 'x')}}).status().code(), StatusCode::resource_exhausted);
  EXPECT_EQ(chat.render({{"s", "\xFF"}}).status().code(), StatusCode::invalid_argument);
  EXPECT_EQ(chat.render(ordered_json::array()).status().code(), StatusCode::invalid_argument);
  ordered_json deep = 1;
  for (int i = 0; i < 1000; ++i) deep = ordered_json::array({std::move(deep)});
  EXPECT_THAT(chat.render({{"s", std::move(deep)}}).status().message(), HasSubstr("nested at most 128 deep"));
}

TEST(ChatTemplate, AKilledWorkerIsReplaced) {
  const auto chat = make("fine");
  for (int i = 0; i < 3; ++i) {
    const pid_t worker = chat.worker_pid();
    ASSERT_GT(worker, 0);
    ASSERT_EQ(kill(worker, SIGKILL), 0);
    siginfo_t info;
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(worker), &info, WEXITED | WNOWAIT), 0);
    const auto rendered = chat.render(ordered_json::object());
    ASSERT_TRUE(rendered.ok()) << rendered.status().message();
    EXPECT_EQ(*rendered, "fine");
    EXPECT_NE(chat.worker_pid(), worker);
    EXPECT_EQ(kill(worker, 0), -1) << "the dead worker was not reaped";
  }
}

TEST(ChatTemplate, LargeRequestsHaveAWorkerOfTheirOwn) {
  ChatTemplate::Options options;
  options.output_bytes_max = 1000;
  const auto chat = make("{% if all %}{{ s }}{% else %}{{ s|length }}{% endif %}", options);
  const pid_t worker = chat.worker_pid();
  const std::string large(ChatTemplate::kSmallRequestBytesMax, 'x');
  EXPECT_EQ(chat.render({{"s", large}, {"all", true}}).status().code(), StatusCode::resource_exhausted);
  EXPECT_EQ(chat.worker_pid(), worker) << "the worker of small requests had to do with it";
  EXPECT_EQ(*chat.render({{"s", large}}), std::to_string(large.size())) << "the other is replaced";
  EXPECT_EQ(*chat.render({{"s", "x"}}), "1");
  EXPECT_EQ(chat.worker_pid(), worker);
}

TEST(ChatTemplate, NoProcessIsLeftBehind) {
  pid_t worker = -1;
  { worker = make("x").worker_pid(); }
  ASSERT_GT(worker, 0);
  EXPECT_EQ(kill(worker, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(ChatTemplate, TheWorkerInheritsNothing) {
  std::array<int, 2> ends{};  // without O_CLOEXEC
  ASSERT_EQ(pipe(ends.data()), 0);
  setenv("TESSERA_TEST_SECRET", "1", 1);
  const auto chat = make("x");
  ASSERT_TRUE(chat.render(ordered_json::object()).ok());
  const auto proc = std::filesystem::path("/proc") / std::to_string(chat.worker_pid());
  int descriptors = 0;
  for (const auto& entry : std::filesystem::directory_iterator(proc / "fd")) {
    EXPECT_LE(std::stoi(entry.path().filename()), 2);
    ++descriptors;
  }
  EXPECT_EQ(descriptors, 3);
  std::ifstream environment(proc / "environ");
  const std::string variables((std::istreambuf_iterator<char>(environment)), {});
  EXPECT_THAT(variables, Not(HasSubstr("TESSERA_TEST_SECRET")));
  unsetenv("TESSERA_TEST_SECRET");
  close(ends[0]);
  close(ends[1]);
}

/// Ctrl-C in a terminal goes to all of a group: requests that are open may still be rendered.
TEST(ChatTemplate, TheWorkerIsOfNoGroupButItsOwn) {
  const auto chat = make("x");
  ASSERT_GT(chat.worker_pid(), 0);
  EXPECT_EQ(getpgid(chat.worker_pid()), chat.worker_pid());
}

TEST(ChatTemplate, TimesAreOfTheZoneThatTheProgramIsIn) {
  setenv("TZ", "TEST-13:37", 1);  // so much ahead
  const auto now = [] {
    const std::time_t there = std::time(nullptr) + 13 * 3600 + 37 * 60;
    return fmt::format("{:%d %H:%M}", fmt::gmtime(there));
  };
  const auto chat = make("{{ strftime_now('%d %H:%M') }}");
  const std::string before = now();
  const auto rendered = chat.render(ordered_json::object());
  EXPECT_THAT(*rendered, AnyOf(before, now()));
  unsetenv("TZ");
}

TEST(ChatTemplate, ThreadsMayShareIt) {
  const auto chat = make("{% for i in range(n) %}{{ i }},{% endfor %}");
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 1; t <= 4; ++t) {
    threads.emplace_back([&, t] {
      std::string expected;
      for (int i = 0; i < t * 50; ++i) expected += std::to_string(i) + ",";
      for (int i = 0; i < 50; ++i) {
        if (t == 4 && i % 20 == 10) kill(chat.worker_pid(), SIGKILL);
        const auto rendered = chat.render({{"n", t * 50}});
        // A worker that is killed while it renders costs that one answer.
        if (rendered.ok() ? *rendered != expected : rendered.status().code() != StatusCode::unavailable) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(chat.render({{"n", 1}}).ok());
}

TEST(ChatTemplate, WithoutPythonItSaysWhatToInstall) {
  const test::TempDirectory folder;
  const auto broken = folder.write("python3", "#!/bin/sh\nexit 3\n");
  std::filesystem::permissions(broken, std::filesystem::perms::owner_all);
  ChatTemplate::Options options;
  options.interpreters = {"/nonexistent/python3", broken.string()};
  const Status status = ChatTemplate::create({"x", {}, "t"}, options).status();
  EXPECT_EQ(status.code(), StatusCode::unavailable);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("python3-jinja2"), HasSubstr("/nonexistent/python3"),
                                      HasSubstr("No such file"), HasSubstr(broken.string())));
  options.interpreters.emplace_back("/usr/bin/python3");
  EXPECT_EQ(*make("x", options).render(ordered_json::object()), "x") << "the next candidate is tried";
}

/// What works is remembered: what does not is tried once.
TEST(ChatTemplate, TheInterpreterThatWorksIsKept) {
  const test::TempDirectory folder;
  const std::string tries = (folder.path() / "tries").string();
  const auto broken =
      folder.write("python3", "#!/bin/sh\necho x >>" + tries + "\nprintf 'M\\005\\000\\000\\000lacks'\n");
  std::filesystem::permissions(broken, std::filesystem::perms::owner_all);
  ChatTemplate::Options options;
  options.interpreters = {broken.string()};
  EXPECT_THAT(ChatTemplate::create({"x", {}, "t"}, options).status().message(), HasSubstr("(lacks)"));
  options.interpreters.emplace_back("/usr/bin/python3");
  options.output_bytes_max = 10;
  const auto chat = make("{{ 'x' * n }}", options);
  EXPECT_EQ(chat.render({{"n", 11}}).status().code(), StatusCode::resource_exhausted);
  EXPECT_EQ(chat.render({{"n", 1}})->size(), 1U);
  EXPECT_EQ(std::filesystem::file_size(tries), 4U) << "once for each template";
}

TEST(ChatTemplate, APythonThatHangsIsGivenUp) {
  const test::TempDirectory folder;
  const auto slow = folder.write("python3", "#!/bin/sh\nexec sleep 1000\n");
  std::filesystem::permissions(slow, std::filesystem::perms::owner_all);
  ChatTemplate::Options options;
  options.interpreters = {slow.string()};
  options.start_seconds_max = 0.2;
  EXPECT_THAT(ChatTemplate::create({"x", {}, "t"}, options).status().message(), HasSubstr("the time is up"));
}

/// Behind Debian's own, that of each folder of PATH that is the same wherever the program was started.
TEST(ChatTemplate, WhereAPythonIsLookedFor) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", "relative:/usr/bin::/nowhere:/usr/local/none", 1);
  ChatTemplate::Options options;
  options.start_seconds_max = 0;  // none is in time
  const std::string message = ChatTemplate::create({"x", {}, "t"}, options).status().message();
  setenv("PATH", path.c_str(), 1);
  std::vector<std::string> tried;
  for (size_t at = 0; (at = message.find("/python3 (", at)) != std::string::npos; ++at) {
    const size_t begin = message.rfind(' ', at) + 1;
    tried.push_back(message.substr(begin, at - begin));
  }
  EXPECT_THAT(tried, testing::ElementsAre("/usr/bin", "/nowhere", "/usr/local/none")) << message;
}

TEST(ChatTemplate, AnAnswerThatLiesAboutItsLengthIsRefused) {
  const test::TempDirectory folder;
  const auto liar = folder.write("python3", "#!/bin/sh\nprintf 'T\\377\\377\\377\\377'\nexec sleep 1000\n");
  std::filesystem::permissions(liar, std::filesystem::perms::owner_all);
  ChatTemplate::Options options;
  options.interpreters = {liar.string()};
  EXPECT_THAT(ChatTemplate::create({"x", {}, "t"}, options).status().message(), HasSubstr("4294967295 bytes"));
}

/// Whatever a thread blocks or the program ignores, and wherever it was started.
TEST(WorkerProcess, BeginsAfresh) {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGALRM);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
  const auto handler = std::signal(SIGTERM, SIG_IGN);
  const auto worker = WorkerProcess::start({"/bin/sleep", "1000"});
  std::signal(SIGTERM, handler);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ASSERT_TRUE(worker.ok()) << worker.status().message();
  const auto proc = std::filesystem::path("/proc") / std::to_string(worker->pid());
  EXPECT_EQ(std::filesystem::read_symlink(proc / "cwd"), "/");
  std::ifstream file(proc / "status");
  const std::string status((std::istreambuf_iterator<char>(file)), {});
  const auto signals = [&](const std::string& name) {
    return std::stoull(status.substr(status.find(name) + name.size()), nullptr, 16);
  };
  EXPECT_EQ(signals("SigBlk:"), 0U);
  EXPECT_EQ(signals("SigIgn:") >> (SIGTERM - 1) & 1, 0U);
}

/// Neither one that cannot be started nor one that has been stopped.
TEST(WorkerProcess, LeavesNoDescriptorOpen) {
  const auto open_files = [] {
    const std::filesystem::directory_iterator files("/proc/self/fd");
    return std::distance(begin(files), end(files));
  };
  const auto before = open_files();
  EXPECT_THAT(WorkerProcess::start({"/nonexistent/python3"}).status().message(),
              AllOf(HasSubstr("/nonexistent/python3"), HasSubstr("No such file")));
  EXPECT_EQ(open_files(), before);
  EXPECT_TRUE(WorkerProcess::start({"/bin/true"}).ok());
  EXPECT_EQ(open_files(), before);
}

TEST(WorkerProcess, WhatIsSentToOneThatHasEndedIsAnError) {
  auto worker = WorkerProcess::start({"/bin/true"});
  ASSERT_TRUE(worker.ok()) << worker.status().message();
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(worker->pid()), &info, WEXITED | WNOWAIT), 0);
  const Status status = worker->send('R', "x", std::chrono::steady_clock::now() + std::chrono::seconds(30));
  EXPECT_EQ(status.code(), StatusCode::unavailable);
  EXPECT_THAT(status.message(), HasSubstr("ended unexpectedly"));
}

TEST(WorkerProcess, AnAnswerMayBeAsLongAsIsAccepted) {
  for (const size_t accepted : {2, 3}) {
    auto worker = WorkerProcess::start({"/bin/sh", "-c", "printf 'T\\003\\000\\000\\000abc'; exec sleep 1000"});
    ASSERT_TRUE(worker.ok()) << worker.status().message();
    const auto frame = worker->receive(accepted, std::chrono::steady_clock::now() + std::chrono::seconds(30));
    ASSERT_EQ(frame.ok(), accepted == 3);
    if (frame.ok()) EXPECT_EQ(frame->payload, "abc");
  }
}

}  // namespace
}  // namespace tessera::text
