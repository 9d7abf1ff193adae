"""Tables of basics.py."""

LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
SETS = [("the days of the weekend|both days of the weekend|the weekend days", ["Saturday", "Sunday"]), ("the [four] seasons|the seasons of the year|all seasons", ["spring", "summer", "autumn", "winter"]), ("the days of the week|all weekdays from Monday to Sunday|the seven days of a week", ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]),
        ("the working days|the days from Monday to Friday", ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]), ("the months of the year|all twelve months|the months", ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]), ("the months with 30 days|all months that have 30 days", ["April", "June", "September", "November"]),
        ("the first three months|the first three months of the year", ["January", "February", "March"]), ("the last three months|the last three months of the year", ["October", "November", "December"]), ("the summer months|the months of summer", ["June", "July", "August"]), ("the winter months|the months of winter", ["December", "January", "February"]), ("the primary colours|the three primary colours", ["red", "yellow", "blue"]),
        ("the colours of a traffic light|the colours of traffic lights", ["red", "yellow", "green"]), ("the [four] directions|the points of the compass|the four directions", ["north", "east", "south", "west"]), ("the vowels|the vowels of the alphabet", ["a", "e", "i", "o", "u"]), ("the even numbers from 2 to 10|the even numbers up to 10", ["2", "4", "6", "8", "10"]), ("the odd numbers below 10|the odd digits", ["1", "3", "5", "7", "9"]),
        ("the planets|the eight planets|the planets of the solar system", ["Mercury", "Venus", "Earth", "Mars", "Jupiter", "Saturn", "Uranus", "Neptune"]), ("the continents|all continents", ["Africa", "Antarctica", "Asia", "Australia", "Europe", "North America", "South America"]), ("the oceans|the five oceans", ["Pacific", "Atlantic", "Indian", "Southern", "Arctic"]), ("the five senses|the senses", ["sight", "hearing", "smell", "taste", "touch"]), ("the meals of the day|the three meals", ["breakfast", "lunch", "dinner"]),
        ("the fingers of a hand|the five fingers", ["thumb", "index finger", "middle finger", "ring finger", "little finger"]), ("the states of water|the three states of water", ["ice", "water", "steam"]), ("the suits of a card game|the four card suits", ["clubs", "diamonds", "hearts", "spades"]), ("the chess pieces|the kinds of chess pieces", ["king", "queen", "rook", "bishop", "knight", "pawn"]), ("the first five letters|the first five letters of the alphabet", ["A", "B", "C", "D", "E"])]
SETS = [(names.replace("[four] ", ""), items) for names, items in SETS]
COMPARED = [("taller", "shorter", "tallest", "shortest"), ("older", "younger", "oldest", "youngest"), ("heavier", "lighter", "heaviest", "lightest"), ("faster", "slower", "fastest", "slowest"), ("richer", "poorer", "richest", "poorest"), ("stronger", "weaker", "strongest", "weakest"), ("bigger", "smaller", "biggest", "smallest"), ("louder", "quieter", "loudest", "quietest")]
RANKS = [("oldest", "youngest", ""), ("heaviest", "lightest", " kg"), ("tallest", "shortest", " cm"), ("slowest", "fastest", " s"), ("dearest", "cheapest", " euros"), ("most points", "fewest points", ""), ("longest", "shortest", " m"), ("hottest", "coldest", " degrees"), ("best", "worst", " points"), ("strongest", "weakest", " kg")]
YES_NO = """is ice cold => Yes ; is fire hot => Yes ; is the sun hot => Yes ; is snow warm => No, it is cold ; can fish swim => Yes ; can (fish|a fish) walk => No ; can dogs fly => No ; can a bird fly|can birds fly => Yes, most of them ; can penguins fly => No ; is water wet => Yes ; is a stone soft => No, it is hard ; is milk white => Yes ; is grass blue => No, it is green ; is the sky green => No, it is blue ; is a lemon sour => Yes ; is sugar (sour|salty) => No, it is sweet ; is salt sweet => No ; is honey sweet => Yes ; does the sun rise in the west => No, in the east ; does the sun set in the west => Yes ; does it get dark at night => Yes
do (cats|dogs) have tails => Yes, most of them ; do snakes have legs => No ; do spiders have eight legs => Yes ; do (cows|sheep) eat grass => Yes ; do lions eat grass => No, they eat meat ; do cows lay eggs => No ; do hens lay eggs => Yes ; do bees make honey => Yes ; do fish (need|breathe in) water => Yes ; do whales lay eggs => No ; do trees have leaves => Yes, most of them ; do plants need light => Yes ; do people have wings => No ; do babies have beards => No ; can people breathe under water => No ; do humans need sleep => Yes ; do cars need (fuel or electricity|energy) => Yes
is winter colder than summer => Yes, in most places ; is a mouse bigger than an elephant => No ; is an elephant bigger than a mouse => Yes ; is a kilo heavier than a gram => Yes ; is a kilometre longer than a metre => Yes ; is a minute longer than an hour => No ; is a day longer than a week => No ; is a year longer than a month => Yes ; is ten more than five => Yes ; is 3 more than 8 => No ; is zero an even number => Yes ; is seven an even number => No ; is nine an odd number => Yes ; is Monday (part of|in) the weekend => No ; is Sunday (part of|in) the weekend => Yes ; has February 30 days|does February have 30 days => No ; does a week have seven days => Yes ; does a year have ten months => No, it has twelve ; is Christmas in December => Yes ; is Christmas in summer in Europe => No
is a rose a flower => Yes ; is a carrot a fruit => No, it is a vegetable ; is an apple a fruit => Yes ; is a potato a vegetable => Yes ; is a cow an animal => Yes ; is a table an animal => No ; is a hammer a tool => Yes ; is a violin an instrument => Yes ; is red a colour => Yes ; is a bee an insect => Yes ; is a frog a bird => No ; is a duck a bird => Yes ; is a crocodile a mammal => No, it is a reptile ; is a cat a mammal => Yes ; is the moon a star => No ; is the earth (flat|a disc) => No, it is round ; is the earth round => Yes ; does the earth turn around the sun => Yes ; does the sun turn around the earth => No ; is there air on the moon => No
is iron a metal => Yes ; is wood a metal => No ; is glass made of sand => Yes ; does wood float => Yes, mostly ; does a stone float => No ; does iron rust => Yes ; does oil mix with water => No ; can you see in total darkness => No ; can one cut paper with scissors => Yes ; can you eat stones => No ; can (we|people) live without water => No ; is smoking healthy => No ; are vegetables healthy => Yes ; is a bicycle faster than a plane => No ; is a train faster than a bicycle => Yes, mostly ; does a bicycle have two wheels => Yes ; does a car have wings => No ; do you boil eggs in water => Yes ; is bread made of flour => Yes ; is cheese made of milk => Yes ; is butter made of water => No ; is tea a drink => Yes
is Berlin in Germany => Yes ; is Madrid in Italy => No, in Spain ; is London the capital of France => No, of England ; is Tokyo in Japan => Yes ; is Cairo in Asia => No, in Africa ; is Brazil in South America => Yes ; is India in Europe => No, in Asia ; is Canada bigger than Italy => Yes ; is Italy shaped like a boot => Yes ; do people in Spain speak Spanish => Yes ; do people in Brazil speak Spanish => No, they speak Portuguese ; is the Nile a river => Yes ; is Everest a lake => No, a mountain ; is the Atlantic an ocean => Yes ; is Iceland an island => Yes ; is Switzerland on the sea => No"""
YES_NO = [tuple(x.strip() for x in part.split("=>")) for line in YES_NO.split("\n") for part in line.split(" ; ")]
MORE_FACTS = """(in (which|what) season|when) does it snow[?] => In winter
(in (which|what) season|when) do [the] leaves fall[?] => In autumn
(in (which|what) season|when) do flowers (bloom|come out)[?] => In spring
(in (which|what) season|when) is it hottest[?]|the hottest season? => In summer
(which|what) season (comes after|follows) winter[?] => Spring
(which|what) season (comes after|follows) summer[?] => Autumn
(which|what) season comes before winter[?] => Autumn
(which|what) season comes before summer[?] => Spring
(which|what) is the (hottest|warmest) season[?] => Summer
(which|what) is the coldest season[?] => Winter
what do cows drink[?] => Water
what do (cows|sheep|horses) eat[?] => Grass
what do cows give us[?] => Milk
what do (cats|lions) eat[?] => Meat
what do (rabbits|hares) eat[?] => Grass and vegetables
what do (pandas) eat[?] => Bamboo
what do (bees|butterflies) drink[?] => Nectar
what do (monkeys) like to eat[?] => Bananas and other fruit
(why is|what makes) [the] grass green[?]|why are leaves green[?] => Because of chlorophyll, a green dye.
why is snow white[?] => Because it reflects all colours of light.
why (is|are) (blood|our blood) red[?] => Because of the iron in it.
why do we (eat|need food)[?] => Food gives the body energy.
why do we (drink|need water)[?] => The body is mostly water and loses some all the time.
why do we (wear|need) (clothes|coats)[?] => They keep us warm and dry.
why does (it get dark|night come)[?] => Because the earth turns away from the sun.
why do (birds) have wings[?] => To fly.
why do (fish) have gills[?] => To breathe in water.
why does wood burn[?] => It contains carbon, which burns with the oxygen of the air.
why do cats have whiskers[?] => To feel what is around them.
why do onions make us cry[?] => Cutting them sets free a gas that stings in the eyes.
why do (we|people) cook [food][?] => It becomes softer, safer and easier to digest.
why do (metals|things) rust[?] => Iron rusts when water and air reach it.
where (do|does) (rain|the rain) come from[?] => From clouds
where does (milk) come from[?] => From cows
where do (eggs) come from[?] => From hens
where does (wood) come from[?] => From trees
where do (fish) live[?] => In water
where do (penguins) live[?] => In the south, mostly in Antarctica
where do (polar bears) live[?] => In the Arctic
where do (kangaroos|koalas) live[?] => In Australia
where do you (buy|get) bread[?] => At a bakery
where do you (buy|get) (medicine|pills)[?] => At a pharmacy
where (do you|can I) (borrow|lend) books[?] => At a library
where do (planes) land[?] => At an airport
where do you keep (milk|butter)[?] => In the fridge
who (flies|steers) a plane[?] => A pilot
who (puts out|fights) fires[?] => Firefighters
who (bakes) bread[?] => A baker
who (repairs|fixes) teeth[?] => A dentist
who teaches (children|pupils)[?] => A teacher
who (cures|treats) (sick people|the sick)[?] => A doctor
who (cures|treats) (animals|sick animals)[?] => A vet
who grows (vegetables|grain)[?] => A farmer
who (catches) thieves[?] => The police
what is (bread) made (of|from)[?] => Flour, water and yeast
what is (a snowman) made (of|from)[?] => Snow
what is (a window) made (of|from)[?] => Glass
what is (jam|marmalade) made (of|from)[?] => Fruit and sugar
what is (ice cream) made (of|from)[?] => Milk, cream and sugar
what is (a tyre) made (of|from)[?] => Rubber
what is (a book) made (of|from)[?] => Paper
what is (ketchup) made (of|from)[?] => Tomatoes
what is (popcorn) made (of|from)[?] => Corn
what is (beer) made (of|from)[?] => Water, malt, hops and yeast
what is (yoghurt) made (of|from)[?] => Milk
what is (wool) made (of|from)[?]|where do we get wool[?] => It comes from sheep
what is (silk) made (of|from)[?] => Threads of silkworms
what is the opposite of (big|large)[?]|opposite of big? => Small
what is the opposite of (fast|quick)[?] => Slow
what is the opposite of hot[?]|opposite of hot? => Cold
what is the opposite of (rich)[?] => Poor
what is the opposite of (empty)[?] => Full
what is the opposite of (early)[?] => Late
what is the opposite of (loud)[?] => Quiet
what is the opposite of (dark)[?] => Light
what is the opposite of (wet)[?] => Dry
what is the opposite of (heavy)[?] => Light
what is the opposite of (always)[?] => Never
what is the opposite of (buy|buying)[?] => Selling
what is the opposite of (up)[?] => Down
what is the opposite of (left)[?] => Right
how many (hours) (has|are in) a day[?] => 24
how many (seconds) (has|are in) a minute[?] => 60
how many (days) (has|are in) a (year|normal year)[?] => 365
how many (days) (has|are in) [a] leap year[?] => 366
how many (weeks) (has|are in) a year[?] => 52
how many (days does January have|days are in January|days has January)[?] => 31
how many (days does April have|days are in April|days has April)[?] => 30
how many (days does February have|days has February)[?] => 28, in leap years 29
how many (cents) (are in|has|make) a (euro|dollar)[?] => 100
how many (grams) (are in|has) a kilo[?] => 1000
how many (metres) (are in|has) a kilometre[?] => 1000
how many (centimetres) (are in|has) a metre[?] => 100
how many (eggs|things) (are in|make) a dozen[?] => 12
how many (years) (are in|has) a century[?] => 100
how many (years) (are in|has) a decade[?] => 10
how many (legs) do (two|2) dogs have[?] => 8
how many (ears) do (three|3) rabbits have[?] => 6
how many (wheels) (has|does a car have|are on) a car[?] => 4
how many (wheels) (has|are on) a tricycle[?] => 3
how many (sides) (has|does) a (square)[ have][?] => 4
how many (sides) (has|does) a (triangle)[ have][?] => 3
how many (corners) (has|does) a (cube)[ have][?] => 8
how many (letters) (has|are in) the alphabet[?] => 26
how many (strings) (has|are on) a (violin)[?] => 4
how many (strings) (has|are on) a (guitar)[?] => 6
how many (players) (has|are in) a football team[?] => 11
how many (fingers) (has|are on) a hand[?] => 5
how many (eyes) (has|does) a (person|human)[ have][?] => 2
how many (teeth) (has|does) an adult[ have][?] => 32
which (animal) (has a trunk|is grey and has a trunk)[?] => The elephant
which (animal) (has a hump|lives in the desert and has humps)[?] => The camel
which (animal) has (black and white stripes|stripes)[?] => The zebra
which (animal) (meows)[?] => The cat
which (animal) (gives wool)[?] => The sheep
which (animal) (carries its house|has a shell on its back)[?] => The snail
which (animal) (spins webs)[?] => The spider
which (animal) (builds dams)[?] => The beaver
which (animal) (hops and has a pouch)[?] => The kangaroo
which (fruit) is (yellow and long|yellow and bent)[?] => The banana
which (fruit) is wine made of[?] => Grapes
which (colour|color) (do you get|comes out) (when you mix|of) (blue and yellow|yellow and blue)[?] => Green
which (colour|color) (do you get|comes out) (when you mix|of) (red and yellow|yellow and red)[?] => Orange
which (colour|color) (do you get|comes out) (when you mix|of) (red and blue|blue and red)[?] => Purple
which (colour|color) (do you get|comes out) (when you mix|of) (black and white|white and black)[?] => Grey
which (colour|color) (has|is) (the sky)[?] => Blue
which (colour|color) (has|is) (grass|a leaf)[?] => Green
which (colour|color) (has|is) (blood)[?] => Red
which (colour|color) (has|is) (milk|snow)[?] => White
which (colour|color) (has|is) (coal|the night)[?] => Black
which (colour|color) (has|is) (chocolate|a brown bear)[?] => Brown
which day (comes after|follows) (Friday)[?] => Saturday
which day (comes after|follows) (Sunday)[?] => Monday
which day comes before (Monday)[?] => Sunday
which day comes before (Thursday)[?] => Wednesday
which month (comes after|follows) (December)[?] => January
which month (comes after|follows) (April)[?] => May
which month comes before (January)[?] => December
which month comes before (September)[?] => August
which is the (first|1st) month[?] => January
which is the last month [of the year][?] => December
which is the shortest month[?] => February
what do you (use|need) to (cut bread)[?] => A knife
what do you (use|need) to (write)[?] => A pen or a pencil
what do you (use|need) to (open a tin)[?] => A tin opener
what do you (use|need) to (tell the time)[?] => A clock
what do you (use|need) to (brush teeth|clean your teeth)[?] => A toothbrush
what do you (use|need) to (hear better|see better)[?] => Glasses help to see, a hearing aid to hear.
what do you wear (on|on your) (feet)[?] => Shoes and socks
what do you wear (on|on your) (head)[?] => A hat or a cap
what do you wear (on|on your) (hands)[?] => Gloves
what do you put on a letter[?]|what does a letter need to be sent[?] => A stamp
what falls from (the sky|clouds) in winter[?] => Snow
what (melts) (in the sun|when it is warm)[?] => Ice
what (can you see|do you see) in a mirror[?] => Yourself
what comes after (lightning)[?] => Thunder
what (is|do you call) frozen water[?] => Ice
what (is|do you call) water as a gas[?] => Steam
what (is|do you call) a house for (cars)[?] => A garage
what (is|do you call) a house for (horses)[?] => A stable
what (is|do you call) a house for (dogs)[?] => A kennel
what (is|do you call) the mother of my mother[?] => Your grandmother
what (is|do you call) the brother of my (father|mother)[?] => Your uncle
what (is|do you call) the sister of my (father|mother)[?] => Your aunt
what (is|do you call) the son of my (aunt|uncle)[?] => Your cousin
what (is|do you call) the daughter of my brother[?] => Your niece
what (is|do you call) the son of my sister[?] => Your nephew"""
MORE_FACTS = [tuple(x.strip() for x in line.split("=>")) for line in MORE_FACTS.split("\n")]
LABELLED = [("fact or opinion", {"fact": ["Ice melts in the sun.", "{c} is a city.", "A week has seven days.", "Iron is a metal.", "Bees make honey.", "The earth turns around the sun.", "Spiders have eight legs.", "Ten is more than nine.", "The train leaves at noon.", "A {x} has a name in every language.", "It rained on Monday.", "{n} works in {c}."],
                                 "opinion": ["Green suits everybody best.", "{c} is the most beautiful city.", "Winter is too long.", "Cats are better than dogs.", "The film was boring.", "Everybody should own a {x}.", "{n} sings wonderfully.", "Coffee tastes awful.", "The new {x} looks ugly.", "Mondays are the worst days.", "This soup is delicious.", "Nothing beats a walk in the rain."]}),
            ("positive or negative", {"positive": ["The tastiest noodles in town, we come again!", "I love my new {x}.", "Works like a charm.", "{n} was so helpful, thank you!", "Would buy it again at once.", "What a lovely evening.", "Five stars, nothing to complain about.", "Quick, friendly, cheap.", "The room was spotless and quiet."], "negative": ["Never again.", "The {x} broke after a day.", "Waited two hours for cold soup.", "{n} was rude to us.", "I want my money back.", "A complete waste of time.", "Too loud, too dirty, too dear.", "It does not even switch on.", "The worst {x} I ever had."]}),
            ("question or statement", {"question": ["Where is the {x}?", "can you help me", "what time is it", "Did {n} call?", "how far is {c}", "Who took my {x}?", "is it open on Sunday"], "statement": ["The {x} is gone.", "{n} lives in {c}.", "I need a rest.", "It is raining again.", "We leave at six.", "my phone is broken", "the shop is closed"]}),
            ("past, present or future", {"past": ["We went home.", "{n} sold the {x}.", "It was cold.", "They had dinner in {c}.", "I lost my keys."], "present": ["I am at home.", "{n} is selling the {x}.", "It is cold.", "They live in {c}.", "She likes tea."], "future": ["We will go home.", "{n} is going to sell the {x}.", "It will be cold.", "They will fly to {c}.", "I shall call tomorrow."]}),
            ("urgent or not urgent", {"urgent": ["The cellar is under water!", "Nobody can log in, please come at once.", "There is smoke in the kitchen.", "We need the {x} in ten minutes.", "The server is down and customers are waiting."], "not urgent": ["When you have time, look at my {x}.", "Could we talk about the holidays some day?", "The logo could be a bit bigger.", "No hurry: {n} would like a copy.", "I wonder who made this {x}."]}),
            ("singular or plural", {"singular": ["a child", "the mouse", "one foot", "my {x}", "a goose", "this knife"], "plural": ["children", "mice", "feet", "geese", "knives", "people", "teeth", "these boxes"]}),
            ("animal or plant", {"animal": ["an owl", "a shark", "a hedgehog", "a wasp", "a lizard", "an eel", "a goat"], "plant": ["an oak", "a tulip", "a fern", "a cactus", "moss", "a rose", "wheat"]})]
SIGNS = ["look both ways", "mind the gap", "do not lean out", "keep off the lawn", "wet paint", "no parking here", "beware of the dog", "please ring twice", "closed until further notice", "fresh eggs today", "handle with care", "this side up", "push to open", "quiet please", "sold out", "danger of falling rocks", "exit only", "hold on tight", "wash your hands", "staff only", "last stop before the border", "free puppies", "boil before use", "slippery when wet", "happy birthday grandpa", "we moved next door"]
MISSPELT = {k: v.split("/") for k, v in (x.split("=") for x in "received=recieved/receved package=packege/pakage yesterday=yesturday/yesterdy the=teh believe=beleive/belive friend=freind/frend weird=wierd tomorrow=tommorow/tomorow definitely=definately/definitly separate=seperate address=adress/addres because=becuase/becouse necessary=neccessary/necesary until=untill restaurant=restaraunt/resturant really=realy/reely their=thier which=wich/whitch with=wiht beautiful=beautifull/beutiful calendar=calender accommodation=accomodation business=buisness/bussiness government=goverment environment=enviroment library=libary February=Febuary february=febuary wednesday=wensday/wendesday surprise=suprise/surprize interesting=intresting/interessting favourite=favorit/favourit different=diffrent/diferent finally=finaly always=allways/alwais people=poeple/pepole money=mony coming=comming writing=writting dinner=diner beginning=begining happened=happend forget=foget enough=enuogh/enogh thought=thougt/tought through=thru/throgh would=woud/wuold should=shoud/shuld could=coud/cuold school=shcool/scool answer=anser/awnser question=qestion/quesion minute=minuit/minut kitchen=kichen letter=leter bottle=botle very=verry hungry=hungrey/hugry children=childern/childen holiday=hollyday/holliday grateful=greatful successful=succesful/sucessful immediately=immediatly/imediately appointment=apointment/appointmant knew=knwe knowledge=knowlege neighbour=nieghbour/neigbour ready=redy please=pleese/plese again=agian/agan important=importent/imporant every=evry bought=bougt/bouht might=mihgt/migth cheese=chese afternoon=afternon/aftenoon morning=mornig/moring message=mesage/massage sincerely=sincerly".split(" "))}
SPELT = ["The address of the restaurant is different.", "My friend believes that it is definitely necessary.", "Please forget the beautiful calendar.", "Which restaurant would your friend choose?", "The children always come through the kitchen.", "We bought cheese and a bottle for dinner.", "I thought that the library was really different.", "{n} happened to be very hungry again.", "Could you answer my question until tomorrow?", "Their address is on the letter.", "It might be a surprise because the people knew.", "The message came every morning.", "We are finally ready for the holiday.", "{n} is writing an important letter with a friend.", "The appointment is tomorrow afternoon.",
         "Our neighbour bought a separate kitchen.", "I should have enough money for the accommodation.", "The business was successful in the beginning.", "I am very grateful for the interesting answer.", "Please come immediately because the restaurant is weird.", "The government should help the environment.", "{n} could not believe which question it was.", "My favourite school is in {c}.", "I knew their people would forget the {x}.", "We will receive the package until February.", "Would you please bring the bottle again tomorrow?", "The minute {n} came in, everybody was ready for dinner.", "It happened every afternoon in the library.", "The letter from the school was really important.", "Wednesday might be different."]
NEGATIVES = [("{he} dont has no {x}", "{He} doesn't have any {x}.", "dont has no becomes doesn't have any."), ("{he} don't got no {x}", "{He} doesn't have any {x}.", "don't got no becomes doesn't have any."), ("I don't know nothing", "I don't know anything.", "don't know nothing becomes don't know anything."), ("{he} didn't say nothing to nobody", "{He} didn't say anything to anybody.", "After didn't: anything, anybody."), ("we can't find nobody", "We can't find anybody.", "can't find nobody becomes can't find anybody."), ("{n} never does nothing", "{n} never does anything.", "never does nothing becomes never does anything."),
             ("I ain't got no {x}", "I don't have any {x}.", "ain't got no becomes don't have any."), ("they was not there never", "They were never there.", "they was becomes they were; one negative: never."), ("{he} don't like it", "{He} doesn't like it.", "{he} don't becomes {he} doesn't."), ("we doesn't want to go nowhere", "We don't want to go anywhere.", "we doesn't becomes we don't; nowhere becomes anywhere."), ("there isn't no {x} left", "There isn't any {x} left.", "isn't no becomes isn't any."), ("{he} can't hardly see", "{He} can hardly see.", "hardly is a negative already: can hardly."),
             ("nobody didn't come", "Nobody came.", "nobody is a negative already: nobody came."), ("me and {n} goes home", "{n} and I go home.", "me and {n} becomes {n} and I; goes becomes go."), ("{he} have went home", "{He} has gone home.", "have went becomes has gone."), ("I has seen {him}".replace("{him}", "{n}"), "I have seen {n}.", "I has becomes I have."), ("the childs is asleep", "The children are asleep.", "childs becomes children; is becomes are."), ("yesterday {he} go to work", "Yesterday {he} went to work.", "Yesterday: go becomes went."), ("{he} is more taller than {n}", "{He} is taller than {n}.", "more taller becomes taller."), ("I didn't went there", "I didn't go there.", "After didn't: go."), ("does {he} has any {x}?", "Does {he} have any {x}?", "After does: have."), ("you was right", "You were right.", "you was becomes you were."), ("these book are mine", "These books are mine.", "these book becomes these books."), ("we was waiting since two hours", "We have been waiting for two hours.", "was waiting since becomes have been waiting for.")]
CAUSES = "the rain would not stop|the bus did not come|nobody had a key|the road was blocked|the soup was too salty|the tickets were sold out|the children were tired|the museum was closed|our car had broken down|it was already dark|the lake was frozen|the music was too loud|the bill was wrong|the wind was too strong|we had missed the train|the heating had failed|half of the team was ill|the dog was afraid of thunder".split("|")
ACTS = "spend the day indoors|go back|call a taxi|eat somewhere else|wait another day|cancel the trip|write a letter|leave early|sleep in the car|ask for help|take the stairs|buy a new one|play cards|move the party indoors|start again".split("|")
GREETINGS = [("hello mate", "Hello."), ("yo", "Hello."), ("hi there", "Good day."), ("hey {n}", "Dear {n},"), ("hiya {n}", "Dear {n},"), ("hey guys", "Dear all,"), ("hi folks", "Dear all,"), ("sup {n}", "Dear {n},")]
BODIES = [("wont be at the {x} tmrw", "I will be absent from the {x} tomorrow."), ("cant come on {d}", "I am unable to come on {d}."), ("gonna be late for the {x}", "I will be late for the {x}."), ("need that file asap", "I need the file as soon as possible."), ("wanna move the {x} to {d}?", "Could we move the {x} to {d}?"), ("got ur mail", "I have received your email."), ("gimme a call when ur free", "Please call me when you have time."), ("no clue whats going on with the {x}", "I do not know what the situation of the {x} is."), ("the {x} was awesome", "The {x} was excellent."), ("lets meet {d}", "I suggest that we meet on {d}."), ("where r u guys?", "May I ask where you are?"), ("dont bother with the {x}", "There is no need to attend to the {x}."), ("ill send u the stuff {d}", "I will send you the documents on {d}.")]
SORRIES = [("sry", "I apologise."), ("my bad", "I apologise for the mistake."), ("thx", "Thank you."), ("thx a ton", "Thank you very much."), ("cya", "Goodbye."), ("cheers", "Kind regards."), ("sorry bout that", "I am sorry for the inconvenience."), ("ttyl", "I look forward to speaking with you.")]
JAVASCRIPT = [("isEven(n)|that says whether a number n is even, called isEven", "function isEven(n) {\n  return n % 2 === 0;\n}"), ("isOdd(n)|isOdd that is true for odd numbers", "function isOdd(n) {\n  return n % 2 !== 0;\n}"), ("add(a, b)|add for the sum of a and b", "function add(a, b) {\n  return a + b;\n}"), ("double(n)|double that returns twice n", "function double(n) {\n  return n * 2;\n}"), ("square(n)|square for n times n", "function square(n) {\n  return n * n;\n}"), ("greet(name)|greet that says hello to a name", "function greet(name) {\n  return \"Hello, \" + name;\n}"), ("max(a, b)|max that returns the larger of a and b", "function max(a, b) {\n  return a > b ? a : b;\n}"), ("min(a, b)|min that returns the smaller of a and b", "function min(a, b) {\n  return a < b ? a : b;\n}"),
              ("last({x})|last for the last element of {x}", "function last({x}) {\n  return {x}[{x}.length - 1];\n}"), ("first({x})|first for the first element of {x}", "function first({x}) {\n  return {x}[0];\n}"), ("reverse(text)|reverse that turns a text around", "function reverse(text) {\n  return text.split(\"\").reverse().join(\"\");\n}"), ("shout(text)|shout that makes a text upper case", "function shout(text) {\n  return text.toUpperCase();\n}"), ("size({x})|size for the number of elements of {x}", "function size({x}) {\n  return {x}.length;\n}"), ("isEmpty({x})|isEmpty that says whether {x} is empty", "function isEmpty({x}) {\n  return {x}.length === 0;\n}"), ("multiply(a, b)|multiply for a times b", "function multiply(a, b) {\n  return a * b;\n}"), ("sum({x})|sum that adds up all numbers of {x}", "function sum({x}) {\n  let total = 0;\n  for (const n of {x}) {\n    total += n;\n  }\n  return total;\n}")]
