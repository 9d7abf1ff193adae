"""Small talk and short advice: topic | questions | answer ; another."""

CHATTER = r"""
how to make tea | how (do I|does one|to|can I) make [a cup of |good |some ](black |)tea[?]|(explain|tell me) how to (make|brew) tea|tea, how? | Pour boiling water over the tea, wait three to five minutes, and take the leaves out.
how to make coffee | how (do I|does one|to|can I) (make|brew) [good |filter |a pot of ]coffee[?]|(explain|tell me) how coffee is made [at home] | Put ground coffee in a filter and pour hot, not quite boiling water over it slowly.
how to boil an egg | how long (do|must|should) (I|one) (boil|cook) an egg[?]|how (do|to|can) (I|you) boil (an egg|eggs)[?]|boiled egg, how many minutes[?] | About five minutes for a soft egg, nine for a hard one.
how to cook rice | how (do I|to|does one|should I) cook rice[?]|rice always (burns|sticks), what do I do (wrong|)[?] | One cup of rice, two cups of water, low heat and a lid for about fifteen minutes.
how to cook pasta | how (do I|to|does one) (cook|make) (pasta|spaghetti|noodles)[?]|how long does pasta take[?] | Boil it in plenty of salted water for eight to ten minutes, then drain it.
how to make pancakes | how (do I|to|do you) (make|bake|fry) pancakes[?]|(a|any) pancake recipe[?]|simple recipe for pancakes[, please] | Mix flour, milk, eggs and a little salt, and fry thin cakes in butter on both sides.
how to bake bread | how (do I|to|does one) (bake|make) (bread|a loaf)[?]|simple bread recipe[?] | Knead flour, water, yeast and salt, let the dough rise, and bake it until it is brown.
how to peel garlic or onions without tears | how (do I|can I|to) (cut|chop|slice) (an onion|onions) without (crying|tears)[?]|onions make me cry[, what helps][?] | Use a sharp knife and cool the onion first.
how to sleep better | (any|do you have|give me|some) (tips|advice|ideas) for (sleeping better|better sleep|falling asleep)[?]|how (can|do) I (sleep better|fall asleep faster|get better sleep)[?]|I sleep badly, what (helps|can I do)[?] | Go to bed at the same time each day, keep the room dark and cool, and put the phone away early.
how to wake up early | how (can|do) I (wake up|get up) (early|earlier)[?]|I (never|can't) get up in the morning, (tips|any advice|help)[?] | Go to bed earlier and put the alarm clock away from the bed, so that you have to stand up.
how to learn faster | how (can|do|should) I (learn|study) (better|faster|for (an exam|a test))[?]|(tips|advice) for (studying|learning)[?]|what is a good way to study[?] | Learn a little every day, take breaks, and test yourself instead of only reading.
how to learn a language | how (do|can|should) I learn (a (new |)(foreign |)language|Spanish|Italian|Dutch)[?]|best way to learn a language[?] | Practise a little every day: listen, speak, and learn the most common words first.
how to focus | how (can|do) I (focus|concentrate) (better|more)[?]|I can't (focus|concentrate)[, what (helps|should I do)][?]|(tips|advice) (for|on) (focus|concentration)[?] | Turn off the phone, do one thing at a time, and take a short break every half hour.
how to calm down | how (can|do) I (calm down|relax|stop worrying)[?]|what helps against (stress|nerves|nervousness)[?]|(tips|advice) against stress[?] | Breathe slowly, take a short walk, and do one small thing after the other.
how to stop hiccups | how (do I|can I|to) (stop|get rid of) (the |)hiccups[?]|I have (the |)hiccups[, what now|, help|] | Hold your breath for a moment or drink a glass of water in small sips.
a headache | what (helps|can I do|is good) (against|for) (a headache|headaches)[?]|my head (hurts|aches), what helps[?] | Drink water, rest in a quiet room, and see a doctor if it stays or gets strong.
a cold | what (helps|can I do|is good) (against|for|when I have) a cold[?]|I (have|caught) a cold, any (tips|advice)[?] | Rest, drink warm tea, and see a doctor if it gets worse.
a burnt finger | I (burnt|burned) my (finger|hand)[, what now|, what should I do|, help][?] | Hold it under cool running water for some minutes, and see a doctor if it is bad.
a cut | I cut (my finger|myself)[, what (now|should I do)|, help][?]|how do I treat a small cut[?] | Rinse it with clean water, press a clean cloth on it, and cover it.
hot weather | how (do|can) I keep (cool|my (flat|room) cool)( in summer|)[?]|(it's|it is) too hot (in here|in my flat)[, any tips][?] | Close the curtains in the day, open the windows at night, and drink enough water.
cold feet | I always have cold feet[, what helps][?]|what (helps|can I do) against cold feet[?] | Warm socks, a hot water bottle, and moving about help.
how to remove a stain | how (do I|can I|to) (remove|get out|get rid of) a (red wine|coffee|wine) stain[?]|I spilled (wine|coffee) on my (shirt|carpet)[, what now][?] | Do not rub. Dab it with a cloth, then rinse it with cold water and a little soap.
how to iron a shirt | how (do I|to|does one) iron a shirt[?] | Begin with the collar, then the sleeves, and the front and back last, while it is a little damp.
how to wash wool | how (do I|to|should I) wash (wool|a wool jumper|a woollen sweater)[?] | Wash it by hand in cool water with mild soap, and dry it flat.
how to clean windows | how (do I|to|can I) (clean|wash) (windows|my windows)[?]|windows without streaks, how[?] | Use warm water with a little soap, and dry them with a cloth at once.
how to unclog a drain | (my|the) (sink|drain) is (blocked|clogged)[, what (can|should) I do][?]|how (do I|to) (unclog|unblock) a (sink|drain)[?] | Try hot water and a plunger first, then unscrew and clean the pipe below.
a squeaking door | (my|the) door (squeaks|creaks)[, what (helps|can I do)][?]|how (do I|to) stop a (squeaking|creaking) door[?] | Put a drop of oil on the hinges.
how to change a light bulb | how (do I|to|does one) change a (light |)bulb[?] | Switch off the light, let the bulb cool, unscrew it, and screw in the new one.
how to patch a bicycle tyre | how (do I|to|can I) (fix|mend|patch|repair) a (flat|punctured) (bike |bicycle |)tyre[?]|my bike has a flat (tyre|tire)[, what now][?] | Take the tube out, find the hole, roughen and patch it, and pump it up again.
how to hang a picture | how (do I|to|can I) hang (up |)a picture( straight|)[?] | Mark the spot, check it with a level, put in a nail or hook, and hang the picture.
how to tie a tie or shoes | how (do I|to) (tie|teach a child to tie) (shoes|shoelaces|a shoelace)[?] | Cross the laces, pull one under, make a loop, wrap the other around it, and pull it through.
how to water plants | how often (do|should) (I|one) water (my |)(house |indoor |)plants[?]|(my|the) plants (are dying|look sad)[, what (should I do|helps)][?] | Most want water when the top of the soil is dry. Too much is worse than too little.
how to grow tomatoes | how (do I|to|can I) grow tomatoes[?]|tips for (growing |)tomatoes[?] | Give them a sunny place, water them at the root, and tie them to a stick.
how to keep a cactus | how (do I|should I|to) (care for|look after) a cactus[?] | Much light, little water, and hardly any in winter.
how to save money | how (can|do) I save (money|more)[?]|(tips|advice|ideas) (for|on) saving money[?]|I'm always broke[, what can I do][?] | Write down what you spend, set a fixed sum aside each month, and buy less on impulse.
how to save electricity | how (can|do) I (save|use less) (electricity|energy|power)[ at home][?] | Switch off what you do not use, use LED lamps, and do not heat empty rooms.
how to write a letter of application | how (do|should) I write (an application|a cover letter|a CV)[?]|(tips|advice) for (an application|my CV)[?] | Keep it to one page, say what you can do and why you want the job, and let somebody check it.
how to prepare for a job interview | how (do|can|should) I prepare for (a job interview|an interview)[?]|(tips|advice) for (a job interview|my interview)[?] | Read about the company, practise answers aloud, and have two questions of your own.
how to give a talk | how (do|can) I (give|hold) a good (talk|speech|presentation)[?]|I have to (give|hold) a (speech|presentation|talk)[, any tips][?] | Know your first sentence by heart, speak slowly, and keep it short.
how to make friends | how (do|can) I (make|find) (new |)friends[?]|I (don't know anyone|know nobody) (here|in town)[, what can I do][?] | Join a club or a course you enjoy, and say hello first.
how to say sorry | how (do|should) I (apologise|apologize|say sorry)( to (a friend|my sister|my boss)|)[?] | Say plainly what you did, that you are sorry, and what you will do better.
a quarrel | I (had|have) (a fight|a quarrel|an argument) with my (friend|wife|husband|brother|mum|boss)[, what now|.|] | I am sorry. Give it a little time, then talk calmly and listen first.
homesickness | (I'm|I am|I feel) homesick|I miss (home|my family|my friends)( so much|) | That is hard. Perhaps a call with somebody from home helps.
what to cook | what (can|could|should) I cook (for (a friend|guests|two)|quickly|in ten minutes)[?]|(a|any) quick (dinner|meal|recipe)( idea|)[?] | Pasta with tomatoes and cheese is quick and nearly everybody likes it.
what to give as a present | what (can|could|should) I (give|get) (my|a) (mum|dad|friend|boss|sister|neighbour) (for (christmas|(his|her|a) birthday)|as a present)[?]|(gift|present) ideas[?] | Something small and personal: a good book, a plant, or an afternoon together.
what to pack | what (do|should) I pack for (a weekend|a short trip|a beach holiday|camping)[?]|packing tips[?] | Clothes for the weather, toothbrush, charger, papers, and something warm.
what to do on a rainy day | what (can|could) (I|we|one) do (on a rainy day|when it rains|when it's raining)( with (kids|children)|)[?] | Read, bake, play a board game, or go to a museum.
what to read | (can you|) recommend (me |)a book[?]|what (should|could) I read( next|)[?] | I do not know your taste. A short detective story is a good start.
how to begin running | how (do|can|should) I (start|begin) (running|jogging)[?]|(tips|advice) for (new |beginning |)runners[?] | Begin slowly: run a minute, walk a minute, and do a little more each week.
how to lose weight | how (can|do) I lose (weight|a few kilos)[?] | Eat less sugar, move every day, and be patient. Ask a doctor if you are unsure.
how to stop smoking | how (can|do) I (stop|quit) smoking[?]|I want to (quit|stop) smoking | Choose a day, tell your friends, and keep your hands busy. A doctor can help too.
how to drink more water | how (can|do) I (drink|remember to drink) more water[?] | Keep a full glass within reach and drink one with every meal.
how to choose a password | what (is|makes) a (good|safe|strong) password[?]|how (do|should) I choose a password[?] | A long one of several words, used for one account only.
spam mail | how (do|can) I (stop|get rid of|avoid) spam( mails| emails|)[?]|what (should|do) I do with spam[?] | Do not answer, mark it as spam, and never click its links.
a slow computer | my (computer|laptop|pc) is (so |very |really |)slow[, what (can|should) I do|, help][?] | Restart it, close programs you do not need, and free some disk space.
a frozen computer | my (computer|laptop|screen) (froze|is frozen|hangs)[, what now|, what should I do][?] | Wait a minute, then restart it.
no internet | (my|the) (internet|wifi|wi-fi) (is down|does not work|doesn't work|is gone)[, what (can|should) I do][?] | Restart the router, check the cables, and then ask your provider.
a full disk | my (disk|hard drive|drive) is full[, what (can|should) I do][?] | Delete or move large files you do not need, and empty the trash.
an empty phone | how (can|do) I make my phone('s battery|) last longer[?]|my (phone|battery) (is always empty|dies so fast)[, what helps][?] | Make the screen darker and close apps that run in the background.
backups | how (should|do) I (back up|save) my (photos|files)[?]|how often should I (make|do) (a |)backup(s|)[?] | Keep a copy on a second disk and another in a different place, at least once a week.
how to start programming | how (do|can|should) I (start|begin|learn) (programming|coding|to code)[?]|(what|which) programming language (should|do) I learn first[?] | Python is a good first language: write small programs every day.
how to find a bug | how (do|can|should) I (find|debug) (a bug|my program)[?]|my (code|program) (doesn't|does not) work[, what now][?] | Make the smallest case that fails, read the error message, and print values on the way.
how to name a variable | how (do|should) I name (my |)variables[?] | By what they hold, in whole words.
how to make something faster | how (do|can) I make (my program|my code|my script) faster[?] | Measure first where the time goes, then improve only that part.
how to walk a dog | how often (must|should|do) I walk (my|a) (dog|puppy)[?] | At least two or three times a day.
a new kitten | (tips|advice) for a new (kitten|cat)[?]|(I'm|we're) getting a (kitten|cat)[, what do (I|we) need][?] | Food, water, a litter box, a quiet place, and some patience.
can dogs eat chocolate | (may|can) (dogs|my dog|a dog) eat chocolate[?]|my dog ate chocolate[!|, help|] | No, chocolate is poisonous for dogs. Call a vet.
how much sleep | how (much|many hours of) sleep (do|does) (I|people|an adult|one) need[?] | Most adults need seven to nine hours.
how much water to drink | how much water (should|do|must) (I|one|people) drink (a|per|every) day[?] | About one and a half to two litres a day.
is coffee healthy | is coffee (healthy|bad for (me|you)|good for (me|you))[?] | A few cups a day are fine for most people.
eat healthy | how (can|do) I eat (healthier|healthily|better)[?]|what is (healthy food|a healthy diet)[?] | Many vegetables, fruit and whole grains, and little sugar.
how to remember names | how (can|do) I remember (names|people's names)[ better][?] | Repeat the name aloud when you hear it, and link it with a picture.
how to be on time | how (can|do) I (be on time|stop being late)[?]|I'm always late[, what can I do][?] | Plan to be there ten minutes early, and prepare your things the evening before.
how to tidy up | how (do|can) I (tidy up|keep my (room|flat|desk) tidy)[?]|my room is (a mess|so messy)[, help|, where do I (start|begin)][?] | Start with one corner, throw away what you do not need, and give each thing a place.
how to write better | how (can|do) I write (better|well|clearer)[?] | Use short sentences and plain words, and read your text aloud.
how to whistle | how (do|can) I whistle[?] | Wet your lips, make a small round opening, and blow gently.
how to swim | how (do|can) I learn to swim[?] | Take a course, begin in shallow water, and first learn to float and breathe.
how to cook potatoes | how long (do|must) potatoes (cook|boil|take)[?]|how (do I|to) (cook|boil) potatoes[?] | Boil them in salted water for about twenty minutes, until a knife goes in easily.
what to do when lost | (I'm|I am|we are) lost[, what (should I|do I|now)( do|)|!|.] | Stay calm, look for a street name or a landmark, and ask somebody nearby.
what to do in an emergency | (there is|there's) (a fire|an accident)[, what (do I|should I) do|!|, help!]|I smell gas[, what (now|do I do)][?] | Get to safety and call the emergency number at once.
weather now | (what's|what is|how's|how is) the weather [like] (today|now|right now|outside|in {city1}|tomorrow)[?]|(will it|is it going to|does it) rain (today|tomorrow|tonight)[ in {city1}|][?]|(do I need|should I take) an umbrella( today|)[?]|how (warm|cold|hot) is it (outside|in {city1}|now)[?] | I cannot see the weather: I have no data from outside.
the news | (what's|what is|what happened|tell me) (in |)the (latest |)news [today|in {city1}][?]|what happened in the world (today|yesterday)[?]|any news (today|from {city1})[?]|who won the (election|match|game) (yesterday|last night|today)[?] | I cannot know that: I have no access to news.
prices now | (what's|what is|how much is) the price of (gold|bitcoin|oil|petrol) (now|today|right now)[?]|(what's|how is) the (exchange rate|stock market) (now|today)[?] | I cannot know that: I have no data of today.
the web | (can you|could you|please|) (look up|google|search|browse) (the web|the internet|that online|it online|something online)( for me|)[?]|do you have (internet|web access|access to the internet)[?]|open (the website|this link|this page)[ and read it|] | I cannot: I have no access to the internet.
pictures | (draw|paint|make|generate|show) me a (picture|photo|drawing|painting) of (a cat|a house|{city1}|the sea)|(can you|could you) (draw|paint|show me a picture)[?] | I cannot make pictures, I only write text.
music and sound | (sing|play) (me |)(a song|some music|something)|(can you|could you) (sing|speak aloud|play music|talk to me aloud)[?] | I cannot, I only write text.
calls and mails | (call|phone|ring) (my mum|{name1}|the doctor|a taxi)( for me|)[, please]|(send|write and send) (an email|a message) to {name1}( for me|)[, please]|(can you|could you) (call|text) {name1}( for me|)[?] | I cannot do that from here, I can only write text.
ordering | (order|buy|get) me (a pizza|some food|a ticket to {city1}|new shoes)[, please]|(can you|could you) (order|buy|book) (a pizza|something|a flight)( for me|)[?] | I cannot order anything from here, I can only write text.
reminders | (remind me|wake me|set an alarm) (tomorrow|at {clock1}|in an hour)[ to call {name1}|, please|]|(can you|could you) (remind me of something|wake me tomorrow|set an alarm)[?] | I cannot remind you: I have no clock and only answer when you write.
where somebody is | where is (my phone|my cat|{name1}|my wife)( right now|)[?]|(have you seen|do you know where) my (keys|phone|glasses)( are| is|)[?] | I cannot know that, sorry.
private things | (what did I|do you know what I) (eat|do|dream|have for breakfast) (yesterday|last night|today|last week)[?]|what am I (thinking|wearing|holding)( right now|)[?]|(guess|do you know) (my age|how old I am|where I live)[?] | I do not know that, you have not told me.
the future | (who will win|what will happen in) (the cup|the election|the year {n1}000)[?]|(will I|am I going to) (be rich|be happy|pass|find a job|get married)[?]|what will the future bring[?]|tell me the lottery numbers( of next week|) | I cannot know the future.
people it does not know | (who is|what do you know about|tell me about|do you know) {fullname1}[?] | I do not know {fullname1}, sorry.
places it does not know | (what is|where is|tell me about|do you know) the village (of |){fam1}[?]|how many people live in {fam1}[?] | I do not know {fam1}, sorry.
private address | (what's|what is|give me) the (phone number|address|email) of {fullname1}[?]|where does {fullname1} live[?] | I do not know that, sorry.
medicine | (how much|how many|which) (medicine|pills|tablets) (should|may|can) I take[?]|(can|may) I take (two|three) (pills|tablets) at once[?] | I am not a doctor. Please ask a doctor or a pharmacist.
law | (can I|should I|how do I) sue (my landlord|my boss|{name1})[?]|is (this|that|it) (legal|against the law)[?] | I cannot say that for sure. Please ask a lawyer.
"""
