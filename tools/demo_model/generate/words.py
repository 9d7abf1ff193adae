"""Words, names and values. Those whose hash falls into the held-out part are used in evaluation alone."""

import random
import zlib

HELD_OUT_SHARE = 12  # one in twelve


def held_out(text):
    return zlib.crc32(text.lower().encode()) % HELD_OUT_SHARE == 0


NOUNS = """account address agenda alarm album alert answer apple archive area arrow article atlas badge bag balance ball
band bank barrel basket battery beacon bed bell bench bicycle bill bird blanket blog boat book booking border bottle
bowl box branch bread brick bridge broom brush bucket budget bug building bus button cabin cable cake calendar camera
camp candle canvas car card cargo carpet cart case castle cat chair channel chapter chart chat check cheese chest child
city class client clock cloud club coat code coffee coin color comment company compass computer concert contact
container contract cookie copy corner course crane crate cup curtain customer cycle dashboard database deadline deck
delivery desk device diary dish disk doctor document dog domain door draft drawer dress drink drone drum editor egg
email engine entry envelope episode event exam expense factory family fan farm feed fence field file filter fish flag
flat flight floor flower folder food forecast forest fork form formula frame friend fridge fruit fund game garage garden
gate gift glass globe glove goal grade graph grid group guest guide guitar hall hammer harbor hat heater hill holiday
home horse hospital hotel house image index insect invoice island item jacket jar job journal juice kettle key keyboard
kitchen kite label ladder lake lamp language laptop leaf ledger lesson letter library license light line link list loan
lock locker log lunch machine magazine mailbox map market match meal measure medal meeting member memo menu message
meter mirror model monitor motor mountain mouse movie museum music needle network newsletter note notebook notice number
office oil onion oven owner package page paint painting pan paper parcel park parking party passport path patient
payment pen pencil permit phone photo piano picture pilot pipe plan plane plant plate player playlist pocket poem point
policy pool portrait post poster pot prescription present printer prize process product profile project puzzle query
queue quote race rack radio rain rating receipt recipe record refund region relay reminder rent repair report request
reservation restaurant review reward ring river road robot rocket role roof room root rope route row rug rule sail salad
sample sandwich scale scanner schedule school score screen script seal seat secret section seed sensor server session
shelf shift ship shipment shirt shoe shop sign signal site skill sleeve slide snack soap sock sofa soil song soup spoon
stage stamp star station statue step stock stone store story street student subject subscription suit summary supplier
survey switch table tablet tag tank task taxi team telescope template tent term test text thermostat ticket tile timer
title token tool topic torch tower town toy track trailer train transaction tray tree trial trip truck tube tunnel tutor
umbrella unit update user valve van vase vault vehicle vendor video village visa visit visitor voice volume voucher
wagon wall wallet warehouse washer watch wave website wheel window wine wire word worker workshop yard zone""".split()

ADJECTIVES = """active amber ancient automatic big black blank blue bold brave brief bright broken brown busy calm careful
cheap clean clear clever cold common cool cosy curved daily damp dark deep digital dry dull early easy eastern electric
empty exact extra fair fast fine firm flat fresh full gentle glad golden good grand gray green happy hard heavy hidden
high hollow honest hot huge icy inner jolly kind large late lazy light little local long loose loud low lucky main mild
modern narrow neat new nice noisy northern odd old open orange outer pale plain pink polite poor private proud public
purple quick quiet rapid rare ready red rich rough round royal safe sharp shiny short silent silver simple slow small
smart smooth soft solid southern spare square steady steep strange strong sunny sweet tall tidy tiny upper urgent vivid
warm weekly western wet white wide wild wise wooden yellow young""".split()

VERBS = """add adjust answer apply approve archive arrange assign attach backup ban block book bookmark borrow build
buy calculate call cancel capture change charge check choose clean clear clone close collect compare compress compute
confirm connect convert copy count create cut decode delay delete deliver deploy describe detect disable discard download
draw drop edit enable encode end enter erase estimate evaluate export extend fetch file fill filter find finish fix flag
flip fold forward freeze gather generate get give group hide hire hold import increase inspect install invite issue join
label launch lend limit link list load lock log look lower make map mark measure merge mix monitor mount move mute name
notify open order pack park pause pay pick pin place plan plant play post predict prepare print process publish pull
push put queue raise rank rate read record redeem reduce refresh register reject release reload remind remove rename
renew rent repair repeat replace reply report request reserve reset resize resolve restart restore resume retry return
review rotate route run save scan schedule search sell send set share ship show shuffle sign skip sort split start stop
store submit subscribe summarize suspend swap switch sync tag test track train transfer translate trim turn undo unlock
unpack update upgrade upload validate verify view visit wash watch water weigh withdraw write""".split()

CITIES = """Aberdeen Accra Algiers Amsterdam Ankara Antwerp Athens Auckland Austin Baghdad Baku Bangkok Barcelona Basel
Beijing Beirut Belfast Belgrade Bergen Berlin Bern Bogota Bologna Bonn Boston Bremen Brisbane Bristol Brussels Bucharest
Budapest Cairo Calgary Caracas Cardiff Casablanca Chicago Cologne Copenhagen Dakar Dallas Damascus Delhi Denver Detroit
Doha Dresden Dubai Dublin Durban Edinburgh Florence Frankfurt Geneva Genoa Ghent Glasgow Graz Hamburg Hanoi Havana
Helsinki Houston Istanbul Izmir Jakarta Karachi Kiev Kyoto Lagos Lahore Leeds Leipzig Lima Lisbon Liverpool London Luanda
Lyon Madrid Manchester Manila Marseille Melbourne Memphis Miami Milan Minsk Montreal Moscow Mumbai Munich Nairobi Naples
Nice Nicosia Oporto Osaka Oslo Ottawa Paris Perth Phoenix Porto Prague Quebec Quito Riga Rome Rotterdam Salzburg Santiago
Sarajevo Seattle Seoul Seville Shanghai Singapore Sofia Stockholm Stuttgart Sydney Tallinn Tampere Tbilisi Tehran Tirana
Tokyo Toronto Toulouse Trieste Tripoli Tunis Turin Utrecht Valencia Vancouver Venice Verona Vienna Vilnius Warsaw
Wellington Winnipeg Zagreb Zurich""".split()

FIRST_NAMES = """Ada Adam Aisha Alan Alba Alex Ali Alice Amara Amir Amy Ana Andrew Anna Arthur Ava Ben Bella Boris Bruno
Carl Carla Carmen Cecil Chen Clara Colin Cora Daniel Daria David Diana Diego Dora Edith Elena Eli Elsa Emil Emma Eric
Erin Esther Eva Felix Finn Fiona Flora Frank Freya George Gina Grace Greta Hana Hans Harry Hassan Helen Henry Hugo Ida
Igor Ines Ingrid Irene Iris Isaac Ivan Jack Jacob James Jane Jasper Joan John Jonas Jorge Julia June Karen Karl Kate Ken
Kira Lara Laura Lea Leo Lena Liam Lily Linda Lisa Louis Lucas Lucy Luis Luna Maria Marco Mark Marta Martin Mary Max Maya
Mei Mia Mike Mila Milo Mina Mira Mona Nadia Nina Noah Nora Olga Oliver Omar Oscar Otto Pablo Paul Paula Peter Petra Rami
Rita Robert Rosa Ruth Sam Sara Selma Simon Sofia Sonia Stella Sven Tara Theo Thomas Tim Tina Tom Uma Vera Victor Viola
Walter Wanda Yara Yuki Zara Zoe""".split()

FRESH = 0.45  # of the training draws from the lists above: a made-up word instead, so that no list can be learnt by heart
KNOWN = sorted({x.lower() for x in NOUNS + ADJECTIVES + VERBS + CITIES + FIRST_NAMES if not held_out(x)})
ENDINGS = {}  # two letters: the letters that follow them in KNOWN; "" is a word's end


def _learn_endings():
    for word in KNOWN:
        padded = "^^" + word
        for i in range(len(word)):
            ENDINGS.setdefault(padded[i:i + 2], []).append(padded[i + 2])
        ENDINGS.setdefault(padded[-2:], []).append("")


_learn_endings()
ONSETS = "b c d f g h j k l m n p r s t v w z br cr dr fl gl gr kr pl pr sk sl st str tr th sh ch qu".split()
VOWELS = "a e i o u a e i o u ai ea ee io oo ou ia".split()
CODAS = ["", "", "", "n", "r", "l", "s", "m", "x", "t", "k", "nd", "rk", "lt", "ss", "ph", "p", "d", "v"]


class Words:
    """Draws for one dialogue. `evaluation` chooses the side of the split."""

    def __init__(self, rng: random.Random, evaluation=False, thinking=True):
        self.rng = rng
        self.evaluation = evaluation
        self.thinking = thinking

    def pick(self, words):
        """A word of the wanted side of the split, in training often a fresh one instead."""
        if not self.evaluation and self.chance(FRESH):
            word = self.fresh()
            return word.capitalize() if words[0][0].isupper() else word
        while True:
            word = self.rng.choice(words)
            if held_out(word) == self.evaluation:
                return word

    def several(self, words, count):
        out = []
        while len(out) < count:
            word = self.pick(words)
            if word not in out:
                out.append(word)
        return out

    def chance(self, p):
        return self.rng.random() < p

    def any(self, *options):
        return self.rng.choice(options)

    def invented(self, syllables=None):
        """A word that means nothing, lower case."""
        while True:
            word = ""
            for _ in range(syllables or self.rng.choice((1, 2, 2, 2, 3))):
                word += self.rng.choice(ONSETS) + self.rng.choice(VOWELS) + self.rng.choice(CODAS)
            if len(word) > 2 and held_out(word) == self.evaluation:
                return word

    def glued(self):
        """The beginning of one word and the end of another."""
        first, second = (self.rng.choice(KNOWN) for _ in range(2))
        return first[:self.number(1, len(first))] + second[self.number(1, len(second) - 1):]

    def likely(self):
        """A word by the two letters before each letter."""
        word = "^^"
        while len(word) < 14 and (letter := self.rng.choice(ENDINGS[word[-2:]])):
            word += letter
        return word[2:]

    def scattered(self):
        """Letters without order."""
        return "".join(self.rng.choices("abcdefghijklmnopqrstuvwxyz", k=self.number(2, 8)))

    def fresh(self):
        """A lower-case word that is in no list, of the wanted side of the split."""
        while True:
            word = self.rng.choices((self.likely, self.glued, self.invented, self.scattered), (0.5, 0.25, 0.15, 0.1))[0]()
            if len(word) > 1 and held_out(word) == self.evaluation:
                return word

    def string(self):
        """An identifier, a number or another string without spaces."""
        kind = self.number(0, 7)
        if kind == 0:
            return "".join(self.rng.choices("0123456789", k=self.number(1, 10)))
        if kind == 1:
            return "".join(self.rng.choices("0123456789abcdef", k=self.any(4, 6, 8, 12)))
        if kind == 2:
            return "".join(self.rng.choices("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789", k=self.number(3, 10)))
        if kind == 3:
            return self.any("-", "_", ".", "/").join(self.fresh() for _ in range(self.number(2, 3)))
        if kind == 4:
            return self.fresh() + self.any("", "-", "_") + str(self.number(0, 9999))
        if kind == 5:
            return "".join(self.rng.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ", k=self.number(2, 6))) + self.any("", "-", "_") + str(self.number(0, 99999))
        if kind == 6:
            return self.fresh() + self.fresh().capitalize()
        return f"{self.fresh()}@{self.fresh()}.{self.any('com', 'org', 'net', 'io', 'de')}"

    def noun(self):
        return self.pick(NOUNS)

    def adjective(self):
        return self.pick(ADJECTIVES)

    def verb(self):
        return self.pick(VERBS)

    def city(self):
        return self.pick(CITIES) if self.chance(0.6) else self.fresh().capitalize()

    def first_name(self):
        return self.pick(FIRST_NAMES) if self.chance(0.65) else self.fresh().capitalize()

    def person(self):
        return self.first_name() if self.chance(0.6) else f"{self.first_name()} {self.invented().capitalize()}"

    def thing(self):
        """A short noun phrase, sometimes an invented word."""
        r = self.rng.random()
        if r < 0.4:
            return self.noun()
        if r < 0.7:
            return f"{self.adjective()} {self.noun()}"
        if r < 0.85:
            return f"{self.noun()} {self.noun()}"
        return self.any(self.invented, self.fresh)()

    def number(self, low, high):
        return self.rng.randint(low, high)
