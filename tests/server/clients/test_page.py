"""The web page in a real browser. Screenshots go to TESSERA_SCREENSHOTS, or to the test's own folder."""

import json
import os
import pathlib
import re

import pytest
from playwright.sync_api import expect, sync_playwright
from served import NAME, Served, chromium, serving

BROWSER = chromium()
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium package on this machine (Ubuntu's is a snap stub)")

expect.set_options(timeout=60_000)  # other tests run beside the browser; five seconds, the default, have run out

PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True}
MARKDOWN = """Here is **bold**, `code` and a list:

1. one
   - nested
2. two

| tile | bytes |
|:-----|------:|
| 64x8x256 | 39936 |

```cpp
int answer = 42;
```

<img src=x onerror="document.title='broken'"> [bad](javascript:alert(1)) [good](https://example.com/)"""


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        # Without its sandbox: in containers and as root it has none. It sees this server alone.
        made = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture(scope="module")
def server(model, folder):
    """Its answers may be so long that a slow browser is still in time to stop them."""
    yield from serving(model, folder, "--max-model-len", "65536")


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    folder = pathlib.Path(os.environ.get("TESSERA_SCREENSHOTS") or tmp_path_factory.mktemp("screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def page(browser, server, request):
    """A page of a new profile. Fails on any script error, CSP report or request to elsewhere."""
    context = browser.new_context(**getattr(request, "param", {"viewport": {"width": 1200, "height": 800}}))
    made = context.new_page()
    made.set_default_timeout(60_000)
    faults = []
    made.on("pageerror", lambda error: faults.append(str(error)))
    made.on("console", lambda message: faults.append(message.text) if message.type == "error"
            and "Failed to load resource" not in message.text else None)
    made.on("request", lambda sent: faults.append(sent.url) if not sent.url.startswith(server.url) else None)
    made.goto(server.url)
    expect(made.locator("#lamp")).to_have_class("ready")
    yield made
    assert faults == []
    context.close()


def settings(page, **values):
    page.click("#toggle")
    for name, value in values.items():
        field = page.locator(f"#fields [name={name}]")
        if isinstance(value, bool):
            field.set_checked(value)
        elif name == "tool_choice":
            field.select_option(value)
        else:
            field.fill(str(value))
    page.click("#close")


def send(page, text):
    page.fill("#prompt", text)
    page.press("#prompt", "Enter")


def done(page):
    expect(page.locator("body")).not_to_have_class("running")


def script(page, *deltas, finish="stop"):
    """Answers the next requests with these deltas: what random weights will not say."""
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    chunks.append({"choices": [], "usage": {"prompt_tokens": 1021, "completion_tokens": len(deltas),
                                            "prompt_tokens_details": {"cached_tokens": 960}}})
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    page.route("**/v1/chat/completions",
               lambda route: route.fulfill(status=200, content_type="text/event-stream", body=body))


def test_chat(page, pictures):
    page.screenshot(path=pictures / "welcome.png")
    expect(page.locator("#welcome")).to_contain_text(f'"model":"{NAME}"')
    settings(page, max_tokens=24, seed=3, thinking=False)
    send(page, "What is a tile?\nSay it in two lines.")
    answer = page.locator(".answer").last
    expect(answer.locator(".content")).not_to_be_empty()
    done(page)
    facts = re.compile(r"^\d+ tokens · [\d.]+ tok/s · first after .* · prompt \d+")
    expect(answer.locator(".facts")).to_have_text(facts)
    first = answer.locator(".content").inner_text()
    answer.get_by_role("button", name="Regenerate").click()
    done(page)
    assert page.locator(".answer .content").inner_text() == first  # one seed, one answer
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


def without_end(page):
    """The server's answers go on to max_tokens: random weights may end one at any word, before anybody stops it."""
    page.route("**/v1/chat/completions", lambda route: route.continue_(
        post_data=json.dumps({**route.request.post_data_json, "ignore_eos": True})))


def test_stop(page, server):
    without_end(page)
    settings(page, max_tokens=60_000, temperature=0)
    for stop in [lambda: page.click("#send"), lambda: page.keyboard.press("Escape")]:
        send(page, "Go on for long")
        expect(page.locator(".facts").last).to_have_text(re.compile("tok/s"))
        expect(page.locator("#send")).to_have_text("Stop")
        stop()
        done(page)
        expect(page.locator(".facts").last).to_have_text(re.compile("about .* stopped$"))
        server.wait_idle()


def test_keyboard_and_edit(page):
    settings(page, max_tokens=4)
    page.focus("#prompt")
    page.keyboard.type("one")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("two")
    page.keyboard.press("Enter")
    done(page)
    expect(page.locator(".bubble")).to_have_text("one\ntwo")
    send(page, "three")
    done(page)
    page.locator(".user").first.get_by_role("button", name="Edit").click()
    page.keyboard.press("Control+A")
    page.keyboard.type("changed")
    page.keyboard.press("Enter")
    done(page)
    expect(page.locator(".bubble")).to_have_text(["changed"])
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".bubble")).to_have_text(["one\ntwo", "three"])
    page.click("#new")
    expect(page.locator("#welcome")).to_be_visible()


def test_settings_are_sent_and_kept(page):
    settings(page, system="Be brief.", temperature=0.5, top_k=7, min_p=0.05, top_p=0.9, seed=9, max_tokens=5,
             thinking=False)
    page.reload()
    expect(page.locator("#lamp")).to_have_class("ready")
    with page.expect_request("**/v1/chat/completions") as sent:
        send(page, "Hi")
    body = sent.value.post_data_json
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert {name: body[name] for name in ("temperature", "top_k", "min_p", "top_p", "seed", "max_tokens")} == {
        "temperature": 0.5, "top_k": 7, "min_p": 0.05, "top_p": 0.9, "seed": 9, "max_tokens": 5}
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
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


def test_tool_calls(page, pictures):
    page.click("#toggle")
    page.click("#example-tool")
    expect(page.locator("#tools-state")).to_have_text("Offered: get_weather")
    page.locator("[name=tools]").fill("{broken")
    expect(page.locator("#tools-state")).to_contain_text("not JSON")
    page.click("#example-tool")
    page.click("#close")
    settings(page, tool_choice="required", thinking=False, max_tokens=32)
    send(page, "Weather in Berlin?")  # this one is the server's
    expect(page.locator(".call").first).to_contain_text("get_weather")
    done(page)
    page.click("#new")
    call = {"type": "function"}
    script(page, {"role": "assistant", "content": ""}, {"content": "I look it up."},
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
    page.unroute("**/v1/chat/completions")
    settings(page, tool_choice="none")
    page.locator(".call textarea").nth(0).fill("21 degrees")
    page.get_by_role("button", name="Answer this call").nth(0).click()
    page.locator(".call textarea").nth(1).fill("31 degrees")
    with page.expect_request("**/v1/chat/completions") as sent:
        page.locator(".call").nth(1).get_by_role("button", name="Answer this call").click()
    roles = [(message["role"], message.get("tool_call_id")) for message in sent.value.post_data_json["messages"]]
    assert roles == [("user", None), ("assistant", None), ("tool", "call_a"), ("tool", "call_b")]
    done(page)
    expect(page.locator(".answer").last.locator(".error")).to_be_hidden()
    assert page.locator(".answer").count() == 2


@pytest.mark.parametrize("page", [{"viewport": {"width": 1200, "height": 900}, "color_scheme": scheme}
                                  for scheme in ("light", "dark")], indirect=True, ids=["light", "dark"])
def test_markdown_is_text_and_nothing_else(page, pictures, request):
    script(page, {"reasoning_content": "Let me see."}, *({"content": piece} for piece in re.split("(?<= )", MARKDOWN)))
    send(page, "Show me")
    done(page)
    content = page.locator(".answer .content")
    expect(content.locator("strong")).to_have_text("bold")
    expect(content.locator("ol > li")).to_have_count(2)
    expect(content.locator("td")).to_have_text(["64x8x256", "39936"])
    expect(content.locator("pre")).to_have_text("int answer = 42;")
    expect(content).to_contain_text('<img src=x onerror="document.title=\'broken\'"> [bad](javascript:alert(1))')
    expect(content.locator("img")).to_have_count(0)
    expect(content.locator("a")).to_have_attribute("href", "https://example.com/")
    expect(content.locator(".code").get_by_role("button")).to_have_text("Copy")
    page.screenshot(path=pictures / f"markdown-{request.node.callspec.id}.png")


def test_a_tool_is_called_and_answered(browser, talking, pictures):
    """The whole way with a model that talks: it calls, the user answers by hand, it says what came of it."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    page.goto(talking.url)
    page.click("#toggle")
    page.click("#example-tool")
    page.fill("[name=temperature]", "0")
    page.click("#close")
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
    page.tap("#toggle")
    expect(page.locator("#settings")).to_be_in_viewport()
    page.screenshot(path=pictures / "phone-settings.png")
    page.locator("[name=max_tokens]").fill("24")
    page.tap("#close")
    script(page, *({"content": piece} for piece in re.split("(?<= )", MARKDOWN)))
    page.fill("#prompt", "A question that is a little longer than the line")
    page.tap("#send")
    done(page)
    page.screenshot(path=pictures / "phone.png")
    # Wide things scroll within themselves; the page does not.
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.eval_on_selector("#scroll", "(node) => node.scrollWidth <= node.clientWidth")


def test_nothing_moves_while_an_answer_streams(page):
    settings(page, max_tokens=20, thinking=False)
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
        for key in ("wrong", "secret"):
            page.fill("#key", key)
            page.keyboard.press("Enter")
            expect(page.locator("#key")).to_have_value("")
        expect(page.locator("#model option")).to_have_text([NAME])
        settings(page, max_tokens=4)
        page.get_by_role("button", name="Try again").click()
        done(page)
        expect(page.locator(".error")).to_be_hidden()
    finally:
        context.close()
        served.stop()
