"""Fake quantisation: the values that `tessera quantize` would store, with gradients passed straight through.

NVFP4: blocks of 16 along the columns; tensor scale amax / (448 x 6), block scale E4M3(amax / 6 / tensor scale), codes
E2M1 rounded to nearest even. FP8: E4M3 of value / (amax / 448). Projections that engines stack share the tensor scale.
"""

import torch

NVFP4, FP8 = "nvfp4", "fp8_e4m3"


RECIPES = {  # how `tessera quantize` is asked for the same
    "balanced": "--recipe balanced --mtp nvfp4",
    "deep": "--recipe balanced --mtp nvfp4 --delta-net nvfp4 --embed fp8",
    "small": "--recipe balanced --mtp nvfp4 --attention nvfp4 --delta-net nvfp4 --embed fp8"}


def plan(names, recipe="balanced"):
    """{name: format} of what is quantised: experts and the whole MTP head NVFP4, the mixers' projections FP8; in the
    small recipe those are NVFP4 too, and the embedding is FP8; in the deep one those of Gated DeltaNet."""
    nvfp4_mixers = {"balanced": (), "deep": (".linear_attn.",), "small": (".linear_attn.", ".self_attn.")}[recipe]
    out = {}
    for name in names:
        if name.startswith("mtp."):
            if ("_proj" in name or name == "mtp.fc.weight"):
                out[name] = NVFP4
        elif ".mlp.experts." in name or ".mlp.shared_expert." in name:
            out[name] = NVFP4
        elif name.endswith(("q_proj.weight", "k_proj.weight", "v_proj.weight", "o_proj.weight", "in_proj_qkv.weight", "in_proj_z.weight", "out_proj.weight")):
            out[name] = NVFP4 if any(part in name for part in nvfp4_mixers) else FP8
        elif name == "model.embed_tokens.weight" and nvfp4_mixers:
            out[name] = FP8
    return out


STACKS = [("q_proj", "k_proj", "v_proj"), ("in_proj_qkv", "in_proj_z"), ("shared_expert.gate_proj", "shared_expert.up_proj")]


def e4m3(x):
    return x.clamp(-448, 448).to(torch.float8_e4m3fn).float()


def e2m1(x):
    """Nearest of 0, .5, 1, 1.5, 2, 3, 4, 6, ties to the even code; saturates."""
    a = x.abs()
    step = torch.where(a < 2, 0.5, torch.where(a < 4, 1.0, 2.0))
    return torch.copysign((torch.round(a / step) * step).clamp(max=6.0), x)


def over(a, b):
    """a / b rounded once, as IEEE division does; with a Python number torch multiplies by a rounded inverse."""
    like = a if torch.is_tensor(a) else b
    return torch.div(*(x if torch.is_tensor(x) else torch.full_like(like, x) for x in (a, b)))


def nvfp4(w, amax):
    """w [..., rows, cols]; amax broadcastable to w without its last dimension."""
    divisor = torch.where(amax > 0, over(448.0 * 6.0, amax), 1.0)[..., None]
    scale = over(1.0, divisor)
    blocks = w.float().unflatten(-1, (-1, 16))
    block_scale = e4m3(over(blocks.abs().amax(-1), 6.0) / scale).clamp(min=2.0 ** -9)[..., None]
    step = block_scale * scale[..., None]
    return (e2m1(blocks / step) * block_scale * scale[..., None]).flatten(-2)


def fp8(w, amax):
    scale = torch.where(amax > 0, over(amax, 448.0), 1.0)[..., None]
    return e4m3(w.float() / scale) * scale


@torch.no_grad()
def rounded(params, formats, dtype=torch.float32):
    """{name: what is stored and read back} of the parameters in `formats`. The source is rounded to BF16 first, as a
    checkpoint is. Those of one shape and format are done at once: a GPU has little to do for each."""
    alike = {}
    for name, how in formats.items():
        alike.setdefault((how, params[name].shape), []).append(name)
    source = {key: torch.stack([params[n].detach() for n in names]).to(torch.bfloat16).float() for key, names in alike.items()}
    amax = {}
    for key, names in alike.items():
        amax.update(zip(names, source[key].abs().amax((-2, -1))[..., None]))
    for stack in STACKS:
        for name in [n for n in formats if f".{stack[0]}." in n]:
            group = [name.replace(stack[0], leaf) for leaf in stack]
            largest = torch.stack([amax[n] for n in group]).amax(0)
            amax.update({n: largest for n in group})
    out = {}
    for (how, shape), names in alike.items():
        out.update(zip(names, (nvfp4 if how == NVFP4 else fp8)(source[how, shape], torch.stack([amax[n] for n in names])).to(dtype)))
    return out


class Stored(torch.autograd.Function):
    """What is stored of a parameter; its gradient is the parameter's."""

    @staticmethod
    def forward(ctx, p, value):
        return value.detach()

    @staticmethod
    def backward(ctx, gradient):
        return gradient.float(), None


def effective(params, dtype, formats=None):
    """The weights that a forward computes with: in `dtype`, those in `formats` rounded; gradients reach the parameters."""
    stored = rounded(params, formats, dtype) if formats else {}
    out = {}
    for name, p in params.items():
        keep = name.endswith(("A_log", "dt_bias", "norm.weight", "layernorm.weight"))
        out[name] = Stored.apply(p, stored[name]) if name in stored else p if keep else p.to(dtype)
    return out
