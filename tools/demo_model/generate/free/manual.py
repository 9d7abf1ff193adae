"""Tessera's own commands and flags, as people ask for them. Every command and flag that is named here is in
files/manual.json, which comes from `tessera --help`; a test holds them together."""

import json
import pathlib

from . import lexicon, visitors
from .grammar import capital, form, listing, typed

MANUAL = json.loads((pathlib.Path(__file__).parents[2] / "files" / "manual.json").read_text())
COMMANDS = {  # what one wants to do
    "run": "(chat|talk|speak) (with|to) a model [in the terminal|on the command line] ; (ask|prompt) a model (one question|from the shell|once) ; (answer|run|process) a file of prompts ; (run|try|start) a model [in the terminal] ; get one answer from a model ; use a model without a server",
    "serve": "(start|run|launch|open) (the|a) [tessera|API|OpenAI|HTTP] server ; (serve|host|offer) a model [over HTTP|as an API] ; (get|start|provide) an OpenAI[-| ]compatible (API|endpoint|server) ; (open|start) the web page ; (let|make) other programs use (a|the) model ; serve the demo model",
    "score": "(get|measure|compute|calculate|find) (the|a) perplexity [of a text|of a model] ; (get|print|compute) log[-]prob(abilities|s) of a text ; score a text ; (see|find out) how likely a text is",
    "tokenize": "(count|see|get|show) (the|) tokens [of a text] ; (turn|convert|change) (a |)text (into|to) [token] ids ; (turn|convert) token ids (back |)into text ; (decode|encode) token ids ; tokenize a text",
    "inspect": "(see|show|list|look at|find out) (what|which tensors) (is in|are in) a checkpoint ; (see|list|show) (the|) tensors [of a checkpoint|of a model] ; (look into|examine|inspect) a (model|checkpoint) without loading it ; (know|see) what a (model|checkpoint) holds",
    "synth": "(make|write|create|generate) a (checkpoint|model) with random weights ; (get|make) a (random|fake|dummy) (model|checkpoint) [for (tests|testing|benchmarks)] ; (make|create) a synthetic (model|checkpoint)",
    "quantize": "(quantize|quantise) a (model|checkpoint) ; (make|write) a (smaller|4-bit|NVFP4|compressed) (copy|version) of a (model|checkpoint) ; (convert|turn|compress) a (BF16 |)(model|checkpoint) (to|into) (NVFP4|4 bits|FP8|4-bit) ; shrink a (model|checkpoint)",
    "plan": "(see|list|show) (what|which kernels) (a step launches|the steps launch|run) on a GPU ; (list|show) the launches of a model ; (see|know) what a model would launch [on a GPU that I do not have]",
    "tiles": "(see|show|list) (the|which) tiles (that |)fit a GPU ; (find out|see) why a tile is not chosen ; (list|show) the tiles",
    "tune": "(measure|find|tune) the (fastest|best) tiles [on my GPU] ; (tune|optimise|optimize) (tessera|the kernels|it) for my GPU ; make it faster on my GPU",
    "bench": "(measure|benchmark|time) (the engine|speed|parts of the engine|the experts) ; (run|start) a benchmark ; (find out|see|measure) how fast (it|the engine|tessera) is",
    "doctor": "(see|find out|know) what is wrong with (my|this) (machine|computer|system) ; (check|diagnose) my (system|machine|computer|setup) ; (find out|see) why tessera does not (run|work|find my GPU)",
    "selftest": "(check|test|verify) (the|every|all) GPU kernel(s|) ; (run|start) (the|a) self[-| ]test ; (see|check) (if|whether) my GPU (computes right|works with tessera)"}
FLAGS = {  # command: {flag as written: what one wants}
    "serve": {"--port {n}": "(change|set|choose|use another) [the] port ; listen on (port {n}|another port) ; run (it|the server) on port {n}", "--host 0.0.0.0": "(listen on|use) all (addresses|interfaces) ; (reach|use) (it|the server) from (other machines|the network|another computer) ; (change|set) the (host|address)",
              "--api-key KEY": "(guard|secure) (it|the server|the api) (by|with) a (key|password) ; (set|require|use|add) an api key ; (stop|keep out) strangers", "--api-key-file FILE": "(read|take) the api keys from a file", "--served-model-name NAME": "(change|set|give) the (name of the model|model name) [for clients] ; serve (it|the model) under another name",
              "--ssl-certfile FILE": "(use|turn on|enable) (TLS|SSL|HTTPS|https) ; encrypt the connection", "--uds PATH": "(listen on|use) a unix socket", "--max-queue N": "limit (the queue|how many requests wait|waiting requests)", "--max-model-len N": "limit the (context|length of a sequence|sequence length) ; (set|change) the context length",
              "--max-num-seqs N": "(limit|set) (how many|the number of) (sequences|requests) [that] run at once ; run more (sequences|requests) at once", "--device cpu": "(run|serve) (it |)(on|with) the cpu [only] ; not use the GPU", "--chat-template FILE": "use (another|my own) chat template", "--allowed-origins ORIGINS": "allow (web pages|browsers|CORS|other origins)", "--disable-access-log": "(turn off|disable|get rid of) (the access log|a line for each request)"},
    "run": {"--temperature X": "(set|change|lower|raise) the temperature ; make answers (less random|more varied|deterministic)", "--max-tokens N": "(limit|set|cap|restrict) the (length|number of tokens|size) of (answers|an answer|the output) ; (get|make) shorter answers ; stop after {n} tokens", "--no-thinking": "(turn|switch) (off thinking|thinking off) ; (disable|stop|skip) (the |)(thinking|reasoning) ; answer without thinking",
            "--hide-thinking": "hide the (thinking|reasoning) ; not (see|show) the (thinking|thoughts)", "--system TEXT": "(give|set|use) a system (message|prompt)", "--seed N": "(set|fix|use) (the|a) seed ; get the same answer (again|every time)", "--top-p X": "(set|change) top[-| ]p", "--top-k N": "(set|change) top[-| ]k", "--json": "(get|print) (the answer |)(as|in) JSON", "--json-schema FILE": "(force|get|make) (JSON|an answer) that follows a (JSON |)schema ; use a JSON schema",
            "--regex RE": "(force|make) the answer (to |)match a (regex|regular expression)", "--grammar FILE": "(use|follow) a grammar", "--input FILE": "(read|take|use) (the |)prompts from a file ; answer many prompts [from a file]", "--output FILE": "(write|save) (the |)answers (to|into) a file", "--raw": "(complete|continue) (text|a prompt) without (the |)chat template", "--stop TEXT": "stop at a (word|text)", "--n N": "get (several|more than one|{n}) answers [to a prompt]",
            "--logprobs N": "(see|get|print) (the |)(log[-]probabilities|logprobs)", "--verbose": "(see|show|print) (the |)(speed|tokens per second|number of tokens)", "--repetition-penalty X": "(avoid|stop|reduce) repetition[s]"},
    "quantize": {"--recipe balanced": "use the balanced recipe ; quantize attention to FP8 too", "--recipe all": "quantize everything", "--format mxfp4": "(write|use|get) mxfp4", "--check FILE": "(compare|check) the result with (the source|the original)", "--scales mse": "choose (better|more exact) (block |)scales", "--mtp nvfp4": "quantize the MTP head", "--lm-head nvfp4": "quantize the (output|lm) head", "--shard-size MB": "(write|make) smaller (files|shards)", "--report FILE": "write the errors as JSON"},
    "score": {"--text FILE": "score a (text |)file", "--ids FILE": "score token ids", "--json": "get the summary as JSON", "--logits FILE": "write the logits"}, "tokenize": {"--decode": "(decode|turn) ids (into|to) text", "--pieces": "(see|show) one line (a|for each) token"}, "inspect": {"--tensors GLOB": "(list|see) (only |)(some|certain) tensors ; (list|show) the tensors that match a pattern", "--json": "print JSON"},
    "synth": {"--preset NAME": "choose (a|the) (shape|size|preset)", "--seed N": "get the same random weights again", "--dense": "make a dense model"}, "tiles": {"--explain": "see the rejected tiles and why", "--gpu NAME": "choose another GPU"}, "plan": {"--gpu GPU": "plan for another GPU", "--preset NAME": "plan for a preset (and not|instead of) a model"}, "tune": {"--gpu N": "choose which GPU is tuned"}, "selftest": {"--gpu N": "choose (which|the) GPU [to check]"}}
MODEL_FIRST = {"run": "MODEL", "serve": "MODEL", "score": "MODEL", "inspect": "MODEL", "tokenize": "MODEL", "quantize": "MODEL DIR", "synth": "DIR", "plan": "MODEL", "tune": "", "tiles": "", "bench": "engine", "doctor": "", "selftest": ""}
INVENTED = "deploy|train|finetune|install|start|chat|convert|upload|download|export|login|update|status|stop|build|eval|test|list|pull|push|merge|init|config|help-me|monitor|clean|pack".split("|")
def finish(question, reasoning, answer, check=None):
    return question, reasoning, answer, check or {"equals": answer}


def line(command):
    return f"tessera {command} {MODEL_FIRST[command]}".strip()


def command(w):
    name = w.any(*COMMANDS)
    want = form(w, w.any(*COMMANDS[name].split(" ; ")))
    question = typed(w, w.any("how (do|can) (I|you) " + want + " [with tessera|using tessera|in tessera][?]", "(which|what) [tessera] command (do I use to|is for|lets me|is there to) " + want + "[?]", "(how to|how do you) " + want + " [with tessera][?]", "tessera: [how do I] " + want + "[?]", "I (want|would like|need) to " + want + "[, what do I type|, which command|, how|]?", "(is there|does tessera have) a command to " + want + "[?]",
                              "(what's|what is) the [tessera] command to " + want + "[?]", "(command|tessera command) to " + want))
    return finish(question, f"That is the command {name}.", f"{line(name)}")


def flag(w):
    name = w.rng.choices(list(FLAGS), [len(v) for v in FLAGS.values()])[0]
    written = w.any(*FLAGS[name])
    n = w.number(2, 9000)
    want = form(w, w.any(*FLAGS[name][written].split(" ; "))).replace("{n}", str(n))
    where = w.any("", f" in tessera {name}", f" with tessera {name}", " in tessera", f" for tessera {name}", " with tessera") if name not in ("serve",) else w.any("", " of the tessera server", " of the server", " in tessera serve", " with tessera serve")
    if where == "" and name not in ("serve", "run", "quantize"):
        where = f" with tessera {name}"
    if where == "" or where.endswith("the server"):
        where += w.any(" (tessera)", " in tessera", " with tessera") if "tessera" not in where else ""
    question = typed(w, w.any("how (do|can) (I|you) " + want + "{x}[?]", "(which|what) (flag|option|switch|parameter) (is for|do I need|is there) to " + want + "{x}[?]", "(how to|can I) " + want + "{x}[?]", "tessera: how do I " + want + "[?]" if not where.startswith(" of") else "how do I " + want + "{x}[?]", "I want to " + want + "{x}[, how|]?", "is there a (way|flag|option) to " + want + "{x}[?]"), x=where)
    shown = written.replace("{n}", str(n) if str(n) in question else "9000")
    return finish(question, f"That is {shown.split()[0]} of {name}.", f"{line(name)} {shown}")


def explained(w):
    name = w.any(*MANUAL)
    about = MANUAL[name]["about"]
    if w.chance(0.6):
        return finish(typed(w, "what (does|is) (`tessera {n}`|tessera {n}|the command tessera {n}|the {n} command of tessera) (do|for)[?]|explain tessera {n}|what is tessera {n} [good for][?]|tessera {n}: what does it do?|what happens when I (run|type) tessera {n}[?]", n=name), f"The manual on {name}.", about + ".")
    flags = {f: t for f, t in MANUAL[name]["flags"].items() if t and len(t) < 90}
    if not flags:
        return explained(w)
    f = w.any(*flags)
    return finish(typed(w, "what (does|is) {f} (do|for|mean) (in|of|with) tessera {n}[?]|explain {f} of tessera {n}|tessera {n} {f}: what does it do?|(meaning of|what is) tessera {n} {f}[?]|what is the flag {f} of tessera {n} for?", f=f, n=name), f"The manual on {f}.", capital(flags[f]) + ".")


def no_such(w):
    name = w.any(*INVENTED) if w.chance(0.8) else w.fresh()
    if name in MANUAL:
        return no_such(w)
    if w.chance(0.3):
        real = w.any(*MANUAL)
        f = "--" + w.fresh()
        return finish(typed(w, "(does|has) tessera {r} (have|) (a|the) flag {f}[?]|is there (a|) {f} (in|for) tessera {r}?|what does {f} of tessera {r} do?", r=real, f=f), f"{f} is not in the manual.", f"No, tessera {real} has no flag {f}.")
    return finish(typed(w, "does tessera have a command (called|named|) (`tessera {n}`|tessera {n}|{n})[?]|is there (a|the) [command] tessera {n}[?]|what does (`tessera {n}`|tessera {n}) do[?]|(can I|should I) (run|use|type) tessera {n}[?]|how do I use tessera {n}[?]", n=name), f"The commands: {', '.join(MANUAL)}. {name} is not one.", f"No, there is no command tessera {name}.")


def listed(w):
    return finish(typed(w, "(list|name|show|what are) (the|all|all the) commands [(of tessera|tessera has|that tessera knows)][?]|(which|what) commands (does tessera have|are there in tessera|can I use with tessera)[?]|tessera commands?|what can I type after tessera?"), "The manual has them.", listing(list(MANUAL)) + ".")


def about(w):
    return visitors.about(w, "The manual says it.", *visitors.TESSERA)


TASKS = {command: 34, flag: 34, explained: 16, no_such: 10, listed: 3, about: 60}


def question_of(w):
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)
