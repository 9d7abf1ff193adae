#!/usr/bin/env python3
"""Tiny random Qwen3.5 checkpoints and what transformers makes of them, in fp32 on the CPU.

  reference.py golden [DIR]            rewrites the committed references (default tests/golden)
  reference.py compare TESSERA [-n N]  N random shapes, seeds and weight formats: logits of `TESSERA score` against
                                       transformers; prints the largest difference of each and fails above --tolerance

Weights are rounded to BF16 first, so the checkpoint is exact whatever precision reads it. All parameters are random,
norms and biases too: their defaults of 0 and 1 hide errors. transformers has no MTP forward; `mtp_forward` below is
written from the model's definition and shares no code with it.
"""

import argparse
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from transformers import (Qwen3_5ForCausalLM, Qwen3_5MoeForCausalLM, Qwen3_5MoeTextConfig, Qwen3_5TextConfig)

REFERENCE_TOKENS = 200
GREEDY_PROMPT = 40
GREEDY_TOKENS = 48
MTP_TOKENS = 64

GOLDEN = {
    "qwen3_5_moe": dict(
        moe=True, hidden_size=64, num_hidden_layers=8, num_attention_heads=4, num_key_value_heads=2, head_dim=32,
        linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=16, linear_value_head_dim=16,
        num_experts=8, num_experts_per_tok=3, moe_intermediate_size=32, shared_expert_intermediate_size=48,
        vocab_size=256),
    "qwen3_5_dense": dict(
        moe=False, hidden_size=64, num_hidden_layers=4, num_attention_heads=6, num_key_value_heads=3, head_dim=16,
        linear_num_key_heads=3, linear_num_value_heads=3, linear_key_head_dim=8, linear_value_head_dim=16,
        intermediate_size=160, vocab_size=250),
    # What the two above leave at its default: an epsilon that is not lost beside a mean of squares, and YaRN.
    "qwen3_5_yarn": dict(
        moe=True, hidden_size=64, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=1, head_dim=64,
        linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=16, linear_value_head_dim=16,
        num_experts=6, num_experts_per_tok=2, moe_intermediate_size=32, shared_expert_intermediate_size=32,
        vocab_size=256, rms_norm_eps=0.05, yarn=dict(factor=4.0, original_max_position_embeddings=1024)),
}


def make_config(shape):
    shape = dict(shape)
    moe, yarn = shape.pop("moe"), shape.pop("yarn", None)
    rotary_pairs = shape["head_dim"] // 8
    third = rotary_pairs // 3
    rope = {"rope_type": "default", "rope_theta": 1e7, "partial_rotary_factor": 0.25, "mrope_interleaved": True,
            "mrope_section": [rotary_pairs - 2 * third, third, third]}
    if yarn:
        rope.update(rope_type="yarn", **yarn)
    config = (Qwen3_5MoeTextConfig if moe else Qwen3_5TextConfig)(
        rope_parameters=rope, max_position_embeddings=4096, pad_token_id=None, bos_token_id=None, eos_token_id=0, **shape)
    config._attn_implementation = "eager"
    config._experts_implementation = "eager"
    return config, moe


def fill(name, tensor, generator):
    """In-place random values of a sensible size, representable in BF16."""
    def normal(scale, shift=0.0):
        tensor.copy_(torch.randn(tensor.shape, generator=generator) * scale + shift)

    if name.endswith("A_log"):
        tensor.copy_(torch.rand(tensor.shape, generator=generator) * 3.5 - 1.0)
    elif name.endswith("dt_bias"):
        tensor.copy_(torch.rand(tensor.shape, generator=generator) * 6 - 5)
    elif name.endswith("linear_attn.norm.weight"):
        normal(0.2, 1.0)
    elif "norm" in name:
        normal(0.2)
    elif "conv1d" in name:
        normal(0.4)
    elif "embed_tokens" in name:
        normal(1.0)
    elif name.endswith("mlp.gate.weight"):
        normal(2.0 / tensor.shape[-1] ** 0.5)
    else:
        normal(1.0 / tensor.shape[-1] ** 0.5)
    tensor.copy_(tensor.bfloat16().float())


def make_model(shape, seed):
    config, moe = make_config(shape)
    model = (Qwen3_5MoeForCausalLM if moe else Qwen3_5ForCausalLM)(config).float().eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            fill(name, parameter, generator)
    return model


def make_mtp(config, moe, seed):
    """The MTP head's tensors, named as released checkpoints name them, experts one by one."""
    h, hd = config.hidden_size, config.head_dim
    heads, kv = config.num_attention_heads, config.num_key_value_heads
    shapes = {"fc.weight": (h, 2 * h), "pre_fc_norm_embedding.weight": (h,), "pre_fc_norm_hidden.weight": (h,),
              "norm.weight": (h,)}
    layer = {"input_layernorm.weight": (h,), "post_attention_layernorm.weight": (h,),
             "self_attn.q_proj.weight": (2 * heads * hd, h), "self_attn.k_proj.weight": (kv * hd, h),
             "self_attn.v_proj.weight": (kv * hd, h), "self_attn.o_proj.weight": (h, heads * hd),
             "self_attn.q_norm.weight": (hd,), "self_attn.k_norm.weight": (hd,)}

    def swiglu(prefix, inner):
        layer.update({f"{prefix}.gate_proj.weight": (inner, h), f"{prefix}.up_proj.weight": (inner, h),
                      f"{prefix}.down_proj.weight": (h, inner)})

    if moe:
        layer.update({"mlp.gate.weight": (config.num_experts, h), "mlp.shared_expert_gate.weight": (1, h)})
        swiglu("mlp.shared_expert", config.shared_expert_intermediate_size)
        for e in range(config.num_experts):
            swiglu(f"mlp.experts.{e}", config.moe_intermediate_size)
    else:
        swiglu("mlp", config.intermediate_size)
    shapes.update({f"layers.0.{k}": v for k, v in layer.items()})
    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    for name, size in sorted(shapes.items()):
        tensors[f"mtp.{name}"] = torch.empty(size)
        fill(name, tensors[f"mtp.{name}"], generator)
    return tensors


def mtp_forward(w, config, moe, embedding, lm_head, next_tokens, hidden):
    """Logits [T, vocab] of the MTP head for rows (hidden_t, token_{t+1}) at positions 0..T-1."""
    eps, hd = config.rms_norm_eps, config.head_dim
    heads, kv = config.num_attention_heads, config.num_key_value_heads
    count = len(next_tokens)

    def norm(x, weight):
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps) * (1 + weight)

    def rope(x):  # [T, heads, hd]: pairs (i, i + rot/2) of the first quarter turn by position * theta^(-2i/rot)
        rot = int(hd * 0.25) // 2 * 2
        half = rot // 2
        frequency, size = [1e7 ** (-2 * i / rot) for i in range(half)], 1.0
        if config.rope_parameters["rope_type"] == "yarn":
            frequency, size = yarn(frequency, rot, **{k: config.rope_parameters[k] for k in ("factor", "original_max_position_embeddings")})
        angle = torch.arange(count)[:, None, None] * torch.tensor(frequency)
        a, b, cos, sin = x[..., :half], x[..., half:rot], size * angle.cos(), size * angle.sin()
        turned = [a * cos - b * sin, b * cos + a * sin, x[..., rot:]]
        return torch.cat(turned, -1)

    def yarn(frequency, rot, factor, original_max_position_embeddings):
        """arXiv 2309.00071, 3.2: what turns 32 times or more over the original length is kept, what turns once or less is
        slowed by the factor; between them a ramp over whole dimensions. Cosine and sine are 0.1 ln(factor) + 1 as large."""
        def dimension(turns):
            return rot * math.log(original_max_position_embeddings / (turns * 2 * math.pi)) / (2 * math.log(1e7))
        low, high = max(math.floor(dimension(32)), 0), min(math.ceil(dimension(1)), rot - 1)
        slowed = [min(max((i - low) / (high - low), 0), 1) for i in range(len(frequency))]
        return [f * (1 - s) + f / factor * s for f, s in zip(frequency, slowed)], 0.1 * math.log(factor) + 1

    def swiglu(x, prefix):
        p = f"mtp.layers.0.{prefix}"
        gate, up, down = (w[f"{p}.{n}_proj.weight"] for n in ("gate", "up", "down"))
        return (F.silu(x @ gate.T) * (x @ up.T)) @ down.T

    e = norm(embedding[next_tokens], w["mtp.pre_fc_norm_embedding.weight"])
    m = norm(hidden, w["mtp.pre_fc_norm_hidden.weight"])
    h = torch.cat([e, m], -1) @ w["mtp.fc.weight"].T

    a = "mtp.layers.0.self_attn."
    x = norm(h, w["mtp.layers.0.input_layernorm.weight"])
    q_gate = (x @ w[a + "q_proj.weight"].T).view(count, heads, 2 * hd)
    q, gate = q_gate[..., :hd], q_gate[..., hd:]
    k = (x @ w[a + "k_proj.weight"].T).view(count, kv, hd)
    v = (x @ w[a + "v_proj.weight"].T).view(count, kv, hd)
    q, k = rope(norm(q, w[a + "q_norm.weight"])), rope(norm(k, w[a + "k_norm.weight"]))
    mixed = torch.empty(count, heads, hd)
    for j in range(heads):
        source = j // (heads // kv)
        scores = q[:, j] @ k[:, source].T / hd ** 0.5
        scores = scores.masked_fill(torch.ones(count, count).triu(1).bool(), float("-inf"))
        mixed[:, j] = scores.softmax(-1) @ v[:, source]
    h = h + (mixed * gate.sigmoid()).reshape(count, -1) @ w[a + "o_proj.weight"].T

    x = norm(h, w["mtp.layers.0.post_attention_layernorm.weight"])
    if moe:
        probability = (x @ w["mtp.layers.0.mlp.gate.weight"].T).softmax(-1)
        best, chosen = probability.topk(config.num_experts_per_tok, -1)
        best = best / best.sum(-1, keepdim=True)
        out = torch.sigmoid(x @ w["mtp.layers.0.mlp.shared_expert_gate.weight"].T) * swiglu(x, "mlp.shared_expert")
        for t in range(count):
            for weight, expert in zip(best[t], chosen[t].tolist()):
                out[t] += weight * swiglu(x[t:t + 1], f"mlp.experts.{expert}")[0]
    else:
        out = swiglu(x, "mlp")
    h = h + out
    return norm(h, w["mtp.norm.weight"]) @ lm_head.T


def save_checkpoint(model, directory, extra=None):
    """BF16 safetensors (exact), config.json and, through save_pretrained, the names that transformers writes."""
    model.bfloat16().save_pretrained(directory)
    model.float()
    if extra:
        save_file({k: v.bfloat16() for k, v in extra.items()}, directory / "mtp.safetensors")
        tensors = {}
        from safetensors import safe_open
        for file in ("model.safetensors", "mtp.safetensors"):
            with safe_open(directory / file, "pt") as f:
                tensors.update({name: f.get_tensor(name) for name in f.keys()})
        save_file(tensors, directory / "model.safetensors", metadata={"format": "pt"})
        (directory / "mtp.safetensors").unlink()
        path = directory / "config.json"
        config = json.loads(path.read_text())
        config["mtp_num_hidden_layers"] = 1
        path.write_text(json.dumps(config, indent=2) + "\n")
    (directory / "generation_config.json").unlink(missing_ok=True)


def golden(directory):
    for seed, (name, shape) in enumerate(GOLDEN.items(), start=1):
        path = pathlib.Path(directory) / name
        path.mkdir(parents=True, exist_ok=True)
        model = make_model(shape, seed)
        config, moe = model.config, shape["moe"]
        mtp = make_mtp(config, moe, seed + 100)
        tokens = torch.randint(0, config.vocab_size, (REFERENCE_TOKENS,), generator=torch.Generator().manual_seed(seed))
        with torch.no_grad():
            output = model(input_ids=tokens[None], use_cache=False, output_hidden_states=False)
            hidden = model.model(input_ids=tokens[None], use_cache=False).last_hidden_state[0]
            greedy = tokens[:GREEDY_PROMPT].tolist()
            margins = []
            for _ in range(GREEDY_TOKENS):
                best = model(input_ids=torch.tensor([greedy]), use_cache=False).logits[0, -1].topk(2)
                margins.append(float(best.values[0] - best.values[1]))
                greedy.append(int(best.indices[0]))
            mtp_logits = mtp_forward(mtp, config, moe, model.model.embed_tokens.weight, model.lm_head.weight,
                                     tokens[1:MTP_TOKENS + 1], hidden[:MTP_TOKENS])
        print(f"{name}: largest logit {output.logits.abs().max():.2f}, smallest greedy margin {min(margins):.4f}")
        save_checkpoint(model, path, mtp)
        save_file({"tokens": tokens, "logits": output.logits[0].contiguous(), "mtp_logits": mtp_logits.contiguous(),
                   "greedy": torch.tensor(greedy[GREEDY_PROMPT:])}, path / "reference.safetensors")


def random_shape(rng):
    kv = rng.choice([1, 2, 3])
    key_heads = rng.choice([1, 2, 3])
    moe = rng.random() < 0.7
    experts = rng.choice([1, 4, 7, 16, 33])
    shape = dict(
        moe=moe, hidden_size=rng.choice([32, 64, 96, 160, 256]), num_hidden_layers=rng.choice([4, 8]),
        num_attention_heads=kv * rng.choice([1, 2, 4, 5]), num_key_value_heads=kv,
        head_dim=rng.choice([8, 16, 32, 64, 128]), linear_num_key_heads=key_heads,
        linear_num_value_heads=key_heads * rng.choice([1, 2, 4]), linear_key_head_dim=rng.choice([8, 16, 32, 64]),
        linear_value_head_dim=rng.choice([8, 16, 32, 64]), vocab_size=rng.choice([100, 256, 515]))
    if moe:
        shape.update(num_experts=experts, num_experts_per_tok=min(experts, rng.choice([1, 2, 4, 8])),
                     moe_intermediate_size=rng.choice([16, 32, 80, 128]),
                     shared_expert_intermediate_size=rng.choice([16, 64, 96]))
    else:
        shape.update(intermediate_size=rng.choice([48, 128, 352]))
    shape["rms_norm_eps"] = rng.choice([1e-6, 1e-5, 0.05])
    if rng.random() < 0.4:
        shape["yarn"] = dict(factor=rng.choice([2.0, 4.0]), original_max_position_embeddings=rng.choice([64, 1024, 32768]))
    return shape


def compare(arguments):
    rng = random.Random(arguments.seed)
    failures = 0
    for i in range(arguments.n):
        shape = random_shape(rng)
        length = rng.choice([1, 5, 63, 64, 65, 130, 200])
        model = make_model(shape, rng.randrange(1 << 30))
        tokens = torch.randint(0, shape["vocab_size"], (length,), generator=torch.Generator().manual_seed(i))
        with tempfile.TemporaryDirectory() as temporary:
            directory = pathlib.Path(temporary)
            with torch.no_grad():
                expected = model(input_ids=tokens[None], use_cache=False).logits[0]
            save_checkpoint(model, directory / "model")
            (directory / "ids.json").write_text(json.dumps(tokens.tolist()))
            subprocess.run([arguments.tessera, "score", str(directory / "model"), "--ids", str(directory / "ids.json"),
                            "--compute", "fp32", "--logits", str(directory / "logits.safetensors"), "--quiet"],
                           check=True, stdout=subprocess.DEVNULL)
            from safetensors.torch import load_file
            found = load_file(directory / "logits.safetensors")["logits"]
        difference = float((found - expected).abs().max())
        good = difference <= arguments.tolerance
        failures += not good
        print(f"{'ok  ' if good else 'FAIL'} {difference:.2e} of {float(expected.abs().max()):.1f}, {length} tokens, {shape}")
    print(f"{arguments.n - failures} passed, {failures} failed")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    golden_parser = commands.add_parser("golden")
    golden_parser.add_argument("directory", nargs="?", default=pathlib.Path(__file__).parent.parent / "tests/golden")
    compare_parser = commands.add_parser("compare")
    compare_parser.add_argument("tessera")
    compare_parser.add_argument("-n", type=int, default=20)
    compare_parser.add_argument("--seed", type=int, default=0)
    compare_parser.add_argument("--tolerance", type=float, default=2e-3)
    arguments = parser.parse_args()
    torch.set_grad_enabled(False)
    if arguments.command == "golden":
        golden(arguments.directory)
        return 0
    return compare(arguments)


if __name__ == "__main__":
    sys.exit(main())
