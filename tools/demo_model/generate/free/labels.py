"""Labels for what other lists leave out: two topics in a question, kinds of sentences, words one by one, feelings,
opinions that are neither good nor bad, facts and opinions."""

from . import classify, lexicon
from .clauses import Clause
from .grammar import capital, listing, say, typed, with_payload
from .reading import finish


def asked(w, pattern, payload, /, **slots):
    return with_payload(w, typed(w, pattern, **slots), payload)


def sentence_kind(w):
    kinds = ["question", "statement", "order"] + (["exclamation"] if w.chance(0.3) else [])
    kind = w.any(*kinds)
    c = Clause(w)
    word = w.any("order", "order", "command", "request")
    names = {"order": word}
    text = {"question": lambda: c.said(w.any("present", "past", "future", "can"), question=True) if w.chance(0.6) else say(w, "(where|when|why|how) (is|was) the {x}?", x=w.noun()), "statement": lambda: c.said(w.any("present", "past", "future", "can"), negative=w.chance(0.2)), "order": lambda: w.any(c.imperative(), f"{w.any('Close', 'Open', 'Bring', 'Take', 'Clean', 'Leave', 'Stop')} the {w.noun()}.", f"Please {c.imperative()[0].lower()}{c.imperative()[1:]}", f"Don't {c.imperative()[0].lower()}{c.imperative()[1:]}"), "exclamation": lambda: f"What {lexicon.article(w.adjective())} {w.noun()}!"}[kind]()
    if kind == "order" and w.chance(0.2):
        text = text.rstrip(".") + "!"
    labels = [names.get(k, k) for k in kinds]
    w.rng.shuffle(labels)
    why = {"question": "It asks something", "statement": "It says how something is", "order": "It tells somebody to do something", "exclamation": "It calls out"}[kind]
    return finish(asked(w, "{l}[?]|is (this|it) [a] {l}[?]|(what|which) kind of sentence is (this|it): {l}[?]|(label|classify) (this|the) sentence: {l}|{l} - which [is it]?", capital(text), l=listing(labels, "or")), f"{why}: {names.get(kind, kind)}.", names.get(kind, kind))


GROUPS = [{"animal": ["animal", "bird", "insect"], "plant": ["tree", "flower", "vegetable"]}, {"fruit": ["fruit"], "vegetable": ["vegetable"]}, {"food": ["dish", "dessert", "fruit"], "drink": ["drink"]}, {"person": ["job", "family member"], "place": ["city", "country", "building"], "thing": ["tool", "kitchen item", "piece of furniture", "device"]}, {"city": ["city"], "country": ["country"]}, {"living": ["animal", "tree", "flower"], "not living": ["tool", "metal", "device", "vehicle"]},
          {"day": ["day of the week"], "month": ["month"]}, {"clothing": ["piece of clothing"], "furniture": ["piece of furniture"], "vehicle": ["vehicle"]}, {"color": ["color"], "shape": ["shape"]}, {"sport": ["sport"], "instrument": ["musical instrument"]}, {"animal": ["animal", "bird"], "object": ["tool", "kitchen item", "toy"]}, {"metal": ["metal"], "gem": ["gem"], "wood": ["tree"]}]


def groups(w):
    """Words that get one of the labels each."""
    labels = w.any(*GROUPS)
    many = {}
    for _ in range(w.number(2, 6)):
        label = w.any(*labels)
        kind = w.any(*labels[label])
        x = w.any(*lexicon.KINDS[kind])
        if sum(x in lexicon.KINDS[k] for ks in labels.values() for k in ks) == 1:
            many[x] = (label, kind)
    names = list(labels)
    w.rng.shuffle(names)
    if w.chance(0.4) or len(many) < 2:
        x, (label, kind) = next(iter(many.items())) if many else ("hammer", ("tool", "tool"))
        if label not in labels:
            return groups(w)
        a = label if label in ("living", "not living", "clothing", "furniture", "food", "wood") else lexicon.article(label)
        shown = [n if n in ("living", "not living", "clothing", "furniture", "food", "wood") else lexicon.article(n) for n in names]
        question = typed(w, "is ('{x}'|{x}) {l}[?]|{x}: {l}[?]|{l}: {x}|what is {x}, {l}[?]|{x} - {l}?", x=x, l=listing(shown, "or"))
        return finish(question, f"{capital(x)}: {kind}, so {label}.", a, {"contains": [label]})
    question = asked(w, "(label|mark|tag|classify) (each|each word|every word|these|them) as {l}|{l}[?] (for each|one by one)|(which|what) is {l}|(sort|say) for each word if it is {l}|{l}, (word by word|line by line)", w.any(", ", ", ", "\n", "; ").join(many), l=listing(names, "or"))
    return finish(question, "; ".join(f"{x} {kind}, {label}" if kind != label else f"{x} {label}" for x, (label, kind) in many.items()) + ".", "\n".join(f"{x}: {label}" for x, (label, _) in many.items()))


FEELINGS = {"joy": "I can't stop smiling [today]|this is the best day (ever|of my life)|I got the job and could (sing|dance)|we are having a baby, finally|what a wonderful evening with {n}|I jumped up when I saw {n} again|hooray, we won|my heart is singing since {d}|I love my new {x} so much|everything is going so well [at the moment]",
            "sadness": "I can't believe (she|he) is gone|I cry (every day|a lot) since {n} left|I miss {n} so much|nobody came to my party|my old {x} is lost for ever|the house feels so empty without {n}|I lie in bed all day and stare at the wall|saying goodbye to {n} broke my heart|tears (come|run) whenever I hear that song|everything seems grey and pointless",
            "anger": "how dare (they|you) (touch|sell) my {x}|I have had enough of {n}|this is outrageous, I want my money back|they lied to me again and again|stop that noise right now|I could smash the {x} (to pieces|against the wall)|I am sick (and tired|) of waiting|who parked in front of my door again|{n} stole my idea, unbelievable|I told you ten times already",
            "fear": "I (don't|do not) dare to open the {x}|there is somebody in the cellar|my hands shake when I think of the exam|I can't sleep because of the noises at night|what if the plane crashes|please don't leave me alone in the dark|I hope {n} never finds out|my knees were trembling on the bridge|I am terrified of {x}s|something moved behind the {x}",
            "surprise": "I did not see that coming|wow, {n} is here, of all people|who would have thought that|out of nowhere there was a {x}|I never expected to win|wait, you two are married|are you serious, {n} sings|I opened the box and there was a {x} in it|no way, that is my old {x}|I had no idea that you speak Greek"}
WHY = {"joy": "happy words", "sadness": "a loss, no hope", "anger": "it accuses somebody", "fear": "something threatens", "surprise": "it was not expected"}
OTHERS = {"joy": "(happy|joyful)", "sadness": "sad", "anger": "angry", "fear": "(afraid|scared)", "surprise": "surprised"}


def feelings(w):
    feeling = w.any(*FEELINGS)
    text = capital(say(w, FEELINGS[feeling], n=w.first_name(), x=w.noun(), d=w.any(*lexicon.DAYS))) + w.any(".", "!", "...")
    names = w.rng.sample([f for f in FEELINGS if f != feeling], w.number(1, 4)) + [feeling]
    w.rng.shuffle(names)
    if w.chance(0.4):
        words = {"joy": "happy", "sadness": "sad", "anger": "angry", "fear": "afraid", "surprise": "surprised"}
        question = asked(w, "how does the (writer|author|speaker|person) feel[: {l}|, {l}|][?]|is (he|she|the writer|this person) {l}[?]|{l}[?]|the (mood|feeling) of the writer: {l}[?]", text, l=listing([words[n] for n in names], "or"))
        return finish(question, f"{capital(WHY[feeling])}: {words[feeling]}.", words[feeling])
    question = asked(w, "(which|what) (feeling|emotion) is (this|it|in this)[: {l}|, {l}][?]|{l}[?]|(label|classify) the (feeling|emotion)[: {l}| ({l})]|(feeling|emotion) [of this], {l}[?]".replace("({l})", "as {l}"), text, l=listing(names, "or"))
    return finish(question, f"{capital(WHY[feeling])}: {feeling}.", feeling)


NEUTRAL = """it's (okay|ok|fine|alright), nothing special|(neither|not) good (nor|and not) bad|average, I guess|it does what it should, no more|so-so|nothing to (praise|shout about), nothing to complain about|it is what it is|could be better, could be worse|an ordinary {x}, (like any other|like all of them)|it arrived on {d}|I have no opinion on the {x}|the {x} is (as expected|like in the picture)
middling {x}, middling price|it works, that's all|I bought it on {d} and have not used it yet|standard {x}, standard size|some like it, some don't|the {x} comes with a manual|it's a {x}, what can I say|it was neither here nor there|acceptable, not more|fair enough for the price, but nothing special|we went there on {d}|half of it was good, half of it was not""".replace("\n", "|")


def middling(w):
    """Opinions of three kinds, many of them neither good nor bad."""
    kind = w.any("neutral", "neutral", "positive", "negative")
    slots = dict(x=w.noun(), d=w.any(*lexicon.DAYS))
    good, bad = w.any(*lexicon.GOOD), w.any(*lexicon.BAD)
    text = {"neutral": lambda: say(w, f"({NEUTRAL})", **slots), "positive": lambda: w.any(f"the {slots['x']} is {good}", w.any(*lexicon.GOOD_PHRASES), f"what a {good} {slots['x']}"), "negative": lambda: w.any(f"the {slots['x']} was {bad}", w.any(*lexicon.BAD_PHRASES), f"such a {bad} {slots['x']}")}[kind]()
    why = {"neutral": "Neither praise nor complaint", "positive": "Praise", "negative": "A complaint"}[kind]
    text = capital(text) if w.chance(0.6) else text
    question = asked(w, "(positive, negative or neutral|positive, neutral or negative|neutral, positive or negative)[?]|sentiment [of this] (positive, negative, neutral)|(is this|is it) positive, negative or neutral[?]|sentiment[?] (positive/negative/neutral)|(label|classify) as positive, negative or neutral".replace("(positive, negative, neutral)", "as positive, negative or neutral").replace("(positive/negative/neutral)", "positive/negative/neutral"), text)
    return finish(question, f"{why}: {kind}.", kind)


STATED = ["{c} is a city|{c} has more than one school|water boils at 100 degrees|the {x} is made of wood|{n} was born in {y}|a week has seven days|the {x} weighs two kilos|the train leaves at nine|there are {k} people in the room|the bridge was built in {y}|{n} lives in {c}|the shop opens at eight|the book has {k} pages",
          "{c} is the nicest city of all|{b} is the most beautiful colour|everybody should learn to play the piano|the {x} looks awful|{n} is far too strict|summer is better than winter|nothing tastes better than soup|the {x} is too expensive, I think|cats are better than dogs|that film is boring|{n} sings beautifully|the best season is {s}|nobody needs a {x}"]


def opinions(w):
    opinion = w.chance(0.5)
    text = capital(say(w, STATED[opinion], c=w.city(), x=w.noun(), n=w.first_name(), y=w.number(1900, 2020), k=w.number(3, 400), b=w.any(*lexicon.KINDS["color"]), s=w.any(*lexicon.KINDS["season"]))) + "."
    a, b = ("fact", "opinion") if w.chance(0.5) else ("opinion", "fact")
    answer = "opinion" if opinion else "fact"
    return finish(asked(w, "{a} or {b}[?]|is (this|that) (a|an) {a} or (a|an) {b}[?]|{a}/{b}?|(can this be checked|is it measurable) - {a} or {b}[?]".replace("(a|an) {a} or (a|an) {b}", "{a} or {b}"), text, a=a, b=b), "It can be checked." if not opinion else "It says what somebody likes or thinks.", answer)


def between(w):
    """About one thing or another, asked as a question."""
    a, b = w.rng.sample(list(classify.TOPICS), 2)
    if {a, b} in classify.NEAR:
        return between(w)
    topic = w.any(a, b)
    text = classify.topic_text(w, topic)
    third = f", {w.any(*[t for t in classify.TOPICS if t not in (a, b)])}" if w.chance(0.3) else ""
    return finish(asked(w, "(is|was) (this|it) (about|on) {a}{c} or {b}[?]|(does it|does this) (concern|deal with) {a}{c} or {b}[?]|{a}{c} or {b}[?]|(what|which topic) is it[:|,] {a}{c} or {b}[?]|{a}{c} or {b} - what is the text about?", text, a=a, b=b, c=third), f"This is about {topic}.", topic)


def reasons(w):
    """A label, and the words that it follows from."""
    labels = w.any(("positive", "negative"), ("positive", "negative"), ("praise", "complaint"), ("good", "bad"))
    if w.chance(0.7):
        good = w.chance(0.5)
        label, words = labels[not good], w.any(*(lexicon.GOOD_PHRASES if good else lexicon.BAD_PHRASES)).rstrip(".!")
        beside = [Clause(w, "named").said("past")] if w.chance(0.5) else []
        sentences = [capital(words) + ".", *beside]
    else:
        label = w.any(*FEELINGS)
        labels = [*w.rng.sample([f for f in FEELINGS if f != label], w.number(1, 3)), label]
        words = say(w, FEELINGS[label], n=w.first_name(), x=w.noun(), d=w.any(*lexicon.DAYS)).rstrip(".!?")
        sentences = [capital(words) + w.any(".", "!")]
    labels = list(labels)
    w.rng.shuffle(labels)
    w.rng.shuffle(sentences)
    question = asked(w, "{l}[?] (why|and why|say why|give (a|one|your) reason|which words tell you)[?]|(label|mark|classify) (it|this) as {l} and (say why|tell me why|give the reason)|(what is it|which is it), {l}[?] (explain|justify it|with a reason)[, please]|{l}, (with|and) the reason",
                     " ".join(sentences), l=listing(labels, "or"))
    return finish(question, f"It says: {words}. {capital(label)}.", f"{capital(label)}, because it says: {words}.", {"contains": [label]})


TASKS = {classify.question_of: 130, reasons: 18, sentence_kind: 12, groups: 20, feelings: 16, middling: 14, opinions: 8, between: 12}


def question_of(w):
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)
