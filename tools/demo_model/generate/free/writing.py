"""Small texts that people ask for: poems, stories, notes, mails, wishes, ideas, steps and advice."""

from . import lexicon
from .grammar import capital, order, typed
from .lexicon import article


def finish(question, reasoning, answer, check=None):
    return question, reasoning, answer, check or {"contains": [answer.split()[0]]}


THINGS = "the moon|the sun|rain|snow|autumn|spring|summer|winter|the sea|a river|the night|love|friendship|coffee|tea|my cat|a dog|the forest|a star|the wind|home|music|a tree|time|the morning|bread|a train|the city|a garden|a bird|sleep|school|a mountain|the rain in May|a small robot|computers|a book|chocolate|my grandmother|peace|hope|a bicycle|the beach|fire"
POEMS = ["{X}, you come and go so still,\nlike morning light upon the hill.\nI close my eyes and think of you,\nand all the world is fresh and new.", "I went outside to look for {x},\nand found a song, a smile, a spark.\nIt shines for me when days are long,\na little lamp against the dark.",
         "Oh {x}, so dear to me,\nas deep and quiet as the sea,\nyou make the greyest morning bright\nand keep me company at night.", "A word for {x}, a word or two,\nthe sky is wide, the grass is green.\nOf all the things I ever knew\nthis is the best I've ever seen.",
         "Here is {x}, and here am I,\nbeneath the same enormous sky.\nWe need no gold, we need no throne,\nfor with a song you're not alone."]
HAIKUS = ["{X} at first light,\na soft and silent greeting,\nthe day holds its breath.", "Quiet {y} waits,\na leaf falls into the pond,\nthe rings run ashore.", "Slowly comes {x},\nthe old gate sings in the wind,\nthen all is quiet."]
HEROES = "dragon|cat|dog|bear|robot|princess|knight|mouse|wizard|girl|boy|rabbit|fox|pirate|ghost|owl|king|snowman|baker|farmer|penguin|turtle|spider|train driver|little star"
STORIES = ["Once upon a time there was {a} who lived at the edge of a forest. One day the {h} found a small key in the grass. It opened an old door, and behind it was a garden full of friends. From then on the {h} was never lonely again.",
           "There was once {a} who was afraid of the dark. One night a firefly came and said: follow me. Together they walked through the wood, and the {h} saw how beautiful the night can be. Since then it has slept well.",
           "{A} wanted to see the sea. It walked for three days, over hills and through rain. When it arrived, the sun was rising. The {h} smiled and said: it was worth every step.",
           "One morning {a} lost its hat in the wind. Everybody in the village helped to look for it. They found it on the church tower, with a bird asleep in it. So the {h} gave the hat away and was happy."]
JOKES = ["Why did the tile feel safe? Its size was known when it was compiled.", "A model with four bits walks into a bar. It rounds to the nearest drink.", "Why do programmers like dark mode? Because light attracts bugs.", "What do you call a bear without teeth? A gummy bear.", "Why did the book go to the doctor? It hurt its spine.",
         "What did the zero say to the eight? Nice belt!", "Why was the maths book sad? It had too many problems.", "What do you call cheese that is not yours? Nacho cheese.", "Why can't a bicycle stand alone? It is two tired.", "What is orange and sounds like a parrot? A carrot."]
FUN = ["Bees tell each other by dancing where flowers are.", "An octopus has three hearts.", "Honey never goes bad if it is kept dry.", "A day on Venus is longer than its year.", "Bananas are berries, but strawberries are not.", "Sea otters hold hands when they sleep.", "A group of crows is called a murder.", "Wombats make cube-shaped droppings."]
RIDDLES = ["What has keys but opens no door? A piano.", "What gets wetter the more it dries? A towel.", "What has hands but cannot clap? A clock.", "What goes up and never comes down? Your age.", "What has a neck but no head? A bottle."]

REASONS = {  # why: (what is said in a mail, how it is asked for)
    "I am ill and cannot come today": "I'm (sick|ill) [today|and can't come]", "I will be late because my train is delayed": "I'm late because of the train", "I would like to take next Friday off": "I (want|need) next Friday off", "I have to move our meeting to Thursday": "(our|the) meeting must be moved to Thursday", "I have finished the report and attached it": "the report is (done|finished)",
    "my computer does not start any more": "my computer is broken", "I would like to cancel my subscription": "I want to cancel my subscription", "I still wait for my refund": "my refund has not come", "I would like to thank you for your help": "thanks for the help", "I would be happy to accept the offer": "I accept the offer", "I cannot accept the invitation because I am travelling": "I can't come to the party",
    "the heating in my flat does not work": "the heating is broken", "I would like to apply for the position": "I'd like to apply for the job", "I have a question about my invoice": "I have a question about the bill", "I need two more days for the work": "I need two more days", "I am sorry that I missed our call": "I missed our call"}
RECIPIENTS = {"my boss": "Dear boss", "my teacher": "Dear teacher", "the landlord": "Dear landlord", "a customer": "Dear customer", "my team": "Hello everyone", "a colleague": "Dear colleague", "the support": "Hello", "the company": "Dear Sir or Madam", "my doctor": "Dear doctor"}
WISHES = {"birthday": "Happy birthday, {n}! I wish you health, joy and a wonderful year.", "wedding": "Congratulations on your wedding, {n}! May you have many happy years together.", "new job": "Congratulations on the new job, {n}! I am sure you will do great.", "new baby": "Congratulations on your baby, {n}! All the best for the three of you.", "exam": "Congratulations on passing the exam, {n}! You worked hard for it.",
          "retirement": "All the best for your retirement, {n}! Enjoy every free morning.", "Christmas": "Merry Christmas, {n}! I wish you warm and peaceful days.", "new year": "Happy new year, {n}! May it bring you health and luck.", "recovery": "Get well soon, {n}! I am thinking of you."}
IDEAS = {"dinner": "pasta with tomatoes, vegetable soup, an omelette, fried rice, a big salad", "a birthday present": "a book, a plant, a board game, a good pen, tickets for a concert", "a rainy day": "read a book, bake a cake, play a board game, watch a film, tidy a drawer", "the weekend": "go for a walk, visit a museum, cook with friends, ride a bike, sleep late", "a healthy breakfast": "oats with fruit, yogurt with nuts, eggs on bread, a banana, muesli",
         "a hobby": "drawing, running, gardening, chess, photography", "a first date": "a walk by the river, a coffee, a museum, bowling, cooking together", "a team event": "bowling, a cooking class, a quiz, a hike, an escape room", "a picnic": "sandwiches, grapes, cheese, lemonade, a cake", "saving money": "cook at home, buy second-hand, walk more, cancel what you do not use, compare prices",
         "saving energy": "switch off lights, wash at 30 degrees, wear a sweater, use the bike, unplug chargers", "names for a cat": "Luna, Milo, Simba, Nala, Felix", "names for a dog": "Bella, Rocky, Max, Daisy, Charlie", "names for a baby girl": "Emma, Mia, Clara, Sofia, Lena", "names for a boat": "Sea Star, Blue Wind, Daisy, Albatross, Good Hope", "a children's party": "a treasure hunt, face painting, balloons, musical chairs, a pinata",
         "a school project": "a volcano model, a weather diary, a map of the town, a family tree, a plant experiment", "learning English": "watch films in English, read short books, talk to somebody, write a diary, learn five words a day"}
STEPS = {"make tea": ["Boil water.", "Put the tea into a cup.", "Pour the water over it.", "Wait three minutes and take the tea out."], "boil an egg": ["Boil water in a pot.", "Put the egg in.", "Wait eight minutes.", "Cool it with cold water."], "make coffee": ["Boil water.", "Put ground coffee into a filter.", "Pour the water over it slowly.", "Serve it hot."], "cook pasta": ["Boil a lot of water with salt.", "Add the pasta.", "Stir and wait about ten minutes.", "Drain it and add the sauce."],
         "plant a tree": ["Dig a hole.", "Put the tree in.", "Fill the hole with soil.", "Water it well."], "change a light bulb": ["Switch off the light.", "Unscrew the old bulb.", "Screw in the new one.", "Switch the light on."], "wash a car": ["Rinse the dust off.", "Wash it with a sponge and soap.", "Rinse it again.", "Dry it with a cloth."], "send a letter": ["Write the letter.", "Put it into an envelope.", "Write the address and add a stamp.", "Drop it into a mailbox."],
         "make a sandwich": ["Take two slices of bread.", "Spread butter on them.", "Add cheese and tomato.", "Put them together."], "change a tire": ["Stop at a safe place.", "Loosen the nuts and lift the car.", "Swap the wheel.", "Tighten the nuts and lower the car."], "make pancakes": ["Mix flour, milk and eggs.", "Heat butter in a pan.", "Pour in some dough.", "Turn it when it is golden."], "clean a window": ["Wet the glass with soapy water.", "Wipe it with a cloth.", "Pull the water off.", "Dry the edges."],
         "brush your teeth": ["Put toothpaste on the brush.", "Brush all sides for two minutes.", "Spit it out.", "Rinse the brush."], "write a letter of thanks": ["Say what you thank for.", "Say why it mattered.", "Add a wish.", "Sign it."], "run this model": ["Install Tessera.", "Run tessera serve with the model's folder.", "Open the page in the browser."]}
ADVICE = {"(how (can|do) I|tips to|help me) (fall asleep|sleep better)": "Go to bed at the same time, keep the room dark and put the phone away.", "(how (can|do) I|tips to|help me) (learn faster|study better|prepare for an exam)": "Study in short blocks, test yourself and sleep enough.", "(how (can|do) I|what helps to) (calm down|relax|deal with stress)": "Breathe slowly, take a walk and do one thing at a time.",
          "(how (can|do) I|tips to) (lose weight|eat healthier|get fit)": "Eat more vegetables, drink water and move a little every day.", "(how (can|do) I|tips to) (save money|spend less)": "Write down what you spend, cook at home and wait a day before you buy.", "(how (can|do) I|tips to) (make friends|meet people)": "Join a club or a class, ask questions and listen.", "(how (can|do) I|help me) (wake up early|get up earlier)": "Go to bed earlier and put the alarm far from the bed.",
          "(how (can|do) I|tips to) (learn [a] (language|Spanish|English|German|coding))": "Practise a little every day and use it as soon as you can.", "(how (can|do) I|tips for) (an|my|a) (job interview|interview)|how do I prepare for (an|my) interview": "Read about the company, prepare answers and ask a question yourself.", "(how (can|do) I|help me) (focus|concentrate)[ better]": "Put the phone away, work in short blocks and take breaks.",
          "what (helps|can I do) against (a headache|headaches)": "Drink water and rest in a dark room. See a doctor if it stays.", "what (helps|can I do) against (a cold|the flu)|what should I do if I have a cold": "Rest, drink tea and sleep a lot. See a doctor if it gets worse.", "what should I do if I (lost|lose) my (wallet|passport|keys)": "Look where you were last, then report it and block your cards.", "what should I wear (in winter|when it is cold)": "A warm coat, a scarf, gloves and good shoes.",
          "what should I (pack|take) for (a|the) (trip|holiday|journey)|packing list for a holiday": "Passport, tickets, clothes, a toothbrush, a charger and your medicine.", "should I (learn|start with) Python": "Yes, it is easy to begin with and used everywhere.", "cats or dogs|coffee or tea|(which|what) is better, (cats or dogs|tea or coffee|summer or winter)|beach or mountains": "I am a program and have no taste of my own. What do you prefer?"}


def poem(w):
    x = w.any(*THINGS.split("|"))
    if w.chance(0.2):
        text = w.any(*HAIKUS).format(x=x, X=capital(x), y=x.removeprefix("the ").removeprefix("a ").removeprefix("my "))
        return finish(order(w, "write (a|me a) [short] haiku about {x}", x=x), f"Three short lines about {x}.", text)
    text = w.any(*POEMS).format(x=x, X=capital(x))
    return finish(order(w, "(write|make|compose|tell|give) me (a|a short|a little|another|a nice) (poem|rhyme|verse) (about|on) {x}|(write|compose) (a|a short|a four-line) poem about {x}|(a|one) poem about {x}|rhyme something about {x}|(some|four) lines about {x} (that rhyme|in rhyme)", x=x), f"Four lines about {x}.", text)


def story(w):
    h = w.any(*HEROES.split("|"))
    text = capital(w.any(*STORIES).format(h=h, a=article(h), A=capital(article(h))))
    return finish(order(w, "(write|tell|make up|invent|give) me (a|a short|a little|a bedtime|another) (story|tale|fairy tale) about {a}|(write|tell) (a|a short) (story|tale) (about|with) {a} [in it]|a bedtime story about {a}|(story|short story) about {a}", a=article(h)), f"A short story with {article(h)}.", text)


def told(w):
    what, pattern = w.any((JOKES, "(tell|give) me (a|another|one more|your best) joke|(a|one) joke[, please]|know any (good|) jokes?|(make|let) me laugh|say something funny|(got|have you got) a joke for me?"), (FUN, "(tell|give) me (a|another|some) (fun|funny|random|interesting|surprising) fact|(a|one) fun fact[, please]|did you know something (strange|interesting)?|surprise me with a fact|teach me something"),
                          (RIDDLES, "(tell|give|ask) me (a|another|one more) riddle|(a|one) riddle[, please]|do you know a riddle?|let me guess something"))
    return finish(typed(w, pattern), "A short one.", w.any(*what), {"one_of": what})


def mail(w):
    to, greeting = w.any(*RECIPIENTS.items())
    if w.chance(0.3):
        to = w.first_name()
        greeting = f"{w.any('Dear', 'Hello')} {to}"
    said, why = w.any(*REASONS.items())
    body = f"{greeting},\n\n{said}.\n\n{w.any('Best regards', 'Kind regards')}"
    return finish(order(w, f"(write|draft|compose) (an email|a mail|a message|a short email|a polite email) to {{t}} (that|saying that|telling them that|because) {why}|(write|draft) {{t}} (an email|a short mail): {why}|I need (an email|a mail) to {{t}}: {why}", t=to), f"A mail to {to} in one sentence.", body.replace("\n\nmy ", "\n\nMy ").replace("\n\nthe ", "\n\nThe "))


def wish(w):
    occasion, text = w.any(*WISHES.items())
    n = w.first_name()
    return finish(order(w, "(write|give me|draft) (a|some|a short) (wish|note|card|message|line) for {n}'s {o}|(write|draft) (a card|a message|congratulations|a few words) (to|for) {n} [for] (the|his|her) {o}|what (can|do) I write (on a card|to {n}) for (the|his|her) {o}", n=n, o=occasion), f"A wish for the {occasion}.", text.format(n=n))


def ideas(w):
    topic, text = w.any(*IDEAS.items())
    items = text.split(", ")
    n = w.number(1, 5)
    chosen = items[:n]
    words = {"names": topic.startswith("names")}["names"]
    pattern = f"(give me|list|tell me|suggest|I need) {{n}} {{t}}|{{n}} {{t}}[, please]" if words else "(give me|list|tell me|suggest|I need|do you have) {n} (ideas|tips|suggestions|things) for {t}|{n} (ideas|suggestions) for {t}[, please]|(have you got|any) {n} ideas for {t}?"
    if n == 1 and not words:
        pattern = "(give me|tell me|suggest|I need) (an idea|one idea|a suggestion|something) for {t}|(any|an) idea for {t}?"
    elif n == 1:
        return ideas(w)
    form = w.rng.random()
    answer = "\n".join(f"{i + 1}. {capital(x)}" for i, x in enumerate(chosen)) if form < 0.4 and n > 1 else "\n".join(f"- {capital(x)}" for x in chosen) if form < 0.6 and n > 1 else capital(", ".join(chosen))
    return finish(typed(w, pattern, n=w.any(str(n), lexicon.SMALL[n]), t=topic), f"{n} for {topic}.", answer, {"contains": [chosen[-1].split()[-1]]})


def steps(w):
    what, lines = w.any(*STEPS.items())
    if w.chance(0.6):
        answer = "\n".join(f"{i + 1}. {x}" for i, x in enumerate(lines))
    else:
        answer = " ".join(lines)
    return finish(typed(w, "how (do|can|should) (I|you|one) {x}[?]|how to {x}[?]|(explain|tell me|show me|describe) how to {x}|(the|what are the) steps to {x}[?]|(instructions|a guide) to {x}|(teach|help) me to {x}|I want to {x}, how?", x=what), f"{len(lines)} steps.", answer)


def advice(w):
    pattern, answer = w.any(*ADVICE.items())
    return finish(typed(w, f"({pattern})[?]"), "A short piece of advice.", answer)


TASKS = {poem: 12, story: 10, told: 14, mail: 14, wish: 9, ideas: 14, steps: 12, advice: 15}


def question_of(w):
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)
