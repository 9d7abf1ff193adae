"""instructor: every mode for OpenAI's API, whole, and in parts where it is guided. In the modes that only a prompt
asks for the right keys the request must be understood; the bundled model need not find them."""
import sys
from collections.abc import Iterable

import instructor
import openai
from instructor.core.exceptions import IncompleteOutputException, InstructorRetryException
from pydantic import BaseModel

URL, MODEL = sys.argv[1:]


class Person(BaseModel):
    name: str
    age: int


Mode = instructor.Mode
FIELDS = {"model": MODEL, "messages": [{"role": "user", "content": "Anna is 31 years old. Give name and age as JSON."}], "temperature": 0,
          "max_tokens": 400, "max_retries": 0}


def client_of(mode):
    return instructor.from_openai(openai.OpenAI(base_url=f"{URL}/v1", api_key="none"), mode=mode)


for mode in [Mode.TOOLS, Mode.TOOLS_STRICT, Mode.FUNCTIONS, Mode.JSON_SCHEMA]:
    client = client_of(mode)
    assert isinstance(client.chat.completions.create(response_model=Person, **FIELDS), Person), mode
    *_, last = client.chat.completions.create_partial(response_model=Person, **FIELDS)
    assert last.name and last.age is not None, (mode, last)
for mode in [Mode.PARALLEL_TOOLS, Mode.JSON, Mode.MD_JSON, Mode.JSON_O1]:
    seen = []
    client = client_of(mode)
    client.on("completion:response", seen.append)
    try:
        kind = Iterable[Person] if mode == Mode.PARALLEL_TOOLS else Person
        assert client.chat.completions.create(response_model=kind, **FIELDS), mode
    except (IncompleteOutputException, InstructorRetryException):  # there was an answer
        assert seen and seen[0].choices[0].message.content, mode
