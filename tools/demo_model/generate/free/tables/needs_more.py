"""More everyday tools, in the form of needs_data.TOOLS."""

# Those of which both could be meant by one request, beside needs.SIMILAR.
SIMILAR = [{"search_products", "check_stock", "add_to_cart", "add_to_list", "shopping_list_add", "search_web", "order_food"}, {"book_appointment", "create_event", "book_room", "plan_meeting", "list_events"}, {"get_departures", "find_trains", "get_directions"}, {"convert_units", "convert_currency", "calculator"}, {"get_synonyms", "define_word", "translate"},
           {"fetch_url", "search_web", "get_news"}, {"post_message", "send_message", "send_email"}, {"create_issue", "create_ticket", "create_note", "add_todo", "add_to_list"}, {"run_command", "find_files", "create_branch", "install_package", "kill_process", "resize_image", "git_commit", "open_app", "restart_service"}, {"check_in", "find_flights"},
           {"get_score", "search_web", "get_news"}, {"set_oven", "set_thermostat"}, {"set_brightness", "light_control"}, {"update_address", "get_user"}, {"sunrise_sunset", "get_weather", "get_time", "search_web"}, {"find_parking", "find_places", "get_directions"}, {"search_flat", "find_hotel", "find_places", "search_web"}, {"log_weight", "log_meal", "create_note"},
           {"open_app", "play_music", "read_file"}, {"apply_coupon", "order_status", "return_item"}, {"set_oven", "set_timer", "find_recipe"}, {"start_washing", "vacuum"}, {"generate_password", "create_note"}, {"search_products", "find_recipe"}]
TOOLS = """
@search_products, product_search, find_product, shop_search, searchProducts | Search the shop for products ; Finds articles by name and price ; Product search
g! | query product name keywords | product | What to look for ; Product name | product
n | max_price price_limit budget limit | int:5:900 | Highest price in euros ; Price limit | highest price
= (show|find) me a {g} [(under|below|for at most) {n} (euros|dollars)] ; (I'm|I am) looking for a {g}[, (it must not cost more than|not over|max) {n}] ; do you sell {g}s [(under|for less than) {n}]? ; (search|browse) for {g} ; I need a new {g}, (not more than|up to) {n} euros ; what {g}s (do you have|are there) [below {n}]? ; got any {g}s? ; any {g} (cheaper than|for) {n}?
= (search|find|show me) (a product|something) ; I want to buy something ; search the shop, please ; find something [(under|below) {n} euros]
> count int:1:40, name product | I found {count}, for example {name}.
@add_to_cart, cart_add, put_in_cart, basket_add, addToCart | Put a product into the shopping cart ; Adds an article to the basket
g! | product item article product_name | product | The product ; What to put in | product
n! | quantity amount count number | int:1:12 | How many ; Quantity | quantity
= (put|add|place) {n} {g}s (in|into|to) (my|the) (cart|basket) ; I('ll take|'d like|want) {n} of the {g}[s] ; {n} times {g} (in the basket|please) ; (throw|drop) {n} {g}s in the (cart|basket) ; cart: {n} x {g} ; (order|get) me {n} {g}s ; (make it|let me have) {n} {g}s
= (put|add) (a|the) {g} (in|into|to) (my|the) (cart|basket) ; add (something|it) to (my|the) cart ; I'd like the {g}, put it in the basket ; {n} pieces into the cart, please
> items int:1:30 | Your cart has {items} items now.
@book_appointment, make_appointment, doctor_appointment, appointment, schedule_visit | Book an appointment with a doctor or a shop ; Makes an appointment
k! | with who practice doctor | any:dentist|eye doctor|dermatologist|hairdresser|vet|family doctor|physiotherapist|garage|lawyer|tax adviser | Whom to see ; Doctor or shop | kind of appointment
d! | date day on | date | YYYY-MM-DD ; Which day | date
t | time at hour | clock | HH:MM ; Time | time
= (book|get|make) me an appointment (with|at) the {k} (on|for) {d} [at {t}] ; I need to see the {k} on {d} [at {t}] ; (can|could) I (see|visit) the {k} on {d}[ at {t}]? ; {k}, {d}[, {t}], please arrange it ; my tooth hurts, {k} on {d}[ at {t}] ; (schedule|arrange) a visit to the {k} on {d} [at {t}] ; is the {k} free on {d}[ at {t}]? book it ; get me in at the {k} on {d}
= (book|make|I need) an appointment [with the {k}] ; I (have to|should|want to) see (the {k}|a doctor) ; (get|find) me a slot at the {k} ; (can|could) you book something for {d}?
> confirmation code | The appointment with the {k} is booked: {confirmation}.
@get_departures, departures, next_bus, bus_times, timetable, nextDepartures | Next departures from a stop ; When the next bus or tram leaves
c! | stop station from_stop name | place | Name of the stop ; The station | stop
n | line route number | int:1:99 | Line number | line
= when (is|does) the next (bus|tram|train) (from|at|leave from) {c}[?] ; (next|coming) (bus|tram) from {c}[?] ; I'm (standing|waiting) at {c}, when does (a bus|line {n}|the {n}) come? ; departures {c} ; did I miss the (bus|tram|{n}) at {c}? ; how long until (the|a) (bus|tram) leaves {c}? ; (what|which) (buses|trams) leave {c} [soon]?
= when is the next (bus|tram|train)[?] ; did I miss the bus? ; (show|tell) me the departures ; when does line {n} (come|leave)?
> line int:1:99, minutes int:1:40 | Line {line} leaves in {minutes} minutes.
@set_brightness, brightness, dim_light, screen_brightness, setBrightness | Sets the brightness in percent ; Brightness of the screen from 0 to 100
n! | level percent value brightness | int:0:100 | 0 to 100 ; Percent | brightness in percent
= (set|put|turn) the (brightness|screen) (to|at) {n} [percent|%] ; (dim|brighten) (it|the screen|the display) to {n} [percent] ; my eyes hurt, {n} percent [brightness] ; I can hardly see (it|the screen), make it {n} percent ; brightness {n}[, please] ; screen at {n}
= (change|adjust) the brightness ; (make|turn) the screen (brighter|darker) ; it's too (bright|dark) [on the screen] ; dim the screen
> level int:0:100 | The brightness is {level} percent.
@open_app, launch_app, start_app, open_program, run_app, openApp | Opens an app ; Start a program by its name
a! | app name program application | any:the camera|the calculator|Spotify|the browser|the notes app|Maps|Netflix|the calendar|the settings|Photoshop|the terminal|a text editor|YouTube|the mail app | Name of the app ; Which program | app
= (open|start|launch|run|bring up|fire up) {a}[, please] ; I (want to|need to) use {a} ; (can|could) you (open|start) {a}[ for me]? ; {a}, please ; switch to {a} ; get {a} going
= (open|start|launch) (an app|a program|something) ; (can|could) you open (it|an app)? ; I need an app
> ok done | It is open.
@convert_units, unit_converter, convert, units, unit_conversion | Converts between units ; Convert a measure into another unit
n! | value amount number quantity | amount | The number ; How much | number
f! | from_unit from source_unit | any:miles|kilometers|feet|pounds|kilograms|gallons|liters|inches|acres|ounces|yards | Unit of the value | unit to convert from
t! | to_unit to target_unit into | any:meters|centimeters|grams|stones|cups|millimeters|hectares|tons|nautical miles|pints | Unit wanted | unit to convert to
= (how many|how much) {t} (are|is|make) {n} {f}[?] ; (convert|change|turn) {n} {f} (to|into|in) {t} ; {n} {f} in {t}[?] ; (what is|what's) {n} {f} in {t}[?] ; express {n} {f} in {t} ; I have {n} {f}, how many {t} is that?
= convert {n} {f}[, please] ; convert (something|units) [for me] ; how (much|many) is {n} {f}? ; I need to convert {n} to {t}
> result amount | That is {result} {t}.
@get_synonyms, synonyms, thesaurus, similar_words, find_synonyms | Words with a similar meaning ; Looks up synonyms
v! | word term w | word | The word | word
= (give me|find|list|show) synonyms (of|for) {v} ; (what is|what's) another word for {v}[?] ; (other|more) words (for|like|instead of) {v}[?] ; I keep writing {v}, what else can I say? ; {v}: synonyms? ; how else can I say {v}?
= (find|give me|I need) (a synonym|synonyms|another word) ; what else could I say instead?
> synonym word | Another word is {synonym}.
@generate_password, make_password, new_password, password_generator, create_password | Creates a random password ; Password of a wanted length
n! | length size characters chars | int:8:40 | Number of characters ; Length | length
= (make|create|generate|give me) a password (with|of) {n} (characters|letters|signs) ; I need a (new|safe|strong|random) password, {n} (characters|long) ; password, {n} chars[, please] ; (think of|come up with) a {n} character password ; {n} random characters for my login
= (make|create|generate|I need|give me) a [new|strong] password ; my password is too weak, make a new one
> password hex | Your new password: {password}
@check_in, flight_checkin, online_checkin, checkin, checkIn | Check in for a flight ; Online check-in by booking code
i! | booking_code code reference booking | code | Booking code ; Reference | booking code
s | seat seat_preference | of:window|aisle|middle | Wanted seat | seat
= (check me in|check in) (for|with) [booking] {i} [, {s} seat] ; I want to check in, my (code|reference) is {i}[, {s} please] ; do the check-in for {i}[, I like the {s}] ; booking {i}: check in[, {s}] ; we fly tomorrow, reference {i}, check us in ; get me a {s} seat, booking {i}
= check me in[, please] ; I want to check in [for my flight] ; (can|could) you do the check-in? ; I'd like a {s} seat
> gate int:1:60 | You are checked in. The gate is {gate}.
@get_score, match_result, sports_score, live_score, game_result | Result of a team's last match ; Score of a game
c! | team club name | any:Barcelona|Liverpool|the Lakers|Bayern|the Bulls|Ajax|Real Madrid|the Yankees|Juventus|Chelsea|the Bruins|Celtic | Name of the team | team
= (how did|did) {c} (play|do|win)[?] ; (what is|what's) the score of {c}[?] ; (result|score) of {c}[?] ; who won, {c} or the others? ; has {c} won? ; I missed the (match|game) of {c}, how was it? ; {c} score please
= (what is|what's) the score[?] ; who won [the (game|match)][?] ; how did my team play? ; how did the game end?
> score any:3:1|2:2|0:1|4:0|1:1|2:3 | {c}: {score}.
@water_garden, sprinkler, irrigation, start_watering, waterPlants | Waters a part of the garden ; Starts the sprinkler
r! | zone area where part | any:lawn|roses|greenhouse|front garden|vegetable bed|hedge|flower bed|balcony | Which part ; Zone | part of the garden
n! | minutes duration | minutes | How long, in minutes | number of minutes
= water the {r} for {n} ; (the|my) {r} (is|looks) dry, give it {n} [of water] ; (start|run) the sprinkler (on|in) the {r} for {n} ; {n} of water for the {r} ; sprinkle the {r}, {n} ; let it rain on the {r} for {n}
= water the (garden|{r}|plants) ; the {r} (is|looks) (dry|thirsty) ; (start|turn on) the sprinkler ; everything is dry outside
> ok done | The {r} gets water for {n} minutes.
@set_oven, oven, preheat, oven_control, heat_oven | Heats the oven ; Sets temperature and time of the oven
n! | temperature degrees celsius | int:140:250 | Degrees Celsius | temperature
m | minutes time duration | minutes | Minutes | minutes
= (preheat|heat|set|turn) the oven (to|at) {n} [degrees] [for {m}] ; oven (at|to|on) {n} [degrees][, {m}] ; the (cake|bread|pizza) needs {n} degrees [for {m}] ; I want to bake at {n} [degrees] [for {m}] ; (get|warm) the oven up to {n}
= (preheat|heat|turn on|start) the oven ; I want to bake something ; oven on[, please] ; the oven is cold
> ok done | The oven heats to {n} degrees.
@start_washing, washing_machine, laundry, wash, startWash | Starts the washing machine ; Runs a washing program
s! | program mode cycle | of:cotton|wool|quick|delicate|eco | Washing program | program
n | temperature degrees | int:20:90 | Degrees | temperature
= (start|run) the (washing machine|laundry|washer) (with|on) [the program] {s} [at {n} [degrees]] ; wash (it|my clothes|the laundry) on {s} [, {n} degrees] ; {s} wash[, {n} degrees], please ; (my|the) (shirts|sweaters) are in, {s}, go ; do a {s} cycle ; I need clean clothes, use {s}
= (start|run) the washing machine ; wash my (clothes|shirts) ; do the laundry ; (the|my) clothes are dirty
> minutes int:15:180 | It runs for {minutes} minutes.
@post_message, slack_message, channel_message, post_to_channel, send_to_channel | Posts a message in a channel of the team chat ; Writes into a channel
c! | channel room to | any:general|random|support|marketing|dev|sales|announcements|ops|design | Channel | channel
m! | text message content body | message | The text ; What to post | message
= (post|write|put|send) "{m}" (in|to|into) [the] [channel] {c} ; tell (everyone|the people|the folks) in {c}: {m} ; (let|inform) the {c} channel know: {m} ; {c} should know[:|,] {m} ; announce in {c}: {m} ; drop a line in {c}: {m}
= (post|write) something in {c} ; (post|send) "{m}" [in the chat] ; I want to post a message ; tell the team [that] {M}
> status of:posted|sent | Your message in {c} was {status}.
@create_issue, open_issue, new_issue, file_bug, github_issue, createIssue | Opens an issue in the repository ; Files a bug or a wish
s! | title summary name | problem | Title ; What is wrong | title
l | label type kind | of:bug|feature|docs|question | Kind of issue | label
= (open|file|create|make) an issue[:| that says] "{s}" [(with the label|labelled|label) {l}] ; (report|note) a bug: {s} ; (new|another) issue: {s} [({l})] ; {s}, (please file it|open an issue)[ as {l}] ; put "{s}" in the tracker [as {l}] ; (someone|we) must look at this: {s}. (Create an issue|File it).
= (open|file|create) an issue[, please] ; I found a bug ; (report|file) a {l} ; I want to report something
> number int:1:9000 | It is issue {number}.
@create_branch, git_branch, new_branch, branch, checkout_branch | Makes a new git branch ; Creates and checks out a branch
s! | name branch branch_name | symbolname | Name of the branch | name of the branch
= (create|make|start|open) a [new] branch [called|named] {s} ; (branch off|make a branch) as {s} ; new branch {s}[, please] ; I want to work on a branch named {s} ; git branch {s} ; switch to a fresh branch {s}
= (create|make|start) a [new] branch ; I need a new branch ; branch off[, please]
> status of:created|checked out | The branch {s} is {status}.
@install_package, pip_install, add_dependency, install, npm_install | Installs a package ; Add a dependency
s! | package name module library | any:numpy|requests|pandas|flask|django|react|lodash|pytest|scipy|express|black|typescript | Name of the package | package
= (install|add|get) [the package|the library] {s} ; (I|we|the script) need[s] {s}[, (install|get) it] ; {s} is missing[, install it] ; import {s} fails, install it ; (pip|npm) install {s} ; put {s} on this machine
= install (a package|something|it) ; (a|the) module is missing ; add a dependency ; I need a library
> version any:1.2.0|2.31.0|0.9.4|4.17.21|3.1.1 | {s} {version} is installed.
@fetch_url, http_get, get_url, download_page, open_url, read_webpage | Fetches a web page ; Gets the content of a URL
u! | url link address page | url | Address of the page ; The URL | address
= (open|fetch|get|read|load) {u} ; what (is on|does|stands on) {u}[?] ; (have a look|look) at {u} ; (summarize|check) the page {u} ; (is|does) {u} (up|work|online)[?] ; {u} - what is this about? ; go to {u}
= (open|fetch|read) (a|the|this) (page|website|link) ; (can|could) you read a web page for me? ; check a website
> title music | The page is called {title}.
@resize_image, scale_image, image_resize, resizeImage, shrink_image | Resizes an image file ; Changes the width of an image
f! | path file image filename | any:photo.jpg|cat.png|logo.png|holiday.jpeg|banner.webp|images/me.jpg|scan.tiff|avatar.png | The image ; File | file
n! | width pixels size | int:16:4000 | New width in pixels | width in pixels
= (resize|scale|shrink|make) {f} to {n} (pixels|px) [wide] ; {f} (is too big|must be smaller), {n} pixels (wide|please) ; I need {f} (with a width of|at) {n} [pixels] ; change the width of {f} to {n} ; {f} -> {n}px ; bring {f} to a width of {n}
= (resize|shrink|scale) {f}[, please] ; (resize|shrink) an image [to {n} pixels] ; the picture is too (big|large) ; make the image smaller
> status of:resized|done | {f} is {n} pixels wide now.
@kill_process, stop_process, end_process, kill, terminate_process | Ends a process by its id ; Stops a process
n! | pid process_id id process | int:100:30000 | Process id | process id
= (kill|stop|end|terminate) [the] process {n} ; (process|pid) {n} (hangs|eats all memory|must go)[, (kill|stop) it] ; get rid of (process|pid) {n} ; {n} is stuck, kill it ; shoot down pid {n}
= (kill|stop|end) (a|the) process ; (a process|something) hangs, (stop|kill) it ; my computer is slow, end the process
> status of:killed|stopped | Process {n} was {status}.
@apply_coupon, redeem_code, use_voucher, discount_code, applyCoupon | Applies a discount code to the order ; Redeems a voucher
i! | code coupon voucher coupon_code | code | The code | code
= (use|apply|redeem|take) (the|my) (code|coupon|voucher) {i} ; I have a (voucher|coupon|discount code): {i} ; {i} should give me a discount ; my (coupon|voucher) is {i} ; get me the discount with {i} ; voucher {i}[, please]
= I have a (voucher|coupon|discount code) ; (use|apply|redeem) my (coupon|voucher) ; can I get a discount?
> discount int:5:50 | You get {discount} percent off.
@update_address, change_address, set_address, move_customer, updateAddress | Changes the delivery address of a customer ; Stores a new address
i! | customer_id customer account id | code | Customer id | customer id
a! | address street new_address | street | New street and number | new address
= customer {i} (moved|moves) to {a} ; (change|update|set) the address of [customer] {i} to {a} ; {i} lives at {a} now ; new address for {i}: {a} ; please send everything for {i} to {a} ; {a} is the new address of customer {i}
= (change|update) (my|the) address ; (I|we) (moved|have moved)[, (update|change) the address] ; customer {i} moved ; (my|the) new address is {a}
> status of:updated|changed | The address was {status}.
@sunrise_sunset, sun_times, sunrise, get_sun_times, daylight | When the sun rises and sets ; Sun times of a city
c! | city place location | city | City | city
d | date day when | day | Which day | day
= when does the sun (rise|set|go down|come up) in {c} [{d}][?] ; (sunrise|sunset) in {c} [{d}][?] ; (how long|until when) is it light in {c} [{d}]? ; when (does it get|is it) dark in {c} [{d}][?] ; I want to see the sunrise in {c}, when do I get up?
= when does the sun (rise|set) [{d}][?] ; when (does it get|is it) dark [{d}][?] ; (sunrise|sunset)? ; how long is it light [{d}]?
> sunrise any:5:41|6:12|7:03|4:55, sunset any:20:10|18:44|21:02|17:30 | The sun rises at {sunrise} and sets at {sunset}.
@find_parking, parking, park, nearest_parking, parking_spots | Finds free parking spaces ; Where to park
c! | location place near where | place | Where to park ; Place | place
= where can I park (near|at|around) {c}[?] ; (find|I need) (parking|a parking space|a spot) (near|at) {c} ; (is there|any) parking (near|at) {c}[?] ; I'm driving to {c}, where do I leave the car? ; free spots at {c}? ; park near {c}
= where can I park[?] ; (find|I need) (a parking space|parking) ; is there parking? ; I can't find a spot
> free int:1:300, name restaurant | There are {free} free spaces at {name}.
@book_room, reserve_room, meeting_room, room_booking, bookMeetingRoom | Books a meeting room ; Reserves a room in the office
r! | room name room_name | any:Everest|room 204|the blue room|Atlas|the big hall|room 12|Lisbon|the library|Kilimanjaro|room B3 | Which room | room
d! | date day on | date | YYYY-MM-DD | date
t! | time start from | clock | HH:MM ; Start | time
= (book|reserve|get|block) {r} (on|for) {d} at {t} ; (I|we) need {r} on {d} (at|from) {t} ; is {r} free on {d} at {t}? (book|take) it ; {r}, {d}, {t}, for the team ; put us in {r} on {d}, {t} ; we meet in {r} on {d} at {t}, reserve it
= (book|reserve) {r}[, please] ; (book|I need|we need) a [meeting] room [on {d}|at {t}] ; (is|can we have) {r} (free|available)[ on {d}]? ; (get|find) us a room for the meeting
> status of:booked|reserved | {r} is {status} for {d}, {t}.
@plan_meeting, schedule_meeting, book_meeting, create_meeting, arrange_meeting, setup_call | Schedules a meeting with somebody ; Book a meeting with a person ; Arrange a call or a meeting
p! | with person attendee participant | first | Whom to meet ; The other person | name of the person
d! | day date on when | dayword | Day as the user says it, e.g. tomorrow ; The day | day
t! | time at start start_time | clock | HH:MM ; When it starts | time
= (book|set up|arrange|plan|schedule) [me] (a meeting|a call|an appointment) with {p} {d} at {t} ; I (need to|must|should) (meet|see|talk to) {p} {d} at {t}[, (arrange|book) it] ; {p} and I (meet|want to talk) {d} at {t}[, set it up] ; (can|could) you (get|put) {p} and me together {d} at {t}? ; meeting with {p}, {d}, {t} ; {d} at {t} with {p}, (please arrange it|book that) ; (fix|make) a date with {p} {d}, {t}
= (book|set up|arrange|plan|schedule) [me] (a meeting|a call) with {p} {d} ; (book|arrange|plan) a (meeting|call) with {p}[ at {t}] ; I (need to|must|should) (meet|see) {p} {d}[, arrange it] ; (book|plan|schedule) a meeting [{d}|at {t}] ; (get|put) {p} and me together {d} ; {p} wants to meet (me|us) {d} ; (meeting|call) with {p}, {d}
> status of:booked|planned | The meeting with {p} at {t} is {status}.
@add_to_list, list_add, append_to_list, put_on_list, addToList | Adds an item to one of the user's lists ; Put something on a list ; Add an entry to a named list
l! | list_name list which_list target | any:shopping list|packing list|wish list|grocery list|party list|birthday list|books list|camping list | Name of the list ; Which list | list
g! | item entry thing text | grocery | What to add ; The item | item
= (put|add|write) {g} (on|to) (my|the) {l} ; {g} (belongs on|goes on) the {l} ; we're out of {g}, (pop|put) it on the {l} ; {l}: {g}[, please] ; (the|my) {l} needs {g} ; (don't forget|also) {g} on the {l} ; (please|) pop {g} on the {l} ; I (need|want) {g}, add it to the {l}
= (put|add) something (on|to) (my|the) {l} ; (add|put) {g} (on|to) one of my lists ; (the|my) {l} needs one more thing ; (add|put) {g} on it
> count int:1:40 | {g} is on the {l}, {count} entries in all.
@find_files, search_files, locate_files, file_search, glob, findFiles | Find files by a name pattern ; Searches for files by name, e.g. *.txt ; Lists the files that match a pattern
q! | pattern glob name_pattern filename | glob | Name pattern, e.g. *.txt ; Pattern with * | pattern
p | directory folder path root in | folder | Where to look ; Folder to search | folder
= (find|locate|search for|show me|list) [all|the] {q} [(in|under|below) {p}] ; (where|in which folder) are (my|the) {q}[?] ; (are there|do I have) [any] {q} (in|under) {p}[?] ; (can|could) you (find|look for) [all|the] {q} [in {p}]? ; I need (all|the) {q} (in|from|under) {p} ; all {q} (below|in) {p}[, please] ; (gather|collect) the {q} in {p}
= (find|search|locate) (files|some files|a file) [in {p}] ; (look|search) for a file ; I lost a file, find it
> count int:0:60, file path | {count} files, the first is {file}.
@log_weight, track_weight, weight_log, record_weight, logWeight | Writes down the body weight ; Logs kilos
n! | kilos weight kg value | int:40:130 | Kilograms | weight in kilos
= (I weigh|today I weigh|my weight is) {n} [kilos|kg][, (log|save) it] ; (log|record|track|write down) {n} (kilos|kg) ; (the scale says|it was) {n} [kilos][, note it] ; weight {n} ; {n} kg this morning, save that
= (log|record|track) my weight ; I stepped on the scale ; write down my weight ; I lost weight, log it
> change any:-1|-0.5|+0.3|-2|+1 | It is logged; {change} kilos since last time.
@search_flat, find_apartments, apartment_search, housing, rentals | Finds flats for rent ; Search apartments in a city
c! | city location where | city | City | city
n! | max_rent rent limit budget price | int:300:3000 | Highest rent | highest rent
r | rooms bedrooms | int:1:6 | Number of rooms | rooms
= (find|show|get) me (flats|apartments|a flat|an apartment) in {c} (for|under|up to) {n} [euros] [with {r} rooms] ; (I'm|we are) moving to {c}, (max|at most|up to) {n} [a month][, {r} rooms] ; (is there|any) (flat|apartment) in {c} (below|under|for) {n}[?] ; what can I rent in {c} for {n}? ; {r} rooms in {c}, not over {n} ; rent in {c}, budget {n}
= (find|show|I need) (me|) (a flat|an apartment) [in {c}] ; (I'm|we are) moving to {c} ; (a|any) flat for {n}? ; I need a place to live
> count int:1:30 | I found {count} flats in {c}.
"""
