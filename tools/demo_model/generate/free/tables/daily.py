"""More word problems, in the form of everyday_data: spoken to somebody, from work, kitchen, road, sport and office."""

PROBLEMS = """
a 2-12, w 2-4, t=a*7 | (My brother|{n}|Our coach) (runs|cycles|walks|swims) {a} (km|kilometres) (a day|every day|daily). | (how far (is that|does that make)|how many km) in {w} weeks[?] => days=w*7 ; a*days => km ; how many km (a|per) week[?] => a*7 => km
a 2-9, w 2-6 | {n} (drinks|needs) {a} cups of coffee (a|per|every) day. | how many cups (is that|are that) in {w} weeks[?] => days=w*7 ; a*days => cups ; how many (in|per) a week[?] => a*7 => cups
a 3-20, g 2-11 | The gym (costs|is) {a} {M} (a|per|every) month. | what (is that|do I pay) (a|per) year[?] => a*12 => {M} ; what do {g} months (come to|cost)[?] => a*g => {M} ; and for two years? => months=2*12 ; a*months => {M}
a 2-6, b 2-9 | One (painter|gardener|cleaner) needs {a} hours for {b} rooms. | how many hours for twice as many rooms[?] => a*2 => hours
g 2-6, s 3-15, t=g*s | {g} of us (went out|had dinner|ordered pizza) and the bill was {t} {M}. | (what's|how much is) everyone's share[?] => t/g => {M} ; what does each of us (owe|pay)[?] => t/g => {M} ; if one of us pays for two people, how much is that? => one=t/g ; one*2 => {M}
g 2-6, s 3-15, b 1-9, b<g*s, t=g*s-b, t>0 | {g} (flatmates|friends|colleagues) share a (taxi|gift|bill). It (was|cost) {t} {M} plus a tip of {b}. | how much (per person|for each|does each pay)[?] => all=t+b ; all/g => {M}
b 10-40, a 2-9, g 2-9 | I (had|started with) {b} emails this morning, {a} (new ones came in|more arrived), and I answered {g}. | how many (are still open|are left|unanswered)[?] => all=b+a ; all-g => -
a 200-900, b 10-90, c 10-90 | (My book|The report|The thesis) has {a} pages. I read {b} yesterday and {c} today. | how many (pages are left|pages to go|remain)[?] => read=b+c ; a-read => pages ; how many have I read? => b+c => pages
a 2-9, b 12-48, c 1-9, c<b | We (ordered|got) {a} (packs|boxes) of {b} (bottles|cans). {c} (bottles |cans |)(were broken|leaked). | how many (are fine|can we use)[?] => all=a*b ; all-c => -
a 2-8, b 4-20, c 2-9 | The (recipe|cake|dough) takes {a} eggs and {b} spoons of sugar for one cake. | how many eggs for {c} cakes[?] => a*c => eggs ; how many spoons of sugar for {c}[?] => b*c => spoons
z 2-8, a 2-9 | (We are|There will be) {z} people and everybody eats {a} (potatoes|dumplings|pancakes). | how many (do I need|must I make|is that) [in all][?] => a*z => -
a 2-5, q 5-30, t=a*q | {t} (km|kilometres) in {a} hours. | what's the speed per hour[?] => t/a => km ; how (many km|far) in one hour[?] => t/a => km
v 2-12, h 2-6 | A (ferry|tram|cyclist|horse) (does|goes|moves at) {v} km an hour. | how far in {h} hours[?] => v*h => km
x in 20/40/50/60/80/90, h 2-5, t=x*h | It's {t} km to {c}. {n} drives {x} km an hour on average. | how (long|many hours) does (it|the trip) take[?] => t/x => hours
a 20-80, b 2-19, g 2-19, b<a | {n} (had|has) {a} (followers|members|subscribers). {b} left, {g} joined. | how many now[?] => rest=a-b ; rest+g => -
a 2-9, b 2-9, c 2-9 | On Monday I sold {a} {ps}, on Tuesday {b} and on Wednesday {c}. | how many (in all|{ps} is that)[?] => a+b+c => -
a 5-30, b 5-30, c 5-30, s=a+b+c, s%3==0 | My (scores|marks|times) (were|are) {a}, {b} and {c}. | (what's the average|average|mean)[?] => sum=a+b+c ; sum/3 => -
a 10-40, b 10-40, s=a+b, s%2==0 | It was {a} degrees on {d} and {b} on {e}. | what was the average [temperature][?] => sum=a+b ; sum/2 => degrees ; by how many degrees did it differ[?] => far(a, b) => degrees
P in 10/20/25/50, base in 40/60/80/100/120/200/240/300/400 | The rent is {base} {M} and goes up by {P} percent. | what is it (then|afterwards|after the rise)[?] => rise=part(P, base) ; base+rise => {M} ; by how much does it rise[?] => part(P, base) => {M}
P in 10/20/25/50, base in 40/60/80/100/120/200/240/300/400 | There are {base} (people|seats|students|tickets) and {P} percent are (ill|taken|absent|gone). | how many are (ill|gone|away)[?] => part(P, base) => - ; how many are not[?] => gone=part(P, base) ; base-gone => -
P in 10/20/25/30/40/50, base in 50/60/80/100/120/150/200/300, base*P%100==0 | {AP} (for|at) {base} {M} is (reduced by|now) {P}%[ off| cheaper]. | new price? => off=part(P, base) ; base-off => {M} ; what do I (save|not pay)[?] => part(P, base) => {M}
a 30-200, b 5-29 | A (phone|bike|jacket) was {a} {M} and is {b} {M} cheaper now. | (what does it cost|price) now[?] => a-b => {M}
a 5-90, b 2-60 | I (bought|got) (a lamp|an old radio|a painting) for {a} {M} and sold it for {b} more [than that]. | (what did I|how much did I) sell it for[?] => a+b => {M}
a 5-60, x 2-60, s=a+x | I (paid|gave) {a} {M} for (a bike|a guitar|an old camera) and sold it for {s}. | (how much did I make|what's my profit|profit?|what did I earn with it) => s-a => {M}
a 30-90, x 2-25, s=a-x | {n} bought (a sofa|a phone|a desk) for {a} {M} and (only got|sold it for) {s}. | how (much did {he} lose|big is the loss)[?] => a-s => {M}
Y 1950-2005, z 5-70, P=Y+z, P<2027 | {n} was born in {Y}. | how old (was|is) {he} in {P}[?] => P-Y => years
a 20-45, b 2-9, c 3-12 | I'm {a}. My (sister|brother|best friend) is {b} years younger. | how old is (she|he|my sibling)[?] => a-b => years ; how old will I be in {c} years[?] => a+c => years
a 20-45, b 2-9, c 3-12 | I turned {a} and my (cousin|husband|wife) is {b} years older. | how old are they[?] => a+b => years ; how old will my relative be in {c} years[?] => now=a+b ; now+c => years
b 3-12, g 4-6, a 2-9 | {n} (plants|puts up) {b} rows of {g} (trees|posts|chairs), {a} of them (die|fall over|break). | how many are (still standing|left)[?] => all=b*g ; all-a => -
a 2-5, b 2-6, c 2-9 | (Each|Every) (floor|storey) has {a} flats and (each|every) flat has {b} windows. | how many windows on {c} floors[?] => flats=a*c ; flats*b => windows ; how many flats on {c} floors[?] => a*c => flats
a 60-180, b 5-30, c 5-30 | The film (takes|lasts) {a} minutes, the ads before it {b} and the break {c}. | how long (are we in the cinema|is that in all|does it take altogether)[?] => a+b+c => minutes ; how many minutes (are not|isn't) film[?] => b+c => minutes
h 2-4, z 5-55 | The (drive|flight|meeting) took {h} hours and {z} minutes. | how many minutes (is|was) that[?] => x=h*60 ; x+z => minutes
d 2-9 | {n} (will be away|stays) for {d} days. | how many hours (are|is) (that|{d} days)[?] => d*24 => hours
h 2-9 | The (battery|candle) lasts {h} hours. | how many minutes is that[?] => h*60 => minutes
b 2-9, g in 100/200/250/300/500 | A (bar|bag|jar) (weighs|has) {g} grams. | what do {b} weigh in grams[?] => g*b => grams
a 2-9 | (The parcel|My suitcase) weighs {a} kilos. | how many grams (are|is) that[?] => a*1000 => grams
a 2-9 | It's {a} km to the (lake|station|shop). | how many metres[?] => a*1000 => metres ; there and back, in km? => a*2 => km
a 2-30, b 2-9 | {n} lives {a} km from work and goes there {b} days a week. | how many km (there and back|both ways) (in|per) a week[?] => way=a*2 ; way*b => km
z 2-6, b 2-9 | In my bag are {z} (notes|bills) of five {M}, {b} coins of two. | how much money is that[?] => notes=z*5 ; coins=b*2 ; notes+coins => {M}
a 20-60, b 2-9, g 2-9 | {n} has {a} {x1=cards/shells/stickers}. {He} gives {m} {b} and {k} {g}. | how many does {n} keep[?] => gone=b+g ; a-gone => - ; how many did {he} give away[?] => b+g => -
a 6-40, x 1-9, b=a-x, b>0 | There are {a} (chairs|seats|cups) and {b} (guests|people|kids). | how many are (too many|left over|unused)[?] => a-b => -
a 6-40, x 1-19, b=a+x | There are {a} (chairs|plates|helmets) but {b} (guests|people|kids). | how many are missing[?] => b-a => - ; how many more do we need[?] => b-a => -
a 2-12, b 2-12 | (The room|Our garden|The wall) is {a} metres long and {b} metres wide. | what('s| is) the area [in square metres][?] => a*b => - ; how long is a fence all around it, in metres? => half=a+b ; half*2 => metres
s 2-30 | A square (garden|field|table) has sides of {s} metres. | what is its perimeter [in metres][?] => s*4 => metres ; area [in square metres]? => s*s => -
a 2-8, b 2-8, c 2-9 | (A worker|{n}) (makes|packs|checks) {a} (parts|boxes|parcels) an hour. | how many in {b} hours[?] => a*b => - ; how many do {c} such workers make in an hour[?] => a*c => -
a 50-300, b 10-40 | My (data plan|card|account) has {a} (gigabytes|credits|points), I've used {b}. | (what|how much) is left[?] => a-b => -
a 2-9, b 10-60, c 5-30 | {a} (photos|videos) of {b} megabytes each and (a document|an app) of {c}. | how many megabytes in all[?] => photos=a*b ; photos+c => megabytes
a 3-12, b 2-6, s=a*b | {n} takes {b} (pills|tablets|drops) a day from a pack of {s}. | how many days does (it|the pack) last[?] => s/b => days
a 3-12, b 2-6, s=a*b | (There is|We have) {s} kilos of (dog food|rice|flour), and {b} kilos (are used|go) (a|per|every) day. | for how many days is it enough[?] => s/b => days
a 2-9, b 5-20, c 2-9, d 2-6 | I (do|did) {a} sets of {b} (push-ups|squats) and then {c} more. | (total|how many [in all])? => sets=a*b ; sets+c => - ; how many without the last ones? => a*b => -
a 20-60, b 2-9, q 2-9 | {a} people wait for the lift: {b} go up in the first ride and {q} in the second. | how many (are still waiting|still wait)[?] => gone=b+q ; a-gone => people
a 3-40, b 3-40 | {n} (scored|got) {a} points, {m} {b}. | how many (together|in all)[?] => a+b => points ; (what's|what is) the difference[?] => far(a, b) => points
a 200-500, b 20-99, c 20-99 | I earn {a} {M} (a week|this week), spend {b} on (rent|food) and {c} on (the car|fuel). | what can I save[?] => spent=b+c ; a-spent => {M} ; what do I spend? => b+c => {M}
a 2-9, b 10-25, c 2-9, d 2-9 | {n} earns {b} {M} an hour and works {a} hours, minus {c} {M} for (lunch|the bus). | (what's left|what does {he} keep|how much remains)[?] => pay=a*b ; pay-c => {M}
f 2-4, q 3-20, t=f*q | {n} has {t} (km|pages|exercises) to do and has done {ff} of (them|it). | how much is done[?] => t/f => - ; how much is left[?] => done=t/f ; t-done => -
f 2-4, q 3-12, t=f*q, g 2-9, g<t-q | Of the {t} (kids|guests|players) {ff} are late and {g} are ill. | how many are late[?] => t/f => - ; how many are (here on time|neither late nor ill)[?] => late=t/f ; here=t-late ; here-g => -
a 2-9, b 2-9 | (My daughter|The toddler|{n}) has {a} red, {b} blue and twice as many green (bricks|beads) as blue ones. | how many green [ones][?] => b*2 => - ; how many in all[?] => green=b*2 ; a+b+green => -
a 8-30, b 2-7 | {n} is {a}, {m} is {b} years older [than {n}] and {k} {b} years younger [than {n}]. | how old is {m}[?] => a+b => years ; how old is {k}[?] => a-b => years
a 20-90, b 2-9, c 2-9 | The (bus|train|boat) (leaves|sets off) with {a} people. At the (first|next) stop {b} get (out|off) and {c} get (in|on). | how many are (on it|on board) (then|now)[?] => rest=a-b ; rest+c => people
a 4-12, b 2-6 | (Tickets|Seats) are {a} {M} for grown-ups and half price for children. {b} grown-ups go. | what do the grown-ups pay[?] => a*b => {M}
q 2-8, b 2-4, g 2-4, a=2*q | A ticket is {a} {M}, half for children. We are {b} adults and {g} kids. | (what do we pay|total)[?] => kid=a/2 ; adults=a*b ; kids=kid*g ; adults+kids => {M}
a 2-9, b 3-9, c 2-5 | Buy {c}, get one free: a (soap|tea|cereal) is {a} {M}. {n} takes {c} and the free one. | what does {he} pay[?] => a*c => {M}
a 3-9 | A week at the (camp|hostel) costs {a} {M} a night. | what are seven nights[?] => a*7 => {M} ; what do two weeks cost[?] => nights=2*7 ; a*nights => {M}
"""
