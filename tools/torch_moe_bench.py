#!/usr/bin/env python3
"""Times a BF16 mixture-of-experts layer by PyTorch's grouped matrix product: what `tessera bench moe` is set beside.

The same work from routed tokens on: gather rows by expert, gate_up for all experts in one grouped product, SwiGLU, down in
another, the weighted sum, in one CUDA graph; the routing itself is left out, in torch's favour. Random weights and
routings; a run reads far more than L2 holds. Needs a GPU and torch 2.8 or later.

    python3 tools/torch_moe_bench.py [397b 397b-tp4 122b 35b deepseek-v3] [--tokens 1,8,64,512,4096]
"""

import argparse
import statistics

import torch

# src/plan/model_shapes.h: hidden, intermediate, experts, experts a token, shared experts
SHAPES = {"397b": (4096, 1024, 512, 10, 1), "397b-tp4": (4096, 256, 512, 10, 1), "122b": (3072, 1024, 256, 8, 1),
          "35b": (2048, 512, 256, 8, 1), "deepseek-v3": (7168, 2048, 256, 8, 1)}
ROUTINGS, WARM_UPS, REPEATS = 4, 3, 20
grouped_mm = getattr(torch.nn.functional, "grouped_mm", None) or torch._grouped_mm


def routing(tokens, experts, per_token, shared, generator):
    """Rows of x by slot, ends of the experts' slots, and weights; slots go by expert, the shared ones come last."""
    chosen = torch.rand(tokens, experts, generator=generator, device="cuda").topk(per_token).indices
    expert, order = chosen.flatten().sort(stable=True)
    rows = order // per_token
    counts = torch.bincount(expert, minlength=experts)
    if shared:
        rows = torch.cat([rows, torch.arange(tokens, device="cuda")])
        counts = torch.cat([counts, torch.tensor([tokens], device="cuda")])
    weights = torch.rand(len(rows), 1, generator=generator, device="cuda", dtype=torch.bfloat16)
    return rows, counts.cumsum(0).to(torch.int32), weights


def layer(x, gate_up, down, rows, ends, weights):
    gate, up = grouped_mm(x[rows], gate_up, offs=ends).chunk(2, dim=-1)
    y = grouped_mm(torch.nn.functional.silu(gate) * up, down, offs=ends)
    return torch.zeros_like(x).index_add_(0, rows, y * weights)


def measure(shape, tokens, gate_up, down):
    hidden, _, experts, per_token, shared = shape
    generator = torch.Generator("cuda").manual_seed(tokens)
    x = torch.randn(tokens, hidden, generator=generator, device="cuda", dtype=torch.bfloat16)
    routings = [routing(tokens, experts, per_token, shared, generator) for _ in range(ROUTINGS)]
    for rows, ends, weights in routings:  # compiles and allocates
        layer(x, gate_up, down, rows, ends, weights)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for rows, ends, weights in routings:
            layer(x, gate_up, down, rows, ends, weights)
    times = []
    for repeat in range(WARM_UPS + REPEATS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        if repeat >= WARM_UPS:
            times.append(begin.elapsed_time(end) * 1000 / ROUTINGS)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shapes", nargs="*", default=list(SHAPES), help=", ".join(SHAPES))
    parser.add_argument("--tokens", default="1,8,64,512,4096")
    arguments = parser.parse_args()
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}, BF16 grouped product")
    for name in arguments.shapes:
        hidden, inner, experts, _, shared = SHAPES[name]
        groups = experts + shared
        gate_up = torch.empty(groups, hidden, 2 * inner, device="cuda", dtype=torch.bfloat16).normal_(std=0.02)
        down = torch.empty(groups, inner, hidden, device="cuda", dtype=torch.bfloat16).normal_(std=0.02)
        for tokens in map(int, arguments.tokens.split(",")):
            print(f"{name:12} {tokens:6} {measure(SHAPES[name], tokens, gate_up, down):10.1f} us", flush=True)
        del gate_up, down
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
