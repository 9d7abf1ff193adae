"""Renders chat templates for chat_template.cpp: frames in on standard input, frames out on standard output.

A frame is a kind (one byte), the length of its payload (four bytes, little-endian) and the payload, UTF-8.
In:  C  {"memory_bytes", "output_bytes", "seconds", "templates": [...]}, once, first
     R  {"template": index, "context": {...}}
Out: T  the rendered text; empty in answer to C, and unasked when the program is ready
     E  the template is wrong, or refuses the messages: Jinja's message
     L  a limit is reached: which
     M  Jinja2 is missing
The end of the input ends the program.
"""

import codecs
import json
import os
import pprint  # noqa: F401  (see below)
import resource
import signal
import struct
import sys
import textwrap  # noqa: F401
import time
from datetime import datetime

REQUEST, RESULT = 0, 1


def read_frame():
    def read(length):
        data = bytearray()
        while len(data) < length:
            piece = os.read(REQUEST, min(length - len(data), 1 << 20))
            if not piece:
                sys.exit(0)
            data += piece
        return bytes(data)

    _, length = struct.unpack("<cI", read(5))
    return read(length)


def write_frame(kind, text):
    payload = text.encode("utf-8", "replace")
    view = memoryview(struct.pack("<cI", kind, len(payload)) + payload)
    while view:
        view = view[os.write(RESULT, view):]


try:
    # Jinja2 imports these, pprint and textwrap when they are first needed; by then files cannot be opened.
    import jinja2.constants
    import jinja2.debug
    from jinja2 import nodes
    from jinja2.ext import Extension, loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment
except ImportError as problem:
    write_frame(b"M", str(problem))
    sys.exit(0)


class Generation(Extension):
    """{% generation %} ... {% endgeneration %}, which marks what a model is trained on, is its content."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.Scope(body, lineno=line)


class OutputLimit(Exception):
    pass


def raise_exception(message):
    raise jinja2.TemplateError(message)


def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def make_environment():
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                                extensions=[Generation, loopcontrols])
    environment.filters["tojson"] = to_json
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
    return environment


def confine(memory_bytes):
    """From here on: no files, no processes, no more memory than allowed. The sandbox should need none of this."""
    time.localtime()  # reads the time zone
    codecs.lookup("unicode_escape")  # for string literals in templates
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))


def render(template, context, output_bytes):
    pieces, total = [], 0
    for piece in template.generate(context):
        total += len(piece)
        if total > output_bytes:
            raise OutputLimit
        pieces.append(piece)
    text = "".join(pieces)
    if len(text.encode("utf-8")) > output_bytes:
        raise OutputLimit
    return text


def describe(problem):
    if isinstance(problem, jinja2.TemplateSyntaxError):
        return f"line {problem.lineno}: {problem.message}"
    if isinstance(problem, jinja2.TemplateError):
        return str(problem.message or type(problem).__name__)
    return f"{type(problem).__name__}: {problem}"


def answer(task, limits):
    """Runs the task and writes its answer. False if this process should not be trusted with another one."""
    # Whoever waits kills this process after limits["seconds"]; if nobody waits any more, the alarm does.
    signal.setitimer(signal.ITIMER_REAL, limits["seconds"] + 1)
    try:
        write_frame(b"T", task())
    except MemoryError:
        write_frame(b"L", f"the template needs more than {limits['memory_bytes']} bytes of memory")
        return False
    except OutputLimit:
        write_frame(b"L", f"the rendered text is longer than {limits['output_bytes']} bytes")
    except Exception as problem:  # whatever a template can provoke is the template's error
        write_frame(b"E", describe(problem)[:10000])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return True


def main():
    write_frame(b"T", "")
    limits = json.loads(read_frame())
    environment = make_environment()
    templates = []
    confine(limits["memory_bytes"])

    def compile_all():
        templates.extend(environment.from_string(source) for source in limits["templates"])
        return ""

    def render_frame():
        request = json.loads(frame)
        return render(templates[request["template"]], request["context"], limits["output_bytes"])

    trusted = answer(compile_all, limits)
    while trusted:
        frame = read_frame()
        trusted = answer(render_frame, limits)


if __name__ == "__main__":
    main()
