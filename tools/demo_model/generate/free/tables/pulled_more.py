"""More rows for pulled.py."""

MORE = r"""
On the pier {name1} ran into {name2} and, a little later, {mister1}. | the names => {name1}, {name2}, {mister1} ; everybody who is named => {name1}, {name2}, {mister1} | place = the pier
At the fair {name1} and {name2} saw {mister1}, who sold {name3} a ring. | the (people|names|persons) => {name1}, {name2}, {mister1}, {name3} ; who bought something => {name3} |
{x1=Shelf/Mirror/Stool}: ${k1}. {x2=Carpet/Chair/Bench}: ${h1}. Bringing it home: ${n1}. | the prices => ${k1}, ${h1}, ${=n1} ; which prices are mentioned => ${k1}, ${h1}, ${=n1} ; the goods => {x1}, {x2} | price of the {x2} = ${h1} ; delivery = ${=n1}
Bill number {code1}: {h1}.00 EUR, to be paid until {date1} | the numbers with EUR => {h1}.00 EUR | invoice number = {code1} ; due date = {date1} ; total = {h1}.00 EUR
Invoice {code1} of {date1} to {company1}: {h1} euros, payable by {date2}. | the dates => {date1}, {date2} | invoice number = {code1} ; date = {date1} ; customer = {company1} ; #amount = {h1} ; payable by = {date2}
Please send {m1} {x1=aprons/mugs/caps} in {color1}. | the (colours|colors) => {color1} | product = {x1} ; #quantity = {=m1} ; colour = {color1}
Could you send me {n1} {color1} and {m1} {color2} {x1=scarves/candles/folders}? {name1} | the (colours|colors) => {color1}, {color2} ; the quantities => {=n1}, {=m1} | product = {x1} ; customer = {name1}
An owl slept in the barn, two goats fought, and a goose hid behind the pony. | all animals => owl, goats, goose, pony ; the animals => owl, goats, goose, pony ; the birds => owl, goose |
A {x1=fox/badger/hedgehog} crossed the road, frightened {n1} {x2=hens/ducks/geese} and ran into a {x3=goat/donkey/pony}. | the animals => {x1}, {x2}, {x3} ; all animals => {x1}, {x2}, {x3} | number of {x2} = {=n1}
Dear {mister1}, the plans are on their way to you. Sincerely, {fullname1} | the names => {mister1}, {fullname1} | sender = {fullname1} ; recipient = {mister1}
From: {name1}\nTo: {name2}\nCc: {name3}\nSubject: {x1=Keys/Rent/Trip}\n\nSee you on {day1}. | the receivers => {name2}, {name3} ; everybody who gets (a copy|the mail) => {name2}, {name3} | sender = {name1} ; recipient = {name2} ; subject = {x1} ; day = {day1}
Hi {name1}, greetings from {city1}. {name2} is with me, {name3} stayed at home. Yours, {name4} | who is on the trip => {name4}, {name2} ; who stayed at home => {name3} | sender = {name4} ; recipient = {name1} ; city = {city1}
To do: {name1} paints the door, {name2} orders the tiles, {name3} rings the plumber. | the tasks => paint the door, order the tiles, ring the plumber ; the people with a task => {name1}, {name2}, {name3} | task of {name2} = order the tiles ; task of {name1} = paint the door
Come to our {x1=street party/jumble sale/open day}: {day1} {date1}, {clock1}, {street1}. | when and where => {day1} {date1}, {clock1}, {street1} ; when and where is it => {day1} {date1}, {clock1}, {street1} | what = {x1} ; day = {day1} ; date = {date1} ; time = {clock1} ; place = {street1}
The {x1=reading/match/tour} begins {day1} at {clock1} and ends at {clock2}, meeting point {room1}. | the times => {clock1}, {clock2} ; when and where => {day1} at {clock1}, {room1} | begin = {clock1} ; end = {clock2} ; meeting point = {room1}
{city1} today: {x1=clear/sunny/foggy/rainy} at {m1} degrees. | | city = {city1} ; #temp = {=m1} ; sky = {x1}
{city1}: {x1=snow/wind/sun}, {n1} degrees; {city2}: {x2=rain/fog/storm}, {m1} degrees. | the cities => {city1}, {city2} ; the degrees => {=n1}, {=m1} | weather in {city2} = {x2} ; weather in {city1} = {x1}
Call {name1} on {phone1} or, after {clock1}, on {phone2}. | the phone numbers => {phone1}, {phone2} | name = {name1} ; number after {clock1} = {phone2} ; first number = {phone1}
Patient {fullname1}, born {date1} {year1}, allergic to {food1} and {food2}. | the things that the patient is allergic to => {food1}, {food2} ; the allergies => {food1}, {food2} | name = {fullname1} ; born = {date1} {year1}
Rent {h1}, heating {k1}, internet {m1}: paid on {date1} by {name1}. | the costs => {h1}, {k1}, {=m1} ; what was paid for => rent, heating, internet | #rent = {h1} ; #heating = {k1} ; #internet = {=m1} ; paid by = {name1}
We stock {color1}, {color2} and {color3} yarn; {color2} is sold out. | the (colours|colors) => {color1}, {color2}, {color3} ; the (colours|colors) that one can buy => {color1}, {color3} ; what is sold out => {color2} |
Yes: {name1}, {name2}. No: {name3}. No answer: {name4}, {name5}. | who said yes => {name1}, {name2} ; who did not answer => {name4}, {name5} ; who said no => {name3} |
Left {city1} at {clock1}, changed in {city2} at {clock2}, arrived in {city3} at {clock3}. | the cities => {city1}, {city2}, {city3} ; the times => {clock1}, {clock2}, {clock3} | arrival = {clock3} ; departure = {clock1} ; change = {city2}
ORDER {code1}: {n1} x {x1=door/window/hinge}, {color1}, ship to {street1} | the numbers of pieces => {=n1} | order = {code1} ; #pieces = {=n1} ; article = {x1} ; colour = {color1} ; address = {street1}
user={name1} id={code1} role={x1=admin/guest/editor} active=true since={date1} | | user = {name1} ; id = {code1} ; role = {x1} ; since = {date1}
<b>{name1} {fam1}</b>, {job1}, <i>{email1}</i>, {city1} | the (emails|email addresses) => {email1} | name = {name1} {fam1} ; job = {job1} ; email = {email1} ; city = {city1}
{name1};{fam1};{adult1};{city1}\n{name2};{fam2};{adult2};{city2} | the first names => {name1}, {name2} ; the cities => {city1}, {city2} ; the ages => {adult1}, {adult2} | city of {name1} = {city1} ; age of {name2} = {adult2}
{clock1} {name1}: who has the drill?\n{clock2} {name2}: me\n{clock3} {name1}: can I get it {day1}? | who writes => {name1}, {name2} | who has the drill = {name2} ; wanted on = {day1}
Wanted: {n1} {x1=waiters/cooks/drivers} from {month1} on, {m1} euros an hour. Mail to {email1}. | | job = {x1} ; #number = {=n1} ; start = {month1} ; #wage = {=m1} ; email = {email1}
{name1} hurt {x1=a knee/an ankle/a thumb} at {x2=football/judo/work}, {name2} only {x3=a tooth/a rib/a toe}. | who was hurt => {name1}, {name2} ; what was hurt => {x1}, {x3} | where {name1} was hurt = {x2}
Breakfast: {food1}. Lunch: {food2} with {food3}. Dinner: nothing. | what was eaten => {food1}, {food2}, {food3} ; what was eaten for lunch => {food2}, {food3} | breakfast = {food1} ; dinner = nothing
My {x1=violin/laptop/watch}, a {company1} with a scratch on the {x2=back/lid/side}, was stolen in {city1} on {date1}; it is worth {h1} euros. | | object = {x1} ; maker = {company1} ; city = {city1} ; date = {date1} ; #value = {h1}
I ordered {x1=a kettle/two shirts/a puzzle} on {date1}, order {code1}, and got {x2=an iron/a vase/a cushion} instead. I only want what I ordered. {name1} | | order number = {code1} ; ordered = {x1} ; received = {x2} ; wish = what I ordered ; name = {name1}
Another {x1=vase/plate/teapot} is of no use to me; refund the price, please. {name1} | | wish = refund the price ; name = {name1} ; not wanted = another {x1}
Flight {code1}, gate {x1=A/B/C}{n1}, boarding {clock1}, seat {m1}{x2=D/E/F}, {fullname1} | | flight = {code1} ; gate = {x1}{=n1} ; boarding = {clock1} ; seat = {=m1}{x2} ; passenger = {fullname1}
Ingredients: {food1}, {food2} ({m1} %), {food3}, salt. May contain {food4}. | the ingredients => {food1}, {food2}, {food3}, salt ; the thing that it may contain => {food4} | share of {food2} = {=m1} %
Recorded by {name1} ({instrument1}), {name2} ({instrument2}) and {name3} (voice) in {city1}, {year1}. | the musicians => {name1}, {name2}, {name3} ; the instruments => {instrument1}, {instrument2} | singer = {name3} ; city = {city1} ; year = {year1}
{name1} likes {sport1} but not {sport2}; {name2} likes neither, only {sport3}. | the sports => {sport1}, {sport2}, {sport3} ; the sport that {name1} likes => {sport1} ; the sport that {name2} likes => {sport3} |
"""
