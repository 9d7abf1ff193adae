"""Rows of packed dialogues, written by worker processes while the GPU computes."""

import multiprocessing
import os
import queue
import threading

import numpy
import torch

from .model import AGAIN

LENGTH, BLOCK_ROWS = 1024, 16
LONG_LENGTH = 8192  # of the rows of some steps; they hold as many tokens in all
POOL = 48  # dialogues waiting to be packed
PAD = 0
LEARNT_SHARE = 0.36  # of all positions, at most: the size of the gathered batch
WRITTEN = {"letters", "pulled", "heard", "chatter", "orders", "ordinary"}  # by hand: a run meets each of them many times
WHOLE = 2  # of ordinary conversations one in so many is learnt whole, what the user says too: people's English
DRAFT_DEPTH = 3


def dialogues(tokenizer_file, label, evaluation=False, length=LENGTH, shares=None):
    """Endless (ids, flags, whether it comes again and again) for the seeds "label 0", "label 1", ..."""
    from tokenizers import Tokenizer

    from . import generate, render
    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    shares = shares or (generate.LONG_SHARES if length > LENGTH else generate.SHARES)
    i = 0
    while True:
        i += 1
        try:
            dialogue = generate.dialogue(f"{label} {i - 1}", evaluation, shares=shares, most=7000 if length > LENGTH else 700)
            whole = dialogue["kind"] == "ordinary" and "tools" not in dialogue and i % WHOLE == 0 and not evaluation
            ids, flags = render.encode(tokenizer, dialogue, whole)
        except Exception as problem:  # one seed in a million must not end a worker, and the run with it
            print(f"the dialogue of seed {label} {i - 1} is left out: {problem!r}", flush=True)
            continue
        if len(ids) <= length:
            yield ids, flags, dialogue["kind"] in WRITTEN


def rows(source, length=LENGTH):
    """Endless rows (tokens, learnt, age, document), each of full length: the largest waiting dialogue that fits first."""
    waiting = []
    while True:
        tokens, learnt = numpy.full(length, PAD, numpy.int16), numpy.zeros(length, bool)
        age, document = numpy.arange(length, dtype=numpy.int16), numpy.zeros(length, numpy.int16)
        at = number = 0
        while True:
            while len(waiting) < POOL:
                waiting.append(next(source))
            room = length - at
            if at == 0:
                best = waiting[0]  # the oldest, so that none waits for ever
            else:
                best = max((d for d in waiting if len(d[0]) <= room), key=lambda d: len(d[0]), default=None)
            if best is None:
                break
            waiting.remove(best)
            ids, flags, again = best
            end = at + len(ids)
            tokens[at:end], learnt[at:end] = ids, flags
            age[at:end], document[at:end] = numpy.arange(len(ids)), number + (AGAIN if again else 0)
            at, number = end, number + 1
        age[at:], document[at:] = numpy.arange(length - at), number
        yield tokens, learnt, age, document


def block(source, count=BLOCK_ROWS):
    return tuple(numpy.stack(x) for x in zip(*(next(source) for _ in range(count))))


def work(tokenizer_file, label, out, length, shares, count):
    os.nice(5)
    torch.set_num_threads(1)
    source = rows(dialogues(tokenizer_file, label, length=length, shares=shares), length)
    while True:
        out.put(block(source, max(1, count * LENGTH // length)))


def labels(tokens, learnt, document, ahead):
    """What position t predicts `ahead` tokens later, or -100."""
    out = numpy.full(tokens.shape, -100, numpy.int64)
    good = learnt[:, ahead:] & (document[:, ahead:] == document[:, :-ahead])
    out[:, :-ahead] = numpy.where(good, tokens[:, ahead:], -100)
    return out


def gathered(where, values, capacity):
    """Flat positions and their labels, padded with others that have label -100: none twice, which the gradient of a
    gather pays for."""
    index = numpy.flatnonzero(where)[:capacity]
    positions = numpy.concatenate([index, numpy.flatnonzero(~where)])[:capacity].astype(numpy.int64)
    out = numpy.full((len(values), capacity), -100, numpy.int64)
    for row, value in zip(out, values):
        row[:len(index)] = value.reshape(-1)[index]
    return positions, out


def batch(blocks, head_rows):
    """Tensors of one step. index, label: the learnt positions; draft_index, draft_label [depth, n]: those of the first
    `head_rows` rows from which the MTP head is trained."""
    tokens, learnt, age, document = (numpy.concatenate(x) for x in zip(*blocks))
    first = labels(tokens, learnt, document, 1)
    index, label = gathered(first >= 0, [first], int(LEARNT_SHARE * tokens.size))
    head = slice(0, head_rows)
    later = [labels(tokens[head], learnt[head], document[head], 2 + j) for j in range(DRAFT_DEPTH)]
    draft_index, draft_label = gathered(later[0] >= 0, later, int(LEARNT_SHARE * head_rows * tokens.shape[1]))
    out = {"tokens": tokens, "age": age, "document": document, "index": index, "label": label[0], "draft_index": draft_index, "draft_label": draft_label}
    return {k: torch.from_numpy(v.astype(numpy.int64)) for k, v in out.items()}, int((first >= 0).sum())


def draft_rows(rows):
    """So many rows of a batch train the MTP head."""
    return max(1, rows // 4)


class Stream:
    """Batches on the device, made ahead. Start it before anything touches the GPU: the workers are forked. Every
    long_every-th batch has rows of LONG_LENGTH; none where long_every is 0."""

    def __init__(self, tokenizer_file, label, rows_per_step, workers, long_every=0, shares=None):
        context = multiprocessing.get_context("fork")
        self.long_every, self.rows, self.count = long_every, rows_per_step, 0
        self.block_rows = min(BLOCK_ROWS, rows_per_step)
        # The long ones are cheap a token: fewer and longer dialogues.
        longs = max(1, round(workers / long_every)) if long_every else 0
        self.blocks = {False: context.Queue(maxsize=4 * workers + 8), True: context.Queue(maxsize=8 * longs + 8)}
        lengths = [LONG_LENGTH] * longs + [LENGTH] * max(1, workers - longs)
        self.workers = [context.Process(target=work, args=(tokenizer_file, f"{label}/{i}", self.blocks[length > LENGTH], length, None if length > LENGTH else shares, self.block_rows), daemon=True) for i, length in enumerate(lengths)]
        for w in self.workers:
            w.start()
        self.ready = queue.Queue(maxsize=4)
        self.stopping = False

    def start(self, device):
        self.device = device
        threading.Thread(target=self._fill, daemon=True).start()

    def make(self, long):
        """One batch (tensors, number of learnt positions)."""
        blocks = [self.blocks[long].get() for _ in range(self.rows // self.block_rows)]
        made, learnt = batch(blocks, draft_rows(sum(len(b[0]) for b in blocks)))
        if self.device.type == "cuda":
            made = {k: v.pin_memory().to(self.device, non_blocking=True) for k, v in made.items()}
        return made, learnt

    def _fill(self):
        while not self.stopping:
            self.count += 1
            self.ready.put(self.make(bool(self.long_every) and self.count % self.long_every == 0))

    def next(self):
        return self.ready.get()

    def close(self):
        self.stopping = True
        for w in self.workers:
            w.terminate()
