"""Saving: resumable training state in small files, and checkpoints under transformers' names.

A training state is weights.0.bin, weights.1.bin, ... (all parameters in BF16, in the order of model.shapes, cut into
files that a limited transfer can carry) and state.json. What a machine keeps for itself also has fp32 and the optimiser.
Training also begins from what `tessera quantize` wrote, as load_quantised reads it.
"""

import json
import pathlib

import torch
from safetensors.torch import load_file, save_file

from . import model, quantise

PIECE_BYTES = 15 << 20


def save_pieces(directory, c, params, state):
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    flat = torch.cat([params[name].detach().to("cpu", torch.bfloat16).flatten() for name in model.shapes(c)])
    raw = flat.view(torch.uint8).numpy().tobytes()
    for old in directory.glob("weights.*.bin"):
        old.unlink()
    for i in range(0, len(raw), PIECE_BYTES):
        (directory / f"weights.{i // PIECE_BYTES}.bin").write_bytes(raw[i:i + PIECE_BYTES])
    (directory / "state.json").write_text(json.dumps({**state, "config": c, "bytes": len(raw)}, indent=1) + "\n")


def load_pieces(directory, device="cpu"):
    """(config, parameters, state)"""
    directory = pathlib.Path(directory)
    state = json.loads((directory / "state.json").read_text())
    c = state["config"]
    count = -(-state["bytes"] // PIECE_BYTES)
    raw = b"".join((directory / f"weights.{i}.bin").read_bytes() for i in range(count))
    if len(raw) != state["bytes"]:
        raise ValueError(f"{directory} holds {len(raw)} bytes of weights, state.json says {state['bytes']}")
    flat = torch.frombuffer(bytearray(raw), dtype=torch.uint8).view(torch.bfloat16)
    params, start = {}, 0
    for name, size in model.shapes(c).items():
        count = int(torch.Size(size).numel())
        params[name] = flat[start:start + count].view(size).float().to(device).requires_grad_(True)
        start += count
    assert start == flat.numel()
    return c, params, state


E2M1 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def stored_value(tensors, name):
    """The values of a tensor that is stored in BF16, in FP8 with a scale, or in NVFP4 with scales of blocks of 16."""
    value = tensors[name]
    if value.dtype == torch.uint8:
        codes = torch.stack([value & 15, value >> 4], -1).flatten(-2).long()
        scale = tensors[name + "_scale"].float() * tensors[name + "_scale_2"].float()
        return (E2M1[codes].unflatten(-1, (-1, 16)) * scale[..., None]).flatten(-2)
    return value.float() * (tensors[name + "_scale"].float() if value.dtype == torch.float8_e4m3fn else 1.0)


STORED = {torch.uint8: quantise.NVFP4, torch.float8_e4m3fn: quantise.FP8}


def recipe_of(tensors):
    """The one of quantise.RECIPES by which a checkpoint's tensors {name: tensor} are stored; None: none is rounded."""
    names = [n for n in tensors if n.endswith(".weight") and ".mlp." not in n]
    stored = {n: STORED[tensors[n].dtype] for n in names if tensors[n].dtype in STORED}
    if not stored:
        return None
    for recipe in quantise.RECIPES:
        if quantise.plan(names, recipe) == stored:
            return recipe
    raise ValueError(f"the checkpoint is stored by none of {sorted(quantise.RECIPES)}: quantise it by one of them")


def load_quantised(directory, device="cpu"):
    """(config, parameters, state or None, recipe or None) of a checkpoint under transformers' names: what hf_tensors made, after rounding."""
    directory = pathlib.Path(directory)
    found = json.loads((directory / "config.json").read_text())
    c = {key: found.get(key, value) for key, value in model.CONFIG.items()}
    c.update(rope_theta=found["rope_parameters"]["rope_theta"], max_position_embeddings=model.CONFIG["max_position_embeddings"])
    tensors = {}
    for file in directory.glob("*.safetensors"):
        tensors.update(load_file(file))

    def expert(name, i, leaf):
        return stored_value(tensors, f"{name.rpartition('.')[0]}.{i}.{leaf}.weight")

    params = {}
    for name, size in model.shapes(c).items():
        if name.endswith("experts.gate_up_proj"):
            value = torch.stack([torch.cat([expert(name, i, "gate_proj"), expert(name, i, "up_proj")]) for i in range(size[0])])
        elif name.endswith("experts.down_proj"):
            value = torch.stack([expert(name, i, "down_proj") for i in range(size[0])])
        else:
            value = stored_value(tensors, name)
        if tuple(value.shape) != tuple(size):
            raise ValueError(f"{name} of {directory} has the shape {tuple(value.shape)}, {tuple(size)} was expected")
        params[name] = value.to(device).requires_grad_(True)
    file = directory / "state.json"
    return c, params, json.loads(file.read_text()) if file.exists() else None, recipe_of(tensors)


def hf_tensors(c, params, dtype=torch.bfloat16):
    """The names and shapes that save_pretrained writes, and mtp.* in the same form: experts one by one."""
    out = {}
    for name, p in params.items():
        value = p.detach().to("cpu", dtype)
        if name.endswith("experts.gate_up_proj"):
            base = name.removesuffix("gate_up_proj")
            for e, (gate, up) in enumerate(x.chunk(2) for x in value):
                out[f"{base}{e}.gate_proj.weight"], out[f"{base}{e}.up_proj.weight"] = gate.contiguous(), up.contiguous()
        elif name.endswith("experts.down_proj"):
            base = name.removesuffix("down_proj")
            for e, down in enumerate(value):
                out[f"{base}{e}.down_proj.weight"] = down.contiguous()
        else:
            out[name] = value.contiguous()
    return out


def hf_config(c, end_ids=(0,)):
    pairs = c["head_dim"] // 8
    layers = ["full_attention" if model.is_attention(c, i) else "linear_attention" for i in range(c["num_hidden_layers"])]
    own = {k: v for k, v in c.items() if k != "rope_theta"}
    return {"architectures": ["Qwen3_5MoeForCausalLM"], "model_type": "qwen3_5_moe_text", **own, "layer_types": layers, "hidden_act": "silu", "attention_bias": False,
            "attn_output_gate": True, "mamba_ssm_dtype": "float32", "mtp_num_hidden_layers": 1, "mtp_use_dedicated_embeddings": False, "tie_word_embeddings": True,
            "rope_parameters": {"rope_type": "default", "rope_theta": c["rope_theta"], "partial_rotary_factor": 0.25, "mrope_interleaved": True,
                                "mrope_section": [pairs - 2 * (pairs // 3), pairs // 3, pairs // 3]},
            "bos_token_id": None, "pad_token_id": None, "eos_token_id": end_ids[0], "dtype": "bfloat16"}


def save_hf(directory, c, params, end_ids=(0,)):
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    save_file(hf_tensors(c, params), directory / "model.safetensors", metadata={"format": "pt"})
    (directory / "config.json").write_text(json.dumps(hf_config(c, end_ids), indent=2) + "\n")
