"""Texts about small worlds, with the facts that they tell and those that they leave out."""

import re

from . import grammar, lexicon
from .grammar import capital, say
from .tables.worlds import WORLDS


def _parse():
    out, facts = {}, None
    for line in WORLDS.strip().split("\n"):
        if line.startswith("@"):
            facts = out.setdefault(line[1:], [])
        else:
            key, kind, sentences, questions = _cells(line)
            facts.append((key.rstrip("!"), kind, [s for s in sentences if s != "-"], questions, key.endswith("!")))
    return out


def _cells(line):
    """Cells are cut by " | ", which no pattern contains."""
    key, kind, sentences, questions = (x.strip() for x in line.split(" | ", 3))
    return key, kind, [x.strip() for x in sentences.split(" ; ")], [x.strip() for x in questions.split(" ; ")]


WORLD = _parse()
ARTICLE = re.compile(r"\b([Aa]) ([aeio])")
GOODS = "bread|flowers|old books|shoes|toys|cheese|bicycles|fresh fish|hats|tea|wine|lamps|records|tools|sweets|furniture|stamps|honey|clocks|pottery|soap|guitars|carpets|umbrellas|jewellery|candles|ice cream|apples|cider|glass|wool|knives".split("|")
EVENT_KINDS = "concert|street festival|book fair|flea market|charity run|film night|chess tournament|science fair|wine tasting|summer party|poetry reading|craft market|school play|dance evening|quiz night|garden show|bike race|cooking course".split("|")
VENUES = "the town hall|the old mill|the city park|the school gym|the library|the church|the market square|the castle garden|the harbour|the community centre|the fire station|the museum|room {n}|the big hall|the cafe next door|the theatre|the sports hall|the boat house".split("|")
HOTELS = "the Hotel {N}|the {N} Inn|a small guest house|the youth hostel|a campsite by the lake|the {N} Hotel|a room above a bakery|a friend's flat|a farm outside the town".split("|")
SIGHTS = "the old castle|the harbour|the cathedral|a museum of clocks|the zoo|the botanical garden|the market|the lighthouse|the city wall|a chocolate factory|the opera|the aquarium|a waterfall|the royal palace|the science museum|the bridge".split("|")
PROJECTS = "a new website|an app for farmers|a small robot|the payment system|a search engine|a game for children|the annual report|a map of the town|a tool for doctors|the new cinema|a film about bees|an online shop|a weather station|a solar car|a timetable app|the archive".split("|")
PROBLEMS = "a lack of time|old computers|the missing data|slow tests|the noise in the office|bad internet|a broken server|unclear wishes|the high rent|too many meetings|a lack of money|the old code".split("|")
MATERIALS = "wood|stone|brick|steel|glass|concrete|plastic|aluminium|clay|leather|marble|iron|bamboo|copper".split("|")
GROUPS = "beginners|children|photographers|hikers|old people|students|travellers|musicians|gamers|small offices|cooks|runners".split("|")
DIETS = "grass and leaves|small fish|insects|fruit and nuts|mice|seeds|worms|algae|berries|honey|crabs and snails|roots|frogs|bark".split("|")
HABITATS = "dense forests|the desert|cold rivers|high mountains|the open sea|wet meadows|deep lakes|caves|old gardens|the savanna|swamps|the polar ice|coral reefs|hollow trees".split("|")
TOPICS = "the new chairs|our summer trip|the broken printer|the budget|the birthday party|the test results|the keys of the flat|next week's visit|the website|the rent|the holiday plan|the concert tickets|the job interview|the school play|the leaking roof|the lost parcel".split("|")
REASONS = "the rain|the holidays|a strike|the new boss|the high costs|a mistake in the plan|the heavy snow|an illness|the construction work|a power cut|the late delivery|the storm".split("|")
ITEMS = "camera|umbrella|blue folder|jacket|map|charger|contract|notebook|cake|torch|blanket|chair|pen|towel|passport|scarf|ladder|key card|wallet|hat|vase|mug|carpet|wooden box|silver ring|red bag|poster|music box".split("|")
HOBBIES = "chess|hiking|painting|gardening|photography|fishing|dancing|knitting|climbing|cooking|collecting stamps|sailing|reading old novels|swimming|bird watching|baking|running|woodwork|yoga|surfing|pottery|cycling".split("|")


def number_word(w, n):
    return lexicon.in_words(n) if n < 100 and w.chance(0.5) else str(n)


def draw(w, kind):
    """(value as it stands in the text, the short answer)"""
    one = {"job": lambda: w.any(*lexicon.KINDS["job"]), "city": w.city, "age": lambda: str(w.number(3, 97)), "petnamed": lambda: w.any("{a} called {n}", "{a} named {n}", "{a}").format(a=w.any(*lexicon.KINDS["animal"][:24]), n=w.first_name()),
           "instrument": lambda: w.any(*lexicon.KINDS["musical instrument"]), "hobby": lambda: w.any(*HOBBIES), "dish": lambda: w.any(*lexicon.KINDS["dish"]), "color": lambda: w.any(*lexicon.KINDS["color"]), "name": w.first_name,
           "company": lambda: capital(w.any(w.noun(), w.fresh(), w.adjective())) + w.any("", "", " Ltd", " & Sons", "tech", " Group", " Foods"), "year": lambda: str(w.number(1650, 2024) if w.chance(0.4) else w.number(1950, 2024)), "language": lambda: w.any(*lexicon.KINDS["language"]),
           "transport": lambda: w.any(*lexicon.KINDS["vehicle"][:12], "bike", "train", "tram", "ferry"), "drink": lambda: w.any(*lexicon.KINDS["drink"]), "goods": lambda: w.any(*GOODS), "street": lambda: f"{w.any('', '', str(w.number(1, 99)) + ' ')}{capital(w.noun())} {w.any('Street', 'Road', 'Lane', 'Avenue', 'Square')}",
           "person": lambda: w.any(w.person(), w.any("Mr. ", "Mrs. ", "Dr. ", "Ms. ") + capital(w.fresh()), f"{w.first_name()} {capital(w.fresh())}"), "day": lambda: w.any(*lexicon.DAYS), "percent": lambda: str(w.number(1, 12) * 5), "phone": lambda: w.any(f"555-{w.number(0, 9999):04d}", f"0{w.number(20, 99)} {w.number(100, 999)} {w.number(100, 999)}", f"+{w.number(1, 99)} {w.number(100, 999)} {w.number(1000, 9999)}"),
           "eventkind": lambda: w.any(*EVENT_KINDS), "dayofmonth": lambda: w.any(f"{w.number(1, 28)} {w.any(*lexicon.MONTHS)}", f"{w.any(*lexicon.MONTHS)} {w.number(1, 28)}", f"{w.any(*lexicon.DAYS)}, {w.number(1, 28)} {w.any(*lexicon.MONTHS)}"), "venue": lambda: w.any(*VENUES).format(n=w.number(1, 40)), "item": lambda: w.any(*ITEMS) if w.chance(0.6) else w.noun(),
           "email": lambda: f"{w.fresh()}{w.any('', '.' + w.fresh())}@{w.fresh()}.{w.any('org', 'com', 'net', 'de', 'eu')}", "hotel": lambda: w.any(*HOTELS).format(N=capital(w.any(w.noun(), w.fresh()))), "sight": lambda: w.any(*SIGHTS), "weather": lambda: w.any("sunny", "rainy", "cold", "hot", "windy", "foggy", "cloudy", "stormy", "warm and dry", "mild"),
           "month": lambda: w.any(*lexicon.MONTHS), "project": lambda: w.any(*PROJECTS), "room": lambda: w.any(f"room {w.number(1, 400)}", f"the {w.any('blue', 'green', 'small', 'big', 'red')} room", f"room {w.any('A', 'B', 'C')}{w.number(1, 30)}", "the kitchen", "the basement", f"the {w.any('second', 'third', 'fourth')} floor", "the library"),
           "problem": lambda: w.any(*PROBLEMS), "proglang": lambda: w.any(*lexicon.KINDS["programming language"]), "venuekind": lambda: w.any(*lexicon.KINDS["building"], "bank", "brewery", "mill", "post office", "school", "hotel", "library"), "metres": lambda: w.any(str(w.number(2, 150)), f"{w.number(1, 9)}.{w.number(1, 9)}"),
           "material": lambda: w.any(*MATERIALS), "weight": lambda: w.any(f"{w.number(80, 950)} grams", f"{w.number(1, 30)} kilos", f"{w.number(1, 9)}.{w.number(1, 9)} kg", f"{w.number(80, 950)} g"), "hours": lambda: str(w.number(2, 20)), "years": lambda: str(w.number(2, 10)), "group": lambda: w.any(*GROUPS), "country": lambda: w.any(*lexicon.KINDS["country"]),
           "inches": lambda: w.any("5.5", "6.1", "7", "10", "13.3", "15", "24", "27", "32"), "team": lambda: w.any("the ", "FC ", "", "SV ") + capital(w.any(w.noun(), w.fresh(), w.city())) + w.any("", "s", " United", " City"), "score": lambda: f"{w.number(2, 6)}{w.any(' to ', ':', '-')}{w.number(0, 1)}", "minute": lambda: str(w.number(50, 94)), "diet": lambda: w.any(*DIETS), "habitat": lambda: w.any(*HABITATS),
           "animal": lambda: w.any(*lexicon.KINDS["animal"]), "daytime": lambda: w.any("at night", "in the morning", "at dusk", "during the day", "after rain"), "speed": lambda: str(w.number(5, 110)), "river": lambda: capital(w.fresh()), "km": lambda: str(w.number(2, 300)), "mailtopic": lambda: w.any(*TOPICS), "reason": lambda: w.any(*REASONS)}
    if kind in one:
        value = one[kind]()
        return value, value
    if kind == "count":
        text = number_word(w, w.number(2, 12))
        return text, text
    if kind == "count2":
        n = w.any(w.number(20, 99), w.number(2, 99) * 10, w.number(2, 90) * 100)
        text = f"{n:,}" if n >= 1000 and w.chance(0.4) else str(n)
        return text, text
    if kind == "clock":
        h, m = w.number(6, 22), w.any(0, 0, 30, 15, 45, 20, 10)
        text = w.any(f"{h}:{m:02d}", f"{h:02d}:{m:02d}", f"{(h - 1) % 12 + 1}{f':{m:02d}' if m else ''} {'am' if h < 12 else 'pm'}", lexicon.in_words((h - 1) % 12 + 1) if m == 0 else f"half past {lexicon.in_words((h - 1) % 12 + 1)}" if m == 30 else f"{h}:{m:02d}")
        return text, text
    if kind == "price":
        n = w.any(w.number(2, 40), w.number(10, 900), w.number(2, 90) * 10)
        cents = f".{w.any(50, 90, 99, 20, 25)}" if w.chance(0.25) else ""
        text = w.any(f"{n}{cents} euros", f"{n}{cents} dollars", f"${n}{cents}", f"€{n}{cents}", f"{n}{cents} pounds")
        return text, text
    raise ValueError(kind)


SUBJECTS = {"shop": ["the {g} shop", "{N}'s", "the shop", "the little shop called {N}", "the {N} store", "the corner shop", "the {N} bakery"], "event": ["the {N} festival", "the event", "the {N} fair", "our party", "the spring meeting", "the {N} day", "the open day"],
            "team": ["the {N} team", "our team", "the team", "team {N}", "the group"], "building": ["the {N} house", "the old tower", "the {N} building", "the house on the hill", "{N} Hall", "the museum", "the {N} castle"], "device": ["the {N} {k}", "the {N}", "the new {k}", "the {k}", "the {N} {n}"],
            "village": ["{N}", "{N}bury", "{N}ville", "the village of {N}", "Old {N}", "{N}ton"], "match": ["the game"], "animal": ["the {a}", "{as}", "the {N} {a}", "{N} {as}", "the {a}"], "mail": ["the mail"]}


class World:
    """facts: [(key, kind, value, short answer, sentence, questions)] told, in order; missing: [questions] left out."""

    def __init__(self, w, name=None, facts=None):
        self.name = name or w.rng.choices(list(WORLD), [5, 4, 4, 4, 3, 3, 3, 3, 3, 2, 4])[0]
        table = WORLD[self.name]
        self.many = False
        self.subject(w)
        told = [f for f in table if f[4]] + w.rng.sample([f for f in table if not f[4]], min(facts if facts is not None else w.number(1, 6), len([f for f in table if not f[4]])))
        self.missing = [(f[0], f[1], w.any(*f[3])) for f in table if f not in told]
        first, rest = told[:1], told[1:]
        w.rng.shuffle(rest)
        self.facts = []
        used = set()
        for key, kind, sentences, questions, main in first + rest:
            for _ in range(20):
                value, short = draw(w, kind)
                if short not in used:
                    break
            used.add(short)
            self.facts.append([key, kind, value, short, w.any(*sentences) if sentences else "", questions])
        self.sentences = self.tell(w)

    def subject(self, w):
        self.proper = w.any(w.first_name, lambda: capital(w.noun()), lambda: capital(w.fresh()))()
        name = self.name
        self.gender = w.any("he", "she")
        if name in ("person", "trip"):
            self.proper = w.person()
            self.full, self.asked = self.proper, self.proper if w.chance(0.3) else self.proper.split()[0]
            self.pronoun = self.gender
            return
        slots = {"N": self.proper, "g": w.any(*GOODS).split()[-1], "k": w.any(*lexicon.KINDS["device"], "kettle", "watch", "tent", "bike", "lamp"), "n": w.number(2, 900), "a": w.any(*lexicon.KINDS["animal"])}
        slots["as"] = lexicon.plural(slots["a"])
        pattern = w.any(*SUBJECTS[name])
        self.full = self.asked = pattern.format_map(slots)
        self.many = name == "animal" and "{as}" in pattern
        self.pronoun = "they" if self.many else "it"

    def slots(self, w, first, value, in_question=False):
        their = {"he": ("his", "him"), "she": ("her", "her"), "it": ("its", "it"), "they": ("their", "them")}[self.pronoun]
        s = self.asked if in_question or first else self.pronoun
        possessive = (s + ("'" if s.endswith("s") and self.many else "'s")) if in_question or first else their[0]
        full = self.full if first else s
        many = self.many
        return {"S": capital(full), "s": s if in_question or not first else full, "t": full if first else their[1], "H": capital(possessive), "h": possessive if in_question else their[0], "o": their[1], "v": value, "a": lexicon.article(value) if value else "", "n": value, "z": "" if many else "s", "z2": "" if many else "es",
                "be": "are" if many else "is", "have": "have" if many else "has"}

    def tell(self, w):
        """One sentence a fact; the subject is named first and now and then again."""
        out, since = [], 9
        for key, kind, value, short, pattern, _ in self.facts:
            if not pattern:
                out.append("")
                continue
            form = grammar.form(w, pattern)
            named = since > 2 or w.chance(0.18)
            if any(slot in form for slot in ("{S}", "{H}", "{s}", "{t}", "{h}")):
                if named and any(slot in form for slot in ("{S}", "{H}", "{s}", "{t}")):
                    since = 0
                else:
                    named = False
                    since += 1
            if "{n}" in form and value[:1].isalpha() and form.startswith("{n}"):
                value = capital(value)
            out.append(ARTICLE.sub(r"\1n \2", capital(form.format_map(self.slots(w, named, value)))))
        return out

    def question(self, w, pattern):
        """A question as typed; names stay as they are."""
        slots = self.slots(w, True, "", True)
        text = grammar.typists(w, grammar.form(w, pattern), 0.8)
        slots["S"], slots["s"] = capital(self.asked), self.asked
        return capital(text).format_map(slots) if w.chance(0.6) else text.format_map(slots)

    def text(self, w):
        body = [s for s in self.sentences if s]
        if self.name == "mail":
            sender, receiver = (f[2] for f in self.facts[:2]) if self.facts[0][0] == "sender" else (None, None)
            by_key = {f[0]: f[2] for f in self.facts}
            sender, receiver = by_key["sender"], by_key["receiver"]
            opening = w.any("Hi {r},", "Dear {r},", "Hello {r},", "{r},", "Hey {r}!", "Good morning {r},").format(r=receiver)
            closing = w.any("Best, {s}", "Regards,\n{s}", "Kind regards, {s}", "Love, {s}", "Cheers\n{s}", "See you, {s}", "{s}", "Yours, {s}", "Thanks, {s}").format(s=sender)
            head = w.any("", "", "", f"From: {sender}\nTo: {receiver}\n\n", f"Subject: {by_key['topic']}\n\n")
            gap = w.any("\n\n", "\n", " ")
            return f"{head}{opening}{gap}{' '.join(body)}{gap}{closing}"
        r = w.rng.random()
        if r < 0.8:
            return " ".join(body)
        if r < 0.9:
            half = max(1, len(body) // 2)
            return " ".join(body[:half]) + "\n\n" + " ".join(body[half:]) if len(body) > 2 else " ".join(body)
        return "\n".join(body)

    def summary(self):
        """The sentence of the first fact, the subject named."""
        return self.sentences[0] or next(s for s in self.sentences if s)
