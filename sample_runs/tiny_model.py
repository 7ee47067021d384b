"""A decoder-only transformer on bytes, small enough for one processor core."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from tiny_plans import SIZES
from torch import Tensor, nn

CONTEXT = 128
BYTES = 256


def turns(width: int) -> Tensor:
    """Rotary positions: unit complex numbers of shape (context, 1, width / 2)."""
    rates = 1000.0 ** -(torch.arange(0, width, 2) / width)
    angles = torch.arange(CONTEXT)[:, None] * rates
    return torch.polar(torch.ones_like(angles), angles)[:, None]


class Block(nn.Module):
    """Attention with rotary positions and a feed-forward layer, each behind a norm."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)
        self.register_buffer("turns", turns(width // heads), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        qkv = self.qkv(self.norm_1(x)).unflatten(-1, (3 * self.heads, -1))  # (batch, length, 3 heads, head width)
        pairs = torch.view_as_complex(qkv[:, :, : 2 * self.heads].unflatten(-1, (-1, 2)))
        turned = torch.view_as_real(pairs * self.turns[: x.shape[1]]).flatten(-2)
        q, k = turned.transpose(1, 2).chunk(2, dim=1)
        v = qkv[:, :, 2 * self.heads :].transpose(1, 2)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(-2))
        return x + self.down(F.relu(self.up(self.norm_2(x))))


class TinyLM(nn.Module):
    """Bytes in, log-odds of the next byte out; input and output embeddings are two matrices."""

    def __init__(self, size: str) -> None:
        super().__init__()
        width, layers, heads = SIZES[size]
        self.embed, self.head = nn.Embedding(BYTES, width), nn.Linear(width, BYTES, bias=False)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        for name, matrix in self.blocks.named_parameters():
            if matrix.ndim == 2:
                into_residual = name.endswith(("out.weight", "down.weight"))
                nn.init.normal_(matrix, std=(matrix.shape[1] * (2 * layers if into_residual else 1)) ** -0.5)
        nn.init.normal_(self.embed.weight, std=0.5)
        nn.init.zeros_(self.head.weight)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))

    @property
    def params_total(self) -> int:
        """Number of parameters with the embeddings."""
        return sum(p.numel() for p in self.parameters())


def loss_of(model: TinyLM, sequences: Tensor) -> Tensor:
    """Mean loss in nats per token of sequences of shape (batch, length + 1)."""
    logits = model(sequences[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), sequences[:, 1:].flatten())
