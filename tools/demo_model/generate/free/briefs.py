"""Short reports whose main point is not always in the first sentence: their summary, their title, what they are about."""

import re

from . import lexicon
from .tables import briefs_more
from .filled import Filled
from .grammar import capital, form, ordered, typed, with_payload
from .reading import finish

# The text | one sentence | a title | the topic. Slots as in paragraphs_data.
BRIEFS = """The radio of {City1} is {up1} years old. It started with {w1} listeners and one record. [Today it plays {x1=folk songs/jazz/operas/plays} all night.] But the money has run out, and on {day1} it falls silent [for ever]. | The radio of {City1} falls silent on {day1} because the money has run out. | The radio of {City1} falls silent | the end of a radio
{name1} could not find the {x1=parrot/tortoise/goat/hamster} anywhere. [Friends and the police searched the town.] {w1} days later it sat (in front of|behind|on) the {x2=cinema/fire station/ice cream shop} and seemed quite happy. | The {x1} of {name1} was found at the {x2} after {w1} days. | The {x1} is back | a {x1} that was lost
The library takes no more fees for books that come back late. [Until now it was {w1} cents a day.] In a test {x1=twice as many/far more/nearly all} books came back when nothing had to be paid. [{person1} calls it a miracle.] | The library takes no more late fees because {x1} books come back that way. | No more fees at the library | late fees of the library
{capitalx1=snow/heat/fog/hail} is expected in {country1} from {day1} on. [It is early this year.] {x2=Schools/Airports/Parks/Markets} will be closed, and the police (ask|asks) everyone to stay at home. | Because of {x1}, the {x2} in {country1} will be closed and people should stay at home. | {capitalx1} in {country1} | the {x1} that is coming
{w1} cooks took part in the contest for the best {dish1}. [It rained all day.] {name1}, at {up1} the (youngest|oldest) of them, (used|took) {x1=honey/mustard/dried plums/nettles} - and won. | {name1} won the contest for the best {dish1} with {x1}. | {name1} wins with {x1} | a contest for the best {dish1}
It was {w1} in the morning when {name1} (smelled|noticed) {x1=smoke/gas/a strange smell}. [The others were asleep.] {name1} woke everybody up, and all {w2} people got out in time. [The house burned down.] | {name1} noticed {x1} and saved {w2} people. | {name1} saves {w2} people | a fire and a rescue
For {w1} years {name1} has {x1=collected clocks/painted bridges/kept bees/walked to work/repaired radios}. It began (as a joke|after a bet|by chance). Now there is a {x2=book/film/museum/song} about it, which (opens|comes out|can be seen) in {month1}. | There is now a {x2} about {name1}, who has {x1} for {w1} years. | A {x2} about {name1} | {name1}, who has {x1}
{City1} has too (little water|few doctors|many cars|few flats). [Many people complain.] From {month1} on there will be {x1=free buses/new wells/a second hospital/a toll/two hundred new flats}. [The costs are high, says {person1}.] | {City1} gets {x1} from {month1} on. | {capitalx1} for {City1} | {x1} in {City1}
The {x1=ferry/bridge/tunnel/cable car} to {City1} (closed|was closed) on {day1}. A {x2=cable/pillar/motor/door} had broken. [Repairs take {w1} days.] Until then (passengers|people|visitors) must take {x3=the bus/the long way round/a boat/the train}. | The {x1} to {City1} is closed because a {x2} broke. | {capitalx1} to {City1} closed | the closed {x1}
We (looked at|asked|tested) {up1} {x1=students/drivers/cooks/nurses/children} for {w1} months. Half of them {x2=slept longer/ate less sugar/walked every day/used no phone}. [The others changed nothing.] Those who {x2} were {x3=calmer/healthier/faster/happier} in the end. | {capitalx1} who {x2} were {x3}. | Who {x2} is {x3} | a study of {x1}
{name1} wanted to be a {job1}. [The parents were against it.] After {w1} years (of practice|at school) it turned out that {name1} is better (at cooking|with animals|with numbers), and today {name1} {x1=runs a kitchen/leads a zoo/teaches maths/owns a farm} in {City1}. | {name1} wanted to be a {job1} but {x1} in {City1} today. | {name1} {x1} instead | the career of {name1}
{name1}: Did you (get|see) the {item1}? {name2}: No, the shop was closed[ again]. {name1}: (Oh no|What a pity), we need it by {day1}. {name2}: Then I (will order|order) it (online|by phone) today. | {name2} will order the {item1} because the shop was closed. | The {item1} is ordered | a {item1} that is needed by {day1}
{name1}: Can you come (at|around) {clock1}? {name2}: No, I am at {x1=the dentist/work/school/the gym} (then|until {clock2}). {name1}: And tomorrow? {name2}: Tomorrow is fine. | {name1} and {name2} meet tomorrow because {name2} is at {x1} today. | {name1} and {name2} meet tomorrow | when {name1} and {name2} can meet
Dear guests, our {x1=pool/sauna/lift/kitchen/terrace} is being {x2=cleaned/repaired/painted/rebuilt} from {day1} to {day2}. [We are sorry for the noise.] In this time you may use the one (next door|of the hotel {company1}|on floor {w1}) for free. | The {x1} is being {x2} from {day1} to {day2}; guests may use another one. | {capitalx1} closed until {day2} | the {x1} that is being {x2}
In {year1} nearly everybody in {country1} {x1=wrote letters/wore hats/grew wheat/travelled by rail}. Today (hardly anyone|almost nobody) does. [Experts say that {x2=phones/cars/low prices/new laws} are to blame.] [In {City1} there is a small club that keeps it up.] | Hardly anyone in {country1} does today what nearly everybody did in {year1}: they {x1}. | Once they {x1} | how {country1} has changed
The {x1=girls/boys/players/rowers} of {City1} lost {w1} games in a row. Nobody believed in them any more. On {day1} they won [for once] against the best team of the league. [The coach, {person1}, danced.] | The {x1} of {City1} won against the best team after losing {w1} games. | {City1} beats the best team | a surprising win of {City1}
{capitalx1=coffee/tea/chocolate/sugar/pepper} was once so dear that only {x2=kings/priests/merchants} could buy it. Ships needed {w1} months to bring it. [Today everybody can afford it.] What changed was the {x3=steam engine/railway/canal/farming}: it made transport cheap. | {capitalx1} was once very dear, but the {x3} made it cheap. | How {x1} became cheap | the price of {x1}
Our {x1=heating/printer/server/lift} broke down on {day1}. We called {company1}, but (nobody came|they came late). [It was {w1} degrees in the office.] {name1} found the {x2=loose cable/dirty filter/empty battery/wrong switch} and now it works. | {name1} repaired the {x1}, which had broken down on {day1}. | {name1} repairs the {x1} | the broken {x1}
Many {x1=tourists/hikers/families/sailors} come to {City1} for the {x2=beach/castle/mountains/music}. Few know the {x3=library/harbour/botanical garden/old mine}. [It is free and open every day but {day1}.] It is worth a visit, because {x4=there are no queues/one can eat well there/the view is great/children may touch everything}. | The {x3} of {City1} is worth a visit because {x4}. | Visit the {x3} of {City1} | the {x3} of {City1}
The city has counted its {x1=trees/cats/bridges/bicycles}. There are {big1}, more than ever. [Ten years ago it was half as many.] {person1}, who led the count, is {x2=pleased/worried/surprised}. | The city has more {x1} than ever. | More {x1} than ever | the {x1} of the city
{name1} bought a {item1} at a flea market for {w1} euros. At home {name1} (looked at it closely|cleaned it) and found {x1=a gold coin/an old letter/a map/the name of a king} in it. An expert says it is worth {up1} thousand euros. | {name1} found {x1} in a cheap {item1}; it is worth {up1} thousand euros. | {capitalx1} in an old {item1} | a find at the flea market"""
BRIEFS = [[cell.strip() for cell in line.split(" | ")] for line in BRIEFS.split("\n") + briefs_more.MORE]
WISH = "[in (one|a single) sentence|briefly|in one short sentence|as short as possible|for me|in (one|a) line]"


class Capitals(Filled):
    """{capitalx1}: the slot x1 with a capital letter."""

    def __missing__(self, key):
        return capital(self[key.removeprefix("capital")]) if key.startswith("capital") else super().__missing__(key)


def brief(w):
    """(text, summary, title, topic)"""
    text, *rest = w.any(*BRIEFS)
    values = Capitals(w)
    text = form(w, text)
    first = text.find("{capital")
    if first >= 0 and "=" in text[first:text.find("}", first)]:
        inside = text[first:text.find("}", first) + 1]
        key = inside[8:inside.find("=")]
        values[key] = w.any(*inside[inside.find("=") + 1:-1].split("/"))
        text = text.replace(inside, "{capital" + key + "}")
    text = values.fill(text)
    text = re.sub(r"(?<=[.?!] )[a-z]", lambda m: m[0].upper(), text)
    if w.chance(0.3) and ": " not in text[:20] and not re.match("Hi|Dear|Team|My|Our|We|I ", text):
        extra = w.any("This was in the newspaper.", f"Our reporter {w.first_name()} was there.", "More about it tomorrow.", f"It is {w.any(*lexicon.MONTHS)}.", "People still talk about it.")
        text = f"{text} {extra}"
    return capital(text), *(capital(values.fill(x)) if i < 2 else values.fill(x) for i, x in enumerate(rest))


def question_of(w):
    return asked(w, *brief(w))


def asked(w, text, summary, title, topic):
    r = w.rng.random()
    if r < 0.58:
        pattern = f"(summarize|summarise|sum up|condense|shorten|recap) (this|the text|it|the following|this text|the report|the news) {WISH}|(give me|write|I need) a [short|brief|one-sentence] summary [of (this|it)] {WISH}|(tell me|say) in one sentence what (this|the text) says"
        if w.chance(0.35):
            return finish(with_payload(w, typed(w, "(what is|what's) the (main|key|central) (point|message|idea) [of this][?]|(tl;dr|tldr|in short|the gist)[?]|what (happened|is the news) [here|in one sentence][?]|what does (this|it) say in (one sentence|short)?"), text), f"The main thing: {summary}", summary)
        return finish(ordered(w, pattern, text), f"The main thing: {summary}", summary)
    if r < 0.82:
        return finish(ordered(w, "(give|find|suggest|write) [me] a (title|headline|heading) [for (this|it|the text)]|(think of|invent) a (title|headline) [for this]|I need a (title|headline)|what would be a good (title|headline)", text), f"The main thing: {summary}", title)
    if w.chance(0.5):
        return finish(with_payload(w, typed(w, "what is (this|it|the text|this text) about[?]|what's this about[?]|what does (this|the) text deal with?"), text), f"The main thing: {summary}", summary)
    return finish(with_payload(w, typed(w, "what is (this|it|the text) about in a few words[?]|what's the (topic|subject) [of (this|it)][?]|(topic|subject) of the text?|in a few words, the topic?"), text), f"The main thing: {summary}", f"{capital(topic)}.")
