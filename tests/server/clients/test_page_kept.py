"""What the web page keeps in the browser: conversations, in any number of tabs, and their way to files and back."""

import json
import re

import pytest
from browsing import (CHAT, answers, ask, browser, bubbles, done, needs_browser, page, pictures, say, send, server,
                      stored, tab, talk_until_stopped, titles)
from playwright.sync_api import expect

pytestmark = needs_browser


def entry(page, title):
    return page.locator("#list li", has=page.locator(".title", has_text=title))


def press(page, title, what):
    entry(page, title).hover()
    entry(page, title).get_by_role("button", name=what).click()


def test_conversations_stay(page, pictures):
    say(page, "About tiles and shared memory.")
    ask(page, "First question")
    say(page, "Something else.")
    page.evaluate("""() => {  // with nothing between: what is sent goes to the new one
      document.getElementById("new").click();
      document.getElementById("prompt").value = "Second question";
      document.getElementById("composer").requestSubmit();
    }""")
    done(page)
    page.reload()
    expect(titles(page)).to_have_text(["Second question", "First question"])
    expect(bubbles(page)).to_have_text(["Second question"])
    page.keyboard.press("Control+K")
    page.keyboard.type("SHARED mem")
    expect(titles(page)).to_have_text(["First question"])
    expect(page.locator("#list .snippet")).to_contain_text("shared memory")
    page.click("#list a")
    expect(answers(page)).to_have_text(["About tiles and shared memory."])
    page.screenshot(path=pictures / "search.png")
    page.fill("#search", "")
    expect(titles(page)).to_have_count(2)
    press(page, "First question", "Rename")
    page.keyboard.press("Control+A")
    page.keyboard.type("Tiles")
    page.keyboard.press("Enter")
    expect(titles(page)).to_have_text(["Second question", "Tiles"])
    page.go_back()
    expect(bubbles(page)).to_have_text(["Second question"])
    page.go_forward()
    press(page, "Tiles", "Delete")
    expect(titles(page)).to_have_text(["Second question"])
    expect(page.locator("#welcome")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(titles(page)).to_have_text(["Second question", "Tiles"])
    expect(answers(page)).to_have_text(["About tiles and shared memory."])
    press(page, "Second question", "Delete")
    expect(titles(page)).to_have_text(["Tiles"])
    page.reload()
    expect(titles(page)).to_have_text(["Tiles"])
    expect(answers(page)).to_have_text(["About tiles and shared memory."])


def test_two_tabs_lose_nothing(page, server):
    say(page, "One.")
    ask(page, "Shared")
    other = tab(page.context, server)
    say(other, "Alone.")
    ask(other, "Other")
    expect(titles(page)).to_have_text(["Other", "Shared"])
    other.locator("#list a").nth(1).click()
    expect(answers(other)).to_have_text(["One."])
    # Both go on at once: one below the other, or as two branches if neither has heard of the other's yet.
    say(other, "Theirs.")
    say(page, "Ours.")
    for one, text in [(page, "From here"), (other, "From there")]:
        one.fill("#prompt", text)
    page.evaluate("document.getElementById('composer').requestSubmit()")
    other.evaluate("document.getElementById('composer').requestSubmit()")
    done(page)
    done(other)
    page.reload()
    expect(titles(page)).to_have_text(["Shared", "Other"])
    kept = stored(page)
    assert {message["content"] for message in kept} == {"Shared", "One.", "Other", "Alone.", "From here", "Ours.",
                                                        "From there", "Theirs."}
    # What one deletes, the other leaves; what it brings back is whole.
    press(other, "Shared", "Delete")
    expect(page.locator("#notice")).to_contain_text("deleted in another tab")
    expect(page.locator("#welcome")).to_be_visible()
    other.get_by_role("button", name="Undo").click()
    expect(titles(page)).to_have_count(2)
    assert sorted(message["id"] for message in stored(page)) == sorted(message["id"] for message in kept)


def test_two_tabs_go_on_with_one_answer(page, server):
    """The tab that wrote it first finds that another has gone on: its own text becomes a branch beside the other's."""
    talk_until_stopped(page)
    send(page, "Long")
    expect(page.locator(".facts")).to_have_text(re.compile("tok/s"))
    other = tab(page.context, server)
    other.locator("#list a").first.click()
    expect(answers(other)).to_contain_text("4 5 6 7 8 9")  # what the first tab has kept so far
    say(other, " And so on.")
    other.get_by_role("button", name="Continue").click()
    done(other)
    expect(page.locator(".answer .branches")).to_have_text("2 / 2", timeout=15_000)  # it goes on beside the other one
    page.click("#send")
    done(page)
    texts = [message["content"] for message in stored(page) if message["role"] == "assistant"]
    assert len(texts) == 2
    assert [text.endswith(" And so on.") for text in sorted(texts, key=len)] == [True, False]
    assert len({text[:20] for text in texts}) == 1


def test_files(page, tmp_path):
    say(page, "It says so.")
    (tmp_path / "notes.md").write_text("Ticks: ```` and more\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    page.set_input_files("#file", [tmp_path / "notes.md", tmp_path / "picture.png"])
    expect(page.locator("#notice")).to_contain_text("picture.png is not a text file")
    page.evaluate("""() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["a,b\\n1,2"], "table.csv"));
      const drop = new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true });
      document.getElementById("log").dispatchEvent(drop);
    }""")
    expect(page.locator("#files li")).to_have_count(2)
    with page.expect_request(CHAT) as sent:
        send(page, "What do they say?")
    done(page)
    assert sent.value.post_data_json["messages"][-1]["content"] == (
        "notes.md:\n`````md\nTicks: ```` and more\n`````\n\ntable.csv:\n```csv\na,b\n1,2\n```\n\nWhat do they say?")
    expect(page.locator("#files")).to_be_hidden()
    expect(page.locator(".bubble summary")).to_have_text([re.compile("notes.md"), re.compile("table.csv")])

    # All of it to a file, and back into an empty browser; twice is once.
    page.get_by_role("button", name="Regenerate").click()
    done(page)
    before = stored(page)
    assert len(before) == 3
    with page.expect_download() as download:
        page.click("#export")
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    page.click("#delete-all")
    expect(titles(page)).to_have_count(0)
    page.evaluate("indexedDB.deleteDatabase('tessera')")
    page.goto("about:blank")
    page.goto(sent.value.url.replace("/v1/chat/completions", "/"))
    for known in ["1 conversation imported.", "0 conversations imported, 1 was here already."]:
        page.set_input_files("#import-file", path)
        expect(page.locator("#notice")).to_have_text(known)
    expect(titles(page)).to_have_text(["What do they say?"])
    by_id = lambda message: message["id"]
    drop = lambda message: {name: value for name, value in message.items() if name not in ("run", "usage")}
    assert sorted(map(drop, stored(page)), key=by_id) == sorted(map(drop, before), key=by_id)
    page.click("#list a")
    expect(page.locator(".answer .branches")).to_have_text("2 / 2")
    file = json.loads(path.read_text())  # what another browser has gone on with, into the conversation that is open
    file["conversations"][0]["messages"].append({**before[-1], "id": "z", "created": 2e12, "parent": None,
                                                 "role": "user", "content": "Elsewhere"})
    path.write_text(json.dumps(file))
    page.set_input_files("#import-file", path)
    expect(page.locator(".user .branches")).to_have_text("1 / 2")


def export_of(*messages):
    return json.dumps({"format": "tessera.conversations", "version": 1,
                       "conversations": [{"id": "a", "title": "t", "messages": messages}]})


@pytest.mark.parametrize("text, says", [
    ("{", "it is not JSON"),
    ('{"format": "other"}', "it is no export of this page"),
    (export_of({"id": "x", "parent": "y", "role": "user", "content": ""},
               {"id": "y", "parent": "x", "role": "user", "content": ""}), "in a circle"),
    (export_of({"id": "x", "role": "assistant", "content": 5}), "messages[0].content is number; expected string"),
], ids=["json", "format", "circle", "type"])
def test_what_is_no_export_is_refused(page, tmp_path, text, says):
    (tmp_path / "file.json").write_text(text)
    page.set_input_files("#import-file", tmp_path / "file.json")
    expect(page.locator("#notice")).to_contain_text("file.json was not imported: ")
    expect(page.locator("#notice")).to_contain_text(says)
    expect(titles(page)).to_have_count(0)


def test_a_browser_that_keeps_nothing_says_so(page):
    page.context.add_init_script("IDBFactory.prototype.open = () => { throw new DOMException('storage is off'); }")
    page.reload()
    expect(page.locator("#lamp")).to_have_class("ready")
    say(page, "Still here.")
    ask(page, "Hello")
    expect(answers(page)).to_have_text("Still here.")
    expect(page.locator("#notice")).to_contain_text("does not keep conversations now (storage is off)")
    page.locator(".answer").get_by_role("button", name="Regenerate").click()
    done(page)
    expect(page.locator(".answer .branches")).to_have_text("2 / 2")
