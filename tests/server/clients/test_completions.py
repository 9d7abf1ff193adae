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
