"""Sentences to be turned: tense, person, voice, tone, length, case, spelling, signs."""

import re

from . import grammar, lexicon, rewording
from .clauses import PRONOUNS, Clause
from .grammar import capital, ordered, say

THIS = "(this|the (sentence|text|following [sentence|text])|the following|that|this (sentence|text|one)|my (sentence|text)|it)"
TENSES = {"past": "past", "future": "future", "present": "present", "progressive": "present progressive", "perfect": "present perfect"}


def finished(reasoning, answer, question):
    return question, reasoning, answer, {"equals": answer}


def tense(w):
    c = Clause(w)
    while not c.progressive_fits():
        c = Clause(w)
    to = w.rng.choices(("past", "future", "present", "progressive", "perfect"), (5, 4, 3, 1, 1))[0]
    source = w.any(*[t for t in ("present", "past", "future", "progressive") if t != to])
    negative, question = w.chance(0.1), w.chance(0.08)
    before, after = (c.said(t, negative, question) for t in (source, to))
    name = {"past": "(past [simple]|simple past)", "future": "(future|simple future)", "present": "(present [simple]|simple present)", "progressive": "(present (progressive|continuous))", "perfect": "(present perfect)"}[to]
    pattern = w.any(f"(put|change|turn|convert|rewrite|transform|set|rephrase|write) {THIS} (into|in|to) [the] {name} [tense]", f"(rewrite|write|say|give me) {THIS} in [the] {name} [tense]", f"use the {name} [tense] (here|in this sentence|for this)",
                    f"make {THIS} {name} [tense]", f"{name} [tense] of (this|the sentence)", f"what is {THIS} in the {name} [tense]", f"how (do|would) (I|you|one) say this in the {name} [tense]")
    if to in ("past", "future") and w.chance(0.3):
        when = {"past": "(yesterday|last (week|year|month)|in the past)", "future": "(tomorrow|next (week|year|month)|in the future)"}[to]
        pattern = w.any(f"(say|write|put|rewrite) it as if it (happened|was) {when}" if to == "past" else f"(say|write|rewrite) it as if it (happens|will happen) {when}", f"(rewrite|say) {THIS} as something that (happened|is going to happen) {when}" if to == "past" else f"(rewrite|say) {THIS} as something that will happen {when}")
    base, third, past, participle, ing = lexicon.forms(c.verb)
    word = {"past": past, "future": f"will {base}", "present": base, "progressive": ing, "perfect": participle}[to]
    if w.chance(0.12):
        d = Clause(w)
        while not d.progressive_fits():
            d = Clause(w)
        before, after = f"{before} {d.said(source)}", f"{after} {d.said(to)}"
    if w.chance(0.2):
        before, after = before.rstrip("."), after.rstrip(".") if not w.chance(0.5) else after
    return finished(f"The verb is {c.verb}; here: {word}.", after, ordered(w, pattern, before))


def person(w):
    c = Clause(w, "pronoun")
    c.subject = w.any("I", "I", "he", "she", "we", "they")
    c.object = c.object.replace("my ", "the ")
    own = w.noun() if c.object and w.chance(0.45) else None
    to = w.any(*[p for p in ("I", "he", "she", "we", "they", "you") if p != c.subject])
    name = w.first_name() if w.chance(0.2) else None
    second = Clause(w, "pronoun") if w.chance(0.35) else None

    def text(who):
        if own:
            c.object = f"{PRONOUNS[who][1]} {own}"
        first = c.said(w_tense, subject=who, end="")
        if not second:
            return capital(first) + "."
        later = second.said(w_tense, subject=who, end="").strip()
        return f"{capital(first)} and {later if who == 'I' else later[0].lower() + later[1:]}."
    w_tense = w.any("present", "past", "present", "future")
    before = text(c.subject)
    after = text(to)
    label = {"I": "(the first person|I|first person singular)", "he": "(he|the third person (he))", "she": "(she|the third person (she))", "we": "(we|the first person plural)", "they": "(they|the third person plural)", "you": "(you|the second person)"}[to]
    label = {"he": "he", "she": "she", "I": "I", "we": "we", "they": "they", "you": "you"}[to] if w.chance(0.5) else label
    return finished(f"{c.subject} becomes {to}{f', {PRONOUNS[c.subject][1]} becomes {PRONOUNS[to][1]}' if own else ''}.", after, ordered(w, f"(rewrite|change|put|turn) {THIS} (from {c.subject} to {to}|(to|into|in) {label}|with {to} instead of {c.subject}|so that it (is about|uses) {to})" if w.chance(0.7) else
                    f"(replace|swap) {c.subject} (with|by) {to} (here|in {THIS})", before))


def voice(w):
    c = Clause(w, need_object=True)
    while c.verb in ("love", "like", "hate", "want", "need", "meet", "wear"):
        c = Clause(w, need_object=True)
    t = w.any("present", "past", "past", "future")
    active, passive = c.said(t), c.passive(t)
    if w.chance(0.75):
        return finished(f"The object {c.object} comes first; {c.verb} becomes {lexicon.forms(c.verb)[3]}.", passive, ordered(w, f"(put|change|turn|rewrite|convert) {THIS} (in|into|to) [the] passive [voice]" if w.chance(0.7) else f"(make|write) {THIS} [in the] passive", active))
    return finished(f"{c.subject} does it.", active, ordered(w, f"(put|change|turn|rewrite|convert) {THIS} (in|into|to) [the] active [voice]", passive))


def question(w):
    c = Clause(w)
    t = w.any("present", "past", "future", "perfect", "can")
    if w.chance(0.7):
        return finished("A question begins with the helping verb.", c.said(t, question=True), ordered(w, f"(turn|change|make|convert|rewrite) {THIS} (into|to|as|in the form of) a (question|yes-no question)" if w.chance(0.7) else f"(make|ask) {THIS} as a question", c.said(t)))
    return finished("The statement begins with the subject.", c.said(t), ordered(w, f"(turn|change|make|convert|rewrite) {THIS} (into|to|as) a (statement|normal sentence|plain statement)", c.said(t, question=True)))


BE = """the (shop|door|window|museum|gate|office) is (open|closed|empty)|the (soup|water|room|tea) is (hot|cold)|the (car|house|dress|phone) is (new|old|cheap|expensive)|the (boy|girl|dog|teacher) is (tired|happy|sad|hungry|late)|it is (late|early|dark|raining|cold) [today|outside]
this (answer|number|address) is (right|wrong|correct)|the (train|bus) is (late|full|on time)|the (light|radio|heating) is (on|off)|my (brother|boss|friend) is (at home|in town|on holiday)|the (street|party|class) was (loud|quiet|long)|the (keys|glasses|books) are (here|on the table|in the bag)
the (test|exam|puzzle) was (easy|hard)|the (children|guests) were (quiet|tired)|(she|he) is (ill|busy|married|ready)|they are (late|rich|at school)|the (computer|lamp) is broken""".replace("\n", "|")


def be_sentence(w):
    """(statement, question, negation, short negation)"""
    text = grammar.form(w, f"({BE})")
    for verb in (" is ", " are ", " was ", " were "):
        if verb in text:
            a, b = text.split(verb, 1)
            v = verb.strip()
            return capital(text) + ".", f"{capital(v)} {a} {b}?", f"{capital(a)} {v} not {b}.", f"{capital(a)} {v}n't {b}."
    raise ValueError(text)


def negation(w):
    if w.chance(0.4):
        statement, asked, negative, short = be_sentence(w)
        if w.chance(0.4):
            return finished("A question begins with the verb.", asked, ordered(w, f"(turn|change|make|convert|rewrite) {THIS} (into|to|as) a question" if w.chance(0.7) else f"(make|ask|phrase) {THIS} as a question", statement))
        return finished("not comes behind the verb.", negative, ordered(w, f"(negate|make negative) {THIS}|make {THIS} negative|put {THIS} in the negative [form]|say the opposite by adding not|add (a not|not) to {THIS}", statement))
    c = Clause(w)
    t = w.any("present", "past", "future", "perfect", "can", "must")
    if w.chance(0.8):
        return finished("not comes behind the helping verb.", c.said(t, negative=True), ordered(w, f"negate {THIS}|make {THIS} negative|(put|turn|write) {THIS} in[to] the negative [form]|(rewrite|write) {THIS} with (not|a negation)|turn it into a negative sentence", c.said(t)))
    return finished("Without not.", c.said(t), ordered(w, f"make {THIS} (positive|affirmative)|remove the negation (here|in {THIS})|take out the not", c.said(t, negative=True)))


LONG_WORDS = [("in order to", "to"), ("due to the fact that", "because"), ("at this point in time", "now"), ("a large number of", "many"), ("in the event that", "if"), ("with regard to", "about"), ("in spite of the fact that", "although"), ("has the ability to", "can"),
              ("at the present time", "now"), ("for the purpose of", "for"), ("in the near future", "soon"), ("make a decision", "decide"), ("a great deal of", "much"), ("until such time as", "until")]
FLUFF = ["I am writing to let you know that {x}", "I just wanted to tell you that {x}", "As you may already know, {x}", "It is important to note that {x}", "I would like to inform you that {x}", "To be completely honest with you, {x}", "What I want to say is basically that {x}",
         "As far as I can tell from here, {x}", "It goes without saying that {x}", "I think that it is fair to say that {x}", "Please be advised that {x}", "There is no doubt in my mind that {x}", "After thinking about it for a long time, I have to say that {x}"]
EVENTS = """the (meeting|lesson|party|concert|flight|game) (is|was) (cancelled|moved to {d}|late|over|a success)|the (delivery|parcel|train|bus|report) (will be|is) (late|here [on {d}]|ready)|we (need|want|ordered) (more time|two (chairs|tables)|a new printer|help)
the (printer|lift|heating|website|server) (is broken|works again|does not work)|{p} (is ill|is on holiday|will come on {d}|has left|got the job|won the prize)|the (price|rent|number of visitors) (has risen|will fall|is too high)|the (office|shop|road|museum) (is closed [on {d}]|opens on {d})
(we|they) (sold|bought|repaired|lost) the (house|car|boat|keys)|the (project|plan|book|bridge) is (finished|too expensive|almost ready|late)|the (results|photos|tickets|keys) are (here|ready|wrong|lost)""".replace("\n", "|")


def event(w):
    return say(w, f"({EVENTS})", d=w.any(*lexicon.DAYS), p=w.first_name())


def shorten(w):
    x = event(w)
    kind = w.number(0, 3)
    if kind == 0:
        before, answer = capital(w.any(*FLUFF).format(x=x)) + ".", capital(x) + "."
    elif kind == 1:
        y = event(w)
        before = f"{capital(x)}, and besides that, as I have said before, {y}."
        answer = f"{capital(x)} and {y}."
    elif kind == 2:
        adverbs = w.rng.sample(["really", "very", "quite", "actually", "basically", "honestly", "certainly", "of course", "as a matter of fact", "to be fair", "more or less", "in my opinion"], 3)
        before = f"{capital(adverbs[0])}, {x}, {adverbs[1]}, and {adverbs[2]} everybody knows it."
        answer = f"{capital(x)}."
    else:
        c = Clause(w)
        extra = say(w, "(on a (long|grey|rainy) (Monday|morning|day) in (May|June|autumn)|after a very long (day|night|week)|with a lot of patience and care|as (he|she|they) always said|for the very first time in many years)")
        before, answer = f"{capital(extra)}, {c.said('past', end='')[0].lower() + c.said('past', end='')[1:] if c.subject in PRONOUNS and c.subject != 'I' or c.subject.split()[0].islower() else c.said('past', end='')}.", c.said("past")
    limit = f" [(in|to|with) (max|at most|no more than|under) {len(answer.split()) + w.number(2, 6)} words]"
    return finished("The main thing: " + answer, answer, ordered(w, w.any(f"(shorten|condense|cut down|trim|compress) {THIS}{limit}", f"make {THIS} (shorter|more concise|brief|short and clear|less wordy)", f"say {THIS} in fewer words", f"(rewrite|write) {THIS} (more briefly|shorter|in a shorter way)",
                    "(give me|write) a shorter version", f"{THIS} is too long, (cut|shorten) it", "get rid of the filler words"), before))


POLITE = {  # order: polite, formal, casual
    "Give me {x}.": ("Could you please give me {x}?", "I would be grateful if you could give me {x}.", "hey, give me {x}, ok?"),
    "Send me {x}.": ("Could you please send me {x}?", "I would be grateful if you could send me {x}.", "hey, send me {x}, ok?"),
    "Open {x}.": ("Could you please open {x}?", "I would be grateful if you could open {x}.", "hey, open {x}, ok?"),
    "Close {x}.": ("Could you please close {x}?", "I would be grateful if you could close {x}.", "hey, close {x}, ok?"),
    "Bring {x} here.": ("Could you please bring {x} here?", "I would be grateful if you could bring {x} here.", "hey, bring {x} here, ok?"),
    "Show me {x}.": ("Could you please show me {x}?", "I would be grateful if you could show me {x}.", "hey, show me {x}, ok?"),
    "Fix {x}.": ("Could you please fix {x}?", "I would be grateful if you could fix {x}.", "hey, fix {x}, ok?"),
    "Finish {x} today.": ("Could you please finish {x} today?", "I would be grateful if you could finish {x} today.", "hey, finish {x} today, ok?"),
    "Move {x}.": ("Could you please move {x}?", "I would be grateful if you could move {x}.", "hey, move {x}, ok?"),
    "Check {x} again.": ("Could you please check {x} again?", "I would be grateful if you could check {x} again.", "hey, check {x} again, ok?"),
    "Tell me about {x}.": ("Could you please tell me about {x}?", "I would be grateful if you could tell me about {x}.", "hey, tell me about {x}, ok?"),
    "I want {x}.": ("I would like to have {x}, please.", "I would appreciate it if I could have {x}.", "hey, can I get {x}?"),
    "Be quiet.": ("Could you please be quiet?", "I would kindly ask you to be quiet.", "hey, be quiet, ok?"),
    "Wait.": ("Could you please wait a moment?", "I would kindly ask you to wait a moment.", "hang on a sec"),
    "Answer my email.": ("Could you please answer my email?", "I would be grateful for an answer to my email.", "hey, answer my mail, ok?")}
REGISTER = [("hey", "Hello"), ("can't come", "I am unable to attend"), ("cant make it", "I am unable to attend"), ("tmrw", "tomorrow"), ("tomorrow", "tomorrow"), ("today", "today"), ("tonight", "tonight"), ("sick", "as I am ill"), ("busy", "as I am busy"), ("my car broke down", "as my car has broken down"),
            ("train is late", "as my train is delayed"), ("stuck at work", "as I am detained at work")]
FORMAL = [("I'm super happy with {x}", "I am very satisfied with {x}"), ("gonna be late for {x}", "I will be late for {x}"), ("wanna talk about {x}?", "May we speak about {x}?"), ("thx for {x}", "Thank you very much for {x}"), ("sorry about {x}", "Please accept my apologies for {x}"), ("got {x}", "I have received {x}"),
          ("what's up with {x}?", "What is the current state of {x}?"), ("need {x} asap", "I require {x} as soon as possible"), ("{x} sucks", "I am not satisfied with {x}"), ("dunno about {x}", "I am not certain about {x}"), ("can u check {x}?", "Could you please check {x}?"), ("lemme know about {x}", "Please inform me about {x}"),
          ("{x} is broken again, ugh", "Unfortunately, {x} is out of order again"), ("no clue where {x} is", "I do not know where {x} is"), ("let's meet about {x}", "I would like to suggest a meeting about {x}"), ("pls send {x}", "Please send me {x}"), ("love {x}!", "I am very pleased with {x}")]
CASUALLY = [("I would be delighted to come to {x}.", "I'd love to come to {x}!"), ("I regret that I cannot attend {x}.", "sorry, can't make it to {x}"), ("Thank you very much for {x}.", "thanks for {x}!"), ("Could you please inform me about {x}?", "can you tell me about {x}?"), ("We would like to invite you to {x}.", "come to {x}!"),
            ("I have received {x}.", "got {x}!"), ("I am not certain about {x}.", "not sure about {x}"), ("Please accept my apologies for {x}.", "sorry about {x}!"), ("I am very satisfied with {x}.", "really happy with {x}!"), ("I require {x} immediately.", "need {x} now"), ("It is necessary to discuss {x}.", "let's talk about {x}")]


def thing(w):
    return w.any("the ", "my ", "your ", "the new ", "the old ") + (w.noun() if w.chance(0.7) else w.any("report", "invoice", "meeting", "printer", "delivery", "project", "letter", "door", "keys", "wedding", "celebration", "party", "dinner"))


def tone(w):
    x = thing(w)
    kind = w.number(0, 3)
    if kind <= 1:
        command = w.any(*POLITE)
        polite, formal, casual = (t.format(x=x) for t in POLITE[command])
        which = w.rng.choices((0, 1, 2), (6, 2, 2))[0]
        pattern = (f"(make|rewrite|rephrase|put|say) {THIS} [more] (politely|in a polite way|nicer|friendlier|more politely)|make {THIS} [sound] [more] (polite|friendly|kind|nice)|how (do|can) I say this (politely|nicely)|(write|say) it in a (kinder|nicer|friendlier|more polite) (way|tone)|soften {THIS}",
                   f"make {THIS} [sound|more] (formal|professional)|(rewrite|say|write) {THIS} (formally|in a formal (tone|way|style)|more formally)|turn {THIS} into [formal] business English",
                   f"make {THIS} [sound|more] (casual|informal|relaxed)|say {THIS} (casually|to a friend|informally)|(rewrite|write) {THIS} in a (casual|relaxed|informal) (tone|way|style)")[which]
        before = command.format(x=x)
        if w.chance(0.2):
            before = before.rstrip(".") + w.any("!", "! Now!", "")
        return finished(w.any("A polite request begins with Could you please.", "Ask kindly.") if which == 0 else "Another tone, the same thing.", (polite, formal, casual)[which], ordered(w, pattern, before))
    if kind == 2:
        if w.chance(0.3):
            (a, fa), (when, fw), (why, fy) = w.any(*REGISTER[1:3]), w.any(*REGISTER[3:7]), w.any(*REGISTER[7:])
            before = w.any("hey, ", "", "hi ", "yo ", "sorry ") + f"{a} {when}, {why}"
            after = f"Unfortunately, {fa} {fw}, {fy}."
        else:
            before, after = w.any(*FORMAL)
            before, after = before.format(x=x), capital(after.format(x=x))
            after += "" if after.endswith("?") else "."
        pattern = f"make {THIS} [sound|more] (formal|professional|business-like)|(rewrite|say|write|put) {THIS} (formally|in a (formal|professional) (tone|way|style)|more formally)|(turn|change) {THIS} into (formal|proper|business) (English|language)|write {THIS} for (my boss|a business letter|a customer)"
        return finished("Formal words, full sentences.", after, ordered(w, pattern, before))
    before, after = (t.format(x=x) for t in w.any(*CASUALLY))
    return finished("Casual words.", after, ordered(w, f"(say|write|put|rewrite) {THIS} (casually|in a casual way|informally|like to a friend|in everyday words)|make {THIS} [sound|more] (casual|informal|relaxed|less formal|less stiff)", before))


def letters(w):
    text = w.any(lambda: Clause(w).said(w.any("present", "past"), end=w.any("", ".", "")), lambda: event(w), lambda: " ".join(w.noun() for _ in range(w.number(1, 4))), lambda: f"{w.adjective()} {w.noun()}", lambda: w.person(), lambda: " ".join(w.fresh() for _ in range(w.number(1, 3))))()
    kind = w.rng.choices(("upper", "lower", "title", "sentence"), (5, 4, 3, 1))[0]
    if kind == "lower":
        text = w.any(text.upper(), text.title(), text.upper())
    answer = {"upper": str.upper, "lower": str.lower, "title": str.title, "sentence": lambda t: capital(t.lower())}[kind](text)
    if "'" in answer and kind == "title":
        return letters(w)
    pattern = {"upper": f"(put|write|turn|convert|change|set) {THIS} (in|into|to) (capital letters|capitals|upper case|uppercase|all caps|block letters|big letters)|make {THIS} (upper case|uppercase|all caps|caps|big letters)|uppercase (this|it|the text)|(capitalize every letter|all caps)",
               "lower": f"(put|write|turn|convert|change) {THIS} (in|into|to) (small letters|lower case|lowercase)|make {THIS} (lower case|lowercase|all small letters)|lowercase (this|it|the text)|(no|without) capitals",
               "title": f"(put|write|turn|convert|change) {THIS} (in|into|to) title case|(capitalize|capitalise) (every word|each word|the first letter of each word)|make {THIS} title case|title case|make it a headline with capital first letters",
               "sentence": "(write|put) it in sentence case|only the first letter [should be] (a capital|upper case)|sentence case"}[kind]
    return finished(w.any("Every letter changes.", "The same letters, another case."), answer, ordered(w, pattern, text))


MISSPELT = dict(p.split() for p in """receive recieve|believe beleive|friend freind|definitely definately|separate seperate|tomorrow tommorow|because becuase|their thier|the teh|weird wierd|really realy|until untill|which wich|beautiful beatiful|business buisness|February Febuary|address adress|necessary neccessary|different diffrent|interesting intresting
Wednesday Wensday|yesterday yesturday|restaurant restaraunt|beginning begining|people poeple|quiet quite|received recieved|friends freinds|library libary|message mesage|answer anser|school shcool|letter leter|morning mornign|happy hapy|would woud|could coud|know konw|with wiht|from form|have ahve|always allways|house huose|again agian|money moeny""".replace("\n", "|").split("|"))
SPELT = """I (received|read) the letter yesterday|my friend (lives in another house|has a different address)|we will meet (tomorrow|tomorrow morning)|the restaurant was really (good|quiet|beautiful)|I believe (their|the) answer is (right|wrong)|they (have|had) to separate the (people|money)|I know the (library|school) (because|and) my friends work there
the (beginning|message) of the letter was (interesting|weird)|it is necessary to answer (the|my) message|I would (always|definitely) come (again|on Wednesday)|which (house|school|business) is really (beautiful|different)|we could not (answer|believe) it until (Wednesday|February)|the people from the school have (no money|a beautiful house)|wait until tomorrow with the letter""".replace("\n", "|")
GRAMMAR = [("he go to {x}", "He goes to {x}."), ("she don't like {x}", "She doesn't like {x}."), ("I has {x}", "I have {x}."), ("they was at {x}", "They were at {x}."), ("we is near {x}", "We are near {x}."), ("he have {x}", "He has {x}."), ("yesterday I go to {x}", "Yesterday I went to {x}."), ("she can sings about {x}", "She can sing about {x}."),
           ("I am agree with {x}", "I agree with {x}."), ("he do not know {x}", "He does not know {x}."), ("there is two {y}", "There are two {y}."), ("I seen {x}", "I saw {x}."), ("me and him saw {x}", "He and I saw {x}."), ("she has bought two {n}", "She has bought two {y}."), ("an {n2} is here", "A {n2} is here."), ("he is more taller than {x}", "He is taller than {x}."),
           ("I didn't saw {x}", "I didn't see {x}."), ("they has {x}", "They have {x}."), ("who's {n} is this", "Whose {n} is this?"), ("its raining on {x}", "It's raining on {x}."), ("I could of seen {x}", "I could have seen {x}."), ("the dog wag it's tail at {x}", "The dog wags its tail at {x}."), ("we was happy about {x}", "We were happy about {x}."), ("she go to work every day", "She goes to work every day."),
           ("he play football on Sundays", "He plays football on Sundays."), ("my brother like {y}", "My brother likes {y}."), ("you is my friend", "You are my friend."), ("it don't work", "It doesn't work."), ("I is tired", "I am tired."), ("the children plays outside", "The children play outside.")]


def spelling(w):
    kind = w.number(0, 3)
    if kind == 0:
        n = w.any(*lexicon.KINDS["animal"])
        n2 = w.any(*[x for x in lexicon.KINDS["animal"] if x[0] not in "aeiou"])
        slots = {"x": thing(w).lower(), "n": n, "n2": n2, "y": lexicon.plural(n)}
        before, after = (t.format_map(slots) for t in w.any(*GRAMMAR))
        if w.chance(0.5):
            before, after = (capital(before) + ".", after) if w.chance(0.5) else (before, after)
        pattern = f"(correct|fix) (the grammar|the mistake|the error|{THIS}|my grammar|the mistakes) [here|in this sentence]|what is the correct (form|sentence)|is this correct? if not, fix it|(correct|repair) the grammar [please]|proofread {THIS}"
        return finished("The form of the verb or word is wrong.", after, ordered(w, pattern, before))
    if kind == 1:
        right = say(w, f"({SPELT})")
        words = right.split()
        places = [i for i, x in enumerate(words) if x in MISSPELT]
        for i in w.rng.sample(places, min(len(places), w.number(1, 3))):
            words[i] = MISSPELT[words[i]]
        changes = "; ".join(f"{a} becomes {b}" for a, b in zip(words, right.split()) if a != b) or "Nothing is wrong"
        before = " ".join(words)
        before = capital(before) + "." if w.chance(0.6) else before
        pattern = f"(correct|fix) (the spelling|the typos|the spelling mistakes|my spelling|the typo|spelling errors|{THIS}) [here|in this]|proofread {THIS}|(spell check|spell-check|spellcheck) {THIS}|there are typos in this, fix them|spell it correctly"
        return finished(f"{changes}.", capital(right) + ".", ordered(w, pattern, before))
    if kind == 2:
        c = Clause(w)
        right = c.said(w.any("past", "present"), end="")
        words = right.split()
        places = [i for i, x in enumerate(words) if len(x) > 3 and x.isalpha() and x.islower()]
        if not places:
            return spelling(w)
        for i in w.rng.sample(places, min(len(places), w.number(1, 2))):
            words[i] = grammar.typo(w.rng, words[i])
        return finished("; ".join(f"{a} becomes {b}" for a, b in zip(words, right.split()) if a != b) + ".", right + ".", ordered(w, f"(correct|fix) (the spelling|the typos|the spelling mistakes|{THIS}|the mistakes) [here|in this]|proofread {THIS}|clean up the typos|spell it correctly", " ".join(words) + "."))
    parts = [Clause(w).said(w.any("past", "present"), end="") for _ in range(w.number(1, 3))]
    right = ". ".join(parts) + "."
    before = " ".join(p[0].lower() + p[1:] for p in parts)
    if before.split()[0] == "i" or " i " in before or w.chance(0.5):
        before = before.lower()
    return finished("Sentences begin with capitals and end with dots.", right, ordered(w, "(add|put in|insert) (punctuation|the punctuation|commas and dots|periods) [and (capitals|capital letters)]|add (capital letters|capitals) and (punctuation|dots|periods)|(fix|correct) the punctuation [and (capitals|capitalization)]|(punctuate|put dots and capitals into) " + THIS, before))


def replace(w):
    kind = w.number(0, 4)
    if kind == 0:
        c = Clause(w, need_object=True)
        text = c.said(w.any("past", "present"))
        words = [x for x in text.rstrip(".").split() if len(x) > 2 and text.count(x) == 1]
        old, new = w.any(*words), w.noun()
        if w.chance(0.35):
            old, other = w.noun(), w.noun()
            text = w.any(f"Every {old} needs a second {old}.", f"One {old} is here and one {old} is in the {other}.", f"No {old} is as {w.adjective()} as my {old}.", f"The {old} stood beside the {other}, and the {other} was full. The {old} was not.", f"{capital(old)} or {other}? I take the {old}.", f"My {old}, your {old} and the {old} of {w.first_name()}.")
        count = len(re.findall(rf"\b{re.escape(old)}\b", text, re.I))
        answer = capital(re.sub(rf"\b{re.escape(old)}\b", lambda _: new, text, flags=re.I))
        return finished(f"{old} becomes {new}{f', {count} times' if count > 1 else ''}.", answer, ordered(w, w.any("replace '{a}' (with|by) '{b}' [in {T}|here]", "replace {a} (with|by) {b}", "(change|turn) {a} (to|into) {b} [in this sentence|here]", "(swap|exchange) the word {a} for {b}", "(write|use|put) {b} instead of {a}"), text, a=old, b=new, T="the sentence"))
    if kind == 1:
        c = Clause(w)
        text = c.said(w.any("past", "present"))
        word = w.any(*text.rstrip(".").split()[1:])
        if text.split().count(word) != 1 or not word.isalpha():
            return replace(w)
        answer = " ".join(x for x in text.rstrip(".").split() if x != word) + "."
        return finished(f"All but {word}.", answer, ordered(w, w.any("(remove|delete|drop|take out|leave out) the word ({a}|'{a}')", "(rewrite|write) it without [the word] ({a}|'{a}')", "cut ('{a}'|{a}) from (this|the sentence)"), text, a=word))
    if kind == 2:
        a, b = w.any(*lexicon.OPPOSITES)
        if w.chance(0.5):
            a, b = b, a
        adjective = (a, b) in lexicon.OPPOSITES[:48] or (b, a) in lexicon.OPPOSITES[:48]
        if adjective:
            noun = w.noun()
            text, answer, thought = f"The {noun} is {a}.", f"The {noun} is {b}.", f"The opposite of {a} is {b}."
            if w.chance(0.6):
                c, d = w.any(*lexicon.OPPOSITES[:40])
                if c not in (a, b) and d not in (a, b):
                    m = w.noun()
                    text, answer, thought = f"The {noun} is {a} and the {m} is {c}.", f"The {noun} is {b} and the {m} is {d}.", f"The opposite of {a} is {b}, of {c} {d}."
            return finished(thought, answer, ordered(w, f"(say|write|give me) the opposite [of {THIS}]|opposite of|(turn|change) {THIS} into (its|the) opposite|swap the adjectives for their opposites", text))
        question = grammar.typed(w, "(what is|what's|give me|tell me|name) the opposite of {a}[?]|opposite of {a}|antonym of {a}|{a} - what is the opposite|what word is the opposite of ['{a}'|{a}]?|(the) contrary of {a}?", a=a)
        return finished(f"{a} and {b} are opposites.", b, question)
    if kind == 3:
        a, b = w.any(*lexicon.SYNONYMS)
        if w.chance(0.5):
            a, b = b, a
        if w.chance(0.5):
            question = grammar.typed(w, "(what is|give me|tell me|name|find|I need) (a synonym (of|for)|another word for) ({a}|'{a}')[?]|synonym (of|for) {a}|another word for {a}[?]|a different word for {a}, please", a=a)
            return finished(f"{a} means {b}.", b, question)
        noun = w.noun()
        text, answer = (f"The {noun} is {a}.", f"The {noun} is {b}.") if (a, b) in lexicon.SYNONYMS[:3] + lexicon.SYNONYMS[5:12] or (b, a) in lexicon.SYNONYMS[:3] + lexicon.SYNONYMS[5:12] else (f"They {a} the {noun}.", f"They {b} the {noun}.") if a in ("buy", "begin", "start", "help", "repair", "fix", "choose", "build", "purchase", "select", "gather", "collect") else (None, None)
        if not text:
            return replace(w)
        return finished(f"{b} means the same as {a}.", answer, ordered(w, f"(rephrase|paraphrase|reword) {THIS}|say {THIS} (in other words|differently|another way|in different words)|(use|write it with) other words", text))
    n = w.any(*[x for k in ("animal", "fruit", "piece of furniture", "building", "tool", "kitchen item") for x in lexicon.KINDS[k]])
    if w.chance(0.5):
        question = grammar.typed(w, "(what is|what's|give me|tell me) the plural of {a}[?]|plural of {a}|{a} (in the|in) plural|how do you write the plural of {a}?|one {a}, two what?", a=n)
        return finished(f"One {n}, two {lexicon.plural(n)}.", lexicon.plural(n), question)
    text, answer = w.any((f"The {n} is old.", f"The {lexicon.plural(n)} are old."), (f"One {n} is here.", f"Two {lexicon.plural(n)} are here."), (f"I see {lexicon.article(n)}.", f"I see {lexicon.plural(n)}."), (f"The {n} has a name.", f"The {lexicon.plural(n)} have names."), (f"This {n} was cheap.", f"These {lexicon.plural(n)} were cheap."))
    return finished(f"{n} becomes {lexicon.plural(n)}.", answer, ordered(w, f"(put|write|turn|change) {THIS} (in|into|to) [the] plural|make {THIS} plural|plural of this sentence|pluralize {THIS}", text))


JOINERS = [("because", 0), ("so", 1), ("and", 1), ("but", 1)]


def joining(w):
    kind = w.number(0, 4)
    if kind == 0:
        a, b = Clause(w), Clause(w)
        first, second = a.said("past", end=""), b.said("past", end="")
        low = second if b.subject == "I" or b.subject[0].isupper() else second[0].lower() + second[1:]
        word = w.any("and", "and", "but", "so")
        asked = "and" if word == "and" and w.chance(0.6) else word
        pattern = f"(join|combine|merge|connect|link) (these|the|both|the two) sentences [into one [sentence]]|make one sentence (of|out of|from) (this|these|them)|put (this|these|both) into one sentence" if word == "and" else f"(join|combine|connect|link) (these|the|both) sentences with '{word}'|(make|build) one sentence with '{word}'"
        return finished(f"{asked} joins {first} and {low}.", f"{first} {word} {low}.", ordered(w, pattern, f"{first}. {second}."))
    if kind == 1:
        items = [w.any(w.noun, lambda: w.any(*lexicon.KINDS[w.any("fruit", "vegetable", "kitchen item", "dish", "drink", "tool")]))() for _ in range(w.number(2, 6))]
        items = list(dict.fromkeys(items))
        if len(items) < 2:
            return joining(w)
        lead = w.any("We need ", "I bought ", "Please bring ", "The list: ", "On the table: ", "They sell ", "")
        text = lead + grammar.listing(items) + "."
        star = w.any("-", "-", "*", "numbers")
        answer = "\n".join(f"{i + 1}. {x}" for i, x in enumerate(items)) if star == "numbers" else "\n".join(f"{star} {x}" for x in items)
        what = {"-": "(a bullet list|bullet points|bullets|a bulleted list|a list with dashes|a list)", "*": "(bullet points with stars|a list with asterisks|a markdown list with *)", "numbers": "(a numbered list|numbered points|a list with numbers)"}[star]
        return finished(f"{len(items)} items.", answer, ordered(w, f"(make|turn|convert|put|change|write|format|reformat) {THIS} (into|as|in the form of) {what}", text))
    if kind == 2:
        items = list(dict.fromkeys(w.noun() for _ in range(w.number(2, 5))))
        if len(items) < 2:
            return joining(w)
        mark = w.any("- ", "* ", "")
        text = "\n".join(mark + x for x in items)
        return finished("One sentence with commas.", f"We need {grammar.listing(items)}.", ordered(w, "(turn|make|write) (this list|the list|it) (into|as) (a|one) sentence [that begins|starting] with 'We need'", text, inline=False))
    if kind == 3:
        pairs = [("do not", "don't"), ("cannot", "can't"), ("is not", "isn't"), ("I am", "I'm"), ("they are", "they're"), ("it is", "it's"), ("will not", "won't"), ("does not", "doesn't"), ("we have", "we've"), ("I will", "I'll"), ("you are", "you're"), ("was not", "wasn't")]
        long, short = w.any(*pairs)
        tail = w.any("in {c}", "sure", "ready", "at home", "late", "like {x}", "open {x}", "seen {x}").format(c=w.city(), x=thing(w))
        lead = "" if long[0].isupper() or long.split()[0] in ("they", "it", "we", "you") else w.any("The door ", "He ", "The shop ", "She ") if long not in ("do not", "cannot", "will not") else w.any("They ", "I ", "We ")
        full, contracted = capital(f"{lead}{long} {tail}."), capital(f"{lead}{short} {tail}.")
        if w.chance(0.6):
            return finished(f"{long} becomes {short}.", contracted, ordered(w, f"(use|write it with) (contractions|short forms)|(contract|shorten) the verbs|make the contractions|(rewrite|write) {THIS} with (contractions|short forms)", full))
        return finished(f"{short} becomes {long}.", full, ordered(w, f"(expand|remove|write out|undo|resolve) (the|all) (contractions|short forms)|(rewrite|write) {THIS} without (contractions|short forms)", contracted))
    c = Clause(w)
    adjectives = lexicon.GOOD[:20] + ["old", "new", "small", "large", "young", "tired"]
    word = w.any("very", "really", "very", "quite")
    a, b = w.rng.sample(adjectives, 2)
    n, m = w.noun(), w.noun()
    before = f"The {n} is {word} {a} and the {m} was {word} {b}."
    return finished(f"All but {word}.", before.replace(word + " ", ""), ordered(w, f"(rewrite|write|say) {THIS} without (the word '{word}'|'{word}'|{word}|using {word})|(remove|delete|drop) (every|each|all|the word) {word}", before))


TASKS = {tense: 18, person: 8, voice: 8, question: 8, negation: 10, shorten: 14, tone: 16, letters: 16, spelling: 16, replace: 16, joining: 12, rewording.question_of: 120}


def question_of(w):
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)
