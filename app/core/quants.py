"""The ggml tensor types: ids, names and block sizes (ggml-common.h, llama.cpp build 11434)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GgmlType:
    """One tensor type; a block of values_per_block values takes block_bytes bytes."""

    id: int
    name: str
    block_bytes: int
    block_values: int

    @property
    def bits(self) -> float:
        """Return the bits per value."""
        return 8 * self.block_bytes / self.block_values


_TABLE = (
    (0, "f32", 4, 1), (1, "f16", 2, 1), (2, "q4_0", 18, 32), (3, "q4_1", 20, 32),
    (6, "q5_0", 22, 32), (7, "q5_1", 24, 32), (8, "q8_0", 34, 32), (9, "q8_1", 36, 32),
    (10, "q2_K", 84, 256), (11, "q3_K", 110, 256), (12, "q4_K", 144, 256),
    (13, "q5_K", 176, 256), (14, "q6_K", 210, 256), (15, "q8_K", 292, 256),
    (16, "iq2_xxs", 66, 256), (17, "iq2_xs", 74, 256), (18, "iq3_xxs", 98, 256),
    (19, "iq1_s", 50, 256), (20, "iq4_nl", 18, 32), (21, "iq3_s", 110, 256),
    (22, "iq2_s", 82, 256), (23, "iq4_xs", 136, 256), (24, "i8", 1, 1), (25, "i16", 2, 1),
    (26, "i32", 4, 1), (27, "i64", 8, 1), (28, "f64", 8, 1), (29, "iq1_m", 56, 256),
    (30, "bf16", 2, 1), (34, "tq1_0", 54, 256), (35, "tq2_0", 66, 256), (39, "mxfp4", 17, 32),
    (40, "nvfp4", 36, 64), (41, "q1_0", 18, 128), (42, "q2_0", 18, 64),
)  # fmt: skip

TYPES = {row[0]: GgmlType(*row) for row in _TABLE}
BY_NAME = {ggml_type.name: ggml_type for ggml_type in TYPES.values()}
REMOVED = frozenset({4, 5, 31, 32, 33, 36, 37, 38})
CACHE_TYPES = ("f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "iq4_nl", "q5_0", "q5_1")

# llama_ftype (general.file_type); a name says nothing exact about bytes
FILE_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K",
    11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S",
    17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS",
    23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S",
    29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0",
    38: "MXFP4_MOE", 39: "NVFP4", 40: "Q1_0", 41: "Q2_0",
}  # fmt: skip


def is_known(type_id: int) -> bool:
    """Tell whether the type has a block size here."""
    return type_id in TYPES


def n_bytes(type_id: int, n_values: int) -> int:
    """Return the bytes of n_values values; KeyError for a type that is not known."""
    ggml_type = TYPES[type_id]
    return n_values // ggml_type.block_values * ggml_type.block_bytes


def row_bytes(name: str, n_values: int) -> int:
    """Return the bytes of a row of a cache type; KeyError for an unknown name."""
    return n_bytes(BY_NAME[name].id, n_values)


def name_of(type_id: int) -> str:
    """Return the type's name, or a text that says the id is unknown."""
    return TYPES[type_id].name if type_id in TYPES else f"unknown type {type_id}"
