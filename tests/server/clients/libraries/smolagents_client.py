"""smolagents: ToolCallingAgent with its own system prompt, whole and streamed."""
import sys

from smolagents import ActionStep, OpenAIServerModel, ToolCallingAgent, tool

URL, MODEL = sys.argv[1:]


@tool
def get_weather(city: str) -> str:
    """The weather in a city.

    Args:
        city: The city's name.
    """
    return f"It is 21 degrees and clear in {city}."


model = OpenAIServerModel(model_id=MODEL, api_base=f"{URL}/v1", api_key="none", temperature=0, max_tokens=400)
for stream in [False, True]:
    agent = ToolCallingAgent(tools=[get_weather], model=model, max_steps=3, stream_outputs=stream, verbosity_level=0)
    agent.run("What is the weather in Berlin?")
    steps = [step for step in agent.memory.steps if isinstance(step, ActionStep) and step.model_output_message]
    # smolagents asks for calls alone. Which ones, in so long a prompt, is up to a better model.
    calls = [step.model_output_message.tool_calls for step in steps]
    # A later step may end inside its thinking, at max_tokens.
    assert calls and calls[0], agent.memory.steps
    assert all(call.function.name in ("get_weather", "final_answer") for some in calls for call in some or []), calls
