"""Short reports whose main point is not always in the first sentence: their summary, their title, what they are about."""

import re

from . import lexicon, tables
from .filled import Filled
from .grammar import capital, form, ordered, typed, with_payload
from .reading import finish

# tables/briefs: the text | one sentence | a title | the topic. Slots as in paragraphs.py.
BRIEFS = [[cell.strip() for cell in line.split(" | ")] for line in tables.lines("briefs")]
WISH = "[in (one|a single) sentence|briefly|in one short sentence|as short as possible|for me|in (one|a) line]"


class Capitals(Filled):
    """{capitalx1}: the slot x1 with a capital letter."""

    def __missing__(self, key):
        return capital(self[key.removeprefix("capital")]) if key.startswith("capital") else super().__missing__(key)


def brief(w):
    """(text, summary, title, topic)"""
    text, *rest = w.any(*BRIEFS)
    values = Capitals(w)
    text = form(w, text)
    first = text.find("{capital")
    if first >= 0 and "=" in text[first:text.find("}", first)]:
        inside = text[first:text.find("}", first) + 1]
        key = inside[8:inside.find("=")]
        values[key] = w.any(*inside[inside.find("=") + 1:-1].split("/"))
        text = text.replace(inside, "{capital" + key + "}")
    text = values.fill(text)
    text = re.sub(r"(?<=[.?!] )[a-z]", lambda m: m[0].upper(), text)
    if w.chance(0.3) and ": " not in text[:20] and not re.match("Hi|Dear|Team|My|Our|We|I ", text):
        extra = w.any("This was in the newspaper.", f"Our reporter {w.first_name()} was there.", "More about it tomorrow.", f"It is {w.any(*lexicon.MONTHS)}.", "People still talk about it.")
        text = f"{text} {extra}"
    return capital(text), *(capital(values.fill(x)) if i < 2 else values.fill(x) for i, x in enumerate(rest))


def question_of(w):
    return asked(w, *brief(w))


SMALL = set("a an the of to in on at for and or but so it is was were are be by with from that this as has have had not its their his her they he she we i you who which because".split())


def content(text):
    return {x for x in re.findall(r"[\w'-]+", text.lower()) if x not in SMALL}


def told_by_one(text, summary):
    """The sentence of the text that says most of the summary, if that is two fifths of it or more, else the summary: a
    small model copies a sentence well, and garbles one that it composes."""
    sentences = [x for x in re.split(r"(?<=[.!?])\s+", text) if x]
    wanted = content(summary)
    best = max(sentences, key=lambda x: len(content(x) & wanted))
    return capital(best) if 5 * len(content(best) & wanted) >= 2 * len(wanted) else summary


def asked(w, text, summary, title, topic):
    summary = told_by_one(text, summary)
    r = w.rng.random()
    if r < 0.58:
        pattern = f"(summarize|summarise|sum up|condense|shorten|recap) (this|the text|it|the following|this text|the report|the news) {WISH}|(give me|write|I need) a [short|brief|one-sentence] summary [of (this|it)] {WISH}|(tell me|say) in one sentence what (this|the text) says"
        if w.chance(0.35):
            return finish(with_payload(w, typed(w, "(what is|what's) the (main|key|central) (point|message|idea) [of this][?]|(tl;dr|tldr|in short|the gist)[?]|what (happened|is the news) [here|in one sentence][?]|what does (this|it) say in (one sentence|short)?"), text), f"The main thing: {summary}", summary)
        return finish(ordered(w, pattern, text), f"The main thing: {summary}", summary)
    if r < 0.82:
        return finish(ordered(w, "(give|find|suggest|write) [me] a (title|headline|heading) [for (this|it|the text)]|(think of|invent) a (title|headline) [for this]|I need a (title|headline)|what would be a good (title|headline)", text), f"The main thing: {summary}", title)
    if w.chance(0.5):
        return finish(with_payload(w, typed(w, "what is (this|it|the text|this text) about[?]|what's this about[?]|what does (this|the) text deal with?"), text), f"The main thing: {summary}", summary)
    return finish(with_payload(w, typed(w, "what is (this|it|the text) about in a few words[?]|what's the (topic|subject) [of (this|it)][?]|(topic|subject) of the text?|in a few words, the topic?"), text), f"The main thing: {summary}", f"{capital(topic)}.")
