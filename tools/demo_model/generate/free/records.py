"""Records of many domains told in sentences: single values asked for, and JSON, lines or CSV of some of them."""

import json

from .tables.needs import SERVICES
from .grammar import capital, form, listing, ordered, typed, with_payload
from .need_values import value

# domain | fields | texts; num:low:high is a number that stays one in JSON.
DOMAINS = """invoice_number=code, company=company, amount=num:20:9000, due_date=date | invoice {invoice_number} from {company}: {amount} (euros|EUR|dollars), (due|payable) (on|by) {due_date}. ; {company} (wants|asks for) {amount} (euros|dollars) by {due_date} [(see|for) invoice {invoice_number}]. ; please pay {amount} (euros|dollars) to {company} before {due_date}; the invoice is number {invoice_number}. ; we received bill {invoice_number} over {amount} (EUR|USD) from {company}, it is due {due_date}.
order_number=code, product=product, quantity=num:2:60, customer=person | {customer} ordered {quantity} {product}s, order {order_number}. ; order {order_number}: {quantity} x {product} for {customer}. ; (Hello|Hi), I am {customer}. I bought {quantity} {product}s (with order number|under order) {order_number}. ; {quantity} {product}s were sent to {customer} (order|order no.) {order_number}.
title=booktitle, author=person, year=num:1850:2024, pages=num:80:900 | {title} by {author} ({year}), {pages} pages. ; {author} wrote {title} in {year}; the book has {pages} pages. ; the novel {title} was published in {year}. Its author is {author} and it has {pages} pages. ; I am reading {title} from {year}, {pages} pages by {author}.
flight=flightnr, from=city, to=city, departure=clock, gate=gate | flight {flight} from {from} to {to} leaves at {departure} from gate {gate}. ; {flight} to {to}: {departure}, gate {gate}, coming from {from}. ; passengers of {flight} ({from} - {to}), please go to gate {gate}, departure {departure}. ; we fly from {from} to {to} with {flight} at {departure}; the gate is {gate}.
title=film, director=person, year=num:1930:2024, genre=any:comedy|drama|thriller|western|horror|romance|science fiction|documentary|musical | {title} is a {genre} by {director} from {year}. ; {director} made the {genre} {title} in {year}. ; {title} ({year}), {genre}, directed by {director}. ; tonight: {title}, a {year} {genre} of {director}.
name=person, position=any:accountant|nurse|driver|designer|engineer|cook|editor|manager|teacher|analyst|welder|chemist, company=company, salary=num:20000:95000 | {name} works as {position} at {company} and earns {salary} (euros|dollars) a year. ; {company} hired {name} as {position} for {salary} (a year|per year). ; the new {position} of {company} is {name}, salary {salary}. ; {name}, {position}, {company}, {salary} EUR.
team_a=team, team_b=team, goals_a=num:0:6, goals_b=num:0:6, stadium=stadium | {team_a} played against {team_b} and it ended {goals_a}:{goals_b} in the {stadium}. ; {team_a} - {team_b} {goals_a}:{goals_b} ({stadium}). ; in the {stadium}, {team_a} met {team_b}; the score was {goals_a} to {goals_b}.
name=first, species=any:dog|cat|rabbit|parrot|hamster|pony|goat|turtle, age=num:1:18, owner=person | {name} is a {age} year old {species} that belongs to {owner}. ; {owner} has a {species} named {name}, {age} years old. ; patient: {name} ({species}), {age} years, owner {owner}. ; {owner}'s {species} {name} is {age} now.
sender=person, recipient=person, subject=subject, date=date | on {date} {sender} wrote to {recipient} about "{subject}". ; From: {sender}, To: {recipient}, Date: {date}, Subject: {subject} ; {recipient} got a mail from {sender} on {date}; the subject was "{subject}". ; the mail "{subject}" was sent by {sender} to {recipient} ({date}).
dish=dish, price=num:4:60, restaurant=restaurant, rating=num:1:5 | at {restaurant} I had {dish} for {price} (euros|dollars), {rating} stars. ; {restaurant} serves {dish} for {price}; guests give it {rating} stars. ; {dish} at {restaurant}: {price} euros, rated {rating} of 5. ; we paid {price} for the {dish} at {restaurant} and give {rating} stars.
city=city, temperature=num:1:39, condition=any:sunny|cloudy|rainy|foggy|windy|snowy|stormy, humidity=num:20:99 | in {city} it is {temperature} degrees and {condition}, humidity {humidity} percent. ; {city}: {condition}, {temperature} degrees, {humidity}% humidity. ; the weather in {city} is {condition} with {temperature} degrees and a humidity of {humidity}%. ; {condition} skies over {city}, {temperature} C, humidity {humidity}.
event=happening, place=venue, date=date, start=clock, tickets=num:30:5000 | the {event} takes place at {place} on {date} and begins at {start}; {tickets} tickets were sold. ; {event}, {date}, {start}, {place}. {tickets} tickets. ; come to the {event} at {place}! {date}, {start}. There are {tickets} tickets. ; on {date} at {start} the {event} starts at {place} with {tickets} tickets.
patient=person, doctor=doctorname, medicine=any:aspirin|ibuprofen|penicillin|insulin|cough syrup|vitamin D|iron tablets, dose=num:1:6 | {doctor} gave {patient} {medicine}, {dose} times a day. ; {patient} takes {medicine} {dose} times a day, says {doctor}. ; prescription for {patient}: {medicine}, {dose} per day, {doctor}. ; {doctor} wrote down: {patient}, {medicine}, {dose} a day.
server=service, status=any:running|stopped|degraded|offline|starting, cpu=num:1:99, memory=num:1:128 | {server} is {status}, CPU {cpu}%, memory {memory} GB. ; status of {server}: {status} (cpu {cpu} percent, {memory} GB of memory). ; the service {server} uses {memory} GB and {cpu} % of the CPU; it is {status}. ; {server} | {status} | cpu={cpu} | mem={memory}
street=street, city=city, rooms=num:1:8, rent=num:300:4000 | for rent: {rooms} rooms at {street} in {city}, {rent} (euros|dollars) a month. ; the flat at {street}, {city} has {rooms} rooms and costs {rent}. ; {city}, {street}: {rooms} rooms, rent {rent}. ; we pay {rent} for {rooms} rooms in {city}; the address is {street}.
student=person, subject=any:maths|history|biology|music|physics|art|geography|chemistry, grade=any:A|B|C|D|A-|B+, teacher=teachername | {student} got {grade} in {subject} from {teacher}. ; {teacher} gave {student} a {grade} in {subject}. ; {subject}: {student}, grade {grade} ({teacher}). ; the {subject} test of {student} was graded {grade} by {teacher}.
model=carmodel, year=num:1990:2024, mileage=num:1000:250000, color=any:red|blue|black|white|silver|green|grey, price=num:500:60000 | for sale: {color} {model} from {year}, {mileage} km, {price} euros. ; I sell my {model} ({year}). It is {color}, has {mileage} km and costs {price}. ; {model}, {year}, {color}, {mileage} km: {price}. ; a {year} {model} in {color} with {mileage} km for {price} (euros|dollars)."""
DOMAINS = [(dict(f.split("=", 1) for f in fields.split(", ")), texts.split(" ; ")) for fields, texts in (line.split(" | ", 1) for line in DOMAINS.split("\n"))]
ASKS = {"due_date": "(when|by when) (is it due|must it be paid)[?]", "company": "(which|what) (company|firm) is (it|this)[?]", "amount": "how much (is it|must be paid|money is it)[?]", "quantity": "how many [pieces] (were ordered|are it)[?]", "customer": "who (ordered|bought) (it|them)[?]", "author": "who wrote it[?]", "pages": "how many pages[?]", "departure": "when does it leave[?]",
        "from": "where does it (start|come from)[?]", "to": "where does it go[?]", "gate": "which gate[?]", "director": "who (made|directed) it[?]", "salary": "how much does (he|she|the person) earn[?]", "position": "what is the job[?]", "species": "what animal is it[?]", "owner": "who owns it[?]", "sender": "who (wrote|sent) it[?]", "recipient": "who (got|received) it[?]",
        "price": "(how much is it|what does it cost)[?]", "rating": "how many stars[?]", "temperature": "how (warm|cold) is it[?]", "start": "when does it (start|begin)[?]", "place": "where is it[?]", "tickets": "how many tickets[?]", "patient": "who is (ill|the patient)[?]", "medicine": "what (must be taken|was prescribed)[?]", "dose": "how often a day[?]", "status": "(what state|how) is it[?]",
        "rooms": "how many rooms[?]", "rent": "how much is the rent[?]", "grade": "(what|which) grade was it[?]", "teacher": "who gave the grade[?]", "student": "whose test was it[?]", "mileage": "how many km[?]", "color": "(what|which) color is it[?]", "dish": "what was eaten[?]", "restaurant": "where (was it|did they eat)[?]", "memory": "how much memory[?]", "invoice_number": "which invoice[?]", "stadium": "where was the game[?]"}


def drawn(w, kind):
    """(as it stands in the text, the value)"""
    if kind.startswith("num:"):
        n = w.number(*map(int, kind[4:].split(":")))
        return str(n), n
    name = lambda: capital(w.any(w.noun, w.fresh, w.adjective)())
    own = {"company": lambda: f"{name()} {w.any('Ltd', 'Inc', 'GmbH', 'Foods', 'Tech', '& Sons', 'Energy', 'Bank')}", "booktitle": lambda: w.any(f"The {name()} {name()}", f"{name()} and {name()}", f"A {name()} in {w.city()}"), "film": lambda: w.any(f"The Last {name()}", f"{name()} Road", f"My {name()}", f"{name()} 2"),
           "flightnr": lambda: f"{w.rng.choice('ABCKLQTUX')}{w.rng.choice('ABFHLNYZ')}{w.number(10, 9999)}", "gate": lambda: f"{w.rng.choice('ABCD')}{w.number(1, 60)}", "team": lambda: w.any(f"FC {name()}", f"{w.city()} United", f"the {name()}s", f"SV {name()}"), "stadium": lambda: w.any(f"{name()} Arena", f"{name()} Park", f"{w.city()} Stadium"),
           "happening": lambda: w.any("concert", "book fair", "summer party", "marathon", "wine tasting", "chess tournament", "flea market", "opening", f"{w.noun()} exhibition"), "venue": lambda: w.any("the town hall", "the old harbour", f"{name()} Hall", "the castle", "Central Park", f"the {name()} Theatre"),
           "doctorname": lambda: f"Dr. {capital(w.fresh())}", "teachername": lambda: f"{w.any('Mr.', 'Ms.', 'Mrs.')} {capital(w.fresh())}", "carmodel": lambda: w.any("Golf", "Corolla", "Civic", "Fiesta", "Polo", "Clio", f"{name()} {w.number(1, 9)}00"), "service": lambda: w.any(w.any(*SERVICES).removeprefix("the "), f"web-{w.number(1, 20)}", f"{w.fresh()}-db")}
    if kind in own:
        v = own[kind]()
        return v, v
    if kind == "first":
        v = w.first_name()
        return v, v
    said, v = value(w, kind)
    return (said, said) if kind == "clock" else (str(v), v)


def finish(question, reasoning, answer, check=None):
    return question, reasoning, answer, check or {"equals": answer}


def styled(key, style):
    parts = key.split("_")
    return {"snake": key, "camel": parts[0] + "".join(map(str.capitalize, parts[1:])), "words": " ".join(parts)}[style]


def record(w):
    kinds, texts = w.any(*DOMAINS)
    pairs = {k: drawn(w, kind) for k, kind in kinds.items()}
    if len({str(v) for v, _ in pairs.values()}) < len(pairs):
        return record(w)
    pattern = form(w, w.any(*texts))
    told = [k for k in kinds if "{" + k + "}" in pattern]
    text = capital(pattern.format_map({k: v for k, (v, _) in pairs.items()}))
    if w.chance(0.25):
        extra = w.any("Please note it.", "Thanks for your help.", "More soon.", "That was a surprise.", "We are glad about it.", "Have a nice day!", "Everybody knows that.", "I hope this helps.")
        text = f"{text} {extra}" if w.chance(0.7) else f"{extra} {text}"
    values = {k: pairs[k][1] for k in told}
    r = w.rng.random()
    if r < 0.4:
        key = w.any(*told)
        question = typed(w, ASKS[key]) if key in ASKS and w.chance(0.4) else typed(w, "(what is|what's|tell me|give me|find|extract|get|pull out|return|which is) the {k} [(in|of) (this|the text)|here][?]|{k}[?]|(just|only) the {k}[, (please|nothing else)]|I need [only] the {k}", k=styled(key, "words"))
        return finish(with_payload(w, question, text), f"It stands there: {values[key]}.", str(values[key]))
    keys = w.rng.sample(told, w.number(2, len(told))) if len(told) > 2 else told
    style = w.any("snake", "snake", "camel")
    if r < 0.84:
        absent = None
        if w.chance(0.15):
            absent = w.any(*[k for k in ("email", "phone", "country", "website", "weight", "discount", "fax") if k not in kinds])
            keys.insert(w.number(0, len(keys)), absent)
        named = [styled(k, style) for k in keys]
        answer = json.dumps({n: values.get(k) for n, k in zip(named, keys)}, ensure_ascii=False)
        l = listing([w.any("{}", "{}", '"{}"').format(n) for n in named]) if w.chance(0.6) else ", ".join(named)
        if w.chance(0.3):
            types = {n: {"type": "integer" if isinstance(values.get(k), int) else "string"} for n, k in zip(named, keys)}
            shape = w.any(lambda: json.dumps({"type": "object", "properties": types, "required": named}), lambda: json.dumps({n: t["type"] for n, t in types.items()}), lambda: json.dumps({n: "..." for n in named}), lambda: "{" + ", ".join(named) + "}", lambda: json.dumps({n: 0 if t["type"] == "integer" else "" for n, t in types.items()}))()
            question = typed(w, "(fill [in]|complete) (this JSON|this template|the object|this form): {s}|(use|follow|keep to) this (schema|structure|format|shape): {s}|(answer|reply|respond|output) with JSON (that (fits|follows|matches)|like|of the form|according to) [this schema:] {s}|schema: {s}. (Extract the data|Fill it|Return the JSON)|JSON like {s} please", s=shape) + (" (null if it is missing)" if absent else "")
        else:
            question = typed(w, "(extract|get|pull out|return|find|collect|read out) {l} [from (this|the text)] (as|in|and answer in|and return) JSON|(turn|convert|change|put|transform|parse) (this|the text|it|the message) (into|to) [a] JSON [object] with [the] (keys|fields|properties) {l}|JSON with {l}[, please]|(give|make|write) [me] a JSON object with {l}|(I need|output|return) [only] [valid] JSON: {l}|{l} as JSON[, please]|structured output, please: {l} (JSON)|as JSON with [the] keys {l}", l=l) + (w.any(", null where nothing is said", " (use null for what is missing)", ". If something is not there, write null.") if absent else "")
        return finish(with_payload(w, question, text, inline=len(question) < 200), f"{listing([f'{n} is ' + str(values.get(k, 'missing')) for n, k in zip(named, keys)])}.", answer, {"json": {n: values.get(k) for n, k in zip(named, keys)}})
    l = listing([styled(k, "words") for k in keys])
    if r < 0.93:
        return finish(ordered(w, "(list|give me|write|extract|show) {l} [one per line|line by line] as 'key: value'|(turn|change) it into lines of the form key: value ({l})|{l}, each on its own line as key: value", text, l=l), f"{listing([f'{k} is {values[k]}' for k in keys])}.", "\n".join(f"{styled(k, 'words')}: {values[k]}" for k in keys))
    return finish(ordered(w, "(list|give me|write|extract|show|just) {l}, separated by commas|{l}, comma separated", text, l=l), f"{listing([f'{k} is {values[k]}' for k in keys])}.", ", ".join(str(values[k]) for k in keys))
