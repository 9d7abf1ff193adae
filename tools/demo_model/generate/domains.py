"""Tools as people really write them: weather, calendars, lights, orders. Requests in everyday words.

An entry: names, descriptions, parameters, requests, result, answers. A parameter is (slot letter, names, kind,
descriptions, required); a request mentions parameters as {letter}; those it does not mention are left out of the call.
"""

from . import slots
from .words import Words

MESSAGES = ["I am on my way", "The meeting is moved", "Please call me back", "See you tomorrow", "Happy birthday", "I will be late", "Lunch is ready", "The report is done",
            "Thanks for the help", "Where are you", "The train is late", "Good luck today", "We need more paper", "Dinner at eight"]
TASKS = ["buy milk", "call mom", "water the plants", "pay the rent", "clean the car", "book the hotel", "write the report", "feed the cat", "fix the door", "send the letter",
         "walk the dog", "order a cake", "check the oven", "pack the bag"]
EVENTS = ["Team meeting", "Lunch", "Dentist", "Birthday party", "Project review", "Yoga", "Dinner", "Interview", "Concert", "Piano lesson", "Training", "Sales call"]
ROOMS = ["kitchen", "bedroom", "living room", "bathroom", "office", "hall", "garage", "garden", "attic", "basement"]
SONGS = ["Blue River", "Golden Days", "Silent Rain", "Last Train", "Summer Light", "Paper Moon", "Cold Stars", "Open Road"]
SYMBOLS = ["AAPL", "MSFT", "NVDA", "TSLA", "AMZN", "GOOG", "IBM", "SAP", "INTC", "AMD"]
CURRENCIES = ["EUR", "USD", "GBP", "JPY", "CHF", "SEK", "CAD", "AUD"]
LANGUAGES = ["German", "French", "Spanish", "Italian", "Polish", "Dutch", "Greek", "Turkish", "Danish", "Finnish"]
SKIES = ["sunny", "cloudy", "rainy", "windy", "foggy", "snowy", "clear", "stormy"]


def value(w: Words, kind):
    if kind == "city":
        return w.city()
    if kind in ("thing", "person", "date", "time", "code", "email", "path"):
        return slots.value_of(w, kind)
    if kind == "first":
        return w.first_name()
    if kind == "word":
        return w.any(w.noun, w.adjective, w.invented)()
    if kind == "message":
        return w.any(*MESSAGES) if w.chance(0.5) else slots.value_of(w, "text")
    if kind == "task":
        return w.any(*TASKS) if w.chance(0.5) else f"{w.verb()} the {w.noun()}"
    if kind == "event":
        return w.any(*EVENTS) if w.chance(0.5) else f"{w.noun()} {w.any('meeting', 'party', 'lesson', 'talk', 'review')}".capitalize()
    if kind == "room":
        return w.any(*ROOMS) if w.chance(0.7) else w.any(w.noun(), f"{w.adjective()} room")
    if kind == "song":
        return w.any(*SONGS) if w.chance(0.4) else f"{w.adjective()} {w.noun()}".title()
    if kind == "symbol":
        return w.any(*SYMBOLS) if w.chance(0.5) else "".join(w.any(*"ABCDEFGHIKLMNOPRSTUVXYZ") for _ in range(w.number(3, 4)))
    if kind == "currency":
        return w.any(*CURRENCIES)
    if kind == "language":
        return w.any(*LANGUAGES)
    if kind == "expression":
        return f"{w.number(2, 999)} {w.any('+', '-', '*', '/')} {w.number(2, 999)}"
    if kind == "topic":
        return w.any(w.noun(), f"{w.adjective()} {w.noun()}", f"{w.noun()} in {w.city()}", w.invented())
    if kind.startswith("int:"):
        low, high = map(int, kind[4:].split(":"))
        return w.number(low, high)
    if kind == "money":
        return w.any(w.number(1, 999), w.number(5, 99) * 10, round(w.number(1, 200) + w.number(1, 99) / 100, 2))
    if kind == "degrees":
        return w.any(w.number(16, 26), w.number(16, 25) + 0.5)
    if kind == "real":
        return w.any(w.number(1, 999), round(w.number(1, 99) + w.number(1, 9) / 10, 1))
    if kind == "bool":
        return w.chance(0.5)
    if kind.startswith("of:"):
        return w.any(*kind[3:].split("|"))
    if kind == "toppings":
        return w.rng.sample("cheese mushrooms olives ham onions tomatoes peppers corn garlic spinach".split(), w.number(1, 3))
    if kind == "people":
        return list(dict.fromkeys(w.first_name() for _ in range(w.number(1, 3))))
    raise ValueError(kind)


def schema(kind):
    if kind.startswith("int:"):
        return {"type": "integer"}
    if kind in ("money", "degrees", "real"):
        return {"type": "number"}
    if kind == "bool":
        return {"type": "boolean"}
    if kind.startswith("of:"):
        return {"type": "string", "enum": kind[3:].split("|")}
    if kind in ("toppings", "people"):
        return {"type": "array", "items": {"type": "string"}}
    return {"type": "string"}


C = ("c", ["city", "location", "place", "town"], "city", ["The city", "City name", "Name of the city", "The city, e.g. Paris", "Where"], True)
D = ("d", ["date", "day"], "date", ["Date as YYYY-MM-DD", "The date", "Day in ISO format"], True)
T = ("t", ["time", "at"], "time", ["Time as HH:MM", "The time", "When"], True)
O = ("o", ["order_id", "order", "id", "order_number"], "code", ["The order id", "Number of the order", "Order"], True)

DOMAINS = [
    (["get_weather", "weather", "getWeather", "current_weather", "get_current_weather", "weather_now", "fetch_weather"],
     ["Get the current weather in a city", "Returns the weather for a location", "Current weather", "Get the weather of a place"],
     [C, ("u", ["unit", "units"], "of:celsius|fahrenheit", ["Unit of the temperature", "Temperature unit"], False)],
     ["What's the weather in {c}?", "What is the weather like in {c}?", "How is the weather in {c}?", "Weather in {c}", "Is it raining in {c}?", "How warm is it in {c}?",
      "Tell me the weather in {c}.", "What is the weather in {c} in {u}?", "What's the temperature in {c} in {u}?", "Do I need an umbrella in {c}?", "How cold is it in {c} today?",
      "weather {c} please", "Can you check the weather for {c}?", "I am going to {c}. What is the weather there?"],
     [("temperature", "int:-10:38"), ("condition", "of:" + "|".join(SKIES))],
     ["It is {condition} in {c} with {temperature} degrees.", "In {c} it is {condition} and {temperature} degrees."]),
    (["get_forecast", "weather_forecast", "forecast"], ["Weather forecast for a city", "Get the forecast for some days"],
     [C, ("n", ["days", "number_of_days"], "int:1:10", ["How many days", "Number of days"], True)],
     ["Give me the forecast for {c} for the next {n} days.", "What will the weather be like in {c} over {n} days?", "{n} day forecast for {c}", "Forecast for {c}, {n} days."],
     [("summary", "of:" + "|".join(SKIES)), ("high", "int:10:35"), ("low", "int:-5:9")], ["The forecast for {c} is {summary}, between {low} and {high} degrees."]),
    (["get_time", "current_time", "world_clock", "getTime", "time_in_city"], ["Current time in a city", "Get the local time", "What time it is somewhere"],
     [C], ["What time is it in {c}?", "Tell me the time in {c}.", "Current time in {c}?", "How late is it in {c}?", "What's the local time in {c}?"],
     [("time", "time")], ["It is {time} in {c}.", "The time in {c} is {time}."]),
    (["convert_currency", "currency_converter", "exchange", "convertCurrency"], ["Convert money between currencies", "Convert an amount from one currency to another"],
     [("a", ["amount", "value"], "money", ["The amount", "How much"], True), ("f", ["from", "from_currency", "source"], "currency", ["Currency code to convert from", "From"], True),
      ("g", ["to", "to_currency", "target"], "currency", ["Currency code to convert to", "To"], True)],
     ["Convert {a} {f} to {g}.", "How much is {a} {f} in {g}?", "What are {a} {f} in {g}?", "{a} {f} to {g}", "Change {a} {f} into {g}, please."],
     [("result", "money")], ["{a} {f} are {result} {g}.", "That is {result} {g}."]),
    (["send_email", "sendEmail", "email", "write_email"], ["Send an email", "Sends an email to someone"],
     [("e", ["to", "recipient", "email", "address"], "email", ["Email address", "Who gets it", "Receiver"], True), ("s", ["subject", "title"], "event", ["Subject line", "The subject"], True),
      ("m", ["body", "text", "message", "content"], "message", ["Text of the email", "The message"], True)],
     ['Send an email to {e} with subject "{s}" and text "{m}".', 'Email {e}: subject "{s}", body "{m}".', 'Write to {e} with the subject "{s}". The text is "{m}".',
      'Please send {e} an email titled "{s}" saying "{m}".'],
     [("status", "of:sent|queued")], ["The email to {e} is {status}."]),
    (["send_message", "sms", "send_sms", "sendMessage", "text_message"], ["Send a message to a person", "Send a text message"],
     [("p", ["recipient", "to", "contact", "name"], "first", ["Who gets the message", "The receiver"], True), ("m", ["message", "text", "body"], "message", ["The message", "Text to send"], True)],
     ['Send {p} the message "{m}".', 'Text {p}: {m}', 'Tell {p} "{m}".', 'Write "{m}" to {p}.', 'Send a message to {p}: {m}', 'Message {p} that says "{m}"'],
     [("status", "of:sent|delivered|queued")], ["The message to {p} was {status}.", "Done, the message is {status}."]),
    (["create_event", "add_event", "calendar_add", "createEvent", "schedule_event", "add_calendar_event"], ["Create a calendar event", "Add an event to the calendar"],
     [("s", ["title", "name", "event"], "event", ["Title of the event", "What it is"], True), D, ("t", ["time", "start_time", "start"], "time", ["Start as HH:MM", "The time"], False),
      ("w", ["participants", "guests", "attendees"], "people", ["Who takes part", "Names of guests"], False)],
     ["Add {s} to my calendar on {d} at {t}.", "Create an event {s} on {d}.", "Schedule {s} for {d} at {t}.", 'Put "{s}" in the calendar for {d}, {t}.', "Plan {s} with {w} on {d} at {t}.",
      "I have {s} on {d} at {t}. Add it to the calendar."],
     [("event_id", "code")], ["{s} is in the calendar for {d}.", "Done. The event id is {event_id}."]),
    (["list_events", "get_calendar", "get_events", "show_calendar"], ["List the events of a day", "Shows what is in the calendar"],
     [D], ["What is in my calendar on {d}?", "Do I have anything on {d}?", "Show my events on {d}.", "Which events are on {d}?"],
     [("event", "event"), ("time", "time")], ["On {d} you have {event} at {time}.", "You have {event} at {time}."]),
    (["set_alarm", "alarm", "setAlarm", "create_alarm"], ["Set an alarm", "Sets an alarm clock"],
     [T, ("l", ["label", "name"], "task", ["Label of the alarm", "What for"], False)],
     ["Set an alarm for {t}.", "Wake me up at {t}.", "Alarm at {t}, please.", 'Set an alarm at {t} with the label "{l}".', "I must get up at {t}. Set an alarm."],
     [("status", "of:set|active")], ["The alarm is {status} for {t}."]),
    (["set_timer", "start_timer", "timer", "startTimer"], ["Start a timer", "Set a countdown"],
     [("n", ["minutes", "duration", "duration_minutes"], "int:1:120", ["Minutes", "How long in minutes"], True)],
     ["Set a timer for {n} minutes.", "Start a {n} minute timer.", "Timer: {n} minutes", "Count down {n} minutes."],
     [("status", "of:running|started")], ["The timer is {status} for {n} minutes."]),
    (["set_light", "light", "control_light", "setLight", "switch_light"], ["Switch a light", "Turn a light on or off", "Control the lights of a room"],
     [("r", ["room", "location", "light"], "room", ["The room", "Which room"], True), ("x", ["state", "power"], "of:on|off", ["On or off", "State of the light"], True)],
     ["Turn {x} the light in the {r}.", "Switch the {r} light {x}.", "Light {x} in the {r}, please.", "Turn the light in the {r} {x}."],
     [("status", "of:ok|done")], ["The light in the {r} is {x}.", "Done, the {r} light is {x}."]),
    (["set_brightness", "dim_light", "setBrightness", "brightness"], ["Set the brightness of a lamp", "Dim the light of a room"],
     [("r", ["room", "location", "lamp"], "room", ["The room", "Which room"], True), ("n", ["level", "percent", "brightness"], "int:1:100", ["Percent", "Brightness from 0 to 100"], True)],
     ["Dim the {r} light to {n} percent.", "Set the brightness in the {r} to {n}.", "Set the {r} lamp to {n} %.", "Make the light in the {r} {n} percent bright."],
     [("status", "of:ok|done")], ["The {r} light is at {n} percent."]),
    (["set_temperature", "thermostat", "set_thermostat", "setTemperature"], ["Set the temperature of a room", "Control the heating"],
     [("n", ["temperature", "degrees", "target"], "degrees", ["Degrees Celsius", "Target temperature"], True), ("r", ["room", "zone"], "room", ["The room", "Which room"], False)],
     ["Set the temperature in the {r} to {n} degrees.", "Heat the {r} to {n} degrees.", "Make it {n} degrees in the {r}.", "Set the thermostat to {n}.", "Set the heating to {n} degrees."],
     [("status", "of:ok|set")], ["The temperature is set to {n} degrees."]),
    (["play_song", "play_music", "playMusic", "play"], ["Play a song", "Play music"],
     [("s", ["song", "title", "track"], "song", ["Title of the song", "What to play"], True), ("p", ["artist", "band", "singer"], "person", ["The artist", "Who plays it"], False)],
     ['Play "{s}".', "Play {s} by {p}.", "I want to hear {s} by {p}.", "Put on {s}, please.", "Can you play {s}?"],
     [("status", "of:playing|started")], ["{s} is {status}.", "Now {status}: {s}."]),
    (["set_volume", "volume", "setVolume"], ["Set the volume", "Change the loudness"],
     [("n", ["level", "volume", "percent"], "int:0:100", ["From 0 to 100", "The level"], True)],
     ["Set the volume to {n}.", "Volume {n}, please.", "Turn the volume to {n} percent.", "Make it louder: {n}."],
     [("volume", "int:0:100")], ["The volume is now {volume}."]),
    (["web_search", "search_web", "search", "google", "webSearch"], ["Search the web", "Look something up on the internet"],
     [("q", ["query", "q", "text"], "topic", ["What to search for", "The query"], True), ("n", ["limit", "max_results", "count"], "int:1:20", ["How many results", "Most results"], False)],
     ["Search the web for {q}.", "Look up {q} on the internet.", "Find {n} pages about {q}.", "Search for {q} and give me {n} results.", "Can you google {q}?"],
     [("title", "song"), ("url", "code")], ["I found {title} ({url}).", "The first result is {title} at {url}."]),
    (["translate", "translate_text", "translator"], ["Translate a text", "Translate text into another language"],
     [("m", ["text", "sentence", "input"], "message", ["The text", "What to translate"], True), ("l", ["language", "target_language", "to", "target"], "language", ["The language", "Target language"], True)],
     ['Translate "{m}" into {l}.', 'How do you say "{m}" in {l}?', 'What is "{m}" in {l}?', 'Say "{m}" in {l}.'],
     [("translation", "song")], ["In {l}: {translation}", "It is {translation} in {l}."]),
    (["get_stock_price", "stock_price", "stock", "getStockPrice", "quote"], ["Price of a stock", "Get the current price of a share"],
     [("s", ["symbol", "ticker"], "symbol", ["Ticker symbol", "The stock"], True)],
     ["What is the price of {s}?", "How much is {s} stock?", "Stock price of {s}", "What is {s} trading at?", "Check the {s} share price."],
     [("price", "money")], ["{s} costs {price}.", "The price of {s} is {price}."]),
    (["book_flight", "bookFlight", "reserve_flight"], ["Book a flight", "Book a plane ticket"],
     [("f", ["origin", "from", "departure"], "city", ["From where", "City of departure"], True), ("g", ["destination", "to", "arrival"], "city", ["To where", "City of arrival"], True), D,
      ("n", ["passengers", "people", "seats"], "int:1:9", ["How many people", "Number of passengers"], False)],
     ["Book a flight from {f} to {g} on {d}.", "I want to fly from {f} to {g} on {d}.", "Book a flight from {f} to {g} on {d} for {n} people.", "Fly me to {g} from {f} on {d}.",
      "I need {n} plane tickets from {f} to {g}, {d}."],
     [("booking", "code"), ("price", "int:50:900")], ["The flight to {g} is booked. The booking code is {booking} and the price is {price}."]),
    (["book_table", "reserve_table", "restaurant_booking", "bookTable"], ["Book a table in a restaurant", "Reserve a table"],
     [("s", ["restaurant", "place", "name"], "song", ["Name of the restaurant", "Which restaurant"], True), ("n", ["people", "guests", "seats", "party_size"], "int:1:12", ["How many people", "Number of guests"], True),
      ("t", ["time", "at"], "time", ["Time as HH:MM", "When"], True), ("d", ["date", "day"], "date", ["Date as YYYY-MM-DD", "The date"], False)],
     ["Book a table for {n} at {s} at {t}.", "Reserve a table at {s} for {n} people, {t}.", "I need a table for {n} at {s} on {d} at {t}.", "Table for {n} at {t} in {s}, please."],
     [("confirmation", "code")], ["Your table at {s} is booked. The confirmation is {confirmation}."]),
    (["get_order_status", "order_status", "track_order", "trackOrder", "check_order"], ["Status of an order", "Track an order", "Where an order is"],
     [O], ["Where is my order {o}?", "What is the status of order {o}?", "Track order {o}.", "Has order {o} been shipped?", "Check order {o}, please.", "I am waiting for order {o}."],
     [("status", "of:shipped|pending|delivered|cancelled|in transit"), ("eta", "date")], ["Order {o} is {status} and should arrive on {eta}.", "Order {o}: {status}, expected {eta}."]),
    (["cancel_order", "cancelOrder", "delete_order"], ["Cancel an order", "Cancels an order by its id"],
     [O, ("m", ["reason", "comment"], "message", ["Why", "The reason"], False)],
     ["Cancel order {o}.", "Please cancel my order {o}.", 'Cancel {o}, the reason is "{m}".', "I no longer want order {o}. Cancel it."],
     [("status", "of:cancelled|refunded")], ["Order {o} is {status}."]),
    (["add_task", "create_todo", "add_todo", "addTask", "todo_add"], ["Add a task to the list", "Create a to-do entry"],
     [("m", ["task", "title", "text", "name"], "task", ["What to do", "The task"], True), ("x", ["priority"], "of:low|medium|high", ["Priority of the task", "How important"], False),
      ("d", ["due", "due_date", "deadline"], "date", ["Due date", "Until when (YYYY-MM-DD)"], False)],
     ['Add "{m}" to my list.', "Put {m} on my to-do list.", "I need to {m}. Add it to the tasks.", 'Add the task "{m}" with {x} priority.', "Add {m} due on {d}.", "New task: {m}"],
     [("task_id", "int:1:500")], ["The task has number {task_id}.", "Added as task {task_id}."]),
    (["set_reminder", "remind_me", "create_reminder", "reminder"], ["Set a reminder", "Remind the user at a time"],
     [("m", ["text", "message", "task", "what"], "task", ["What to remind of", "The text"], True), ("t", ["time", "at", "when"], "time", ["Time as HH:MM", "When"], True)],
     ["Remind me to {m} at {t}.", "At {t} remind me to {m}.", "Set a reminder at {t}: {m}", 'Remind me at {t} that I must {m}.', "Don't let me forget to {m} at {t}."],
     [("status", "of:set|saved")], ["The reminder for {t} is {status}."]),
    (["calculate", "calculator", "evaluate", "compute", "math"], ["Evaluate an expression", "Calculates a formula"],
     [("q", ["expression", "formula", "input"], "expression", ["The expression", "What to calculate"], True)],
     ["What is {q}?", "{q}", "How much is {q}?", "Calculate {q}.", "Use the calculator for {q}.", "Calculate {q} with the tool.", "What is {q}? Use the calculator.", "Compute {q} with the calculator, please."],
     [("result", "real")], ["The result is {result}.", "{q} = {result}"]),
    (["add_numbers", "add", "sum_numbers"], ["Add two numbers", "Sum of two numbers"],
     [("a", ["a", "x", "first"], "int:1:9999", ["First number", "A number"], True), ("b", ["b", "y", "second"], "int:1:9999", ["Second number", "Another number"], True)],
     ["What is {a} + {b}?", "Add {a} and {b}.", "What is the sum of {a} and {b}?", "Add {a} and {b} with the tool.", "Use the tool to add {a} and {b}.", "What is {a} plus {b}? Use the function.", "Sum {a} and {b} using the tool."],
     [("sum", "int:2:19999")], ["The sum is {sum}."]),
    (["random_number", "random_int", "randomNumber", "roll"], ["Draw a random number", "Random whole number"],
     [("a", ["min", "low", "from"], "int:0:20", ["Smallest number", "Lower end"], True), ("b", ["max", "high", "to"], "int:30:1000", ["Largest number", "Upper end"], True)],
     ["Give me a random number between {a} and {b}.", "Pick a number from {a} to {b}.", "Random number, {a} to {b}.", "Draw a number between {a} and {b}."],
     [("number", "int:20:30")], ["The number is {number}."]),
    (["get_user", "find_user", "user_info", "getUser", "lookup_user"], ["Get a user by id", "Find a user", "User data"],
     [("i", ["user_id", "id", "user"], "code", ["The user id", "Id of the user"], True)],
     ["Who is user {i}?", "Show me user {i}.", "Find the user with id {i}.", "Look up user {i}.", "Get the data of user {i}."],
     [("name", "person"), ("email", "email"), ("city", "city")], ["User {i} is {name} from {city}, email {email}.", "It is {name}, {email}, from {city}."]),
    (["create_ticket", "open_ticket", "createTicket", "report_issue"], ["Open a support ticket", "Create a ticket"],
     [("m", ["title", "subject", "summary"], "message", ["What it is about", "Title of the ticket"], True), ("x", ["priority", "severity"], "of:low|medium|high|critical", ["Priority", "How urgent"], True)],
     ['Open a ticket "{m}" with {x} priority.', 'Create a {x} priority ticket: {m}', 'Report "{m}" as a {x} issue.', 'Please open a {x} ticket titled "{m}".'],
     [("ticket", "code")], ["Ticket {ticket} is open.", "Done. The ticket is {ticket}."]),
    (["read_file", "open_file", "cat_file", "readFile"], ["Read a file", "Returns the content of a file"],
     [("p", ["path", "file", "filename"], "path", ["Path of the file", "Which file"], True)],
     ["Read the file {p}.", "What is in {p}?", "Show me {p}.", "Open {p}.", "Print the content of {p}."],
     [("content", "message")], ["The file says: {content}", "{p} contains: {content}"]),
    (["delete_file", "remove_file", "rm", "deleteFile"], ["Delete a file", "Remove a file"],
     [("p", ["path", "file", "filename"], "path", ["Path of the file", "Which file"], True), ("b", ["force"], "bool", ["Do not ask", "Force it"], False)],
     ["Delete the file {p}.", "Remove {p}.", "Please delete {p}.", "Get rid of {p}."],
     [("deleted", "of:true")], ["{p} is deleted."]),
    (["list_files", "ls", "listFiles", "list_directory"], ["List the files of a folder", "Show a directory"],
     [("p", ["path", "directory", "folder"], "word", ["The folder", "Directory to list"], True)],
     ["Which files are in {p}?", "List the files in {p}.", "Show the folder {p}.", "What is in the directory {p}?"],
     [("files", "people")], ["The folder {p} contains {files}.", "There are {files} in {p}."]),
    (["get_directions", "navigate", "route", "find_route"], ["Directions between two places", "Find a route"],
     [("f", ["from", "origin", "start"], "city", ["Start", "Where from"], True), ("g", ["to", "destination", "end"], "city", ["End", "Where to"], True),
      ("x", ["mode", "transport", "by"], "of:car|train|bike|bus|walking", ["How to travel", "Means of transport"], False)],
     ["How do I get from {f} to {g}?", "Route from {f} to {g} by {x}.", "Give me directions from {f} to {g} by {x}.", "Navigate from {f} to {g}.", "How long is the way from {f} to {g} by {x}?"],
     [("distance_km", "int:5:900"), ("duration", "of:1 hour|2 hours|30 minutes|5 hours|50 minutes")], ["It is {distance_km} km from {f} to {g} and takes {duration}."]),
    (["get_distance", "distance", "distance_between"], ["Distance of two cities", "How far apart two places are"],
     [("f", ["a", "from", "city1", "first_city"], "city", ["First city", "From"], True), ("g", ["b", "to", "city2", "second_city"], "city", ["Second city", "To"], True)],
     ["How far is it from {f} to {g}?", "What is the distance between {f} and {g}?", "Distance {f} to {g}", "How many kilometers are between {f} and {g}?"],
     [("km", "int:10:9000")], ["It is {km} km from {f} to {g}."]),
    (["order_pizza", "pizza", "orderPizza"], ["Order a pizza", "Orders pizza"],
     [("x", ["size"], "of:small|medium|large", ["Size of the pizza", "How big"], True), ("w", ["toppings", "extras"], "toppings", ["What goes on it", "List of toppings"], True)],
     ["Order a {x} pizza with {w}.", "I want a {x} pizza with {w}.", "A {x} pizza, {w}, please.", "Get me a {x} pizza with {w}."],
     [("order", "code"), ("minutes", "int:15:60")], ["Your pizza comes in {minutes} minutes. The order is {order}."]),
    (["get_news", "news", "latest_news"], ["News about a topic", "Get headlines"],
     [("q", ["topic", "query", "subject"], "topic", ["The topic", "What about"], True)],
     ["What is the news about {q}?", "Show me news on {q}.", "Latest headlines about {q}", "Any news about {q}?"],
     [("headline", "message")], ["The headline is: {headline}", "News about {q}: {headline}"]),
    (["define_word", "dictionary", "define", "lookup_word"], ["Definition of a word", "Look up a word"],
     [("q", ["word", "term"], "word", ["The word", "What to define"], True)],
     ["What does {q} mean?", "Define {q}.", 'What is the meaning of "{q}"?', "Look up the word {q}."],
     [("definition", "message")], ["{q} means: {definition}", "The definition of {q} is: {definition}"]),
    (["find_hotel", "search_hotels", "hotel_search", "findHotels"], ["Find hotels in a city", "Search for a hotel"],
     [C, ("n", ["nights", "days"], "int:1:14", ["How many nights", "Number of nights"], True), ("a", ["max_price", "budget", "price_limit"], "int:40:400", ["Highest price", "Most euros a night"], False)],
     ["Find a hotel in {c} for {n} nights.", "I need a hotel in {c}, {n} nights, at most {a} euros.", "Hotels in {c} for {n} nights under {a} euros?", "Look for a hotel in {c} for {n} nights."],
     [("name", "song"), ("price", "int:40:300")], ["I found {name} for {price} euros a night.", "The hotel {name} costs {price} euros."]),
    (["create_note", "save_note", "add_note", "note"], ["Save a note", "Create a note"],
     [("m", ["text", "content", "note"], "message", ["Text of the note", "What to write"], True), ("s", ["title", "name"], "event", ["Title", "Name of the note"], False)],
     ['Save the note "{m}".', "Write down: {m}", 'Make a note titled "{s}": {m}', 'Note "{m}" under {s}.', "Take a note: {m}"],
     [("note_id", "int:1:900")], ["The note is saved as number {note_id}."]),
    (["generate_password", "password", "make_password"], ["Create a password", "Generates a random password"],
     [("n", ["length", "size"], "int:8:40", ["How long", "Number of characters"], True), ("b", ["symbols", "special_characters"], "bool", ["With symbols or not", "Use symbols"], False)],
     ["Make a password with {n} characters.", "Generate a {n} character password.", "I need a password of length {n}."],
     [("password", "code")], ["Your password is {password}."]),
    (["resize_image", "resizeImage", "scale_image"], ["Resize an image", "Change the size of a picture"],
     [("p", ["path", "image", "file"], "path", ["The image", "File to resize"], True), ("a", ["width", "w"], "int:16:4000", ["Width in pixels", "New width"], True),
      ("b", ["height", "h"], "int:16:4000", ["Height in pixels", "New height"], True)],
     ["Resize {p} to {a} x {b}.", "Make {p} {a} wide and {b} high.", "Scale the image {p} to width {a} and height {b}.", "Change the size of {p} to {a} by {b} pixels."],
     [("output", "path")], ["The image is saved as {output}."]),
    (["roll_dice", "dice", "throw_dice"], ["Roll dice", "Throws some dice"],
     [("n", ["count", "dice", "number"], "int:1:10", ["How many dice", "Number of dice"], True), ("b", ["sides", "faces"], "int:4:20", ["Sides of a die", "Faces"], False)],
     ["Roll {n} dice.", "Throw {n} dice with {b} sides.", "Roll {n} dice with {b} sides each.", "Please roll {n} dice."],
     [("total", "int:3:60")], ["The total is {total}."]),
    (["lock_door", "door_lock", "lockDoor"], ["Lock or unlock a door", "Control a door"],
     [("r", ["door", "name", "location"], "of:front door|back door|garage|cellar|gate|office", ["Which door", "The door"], True), ("x", ["action", "state"], "of:lock|unlock", ["What to do", "Lock or unlock"], True)],
     ["{x} the {r}.", "Please {x} the {r}.", "Can you {x} the {r}?", "I want to {x} the {r}."],
     [("status", "of:ok|done")], ["Done: {x} the {r}."]),
    (["get_contact", "find_contact", "phonebook", "lookup_contact"], ["Find a contact", "Phone number of a person"],
     [("p", ["name", "person", "contact"], "person", ["Name of the person", "Who"], True)],
     ["What is the phone number of {p}?", "Find the contact {p}.", "Look up {p} in the phonebook.", "How can I reach {p}?", "I need the number of {p}."],
     [("phone", "code"), ("email", "email")], ["You can reach {p} at {phone} or {email}.", "{p}: {phone}, {email}"]),
    (["check_stock", "inventory", "get_inventory", "stock_level"], ["How many of a product are left", "Check the stock of a product"],
     [("i", ["product", "item", "sku"], "thing", ["The product", "Which item"], True)],
     ["How many {i} are left?", "Do we have {i} in stock?", "Check the stock of {i}.", "Is {i} available?", "Look up the inventory of {i}."],
     [("count", "int:0:500"), ("shelf", "code")], ["There are {count} left, on shelf {shelf}.", "{count} are in stock on shelf {shelf}."]),
    (["query_database", "run_query", "db_query", "sql_count"], ["Read rows of a table", "Query the database"],
     [("q", ["table", "table_name"], "word", ["The table", "Which table"], True), ("n", ["limit", "rows", "max_rows"], "int:1:500", ["How many rows", "Most rows"], True)],
     ["Show {n} rows of the table {q}.", "Read {n} rows from {q}.", "Query the table {q} with limit {n}.", "Give me the first {n} rows of {q}."],
     [("rows", "int:1:500")], ["The query returned {rows} rows.", "There are {rows} rows."]),
    (["transfer_money", "send_money", "pay", "transfer"], ["Transfer money", "Send money to someone"],
     [("a", ["amount", "sum"], "money", ["How much", "Amount in euros"], True), ("p", ["recipient", "to", "account"], "person", ["Who gets it", "The receiver"], True)],
     ["Send {a} euros to {p}.", "Transfer {a} euros to {p}.", "Pay {p} {a} euros.", "Give {p} {a} euros."],
     [("transaction", "code")], ["{a} euros went to {p}. The transaction is {transaction}."]),
]


FAMILIES = [  # a request for one of these could be served by another
    {"get_weather", "get_forecast"}, {"get_directions", "get_distance"}, {"set_reminder", "set_alarm", "set_timer", "create_event", "add_task", "create_note", "list_events"},
    {"send_email", "send_message"}, {"set_light", "set_brightness"}, {"calculate", "add_numbers"}, {"web_search", "get_news", "define_word"},
    {"read_file", "delete_file", "list_files"}, {"get_order_status", "cancel_order"}, {"get_user", "get_contact", "query_database"}, {"random_number", "roll_dice"},
    {"find_hotel", "book_flight", "get_directions"}, {"play_song", "set_volume"},
]
ANSWERABLE = {  # a plain question (talk, arithmetic, units) could be meant for one of these
    "get_weather", "get_forecast", "get_time", "convert_currency", "web_search", "translate", "get_stock_price", "list_events", "calculate", "add_numbers",
    "get_user", "get_directions", "get_distance", "get_news", "define_word", "find_hotel", "get_contact", "check_stock", "create_note", "set_reminder", "add_task"}


def related(first, second):
    return first == second or any(first in f and second in f for f in FAMILIES)


class Domain:
    """The same interface as schemas.Tool."""

    def __init__(self, w: Words, taken=()):
        while True:
            entry = w.any(*DOMAINS)
            self.name = w.any(*entry[0])
            self.domain = entry[0][0]
            if self.name not in taken:
                break
        _, self.descriptions, parameters, requests, self.result_kinds, self.answers = entry
        self.parameters = []
        for letter, names, kind, descriptions, required in parameters:
            taken_names = [p[1] for p in self.parameters]
            self.parameters.append((letter, w.any(*[n for n in names if n not in taken_names]), kind, w.any(*descriptions), required))
        camel = any(c.isupper() for c in self.name) and w.chance(0.8)
        if camel:
            self.parameters = [(l, slots.styled(n, "camel"), k, d, r) for l, n, k, d, r in self.parameters]
        self.requests = requests
        self.fields = [f for f, _ in self.result_kinds]
        self.lookup = True
        self.object = self.name.replace("_", " ")

    def definition(self, w):
        properties = {}
        for _, name, kind, description, _ in self.parameters:
            properties[name] = schema(kind)
            if w.chance(0.8):
                properties[name] = {**properties[name], "description": description} if w.chance(0.85) else {"description": description, **properties[name]}
        function = {"name": self.name, "description": w.any(*self.descriptions) + w.any("", ".")}
        function["parameters"] = {"type": "object", "properties": properties, "required": [p[1] for p in self.parameters if p[4]]}
        if w.chance(0.1):
            function["parameters"]["additionalProperties"] = False
        return {"type": "function", "function": function}

    def draw(self, w):
        while True:
            self.template = w.any(*self.requests)
            # each request needs all required parameters
            self.given = [p for p in self.parameters if "{" + p[0] + "}" in self.template]
            if all(p in self.given for p in self.parameters if p[4]):
                break
        self.values = {}
        for letter, _, kind, _, _ in self.given:
            value_ = value(w, kind)
            while value_ in self.values.values() and kind in ("city", "currency"):
                value_ = value(w, kind)
            self.values[letter] = value_

    def arguments(self):
        return {name: self.values[letter] for letter, name, _, _, _ in self.given}

    def said(self, w):
        return {k: slots.say(w, v) for k, v in self.values.items()}

    def request(self, w, field=None):
        text = self.template.format(**self.said(w))
        r = w.rng.random()
        if r < 0.06:
            return text.rstrip(".?")
        if r < 0.1:
            return text[0].upper() + text[1:]
        return w.any("Hi! ", "Hello, ", "Please: ", "Hey. ") + text if r < 0.13 else text[0].upper() + text[1:]

    def result(self, w):
        return {f: value(w, k) for f, k in self.result_kinds}

    def answer(self, w, result, field=None):
        texts = {k: slots.spoken(v) for k, v in self.values.items()}
        found = {k: slots.spoken(v) for k, v in result.items()}
        template = w.any(*self.answers)
        text = template.format(**texts, **found)
        return text[0].upper() + text[1:], [v for k, v in found.items() if "{" + k + "}" in template]
