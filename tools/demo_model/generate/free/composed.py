"""Sentences put together of clauses, appositions, reasons, times and orders of events, and what is asked about any part."""

from . import grammar, lexicon, parts, worlds
from .clauses import Clause
from .grammar import capital
from .reading import NOT_SAID, finish, laid_out, tail_kind

ALSO = dict(p.split() for p in "buy purchase|repair mend|fix repair|find discover|visit see|cook prepare|bake make|build construct|close shut|send mail|deliver bring|watch see|help assist|choose pick|finish complete|collect gather|hide conceal|steal take|carry bring|start begin|stay remain|talk speak|meet see|order request".split("|"))
REASONS = ["{m} had asked for it", "{he} was bored", "it was cheap", "nobody else wanted to", "{m} was ill", "it had rained for days", "the old one was broken", "{he} had lost a bet", "there was time", "{m} had forgotten it", "{he} had promised it", "guests were coming", "the doctor had said so", "{he} was tired", "the bus was late", "{m} was away", "it was dark", "{he} missed {m}", "the shop was closed", "everybody did"]
FIRST = "bake buy repair paint clean sell visit call cook read write open build order send check plant".split()
STATES = set("love hate like need want use live know".split())


class Event:
    """One thing that somebody did: its words in the past, as an infinitive, and its parts."""

    def __init__(self, w, subject, verbs):
        while True:
            c = Clause(w, "named")
            kind = tail_kind(c.tail) if c.tail else None
            if c.verb not in verbs and c.verb not in STATES and c.verb not in ALSO.values() and (c.object or c.tail) and (not c.tail or kind) and "her " not in c.object:
                break
        verbs.add(c.verb)
        self.verb, self.object, self.tail, self.kind, self.who = c.verb, c.object, c.tail, kind, subject
        self.base, _, self.past, self.participle, self.ing = lexicon.forms(c.verb)
        self.rest = " ".join(x for x in (self.object, self.tail) if x)

    def did(self):
        return f"{self.past} {self.rest}"

    def questions(self, w):
        """[(pattern, answer)] of its own parts."""
        base, past = self.base, self.past
        if self.verb in ALSO and w.chance(0.35):
            base, _, past, _, _ = lexicon.forms(ALSO[self.verb])
        tail = f" {self.tail}" if self.tail and w.chance(0.4) else ""
        out = [(f"(who|which person) {past} {self.rest if not self.object or w.chance(0.4) else self.object}[?]", self.who)]
        if self.object:
            out += [(f"{'what' if self.object[0].islower() else '(who|whom)'} did {self.who} {base}{tail}[?]", self.object)] * 2
        if self.kind:
            out += [(f"{self.kind.lower()} did {self.who} {base} {self.object}[?]".replace(" [?]", "[?]"), self.tail)] * 2
        return out + [(f"what (did {self.who} do|do we (learn|hear) about {self.who})[?]", capital(f"{self.who} {self.did()}."))]


def tell(w, names, verbs):
    """(sentence, [(question, answer)], [questions it leaves open]) about the next people of `names`."""
    n, he = names.pop(), w.any("he", "she")
    a = Event(w, n, verbs)
    kind = w.any("job", "who", "and", "two", "when", "not", "before", "after", "because", "for", "told", "each", "where", "instead", "age")
    own = a.questions(w)
    left = [f"{x} did {n} {a.base} {a.object}[?]".replace(" [?]", "[?]") for x in ("why", "when", "where", "with whom") if x.capitalize() != a.kind]
    if kind in ("job", "age"):
        job, city, age = w.any(*lexicon.KINDS["job"]), w.city(), str(w.number(18, 90))
        if kind == "age":
            return f"{n}, {w.any(f'who is {age}', f'{age} years old', f'aged {age}')} and from {city}, {a.did()}.", own + [(f"how old is {n}[?]", age), (f"where is {n} from[?]", city), (f"what is {n}'s age?", age)], left
        job = w.any(job, job, f"retired {job}", f"young {job}")
        return f"{n}, {lexicon.article(job)} from {city}, {a.did()}.", own + [(f"what is {n}'s (job|profession)[?]", job), (f"where (is {n} from|does {n} come from)[?]", city), (f"what does {n} do for a living?", job), (f"who is (a|the) {job}[?]", n)], left + [f"how old is {n}[?]"]
    if kind == "who":
        b = Event(w, n, verbs)
        return f"{n}, who {b.did()}, {a.did()}.", own + b.questions(w)[:-1], []
    if kind == "and":
        b = Event(w, n, verbs)
        return f"{n} {a.did()} and {b.did()}.", own[:-1] + b.questions(w)[:-1] + [(f"what two things did {n} do[?]", capital(f"{n} {a.did()} and {b.did()}."))], []
    if kind == "two":
        m = names.pop()
        b = Event(w, m, verbs)
        return f"{n} {a.did()}, {w.any('while', 'and', 'but', 'whereas')} {m} {b.did()}.", own + b.questions(w), left
    if kind in ("when", "where"):
        if kind == "when":
            time = w.any(lambda: f"on {w.any(*lexicon.DAYS)}", lambda: f"in {w.number(1900, 2025)}", lambda: f"at {w.number(6, 22)}:{w.any('00', '15', '30', '45')}", lambda: f"in {w.any(*lexicon.MONTHS)}", lambda: f"on {w.number(1, 28)} {w.any(*lexicon.MONTHS)}", lambda: w.any("last week", "two days ago", "a year ago", "before dawn", "during the holidays"))()
            if a.kind == "When" and a.object:
                a.tail, a.kind, a.rest = "", None, a.object
                own = a.questions(w)
            return f"{capital(time)} {n} {a.did()}.", own + [(f"when did {n} {a.base} {a.object}[?]".replace(" [?]", "[?]"), time)] * 2 + [(f"what happened {time}[?]", capital(f"{n} {a.did()}."))], [x for x in left if not x.startswith("when")]
        place = w.any(f"in {w.city()}", f"near {w.city()}", f"at {w.any(*worlds.VENUES)}".format(n=w.number(1, 40)).replace("at room", "in room"), "on the roof", "behind the station", "in the old barn")
        if a.kind == "Where" or kind == "when" and a.kind == "When":
            return tell(w, [*names, n], verbs)
        return f"{capital(place)} {n} {a.did()}.", own + [(f"where did {n} {a.base} {a.object}[?]".replace(" [?]", "[?]"), place)] * 2, [x for x in left if not x.startswith("where")]
    if kind in ("not", "instead"):
        b = Event(w, n, verbs)
        if kind == "not":
            return f"{n} {a.did()} but did not {b.base} {b.rest}.", own[:-1] + [(f"did {n} {b.base} {b.rest}[?]", "No"), (f"did {n} {a.base} {a.rest}[?]", "Yes"), (f"what did {n} not do[?]", f"{b.base} {b.rest}")], left
        return f"Instead of {b.ing} {b.rest}, {n} {a.did()}.", own + [(f"did {n} {b.base} {b.rest}[?]", f"No, {n} {a.did()}."), (f"what did {n} do instead[?]", capital(f"{n} {a.did()}."))], left
    if kind in ("before", "after"):
        b = Event(w, n, verbs)
        first, second = (b, a) if kind == "before" else (a, b)
        text = f"Before {he} {a.did()}, {n} {b.did()}." if kind == "before" else f"{w.any(f'After {he} had {a.participle} {a.rest}', f'After {a.ing} {a.rest}')}, {n} {b.did()}."
        return text, own[:-1] + b.questions(w)[:-1] + [(f"what did {n} do first[?]", capital(f"{n} {first.did()}.")), (f"what did {n} do (then|next|after that|later)[?]", capital(f"{n} {second.did()}.")), ("(what came first|which was earlier)[?]", capital(f"{n} {first.did()}."))], []
    if kind == "because":
        m = names.pop()
        reason = w.any(*REASONS).format(m=m, he=he)
        text = w.any(f"{n} {a.did()} because {reason}.", f"Because {reason}, {n} {a.did()}.", f"{capital(reason)}, so {n} {a.did()}.", f"{n} {a.did()}. The reason: {reason}.") if reason[:2] not in ("he", "sh") else f"{n} {a.did()} because {reason}."
        return text, own + [(f"why did {n} {a.base} {a.object or a.rest}[?]", f"Because {reason}."), (f"what was the reason [that {n} {a.did()}][?]", f"Because {reason}."), (f"for what reason did {n} do that[?]", f"Because {reason}.")], [x for x in left if not x.startswith("why")]
    if kind == "for":
        b = Event(w, n, verbs)
        return f"{n} {a.did()} {w.any('to', 'to', 'in order to')} {b.base} {b.rest}.", own[:-1] + [(f"(why|what for|for what) did {n} {a.base} {a.object or a.rest}[?]", f"to {b.base} {b.rest}"), (f"what (was|is) the (aim|purpose|plan) of {n}[?]", f"to {b.base} {b.rest}")], [x for x in left if not x.startswith("why")]
    if kind == "told":
        m, p = names.pop(), names.pop()
        verb = w.any("told", "wrote to", "reminded", "explained to")
        a.who = p
        return f"{n} {verb} {m} that {p} had {a.participle} {a.rest}.", a.questions(w) + [(f"who (told|wrote to|reminded|informed) {m}[?]", n), (f"whom did {n} (tell|inform)[?]", m), (f"who heard it from {n}?", m), (f"what did {n} (tell|say to) {m}[?]", capital(f"{p} had {a.participle} {a.rest}."))], []
    m, p = names.pop(), names.pop()
    verb = w.any(*[v for v in FIRST if v not in verbs] or FIRST)
    verbs.add(verb)
    base, _, past, _, _ = lexicon.forms(verb)
    objects = [o for o in lexicon.ACTIONS[verb][0] if "{" not in o and "her" not in o.split()]
    objects += [lexicon.article(w.noun()) for _ in range(3)]
    x, y, z = w.rng.sample(objects, 3)
    return f"{n} {past} {x}, {m} {y} and {p} {z}.", [(f"what did {who} {base}[?]", o) for who, o in ((n, x), (m, y), (p, z))] * 2 + [(f"who {past} {o}[?]", who) for who, o in ((n, x), (m, y), (p, z))], []


def text_of(w, most=6):
    """[(sentence, questions, questions left open)] with people and verbs of their own."""
    names, verbs, out = w.first_names(24, 24), set(), []
    for _ in range(w.any(1, 2, 2, 3, 3, 4, 5, most)):
        sentence, questions, left = tell(w, names, verbs)
        out.append((worlds.ARTICLE.sub(r"\1n \2", capital(sentence)), questions, left))
    return out


def ask(w, pattern):
    text = grammar.form(w, pattern)
    if w.chance(0.35):
        text = text.rstrip("?")
    return capital(text) if w.chance(0.55) else text


def question_of(w):
    told = text_of(w)
    sentence, questions, left = w.any(*told)
    text = w.any(" ", " ", " ", "\n").join(t[0] for t in told)
    if left and w.chance(0.13):
        return finish(laid_out(w, text, ask(w, w.any(*left))), "The text says nothing about that.", NOT_SAID)
    pattern, answer = w.any(*questions)
    if len(told) > 1 and pattern.startswith(("(what came first", "what was the reason [", "what happened")):
        pattern, answer = questions[0]
    if len(questions) > 2 and w.chance(0.08):
        second = w.any(*questions)
        if second[0] != pattern and not {answer[-1], second[1][-1]} & set(".?") and second[1] != answer:
            question = ask(w, pattern).rstrip("?") + w.any(" and ", "? And ", ", and ") + grammar.form(w, second[0])
            return finish(laid_out(w, text, question), f"The text says: {sentence}", f"{answer} and {second[1]}")
    pattern = grammar.form(w, pattern)
    note = parts.noted(w, sentence, (pattern, answer), [(grammar.form(w, q), a) for q, a in questions if a != answer])
    return finish(laid_out(w, text, ask(w, pattern)), f"The text says: {sentence}{note}", answer)
