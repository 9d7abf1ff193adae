"""Batched greedy generation: prompts padded on the left as documents of their own, then one token at a time."""

import torch
import torch.nn.functional as F

from . import model


def prefill(c, weights, prompts, pad=0):
    """(h of the last token [B, H], caches) after the prompts; the length is rounded up to whole chunks."""
    device = weights["model.norm.weight"].device
    longest = max(map(len, prompts))
    length = -(-longest // model.CHUNK) * model.CHUNK
    tokens = torch.full((len(prompts), length), pad, dtype=torch.long)
    age = torch.arange(length).repeat(len(prompts), 1)
    valid = torch.zeros(len(prompts), length, dtype=torch.bool)
    for i, p in enumerate(prompts):
        tokens[i, length - len(p):] = torch.tensor(p)
        age[i, length - len(p):] = torch.arange(len(p))
        valid[i, length - len(p):] = True
    tokens, age, valid = tokens.to(device), age.to(device), valid.to(device)
    position = torch.arange(length, device=device)
    cos, sin = model.rope_tables(c, position)
    embedding = weights["model.embed_tokens.weight"]
    same = (valid[:, :, None] == valid[:, None, :]) & (position[:, None] >= position[None, :])
    mask = torch.zeros(same.shape, dtype=embedding.dtype, device=device).masked_fill(~same, float("-inf"))[:, None]
    h = F.embedding(tokens, embedding)
    caches = []
    for layer in range(c["num_hidden_layers"]):
        w = model.part(weights, f"model.layers.{layer}.")
        x = model.norm(h, w["input_layernorm.weight"], c["rms_norm_eps"])
        if model.is_attention(c, layer):
            q, k, v, gate = model.attention_inputs(c, x, model.part(w, "self_attn."), cos, sin)
            y = model.attend(c, q, k, v, gate, mask, model.part(w, "self_attn."))
            caches.append((k, v))
        else:
            y, state, last = model.delta_net(c, x, model.part(w, "linear_attn."), age)
            within = torch.arange(-last.shape[1], 0, device=device)[None] + torch.tensor([len(p) for p in prompts], device=device)[:, None]
            caches.append((state, last * (within >= 0)[..., None]))
        h = h + y
        h = h + model.moe(c, model.norm(h, w["post_attention_layernorm.weight"], c["rms_norm_eps"]), model.part(w, "mlp."))[0]
    return model.norm(h[:, -1], weights["model.norm.weight"], c["rms_norm_eps"]), caches, valid


def step(c, weights, layers, tokens, caches, valid, filled, prompt_length):
    """One token for each row. KV caches are preallocated; `filled` of their columns are used before this token."""
    h = F.embedding(tokens[:, None], weights["model.embed_tokens.weight"])
    cos, sin = model.rope_tables(c, torch.tensor([filled], device=tokens.device))
    mask = torch.zeros(valid.shape[0], 1, 1, filled + 1, dtype=h.dtype, device=h.device)
    mask[..., :prompt_length].masked_fill_(~valid[:, None, None, :prompt_length], float("-inf"))
    for layer, w in enumerate(layers):
        x = model.norm(h, w["input_layernorm.weight"], c["rms_norm_eps"])
        if model.is_attention(c, layer):
            a = model.part(w, "self_attn.")
            q, k, v, gate = model.attention_inputs(c, x, a, cos, sin)
            keys, values = caches[layer]
            keys[:, :, filled] = k[:, :, 0]
            values[:, :, filled] = v[:, :, 0]
            y = model.attend(c, q, keys[:, :, :filled + 1], values[:, :, :filled + 1], gate, mask, a)
        else:
            a = model.part(w, "linear_attn.")
            state, last = caches[layer]
            window = torch.cat([last, x @ a["in_proj_qkv.weight"].T], 1)
            mixed = F.silu((window * a["conv1d.weight"][:, 0].T).sum(1, keepdim=True))
            q, k, v, g, beta = model.delta_net_inputs(c, x, mixed, a, x.dtype)
            repeat = v.shape[1] // k.shape[1]
            q, k = (z.repeat_interleave(repeat, 1)[:, :, 0, :, None] for z in (q, k))
            state = state * g[:, :, 0].exp()[..., None, None]
            delta = beta[:, :, 0, None] * (v[:, :, 0] - (state * k).sum(-2))
            state = state + k * delta[:, :, None]
            y = model.delta_net_output(c, x, (state * q).sum(-2)[:, :, None], a)
            caches[layer] = (state, window[:, 1:])
        h = h + y
        h = h + model.moe(c, model.norm(h, w["post_attention_layernorm.weight"], c["rms_norm_eps"]), model.part(w, "mlp."))[0]
    return model.norm(h[:, 0], weights["model.norm.weight"], c["rms_norm_eps"])


@torch.no_grad()
def generate(c, weights, prompts, most, end_ids):
    """Greedy continuations of token lists, up to and without an end id."""
    h, caches, valid = prefill(c, weights, prompts)
    length = valid.shape[1]
    for layer in range(c["num_hidden_layers"]):
        if model.is_attention(c, layer):
            caches[layer] = tuple(F.pad(x, (0, 0, 0, most)) for x in caches[layer])
    layers = [model.part(weights, f"model.layers.{i}.") for i in range(c["num_hidden_layers"])]
    embedding = weights["model.embed_tokens.weight"]
    ends = torch.tensor(list(end_ids) or [-1], device=h.device)
    ended = torch.zeros(len(prompts), dtype=torch.bool, device=h.device)
    out = []
    for i in range(most):
        token = (h @ embedding.T).float().argmax(-1)
        out.append(token)
        ended |= torch.isin(token, ends)
        if i + 1 == most or (i % 16 == 15 and bool(ended.all())):
            break
        h = step(c, weights, layers, token, caches, valid, length + i, length)
    rows = torch.stack(out, 1).tolist()
    stop = set(end_ids)
    return [row[:next((j for j, t in enumerate(row) if t in stop), len(row))] for row in rows]


PREFILL = 1 << 29  # entries of the mask of a prefill, at most


def generate_all(c, weights, prompts, most, end_ids, batch=512):
    """The same for any number of prompts, those of like length together."""
    order = sorted(range(len(prompts)), key=lambda i: len(prompts[i]))
    out = [None] * len(prompts)
    while order:
        count = 1
        while count < min(batch, len(order)) and (count + 1) * len(prompts[order[count]]) ** 2 <= PREFILL:
            count += 1
        rows, order = order[:count], order[count:]
        for i, tokens in zip(rows, generate(c, weights, [prompts[i] for i in rows], most, end_ids)):
            out[i] = tokens
    return out
