"""A power limit is a fault only when somebody lowered it and the card ran into it."""

from app.core.evidence import Evidence, GpuWatch
from app.rules.power_limit_lowered import check, needs, silent


def _evidence(limit: float, *, is_capped: bool | None = True, most: float = 0.0) -> Evidence:
    return Evidence(
        gpu_watch=GpuWatch(
            20, "NVML", is_capped=is_capped, name="RTX 3090", index=1, power_limit_w=limit,
            power_default_w=350.0, power_max_w=most,
        )
    )  # fmt: skip


def test_names_a_lowered_limit_that_was_reached() -> None:
    finding = check(_evidence(220.0))
    assert finding is not None
    assert "220 W of the 350 W" in finding.cause
    assert finding.fix.command == "nvidia-smi -i 1 -pl 350"
    assert "63 %" in finding.cites[0].text


def test_is_silent_at_the_makers_limit_or_below_it() -> None:
    assert check(_evidence(350.0)) is None
    assert silent(_evidence(350.0)) == "the power limit is the maker's"
    assert check(_evidence(220.0, is_capped=False)) is None
    assert "was not reached" in silent(_evidence(220.0, is_capped=False))


def test_takes_the_power_where_no_reason_is_told_and_gives_no_nvidia_command() -> None:
    finding = check(_evidence(220.0, is_capped=None, most=219.0))
    assert finding is not None and finding.fix.command == ""
    assert check(_evidence(220.0, is_capped=None, most=120.0)) is None


def test_says_what_is_missing() -> None:
    assert "not watched" in needs(Evidence())
    assert "does not tell" in needs(Evidence(gpu_watch=GpuWatch(5)))
    assert needs(_evidence(220.0)) == ""
