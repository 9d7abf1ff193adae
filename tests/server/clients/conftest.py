import openai
import pytest

from served import NAME, TALKING_MODEL, serving, tiny_model


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="session")
def model(folder):
    return tiny_model(folder)


@pytest.fixture(scope="module")
def server(model, folder):
    yield from serving(model, folder, "--max-model-len", "2048", "--max-num-seqs", "64")


@pytest.fixture(scope="module")
def talking(folder):
    """A server of the bundled model, which answers what it is asked."""
    yield from serving(str(TALKING_MODEL), folder)


@pytest.fixture(scope="module")
def client(server):
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as made:
        yield made


@pytest.fixture
def ask(client):
    """One chat request, with a short answer unless told otherwise."""
    def call(content="What is a tile?", **fields):
        arguments = {"model": NAME, "messages": [{"role": "user", "content": content}], "max_tokens": 24, "seed": 7}
        return client.chat.completions.create(**{**arguments, **fields})
    return call


NO_THINKING = {"chat_template_kwargs": {"enable_thinking": False}}
