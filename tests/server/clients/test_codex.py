"""What Codex CLI relies on, point by point, over HTTP and from the public description of what it sends and reads: 26
tests, each of one point. Requests begin as codex.json has them; where a call is needed the tool is named, since the
bundled model seldom wants Codex's own."""

import json

import httpx
import pytest
from served import NAME, ROOT

TURNS = json.loads((ROOT / "tests/server/requests/codex.json").read_text())
HEADERS = {"accept": "text/event-stream", "originator": "codex_cli_rs", "version": "0.163.0", "session_id": "0199",
           "conversation_id": "0199", "openai-beta": "responses=experimental", "x-codex-turn-metadata": "{}",
           "user-agent": "codex_cli_rs/0.163.0 (Debian 12; x86_64) xterm"}
DELTAS = {"response.output_text.delta", "response.reasoning_text.delta", "response.reasoning_summary_text.delta",
          "response.function_call_arguments.delta", "response.custom_tool_call_input.delta"}


@pytest.fixture
def post(talking):
    """A request as Codex sends it: the body of a turn, with other fields and another input."""
    def call(turn="first turn", **fields):
        body = {**TURNS[turn], "model": NAME, "max_output_tokens": 400, "temperature": 0, **fields}
        return httpx.post(f"{talking.url}/v1/responses", json=body, headers=HEADERS, timeout=120)
    return call


@pytest.fixture
def stream(post):
    """Its events, read as Codex reads them: what is no JSON behind `data:` is an error."""
    def call(turn="first turn", **fields):
        answer = post(turn, **fields)
        assert answer.status_code == 200, answer.text
        return [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]
    return call


def said(text, role="user"):
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}


def named(name, **more):
    return {"tool_choice": {"type": "function", "name": name, **more}, "reasoning": {"effort": "none"},
            "parallel_tool_calls": False}


def done_items(events):
    return [event["item"] for event in events if event["type"] == "response.output_item.done"]


def prompt_tokens(events):
    return events[-1]["response"]["usage"]["input_tokens"]


TOOLS = TURNS["first turn"]["tools"]
SHELL = [*TOOLS, {"type": "local_shell"}]
CALL = {"type": "function_call", "name": "exec_command", "arguments": '{"cmd": "ls"}', "call_id": "call_1"}
OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "a.py"}


# ---- what it sends is taken ----

def test_01_a_turn_is_answered_by_events(post):
    answer = post()
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/event-stream")


def test_02_no_field_of_a_turn_is_refused(post):
    extra = {"client_metadata": {"x": "y"}, "prompt_cache_key": "k", "service_tier": "priority", "store": False,
             "text": {"verbosity": "high"}, "include": ["reasoning.encrypted_content"], "safety_identifier": "s"}
    assert post(**extra).status_code == 200


def test_03_tools_of_the_provider_are_left_out_with_a_note(post):
    warning = post(max_output_tokens=1).headers["x-tessera-warning"]
    assert "web_search" in warning and "image_generation" in warning


def test_04_developer_messages_may_stand_anywhere(stream):
    events = stream(input=[said("Hi"), said("Be brief.", "developer"), said("Now."), said("Or not.", "developer")])
    assert events[-1]["type"] in ("response.completed", "response.incomplete")


def test_05_items_need_no_id_and_no_status(stream):
    assert all("id" not in item for item in TURNS["later turn"]["input"] if item["type"] == "function_call")
    assert stream("later turn", max_output_tokens=8)[-1]["type"] == "response.incomplete"


def test_06_reasoning_of_another_provider_is_nothing(stream):
    foreign = {"type": "reasoning", "summary": [], "content": None, "encrypted_content": "gAAAAB"}
    with_it, without = ([said("Hi"), *items, said("Hello.", "assistant"), said("And?")] for items in ([foreign], []))
    assert prompt_tokens(stream(input=with_it)) == prompt_tokens(stream(input=without))


def test_07_its_own_reasoning_comes_back_sealed(stream):
    thought = done_items(stream(input=[said("What is 17 + 25?")]))[0]
    assert thought["type"] == "reasoning" and thought["encrypted_content"]
    back = [{"type": "reasoning", "summary": [], "encrypted_content": thought["encrypted_content"]}, CALL, OUTPUT]
    counts = [prompt_tokens(stream(input=[said("What is 17 + 25?"), *items])) for items in (back, back[1:])]
    assert counts[0] > counts[1]  # the model sees what it thought before its call


def test_08_outputs_are_texts_or_parts(stream):
    parts = [{"type": "input_text", "text": "a.py"}]
    counts = {prompt_tokens(stream(input=[said("List"), CALL, {**OUTPUT, "output": output}], max_output_tokens=1))
              for output in ("a.py", parts)}
    assert len(counts) == 1


def test_09_a_picture_that_a_tool_answers_ends_nothing(post):
    output = [{"type": "input_image", "image_url": "data:image/png;base64,AA=="}]
    assert post(input=[said("Look"), CALL, {**OUTPUT, "output": output}], max_output_tokens=8).status_code == 200


def test_10_a_call_that_was_interrupted_has_no_output(post):
    assert post(input=[said("List"), CALL, said("Never mind. What is 2 + 3?")]).status_code == 200


def test_11_arguments_that_are_no_json_do_not_end_a_conversation(post):
    broken = {**CALL, "arguments": '{"cmd": "ls'}
    answer = post(input=[said("List"), broken, OUTPUT], max_output_tokens=8)
    assert answer.status_code == 200 and "input[1].arguments" in answer.headers["x-tessera-warning"]


def test_12_items_of_unknown_types_are_left_out_with_a_note(post):
    answer = post(input=[said("Hi"), {"type": "ghost_snapshot", "ghost_commit": {"id": "0"}}], max_output_tokens=8)
    assert answer.status_code == 200 and "ghost_snapshot" in answer.headers["x-tessera-warning"]


# ---- what it reads is there ----

def test_13_events_have_their_names_and_numbers(post):
    lines = post().text.splitlines()
    events = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
    assert [line[7:] for line in lines if line.startswith("event: ")] == [event["type"] for event in events]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))


def test_14_it_begins_with_created_and_ends_with_completed(stream):
    events = stream(input=[said("What is 17 + 25?")])
    assert events[0]["type"] == "response.created" and events[0]["response"]["id"].startswith("resp_")
    assert [event["type"] for event in events].count("response.completed") == 1
    assert events[-1]["type"] == "response.completed" and events[-1]["response"]["id"] == events[0]["response"]["id"]


def test_15_the_stream_ends_behind_it(post):
    text = post(input=[said("What is 17 + 25?")]).text
    assert "[DONE]" not in text and text.endswith("\n\n")
    assert text.rstrip().splitlines()[-2] == "event: response.completed"


def test_16_usage_has_the_counts_that_it_adds_up(stream):
    usage = stream(input=[said("What is 17 + 25?")])[-1]["response"]["usage"]
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
    assert 0 <= usage["input_tokens_details"]["cached_tokens"] <= usage["input_tokens"]
    assert 0 < usage["output_tokens_details"]["reasoning_tokens"] < usage["output_tokens"]


def test_17_items_are_added_before_their_deltas_and_done_behind(stream):
    open_items = set()
    for event in stream(input=[said("What is 17 + 25?")]):
        if event["type"] == "response.output_item.added":
            open_items.add(event["item"]["id"])
        elif event["type"] == "response.output_item.done":
            open_items.remove(event["item"]["id"])
        elif event["type"] in DELTAS:
            assert event["item_id"] in open_items
    assert not open_items


def test_18_deltas_of_text_are_the_text(stream):
    events = stream(input=[said("What is 17 + 25?")], tool_choice="none")
    text = "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
    message = done_items(events)[-1]
    assert (message["type"], message["role"], message["content"][0]["text"]) == ("message", "assistant", text)
    assert text


def test_19_thinking_is_a_summary_that_it_can_show(stream):
    events = stream(input=[said("What is 17 + 25?")])
    parts = [event for event in events if event["type"] == "response.reasoning_summary_part.added"]
    text = "".join(event["delta"] for event in events if event["type"] == "response.reasoning_summary_text.delta")
    assert [part["summary_index"] for part in parts] == [0] and text
    assert done_items(events)[0]["summary"] == [{"type": "summary_text", "text": text}]


def test_20_items_are_the_same_in_the_last_event(stream):
    for fields in ({}, named("exec_command")):
        events = stream(input=[said("List the files")], **fields)
        assert done_items(events) == events[-1]["response"]["output"]


def test_21_arguments_are_done_whether_or_not_there_are_any(stream):
    wait = [{"type": "function", "name": "wait", "strict": False, "parameters": {"type": "object", "properties": {}}}]
    for tools, name in ((TOOLS, "exec_command"), (wait, "wait")):
        events = stream(input=[said("List the files")], tools=tools, **named(name))
        call, = [item for item in done_items(events) if item["type"] == "function_call"]
        whole, = [event for event in events if event["type"] == "response.function_call_arguments.done"]
        assert whole["arguments"] == call["arguments"] and isinstance(json.loads(call["arguments"]), dict)
        assert call["name"] == name and call["call_id"] and whole["item_id"] == call["id"]


def test_22_a_call_within_a_namespace_comes_back_by_its_own_names(stream):
    # Two namespaces have a `wait`.
    for space in ("collaboration", "mcp__files__"):
        call = done_items(stream(input=[said("Wait")], **named("wait", namespace=space)))[-1]
        assert (call["name"], call["namespace"]) == ("wait", space)


def test_23_patches_follow_their_grammar(stream):
    events = stream(input=[said("Delete a.py")], tool_choice={"type": "custom", "name": "apply_patch"},
                    reasoning={"effort": "none"}, parallel_tool_calls=False)
    call = done_items(events)[-1]
    deltas = [event["delta"] for event in events if event["type"] == "response.custom_tool_call_input.delta"]
    assert (call["type"], call["name"]) == ("custom_tool_call", "apply_patch") and call["call_id"]
    assert "".join(deltas) == call["input"] and call["input"].startswith("*** Begin Patch\n*** ")
    if events[-1]["type"] == "response.completed":
        assert "*** End Patch" in call["input"]
    back = stream(input=[said("Delete a.py"), call, {"type": "custom_tool_call_output", "call_id": call["call_id"],
                                                     "output": "Done"}])
    assert back[-1]["type"] in ("response.completed", "response.incomplete")


def test_24_a_local_shell_gets_a_list_of_words(stream):
    items = done_items(stream(input=[said("List the files")], tools=SHELL, tool_choice={"type": "local_shell"},
                              reasoning={"effort": "none"}, parallel_tool_calls=False))
    call = items[0]  # the model may say something behind it
    assert call["type"] == "local_shell_call" and call["action"]["type"] == "exec"
    assert all(isinstance(word, str) for word in call["action"]["command"])
    output = {"type": "local_shell_call_output", "call_id": call["call_id"], "output": "a.py"}
    assert stream(input=[said("List the files"), call, output], tools=SHELL, max_output_tokens=8)


def test_25_what_it_does_about_an_error_follows_from_its_code(post, stream):
    long = stream(input=[said("word and " * 40_000)])
    assert [long[0]["type"], long[-1]["type"]] == ["response.created", "response.failed"]
    assert long[-1]["response"]["error"]["code"] == "context_length_exceeded"
    cut = stream(input=[said("What is 17 + 25?")], max_output_tokens=3)[-1]
    assert cut["type"] == "response.incomplete"
    assert cut["response"]["incomplete_details"] == {"reason": "max_output_tokens"}
    gone = post(previous_response_id="resp_0")
    assert gone.status_code == 400 and gone.json()["error"]["code"] == "previous_response_not_found"


def test_26_models_say_what_it_needs_to_know(talking):
    listed = httpx.get(f"{talking.url}/v1/models", params={"client_version": "0.163.0"}, headers=HEADERS).json()
    model = listed["models"][0]
    assert model["slug"] == NAME and model["context_window"] == listed["data"][0]["max_model_len"]
    assert model["visibility"] == "list" and model["supported_in_api"] and model["base_instructions"]
    assert model["default_reasoning_level"] in [level["effort"] for level in model["supported_reasoning_levels"]]
    assert {"display_name", "priority", "shell_type", "apply_patch_tool_type", "truncation_policy", "input_modalities",
            "supports_parallel_tool_calls", "experimental_supported_tools"} <= model.keys()
