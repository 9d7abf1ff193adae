"""Tools of a household and of leisure, and what people say when they need them.

@ names | description | family. Tools of one family are near misses of each other; "family/what": two with the same what are
never offered together. Then parameters: letter (! required) | names (a dot: a nested object) | kind (toolbox_values) |
description | what is asked for when it is missing [/ the whole question]. Then "=" requests with ; between: "x:high > ..."
gives a value by the words themselves, and a request without a required value is one to ask back for. "> " is the result
and what is said about it. {xn} {xc} {xt} {xd} {xk} are a name, city, thing, day and number that no parameter wants.
"""

TOOLS = """
@get_forecast weather.forecast getWeather weather_lookup | Weather forecast for a place | weather
c! | city place location | city | Name of the city | city / Which city?
d | day when date | day | Day of the forecast | day
= do I need wellies in {c} {d}? ; {c} {d}, coat or no coat? ; what's it like outside in {c} ; we're hiking near {c} {d}. will it hold? ; my mother flies to {c} {d}, tell her what to pack ; weather {c} pls ; rain in {c}??? ; Is it beach weather in {c}? ; how cold is {c} {d} ; sunscreen or scarf for {c} {d}? ; I'd like the forecast for {c} if you don't mind ; anything falling from the sky over {c} {d}? ; could it freeze in {c} {d}?
= what will the weather be like? ; umbrella yes or no? ; do I need a jacket {d}? ; forecast please ; is it going to rain? ; how warm does it get {d}?
> temperature int:-9:36, sky of:sunny|cloudy|rain|snow|fog | {c}: {sky}, {temperature} degrees.
@air_quality getAirQuality env.air | Air quality index of a city | weather
c! | city location | city | City | city / For which city?
= can my asthmatic kid play outside in {c}? ; how clean is the air in {c} right now ; AQI {c} ; is there smog over {c} again? ; pollution level in {c} please ; is it healthy to jog in {c} at the moment, air-wise? ; my eyes burn, what's the air like here in {c}? ; particulate levels for {c}
= how's the air today? ; is the air ok for running? ; check air quality
> index int:5:300 | The air quality index of {c} is {index}.
@pollen_count pollen getPollen | Pollen forecast by plant and place | weather
c! | city place | city | City | city / In which city?
k | plant kind | of:grass|birch|hazel|ragweed | Plant | plant
= I keep sneezing. how much {k} pollen is there in {c}? ; pollen in {c}? ; hay fever season in {c} yet? ; {k} pollen, {c} ; is {k} in bloom around {c}? my nose says yes ; should allergic people stay in today in {c}
= how bad is the pollen today? ; is there much {k} pollen?
> level of:low|medium|high | The pollen level in {c} is {level}.
@set_lamp lights.set switchLight lamp_control | Switches a lamp | home/light
r! | room where | room | Room of the lamp | room / In which room?
x! | state value | onoff | on or off | state, on or off / Should it be on or off?
= x:on > I can't see my own feet in the {r} ; x:off > somebody left the {r} light burning ; x:on > it got dark in the {r} ; x:off > I'm going to sleep, {r} dark please ; x:on > {r} light on ; x:off > kill the lamp in the {r} ; x:on > let there be light in the {r}! ; x:off > no one's in the {r} any more, save some power ; x:on > would you illuminate the {r}? ; x:off > lights out in the {r} ; x:on > hit the {r} lights ; x:off > the {r} is lit up like a christmas tree and nobody's in it ; x:on > reading time in the {r}, and I need light ; x:off > turn the lamp in the {r} off ; x:on > please put the light on in the {r} ; x:off > the light in the {r} hurts my eyes, off with it
= x:on > turn the light on ; x:off > lights off please ; x:on > it's so dark here ; x:off > switch it off, the lamp I mean
> ok done | The lamp in the {r} is {x} now.
@set_brightness dimLight lights.dim | Dims a lamp to a level | home
r! | room area | room | Room | room / Which room?
n! | level percent brightness | int:1:100 | 0 to 100 | level / To what level?
= make the {r} a bit cosier, {n} percent ; dim the {r} to {n} ; {r} lamp at {n}% ; the {r} is too bright, go down to {n} ; brighten the {r} up to {n} percent ; for the film I want the {r} at {n} ; set brightness in {r}: {n} ; {n} percent is enough light for the {r} ; could the {r} lights be at {n} please ; n:100 > as bright as it gets in the {r} ; n:50 > half the light in the {r} will do ; n:25 > a quarter of the light is enough for the {r} ; n:100 > full light in the {r} please ; n:75 > the {r} lamp at three quarters ; n:50 > put the {r} lamp at half strength ; n:1 > the {r} as dim as possible, but not off ; n:10 > a tenth of the brightness in the {r}
= dim the light in the {r} ; {n} percent brightness please ; it's too bright in the {r}
> ok done | The {r} is at {n} percent.
@set_heating climate.set setTemperature thermostat | Sets the temperature of a room in degrees Celsius | home/heat
r! | room zone | room | Room | room / In which room?
n! | degrees temperature target | degrees | Degrees Celsius | temperature in degrees / To how many degrees?
= {n} degrees in the {r} please ; my fingers are freezing in the {r}, make it {n} ; bring the {r} up to {n} ; heating {r} {n} ; the {r} feels like a sauna, take it down to {n} ; I'd be happier with {n} in the {r} ; guests sleep in the {r}, warm it to {n} ; set {r} to {n}° ; the baby's {r} should be {n} degrees ; can we have {n} degrees in the {r}, it's arctic
= it's freezing in the {r} ; can you turn the heating up? ; make it {n} degrees ; the {r} is too warm
> ok done | The {r} will be at {n} degrees.
@lock_control locks.set smartLock | Locks or unlocks a door | home
r! | door name | door | Which door | door / Which door?
x! | action command | of:lock|unlock | lock or unlock | action, lock or unlock
= x:lock > did I forget the {r} door? bolt it ; x:unlock > open the {r} door for the plumber ; x:lock > we're leaving, secure the {r} door ; x:unlock > I'm standing in front of the {r} door without a key ; x:lock > {r} door: lock ; x:unlock > unlock the {r} door ; x:lock > nobody should come in through the {r} door ; x:unlock > the kids are home, let them in at the {r} door ; x:lock > lock up the {r} door for the night please
= x:lock > lock the door ; x:unlock > let me in ; x:unlock > unlock please
> ok done | The {r} door: {x} is done.
@move_blinds blinds.move setShutter | Moves blinds or shutters | home
r! | room window | room | Room | room / In which room?
x! | direction action | of:up|down | up or down | direction, up or down
= x:down > the sun is blinding me in the {r} ; x:up > let some daylight into the {r} ; x:down > shutters down in the {r} ; x:up > open the blinds in the {r} ; x:down > the neighbours can look into the {r} ; x:up > good morning! blinds up, {r} ; x:down > make the {r} dark with the shutters ; x:up > pull up the {r} blinds please ; x:down > close the {r} shutters, a storm is coming
= x:down > close the blinds ; x:up > blinds up please ; x:down > the sun is too bright, lower the shutters
> ok done | The blinds in the {r} go {x}.
@start_vacuum robot.clean vacuumRoom | Sends the robot vacuum to a room | home
r! | room area | room | Room to clean | room / Which room?
m | mode | of:quiet|normal|turbo | Mode of cleaning | mode
= crumbs everywhere in the {r} ; vacuum the {r} ; the dog lost half its fur in the {r}, clean that ; send the robot to the {r} ; {r} needs hoovering, {m} mode ; could you get the {r} floor done before guests come? ; run the vacuum in the {r} in {m} mode ; I spilled flour on the {r} floor ; hoover {r}
= start the vacuum ; the floor is dirty ; clean the floor please ; {m} cleaning please
> minutes int:5:60 | The robot cleans the {r} for {minutes} minutes.
@run_scene scene.activate activateScene | Activates a smart home scene by its name | home
s! | scene name | of:movie|dinner|party|bedtime|morning|away | Scene | scene / Which scene?
= activate the {s} scene ; s:movie > we're about to watch a film, set everything up ; s:away > we're off on holiday, prepare the house ; s:bedtime > I'm going to bed, do the usual for the house ; s:party > the guests are here, make it festive ; {s} mode please ; scene {s} ; switch the house to {s} ; s:dinner > candles are lit and the food is on the table: get the mood right ; s:morning > just got up, start the house for the day ; put the {s} scene on
= activate a scene ; start a scene for me
> ok done | The {s} scene is active.
@camera_snapshot cameras.snapshot showCamera | Takes a picture with a camera of the house | home
r! | camera location | of:front door|garage|garden|driveway|back yard | Camera | camera / Which camera?
= who's at the {r}? ; show me the {r} ; what's going on at the {r} camera ; I heard something, check the {r} ; snapshot of the {r} ; take a look at the {r} for me ; is there a parcel lying at the {r}? ; camera {r} please
= show me a camera picture ; take a snapshot ; check the camera
> url url | The picture of the {r}: {url}
@water_plants irrigation.start sprinkler | Starts the irrigation of a zone | home
r! | zone area | of:lawn|roses|vegetables|hedge|greenhouse|balcony | Zone | zone / Which zone?
n! | minutes duration | minutes | Minutes | number of minutes / For how many minutes?
= the {r} look thirsty, give them {n} ; water the {r} for {n} ; {n} of water for the {r} ; sprinkler {r} {n} ; it hasn't rained in weeks, please run the {r} irrigation for {n} ; everything is dry: {r}, {n} please
= water the {r} ; the {r} is dry as dust ; start the sprinkler for {n} ; water the plants please
> ok done | The {r} get water for {n} minutes.
@oven_preheat oven.set preheatOven | Preheats the oven | home
n! | celsius temperature degrees | int:100:250 | Degrees Celsius | temperature / How hot?
m | program mode | of:top|fan|grill|pizza | Oven program | program
= preheat to {n} ; the lasagna needs {n} degrees ; oven on, {n} ; get the oven hot, {n} celsius, {m} ; {m} at {n} degrees please ; I'm making bread, warm the oven up to {n} ; set the oven: {n} {m} ; cake batter's ready so {n} degrees please
= preheat the oven ; turn on the oven please ; oven on, {m} program
> minutes int:4:20 | The oven reaches {n} degrees in {minutes} minutes.
@start_washer washing.start runWasher | Starts the washing machine | home
p! | program cycle | of:cotton|wool|delicate|quick|sports | Program | program / Which program?
t | temperature | int:20:90 | Degrees | temperature
= wash on {p} ; start the {p} program at {t} degrees ; my football kit stinks, {p} program please ; laundry: {p}, {t} ; the machine is loaded, run {p} ; p:wool > mum's jumper is in the machine, the woollen one, start it ; p:quick > I need this shirt in half an hour, shortest cycle ; {p} cycle please, {t} degrees
= start the washing machine ; do the laundry ; washing at {t} degrees
> minutes int:15:180 | The washing takes {minutes} minutes.
@charge_car ev.charge startCharging | Charges the electric car up to a level | home/car
n! | percent target level | int:50:100 | Percent | level in percent / Up to how many percent?
t | ready_by until | clock | HH:MM | time
= charge the car to {n} percent ; I have a long drive, fill the battery up to {n}% ; car ready with {n} percent by {t} ; ev {n}% ; plug's in, go up to {n} ; battery to {n} before {t} please ; don't go over {n} percent when charging the car ; n:100 > fill the car battery completely ; n:50 > half a battery is enough for the car ; n:100 > charge the car all the way ; n:75 > three quarters of a charge will get me there ; n:80 > four fifths in the car's battery please
= charge the car ; start charging please ; the car should be charged by {t}
> minutes int:20:300 | The car needs {minutes} minutes up to {n} percent.
@play_track music.play playSong spotify_play | Plays a song | music/play
s! | title song track | song | Title of the song | title / Which song?
a | artist by | person | Artist | artist
= put on {s} by {a} ; I want to hear {s} ; play {s} ; {s} please, the one by {a} ; crank up {s} ; my daughter wants {s} again ; could we have some {s} by {a}? ; {s} - {a}, go ; this party needs {s} ; do you have {s}? then play it ; spin {s} for me
= play a song ; put a song on please ; play something by {a} ; music!
> status of:playing | {s} is {status}.
@set_volume audio.volume setVolume | Volume of the speakers | music/volume
n! | volume level percent | int:0:100 | 0 to 100 | volume / How loud, from 0 to 100?
r | device speaker room | room | Speaker | speaker
= volume {n} ; too loud! go down to {n} ; I can't hear anything, {n} please ; turn the {r} speaker to {n} ; set it to {n} percent, the music I mean ; n:0 > mute it ; n:100 > as loud as it gets! ; n:50 > half as loud as it can be ; n:100 > max volume ; n:25 > a quarter of the volume ; n:0 > no sound at all, I'm on the phone ; n:75 > three quarters of full volume ; n:0 > silence please, the baby sleeps ; {n} on the {r} speaker ; loudness: {n}
= turn the volume up ; it's too loud ; louder ; quieter please
> ok done | The volume is {n}.
@pause_music music.pause playback_pause | Pauses the music | music
= stop the music for a second ; pause ; shh, phone is ringing, hold the song ; hold on, freeze the playback ; can you pause that song? ; music off for a moment please ; I need quiet to take a call - pause it ; pause playback
> ok done | The music is paused.
@next_track music.skip skipSong | Skips to the next song | music
= skip this ; next song ; I hate this one, next ; not that song again... ; another track please ; jump to the following song ; next!! ; skip skip skip ; can we have a different song? this one is awful
> title song | Now playing: {title}.
@create_playlist playlists.create newPlaylist | Creates a playlist | music
s! | name title | song | Name of the playlist | name / What should it be called?
g | songs tracks | list:song | Songs in it | songs
= new playlist called {s} ; make me a playlist {s} with {g} ; playlist {s}: {g} ; start a playlist named {s} please ; I want {g} in a new list, name it {s} ; create {s}, an empty playlist ; put {g} together as playlist {s}
= create a playlist ; new playlist with {g} ; make a playlist please
> count int:0:9 | The playlist {s} is there.
@play_podcast podcasts.play podcast | Plays an episode of a podcast | music
s! | show podcast | song | Name of the podcast | name of the podcast / Which podcast?
n | episode number | int:1:200 | Number of the episode, the latest if absent | episode
= play the podcast {s} ; latest episode of {s} ; {s}, episode {n} ; I want to continue with {s} number {n} ; podcast {s} ep {n} ; for the drive: {s}, please the newest one ; can you put on episode {n} of {s}?
= play a podcast ; put on episode {n} ; I'd like to listen to a podcast
> minutes int:10:90 | {s} is playing, {minutes} minutes.
@tv_channel tv.channel switchChannel | Switches the television to a channel | home
n! | channel number | int:1:99 | Number of the channel | channel / Which channel?
= channel {n} ; switch the tv over to {n} ; put {n} on the telly, the match is starting ; tv {n} pls ; what's on {n}? go there ; the news is on {n}, switch please ; flip to number {n}
= change the channel ; switch the tv to another channel ; something else on tv please
> program song | Channel {n}: {program}.
@start_countdown timer.start kitchenTimer | Starts a timer | time/timer
n! | minutes duration | minutes | Minutes | number of minutes / For how many minutes?
l | label name | of:pasta|eggs|tea|laundry|break|pizza | What for | label
= {n}, start ; beep in {n} ; the {l} needs {n} ; give me {n} for the {l} ; ring when {n} are over ; countdown {n} ; pomodoro of {n} ; start counting {n} from now ; tell me when {n} have gone by ; {n} timer named {l} please ; I've got {n} left, keep an eye on the time
= set a timer ; timer for the {l} ; start a countdown please ; tell me when the {l} is ready
> ok done | The timer runs for {n} minutes.
@wake_me alarm.set createAlarm | Sets an alarm | time
t! | time at | clock | HH:MM | time / At what time?
r | days repeat | list:weekday | Weekdays on which it repeats | days
= wake me at {t} ; alarm {t} ; I can't oversleep again: {t} ; flight day, get me up at {t} ; set my alarm for {t} on {r} ; {t} alarm every {r} ; get me out of bed by {t} ; make noise at {t} please ; be so kind and ring at {t} on {r} ; up at {t}, no excuses
= wake me up ; set an alarm for {r} ; I have to get up early ; alarm please
> ok done | The alarm is set for {t}.
@remind_me reminders.create addReminder | Creates a reminder | time/todo
k! | text what | task | What to remind of | thing to remember / What should I remind you of?
t! | when | when | When, in the user's words | time / When?
= remind me to {k} {t} ; {t}: {k}, nudge me ; don't let me forget to {k} {t} ; I'd forget my head... {k}, {t}, please remind me ; reminder {t} - {k} ; {t} I need to {k}, ping me ; make sure I {k} {t} ; poke me {t} to {k}
= remind me to {k} ; set a reminder {t} ; I need a reminder ; don't let me forget to {k}
> ok done | I will remind you {t}.
@add_task todo.add createTodo tasks.create | Adds a task to the to-do list | time/todo
k! | title task text | task | The task | task / What is the task?
p | priority | sy:high=top priority,very important,urgent|low=no hurry,when there is time,low priority | Priority | priority
= {k} - put it on my list ; todo: {k} ; I should {k} at some point, note it ; new task, {p}: {k} ; add {k} to my tasks, {p} ; note to self: {k} ; on the list with "{k}" ; {k} ({p}), list it as a task please ; task list += {k} ; one more job for me: {k}
= add a task ; new todo please ; put something on my to-do list ; add a {p} task
> count int:1:40 | It is on the list, which has {count} tasks.
@finish_task todo.done completeTodo | Marks a task as done | time
n! | id number task_id | int:1:90 | Number of the task | number of the task / Which task?
= task {n} is done ; tick off number {n} ; I finished {n} ; cross out {n} please ; {n}: completed! ; done with todo {n}, finally ; mark {n} as finished ; you can close task {n}
= I finished a task ; tick it off ; mark the task as done
> ok done | Task {n} is done.
@shopping_add groceries.add addToShoppingList | Puts items on the shopping list | shopping/list
g! | items things | list:grocery | What to buy | items / What should I add?
= we need {g} ; {g} on the list please ; out of {g} again ; buy {g} ; shopping: {g} ; the fridge is empty, {g} at least ; could you jot down {g} for the supermarket ; dinner tonight: I need {g} ; add {g} ; don't let me forget {g} at the store ; {g} - we've run out
= put something on the shopping list ; add to the grocery list ; I need to buy something
> count int:1:30 | The list has {count} items now.
@shopping_remove groceries.remove removeFromList | Takes an item off the shopping list | shopping
g! | item thing | grocery | Item | item / Which item?
= I already bought the {g} ; take {g} off the list ; no more {g} needed ; cross {g} off ; {xn} brought {g}, so remove it ; delete {g} from shopping ; forget about the {g} ; we still have {g}, off the list with it
= take something off the list ; remove an item from the list
> count int:1:30 | {g} is off the list.
@find_recipe recipes.search searchRecipes | Searches recipes by ingredients | food
g! | ingredients with | list:grocery | Ingredients | ingredients / With which ingredients?
m | max_minutes time_limit | minutes | Most minutes of cooking | time
= what can I cook with {g}? ; I have {g} and no ideas ; recipe with {g} in under {m} ; something quick with {g}, {m} at most ; dinner ideas: {g} ; {g} are all that's left in the fridge, help ; how can I turn {g} into a meal ; find a dish using {g}
= what can I cook tonight? ; find me a recipe ; something that takes {m} at most
> dish dish | How about {dish}?
@order_food delivery.order orderMeal | Orders food from a restaurant | food
s! | restaurant from | restaurant | Restaurant | restaurant / From which restaurant?
g! | dish meal | dish | Dish | dish / Which dish?
n | quantity count | int:1:6 | How many | number
= {n} {g} from {s} ; I'm starving, get me {g} from {s} ; order {g} at {s} ; {g} from {s} would be heavenly ; let's have {s} tonight, {g} please ; too lazy to cook: {g} ({s}) ; please have {s} deliver {g} ; {s} - {n} x {g}
= order some food ; order something from {s} ; I want {g} ; I'm hungry, order something
> minutes int:15:70 | {g} from {s} arrives in {minutes} minutes.
@reserve_table restaurants.book bookTable | Reserves a table | food/table
s! | restaurant venue | restaurant | Restaurant | restaurant / At which restaurant?
n! | guests party_size people | int:1:12 | Number of guests | number of guests / For how many people?
t! | time at | clock | HH:MM | time / At what time?
= table for {n} at {s}, {t} ; we're {n} and want to eat at {s} at {t} ; {s}, {t}, {n} people ; anniversary dinner: {s} at {t} for {n} ; book {s} for {n} at {t} ; squeeze {n} of us into {s} around {t} ; {t} at {s}? there will be {n} of us ; {n} hungry colleagues, {s}, {t}, please reserve
= book a table at {s} ; table for {n} at {t} ; reserve a table please ; {s} at {t} please ; table for {n} at {s}
> code code | The table at {s} is booked: {code}.
@nutrition_info food.calories getCalories | Calories of a food | health
g! | food item | grocery | Food | food / Of which food?
n | grams amount | int:10:500 | Grams | amount
= how many calories does {g} have ; {n} grams of {g}, how bad is it? ; calories {g} ; I ate {n} g of {g}, what's that in calories ; is {g} fattening? check the calories ; kcal of {g} please ; what's the energy of {n} g {g}
= how many calories is that? ; look up calories for me
> calories int:10:900 | {g}: {calories} calories.
@log_weight health.weight addWeight | Records the body weight | health
n! | kilos weight kg | degrees_kg | Kilograms | weight / What is your weight?
= I weigh {n} today ; scale said {n} ; log {n} kilos ; weight this morning: {n} kg ; note my weight, {n} ; {n} kg, finally ; put {n} down as today's weight
= log my weight ; record my weight please
> change int:-3:3 | {n} kilos are recorded.
@log_workout fitness.log addWorkout | Records a workout | health
k! | sport activity kind | of:running|swimming|yoga|cycling|rowing|hiking | Kind of sport | sport / Which sport?
n! | minutes duration | minutes | Minutes | number of minutes / How many minutes?
= {n} of {k} done ; I did {k} for {n} ; log {k}, {n} ; just back from {n} of {k} ; workout: {k} {n} ; {k} this morning, {n}, write it down ; put {n} {k} in my training diary ; sweated through {n} of {k}
= log my workout ; I did {k} today ; record {n} of training ; I've been training
> calories int:50:900 | {n} minutes of {k} are recorded.
@log_water hydration.add drinkWater | Records what was drunk | health
n! | milliliters ml amount | int:100:900 | Millilitres | amount / How much?
= I drank {n} ml ; {n} millilitres of water ; log water {n} ; had another {n} ml just now ; add {n} to my water ; drinking diary: {n} ml ; glass emptied, {n} ml
= I drank some water ; log my water ; add a drink
> total int:100:3000 | {total} ml today.
@book_doctor appointments.book bookAppointment | Books an appointment with a doctor | health
k! | specialty doctor kind | of:dentist|dermatologist|eye doctor|physiotherapist|vet | Which doctor | doctor / Which doctor?
d! | date day | date | YYYY-MM-DD | date / On which date?
= k:dentist > my tooth is killing me, get me in on {d} ; k:eye doctor > I can't read signs any more, appointment on {d} ; k:vet > the cat is limping, {d} please ; {k} appointment {d} ; see a {k} on {d} ; k:dermatologist > this rash won't go away, someone should look at it on {d} ; k:physiotherapist > my back is stiff as a board, {d} would be good ; book the {k} for {d}
= I need to see a {k} ; book a doctor ; doctor's appointment on {d} ; k:dentist > my tooth hurts, I need an appointment
> time clock | The {k} has time on {d} at {time}.
@sleep_summary sleep.get getSleep | How long the user slept | health
d! | day date | day | Day | day / For which day?
= how did I sleep {d} ; was my night {d} any good? ; sleep data for {d} ; hours of sleep, {d} ; I'm so tired, how long did I sleep {d}? ; check my sleep: {d} ; {d}'s sleep please
= how did I sleep? ; show my sleep
> hours int:3:10 | {hours} hours of sleep.
@start_meditation meditation.start meditate | Starts a guided meditation | health
n! | minutes length | minutes | Minutes | number of minutes / How many minutes?
= I'm stressed, {n} of meditation ; let me breathe for {n} ; meditate {n} ; {n} of calm please ; I need to come down, got {n} ; guided meditation, {n} ; some mindfulness before the meeting, {n}
= start a meditation ; I need to calm down ; help me relax
> ok done | A meditation of {n} minutes begins.
@library_search books.search findBook | Searches the catalogue of the library | leisure
q! | title query | song | Title | title / Which title?
a | author by | person | Author | author
= does the library have {q}? ; {q} by {a}, in stock? ; I want to borrow {q} ; book search: {q} ; looking for {q} from {a} ; can I get {q} at the library? ; is {q} available or lent ; find the book {q}
= find a book ; is that book in the library? ; a book by {a} please
> available int:0:5 | {available} copies of {q} are there.
@renew_book books.renew extendLoan | Extends the loan of a book | leisure
n! | loan_id id number | code | Number of the loan | number of the loan / Which loan?
= renew {n} ; I'm not through with {n} yet, extend it ; loan {n}, two more weeks please ; prolong {n} ; can I keep {n} longer? ; book {n} is due but I need it ; extend {n}
= renew my book ; I need the book longer ; extend the loan
> until date | {n} is extended until {until}.
@cinema_times movies.showtimes showTimes | When a film is shown in a city | leisure
s! | film movie title | song | Film | film / Which film?
c! | city location | city | City | city / In which city?
d | day date | day | Day | day
= when is {s} on in {c}? ; {s}, {c}, {d} ; we want to see {s} in {c} {d} ; showtimes {s} in {c} ; is {s} still running in {c}? ; cinema {c}: {s} ; date night {d}! {s} in {c}, what time ; at what time can I watch {s} in {c}
= when is {s} on? ; what's on in {c}? I mean showtimes ; cinema times please
> time clock | {s} is on at {time} in {c}.
@buy_tickets tickets.buy orderTickets | Buys tickets for an event | leisure
s! | event show | song | Event | event / For which event?
n! | count quantity seats | int:1:8 | How many | number of tickets / How many tickets?
= {n} tickets for {s} ; get us {n} seats at {s} ; I want to see {s} with my family, {n} of us ; {s} x{n} ; buy {n} for {s} before they're gone ; n:2 > two for {s} please, it's our anniversary ; could I have {n} tickets to {s}
= get tickets for {s} ; buy {n} tickets ; I want to go to {s} ; tickets please
> code code | {n} tickets for {s}: {code}.
@trivia_question quiz.next askQuiz | Gives a quiz question on a topic | leisure
k! | topic category | of:history|sports|music|science|films|geography | Topic | topic / On which topic?
= ask me something about {k} ; quiz time, {k} ; test my {k} knowledge ; trivia: {k} ; we're bored in the car, {k} question please ; give me a hard one on {k} ; I bet I know {k}, quiz me
= quiz me ; ask me a trivia question ; let's do a quiz
> question question | {question}
@feed_pet pets.feed feedPet | Feeds a pet with the automatic feeder | home
n! | pet name | first | Name of the pet | name of the pet / Which pet?
g! | grams amount | int:10:200 | Grams | amount in grams / How many grams?
= {n} is hungry, {g} grams ; give {n} {g} g ; feed {n} {g} grams ; {n} stares at the empty bowl. {g} grams please ; {g} g for {n} ; breakfast for {n}: {g} grams
= feed {n} ; {g} grams please ; feed the cat ; {n} is meowing at the bowl
> ok done | {n} gets {g} grams.
@energy_usage power.usage getConsumption | Electricity used by a device | home
r! | device appliance | of:fridge|heater|washing machine|computer|dryer|oven | Device | device / Which device?
d | period range | of:day|week|month|year | Period | period
= how much power does the {r} eat ; {r} consumption per {d} ; my bill is huge, is it the {r}? check its usage ; electricity of the {r} this {d} ; what did the {r} use in the last {d}? ; kWh {r} ; is the {r} a power hog?
= how much power do we use? ; check the consumption of this {d} ; power usage please
> kwh int:1:500 | The {r} used {kwh} kWh.
@babysitter_call intercom.say announce | Makes an announcement through the speakers of a room | home
r! | room speaker | room | Room | room / In which room?
m! | message text | shout | What to say | text / What should I say?
= tell everyone in the {r}: {m} ; announce "{m}" in the {r} ; {r} speaker: {m} ; shout "{m}" into the {r} ; say {m} in the {r} ; let them know in the {r}: "{m}" ; could you broadcast "{m}" to the {r}
= make an announcement ; announce something in the {r} ; say "{m}" over the speakers
> ok done | It was said in the {r}.
"""
