"""The web page in a browser, as its tests use it. Screenshots go to TESSERA_SCREENSHOTS, or to a folder of the test."""

import json
import os
import pathlib

import pytest
from playwright.sync_api import expect, sync_playwright
from served import chromium, serving

BROWSER = chromium()
needs_browser = pytest.mark.skipif(BROWSER is None,
                                   reason="no Chromium package on this machine (Ubuntu's is a snap stub)")

expect.set_options(timeout=60_000)  # other tests run beside the browser; five seconds, the default, have run out

PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True}
CHAT = "**/v1/chat/completions"


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
    context.set_default_timeout(60_000)
    faults = []
    ours = (server.url, f"blob:{server.url}")
    context.on("weberror", lambda error: faults.append(str(error.error)))
    context.on("console", lambda message: faults.append(message.text) if message.type == "error"
               and "Failed to load resource" not in message.text else None)
    context.on("request", lambda sent: faults.append(sent.url) if not sent.url.startswith(ours) else None)
    yield tab(context, server)
    context.close()
    assert faults == []


def tab(context, server):
    made = context.new_page()
    made.goto(server.url)
    expect(made.locator("#lamp")).to_have_class("ready")
    return made


def settings(page, **values):
    page.click("#settings-toggle")
    for name, value in values.items():
        field = page.locator(f"#fields [name={name}]")
        if field.evaluate("(node) => node.tagName") == "SELECT":
            field.select_option(str(value))
        else:
            field.fill(str(value))
    page.click("#settings-close")


def send(page, text):
    page.fill("#prompt", text)
    page.press("#prompt", "Enter")


def done(page):
    expect(page.locator("body")).not_to_have_class("running")


def ask(page, text):
    send(page, text)
    done(page)


def bubbles(page):
    return page.locator(".bubble")


def answers(page):
    return page.locator(".answer .content")


def titles(page):
    return page.locator("#list .title")


def stored(page):
    """All messages that the browser keeps, once what is being written is: transactions that overlap run one by one."""
    return page.evaluate("""() => new Promise((resolve) => {
      indexedDB.open("tessera").onsuccess = ({ target }) => {
        const all = target.result.transaction(["conversations", "messages"]).objectStore("messages").getAll();
        all.onsuccess = () => { target.result.close(); resolve(all.result); };
      };
    })""")


def answer_with(page, *deltas, finish="stop"):
    """Answers the next requests with these deltas: what random weights will not say."""
    page.unroute(CHAT)
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    chunks.append({"choices": [], "usage": {"prompt_tokens": 1021, "completion_tokens": len(deltas),
                                            "prompt_tokens_details": {"cached_tokens": 960}}})
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    page.route(CHAT, lambda route: route.fulfill(status=200, content_type="text/event-stream", body=body))


def say(page, *texts, finish="stop"):
    answer_with(page, *({"content": text} for text in texts), finish=finish)


def without_end(page):
    """The server's answers go on to max_tokens: random weights may end one at any word, before anybody stops it."""
    page.route(CHAT, lambda route: route.continue_(
        post_data=json.dumps({**route.request.post_data_json, "ignore_eos": True})))


def talk_until_stopped(page):
    """Answers the next request with numbers, however fast or slow the machine is, until the page stops it."""
    page.evaluate("""() => {
      const real = window.fetch;
      window.fetch = (url, options) => {
        if (!String(url).includes("chat/completions")) return real(url, options);
        let timer;
        const body = new ReadableStream({
          start(stream) {
            let next = 0;
            timer = setInterval(() => {
              const chunk = { choices: [{ index: 0, delta: { content: `${next++} ` } }] };
              stream.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\n`));
            }, 30);
            options.signal.addEventListener("abort", () => {
              clearInterval(timer);
              stream.error(new DOMException("stopped", "AbortError"));
            });
          },
        });
        return Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
      };
    }""")


def small_targets(page):
    """What can be tapped and is smaller than a finger, 44 by 44 px; links within text may be."""
    return page.evaluate("""() => [...document.querySelectorAll("button, input, select, textarea, summary, #list a")]
      .filter((node) => node.checkVisibility({ visibilityProperty: true }) && !node.closest(".md li"))
      .map((node) => [node, node.getBoundingClientRect()])
      .filter(([, box]) => box.width > 0 && (box.width < 43.9 || box.height < 43.9))
      .map(([node, box]) => `${node.outerHTML.slice(0, 80)} ${box.width} x ${box.height}`)""")
