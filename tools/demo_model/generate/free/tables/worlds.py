"""Small worlds as tables. A world: its name, how its subject is said, and its facts.

A fact: key | kind of value | sentences | questions, with ; between alternatives. {S} is the subject at the beginning of a
sentence, {s} elsewhere and in questions, {H} and {h} its possessive, {v} the value. A key with ! is in every text; its
first sentence makes the summary. Patterns as in grammar.py.
"""

WORLDS = """
@person
job! | job | {S} (works|earns {h} living) as {a}. ; {S} is {a}[ by profession]. ; {S} has been {a} for many years. | What does {s} do [for a living|for work]? ; What is {h} job? ; (which|what) (profession|job) does {s} have ; {s} works as what? ; What kind of work does {s} do? ; what's {h} occupation
city! | city | {S} lives in {v}. ; {H} home is in {v}. ; {S} has a (small|bright|large) flat in {v}. ; {S} moved to {v} (last year|a while ago|after school). | Where does {s} live? ; (in which|what|which) city does {s} live [in]? ; where is {h} home ; What is {h} home town?
age | age | {S} is {v} years old. ; {S} turned {v} (in spring|last week|this year). | How old is {s}? ; what's {h} age ; {h} age? ; What age is {s}?
birthplace | city | {S} was born in {v}. ; {S} grew up in {v}. ; {S} comes from {v}. | Where was {s} born? ; where does {s} come from ; In which city did {s} grow up? ; What is {h} birthplace?
pet | petnamed | {S} has a {v}. ; At home a {v} waits for {o}. ; {H} best friend is a {v}. | (What|Which) (pet|animal) does {s} have? ; does {s} have a pet? which one? ; What pet lives with {s}? ; {h} pet?
instrument | instrument | {S} plays the {v} [in {h} free time|in a band|every evening]. ; In the evening {s} practises the {v}. | (What|Which) instrument does {s} play? ; what does {s} play [in {h} free time] ; {h} instrument?
hobby | hobby | {H} hobby is {v}. ; In {h} free time {s} enjoys {v}. ; {S} loves {v}. | What is {h} hobby? ; what does {s} (like to do|enjoy) [in {h} free time|on weekends]? ; How does {s} spend {h} free time?
food | dish | {H} favourite (food|dish) is {v}. ; {S} could eat {v} every day. | What is {h} favourite (food|dish)? ; what does {s} like to eat? ; Which food does {s} like most?
color | color | {S} drives a {v} car. ; {H} car is {v}. | What color is {h} car? ; which colour does {h} car have ; The color of {h} car?
sibling | name | {H} (brother|sister) {v} lives abroad. ; {S} has a twin called {v}. ; {H} cousin is called {v}. | What is the name of {h} (relative|brother or sister|cousin|twin)? ; Who is related to {s}?
employer | company | {S} works (for|at) {v}. ; {H} employer is {v}. ; {S} has a job at {v}. | (Where|For whom|For which company) does {s} work? ; who is {h} employer ; What company does {s} work for? ; What's the name of {h} company?
married | year | {S} got married in {v}. ; {H} wedding was in {v}. | When did {s} get married? ; In (which|what) year (did {s} marry|was {h} wedding)? ; year of the wedding?
children | count | {S} has {n} children. ; {S} is a parent of {n}. | How many (children|kids) does {s} have? ; number of {h} children? ; does {s} have kids, and how many?
language | language | {S} speaks {v} fluently. ; {S} is learning {v}. ; {S} took a course in {v}. | (What|Which) language does {s} (speak|know|learn)? ; which foreign language does {s} know?
transport | transport | {S} goes to work by {v}. ; Every morning {s} takes the {v}. | How does {s} (get|go|travel) to work? ; what does {s} take to work
moved | year | {S} came here in {v}. ; {S} has been here since {v}. | Since when has {s} been here? ; (When|In which year) did {s} come [here]? ; what year did {s} arrive?
drink | drink | {S} drinks {v} (with every meal|all day|in the morning). ; Without {v} {s} cannot start the day. | What does {s} drink? ; (which|what) drink does {s} like ; {h} favourite drink?
@shop
sells! | goods | {S} sells {v}. ; You can buy {v} at {s}. ; {S} is known for {h} {v}. | What (does {s} sell|can you buy [at {s}])? ; what is sold there ; What kind of shop is it? ; What is {s} known for?
street! | street | {S} is on {v}. ; You find {t} on {v}. ; {H} address is {v}. | (Where|On which street) is {s}? ; what's the address [of {s}] ; which street is it on? ; Where can I find {s}?
owner | person | {H} owner is {v}. ; {S} belongs to {v}. ; {v} (runs|owns) {s}. ; {v} has run {s} for years. | Who (owns|runs) {s}? ; who is the owner [of {s}] ; To whom does {s} belong? ; name of the owner?
opens | clock | {S} opens at {v}. ; The doors open at {v} [every morning]. | When does {s} open? ; (at what time|what time) does it open ; From when is {s} open? ; opening time?
closes | clock | {S} closes at {v}. ; At {v} the doors are closed. | When does {s} close? ; what time does it (close|shut) ; Until when is {s} open? ; how late can I shop there
shut | day | On {v}s {s} stays (closed|shut). ; {S} is closed on {v}s. ; {S} does not open on {v}s. | On which day is {s} (closed|shut)? ; which day is it closed ; What day does {s} not open?
since | year | {S} has been there since {v}. ; {S} opened in {v}. ; {S} was founded in {v}. | Since when (has {s} existed|does {s} exist)? ; (when|in which year) was {s} (founded|opened) ; How long has it been there, since which year? ; founding year?
staff | count | {n} people work there. ; {S} has {n} employees. ; {H} staff are {n} people. | How many (people|employees) (work [there|at {s}]|does {s} have)? ; how big is the staff ; number of employees?
discount | percent | Students get {v} percent off. ; Members pay {v} percent less. | (How much|What) discount do (students|members) get? ; how many percent less do members or students pay? ; discount?
phone | phone | {H} phone number is {v}. ; Call {v} for orders. ; You can reach {s} on {v}. | What is the (phone|telephone) number [of {s}]? ; how can I (call|reach) them ; which number do I call?
door | color | {H} door is {v}. ; You know {s} by the {v} door. | What color is the door [of {s}]? ; which colour has the door? ; door color?
parking | count | There are {n} parking spaces behind the house. ; {S} has {n} parking spaces. | How many parking spaces (are there|does {s} have)? ; parking spaces?
@event
what! | eventkind | {S} is a {v}. ; {S} is a {v} this year again. | What (kind of event is {s}|is {s})? ; what sort of event is it
day! | dayofmonth | {S} takes place on {v}. ; It happens on {v}. ; {H} date is {v}. | When (is|does) {s} (take place|happening)? ; (on which|what) (day|date) is it ; What is the date of {s}? ; when is it?
place! | venue | {S} is held in {v}. ; We meet in {v}. ; The place is {v}. | Where (is|does) {s} [take place|held]? ; (what|which) is the (place|venue) ; where do we meet? ; Where do I have to go?
time | clock | It starts at {v}. ; {S} begins at {v}. ; Doors open at {v}. | (When|At what time) does it (start|begin)? ; what time does {s} start ; starting time? ; How early do I have to be there?
price | price | A ticket costs {v}. ; The entry fee is {v}. ; You pay {v} at the door. | How much (is|does) (a ticket|the ticket|entry) [cost]? ; what does it cost [to get in] ; What is the (price|fee)? ; ticket price?
guests | count2 | {n} guests are expected. ; Last year {n} people came. ; There is room for {n} people. | How many (guests|people|visitors) (are expected|came|can come|are there)? ; number of guests?
host | person | {v} (organises|hosts) it. ; {v} will open the event. ; The host is {v}. | Who (organises|hosts|opens) (it|{s})? ; who is the host ; Who is in charge? ; organiser?
food | dish | There will be {v} for everybody. ; {v} is served [at noon|in the evening]. | What (is served|food will there be|is there to eat)? ; what can I eat there ; food?
bring | item | Please bring a {v}. ; Everybody should bring a {v}. ; Do not forget a {v}. | What should (I|people|we|guests) bring? ; what do I have to bring ; What must not be forgotten?
music | instrument | A {v} player makes the music. ; The music comes from a {v} group. | (What|Which) instrument (will be|is) played? ; what music is there?
rain | venue | If it rains, everyone moves to {v}. ; In case of rain it is held in {v}. | Where (is it|do we go) if it rains? ; what happens (in case of rain|when it rains)? ; rain plan?
contact | email | Questions go to {v}. ; Write to {v} to sign up. ; Register at {v}. | (Which|What) email address (can I write to|is given)? ; how do I sign up ; Where can I register? ; contact address?
@trip
dest! | city | {S} travelled to {v}. ; {S} spent a (week|weekend|few days) in {v}. ; {S} went on a trip to {v}. | Where did {s} (go|travel [to])? ; which city did {s} visit ; What was the destination? ; (where|in which city) did {s} spend the time?
by! | transport | {S} went by {v}. ; The journey was by {v}. ; {S} took the {v}. | How did {s} (get there|travel|go)? ; by what means did {s} travel ; What did {s} take to get there?
with | name | {v} came along. ; {S} travelled together with {v}. ; {H} friend {v} came too. | (Who|Which friend) (came along|travelled with {s}|was with {s})? ; who did {s} travel with ; {h} companion?
hotel | hotel | {S} stayed at {v}. ; {S} slept at {v}. ; {H} room was at {v}. | Where did {s} (stay|sleep)? ; which hotel was it ; What was the name of the hotel? ; Where was {h} room?
days | count | The trip took {n} days. ; {S} stayed for {n} nights. ; After {n} days {s} came home. | How (long|many days) (was the trip|did it last|did {s} stay)? ; how many (days|nights) ; length of the trip?
saw | sight | On the (first|second|last) day {s} visited {v}. ; {S} liked {v} most. ; {S} took many photos of {v}. | What did {s} (visit|see|like most|take photos of)? ; which sight did {s} see ; What was the highlight?
ate | dish | {S} ate {v} (every evening|at the harbour|in a small restaurant). ; The {v} was delicious. | What did {s} eat? ; which food did {s} try ; What was delicious?
weather | weather | It was {v} most of the time. ; The weather was {v}. | What was the weather like? ; how was the weather ; Was the weather good?
lost | item | {S} lost a {v} on the way. ; On the way back {s} forgot a {v} on the seat. ; Sadly {h} {v} was stolen. | What (did {s} lose|went missing|was lost or stolen)? ; which thing did {s} lose
cost | price | The whole trip cost {v}. ; {S} paid {v} for everything. | How much did (the trip|it|everything) cost? ; what did {s} pay ; total cost?
bought | item | As a souvenir {s} bought a {v}. ; {S} brought home a {v}. | What (souvenir did {s} buy|did {s} buy|did {s} bring home)? ; which souvenir ; What did {s} take home?
month | month | It was in {v}. ; {S} left at the beginning of {v}. | In (which|what) month (was the trip|did {s} leave|did {s} travel)? ; when did {s} travel?
@team
leader! | person | {v} leads the team. ; The head of {s} is {v}. ; {v} is in charge of {s}. | Who leads (the team|{s})? ; who is the (boss|head|leader) [of {s}] ; Who is in charge [of {s}]? ; team leader?
task! | project | {S} works on {v}. ; {S} is building {v}. ; {H} job is {v}. | What (does {s} (do|work on)|is {h} project)? ; what is the team (building|working on) ; Which project does {s} have?
size | count | {S} has {n} members. ; {n} people belong to {s}. | How many (members|people) (does {s} have|are in the team)? ; how big is (the team|{s}) ; team size?
tests | name | {v} does the testing. ; {v} tests everything [twice]. | Who (does the testing|tests [the work|everything])? ; who is the tester?
designs | name | {v} is responsible for the design. ; {v} draws the screens. | Who (does the design|designs|draws the screens|is responsible for the design)? ; designer?
customers | name | {v} talks to the customers. ; {v} answers the customers' questions. | Who (talks to|answers) (the customers|the customers' questions)? ; who deals with customers?
money | name | {v} looks after the money. ; {v} keeps the books. | Who (looks after the money|keeps the books)? ; who is responsible for the (money|budget|finances)?
deadline | dayofmonth | Everything must be finished by {v}. ; The deadline is {v}. ; {S} wants to be done by {v}. | (When|By when) (is the deadline|must it be finished)? ; deadline? ; what is the last day ; (until|by) which date must they finish?
room | room | {S} sits in {v}. ; {H} office is {v}. ; You find {t} in {v}. | (Where|In which room) (does {s} sit|is the office)? ; which room do they have? ; Where can I find them?
meeting | day | {S} meets every {v}. ; On {v}s there is a (short|long) meeting. | (When|On which day) (does {s} meet|is the meeting)? ; meeting day?
problem | problem | The biggest problem is {v}. ; Right now {s} struggles with {v}. ; {v} slows {s} down. | What is the [biggest] problem? ; what (does {s} struggle with|slows {s} down)? ; Which problem do they have?
budget | price | The budget is {v}. ; {S} may spend {v}. | (What|How (big|high)) is the budget? ; how much may {s} spend ; budget?
tool | proglang | The code is written in {v}. ; {S} uses {v} for everything. | (What|Which) [programming] language (do they use|is it written in|does {s} use)? ; what is the code written in?
@building
was! | venuekind | {S} was built as a {v}. ; A long time ago {s} was a {v}. ; Once {s} served as a {v}. | What was {s} (built as|in the past|once|before)? ; what did {s} use to be ; What was it originally?
built! | year | {S} was built in {v}. ; It dates from {v}. ; The first stone was laid in {v}. | (When|In (which|what) year) was {s} built? ; from when is {s} ; how old is {s}, from which year? ; year of construction?
city | city | {S} stands in {v}. ; You find {t} in {v}. ; {S} is in the centre of {v}. | (Where|In which city) is {s}? ; what city is it in ; which town does {s} stand in? ; location?
floors | count | {S} has {n} floors. ; There are {n} floors. | How many floors (does {s} have|are there)? ; number of floors?
height | metres | {S} is {v} metres high. ; {H} tower is {v} metres tall. | How (high|tall) is (it|{s}|the tower)? ; what is the height ; height in metres?
architect | person | The architect was {v}. ; {v} designed {s}. ; {v} drew the plans. | Who (designed|planned) {s}? ; who was the architect ; Who drew the plans? ; architect?
material | material | The walls are made of {v}. ; {S} is built of {v}. | What are the walls made of? ; which material (was used|is {s} made of) ; What is {s} built of?
now | venuekind | Today {s} is a {v}. ; Now {s} is used as a {v}. | What is {s} (today|now|used as today)? ; what is it used for now?
fire | year | A fire damaged {s} in {v}. ; In {v} {s} burned down and was rebuilt. | (When|In which year) was (there a fire|the fire)? ; when did it burn?
tickets | price | A visit costs {v}. ; Visitors pay {v}. ; The entrance fee is {v}. | How much (is|does) (a visit|the entrance|a ticket) [cost]? ; what do visitors pay ; entrance fee?
visitors | count2 | Every (year|month|week) {n} visitors come. ; About {n} people visit {s} every week. | How many (visitors|people) (come|visit {s})? ; number of visitors?
roof | color | {H} roof is {v}. ; From far away you see the {v} roof. | What color is the roof? ; which colour does the roof have? ; roof color?
windows | count2 | {S} has {n} windows. ; People say {s} has {n} windows. | How many windows (does {s} have|are there)? ; number of windows?
@device
price! | price | {S} costs {v}. ; The price is {v}. ; You get {s} for {v}. | How much (does {s} cost|is {s})? ; what's the price [of {s}] ; price? ; What do I have to pay for {s}?
weight! | weight | {S} weighs {v}. ; {H} weight is {v}. ; With {v} it is light. | How (heavy is {s}|much does {s} weigh)? ; what is the weight ; weight?
color | color | It comes in {v}. ; {S} is {v}. ; The case is {v}. | (What|Which) color (is {s}|does {s} have|does it come in)? ; colour?
battery | hours | The battery lasts {v} hours. ; It runs {v} hours on one charge. | How long does the battery last? ; battery life? ; how many hours does it run [on one charge]?
material | material | The case is made of {v}. ; {S} is made of {v}. | What is (it|{s}|the case) made of? ; which material is it? ; material?
warranty | years | The warranty is {v} years. ; You get {v} years of warranty. | How long is the warranty? ; how many years of warranty ; warranty?
maker | company | {S} is made by {v}. ; {v} makes {s}. ; The company behind {s} is {v}. | Who makes {s}? ; which company (makes|builds) {s} ; manufacturer? ; What company is behind it?
buttons | count | {S} has {n} buttons. ; There are {n} buttons on the front. | How many buttons (does {s} have|are there)? ; number of buttons?
for | group | {S} is made for {v}. ; {v} will like {s} most. | Who is {s} (for|made for)? ; for whom is it made ; who will like it most?
country | country | It is produced in {v}. ; The parts come from {v}. | Where (is {s} produced|do the parts come from)? ; in which country is it made? ; country of origin?
screen | inches | The screen measures {v} inches. ; It has a {v} inch screen. | How (big|large) is the screen? ; screen size?
missing | item | A {v} is not included. ; You have to buy a {v} separately. | What is not included? ; what do I have to buy separately?
@match
winner! | team | {v} won the (game|match|final). ; The winner was {v}. ; In the end {v} won. | Who won [the (game|match|final)]? ; which team won ; the winner? ; What was the winning team?
score! | score | The final score was {v}. ; It ended {v}. ; The result: {v}. | What was the (final score|score|result)? ; how did it end ; score?
scorer | person | {v} scored the (first|last|decisive) goal. ; The most important goal came from {v}. | Who scored [the (first|last|decisive|most important) goal]? ; scorer?
crowd | count2 | {n} people watched. ; There were {n} spectators. | How many (people|spectators) (watched|were there)? ; how big was the crowd ; attendance?
where | city | The game was played in {v}. ; The teams met in {v}. | Where (was the game|did they play|did the teams meet)? ; in which city was it played ; place?
injured | person | {v} was injured and had to leave. ; {v} hurt a knee. | Who (was injured|hurt a knee|had to leave)? ; which player was hurt?
minute | minute | The last goal fell in minute {v}. ; In minute {v} it was decided. | In which minute (did the last goal fall|was it decided)? ; when was the last goal ; minute?
coach | person | Coach {v} was (happy|satisfied|angry|proud). ; {v} is the coach. | Who is the coach? ; what is the name of the coach ; coach?
weather | weather | It was {v} all evening. ; The weather was {v}. | How was the weather? ; what was the weather like?
next | day | The next game is on {v}. ; On {v} they play again. | When is the next (game|match)? ; (when|on which day) do they play again?
referee | person | The referee was {v}. ; {v} was the referee. | Who was the referee? ; name of the referee?
tickets | price | Tickets were {v}. ; A seat cost {v}. | How much (was a ticket|were the tickets|did a seat cost)? ; ticket price?
@animal
eats! | diet | {S} eat{z} {v}. ; {H} food is {v}. ; {S} live{z} on {v}. | What do{z2} {s} eat? ; what is {h} food ; What do{z2} {s} live on? ; diet?
lives! | habitat | {S} live{z} in {v}. ; You find {t} in {v}. ; {H} home is {v}. | Where do{z2} {s} live? ; where can you find {s} ; What is {h} (home|habitat)? ; habitat?
length | metres | {S} grow{z} up to {v} metres long. ; A large one measures {v} metres. | How (long|big|large) do{z2} {s} (grow|get)? ; length?
age | age | {S} can live for {v} years. ; Some reach {v} years. | How (old do{z2} {s} get|long do{z2} {s} live)? ; what age do they reach? ; life span?
young | count | A female has {n} young a year. ; Every spring there are {n} young. | How many young (does a female have|are there)? ; number of young?
color | color | {H} fur is {v}. ; The back is {v}. | What color is {h} (fur|back)? ; which colour (has|is) the (fur|back)?
enemy | animal | {H} worst enemy is the {v}. ; The {v} hunts {o}. | (Who|What) is {h} [worst] enemy? ; which animal hunts {o} ; enemy? ; What animal is dangerous for {o}?
active | daytime | {S} {be} active {v}. ; {S} hunt{z} {v}. | When {be} {s} active? ; when do{z2} {s} hunt
speed | speed | {S} can run {v} kilometres an hour. ; {H} top speed is {v} kilometres an hour. | How fast {be} {s}? ; top speed? ; How fast can {s} run?
sleeps | hours | {S} sleep{z} {v} hours a day. ; {v} hours a day are spent asleep. | How (long|much|many hours) do{z2} {s} sleep? ; hours of sleep?
teeth | count | {S} {have} {n} teeth. ; In {h} mouth are {n} teeth. | How many teeth do{z2} {s} have? ; number of teeth?
left | count2 | Only {n} of them are left. ; There are about {n} of them in the wild. | How many [of them] are (left|there)? ; how many live in the wild? ; number?
@village
people! | count2 | {S} has {n} inhabitants. ; {n} people live in {s}. | How many (people|inhabitants) (live [there|in {s}]|does {s} have)? ; population? ; how big is {s}
river! | river | {S} lies on the {v}. ; The {v} runs through {s}. ; Through {s} flows the {v}. | (Which|What) river (runs through|flows through|is in) {s}? ; on which river is it ; name of the river?
mayor | person | The mayor is {v}. ; {v} has been mayor for (two|six|ten) years. | Who is the mayor [of {s}]? ; what's the mayor's name ; mayor?
festival | month | Every {v} there is a big festival. ; The festival is in {v}. | When is the festival? ; in which month is the festival ; (festival month|month of the festival)?
known | goods | {S} is famous for {h} {v}. ; Everybody knows {s} for {h} {v}. | What is {s} (famous|known) for? ; why do people know {s} ; famous for what?
bridge | material | The old bridge is made of {v}. ; A bridge of {v} leads into {s}. | What is the bridge made of? ; which material is the bridge?
school | count | There are {n} schools. ; {S} has {n} schools. | How many schools (are there|does {s} have)? ; number of schools?
station | year | The railway came in {v}. ; The station was opened in {v}. | When (did the railway come|was the station opened)? ; in which year was the station opened?
distance | km | It is {v} kilometres from the sea. ; The next city is {v} kilometres away. | How (far|many kilometres) is it (to|from) (the sea|the next city)? ; distance?
market | day | Market day is {v}. ; On {v}s there is a market. | (When|On which day) is the market? ; market day?
church | color | The church has a {v} tower. ; From afar you see a {v} tower. | What color is the tower? ; which colour is the (church's tower|tower)?
doctor | person | The only doctor is {v}. ; {v} is the village doctor. | Who is the doctor? ; what is the doctor called?
@mail
sender! | name | - | Who (wrote|sent|is the sender of) (this|the mail|the message)? ; who is it from ; sender? ; From whom is this?
receiver! | name | - | Who (is it|is this|is the mail) (for|addressed to)? ; who gets this ; receiver? ; To whom was it written?
topic! | mailtopic | It is about {v}. ; I am writing about {v}. ; A short note about {v}. | What is (the mail|this|it) about? ; topic? ; what does the mail speak of? ; subject of the mail?
when | day | Can we talk on {v}? ; Let us meet on {v}. ; I am free on {v}. | When (do they want to|can they|should they) (meet|talk)? ; which day is proposed ; On which day is the sender free?
time | clock | {v} would be good. ; How about {v}? ; I can be there at {v}. | At what time? ; which time (is proposed|would be good) ; What time is suggested?
where | room | The place is {v}. ; We could use {v}. ; I booked {v}. | Where (do they meet|is the meeting)? ; which room ; place?
bring | item | Please bring the {v}. ; I need the {v} back. ; Don't forget the {v}. | What should be brought? ; what does the sender (need|ask for) ; What must not be forgotten?
count | count | We will be {n} people. ; {n} of us will come. | How many people (will come|will there be)? ; number of people?
reason | reason | The reason is {v}. ; We have to do it because of {v}. ; It is all because of {v}. | Why? ; what is the reason ; because of what?
late | dayofmonth | The report is due on {v}. ; Everything has to be ready by {v}. | (When|By when) (is it due|must it be ready)? ; due date?
phone | phone | Call me on {v}. ; My number is {v}. | What is (the|the sender's) [phone] number? ; which number can be called?
cost | price | It will cost {v}. ; The price is {v}. | (How much|What) (will it|does it) cost? ; price?
person | name | {v} will help us. ; {v} knows more. ; Ask {v} if you have questions. | Who (will help|knows more|can be asked)? ; who else is named?
"""
