"""Pydantic AI: text, tools, ToolOutput (the default for types), NativeOutput, PromptedOutput, streams."""
import asyncio
import sys

from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput, PromptedOutput, UnexpectedModelBehavior
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

URL, MODEL = sys.argv[1:]
model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=f"{URL}/v1", api_key="none"))


class Person(BaseModel):
    name: str
    age: int


assert "42" in Agent(model).run_sync("What is 17 + 25?", model_settings={"temperature": 0}).output
weather = Agent(model)
calls = []


@weather.tool_plain
def get_weather(city: str) -> dict:
    """The weather in a city."""
    calls.append(city)
    return {"city": city, "temperature": 21, "sky": "clear"}


answer = weather.run_sync("What is the weather in Berlin?", model_settings={"temperature": 0})
assert calls == ["Berlin"] and "21" in answer.output, (calls, answer.output)
settings = {"temperature": 0, "max_tokens": 400}
for kind in [Person, NativeOutput(Person), PromptedOutput(Person)]:
    try:
        run = Agent(model, output_type=kind, retries=1).run_sync("Anna is 31 years old. Give name and age as JSON.", model_settings=settings)
    except UnexpectedModelBehavior as weakness:  # nothing but a prompt asks this model for the right keys
        assert isinstance(kind, PromptedOutput), (kind, weakness)
        continue
    assert isinstance(run.output, Person), (kind, run.output)


async def stream():
    async with weather.run_stream("What is the weather in Berlin?", model_settings={"temperature": 0}) as run:
        text = "".join([piece async for piece in run.stream_text(delta=True)])
    assert "21" in text, text
    async with Agent(model, output_type=NativeOutput(Person)).run_stream("Anna is 31 years old. Give name and age as JSON.",
                                                                       model_settings=settings) as run:
        assert isinstance(await run.get_output(), Person)


asyncio.run(stream())
