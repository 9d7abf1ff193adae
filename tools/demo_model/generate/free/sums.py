"""Sums as people ask them: in words, in stories, with three operands, parts, shares, decimals, money and clock times. The
thinking is short and works digit by digit where the numbers are long."""

import datetime

from .. import arithmetic
from . import lexicon
from .grammar import capital, typed
from .lexicon import in_words


def finish(question, reasoning, answer, check=None):
    return question, reasoning, answer, check or {"equals": answer}


def plus(a, b):
    """A step of the thinking; long sums are worked out digit by digit."""
    return f"{a} + {b} = {a + b}." if a < 20 and b < 20 or not (a % 10 and b % 10) and max(a, b) < 1000 else f"{a} + {b}: {arithmetic.add_steps(a, b)}"


def minus(a, b):
    return f"{a} - {b} = {a - b}." if a < 20 or b < 10 and a % 10 >= b or not (a % 10 or b % 10) else f"{a} - {b}: {arithmetic.difference_steps(a, b)}"


def times(a, b):
    if a < b:
        a, b = b, a
    return f"{a} x {b} = {a * b}." if a <= 12 else f"{a} x {b}: {arithmetic.multiply_steps(a, b)}" if b < 100 and (a < 1000 and b < 13 or a < 100) else f"{a} x {b} = {a * b}."


def over(a, b):
    """a / b, exact: by multiples for small divisors."""
    q = a // b
    if q <= 12:
        return f"{b} x {q} = {a}, so {a} / {b} = {q}."
    tens = q // 10 * 10
    rest = a - tens * b
    return f"{b} x {tens} = {tens * b}; {a} - {tens * b} = {rest}; {b} x {q - tens} = {rest}. So {a} / {b} = {q}." if q != tens else f"{b} x {q} = {a}, so {a} / {b} = {q}."


def num(w, low, high):
    return w.number(low, high)


def said(w, n, chance=0.25):
    """A number in digits or, sometimes, in words."""
    return in_words(n) if 0 <= n < 1000 and w.chance(chance) else str(n) if n < 10000 or w.chance(0.5) else f"{n:,}"


THINGS = "apples|cookies|marbles|books|stickers|pencils|coins|eggs|chairs|balloons|stamps|cards|flowers|bottles|oranges|tickets|cupcakes|shells|toys|candles|bricks|fish|sheep|plates|photos|pages|points|boxes|lamps|tomatoes|bikes|buttons|postcards|spoons|potatoes|muffins|ducks|nails|rolls|letters".split("|")


def things(w):
    return w.any(*THINGS) if w.chance(0.75) else lexicon.plural(w.noun())


# Each: pattern, ranges of a, b, c, the result as steps. Result codes: "+" a+b, "-" a-b, "x" a*b, "/" a/b, chains by order.
STORIES = [
    ("+", "{n} (has|had|owns) {a} {t} and (gets|finds|buys|is given) {b} more. How many [{t}] (does {he} have now|are there now|in total|is that)? ; {n} (baked|made|collected|found) {a} {t} [in the morning] and {b} [in the afternoon]. How many (altogether|in total|is that)? ; there are {a} {t} (in the box|on the table) and {b} (in the bag|on the floor). how many (together|in all|are there)? ; {a} (adults|girls|men) and {b} (children|boys|women) (went on the trip|came to the party). How many people (were there|was that)? ; {n} scored {a} points [in the first game], then {b} [more]. (Total|what's the total|how many in all)? ; I (paid|spent) {a} euros (for shoes|on food) and {b} (for a shirt|on gas). how much (did I spend|altogether|in total)? ; on Monday I (read|wrote) {a} pages, on Tuesday {b}. how many pages (in all|is that)? ; {n} is {a} [years old]. How old will {he} be in {b} years? ; a bus with {a} people stops and {b} more get on. how many are on the bus (now|then)? ; (we drove|{n} walked) {a} km [before lunch] and {b} km after [it]. (total distance|how far was that|how many km)?"),
    ("-", "{n} (has|had|owned) {a} {t} and (gives|gave|sold|lost) {b} [to {m}]. How many (are left|does {he} have now|remain)? ; (there were|I counted) {a} {t}, {b} (were eaten|broke|are gone now|were sold). how many (are left|remain)? ; {a} {t}, minus {b} that (broke|we ate|got lost). What's left? ; {n} has {a} {t}, {m} has {b}. How many more (has|does) {n} [have]? ; I had {a} (dollars|euros|bucks) and spent {b} [on food]. (what's left|how much is left|how much do I have now)? ; a book has {a} pages, {n} has read {b}. How many are (left|still to read)? ; {a} people were on the bus, {b} got off. how many are (left|still on it)? ; the big (boat|room|hall) (holds|seats) {a} people, the small one {b}. (By how many is it more|What is the difference)? ; a {p} costs {a} euros and {n} has {b}. How much (more does {he} need|is missing)? ; {n} is {a}, {m} is {b}. how much older is {n}? ; {n} is {a} and {m} is {b} years younger. How old is {m}? ; of {a} {t} {b} are (red|rotten|broken). How many are not? ; a {p} was {a} euros, now it is {b} euros cheaper. What does it cost now?"),
    ("x", "a (box|bag|crate|pack) (holds|has|contains) {a} {t}. How many [{t}] are in {b} (boxes|bags|crates|packs)? ; {n} buys {b} {t} (for|at) {a} euros each. (what does {he} pay|how much is that|What is the total)? ; entry is {a} euros a head and {b} of us go in. (how much is that|total)? ; {b} (shelves|rows|tables) with {a} {t} each, how many [{t}] (are there|is that)? ; {n} (saves|earns|pays) {a} [euros] (a|per|every) (week|day|month). How much (is that|does {he} have|in total) after {b} (weeks|days|months)? ; every (child|guest|kid) gets {a} {t} and there are {b} (children|guests|kids). How many {t} do (I|we) need? ; {n} runs {a} km a day. how many km in {b} days? ; {m} has {b} times as many {t} as {n}. {n} has {a}. How many has {m}? ; {n} is {a} and {b} times that is the age of (a mother|a father|an aunt). What age is that? ; if one {p} costs {a} dollars, what do {b} cost? ; (a car|we) (goes|go|drive) {a} km an hour. how far in {b} hours?"),
    ("/", "{a} {t} are (shared|split|divided) [equally] (between|among) {b} (kids|friends|people|children). How many (each|does each get|per person)? ; (share|split|divide) {a} {t} [equally] (between|among) {b} (children|people|friends). ; {a} euros for {b} of us, (what does everyone pay|what's my share)? ; {a} (kids|people|students) and {b} (buses|rooms|tables|groups), all equally full. How many fit (in a bus|in each|per group)? ; {b} {t} cost {a} euros. How much is one? ; if {b} {t} cost {a} dollars, (what does one cost|how much is one)? ; {n} reads a book of {a} pages in {b} days. How many pages a day? ; {n} (packs|puts) {a} {t} into boxes of {b}. How many boxes (are needed|does {he} need)? ; I want to save {a} euros in {b} months. How much per month? ; a rope of {a} m is cut into {b} equal pieces. How long is each [piece]? ; {a} km in {b} hours, (how fast|what speed) (is that|was that) [in km per hour]? ; {n} has {a} {t} and (gives|shares) them [equally] to {b} friends. how many for each?"),
    ("+++", "{n} (drove|walked|ran) {a} km on Monday, {b} on Tuesday and {c} on Wednesday. (Total|How far in all|how many km)? ; {a} {t}, {b} {t2} and {c} {t3}, how many things (is that|are there) [in total]? ; I paid {a} euros for (food|a shirt), {b} for (gas|shoes) and {c} for (a book|drinks). How much (in total|did I spend|altogether)? ; three (classes|teams|rooms) have {a}, {b} and {c} (pupils|members|chairs). how many (together|altogether|in all)?"),
    ("+--", "{n} baked {b} {t} and {c} more, {he} ate {a}. how many are left? "), ("--", "{n} (had|baked|bought) {a} {t}, (ate|lost|sold) {b} and gave {c} to (her neighbour|{m}|a friend). How many (are left|does {he} have now|remain)? ; from {a} (dollars|euros|coins) I gave {b} for (bread|a book) and {c} for (fuel|a ticket). what remains? ; {a} people were in the room, {b} left and then {c} [more] left. How many are (still there|left)? ; a book has {a} pages. I read {b} [on Monday] and {c} [on Tuesday]. (how many are left|how many pages remain)? ; from {a} {t} take {b}, then {c}. What remains?"),
    ("+-", "{n} had {a} {t}, got {b} [more] and (lost|gave away|sold) {c}. How many now? ; {a} people were on the (bus|train), {b} got on and {c} got off. How many are on it [now]? ; a farmer has {a} (sheep|cows|hens) and {b} (goats|ducks|pigs). He sells {c} [of them]. how many animals (remain|are left)? ; {n} earns {a} euros on Monday and {b} on Tuesday and spends {c}. How much is left? ; my account had {a} euros. {b} came in, {c} went out. what's the balance?"),
    ("-+", "{n} had {a} {t}, gave away {b} and (got|bought|found) {c}. How many now? ; there were {a} {t}; {b} (broke|were sold) and {c} new ones came. how many (are there|now)? ; {a} guests were there, {b} went home and {c} arrived late. How many guests (are there|were there in the end)?"),
    ("x+", "{b} (boxes|bags) with {a} {t} each and {c} single ones. How many (in total|altogether|is that)? ; {n} buys {b} {t} for {a} euros each and a {p} for {c}. (What is the total|what does {he} pay)? ; {b} tables with {a} chairs [each] and {c} extra chairs. how many chairs?"),
    ("x-", "{b} (boxes|shelves|packs) hold {a} {t} each, but {c} are missing. How many are there? ; {n} buys {b} {t} at {a} euros [each] and has a voucher of {c} euros. What does {he} pay? ; there are {b} rows of {a} {t}, {c} of them are (broken|taken). how many are (fine|free)?"),
]
# The same once more, in other words.
MORE = {
    "+": """{n} scored {a} points in the first game and {b} in the second. (What is the total|how many points)? ; {a} people came by bus and {b} by train. how many came [in all]? ; last year {n} read {a} books, this year {b}. How many in two years? ; the shirt is {a} dollars, the trousers are {b}. (total|what do I pay for both)? ; a {p} costs {a} euros and shipping is {b}. (What do I pay|total price)? ; {n} is {a} years old, {m} is {b} years older. How old is {m}? ; {n} was {a} when {he} started and that was {b} years ago. how old is {he} now? ; we drove {a} miles before lunch and {b} miles after. how far (did we drive|in total)? ; (the temperature was|it was) {a} degrees and rose by {b}. how warm is it now? ; {n} picked {a} {t}, {m} picked {b}. how many did they pick (together|between them)? ; I slept {a} minutes, woke up and slept {b} more. how long in all? ; the recipe needs {a} grams of flour and {b} grams of sugar. what does it weigh together? ; {a} {t} arrived today, {b} (are on their way|come tomorrow). How many will there be? ; my savings are {a} and grandma gives me {b}. what do I have? ; a tank has {a} liters, I pour in {b} more. how full is it? ; {n} sold {a} tickets on Saturday and {b} on Sunday. tickets sold? ; one wall takes {a} tiles, the other {b}. tiles needed? ; {n} (already has|owns) {a} {t}. At a party {he} gets {b}. how many is that?""",
    "-": """a book has {a} pages and {n} has read {b}. How many pages (are left|to go|remain)? ; {n} is {a}, {m} is {b} years younger. how old is {m}? ; we need {a} {t} and have {b}. how many (are missing|more do we need)? ; the bus has {a} seats, {b} are taken. how many are free? ; out of {a} students {b} are ill. how many are (here|in class)? ; I pay a bill of {b} with {a} euros. (what change do I get|how much do I get back|my change)? ; a rope is {a} m long, I cut off {b} m. how long is the rest? ; {n} wants a {p} for {a} dollars but has only {b}. how much (does {he} need|is missing)? ; the trip is {a} km, we did {b} [already]. how far is it still? ; it was {a} degrees and fell by {b}. How many degrees now? ; {n} weighs {a} kilos and loses {b}. what does {he} weigh then? ; a {p} was {a} euros and is {b} cheaper now. (new price|what does it cost)? ; {a} {t} in the shop, {b} sold. stock? ; there are {a} days of holiday, {n} took {b}. what is left? ; our team made {a} points, the other {b} fewer. how many points did they make? ; of {a} {t} only {b} are (mine|red|ripe). how many are not? ; my phone had {a} percent, the film used {b}. how much (battery is|is) left? ; {n} planted {a} seeds, {b} did not grow. how many grew? ; {a} liters in the barrel, {b} leak out. what stays?""",
    "x": """a (car|train|bus) drives {a} km per hour for {b} hours. how far (does it get|is that)? ; {n} reads {a} pages (a|every|each) day. how many [pages] in {b} days? ; {b} (friends|kids|guests) get {a} {t} each. how many {t} (do we need|is that)? ; one {p} costs {a} (dollars|euros). what do {b} cost? ; each of {b} (boxes|pages|drawers) has {a} {t}. total? ; a garden is {a} m long and {b} m wide. (what is its area|how many square meters)? ; {n} works {b} hours a day for {a} days. how many hours? ; {b} weeks with {a} lessons each, how many lessons? ; {n} earns {a} an hour and works {b} hours. (What does {he} earn|pay)? ; the machine makes {a} {t} an hour. How many in {b} hours? ; a (month|course) costs {a} euros. What do {b} (months|courses) cost? ; {n} runs {a} laps on {b} days. laps in all? ; every (shelf|table|page) has {a} {t}, there are {b} of them. how many {t}? ; {b} cars with {a} people each, how many people? ; {b} packs of {a} {t}: how many {t}? ; we bought {b} tickets at {a} each. how much (did we pay|money)? ; {n} drinks {a} cups a week, how many in {b} weeks? ; {b} rows, {a} seats (per|in every) row. seats?""",
    "/": """{n} has {a} {t} and puts {b} in (each|every) (bag|box). How many (bags|boxes) (does {he} need|are filled)? ; {a} km in {b} hours, how many km (per|in one|an) hour? ; {b} {t} cost {a} euros. what does one cost? ; a book of {a} pages in {b} days, how many pages (a|per) day? ; {n} pays {a} euros in {b} equal (parts|rates). how much is one? ; a ribbon of {a} cm is cut in {b} equal parts, how long is one? ; {a} players, teams of {b}. how many teams? ; {n} earns {a} dollars in {b} hours. how much an hour? ; {b} people share a bill of {a}. what does each pay? ; {a} {t} in {b} equal piles, how many in one pile? ; {n} saves {b} euros a week. after how many weeks are there {a}? ; we have {a} {t} for {b} days, how many per day? ; {a} eggs, {b} fit in a box. boxes? ; a tank of {a} liters loses {b} liters an hour. after how many hours is it empty? ; {a} sweets for {b} children, everyone gets the same. how many does one get? ; {a} minutes for {b} pages, how many minutes per page?""",
    "+++": """{n} scored {a}, {b} and {c} (points|goals). (total|what is the sum|altogether)? ; {a} {t} in the kitchen, {b} in the hall and {c} in the cellar. how many? ; breakfast was {a} euros, lunch {b}, dinner {c}. (What did we spend|total)? ; {n} baked {a} {t}, {m} {b} and I {c}. how many do we have? ; flights {a}, hotel {b}, food {c}. what does the trip cost? ; {a} cats, {b} dogs and {c} birds live there. how many animals? ; I wrote {a} pages, then {b}, then {c}. how many pages? ; the sides of a triangle are {a}, {b} and {c} cm. what is the perimeter?""",
    "--": """{n} had {a} euros and bought a {p} for {b} and a drink for {c}. How much (is left|does {he} have left)? ; a bus with {a} people: {b} get off at the first stop, {c} at the next. how many are still on it? ; from {a} {t} {b} were (sold|eaten) on Monday and {c} on Tuesday. how many (remain|are left)? ; {a} pages, {b} read yesterday and {c} today. how many to go? ; {n} has {a} days off, took {b} in May and {c} in June. what remains? ; I have {a} minutes; {b} for the shower, {c} for breakfast. how much time is left? ; {a} liters of paint, {b} for the door and {c} for the fence. the rest?""",
    "+-": """there were {a} birds on a tree, {b} came and {c} flew away. how many are there now? ; {n} has {a} dollars, earns {b} and pays {c}. what does {he} have [now]? ; a shop has {a} {t}, gets {b} and sells {c}. how many are left? ; the lift holds {a} people, {b} get in and {c} get out. how many are inside? ; it was {a} degrees, rose by {b} and fell by {c}. how many degrees? ; {n} collected {a} {t}, found {b} more, but {c} broke. how many are whole?""",
    "-+": """{n} had {a} {t}, lost {b} and got {c} from {m}. how many does {he} have? ; a bus has {a} passengers, {b} get off and {c} get on. how many [now]? ; I have {a} euros, spend {b} and earn {c}. what do I have? ; {a} books were on the shelf, {n} took {b} and brought back {c}. how many now? ; of {a} members {b} left and {c} joined. how many members?""",
    "x+": """{n} buys {b} {t} at {a} dollars each and pays {c} for shipping. (what is the total|total)? ; {b} packs of {a} {t} plus {c} loose ones, how many? ; a taxi is {c} euros plus {a} a km, for {b} km? ; {b} children get {a} {t} each and {c} are left over. how many were there? ; {n} works {b} days for {a} euros a day and gets a bonus of {c}. what is the pay?""",
    "x-": """{n} has {b} boxes of {a} {t} and gives away {c} [of them]. how many are left? ; {b} rows of {a} seats, {c} are taken. how many are free? ; {b} days with {a} euros each, and I spend {c}. what is left? ; {n} buys {b} {t} for {a} each and gets {c} off. what does {he} pay? ; {b} bags with {a} {t}, {c} were rotten. how many good ones?""",
}
STORIES = [(op, [p.strip() for p in patterns.split(" ; ") if p.strip()] + [p.strip() for p in MORE[op].split(" ; ")]) for op, patterns in STORIES if op != "+--"]


def operands(w, op):
    if op == "+":
        return w.any((num(w, 2, 99), num(w, 2, 99)), (num(w, 10, 900), num(w, 10, 900)), (num(w, 2, 30), num(w, 2, 20)))
    if op == "-":
        a = w.any(num(w, 5, 40), num(w, 20, 100), num(w, 100, 900), w.number(1, 10) * 100)
        return a, num(w, 2, a - 1)
    if op == "x":
        return w.any((num(w, 2, 12), num(w, 2, 12)), (num(w, 2, 60), num(w, 2, 9)), (num(w, 10, 250), num(w, 2, 9)), (w.number(1, 12) * 5, num(w, 2, 12)))
    if op == "/":
        b = num(w, 2, 12)
        return b * w.any(num(w, 2, 12), num(w, 2, 12), num(w, 3, 60)), b
    if op == "+++":
        return tuple(w.any(num(w, 2, 20), num(w, 2, 99), w.number(1, 20) * 5) for _ in range(3))
    if op == "--":
        a = w.any(num(w, 10, 60), num(w, 20, 100), num(w, 100, 500), 100)
        b = num(w, 2, a - 4)
        return a, b, num(w, 1, a - b - 1)
    if op == "+-":
        a, b = num(w, 2, 99), num(w, 2, 99)
        return a, b, num(w, 1, a + b - 1)
    if op == "-+":
        a = num(w, 5, 99)
        return a, num(w, 1, a - 1), num(w, 1, 99)
    a, b = w.any((num(w, 2, 12), num(w, 2, 12)), (num(w, 2, 40), num(w, 2, 9)))
    return a, b, num(w, 1, 99) if op == "x+" else num(w, 1, a * b - 1)


def worked(op, v):
    """(result, steps)"""
    a, b, *rest = v
    c = rest[0] if rest else None
    if op == "+":
        return a + b, plus(a, b)
    if op == "-":
        return a - b, minus(a, b)
    if op == "x":
        return a * b, times(a, b)
    if op == "/":
        return a // b, over(a, b)
    if op == "+++":
        return a + b + c, f"{plus(a, b)} {plus(a + b, c)}"
    if op == "--":
        return a - b - c, f"{minus(a, b)} {minus(a - b, c)}"
    if op == "+-":
        return a + b - c, f"{plus(a, b)} {minus(a + b, c)}"
    if op == "-+":
        return a - b + c, f"{minus(a, b)} {plus(a - b, c)}"
    if op == "x+":
        return a * b + c, f"{times(a, b)} {plus(a * b, c)}"
    return a * b - c, f"{times(a, b)} {minus(a * b, c)}"


def reply(w, result):
    return str(result)


def story(w):
    op, patterns = w.rng.choices(STORIES, (6, 7, 7, 7, 3, 4, 4, 2, 2, 3))[0]
    values = operands(w, op)
    he = w.any("he", "she")
    slots = {"n": w.first_name(), "m": w.first_name(), "he": he, "His": {"he": "His", "she": "Her"}[he], "t": things(w), "t2": things(w), "t3": things(w), "p": w.noun()}
    slots.update({k: said(w, v, 0.18) for k, v in zip("abc", values)})
    question = typed(w, w.any(*patterns), **slots)
    question = capital(question) if w.chance(0.5) else question
    result, steps = worked(op, values)
    return finish(question, steps, str(result), {"number": result})


# What is asked with numbers in words; {s} is a plural like sevens.
ASK = "[what is|what's|how much is|calculate|tell me|can you tell me|I need|work out] "
IN_WORDS = {
    "+": ASK + "{x} (plus|and) {y}[?]|(the sum of|add) {x} and {y}[?]|{x} + {y}[?]|{x} and {y} (make|is|gives|are) (what|how much)[?]|(if you add|when I add) {y} to {x}[, what (do you|do I) get| what comes out][?]|(put|take) {x} and {y} together[, (how many|what is it)][?]|(what is|what number is|which number is) {y} (more|greater|higher) than {x}[?]|increase {x} by {y}|{x} increased by {y}[?]|{y} (added to|on top of) {x}[?]|add {y} to {x}[, please]|what do {x} and {y} (make|add up to|come to)[?]|{x} plus {y} (equals|makes) [what][?]",
    "-": ASK + "{x} minus {y}[?]|(subtract|take|remove|deduct) {y} from {x}[, please]|{x} (less|take away|without) {y}[?]|(what is|what number is|which number is) {y} (less|smaller|lower) than {x}[?]|(decrease|reduce|lower) {x} by {y}|(the difference (between|of)|what is the difference between) {x} and {y}[?]|how much (more|bigger) is {x} than {y}[?]|what (is left|remains) (of|from) {x} (if|when) {y} (are gone|go away)[?]|what (must|do) I add to {y} to get {x}[?]|how (much|many) is missing from {y} to {x}[?]|{x} reduced by {y}[?]|if I take {y} away from {x}, what is left[?]",
    "x": ASK + "{x} times {y}[?]|multiply {x} (by|with|and) {y}|{x} multiplied (by|with) {y}[?]|(what is|) the product of {x} and {y}[?]|{x} (lots|groups|sets) of {y}[?]|(what|how much) (are|do) {x} {s} [make][?]|how much is {x} by {y}[?]|{x} times {y} (equals|makes|is) [what][?]|(take|have) {y} {x} times[, what is it][?]",
    "/": ASK + "{x} divided by {y}[?]|divide {x} (by|into) {y} [parts]|how (many times|often) does {y} (go|fit) into {x}[?]|how many {s} (are|fit|are there) in {x}[?]|{x} (split|shared) (by|among|between) {y}[?]|(share|split) {x} (by|among|between) {y}|{x} over {y}[?]|{x} divided into {y} equal parts[?]"}
PLURALS = "zeros ones twos threes fours fives sixes sevens eights nines tens elevens twelves".split()
PARTS = [("(half of|half|one half of|halve|what is half of) {x}[?]", 2), ("(a|one) third of {x}[?]", 3), ("(a|one) quarter of {x}[?]|a fourth of {x}[?]", 4), ("(a|one) fifth of {x}[?]", 5), ("(a|one) tenth of {x}[?]", 10)]
MULTIPLES = [("(twice|double|two times) {x}[?]|[what is] the double of {x}[?]", 2), ("(triple|three times|thrice) {x}[?]", 3), ("(a|one) dozen times {x}[?]", 12), ("four times {x}[?]", 4), ("ten times {x}[?]", 10)]


def in_word_form(w):
    r = w.rng.random()
    if r < 0.14:
        op = w.any("+++", "--", "+-", "-+", "x+", "x-")
        v = operands(w, op)
        if max(v) > 100:
            return in_word_form(w)
        pattern = {"+++": "{x} plus {y} plus {z}[?]|(add|sum up) {x}, {y} and {z}|the sum of {x}, {y} and {z}[?]|{x}, {y} and {z} together[?]", "--": "{x} minus {y} minus {z}[?]|{x} take away {y} and {z}[?]", "+-": "{x} plus {y} minus {z}[?]|add {x} and {y} and subtract {z}", "-+": "{x} minus {y} plus {z}[?]|{x} less {y} and then {z} more[?]",
                   "x+": "{x} times {y} plus {z}[?]|multiply {x} by {y} and add {z}", "x-": "{x} times {y} minus {z}[?]|multiply {x} by {y} and subtract {z}"}[op]
        result, steps = worked(op, v)
        return finish(typed(w, ASK + pattern, **dict(zip("xyz", map(in_words, v)))), f"{listing_of(v)}. {steps}", str(result), {"number": result})
    if r < 0.26:
        multiple = w.chance(0.5)
        pattern, k = w.any(*(MULTIPLES if multiple else PARTS))
        n = num(w, 2, 60 if k < 5 else 12)
        if multiple:
            return finish(typed(w, ASK + pattern, x=in_words(n)), f"{n} and {k}. {times(n, k)}", str(n * k), {"number": n * k})
        return finish(typed(w, ASK + pattern, x=in_words(n * k)), f"{n * k} and {k}. {over(n * k, k)}", str(n), {"number": n})
    op = w.any("+", "-", "x", "/")
    if op == "+":
        a, b = w.any((num(w, 0, 99), num(w, 0, 99)), (num(w, 0, 20), num(w, 0, 20)), (num(w, 20, 900), num(w, 1, 99)))
    elif op == "-":
        a = w.any(num(w, 2, 99), num(w, 2, 30), 100, num(w, 20, 900))
        b = num(w, 1, min(a, 300))
    elif op == "x":
        a, b = num(w, 2, 12), w.any(num(w, 2, 12), num(w, 2, 12), num(w, 2, 50))
    else:
        b = num(w, 2, 12)
        a = b * num(w, 2, 12)
    x, y = in_words(a), in_words(b)
    if w.chance(0.12):
        x = str(a)
    pattern = IN_WORDS[op] if b <= 12 else IN_WORDS[op].replace("|(what|how much) (are|do) {x} {s} [make][?]", "")
    result, steps = worked(op, (a, b))
    question = typed(w, pattern, x=x, y=y, s=PLURALS[b] if b <= 12 else "")
    if w.chance(0.06):
        return finish(question + w.any(" Answer in words.", " (in words)", ", in words please", " Write the result as a word."), f"{a} and {b}. {steps} {result} in words.", in_words(result))
    return finish(question, f"{a} and {b}. {steps}", str(result), {"number": result})


def listing_of(values):
    return ", ".join(map(str, values[:-1])) + f" and {values[-1]}"


def digits(w):
    """Short sums in digits as they are typed: three operands, division, brackets, decimals, shares."""
    kind = w.number(0, 11)
    ask = "[what is|what's|whats|calculate|compute|how much is|solve|work out] {e}[?|= ?|=]"
    if kind == 0:
        b = num(w, 2, 12)
        a = b * w.any(num(w, 2, 12), num(w, 2, 90))
        return finish(typed(w, "[what is|what's|calculate|compute|how much is] {e}[?| =| = ?]|(divide {a} by {b}|{a} divided by {b}[?]|{a} over {b})|how (many times|often) does {b} (fit|go) into {a}?", e=w.any(f"{a} / {b}", f"{a}/{b}", f"{a} : {b}", f"{a} ÷ {b}"), a=a, b=b), over(a, b), str(a // b), {"number": a // b})
    if kind == 1:
        op, v = w.any("+++", "--", "+-", "-+"), None
        v = operands(w, op)
        signs = {"+++": "++", "--": "--", "+-": "+-", "-+": "-+"}[op]
        s = w.any(" ", "")
        e = f"{v[0]}{s}{signs[0]}{s}{v[1]}{s}{signs[1]}{s}{v[2]}"
        result, steps = worked(op, v)
        return finish(typed(w, ask + "|{e}, (what is left|the result)?" if op == "--" else ask, e=e), steps, str(result), {"number": result})
    if kind == 2:
        a, b, c = num(w, 1, 20), num(w, 1, 20), num(w, 2, 12)
        star, s = w.any("*", "x", "·", "*"), w.any(" ", "")
        if w.chance(0.5):
            e = w.any(f"({a} + {b}) {star} {c}", f"({a}+{b}){star}{c}", f"{c} {star} ({a} + {b})")
            return finish(typed(w, ask, e=e), f"First the brackets: {a} + {b} = {a + b}. {times(a + b, c)}", str((a + b) * c), {"number": (a + b) * c})
        e = w.any(f"{a} + {b} {star} {c}", f"{a}+{b}{star}{c}", f"{b} {star} {c} + {a}")
        return finish(typed(w, ask, e=e), f"First the product: {times(b, c)} {plus(b * c, a)}", str(a + b * c), {"number": a + b * c})
    if kind in (3, 4):
        places = w.any(1, 2)
        unit = 10 ** places
        a, b = num(w, 1, 30 * unit), num(w, 1, 30 * unit)
        sub = w.chance(0.45)
        if sub and a < b:
            a, b = b, a
        money = w.chance(0.3) and places == 2
        show = lambda n: f"{n // unit}.{n % unit:0{places}d}"
        result = a - b if sub else a + b
        trimmed = show(result).rstrip("0").rstrip(".") if not money else show(result)
        e = f"{show(a)} {'-' if sub else '+'} {show(b)}"
        steps = f"Without the dot: {minus(a, b) if sub else plus(a, b)} With {places} place{'s' if places > 1 else ''}: {show(result)}."
        if money:
            p, q = w.noun(), w.noun()
            question = typed(w, "(a {p} costs {x} and a {q} {y}. (what do both cost|how much together|Total)?|{x} euros for a {p} and {y} for a {q}, how much (is that|in total)?)" if not sub else "(I have {x} euros and pay {y}. what is left?|{x} minus {y}|how much is {x} less {y}?|I paid with {x} euros, it cost {y}. How much (change|do I get back)?)", x=show(a), y=show(b), p=p, q=q)
            return finish(question, steps, trimmed)
        return finish(typed(w, ask, e=e if w.chance(0.7) else e.replace(" ", "")), steps, trimmed)
    if kind == 5:
        p, base = w.any(1, 5, 10, 10, 20, 25, 50, 75, 15, 30, 40), w.any(w.number(1, 20) * 100, w.number(1, 50) * 20, w.number(1, 50) * 20)
        value = p * base / 100
        text = str(int(value)) if value == int(value) else str(value)
        steps = {10: f"10 % is a tenth: {base} / 10 = {text}.", 50: f"50 % is half: {base} / 2 = {text}.", 25: f"25 % is a quarter: {base} / 4 = {text}.", 20: f"20 % is a fifth: {base} / 5 = {text}.", 1: f"1 % is a hundredth: {text}."}.get(p, f"1 % of {base} is {base / 100:g}; {p} x {base / 100:g} = {text}.")
        if w.chance(0.35) and value == int(value):
            rest = base - int(value)
            return finish(typed(w, "a {x} of {b} euros gets {p} (%|percent) off. (What does it cost now|how much is it now|what do I pay)?|{p} (%|percent) off {b} [euros], (new price|how much is that|what do I pay)?|{b} minus {p} (%|percent)[?]|(the price of {b} drops|a price of {b} falls) by {p} (%|percent). New price?", x=w.noun(), b=base, p=p), f"{steps} {minus(base, int(value))}", str(rest), {"number": rest})
        return finish(typed(w, "[what is|what's|calculate|how much is] {p} (%|percent) of {b}[?]|{p}% of {b}[?]|give me {p} percent of {b}", p=p, b=base), steps, text)
    if kind == 6:
        a = w.any(num(w, 2, 99), num(w, 2, 50) * 2, num(w, 100, 900))
        which = w.any("half", "double", "triple", "quarter", "square", "third")
        if which == "half":
            a *= 2
            return finish(typed(w, "(half of|what is half of|halve|what's a half of|the half of) {a}[?]|{a}, half of it?", a=a), over(a, 2), str(a // 2), {"number": a // 2})
        if which == "third":
            return finish(typed(w, "(a|one) third of {a}[?]|what is a third of {a}?", a=3 * (a := num(w, 2, 60))), over(3 * a, 3), str(a), {"number": a})
        if which == "quarter":
            return finish(typed(w, "(a|one) quarter of {a}[?]|what is a quarter of {a}?", a=4 * (a := num(w, 2, 50))), over(4 * a, 4), str(a), {"number": a})
        if which == "square":
            a = num(w, 2, 25)
            return finish(typed(w, "(the square of|square of|square) {a}[?]|{a} squared[?]|[what is] {a}^2[?]|{a} to the power of (2|two)[?]", a=a), times(a, a), str(a * a), {"number": a * a})
        k, name = (2, "(double|twice|two times|the double of)") if which == "double" else (3, "(triple|three times|thrice)")
        return finish(typed(w, f"[what is|how much is|calculate] {name} {{a}}[?]", a=a), times(a, k), str(a * k), {"number": a * k})
    if kind == 7:
        n = w.any(2, 3, 3, 4, 5)
        values = [num(w, 1, 60) for _ in range(n - 1)]
        last = -sum(values) % n
        values.append(last + n * num(w, 1, 12) if last + n > 0 else n)
        total = sum(values)
        return finish(typed(w, "[what is|what's|calculate|find] the (average|mean) of {l}[?]|average of {l}[?]|mean[?]: {l}", l=w.any(", ".join(map(str, values)), ", ".join(map(str, values[:-1])) + f" and {values[-1]}")), f"The sum: {' + '.join(map(str, values))} = {total}. {over(total, n)}", str(total // n), {"number": total // n})
    if kind == 8:
        values = [num(w, 1, 60) for _ in range(w.number(3, 6))]
        running, steps = values[0], []
        for v in values[1:]:
            steps.append(f"{running} + {v} = {running + v}")
            running += v
        return finish(typed(w, "(add [up]|sum [up]|total of|sum of|what is the sum of|add these [numbers]:) {l}[?]", l=", ".join(map(str, values))), "; ".join(steps) + ".", str(running), {"number": running})
    if kind == 9:
        a, b = num(w, 2, 99), num(w, 2, 12)
        a = a - a % b + num(w, 1, b - 1)
        return finish(typed(w, "(what is|what's) the (remainder|rest) of {a} divided by {b}[?]|{a} mod {b}[?]|{a} divided by {b}, remainder?|remainder of {a} / {b}[?]", a=a, b=b), f"{b} x {a // b} = {a - a % b}; {a} - {a - a % b} = {a % b}.", str(a % b), {"number": a % b})
    if kind == 10:
        b = num(w, 2, 30)
        x = num(w, 1, 60)
        add = w.chance(0.5)
        return finish(typed(w, "(solve|what is x (if|in|when)|find x[:]|x?|which number is x:) {e}[?]|{e}, what is x?", e=f"x + {b} = {x + b}" if add else f"x - {b} = {x}"), minus(x + b, b) if add else plus(x, b), str(x if add else x + b), {"number": x if add else x + b})
    op = w.any("+", "-", "x")
    a, b = operands(w, op)
    if w.chance(0.3) and op != "x":
        a, b = a * w.any(10, 1) + 1000, b
    result, steps = worked(op, (a, b))
    s = w.any(" ", "")
    show = (lambda n: f"{n:,}") if w.chance(0.15) else str
    e = f"{show(a)}{s}{ {'+': '+', '-': '-', 'x': w.any('*', 'x', '×')}[op]}{s}{show(b)}".replace("{ ", "")
    words = {"+": "plus", "-": "minus", "x": "times"}[op]
    return finish(typed(w, ask + f"|[what is|what's|how much is] {{a}} {words} {{b}}[?]|(can you|could you) (do|calculate|compute) {{e}} [for me][?]", e=e, a=show(a), b=show(b)), steps, str(result), {"number": result})


def clock(h, m):
    return f"{h % 24}:{m:02d}"


def times_of_day(w):
    h, m = w.number(0, 23), w.any(0, 0, 15, 30, 45, 20, 10, 40, 5, 50, 25)
    dh, dm = w.number(0, 5), w.any(0, 15, 30, 45, 20, 10, 50, 40, 5)
    if dh == dm == 0:
        dh = 2
    total = dh * 60 + dm
    length = listing_of_time(dh, dm, w)
    kind = w.number(0, 5)
    if kind <= 1:
        end = (h * 60 + m + total) % 1440
        eh, em = divmod(end, 60)
        pm = w.chance(0.3)
        start = f"{(h - 1) % 12 + 1}{f':{m:02d}' if m else ''} {'am' if h < 12 else 'pm'}" if pm else clock(h, m)
        answer = f"{(eh - 1) % 12 + 1}:{em:02d} {'am' if eh < 12 else 'pm'}" if pm else clock(eh, em)
        question = typed(w, "the (train|bus|film|flight|lesson|meeting|ferry|movie) (leaves|starts|begins) at {s} and (takes|lasts) {l}. When (does it (end|arrive)|is it over|do I arrive)[?]|it is {s}. what time is it in {l}[?]|{s} plus {l}[?]|what is {l} after {s}[?]|I start at {s} and need {l}. when am I done[?]|(at what time|when) is it {l} after {s}?|what time will it be {l} after {s}?", s=start, l=length)
        steps = f"{clock(h, m)} + {dh} h = {clock((h + dh), m)}; {m} + {dm} = {m + dm} min{f', one hour and {m + dm - 60} min' if m + dm > 59 else ''}: {clock(eh, em)}." + (f" That is {answer}." if pm else "")
        return finish(question, steps, answer)
    if kind == 2:
        end = (h * 60 + m - total) % 1440
        eh, em = divmod(end, 60)
        question = typed(w, "I (must|have to|want to) be (there|home|in town) at {s} and (it takes [me]|the way takes) {l}. When (should I leave|do I have to leave|must I go)[?]|what is {l} before {s}[?]|{s} minus {l}[?]|the (cake|film|meeting) (is done|ends) at {s} and (takes|lasts) {l}. When did it start[?]", s=clock(h, m), l=length)
        return finish(question, f"{clock(h, m)} - {dh} h = {clock(h - dh, m)}; {f'{m} - {dm} = {m - dm} min' if m >= dm else f'{m} - {dm} needs an hour: {60 + m} - {dm} = {60 + m - dm} min'}: {clock(eh, em)}.", clock(eh, em))
    if kind == 3:
        h = w.number(0, 17)
        end = h * 60 + m + total
        eh, em = divmod(end, 60)
        dh, dm = total // 60, total % 60
        answer = listing_of_time(dh, dm)
        question = typed(w, "how long is it from {s} to {e}[?]|(the film|the lesson|the night shift) (runs|goes) from {s} to {e}[.|,] how (long|much time) is (that|it)[?]|(at work|away|open|awake|on the road) from {s} until {e}, how (long|many hours) (is that|in all)[?]|{s} until {e}[.] how long (is that|does it last)[?]|(began|left) at {s}, (over|back) at {e}. how long (was it|did it take)[?]|(from {s} to {e}|between {s} and {e}): how (long|much time) [is that]?|open from {s} until {e}, how many hours [and minutes] is that?", s=clock(h, m), e=clock(eh, em))
        return finish(question, f"{eh} - {h} = {eh - h} hours; {f'{em} - {m} = {em - m} min' if em >= m else f'{em} - {m} needs an hour: {60 + em} - {m} = {60 + em - m} min, {eh - h} - 1 = {eh - h - 1} hours'}.", answer)
    if kind == 4:
        n = w.number(61, 400)
        return finish(typed(w, "{n} minutes (in|are how many|how many|to|as) hours and minutes[?]|(the trip|the game|the flight) is {n} minutes long. what's that in hours and minutes[?]|convert {n} minutes [in]to hours and minutes|how long is {n} min in hours?", n=n), f"60 x {n // 60} = {n // 60 * 60}; {n} - {n // 60 * 60} = {n % 60}.", listing_of_time(n // 60, n % 60))
    pm = w.number(13, 23) if w.chance(0.6) else w.number(0, 12)
    twelve = f"{(pm - 1) % 12 + 1}:{m:02d} {'am' if pm < 12 else 'pm'}"
    if w.chance(0.6):
        return finish(typed(w, "what is {s} (on a 12[-| ]hour clock|in am/pm|in 12-hour (time|format))[?]|(convert|change|write) {s} (to|in) (am/pm|12 hour format|12-hour time)|{s} in am/pm[?]", s=f"{pm}:{m:02d}"), f"{pm} is {(pm - 1) % 12 + 1} {'am' if pm < 12 else 'pm'}.", twelve)
    return finish(typed(w, "what is {s} (on a 24[-| ]hour clock|in 24-hour (time|format))[?]|(convert|change|write) {s} (to|in) (24 hour format|24-hour time)|{s} in 24 hour time[?]", s=twelve), f"{twelve} is hour {pm}.", f"{pm:02d}:{m:02d}")


def listing_of_time(hours, minutes, w=None):
    parts = ([f"{hours} hour{'s' if hours != 1 else ''}"] if hours else []) + ([f"{minutes} minutes"] if minutes else [])
    if w and len(parts) == 1 and w.chance(0.3):
        return {"30 minutes": "half an hour", "15 minutes": "a quarter of an hour", "45 minutes": "three quarters of an hour", "1 hour": "an hour"}.get(parts[0], parts[0])
    return w.any(" and ", " ").join(parts) if w else " and ".join(parts)


UNITS = [("km", "m", 1000), ("m", "cm", 100), ("cm", "mm", 10), ("kg", "g", 1000), ("kilos", "grams", 1000), ("liters", "ml", 1000), ("litres", "millilitres", 1000), ("hours", "minutes", 60), ("minutes", "seconds", 60), ("days", "hours", 24), ("weeks", "days", 7), ("years", "months", 12), ("tons", "kg", 1000), ("feet", "inches", 12), ("dozen", "pieces", 12), ("decades", "years", 10), ("centuries", "years", 100), ("GB", "MB", 1000), ("euros", "cents", 100), ("kilometers", "meters", 1000), ("meters", "centimeters", 100)]


def units(w):
    big, small, factor = w.any(*UNITS)
    ask = "how (many|much) {b} (are|is|are in|is in|are there in|make) {n} {a}[?]|(convert|change|turn) {n} {a} (to|into|in) {b}|{n} {a} (in|to|=|are how many|as) {b}[?]|(what is|what's) {n} {a} in {b}[?]|{n} {a} = how many {b}[?]|express {n} {a} in {b}|i have {n} {a}, how many {b} is that"
    r = w.rng.random()
    if r < 0.5:
        n = w.number(2, 30)
        if w.chance(0.25) and factor in (10, 100, 1000):
            n = n + w.any(0.5, 0.5, 0.2)
        result = n * factor
        result = int(result) if result == int(result) else result
        return finish(typed(w, ask, n=w.any(n, n, n, in_words(n) if isinstance(n, int) else n), a=big, b=small), f"One is {factor} {small}. {n} x {factor} = {result}.", f"{result} {small}", {"number": result} if isinstance(result, int) else None)
    n = w.number(1, 40)
    value = n * factor
    if w.chance(0.35) and factor in (10, 100, 1000):
        value = n * factor + factor // 2
        text = f"{n}.5"
    else:
        text = str(n)
    return finish(typed(w, ask, n=f"{value:,}" if w.chance(0.1) else value, a=small, b=big), f"{factor} {small} are one. {value} / {factor} = {text}.", f"{text} {big}")


def calendar(w):
    kind = w.number(0, 9)
    days, months = lexicon.DAYS, lexicon.MONTHS
    i, j = w.rng.randrange(7), w.rng.randrange(12)
    if kind == 0:
        step = w.any(1, 1, -1, -1, 2, -2)
        words = {1: "(day comes|is|comes) (after|the day after|following)", -1: "(day comes|is|comes) before", 2: "is two days after", -2: "is two days before"}[step]
        return finish(typed(w, f"(what|which day) {words} {{d}}[?]", d=days[i]), f"Step {step}.", days[(i + step) % 7])
    if kind == 1:
        n = w.number(2, 30)
        back = w.chance(0.3)
        result = days[(i + (-n if back else n)) % 7]
        return finish(typed(w, "(if today is|today is|it is|it's) {d}[,|.] (what|which) day (was it {n} days ago|was {n} days ago)[?]|{n} days before {d}[?]" if back else "(if today is|today is|it is|it's) {d}[,|.] (what|which) day (is it in {n} days|will it be in {n} days|is in {n} days)[?]|{n} days after {d}[?]|{d} plus {n} days[?]", d=days[i], n=n), f"{n} = {n // 7} x 7 + {n % 7}: {n % 7} days {'before' if back else 'after'} {days[i]} is {result}.", result)
    if kind == 2:
        step = w.any(1, 1, -1, -1, 2)
        words = {1: "(comes after|is after|follows)", -1: "(comes before|is before)", 2: "is two months after"}[step]
        return finish(typed(w, f"(what|which) month {words} {{m}}[?]|month {'after' if step > 0 else 'before'} {{m}}[?]" if abs(step) == 1 else f"(what|which) month {words} {{m}}[?]", m=months[j]), f"Step {step}.", months[(j + step) % 12])
    if kind == 3:
        n = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][j]
        return finish(typed(w, "how many days (are [there] in|does {m} have|has) {m}[?]|number of days in {m}[?]|{m}: how many days?", m=months[j]).replace(f"does {months[j]} have {months[j]}", f"does {months[j]} have"), f"{months[j]} has {n} days.", str(n) if j != 1 else "28, in leap years 29", {"contains": [str(n)]})
    d = w.number(1, 28)
    year = w.number(1950, 2035)
    iso = f"{year}-{j + 1:02d}-{d:02d}"
    if kind == 4:
        return finish(typed(w, "(write|say|put) {i} (as a normal date|in words|with the name of the month)|what date is {i}[?]|{i} in words[?]|(spell|write) out [the date] {i}|convert {i} to a readable date", i=iso), f"Month {j + 1} is {months[j]}.", f"{months[j]} {d}, {year}")
    if kind == 5:
        text = w.any(f"{months[j]} {d}, {year}", f"{d} {months[j]} {year}", f"{months[j]} {d} {year}", f"{d}. {months[j]} {year}", f"the {d}th of {months[j]} {year}" if 3 < d < 21 else f"{d} {months[j]} {year}")
        return finish(typed(w, "(put|write|convert|change|turn) {t} (in|to|into|as) (ISO format|ISO|YYYY-MM-DD|yyyy-mm-dd|ISO 8601)|{t} (in|as) (ISO|YYYY-MM-DD)[?]|ISO date of {t}[?]", t=text), f"{months[j]} is month {j + 1:02d}.", iso)
    if kind == 6:
        e = w.number(d, 28)
        if e == d:
            return calendar(w)
        return finish(typed(w, "how many days (are (between|there between)|from) {a} (and|to) {b}[?]|days from {a} to {b}[?]|how long is it from {a} until {b} in days?", a=f"{months[j]} {d}", b=f"{months[j]} {e}"), minus(e, d), str(e - d), {"number": e - d})
    if kind == 7:
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        return finish(typed(w, "is {y} a leap year[?]|(was|will) {y} (be|) a leap year[?]|leap year: {y}?|does {y} have 366 days?", y=year), f"{year} / 4 = {year // 4} {'without' if year % 4 == 0 else 'with'} a rest.", "Yes" if leap else "No", {"contains": ["Yes" if leap else "No"]})
    if kind == 8:
        n = w.number(1, 8) * 7
        a, b = w.any((f"{n} days", "weeks"), (f"{w.number(1, 6) * 12} months", "years"))
        v = int(a.split()[0]) // (7 if b == "weeks" else 12)
        return finish(typed(w, "how many {b} (is|are) {a}[?]|{a} in {b}[?]", a=a, b=b), f"{a.split()[0]} / {7 if b == 'weeks' else 12} = {v}.", f"{v} {b}")
    start = datetime.date(year, j + 1, d)
    n = w.number(1, 20)
    end = start + datetime.timedelta(n)
    return finish(typed(w, "what date is {n} days after {i}[?]|{i} plus {n} days[?]|add {n} days to {i}|which date is it {n} days after {i}?", n=n, i=iso), f"{d} + {n} = {d + n}; {months[j]} has {(datetime.date(year + j // 11, (j + 1) % 12 + 1, 1) - datetime.date(year, j + 1, 1)).days} days.", end.isoformat())


TASKS = {story: 42, in_word_form: 22, digits: 26, times_of_day: 14, units: 12, calendar: 14}


def question_of(w):
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)
