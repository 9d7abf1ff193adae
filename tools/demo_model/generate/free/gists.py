"""What a text is about: one main point among details, or two; summaries and titles of them."""

from . import briefs, happenings, lexicon, paragraphs, worlds
from .clauses import Clause
from .grammar import capital, form, listing, ordered, typed, with_payload
from .reading import finish

LEADS = """{N} (has bought|bought) (the old {x}|a {x}|{C}'s last {x}) | bought {x}
{the} (has closed|closed|will close) [for good|for {k} weeks|after {k} years] | closes
{the} (has reopened|opens again|will reopen) [on {d}|after {k} weeks] | opens again
{N} (became|has become|was made) (the head of {o}|a {j}|the new {j} of {C}) | new job
{the} (will move|is moving|has moved) to {C} | moves to {C}
the price of {gs} (has risen|rose|has fallen|fell) by {k} percent | the price of {gs}
{C} (gets|is getting|will get) a new {b} | a new {b} for {C}
{N} and {M} (got married|opened a {b}|founded {o}|wrote a book about {gs}) | {N} and {M}
a storm (damaged|destroyed|flooded) {the} [in {C}] | storm damage
{people} (sleep|eat|work|read|walk) (more|less) than (last year|{k} years ago|they should) | habits
{animals} (help|can hear|recognise|are afraid of|live together with) {people} | {animals}
the {x} (is|has been) (broken|missing|out of order|sold out) [since {d}] | the {x}
{N} (found|lost|returned|invented|repaired) (a|the) {x} [worth {k} euros|in {C}|on a train] | the {x}
{o} (has hired|will hire|dismissed) {k} people | {o}
{the} (won|has won|received) a prize for {gs} | a prize
a new (law|rule) (forbids|allows|limits) {gs} [in {C}] | a new rule"""
LEADS = [line.split(" | ")[0] for line in LEADS.split("\n")]
DETAILS = ["It happened on {d}.", "{N2} was surprised.", "The costs are about {k} thousand euros.", "Nobody knows yet what comes next.", "{N2} had warned of it before.", "The work takes {k} weeks.", "Many neighbours came to watch.", "{N2} from {C2} wrote about it.", "Before that it had been quiet for {k} years.", "The mayor, {N2}, spoke of a good day.", "There was music and free {g}.",
           "It took {k} people and a lot of patience.", "Some are happy, others are not.", "More is to be said on {d}.", "In {C2} it was the same last year.", "About {k} people are affected.", "The plans are {k} years old.", "{N2} only said: we will see.", "Everything else stays as it is."]
# What stands before the point and is not it: who writes, when, where.
FRAMES = ["Hi {N2}, sorry for the late reply.", "Hello {N2}, I hope you are well.", "Dear {N2}, thank you for your letter.", "Dear all, thank you for coming on {d}.", "Hi everyone, a short note from {C2}.", "You asked me for the news.", "Here is what I heard on {d}.", "{N2} called me this morning.", "{N2} and I were in {C2} again.", "I'm writing from the train to {C2}.", "I have lived in {C2} for {k} years.", "We stayed {k} days.", "The council of {C2} met on {d}.", "The board met {k} times.",
          "After {k} hours of talk there is a result.", "As you know, we talked about it on {d}.", "Many of you have asked.", "It has been a quiet month in {C2}.", "First the weather: it rained all day.", "The paper of {C2} had it on {d}.", "I walked through {C2} on {d}.", "Nobody had expected it.", "For {k} years nothing changed.", "Some people say that I never have any news.", "This is the {k}th letter of our club.", "Minutes of {d}, written by {N2}.", "Good evening, here is the news of {C2}.", "I was in {C2} for work."]
MARKS = ["In short: ", "The main point: ", "What matters: ", "The news: ", "To make it short: ", "The important thing is this: "]


def lead(w):
    g = w.any(*worlds.GOODS)
    b = w.any("library", "bridge", "school", "museum", "cinema", "station", "pool", "hospital", "theatre", "bakery")
    slots = {"N": w.any(w.person, w.first_name)(), "M": w.first_name(), "C": w.city(), "x": w.any(w.any(*worlds.ITEMS), w.noun()), "k": w.number(2, 60), "d": w.any(*lexicon.DAYS), "j": w.any(*lexicon.KINDS["job"]), "o": worlds.draw(w, "company")[0], "gs": g, "g": g, "b": b, "people": w.any("people", "children", "old people", "students", "drivers", "many families"),
             "animals": lexicon.plural(w.any(*lexicon.KINDS["animal"])), "the": w.any(f"the {b}", f"the {b} of {w.city()}", f"the {w.noun()} factory", f"the {w.adjective()} {b}", worlds.draw(w, "company")[0]), "N2": w.first_name(), "C2": w.city()}
    said = form(w, w.any(*LEADS)).format_map(slots) if w.chance(0.75) else Clause(w, "named").said("past", end="")
    details = [form(w, x).format_map({**slots, "k": w.number(2, 90)}) for x in w.rng.sample(DETAILS, w.number(1, 5))]
    frames = [x.format_map({**slots, "k": w.number(4, 20)}) for x in w.rng.sample(FRAMES, w.any(1, 1, 2))]
    return worlds.ARTICLE.sub(r"\1n \2", said), details, frames


WISH = "[in (one|a single) (sentence|line)|briefly|in a few words|in one short sentence|for me]"


def gist(w):
    """One main point and details: it stands at the beginning, behind a frame, or is announced."""
    said, details, frames = lead(w)
    sentence = capital(said) + "."
    if w.chance(0.78):
        text = " ".join([*(frames if w.chance(0.75) else []), sentence, *details])
    else:
        at = w.number(0, len(details))
        text = " ".join([*details[:at], w.any(*MARKS) + said + ".", *details[at:]])
    r = w.rng.random()
    if r < 0.6:
        pattern = f"(summarize|summarise|sum up|condense|shorten|recap) (this|the text|it|the following|this text|the article|the news) {WISH}|(give me|write) a [short|one-sentence|brief] summary [of (this|it)] {WISH}|(tell me|say) {WISH} what (this|the text) says"
        if w.chance(0.35):
            return finish(with_payload(w, typed(w, "(what is|what's) the (main|key|central) (point|message|idea|statement) [(here|of this|of the text)][?]|(main|key) point[?]|(tl;dr|tldr|in short|the gist)[?]|what (happened|is the news) [here][?]|what does (this|it) say in one sentence?"), text), f"The main thing: {sentence}", sentence)
        return finish(ordered(w, pattern, text), f"The main thing: {sentence}", sentence)
    if r < 0.85:
        return finish(ordered(w, "(give|find|suggest|write) [me] a (title|headline|heading) [for (this|it|the text)]|(think of|invent) a (title|headline) [for this]|I need a (title|headline)", text), f"The main thing: {sentence}", capital(said))
    return finish(with_payload(w, typed(w, "what is (this|the text|it) about[?]|what's the topic [of (this|it)][?]|(topic|subject) of the text?|what does this text deal with?"), text), f"The main thing: {sentence}", sentence)


def article(w):
    """A short article: who and what in one sentence, a title, or a topic."""
    p = paragraphs.Article(w)
    return briefs.asked(w, p.text(w), p.summary, p.title, p.topic)


def two_points(w):
    """A text of two parts; both in one sentence, or as points."""
    a, more, _ = lead(w)
    b, _, _ = lead(w)
    glue = w.any("Also, ", "Besides, ", "Meanwhile, ", "At the same time, ", "In other news, ")
    text = f"{capital(a)}. {w.any(*more)} {glue}{b}."
    if w.chance(0.5):
        return finish(with_payload(w, typed(w, "(list|give me|what are) the [two|main|key] points[?]|(summarize|sum up) (this|it) (in|as) [two] (bullet points|bullets|points)|bullet points[, please]"), text), "Two points.", f"- {capital(a)}\n- {capital(b)}")
    return finish(ordered(w, f"(summarize|summarise|sum up|condense) (this|the text|it) {WISH}", text), "Two points in one sentence.", f"{capital(listing([a, b]))}.")


TASKS = {gist: 30, briefs.question_of: 90, article: 10, two_points: 10, happenings.settled: 10}


def question_of(w):
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)
