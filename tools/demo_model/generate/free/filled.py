"""Slots of hand-written texts and talks: values drawn at first reading, numbers said in words or digits, and sums of them."""

import re

from . import lexicon, worlds
from .grammar import capital
from .paragraphs import PRONOUNS, Values

NUMBERS = {"n": (2, 9), "m": (11, 30), "k": (40, 95), "h": None, "e": (3, 9), "q": (10, 99)}  # distinct ranges: m - n, k - m and h - k are never negative; q is compared
SLOT = re.compile(r"\{(\w+)(?:=((?:[^{}]|\{\w+\})*))?\}")  # what is chosen from may have slots itself
SUM = re.compile(r"\{=([^}]+)\}")
FUNCTIONS = {"upper": str.upper, "len": len, "title": capital, "plural": lexicon.plural, "past": lambda v: PAST[v][0], "base": lambda v: PAST[v][1]}
PAST = {"finds": ("found", "find"), "buys": ("bought", "buy"), "paints": ("painted", "paint"), "hides": ("hid", "hide"), "likes": ("liked", "like")}
FOODS = "rice|butter|flour|honey|cheese|lentils|yoghurt|spinach|oats|mustard|olives|noodles|beans|bread|ham|jam|sugar|vinegar|mushrooms|leeks|almonds|cream|tofu|peas|salmon|raisins|chickpeas|ginger|walnuts|cocoa|eggs|milk|garlic|celery".split("|")
CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
OWN = {"price": lambda w: w.any(f"{w.number(1, 90)}.{w.any('50', '20', '90', '95', '80', '00')}", f"{w.number(3, 400)}"), "word": lambda w: w.any(*[x for x in (w.noun() for _ in range(9)) if x.isalpha()] or ["lamp"]).lower(), "food": lambda w: w.any(*FOODS), "fam": lambda w: capital(w.fresh()),
       "code": lambda w: w.any(str(w.number(1000, 9999)), str(w.number(100, 999)), f"{w.any(*CODE_LETTERS)}{w.number(10, 999)}", f"{w.any(*CODE_LETTERS)}{w.any(*CODE_LETTERS)}-{w.number(100, 9999)}"),
       "date": lambda w: w.any(f"{w.number(1, 28)} {w.any(*lexicon.MONTHS)}", f"{w.any(*lexicon.MONTHS)} {w.number(1, 28)}"), "tool": lambda w: w.any(*lexicon.KINDS["tool"]), "fruit": lambda w: lexicon.plural(w.any(*lexicon.KINDS["fruit"])),
       "instrument": lambda w: w.any(*lexicon.KINDS["musical instrument"]), "sport": lambda w: w.any(*lexicon.KINDS["sport"]), "things": lambda w: lexicon.plural(w.any("pen", "mug", "candle", "book", "stamp", "button", "marble", "poster", "card", "shell", "magnet", "plant", "jar", "brush", "lemon", "muffin", "badge", "bulb")),
       "shop": lambda w: w.any("Cafe ", "the ", "") + capital(w.any(w.noun, w.fresh)()) + w.any(" Bakery", " Books", " & Co", "'s", " House", " Market")}


class Filled(Values):
    """words: the share of dialogues whose small numbers are said in words."""

    def __init__(self, w, words=0.3):
        he = w.any("he", "she")
        his, him = PRONOUNS[he]
        super().__init__(w, {"he": he, "his": his, "him": him, "He": capital(he), "His": capital(his)}, set())
        self.numbers = {}
        self.spoken = w.chance(words)

    def __missing__(self, key):
        kind = key[:-1]
        if kind in NUMBERS:
            while True:
                n = self.w.number(10, 90) * 10 if kind == "h" else self.w.number(*NUMBERS[kind])
                if n not in self.numbers.values():
                    break
            self.numbers[key] = n
            self[key] = lexicon.in_words(n) if self.spoken and n < 20 else str(n)
            return self[key]
        if kind == "clock":  # each later than the one before
            before = self[f"clock{int(key[-1]) - 1}"].split(":") if key[-1] > "1" else None
            at = int(before[0]) * 60 + int(before[1]) + self.w.number(4, 36) * 5 if before else self.w.number(5 * 12, 15 * 12) * 5
            self[key] = f"{at // 60}:{at % 60:02d}"
            return self[key]
        if kind in OWN:
            for _ in range(30):
                value = OWN[kind](self.w)
                if value.lower() not in self.used:
                    break
            self.used.add(value.lower())
            self[key] = value
            return value
        return super().__missing__(key)

    def number(self, key):
        self[key]
        return self.numbers.get(key) or int(self[key].replace(",", ""))

    def fill(self, text, digits=False):
        """digits: numbers are not said in words, as in a thought that reckons."""
        def one(m):
            if m[2] and m[1] not in self:
                taken = set(self.values())
                self[m[1]] = self.fill(self.w.any(*([x for x in m[2].split("/") if x not in taken] or m[2].split("/"))))
            value = self[m[1]]
            return str(self.numbers[m[1]]) if digits and m[1] in self.numbers else value

        def worked(m):
            names = {x: self.number(x) if x[:-1] in NUMBERS or x[:-1] in ("up", "adult", "year") else self[x] for x in dict.fromkeys(re.findall(r"[a-z]+\d", m[1]))}
            return str(eval(m[1], FUNCTIONS, names))

        return worlds.ARTICLE.sub(r"\1n \2", SLOT.sub(one, SUM.sub(worked, text)))


def cells(line, cut=" | "):
    """A cell may be empty, at the end too."""
    return [x.strip() for x in (re.split(r" \|(?= |$)", line) if cut == " | " else line.split(cut))]


def asked(line):
    """[(question, answer, thought or "")] of "question => answer => thought ; ..."."""
    return [tuple((cells(q, " => ") + [""])[:3]) for q in cells(line, " ; ") if q]
