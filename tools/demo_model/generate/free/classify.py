"""Labels for short texts: sentiment, topic, mood, tone, intent, urgency, spam, kinds of words, under label sets that the
prompt names."""

from . import classify_data, lexicon
from .clauses import Clause
from .grammar import capital, listing, say, typed, with_payload
from .lexicon import ADVERBS, ASPECTS, BAD, BAD_PHRASES, FLAT_PHRASES, GOOD, GOOD_PHRASES


def opinion(w, good, place=None):
    """A clause or two that praise or complain, and the words that show it."""
    place = place or w.any(*ASPECTS)
    words, phrases = (GOOD, GOOD_PHRASES) if good else (BAD, BAD_PHRASES)
    adjective = w.any(*words)
    aspect = w.any(*ASPECTS[place])
    be = "were" if aspect.endswith("s") and not aspect.endswith("ss") else "was"
    a = w.any(*ADVERBS)
    clause = w.any(lambda: f"the {aspect} {be} {a}{adjective}", lambda: f"{a}{adjective} {aspect}", lambda: f"what {lexicon.article(adjective)} {place}", lambda: f"this {place} is {a}{adjective}", lambda: f"I found the {aspect} {a}{adjective}", lambda: f"the {place} was {a}{adjective}",
                   lambda: f"we thought the {aspect} {be} {a}{adjective}", lambda: f"my {w.any('wife', 'son', 'friend', 'boss', 'mother')} {('loves' if good else 'hates')} it", lambda: f"{('love' if good else 'hate')} the {aspect}", lambda: f"never had {lexicon.article('better' if good else 'worse')} {place}",
                   lambda: f"the {aspect} could {'not be better' if good else 'be much better'}", lambda: f"{'thanks for' if good else 'shame about'} the {a}{adjective} {aspect}")()
    clue = adjective if adjective in clause else None
    return clause, clue, w.any(*phrases)


def review(w, good):
    """(text, the words that show it)"""
    place = w.any(*ASPECTS)
    clauses, clues = [], []
    for _ in range(w.any(1, 1, 2, 3)):
        clause, clue, phrase = opinion(w, good, place)
        if w.chance(0.6):
            clauses.append(clause)
            clues.append(clue or clause)
        else:
            clauses.append(phrase)
            clues.append(phrase)
    text = w.any(". ", ", ", ". ", "! ", " and ").join(dict.fromkeys(clauses))
    if w.chance(0.2):
        flat = w.any(*FLAT_PHRASES[:12]).format(d=w.any(*lexicon.DAYS), m=w.any(*lexicon.MONTHS), x="wood", c=w.city(), k="red", k2="blue", n=w.number(2, 300))
        text = f"{flat}. {capital(text)}" if w.chance(0.5) else f"{text}. {capital(flat)}"
    text = ". ".join(capital(t) for t in text.split(". ")) if w.chance(0.75) else text
    text += w.any(".", "!", "", "!!", ".")
    if not good and w.chance(0.06):
        text = text.upper()
    return text, list(dict.fromkeys(clues))[:2]


def flat(w):
    text = w.any(*FLAT_PHRASES).format(d=w.any(*lexicon.DAYS), m=w.any(*lexicon.MONTHS), x=w.any("wood", "steel", "glass", "cotton"), c=w.city(), k=w.any("red", "black"), k2=w.any("blue", "white"), n=w.number(2, 300))
    if w.chance(0.3):
        text = Clause(w).said(w.any("past", "present"), end="")
        while any(x in text for x in ("love", "hate", "like", "laugh", "cry", "cried", "steal", "stole", "lost", "lose", "broke")):
            text = Clause(w).said(w.any("past", "present"), end="")
    return capital(text) + w.any(".", ".", "")


def finish(question, reasoning, answer, check=None):
    return question, reasoning, answer, check or {"equals": answer}


ONE_WORD = ["", "", "", ", one word", " (one word)", " Answer with one word.", ", label only", " Only the label.", " Just the label please.", ", nothing else", " Reply with the label only."]
SETS = {"sentiment": [("positive", "negative"), ("positive", "negative", "neutral"), ("POSITIVE", "NEGATIVE"), ("good", "bad"), ("happy", "unhappy"), ("pos", "neg"), ("Positive", "Negative", "Neutral"), ("thumbs up", "thumbs down"), ("praise", "complaint")]}


def sentiment(w):
    labels = w.any(*SETS["sentiment"])
    kind = w.rng.choices((0, 1, 2), (4, 4, 2 if len(labels) == 3 else 0))[0]
    text, clues = (flat(w), ["a plain fact"]) if kind == 2 else review(w, kind == 0)
    answer = labels[kind]
    names = "/".join(labels) if w.chance(0.3) else listing(labels, "or")
    r = w.rng.random()
    standard = labels[0].lower() in ("positive",)
    if r < 0.3 and standard and kind < 2:
        pattern = "(what is|tell me|determine|detect|find|analyse|analyze) the (sentiment|tone|feeling|opinion) [of (this|the text|this review|the review|this comment)]|(sentiment [analysis]|sentiment of this|Sentiment?)|how does the (author|writer|customer) feel about it|is this (good or bad|a good or a bad review)"
        answer = ("positive", "negative")[kind]
        if w.chance(0.5):
            question = with_payload(w, typed(w, pattern), text)
        else:
            question = with_payload(w, typed(w, "sentiment[?]|what's the sentiment?|(classify|label) the sentiment [of this]"), text, label=w.any("Review", "Comment", "Text", "Tweet", "Feedback", "Message"))
    else:
        pattern = w.any("is (this|that|this review|the review|this comment|the (feedback|comment|tweet|message) below) {l}[?]", "(classify|label|rate|mark|tag|judge|categorize|categorise) (this|the review|this review|the text|the following|the comment|this feedback) as {l}", "{l}?", "would you call this {l}?", "decide (if|whether) (this|the text) is {l}", "(what is|give me) the sentiment: {l}", "(choose|pick) one: {l}", "(sort|put) it into {l}")
        question = with_payload(w, (typed(w, pattern, l=names) + w.any(*ONE_WORD)).replace("? ,", "?,"), text, label=w.any("Review", "Comment", "Text", "Tweet", "Feedback", "Message"))
    reasoning = "A plain fact, no opinion." if kind == 2 else f"{capital(listing(clues))}: that is {'praise' if kind == 0 else 'a complaint'}."
    if w.chance(0.12) and kind < 2:
        stars = {0: 5, 1: 1}[kind]
        question = with_payload(w, typed(w, "(rate|score) (this|the review|it) between 1 (bad|worst|terrible) and 5 (good|best|excellent)|how many stars (would you|does the writer) give [(1 to 5|1-5)]?|(stars|rating) from 1 to 5[?]|give it 1 to 5 stars"), text)
        answer = str(stars)
    elif w.chance(0.1) and kind < 2:
        word = w.any(("happy", True), ("satisfied", True), ("pleased", True), ("angry", False), ("unhappy", False), ("disappointed", False))
        yes = (kind == 0) == word[1]
        question = with_payload(w, typed(w, "is the (writer|author|customer|reviewer|person) {x}[?]|do you think the (writer|customer|person) is {x}?|does the (writer|customer) (sound|seem) {x}?|(yes or no: is|tell me if) the (writer|customer) {x}", x=word[0]), text)
        answer = "Yes" if yes else "No"
    return finish(question, reasoning, answer)


TOPICS = {
    "sports": "the (striker|goalkeeper|captain|team|coach) (played|trained|lost|won) (well|in the first half|in the final|on Sunday). ; the (runners|cyclists|swimmers) (crossed the line|broke the record|trained for the race). ; (tennis|football|basketball|hockey) (fans|players) (cheered|left the stadium|waited for the match). ; the referee (gave a penalty|stopped the game). ; she won the (gold medal|tournament|marathon|cup). ; the league (starts|ends) in (May|August).",
    "politics": "the (minister|president|parliament|senator|mayor|government) (resigned|passed a law|lost the vote|gave a speech). ; voters (elect|choose) a new (president|mayor|parliament) on (Sunday|Monday). ; the (party|opposition) (wants|demands) (new elections|a new law|lower taxes). ; the (treaty|bill|reform) was (signed|rejected|debated) in the (senate|parliament|capital). ; the candidate (promised|announced) a reform.",
    "cooking": "(beat|mix) the (eggs|butter|dough) (with|and add) the (flour|nuts|sugar). ; (bake|roast|fry|boil) it for (ten|twenty|forty) minutes [at 180 degrees]. ; (peel|chop|slice) the (onions|potatoes|carrots) and (add salt|stir well). ; the (sauce|dough|soup) needs (more salt|to rest|to simmer). ; season with (pepper|basil|garlic) [and serve hot]. ; a (recipe|spoon of sugar) for (pancakes|apple pie|lasagna).",
    "technology": "the (update|app|software|phone|chip|laptop) (has|brings|needs) (a new (menu|processor|camera)|more memory|a bug). ; (developers|engineers|hackers) (released|fixed|found) a (bug|new version|security hole). ; the (battery|screen|keyboard|robot) (lasts longer|was improved|can be replaced). ; (cloud|internet|network) (servers|services) were (down|slow). ; artificial intelligence (writes|checks) (code|texts). ; install the (driver|app|browser) and restart the computer.",
    "weather": "(rain|snow|fog|storms|sunshine) (is|are) expected (tomorrow|in the north|at the weekend). ; temperatures (fall|rise) to (five|thirty) degrees. ; (dark clouds|strong winds|heavy showers) (come|move) from the west. ; the (storm|heat wave|frost) (lasts|ends) on (Friday|Sunday). ; it will be (cloudy|sunny|windy) with some (rain|sun).",
    "travel": "(book|take) the (early flight|night train|ferry) to the (island|coast|capital). ; the (hotel|hostel|beach|tour guide) was (near the old town|full of tourists). ; (tourists|travellers|visitors) need a (passport|visa|good map). ; our (suitcase|luggage) was lost at the airport. ; the (island|city|coast) has (white beaches|famous temples|many hotels). ; pack (sunglasses|a towel|light clothes) for the holiday.",
    "health": "(drink|take) (enough water|the pills|vitamins) [every day]. ; the (doctor|nurse|patient) (checked|measured|complained about) the (blood pressure|fever|back pain). ; (sleep|exercise|fresh air) (is good for|helps) the (heart|body|lungs). ; the (vaccine|medicine|therapy) (helps against|treats) (flu|headaches|the virus). ; (my back|her knee|his head) (hurts|aches). ; wash your hands to avoid infections.",
    "finance": "the (bank|stock market|fund|company) (raised|lost|cut) (interest rates|two percent|its profit). ; (shares|stocks|prices|taxes) (fell|rose) (sharply|by five percent|on Monday). ; (invest|save) (money|a part of your salary) [for your pension]. ; the (loan|mortgage|credit) has (high|low) interest. ; the (budget|invoice|account) is (balanced|overdue|empty). ; investors (bought|sold) (bonds|gold|shares).",
    "music": "the (band|orchestra|singer|choir) (played|released|recorded) (a new album|three songs|an old symphony). ; the (guitar|piano|violin) (solo|concert) was (long|loud). ; the (melody|chorus|rhythm) of the song. ; (fans|listeners) (sang along|danced) at the concert. ; she (writes|composes) (songs|operas|jazz). ; the (drummer|pianist|conductor) bowed to the audience.",
    "animals": "the (lion|bear|fox|whale|owl) (hunts|sleeps|feeds its young) at night. ; (puppies|kittens|horses|cows) need (food|care|space). ; the zoo has a new (elephant|panda|giraffe). ; (birds|bees|ants) (build|leave) their (nests|hives) in spring. ; my (cat|dog|rabbit) (barks|purrs|sheds fur). ; the (turtle|frog|penguin) lays eggs.",
    "education": "the (teacher|professor|school) (gave|explained|planned) (homework|the lesson|an exam). ; (pupils|students) (study|write|fail) (a test|for the exam|an essay). ; the (university|college|class) (offers|starts) a (course|semester). ; the (lecture|lesson) on (history|biology) was (long|full). ; she got (a good grade|a diploma|a scholarship).",
    "science": "(researchers|scientists|astronomers) (discovered|measured|observed) a (planet|new particle|star|gene). ; the (experiment|telescope|microscope|theory) (shows|proves) (how cells grow|that light bends). ; (atoms|molecules|cells) (consist of|contain) (protons|DNA). ; the (rocket|probe|satellite) (reached|left) (Mars|the moon|its orbit). ; the laboratory published its results.",
    "fashion": "the (designer|model|brand) (showed|presented|wears) (a red dress|the new collection|leather boots). ; (skirts|jeans|scarves|hats) are (in style|trendy) this (autumn|season). ; the (silk|cotton|wool) (dress|jacket) goes well with (high heels|a belt). ; colors of the season are (beige|pink|olive).",
    "gardening": "(plant|water|prune) the (roses|tomatoes|tulips|hedge) in (spring|the evening). ; the (soil|lawn|compost) needs (sun|fertilizer|water). ; (weeds|snails) (grow|eat) (between the|the) (lettuce|flowers). ; sow the seeds in (March|April). ; the (greenhouse|flower bed) is full of (herbs|seedlings).",
    "crime": "the (police|detective|judge) (arrested|questioned|sentenced) the (thief|suspect|burglar). ; (burglars|thieves) (stole|broke into) (jewels|a shop|a car). ; the (witness|victim) (saw|described) the (robber|attack). ; the (trial|investigation) (begins|ends) on Monday. ; he was sent to prison for (fraud|theft).",
    "cars": "the (engine|brakes|gearbox|tires) (needs|need|lost) (oil|repair|pressure). ; (drivers|mechanics) (check|change) the (tires|oil|spark plugs). ; the new (electric car|sedan|truck) (has|reaches) (200 kilometres an hour|four doors). ; (park|drive) slowly on (ice|the highway). ; traffic on the (motorway|highway) was heavy.",
}
ALIASES = {"sports": ["sport", "Sports"], "cooking": ["food", "Cooking", "recipes"], "technology": ["tech", "Technology", "computers"], "finance": ["business", "economy", "Finance", "money"], "health": ["medicine", "Health"], "education": ["school", "Education"], "travel": ["tourism", "Travel", "holidays"], "politics": ["Politics"], "music": ["Music"], "animals": ["nature", "pets"], "science": ["Science"], "weather": ["Weather"]}

NEAR = ({"animals", "science"}, {"cooking", "health"}, {"science", "technology"}, {"cars", "technology"}, {"crime", "politics"}, {"gardening", "animals"}, {"gardening", "cooking"})  # a text on one may be on the other


def topic_text(w, topic):
    if w.chance(0.5):
        a, b, c = w.rng.sample(classify_data.TOPIC_WORDS[topic], 3)
        other = w.any(*classify_data.TOPIC_WORDS[w.any(*[t for t in TOPICS if t != topic])])
        return capital(say(w, w.any(*classify_data.TOPIC_FRAMES), a=a, b=b, c=c, b2=other, c2=w.city(), d=w.any(*lexicon.DAYS), n=w.first_name()))
    return capital(say(w, w.any(*TOPICS[topic].split(" ; "))))


def topic(w):
    right = w.any(*TOPICS)
    text = topic_text(w, right)
    if w.chance(0.2):
        second = topic_text(w, right)
        text = text if second == text else f"{text} {second}"
    if w.chance(0.2):
        text = text.rstrip(".")
    others = w.rng.sample([t for t in TOPICS if t != right and {t, right} not in NEAR], w.number(1, 4))
    labels = [right, *others]
    w.rng.shuffle(labels)
    named = {t: w.any(*ALIASES[t]) if t in ALIASES and w.chance(0.25) else t for t in labels}
    answer = named[right]
    names = listing([named[t] for t in labels], "or") if w.chance(0.6) else w.any(", ", " / ", "/", " | ").join(named[t] for t in labels)
    reasoning = f"This is about {right}."
    if w.chance(0.14):
        return finish(with_payload(w, typed(w, "(topic|subject|category)[?]|what is the (topic|subject) [in one word][?]|(topic|category) in one word|one word: what is this about?|(which|what) (topic|area|field) is (it|this)?"), text), reasoning, right)
    if w.chance(0.2):
        letters = "ABCDE"
        options = w.any("\n", " ", ", ").join(f"{letters[i]}) {named[t]}" for i, t in enumerate(labels))
        return finish(with_payload(w, typed(w, "(which|what) (topic|category) (fits|is right)? (answer with the letter|just the letter)|(choose|pick) the [right] letter|(topic|category)? reply with (A, B or C|the letter)") + "\n" + options, text, inline=False), f"{reasoning} That is {letters[labels.index(right)]}.", letters[labels.index(right)])
    pattern = w.any("(which|what) (topic|category|label|section|subject) (fits [best]|is (this|it|right)|does (this|it) belong to)[?]: {l}", "(classify|label|tag|categorize|categorise|sort) (this|the text|it|this headline|this sentence|the following) as {l}", "is (this|it) about {l}[?]", "{l}[?]", "(choose|pick|select) [the best|the right|one] (topic|category|label) [from|of]: {l}", "(put|sort) (this|it) into one of (these|the) (categories|topics|groups): {l}",
                    "(topic|category|label): {l}", "(assign|give) (one label|a topic) to (it|the text) [out of]: {l}")
    return finish(with_payload(w, typed(w, pattern, l=names) + w.any(*ONE_WORD), text, label=w.any("Text", "Headline", "Article", "Sentence", "Input", "Post")), reasoning, answer)


LABELLED = {  # name: (question patterns, {label: utterances})
    "spam": ("(spam or not spam|spam or ham)[?] ; is (this|it) spam[?] ; (classify|label|mark) (this|the mail|the message) as spam or not spam ; (check|tell me) (if|whether) this is spam",
             {"spam": "(Lucky day! |Winner! |)You (won|have won) (a (new car|cruise|villa)|$(1000|5000)|the lottery)! (Press the link|Claim your prize [today]|Call now)! ; (Cheap|Free|Best) (pills|watches|loans|credit) (online|for you|without prescription)[!!!] (Buy|Order|Click) now! ; (Make|Earn) $(500|9000) a (day|week) from home, (no risk|no work)! ; Your (account|bank account) is (locked|blocked), (verify|send) your password (here|now): http://{x}.biz ; (Hot singles|Rich widows) (near you|want to meet you)! ; LAST CHANCE: (90|70) % off (everything|all watches), only today!!! ; Dear friend, I am a prince and need your bank number to send you (millions|gold).",
              "not spam": "(Hi|Hello|Hey) {n}, (shall we meet for|see you at) (lunch|dinner|the meeting) [(tomorrow|on {d})][?] ; (Please find|Attached is) the (report|invoice|agenda) for (the meeting|{d}). ; (Your parcel|The package) (arrives|will come) on {d}. ; (Mum|Dad|{n}) asks if you can (bring|buy) (bread|milk). ; The (meeting|class) is moved to {d} (at nine|at three). ; Thanks for (the book|dinner|your help), {n}! ; Can you send me the (photos|notes|minutes) of {d}?"}),
    "urgency": ("urgent or not urgent[?] ; is (this|it) urgent or not urgent? ; (classify|label|mark) (this|the message|the ticket) as urgent or not urgent ; priority: urgent or not urgent",
                {"urgent": "(the|our) (cellar|kitchen|warehouse|database) is (burning|under water|gone), (call me|come|help) (right now|immediately|at once)[!] ; (I|we) need (this|the (report|contract|money)) (within the hour|right now|immediately)! ; (nobody|no customer) can (log in|pay), (fix it now|please hurry)! ; (emergency|help|ASAP)! the (patient|pump|alarm) (needs|does not stop)[!!] ; the (deadline|flight) is in (ten minutes|one hour) and (nothing works|I am locked out)!",
                 "not urgent": "(if there is a quiet day|some day|no rush|next month is fine|when you get around to it), (could|can) you (change the poster|clean the shelf|sort the files|look at the logo)? ; (it can wait|take your time), but (the lamp|a chair|the website) (flickers a little|could be nicer). ; just a small idea for (next year|later): (a new logo|more plants). ; for your information: the (canteen|library) has a new (menu|chair)."}),
    "register": ("formal or informal[?] ; is (this|it|the tone) formal or informal? ; (classify|label) (this|the sentence|the style) as formal or informal ; which (style|register|tone) is it: formal or informal?",
                 {"formal": "Dear (Sir or Madam|Mr. {N}|Ms. {N}), (I am writing to|I would like to|I hereby) (apply for|inform you about|enquire about) the (position|delay|invoice). ; (We regret to inform you|Please be advised) that (your application|the meeting) has been (rejected|postponed). ; I would be (grateful|obliged) if you could (reply|send the documents) at your earliest convenience. ; (Yours sincerely|Yours faithfully), Dr. {N} ; The committee (kindly requests|expects) your (presence|attendance) at the (ceremony|hearing).",
                  "informal": "(hey|yo|hi|sup) (dude|mate|bro|guys), (wanna|gonna) (grab a pizza|hang out|see a movie) [later|tonight]? ; (lol|haha|omg) (that was|this is) (so funny|crazy|awesome)[!] ; (can't|cant) (make it|come) (tmrw|tonight), (sorry|soz) ; (thx|thanks) a (ton|bunch), (see ya|cya)! ; what's up? (got|gotta) (some time|go) ; dunno, maybe (later|l8r)"}),
    "politeness": ("polite or rude[?] ; (is|does) (this|the comment) (polite or rude|sound polite or rude)? ; (label|classify) it as polite or rude",
                   {"polite": "(could|would) you (please|kindly) (close the door|help me|move your car)[?] ; (excuse me|pardon me), (may I|could I) (pass|ask you something)? ; thank you (so much|very much) for (your patience|waiting). ; I am sorry to (bother|disturb) you, [but] (do you have a minute|is this seat free)?",
                    "rude": "(shut up|get lost|get out of my way)[, idiot|!] ; (take|hurry up with) your (silly|damn) (bag|work|face)[!] ; (nobody asked|who cares about) (you|your opinion)[!] ; you are (so stupid|a loser|completely useless). ; what is wrong with you, (moron|fool)?"}),
    "sentence": ("question or statement[?] ; would you call it a question or a statement? ; statement or question: which one is it?", {"question": None, "statement": None}),
    "mood": ("(what is|which is) the (mood|emotion|feeling) [of (this|the writer|the message)][?] ; which emotion (fits|is it): {l}? ; (classify|label) the (mood|emotion) as {l} ; how does the writer feel: {l}? ; emotion ({l})[?] ; mood?: {l}",
             {"angry": "(how dare they|unbelievable,) they (lost|ignored|broke) (my bag|my order|me) AGAIN! ; this makes me (furious|so mad), (enough is enough|I have had it)! ; stop (lying|calling) me, I am (sick of it|furious)! ; who (scratched|broke) my (car|phone)?! I'm so mad! ; (damn|argh), I want to (shout|smash something)!",
              "sad": "I (miss|lost) my (dog|grandmother|best friend) [so much] and (cry every night|nothing helps). ; (tears|my heart is broken), she (left|is gone) [for ever]. ; everything feels (empty|grey|pointless) since {d}. ; I (cried|wept) all (day|night) long. ; it hurts that nobody (came|called) on my birthday.",
              "happy": "(yay|hooray|woohoo), I (passed|won|got the job)! ; best (day|week) ever, I could (dance|sing)! ; (so excited|finally some luck), we are having a (baby|party)! ; I am over the moon, (she said yes|we won)! ; life is (good|beautiful), the sun shines and I (smile|laugh).",
              "afraid": "I hear (steps|noises) in the (dark|cellar) and (I am shaking|I dare not move). ; what if the (plane|doctor) ... I am so scared! ; my heart is racing, (someone|something) is (following me|at the window). ; I'm terrified of (spiders|the exam|heights). ; please stay, I am (frightened|scared) of the (storm|dark).",
              "surprised": "(wow|oh|what), I (did not expect|never expected) (that|you here)! ; you (bought a boat|are married)? I had no idea! ; suddenly (everyone|{n}) jumped out, I was speechless! ; no way, is that really you?",
              "bored": "(nothing to do|same thing every day), (yawn|zzz). ; this (lecture|film) never ends, I (count the tiles|stare at the clock). ; ugh, another (Sunday|meeting) with nothing happening. ; I've been sitting here for hours, so dull."}),
    "intent": ("what (is the intent|does the user want)[?]: {l}[?] ; (classify|label|tag) the intent (as|:) {l} ; intent ({l})[?] ; which intent fits: {l}? ; is this a {l}? ; does the (user|customer) want: {l}?",
               {"book": "(I would like to|I want to|can I) (reserve|book) a (table|room|seat|flight) (for (two|four)|for {d}|in {c}). ; (do you have|is there) a free (room|table) on {d}? I'd take it. ; (a|one) (double room|ticket) for {d}, please. ; put me down for (the course|{d}).",
                "cancel": "(please|I have to|I want to) (cancel|call off) my (booking|order|appointment|reservation) [on {d}]. ; (something came up|we are ill), (strike my name|give the table to somebody else) [on {d}]. ; I don't (need|want) the (room|subscription|ticket) any more. ; forget about {d}, I changed my mind.",
                "complain": "(the|your) (food|room|service|delivery) was (awful|a disgrace|late again)[!] ; I (am not happy|want to complain) about (the noise|my order|the bill). ; (this is|that was) (unacceptable|the third time), (nobody answers|it is broken). ; how can you sell such (junk|rubbish)?",
                "question": "(when|what time) do you (open|close) [on {d}]? ; (how much|what) does (a ticket|the room|shipping) cost? ; (where|how) (can I park|do I find you)? ; do you (accept|take) (cards|dogs)?",
                "greeting": "(hi|hello|hey|hiya|good morning|good evening) [there|everybody][!] ; (hello|hi), how are you? ; greetings from {c}! ; (nice to meet you|pleased to meet you)[!]",
                "thanks": "(thank you|thanks|many thanks|thx) (so much|a lot|for everything|for the help)[!] ; (that|this) was very (kind|helpful), thanks! ; I appreciate (it|your help).",
                "order": "I'd like (two|three|a|one) (pizza|pizzas|coffee|burgers|salad)[, please]. ; (I'll have|give me|we take) the (soup|steak|pasta) [and a (beer|water)]. ; (can|could) I (get|have) (a tea|two beers|the bill)? ; send me (five|ten) of the (chairs|lamps)."}),
    "team": ("which (team|department) should (handle|get) (this|it): {l}[?] ; (route|forward|assign) (this|the ticket|it) to {l} ; (label|classify|tag) the (ticket|request) as {l} ; who is responsible: {l}? ; department ({l})[?] ; (Ticket type|category): {l}[?]",
             {"billing": "(my card|our account) was (debited two times|billed too much) [on {d}]. ; (where is|please send|I need) (my|an|the) (invoice|receipt|refund). ; my (credit card|payment) was (declined|rejected). ; the (bill|price) is (wrong|too high). ; how do I change my (payment method|bank details)?",
              "technical": "the (app|page|program|website) (hangs|freezes|shows an error) (when|every time) I (start|save|print) (it|a page|a file). ; I (can't|cannot) (log in|upload files|install the update). ; (login|sync|search) (does not work|is broken) [since {d}]. ; the (screen|printer|wifi) (stays black|does not respond). ; error {m} after the update.",
              "HR": "how much (holiday|leave) is left [for me] this year? ; (I would like to|when can I) (take parental leave|apply for the open position)? ; who (do I tell|is told) when I am (ill|sick)? ; my (employment contract|working hours) (needs|need) to be changed. ; when is the salary (paid|review)?",
              "sales": "(I want|we would like) to buy (ten|fifty) (licenses|units) (for our school|for the team). ; (do you offer|is there) a discount for (large orders|schools)? ; (could|can) I get a (quote|price list|demo) for (20|100) people? ; which plan is best for a small company?",
              "shipping": "(where is|I am still waiting for) my (parcel|package|order)[?] ; the (package|parcel) (arrived|came) (damaged|at the wrong address). ; can you deliver on {d}? ; the tracking number does not work. ; my order should have come on {d}."}),
}
LABELLED = {**{name: (questions, {k: f"{v} ; {classify_data.UTTERANCES[name][k]}" if name in classify_data.UTTERANCES else v for k, v in groups.items()}) for name, (questions, groups) in LABELLED.items()}, **classify_data.LABELLED}
BACKUP = {"other": "(the sky|my cat) is (blue|asleep). ; (I like|we saw) (trees|the moon). ; (what a|it is a) (day|long road)."}


LABEL_WEIGHTS = {"spam": 10, "urgency": 9, "register": 7, "politeness": 5, "sentence": 4, "mood": 13, "intent": 16, "team": 15, "issue": 8, "folder": 6, "fact": 6, "time": 3, "cost": 5, "age": 3, "change": 4}


def labelled(w):
    name = w.rng.choices(list(LABEL_WEIGHTS), list(LABEL_WEIGHTS.values()))[0]
    questions, groups = LABELLED[name]
    chosen = list(groups)
    if len(chosen) > 3:
        chosen = w.rng.sample(chosen, w.number(2, min(5, len(chosen))))
    elif w.chance(0.5):
        chosen.reverse()
    label = w.any(*chosen)
    slots = {"n": w.first_name(), "N": capital(w.fresh()), "d": w.any(*lexicon.DAYS), "c": w.city(), "x": w.fresh(), "m": w.number(100, 9999), "m2": w.number(10, 99), "y": w.number(2024, 2040), "l": ""}
    if name == "sentence":
        c = Clause(w)
        text = c.said(w.any("past", "present", "future"), question=label == "question")
        if w.chance(0.3):
            text = text.rstrip(".") if label == "statement" else text
    else:
        text = say(w, w.any(*groups[label].split(" ; ")), **slots)
        if w.chance(0.2):
            text += " " + capital(say(w, w.any(*groups[label].split(" ; ")), **slots))
        text = capital(text) if w.chance(0.6) else text
    style = w.any(str, str, str, str.upper, capital)
    shown = {k: style(w.any(*classify_data.ALIASES[k]) if k in classify_data.ALIASES and w.chance(0.4) else k) for k in chosen}
    if name in ("team", "intent") and w.chance(0.3):
        shown["other"] = style("other")
        if w.chance(0.25):
            label = "other"
            text = capital(say(w, w.any(*BACKUP["other"].split(" ; "))))
    fits = "{l}" not in (pattern := w.any(*questions.split(" ; ")))
    if fits:
        shown = {k: k for k in groups}
    names = listing(list(shown.values()), "or") if w.chance(0.6) else w.any(", ", " / ", "/").join(shown.values())
    if name == "mood" and fits:
        shown = {k: k for k in groups}
    answer = shown[label] if label in shown else label
    if name == "spam" and pattern.startswith("is") and w.chance(0.5):
        answer = "Yes" if label == "spam" else "No"
    reasoning = {"spam": "It promises or threatens to get a click." if label == "spam" else "An ordinary message.", "urgency": "It must happen now." if label == "urgent" else "It can wait.", "register": f"The words are {label}.", "politeness": f"The words are {label}.", "sentence": f"It is a {label}."}.get(name, f"This fits {label}.")
    if w.chance(0.1) and name in ("team", "intent") and not fits and "other" not in shown:
        # rules of letters or codes
        codes = dict(zip(shown, w.rng.sample(["A", "B", "C", "D", "E", "1", "2", "3", "X", "Y"], len(shown))))
        rules = listing([f"{c} if it is about {k}" if name == "team" else f"{c} for {k}" for k, c in codes.items()])
        return finish(with_payload(w, f"{w.any('Reply with', 'Answer', 'Say', 'answer with', 'Write')} {rules}.", text, label="Text"), f"{reasoning} So {codes[label]}.", codes[label])
    question = with_payload(w, typed(w, pattern, l=names) + w.any(*ONE_WORD), text, label=w.any("Text", "Ticket", "Message", "User", "Mail", "Input"))
    return finish(question, reasoning, answer)


def word_kinds(w):
    kind = w.number(0, 6)
    names = [k for k in lexicon.KINDS if k not in ("number", "season", "month", "bird", "insect", "school subject", "emotion")]
    a, b = w.rng.sample(names, 2)
    pool = [x for x in lexicon.KINDS[a] if not lexicon.kinds_of(x) & {b}]
    if kind == 0:
        words = w.rng.sample(pool, w.number(2, 4))
        odd = w.any(*[x for x in lexicon.KINDS[b] if not lexicon.kinds_of(x) & {a}])
        items = [*words, odd]
        w.rng.shuffle(items)
        question = typed(w, "(which|what) (one|word) (does not|doesn't) (belong|fit) [(here|to the others|with the rest)][?]: {l}|(find|name) the odd one out: {l}|odd one out: {l}|which of these is different: {l}[?]|one of these does not fit: {l}|{l} - which one is the odd one out?", l=", ".join(items))
        return finish(question, f"{capital(listing(words))} are {lexicon.plural_kind(a)}, {odd} is a {b}.", odd)
    if kind == 1:
        words = {x: a for x in w.rng.sample(pool, w.number(1, 3))}
        words.update({x: b for x in w.rng.sample([x for x in lexicon.KINDS[b] if not lexicon.kinds_of(x) & {a}], w.number(1, 3))})
        items = list(words)
        w.rng.shuffle(items)
        form = w.any("lines", "groups", "only", "only")
        l = ", ".join(items)
        if form == "only":
            wanted = [x for x in items if words[x] == a]
            if not wanted:
                return word_kinds(w)
            question = typed(w, "(which|what) of (these|them) are {k}[?]: {l}|(pick|find|list|name|choose|keep|show) (the|all|only [the]) {k} [(from|in|out of) (this list|these)]: {l}|{l} - which are {k}?|only the {k}, please: {l}|which {k} are in (this list|here): {l}[?]", k=lexicon.plural_kind(a), l=l)
            return finish(question, f"{capital(lexicon.plural_kind(a))}: {', '.join(wanted)}.", ", ".join(wanted))
        question = typed(w, "(categorize|categorise|classify|label|sort|mark) (each|every|these) (word|words|item|items) as {a} or {b}: {l}|is each of these a {a} or a {b}[?]: {l}|{a} or {b}[?] {l}", a=a, b=b, l=l)
        return finish(question, f"{capital(a)} or {b}, one after the other.", "\n".join(f"{x}: {words[x]}" for x in items))
    if kind == 2:
        x = w.any(*pool)
        question = typed(w, "what (kind of thing|category|sort of thing) is {x}[?]|is {x} {a} or {b}[?]|what is {x}, {a} or {b}?|{x}: {a} or {b}?", x=lexicon.article(x) if x[0].islower() and a not in ("color", "sport", "spice", "metal", "drink") else x, a=lexicon.article(a), b=lexicon.article(b))
        return finish(question, f"{capital(x)} belongs to the {lexicon.plural_kind(a)}.", a)
    if kind == 3:
        yes = w.chance(0.5)
        x = w.any(*pool)
        asked = a if yes else b
        question = typed(w, "is {x} a {k}[?]|is {x} one of the {ks}?|(yes or no|true or false)[: |, ]is {x} a {k}?|tell me if {x} is a {k}|does {x} count as a {k}?", x=x, k=asked, ks=lexicon.plural_kind(asked)).replace(" a animal", " an animal").replace(" a in", " an in")
        if "true or false" in question.lower():
            question = question.replace("true or false", "yes or no")
        return finish(question, f"{capital(x)} is {lexicon.article(a)}.", "Yes" if yes else "No")
    if kind == 4:
        n = w.number(2, 5)
        words = w.rng.sample(lexicon.KINDS[a], min(n, len(lexicon.KINDS[a])))
        n = len(words)
        question = typed(w, "(name|list|give me|tell me|write|say) {n} {k}|{n} {k}[, please]|(can you|could you) (name|list) {n} {k}?|I need {n} {k}|(what are|which are) {n} {k}?|give me (a list of|examples of) {n} {k}", n=w.any(str(n), lexicon.SMALL[n]), k=lexicon.plural_kind(a))
        return finish(question, f"{n} {lexicon.plural_kind(a)}.", ", ".join(words), {"list": {"count": n, "of": lexicon.KINDS[a]}, "form": "comma"})
    if kind == 5:
        c = Clause(w, need_object=True)
        text = c.said("past")
        base, third, past, _, _ = lexicon.forms(c.verb)
        noun = [x for x in c.object.split() if x not in ("a", "an", "the", "some", "two", "old", "new", "her", "my", "three")]
        which = w.any("verb", "noun")
        word = past if which == "verb" else noun[-1] if noun else past
        which = "noun" if word != past else "verb"
        if text.split().count(word) + text.split().count(word + ".") != 1:
            return word_kinds(w)
        question = w.any(typed(w, "is ['{x}'|{x}] a noun or a verb (in|here)", x=word) + f": {text}", typed(w, "(noun or verb|part of speech)[?] {x} in", x=word) + f": {text}", with_payload(w, typed(w, "what (part of speech|kind of word) is ('{x}'|{x})[?]", x=word), text))
        return finish(question, f"In this sentence {word} is a {which}.", which)
    c = Clause(w, need_object=True)
    text = c.said("past")
    _, _, past, _, _ = lexicon.forms(c.verb)
    what = w.any("subject", "verb", "object")
    answer = {"subject": text.split(f" {past} ")[0], "verb": past, "object": c.object}[what]
    if f" {past} " not in text:
        return word_kinds(w)
    return finish(with_payload(w, typed(w, f"(what|which) is the {what} [of (this|the) sentence|here|in this sentence][?]|(find|name|give me|underline) the {what} [of the sentence]|{what}[?]"), text), f"The {what} is {answer}.", answer)


LANGUAGES = {"German": "Wo ist der Bahnhof?|Ich habe keine Zeit.|Das Wetter ist heute schön.|Können Sie mir helfen?|Mein Bruder wohnt in einer kleinen Stadt.|Guten Morgen, wie geht es dir?|Wir fahren morgen mit dem Zug.|Die Katze schläft auf dem Sofa.|Was kostet das?|Ich trinke gern Kaffee.|Er arbeitet jeden Tag.|Danke für das Geschenk.",
             "French": "Où est la gare ?|Je ne comprends pas.|Il fait beau aujourd'hui.|Pouvez-vous m'aider ?|Mon frère habite dans une petite ville.|Bonjour, comment ça va ?|Nous prenons le train demain.|Le chat dort sur le canapé.|Combien ça coûte ?|J'aime le café.|Merci pour le cadeau.|Elle travaille tous les jours.",
             "Spanish": "¿Dónde está la estación?|No tengo tiempo.|Hoy hace buen tiempo.|¿Puede ayudarme?|Mi hermano vive en una ciudad pequeña.|Buenos días, ¿cómo estás?|Mañana vamos en tren.|El gato duerme en el sofá.|¿Cuánto cuesta?|Me gusta el café.|Gracias por el regalo.|Ella trabaja todos los días.",
             "Italian": "Dov'è la stazione?|Non ho tempo.|Oggi il tempo è bello.|Può aiutarmi?|Mio fratello abita in una piccola città.|Buongiorno, come stai?|Domani prendiamo il treno.|Il gatto dorme sul divano.|Quanto costa?|Mi piace il caffè.|Grazie per il regalo.",
             "Dutch": "Waar is het station?|Ik heb geen tijd.|Het weer is vandaag mooi.|Kunt u mij helpen?|Mijn broer woont in een kleine stad.|Goedemorgen, hoe gaat het?|Morgen gaan we met de trein.|De kat slaapt op de bank.|Wat kost dat?", "Polish": "Gdzie jest dworzec?|Nie mam czasu.|Dzisiaj jest ładna pogoda.|Czy może mi pan pomóc?|Mój brat mieszka w małym mieście.|Dzień dobry, jak się masz?|Kot śpi na kanapie.",
             "Portuguese": "Onde fica a estação?|Não tenho tempo.|Hoje o tempo está bom.|Pode me ajudar?|Meu irmão mora numa cidade pequena.|Bom dia, como vai?|O gato dorme no sofá.|Quanto custa?", "Swedish": "Var är stationen?|Jag har ingen tid.|Vädret är fint idag.|Kan du hjälpa mig?|Min bror bor i en liten stad.|God morgon, hur mår du?|Katten sover på soffan.", "Russian": "Где вокзал?|У меня нет времени.|Сегодня хорошая погода.|Вы можете мне помочь?|Доброе утро, как дела?|Кошка спит на диване.",
             "English": "Where is the station?|I have no time.|The weather is nice today.|Can you help me?|My brother lives in a small town.|The cat sleeps on the sofa.|How much is it?|She works every day."}


def language(w):
    name = w.any(*LANGUAGES)
    text = w.any(*LANGUAGES[name].split("|"))
    return finish(with_payload(w, typed(w, "(what|which) language is (this|that|it|the following)[?]|in (what|which) language is (this|the text) [written]?|(identify|detect|name|recognise) the language [of (this|the text)]|language[?]|what language is it written in?|do you recognise the language?") + w.any(*ONE_WORD), text), f"The words are {name}.", name)


def lines(w):
    """Several lines, each labelled."""
    goods = [w.chance(0.5) for _ in range(w.number(2, 4))]
    texts = [review(w, g)[0].replace("\n", " ") for g in goods]
    marks = w.any("", "- ", "1")
    shown = "\n".join(f"{i + 1}. {t}" if marks == "1" else marks + t for i, t in enumerate(texts))
    words = [("negative", "positive")[g] for g in goods]
    if w.chance(0.25):
        n = sum(goods)
        return finish(with_payload(w, typed(w, "how many (of these [reviews]|reviews|comments|lines) are positive[?]|count the positive (reviews|comments|ones)"), shown, False), ", ".join(words) + ".", str(n))
    answer = "\n".join(f"{i + 1}. {x}" if marks == "1" else x for i, x in enumerate(words))
    return finish(with_payload(w, typed(w, "(classify|label|rate) each (line|review|comment) as positive or negative|positive or negative, line by line|for each (review|line): positive or negative?"), shown, False), "Line by line: " + ", ".join(words) + ".", answer)


TASKS = {sentiment: 26, topic: 24, labelled: 40, word_kinds: 20, language: 6, lines: 7}


def question_of(w):
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)
