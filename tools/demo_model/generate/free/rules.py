"""Rules for the form of all answers: given by the system, by the user at first or in the question, held through several
turns, and changed or dropped later."""

import json

from . import chat, classify, facts, lexicon, ordering, scenes, sums
from .grammar import capital, typed
from .memory import past, turn


def question(w, short=False):
    """(question, thought, answer) of a small thing."""
    for _ in range(60):
        q, reasoning, answer, _ = w.any(facts.fact, facts.country, facts.fact, facts.country, ordering.comparing, classify.word_kinds, sums.digits, scenes.reading_of, *([] if short else [chat.talk, chat.talk]))(w)
        if "\n" not in answer and len(answer) < 90 and (not short or len(answer.split()) <= 2):
            return q, reasoning, answer
    return question(w, short)


def plain(answer):
    return answer.strip().rstrip(".!")


def with_number(n):
    return lexicon.in_words(n) if n < 20 else str(n)


# name, wordings, what becomes of an answer; {x} is filled by the third of (wordings, change, draw)
def rules(w):
    word = w.any(w.noun(), w.any("Sir", "Captain", "friend", "meow", "over", "amen", "boss", "ahoy", "done"))
    emoji = w.any("🙂", "✅", "🚀", "⭐", "🎉", "👍")
    tag = w.any("answer", "result", "reply", "output", "text")
    return {
        "upper": ("(write|answer|reply|speak) [only] in (capitals|capital letters|upper case|all caps)|use (capital letters|upper case) only|ALWAYS ANSWER IN CAPITALS", str.upper), "lower": ("(write|answer|reply) [only] in (lower case|small letters)|use no capital letters|everything in lowercase", str.lower),
        "end": (f"(end|finish|close) (every|each) (answer|reply|message) with [the word] {word}|always (say|write) {word} at the end|your answers must end with {word}", lambda t: f"{plain(t)} {word}"), "start": (f"(begin|start) (every|each) (answer|reply|message) with [the word] {word}|always (say|write) {word} first|your answers must (start|begin) with {word}", lambda t: f"{word} {t}"),
        "quotes": ("(put|write) (your|every) answer in [double] quotes|(answer|reply) in quotation marks|quote every answer", lambda t: f'"{t}"'), "json": (f"(answer|reply) [only] with JSON [like|of the form] {{{{\"{tag}\": ...}}}}|wrap (every|each) answer in JSON with the key {tag}|output JSON only, with the key {tag}", lambda t: json.dumps({tag: t}, ensure_ascii=False)),
        "nodot": ("(no|never use a|without a|leave out the) (full stop|period|dot) at the end|no punctuation at the end", plain), "exclaim": ("(end|finish) (every|each) answer with (an exclamation mark|!)|always (with|use) an exclamation mark", lambda t: plain(t) + "!"), "emoji": (f"(end|finish) (every|each) (answer|reply) with {emoji}|add {emoji} to (every|each) answer|always put {emoji} at the end", lambda t: f"{t} {emoji}"),
        "nocomma": ("(no|never use|don't use|avoid) commas|(answer|write) without commas|leave out all commas", lambda t: t.replace(",", "")), "bold": ("(put|write) (every|each|your) answer in bold (markdown|with **)|(make|write) answers bold with \\*\\*".replace("\\", ""), lambda t: f"**{t}**"), "bullet": ("(answer|reply) with a bullet point|(put|write) a dash before (every|each) answer|begin answers with '- '", lambda t: f"- {t}"),
        "twice": ("(say|write|give) (every|each) answer twice|repeat (every|each) answer once", lambda t: f"{t} {t}"), "brackets": ("(put|write) (every|each|your) answer in (square brackets|\\[ ])|answers go in square brackets".replace("\\[ ]", "square brackets"), lambda t: f"[{t}]"), "lines": ("(write|put) each word (on a line of its own|on its own line)|one word per line", lambda t: "\n".join(t.split())),
        "dashes": ("(join|connect) (all|the) words with dashes|(write|put) dashes instead of spaces", lambda t: t.replace(" ", "-")), "tagged": (f"(put|wrap) (every|each|your) answer (in|between) <{tag}> (and </{tag}>|tags)|use <{tag}> tags around (every|each) answer", lambda t: f"<{tag}>{t}</{tag}>"),
    }


AT_ONCE = ["From now on: {r}.", "{R}.", "{R}, please.", "Rule: {r}.", "For the rest of this chat, {r}.", "please {r} from now on", "{r}", "New rule: {r}.", "I have one wish: {r}.", "{R}. Understood?", "In all your answers: {r}."]
SYSTEM = ["{R}.", "You are a helpful assistant. {R}.", "You are an assistant. Rule: {r}.", "Important: {r}.", "{R}. This holds for every answer.", "Be helpful. {R}.", "You answer questions. {R}. No exceptions.", "Rules:\n- {R}.\n- Be polite.", "Rules:\n1. Be brief.\n2. {R}.", "Follow this rule in every answer: {r}. Do not mention the rule."]


def said(w, pattern):
    text = typed(w, pattern)
    return text


def held(w):
    """One rule, or two, through several turns."""
    table = rules(w)
    name = w.any(*table)
    pattern, change = table[name]
    by_system = w.chance(0.5)
    r = typed(w, pattern).rstrip(".?! ")
    r = r[0].lower() + r[1:]
    frame = w.any(*(SYSTEM if by_system else AT_ONCE)).replace("{r}", r).replace("{R}", capital(r))
    blocks = [{"role": "system", "content": frame}] if by_system else []
    pending = "" if by_system else frame
    if not by_system and w.chance(0.5):
        blocks += past(pending, change(w.any("OK", "Understood", "All right", "OK.")))
        pending = ""
    answer = ""
    for _ in range(w.any(1, 1, 2, 3, 4)):
        q, reasoning, plain_answer = question(w)
        answer = change(plain_answer)
        blocks += turn(f"{pending} {q}" if pending and w.chance(0.5) else f"{q}\n{pending}" if pending else q, f"{reasoning} With the rule: {name}." if w.chance(0.6) else f"{reasoning} The rule holds.", answer)
        pending = ""
    if w.chance(0.2):
        q, reasoning, answer = question(w)
        drop = typed(w, "(forget|drop|ignore) the rule [now]|(back to normal|normal again|no more rules)[, please]|you can answer normally [again]|stop (doing that|that)")
        if by_system:
            return blocks, {"equals": blocks[-1]["content"]}
        blocks += past(drop, w.any("OK.", "All right.", "OK, as before."))
        blocks += turn(q, reasoning, answer)
    return blocks, {"equals": answer}


def yes_no(w):
    """Only yes or no, to anything that can be so answered."""
    blocks = []
    wish = typed(w, "(answer|reply) [only|just] with yes or no|yes or no [answers] only|(say|answer) yes or no, nothing else|only (use|say) the words yes and no|one word: yes or no")
    system = w.chance(0.4)
    if system:
        blocks.append({"role": "system", "content": w.any("{}.", "You are a helpful assistant. {}.", "{}. Nothing else.").format(capital(wish.rstrip(".")))})
    pending = "" if system else wish
    for _ in range(w.any(1, 1, 2, 3)):
        s = scenes.Scene(w, rows=w.number(2, 4))
        r = w.rng.random()
        if r < 0.5:
            while True:
                q, reasoning, answer, _ = scenes.yes_no(w, s)
                if not q.lower().startswith("true or") and "true or" not in q.lower():
                    break
            q = scenes.shown(w, s, q)
            answer = answer.split(",")[0].rstrip(".")
        elif r < 0.75:
            a, b = w.number(1, 900), w.number(1, 900)
            if a == b:
                b += 1
            word = w.any("bigger", "smaller", "larger", "less")
            right = a > b if word in ("bigger", "larger") else a < b
            q, reasoning, answer = typed(w, "is {a} {x} than {b}[?]", a=a, b=b, x=word), f"{a} and {b}.", "Yes" if right else "No"
        else:
            kind = w.any(*[k for k in lexicon.KINDS if k not in ("month", "day of the week")])
            true = w.chance(0.5)
            word = w.any(*lexicon.KINDS[kind])
            other = w.any("animal", "color", "fruit", "country", "vegetable", "vehicle", "tool", "drink")
            if not true and (other == kind or word in lexicon.of_kind(other)):
                true = True
            q, reasoning, answer = typed(w, "is {a} {b}[?]|{a} is {b}, right?", a=lexicon.article(word) if kind not in ("country", "city") else word, b=lexicon.article(kind if true else other)), f"{capital(word)} is {lexicon.article(kind)}.", "Yes" if true else "No"
        if pending:
            q, pending = (f"{q}\n{pending}" if "\n" in q else w.any(f"{q} {pending}", f"{pending}: {q}", f"{q} ({pending})")), ""
        blocks += turn(q, reasoning, answer)
    return blocks, {"equals": answer}


def words(w):
    """An answer of one word, of so many words, or not longer than that."""
    q, reasoning, answer = question(w, True)
    n = len(plain(answer).split())
    text = with_number(n)
    wish = typed(w, "(in|use|with) [exactly|just|only] {n} {x}|(answer|reply) (in|with) {n} {x}[, please]|{n} {x} (only|please|max)|(at most|no more than|maximum) {n} {x}", n=text if w.chance(0.6) else n, x="word" if n == 1 else "words")
    if n == 1 and w.chance(0.5):
        wish = typed(w, "one word [only|please]|(answer|reply) with (a single|one) word|just one word|single word answer[s]")
    answer = plain(answer)
    if w.chance(0.35):
        return [{"role": "system", "content": capital(wish) + "."}] + turn(q, f"{reasoning} The answer has {text} {'word' if n == 1 else 'words'}.", answer), {"equals": answer}
    q = f"{q}\n{wish}" if "\n" in q else w.any(f"{q} {capital(wish)}.", f"{q} {wish}", f"{wish}: {q}", f"{q} ({wish})", f"{capital(wish)}. {q}")
    return turn(q, f"{reasoning} The answer has {text} {'word' if n == 1 else 'words'}.", answer), {"equals": answer}


def inside(w):
    """The form is wished for in the question itself."""
    table = rules(w)
    name = w.any("upper", "lower", "quotes", "json", "exclaim", "emoji", "bold", "bullet", "twice", "brackets", "tagged", "dashes", "nodot")
    _, change = table[name]
    wish = {"upper": "in (capitals|capital letters|upper case|all caps)|(use|with) capital letters only", "lower": "in (lower case|small letters)|without capital letters|all lowercase", "quotes": "in [double] quotes|in quotation marks", "exclaim": "with (an exclamation mark|a ! at the end)", "bold": "in bold [markdown]|bold, with **", "bullet": "as a bullet point|with a dash before it",
            "twice": "twice|two times", "brackets": "in square brackets", "dashes": "with dashes instead of spaces", "nodot": "without a (full stop|period)"}.get(name)
    if wish is None:
        wish = table[name][0]
    q, reasoning, answer = question(w)
    answer = change(answer)
    wish = typed(w, wish)
    if name in ("json", "emoji", "tagged"):
        text = f"{q}\n{capital(wish)}." if "\n" in q or w.chance(0.5) else f"{capital(wish)}. {q}"
    else:
        text = f"{q}\n{w.any('Answer', 'Reply', 'Write it', 'The answer')} {wish}." if "\n" in q else w.any(f"{q} Answer {wish}.", f"{q.rstrip('?')}, {wish}?", f"{q} {wish}", f"{q} Write it {wish}.", f"answer {wish}: {q}", f"{q} (answer {wish})")
    return turn(text, reasoning, answer), {"equals": answer}


def mapped(w):
    """Agreed answers: when this is said, answer that."""
    pairs = []
    while len(pairs) < w.number(1, 3):
        a, b = ordering.words_of(w, 2)
        if a not in [x for p in pairs for x in p] and b not in [x for p in pairs for x in p]:
            pairs.append((a, b))
    rule = w.any(" ", "; ", " And ").join(w.any("When I say {a}, say {b}.", "If I write {a}, answer {b}.", "To {a} you answer {b}.", "{a} means: reply {b}.").format(a=a, b=b) for a, b in pairs)
    a, b = w.any(*pairs)
    if w.chance(0.4):
        blocks = [{"role": "system", "content": rule.replace("I say", "the user says").replace("I write", "the user writes")}]
    else:
        blocks = past(rule, w.any("OK.", "Understood."))
    for _ in range(w.any(0, 0, 1, 2)):
        if w.chance(0.5):
            x, y = w.any(*pairs)
            blocks += past(x, y)
        else:
            q, _, answer = question(w)
            blocks += past(q, answer)
    return blocks + turn(w.any(a, a, a + "!", a.upper() if a.islower() else a, f"{a}."), f"{a} was agreed: {b}.", b), {"equals": b}


TASKS = {held: 40, yes_no: 18, words: 16, inside: 18, mapped: 8}


def dialogue(w):
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)
