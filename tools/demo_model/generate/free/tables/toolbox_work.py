"""Tools of offices, shops, travellers and engineers, in the form of toolbox_home."""

TOOLS = """
@create_event calendar.create addAppointment | Creates an entry in the calendar | work/event
s! | title summary | title | Title | title / What is the title?
d! | date day | dmy | YYYY-MM-DD | date / On which date?
t | start time | clock | HH:MM | time
= {s} on {d} ; put {s} into my calendar for {d} ; {d}, {t}: {s} ; I have {s} on {d} at {t}, block that ; save the date - {s}, {d} ; could you pencil in {s} for {d}? ; calendar: {s} {d} {t} ; {s} has been fixed for {d}, please enter it ; don't let anyone book me on {d}, I have {s} at {t}
= create an event ; put {s} in my calendar ; new appointment on {d} ; block some time for {s}
> id code | {s} is in the calendar.
@list_meetings calendar.list getAgenda | Lists the meetings of a day | work
d! | day date | day | Day | day / For which day?
= what's on {d}? ; am I busy {d}? ; meetings {d} ; how packed is {d} ; can I sleep in {d} or is there a meeting ; my agenda {d} please ; who am I meeting {d}? ; anything scheduled {d}
= what's on my calendar? ; do I have meetings? ; show my agenda
> count int:0:8 | There are {count} meetings.
@cancel_meeting calendar.delete removeEvent | Cancels a meeting | work
i! | event_id id | code | Id of the meeting | id of the meeting / Which meeting?
n | notify | sy:yes=tell the others,and inform everybody|no=don't tell anyone,quietly | Whether to tell the guests | notify
= cancel {i} ; meeting {i} is off ; I can't make {i}, call it off ; drop {i} from the calendar ; {i}: cancel, {n} ; please delete {i}, {n} ; scrap {i} ; {i} doesn't need to happen any more
= cancel the meeting ; my meeting is off, remove it ; call off the meeting
> ok done | {i} is cancelled.
@book_room rooms.book reserveRoom | Books a meeting room | work
r! | room name | host | Name of the room | room / Which room?
t! | start time | clock | HH:MM | time / At what time?
n | minutes duration | minutes | Minutes | duration
= {r} at {t} please ; I need {r} at {t} for {n} ; get us {r}, {t} ; is {r} free at {t}? then take it ; book {r} {t} {n} ; the client comes at {t}, reserve {r} ; {n} in {r} starting {t}
= book a meeting room ; reserve {r} ; I need a room at {t}
> code code | {r} is yours at {t}.
@send_mail mail.send composeEmail | Sends an e-mail | mail
e! | to recipient | email | Address of the receiver | address / To which address?
s! | subject | title | Subject | subject / What is the subject?
m! | body text | message | Text | text / What should it say?
= mail {e}, subject {s}: {m} ; to {e}: "{m}", subject "{s}" ; write to {e}. Subject: {s}. Text: {m} ; {e} needs a mail titled "{s}" that says "{m}" ; shoot {e} an email: {m}. Call it {s} ; subject {s}, to {e}, body: {m}
= send a mail to {e} ; write an email ; mail {e} about {s} ; e-mail please, subject {s}
> status of:sent|queued | The mail to {e} is {status}.
@search_mail mail.search findEmails | Searches the mailbox | mail
q! | query text | any:invoice|the contract|flight tickets|the password reset|holiday photos|the offer|tax documents | What to search for | search text / What should I search for?
f | from sender | email | Sender | sender
= where's the mail about {q}? ; find mails with {q} ; did {f} send me {q}? ; I can't find {q} in my inbox ; any message from {f} about {q} ; search my mail: {q} ; dig out {q} from my inbox please
= search my mail ; find an email from {f} ; I can't find a mail
> count int:0:30 | {count} mails were found.
@archive_mail mail.archive archiveMessage | Archives a mail | mail
i! | message_id id | code | Id | id of the mail / Which mail?
= archive {i} ; {i} can go to the archive ; I'm done with mail {i}, put it away ; out of my inbox with {i} ; please file away {i} ; move {i} to the archive
= archive that mail ; put the mail away
> ok done | {i} is archived.
@post_message slack.post chat.postMessage | Posts a message in a channel | chat
c! | channel | host | Channel | channel / In which channel?
m! | text message | message | Text | text / What should I post?
= post in {c}: {m} ; tell the people in {c}: {m} ; {c}: "{m}", post it ; write "{m}" to #{c} ; let channel {c} know: {m} ; announce in {c}: {m} ; drop "{m}" into {c}
= post something in {c} ; write to the channel: {m} ; post a message
> ts code | It is posted in {c}.
@direct_message slack.dm sendDirectMessage | Sends a private message to a colleague | chat
p! | user colleague | first | Colleague | colleague / To whom?
m! | text message | message | Text | text / What should it say?
= ping {p}: {m} ; let {p} know: {m} ; dm {p} "{m}" ; privately to {p}: {m} ; {p} should hear this from me: {m} ; message {p}, {m} ; whisper to {p}: "{m}"
= ping {p} ; send a private message ; dm someone: {m}
> ok done | {p} got the message.
@set_status slack.status setPresence | Sets the user's presence | chat
s! | status presence | sy:away=not here,off my desk|busy=not to be disturbed,in deep focus|available=back at my desk,free to talk | Presence | status / Which status?
= tell everybody I'm {s} ; s:busy > I need to concentrate, nobody should ping me ; s:away > grabbing lunch, set my status ; s:available > I'm back, show people they can ping me ; status: {s} ; mark me as {s}, please ; s:busy > in a client call, change my presence ; s:away > leaving the desk for a while, show that
= change my status ; set my presence please
> ok done | Your status is {s}.
@create_ticket jira.create createIssue | Creates an issue in the tracker | dev/issue
s! | title summary | problem | What is wrong | title / What is the problem?
k! | type issue_type | sy:bug=a bug,a defect|story=a story,a feature|task=a task,a chore | Type | type / Is it a bug, a story or a task?
p | priority | sy:critical=very urgent,critical priority|major=important|minor=not urgent,minor priority | Priority | priority
= file {k}: {s} ; {k} for the tracker - {s}, {p} ; new issue: {s}. It's {k} ; please open {k}: {s} ; log {k}, {p}: {s} ; "{s}" - track that as {k} ; somebody reported that {s}. Register it as {k}
= create an issue ; open {k} for me ; file a ticket: {s} ; {s}, make an issue of it
> key issue | {key} is created.
@get_issue jira.get showIssue | Shows an issue | dev
i! | key issue_id | issue | Key such as ABC-1 | key of the issue / Which issue?
= what's {i} about? ; how far along is {i} ; show me {i} ; who works on {i}? ; status {i} ; read {i} to me ; is {i} done yet ; pull up {i} please ; remind me what {i} was
= what's the status of the issue? ; show me the ticket ; look up an issue for me
> status of:open|in progress|done|blocked | {i} is {status}.
@assign_issue jira.assign assignTicket | Assigns an issue to a person | dev
i! | key issue | issue | Key | key of the issue / Which issue?
p! | assignee user | first | Person | assignee / To whom?
= give {i} to {p} ; {p} takes {i} ; {i} -> {p} ; let {p} handle {i} ; assign {p} to {i} ; {p} volunteered for {i} ; hand {i} over to {p} please ; {i} is for {p}
= assign {i} ; give {p} an issue ; assign the ticket
> ok done | {i} belongs to {p} now.
@comment_issue jira.comment addComment | Adds a comment to an issue | dev
i! | key issue | issue | Key | key of the issue / On which issue?
m! | comment text | message | Text | text / What should the comment say?
= comment on {i}: {m} ; add "{m}" to {i} ; {i}, new comment: {m} ; write under {i}: {m} ; leave a note on {i}: "{m}" ; reply on {i} with "{m}"
= comment on {i} ; add a comment: {m} ; write a comment
> ok done | The comment is on {i}.
@close_issue jira.close transitionIssue | Closes an issue with a resolution | dev
i! | key issue | issue | Key | key of the issue / Which issue?
r | resolution | of:fixed|duplicate|wontfix | Resolution | resolution
= {i} is solved, close it ; close {i} as {r} ; r:duplicate > {i} was reported before, close it ; r:wontfix > we'll never do {i}, close it ; r:fixed > {i} works now, shut it ; done with {i} ; {i}: {r}, close
= close the issue ; we can close it as {r} ; close a ticket
> ok done | {i} is closed.
@git_checkout git.checkout switchBranch | Switches to a branch | dev
b! | branch ref | branch | Branch | branch / To which branch?
n | create | sy:yes=a new one,which doesn't exist yet|no=an existing one | Whether to create it | create
= switch to {b} ; go to branch {b} ; I want to work on {b} ; checkout {b} ; get me on {b} ; let's move over to {b} ; jump to the {b} branch please
= switch branches ; change the branch ; checkout another branch
> ok done | You are on {b}.
@git_commit git.commit commitChanges | Commits the changes | dev
m! | message msg | commitmsg | Message | message / What is the message?
= commit with "{m}" ; save my work: {m} ; commit: {m} ; git commit, message {m} ; check this in as "{m}" ; commit everything, call it "{m}" ; let's commit - {m}
= commit ; commit my changes please ; check this in
> hash hex | Committed as {hash}.
@open_pull_request github.createPullRequest pr.create | Opens a pull request | dev
b! | head branch | branch | Branch with the changes | branch / From which branch?
t! | title | commitmsg | Title | title / What is the title?
= PR from {b}: {t} ; open a pull request for {b}, "{t}" ; {b} is ready for review, title {t} ; create pr {b} titled "{t}" ; put up {b} for review as "{t}" ; pull request please: branch {b}, title {t}
= open a pull request ; PR for {b} ; pull request titled "{t}"
> number int:1:900 | Pull request {number} is open.
@run_pipeline ci.run triggerBuild | Starts a CI pipeline | dev
p! | pipeline job | host | Pipeline | pipeline / Which pipeline?
b | branch ref | branch | Branch | branch
= run {p} on {b} ; kick off {p} ; build {b} with {p} ; start pipeline {p} please ; rerun {p} ; trigger {p} for branch {b} ; does {b} still build? start {p} on it ; fire up {p}
= start the pipeline ; run ci on {b} ; trigger a build
> id int:100:9999 | {p} runs as number {id}.
@run_tests tests.run runTests | Runs the tests of a path | dev
p! | path target | path | File or folder | path / Which path?
v | verbose | sy:yes=with all the output,verbosely|no=quietly | Verbose output | verbosity
= run the tests in {p} ; does {p} pass? ; test {p} ; I changed something, check {p} ; are we green on {p} ; tests for {p}, {v} ; execute {p} test suite {v}
= run the tests ; are the tests green? ; test it
> failed int:0:9 | {failed} tests failed.
@k8s_logs kubectl.logs podLogs | Logs of a pod | ops
p! | pod name | host | Pod | pod / Of which pod?
n | lines tail | int:10:500 | Last lines | lines
s | namespace | host | Namespace | namespace
= logs of {p} ; last {n} lines of {p} ; why is {p} crashing? get its logs ; tail {n} of {p} in namespace {s} ; {p} keeps restarting, show what it logged ; show me what {p} says, {n} lines ; kubectl logs {p} please ; pod {p}, namespace {s}: logs
= show the logs ; last {n} lines please ; pod logs
> errors int:0:40 | {errors} errors in the logs of {p}.
@k8s_scale kubectl.scale scaleDeployment | Sets the number of replicas of a deployment | ops
d! | deployment name | host | Deployment | deployment / Which deployment?
n! | replicas count | int:1:12 | Replicas | number of replicas / To how many replicas?
= scale {d} to {n} ; {n} replicas of {d} ; traffic is up, {n} pods for {d} ; {d} down to {n}, it's quiet ; give {d} {n} instances ; run {d} {n} times ; {d}: replicas={n} ; n:1 > one pod of {d} is plenty
= scale {d} ; {n} replicas please ; scale it up ; {d} needs more pods
> ok done | {d} has {n} replicas.
@restart_service ops.restart restartDaemon | Restarts a service on a host | ops
s! | service unit | service | Service | service / Which service?
h | host server | host | Host | host
= {s} hangs, restart it ; bounce {s} on {h} ; turn {s} off and on again ; restart {s} ; kick {s} on {h}, it's stuck ; please restart {s} over on {h} ; {s} needs a fresh start
= restart the service ; something hangs on {h}, restart it ; restart please
> status of:running|failed | {s} is {status}.
@server_metrics monitoring.query getMetrics | A metric of a host | ops
h! | host server | host | Host | host / Of which host?
m! | metric | sy:cpu=processor load,CPU usage|memory=RAM usage,memory use|disk=disk usage,disk space | Metric | metric, cpu, memory or disk / CPU, memory or disk?
= {m} on {h} ; m:disk > is {h} running full? ; m:cpu > {h} is sweating, how busy is its processor? ; how's the {m} of {h} ; check {h}: {m} ; m:memory > does {h} have RAM left? ; {h} {m}? ; look at {m} for {h} please
= check {h} ; how's the {m}? ; {h} is slow, look at it
> percent int:1:100 | {h}: {percent} percent.
@dns_lookup dns.resolve resolveHost | Looks up the records of a domain | ops
d! | domain host | domain | Domain | domain / Which domain?
t | type record | of:A|AAAA|MX|TXT|NS | Record type | type
= resolve {d} ; which IP is behind {d}? ; {t} record of {d} ; where does {d} point to ; dig {d} {t} ; t:MX > which mail server does {d} have? ; t:NS > name servers of {d}? ; look up {d} in dns
= do a dns lookup ; resolve a domain ; {t} records please
> ip ip | {d}: {ip}.
@ping_host net.ping pingHost | Checks whether a host can be reached | ops
h! | host address | ip | Address | host / Which host?
= is {h} up? ; ping {h} ; can we reach {h} ; {h} doesn't answer me, try it ; does {h} respond? ; check if {h} is alive ; anybody home at {h}?
= ping ; is the server up? ; check if it can be reached
> ms int:1:300 | {h} answers after {ms} ms.
@deploy_version deploy.start deployService | Deploys a version of a service to an environment | cloud
s! | service app | host | Service | service / Which service?
v! | version tag | version | Version | version / Which version?
e! | environment env | sy:production=prod,live|staging=the staging system|test=the test environment | Environment | environment / To which environment?
= {s} {v} to {e} ; deploy {v} of {s} on {e} ; ship {s} {v}, {e} ; roll out {s} version {v} to {e} ; {e}: {s} {v}, go ; bring {v} of {s} to {e} please ; release time: {s} {v} -> {e}
= deploy {s} ; deploy {v} of {s} ; ship {s} to {e} ; deploy please
> id code | {s} {v} is on its way.
@rollback deploy.rollback rollbackService | Goes back to the version before | cloud
s! | service app | host | Service | service / Which service?
= roll back {s} ; {s} is broken since the release, undo it ; go back to the old {s} ; revert the {s} deployment ; new {s} is a disaster, previous version please ; undo the last deploy of {s}
= roll it back ; undo the deployment ; we need the old version back
> version version | {s} is at {version} again.
@create_bucket storage.create createBucket | Creates a storage bucket | cloud
n! | name bucket | host | Name | name / What should it be called?
r | region | of:eu-west|us-east|ap-south | Region | region
= bucket {n} in {r} ; create a bucket called {n} ; new storage bucket {n}, {r} ; I need a place for backups, bucket {n} ; make bucket {n} please ; spin up a bucket, name {n}, region {r}
= create a bucket ; new bucket in {r} ; I need a bucket
> ok done | The bucket {n} is there.
@read_text_file fs.read readFile | Reads a file | files
p! | path file | path | Path | path / Which file?
= what's in {p} ; show {p} ; cat {p} ; I want to see {p} ; what does {p} say? ; open {p} for me ; read me {p} ; let me look at {p} ; {p} please ; print {p}
= read the file ; show me the file ; open a file
> content output | {p}: {content}
@write_text_file fs.write writeFile | Writes a file | files
p! | path file | path | Path | path / To which file?
m! | content text | snippet | Content | content / What should be in it?
= write {m} into {p} ; {p} should contain {m} ; save "{m}" as {p} ; put {m} in {p} ; create {p} with "{m}" ; new file {p}, content {m} ; dump {m} to {p}
= write a file ; create {p} ; save "{m}" in a file
> bytes int:1:900 | {p} has {bytes} bytes.
@search_files fs.grep searchCode | Searches a text in files | files
q! | pattern text | symbolname | What to search for | text / What should I search for?
p | path folder | folder | Where | folder
= where do we use {q}? ; grep {q} in {p} ; find {q} ; which files mention {q} ; look for {q} under {p} ; who calls {q}? ; any {q} left in {p}? ; search {p} for {q}
= search the code ; grep in {p} ; find something in {p}
> count int:0:60 | {count} places.
@move_path fs.move renameFile | Moves or renames a file | files
a! | source from | path | Old path | old path / Which file?
b! | destination to | path | New path | new path / Where to?
= rename {a} to {b} ; {a} should be called {b} ; move {a} to {b} ; mv {a} {b} ; put {a} at {b} ; {a} -> {b} ; change the name of {a} into {b} ; relocate {a} to {b}
= rename {a} ; move {a} somewhere else ; rename a file
> ok done | {a} is {b} now.
@delete_path fs.delete removeFile | Deletes a file | files
p! | path file | path | Path | path / Which file?
= delete {p} ; I don't need {p} any more ; get rid of {p} ; rm {p} ; {p} can go ; bin {p} ; trash {p} please ; {p} is obsolete, remove it ; wipe {p} off the disk
= delete the file ; remove a file ; this file can go
> ok done | {p} is gone.
@query_table db.count countRows | Counts the rows of a table | data
t! | table name | table | Table | table / In which table?
= how many rows does {t} have ; count {t} ; number of entries in {t} ; how big is the {t} table? ; rows in {t}? ; is {t} empty? ; size of {t} please
= count the rows ; how many rows are there? ; how big is the table?
> rows int:0:9000 | {t} has {rows} rows.
@export_table db.export exportTable | Exports a table as a file | data
t! | table name | table | Table | table / Which table?
f! | format type | of:csv|json|xlsx|parquet | Format | format / In which format?
= export {t} as {f} ; I need {t} in {f} ; give me the {t} table, {f} ; {t} -> {f} ; save all {t} in {f} format ; my boss wants {t} as a {f} file ; dump {t}, {f} please
= export {t} ; export a table ; I need a {f} export
> path path | {t} is in {path}.
@create_customer crm.create addCustomer | Adds a customer | crm
n! | name customer | person | Name | name / What is the name?
e | email | email | Address | address
c | company | company | Company | company
= new customer: {n}, {e} ; add {n} from {c} ; {n} just signed up, put them into the crm ; create customer {n} ({c}) ; we won {n}! mail is {e}, save as customer ; register {n} as a customer, {e} ; customer {n}, works for {c}, please add
= add a customer ; new customer with mail {e} ; we have a new customer
> id code | {n} has the number {id}.
@find_customer crm.find searchCustomer | Looks up a customer by name | crm
n! | name query | person | Name | name / Which customer?
= who is {n}? check the crm ; pull up {n} ; customer {n} ; {n} is on the phone, show me the record ; what do we know about customer {n} ; find {n} among our customers ; look up {n}, a customer
= find a customer ; look up the customer ; customer record please
> id code, city city | {n} from {city} has the number {id}.
@create_invoice billing.invoice createInvoice | Creates an invoice | money
c! | customer client | company | Customer | customer / For which customer?
a! | amount total | amount | Amount | amount / What is the amount?
u | currency | of:EUR|USD|GBP|CHF | Currency | currency
= invoice {c} over {a} ; bill {c} {a} {u} ; {c} owes us {a}, write the invoice ; {a} {u} to {c}, invoice please ; make out an invoice: {c}, {a} ; charge {c} with {a} {u} ; send {c} a bill of {a}
= invoice {c} ; write an invoice ; an invoice over {a} please
> number code | Invoice {number} for {c}.
@convert_money currency.convert convertCurrency | Converts money | money
a! | amount value | amount | Amount | amount / How much?
f! | from source | currency | Code of the currency | currency it is in / From which currency?
g! | to target | currency | Code of the currency | target currency / To which currency?
= {a} {f} in {g}? ; how much is {a} {f} in {g} ; what do I get in {g} for {a} {f} ; change {a} {f} to {g} ; this costs {a} {f}, what's that in {g}? ; {a} {f} -> {g} ; convert {a} from {f} to {g} ; I have {a} {f} left from holiday, worth what in {g}?
= convert {a} {f} ; how much is that in {g}? ; change some money
> result real | {a} {f} are {result} {g}.
@stock_quote stocks.quote getQuote | Price of a share | money
s! | symbol ticker | symbol | Symbol | symbol / Which share?
= how's {s} doing ; price of {s} ; {s}? ; what is {s} trading at ; is {s} up today ; quote {s} ; how much is one {s} share ; should I look at {s} again? tell me its price
= what's the share price? ; stock quote please ; how's my stock?
> price real | {s} is at {price}.
@transfer_money bank.transfer sendMoney | Transfers money to a person | money
p! | recipient to | first | Receiver | receiver / To whom?
a! | amount value | amount | Amount | amount / How much?
r | reference note | any:rent|lunch|the tickets|my share|the gift | Reference | reference
= send {p} {a} ; {a} to {p} for {r} ; I owe {p} {a}, pay it ; pay {p} {a}, reference {r} ; transfer {a} to {p} ; {p} gets {a} from me ; wire {p} {a} please ; {a} for {p}, it's {r}
= pay {p} ; transfer {a} ; send some money ; I owe {p} money
> ok done | {p} gets {a}.
@add_expense expenses.add logExpense | Records an expense | money
a! | amount value | amount | Amount | amount / How much?
k! | category kind | of:food|travel|hotel|office|software | Category | category / Which category?
= {a} for {k} ; spent {a} on {k} ; log {a} {k} ; expense: {k}, {a} ; book {a} under {k} ; {k} cost me {a} today ; put {a} down as {k}
= I spent {a} ; log an expense ; new {k} expense
> ok done | {a} are recorded.
@find_flights flights.search searchFlights | Searches flights | travel/fly
f! | origin from | city | From | city of departure / From where?
g! | destination to | city | To | destination / Where to?
d! | date day | dmy | YYYY-MM-DD | date / On which date?
= fly me from {f} to {g} on {d} ; {f}-{g}, {d} ; I need to be in {g} on {d}, starting in {f} ; flights {f} to {g} {d} ; cheap flights from {f} to {g} on {d}? ; how do I get from {f} to {g} by plane on {d} ; leaving {f} on {d}, heading to {g} ; to {g} from {f}, {d}
= flights to {g} ; I want to fly from {f} to {g} ; find me a flight on {d} ; fly me to {g} on {d}
> flight code, price int:40:900 | {flight} for {price} euros.
@find_hotel hotels.search searchHotels | Searches hotels | travel
c! | city place | city | City | city / In which city?
n! | nights stay | int:1:14 | Nights | number of nights / For how many nights?
g | guests people | int:1:6 | Guests | guests
= {n} nights in {c} ; a bed in {c} for {n} nights ; hotel {c}, {n} nights, {g} people ; we stay in {c} for {n} nights, {g} of us ; where can I sleep in {c}? {n} nights ; {c} for {n} nights please ; room for {g} in {c}, {n} nights
= hotel in {c} ; I need a hotel ; {n} nights somewhere ; a room for {g} people
> hotel song | {hotel} in {c} is free.
@train_times trains.search nextTrain | Train connections | travel
f! | from origin | city | From | city of departure / From where?
g! | to destination | city | To | destination / Where to?
t | after time | clock | HH:MM | time
= train {f} to {g} ; when's the next train from {f} to {g} ; {f} - {g} by rail after {t} ; I'm done at {t}, trains from {f} to {g}? ; get me from {f} to {g} by train ; connections {f} {g} ; rail {f} to {g}, not before {t}
= trains to {g} ; when's the next train? ; a train after {t} please ; by train to {g}
> departure clock | It leaves {f} at {departure}.
@book_taxi taxi.book orderCab | Orders a taxi | travel
a! | pickup address | street | Address | pickup address / From which address?
t! | time at | clock | HH:MM | time / At what time?
n | passengers people | int:1:6 | Passengers | passengers
= cab from {a} at {t} ; taxi, {a}, {t} ; pick me up at {a}, {t} ; {n} people need a ride from {a} at {t} ; have a cab at {a} by {t} ; my flight leaves soon: taxi at {t}, {a} ; at {t} I need a taxi, I'm at {a}
= get me a taxi ; taxi from {a} ; a cab at {t} please ; I need a ride
> minutes int:2:20 | The taxi comes to {a}.
@find_nearby maps.nearby searchPlaces | Places of a kind near a place | maps
k! | kind category | placekind | Kind of place | kind of place / What are you looking for?
c! | near city | city | Where | city / Near which city?
= any {k} in {c}? ; {k} near {c} ; where's a {k} around {c} ; I'm in {c} and need a {k} ; closest {k}, {c} ; find me a {k} in {c} please ; got stuck in {c}, is there a {k}?
= find a {k} ; what is there in {c}? ; where is the next {k}?
> name song | {name} is a {k} in {c}.
@route_between maps.route getDirections | Route between two places | maps
f! | from start | city | Start | start / From where?
g! | to end | city | End | destination / Where to?
x | mode by | of:car|bike|foot|bus | Means | means
= how do I get from {f} to {g} ; route {f} to {g} by {x} ; {f} -> {g}, {x} ; x:bike > I want to cycle from {f} to {g} ; x:car > driving from {f} to {g}, show the way ; x:foot > walking from {f} to {g}, which way? ; directions from {f} to {g} please
= how do I get to {g}? ; directions please ; route by {x}
> km int:2:900 | It is {km} km from {f} to {g}.
@web_search search.web googleSearch | Searches the web | web
q! | query q | topic | Query | search text / What should I search for?
n | limit results | int:1:20 | Most results | number
= google {q} ; search for {q} ; look up {q} ; what does the internet say about {q}? ; find me {n} pages on {q} ; {q}, web search please ; top {n} results for {q} ; I'm curious about {q}, search it
= search the web ; look something up ; google it
> count int:1:90 | {count} results for {q}.
@translate_text translator.translate translateText | Translates a text | words
m! | text input | message | Text | text / Which text?
l! | target language | language | Target language | language / Into which language?
= translate "{m}" to {l} ; "{m}" in {l} ; how do I say "{m}" in {l}? ; {l} for "{m}" please ; put "{m}" into {l} ; a {l} friend should read this: "{m}" ; what's "{m}" in {l}
= translate "{m}" ; translate something into {l} ; can you translate?
> translation song | {translation}
@create_note notes.create saveNote | Saves a note | notes
t! | title name | title | Title | title / What is the title?
m! | text content | message | Text | text / What should the note say?
g | tags labels | list:tag | Tags | tags
= note "{t}": {m} ; write down under {t}: {m} ; new note titled {t}, text {m} ; {t} - {m}, save as a note ; keep "{m}" as a note called {t} ; note {t}, tagged {g}: {m} ; make a note, {t}: "{m}", tags {g}
= make a note ; note titled {t} ; write this down: {m}
> id code | The note is saved.
@search_notes notes.search findNote | Searches the notes | notes
q! | query text | topicword | Text | search text / What should I search for?
= what did I write about {q}? ; my notes on {q} ; find the note about {q} ; did I note anything on {q} ; search notes: {q} ; where's my {q} note
= search my notes ; find a note ; where is that note?
> count int:0:20 | {count} notes about {q}.
@order_status shop.status trackOrder | Where an order is | shopping
o! | order_id number | code | Order number | order number / What is the order number?
= where's {o}? ; my parcel {o} is late ; track {o} ; is {o} on its way ; order {o}, any news ; still waiting for {o}... ; has {o} left the warehouse? ; when does {o} arrive ; status of {o}
= where's my parcel? ; my order is late ; track my order
> status of:shipped|packed|delivered|delayed | {o} is {status}.
@return_order shop.return startReturn | Starts a return | shopping
o! | order_id number | code | Order number | order number / What is the order number?
r! | reason why | sy:broken=arrived in pieces,does not work|wrong_size=too small,too big|changed_mind=I don't like it | Reason | reason / Why?
= {o} goes back, {r} ; return {o}: {r} ; I want my money back for {o} - {r} ; send {o} back, reason: {r} ; {o} ({r}), please take it back ; can I return {o}? {r}
= return {o} ; I want to send something back ; {r}, take it back
> label code | The return of {o} has the label {label}.
@search_products shop.search findProducts | Searches products | shopping
q! | query product | product | Product | product / Which product?
p | max_price limit | int:5:500 | Highest price | price
= find a {q} ; {q} under {p} euros ; show me {q}s, up to {p} ; I need a new {q}, {p} at most ; do you sell a {q}? ; looking for a {q} that isn't more than {p} ; {q} please, budget {p}
= find a product ; something under {p} ; I want to buy something
> name song, price int:5:300 | {name} for {price} euros.
@print_document printer.print printFile | Prints a file | office
p! | file path | path | File | file / Which file?
n | copies count | int:1:20 | Copies | copies
c | color | sy:color=in colour,coloured|mono=in black and white,without colour | Colour | colour
= print {p} ; {n} copies of {p} ; {p} on paper, {c} ; I need {p} printed {n} times ; hardcopy of {p} please ; {p} x{n}, {c} ; send {p} to the printer
= print it ; print {n} copies ; I need a printout
> pages int:1:90 | {p} is printing.
@resize_image image.resize resizeImage | Changes the size of an image | office
p! | file image | path | File | file / Which image?
w! | width pixels | int:50:4000 | Width in pixels | width / How wide?
= {p} to {w} pixels ; make {p} {w} wide ; resize {p}, width {w} ; {p} is too big, {w} px please ; shrink {p} down to {w} pixels ; scale {p} to a width of {w} ; I need {p} at {w}px
= resize {p} ; make the image smaller ; resize to {w} pixels
> ok done | {p} is {w} pixels wide.
@find_contact contacts.find lookupContact | Looks up a contact | contacts
n! | name person | first | Name | name / Whose?
= what's {n}'s number? ; phone number of {n} ; how can I reach {n} ; do I have {n}'s address ; look up {n} ; contact of {n} please ; I lost {n}'s number, find it
= look up a contact ; find a phone number ; how can I reach her?
> phone phonenr | {n}: {phone}.
@add_contact contacts.add createContact | Saves a contact | contacts
n! | name person | person | Name | name / What is the name?
t! | phone number | phonenr | Phone number | phone number / What is the phone number?
= save {n}, {t} ; {n}'s number is {t}, store it ; new contact: {n} {t} ; add {n} with {t} ; put {t} into my phone as {n} ; {t} belongs to {n}, remember it in the contacts
= save {n} as a contact ; new contact ; save the number {t}
> ok done | {n} is saved.
@request_leave hr.leave requestVacation | Requests days off | hr
d! | start from | dmy | YYYY-MM-DD | first day / From which day?
n! | days count | int:1:15 | Days | number of days / How many days?
k | kind type | of:vacation|unpaid|parental | Kind | kind
= {n} days off from {d} ; I want a holiday starting {d}, {n} days ; request {n} days of leave from {d} ; off from {d} for {n} days, {k} ; from {d} I'd like {n} free days ; vacation please: {d}, {n} days
= I want some days off ; {n} days off please ; leave from {d}
> ok done | {n} days from {d} are requested.
@report_sick hr.sick reportSick | Reports the user ill | hr
n! | days count | int:1:10 | Days | number of days / For how many days?
= I'm ill, {n} days ; call in sick for {n} days ; doctor says {n} days in bed, tell hr ; flu. out for {n} days ; sick leave: {n} days ; can't work, {n} days at least
= I'm ill today, tell hr ; call me in sick ; report me sick
> ok done | You are reported ill for {n} days.
@log_hours timesheet.log trackTime | Records working hours for a project | hr
p! | project name | host | Project | project / For which project?
n! | hours count | int:1:10 | Hours | number of hours / How many hours?
= {n} hours on {p} ; worked {n} hours for {p} ; log {n} h {p} ; {p}: {n} hours today ; put {n} hours down for {p} ; I spent {n} hours with {p}, record it
= log my hours ; {n} hours please ; I worked on {p}
> total int:1:60 | {n} hours for {p} are recorded.
"""
