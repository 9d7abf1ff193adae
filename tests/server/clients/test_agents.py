"""OpenAI's agents SDK in its default form: it speaks /v1/responses, to the model of OPENAI_DEFAULT_MODEL."""

import asyncio
import os

import pydantic
import pytest
from served import NAME

os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"  # traces go to OpenAI
os.environ["OPENAI_DEFAULT_MODEL"] = NAME
os.environ.setdefault("OPENAI_API_KEY", "none")

from agents import (Agent, ApplyPatchTool, ModelSettings, Runner, ShellTool, SQLiteSession,  # noqa: E402
                    function_tool)
from agents.editor import ApplyPatchResult  # noqa: E402

GREEDY = ModelSettings(temperature=0)
LOOP = asyncio.new_event_loop()  # the client that the SDK keeps belongs to one


def run(*arguments, **fields):
    return LOOP.run_until_complete(Runner.run(*arguments, **fields))


@pytest.fixture(autouse=True)
def base_url(talking, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", f"{talking.url}/v1")


@function_tool
def get_weather(city: str) -> str:
    """The weather in a city now.

    Args:
        city: The city.
    """
    return '{"temperature": 21}' if city == "Paris" else '{"temperature": 5}'


def test_an_agent_answers():
    result = run(Agent(name="Assistant", model_settings=GREEDY), "What is 17 + 25?")
    assert "42" in result.final_output


def test_tools():
    agent = Agent(name="Weather", tools=[get_weather], model_settings=GREEDY)
    result = run(agent, "What is the weather in Paris?")
    assert "21" in result.final_output
    assert result.context_wrapper.usage.requests == 2


def test_streamed():
    async def streamed():
        agent = Agent(name="Weather", tools=[get_weather], model_settings=GREEDY)
        result = Runner.run_streamed(agent, "What is the weather in Paris?")
        names = [event.name async for event in result.stream_events() if event.type == "run_item_stream_event"]
        return names, result.final_output
    names, output = LOOP.run_until_complete(streamed())
    assert "tool_called" in names and "tool_output" in names and "21" in output


class Editor:
    def __init__(self):
        self.seen = []

    def take(self, operation):
        self.seen.append(operation)
        return ApplyPatchResult(status="completed", output="done")

    create_file = update_file = delete_file = take


def test_its_shell_and_editor():
    commands = []

    def execute(request):
        commands.extend(request.data.action.commands)
        return "a.txt"
    shell = Agent(name="Shell", tools=[ShellTool(executor=execute)],
                  model_settings=ModelSettings(temperature=0, tool_choice="shell"))
    result = run(shell, "List the files", max_turns=2)
    assert commands and result.final_output and result.context_wrapper.usage.requests == 2
    editor = Editor()
    patcher = Agent(name="Editor", tools=[ApplyPatchTool(editor=editor)],
                    model_settings=ModelSettings(temperature=0, tool_choice="apply_patch"))
    result = run(patcher, "Use apply_patch: type delete_file, path a.txt", max_turns=2)
    assert len(editor.seen) == 1 and editor.seen[0].type == "delete_file"


class Sum(pydantic.BaseModel):
    result: int


def test_output_type():
    agent = Agent(name="Sums", output_type=Sum, model_settings=ModelSettings(temperature=0, max_tokens=400))
    assert isinstance(run(agent, "What is 17 + 25?").final_output, Sum)


def test_handoffs():
    weather = Agent(name="Weather", instructions="You know the weather.", tools=[get_weather], model_settings=GREEDY,
                    handoff_description="Knows the weather.")
    # The bundled model hands over where it must.
    first = Agent(name="Desk", handoffs=[weather], model_settings=ModelSettings(temperature=0, tool_choice="required"))
    result = run(first, "What is the weather in Paris?")
    assert result.last_agent.name == "Weather" and result.final_output


def test_conversations():
    session = SQLiteSession("one")
    agent = Agent(name="Assistant", model_settings=GREEDY)
    assert "42" in run(agent, "What is 17 + 25?", session=session).final_output
    assert "7" in run(agent, "And 3 + 4?", session=session).final_output
    first = run(agent, "What is 17 + 25?")
    assert "7" in run(agent, "And 3 + 4?", previous_response_id=first.last_response_id).final_output
