"""The web page in a real browser. Screenshots go to TESSERA_SCREENSHOTS, or to the test's own folder."""

import json
import re

import pytest
from browsing import (CHAT, PHONE, answer_with, answers, ask, browser, bubbles, done, needs_browser, page, pictures,
                      send, server, settings, small_targets, stored, titles, without_end)
from playwright.sync_api import expect
from served import NAME, Served

pytestmark = needs_browser
MARKDOWN = r"""Here is **bold**, `code`, vector<int> and a list:

1. one
   - nested
2. two

- [x] done
- [ ] to do

| tile | bytes |
|:-----|------:|
| 64x8x256 | 39936 |

Euler: $e^{i\pi} + 1 = 0$ for $5 or $10, and https://example.com/auto

$$\int_0^\infty e^{-x^2}\,dx = \frac{\sqrt{\pi}}{2}$$

```cpp
int answer = 42;  // one
```

"""
HOSTILE = r"""<img src=x onerror="document.title='broken'"> <script>document.title='broken'</script>
[bad](javascript:document.title='broken')
<a href="JaVaScRiPt:document.title='broken'" onclick="document.title='broken'">worse</a>
<b style="position:fixed" onmouseover="document.title='broken'" class="error" id="prompt">fat</b>
<iframe srcdoc="<script>parent.document.title='broken'</script>"></iframe> <svg onload="document.title='broken'"></svg>
<form action="https://example.com/"><input name="key"></form>
<details open ontoggle="document.title='broken'"><summary>fold</summary>in</details>

$\href{javascript:document.title='broken'}{x}$ ![seen](https://example.com/seen.png) [good](https://example.com/)"""


def pieces(text):
    return ({"content": piece} for piece in re.split("(?<= )", text))


def test_chat(page, pictures):
    page.screenshot(path=pictures / "welcome.png")
    expect(page.locator("#welcome")).to_contain_text(f'"model":"{NAME}"')
    settings(page, max_tokens=24, seed=3, thinking="off")
    send(page, "What is a tile?\nSay it in two lines.")
    answer = page.locator(".answer").last
    expect(answer.locator(".content")).not_to_be_empty()
    done(page)
    facts = re.compile(r"^\d+ tokens · [\d.]+ tok/s · first after .* · prompt \d+")
    expect(answer.locator(".facts")).to_have_text(facts)
    first = answer.locator(".content").inner_text()
    answer.get_by_role("button", name="Regenerate").click()
    done(page)
    assert answers(page).inner_text() == first  # one seed, one answer
    expect(answer.locator(".branches")).to_have_text("2 / 2")
    expect(page.locator("#meter-text")).to_have_text(re.compile(r"^\d+ / 65,536$"))
    page.screenshot(path=pictures / "chat.png")
    page.reload()
    expect(page.locator(".bubble")).to_have_text("What is a tile?\nSay it in two lines.")
    assert page.locator(".answer .content").inner_text() == first
    expect(page.locator("#state")).to_contain_text("0 running · 0 waiting · KV")


def test_thinking_is_folded(page, pictures):
    without_end(page)
    settings(page, max_tokens=24, seed=3)
    send(page, "Think")
    done(page)
    thinking = page.locator("details.thinking")
    expect(thinking).not_to_have_attribute("open", "")
    expect(thinking.locator("summary")).to_have_text(re.compile("Thought for [0-9.]+ s"))
    thinking.locator("summary").click()
    expect(thinking.locator(".md")).not_to_be_empty()
    page.screenshot(path=pictures / "thinking.png")


def test_stop(page, server):
    without_end(page)
    settings(page, max_tokens=60_000, temperature=0)
    for stop in [lambda: page.click("#send"), lambda: page.keyboard.press("Escape")]:
        send(page, "Go on for long")
        expect(page.locator(".facts").last).to_have_text(re.compile("tok/s"))
        expect(page.locator("#send")).to_have_text("Stop")
        # Who scrolls up to read stays there while more comes.
        assert page.evaluate("""async () => {
          const scroll = document.getElementById("scroll");
          const until = async (holds) => { while (!holds()) await new Promise((done) => setTimeout(done, 20)); };
          await until(() => scroll.scrollHeight > innerHeight + 200);
          scroll.scrollTop = 0;
          const before = scroll.scrollHeight;
          await until(() => scroll.scrollHeight > before + 100);
          return scroll.scrollTop;
        }""") == 0
        page.click("#bottom")
        expect(page.locator("#bottom")).to_be_hidden()
        stop()
        done(page)
        expect(page.locator(".facts").last).to_have_text(re.compile("about .* stopped$"))
        server.wait_idle()
        page.click("#new")  # what a slow browser let come may leave no room for another


def test_keyboard_edit_and_branches(page):
    settings(page, max_tokens=4)
    page.keyboard.press("?")
    expect(page.locator("#help")).to_contain_text("Search the conversations")
    page.keyboard.press("Escape")
    page.keyboard.press("Shift+Escape")
    page.keyboard.type("one")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("two")
    page.keyboard.press("Enter")
    done(page)
    expect(bubbles(page)).to_have_text("one\ntwo")
    ask(page, "three")
    page.locator(".user").first.get_by_role("button", name="Edit").click()
    page.keyboard.press("Control+A")
    page.keyboard.type("changed")
    page.keyboard.press("Enter")
    done(page)
    expect(bubbles(page)).to_have_text(["changed"])
    page.locator(".user").get_by_role("button", name="The branch before").click()
    expect(bubbles(page)).to_have_text(["one\ntwo", "three"])
    assert len(stored(page)) == 6
    page.reload()
    expect(bubbles(page)).to_have_text(["one\ntwo", "three"])
    page.locator(".user").first.get_by_role("button", name="The next branch").click()
    expect(bubbles(page)).to_have_text(["changed"])
    page.locator(".answer").get_by_role("button", name="Edit").click()  # the answer, as it should have been
    page.keyboard.press("Control+A")
    page.keyboard.type("Mine")
    page.keyboard.press("Enter")
    expect(answers(page)).to_have_text("Mine")
    page.locator("#prompt").press("ArrowUp")
    expect(page.locator(".user textarea")).to_have_value("changed")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Shift+O")
    expect(page.locator("#welcome")).to_be_visible()


def test_an_answer_that_was_cut_goes_on(page):
    without_end(page)
    settings(page, max_tokens=8, thinking="off", temperature=0)
    ask(page, "Go on")
    expect(page.locator(".facts")).to_contain_text("cut at the token limit")
    first = answers(page).inner_text()
    with page.expect_request(CHAT) as sent:
        page.get_by_role("button", name="Continue").click()
    done(page)
    body = sent.value.post_data_json
    assert body["continue_final_message"] and not body["add_generation_prompt"]
    assert [message["role"] for message in body["messages"]] == ["user", "assistant"]
    expect(page.locator(".facts")).to_contain_text("16 tokens")
    assert page.locator(".branches:visible").count() == 0
    longer = answers(page).inner_text()
    assert longer.startswith(first.rstrip()) and len(longer) > len(first)


def test_settings_are_sent_and_kept(page):
    page.click("#settings-toggle")
    page.select_option("#preset", "precise")
    expect(page.locator("[name=top_k]")).to_have_value("20")
    page.click("#settings-close")
    settings(page, system="Be brief.", temperature=0.5, top_k=7, min_p=0.05, top_p=0.9, seed=9, max_tokens=5,
             presence_penalty=0.5, stop="END\n\\n\\n", thinking="off", more='{"logit_bias": {"11": -5}}')
    expect(page.locator("#preset")).to_have_value("own")
    page.reload()
    expect(page.locator("#lamp")).to_have_class("ready")
    with page.expect_request(CHAT) as sent:
        send(page, "Hi")
    body = sent.value.post_data_json
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    expected = {"temperature": 0.5, "top_k": 7, "min_p": 0.05, "top_p": 0.9, "seed": 9, "max_tokens": 5,
                "presence_penalty": 0.5, "stop": ["END", "\n\n"], "logit_bias": {"11": -5},
                "chat_template_kwargs": {"enable_thinking": False}}
    assert {name: body[name] for name in expected} == expected
    done(page)


def test_errors_are_shown_as_the_server_says_them(page, pictures):
    settings(page, temperature=-3)
    send(page, "Hi")
    error = page.locator(".error")
    expect(error).to_contain_text("Error 400")
    expect(error).to_contain_text("temperature")
    page.screenshot(path=pictures / "error.png")
    settings(page, temperature="", max_tokens=4)
    page.get_by_role("button", name="Try again").click()
    done(page)
    expect(page.locator(".error")).to_be_hidden()
    expect(page.locator(".answer .branches")).to_be_hidden()  # an error alone is not worth a branch


def test_tool_calls(page, pictures):
    page.click("#settings-toggle")
    page.click("#example-tool")
    expect(page.locator("#tools-state")).to_have_text("Offered: get_weather")
    page.locator("[name=tools]").fill("{broken")
    expect(page.locator("#tools-state")).to_contain_text("not JSON")
    page.click("#example-tool")
    page.click("#settings-close")
    settings(page, tool_choice="required", thinking="off", max_tokens=32)
    send(page, "Weather in Berlin?")  # this one is the server's
    expect(page.locator(".call").first).to_contain_text("get_weather")
    done(page)
    page.click("#new")
    call = {"type": "function"}
    answer_with(page, {"role": "assistant", "content": ""}, {"content": "I look it up."},
           {"tool_calls": [{**call, "index": 0, "id": "call_a", "function": {"name": "get_weather", "arguments": ""}}]},
           {"tool_calls": [{"index": 0, "function": {"arguments": '{"city": '}}]},
           {"tool_calls": [{"index": 0, "function": {"arguments": '"Berlin"}'}}]},
           {"tool_calls": [{**call, "index": 1, "id": "call_b",
                            "function": {"name": "get_weather", "arguments": '{"city": "Lagos"}'}}]},
           finish="tool_calls")
    send(page, "Weather in Berlin and Lagos?")
    done(page)
    expect(page.locator(".call")).to_have_count(2)
    expect(page.locator(".call pre").first).to_have_text('{\n  "city": "Berlin"\n}')
    page.screenshot(path=pictures / "tools.png")
    page.unroute(CHAT)
    settings(page, tool_choice="none")
    page.locator(".call textarea").nth(0).fill("21 degrees")
    page.get_by_role("button", name="Answer this call").nth(0).click()
    page.locator(".call textarea").nth(1).fill("31 degrees")
    with page.expect_request(CHAT) as sent:
        page.locator(".call").nth(1).get_by_role("button", name="Answer this call").click()
    roles = [(message["role"], message.get("tool_call_id")) for message in sent.value.post_data_json["messages"]]
    assert roles == [("user", None), ("assistant", None), ("tool", "call_a"), ("tool", "call_b")]
    done(page)
    expect(page.locator(".answer").last.locator(".error")).to_be_hidden()
    assert page.locator(".answer").count() == 2


@pytest.mark.parametrize("page", [{"viewport": {"width": 1200, "height": 900}, "color_scheme": scheme}
                                  for scheme in ("light", "dark")], indirect=True, ids=["light", "dark"])
def test_markdown(page, pictures, request):
    answer_with(page, {"reasoning_content": "Let me see."}, *pieces(MARKDOWN + HOSTILE))
    ask(page, "Show me")
    content = answers(page)
    expect(content.locator("strong")).to_have_text("bold")
    expect(content.locator("ol > li")).to_have_count(2)
    expect(content.locator("input:checked")).to_have_count(1)
    expect(content.locator("td")).to_have_text(["64x8x256", "39936"])
    expect(content.locator("pre")).to_have_text("int answer = 42;  // one")
    expect(content.locator("pre .token.keyword")).to_have_text("int")
    expect(content.locator(".katex")).to_have_count(3)
    expect(content.locator(".katex-display .frac-line, .katex-display .mfrac")).not_to_have_count(0)
    expect(content).to_contain_text("for $5 or $10, and")
    expect(content).to_contain_text("vector<int>")
    expect(content.locator(".code").get_by_role("button")).to_have_text("Copy")
    assert page.evaluate("document.fonts.load('16px KaTeX_Main').then((fonts) => fonts.length)") == 1
    # What is no text of an answer is its letters, or nothing.
    expect(content).to_contain_text("<img src=x onerror=\"document.title='broken'\">")
    for hostile in ["img", "script", "iframe", "svg:not(.katex svg)", "form", ".error", "#prompt", "[onclick]",
                    "[style*=fixed]"]:
        expect(content.locator(hostile)).to_have_count(0)
    expect(content.locator("a[href]")).to_have_text(["https://example.com/auto", "seen", "good"])
    for name in ["bad", "worse", "fat", "fold"]:
        content.get_by_text(name, exact=True).click()
    assert page.title() == "Show me · Tessera"
    page.locator("#scroll").evaluate("(node) => (node.scrollTop = 0)")
    page.screenshot(path=pictures / f"markdown-{request.node.callspec.id}.png")


def test_model_names_are_short(page):
    models = {"data": [{"id": "org/alpha", "max_model_len": 10}, {"id": "/models/beta/", "max_model_len": 10}]}
    page.route("**/v1/models", lambda route: route.fulfill(json=models))
    page.reload()
    expect(page.locator("#model option")).to_have_text(["alpha", "beta"])
    expect(page.locator("#model")).to_have_value("org/alpha")


def test_theme(page, pictures):
    assert page.evaluate("matchMedia('(prefers-color-scheme: light)').matches")
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    settings(page, theme="dark")
    dark = page.evaluate(colour)
    assert dark != light
    page.screenshot(path=pictures / "welcome-dark.png")
    page.click("#settings-toggle")
    page.screenshot(path=pictures / "settings-dark.png")
    page.reload()
    assert page.evaluate(colour) == dark


def test_a_tool_is_called_and_answered(browser, talking, pictures):
    """The whole way with a model that talks: it calls, the user answers by hand, it says what came of it."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    page.goto(talking.url)
    page.click("#settings-toggle")
    page.click("#example-tool")
    page.fill("[name=temperature]", "0")
    page.click("#settings-close")
    send(page, "Weather in Berlin and Lagos?")
    expect(page.locator(".call pre").nth(0)).to_have_text('{\n  "city": "Berlin"\n}')
    expect(page.locator(".call pre").nth(2)).to_have_text('{\n  "city": "Lagos"\n}')
    done(page)
    for index, degrees in enumerate((21, 33)):
        page.locator(".call textarea").nth(index).fill(json.dumps({"temperature": degrees, "sky": "clear"}))
        page.locator(".call").nth(index).get_by_role("button", name="Answer this call").click()
    expect(page.locator(".answer")).to_have_count(2)
    done(page)
    expect(page.locator(".answer").last.locator(".content")).to_contain_text("33")
    page.screenshot(path=pictures / "talk.png")
    context.close()


@pytest.mark.parametrize("page", [PHONE], indirect=True, ids=["phone"])
def test_phone(page, pictures):
    page.screenshot(path=pictures / "phone-welcome.png")
    assert small_targets(page) == []
    page.tap("#settings-toggle")
    expect(page.locator("#settings")).to_be_in_viewport()
    page.screenshot(path=pictures / "phone-settings.png")
    assert small_targets(page) == []
    page.locator("[name=max_tokens]").fill("24")
    page.tap("#settings-close")
    answer_with(page, {"reasoning_content": "Hm."}, *pieces(MARKDOWN), finish="length")
    page.fill("#prompt", "A question that is a little longer than the line")
    page.tap("#send")
    done(page)
    page.screenshot(path=pictures / "phone.png")
    page.get_by_role("button", name="Regenerate").tap()
    done(page)
    expect(page.locator(".answer .branches")).to_have_text("2 / 2")
    assert small_targets(page) == []
    # Wide things scroll within themselves; the page does not.
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.eval_on_selector("#scroll", "(node) => node.scrollWidth <= node.clientWidth")
    page.tap("#sidebar-toggle")
    expect(titles(page)).to_be_in_viewport()
    page.screenshot(path=pictures / "phone-list.png")
    assert small_targets(page) == []
    page.emulate_media(color_scheme="dark")
    page.screenshot(path=pictures / "phone-list-dark.png")
    page.locator("#list").get_by_role("button", name="Delete").tap()
    page.get_by_role("button", name="Undo").tap()  # it lies above the list
    page.locator("#list a").tap()
    expect(page.locator("#sidebar")).to_be_hidden()
    expect(bubbles(page)).to_have_count(1)
    page.screenshot(path=pictures / "phone-dark.png")
    page.tap("#settings-toggle")
    expect(page.locator("#settings")).to_be_in_viewport()
    page.screenshot(path=pictures / "phone-settings-dark.png")


def test_nothing_moves_while_an_answer_streams(page):
    settings(page, max_tokens=20, thinking="off")
    drawn = "await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));"
    page.evaluate("""async () => {
      DRAWN
      window.moved = 0;
      const add = (list) => list.getEntries().forEach((entry) => { window.moved += entry.value; });
      window.observer = new PerformanceObserver(add);
      window.observer.observe({ type: "layout-shift", buffered: false });
    }""".replace("DRAWN", drawn))
    send(page, "Hi")
    done(page)
    moved = page.evaluate("""async () => {
      DRAWN
      return window.observer.takeRecords().reduce((sum, entry) => sum + entry.value, window.moved);
    }""".replace("DRAWN", drawn))
    assert moved < 0.02


def test_key(browser, model, folder, pictures):
    served = Served(model, folder, "--api-key", "secret", key="secret")
    context = browser.new_context()
    try:
        page = context.new_page()
        page.goto(served.url)
        expect(page.locator("#key-dialog")).to_be_visible()
        page.screenshot(path=pictures / "key.png")
        page.get_by_role("button", name="Cancel").click()
        send(page, "Hi")  # asks again
        expect(page.locator("#key-dialog")).to_be_visible()
        page.fill("#key", "wrong")
        page.keyboard.press("Enter")
        expect(page.locator("#key-title")).to_have_text("The server refused this API key")
        expect(page.locator("#key-problem")).to_contain_text("key")
        page.screenshot(path=pictures / "wrong-key.png")
        page.fill("#key", "secret")
        page.keyboard.press("Enter")
        expect(page.locator("#model option")).to_have_text([NAME])
        settings(page, max_tokens=4)
        page.get_by_role("button", name="Try again").click()
        done(page)
        expect(page.locator(".error")).to_be_hidden()
    finally:
        context.close()
        served.stop()
