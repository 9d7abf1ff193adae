"""anthropic: messages, streams, tools by hand and by its runner, count_tokens."""
import sys

import anthropic

URL, MODEL = sys.argv[1:]
client = anthropic.Anthropic(base_url=URL, api_key="none")
QUESTION = {"model": MODEL, "max_tokens": 300, "extra_body": {"temperature": 0},
            "messages": [{"role": "user", "content": "What is 40 + 2?"}]}
TOOL = {"name": "get_weather", "description": "The weather in a city.",
        "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}
message = client.messages.create(**QUESTION)
assert "42" in message.content[-1].text, message
with client.messages.stream(**QUESTION) as stream:
    assert "".join(stream.text_stream) == message.content[-1].text
thinking = client.messages.create(**{**QUESTION, "max_tokens": 2000}, thinking={"type": "enabled", "budget_tokens": 1024})
assert thinking.content[0].type == "thinking" and thinking.content[-1].type == "text", thinking
assert client.messages.count_tokens(model=MODEL, messages=QUESTION["messages"], tools=[TOOL]).input_tokens > 20
weather = {**QUESTION, "messages": [{"role": "user", "content": "What is the weather in Berlin?"}], "tools": [TOOL]}
message = client.messages.create(**weather)
call = [block for block in message.content if block.type == "tool_use"][0]
assert call.input == {"city": "Berlin"} and message.stop_reason == "tool_use", message
with client.messages.stream(**weather) as stream:
    last = stream.get_final_message()
assert [block.input for block in last.content if block.type == "tool_use"] == [{"city": "Berlin"}], last
weather["messages"] += [{"role": "assistant", "content": message.content}, {"role": "user", "content": [
    {"type": "tool_result", "tool_use_id": call.id, "content": '{"temperature": 21, "sky": "clear"}'}]}]
assert "21" in client.messages.create(**weather).content[-1].text


@anthropic.beta_tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    return '{"temperature": 21, "sky": "clear"}'


runner = client.beta.messages.tool_runner(model=MODEL, max_tokens=300, tools=[get_weather], 
                                          messages=[{"role": "user", "content": "What is the weather in Berlin?"}])
*_, final = runner
assert "21" in final.content[-1].text, final
