"""Words with a meaning: kinds of things, verbs with their forms, opposites, words that please and words that complain."""

KINDS = {
    "animal": "dog cat horse cow pig sheep goat hen duck goose mouse rat rabbit fox wolf bear deer lion tiger elephant giraffe zebra monkey camel donkey frog snake turtle lizard crocodile dolphin whale shark seal penguin owl eagle parrot crow swan squirrel hedgehog badger otter beaver bat kangaroo koala panda hamster leopard hippo rhino mole lamb pony rooster turkey pigeon sparrow robin crab lobster octopus",
    "insect": "bee ant fly mosquito butterfly moth beetle wasp cricket ladybug grasshopper dragonfly flea cockroach termite",
    "bird": "eagle owl parrot crow swan sparrow robin pigeon penguin duck goose hawk falcon stork seagull raven swallow peacock flamingo woodpecker",
    "fruit": "apple banana pear cherry grape lemon lime orange plum peach mango kiwi melon strawberry raspberry blueberry pineapple fig date apricot coconut papaya pomegranate grapefruit watermelon blackberry",
    "vegetable": "carrot potato onion tomato cucumber cabbage spinach broccoli cauliflower pea bean lettuce pepper garlic leek radish pumpkin celery beet turnip eggplant zucchini asparagus kale corn",
    "tool": "hammer saw drill screwdriver wrench pliers shovel rake axe ladder chisel spade crowbar file hoe clamp",
    "vehicle": "car bus train bike truck plane boat ship tram taxi van scooter motorcycle helicopter tractor ferry ambulance submarine canoe lorry bicycle",
    "piece of furniture": "table chair sofa bed shelf desk cupboard wardrobe bench stool couch armchair drawer bookcase cabinet dresser",
    "piece of clothing": "shirt trousers jacket coat hat scarf sock shoe dress skirt sweater glove belt boot jeans cap blouse suit tie pullover pyjamas vest",
    "drink": "water milk tea coffee juice beer wine lemonade cocoa soda cider champagne whisky smoothie",
    "dish": "pizza pasta soup salad burger lasagna risotto curry stew omelette sandwich pancake paella sushi ramen goulash dumpling taco",
    "musical instrument": "piano guitar violin flute drum trumpet cello harp clarinet saxophone trombone organ banjo ukulele oboe accordion harmonica",
    "sport": "football tennis basketball hockey swimming rugby golf boxing volleyball cricket skiing badminton baseball cycling rowing handball judo fencing",
    "color": "red blue green yellow black white brown pink purple orange grey turquoise violet beige golden silver crimson navy",
    "job": "doctor teacher nurse baker pilot lawyer farmer cook engineer driver plumber carpenter dentist painter writer singer actor judge butcher tailor barber gardener mechanic electrician waiter librarian journalist photographer architect soldier",
    "country": "France Germany Italy Spain Poland Norway Sweden Finland Denmark Portugal Greece Japan China India Brazil Canada Mexico Egypt Kenya Turkey Ireland Austria Belgium Chile Peru Cuba Iceland Morocco Vietnam Thailand",
    "city": "Paris London Berlin Rome Madrid Vienna Tokyo Lisbon Athens Oslo Dublin Prague Warsaw Budapest Cairo Moscow Beijing Toronto Chicago Boston Sydney Helsinki Stockholm Copenhagen Amsterdam Brussels Munich Milan Hamburg Geneva",
    "body part": "hand foot leg arm head nose ear eye mouth knee elbow shoulder finger toe neck back stomach chin ankle wrist hip thumb",
    "flower": "rose tulip daisy lily sunflower violet orchid poppy daffodil carnation lavender dandelion",
    "tree": "oak pine birch maple beech willow elm ash fir poplar cedar spruce chestnut",
    "metal": "iron gold silver copper steel tin lead zinc aluminium nickel bronze brass titanium platinum",
    "kitchen item": "spoon fork knife plate bowl cup pot pan kettle oven toaster mug glass whisk ladle",
    "shape": "circle square triangle rectangle oval cube sphere star hexagon pentagon cone cylinder",
    "planet": "Mercury Venus Earth Mars Jupiter Saturn Uranus Neptune",
    "school subject": "maths history geography biology chemistry physics music art English economics",
    "family member": "mother father sister brother aunt uncle cousin grandmother grandfather son daughter niece nephew",
    "building": "house school church hospital library museum castle tower barn factory hotel theatre stadium station prison palace temple garage",
    "toy": "doll ball puzzle kite teddy marble yo-yo balloon blocks",
    "device": "phone laptop camera printer radio television tablet keyboard monitor speaker router headphones microphone scanner",
    "dessert": "cake ice-cream cookie pudding brownie tiramisu donut muffin cheesecake pie waffle",
    "spice": "salt pepper cinnamon paprika basil oregano ginger saffron nutmeg thyme cumin vanilla",
    "month": "January February March April May June July August September October November December",
    "day of the week": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "season": "spring summer autumn winter",
    "emotion": "joy anger fear sadness love envy pride shame surprise disgust hope grief",
    "number": "one two three four five six seven eight nine ten eleven twelve twenty thirty hundred",
    "language": "English German French Spanish Italian Russian Polish Dutch Swedish Greek Turkish Japanese Chinese Arabic Portuguese Finnish",
    "programming language": "Python Java Rust Ruby Go Perl Haskell JavaScript Fortran Kotlin Swift",
    "gem": "diamond ruby emerald sapphire pearl opal amber topaz",
    "currency": "dollar euro pound yen franc rupee peso krona ruble",
}
KINDS = {k: v.split() for k, v in KINDS.items()}
WIDER = {"living thing": ("animal", "insect", "bird", "tree", "flower"), "plant": ("flower", "tree", "vegetable", "fruit"), "food": ("fruit", "vegetable", "dish", "dessert"), "place": ("country", "city", "building")}
PLURALS = {"country": "countries", "city": "cities", "piece of furniture": "pieces of furniture", "piece of clothing": "pieces of clothing", "currency": "currencies", "day of the week": "days of the week", "dish": "dishes",
           "body part": "body parts", "family member": "family members", "living thing": "living things", "food": "foods"}

# base, third person, past, participle, ing; regular ones follow from the base
IRREGULAR = """be is was been being|have has had had having|do does did done doing|go goes went gone going|see sees saw seen seeing|eat eats ate eaten eating|drink drinks drank drunk drinking|write writes wrote written writing
read reads read read reading|buy buys bought bought buying|sell sells sold sold selling|bring brings brought brought bringing|take takes took taken taking|give gives gave given giving|make makes made made making|find finds found found finding
lose loses lost lost losing|drive drives drove driven driving|ride rides rode ridden riding|sing sings sang sung singing|swim swims swam swum swimming|run runs ran run running|speak speaks spoke spoken speaking|tell tells told told telling
teach teaches taught taught teaching|think thinks thought thought thinking|know knows knew known knowing|grow grows grew grown growing|throw throws threw thrown throwing|draw draws drew drawn drawing|wear wears wore worn wearing|break breaks broke broken breaking
choose chooses chose chosen choosing|steal steals stole stolen stealing|sleep sleeps slept slept sleeping|feel feels felt felt feeling|keep keeps kept kept keeping|leave leaves left left leaving|meet meets met met meeting|send sends sent sent sending
spend spends spent spent spending|build builds built built building|win wins won won winning|catch catches caught caught catching|hold holds held held holding|stand stands stood stood standing|sit sits sat sat sitting|begin begins began begun beginning
come comes came come coming|become becomes became become becoming|fly flies flew flown flying|forget forgets forgot forgotten forgetting|get gets got got getting|hear hears heard heard hearing|hide hides hid hidden hiding|hit hits hit hit hitting
cut cuts cut cut cutting|put puts put put putting|shut shuts shut shut shutting|pay pays paid paid paying|say says said said saying|show shows showed shown showing|shoot shoots shot shot shooting|wake wakes woke woken waking
fall falls fell fallen falling|bite bites bit bitten biting|feed feeds fed fed feeding|fight fights fought fought fighting|lend lends lent lent lending|sweep sweeps swept swept sweeping|understand understands understood understood understanding|bake bakes baked baked baking"""
FORMS = {f.split()[0]: tuple(f.split()) for line in IRREGULAR.split("\n") for f in line.split("|")}
DOUBLING = set("stop plan shop chat drop jog plug pack" .split()) - {"pack"}


def forms(verb):
    """(base, third person, past, participle, ing)"""
    if verb in FORMS:
        return FORMS[verb]
    if verb in DOUBLING:
        stem = verb + verb[-1]
        out = (verb, verb + "s", stem + "ed", stem + "ed", stem + "ing")
    elif verb.endswith("e"):
        out = (verb, verb + "s", verb + "d", verb + "d", verb[:-1] + "ing" if not verb.endswith("ee") else verb + "ing")
    elif verb.endswith("y") and verb[-2] not in "aeiou":
        out = (verb, verb[:-1] + "ies", verb[:-1] + "ied", verb[:-1] + "ied", verb + "ing")
    else:
        out = (verb, verb + ("es" if verb.endswith(("s", "x", "ch", "sh", "o", "z")) else "s"), verb + "ed", verb + "ed", verb + "ing")
    FORMS[verb] = out
    return out


# verb; objects ("the letter" can be the subject of a passive) and what may follow. "-" : no object.
ACTIONS = """write: a letter, an email, a song, the report, a poem, two postcards, her diary, the invitations; to {p}, every evening, for the school, in the garden
read: a book, the newspaper, the letter, an old story, the instructions, three chapters; in bed, on the train, every morning, to the children
bake: a cake, bread, some cookies, an apple pie, the rolls; for the party, on Sundays, with {p}
cook: dinner, soup, the rice, a big meal, spaghetti; for the guests, for six people, on Fridays
clean: the kitchen, the windows, the car, the stairs, the garage; every week, before breakfast, with a brush
wash: the dishes, the car, the dog, the shirts, the vegetables; after lunch, in the garden, by hand
paint: the wall, the fence, a picture, the door, the old chair; in the yard, with {p}, in two days
repair: the bike, the roof, the watch, the fence, an old radio; in the workshop, for the neighbour, at night
open: the window, the door, the shop, a letter, the box; at eight, slowly, with a key
close: the window, the gate, the shop, the book, the account; at night, at six, quietly
lock: the door, the bike, the drawer, the office; in the evening, with two keys
carry: the bags, the boxes, a heavy suitcase, the piano; up the stairs, to the station, into the house
sell: the car, old books, fresh fish, the house, flowers, tickets; at the market, to {p}, in {c}
buy: a ticket, some bread, new shoes, the house, a present, two lamps; at the market, in {c}, for {p}
build: a house, a wall, a boat, the bridge, a bird box; near the river, in the garden, with {p}
find: a coin, the key, an old map, a kitten, the mistake; under the sofa, on the street, in the attic
lose: the key, a glove, the game, the map, an earring; at the station, in {c}, on the bus
break: a glass, the window, the vase, a promise, the record; in the kitchen, at school
catch: the ball, a fish, the bus, the thief, a cold; at the lake, in time
feed: the cat, the horses, the baby, the ducks, the fish; in the morning, at the pond, twice a day
teach: maths, a class, young children, the new colleague; at a school, in {c}, on Mondays
watch: a film, the game, the birds, the news, the sunset; at home, with {p}, from the balcony
visit: a museum, the old castle, an aunt, {p}, the doctor; in {c}, on Saturday, in summer
help: the neighbour, {p}, an old man, the tourists, the new student; in the garden, with the homework, at the station
invite: the neighbours, {p}, the whole team, some friends; to the party, for dinner, to {c}
call: the doctor, {p}, a taxi, the office, the police; at noon, from the station, every Sunday
meet: a friend, {p}, the manager, the new teacher; at the cafe, in {c}, after work
play: tennis, the piano, football, cards, chess, the guitar; in the park, with {p}, after school
sing: a song, an old tune; in the shower, in a choir, at the party
drink: coffee, a glass of milk, green tea, lemonade; in the morning, at the cafe, with {p}
eat: an apple, the soup, pancakes, a sandwich, the last cookie; at noon, in the kitchen, with {p}
drive: the bus, a red car, the truck, the children; to {c}, to work, through the town
ride: a bike, a horse, the scooter; to school, along the river, on weekends
plant: a tree, tomatoes, roses, the seeds; in the garden, behind the house, in spring
water: the flowers, the plants, the garden; in the evening, every day
cut: the bread, the paper, the grass, the hedge; with a knife, in the yard
order: a pizza, new parts, a taxi, two coffees; by phone, for {p}, at the bar
sign: the contract, the letter, the form; at the office, in {c}
send: a parcel, the letter, a message, flowers; to {p}, to {c}, by train
deliver: the mail, the parcels, pizza, the furniture; in the morning, to {p}, in {c}
check: the tickets, the oil, the list, the results; at the door, every week, twice
finish: the report, the homework, the race, the puzzle; in time, after two hours
forget: the umbrella, the password, the meeting, the keys; at home, on the train
hide: the presents, the money, the map; under the bed, in the attic
steal: a bike, the painting, an apple, the purse; at night, from the museum
wear: a blue coat, a hat, glasses, new boots; to work, in winter, at the party
learn: Spanish, the poem, a new song, chess; at school, with {p}, in {c}
study: history, the map, biology; in {c}, at night
move: the table, the sofa, the piano; into the hall, to the window
fix: the printer, the bug, the lamp, the tap; in ten minutes, for {p}
test: the app, the brakes, the new machine; in the lab, on Monday
love: music, the sea, old films, this town; 
hate: spiders, loud music, early meetings; 
like: chocolate, the new teacher, long walks, jazz; 
need: help, a new phone, more time, a coat; 
want: a dog, an answer, more money, a break; 
collect: stamps, old coins, the tickets, shells; on the beach, for {p}
use: a computer, the stairs, the old map; at work, every day
follow: the rules, the path, the news; carefully
choose: a card, the blue one, a name, the best photo; for the baby, with {p}
walk: -; to school, to work, in the park, along the river, home with {p}
live: -; in {c}, near the sea, with {p}, in a small flat
work: -; in a hospital, at a bank, in {c}, for the city, with {p}
sleep: -; on the sofa, in a tent, until nine
swim: -; in the lake, in the sea, before work
run: -; in the park, to the bus, ten kilometres
travel: -; to {c}, by train, with {p}, around the world
wait: -; at the station, for the bus, for {p}
arrive: -; at noon, in {c}, before the others
stay: -; at home, in a hotel, with {p}
dance: -; at the party, all night, with {p}
laugh: -; at the joke, very loudly
cry: -; at the end of the film, for an hour
sit: -; in the garden, on the bench, next to {p}
go: -; to school, to {c}, to the market, home
come: -; home, to the party, from {c}
fly: -; to {c}, over the sea
listen: -; to music, to {p}, to the radio
talk: -; to {p}, about the plan, with the neighbours
start: -; at nine, with the easy part
return: -; to {c}, after a year
smile: -; at the baby, in every photo
fall: -; off the chair, on the ice
jump: -; over the fence, into the water
shop: -; in {c}, on Saturdays"""
ACTIONS = {verb: (o.split(", ") if o.strip() != "-" else [], [x for x in after.strip().split(", ") if x])
           for verb, rest in (line.split(": ", 1) for line in ACTIONS.split("\n")) for o, _, after in [rest.partition(";")]}

OPPOSITES = """hot cold|big small|large small|tall short|long short|old young|new old|fast slow|high low|light dark|heavy light|happy sad|good bad|rich poor|strong weak|hard soft|wet dry|clean dirty|full empty|open closed|early late|near far|thick thin|wide narrow
loud quiet|easy difficult|cheap expensive|safe dangerous|right wrong|true false|same different|first last|inside outside|up down|left right|black white|day night|summer winter|love hate|win lose|buy sell|push pull|start stop|begin end|give take|remember forget
come go|arrive leave|laugh cry|ask answer|teach learn|lend borrow|accept refuse|increase decrease|friend enemy|question answer|north south|east west|front back|top bottom|morning evening|before after|above below|always never|everything nothing|everybody nobody|more less|many few
brave cowardly|beautiful ugly|polite rude|lazy diligent|deep shallow|smooth rough|sharp blunt|sweet sour|alive dead|awake asleep|present absent|public private|guilty innocent|married single|modern ancient|simple complicated|calm nervous|kind cruel|generous stingy|hungry full|sick healthy|entrance exit|success failure|war peace|maximum minimum|male female|husband wife|king queen|sunrise sunset|profit loss|optimist pessimist"""
OPPOSITES = [tuple(pair.split()) for line in OPPOSITES.split("\n") for pair in line.split("|")]
SYNONYMS = """big large|small little|happy glad|begin start|end finish|fast quick|smart clever|angry mad|ill sick|beautiful pretty|difficult hard|easy simple|rich wealthy|buy purchase|help assist|speak talk|look watch|sad unhappy|tired exhausted|strange odd|funny amusing|large huge|choose select|answer reply|correct right|error mistake|job occupation|gift present|child kid|boring dull|near close|silent quiet|scared afraid|shout yell|jump leap|build construct|repair fix|gather collect|wrong incorrect|whole entire|freedom liberty|journey trip|street road|stone rock|car automobile"""
SYNONYMS = [tuple(pair.split()) for pair in SYNONYMS.split("|")]
IRREGULAR_PLURALS = dict(p.split() for p in "child children|mouse mice|foot feet|tooth teeth|goose geese|man men|woman women|person people|ox oxen|leaf leaves|knife knives|wolf wolves|life lives|wife wives|half halves|shelf shelves|thief thieves|loaf loaves|sheep sheep|fish fish|deer deer|potato potatoes|tomato tomatoes|hero heroes|cactus cacti|baby babies|city cities|lady ladies|story stories|fly flies|box boxes|bus buses|dish dishes|church churches|glass glasses|fox foxes|watch watches".split("|"))

GOOD = """great excellent wonderful fantastic lovely perfect brilliant amazing superb delicious friendly helpful fast beautiful comfortable clean charming delightful outstanding pleasant impressive reliable tasty cosy awesome gorgeous enjoyable first-class magnificent
splendid fabulous terrific marvelous stunning flawless generous polite thoughtful smooth easy bright fresh warm exciting fun touching clever solid sturdy sharp crisp funny inspiring relaxing attentive cheerful courteous elegant tender juicy creamy spotless spacious quiet peaceful sunny modern handy practical durable lightweight powerful quick speedy efficient professional competent honest sincere welcoming caring gentle patient lively entertaining hilarious gripping moving thrilling captivating suspenseful witty
original creative imaginative colourful cute adorable sweet refreshing heavenly divine exquisite superior exceptional remarkable extraordinary phenomenal incredible sensational top-notch spot-on affordable fair cheap-and-cheerful intuitive responsive stable accurate precise informative useful valuable worthwhile rewarding satisfying memorable unforgettable magical dreamy tidy well-made hearty flavourful crunchy soft snug romantic picturesque breathtaking""".split()
BAD = """terrible awful horrible bad poor disappointing boring slow rude dirty broken useless cold bland noisy expensive dreadful disgusting unfriendly uncomfortable ugly dull cheap overpriced unreliable smelly confusing painful annoying pathetic lousy stale
sloppy faulty flimsy dirty tasteless frustrating miserable shoddy mediocre damaged ridiculous unacceptable tiring clumsy buggy weak careless cramped blurry worthless arrogant impolite grumpy lazy incompetent unprofessional dishonest greedy hostile aggressive indifferent chaotic messy filthy dusty mouldy sticky greasy soggy burnt raw undercooked overcooked salty bitter sour rotten watery dry rubbery stinking loud crowded dark gloomy shabby outdated old-fashioned ancient rusty cracked torn scratched
leaky wobbly unstable defective inaccurate incomplete laggy sluggish unusable complicated pointless predictable cheesy lifeless flat tedious endless exhausting stressful scary unsafe dangerous insulting offensive shameful disgraceful outrageous unfair misleading false fake hopeless depressing sad appalling atrocious abysmal ghastly horrid nasty vile revolting unpleasant irritating infuriating disastrous catastrophic substandard inferior second-rate laughable""".split()
GOOD_PHRASES = """I loved it|I would buy it again|highly recommended|worth every penny|it made my day|I will definitely come back|five stars|I could not be happier|exactly what I wanted|it exceeded my expectations|everyone enjoyed it|best purchase in years|it works like a charm|we had a great time
I can only recommend it|thank you so much|I am very pleased|what a nice surprise|it never let me down|my kids adore it|we felt at home|it was a pleasure|I am impressed|hats off to the team|a real treat|we laughed all evening|I could not put it down|everything went smoothly|it brightened our week
keep up the good work|love it|so glad I bought this|cannot wait to go back|it looks even better than in the pictures|they went out of their way to help|great value for money|I smiled the whole time|top quality|well done|we will be back soon|everybody was so kind|it saved me a lot of time|my new favourite|worth the wait|I have never slept so well|arrived a day early|the kids did not want to leave|could not ask for more|a joy to use|they fixed it within an hour|it tastes like at home|I have told all my friends about it
it is even better than the old one|I use it every day and love it|nothing to complain about|not a single problem so far|I was not disappointed|you will not regret it|they refunded me at once|it runs without a hitch|I laughed until I cried|we danced all night|no complaints|can't fault it|hats off|I feel much better now|ten out of ten|two thumbs up|simply the best|a dream come true|I am over the moon|big thanks to the crew""".replace("\n", "|").split("|")
BAD_PHRASES = """I want my money back|never again|a waste of money|it broke after two days|nobody helped us|we waited for an hour|I regret buying it|avoid this place|one star is too much|I was very disappointed|it stopped working|we left early|do not buy this|it gave me a headache|they ignored us
I will not come back|it fell apart|what a waste of time|I expected much more|the worst I have ever had|I had to throw it away|it ruined our evening|nothing worked|I fell asleep halfway|support never answered|we felt ignored|it was a nightmare|they lied to me|I am so angry|it arrived broken
save your money|I cannot stand it|this made me sick|what a mess|total disaster|I returned it the next day|still waiting for a refund|hated every second|it was all a lie|we got food poisoning|I would not recommend it|they never called back|half of it was missing|it is not worth the price|it smelled of smoke|the lights did not work|I had to ask three times|they charged me twice|we had to wait outside in the rain|nothing like the pictures|I couldn't sleep because of the noise|the delivery was two weeks late|not good at all|it did not work from the start
I will cancel my contract|they forgot our order|there was hair in my food|it crashes all the time|I am not happy with it|stay away|no one apologised|my money is gone|they hung up on me|it made everything worse|I want a refund|thumbs down|zero stars|it leaks everywhere|I felt cheated|we were let down|I wish I had never bought it|it burned my hand|the seats were torn|do not waste your time""".replace("\n", "|").split("|")
FLAT_PHRASES = """it arrived on {d}|the box contains two cables|we went there in {m}|it is made of {x}|the shop is in {c}|it has three buttons|the film lasts two hours|I ordered it last week|the hotel has forty rooms|it comes in {k} and {k2}|the meeting starts at nine|the menu has ten pages|I bought it for my brother
the office is on the second floor|it weighs two kilos|the train leaves from platform {n}|the book has {n} pages|the park closes at eight|it was delivered by post|there are two stations nearby|the manual is in English|the package was left at the door|she works on {d}|the museum is next to the town hall""".replace("\n", "|").split("|")
ASPECTS = {"restaurant": "soup pizza waiter service food dessert bread wine staff menu pasta steak table coffee fish meal chef salad atmosphere", "hotel": "room bed breakfast staff pool view bathroom receptionist lobby location shower pillow wifi balcony",
           "film": "plot actors ending music story dialogue film script cast jokes camera pictures scenes", "product": "battery screen handle sound box design material camera zipper keyboard quality motor cable lid price packaging", "book": "story characters ending cover plot style chapters language pictures",
           "app": "design update interface menu search login support layout speed sync", "shop": "staff prices delivery service choice cashier website parking", "trip": "guide bus weather food beach flight tour crew seats boat", "course": "teacher exercises videos material examples pace slides"}
ASPECTS = {k: v.split() for k, v in ASPECTS.items()}
ADVERBS = ["", "", "", "very ", "really ", "so ", "quite ", "absolutely ", "just ", "pretty ", "extremely ", "simply "]
MONTHS = KINDS["month"]
DAYS = KINDS["day of the week"]
SMALL = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split()


def in_words(n):
    """0 to 9999 in words."""
    if n < 20:
        return SMALL[n]
    if n < 100:
        return TENS[n // 10] + (f"-{SMALL[n % 10]}" if n % 10 else "")
    if n < 1000:
        return SMALL[n // 100] + " hundred" + (f" and {in_words(n % 100)}" if n % 100 else "")
    return in_words(n // 1000) + " thousand" + (f" {'and ' if n % 1000 < 100 else ''}{in_words(n % 1000)}" if n % 1000 else "")


def plural(noun):
    if noun in IRREGULAR_PLURALS:
        return IRREGULAR_PLURALS[noun]
    if noun.endswith(("s", "x", "ch", "sh", "z")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def article(noun):
    return ("an " if noun[0].lower() in "aeiou" else "a ") + noun


def of_kind(kind):
    return KINDS.get(kind) or [x for k in WIDER[kind] for x in KINDS[k]]


def kinds_of(word):
    return {k for k, v in KINDS.items() if word in v} | {k for k in WIDER if word in of_kind(k)}


def plural_kind(kind):
    return PLURALS.get(kind) or plural(kind)
