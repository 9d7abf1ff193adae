"""Word problems put together of sentences: who has how much, what happens to it, what does not matter, and a question that
fits; one to four steps."""

from . import everyday, lexicon, spans, sums
from .grammar import capital, form, listing, typed
from .reading import finish

# verbs in the present and past; what follows the thing
GAINS = [("gets", "got", ["from {m}", "for {his} birthday", "as a present", ""]), ("finds", "found", ["in the attic", "on the beach", "under the bed", ""]), ("buys", "bought", ["at the market", "in {c}", ""]), ("receives", "received", ["from {m}", "by post", ""]), ("wins", "won", ["at the fair", "in a game", ""]), ("collects", "collected", ["in the afternoon", "with {m}", ""]),
         ("picks up", "picked up", ["on the way", ""]), ("is given", "was given", ["by {m}", "by a neighbour", ""]), ("borrows", "borrowed", ["from {m}", ""]), ("adds", "added", ["the next day", ""]), ("orders", "ordered", ["online", ""]), ("makes", "made", ["in the evening", ""]), ("takes", "took", ["from the shelf", ""])]
LOSSES = [("loses", "lost", ["on the bus", "in a game", ""]), ("gives away", "gave away", ["", "at school"]), ("sells", "sold", ["to {m}", "at the market", ""]), ("drops", "dropped", ["on the way", ""]), ("throws away", "threw away", [""]), ("lends", "lent", ["to {m}"]), ("uses", "used", ["for a project", "up", ""]), ("donates", "donated", ["to the school", ""]), ("forgets", "forgot", ["on the train", "at home"]),
          ("hands", "handed", ["to {m}", "to a child"]), ("breaks", "broke", [""]), ("leaves", "left", ["at {m}'s place", "in {c}"]), ("returns", "returned", ["to the shop", ""])]
ASIDE = ["{He} is {k} years old.", "The shop is {k} kilometres away.", "It is {k} degrees outside.", "The bus leaves at {k}.", "{m} is {k} years old.", "{He} lives at number {k}.", "The weather is fine.", "{m} watches.", "It is a long day."]
PRICED = "ticket|ice cream|pen|coffee|sandwich|book|poster|lamp|plant|cap|pizza|ride|postcard|lemon|cake|rose|notebook|melon|toy|candle".split("|")


def number(w, n, words=0.25):
    return lexicon.in_words(n) if n < 100 and w.chance(words) else str(n)


class Story:
    def __init__(self, w):
        self.w = w
        self.he = w.any("he", "she")
        self.n, self.m = w.first_name(), w.first_name()
        self.past = w.chance(0.6)
        self.t = sums.things(w)
        self.slots = {"n": self.n, "m": self.m, "he": self.he, "He": capital(self.he), "his": {"he": "his", "she": "her"}[self.he], "c": w.city()}

    def verb(self, triple):
        return triple[1 if self.past else 0]

    def has(self):
        return "had" if self.past else "has"

    def aside(self):
        return self.w.any(*ASIDE).format_map({**self.slots, "k": self.w.number(2, 80)})


def changes(w):
    """Something is had, more comes, some goes."""
    s = Story(w)
    big = w.chance(0.3)
    amount = w.number(20, 400) if big else w.number(2, 60)
    sentences = [form(w, w.any("{n} {has} {a} {t}.", "There are {a} {t} on {n}'s table.", "{n} starts with {a} {t}.", "In the morning {n} {has} {a} {t}.", "{n} owns {a} {t}.", "{n}'s box holds {a} {t}.")).format_map({**s.slots, "has": s.has(), "a": number(w, amount), "t": s.t})]
    steps, now = [], amount
    for i in range(w.any(1, 1, 2, 2, 3)):
        gain = now < 3 or w.chance(0.5)
        k = w.number(1, 99 if big else 30) if gain else w.number(1, now - 1)
        verb = w.any(*(GAINS if gain else LOSSES))
        noun = w.any(s.t, "of them", "") if not gain else w.any(s.t, "more", f"more {s.t}")
        who = w.any(s.n, capital(s.he), f"Then {s.he}", f"Later {s.he}", f"After that {s.he}")
        sentences.append(f"{who} {s.verb(verb)} {number(w, k)} {noun} {w.any(*verb[2])}".format_map(s.slots).replace("  ", " ").strip() + ".")
        steps.append(sums.plus(now, k) if gain else sums.minus(now, k))
        now += k if gain else -k
    if w.chance(0.25):
        sentences.insert(w.number(0, len(sentences)), s.aside())
    question = typed(w, "how many {t} does {n} have (now|in the end|then)[?]|how many [{t}] are (left|there now)[?]|how many does {he} have (now|in the end)[?]|what is the number of {t} now[?]|(with|and) how many {t} does {n} end up[?]", t=s.t, n=s.n, he=s.he)
    return finish(w.any(" ", " ", "\n").join(sentences) + " " + question, " ".join(steps), str(now), {"number": now})


def shopping(w):
    """Prices and pieces; the sum, the change, how many one can buy."""
    s = Story(w)
    goods = w.rng.sample(PRICED, w.number(1, 3))
    prices = [w.number(2, 12) for _ in goods]
    pieces = [w.any(1, w.number(2, 9)) for _ in goods]
    money = w.any("euros", "dollars", "pounds", "coins")
    priced = w.any(lambda: "; ".join(f"a {g} costs {p} {money}" for g, p in zip(goods, prices)), lambda: ". ".join(f"{capital(lexicon.article(g))} is {p} {money}" for g, p in zip(goods, prices)), lambda: ", ".join(f"{lexicon.plural(g)} {p} {money} each" for g, p in zip(goods, prices)))()
    bought = listing([f"{number(w, c)} {g if c == 1 else lexicon.plural(g)}" for g, c in zip(goods, pieces)])
    parts = [p * c for p, c in zip(prices, pieces)]
    total = sum(parts)
    steps = [f"{c} x {p} = {c * p}." for p, c in zip(prices, pieces)]
    so_far = parts[0]
    for x in parts[1:]:
        steps.append(sums.plus(so_far, x))
        so_far += x
    r = w.rng.random()
    verb = "bought" if s.past else w.any("buys", "takes", "orders")
    told = f"{capital(priced)}. {s.n} {verb} {bought}."
    if w.chance(0.2):
        told = f"{s.n} {verb} {bought}. {capital(priced)}."
    if w.chance(0.2):
        told += " " + s.aside()
    if r < 0.5:
        question = typed(w, f"(how much (is that|does {{he}} pay|do they cost)|what (is the total|does {{he}} pay|does it cost)) [in all|altogether|together][?]|total[?]|how many {money} is that[?]", he=s.he)
        return finish(f"{told} {question}", " ".join(steps), f"{total} {money}" if w.chance(0.3) else str(total), {"number": total})
    if r < 0.8:
        paid = total + w.number(1, 40) if w.chance(0.5) else (total // 10 + 1) * 10
        question = typed(w, f"{{He}} pays with {{p}} {money}. How much (change does {{he}} get|does {{he}} get back)[?]|{{n}} has {{p}} {money}. (How much|What) is left[?]|{{he}} gives {{p}} {money}. change?", he=s.he, He=capital(s.he), n=s.n, p=paid)
        return finish(f"{told} {question}", " ".join(steps) + " " + sums.minus(paid, total), str(paid - total), {"number": paid - total})
    g, p = goods[0], prices[0]
    p = max(p, 2)
    k = w.number(2, 12)
    has = p * k
    question = f"{capital(lexicon.article(g))} costs {p} {money} and {s.n} {s.has()} {has} {money}. " + typed(w, "how many {g} (can {he} buy|does {he} get)[?]|(for|to) how many {g} is that enough[?]", g=lexicon.plural(g), he=s.he)
    return finish(question, sums.over(has, p), str(k), {"number": k})


def compared(w):
    """One has more, fewer or so many times as many as another."""
    s = Story(w)
    a, d = w.number(2, 60), w.number(2, 30)
    kind = w.any("more", "fewer", "times", "half", "older", "younger")
    if kind == "fewer" and d >= a:
        a, d = d + 1, a
    if kind in ("times", "half"):
        d = w.number(2, 6)
    if kind == "half":
        a = 2 * w.number(1, 40)
    if kind == "younger":
        a, d = w.number(20, 80), w.number(1, 19)
    noun = s.t
    b, said, step = {"more": (a + d, f"{{m}} has {d} more than {{n}}", sums.plus(a, d)), "fewer": (a - d, f"{{m}} has {d} {w.any('fewer', 'less')} [than {{n}}]".replace("[", "").replace("]", ""), sums.minus(a, d)), "times": (a * d, "{m} has " + w.any(f"{d} times as many", "twice as many" if d == 2 else f"{lexicon.in_words(d)} times as many"), sums.times(a, d)), "half": (a // 2, "{m} has half as many", sums.over(a, 2)),
                     "older": (a + d, f"{{m}} is {d} years older", sums.plus(a, d)), "younger": (a - d, f"{{m}} is {d} years younger", sums.minus(a, d))}[kind]
    ages = kind in ("older", "younger")
    told = (f"{s.n} is {a} {w.any('years old', '')}".strip() if ages else f"{s.n} has {number(w, a)} {noun}") + w.any(". ", " and ", ", ") + said.format_map(s.slots)
    told = told.replace(". " + s.m, ". " + s.m) + "."
    together = not ages and w.chance(0.4)
    if together:
        question = typed(w, "how many {t} do they have (together|in all|altogether)[?]|how many (is that|are there) (together|in all)[?]", t=noun)
        return finish(f"{told} {question}", f"{s.m}: {step} {sums.plus(a, b)}", str(a + b), {"number": a + b})
    question = typed(w, "how old is {m}[?]|{m}'s age?|what age is {m}[?]" if ages else "how many {t} does {m} have[?]|how many has {m}[?]|{m}'s {t}: how many?", m=s.m, t=noun)
    return finish(f"{told} {question}", step, str(b), {"number": b})


def shared_out(w):
    """Groups of the same size, what is left over, and how many groups are needed."""
    s = Story(w)
    size, groups = w.number(2, 12), w.number(2, 12)
    rest = w.any(0, 0, w.number(1, size - 1))
    total = size * groups + rest
    group = w.any("box", "bag", "basket", "crate", "drawer", "jar", "case", "sack")
    plural = lexicon.plural(group) if group != "box" else "boxes"
    verb = w.any(f"puts {number(w, size)} {s.t} into each {group}", f"needs one {group} for every {number(w, size)} {s.t}", f"packs them in {plural} of {number(w, size)}")
    told = f"{s.n} {s.has()} {total} {s.t} and {verb}."
    if rest == 0:
        question = typed(w, "how many {g} (are needed|does {he} need|are there|get full)[?]|number of {g}?", g=plural, he=s.he)
        return finish(f"{told} {question}", sums.over(total, size), str(groups), {"number": groups})
    step = f"{size} x {groups} = {size * groups}, {total} - {size * groups} = {rest}."
    if w.chance(0.6):
        question = typed(w, "how many {t} are left over[?]|how many remain[?]|what is left (over|at the end)[?]", t=s.t)
        return finish(f"{told} {question}", step, str(rest), {"number": rest})
    question = typed(w, "how many {g} are full[?]|how many full {g} (are there|does {he} get)[?]", g=plural, he=s.he)
    return finish(f"{told} {question}", step, str(groups), {"number": groups})


def rates(w):
    """So much in an hour, a day, a week."""
    s = Story(w)
    rate, times = w.number(2, 30), w.number(2, 12)
    unit, what = w.any(("hour", "pages"), ("day", "kilometres"), ("minute", "metres"), ("week", "euros"), ("month", "books"), ("hour", "parts"), ("day", "eggs"), ("minute", "litres"), ("hour", "letters"), ("day", "glasses of water"))
    verb = {"pages": "reads", "kilometres": "walks", "metres": "swims", "euros": "saves", "books": "reads", "parts": "makes", "eggs": "collects", "litres": "pumps", "letters": "writes", "glasses of water": "drinks"}[what]
    total = rate * times
    r = w.rng.random()
    per = w.any(f"{number(w, rate)} {what} {w.any('an', 'every', 'per') if unit == 'hour' else w.any('a', 'every', 'per', 'each')} {unit}")
    if r < 0.45:
        question = f"{s.n} {verb} {per}. " + typed(w, "how many {x} (is that|are that) in {k} {u}s[?]|how many {x} after {k} {u}s[?]|in {k} {u}s that makes how many[?]", x=what, k=number(w, times), u=unit)
        return finish(question, sums.times(rate, times), str(total), {"number": total})
    if r < 0.8:
        question = f"{s.n} {verb} {per}. " + typed(w, "how (long|many {u}s) does {he} need for {t} {x}[?]|how many {u}s (until|for) {t} {x}[?]|when are {t} {x} reached, after how many {u}s[?]", u=unit, he=s.he, t=total, x=what)
        return finish(question, sums.over(total, rate), str(times), {"number": times})
    question = f"In {times} {unit}s {s.n} {verb} {total} {what}. " + typed(w, "how many {x} (per|an|in one) {u}[?]|how many is that (per|in one) {u}[?]", x=what, u=unit)
    return finish(question, sums.over(total, times), str(rate), {"number": rate})


def missing(w):
    """What was there before, or what must come."""
    s = Story(w)
    a, b = w.number(2, 60), w.number(2, 40)
    kind = w.any("before loss", "before gain", "need", "both")
    if kind == "before loss":
        question = f"{s.n} {w.any('gave away', 'sold', 'lost', 'ate')} {b} {s.t} and {w.any('has', 'now has')} {a} left. " + typed(w, "how many (did {he} have|were there) (before|at first|in the beginning)[?]", he=s.he)
        return finish(question, sums.plus(a, b), str(a + b), {"number": a + b})
    if kind == "before gain":
        question = f"{s.n} {w.any('got', 'bought', 'found')} {b} {s.t} and now has {a + b}. " + typed(w, "how many (did {he} have|were there) (before|at first)[?]", he=s.he)
        return finish(question, sums.minus(a + b, b), str(a), {"number": a})
    if kind == "need":
        question = f"{s.n} needs {a + b} {s.t} and has {b}. " + typed(w, "how many (more does {he} need|are missing|are still missing)[?]", he=s.he)
        return finish(question, sums.minus(a + b, b), str(a), {"number": a})
    question = f"{s.n} and {s.m} have {a + b} {s.t} together. {b} belong to {s.m}. " + typed(w, "how many (belong to|are of|has) {n}[?]", n=s.n)
    return finish(question, sums.minus(a + b, b), str(a), {"number": a})


def rest_of_whole(w):
    """Several parts of a whole that is named before or after them; what is still missing."""
    s = Story(w)
    thing, verb, whole, left = w.any(("kilometres", "cycles", "The tour is", "still to go"), ("euros", "saves", "The bike costs", "still missing"), ("rows", "knits", "The scarf needs", "still to do"), ("songs", "learns", "The concert has", "still to learn"), ("trees", "plants", "The plan says", "still to plant"), ("tiles", "lays", "The floor takes", "still to lay"), ("boxes", "packs", "There are", "still unpacked"))
    parts = [w.number(2, 60) for _ in range(w.any(2, 2, 3, 3, 4))]
    rest = w.number(1, 90)
    total = sum(parts) + rest
    days = w.rng.sample(lexicon.DAYS, len(parts))
    told = f"{s.n} {verb} {parts[0]} {thing} on {days[0]}, " + listing([f"{k} on {d}" for k, d in zip(parts[1:], days[1:])]) + "."
    of_all = f"{whole} {total} {thing}."
    told = w.any(f"{told} {of_all}", f"{of_all} {told}")
    question = typed(w, "how many {t} are {l}[?]|(what|how much) is {l}[?]|how many {t} (remain|are left) [to the end][?]", t=thing, l=left)
    steps, so_far = [], parts[0]
    for k in parts[1:]:
        steps.append(sums.plus(so_far, k))
        so_far += k
    return finish(f"{told} {question}", " ".join(steps) + " " + sums.minus(total, so_far), str(rest), {"number": rest})


def reduced(w):
    """A price with a discount or a rise in percent."""
    p = w.any(5, 10, 10, 20, 20, 25, 25, 30, 40, 50, 50, 60, 75)
    base = w.number(1, 30) * 20
    part = p * base // 100
    up = w.chance(0.2)
    now = base + part if up else base - part
    x = w.any(*PRICED, "jacket", "bike", "sofa", "tent", "coat", "camera", "chair")
    money = w.any("euros", "dollars", "pounds")
    sign = w.any("percent", "%", " percent").strip()
    told = typed(w, f"(the rent of {{b}} {{m}}|a fee of {{b}} {{m}}|the ticket of {{b}} {{m}}) (rises|goes up) by {{p}} {sign}." if up else f"a {{x}} (normally|usually) (costs|is|sells for) {{b}} {{m}}; (in the sale|today|for members) it is {{p}} {sign} (cheaper|less).|{{x}}: {{b}} {{m}}, (minus|reduced by|discount) {{p}} {sign}.|(with my card|as a student) I get {{p}} {sign} off a {{x}} of {{b}} {{m}}.|the price of a {{x}}, {{b}} {{m}}, is cut by {{p}} {sign}.", x=x, b=base, m=money, p=p)
    tenth = {10: f"10 % of {base} is {part}.", 50: f"Half of {base} is {part}.", 25: f"A quarter of {base} is {part}.", 20: f"A fifth of {base} is {part}.", 5: f"10 % is {base // 10}, half of that {part}."}.get(p, f"10 % is {base // 10}; {p} % is {part}.")
    if w.chance(0.25):
        question = typed(w, "how much (is saved|do I save|cheaper is it)[?]|(what is|how big is) the discount [in {m}][?]" if not up else "how much more is that[?]|by how many {m} does it rise[?]", m=money)
        return finish(f"{told} {question}", tenth, f"{part} {money}", {"number": part})
    question = typed(w, "(what|how much) (do I pay|is it now|does it cost now|is the new price)[?]|new price[?]|what is left to pay[?]|price now[?]")
    return finish(f"{told} {question}", f"{tenth} {sums.plus(base, part) if up else sums.minus(base, part)}", f"{now} {money}", {"number": now})


def one_of_them(w):
    """What one costs, which need not be a whole number, and from there what others cost."""
    cents = w.any(25, 50, 50, 75, 125, 150, 150, 250, 225, 350)
    n = w.any(2, 4, 4, 6, 8, 10, 12)
    while cents * n % 100:
        n *= 2
    total = cents * n // 100
    one = f"{cents // 100}.{cents % 100:02d}".rstrip("0")
    x = lexicon.plural(w.any(*PRICED))
    money = w.any("euros", "dollars", "pounds")
    told = typed(w, "{n} {x} (are|cost|come to|sell for) {t} {m}.|(a pack|a bag|a box) of {n} {x} (is|costs) {t} {m}.|I paid {t} {m} for {n} {x}.|for {t} {m} (you get|they give) {n} {x}.", n=n, x=x, t=total, m=money)
    step = f"{total} / {n}: {total * 100} cents / {n} = {cents} cents, that is {one}."
    return finish(f"{told} " + typed(w, "(what|how much) is (one|a single one|each)[?]|(price|cost) of a single one[?]|how much (for|does) one [cost][?]|and one [alone][?]"), step, f"{one} {money}" if w.chance(0.5) else one)


def ages(w):
    s = Story(w)
    a, k, d = w.number(3, 45), w.any(2, 2, 3), w.number(2, 20)
    older = k * a
    said = w.any(f"{s.m} is {w.any('twice', 'two times') if k == 2 else 'three times'} as old", f"{s.m} is {'double' if k == 2 else 'three times'} that age")
    told = f"{s.n} is {a}{w.any(' years old', '')}. {said}."
    kind = w.any("age", "later", "sum", "difference")
    first = sums.times(a, k)
    question, steps, value = {"age": (typed(w, "how old is {m}[?]|{m}'s age?", m=s.m), first, older), "later": (typed(w, "how old will {m} be in {d} years[?]|{m}'s age in {d} years?", m=s.m, d=d), f"{first} {sums.plus(older, d)}", older + d),
                              "sum": (typed(w, "how old are they (together|in all)[?]|their ages added up?"), f"{first} {sums.plus(a, older)}", a + older), "difference": (typed(w, "how many years (older is {m}|lie between them)[?]|what is the difference (in|of) [their] age[s][?]", m=s.m), f"{first} {sums.minus(older, a)}", older - a)}[kind]
    return finish(f"{told} {question}", f"{s.m}: {steps}", str(value), {"number": value})


def fractions(w):
    """A part of all of them, and the others."""
    part, k = w.any(("half", 2), ("a third", 3), ("a quarter", 4), ("a fifth", 5), ("one in ten", 10))
    n = k * w.number(2, 30)
    thing, of = w.any(("sheep", "are black"), ("guests", "come from abroad"), ("seats", "are taken"), ("eggs", "are brown"), ("books", "are novels"), ("pupils", "walk to school"), ("houses", "have a garden"), ("days", "were rainy"), ("workers", "are on holiday"))
    told = f"There are {number(w, n)} {thing}, {part} of them {of}." if part != "one in ten" else f"Of {n} {thing} {part} {of.replace('are ', 'is ').replace('were ', 'was ').replace('have ', 'has ').replace('come ', 'comes ').replace('walk ', 'walks ')}."
    if w.chance(0.5):
        return finish(told + " " + typed(w, f"how many {of}[?]|how many is that[?]"), sums.over(n, k), str(n // k), {"number": n // k})
    return finish(told + " " + typed(w, "how many (are the others|others are there|are not)[?]|the rest is how many[?]|and how many not[?]"), f"{sums.over(n, k)} {sums.minus(n, n // k)}", str(n - n // k), {"number": n - n // k})


TASKS = {everyday.question_of: 170, spans.question_of: 60, rest_of_whole: 12, reduced: 12, one_of_them: 7, ages: 7, fractions: 7, changes: 30, shopping: 22, compared: 18, shared_out: 10, rates: 12, missing: 10}


def question_of(w):
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)
