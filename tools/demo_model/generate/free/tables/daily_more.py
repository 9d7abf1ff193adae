"""More word problems of two and three steps, in the form of everyday.py: what is spent one after the other, pieces, doubled
amounts and their sum, halves, ways there and back, weeks, and what stays when all is shared."""

PROBLEMS = """
a 40-99, b 5-20, c 5-18 | {n} went shopping with {a} {M}: a {x1=lamp/game/jacket} for {b} {M}, a {x2=map/belt/torch} for {c}. | how much [money] (has {he} then|is left|does {he} have now|has {he} left)[?] => rest=a-b ; rest-c => {M} ; how much did {he} spend[?] => b+c => {M}
a 50-99, b 5-20, c 5-20 | There are {a} {M} in {n}'s (purse|wallet|pocket). {b} go to the {x1=baker/barber/parking meter}, {c} to the {x2=florist/cinema/taxi driver}. | what is left[?]|how much (remains|is still in it)[?] => rest=a-b ; rest-c => {M}
a 30-90, b 4-15, c 4-14 | {n} gets {a} {M} (pocket money|from {his} aunt). {b} {M} (go into|are for) the {x1=piggy bank/class fund}, {c} {M} (go on|are for) {x2=sweets/comics/stickers}, the rest {he} keeps. | how much does {he} keep[?] => rest=a-b ; rest-c => {M}
p 5-20, k 3-9, t=p*k | From a (ribbon|wire|plank|pipe) of {t} cm {n} makes pieces of {p} cm each. | how many pieces (are there|does that make)[?] => t/p => pieces
p 4-25, k 3-8, t=p*k | (I have|There are) {t} cm of {x1=ribbon/tape/cord}; (each|every) {x2=parcel/badge/bow} needs {p} cm. | for how many {x2}s is it enough[?] => t/p => -
p 6-15, k 3-8, r 1-5, r<p, t=p*k+r | A {x1=board/hose/strip of cloth} of {t} cm is cut into pieces of {p} cm. | how many whole pieces [are there][?] => t//p => pieces ; how many cm are left over[?] => t%p => cm
p 5-60, k 3-9, t=p*k | A {x1=beam/bar/chain} of {t} cm (is|was) cut into {k} equal (parts|pieces). | how long is (each|one) (part|piece)[?] => t/k => cm
a 4-60 | Before lunch {a} visitors were counted, after it twice as many. | how many were counted (in all|altogether)[?] => two=a*2 ; a+two => visitors ; how many (were there|were counted) after lunch[?] => a*2 => visitors
a 3-40 | On {d} {n} sold {a} {ps}, on {e} three times as many. | how many (on both days|in all|altogether)[?] => three=a*3 ; a+three => - ; how many on {e}[?] => a*3 => -
a 3-40 | {n} (picked|found|counted) {a} {x1=mushrooms/shells/birds/plums} and {m} twice as many. | how many (do they have|is that|are there) (together|in all)[?] => m=a*2 ; a+m => {x1} ; how many more (does|did) {m} have[?] => m=a*2 ; m-a => -
q 4-40, a=2*q | {m} has {a} {t}, {n} half as many. | how many (do they have|are there) (together|altogether)[?] => half=a/2 ; a+half => - ; how many does {n} have[?] => a/2 => -
q 5-30, a=2*q | Of {a} (pupils|guests|players) half (are|stay) (away|on holiday). | how many are (here|there|present|not missing)[?] => a/2 => - ; how many (are missing|are not here)[?] => a/2 => -
q 3-25, a=3*q | A third of the {a} {x1=chairs/lamps/windows/bikes} (is|are) broken. | how many are broken[?] => a/3 => - ; how many (are (fine|whole|not broken)|still work)[?] => broken=a/3 ; a-broken => -
q 3-20, a=4*q | A quarter of the {a} {x1=eggs/seats/tickets/pages} (is|are) {x2=gone/taken/used}. | how many are {x2}[?] => a/4 => - ; how many are (left|still there)[?] => gone=a/4 ; a-gone => -
a 2-14 | The way to work is {a} km, and {n} comes home the same way, from Monday to Friday. | how (far is that|many km) (in a week|from Monday to Friday)[?] => day=a+a ; day*5 => km
a 2-20, d 3-6 | (The way to school|The way to the pool|It) is {a} km (long|one way). {n} goes there and back on {d} days a week. | how (far|many km) (is that|does {he} go) (a week|in a week)[?] => day=a*2 ; day*d => km ; how many km a day[?] => a*2 => km
a 5-45, d 2-6 | {n} needs {a} minutes to the (office|stable|gym), and as long for the way home. | how long is {he} on the way on a day[?] => a*2 => minutes ; how long in {d} days[?] => day=a*2 ; day*d => minutes
a 13-40, b 2-6, 2*b<a | From a bowl of {a} {x1=nuts/grapes/chips} two (brothers|girls) take {b} each. | how many [{x1}] (are left|stay in the bowl)[?] => eaten=2*b ; a-eaten => {x1}
k 3-6, b 2-6, a 20-60, k*b<a | {k} children (take|eat|get) {b} {x1=cherries/pretzels/dates} each from a bowl of {a}. | how many are (left|still in it)[?] => eaten=k*b ; a-eaten => {x1}
k 3-5, b 2-9, r 1-4, r<k, t=k*b+r | {k} (friends|sisters|players) share {t} {x1=cards/stickers/marbles} fairly. | how many does each get[?] => t//k => - ; how many are left over[?] => t%k => -
a 2-9, b 3-12, c 2-9 | {n} buys {a} {ps} at {b} {M} each and pays {c} {M} for (delivery|wrapping). | what does {he} pay [in all][?]|how much is that [in all]? => goods=a*b ; goods+c => {M}
a 2-6, b 3-9, n2 in 50/100, a*b<n2 | {n} takes {a} {ps} for {b} {M} each and pays with a {n2} note. | how much (change|does {he} get back)[?] => cost=a*b ; n2-cost => {M}
a 2-5, b 6-15, c 2-5, d2 3-9 | (We are|There are) {a} adults and {c} children. Adults pay {b} {M}, children {d2}. | what do (we|they) pay [in all][?] => adults=a*b ; children=c*d2 ; adults+children => {M}
a 20-60, b 2-9, c 2-9 | On Monday {n} read {a} pages, on Tuesday {b} more than on Monday, on Wednesday {c} fewer than on Tuesday. | how many pages on Wednesday[?] => tuesday=a+b ; tuesday-c => pages ; how many on Tuesday[?] => a+b => pages
a 100-300, b 10-40, c 2-5, b*c<a | A book has {a} pages. {n} reads {b} a day for {c} days. | how many pages are left[?] => read=b*c ; a-read => pages
b 10-40, c 3-9, a=b*c | A book has {a} pages and {n} reads {b} (a day|every evening). | how many days does {he} need[?] => a/b => days
a 3-12, b 4-9, c 2-8 | (In the hall|At the wedding) there are {a} tables for {b} people, and {c} people stand. | how many people are there[?] => seated=a*b ; seated+c => people
a 6-30, b 2-9, c 2-5 | {n} earns {a} {M} an hour and works {b} hours a day. | what does {he} earn in {c} days[?] => day=a*b ; day*c => {M} ; what does {he} earn a day[?] => a*b => {M}
a 8-20, b 3-8, c 5-20 | {n} works {b} hours for {a} {M} an hour and gets {c} {M} as a tip. | how much does {he} (have|get) [in all][?] => wage=a*b ; wage+c => {M}
a 3-9, b 2-7, c 5-20, c<7*a | A hen house gives {a} eggs a day. | how many [eggs] in a week[?] => a*7 => eggs ; {n} uses {c} of a week's eggs. How many are left? => week=a*7 ; week-c => eggs
a 3-6, b 2-4, b<a | {n} drinks {a} cups of (coffee|tea) a day, {b} of them at work. | how many cups a week[?] => a*7 => cups ; how many cups at work in five days[?] => b*5 => cups
a 20-80, b 5-19, c 3-15, b+c<a | (A bus|A tram|A boat) starts with {a} people. {b} get off, then {c} more get off. | how many are still on it[?] => rest=a-b ; rest-c => people
a 10-50, b 3-20, c 3-20 | (A bus|A train|A ferry) starts with {a} people. {b} get on at the market and {c} at the bridge. | how many are (on it|on board) now[?] => now=a+b ; now+c => people
a 5-30, b 5-30, c 2-9 | {n} has {a} {x1=red/old/small} and {b} {x2=blue/new/large} {t}, and gives away {c}. | how many are left[?] => all=a+b ; all-c => -
a 2-8, b 2-8, c 2-6 | {n} packs {a} bags with {b} {x1=oranges/buns/pears} each and eats {c} {x1} on the way. | how many {x1} (arrive|are left)[?] => all=a*b ; all-c => {x1}
k 3-8, b 4-12, c 2-9, t=k*b+c | Of {t} {x1=seedlings/bulbs/bottles} {c} are thrown away, the rest goes into {k} boxes, the same in each. | how many are in a box[?] => rest=t-c ; rest/k => {x1}
k 2-6, b 5-15, c 2-4 | A ticket costs {b} {M}, with the card {c} {M} less. | what do {k} tickets cost with the card[?] => price=b-c ; price*k => {M}
p in 10/20/25/50, q 2-9, t=q*20 | A {x1=coat/chair/phone} costs {t} {M}, today {p} percent less. | what does it cost today[?] => off=part(p, t) ; t-off => {M} ; how much does one save[?] => part(p, t) => {M}
p in 10/20/50, q 2-9, t=q*10 | The rent of {t} {M} for the garage rises by {p} percent. | what is (the new rent|it now)[?] => more=part(p, t) ; t+more => {M}
a 14-40, b 2-9, c 2-9, b+c<a | It is {a} degrees at noon. By evening it falls by {b} degrees and in the night by another {c}. | how cold is it in the night[?] => evening=a-b ; evening-c => degrees
a 2-9, b 3-9, c 10-30 | {n} saves {a} {M} a week for {b} weeks and already had {c}. | how much does {he} have [then][?] => saved=a*b ; saved+c => {M}
a 3-9, k 3-9, c 5-30, t=a*k+c | {n} has {c} {M} and saves {a} a week for a {x1=drum/kite/camera} of {t} {M}. | how much is (missing|still needed)[?] => t-c => {M} ; how many weeks does it take[?] => missing=t-c ; missing/a => weeks
a 2-5, b 20-60, c 10-40, a*c<200 | {n} runs {a} rounds of {b} metres and then {c} metres to the gate. | how far does {he} run[?] => rounds=a*b ; rounds+c => metres
a 20-50, b 2-9, c 2-9 | {n} is {a}. {m} is {b} years younger and {k} {c} years younger than {m}. | how old is {k}[?] => m=a-b ; m-c => years ; how old is {m}[?] => a-b => years
a 5-20, b 2-4 | A (snail|beetle|robot) moves {a} cm a minute. It moves for {b} minutes and rests, then it moves for {b} minutes again. | how far does it get[?] => time=b+b ; a*time => cm
a 3-9, b 2-5, c 2-6 | There are {a} (stables|kennels|cages) with {b} animals each; {c} more animals come. | how many animals (are there|is that)[?] => now=a*b ; now+c => animals
a 6-24, k 2-4 | A recipe for {k~} people needs {a~} {x1=eggs/tomatoes/potatoes}. | how many {x1} for twice as many people[?] => a*2 => {x1}
q 2-6, b 2-4, a=q*b, c 2-5 | For {b} people one needs {a} {x1=onions/peppers/leeks}. | how many {x1} does one person need[?] => a/b => {x1} ; how many for {c} people[?] => one=a/b ; one*c => {x1}
a 100-400, b 20-90, c 5-30 | (The shop|The warehouse) had {a} {x1=sacks/tyres/bricks}. {b} were sold, and {c} came (in|back). | how many [{x1}] are there now[?] => rest=a-b ; rest+c => {x1}
a 20-60, b 20-60, c 5-20 | In 5A there are {a} children, in 5B {b}. {c} of all of them cannot swim. | how many can swim[?] => all=a+b ; all-c => children
a 12-48, b 2-9 | {n} baked {a} rolls and ate {b}. {m} baked as many as {n} and ate none. | how many rolls are there[?] => both=a+a ; both-b => rolls
a 2-7, b 2-7 | A {x1=square/round/long} cake has {a} rows of {b} pieces. {n} eats one piece. | how many pieces are left[?] => all=a*b ; all-1 => pieces
a 30-90, b 10-20 | A film lasts {a} minutes, the break {b}, and after the break there are another {a} minutes. | how long is it in all[?] => film=a+a ; film+b => minutes
a 2-9, b 10-30 | {n} swims {a} lengths of 25 metres. | how (far|many metres) (is that|does {he} swim)[?] => a*25 => metres
a 2-9, b 2-9, c 2-9 | {n} has {a} coins of 2 {M} and {b} coins of 1 {M}. | how much [money] is that[?] => two=a*2 ; two+b => {M}
a 2-9, b 2-9 | (In the drawer|In the till) there are {a} notes of 10 {M} and {b} of 5. | how much is (that|in it)[?] => ten=a*10 ; five=b*5 ; ten+five => {M}
a 2-9, b 2-9 | On the farm there are {a} cows and {b} hens. | how many legs do they have together[?] => cows=a*4 ; hens=b*2 ; cows+hens => legs ; how many animals are there[?] => a+b => animals
a 2-9, b 2-9 | (In the yard|In the shed) stand {a} cars and {b} bikes. | how many wheels are there[?] => cars=a*4 ; bikes=b*2 ; cars+bikes => wheels
a 3-8, b 4-9 | {n} plants {a} rows of {b} {x1=tulips/leeks/trees}; one row dries up. | how many {x1} live[?] => rows=a-1 ; rows*b => {x1}
a 40-99, b 3-9, c 2-6, b*c<a | A tank holds {a} litres. {c} buckets of {b} litres are taken out. | how many litres are left[?] => out=b*c ; a-out => litres
b 3-9, c 3-9, a=b*c | A barrel of {a} litres is filled into cans of {b} litres. | how many cans (are full|does one need)[?] => a/b => cans
a 2-5, b 3-8, c 20-50, a*b<c | {n} has {c} {M} and buys {a} {ps} for {b} {M} each. | how much is left[?] => cost=a*b ; c-cost => {M} ; what does {he} pay[?] => a*b => {M}
a 20-50, b 20-50, c 60-120, a+b<c | Of {c} (voters|members) {a} say yes and {b} say no, the others do not vote. | how many do not vote[?] => voted=a+b ; c-voted => -
a 25-90, b 3-20 | {n} weighs {a} kilos, the dog {b}. On the scales {n} holds the dog. | what do the scales show[?] => a+b => kilos
a 40-90, b 3-20, t=a+b | With the cat on the arm {n} weighs {t} kilos, alone {a}. | how heavy is the cat[?] => t-a => kilos
a 3-9, b 2-6, c 2-9 | A (parcel|crate) holds {a} layers of {b} {x1=jars/cups/books}, and {c} more lie on top. | how many {x1} are in it[?] => layers=a*b ; layers+c => {x1}
a 10-60, b 2-9, c 2-9, d2 2-9 | {n} collects stamps: {a} at first, then {b} from {m}, {c} from {k} and {d2} from a letter. | how many is that[?] => first=a+b ; then=first+c ; then+d2 => -
a 6-20, b 2-5, a>2*b | A candle is {a} cm high and burns down {b} cm an hour. | how high is it after two hours[?] => burnt=b*2 ; a-burnt => cm
a 30-80, b 2-9 | {n} walks {a} steps forward and {b} back, and does that twice. | how far forward is {he}[?] => once=a-b ; once*2 => steps
k 2-9, b 10-40, c 2-9 | {k} classes with {b} pupils each go to the {x1=zoo/circus/museum}, with {c} teachers. | how many people is that[?] => pupils=k*b ; pupils+c => people
a 12-30, b 2-6, c 2-6, b+c<a | Of {a} {x1=eggs/cups/plates} {b} are broken and {c} are cracked. | how many are fine[?] => bad=b+c ; a-bad => {x1}
a 3-12, b 2-5 | {n} pays {a} {M} a month for the (gym|phone|club). | what is that a year[?] => a*12 => {M} ; what are {b} months[?] => a*b => {M}
a 2-12, b 20-90, a<b | The first month is free, then {n} pays {a} {M} a month. | what does a year cost[?] => months=12-1 ; months*a => {M}
a 10-30, b 2-9, c 2-9 | {n} had {a} {t}, lost {b}, found {c} again. | how many now[?] => rest=a-b ; rest+c => -
a 5-50 | {n} (had|owned) {a} {t} and lost all of them, then {m} gave {him} 3. | how many (now|does {he} have now)[?] => rest=a-a ; rest+3 => -
a 3-30, b 3-30 | {n} did {a} push-ups, took a break and did {b} more; {m} did 2 fewer than {n} in all. | how many did {m} do[?] => n=a+b ; n-2 => -
b 3-9, c 2-8, a=b*c | {a} {x1=players/singers/dancers} form groups of {b}. | how many groups (are there|do they form)[?] => a/b => groups
b 3-9, c 2-8, a=b*c | {a} {x1=pupils/scouts/tourists} form {b} groups of the same size. | how many are in (a|each) group[?] => a/b => -
a 25-60, b 4-9, b<a | A van carries {b} people. {a} people must be taken. | how many times must it go[?] => up(a, b) => times
a 15-60, b 6-12 | {a} eggs go into boxes of {b}. | how many boxes (does one need|are needed)[?] => up(a, b) => boxes
a 2-9, b 2-9, c 2-9 | {n} runs {a} km on {d}, {b} km on {e} and at the weekend {c} km on each of both days. | how many km (in all|is that)[?] => weekend=c*2 ; week=a+b ; week+weekend => km
q 5-40, a=2*q, b 2-9, b<q | {n} gives half of {his} {a} {t} to {m} and {b} to {k}. | how many does {n} keep[?] => half=a/2 ; half-b => -
q 5-30, a=2*q, b 2-20 | {n} spends half of {his} {a} {M} and then earns {b}. | how much does {he} have[?] => half=a/2 ; half+b => {M}
a 3-20, b 2-5 | {m} has {b} {t} more than {n}, who has {a}. | how many do (they|both) have together[?] => m=a+b ; a+m => - ; how many does {m} have[?] => a+b => -
a 5-20, b 2-4, b<a | {m} has {b} {t} fewer than {n}, who has {a}. | how many do (they|both) have together[?] => m=a-b ; a+m => - ; how many does {m} have[?] => a-b => -
a 2-9, b 2-9 | A rectangle is {a} cm long and {b} cm wide. | what is its area[?] => a*b => - ; what is its (perimeter|way round)[?] => half=a+b ; half*2 => cm
a 2-20 | A square has sides of {a} cm. | what is (its perimeter|the way round it)[?] => a*4 => cm
a 20-50, b 2-9, c 2-6, b*c<a | {n} wants to lose {a} points of debt and pays {b} points a day for {c} days. | how many points are left[?] => paid=b*c ; a-paid => points
a 10-40, b 2-9, c 2-9 | There were {a} ducks on the pond. {b} flew away, {c} came, and then one dived. | how many ducks belong to the pond now[?] => rest=a-b ; rest+c => ducks
a 2-9, b 2-9, k 2-3 | {n} takes {a} pills in the morning and {b} in the evening. | how many a day[?] => a+b => - ; how many a week[?] => day=a+b ; day*7 => -
a 60-200, b 2-9, c 5-20, b*c<a | {n} has {a} {x1=flyers/letters/papers}. {b} friends take {c} each. | how many are left for {n}[?] => taken=b*c ; a-taken => {x1}
a 5-15, b 5-15, c 5-15 | Three (shelves|boxes|floors) have {a}, {b} and {c} {x1=jars/lamps/rooms}. | how many {x1} (are there|is that) [in all][?] => first=a+b ; first+c => {x1}
a 20-99, b 20-99, a!=b | {n} scored {a} points and {m} {b}. | what is the difference[?]|by how many points did one beat the other? => far(a, b) => points ; how many points together[?] => a+b => points
a 20-60, b 3-9, c 3-9, b+c<a | {n} takes {a} {M} to the {x1=fair/harbour/market}. The {x2=carousel/boat/museum} is {b}, the {x3=sausage/soup/waffle} {c}. | what does {he} bring home[?] => rest=a-b ; rest-c => {M} ; what did {he} spend[?] => b+c => {M}
a 30-90, b 4-9, c 2-6, b*c<a | A roll has {a} metres of {x1=wire/cloth/paper}. {c} times {b} metres are cut off. | how much is left on it[?] => off=b*c ; a-off => metres
a 20-60, b 2-9, c 2-9, b<a | {n} invites {a} people. {b} say no, and {c} of the others bring a friend. | how many guests (come|are there)[?] => rest=a-b ; rest+c => people
q 4-20, a=2*q, b 2-9 | Half of the {a} (buns|plums|tickets) (is|are) gone, then {b} new ones come. | how many are there now[?] => half=a/2 ; half+b => -
a 3-9 | {n} works {a} hours on {d}, twice as long on {e}. | how many hours in all[?] => second=a*2 ; a+second => hours
a 4-12, b 3-9 | In {a} weeks {n} starts {his} holiday, {b} days later {m} follows. | in how many days does {m} start[?] => days=a*7 ; days+b => days ; in how many days does {n} start[?] => a*7 => days
a 2-9, b 2-5, c 2-9 | Each of {b} baskets holds {a} {x1=apples/lemons/kittens}; {c} more lie beside them. | how many {x1} are there[?] => full=a*b ; full+c => {x1}
p 4-12, k 3-9, c 1-3, c<k, t=p*k | A cake of {t} grams is cut into {k} equal pieces, and {c} are eaten. | how many grams are eaten[?] => one=t/k ; one*c => grams ; how heavy is one piece[?] => t/k => grams
a 24-40, b 2-6 | {n} is {a} and {his} daughter is {b}. | how old was {n} when she was born[?] => a-b => years ; how old is {n} when the daughter is 10[?] => then=a-b ; then+10 => years
a 40-90, b 5-15, c 5-15 | The lift may carry {a} boxes. {b} are in it, {c} more are put in. | how many more may go in[?] => load=b+c ; a-load => boxes
a 2-8, b 5-15 | One way the ticket costs {b} {M}. {n} goes there and back {a} times. | what does {he} pay[?] => both=b+b ; both*a => {M}
a 3-12, b 2-5 | {n} drives {a} km to the {x1=station/lake/office} and the same way back, {b} times a week. | how many km a week[?] => both=a+a ; both*b => km
a 5-30, b 5-30 | {n} has {a} {t}, {m} has {b} and {k} has as many as both together. | how many does {k} have[?] => a+b => - ; how many do all three have[?] => k=a+b ; k+k => -
q 2-9, k 2-6, a=q*k, b 2-9 | {n} pays {a} {M} for {k} {ps}. | what does one cost[?] => a/k => {M} ; what do {b} cost[?] => one=a/k ; one*b => {M}
a 20-80, b 2-9, c 2-9, b*c<a | {a} letters are waiting. {n} writes {b} an hour. | how many are left after {c} hours[?] => done=b*c ; a-done => letters
a 10-30, b 2-8, b<a | {n} read {a} pages, {m} {b} pages fewer. | how many did both read together[?] => m=a-b ; a+m => pages ; how many did {m} read[?] => a-b => pages
a 50-99, b 10-30, c 5-15 | A phone has {a} percent. A film takes {b} percent, a call {c}. | how many percent are left after both[?] => rest=a-b ; rest-c => -
a 20-60, b 2-6, c 2-5, b*c<a | A sack holds {a} {x1=onions/walnuts/potatoes}. Each of {c} (cooks|children|neighbours) takes {b}. | how many stay in the sack[?] => out=b*c ; a-out => {x1}
a 5-20, b 5-20, k 2-3 | {n} has {a} {M} and {m} {b}. Together they want to buy {k} {ps} for 20 {M} each. | how much do they need[?] => k*20 => {M} ; how much do they have together[?] => a+b => {M}
a 4-15, b 2-6 | {n} types {a} pages in the morning and twice as many after lunch, {b} days long. | how many pages a day[?] => after=a*2 ; a+after => pages ; how many pages in {b} days[?] => after=a*2 ; day=a+after ; day*b => pages
q 5-25, a=2*q, b 2-9, b<q | Half of {a} {x1=lamps/tables/seats} (is|are) free. {b} more become taken. | how many are free then[?] => half=a/2 ; half-b => -
a 20-40, b 2-9, c 2-9 | A hotel has {a} rooms. {b} are being painted, {c} smell of paint. | how many can be used[?] => bad=b+c ; a-bad => rooms
a 3-9, b 3-9, c 5-30 | {n} sells {a} {ps} for {b} {M} each; before that {he} had {c} {M}. | how much does {he} have then[?] => sold=a*b ; sold+c => {M}
p 3-9, k 4-9, t=p*k, c 2-3 | {t} {x1=tiles/stones/bricks} lie in {k} equal rows. {c} rows are taken away. | how many are in a row[?] => t/k => - ; how many were taken[?] => row=t/k ; row*c => {x1}
a 8-30, b 2-6 | A plant is {a} cm high and grows {b} cm a week. | how high is it after three weeks[?] => more=b*3 ; a+more => cm ; how high after two weeks[?] => more=b*2 ; a+more => cm
a 15-60, b 2-9, c 2-9 | In a game {n} has {a} points, loses {b} and wins {c}, twice each. | how many points then[?] => lost=b*2 ; won=c*2 ; rest=a+won ; rest-lost => points
"""
