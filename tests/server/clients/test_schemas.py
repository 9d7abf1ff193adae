"""Answers that follow schemas, regexes and grammars, and calls with arguments that do: with a model whose words are
noise, so that nothing but the guide makes them right; once as it is, once with drafts. TESSERA_SCHEMAS: how many random
schemas (default 100; a third as many regexes and tools)."""

import concurrent.futures
import json
import os
import re
import time

import jsonschema
import openai
import pydantic
import pytest
from conftest import NO_THINKING
from schemas import Schemas, regex
from served import NAME, serving

COUNT = int(os.environ.get("TESSERA_SCHEMAS", "100"))


@pytest.fixture(scope="module", params=[[], ["--num-speculative-tokens", "3"]], ids=["plain", "drafts"])
def server(model, folder, request):
    served = serving(model, folder, "--max-model-len", "2048", "--max-num-seqs", "64", *request.param)
    made = next(served)
    yield made
    if request.param:
        assert made.metrics()["vllm:spec_decode_num_accepted_tokens_total"] > 0
    for _ in served:
        pass


@pytest.fixture(scope="module")
def bias(server):
    """Noise goes on and on; closing brackets and quotes and the end of the answer are made likelier."""
    biases = {}
    for text in ['"', "}", "]", '"}', '"]', '",', ",", ":", '":', "<|im_end|>", "\n</", "</", ">", "</parameter>"]:
        tokens = server.http.post("/tokenize", json={"prompt": text, "add_special_tokens": False}).json()["tokens"]
        if len(tokens) == 1:
            biases[str(tokens[0])] = 7
    return biases


def many(function, count):
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        return list(pool.map(function, range(count)))


def refusal(client, **extra):
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model=NAME, messages=[{"role": "user", "content": "Hi"}], max_tokens=4,
                                       extra_body=extra)
    return caught.value.body


def test_random_schemas(ask, bias):
    def check(seed):
        schema = Schemas(seed).schema()
        try:
            return follow(seed, schema)
        except openai.BadRequestError as refused:  # definitions that only refer to each other
            assert "nothing satisfies it" in refused.body["message"], f"seed {seed}: {schema}"
            return 0

    def follow(seed, schema):
        answer = ask(seed=seed, max_tokens=500, temperature=1, logit_bias=bias, extra_body={
            **NO_THINKING,
            "response_format": {"type": "json_schema", "json_schema": {"name": "it", "strict": True, "schema": schema}}})
        choice = answer.choices[0]
        if choice.finish_reason != "stop":
            return 0
        try:
            jsonschema.Draft202012Validator(schema).validate(json.loads(choice.message.content))
        except Exception as fault:
            raise AssertionError(f"seed {seed}: {json.dumps(schema)} gave {choice.message.content!r}") from fault
        return 1
    finished = sum(many(check, COUNT))
    print(f"{finished} of {COUNT} answers to schemas finished")
    assert finished > 0.6 * COUNT


def test_random_regexes(client, bias):
    count = COUNT * 3 // 10

    def check(seed):
        pattern = regex(seed)
        answer = client.completions.create(model=NAME, prompt="It is", max_tokens=200, seed=seed, temperature=1,
                                           logit_bias=bias, extra_body={"structured_outputs": {"regex": pattern}})
        if answer.choices[0].finish_reason != "stop":
            return 0
        assert re.fullmatch(pattern, answer.choices[0].text), f"{pattern!r} gave {answer.choices[0].text!r}"
        return 1
    finished = sum(many(check, count))
    print(f"{finished} of {count} answers to regexes finished")
    assert finished > 0.6 * count


def test_random_tools(ask, bias):
    count = COUNT * 3 // 10

    def check(seed):
        schemas = {f"tool_{i}": Schemas(1000 * seed + i).parameters() for i in range(2)}
        tools = [{"type": "function", "function": {"name": name, "strict": True, "parameters": parameters}}
                 for name, parameters in schemas.items()]
        choice = ["required", {"type": "function", "function": {"name": "tool_1"}}][seed % 2]
        answer = ask(seed=seed, max_tokens=500, temperature=1, logit_bias=bias, tools=tools, tool_choice=choice, n=2,
                     extra_body={"enable_thinking": seed % 3 == 0, "thinking_budget": 20})
        for made in answer.choices:
            if made.finish_reason != "tool_calls":
                assert made.finish_reason == "length"
                continue
            assert not made.message.content and made.message.tool_calls
            for call in made.message.tool_calls:
                try:
                    jsonschema.Draft202012Validator(schemas[call.function.name]).validate(
                        json.loads(call.function.arguments))
                except Exception as fault:
                    raise AssertionError(f"seed {seed}: {json.dumps(schemas[call.function.name])} gave "
                                         f"{call.function.arguments!r}") from fault
        return sum(made.finish_reason == "tool_calls" for made in answer.choices)
    finished = sum(many(check, count))
    print(f"{finished} of {2 * count} answers of calls finished")
    assert finished > count


def test_random_inputs_of_custom_tools(ask, bias):
    count = COUNT * 3 // 20

    def check(seed):
        pattern = regex(seed)
        tool = {"type": "custom", "custom": {"name": "it", "format": {
            "type": "grammar", "grammar": {"syntax": "regex", "definition": pattern}}}}
        choice = ask(seed=seed, max_tokens=200, temperature=1, logit_bias=bias, tools=[tool], tool_choice="required",
                     parallel_tool_calls=False, extra_body=NO_THINKING).choices[0]
        if choice.finish_reason != "tool_calls":
            assert choice.finish_reason == "length"
            return 0
        call, = choice.message.tool_calls
        assert re.fullmatch(pattern, call.custom.input), f"{pattern!r} gave {call.custom.input!r}"
        return 1
    finished = sum(many(check, count))
    print(f"{finished} of {count} inputs finished")
    assert finished > 0.6 * count


class City(pydantic.BaseModel):
    name: str = pydantic.Field(max_length=12)
    people: int = pydantic.Field(ge=0)
    twin: "City | None" = None


def test_parse(client, bias):
    answer = client.chat.completions.parse(model=NAME, messages=[{"role": "user", "content": "Name a city."}],
                                           response_format=City, max_tokens=600, seed=3, logit_bias=bias,
                                           extra_body=NO_THINKING)
    city = answer.choices[0].message.parsed
    assert isinstance(city, City) and city.people >= 0


def test_json_object_behind_thinking(ask, bias):
    answer = ask(response_format={"type": "json_object"}, max_tokens=400, logit_bias=bias, seed=5,
                 extra_body={"thinking_budget": 12})
    message = answer.choices[0].message
    assert message.reasoning_content
    assert answer.choices[0].finish_reason == "stop" and isinstance(json.loads(message.content), dict)


def test_streaming_gives_the_same(ask, bias):
    arguments = {"response_format": {"type": "json_schema", "json_schema": {"name": "c", "schema": City.model_json_schema()}},
                 "max_tokens": 300, "logit_bias": bias, "extra_body": NO_THINKING}
    whole = ask(**arguments).choices[0].message.content
    chunks = ask(stream=True, **arguments)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == whole


@pytest.mark.parametrize("fields, pattern", [
    ({"structured_outputs": {"choice": ["yes", "no", "maybe so"]}}, "yes|no|maybe so"),
    ({"guided_choice": ["yes", "no"]}, "yes|no"),
    ({"guided_regex": "[0-9]{3}"}, "[0-9]{3}"),
    ({"structured_outputs": {"grammar": 'root ::= "<" [a-z]{1,3} ">"'}}, "<[a-z]{1,3}>"),
    ({"guided_grammar": 'start: "<" /[a-z]{1,3}/ ">"'}, "<[a-z]{1,3}>"),
    ({"guided_json": '{"type": "boolean"}'}, "true|false"),
    ({"structured_outputs": {"json": {"const": [1, 2]}, "disable_any_whitespace": True}}, r"\[1, ?2\]"),
    ({"structured_outputs": {"structural_tag": {"type": "structural_tag", "format": {
        "type": "sequence", "elements": [{"type": "const_string", "value": "n="},
                                         {"type": "json_schema", "json_schema": {"enum": [1, 2]}}]}}}}, "n=[12]"),
])
def test_other_forms(client, fields, pattern):
    for seed in range(3):
        answer = client.completions.create(model=NAME, prompt="Say", max_tokens=60, seed=seed, temperature=1,
                                           extra_body=fields)
        assert answer.choices[0].finish_reason == "stop"
        assert re.fullmatch(pattern, answer.choices[0].text), answer.choices[0].text


def test_one_call_where_parallel_ones_are_off(ask, bias):
    tool = {"type": "function", "function": {"name": "f", "parameters": {
        "type": "object", "properties": {"n": {"type": "integer", "maximum": 99, "minimum": 0}}, "required": ["n"]}}}
    for seed in range(4):
        answer = ask(tools=[tool], tool_choice="required", parallel_tool_calls=False, seed=seed, max_tokens=200,
                     temperature=1, logit_bias=bias, extra_body=NO_THINKING)
        calls = answer.choices[0].message.tool_calls
        assert len(calls) == 1 and 0 <= json.loads(calls[0].function.arguments)["n"] <= 99


def test_a_format_beside_tools(ask, bias):
    tool = {"type": "function", "function": {"name": "f", "strict": True, "parameters": {
        "type": "object", "properties": {"n": {"type": "boolean"}}, "required": ["n"], "additionalProperties": False}}}
    for seed in range(6):
        answer = ask(tools=[tool], seed=seed, max_tokens=200, temperature=1, logit_bias=bias, extra_body=NO_THINKING,
                     response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": {"enum": [7, 8]}}})
        message = answer.choices[0].message
        if message.tool_calls:
            assert all(isinstance(json.loads(call.function.arguments)["n"], bool) for call in message.tool_calls)
        else:
            assert message.content in ("7", "8")


@pytest.mark.parametrize("fields, param, says", [
    ({"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {
        "type": "object", "properties": {"tags": {"type": "array", "uniqueItems": True}}}}}},
     "response_format.json_schema.schema", '"uniqueItems" at #/properties/tags cannot be followed'),
    ({"guided_json": {"type": "nothing"}}, "guided_json", "nothing"),
    ({"structured_outputs": {"regex": "(a"}}, "structured_outputs.regex", "parenthesis"),
    ({"guided_grammar": "root ::= other"}, "guided_grammar", "other"),
    ({"guided_regex": "a", "guided_json": {"type": "null"}}, "guided_regex", "guided_json"),
    ({"guided_regex": "(" * 100 + ")" * 100}, "guided_regex", "deeper than 64"),
    ({"guided_json": {"enum": [f"value {i}" for i in range(100000)]}}, "guided_json", "expected at most"),
    ({"response_format": {"type": "json_schema"}}, "response_format.json_schema", "missing"),
    ({"tool_choice": "required", "tools": [{"type": "function", "function": {"name": "f", "strict": True, "parameters": {
        "type": "object", "properties": {"a": {"not": {}}}}}}]}, "tools", '"not" at #/properties/a'),
])
def test_what_cannot_be_followed_is_named(client, fields, param, says):
    body = refusal(client, **fields)
    assert body["param"] == param, body
    assert says in body["message"], body


def test_tools_that_are_not_strict_need_not_be_followed(ask, bias):
    tool = {"type": "function", "function": {"name": "f", "parameters": {
        "type": "object", "properties": {"a": {"not": {}}}}}}
    answer = ask(tools=[tool], tool_choice="required", max_tokens=100, logit_bias=bias, extra_body=NO_THINKING)
    assert answer.choices[0].finish_reason in ("length", "tool_calls")


def test_a_hostile_grammar_holds_nobody_up(server, client, ask):
    """Compiled for seconds on a thread of its own, while others are answered."""
    hostile = {"enum": [f"{i * 7919} is a value" for i in range(45000)]}
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        refused = pool.submit(refusal, client, guided_json=hostile)
        time.sleep(0.5)
        start = time.monotonic()
        ask(max_tokens=1)
        waited = time.monotonic() - start
        body = refused.result()
    assert waited < 5
    assert "too complex: it takes more than" in body["message"], body
