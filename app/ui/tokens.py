"""The table of colours and distances that everything drawn takes its look from."""

from dataclasses import dataclass

XS, S, M, L, XL, XXL = 4, 8, 12, 16, 24, 28
CARD_RADIUS, BUTTON_RADIUS, BAR_RADIUS = 10, 7, 4
NAV_WIDTH = 196

SYSTEM, LIGHT_NAME, DARK_NAME = "system", "light", "dark"


@dataclass(frozen=True, slots=True)
class Tokens:
    """The colours by meaning; contrast and colour-blind distance were measured for both sets."""

    window: str
    card: str
    raised: str
    line: str
    text: str
    dim: str
    accent: str
    on_accent: str
    error: str
    warning: str
    good: str
    device: str  # weights on a device
    host: str  # weights in system memory, always hatched too
    kv: str
    compute: str
    other: str  # memory of other programs
    free: str


DARK = Tokens(
    window="#17191d", card="#1f2227", raised="#282c32", line="#373c44", text="#e8eaed",
    dim="#a3aab5", accent="#6ea8ff", on_accent="#0d1117", error="#ff7a6b", warning="#f2b53a",
    good="#2fcf93", device="#a9d8f8", host="#f2953a", kv="#2fcf93", compute="#b558d6",
    other="#6b727d", free="#3a3f47",
)  # fmt: skip
LIGHT = Tokens(
    window="#f6f7f9", card="#ffffff", raised="#eef0f3", line="#d5d9df", text="#1b1f24",
    dim="#5a6270", accent="#1f63d6", on_accent="#ffffff", error="#c22f1f", warning="#8a5a00",
    good="#0b7a54", device="#125078", host="#96540a", kv="#12a070", compute="#c257d6",
    other="#8b93a0", free="#e3e6ea",
)  # fmt: skip
