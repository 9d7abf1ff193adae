"""More small talk: days that went well or badly, plans, complaints, none of which asks for code or a tool."""

DAYS = r"""
a bad day | (it was|this was|I had) a (terrible|bad|awful) day [at (the office|school)]|today was (awful|horrible|a mess)|what a bad day | I am sorry to hear that. I hope tomorrow is better. ; That sounds hard. I hope you can rest now.
a good day | I had a (great|wonderful|lovely) day[!]|today was (great|perfect|wonderful)[!]|what a (nice|lovely) day | I am glad to hear that! ; How nice! What was the best part?
tiredness | I'm (so |really |dead )tired|I (could|can) hardly keep my eyes open|I didn't sleep (at all|a wink) | Then rest a little. Sleep helps most. ; I hope you can go to bed early tonight.
boredom | I'm (so |)bored|nothing to do (today|here)|it's so boring here | You could read, take a walk or call a friend. ; How about a walk or a good book?
a quarrel | I (had a fight|quarrelled) with my (brother|sister|wife|husband|best friend)|my (friend|sister) is angry with me | I am sorry. Perhaps a calm talk helps. ; That is sad. A kind word may help.
illness | I (have a cold|am ill|feel sick)|my (head|throat|back) hurts|I've got the flu | Get well soon! Rest and drink enough. ; I am sorry. Get well soon!
a new job | I (got|found) a new job[!]|I start my new job (on {day1}|tomorrow) | Congratulations! I wish you a good start. ; How wonderful, congratulations!
a lost job | I lost my job [today]|they fired me|I got fired | I am very sorry. I hope that you find something better soon.
an exam | I (failed|didn't pass) (the|my) (exam|test) | I am sorry. Next time it will go better.
an exam passed | I passed (the|my) (exam|test)[!]|(exam|test) passed[!] | Congratulations, well done!
nervousness | I'm (so |)nervous (about|because of) (tomorrow|the exam|the interview)|I have stage fright | That is normal. Take a deep breath, you can do it.
loneliness | I feel (lonely|alone)|nobody (calls|visits) me | I am sorry that you feel that way. Perhaps you could call somebody you like.
love | I('m| am) in love[!]|I met somebody[ nice] | How lovely! I am happy for you.
birthday | (it's|today is) my birthday[!]|I turn {adult1} today | Happy birthday!
wedding | we('re| are) getting married[ (in {month1}|on {day1})][!]|I'm going to marry {name1} | Congratulations, how wonderful!
a baby | we had a baby[ (girl|boy)][!]|my (sister|wife) is pregnant | Congratulations! All the best to the family.
a death | my (cat|dog|grandmother|hamster) (died|passed away)[ yesterday] | I am very sorry for your loss.
weather | it's raining (again|all day)|this (rain|heat|wind) is (awful|too much)|so much snow here | I hope it gets better soon. ; Then it is a good day to stay inside.
sunshine | the sun is shining [at last|today][!]|finally (summer|sun|spring)[!] | How nice! Enjoy it.
hunger | I'm (so |)(hungry|starving)|I could eat a horse | Then it is time to eat something. Enjoy your meal!
thirst | I'm (so |)thirsty | A glass of water would help.
travel | I('m| am) (off|going|flying) to {city1} [tomorrow][!]|we leave for {city1} on {day1} | Have a good trip!
back home | I'm (back|home) again|just got home | Welcome back!
waiting | the bus (is late|doesn't come)|I've been waiting for (an hour|ages) | That is annoying. I hope it comes soon.
traffic | stuck in traffic[ again]|what a traffic jam | That is annoying. I hope it moves on soon.
a lost thing | I (lost|can't find) my (keys|wallet|glasses) | Look where you had them last. I hope you find them soon.
a broken thing | my (phone|laptop|bike) is broken|I broke my (phone|glasses) | How annoying. Perhaps it can be repaired.
cooking | I (burned|burnt) the (rice|cake|soup)|dinner is ruined | That happens to everybody. Next time it works.
sport | we (won|lost) the (game|match)[ today]|our team (won|lost) | A game is a game. I hope it was fun.
garden | my (tomatoes|roses) (grow|bloom)[ at last]|the garden looks lovely | How nice! That was surely a lot of work.
music | I (play|practise) the {instrument1}|I'm learning the {instrument1} | That is a fine instrument. Enjoy playing!
reading | I('m| am) reading a good book|I finished my book | How nice! What is it about?
films | I (saw|watched) a film [last night]|the film was (great|boring) | What was it about?
money | I'm (broke|out of money)|everything is so (dear|expensive) | That is hard. I hope it gets better soon.
weekend | (finally|at last) weekend[!]|it's (Friday|Saturday)[!] | Enjoy the weekend!
Monday | I hate Mondays|Monday again... | Mondays are hard. The week gets better.
holiday | I'm on holiday[!]|holidays at last[!] | Enjoy your holidays!
moving | we('re| are) moving [to {city1}]|I move into a new flat | Good luck with the move!
no code | (no|I don't want) code[,] (please|just talk)|I'm no programmer|stop writing code | All right, no code. What can I do for you?
a promise | I('ll| will) (quit smoking|do more sport|eat less sugar) | A good plan! I wish you success.
"""
