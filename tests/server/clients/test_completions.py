"""/v1/completions, /tokenize and /detokenize."""

import pytest
from served import NAME

FIELDS = {"model": NAME, "max_tokens": 12, "seed": 5, "temperature": 0}
PROMPT = "The tile that does not fit"


def tokens_of(server, text):
    return server.http.post("/tokenize", json={"model": NAME, "prompt": text}).raise_for_status().json()["tokens"]


def test_text_and_ids_are_one(client, server):
    ids = tokens_of(server, PROMPT)
    by_text = client.completions.create(prompt=PROMPT, **FIELDS)
    by_ids = client.completions.create(prompt=ids, **FIELDS)
    assert by_text.object == "text_completion" and by_text.id.startswith("cmpl-")
    assert by_text.choices[0].text == by_ids.choices[0].text != ""
    assert by_text.usage.prompt_tokens == len(ids)
    streamed = client.completions.create(prompt=PROMPT, stream=True, **FIELDS)
    assert "".join(choice.text for chunk in streamed for choice in chunk.choices) == by_text.choices[0].text


def test_lists(client, server):
    prompts = [PROMPT, "Second", "Third"]
    alone = [client.completions.create(prompt=prompt, **FIELDS).choices[0].text for prompt in prompts]
    together = client.completions.create(prompt=prompts, **FIELDS)
    assert [choice.index for choice in together.choices] == [0, 1, 2]
    assert [choice.text for choice in together.choices] == alone
    ids = client.completions.create(prompt=[tokens_of(server, prompt) for prompt in prompts], **FIELDS)
    assert [choice.text for choice in ids.choices] == alone
    several = client.completions.create(prompt=prompts[:2], n=2, **{**FIELDS, "temperature": 1.0})
    assert [choice.index for choice in several.choices] == [0, 1, 2, 3]


def test_echo_and_logprobs(client, server):
    ids = tokens_of(server, PROMPT)
    answer = client.completions.create(prompt=PROMPT, echo=True, logprobs=3, **FIELDS)
    choice = answer.choices[0]
    assert choice.text.startswith(PROMPT)
    assert len(choice.logprobs.tokens) == len(ids) + answer.usage.completion_tokens
    assert choice.logprobs.token_logprobs[0] is None  # nothing stands before the first token
    assert all(value <= 0 for value in choice.logprobs.token_logprobs[1:])
    assert all(len(tops) >= 1 for tops in choice.logprobs.top_logprobs[1:])
    assert choice.logprobs.text_offset[0] == 0 and sorted(choice.logprobs.text_offset) == choice.logprobs.text_offset
    assert "".join(choice.logprobs.tokens[:len(ids)]) == PROMPT


def test_score_only(client):
    """max_tokens 0 with echo and logprobs is how evaluation tools read the likelihood of a text."""
    answer = client.completions.create(prompt=PROMPT, echo=True, logprobs=1, **{**FIELDS, "max_tokens": 0})
    assert answer.choices[0].text == PROMPT and answer.usage.completion_tokens == 0


@pytest.mark.parametrize("text", ["", "plain", "Grüße, 世界 🌍", "<|im_start|>user\n"])
def test_tokenize_round_trip(server, text):
    ids = tokens_of(server, text)
    back = server.http.post("/detokenize", json={"model": NAME, "tokens": ids}).raise_for_status().json()["prompt"]
    assert back == text


def test_tokenize_a_conversation(server):
    answer = server.http.post("/tokenize", json={
        "model": NAME, "messages": [{"role": "user", "content": "Hi"}], "return_token_strs": True}).json()
    assert answer["count"] == len(answer["tokens"]) == len(answer["token_strs"]) > 4
    assert answer["max_model_len"] == 2048


def test_bad_words(client, server):
    free = client.completions.create(prompt=PROMPT, extra_body={"return_token_ids": True}, **FIELDS).choices[0]
    first, second = free.token_ids[:2]
    pair = server.http.post("/detokenize", json={"model": NAME, "tokens": [first, second]}).json()["prompt"]
    if tokens_of(server, pair) == [first, second]:  # a word of two tokens: the second is not drawn behind the first
        other = client.completions.create(prompt=PROMPT, extra_body={"return_token_ids": True, "bad_words": [pair]},
                                          **FIELDS).choices[0]
        assert other.token_ids[0] == first and other.token_ids[1] != second
    word = server.http.post("/detokenize", json={"model": NAME, "tokens": [first]}).json()["prompt"]
    other = client.completions.create(prompt=PROMPT, extra_body={"bad_words": [word], "return_token_ids": True}, **FIELDS)
    assert first not in other.choices[0].token_ids
    again = client.completions.create(prompt=PROMPT, extra_body={"bad_words": ["zzqq"], "return_token_ids": True}, **FIELDS)
    assert again.choices[0].token_ids == free.token_ids


@pytest.mark.parametrize("temperature", [0, 1])
def test_allowed_token_ids(client, server, temperature):
    allowed = tokens_of(server, "yes no maybe")
    answer = client.completions.create(prompt=PROMPT, extra_body={"allowed_token_ids": allowed, "return_token_ids": True},
                                       **FIELDS | {"temperature": temperature})
    ids = answer.choices[0].token_ids
    assert len(ids) == FIELDS["max_tokens"] and set(ids) <= set(allowed)


def test_truncated_prompts(client, server):
    ids = tokens_of(server, PROMPT)
    end = client.completions.create(prompt=ids[-3:], **FIELDS)
    for prompt in (PROMPT, ids):
        answer = client.completions.create(prompt=prompt, extra_body={"truncate_prompt_tokens": 3}, **FIELDS)
        assert answer.usage.prompt_tokens == 3 and answer.choices[0].text == end.choices[0].text
    echoed = client.completions.create(prompt=PROMPT, echo=True, extra_body={"truncate_prompt_tokens": 3},
                                       **FIELDS | {"max_tokens": 0})
    assert PROMPT.endswith(echoed.choices[0].text) and len(echoed.choices[0].text) < len(PROMPT)
    long = client.completions.create(prompt="Too long. " * 3000, extra_body={"truncate_prompt_tokens": -1}, **FIELDS)
    assert long.usage.prompt_tokens == 2048 - FIELDS["max_tokens"]
