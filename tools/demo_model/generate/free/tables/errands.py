"""Errands: what is said to an assistant with tools, from the first hint to the answer from a result, by hand.

@ tool: name/other name(parameter! kind, parameter kind) description ; another ...     ! is required
< what the user says
> call, with parameter=value, ... && another call // what is thought before it
= a result, one for each call
: what is answered // the thought

Kinds: s string, i integer, n number, b boolean, a list of strings, x|y one of these. A value runs to the next ", parameter=".
Slots as in filled.py; patterns as in grammar.py.
"""

ERRANDS = r"""
@ set_blinds/moveBlinds/blinds.set(room! s, position! i) Moves the blinds: 0 is closed, 100 is open ; set_lamp/switch_light(room! s, state! on|off) Switches a lamp
< (so much glare in the {x1=bedroom/study/kitchen/office}, blinds (completely|all the way) down|{x1=bedroom/study/kitchen/office} blinds (fully|completely) (shut|closed)[ please]|shut the blinds in the {x1=bedroom/study/kitchen/office}, no light at all)
> set_blinds room={x1}, position=0 // Completely closed is 0.
= {"ok": true}
: The blinds in the {x1} are closed. // The result is ok.
< (hm, too dark. half open|make that half|halfway is enough|open them half[ way])
> set_blinds room={x1}, position=50 // Half is 50.
= {"ok": true, "position": 50}
: The blinds in the {x1} are half open. // The position is 50.
@ set_volume/volume/player.volume(level! i) Sets the volume, 0 to 100 ; play_music/play(query! s) Plays music
< (turn it up to the max|as loud as it goes[!]|full volume[ please]|max volume)
> set_volume level=100 // The maximum is 100.
= done
: The volume is at 100. // It is done.
< (my ears! down to a quarter|a quarter of that is enough|no, a quarter)
> set_volume level=25 // A quarter of 100 is 25.
= done
: The volume is at 25. // It is done.
< ((ok |)(mute it|no sound at all)[, the baby sleeps])
> set_volume level=0 // No sound is 0.
= done
: The volume is at 0. // It is done.
@ find_recipe/recipes.search/searchRecipes(ingredients! a, max_minutes i) Finds recipes ; start_timer/timer(minutes! i) Starts a timer
< (there's {food1}, {food2} and (some |a bit of |){food3} in the fridge. a dish ready (within|in less than) half an hour?|I have {food1}, {food2} and {food3} here, what can I cook in (at most |)half an hour?|{food1}, {food2}, {food3}: a recipe that takes no more than half an hour)
> find_recipe ingredients={food1}|{food2}|{food3}, max_minutes=30 // The ingredients are {food1}, {food2}, {food3}; half an hour is 30 minutes. One call.
= {"recipes": [{"name": "{x1=Green bowl/Quick pan/Sunday pie}", "minutes": {m1}}]}
: You could make {x1}, it takes {m1} minutes. // One recipe: {x1}, {m1} minutes.
@ search_flats/flats.search(city! s, max_rent i, rooms i, pets b) Searches flats to rent ; send_message(to! s, text! s) Sends a message
< (a flat in {city1}[,] (no more than|at most|up to) {h1} (a month|euros)[, and I have a dog|, pets must be allowed]|I'm looking for something in {city1} for (max|at most) {h1}, and my cat comes too)
> search_flats city={city1}, max_rent={h1}, pets=true // At most {h1} is max_rent; an animal comes along, so pets is true.
= [{"street": "{street1}", "rent": {k1}0, "rooms": {n1}}, {"street": "{street2}", "rent": {m1}0, "rooms": {n2}}]
: There are two: {street1} with {n1} rooms for {k1}0, and {street2} with {n2} rooms for {m1}0. // Two flats.
< (which (one |)is cheaper[?]|the cheaper one?)
: {street2} for {m1}0. // {street1} {k1}0; {street2} {m1}0. The least: {m1}0, {street2}.
@ lock_door/locks.set/doorLock(door! s, action! lock|unlock) Locks or unlocks a door ; set_alarm(time! s) Sets an alarm clock
< (was the {x1=cellar/garage/garden} door locked? (never mind|doesn't matter), bolt it|not sure about the {x1=cellar/garage/garden} door. lock it[ to be safe])
> lock_door door={x1}, action=lock // One thing is wanted: lock the {x1} door.
= {"state": "locked"}
: The {x1} door is locked. // The state is locked.
@ start_vacuum/robot.clean/vacuum(room! s) Sends the vacuum robot to a room ; set_light/light(room! s, state! on|off) Switches the light ; play_music(query! s) Plays music
< (sand (all over|everywhere in) the {x1=hall/nursery/office}...|the dog (shook|rolled) in the {x1=hall/nursery/office}, hair everywhere|what a mess on the {x1=hall/nursery/office} carpet)
> start_vacuum room={x1} // Dirt on the floor: the vacuum.
= {"minutes": {m1}}
: The robot cleans the {x1} and needs {m1} minutes. // It needs {m1} minutes.
@ set_light/lights.set/lamp(room! s, state! on|off, brightness i) Switches the light ; set_heating/heat(room! s, degrees! n) Sets the heating ; start_vacuum(room! s) Cleans the floor
< (I can't see (a thing|anything) in the {x1=cellar/hall/shed/attic}|it's pitch dark in the {x1=cellar/hall/shed/attic}|I keep bumping into things in the {x1=cellar/hall/shed/attic}, too dark)
> set_light room={x1}, state=on // It is dark: light on.
= ok
: The light in the {x1} is on. // It is ok.
< (my (toes|fingers) are freezing (in here|here)[, make it {m1}]|and it's cold, {m1} would be nice)
> set_heating room={x1}, degrees={m1} // It is cold in the {x1}: heating to {m1}.
= ok
: The heating in the {x1} is set to {m1} degrees. // It is ok.
@ send_email/mail.send/sendMail(to! s, subject! s, body! s) Sends an email ; search_contacts(name! s) Looks up a contact
< ((write|drop) (a mail|a line) to {email1}, subject {x1=Boiler/Key/Rehearsal}, and tell (her|him|them) [that ]{x2=the plans are done/the plumber was here/we start an hour later/the parcel has come})
> send_email to={email1}, subject={x1}, body={x2} // What is told comes after "tell": {x2}.
= {"status": "sent", "id": {h1}}
: The email to {email1} is sent. // The status is sent.
@ send_message/chat.send/text_message(contact! s, text! s) Sends a text message ; get_time(city! s) Tells the time
< ((text|message|write to) {name1} that (I'll|I will) be {x1=out until ten/there at noon tomorrow/in {city1} on {day1}/a bit late})
> send_message contact={name1}, text=I'll be {x1} // The text is: I'll be {x1}.
= {"delivered": true}
: {name1} has the message. // It is delivered.
@ check_stock/inventory.get/stock(product! s) Tells how many of a product are in stock ; order_goods(product! s, amount! i) Orders goods
< ((could you [please ]|)(check|tell me) the number of {x1=black desk lamps/small oak tables/red rain coats/green garden chairs} that are left in the (depot|store)[?])
> check_stock product={x1} // The product is: {x1}.
= {"product": "{x1}", "in_stock": {m1}, "reserved": {n1}}
: There are {m1} {x1} in stock, {n1} of them reserved. // In stock {m1}, reserved {n1}.
< (how many (are free|can I sell)[?]|and without the reserved ones?)
: {=m1-n1} // {m1} - {n1} = {=m1-n1}.
@ cancel_order/orders.cancel(order_id! s) Cancels an order ; track_order(order_id! s) Tells where an order is
< ((I want to|please|can you) cancel my order[, please]|cancel an order for me)
: What is the number of the order? // cancel_order fits, but order_id is missing.
< ((it's|its|it is|that's|the number is|sure, it's|number) {code1}[.|, thanks])
> cancel_order order_id={code1} // The number is {code1}.
= {"cancelled": true}
: The order {code1} is cancelled. // It is cancelled: true.
@ search_flights/flights.find(origin! s, destination! s, date! s) Finds flights ; book_taxi(address! s) Books a taxi
< (flights to {city1} {x1=tomorrow/on {day1}/next {day1}/in two weeks}[, please]|I need to fly to {city1} {x1=tomorrow/on {day1}/next {day1}/in two weeks})
: From where do you want to fly? // search_flights fits, but origin is missing.
< ((from|I start in|starting from|I'm in|out of) {city2}[, please])
> search_flights origin={city2}, destination={city1}, date={x1} // The answer to my question: {city2}. The date was {x1}.
= {"flights": []}
: There are no flights from {city2} to {city1} {x1}. // The list is empty.
@ list_events/calendar.list/getEvents(date! s) Lists the events of a day ; add_event(title! s, date! s, time s) Adds an event
< (what's on (my calendar|my schedule) {x1=tomorrow/today/on {day1}/next {day1}}[?]|do I have (anything|something) (on|planned) {x1=tomorrow/today/on {day1}/next {day1}}[?]|what (do I have|is planned|am I doing) {x1=tomorrow/today/on {day1}/next {day1}}[?])
> list_events date={x1} // The date is {x1}.
= [{"title": "{x2=Team meeting/Dentist/Yoga}", "time": "{clock1}"}, {"title": "{x3=Lunch/Call/Choir} with {name1}", "time": "{clock2}"}]
: {x2} at {clock1} and {x3} with {name1} at {clock2}. // Two events.
< ((and |)which (one |)is (earlier|first)[?]|what comes first[?])
: {x2}, at {clock1} // {clock1} is before {clock2}: {x2}.
< ((ok, |)add (a haircut|swimming|shopping) at {clock3} (that|the same) day|put shopping at {clock3} too)
> add_event title=shopping, date={x1}, time={clock3} // The same day: {x1}.
= {"id": {h1}}
: It is in the calendar: {x1} at {clock3}. // The event has an id.
@ list_files/ls/files.list(path! s) Lists the files of a folder ; read_file/cat/openFile(path! s) Reads a file ; write_file(path! s, content! s) Writes a file ; search_text/grep(query! s, path s) Searches words in files
< (what's in (the folder |){word1}/src[?]|list {word1}/src[ please]|show me what is in {word1}/src)
> list_files path={word1}/src // The folder is {word1}/src.
= ["{word2}.py", "{word3}.py", "notes.md"]
: {word2}.py, {word3}.py and notes.md // Three files.
< ((now |)(open|read|show me) {word3}.py|let me see {word3}.py|what does {word3}.py say[?])
> read_file path={word1}/src/{word3}.py // To open a file is read_file, not list_files again. It lies in {word1}/src.
= def {word3}(n):\n    return n + {n1}
: It has one function, {word3}(n), which returns n + {n1}. // One function.
< (who else uses {word3}[?] search for it|where is {word3} used[?]|find where {word3} stands)
> search_text query={word3}, path={word1}/src // Words in files: search_text. The word is {word3}.
= {word2}.py:{m1}: {word3}({n2})
: In {word2}.py, line {m1}. // One hit.
@ list_files/files.list/ls(path! s) Lists files ; read_file/files.read/cat(path! s) Reads a file ; delete_file/files.delete(path! s) Deletes a file
< ((show|list) the files in /home/{word1}|what files does /home/{word1} have[?])
> list_files path=/home/{word1} // The folder is /home/{word1}.
= {"files": [{"name": "{word2}.txt", "size": {h1}}, {"name": "letter.txt", "size": {k1}}]}
: {word2}.txt ({h1}) and letter.txt ({k1}). // Two files.
< (read the letter|open the letter|what does the letter say[?]|the letter, please)
> read_file path=/home/{word1}/letter.txt // The letter is letter.txt in /home/{word1}: read_file.
= Dear {name1}, the {x1=boat/piano/house} is sold. {name2}
: {name2} writes to {name1} that the {x1} is sold. // It is from {name2} to {name1}.
< ((ok |)(delete|remove|throw away) the other (one|file)|the other one can go)
> delete_file path=/home/{word1}/{word2}.txt // Not the letter: {word2}.txt.
= {"deleted": true}
: {word2}.txt is deleted. // It is deleted: true.
@ run_tests/tests.run/pytest(path s) Runs the tests ; read_file(path! s) Reads a file ; write_file(path! s, content! s) Writes a file
< (run the tests [please]|do the tests pass[?]|are (the|all) tests green[?])
> run_tests // No path is needed.
= collected {m2} items: {n1} ok, 1 failed\nFAILED tests/test_{word1}.py::test_{word2} - AssertionError: {m1} != {k1}
: {n1} tests passed and 1 failed: test_{word2} in tests/test_{word1}.py. // {n1} passed, 1 failed: test_{word2}.
< (open that (file|test)|show me the test[ file]|let me see (it|that file))
> read_file path=tests/test_{word1}.py // The file of the failed test: tests/test_{word1}.py.
= def test_{word2}():\n    assert {word1}() == {k1}
: test_{word2} expects that {word1}() is {k1}. // It compares {word1}() with {k1}.
< ((and |)what (was it|did it give|came out)[?]|what was the result instead[?])
: {m1} // The error says {m1} != {k1}: it was {m1}.
@ find_user/users.find/lookup_user(name! s) Finds an account ; delete_user(name! s) Deletes an account
< (does {fullname1} have an account[?]|is there an account for {fullname1}[?]|is {fullname1} registered[?])
> find_user name={fullname1} // The name is {fullname1}.
= {"found": true, "user": {"id": {h1}, "since": {year1}}}
: Yes, {fullname1} has an account, since {year1}. // found is true, since {year1}.
< (and {fullname2}[?]|what about {fullname2}[?])
> find_user name={fullname2} // The same for {fullname2}.
= {"found": false}
: No, {fullname2} has no account. // found is false.
@ check_room/rooms.free(room! s, date! s) Tells whether a room is free ; book_room/rooms.book(room! s, date! s) Books a room
< (is {room1} free (|on )({x1=tomorrow/tonight/next week})[?]|can I have {room1} {x1=tomorrow/tonight/next week}[?])
> check_room room={room1}, date={x1} // Ask first whether it is free.
= {"available": true, "until": "{clock1}"}
: Yes, {room1} is free {x1}, until {clock1}. // available is true.
< ((then |)(book it|take it|I want it)[ please]|great, book it)
> book_room room={room1}, date={x1} // It is {room1}, {x1}.
= {"error": "somebody was faster"}
: That did not work: somebody was faster. // The tool failed: somebody was faster.
@ get_weather/weather.now(city! s, unit celsius|fahrenheit) Current weather ; get_time(city! s) Tells the time
< ((what's|what is) the temperature in {city1}[?]|how (warm|hot|cold) is it in {city1}[?]|{city1}, how many degrees?)
> get_weather city={city1} // The city is {city1}; no unit is wanted.
= {"temp": {m1}, "unit": "celsius", "conditions": "{x1=sunny/cloudy/foggy/rainy}"}
: It is {m1} degrees and {x1} in {city1}. // {m1} degrees, {x1}.
< ((and |)in {city2}[?]|what about {city2}[?])
> get_weather city={city2} // The same for {city2}.
= {"temp": {n1}, "unit": "celsius", "conditions": "{x2=windy/snow/clear}"}
: It is {n1} degrees and {x2} in {city2}. // {n1} degrees, {x2}.
< ((so |)where is it warmer[?]|which one is warmer[?])
: In {city1} // {city1} {m1}; {city2} {n1}. The most: {m1}, {city1}.
@ get_weather/forecast(city! s, day s) Weather forecast ; set_reminder/remind(text! s, time! s) Sets a reminder
< ((will it|is it going to) rain in {city1} {x1=tomorrow/tonight/on {day1}/at the weekend}[?]|do I need an umbrella in {city1} {x1=tomorrow/tonight/on {day1}/at the weekend}[?])
> get_weather city={city1}, day={x1} // The day is {x1}.
= {"{city1}": {"{x1}": {"rain_mm": {n1}, "max": {m1}}}}
: Yes, {n1} mm of rain, at most {m1} degrees. // rain_mm is {n1}: rain.
< ((then |)remind me {x2=tomorrow morning/tonight/on {day2}/in an hour} to take (the|my) umbrella)
> set_reminder text=take the umbrella, time={x2} // The time is {x2}.
= {"set": true}
: I will remind you {x2}. // set is true.
@ set_reminder/reminders.add/remindMe(text! s, time! s) Sets a reminder ; list_events(date! s) Lists events
< (remind me {x1=tonight/tomorrow/on {day1}/in two hours/next week} to {x2=water the plants/call {name1}/pay the rent/take the bins out}|{x2=water the plants/call {name1}/pay the rent/take the bins out} {x1=tonight/tomorrow/on {day1}/in two hours/next week}, don't let me forget)
> set_reminder text={x2}, time={x1} // What: {x2}. When: {x1}.
= {"id": {h1}, "time": "{x1}"}
: I will remind you {x1}: {x2}. // It is set.
@ book_table/tables.reserve(restaurant! s, people! i, date! s, time s) Reserves a table ; find_restaurant(city! s, kind s) Finds restaurants
< (a table (for two|for the two of us) at {shop1} {x1=tonight/tomorrow/on {day1}}[ please]|{shop1}, {x1=tonight/tomorrow/on {day1}}, me and my wife|book {shop1} for my mother and me {x1=tonight/tomorrow/on {day1}})
> book_table restaurant={shop1}, people=2, date={x1} // Two people; no time was said and none is required.
= {"confirmed": true, "time": "{clock1}"}
: A table for two at {shop1} is reserved {x1} at {clock1}. // confirmed is true, at {clock1}.
@ add_to_list/list.add/shoppingList(items! a) Adds things to the shopping list ; show_list() Shows the shopping list
< (we're out of {food1}, {food2} and {food3}|put {food1}, {food2} and {food3} on the list|{food1}, {food2} and also {food3} for the shopping list|I used up the {food1}, the {food2} and the {food3})
> add_to_list items={food1}|{food2}|{food3} // One call, all three things: {food1}, {food2}, {food3}.
= ["{food4}", "{food1}", "{food2}", "{food3}"]
: The list: {food4}, {food1}, {food2}, {food3}. // Four things.
< (and {food5}[ too]|oh, and {food5}|{food5} as well)
> add_to_list items={food5} // One thing more.
= ["{food4}", "{food1}", "{food2}", "{food3}", "{food5}"]
: The list: {food4}, {food1}, {food2}, {food3}, {food5}. // Five things.
@ invite/send_invites/calendar.invite(people! a, date! s, title s) Invites people ; call_person(name! s) Calls somebody
< (invite {name1}, {name2} and {name3} (|for )({x1=tomorrow/on {day1}/next {day1}})|get {name1}, {name2} and {name3} together {x1=tomorrow/on {day1}/next {day1}})
> invite people={name1}|{name2}|{name3}, date={x1} // Three people: {name1}, {name2}, {name3}. One call.
= {"sent": 3, "declined": ["{name2}"]}
: Three invitations are sent; {name2} declined. // sent is 3, declined {name2}.
@ get_price/stocks.price(symbol! s) Price of a share ; buy_share(symbol! s, amount! i) Buys shares
< (how is {upper1=ABX/QRT/KLM/VNO} doing[?]|price of {upper1=ABX/QRT/KLM/VNO}[?])
> get_price symbol={upper1} // The symbol is {upper1}.
= {"quote": {"symbol": "{upper1}", "price": {k1}.{m1}, "change": "-{n1}%"}}
: {upper1} is at {k1}.{m1}, down {n1} %. // price {k1}.{m1}, change -{n1}%.
< (buy (a dozen|twelve)|(get|take) me a dozen[ of them])
> buy_share symbol={upper1}, amount=12 // A dozen is 12.
= Order rejected: the market is closed until {day1}.
: That did not work: the market is closed until {day1}. // The order was rejected.
@ order_pizza/pizza.order(kind! s, amount i, address s) Orders pizza ; order_drinks(drink! s, amount! i) Orders drinks
< (a pair of {x1=mushroom/tuna/spinach/salami} pizzas[ to {street1}]|two {x1=mushroom/tuna/spinach/salami} pizzas please|(I'm hungry[,.]|) a {x1=mushroom/tuna/spinach/salami} pizza for me and one for {name1}[, the same kind])
> order_pizza kind={x1}, amount=2 // Two pizzas of one kind: one call, amount 2.
= {"eta_minutes": {m1}}
: Two {x1} pizzas come in {m1} minutes. // eta_minutes is {m1}.
@ set_timer/timer.start(minutes! i, label s) Starts a timer ; set_alarm/alarm(time! s) Sets an alarm
< (an hour and a half for the {x1=roast/bread/laundry}|timer for the {x1=roast/bread/laundry}: one and a half hours)
> set_timer minutes=90, label={x1} // One and a half hours are 90 minutes.
= {"running": true}
: The timer for the {x1} runs for 90 minutes. // It is running.
< ((and |)another (one, |)a quarter of an hour for the {x2=eggs/tea/rice}|a second one, fifteen minutes, {x2=eggs/tea/rice})
> set_timer minutes=15, label={x2} // A quarter of an hour is 15 minutes.
= {"running": true, "timers": 2}
: Both timers run: {x1} and {x2}. // Two timers.
@ dim_lamp/lamp.dim/setBrightness(room! s, percent! i) Dims a lamp ; play_music(query! s) Plays music
< (the (lamp|light) in the {x1=hall/nursery/study/bath} at half[ strength]|half the light in the {x1=hall/nursery/study/bath}[ please]|{x1=hall/nursery/study/bath} lamp to fifty percent)
> dim_lamp room={x1}, percent=50 // Half is 50.
= {"ok": true}
: The lamp in the {x1} is at 50 percent. // It is ok.
< ((a bit |)(much |)brighter[,] three quarters|three quarters please)
> dim_lamp room={x1}, percent=75 // Three quarters are 75.
= {"ok": true}
: The lamp in the {x1} is at 75 percent. // It is ok.
< (all the way up|as bright as possible|full[ light|])
> dim_lamp room={x1}, percent=100 // Full is 100.
= {"ok": false, "reason": "bulb is broken"}
: That did not work: the bulb is broken. // ok is false: bulb is broken.
@ find_train/trains.search(origin! s, destination! s, date s, max_changes i) Finds trains ; book_seat(train! s) Books a seat
< (train from {city1} to {city2} {x1=tomorrow/on {day1}/tonight}, (no changes|without changing|direct only)|from {city1} to {city2} by rail {x1=tomorrow/on {day1}/tonight}, (direct[,]|) I don't want to change)
> find_train origin={city1}, destination={city2}, date={x1}, max_changes=0 // No changes is max_changes 0.
= {"trains": [{"id": "IC {m1}", "dep": "{clock1}", "price": {k1}}, {"id": "RE {m2}", "dep": "{clock2}", "price": {n1}}]}
: IC {m1} at {clock1} for {k1} and RE {m2} at {clock2} for {n1}. // Two trains.
< (a seat on the cheaper one|the cheaper one[,] please|book the cheaper one)
> book_seat train=RE {m2} // IC {m1} costs {k1}, RE {m2} costs {n1}: RE {m2}.
= ok
: A seat on RE {m2} is booked. // It is ok.
@ search_docs/docs.search(query! s) Searches the documentation ; open_page/docs.open(id! s) Opens a page
< ('{word1}' is misspelt somewhere in the docs, look it up|where in the docs is '{word1}'[?]|look for '{word1}' in the docs)
> search_docs query={word1} // The word is {word1}.
= {"hits": [{"id": "p{n1}", "title": "{x1=Setup/Backup/Login}"}, {"id": "p{m1}", "title": "{x2=Limits/Colours/Errors}"}]}
: On two pages: {x1} (p{n1}) and {x2} (p{m1}). // Two hits.
< (open the (second|last) one|show me {x2=Limits/Colours/Errors}|the second, please)
> open_page id=p{m1} // The second is p{m1}: open_page.
= {"status": 404, "message": "page is gone"}
: That did not work: the page is gone. // The tool failed: page is gone.
@ play_music/player.play(query! s) Plays a song or artist ; stop_music() Stops the music
< (play (some|something by|a bit of|) {fullname1}|put on {fullname1}[ please]|I'm in the mood for {fullname1})
> play_music query={fullname1} // The whole name: {fullname1}.
= {"now_playing": "{x1=Blue Door/Slow Train/Rain Again}", "artist": "{fullname1}"}
: {x1} by {fullname1} is playing. // now_playing is {x1}.
< (enough|stop it|that's enough[,] thanks|silence please)
> stop_music // Stop needs nothing.
= stopped
: The music is off. // It stopped.
@ translate_text/translate(text! s, language! s) Translates a text ; send_message(to! s, text! s) Sends a message
< (what is '{x1=the key is under the mat/where is the station/two coffees please}' in {language1}[?]|(say|how do I say) '{x1=the key is under the mat/where is the station/two coffees please}' in {language1})
> translate_text text={x1}, language={language1} // The text is: {x1}.
= {"text": "{word1} {word2} {word3}", "language": "{language1}"}
: In {language1}: {word1} {word2} {word3} // The text of the result.
@ get_balance/bank.balance(account s) Balance of an account ; transfer/bank.transfer(to! s, amount! n, reason s) Transfers money
< (how much (do I have|is on my account)[?]|what's my balance[?]|am I broke[?])
> get_balance // No account is named and none is required.
= {"balance": {"amount": {h1}.{m1}, "currency": "EUR"}}
: You have {h1}.{m1} EUR. // amount {h1}.{m1}, EUR.
< ((send|give) {name1} {k1} (of that|euros)[,] for the {x1=rent/cake/tickets}|{k1} to {name1}[, it's] for the {x1=rent/cake/tickets})
> transfer to={name1}, amount={k1}, reason={x1} // To {name1}, {k1}, for the {x1}.
= {"state": "pending", "needs": "code"}
: The transfer is pending: it needs a code. // state is pending, it needs a code.
@ get_logs/logs.tail(service! s, lines i) Shows the last lines of a log ; restart_service/service.restart(service! s) Restarts a service
< (why is {word1} (down|so slow|red)[?] look at (the|its) logs|(show|check) the logs of {word1})
> get_logs service={word1} // The service is {word1}.
= {clock1} INFO {word1} started\n{clock2} ERROR {x1=out of memory/disk is full/no connection to {word2}}\n{clock3} INFO {word1} stopped
: At {clock2} there was an error: {x1}. // The line with ERROR: {x1}.
< ((ok |)(restart it|give it a fresh start|kick it)[ please])
> restart_service service={word1} // It is {word1}.
= {"result": {"service": {"name": "{word1}", "running": true}}}
: {word1} is running again. // running is true.
< (when (did|had) it stop[?]|at what time did it stop[?])
: At {clock3} // The line with stopped: {clock3}.
@ find_parcel/parcels.track(number! s) Tells where a parcel is ; call_support() Calls the support
< (where('s| is) my (parcel|package)[?]|my parcel still isn't here)
: What is the number of the parcel? // find_parcel fits, but number is missing.
< ((I think it's|the label says|here:|it's|that would be) {code1})
> find_parcel number={code1} // The number is {code1}.
= {"events": [{"day": "{day1}", "place": "{city1}"}, {"day": "{day2}", "place": "{city2}"}], "delivered": false}
: It is not delivered yet; on {day2} it was in {city2}. // delivered is false, the last place is {city2}.
< (and before that[?]|where was it (on {day1}|before)[?])
: In {city1} // The event before: {day1}, {city1}.
@ query_db/sql.run(query! s) Runs a query ; list_tables/tables() Lists the tables
< (which tables (are there|do we have)[?]|show (me |)the tables)
> list_tables // It needs nothing.
= [["{word1}s", {h1}], ["{word2}s", {k1}]]
: {word1}s with {h1} rows and {word2}s with {k1} rows. // Two tables.
< (how many rows (has|are in) the larger one[?]|the larger one?)
: {h1} // {word1}s {h1}; {word2}s {k1}. The most: {h1}, {word1}s.
< (everything (in|from) {word2}s[ please]|select all of {word2}s)
> query_db query=SELECT * FROM {word2}s // All rows of {word2}s.
= ERROR: permission denied for table {word2}s
: That did not work: permission denied for table {word2}s. // The tool failed.
@ book_doctor/appointments.book(doctor! s, date! s, reason s) Books an appointment ; find_pharmacy(city! s) Finds a pharmacy
< (I need (an appointment|to see) (with |){mister1} {x1=tomorrow/on {day1}/next week}[,] my {x2=back/knee/ear} hurts|{x1=tomorrow/on {day1}/next week} at {mister1}'s because of my {x2=back/knee/ear})
> book_doctor doctor={mister1}, date={x1}, reason={x2} // With {mister1}, {x1}, because of the {x2}.
= {"booked": false, "next_free": "{day2} {clock1}"}
: {x1} nothing is free; the next free time is {day2} at {clock1}. // booked is false.
< ((then |)(that one|take that|fine, that one)|ok, take it)
> book_doctor doctor={mister1}, date={day2} {clock1}, reason={x2} // The next free time: {day2} {clock1}.
= {"booked": true}
: Your appointment with {mister1} is on {day2} at {clock1}. // booked is true.
@ note_add/notes.add(text! s) Saves a note ; notes_search/notes.find(query! s) Searches the notes
< ((note|write down|save): {x1=the spare key is at {name1}'s/the code of the shed is {code1}/the cat eats at six})
> note_add text={x1} // The note: {x1}.
= {"saved": true, "count": {m1}}
: It is noted. // saved is true.
< ((do I have|is there) (anything|a note) about {x2=boats/taxes/wine}[?]|find my notes about {x2=boats/taxes/wine})
> notes_search query={x2} // Search, not add. The word is {x2}.
= {"notes": []}
: There is no note about {x2}. // The list is empty.
@ convert/units.convert(value! n, from! s, to! s) Converts units ; get_rate(currency! s) Rate of a currency
< (how much is half a {x1=mile/pound/pint} in {x2=km/grams/litres}[?]|half a {x1=mile/pound/pint} in {x2=km/grams/litres})
> convert value=0.5, from={x1}, to={x2} // Half is 0.5.
= {"result": {n1}.{m1}}
: {n1}.{m1} {x2} // The result is {n1}.{m1}.
@ create_ticket/tickets.create(title! s, priority low|normal|high) Creates a ticket ; assign_ticket/tickets.assign(id! s, person! s) Gives a ticket to somebody
< ((open|make) a ticket: {x1=printer on floor two is dead/login page is blank/lamp in the lift flickers}(, it's urgent|, urgent!| - top priority))
> create_ticket title={x1}, priority=high // The title: {x1}. Urgent is high.
= {"ticket": {"id": "T-{h1}", "state": "open"}}
: The ticket T-{h1} is open. // The id is T-{h1}.
< ((give|assign) it to {name1}|{name1} should (do|take) (it|that)|that's one for {name1})
> assign_ticket id=T-{h1}, person={name1} // It is T-{h1}.
= {"error": {"code": {k1}, "message": "{name1} is on leave"}}
: That did not work: {name1} is on leave. // The tool failed: {name1} is on leave.
@ get_exchange/rate(from! s, to! s) Exchange rate ; add_expense/expenses.add(amount! n, category s, note s) Notes an expense
< ((I |)(spent|paid) {k1} (for|on) {x1=petrol/books/shoes}[, write that down| today]|{k1} euros went on {x1=petrol/books/shoes}, note that)
> add_expense amount={k1}, category={x1} // {k1} for {x1}.
= {"total_this_month": {h1}}
: Noted: {k1} for {x1}. This month you spent {h1}. // The total is {h1}.
@ open_ticket(title! s) Opens a support ticket ; restart_router/router.restart() Restarts the router
< (why are leaves green[?]|what makes leaves green[?])
: Because of chlorophyll, a green dye in the leaves. // No tool is needed. I know that: chlorophyll.
< (the internet is (dead|gone|so slow)[, can you do something][?]|no connection, do something)
> restart_router // The connection: restart the router.
= restarted after {m1} s
: The router was restarted, it took {m1} seconds. // It took {m1} s.
@ set_light(room! s, state! on|off) Switches a light ; start_timer(minutes! i) Starts a timer
< (why is the sea salty[?]|how come the sea is salty[?])
: Rivers carry salts from rocks into it. // A question, not an order: no tool is needed.
< (thanks, now (the {x1=hall/kitchen/attic} light off|switch off the {x1=hall/kitchen/attic})[ please])
> set_light room={x1}, state=off // Now an order.
= ok
: The light in the {x1} is off. // It is ok.
@ play_music/player.play(query! s) Plays music ; set_alarm(time! s) Sets an alarm
< (who wrote Hamlet[?]|Hamlet is by whom[?])
: William Shakespeare // A question, not an order: no tool is needed.
< (and wake me at {clock1} (tomorrow|please))
> set_alarm time={clock1} // To be woken is an alarm.
= {"alarm": "{clock1}"}
: The alarm is set to {clock1}. // It is set.
@ lock_door(door! s) Locks a door ; order_food(dish! s) Orders food
< (why is the sky blue[?]|what makes the sky blue[?])
: Air scatters blue light more than red light. // A question, not an order: no tool is needed.
@ translate_text(text! s, language! s) Translates ; get_stock(symbol! s) Price of a share
< (how many days has a week[?]|what's the capital of Italy[?] no, wait: how many days does a week have[?])
: 7 // No tool is needed.
@ send_email(to! s, subject! s, body! s) Sends an email ; read_calendar(day! s) Reads the calendar
< (I feel so low today|what a day... everything went wrong)
: I am sorry to hear that. I hope tomorrow is better. // The user feels bad and wants nothing done: a kind word.
< (thanks. what's (on|planned) tomorrow[?]|what do I have tomorrow[?])
> read_calendar day=tomorrow // The day is tomorrow.
= {"events": [], "day": "tomorrow"}
: Tomorrow nothing is planned. // The list is empty.
@ unlock_car/car.unlock() Unlocks the car ; heat_car/car.heat(degrees! i, minutes i) Heats the car
< (the (car windows|windscreen) (are|is) (frozen|iced over)[,] make it {m1} inside|warm the car up to {m1}[ degrees], it's icy)
> heat_car degrees={m1} // Ice: heat the car to {m1}.
= Battery too low ({n1} %). Heating needs at least 20 %.
: That did not work: the battery is too low ({n1} %). // The battery is too low.
@ count_words/text.count(text! s) Counts words ; upper_case/text.upper(text! s) Writes in capitals
< (how many words does '{x1=we sail at dawn/the owl sleeps all day/no bread today}' have[?]|count the words: {x1=we sail at dawn/the owl sleeps all day/no bread today})
> count_words text={x1} // The text: {x1}.
= {"words": {=len(x1.split())}, "letters": {=len(x1)}}
: {=len(x1.split())} words // words is {=len(x1.split())}.
@ get_route/maps.route(from! s, to! s, mode walk|bike|car) Finds a route ; find_parking(city! s) Finds parking
< (how do I get from {street1} to {street2}[?] (I go by bike|on my bike)|by bike from {street1} to {street2})
> get_route from={street1}, to={street2}, mode=bike // By bike.
= {"km": {n1}, "minutes": {m1}, "steps": ["left at the bank", "over the bridge", "second street right"]}
: It is {n1} km, {m1} minutes: left at the bank, over the bridge, second street right. // {n1} km, {m1} minutes, three steps.
< ((and |)on foot[?]|what if I walk[?])
> get_route from={street1}, to={street2}, mode=walk // The same, on foot: walk.
= {"km": {n1}, "minutes": {k1}}
: On foot it takes {k1} minutes. // {k1} minutes.
@ feed_pet/feeder.feed(pet! s, grams! i) Feeds a pet ; pet_camera/camera.pet(pet! s) Shows a pet
< ((what is|what's) {name1} up to[?]|show me {name1}, my {x1=cat/hamster/parrot})
> pet_camera pet={name1} // Seeing {name1}: the camera.
= {"image": "ok", "seen": "sleeping", "bowl": "empty"}
: {name1} is sleeping, and the bowl is empty. // seen: sleeping; bowl: empty.
< (then (feed {him}|give {him} something)[,] {k1} grams|fill it[,] {k1} grams)
> feed_pet pet={name1}, grams={k1} // {k1} grams for {name1}.
= {"fed": true}
: {name1} got {k1} grams. // fed is true.
@ find_contact/contacts.find(name! s) Looks up a contact ; call_phone/phone.call(number! s) Calls a number
< (what's {name1}'s number[?]|how do I reach {name1}[?]|find {name1} in my contacts)
> find_contact name={name1} // The name is {name1}.
= {"contact": {"name": "{name1} {fam1}", "phones": [{"type": "work", "number": "{phone1}"}, {"type": "home", "number": "{phone2}"}]}}
: {name1} {fam1}: {phone1} at work, {phone2} at home. // Two numbers.
< ((call|ring) (the one at |)home[ please]|the home number, call it|call {him} at home)
> call_phone number={phone2} // At home is {phone2}.
= busy
: {name1}'s number is busy. // It is busy.
@ search_products/shop.search(query! s, max_price n, color s) Searches products ; add_to_cart/cart.add(product_id! s, amount i) Puts a product into the cart
< (a {color1} {x1=kettle/scarf/lamp/rucksack} for (less than|under|at most) {k1}[ euros]|do you have a {x1=kettle/scarf/lamp/rucksack} in {color1}, not over {k1}[?])
> search_products query={x1}, max_price={k1}, color={color1} // The thing is {x1}, the colour {color1}, at most {k1}.
= {"total": 2, "items": [{"id": "{code1}", "price": {n1}}, {"id": "{code2}", "price": {m1}}]}
: There are two: {code1} for {n1} and {code2} for {m1}. // total is 2.
< (three of the first[ one]|I'll take three of the first|put the first in the cart, three times)
> add_to_cart product_id={code1}, amount=3 // The first is {code1}, three of it.
= {"cart": {"items": 3, "sum": {=3*n1}}}
: Three of {code1} are in the cart: {=3*n1} in all. // The sum is {=3*n1}.
@ get_build/ci.status(branch! s) Status of the build of a branch ; start_build/ci.start(branch! s) Starts a build
< (did {word1} (build|go through)[?]|how is the build of {word1}[?]|is {word1} green[?])
> get_build branch={word1} // The branch is {word1}.
= Build #{h1} of {word1}: FAILED after {m1} min\n- lint: ok\n- compile: ok\n- test: {n1} errors
: The build of {word1} failed after {m1} minutes: {n1} errors in test. // FAILED; lint and compile are ok, test has {n1} errors.
< ((did it compile|was compile ok)[?])
: Yes // compile: ok.
< ((try|run|start) it again[ please]|once more)
> start_build branch={word1} // Again {word1}: start it.
= {"queued": true, "position": {n2}}
: The build is queued at position {n2}. // queued is true.
@ list_users/users.list(role s) Lists users ; set_role/users.role(user! s, role! viewer|editor|admin) Changes the role of a user
< (who (is|are the) admin[s][?]|list the admins)
> list_users role=admin // The role is admin.
= {"users": ["{name1}", "{name2}"], "next": null}
: {name1} and {name2} // Two users.
< ({name1} should only (look|read)|let {name1} only look at things|take the rights from {name1}, reading is enough)
> set_role user={name1}, role=viewer // Only looking is viewer.
= {"updated": true}
: {name1} is a viewer now. // updated is true.
@ find_book/library.search(title! s, author s) Searches books ; reserve_book/library.reserve(id! s) Reserves a book
< (do you have {x1=The Long Road/Winter Bees/Salt and Sand/A Quiet Harbour}[?]|I'm looking for {x1=The Long Road/Winter Bees/Salt and Sand/A Quiet Harbour})
> find_book title={x1} // The title is {x1}.
= {"title": "{x1}", "copies": {"total": {n1}, "in": 0}, "back_on": "{date1}", "id": "{code1}"}
: All {n1} copies of {x1} are lent; one is back on {date1}. // in is 0, back_on is {date1}.
< ((ok, |)(reserve|keep) (it|one) for me|I'd like it then)
> reserve_book id={code1} // Its id is {code1}.
= {"reserved": true, "queue": {m1}}
: {x1} is reserved; you are number {m1}. // reserved is true, queue {m1}.
@ check_spelling/spell(text! s) Checks the spelling ; save_text/text.save(name! s, text! s) Saves a text
< (are there mistakes in '{x1=I recieve it tomorow/we wil be their/he go to school}'[?]|check: {x1=I recieve it tomorow/we wil be their/he go to school})
> check_spelling text={x1} // The text: {x1}.
= {"mistakes": {n1}, "ok": false}
: Yes, {n1} mistakes. // ok is false, mistakes {n1}.
@ turn_off_all/home.off() Switches everything off ; set_scene/scene(name! movie|sleep|away) Sets a scene
< (we('re| are) (off|leaving) for a week|nobody will be here (until|before) {day1})
> set_scene name=away // Nobody at home is away.
= {"scene": "away", "warnings": ["{x1=kitchen window/back door/balcony door} is open"]}
: The scene away is set, but the {x1} is open. // There is a warning: {x1} is open.
@ log_weight/health.weight(kilos! n) Notes a weight ; log_sleep/health.sleep(hours! n) Notes hours of sleep
< ((slept|I slept) {n1} and a half hours|only {n1} and a half hours of sleep)
> log_sleep hours={n1}.5 // {n1} and a half is {n1}.5.
= {"average": {n2}.2, "goal": 8}
: Noted: {n1}.5 hours. Your average is {n2}.2. // average is {n2}.2.
@ find_plumber/services.find(job! s, city! s) Finds a craftsman ; book_service/services.book(id! s, date! s) Books a craftsman
< ((the tap|my sink) (drips|is blocked)[ again], I live in {city1}|water (everywhere|all over) under my sink in {city1})
> find_plumber job=plumber, city={city1} // Water: a plumber, in {city1}.
= [{"id": "{code1}", "name": "{company1}", "stars": {n1}}, {"id": "{code2}", "name": "{company2}", "stars": {n2}}]
: {company1} with {n1} stars and {company2} with {n2} stars. // Two firms.
< ((the second|the last)[ one], {x1=tomorrow/on {day1}/tonight}|{company2} {x1=tomorrow/on {day1}/tonight} please)
> book_service id={code2}, date={x1} // {company2} is {code2}.
= {"ok": true, "from": "{clock1}", "to": "{clock2}"}
: {company2} comes {x1} between {clock1} and {clock2}. // ok is true, from {clock1} to {clock2}.
@ disk_usage/df(host! s) Disk usage of a host ; clean_disk/disk.clean(host! s) Cleans up a disk
< (how full is {word1}[?]|disk space on {word1}[?])
> disk_usage host={word1} // The host is {word1}.
= Filesystem Size Used Avail Use%\n/dev/sda1 {h1}G {k1}G {m1}G {k2}%
: {word1} is {k2} % full, {m1}G are free. // Use {k2}%, Avail {m1}G.
< ((clean|tidy) (it|that) up[ please]|make some room)
> clean_disk host={word1} // It is {word1}.
= freed {n1}G
: {n1}G are free again. // freed {n1}G.
@ vote/poll.vote(option! s) Votes in a poll ; poll_result/poll.get() Result of the poll
< ((my vote is|I vote) for {x1=blue/pasta/the sea}|put me down for {x1=blue/pasta/the sea})
> vote option={x1} // The vote: {x1}.
= counted
: Your vote for {x1} is counted. // It is counted.
< ((so |)how does it (stand|look)[?]|who is ahead[?])
> poll_result // Nothing is needed.
= {"{x1}": {n1}, "{x2=soup/red/the city}": {m1}}
: {x2} is ahead with {m1} to {n1}. // {x1} {n1}; {x2} {m1}. The most: {m1}, {x2}.
@ list_files/ls(path! s) Lists the files of a folder ; read_file/cat(path! s) Reads a file ; run_command/shell(command! s) Runs a command
< (there is a config (somewhere |)in {word1}. (which|what) port does it (set|use)[?]|find the config in {word1} and tell me the port)
> list_files path={word1} // First look what is in {word1}.
= ["{word2}.log", "config.yaml", "run.sh"]
> read_file path={word1}/config.yaml // The config is config.yaml: read it.
= host: {word3}.local\nport: {h1}{n1}\ndebug: false
: The port is {h1}{n1}. // The line port: {h1}{n1}.
< ((and |)is debug on[?]|debug mode?)
: No, debug is false. // The line debug: false.
@ search_text/grep(query! s, path s) Searches a word in files ; read_file/cat(path! s) Reads a file ; edit_file/replace(path! s, old! s, new! s) Replaces text in a file
< ((rename|change) {word1} to {word2} (where it is defined|in the file that defines it)|find where {word1} is defined and call it {word2})
> search_text query={word1} // First find where {word1} stands.
= src/{word3}.py:{n1}: def {word1}(x):
> edit_file path=src/{word3}.py, old={word1}, new={word2} // It stands in src/{word3}.py: replace it there.
= {"replaced": 1}
: {word1} is {word2} now, in src/{word3}.py. // replaced is 1.
@ run_tests/pytest(path s) Runs tests ; read_file/cat(path! s) Reads a file ; write_file(path! s, content! s) Writes a file
< (the tests fail. why[?]|run the tests and find out what is wrong|something is broken, check the tests)
> run_tests // First run the tests.
= ===== 1 failed, {m1} passed in {n1}.2s =====\nFAILED tests/test_{word1}.py::test_{word2} - NameError: name '{word3}' is not defined
> read_file path=tests/test_{word1}.py // test_{word2} fails in tests/test_{word1}.py: read it.
= from src import {word1}\n\ndef test_{word2}():\n    assert {word3}(2) == 4
: test_{word2} uses {word3}, but only {word1} is imported. // {word3} is not defined; the import names only {word1}.
@ find_contact/contacts.find(name! s) Looks up a contact ; send_email/mail.send(to! s, subject! s, body! s) Sends an email ; list_events(date! s) Lists events
< ((mail|write to) {name1}, subject {x1=Boat/Rent/Party}: {x2=I am late/we agree/please call back}. (the address is in my contacts|look up the address)|send {name1} a mail about {x1=Boat/Rent/Party} saying {x2=I am late/we agree/please call back}. (you have|look up) the address)
> find_contact name={name1} // First the address of {name1}.
= {"name": "{name1} {fam1}", "email": "{email1}", "city": "{city1}"}
> send_email to={email1}, subject={x1}, body={x2} // The address is {email1}.
= {"sent": true}
: The mail to {name1} is sent. // sent is true.
@ get_location/where_am_i() Tells where the user is ; get_weather/weather(city! s) Current weather ; find_shop(kind! s, city! s) Finds shops
< (do I need an umbrella (here|now)[?]|what's the weather like (here|where I am)[?])
> get_location // "Here" is not known yet: the location first.
= {"city": "{city1}", "street": "{street1}"}
> get_weather city={city1} // The user is in {city1}.
= {"sky": "{x1=rain/sun/fog/snow}", "degrees": {n1}}
: In {city1}: {x1}, {n1} degrees. // {x1}, {n1} degrees.
< (is there a {x2=bakery/chemist/bank} (near here|around)[?]|and where is a {x2=bakery/chemist/bank}[?])
> find_shop kind={x2}, city={city1} // Still in {city1}.
= []
: No {x2} was found in {city1}. // The list is empty.
@ search_orders/orders.search(customer! s) Finds the orders of a customer ; refund/orders.refund(order! s, amount n) Pays an order back ; send_message(to! s, text! s) Sends a message
< ({fullname1} wants (the|her|his) money back for the last order|refund the last order of {fullname1})
> search_orders customer={fullname1} // First the orders of {fullname1}.
= [{"id": "{code1}", "date": "{year1}-03-02", "total": {m1}}, {"id": "{code2}", "date": "{year1}-08-19", "total": {k1}}]
> refund order={code2} // The last one is {code2}, of August.
= {"refunded": {k1}}
: {k1} were paid back for the order {code2}. // refunded is {k1}.
@ list_branches/git.branches() Lists branches ; delete_branch/git.delete(branch! s) Deletes a branch ; merge_branch/git.merge(branch! s) Merges a branch
< (delete the oldest branch|get rid of the oldest branch|the oldest branch can go)
> list_branches // First which branches there are.
= {word1} {m1} days\n{word2} {k1} days\n{word3} {n1} days
> delete_branch branch={word2} // {word1} {m1}; {word2} {k1}; {word3} {n1}. The oldest: {word2}.
= deleted {word2}
: {word2} is deleted; it was {k1} days old. // deleted {word2}.
@ list_rooms/rooms.list(date! s) Lists free rooms ; book_room/rooms.book(room! s, date! s) Books a room
< (book the largest room (for |){x1=tomorrow/on {day1}/next {day1}}|the largest free room {x1=tomorrow/on {day1}/next {day1}}, please)
> list_rooms date={x1} // First which rooms are free {x1}.
= [{"room": "{x2=Oak/North/Blue}", "seats": {n1}}, {"room": "{x3=Elm/South/Red}", "seats": {k1}}, {"room": "{x4=Fir/East/Grey}", "seats": {m1}}]
> book_room room={x3}, date={x1} // {x2} {n1}; {x3} {k1}; {x4} {m1}. The most seats: {x3}.
= {"booked": true}
: {x3} with {k1} seats is booked {x1}. // booked is true.
@ get_stock/stock(product! s) Tells how many are in stock ; order_goods/order(product! s, amount! i) Orders goods ; ask_boss(question! s) Asks the boss
< (if we have fewer than {k1} {things1}, order {m1}[ more]|are there still {k1} {things1}? if not, order {m1})
> get_stock product={things1} // First how many there are.
= {"product": "{things1}", "count": {n1}}
> order_goods product={things1}, amount={m1} // {n1} is fewer than {k1}: order {m1}.
= {"ordered": {m1}}
: There were only {n1}, so {m1} {things1} are ordered. // {n1} in stock, ordered {m1}.
@ get_stock/stock(product! s) Tells how many are in stock ; order_goods/order(product! s, amount! i) Orders goods
< (if we have fewer than {m1} {things1}, order {n1}[ more]|are there still {m1} {things1}? if not, order {n1})
> get_stock product={things1} // First how many there are.
= {"product": "{things1}", "count": {k1}}
: There are {k1} {things1}, so nothing has to be ordered. // {k1} is not fewer than {m1}: no order.
@ check_calendar/calendar.free(day! s) Tells whether a day is free ; add_event/calendar.add(title! s, day! s) Adds an event
< ((if|when) {day1} is free, (put|enter) (the|a) {x1=haircut/dinner/inspection} (there|in)|{x1=haircut/dinner/inspection} on {day1}, but only if I'm free)
> check_calendar day={day1} // First whether {day1} is free.
= {"free": false, "events": ["{x2=choir/court/a trip}"]}
: {day1} is not free: {x2}. I added nothing. // free is false: no event.
@ check_calendar/calendar.free(day! s) Tells whether a day is free ; add_event/calendar.add(title! s, day! s) Adds an event
< ((if|when) {day1} is free, (put|enter) (the|a) {x1=haircut/dinner/inspection} (there|in)|{x1=haircut/dinner/inspection} on {day1}, but only if I'm free)
> check_calendar day={day1} // First whether {day1} is free.
= {"free": true, "events": []}
> add_event title={x1}, day={day1} // free is true: add it.
= {"id": {h1}}
: {day1} was free; the {x1} is entered. // It has an id.
@ search_web/web.search(query! s) Searches the web ; open_page/web.open(url! s) Opens a page
< (how (high|old) is the {x1=tower/bridge/castle} of {city1}[?] look it up|look up how (high|old) the {x1=tower/bridge/castle} of {city1} is)
> search_web query={x1} of {city1} // To be looked up: search.
= [{"title": "The {x1} of {city1}", "url": "https://{word1}.org/{x1}"}]
> open_page url=https://{word1}.org/{x1} // The first hit fits: open it.
= The {x1} of {city1} is {k1} metres high and {h1} years old.
: It is {k1} metres high and {h1} years old. // The page says both.
@ take_photo/camera.photo(room! s) Takes a photo of a room ; turn_off(device! s) Switches a device off
< (did I leave the {x1=iron/stove/oven} on[?] if so, off with it|check the {x1=iron/stove/oven} and switch it off if it is on)
> take_photo room=kitchen // First see whether it is on.
= {"room": "kitchen", "seen": ["{x1} on", "window closed"]}
> turn_off device={x1} // The {x1} is on: off.
= {"device": "{x1}", "state": "off"}
: The {x1} was on; it is off now. // The state is off.
"""
