"""What is done with lists beside sorting: keep, leave out, take parts, compare two, put together, find the largest, add up."""

from . import lexicon, sums, tallies
from .grammar import capital, form, order, typed, with_payload
from .ordering import THESE, finish, joined, selection, shown, tally, words_of


def numbers_of(w, count, low=1, high=99):
    out = []
    while len(out) < count:
        n = w.number(low, high)
        if n not in out:
            out.append(n)
    return out


def kept_numbers(w):
    """Even, odd, above, below, between."""
    items = numbers_of(w, w.number(4, 8), 1, w.any(20, 99, 99, 500))
    kind = w.any("even", "odd", "above", "below", "between", "tens")
    a, b = sorted(numbers_of(w, 2, 5, max(items)))
    test, said = {"even": (lambda x: x % 2 == 0, "even numbers"), "odd": (lambda x: x % 2 == 1, "odd numbers"), "above": (lambda x: x > a, w.any("numbers", "values") + w.any(f" above {a}", f" greater than {a}", f" larger than {a}", f" over {a}")), "below": (lambda x: x < b, w.any("numbers", "values") + w.any(f" below {b}", f" smaller than {b}", f" less than {b}", f" under {b}")),
                  "between": (lambda x: a < x < b, f"numbers between {a} and {b}"), "tens": (lambda x: x % 10 == 0 or x % 5 == 0, "numbers that can be divided by 5")}[kind]
    yes = [x for x in items if test(x)]
    text, form_ = shown(w, items)
    steps = tally(items, map(test, items))
    r = w.rng.random()
    if r < 0.5:
        question = order(w, "(list|keep|give me|show|find|return|pick|filter|extract) [only|just|all] the {s}|only the {s}|(which|what) are the {s}", s=said)
        return finish(with_payload(w, question, text), steps, joined(yes, form_) if yes else "None")
    if r < 0.7:
        rest = [x for x in items if not test(x)]
        question = order(w, "(remove|delete|drop|leave out|take out|filter out) [all] the {s}", s=said)
        return finish(with_payload(w, question, text), steps, joined(rest, form_) if rest else "None")
    question = typed(w, "how many {s} (are there|do you see|are in it)[?]|count the {s}|number of {s}?", s=said)
    return finish(with_payload(w, question, text), f"{steps} {len(yes)}.", str(len(yes)))


def kept_words(w):
    """By the first or last letter, the length, or what they are."""
    kind = w.any("start", "end", "longer", "shorter", "kind", "kind", "capital")
    if kind == "kind":
        a, b = w.rng.sample(["animal", "fruit", "color", "vehicle", "tool", "vegetable", "country", "drink", "piece of clothing", "job", "musical instrument", "sport"], 2)
        items = w.rng.sample(lexicon.KINDS[a], w.number(1, 4)) + w.rng.sample(lexicon.KINDS[b], w.number(1, 4))
        if len(set(items)) < len(items):
            return kept_words(w)
        w.rng.shuffle(items)
        plural = lexicon.plural_kind(a)
        test, said = (lambda x: x in lexicon.KINDS[a]), w.any(plural, plural, f"words that are {plural}")
    else:
        items = words_of(w, w.number(4, 8))
        letter, n = w.any(*items)[0].lower(), w.number(4, 7)
        last = w.any(*items)[-1].lower()
        test, said = {"start": (lambda x: x[0].lower() == letter, w.any(f"words (that begin|beginning|that start|starting) with [the letter] {letter}", f"words with {letter} at the beginning")), "end": (lambda x: x[-1].lower() == last, w.any(f"words (that end|ending) (in|with|on) {last}", f"words with {last} at the end")), "longer": (lambda x: len(x) > n, f"words (longer than|with more than) {n} letters"),
                      "shorter": (lambda x: len(x) < n, f"words (shorter than|with less than|with fewer than) {n} letters"), "capital": (lambda x: x[0].isupper(), "words (with|that have) a capital letter")}[kind]
        said = form(w, said)
    yes = [x for x in items if test(x)]
    rest = [x for x in items if not test(x)]
    text, form_ = shown(w, items)
    steps = tally([f"{x} {len(x)}" if kind in ("longer", "shorter") else x for x in items], map(test, items))
    r = w.rng.random()
    if r < 0.45:
        return finish(with_payload(w, order(w, "(list|keep|give me|show|find|return|pick|filter) [only|just|all] the {s}|only the {s}", s=said), text), steps, joined(yes, form_) if yes else "None")
    if r < 0.7:
        return finish(with_payload(w, order(w, "(remove|delete|drop|leave out|take out) [all] the {s}", s=said), text), steps, joined(rest, form_) if rest else "None")
    return finish(with_payload(w, typed(w, "how many {s} (are there|do you see|are in (it|the list))[?]|count the {s}|number of {s}?", s=said), text), f"{steps} {len(yes)}.", str(len(yes)))


def figures(w):
    """Largest, smallest, sum, mean, range, second."""
    kind = w.any("max", "min", "max", "min", "sum", "mean", "range", "second", "place")
    if kind == "mean":
        mean, n = w.number(2, 40), w.number(2, 4)
        items = [mean] * n
        for _ in range(3):
            i, j = w.rng.sample(range(n), 2)
            d = w.number(0, min(items[i], mean) - 1)
            items[i], items[j] = items[i] - d, items[j] + d
        total = sum(items)
        so_far, steps = items[0], []
        for x in items[1:]:
            steps.append(sums.plus(so_far, x))
            so_far += x
        return finish(with_payload(w, typed(w, "(what is|find|compute|calculate|) the (average|mean) [of (these|the) numbers|of these][?]|average?|mean of these[?]"), ", ".join(map(str, items))), f"{' '.join(steps)} {sums.over(total, n)}", str(mean), {"number": mean})
    items = numbers_of(w, w.number(3, 7), 1, w.any(20, 99, 999, 9999))
    if w.chance(0.15) and kind in ("max", "min"):
        items = sorted({round(x + w.number(1, 9) / 10, 1) for x in items}, key=lambda _: w.rng.random())
    text, _ = shown(w, items)
    if kind == "max" or kind == "min":
        best = max(items) if kind == "max" else min(items)
        a = "(largest|biggest|highest|greatest|maximum)" if kind == "max" else "(smallest|lowest|least|minimum)"
        return finish(with_payload(w, typed(w, f"(what is|what's|which is|find|give me|pick|) the {a} (number|value|one|of these)[?]|{a} (number|value|one)[?]|which (number|one) is the {a}[?]"), text), f"{'Largest' if kind == 'max' else 'Smallest'} of {', '.join(map(str, items))}: {best}.", str(best))
    if kind == "sum":
        items = items[:w.number(2, 4)]
        items = [x % 200 + 1 for x in map(int, items)]
        so_far, steps = items[0], []
        for x in items[1:]:
            steps.append(sums.plus(so_far, x))
            so_far += x
        return finish(with_payload(w, typed(w, "(add up|sum [up]|total) (these|the numbers|all of them)|(what is|) the (sum|total) [of these][?]|add these [numbers] [up]|sum?"), ", ".join(map(str, items))), " ".join(steps), str(so_far), {"number": so_far})
    items = list(map(int, items))
    if kind == "range":
        a, b = max(items), min(items)
        return finish(with_payload(w, typed(w, "(what is|) the difference between the (largest|biggest|highest) and the (smallest|lowest) [number|value][?]|(by how much|how much) is the (largest|highest) above the (smallest|lowest)[?]"), text), f"{a} and {b}. {sums.minus(a, b)}", str(a - b), {"number": a - b})
    ordered = sorted(items, reverse=True)
    if kind == "second":
        top = w.chance(0.6)
        answer = ordered[1] if top else ordered[-2]
        return finish(with_payload(w, typed(w, f"(what is|which is|find|) the second {'(largest|biggest|highest)' if top else '(smallest|lowest)'} [number|value|one][?]"), text), selection(items, ordered if top else ordered[::-1]), str(answer))
    i = w.rng.randrange(len(items))
    return finish(with_payload(w, typed(w, "(at which place|on which position|where in the list) is {x}[?]|what (place|position|index) has {x} (counting from one|if the first is 1)[?]|which number in the row is {x}?", x=items[i]), text), "; ".join(f"{k + 1} {x}" for k, x in enumerate(items)) + ".", str(i + 1))


def two_lists(w):
    """What both have, what one lacks, one after the other."""
    both, one, two = words_of(w, w.number(1, 3)), words_of(w, w.number(1, 3)), words_of(w, w.number(1, 3))
    if len({x.lower() for x in both + one + two}) < len(both + one + two):
        return two_lists(w)
    a, b = both + one, both + two
    w.rng.shuffle(a)
    w.rng.shuffle(b)
    text = w.any(lambda: f"A: {', '.join(a)}\nB: {', '.join(b)}", lambda: f"first list: {', '.join(a)}\nsecond list: {', '.join(b)}", lambda: f"{', '.join(a)} / {', '.join(b)}", lambda: f"list 1: {', '.join(a)}; list 2: {', '.join(b)}")()
    first, second = ("A", "B") if text.startswith("A:") else ("the first list", "the second list")
    kind = w.any("both", "only", "missing", "all", "join")
    if kind == "both":
        found = [x for x in a if x in b]
        return finish(with_payload(w, typed(w, "(which|what) (words|items|ones) are in both [lists][?]|what do (they|the lists|the two) have in common[?]|(common|shared) (items|words)[?]|what (is|are) in both?"), text, False), "; ".join(f"{x} {'yes' if x in b else 'no'}" for x in a) + ".", ", ".join(found))
    if kind in ("only", "missing"):
        found = [x for x in a if x not in b] if kind == "only" else [x for x in b if x not in a]
        x, y = (first, second) if kind == "only" else (second, first)
        return finish(with_payload(w, typed(w, "(which|what) (words|items|ones) are only in {x}[?]|what is in {x} but not in {y}[?]|what is missing (in|from) {y}[?]|what does {x} have that {y} does not have?", x=x, y=y), text, False), "; ".join(f"{i} {'no' if i in found else 'yes'}" for i in (a if kind == "only" else b)) + ".", ", ".join(found))
    if kind == "all":
        found = a + [x for x in b if x not in a]
        return finish(with_payload(w, order(w, "(merge|combine|unite|put together) (the|both|these) lists without (duplicates|doubles)|(list|give me) every (item|word) [of both] once"), text, False), "Each one once.", ", ".join(found))
    return finish(with_payload(w, order(w, "(append|add) {y} to {x}|(join|concatenate) (the|both) lists[, {x} first]", x=first, y=second), text, False), f"{capital(first)}, then {second}.", ", ".join(a + b))


def parts(w):
    """Swaps, every second one, all but, halves, the one before or after."""
    items = words_of(w, w.number(4, 8)) if w.chance(0.7) else numbers_of(w, w.number(4, 8))
    text, form_ = shown(w, items)
    kind = w.any("swap", "second", "last", "but", "before", "after", "replace", "slice", "double", "middle")
    n = w.number(1, 3)
    name = lexicon.SMALL[n] if w.chance(0.5) else str(n)
    if kind == "swap":
        out = [items[-1], *items[1:-1], items[0]]
        return finish(with_payload(w, order(w, "(swap|exchange|switch) the first and [the] last (item|one|word|entry)|(swap|exchange) first and last"), text), "The ends change places.", joined(out, form_))
    if kind == "second":
        return finish(with_payload(w, order(w, "(give me|take|list|keep|write) every (second|other) (item|one|word) [starting with the first]"), text), "; ".join(f"{i + 1} {x}" for i, x in enumerate(items)) + ".", joined(items[::2], form_))
    if kind == "last":
        return finish(with_payload(w, typed(w, "(give me|take|show|return|keep) [only|just] the last {n} [items|ones|words]|the last {n}[, please]|what are the last {n}[?]", n=name), text), f"{n} from the end.", joined(items[-n:], form_))
    if kind == "but":
        i = w.any(0, -1)
        return finish(with_payload(w, typed(w, f"(all|everything) (but|except) the {'first' if i == 0 else 'last'} (one|item|word)|(leave out|drop|remove|delete) the {'first' if i == 0 else 'last'} (one|item|word)"), text), f"Without {items[i]}.", joined(items[1:] if i == 0 else items[:-1], form_))
    if kind in ("before", "after"):
        i = w.number(1, len(items) - 2)
        j = i - 1 if kind == "before" else i + 1
        return finish(with_payload(w, typed(w, f"(what|which one|which (item|word)) (comes|is|stands) [right|just|directly] {kind} {{x}}[?]|what {'precedes' if kind == 'before' else 'follows'} {{x}}?", x=items[i]), text), f"{' '.join(map(str, items[i - 1:i + 2]))}.", str(items[j]))
    if kind == "replace":
        x, y = w.any(*items), words_of(w, 1)[0]
        return finish(with_payload(w, order(w, "(replace|swap|exchange) {x} (with|by|for) {y}|(write|put) {y} instead of {x}|change {x} to {y}", x=x, y=y), text), f"{x} becomes {y}.", joined([y if i == x else i for i in items], form_))
    if kind == "slice":
        a = w.number(1, len(items) - 2)
        b = w.number(a + 1, len(items))
        names = "zero first second third fourth fifth sixth seventh eighth".split()
        return finish(with_payload(w, order(w, "(give me|take|list|show) (items|numbers|entries|words) {a} to {b}|(give me|take|list|show) the {c} to the {d} (one|item|word)", a=a, b=b, c=names[a], d=names[b]), text), "; ".join(f"{i + 1} {x}" for i, x in enumerate(items[:b])) + ".", joined(items[a - 1:b], form_))
    if kind == "double":
        numbers = numbers_of(w, w.number(2, 5), 1, 50)
        change, said = w.any((lambda x: 2 * x, "(double|multiply by two) each [number|one]|(twice|two times) each [number]"), (lambda x: x + 1, "add (1|one) to each [number|one]|increase each [number] by (1|one)"), (lambda x: x + 10, "add (10|ten) to each [number|one]|each [number] plus (10|ten)"), (lambda x: 10 * x, "(multiply|times) each [number] by (10|ten)|each [number] times (10|ten)"))
        return finish(with_payload(w, order(w, said), ", ".join(map(str, numbers))), "; ".join(f"{x} {change(x)}" for x in numbers) + ".", ", ".join(str(change(x)) for x in numbers))
    if len(items) % 2 == 0:
        items = items[:-1]
    text, _ = shown(w, items)
    return finish(with_payload(w, typed(w, "(what is|which is|give me) the (middle one|one in the middle|middle item)[?]|(what|which) (item|word|one) (is|stands) in the middle[?]"), text), "; ".join(f"{i + 1} {x}" for i, x in enumerate(items)) + ".", str(items[len(items) // 2]))


def by_value(w):
    """Names with numbers: sorted, the best, above a limit."""
    names = words_of(w, w.number(3, 6)) if w.chance(0.5) else list(dict.fromkeys(w.first_name() for _ in range(w.number(3, 6))))
    if len(names) < 3:
        return by_value(w)
    values = numbers_of(w, len(names), 1, w.any(20, 99, 900))
    unit, what = w.any(("", "number"), (" points", "points"), (" euros", "price"), (" km", "distance"), (" years", "age"), (" kg", "weight"), ("%", "share"), (" votes", "votes"))
    style = w.any("{n} {v}", "{n}: {v}", "{n} ({v})", "{n} - {v}", "{n} = {v}", "{n} has {v}", "{n}, {v}")
    text = w.any(", ", "; ", "\n").join(style.format(n=n, v=f"{v}{unit}") for n, v in zip(names, values)) if style != "{n}, {v}" else "\n".join(f"{n}, {v}{unit}" for n, v in zip(names, values))
    down = w.chance(0.6)
    ranked = sorted(zip(values, names), reverse=down)
    steps = f"{'Largest' if down else 'Smallest'} first: {selection(values, [v for v, _ in ranked])}"
    r = w.rng.random()
    if r < 0.55:
        only = w.chance(0.6)
        question = order(w, f"(sort|order|rank|arrange) (them|these|this|the list) by {what}, {'(highest|largest|most) first' if down else '(lowest|smallest|least) first'}|(rank|sort) (them|these) {'from (high to low|most to least)' if down else 'from (low to high|least to most)'}" + (", (names only|only the names)" if only else ""))
        answer = ", ".join(n for _, n in ranked) if only else ", ".join(f"{n} {v}{unit}" for v, n in ranked)
        return finish(with_payload(w, question, text), steps, answer)
    if r < 0.75:
        k = w.number(1, 3)
        k = min(k, len(names) - 1)
        question = typed(w, f"(who|which) are the (top|first|best) {{k}} [by {what}][?]|top {{k}} [by {what}]?|the {{k}} with the (highest|largest|most)[?]", k=lexicon.SMALL[k] if w.chance(0.5) else k)
        ranked = sorted(zip(values, names), reverse=True)
        return finish(with_payload(w, question, text), f"Largest first: {selection(values, [v for v, _ in ranked])}", ", ".join(n for _, n in ranked[:k]))
    limit = w.number(min(values), max(values) - 1)
    found = [n for n, v in zip(names, values) if v > limit]
    question = typed(w, "(who|which [ones]) (has|have|are) (more than|over|above) {l}[?]|(list|name|show) (all|those|everything) (above|over|with more than) {l}|only those over {l}", l=f"{limit}{unit}")
    return finish(with_payload(w, question, text), "; ".join(f"{n} {v} {'yes' if v > limit else 'no'}" for n, v in zip(names, values)) + ".", ", ".join(found))


def times_sorted(w):
    """Clock times and dates in words, earliest or latest first."""
    if w.chance(0.5):
        minutes = numbers_of(w, w.number(3, 6), 0, 24 * 12 - 1)
        items = [f"{5 * m // 60}:{5 * m % 60:02d}" for m in minutes]
        keys = dict(zip(items, minutes))
    else:
        days = numbers_of(w, w.number(3, 5), 0, 335)
        items = [f"{d % 28 + 1} {lexicon.MONTHS[d // 28]}" for d in days]
        keys = dict(zip(items, days))
    late = w.chance(0.35)
    ordered = sorted(items, key=keys.get, reverse=late)
    text, form_ = shown(w, items)
    if w.chance(0.3):
        question = typed(w, f"(which|what) (is|comes) [the] {'(last|latest)' if late else '(first|earliest)'}[?]|the {'latest' if late else 'earliest'} [one][?]")
        return finish(with_payload(w, question, text), f"{'Latest' if late else 'Earliest'} of {', '.join(items)}: {ordered[0]}.", ordered[0])
    question = order(w, f"(sort|order|arrange|put) {THESE} (by time|in (time|chronological) order|chronologically), {'(latest|last) first' if late else '(earliest|first) first'}|(sort|order|arrange) {THESE} {'from late to early' if late else 'from early to late'}")
    return finish(with_payload(w, question, text), f"{'Latest' if late else 'Earliest'} first: {selection(items, ordered)}", joined(ordered, form_))


TASKS = {kept_numbers: 18, kept_words: 18, figures: 22, two_lists: 10, parts: 16, by_value: 14, times_sorted: 8, tallies.question_of: 56}


def question_of(w):
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)
