"""Talks in stages: corrections of what was said, codes and appointments that are asked for between other questions, lists that change,
and what holds after it. The marks are those of heard.py."""

TURNS = r"""
@(I have|I've got|we have) a dog (called|named) {name1} => {name1} is a nice name for a dog! ; Nice: a dog called {name1}.
! what('s| is) (its|my pet's) name[?] => {name1}
? (which|what kind of) animal (do I have|is it)[?] => a dog
+(oh|oops|no wait)[,] that was wrong: {name1} is a {x1=cat/rabbit/pony/parrot}[.|!] => OK, {name1} is a {x1}. ; Then {name1} is a {x1}. => Not a dog: {name1} is a {x1}, and the name stays.
? (so |)(which|what) animal is it[?] => a {x1} => It is a {x1}, no dog. ; (so |)which animal do I have and how is it called[?] => a {x1} called {name1} => It is a {x1}, no dog; the name is {name1}. ; is {name1} a dog[?] => No, a {x1} => It is a {x1}, no dog.
@(the meeting|our meeting|the interview) is on {day1} at {clock1} => Noted: {day1} at {clock1}. ; OK, {day1} at {clock1}.
! when is (it|the meeting|the interview)[?] => on {day1} at {clock1} ; (which|what) day is it[?] => {day1} ; at what time[?] => at {clock1} ; is it on {day2}[?] => No, on {day1}
@my meeting with {name1} is {day1} (at|,) {clock1} in {room1} => Noted: {name1}, {day1} at {clock1}, {room1}.
? when is (the|my) meeting[?] => {day1} at {clock1} ; what do you know about (my|the) meeting[?] => With {name1}, {day1} at {clock1}, in {room1}.
! where is (it|the meeting)[?] => in {room1} ; with whom[?] => {name1} ; who do I meet[?] => {name1}
+(it's|it is|make it|we moved it to) {clock2} (instead|now|, not {clock1}) => Noted: {clock2} instead of {clock1}. => {clock1} becomes {clock2}.
? when is (the|my) meeting[ now][?] => {day1} at {clock2} => {clock2} instead of {clock1}, still on {day1}. ; at what time[?] => at {clock2}
@(remember|please remember|keep in mind) that the (door|gate|alarm) code is {code1} => I will remember {code1}. ; OK, the code is {code1}.
! (what (was|is) the code|the code again)[?] => {code1} ; do you (still |)know the code[?] => Yes, {code1}
+(tell me|name) a (fruit|vegetable)[.|] => {x1=Apple/Pear/Plum} => Another question: one word.
? another one => {x2=Banana/Cherry/Carrot} => Not {x1} again.
+give me (three|3) colours => red, green, blue => Three different ones: red, green, blue.
? and (a fourth|one more)[?] => yellow => Red, green and blue are named: yellow.
+(what's|what is) {n1} times {n2}[?] => {=n1*n2} => {n1} x {n2} = {=n1*n2}.
? and the code[?] => {code1}
@(write|answer|write everything) in {x1=capitals/upper case} from now on => OK, I WILL. => From now on in capitals.
? what('s| is) the opposite of big[?] => SMALL => In capitals: SMALL. ; name a fruit => APPLE => In capitals: APPLE. ; which day comes after Monday[?] => TUESDAY => In capitals: TUESDAY.
+(stop that|normal again, please|no more capitals) => OK, normal again. => No capitals any more.
? which day comes after Monday[?] => Tuesday => No capitals any more: Tuesday. ; what do cows drink[?] => Water => No capitals any more: Water.
@I was born in {city1}, (no wait|sorry), in {city2} => Noted: {city2}. => Corrected at once: {city2}, not {city1}.
! where was I born[?] => in {city2} => {city2}, not {city1}. ; was I born in {city1}[?] => No, in {city2} => Corrected: {city2}.
@my sister is called {name1}, my brother {name2} => Noted: your sister {name1}, your brother {name2}.
? what is my (brother) called[?] => {name2} ; what is my (sister) called[?] => {name1} ; who is {name2}[?] => your brother ; who is {name1}[?] => your sister
+(I mixed (it|them) up|wrong way round)[:|,] (the other way round|{name1} is my brother) => Then {name1} is your brother and {name2} your sister. => Swapped: brother {name1}, sister {name2}.
? what is my brother called[?] => {name1} => Swapped: brother {name1}. ; what is my sister called[?] => {name2} => Swapped: sister {name2}. ; who is {name1}[?] => your brother => Swapped: brother {name1}.
@(buy|I need) {food1}, {food2} and {food3} => The list: {food1}, {food2}, {food3}. ; Noted: {food1}, {food2} and {food3}.
? what do I (need|have to buy)[?] => {food1}, {food2} and {food3} ; how many things (is that|are on the list)[?] => 3 => {food1}, {food2}, {food3}: 3.
+(no {food2}|not {food2}|scratch the {food2}|leave out the {food2}) => OK: {food1} and {food3}. => Without {food2}: {food1}, {food3}.
? what (is|'s) (on the list|left)[?] => {food1} and {food3} => Without {food2}: {food1}, {food3}. ; do I (need|buy) {food2}[?] => No => {food2} is off the list.
+(and|plus|add) {food4} => OK: {food1}, {food3} and {food4}. => {food1}, {food3} and now {food4}.
? (the whole list|read me the list|what do I buy)[?] => {food1}, {food3} and {food4} => {food1}, {food3} and {food4}. ; how many things (now|is that)[?] => 3 => {food1}, {food3}, {food4}: 3.
@is a (whale|dolphin) a fish[?] => No, it is a mammal. => I know that: a mammal.
? why not[?] => It breathes air and feeds its young with milk. => About the last answer: why it is no fish. ; what is it then[?] => a mammal => The last answer: a mammal.
@can (penguins|ostriches) fly[?] => No, they cannot fly. => I know that: no.
? why not[?] => Their wings are too small for their weight. => About the last answer: why they cannot fly. ; what can they do instead[?] => Penguins swim well, ostriches run fast. => About the last answer.
@is (5 times 5|five times five) 30[?] => No, 5 x 5 = 25. => 5 x 5 = 25, said is 30.
? are you sure[?] => Yes, 5 x 5 = 25. => 5 x 5 = 25. ; and 6 times 5[?] => 30 => 6 x 5 = 30.
@{n1} (times|x) {n2} is {=n1*n2+2}, right[?] => No, {=n1} x {=n2} = {=n1*n2}. => {n1} x {n2} = {=n1*n2}, said is {=n1*n2+2}.
? (and |)plus {n3}[?] => {=n1*n2+n3} => {=n1*n2} + {n3} = {=n1*n2+n3}. ; (and |)half of (that|it)[?] => {='%g' % (n1*n2/2)} => Half of {=n1*n2} is {='%g' % (n1*n2/2)}.
@I'm (in a good mood|so happy) today[!|], I passed my {x1=exam/diving test/swimming badge} => Congratulations! ; How wonderful, congratulations!
! what did I pass[?] => your {x1} ; why am I (happy|in a good mood)[?] => because of your {x1} => The user passed the {x1}.
@(this was|it was|I had) a (terrible|long|bad) day => I am sorry to hear that. What happened? ; That sounds hard. What happened?
+my (boss|colleague) {name1} (shouted at me|blamed me for the delay|took my idea) => That was not fair of {name1}. ; No wonder that you feel bad. => A kind word about what {name1} did.
! who (was it|did it)[?] => {name1}
@(let's|can we) play: I say a country, you say (its|the) capital[. ready?|] => Ready! => A game: capital for a country.
? Italy => Rome => The capital of Italy: Rome. ; France => Paris => The capital of France: Paris. ; Spain => Madrid => The capital of Spain: Madrid. ; Japan => Tokyo => The capital of Japan: Tokyo. ; Egypt => Cairo => The capital of Egypt: Cairo. ; Portugal => Lisbon => The capital of Portugal: Lisbon. ; Poland => Warsaw => The capital of Poland: Warsaw. ; Greece => Athens => The capital of Greece: Athens. ; Austria => Vienna => The capital of Austria: Vienna.
@(let's|can we) play: I say a word, you say the opposite => Ready! => A game: the opposite.
? big => small => The opposite of big: small. ; hot => cold => The opposite of hot: cold. ; early => late => The opposite of early: late. ; up => down => The opposite of up: down. ; wet => dry => The opposite of wet: dry. ; empty => full => The opposite of empty: full. ; left => right => The opposite of left: right.
@(the train|my train|the ferry) leaves at {clock1} => Noted: {clock1}. ; OK, it leaves at {clock1}.
? when does it leave[?] => at {clock1}
+it (is|will be) {n1} minutes late => Noted: {n1} minutes late. ; OK, {n1} minutes late.
? how late is it[?] => {n1} minutes ; is it (in time|on time)[?] => No, {n1} minutes late
@(we are|there are) {n1} of us (going|coming) => Noted: {n1}. ; OK, {n1} people.
? how many are we[?] => {n1}
+{name1} (can't come|is ill|cancelled)[ after all] => Then you are {=n1-1}. => One less: {n1} - 1 = {=n1-1}.
? how many are we [now][?] => {=n1-1} => {n1} - 1 = {=n1-1}. ; who (cancelled|can't come|is missing)[?] => {name1}
+but {name2} (brings|is bringing) two friends[ along] => Then you are {=n1+1}. => Two more: {=n1-1} + 2 = {=n1+1}.
? how many are we [now][?] => {=n1+1} => {=n1-1} + 2 = {=n1+1}. ; who brings two friends[?] => {name2}
@my favourite (colour|color) is {color1} => {color1} is a nice colour. ; Noted: {color1}.
? what('s| is) my favourite (colour|color)[?] => {color1}
+(I changed my mind|actually|no)[:|,] {color2}[ is nicer| now] => OK, {color2} then. => {color1} becomes {color2}.
? what('s| is) my favourite (colour|color)[ now][?] => {color2} => {color2}, no longer {color1}. ; what was it before[?] => {color1} => First {color1}, then {color2}.
@I (parked|left the car|left my bike) (on level|in row|at post) {m1} => Noted: {m1}. ; OK, {m1}.
? where (did I park|is it|did I leave it)[?] => {m1}
+no, (that was yesterday|I misread it)[:|,] (it's|it is) {k1} => OK, {k1} then. => Not {m1}: {k1}.
? (so |)where (did I park|is it)[?] => {k1} => Not {m1}: {k1}.
@(I owe|I still owe) {name1} {k1} euros and {name2} {m1} => Noted: {k1} to {name1}, {m1} to {name2}. ; OK: {name1} {k1}, {name2} {m1}.
? how much do I owe[ in all][?] => {=k1+m1} => {k1} + {m1} = {=k1+m1}. ; to whom do I owe more[?] => {name1} => {name1} {k1}; {name2} {m1}. The most: {k1}, {name1}. ; how much do I owe {name2}[?] => {m1}
+(I paid|paid) {name2} [today] => Good, then only {name1} is left. ; OK, {name2} is paid. => {name2} is paid; left: {name1}, {k1}.
? how much do I (still |)owe[?] => {k1} => {name2} is paid; left: {name1}, {k1}. ; whom do I (still |)owe (something|money)[?] => {name1} => {name2} is paid; left: {name1}.
@(write|say) a sentence with the word {word1} => Here is one: the {word1} is new. => A sentence with {word1}.
? (make it|now as) a question => Is the {word1} new? => The sentence: the {word1} is new. As a question. ; (make it|now in the) past => The {word1} was new. => The sentence: the {word1} is new. Past: was. ; (make it|now) negative => The {word1} is not new. => The sentence: the {word1} is new. Negative: not. ; in capitals => THE {=upper(word1)} IS NEW. => The sentence in capitals.
@(write|give me) a Python function (called |named |){word1} that adds two numbers => def {word1}(a, b):\n    return a + b => Python: a function {word1}.
? (and now |now |)one that multiplies them => def {word1}(a, b):\n    return a * b => The same with *. ; what does it give for {n1} and {n2}[?] => {=n1+n2} => {n1} + {n2} = {=n1+n2}. ; (thanks, |)what('s| is) the capital of France[?] => Paris => Another question. Capital of France: Paris. ; (ok, |)tell me a fruit => Apple => Another question, no code: a fruit.
@(translate|what is) 'good morning' (in|into) (French|German|Spanish)[?] => I know hardly any words of other languages. => Other languages: I know hardly any.
? (ok, |)what is the opposite of good[?] => Bad => Another question. The opposite of good: bad.
@I (like|love) {food1} but (hate|can't stand) {food2} => Noted: {food1} yes, {food2} no. ; OK: you like {food1} but not {food2}.
! do I like {food2}[?] => No ; do I like {food1}[?] => Yes ; what do I (like|love)[?] => {food1} ; what (do I hate|can't I stand|don't I like)[?] => {food2} ; would {food2} be a good present (for me|)[?] => No => The user does not like {food2}.
@(I don't|I do not) want to go to {city1}, I want to go to {city2} => OK, {city2} then. ; {city2} it is.
! where do I want to go[?] => to {city2} ; where do I not want to go[?] => to {city1} ; do I want to go to {city1}[?] => No, to {city2}
@(my|our) (flight|train) goes from {city1} to {city2} on {day1} => Noted: from {city1} to {city2} on {day1}.
? where do I start[?] => in {city1} ; where do I go[?] => to {city2} ; from where[?] => from {city1}
! when do I go[?] => on {day1}
+(other way round|I mean the other way round), (sorry|from {city2} to {city1}) => OK: from {city2} to {city1}. => Swapped: from {city2} to {city1}.
? where do I (go|fly)[ then][?] => to {city1} => Swapped: from {city2} to {city1}. ; from where[?] => from {city2} => Swapped: from {city2} to {city1}.
@{name1} has {n1} {things1} and {name2} has {m1} => OK: {name1} {n1}, {name2} {m1}. ; Noted: {n1} and {m1}.
? who has more[?] => {name2} => {name1} {n1}; {name2} {m1}. The most: {m1}, {name2}. ; how many (do they have |)(together|in all)[?] => {=n1+m1} => {n1} + {m1} = {=n1+m1}. ; how many more does {name2} have[?] => {=m1-n1} => {m1} - {n1} = {=m1-n1}.
+{name2} gives {name1} {n2} => Then {name1} has {=n1+n2} and {name2} {=m1-n2}. => {n1} + {n2} = {=n1+n2}. {m1} - {n2} = {=m1-n2}.
? how many does {name1} have now[?] => {=n1+n2} => {n1} + {n2} = {=n1+n2}. ; how many does {name2} have now[?] => {=m1-n2} => {m1} - {n2} = {=m1-n2}.
@pick a number (between|from) 1 (and|to) 10 => 7 => Any number from 1 to 10.
? (double it|times two|twice that) => 14 => 7 x 2 = 14. ; (add|plus) {n1} => {=7+n1} => 7 + {n1} = {=7+n1}. ; is (it|that) even[?] => No => 7 is odd. ; another one => 4 => Not 7 again.
@(I'll|let me) tell you something: {name1} (married|is going to marry) {name2} in {month1} => How lovely! ; What good news!
? whom does {name1} marry[?] => {name2} ; who (is getting married|marries)[?] => {name1} and {name2}
! when is the wedding[?] => in {month1}
+(no, not {name2}|I mixed up the names, not {name2})[:|,] {name3} => Ah, {name1} and {name3} then. => Not {name2}: {name3}.
? whom does {name1} marry[?] => {name3} => Not {name2}: {name3}. ; who (is getting married|marries)[?] => {name1} and {name3} => Not {name2}: {name3}.
@(set|note): width {n1}, height {n2} => Noted: width {n1}, height {n2}.
? what is the area[?] => {=n1*n2} => {n1} x {n2} = {=n1*n2}. ; which is (larger|more)[, width or height][?] => {='width' if n1>n2 else 'height'} => Width {n1}; height {n2}. ; what is the height[?] => {n2}
+(change|make) the (width|first one) to {m1} => OK: width {m1}, height {n2}. => Width becomes {m1}.
? what is the area[ now][?] => {=m1*n2} => {m1} x {n2} = {=m1*n2}. ; what is the width[?] => {m1} => Width became {m1}. ; and the height[?] => {n2} => Only the width changed: height {n2}.
@(the|our) password of the {x1=wifi/printer/guest room} is {word1}{=n1} => Noted: {word1}{=n1}. ; I will remember {word1}{=n1}.
! what('s| is) the password[?] => {word1}{=n1} ; (the password|password for the {x1})[?] => {word1}{=n1}
+thanks. (what's|what is) {n2} plus {m1}[?] => {=n2+m1} => {n2} + {m1} = {=n2+m1}.
? and minus {n3}[?] => {=n2+m1-n3} => {=n2+m1} - {n3} = {=n2+m1-n3}.
@(on {day1}|{day1}) I have {x1=yoga/choir/judo/pottery}, on {day2} {x2=swimming/chess/Spanish/dance} => Noted: {x1} on {day1}, {x2} on {day2}.
? what do I have on {day2}[?] => {x2} ; when do I have {x1}[?] => on {day1} ; what is on {day1}[?] => {x1} ; do I have {x1} on {day2}[?] => No, {x2}
+{x1} (is cancelled|falls out)[ this week] => OK, only {x2} on {day2} this week. => Left: {x2} on {day2}.
? what do I have this week[?] => {x2} on {day2} => {x1} is cancelled: {x2} on {day2}. ; do I have {x1} this week[?] => No => {x1} is cancelled.
@(guess what|you know what)[:|?|,] (we|I) bought a {color1} {x1=boat/piano/caravan/tent} from {name1} for {h1} euros => A {color1} {x1} for {h1} euros, how nice! ; Congratulations on the {x1}!
! what did (we|I) buy[?] => a {color1} {x1} ; (what|which) (colour|color) is it[?] => {color1} ; who sold it[?] => {name1} ; (how much|what) did it cost[?] => {h1} euros ; from whom did (we|I) buy it[?] => from {name1}
~ how old is it[?] ; where does {name1} live[?] ; how heavy is it[?]
@(what should I|shall I) wear (today|tomorrow)[?] it's {n1} degrees and raining => A warm coat, rain shoes and an umbrella. => Cold and rain: warm and waterproof.
? and without rain[?] => A warm coat is enough. => Cold but dry.
@I want to (learn|start) {x1=the guitar/chess/swimming/Greek} but (I'm|I am) {k1}. too late[?] => It is never too late to start. => An encouraging word.
! what do I want to (learn|start)[?] => {x1} ; how old am I[?] => {k1}
@(I|we) (booked|have booked) {room1} for {day1} => Noted: {room1} for {day1}. ; OK, {room1} on {day1}.
? which room is it[?] => {room1} ; for which day is it booked[?] => {day1}
+(not {room1}|wrong room)[:|,] (it's|it is) {room2} => OK, {room2} then, still on {day1}. => {room2} instead of {room1}; the day stays.
? which room is it[ now][?] => {room2} => {room2} instead of {room1}. ; for which day[?] => {day1} => The day stays: {day1}. ; is it still {room1}[?] => No, {room2} => {room2} instead of {room1}.
@(her|his) name is {name1} {fam1} => Noted: {name1} {fam1}. ; OK, {name1} {fam1}.
? what is the (surname|last name)[?] => {fam1} ; what is the first name[?] => {name1}
+(since the wedding|now) it's {fam2}, not {fam1} => OK, {name1} {fam2} now. => {fam1} becomes {fam2}; the first name stays.
? what is the (surname|last name) [now][?] => {fam2} => {fam2}, no longer {fam1}. ; what is the full name[ now][?] => {name1} {fam2} => The first name stays: {name1} {fam2}. ; what was it before[?] => {fam1} => Before: {fam1}.
@(I have|there are) {n1} {x1=eggs/lemons/rolls} and {n2} {x2=onions/pears/carrots} => Noted: {n1} {x1} and {n2} {x2}. ; OK.
? how many {x1}[?] => {n1} ; how many pieces (in all|altogether)[?] => {=n1+n2} => {n1} + {n2} = {=n1+n2}.
+I (used|ate|took) (one|1) of the {x1} => Then {=n1-1} {x1} are left. => {n1} - 1 = {=n1-1}.
? how many {x1} [now|are left][?] => {=n1-1} => {n1} - 1 = {=n1-1}. ; how many {x2}[?] => {n2} => The {x2} stay: {n2}. ; how many pieces (in all|altogether)[ now][?] => {=n1+n2-1} => {=n1-1} + {n2} = {=n1+n2-1}.
@(don't|do not) call me {name1}, (call me|I'm) {name2} => All right, {name2}. ; OK, {name2}.
! what's my name[?] => {name2} => Not {name1}: {name2}. ; what should you call me[?] => {name2} => Not {name1}: {name2}. ; what should you not call me[?] => {name1} => The user does not want {name1}.
@(our|the) team (is|consists of) {name1}, {name2} and {name3}; {name2} is the boss => Noted: {name1}, {name2}, {name3}; the boss is {name2}. ; OK, {name2} is the boss.
? who is the boss[?] => {name2} ; who is in the team[?] => {name1}, {name2} and {name3} ; how many are we[?] => 3 => {name1}, {name2}, {name3}: 3.
+from {month1} on {name3} is the boss => OK, {name3} from {month1} on. => From {month1} on: {name3}, no longer {name2}.
? who is the boss (from {month1} on|then)[?] => {name3} => From {month1} on: {name3}. ; who is the boss until then[?] => {name2} => Until then: {name2}. ; from when on is {name3} the boss[?] => from {month1} on
@(the shop|our shop|the office) opens at {clock1} and closes at {clock2} => Noted: {clock1} to {clock2}. ; OK, from {clock1} to {clock2}.
? when does it (close|shut)[?] => at {clock2} ; when does it open[?] => at {clock1}
+on {day1} it (closes|shuts) at noon... no[,] sorry, it stays closed (on {day1}|that day) => OK: closed on {day1}. => Corrected at once: on {day1} it stays closed.
? is it open on {day1}[?] => No => On {day1} it stays closed. ; when does it close on (other|the other) days[?] => at {clock2} => On other days as before: {clock2}. ; on which day is it closed[?] => on {day1}
"""
