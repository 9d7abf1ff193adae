"""Saving: resumable training state in small files, and checkpoints under transformers' names.

A training state is weights.0.bin, weights.1.bin, ... (all parameters in BF16, in the order of model.shapes, cut into
files that a limited transfer can carry) and state.json. What a machine keeps for itself also has fp32 and the optimiser.
"""

import json
import pathlib

import torch
from safetensors.torch import save_file

from . import model

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
