"""Texts in which things happen one after the other: things that move, chronicles, talks in which something is settled,
and rules with conditions; and what is asked about them."""

from . import lexicon, scenes, worlds
from .clauses import Clause
from .grammar import capital, listing, say, typed
from .reading import NOT_SAID, finish, laid_out

PLACES = "kitchen|garden|cellar|hall|garage|attic|office|bedroom|library|barn|car|shed|bathroom|balcony|workshop|yard".split("|")
HOLDERS = "drawer|box|cupboard|basket|bag|fridge|safe|chest|bucket|cabinet|suitcase|sink".split("|")
ASIDE = ["It was quiet.", "Nobody noticed.", "The phone rang twice.", "Then it began to rain.", "The clock struck four.", "They had tea.", "A dog barked outside.", "The radio was on."]


def moved(w):
    """Things that are put, carried and given away; where they are, were, and who has them."""
    people = w.first_names(2, 4)
    things = w.rng.sample(worlds.ITEMS, w.number(1, 3))
    spots = [f"the {p}" for p in w.rng.sample(PLACES + HOLDERS, 8)]
    where, trail, sentences = {}, {x: [] for x in things}, []
    for x in things:
        place, who = spots.pop(), w.any(*people)
        sentences.append(w.any(f"{who} put the {x} in {place}.", f"The {x} was in {place}.", f"{who} left the {x} in {place}.", f"At first the {x} lay in {place}."))
        where[x] = place
        trail[x].append((place, who if sentences[-1].startswith(who) else None, sentences[-1]))
    for _ in range(w.number(1, 5)):
        x, who = w.any(*things), w.any(*people)
        if where[x] in people:
            who = where[x]
            other = w.any(*[p for p in people if p != who])
            if w.chance(0.5) or not spots:
                place, text = other, w.any(f"{who} gave the {x} to {other}.", f"{who} handed the {x} to {other}.", f"{other} got the {x} from {who}.")
            else:
                place = spots.pop()
                text = w.any(f"{who} put the {x} in {place}.", f"{who} hid the {x} in {place}.", f"{who} dropped the {x} in {place}.")
        elif w.chance(0.45) and spots:
            place = spots.pop()
            text = w.any(f"{who} moved the {x} to {place}.", f"Then {who} brought the {x} to {place}.", f"{who} took the {x} from {where[x]} to {place}.", f"Later the {x} was carried to {place} by {who}.")
        else:
            place, text = who, w.any(f"{who} took the {x}.", f"{who} picked up the {x}.", f"{who} grabbed the {x} from {where[x]}.")
        where[x] = place
        trail[x].append((place, who, text))
        sentences.append(text)
        if w.chance(0.2):
            sentences.append(w.any(*ASIDE))
    x = w.any(*things)
    steps = trail[x]
    told = " ".join(s[2] for s in steps)
    now = where[x]
    r = w.rng.random()
    if r < 0.6 or len(steps) < 2:
        if now in people:
            question, answer = typed(w, "who has the {x} [now|at the end][?]|where is the {x} [now|at the end|in the end][?]|who ended up with the {x}[?]|in whose hands is the {x}?", x=x), now
            if question.lower().startswith("where"):
                answer = f"{now} has it."
        else:
            question, answer = typed(w, "where is the {x} [now|at the end|in the end][?]|where (can I find|do I have to look for) the {x}[?]|what is the last place of the {x}?|where did the {x} end up[?]", x=x), capital(f"in {now}")
    elif r < 0.75:
        first = steps[0][0]
        question, answer = typed(w, "where was the {x} (at first|in the beginning|first)[?]|where did the {x} start[?]", x=x), capital(f"in {first}")
    elif r < 0.88 and steps[-1][1]:
        question, answer = typed(w, "who (moved|had|touched|handled) the {x} last[?]|who was the last (person |)to (move|handle|touch) the {x}[?]", x=x), steps[-1][1]
    else:
        absent = w.any(*[i for i in worlds.ITEMS if i not in things])
        question, answer, told = typed(w, "where is the {x} [now][?]|who has the {x}[?]", x=absent), NOT_SAID, f"Nothing is said of a {absent}."
    return finish(laid_out(w, w.any(" ", " ", "\n").join(sentences), question), told, answer)


class Chronicle:
    """events: [(time as told or "", subject, clause in the past)]"""

    def __init__(self, w, count=None):
        self.events, seen = [], set()
        count = count or w.number(3, 8)
        style = w.any("clock", "clock", "day", "year", "order", "order", "date")
        times = {"clock": lambda: sorted({f"{w.number(6, 22):02d}:{w.number(0, 59):02d}" for _ in range(count)}), "year": lambda: [str(y) for y in sorted({w.number(1800, 2024) for _ in range(count)})], "day": lambda: [f"{d}" for d in lexicon.DAYS],
                 "date": lambda: [f"{d} {m}" for m in [w.any(*lexicon.MONTHS)] for d in sorted({w.number(1, 30) for _ in range(count)})], "order": lambda: [""] * count}[style]()
        self.style = style
        people = [w.first_name() for _ in range(w.any(2, 3, count, count))]
        tries = 0
        while len(self.events) < min(count, len(times)) and tries < 200:
            tries += 1
            c = Clause(w, "named", w.chance(0.7))
            c.subject = w.any(*people)
            c.tail = c.tail if w.chance(0.5) and not any(t in c.tail for t in ("at ", "on ", "every", "in the morning", "after", "night", "week", "weekends", "noon", "summer", "winter", "spring", "day", "evening")) else ""
            body = c.said("past", end="")
            rest = body[len(c.subject) + 1:]
            if c.verb in seen or not rest or " " not in rest:
                continue
            seen.add(c.verb)
            self.events.append((times[len(self.events)], c.subject, rest, c))

    def sentence(self, w, i):
        t, who, rest, _ = self.events[i]
        said = f"{who} {rest}"
        if self.style == "order":
            last = i == len(self.events) - 1
            return f"{w.any('First', 'First of all,', 'In the beginning') if i == 0 else w.any('Finally', 'In the end', 'At last') if last else w.any('Then', 'After that', 'Next', 'Later', 'A little later')} {said}."
        if self.style == "clock":
            return w.any(f"At {t} {said}.", f"{t}: {said}.", f"{capital(said)} at {t}.", f"[{t}] {said}.")
        if self.style == "year":
            return w.any(f"In {t} {said}.", f"{capital(said)} in {t}.", f"{t}: {said}.")
        return w.any(f"On {t} {said}.", f"{capital(said)} on {t}.", f"{t}: {said}.")

    def when(self, i):
        t = self.events[i][0]
        return {"clock": "at ", "year": "in ", "day": "on ", "date": "on "}[self.style] + t

    def text(self, w):
        parts = [self.sentence(w, i) for i in range(len(self.events))]
        if self.style != "order" and w.chance(0.2):
            w.rng.shuffle(parts)
        return w.any(" ", " ", "\n", "\n").join(p if p.endswith(".") or "\n" else p + "." for p in parts)


def asked_of(w, c):
    """(question, thought, answer) about a chronicle."""
    n = len(c.events)
    said = [f"{who} {rest}" for _, who, rest, _ in c.events]
    i = w.rng.randrange(n)
    t, who, rest, clause = c.events[i]
    base = lexicon.forms(clause.verb)[0]
    what = f"{base} {clause._rest()}"
    options = ["who", "first", "last", "what"] + (["when", "when", "at"] if c.style != "order" else []) + (["after", "before"] if n > 2 else []) + ["order", "none", "count", "earlier"]
    kind = w.any(*options)
    if kind == "who":
        return typed(w, "who {r}[?]|which person {r}[?]|tell me who {r}", r=rest), f"{said[i]}.", who
    if kind == "first":
        return typed(w, "what happened first[?]|what was the first (thing|event)[?]|how did it (start|begin)[?]|which event came first?"), f"First: {said[0]}.", capital(f"{said[0]}.")
    if kind == "last":
        return typed(w, "what happened (last|in the end|at the end)[?]|what was the last (thing|event)[?]|how did it end[?]"), f"Last: {said[-1]}.", capital(f"{said[-1]}.")
    if kind == "when":
        return typed(w, "when did {p} {x}[?]|(what|which) (time|day|date|year) did {p} {x}?" if w.chance(0.5) else "when did {p} {x}[?]", p=who, x=what), f"{said[i]}, {c.when(i)}.", capital(c.when(i))
    if kind == "at":
        return typed(w, "what happened {t}[?]|{t}, what happened[?]|what did somebody do {t}?", t=c.when(i)), f"{t}: {said[i]}.", capital(f"{said[i]}.")
    if kind == "after" and i < n - 1:
        return typed(w, "what happened (after|right after|next after) {p} {r}[?]|{p} {r}. (what came next|and then)[?]", p=who, r=rest), f"{said[i]}. Then: {said[i + 1]}.", capital(f"{said[i + 1]}.")
    if kind == "before" and i > 0:
        return typed(w, "what happened (just |right |)before {p} {r}[?]|what came before {p} {r}?", p=who, r=rest), f"Before that: {said[i - 1]}.", capital(f"{said[i - 1]}.")
    if kind == "order" and n <= 5:
        return typed(w, "list (the events|what happened) in [the right] order|in which order did (things|it) happen[?]|make a [numbered] list of (the events|what happened)"), "One after the other.", "\n".join(f"{k + 1}. {capital(s)}" for k, s in enumerate(said))
    if kind == "count":
        mine = [s for s, e in zip(said, c.events) if e[1] == who]
        return typed(w, "how many (things|of these things) did {p} do[?]|how often is {p} named[?]", p=who), "; ".join(mine) + f": {len(mine)}.", str(len(mine))
    if kind == "earlier":
        j = w.rng.randrange(n)
        if j != i:
            first = min(i, j)
            return typed(w, "what (happened|came) (first|earlier): {a} or {b}[?]|which was (first|earlier), that {a} or that {b}[?]", a=said[i], b=said[j]), f"{said[first]} comes first.", capital(f"{said[first]}.")
    if kind == "none":
        for _ in range(10):
            other = w.first_name()
            if all(other != e[1] for e in c.events):
                return typed(w, "what did {p} do[?]|when did {p} {x}[?]|why did {q} {x}[?]|where was {p}[?]", p=other, q=who, x=what), "That is not told.", NOT_SAID
    mine = [rest for _, p, rest, _ in c.events if p == who]
    return typed(w, "what did {p} do[?]|tell me what {p} did|what (is|was) told of {p}[?]", p=who), f"Of {who}: {'; '.join(mine)}.", f"{who} {listing(mine)}."


def chronicle(w):
    c = Chronicle(w)
    if len(c.events) < 2:
        return chronicle(w)
    question, reasoning, answer = asked_of(w, c)
    return finish(laid_out(w, c.text(w), question), reasoning, answer)


MATTERS = ["the meeting", "dinner", "the film", "our walk", "the trip", "the party", "the game", "the visit", "lunch", "the rehearsal"]


def settled(w):
    """Two or three people talk until a time, place or thing is settled; what was proposed, by whom, and what holds."""
    a, b = w.first_name(), w.first_name()
    if a == b:
        return settled(w)
    kind = w.any("time", "day", "place", "price", "who")
    draw = {"time": lambda: f"{w.number(7, 21)}:{w.any('00', '30', '15')}", "day": lambda: w.any(*lexicon.DAYS), "place": lambda: w.any("the cafe", "the station", "the park", "my house", "the library", "the harbour", "the gym", "the museum", "the bridge", "the school"), "price": lambda: f"{w.number(5, 99)} euros", "who": w.first_name}[kind]
    first = draw()
    second = draw()
    third = draw()
    if len({first, second, third, a, b}) < 5:
        return settled(w)
    what = w.any(*MATTERS) if kind != "price" else f"the {w.any(*worlds.ITEMS)}"
    opening = {"time": w.any("Shall we meet for {m} at {v}?", "How about {v} for {m}?", "Is {v} good for {m}?"), "day": w.any("Is {v} good for {m}?", "Shall we have {m} on {v}?", "What about {v} for {m}?"), "place": w.any("Shall we meet at {v} for {m}?", "{m2}: let's meet at {v}?"), "price": w.any("You can have {m} for {v}.", "I want {v} for {m}."), "who": w.any("Can {v} take care of {m}?", "I asked {v} to organise {m}.")}[kind].format(m=what, v=first, m2=capital(what))
    no = {"time": w.any("That is too early for me. {v}?", "I still work then. Better {v}.", "{v} would be better."), "day": w.any("I am away then. {v}?", "{v} suits me better.", "No, I can only do {v}."), "place": w.any("That is too far. What about {v}?", "I'd rather go to {v}."), "price": w.any("That is too much. {v}?", "I can give you {v}."), "who": w.any("No, let {v} do it.", "{v} has more time.")}[kind]
    lines = [f"{a}: {w.any('Hi! ', '', 'Hello. ', f'{b}, ')}{opening}", f"{b}: {no.format(v=second)}"]
    final, by = second, b
    if w.chance(0.35):
        lines += [f"{a}: {w.any('Hmm, not good for me. Then', 'No. Maybe', 'Let us say')} {third}.", f"{b}: {w.any('OK', 'Fine', 'Good', 'Agreed')}, {third}."]
        final, by = third, a
    else:
        lines += [f"{a}: {w.any('OK', 'Fine', 'All right', 'Good, that works', 'Deal')}{w.any('.', '!', f', {second}.', ' then.')}"]
    if w.chance(0.4):
        lines.append(f"{w.any(a, b)}: {w.any('See you!', 'Bye.', 'I look forward to it.', 'Thanks.')}")
    text = "\n".join(lines)
    noun = {"time": "(at what time|when) is {m}[?]|what time did they agree on[?]|which time holds in the end[?]", "day": "(on which day|when) is {m}[?]|which day did they (choose|agree on)[?]", "place": "where (do|will) they meet[?]|which place did they agree on[?]", "price": "(what|which) price did they agree on[?]|how much is {m} in the end[?]|what will it cost?", "who": "who (takes care of|organises|does) {m} [in the end][?]"}[kind]
    r = w.rng.random()
    if r < 0.55:
        return finish(laid_out(w, text, typed(w, noun, m=what)), f"First {first}, then {second}{f', then {third}' if final == third else ''}; they agree on {final}.", capital(final))
    if r < 0.7:
        v, who = w.any((first, a), (second, b))
        return finish(laid_out(w, text, typed(w, "who (proposed|suggested|named) {v}[?]|whose idea was {v}[?]", v=v)), f"{who} says {v}.", who)
    if r < 0.85:
        return finish(laid_out(w, text, typed(w, "(summarize|summarise|sum up) (this|the) (conversation|chat|talk) [in one sentence]|what did they agree on[?]|what is the (result|outcome)[?]")), f"They agree on {final}.", f"{a} and {b} agree on {final} for {what}." if kind != "price" else f"{a} and {b} agree on {final} for {what}.")
    return finish(laid_out(w, text, typed(w, "what did {p} (propose|suggest) first[?]|{p}'s first (proposal|idea)?", p=a)), f"{a} begins with {first}.", capital(first))


def conditions(w):
    """Prices and rules with conditions, applied to a case."""
    adult, child, low, high = w.number(6, 40), w.number(1, 5), w.number(3, 7), w.number(12, 17)
    senior, limit = w.number(2, adult - 1), w.number(60, 67)
    place = w.any("the pool", "the museum", "the zoo", "the castle", "the cinema", "the ice rink", "the park", "the tower")
    days, hours = w.any(7, 10, 14, 21, 28, 30), w.number(2, 5)
    r = w.rng.random()
    if r < 0.5:
        parts = [f"Adults pay {adult} euros", f"children from {low} to {high} pay {child} euros", f"children under {low} {w.any('are free', 'pay nothing', 'get in free')}", f"people over {limit} pay {senior} euros"]
        text = say(w, "(Entry to|Prices of|Tickets for) {p}:", p=place) + " " + w.any("; ", ", ").join([parts[0][0].lower() + parts[0][1:], *parts[1:]]) + "."
        if w.chance(0.5):
            text = f"{w.any('Welcome to', 'Visit')} {place}! " + ". ".join(capital(p) for p in parts) + "."
        case = w.any("baby", "child", "adult", "senior", "two", "age")
        age = {"baby": w.number(1, low - 1), "child": w.number(low, high), "adult": w.number(20, 55), "senior": w.number(limit + 1, 90)}.get(case)
        pays = {"baby": 0, "child": child, "adult": adult, "senior": senior}.get(case)
        if case in ("two", "age"):
            n, m = w.number(1, 4), w.number(1, 4)
            question = typed(w, "(what|how much) do {n} adults and {m} children (aged|of) {g} pay[?]|{n} adults, {m} kids ({g} years old): total?", n=n if n > 1 else 2, m=m if m > 1 else 2, g=w.number(low, high))
            n, m = max(n, 2), max(m, 2)
            return finish(laid_out(w, text, question), f"{n} x {adult} = {n * adult}. {m} x {child} = {m * child}. {n * adult} + {m * child} = {n * adult + m * child}.", f"{n * adult + m * child} euros", {"number": n * adult + m * child})
        question = typed(w, "(what|how much) does (a person|somebody|a visitor) of {g} pay[?]|I am {g}. (What|how much) do I pay[?]|my (son|daughter|child|cousin) is {g}, what's the price[?]|price for someone aged {g}?|how much is it for someone who is {g} years old[?]", g=age)
        if case in ("adult", "senior") and "my " in question.lower():
            question = typed(w, "how much does a person of {g} pay[?]", g=age)
        answer = f"{pays} euros" if pays else "It is free."
        said = {"baby": f"{age} is under {low}: free.", "child": f"{age} is between {low} and {high}: {child} euros.", "adult": f"{age} is an adult: {adult} euros.", "senior": f"{age} is over {limit}: {senior} euros."}[case]
        return finish(laid_out(w, text, question), said, answer)
    thing = w.any("Books", "Items", "Clothes", "Tools", "Bikes", "Films")
    text = w.any(f"{thing} can be returned within {days} days. After that nothing is paid out. The bill is needed.", f"Returns: {days} days, only with the bill. Later we pay nothing.", f"You have {days} days to bring {thing.lower()} back, if you have the bill.")
    n = w.number(1, 2 * days)
    if n == days:
        n -= 1
    bill = w.chance(0.7)
    ok = n <= days and bill
    has = "I have the bill" if bill else w.any("the bill is gone", "I do not have the bill")
    question = typed(w, "I bought it {n} days ago and {h}. (Do I get a refund|Will you take it back|Is a return possible)[?]|bought {n} days ago, {h}. (refund|return) possible[?]|can something be returned after {n} days if {h}[?]", n=n, h=has)
    why = f"{n} days is {'within' if n <= days else 'more than'} {days} days" + ("" if bill else ", and the bill is missing") + "."
    answer = "Yes, that is possible." if ok else "No, " + (f"{days} days are over." if n > days else "the bill is needed.")
    return finish(laid_out(w, text, question), why, answer, {"contains": [answer.split(",")[0]]})


TASKS = {moved: 26, chronicle: 40, settled: 20, conditions: 14}


def question_of(w):
    """Scenes, or what happens."""
    if w.chance(0.62):
        return scenes.reading_of(w)
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)
