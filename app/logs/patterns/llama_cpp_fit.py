"""llama.cpp: what the fit step decided, and the memory breakdown tables (2025-11 on).

Level trace except for the warnings: hidden at the default verbosity.
"""

import re

from app.core.log import Fact, Pattern, Sample

_PARTS = {"self": int, "model": int, "context": int, "compute": int}

PATTERNS = (
    Pattern(
        fact=Fact.FIT_PROJECTED,
        keys=("projected to use ",),
        regex=re.compile(
            r"projected to use (?P<used_mib>\d+) MiB of (?P<where>device|host) memory vs\. "
            r"(?P<free_mib>\d+) MiB of (?:free device|total host) memory"
        ),
        types={"used_mib": int, "free_mib": int},
        samples=(
            Sample(
                build="11434",
                line="0.04.885.024 I common_params_fit_impl: projected to use 137 MiB of device "
                "memory vs. 2048 MiB of free device memory",
                values={"used_mib": 137, "where": "device", "free_mib": 2048},
            ),
            Sample(
                build="11434",
                line="common_params_fit_impl: projected to use 66 MiB of host memory vs. "
                "24105 MiB of total host memory",
                values={"used_mib": 66, "where": "host", "free_mib": 24105},
            ),
        ),
    ),
    Pattern(
        fact=Fact.FIT_ENOUGH,
        keys=("no changes needed",),
        regex=re.compile(
            r"will leave (?P<left_mib>\d+) >= (?P<target_mib>\d+) MiB of (?:free device|system) "
            r"memory, no changes needed|can be met on all devices, no changes needed"
        ),
        types={"left_mib": int, "target_mib": int},
        samples=(
            Sample(
                build="10434",
                line="common_params_fit_impl: will leave 1910 >= 1024 MiB of free device memory, "
                "no changes needed",
                values={"left_mib": 1910, "target_mib": 1024},
            ),
            Sample(
                build="11434",
                line="common_params_fit_impl: targets for free memory can be met on all devices, "
                "no changes needed",
            ),
        ),
    ),
    Pattern(
        fact=Fact.FIT_SHORT,
        keys=("cannot meet free memory target",),
        regex=re.compile(
            r"cannot meet free memory targets? (?:of (?P<target_mib>\d+) MiB, need to reduce "
            r"device memory by|on all devices, need to use) (?P<need_mib>\d+) MiB"
        ),
        types={"target_mib": int, "need_mib": int},
        samples=(
            Sample(
                build="10434",
                line="common_params_fit_impl: cannot meet free memory target of 1905 MiB, "
                "need to reduce device memory by 42 MiB",
                values={"target_mib": 1905, "need_mib": 42},
            ),
            Sample(
                build="11434",
                line="common_params_fit_impl: cannot meet free memory targets on all devices, "
                "need to use 292 MiB less in total",
                values={"need_mib": 292},
            ),
        ),
    ),
    Pattern(
        fact=Fact.FIT_NO_DEVICE,  # builds of 2025-12 to 2026-04 did not look at host memory
        keys=("no devices with dedicated memory found",),
        regex=re.compile(r"no devices with dedicated memory found"),
        samples=(
            Sample(
                build="8672",
                line="llama_params_fit_impl: no devices with dedicated memory found",
            ),
        ),
    ),
    Pattern(
        fact=Fact.FIT_CTX_REDUCED,
        keys=("context size reduced from ",),
        regex=re.compile(r"context size reduced from (?P<before>\d+) to (?P<after>\d+) ->"),
        types={"before": int, "after": int},
        samples=(
            Sample(
                build="10434",
                line="common_params_fit_impl: context size reduced from 32768 to 10496 -> "
                "need 87 MiB less memory in total",
                values={"before": 32768, "after": 10496},
            ),
        ),
    ),
    Pattern(
        fact=Fact.FIT_CTX_KEPT,
        keys=("-> no change",),
        regex=re.compile(
            r"(?:context size set by user to|requested full context size of"
            r"|default model context size is) (?P<n>\d+) .*?-> no change"
        ),
        types={"n": int},
        samples=(
            Sample(
                build="10434",
                line="common_params_fit_impl: context size set by user to 16384 -> no change",
                values={"n": 16384},
            ),
            Sample(
                build="11434",
                line="common_params_fit_impl: user has requested full context size of 32768 "
                "-> no change",
                values={"n": 32768},
            ),
        ),
    ),
    Pattern(
        fact=Fact.FIT_DEVICE,
        keys=(" MiB used, ",),
        regex=re.compile(
            r"- (?P<device>\S+) \((?P<description>.*)\): +(?P<layers>\d+) layers"
            r"(?: \( *(?P<overflowing>\d+) overflowing\))?, +(?P<used_mib>\d+) MiB used, "
            r"+(?P<free_mib>-?\d+) MiB free"
        ),
        types={"layers": int, "overflowing": int, "used_mib": int, "free_mib": int},
        samples=(
            Sample(
                build="10434",
                line="common_params_fit_impl:   - Vulkan0 (llvmpipe (LLVM 15.0.6, 256 bits)): "
                "12 layers,    137 MiB used,   1910 MiB free",
                values={
                    "device": "Vulkan0",
                    "description": "llvmpipe (LLVM 15.0.6, 256 bits)",
                    "layers": 12,
                    "used_mib": 137,
                    "free_mib": 1910,
                },
            ),
        ),
    ),
    Pattern(
        fact=Fact.FIT_FAILED,
        keys=("failed to fit params",),
        regex=re.compile(
            r"failed to fit params to free device memory: "
            r"(?P<reason>(?P<setting>\w+) already set by user(?: to (?P<value>[^\s,]+))?"
            r"|.+?)(?:, abort)?$"
        ),
        samples=(
            Sample(
                build="10434",
                line="common_fit_params: failed to fit params to free device memory: "
                "n_gpu_layers already set by user to 99, abort",
                values={
                    "reason": "n_gpu_layers already set by user to 99",
                    "setting": "n_gpu_layers",
                    "value": "99",
                },
            ),
        ),
    ),
    Pattern(
        fact=Fact.FIT_DONE,
        keys=("successfully fit params",),
        regex=re.compile(r"successfully fit params to free device memory"),
        samples=(
            Sample(
                build="11434",
                line="common_fit_params: successfully fit params to free device memory",
            ),
        ),
    ),
    Pattern(
        fact=Fact.BREAKDOWN_DEVICE,
        keys=("|   - ",),
        regex=re.compile(
            r"\| +- (?P<device>\S+) \((?P<description>.*)\) +\| +(?P<total>\d+) = "
            r"+(?P<free>-?\d+) \+ \( *(?P<self>\d+) = +(?P<model>\d+) \+ +(?P<context>\d+) "
            r"\+ +(?P<compute>\d+)\)"
        ),
        types={"total": int, "free": int, **_PARTS},
        samples=(
            Sample(
                build="10434",
                line="common_memory_breakdown_print: |   - Vulkan0 "
                "(llvmpipe (LLVM 15.0.6, 256 bits)) |  2048 = 2048 + ( 137 =    65 +      49 +"
                "      23) +        -137 |",
                values={
                    "device": "Vulkan0",
                    "description": "llvmpipe (LLVM 15.0.6, 256 bits)",
                    "total": 2048,
                    "free": 2048,
                    "self": 137,
                    "model": 65,
                    "context": 49,
                    "compute": 23,
                },
            ),
        ),
    ),
    Pattern(
        fact=Fact.BREAKDOWN_HOST,
        keys=("|   - ",),
        regex=re.compile(
            r"\| +- (?P<row>\S+) +\| +(?P<self>\d+) = +(?P<model>\d+) \+ +(?P<context>\d+) "
            r"\+ +(?P<compute>\d+) +\|"
        ),
        types=_PARTS,
        samples=(
            Sample(
                build="10434",
                line="common_memory_breakdown_print: |   - AMX                                    "
                "    |                  190 =   190 +       0 +       0                |",
                values={"row": "AMX", "self": 190, "model": 190, "context": 0, "compute": 0},
            ),
        ),
    ),
)
