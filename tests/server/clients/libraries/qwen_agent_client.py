"""Qwen-Agent: its OpenAI client with the prompts that it writes by itself, and with the server's own tools."""
import json
import sys

from qwen_agent.llm import get_chat_model

URL, MODEL = sys.argv[1:]
FUNCTION = {"name": "get_weather", "description": "The weather in a city.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}


def last(pieces):
    *_, whole = pieces
    return whole


def model(**settings):
    return get_chat_model({"model": MODEL, "model_type": "oai", "model_server": f"{URL}/v1", "api_key": "none",
                           "generate_cfg": {"temperature": 0, "max_tokens": 300, **settings}})


answer = last(model().chat([{"role": "user", "content": "What is 17 + 25?"}], stream=True))
assert "42" in answer[-1]["content"], answer
answer = model().chat([{"role": "user", "content": "What is 17 + 25?"}], stream=False)
assert "42" in answer[-1]["content"], answer
# The default: tools are described in a system message, and answers of tools are the user's words.
question = {"role": "user", "content": "What is the weather in Berlin?"}
answer = last(model().chat([question], functions=[FUNCTION], stream=True))
print("by prompt:", answer)
history = [question, {"role": "assistant", "content": "", "function_call": {
    "name": "get_weather", "arguments": '{"city": "Berlin"}'}},
    {"role": "function", "name": "get_weather", "content": '{"temperature": 21}'}]
assert last(model().chat(history, functions=[FUNCTION], stream=True))
raw = model(use_raw_api=True)
answer = last(raw.chat([question], functions=[FUNCTION], stream=True))
call = [message for message in answer if message.get("function_call")][0]["function_call"]
assert call["name"] == "get_weather" and json.loads(call["arguments"]) == {"city": "Berlin"}, answer
