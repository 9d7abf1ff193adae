"""Rewriting of sentences in which more than one word changes: two verbs, persons with what belongs to them, several
contractions, every noun, tone put together from parts, notes made sentences. The thought names each change."""

import re

from . import lexicon
from .clauses import Clause
from .grammar import capital, listing, ordered, say, typed, with_payload
from .tables.needs import TASKS as CHORES

THIS = "(this|the (sentence|text)|this (sentence|text)|it|the following)"


def finished(thought, answer, question):
    return question, thought, answer, {"equals": answer}


def changes(pairs):
    return ", ".join(f"{a} becomes {b}" for a, b in pairs if a != b) + "."


def asked(w, pattern, payload, /, **slots):
    """Orders, and behind || what is said without an order: "in the past tense, please"."""
    orders, _, bare = pattern.partition(" || ")
    if w.chance(0.4):
        return with_payload(w, typed(w, bare, **slots), payload)
    return ordered(w, orders, payload, **slots)


PERSONS = {"I": ("I", "my", "me", "p"), "you": ("you", "your", "you", "p"), "he": ("he", "his", "him", "s"), "she": ("she", "her", "her", "s"), "we": ("we", "our", "us", "p"), "they": ("they", "their", "them", "p")}
# {s} the subject, {p} what is theirs, {o} them; <verb> in the form of the subject; <<verb>> of a third person
LIVES = """{s} <work> in {A} and {p} {K} <<help>> {o}|{s} <live> with {p} {K} in {C}|{s} <take> {p} {N} to the {X}|every {D} {s} <visit> {p} {K}|{p} {K} <<call>> {o} every {D}|{s} <love> {p} {N}, but {s} <hate> the {X}|{s} <forget> {p} {N} and {p} {K} <<bring>> it to {o}
{s} <wash> {p} {N} and <clean> the {X}|when {s} <come> home, {p} {K} <<wait>> for {o}|{s} <buy> a {X} because {p} {K} <<need>> it|{s} <read> {p} {N} in the {X}|{s} <travel> to {C} with {p} {K}|{p} {N} <<belong>> to {o}|{s} <write> to {p} {K}, who <<live>> in {C}|{s} <try> to find {p} {N}
{s} <teach> in {C} and <like> {p} job|{s} <walk> to the {X} and <meet> {p} {K} there|{p} {K} <<teach>> {o} to swim|{s} <sell> {p} {N} and <buy> a {X}|{s} <drink> tea while {p} {K} <<sleep>>|{s} <watch> the game with {p} {K} and {p} {N}|{s} <play> cards and {p} {K} <<win>>""".replace("\n", "|").split("|")
KIN = "brother|sister|mother|father|friend|neighbour|boss|cousin|uncle|aunt|teacher|son|daughter".split("|")
VERB = re.compile(r"<(<?)(\w+)>>?")


def lived(text, person, tense):
    """The pattern said of a person; and the verbs in it."""
    s, p, o, number = PERSONS[person]
    verbs = []

    def said(m):
        base, third, past, _, _ = lexicon.forms(m[2])
        v = past if tense == "past" else f"will {base}" if tense == "future" else third if m[1] or number == "s" else base
        verbs.append(v)
        return v
    out = VERB.sub(said, text).replace("{s}", s).replace("{p}", p).replace("{o}", o)
    return capital(out) + ".", verbs


def pattern_of(w):
    return w.any(*LIVES).replace("{K}", w.any(*KIN)).replace("{C}", w.city()).replace("{N}", w.noun()).replace("{X}", w.noun()).replace("{D}", w.any(*lexicon.DAYS)).replace("{A}", w.any("a bank", "a school", "a hotel", "a hospital", "a shop", "an office"))


def persons(w):
    text, tense = pattern_of(w), w.any("present", "present", "past")
    a, b = w.rng.sample(list(PERSONS), 2)
    before, verbs = lived(text, a, tense)
    after, others = lived(text, b, tense)
    used = [i for i, mark in enumerate(("{s}", "{p}", "{o}")) if mark in text]
    label = {"I": "(the first person [singular]|I)", "you": "(the second person|you)", "he": "(the third person|he|the third person (he))", "she": "(she|the third person with she|the she form)", "we": "(the first person plural|we)", "they": "(they|the third person plural)"}[b].replace("(he)", "with he")
    if (a, b) in (("he", "she"), ("she", "he")):
        label = b
    order = f"(rewrite|change|put|turn) {THIS} (to|into|in) {label}|(change|turn) {a} (to|into) {b}|(write|say) {THIS} with {b} instead of {a}|(make|write) {THIS} about {b} || from {a} to {b}[, please]|{b} instead of {a}[, please]|in {label}[, please]|what is (this|it) with {b} [instead of {a}]?"
    order = order.replace("about I", "about me").replace("about he", "about him").replace("about she", "about her").replace("about they", "about them").replace("about we", "about us")
    pairs = [(PERSONS[a][i], PERSONS[b][i]) for i in used] + [(x, y) for x, y in zip(verbs, others) if x != y]
    return finished(changes(dict.fromkeys(pairs)), after, asked(w, order, before))


def tenses(w):
    """Every verb of a sentence with two or three."""
    tenses_ = ["present", "past", "future"]
    a, b = w.rng.sample(tenses_, 2)
    text, who = pattern_of(w), w.any(*PERSONS)
    while text.startswith("when ") or text.count(">") - text.count(">>") < 2 and w.chance(0.8):
        text = pattern_of(w)
    before, verbs = lived(text, who, a)
    after, others = lived(text, who, b)
    if w.chance(0.35):
        c = Clause(w)
        while not c.progressive_fits():
            c = Clause(w)
        base, third, past, _, _ = lexicon.forms(c.verb)
        d = w.any("and then", "and", "but", "and later")
        before = f"{c.said(a, end='')} {d} {before[0].lower() if not before.startswith('I ') else 'I'}{before[1:]}"
        after = f"{c.said(b, end='')} {d} {after[0].lower() if not after.startswith('I ') else 'I'}{after[1:]}"
        form = lambda t: {"past": past, "future": f"will {base}", "present": c.said("present", end="").split()[len(c.subject.split())]}[t]
        verbs, others = [form(a), *verbs], [form(b), *others]
    name = {"past": "(the past [tense]|the simple past|past tense)", "future": "(the future [tense]|future tense)", "present": "(the present [tense]|present tense)"}[b]
    return finished(changes(zip(verbs, others)), after, asked(w, f"(put|change|turn|rewrite|set) {THIS} (into|in|to) {name}|(tell|write) {THIS} in {name} || this in {name}[, please]|how (would (this|it) (look|sound|read)|does (this|it) (look|sound|read)) in {name}[?]|all verbs in {name}|in {name}[, please]", before))


CONTRACTIONS = [("I am", "I'm"), ("do not", "don't"), ("we are", "we're"), ("is not", "isn't"), ("it is", "it's"), ("they are", "they're"), ("cannot", "can't"), ("will not", "won't"), ("you have", "you've"), ("does not", "doesn't"), ("did not", "didn't"), ("I will", "I'll"), ("was not", "wasn't"), ("you are", "you're"), ("have not", "haven't"), ("she is", "she's"), ("that is", "that's"), ("I have", "I've")]
SHORT = """I am sure [that] they do not know {x}|we are late and it is not {a}|I am glad that you have seen {x}|it is true that she is in {c}|they are here, but {n} is not|I will call you if he does not come to {c}|you are right, that is not {x}|we are happy that it was not {a}|{n} does not know that we are here|I have told you that it is {a}
they cannot come because they are in {c}|I did not see that you are {a}|she is in {c} and will not help us|do not worry, I am with {n}|I have not found {x}, so I cannot go|if you are ready, we will not wait for {n}|that is why I do not like {x}|he was not at home and I have not met {n}|you have lost {x}, and that is {a}|we are sorry that it did not work""".replace("\n", "|")


def contractions(w):
    full = say(w, f"({SHORT})", x="the " + w.noun(), a=w.adjective(), c=w.city(), n=w.first_name())
    short, pairs = full, []
    for a, b in CONTRACTIONS:
        new = re.sub(rf"\b{a}\b", b, short)
        if new != short:
            pairs.append((a, b))
        short = new
    pairs.sort(key=lambda p: full.find(p[0]))
    full, short = capital(full) + ".", capital(short) + "."
    if w.chance(0.6):
        return finished(changes((b, a) for a, b in pairs), full, asked(w, f"(write|say|rewrite) {THIS} without (contractions|short forms)|(expand|write out|undo|resolve) (the|all) (contractions|short forms)|(use|write) the full forms || no contractions[, please]|without short forms|full forms[, please]", short))
    return finished(changes(pairs), short, asked(w, f"(write|say|rewrite) {THIS} with (contractions|short forms)|(use|put in) contractions|contract (everything|what you can) || with contractions[, please]|short forms[, please]", full))


NUMBERED = [("The {a} {v} {p} {b}.", "The {A} {V} their {B}."), ("The {a} has {ob}.", "The {A} have {B}."), ("A {a} needs {ob}.".replace("A {a}", "{Oa}"), "{A^} need {B}."), ("My {a} {v} the {b}.", "My {A} {V} the {B}."), ("This {a} is {j}.", "These {A} are {j}."), ("That {a} was {j}.", "Those {A} were {j}."), ("The {a} was in the {b}.", "The {A} were in the {B}."), ("The {a} doesn't know the {b}.", "The {A} don't know the {B}."), ("Is the {a} {j}?", "Are the {A} {j}?"), ("The {j} {a} {v} {ob}.", "The {j} {A} {V} {B}.")]
BEINGS = "child|boy|girl|woman|man|dog|cat|mouse|wolf|teacher|student|baker|farmer|lady|baby|nurse|wife|thief|bird|goose|horse|friend|pilot|witch|fox|king|guest|boss".split("|")
OBJECTS = "toy|book|bag|box|bus|knife|leaf|tooth|apple|potato|watch|city|story|key|letter|glass|dish|party|shelf|house|picture|car|tomato|bone|egg|hat|dress|map".split("|")


def numbers(w):
    a, b = w.any(*BEINGS), w.any(*OBJECTS) if w.chance(0.75) else w.noun()
    verb = w.any("read", "open", "love", "see", "carry", "watch", "lose", "find", "wash", "take", "sell", "bring", "hide", "use", "need")
    _, third, _, _, _ = lexicon.forms(verb)
    A, B = lexicon.plural(a), lexicon.plural(b)
    slots = dict(a=a, b=b, A=A, B=B, ob=lexicon.article(b), Oa=capital(lexicon.article(a)), v=third, V=verb, j=w.any("old", "happy", "small", "hungry", "quiet", "new", "clever", w.adjective()), p="her" if a in ("girl", "woman", "lady", "wife", "nurse", "witch") else "his" if a in ("boy", "man", "king", "pilot", "baker", "farmer", "thief") else "its" if a in ("dog", "cat", "mouse", "wolf", "bird", "goose", "horse", "fox") else "his")
    one, many = (t.replace("{A^}", capital(A)).format_map(slots) for t in w.any(*NUMBERED))
    words = list(zip(re.findall(r"[\w']+", one), re.findall(r"[\w']+", many))) if len(one.split()) == len(many.split()) else [(a, A), (b, B)] if b in one.split(" ")[-1] or B in many else [(a, A)]
    words = [(x.lower(), y.lower()) for x, y in words if x.lower() != y.lower()]
    if w.chance(0.6):
        return finished(changes(words), many, asked(w, f"(turn|put|change|write|set) {THIS} (into|in|to) [the] plural|make (everything|it all|all of it) plural || plural[, please]|the (same|sentence) in the plural|more than one of them|what is (this|it) in the plural?", one))
    return finished(changes((y, x) for x, y in words), one, asked(w, f"(turn|put|change|write|set) {THIS} (into|in|to) [the] singular|make (everything|it all) singular || singular[, please]|the (same|sentence) in the singular|only one of (them|each)|what is (this|it) in the singular?", many))


def everywhere(w):
    """One word for another, wherever it stands."""
    adjective = w.chance(0.5)
    a, b = (w.adjective(), w.adjective()) if adjective else (w.noun(), w.noun())
    n, m = w.noun(), w.noun()
    if a == b or a in (n, m):
        return everywhere(w)
    texts = ["The {a} {n} is in the {a} {m}.", "My {a} {n} needs your {a} {m}.", "It was {a}, really {a}, and the {n} was {a} too.", "My {n} is {a} and your {m} is {a}.", "The {a} {n} met the {m}. It was {a} as well.", "{p} has my {a} {n}, the {a} {m} and a car."] if adjective else ["The {a} is here, but my {a} is not.", "Every {a} has one {n}. No {a} has two.", "The {n} of the {a} and the {m} of the {a}.", "{p} bought one {a}. The {a} was in the {m}.", "One {a}, a second {a} and the {n}.", "The {a} saw the {n}, and the {n} saw the {a}."]
    text = capital(w.any(*texts).format(a=a, n=n, m=m, p=w.first_name()))
    answer = capital(re.sub(rf"\b{re.escape(a)}\b", lambda _: b, text, flags=re.I))
    count = len(re.findall(rf"\b{re.escape(a)}\b", text, re.I))
    if count < 2:
        return everywhere(w)
    mark = w.any("'", '"', "")
    return finished(f"{a} becomes {b}, {count} times.", answer, asked(w, "(replace|exchange) (every|each|all) {q}{a}{q} (with|by) {q}{b}{q}|(change|turn) (every|each) {q}{a}{q} (to|into) {q}{b}{q}|(swap|switch) {q}{a}{q} for {q}{b}{q} (everywhere|throughout) || {q}{b}{q} instead of {q}{a}{q}, everywhere|wherever it says {q}{a}{q}, write {q}{b}{q}", text, a=a, b=b, q=mark))


def described(w):
    """Adjectives go, or come."""
    kinds = ["old", "small", "red", "young", "new", "big", "blue", "tired", "green", "long", "clever", "heavy", "happy", "cheap", "round", "strange", "grey", "warm", "tall", "quiet"]
    n, m, o = w.any(*BEINGS), w.any(*OBJECTS), w.noun()
    j = w.rng.sample(kinds, 4)
    verb = w.any("bought", "found", "opened", "lost", "saw", "painted", "sold", "carried", "cleaned", "hid")
    kind = w.number(0, 3)
    rich, bare, used = [(f"The {j[0]} {n} {verb} {lexicon.article(j[1])} {j[2]} {m}.", f"The {n} {verb} {lexicon.article(m)}.", j[:3]), (f"{capital(lexicon.article(j[0]))} {n} {verb} my {j[1]} {m} in the {j[2]} {o}.", f"{capital(lexicon.article(n))} {verb} my {m} in the {o}.", j[:3]),
                        (f"The {j[0]}, {j[1]} {n} and the {j[2]} {m} were near the {j[3]} {o}.", f"The {n} and the {m} were near the {o}.", j), (f"My {j[0]} {n} {verb} the {m} and a {w.any('big', 'new', 'red')} {o if o[0] not in 'aeiou' else 'box'}.", "", j[:1])][kind]
    if kind == 3:
        last = rich.rstrip(".").split()
        used, bare = [j[0], last[-2]], rich.replace(f" {j[0]} ", " ", 1).replace(f" {last[-2]} ", " ")
    return finished(f"Adjectives: {', '.join(used)}.", bare, asked(w, f"(remove|delete|drop|take out|leave out) (the|all) adjectives [from {THIS}]|(rewrite|write) {THIS} without adjectives || this without [the] adjectives|no adjectives[, please]|without adjectives", rich))


def halves(w):
    """One sentence made two; or two made one."""
    c, d = Clause(w), Clause(w)
    a, b = c.said("past", end=""), d.said("past", end="")
    low = b if d.subject == "I" or d.subject[0].isupper() and d.subject not in ("You",) and d.subject not in ("you", "he", "she", "we", "they") else b[0].lower() + b[1:]
    word = w.any("because", "and", "but", "so", "while")
    one, two = f"{a}{',' if word in ('but', 'so') else ''} {word} {low}.", f"{a}. {b}."
    if w.chance(0.7):
        return finished(f"The first: {a}. The second: {b}.", two, asked(w, f"(split|divide|cut|break) {THIS} [up] into two [short|shorter] sentences|make two [short] sentences (of|out of|from) (this|it)|(split|break) it (up|in two) || two sentences instead of one[, please]|too long, (split|break) it [up]|as two [short] sentences[, please]", one))
    return finished(f"{word} joins them.", one, asked(w, f"(merge|join|combine|connect) (these|them|both) [into one sentence] (with|using) '{word}' || one sentence with '{word}'[, please]|as one sentence with '{word}'", two))


EVENTS = "meeting|dentist|yoga class|team lunch|exam|call|job interview|concert|rehearsal|training|party|workshop|flight|check-up".split("|")
TIMES = [("10am", "10 am"), ("3pm", "3 pm"), ("9:30", "9:30"), ("noon", "noon"), ("18:15", "18:15"), ("8am", "8 am"), ("2:45", "2:45"), ("5pm", "5 pm")]


def notes(w):
    """A note in key words becomes a sentence."""
    kind = w.number(0, 3)
    e, (t, time), room = w.any(*EVENTS, w.noun()), w.any(*TIMES), w.any(f"room {w.number(1, 40)}", "the main hall", w.city(), "the office")
    day = w.any("tomorrow", "today", *lexicon.DAYS)
    n = w.first_name()
    if kind == 0:
        note = w.any(" ", ", ", " - ").join([e, day, t, room.removeprefix("the ")])
        answer = f"The {e} is {'' if day in ('tomorrow', 'today') else 'on '}{day} at {time} in {room}."
        thought = f"What: {e}; when: {day}, {time}; where: {room}."
    elif kind == 1:
        x, why = w.noun(), w.any("broken", "empty", "lost", "late", "ready", "sold out")
        note, answer, thought = w.any(f"{x} {why}, {n} informed", f"{x}: {why} / {n} informed"), f"The {x} is {why}, and {n} has been informed.", f"What: {x}; how: {why}; who: {n}."
    elif kind == 2:
        v = w.any(*CHORES)
        note, answer, thought = w.any(f"{n} {v} {day}", f"{n}: {v}, {day}"), f"{n} has to {v} {'' if day in ('tomorrow', 'today') else 'on '}{day}.", f"Who: {n}; what: {v}; when: {day}."
    else:
        k, x, c = w.number(2, 40), w.noun(), w.city()
        note, answer, thought = w.any(f"{n}, {k}, {c}, baker", f"{n} / {k} / {c} / baker"), f"{n} is {k} years old, lives in {c} and works as a baker.", f"Who: {n}; age: {k}; home: {c}; job: baker."
        job = w.any("baker", "nurse", "pilot", "teacher", "driver", "farmer", "lawyer")
        note, answer, thought = (v.replace("baker", job) for v in (note, answer, thought))
    return finished(thought, answer, asked(w, f"(turn|make) {w.any('this note', 'these notes', 'this', 'these key words')} (into|to) a [full|complete|proper|whole] sentence|(write|make) a [full|whole] sentence (from|of|out of) (this|this note|the note)|write (this|it) out [as a sentence] || (as|in) a full sentence[, please]|what is this note as a sentence?|full sentence[, please]", note))


# casual, formal
OPENERS = [("hey", "Hello"), ("hi there", "Good day"), ("yo", "Hello"), ("heya", "Good day"), ("hi", "Hello")]
ASKS = [("can u send me {x}", "could you please send me {x}"), ("can you check {x}", "could you please check {x}"), ("gimme {x}", "could you please give me {x}"), ("lemme see {x}", "could you please show me {x}"), ("pls fix {x}", "could you please repair {x}"), ("can we talk about {x}", "could we please discuss {x}"), ("wanna look at {x}", "would you like to look at {x}"),
        ("got {x} yet", "have you received {x} yet"), ("what's up with {x}", "could you please inform me about {x}"), ("can i get {x}", "could I please have {x}"), ("u around for {x}", "would you be available for {x}"), ("mind bringing {x}", "would you please bring {x}")]
ENDS = [("asap", "as soon as possible"), ("by tmrw", "by tomorrow"), ("real quick", "briefly"), ("today", "today"), ("tonight", "this evening"), ("this week", "this week"), ("", ""), ("", "")]
TELLS = [("{x} is busted", "{x} is out of order"), ("i'm gonna be late", "I will be late"), ("cant make it to {x}", "I am unable to attend {x}"), ("i forgot {x}", "I have unfortunately forgotten {x}"), ("{x} was awesome", "{x} was excellent"), ("{x} sucks", "{x} is unsatisfactory"), ("i'm stuck with {x}", "I am having difficulties with {x}"), ("no clue about {x}", "I have no information about {x}"),
         ("gotta skip {x}", "I have to cancel {x}"), ("{x} costs way too much", "{x} is too expensive"), ("thx a lot for {x}", "Thank you very much for {x}"), ("my bad about {x}", "I apologise for {x}")]
ASK_TONES = "make {T} [sound] [more] (formal|professional)|(say|write) {T} (formally|more formally|in formal English)|turn {T} into a formal (message|request) || more (formal|professional)[, please]|this for (my boss|a business letter|a customer)[, please]|(how would I|how do I) (say|write) (this|that) (formally|to my boss)?"
CASUAL_TONES = "make {T} [sound] [more] (casual|relaxed|informal)|(say|write|put) {T} [more] (casually|informally)|say {T} (like|as) to a friend || more (casual|informal)[, please]|(as|like) (to a friend|in a chat)|less (formal|stiff)[, please]|how would I (say|text) (this|that) to a friend?"


def thing(w):
    return w.any("the ", "my ", "your ", "the new ") + w.any("report", "invoice", "meeting", "printer", "file", "project", "letter", "keys", "contract", "car", "photos", w.noun(), w.noun())


def registers(w):
    """Casual and formal, put together from a greeting, a request or news, and a time."""
    x = thing(w)
    hello, ask, end = w.any(*OPENERS), w.any(*ASKS), w.any(*ENDS)
    if w.chance(0.65):
        parts = [(f"{ask[0].format(x=x)} {end[0]}".strip(), f"{ask[1].format(x=x)} {end[1]}".strip(), "?")]
    else:
        a, b = w.any(*TELLS)
        parts = [(a.format(x=x), b.format(x=x), ".")]
        if w.chance(0.35):
            ask = w.any(("can you check it", "could you please check it"), ("pls fix it", "could you please repair it"), ("can we talk about it", "could we please discuss it"))
            parts.append((f"{ask[0]} {end[0]}".strip(), f"{ask[1]} {end[1]}".strip(), "?"))
    greet = w.chance(0.5)
    casual = ", ".join(([hello[0]] if greet else []) + [p[0] for p in parts]) + ("?" if parts[-1][2] == "?" and w.chance(0.7) else "")
    formal = " ".join(capital(p[1]) + p[2] for p in parts)
    formal = f"{hello[1]}, {formal if formal.startswith('I ') else formal[0].lower() + formal[1:]}" if greet else formal
    if greet and parts[0][2] == ".":
        formal = f"{hello[1]}. " + " ".join(capital(p[1]) + p[2] for p in parts)
    casual_ask = parts[0][0].split(" " + x)[0]
    formal_ask = parts[0][1].split(" " + x)[0]
    if w.chance(0.6):
        pairs = ([hello] if greet else []) + [(casual_ask, formal_ask)] + ([end] if end[0] and end[0] in casual else [])
        return finished(changes(pairs), formal, asked(w, ASK_TONES.replace("{T}", THIS), casual))
    pairs = ([hello[::-1]] if greet else []) + [(formal_ask, casual_ask)] + ([end[::-1]] if end[0] and end[0] in casual else [])
    return finished(changes(pairs), casual, asked(w, CASUAL_TONES.replace("{T}", THIS), formal))


# angry or blunt, calm and friendly
CALM = [("You are late again and I am sick of it!", "Could you please try to be on time?"), ("Where the hell is {x}?!", "Could you please tell me where {x} is?"), ("Stop touching {x}!", "Could you please leave {x} alone?"), ("{X} is a disaster and it is your fault!", "I am not happy with {x}. Could we talk about it?"), ("I have told you a hundred times to bring {x}!", "Could you please remember to bring {x}?"),
        ("Shut the door, will you!", "Could you please close the door?"), ("Your music is driving me mad!", "Could you please turn the music down a little?"), ("Nobody ever answers my mails!", "Could you please answer my mail?"), ("This is the worst {y} ever!", "I am not very happy with this {y}."), ("I want {x} NOW!", "Could I please have {x} soon?"), ("You broke {x}, you fool!", "I am sorry to say that {x} is broken. Can we repair it?"),
        ("Get out of my {y}!", "Could you please leave my {y}?"), ("Do I have to do everything myself?", "Could you please help me a little?"), ("You never listen!", "I would be glad if you listened to me."), ("Give {x} back at once!", "Could you please give {x} back?"), ("What a stupid question about {x}!", "I do not quite understand the question about {x}."), ("Give me {x} by {d}.", "Could you please give me {x} by {d}?"), ("Send {x} today.", "Could you please send {x} today?"), ("I don't care about {x}.", "{X} is not so important to me."), ("Bring {x} to {n}.", "Could you please bring {x} to {n}?"), ("You forgot {x}.", "It seems that you forgot {x}. Could you please look again?"), ("I don't have time for {x}.", "I am sorry, I have no time for {x} at the moment.")]


def calmer(w):
    x = "the " + w.any("report", "key", "bill", "plan", "contract", w.noun(), w.noun())
    before, after = (t.format(x=x, X=capital(x), y=w_, d=d, n=n) for w_, d, n in [(w.noun(), w.any(*lexicon.DAYS), w.first_name())] for t in w.any(*CALM))
    if before.endswith("!") and w.chance(0.2):
        before = before.upper()
    return finished("What is wanted, in kind words.", after, asked(w, f"make {THIS} [sound] (less (angry|rude|harsh)|calmer|nicer|kinder|friendlier|more polite)|(say|put|write) {THIS} (calmly|kindly|in a nicer way|without the anger|politely)|tone {THIS} down || (friendlier|nicer|calmer)[, please]|less (angry|rude)[, please]|how (do|can) I say (this|that) (nicely|calmly)?", before))


def bullets(w):
    """Things to do out of a sentence, each on a line."""
    tasks = w.rng.sample(CHORES, w.number(2, 4)) if w.chance(0.6) else [f"{w.any('buy', 'rent', 'paint', 'clean', 'sell', 'call', 'find', 'move')} the {w.noun()}" for _ in range(w.number(2, 4))]
    lead = w.any("We have to ", "I have to ", "Please ", "Tomorrow I will ", "Don't forget to ", "You should ", f"{w.first_name()} must ", "My plan is to ", "On Monday we want to ")
    text = lead + listing(tasks) + "."
    mark = w.any("-", "-", "-", "*", "numbers")
    answer = "\n".join(f"{i + 1}. {t}" for i, t in enumerate(tasks)) if mark == "numbers" else "\n".join(f"{mark} {t}" for t in tasks)
    what = {"-": "(bullet points|bullets|a bullet list|a list with dashes)", "*": "(bullet points with stars|a list with *)", "numbers": "(a numbered list|numbered points)"}[mark]
    return finished("; ".join(f"{i + 1} {t}" for i, t in enumerate(tasks)) + ".", answer, asked(w, f"(put|turn) {THIS} into {what}|(write|give me) {THIS} as {what} || {what}[, please]|as {what}[, please]|this as {what}", text))


SLIPS = dict(p.split("=") for p in "don't=dont|know=no|where=wher|library=libary|can't=cant|their=there|because=becuase|friend=freind|tomorrow=tommorow|really=realy|which=wich|people=peple|doesn't=doesnt|write=rite|right=rite|two=to|too=to|hear=here|believe=beleive|I'm=im|you're=your|we're=were|school=shcool|beautiful=beutiful|until=untill|definitely=definatly|money=mony|restaurant=resturant|received=recieved|minutes=minuts|question=queston|answer=anser|letter=leter|please=pleas|when=wen|what=wat|with=wiht|would=woud|enough=enuf|weather=wether|again=agian|always=allways|different=diffrent|house=hous|coffee=cofee|teacher=techer|sister=sistr|bought=bougt|thought=thougt|meeting=meting|could=coud|should=shoud|yesterday=yesteday|evening=evning|kitchen=kichen|buses=buss|isn't=isnt|won't=wont|didn't=didnt|it's=its".split("|"))
SPELT = """I don't know (where|when) the (library|restaurant|school|meeting) is|we can't (hear|answer) the (question|teacher)|I'm sure (that you're right|it's the right house)|my (friend|sister|teacher) didn't (write|answer) until (tomorrow|yesterday)|I really (thought|believe) that people (would|could) come again|please (write|answer) (the letter|again) tomorrow
it's too (different|late) because the (weather|house) isn't beautiful|I (bought|received) two (letters|coffees) yesterday evening|which (school|restaurant|house) would you (always|definitely) choose|we're (in the kitchen|at school) with (my sister|their teacher)|you're always (late|right), aren't you|she doesn't have enough money (for coffee|for the restaurant)|I (could|should) have (answered|known) in ten minutes
(what|which) question would the teacher (write|answer)|people won't (believe|know) what I (thought|received)|their house is really (beautiful|different)|I'm with a friend until the evening|the meeting isn't until tomorrow because the (teacher|weather) is (late|bad)""".replace("\n", "|")


def spelling(w):
    right = say(w, f"({SPELT})")
    words = right.split()
    places = [i for i, x in enumerate(words) if x.strip(",") in SLIPS]
    if not places:
        return spelling(w)
    pairs = []
    for i in sorted(w.rng.sample(places, min(len(places), w.number(1, 4)))):
        bare = words[i].strip(",")
        pairs.append((SLIPS[bare], bare))
        words[i] = words[i].replace(bare, SLIPS[bare])
    before = " ".join(words)
    lower = w.chance(0.5)
    if lower:
        before = before.lower()
        pairs = [("i", "I")] * (" i " in f" {before} ") + [(a.lower(), b) for a, b in pairs]
    else:
        before = capital(before) + "."
    mark = "?" if right.startswith(("which", "what")) or right.endswith("aren't you") else "."
    return finished(changes(dict.fromkeys(pairs)), capital(right) + mark, asked(w, f"(fix|correct) (the spelling|the typos|the mistakes|my spelling|all mistakes|{THIS})|(spell this|write it) (right|correctly)|clean up the spelling || (typos|spelling)[, please]|what would this be without (typos|mistakes)[?]|how is this (spelled|spelt|written) correctly?|the spelling is off here", before.rstrip(".") + mark if not lower else before))


FAULTS = [("she don't like {x}", "she doesn't like {x}", "don't", "doesn't"), ("he have two {y}", "he has two {y}", "have", "has"), ("they was in {c}", "they were in {c}", "was", "were"), ("I has lost {x}", "I have lost {x}", "has", "have"), ("my brother work in {c}", "my brother works in {c}", "work", "works"), ("we goed to {c}", "we went to {c}", "goed", "went"), ("he buyed {x}", "he bought {x}", "buyed", "bought"), ("she can swims", "she can swim", "swims", "swim"),
          ("I am live in {c}", "I live in {c}", "am live", "live"), ("there is three {y}", "there are three {y}", "is", "are"), ("the {y} is old", "the {y} are old", "is", "are"), ("he didn't came", "he didn't come", "came", "come"), ("she is more older than {n}", "she is older than {n}", "more older", "older"), ("we has seen {n}", "we have seen {n}", "has", "have"), ("it rain every day", "it rains every day", "rain", "rains"), ("I doesn't know {n}", "I don't know {n}", "doesn't", "don't"),
          ("{n} like {x}", "{n} likes {x}", "like", "likes"), ("I buyed two {k}", "I bought two {y}", "buyed two {k}", "bought two {y}"), ("she have many {k}", "she has many {y}", "have many {k}", "has many {y}"), ("he goes in {c} yesterday", "he went to {c} yesterday", "goes in", "went to"), ("they speaks well", "they speak well", "speaks", "speak"), ("the dog eat {x}", "the dog eats {x}", "eat", "eats"), ("a old man sings", "an old man sings", "a old", "an old"), ("it's raining since two days", "it has been raining for two days", "it's raining since", "it has been raining for")]


def grammar(w):
    """Two faults in a sentence."""
    rows = w.rng.sample(FAULTS, w.any(1, 2, 2))
    parts, pairs = [], []
    for wrong, right, a, b in rows:
        k = w.any(*OBJECTS)
        slots = dict(x="the " + w.noun(), y=lexicon.plural(k), k=k, c=w.city(), n=w.first_name())
        parts.append((wrong.format_map(slots), right.format_map(slots)))
        pairs.append((a.format_map(slots), b.format_map(slots)))
    joint = w.any(" and ", " but ", ", and ")
    before, after = (capital(joint.join(p[i] for p in parts)) + "." for i in (0, 1))
    return finished(changes(pairs), after, asked(w, f"(correct|fix) (the grammar|my grammar|the mistakes|{THIS}|the errors)|make it correct [English] || (what is|what's) (the correct sentence|correct English for this)[?]|is (this|it) right? (if not, correct it|correct it)|grammar check[, please]|something is wrong with the grammar", before))


REASONED = [("it was raining [very] heavily", "it rained"), ("there was no light in {c}", "there was no light in {c}"), ("the {x} was [completely] broken", "the {x} was broken"), ("{n} had lost the {x} [some days before]", "{n} had lost the {x}"), ("nobody had told us about the {x}", "nobody had told us about the {x}"), ("we had [almost] no money left", "we had no money left"), ("the {x} was [far] too expensive", "the {x} was too expensive")]
WORDY = [("Due to the fact that {r}, ", "because"), ("In view of the fact that {r}, ", "because"), ("On account of the fact that {r}, ", "because"), ("In spite of the fact that {r}, ", "although"), ("Despite the fact that {r}, ", "although")]
RESULTS = [("we [finally] (came to the decision|made the decision|decided) that we would stay at home [for the whole day]", "we stayed at home"), ("{n2} made the decision to (sell|buy) the {z} [in the end]", "{n2} decided to sell the {z}"), ("we were [of course] not able to (open|use) the {z}", "we could not open the {z}"), ("they gave up the idea of going to {c2} [once and for all]", "they did not go to {c2}"), ("it took us a [very] long time to find the {z}", "we took long to find the {z}"), ("the meeting had to be (put off|postponed) until a later (date|point in time)", "the meeting was postponed")]


def shorter(w):
    opening, word = w.any(*WORDY)
    (r, rs), (e, es) = w.any(*REASONED), w.any(*RESULTS)
    slots = dict(c=w.city(), n=w.first_name(), x=w.noun(), n2=w.first_name(), z=w.noun(), c2=w.city())
    long = say(w, r, **slots), say(w, e, **slots)
    if "to buy" in long[1]:
        es = es.replace("to sell", "to buy")
    if "to use" in long[1]:
        es = es.replace("open", "use")
    rs, es = rs.format_map(slots), es.format_map(slots)
    before = opening.format(r=long[0]) + long[1] + "."
    answer = f"{capital(es)} {word} {rs}."
    return finished(f"The main thing: {es}. The reason: {rs}." if word == "because" else f"The main thing: {es}. Against it: {rs}.", answer, asked(w, f"(shorten|condense|tighten) {THIS}|make {THIS} (shorter|more concise|less wordy)|say {THIS} in fewer words|cut the (fluff|long words) || (shorter|briefer)[, please]|too wordy, (fix|shorten) it|in plain [and short] words|can this be shorter?", before))


SWAPS = [("difficult", "hard"), ("big", "large"), ("begin", "start"), ("happy", "glad"), ("fast", "quick"), ("buy", "purchase"), ("help", "assist"), ("quiet", "silent"), ("often", "frequently"), ("small", "little"), ("test", "exam"), ("pupils", "students"), ("movie", "film"), ("shop", "store"), ("rich", "wealthy"), ("ill", "sick"), ("kids", "children"), ("smart", "clever"), ("sad", "unhappy"), ("trip", "journey"), ("present", "gift"), ("answer", "reply"), ("road", "street"), ("almost", "nearly")]
SWAPPED = "the test was [very] difficult|the kids were (happy|quiet|sad)|we often buy (a present|presents) [for the kids]|the trip was fast|the shop is [very] (small|big)|the pupils begin the test|a rich man answered|the movie was (difficult|sad)|he is ill and sad|the smart pupils help the kids|the road to the shop is almost quiet|they almost missed the movie|the answer was smart".replace("answered", "with a big shop")


def reworded(w):
    text = say(w, f"({SWAPPED})") + w.any("", f" in {w.city()}", f" with {w.first_name()}", f", said {w.first_name()}")
    table = dict(SWAPS)
    words = text.split()
    pairs = [(x.strip(","), table[x.strip(",")]) for x in words if x.strip(",") in table]
    pairs += [("presents", "gifts")] * ("presents" in words)
    after = text
    for a, b in pairs:
        after = re.sub(rf"\b{a}\b", b, after)
    after = re.sub(r"\ba (exam)\b", r"an \1", after)
    return finished(changes(dict.fromkeys(pairs)), capital(after) + ".", asked(w, f"(reword|rephrase|paraphrase) {THIS}|say {THIS} (in other words|with other words|differently)|put {THIS} another way || (with|in) other words[, please]|the same in other words|how else can (I|one) say (this|that)?", capital(text) + "."))


TASKS = {persons: 12, tenses: 11, contractions: 7, numbers: 9, everywhere: 7, described: 5, halves: 7, notes: 8, registers: 14, calmer: 9, bullets: 7, spelling: 10, grammar: 10, shorter: 6, reworded: 5}


def question_of(w):
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)
