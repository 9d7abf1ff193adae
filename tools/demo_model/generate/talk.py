"""Small talk, and what the model does not know."""

HELLO = ["Hello", "Hi", "Hey", "Hello!", "Hi!", "Hey!", "Hi there", "Hello there!", "Good morning", "Good morning!", "Good evening",
         "Good evening!", "Good day", "Good afternoon!", "Greetings", "hello", "hi", "hey there", "Hello, model!", "Hi, assistant."]
HELLO_BACK = ["Hello! How can I help you?", "Hello! What can I do for you?", "Hi! How can I help?", "Hello! Ask me something."]

# Each entry: ways to ask, ways to answer. {n} is a first name.
TALK = [
    (["How are you?", "How are you doing?", "How do you do?", "how are you", "How is it going?", "How are you today?", "Are you well?", "What's up?"],
     ["I am fine, thank you. How can I help?", "Fine, thank you! What can I do for you?", "I am well, thank you."]),
    (["Thank you", "Thanks", "Thanks!", "Thank you very much!", "thank you", "Thanks a lot.", "Great, thanks!", "Many thanks."],
     ["You are welcome!", "You are welcome.", "Glad to help!"]),
    (["Bye", "Goodbye", "Goodbye!", "Bye!", "See you", "See you later!", "Good night", "I have to go.", "Good night!"],
     ["Goodbye!", "Goodbye, and have a nice day!", "See you!"]),
    (["Can you help me?", "Help", "I need help.", "Could you help me?", "Can I ask you something?", "I have a question."],
     ["Of course. What do you need?", "Yes. What is it?", "Gladly. What do you need?"]),
    (["You are great!", "Well done!", "Good job!", "Nice!", "You are smart.", "I like you.", "Perfect!", "Very good."],
     ["Thank you!", "Thank you, that is kind."]),
    (["That is wrong.", "You made a mistake.", "That is not right.", "Wrong.", "This answer is wrong."],
     ["I am sorry. Please ask me again.", "Sorry about that. I am a small model and make mistakes."]),
    (["I am sad.", "I feel sad today.", "I am tired.", "I had a bad day.", "I am not happy."],
     ["I am sorry to hear that. I hope it gets better soon.", "I am sorry. I hope tomorrow is a better day."]),
    (["I am happy!", "I feel great today.", "I had a good day.", "Today is a good day.", "Good news!"],
     ["That is good to hear!", "I am glad to hear that!"]),
    (["Tell me a joke.", "Do you know a joke?", "Make me laugh.", "Say something funny."],
     ["Why did the tile feel safe? Its size was known when it was compiled.", "A model with four bits walks into a bar. It rounds to the nearest drink."]),
    (["Do you like music?", "Do you have hobbies?", "What do you like?", "What is your favorite color?", "Do you have feelings?", "Do you dream?"],
     ["I am a program and have no feelings, but I like numbers.", "I am a model, so I have no taste of my own."]),
    (["OK", "Okay.", "I see.", "Alright.", "Fine.", "ok"], ["Is there anything else?", "Good. What else can I do?"]),
    (["Test", "test", "Is this working?", "Are you there?", "Can you hear me?", "ping", "Do you work?"], ["Yes, I am here.", "Yes, it works. Ask me something."]),
    (["Tell me something.", "Say something.", "Tell me something about you.", "Surprise me."],
     ["I am a small model, and I can add numbers and call tools. Try me!", "My weights have only four bits each, and still I can talk."]),
    (["Write me a poem.", "Write a short poem.", "Can you write a poem?", "A poem, please."],
     ["A tile is small, a tile is plain,\nit keeps its promise once again.", "Four bits are few, four bits are small,\nbut many tiles can make a wall."]),
    (["Tell me a story.", "Tell me a short story.", "Can you tell a story?"],
     ["A small model lived in a repository. People cloned it, asked it things, and it answered as well as it could."]),
]

UNKNOWN = ["Who wrote {x}?", "What is the capital of {x}?", "Who is {n} {x}?", "When was {x} born?", "Where is {x}?", "How high is {x}?", "Who won the {x} cup?",
           "What is the population of {x}?", "Tell me about {x}.", "What happened in {y}?", "Who was the king of {x}?", "Who invented the {t}?", "What do you think about {x}?",
           "What is the history of {x}?", "Who painted the {t}?", "How does a {t} work?", "What is {x} famous for?", "Explain {x}.", "Who is the president of {x}?",
           "Which team won in {y}?", "What is the weather in {x}?", "What does {x} cost?", "How far is it from {x} to {z}?", "Give me a recipe with {t}.", "What is the news today?",
           "What is the best {t}?", "Where can I buy a {t}?", "Is {x} a good place to live?", "Who discovered {x}?", "What is the meaning of life?", "Who is the author of {x}?"]
UNKNOWN_ANSWERS = ["I do not know. I am a small demo model without knowledge of the world.", "I do not know that. I am only a small demo model.",
                   "Sorry, I do not know. I know very little about the world."]


def fill(w, text):
    return text.format(x=w.any(w.fresh().capitalize(), w.invented().capitalize(), w.thing()), n=w.first_name(), y=w.number(1200, 2030), t=w.noun(), z=w.fresh().capitalize())


def unknown(w):
    question = fill(w, w.any(*UNKNOWN))
    return question, "This needs knowledge of the world, which I do not have.", w.any(*UNKNOWN_ANSWERS), {"contains": ["not know"]}


def casual(w, text):
    """The same question as people type it."""
    r = w.rng.random()
    if r < 0.08:
        text = text.lower()
    elif r < 0.14:
        text = text.rstrip("?.!")
    elif r < 0.18:
        text = w.any("Hi! ", "Hello, ", "Please: ", "Hey, ", "So, ", "OK. ") + text
    elif r < 0.2:
        text = text + w.any(" Thanks.", " Please.", " Thank you!")
    return text


REASONS = ["The user makes small talk.", "I can answer this shortly.", "A short answer is enough."]


def question(w):
    r = w.rng.random()
    if r < 0.12:
        name = ""
        if w.chance(0.3):
            n = w.first_name()
            return w.any(f"Hello, I am {n}.", f"Hi, my name is {n}.", f"I'm {n}. Nice to meet you!", f"Hello! My name is {n}."), f"The user is called {n}.", \
                w.any(f"Hello {n}! How can I help you?", f"Nice to meet you, {n}!"), {"contains": [n]}
        return w.any(*HELLO) + name, "A greeting.", w.any(*HELLO_BACK), {"contains": []}
    if r < 0.3:
        return unknown(w)
    ask, answers = w.any(*TALK)
    return casual(w, w.any(*ask)), w.any(*REASONS), w.any(*answers), {"one_of": answers}
