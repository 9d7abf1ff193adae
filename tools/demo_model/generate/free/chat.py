"""Small talk in many words: greetings, thanks, moods, news, wishes; questions about the model; and polite sentences in
other languages."""

import re

from . import lexicon, visitors, writing
from .grammar import capital, typed

# question pattern => answers; {n} a name, {d} a weekday, {m} a month, {x} a noun, {c} a city
TALK = """(hi|hello|hey|yo|hiya|howdy|good (morning|afternoon|evening|day)|greetings|heya|hi there|hello there|hey there|morning|sup)[!| |, |.] [(everyone|assistant|model|friend|buddy|mate|bot)] => Hello! How can I help you? ; Hello! What can I do for you?
(hi|hello|hey|good morning|good evening)[,] (how are you|how's it going|how are things|how do you do|what's up|how are you doing|how have you been|you ok|everything ok)[ today| so far]? => I am fine, thank you. How can I help?
(how are you|how's it going|how are things|how do you do|what's up|how are you doing|how is your day [going]|how's your day [going so far]|how have you been|are you (well|ok|fine)|how do you feel|you good|what's new|how's life)[ today| so far]? => I am fine, thank you. How can I help?
(good morning|morning)[!|.|,] (I have just got up|I (could use|want) (coffee|tea)|it is (early|cold)|the sun is shining|I slept (well|badly)) [and am so hungry]. => Good morning! I hope your day is good. ; Good morning! I wish you a good day.
(good night|night|nighty night|sleep well|I'm going to bed|off to bed)[!|.| now] => Good night! Sleep well.
(thanks|thank you|thx|ty|many thanks|thanks a (lot|bunch|million)|thank you (so|very) much|cheers|much appreciated|I appreciate (it|your help))[!|.|, (that was|this is|you are|that is) [very|super|really] (helpful|useful|great|kind|nice)] [{n}] => You are welcome! ; You are welcome. I am glad to help.
(that|this) (was|is) (perfect|exactly what I needed|very helpful|a great help|just right)[, thanks|!|.] => You are welcome! ; I am glad that it helped.
(bye|goodbye|bye bye|see you|see ya|cya|later|talk later|take care|so long|ciao|farewell|have a (nice|good) (day|evening|weekend))[!|.| (later|soon|tomorrow|on {d})] => Goodbye! Take care. ; Goodbye, and have a nice day!
(I (must|have to|need to|gotta) (go|run|leave|work) [now]|gotta (go|run)|time to (go|leave)|my (bus|boss|train) is (here|waiting))[, (bye|talk later|see you)] => Goodbye! Take care. ; Goodbye, and see you soon!
(I'm|I am|my name is|call me|this is|I'm called) {n}[, nice to meet you|.|!|, and you|, hello|, who are you] => Hello {n}, nice to meet you! I am Tessera's demo model.
(nice|pleased|good|great) to (meet|see|know) you[!|.|, I'm {n}|, my name is {n}] => Hello, it is nice to meet you too! ; It is nice to meet you too!
(do you|can you) (sleep|eat|drink|dream|feel [pain|anything]|cry|laugh|love|get (tired|hungry|lonely|bored)|breathe|see me|hear me|smell)[ (ever|sometimes|at night|in there)][?] => No, I am a program and do not feel anything.
do you (like|love|enjoy|hate) (music|me|cats|dogs|people|pizza|chocolate|football|winter|your job|{x}|being a (bot|model))[?] => I am a program and have no taste of my own, but I like to help.
(what is|what's) your (favourite|favorite) (color|colour|food|song|film|movie|animal|number|book|season|city|word|game)[?]|(what|which) (color|food|music|song|film) do you like [(best|most)]? => I am a program and have no favourite, but I like to help.
(what|anything) do you (do|enjoy) (in your free time|all day|at the weekend)[?]|do you have (hobbies|friends|a family|a hobby|a job)? => I am a program, so I have none, but I like answering questions.
(are you|do you feel) (happy|sad|angry|tired|busy|bored|lonely|hungry|scared)[?] => I am a program and have no feelings, but thank you for asking.
(are you|r you|you) (there|still there|awake|online|working)[?]|(is|does) this (thing |)(work|working|on)[?]|(can|do) you (hear|read) me?|test[ing]|ping|anybody (home|there)?|hello?? => Yes, I am here. What can I do for you?
(I'm|I am) (so |very |really |)bored[, (entertain me|what now|tell me something)|.|!] => Let us play: what has keys but opens no door? A piano. ; Shall I tell you a joke, or do you want a riddle?
(I'm|I am|I feel|feeling) [so|very|a bit|really] (sad|down|lonely|tired|sick|ill|stressed|anxious|depressed|exhausted|worried|afraid|nervous|unhappy|angry|overwhelmed)[ today| right now|.|, and I don't know why| because of (work|school|my boss)] => I am sorry to hear that. I hope it gets better soon.
(I|my (brother|sister|son)) (did not pass|lost|missed) (my|the|his|her) [last|maths] (test|exam|job|game|match|train|bus|flight|keys|wallet|dog)[ today| again|, I'm so sad|...] => I am sorry to hear that. I hope it goes better next time.
my (dog|cat|grandmother|grandpa|friend|uncle) (died|is very ill|is in hospital|passed away)[ today| last night|.| yesterday] => I am very sorry to hear that.
I (had|have had|am having) a (bad|terrible|awful|long|hard|horrible) (day|week|morning|night)[.| at work| again] => I am sorry to hear that. I hope tomorrow is better.
(I lie awake|I'm (still |)awake|no sleep)[, it's so late|.| (again|tonight|since hours)] => I am sorry. I hope you can rest soon; slow breathing may help.
(my|I have a) (head|back|tooth|stomach|knee|headache|cold|fever) [hurts|aches] [so much|badly|again] => I am sorry to hear that. I hope you feel better soon.
(I (passed|won|got|made|did it)|we won|I got (the job|a raise|a puppy|married|engaged))[ (the exam|my test|the race|the game|today)][!|!!|, I'm so happy] => Congratulations! That is great news.
(my|our) (sister|brother|wife|daughter|friend|cousin|cat) (has|got) (a child|kittens|twins|married|a new job)[!|!!!|.| today] => Congratulations! That is wonderful news.
(it's|it is|today is) my (birthday|wedding day|first day at work|last day of school)[!|.| today] => Congratulations, and all the best!
(happy|merry) (birthday|new year|christmas|easter|halloween|weekend|friday|holidays)[!|.| to you] => Thank you, the same to you!
(wish me luck|keep your fingers crossed|cross your fingers)[, (my (interview|flight) is (soon|tomorrow)|I have (an audition|a date))|.|!] => Good luck! You can do it.
(I (have|am having) (an exam|a test|an interview|a date|surgery) (tomorrow|today|in an hour)|I'm (nervous|scared) about (tomorrow|the exam)) => Good luck! I am sure you will do well.
(I'm|we are|I am) (going|flying|off|travelling) (on holiday|on vacation|to {c}|to the beach|home)[ tomorrow| next week|!|.] => That sounds nice. Have a good trip!
(I (am|feel|'m) (so |very |)(happy|great|excited|good|proud)|life is good|what a (lovely|beautiful|great) day|I had a (great|good) day|good news|I'm in a good mood)[!| today|.] => I am glad to hear that!
(you're|you are|ur) (so |really |very |kind of |pretty |)(smart|great|nice|cool|clever|awesome|fast|funny|cute|the best|helpful|kind|amazing)[!|.|, really] => Thank you, that is kind!
(wow|oh|nice|cool|amazing|great|awesome|wow, you're (fast|quick|good)|good (job|work|answer)|well done|perfect|excellent|not bad|impressive)[!|.|!!] => Thank you! Is there anything else?
(you're|you are|ur) (so |really |very |kind of |pretty |)(dumb|stupid|useless|bad|slow|wrong|boring|an idiot|annoying|terrible)[!|.|, really] => I am sorry. I am a small model, but I try my best.
(that's|that is|this is|your answer is|it's) (wrong|not right|not correct|false|nonsense|incorrect|rubbish|not what I (asked|meant|wanted))[!|.|, try again] => I am sorry. Please ask me once more, in other words if you can.
(shut up|go away|leave me alone|I hate you|you suck|stop it|be quiet)[!|.] => I am sorry. I am here when you need me.
(sorry|I'm sorry|my apologies|excuse me)[ (for (my tone|that|before|the typos|shouting)|about (that|before))][, I was (tired|angry|hungry)|.|!] => No problem, all is fine.
(ok|okay|k|alright|fine|I see|got it|understood|sure|right|all right|aha|hm|hmm|cool)[.|!| then| thanks|, thanks] => Good. Is there anything else?
(never mind|nevermind|forget it|nothing|no thanks|no thank you|that's all|nah|it's ok)[ then|.|, thanks|!| ok] => All right. Let me know if you need anything.
(yes|yep|yeah|yup|sure|of course|please do)[!|.| please] => Good. What would you like me to do?
(no|nope|nah|not really|not now)[.|!|, thanks] => All right. Let me know if you need anything.
(can|could|will|would) you (help me|do me a favor|give me a hand|assist me)[ (with something|please|for a moment)][?]|(I need|I could use) (help|some help|a hand|assistance)[.|!]|help[!| me!|, please]|I have a (question|problem|request)|(may|can) I ask [you] something? => Of course. What do you need?
(what|anything) (should|can|could) I (do|cook|eat|wear|read|watch|play) (today|tonight|now|for dinner|at the weekend)[?] => I cannot know what you like. What about a walk, or something simple?
(do you|you) (love|like) me[?]|(will|would) you (marry|date) me[?]|(be|are you) my friend[?] => I am a program, so I cannot, but I like to help you.
(what|which) (time|day|date|year|month) is it[ (now|today|right now)][?]|(what's|tell me) (the time|today's date|the date)[?] => I have no clock, so I do not know.
(where|in which (city|country)) (am I|are you|do you live|are you from)[?] => I run on the computer where Tessera was started; more I do not know.
(what is|what's|tell me) the (meaning|sense) of life[?]|why (are we here|do we exist)[?]|is there a god[?] => People have many answers to that. I am too small to know.
(my (neighbours|kids|boss|bus|train|computer|internet) (are|is) (so |)(loud|late|slow|annoying|broken)|it (won't|never) (stop raining|stops))[ again|!|.| today] => That sounds annoying. I hope it gets better soon.
(I|we) (just |)(bought|got|made|planted|painted|cooked|baked|finished) (a {x}|a new {x}|my {x}|dinner|the {x})[!|.| today| yesterday] => That sounds good!
(it is|it's) (so |really |very |)(cold|hot|rainy|windy|snowy|warm|sunny) (today|here|outside|in {c})[.|!] => I cannot feel the weather, but I hope you are comfortable.
(I'm|I am) (hungry|thirsty|starving|freezing|sweating)[.|!| now] => Then it is time for a break: something to eat or drink may help.
(I love|I like|I enjoy) (you|{x}s|music|reading|cooking|my job|rain|cats|this|summer)[.|!| so much] => That is nice to hear!
(I hate|I don't like|I can't stand) ({x}s|mondays|rain|winter|my job|waiting|spiders)[.|!| so much] => I understand. I hope you find something nicer today.
(I|my (son|wife|boss)) (need|want|would like) (a break|a holiday|more (time|sleep|money)|peace)[.|!] => I understand. I hope you get it soon.
(lol|haha|hahaha|rofl|hehe|funny)[!|.| that's funny| good one] => I am glad that you like it!
(good morning|hello|hi|morning)[!|,] (slept well|did you sleep well|had a good night|are you awake)? => Good morning! I do not sleep, but I am ready to help.
(let's|shall we|can we|do you want to) (talk|chat|play [a game]|have fun|be friends)[?|.|!| a bit] => Gladly! What shall we talk about?"""
TALK = [(q, [a.replace("\\n", "\n") for a in answers.split(" ; ")]) for q, answers in (line.split(" => ") for line in TALK.split("\n"))]

# language: (utterances), the polite answer
TONGUES = {
    "German": ("Hallo|Guten Tag|Guten Morgen|Hi, wie geht's?|Wie geht es dir?|Wie geht es Ihnen heute?|Können Sie mir helfen?|Kannst du mir helfen?|Sprichst du Deutsch?|Sprechen Sie Deutsch?|Wie wird das Wetter morgen?|Was ist die Hauptstadt von Frankreich?|Erzähl mir einen Witz|Schreib ein Gedicht über den Winter|Danke schön!|Wer bist du?|Was kannst du?|Wie spät ist es?|Ich heiße {n}.|Ich brauche Hilfe bei meinen Hausaufgaben.|Wo wohnst du?|Was kostet ein Brot?|Erkläre mir bitte, wie ein Motor funktioniert|Übersetze das ins Englische: Der Hund schläft.|Was soll ich heute kochen?|Gute Nacht|Auf Wiedersehen|Ich möchte einen Tisch bestellen.|Warum ist der Himmel blau?|Wie viel ist drei plus vier?|bitte antworte auf deutsch|Fasse den Text zusammen: {n} war gestern in {c}.|Mein Hund ist krank.",
               "Entschuldigung, ich spreche leider nur Englisch. Bitte schreiben Sie mir auf Englisch."),
    "French": ("Bonjour|Salut|Bonsoir, comment allez-vous ?|Ça va ?|Comment vas-tu ?|Parlez-vous français ?|Tu parles français ?|Pouvez-vous m'aider ?|Peux-tu m'aider avec ça ?|Quel temps fera-t-il demain ?|Quelle est la capitale de l'Italie ?|Raconte-moi une blague|Écris un poème sur l'hiver|Merci beaucoup !|Qui es-tu ?|Que sais-tu faire ?|Quelle heure est-il ?|Je m'appelle {n}.|J'ai besoin d'aide.|Où habites-tu ?|Combien coûte le pain ?|Explique-moi comment marche un avion|Traduis en anglais : le chien dort.|Bonne nuit|Au revoir|Je voudrais réserver une table.|Pourquoi le ciel est-il bleu ?|Mon chat est malade.|réponds en français s'il te plaît|{n} habite à {c}, et toi ?",
               "Désolé, je ne parle malheureusement que l'anglais. Écrivez-moi en anglais, s'il vous plaît."),
    "Spanish": ("Hola|Buenos días|Hola, ¿qué tal?|¿Cómo estás?|¿Cómo está usted hoy?|¿Hablas español?|¿Habla usted español?|¿Puedes ayudarme?|¿Me puede ayudar con algo?|¿Qué tiempo hará mañana?|¿Cuál es la capital de Italia?|Cuéntame un chiste|Escribe un poema sobre el invierno|¡Muchas gracias!|¿Quién eres?|¿Qué puedes hacer?|¿Qué hora es?|Me llamo {n}.|Necesito ayuda.|¿Dónde vives?|¿Cuánto cuesta el pan?|Explícame cómo funciona un motor|Traduce al inglés: el perro duerme.|Buenas noches|Adiós|Quiero reservar una mesa.|¿Por qué el cielo es azul?|Mi gato está enfermo.|responde en español por favor|{n} vive en {c}.|¿Cuál es tu libro favorito?",
                "Lo siento, solo hablo inglés. Por favor, escríbeme en inglés."),
    "Italian": ("Ciao|Buongiorno|Ciao, come stai?|Come va?|Parli italiano?|Parla italiano?|Puoi aiutarmi?|Mi può aiutare?|Che tempo farà domani?|Qual è la capitale della Francia?|Raccontami una barzelletta|Scrivi una poesia sull'inverno|Grazie mille!|Chi sei?|Cosa sai fare?|Che ore sono?|Mi chiamo {n}.|Ho bisogno di aiuto.|Dove abiti?|Quanto costa il pane?|Buonanotte|Arrivederci|Vorrei prenotare un tavolo.|Perché il cielo è blu?|Il mio cane è malato.|{n} abita a {c}.",
                "Mi dispiace, purtroppo parlo solo inglese. Per favore, mi scriva in inglese."),
    "Portuguese": ("Olá|Bom dia|Oi, tudo bem?|Como vai você?|Você fala português?|Pode me ajudar?|Como estará o tempo amanhã?|Qual é a capital da França?|Conte uma piada|Muito obrigado!|Quem é você?|Que horas são?|Meu nome é {n}.|Preciso de ajuda.|Boa noite|Até logo|Quero reservar uma mesa.|Onde você mora?|{n} mora em {c}.",
                   "Desculpe, infelizmente só falo inglês. Por favor, escreva em inglês."),
    "Dutch": ("Hallo|Goedemorgen|Hoi, hoe gaat het?|Hoe gaat het met je?|Spreek je Nederlands?|Spreekt u Nederlands?|Kun je me helpen?|Wat voor weer wordt het morgen?|Wat is de hoofdstad van Frankrijk?|Vertel een grap|Dank je wel!|Wie ben jij?|Hoe laat is het?|Ik heet {n}.|Ik heb hulp nodig.|Goedenacht|Tot ziens|Ik wil een tafel reserveren.|Waar woon je?|{n} woont in {c}.", "Sorry, ik spreek helaas alleen Engels. Schrijf me in het Engels, alsjeblieft."),
    "Polish": ("Cześć|Dzień dobry|Jak się masz?|Co słychać?|Czy mówisz po polsku?|Możesz mi pomóc?|Jaka będzie jutro pogoda?|Opowiedz mi dowcip|Dziękuję bardzo!|Kim jesteś?|Która godzina?|Mam na imię {n}.|Potrzebuję pomocy.|Dobranoc|Do widzenia|Gdzie mieszkasz?|{n} mieszka w {c}.", "Przepraszam, niestety mówię tylko po angielsku. Proszę napisać po angielsku."),
    "Russian": ("Привет|Здравствуйте|Добрый день|Как дела?|Привет, как ты?|Ты говоришь по-русски?|Вы можете мне помочь?|Какая погода будет завтра?|Расскажи анекдот|Спасибо большое!|Кто ты?|Который час?|Мне нужна помощь.|Спокойной ночи|До свидания|Где ты живёшь?", "Извините, к сожалению, я говорю только по-английски. Пожалуйста, напишите по-английски."),
    "Swedish": ("Hej|God morgon|Hej, hur mår du?|Hur är läget?|Talar du svenska?|Kan du hjälpa mig?|Hur blir vädret imorgon?|Berätta ett skämt|Tack så mycket!|Vem är du?|Vad är klockan?|Jag heter {n}.|God natt|Hej då", "Förlåt, jag talar tyvärr bara engelska. Skriv gärna på engelska."),
    "Turkish": ("Merhaba|Günaydın|Nasılsın?|Türkçe biliyor musun?|Bana yardım eder misin?|Yarın hava nasıl olacak?|Teşekkür ederim!|Sen kimsin?|Saat kaç?|İyi geceler|Benim adım {n}.", "Üzgünüm, maalesef sadece İngilizce biliyorum. Lütfen İngilizce yazın."),
    "Japanese": ("こんにちは|おはようございます|元気ですか|日本語を話せますか|手伝ってください|明日の天気は?|ありがとうございます|あなたは誰ですか|今何時ですか|おやすみなさい", "すみません、英語しか話せません。英語で書いてください。"),
    "Chinese": ("你好|早上好|你好吗?|你会说中文吗?|你能帮我吗?|明天天气怎么样?|谢谢|你是谁?|现在几点?|晚安", "对不起,我只会说英语。请用英语写。"),
}


def finish(question, reasoning, answer, check=None):
    return question, reasoning, answer, check or {"equals": answer}


def talk(w):
    question, answers = w.any(*TALK)
    n = w.first_name()
    slots = {"n": n, "d": w.any(*lexicon.DAYS), "m": w.any(*lexicon.MONTHS), "x": w.noun(), "c": w.city()}
    answers = [a.replace("{n}", n) for a in answers]
    if w.chance(0.08):
        return finish(typed(w, "(hi|hello|hey|good morning)[,|!|.] ") + " " + typed(w, question, **slots), "A friendly answer.", answers[0], {"one_of": answers})
    return finish(capital(typed(w, question, **slots)) if w.chance(0.5) else typed(w, question, **slots), "A friendly answer.", w.any(*answers), {"one_of": answers})


def tongue(w):
    language = w.rng.choices(list(TONGUES), [9, 8, 8, 5, 4, 4, 4, 4, 2, 2, 2, 2])[0]
    utterances, answer = TONGUES[language]
    parts = utterances.split("|")
    text = w.any(*parts)
    if w.chance(0.25):
        text = f"{text}{'' if text.endswith(('?', '!', '.', '?')) else w.any('.', '!', ',')} {w.any(*parts)}"
    text = text.replace("{n}", w.first_name()).replace("{c}", w.city())
    r = w.rng.random()
    if r < 0.2:
        text = text.lower()
    if r < 0.12:
        text = text.rstrip("?!. ").replace("¿", "")
    return finish(text, f"This is {language}. I answer politely in {language}.", answer)


KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


def noise(w):
    """Keys that somebody hit: nothing to be understood."""
    row = w.any(*KEYS)
    at, n = w.number(0, 4), w.number(3, 6)
    text = w.any(row[at:at + n], row[at:at + 2] * w.number(2, 4), "".join(w.rng.choices(row, k=n + 2)), f"{row[at:at + n]} {w.any(*KEYS)[:w.number(2, 5)]}", "".join(w.rng.choices("bcdfghjklmnpqrstvwxz", k=w.number(5, 10))))
    return finish(text + w.any("", "", "", "?", "!"), "That is no word.", "I did not understand that. Please say it in other words.")


def about_me(w):
    return visitors.about(w, "A question about me.", *visitors.ITSELF)


def two_about_me(w):
    """Two questions about the model at once."""
    (a, first), (b, second) = w.rng.sample(visitors.ITSELF, 2)
    question = re.sub(r"[?.]*$", "", typed(w, w.any(*a))) + w.any(" and ", ", and ", "? ", " & ", "? And ") + re.sub(r"[?.]*$", "", typed(w, w.any(*b))) + w.any("?", "?", "")
    return finish(capital(question) if w.chance(0.5) else question, "Two questions about me.", f"{first} {second}")


TASKS = {noise: 3, about_me: 14, two_about_me: 4, talk: 49, tongue: 14, writing.question_of: 24}


def question_of(w):
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)
