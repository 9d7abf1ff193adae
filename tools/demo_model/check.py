#!/usr/bin/env python3
"""Compares this folder's forward with transformers and with tools/reference.py's MTP head, in fp32 on the CPU, and the
kernels of the delta rule with its formula in fp64: on a GPU, where there is one, else in Triton's interpreter."""

import os
import pathlib
import sys
import tempfile

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu":
    os.environ["TRITON_INTERPRET"] = "1"

sys.path[:0] = [str(pathlib.Path(__file__).parent.parent)]
import reference  # noqa: E402
from demo_model import checkpoint, decode, delta_kernel, model, quantise  # noqa: E402
from transformers import Qwen3_5MoeForCausalLM  # noqa: E402

TINY = dict(model.CONFIG, hidden_size=64, num_attention_heads=4, num_key_value_heads=2, head_dim=32, linear_num_key_heads=2, linear_num_value_heads=4,
            linear_key_head_dim=16, linear_value_head_dim=16, num_experts=4, moe_intermediate_size=32, shared_expert_intermediate_size=48, vocab_size=256)


def randomised(c, seed):
    params = model.initial(c, seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in params.items():
            reference.fill(name, p, generator)
    return params


def packed(documents, length):
    """Rows for model.forward from lists of token ids that fill `length` exactly."""
    tokens = torch.cat([torch.tensor(d) for d in documents])[None]
    age = torch.cat([torch.arange(len(d)) for d in documents])[None]
    number = torch.cat([torch.full((len(d),), i) for i, d in enumerate(documents)])[None]
    assert tokens.shape[1] == length
    return tokens, age, number


def main():
    compare_kernels()
    for seed in range(3):
        compare(seed)


def compare_kernels():
    """Values and gradients, with documents that begin within chunks; products are in TF32 on a GPU."""
    generator = torch.Generator().manual_seed(0)
    rows, key_heads, value_heads, length, width = 2, 2, 4, 3 * delta_kernel.CHUNK, delta_kernel.CHUNK
    q, k = (torch.nn.functional.normalize(torch.randn(rows, key_heads, length, width, generator=generator, dtype=torch.float64), dim=-1) for _ in range(2))
    v, d_o = (torch.randn(rows, value_heads, length, width, generator=generator, dtype=torch.float64) for _ in range(2))
    g, beta = (torch.rand(rows, value_heads, length, generator=generator, dtype=torch.float64) for _ in range(2))
    g = torch.where(torch.isin(torch.arange(length), torch.tensor([0, 50, 70, 130])), model.RESET, -0.3 * g)
    d_last = torch.randn(rows, value_heads, width, width, generator=generator, dtype=torch.float64)
    found = []
    for rule, dtype, device in ((lambda *x: model.delta_rule(*x, delta_kernel.CHUNK), torch.float64, "cpu"), (delta_kernel.delta_rule, torch.float32, DEVICE)):
        inputs = [x.detach().to(device, dtype).requires_grad_() for x in (q * width ** -0.5, k, v, g, beta)]
        o, last = rule(*inputs)
        ((o * d_o.to(o)).sum() + (last * d_last.to(last)).sum()).backward()
        found.append([x.detach().to("cpu", torch.float64) for x in (o, last, *(x.grad for x in inputs))])
    errors = [float((b - a).norm() / a.norm()) for a, b in zip(*found)]
    print(f"kernels of the delta rule on the {DEVICE}: " + ", ".join(f"{name} {e:.1e}" for name, e in zip(("o", "state", "dq", "dk", "dv", "dg", "dbeta"), errors)))
    assert max(errors) < (1e-2 if DEVICE == "cuda" else 1e-4)


@torch.no_grad()
def compare(seed):
    c = dict(TINY)
    params = randomised(c, seed)
    rng = torch.Generator().manual_seed(seed)
    documents = [torch.randint(0, 256, (n,), generator=rng).tolist() for n in (70, 3, 119)]
    with tempfile.TemporaryDirectory() as directory:
        checkpoint.save_hf(directory, c, params)
        hf = Qwen3_5MoeForCausalLM.from_pretrained(directory, dtype=torch.float32, attn_implementation="eager").eval()
        checkpoint.save_pieces(directory, c, params, {"step": 1})
        _, loaded, _ = checkpoint.load_pieces(directory)
        assert all(torch.equal(loaded[n], params[n]) for n in params)
    weights = quantise.effective(params, torch.float32)
    h, mask, _ = model.forward(c, weights, *packed(documents, 192), model.Blocks(c))
    logits = h[0] @ weights["model.embed_tokens.weight"].T
    start = 0
    moe_mtp = checkpoint.hf_tensors(c, params, torch.float32)
    drafts, _ = model.mtp_drafts(c, weights, packed(documents, 192)[0], h, mask, 3)
    worst = {}
    for d in documents:
        expected = hf(input_ids=torch.tensor([d]), use_cache=False)
        found = logits[start:start + len(d)]
        difference = (found - expected.logits[0]).abs().amax(-1)
        # In a random model two experts now and then score alike; one such token changes all that follow it.
        worst["packed logits"] = max(worst.get("packed logits", 0), float(difference.quantile(0.3)))
        tied = float(difference.max()) > 2e-3
        hidden = hf.model(input_ids=torch.tensor([d]), use_cache=False).last_hidden_state[0]
        if len(d) > 10:
            n = len(d) - 4
            embedding = hf.model.embed_tokens.weight

            def mtp(next_tokens, rows):
                return reference.mtp_forward(moe_mtp, hf_like, True, embedding, embedding, torch.tensor(next_tokens), rows)

            # mtp_forward's rope base is the released models'; ours is compared with it under the same base.
            hf_like = hf.config
            original = c["rope_theta"]
            c["rope_theta"] = 1e7
            ours, _ = model.mtp_drafts(c, weights, torch.tensor([d]), hidden[None], torch.full((1, 1, len(d), len(d)), float("-inf")).triu(1), 3)
            c["rope_theta"] = original
            first = mtp(d[1:n + 1], hidden[:n])
            worst["MTP logits"] = max(worst.get("MTP logits", 0), float((ours[0][0, :n] @ embedding.T - first).abs().max()))
            # Recursion at one root: the true rows up to t, then the head's own output.
            t = n - 1
            rows, ids = hidden[:t + 1], d[1:t + 2]
            for j in range(1, 3):
                rows = torch.cat([rows, ours[j - 1][0, t][None]])
                ids = ids + [d[t + 1 + j]]
                again = mtp(ids, rows)[-1]
                worst["MTP recursion"] = max(worst.get("MTP recursion", 0), float((ours[j][0, t] @ embedding.T - again).abs().max()))
        prompt = d[:max(1, len(d) - 20)]
        greedy = list(prompt)
        for _ in range(6):
            greedy.append(int(hf(input_ids=torch.tensor([greedy]), use_cache=False).logits[0, -1].argmax()))
        ours = decode.generate(c, weights, [prompt, documents[1]], 6, end_ids=())
        assert tied or ours[0] == greedy[len(prompt):], (ours[0], greedy[len(prompt):])
        start += len(d)
    print(f"seed {seed}: " + ", ".join(f"{name} {value:.1e}" for name, value in worst.items()))
    assert all(v < 2e-3 for v in worst.values())


if __name__ == "__main__":
    main()
