"""Short texts and what can be pulled out of them.

text | what has a role => value, value ; ... | key = value ; #key = number ; ...

A role with nothing behind => has none in the text. Values stand in the order of the text. A text names nothing of a role outside of
its slots. Slots as in filled.py. Roles beside keys are said as they would be asked: "the things that {name1} needs".
"""

PULLED = r"""
{name1} is looking for a {x1=tripod/hammock/cello} and a {x2=ladder/globe/harness}, and would give away a {x3=pram/stove/treadmill}. | the things {name1} (is looking for|wants) => a {x1}, a {x2} ; the things {name1} would give away => a {x3} ; {name1}'s pets => |
For the soup we still need {food1}, {food2} and {food3}; {food4} is in the fridge. | (things|ingredients) (we|they) still need => {food1}, {food2}, {food3} ; what is in the fridge => {food4} ; (all |)the ingredients => {food1}, {food2}, {food3}, {food4} | 
Day one {city1}, day two {city2}, then by night bus to {city3}, arriving {clock1}. | the (cities|towns) [named|in it] => {city1}, {city2}, {city3} | first city = {city1} ; last city = {city3} ; arrival time = {clock1}
Branch {city1}: ring {phone1}, closed {clock1} to {clock2} for lunch. | the email addresses => | phone number = {phone1} ; city = {city1}
Applications go to {name1} ({email1}), {day1} at the latest. | the phone numbers => | email address = {email1} ; contact = {name1} ; deadline = {day1}
{mister1} lent a {x1=harp/globe/portrait/telescope} to the {x2=gallery/court/school/embassy} on {date1} and got it back on {date2}. | the dates => {date1}, {date2} | lender = {mister1} ; borrower = the {x2} ; date of lending = {date1} ; date of return = {date2}
Bill {code1}: {n1} {things1}, carriage {price1}, to pay {h1}.00 euros until {date1}. | | bill number = {code1} ; sum = {h1}.00 euros ; carriage = {price1} ; pay date = {date1} ; #quantity = {=n1}
On {street1} {name1} ran into {mister1}, and later into {name2}. | (all the|the) (people|persons) => {name1}, {mister1}, {name2} | street = {street1}
{x1=Stargazers/Beekeepers/Wood carvers/Quiz team}, next evening: {date1}, {clock1}, {x2=Tower Room/Old Forge/North Hall/Boat Inn}. | | date = {date1} ; place = {x2} ; time = {clock1} ; group = {x1}
{name1} writes: the {x1=zip/hinge/cable/handle} of my purchase {code1} came off. | | purchase number = {code1} ; broken part = {x1} ; customer = {name1}
Attendees: {name1} ({email1}), {name2} ({email2}), {name3} (no mail yet). | the email addresses => {email1}, {email2} ; the (names|attendees|people) => {name1}, {name2}, {name3} ; who has no mail yet => {name3} |
to do before the trip: {x1=renew the passport/buy sunscreen}, {x2=charge the camera/write a will}, {x3=empty the fridge/lock the shed}. already done: {x4=hotel/tickets/vaccination} | the (tasks|to-dos|things) [that are] still to do => {x1}, {x2}, {x3} ; what is already done => {x4} |
{name1} paints in {color1} and {color2} only; {name2} hates {color3}. | the (colours|colors) => {color1}, {color2}, {color3} ; the (colours|colors) [that] {name1} uses => {color1}, {color2} ; the (colour|color) {name2} hates => {color3} |
In the shed hang a {tool1}, a {tool2} and a {tool3}, and a bicycle stands by the door. | the tools => {tool1}, {tool2}, {tool3} |
{name1}, {adult1}, a {job1} from {city1}, won the {x1=raffle/quiz/race}. | the phone numbers => | name = {name1} ; #age = {adult1} ; job = {job1} ; city = {city1}
Tenant: {fullname1}. Flat {m1}, {street1}. Rent {h1} euros, due by {date1}. | | tenant = {fullname1} ; #flat = {=m1} ; street = {street1} ; #rent = {h1}
Please transfer {price1} euros to {fullname1}, reference {code1}, by {date1}. | | amount = {price1} ; recipient = {fullname1} ; reference = {code1} ; deadline = {date1}
Flight {code1} from {city1} to {city2}, departs {clock1}, lands {clock2}, gate {n1}. | the (cities|airports) => {city1}, {city2} ; the times => {clock1}, {clock2} | flight = {code1} ; origin = {city1} ; destination = {city2} ; departure = {clock1} ; arrival = {clock2} ; #gate = {=n1}
hey its {name1}, can u pick up {food1}, {food2} n {food3}? {name2} already got {food4} | (what|the things) (to pick up|that must be picked up) => {food1}, {food2}, {food3} ; the things {name2} already has => {food4} | sender = {name1}
The {x1=lion/bear/zebra/otter} is old, the {x2=fox/seal/hawk/camel} is new and the {x3=owl/wolf/lynx/toad} is ill, says keeper {name1}. | the animals => {x1}, {x2}, {x3} ; the animal that is ill => {x3} | keeper = {name1}
{name1} ordered {n1} {things1} on {date1} and paid {price1} euros by card. | the cities => | customer = {name1} ; #quantity = {=n1} ; item = {things1} ; date = {date1} ; amount = {price1}
Product: {x1=desk lamp/garden hose/camping stove/rain coat}. Colour: {color1}. Price: {price1}. In stock: {m1}. | | product = {x1} ; colour = {color1} ; price = {price1} ; #stock = {=m1}
{x1=Carrot cake/Onion tart/Fish curry}: {food1}, {food2}, {food3}, a pinch of salt. Bake {m1} minutes. | (all |)the ingredients => {food1}, {food2}, {food3}, salt | dish = {x1} ; #minutes = {=m1}
{name1} plays the {instrument1}, {name2} the {instrument2}, and {name3} only listens. | the instruments => {instrument1}, {instrument2} ; the people who play [an instrument] => {name1}, {name2} ; who only listens => {name3} ; the names => {name1}, {name2}, {name3} |
Closed on {day1} and {day2}; on {day3} open until {clock1}. | the days [when|on which] (it|the shop) is closed => {day1}, {day2} ; (all |)the weekdays => {day1}, {day2}, {day3} | closing time on {day3} = {clock1}
Contact: {fullname1}, {street1}, {city1}. Tel. {phone1}, mail {email1}. | | name = {fullname1} ; street = {street1} ; city = {city1} ; phone number = {phone1} ; email = {email1}
{name1} reads, {name2} sleeps, {name3} and {name4} argue about the {x1=map/bill/window}. | (all |)the names => {name1}, {name2}, {name3}, {name4} ; who (argues|is arguing) => {name3}, {name4} | topic = the {x1}
we can meet {day1} {clock1} or {day2} {clock2}, not {day3}. {name1} | the possible days => {day1}, {day2} ; the (day that does not work|impossible day) => {day3} ; the times => {clock1}, {clock2} |
The thief took {x1=a ring/two watches/a laptop}, {x2=some cash/a coin collection/a camera} and {x3=a violin/a bicycle/a fur coat}, but left {x4=the silver/the paintings/the television}. | (what|the things) (was|were) stolen => {x1}, {x2}, {x3} ; what was left => {x4} |
{mister1} teaches {subject1} and {subject2}, {mister2} teaches {subject3}. | the (subjects|school subjects) => {subject1}, {subject2}, {subject3} ; the subjects of {mister1} => {subject1}, {subject2} ; the teachers => {mister1}, {mister2} |
Ticket {code1}: app crashes on login. Reported by {name1} on {date1}. Priority {x1=low/high/medium}. | | ticket number = {code1} ; reporter = {name1} ; date = {date1} ; priority = {x1}
{name1} likes {drink1}, {name2} {drink2}; nobody wants {drink3}. | the drinks => {drink1}, {drink2}, {drink3} ; the drink nobody wants => {drink3} ; the drinks [that] (somebody|someone) likes => {drink1}, {drink2} |
Prices: {things1} {price1}, {things2} {price2}, {things3} {price3}. | the prices => {price1}, {price2}, {price3} ; the (items|products|goods) => {things1}, {things2}, {things3} | price of {things2} = {price2} ; price of {things1} = {price1}
My sons are {name1} and {name2}; my daughter is called {name3}. | the sons => {name1}, {name2} ; the (children|names of the children) => {name1}, {name2}, {name3} ; the daughters => {name3} |
The {x1=storm/flood/fire} hit {city1} and {city2}; {city3} was spared. | the (cities|towns) [that were] hit => {city1}, {city2} ; (all|) the cities => {city1}, {city2}, {city3} ; the city that was spared => {city3} | event = {x1}
Born in {year1} in {city1}, {fullname1} became a {job1} and wrote {n1} books. | | name = {fullname1} ; #year of birth = {year1} ; birthplace = {city1} ; job = {job1} ; #books = {=n1}
Bring {x1=a torch/a knife/a spoon}, {x2=boots/a hat/gloves} and {x3=a sleeping bag/a mat/a pillow}. Do not bring {x4=a phone/pets/alcohol}. | (the things|what) to bring => {x1}, {x2}, {x3} ; what not to bring => {x4} |
Speakers: {fullname1} ({city1}), {fullname2} ({city2}). Start {clock1}, room {m1}. | the speakers => {fullname1}, {fullname2} ; the cities => {city1}, {city2} | start = {clock1} ; #room = {=m1}
{name1} owes {name2} {up1} euros and {name3} {up2}. | the (amounts|sums) => {up1} euros, {up2} ; the people who get money => {name2}, {name3} ; the person who owes money => {name1} | amount for {name2} = {up1} euros
URGENT: server {x1=alpha/blue/north} in {city1} unreachable since {clock1}, {name1} informed, ticket {code1}. | the email addresses => | server = {x1} ; city = {city1} ; time = {clock1} ; ticket = {code1} ; person informed = {name1}
I speak {x1=English/Dutch/Greek} and {x2=Turkish/Danish/Arabic}; my wife speaks {x3=Polish/Hindi/Welsh}. | (all |)the languages => {x1}, {x2}, {x3} ; the languages [that] (the writer speaks|I speak) => {x1}, {x2} |
Good: the {x1=screen/battery/sound}, the {x2=price/weight/camera}. Bad: the {x3=buttons/manual/charger}. | the (good points|things that are good|pros) => the {x1}, the {x2} ; the (bad points|cons|things that are bad) => the {x3} |
Dr. visit {date1}: {fullname1}, {x1=headache/sore throat/broken toe}, {x2=rest/tea/a bandage} for {n1} days. | | patient = {fullname1} ; complaint = {x1} ; treatment = {x2} ; #days = {=n1} ; date = {date1}
winner {name1} {m1} pts, second {name2} {e1} pts, {name3} dropped out | the (people|players|names) => {name1}, {name2}, {name3} ; who dropped out => {name3} | winner = {name1} ; #points of {name1} = {=m1}
They sell {x1=bread/cheese/eggs} and {x2=honey/candles/jam} on {day1}, and {x3=flowers/fish/books} on {day2}. | (everything|the goods|all goods) they sell => {x1}, {x2}, {x3} ; the things they sell on {day1} => {x1}, {x2} ; the things they sell on {day2} => {x3} ; the (market |)days => {day1}, {day2} |
Dear {mister1}, your appointment with {mister2} is on {day1}, {date1}, at {clock1}. Bring {x1=your card/a towel/the X-ray}. | | patient = {mister1} ; doctor = {mister2} ; weekday = {day1} ; date = {date1} ; time = {clock1}
Between {city1} and {city2} the train stops in {city3} only. | the (cities|stations) => {city1}, {city2}, {city3} ; the stops (between|on the way) => {city3} |
{name1} forgot {his} {x1=scarf/keys/notebook}, {name2} {his} {x2=lunch/passport/glasses}. | the (forgotten things|things that were forgotten) => {x1}, {x2} ; who forgot something => {name1}, {name2} | thing {name1} forgot = {x1}
Wanted: {x1=cook/driver/gardener/nurse}, {n1} days a week, {price1} euros an hour, from {month1}. Apply to {email1}. | | job = {x1} ; #days a week = {=n1} ; hourly pay = {price1} ; start = {month1} ; email = {email1}
The {color1} box holds {things1}, the {color2} one {things2}, and the {color3} one is empty. | the (colours|colors) => {color1}, {color2}, {color3} ; the (colour|color) of the empty box => {color3} ; the contents of the boxes => {things1}, {things2} |
{name1} was in {city1} in {year1} and in {city2} in {year2}. | the years => {year1}, {year2} ; the cities => {city1}, {city2} | city in {year2} = {city2}
Error {code1} at {clock1}: user {name1} has no access to {x1=reports/billing/archive}. | | error code = {code1} ; time = {clock1} ; user = {name1}
Mix {n1} spoons of {food1} with {m1} grams of {food2}; leave the {food3} out if you like. | the ingredients => {food1}, {food2}, {food3} ; the optional ingredient => {food3} ; the ingredients that must be used => {food1}, {food2} | amount of {food2} = {m1} grams
{name1} (mother), {name2} (father), {name3} and {name4} (children) | the parents => {name1}, {name2} ; the children => {name3}, {name4} ; everybody's names => {name1}, {name2}, {name3}, {name4} | mother = {name1} ; father = {name2}
My old number was {phone1}, my new one is {phone2}. {name1} | the phone numbers => {phone1}, {phone2} ; the email addresses => | new number = {phone2} ; old number = {phone1} ; name = {name1}
On {date1} {shop1} sold {h1} {things1} for {price1} each. | | date = {date1} ; shop = {shop1} ; #sold = {h1} ; item = {things1} ; price = {price1}
Rooms: {x1=Oak/Sun/River} for {name1}, {x2=Fern/Moon/Lake} for {name2}, {x3=Birch/Star/Hill} stays free. | the rooms => {x1}, {x2}, {x3} ; the (free room|room that stays free) => {x3} ; the guests => {name1}, {name2} | room of {name1} = {x1}
{name1}: yes. {name2}: no. {name3}: yes. {name4}: maybe. | who (said|says|answered) yes => {name1}, {name3} ; who (said|says) no => {name2} ; who is not sure => {name4} | answer of {name4} = maybe
Leaving at {clock1} with {name1}, back {day1}. The cat needs {x1=pills/fish/water} and the plants {x2=light/nothing/rain water}. | the names => {name1} | departure = {clock1} ; companion = {name1} ; return = {day1}
I sold my {x1=van/piano/boat}, kept my {x2=bike/guitar/tent} and my {x3=dog/books/stove}, and gave {x4=my plants/my rug/my skis} to {name1}. | what was kept => {x2}, {x3} ; what was sold => {x1} ; what was given away => {x4} | new owner = {name1}
Serial number {code1}, bought on {date1} at {shop1}, guarantee {n1} years. | | serial number = {code1} ; date of purchase = {date1} ; shop = {shop1} ; #guarantee years = {=n1}
Class trip: {n1} teachers, {m1} pupils, {k1} sandwiches. | the (numbers|amounts) => {=n1}, {=m1}, {=k1} | #teachers = {=n1} ; #pupils = {=m1} ; #sandwiches = {=k1}
A {x1=clumsy/young/kind} {x2=tall/polite/Danish} {job1} dropped a {x3=full/blue/tiny} {x4=tray/vase/basket}. | the adjectives => {x1}, {x2}, {x3} |
{name1} {x1=sings/runs/cooks} well, but {name2} never {x2=helps/calls/smiles}. | the verbs => {x1}, {x2} ; the names => {name1}, {name2} |
Between the {x1=river/road/lake} and the {x2=wood/church/tower} lies a {x3=mill/farm/camp}. | the nouns => {x1}, {x2}, {x3} |
"""
