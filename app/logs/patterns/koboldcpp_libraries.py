"""KoboldCpp: a library for the GPU that is not beside the program."""

import re

from app.core.log import Fact, Pattern, Sample

PATTERNS = (
    Pattern(
        fact=Fact.NO_GPU_WARNING,
        keys=("library file not found. Non-BLAS",),
        regex=re.compile(
            r"Warning: (?P<reason>(?:CLBlast|CuBLAS|hipBLAS|Vulkan) library file not found)"
        ),
        samples=(
            Sample(
                build="KoboldCpp 1.22 (LostRuins/koboldcpp issue 170)",
                line="Warning: CLBlast library file not found. Non-BLAS library will be used.",
                values={"reason": "CLBlast library file not found"},
            ),
        ),
    ),
)
