"""More texts, short ones of two to four sentences. The lines are those of letters.py."""

MORE = r"""
@
In {fam1} stands a {x1=windmill/chapel/water tower/boat house}, put up in {year1} after a drawing of {fullname1}. | who drew the {x1}[?] => {fullname1} ; when was the {x1} put up[?] => in {year1} ; where is the {x1}[?] => in {fam1} | what did it cost[?] ; how long did the work take[?]
From the ground to the roof one counts {m1} metres, and its shutters are {color1}. | how (high|tall) is the {x1}[?] => {m1} metres ; (what|which) colour are the shutters[?] => {color1} |
{x2=A family/A miller/An artist/An old monk} moved out in {year2}, and nobody has come after. | who (lived|used to live) there[?] => {x2} ; is it lived in today? => No, nobody came after {year2} => Moved out in {year2}, nobody came after. ; since when is it empty[?] => since {year2} => Moved out in {year2}, nobody came after. | why did they move out[?]
@
Repair evening is on {day1}, doors open at {clock1}. | when do the doors open[?] => at {clock1} ; on which day is (it|the repair evening)[?] => on {day1} | until when does it go on[?] ; what does a repair cost[?]
{name1} mends {x1=radios/clocks/lamps} and {x2=toasters/phones/kettles}, {name2} does {x3=bicycles/chairs/prams}, and whoever has a torn {x4=coat/sail/sofa} goes to {name3}. | what does {name1} mend[?] => {x1} and {x2} ; who does {x3}[?] => {name2} ; my {x4} is torn. who can help[?] => {name3} ; to whom do I take {x1}[?] => to {name1} => {name1} mends {x1}. |
In the holidays {name2} is there alone. | who is there in the holidays[?] => {name2} ; is {name3} there in the holidays? => No, only {name2} ; who is away in the holidays[?] => {name1} and {name3} => {name2} is alone, so {name1} and {name3} are away. |
@
{name1} stored {x1=hay/wool/paper/grain} in the barn and {x2=leather/timber/wine/salt} in the loft over {x3=winter/Easter/the summer}. | what was in the barn[?] => {x1} ; where was the {x2}[?] => in the loft ; who stored it[?] => {name1} | how big is the barn[?] ; what is {name1}'s neighbour called[?]
{x4=Damp/A leak/A fire/Mice} spoiled the {x1}, and {name1} could sell the {x2} alone. | what spoiled the {x1}[?] => {x4} ; what could {name1} sell[?] => the {x2} ; could {name1} sell the {x1}? => No, it was spoiled ; why was the {x1} not sold[?] => because it was spoiled => {x4} spoiled the {x1}. |
@
{name1} works at the {x1=bank/harbour/bakery} and {name2} at the {x2=hospital/zoo/mill}. | where does {name2} work[?] => at the {x2} ; who works at the {x1}[?] => {name1} ; (which|what) is {name1}'s workplace[?] => the {x1} | what does {name2} earn[?]
They met in {city1}, where both were {x3=students/soldiers/waiters/on holiday}. | where did they (meet|get to know each other)[?] => in {city1} ; what (were|did) they (do|) in {city1}[?] => They were {x3}. | when did they meet[?]
Now they live with {name2}'s {x4=mother/uncle/brother}, who is {adult1}, and a {x5=parrot/snake/goat}. | with whom do they live[?] => with {name2}'s {x4} ; how old is the {x4}[?] => {adult1} ; (what|which) animal do they have[?] => a {x5} ; whose {x4} is it[?] => {name2}'s |
@
The film was {x1=too long/very loud/rather sad}. | how was the film[?] => {x1} | who made the film[?] ; who plays the main part[?]
{name1} fell asleep after {k1} minutes, {name2} {x2=cried/laughed/ate popcorn} until the end, and I went out to {x3=phone/smoke/buy ice cream}. | who fell asleep[?] => {name1} ; what did {name2} do[?] => {name2} {x2} => {name2} {x2} until the end. ; when did {name1} fall asleep[?] => after {k1} minutes ; why did the writer go out[?] => to {x3} ; who watched (it|the film) to the end[?] => {name2} => {name1} fell asleep, the writer went out, {name2} stayed until the end. |
@
There are two keys on the board: the {color1} one opens the {x1=cellar/gate/safe}, the {color2} one the {x2=attic/garage/boat house}. | which key opens the {x2}[?] => the {color2} one ; what does the {color1} key open[?] => the {x1} ; how many keys are there[?] => two ; (what|which) colour is the key (to|for) the {x1}[?] => {color1} | who has the (third|spare) key[?]
{name1} must not have either, since {he} loses everything. | who must not have (the|a) key(s|)[?] => {name1} ; may {name1} take the {color1} key? => No |
@
Anyone seen my {x1=tent/charger/drill}? I lent it to {name1}, {name1} says {he} gave it to {name2}, and {name2} swears it went back to my {x2=garage/locker/office}. | what is (missing|the writer looking for)[?] => the {x1} ; who was it lent to[ first][?] => {name1} ; to whom did {name1} give it[?] => to {name2} ; where is it, according to {name2}[?] => in the writer's {x2} => {name2} says it went back to the writer's {x2}. ; who had it last[?] => {name2} => First {name1}, then {name2}. | when was it lent[?]
@
{name1} {n1}, {name2} {m1}, {name3} {e1}: these are the goals of the season. | how many goals (has|did) {name2}( scored| score|)[?] => {m1} ; who (has|scored) the most[ goals][?] => {name2} ; how many (goals |)did {name1} and {name2} score together[?] => {=n1+m1} => {n1} + {m1} = {=n1+m1}. ; how many goals (are they|is that) in all[?] => {=n1+m1+e1} => {n1} + {m1} + {e1} = {=n1+m1+e1}. | which team do they play for[?]
@
Dad picks up {name1} at {clock1}, Mum brings {name2} to {x1=swimming/judo/the orthodontist} at {clock2}. | who picks up {name1}[?] => Dad ; where does {name2} go[?] => to {x1} ; when is {name1} picked up[?] => at {clock1} ; who brings {name2}[?] => Mum ; at what time is {x1}[?] => at {clock2} | who picks up {name2}[?]
{name3} stays with {x2=Grandma/the neighbours/Uncle Bo} because of {his} {x3=fever/broken foot/cough}. | where is {name3}[?] => with {x2} ; why does {name3} not come along[?] => because of {his} {x3} ; what does {name3} have[?] => a {x3} |
Supper is in the {x4=oven/fridge/blue pot}. | where is supper[?] => in the {x4} ; what is in the {x4}[?] => supper | what is there for supper[?]
@
hi its {name1} from flat {n1}. ur {x1=dog/tv/music} was super loud last nite, my {x2=baby/husband/sister} couldnt sleep. | who (complains|is writing)[?] => {name1} ; which flat is {name1} from[?] => flat {n1} => {name1} from flat {n1}. ; what was (too |)loud[?] => the {x1} ; who could not sleep[?] => {name1}'s {x2} => {name1} writes: my {x2}. ; when was it (so |)loud[?] => last night | how old is the {x2}[?]
pls keep it down after {clock1} or i call the landlord | what will {name1} do otherwise[?] => call the landlord ; after when should it be quiet[?] => after {clock1} ; whom will {name1} call[?] => the landlord |
@
If it is dry, we play at the {x1=park/beach/schoolyard}; if it rains, in {name1}'s {x2=barn/garage/living room}. | where do (we|they) play if it is dry[?] => at the {x1} ; where do (we|they) play when it rains[?] => in {name1}'s {x2} ; it is raining, so where do they play[?] => in {name1}'s {x2} ; the sun is shining. where do they play[?] => at the {x1} => It is dry, so at the {x1}. ; whose {x2} is it[?] => {name1}'s | when do they play[?]
{name2} brings the {x3=ball/net/cards}, {name3} the {x4=drinks/music/cake}. | who brings the {x4}[?] => {name3} ; what does {name2} bring[?] => the {x3} ; what is {name3}'s job[?] => to bring the {x4} |
@
First {name1} {x1=washes the dishes/peels the potatoes/lights the fire}, then {name2} {x2=lays the table/feeds the hens/opens the wine}, and only after that {name3} may {x3=eat/sit down/go to bed}. | what does {name1} do[ first][?] => {x1} => First {name1} {x1}. ; who comes after {name1}[?] => {name2} ; what happens before {name3} may {x3}[?] => {name2} {x2} => The step before: {name2} {x2}. ; who is last[?] => {name3} ; what may {name3} do in the end[?] => {x3} | how long does it all take[?]
@
Our {x1=old/white/small} car broke down near {city1}, {k1} km from home. | where did the car break down[?] => near {city1} ; how far from home was it[?] => {k1} km ; what happened to the car[?] => It broke down near {city1}. | what make is the car[?]
A {x2=farmer/shepherd/lorry driver/student} pulled us to {x3=a garage/the next village/a petrol station}, and all {he} wanted was {x4=a handshake/coffee/our spare tyre}. | who helped[ them][?] => a {x2} ; where did the {x2} pull them[?] => to {x3} ; what did the {x2} want[ for it][?] => {x4} | what is the {x2} called[?]
The repair took {w1} hours and cost {h1} euros. | how long did the repair take[?] => {w1} hours ; (what|how much) did the repair cost[?] => {h1} euros |
@
{name1} speaks {x1=Spanish/Greek/Danish}, {name2} only {x2=Polish/Hindi/Welsh}, and so {name3}, who speaks both, translates. | who translates[?] => {name3} ; which languages does {name3} speak[?] => {x1} and {x2} => {name3} speaks both: {x1} and {x2}. ; what does {name2} speak[?] => {x2} ; does {name2} speak {x1}? => No, only {x2} ; why does {name3} translate[?] => because {he} speaks both => {name3} speaks both. | where did {name3} learn it[?]
@
The library is open from {clock1} to {clock2}, but on {day1} it stays shut. | when does the library (close|shut)[?] => at {clock2} => From {clock1} to {clock2}. ; when does the library open[?] => at {clock1} => From {clock1} to {clock2}. ; which day is it closed[?] => on {day1} ; can I go there on {day1}? => No, on {day1} it is closed | how many books does it have[?]
One may take {n1} books for {w1} weeks; each day too late costs {x1=20 cents/50 cents/10 cents}. | how many books (can|may) (I|one) take[?] => {n1} ; for how long[?] => for {w1} weeks ; what does a day too late cost[?] => {x1} ; what happens if (I|one) bring(s|) them back late[?] => each day costs {x1} => Each day too late costs {x1}. |
@
My {x1=aunt/cousin/grandfather} {name1} had an idea: instead of flowers, everybody should bring {x2=a poem/a stone/a tin of soup/an old photo} to the party. | who had (an|the) idea[?] => {name1} ; what should (people|everybody) bring[?] => {x2} ; what should they not bring[?] => flowers => {x2} instead of flowers. ; who is {name1}[?] => the writer's {x1} => My {x1} {name1}. | when is the party[?] ; how many guests came[?]
Only {name2} forgot and brought {x3=tulips/nothing/a cake}. | who forgot (it|)[?] => {name2} ; what did {name2} bring[?] => {x3} |
@
{company1} closes its plant in {city1} and moves to {city2}, where rents are lower. | where does {company1} move to[?] => to {city2} ; why does {company1} move[?] => because rents are lower there => In {city2} rents are lower. ; which plant (is closed|closes)[?] => the one in {city1} ; who moves[?] => {company1} | when does it move[?]
{h1} people work there; {k1} of them will come along, the others {x1=retire/stay/get money/look for something new}. | how many people work (there|at the plant)[?] => {h1} ; how many come along[?] => {k1} ; how many do not come along[?] => {=h1-k1} => {h1} - {k1} = {=h1-k1}. ; what do the others do[?] => they {x1} => The others {x1}. |
@
The dog was {x1=wet/hungry/limping}, so {name1} took {him} in, although {his} landlady forbids pets. | who took the dog in[?] => {name1} ; why did {name1} take the dog in[?] => because the dog was {x1} => The dog was {x1}, so {name1} took it in. ; who forbids pets[?] => {name1}'s landlady ; are pets allowed? => No ; what was wrong with the dog[?] => the dog was {x1} | what is the landlady called[?]
A week later the owner, a {job1} from {city1}, came with {x2=a cake/wine/tickets} to say thank you. | who is the owner[?] => a {job1} from {city1} ; what did the owner bring[?] => {x2} ; why did the owner come[?] => to say thank you ; when did the owner come[?] => a week later |
@
Recipe note: use {food1} instead of {food2} if somebody is allergic. | what can be used instead of {food2}[?] => {food1} ; when should one use {food1}[?] => if somebody is allergic ; what is replaced by {food1}[?] => {food2} | how much {food1} (do I need|is needed)[?]
Never add the {food3} before the {food4}. | what comes first, {food3} or {food4}[?] => {food4} => Not {food3} before {food4}: {food4} first. ; what must not come before the {food4}[?] => the {food3} |
@
{name1} is {adult1}. {name2} is {n1} years older, and {name3} is as old as {name1}. | how old is {name1}[?] => {adult1} ; how old is {name2}[?] => {=adult1+n1} => {n1} years older than {adult1}: {adult1} + {n1} = {=adult1+n1}. ; how old is {name3}[?] => {adult1} => As old as {name1}: {adult1}. ; who is the oldest[?] => {name2} ; who are the same age[?] => {name1} and {name3} | who is the tallest[?]
"""
