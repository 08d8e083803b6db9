"""The proof: the same load and measurement again with one change, nothing of the user's touched."""

from dataclasses import dataclass, replace

from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence, SecondRun
from app.core.request import LoadRequest, changed
from app.core.rule import Finding
from app.work.diagnose_run import DiagnosePlan, DiagnoseRun
from app.work.steps import Script


@dataclass(frozen=True, slots=True)
class ProvePlan:
    """What was seen, and the finding whose fix is tried (core.proof.why_not must allow it)."""

    evidence: Evidence
    finding: Finding
    llama_folders: tuple[str, ...] = ()
    n_prompt: int = 512  # these three hold where the first load gave no rate
    n_gen: int = 128
    repetitions: int = 3
    load_timeout_s: float = 600.0
    option_id: str = ""  # the ranked change that the finding stands for

    @property
    def request(self) -> LoadRequest:
        """Return the first load's options with the one change."""
        return changed(self.evidence.request or LoadRequest(), self.finding.fix.change)

    def again(self) -> DiagnosePlan:
        """Return the guided run to do: same machine, same lengths, one change."""
        first = first_runs(self.evidence)
        lengths = {run.test: run.n_tokens for run in first}
        return DiagnosePlan(
            model_path=self.evidence.model.path if self.evidence.model else "",
            request=self.request,
            llama_folders=self.llama_folders,
            base=replace(self.evidence, again=None),
            n_prompt=lengths.get(Test.PROMPT, self.n_prompt),
            n_gen=lengths.get(Test.GENERATION, self.n_gen),
            repetitions=max((run.n for run in first), default=self.repetitions),
            load_timeout_s=self.load_timeout_s,
            keeps_lengths=bool(first),
        )


class ProveRun(DiagnoseRun):
    """Does the steps again; done brings the evidence with its second run."""

    def prove(self, plan: ProvePlan) -> None:
        """Begin; everything else comes by signals."""
        self.run(self._proved(plan))

    def _proved(self, plan: ProvePlan) -> Script[Evidence]:
        result = yield from self.diagnosed(plan.again())
        seen, first = result.evidence, first_runs(plan.evidence)
        again = SecondRun(
            rule_id=plan.finding.rule_id,
            option_id=plan.option_id,
            first_run_id=first[0].run_id if first else "",
            request=plan.request,
            outcome=seen.outcome,
            log=seen.log,
            runs=seen.runs,
            watch=seen.watch,
            notes=seen.notes,
            gpu_watch=seen.gpu_watch,
            text_checks=seen.text_checks,
            track=seen.track,
        )
        return replace(plan.evidence, again=again)


def first_runs(evidence: Evidence) -> tuple[BenchRun, ...]:
    """Return the rates of the last run before the change."""
    if not evidence.runs:
        return ()
    run_id = evidence.runs[-1].run_id
    return tuple(run for run in evidence.runs if run.run_id == run_id)
