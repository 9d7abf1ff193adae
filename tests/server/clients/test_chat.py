"""/v1/chat/completions through the openai client."""

import asyncio
import json
import re

import openai
import pytest
from conftest import NO_THINKING
from openai.types.chat import ChatCompletionMessageCustomToolCall
from served import NAME

WEATHER = {"type": "function", "function": {
    "name": "get_weather", "description": "The weather in a city now.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                   "required": ["city"]}}}
TIME = {"type": "function", "function": {
    "name": "get_time", "description": "The time in a city now.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}


def gather(stream):
    """The message that the chunks of choice 0 add up to, and the chunks."""
    message = {"role": None, "content": "", "reasoning": "", "calls": {}, "finish": None}
    chunks = list(stream)
    for chunk in chunks:
        for choice in chunk.choices:
            delta = choice.delta
            message["role"] = message["role"] or delta.role
            message["content"] += delta.content or ""
            message["reasoning"] += getattr(delta, "reasoning_content", None) or ""
            for call in delta.tool_calls or []:
                known = message["calls"].setdefault(call.index, {"id": "", "name": "", "arguments": ""})
                known["id"] += call.id or ""
                known["name"] += call.function.name or ""
                known["arguments"] += call.function.arguments or ""
            message["finish"] = choice.finish_reason or message["finish"]
    return message, chunks


def is_json(text):
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def text_of(message):
    return getattr(message, "reasoning_content", None) or "", message.content or ""


def test_answer(ask):
    answer = ask()
    assert answer.object == "chat.completion" and answer.model == NAME and answer.id.startswith("chatcmpl-")
    assert answer.choices[0].message.role == "assistant"
    assert answer.choices[0].finish_reason in ("stop", "length")
    assert "".join(text_of(answer.choices[0].message))
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert 0 < answer.usage.completion_tokens <= 24


@pytest.mark.parametrize("extra", [{}, NO_THINKING])
def test_stream_is_the_answer_in_pieces(ask, extra):
    whole = ask(extra_body=extra)
    message, chunks = gather(ask(stream=True, extra_body=extra))
    assert message["role"] == "assistant"
    assert (message["reasoning"], message["content"]) == text_of(whole.choices[0].message)
    assert message["finish"] == whole.choices[0].finish_reason
    assert len(chunks) > 2 and {chunk.id for chunk in chunks} == {chunks[0].id}
    assert all(chunk.object == "chat.completion.chunk" and chunk.usage is None for chunk in chunks)


def test_usage_comes_last_when_asked(ask):
    whole = ask()
    _, chunks = gather(ask(stream=True, stream_options={"include_usage": True}))
    assert chunks[-1].choices == []
    assert chunks[-1].usage.model_dump() == whole.usage.model_dump()
    assert all(chunk.usage is None for chunk in chunks[:-1])


def test_thinking_is_reasoning_content(ask):
    """The prompt leaves the model inside thinking, so what comes first is reasoning; switched off, it is content."""
    reasoning, _ = text_of(ask(max_tokens=8).choices[0].message)
    assert reasoning
    message = ask(max_tokens=8, extra_body=NO_THINKING).choices[0].message
    assert text_of(message)[0] == "" and message.content
    assert message.content and ask(max_tokens=8).choices[0].message.reasoning == reasoning


def test_thinking_budget_ends_thinking(ask):
    message = ask(max_tokens=64, extra_body={"thinking_token_budget": 8, "ignore_eos": True}).choices[0].message
    assert message.content


def test_same_seed_same_words(ask):
    first, second = (ask(temperature=1.0, seed=11).choices[0].message for _ in range(2))
    assert text_of(first) == text_of(second)
    others = {text_of(ask(temperature=1.0, seed=seed).choices[0].message) for seed in (12, 13, 14)}
    assert others - {text_of(first)}


def test_choices(ask):
    answer = ask(n=3, temperature=1.0)
    assert [choice.index for choice in answer.choices] == [0, 1, 2]
    assert len({text_of(choice.message) for choice in answer.choices}) > 1
    streamed = ["", "", ""]
    for chunk in ask(n=3, temperature=1.0, stream=True):
        for choice in chunk.choices:
            streamed[choice.index] += getattr(choice.delta, "reasoning_content", None) or ""
            streamed[choice.index] += choice.delta.content or ""
    assert streamed == ["".join(text_of(choice.message)) for choice in answer.choices]


def test_stop_strings_and_limits(ask):
    content = ask(extra_body={**NO_THINKING, "ignore_eos": True}).choices[0].message.content
    middle = content[len(content) // 2]
    cut = ask(stop=[middle], extra_body={**NO_THINKING, "ignore_eos": True}).choices[0]
    assert cut.finish_reason == "stop" and cut.message.content == content[:content.index(middle)].rstrip("\n") or \
        content.startswith(cut.message.content)
    assert middle not in cut.message.content
    five = ask(max_tokens=5, extra_body={"ignore_eos": True})
    assert five.usage.completion_tokens == 5 and five.choices[0].finish_reason == "length"
    assert ask(max_tokens=None, max_completion_tokens=3).usage.completion_tokens <= 3


def test_logprobs(ask):
    answer = ask(logprobs=True, top_logprobs=4, temperature=0, extra_body=NO_THINKING)
    entries = answer.choices[0].logprobs.content
    assert len(entries) == answer.usage.completion_tokens
    for entry in entries:
        assert entry.logprob <= 0 and len(entry.top_logprobs) == 4
        tops = [top.logprob for top in entry.top_logprobs]
        assert tops == sorted(tops, reverse=True)
        # Greedy takes the likeliest. Rows of the head that no token has, such as padding, are never taken.
        assert entry.logprob == max(top.logprob for top in entry.top_logprobs if top.bytes)
        assert bytes(entry.bytes).decode(errors="replace") == entry.token
    streamed = [entry for chunk in ask(logprobs=True, top_logprobs=4, temperature=0, stream=True,
                                       extra_body=NO_THINKING)
                for choice in chunk.choices if choice.logprobs for entry in choice.logprobs.content]
    assert [entry.model_dump() for entry in streamed] == [entry.model_dump() for entry in entries]


@pytest.mark.parametrize("choice", ["auto", "none"])
def test_tools_offered(ask, choice):
    answer = ask("Weather in Berlin?", tools=[WEATHER], tool_choice=choice)
    if choice == "none":
        assert not answer.choices[0].message.tool_calls


@pytest.mark.parametrize("choice, names", [
    ("required", {"get_weather", "get_time"}),
    ({"type": "function", "function": {"name": "get_time"}}, {"get_time"}),
])
def test_tools_forced(ask, choice, names):
    """A call is forced by how the answer must begin, so even noise calls a tool that exists."""
    fields = {"tools": [WEATHER, TIME], "tool_choice": choice, "max_tokens": 48, "extra_body": NO_THINKING}
    answer = ask("Weather and time in Berlin?", **fields).choices[0]
    call = answer.message.tool_calls[0]
    assert call.type == "function" and call.function.name in names and call.id
    if answer.finish_reason == "tool_calls":
        assert isinstance(json.loads(call.function.arguments), dict)
    else:  # noise seldom ends a call; one that is cut must not look whole
        assert answer.finish_reason == "length" and not is_json(call.function.arguments)
    message, _ = gather(ask("Weather and time in Berlin?", stream=True, **fields))
    assert message["calls"][0]["name"] == call.function.name
    assert message["calls"][0]["arguments"] == call.function.arguments
    assert message["finish"] == answer.finish_reason


CODE = {"type": "custom", "custom": {"name": "code", "description": "Runs Python.", "format": {
    "type": "grammar", "grammar": {"syntax": "lark", "definition": 'start: "print(" /[0-9]{1,3}/ ")"'}}}}


def custom_calls(stream):
    """What the deltas of custom calls add up to. The client has no type for them, and keeps what it was sent."""
    calls = []
    for chunk in stream:
        for delta in (chunk.choices[0].delta.tool_calls or []) if chunk.choices else []:
            assert delta.function is None
            if delta.id:
                assert delta.index == len(calls) and delta.type == "custom"
                calls.append({"id": delta.id, "type": delta.type, "custom": dict(delta.custom)})
            else:
                calls[delta.index]["custom"]["input"] += delta.custom["input"]
    return calls


@pytest.mark.parametrize("choice", [{"type": "custom", "custom": {"name": "code"}}, "required", {
    "type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [
        {"type": "custom", "custom": {"name": "code"}}]}}])
def test_custom_tools_get_text(ask, choice):
    """Noise that follows a grammar, streamed and not, and the call that goes back with its answer."""
    tools = [CODE] if choice == "required" else [WEATHER, CODE]
    fields = {"tools": tools, "tool_choice": choice, "parallel_tool_calls": False, "max_tokens": 200}
    answer = ask("Print 5", **fields, extra_body=NO_THINKING).choices[0]
    call, = answer.message.tool_calls
    assert answer.finish_reason == "tool_calls" and call.type == "custom" and call.custom.name == "code"
    assert re.fullmatch(r"print\([0-9]{1,3}\)", call.custom.input)
    assert isinstance(call, ChatCompletionMessageCustomToolCall)
    streamed, = custom_calls(ask("Print 5", **fields, extra_body=NO_THINKING, stream=True))
    assert streamed["custom"] == call.custom.model_dump() and streamed["id"].startswith("call_")
    went_back = ask(messages=[{"role": "user", "content": "Print 5"}, answer.message.model_dump(exclude_none=True),
                              {"role": "tool", "tool_call_id": call.id, "content": "5"}], tools=tools)
    assert went_back.usage.prompt_tokens > ask("Print 5", tools=tools).usage.prompt_tokens


def test_a_cut_input_of_a_custom_tool_stays_open(ask):
    tool = {"type": "custom", "custom": {"name": "note"}}
    fields = {"tools": [tool], "tool_choice": {"type": "custom", "custom": {"name": "note"}}, "max_tokens": 40,
              "extra_body": NO_THINKING}
    choice = ask("Note", **fields).choices[0]
    call, = choice.message.tool_calls
    assert choice.finish_reason == "length" and call.custom.name == "note" and call.custom.input
    streamed, = custom_calls(ask("Note", **fields, stream=True))
    assert streamed["custom"]["input"] == call.custom.input


def test_custom_tools_of_a_model_that_talks(talking):
    with openai.OpenAI(base_url=f"{talking.url}/v1", api_key="none", max_retries=0) as client:
        answer = client.chat.completions.create(model=NAME, messages=[{"role": "user", "content": "Print 5"}],
                                                tools=[CODE], tool_choice="required", temperature=0)
    call = answer.choices[0].message.tool_calls[0]
    assert answer.choices[0].finish_reason == "tool_calls" and re.fullmatch(r"print\(\d{1,3}\)", call.custom.input)


def test_tools_forced_after_thinking(ask):
    fields = {"tools": [WEATHER], "tool_choice": "required", "max_tokens": 96}
    answer = ask("Weather?", extra_body={"thinking_token_budget": 16}, **fields).choices[0]
    assert answer.message.tool_calls[0].function.name == "get_weather"


def test_results_of_tools_go_back(ask):
    call = {"id": "call_1", "type": "function",
            "function": {"name": "get_weather", "arguments": '{"city": "Berlin", "days": 2}'}}
    answer = ask(messages=[
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Weather in Berlin?"}]},
        {"role": "assistant", "content": None, "reasoning_content": "I call the tool.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "21 degrees"}], tools=[WEATHER])
    assert answer.usage.prompt_tokens > 50


def test_a_broken_call_does_not_end_a_conversation(client):
    call = {"id": "call_1", "type": "function",
            "function": {"name": "get_weather", "arguments": '{"city": "Ber'}}
    raw = client.chat.completions.with_raw_response.create(
        model=NAME, max_tokens=4, tools=[WEATHER],
        messages=[{"role": "user", "content": "Weather?"}, {"role": "assistant", "content": None, "tool_calls": [call]},
                  {"role": "tool", "tool_call_id": "call_1", "content": "the call was cut"},
                  {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Again."}])
    assert "messages[1].tool_calls[0].function.arguments" in raw.headers["x-tessera-warning"]
    assert raw.parse().usage.completion_tokens


def test_functions_are_answered_in_their_form(ask):
    fields = {"functions": [WEATHER["function"]], "function_call": {"name": "get_weather"}, "max_tokens": 64}
    message = ask(extra_body={**NO_THINKING, **fields}).choices[0].message
    assert message.function_call.name == "get_weather" and not message.tool_calls


def test_continues_the_last_message(ask):
    messages = [{"role": "user", "content": "Count."}, {"role": "assistant", "content": "One, two,"}]
    shorter = ask(messages=messages[:1], extra_body=NO_THINKING).usage.prompt_tokens
    answer = ask(messages=messages, extra_body={"continue_final_message": True, "add_generation_prompt": False})
    assert answer.usage.prompt_tokens > shorter
    assert not answer.choices[0].message.reasoning_content and answer.choices[0].message.content


@pytest.mark.parametrize("last", ["assistant", "user"])
def test_echo(ask, last):
    messages = [{"role": "user", "content": "Count."}, {"role": "assistant", "content": "One, two,"}]
    fields = {"continue_final_message": True} if last == "assistant" else {}
    messages = messages if last == "assistant" else messages[:1]
    plain = ask(messages=messages, n=2, extra_body=NO_THINKING | fields)
    echoed = ask(messages=messages, n=2, extra_body=NO_THINKING | fields | {"echo": True})
    before = "One, two," if last == "assistant" else ""
    texts = [before + choice.message.content for choice in plain.choices]
    assert [choice.message.content for choice in echoed.choices] == texts
    streamed = ["", ""]
    for chunk in ask(messages=messages, n=2, stream=True, extra_body=NO_THINKING | fields | {"echo": True}):
        for choice in chunk.choices:
            streamed[choice.index] += choice.delta.content
    assert streamed == texts


def test_truncates_the_conversation(ask):
    answer = ask(extra_body=NO_THINKING | {"truncate_prompt_tokens": 5})
    assert answer.usage.prompt_tokens == 5


def test_every_delta_has_content(ask):
    for chunk in ask(stream=True):
        assert all(choice.delta.content is not None for choice in chunk.choices) and chunk.choices


def test_models(client, server):
    (card,) = client.models.list().data
    assert card.id == NAME and card.object == "model" and card.max_model_len == 2048
    assert client.models.retrieve(NAME).id == NAME
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("other")


def test_async_client(server):
    async def run():
        async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
            fields = {"model": NAME, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 12, "seed": 1}
            whole = await client.chat.completions.create(**fields)
            text = ""
            async for chunk in await client.chat.completions.create(**fields, stream=True):
                for choice in chunk.choices:
                    text += getattr(choice.delta, "reasoning_content", None) or ""
                    text += choice.delta.content or ""
            assert text == "".join(text_of(whole.choices[0].message))
    asyncio.run(run())
