"""/v1/responses through the openai client."""

import json
import threading

import httpx
import openai
import pydantic
import pytest
from served import NAME, ROOT

WEATHER = {"type": "function", "name": "get_weather", "description": "The weather in a city now.", "strict": True,
           "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
                          "additionalProperties": False}}


@pytest.fixture
def ask(client):
    """One response, with a short answer unless told otherwise."""
    def call(content="What is a tile?", create=client.responses.create, **fields):
        arguments = {"model": NAME, "input": content, "max_output_tokens": 24, "extra_body": {"seed": 7}}
        return create(**{**arguments, **fields})
    return call


@pytest.fixture(scope="module")
def talk(talking):
    """One response of the model that talks, greedily."""
    with openai.OpenAI(base_url=f"{talking.url}/v1", api_key="none", max_retries=0) as client:
        def call(content, create="create", **fields):
            return getattr(client.responses, create)(model=NAME, input=content, temperature=0, **fields)
        yield call


def events_of(stream):
    events = list(stream)
    assert [event.sequence_number for event in events] == list(range(len(events)))
    return events


def test_answer(ask):
    response = ask(metadata={"a": "b"}, user="me")
    assert response.id.startswith("resp_") and response.object == "response" and response.model == NAME
    assert response.status == "incomplete" and response.incomplete_details.reason == "max_output_tokens"
    assert response.usage.output_tokens == 24 and response.usage.input_tokens > 0
    assert response.usage.total_tokens == response.usage.input_tokens + 24
    assert response.metadata == {"a": "b"} and response.user == "me" and response.error is None
    assert response.max_output_tokens == 24 and response.tools == [] and response.tool_choice == "auto"
    # What the client makes of it is what its own types allow.
    type(response).model_validate(json.loads(response.model_dump_json()))


@pytest.mark.parametrize("effort", ["none", "medium"])
def test_stream_is_the_answer_in_pieces(ask, effort):
    whole = ask(reasoning={"effort": effort})
    events = events_of(ask(reasoning={"effort": effort}, stream=True))
    assert [events[0].type, events[1].type, events[-1].type] == ["response.created", "response.in_progress",
                                                                 f"response.{whole.status}"]
    last = events[-1].response
    assert [item.model_dump(exclude={"id"}) for item in last.output] == [
        item.model_dump(exclude={"id"}) for item in whole.output]
    assert last.usage == whole.usage
    deltas = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert deltas == whole.output_text
    done = [event.item for event in events if event.type == "response.output_item.done"]
    assert [item.model_dump() for item in done] == [item.model_dump() for item in last.output]
    for event in events:
        type(event).model_validate(json.loads(event.model_dump_json()))


def test_answers_go_on_from_each_other(talk):
    first = talk("What is 17 + 25?")
    assert "42" in first.output_text and first.status == "completed" and first.output[0].type == "reasoning"
    second = talk("And 3 + 4?", previous_response_id=first.id)
    assert "7" in second.output_text and second.usage.input_tokens > first.usage.input_tokens
    by_hand = talk([{"role": "user", "content": "What is 17 + 25?"}, *[item.model_dump() for item in first.output],
                    {"role": "user", "content": "And 3 + 4?"}])
    assert by_hand.usage.input_tokens == second.usage.input_tokens
    assert by_hand.output_text == second.output_text
    by_reference = talk([{"role": "user", "content": "What is 17 + 25?"},
                         *[{"type": "item_reference", "id": item.id} for item in first.output],
                         {"role": "user", "content": "And 3 + 4?"}])
    assert by_reference.usage.input_tokens == second.usage.input_tokens


def test_thinking_comes_back_sealed(talk):
    first = talk("What is 17 + 25?", store=False, include=["reasoning.encrypted_content"])
    thinking = first.output[0].model_dump()
    sealed = {"type": "reasoning", "summary": [], "encrypted_content": thinking["encrypted_content"]}
    rest = [first.output[1].model_dump(), {"role": "user", "content": "And?"}]
    asked = [{"role": "user", "content": "What is 17 + 25?"}]
    tokens = [talk([*asked, item, *rest], max_output_tokens=1, extra_body={
        "chat_template_kwargs": {"preserve_thinking": True}}).usage.input_tokens for item in (thinking, sealed)]
    assert tokens[0] == tokens[1]


def test_kept_responses(client, ask):
    response = ask()
    assert client.responses.retrieve(response.id).output_text == response.output_text
    assert client.responses.cancel(response.id).status == response.status
    items = client.responses.input_items.list(response.id).data
    assert [item.content[0].text for item in items] == ["What is a tile?"]
    client.responses.delete(response.id)
    with pytest.raises(openai.NotFoundError, match="not found"):
        client.responses.retrieve(response.id)
    with pytest.raises(openai.BadRequestError) as refused:
        ask(previous_response_id=response.id)
    assert refused.value.code == "previous_response_not_found"
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(ask(store=False).id)


def test_cancel(client, ask):
    for _ in range(20):  # the answer may be faster than the client
        stream = ask(stream=True, max_output_tokens=2000, extra_body={"seed": 7, "ignore_eos": True})
        events = iter(stream)
        first = next(events)
        while "_text.delta" not in next(events).type:
            pass
        if client.responses.cancel(first.response.id).status == "cancelled":
            break
        stream.close()
    last = list(events)[-1]
    assert last.type == "response.incomplete" and last.response.status == "cancelled"
    assert last.response.output[-1].status == "incomplete"
    kept = client.responses.retrieve(first.response.id)
    assert kept.status == "cancelled" and kept.output == last.response.output


def test_functions(talk):
    asked = [{"role": "user", "content": "What is the weather in Paris?"}]
    response = talk(asked, tools=[WEATHER])
    call = response.output[-1]
    assert (call.type, call.name, json.loads(call.arguments)) == ("function_call", "get_weather", {"city": "Paris"})
    assert call.status == "completed" and call.id.startswith("fc_") and call.call_id.startswith("call_")
    answer = talk([*asked, *[item.model_dump() for item in response.output],
                   {"type": "function_call_output", "call_id": call.call_id, "output": '{"temperature": 21}'}],
                  tools=[WEATHER])
    assert "21" in answer.output_text
    events = events_of(talk(asked, tools=[WEATHER], stream=True))
    deltas = "".join(event.delta for event in events if event.type == "response.function_call_arguments.delta")
    done, = [event for event in events if event.type == "response.function_call_arguments.done"]
    assert deltas == done.arguments == call.arguments
    assert talk(asked, tools=[WEATHER], tool_choice="none").output_text


def test_a_cut_call_stays_open(talk):
    response = talk("What is the weather in Paris?", tools=[WEATHER], reasoning={"effort": "none"},
                    tool_choice={"type": "function", "name": "get_weather"}, max_output_tokens=16)
    call = response.output[-1]
    assert response.status == "incomplete" and call.type == "function_call" and call.status == "incomplete"
    with pytest.raises(ValueError):
        json.loads(call.arguments)


def test_namespaces_and_custom_tools(talk):
    space = {"type": "namespace", "name": "mcp__sky__", "description": "The sky.", "tools": [
        {key: value for key, value in WEATHER.items()}]}
    response = talk("What is the weather in Paris?", tools=[space, {"type": "web_search"}],
                    tool_choice={"type": "function", "name": "get_weather"})
    assert (response.output[-1].name, response.output[-1].namespace) == ("get_weather", "mcp__sky__")
    code = {"type": "custom", "name": "code", "description": "Runs code.",
            "format": {"type": "grammar", "syntax": "lark", "definition": 'start: "print(" /[0-9]{1,3}/ ")"'}}
    events = events_of(talk("Print 5", tools=[code], tool_choice={"type": "custom", "name": "code"}, stream=True))
    call = events[-1].response.output[-1]
    assert call.type == "custom_tool_call" and call.input.startswith("print(") and call.input.endswith(")")
    assert "".join(e.delta for e in events if e.type == "response.custom_tool_call_input.delta") == call.input
    shell = talk("List the files", tools=[{"type": "local_shell"}], tool_choice="required",
                 reasoning={"effort": "none"}).output[-1]
    assert shell.type == "local_shell_call" and shell.action.type == "exec" and shell.action.command


@pytest.mark.parametrize("tool, output", [
    ({"type": "shell", "environment": {"type": "local"}},
     {"type": "shell_call_output", "output": [{"stdout": "a.txt", "stderr": "",
                                               "outcome": {"type": "exit", "exit_code": 0}}]}),
    ({"type": "apply_patch"}, {"type": "apply_patch_call_output", "status": "completed", "output": "done"}),
])
def test_tools_of_openais_own_types(talk, tool, output):
    asked = [{"role": "user", "content": "Delete the file a.txt"}]
    fields = {"tools": [tool], "tool_choice": {"type": tool["type"]}, "reasoning": {"effort": "none"}}
    response = talk(asked, **fields)
    call = response.output[-1]
    assert call.type == f"{tool['type']}_call" and call.status == "completed" and response.status == "completed"
    type(call).model_validate(json.loads(call.model_dump_json()))
    if call.type == "shell_call":
        assert call.action.commands and all(isinstance(command, str) for command in call.action.commands)
    else:
        assert call.operation.type in ("create_file", "update_file", "delete_file")
    events = events_of(talk(asked, **fields, stream=True))
    streamed = events[-1].response.output[-1]
    assert streamed.model_dump(exclude={"id", "call_id"}) == call.model_dump(exclude={"id", "call_id"})
    if call.type == "shell_call":
        done = [event.command for event in events if event.type == "response.shell_call_command.done"]
        assert done == call.action.commands
    for event in events:
        type(event).model_validate(json.loads(event.model_dump_json()))
    answer = {**output, "call_id": call.call_id}
    by_hand = talk([*asked, *[item.model_dump() for item in response.output], answer], tools=[tool])
    kept = talk([answer], tools=[tool], previous_response_id=response.id)
    assert by_hand.usage.input_tokens == kept.usage.input_tokens and kept.output


def test_a_shell_in_a_container_is_left_out(talk):
    container = {"type": "shell", "environment": {"type": "container_auto"}}
    assert talk("What is 17 + 25?", tools=[container]).output_text


TALK = [{"role": "user", "content": "What is 17 + 25?"}, {"role": "assistant", "content": "17 + 25 is 42. " * 40},
        {"role": "user", "content": "And 3 + 4?"}]


def test_a_long_conversation_is_summed_up_first(talk):
    fields = {"context_management": [{"type": "compaction", "compact_threshold": 200}]}
    plain = talk(TALK)
    response = talk(TALK, **fields)
    compaction, *rest = response.output
    assert compaction.type == "compaction" and compaction.id.startswith("cmp_") and rest[-1].type == "message"
    assert response.usage.input_tokens < plain.usage.input_tokens
    type(response).model_validate(json.loads(response.model_dump_json()))
    events = events_of(talk(TALK, stream=True, **fields))
    assert events[-1].response.output[0].encrypted_content == compaction.encrypted_content
    assert events[-1].response.output_text == response.output_text
    # The client sends all of it, or nothing of what is before the summary, or lets the server remember.
    more = {"role": "user", "content": "And 5 + 6?"}
    items = [item.model_dump(exclude_none=True) for item in response.output]
    counts = {talk(asked, max_output_tokens=1, **how).usage.input_tokens for asked, how in [
        ([*TALK, *items, more], {}), ([*items, more], {}), ([more], {"previous_response_id": response.id})]}
    assert len(counts) == 1
    follows = talk([{"role": "user", "content": "Hi"}, *TALK[1:]], text={"format": {
        "type": "json_schema", "name": "it", "schema": {"enum": ["yes", "no"]}}}, **fields)
    assert follows.output[0].type == "compaction" and json.loads(follows.output_text) in ("yes", "no")


def test_a_trigger_asks_for_the_summary(talk):
    events = events_of(talk([*TALK, {"type": "compaction_trigger"}], stream=True, tools=[WEATHER]))
    assert [event.type for event in events] == [
        "response.created", "response.in_progress", "response.output_item.added", "response.output_item.done",
        "response.completed"]
    item, = events[-1].response.output
    assert item.type == "compaction" and events[-1].response.status == "completed"
    shorter = talk([TALK[0], item.model_dump(exclude_none=True), TALK[2]])
    assert shorter.usage.input_tokens < talk(TALK).usage.input_tokens


class Sum(pydantic.BaseModel):
    result: int
    reason: str


def test_parsed_answers(talk):
    parsed = talk("What is 17 + 25?", create="parse", text_format=Sum, max_output_tokens=400).output_parsed
    assert isinstance(parsed, Sum)
    with talk("What is 17 + 25?", create="stream", text_format=Sum, max_output_tokens=400) as stream:
        assert isinstance(stream.get_final_response().output_parsed, Sum)
    tool = openai.pydantic_function_tool(Sum, name="note")
    tool = {"type": "function", **tool["function"]}
    response = talk("Note 42", create="parse", tools=[tool], tool_choice="required", max_output_tokens=400)
    assert isinstance(response.output[-1].parsed_arguments, (Sum, dict))


def test_logprobs(ask):
    fields = {"include": ["message.output_text.logprobs"], "extra_body": {"seed": 7, "ignore_eos": True}}
    logprobs = ask(**fields, top_logprobs=3, reasoning={"effort": "none"}).output[-1].content[0].logprobs
    assert len(logprobs) == 24 and all(len(one.top_logprobs) == 3 for one in logprobs)
    events = events_of(ask(**fields, reasoning={"effort": "none"}, stream=True))
    assert sum(len(event.logprobs) for event in events if event.type == "response.output_text.delta") == 24
    # Those of thinking are not the text's.
    fields["extra_body"]["thinking_token_budget"] = 4
    thought = ask(**fields)
    text = thought.output[-1]
    assert text.type == "message" and 0 < len(text.content[0].logprobs) <= 24 - 4


def test_refusals(ask):
    for fields, param in [({"conversation": "c"}, "conversation"),
                          ({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]},
                           "input[0].content[0].type"), ({"truncation": "x"}, "truncation")]:
        with pytest.raises(openai.BadRequestError) as refused:
            ask(**fields)
        assert refused.value.param == param


def test_token_count(client, ask):
    counted = client.responses.input_tokens.count(model=NAME, input="What is a tile?")
    assert counted.input_tokens == ask().usage.input_tokens


def test_models_are_listed_for_codex_too(client, server):
    assert client.models.list().data[0].id == NAME
    listed = httpx.get(f"{server.url}/v1/models", params={"client_version": "0.150.0"}).json()["models"]
    assert listed[0]["slug"] == NAME and listed[0]["context_window"] == 2048


def test_codex_requests(server):
    for name, body in json.loads((ROOT / "tests/server/requests/codex.json").read_text()).items():
        answer = httpx.post(f"{server.url}/v1/responses", json={**body, "max_output_tokens": 16}, timeout=60,
                            headers={"originator": "codex_cli_rs", "session_id": "1"})
        assert answer.status_code == 200, (name, answer.text)
        if body.get("stream"):
            events = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]
            names = [line[7:] for line in answer.text.splitlines() if line.startswith("event: ")]
            assert names == [event["type"] for event in events], name
            assert events[-1]["type"] in ("response.completed", "response.incomplete"), name


def test_many_streams_at_once(ask):
    alone = ask(stream=False).output_text
    texts = []

    def run():
        texts.append("".join(event.delta for event in ask(stream=True) if event.type == "response.output_text.delta"))
    threads = [threading.Thread(target=run) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == [alone] * 16
