"""Whole texts of everyday life, with what is asked of each sentence and across them.

@ begins a text; each line is a sentence: text | question => answer [=> thought] ; ... | questions that it leaves open ; ...
"/" before a sentence begins a new line, "//" a paragraph. Slots as in filled.py and paragraphs.py; all lines of a text share
them. No name, town, weekday, clock time, date, mail address, phone number or street stands in a text but in a slot, so that all of
a kind are known. Patterns as in grammar.py.
"""

LETTERS = r"""
@
Hi {name1}, | who is the (mail|message|note) (to|for)[?] => {name1} ; whom does {name2} write to[?] => {name1} => It begins with {name1} and ends with {name2}.
/I moved our lunch from {day1} to {day2}, since {name3} needs the car that day. | when is the lunch now[?] => on {day2} ; which day was (it|the lunch) (planned for|on) (before|originally)[?] => {day1} ; why was the lunch moved[?] => because {name3} needs the car ; who needs the car[?] => {name3} ; what was moved[?] => the lunch ; is the lunch still on {day1}? => No, it is on {day2} | where do they have lunch[?] ; what do they want to eat[?]
Please bring the {x1=green folder/photos/old tickets/spare key} and tell your sister {name4} to come as well. | what (should|must) {name1} bring[?] => the {x1} ; who is {name4}[?] => {name1}'s sister => {name1} is told: your sister {name4}. ; who else (is invited|should come)[?] => {name4} ; whose sister is {name4}[?] => {name1}'s => {name1} is told: your sister {name4}. | how old is {name4}[?]
I'll pay this time. | who pays[?] => {name2} => "I" is {name2}, who wrote it. | how much will it cost[?]
/{name2} | who (wrote|sent) (this|the mail|it)[?] => {name2} => It is signed {name2}. ; from whom is (this|it)[?] => {name2} => It is signed {name2}.
@
NOTICE: The (lift|elevator) in {street1} is out of order until {day1}. | what is out of order[?] => the lift ; until when is it (broken|out of order)[?] => until {day1} ; where is the (broken|) lift[?] => in {street1} ; does the lift work (right now|today)? => No | who broke (it|the lift)[?] ; how many floors does the house have[?]
A technician, {mister1}, will come on {day2} at {clock1} to replace the {x1=motor/cable/door/control panel}. | who (comes|will come) to repair it[?] => {mister1} ; when does the technician come[?] => on {day2} at {clock1} ; what has to be replaced[?] => the {x1} ; what is {mister1}'s job[?] => technician | how much does the repair cost[?]
Residents who cannot use the stairs can ring the caretaker, {name1}, on {phone1}. | who is the caretaker[?] => {name1} ; which number should (people|one) (ring|call)[?] => {phone1} ; what is {name1}[?] => the caretaker ; who should ring {name1}[?] => residents who cannot use the stairs |
Deliveries are left in {x2=the cellar/the hall/the bike room} meanwhile. | where (are|do) deliveries (left|go)[ in the meantime][?] => in {x2} ; what is left in {x2}[?] => deliveries | who carries the deliveries up[?]
@
Dear diary, today was {x1=strange/long/a mess/wonderful}. | how was the day[?] => {x1} |
I missed the {x2=bus/tram/ferry} because I went back for my {x3=gloves/lunch/umbrella/phone}, and so {name1} had to start the meeting without me. | what did the writer miss[?] => the {x2} ; why did the writer miss the {x2}[?] => because of the {x3} => The writer went back for the {x3} and so missed the {x2}. ; who started the meeting[?] => {name1} ; what did the writer go back for[?] => the {x3} | what was the meeting about[?]
At noon I had {dish1} with {name2}, who told me that {he} is moving to {city1} in {month1}. | what did the writer (eat|have) [at noon][?] => {dish1} ; who is moving[?] => {name2} ; where is {name2} (moving|going)[?] => to {city1} ; when (does|will) {name2} move[?] => in {month1} ; with whom did the writer eat[?] => {name2} | why does {name2} move[?] ; what did the lunch cost[?]
In the evening I found the {x4=ring/letter/watch/ticket} I had lost {w1} weeks ago; it was {x5=inside a boot/behind the fridge/in a cookbook/under the mat}. | what did the writer find[?] => the {x4} ; where was the {x4}[?] => {x5} ; how long (had|was) the {x4} (been |)(lost|missing|gone)[?] => {w1} weeks | who found it[ first][?]
@
For sale: {color1} {x1=sofa/wardrobe/desk/armchair}, {w1} years old, {price1} euros. | what is for sale[?] => a {color1} {x1} ; how old is the {x1}[?] => {w1} years ; (how much|what) does (it|the {x1}) cost[?] => {price1} euros ; what colour is the {x1}[?] => {color1} ; is the {x1} new? => No, it is {w1} years old | who made the {x1}[?] ; how heavy is (it|the {x1})[?]
One {x2=leg/drawer/hinge/corner} is {x3=scratched/loose/missing/cracked}, otherwise it is in good condition. | what is wrong with it[?] => one {x2} is {x3} ; which part is {x3}[?] => one {x2} |
I sell it because we are moving into a smaller flat. | why (is it sold|does the seller sell it)[?] => because they are moving into a smaller flat ; (is|will) the new flat (be |)(bigger|larger)? => No, it is smaller | where is the new flat[?]
Pick it up in {city1} by {day1}; I can't deliver. | where (can|must) it be picked up[?] => in {city1} ; until when can (you|one) get it[?] => by {day1} ; does the seller deliver[ it]? => No |
Call {name1}: {phone1}, evenings only. | who sells (it|the {x1})[?] => {name1} ; when (can|should) (one|I|you) call[?] => in the evening => It says: evenings only. ; what's the (phone|) number[?] => {phone1} |
@
Minutes of the {x1=garden/chess/choir/sailing} club, {date1}. | which club is it[?] => the {x1} club ; when was the meeting[?] => {date1} ; what date was it[?] => {date1} | where did (they|the club) meet[?]
/Present: {name1} as chair, {name2}, {name3}. | who (was|is) the chair[?] => {name1} ; who was (present|there)[?] => {name1}, {name2}, {name3}
/{name2} reported that {m1} new members joined and {n1} left. | how many (people|members) joined[?] => {m1} ; how many left[?] => {n1} ; by how many did the club grow[?] => {=m1-n1} => {m1} joined and {n1} left: {m1} - {n1} = {=m1-n1}. ; who reported on the members[?] => {name2} | how many members does the club have (in all|now)[?]
/The {x2=summer party/trip/tournament/jumble sale} is postponed to {month1}, as the {x3=hall/boat/bus/lawn} is being repaired. | what is postponed[?] => the {x2} ; why is the {x2} postponed[?] => because the {x3} is being repaired ; to when is it postponed[?] => to {month1} ; what is being repaired[?] => the {x3} |
/{name3} will buy {x4=paint/new chairs/a kettle/seeds} for at most {price1} euros; {name1} writes to the {x5=mayor/bank/newspaper/landlord}. | what will {name3} buy[?] => {x4} ; how much may {name3} spend[?] => {price1} euros ; who writes to the {x5}[?] => {name1} ; what does {name1} have to do[?] => write to the {x5} ; who (buys|gets) {x4}[?] => {name3} | which shop does {name3} go to[?]
/Next meeting: {day1}, {clock1}, at {name2}'s place. | when is the next meeting[?] => {day1}, {clock1} ; where is the next meeting[?] => at {name2}'s place ; at whose place do they meet next[?] => {name2}'s |
@
{name1}: did you feed the {x1=rabbits/hens/fish/geckos}? | what did {name1} ask about[?] => the {x1} |
/{name2}: yes, at {clock1}, but we're out of {x2=hay/corn/flakes/pellets} | who fed the {x1}[?] => {name2} => {name1} asks for it and {name2} says yes. ; when were the {x1} fed[?] => at {clock1} ; what is (used up|finished|missing|all gone)[?] => {x2} ; did the {x1} get something to eat? => Yes | how many {x1} are there[?]
/{name1}: ok I'll get some tomorrow on my way from {x3=the gym/school/the dentist/the office} | who (will|is going to) (buy|get) {x2}[?] => {name1} ; when will {name1} get it[?] => tomorrow ; where will {name1} come from[?] => {x3} |
/{name2}: take my {x4=bike/van/bus pass/rucksack}, {name3} brought it back | what may {name1} (take|use)[?] => {name2}'s {x4} => {name2} says: take my {x4}. ; whose {x4} is it[?] => {name2}'s => {name2} says: my {x4}. ; who had the {x4} before[?] => {name3} => {name3} brought it back. | when did {name3} bring it back[?]
@
{name1} gave {name2} a {x1=book/scarf/puzzle/teapot}, and {name2} gave {name3} a {x2=plant/candle/mug/record}. | what did {name2} (get|receive)[?] => a {x1} ; what did {name3} get[?] => a {x2} ; who gave {name2} (the {x1}|something)[?] => {name1} ; from whom does {name3} have the {x2}[?] => from {name2} ; who got the {x1}[?] => {name2} ; who has the {x2} now[?] => {name3} | what did {name1} (get|receive)[?] ; where did {name1} buy the {x1}[?]
{name3} gave nobody anything, but {he} baked a {x3=cheesecake/pie/tart} for all of them. | who baked[ something][?] => {name3} ; what did {name3} (bake|make)[?] => a {x3} ; who gave nothing away[?] => {name3} |
They met at {name2}'s flat, because {name1}'s heating was broken. | where did they meet[?] => at {name2}'s flat ; why did they not meet at {name1}'s[?] => because {name1}'s heating was broken ; whose heating was broken[?] => {name1}'s | how long did they stay[?]
@
{name1} is the {x1=elder/younger} sister of {name2}. | who is {name1}[?] => {name2}'s {x1} sister ; how are {name1} and {name2} related[?] => {name1} is {name2}'s sister | how old is {name1}[?]
{name2} works for {name3}, who owns a {x2=bakery/garage/nursery/print shop} in {city1}. | who is {name2}'s boss[?] => {name3} ; what does {name3} (own|have)[?] => a {x2} ; where is the {x2}[?] => in {city1} ; who owns the {x2}[?] => {name3} ; where does {name2} work[?] => in a {x2} => {name2} works for {name3}, who owns a {x2}. | when was the {x2} opened[?]
On {day1} {name3} was ill, so {name1} helped out instead. | who was ill[?] => {name3} ; who helped[ out][?] => {name1} ; why did {name1} help[ out][?] => because {name3} was ill ; when was {name3} ill[?] => on {day1} ; who stood in for {name3}[?] => {name1} |
She sold {m1} {x3=loaves/tyres/roses/posters}, {n1} more than usual. | how many {x3} were sold[?] => {m1} ; how many does (the shop|one) (usually|normally) sell[?] => {=m1-n1} => {n1} more than usual: {m1} - {n1} = {=m1-n1}. | what does one cost[?]
@
Review: We stayed at {x1=the Harbour Inn/the Old Mill/Villa Rosa/the Station Hotel} for {w1} nights in {month1}. | where did they stay[?] => at {x1} ; how long did they stay[?] => {w1} nights ; when were they there[?] => in {month1} | how many (people|guests) were they[?]
The room was {x2=clean/huge/bright/quiet} but the {x3=shower/heating/wifi/door} did not work. | what was good about the room[?] => it was {x2} ; what did not work[?] => the {x3} ; what was the problem[?] => the {x3} did not work ; did the {x3} work? => No | which (room|) number did they have[?]
The owner, {mister1}, apologised and gave us {x4=a free breakfast/a bottle of wine/two umbrellas/a better room}. | who is the owner[?] => {mister1} ; what did they get from the owner[?] => {x4} ; who apologised[?] => {mister1} |
We paid {h1} euros in all, which is {x5=fair/too much/a bargain}. | how much did they pay[?] => {h1} euros ; what do they think of the price[?] => {x5} ; what did (it|the stay) cost (altogether|in total)[?] => {h1} euros |
I'd go again, my husband wouldn't. | would the writer go (there |)again? => Yes ; who would not go again[?] => the writer's husband => It says: my husband wouldn't. | what is (his|the husband's) name[?]
@
{city1}: A {x1=fire/water leak/power cut} closed the {x2=library/town museum/swimming pool} on {day1}. | what happened[ on {day1}][?] => a {x1} closed the {x2} ; what had to close[?] => the {x2} ; when (was it|did it happen)[?] => on {day1} ; in which (town|city) was it[?] => {city1} ; why did the {x2} close[?] => because of a {x1} | when does it open again[?]
Nobody was hurt, said {mister1} of the {x3=fire brigade/police/town hall}. | was anyone hurt? => No, nobody ; who said (so|that)[?] => {mister1} ; where does {mister1} work[?] => {x3} => {mister1} of the {x3}. |
The damage is about {kilo1} euros. | how (high|big|large) is the damage[?] => about {kilo1} euros | who pays for (it|the damage)[?]
A {x4=cleaner/teacher/guard/visitor} had smelled {x5=smoke/gas/something burnt} at {clock1} and called for help. | who called for help[?] => a {x4} ; what did the {x4} smell[?] => {x5} ; at what time was that[?] => at {clock1} ; when did the {x4} smell {x5}[?] => at {clock1} | what is the name of the {x4}[?]
@
{x1=Carrot soup/Apple pancakes/Bean stew/Fish pie} for {w1}: | how many people is (it|the recipe) for[?] => {w1} ; what (dish|) is the recipe for[?] => {x1} |
Fry {h1} grams of {food1} with {x2=an onion/two leeks/some celery} for {n1} minutes. | how much {food1} (does it need|is needed|do I need)[?] => {h1} grams ; how long does it fry[?] => {n1} minutes ; what is fried with {x2}[?] => {food1} |
Add the {food2} and {h2} ml of {x3=water/broth/cider}, and cook for another {m1} minutes. | how much {x3} (goes in|is needed)[?] => {h2} ml ; how long does it cook after that[?] => {m1} minutes ; what (is added|goes in) with the {x3}[?] => {food2} ; how long does it fry and cook together[?] => {=n1+m1} minutes => {n1} and {m1} minutes: {n1} + {m1} = {=n1+m1}. | how much {food2} (is needed|goes in)[?]
At the end stir in the {food3}, but only off the heat, or it turns {x4=bitter/grey/lumpy}. | what comes in last[?] => {food3} ; why must it be off the heat[?] => because it turns {x4} otherwise ; what happens if it is still hot[?] => it turns {x4} | how many calories does it have[?]
Serve with {x5=bread/rice/a salad}. | what is (it|the dish) served with[?] => {x5} ; what goes with it[?] => {x5} |
@
Hey all, quick update from {city1}. | where is the writer[?] => in {city1} |
{name1} got the {x1=visa/job/licence/flat}, {name2} didn't. | who got the {x1}[?] => {name1} ; who did not get (the {x1}|it)[?] => {name2} ; did {name2} get the {x1}? => No ; what did {name1} get[?] => the {x1} |
The weather is awful, so we spent most of {day1} in {x2=a museum/the cinema/a tea room/the aquarium} instead of at the {x3=beach/market/zoo/lake}. | where did they spend {day1}[?] => in {x2} ; why did they not go to the {x3}[?] => because the weather is awful ; where did they want to be[?] => at the {x3} ; how is the weather[?] => awful | what did the tickets cost[?]
{name3} lost {his} {x4=hat/purse/glasses}, but a {x5=waiter/child/driver} ran after us with it. | what did {name3} lose[?] => {his} {x4} ; who brought the {x4} back[?] => a {x5} ; did {name3} get the {x4} back? => Yes ; who lost something[?] => {name3} |
Back on {day2}. Don't water the cactus! | when do they come (back|home)[?] => on {day2} ; what (should|must) not be watered[?] => the cactus | who waters the (other|) plants[?]
@
From: {email1} |
/To: {email2} |
/Subject: {x1=Broken window/Invoice/Your application/Noise at night} | what is the (mail|message|subject) about[?] => {x1} => The subject: {x1}. ; what('s| is) the subject[?] => {x1} |
//Dear {mister1}, thank you for your letter of {date1}. | who is addressed[?] => {mister1} ; when did {mister1} write[?] => on {date1} ; what is the writer thankful for[?] => the letter of {date1} |
We can offer you {x2=a refund/a new appointment/a discount/a replacement}, but not before {month1}. | what is offered[?] => {x2} ; from when on[?] => {month1} => Not before {month1}. | how (high|big|much) is it[?]
Please send us {x3=a photo/your passport number/the receipt/your signature} by {day1}, otherwise we have to close the case. | what (should|must) {mister1} send[?] => {x3} ; by when[?] => by {day1} ; what happens (otherwise|if {mister1} does not (send it|answer))[?] => the case is closed => Otherwise they have to close the case. |
If you have questions, {name1} in our {city1} office is on {phone1}, from {clock1} to {clock2}. | who answers questions[?] => {name1} ; (what is|what's) {name1}'s number[?] => {phone1} ; where is {name1}'s office[?] => in {city1} ; until what time can one call[?] => {clock2} ; from when can I call[?] => from {clock1} => Reachable from {clock1} to {clock2}. |
@
On the table are {n1} {x1=plates/cards/coins/stones}, {x2=a lamp/a jug/a radio} and {name1}'s {x3=glasses/gloves/keys}. | how many {x1} are there[?] => {n1} ; what belongs to {name1}[?] => the {x3} ; whose {x3} are on the table[?] => {name1}'s ; where are {name1}'s {x3}[?] => on the table | who put them there[?]
Under it sleeps the {x4=cat/dog/puppy} of {name2}. | what animal is (there|under the table)[?] => a {x4} ; whose {x4} is it[?] => {name2}'s ; where does the {x4} sleep[?] => under the table | what is the {x4} called[?] ; how old is the {x4}[?]
The window is {x5=open/closed/cracked}, and on the sill stand {w1} {x6=cacti/bottles/jars}. | what (is|stands) on the sill[?] => {w1} {x6} ; how many {x6} are there[?] => {w1} ; is the window open or closed or cracked? => {x5} ; what about the window[?] => it is {x5} |
{name2} came in, took the {x7=newspaper/torch/map} from the shelf and left again without {his} {x8=coat/bag/phone}. | what did {name2} take[?] => the {x7} ; what did {name2} (forget|leave behind)[?] => {his} {x8} ; where was the {x7}[?] => on the shelf => {name2} took the {x7} from the shelf. ; who came in[?] => {name2} | where did {name2} go[?]
@
log {clock1} backup of {x1=mail/photos/wiki/billing} started by {name1} | what was backed up[?] => {x1} ; who started the backup[?] => {name1} ; when did the backup (start|begin)[?] => {clock1} |
/log {clock2} backup failed, disk {x2=alpha/red/two/north} full | why did the backup fail[?] => disk {x2} was full ; when did it fail[?] => {clock2} ; which disk was full[?] => {x2} ; was the backup successful [at first]? => No |
/log {clock3} {name2} removed {m1} old files | who removed (old |)files[?] => {name2} ; how many files were removed[?] => {m1} ; what did {name2} do[?] => removed {m1} old files | how big were the files[?]
/log {clock4} backup repeated, done in {n1} minutes | how long did the (second|repeated) backup take[?] => {n1} minutes ; when was the backup repeated[?] => {clock4} ; did it work in the end? => Yes |
@
Dear parents of class {x8=4/5/6/7}{x9=A/B/C}, | which class is (it|the letter) (for|about)[?] => {x8}{x9} ; who is the letter (to|for)[?] => the parents of class {x8}{x9} |
on {day1} we go to the {x1=planetarium/farm/theatre/print museum} by {x2=train/coach/tram}. | where (does|is) the class (go|going)[?] => to the {x1} ; how do they get there[?] => by {x2} ; when is the trip[?] => on {day1} | how long does the (ride|journey) take[?]
We meet at {clock1} at {x3=the school gate/the station/the bridge} and are back by {clock2}. | where do they meet[?] => at {x3} ; when do they meet[?] => at {clock1} ; when are (they|the children) back[?] => by {clock2} |
Each child needs {price1} euros, {x4=rain boots/a packed lunch/a pencil/a warm jumper} and no phone. | how much money does each child need[?] => {price1} euros ; what should the children bring besides (money|the money)[?] => {x4} ; may the children bring (their phones|a phone)? => No ; what must (stay at home|not be brought)[?] => a phone |
{mister1} comes along, since {mister2} is on leave. | who comes along[?] => {mister1} ; why does {mister2} not come[?] => because {mister2} is on leave => {mister2} is on leave. ; who is on leave[?] => {mister2} | how many children are (there|in the class)[?]
@
Lost: a {color1} {x1=mitten/backpack/bike helmet/parrot}, last seen on {street1} on {day1}. | what (is|was) lost[?] => a {color1} {x1} ; where was it (last |)seen[?] => on {street1} ; when was it last seen[?] => on {day1} ; what colour is it[?] => {color1} | where was it bought[?]
It has {x2=a name tag/a white spot/a torn strap/a bell} and belongs to my {x3=grandson/neighbour/daughter}, who is {x4=very sad/ill/in tears}. | how can (it|the {x1}) be recognised[?] => {x2} => It has {x2}. ; who does it belong to[?] => the writer's {x3} => It belongs to my {x3}. |
Finder gets {price1} euros. | what does the finder get[?] => {price1} euros ; how much is the reward[?] => {price1} euros |
Please write to {email1} or ask for {name1} at the {x5=kiosk/pharmacy/reception}. | what is the (mail|email) address[?] => {email1} ; whom should (one|the finder) ask for[?] => {name1} ; where is {name1}[?] => at the {x5} |
@
Shift plan. | 
{name1} works in the morning, {name2} in the afternoon and {name3} at night. | who works at night[?] => {name3} ; when does {name2} work[?] => in the afternoon ; who has the morning[ shift][?] => {name1} ; which shift does {name3} have[?] => the night => {name3} works at night. | who works on holidays[?]
On {day1} {name1} and {name3} swap. | who swaps[ on {day1}][?] => {name1} and {name3} ; when do {name1} and {name3} swap[?] => on {day1} ; who works at night on {day1}[?] => {name1} => At night it is {name3}, but on {day1} {name1} and {name3} swap. ; who has the morning on {day1}[?] => {name3} => The morning is {name1}'s, but on {day1} {name1} and {name3} swap. |
{name2} is off from {date1} on, and nobody has been found for {him} yet. | from when (on |)is {name2} off[?] => from {date1} on ; has somebody been found to replace {name2}? => No, nobody yet ; who is off[?] => {name2} | why is {name2} off[?]
@
My grandmother {name1} had {w1} {x1=goats/geese/bee hives/apple trees} and a {x2=mill/boat/piano/tractor}. | who is {name1}[?] => the writer's grandmother => My grandmother {name1}. ; what did {name1} have[?] => {w1} {x1} and a {x2} ; how many {x1} did she have[?] => {w1} | how old (was|did) (she|{name1}) (get|become)[?]
She married {name2}, a {x3=sailor/smith/tailor/postman} from {city1}, in {year1}. | whom did {name1} marry[?] => {name2} ; what was {name2}('s job|)[?] => a {x3} ; where did {name2} come from[?] => {city1} ; when did they marry[?] => in {year1} ; who was {name1}'s husband[?] => {name2} | where did they marry[?]
Their first son, {name3}, is my father; the second, {name4}, went to {city2} and never came back. | who is the writer's father[?] => {name3} ; who went away[?] => {name4} ; where did {name4} go[?] => to {city2} ; did {name4} come back? => No, never ; how are {name3} and {name4} related[?] => they are brothers => {name3} and {name4} are her first and second son: brothers. ; who is the writer's uncle[?] => {name4} => {name3} is the father, {name4} his brother: the uncle. | what did {name4} do in {city2}[?]
I still have her {x4=recipe book/sewing box/ring}. | what does the writer still have[?] => her {x4} ; what is left of {name1}'s things[?] => her {x4} |
@
Dear {name1}, the package with the {x1=lamp/boots/game/tea set} came on {day1}. | what was in the package[?] => the {x1} ; when did the package come[?] => on {day1} ; who is the letter (to|for)[?] => {name1} | who carried (it|the package) up[?]
Sadly the {x2=cord/box/lid/left one} was {x3=broken/wet/missing}, so I sent it back to the shop in {city1}. | what was wrong[?] => the {x2} was {x3} ; what did the writer do with it[?] => sent it back ; why was it sent back[?] => because the {x2} was {x3} ; where is the shop[?] => in {city1} | what did the shop say[?]
They promised a new one within {w1} days. | how long (will|does) (it|the new one) take[?] => {w1} days => A new one within {w1} days. ; what did the shop promise[?] => a new one within {w1} days ; what was promised[?] => a new one within {w1} days |
Thank you all the same, it was a lovely idea for my {x4=birthday/new flat/retirement}! | what was the present for[?] => the writer's {x4} => For my {x4}. ; what was the occasion[?] => the writer's {x4} => For my {x4}. |
/Yours, {name2} | who (sent|gave) the present[?] => {name1} => {name2} thanks {name1} for it. ; who (wrote|signed) (this|the letter)[?] => {name2} |
@
We compared {w1} {x1=kettles/bike lights/tents/headphones}. | what was compared[?] => {x1} ; how many {x1} were compared[?] => {w1} | who paid for the test[?]
The {fam1} is the cheapest at {up1} euros, the {fam2} the {x2=lightest/quietest/smallest} at {x3=half a kilo/300 grams/200 grams}. | which is the cheapest[?] => the {fam1} ; what does the {fam1} cost[?] => {up1} euros ; how (much|heavy|what) is the {fam2}[?] => {x3} => The {fam2}: {x3}. ; which one is the {x2}[?] => the {fam2} | what does the {fam2} cost[?]
The {fam3} lasted longest but {x4=leaks/smells/rattles/gets hot}. | what is the (problem|weakness) of the {fam3}[?] => it {x4} ; which one lasted longest[?] => the {fam3} ; what is good about the {fam3}[?] => it lasted longest |
We would buy the {fam2}, because it comes with a guarantee of {n1} years. | which one (would|do) they (buy|recommend)[?] => the {fam2} ; why would they buy the {fam2}[?] => because it comes with a guarantee of {n1} years ; how long is the guarantee[?] => {n1} years |
@
{name1} has {n1} {things1}, {name2} has {m1} and {name3} has none. | how many {things1} does {name1} have[?] => {n1} ; who has no {things1}[?] => {name3} ; who has the most[?] => {name2} ; how many {things1} do they have (together|in all)[?] => {=n1+m1} => {n1} + {m1} + 0 = {=n1+m1}. ; how many more does {name2} have than {name1}[?] => {=m1-n1} => {m1} - {n1} = {=m1-n1}. | where did {name2} get them[?]
They keep them in a {x1=shoebox/tin/drawer}, since {name3}'s {x2=baby brother/dog/cat} eats everything that lies around. | where do they keep them[?] => in a {x1} ; why do they keep them in a {x1}[?] => because {name3}'s {x2} eats everything that lies around ; who eats everything[?] => {name3}'s {x2} |
@
Good morning team! Server {x1=blue/nine/east/oak} was down from {clock1} until {clock2}. | which server was down[?] => {x1} ; until when was it down[?] => until {clock2} ; when did it go down[?] => at {clock1} => Down from {clock1} until {clock2}. | how many users noticed[?]
The cause: {name1} pulled the wrong {x2=cable/plug/switch}, thinking it was the {x3=printer/coffee machine/heater}. | what was the cause[?] => {name1} pulled the wrong {x2} ; who caused (it|the outage)[?] => {name1} ; what did {name1} think it was[?] => the {x3} |
No data is lost, but the {x4=orders/reports/photos} of {day1} have to be sent again. | is data lost? => No ; what has to be sent again[?] => the {x4} of {day1} ; was anything lost? => No, no data is lost |
{name2} labels all cables this week so that it does not happen again. | what (does|will) {name2} do[?] => label all cables ; who labels the cables[?] => {name2} ; why are the cables labelled[?] => so that it does not happen again |
@
{name1} starts {his} day with {x1=a swim/a run/an apple/the news} at {clock1}. | how does {name1} start the day[?] => with {x1} ; when does {name1}'s day (start|begin)[?] => at {clock1} | when does {name1} go to bed[?]
By {clock2} {he} sits in the {x2=workshop/bus/archive}, where {he} {x3=repairs violins/writes letters/mends shoes/reads maps}. | where is {name1} at {clock2}[?] => in the {x2} ; what does {name1} do in the {x2}[?] => {he} {x3} ; by when is {name1} in the {x2}[?] => by {clock2} |
On {day1} {he} stays at home, and on {day2} {he} helps {name2}, {his} {x4=cousin/former teacher/landlady}. | when does {name1} stay at home[?] => on {day1} ; whom does {name1} help[?] => {name2} ; who is {name2}[?] => {name1}'s {x4} ; on which day does {name1} help {name2}[?] => on {day2} | how does {name1} help {name2}[?]
{He} never eats {x5=meat/breakfast/onions} and drinks only {drink1}. | what does {name1} drink[?] => {drink1} ; what does {name1} never eat[?] => {x5} ; does {name1} eat {x5}? => No, never |
@
Attention passengers: {x1=train/ferry/flight} {code1} to {city1} leaves from {x2=platform/pier/gate} {m1} today, not from {n1}. | where does the {x1} leave from[ today][?] => {x2} {m1} ; where is the {x1} going[?] => to {city1} ; which {x2} was it (before|planned for)[?] => {n1} ; does it leave from {n1}? => No, from {m1} ; which {x1} is it[?] => {code1} | how many passengers are on it[?]
It is {k1} minutes late because of {x3=fog/ice/a strike/a sick driver}. | how late is it[?] => {k1} minutes ; why is it late[?] => because of {x3} ; what is the reason for the delay[?] => {x3} |
Passengers to {city2} please take the {x4=bus/tram/coach} in front of the {x5=main hall/post office/fountain}. | what should passengers to {city2} (do|take)[?] => take the {x4} ; where is the {x4}[?] => in front of the {x5} ; who should take the {x4}[?] => passengers to {city2} | when does the {x4} leave[?]
Hot drinks are free at counter {x6=A/B/C}. | what is free[?] => hot drinks ; where are (the|) hot drinks[?] => at counter {x6} ; what do the (hot |)drinks cost[?] => nothing => Hot drinks are free. |
@
{name1} wanted to plant {x1=tomatoes/tulips/a pear tree} but the ground was {x2=frozen/too wet/full of stones}. | what did {name1} want to plant[?] => {x1} ; why couldn't {name1} plant (them|anything)[?] => because the ground was {x2} ; how was the ground[?] => {x2} |
So {he} built {x3=a bench/a bird house/a raised bed} instead, together with {name2} from next door. | what did {name1} build[?] => {x3} ; who helped[ {name1}][?] => {name2} ; who is {name2}[?] => {name1}'s neighbour => {name2} from next door: a neighbour. ; where does {name2} live[?] => next door ; did {name1} build {x3} alone? => No, with {name2} |
The wood came from {x4=an old door/a broken fence/two pallets}, the screws from {name2}'s {x5=cellar/uncle/toolbox}. | where did the wood come from[?] => from {x4} ; where did the screws come from[?] => from {name2}'s {x5} ; what was made of {x4}[?] => {x3} => The wood of {x3} came from {x4}. | what did the screws cost[?]
When it was finished, {x6=it began to rain/a neighbour complained/they drank tea on it}. | what happened when it was finished[?] => {x6} |
@
Offer of the week at {shop1}: {x1=olive oil/jeans/paint/bread knives} for {up1} instead of {up2} euros. | what is on offer[?] => {x1} ; what does it cost[ now][?] => {up1} euros => For {up1} instead of {up2} euros. ; (what|how much) was the price before[?] => {up2} euros => For {up1} instead of {up2} euros. | how many are left[?]
Only on {day1} and {day2}, and only {n1} per customer. | on which days[?] => {day1} and {day2} ; how many may one (customer|person) buy[?] => {n1} ; is there a limit[ per customer]? => Yes, {n1} per customer |
Members get another {x2=five/ten/fifteen} percent off. | who gets (an extra discount|more off)[?] => members ; how much more do members get off[?] => {x2} percent ; what do members get[?] => another {x2} percent off | how do I become a member[?]
We are on {street1}, next to the {x3=bank/cinema/barber}. | where is the shop[?] => on {street1} ; what is next to the shop[?] => the {x3} |
@
To whom it may concern: {fullname1} worked for us as {x1=a nurse/a fitter/a clerk/a gardener} from {year1} to {year2}. | who worked there[?] => {fullname1} ; what did {fullname1} work as[?] => {x1} ; until when did {fullname1} work there[?] => {year2} ; when did {fullname1} begin[?] => {year1} => From {year1} to {year2}. | what did {fullname1} earn[?]
{He} was {x2=careful/punctual/patient} and {x3=well liked/quick to learn/good with numbers}. | how is {fullname1} described[?] => {x2} and {x3} |
{He} leaves us at {his} own wish to {x4=study/travel/open a shop}. | why does {fullname1} leave[?] => to {x4} ; was {fullname1} (fired|dismissed)? => No, {he} leaves at {his} own wish ; what will {fullname1} do next[?] => {x4} |
/{fullname2}, head of {x5=staff/sales/the clinic} | who signed it[?] => {fullname2} ; what is {fullname2}'s position[?] => head of {x5} |
@
{name1} and {name2} share a flat in {city1}; {name1} cooks, {name2} cleans. | who cooks[?] => {name1} ; who cleans[?] => {name2} ; where is the flat[?] => in {city1} ; what does {name2} do[?] => {he} cleans => {name1} cooks, {name2} cleans. ; who shares the flat with {name1}[?] => {name2} | how big is the flat[?]
The rent is {h1} euros; {name1} pays {k1} more than {name2} since {his} room has {x1=a balcony/a bath/two windows}. | how (much|high) is the rent[?] => {h1} euros ; why does {name1} pay more[?] => because {his} room has {x1} ; who pays more[?] => {name1} ; how much more does {name1} pay[?] => {k1} euros ; who pays less[?] => {name2} => {name1} pays more, so {name2} pays less. ; whose room has {x1}[?] => {name1}'s |
In {month1} {name3} moves in, and then {he} gets the {x2=small/front/attic} room. | who moves in[?] => {name3} ; when does {name3} move in[?] => in {month1} ; which room does {name3} get[?] => the {x2} room ; how many (people|of them) live there then[?] => 3 => {name1}, {name2} and {name3}: 3. | where does {name3} live now[?]
@
Telegram style: arrived {city1} {clock1}. | where did (the writer|they|he) arrive[?] => in {city1} ; when did (he|the writer) arrive[?] => at {clock1} |
Luggage still in {city2}. | where is the luggage[?] => in {city2} ; has the luggage arrived? => No, it is still in {city2} | how many bags (is it|are there)[?]
Hotel full, sleeping at {name1}'s. | why (is he|are they) not in the hotel[?] => because it is full => Hotel full. ; where (does (the writer|he) sleep|is (he|the writer) sleeping)[?] => at {name1}'s ; is there room in the hotel? => No, it is full |
Send {x1=money/socks/the contract/medicine} to {street1}. Meeting {name2} {day1}. | what should be sent[?] => {x1} ; where should (it|{x1}) be sent[?] => to {street1} ; who is (he|the writer) meeting[?] => {name2} ; when is (he|the writer) meeting {name2}[?] => on {day1} |
@
Patient {fullname1}, {adult1}, came on {date1} with {x1=a cough/back pain/a rash/a swollen knee}. | how old is the patient[?] => {adult1} ; what (did|does) the patient have[?] => {x1} ; when did the patient come[?] => on {date1} ; (what is|what's) the patient's name[?] => {fullname1} | where does the patient live[?]
No fever. | does the patient have a fever? => No |
{mister1} prescribed {x2=an ointment/drops/tablets}, {w1} times a day, for {n1} days. | who prescribed (it|{x2})[?] => {mister1} ; what was prescribed[?] => {x2} ; how often a day[?] => {w1} times ; for how long[?] => for {n1} days |
Allergic to {x3=penicillin/pollen/iodine}, therefore no {x4=syrup/injection/spray}. | what is the patient allergic to[?] => {x3} ; why is there no {x4}[?] => because the patient is allergic to {x3} ; what must not be given[?] => the {x4} => Therefore no {x4}. | since when[?]
Next check on {day1}. | when is the next (check|visit|appointment)[?] => on {day1} |
"""
