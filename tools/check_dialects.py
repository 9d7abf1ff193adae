#!/usr/bin/env python3
"""Compares Tessera's reading and writing of quantised matrices with the compressed-tensors package.

usage: check_dialects.py [--build BUILD/tests/format] [--seed N]

Needs torch, safetensors and compressed-tensors, and the programs dump_matrix and quantize_matrix of the test build.

What is compared, on random matrices of several shapes and sizes of weights:
  package to Tessera   the package quantises, Tessera decodes. Bit for bit with code * block scale * (1 / global scale)
                       in fp32, computed by torch from what the package unpacks; bit for bit with the package's own
                       dequantisation where the global scale is a power of two, and within 2 units in the last place
                       elsewhere (the package divides each block scale first, which rounds once more).
  Tessera to package   the other way round; besides, how many codes and block scales the two quantisers share.
  dialects             the same matrix written in both dialects decodes to the same bits.
  FP8                  per tensor and per row.
"""

import argparse
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import torch
from compressed_tensors.compressors.mxfp4.base import MXFP4PackedCompressor
from compressed_tensors.compressors.nvfp4.base import NVFP4PackedCompressor
from compressed_tensors.compressors.nvfp4.helpers import unpack_fp4_from_uint8
from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
from compressed_tensors.quantization.lifecycle.forward import dequantize
from compressed_tensors.quantization.utils import calculate_qparams, generate_gparam
from safetensors.torch import load_file, save_file

NVFP4 = QuantizationArgs(
    num_bits=4, type="float", strategy="tensor_group", group_size=16, symmetric=True, scale_dtype=torch.float8_e4m3fn
)
MXFP4 = QuantizationArgs(
    num_bits=4, type="float", strategy="group", group_size=32, symmetric=True, scale_dtype=torch.uint8
)

failures = 0


def check(what, ok, detail=""):
    global failures
    failures += not ok
    print(f"{'ok    ' if ok else 'FAILED'} {what}{': ' + detail if detail else ''}")


def same_bits(a, b):
    return a.shape == b.shape and torch.equal(a.contiguous().view(torch.int32), b.contiguous().view(torch.int32))


def ulps(a, b):
    """The largest distance in units in the last place; codes of equal sign sort like integers."""
    return (a.contiguous().view(torch.int32).long() - b.contiguous().view(torch.int32).long()).abs().max().item()


class Programs:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def decode(self, directory, module, shape):
        out = subprocess.run([self.folder / "dump_matrix", directory, module], check=True, stdout=subprocess.PIPE)
        return torch.frombuffer(bytearray(out.stdout), dtype=torch.float32).reshape(shape)

    def quantize(self, source, target, module, fmt, dialect, choice):
        os.makedirs(target, exist_ok=True)
        out = subprocess.run(
            [self.folder / "quantize_matrix", source, target, module, fmt, dialect, choice],
            check=True,
            stdout=subprocess.PIPE,
        )
        return float(out.stdout)


def save(tensors, directory):
    os.makedirs(directory, exist_ok=True)
    save_file(tensors, os.path.join(directory, "model.safetensors"))
    return directory


def formula(state, group):
    """code * block scale * (1 / global scale), each step in fp32."""
    packed = state["m.weight_packed"]
    codes = unpack_fp4_from_uint8(packed, packed.shape[0], packed.shape[1] * 2, dtype=torch.float32)
    scale = state["m.weight_scale"]
    block = scale.float() if scale.dtype == torch.float8_e4m3fn else torch.exp2(scale.float() - 127)
    product = codes * block.repeat_interleave(group, dim=1)
    if "m.weight_global_scale" in state:
        product = product * (torch.ones(1) / state["m.weight_global_scale"])
    return product


def package_dequantize(state, args):
    packed = state["m.weight_packed"]
    codes = unpack_fp4_from_uint8(packed, packed.shape[0], packed.shape[1] * 2, dtype=torch.float32)
    scale = state["m.weight_scale"]
    scale = scale.float() if args is NVFP4 else torch.exp2(scale.float() - 127)
    return dequantize(
        x_q=codes, scale=scale, args=args, global_scale=state.get("m.weight_global_scale"), dtype=torch.float32
    )


def package_quantize(weight, args, global_scale):
    """The package's own observer arithmetic and packing."""
    blocks = weight.float().unflatten(1, (-1, args.group_size))
    low, high = blocks.amin(dim=2), blocks.amax(dim=2)
    scale, _ = calculate_qparams(low, high, args, global_scale=global_scale)
    state = {"weight": weight.float(), "weight_scale": scale.float()}
    if global_scale is not None:
        state["weight_global_scale"] = global_scale
    compressor = NVFP4PackedCompressor if args is NVFP4 else MXFP4PackedCompressor
    compressed = compressor.compress(state, QuantizationScheme(targets=["Linear"], weights=args))
    return {f"m.{k}": v.contiguous() for k, v in compressed.items()}


def compare_decoding(what, programs, directory, state, args, weight):
    ours = programs.decode(directory, "m", weight.shape)
    theirs = package_dequantize(state, args)
    check(f"{what}: decoded as code * scale * scale", same_bits(ours, formula(state, args.group_size)))
    exact_scale = args is MXFP4 or math.frexp(state["m.weight_global_scale"].item())[0] == 0.5
    if exact_scale:
        check(f"{what}: bits of the package's dequantisation", same_bits(ours, theirs))
    else:
        share = (ours == theirs).float().mean().item()
        check(f"{what}: package's dequantisation", ulps(ours, theirs) <= 2,
              f"{ulps(ours, theirs)} ulp at most, {100 * share:.1f} % equal")
    if args is NVFP4:
        bf16 = NVFP4PackedCompressor.decompress(
            {k[2:]: v for k, v in state.items()}, QuantizationScheme(targets=["Linear"], weights=args)
        )["weight"]
        # Two units of fp32 decide where the value lies half-way between two of bf16, which some global scales make common.
        agrees = bf16 == ours.to(bf16.dtype)
        share = agrees.float().mean().item()
        for nudge in (1 - 2**-22, 1 + 2**-22):
            agrees |= bf16 == (ours * nudge).to(bf16.dtype)
        check(f"{what}: package's decompress() in {str(bf16.dtype)[6:]}", agrees.all().item(),
              f"{100 * share:.3f} % equal, the rest half-way")
    error = ((ours - weight.float()).norm() / weight.float().norm()).item()
    check(f"{what}: error", error < 0.16, f"{error:.4f}")


def compare_matrix(programs, folder, name, weight):
    source = save({"m.weight": weight}, f"{folder}/source")
    for args, fmt in ((NVFP4, "nvfp4"), (MXFP4, "mxfp4")):
        scales = [None]
        if args is NVFP4:
            own = generate_gparam(weight.float().min(), weight.float().max())
            scales = [own.reshape(1).float(), torch.exp2(torch.floor(torch.log2(own.reshape(1).float())))]
        for i, global_scale in enumerate(scales):
            state = package_quantize(weight, args, global_scale)
            what = f"{name} {fmt}{' power-of-two scale' if i == 1 else ''} by the package"
            compare_decoding(what, programs, save(state, f"{folder}/{fmt}{i}"), state, args, weight)
            if i == 0:
                theirs = state
        for choice in ("amax", "mse"):
            target = f"{folder}/{fmt}-{choice}"
            programs.quantize(source, target, "m", fmt, "compressed-tensors", choice)
            state = load_file(f"{target}/model.safetensors")
            what = f"{name} {fmt} {choice} by Tessera"
            compare_decoding(what, programs, target, state, args, weight)
            programs.quantize(source, target + "-mo", "m", fmt, "modelopt", choice)
            check(f"{what}: same bits in both dialects",
                  same_bits(programs.decode(target, "m", weight.shape),
                            programs.decode(target + "-mo", "m", weight.shape)))
            if choice == "amax":
                shared = [
                    (state[f"m.{k}"].view(torch.uint8) == theirs[f"m.{k}"].view(torch.uint8)).float().mean().item()
                    for k in ("weight_packed", "weight_scale")
                ]
                print(f"       {what}: {100 * shared[0]:.3f} % of code pairs and {100 * shared[1]:.3f} % of block "
                      "scales as the package chooses them")


def compare_fp8(programs, folder, weight):
    w = weight.float()
    for per_row in (False, True):
        amax = w.abs().amax(dim=1, keepdim=True) if per_row else w.abs().max().reshape(1)
        for dtype in (torch.float32, torch.bfloat16):
            scale = (amax / 448).to(dtype)
            codes = (w / scale.float()).clamp(-448, 448).to(torch.float8_e4m3fn)
            directory = save({"m.weight": codes, "m.weight_scale": scale}, f"{folder}/fp8-{per_row}-{dtype}")
            ours = programs.decode(directory, "m", w.shape)
            check(f"FP8 {'per row' if per_row else 'per tensor'}, {str(dtype)[6:]} scale",
                  same_bits(ours, codes.float() * scale.float()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release/tests/format", help="folder of the two programs")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    programs = Programs(options.build)
    torch.manual_seed(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        for name, rows, cols, sigma, dtype in (
            ("256x512 bf16", 256, 512, 0.02, torch.bfloat16),
            ("64x4096 f32", 64, 4096, 3.0, torch.float32),
            ("33x96 f16", 33, 96, 0.3, torch.float16),
            ("1x64 bf16 tiny", 1, 64, 1e-12, torch.bfloat16),
        ):
            weight = (torch.randn(rows, cols) * sigma).to(dtype)
            if rows > 1:
                weight[1, :32] = 0
            compare_matrix(programs, f"{folder}/{name.replace(' ', '-')}", name, weight)
        compare_fp8(programs, folder, torch.randn(48, 64))
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
