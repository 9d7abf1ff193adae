"""Questions about texts: what they say, what they leave out, what they name, and what they are about."""

from . import grammar, lexicon
from .clauses import Clause, is_many
from .grammar import capital, order, ordered, say, typed, with_payload
from .worlds import ITEMS, World, draw

NOT_SAID = "The text does not say."
ONLY = ["", "", "", "", "", "Use only the text. ", "Answer from the text below. ", "Read the text and answer. ", "Based on the text: ", "According to the text: ", "Answer the question using the passage. ", "From the text: ", "read this and answer: ", "Answer in a few words. ", "Answer with the context only. ", "Look at the text. ",
        "If the text does not say it, tell me so. ", "Answer only if the text says it. "]
TAILS = ["", "", "", "", "", "", " according to the text", " (see the text)", ", based on the text"]


def laid_out(w, text, question):
    """A text and a question about it, as people put them together."""
    r = w.rng.random()
    only = w.any(*ONLY)
    if r < 0.36:
        return f"{text}{w.any(chr(10) * 2, chr(10) * 2, chr(10), ' ', chr(10) * 3)}{only}{question}"
    if r < 0.5:
        return f"{only}{question}\n\n{text}"
    if r < 0.62:
        a, b = w.any(("Context", "Question"), ("Text", "Question"), ("Passage", "Q"), ("text", "question"), ("Document", "Question"), ("CONTEXT", "QUESTION"), ("Read", "Answer this"), ("Story", "Question"), ("Information", "Query"))
        return f"{a}: {text}{w.any(chr(10), chr(10) * 2)}{b}: {question}{w.any('', '', chr(10) + 'Answer:', chr(10) + 'A:')}"
    if r < 0.7:
        a, b = w.any(("Question", "Text"), ("Q", "Text"), ("question", "context"), ("My question", "The text"), ("Q", "Context"))
        return f"{a}: {question}\n\n{b}: {text}"
    if r < 0.84:
        a, b = w.any(*grammar.QUOTES)
        return f"{only or w.any('Read this: ', 'Here is a text: ', 'Text: ', 'text ', 'I found this: ', 'Given this text: ')}{a}{text}{b} {question}"
    if r < 0.92:
        a, b = w.any(*grammar.QUOTES)
        return f"{question}\n{a}{text}{b}"
    return f"{w.any('Read this carefully.', 'Please read the following text and answer the question.', 'I have a question about this text.', 'Here is some information:', 'Answer the question about the text below.', 'use the text below', 'See below.')}\n\n{text}\n\n{question}"


def finish(question, reasoning, answer, check=None):
    return question, reasoning, answer, check or {"equals": answer}


def two_worlds(w):
    """One text, or two of different kinds one after the other; the questions are about the first or the second."""
    x = World(w)
    if w.chance(0.16):
        y = World(w)
        if y.name != x.name:
            texts = [x.text(w), y.text(w)]
            if w.chance(0.5):
                texts.reverse()
            return x, "\n\n".join(texts) if w.chance(0.6) else " ".join(texts)
    return x, x.text(w)


def evidence(w, world, i):
    sentence = world.sentences[i]
    return f"The text says: {sentence}" if sentence else f"It is signed and addressed: {world.facts[i][3]}."


def asked(w):
    world, text = two_worlds(w)
    i = w.rng.randrange(len(world.facts))
    fact = world.facts[i]
    question = world.question(w, w.any(*fact[5]))
    return finish(laid_out(w, text, question), evidence(w, world, i), fact[3])


def unsaid(w):
    world = World(w)
    text = world.text(w)
    others = [m for m in world.missing if m[1] not in {f[1] for f in world.facts} or w.chance(0.5)]
    if not others:
        return asked(w)
    key, kind, pattern = w.any(*others)
    question = world.question(w, pattern)
    return finish(laid_out(w, text, question), w.any(f"The text says nothing about that: {key}.", f"{capital(key)}: the text does not say it."), NOT_SAID)


def does_it_say(w):
    world = World(w)
    text = world.text(w)
    yes = w.chance(0.5)
    fact = w.any(*world.facts) if yes else None
    key = fact[0] if yes else w.any(*world.missing)[0]
    words = {"opens": "the opening time", "closes": "the closing time", "what": "what it is", "dest": "the destination", "by": "the means of transport", "was": "its former use", "now": "its present use", "for": "who it is for", "eats": "the food", "lives": "the habitat", "since": "since when it exists", "shut": "the closing day", "people": "the number of inhabitants",
             "left": "how many are left", "when": "a day", "where": "the place", "saw": "what was visited", "ate": "what was eaten", "lost": "a lost thing", "bring": "what to bring", "known": "what it is known for", "married": "a wedding", "built": "the year of building", "late": "a due date", "young": "the number of young", "moved": "a move", "rain": "a plan for rain", "with": "who came along",
             "bought": "a souvenir", "next": "the next game", "tests": "who does the testing", "designs": "the designer", "customers": "who talks to customers", "money": "who looks after the money", "task": "what they work on", "missing": "what is not included", "sleeps": "hours of sleep", "active": "when it is active", "sells": "what is sold", "day": "the date", "count": "a number of people", "person": "another person",
             "fire": "a fire", "crowd": "the number of spectators", "injured": "an injury"}.get(key, "the " + key)
    question = typed(w, "(does|do) the (text|passage) (say|mention|tell [us]) [anything about] {k}?|is {k} mentioned [in the text]?|can I find {k} in the text?|is there [any] information about {k} [in it]?|(does it say anything|is anything said) about {k}?", k=words)
    if yes:
        i = world.facts.index(fact)
        return finish(laid_out(w, text, question), evidence(w, world, i), f"Yes: {fact[3]}", {"contains": ["Yes"]})
    return finish(laid_out(w, text, question), "I find nothing about it.", "No, the text does not say that.")


def true_or_false(w):
    world = World(w)
    told = [i for i, s in enumerate(world.sentences) if s]
    text = world.text(w)
    i = w.any(*told)
    sentence = world.sentences[i]
    fact = world.facts[i]
    r = w.rng.random()
    style = w.any(("true", "false"), ("yes", "no"), ("true", "false"))
    if r < 0.5:
        claim, right = sentence, True
    else:
        for _ in range(20):
            value = draw(w, fact[1])[1]
            if value.lower() != fact[3].lower() and fact[3] in sentence:
                break
        else:
            return asked(w)
        claim, right = sentence.replace(fact[3], value), False
    answer = capital(style[0 if right else 1])
    question = {"true": "(true or false[?]|is (this|that|it) true or false[?]|True/False|right or wrong, true or false|decide: true or false|Answer true or false)", "yes": "(yes or no[?]|is (that|this) (right|correct|true), yes or no?|correct? yes or no|Answer yes or no)"}[style[0]]
    question = typed(w, question)
    asked_text = w.any(f"{question.rstrip(' :')}: {claim}", f"{claim} {question}", f"\"{claim}\" - {question}", f"{question}\n{claim}")
    reason = f"The text says: {sentence}" + ("" if right else " That differs.")
    return finish(laid_out(w, text, asked_text), reason, answer)


def several_questions(w):
    world = World(w, facts=w.number(2, 6))
    count = min(len(world.facts), w.number(2, 3))
    chosen = w.rng.sample(range(len(world.facts)), count)
    text = world.text(w)
    questions = [world.question(w, w.any(*world.facts[i][5])) for i in chosen]
    r = w.rng.random()
    if r < 0.5:
        lines = "\n".join(f"{k + 1}. {q}" for k, q in enumerate(questions))
        answer = "\n".join(f"{k + 1}. {world.facts[i][3]}" for k, i in enumerate(chosen))
        if w.chance(0.3) and world.missing:
            lines += f"\n{count + 1}. {world.question(w, w.any(*world.missing)[2])}"
            answer += f"\n{count + 1}. {NOT_SAID}"
        question = w.any("", "Answer these questions:\n", "Questions:\n", "Please answer:\n", "questions\n") + lines
    else:
        question = w.any(" and ", " And ", " ").join([q.rstrip("?.! ") for q in questions[:-1]] + [questions[-1][0].lower() + questions[-1][1:]])
        answer = grammar.listing([world.facts[i][3] for i in chosen])
    return finish(laid_out(w, text, question), " ".join(evidence(w, world, i) for i in chosen), answer)


# Little stories with a reason and an outcome: what happened, why, what was done.
STORIES = """{n} missed the {bus} | {he} had forgotten {his} {item} at home | {he} took a taxi ; {n} walked ; {he} called a friend | Where had {n} forgotten the {item}? => at home
the {party} was moved from {d} to {d2} | the {hall} was flooded ; the band was ill | {n} wrote to all guests ; everybody was told by phone | To which day was the {party} moved? => {d2}
the {machine} stopped working | a fuse had blown ; a cable was broken ; water had got into it | {n} replaced the part ; a technician came from {c} | Who or what repaired it? => -
{n} was late for {work} | there was (snow|ice) on the road ; the {bus} broke down ; {he} overslept | {he} stayed an hour longer ; {his} boss did not mind | -
the {shop} closed for a week | the owner was ill ; the roof was leaking ; there was no electricity | the customers went to {c} ; it opened again on {d} | -
{n} moved to {c} | {he} found a new job there ; {his} sister lives there ; the rent is lower there | {he} sold {his} {item} before | Where did {n} move? => {c}
{n} returned the {item} | it was too small ; it was broken ; it had the wrong color | the shop gave {o} {his} money back ; {he} got a new one | What did {n} return? => the {item}
the (flight|train) to {c} was cancelled | there was a storm ; the crew was on strike ; there was fog | the passengers slept at the (airport|station) ; {n} drove there by car | Where did it go? => {c}
the village got a new {house} | the old one had burned down ; the old one was too small | the mayor opened it on {d} ; a party was held | What did the village get? => a new {house}
{n} found a {item} on the street | someone had dropped it ; it had fallen off a truck | {he} brought it to the police ; {he} put up a note | What did {n} find? => a {item}
the {team} lost the game | their best player was injured ; they had not trained | the coach {n} apologised to the fans ; they will train every day now | -
{n} could not sleep | the neighbours were playing loud music ; it was too hot ; {he} had drunk too much coffee | {he} read a book until morning ; {he} went for a walk | -
the {animal} ran away | the gate was open ; it was afraid of the thunder | {n} found it in the park ; it came back in the evening | Who found it? => -
the price of {goods} has risen | the harvest was bad ; transport has become expensive | many people buy less ; {n} now grows them at home | -
{n} won a prize | {he} had written the best story ; {his} photo was the best of all ; {he} had saved a child | {he} gave the money to the school ; {he} bought a {item} | What did {n} win? => a prize
the computer of {n} was slow | the disk was full ; a virus was on it ; it was ten years old | {he} deleted the old files ; {he} bought a new one | Whose computer was slow? => {n}
the museum bought an old {item} | it had belonged to a king ; it is the only one of its kind | it will be shown from {d} on | What did the museum buy? => an old {item}
the bridge was closed | there was a crack in it ; a truck had damaged it | drivers had to go through {c} ; it will be repaired by {m} | -
{n} painted the kitchen {k} | {he} was tired of the old color ; it is {his} favourite color | {his} family was surprised ; now it looks bigger | What color did {n} paint the kitchen? => {k}
the tomatoes of {n} died | there was hail in {m} ; {he} forgot to water them | next year {he} will try again ; {he} planted beans instead | What died? => the tomatoes
the concert started late | the singer was stuck in traffic ; the microphone did not work | the fans sang by themselves ; the band played longer | -
{n} learned {lang} | {he} wanted to work in {c} ; {his} wife comes from there | after a year {he} could read books ; {he} passed the exam | Which language did {n} learn? => {lang}
the website was down | too many people visited it ; the memory ran out ; the certificate had expired | {n} restarted the server ; it worked again at {t} | When did it work again or who fixed it? => -
the library got fewer visitors | it had no seats ; it closed too early | now it is open until {t} ; a cafe was opened inside | -
{n} sold the {car} | {he} needed the money ; it used too much fuel | now {he} goes by bike ; {he} bought a smaller one | What did {n} sell? => the {car}"""
STORIES = [[c.strip() for c in line.split(" | ")] for line in STORIES.split("\n")]
EXTRA = ["Nobody had expected it.", "That was on a {d}.", "The neighbours talked about it for weeks.", "It was raining.", "{n2} saw everything.", "The newspaper wrote about it.", "It was already dark.", "It happened in {m}.", "The children thought it was funny.", "This had happened once before.", "It took {x} hours."]


def story(w):
    """(sentences, what, why or None, outcome, extra question)"""
    what, whys, outcomes, extra = w.any(*STORIES)
    he = w.any("he", "she")
    his = {"he": "his", "she": "her"}[he]
    n = w.first_name()
    d, d2 = w.rng.sample(lexicon.DAYS, 2)
    item = w.any(*ITEMS)
    slots = {"n": n, "he": he, "his": his, "o": "him" if he == "he" else "her", "item": item, "d": d, "d2": d2, "c": w.city(), "m": w.any(*lexicon.MONTHS), "k": w.any(*lexicon.KINDS["color"][:8]), "t": f"{w.number(6, 22)}:{w.any('00', '15', '30', '40')}", "x": w.number(2, 9), "n2": w.first_name(),
             "bus": w.any("bus", "train", "ferry", "tram", "plane"), "party": w.any("party", "picnic", "concert", "meeting", "wedding", "match"), "hall": w.any("hall", "garden", "park", "room", "field"), "machine": w.any("printer", "washing machine", "lift", "heating", "coffee machine", "elevator"), "work": w.any("work", "school", "dinner", "the exam", "the interview"), "shop": w.any("bakery", "shop", "cafe", "museum", "pool", "restaurant"),
             "house": w.any("school", "library", "bridge", "town hall", "fire station"), "team": w.any("team", "girls", "home team"), "animal": w.any("dog", "horse", "goat", "cow", "parrot", "rabbit"), "goods": w.any("apples", "potatoes", "tomatoes", "cherries", "carrots"), "lang": w.any(*lexicon.KINDS["language"]), "car": w.any("car", "house", "boat", "truck", "piano")}
    what, why, outcome = (say(w, w.any(*cell.split(" ; ")), **slots) for cell in (what, whys, outcomes))
    question = None
    if "=>" in extra:
        q, a = extra.split(" => ")
        if a != "-":
            question = q.format_map(slots), a.format_map(slots)
    return what, why, outcome, question, [e.format_map(slots) for e in w.rng.sample(EXTRA, w.any(0, 0, 1, 1, 2))], slots


def story_text(w, what, why, outcome, extras):
    joined = w.any("{W} because {y}. {O}.", "{Y}, so {w}. {O}.", "{W}. The reason: {y}. {O}.", "{W}, because {y}. In the end {o}.", "Because {y}, {w}. {O}.", "{W}. {Y}. {O}.", "{W} because {y}. After that {o}.").format(
        W=capital(what), w=what, Y=capital(why), y=why, O=capital(outcome), o=outcome)
    parts = joined.split(". ")
    for extra in extras:
        parts.insert(w.number(0, len(parts) - 1) if len(parts) > 1 else 0, extra.rstrip("."))
    return ". ".join(capital(p) for p in parts)


def why(w):
    what, reason, outcome, extra, extras, slots = story(w)
    text = story_text(w, what, reason, outcome, extras)
    r = w.rng.random()
    if extra and r < 0.35:
        question, answer = extra
        return finish(laid_out(w, text, grammar.fill(grammar.typists(w, question.replace("{", "").replace("}", ""), 0.3), {})), f"It says: {capital(what)}.", answer)
    if r < 0.8:
        question = typed(w, "why[?]|why (was|is) that[?]|what was the reason[?]|Why did (this|that|it) happen?|what (caused|was the cause of) (this|that|it)?|for what reason?|How come?|Because of what?|tell me why|what is the reason for (this|it)?|Why, according to the text?")
        return finish(laid_out(w, text, question), f"The reason stands there: {reason}.", f"Because {reason}.")
    question = typed(w, "(what|how) (happened in the end|did it end)[?]|what happened (afterwards|after that|then|next)?|What was the (result|outcome|consequence)?|how does the (story|text) end?")
    return finish(laid_out(w, text, question), "The end of the text.", f"{capital(outcome)}.")


def summary(w):
    r = w.rng.random()
    limit = w.any("", "", "", " (in|with) (one|a single) sentence", " (in|within) one (line|sentence)", " (briefly|shortly|in short|in brief)", " in a few words", " in (at most|max|no more than) (15|20|25) words", " for my boss", " for a busy reader")
    pattern = w.any(f"(summarize|summarise|sum up|condense|recap) (this|the text|the following|it|this text|the passage|the story|the following [text]){limit}", f"(give me|write|make) a [short|brief|quick|one-sentence] summary [of (this|the text|it)]{limit}", f"(what is|tell me) the main (point|idea|message) [of (this|the text)]", f"(what|tell me what) (happened|happens) [here|in the text]{limit}", "(tl;dr|TLDR|tldr|in short)[?]",
                    f"(boil|cut) it down to (one sentence|the essentials)", f"(say|tell me) in one sentence what (this|the text) says", "(what is the gist [of this]|give me the gist)", f"(shorten|reduce) (this|the text) to one sentence")
    if r < 0.5:
        what, reason, outcome, _, extras, _ = story(w)
        text = story_text(w, what, reason, outcome, extras)
        answer = f"{capital(what)} because {reason}."
    elif r < 0.8:
        world = World(w, facts=w.number(2, 7))
        text, answer = world.text(w), world.summary()
        if world.name == "mail":
            by = {f[0]: f[2] for f in world.facts}
            answer = f"{by['sender']} writes to {by['receiver']} about {by['topic']}."
        elif world.name == "match":
            by = {f[0]: f[2] for f in world.facts}
            answer = f"{capital(by['winner'])} won, {by['score']}."
    else:
        n, m = w.first_name(), w.first_name()
        what, reason, outcome, _, _, _ = story(w)
        a = w.any("Did you hear? ", "Guess what: ", "Hi! ", "You know, ", "")
        text = f"{n}: {a}{capital(what) if not a.endswith(', ') else what}.\n{m}: {w.any('Really? Why?', 'Oh no, why?', 'How come?', 'What happened?')}\n{n}: {w.any('Because ', '', 'Well, ')}{reason}.\n{m}: {w.any('I see.', 'And then?', 'What a pity.', 'OK.')}\n{n}: {capital(outcome)}."
        answer = f"{n} tells {m} that {what} because {reason}."
        if w.chance(0.5):
            pattern = w.any("(summarize|summarise|sum up) (this|the) (conversation|chat|dialogue)", "what do (they|these two) talk about?", "what is this (chat|conversation) about?")
    inline = "\n" not in text
    return finish(ordered(w, pattern, text, inline) if "?" not in pattern and "tl;dr" not in pattern else with_payload(w, typed(w, pattern), text, inline), "The main thing and its reason.", answer)


def title(w):
    what, reason, outcome, _, extras, slots = story(w)
    text = story_text(w, what, reason, outcome, extras)
    r = w.rng.random()
    if r < 0.5:
        return finish(ordered(w, "(give|find|suggest|write) [me] a (title|headline|heading) [for (this|it|the text|this story)]|(what would be|think of) a good (title|headline) [for this]|what title would you give (it|this)|I need a (title|headline) [for this]", text), "A title names what happened.", capital(what))
    if r < 0.75:
        return finish(with_payload(w, typed(w, "what is (this|the text|it|this text) about[?]|what's the topic [of (this|it)][?]|(topic|subject) of the text|in a few words, what is this about?|what does this text deal with?"), text), "The main thing.", capital(what) + ".")
    words = [x for x in dict.fromkeys(what.split()) if len(x) > 3 and x.lower() not in ("because", "from", "late", "could", "that", "with", "their")][:3]
    if len(words) < 2:
        return title(w)
    n = len(words)
    return finish(ordered(w, f"(give me|find|list|extract|name) ({n}|{lexicon.SMALL[n]}) key[ ]words [for|of] [this|this text]|{lexicon.SMALL[n]} key[ ]words [please|for this]|tag (this|the text) with {n} key[ ]words", text), "Words that carry it.", ", ".join(words))


TIMES = "morning evening night noon day week year Sundays Saturday Saturdays Fridays Mondays Monday lunch breakfast summer winter spring eight six nine time weekends work".split()


def tail_kind(tail):
    """Which question word asks for a tail, and the short answer."""
    first, last = tail.split()[0], tail.rstrip(".").split()[-1]
    if last in TIMES and first in ("every", "at", "on", "in", "before", "after", "until", "twice", "all"):
        return "When"
    if first == "with" and tail.split()[1] not in ("a", "the", "two"):
        return "With whom"
    if first == "for" and last not in ("hour",):
        return "For whom"
    if first == "by" and last in ("train", "phone", "hand"):
        return "How"
    if first in ("in", "at", "under", "behind", "near", "into", "from", "on", "along", "through", "over", "up", "around") and last not in ("hours", "days", "minutes", "carefully"):
        return "Where"
    return None


def clauses_asked(w):
    """Several small clauses by several people; who did it, what, where, when, with whom, or none of that."""
    tense_ = w.any("past", "past", "past", "present", "future")
    clauses, seen = [], set()
    while len(clauses) < w.number(2, 9):
        c = Clause(w, "any" if w.chance(0.3) else "named")
        if c.subject in ("you", "they", "he", "she", "we") or c.subject in seen or c.verb in [x.verb for x in clauses] and w.chance(0.6):
            continue
        seen.add(c.subject)
        clauses.append(c)
    c = w.any(*clauses)
    text = " ".join(x.said(tense_) for x in clauses)
    base, third, past, _, ing = lexicon.forms(c.verb)
    who = "you" if c.subject == "I" else c.subject
    helper = {"past": "did", "present": "do" if c.subject == "I" or is_many(c.subject) else "does", "future": "will"}[tense_]
    finite = {"past": past, "present": third, "future": f"will {base}"}[tense_]
    evident = f"The text says: {c.said(tense_)}"
    options = ["who"]
    kind = tail_kind(c.tail) if c.tail else None
    if c.object:
        options += ["what", "what"]
    if kind:
        options += ["tail", "tail"]
    options += ["none"]
    what = w.any(*options)
    same_verb = [x for x in clauses if x is not c and x.verb == c.verb]
    if what == "who":
        rest = f"{c.object} {c.tail}".strip() if same_verb or w.chance(0.4) else c.object or c.tail
        question, answer = f"Who {finite} {rest}?", "I" if c.subject == "I" else c.subject
        if sum(f"{x.object} {x.tail}".find(rest) >= 0 and x.verb == c.verb for x in clauses) > 1:
            return clauses_asked(w)
    elif what == "what":
        question, answer = w.any(f"What {helper} {who} {base}?", f"What {helper} {who} {base}?", f"what {helper} {who} {base} {c.tail}?".replace(" ?", "?")), c.object
    elif what == "tail":
        question, answer = f"{kind} {helper} {who} {base} {c.object}?".replace(" ?", "?"), c.tail
    else:
        missing = [k for k in ("When", "Where", "Why", "With whom") if k != kind]
        if c.tail and not kind:
            return clauses_asked(w)
        question = f"{w.any(*missing)} {helper} {who} {base} {c.object}?".replace(" ?", "?")
        answer, evident = NOT_SAID, f"The text only says: {c.said(tense_)}"
    if w.chance(0.3):
        question = question[0].lower() + question[1:].rstrip("?")
    return finish(laid_out(w, text, question), evident, answer)


TASKS = {clauses_asked: 22, asked: 34, unsaid: 16, does_it_say: 5, true_or_false: 7, several_questions: 9, why: 10, summary: 20, title: 7}


def question_of(w):
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)
