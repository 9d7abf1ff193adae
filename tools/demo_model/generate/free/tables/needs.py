"""Everyday tools and what people say when they need them.

A tool: names | descriptions; then its parameters: letter (! required) | names | kind | descriptions | what is asked for
when it is missing; then "=" requests, with ; between. "x:on > ..." gives a parameter by the words themselves. A request
without a required parameter is one that must be asked back. "> fields" is the result, "< " what is said about it.
"""

TOOLS = """
@get_weather, weather, current_weather, weather_forecast, get_forecast, check_weather, getWeather, lookup_weather | Current weather for a place ; Weather of a city, now or later ; Tells the weather ; Get the weather ; Current weather and forecast
c! | city location place town | city | City or place ; Where ; Name of the city ; The location, e.g. Paris, France | place
d | day date when | day | Day of interest ; today, tomorrow or a weekday ; Which day | day
= (what is|what's|how is|how's) the weather [like] (in {c}|in {c} {d}|{d} in {c}|over in {c})[?] ; (shall|should) I take (an umbrella|a coat|sunglasses|a jacket|boots) in {c} [{d}][?] ; (is it|will it be) (raining|cold|warm|hot|sunny|snowing|windy) in {c} [{d}][?] ; (I'm|we are|I am) (going|flying|travelling|driving) to {c} [{d}], what (should I wear|will the weather be|weather is there)? ; {c} weather [{d}] ; [tell me|check|look up] the (weather|forecast|temperature) (in|for) {c} [{d}] ; (can|should) I (hang out the laundry|have a picnic|go swimming|wear shorts) in {c} {d}? ; how (hot|cold|warm) (is it|will it get) in {c} [{d}]? ; any rain in {c} [{d}]? ; what are the skies like in {c}? ; temperature in {c}?
= (what is|what's|how is|how's) the weather [like|{d}|today][?] ; (do|will) I need (an umbrella|a coat|a jacket) [{d}][?] ; weather? ; is it (raining|cold|going to rain) [{d}]? ; (check|tell me) the weather[, please] ; what will the weather be {d}? ; how (warm|cold) is it [outside]?
> temperature int:-15:38, condition of:sunny|cloudy|light rain|snow|windy|foggy|clear|stormy | {condition}, {temperature} degrees in {c}.
@send_email, email, write_email, mail, sendEmail, compose_email | Sends an email ; Send an e-mail to somebody ; Writes and sends a mail
e! | to recipient address email | email | Email address ; Receiver ; Who gets it | address of the receiver
s! | subject title | subject | Subject line ; Subject of the mail | subject
m! | body text message content | message | Text of the mail ; What the mail says ; Body | text
= (send an email|write|send a mail|mail) to {e}, subject {s}, (and tell (him|her|them)|text|saying|message): {m} ; (email|mail) {e}, subject "{s}", (text|body) "{m}" ; (write|drop) {e} (a mail|an email) [with the subject] "{s}": "{m}" ; {e} should get (a mail|an email) titled {s} [that says|with the text]: {m} ; (let {e} know|inform {e} by mail) that {M}. Subject: {s}
= (send|write) (an email|a mail) to (my boss|my mother|the landlord|{p}|{e})[, please] ; (email|mail) {e} ; (email|write) {e} (that|to say): {m} ; I need to (send an email|write a mail) ; (write|send) a mail about {s}[ to {e}] ; can you email {p} for me?
> status of:sent|queued | The mail to {e} was {status}.
@send_message, text_message, send_sms, sms, message_contact, send_text, sendMessage | Send a text message to a contact ; Sends a message to a person ; Write to somebody
p! | contact recipient to name person | first | Name of the contact ; Who gets it ; The receiver | name of the contact
m! | text message body content | message | What to say ; The message ; Text | text of the message
= (tell|let) {p} (know|)[:|,] {m} ; (text|message) {p}: {m} ; (text|message) {p} (that says|saying) "{m}" ; (write|send a message) to {p}: {m} ; send {p} (a message|a text) [saying|that says] "{m}" ; (drop|shoot) {p} a (line|message): {m} ; {p} should know: {m} ; (say|tell) {p} "{m}" ; (let|can you let) {p} know that {M}[?] ; (tell|inform|text|message) {p} that {M} ; {p} needs to hear that {M}
= (text|message|write to) {p}[, please] ; send a (message|text) [to {p}] ; (can|could) you (text|message) {p}[ for me]? ; I (want to|need to|must) (text|write to) {p} ; (send|write) (someone a message|a text): {m} ; (tell|text) (her|him|them) [that] {M}
> status of:sent|delivered|queued | Your message to {p} was {status}.
@set_timer, timer, start_timer, countdown, startTimer | Starts a countdown ; Set a timer ; Timer in minutes
n! | minutes duration duration_minutes length | minutes | Minutes ; How long, in minutes ; Length of the timer | number of minutes
= (set|start) a timer (for|of) {n} ; timer[:] {n} [please] ; (the|my) (rice|cake|egg|pizza|tea|laundry) (needs|takes|must cook for) {n}[, (watch the time|can you time it)][?] ; (wake|ping|remind|tell|alert) me (in|after) {n} ; count down {n} ; {n} (from now|on the clock)[, go] ; I need a {n} timer ; give me {n} ; (let me know|beep) when {n} are over ; I want to nap for {n} ; {n} timer please
= (set|start|I need|give me) a timer[, please] ; timer [please] ; (can|could) you (set|start) a timer [for the (eggs|pasta)]? ; start (counting|a countdown) ; the (pasta|cake) is in, set a timer
> status of:running|started | The timer of {n} minutes is {status}.
@set_alarm, alarm, create_alarm, wake_up, alarm_clock, setAlarm | Sets an alarm clock ; Set an alarm ; Wake the user
t! | time at alarm_time hour when | clock | HH:MM, 24 hours ; Time of the alarm ; When | time
l | label name note | taskname | What for ; Label of the alarm | label
= (set|put) [an|the|my] alarm (for|to|at) {t} ; wake me [up] (at|by) {t} ; (I have|i gotta|I need|I've got) to (be up|get up|wake up|rise) (at|by) {t}[, please] ; (alarm|wake-up call) [at] {t} ; (don't let me sleep past|get me out of bed at) {t} ; my (train|flight|shift) leaves early, wake me at {t} ; ring at {t}[, please] ; I want to sleep until {t}
= wake me [up] [tomorrow|early|in the morning] ; (set|I need) an alarm[, please|for tomorrow] ; (can|could) you wake me [up] tomorrow? ; alarm please ; I have to get up early
> status of:set|active | The alarm is {status} for {t}.
@set_reminder, reminder, remind_me, create_reminder, add_reminder | Reminds the user of something ; Set a reminder ; Remember something for later
k! | text task what message about | task | What to remind of ; The thing to remember | thing to remember
t! | time at when | clock | HH:MM ; When ; Time of the reminder | time
= remind me to {k} at {t} ; at {t} I (must|have to|need to) {k}, (remind me|don't let me forget) ; (set|create|make) a reminder (to {k} at {t}|for {t}: {k}) ; (don't let me forget|make sure I remember) to {k} at {t} ; {t}: {k}, please remind me ; I always forget to {k}, remind me at {t}
= remind me to {k} ; remind me at {t} ; (set|make) a reminder[, please] ; I need a reminder [to {k}|at {t}]
> status of:set|saved | The reminder for {t} is {status}.
@add_todo, create_task, add_task, todo_add, add_to_list, new_task | Put something on the to-do list ; Adds a task ; Add an entry to the list of tasks
k! | task title item text name | task | The task ; What to do ; Text of the entry | task
= (make sure that I|I must not forget to|help me remember to) {k} ; (add|put) "{k}" (to|on) (my|the) [to-do] list ; (new|another) task: {k} ; I (have|need) to {k} [some day|this week], (write it down|put it on the list|add it) ; (add|note) {k} as a task ; {k} - put that on my list ; todo: {k} ; (please|) add a task [called] {k}
= (add|put) something (to|on) my [to-do] list ; (new|create a) task[, please] ; I need (another|a) task on my list ; add a todo
> task_id int:1:900 | Added as task {task_id}.
@shopping_list_add, add_item, buy_list, add_to_shopping_list, grocery_add | Adds an item to the shopping list ; Put something on the shopping list
g! | item product name thing | grocery | What to buy ; The item | item
n | quantity amount count | int:2:12 | How many ; Quantity | quantity
= (we are|we're|I'm) [almost] out of {g} ; (put|add) {g} (on|to) the shopping list ; we need [more] {g} ; (buy|get) {g} next time ; (add|put) {n} {g} (to|on) the [shopping] list ; there is no {g} left ; I have to buy {g} ; the {g} is all gone ; (don't forget|note down) {g} for the shop
= (add|put) something (to|on) the shopping list ; I need to buy something[, put it on the list] ; shopping list: add
> count int:1:30 | {g} is on the list, which has {count} items now.
@create_event, add_event, schedule_event, calendar_add, add_calendar_event, new_appointment, createEvent | Add an entry to the user's calendar ; Creates a calendar event ; Schedule something
s! | title name event summary | event | Title ; What it is ; Name of the event | title
d! | date day on | date | YYYY-MM-DD ; The date ; Day of the event | date
t | time start start_time at | clock | HH:MM ; Start ; When it starts | time
= {s} on {d} [at {t}], (put it in|add it to) my calendar ; (I have|there is|we have) {s} on {d} [at {t}][, please note it|, add it to my calendar] ; (schedule|plan|add|enter|book) {s} (for|on) {d} [at {t}] ; (put|add|save) {s} (in|to|into) (my|the) (calendar|diary), {d}[, {t}] ; block {d} [from {t}] for {s} ; new event: {s}, {d}[, {t}] ; on {d} [at {t}] is {s}, don't let me miss it ; my calendar on {d} needs {s} [at {t}]
= (put|add|enter) {s} (in|to|into) my calendar ; (schedule|plan) {s} ; (add|create|make) (an|a new) (event|appointment) [on {d}] ; (put|note) something in my calendar [for {d}] ; I have {s}, add it to the calendar
> event_id code | {s} is in your calendar on {d}.
@list_events, get_calendar, show_calendar, calendar_day, get_agenda, list_appointments | Lists the events of a day ; What is in the calendar ; The appointments of a date
d! | date day | date | YYYY-MM-DD ; Which day ; The date | date
= what (do I have|is planned|have I got|is in my calendar|am I doing) on {d}[?] ; am I (free|busy|booked) on {d}[?] ; (show|list|read) [me] my (events|appointments|agenda|meetings) (of|for|on) {d} ; (is there|do I have) anything on {d}[?] ; how does {d} look [for me]? ; (calendar|agenda|schedule) {d} ; can I (take|get) {d} off?
= (show|list|what is in) my (calendar|agenda)[?] ; do I have (any appointments|anything planned)[?] ; am I (free|busy)[?]
> event event, time clock | On {d} you have {event} at {time}.
@light_control, set_light, switch_light, lights, control_light, toggle_light, setLight | Switch lights in a room ; Turn the light of a room on or off ; Controls the lamps
r! | room location where area | room | Which room ; The room | room
x! | on state power is_on enabled | bool | true: on, false: off ; Whether the light is on ; On or off | state, on or off
b | brightness level percent dim intensity | int:1:100 | Brightness from 0 to 100 ; Percent | brightness
= x:true > (turn|switch|put) (on the (light|lights) in the {r}|the {r} (light|lights|lamp) on|the lights in the {r} on) ; x:true > I find it (too|so|pretty) dark in the {r} ; x:true > (I can't see anything|it is pitch black|we need light|I can't read) in the {r} ; x:true > (light|lights) on in the {r}[, please] ; x:true > (light up|brighten) the {r} ; x:true > I'm going into the {r}, (it's dark|make it bright)
= x:false > (turn|switch) (off the (light|lights) in the {r}|the {r} (light|lights|lamp) off|the lights in the {r} off) ; x:false > everybody left the {r}, (cut|turn off) the (light|lights) ; x:false > (lights|light) (off|out) in the {r}[, please] ; x:false > I (forgot|left) the light on in the {r} ; x:false > it is too bright in the {r} ; x:false > make the {r} dark ; x:false > we leave the {r}, no light needed
= (turn|switch) (on|off) the (light|lights)[, please] ; x:true > it is too dark [here|in here] ; x:true > (light|lights) on ; x:false > (light|lights) (off|out)
> ok done | The light in the {r} is switched.
@set_thermostat, set_temperature, heating, thermostat, climate_control, setTemperature | Set the room temperature in degrees Celsius ; Controls the heating ; Set the heating
n! | temperature degrees target value celsius | degrees | Degrees Celsius ; Target temperature ; How warm | temperature in degrees
= (make it|set it to|I'd like|I want) {n} degrees [in here|, please] ; (it's freezing|I'm cold|it is chilly)[.|,] {n} degrees (please|should do|would help) ; (set|turn|put) the (heating|thermostat|temperature) (to|at) {n} [degrees] ; (heat|warm|cool) (the room|it) (up|down|) to {n} [degrees] ; too (hot|warm|cold) here, {n} please ; {n} degrees[, please] ; could we have {n} degrees?
= (change|set|adjust) the (temperature|heating|thermostat)[ in here][, please] ; (turn|switch) the (heating|thermostat) (up|down) ; it's too (cold|hot|warm) in here ; I'm (freezing|sweating) ; make it (warmer|cooler)
> ok done | It will be {n} degrees.
@play_music, music_play, play, start_music, play_song, playMusic | Play a song, artist or playlist ; Plays music ; Start music
q! | query song what title name | music | What to play ; Song, artist or style | song, artist or style
= (play|put on|start) {q}[, please] ; (some|a bit of|a little) {q} would be (great|nice|good) [now] ; I (want|would like|feel like|am in the mood for) [to hear|listening to] {q} ; (can|could) (we|I) (hear|listen to|have) {q}[?] ; let's (hear|listen to|dance to) {q} ; music: {q} ; {q} on the speakers, please ; I could use some {q}
= (play|put on|start) (a song|some music|something|music)[, please] ; (can|could) you play (a song|music)[?] ; music please ; I want to listen to something
> status of:playing|started | Now {status}: {q}.
@set_volume, volume, change_volume, loudness, setVolume | Set the loudness from 0 to 100 ; Changes the volume ; Volume in percent
n! | level volume percent value | int:0:100 | From 0 to 100 ; The level ; Percent | volume in percent
= (volume|set the volume|turn the volume) (to|at|on) {n} [percent] ; (make it|turn it) (louder|quieter)[:|,] {n} [percent] ; {n} percent (volume|loudness)[, please] ; I can't hear (anything|you), volume {n} ; the baby sleeps, volume to {n} ; put the (sound|speaker) at {n}
= (change|set|adjust) the volume ; (make it|turn it) (louder|quieter) ; the music is too (loud|quiet)
> volume int:0:100 | The volume is {n} percent now.
@search_web, web_search, internet_search, search, google, websearch, browse | Search the internet ; Searches the web ; Find pages on the internet
q! | query q search_term terms text | topic | What to search for ; The query ; Search words | thing to search for
= (search|search the web|google|look on the internet) (for|) {q} ; (find out|look up|find something|find information|see what you find) (about|on|regarding) {q} ; (find|look up|get me|search) {q} on the (internet|web|net) ; what (does the internet say|can you find online|is new|are the latest news) about {q}[?] ; (can you|could you|please) google {q}[?] ; I need information about {q}[, check the web] ; web search: {q} ; find out {Q} ; {Q}? (search for it|look it up|google that|please search) ; (search|look up): {Q} ; (I'd like to know|I wonder|do you know) {Q}, (search for it|look it up)
= (search|google|look) something up ; (search the web|google)[, please] ; (can|could) you (look something up|search the web) [for me][?]
> title music, url url | The best result is {title}: {url}
@translate, translate_text, translator, translation, translateText | Translate text ; Translates a sentence into another language
m! | text sentence input phrase | message | What to translate ; The text | text to translate
l! | target_language language to target into | language | Target language ; Into which language | language
= (how (do|would) (you|I|one) say|what is|how does one say) "{m}" in {l}[?] ; (translate|put|say|turn) "{m}" (into|to|in) {l}[, please] ; {l} for "{m}"[?] ; how would a speaker of {l} say "{m}"? ; "{m}" in {l}[, please] ; I need "{m}" in {l} ; what's the {l} (word|translation) for "{m}"?
= translate "{m}" [for me|, please] ; (translate|I need) something (into|in) {l} ; (can|could) you translate (this|something) [for me]? ; how do you say "{m}" in another language?
> translation message | In {l}: {translation}
@convert_currency, currency_converter, exchange, money_convert, exchange_rate, convertCurrency | Convert an amount of money ; Converts between currencies ; What money is worth elsewhere
a! | amount value sum money | amount | The amount ; How much money | amount
f! | from from_currency source base | currency | Currency code ; Code to convert from, e.g. USD | currency you have
g! | to to_currency target quote | currency | Currency code ; Code to convert to, e.g. EUR | currency you want
= (what is|what's|how much is|how much are) {a} {f} in {g}[?] ; (convert|change|exchange|turn) {a} {f} (to|into|in|for) {g} ; I have {a} {f}, how much is that in {g}[?] ; {a} {f} (in|to|=) {g}[?] ; how many {g} do I get for {a} {f}[?] ; my bill was {a} {f}, what is that in {g}? ; {a} {f} worth in {g}?
= (convert|change|exchange) {a} {f} ; (convert|change) [some] money [into {g}] ; how much is {a} {f} [in my money]? ; (exchange|convert) my {f} ; what are {a} worth?
> result money | {a} {f} are {result} {g}.
@calculator, calculate, compute, evaluate_expression, math, eval | Evaluate an arithmetic expression ; Calculates something ; Exact arithmetic
q! | expression formula input expr | expression | The expression, e.g. 2*3 ; What to calculate | expression
= use the calculator: {q} ; (calculate|compute|work out|evaluate|solve) {q} [with the calculator|with the tool] ; (what is|what's|how much is) {q}[?] ; {q} (please use the calculator|, use the tool) ; run {q} through the calculator
= (calculate|compute) something [for me] ; use the calculator ; (can|could) you calculate something?
> result real | The result is {result}.
@get_stock_price, stock_price, stock_quote, share_price, ticker, getStockPrice | Latest price of a share ; Price of a stock by its symbol ; What a share costs now
s! | symbol ticker stock code | symbol | Ticker symbol ; Symbol of the share | symbol of the share
= how (is|are) {s} [shares|stock] doing [right now|today][?] ; (what is|what's) (the price of|the value of) {s} [stock|shares][?] ; {s} (price|stock|share price|quote)[?] ; (how much|what) (is|are|does) {s} (worth|cost|trading at) [now|today][?] ; (check|look up|get) {s} [for me] ; should I sell {s}? how much is it now? ; where is {s} today?
= (how|what) does the share do [today][?] ; (check|get|look up) a (stock|share) price ; how are my (stocks|shares) doing? ; stock price?
> price money | {s} is at {price}.
@find_flights, search_flights, flight_search, flights, lookup_flights, book_flight | Search flights between two cities ; Finds flights ; Flights on a day
f! | origin from from_city departure start | city | City of departure ; From where | city of departure
g! | destination to to_city arrival | city | City of arrival ; To where | destination
d! | date day departure_date | date | YYYY-MM-DD ; When | date
= (is there|find me|find|are there|show|search|look for|I need) (a flight|flights|plane tickets|a plane) from {f} to {g} on {d}[?] ; (fly|flying) from {f} to {g} on {d} ; I (want|have|need|would like) to (fly|get|go) from {f} to {g} on {d} [by plane] ; on {d} I (travel|fly) from {f} to {g}, (any flights|what flights are there)? ; {f} - {g}, {d}, flights? ; flights {f} {g} {d} ; how do I get from {f} to {g} by plane on {d}?
= I (want|need|would like) to fly to {g} [on {d}] ; (find|book|search) (a flight|flights) [to {g}|from {f}] [on {d}] ; (are there|any) flights to {g}[?] ; flights please ; book me a flight from {f} to {g} ; I need to get out of {f} on {d}
> flight code, price int:40:900 | Flight {flight} to {g} costs {price}.
@find_trains, train_times, train_search, trains, rail_connections | Trains between two places ; Train connections ; Searches trains
f! | from origin start departure | city | Where it starts | place of departure
g! | to destination arrival end | city | Where it goes | destination
t | time after departure_time | clock | Earliest departure, HH:MM | time
= (when is|what time is|is there) (the next|a) train from {f} to {g} [after {t}][?] ; (next train|trains) from {f} to {g} [after {t}] ; I (must|have to|want to) go from {f} to {g} by train [after {t}] ; how do I get from {f} to {g} by (rail|train)[?] ; train {f} to {g} [{t}]
= (when is|is there) (the next|a) train [to {g}][?] ; (find|search|book) a train [to {g}|from {f}] ; I need a train [to {g}]
> departure clock, platform int:1:20 | The train to {g} leaves at {departure} from platform {platform}.
@book_table, reserve_table, restaurant_reservation, make_reservation, table_booking, bookTable | Reserve a table at a restaurant ; Books a table ; Restaurant reservation
s! | restaurant place name venue | restaurant | Name of the restaurant ; Where | restaurant
n! | people guests party_size persons seats | int:2:14 | Number of people ; How many guests | number of people
t! | time at hour when | clock | HH:MM ; When | time
= (book|reserve|get) (us|me|) a table (at|in) {s}(, | for ){n} people, {t} ; (could|can) you (book|reserve) [us|me] a table at {s} for {n} at {t}[?] ; a table for {n} at {s}[,|] [at] {t}[, please] ; we are {n} and want to eat at {s} at {t} ; {n} of us would like to dine at {s} at {t} ; (dinner|lunch) for {n} at {s}, {t} ; call {s}: {n} people, {t} ; table at {s}, {t}, {n} persons
= (book|reserve|get) (me|us|) a table [at {s}] [for tonight] ; (book|reserve) a table at {s} for {n} ; (can|could) you (book|reserve) a table at {s} at {t}[?] ; we (want|would like) to eat at {s} [tonight] ; table for {n}[, please] ; I need a reservation [at {s}|for {n}]
> confirmation code | The table at {s} is booked, confirmation {confirmation}.
@find_hotel, search_hotels, book_hotel, hotels, hotel_search | Search hotels in a city ; Finds a place to sleep ; Books a hotel
c! | city place location town | city | The city ; Where | city
d! | date check_in arrival from | date | Day of arrival, YYYY-MM-DD | day of arrival
n! | nights length_of_stay duration | int:1:14 | How many nights | number of nights
g | guests people persons | int:1:6 | Number of guests | number of guests
= (find|book|get|search|I need) (me a hotel|a hotel|a room|a place to stay) in {c} from {d} for {n} nights ; (I need to sleep|I'm staying|we stay) in {c} for {n} nights from {d}[, find a hotel] ; hotel (in|) {c}, {d}, {n} nights ; where can I (sleep|stay) in {c} on {d} for {n} nights?
= (find|book|I need) a (hotel|room) [in {c}] ; where can I (sleep|stay) in {c}? ; (book|find) a hotel in {c} for {n} nights ; I need a room from {d}
> hotel restaurant, price int:40:300 | {hotel} in {c} has a room for {price} a night.
@order_status, track_order, get_order, where_is_order, order_lookup, trackOrder | Look up the state of an order ; Where an order is ; Tracks a parcel
o! | order_id order id number order_number | code | The order number ; Id of the order | order number
= my (parcel|package|order|stuff) (has not come|never arrived|is late|is lost), (order number|number|it is|order) {o} ; (where is|what about|what happened to) [my] order {o}[?] ; (has|did) {o} (shipped|arrived|been sent)[?] ; (track|check|look up) [order] {o} ; (status|state) of [order] {o}[?] ; when (will|does) [my order] {o} (arrive|come)[?] ; I'm (still|) waiting for {o} ; any news on order {o}?
= where (is|the hell is|on earth is) my (order|parcel|package)[?|??] ; my (order|parcel|package) (is late|has not come|never arrived) ; (track|check) my (order|parcel)[, please] ; when does my (order|package) arrive? ; what is the status of my order?
> status of:shipped|pending|delivered|in transit|delayed, eta day | Order {o} is {status}, expected {eta}.
@cancel_order, cancel_purchase, stop_order, cancelOrder, order_cancel | Cancel an order ; Stops an order before it is sent
o! | order_id order id number order_number | code | The order number ; Id of the order | order number
= (cancel|stop|undo) [my] order {o} ; I (don't want|no longer need|no longer want) {o} [any more], cancel it ; (I don't need|forget) order {o} any more ; {o} was a mistake, (cancel it|stop it) ; please don't send {o} ; take back order {o} ; {o} can be cancelled
= (cancel|stop) (my|the|an) order[, please] ; I don't want it any more, cancel (my|the) order ; I want to cancel something I bought
> status of:cancelled|stopped | Order {o} is {status}.
@return_item, start_return, refund, request_refund, return_order | Starts a return ; Send something back for a refund
o! | order_id order id | code | The order number | order number
m! | reason why comment | reason | Why it is returned ; Reason | reason
= (return|send back|I want to return|I'd like to send back) order {o}, {m} ; {o}: {m}, I want (my money back|a refund) ; (refund|money back for) {o}, (because|reason:) {m} ; I'm sending {o} back, reason: {m}
= I want (a refund|my money back|to return something) ; (return|refund|send back) order {o} ; how do I return this? {m} ; can I send it back? {m}
> return_id code | The return {return_id} of order {o} is open.
@create_ticket, open_ticket, new_ticket, report_problem, file_issue, support_ticket | Open a support ticket ; Report a problem ; Creates a ticket
m! | title subject summary name | problem | What it is about ; Title ; The problem | title
x! | priority severity urgency level | of:low|medium|high | low, medium or high ; How urgent | priority
= (open|create|file|make) a {x} priority ticket: {m} ; (open|create|file) a ticket [titled|called] "{m}", priority {x} ; {m}. (Open|Make|File) a ticket with {x} priority[, please] ; report: {m}, priority {x} ; ticket please: {m} ({x}) ; (report|file) "{m}" as {x}
= (open|create|file|make) a ticket: {m} ; (open|create|file|I need) a ticket[, please] ; (report|file) this: {m} ; {m}, make a ticket ; I want to report a problem
> ticket code | Ticket {ticket} is open.
@read_file, open_file, cat, view_file, show_file, get_file_contents, readFile | Read a text file ; Shows the content of a file ; Reads a file from disk
p! | path file filename file_path | path | Path of the file ; Which file | path of the file
= (what (is|'s) in|what does|show me|open|read|print|display|cat) {p} [say][?] ; (look|have a look) (at|into) {p} ; (show|give|tell) me (the content of|what is in|what's inside) {p}[?] ; (check|inspect) [the file] {p} ; which settings are in {p}[?] ; I want to see {p} ; contents of {p}? ; what are the first lines of {p}? ; does {p} contain anything?
= (read|open|show|print) (the|a|my|that) file[, please] ; what is in the file[?] ; (can|could) you (open|read) a file [for me]? ; show me what it contains
> content message | {p} says: {content}
@write_file, save_file, create_file, store_file, put_file, writeFile | Write text to a file ; Creates a file with the given text ; Saves text
p! | path file filename file_path | path | Path of the file ; Where to save | path
m! | content text data body contents | message | What to write ; Text of the file | content
= (save|write|put|store) (the text|the words|the line|) "{m}" (in|to|into) [a file called|the file] {p} ; (create|make) [a file|the file] {p} (with|containing|that says) "{m}" ; {p} should (contain|say) "{m}" ; write {p}: {m} ; (new file|create file) {p}, (content|text): {m} ; note "{m}" down in {p}
= (create|make|write) (a|a new) file [for me][, please] ; (create|make) [the file] {p} ; (save|write down) "{m}" ; (save|store) this in a file ; (make|write) a file named {p}
> ok done | {p} is written.
@edit_file, replace_in_file, str_replace, modify_file, change_file, patch_file | Replace text in a file ; Edits a file ; Changes one text of a file into another
p! | path file filename file_path | path | Which file ; Path | path of the file
a! | old_text old search find old_str | snippet | Text to replace ; What is there now | text to replace
b! | new_text new replacement replace new_str | snippet | New text ; What it becomes | new text
= in {p} (change|replace|turn) {a} (to|with|into|by) {b} ; (change|replace|swap) {a} (to|with|by|for) {b} in {p} ; {p}: {a} should be {b} ; (edit|open) {p} and (replace|change) {a} (with|to) {b} ; {p} says {a}, make it {b} ; fix {p}: {b} instead of {a} ; in the file {p}, {a} must become {b}
= (edit|change|modify|fix) {p} ; (fix|correct) the (typo|mistake|bug) in {p} ; replace {a} in {p} ; (change|edit) a file ; in {p} change something
> replaced int:1:5 | {p} is changed.
@list_directory, list_files, ls, dir, list_folder, listFiles | List the files in a directory ; Shows what a folder contains ; Names of files
p! | path directory folder dir | folder | The directory ; Which folder | folder
= (what (files|documents) are|what's|what is|which things are) (inside|in) [the folder] {p}[?] ; (list|show) [the|all] files (in|of|under) {p} ; (which|what) files (does {p} have|are there in {p})[?] ; ls {p} ; (look|have a look) into [the folder|the directory] {p} ; contents of [the folder|directory] {p} ; what have we got in {p}? ; is there a readme in {p}?
= (list|show) (the|my|all) files ; what is in (the|this) (folder|directory)[?] ; which files are there[?] ; list a directory
> files files | In {p}: {files}
@delete_file, remove_file, rm, erase_file, deleteFile | Delete a file ; Removes a file for ever
p! | path file filename | path | Path of the file ; Which file | path of the file
= (delete|remove|erase|trash|get rid of) [the file] {p} ; {p} (can go|is not needed any more, delete it|is old, remove it) ; I don't need {p} any more ; throw {p} away ; rm {p} ; clean up {p}
= (delete|remove|erase) (a|the|that|my) file[, please] ; (can|could) you delete a file? ; I want to get rid of a file
> ok done | {p} is deleted.
@move_file, rename_file, mv, move, renameFile | Move or rename a file ; Renames a file
p! | source from old_path path | path | Where it is ; Old name | file
q! | destination to new_path target | path | Where it goes ; New name | new path
= (move|rename) {p} to {q} ; {p} should be (called|named) {q} ; call {p} {q} from now on ; mv {p} {q} ; (put|shift) {p} (to|under) {q} ; change the name of {p} to {q}
= (move|rename) {p} ; (move|rename) a file ; {p} needs a better name
> ok done | {p} is {q} now.
@grep, search_files, find_in_files, code_search, search_code, ripgrep | Search for a pattern in files ; Finds text in files ; Searches the code
q! | pattern query text regex search | symbolname | What to look for ; Pattern ; Text | text to search for
p | path directory folder in | folder | Where to search ; Folder | folder
= where (in {p}|in this project|) is {q} (used|defined|called)[?] ; (find|search|grep|look) (for|) {q} [in {p}] ; (which|what) files (mention|contain|use|call) {q}[?] ; (show|find) [me] (all|every) (uses|places|lines) (of|with) {q} [in {p}] ; grep {q} [in {p}] ; does {q} (appear|occur) [anywhere] in {p}? ; who calls {q}? ; any mention of {q} in {p}?
= (search|grep|look through) (the code|the files|{p}) ; find something in (the code|{p}) ; search the files
> matches int:0:40, file path | {matches} matches, the first in {file}.
@run_command, shell, bash, execute, exec, terminal, run_shell, execute_command | Run a shell command and return its output ; Executes a command ; Terminal
c! | command cmd script line | command | The command line ; What to run | command
= (run|execute|start|call|type) {c} ; {c} please ; (can you|could you) (run|execute) {c}[?] ; what does {c} (print|say|give|output)[?] ; (do|run) a {c} ; in the terminal: {c} ; run "{c}" [and tell me what comes out]
= (run|execute) (a|the) command[, please] ; (can|could) you run something [in the terminal][?] ; use the shell
> output message | The output: {output}
@query_database, run_sql, sql_query, sql, execute_sql, db_query | Run a read-only SQL query ; Queries the database with SQL ; Asks the database
q! | sql query statement | sql | The SQL | query
= QUERY
> rows int:0:900 | The query gave {rows}.
@get_time, world_clock, current_time, time_in_city, local_time, getTime | Current local time of a city ; What time it is somewhere ; World clock
c! | city place location timezone | city | The city ; Where | city
= what time is it in {c} [right now|now][?] ; (what is|what's|tell me) the [local|current] time in {c}[?] ; time in {c}[?] ; how late is it in {c}[?] ; (can|should) I call (my (friend|aunt)|{p}) in {c} now, what time is it there? ; is it (night|morning|late) in {c} [now]? ; {c} time? ; are people in {c} still awake?
= what time is it [there|abroad][?] ; what's the time? ; (tell me|check) the [local] time
> time clock | It is {time} in {c}.
@get_directions, route, navigate, directions, plan_route | Route between two places ; How to get somewhere ; Navigation
f! | from start origin | place | Start ; From where | start
g! | to destination end | place | Goal ; To where | destination
x | mode by transport | of:car|bike|bus|walking | How to travel | means of transport
= (how do I get|what is the way|route|directions|navigate|guide me) from {f} to {g} [by {x}][?] ; (I am|we are) at {f}, how do (I|we) get to {g} [by {x}]? ; (show|tell) me the way from {f} to {g} ; from {f} to {g} [by {x}], please
= how do I get to {g}? ; (navigate|guide me|take me) to {g} ; (show|give) me directions
> minutes int:3:90, distance int:1:60 | It takes {minutes} minutes, {distance} km.
@find_places, nearby, search_places, places_search, find_nearby | Finds shops and places nearby ; Search for places around
k! | kind type category what | placekind | What kind of place | kind of place
c! | city near location around | city | Near where | place
= (is there|find|where is|show me) a [good|nice|cheap] {k} in {c}[?] ; (any|which) {k} in {c}[?] ; I need a {k} in {c} ; {k} near {c}[?] ; I'm in {c} and looking for a {k} ; {k} {c}
= (is there|find|where is) a {k} [around here|nearby][?] ; (find|show) me a place ; where can I find a {k}?
> name restaurant | {name} in {c}.
@call_phone, phone_call, dial, make_call, call_contact | Calls somebody ; Starts a phone call
p! | contact name who person | first | Who to call ; Name | name
= (call|phone|ring|dial) {p} ; (get|put) {p} on the (phone|line) ; I (want|need) to (talk|speak) to {p} [on the phone] ; (give|make) {p} a (call|ring) ; (can|could) you (call|ring) {p}[ for me]?
= (call|phone|ring) (someone|somebody|her|him) ; make a [phone] call[, please] ; I need to make a call
> status of:ringing|busy|connected | {p} is being called: {status}.
@get_contact, find_contact, contacts, address_book, lookup_contact | Finds a contact ; Phone number and mail of a person
p! | name person contact who | first | Name of the person | name
= (what is|what's|give me|find) {p}'s (number|phone number|address|mail|contact) [?] ; how (can|do) I reach {p}? ; (look up|find) {p} in (my|the) (contacts|address book) ; do I have {p}'s (number|address)? ; contact of {p}
= (look up|find) (a|someone's) (contact|number) ; I need (a|his|her) phone number ; search my contacts
> phone phonenr, email email | {p}: {phone}, {email}
@create_note, add_note, take_note, note, save_note, new_note | Writes a note ; Saves a note
m! | text note content body | message | Text of the note | text of the note
= (note|write down|jot down|take a note)[:|] {m} ; (make|save|create) a note [that says|saying|:] "{m}" ; for the record: {m}. (Note it|Write that down) ; (remember|keep in mind)[: |, ]{m}. Make a note. ; note to self: {m}
= (make|take|write|create) a note[, please] ; (I want|I need) to (note|write down) something ; new note
> note_id int:1:900 | Saved as note {note_id}.
@order_food, order_pizza, food_order, delivery_order, place_food_order | Orders food ; Have food delivered
g! | item dish meal what food | dish | What to eat | dish
n! | quantity count amount number | int:1:6 | How many | quantity
a | address to delivery_address | street | Where to bring it | address
= (order|get|bring|I want|I'd like) {n} {g} [to {a}] ; {n} (times|x) {g}[, please] ; we are hungry, {n} {g} [to {a}], please ; (can|could) (I|we) (have|get) {n} {g} [delivered to {a}]? ; send {n} {g} to {a}
= (order|get) (me|us) (some food|something to eat) ; (I'm|we are) hungry[, order something] ; (order|I want) {g} ; order a meal
> eta int:15:80 | {n} {g} will be there in {eta} minutes.
@book_taxi, call_taxi, taxi, get_cab, ride, request_ride | Calls a taxi ; Orders a ride
f! | from pickup start where | place | Where to pick up | pickup place
g! | to destination drop_off goal | place | Where to go | destination
t | time at when | clock | When, HH:MM | time
= (call|get|order|book|I need) [me] a (taxi|cab|ride) from {f} to {g} [at {t}] ; (pick me up|fetch me) at {f} [at {t}] and (bring|drive) me to {g} ; I have to go from {f} to {g} [at {t}], (get a cab|call a taxi) ; taxi {f} to {g}[, {t}]
= (call|get|order|I need) [me] a (taxi|cab)[, please] ; (call|book) a (taxi|cab) to {g} ; I need a ride [from {f}]
> car symbol, minutes int:2:25 | The taxi {car} comes in {minutes} minutes.
@transfer_money, send_money, pay, bank_transfer, make_payment, transfer | Sends money to somebody ; Bank transfer
p! | to recipient payee name | first | Who gets the money | name of the receiver
a! | amount sum euros value | amount | How much, in euros | amount
m | reason note purpose | taskname | What for | purpose
= (send|transfer|pay|wire|give) {p} {a} euros [for {m}] ; (send|transfer) {a} (euros|€) to {p} [for {m}] ; I owe {p} {a} euros[, pay (him|her|it) back] ; {p} gets {a} euros [from me] [for {m}] ; {a} to {p}[, please]
= (send|transfer|give) {p} (some|the) money ; (send|transfer) {a} euros ; pay (my|the) bill ; transfer money ; I owe {p} money
> reference code | {a} euros are on the way to {p}, reference {reference}.
@lock_door, door_lock, set_lock, smart_lock, control_lock | Locks or unlocks a door ; Controls the doors
r! | door which name location | door | Which door | door
x! | locked lock state is_locked | bool | true: locked ; Whether it is locked | state, locked or not
= x:true > (lock|close|secure) the {r} [door] ; x:true > (I forgot to|did I|make sure to) lock the {r} door[?] ; x:true > nobody should get in through the {r} door ; x:false > (unlock|open) the {r} door ; x:false > let (them|{p}|the guests) in at the {r} door ; x:false > I'm standing at the {r} door, open it
= (lock|unlock|open) the door ; x:true > (lock up|close everything)
> ok done | The {r} door is set.
@vacuum, robot_vacuum, start_cleaning, clean_room, start_vacuum | Sends the robot to clean a room ; Cleans the floor of a room
r! | room where area | room | Which room | room
= (clean|vacuum|hoover) the {r} ; the {r} (is|looks) (dirty|dusty|a mess)[, clean it] ; (send|start) the (robot|vacuum) (in|to) the {r} ; there are crumbs (all over|in) the {r} ; guests are coming, the {r} must be clean
= (clean|vacuum) [up][, please] ; start the (robot|vacuum) ; the floor is dirty
> minutes int:10:60 | The {r} will be clean in {minutes} minutes.
@define_word, dictionary, lookup_word, define, word_meaning | Meaning of a word ; Looks a word up in a dictionary
v! | word term w entry | word | The word | word
= what does {v} mean[?] ; (define|look up) [the word] {v} ; (what is the|give me the|find the) (meaning|definition) of {v}[?] ; I don't (know|understand) the word {v} ; {v}: definition? ; what's (a|an|) {v}?
= (define|look up) a word ; what does (this|that) word mean[?] ; I need a definition
> definition message | {v}: {definition}
@get_news, news, headlines, latest_news, top_stories | Latest news about a topic ; Headlines
q! | topic about subject category | topicword | The topic | topic
= (what is|what's) (new|going on|happening) in {q}[?] ; (news|headlines) (about|on|from) {q} ; (any|give me the|show me the) [latest] {q} news[?] ; what happened in {q} today[?] ; read me the headlines about {q}
= (news|headlines)[, please] ; what's (new|in the news)[?] ; (show|give|read) me the news ; what happened today?
> headline music | The headline: {headline}
@find_recipe, recipe, search_recipes, get_recipe, cooking | Finds a recipe ; How to cook a dish
g! | dish food meal name | dish | What to cook | dish
n | servings persons people portions | int:2:12 | For how many people ; Servings | servings
= (how do I|how do you|how to|how can I) (make|cook|bake|prepare) {g}[?] ; (find|give me|show me|I need) a recipe for {g} ; {g} recipe[, please] ; I want to (make|cook) {g} [tonight] ; what do I need for {g}?
= (find|give me|I need) a recipe ; what should I cook [tonight]? ; help me cook something
> minutes int:15:120, main grocery | {g} takes {minutes} minutes; you need {main}.
@log_meal, track_food, add_calories, food_log, log_workout | Writes down what was eaten ; Logs food
g! | food dish meal what | dish | What was eaten | food
n | calories kcal energy | int:100:900 | Calories | calories
= I (had|just ate|ate) {g} [with {n} calories] [for (lunch|dinner)][, log it] ; (log|track|write down) {g} [with {n} calories] ; (add|put) {g} to my food diary ; {g}, {n} calories
= (log|track) (my|a) (meal|food|lunch) ; I ate something, log it ; add calories
> total int:300:2500 | {g} is logged; {total} calories today.
@get_user, find_user, user_lookup, get_customer, customer_info, lookup_user | Data of a user by id ; Finds a user
i! | user_id id user customer_id | code | Id of the user | user id
= (who is|find|show|look up|get) (user|customer|account|member) {i} ; (what do we know|what have we got|tell me) about (user|customer) {i}[?] ; I need the data of (user|customer) {i} ; (which|whose) account is {i}? ; details for {i}
= (look up|find|show) (a|the) (user|customer) ; who is the customer? ; I need a user's data
> name person, city city | {i} is {name} from {city}.
@restart_service, restart, service_restart, reboot_service, systemctl_restart | Restarts a service ; Stops and starts a service again
s! | service name unit process | service | Which service | service
= (restart|reboot|bounce|kick) (the|) {s} [service] ; {s} (hangs|is stuck|does not answer), restart it ; turn {s} off and on again ; please bring {s} back up
= (restart|reboot) (it|something|the service) ; the service (hangs|is down), restart it
> status of:running|active | {s} is {status} again.
@get_logs, read_logs, logs, tail_logs, show_logs | Last log lines of a service ; Shows logs
s! | service name source app | service | Which service | service
n | lines count limit n | int:5:200 | How many lines | number of lines
= (show|give) me the [last {n} lines of the] logs of {s} ; what (do|does) the (logs|log) of {s} say[?] ; (tail|check|read) the {s} logs ; why did {s} (crash|stop|fail)? (look at|check) its logs ; last {n} log lines of {s}
= (show|check|read) [me] the logs ; what do the logs say[?] ; why did it crash?
> line message | The log of {s} says: {line}
@check_stock, inventory, product_stock, availability, in_stock | How many of a product are there ; Checks the inventory
g! | product item name article | product | The product | product
= (do you|do we) (have|still have|sell) [any|a] {g}[ in stock][?] ; is the {g} (available|in stock|sold out)[?] ; how many {g}s (are|do we have) (left|in stock)[?] ; I('d like to| want to) buy a {g}, is (it|one) there? ; stock of {g}?
= (is it|do you have it) (available|in stock)[?] ; check the (stock|inventory) ; how many are left?
> count int:0:90 | There are {count} of {g}.
@git_commit, commit, commit_changes, make_commit | Commits the changes with a message ; Git commit
m! | message msg text | commitmsg | The commit message | commit message
= commit (this|my changes|everything|it) [with the message|as|:] "{m}" ; (make|create) a commit ["|: "]{m}" ; git commit -m "{m}" ; save my work in git as "{m}" ; commit: {m}
= commit (this|my changes|everything)[, please] ; (make|create) a commit ; commit it
> hash hex | Committed as {hash}.
"""

COMMANDS = "ls|pwd|date|whoami|uptime|git status|git log|git diff|npm test|pytest|make|make test|cargo build|cargo test|df -h|free -m|ps aux|docker ps|ls -la|npm install|pip list|go test ./...|git pull|git push|top -n 1|uname -a|env|hostname|du -sh .|python main.py|make clean|npm run build".split("|")
COMMAND_NEEDS = {"df -h": "how much (disk|space|disk space) (is left|do I have left|remains) [on this (box|machine|disk)][?] ; am I running out of (disk|space)[?] ; will the disk be full soon? ; is there space (left|free) on the disk[?] ; is the disk full? ; check the [free] disk space ; how full is my disk?", "free -m": "how much RAM (is left|does this box have left|do I have)[?] ; am I short of memory? ; how much memory is (free|left|used)[?] ; is there enough RAM [left]? ; check the memory", "pwd": "which (directory|folder) am I in[?] ; where am I [in the file system]? ; what is the current directory?", "ls": "which files do I have here[?] ; what's lying around here? ; (list|show) the files here ; what files are (here|in this directory)[?] ; what's in the current directory?",
                 "ls -la": "(list|show) all files[,|] (even|including) hidden ones ; are there hidden files here?", "git status": "did I forget to commit (something|anything)[?] ; is my working tree clean[?] ; (what|which files) (has|have) changed [in git][?] ; are there uncommitted changes? ; what's the state of the repo?", "git log": "who committed (last|what lately)[?] ; what (happened|was done) in (the repo|git) (lately|recently)[?] ; what were the last commits[?] ; show [me] the [commit] history", "git diff": "what did I edit since the last commit[?] ; show [me] (the|my) changes ; what did I change exactly?", "date": "what (date|day) is it [on this machine][?] ; what time does the (server|computer) have?",
                 "whoami": "(who am I|which user am I|as which user am I) [logged in][?]", "uptime": "since when is (this|the) (box|machine|server) (up|on)[?] ; when was the last reboot? ; how long has the (machine|server) been (up|running)[?] ; uptime?", "pytest": "(run|start) the tests [with pytest] ; do the [python] tests pass[?] ; did I break a test? ; test (it|everything) with pytest", "npm test": "(run|start) the tests with npm ; npm tests, please", "make": "(build|compile) (it|the project) [with make] ; run the build with make", "docker ps": "are (any|my) containers (up|alive)[?] ; is docker running anything? ; (which|what) containers are running[?] ; (list|show) the [running] (docker containers|containers)",
                 "ps aux": "what (is|keeps) (the machine|this box) (so |)busy[?] ; which (programs|processes) (eat|use|take) (my memory|the memory|the CPU)[?] ; what's eating (my RAM|the memory|the processor)[?] ; what is running in the background[?] ; (which|what) processes are running[?] ; (list|show) [all] processes", "du -sh .": "how (big|large) is this (folder|directory)[?] ; what size has this directory?", "git pull": "(get|fetch) the latest (changes|version) from git ; update the repo", "git push": "push my (commits|changes) ; send my commits to the server", "pip list": "(which|what) python packages are installed[?]", "env": "(show|list) the environment variables", "hostname": "what is this (box|machine|computer) called[?] ; what is (the name of this machine|this computer called)[?]", "uname -a": "(which|what) (kernel|system) is (this|running)[?]", "cargo test": "run the rust tests ; do the cargo tests pass?", "cargo build": "build (it|the project) with cargo"}
TABLES = {"customers": "name city age email", "orders": "id price date customer", "products": "name price stock color", "employees": "name salary city age", "users": "name email age country", "books": "title author year pages", "students": "name grade age school", "pets": "name kind age owner", "songs": "title artist year length", "rooms": "number floor price seats", "cars": "brand color year price", "cities": "name country population"}
# What is asked, and the SQL: {t} a table, {c} a column, {k} one that holds numbers, {n} a number.
QUERIES = ["(how many|count the) (rows|entries|{t}) (are there in|does|are in) [the table] {t} [have][?] ; how many {t} (are there|do we have)[?] ; number of {t}[?] => SELECT COUNT(*) FROM {t}", "(show|list|give me|get|select) (all|everything from|all rows of) [the table] {t} ; (what is|what's) in [the table] {t}[?] ; print the whole table {t} => SELECT * FROM {t}",
           "(show|list|give me|get) (the {c}|only the {c}|the {c} column) of all {t} ; {c} of (all|every) {t} ; (what|which) {c}s do the {t} have[?] => SELECT {c} FROM {t}", "(what is|find|get|give me|show) the (highest|largest|maximum|biggest) {k} (in|of) [the] {t} ; max {k} of {t} => SELECT MAX({k}) FROM {t}", "(what is|find|get|give me|show) the (lowest|smallest|minimum) {k} (in|of) [the] {t} => SELECT MIN({k}) FROM {t}",
           "(what is|find|get|give me) the (average|mean) {k} (in|of) [the] {t} ; average {k} of {t}[?] => SELECT AVG({k}) FROM {t}", "(what is|find|get|give me) the (sum|total) of (all {k}s|{k}) in {t} ; total {k} of {t}[?] => SELECT SUM({k}) FROM {t}", "(show|list|give me|get|which) [all] {t} (with|whose|have) {k} (over|above|greater than|more than|larger than) {n} ; {t} where {k} is (over|above|more than) {n} => SELECT * FROM {t} WHERE {k} > {n}",
           "(show|list|give me|get|which) [all] {t} (with|whose|have) {k} (under|below|less than) {n} => SELECT * FROM {t} WHERE {k} < {n}", "(show|list|give me|get) the {c} of [all] {t} (with|whose) {k} (over|above|greater than|more than) {n} ; {c}s of {t} (older|larger|greater) than {n} (by|in) {k} => SELECT {c} FROM {t} WHERE {k} > {n}", "(sort|order|list|show) [all|the] {t} (by|ordered by|sorted by) {k}[, (lowest|smallest|cheapest) first] => SELECT * FROM {t} ORDER BY {k}",
           "(sort|order|list|show) [all|the] {t} by {k}, (highest|largest|biggest|newest) first ; {t} by {k} descending => SELECT * FROM {t} ORDER BY {k} DESC", "(show|give me|get) the (first|) {m} {t} with the (highest|largest) {k} ; top {m} {t} by {k} => SELECT * FROM {t} ORDER BY {k} DESC LIMIT {m}", "(show|give me|get) (the first|) {m} {t} ; only {m} rows of {t} => SELECT * FROM {t} LIMIT {m}", "(show|list|which) (the different|distinct|unique) {c}s (in|of) {t} => SELECT DISTINCT {c} FROM {t}",
           "how many {t} (have|with) {k} (over|above|more than) {n}[?] ; count the {t} with {k} above {n} => SELECT COUNT(*) FROM {t} WHERE {k} > {n}", "(find|show|get) (the|all) {t} (where|with) {c} (is|=|equal to) '{v}' ; {t} whose {c} is '{v}' => SELECT * FROM {t} WHERE {c} = '{v}'", "how many {t} (are there|) (per|for each|by) {c}[?] ; count {t} (by|per) {c} => SELECT {c}, COUNT(*) FROM {t} GROUP BY {c}"]
NUMERIC = {"age", "price", "salary", "year", "pages", "grade", "length", "seats", "population", "stock", "floor", "number", "id"}
MESSAGES = """I am on my way|I will be late|the meeting is moved|dinner is ready|call me back|see you tomorrow|happy birthday|the keys are under the mat|I missed the bus|we won|the train is delayed|I miss you|bring some bread|good luck|the invoice is paid|the report is done|I am at the door|please send the photos|everything is fine|we are home|thanks for the help|the car is fixed|I cannot come|the test was easy|lunch is at noon
the package has arrived|it is raining here|I love the new song|the door is open|we need milk|the plan has changed|hello there|do not wait for me|the water is off|the party starts at eight""".replace("\n", "|").split("|")
TASKS = """buy milk|call mom|water the plants|pay the rent|collect my passport|clean the garage|book the dentist|return the library books|fix the bike|feed the cat|send the letter|take out the trash|order new shoes|charge the phone|iron the shirts|write the report|change the tires|pick up the parcel|cancel the gym|back up the photos|wash the car|mow the lawn|bake a cake|visit grandma|check the oven|do the taxes
print the tickets|sign the form|learn the poem|repair the lamp|empty the dishwasher|walk the dog|take the pills|reply to Anna|sell the sofa""".replace("\n", "|").split("|")
GROCERIES = "milk|bread|eggs|butter|cheese|apples|bananas|rice|pasta|coffee|tea|sugar|salt|flour|tomatoes|onions|potatoes|soap|toilet paper|batteries|yogurt|juice|chicken|fish|ham|honey|oil|chocolate|carrots|lettuce|beer|cat food|light bulbs|toothpaste".split("|")
PLACE_KINDS = "pharmacy|bakery|bank|supermarket|cafe|restaurant|museum|gas station|hospital|bookshop|hotel|park|gym|cinema|bar|library|dentist|hairdresser|playground|post office".split("|")
COUNTRIES = "France|Italy|Brazil|Kenya|Japan|Norway|Peru|Canada|Turkey|Egypt|India|Chile|Poland|Ghana".split("|")
MUSIC = "jazz|Mozart|some rock|classical music|the Beatles|a love song|techno|my workout playlist|Bach|relaxing music|country music|reggae|hip hop|a lullaby|Christmas songs|piano music|the radio|blues|folk songs|salsa|opera|summer hits".split("|")
PROBLEMS = "the shredder is jammed|the sign-up form is broken|the printer is out of ink|the lift is stuck|the wifi is slow|the screen stays black|the door does not open|no sound in room 4|the app crashes|the heating is cold|the projector is missing|payments fail|the search is empty|emails are not sent|the coffee machine leaks|the badge reader is dead".split("|")
REASONS = "it is broken|it is too small|wrong color|it came too late|it does not work|I ordered it twice|it is too big|a part is missing|the screen is cracked|I do not like it".split("|")
SERVICES = "nginx|the database|redis|postgres|the web server|api|worker|mail|cron|the cache|docker|frontend|billing|auth|search".split("|")
COMMIT_MESSAGES = "fix typo|add tests|update docs|remove dead code|first version|refactor parser|bump version|handle empty input|add login page|fix crash on start|new logo|clean up".split("|")

# The words for true and false where a tool wants a word.
STATES = {"light_control": [("on", "off"), ("on", "off"), ("ON", "OFF")], "lock_door": [("locked", "unlocked"), ("lock", "unlock"), ("closed", "open")]}
# As people call them: the code that is called with.
MONEY = {"dollars": "USD", "US dollars": "USD", "euros": "EUR", "pounds": "GBP", "British pounds": "GBP", "yen": "JPY", "Swiss francs": "CHF", "Swedish kronor": "SEK", "zloty": "PLN", "rupees": "INR", "Norwegian kroner": "NOK"}
COMPANIES = {"Apple": "AAPL", "Microsoft": "MSFT", "Google": "GOOGL", "Amazon": "AMZN", "Tesla": "TSLA", "Nvidia": "NVDA", "Netflix": "NFLX", "Intel": "INTC", "Adobe": "ADBE", "Boeing": "BA", "Disney": "DIS", "IBM": "IBM", "Nike": "NKE", "Oracle": "ORCL"}
KINDS_OF_FILES = {"pdf files": "*.pdf", "PDFs": "*.pdf", "text files": "*.txt", "python files": "*.py", "images": "*.png", "jpg pictures": "*.jpg", "markdown files": "*.md", "json files": "*.json", "csv files": "*.csv", "log files": "*.log", "word documents": "*.docx", "zip archives": "*.zip", "html pages": "*.html", "mp3 songs": "*.mp3", "config files": "*.conf", "yaml files": "*.yaml"}
# Texts that are sent, and what is searched for; {x} {y} nouns, {n} a name, {c} a city, {d} a day, {t} a time.
SENT = "(dinner|lunch|the party|the show|training)('s| is) at {t}|see you (soon|later|on {d}|in {c}|at {t})|I'm (running late|almost there|stuck in traffic|on the train to {c})|(don't|do not) forget the {x}|the {x} (is|was) {k} euros|can you bring the {x} [and the {y}]|{n} (is ill|says hello|can't come on {d})|we (meet|start) at {t} (in|near) {c}|the {x} arrived [on {d}]|please (pay|check|sign) (the {x}|number {k}) by {d}|good (night|morning|luck with the {x})|where did you put the {x}|happy birthday, {n}|I (love|found|sold) your {x}|no {x} today|the {x} for {n} is (in|on) the {y}|thanks for (the {x}|everything|dinner)|your {x} is ready [for pick-up]|it's {k} degrees in {c}|room {k} is free from {t}|back (at {t}|in {k} minutes)|let's (meet|talk) on {d}|I'll (call you|be home) at {t}|sorry, I can't find the {x}|the code is {k}"
TOPICS = "(reviews of|tickets for|pictures of|the history of) the new {x}|the (president|population|king|anthem|flag) of {o}|cheap {x}s in {c}|(the best|good) {x} {y}|opening hours of the {x} museum in {c}|how old {n} is|train strikes in {o}|(weather records|concerts|restaurants) in {c}|the latest film of {n}|{x} versus {n}|(the winner|winners) of the {x} prize {y}|side effects of {x}|symptoms of {x} allergy|phone number of the {c} city hall"
QUESTIONS = "who (is the president of {o}|built the {x} of {c}|wrote the song about {c}|won the {x} cup in {y}|plays {n} in the film)|when (was {c} founded|does the {x} fair begin|did {n} retire)|where (is the {x} museum|was {n} born|does the river in {c} end)|what (is the {x} tax in {o}|happened in {c} in {y}|does a {x} cost)|how (tall is {n}|far is {c} from {o}|many people live in {c}|old is the bridge in {c})|which team won in {y}"
# Commands about something: what is said for them.
COMMANDS_ON = {"rm -r {f}": "(delete|remove|get rid of) the {f} (folder|directory) [with everything in it]", "mkdir {f}": "(make|create) a [new] (folder|directory) [called|named] {f}|I need a (folder|directory) {f}", "wc -l {p}": "how many lines (has|are in) {p}[?]|count the lines of {p}", "cp {p} {q}": "copy {p} to {q}|(make|I need) a copy of {p} called {q}", "mv {p} {q}": "rename {p} to {q}|{p} should be called {q}", "tail -n {k} {p}": "the last {k} lines of {p}[, please]|(show|print) the last {k} lines of {p}", "head -n {k} {p}": "(show|print) the first {k} lines of {p}|the first {k} lines of {p}[, please]", "python {p}": "(run|start) {p} with python|(run|start) the python script {p}", "kill {k}": "(kill|stop|end) process {k}|process {k} hangs, kill it", "chmod +x {p}": "make {p} executable", "touch {p}": "(create|make) an empty file {p}", "grep -r {s} .": "where (do we use|is) {s} in (this project|the code)[?]|which files (mention|contain) {s}[?]", "ls {f}": "what('s| is) in the (folder|directory) {f}[?]|list the {f} (folder|directory)", "cat {p}": "print {p} [in the terminal]|(show|dump) {p} in the terminal", "pip install {s}": "install {s} with pip|I need the python package {s}", "ping -c 1 {s}.com": "is {s}.com (reachable|up)[?]|(ping|can we reach) {s}.com [once]", "git checkout {s}": "switch to [the] branch {s}|(check out|go to) the branch {s}", "du -sh {f}": "how (big|large) is the {f} (folder|directory)[?]|size of the (folder|directory) {f}[?]"}
CLAUSES = [m for m in MESSAGES if not m.startswith(("call", "see", "happy", "bring", "good", "please", "thanks", "hello", "do not"))]
SAID_THAT = "(dinner|lunch|the party|the show|training) is at {t}|I'm (running late|almost there|stuck in traffic|on the train to {c})|the {x} (is|was) {k} euros|{n} (is ill|can't come on {d})|we (meet|start) at {t} (in|near) {c}|the {x} arrived [on {d}]|I (love|found|sold) the {x}|there is no {x} today|the {x} for {n} is (in|on) the {y}|the {x} is ready|it's {k} degrees in {c}|room {k} is free from {t}|I'll (be home|leave) at {t}|I can't find the {x}|the code is {k}|the meeting is (off|cancelled|moved to {d})"
