"""LangChain's ChatOpenAI: invoke, stream, bind_tools, with_structured_output by each method."""
import sys

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, Field

URL, MODEL = sys.argv[1:]
model = ChatOpenAI(model=MODEL, base_url=f"{URL}/v1", api_key="none", temperature=0)


class Person(BaseModel):
    """A person."""
    name: str = Field(description="The person's name")
    age: int | None = Field(default=None, description="In years")


@tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    return '{"temperature": 21}'


assert "42" in model.invoke("What is 17 + 25?").content
pieces = list(model.stream("What is 17 + 25?"))
assert "42" in "".join(piece.content for piece in pieces)
pieces = list(model.stream("What is 17 + 25?", stream_usage=True))
assert any(piece.usage_metadata for piece in pieces), pieces

with_tools = model.bind_tools([get_weather])
question = HumanMessage("What is the weather in Berlin?")
answer = with_tools.invoke([question])
assert [(call["name"], call["args"]) for call in answer.tool_calls] == [("get_weather", {"city": "Berlin"})], answer
result = get_weather.invoke(answer.tool_calls[0])
assert isinstance(result, ToolMessage)
assert "21" in with_tools.invoke([question, answer, result]).content
gathered = None
for piece in with_tools.stream([question]):
    gathered = piece if gathered is None else gathered + piece
assert gathered.tool_calls[0]["args"] == {"city": "Berlin"}, gathered
assert model.bind_tools([get_weather], tool_choice="any").invoke("Hello").tool_calls
assert model.bind_tools([get_weather], tool_choice="get_weather", strict=True).invoke("Hello").tool_calls

for method in [None, "json_schema", "function_calling", "json_mode"]:
    chosen = {"method": method} if method else {}
    person = model.with_structured_output(Person, **chosen).invoke(
        "Anna is 31 years old. Answer as JSON with the keys name and age.")
    assert isinstance(person, Person), (method, person)
