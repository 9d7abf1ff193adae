"""Talks in stages. Each line begins with its mark:

@ what the user says first => acknowledgement ; another
+ what the user says next => answer [=> thought]
? question => answer [=> thought] ; ...    holds until the next stage
! question => answer [=> thought] ; ...    holds to the end
~ question that is left open ; ...

Slots and sums as in filled.py: {n1} is 2 to 9, {m1} 11 to 30, {k1} 40 to 95, {h1} a multiple of ten from 100; {=m1-n1} is worked out.
What is asked for stands in no brackets. Patterns as in grammar.py.
"""

HEARD = r"""
@(I have|we have|at home I have|there are) {n1} {x1=cats/dogs/hens/rabbits/goats}, (and|plus) a {x2=parrot/hedgehog/gecko/pony} (called|named) {name1} => Nice: {n1} {x1} and {name1} the {x2}. ; Got it: {n1} {x1} and a {x2} called {name1}.
? how many (animals|pets) (do I|do we) have [(in all|altogether|in total)][?] => {=n1+1} => {n1} {x1} and 1 {x2}: {n1} + 1 = {=n1+1}.
! (what|which) (kind of |)animal is {name1}[?] => a {x2} ; (what is|what's) (my|the) {x2} called[?] => {name1} ; who is {name1}[?] => your {x2} => The user has a {x2} called {name1}.
~ how old is {name1}[?] ; what does {name1} eat[?]
+(one|1) of the {x1} had {m1} (young|babies|little ones) [(last night|today)] => How lovely, {m1} little ones! ; Congratulations on the {m1} little ones!
? how many {x1} (are there|do I have) now[, with the young][?] => {=n1+m1} => {n1} and {m1} young: {n1} + {m1} = {=n1+m1}.
@(my|our) cats are [called] {name1}, {name2} and {name3} => Lovely names: {name1}, {name2} and {name3}. ; Got it: three cats, {name1}, {name2} and {name3}.
? how many cats (do I|do we) have[?] => three => {name1}, {name2}, {name3}: three. ; what are (my|our|the) cats called[?] => {name1}, {name2} and {name3} ; (name|list) my cats => {name1}, {name2}, {name3}
+{name2} is the (oldest|youngest|fattest) and {name3} is {color1} => Noted: {name3} is {color1}. => The user tells me something: {name3} is {color1}.
? (what|which) (colour|color) is {name3}[?] => {color1} ; which (one|cat) is {color1}[?] => {name3}
+we (gave|are giving) {name1} to (my|our) {x1=aunt/neighbour/teacher} => OK, {name1} lives with your {x1} then. ; Noted: {name1} goes to your {x1}.
? (where|with whom) (is|does) {name1} (now|live)[?] => with your {x1} ; (which|what) cats (are left|do I still have)[?] => {name2} and {name3} => {name1}, {name2}, {name3}, without {name1}. ; how many are left[?] => two => Three, without {name1}: two.
@(hi|hello|hey|good morning)[,] it's {name1}, I (keep|have) a {x1=flower shop/tea room/bike workshop/bookshop/print shop/hair salon} in {city1} => Nice to meet you, {name1}! ; Hello {name1}, a {x1} in {city1} sounds nice!
! (what's|what is) my name[?] => {name1} ; where is my (shop|place|business)[?] => {city1} ; what (kind of |)(shop|business) do I (have|run|own)[?] => a {x1} ; (who am I|do you (know|remember) (me|who I am))[?] => You are {name1}. => The user is {name1}. ; what do I do[ for a living][?] => You run a {x1} in {city1}.
~ how many people work for me[?] ; since when do I have it[?]
+[and] my {x2=partner/husband/wife/mother} {name2} does the {x3=accounts/deliveries/cleaning/window display} => Got it: {name2} does the {x3}. ; Good to have {name2} for the {x3}!
! who does the {x3}[?] => {name2} ; who is {name2}[?] => your {x2} => The user said: my {x2} {name2}. ; what does {name2} do[ (in the shop|there)][?] => {name2} does the {x3}. ; what's (my {x2}'s name|my {x2} called)[?] => {name2}
+[from {month1}] we('re| are) (moving|going) to {street1} => Noted: {street1}. ; All right, {street1} it is.
? (where|to which street) are we moving[?] => {street1} ; (what's|what is) the new address[?] => {street1}
@(hey|hello|hi|good day)[,|.] (call me|you can call me|please call me|they call me|everybody calls me) {name1} => Hello {name1}! ; Nice to meet you, {name1}.
? what (should|do) you call me[?] => {name1} ; (what is|what's|say) my name[?] => {name1} ; do you (still |)(know|remember) (my name|who I am|what I'm called)[?] => Yes, you are {name1}. => The user is {name1}.
+(actually|no|sorry|hm)[,] (rather|better|make that|call me) {name2}[, please] => All right, {name2}. ; OK, {name2} it is. => The user wants to be called {name2}, no longer {name1}.
? what (should|do) you call me [now][?] => {name2} ; (what is|what's|say) my name[ now][?] => {name2} ; who am I[?] => You are {name2}. => The user is {name2} now. ; what did you call me (before|at first)[?] => {name1} => First {name1}, then {name2}.
@(I'm|I am) {adult1}[ years old] and my (sister|brother) {name1} is {n1} years (older|older than me) => Got it: you are {adult1}, {name1} is {n1} years older.
! how old am I[?] => {adult1} ; how old is {name1}[?] => {=adult1+n1} => {n1} years older than {adult1}: {adult1} + {n1} = {=adult1+n1}. ; who is older[, {name1} or me][?] => {name1} => {name1} is {n1} years older.
? how old will I be in {n2} years[?] => {=adult1+n2} => {adult1} + {n2} = {=adult1+n2}. ; how old was I {n2} years ago[?] => {=adult1-n2} => {adult1} - {n2} = {=adult1-n2}.
@my (friend|cousin|flatmate|colleague) {name1} is {adult1} and I'm {n1} years younger => Got it: {name1} is {adult1}, you are {n1} years younger.
! how old is {name1}[?] => {adult1} ; (and |)how old am I[?] => {=adult1-n1} => {n1} years younger than {adult1}: {adult1} - {n1} = {=adult1-n1}. ; who of us is younger[?] => you => The user is {n1} years younger. ; (what is|what's) (our|the) age difference[?] => {n1} years => The user is {n1} years younger: {n1} years.
@(next week|on {day1}|{day1}) I('m| am) (flying|going|travelling|off) to {city1} for (a|my {x2=cousin/niece/old friend}'s) {x1=conference/funeral/wedding/christening/job interview/trade fair} => Noted: {city1}, for the {x1}. ; All right, {city1} it is, for the {x1}.
! where (am I (going|flying|off to)|do I (go|fly|travel))[?] => to {city1} ; why (am I (going|flying)|do I (go|fly)) (there|to {city1})[?] => for the {x1} ; what (is there|am I going to|happens) in {city1}[?] => the {x1}
~ how long am I staying[?] ; which hotel is it[?] ; who comes along[?]
+(change of plan|new date|they shifted it):[ I leave] {day2} => OK, on {day2} then. ; Noted: you leave on {day2}. => That changes: on {day2}.
! when (do I (go|leave|fly)|am I (going|leaving|flying))[?] => on {day2} ; (when do I go, and where|when and where do I fly|where do I go and on which day)[?] => on {day2}, to {city1} => The user leaves on {day2}, to {city1}. ; (what|which) day do I (leave|fly|go)[?] => {day2}
+my {x3=flight/train/plane/coach} leaves at {clock1} => Noted: {clock1}.
! when (does (my|the) {x3} leave|is (my|the) {x3})[?] => at {clock1} ; (what|which) time (do I have to be there for|is) the {x3}[?] => {clock1}
@(tonight|for dinner) I('m| am) (making|cooking|having|planning) {dish1} [(for dinner|tonight)] => That sounds tasty! ; Ah, {dish1}, that sounds good!
? what (am I (cooking|making|having)|do I (cook|make))[ (tonight|for dinner)][?] => {dish1}
+(oh no|hmm|oops|damn|ah)[,] (no|there's no|we have no|I'm out of) {food1}[.|, so] (I'll make|it'll be|then it's|I'm doing) {dish2} (instead|then) => OK, {dish2} then. ; All right: {dish2} instead. => The plan changes: {dish2}, no longer {dish1}, because there is no {food1}.
! what (am I (cooking|making|having)|do I (cook|make)) [now] [(tonight|for dinner)][?] => {dish2} ; why (not|am I not making) {dish1}[?] => because there is no {food1} => The user is out of {food1}. ; what (was the first plan|did I want to cook first|was I going to cook first)[?] => {dish1} => First it was {dish1}, now {dish2}. ; what (is missing|am I out of|do I not have)[?] => {food1}
+{name1} (is coming|comes) too, and {he} (doesn't eat|can't have|hates) {food2} => Noted: no {food2} for {name1}.
! what (does|can) {name1} not (eat|have)[?] => {food2} ; who is coming[?] => {name1} ; who (doesn't|can't) eat {food2}[?] => {name1}
@(the (bike lock|garage|safe) opens with|code for the (bike lock|garage|safe):) {code1}, and I (sit in row|have cabin|have box) {m1} => Noted: code {code1}, number {m1}. ; Got it: {code1} and {m1}.
? (what's|what is|tell me|what was) (the|my) code[?] => {code1} ; (which|what) number (do I have|is my place)[, not the code][?] => {m1}
~ who else has the code[?]
+they (changed|have changed) the code[,|:] (it's|now it's|to) {code2} [now] => OK, the code is {code2} now. ; Noted: {code2}. => The code changes: {code2}, no longer {code1}.
! (what's|what is) the (new|current) code[?] => {code2} ; what was the (old|first) code[?] => {code1} => First {code1}, now {code2}: the old one is {code1}.
@I (bought|got|picked up) a {color1} {x1=kayak/scooter/accordion/tent/racing bike/armchair} [yesterday|last week] for {h1} (euros) => Nice, a {color1} {x1} for {h1} euros! ; A {color1} {x1}, nice!
! (what|which) (colour|color) is it[?] => {color1} ; what did I buy[?] => a {color1} {x1} ; (how much|what) did (it cost|I pay)[ for it][?] => {h1} euros
~ where did I buy it[?] ; how old is it[?]
+(then |now |)I('ve| have|) sold it (to {name1} |)for {=h1+k1} [euros] => A good deal! ; Well sold! => The user sold it for {=h1+k1}, bought it for {h1}.
! (what|how much) did I (gain|earn)[ by that][?] => {k1} euros => Sold for {=h1+k1}, bought for {h1}: {=h1+k1} - {h1} = {k1}. ; (how much|what) did I (get for it|sell it for)[?] => {=h1+k1} euros ; (what is|what's) the difference[?] => {k1} euros => {=h1+k1} - {h1} = {k1}. ; did I (gain|lose) (money|anything)( or (lose|gain) money|)[?] => You gained {k1} euros. => Bought for {h1}, sold for {=h1+k1}: a gain of {k1}.
@I('m| am) allergic to {x1=pollen/cashews/sesame/shellfish/bee stings/latex}, and my {x2=wife/grandson/girlfriend/flatmate} (reacts to|gets a rash from) {x3=celery/wheat/eggs/soy/honey} => Noted: no {x1} for you, no {x3} for your {x2}. ; Got it: you avoid {x1}, your {x2} avoids {x3}.
! what am I allergic to[?] => {x1} ; who (should|must|has to) avoid {x3}[?] => your {x2} => No {x3} for the user's {x2}. ; what (can't|may|must) my {x2} (eat|have|not have|not eat)[?] => {x3} ; who is allergic to {x1}[?] => you => The user is allergic to {x1}. ; (is|are|can I have|may I have) {x1} (ok|okay|fine) for me[?] => No => The user is allergic to {x1}.
~ what is my {x2}'s name[?] ; since when am I allergic[?]
@I (work|teach|help out|am) at the {x1=planetarium/ice rink/zoo/museum} (on|every) {day1} and at the {x2=bakery/clinic/theatre/post office} (on|every) {day2} => Got it: {x1} on {day1}, {x2} on {day2}.
? where (do I work|am I) on {day1}[?] => at the {x1} ; (which|what) day (am I|is my day) at the {x1}[?] => {day1}
! where (do I work|am I) on {day2}[?] => at the {x2} ; when (am I|do I work) at the {x2}[?] => on {day2}
~ what do I do on {day3}[?] ; where am I on {day3}[?] ; what do I earn[?]
+(from now on|starting next month) (it's {day3} instead of {day1}|I do {day3} instead of {day1}) => OK: the {x1} on {day3}. => That changes: the {x1} on {day3}, no longer on {day1}.
? when (am I|do I work) at the {x1} [now][?] => on {day3}
@I (own|have|possess) a {color1} {x1=piano/coat/sledge}, a {color2} {x2=vase/rug/kite} and a {color3} {x3=globe/teapot/lamp} => Got it: {color1} {x1}, {color2} {x2}, {color3} {x3}.
! (what|which) (colour|color) is (my|the) {x2}[?] => {color2} ; (what|which) (colour|color) is (my|the) {x3}[?] => {color3} ; what do I (own|have) that is {color3}[?] => a {x3} ; what is {color2}[?] => the {x2}
? which of (them|my things) is {color1}[?] => the {x1} => The {x1} is {color1}.
+I('ve|) painted the {x1} {color4} [today|yesterday] => Nice: the {x1} is {color4} now. => The {x1} changes: {color4}, no longer {color1}.
! (what|which) (colour|color) is (my|the) {x1}[ now][?] => {color4} ; what (colour|color) was the {x1} before[?] => {color1} => It was {color1}, now it is {color4}.
@(we'll be|there will be|we are|there are) {m1} (of us|people|guests) (at|for) the {x1=cabin/barbecue/boat trip/dinner/picnic}[, {name1} too] => Noted: {m1} people for the {x1}. ; OK, {m1} of you.
! what are (we|they) coming to[?] => the {x1}
? how many (people|of us) (are coming|will be there|go|come)[?] => {m1}
+{name2} (can't come|isn't coming|has to work|is ill)[ after all] => OK, {=m1-1} of you then. ; A pity about {name2}. Then it is {=m1-1}. => One less: {m1} - 1 = {=m1-1}.
? [so] how many (are we|of us (go|come|are there)|are coming) now[?] => {=m1-1} => {m1}, without {name2}: {m1} - 1 = {=m1-1}. ; who (can't|isn't|is not) com(e|ing)[?] => {name2}
+but {name3} (brings|is bringing) {n1} (friends|children|cousins) => Good, then it is {=m1+n1}. ; {=m1+n1} in all then. => {name3} with {n1}: {name3} and {n1} are {=n1+1} more; {=m1-1} + {=n1+1} = {=m1+n1}.
? how many (friends|people|children|cousins) (does|is) {name3} bring(ing|)[?] => {n1}
@(the car is|I left the van|we parked) on deck {n1}, bay {code1} => Noted: deck {n1}, {code1}. ; Got it, deck {n1}, {code1}.
! (what|which) bay( is it|)[?] => {code1}
? where is (my|the) car[?] => deck {n1}, {code1} ; (which|what) deck (am I on|is it|did I park on)[?] => deck {n1} => Deck {n1}, {code1}.
+(somebody|my wife|they) (put|took) it to deck {n2}, the bay is the same => OK: deck {n2}, {code1}. => The deck changes, the bay stays: deck {n2}, {code1}.
? where is (my|the) car [now][?] => deck {n2}, {code1} => Now deck {n2}, the same bay {code1}. ; (which|what) deck[ now][?] => deck {n2} ; where was it (before|first)[?] => deck {n1}, {code1} => First deck {n1}, then deck {n2}.
@the (meeting|call|review|interview) is at {clock1} with {mister1} => Noted: {clock1}, {mister1}. ; Got it: with {mister1} at {clock1}.
! (with whom (is it|is the meeting)|who (am I meeting|do I meet|is it with))[?] => {mister1}
? (when|what time) is (it|the meeting)[?] => {clock1} ; (that|this|it) as JSON, (fields|keys): time, person => {"time": "{clock1}", "person": "{mister1}"} => time: {clock1}; person: {mister1}.
+(they|he) moved it to {clock2} => OK, {clock2} then. => The time changes: {clock2}, no longer {clock1}.
? (when|what time) is it[ now][?] => {clock2} ; change the time in the JSON[, please] => {"time": "{clock2}", "person": "{mister1}"} => time: {clock2}; person: {mister1}.
@I feel (a bit |so |really |)(stressed|nervous|anxious|tense) (today|right now) => I am sorry to hear that. What is the matter? ; That is hard. What is it about?
+(it's|it is) because of my {x1=oral exam/theory test/knee operation/court date/first shift/audition} (tomorrow|on {day1}) => Good luck with your {x1}! You can do it. ; I see, the {x1}. Good luck!
! what am I (nervous|worried|stressed) about[?] => your {x1} ; why (am I|do I feel) (stressed|nervous)[?] => because of your {x1} ; (what happens|what is happening|what is coming up|what do I have)[?] => your {x1}
~ where is it[?] ; how long does it take[?]
+(it went well|I passed|it's over and it was fine|I did it)[!] => Congratulations! ; I am glad to hear that! Well done.
@(lucky numbers:|our shirt numbers:) mine is {n1}, {name1}'s is {m1} => Got it: {n1} and {m1}.
! (what's|what is) (the sum|both together)[ of (them|our numbers|the two)][?] => {=n1+m1} => {n1} + {m1} = {=n1+m1}. ; (what's|what is) my number[?] => {n1} ; whose (number|one) is (larger|bigger)[, mine or the other][?] => the other one => {m1} is more than {n1}, and {n1} is the user's. ; (what's|what is) the difference[?] => {=m1-n1} => {m1} - {n1} = {=m1-n1}. ; (multiply them|the product of both|what is one times the other)[?] => {=m1*n1} => {m1} x {n1} = {=m1*n1}.
@the (harbour|sauna|workshop|zoo) closes at {clock1}[ today| this week] => Noted: it closes at {clock1}.
! when does it close[?] => at {clock1} ; (until when|how long) is it open[ today][?] => until {clock1}
~ when does it open[?] ; who has the key[?]
@my dog is (called|named) {name1} => A nice name! Noted: {name1}. ; {name1} is a nice name.
! (what is|what's) my dog('s name| called)[?] => {name1} ; who is {name1}[?] => your dog
~ what is my parrot called[?] ; how old is {name1}[?] ; what is my (son|bird|horse|sister) called[?]
+{he} is {n1} [years old] and (afraid of|loves|hates) {x1=thunder/water/vacuum cleaners/balloons/snow} => I see, {n1} years old, and {x1}. ; Got it: {name1} is {n1}.
! how old is {name1}[?] => {n1} => {name1} is {n1}. ; how old will {name1} be (next year|in a year)[?] => {=n1+1} => {n1} + 1 = {=n1+1}. ; how old was {he} (last year|a year ago)[?] => {=n1-1} => {n1} - 1 = {=n1-1}.
@I bought {n1} {things1} => Noted: {n1} {things1}. ; OK, {n1} {things1}.
? how many[ {things1}][ do I have][?] => {n1}
+(then|and|plus) (I bought|I found|got) {m1} more => That makes {=n1+m1}. ; {=n1+m1} now. => {n1} + {m1} = {=n1+m1}.
? how many (do I have|are there|is that|have I got) [now|in all][?] => {=n1+m1} => {n1} and {m1} more: {n1} + {m1} = {=n1+m1}.
+minus the {e1} (broken|bad|cracked) ones => {=n1+m1-e1} => {=n1+m1} - {e1} = {=n1+m1-e1}.
+(and|now) (half of them go|I give half) to {name1}[, the rest stays with me]. how many (did {he} get|does {he} get)[, rounded down][?] => {=(n1+m1-e1)//2} => Half of {=n1+m1-e1}: {=(n1+m1-e1)//2}.
@(I have|there are|in my purse (are|I have)) {h1} (euros|dollars)[ for this week] => Noted: {h1}.
+(I spent|spent|paid|it was) {k1} on (groceries|a shirt|petrol|tickets) => {=h1-k1} left. ; Then {=h1-k1} are left. => {h1} - {k1} = {=h1-k1}.
? (how much|what) (is left|do I have left|have I got)[ now][?] => {=h1-k1} => {h1} - {k1} = {=h1-k1}. ; what did I spend[?] => {k1}
+and (my {x1=aunt/boss/brother} gave me|I got|found another|plus) {m1} => Then you have {=h1-k1+m1}. ; That makes {=h1-k1+m1}. => {=h1-k1} + {m1} = {=h1-k1+m1}.
? (how much|what) (is (there|it)|do I have) now[?] => {=h1-k1+m1} => {h1} - {k1} = {=h1-k1}; {=h1-k1} + {m1} = {=h1-k1+m1}. ; (so |)(more or less|is that more or less) than (at the start|I began with)[?] => less => {=h1-k1+m1} is less than {h1}.
@(score|points|standing) so far: {name1} {m1}, {name2} {n1} => Noted: {name1} {m1}, {name2} {n1}.
? who (leads|is ahead|is winning)[?] => {name1} => {m1} is more than {n1}. ; by how much[ does {name1} lead][?] => {=m1-n1} => {m1} - {n1} = {=m1-n1}.
+{name2} (scores|gets|makes) {k1} (points|more) => {name2} has {=n1+k1} now. ; Now {name2} has {=n1+k1}. => {n1} + {k1} = {=n1+k1}.
? who (leads|is ahead) now[?] => {name2} => {name2} {=n1+k1}, {name1} {m1}: {name2}. ; (how many|what) does {name2} have[ now][?] => {=n1+k1} => {n1} + {k1} = {=n1+k1}. ; by how much[ now][?] => {=n1+k1-m1} => {=n1+k1} - {m1} = {=n1+k1-m1}.
@what is {m1} (plus|+) {n1}? => {=m1+n1} => {m1} + {n1} = {=m1+n1}.
+(double|twice) (that|it)|times two|and double[?]|now double it => {=(m1+n1)*2} => The last answer is {=m1+n1}. {=m1+n1} x 2 = {=(m1+n1)*2}.
+(minus|take away|now subtract|less) {e1}[?] => {=(m1+n1)*2-e1} => The last answer is {=(m1+n1)*2}. {=(m1+n1)*2} - {e1} = {=(m1+n1)*2-e1}.
+(are you sure|sure|really|is that right)[?] => Yes, {=(m1+n1)*2-e1}. => It was {=(m1+n1)*2} - {e1} = {=(m1+n1)*2-e1}: right.
@(how much is|what's|calculate) {k1} (-|minus) {m1}[?] => {=k1-m1} => {k1} - {m1} = {=k1-m1}.
+(and|now) (plus|add) {h1}[?] => {=k1-m1+h1} => The last answer is {=k1-m1}. {=k1-m1} + {h1} = {=k1-m1+h1}.
+(is that|is it) (more|bigger) than {h1}[?] => Yes => {=k1-m1+h1} is more than {h1}.
@{n1} (times|x) {m1}[?] => {=n1*m1} => {n1} x {m1} = {=n1*m1}.
+(why|how (did you get that|come)|explain|show (me|your work))[?] => Because {n1} x {m1} = {=n1*m1}. => The last answer was {n1} x {m1} = {=n1*m1}.
+(add|plus) (one|1)|one more => {=n1*m1+1} => The last answer is {=n1*m1}. {=n1*m1} + 1 = {=n1*m1+1}.
@(the film|the lesson|my shift|the drive) takes {n1} hours => Noted: {n1} hours. ; OK, {n1} hours.
+(and |how much is that |what's that |)in minutes[?] => {=n1*60} minutes => {n1} hours: {n1} x 60 = {=n1*60}.
+(and|plus) a (break|pause) of {m1} minutes [on top] => {=n1*60+m1} minutes in all. => {=n1*60} + {m1} = {=n1*60+m1}.
@(give me|write|show me|say) the word '{word1}' in (upper case|capitals|capital letters) => {=upper(word1)} => The word: {word1}.
+(now |and |)(how many letters (does it have|are there)|count its letters|(its|the) length)[?] => {=len(word1)} => {=', '.join(word1)}: {=len(word1)}.
+(and |now |)(back |)in (lower case|small letters)[, please] => {word1} => The word: {word1}.
+(what is its|its|and the|which is its) (first|1st) letter[?] => {=word1[0]} => {=', '.join(word1)}: the first is {=word1[0]}.
+(spell it|write it|say it|now) backwards[, please] => {=word1[::-1]} => {=', '.join(word1)}. Backwards: {=', '.join(word1[::-1])}.
"""
