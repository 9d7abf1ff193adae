"""Words, names and values. The OUTSIDE lists and the made-up words whose hash falls into the held-out part are used in evaluation
alone. The words of the other lists are all trained on: a word that is one token can only be copied if that token's
embedding was ever trained."""

import random
import zlib

HELD_OUT_SHARE = 12  # one in twelve


def held_out(text):
    return zlib.crc32(text.lower().encode()) % HELD_OUT_SHARE == 0


NOUNS = """absence accent access account action activity actor adapter address advice agency agenda agent agreement aircraft
airport alarm album alert alias allowance amount analysis anchor animal answer apartment appeal apple appliance
applicant appointment approval archive area arm arrow art article asset assistant atlas attachment attempt attendance
attribute auction audience audio audit author avatar award backlog badge bag balance balcony ball band bank banner bar
barrel base basket batch bath battery beach beacon bean beard bed beginning bell belt bench benefit bet bicycle bid bill
bird birth birthday blanket block blog blueprint board boat body bone bonus book booking boot border boss bot bottle
bowl box bracket brain branch brand bread breakfast breath brick bridge broom brother brush bubble bucket budget buffer
bug building bulb bundle bus butter button buyer byte cabin cable cache cafe cake calendar camera camp candidate candle
canvas capacity car card cargo carpet carrier cart case castle cat category cause ceiling cell century certificate chain
chair challenge chance channel chapter character charity chart chat check cheese chef chest chicken child choice church
cinema circle city claim class cleaner client climate clinic clock closet clothes cloud club cluster coach coast coat
code coffee coin collection college color column command comment commit committee company compass complaint component
computer concert condition conference conflict connection consent contact container content contest context contract
control conversation cook cookie copy corner cost cotton couch council country county couple coupon course coverage
crane crate credit crew crisis criterion crop crowd cup currency curtain custom customer cycle damage dance danger
dashboard data database date daughter day deadline dealer debate debt decade decision deck declaration degree delivery
demand dentist department departure deposit depth description design desk destination detail device diagram diary
difference dinner direction discount discussion dish disk distance distribution doctor document dog domain door dose
draft drawer dream dress drink driver drone drum duration dust duty ear earth edge editor education effect effort egg
element email employee employer energy engine entity entrance entry envelope environment episode equipment error essay
estate evening event evidence exam example exception exercise exhibit exit expense experience expert explanation export
extension eye fabric face fact factory failure family fan farm fault favor feature fee feed feedback feeling fence ferry
fiber field figure file film filter finger fire firewall fish flag flat flavor fleet flight floor flower fold folder
food football force forecast forest fork form format formula forum foundation fraction frame framework freight frequency
fridge friend front fruit fuel function fund fur gallery game garage garden gas gate gesture giant gift girl glass globe
glove goal gold government grade grain grant graph grass grid group guard guess guest guide guitar gym habit hair hall
hammer hand handle harbor hardware harvest hat head header health heart heat heater height help hero hill hint hobby
hole holiday home honey hope horse hospital hotel hour house housing human hunt husband ice icon idea identifier
identity image impact income index industry info information ingredient ink input inquiry insect inspection instance
instruction instrument insurance interest interface internet interview inventory investment investor invitation invoice
island issue item jacket jar jet jewel job joke journal judge juice jury justice kettle key keyboard keyword kid king
kitchen kite knee knife knowledge lab label labor ladder lake lamp land lane language laptop law lawyer layer lead
leader leaf league leather leave ledger leg length lesson letter level library license lid life light line link lip list
listener liter literature load loan location lock locker log logo loss luck luggage lunch lung machine magazine mailbox
maker manager manual map margin mark market marriage mask mass master match mate material matter mayor meal measure
medal media medicine meeting melody member memo memory mention menu merchant message metal meter method metric mile milk
mind mine minute mirror mission mistake mixture mode model moment money monitor month mood moon morning mortgage mother
motion motor mountain mouse mouth movie muscle museum music name nation nature neck need needle neighbor nerve network
news newsletter night noise nose note notebook notice notification number object occasion ocean offer office officer oil
onion operation operator opinion option orchestra origin outcome outfit outlet output oven owner package page paint
painting pair palace pan panel pants paper parcel parent park parking part participant partner party passport password
past patch path patient pattern pause payload payment peak pen pencil pension people pepper percent period permit person
pet phase phone photo phrase piano picture piece pilot pin pipe pitch pizza plan plane plant plate platform player
playlist plug pocket poem point policy pool population portal portfolio portrait position post poster pot potato power
practice prediction preference premium prescription present pressure price pride principle printer priority privacy
prize problem procedure process producer product profession professor profile profit program progress project promise
proof property proposal protection protein protocol provider purchase purpose puzzle quality quantity quarter query
question queue quota quote race rack radio rail rain range rank rate rating ratio reaction reader reason receipt recipe
record recording refund region registration relation relay release reminder rent repair replacement reply report
reporter reputation request requirement research reservation resident resource response rest restaurant result resume
return revenue review reward rhythm rice ring risk ritual rival river road robot rock rocket role roof room root rope
route row rug rule sail salad salary sale salt sample sand sandwich satellite sauce saving scale scanner scene schedule
schema scholar school science score screen script sea seal search season seat secret section sector security seed
selection seller sender sensor sentence sequence series server service session setting shape share sheet shelf shelter
shift ship shipment shirt shoe shop shot shoulder show side sight sign signal signature silk sister site situation size
skill skin sky sleeve slide slot smoke snack snow soap society sock sofa software soil solution son song sort soul sound
soup source space speaker speech speed spirit spoon sport spot spring staff stage stair stamp standard star start state
statement station statue status step stick stock stomach stone storage store storm story stranger strategy stream street
strength stress string structure student studio study style subject subscription success sugar suggestion suit suite
summary summer sun supplier supply support surface surgery survey suspect switch system table tablet tag talent tank tap
target task taste tax taxi tea teacher team tear technique technology teen telescope temperature template tempo tenant
tent term test text theater theme theory thermostat thing thought thread threat throat thumb ticket tide tie tile time
timer tip tire title token tone tool tooth top topic torch total touch tour tourist tower town toy trace track trade
tradition traffic trailer train trainer transaction transfer transport trash tray treatment tree trend trial triangle
trick trip trouble truck trust truth tube tunnel turn tutor twin type umbrella uncle union unit universe university
update upgrade usage user valley value valve van variable variant variety vase vault vector vegetable vehicle vendor
version victory video view village violin visa vision visit visitor vocabulary voice volume volunteer vote voucher wage
wagon waiter wall wallet warehouse washer waste watch water wave way weakness wealth weather website wedding week
weekend weight west wheat wheel width wife wind window wine wing winner winter wire wish witness woman wood wool word
work worker workshop world wound wrist writer yard year youth zone""".split()

ADJECTIVES = """able absolute active actual advanced alive amber ancient angry annual automatic available average aware bad basic
beautiful best better big bitter black blank blue bold brave brief bright broken brown busy calm careful central certain
cheap civil classic clean clear clever cold common complete complex confident constant cool correct cosy crazy current
curved custom daily damp dangerous dark dear deep default different difficult digital direct dirty double dry due dull
early eastern easy economic effective electric empty equal essential eternal exact external extra fair false familiar
famous fancy fast federal final financial fine firm first flat foreign formal former free frequent fresh full funny
future general gentle glad global golden good grand gray great green half handy happy hard healthy heavy helpful hidden
high historic hollow holy honest hot huge hungry icy ideal immediate important independent initial inner innocent inside
internal joint jolly junior just kind large last late latest lazy lead legal light likely little live local long loose
loud lovely low lower lucky mad main major male manual massive maximum medical mental mild minimum minor missing mobile
modern moral musical narrow national native natural neat necessary negative nervous new next nice noisy normal northern
obvious odd official old only open optional orange original other outer overall pale past perfect permanent personal
physical pink plain polite poor popular positive possible powerful practical present pretty previous primary prime
private proper proud public pure purple quick quiet random rapid rare raw ready real recent red regular relevant remote
rich right rough round royal rural sad safe same secondary senior sensitive separate serious several severe sharp shiny
short silent silver similar simple single slow small smart smooth soft solid sorry southern spare special specific
square stable standard static steady steep still strange strict strong subtle sudden suitable sunny super sure sweet
tall temporary tender terrible thick thin tidy tight tiny tired top total tough traditional typical unable unique
universal unknown unusual upper urgent useful usual valid valuable various vast verbal virtual visible vital vivid warm
weak wealthy weekly weird western wet white whole wide wild willing wise wonderful wooden wrong yellow young""".split()

VERBS = """accept access achieve acquire act activate adapt add adjust adopt advise afford agree aim allow amend analyze announce
answer appear apply appoint approve archive argue arrange arrive ask assess assign assist assume attach authenticate
authorize avoid backup balance ban become begin believe belong bind blend block book bookmark boost borrow break breathe
brew bring broadcast browse build burn buy calculate calibrate call cancel capture care carry cast catch cause celebrate
challenge change charge chat check cheer choose classify clean clear climb clone close collect combine come comment
commit communicate compare complain complete compose compress compute conduct configure confirm connect consider consult
consume contact contain continue contribute control convert cook cool coordinate copy correct count cover create cross
cure customize cut dance deal declare decline decode decorate decrease dedicate define delay delete deliver demand deny
depend deploy derive describe deserve design detect determine develop diagnose dial differ digest direct disable discard
discover discuss dismiss display dispose distribute dive divide do donate double doubt download draw dream dress drive
drop dry dump earn eat edit educate elect eliminate email embed emit employ enable encode encourage end enforce engage
enhance enjoy enroll ensure enter erase escape establish estimate evaluate examine exchange excuse execute exercise
exist expand expect experience explain explore export express extend face fail fall fast favor fear feed feel fetch
fight figure file fill filter finance find finish fire fit fix flag flip float flow fly focus fold follow force forget
forgive form format forward found frame freeze fry fund gain gather generate get give go grab grant greet grind group
grow guarantee guard guess guide handle hang happen head heal hear heat help hide highlight hire hit hold hope host hunt
hurry identify ignore imagine implement import improve include increase indicate inform inherit initialize inject insert
insist inspect install insure integrate intend interpret introduce invest investigate invite invoke involve iron issue
join joke judge jump keep kick knock know label land last laugh launch lay lead learn leave lend let lie lift like limit
link list listen live load lock log look lose love lower maintain make manage manufacture map mark marry match matter
mean measure mention merge mind minimize miss mix modify monitor motivate mount move multiply mute name need negotiate
nominate normalize notify observe obtain occur offer open operate oppose optimize order organize overcome owe own pack
paint pair park parse participate pass patch pause pay perform permit persuade phone photograph pick pin place plan
plant play plug point post pour practice praise pray predict prefer prepare present preserve press pretend prevent print
process promise promote propose protect prove provide provision publish pull punish purchase push put query question
queue quit quote raise rank rate reach react read realize receive recognize recommend reconcile record recover recruit
recycle redeem redirect reduce refer reflect refresh refuse register regret reject relate relax release reload rely
remain remember remind remove rename render renew rent reorder repair repeat replace reply report represent request
rescue reserve reset resist resize resolve respond rest restart restore resume retire retrieve retry return reveal
review revoke reward ride ring rise risk roll rotate route rule run rush satisfy save say scan schedule score scroll
seal search seat seek seem sell send separate serve set settle shake shape share ship shop shout show shuffle shut sign
sing sit skip sleep slide smell smile snap solve sort sound speak specify spell spend split spread stack stand start
state stay stick stimulate stop store stretch strike study submit subscribe succeed suggest summarize supply support
suppose survive suspect suspend swap swim switch sync tag take talk taste teach tear tell terminate test thank think
throw tie time toggle touch tour trace track trade train transfer transform translate transmit transport travel treat
trigger trim trust try tune turn type understand undo unite unlock unpack unsubscribe update upgrade upload upset use
validate vary verify view visit vote wait wake walk want warn wash waste watch water wear weigh win wipe wish withdraw
wonder work worry wrap write""".split()

CITIES = """Aberdeen Accra Algiers Amsterdam Ankara Antwerp Athens Auckland Austin Baghdad Baku Bangkok Barcelona Basel Beijing
Beirut Belfast Belgrade Bergen Berlin Bern Bogota Bologna Bonn Boston Bremen Brisbane Bristol Brussels Bucharest
Budapest Cairo Calgary Caracas Cardiff Casablanca Chicago Cologne Copenhagen Dakar Dallas Damascus Delhi Denver Detroit
Doha Dresden Dubai Dublin Durban Edinburgh Florence Frankfurt Geneva Genoa Ghent Glasgow Graz Hamburg Hanoi Havana
Helsinki Houston Istanbul Izmir Jakarta Karachi Kiev Kyoto Lagos Lahore Leeds Leipzig Lima Lisbon Liverpool London
Luanda Lyon Madrid Manchester Manila Marseille Melbourne Memphis Miami Milan Minsk Montreal Moscow Mumbai Munich Nairobi
Naples Nice Nicosia Oporto Osaka Oslo Ottawa Paris Perth Phoenix Porto Prague Quebec Quito Riga Rome Rotterdam Salzburg
Santiago Sarajevo Seattle Seoul Seville Shanghai Singapore Sofia Stockholm Stuttgart Sydney Tallinn Tampere Tbilisi
Tehran Tirana Tokyo Toronto Toulouse Trieste Tripoli Tunis Turin Utrecht Valencia Vancouver Venice Verona Vienna Vilnius
Warsaw Wellington Winnipeg Zagreb Zurich""".split()

FIRST_NAMES = """Ada Adam Aisha Alan Alba Alex Ali Alice Amara Amir Amy Ana Andrew Anna Arthur Ava Bella Ben Boris Bruno Carl Carla
Carmen Cecil Chen Clara Colin Cora Daniel Daria David Diana Diego Dora Edith Elena Eli Elsa Emil Emma Eric Erin Esther
Eva Felix Finn Fiona Flora Frank Freya George Gina Grace Greta Hana Hans Harry Hassan Helen Henry Hugo Ida Igor Ines
Ingrid Irene Iris Isaac Ivan Jack Jacob James Jane Jasper Joan John Jonas Jorge Julia June Karen Karl Kate Ken Kira Lara
Laura Lea Lena Leo Liam Lily Linda Lisa Louis Lucas Lucy Luis Luna Marco Maria Mark Marta Martin Mary Max Maya Mei Mia
Mike Mila Milo Mina Mira Mona Nadia Nina Noah Nora Olga Oliver Omar Oscar Otto Pablo Paul Paula Peter Petra Rami Rita
Robert Rosa Ruth Sam Sara Selma Simon Sofia Sonia Stella Sven Tara Theo Thomas Tim Tina Tom Uma Vera Victor Viola Walter
Wanda Yara Yuki Zara Zoe""".split()

# Words that no training text and not the tokenizer has seen: half of what an evaluation draws from the lists.
OUTSIDE_NOUNS = """acorn alley almond antenna apron archer arena armor auditor aunt bakery bamboo bandage banquet barn basil beetle berry
binder bishop blossom bolt bracelet bride buckle bumper bunker burrow cabbage cactus canal canyon cereal chimney cinder
clerk cliff cobra comet compost copper coral crayon cricket crystal cushion daisy decoy denim dessert diesel dome donkey
dragon eagle elbow elevator emblem envoy fairy falcon faucet fender fiddle flask flute foam fountain fox gadget galaxy
geyser ginger glacier goose gravel grocery gutter hamlet hatch helmet herb hinge hockey hood hurdle igloo ivory
jacuzzi jelly jungle kayak kennel kiosk lagoon lantern lemon lever lizard locket lotus lumber magnet mango maple marble
meadow mentor moss mustard napkin nectar nest nozzle oasis olive orbit ostrich otter oyster paddle parrot pebble pelican
pigeon pillow plaza pouch prairie propeller pumpkin puppet quarry quilt rabbit radar raft ranch raven reef ribbon riddle
ruby saddle salmon satchel scarf sculptor shovel shrimp shuttle siren skeleton sketch slipper sphere spice spine squad
squirrel stadium stool straw submarine sunset swamp sword syrup teapot thorn thunder tiger tomb trophy trumpet turtle
tweed valet velvet vinegar volcano walnut wasp whistle widget windmill wizard wolf wrench yacht zebra""".split()
OUTSIDE_ADJECTIVES = """agile arctic bald barren bleak blunt chilly clumsy cozy crisp crude dazzling dizzy drowsy dusty eager elastic faint
fatal feeble fierce flexible fluffy fragile frosty fuzzy gloomy graceful greasy gritty harsh hasty hazy humble humid
idle jagged keen lavish lively lonely lunar misty moist muddy nimble nutty obscure opaque organic petty plump prickly
quaint rigid rusty salty scarce shallow shy sleek slim slippery snug solar sour spicy stale sticky stiff stout sturdy
swift tame tart tense timid tropical vacant vague wary wavy witty zesty""".split()
OUTSIDE_VERBS = """accumulate align allocate assemble bake barter benchmark braid carve chase circulate collide conceal confiscate crawl
debug deduct detach dispatch dissolve dodge eject enlist erect evict excavate fasten ferment flatten forge garnish glue
hoist ignite imitate inflate inhale invert juggle knead lure mingle mock nudge orbit partition peel pierce plow prune
quarantine ration rinse scold scrape scrub sculpt shatter shave shred simmer sketch slice sniff squeeze stitch strip
summon tickle tilt unload unwrap uproot vacuum vanish weave weld whisper yank zip""".split()
OUTSIDE_CITIES = """Bilbao Boulder Bruges Cannes Cordoba Gdansk Goa Haifa Innsbruck Kobe Krakow Leiden Malaga Medellin Nantes Odessa Palermo
Pisa Poznan Rosario Tampa Tromso Varna Xian Yerevan Zaragoza""".split()
OUTSIDE_FIRST_NAMES = """Agnes Amelia Barney Blake Bridget Chloe Cyrus Dalia Dexter Elvira Fabian Gwen Hector Heidi Ivy Jonah Leila Malik Noelle
Orson Phoebe Quentin Rowan Silas Tessa Ursula Vince Wilma Xenia Yvonne Zelda""".split()

FRESH = 0.45  # of the training draws from the lists above: a made-up word instead, so that no list can be learnt by heart
KNOWN = sorted({x.lower() for x in NOUNS + ADJECTIVES + VERBS + CITIES + FIRST_NAMES})
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


ACCENTS = dict(zip("aceinosuyz", ("áàâäãå", "çćč", "éèêëę", "íìîï", "ñń", "óòôöõø", "śšß", "úùûü", "ýÿ", "žźż")))
SCRIPTS = [(0x410, 0x44F), (0x391, 0x3A1), (0x3B1, 0x3C9), (0x4E00, 0x5E00), (0x3041, 0x3093), (0xAC00, 0xAD00), (0x5D0, 0x5EA), (0x627, 0x64A), (0x905, 0x939), (0x1F600, 0x1F64F), (0x1F300, 0x1F5FF)]
# Words of prompts and templates, which nothing else would ever ask for.
COMMON = """a about above after again against all also always an and another any are around as at away back be because been before
being below between both but by can come comes could did do does done down during each either else even ever every everyone exactly few
fits for from function functions give given go had has have he her here him his how i if in into is it its itself just kind least less
like made many may me might more most much must my neither never no nobody none nor not nothing now of off often on once one only or
other our out over own parameter parameters properties rather request requests required she should since so some such than that the
their them then there these they this those though through to too tools under until up upon us use user value values very was we were
what when where which while who whom whose why will with within without would yet you your""".split()


class Words:
    """Draws for one dialogue. `evaluation` chooses the side of the split."""

    def __init__(self, rng: random.Random, evaluation=False, thinking=True):
        self.rng = rng
        self.evaluation = evaluation
        self.thinking = thinking

    def pick(self, words, outside):
        """A word of the list, in training often a fresh one instead, in evaluation one from outside."""
        if self.evaluation:
            return self.rng.choice(outside if self.chance(0.5) else words)
        if self.chance(FRESH):
            word = self.fresh()
            return word.capitalize() if words[0][0].isupper() else word
        return self.rng.choice(words)

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
        kind = self.number(0, 10)
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
        if kind == 7:
            return self.symbols()
        if kind == 8:
            return self.accented()
        if kind == 9:
            return self.any(self.foreign, self.common)()
        return f"{self.fresh()}@{self.fresh()}.{self.any('com', 'org', 'net', 'io', 'de')}"

    def common(self):
        return self.any(*COMMON)

    def symbols(self):
        """Prices, shares, tags and other strings with signs."""
        n, word = self.number(0, 9999), self.fresh()
        return self.any(f"${n}", f"{n}%", f"#{word}", f"{word}&{self.fresh()}", f"C:\\{word}\\{self.fresh()}", f"`{word}`", f"{word}|{n}", f"~/{word}", f"{word}*", f"{n}^2", f"{{{word}}}",
                        f"€{n}", f"£{n}", f"{n}°C", f"{word};{n}", f"{word}={n}", f"<{word}>", f"[{n}]", f"{word}?{self.fresh()}={n}", f"+{n}", f"{word}!", f"({word})", f"@{word}", f"{n}:{n}",
                        "".join(self.rng.choices("!#$%&*+-./:;<=>?@[]^_`{|}~", k=self.number(1, 5))))

    def accented(self):
        """A word of another European language, as far as letters go."""
        word = "".join(self.any(*ACCENTS[c]) if c in ACCENTS and self.chance(0.4) else c for c in self.fresh())
        return word.capitalize() if self.chance(0.3) else word

    def foreign(self):
        """Letters or pictures of one script."""
        first, last = self.any(*SCRIPTS)
        return "".join(chr(self.number(first, last)) for _ in range(self.number(1, 5)))

    def noun(self):
        return self.pick(NOUNS, OUTSIDE_NOUNS)

    def adjective(self):
        return self.pick(ADJECTIVES, OUTSIDE_ADJECTIVES)

    def verb(self):
        return self.pick(VERBS, OUTSIDE_VERBS)

    def city(self):
        return self.pick(CITIES, OUTSIDE_CITIES) if self.chance(0.6) else self.fresh().capitalize()

    def first_name(self):
        return self.pick(FIRST_NAMES, OUTSIDE_FIRST_NAMES) if self.chance(0.65) else self.fresh().capitalize()

    def first_names(self, least, most):
        """Different ones."""
        names = []
        while len(names) < self.number(least, most):
            name = self.first_name()
            if name not in names:
                names.append(name)
        return names

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
