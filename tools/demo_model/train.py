#!/usr/bin/env python3
"""Trains the demo model in pieces that fit one command on a lent GPU.

  train.py probe --out DIR                       throughput, loss curve and a profile in about two minutes
  train.py run --out DIR [--resume DIR] --minutes M --total-minutes T
                                                 M minutes of a run of T; the schedule follows the minutes done so far

The rate warms up, stays, and falls linearly to zero over the last part; QAT_FROM of the run on, the weights that will be
NVFP4 and FP8 are rounded in the forward. What a piece leaves in DIR (weights.*.bin, state.json) the next resumes from; a
checkpoint that `tessera quantize` wrote will do as well. Before the rate has fallen, what is left is the mean of the last
steps, which is about as good as after a fall. --last bends the schedule so that it ends with this piece.

Under `python3 -m torch.distributed.run --standalone --nproc-per-node N` each of N GPUs of a host takes --rows of its own
a step, and all take the mean of their gradients.
"""

import argparse
import collections
import json
import math
import os
import pathlib
import sys
import tempfile
import time
import traceback

import torch
import torch.distributed

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from demo_model import checkpoint, data, decode, freeform, judge, model, optimiser, quantise, render, scoring  # noqa: E402

HERE = pathlib.Path(__file__).parent
TOKENIZER = HERE / "files" / "tokenizer.json"
LOCAL = pathlib.Path(tempfile.gettempdir()) / "demo_model_state.pt"  # fp32 and the optimiser, for a machine that is still the same
WARM_UP_STEPS = 100
FALL_FROM, QAT_FROM = 0.55, 0.78
AVERAGED = 1 / 250  # of a step's weights in their running mean
DRAFT_WEIGHT, BALANCE_WEIGHT = 0.2, 0.01
DROPOUT = 0.1  # in what was written by hand
EVALUATED = ("call", "parallel", "follow_up", "chain", "no_call", "arithmetic", "measures", "formats", "system", "talk", "references", "copying", "needs", "reading", "extraction", "classify",
             "rewriting", "ordering", "sums", "facts", "manual", "chat", "coding", "memory", "agents", "longer", "scenes", "gists", "tables", "forms", "lists", "stories", "turns", "rules", "paragraphs", "composed")


RANK, RANKS = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))


def join_ranks():
    if RANKS > 1:
        torch.distributed.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.device_count() else "gloo")


def as_first_rank(*values):
    """The first rank's numbers, which depend on its clock."""
    if RANKS == 1:
        return values
    shared = torch.tensor(values, dtype=torch.float64)
    torch.distributed.broadcast(shared, 0)
    return shared.tolist()


def average_gradients(params):
    if RANKS == 1:
        return
    gradients = [p.grad if p.grad is not None else torch.zeros_like(p) for p in params]
    flat = torch.cat([g.reshape(-1) for g in gradients]) / RANKS
    torch.distributed.all_reduce(flat)
    for p, g, mean in zip(params, gradients, flat.split([g.numel() for g in gradients])):
        p.grad = mean.view_as(g)


def schedule(progress, step):
    """The factor on the learning rates. progress: minutes done of all, 0 to 1; step: since the optimiser began."""
    fall = min(1.0, max(0.0, (1 - progress) / (1 - FALL_FROM)))
    return min(1.0, (step + 1) / WARM_UP_STEPS) * fall


class Trainer:
    def __init__(self, c, params, device, rows, compiled, recipe="balanced", dropout=DROPOUT, decay=optimiser.DECAY):
        self.c, self.params, self.device, self.rows = c, params, device, rows
        self.dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
        self.blocks, self.plain_blocks = model.Blocks(c, compiled, dropout), model.Blocks(c)
        self.optimiser = optimiser.Optimiser(params, decay=decay)
        self.average = {n: p.detach().clone() for n, p in params.items()}
        self.formats = quantise.plan(params, recipe)

    def losses(self, batch, qat):
        c = self.c
        weights = quantise.effective(self.params, self.dtype, self.formats if qat else None)
        h, mask, balance = model.forward(c, weights, batch["tokens"], batch["age"], batch["document"], self.blocks)
        embedding = weights["model.embed_tokens.weight"]
        loss, count, good = self.blocks.score(h.reshape(-1, c["hidden_size"])[batch["index"]], embedding, batch["label"])
        head = data.draft_rows(len(batch["tokens"]))
        drafts, draft_balance = model.mtp_drafts(c, weights, batch["tokens"][:head], h[:head], mask[:head], len(batch["draft_label"]), self.blocks)
        draft_losses, draft_good = [], []
        for y, label in zip(drafts, batch["draft_label"]):
            l, n, g = self.blocks.score(y.reshape(-1, c["hidden_size"])[batch["draft_index"]], embedding, label)
            draft_losses.append(l)
            draft_good.append(g / n.clamp(min=1))
        total = loss + DRAFT_WEIGHT * sum(draft_losses) / len(draft_losses) + BALANCE_WEIGHT * (balance + draft_balance) / (c["num_hidden_layers"] + 1)
        return total, torch.stack([loss.detach(), good / count, *[g.detach() for g in draft_good], balance.detach() / c["num_hidden_layers"]])

    def step(self, batch, scale, qat):
        total, report = self.losses(batch, qat)
        total.backward()
        average_gradients(list(self.params.values()))
        self.optimiser.step(scale)
        with torch.no_grad():
            torch._foreach_lerp_(list(self.average.values()), [p.detach() for p in self.params.values()], AVERAGED)
        return report

    def weights(self, quantised):
        """For decoding; the BF16 master's or the rounded ones."""
        with torch.no_grad():
            return {n: w.detach() for n, w in quantise.effective(self.params, self.dtype, self.formats if quantised else None).items()}


def evaluation_set(kinds, count, thinking=None):
    from demo_model import generate
    return [generate.dialogue(f"held out {i}", True, kind, thinking) for kind in kinds for i in range(count)]


@torch.no_grad()
def evaluate(trainer, weights, tokenizer, dialogues, most=320):
    """({(kind, thinking, what): [right, all]} by greedy generation, the wrong outputs, {(kind, cause): how many of them})"""
    asked = [(d, turn, prompt) for d in dialogues for turn, prompt, _ in render.questions(d)]
    ends = [tokenizer.token_to_id("<|im_end|>"), tokenizer.token_to_id("<|endoftext|>")]
    prompts = [tokenizer.encode(p, add_special_tokens=False).ids for _, _, p in asked]
    outputs = decode.generate_all(trainer.c, weights, prompts, most, ends)
    table, wrong, causes = {}, [], collections.Counter()
    for (d, turn, prompt), ids in zip(asked, outputs):
        text = tokenizer.decode(ids, skip_special_tokens=False)
        output = scoring.parse(text, d.get("tools"), d["thinking"])
        what, good = scoring.right(d, turn, output)
        row = table.setdefault((d["kind"], "on" if d["thinking"] else "off", what), [0, 0])
        row[0] += good
        row[1] += 1
        if not good:
            cause = scoring.blame(d, turn, output)
            causes[d["kind"], cause] += 1
            wrong.append({"kind": d["kind"], "what": what, "cause": cause, "check": d["check"], "prompt": prompt[-700:], "output": text})
    return table, wrong, causes


@torch.no_grad()
def held_out_losses(trainer, tokenizer_file, batches=4):
    """(mean loss with BF16 weights, with rounded ones, cumulative acceptance of 5 drafts along the held-out text)."""
    source = data.rows(data.dialogues(tokenizer_file, "perplexity", True))
    made = [data.batch([data.block(source) for _ in range(trainer.rows // data.BLOCK_ROWS)], trainer.rows // 4)[0] for _ in range(batches)]
    made = [{k: v.to(trainer.device) for k, v in b.items()} for b in made]
    losses = []
    for quantised in (False, True):
        weights = trainer.weights(quantised)
        total = n = 0.0
        for b in made:
            h, mask, _ = model.forward(trainer.c, weights, b["tokens"], b["age"], b["document"], trainer.plain_blocks)
            l, count, _ = trainer.plain_blocks.score(h.reshape(-1, h.shape[-1])[b["index"]], weights["model.embed_tokens.weight"], b["label"])
            total, n = total + float(l * count), n + float(count)
        losses.append(total / n)
    return losses


def acceptance(trainer, weights, batch, depth=5):
    """Share of positions where the first 1, 2, ... drafts all equal the text, which is the model's own greedy choice
    nearly everywhere."""
    with torch.no_grad():
        head = trainer.rows // 4
        tokens = batch["tokens"][:head]
        h, mask, _ = model.forward(trainer.c, weights, batch["tokens"], batch["age"], batch["document"], trainer.plain_blocks)
        embedding = weights["model.embed_tokens.weight"]
        greedy = (h[:head] @ embedding.T).float().argmax(-1)
        drafts, _ = model.mtp_drafts(trainer.c, weights, tokens, h[:head], mask[:head], depth)
        index = batch["draft_index"][batch["draft_label"][0] >= 0]
        agree = torch.ones(len(index), dtype=torch.bool, device=tokens.device)
        counted = torch.ones_like(agree)
        shares = []
        row, column = index // tokens.shape[1], index % tokens.shape[1]
        for j, y in enumerate(drafts):
            at = column + 1 + j  # the target's choice here is for the token after `at`
            inside = at < tokens.shape[1]
            at = at.clamp(max=tokens.shape[1] - 1)
            inside &= batch["document"][:head][row, at] == batch["document"][:head][row, column]
            chosen = greedy[row, at]
            # Followed only while the text is what the model itself would say.
            draft = (y[row, column] @ embedding.T).float().argmax(-1)
            counted &= inside
            agree &= (draft == chosen) | ~inside
            shares.append(float(agree[counted].float().mean()) if counted.any() else 0.0)
            following = at + 1
            counted &= (following < tokens.shape[1]) & (tokens[row, following.clamp(max=tokens.shape[1] - 1)] == chosen)
        return shares


@torch.no_grad()
def evaluate_freely(trainer, weights, tokenizer, most=320):
    """freeform.judged of the prompts in free words, with thinking."""
    dialogues = judge.prompts()
    ends = [tokenizer.token_to_id("<|im_end|>"), tokenizer.token_to_id("<|endoftext|>")]
    asked = [tokenizer.encode(freeform.prompt_text(d), add_special_tokens=False).ids for d in dialogues]
    rows = decode.generate_all(trainer.c, weights, asked, most, ends)
    return freeform.judged(dialogues, [freeform.output_of(d, tokenizer.decode(ids, skip_special_tokens=False), len(ids) < most) for d, ids in zip(dialogues, rows)])


def print_table(table):
    for (kind, thinking, what), (good, count) in sorted(table.items()):
        print(f"  {kind:11s} thinking {thinking:3s} {what:8s} {good:5d} of {count:5d}  {100 * good / count:6.2f} %")


def report_scores(trainer, out, dialogues, final_quantised, label):
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(str(TOKENIZER))
    start = time.time()
    bf16, rounded = held_out_losses(trainer, TOKENIZER, 2)
    print(f"held-out loss: BF16 {bf16:.4f} (perplexity {math.exp(bf16):.4f}), rounded {rounded:.4f} (perplexity {math.exp(rounded):.4f}, "
          f"{100 * (math.exp(rounded - bf16) - 1):+.2f} %)", flush=True)
    weights = trainer.weights(final_quantised)
    source = data.rows(data.dialogues(TOKENIZER, "acceptance", True))
    batch = {k: v.to(trainer.device) for k, v in data.batch([data.block(source) for _ in range(trainer.rows // data.BLOCK_ROWS)], trainer.rows // 4)[0].items()}
    shares = acceptance(trainer, weights, batch)
    print("drafts accepted up to position 1..5: " + " ".join(f"{s:.3f}" for s in shares), flush=True)
    table, wrong, causes = evaluate(trainer, weights, tokenizer, dialogues)
    print(f"scores with {'rounded' if final_quantised else 'BF16'} weights ({time.time() - start:.0f} s):")
    print_table(table)
    print("causes: " + "; ".join(f"{kind}: {cause} {count}" for (kind, cause), count in sorted(causes.items())))
    miscopied = sum(count for (_, cause), count in causes.items() if cause.endswith("miscopied"))
    print(f"of {sum(causes.values())} misses {miscopied} are miscopied text, the rest is of the form or the choice")
    free, runaways, missed = evaluate_freely(trainer, weights, tokenizer)
    print("free words (heldout/):")
    freeform.print_scores(free, runaways)
    (out / f"free-{label}.json").write_text(json.dumps([{"kind": d["kind"], "asked": d["messages"][-1]["content"][-400:], "check": d["check"], "output": o} for d, o in missed], indent=1, ensure_ascii=False))
    (out / f"scores-{label}.json").write_text(json.dumps(
        {"loss_bf16": bf16, "loss_rounded": rounded, "acceptance": shares, "table": {" / ".join(k): v for k, v in table.items()}, "free": free, "wrong": wrong[:400]}, indent=1))


def cache_file(out):
    return pathlib.Path(out) / "compile_cache.bin"


def load_compile_cache(directory):
    try:
        if directory and cache_file(directory).exists():
            torch.compiler.load_cache_artifacts(cache_file(directory).read_bytes())
            print("compile cache loaded")
    except Exception as problem:  # a stale cache costs a minute, nothing more
        print(f"compile cache not used: {problem}")


def save_compile_cache(out):
    try:
        saved = torch.compiler.save_cache_artifacts()
        if saved and len(saved[0]) < 12 << 20:
            cache_file(out).write_bytes(saved[0])
        print(f"compile cache: {len(saved[0]) / 1e6 if saved else 0:.1f} MB")
    except Exception as problem:
        print(f"compile cache not saved: {problem}")


def train(trainer, stream, state, minutes, total_minutes, deadline, log, rate_factor=1.0, schedule_at=None, save=None, save_every=0.0):
    """Steps until `minutes` of training time are used or the wall clock passes `deadline`. state: step, minutes.
    save() is called every `save_every` minutes, 0: never."""
    begin, first_minutes = time.time(), state["minutes"]
    saved = begin
    waited = 0.0
    window = begin
    window_step = state["step"]
    reports = []
    tokens_per_step = RANKS * trainer.rows * data.LENGTH
    steady = None
    while True:
        progress, = as_first_rank(schedule_at if schedule_at is not None else state["minutes"] / total_minutes)
        before = time.time()
        batch, _ = stream.next()
        waited += time.time() - before
        reports.append(trainer.step(batch, rate_factor * schedule(progress, state["step"] - state["optimiser_began"]), progress >= QAT_FROM and schedule_at is None))
        state["step"] += 1
        now = time.time()
        state["minutes"] = first_minutes + (now - begin) / 60
        done, = as_first_rank(now - begin > 60 * minutes or now > deadline or (schedule_at is None and state["minutes"] >= total_minutes))
        if state["step"] in (1, 10) or now - window > log or done:
            mean = torch.stack(reports).mean(0).tolist()  # waits for the device
            now = time.time()
            rate = tokens_per_step * (state["step"] - window_step) / (now - window)
            line = {"step": state["step"], "minutes": round(state["minutes"], 2), "loss": round(mean[0], 4), "right": round(mean[1], 4),
                    "drafts": [round(x, 3) for x in mean[2:-1]], "balance": round(mean[-1], 3), "tokens_per_s": int(rate), "waited_s": round(waited, 1)}
            if RANK == 0:
                print(json.dumps(line), flush=True)
            state["log"].append(line)
            reports, window, window_step, steady = [], now, state["step"], rate
        if done:
            return steady
        if save_every and now - saved > 60 * save_every:
            save()
            saved = now


def mixture(text):
    """generate.SHARES with some of them changed: {"kind": share}."""
    from demo_model import generate
    changes = json.loads(text)
    if unknown := changes.keys() - generate.SHARES.keys():
        raise SystemExit(f"--shares names {sorted(unknown)}; there are {sorted(generate.SHARES)}")
    return {**generate.SHARES, **changes}


def new_state():
    return {"step": 0, "minutes": 0.0, "pieces": 0, "optimiser_began": 0, "log": []}


def load(arguments, device):
    """(config, parameters, state, what this machine kept or None): from this machine's own memory if it is the newer."""
    if not arguments.resume:
        c = dict(model.CONFIG, **json.loads(arguments.config))
        return c, model.initial(c, arguments.seed, device), new_state(), None
    if not (pathlib.Path(arguments.resume) / "weights.0.bin").exists():
        c, params, state, recipe = checkpoint.load_quantised(arguments.resume, device)
        state = dict(state or new_state())
        if recipe:
            state["recipe"] = recipe
        print(f"begun from the rounded weights of {arguments.resume}, {state['minutes']:.1f} minutes into the run")
        state["optimiser_began"] = state["step"]
        return c, params, state, None
    c, params, state = checkpoint.load_pieces(arguments.resume, device)
    if LOCAL.exists():
        local = torch.load(LOCAL, map_location=device)
        if local["state"]["step"] == state["step"] and local["state"]["id"] == state.get("id"):
            print("resumed in fp32 with the optimiser's state, from this machine")
            return c, {n: p.requires_grad_(True) for n, p in local["params"].items()}, state, local
    print("resumed from BF16 weights; the optimiser starts anew")
    state["optimiser_began"] = state["step"]
    return c, params, state, None


def run(arguments):
    out = pathlib.Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    deadline = time.time() + 60 * arguments.wall_minutes
    device = torch.device("cuda", RANK) if torch.cuda.device_count() else torch.device("cpu")
    peek = pathlib.Path(arguments.resume or "") / "state.json"
    piece = json.loads(peek.read_text())["pieces"] if arguments.resume and peek.exists() else 0
    label = f"seed {arguments.seed} piece {piece}" + (f" rank {RANK}" if RANK else "")
    stream = data.Stream(TOKENIZER, label, arguments.rows, max(1, arguments.workers // RANKS), arguments.long_every, mixture(arguments.shares))
    try:
        torch.set_float32_matmul_precision("high")
        join_ranks()
        if device.type == "cuda":
            torch.cuda.set_device(device)
            load_compile_cache(arguments.cache or arguments.resume)
        c, params, state, kept = load(arguments, device)
        trainer = Trainer(c, params, device, arguments.rows, compiled=device.type == "cuda", recipe=state.setdefault("recipe", arguments.recipe), dropout=arguments.dropout, decay=arguments.decay)
        print(f"{sum(p.numel() for p in params.values()) / 1e6:.2f} M parameters on {device}, {arguments.rows} rows of {data.LENGTH}", flush=True)
        if kept:
            trainer.optimiser.load(kept["optimiser"])
            trainer.average = kept["average"]
        stream.start(device)
        state["pieces"] += 1
        dialogues = evaluation_set(EVALUATED, arguments.evaluate)
        if device.type == "cuda":  # compilation is not training time
            start = time.time()
            batch, _ = stream.next()
            try:
                trainer.losses(batch, False)[0].backward()
            except Exception:  # better slow than nothing: the time on the machine is already spent
                traceback.print_exc()
                print("not compiled: going on without torch.compile, and without kernels of our own", flush=True)
                model.delta_kernel = None
                trainer.blocks = model.Blocks(c, dropout=arguments.dropout)
            trainer.losses(batch, True)[0].backward()
            if arguments.long_every:
                try:
                    trainer.losses(stream.make(True)[0], False)[0].backward()
                except Exception:
                    traceback.print_exc()
                    print("no long rows: they do not compile", flush=True)
                    stream.long_every = 0
            for p in params.values():
                p.grad = None
            torch.cuda.synchronize()
            print(f"compiled in {time.time() - start:.0f} s, {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB", flush=True)
        state["id"] = f"{time.time():.3f}"
        if arguments.mode == "probe":
            probe(arguments, trainer, stream, state, out)
        else:
            if arguments.last:
                arguments.total_minutes = state["minutes"] + min(arguments.minutes, (deadline - time.time()) / 60)
            def save():
                if RANK == 0:
                    checkpoint.save_pieces(out, c, trainer.average, state)
            train(trainer, stream, state, arguments.minutes, arguments.total_minutes, deadline, arguments.log, arguments.rate, save=save, save_every=arguments.save_every)
        if RANK > 0:
            return
        finished = state["minutes"] >= 0.98 * arguments.total_minutes
        checkpoint.save_pieces(out, c, params if finished else trainer.average, state)
        torch.save({"params": params, "average": trainer.average, "optimiser": trainer.optimiser.state(), "state": state}, LOCAL)
        if device.type == "cuda":
            save_compile_cache(out)
        if arguments.evaluate:
            report_scores(trainer, out, dialogues, state["minutes"] / arguments.total_minutes > QAT_FROM, f"piece{state['pieces']}")
    finally:
        stream.close()


def probe(arguments, trainer, stream, state, out):
    rate = train(trainer, stream, state, arguments.minutes, arguments.total_minutes, time.time() + 600, arguments.log, schedule_at=0.0)
    print(f"steady {rate / 1e3:.0f} k tokens/s; {arguments.total_minutes:.0f} minutes are {rate * 60 * arguments.total_minutes / 1e6:.0f} M tokens")
    with tempfile.TemporaryDirectory() as directory:
        checkpoint.save_pieces(directory, trainer.c, trainer.params, state)
        _, again, _ = checkpoint.load_pieces(directory)
        assert all(torch.equal(again[n], p.detach().cpu().bfloat16().float()) for n, p in trainer.params.items())
        print("saved and read back: " + ", ".join(f"{f.name} {f.stat().st_size / 2**20:.1f} MiB" for f in sorted(pathlib.Path(directory).iterdir())))
    if trainer.device.type != "cuda":
        return
    batch, _ = stream.next()

    def timed(name, f, repeats=5):
        f()
        torch.cuda.synchronize()
        start = time.time()
        for _ in range(repeats):
            f()
        torch.cuda.synchronize()
        print(f"  {name}: {(time.time() - start) / repeats * 1e3:.1f} ms")

    timed("forward and backward", lambda: trainer.losses(batch, False)[0].backward())
    timed("the same with rounding", lambda: trainer.losses(batch, True)[0].backward())
    trainer.losses(batch, False)[0].backward()
    timed("optimiser, with backward", lambda: (trainer.losses(batch, False)[0].backward(), trainer.optimiser.step(0.0)))
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as found:
        trainer.step(batch, 0.0, False)
        torch.cuda.synchronize()
    rows = sorted(found.key_averages(), key=lambda e: -e.self_device_time_total)
    lines = [f"{e.self_device_time_total / 1e3:9.2f} ms {e.count:6d} x  {e.key[:150]}" for e in rows if e.self_device_time_total > 0]
    (out / "profile.txt").write_text("\n".join(lines) + "\n")
    print("\n".join(line[:120] for line in lines[:30]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=("probe", "run"))
    parser.add_argument("--out", required=True)
    parser.add_argument("--resume", help="directory with weights.*.bin and state.json, or a checkpoint of this shape")
    parser.add_argument("--cache", help="directory with compile_cache.bin, else that of --resume")
    parser.add_argument("--minutes", type=float, default=1.0, help="training minutes of this piece")
    parser.add_argument("--total-minutes", type=float, default=18.0)
    parser.add_argument("--last", action="store_true", help="this piece ends the run, whatever --total-minutes says")
    parser.add_argument("--rate", type=float, default=1.0, help="a factor on the learning rates")
    parser.add_argument("--wall-minutes", type=float, default=8.6, help="training stops here whatever is left, for the evaluation and saving that follow")
    parser.add_argument("--dropout", type=float, default=DROPOUT, help="in what was written by hand")
    parser.add_argument("--decay", type=float, default=optimiser.DECAY, help="of the matrices, a step, times its rate")
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 2) - 2))
    parser.add_argument("--save-every", type=float, default=0.0, help="minutes between states in --out while training goes on; 0: at its end alone")
    parser.add_argument("--evaluate", type=int, default=64, help="held-out dialogues of each kind")
    parser.add_argument("--log", type=float, default=10.0, help="seconds between lines")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--recipe", choices=quantise.RECIPES, default="balanced", help="what is rounded, if that is not known from what the run begins from")
    parser.add_argument("--long-every", type=int, default=16, help=f"every so many steps one of rows of {data.LONG_LENGTH} tokens; 0: none")
    parser.add_argument("--shares", default="{}", help="JSON that overrides generate.SHARES")
    parser.add_argument("--config", default="{}", help="JSON that overrides model.CONFIG in a fresh run")
    run(parser.parse_args())


if __name__ == "__main__":
    main()
