"""Unit conversion with whole factors, weekdays, months and dates."""

import datetime

from . import arithmetic

UNITS = [  # name, plural, symbol, how many of the smaller one, the smaller one
    ("kilometer", "kilometers", "km", 1000, ("meter", "meters", "m")),
    ("meter", "meters", "m", 100, ("centimeter", "centimeters", "cm")),
    ("centimeter", "centimeters", "cm", 10, ("millimeter", "millimeters", "mm")),
    ("meter", "meters", "m", 1000, ("millimeter", "millimeters", "mm")),
    ("kilogram", "kilograms", "kg", 1000, ("gram", "grams", "g")),
    ("ton", "tons", "t", 1000, ("kilogram", "kilograms", "kg")),
    ("liter", "liters", "l", 1000, ("milliliter", "milliliters", "ml")),
    ("hour", "hours", "h", 60, ("minute", "minutes", "min")),
    ("minute", "minutes", "min", 60, ("second", "seconds", "s")),
    ("day", "days", None, 24, ("hour", "hours", "h")),
    ("week", "weeks", None, 7, ("day", "days", None)),
    ("year", "years", None, 12, ("month", "months", None)),
    ("dozen", "dozen", None, 12, ("piece", "pieces", None)),
    ("foot", "feet", "ft", 12, ("inch", "inches", "in")),
    ("yard", "yards", "yd", 3, ("foot", "feet", "ft")),
    ("euro", "euros", None, 100, ("cent", "cents", None)),
    ("dollar", "dollars", None, 100, ("cent", "cents", None)),
    ("kilobyte", "kilobytes", "kB", 1000, ("byte", "bytes", "B")),
    ("megabyte", "megabytes", "MB", 1000, ("kilobyte", "kilobytes", "kB")),
    ("gigabyte", "gigabytes", "GB", 1000, ("megabyte", "megabytes", "MB")),
]
ASK = ["How many {to} are {n} {of}?", "Convert {n} {of} to {to}.", "How many {to} are there in {n} {of}?", "{n} {of} in {to}",
       "What is {n} {of} in {to}?", "Please convert {n} {of} into {to}.", "{n} {of} to {to}?", "Express {n} {of} in {to}.",
       "How many {to} is {n} {of}?", "I have {n} {of}. How many {to} is that?"]


def named(w, unit, count):
    one, many, symbol = unit
    if symbol and w.chance(0.3):
        return symbol
    return one if count == 1 else many


def convert(w):
    one, many, symbol, factor, small = w.any(*(UNITS if w.thinking else [u for u in UNITS if u[3] in (10, 100, 1000)]))
    large = (one, many, symbol)
    n = w.number(1, 20) if w.chance(0.6) else w.number(2, 99)
    up = w.chance(0.35)
    total = n * factor
    if factor in (10, 100, 1000):
        zeros = len(str(factor)) - 1
        reason = f"{n} with {zeros} zero{'s' if zeros > 1 else ''} is {total}."
        back = f"{total} without {zeros} zero{'s' if zeros > 1 else ''} is {n}."
    else:
        reason = f"{n} x {factor}: {arithmetic.multiply_steps(n, factor) if n > 1 else f'{factor}.'}"
        back = f"{n} x {factor} = {total}, so it is {n}."
    rule = f"1 {one} is {factor} {small[1]}. "
    if up:
        question = w.any(*ASK).format(n=total, of=named(w, small, total), to=named(w, large, 2))
        result, unit, given, given_unit = n, large, total, small
        reason = rule + back
    else:
        question = w.any(*ASK).format(n=n, of=named(w, large, n), to=named(w, small, 2))
        result, unit, given, given_unit = total, small, n, large
        reason = rule + reason
    said = f"{result} {unit[0] if result == 1 else unit[1]}"
    given = f"{given} {given_unit[0] if given == 1 else given_unit[1]}"
    answer = w.any(said, f"{given} {'is' if given.startswith('1 ') else 'are'} {said}.", f"That is {said}.")
    return question, reason, answer, {"number": result}


def temperature(w):
    if w.chance(0.5):
        c = w.number(-4, 20) * 5
        f = c * 9 // 5 + 32
        reason = f"F = C x 9 / 5 + 32. {c} / 5 = {c // 5}, x 9 = {c // 5 * 9}, + 32 = {f}."
        return w.any(f"Convert {c} degrees Celsius to Fahrenheit.", f"What is {c} °C in Fahrenheit?", f"{c} C in F?"), reason, \
            w.any(f"{c} °C is {f} °F.", f"{f} °F"), {"number": f}
    k = w.number(-4, 20)
    f, c = k * 9 + 32, k * 5
    reason = f"C = (F - 32) x 5 / 9. {f} - 32 = {f - 32}, / 9 = {k}, x 5 = {c}."
    return w.any(f"Convert {f} degrees Fahrenheit to Celsius.", f"What is {f} °F in Celsius?", f"{f} F in C?"), reason, \
        w.any(f"{f} °F is {c} °C.", f"{c} °C"), {"number": c}


DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]
LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]


def walk(names, start, steps):
    """"Tuesday: Wednesday, Thursday, Friday" in either direction."""
    step = 1 if steps > 0 else -1
    return ", ".join(names[(start + step * i) % len(names)] for i in range(1, abs(steps) + 1))


def weekday(w):
    day = w.number(0, 6)
    name = DAYS[day]
    kind = w.number(0, 4)
    if kind == 0:
        n = w.number(1, 6)
    elif kind == 1:
        n = -w.number(1, 6)
    elif kind == 2:
        n = w.number(7, 60) if w.thinking else 7
    elif kind == 3:
        n = w.any(1, -1, 2, -2)
    else:
        return (w.any(f"Is {name} a weekday or part of the weekend?", f"Is {name} a weekend day?", f"Is {name} part of the weekend?"),
                "The weekend is Saturday and Sunday.",
                (f"{name} is part of the weekend." if day > 4 else f"{name} is a weekday."),
                {"contains": ["weekend" if day > 4 else "weekday"]})
    result = DAYS[(day + n) % 7]
    count = abs(n)
    days = f"{count} day{'s' if count > 1 else ''}"
    if kind == 3 and count == 1:
        question = w.any(f"What day comes {'after' if n > 0 else 'before'} {name}?", f"Which day is {'after' if n > 0 else 'before'} {name}?",
                         f"Today is {name}. What day {'is tomorrow' if n > 0 else 'was yesterday'}?",
                         f"If today is {name}, what day {'is tomorrow' if n > 0 else 'was yesterday'}?")
    elif n > 0:
        question = w.any(f"What day is {days} after {name}?", f"Today is {name}. What day is it in {days}?",
                         f"If today is {name}, what day of the week will it be in {days}?", f"Which weekday is {days} after {name}?",
                         f"It is {name} today. Which day will it be {days} from now?")
    else:
        question = w.any(f"What day is {days} before {name}?", f"Today is {name}. What day was it {days} ago?",
                         f"Which weekday is {days} before {name}?", f"If today is {name}, what day was it {days} ago?")
    if count >= 7:
        rest = count % 7
        reason = f"{count} = {count // 7} x 7 + {rest}. "
        reason += f"{rest} from {name}: {walk(DAYS, day, rest)}." if rest else f"So it is {name} again."
    else:
        reason = f"{count} from {name}{' back' if n < 0 else ''}: {walk(DAYS, day, n)}."
    return question, reason, w.any(result, f"It is {result}.", result + "."), {"contains": [result], "not": [d for d in DAYS if d != result]}


def month(w):
    m = w.number(0, 11)
    name = MONTHS[m]
    kind = w.number(0, 3)
    if kind == 0:
        if m == 1 and w.chance(0.7):
            year = w.number(1950, 2050)
            leap = year % 4 == 0
            reason = f"{year} ends in {year % 100:02d}. {year % 100} / 4 leaves {year % 100 % 4}, so {year} is {'a' if leap else 'no'} leap year."
            return f"How many days does February {year} have?", reason, w.any("{d}", "February {y} has {d} days.").format(
                d=28 + leap, y=year), {"number": 28 + leap}
        days = LENGTHS[m]
        answer = "28 days, or 29 in a leap year." if m == 1 else f"{name} has {days} days."
        return w.any(f"How many days does {name} have?", f"How many days are in {name}?", f"How long is {name}?"), \
            f"{name} has {'28 or 29' if m == 1 else days} days.", answer, {"contains": [str(days)]}
    if kind == 1:
        n = w.any(1, -1)
        result = MONTHS[(m + n) % 12]
        return w.any(f"Which month comes {'after' if n > 0 else 'before'} {name}?", f"What month is {'after' if n > 0 else 'before'} {name}?"), \
            f"{'After' if n > 0 else 'Before'} {name} comes {result}.", w.any(result, result + "."), {"contains": [result]}
    if kind == 2:
        n = w.number(2, 8)
        result = MONTHS[(m + n) % 12]
        return w.any(f"Which month is {n} months after {name}?", f"It is {name}. Which month is it in {n} months?"), \
            f"{n} from {name}: {walk(MONTHS, m, n)}.", w.any(result, f"It is {result}."), {"contains": [result]}
    ordinal = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"][m]
    if w.chance(0.5):
        return f"What is the {ordinal} month of the year?", f"Month {m + 1} is {name}.", name, {"contains": [name]}
    return f"What number is {name} among the months?", f"{name} is month {m + 1}.", w.any(str(m + 1), f"{name} is month {m + 1}."), {"number": m + 1}


def date(w):
    """Some days later or between two days, inside one month or over its end."""
    m = w.number(0, 11)
    d = w.number(1, LENGTHS[m])
    name, length = MONTHS[m], LENGTHS[m]
    if w.chance(0.3) and d > 1:
        other = w.number(1, d - 1)
        return (w.any(f"How many days are there from {name} {other} to {name} {d}?", f"How many days lie between {other} {name} and {d} {name}?"),
                f"{d} - {other}: {arithmetic.subtract_steps(d, other)}", w.any(str(d - other), f"{d - other} days."), {"number": d - other})
    n = w.number(1, 28)
    total = d + n
    reason = f"{d} + {n}: {arithmetic.add_steps(d, n)} "
    if m == 1 and total >= 29:  # needs the year
        return date(w)
    if total <= length:
        month_name, day = name, total
        reason += f"{name} has {length} days, so it is {name} {day}."
    else:
        month_name, day = MONTHS[(m + 1) % 12], total - length
        reason += f"{name} has {length} days. {total} - {length}: {arithmetic.subtract_steps(total, length)} It is {month_name} {day}."
    question = w.any(f"What date is {n} days after {name} {d}?", f"It is {name} {d}. What is the date in {n} days?",
                     f"Which date comes {n} days after {d} {name}?", f"Today is {d} {name}. What date is it in {n} days?")
    return question, reason, w.any(f"{month_name} {day}", f"It is {month_name} {day}."), {"contains": [f"{month_name} {day}"]}


def clock(w):
    hour, minute = w.number(0, 23), w.number(0, 11) * 5
    add = w.number(1, 11) * 5
    total = minute + add
    over = total >= 60
    h2, m2 = (hour + over) % 24, total % 60
    reason = f"{minute} + {add} = {total}." + (f" {total} - 60 = {m2}, one hour more: {h2:02d}:{m2:02d}." if over else f" So {h2:02d}:{m2:02d}.")
    return (w.any(f"It is {hour:02d}:{minute:02d}. What time is it in {add} minutes?", f"What time is {add} minutes after {hour:02d}:{minute:02d}?"),
            reason, w.any(f"{h2:02d}:{m2:02d}", f"It is {h2:02d}:{m2:02d}."), {"contains": [f"{h2:02d}:{m2:02d}"]})


def written(w):
    """Rewriting a date in another form."""
    day = datetime.date(w.number(1990, 2049), 1, 1) + datetime.timedelta(days=w.number(0, 364))
    forms = {"YYYY-MM-DD": day.isoformat(), "DD.MM.YYYY": day.strftime("%d.%m.%Y"), "DD/MM/YYYY": day.strftime("%d/%m/%Y")}
    said = f"{MONTHS[day.month - 1]} {day.day}, {day.year}"
    form, result = w.any(*forms.items())
    return (w.any(f"Write {said} as {form}.", f"Write the date {said} in the form {form}.", f"Format {said} as {form}."),
            f"{MONTHS[day.month - 1]} is month {day.month:02d}.", result, {"equals": result})


def question(w):
    """Without thinking only what takes one step."""
    shares = (0.42, 0.05, 0.2, 0.1, 0.1, 0.07, 0.06) if w.thinking else (0.5, 0, 0.2, 0.2, 0, 0, 0.1)
    return w.rng.choices((convert, temperature, weekday, month, date, clock, written), shares)[0](w)
