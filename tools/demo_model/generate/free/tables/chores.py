"""Sentences to rewrite, texts to label and their forms, for chores."""

# {S} {s} {O} {P}: subject at the start, subject, object, possessive; <past|base|third person>, all of one tense.
SENTENCES = """{S} <lost|lose|loses> {P} keys near the station. ; {S} <walked|walk|walks> up the hill and <took|take|takes> a photo. ; {S} <forgot|forget|forgets> {P} umbrella, so {s} <got|get|gets> wet. ; {S} <polished|polish|polishes> {P} boots and <put|put|puts> them away. ; {S} <cooked|cook|cooks> dinner for {P} parents.
{S} <opened|open|opens> the window because {s} <wanted|want|wants> fresh air. ; {S} <sold|sell|sells> {P} bike to a neighbour. ; {S} <drank|drink|drinks> tea while {P} sister <slept|sleeps|sleeps>. ; {S} <missed|miss|misses> the tram and <called|call|calls> {P} boss. ; {S} <wrote|write|writes> long letters to {P} grandmother.
{S} <repaired|repair|repairs> {P} car in the yard. ; When {s} <came|come|comes> home, {P} dog <barked|barks|barks>. ; {S} <invited|invite|invites> {P} colleagues, and they <brought|bring|bring> cake. ; {S} <found|find|finds> a coin under {P} desk. ; {S} <swam|swim|swims> in the lake before breakfast. ; {S} <gave|give|gives> {P} seat to an old man.
The teacher <asked|asks|asks> {O} a hard question. ; {S} <read|read|reads> the news on {P} phone. ; {S} <paid|pay|pays> the rent and <kept|keep|keeps> the receipt. ; {S} <sang|sing|sings> in a choir with {P} best friend. ; {S} <built|build|builds> a shed behind {P} house. ; {S} <broke|break|breaks> {P} glasses at work.
{S} <left|leave|leaves> the office early and <met|meet|meets> {P} friends. ; {S} <taught|teach|teaches> {P} son to swim. ; {S} <grew|grow|grows> tomatoes on {P} balcony. ; {S} <felt|feel|feels> tired after {P} shift. ; {S} <hid|hide|hides> the present in {P} room. ; {S} <cut|cut|cuts> the bread with {P} new knife. ; {S} <drove|drive|drives> to the coast with {P} family."""
SENTENCES = [x.strip() for line in SENTENCES.split("\n") for x in line.split(" ; ")]

# An order and what else is said: the order becomes a kind request, the rest stays.
ORDERS = """lower your umbrella | I can't see the stage ; turn the music down | my baby is sleeping ; send me the report | the boss is waiting for it ; stop talking | I can't hear the film ; give me the key | I have to lock up ; wait here | I'll be right back ; wipe your shoes | I just cleaned the floor ; call me back | it's important ; take your feet off the table | we eat here ; close the window | it's getting cold ; bring me a chair | my back hurts ; answer my email | I wrote it a week ago ; pay the bill | it was due on Friday
show me your ticket | I need to check it ; carry this box | it's too heavy for me ; put the phone away | class has started ; sign here | the courier is in a hurry ; fix the printer | nobody can print ; let me through | I get off here ; speak louder | the line is bad ; return my ladder | I need it tomorrow ; empty the bin | it smells ; park somewhere else | this is my space ; check the numbers again | they look wrong ; hurry up | the train leaves soon ; keep the gate shut | the dog runs away ; lend me your pen | mine is empty"""
ORDERS = [tuple(x.strip().split(" | ")) for line in ORDERS.split("\n") for x in line.split(" ; ")]

# What happened, and what came of it.
CAUSES = """the road was icy | the bus came late ; the cafe was full | we ate in the park ; my phone was dead | I could not call you ; the oven was broken | we ordered pizza ; the lake was frozen | the children went skating ; he had no ticket | he stayed outside ; the bridge was closed | she took the ferry ; the paint was wet | nobody touched the bench ; the shop had no bread | we bought rolls ; the printer was out of paper | nobody could print ; the film was boring | they left early ; the alarm did not ring | I overslept ; her car would not start | she took a taxi
the lift was out of order | we used the stairs ; the soup was too salty | no one finished it ; the teacher was ill | there was no lesson ; the museum was free | many people came ; the dog was hungry | it barked all night ; the password was wrong | the login failed ; the flight was overbooked | two passengers had to wait ; he had a cold | he stayed in bed ; the wind was strong | the boat could not leave ; the tomatoes were cheap | I bought a lot ; the street was noisy | we closed the window ; the deadline was near | the team worked at night"""
CAUSES = [tuple(x.strip().split(" | ")) for line in CAUSES.split("\n") for x in line.split(" ; ")]

# Casual and formal; each stands for the other.
REGISTERS = """hey, can you send me the file? | Hello, could you please send me the file? ; thanks a lot! | Thank you very much. ; sorry, can't come tomorrow | Unfortunately, I am unable to come tomorrow. ; what's up with my order? | Could you please tell me the status of my order? ; the room was awful | The room was unsatisfactory. ; I gotta go now | I have to leave now. ; wanna meet on Monday? | Would you like to meet on Monday? ; no idea why it broke | I do not know why it broke. ; we're super happy with it | We are very satisfied with it. ; get back to me asap | Please reply as soon as possible.
how long's that gonna take? | How long will that take? ; I dunno the price | I do not know the price. ; sorry about the mess | We apologise for the disorder. ; he's not in today | He is not available today. ; let me know if it's ok | Please let me know whether this is acceptable. ; you guys messed up my bill | There is an error in my bill. ; gimme a sec | Please wait a moment. ; that's way too expensive | That is too expensive. ; cheers for your help | Thank you for your help. ; can't make it, I'm sick | I am unable to attend because I am ill. ; see ya on Friday | I look forward to seeing you on Friday. ; pls tell the boss I'm late | Please inform the manager that I am late. ; ok, works for me | That is acceptable to me. ; we need more cash | We require additional funds."""
REGISTERS = [tuple(x.strip().split(" | ")) for line in REGISTERS.split("\n") for x in line.split(" ; ")]

# As typed in a hurry, and right.
MISTAKES = """she dont like tea | She doesn't like tea. ; were is my bag | Where is my bag? ; their going home | They're going home. ; its to late now | It's too late now. ; i has two brothers | I have two brothers. ; he go to school by buss | He goes to school by bus. ; we was tired yesturday | We were tired yesterday. ; your the best freind | You're the best friend. ; i dont no the answer | I don't know the answer. ; the dogs is hungrey | The dogs are hungry. ; can you here me | Can you hear me? ; she buyed a dress | She bought a dress. ; i recieved you're letter | I received your letter. ; me and him is late | He and I are late. ; there house is big | Their house is big. ; the wether is nice | The weather is nice. ; who's bike is this | Whose bike is this? ; i am hear since monday | I have been here since Monday. ; he runned to fast | He ran too fast. ; tommorow i will came | Tomorrow I will come. ; the childs are playing | The children are playing. ; it dont work proprely | It doesn't work properly. ; thier is no milk | There is no milk. ; i definately agree | I definitely agree. ; whats you name | What's your name? ; she speak three langauges | She speaks three languages. ; the fotos was beautifull | The photos were beautiful. ; did you saw the film | Did you see the film?"""
MISTAKES = [tuple(x.strip().split(" | ")) for x in MISTAKES.split(" ; ")]

STRONGER = "big=huge hot=boiling cold=freezing tired=exhausted hungry=starving happy=delighted bad=terrible good=excellent small=tiny angry=furious funny=hilarious scary=terrifying dirty=filthy old=ancient wet=soaked loud=deafening pretty=gorgeous sad=heartbroken surprised=astonished interesting=fascinating".split()
STRONGER = dict(x.split("=") for x in STRONGER)
STRONGER_IN = {"big": "They bought a {a} house.", "hot": "The sand was {a}.", "cold": "The water is {a}.", "tired": "After the hike I was {a}.", "hungry": "The kids are {a}.", "happy": "My parents were {a} about it.", "bad": "The food was {a}.", "good": "The concert was {a}.", "small": "They live in a {a} flat.", "angry": "The guest was {a}.", "funny": "It was a {a} story.", "scary": "He told us a {a} tale.", "dirty": "Your boots are {a}.", "old": "The town has an {a} wall.", "wet": "Our clothes were {a}.", "loud": "The music was {a}.", "pretty": "What a {a} dress!", "sad": "She was {a} when he left.", "surprised": "Everyone was {a}.", "interesting": "I read a {a} book."}

# text | the words that decide | sentiment, urgency, area, intent, spam, kind of statement as far as clear
TEXTS = """My steak was burnt and nobody apologised. | burnt and nobody apologised | s=negative i=complaint
I'm so in love with my new {x}! | so in love with | s=positive i=praise
We picked up the {x} on {d}. | picked up | s=neutral f=fact
Smoke comes out of the main switch! | Smoke comes out | u=urgent a=technical
Lucky you, a {x} for nothing! Just follow this link today. | Just follow this link | p=spam
Until what time are you there on {d}? | Until what time | i=question s=neutral u=not urgent p=not spam
Your bill of {d} shows the same item two times. | bill of {d} | a=billing i=complaint s=negative p=not spam
Since the update your program freezes when I print. | program freezes | a=technical i=complaint s=negative p=not spam
My parcel still has not left the warehouse. | parcel | a=shipping i=complaint p=not spam
Nothing beats a walk in the rain. | Nothing beats | f=opinion
The river is {k} km long. | {k} km long | f=fact s=neutral
Best {x} I have ever bought! | Best | s=positive i=praise f=opinion
Could you send me the invoice of last month? | invoice | a=billing i=request u=not urgent p=not spam
I forgot my password and cannot log in. | forgot my password | a=account p=not spam
What a waste of money. | waste of money | s=negative i=complaint f=opinion
Somebody collapsed in the hall, call a doctor! | call a doctor | u=urgent i=request
Whenever you have time, could you water the {x}? | Whenever you have time | u=not urgent i=request p=not spam
Dear friend, I inherited millions and need your bank details. | need your bank details | p=spam
Hi {n}, are we still on for lunch on {d}? | lunch on {d} | p=not spam i=question u=not urgent
Please add a dark mode. | add a dark mode | i=request a=technical
How do I change my delivery address? | delivery address | i=question p=not spam
I love how quiet the new {x} is. | love how quiet | s=positive i=praise f=opinion
The {x} broke after two days. | broke after two days | s=negative i=complaint
The box contains {k} pieces. | contains {k} pieces | s=neutral f=fact
Production is down, no customer can pay! | Production is down | u=urgent a=technical
There is a typo in the footer, no rush. | no rush | u=not urgent
The refund never reached my bank account. | refund | a=billing i=complaint p=not spam
Make 5000 a week from home, guaranteed, no work! | guaranteed, no work | p=spam
Thank you so much for the quick help! | Thank you so much | s=positive i=praise p=not spam
Please delete my account. | delete my account | a=account i=request
Tea tastes better than coffee. | tastes better | f=opinion
{n} was born in {y}. | born in {y} | f=fact s=neutral
I smell gas in the cellar! | smell gas | u=urgent
Cheap pills, limited offer, buy today!!! | limited offer, buy today | p=spam
The delivery van never showed up. | delivery van never | a=shipping i=complaint s=negative
Why is my bill higher this month? | bill higher | a=billing i=question p=not spam
The staff went out of their way to help us. | went out of their way to help | s=positive i=praise
The hotel smelled of smoke and the bed was hard. | smelled of smoke | s=negative i=complaint
The meeting is in room {k}. | in room {k} | s=neutral f=fact p=not spam
Your mailbox is full, confirm your password here or lose it. | confirm your password here | p=spam
My screen stays black after the update. | screen stays black | a=technical i=complaint s=negative p=not spam
How can I change my user name? | user name | a=account i=question p=not spam
Everybody should visit {c} once in their life. | should visit | f=opinion
The museum in {c} has {k} rooms. | has {k} rooms | f=fact s=neutral
The baby cannot breathe, hurry! | cannot breathe | u=urgent
We could repaint the fence some time next year. | some time next year | u=not urgent
Terrible support, I waited an hour. | Terrible support | s=negative i=complaint f=opinion
Fantastic show, we laughed until we cried. | Fantastic show | s=positive i=praise f=opinion
Please change my seat to a window seat. | Please change | i=request p=not spam"""
TEXTS = [tuple(x.split(" | ")) for x in TEXTS.split("\n")]
AXES = {"s": ("positive", "negative", "neutral"), "u": ("urgent", "not urgent"), "a": ("billing", "technical", "shipping", "account"), "i": ("complaint", "question", "praise", "request"), "p": ("spam", "not spam"), "f": ("fact", "opinion")}
EACH = {"hot|cold": {"hot": "fire|a sauna|fresh toast|the sun|steam|a burning candle|an oven in use|glowing coal", "cold": "a snowball|an iceberg|frozen peas|a glacier|ice cubes|sleet"}, "big|small": {"big": "a whale|an elephant|a mountain|a ship|a castle|a stadium", "small": "an ant|a needle|a pea|a coin|a button|a grain of rice|a mouse"}, "land|water": {"land": "a horse|a goat|a camel|a fox|a lion|a rabbit", "water": "a shark|a dolphin|a whale|an octopus|a herring|a crab"}, "edible|not edible": {"edible": "bread|cheese|an apple|soup|rice|a carrot", "not edible": "a brick|a stone|glass|a hammer|soap|a shoe"}, "odd|even": {"odd": "3|7|11|15|29|41|53", "even": "2|8|14|20|36|48|90"}, "sweet|salty": {"sweet": "honey|chocolate|jam|candy|sugar|cake", "salty": "pretzels|crisps|seawater|salted peanuts|anchovies"}, "fast|slow": {"fast": "a rocket|a cheetah|a jet|a racing car|lightning", "slow": "a snail|a tortoise|a sloth|a glacier"}}
