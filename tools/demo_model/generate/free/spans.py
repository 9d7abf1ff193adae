"""Clock times and spans as people say them: past the full hour, halves and quarters, two spans one after the other, delays,
how long something lasts, who is earlier, and days and weeks."""

from . import lexicon
from .grammar import capital, form, typed, typists
from .reading import finish
from .sums import minus, plus, times


def shown(minutes):
    return f"{minutes // 60 % 24}:{minutes % 60:02d}"


def time_said(w, at):
    """(as it is said, what that is) of a time of the day in minutes."""
    hour, minute = divmod(at, 60)
    if w.chance(0.6) or not 1 <= hour <= 11:
        return shown(at), ""
    next_hour = hour + 1
    said = {0: w.any(f"{hour} o'clock", lexicon.in_words(hour) + " o'clock"), 15: f"(a |)quarter past {hour}", 30: f"half past {w.any(str(hour), lexicon.in_words(hour))}", 45: f"(a |)quarter to {next_hour}"}.get(minute, f"{w.any(str(minute), lexicon.in_words(minute))} past {hour}" if minute < 30 else f"{w.any(str(60 - minute), lexicon.in_words(60 - minute))} to {next_hour}")
    said = form(w, said)
    return said, f"{capital(said)} is {shown(at)}. "


def span_said(w, minutes):
    hours, rest = divmod(minutes, 60)
    count = lambda n: lexicon.in_words(n) if w.chance(0.45) else str(n)
    options = []
    if minutes % 60 == 0:
        options += [f"{count(hours)} hours"] if hours > 1 else ["an hour", "one hour", "60 minutes"]
    if minutes == 30:
        options += ["half an hour"]
    if minutes == 15:
        options += ["a quarter of an hour"]
    if minutes == 45:
        options += ["three quarters of an hour"]
    if minutes == 90:
        options += ["an hour and a half", "one and a half hours"]
    if minutes == 75:
        options += ["an hour and a quarter"]
    if hours and rest:
        options += [f"{'an' if hours == 1 else count(hours)} hour{'s' if hours > 1 else ''} and {count(rest)} minutes"]
    if not hours or minutes < 150 and not options or w.chance(0.15):
        options += [f"{count(minutes)} minutes"]
    return w.any(*options)


def long(minutes):
    """The answer's way."""
    hours, rest = divmod(minutes, 60)
    return " and ".join(([f"{hours} hour{'s' if hours > 1 else ''}"] if hours else []) + ([f"{rest} minute{'s' if rest > 1 else ''}"] if rest or not hours else []))


def after(at, span):
    """at + span, step by step; over the full hour the rest is carried."""
    hours, rest = divmod(span, 60)
    steps, now = [], at
    if hours:
        now += hours * 60
        steps.append(f"{shown(at)} + {hours} h = {shown(now)}")
    if rest:
        minute = now % 60 + rest
        carried = f", one hour and {minute - 60} min" if minute > 59 else ""
        steps.append(f"{'' if hours else shown(at) + ': '}{now % 60} + {rest} = {minute} min{carried}: {shown(now + rest)}")
    return "; ".join(steps) + "."


def before(at, span):
    hours, rest = divmod(span, 60)
    steps, now = [], at
    if hours:
        now -= hours * 60
        steps.append(f"{shown(at)} - {hours} h = {shown(now)}")
    if rest:
        minute = now % 60
        taken = f"{minute} - {rest} = {minute - rest} min" if minute >= rest else f"{minute} - {rest} needs an hour: {60 + minute} - {rest} = {60 + minute - rest} min"
        steps.append(f"{'' if hours else shown(at) + ': '}{taken}: {shown(now - rest)}")
    return "; ".join(steps) + "."


def between(a, b):
    hours, minutes = b // 60 - a // 60, b % 60 - a % 60
    if minutes < 0:
        if hours == 1:
            return f"{a % 60} to 60 are {60 - a % 60} min, and {b % 60}: {60 - a % 60 + b % 60} min."
        return f"{b // 60} - {a // 60} = {hours} hours; {b % 60} - {a % 60} needs an hour: {60 + b % 60} - {a % 60} = {60 + minutes} min, {hours} - 1 = {hours - 1} hours."
    return f"{b // 60} - {a // 60} = {hours} hour{'s' * (hours != 1)}; {b % 60} - {a % 60} = {minutes} min."


def some_span(w):
    return w.any(w.number(1, 11) * 5, w.number(1, 11) * 5, w.number(4, 59), w.number(12, 35) * 5, 60, 90, 75, 45, 30, 15, w.number(2, 4) * 60)


def start(w):
    return w.number(6, 17) * 60 + w.any(0, w.number(1, 11) * 5, w.number(1, 11) * 5, w.number(1, 59))


def told(w, text, **slots):
    """A story as it is typed, its sentences in capitals or not."""
    text = typists(w, form(w, text), 0.75).format_map(slots)
    return capital(text) if w.chance(0.7) else text


def subject(w):
    return w.any("The film", "The lesson", "The concert", "The meeting", "The match", "The talk", "The exam", "The show", "The course", "The rehearsal")


def ends(w):
    at, span = start(w), some_span(w)
    n = w.first_name()
    s, is_ = time_said(w, at)
    text = told(w, "{x} (starts|begins) at {s} and (lasts|takes|goes on for) {l}. (When|At what time) (is it over|does it end)?|{n} (leaves|sets out|drives off) at {s} and (is on the road|drives|needs) {l}. When does {n} (arrive|get there)?|(What time is it|Which time is) {l} after {s}?|It is {s}. What time (is it|will it be) in {l}?|{n} puts a cake in the oven at {s}. It has to bake for {l}. When is it done?|{l} after {s}, (what time is that|which time is it)?|{n} lies down at {s} and gets up {l} later. At what time?|(The train|The bus|The ferry) (leaves|goes) at {s}, the (ride|trip) takes {l}. When (does it arrive|are we there)?|"
                "I (started|began) at {s} and (worked|cooked|walked) for {l}. When (did I stop|was I done)?|If it's {s} now, what will the clock (say|show) {l} from now?|{n} can park for {l} and comes at {s}. Until when?|{n} has to take a pill again {l} after {s}. When is that?", x=subject(w), s=s, l=span_said(w, span), n=n)
    return finish(text, is_ + after(at, span), shown(at + span))


def two_spans(w):
    at, a, b = start(w), some_span(w), w.any(5, 10, 15, 20, 25, 30, 35, 40, 45)
    s, is_ = time_said(w, at)
    n = w.first_name()
    text = told(w, "{n} (leaves|sets out) at {s}, (drives|rides|walks) {a}, (rests|has a break of|waits) {b} and is there. When (does {n} arrive|is that)?|{x} (starts|begins) at {s}. (The first part|The first half) (takes|lasts) {a}, then there is a break of {b}. When does the second (part|half) begin?|{n} gets up at {s}, needs {a} for (breakfast|the garden) and {b} for the (shower|dog). When is {n} ready?|The (bus|train|plane) should leave at {s} but is {b} late, and the trip takes {a}. When does it arrive?",
                n=n, x=subject(w), s=s, a=span_said(w, a), b=span_said(w, b))
    first, second = (b, a) if "late" in text else (a, b)
    return finish(text, f"{is_}{after(at, first)} {after(at + first, second)}", shown(at + first + second))


def starts(w):
    at, span = start(w) + 120, some_span(w)
    s, is_ = time_said(w, at)
    n = w.first_name()
    text = told(w, "{n} (has to|must|wants to) be (at work|at the station|there) at {s} and the way takes {l}. When (must|does) {n} (leave|have to leave|set out)?|{x} (ended|was over) at {s} and (lasted|took) {l}. When did it (start|begin)?|(What time|Which time) is {l} before {s}?|It's {s}. What time was it {l} ago?|Dinner is at {s} and the roast (needs|takes) {l}. When does it have to go into the oven?|{n} arrived at {s}, {l} after leaving. When did {n} leave?|The (shop|museum) closes at {s}, the last entry is {l} before. When is that?",
                x=subject(w), n=n, s=s, l=span_said(w, span)).replace("does " + n + " leave", "must " + n + " leave").replace("must " + n + " have to", "does " + n + " have to").replace("does " + n + " set", "must " + n + " set")
    return finish(text, is_ + before(at, span), shown(at - span))


def lasts(w):
    at, span = start(w), some_span(w)
    (s, is_), (e, is_too) = time_said(w, at), time_said(w, at + span)
    n = w.first_name()
    text = told(w, "{x} (starts|begins) at {s} and (ends|is over) at {e}. How long (does it last|is it)?|{n} (left|set out) at {s} and (arrived|was there) at {e}. How long (did it take|was {n} on the road)?|How (long|much time) is it from {s} (to|until) {e}?|The shop is (closed|shut) from {s} (to|until) {e}. (How long is that|For how long)?|It is {s} and the (bus|train|film) (goes|starts) at {e}. How long do (I|we) have to wait?|{n} slept from {s} (to|until) {e}. How long was that?|How many minutes are there between {s} and {e}?|The train should come at {s} but comes at {e}. How late is it?",
                x=subject(w), n=n, s=s, e=e)
    thought, answer = is_ + is_too + between(at, at + span), long(span)
    if "many minutes" in text.lower() and span > 59:
        return finish(text, f"{thought} {span // 60} x 60 = {span // 60 * 60}. {plus(span // 60 * 60, span % 60)}", f"{span} minutes")
    return finish(text, thought, f"{span} minutes" if span < 60 else answer)


def late(w):
    at, d = start(w), w.any(3, 5, 7, 8, 10, 12, 15, 20, 25, 30, 40, 45, 50)
    s, is_ = time_said(w, at)
    r = w.rng.random()
    l = span_said(w, d)
    if r < 0.5:
        text = told(w, "The {s} (bus|train|ferry) is {l} late. When does it come?|(My|Our) train at {s} is delayed by {l}. When does it (leave|go) then?|The meeting at {s} is moved {l} later. New time?|{x} was to begin at {s} but begins {l} later. When is that?|My watch says {s}, but it is {l} slow. What time is it really?" if ":" in s else "(My|Our) train at {s} is delayed by {l}. When does it (leave|go) then?|{x} was to begin at {s} but begins {l} later. When is that?", s=s, l=l, x=subject(w))
        return finish(text, is_ + after(at, d), shown(at + d))
    text = told(w, "(My|Our) (lesson|meeting|call) at {s} is moved {l} (earlier|forward). When is it now?|My watch says {s}, but it is {l} fast. What time is it really?|The doors open {l} before the show at {s}. When (do they open|is that)?|{n} was to come at {s} but came {l} early. When did {n} come?", s=s, l=l, n=w.first_name())
    return finish(text, is_ + before(at, d), shown(at - d))


def first_of_two(w):
    a, b = w.rng.sample(range(6 * 60, 12 * 60, 5), 2)
    (s, is_), (e, is_too) = time_said(w, a), time_said(w, b)
    n, m = w.first_name(), w.first_name()
    if n == m:
        return first_of_two(w)
    early = w.chance(0.5)
    text = told(w, "{n} (comes|arrives|gets up|starts) at {s}, {m} at {e}. Who is " + ("(earlier|first)" if early else "(later|second)") + "?|{n}'s train goes at {s}, {m}'s at {e}. Whose train is " + ("earlier" if early else "later") + "?", n=n, m=m, s=s, e=e)
    right = n if (a < b) == early else m
    return finish(text, f"{is_}{is_too}{shown(min(a, b))} is before {shown(max(a, b))}.", right if "Whose" not in text and "whose" not in text else f"{right}'s", {"contains": [right]})


def added(w):
    """Spans put together: several a day or one after the other."""
    r = w.rng.random()
    n = w.first_name()
    if r < 0.5:
        a, b = some_span(w), some_span(w)
        text = told(w, "{n} (reads|practises|works|walks) {a} in the morning and {b} in the (afternoon|evening). How long is that (in all|altogether|together)?|The film takes {a}, the way there and back {b}. How much time (is that|do we need) (in all|together)?|How (much|long) (are|is) {a} and {b} together?", n=n, a=span_said(w, a), b=span_said(w, b))
        return finish(text, f"{a} min and {b} min: {plus(a, b)}" + (f" {a + b} - {(a + b) // 60 * 60} = {(a + b) % 60}: {long(a + b)}." if a + b > 59 else ""), long(a + b))
    a, k = w.number(2, 11) * 5, w.number(2, 7)
    text = told(w, "{n} (reads|practises|swims|walks) {a} (a|every) day, {k} days a week. How long is that (a|per|in a) week?|One lesson takes {a}. How long do {k} lessons take?|A lap takes {a}. How long do {k} laps take?", n=n, a=span_said(w, a), k=lexicon.in_words(k) if w.chance(0.4) else k)
    total = a * k
    return finish(text, f"{times(a, k)}" + (f" {total} - {total // 60 * 60} = {total % 60}: {long(total)}." if total > 59 else ""), long(total))


def days(w):
    i = w.rng.randrange(7)
    names = lexicon.DAYS
    n = w.first_name()
    if w.chance(0.5):
        k = w.number(2, 13)
        text = told(w, "{n} (comes|leaves|starts) on {d} and stays {k} days. On which day does {n} (go home|leave again|stop)?|Today is {d}. The (parcel|visit|test) comes in {k} days. (Which|What) day is that?|The milk is good for {k} days from {d} on. Until which day, {d} plus {k}?", n=n, d=names[i], k=lexicon.in_words(k) if w.chance(0.4) else k)
        return finish(text, f"{k} = {k // 7} x 7 + {k % 7}: {k % 7} days after {names[i]}.", names[(i + k) % 7])
    a, j = w.number(1, 14), w.rng.randrange(12)
    b = w.number(a + 2, 28)
    text = told(w, "{n} (is away|travels|rents a car) from {m} {a} to {m} {b}. How many nights is that?|From {m} {a} until {m} {b}, how many days (later|further) is that?|Today is {m} {a}. The (exam|wedding|trip) is on {m} {b}. (In how many days|How many days are left)?", n=n, m=lexicon.MONTHS[j], a=a, b=b)
    return finish(text, minus(b, a), f"{b - a} {'nights' if 'nights' in text else 'days'}", {"number": b - a})


TASKS = {ends: 34, two_spans: 12, starts: 22, lasts: 26, late: 14, first_of_two: 6, added: 14, days: 8}


def question_of(w):
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)
