"""LiteLLM: its openai/ and hosted_vllm/ providers and its Anthropic one, completion and stream."""
import os
import sys

import litellm

URL, MODEL = sys.argv[1:]
QUESTION = [{"role": "user", "content": "What is 17 + 25?"}]
TOOL = {"type": "function", "function": {
    "name": "get_weather", "description": "The weather in a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}

for provider in ["openai", "hosted_vllm"]:
    where = {"model": f"{provider}/{MODEL}", "api_base": f"{URL}/v1", "api_key": "none", "temperature": 0}
    answer = litellm.completion(messages=QUESTION, **where)
    assert "42" in answer.choices[0].message.content, answer
    assert answer.choices[0].message.reasoning_content and answer.usage.completion_tokens, answer
    chunks = list(litellm.completion(messages=QUESTION, stream=True, **where))
    whole = litellm.stream_chunk_builder(chunks, messages=QUESTION)
    assert whole.choices[0].message.content == answer.choices[0].message.content, whole
    for stream in [False, True]:
        answer = litellm.completion(messages=[{"role": "user", "content": "Weather in Berlin?"}], tools=[TOOL],
                                    stream=stream, **where)
        if stream:
            answer = litellm.stream_chunk_builder(list(answer))
        call = answer.choices[0].message.tool_calls[0].function
        assert call.name == "get_weather" and "Berlin" in call.arguments, answer
os.environ["ANTHROPIC_API_KEY"] = "none"
answer = litellm.completion(model=f"anthropic/{MODEL}", api_base=URL, messages=QUESTION, max_tokens=200)
assert answer.choices[0].message.content and answer.usage.prompt_tokens, answer
