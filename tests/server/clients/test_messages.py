"""/v1/messages through the anthropic client."""

import json

import anthropic
import pytest
from served import NAME, ROOT

WEATHER = {"name": "get_weather", "description": "The weather in a city now.",
           "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}


@pytest.fixture(scope="module")
def claude(server):
    with anthropic.Anthropic(base_url=server.url, api_key="none", max_retries=0) as made:
        yield made


@pytest.fixture
def ask(claude):
    """One message, with a short answer unless told otherwise."""
    def call(content="What is a tile?", create=claude.messages.create, **fields):
        arguments = {"model": NAME, "messages": [{"role": "user", "content": content}], "max_tokens": 24,
                     "extra_body": {"seed": 7}}
        return create(**{**arguments, **fields})
    return call


def test_answer(ask):
    message = ask()
    assert message.type == "message" and message.role == "assistant" and message.model == NAME
    assert message.id.startswith("msg_") and message.content[0].type == "text" and message.content[0].text
    assert message.stop_reason in ("end_turn", "max_tokens") and message.stop_sequence is None
    assert 0 < message.usage.output_tokens <= 24 and message.usage.input_tokens > 0


@pytest.mark.parametrize("thinking", [{"type": "disabled"}, {"type": "enabled", "budget_tokens": 8}])
def test_stream_is_the_answer_in_pieces(ask, claude, thinking):
    whole = ask(thinking=thinking)
    with ask(create=claude.messages.stream, thinking=thinking) as stream:
        events = [event.type for event in stream]
        message = stream.get_final_message()
    assert [block.model_dump() for block in message.content] == [block.model_dump() for block in whole.content]
    assert message.usage.output_tokens == whole.usage.output_tokens and message.stop_reason == whole.stop_reason
    assert events[0] == "message_start" and events[-1] == "message_stop" and events.count("content_block_stop") > 0


def test_thinking_goes_back(ask):
    message = ask(thinking={"type": "enabled", "budget_tokens": 8}, max_tokens=32)
    assert message.content[0].type == "thinking" and message.content[0].thinking and message.content[0].signature
    again = ask(messages=[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": message.content},
                          {"role": "user", "content": "And?"}])
    assert again.usage.input_tokens > message.usage.input_tokens


def test_forced_tools_and_their_results(ask, claude):
    """A call is forced by how the answer must begin, so even noise begins one; a cut one is in the stream alone."""
    fields = {"tools": [WEATHER], "tool_choice": {"type": "tool", "name": "get_weather"}, "max_tokens": 48}
    whole = ask("Weather in Berlin?", **fields)
    with ask("Weather in Berlin?", create=claude.messages.stream, **fields) as stream:
        streamed = stream.get_final_message()
    assert streamed.content[0].type == "tool_use" and streamed.content[0].name == "get_weather"
    assert streamed.stop_reason == whole.stop_reason
    if whole.stop_reason == "tool_use":
        assert whole.content[0].input == streamed.content[0].input
    else:
        assert whole.stop_reason == "max_tokens" and not whole.content
    answer = ask(tools=[WEATHER], system=[{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
                 messages=[{"role": "user", "content": "Weather in Berlin?"},
                           {"role": "assistant", "content": [
                               {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Berlin"}}]},
                           {"role": "user", "content": [
                               {"type": "tool_result", "tool_use_id": "toolu_1", "is_error": True,
                                "content": [{"type": "text", "text": "no network"}]}]}])
    assert answer.content


def test_an_answer_that_follows_a_schema(ask):
    schema = {"type": "object", "properties": {"colour": {"enum": ["red", "green"]}}, "required": ["colour"],
              "additionalProperties": False}
    format = {"type": "json_schema", "schema": schema}
    for fields in ({"output_config": {"format": format}}, {"output_format": format}):
        message = ask(max_tokens=400, extra_body={"seed": 7, **fields})
        assert message.stop_reason in ("end_turn", "max_tokens")
        if message.stop_reason == "end_turn":
            assert json.loads(message.content[0].text)["colour"] in ("red", "green")
    with pytest.raises(anthropic.BadRequestError, match="continues the assistant's last message"):
        ask(messages=[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "{"}],
            extra_body={"output_format": format})


def test_strict_tools(ask):
    strict = {"name": "paint", "strict": True,
              "input_schema": {"type": "object", "properties": {"colour": {"enum": ["red", "green"]}}, "required": ["colour"]}}
    message = ask(tools=[strict], tool_choice={"type": "any"}, max_tokens=120)
    assert message.stop_reason == "tool_use" and message.content[0].input["colour"] in ("red", "green")


def test_stop_sequences(ask):
    text = ask(extra_body={"seed": 7, "ignore_eos": True}).content[0].text
    stop = text[len(text) // 2]
    message = ask(stop_sequences=[stop], extra_body={"seed": 7, "ignore_eos": True})
    assert message.stop_reason == "stop_sequence" and message.stop_sequence == stop
    assert stop not in "".join(block.text for block in message.content)


def test_a_last_message_of_the_assistant_is_continued(ask, claude):
    messages = [{"role": "user", "content": "Count."}, {"role": "assistant", "content": "One, two,"}]
    message = ask(messages=messages)
    assert not message.content[0].text.startswith("One, two,")
    without = claude.messages.count_tokens(model=NAME, messages=messages[:1]).input_tokens
    assert message.usage.input_tokens > without


def test_count_tokens(ask, claude):
    fields = {"model": NAME, "messages": [{"role": "user", "content": "What is a tile?"}]}
    assert claude.messages.count_tokens(**fields).input_tokens == ask().usage.input_tokens
    assert claude.beta.messages.count_tokens(**fields).input_tokens == ask().usage.input_tokens
    assert claude.messages.count_tokens(**fields, tools=[WEATHER]).input_tokens > ask().usage.input_tokens


def test_errors(ask, claude, server):
    with pytest.raises(anthropic.BadRequestError, match="temperature"):
        ask(extra_body={"temperature": -1})
    with pytest.raises(anthropic.NotFoundError, match="no model"):
        ask(model="claude")
    with pytest.raises(anthropic.BadRequestError, match="prompt is too long: "):
        ask("word " * 5000)


def test_a_claude_code_turn(server):
    """The shape of its requests, as they are described in public."""
    request = json.loads((ROOT / "tests/server/requests/claude_code.json").read_text()) | {"model": NAME}
    answer = server.http.post("/v1/messages?beta=true", json=request)
    assert answer.status_code == 200 and "web_search" in answer.headers["x-tessera-warning"]
    events = [line[7:] for line in answer.text.splitlines() if line.startswith("event: ")]
    assert events[:2] == ["message_start", "ping"] and events[-2:] == ["message_delta", "message_stop"]
