"""More talks in stages: words and sentences worked on, lists, plans, tastes, moods, jobs, families, numbers. The marks are those of
heard.py."""

MORE = r"""
@(say|give me) a word for a (round|cold|tall|soft) thing, (anything|whatever|no matter what) => {word1} => Any word: {word1}.
+(and |)in (capitals|upper case|all caps)[, please]? => {=upper(word1)} => The word: {word1}.
+(plural|the plural|and its plural|what's the plural)[?] => {=plural(word1)} => The plural of {word1}.
@(write|give me|make) a (short |)sentence about {x1=fog/snow/dogs/bread/trains/winter/music/the sea} => {x2=I like/We love/We talk about/They think of} {x1} {x3=very much/every day/in the evening/at home}. => A sentence about {x1}.
+(shorter|make it shorter|too long|can you shorten it|a shorter one)[, please] => {x2} {x1}. => The sentence: {x2} {x1} {x3}. Without "{x3}".
+(now |and |)(in capitals|in upper case|all caps)[, please] => {=upper(x2)} {=upper(x1)}. => The sentence: {x2} {x1}.
@(write|make) a (short |)sentence with {name1} and a {x1=ladder/canoe/drum/bucket/kite} => {name1} {x2=finds/buys/paints/hides/likes} a {x1}. => A sentence with {name1} and a {x1}.
+(now |)in the past [tense][, please] => {name1} {=past(x2)} a {x1}. => {x2} becomes {=past(x2)}.
+(now |)with {name2} instead[ of {name1}] => {name2} {=past(x2)} a {x1}. => {name1} becomes {name2}.
+(as|make it) a question[, please] => Did {name2} {=base(x2)} a {x1}? => {=past(x2)} becomes did ... {=base(x2)}.
@(list|name|give me|tell me) (three|3) fruits => {fruit1}, {fruit2}, {fruit3} => Three fruits.
+(remove|delete|drop|take out) the (second|2nd) [one][, please] => {fruit1}, {fruit3} => {fruit1}, {fruit2}, {fruit3}, without the second, {fruit2}.
+(add|put|append) {fruit4} (at|to) the end => {fruit1}, {fruit3}, {fruit4} => {fruit1}, {fruit3}, and at the end {fruit4}.
+(which (one |)is (the first|first)|the first[ one]|what comes first)[?] => {fruit1} => {fruit1}, {fruit3}, {fruit4}: the first is {fruit1}.
+(with dashes|with bullets)[, please] => - {fruit1}\n- {fruit3}\n- {fruit4} => {fruit1}; {fruit3}; {fruit4}.
@(shopping|my shopping|grocery|my) list: {food1}, {food2}, {food3} => Noted: {food1}, {food2}, {food3}. ; Your list: {food1}, {food2}, {food3}.
+(add|put on) {food4} and (drop|remove|cross out|forget) [the] {food2} => {food1}, {food3}, {food4} => {food1}, {food2}, {food3}; without {food2}, with {food4}.
? how many things (are on it|is that|are left)[?] => 3 => {food1}, {food3}, {food4}: 3. ; is {food2} (still |)on (it|the list)[?] => No => On it: {food1}, {food3}, {food4}.
+(with|in) bullets[, please]|bullet points[, please] => - {food1}\n- {food3}\n- {food4} => {food1}; {food3}; {food4}.
+(I('ve| have) (got|bought)|done:|bought) [the] {food1}, what('s| is) (left|missing)[?] => {food3}, {food4} => {food1}, {food3}, {food4}, without {food1}.
@(to do|todo|to-do|my tasks|today I have to): {x1=call the bank/fix the tap/water the plants}, {x2=write to grandma/pack the tent/book the ferry}, {x3=wash the car/pay the rent/return the books} => Noted: {x1}, {x2}, {x3}. ; Three things: {x1}, {x2}, {x3}.
? (what|which) (comes|is) (last|third)[?] => {x3} ; what is (first|the first thing)[?] => {x1} ; how many (tasks|things)( are there|)[?] => 3 => {x1}; {x2}; {x3}: 3.
+(done with the first|the first (is|one is) done|I did the first (one|)|first one done) => Well done! Left: {x2}, {x3}. ; Good. Then {x2} and {x3} are left. => The first is {x1}. Left: {x2}; {x3}.
? what('s| is) (left|still to do|open)[?] => {x2}, {x3} => {x1} is done. ; what('s| is) next[?] => {x2} => {x1} is done, next: {x2}.
+(also|and also|plus|one more:) {x4=buy stamps/clean the oven/phone mum/feed the fish} => Noted: {x4}. ; OK, {x4} too.
? (the whole list|what's on it|show me all of it|everything again)[?| please] => {x2}, {x3}, {x4} => {x1} is done: {x2}; {x3}; {x4}.
@{x1=the party/our trip/the workshop/the concert/the exam} is on {day1} => Noted: {day1}. ; OK, {x1} is on {day1}.
? when is (it|{x1})[?] => on {day1}
+(no wait|oops|sorry|actually|correction)[,] (it's {day2}|{day2}|I meant {day2}|make that {day2}) => OK, {day2}. ; {day2} then. => Not {day1}: {day2}.
? [so] (when|which day) is (it|{x1})[?] => {day2} => Corrected: {day2}, not {day1}. ; did I say {day1} or {day2} (last|in the end)[?] => {day2} => First {day1}, then {day2}.
+and it (starts|begins) at {clock1} => Noted: {day2} at {clock1}. ; {day2} at {clock1}, OK.
! when (exactly |)(is it|does it (start|begin))[?] => {day2} at {clock1} => {day2}, {clock1}. ; (what|which) time[?] => {clock1}
@(I|my family and I) live in {city1}, but I was born in {city2} => Got it: you live in {city1} and were born in {city2}. ; {city1} and {city2}, noted.
! where (do I live|is my home)[?] => in {city1} ; where was I born[?] => in {city2} ; where do I come from[ originally][?] => from {city2} => Born in {city2}. ; was I born in {city1}[?] => No, in {city2} => Lives in {city1}, born in {city2}.
+in {month1} (we|I) move to {city3} => Good luck with the move to {city3}! ; {city3} in {month1}, noted.
! (where (am I|are we) (moving|going)|where will I live from {month1} on)[?] => to {city3} ; when (do (I|we) move|is the move)[?] => in {month1}
@(I'm|I am|I work as) {job1} (in|at) {x1=a small clinic/the town hall/a factory/an airport/a hotel} [and (like|hate) it] => Interesting, {job1} in {x1}!
! (what is my job|what do I do [for a living]|what's my (profession|job))[?] => {job1} ; where do I work[?] => in {x1}
+(my boss|the boss|my manager) is [called] {mister1} and (is always late|shouts a lot|is quite nice|brings cake) => Noted: your boss is {mister1}. ; I see, {mister1}.
! who is my (boss|manager)[?] => {mister1} ; (what's|what is) my boss('s name| called)[?] => {mister1} ; who is {mister1}[?] => your boss
@my (mum|mother) is [called] {name1}, my (dad|father) {name2} and my (sister|brother) {name3} => Got it: {name1}, {name2} and {name3}. ; Noted: mother {name1}, father {name2}, sibling {name3}.
! (what's|what is) my (father|dad)('s name| called)[?] => {name2} ; (what's|what is) my (mother|mum)('s name| called)[?] => {name1} ; who is {name2}[?] => your father ; who is {name1}[?] => your mother ; how many (people|names) did I (name|mention)[?] => three => {name1}, {name2}, {name3}: three.
~ what is my grandmother called[?] ; how old is my (mother|father)[?]
+{name3} is getting married in {month1} => Congratulations to {name3}! ; How nice for {name3}!
! who is getting married[?] => {name3} ; when is the wedding[?] => in {month1}
@(I like|I love|I prefer) {drink1} (better than|more than) {drink2} => Noted: rather {drink1} than {drink2}. ; So it is {drink1} then!
! (what do I (like better|prefer)|which do I like more)[, {drink1} or {drink2}|, {drink2} or {drink1}][?] => {drink1} ; what do I like less[?] => {drink2} ; what should (you|one) offer me[?] => {drink1} => The user likes {drink1} better.
@(I don't like|I hate|I can't stand) {sport1}, (but|while) my {x1=wife/husband/brother/flatmate} (loves it|watches it all day|plays it every week) => I see: {sport1} is for your {x1}. ; Got it: {sport1} is not for you.
! what don't I like[?] => {sport1} ; who likes (it|{sport1})[?] => your {x1} ; do I like {sport1}[?] => No => The user does not like {sport1}.
@(today|this morning) (I (got|feel|am)|I'm) (really |so |)(happy|proud|relieved), (I passed|I finally passed) my {x1=driving test/finals/swimming badge/Spanish exam/welding course}[!] => Congratulations on your {x1}! ; Well done! That is great news.
! what did I pass[?] => your {x1} ; why am I (happy|proud|glad)[?] => because you passed your {x1} => The user passed the {x1}.
+(it took me|I needed) {n1} (tries|attempts) => Good that you did not give up! ; {n1} tries, and now it is done!
! how (many (tries|attempts)|often) (did I need|did it take)[?] => {n1}
@(I'm|I am) (so |very |a bit |)sad (today|tonight), my {x1=hamster/old cat/rabbit/parrot} {name1} (died|passed away) => I am very sorry about {name1}. ; I am so sorry to hear that about {name1}.
! (what was|tell me) the name of my {x1}[?] => {name1} ; why am I sad[?] => because {name1} died ; who was {name1}[?] => your {x1}
+we had {him} for {m1} years => That is a long time. You must miss {name1}. ; {m1} years is a long time. I am sorry.
! how long did we have {name1}[?] => {m1} years
@(I can't|I cannot|can't) sleep (again|tonight|since days) => I am sorry. Is something on your mind? ; That is hard. Do you know why?
+(yes, |yeah |it's |)(the (noise|drilling) (next door|outside)|my neighbour {name1} plays the {instrument1} at night) => That sounds annoying. Perhaps a friendly talk helps. ; I see. A friendly word with them may help.
@(remember|keep in mind|note|write down|save this): the {x1=wifi password/customer number/booking code/parcel number/flight number} is {code1} => Noted: {code1}. ; Got it: {x1} {code1}.
! (what's|what is|what was|tell me|I need) the {x1} [again][?] => {code1}
+and the {x2=alarm code/membership number/room number/order number} is {code2} => Noted: {code2}. ; OK: {x2} {code2}.
! (what's|what is|what was|tell me) the {x2}[ again][?] => {code2} ; what is {code2}[?] => the {x2} ; (both|say both|give me both)( numbers| codes|)[, please] => {code1} and {code2} => {x1} {code1}, {x2} {code2}.
@{name1} (borrowed|took) my {x1=ladder/drill/tent/suitcase/trumpet} (last week|on {day1}|yesterday) => Noted: {name1} has your {x1}. ; OK, the {x1} is with {name1}.
! who has my {x1}[?] => {name1} ; where is my {x1}[?] => {name1} has it. ; what does {name1} have[ of mine][?] => your {x1}
~ when do I get it back[?] ; what did it cost[?]
@(I want to|I'd like to|I plan to|this year I want to) (save|put aside) {h1} (euros|dollars) (for|to buy) a {x1=kayak/piano/trip/new bed/sewing machine} => A good plan: {h1} for a {x1}. ; Noted: {h1} for a {x1}.
! what am I saving for[?] => a {x1} ; how much do I want to save[?] => {h1}
+[so far] I have {k1} [so far] => Then {=h1-k1} are missing. ; Good: {=h1-k1} to go. => {h1} - {k1} = {=h1-k1}.
? how much (is missing|do I (still|) need)[ now][?] => {=h1-k1} => {h1} - {k1} = {=h1-k1}. ; how much do I have[ so far][?] => {k1} ; do I have enough[?] => No, {=h1-k1} are missing => {k1} is less than {h1}: {=h1-k1} are missing.
@(one|a|each) {x1=ticket/bottle/lamp/brick/pizza} costs {n1} (euros|dollars|pounds) => OK, {n1} each.
+(how much (are|do)|and|what about) {m1}( cost|)[?] => {=n1*m1} => {m1} x {n1} = {=n1*m1}.
+(and |)with {e1} (off|less|discount)[?] => {=n1*m1-e1} => {=n1*m1} - {e1} = {=n1*m1-e1}.
+and if I pay with {=n1*m1+100}, what do I get back[?] => {=100+e1} => {=n1*m1+100} - {=n1*m1-e1} = {=100+e1}.
@(we are|we're|there are) {n1} (friends|people|kids) and each (needs|gets|takes) {e1} {things1} => OK: {n1} people, {e1} {things1} each.
? how many {things1} (is that|do we need)[ in all|][?] => {=n1*e1} => {n1} x {e1} = {=n1*e1}.
+{n2} more (come|are coming|join us) => Then you are {=n1+n2}. ; {=n1+n2} people then. => {n1} + {n2} = {=n1+n2}.
? how many {things1} (is that|do we need) now[?] => {=(n1+n2)*e1} => {=n1+n2} x {e1} = {=(n1+n2)*e1}. ; how many are we[ now][?] => {=n1+n2} => {n1} + {n2} = {=n1+n2}.
@I (ran|walked|swam|cycled) {n1} km (today|this morning) and {n2} (yesterday|the day before) => Well done! ; Nice, that is a good distance.
? how far (is that|did I go) (together|in all)[?] => {=n1+n2} km => {n1} + {n2} = {=n1+n2}. ; how far (was it|did I go) yesterday[?] => {n2} km
+tomorrow (I'll do|I want to do|it will be) {m1} => Good luck with the {m1} km! ; {m1} km, good luck!
? how far is (all of that|it all) together[?] => {=n1+n2+m1} km => {=n1+n2} + {m1} = {=n1+n2+m1}. ; how (far|much) (is it|do I want to do) tomorrow[?] => {m1} km
@what('s| is) the capital of {x1=France} => Paris => The capital of France.
+(and (of |)|what about |same for |how about )Italy[?] => Rome => The capital of Italy.
+(and |what about |how about )(of |)Norway[?] => Oslo => The capital of Norway.
+(in |now in |and in )(upper case|capitals|capital letters)[, please] => OSLO => The last answer: Oslo.
@capital of {x1=Spain}[?] => Madrid => The capital of Spain.
+(and |)Portugal[?] => Lisbon => The capital of Portugal.
+(are you sure|really|sure)[?] => Yes, it is Lisbon. => The capital of Portugal is Lisbon.
+how many letters (does (it|that) have|are in that)[?] => 6 => L, i, s, b, o, n: 6.
@(no question,|nothing to answer,|just listen:) the {x1=ferry/bakery/lab/sauna} (opens|starts) at {clock1} => Noted: {clock1}. ; OK, {clock1}.
! when does (it|the {x1}) (open|start)[?] => at {clock1}
@(my train leaves|the show starts|dinner is) at {x1=19:30/20:45/18:50/17:40} and it('s| is) {x2=19/20/18/17}:05 now => {x1}, noted.
? when (does it start|is it|does it leave)[?] => at {x1} ; what time is it[ now][?] => {x2}:05 => The user said: it is {x2}:05 now.
@(I'm|I am) {name1} and this is my {x1=husband/wife/friend/daughter/grandson} {name2} => Hello {name1} and {name2}, nice to meet you both! ; Nice to meet you, {name1} and {name2}!
! (what's|what is) my {x1}('s name| called)[?] => {name2} ; who am I[?] => You are {name1}. => The user is {name1}. ; who is {name2}[?] => your {x1} ; who is with me[?] => {name2}
@(we|my {x9=class/team/family} and I) (went|were) to {city1} for {n1} days and then to {city2} for {n2} => That sounds like a nice trip! ; {city1} and {city2}, how nice!
! where did we go first[?] => to {city1} ; how long were we (in|at) {city2}[?] => {n2} days ; where (were|did) we (after that|then|go second)[?] => {city2} => First {city1}, then {city2}. ; how (many days|long) (was it|were we away|was that) (in all|altogether)[?] => {=n1+n2} days => {n1} + {n2} = {=n1+n2}. ; where were we longer[?] => {=city1 if n1 > n2 else city2} => {city1}: {n1} days, {city2}: {n2} days.
~ what did the trip cost[?] ; where did we sleep[?]
@(the|our) {x1=red/blue/old} team has {n1} (players|members), the {x2=green/white/new} (team|one) {m1} => Noted: {x1} {n1}, {x2} {m1}.
? which team is (larger|bigger)[?] => the {x2} one => {m1} is more than {n1}. ; which is (smaller|the smaller one)[?] => the {x1} one => {n1} is less than {m1}. ; how many (players|members) (are there|are that)(in all| together|)[?] => {=n1+m1} => {n1} + {m1} = {=n1+m1}.
+{name1} (changes|moves|goes over) from the {x2} (one|team) to the {x1} one => Then it is {=n1+1} and {=m1-1}. => {n1} + 1 = {=n1+1}; {m1} - 1 = {=m1-1}.
? how many (are in|does) the {x2} (one|team)( have|) now[?] => {=m1-1} => {m1} - 1 = {=m1-1}. ; (in |)(which|what) team is {name1}[ in][ now][?] => the {x1} one ; who changed[?] => {name1}
@{name1} is taller than {name2}, and {name2} is taller than {name3} => OK: {name1}, {name2}, {name3}.
! who is the tallest[?] => {name1} => Tallest first: {name1}, {name2}, {name3}. ; who is the (shortest|smallest)[?] => {name3} => Tallest first: {name1}, {name2}, {name3}. ; is {name1} taller than {name3}[?] => Yes => Tallest first: {name1}, {name2}, {name3}. ; who is in the middle[?] => {name2} => {name1}, {name2}, {name3}: in the middle {name2}. ; is {name3} taller than {name2}[?] => No => {name2} is taller than {name3}.
@(the key|my key|the spare key) is (under|behind) the {x1=flowerpot/doormat/green bin/bench} => Noted: the {x1}. ; OK, it is by the {x1}.
? where is the key[?] => at the {x1}
+(no longer|not any more|I moved it)[,|:] it('s| is) (now |)(in|inside) the {x2=shed/mailbox/drawer/blue vase} [now] => OK, in the {x2}. => The key moves: in the {x2}, no longer at the {x1}.
? where is (it|the key) [now][?] => in the {x2} ; where was it before[?] => at the {x1} => First at the {x1}, now in the {x2}.
@(I ordered|we ordered|I'd like) {n1} {x1=pizzas/salads/curries/soups} and {n2} {x2=lemonades/coffees/teas/colas} => Noted: {n1} {x1}, {n2} {x2}.
? how many {x1}[?] => {n1} ; how many things (is that|did I order)[?] => {=n1+n2} => {n1} + {n2} = {=n1+n2}. ; what (are the drinks|do we drink)[?] => {x2}
+(make that|sorry, rather|change it to|better) {m1} {x2} => OK: {n1} {x1}, {m1} {x2}. => The {x2} change: {m1}, no longer {n2}. The {x1} stay: {n1}.
? how many {x2}( now|)[?] => {m1} => {m1} {x2} now. ; (what's|what is) my order[ now][?] => {n1} {x1} and {m1} {x2} => {n1} {x1}, {m1} {x2}.
@(my|the) (new |)flat has {n1} rooms, a {x1=balcony/cellar/fireplace/roof terrace} and costs {h1} a month => Sounds nice: {n1} rooms and a {x1}. ; Noted: {n1} rooms, {h1} a month.
! how many rooms[ does it have][?] => {n1} ; what is the rent[?] => {h1} a month ; what does the flat have besides (the |)rooms[?] => a {x1}
~ which floor is it on[?] ; where is (it|the flat)[?] ; who is the landlord[?]
+heating is {k1} on top => Then it is {=h1+k1} in all. ; {=h1+k1} with heating. => {h1} + {k1} = {=h1+k1}.
? (what|how much) (do I pay|is it) in all[?] => {=h1+k1} => {h1} + {k1} = {=h1+k1}. ; how much is the heating[?] => {k1}
@(guess what|you know what|news)[!|:|,] (I'm going to be|I'm) (an aunt|an uncle|a grandfather|a grandmother)[!] => Congratulations! That is wonderful news.
+(it's|it is) a (boy|girl)[,] (called|named|and the name is) {name1} => Welcome, {name1}! ; {name1}, what a nice name!
! (what's|what is) the (baby|child|little one)('s name| called)[?] => {name1}
+born (on|last) {day1}, {x1=3.2/2.9/3.6/4.1} kilos => {x1} kilos, wonderful! ; Noted: {day1}, {x1} kilos.
! how heavy (is|was) {name1}[?] => {x1} kilos ; when was {name1} born[?] => on {day1}
@(my|the) (phone|laptop|tablet) is (broken|dead) [since {day1}] => That sounds annoying. Do you know why? ; I am sorry. What happened?
+(I dropped it|it fell) (into|in) the {x1=sink/river/soup/bathtub/pool} => Oh no, the {x1}! Let it dry well. ; Oh no. Turn it off and let it dry.
! where did it fall[?] => into the {x1} ; what happened to it[?] => It fell into the {x1}. ; why is it broken[?] => because it fell into the {x1}
@(let's say|suppose|imagine|say) {name1} (lives in|is from) {city1} and {name2} (lives in|is from) {city2} => OK: {name1} {city1}, {name2} {city2}.
? (who|which one) (is from|lives in) {city2}[?] => {name2} ; where (does {name1} live|is {name1} from)[?] => {city1} ; and {name2}[, where is {he} from][?] => {city2} => {name2}: {city2}.
+now they swap [places|flats] => OK: {name1} {city2}, {name2} {city1}. => They change places.
? who is in {city1} now[?] => {name2} => Now: {name1} {city2}, {name2} {city1}. ; where is {name1} now[?] => {city2} => Now: {name1} {city2}, {name2} {city1}.
@I (have|teach|sing in) a (choir|course|class) of {m1} (people|pupils) (every |on ){day1} at {clock1} => Noted: {m1} people, {day1} at {clock1}.
! when is it[?] => {day1} at {clock1} ; (which|what) day[?] => {day1}
? how many (are they|people come|pupils are there)[?] => {m1}
+{e1} of them are ill [this week] => I hope they get well soon. Then {=m1-e1} are left. => {m1} - {e1} = {=m1-e1}.
? how many (come|are there|are left) then[?] => {=m1-e1} => {m1} - {e1} = {=m1-e1}. ; how many are ill[?] => {e1}
@(take|here is|use|this is) (a|my) phone number: {phone1}, (it's|that is) {name1}'s => Noted: {name1}, {phone1}.
! (what's|what is|give me|tell me) {name1}'s (phone |)number[?] => {phone1} ; whose number (is it|is {phone1}|did I give you)[?] => {name1}'s
+{his} (mail|email) is {email1} => Noted: {email1}.
! (what's|what is|and) {his} (mail|email)( address|)[?] => {email1} ; (give me|show) (name, phone and mail|everything) as JSON => {"name": "{name1}", "phone": "{phone1}", "email": "{email1}"} => name: {name1}; phone: {phone1}; email: {email1}.
@(answer|reply|from now on answer|please answer) (only |)(in|with) (upper case|capital letters)[ from now on] => OK, I WILL. ; ALL RIGHT. => The user wants capitals.
+(my name is|I'm|I am) {name1} => HELLO, {=upper(name1)}! => In capitals: hello, {name1}.
+what('s| is) my name[?] => {=upper(name1)} => The user is {name1}. In capitals.
@(tell me|give me|do you know) a fact about {x1=snails} => A snail carries its house on its back and moves very slowly. => A fact about snails.
+(say it|put it|again|once more) in (simpler|shorter|easier) words[, please] => Snails are slow and carry a house. => The same in simpler words.
@(tell me something|a fact|something|any fact) about bees[?] => Bees make honey from the nectar of flowers. => A fact about bees.
+(shorter|in three words|make it shorter)[, please] => Bees make honey. => The same in three words.
+(as a question|turn it into a question)[, please] => Do bees make honey? => Bees make honey, as a question.
@(put|store|save) {n1} in x and {n2} in y => OK: x is {n1}, y is {n2}.
? (what's|what is) x[?] => {n1} ; (what's|what is) x (plus|+) y[?] => {=n1+n2} => {n1} + {n2} = {=n1+n2}.
+(now |)(swap|exchange) them => OK: x is {n2}, y is {n1}. => They change places.
? (what's|what is) (in |)x[ now][?] => {n2} => After the swap: x {n2}, y {n1}. ; (what's|what is) (in |)y[ now][?] => {n1} => After the swap: x {n2}, y {n1}.
@(I take|I have to take|the doctor says I take) {n1} (pills|drops|tablets) (in the morning|at breakfast) and {n2} (at night|before bed) => Noted: {n1} in the morning, {n2} at night.
! how many (do I take |)(at night|before bed)[?] => {n2} ; how many (do I take |)in the morning[?] => {n1} ; how many (a day|per day|in all|is that a day)[?] => {=n1+n2} => {n1} + {n2} = {=n1+n2}.
@{name1} and {name2} are (twins|twin sisters), {name3} is {n1} years younger => Got it: {name3} is the younger one.
! who is (the youngest|younger)[?] => {name3} ; who are the twins[?] => {name1} and {name2} ; is {name3} a twin[?] => No => The twins are {name1} and {name2}.
+the twins are {m1} => Then {name3} is {=m1-n1}. => {n1} years younger: {m1} - {n1} = {=m1-n1}.
! how old is {name3}[?] => {=m1-n1} => The twins are {m1}, {name3} is {n1} years younger: {m1} - {n1} = {=m1-n1}. ; how old is {name1}[?] => {m1} => A twin: {m1}.
@(I'm reading|I read|we watch|I'm watching) {x1=a crime novel/a series/a comic/a documentary} about {x2=a lost ship/bees/two thieves/a lighthouse/chess} => Interesting, {x2}! ; That sounds interesting.
! what (am I reading|am I watching|is it|are we watching)[?] => {x1} about {x2} ; what is it about[?] => {x2}
+I'm (on|at) (page|minute|part) {k1}, it has {h1} => Then {=h1-k1} are left. ; {=h1-k1} to go. => {h1} - {k1} = {=h1-k1}.
? (how (much|many) (is|are) left|how far to the end)[?] => {=h1-k1} => {h1} - {k1} = {=h1-k1}. ; where am I[ now][?] => {k1} => The user is at {k1}.
@(I forgot|I never know|help me remember)( it|): {name1}'s birthday is on {date1} => Noted: {name1}, {date1}. ; OK: {date1}.
! when is {name1}'s birthday[?] => on {date1} ; whose birthday is on {date1}[?] => {name1}'s ; what is on {date1}[?] => {name1}'s birthday
+(and {he} wants|{he} wishes for) a {x1=globe/telescope/drum kit/rain jacket} => Noted: a {x1}. ; A {x1}, a good idea!
! what does {name1} (want|wish for)[?] => a {x1} ; (what could I give|what should I buy for|a present for) {name1}[?] => a {x1} => {name1} wants a {x1}.
"""
