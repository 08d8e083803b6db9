"""Takes figures out of the text of system files; None for what is not there."""

import re

_LIST_LIMIT = 1 << 16  # no machine has more CPUs; a longer range is not a CPU list


def whole(text: str | None) -> int | None:
    """Return the text as a whole number of at most 64 bits, None when it is none."""
    stripped = (text or "").strip()
    return int(stripped) if re.fullmatch(r"-?[0-9]{1,20}", stripped) else None


def table(text: str | None, separator: str = ":") -> dict[str, str]:
    """Return the first value of each `name: value` line."""
    result: dict[str, str] = {}
    for line in (text or "").splitlines():
        name, mark, value = line.partition(separator)
        if mark and name.strip():
            result.setdefault(name.strip(), value.strip())
    return result


def cpu_list(text: str | None) -> tuple[int, ...]:
    """Return the numbers of a kernel CPU list such as 0-3,8; empty for anything else."""
    found: list[int] = []
    for part in (text or "").strip().split(","):
        match = re.fullmatch(r"([0-9]{1,6})(?:-([0-9]{1,6}))?", part.strip())
        if match is None:
            return ()
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or last - first >= _LIST_LIMIT:
            return ()
        found.extend(range(first, last + 1))
    return tuple(found)
