"""What an older build of llama.cpp does where nothing is asked."""

from dataclasses import replace

from app.core.request import LoadRequest, Tool

# "setting n_parallel = 4 and kv_unified = true" is in a log of this build (PR 16736, merged
# 2025-11-02); before it a server had one slot
_FIRST_WITH_SLOTS = 6934


def as_of(request: LoadRequest, build: int | None) -> LoadRequest:
    """Return the request with the build's own default of slots; an unknown build is a new one."""
    if build is None or build >= _FIRST_WITH_SLOTS:
        return request
    if request.tool is not Tool.SERVER or request.parallel is not None:
        return request
    return replace(request, parallel=1)
