"""Short talks in stages: one thing said, of many kinds, and what is asked of it. The marks are those of heard.py."""

SHORT = r"""
@(for the record|just for you to know|heads up|fyi)[,|:] (I don't eat|I can't stand|please never offer me) {food1} => Noted: no {food1}. ; Got it: no {food1}.
! what don't I (eat|like)[?] => {food1} ; (would I like|could I have|may I have) {food1}[?] => No => The user does not eat {food1}.
@I'm (a vegetarian|vegan|a vegetarian since {year1}) => Noted: no meat for you. ; Good to know: no meat.
! (would|should) I (order|take) the (steak|chicken|ham)[?] => No => The user eats no meat. ; do I eat (meat|sausages|chicken)[?] => No => The user eats no meat.
@(my|our) (son|daughter|boy|girl) {name1} (starts|begins) (school|nursery|university) in {month1} => How exciting for {name1}! ; All the best to {name1}!
! when does {name1} (start|begin)[?] => in {month1} ; who (starts|begins) in {month1}[?] => {name1}
~ which school is it[?] ; how old is {name1}[?]
@(tomorrow|on {day1}) my {x1=parents/cousins/in-laws/old classmates} (visit|are visiting|come over) => Have a nice time with your {x1}! ; How nice! Enjoy the visit.
! who (visits|is visiting|comes)[?] => your {x1}
+they stay (until|till) {day2} and (bring|are bringing) their {x2=dog/baby/caravan/own food} => Noted: until {day2}. ; OK, until {day2}, with their {x2}.
! (until when|how long) do they stay[?] => until {day2} ; what do they bring[?] => their {x2}
@(I can|I could) (only |)(meet|come) on {day1} or {day2} => Noted: {day1} or {day2}. ; OK, {day1} or {day2}.
! when (can I|do I have time)[ come| meet|][?] => on {day1} or {day2} ; can I (come|meet) on {day3}[?] => No, on {day1} or {day2} => The user can on {day1} or {day2}.
+{day1} (is out|doesn't work any more|fell through) (too|)[.|!|] => Then {day2} is left. ; OK, {day2} then. => {day1} or {day2}, without {day1}: {day2}.
? (so |)when (can I|do we|will we)( come| meet|)[?] => on {day2} => {day1} is out: {day2}.
@(I weigh|my weight is) {k1} (kilos|kg) (now|today)[, {n1} less than in {month1}] => Noted: {k1} kilos. ; OK, {k1} kilos.
! (what|how much) do I weigh[?] => {k1} kilos
@my (boss|teacher|coach) wants {m1} (pages|slides|drawings) by {day1} => Noted: {m1} by {day1}. ; OK, {m1} by {day1}.
? how many[?] => {m1}
! (until|by) when[?] => by {day1} ; when (is|are) (it|they) due[?] => by {day1} => By {day1}.
+(I have|I've done|done:) {n1} (so far|already)[.|] => Good: {=m1-n1} to go. ; Then {=m1-n1} are left. => {m1} - {n1} = {=m1-n1}.
? how many (are left|to go|are missing)[?] => {=m1-n1} => {m1} - {n1} = {=m1-n1}. ; how many (have I done|are done|do I have)[?] => {n1}
@(we named|we're calling|we called) the (boat|robot|hamster|goat) {name1} => A nice name! ; {name1}, a nice name!
! (what's|what is) (it|{he}) called[?] => {name1} ; (what|which) name did we (choose|give)[?] => {name1}
@(I play|I'm learning|I'm teaching myself) the {instrument1} and my (wife|brother|neighbour) (plays |)the {instrument2} => That must sound nice: {instrument1} and {instrument2}. ; How nice, {instrument1} and {instrument2}!
! (what|which instrument) do I play[?] => the {instrument1} ; who plays the {instrument1}[?] => you => The user plays the {instrument1}.
@(I was|we were) (in|at) {city1} (last week|on holiday|in {month1}), (it was|and it was) {x1=lovely/far too hot/boring/full of tourists} => I see: {city1} was {x1}. ; Thanks for telling me about {city1}.
! where (was I|were we)[?] => in {city1} ; how was (it|{city1})[?] => {x1}
@(the|my) {x1=bus/tram/train} is (always|usually) {n1} minutes late => That sounds annoying. ; {n1} minutes every time, how annoying!
! how late is it[ usually][?] => {n1} minutes ; what is always late[?] => the {x1}
+today it was {m1} => That is {=m1-n1} more than usual. ; Oh, {m1} minutes! => {m1} - {n1} = {=m1-n1}.
? how late was it today[?] => {m1} minutes ; how much (more|later) than usual[?] => {=m1-n1} minutes => {m1} - {n1} = {=m1-n1}.
@(I'm|I am) in room {m1} (on|of) floor {n1} => Noted: room {m1}, floor {n1}. ; OK: floor {n1}, room {m1}.
? (which|what) floor[?] => {n1} ; (which|what) room[?] => {m1} ; where am I[?] => in room {m1} on floor {n1}
+they moved me one floor up, (the room number stays|same room number) => OK: floor {=n1+1}, room {m1}. => {n1} + 1 = {=n1+1}, the room stays {m1}.
? (which|what) floor[ now][?] => {=n1+1} => One up from {n1}: {n1} + 1 = {=n1+1}. ; (which|what) room[ now][?] => {m1}
@(there are|I see|I counted) {m1} {x1=sheep/ducks/swans/cows} and {n1} {x2=donkeys/horses/geese/dogs} => OK: {m1} {x1}, {n1} {x2}. ; Noted: {m1} {x1} and {n1} {x2}.
? how many animals( is that| are there|)[?] => {=m1+n1} => {m1} + {n1} = {=m1+n1}. ; what are there more of[?] => {x1} => {m1} {x1}, {n1} {x2}: more {x1}.
+{e1} of the {x1} (leave|walk off|disappear) => Then {=m1-e1} {x1} are left. => {m1} - {e1} = {=m1-e1}.
? how many {x1} are (left|there now)[?] => {=m1-e1} => {m1} - {e1} = {=m1-e1}. ; how many animals now[?] => {=m1-e1+n1} => {=m1-e1} + {n1} = {=m1-e1+n1}.
@(my|the) password hint is {word1} (and|, and) the (hint|question) for the (bank|other one) is {word2}[, nothing more] => Noted: {word1} and {word2}. ; Got it: {word1}, {word2}.
! what was the (first |password )hint[?] => {word1} ; what is the other (hint|one)[?] => {word2}
@(I'm|I am) (looking for|hunting for) (a flat|a room) (in|near) {city1}, {h1} (a month |)at most => Good luck! Noted: {city1}, at most {h1}. ; OK: {city1}, up to {h1}.
! where (am I looking|do I look)[?] => in {city1} ; what (can|will) I pay[ at most][?] => {h1} ; (one|a flat) costs {=h1+k1}, is that ok[?] => No, that is {k1} too much. => At most {h1}; {=h1+k1} - {h1} = {k1} too much.
~ how many rooms do I want[?]
@(hi|hello)[,] {name1} here (again|)[.|!|] => Hello {name1}! ; Hello {name1}, how can I help?
! who am I[?] => You are {name1}. => The user is {name1}. ; (what's|what is) my name[?] => {name1}
+(I was|I've been) (told|promised) a (refund|call|reply) by {day1} => I see: by {day1}. ; Noted: by {day1}.
! (until|by) when(| was it promised)[?] => by {day1} ; (what|which) day was (I told|promised)[?] => {day1}
@(please |)(speak|write) (to me |)(politely|nicely)[, please] => Of course, gladly. ; Gladly.
+(I'm|my name is) {name1}, (by the way|and you) => Nice to meet you, {name1}.
! (what's|what is) my name[?] => {name1}
@I (drink|have) {n1} (cups of coffee|coffees) a day => That keeps you awake! ; {n1} a day, I see.
? how many is that (a|in a) week[?] => {=n1*7} => {n1} x 7 = {=n1*7}. ; how many (a day|do I drink)[?] => {n1}
+(from tomorrow on|I want to get down to) (only |)one less => Good: {=n1-1} a day. => {n1} - 1 = {=n1-1}.
? (and |)how many (a|per|in a) week then[?] => {=(n1-1)*7} => {=n1-1} x 7 = {=(n1-1)*7}.
@we lost (against|to) {team1}, {n1} to {=n1+1} => Noted: {n1} to {=n1+1}. ; OK: {n1} to {=n1+1}.
! (against whom|who did we play)[?] => {team1}
@{mister1} is my {x1=dentist/tax adviser/driving teacher/vet} and {mister2} my {x2=landlord/doctor/piano teacher/lawyer} => Noted: {mister1} and {mister2}. ; Got it: {mister1} is your {x1}, {mister2} your {x2}.
? who is my {x2}[?] => {mister2} ; who is {mister2}[?] => your {x2}
! who is my {x1}[?] => {mister1} ; what is {mister1}[?] => your {x1}
+(we changed|I changed|I have a new) {x2}[,|:] (now it's|it's|that's) {mister3} [now] => OK, {mister3} is your {x2} now. => The {x2} changes: {mister3}, no longer {mister2}.
! who is my {x2}[ now][?] => {mister3} => Now {mister3}, no longer {mister2}. ; who is {mister3}[?] => your {x2}
@{x1=red/blue/green/black} is for paper and {x2=yellow/brown/grey/white} for {x3=glass/plastic/metal}[, the bins I mean] => Got it: {x1} for paper, {x2} for {x3}.
! (what goes|what do I put) (in|into) the {x2} (bin|one)[?] => {x3} ; (where|which bin) (does paper go|is for paper)[?] => the {x1} one ; (where|which bin) (does {x3} go|is for {x3})[?] => the {x2} one
@(when I say|if I say|if I write) {word1}[,] (you say|answer with|you answer) {word2} => OK: {word1}, then {word2}.
+{word1} => {word2} => The user says {word1}: I say {word2}.
@(my|the) {x1=tent/oven/sofa/drill} (cost|was) {h1} (new|in the shop), I (paid|got it for) {k1} less => A good buy: {=h1-k1}. => {h1} - {k1} = {=h1-k1}.
! what did I pay[?] => {=h1-k1} => {k1} less than {h1}: {h1} - {k1} = {=h1-k1}. ; what (did it cost|was it) new[?] => {h1} ; how much did I save[?] => {k1}
@{name1} has the (morning|early) shift, {name2} the (late|evening) one => Noted: {name1} early, {name2} late.
? who (works|is on) (in the evening|late)[?] => {name2} ; who (works|is on) (early|in the morning)[?] => {name1}
+(swap them|they swap|turn it round|the other way round) => OK: {name2} early, {name1} late. => They change places.
? who (works|is on) (in the evening|late) now[?] => {name1} => Now {name2} early, {name1} late. ; who (works|is on) early now[?] => {name2} => Now {name2} early, {name1} late.
@(three|3) things: {x1=the lamp/the tap/the bell} is broken, {x2=the bill/the rent/the phone} is unpaid, and {x3=the cat/the dog/the goldfish} is hungry => I see: {x1}, {x2} and {x3}.
! what is broken[?] => {x1} ; what is unpaid[?] => {x2} ; who is hungry[?] => {x3}
+{x2} is paid( now|) => Good. Then {x1} and {x3} are left. => {x1}, {x2}, {x3}, without {x2}.
? what('s| is) (left|still open)[?] => {x1} and {x3} => {x2} is paid.
"""
