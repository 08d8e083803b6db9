"""Dates a program by the words that it prints, for builds whose number is 0 or 1.

The months are those of the sources that were read: a word came between two of them.
"""

from collections.abc import Iterable

_EVER, _NOW = "2023-01", "9999-12"

# words of llama.cpp with the first and the last month in which a source prints them (sources of
# llama-cpp-python 0.1.85 to 0.3.36 and builds 3889 to 11434)
_WORDS: tuple[tuple[str, str, str], ...] = (
    ("llama_print_timings:", _EVER, "2024-08"),
    ("llama_model_load_internal:", _EVER, "2023-08"),
    ("llm_load_print_meta:", "2023-08", "2024-12"),
    ("llm_load_tensors:", "2023-08", "2024-12"),
    ("llama_new_context_with_model:", _EVER, "2024-12"),
    ("llama_kv_cache_init:", "2023-12", "2025-04"),
    ("llama_perf_context_print:", "2024-09", _NOW),
    ("n_ctx_per_seq", "2024-11", "2025-10"),
    ("llama_init_from_model:", "2025-01", _NOW),
    ("llama_model_load_from_file_impl: using device", "2025-01", "2026-04"),
    ("llama_kv_cache_unified", "2025-05", "2025-09"),
    ("n_ctx_seq ", "2025-11", _NOW),
    ("llama_kv_cache: ", "2025-10", _NOW),
    ("llama_params_fit", "2025-11", "2026-04"),
    ("build_info: b", "2026-01", "2026-04"),
    ("sched_reserve:", "2026-01", _NOW),
    ("llama_prepare_model_devices:", "2026-03", _NOW),
    ("(load_mode = ", "2026-06", _NOW),
    ("common_params_fit_impl:", "2026-05", _NOW),
    ("common_fit_params:", "2026-05", _NOW),
    ("common_params_print_info:", "2026-05", _NOW),
    ("common_perf_print:", "2026-01", _NOW),
)


def dated(texts: Iterable[str]) -> str:
    """Say when the program was made, such as "2025-05 to 2025-09"; "" when no word tells."""
    since, until = _EVER, _NOW
    for text in texts:
        for word, first, last in _WORDS:
            if (first > since or last < until) and word in text:
                since, until = max(since, first), min(until, last)
    if since > until or (since, until) == (_EVER, _NOW):
        return ""  # two programs in one log, or nothing to go by
    if until == _NOW:
        return f"{since} or later"
    return f"{until} or earlier" if since == _EVER else f"{since} to {until}"
