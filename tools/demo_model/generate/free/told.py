"""Talks that begin with telling and not with asking: facts, lists, plans, money, names, texts to be changed. Only the last
answer of a dialogue is learnt, so each of these may end at any turn: what is only told is acknowledged with what was said."""

import json

from . import facts as world
from . import lexicon, memory, sums, worlds, writing
from .clauses import Clause
from .grammar import capital, listing, typed

NOTED = ("Noted: ", "Noted: ", "Noted: ", "OK: ", "Got it: ")


def step(question, thought, answer):
    return question, thought, answer


def noted(w, said, thought, text):
    """The user tells something; text is that once more."""
    return step(said, f"The user tells me something. {thought}", w.any(*NOTED) + text + ".")


def people(w, count):
    names = []
    while len(names) < count:
        name = w.first_name()
        if name not in names:
            names.append(name)
    return names


def clock(w):
    return f"{w.number(6, 21)}:{w.any('00', '05', '10', '15', '20', '30', '40', '45', '50')}"


# key: (kind, (what is said, what is noted; {v} the value), questions, answers)
ABOUT = {
    "train": ("clock", "my train (goes|departs) at {v}|I'm taking the {v} train|(my |)train at {v}", "your train goes at {v}", "(when|what time) (does|is) my train [leave|go][?]|when do I (have to|need to|must I) be at the station[?]|my departure?"),
    "home": ("city", "I (live|am living) in {v}|I've (just|) moved to {v}|home is {v} for me", "you live in {v}", "(where|which city|what town) do I live [in][?]|where's my home?|which city am I in?"),
    "color": ("color", "my (favourite|favorite) (colour|color) is {v}|I like {v} best of all colours", "your favourite colour is {v}", "(what's|what is|which is) my (favourite|favorite) (colour|color)[?]|which colour do I like [best|most]?"),
    "dog": ("name", "my (dog|puppy) is called {v}|we have a dog, {v}|our dog's name is {v}", "your dog is called {v}", "(what's|what is) my dog called[?]|(what's|what is) the dog's name[?]|what do we call our dog?"),
    "job": ("job", "I (am|work as) {a}|I've started (working as|a job as) {a}|by trade I'm {a}", "you work as {a}", "(what's|what is) my job[?]|what do I do [for a living][?]|what am I by trade?"),
    "exam": ("day", "my exam is on {v}|I have an exam on {v}|{v} is my exam", "your exam is on {v}", "(when|which day) is my exam[?]|what day do I have (the|my) exam[?]"),
    "room": ("room", "my office is {v}|they put me in {v}|I'm in {v} (now|these days)", "your office is {v}", "(where|which room) (am I|do I sit) [in][?]|what's my room?|where can they find me?"),
    "age": ("age", "I'm {v} [years old]|I turned {v} (last week|yesterday)|my age is {v}", "you are {v}", "how old am I[?]|what's my age[?]"),
    "car": ("color", "I (drive|own|have) a {v} car|my car is {v}", "your car is {v}", "(what|which) colour is my car[?]|my car's colour?"),
    "sister": ("name", "my sister is called {v}|{v} is my sister|I have a sister, {v}", "your sister is {v}", "(what's|what is) my sister's name[?]|who is my sister[?]|what is my sister called?"),
    "food": ("dish", "my favourite (food|dish) is {v}|I could eat {v} every day", "your favourite food is {v}", "(what's|what is) my favourite (food|dish)[?]|what do I like to eat[?]"),
    "pin": ("code", "(remember|keep|save) (the code|this number|my pin) {v}|the code is {v}, don't forget it|my pin: {v}", "the code is {v}", "what was the (code|number|pin)[ again][?]|(tell|give) me the (code|number|pin)|which code do I need?")}
CORRECTIONS = "(oh|no|sorry|oh no), (wait|sorry), it's {v} [actually|of course]|{v}, not {o}|no, {v}[. I (always|often) mix it up]|I was wrong: {v}|actually {v}|correction, {v}|it's {v} now[, not {o} any more]|oops, I meant {v}|it changed to {v}|make that {v}"


def drawn(w, kind):
    if kind == "clock":
        return clock(w)
    if kind == "age":
        return str(w.number(9, 90))
    if kind == "code":
        return str(w.number(100, 99999))
    return worlds.draw(w, kind)[0]


def filled(text, v):
    return text.replace("{v}", v).replace("{a}", lexicon.article(v))


def facts(w):
    """One to three facts, in one sentence or in several, corrected, and asked for."""
    keys = w.rng.sample(list(ABOUT), w.any(1, 1, 2, 2, 3))
    values = {k: drawn(w, ABOUT[k][0]) for k in keys}
    name = w.first_name() if w.chance(0.3) else None
    says = {k: typed(w, ABOUT[k][1], v=values[k], a=lexicon.article(values[k])) for k in keys}
    steps = []
    if name:
        said = w.any(f"hi, I'm {name}", f"I'm {name}", f"Hello, my name is {name}", f"{name} here") + w.any(" and ", ", ", ". ") + says[keys[0]]
        steps.append(step(said, f"The user tells me something. {name}; {keys[0]}: {values[keys[0]]}.", f"Hello {name}! {w.any(*NOTED)}{filled(ABOUT[keys[0]][2], values[keys[0]])}."))
        rest = keys[1:]
    elif len(keys) > 1 and w.chance(0.4):
        steps.append(noted(w, w.any(" and ", ", ", ". ").join(says[k] for k in keys), "; ".join(f"{k}: {values[k]}" for k in keys) + ".", listing([filled(ABOUT[k][2], values[k]) for k in keys])))
        rest = []
    else:
        rest = keys
    for k in rest:
        steps.append(noted(w, says[k] + w.any("", "", ".", "!"), f"{k}: {values[k]}.", filled(ABOUT[k][2], values[k])))
    last = keys[-1]
    if w.chance(0.5):
        new = drawn(w, ABOUT[last][0])
        if new != values[last]:
            steps.append(step(typed(w, CORRECTIONS, v=new, o=values[last]), f"{last}: {new}, no longer {values[last]}.", f"OK, {filled(ABOUT[last][2], new)}."))
            values[last] = new
    if name and w.chance(0.4):
        steps.append(step(typed(w, "[and] what's my name[?]|who am I[?]|[and] my name?|do you know my name?"), f"The user is {name}.", name))
    for k in w.rng.sample(keys, len(keys)):
        answer = values[k]
        steps.append(step(typed(w, w.any("", "", "and ", "so ") + f"({ABOUT[k][3]})"), f"It was said: {k}: {answer}.", answer))
    return steps


def nicknames(w):
    """How the user wants to be called, and then otherwise."""
    a, b = w.any("Captain", "Boss", "Chef", "Doc", "Professor", capital(w.noun()), w.first_name()), w.first_name()
    steps = [step(typed(w, "call me {a}|(please|) (always|) call me {a}|you (can|may) call me {a}|from now on (I'm|I am) {a}", a=a), f"The name to use is {a}.", f"OK, {a}."),
             step(typed(w, "(what|how) (should|will) you call me[?]|what do you call me[?]|my name now?"), f"The name to use is {a}.", a)]
    if a != b and w.chance(0.7):
        steps.append(step(typed(w, "(stop calling|don't call) me {a}[,|.] (call|say) me {b}|rather {b}, not {a}|no, call me {b}|{a} was silly, use {b}".replace("say", "call"), a=a, b=b), f"The name is {b} now, not {a}.", f"OK, {b}."))
        steps.append(step(typed(w, "who am I[?]|(what|how) do you call me now[?]|and my name is?"), f"The last name was {b}.", b))
    return steps


QUALITIES = {"colour": ("black|white|brown|grey|red|green|blue|yellow", "{n} is {v}", "(what|which) colour is {n}[?]|{n}'s colour[?]"), "job": ("a baker|a nurse|a pilot|a teacher|a lawyer|a farmer|a cook|a driver", "{n} is {v}", "what does {n} do[?]|what's {n}'s job[?]|what is {n} by trade?"),
             "home": ("Oslo|Rome|Lima|Graz|Cork|Bern|Nice|Kyoto|Porto|Leeds", "{n} lives in {v}", "where does {n} live[?]|(which|what) city is {n} in[?]"), "food": ("pizza|soup|rice|fish|pasta|salad|cake|curry", "{n} likes {v}", "what does {n} like[?]|(what's|what is) {n}'s favourite[?]"),
             "day": ("|".join(lexicon.DAYS), "{n} comes on {v}", "when does {n} come[?]|(which|what) day is {n} here[?]"), "drink": ("tea|coffee|water|cola|juice|milk|wine", "{n} drinks {v}", "what does {n} drink[?]|what's {n} having[?]")}


def pair(w):
    """Two with a quality each; one is asked for, then the other one."""
    quality = w.any(*QUALITIES)
    values, says, asked = QUALITIES[quality]
    a, b = people(w, 2)
    x, y = w.rng.sample(values.split("|"), 2)
    told = [says.format(n=a, v=x), says.format(n=b, v=y)]
    group = w.any("cats", "dogs", "rabbits", "horses", "parrots") if quality == "colour" else w.any("brothers", "sisters", "friends", "colleagues", "cousins", "flatmates", "neighbours")
    opening = w.any(f"I have two {group}, {a} and {b}. ", f"My two {group} are {a} and {b}. ", f"There are {a} and {b}, my {group}. ", "", "") + w.any(f"{told[0]}, {told[1]}.", f"{told[0]} and {told[1]}.", f"{told[0]}. {told[1]}.")
    steps = [noted(w, opening if w.chance(0.7) else opening.lower().rstrip("."), f"{a}: {x}; {b}: {y}.", f"{told[0]} and {told[1]}")]
    first, other, v, v2 = (a, b, x, y) if w.chance(0.6) else (b, a, y, x)
    steps.append(step(typed(w, asked, n=first), f"{first}: {v}.", v))
    steps.append(step(typed(w, "(and|what about) the other [one][?]|and the second [one][?]|the other one?|and {o}[?]|what about {o}[?]", o=other), f"The other one is {other}: {v2}.", v2))
    r = w.rng.random()
    if r < 0.35:
        new = w.any(*[z for z in values.split("|") if z not in (x, y)])
        steps.append(step(typed(w, "(sorry|no|oh), {s}|I mixed something up: {s}|correction: {s}", s=says.format(n=first, v=new)), f"{first}: {new}, no longer {v}.", f"OK, {says.format(n=first, v=new)}."))
        steps.append(step(typed(w, "(so|again): {n}?|and {n} now?|{n} again?", n=first), f"The {quality} of {first} is now {new}.", new))
    elif r < 0.65:
        steps.append(step(typed(w, "who (is|has|was) that with {v}[?]|(which one|who) was it with {v}[?]", v=v), f"{v} was said of {first}.", first))
    return steps


def amounts(w):
    """People or boxes with numbers: the most, the least, the difference, the sum, one, the other."""
    boxes = w.chance(0.4)
    count = 2 if boxes and w.chance(0.6) else w.number(2, 4)
    numbers = w.rng.sample(range(2, 60), count)
    if boxes:
        names = [f"the {c} {w_}" for w_ in [w.any("box", "bag", "drawer", "shelf", "jar", "team")] for c in w.rng.sample(["red", "blue", "green", "black", "big", "small"], count)]
        unit = lexicon.plural(w.noun())
        said = ", ".join(f"{n} has {k}" + (f" {unit}" if i == 0 else "") for i, (n, k) in enumerate(zip(names, numbers)))
        if count == 2:
            said = f"{names[0]} has {numbers[0]} {unit} and {names[1]} has {numbers[1]}"
        more, less, what, diff = "(which [one] has|where are) (more|the most)[?]", "(which [one] has|where are) (fewer|the fewest)[?]", "how many (are|) in {n}[?]|and {n}[?]", "how many more [than] in {b}[?]"
    else:
        names = people(w, count)
        kind = w.any("age", "points", "euros")
        verb = {"age": "is", "points": "has", "euros": "has"}[kind]
        tail = {"age": "", "points": " points", "euros": " euros"}[kind]
        said = ", ".join(f"{n} {verb} {k}" + (tail if i == 0 else "") for i, (n, k) in enumerate(zip(names, numbers)))
        more, less = {"age": ("who is the oldest[?]|(and|) the oldest[?]|who's oldest?", "who is the youngest[?]|and the youngest[?]|who's youngest?"), "points": ("who (leads|wins|has most|is first)[?]|the best?", "who (is last|has fewest)[?]|and (the last|who is last)[?]"), "euros": ("who has (the most|most) [money][?]|who is richest?", "who has the least[?]|and the least[?]")}[kind]
        what = {"age": "how old is {n}[?]|and {n}[?]|{n}'s age?", "points": "how many [points] does {n} have[?]|and {n}[?]", "euros": "how much does {n} have[?]|and {n}[?]"}[kind]
    short = lambda n: n.removeprefix("the ")
    table = "; ".join(f"{short(n)} {k}" for n, k in zip(names, numbers))
    steps = [noted(w, capital(said) + w.any(".", "") if w.chance(0.7) else said, table + ".", ", ".join(f"{n} {k}" for n, k in zip(names, numbers)))]
    top, low = names[numbers.index(max(numbers))], names[numbers.index(min(numbers))]
    for _ in range(w.number(1, 4)):
        kind = w.any("more", "less", "one", "diff", "sum", "other" if count == 2 else "one")
        i = w.rng.randrange(count)
        if kind == "more":
            steps.append(step(typed(w, more), f"{table}: {max(numbers)} is the most.", top))
        elif kind == "less":
            steps.append(step(typed(w, less), f"{table}: {min(numbers)} is the least.", low))
        elif kind == "one":
            steps.append(step(typed(w, what, n=names[i]), f"{capital(short(names[i]))} {numbers[i]}.", str(numbers[i])))
        elif kind == "other":
            steps.append(step(typed(w, what.replace("and {n}", "{n}") if boxes else what, n=names[i]), f"{capital(short(names[i]))} {numbers[i]}.", str(numbers[i])))
            steps.append(step(typed(w, "and (in|) the other [one][?]|what about the other [one][?]|the other one?"), f"The other one is {short(names[1 - i])}: {numbers[1 - i]}.", str(numbers[1 - i])))
        elif kind == "sum":
            a, b = w.rng.sample(range(count), 2)
            question = typed(w, "(both|) together[?]|(what is|how much is) that (together|in all)[?]|the sum of both?|both together?") if count == 2 else typed(w, "{a} and {b} together[?]|how much (is that|do they have) for {a} and {b} together[?]", a=names[a], b=names[b])
            if count == 2:
                a, b = 0, 1
            steps.append(step(question, sums.plus(numbers[a], numbers[b]), str(numbers[a] + numbers[b])))
        else:
            a, b = w.rng.sample(range(count), 2)
            if numbers[a] < numbers[b]:
                a, b = b, a
            question = typed(w, "(what's|what is) the difference between {a} and {b}[?]|how much more than {b} (is it|) for {a}[?]|by how much does {a} beat {b}[?]", a=names[a], b=names[b])
            if not boxes and tail == "" and w.chance(0.6):
                question = typed(w, "how much older is {a} than {b}[?]|how many years (lie|are) between {a} and {b}[?]", a=names[a], b=names[b])
            steps.append(step(question, f"{capital(short(names[a]))} {numbers[a]}, {short(names[b])} {numbers[b]}. {sums.minus(numbers[a], numbers[b])}", str(numbers[a] - numbers[b])))
    return steps


def shares(w):
    """So many people at so much each, and then more or fewer of them."""
    n, price = w.number(2, 12), w.number(2, 40)
    thing = w.any("pizza", "the ticket", "dinner", "the museum", "a seat", "the boat trip", "lunch", "the bus", "a bike")
    steps = [noted(w, typed(w, "there are {n} of us and {t} (costs|is) {p} euros each|{t} is {p} euros a head, we are {n}|we're {n} people, {t} costs {p} euros [each|per person]", n=n, t=thing, p=price), f"People: {n}; price: {price}.", f"{n} people, {price} euros each")]
    steps.append(step(typed(w, "how much (for|is it for) all of us[?]|(what|how much) (do|must) we pay [together|in all][?]|the total?|what does it cost for (everybody|everyone)[?]"), sums.times(price, n), f"{price * n} euros"))
    for _ in range(w.number(1, 2)):
        k = w.number(1, 3)
        up = w.chance(0.6) or n <= k + 1
        n += k if up else -k
        steps.append(step(typed(w, ("one more [person] (is coming|wants to come)|somebody else joins us|plus one" if up else "one of us can't (come|make it)|one (person|of them) (cancelled|dropped out)|minus one") if k == 1 else "{k} more (people are coming|want to come)|{k} (others|friends) join us|plus {k} (people|guests)" if up else "{k} of us can't (come|make it)|{k} (people|of them) (cancelled|dropped out)|minus {k} people", k=lexicon.in_words(k) if w.chance(0.6) else k), f"People: {n - k if up else n + k} {'+' if up else '-'} {k} = {n}.", f"OK: {n} people, {price} euros each."))
        steps.append(step(typed(w, "and now[?]|(what|how much) is it now[?]|(so|and) the (new |)total[?]|(what|how much) do we pay now[?]"), f"People: {n}. {sums.times(price, n)}", f"{price * n} euros"))
    return steps


def budget(w):
    """Money that is told and spent; the rest is said each time."""
    left = w.number(8, 90) * 10
    steps = [noted(w, typed(w, "(my|our) budget is {x} euros|I('ve got| have) {x} euros [to spend]|we can spend {x} euros [on it]|{x} euros (are|is) all I have", x=left), f"Money: {left}.", f"{left} euros")]
    for i in range(w.number(1, 4)):
        k = w.number(1, max(2, left // 3))
        thing = w.any("shoes", "a shirt", "a lamp", "the tickets", "two chairs", "dinner", "paint", "a gift", "flowers", "a cake", w.noun())
        more = w.chance(0.12)
        text = typed(w, "I (sold|returned) the {t} for {k}|{k} euros came back|my (mum|aunt) gave me {k}" if more else "I bought {t} for {k}|{t} for {k}|{t}: {k} [euros]|I (spent|paid) {k} (for|on) {t}|then {k} (for|on) {t}", t=thing, k=k)
        steps.append(step(("and " if i and w.chance(0.4) else "") + text, sums.plus(left, k) if more else sums.minus(left, k), f"OK, {left + k if more else left - k} euros are left."))
        left += k if more else -k
    steps.append(step(typed(w, "how much (do I have left|is left|can I still spend)[?]|what's left [of it|of the money][?]|what remains?|how much money [do I have] now[?]"), f"The last rest was {left}.", f"{left} euros"))
    return steps


CHORES = "call mum|pay the rent|wash the car|buy stamps|feed the cat|book a table|fix the lamp|write to Paul|clean the desk|water the roses|order paper|mow the lawn|bake bread|return the books|iron shirts|visit grandma|print the photos|empty the bin|pack the bags|renew the passport".split("|")


def items(w):
    """A list as people speak of one: told at once, things crossed off by a word of theirs."""
    chores = w.chance(0.45)
    name = w.any("to-do list", "todo list", "todos") if chores else w.any("shopping list", "packing list", "list", "party list", "guest list")
    if name == "guest list":
        pool = people(w, 9)
    else:
        pool = w.rng.sample(CHORES, 8) if chores else list(dict.fromkeys(w.any(w.any("milk", "eggs", "bread", "butter", "rice", "tea", "soap", "apples", "cheese", "socks", "a towel", "a map", "batteries"), w.noun()) for _ in range(9)))
    have, pool = pool[:w.number(2, 5)], pool[5:]
    shown = lambda: ", ".join(have) if have else "nothing"
    short = w.any(name, name.replace("to-do list", "todo").replace("todos", "todo"))
    steps = [step(w.any(f"{short}: {shown()}", f"my {name}: {shown()}", f"this is my {name}: {listing(have)}", f"I need to {listing(have)}. That's my {name}" if chores else f"on the {name}: {listing(have)}"), f"The {name} has {len(have)} entries.", f"Your {name}: {shown()}.")]
    for _ in range(w.number(1, 5)):
        kind = w.any("add", "off", "off", "show", "swap", "count", "place")
        before = shown()
        if kind == "add" and pool:
            x = pool.pop()
            have.append(x)
            steps.append(step(typed(w, "add {x}|also {x}|and {x}[, please]|{x} too|put {x} on it [as well]|I forgot {x}", x=x), f"Before: {before}. {capital(x)} comes on.", shown()))
        elif kind == "off" and len(have) > 1:
            x = w.any(*have)
            have.remove(x)
            part = " ".join(x.split()[1:]) if chores and w.chance(0.6) else x
            text = typed(w, "(I'm |)done with {x}|{x} is done|finished {x}|cross off {x}|{x}: done|{x} - check" if chores else "take {x} (off|away)|(remove|strike|drop) {x}|no {x} [after all]|I (have|got) {x} already|not {x}", x=part if not part.startswith("to ") else x)
            if not chores and name != "guest list" and " " not in x and w.chance(0.4):
                text = typed(w, "take off the {x}|the {x} can go|without the {x}[, please]|leave out the {x}", x=x)
            steps.append(step(text, f"Before: {before}. {capital(x)} goes.", shown()))
        elif kind == "swap" and pool and have:
            x, y = w.any(*have), pool.pop()
            have[have.index(x)] = y
            steps.append(step(typed(w, "swap {x} (with|for) {y}|{y} instead of {x}|make {x} {y}|replace {x} (by|with) {y}|not {x} but {y}", x=x, y=y), f"Before: {before}. {capital(x)} becomes {y}.", shown()))
        elif kind == "count":
            steps.append(step(typed(w, "how many (things|entries) [are that|are left|is that][?]|how many [are there] now?|count them"), "; ".join(f"{i + 1} {x}" for i, x in enumerate(have)) + ".", str(len(have))))
        elif kind == "place":
            i = w.any(0, len(have) - 1, min(1, len(have) - 1))
            word = "last" if i == len(have) - 1 else ("first", "second", "third", "fourth", "fifth", "sixth")[i]
            steps.append(step(typed(w, "(only|just) the {n} one[, please]|what's the {n} [one|entry][?]|the {n} one?|which is {n} [on it]?", n=word), f"The list: {before}.", have[i]))
        else:
            steps.append(step(typed(w, "what's (on it|on the list|left|still open) [now][?]|(show|read) [me] the list|what do I (have|need) [now]?|and now?|the whole list[, please]"), f"The list has {len(have)} entries.", shown()))
    return steps


def trip(w):
    """Where, when and who; somebody drops out, somebody joins, the day moves."""
    place, month = w.city(), w.any(*lexicon.MONTHS, *lexicon.DAYS)
    at = "on" if month in lexicon.DAYS else "in"
    who = people(w, w.number(2, 4))
    me = w.chance(0.5)
    what = w.any("trip", "tour", "visit", "journey")
    steps = [noted(w, typed(w, "we're (going|flying|driving|off) to {c} {a} {m}|{a} {m} we (go|travel) to {c}|our {x} to {c} is {a} {m}|(trip|off) to {c}, {m}", c=place, a=at, m=month, x=what), f"Place: {place}; time: {month}.", f"{place}, {at} {month}")]
    everybody = lambda: listing((["you"] if me else []) + who)
    steps.append(noted(w, typed(w, "who's coming: {l}|with {l}|{l} are coming [along]|(coming|going): {l}|it's {l}", l=listing((["me"] if me else []) + who)), f"People: {everybody()}.", f"{everybody()}"))
    for _ in range(w.any(0, 1, 1, 2)):
        kind = w.any("out", "in", "place", "time")
        if kind == "out" and len(who) > 1:
            x = w.any(*who)
            who.remove(x)
            steps.append(step(typed(w, "{x} can't (make it|come) [after all]|{x} (is ill|has to work|stays home) [sadly]|without {x}|{x} is out", x=x), f"{x} goes. People: {everybody()}.", f"OK, without {x}: {everybody()}."))
        elif kind == "in":
            x = people(w, 1)[0]
            if x in who:
                continue
            who.append(x)
            steps.append(step(typed(w, "{x} (joins|comes|wants to come) [too|as well|along]|(also|plus) {x}|and we take {x} with us", x=x), f"{x} comes. People: {everybody()}.", f"OK, with {x}: {everybody()}."))
        elif kind == "place":
            place = w.city()
            steps.append(step(typed(w, "(let's|we) go to {c} instead|(no|oh), it's {c} [now]|change of plan: {c}|rather {c}", c=place), f"Place: {place}.", f"OK, {place}, {at} {month}."))
        else:
            month = w.any(*[m for m in (lexicon.DAYS if at == "on" else lexicon.MONTHS) if m != month])
            steps.append(step(typed(w, "(it|the {x}) (moved|got moved|was moved) to {m}|not then, {m}|{m} is better for (us|everyone)", x=what, m=month), f"Time: {month}.", f"OK, {place}, {at} {month}."))
    asked = [("(so |)who is (travelling|coming|going)[?]|who comes [along|now]?", f"People: {everybody()}.", everybody()), ("(and|) where (are we going|is it|to)[?]|which city?", f"Place: {place}.", place), ("(and|) when (is it|are we going|do we go)[?]", f"Time: {month}.", f"{at} {month}"),
             ("how many (are we|people are that|come)[?]", f"People: {everybody()}: {len(who) + me}.", str(len(who) + me)), ("(so |)who is (travelling|going) and where[?]|who goes where?", f"People: {everybody()}; place: {place}.", f"{everybody()}, to {place}"), ("when and where [is it]?|(where|place) and (when|time)[?]", f"Place: {place}; time: {month}.", f"{place}, {at} {month}")]
    for q, t, a in w.rng.sample(asked, w.number(1, 2)):
        steps.append(step(typed(w, q), t, capital(a)))
    return steps


def date_with(w):
    """A meeting with day, room and person; parts of it move."""
    slots = {"day": w.any(*lexicon.DAYS), "place": f"room {w.number(1, 40)}" if w.chance(0.6) else w.any("the cafe", "the library", "the big hall", "the park", "the office"), "person": w.first_name(), "time": clock(w)}
    event = w.any("meeting", "lesson", "rehearsal", "interview", "lunch", "talk", "workshop")
    keys = ["day", *w.rng.sample(["place", "person", "time"], w.number(1, 3))]
    said = lambda: " ".join({"day": "on {day}", "place": "in {place}", "person": "with {person}", "time": "at {time}"}[k].format(**slots) for k in keys)
    steps = [noted(w, typed(w, "(the|my) {e} is {s}|I have the {e} {s}|{e} {s}", e=event, s=said()), "; ".join(f"{k}: {slots[k]}" for k in keys) + ".", f"the {event} is {said()}")]
    for _ in range(w.any(0, 1, 1, 2)):
        k = w.any(*keys)
        new = {"day": lambda: w.any(*lexicon.DAYS), "place": lambda: f"room {w.number(41, 90)}", "person": w.first_name, "time": lambda: clock(w)}[k]()
        if new == slots[k]:
            continue
        old, slots[k] = slots[k], new
        steps.append(step(typed(w, {"day": "it (got|was|has been) moved to {v}|not {o}, {v}|they moved it to {v}|{v} instead", "place": "it's in {v} [now|instead]|not {o} but {v}|another room: {v}", "person": "it's with {v} [now], not {o}|{v} (comes|does it) instead of {o}", "time": "it (starts|is) at {v} [now|instead]|{v}, not {o}|later: {v}"}[k], v=new, o=old), f"{k}: {new}, no longer {old}.", f"OK, the {event} is {said()}."))
    asked = {"day": ("(and|) (when|which day|what day) is it[?]|the day?", f"on {slots['day']}"), "place": ("(and|) where is it[?]|which room|where do I have to go[?]", f"in {slots['place']}"), "person": ("(and|) who is it with[?]|who do I meet[?]", slots["person"]), "time": ("(and|) (what time|at what time) is it[?]|when does it (start|begin)[?]", f"at {slots['time']}")}
    if len(keys) > 1 and w.chance(0.4) and "place" in keys:
        steps.append(step(typed(w, "when and where is it[?]|(day|when) and (place|where)[?]|so when and where?"), f"day: {slots['day']}; place: {slots['place']}.", f"On {slots['day']} in {slots['place']}"))
    for k in w.rng.sample(keys, w.number(1, len(keys))):
        steps.append(step(typed(w, asked[k][0]), f"{k}: {slots[k]}.", capital(asked[k][1])))
    return steps


LINES = ["{X} is {a}.", "Many people like {x}.", "In the {t} it is at its best.", "I think of {x} every {d}.", "There is nothing like it in {c}.", "Some say that {x} is {b}, but it is not.", "You can find {x} in {c} too.", "Nobody forgets {x}.", "It was {b} for a long time."]
REQUESTS = [("asking for {x}", "Could you please bring me {x}?", "Can I have {x}?", "{X}, please.", "I would be grateful if you could bring me {x}."), ("asking someone to call back", "Could you please call me back?", "Can you call me back?", "Call me back, please.", "I would be grateful if you could call me back."),
            ("asking for help with {x}", "Could you please help me with {x}?", "Can you help me with {x}?", "Help with {x}, please.", "I would be grateful if you could help me with {x}."), ("asking where {x} is", "Could you please tell me where {x} is?", "Where's {x}?", "{X}?", "I would be grateful if you could tell me where {x} is."),
            ("asking for a copy of {x}", "Could you please send me a copy of {x}?", "Can you send me a copy of {x}?", "A copy of {x}, please.", "I would be grateful if you could send me a copy of {x}.")]


def drafts(w):
    """A text is written, and then made shorter, longer, louder, more formal."""
    if w.chance(0.4):
        x = "the " + w.any("bill", "menu", "report", "form", "contract", "key", "list", w.noun())
        what, polite, casual, brief, formal = (t.format(x=x, X=capital(x)) for t in w.any(*REQUESTS))
        steps = [step(typed(w, "write a polite (sentence|message|question|line) {o}|(how do I|how can I) politely (say|write) this: {o}|a polite (sentence|line) {o}[, please]", o=what), "A polite request begins with Could you please.", polite)]
        forms_ = {"casual": ("less formal[, please]|(more casual|casual)[, please]|for a friend|too stiff, make it relaxed", casual), "brief": ("shorter|(make it|even) shorter|as short as you can|too long", brief), "formal": ("more formal[, please]|for my boss|make it very formal|more polite", formal)}
        for k in w.rng.sample(list(forms_), w.number(1, 3)):
            steps.append(step(typed(w, forms_[k][0]), f"The same request, {'fewer words' if k == 'brief' else k}.", forms_[k][1]))
    else:
        x = w.any(*[t for t in writing.THINGS.split("|") if "mother" not in t], "the " + w.noun())
        a, b = w.rng.sample("beautiful|quiet|old|wonderful|strange|cold|warm|simple|dangerous|famous|boring|important|rare|different|young|free|precious|hard to forget".split("|"), 2)
        lines = [t.format(x=x, X=capital(x), a=a, b=b, t=w.any("morning", "evening"), d=w.any("day", "summer", "night"), c=w.city()) for t in [LINES[0], *w.rng.sample(LINES[1:], 3)]]
        have = lines[:w.number(2, 3)]
        steps = [step(typed(w, "write a (short|small|) text about {x}|(write|say) (a few|some|two or three) sentences about {x}|(something|a few lines) about {x}[, please]", x=x), f"A few sentences about {x}.", " ".join(have))]
        for k in w.rng.sample(["short", "upper", "longer", "last", "lines"], w.number(1, 3)):
            before = " ".join(have)
            if before.isupper() or "\n" in steps[-1][2]:
                break
            if k == "short" and len(have) > 1:
                have = have[:1]
                steps.append(step(typed(w, "(make|write) (that|it) shorter|shorter[, please]|too long|cut it down|only one sentence|can you shorten (that|it)?"), "Only the first sentence.", have[0]))
            elif k == "longer" and len(have) < 4:
                have = lines[:len(have) + 1]
                steps.append(step(typed(w, "(make|write) (that|it) longer|longer[, please]|one more sentence|add a sentence"), "One more sentence.", " ".join(have)))
            elif k == "upper":
                steps.append(step(typed(w, "[now] in (capitals|capital letters|upper case)|all caps[, please]|shout it|write (that|it) in capitals"), f"The text was: {before}", before.upper()))
                break
            elif k == "lines" and len(have) > 1:
                steps.append(step(typed(w, "[now] as bullet points|one sentence per line with dashes|make it bullets"), f"{len(have)} sentences.", "\n".join("- " + t for t in have)))
            elif len(have) > 1:
                have = have[:-1]
                steps.append(step(typed(w, "(drop|remove|delete) the last sentence|without the last sentence|the last sentence can go"), "All but the last sentence.", " ".join(have)))
    return steps


def picks(w):
    """Three of a kind, one more, only one of them, another one."""
    kind = w.any("animal", "fruit", "vegetable", "tool", "color", "country", "city", "flower", "drink", "dish", "sport", "job", "bird", "tree", "musical instrument")
    pool = w.rng.sample(lexicon.KINDS[kind], 9)
    n = w.number(2, 4)
    have, pool = pool[:n], pool[n:]
    name = lexicon.plural_kind(kind)
    steps = [step(typed(w, "(give|name|tell|list) me {n} {x}|{n} {x}[, please]|(I need|name) {n} {x}", n=lexicon.in_words(n) if w.chance(0.7) else n, x=name), f"{n} {name}.", ", ".join(have))]
    for _ in range(w.number(1, 3)):
        k = w.any("more", "more", "nth", "without", "others", "count")
        if k == "more" and pool:
            x = pool.pop()
            have.append(x)
            steps.append(step(typed(w, "(give me|tell me|) one more|another one|one more[, please]|and one more[?]|add one"), f"There are {', '.join(have[:-1])}. A new one: {x}.", ", ".join(have)))
        elif k == "nth":
            i = w.rng.randrange(len(have))
            word = "last" if i == len(have) - 1 else ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")[i]
            steps.append(step(typed(w, "(only|just) the {n} one[, please]|which (was|is) the {n}[?]|the {n} one?|what was the {n} one?", n=word), f"The list: {', '.join(have)}.", have[i]))
        elif k == "without" and len(have) > 2:
            x = w.any(*have)
            have.remove(x)
            steps.append(step(typed(w, "(not|without|drop|no) {x}|take {x} out|{x} is no good", x=x), f"All but {x}.", ", ".join(have)))
        elif k == "others" and len(pool) >= len(have) and w.chance(0.6):
            have, pool = pool[:len(have)], pool[len(have):]
            steps.append(step(typed(w, "(others|different ones|other ones)[, please]|not these, others|some others?"), f"{len(have)} other {name}.", ", ".join(have)))
        else:
            steps.append(step(typed(w, "how many (is that|are that|are those)[?]|count them"), "; ".join(f"{i + 1} {x}" for i, x in enumerate(have)) + ".", str(len(have))))
    return steps


def another(w):
    """A joke, a riddle, a fun fact, and another one."""
    pool, asked = w.any((writing.JOKES, "(tell me|give me|do you know) a joke[?]|a joke[, please]|make me laugh"), (writing.RIDDLES, "(tell me|give me|ask me) a riddle|a riddle[, please]"), (writing.FUN, "tell me (something interesting|a fun fact)|a fun fact[, please]"))
    chosen = w.rng.sample(pool, w.number(2, 3))
    steps = [step(typed(w, asked), "A short one.", chosen[0])]
    for x in chosen[1:]:
        steps.append(step(typed(w, "another [one][, please]|one more|(tell|give) me another one|next [one]|I know that one, another[?]|a different one[, please]"), "A different one.", x))
    steps.append(step(typed(w, "(that was|this was|) (better|good|funny|nice)[, thanks]|(haha|lol), (thanks|thank you)|thanks, (that's enough|that was fun)"), "A friendly answer.", w.any("You are welcome!", "I am glad that you like it!")))
    return steps


ALLERGIES = {"nuts": ("peanuts|walnuts|almonds|hazelnuts|a walnut cake", "an apple|a banana|some cheese|a boiled egg"), "milk": ("cheese|yogurt|butter|cream|a latte", "an apple|some nuts|a salad|a banana"), "eggs": ("an omelette|pancakes|mayonnaise", "an apple|rice with vegetables|a banana|some nuts"), "fish": ("sushi|tuna|salmon|fish soup", "a cheese sandwich|an omelette|a salad"), "wheat": ("bread|pasta|pizza|a sandwich", "rice with vegetables|an apple|a boiled egg|some nuts"), "strawberries": ("a strawberry cake|strawberry jam", "a banana|an apple|some cheese")}


def allergic(w):
    """What somebody must not eat, and what then."""
    x = w.any(*ALLERGIES)
    bad, good = (v.split("|") for v in ALLERGIES[x])
    vegetarian = w.chance(0.2)
    if vegetarian:
        x, bad, good = "meat", ["ham", "a steak", "chicken", "a burger with beef", "sausages", "bacon"], ["a salad", "pasta with tomatoes", "an omelette", "rice with vegetables"]
    steps = [noted(w, typed(w, "I (don't|never) eat {x}|I'm a vegetarian" if vegetarian else "I'm allergic to {x}|I (can't|must not) (eat|have) {x}|{x} {m} me ill", x=x, m="make" if x.endswith("s") else "makes"), f"No {x}.", f"no {x} for you")]
    for k in w.rng.sample(["suggest", "bad", "good"], w.number(1, 3)):
        if k == "suggest":
            steps.append(step(typed(w, "(suggest|what would be) (a snack|something to eat|a meal) for me|what (can|could|should) I eat[?]|any idea (for a snack|what to eat)[?]"), f"Something without {x}.", f"What about {w.any(*good)}?"))
        elif k == "bad":
            b = w.any(*bad)
            steps.append(step(typed(w, "(can|may|should) I (have|eat|try) {b}[?]|why not {b}[?]|(what about|how about) {b}[?]|and {b}[?]", b=b), f"{capital(b)}: that is {x} or has {x} in it.", f"Better not: you {'do not eat meat' if vegetarian else f'cannot eat {x}'}."))
        else:
            g = w.any(*good)
            steps.append(step(typed(w, "(can|may|should) I (have|eat|try) {g}[?]|(what about|how about) {g}[?]|and {g}[?]|is {g} ok[?]", g=g), f"{capital(g)}: no {x} in it.", f"Yes, that has no {x} in it."))
    return steps


def clause(w):
    while True:
        c = Clause(w)
        if c.progressive_fits():
            return c


def drawn_task(w):
    """(how it is asked, with {x}; a function that draws one (x, thought, answer))"""
    def turned(tense=None, **how):
        def make():
            c = clause(w)
            base, _, past, _, _ = lexicon.forms(c.verb)
            why = {"past": f"{capital(base)}: {past}.", "future": f"{capital(base)}: will {base}.", "question": "A question begins with the helping verb.", "negative": "not comes behind the helping verb."}[tense or next(iter(how))]
            return c.said("present"), why, c.said(tense or "present", **how)
        return make

    def noun(change, why):
        def make():
            x = w.any(*lexicon.KINDS[w.any("animal", "fruit", "tool", "device", "kitchen item")])
            return x, why, change(x)
        return make

    def opposite():
        a, b = w.any(*lexicon.OPPOSITES)
        return a, f"{capital(a)} and {b} are opposites.", b

    def review():
        good = w.chance(0.5)
        text = capital(w.any(*(lexicon.GOOD_PHRASES if good else lexicon.BAD_PHRASES)))
        return text, "Praise." if good else "A complaint.", "positive" if good else "negative"

    def record():
        name, age, city = w.first_name(), w.number(5, 90), w.city()
        return w.any(f"{name} is {age} and lives in {city}", f"{name} ({age}) from {city}", f"{name}, {age}, {city}"), f"{name}, {age}, {city}.", json.dumps({"name": name, "age": age, "city": city}, ensure_ascii=False)

    def backwards():
        items = list(dict.fromkeys(w.noun() for _ in range(w.number(2, 4))))
        return ", ".join(items), "From the last to the first.", ", ".join(items[::-1])

    def smallest():
        values = w.rng.sample(range(1, 99), w.number(3, 5))
        return ", ".join(map(str, values)), f"{min(values)} is the smallest.", str(min(values))

    n = w.number(2, 9)

    def added():
        k = w.number(1, 60)
        return str(k), sums.plus(k, n), str(k + n)
    return w.any(("(say|write) it in the past [tense]: {x}|past tense of: {x}", turned("past")), ("(put|write) this in the future [tense]: {x}|future tense: {x}", turned("future")), ("(make|turn) this [into] a question: {x}|as a question: {x}", turned(question=True)), ("(negate|make negative): {x}|the negative of: {x}", turned(negative=True)),
                 ("(what is|what's) the plural of {x}[?]|plural of {x}[?]", noun(lexicon.plural, "More than one.")), ("write {x} in capitals|{x} in capital letters[, please]", noun(str.upper, "The same letters, capitals.")), ("(what is|what's) the first letter of {x}[?]|first letter of {x}", noun(lambda x: x[0], "Only the first letter.")),
                 ("(what's|what is) the opposite of {x}[?]|opposite of {x}[?]", opposite), ("positive or negative: {x}|is this positive or negative? {x}", review), ("JSON with name, age and city: {x}|(make|give me) JSON (name, age, city): {x}".replace("(name, age, city)", "with name, age, city"), record), ("(reverse|turn round) this list: {x}|backwards: {x}", backwards), ("[which is] the smallest of {x}[?]|smallest number: {x}", smallest), (f"add {n} to {{x}}|{{x}} plus {n}[?]", added))


def same_again(w):
    """A task, and then only what it is to be done with next."""
    asked, make = drawn_task(w)
    x, thought, answer = make()
    steps = [step(typed(w, asked, x=x), thought, answer)]
    for _ in range(w.number(1, 3)):
        x, thought, answer = make()
        steps.append(step(typed(w, "and {x}|(and |now |)this [one]: {x}|next: {x}|(the |)same (for|with): {x}|{x}|another one: {x}|ok, now {x}|then {x}", x=x), f"The same again. {thought}", answer))
    return steps


def order_of_questions(w):
    """Questions about countries, and then which of them came first, last, and what the answer was."""
    i, what = w.any((1, "capital"), (2, "language"), (4, "continent"))
    rows = w.rng.sample(list(world.COUNTRIES), w.number(2, 3))
    steps = []
    for k, row in enumerate(rows):
        question = typed(w, "(what is|what's) the {p} of {n}[?]|the {p} of {n}[?]", p=what, n=row[0]) if k == 0 else typed(w, "and (of|for|) {n}[?]|what about {n}[?]|{n}?|same for {n}", n=row[0])
        steps.append(step(question, f"The {what} of {row[0]}: {row[i]}.", row[i]))
    at = w.any(0, 0, len(rows) - 1)
    which = "first" if at == 0 else "last"
    steps.append(step(typed(w, "(which|what) country did I ask (about|for) {o}[?]|which (one|of them|country) came {o}[?]|what was the {o} country [I asked for|I named][?]|which of (them|these) did I (name|ask about) {o}[?]", o=which), f"The countries: {', '.join(r[0] for r in rows)}. The {which}: {rows[at][0]}.", rows[at][0]))
    if w.chance(0.4):
        row = w.any(*rows)
        steps.append(step(typed(w, "and its {p} was[?]|what was the {p} of {n} again[?]|again, {n}?".replace("and its {p} was[?]|", ""), p=what, n=row[0]), f"The {what} of {row[0]}: {row[i]}.", row[i]))
    return steps


TASKS = {same_again: 18, order_of_questions: 4, facts: 14, nicknames: 4, pair: 12, amounts: 14, shares: 6, budget: 9, items: 16, trip: 9, date_with: 10, drafts: 12, picks: 8, another: 3, allergic: 4}


def dialogue(w):
    """(messages, check): the steps of a talk up to one of them, often the last."""
    steps = w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)
    end = len(steps) if w.chance(0.4) else w.number(1, len(steps))
    blocks = memory.filler(w) if w.chance(0.08) else []
    for i, (question, _, answer) in enumerate(steps[:end - 1]):
        blocks += memory.past(question, answer)
        if steps[i + 1][1].startswith("It was said") and w.chance(0.2):
            blocks += memory.filler(w)
    question, thought, answer = steps[end - 1]
    return blocks + memory.turn(question, thought, answer), {"equals": answer}
