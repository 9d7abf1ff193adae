"""model.delta_rule on a GPU, and its gradient, in fp32 with products in TF32. A chunk of C tokens at a time, G the running
sum of its log decays and S the state before it:

    D[t, s] = exp(G[t] - G[s]) for s <= t, else 0           A = (beta k k^T D below the diagonal)
    T = (I + A)^-1      u = T (beta v)      w = T (beta exp(G) k)      n = u - w S
    o = (exp(G) q) S + (q k^T D) n          S' = exp(G[C - 1]) S + (exp(G[C - 1] - G) k)^T n

What can be done for all chunks at once is: T, u and w before, o behind. Only S and n, and their gradients, are done one
chunk after another (solve, states, outputs; state_gradients, then the gradients of outputs and of what was solved).
"""

import torch
import triton
import triton.language as tl

CHUNK = 64  # tokens; also the only head dimension
LEVELS = CHUNK.bit_length() - 1


@triton.jit
def product(a, b):
    return tl.dot(a, b, input_precision="tf32")


@triton.jit
def square(pointer, at, N: tl.constexpr):
    """Where the chunk's matrix lies: [N, N] from row `at` on."""
    return pointer + at * N + tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def place(chunks, REPEAT: tl.constexpr, N: tl.constexpr):
    """Of the program's chunk: its number, its first row in what value heads have, and in what they share."""
    number = tl.program_id(0).to(tl.int64)
    return number, number * N, (number // chunks // REPEAT * chunks + number % chunks) * N


@triton.jit
def decays(total, N: tl.constexpr):
    t, s = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    return tl.where(t >= s, tl.exp(tl.where(t >= s, total[:, None] - total[None, :], 0.0)), 0.0)


@triton.jit
def solve(k, v, g, beta, inverses, u, w, chunks, REPEAT: tl.constexpr, N: tl.constexpr, LEVELS: tl.constexpr):
    """T, by blocks of 1, 2, 4, ... of the triangular matrix; u and w. A program a chunk."""
    number, at, shared = place(chunks, REPEAT, N)
    one = tl.arange(0, N)
    t, s = one[:, None], one[None, :]
    k_, beta_, total = tl.load(square(k, shared, N)), tl.load(beta + at + one), tl.cumsum(tl.load(g + at + one), 0)
    a = tl.where(t > s, beta_[:, None] * product(k_, tl.trans(k_)) * decays(total, N), 0.0)
    inverse = tl.where(t == s, 1.0, 0.0) - tl.where((t == s + 1) & (t % 2 == 1), a, 0.0)
    for level in range(1, LEVELS):
        below = (t >> level == (s >> level) + 1) & ((t >> level) % 2 == 1)
        inverse -= product(product(inverse, tl.where(below, a, 0.0)), inverse)
    tl.store(square(inverses, at, N), inverse)
    tl.store(square(u, at, N), product(inverse, beta_[:, None] * tl.load(square(v, at, N))))
    tl.store(square(w, at, N), product(inverse, (beta_ * tl.exp(total))[:, None] * k_))


@triton.jit
def states(k, g, u, w, before, new, last, chunks, REPEAT: tl.constexpr, N: tl.constexpr):
    """The state before each chunk, n of each, and the last state. A program a row and value head."""
    row = tl.program_id(0).to(tl.int64)
    one = tl.arange(0, N)
    state = tl.zeros((N, N), tl.float32)
    for i in range(chunks):
        at, shared = (row * chunks + i) * N, (row // REPEAT * chunks + i) * N
        tl.store(square(before, at, N), state)
        g_ = tl.load(g + at + one)
        end = tl.sum(g_, 0)
        new_ = tl.load(square(u, at, N)) - product(tl.load(square(w, at, N)), state)
        tl.store(square(new, at, N), new_)
        written = tl.exp(end - tl.cumsum(g_, 0))[:, None] * tl.load(square(k, shared, N))
        state = tl.exp(end) * state + product(tl.trans(written), new_)
    tl.store(square(last, row * N, N), state)


@triton.jit
def outputs(q, k, g, before, new, o, chunks, REPEAT: tl.constexpr, N: tl.constexpr):
    number, at, shared = place(chunks, REPEAT, N)
    q_, total = tl.load(square(q, shared, N)), tl.cumsum(tl.load(g + at + tl.arange(0, N)), 0)
    scores = product(q_, tl.trans(tl.load(square(k, shared, N)))) * decays(total, N)
    read = product(tl.exp(total)[:, None] * q_, tl.load(square(before, at, N)))
    tl.store(square(o, at, N), read + product(scores, tl.load(square(new, at, N))))


@triton.jit
def state_gradients(q, k, g, w, d_o, d_last, d_after, d_new, chunks, REPEAT: tl.constexpr, N: tl.constexpr):
    """Of the state behind each chunk, and of n. A program a row and value head."""
    row = tl.program_id(0).to(tl.int64)
    one = tl.arange(0, N)
    d_state = tl.load(square(d_last, row * N, N))
    for back in range(chunks):
        at, shared = (row * chunks + chunks - 1 - back) * N, (row // REPEAT * chunks + chunks - 1 - back) * N
        tl.store(square(d_after, at, N), d_state)
        q_, k_, d_o_ = tl.load(square(q, shared, N)), tl.load(square(k, shared, N)), tl.load(square(d_o, at, N))
        g_ = tl.load(g + at + one)
        total, end = tl.cumsum(g_, 0), tl.sum(g_, 0)
        scores = product(q_, tl.trans(k_)) * decays(total, N)
        d_new_ = product(tl.trans(scores), d_o_) + product(tl.exp(end - total)[:, None] * k_, d_state)
        tl.store(square(d_new, at, N), d_new_)
        d_state = tl.exp(end) * d_state + product(tl.trans(tl.exp(total)[:, None] * q_), d_o_) - product(tl.trans(tl.load(square(w, at, N))), d_new_)


@triton.jit
def output_gradients(q, k, g, before, new, d_o, d_after, d_q, d_k, d_total, d_end, chunks, REPEAT: tl.constexpr, N: tl.constexpr):
    """Of q; and of k and the running sum, as far as they are in o and in what is written to the state. d_q and d_k are of
    a value head each: those that share a key head are added up outside."""
    number, at, shared = place(chunks, REPEAT, N)
    one = tl.arange(0, N)
    g_ = tl.load(g + at + one)
    total, end = tl.cumsum(g_, 0), tl.sum(g_, 0)
    q_, k_, d_o_, new_ = tl.load(square(q, shared, N)), tl.load(square(k, shared, N)), tl.load(square(d_o, at, N)), tl.load(square(new, at, N))
    decay = decays(total, N)
    d_scores = product(d_o_, tl.trans(new_)) * decay
    change = d_scores * product(q_, tl.trans(k_))
    d_total_ = tl.sum(change, 1) - tl.sum(change, 0)
    before_ = tl.load(square(before, at, N))
    d_read = tl.exp(total)[:, None] * product(d_o_, tl.trans(before_))
    tl.store(square(d_q, at, N), product(d_scores, k_) + d_read)
    d_total_ += tl.sum(d_read * q_, 1)
    d_after_ = tl.load(square(d_after, at, N))
    d_written = tl.exp(end - total)[:, None] * product(new_, tl.trans(d_after_))
    tl.store(square(d_k, at, N), product(tl.trans(d_scores), q_) + d_written)
    written = tl.sum(d_written * k_, 1)
    tl.store(d_total + at + one, d_total_ - written)
    tl.store(d_end + number, tl.sum(written, 0) + tl.exp(end) * tl.sum(tl.sum(before_ * d_after_, 1), 0))


@triton.jit
def solution_gradients(k, v, g, beta, inverses, u, w, before, d_new, d_total, d_end, d_k, d_v, d_g, d_beta, chunks, REPEAT: tl.constexpr, N: tl.constexpr):
    """Through u, w and T: of v and beta, and what is still missing of k and the decays."""
    number, at, shared = place(chunks, REPEAT, N)
    one = tl.arange(0, N)
    t, s = one[:, None], one[None, :]
    k_, beta_, total = tl.load(square(k, shared, N)), tl.load(beta + at + one), tl.cumsum(tl.load(g + at + one), 0)
    grown = tl.exp(total)
    behind = tl.trans(tl.load(square(inverses, at, N)))
    d_new_ = tl.load(square(d_new, at, N))
    d_bv = product(behind, d_new_)
    tl.store(square(d_v, at, N), beta_[:, None] * d_bv)
    d_a = product(d_bv, tl.trans(tl.load(square(u, at, N))))
    d_beta_ = tl.sum(d_bv * tl.load(square(v, at, N)), 1)
    d_bk = -product(behind, product(d_new_, tl.trans(tl.load(square(before, at, N)))))
    d_a = tl.where(t > s, -(d_a + product(d_bk, tl.trans(tl.load(square(w, at, N))))), 0.0) * decays(total, N)
    by_key = tl.sum(d_bk * k_, 1) * grown
    change = d_a * product(k_, tl.trans(k_))
    tl.store(d_beta + at + one, d_beta_ + by_key + tl.sum(change, 1))
    change *= beta_[:, None]
    d_total_ = tl.load(d_total + at + one) + beta_ * by_key + tl.sum(change, 1) - tl.sum(change, 0)
    # The running sum turns round.
    tl.store(d_g + at + one, tl.sum(d_total_, 0) - tl.cumsum(d_total_, 0) + d_total_ + tl.load(d_end + number))
    d_a *= beta_[:, None]
    d_key = (beta_ * grown)[:, None] * d_bk + product(d_a, k_) + product(tl.trans(d_a), k_)
    tl.store(square(d_k, at, N), tl.load(square(d_k, at, N)) + d_key)


def sizes(q, v):
    """(rows times value heads, chunks of each, value heads that share a key head)"""
    return v.shape[0] * v.shape[1], v.shape[2] // CHUNK, v.shape[1] // q.shape[1]


FIVE, SEVEN = (tuple[(torch.Tensor,) * n] for n in (5, 7))
OPTIONS = {"N": CHUNK, "num_warps": 4, "num_stages": 2}


@torch.library.custom_op("tessera::delta_rule", mutates_args=())
def forward(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, g: torch.Tensor, beta: torch.Tensor) -> SEVEN:
    """o, the last state; T, u, w, the states before the chunks and n. All inputs are contiguous."""
    rows, chunks, repeat = sizes(q, v)
    o, u, w, new = (torch.empty_like(v) for _ in range(4))
    last = v.new_empty(*v.shape[:2], CHUNK, CHUNK)
    inverses, before = (v.new_empty(rows, chunks, CHUNK, CHUNK) for _ in range(2))
    solve[(rows * chunks,)](k, v, g, beta, inverses, u, w, chunks, REPEAT=repeat, LEVELS=LEVELS, **OPTIONS)
    states[(rows,)](k, g, u, w, before, new, last, chunks, REPEAT=repeat, **OPTIONS)
    outputs[(rows * chunks,)](q, k, g, before, new, o, chunks, REPEAT=repeat, **OPTIONS)
    return o, last, inverses, u, w, before, new


@forward.register_fake
def _(q, k, v, g, beta):
    rows, chunks, _ = sizes(q, v)
    last, matrices = v.new_empty(*v.shape[:2], CHUNK, CHUNK), v.new_empty(rows, chunks, CHUNK, CHUNK)
    like = torch.empty_like
    return like(v), last, matrices, like(v), like(v), like(matrices), like(v)


@torch.library.custom_op("tessera::delta_rule_backward", mutates_args=())
def backward(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, g: torch.Tensor, beta: torch.Tensor, inverses: torch.Tensor, u: torch.Tensor, w: torch.Tensor, before: torch.Tensor,
             new: torch.Tensor, d_o: torch.Tensor, d_last: torch.Tensor) -> FIVE:
    """Gradients of q and k of each value head, of v, g and beta."""
    rows, chunks, repeat = sizes(q, v)
    d_q, d_k, d_v, d_new = (torch.empty_like(v) for _ in range(4))
    d_g, d_beta, d_total = (torch.empty_like(g) for _ in range(3))
    d_after, d_end = torch.empty_like(before), g.new_empty(rows, chunks)
    state_gradients[(rows,)](q, k, g, w, d_o, d_last, d_after, d_new, chunks, REPEAT=repeat, **OPTIONS)
    output_gradients[(rows * chunks,)](q, k, g, before, new, d_o, d_after, d_q, d_k, d_total, d_end, chunks, REPEAT=repeat, **OPTIONS)
    solution_gradients[(rows * chunks,)](k, v, g, beta, inverses, u, w, before, d_new, d_total, d_end, d_k, d_v, d_g, d_beta, chunks, REPEAT=repeat, **OPTIONS)
    return d_q, d_k, d_v, d_g, d_beta


@backward.register_fake
def _(q, k, v, g, beta, inverses, u, w, before, new, d_o, d_last):
    return tuple(torch.empty_like(x) for x in (v, v, v, g, g))


def keep(ctx, inputs, output):
    ctx.save_for_backward(*inputs, *output[2:])


def gradient(ctx, d_o, d_last, *_):
    saved = ctx.saved_tensors
    q = saved[0]
    d_last = saved[5].new_zeros(*saved[2].shape[:2], CHUNK, CHUNK) if d_last is None else d_last
    d_q, d_k, d_v, d_g, d_beta = backward(*saved, d_o.contiguous(), d_last.contiguous())
    d_q, d_k = (x.unflatten(1, (q.shape[1], -1)).sum(2) for x in (d_q, d_k))
    return d_q, d_k, d_v, d_g, d_beta


forward.register_autograd(gradient, setup_context=keep)


def fits(q, v):
    """Whether the kernels can do these: on a GPU, all chunks full, heads as wide as a chunk is long."""
    return q.is_cuda and v.shape[2] % CHUNK == 0 and q.shape[-1] == v.shape[-1] == CHUNK


def delta_rule(q, k, v, g, beta):
    """As model.delta_rule: (o, the last state)."""
    # Here, so that a compiler writes them like that at once.
    o, last, *_ = forward(*(x.contiguous() for x in (q, k, v, g, beta)))
    return o, last
