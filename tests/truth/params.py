"""A model's published sizes, as the truth file lists them."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Params:
    """Counts of blocks, values, heads and experts; 0 = the model has none. Names as in the file."""

    L: int = 0  # blocks
    e: int = 0  # embedding
    f: int = 0  # feed forward
    h: int = 0  # heads
    hk: int | tuple[int, ...] = 0  # KV heads, one or per block
    hka: int = 0  # KV heads of the attention blocks in a hybrid
    v: int = 0  # vocabulary
    ctx: int = 0  # training context
    dk: int = 0  # values per head of K
    dv: int = 0
    dks: int = 0  # of sliding-window blocks
    dkm: int = 0  # of K and V before compression (MLA)
    dvm: int = 0
    lkv: int = 0  # width of the latent row
    lq: int = 0
    rope: int = 0
    rope_freqs: int = 0
    tied: int = 0
    nx: int = 0  # experts
    nu: int = 0  # experts used
    ns: int = 0  # shared experts
    fx: int = 0  # feed forward of an expert
    fs: int = 0  # of the shared expert
    lead: int = 0  # dense blocks before the first with experts
    swa: int = 0  # window
    pat: int | str = 0  # every pat-th block is full; or the kinds of Nemotron's blocks
    shared_kv: int = 0
    epl: int = 0  # per-layer embedding
    ds: int = 0  # delta net: state, K heads, V heads
    nk: int = 0
    nv: int = 0
    mtp: int = 0  # blocks that predict further tokens
    inner: int = 0  # Mamba: inner size, state, heads, groups, rank of dt
    st: int = 0
    nh: int = 0
    ng: int = 0
    dt: int = 0
    attn: tuple[int, ...] = ()  # the attention blocks of a hybrid

    @classmethod
    def of(cls, plain: Mapping[str, object]) -> "Params":
        """Make the sizes from a row's JSON object; an unknown name is an error."""
        unknown = plain.keys() - {field.name for field in fields(cls)}
        assert not unknown, unknown
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in plain.items()
        }
        return cls(**given)

    @property
    def head(self) -> int:
        """Return the values per head."""
        return self.dk or self.e // self.h

    def kv_heads(self, i: int) -> int:
        """Return the KV heads of a block."""
        return self.hk[i] if isinstance(self.hk, tuple) else self.hk
