"""Small programs: reading them, writing them, mistakes in them; shell commands and SQL."""

import contextlib
import io

from . import lexicon, need_values, needs
from .grammar import capital, form, order, typed, with_payload

NAMES = "x y n total count items numbers words names result value a b i data scores prices text name word letters values age".split()


def finish(question, reasoning, answer, check=None):
    return question, reasoning, answer, check or {"equals": answer}


def printed(program):
    """What the program prints. The programs are those of this file."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(program, {})  # noqa: S102
    return out.getvalue().rstrip("\n")


def var(w, taken=()):
    return w.any(*[n for n in NAMES if n not in taken]) if w.chance(0.8) else w.any(*[x for x in lexicon.KINDS["animal"] + lexicon.KINDS["fruit"] if x.isidentifier()])


def program(w):
    """(program, steps to its output)"""
    a, b, c = w.number(0, 12), w.number(1, 12), w.number(2, 9)
    x = var(w)
    y = var(w, (x,))
    f = w.any("f", "g", "calc", "double", "add", "check", "run", "foo", "func", "change")
    words = [w.any(w.noun(), *"abcde") for _ in range(w.number(2, 4))]
    numbers = [w.number(0, 20) for _ in range(w.number(2, 5))]
    quote = w.any("'", '"')
    q = lambda s: f"{quote}{s}{quote}"
    op, word = w.any(("+", "plus"), ("-", "minus"), ("*", "times"))
    value = eval(f"{a} {op} {b}")
    kind = w.number(0, 24)
    if kind == 0:
        return f"{x} = {a}\n{y} = {x} {op} {b}\nprint({y})", f"{x} is {a}; {a} {op} {b} = {value}."
    if kind == 1:
        return f"{x} = {a}\n{y} = {b}\nprint({x} {op} {y})", f"{a} {op} {b} = {value}."
    if kind == 2:
        return f"{x} = {a}\n{x} {op}= {b}\nprint({x})", f"{a} {op} {b} = {value}."
    if kind == 3:
        n = w.number(2, 5)
        return f"for i in range({n}):\n    print(i)", f"i is {', '.join(map(str, range(n)))}."
    if kind == 4:
        lo, hi = w.number(1, 4), w.number(5, 8)
        return f"for {w.any('i', 'i', 'k')} in range({lo}, {hi}):\n    print(i)".replace("for k", "for i"), f"i is {', '.join(map(str, range(lo, hi)))}; {hi} is not in it."
    if kind == 5:
        n = w.number(2, 4)
        return f"for i in range({n}):\n    print(i * {c})", "; ".join(f"{i} * {c} = {i * c}" for i in range(n)) + "."
    if kind == 6:
        running, steps = 0, []
        for v in numbers:
            running += v
            steps.append(f"{v} makes {running}")
        return f"total = 0\nfor n in {numbers}:\n    total {w.any('+= n', '= total + n')}\nprint(total)", "; ".join(steps) + "."
    if kind == 7:
        return f"{x} = [{', '.join(map(q, words))}]\nprint(len({x}))", f"{len(words)} items."
    if kind == 8:
        i = w.any(*range(len(words)), -1)
        return f"{x} = [{', '.join(map(q, words))}]\nprint({x}[{i}])", f"Index {i} is {words[i]}; the first has index 0."
    if kind == 9:
        name, result = w.any(("upper", str.upper), ("lower", str.lower), ("capitalize", str.capitalize), ("title", str.title))
        s = w.any(w.noun(), capital(w.noun()), w.noun().upper())
        return f"{x} = {q(s)}\nprint({x}.{name}())", f"{name} changes the letters."
    if kind == 10:
        s = w.noun()
        return f"{x} = {q(s)}\nprint(len({x}))", "-".join(s) + f": {len(s)} letters."
    if kind == 11:
        cmp = w.any(">", "<", "==", ">=", "<=", "!=")
        yes, no = w.any(("yes", "no"), ("big", "small"), ("A", "B"), (w.noun(), w.noun()))
        truth = eval(f"{a} {cmp} {b}")
        return f"{w.any(f'if {a} {cmp} {b}:', f'{x} = {a}{chr(10)}if {x} {cmp} {b}:')}\n    print({q(yes)})\nelse:\n    print({q(no)})", f"{a} {cmp} {b} is {truth}."
    if kind == 12:
        return f"def {f}({x}):\n    return {x} {op} {b}\n\nprint({f}({a}))", f"{a} {op} {b} = {value}."
    if kind == 13:
        return f"def {f}(a, b):\n    return a {op} b\n\nprint({f}({a}, {b}))", f"{a} {op} {b} = {value}."
    if kind == 14:
        s, t = w.noun(), w.noun()
        return f"{x} = {q(s)}\n{y} = {q(t)}\nprint({x} + {y})", f"{s} and {t} joined."
    if kind == 15:
        s = w.any("ab", "ha", "la", w.noun())
        return f"print({q(s)} * {w.any(2, 3)})", "The text is repeated."
    if kind == 16:
        return f"{x} = {sorted(numbers)}\n{x}.append({a})\nprint({x})", f"{a} comes last."
    if kind == 17:
        return f"print({w.any('max', 'min', 'sum', 'len', 'sorted')}({numbers}))", "Look at all the numbers."
    if kind == 18:
        k = w.noun()
        return f"{x} = {{{q(k)}: {a}, {q(w.noun() + 's')}: {b}}}\nprint({x}[{q(k)}])", f"The key {k} has {a}."
    if kind == 19:
        p, r = w.number(5, 60), w.number(2, 9)
        sign = w.any("//", "%")
        return f"print({p} {sign} {r})", f"{r} goes {p // r} times into {p}, the rest is {p % r}."
    if kind == 20:
        s = w.noun()
        return f"{x} = {q(s)}\nprint({x}[{w.any('0', '-1', '::-1', ':2')}])", "-".join(s) + "."
    if kind == 21:
        n = w.number(5, 9)
        return f"i = {n}\nwhile i > {n - w.number(2, 3)}:\n    print(i)\n    i -= 1", "i goes down by one."
    if kind == 22:
        return f"{x} = [n for n in {numbers} if n % 2 == {w.any(0, 1)}]\nprint({x})", "Each number is tested."
    if kind == 23:
        s = w.first_name()
        return f"name = {q(s)}\nprint(f{q('Hello, {name}!')})", f"name is {s}."
    return f"{x} = {q(' '.join(words))}\nprint({x}.split())", "The words one by one."


def reading(w):
    code, steps = program(w)
    if not code.count("print"):
        return reading(w)
    output = printed(code)
    asks = "what does (this|it|the (code|program|script)) (print|output|give|do)[?]|(what is|what's|give me|tell me) the output [of (this|the code)][?]|output[?]|(run|execute) this in your head|what will be printed?|which output does it give?|what do I see when I run this[?]|result?"
    r = w.rng.random()
    if r < 0.12:
        last = code.split("\n")[-1]
        if code.startswith("def ") and "print(" in last:
            body, expression = code.rsplit("\n\nprint(", 1)
            question = typed(w, "what (is|does) {e} [return|give][?]|(value|result) of {e}[?]", e=expression[:-1])
            return finish(with_payload(w, question, body, False), steps, output)
    if r < 0.2:
        return finish(code, f"This is Python. {steps} It prints that.", f"It prints:\n{output}" if "\n" in output else f"It prints {output}")
    if r < 0.45:
        return finish(f"{code}\n\n{typed(w, asks)}", steps, output)
    if r < 0.6:
        return finish(f"{typed(w, asks)}\n```{w.any('python', '', 'py')}\n{code}\n```", steps, output)
    return finish(with_payload(w, typed(w, asks), code, False, w.any("Code", "Python", "python code", "Program")), steps, output)


# what is asked => the function or expression; {f} a name
WRITE = """(adds|add|returns the sum of) two numbers|sum of two numbers => def {f}(a, b):\\n    return a + b | add
(subtracts|subtract) two numbers|difference of two numbers => def {f}(a, b):\\n    return a - b | subtract
(multiplies|multiply) two numbers|product of two numbers => def {f}(a, b):\\n    return a * b | multiply
(divides|divide) two numbers => def {f}(a, b):\\n    return a / b | divide
(doubles|double) a number|(returns|return) twice a number => def {f}(n):\\n    return n * 2 | double
(squares|square) a number|(returns|return) the square of a number => def {f}(n):\\n    return n ** 2 | square
(cubes|cube) a number => def {f}(n):\\n    return n ** 3 | cube
(checks|check|tests|tells) (if|whether) a number is even => def {f}(n):\\n    return n % 2 == 0 | is_even
(checks|check|tests|tells) (if|whether) a number is odd => def {f}(n):\\n    return n % 2 == 1 | is_odd
(checks|check|tests|tells) (if|whether) a number is (positive|greater than zero) => def {f}(n):\\n    return n > 0 | is_positive
(returns|return|finds|gets) the (larger|bigger|maximum) of two numbers => def {f}(a, b):\\n    return max(a, b) | larger
(returns|return|finds|gets) the (smaller|minimum) of two numbers => def {f}(a, b):\\n    return min(a, b) | smaller
(returns|return|finds|gets) the (largest|biggest) (number|item) (in|of) a list => def {f}(items):\\n    return max(items) | largest
(returns|return|finds|gets) the smallest (number|item) (in|of) a list => def {f}(items):\\n    return min(items) | smallest
(sums|adds up|adds) (a list [of numbers]|all numbers (in|of) a list)|(returns|return) the sum of a list => def {f}(items):\\n    return sum(items) | total
(returns|return|computes|calculates) the (average|mean) of a list => def {f}(items):\\n    return sum(items) / len(items) | average
(reverses|reverse) a (string|word|text) => def {f}(s):\\n    return s[::-1] | reverse
(reverses|reverse) a list => def {f}(items):\\n    return items[::-1] | reverse
(counts|count) the (letters|characters) (in|of) a (string|word) => def {f}(s):\\n    return len(s) | count_letters
(counts|count) the words (in|of) a (string|sentence|text) => def {f}(s):\\n    return len(s.split()) | count_words
(turns|converts|makes|changes) a (string|text) (to|into) (upper case|uppercase|capital letters) => def {f}(s):\\n    return s.upper() | to_upper
(turns|converts|makes|changes) a (string|text) (to|into) (lower case|lowercase) => def {f}(s):\\n    return s.lower() | to_lower
(checks|check|tests|tells) (if|whether) a (word|string) is a palindrome => def {f}(s):\\n    return s == s[::-1] | is_palindrome
(says|prints|greets with) hello [to a person|with a name]|(greets|greet) (a person|someone) [by name] => def {f}(name):\\n    print("Hello, " + name) | greet
(returns|return|gets) the first (item|element) of a list => def {f}(items):\\n    return items[0] | first
(returns|return|gets) the last (item|element) of a list => def {f}(items):\\n    return items[-1] | last
(sorts|sort) a list => def {f}(items):\\n    return sorted(items) | sort_list
(removes|remove) (duplicates|double items) from a list => def {f}(items):\\n    return list(dict.fromkeys(items)) | unique
(returns|return|computes|calculates) the (factorial) of (n|a number) => def {f}(n):\\n    return 1 if n <= 1 else n * {f}(n - 1) | factorial
(converts|turns) (celsius|degrees celsius) (to|into) fahrenheit => def {f}(c):\\n    return c * 9 / 5 + 32 | to_fahrenheit
(returns|return|computes|calculates) the (area) of a rectangle => def {f}(width, height):\\n    return width * height | area
(returns|return|gets) the even numbers of a list => def {f}(items):\\n    return [n for n in items if n % 2 == 0] | evens
(checks|check|tests|tells) (if|whether) a list is empty => def {f}(items):\\n    return len(items) == 0 | is_empty
(checks|check|tests|tells) (if|whether) a (string|text) contains a (letter|word) => def {f}(s, part):\\n    return part in s | contains
(joins|join) a list of (words|strings) with (commas) => def {f}(items):\\n    return ", ".join(items) | join_words
(returns|return|gets) the absolute value [of a number] => def {f}(n):\\n    return abs(n) | absolute"""
WRITE = [line.split(" => ") for line in WRITE.split("\n")]
# python in a line: {x} a variable, {y} another
LINES = """(get|find|know|print) the (length|size|number of items) of (a list|the list|a list called) {x}|(how many|count the) items (are in|of) the list {x} => len({x})
(add|append|put) {y} (to|at the end of) the list {x} => {x}.append({y})
(sort|order) the list {x} => {x}.sort()
(reverse|turn around) (a|the) string {x} [in one line] => {x}[::-1]
(get|take) the first (item|element) of [the list] {x} => {x}[0]
(get|take) the last (item|element) of [the list] {x} => {x}[-1]
(make|convert|turn) [the string] {x} (to upper case|upper case|uppercase|into capitals) => {x}.upper()
(make|convert|turn) [the string] {x} (to lower case|lower case|lowercase) => {x}.lower()
(convert|turn|parse) [the string] {x} (to|into) (an integer|a number|an int) => int({x})
(convert|turn) [the number] {x} (to|into) a string => str({x})
print [the (variable|value)] {x} => print({x})
(get|find) the (largest|maximum) of [the list] {x} => max({x})
(get|find) the (smallest|minimum) of [the list] {x} => min({x})
(sum|add up) [the list] {x} => sum({x})
(split) [the string] {x} into words => {x}.split()
(check|test) (if|whether) {y} is in [the list] {x} => {y} in {x}
(remove|delete) {y} from [the list] {x} => {x}.remove({y})
(round) {x} to two (decimals|places) => round({x}, 2)
(read|ask for) [a line of] input (into|as) {x} => {x} = input()
(import|load) the module {m} => import {m}
(make|create) an empty list [called] {x} => {x} = []
(make|create) an empty (dictionary|dict) [called] {x} => {x} = {{}}
(open|read) the file {p} => open("{p}").read()
(loop|iterate|go) over [the list] {x} and print (each item|every item|them) => for item in {x}:\\n    print(item)
(print|write a loop that prints|loop that prints) the numbers (from|) 1 to {n} => for i in range(1, {n1}):\\n    print(i)
(print|write a loop that prints|loop that prints) the numbers (from|) 0 to {n} => for i in range({n1}):\\n    print(i)
(print) ({w}|the word {w}) {n} times => for i in range({n}):\\n    print("{w}")
print ({w}|the (text|word) {w}) => print("{w}")
(make|create) a list [called {x}] of the numbers 1 to {n} => {x} = list(range(1, {n1}))
(replace) {w} (by|with) {w2} in [the string] {x} => {x}.replace("{w}", "{w2}")
(swap) {x} and {y} => {x}, {y} = {y}, {x}
(remove|strip) spaces (around|from both ends of) [the string] {x} => {x}.strip()"""
LINES = [line.split(" => ") for line in LINES.split("\n")]
# shell: what is wanted => command; and its explanation
SHELL = """(list|show|see) (all|the) files [here|in (this|the current) (folder|directory)] => ls => It lists the files of the current directory.
(list|show) (all|hidden) files, even hidden ones|(list|show) hidden files => ls -a => It lists all files, hidden ones too.
(list|show) files with (sizes|details|dates) => ls -l => It lists the files with their details.
(see|show|print|know|find out) (which|what|the current) (directory|folder) [I am in|I'm in] => pwd => It prints the current directory.
(go|change|switch) (to|into) the (directory|folder) {d} => cd {d} => It changes into the directory {d}.
go (up one (directory|folder)|to the parent directory) => cd .. => It changes to the parent directory.
(make|create) (a|the|a new) (directory|folder) [called|named] {d} => mkdir {d} => It makes a directory called {d}.
(delete|remove) the file {p} => rm {p} => It deletes the file {p}.
(delete|remove) the (directory|folder) {d} [and all in it] => rm -r {d} => It deletes the directory {d} and all that is in it.
(copy|duplicate) {p} to {p2} => cp {p} {p2} => It copies {p} to {p2}.
(move) {p} (to|into) {d} => mv {p} {d} => It moves {p} to {d}.
rename {p} to {p2} => mv {p} {p2} => It renames {p} to {p2}.
(show|print|read|see|display) (the content of|what is in|the file) {p} => cat {p} => It prints the file {p}.
(show|see|print) the first (lines|10 lines) of {p} => head {p} => It prints the first ten lines of {p}.
(show|see|print) the last (lines|10 lines) of {p} => tail {p} => It prints the last ten lines of {p}.
(show|print) the first {n} lines of {p} => head -n {n} {p} => It prints the first {n} lines of {p}.
(show|print) the last {n} lines of {p} => tail -n {n} {p} => It prints the last {n} lines of {p}.
(count) [the] lines (of|in) {p} => wc -l {p} => It counts the lines of {p}.
(count) [the] words (of|in) {p} => wc -w {p} => It counts the words of {p}.
(search|look) for {w} in {p}|find [the] lines with {w} in {p} => grep {w} {p} => It searches {p} for lines with {w}.
(search|look) for {w} in all files [(here|below this directory)] => grep -r {w} . => It searches all files below this directory for {w}.
find [all] files (named|called) {p} => find . -name {p} => It finds files named {p}.
(make|create) an empty file [called|named] {p} => touch {p} => It makes an empty file {p}.
(print|say|show|output) {w} => echo {w} => It prints {w}.
(see|show|check) [the] (free|used) disk space => df -h => It shows how much disk space is used and free.
(see|show|check) how (big|large) [the directory] {d} is => du -sh {d} => It shows the size of {d}.
(see|show|list) [the] (running processes|processes) => ps aux => It lists the running processes.
(stop|kill) [the] process {n} => kill {n} => It stops the process {n}.
(sort) the lines of {p} => sort {p} => It sorts the lines of {p}.
(make|mark) {p} executable => chmod +x {p} => It makes {p} executable.
(show|see|know) (who|which user) I am => whoami => It prints the name of the user.
(show|print|see) the (date|time) => date => It prints date and time.
(download|fetch) {u} => curl -O {u} => It downloads {u}.
(unpack|extract) {t} => tar -xf {t} => It unpacks {t}.
(clear) the (screen|terminal) => clear => It clears the terminal.
(show|see) the (history|last commands) => history => It lists the last commands.
(see|check|show) [the] git (status|changes) => git status => It shows what has changed in the repository.
(commit) with the message {w} => git commit -m "{w}" => It commits the changes with the message {w}.
(make|create) a (new |)(git |)branch [called] {w} => git checkout -b {w} => It makes the branch {w} and switches to it.
(install) the python package {w} => pip install {w} => It installs the Python package {w}.
(show) the (manual|help) (of|for) {w} => man {w} => It shows the manual of {w}."""
SHELL = [line.split(" => ") for line in SHELL.split("\n")]


def slots(w):
    x = w.any(*NAMES)
    n = w.number(3, 20)
    path = lambda: need_values.value(w, "path")[1].rpartition("/")[2] or "a.txt"
    return {"x": x, "y": w.any(*[v for v in NAMES if v != x]), "n": n, "n1": n + 1, "w": w.any(w.noun, w.fresh)(), "w2": w.noun(), "m": w.any("math", "random", "json", "os", "sys", "re", "time"), "p": path(), "p2": path(), "d": w.any("src", "docs", "test", w.noun()), "u": f"https://{w.fresh()}.org/{w.fresh()}.zip", "t": f"{w.noun()}.tar"}


def writing(w):
    pattern, rest = w.any(*WRITE)
    body, name = rest.split(" | ")
    named = w.chance(0.35)
    f = w.any(name, name, w.any("f", "solve", "compute", w.noun())) if named else name
    called = w.any(f" called {f}", f" named {f}", f" {f}") if named else ""
    say_verb = form(w, pattern)
    if say_verb.split()[0].endswith("s") and say_verb.split()[0] not in ("sum",):
        question = order(w, "(write|give me|make|create|show me|code|implement) (a|a python|a small python|a simple) function{c} that {w_}", c=called, w_=say_verb) if w.chance(0.75) else typed(w, "(python function|function in python){c} that {w_}[, please]|(how do I write|I need) a [python] function{c} that {w_}[?]", c=called, w_=say_verb)
    else:
        question = typed(w, "[python] function{c} (to|which can) {w_}[, please]|(write|give me|make) a [python] function{c} to {w_}|how (do|can) I {w_} with a [python] function{c}?", c=called, w_=say_verb) if not say_verb.split()[0] in ("sum", "difference", "product") else typed(w, "[python] function{c} for the {w_}[, please]|(write|give me) a [python] function{c}: {w_}", c=called, w_=say_verb)
    if w.chance(0.1):
        f, arguments = name, body.split("(", 1)[1].split(")")[0]
        question = typed(w, "(python function|write the function|define|implement|give me) {s}[, please]|{s} in python[?]", s=f"{f}({arguments})")
    return finish(question, f"A function {f}.", body.replace("{f}", f).replace("\\n", "\n"))


def one_line(w):
    pattern, code = w.any(*LINES)
    values = slots(w)
    what = form(w, pattern)
    question = typed(w, w.any("how (do|can|would) (I|you|one) " + what + " in python[?]", "python: [how (do|can) I] " + what + "[?]", "(in python|with python|using python)[,] (how do I|I want to|please) " + what + "[?]", "(python code|code in python) to " + what, "(what is|what's) the python [code] to " + what + "[?]", what + " in python[, please]"), **values)
    return finish(question, "Python for that.", code.format_map(values).replace("\\n", "\n"))


def shell(w):
    pattern, command, meaning = w.any(*SHELL)
    values = slots(w)
    if w.chance(0.35):
        c = command.format_map(values)
        return finish(typed(w, "what does ({c}|`{c}`|the command {c}|'{c}') (do|mean)[?]|(explain|what is) (`{c}`|{c})[:|?|]|(explain|tell me what) the command {c} [does]|meaning of `{c}`|{c} - what does it do?", c=c), "A shell command.", meaning.format_map(values))
    what = form(w, pattern)
    question = typed(w, w.any("how (do|can|would) (I|you|one) " + what + " (in (the terminal|bash|the shell|linux|a shell)|on the command line)[?]", "(bash|shell|terminal|linux|command line): [how (do|can) I] " + what + "[?]", "(which|what) [shell|bash|linux] command (is used to|do I use to|lets me) " + what + "[?]", "(shell|bash|terminal) command to " + what, "how (do|can) I " + what + "[?]" if "{p}" in what or "{d}" in what else "command to " + what, "give me the [shell|bash] command to " + what), **values)
    return finish(question, "A shell command for that.", command.format_map(values))


def sql(w):
    question, query = need_values.query(w)
    frame = w.any("SQL: {q}", "sql query: {q}", "write SQL for this: {q}", "{q} (SQL)", "in SQL: {q}", "{q} Write the SQL query.", "Give me SQL: {q}", "sql to {l}", "how do I write in SQL: {q}", "I need the SQL for: {q}", "which SQL query does this: {q}", "{q} Use SQL.", "Please write a SQL query. {q}", "SQL query that answers: {q}")
    if w.chance(0.18):
        table = query.split("FROM ")[1].split()[0]
        if query.startswith("SELECT COUNT(*) FROM") and "WHERE" not in query:
            return finish(typed(w, "what does (this|it|this query|`{q}`) (do|return|give)[?]|explain {q}|{q}; what does it (give back|return)", q=query), "A count.", f"It gives the number of rows of {table}.")
        if query == f"SELECT * FROM {table}":
            return finish(typed(w, "what does (`{q}`|{q}) (do|return|give)[?]|explain {q}", q=query), "All rows.", f"It returns all rows and columns of {table}.")
    columns = needs.data.TABLES.get(query.split("FROM ")[1].split()[0])
    hint = f" (table {query.split('FROM ')[1].split()[0]}, columns {', '.join(columns.split())})" if columns and w.chance(0.2) else ""
    return finish(frame.format(q=question, l=question[0].lower() + question[1:]) + hint, "The query.", query)


MISTAKES = [("print('{w}'", "A closing bracket ) is missing.", "print('{w}')"), ("print({w}')", "The opening quote is missing.", "print('{w}')"), ("if {x} > {n}\n    print({x})", "The colon after the condition is missing.", "if {x} > {n}:\n    print({x})"), ("for i in range({n})\n    print(i)", "The colon after range({n}) is missing.", "for i in range({n}):\n    print(i)"),
            ("def f({x})\n    return {x}", "The colon after def f({x}) is missing.", "def f({x}):\n    return {x}"), ("if {x} = {n}:\n    print({x})", "A comparison needs == and not =.", "if {x} == {n}:\n    print({x})"), ("{x} = [1, 2, 3\nprint({x})", "A closing bracket ] is missing.", "{x} = [1, 2, 3]\nprint({x})"), ("pritn('{w}')", "print is misspelt.", "print('{w}')"),
            ("for i in range({n}):\nprint(i)", "The body of the loop must be indented.", "for i in range({n}):\n    print(i)"), ("{x} = '{w}\nprint({x})", "The closing quote is missing.", "{x} = '{w}'\nprint({x})"), ("{x} = {n}\nprint({y})", "The variable {y} is not defined.", "{x} = {n}\nprint({x})"), ("{x} = '{n}' + {n}", "A text and a number cannot be added.", "{x} = '{n}' + str({n})"),
            ("while True\n    print({n})", "The colon after while True is missing.", "while True:\n    print({n})"), ("print \"{w}\"", "print needs brackets.", "print(\"{w}\")"), ("def f(a b):\n    return a", "The comma between the parameters is missing.", "def f(a, b):\n    return a"), ("{x} = [1 2 3]", "The commas between the items are missing.", "{x} = [1, 2, 3]"), ("return {x}\ndef f():", "return stands outside of the function.", "def f():\n    return {x}")]


def mistake(w):
    values = slots(w)
    code, problem, right = (t.format_map(values) for t in w.any(*MISTAKES))
    if w.chance(0.6):
        return finish(with_payload(w, typed(w, "what(s| is|'s) wrong (here|with this|with this code)[?]|(find|where is) the (bug|error|mistake)[?]|why does this (not work|fail|give an error)[?]|what is the (mistake|problem) [here][?]|syntax error, why?|debug this"), code, "\n" not in code, "Code"), "I look at brackets, quotes, colons and names.", problem)
    return finish(with_payload(w, order(w, "(fix|correct|repair|debug) (this|this code|the code|the bug|the error|it)"), code, "\n" not in code, "Code"), problem, right)


def explain(w):
    x, n = w.any(*NAMES), w.number(2, 20)
    code, text = w.any((f"len({x})", f"It gives the number of items of {x}."), (f"{x}.append({n})", f"It adds {n} to the end of the list {x}."), (f"{x}.sort()", f"It sorts the list {x}."), (f"{x}[::-1]", f"It gives {x} backwards."), (f"{x} = []", f"It makes an empty list called {x}."), (f"import {x}", f"It loads the module {x}."), (f"{x} += {n}", f"It adds {n} to {x}."), (f"{x}.upper()", f"It gives {x} in capital letters."),
                        (f"for i in range({n}): print(i)", f"It prints the numbers from 0 to {n - 1}."), (f"def {x}(a, b): return a + b", f"It defines a function {x} that adds two numbers."), (f"{x} = int(input())", f"It reads a number and stores it in {x}."), (f"print({x})", f"It prints the value of {x}."), (f"{x} % 2 == 0", f"It tests whether {x} is even."), (f"max({x})", f"It gives the largest item of {x}."), (f"{x}[0]", f"It gives the first item of {x}."),
                        (f"sum({x})", f"It adds up the numbers of {x}."), (f"# {x}", "It is a comment and does nothing."), (f"if {x} > {n}: print({x})", f"It prints {x} if it is greater than {n}."), (f"{x}.split()", f"It cuts {x} into words."), ("return True", "It ends the function with the value True."), (f"{x}.lower()", f"It gives {x} in small letters."))
    return finish(typed(w, "what does ({c}|`{c}`|this python code: {c}|{c} in python) (do|mean)[?]|explain [this (code|line)|in one sentence]: {c}|(explain|meaning of) `{c}`|python: what does {c} do[?]", c=code), "A line of Python.", text)


TASKS = {reading: 38, writing: 16, one_line: 14, shell: 20, sql: 16, mistake: 10, explain: 6}


def question_of(w):
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)
