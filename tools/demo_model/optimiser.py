"""Muon for the matrices (orthogonalised momentum, batched over matrices of one shape), Adam for the rest."""

import torch

MUON_MOMENTUM = 0.95
BETAS = (0.9, 0.95)
DECAY = 0.05


def is_matrix(name, p):
    return "_proj" in name and p.dim() >= 2 and not name.endswith(("in_proj_a.weight", "in_proj_b.weight")) or name == "mtp.fc.weight"


def matrices(name, p):
    """[n, rows, cols] view of a parameter: experts one by one, gate and up apart."""
    if name.endswith("gate_up_proj"):
        return p.view(p.shape[0] * 2, -1, p.shape[2])
    return p if p.dim() == 3 else p[None]


def orthogonal(g):
    """Newton-Schulz iteration of degree five (Jordan et al., Muon): singular values go near 1. g [n, rows, cols]."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = g.bfloat16()
    tall = x.shape[1] > x.shape[2]
    if tall:
        x = x.mT
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(5):
        y = x @ x.mT
        x = a * x + torch.baddbmm(y, y, y, beta=b, alpha=c) @ x
    return x.mT if tall else x


class Optimiser:
    def __init__(self, params, muon_rate=0.02, adam_rate=2e-3, decay=DECAY):
        self.muon_rate, self.adam_rate, self.decay = muon_rate, adam_rate, decay
        self.groups = {}
        self.rest = {}
        for name, p in params.items():
            if is_matrix(name, p):
                self.groups.setdefault(tuple(matrices(name, p).shape[1:]), []).append((name, p))
            else:
                self.rest[name] = p
        self.momentum = {shape: torch.zeros((sum(len(matrices(n, p)) for n, p in group), *shape), device=group[0][1].device) for shape, group in self.groups.items()}
        self.mean = {n: torch.zeros_like(p) for n, p in self.rest.items()}
        self.square = {n: torch.zeros_like(p) for n, p in self.rest.items()}
        self.count = 0

    @torch.no_grad()
    def step(self, scale):
        """scale: the schedule's factor on both rates. Clears the gradients."""
        self.count += 1
        for shape, group in self.groups.items():
            gradient = torch.cat([matrices(n, p.grad) for n, p in group])
            momentum = self.momentum[shape]
            momentum.lerp_(gradient, 1 - MUON_MOMENTUM)
            update = orthogonal(gradient.lerp_(momentum, MUON_MOMENTUM))
            rate = self.muon_rate * scale
            factor = rate * max(1.0, shape[0] / shape[1]) ** 0.5
            start = 0
            for name, p in group:
                view = matrices(name, p)
                view.mul_(1 - rate * self.decay).sub_(update[start:start + len(view)].to(p.dtype), alpha=factor)
                start += len(view)
                p.grad = None
        params = list(self.rest.values())
        gradients = [p.grad if p.grad is not None else torch.zeros_like(p) for p in params]
        mean, square = list(self.mean.values()), list(self.square.values())
        torch._foreach_lerp_(mean, gradients, 1 - BETAS[0])
        torch._foreach_mul_(square, BETAS[1])
        torch._foreach_addcmul_(square, gradients, gradients, 1 - BETAS[1])
        first, second = 1 - BETAS[0] ** self.count, 1 - BETAS[1] ** self.count
        divisor = torch._foreach_div(square, second)
        torch._foreach_sqrt_(divisor)
        torch._foreach_add_(divisor, 1e-8)
        torch._foreach_addcdiv_(params, mean, divisor, value=-self.adam_rate * scale / first)
        for p in params:
            p.grad = None

    def state(self):
        return {"momentum": self.momentum, "mean": self.mean, "square": self.square, "count": self.count}

    def load(self, state):
        for mine, theirs in ((self.momentum, state["momentum"]), (self.mean, state["mean"]), (self.square, state["square"])):
            for key, value in mine.items():
                value.copy_(theirs[key])
        self.count = state["count"]
