#!/usr/bin/env python3
"""Checks a checkpoint that `tessera quantize` wrote against its source, with none of Tessera's code.

usage: check_quantized.py SOURCE QUANTIZED [--report FILE]

Needs torch, safetensors and compressed-tensors. FILE is what `tessera quantize --report` wrote.

What is checked:
  tensors   every matrix of the source is there, rounded or bit for bit; every other tensor is there bit for bit; there is
            nothing else; what engines stack (gate and up; q, k and v) has one tensor scale
  values    dequantised by code * block scale * tensor scale in fp32, each rounded weight lies within half a step of its
            block from the source; in the compressed-tensors dialect the package's own decompress() agrees
  errors    the relative root mean square error of each kind is that of the report
  config    config.json is the source's but for quantization_config, which the package's own model accepts and which
            assigns to each linear module the format that it is stored in
"""

import argparse
import fnmatch
import json
import pathlib
import re
import sys

import torch
from compressed_tensors.compressors.mxfp4.base import MXFP4PackedCompressor
from compressed_tensors.compressors.nvfp4.base import NVFP4PackedCompressor
from compressed_tensors.compressors.nvfp4.helpers import unpack_fp4_from_uint8
from compressed_tensors.quantization import QuantizationArgs, QuantizationConfig, QuantizationScheme
from safetensors import safe_open

ARGS = {
    "NVFP4": QuantizationArgs(
        num_bits=4, type="float", strategy="tensor_group", group_size=16, symmetric=True,
        scale_dtype=torch.float8_e4m3fn,
    ),
    "MXFP4": QuantizationArgs(
        num_bits=4, type="float", strategy="group", group_size=32, symmetric=True, scale_dtype=torch.uint8
    ),
}
PACKAGE_FORMATS = {"NVFP4": "nvfp4-pack-quantized", "MXFP4": "mxfp4-pack-quantized", "FP8": "float-quantized"}
COMPRESSORS = {"NVFP4": NVFP4PackedCompressor, "MXFP4": MXFP4PackedCompressor}
COMPANIONS = ("weight", "weight_packed", "weight_scale", "weight_scale_2", "weight_global_scale")
STACKS = (("gate_proj", "up_proj"), ("q_proj", "k_proj", "v_proj"), ("in_proj_qkv", "in_proj_z"))

failures = 0


def check(what, ok, detail=""):
    global failures
    failures += not ok
    print(f"{'ok    ' if ok else 'FAILED'} {what}{': ' + str(detail) if detail else ''}")


class Tensors:
    """All tensors of a checkpoint, read one at a time."""

    def __init__(self, directory):
        directory = pathlib.Path(directory)
        index = directory / "model.safetensors.index.json"
        files = ["model.safetensors"]
        if index.exists():
            self.weight_map = json.loads(index.read_text())["weight_map"]
            files = sorted(set(self.weight_map.values()))
        self.open = {file: safe_open(directory / file, "pt") for file in files}
        self.file_of = {name: file for file, opened in self.open.items() for name in opened.keys()}
        if index.exists() and self.weight_map != self.file_of:
            check(f"{index} names what the shards hold", False)

    def names(self):
        return self.file_of.keys()

    def get(self, name):
        return self.open[self.file_of[name]].get_tensor(name)


def stored_format(quantized, module):
    """How a module of the result is stored; None when plain or not there."""
    names = quantized.names()
    if module + ".weight_scale" not in names:
        return None
    name = module + (".weight_packed" if module + ".weight_packed" in names else ".weight")
    if quantized.get(name).dtype == torch.float8_e4m3fn:
        return "FP8"
    return "NVFP4" if quantized.get(module + ".weight_scale").dtype == torch.float8_e4m3fn else "MXFP4"


def dequantize(quantized, module, fmt):
    """The weights, in fp32; the distance between neighbouring codes at each; which have the largest code."""
    state = {k: quantized.get(f"{module}.{k}") for k in COMPANIONS if f"{module}.{k}" in quantized.names()}
    if fmt == "FP8":
        scale = state["weight_scale"].float()
        codes = state["weight"].float()
        # Between two neighbours: an eighth of the leading power of two, 2^-9 below the least normal value.
        step = torch.exp2(torch.floor(torch.log2(codes.abs().clamp(min=2**-6))) - 3)
        return codes * scale, step * scale, codes.abs() == 448
    packed = state.get("weight_packed", state["weight"] if "weight" in state else None)
    codes = unpack_fp4_from_uint8(packed, packed.shape[0], packed.shape[1] * 2, dtype=torch.float32)
    group = ARGS[fmt].group_size
    scale = state["weight_scale"]
    block = scale.float() if fmt == "NVFP4" else torch.exp2(scale.float() - 127)
    block = block.repeat_interleave(group, dim=1)
    tensor_scale = torch.ones(())
    if "weight_scale_2" in state:
        tensor_scale = state["weight_scale_2"]
    elif "weight_global_scale" in state:
        tensor_scale = torch.ones(()) / state["weight_global_scale"]
    magnitude = codes.abs()
    step = torch.where(magnitude >= 4, 2.0, torch.where(magnitude >= 2, 1.0, 0.5))
    return codes * block * tensor_scale, step * block * tensor_scale, magnitude == 6


def package_decompress(quantized, module, fmt):
    state = {k: quantized.get(f"{module}.{k}") for k in COMPANIONS if f"{module}.{k}" in quantized.names()}
    return COMPRESSORS[fmt].decompress(state, QuantizationScheme(targets=["Linear"], weights=ARGS[fmt]))["weight"]


def source_matrices(source, quantized):
    """(module, source tensor's name, matrix) of every weight that the result may have rounded."""
    for name in source.names():
        if name.endswith(".weight"):
            module = name[: -len(".weight")]
            if stored_format(quantized, module) is not None:
                yield module, name, source.get(name)
        elif re.search(r"\.experts\.(gate_up|down)_proj$", name) and name not in quantized.names():
            prefix = name[: name.rindex(".") + 1]
            for expert, matrix in enumerate(source.get(name)):
                if name.endswith("down_proj"):
                    yield f"{prefix}{expert}.down_proj", name, matrix
                else:
                    gate, up = matrix.chunk(2)
                    yield f"{prefix}{expert}.gate_proj", name, gate
                    yield f"{prefix}{expert}.up_proj", name, up


def kind_of(module):
    for pattern, kind in (
        (r"norm|conv1d|visual", "small"), (r"^mtp\.", "mtp"), (r"^lm_head", "lm-head"), (r"embed_tokens", "embed"), (r"\.self_attn\.", "attention"),
        (r"\.in_proj_[ab]$", "delta-net-ab"), (r"\.linear_attn\.", "delta-net"), (r"mlp\.gate$|_expert_gate$", "router"),
        (r"\.experts\.", "routed-expert"), (r"\.shared_expert\.", "shared-expert"), (r"\.mlp\.", "mlp"),
    ):
        if re.search(pattern, module):
            return kind
    return "small"


def check_values(source, quantized, dialect, report):
    sums = {}
    accounted = set()
    outside = []
    differing = []
    for module, name, matrix in source_matrices(source, quantized):
        accounted.add(name)
        fmt = stored_format(quantized, module)
        if fmt is None:
            check(f"{module} is there", False)
            continue
        accounted.update(f"{module}.{companion}" for companion in COMPANIONS)
        weight = matrix.float()
        values, step, clipped = dequantize(quantized, module, fmt)
        # Beyond the largest code weights are clipped; scales of least squared error do so on purpose.
        wrong = ~clipped & ((weight - values).abs() > step * 0.5001)
        if wrong.any():
            outside.append(f"{module}: {int(wrong.sum())} of {weight.numel()}")
        if dialect == "compressed-tensors" and fmt in COMPRESSORS:
            theirs = package_decompress(quantized, module, fmt)
            # In BF16, after one rounding more.
            if not torch.allclose(theirs.float(), values, rtol=2**-7, atol=0):
                differing.append(module)
        total = sums.setdefault((kind_of(module), fmt), [0.0, 0.0, 0])
        total[0] += (weight.double() - values.double()).square().sum().item()
        total[1] += weight.double().square().sum().item()
        total[2] += weight.numel()
    check("rounded weights lie within half a step", not outside, "; ".join(outside[:3]))
    if dialect == "compressed-tensors":
        check("the package's decompress() agrees", not differing, ", ".join(differing[:3]))
    for (kind, fmt), (error, squares, count) in sorted(sums.items()):
        relative = (error / squares) ** 0.5
        print(f"       {kind} {fmt}: {count} weights, relative RMS error {100 * relative:.4f} %")
        rows = [r for r in report or [] if r["kind"] == kind and r["to"] == fmt and r["from"] != fmt]
        if report is not None:
            same = len(rows) == 1 and rows[0]["weights"] == count
            same = same and abs(rows[0]["relative_rms_error"] - relative) <= 1e-6 * relative
            check(f"the report says the same of {kind}", same, rows if not same else "")
    return accounted


def check_copies(source, quantized, accounted):
    missing = [n for n in source.names() if n not in accounted and n not in quantized.names()]
    extra = [n for n in quantized.names() if n not in accounted and n not in source.names()]
    check("nothing is missing", not missing, ", ".join(missing[:3]))
    check("nothing was added", not extra, ", ".join(extra[:3]))
    copies = [n for n in source.names() if n not in accounted and n in quantized.names()]
    changed = [
        n for n in copies
        if source.get(n).dtype != quantized.get(n).dtype
        or not torch.equal(source.get(n).reshape(-1).view(torch.uint8), quantized.get(n).reshape(-1).view(torch.uint8))
    ]
    check(f"{len(copies)} tensors are copied bit for bit", not changed, ", ".join(changed[:3]))


def check_stacks(quantized):
    unequal = []
    for name in quantized.names():
        parts = re.match(r"(.*\.)(\w+)\.(weight_scale_2|weight_global_scale)$", name)
        for stack in STACKS if parts else ():
            others = [f"{parts[1]}{leaf}.{parts[3]}" for leaf in stack if parts[2] == stack[0]]
            scales = {quantized.get(n).item() for n in others if n in quantized.names()}
            if len(scales) > 1:
                unequal.append(name)
    check("stacked matrices share their scale", not unequal, ", ".join(unequal[:3]))


def matches(patterns, module):
    return any(
        re.match(p[3:], module) if p.startswith("re:") else fnmatch.fnmatchcase(module, p) for p in patterns
    )


def check_config(source_dir, quantized_dir, quantized, dialect):
    before = json.loads((source_dir / "config.json").read_text())
    after = json.loads((quantized_dir / "config.json").read_text())
    config = after.pop("quantization_config")
    before.pop("quantization_config", None)
    check("config.json is otherwise the source's", json.dumps(before) == json.dumps(after))
    modules = {n.rsplit(".", 1)[0] for n in quantized.names() if n.endswith((".weight", ".weight_packed"))}
    linear = {m: stored_format(quantized, m) for m in modules if kind_of(m) != "small"}
    wrong = []
    if dialect == "compressed-tensors":
        QuantizationConfig.model_validate(config)
        groups = [(g["targets"], g["format"]) for g in config["config_groups"].values()]
        for module, fmt in linear.items():
            found = [f for targets, f in groups if matches(targets, module)]
            expected = [PACKAGE_FORMATS[fmt]] if fmt else []
            if found != expected or (fmt is None) != matches(config["ignore"], module):
                wrong.append(f"{module}: {found}, expected {expected}")
    else:
        algorithms = {"NVFP4": "W4A16_NVFP4", "MXFP4": "W4A16_MXFP4", "FP8": "FP8"}
        layers = config.get("quantized_layers", {})
        for module, fmt in linear.items():
            listed = [v["quant_algo"] for k, v in layers.items() if fnmatch.fnmatchcase(module, k)]
            found = listed if layers else [] if matches(config["ignore"], module) else [config["quant_algo"]]
            expected = [algorithms[fmt]] if fmt else []
            if found != expected or (fmt is None) != matches(config["ignore"], module):
                wrong.append(f"{module}: {found}, expected {expected}")
        other = json.loads((quantized_dir / "hf_quant_config.json").read_text())["quantization"]
        check("hf_quant_config.json says the same", other["exclude_modules"] == config["ignore"]
              and other["quant_algo"] == config["quant_algo"]
              and other.get("quantized_layers") == config.get("quantized_layers"))
    check(f"quantization_config is right about {len(linear)} modules", not wrong, "; ".join(wrong[:3]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("quantized", type=pathlib.Path)
    parser.add_argument("--report", type=pathlib.Path)
    options = parser.parse_args()
    source, quantized = Tensors(options.source), Tensors(options.quantized)
    method = json.loads((options.quantized / "config.json").read_text())["quantization_config"]["quant_method"]
    report = json.loads(options.report.read_text())["parts"] if options.report else None
    accounted = check_values(source, quantized, method, report)
    check_copies(source, quantized, accounted)
    check_stacks(quantized)
    check_config(options.source, options.quantized, quantized, method)
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
