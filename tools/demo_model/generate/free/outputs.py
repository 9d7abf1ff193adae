"""What tools print, and questions about it: files of settings, test runs, listings, disks, repositories, search results,
records."""

import json

from .. import calls as plain_calls
from . import extraction, lexicon, need_values, needs, worlds
from .grammar import capital, listing, typed

KEYS = "host|port|user|timeout|workers|level|path|name|color|theme|retries|cache|debug|version|language|region|size|limit|mode|password_file|max_connections|log|title|author|license|main|build|target".split("|")
ENTRIES = {t["names"][0]: t for t in needs.TOOLS}


def setting(w, key):
    return {"port": lambda: w.number(80, 9999), "timeout": lambda: w.number(1, 300), "workers": lambda: w.number(1, 64), "retries": lambda: w.number(0, 9), "limit": lambda: w.number(1, 9999), "size": lambda: w.number(1, 512), "debug": lambda: w.any("true", "false"), "cache": lambda: w.any("on", "off", "true", "false"), "version": lambda: f"{w.number(0, 9)}.{w.number(0, 20)}.{w.number(0, 9)}",
            "host": lambda: w.any("0.0.0.0", "127.0.0.1", "localhost", f"{w.fresh()}.org"), "level": lambda: w.any("info", "debug", "warn", "error"), "max_connections": lambda: w.number(5, 5000)}.get(key, lambda: w.any(w.noun(), w.fresh(), f"/{w.fresh()}/{w.noun()}"))()


def config(w):
    """(tool entry, values, what it prints, question, reasoning, answer)"""
    keys = w.rng.sample(KEYS, w.number(2, 8))
    values = {k: setting(w, k) for k in keys}
    style = w.any("ini", "yaml", "json", "env", "toml")
    path = f"{w.any('', '', 'config/', 'src/', '/etc/')}{w.any('config', 'settings', 'app', 'server', w.noun(), w.fresh())}.{style}"
    text = {"ini": "\n".join(f"{k} = {v}" for k, v in values.items()), "yaml": "\n".join(f"{k}: {v}" for k, v in values.items()), "json": json.dumps(values, indent=w.any(None, 2)), "env": "\n".join(f"{k.upper()}={v}" for k, v in values.items()), "toml": f"[{w.noun()}]\n" + "\n".join(f"{k} = {json.dumps(v)}" for k, v in values.items())}[style]
    if w.chance(0.3):
        text = f"# {w.any('main settings', 'do not edit', 'generated', w.noun())}\n" + text
    key = w.any(*keys)
    if w.chance(0.12):
        key = w.any(*[k for k in KEYS if k not in keys])
        return "read_file", {"p": path}, text, typed(w, "(which|what) {k} (does|is in|is set in) {p} [use][?]|what is the {k} in {p}[?]", k=key, p=path), f"There is no {key} in it.", f"{path} does not set {key}."
    question = typed(w, "(which|what) {k} (does {p} use|is set in {p}|is in {p})[?]|(what is|what's) the {k} (in|of) {p}[?]|(look up|check|tell me|find) the {k} in {p}|{k} in {p}[?]|what value has {k} in {p}?|to what is {k} set in {p}[?]", k=key, p=path)
    return "read_file", {"p": path}, text, question, f"The line of {key}: {values[key]}.", f"The {key} is {values[key]}."


def tests(w):
    n, failed = w.number(3, 60), w.any(0, 0, 1, 1, 2)
    names = [f"test_{w.any(w.noun(), w.verb())}" for _ in range(failed)]
    file = f"tests/test_{w.noun()}.py"
    head = f"============ test session starts ============\ncollected {n} items\n\n{file} {''.join('F' if i < failed else '.' for i in range(min(n, 14)))}\n\n"
    tail = "".join(f"FAILED {file}::{x} - {w.any('AssertionError', 'KeyError', 'ValueError', 'TypeError')}\n" for x in names)
    last = f"============ {f'{failed} failed, ' if failed else ''}{n - failed} passed in {w.number(0, 30)}.{w.number(10, 99)}s ============"
    text = w.any(head + tail + last, tail + last, last if not failed else tail + last)
    command = w.any("pytest", "pytest -q", "python -m pytest", f"pytest {file}")
    kind = w.number(0, 2)
    question = typed(w, ("run {c}. (do|did) (the tests|all tests) pass[?]|(run {c} and tell me if it passes|does {c} pass)[?]|are the tests green? run {c}", "run {c}, how many tests (passed|are fine)[?]|how many tests pass with {c}[?]", "run {c} and tell me (which test fails|what fails)|which tests fail? run {c}")[kind], c=command)
    if kind == 1:
        answer = f"{n - failed} tests passed."
    elif failed:
        answer = f"No, {listing(names)} failed." if kind == 0 else f"{capital(listing(names))} failed.".replace("Test_", "test_", 1)
    else:
        answer = f"Yes, all {n} tests passed." if kind == 0 else "None, all tests passed."
    return "run_command", {"c": command}, text, question, last.strip("= ") + ".", answer


def listing_of_files(w):
    folder = need_values.value(w, "folder")[1]
    files = list(dict.fromkeys(need_values.value(w, "path")[1].rpartition("/")[2] for _ in range(w.number(2, 8))))
    text = w.any("\n".join(files), json.dumps(files), json.dumps({"files": files}), "  ".join(files))
    kind = w.number(0, 3)
    if kind == 0:
        return "list_directory", {"p": folder}, text, typed(w, "how many files are (in|under) {f}[?]|count the files in {f}|number of files in {f}?", f=folder), f"Counted: {listing(files)}.", f"There are {len(files)} files in {folder}."
    if kind == 1:
        there = w.chance(0.5)
        x = w.any(*files) if there else need_values.value(w, "path")[1].rpartition("/")[2]
        there = x in files
        return "list_directory", {"p": folder}, text, typed(w, "is there (a file |){x} in {f}[?]|does {f} (contain|have) {x}[?]|do we have {x} in {f}?", x=x, f=folder), f"{x} is {'there' if there else 'not there'}.", f"Yes, {x} is in {folder}." if there else f"No, {x} is not in {folder}."
    suffix = w.any(*files).rpartition(".")[2]
    chosen = [x for x in files if x.endswith("." + suffix)]
    if kind == 2:
        return "list_directory", {"p": folder}, text, typed(w, "(which|what) .{s} files are in {f}[?]|(list|show) the .{s} files (in|of) {f}|(find|name) all {s} files in {f}", s=suffix, f=folder), f"Those that end in {suffix}: {listing(chosen)}.", listing(chosen) + "."
    return "list_directory", {"p": folder}, text, typed(w, "what('s| is) in {f}[?]|(list|show me) {f}|files in {f}?", f=folder), f"{len(files)} files.", listing(files) + "."


def disk(w):
    size = w.number(20, 900)
    used = w.number(1, size)
    percent = round(100 * used / size)
    text = f"Filesystem      Size  Used Avail Use% Mounted on\n/dev/{w.any('sda1', 'nvme0n1p2', 'vda1')}       {size}G  {used}G  {size - used}G  {percent}% /"
    kind = w.number(0, 1)
    question = typed(w, ("how (much disk space|much space) is (free|available)[?]|is there space on the disk?|free disk space?", "how full is (the|my) disk[?]|how much of the disk is used[?]|disk usage?")[kind])
    return "run_command", {"c": "df -h"}, text, question, f"Used {used}G of {size}G, {size - used}G free.", (f"{size - used} GB are free.", f"The disk is {percent} % full.")[kind]


def repository(w):
    branch = w.any("main", "master", "dev", w.fresh(), f"fix-{w.noun()}")
    changed = list(dict.fromkeys(need_values.value(w, "path")[1].lstrip("./") for _ in range(w.number(0, 4))))
    text = f"On branch {branch}\n" + ("Changes not staged for commit:\n" + "".join(f"\tmodified:   {f}\n" for f in changed) if changed else "nothing to commit, working tree clean")
    kind = w.number(0, 1)
    question = typed(w, ("(what|which) branch (is it|am I on|are we on)[?]|on which branch am I[?]|current branch?", "(what|which files) (has|have|did I) (changed|change|modified)[?]|are there (any |uncommitted |)changes[?]|what have I modified?")[kind])
    answer = f"The branch is {branch}." if kind == 0 else f"Changed: {listing(changed)}." if changed else "Nothing has changed."
    return "run_command", {"c": "git status"}, text, question, answer, answer


def found(w):
    """A web search whose results hold the answer."""
    world = worlds.World(w, w.any("shop", "event", "building", "village", "device", "animal"), facts=w.number(2, 5))
    i = w.rng.randrange(len(world.facts))
    question = world.question(w, w.any(*world.facts[i][5]))
    lines = [f"{capital(world.full)} - {s}" for s in world.sentences if s]
    lines.insert(w.number(0, len(lines)), w.any("Menu and photos", "Sign up for our newsletter", "10 tips for your holiday", f"{w.city()} guide"))
    text = "\n".join(f"{k + 1}. {x}" for k, x in enumerate(lines)) if w.chance(0.6) else json.dumps([{"title": x.split(" - ")[0], "snippet": x.split(" - ")[-1]} for x in lines], ensure_ascii=False)
    query = f"{world.asked} {world.facts[i][0]}"
    return "search_web", {"q": query}, text, question, f"The results say: {world.sentences[i]}", f"{world.facts[i][3]}."


def record(w):
    """A record with fields, one of them asked for."""
    fields = {"name": w.person(), "email": extraction.value(w, "email address"), "city": w.city(), "age": w.number(18, 90), "plan": w.any("free", "basic", "pro", "team"), "orders": w.number(0, 60), "last_login": f"{w.number(2020, 2026)}-{w.number(1, 12):02d}-{w.number(1, 28):02d}", "active": w.chance(0.6), "balance": round(w.number(0, 900) + w.number(0, 99) / 100, 2), "phone": worlds.draw(w, "phone")[0], "language": w.any(*lexicon.KINDS["language"])}
    keys = w.rng.sample(list(fields), w.number(3, 8))
    i = need_values.value(w, "code")[1]
    rows = {k: fields[k] for k in keys}
    text = json.dumps({"id": i, **rows}, ensure_ascii=False) if w.chance(0.7) else "\n".join(f"{k}: {v}" for k, v in rows.items())
    key = w.any(*keys)
    words = key.replace("_", " ")
    value = {True: "yes", False: "no"}.get(fields[key], fields[key]) if isinstance(fields[key], bool) else fields[key]
    question = typed(w, "(what is|what's|tell me|find) the {k} of (user|customer|account) {i}[?]|{k} of (user|customer) {i}[?]|(which|what) {k} has (user|customer) {i}[?]|(user|customer) {i}: {k}[?]", k=words, i=i)
    return "get_user", {"i": i}, text, question, f"The field {key}: {value}.", f"The {words} of {i} is {value}."


KINDS = {config: 22, tests: 14, listing_of_files: 18, disk: 6, repository: 8, found: 20, record: 14}


def dialogue(w):
    """(messages, definitions, check)"""
    name, values, text, question, reason, answer = w.rng.choices(list(KINDS), list(KINDS.values()))[0](w)
    used = needs.Need(w, ENTRIES[name])
    used.values = values
    used, tools = needs.toolset(w, used)
    tools = [t for t in tools if t is used or not isinstance(t, needs.Need) or not needs.similar(t.entry["names"][0], [name])]
    messages = [needs.user(needs.polished(w, question)), plain_calls.assistant(needs.thought(w, used), "", [needs.call(used)])]
    check = {"calls": [{"name": used.name, "arguments": used.arguments()}], "everyday": True, "contains": []}
    if w.chance(0.12):
        wrong, error = needs.error_result(w)
        messages += [{"role": "tool", "content": wrong}, plain_calls.assistant(f"The tool failed: {error}.", f"That did not work: {error}.")]
        check["contains"] = [error]
    else:
        messages += [{"role": "tool", "content": text}, plain_calls.assistant(reason, answer if "." in answer.split()[0].rstrip(".") or answer.startswith("test_") else capital(answer))]
    return messages, [t.definition(w) for t in tools], check
