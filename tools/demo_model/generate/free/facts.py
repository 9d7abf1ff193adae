"""What anyone expects to be known, as tables; and what nobody can know here, which is answered with not knowing."""

from . import lexicon
from .tables.facts import TABLES
from .grammar import capital, typed

COUNTRIES = """France Paris French euro Europe|Germany Berlin German euro Europe|Italy Rome Italian euro Europe|Spain Madrid Spanish euro Europe|Portugal Lisbon Portuguese euro Europe|Poland Warsaw Polish zloty Europe|Austria Vienna German euro Europe|Switzerland Bern German franc Europe|the_Netherlands Amsterdam Dutch euro Europe
Belgium Brussels Dutch euro Europe|Denmark Copenhagen Danish krone Europe|Sweden Stockholm Swedish krona Europe|Norway Oslo Norwegian krone Europe|Finland Helsinki Finnish euro Europe|Greece Athens Greek euro Europe|Turkey Ankara Turkish lira Asia|Russia Moscow Russian ruble Europe|Ukraine Kyiv Ukrainian hryvnia Europe
Hungary Budapest Hungarian forint Europe|the_Czech_Republic Prague Czech koruna Europe|Ireland Dublin English euro Europe|England London English pound Europe|the_United_Kingdom London English pound Europe|Scotland Edinburgh English pound Europe|the_USA Washington English dollar North_America|the_United_States Washington English dollar North_America|Canada Ottawa English dollar North_America
Mexico Mexico_City Spanish peso North_America|Brazil Brasilia Portuguese real South_America|Argentina Buenos_Aires Spanish peso South_America|Chile Santiago Spanish peso South_America|Peru Lima Spanish sol South_America|Colombia Bogota Spanish peso South_America|Cuba Havana Spanish peso North_America|Japan Tokyo Japanese yen Asia|China Beijing Chinese yuan Asia
India New_Delhi Hindi rupee Asia|South_Korea Seoul Korean won Asia|Thailand Bangkok Thai baht Asia|Vietnam Hanoi Vietnamese dong Asia|Indonesia Jakarta Indonesian rupiah Asia|Israel Jerusalem Hebrew shekel Asia|Iran Tehran Persian rial Asia|Iraq Baghdad Arabic dinar Asia|Saudi_Arabia Riyadh Arabic riyal Asia
Egypt Cairo Arabic pound Africa|Morocco Rabat Arabic dirham Africa|Kenya Nairobi Swahili shilling Africa|Nigeria Abuja English naira Africa|South_Africa Pretoria English rand Africa|Australia Canberra English dollar Australia|New_Zealand Wellington English dollar Oceania|Iceland Reykjavik Icelandic krona Europe|Romania Bucharest Romanian leu Europe|Bulgaria Sofia Bulgarian lev Europe|Croatia Zagreb Croatian euro Europe|Serbia Belgrade Serbian dinar Europe"""
COUNTRIES = [tuple(x.replace("_", " ") for x in c.split()) for line in COUNTRIES.split("\n") for c in line.split("|")]
CITIES_IN = """Munich Germany|Hamburg Germany|Cologne Germany|Barcelona Spain|Seville Spain|Milan Italy|Venice Italy|Naples Italy|Lyon France|Marseille France|Nice France|Manchester England|Liverpool England|Zurich Switzerland|Geneva Switzerland|Krakow Poland|Porto Portugal|Rotterdam the_Netherlands|Istanbul Turkey|Kyoto Japan|Osaka Japan|Shanghai China|Mumbai India|Sydney Australia|Melbourne Australia
Toronto Canada|Vancouver Canada|New_York the_USA|Chicago the_USA|Los_Angeles the_USA|Boston the_USA|Rio_de_Janeiro Brazil|Cape_Town South_Africa|Bergen Norway|Gothenburg Sweden|Salzburg Austria""".replace("\n", "|")
CITIES_IN = [tuple(x.replace("_", " ") for x in c.split()) for c in CITIES_IN.split("|")]
ANIMALS = """dog puppy barks 4|cat kitten meows 4|cow calf moos 4|horse foal neighs 4|sheep lamb bleats 4|pig piglet oinks 4|goat kid bleats 4|duck duckling quacks 2|hen chick clucks 2|lion cub roars 4|bear cub growls 4|goose gosling honks 2|frog tadpole croaks 4|deer fawn - 4|kangaroo joey - 2|swan cygnet - 2|wolf cub howls 4|fox cub - 4|tiger cub roars 4|elephant calf - 4|spider - - 8|ant - - 6|bee - buzzes 6|fly - buzzes 6|beetle - - 6|snake - hisses 0|owl - hoots 2|donkey foal - 4|rooster - crows 2|octopus - - 8|butterfly caterpillar - 6|crab - - 10|eagle - - 2|mouse - squeaks 4"""
ANIMALS = [a.split() for a in ANIMALS.split("|")]
# question pattern => answer
FACTS = """(who wrote|author of|who is the author of) Romeo and Juliet[?] => William Shakespeare
(who wrote|author of) (Hamlet|Macbeth|Othello)[?] => William Shakespeare
(who wrote|author of) Faust[?] => Johann Wolfgang von Goethe
(who wrote|author of) Don Quixote[?] => Miguel de Cervantes
(who wrote|author of) (War and Peace|Anna Karenina)[?] => Leo Tolstoy
(who wrote|author of) [the] Harry Potter [books][?] => J. K. Rowling
(who wrote|author of) (The Lord of the Rings|The Hobbit)[?] => J. R. R. Tolkien
(who wrote|author of) (1984|Animal Farm)[?] => George Orwell
(who wrote|author of) Oliver Twist[?] => Charles Dickens
(who painted|painter of|who is the painter of) the Mona Lisa[?] => Leonardo da Vinci
(who painted|painter of) (the Starry Night|the Sunflowers)[?] => Vincent van Gogh
(who painted|painter of) Guernica[?] => Pablo Picasso
(who composed|who wrote) the (Ninth Symphony|Moonlight Sonata)[?] => Ludwig van Beethoven
(who composed|who wrote) (The Magic Flute|the Magic Flute)[?] => Wolfgang Amadeus Mozart
who (developed|came up with|discovered) the theory of relativity[?] => Albert Einstein
who (discovered|found) gravity[?] => Isaac Newton
who (discovered|found|came to) America [in 1492][?] => Christopher Columbus
(who was|name) the first (man|person|human|one) (on|to walk on) the moon[?] => Neil Armstrong
(who was|name) the first (man|person|human) in space[?] => Yuri Gagarin
who (invented|built) the (telephone|phone)[?] => Alexander Graham Bell
who (invented|made) the light bulb[?] => Thomas Edison
who (discovered|found) penicillin[?] => Alexander Fleming
(who was|name) the first president of the (USA|United States)[?] => George Washington
when did (the second world war|World War II|WW2|world war 2) end[?] => 1945
when did (the first world war|World War I|WW1) (begin|start)[?] => 1914
when did (the first world war|World War I) end[?] => 1918
(when|in which year) did the Berlin Wall fall[?] => 1989
(when|in which year) did (people|humans|man) [first] land on the moon[?] => 1969
(what|which) is the (largest|biggest|widest) ocean[?]|(name|tell me) the (largest|biggest) ocean|biggest ocean[?] => The Pacific Ocean
(what|which) is the (largest|biggest) (continent|continent on earth)[?]|(name the |)(largest|biggest) continent[?] => Asia
(what|which) is the smallest continent[?] => Australia
(what|which) is the (largest|biggest) country [(in the world|on earth|by area)][?] => Russia
(what|which) is the smallest country [in the world][?] => Vatican City
(what|which) is the (highest|tallest) mountain [(in the world|on earth)][?]|(tallest|highest) mountain [in the world][?]|name the (highest|tallest) mountain => Mount Everest
(what|which) is the longest river [in (the world|Africa)][?] => The Nile
(what|which) is the (largest|biggest) desert [in Africa][?] => The Sahara
(what|which) is the (largest|biggest) planet [in the solar system|of all][?]|largest planet[?] => Jupiter
(what|which) is the smallest planet[?] => Mercury
(which|what) planet (is|lies) (closest|nearest) to the sun[?] => Mercury
(which|what) planet is (red|called the red planet)[?]|(what|which) is the red planet[?] => Mars
(which|what) planet has [the big] rings[?] => Saturn
(which|what) planet do we live on[?]|(what is|name) our planet [called][?]|what planet are we on[?] => Earth
how many planets (are there|does the solar system have|are in the solar system)[?] => 8
how many continents (are there|does the earth have)[?]|number of continents[?] => 7
how many oceans are there[?] => 5
how many moons does [the] earth have[?] => 1
is the sun a (star or a planet|planet or a star|planet|star)[?] => The sun is a star.
(what is|what's) the (closest|nearest) star [to (us|the earth)][?] => The sun
(what does|around what does) the earth (turn|go|orbit) around[?]|what does the earth (orbit|circle)[?] => The sun
what (orbits|goes around|circles) the earth[?] => The moon
(where|in which direction) does the sun rise[?]|the sun rises in the (what|...)[?] => In the east
(where|in which direction) does the sun set[?] => In the west
(at (what|which) temperature|when|at how many degrees) does water boil[?]|(what is the|) boiling point of water[?] => 100 degrees Celsius
(at (what|which) temperature|when|at how many degrees) does water freeze[?]|(what is the|) freezing point of water[?] => 0 degrees Celsius
(what is|what's) H2O[?]|H2O is (what|...)[?]|what does H2O stand for[?] => Water
(what is|what's) the (chemical|) (formula|symbol) (of|for) water[?] => H2O
(what is|what's) CO2[?] => Carbon dioxide
(what is|what's) NaCl[?] => Salt
(what is|what's) the [chemical] symbol (of|for) gold[?] => Au
(what is|what's) the [chemical] symbol (of|for) iron[?] => Fe
(what is|what's) the [chemical] symbol (of|for) oxygen[?] => O
(what is|what's) the [chemical] symbol (of|for) silver[?] => Ag
(what is|what is|what's) ice made of[?]|(what do you get|what happens) when water freezes[?] => Water freezes to ice.
(what (gas|do)|which gas do) (people|we|humans|animals) (breathe|need to breathe)[?] => Oxygen
(what|which gas) do plants (give off|make|produce)[?] => Oxygen
what do (plants|trees) need to (grow|live)[?] => Water, light and air
what do bees (make|produce)[?]|who makes honey[?]|where does honey come from[?] => Bees make honey.
what do cows (give|produce)[?]|where does milk come from[?] => Cows give milk.
what do (hens|chickens) lay[?] => Eggs
what do (sheep|lambs) give us[?]|where does wool come from[?] => Sheep give wool.
what is (bread|flour) made (of|from)[?] => Flour is made of grain, bread of flour, water and yeast.
what is (cheese|butter) made (of|from)[?] => Milk
what is paper made (of|from)[?] => Wood
what is glass made (of|from)[?] => Sand
what is wine made (of|from)[?] => Grapes
what (is|are) chocolate made (of|from)[?] => Cocoa beans
what is the (fastest|quickest) (land animal|animal on land)[?] => The cheetah
what is the (largest|biggest) animal [(on earth|in the world)][?] => The blue whale
what is the (tallest|highest) animal[?]|which animal has the longest neck[?] => The giraffe
(what|which animal) is the king of the (jungle|animals)[?] => The lion
is a (whale|dolphin) a fish[?] => No, it is a mammal.
is a (bat|penguin) a bird[?] => A bat is a mammal, a penguin is a bird.
is a tomato a fruit or a vegetable[?] => A tomato is a fruit, though it is used as a vegetable.
can (penguins|ostriches) fly[?] => No
can (fish|fishes) breathe under water[?] => Yes
is (fire|the sun|lava|boiling water) (hot|warm)[?] => Yes
is (ice|snow) (cold|warm or cold)[?] => Ice and snow are cold.
(is the earth|is our planet) (flat|round)[?]|what shape is the earth[?] => The earth is round.
is the (sky|ocean|sea) blue[?] => Yes
what color is (the sky|the sea|the ocean)[?]|what colour is the sky[?] => Blue
what color is (grass|a leaf|a frog)[?] => Green
what color is (snow|milk|sugar|salt)[?] => White
what color is (blood|a tomato|a strawberry|a fire engine)[?] => Red
what color is (the sun|a banana|a lemon)[?] => Yellow
what color is (coal|the night|tar)[?] => Black
what color is chocolate[?] => Brown
(what (do you get|color do you get)|which color comes out) (when you mix|from|if you mix) (blue and yellow|yellow and blue)[?]|blue (plus|and) yellow (makes|is|gives) (what|...)[?] => Green
(what (do you get|color do you get)|which color comes out) (when you mix|from|if you mix) (red and yellow|yellow and red)[?]|red (plus|and) yellow (makes|gives) what[?] => Orange
(what (do you get|color do you get)|which color comes out) (when you mix|from|if you mix) (red and blue|blue and red)[?]|blue (plus|and) red (makes|gives) what[?] => Purple
(what (do you get|color do you get)) (when you mix|from) (black and white|white and black)[?] => Grey
(what (do you get|color do you get)) (when you mix|from) (red and white|white and red)[?] => Pink
how many colors (does the|are in the|has the) rainbow [have][?] => 7
how many days (are (in|there in)|has|does) (a|one) week [have][?] => 7
how many days (are (in|there in)|has|does) (a|one) year [have][?]|days in a year[?] => 365
how many days (are in|has|does) a leap year [have][?] => 366
how many hours (are (in|there in)|has|does) (a|one) day [have][?]|hours in a day[?] => 24
how many minutes (are (in|there in)|has|does) (an|one) hour [have][?]|minutes in an hour[?] => 60
how many seconds (are (in|there in)|has|does) (a|one) minute [have][?]|seconds in a minute[?] => 60
how many weeks (are (in|there in)|has|does) (a|one) year [have][?] => 52
how many months (are (in|there in)|has|does) (a|one) year [have][?] => 12
how many seasons (are there|has a year)[?] => 4
how many years (are in|has|is) (a|one) century[?] => 100
how many years (are in|has|is) (a|one) decade[?] => 10
how many (items|eggs|pieces) (are in|make|is) a dozen[?] => 12
how many letters (are in|has|does) the [English] alphabet [have][?] => 26
(what is|what's) the first letter (of|in) the alphabet[?] => A
(what is|what's) the last letter (of|in) the alphabet[?] => Z
(what are|name|list) the vowels[?] => A, E, I, O and U
how many fingers (does a (person|human|hand) have|do people have|are on (one|two) (hand|hands))[?] => Five on each hand, ten in all
how many (eyes|ears|hands|legs|arms) does a (person|human) have[?] => 2
how many (teeth) does an adult have[?] => 32
(what|which organ) (pumps|moves) (the|our) blood[?] => The heart
(what|which organ) do (we|people) (think|think with)[?] => The brain
(what|which organ) do we (breathe|breathe with)[?] => The lungs
what do (we|people) (see|see with)[?] => The eyes
what do (we|people) (hear|hear with)[?] => The ears
what do (we|people) (smell|smell with)[?] => The nose
(what|which) season (comes after|follows) winter[?] => Spring
(what|which) season (comes after|follows) spring[?] => Summer
(what|which) season (comes after|follows) summer[?] => Autumn
(what|which) season (comes after|follows) (autumn|fall)[?] => Winter
(what|which) is the (coldest|hottest) season[?] => Winter is the coldest season, summer the hottest.
(what are|name|list) the [four] seasons[?] => Spring, summer, autumn and winter
(what are|name|list) the days of the week[?] => Monday, Tuesday, Wednesday, Thursday, Friday, Saturday and Sunday
(what are|name|list) the primary colors[?] => Red, yellow and blue
(what is|what's) the first month [of the year][?] => January
(what is|what's) the last month [of the year][?] => December
(what is|what's) the shortest month[?] => February
(when|on which day) is Christmas[?] => On December 25
(when|on which day) is (New Year|New Year's Day)[?] => On January 1
(when|on which day) is (New Year's Eve)[?] => On December 31
(when|on which day) is Halloween[?] => On October 31
how many sides (has|does) a (triangle) [have][?] => 3
how many sides (has|does) a (square|rectangle) [have][?] => 4
how many sides (has|does) a pentagon [have][?] => 5
how many sides (has|does) a hexagon [have][?] => 6
how many degrees (has|does|are in) a (circle) [have][?] => 360
how many degrees (has|does|are in) a right angle [have][?] => 90
(what is|what's) pi[?]|value of pi[?] => About 3.14159
how many wheels (has|does) a (car) [have][?] => 4
how many wheels (has|does) a (bike|bicycle|motorcycle) [have][?] => 2
how many wheels (has|does) a tricycle [have][?] => 3
how many strings (has|does) a (guitar) [have][?] => 6
how many strings (has|does) a violin [have][?] => 4
how many players (are in|has|does) a (football|soccer) team [have][?] => 11
how many players (are in|has|does) a basketball team [have][?] => 5
how many cards (are in|has|does) a [normal] deck [have][?] => 52
how many squares (are on|has|does) a chess board [have][?] => 64
(what is|what's) a (doctor|nurse)[?] => Somebody who helps sick people.
(what is|what's) a (baker)[?]|who bakes bread[?] => Somebody who bakes bread.
who (flies|steers) (a plane|planes)[?] => A pilot
who (repairs|fixes) cars[?] => A mechanic
who (puts out|fights) fires[?] => Firefighters
who (teaches|works with pupils) [at school][?] => Teachers
who (treats|looks after) teeth[?] => A dentist
who (treats|looks after) (sick animals|animals)[?] => A vet
where do (fish|fishes) live[?] => In water
where do (penguins) live[?] => In Antarctica
where do (kangaroos|koalas) live[?] => In Australia
where do (polar bears) live[?] => In the Arctic
where do (lions|giraffes|zebras) live[?] => In Africa
what do (pandas) eat[?] => Bamboo
what do (cows|horses|sheep) eat[?] => Grass
what do (rabbits) eat[?] => Grass and carrots
what do (cats) (eat|hunt)[?] => Mice, fish and meat
what do (caterpillars) (become|turn into)[?] => Butterflies
what do (tadpoles) (become|turn into)[?] => Frogs
where (is|stands) the Eiffel Tower[?]|(in|) which city is the Eiffel Tower in?[?] => In Paris
where (is|stands) (Big Ben|Tower Bridge)[?] => In London
where (is|stands) the Colosseum[?] => In Rome
where (is|stands) the Statue of Liberty[?] => In New York
where (is|are) the pyramids [of Giza][?] => In Egypt
where is the Great Wall[?] => In China
where is the Taj Mahal[?] => In India
where is the (Brandenburg Gate)[?] => In Berlin
where is the (Acropolis)[?] => In Athens
where is the (Kremlin)[?] => In Moscow
where is the (Louvre)[?] => In Paris
where is the (Golden Gate Bridge)[?] => In San Francisco
where is the White House[?] => In Washington
what (is|does) (the|a) thermometer (for|measure)[?] => Temperature
what (is|does) (the|a) clock (for|show|measure)[?] => Time
what do you (use|need) (to write|for writing)[?] => A pen or a pencil
what do you (use|need) (to cut paper|for cutting paper)[?] => Scissors
what do you (use|need) (when it rains|in the rain)[?] => An umbrella
what is (heavier), a (kilo|kilogram) of feathers or a (kilo|kilogram) of (iron|steel|lead)[?] => Both weigh the same.
(what is|what's) bigger, the sun or the (earth|moon)[?] => The sun
(what is|what's) faster, (light or sound|sound or light)[?]|is light faster than sound[?] => Light
(what is|what's) bigger, an (elephant or a mouse|ant or an elephant)[?] => An elephant
what is the opposite of north[?] => South
(what are|name) the [four] (compass directions|directions)[?] => North, south, east and west
(what does|what is) (www|WWW) [stand for|mean][?] => World Wide Web
(what does|what is) (CPU) [stand for|mean][?] => Central processing unit
(what does|what is) (GPU) [stand for|mean][?] => Graphics processing unit
(what does|what is) (RAM) [stand for|mean][?] => Random access memory
(what does|what is) (HTML) [stand for|mean][?] => HyperText Markup Language
(what does|what is) (URL) [stand for|mean][?] => Uniform Resource Locator
(what does|what is) (AI) [stand for|mean][?] => Artificial intelligence
(what does|what is) (USB) [stand for|mean][?] => Universal Serial Bus
(what does|what is) (asap|ASAP) [stand for|mean][?] => As soon as possible
(what does|what is) (fyi|FYI) [stand for|mean][?] => For your information
how many bits (are in|has|is) a byte[?] => 8
how many (meters|metres) (are in|has) a (kilometer|kilometre)[?] => 1000
how many (grams) (are in|has) a (kilogram|kilo)[?] => 1000
how many (centimeters|cm) (are in|has) a (meter|metre)[?] => 100
how many cents (are in|has) a (dollar|euro)[?] => 100
(what (language|) do people speak|which language is spoken) in the (USA|UK|United States)[?] => English
what (is|'s) the capital of (Europe|Africa|Asia)[?] => A continent has no capital.
(what is|what's) the (plural|plural form) of (mouse)[?] => mice
(what is|what's) the past (tense|) of go[?] => went
(who is|who was) (Albert Einstein)[?] => A physicist who developed the theory of relativity.
(who is|who was) (Mozart|Wolfgang Amadeus Mozart)[?] => A composer from Austria.
(who is|who was) (Shakespeare|William Shakespeare)[?] => An English writer of plays.
(who is|who was) (Napoleon)[?] => An emperor of France.
(who is|who was) (Cleopatra)[?] => A queen of Egypt.
(who is|who was) (Leonardo da Vinci)[?] => An Italian painter and inventor.
(who is|who was) (Marie Curie)[?] => A scientist who studied radioactivity.
(who is|who was) (Santa Claus)[?] => The man who brings presents at Christmas.
what is (rain)[?]|why does it rain[?] => Water that falls from clouds.
what is (snow)[?] => Frozen water that falls from clouds.
what is (a rainbow)[?] => Colors in the sky when the sun shines through rain.
what is (gravity)[?] => The force that pulls things down to the earth.
what is (photosynthesis)[?] => Plants make sugar and oxygen from light, water and carbon dioxide.
what is (a volcano)[?] => A mountain from which lava comes.
what is (an island)[?] => Land with water all around it.
what is (a desert)[?] => A dry place with little rain.
what is (a computer)[?] => A machine that works with data by programs.
what is (the internet)[?] => A network that connects computers all over the world.
what is (a noun)[?] => A word for a person, place or thing.
what is (a verb)[?] => A word for an action.
what is (an adjective)[?] => A word that describes a noun.
what is (a prime number)[?] => A number that only 1 and itself divide.
is (7|11|13|17|19|23) a prime [number][?] => Yes
is (8|9|12|15|21|25) a prime [number][?] => No
what is (a mammal)[?] => An animal that feeds its young with milk.
what (is|are) (a vegetarian|vegetarians)[?] => Somebody who eats no meat.
(how old do you have to be|at what age may you) to vote in (Germany|the USA)[?] => 18
in (which|what) hemisphere is (Europe|Germany)[?] => The northern hemisphere
how (far|long) is a marathon[?] => About 42 kilometres
how long (is|takes) a football match[?] => 90 minutes
what is the currency of (Europe|the EU|the euro zone)[?] => The euro
who is (the|) (Mickey Mouse)[?] => A cartoon mouse by Disney.
which (animal|bird) is (a symbol of|known for) (peace)[?] => The dove
what do you say when (somebody|someone) sneezes[?] => Bless you!
what (can|do) you put (on|into) (bread|a sandwich)[?] => Butter, cheese or jam"""
FACTS = [tuple(line.split(" => ")) for line in FACTS.split("\n")]

DONT = ["I do not know that.", "I do not know.", "I do not know that, sorry.", "Sorry, I do not know."]


def finish(question, reasoning, answer, check=None):
    return question, reasoning, answer, check or {"equals": answer}


def country(w):
    name, capital_, language, money, continent = w.any(*COUNTRIES)
    kind = w.rng.choices((0, 1, 2, 3, 4), (16, 3, 3, 2, 3))[0]
    if kind == 0:
        return finish(typed(w, "(what is|what's|tell me|name|do you know|which city is) the capital [city] of {x}[?]|capital of {x}[?]|{x}'s capital[?]|{x} - capital[?]|(what|which) is {x}'s capital [city]?|the capital of {x} is (what|which)[?]|do you happen to know the capital of {x}?", x=name), f"Capital of {name}: {capital_}.", capital_)
    if kind == 1:
        return finish(typed(w, "(what|which) language (do (people|they) speak|is spoken|do you speak) in {x}[?]|language of {x}[?]|what do people in {x} speak?", x=name), f"Language of {name}: {language}.", language)
    if kind == 2:
        return finish(typed(w, "(what|which) (currency|money) (is used|do (they|people) (use|have)|do you pay with) in {x}[?]|(what is the |)currency of {x}[?]|how do you pay in {x}, which currency?", x=name), f"Money of {name}: {money}.", f"The {money}")
    if kind == 3:
        return finish(typed(w, "(on|in) (which|what) continent is {x}[?]|where is {x}, which continent?|which continent (does {x} belong to|is {x} on)[?]|continent of {x}?", x=name), f"{capital(name)} is in {continent}.", continent)
    if w.chance(0.5):
        return finish(typed(w, "(in|) (which|what) country is {x} [in][?]|where is {x}[?]|{x} is in (which|what) country[?]|{x} is the capital of (what|which country)[?]", x=capital_), f"{capital_} is in {name}.", capital(name))
    city, where = w.any(*CITIES_IN)
    return finish(typed(w, "(in|) (which|what) country is {x} [in][?]|where is {x}[?]|{x} is in (which|what) country[?]|what country does {x} belong to?", x=city), f"{city} is in {where}.", capital(where))


def animal(w):
    name, young, sound, legs = w.any(*ANIMALS)
    kind = w.number(0, 3)
    if kind == 0 and young != "-":
        return finish(typed(w, "(what do you call|what is|what's the name of|name for) a (baby|young|little) {x} [called][?]|(baby|young) {x} (is called what|name)[?]|(how is|what is) the young of a {x} called?", x=name), f"A young {name}: {young}.", capital(lexicon.article(young)))
    if kind == 1 and sound != "-":
        base = sound[:-1] if not sound.endswith("oes") else sound
        return finish(typed(w, "what (sound|noise) does (a|the) {x} make[?]|what does (a|the) {x} say[?]|(sound|noise) of a {x}[?]|how does a {x} sound?", x=name), f"A {name} {sound}.", f"It {sound}.") if w.chance(0.5) else finish(typed(w, "(which|what) animal {s}[?]|(which animal|who) (says|goes) {b}[?]|what animal (says|makes) {b}[?]", s=sound, b=base), f"A {name} {sound}.", f"A {name}" if sum(a[2] == sound for a in ANIMALS) == 1 else " or ".join(lexicon.article(a[0]) for a in ANIMALS if a[2] == sound).capitalize())
    if kind == 2:
        return finish(typed(w, "how many legs (does|has) (a|an) {x} [have][?]|number of legs of a {x}[?]|{x}: how many legs[?]|legs of a {x}[?]", x=name).replace(" a ant", " an ant"), f"{capital(lexicon.article(name))} has {legs} legs.", legs)
    a = w.any(*[a for a in ANIMALS if a[3] == "4"])[0]
    asked = typed(w, "(can|does) (a|an) {x} (fly|have wings)[?]", x=name)
    flies = name in ("duck", "goose", "bee", "fly", "owl", "eagle", "butterfly", "swan", "beetle")
    if name in ("hen", "rooster", "ant") or a is None:
        return animal(w)
    return finish(asked, f"A {name} {'has' if flies else 'has no'} wings.", "Yes" if flies else "No")


def fact(w):
    question, answer = w.any(*FACTS)
    return finish(typed(w, question), "I know that: " + (answer if answer.endswith(".") else answer + "."), answer)



def related(w):
    """A pair of tables/facts.py, each as likely as another."""
    pattern, pairs = w.rng.choices(TABLES, [len(pairs) for _, pairs in TABLES])[0]
    x, answer = w.any(*pairs)
    question = typed(w, pattern, x=x.lower() if w.chance(0.2) else x)
    return finish(capital(question) if w.chance(0.4) else question, "I know that: " + (answer if answer.endswith(".") else answer + "."), answer)


UNKNOWN = """(who won|who lost) the (national|world|city|youth|local) (badminton|chess|curling|rowing|football|tennis|handball) (cup|final|championship) [of {c}] in {y}[?]
(what is|what's|how big is) the population of {v}[?]
how many (people|inhabitants) (live in|has) {v}[?]
how (tall|old|rich|heavy) is (my (neighbour|boss|teacher|sister|landlord)|{p}|the mayor of {v})[?]
(what's|what is) on (TV|the radio|at the cinema) (tonight|today|tomorrow)[?]
(what is|tell me) the (maiden|second) name of (the founder of {v}|{p}|the mayor of {v})[?]
what did (I|we|my wife|{p}) (have for (breakfast|dinner)|do (yesterday|last week)|buy|say)[?]
(which|what) year was the (treaty|battle|peace|council) of {v} (signed|fought|held)[?]
(what is|what's) the [current] price of (gold|oil|bitcoin|wheat|a {n})[?]
who is the (mayor|king|president|bishop|coach) of {v} [(right now|today|at the moment)][?]
(who|which country) (discovered|founded|built) {v}[?]
(what happens in|how does) (the (film|book|play) |)'{T}' by {p} [end]
(what is|tell me) my (password|pin|phone number|birthday|address|favourite food|shoe size|name)[?]
how many (goals|points|games) did {p} score for {v} in {y}[?]
(what will|how will) the weather (be|look) (next month|in {v} next week|at Christmas|tomorrow)[?]
(what is|what's) the (chemical formula|melting point|molar mass|boiling point) of {x}[?]
who (wrote|directed|composed|painted|invented|recorded) [the] '{T}'[?]
when was {p} born[?]
where does {p} live[?]
(how far|how long) is it from {v} to {v2}[?]
what (is|was) the score of the game [(yesterday|last night)][?]
(what are|tell me) the (lottery numbers|winning numbers) [(of|for) (today|{d})][?]
(what is|what's) the (stock|share) price of {C}[?]
who (is the (ceo|boss|founder) of|founded|owns) {C}[?]
(how many employees|when was|what does) {C} (have|founded|make)[?]
what (happened|is happening|is going on) (in {v}|today|in the news)[?]
(who will|which party will) win the (next|coming) (election|world cup)[?]
(what is|what's) the (phone number|email|opening time) of (the {n} shop|{p}|the town hall in {v})[?]
what did {p} (say|write|mean) (in {y}|about {n})[?]
(what|which) (color|colour) is (my (car|shirt|house)|the door of {p})[?]
where (did I leave|are) my (keys|glasses|shoes|phone)[?]
how many (stars|grains of sand|hairs|ants) are there [exactly][?]
(is|will) {p} (at home|rich|famous|come)[?]
(what time|when) does the (train|bus|shop|flight) [to {v}] (leave|open|arrive)[?]
(translate|what does) '{x}' (into|mean in) (Klingon|Swahili|Basque|{v}ish)[?]
(what is|tell me) the (history|origin|story) of {v}[?]
(give me|tell me) (the biography of|something about) {p}
who was {p}[?]
what is (a|the) {x}[?]
(what's|what is) the (meaning of|secret of) {x}[?]
how does the {x} (engine|method|law|theorem) work[?]
which (river|road|mountain) (runs through|leads to|is near) {v}[?]""".split("\n")


def unknown(w):
    pattern = w.any(*UNKNOWN)
    pretend = capital(w.fresh()) + w.any("", "", "burg", "ton", "ville", " Bay", "heim", "ovo")
    question = typed(w, pattern, c=w.any(*lexicon.KINDS["country"]), y=w.number(1200, 2024), v=pretend, v2=capital(w.fresh()), p=f"{w.first_name()} {capital(w.fresh())}", n=w.noun(), T=f"The {capital(w.adjective())} {capital(w.noun())}", x=w.fresh(), d=w.any(*lexicon.DAYS), C=capital(w.fresh()) + w.any("", " Inc", " Ltd", "soft"))
    return finish(capital(question) if w.chance(0.5) else question, w.any("I cannot know that.", "This is not something I know.", "I do not know this, and I should not guess."), w.any(*DONT), {"one_of": DONT})


TASKS = {country: 24, animal: 9, fact: 34, related: 44, unknown: 24}


def question_of(w):
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)
