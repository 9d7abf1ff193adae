"""Small clauses that can be turned: tense, person, number, voice, question, negation."""

from . import lexicon
from .lexicon import ACTIONS, forms

PRONOUNS = {"I": ("me", "my", 1, "s"), "you": ("you", "your", 2, "p"), "he": ("him", "his", 3, "s"), "she": ("her", "her", 3, "s"), "we": ("us", "our", 1, "p"), "they": ("them", "their", 3, "p"), "it": ("it", "its", 3, "s")}
PEOPLE = """the teacher|the old man|my sister|our neighbour|the children|the students|my parents|the manager|his brother|the doctor|her friend|the boys|two girls|the dog|my uncle|the workers|the chef|a tourist|the cat|the nurse|my boss|the twins
the driver|the farmers|the new colleague|our team|the guests|a young woman|the players|my grandmother|the baker|the pilot|the neighbours|the kids""".replace("\n", "|").split("|")
MANY_OF = {"the children", "the students", "my parents", "the boys", "two girls", "the workers", "the twins", "the farmers", "the guests", "the players", "the neighbours", "the kids"}
OBJECTS = {"me", "him", "her", "us", "them"}


def is_many(subject):
    return subject in MANY_OF or subject in ("you", "we", "they") or " and " in subject


def plural_object(phrase):
    head = phrase.split()[-1]
    return head.endswith("s") and not head.endswith("ss") and head not in ("news", "chess", "tennis", "maths", "glass", "bus", "grass", "Spanish") or phrase.split()[0] in ("two", "some", "three") and head.endswith("s") or head in ("people", "children")


class Clause:
    """subject, verb, object or "", tail; said() renders one of the forms."""

    def __init__(self, w, subjects="any", need_object=False):
        while True:
            self.verb = w.any(*ACTIONS)
            objects, tails = ACTIONS[self.verb]
            if objects or not need_object:
                break
        kind = w.rng.random()
        if subjects == "pronoun" or subjects == "any" and kind < 0.35:
            self.subject = w.any("I", "you", "he", "she", "we", "they")
        elif kind < 0.7:
            self.subject = w.any(*PEOPLE)
        else:
            self.subject = w.first_name()
        slots = {"p": w.first_name(), "c": w.city()}
        self.object = w.any(*objects).format_map(slots) if objects else ""
        if self.object and w.chance(0.18) and self.object.split()[0] in ("the", "a", "an"):
            noun = w.noun()
            self.object = ("the " if self.object.startswith("the") else "a ") + noun if noun[0] not in "aeiou" else "the " + noun
        if self.subject == "I" and self.object.startswith("her "):
            self.object = "my " + self.object[4:]
        self.tail = w.any(*tails).format_map(slots) if tails and (not objects or w.chance(0.7)) else ""

    def _join(self, *parts):
        text = " ".join(p for p in parts if p)
        return text[0].upper() + text[1:]

    def _rest(self):
        return " ".join(p for p in (self.object, self.tail) if p)

    def said(self, tense="present", negative=False, question=False, subject=None, short=False, end=None):
        s = subject or self.subject
        base, third, past, participle, ing = forms(self.verb)
        many, first = is_many(s), s == "I"
        be = "am" if first else "are" if many else "is"
        was = "were" if many else "was"
        have = "have" if many or first else "has"
        rest = self._rest()
        no = "not" if negative else ""
        if tense == "present":
            if not negative and not question:
                out = self._join(s, base if many or first else third, rest)
            else:
                do = "do" if many or first else "does"
                helper = f"{do}n't" if short and negative else f"{do} {no}".strip()
                out = self._join(helper if negative and short else do, s, "" if short else no, base, rest) if question else self._join(s, helper, base, rest)
        elif tense == "past":
            if not negative and not question:
                out = self._join(s, past, rest)
            else:
                helper = "didn't" if short and negative else f"did {no}".strip()
                out = self._join("did", s, no, base, rest) if question else self._join(s, helper, base, rest)
        elif tense == "going":
            out = self._join(be, s, no, "going to", base, rest) if question else self._join(s, be, no, "going to", base, rest)
        else:
            helper, form = {"future": ("will", base), "progressive": (be, ing), "past progressive": (was, ing), "perfect": (have, participle), "past perfect": ("had", participle), "can": ("can", base), "must": ("must", base)}[tense]
            out = self._join(helper, s, no, form, rest) if question else self._join(s, helper, no, form, rest)
        return out + (end if end is not None else "?" if question else ".")

    def passive(self, tense="present"):
        _, _, _, participle, _ = forms(self.verb)
        many = plural_object(self.object)
        be = {"present": "are" if many else "is", "past": "were" if many else "was", "future": "will be"}[tense]
        agent = PRONOUNS[self.subject][0] if self.subject in PRONOUNS else self.subject
        return self._join(self.object, be, participle, "by", agent, self.tail) + "."

    def imperative(self):
        return self._join(self.verb, self._rest()) + "."

    def progressive_fits(self):
        return self.verb not in ("love", "hate", "like", "need", "want", "forget", "live", "know")
