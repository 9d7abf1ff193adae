"""The Qwen3.5-MoE forward for training: packed rows of several documents, batched over everything, and its MTP head.

Parameters are a flat dictionary under the checkpoint's names, routed experts fused. The same formulas as transformers'
Qwen3_5MoeForCausalLM (check.py compares them); only the order of sums differs. T tokens = rows x length.
"""

import math

import torch
import torch.nn.functional as F

try:
    from . import delta_kernel
except ImportError:  # no Triton
    delta_kernel = None

CHUNK = 64
RESET = -40.0  # a decay in log space that forgets everything: e^-40
AGAIN = 4096  # numbers of a row's documents from here on: texts that a run meets again and again

CONFIG = dict(
    hidden_size=384, num_hidden_layers=8, num_attention_heads=6, num_key_value_heads=2, head_dim=64, linear_num_key_heads=3, linear_num_value_heads=6,
    linear_key_head_dim=64, linear_value_head_dim=64, linear_conv_kernel_dim=4, num_experts=8, num_experts_per_tok=2, moe_intermediate_size=192,
    shared_expert_intermediate_size=192, vocab_size=4096, rms_norm_eps=1e-6, full_attention_interval=4, layer_types=None, rope_theta=10000.0, max_position_embeddings=8192)


def is_attention(c, layer):
    if c.get("layer_types"):
        return c["layer_types"][layer] == "full_attention"
    return (layer + 1) % c["full_attention_interval"] == 0


def shapes(c):
    """{name: shape} of every parameter."""
    h, hd, e, inner, shared = c["hidden_size"], c["head_dim"], c["num_experts"], c["moe_intermediate_size"], c["shared_expert_intermediate_size"]
    heads, kv = c["num_attention_heads"], c["num_key_value_heads"]
    kd = c["linear_num_key_heads"] * c["linear_key_head_dim"]
    hv, dv = c["linear_num_value_heads"], c["linear_value_head_dim"]
    out = {"model.embed_tokens.weight": (c["vocab_size"], h), "model.norm.weight": (h,)}

    def block(prefix, attention):
        out[prefix + "input_layernorm.weight"] = out[prefix + "post_attention_layernorm.weight"] = (h,)
        if attention:
            a = prefix + "self_attn."
            out.update({a + "q_proj.weight": (2 * heads * hd, h), a + "k_proj.weight": (kv * hd, h), a + "v_proj.weight": (kv * hd, h),
                        a + "o_proj.weight": (h, heads * hd), a + "q_norm.weight": (hd,), a + "k_norm.weight": (hd,)})
        else:
            a = prefix + "linear_attn."
            channels = 2 * kd + hv * dv
            out.update({a + "in_proj_qkv.weight": (channels, h), a + "in_proj_z.weight": (hv * dv, h), a + "in_proj_b.weight": (hv, h), a + "in_proj_a.weight": (hv, h),
                        a + "conv1d.weight": (channels, 1, c["linear_conv_kernel_dim"]), a + "A_log": (hv,), a + "dt_bias": (hv,), a + "norm.weight": (dv,),
                        a + "out_proj.weight": (h, hv * dv)})
        m = prefix + "mlp."
        out.update({m + "gate.weight": (e, h), m + "experts.gate_up_proj": (e, 2 * inner, h), m + "experts.down_proj": (e, h, inner),
                    m + "shared_expert.gate_proj.weight": (shared, h), m + "shared_expert.up_proj.weight": (shared, h),
                    m + "shared_expert.down_proj.weight": (h, shared), m + "shared_expert_gate.weight": (1, h)})

    for layer in range(c["num_hidden_layers"]):
        block(f"model.layers.{layer}.", is_attention(c, layer))
    out.update({"mtp.fc.weight": (h, 2 * h), "mtp.pre_fc_norm_embedding.weight": (h,), "mtp.pre_fc_norm_hidden.weight": (h,), "mtp.norm.weight": (h,)})
    block("mtp.layers.0.", True)
    return out


def initial(c, seed, device="cpu"):
    generator = torch.Generator().manual_seed(seed)

    def uniform(size, low, high):
        return torch.rand(size, generator=generator) * (high - low) + low

    params = {}
    depth = 1 / math.sqrt(2 * c["num_hidden_layers"])
    for name, size in shapes(c).items():
        if name.endswith("A_log"):
            value = uniform(size, 0.5, 8).log()
        elif name.endswith("dt_bias"):
            step = uniform(size, math.log(0.002), math.log(0.2)).exp()
            value = step + torch.log(-torch.expm1(-step))  # softplus(value) = step
        elif name.endswith("linear_attn.norm.weight"):
            value = torch.ones(size)
        elif "norm" in name:
            value = torch.zeros(size)
        elif "conv1d" in name:
            value = uniform(size, -0.25, 0.25)
            value[..., -1] += 0.7
        else:
            value = torch.randn(size, generator=generator) * (0.5 / math.sqrt(size[-1]))
            if name.endswith(("o_proj.weight", "out_proj.weight", "down_proj", "down_proj.weight")):
                value *= depth
            elif name.endswith(("mlp.gate.weight", "shared_expert_gate.weight")):
                value *= 0.1
        params[name] = value.to(device).requires_grad_(True)
    return params


def norm(x, weight, eps):
    """Zero-centred RMSNorm in fp32."""
    y = x.float()
    return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + eps) * (1 + weight.float())).to(x.dtype)


class UnitLowerInverse(torch.autograd.Function):
    """(I + A)^-1 of strictly lower triangular A [..., n, n], n a power of two: by blocks of 1, 2, 4, ..., n / 2."""

    @staticmethod
    def forward(ctx, a):
        n = a.shape[-1]
        i = torch.arange(n, device=a.device)
        inverse = torch.eye(n, device=a.device, dtype=a.dtype).expand_as(a)
        size = 1
        while size < n:
            block = i // size
            below = (block[:, None] == block[None, :] + 1) & (block[:, None] % 2 == 1)
            part = a.masked_fill(~below, 0.0)
            inverse = inverse - (part if size == 1 else inverse @ part @ inverse)
            size *= 2
        ctx.save_for_backward(inverse)
        return inverse

    @staticmethod
    def backward(ctx, gradient):
        (inverse,) = ctx.saved_tensors
        t = inverse.transpose(-1, -2)
        return -(t @ gradient @ t)


def delta_rule(q, k, v, g, beta, chunk):
    """q, k [B, Hk, L, dk] normalised and scaled, v [B, Hv, L, dv], g and beta [B, Hv, L]; all of one type, L a multiple of
    the chunk. Returns o [B, Hv, L, dv] and the final state [B, Hv, dk, dv]."""
    b, hk, length, dk = k.shape
    hv, dv = v.shape[1], v.shape[-1]
    n, r = length // chunk, hv // hk
    q, k = (x.reshape(b, hk, 1, n, chunk, dk) for x in (q, k))
    v = v.reshape(b, hk, r, n, chunk, dv)
    g, beta = (x.reshape(b, hk, r, n, chunk) for x in (g, beta))
    total = g.cumsum(-1)
    upper = torch.ones(chunk, chunk, dtype=torch.bool, device=q.device).triu(1)
    decay = (total[..., :, None] - total[..., None, :]).masked_fill(upper, float("-inf")).exp()
    inverse = UnitLowerInverse.apply((beta[..., None] * (k @ k.transpose(-1, -2)) * decay).tril(-1))
    grown = total.exp()[..., None]
    u = inverse @ (beta[..., None] * v)
    w = inverse @ (beta[..., None] * grown * k)
    p = (q @ k.transpose(-1, -2)) * decay
    left = (k * (total[..., -1:] - total).exp()[..., None]).transpose(-1, -2)
    step = torch.eye(dk, device=q.device, dtype=q.dtype) * grown[..., -1:, :] - left @ w
    gain = left @ u
    reads = q * grown - p @ w
    states, state = scan(step, gain)
    o = reads @ states + p @ u
    return o.reshape(b, hv, length, dv), state.reshape(b, hv, dk, dv)


GROUP = 16


def scan(step, gain):
    """(the states before each chunk, the last one) of state' = step state + gain; step [..., n, dk, dk], gain [..., n, dk,
    dv]. Long rows are done in groups, so that few products follow one another."""
    n = step.shape[-3]
    if n > GROUP and n % GROUP == 0:
        step, gain = (x.unflatten(-3, (n // GROUP, GROUP)) for x in (step, gain))
        factor = torch.eye(step.shape[-1], device=step.device, dtype=step.dtype).expand(*step.shape[:-3], -1, -1)
        sums = torch.zeros_like(gain[..., 0, :, :])
        factors, before = [], []
        for i in range(GROUP):
            factors.append(factor)
            before.append(sums)
            factor, sums = step[..., i, :, :] @ factor, step[..., i, :, :] @ sums + gain[..., i, :, :]
        starts, state = scan(factor, sums)
        states = torch.stack(factors, -3) @ starts[..., None, :, :] + torch.stack(before, -3)
        return states.flatten(-4, -3), state
    state = torch.zeros_like(gain[..., 0, :, :])
    states = []
    for i in range(n):
        states.append(state)
        state = step[..., i, :, :] @ state + gain[..., i, :, :]
    return torch.stack(states, -3), state


def delta_net_inputs(c, x, qkv, w, cast):
    """After the convolution: q, k, v, g, beta for tokens [B, L]. qkv [B, L, channels] is past SiLU."""
    b, length = qkv.shape[:2]
    hk, hv, dk, dv = c["linear_num_key_heads"], c["linear_num_value_heads"], c["linear_key_head_dim"], c["linear_value_head_dim"]
    q, k, v = qkv.split([hk * dk, hk * dk, hv * dv], -1)
    q = q.reshape(b, length, hk, dk).transpose(1, 2).float()
    k = k.reshape(b, length, hk, dk).transpose(1, 2).float()
    v = v.reshape(b, length, hv, dv).transpose(1, 2).float()
    q = q * torch.rsqrt((q * q).sum(-1, keepdim=True) + 1e-6) * dk ** -0.5
    k = k * torch.rsqrt((k * k).sum(-1, keepdim=True) + 1e-6)
    beta = (x @ w["in_proj_b.weight"].T).float().sigmoid().transpose(1, 2)
    a = (x @ w["in_proj_a.weight"].T).float()
    g = (-w["A_log"].float().exp() * F.softplus(a + w["dt_bias"].float())).transpose(1, 2)
    return q, k, v, g, beta


def delta_net_output(c, x, o, w):
    """o [B, Hv, L, dv] through the gated norm and the output projection."""
    b, length = x.shape[:2]
    hv, dv = c["linear_num_value_heads"], c["linear_value_head_dim"]
    z = (x @ w["in_proj_z.weight"].T).reshape(b, length, hv, dv)
    o = o.transpose(1, 2)
    o = o * torch.rsqrt(o.pow(2).mean(-1, keepdim=True) + c["rms_norm_eps"]) * w["norm.weight"].float() * F.silu(z.float())
    return o.to(x.dtype).reshape(b, length, hv * dv) @ w["out_proj.weight"].T


def delta_net(c, x, w, age):
    """age [B, L]: how many tokens of its document came before. Returns (output, state, last conv inputs)."""
    qkv = x @ w["in_proj_qkv.weight"].T
    taps = w["conv1d.weight"]
    kernel = taps.shape[-1]
    mixed = qkv * taps[:, 0, kernel - 1]
    for back in range(1, kernel):
        shifted = F.pad(qkv, (0, 0, back, 0))[:, :-back]
        mixed = mixed + torch.where((age >= back)[..., None], shifted * taps[:, 0, kernel - 1 - back], 0.0)
    q, k, v, g, beta = delta_net_inputs(c, x, F.silu(mixed), w, x.dtype)
    g = torch.where((age == 0)[:, None, :], RESET, g)
    if delta_kernel and delta_kernel.fits(q, v):
        o, state = delta_kernel.delta_rule(q, k, v, g, beta)
    else:
        o, state = delta_rule(q, k, v, g, beta, min(CHUNK, x.shape[1]))
    return delta_net_output(c, x, o, w), state, qkv[:, -(kernel - 1):]


def rope_tables(c, positions):
    """cos and sin [..., pairs] for integer positions."""
    rotated = c["head_dim"] // 4
    inverse = c["rope_theta"] ** (-torch.arange(0, rotated, 2, device=positions.device, dtype=torch.float32) / rotated)
    angle = positions[..., None].float() * inverse
    return angle.cos(), angle.sin()


def rope(x, cos, sin):
    """x [B, heads, L, hd]; tables [L, pairs] or broadcastable to [B, 1, L, pairs]."""
    half = cos.shape[-1]
    y = x.float()
    a, b = y[..., :half], y[..., half:2 * half]
    return torch.cat([a * cos - b * sin, b * cos + a * sin, y[..., 2 * half:]], -1).to(x.dtype)


def attention_inputs(c, x, w, cos, sin):
    b, length = x.shape[:2]
    heads, kv, hd, eps = c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"], c["rms_norm_eps"]
    q, gate = (x @ w["q_proj.weight"].T).reshape(b, length, heads, 2 * hd).split(hd, -1)
    k = (x @ w["k_proj.weight"].T).reshape(b, length, kv, hd)
    v = (x @ w["v_proj.weight"].T).reshape(b, length, kv, hd).transpose(1, 2)
    q = rope(norm(q, w["q_norm.weight"], eps).transpose(1, 2), cos, sin)
    k = rope(norm(k, w["k_norm.weight"], eps).transpose(1, 2), cos, sin)
    return q, k, v, gate


def attend(c, q, k, v, gate, mask, w):
    """k and v [B, kv, S, hd]; mask [B, 1, L, S] is added to the scores."""
    b, heads, length, hd = q.shape
    repeat = heads // k.shape[1]
    k, v = (x[:, :, None].expand(-1, -1, repeat, -1, -1).reshape(b, heads, -1, hd) for x in (k, v))
    o = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    o = o.transpose(1, 2).reshape(b, length, heads * hd)
    return (o * gate.reshape(b, length, heads * hd).sigmoid()) @ w["o_proj.weight"].T


def moe(c, x, w):
    """Every expert sees every token; those not chosen weigh zero. Returns (output, balance loss)."""
    experts, k = c["num_experts"], c["num_experts_per_tok"]
    flat = x.reshape(-1, x.shape[-1])
    probability = (flat @ w["gate.weight"].T).float().softmax(-1)
    best, chosen = probability.topk(k, -1)
    weight = torch.zeros_like(probability).scatter(-1, chosen, best / best.sum(-1, keepdim=True))
    share = (weight > 0).float().mean(0) / k
    balance = experts * (share.detach() * probability.mean(0)).sum()
    gate_up = w["experts.gate_up_proj"]
    inner = gate_up.shape[1] // 2
    hidden = (flat @ gate_up.reshape(-1, flat.shape[-1]).T).reshape(-1, experts, 2 * inner)
    hidden = F.silu(hidden[..., :inner]) * hidden[..., inner:] * weight[..., None].to(x.dtype)
    down = w["experts.down_proj"].permute(1, 0, 2).reshape(flat.shape[-1], -1)
    routed = hidden.reshape(-1, experts * inner) @ down.T
    shared = F.silu(flat @ w["shared_expert.gate_proj.weight"].T) * (flat @ w["shared_expert.up_proj.weight"].T)
    shared = (shared @ w["shared_expert.down_proj.weight"].T) * (flat @ w["shared_expert_gate.weight"].T).sigmoid()
    return (routed + shared).reshape(x.shape), balance


def part(weights, prefix):
    return {name[len(prefix):]: value for name, value in weights.items() if name.startswith(prefix)}


def thinned(y, share):
    """y [B, L, H] with a share [B, L, 1] of its values dropped at random and the others as much larger; None: y."""
    if share is None:
        return y
    return torch.where(torch.rand_like(y, dtype=torch.float32) < share, 0.0, y.float() / (1 - share)).to(y.dtype)


class Blocks:
    """The layers as three functions, compiled once each where that is wanted. dropout: the share of what a layer adds
    that is dropped in documents which are trained on again and again."""

    def __init__(self, c, compiled=False, dropout=0.0):
        self.dropout = dropout

        def mix_delta(h, w, pre, age, share=None):
            y, _, _ = delta_net(c, norm(h, pre, c["rms_norm_eps"]), w, age)
            return h + thinned(y, share)

        def mix_attention(h, w, pre, cos, sin, mask, share=None):
            q, k, v, gate = attention_inputs(c, norm(h, pre, c["rms_norm_eps"]), w, cos, sin)
            return h + thinned(attend(c, q, k, v, gate, mask, w), share)

        def feed(h, w, post, share=None):
            y, balance = moe(c, norm(h, post, c["rms_norm_eps"]), w)
            return h + thinned(y, share), balance

        def score(h, embedding, labels):
            """Mean loss over rows whose label is not -100, their number, and how many are right."""
            logits = (h @ embedding.T).float()
            count = (labels >= 0).sum()
            loss = F.cross_entropy(logits, labels, ignore_index=-100, reduction="sum") / count.clamp(min=1)
            return loss, count, ((logits.argmax(-1) == labels) & (labels >= 0)).sum()

        wrap = (lambda f: torch.compile(f, dynamic=False)) if compiled else (lambda f: f)
        self.mix_delta, self.mix_attention, self.feed, self.score = map(wrap, (mix_delta, mix_attention, feed, score))


def forward(c, weights, tokens, age, document, blocks):
    """tokens, age, document [B, L] -> (h [B, L, H] after the final norm, additive mask, sum of balance losses)"""
    length = tokens.shape[1]
    position = torch.arange(length, device=tokens.device)
    cos, sin = rope_tables(c, position)
    embedding = weights["model.embed_tokens.weight"]
    same = (document[:, :, None] == document[:, None, :]) & (position[:, None] >= position[None, :])
    mask = torch.zeros(same.shape, dtype=embedding.dtype, device=tokens.device).masked_fill(~same, float("-inf"))[:, None]
    h = F.embedding(tokens, embedding)
    share = (document >= AGAIN)[..., None] * blocks.dropout if blocks.dropout else None
    balances = 0.0
    for layer in range(c["num_hidden_layers"]):
        w = part(weights, f"model.layers.{layer}.")
        pre = w["input_layernorm.weight"]
        if is_attention(c, layer):
            h = blocks.mix_attention(h, part(w, "self_attn."), pre, cos, sin, mask, share)
        else:
            h = blocks.mix_delta(h, part(w, "linear_attn."), pre, age, share)
        h, balance = blocks.feed(h, part(w, "mlp."), w["post_attention_layernorm.weight"], share)
        balances = balances + balance
    return norm(h, weights["model.norm.weight"], c["rms_norm_eps"]), mask, balances


def mtp_drafts(c, weights, tokens, hidden, mask, depth, blocks=None):
    """The MTP head, `depth` times over itself: a list of [B, L, H] whose j-th entry at t, times the embedding, scores
    token t + 2 + j. Row t of step j sees the true entries up to t and the drafts of its own earlier steps, as in decoding;
    the embedded tokens are the true ones. mask: that of forward()."""
    blocks = blocks or Blocks(c)
    b, length = tokens.shape
    eps = c["rms_norm_eps"]
    w = part(weights, "mtp.layers.0.")
    attention = part(w, "self_attn.")
    embedding = weights["model.embed_tokens.weight"]
    own = torch.full((length, length), float("-inf"), device=tokens.device, dtype=mask.dtype).fill_diagonal_(0.0).expand(b, 1, -1, -1)
    keys, values, outputs = [], [], []
    position = torch.arange(length, device=tokens.device)
    balances = 0.0
    for j in range(depth):
        following = F.pad(tokens[:, 1 + j:], (0, 1 + j))
        e = norm(F.embedding(following, embedding), weights["mtp.pre_fc_norm_embedding.weight"], eps)
        m = norm(hidden, weights["mtp.pre_fc_norm_hidden.weight"], eps)
        h = torch.cat([e, m], -1) @ weights["mtp.fc.weight"].T
        q, k, v, gate = attention_inputs(c, norm(h, w["input_layernorm.weight"], eps), attention, *rope_tables(c, position + j))
        keys.append(k)
        values.append(v)
        h = h + attend(c, q, torch.cat(keys, 2), torch.cat(values, 2), gate, torch.cat([mask] + [own] * j, -1), attention)
        h, balance = blocks.feed(h, part(w, "mlp."), w["post_attention_layernorm.weight"])
        balances = balances + balance
        hidden = norm(h, weights["mtp.norm.weight"], eps)
        outputs.append(hidden)
    return outputs, balances / depth
