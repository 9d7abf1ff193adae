"""Several turns: facts that come back, facts that change, answers that are changed, lists that grow, sums that go on."""

import json

from . import chat, classify, extraction, facts, lexicon, ordering, reading, rewriting, sums, worlds
from .clauses import Clause
from .grammar import capital, typed

FILLERS = (chat.talk, chat.talk, chat.talk, facts.fact, sums.digits, rewriting.letters, facts.country, ordering.shaping, rewriting.question_of, sums.units, classify.sentiment)


def filler(w):
    question, _, answer, _ = w.any(*FILLERS)(w)
    return [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]


def turn(question, reasoning, answer):
    return [{"role": "user", "content": question}, {"role": "assistant", "content": answer, "reasoning_content": reasoning}]


def past(question, answer):
    return [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]


NOTED = ["Noted.", "OK.", "Understood.", "Okay, I will keep it in mind.", "All right.", "Got it.", "Good to know.", "Noted: {v}."]
# what the user says of themselves, the questions later; {v} the value
PERSONAL = """name | (I'm|I am|my name is|call me|this is) {v} | what('s| is) my name[?]|(who am I|do you [still] (know|remember) my name)[?]|how am I called?|my name? | Hello {v}!
home | I live in {v}|my (home|house|flat) is in {v}|I (just |)moved to {v} | (where|in (which|what) (city|town|place)) (do I live|is my home)[?]|where did I say I live?|tell me where I live [again] | -
work | I work in {v}|my (office|company|job) is in {v} | (where|in (which|what) (city|town)) (do I work|is my office)[?]|tell me where I work [again] | -
origin | I'm from {v}|I come from {v}|I was born in {v} | where (am I|do I come) from[?]|(which|what) city am I from[?]|where did I say I come from? | -
pet | (my (dog|cat|rabbit|parrot) is (called|named)|I have a (dog|cat) named|our new (puppy|kitten) is) {v} | (what('s| is)|tell me) the name of my (pet|animal)[?]|how is my pet called[?]|my pet's name? | -
color | my (favourite|favorite) (colour|color) is {v}|I (painted|like) everything (in|) {v} | (what('s| is)|which is) my (favourite|favorite) (colour|color)[?]|(what|which) color do I like? | -
food | my (favourite|favorite) (food|dish) is {v}|I (love|could always eat) {v} | what('s| is) my (favourite|favorite) (food|dish)[?]|what do I like to eat[?] | -
code | (the|my) (code|pin|alarm code|safe number|door code|wifi password) is {v}[, (keep it in mind|remember it)] | (what('s| is|was) the (code|pin|number|password)|tell me the (code|number))[ again][?]|(what|which) (code|number) do I (type|need)[?]|what was my code again? | -
room | (the meeting|our lesson|my room) is (in|) {v}|we meet in {v} | (which|what) room [is it|do we meet in|was it][?]|where (do we meet|is the meeting)[?] | -
job | I (work as|am) {a}|I earn my living as {a} | what('s| is) my (job|profession)[?]|what do I (do for a living|work as)[?] | -
person | my (boss|teacher|sister|brother|doctor|neighbour|best friend) is (called|named|) {v} | (what('s| is|was) (his|her|the) name|who was that|which name did I (say|mention))[?]|(who is|what's the name of) the (person|one) I (mentioned|told you about)? | -
allergy | I'm allergic to {v}|I (can't|must not) eat {v} | (what am I allergic to|what can't I eat|what must I not eat)[?]|(which|what) food is (bad|dangerous) for me[?] | -
number | I have {v} (cats|children|books|euros|sisters)|there are {v} of us | how many [(was it|are there|did I say)][?]|(what|which) number did I (say|mention)[?] | -"""
PERSONAL = [[c.strip() for c in line.split(" | ")] for line in PERSONAL.split("\n")]
DATED = ["flight", "exam", "party", "dentist", "interview", "wedding", "driving test", "birthday"]
TIMED = ["train", "shift", "lesson", "meeting", "film", "concert", "bus", "course"]
PERSONAL += [[k, f"(my {k} is|I have my {k}) on {{v}}|{k} on {{v}}", f"(when|on (which|what) day) (is|was) (my|the) {k} [again][?]|(which|what) day is the {k} on[?]|tell me the day of my {k}|when do I have my {k}?", "-"] for k in DATED]
PERSONAL += [[k, f"(my|the) {k} (starts|is|begins) at {{v}}|{{v}} is when my {k} (starts|begins)", f"(when|at what time|what time) (does (my|the) {k} (start|begin)|is (my|the) {k}) [again][?]|(what|which) time is the {k}[?]|when do I have to be at the {k}?", "-"] for k in TIMED]
KIND = {**dict.fromkeys(DATED, "day"), **dict.fromkeys(TIMED, "clock"), "home": "city", "work": "city", "origin": "city", "pet": "name", "food": "dish", "code": "_code", "allergy": "_grocery", "number": "count", "person": "name", "job": "job", "name": "name"}


def value(w, key):
    kind = KIND.get(key, key)
    if kind == "_code":
        return w.any(str(w.number(100, 9999)), str(w.number(100, 99999)), w.string() if w.chance(0.3) else f"{w.fresh()}{w.number(1, 99)}")
    if kind == "_grocery":
        return w.any("peanuts", "milk", "nuts", "eggs", "fish", "strawberries", "wheat", "soy", "honey", "shrimp", "tomatoes")
    return worlds.draw(w, kind)[0]


def told(w, key, v):
    """The user says a fact."""
    _, says, _, reply = next(p for p in PERSONAL if p[0] == key)
    text = typed(w, says, v=v, a=lexicon.article(v) if v else "")
    text = w.any("", "", "", "hi, ", "Hello! ", "by the way, ", "just so you know: ", "remember: ") + text + w.any("", ".", "!", "")
    return past(capital(text) if w.chance(0.5) else text, reply.replace("{v}", v) if reply != "-" else w.any(*NOTED).replace("{v}", v))


def recalled(w, most=4):
    """Facts told some turns ago, one of them perhaps corrected, and asked for."""
    keys = w.rng.sample([p[0] for p in PERSONAL], w.any(1, 1, 2, 2, 3, 4, 6))
    values = {k: value(w, k) for k in keys}
    blocks = [told(w, k, values[k]) for k in keys]
    key = w.any(*keys)
    blocks += [filler(w) for _ in range(w.number(0, most if w.chance(0.6) else 9))]
    first, rest = blocks[0], blocks[1:]
    w.rng.shuffle(rest)
    blocks = [first, *rest]
    while w.chance(0.3) and key != "name":
        new = value(w, key)
        if new.lower() != values[key].lower():
            at = max(i for i, b in enumerate(blocks) if values[key].lower() in b[0]["content"].lower()) + 1
            text = w.any("Actually it is {n} now.", "Sorry, it changed: {n}.", "no wait, {n}, not {o}", "They changed it to {n}.", "It is {n} now, no longer {o}.", "correction: {n}", "I was wrong, it's {n}").format(n=new, o=values[key])
            blocks.insert(at, past(text, w.any("Got it, {n}.", "Noted: {n}.", "OK, {n}.").format(n=new)))
            values[key] = new
    question = typed(w, next(p for p in PERSONAL if p[0] == key)[2])
    if w.chance(0.1):
        absent = w.any(*[p for p in PERSONAL if p[0] not in keys and KIND.get(p[0], p[0]) not in [KIND.get(k, k) for k in keys]])
        return [m for b in blocks for m in b] + turn(typed(w, absent[2]), "The user did not say it.", "You have not told me that."), {"equals": "You have not told me that."}
    return [m for b in blocks for m in b] + turn(question, f"The user said it: {values[key]}.", values[key]), {"equals": values[key]}


PLACES = "platform {x}|gate {x}|the north entrance|the harbour|the main station|the bus stop|hall {x}|the old gate"
ALLERGENS = {"nuts": "walnut", "eggs": "egg", "fish": "fish", "milk": "milk", "shrimp": "shrimp", "strawberries": "strawberry", "tomatoes": "tomato", "honey": "honey", "celery": "celery", "mustard": "mustard", "sesame": "sesame", "onions": "onion"}


def appointment(w):
    """A day, a time and a place told at once, perhaps moved twice, and asked for one by one."""
    k = w.any("train", "ferry", "flight", "course", "interview", "concert", "tour", "bus", "match", "rehearsal", "lecture")
    day, time, place = w.any(*lexicon.DAYS), f"{w.number(6, 21)}:{w.any('00', '10', '20', '30', '45')}", w.any(*PLACES.split("|")).format(x=w.number(1, 40))
    at = w.any("from", "at")
    blocks = past(typed(w, "(my|our|the) {k} (leaves|starts|is|begins) on {d} at {t}, {a} {p}|{k}: {d}, {t}, {p}|on {d} at {t} I have my {k}, {a} {p}|I (must|have to) be at {p} on {d} at {t} for my {k}", k=k, d=day, t=time, p=place, a=at), w.any(*NOTED[:7]))
    for _ in range(w.any(0, 0, 1, 1, 2)):
        for _ in range(w.any(0, 1, 1, 2)):
            blocks += filler(w)
        what = w.any("day", "time", "place")
        if what == "day":
            day = w.any(*[d for d in lexicon.DAYS if d != day])
        elif what == "time":
            time = f"{w.number(6, 21)}:{w.any('05', '15', '25', '35', '50')}"
        else:
            place = w.any(*[p for p in PLACES.split("|")]).format(x=w.number(41, 60))
        blocks += past(typed(w, "the {k} (was|has been) moved to {v}|{k}: now {v}|(change|update): the {k} is {v} now|they changed the {k}, it's {v}", k=k, v={"day": day, "time": time, "place": place}[what]), w.any("OK.", "Noted.", "Got it.", "Thanks, noted."))
    for _ in range(w.any(0, 1, 2, 3, 4, 6)):
        blocks += filler(w)
    question, answer = w.any((typed(w, "when is (my|the) {k} [again][?]|when do I have to be there for the {k}[?]|day and time of the {k}[?]", k=k), f"On {day} at {time}"), (typed(w, "(at|) what time is (my|the) {k}[?]|time of the {k}[ again][?]|how early is the {k}[?]", k=k), f"At {time}"), (typed(w, "(which|what) day is (my|the) {k}[?]|on which day do I have the {k}[?]", k=k), f"On {day}"),
                             (typed(w, "where (is|do I have to go for) (my|the) {k}[?]|(which|what) place was it for the {k}[?]|where must I be for the {k}[?]", k=k), capital(place)))
    return blocks + turn(question, f"The last that was said of the {k}: {day}, {time}, {place}.", answer), {"contains": [answer.split()[-1]]}


def spending(w):
    """Money that gets less, and more, over several turns."""
    left = w.number(20, 200) * 5
    coin = w.any("euros", "dollars", "pounds")
    name = w.any("budget", "savings", "money for the trip", "account", "purse", "pocket money")
    blocks, steps = past(typed(w, "(my|our|the) {n} is {x} {c}|we start with {x} {c}|I have {x} {c} [for the trip|to spend]|{n}: {x} {c}", n=name, x=left, c=coin), w.any(*NOTED[:7])), []
    for _ in range(w.any(1, 1, 2, 2, 3)):
        if w.chance(0.3):
            blocks += filler(w)
        gain = w.chance(0.15)
        k = w.number(1, max(2, left // 2))
        thing = w.any("food", "the hotel", "tickets", "paint", "a present", "fuel", "books", "shoes", "the deposit", "lunch")
        blocks += past(typed(w, "{k} {c} came in|I got {k} {c} back|plus {k} {c}" if gain else "(I|we) (spent|paid) {k} {c} (on|for) {t}|{t} (cost|was) {k} {c}|{k} {c} (went|are gone) for {t}|minus {k} {c} for {t}", k=k, c=coin, t=thing), w.any("OK.", "Noted.", "Got it."))
        steps.append(sums.plus(left, k) if gain else sums.minus(left, k))
        left += k if gain else -k
    for _ in range(w.any(0, 0, 1, 2)):
        blocks += filler(w)
    return blocks + turn(typed(w, "(how much|what) is left [of (it|the money|the {n})][?]|what do (I|we) have left[?]|how much (can I still spend|remains)[?]|what's the {n} now[?]", n=name), " ".join(steps), f"{left} {coin}"), {"number": left}


def applied(w):
    """Something that was said decides about something else."""
    kind = w.any("food", "food", "home", "day", "like")
    if kind == "food":
        bad, other = w.rng.sample(list(ALLERGENS), 2)
        x = w.any(bad, other)
        blocks = past(typed(w, "(I'm|my son is|I am) allergic to {b}|I (must not|can't) eat {b}|{b} make me ill|no {b} for me, (I get ill|allergy)", b=bad), w.any(*NOTED[:7]))
        who = "your son is" if "son" in blocks[0]["content"] else "you are"
        question = typed(w, f"(can|may|should) {'he' if 'son' in blocks[0]['content'] else 'I'} (have|try|order|eat) the {{a}} (soup|salad|pie|sauce|pasta|sandwich)[?]|is the {{a}} (soup|salad|pie|tart) (ok|safe|fine)[?]|what about the {{a}} (curry|cake|omelette)[?]", a=ALLERGENS[x])
        answer = f"No, {who} allergic to {bad}." if x == bad else f"Yes, it is only {bad} that {'he' if 'son' in who else 'you'} must not eat."
        reason = f"{capital(who)} allergic to {bad}; this is {ALLERGENS[x]}."
    elif kind == "home":
        city, other = w.city(), w.city()
        right = w.chance(0.4) or city == other
        blocks = past(typed(w, "(I live|my home is|I'm based) in {c}|I (just|) moved to {c}", c=city), w.any(*NOTED[:7]))
        question, answer, reason = typed(w, "do I live in {c}[?]|is {c} my home[?]|so I live in {c}, (right|correct)?", c=city if right else other), "Yes" if right else f"No, you live in {city}.", f"The user lives in {city}."
    elif kind == "day":
        day, other = w.rng.sample(lexicon.DAYS, 2)
        thing = w.any("dentist", "exam", "choir", "training", "visit of my mother", "piano lesson")
        busy = w.chance(0.5)
        blocks = past(typed(w, "(I have|there is) [my|the] {t} on {d}|{d} is {t} day|my {t} is on {d}", t=thing, d=day), w.any(*NOTED[:7]))
        question = typed(w, "am I free on {x}[?]|(can|could) I (meet|see) a friend on {x}[?]|is {x} free[?]|anything on {x}[?]", x=day if busy else other)
        free = "anything" not in question.lower()
        answer, reason = (f"{'No' if free else 'Yes'}, on {day} you have {'the ' if thing not in ('choir', 'training') else ''}{thing}.".replace("the visit of my", "the visit of your") if busy else f"{'Yes' if free else 'No'}, {other} is free."), f"The user has something on {day} only."
    else:
        liked, hated = w.rng.sample(lexicon.KINDS["dish"], 2)
        x = w.any(liked, hated)
        blocks = past(typed(w, "I love {a} but (hate|can't stand) {b}|{a}: yes. {b}: never|my guests like {a}, not {b}", a=liked, b=hated), w.any(*NOTED[:7]))
        question = typed(w, "(shall|should) (I|we) order {x}[?]|is {x} a good idea[?]|{x} for dinner - good?", x=x)
        answer, reason = (f"Yes, {x} is liked." if x == liked else f"No, {x} is not liked."), f"{liked} is liked, {hated} is not."
        reason = capital(reason)
    for _ in range(w.any(0, 1, 2, 3, 5)):
        blocks += filler(w)
    return blocks + turn(question, reason, answer), {"contains": [answer.split()[0].rstrip(",")]}


def two_things(w):
    """Two things with names; which is which."""
    kinds = w.rng.sample(["dog", "cat", "horse", "parrot", "son", "daughter", "brother", "sister", "boss", "neighbour", "rabbit", "car", "boat", "teacher", "cousin"], 2)
    names = w.first_name(), w.first_name()
    if names[0] == names[1]:
        return two_things(w)
    verb = w.any("is called", "is named", "is")
    if w.chance(0.5):
        text = f"My {kinds[0]} {verb} {names[0]} and my {kinds[1]} {verb} {names[1]}."
        i = w.rng.randrange(2)
        if w.chance(0.5):
            question, answer = typed(w, "(what's|what is) the name of my {k}[?]|(which|who|what) is (my|the) {k} [called|again][?]|(how|what) is my {k} called[?]|which one is the {k} [again][?]", k=kinds[i]), names[i]
        else:
            question, answer = typed(w, "(who|what) is {n}[ again][?]|is {n} my {a} or my {b}[?]|what was {n}?", n=names[i], a=kinds[0], b=kinds[1]), f"your {kinds[i]}"
    else:
        times = sorted(w.rng.sample(range(8, 21), 2))
        order = [0, 1] if w.chance(0.5) else [1, 0]
        what = w.any("a meeting with", "a call with", "lunch with", "an appointment with", "to see")
        text = f"I have {what} {names[order[0]]} at {times[order[0]]}:00 and with {names[order[1]]} at {times[order[1]]}:{w.any('00', '30', '15')}."
        first = w.chance(0.5)
        question = typed(w, "who (am I seeing|do I (see|meet)|is|comes) (first|earlier)[?]|which one is first[?]|who is earlier?" if first else "who (am I seeing|do I (see|meet)|is|comes) (last|later|second)[?]|which one is later[?]|who is second?")
        answer = names[0] if first else names[1]
    blocks = past(text, w.any("Noted.", "OK.", "Understood.", "Nice names.", "All right."))
    for _ in range(w.any(0, 0, 1, 2)):
        blocks += filler(w)
    return blocks + turn(question, f"It was said: {text}", answer), {"equals": answer}


def changed_answer(w):
    """The last answer once more, in another form."""
    kind = w.number(0, 8)
    if kind <= 2:
        items = ordering.words_of(w, w.number(2, 5)) if w.chance(0.75) else [str(n) for n in w.rng.sample(range(1, 60), w.number(3, 5))]
        first = past(w.any(typed(w, "(give me|name|list|tell me) {n} (things|words|items)[, please]", n=lexicon.SMALL[len(items)]), typed(w, "(repeat|say|write|keep) [these]: {l}", l=", ".join(items)), typed(w, "my list: {l}", l=", ".join(items))), ", ".join(items))
        what = w.any("upper", "reverse", "bullets", "numbers", "json", "first", "last", "count", "sorted", "add", "remove", "without", "lines", "title")
        extra = w.noun()
        gone = w.any(*items)
        pattern, answer = {"upper": ("(now|and) in (capitals|capital letters|upper case|all caps)|(make it|put it in) (upper case|capitals)|in capital letters, please|uppercase?", ", ".join(items).upper()), "reverse": ("(other way round|reverse it|backwards|in reverse|from the end)[, please|?]|(now|and) the other way round", ", ".join(items[::-1])),
                           "bullets": ("(as|in) (bullet points|bullets|a bullet list)[, please]|make it a bullet list|with dashes|bullets please", "\n".join("- " + i for i in items)), "numbers": ("(as a numbered list|numbered|with numbers)[, please]|number them|make it a numbered list", "\n".join(f"{i + 1}. {x}" for i, x in enumerate(items))),
                           "json": ("(as|in) (JSON|a JSON array|a JSON list)[, please]|now as JSON|json please", json.dumps(items)), "first": ("(only|just) the first [one][?]|the first one[, please]|what was the first?", items[0]), "last": ("(only|just) the last [one][?]|the last one[, please]|what was the last?", items[-1]), "count": ("how many (are|is) (that|there|it)[?]|count them|how many items?", str(len(items))),
                           "sorted": ("[now] sort (them|it) [alphabetically]|alphabetically[, please]|in alphabetical order", ", ".join(sorted(items, key=str.lower))), "add": (f"(add|and also|plus) {extra}|add {extra} [at the end]|{extra} too", ", ".join([*items, extra])), "remove": (f"(remove|drop|delete|take out|forget) {gone}|without {gone}[, please]", ", ".join(i for i in items if i != gone)),
                           "without": (f"(replace|swap) {gone} (with|for|by) {extra}|{extra} instead of {gone}", ", ".join(extra if i == gone else i for i in items)), "lines": ("(one per line|each on its own line|line by line|one a line)[, please]", "\n".join(items)), "title": ("(capitalize|capitalise) (them|each word)|with capital first letters", ", ".join(i.capitalize() for i in items))}[what]
        if what == "remove" and len(items) < 3:
            return changed_answer(w)
        return first + turn(typed(w, pattern), f"The list was {', '.join(items)}.", answer), {"equals": answer}
    if kind <= 5:
        c = Clause(w)
        t = w.any("past", "present")
        while not c.progressive_fits():
            c = Clause(w)
        before = c.said(t)
        first = past(w.any(typed(w, "(write|give me|say) a [short] sentence[, please]"), typed(w, "(shorten|summarize) this: {x}", x=f"I just wanted to tell you that {before[0].lower() + before[1:]}"), typed(w, "correct this: {x}", x=before.lower().rstrip("."))), before)
        what = w.any("question", "negative", "future", "past", "upper", "exclaim", "lower", "they")
        pattern, answer = {"question": ("(make it|now as|turn it into) a question[, please]|as a question?", c.said(t, question=True)), "negative": ("(make it negative|negate it|now with not|now negative)", c.said(t, negative=True)), "future": ("(now|and) in the future [tense]|future tense?|make it future", c.said("future")), "past": ("(now|and) in the past [tense]|past tense?", c.said("past")),
                           "upper": ("(in|now in) (capitals|capital letters|upper case)|uppercase it|shout it", before.upper()), "exclaim": ("(with|add) (an exclamation mark|!)[, please]|with (three|3) exclamation marks", before.rstrip(".")), "lower": ("(in|now in) (small letters|lower case)|lowercase it", before.lower()), "they": ("(now|and) with they|replace the subject (by|with) they", c.said(t, subject="they"))}[what]
        question = typed(w, pattern)
        if what == "exclaim":
            answer += "!!!" if "three" in question.lower() or "3" in question else "!"
        return first + turn(question, f"The sentence was: {before}", answer), {"equals": answer}
    if kind == 6:
        name, city, language, money, continent = w.any(*facts.COUNTRIES)
        name2, city2, language2, money2, continent2 = w.any(*facts.COUNTRIES)
        i = w.any(1, 1, 2, 4)
        what = {1: "capital", 2: "language", 4: "continent"}[i]
        row, row2 = (name, city, language, money, continent), (name2, city2, language2, money2, continent2)
        return past(typed(w, "(what is|what's) the {x} of {n}[?]|{x} of {n}?", x=what, n=name), row[i]) + turn(typed(w, "and {n}[?]|(what about|how about|and of) {n}[?]|and the {x} of {n}?|{n}?", n=name2, x=what), f"The {what} of {name2}: {row2[i]}.", row2[i]), {"equals": row2[i]}
    if kind == 7:
        x = worlds.World(w, facts=w.number(2, 5))
        text = x.text(w)
        i, j = w.rng.sample(range(len(x.facts)), 2) if len(x.facts) > 1 else (0, 0)
        q1, q2 = x.question(w, w.any(*x.facts[i][5])), x.question(w, w.any(*x.facts[j][5]))
        messages = past(reading.laid_out(w, text, q1), x.facts[i][3])
        if w.chance(0.3) and x.missing:
            return messages + turn(w.any("", "and ", "And ") + x.question(w, w.any(*x.missing)[2]), "The text above does not say it.", reading.NOT_SAID), {"equals": reading.NOT_SAID}
        return messages + turn(w.any("", "", "and ", "ok, and ", "now: ") + q2, reading.evidence(w, x, j), x.facts[j][3]), {"equals": x.facts[j][3]}
    question, _, answer, _ = w.any(sums.story, ordering.comparing, extraction.single, facts.fact, reading.asked, chat.talk)(w)
    again = typed(w, "(what did you (say|answer)|can you repeat that|say that again|repeat [that|it|your answer], please|once more|pardon|sorry, what[ was that]|come again|please repeat)[?]")
    return past(question, answer) + turn(again, "I say it again.", answer), {"equals": answer}


def sums_go_on(w):
    op = w.any("+", "-", "x", "+", "-")
    a, b = sums.operands(w, op)
    result, _ = sums.worked(op, (a, b))
    word = {"+": "plus", "-": "minus", "x": "times"}[op]
    first = past(typed(w, "(what is|what's|) {a} {o} {b}[?]", a=a, o=w.any(word, {"x": "*"}.get(op, op)), b=b), w.any(str(result), f"{a} {op} {b} = {result}.", f"{result}"))
    n = w.number(2, 30)
    kind = w.any("+", "-", "x", "half", "10")
    if kind == "half" and result % 2:
        kind = "x"
    if kind == "-" and n > result:
        n = w.number(0, result)
    if kind == "x":
        n = w.any(2, 3, 10, 5, 2)
    pattern, value_, steps = {"+": (f"(and|now|) plus {n}[?]|add {n} [to that]|and {n} more?", result + n, sums.plus(result, n)), "-": (f"(and|now|) minus {n}[?]|(subtract|take away) {n}|(and|now) take {n} off", result - n, sums.minus(result, n)),
                              "x": (f"(and|now|) times {lexicon.in_words(n)}[?]|multiply (that|it) by {n}|(and|now) {n} times that?" + ("|double (it|that)|twice that?" if n == 2 else ""), result * n, sums.times(result, n)), "half": ("(and|now|) half of (that|it)[?]|halve it|divide (that|it) by two|divided by 2?", result // 2, sums.over(result, 2)), "10": ("(and|now|) plus ten[?]|ten more?|add ten", result + 10, sums.plus(result, 10))}[kind]
    return first + turn(typed(w, pattern), f"It was {result}. {steps}", str(value_)), {"number": value_}


def priced(w):
    """A number from an earlier turn in a sum now."""
    n, m = w.number(2, 60), w.number(2, 12)
    x = w.noun()
    kind = w.number(0, 3)
    if kind == 0:
        first, question, steps, value_ = typed(w, "(a|one) {x} costs {n} euros [each]|{x}s are {n} euros each|tickets cost {n} euros each", x=x, n=n), typed(w, "how much (for|are|do) {m} [of them] [cost][?]|and {m} of them?|what do I pay for {m}[?]", m=m), sums.times(n, m), n * m
    elif kind == 1:
        n += 100
        spent = w.number(5, 90)
        first, question, steps, value_ = typed(w, "(my|the|our) budget is {n} euros|I have {n} euros", n=n), typed(w, "I (spent|paid) {s} [(on|for) the {x}]. (how much|what) is left[?]|if I spend {s}, what's left[?]", s=spent, x=x), sums.minus(n, spent), n - spent
    elif kind == 2:
        a = w.first_name()
        first, question, steps, value_ = f"{a} is {n + 10}. {w.any('Her', 'His')} {w.any('brother', 'sister', 'cousin', 'friend')} {w.any('Tom', 'Kim', 'Alex')} is {m} years {w.any('younger', 'younger')}.", typed(w, "how old is (Tom|Kim|Alex|the (brother|sister|other one))[?]"), sums.minus(n + 10, m), n + 10 - m
        question = typed(w, "how old is {p}[?]|and {p}'s age[?]|what age is {p}?", p=next(p for p in ("Tom", "Kim", "Alex") if p in first))
    else:
        first, question, steps, value_ = typed(w, "I (read|walk|run|save|bake) {n} (pages|km|euros|rolls) a day", n=n), typed(w, "how much is that in {d}[?]|(and|how many) in {d}[?]", d=w.any("a week", "7 days")), sums.times(n, 7), n * 7
    middle = filler(w) if w.chance(0.3) else []
    return past(first, w.any(*NOTED[:7])) + middle + turn(question, steps, str(value_)), {"number": value_}


def wishes(w):
    """A rule for all answers that the user gave before."""
    rule, change = w.any(("one word", None), ("capital letters", str.upper), ("in capitals", str.upper), ("with a dot dot dot at the end", lambda t: t.rstrip(".") + "..."), ("lower case only", str.lower), ("in quotes", lambda t: f'"{t}"'))
    if change is None:
        question, reasoning, answer, _ = w.any(facts.fact, facts.country, ordering.comparing, classify.word_kinds)(w)
        if " " in answer or "\n" in answer:
            return wishes(w)
        first = typed(w, "(reply|answer) with (one word|a single word) [only]|(only|just) one word (answers|per answer)[, please]|from now on one word only")
    else:
        question, reasoning, answer, _ = w.any(facts.fact, facts.country, chat.talk, ordering.comparing)(w)
        answer = change(answer)
        first = typed(w, "(from now on|) (answer|reply|write|always answer) {r}[, please]|{r}[, please] from now on", r=rule if rule.startswith(("in", "with", "lower")) else "in " + rule)
    return past(first, "OK" if change is None else change("OK")) + turn(question, f"{reasoning} I answer as was asked: {rule}.", answer), {"equals": answer}


TASKS = {recalled: 40, appointment: 16, spending: 10, applied: 10, two_things: 12, changed_answer: 34, sums_go_on: 10, priced: 10, wishes: 6}


def acknowledged(w, messages, check):
    """Sometimes cut where the user has only told something: what comes before the last question is not learnt."""
    told_ = [i for i, m in enumerate(messages) if m["role"] == "assistant" and m["content"] in NOTED]
    if not told_ or "number" in check or w.chance(0.85):
        return messages, check
    end = w.any(*told_)
    return messages[:end] + [{"role": "assistant", "content": "Noted.", "reasoning_content": "The user tells me something."}], {"equals": "Noted."}


def dialogue(w):
    return acknowledged(w, *w.rng.choices(list(TASKS), list(TASKS.values()))[0](w))
