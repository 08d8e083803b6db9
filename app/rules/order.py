"""The order in which faults are named, as data: the first group with a match gives the verdict."""

from dataclasses import dataclass


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
        ("all-cores-used", "machine-busy", "throttled", "power-saving", "power-limit-lowered"),
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


def place(rule_id: str) -> int:
    """Return a rule's place; one that is not listed comes last."""
    return ORDER.index(rule_id) if rule_id in ORDER else len(ORDER)
