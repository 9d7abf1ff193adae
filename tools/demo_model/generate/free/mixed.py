"""Texts of unrelated sentences of many shapes, and questions about any part of them."""

from . import grammar, lexicon, parts, reading, rewriting, worlds
from .clauses import Clause
from .grammar import capital, form

# A sentence | its questions, each with => and the answer. Capital letters are names: N, M people; C, D cities; x, y, z
# things; k, l numbers; Y, Z years; A, B adjectives; W, V weekdays; P, Q prices; J a job; F a firm; T a time; R a relative;
# O, U colors; H places of a house; e an event; L a language.
SHAPES = """{N} (has|owns|keeps) {k} {xs}[ and {l} {ys}]. | how many {xs} does {N} (have|own)[?] => {k} ; (who|which person) (has|owns) {k} {xs}[?] => {N}
the {x} of {N} is {O}[, not {U}]. | (what|which) color is [the {x} of {N}|{N}'s {x}][?] => {O} ; whose {x} is {O}[?] => {N}
{N} is the {R} of {M}. | who is {M}'s {R}[?] => {N} ; whose {R} is {N}[?] => {M} ; how is {N} related to {M}[?] => {N} is the {R} of {M}.
the {x} was (built|made|painted|designed|invented) by {N} in {Y}. | who (built|made|painted|designed|invented) the {x}[?] => {N} ; (when|in which year) was the {x} (built|made|painted|designed|invented)[?] => {Y} ; who is the maker of the {x}[?] => {N}
{N} gave {M} a {x} for (Christmas|the birthday|the wedding|the exam). | what did {N} give {M}[?] => a {x} ; who gave {M} a {x}[?] => {N} ; who got (a|the) {x}[?] => {M} ; what did {M} get[?] => a {x}
there are {k} {xs} in the {y}. | how many {xs} are (in the {y}|there)[?] => {k} ; where are the {xs}[?] => in the {y} ; what is in the {y}[?] => {k} {xs}
the {x} costs {P}, the {y} {Q}. | how much (is|does) the {x} [cost][?] => {P} ; (what|which) is the price of the {y}[?] => {Q} ; what costs {Q}[?] => the {y}
{N} lives in {C} but works in {D}. | where does {N} work[?] => in {D} ; where does {N} live[?] => in {C} ; who works in {D}[?] => {N}
{N}, a {J} from {C}, (bought|sold|lost|found|repaired) a {x}. | what is {N}'s job[?] => {J} ; where is {N} from[?] => {C} ; what does {N} do for a living[?] => {J} ; who is from {C}[?] => {N}
on {W} {N} (bought|painted|cleaned|sold) the {x}. | (when|on which day) did {N} (buy|paint|clean|sell) the {x}[?] => on {W} ; what happened on {W}[?] => {S} ; who did something on {W}[?] => {N}
the {x} in the {H} belongs to {N}. | (who owns|to whom belongs|who does|whose is) the {x} [in the {H}][?] => {N} ; where is {N}'s {x}[?] => in the {H} ; what belongs to {N}[?] => the {x}
{N} (said|told us|wrote|thinks) that {e}. | who (said|told us|wrote|thinks) (so|that|it)[?] => {N} ; what (did|does) {N} (say|tell us|write|think)[?] => {E}.
{N} prefers {xs} to {ys}. | what does {N} (prefer|like more)[?] => {xs} ; who prefers {xs}[?] => {N} ; what does {N} like less[?] => {ys}
instead of a {x} {N} bought a {y}. | what did {N} buy[?] => a {y} ; who bought a {y}[?] => {N} ; did {N} buy a {x}[?] => No
it takes {k} minutes from {C} to the {x}. | how long does it take [from {C} to the {x}][?] => {k} minutes ; from where does it take {k} minutes[?] => {C}
the {x} was {A}, now it is {B}. | how is the {x} now[?] => {B} ; (how|what) was the {x} (before|once)[?] => {A} ; what is {B} now[?] => the {x}
{N} moved from {C} to {D} in {Y}. | (when|in which year) did {N} move[?] => {Y} ; where did {N} move [to][?] => {D} ; where did {N} live before[?] => {C} ; who moved to {D}[?] => {N}
neither {N} nor {M} came; only {G} did. | who came[?] => {G} ; did {N} come[?] => No ; who did not come[?] => {N} and {M}
{N} and {M} founded {F} in {Y}. | who founded {F}[?] => {N} and {M} ; (when|in which year) was {F} founded[?] => {Y} ; what did {N} and {M} found[?] => {F}
the {x} (was found|lay|was hidden|stood) under the {y}. | where (was|did) the {x} [(found|lie|hidden|stand)][?] => under the {y} ; what was under the {y}[?] => the {x}
{N} has been a {J} since {Y}. | since when has {N} been a {J}[?] => {Y} ; what is {N}['s job][?] => a {J} ; who is a {J}[?] => {N}
the {x} opens at {T} and closes at {U2}. | when does the {x} open[?] => {T} ; when does the {x} close[?] => {U2} ; until when is the {x} open[?] => {U2} ; what opens at {T}[?] => the {x}
{k} of the {l2} {xs} were broken. | how many {xs} were broken[?] => {k} ; how many {xs} were there [in all][?] => {l2}
most people (love|like|fear) the {x}, but {N} (hates|avoids) it. | who (hates|avoids) the {x}[?] => {N} ; what does {N} (hate|avoid)[?] => the {x}
{N} speaks {L} and plays the {I}. | (which|what) language does {N} speak[?] => {L} ; what does {N} play[?] => the {I} ; (which|what) instrument does {N} play[?] => the {I} ; who speaks {L}[?] => {N}
the {x} is called {F} and weighs {k} kilos. | (what is the name of|how is) the {x} [called][?] => {F} ; how (heavy is|much does) the {x} [weigh][?] => {k} kilos ; what is called {F}[?] => the {x}
when {N} arrived, {M} had already left with the {x}. | who left [with the {x}][?] => {M} ; who arrived [later][?] => {N} ; what did {M} take [along][?] => the {x}
{N} paid {P} for the {x}. | how much did {N} pay [for the {x}][?] => {P} ; what did {N} pay for[?] => the {x} ; who paid {P}[?] => {N}
the {x} is {k} metres (long|high|wide) and made of {m}. | what is the {x} made of[?] => {m} ; how (long|high|wide) is the {x}[?] => {k} metres ; (which|what) is made of {m}[?] => the {x}
{N} is {k} years old and {M} is {l}. | how old is {N}[?] => {k} ; how old is {M}[?] => {l} ; who is {k} [years old][?] => {N}
{N} called at {T} because {e}. | when did {N} call[?] => at {T} ; why did {N} call[?] => Because {e}. ; who called[?] => {N}
although {e}, {N} stayed in {C}. | where did {N} stay[?] => in {C} ; who stayed in {C}[?] => {N}
the {J} of the village is {N}, a friend of {M}. | who is the {J} [of the village][?] => {N} ; whose friend is {N}[?] => {M} ; what is {N}'s job[?] => {J}"""
SHAPES = [(sentence.strip(), [tuple(x.strip() for x in q.split(" => ")) for q in questions.split(" ; ")]) for sentence, questions in (line.split(" | ", 1) for line in SHAPES.split("\n"))]
RELATIVES = lexicon.KINDS["family member"] + ["neighbour", "boss", "teacher", "friend", "husband", "wife"]


def drawn(w):
    """Values of all letters of a sentence, each another one."""
    thing = lambda: w.any(*worlds.ITEMS) if w.chance(0.35) else w.noun()
    out, used = {}, set()

    def new(key, make):
        for _ in range(30):
            value = str(make())
            if value.lower() not in used:
                break
        used.add(value.lower())
        out[key] = value

    for key in "NMG":
        new(key, w.first_name if w.chance(0.8) else w.person)
    for key in "CD":
        new(key, w.city)
    for key in "xy":
        new(key, thing)
        out[key + "s"] = lexicon.plural(out[key])
    a, b = sorted((w.number(2, 40), w.number(41, 99)))
    out.update(k=worlds.number_word(w, a), l=str(w.number(2, 60)), l2=str(b), e=rewriting.event(w))
    while out["l"] == out["k"]:
        out["l"] = str(w.number(2, 60))
    out["E"] = capital(out["e"])
    new("Y", lambda: w.number(1850, 2024))
    new("P", lambda: worlds.draw(w, "price")[0])
    new("Q", lambda: worlds.draw(w, "price")[0])
    first, second = w.any(*lexicon.OPPOSITES[:40])
    out.update(A=first, B=second) if w.chance(0.5) else out.update(A=second, B=first)
    out.update(W=w.any(*lexicon.DAYS), J=w.any(*lexicon.KINDS["job"]), R=w.any(*RELATIVES), H=w.any("kitchen", "cellar", "hall", "garage", "attic", "office", "garden"), L=w.any(*lexicon.KINDS["language"]), I=w.any(*lexicon.KINDS["musical instrument"]), m=w.any(*worlds.MATERIALS))
    out["O"], out["U"] = w.rng.sample(lexicon.KINDS["color"], 2)
    new("F", lambda: worlds.draw(w, "company")[0])
    new("T", lambda: worlds.draw(w, "clock")[0])
    new("U2", lambda: worlds.draw(w, "clock")[0])
    return out


class Told:
    """One sentence with its values."""

    def __init__(self, w, shape=None):
        sentence, self.questions = shape or w.any(*SHAPES)
        self.values = drawn(w)
        text = form(w, sentence).format_map(self.values)
        self.text = worlds.ARTICLE.sub(r"\1n \2", capital(text))
        self.values["S"] = self.text

    def ask(self, w, pair):
        question = grammar.typists(w, form(w, pair[0]), 0.8)
        question = worlds.ARTICLE.sub(r"\1n \2", question.format_map(self.values))
        return capital(question) if w.chance(0.6) else question


def agree(sentence, question):
    """Whether the verb of a question is one of the sentence's, as far as alternatives go."""
    groups = (("built", "made", "painted", "designed", "invented"), ("love", "like", "fear"), ("hates", "avoids"), ("long", "high", "wide"), ("said", "told us", "wrote", "thinks"), ("found", "lay", "hidden", "stood"), ("bought", "painted", "cleaned", "sold"))
    partners = {"hate": "hates", "avoid": "avoids", "say": "said", "tell us": "told us", "write": "wrote", "think": "thinks", "buy": "bought", "paint": "painted", "clean": "cleaned", "sell": "sold", "lie": "lay", "stand": "stood"}
    words = f" {question.lower().rstrip('?.! ')} "
    for group in groups:
        there = [g for g in group if f" {g} " in f" {sentence.lower().rstrip('.')} ".replace(",", " ")]
        named = [g for g in group if f" {g} " in words] + [partners[p] for p in partners if f" {p} " in words and partners[p] in group]
        if there and named and not set(there) & set(named):
            return False
    return True


def asked(w):
    told = [Told(w) for _ in range(w.number(1, 8))]
    sentences = [t.text for t in told]
    for _ in range(w.any(0, 0, 1, 2)):
        sentences.append(Clause(w).said("past"))
    w.rng.shuffle(sentences)
    text = w.any(" ", " ", " ", "\n").join(sentences)
    if w.chance(0.14):
        other = Told(w)
        pair = w.any(*other.questions)
        if any(v in text for v in (other.values["N"], other.values["x"])):
            return asked(w)
        return reading.finish(reading.laid_out(w, text, other.ask(w, pair)), "The text says nothing about that.", reading.NOT_SAID)
    one = w.any(*told)
    pair = w.any(*one.questions)
    for _ in range(12):
        question = one.ask(w, pair)
        if agree(one.text, question):
            break
    else:
        return asked(w)
    answer = worlds.ARTICLE.sub(r"\1n \2", pair[1].format_map(one.values))
    if sum(answer in s for s in sentences) > 1 and len(answer) < 3:
        return asked(w)
    others = [(form(w, q).format_map(one.values), a.format_map(one.values)) for q, a in one.questions if q != pair[0]]
    others = [x for x in others if agree(one.text, x[0])]
    return reading.finish(reading.laid_out(w, text, question), f"The text says: {one.text}{parts.noted(w, one.text, (question, answer), others)}", answer)


def question_of(w):
    return asked(w) if w.chance(0.25) else reading.question_of(w)
