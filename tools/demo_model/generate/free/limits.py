"""System prompts that limit what is talked about, or want a name, a first or a last word, kept over several turns; and small
programs, read and asked for."""

import contextlib
import functools
import io

from . import lexicon
from .grammar import typists
from .reading import finish

# topic | what belongs to it: question => answer ; ...
TOPICS = """cooking | how long do I boil a soft egg? => About five minutes. ; what is in pesto? => Basil, oil, cheese, nuts and garlic. ; how do I cook rice? => With twice as much water, for about fifteen minutes. ; what goes into an omelette? => Eggs, butter and salt. ; how do I keep pasta from sticking? => Use plenty of water and stir it.
gardening | when do I plant tulips? => In autumn. ; how often does a cactus need water? => Rarely, about every two weeks. ; where do ferns like to grow? => In the shade. ; when should I cut roses? => In early spring. ; do tomatoes like sun? => Yes, a lot of it.
bicycles | my tube has a hole, what now? => Take the tube out, patch the hole and pump it up. ; how often should I oil the chain? => About once a month. ; do I need a light at night? => Yes, in front and at the back. ; why does my brake squeak? => It is often dirty or worn. ; what is a gear for? => It makes riding uphill easier.
maths | what is {a} plus {b}? => {c} ; how many sides does a triangle have? => Three. ; what is half of {d}? => {a} ; is {d} even? => Yes. ; how many degrees has a right angle? => 90
travel | what do I need for a flight abroad? => A passport and a ticket. ; how early should I be at the airport? => About two hours before the flight. ; can I take water through security? => Usually not more than 100 ml. ; what does a visa allow? => It allows you to enter a country. ; which is greener, train or plane? => The train.
pets | how often does a dog need a walk? => At least twice a day. ; what do rabbits eat? => Hay and vegetables. ; do cats need a bath? => No, they clean themselves. ; may dogs eat chocolate? => No, it is poison for them. ; how long do hamsters live? => Two or three years.
music | how many strings has a violin? => Four. ; what does piano mean in music? => Softly. ; how many keys does a piano have? => 88 ; what is a duet? => A piece for two. ; what does a conductor do? => He leads the orchestra."""
TOPICS = {line.split(" | ")[0]: [tuple(q.split(" => ")) for q in line.split(" | ")[1].split(" ; ")] for line in TOPICS.split("\n")}
ONLY = ["You know {t} and nothing more. Turn down all other questions kindly.", "Answer questions about {t} and nothing else.", "You are a {t} assistant. If somebody asks about another topic, tell them that {t} is all you do.", "Stick to {t}. Decline other topics kindly.", "This bot is for {t}. Other questions are not answered.", "You are {n}, who talks about {t} only.", "Topic of this chat: {t}. Refuse the rest in a friendly way.", "Your job is {t}. Do not answer anything that has nothing to do with it."]
# forbidden thing | questions after it
FORBIDDEN = """prices | how much is the {x}? ; what does the {x} cost? ; is the {x} expensive? ; any discount on the {x}? ; your cheapest {x}?
politics | who should I vote for? ; is the president doing a good job? ; which party is the best? ; what do you think of the election? ; are taxes too high?
competitors | is {n} Ltd better than you? ; should I buy from another shop? ; what do you think of the other brand? ; why not go to your rival?
medical matters | which pills help against a headache? ; is my rash dangerous? ; how much aspirin may I take? ; what illness do I have?
salaries | what does {n} earn? ; how much do you pay your staff? ; is {n}'s salary higher than mine? ; what would I earn at your company?
legal matters | can I sue my landlord? ; is that contract valid? ; do I have to pay the fine? ; may my boss fire me?
delivery times | when does the {x} arrive? ; how long does shipping take? ; will it be here by {d}? ; is the {x} here tomorrow?"""
FORBIDDEN = {line.split(" | ")[0]: line.split(" | ")[1].split(" ; ") for line in FORBIDDEN.split("\n")}
NEVER = ["You don't speak about {t}. Whoever asks is told that you can't discuss that.", "Do not discuss {t}.", "You must not say anything about {t}.", "{T} are off limits. Say so when somebody asks.", "If the user asks about {t}, answer that you cannot talk about it.", "Help with everything except {t}.", "Rule: no {t}. Tell the user that you can't discuss that."]
PLAIN = [("what is {a} plus {b}?", "{c}"), ("what month does a year begin with?", "January"), ("how many days has a week?", "7"), ("what's the opposite of hot?", "cold"), ("name a colour", "blue"), ("what falls from clouds?", "rain"), ("how many minutes are in an hour?", "60"), ("which day comes after Monday?", "Tuesday"), ("is {d} even?", "yes"), ("name a fruit", "apple"), ("what do cows drink?", "water"), ("how many legs has a dog?", "4"), ("which animal barks?", "the dog"), ("what colour is snow?", "white"), ("name a day of the weekend", "Sunday"), ("what is the plural of mouse?", "mice"), ("how many months has a year?", "12"), ("which letter comes after B?", "C")]
ENDS = ["Each of your answers has '{v}' as its last word", "Close each reply with {v}", "The last word of all your answers is {v}", "Always finish by saying {v}", "Put {v} at the end of everything you say"]
STARTS = ["Begin every answer with '{v}'", "Each reply starts with {v}", "The first word of all your answers is {v}", "Always open with {v}", "Put {v} in front of everything you say"]
NAMES = ["It is {n} who writes to you. Mention that name whenever you reply.", "You talk to {n}. Use the name in every reply.", "{n} is the user. Say the name each time you answer.", "Address the user as {n} in all your answers.", "Always call the user {n}."]


def numbers(w):
    a, b = w.number(2, 20), w.number(2, 20)
    return {"a": a, "b": b, "c": a + b, "d": 2 * a, "x": w.noun(), "n": w.first_name()}


def chat(w, system, turns):
    messages = [{"role": "system", "content": system}]
    for question, thought, answer in turns:
        messages += [{"role": "user", "content": typists(w, question, 0.7)}, {"role": "assistant", "content": answer, "reasoning_content": thought}]
    return messages, {"equals": answer}


def only(w):
    topic = w.any(*TOPICS)
    system = w.any(*ONLY).format(t=topic, n=w.first_name())
    turns = []
    for _ in range(w.any(1, 2, 2, 3)):
        some = numbers(w)
        if w.chance(0.45):
            q, a = (x.format_map({**some, "d": some["a"] * 2}) for x in w.any(*TOPICS[topic]))
            turns.append((q, f"This is about {topic}.", a))
        else:
            other = w.any(*[t for t in TOPICS if t != topic])
            q = w.any(*TOPICS[other])[0].format_map(some)
            turns.append((q, f"This is about {other}, not about {topic}: refuse.", f"Sorry, I only help with {topic}."))
    return chat(w, system, turns)


def never(w):
    topic = w.any(*FORBIDDEN)
    system = w.any(*NEVER).format(t=topic, T=topic.capitalize())
    turns = []
    for _ in range(w.any(1, 1, 2, 3)):
        some = numbers(w)
        if w.chance(0.6):
            q = w.any(*FORBIDDEN[topic]).format_map({**some, "d": w.any(*lexicon.DAYS)})
            turns.append((q, f"This is about {topic}, which is not allowed.", f"Sorry, I can't discuss {topic}."))
        else:
            q, a = (x.format_map(some) for x in w.any(*PLAIN))
            turns.append((q, f"This is not about {topic}. The answer: {a}.", a[0].upper() + a[1:] + "."))
    return chat(w, system, turns)


def worded(w):
    """A first or last word, or the user's name, in every answer."""
    way = w.any("end", "start", "name")
    v = w.any("Over", "Roger", "Captain", "Cheers", "Amen", "Indeed", "Meow", "Voila", "Okay", w.noun().capitalize(), w.fresh().capitalize())
    n = w.first_name()
    system = w.any(*{"end": ENDS, "start": STARTS, "name": NAMES}[way]).format(v=v, n=n, o=w.any("him", "her", "them")) + w.any(".", ".", ". Be brief.")
    system = system.replace("..", ".")
    turns = []
    for _ in range(w.any(1, 2, 2, 3)):
        q, a = (x.format_map(numbers(w)) for x in w.any(*PLAIN))
        a = a[0].upper() + a[1:]
        low = a if a[0].isdigit() or a in ("January", "Tuesday", "Sunday", "C") else a[0].lower() + a[1:]
        answer = {"end": f"{a}. {v}", "start": f"{v}, {low}.", "name": f"{a}, {n}." if w.chance(0.5) else f"Hello {n}, it is {low}." if low not in ("yes",) else f"Yes, {n}."}[way]
        turns.append((q, f"The answer: {a}. The rule: {'ends with ' + v if way == 'end' else 'begins with ' + v if way == 'start' else 'the name ' + n}.", answer))
    return chat(w, system, turns)


def dialogue(w):
    """(messages, check)"""
    return w.any(only, only, never, never, worded)(w)


# What is asked for | the answer; {x} a name, {y} another, {k} a number, {f} {g} files.
PIECES = r"""reverse a string called {x} ; turn the string {x} around ; last character first: flip the text in {x} = {x}[::-1]
the sum of all numbers of {x} ; add up everything in {x} ; total of the numbers in the list {x} = sum({x})
get the length of the list {x} ; how do I see how many elements {x} has ; number of items in {x} = len({x})
get the last element of {x} ; what's at the end of the list {x}, in code ; final item of {x} = {x}[-1]
make the string {x} upper case ; {x} in capital letters ; shout the text in {x} = {x}.upper()
sort the list {x} ; a sorted copy of {x} ; put the elements of {x} in order = sorted({x})
sort the list {x} backwards ; {x} in descending order ; largest first, list {x} = sorted({x}, reverse=True)
split the string {x} at commas ; cut {x} wherever there is a comma ; a list from the comma separated text {x} = {x}.split(",")
join the list {x} with spaces ; make one text of the words in {x}, blanks between = " ".join({x})
remove duplicates from the list {x} ; every value of {x} once ; unique values in {x} = list(set({x}))
the largest value in {x} ; biggest number of the list {x} ; maximum of {x} = max({x})
the smallest value in {x} ; lowest number in the list {x} = min({x})
first {k} elements of {x} ; only the first {k} of the list {x} ; cut {x} off after {k} items = {x}[:{k}]
round {x} to two decimals ; {x} with two digits after the point = round({x}, 2)
turn the string {x} into an integer ; make a whole number of the text {x} = int({x})
check whether {y} is in the list {x} ; does {x} contain {y} = {y} in {x}
strip whitespace from {x} ; no blanks at the ends of {x} = {x}.strip()
replace a by b in the string {x} ; every a in {x} should be a b = {x}.replace("a", "b")
append {y} to the list {x} ; put {y} at the end of {x} = {x}.append({y})
square every number in the list {x} ; a list of the squares of {x} = [n ** 2 for n in {x}]
only the even numbers of {x} ; filter the list {x}, keep what is even = [n for n in {x} if n % 2 == 0]
print the numbers from 1 to {k} ; count from 1 up to {k} with a loop ; a loop that prints 1 to {k} = for i in range(1, {k1}):\n    print(i)
print every item of {x} ; loop over {x} and show each element = for item in {x}:\n    print(item)
a function called {x} that doubles a number ; write {x}(n), it gives twice n = def {x}(n):\n    return n * 2
a function {x} that adds two numbers ; {x}(a, b) should return the sum = def {x}(a, b):\n    return a + b
a function {x} that says if a number is even ; {x}(n) is True for even n = def {x}(n):\n    return n % 2 == 0
a function {x} that returns the larger of two numbers ; {x}(a, b), the bigger one comes back = def {x}(a, b):\n    return max(a, b)
a function {x} that says hello to a name ; {x}(name) returns Hello and the name = def {x}(name):\n    return "Hello, " + name
open the file {f} and read it ; the whole text of {f} = open("{f}").read()"""
SHELL = """rename {f} to {g} ; {f} should be called {g} = mv {f} {g}
copy {f} to {g} ; I want {f} twice, the other one named {g} = cp {f} {g}
count the lines of {f} ; how many lines are in {f} = wc -l {f}
show the first {k} lines of {f} ; top {k} lines of {f} = head -n {k} {f}
show the last {k} lines of {f} ; the end of {f}, {k} lines = tail -n {k} {f}
delete {f} ; remove the file {f} = rm {f}
make a folder {x} ; a new directory called {x} = mkdir {x}
find lines with {x} in {f} ; where does {x} stand in {f} = grep {x} {f}
list all files, hidden ones too ; everything in the folder including dot files = ls -a
go one folder up ; change to the parent directory = cd ..
show where I am ; which directory am I in = pwd
sort the lines of {f} ; {f} in alphabetical order = sort {f}
make {f} executable ; allow running {f} = chmod +x {f}
print {f} ; the contents of {f} = cat {f}
follow {f} while it grows ; watch the log {f} live = tail -f {f}
disk space left ; how full are my disks = df -h
create an empty file {f} ; I need {f} without content = touch {f}
undo my changes in {f} with git ; git, bring back the old {f} = git checkout -- {f}
new git branch {x} ; git command to create and enter the branch {x} = git checkout -b {x}
which files changed, in git ; git, what have I modified = git status
unpack {x}.tar.gz ; extract the archive {x}.tar.gz = tar xzf {x}.tar.gz
all processes ; list everything that runs = ps aux"""
SQL = """all rows of {x} ; everything in the table {x} = SELECT * FROM {x}
number of rows in {x} ; count the entries of {x} = SELECT COUNT(*) FROM {x}
the {y} of every row in {x} ; just column {y} from {x} = SELECT {y} FROM {x}
rows of {x} where {y} is over {k} ; {x} with {y} bigger than {k} = SELECT * FROM {x} WHERE {y} > {k}
rows of {x} sorted by {y} ; {x} ordered by {y} = SELECT * FROM {x} ORDER BY {y}
delete everything in {x} where {y} is {k} ; throw out rows of {x} with {y} equal to {k} = DELETE FROM {x} WHERE {y} = {k}
the first {k} rows of {x} ; only {k} rows from {x} = SELECT * FROM {x} LIMIT {k}
average {y} in {x} ; mean of the column {y} of {x} = SELECT AVG({y}) FROM {x}
highest {y} in {x} ; maximum of {y} from table {x} = SELECT MAX({y}) FROM {x}
every different {y} in {x} ; {y} values of {x} without repeats = SELECT DISTINCT {y} FROM {x}"""

@functools.lru_cache(maxsize=None)
def pieces():
    out = []
    for name, text in (("Python", PIECES), ("Shell", SHELL), ("SQL", SQL)):
        for line in text.split("\n"):
            asked, _, code = line.partition(" = ")
            out.append((name, asked.split(" ; "), code.replace("\\n", "\n")))
    return out


def piece(w):
    name, asked, code = w.any(*pieces())
    x, y, k = w.any(w.noun, w.noun, lambda: w.any("xs", "s", "items", "data", "values", "names", "words"))(), w.noun(), w.number(2, 30)
    f, g = (f"{w.any(w.noun, w.fresh)()}.{w.any('txt', 'md', 'log', 'csv', 'py')}" for _ in range(2))
    some = {"x": x.replace(".", ""), "y": y, "k": k, "k1": k + 1, "f": f, "g": g}
    order = w.any(*asked)
    frame = w.any("{L}: {o}.", "{L}: {o}", "{o}, in {L}", "how do I do this in {L}: {o}?", "{L} - {o}", "{o} ({L})", "I need {L} for this: {o}", "give me {L}: {o}", "{L} code please: {o}", "show me the {L} to {o}" if order.split()[0] in VERBS else "{o} in {L}, please", "write {L} to {o}" if order.split()[0] in VERBS else "{L}? {o}", "what's the {L} way - {o}")
    language = {"Shell": w.any("shell", "bash", "the terminal", "shell"), "Python": w.any("Python", "python"), "SQL": w.any("SQL", "sql")}[name]
    if language == "the terminal" and not frame.endswith("in {L}"):
        language = "shell"
    question = typists(w, frame.replace("{L}", language).replace("{o}", order), 0.6)
    for key, v in some.items():
        question, code = question.replace("{" + key + "}", str(v)), code.replace("{" + key + "}", str(v))
    return finish(question[0].upper() + question[1:] if w.chance(0.4) else question, f"{name} for that.", code)


VERBS = "reverse turn sum add get make sort split join remove round check strip replace append square print count open rename copy show delete find list go create undo unpack".split()


def printed(w):
    """A short program and what it prints."""
    a, b, c = w.number(2, 12), w.number(2, 9), w.number(2, 9)
    word, other = w.noun(), w.noun()
    xs = [w.number(1, 20) for _ in range(w.number(3, 4))]
    letters = " ".join(f"{x}{i + 1}" for i, x in enumerate(word))
    code, thought = w.any((f"print(len('{word}') + {b})", f"Letters: {letters}: {len(word)}. {len(word)} + {b} = {len(word) + b}."), (f"print('{word}' * {2 + b % 2})", f"{word}, {2 + b % 2} times."), (f"print('{word}' + '{other}')", f"{word} and {other} joined."), (f"x = {a}\ny = {b}\nprint(x * y)", f"{a} x {b} = {a * b}."), (f"x = {a}\nx += {b}\nx -= {c}\nprint(x)", f"{a} + {b} = {a + b}. {a + b} - {c} = {a + b - c}."),
                          (f"xs = {xs}\nprint(xs[1])", f"Index 0 is {xs[0]}, index 1 is {xs[1]}."), (f"xs = {xs}\nprint(xs[-1])", f"The last is {xs[-1]}."), (f"print(max({xs}))", f"The largest of {xs}: {max(xs)}."), (f"print({a * b + c} % {a})" if c < a else f"print({a} + {b})", f"{a} x {b} = {a * b}, {c} is left." if c < a else f"{a} + {b} = {a + b}."), (f"for k in range({2 + b % 4}):\n    print(k * 2)", f"k is 0 to {1 + b % 4}, doubled."), (f"print({a} > {b})", f"{a} > {b}: {a > b}."),
                          (f"d = {{'{word}': {a}, '{other}': {b}}}\nprint(d['{other}'])", f"The value of {other}: {b}."), (f"if {a} < {b}:\n    print('{word}')\nelse:\n    print('{other}')", f"{a} < {b} is {a < b}."), (f"def f(n):\n    return n * {b}\n\nprint(f({a}))", f"{a} x {b} = {a * b}."), (f"print('{word}'.upper())", "All in capitals."), (f"print('{word}'[0])", f"The first letter of {word}: {word[0]}."), (f"print({a} + {b} * {c})", f"{b} x {c} = {b * c}. {a} + {b * c} = {a + b * c}."), (f"print(sum({xs}))", " + ".join(map(str, xs)) + f" = {sum(xs)}."), (f"print('{word} {other} {word}'.count('{word}'))" if word not in other else f"print({a})", f"{word} stands there twice." if word not in other else f"It prints {a}."))
    if word == other:
        return printed(w)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, {})
    one = "\n" not in code
    question = w.any(f"what would this print? {code}", f"{code}\nwhat comes out?", f"output of {code}" if one else f"output?\n{code}", f"What will I see?\n\n{code}", f"```python\n{code}\n```\nresult?", f"I ran this, what did it say: {code}" if one else f"I ran this, what did it say?\n{code}", f"predict the output\n{code}", f"{code} - prints what?" if one else f"{code}\nprints what?", f"without running it, tell me the output of this:\n{code}")
    return finish(question, thought, out.getvalue().rstrip("\n"))


def question_of(w):
    return piece(w) if w.chance(0.6) else printed(w)
