"""What only a model that talks can show, with the bundled one, greedily."""

import json

import openai
import pytest
from conftest import NO_THINKING
from served import NAME
from test_chat import TIME, WEATHER, gather


@pytest.fixture
def ask(talking):
    client = openai.OpenAI(base_url=f"{talking.url}/v1", api_key="none", max_retries=0)

    def call(content, **fields):
        messages = content if isinstance(content, list) else [{"role": "user", "content": content}]
        return client.chat.completions.create(model=NAME, messages=messages, temperature=0, **fields)
    return call


def test_thinking_ends_and_the_answer_follows(ask):
    answer = ask("What is 17 + 25?").choices[0]
    assert "42" in answer.message.content and answer.finish_reason == "stop"
    assert "42" in answer.message.reasoning_content and "think>" not in answer.message.reasoning_content
    message, _ = gather(ask("What is 17 + 25?", stream=True))
    assert (message["reasoning"], message["content"]) == (
        answer.message.reasoning_content, answer.message.content)


@pytest.mark.parametrize("extra", [{}, NO_THINKING], ids=["thinking", "plain"])
def test_several_calls_at_once(ask, extra):
    fields = {"tools": [WEATHER, TIME], "extra_body": extra}
    answer = ask("Weather in Berlin and Lagos?", **fields).choices[0]
    calls = [(call.function.name, json.loads(call.function.arguments)) for call in answer.message.tool_calls]
    assert [(name, arguments["city"]) for name, arguments in calls] == [("get_weather", "Berlin"),
                                                                        ("get_weather", "Lagos")]
    assert answer.finish_reason == "tool_calls" and not answer.message.content
    assert len({call.id for call in answer.message.tool_calls}) == 2
    message, chunks = gather(ask("Weather in Berlin and Lagos?", stream=True, **fields))
    assert message["finish"] == "tool_calls" and message["content"] == ""
    assert [call["arguments"] for _, call in sorted(message["calls"].items())] == [
        call.function.arguments for call in answer.message.tool_calls]
    fragments = sum(len(choice.delta.tool_calls or []) for chunk in chunks for choice in chunk.choices)
    assert fragments > 4  # arguments come as they are written, not in one piece


def test_one_call_when_only_one_is_allowed(ask):
    answer = ask("Weather in Berlin and Lagos?", tools=[WEATHER], parallel_tool_calls=False).choices[0]
    assert len(answer.message.tool_calls) == 1


def test_no_call_without_a_reason(ask):
    answer = ask("Hello", tools=[WEATHER]).choices[0]
    assert not answer.message.tool_calls and answer.message.content and answer.finish_reason == "stop"


def test_a_result_is_read(ask):
    question = {"role": "user", "content": "What is the weather in Berlin?"}
    call = ask([question], tools=[WEATHER]).choices[0].message
    result = {"role": "tool", "tool_call_id": call.tool_calls[0].id, "content": '{"temperature": 21, "sky": "clear"}'}
    answer = ask([question, call, result], tools=[WEATHER]).choices[0].message
    assert "21" in answer.content and not answer.tool_calls
