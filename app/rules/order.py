"""The order in which faults are named, as data: the first group with a match gives the verdict."""

from dataclasses import dataclass

from app.core.symptom import Symptom


@dataclass(frozen=True, slots=True)
class Group:
    """Rules of one kind, and why they are looked at before the next group."""

    title: str
    reason: str
    rules: tuple[str, ...]


GROUPS = (
    Group(
        "the load",
        "A model that did not load has no placement and no rate to talk about.",
        (
            "gpu-without-kernels",
            "instructions-too-new",
            "vllm-memory",
            "load-failed",
            "projector-not-counted",
            "out-of-memory-later",
            "ends-at-request",
        ),
    ),
    Group(
        "a device in the program",
        "Without a device every other placement question is empty.",
        (
            "gpu-not-permitted",
            "device-hidden",
            "container-lost-gpu",
            "container-without-gpu",
            "device-library-missing",
            "no-gpu-backend",
        ),
    ),
    Group(
        "a device that is used",
        "A device that holds no weights makes all layer counts claims without bytes behind them.",
        ("device-present-but-unused",),
    ),
    Group(
        "memory that moves",
        "While memory moves to a drive or over the bus no other figure means what it says.",
        (
            "unified-memory-set",
            "over-commit",
            "windows-shared-memory",
            "one-layer-too-many",
            "spilling-to-swap",
            "mapped-pages-evicted",
        ),
    ),
    Group(
        "layers and KV cache on the host",
        "Each byte on the host is read at the host's speed for each token.",
        (
            "fit-switched-off",
            "runtime-estimate",
            "partial-slower-than-ends",
            "moe-experts",
            "layers-moved-by-fit",
            "layers-not-offloaded",
            "weights-refused",
            "kv-on-host",
        ),
    ),
    Group(
        "the context",
        "The KV cache competes with the layers for the same memory.",
        (
            "cache-too-large",
            "context-reduced",
            "prompt-cut",
            "context-full",
            "context-above-training",
            "setting-ignored",
        ),
    ),
    Group(
        "limits of the platform",
        "A limit of the system caps what all settings together can reach.",
        ("os-ceiling",),
    ),
    Group(
        "the backend",
        "Which device computes matters once it is known that it computes.",
        (
            "integrated-gpu-chosen",
            "wrong-backend",
            "several-gpus",
            "slow-backend",
        ),
    ),
    Group(
        "a quiet machine",
        "Rates that were disturbed prove nothing, placement does.",
        (
            "all-cores-used",
            "machine-busy",
            "throttled",
            "processor-throttled",
            "power-saving",
            "power-limit-lowered",
        ),
    ),
    Group(
        "threads, link, kernels",
        "These scale what the placement allows, so they come after it.",
        (
            "threads-above-cores",
            "instructions-missing",
            "kv-type-without-kernel",
            "flash-attention-off",
            "narrow-link",
            "numa",
            "slow-memory",
        ),
    ),
    Group(
        "the workload",
        "What is asked of the model explains a wait only when the machine does not.",
        (
            "prompt-read-again",
            "draft-not-accepted",
            "thinking-tokens",
            "slow-drive-mount",
            "slow-to-start",
            "slow-with-depth",
            "vllm-eager",
            "many-users",
            "memory-grows",
            "settings-differ",
            "slower-after-update",
        ),
    ),
    Group(
        "the text",
        "Wrong text is a question of the file, not of speed.",
        (
            "quantised-v-cache",
            "tokenizer-keys-missing",
            "temperature-too-high",
            "end-token-missing",
            "base-model-as-chat",
            "template-missing",
            "too-few-bits",
        ),
    ),
)
ORDER = tuple(rule for group in GROUPS for rule in group.rules)


_SPEED = (
    "a device in the program",
    "a device that is used",
    "memory that moves",
    "layers and KV cache on the host",
    "a quiet machine",
)
# which groups a symptom points at: they are named first, and decide nothing
CONCERNS: dict[str, tuple[str, ...]] = {
    Symptom.NO_LOAD.value: ("the load", "limits of the platform", "the context"),
    Symptom.OUT_OF_MEMORY_AT_ONCE.value: ("the load", "limits of the platform", "the context"),
    Symptom.OUT_OF_MEMORY_LATER.value: ("the load", "memory that moves", "limits of the platform"),
    Symptom.SLOW_START.value: ("the workload", "memory that moves"),
    Symptom.SLOW_ANSWER.value: ("the workload", "threads, link, kernels", "the context"),
    Symptom.SLOW_WRITING.value: _SPEED,
    Symptom.SLOW_LONG_CHATS.value: ("the context", "the workload", "threads, link, kernels"),
    Symptom.SLOW_LATER.value: ("a quiet machine", "memory that moves", "the workload"),
    Symptom.WRONG_TEXT.value: ("the text", "the context"),
}


def near(rule_id: str, symptom: str) -> frozenset[str]:
    """Return the rules worth naming first: the verdict's rivals, and what the symptom points at.

    Rivals are those of its own group and of the one that is looked at before it. Without a verdict
    or a symptom they are those that most often explain a slow model.
    """
    titles = set(CONCERNS.get(symptom, () if rule_id else _SPEED))
    for before, group in zip(("", *(g.title for g in GROUPS)), GROUPS, strict=False):
        if rule_id in group.rules:
            titles |= {before, group.title}
    return frozenset(rule for group in GROUPS if group.title in titles for rule in group.rules)


def place(rule_id: str) -> int:
    """Return a rule's place; one that is not listed comes last."""
    return ORDER.index(rule_id) if rule_id in ORDER else len(ORDER)
