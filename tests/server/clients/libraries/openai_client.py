"""openai: chat and parse, whole and streamed."""
import sys

import openai
from pydantic import BaseModel

URL, MODEL = sys.argv[1:]
client = openai.OpenAI(base_url=f"{URL}/v1", api_key="none")


class Person(BaseModel):
    name: str
    age: int


class GetWeather(BaseModel):
    """The weather in a city."""
    city: str


QUESTION = {"model": MODEL, "messages": [{"role": "user", "content": "What is 17 + 25?"}], "temperature": 0}
PERSON = {"model": MODEL, "messages": [{"role": "user", "content": "Anna is 31 years old. Give name and age as JSON."}], "temperature": 0,
          "response_format": Person}
TOOL = {"model": MODEL, "messages": [{"role": "user", "content": "Weather in Berlin?"}], "temperature": 0,
        "tools": [openai.pydantic_function_tool(GetWeather)]}
chat = client.chat.completions
assert "42" in chat.create(**QUESTION).choices[0].message.content
with chat.stream(**QUESTION) as stream:
    kinds = {event.type for event in stream}
    assert "42" in stream.get_final_completion().choices[0].message.content
assert {"chunk", "content.delta", "content.done"} <= kinds, kinds
assert isinstance(chat.parse(**PERSON).choices[0].message.parsed, Person)
with chat.stream(**PERSON) as stream:
    kinds = {event.type for event in stream}
    assert isinstance(stream.get_final_completion().choices[0].message.parsed, Person)
call = chat.parse(**TOOL).choices[0].message.tool_calls[0].function
assert call.parsed_arguments == GetWeather(city="Berlin"), call
with chat.stream(**TOOL) as stream:
    kinds = {event.type for event in stream}
    call = stream.get_final_completion().choices[0].message.tool_calls[0].function
assert call.parsed_arguments == GetWeather(city="Berlin"), call
assert "tool_calls.function.arguments.done" in kinds, kinds
