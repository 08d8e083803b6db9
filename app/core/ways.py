"""The changes that may help a load, each tried by planning the load again with it.

The order is what they cost: nothing, then other programs, then context, then quality (advice.md
part 3, "Fix order when several apply"). A way that does not apply gives None, or says why.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum

from app.core import requant, units
from app.core.errors import UserError
from app.core.fit_table import QUANTISATIONS
from app.core.rule import Change
from app.core.trial import KERNELS, Trial

_SHORTEST = 2048  # shorter contexts are no help in a chat
_F16 = "f16"
_NOTICED = 0.001  # of f
_ALL = 0.999
_HELD_BYTES = 256 * units.MIB  # less is what any desktop holds
_SLOWER = "the device is slower than the processor here"
# below 4 bits the harm grows fast (advice.md claim 63)
_TOO_FEW_BITS = ("Q3_K_M", "Q2_K")


class Toll(Enum):
    """What a change takes away, in a word."""

    NOTHING = "free"
    PROGRAMS = "programs"  # others that have to be closed
    CONTEXT = "context"
    QUALITY = "quality"


@dataclass(frozen=True, slots=True)
class Way:
    """One change; after is the load with it, None: why says why nothing can be calculated."""

    id: str
    short: str  # under its column in the picture
    title: str
    text: str
    cost: str
    toll: Toll
    after: Trial | None
    change: Change = ()
    kernels: float = 1.0
    why: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """A change that was looked at and would not help, and why."""

    title: str
    why: str


Found = Way | str | None  # a text says why it does not apply


def host_only(now: Trial) -> Found:
    """Offer the processor alone where the device is the slower end, or is none."""
    if not now.request.use_devices:
        return None
    if _is_software(now):
        return _without_software(now)
    if now.placed.f > _ALL or not _is_slower_end(now):
        return None
    text = "The device is the slower end here: layers on it slow this computer."
    return Way(
        "host-only", "Processor only", "Everything on the processor", text,
        "The processor is busy while it writes.",
        Toll.NOTHING, now.as_asked(replace(now.request, ngl=0)), (("ngl", 0),),
    )  # fmt: skip


def _without_software(now: Trial) -> Way:
    """Offer no device at all: with -ngl 0 a device still computes long prompts."""
    text = (
        f"{now.devices[0].id} is no GPU, it computes on the processor, and slower than "
        "llama.cpp's own code for it. With -ngl 0 it would still compute long prompts."
    )
    request = replace(now.request, use_devices=False, ngl=None)
    return Way(
        "host-only", "Processor only", "Everything on the processor", text,
        "The processor is busy while it writes.",
        Toll.NOTHING, now.as_asked(request), (("use_devices", False), ("ngl", None)),
        why="writing stays as it is, the prompt is read faster: measure it",
    )  # fmt: skip


def more_layers(now: Trial) -> Found:
    """Leave the layers to the program, which places what fits; experts go to the host first."""
    if _is_slower_end(now) or _is_software(now):
        return _SLOWER
    if now.is_whole:
        return "all layers are on the device already"
    if now.layers == now.layers_total and not now.n_experts:
        return "all layers are on the device, which holds as much of them as it can"
    asked = automatic(now)
    after = now.fitted(asked.request)
    if after is None or after.placed.f >= now.placed.f - _NOTICED:
        return "not one more layer fits"
    if _has_no_middle(now) and not after.is_whole:
        return "a part on this device can be slower than either end: measure both ends first"
    change: Change = (("ngl", None), ("use_devices", True))
    if now.n_experts and not after.is_whole:
        return Way(
            "experts-on-host", "Experts in RAM", "Experts in system memory, all else on the device",
            "Of its experts a token reads a few, of everything else all. Leave the number of "
            f"layers out: the program then moves experts first. {_share(now, after)}",
            "System memory for the experts.",
            Toll.NOTHING, after, (*change, ("cpu_moe", False), ("n_cpu_moe", 0), ("overrides", ())),
        )  # fmt: skip
    text = "Leave the number of layers out: the program places what fits."
    if after.layers < now.layers_total:
        text += f" That is {after.layers} of {now.layers_total}."
    return Way(
        "more-layers", "More layers", "More layers on the device", text,
        "Device memory; the automatic fit leaves some free.",
        Toll.NOTHING, after, change,
    )  # fmt: skip


def cache_on_device(now: Trial) -> Found:
    """Bring the KV cache back to the device."""
    if now.request.kv_offload:
        return None
    if _is_slower_end(now) or _is_software(now):
        return _SLOWER
    request = replace(now.request, kv_offload=True)
    return Way(
        "cache-on-device", "Cache on device", "KV cache on the device",
        "The cache is kept in system memory by request (-nkvo), and each token reads all of it: "
        "the longer the chat, the slower.",
        "Device memory.", Toll.NOTHING, now.fitted(request) or now.as_asked(request),
        (("kv_offload", True),),
        why="it grows with the length of the chat: measure with a long one",
    )  # fmt: skip


def close_programs(now: Trial) -> Found:
    """Free the device memory that other programs hold, where layers lack room."""
    held = _held(now)
    if not held or now.is_whole or _is_slower_end(now):
        return None
    device = now.devices[0]
    freed = sum(n_bytes for _name, n_bytes in held)
    total, free = device.total_bytes, device.free_bytes
    if total is None or free is None:
        return None
    roomier = replace(device, free_bytes=min(total, free + freed))
    asked = automatic(now)
    after = replace(asked, devices=(roomier,)).fitted(asked.request)
    if after is None or after.placed.f >= now.placed.f - _NOTICED:
        return "what other programs hold is too little for another layer"
    names = " and ".join(f"{name} ({units.size(n_bytes)})" for name, n_bytes in held)
    return Way(
        "close-programs", "Close programs", "Close other programs on the device",
        f"{names} of {device.id} are taken. Closed, {after.layers} of {now.layers_total} layers "
        "fit. Look at the device list again afterwards.",
        "Those programs.", Toll.PROGRAMS, after,
    )  # fmt: skip


def shorter_context(now: Trial) -> Found:
    """Shorten the context until all layers fit."""
    asked = _lacking_room(now)
    if asked is None:
        return "the context takes no room from layers"
    n_ctx = now.placed.context.n_ctx
    for ctx in _halves(n_ctx):
        after = now.fitted(replace(asked.request, ctx=ctx))
        if after is not None and after.layers == now.layers_total:
            return Way(
                "shorter-context", f"Context {units.count(ctx)}",
                f"Context of {units.count(ctx)} tokens",
                f"With {units.count(ctx)} instead of {units.count(n_ctx)} tokens all layers fit on "
                "the device.",
                "Context: longer chats and documents are cut.",
                Toll.CONTEXT, after, (("ctx", ctx), ("ngl", None)),
            )  # fmt: skip
    return "no context that a chat can use makes room for all layers"


def smaller_cache(now: Trial) -> Found:
    """Store the KV cache as q8_0, so that more layers fit."""
    asked = _lacking_room(now)
    if asked is None:
        return "the cache takes no room from layers"
    if (now.request.cache_type_k, now.request.cache_type_v) != (_F16, _F16):
        return "the cache is quantised already"
    types = replace(asked.request, cache_type_k="q8_0", cache_type_v="q8_0")
    after = now.fitted(types)
    if after is None or after.placed.f >= now.placed.f - _NOTICED:
        return "what a smaller cache frees is too little for another layer"
    return Way(
        "smaller-cache", "Cache as q8_0", "KV cache as q8_0",
        "The cache takes 53 % of f16, and more layers fit.",
        "Quality: small. It needs flash attention.",
        Toll.QUALITY, after,
        (("cache_type_k", "q8_0"), ("cache_type_v", "q8_0"), ("ngl", None)),
    )  # fmt: skip


def smaller_quantisation(now: Trial) -> Found:
    """Take the next smaller quantisation of the same model."""
    if _is_slower_end(now) and now.placed.f <= _ALL:
        return "leave the device first, it is the slower end here"
    # one change at a time: a smaller file gets other layers only where room is what lacks
    asked = _lacking_room(now)
    for file_type in QUANTISATIONS:
        if file_type in _TOO_FEW_BITS:
            return "below 4 bits the harm to the text grows fast"
        try:
            smaller = now.with_model(requant.requantised(now.model, file_type))
        except UserError:
            return "the rules of this architecture's quantisation are not known"
        if smaller is None or not 0 < smaller.weights_bytes < 0.9 * now.weights_bytes:
            continue
        after = smaller.fitted(asked.request) if asked is not None else None
        after = after or smaller.as_asked(now.request)
        if after is None or after.placed.reads.total_bytes >= now.placed.reads.total_bytes:
            return None
        return Way(
            "smaller-quantisation", f"File as {file_type}", f"The same model as {file_type}",
            f"It has {units.size(smaller.weights_bytes)} of weights instead of "
            f"{units.size(now.weights_bytes)}.",
            "Quality: fewer bits per weight. A new download of the same model.",
            Toll.QUALITY, after, (), KERNELS,
        )  # fmt: skip
    return "there is no smaller quantisation to offer"


# each is tried on top of the ones before it; the title is for where it does not apply
IN_ORDER: tuple[tuple[str, Callable[[Trial], Found]], ...] = (
    ("Everything on the processor", host_only),
    ("More layers on the device", more_layers),
    ("KV cache on the device", cache_on_device),
    ("Close other programs", close_programs),
    ("A shorter context", shorter_context),
    ("A smaller KV cache", smaller_cache),
    ("A smaller quantisation", smaller_quantisation),
)


def automatic(now: Trial) -> Trial:
    """Return the load with its layers left to the program; its placement is the former one's."""
    request = replace(now.request, ngl=None, use_devices=True)
    if now.n_experts:
        request = replace(request, cpu_moe=False, n_cpu_moe=0, overrides=())
    return replace(now, request=request)


def _lacking_room(now: Trial) -> Trial | None:
    """Return the automatic load where not all layers fit, None where they do."""
    if now.is_whole or _is_slower_end(now) or _is_software(now) or not now.devices:
        return None
    asked = automatic(now)
    after = now.fitted(asked.request)
    return None if after is not None and after.layers == now.layers_total else asked


def _is_slower_end(now: Trial) -> bool:
    return now.r is not None and now.r.high < 1


def _is_software(now: Trial) -> bool:
    return bool(now.devices) and all(device.is_software for device in now.devices)


def _has_no_middle(now: Trial) -> bool:
    """Tell whether a part on the device may lose to both ends (slowdown.md sections 4 and 7)."""
    return bool(now.no_figure) or any(d.is_integrated or d.is_software for d in now.devices)


def _share(now: Trial, after: Trial) -> str:
    return (
        f"f, the host's share of the bytes per token, goes from {units.percent(now.placed.f)} to "
        f"{units.percent(after.placed.f)}."
    )


def _held(now: Trial) -> tuple[tuple[str, int], ...]:
    """Return who holds memory of the only device, named where a runtime says so, in bytes."""
    machine = now.evidence.machine
    if machine is None or len(now.devices) != 1:
        return ()
    named = tuple(
        (f"{runtime.title} with {loaded.name}", loaded.device_bytes)
        for runtime in machine.runtimes
        if runtime.is_running
        for loaded in runtime.loaded
        if loaded.device_bytes
    )
    driver = machine.number("gpu.0.process_memory") if machine.number("gpu.count") == 1 else None
    rest = int(driver or 0) - sum(n_bytes for _name, n_bytes in named)
    return (*named, ("other programs", rest)) if rest > _HELD_BYTES else named


def _halves(n_ctx: int) -> Iterator[int]:
    ctx = n_ctx // 2
    while ctx >= _SHORTEST:
        yield ctx
        ctx //= 2
