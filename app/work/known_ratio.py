"""r as this computer knows it: typed in, or from the runs of the model in the notebook."""

from app.core import placement
from app.core.errors import UserError
from app.core.evidence import Evidence
from app.core.forecast import measured_r
from app.core.reading import Estimate
from app.work.notebook import Notebook
from app.work.settings import SLOW_RATIO, Settings


def known_ratio(evidence: Evidence, settings: Settings, notebook: Notebook) -> Estimate | None:
    """Return r for evidence of this computer, None when nothing tells it."""
    typed = settings.get(SLOW_RATIO)
    if typed > 0:
        return Estimate.typed(typed, "typed in (settings)")
    if evidence.model is None:
        return None
    try:
        prepared = placement.prepare(evidence.model)
    except UserError:  # the forecast says why this model cannot be placed
        return None
    runs = (*notebook.runs_of(prepared.name), *evidence.runs)
    return measured_r(runs, prepared.shape.layers_total)
