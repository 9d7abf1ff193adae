"""Instructions on the form of an answer, and small jobs on text that is given."""

import json

from . import arithmetic

FACTS = [  # question, one word, sentence: everyday knowledge that the forms below are wrapped around
    ("Is {e} even or odd?", None, None),
    ("What colour is grass?", "green", "Grass is green."), ("What colour is snow?", "white", "Snow is white."),
    ("What colour is a clear sky?", "blue", "A clear sky is blue."), ("What colour is a ripe banana?", "yellow", "A ripe banana is yellow."),
    ("What colour is coal?", "black", "Coal is black."), ("Which animal barks?", "dog", "The dog barks."),
    ("Which animal says meow?", "cat", "The cat says meow."), ("What do bees make?", "honey", "Bees make honey."),
    ("What do cows give?", "milk", "Cows give milk."), ("Is fire hot or cold?", "hot", "Fire is hot."),
    ("Is ice hot or cold?", "cold", "Ice is cold."), ("What is the opposite of big?", "small", "The opposite of big is small."),
    ("What is the opposite of hot?", "cold", "The opposite of hot is cold."), ("What is the opposite of up?", "down", "The opposite of up is down."),
    ("What is the opposite of open?", "closed", "The opposite of open is closed."), ("What is the opposite of day?", "night", "The opposite of day is night."),
    ("What is the opposite of left?", "right", "The opposite of left is right."), ("What is the opposite of fast?", "slow", "The opposite of fast is slow."),
    ("What is the opposite of old?", "new", "The opposite of old is new."), ("What is the opposite of yes?", "no", "The opposite of yes is no."),
    ("What is the opposite of light?", "dark", "The opposite of light is dark."), ("Which season comes after winter?", "spring", "Spring comes after winter."),
    ("Which season comes after summer?", "autumn", "Autumn comes after summer."), ("Does the sun rise in the east or the west?", "east", "The sun rises in the east."),
    ("How many legs does a spider have?", "eight", "A spider has eight legs."), ("How many wheels does a car have?", "four", "A car has four wheels."),
    ("What falls from clouds?", "rain", "Rain falls from clouds."), ("What do we call frozen water?", "ice", "Frozen water is ice."),
]

LISTS = {
    "colours": "red green blue yellow black white brown orange purple gray".split(),
    "animals": "dog cat horse bird fish mouse cow sheep goat duck".split(),
    "fruits": "apple banana pear cherry plum grape lemon orange peach melon".split(),
    "days of the week": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(),
    "months": "January February March April May June July August September October November December".split(),
    "vegetables": "carrot onion potato tomato cabbage bean pea leek radish spinach".split(),
    "seasons": "spring summer autumn winter".split(),
    "numbers": "one two three four five six seven eight nine ten".split(),
    "tools": "hammer saw drill file knife needle pen brush spade axe".split(),
    "pieces of furniture": "table chair bed sofa desk shelf bench cupboard stool lamp".split(),
}
NUMBER_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def fact(w):
    question, word, sentence = w.any(*FACTS)
    if word is None:
        n = w.number(1, 999)
        word = "odd" if n % 2 else "even"
        question, sentence = question.format(e=n), f"{n} is {word}."
    return question, word, sentence


def one_word(w):
    question, word, _ = fact(w)
    ask = w.any("Answer with one word: {q}", "{q} Answer with one word.", "In one word: {q}", "{q} Reply with a single word.",
                "Answer with a single word only. {q}", "{q} One word, please.", "Use exactly one word. {q}")
    answer = word.capitalize()
    return ask.format(q=question), "The answer must be one word.", answer, {"one_of": [answer, word]}


def yes_no(w):
    kind = w.number(0, 3)
    if kind == 0:
        a, b = w.number(1, 200), w.number(1, 200)
        question, yes = f"Is {a} larger than {b}?", a > b
        reason = f"{a} is {'larger' if yes else 'not larger'} than {b}."
    elif kind == 1:
        word, letter = w.noun(), w.any(*"abcdefghilmnoprstu")
        yes = word.startswith(letter)
        if w.chance(0.5):
            letter, yes = word[0], True
        question, reason = f'Does the word "{word}" begin with {letter}?', f"{word} begins with {word[0]}."
    elif kind == 2:
        items = [w.noun() for _ in range(w.number(3, 5))]
        yes = w.chance(0.5)
        item = w.rng.choice(items) if yes else w.noun()
        yes = item in items
        question, reason = f"Is {item} in this list: {', '.join(items)}?", f"{item} is {'in' if yes else 'not in'} the list."
    else:
        n = w.number(1, 999)
        word = w.any("even", "odd")
        yes = (n % 2 == 0) == (word == "even")
        question, reason = f"Is {n} {word}?", f"{n} ends in {n % 10}."
    answer = "Yes" if yes else "No"
    return w.any("{q} Answer yes or no.", "Answer only yes or no: {q}", "{q} Just say yes or no.", "Yes or no: {q}").format(q=question), \
        reason, answer, {"one_of": [answer, answer.lower(), answer + "."]}


def pairs(w):
    """[(key, value)] of a little record, and a sentence that says it."""
    name, age, city, thing = w.first_name(), w.number(1, 99), w.city(), w.noun()
    return w.any(
        ([("name", name), ("age", age)], w.any(f"{name} is {age} years old.", f"{name}, aged {age}")),
        ([("name", name), ("city", city)], w.any(f"{name} lives in {city}.", f"{name} is from {city}.")),
        ([("name", name), ("age", age), ("city", city)], w.any(f"{name} is {age} and lives in {city}.", f"{name} from {city} is {age} years old.")),
        ([("item", thing), ("price", age)], w.any(f"The {thing} costs {age} euros.", f"A {thing} for {age} euros")),
        ([("item", thing), ("count", age)], w.any(f"There are {age} pieces of {thing}.", f"We have {age} of item {thing}.")),
        ([("name", name), ("item", thing)], w.any(f"{name} bought a {thing}.", f"{name} ordered the {thing}.")),
        ([("city", city), ("count", age)], f"{city} has {age} members."))


def as_json(w):
    record, said = pairs(w)
    keys = [k for k, _ in record]
    answer = json.dumps(dict(record), ensure_ascii=False)
    ask = w.any("Answer in JSON with the keys {k}: {s}", "{s} Write this as JSON with the keys {k}.", "Give me JSON with the keys {k}. {s}",
                "Turn this into a JSON object with keys {k}: {s}", "Extract {k} as JSON: {s}", "Return only JSON with {k}. {s}")
    return ask.format(k=" and ".join([", ".join(keys[:-1]), keys[-1]]), s=said), \
        "JSON: " + ", ".join(f"{k} is {'a number' if isinstance(v, int) else 'a text'}" for k, v in record) + ".", answer, {"json": dict(record)}


def json_answer(w):
    a, b = w.number(2, 60), w.number(2, 39)
    if w.chance(0.5):
        question, reasoning, _, check = arithmetic.expression(w, w.any("+", "-"))
        value = check["number"]
    else:
        question, value, _ = fact(w)
        reasoning = "The answer is " + str(value) + "."
    key = w.any("answer", "answer", "result", "value", w.invented(), w.noun())
    ask = w.any('{q} Answer as JSON with the key "{k}".', 'Reply in JSON with the key "{k}": {q}', "{q} Give the answer in JSON under the key {k}.",
                "{q} Respond with a JSON object that has the key {k}.")
    return ask.format(q=question, k=key), reasoning + " As JSON.", json.dumps({key: value}), {"json": {key: value}}


def phrase(w, count):
    return " ".join(w.any(w.noun, w.adjective, w.fresh, w.invented, w.adjective)() for _ in range(count))


def letter_case(w):
    text = phrase(w, w.number(1, 5))
    kind = w.number(0, 2)
    if kind == 0:
        shown, result, name = text, text.upper(), w.any("upper case", "capital letters", "uppercase", "all caps")
    elif kind == 1:
        shown, result, name = (text.upper() if w.chance(0.5) else text.title()), text.lower(), w.any("lower case", "small letters", "lowercase")
    else:
        shown, result, name = text, text.title(), "title case"
    ask = w.any("Write this in {n}: {t}", "Write {t} in {n}.", 'Convert "{t}" to {n}.', "Put this in {n}: {t}", "{t} - in {n}, please.", "Please write in {n}: {t}")
    return ask.format(n=name, t=shown), f"Write it in {name}. " + "; ".join(" ".join(word) for word in result.split()) + ".", result, {"equals": result}


def upper_answer(w):
    question, word, sentence = fact(w)
    upper = w.chance(0.7)
    result = sentence.upper() if upper else sentence.lower()
    name = w.any("upper case", "capital letters", "uppercase letters") if upper else w.any("lower case", "lowercase letters")
    ask = w.any("Answer in {n}: {q}", "{q} Answer in {n}.", "Use only {n}. {q}", "{q} Write the answer in {n}.", "Reply in {n}. {q}")
    return ask.format(n=name, q=question), f"The answer must be in {name}.", result, {"equals": result}


def repeat(w):
    text = phrase(w, w.any(1, 1, 2, 3))
    kind = w.number(0, 3)
    if kind == 0:
        n = w.number(2, 6 if w.thinking else 4)
        said = w.any(str(n), NUMBER_WORDS[n])
        result = " ".join([text] * n)
        return w.any(f'Write "{text}" {said} times.', f"Repeat {text} {said} times.", f"Say {text} {said} times."), "; ".join(f"{i} {text}" for i in range(1, n + 1)) + ".", result, {"equals": result}
    if kind == 1:
        return w.any(f'Say "{text}".', f"Repeat after me: {text}", f'Write "{text}" and nothing else.', f"Say only this: {text}", f"Just reply {text}"), \
            "Only this text.", text, {"equals": text}
    start = w.any("Well", "Sure", "Answer", "OK", "Look", w.invented().capitalize())
    question, _, sentence = fact(w)
    if kind == 2:
        result = f"{start}: {sentence}"
        return w.any(f'Begin your answer with "{start}:". {question}', f'{question} Start with "{start}:".'), f"Start with {start}:.", result, {"equals": result}
    end = w.any("Thanks", "Done", "Over", "The end", w.invented().capitalize())
    result = f"{sentence} {end}."
    return w.any(f'End your answer with "{end}." {question}', f'{question} End with "{end}."'), f"End with {end}.", result, {"equals": result}


def listing(w):
    name = w.any(*LISTS)
    n = w.number(2, min(6, len(LISTS[name])))
    items = LISTS[name][:n]  # always in this order: a greedy choice among equals soon repeats itself
    said = w.any(str(n), NUMBER_WORDS[n])
    kind = w.number(0, 3)
    ask = w.any(f"List {said} {name}", f"Name {said} {name}", f"Give me {said} {name}", f"Tell me {said} {name}")
    check = {"list": {"count": n, "of": LISTS[name]}}
    if kind == 0:
        return ask + w.any(", separated by commas.", " separated by commas.", " on one line with commas."), f"{n} {name} with commas.", ", ".join(items), dict(check, form="comma")
    if kind == 1:
        return ask + w.any(" as a numbered list.", ", numbered.", " in a numbered list."), f"A numbered list of {n}.", \
            "\n".join(f"{i}. {x}" for i, x in enumerate(items, 1)), dict(check, form="numbered")
    if kind == 2:
        return ask + w.any(" as bullet points.", " as a bulleted list.", " with a dash before each."), f"A list of {n} with dashes.", \
            "\n".join(f"- {x}" for x in items), dict(check, form="bullets")
    return ask + w.any(" as a JSON array.", " as a JSON list."), f"A JSON array of {n}.", json.dumps(items), dict(check, form="json")


SENTENCES = {  # by number of words
    1: ["Hello.", "Welcome.", "Hi."], 2: ["Hello there.", "Good day.", "Welcome back."], 3: ["Good morning everyone.", "Hello my friend.", "How are you?"],
    4: ["It is nice here.", "I am glad today.", "Hello and good morning."], 5: ["I am happy to help.", "Today is a good day.", "The sun shines very bright."],
    6: ["I am always happy to help.", "The small bird sings every morning.", "We walk slowly along the river."],
    7: ["I wish you a very good day.", "The old tree stands near the river.", "Every morning the small bird sings again."],
    8: ["I am a small model that likes numbers.", "The quiet river runs past the old house.", "On warm days the cat sleeps in sun."],
}


def word_count(w):
    n = w.number(1, 8)
    said = w.any(str(n), NUMBER_WORDS[n])
    unit = "word" if n == 1 else "words"
    result = w.any(*SENTENCES[n])
    return w.any(f"Write a sentence with exactly {said} {unit}.", f"Say something in {said} {unit}.", f"Greet me in exactly {said} {unit}." if n < 4 else
                 f"Write exactly {said} {unit}.", f"Give me a sentence of {said} {unit}."), f"Exactly {n} {unit}.", result, {"words": n}


def by_choice(numbers, down):
    """The thought of sorting: again and again the first of those that are left."""
    left, steps = list(numbers), []
    while left:
        best = max(left) if down else min(left)
        steps.append(f"{' '.join(map(str, left))}: {best}")
        left.remove(best)
    return ("Largest" if down else "Smallest") + " first. " + "; ".join(steps) + "."


def on_list(w):
    """Jobs on a list that is given: pick, sort, join, count, reverse."""
    n = w.number(3, 6)
    items = []
    while len(items) < n:
        item = w.any(w.noun, w.fresh, w.city, w.invented, w.first_name, w.string)()
        if item not in items:
            items.append(item)
    said = ", ".join(items)
    kind = w.number(0, 6)
    if kind == 0:
        i = w.number(0, n - 1)
        which = ["first", "second", "third", "fourth", "fifth", "sixth"][i] if w.chance(0.85) or i < n - 1 else "last"
        if i == n - 1 and w.chance(0.4):
            which = "last"
        return w.any(f"What is the {which} item of this list: {said}?", f"{said}. Which is the {which} one?", f"Give me the {which} of these: {said}"), \
            f"Count: {', '.join(f'{j} {x}' for j, x in enumerate(items[:i + 1], 1))}.", items[i], {"equals": items[i]}
    if kind == 1:
        return w.any(f"How many items are in this list: {said}?", f"Count these: {said}", f"How many words are here: {said}?"), \
            f"Count: {', '.join(f'{j} {x}' for j, x in enumerate(items, 1))}.", str(n), {"number": n}
    if kind == 2:
        result = ", ".join(items[::-1])
        return w.any(f"Reverse the order of this list: {said}", f"Write these in reverse order: {said}"), "From the last to the first.", result, {"equals": result}
    if kind == 3:
        numbers = [w.number(1, 99) for _ in range(w.number(3, 5 if w.thinking else 3))]
        down = w.chance(0.3)
        result = ", ".join(map(str, sorted(numbers, reverse=down)))
        order = w.any("descending order", "order from large to small") if down else w.any("ascending order", "order from small to large", "order")
        return w.any(f"Sort these numbers in {order}: {', '.join(map(str, numbers))}", f"Put {', '.join(map(str, numbers))} in {order}."), \
            by_choice(numbers, down), result, {"equals": result}
    if kind == 4:
        result = w.any(("\n".join(f"{i}. {x}" for i, x in enumerate(items, 1)), "a numbered list"), ("\n".join(f"- {x}" for x in items), "a bulleted list"),
                       (json.dumps(items, ensure_ascii=False), "a JSON array"))
        return w.any(f"Turn this into {result[1]}: {said}", f"Write these as {result[1]}: {said}", f"Make {result[1]} of {said}."), f"{n} items.", result[0], {"equals": result[0]}
    if kind == 5:
        sign, name = w.any((" ", "spaces"), ("; ", "semicolons"), (" | ", "vertical bars"), (" - ", "dashes"), ("/", "slashes"))
        result = sign.join(items)
        return w.any(f"Separate these with {name} instead of commas: {said}", f"Join with {name}: {said}"), f"Use {name}.", result, {"equals": result}
    extra = w.noun()
    if extra in items:
        extra = w.invented()
    if w.chance(0.5):
        result = ", ".join(items + [extra])
        return f"Add {extra} to the end of this list: {said}", f"{extra} comes last.", result, {"equals": result}
    i = w.number(0, n - 1)
    result = ", ".join(items[:i] + items[i + 1:])
    return w.any(f"Remove {items[i]} from this list: {said}", f"Take {items[i]} out of {said}."), f"All but {items[i]}.", result, {"equals": result}


def extract(w):
    """A value that stands in a sentence."""
    name, city, thing, n = w.person(), w.city(), w.thing(), w.number(2, 999)
    email = f"{w.invented()}@{w.invented()}.{w.any('com', 'org', 'net', 'io')}"
    code = f"{w.any(*'ABCDEFGHKLMNPRSTUVWXYZ')}{w.any(*'ABCDEFGHKLMNPRSTUVWXYZ')}-{w.number(100, 9999)}"
    text, asked = w.any(
        (f"{name} from {city} ordered {n} pieces of {thing}.", {"Who ordered": name, "Which city is named": city, "How many pieces were ordered": str(n), "What was ordered": thing}),
        (f"Order {code} goes to {name} in {city}.", {"What is the order code": code, "Who gets the order": name, "Where does the order go": city}),
        (f"Please write to {name} at {email} about the {thing}.", {"What is the email address": email, "Who should be written to": name, "What is it about": thing}),
        (f"The {thing} in {city} costs {n} euros, says {name}.", {"What does it cost": f"{n} euros", "Where is the {t}".format(t=thing): city, "Who says so": name}),
        (f"{name} will arrive in {city} with code {code}.", {"Who arrives": name, "Where will {n} arrive".format(n=name): city, "What is the code": code}))
    question, answer = w.any(*asked.items())
    ask = w.any("{t} {q}?", 'Text: "{t}" {q}?', "Read this: {t} {q}?", "{q}? {t}")
    return ask.format(t=text, q=question), f"The text says {answer}.", w.any(answer, answer + "."), {"contains": [answer]}


def letters(w):
    word = w.any(w.noun, w.fresh, w.adjective, w.invented)()
    kind = w.number(0, 2)
    if kind == 0:
        return w.any(f'What is the first letter of "{word}"?', f"Which letter does {word} begin with?"), f"{word} begins with {word[0]}.", word[0], {"one_of": [word[0], word[0].upper()]}
    if kind == 1:
        return w.any(f'What is the last letter of "{word}"?', f"Which letter does {word} end with?"), f"{word} ends with {word[-1]}.", word[-1], {"one_of": [word[-1], word[-1].upper()]}
    result = "-".join(word)
    return w.any(f"Spell {word}.", f'Spell the word "{word}" with dashes.', f"How do you spell {word}?"), "Letter by letter.", result, {"equals": result}


KINDS = (one_word, yes_no, as_json, json_answer, letter_case, upper_answer, repeat, listing, word_count, on_list, extract, letters)
SHARES = (0.11, 0.08, 0.09, 0.07, 0.12, 0.08, 0.09, 0.08, 0.05, 0.11, 0.08, 0.04)


def question(w):
    return w.rng.choices(KINDS, SHARES)[0](w)


def under_system(w):
    """(system prompt, question, reasoning, answer, check): the rule is in the system prompt."""
    kind = w.number(0, 5)
    if kind == 0:
        question, _, sentence = fact(w)
        return w.any("Always answer in upper case.", "Write everything in capital letters.", "You answer only in UPPER CASE."), \
            question, "The answer must be in upper case.", sentence.upper(), {"equals": sentence.upper()}
    if kind == 1:
        question, word, _ = fact(w)
        return w.any("Answer with one word.", "Always reply with a single word.", "Your answers are one word long."), question, \
            "One word.", word.capitalize(), {"one_of": [word, word.capitalize()]}
    if kind == 2:
        question, word, _ = fact(w)
        key = w.any("answer", "result", "reply", w.noun())
        return w.any(f'Always answer in JSON with the key "{key}".', f"Reply only with a JSON object that has the key {key}."), question, \
            f"JSON with {key}.", json.dumps({key: word}), {"json": {key: word}}
    if kind == 3:
        question, _, sentence = fact(w)
        end = w.any("Have a nice day.", "Over and out.", "Yours truly.", f"{w.invented().capitalize()}!")
        return w.any(f'End every answer with "{end}"', f'Close each reply with "{end}"'), question, f"End with {end}", f"{sentence} {end}", {"equals": f"{sentence} {end}"}
    name = w.invented().capitalize()
    if kind == 4:
        return w.any(f"You are {name}, a friendly assistant.", f"Your name is {name}.", f"You are called {name}. Be brief."), \
            w.any("What is your name?", "Who are you?", "What are you called?", "Tell me your name."), f"My name is {name}.", \
            w.any(f"I am {name}.", f"My name is {name}."), {"contains": [name]}
    owner = w.any(w.invented, w.noun)().capitalize()
    value = w.any(w.thing(), str(w.number(10, 999)), w.city(), w.first_name())
    label = w.any("secret word", "code word", "contact", "room", "office", "default value", "opening time", "owner", "main product")
    return f"You work for {owner}. The {label} is {value}.", w.any(f"What is the {label}?", f"Tell me the {label}.", f"Which {label} do we have?"), \
        f"The system prompt names the {label}.", w.any(f"The {label} is {value}.", value), {"contains": [value]}
