"""Offload: where each layer's bytes go, the slider for n_gpu_layers, f and the slowdown, live."""

from dataclasses import replace

from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.core import builds
from app.core.bandwidth import table_r
from app.core.bench import BenchRun
from app.core.builds import LLAMA_CPP
from app.core.errors import UserError
from app.core.forecast import measured_r
from app.core.host_memory import host_of
from app.core.pace import Basis, basis_of, pace_of
from app.core.placement import Placement, Prepared, prepare
from app.core.reading import Estimate
from app.ui import theme
from app.ui.models import offload_model, position_model, rate_model, tensor_model
from app.ui.models.offload_model import Choice, CurvePoint, OffloadView
from app.ui.models.position_model import Positions
from app.ui.widgets.bar_list import BarList
from app.ui.widgets.best_row import BestRow
from app.ui.widgets.card import Card, NumberCard, dim_label
from app.ui.widgets.command_box import CommandBox
from app.ui.widgets.companion_row import CompanionRow
from app.ui.widgets.curve_card import CurveCard
from app.ui.widgets.field import combo
from app.ui.widgets.layer_map import LayerMap
from app.ui.widgets.load_controls import LoadControls
from app.ui.widgets.page import Page
from app.ui.widgets.position_slider import PositionSlider
from app.ui.widgets.rate_line import RateLine
from app.ui.widgets.said_panel import SaidPanel
from app.work.detection import Detection
from app.work.jobs import Latest
from app.work.notebook import Notebook
from app.work.session import Session
from app.work.settings import SLOW_RATIO

_WIDE = 900  # below it the two lower cards go under each other


class OffloadTab(Page):
    """Shows one placement; the slider and the controls change it."""

    def __init__(
        self, session: Session, detection: Detection, parent: QWidget | None = None
    ) -> None:
        super().__init__(self.tr("Offload"), parent)
        self._session = session
        self._prepared: Prepared | None = None
        self._model_path = ""
        self._curve: tuple[CurvePoint, ...] = ()
        self._share = 0.0
        self._kept: tuple[BenchRun, ...] = ()  # of this model, on earlier days
        self._basis: Basis | None = None  # what rates are calculated from, None = being read
        self._positions: Positions | None = None  # worth to know, None = being tried
        self._latest, self._trying, self._reading = (Latest(session.jobs) for _ in range(3))
        self.setObjectName("offloadTab")
        self._make_body()
        self._controls.set_ratio(session.settings.get(SLOW_RATIO))
        self.action.connect(self.open_wanted)
        self._slider.moved.connect(self._on_slider)
        self._experts.moved.connect(self._on_experts)
        self._best.taken.connect(self._on_best_taken)
        self._controls.changed.connect(self._on_controls)
        self._beside.changed.connect(self._on_controls)
        self._runtime.currentIndexChanged.connect(self._show)
        self._map.layer_clicked.connect(self._on_layer)
        self._said.taken.connect(self._on_fit_taken)
        session.evidence_changed.connect(self._on_evidence_changed)
        self._on_evidence_changed()

    # ------------------------------------------------------------------ changes

    def _on_evidence_changed(self) -> None:
        evidence = self._session.evidence
        model = evidence.model
        devices = evidence.machine.devices if evidence.machine else ()
        self._controls.set_devices(devices, is_known=evidence.machine is not None)
        if model is None:
            self._prepared, self._model_path = None, ""
            self.set_empty(
                self.tr("Drop a GGUF file to see where its bytes go"),
                self.tr("Open a model…"),
                self.tr("Only the header is read, never the weights."),
            )
            return
        if self._prepared is None or self._model_path != model.path:
            try:
                self._prepared = prepare(model)
            except UserError as error:
                self._prepared = None
                self.set_empty(error.title, self.tr("Open a model…"), error.rest())
                return
            self._model_path = model.path
            self._beside.forget()
            self._read_kept(self._prepared.name)
            shape = self._prepared.shape
            self._controls.set_model(shape.n_ctx_train)
            self._slider.reset(shape.layers_total, shape.layers_total)
            self._experts.reset(shape.n_layer, 0)
            self._expert_row.setVisible(bool(shape.n_expert))
            self._map.show_tensors(tensor_model.tensor_texts(self._prepared))
            self._forget()
        self.subtitle.setText(offload_model.model_line(model))
        self.set_notice(offload_model.problems(model))
        self.set_filled()
        self._on_controls()

    def _forget(self) -> None:
        """Take down what was calculated for another model."""
        self._curve, self._positions, self._basis = (), None, None
        self._curve_card.show_none(self.tr("Calculating the curve…"))
        self._best.show_text(self.tr("Trying positions…"))
        self._said.forget_fit()

    def _read_kept(self, name: str) -> None:
        """Look for runs of this model in the notebook, away from the window."""
        self._kept = ()
        job = self._session.jobs.start(
            lambda _cancel, _progress: Notebook().runs_of(name), name="runs of the model"
        )
        job.done.connect(self._on_kept_read)

    def _on_kept_read(self, runs: tuple[BenchRun, ...]) -> None:
        if self._prepared is None or not runs or runs[0].model_name != self._prepared.name:
            return
        self._kept = runs
        self._on_controls()

    def _on_controls(self) -> None:
        if self._session.settings.get(SLOW_RATIO) != self._controls.ratio:
            self._session.settings.set(SLOW_RATIO, self._controls.ratio)
        self._show()
        self._start_curve()
        self._start_basis()
        self._start_positions()

    def _on_slider(self) -> None:
        self._show()
        if self._ratio() is None and self._curve:
            self._on_curve(self._curve)  # without r the picture is of the present share
        self._show_point()

    def _on_experts(self) -> None:
        self._show()
        self._start_curve()

    def _on_fit_taken(self, ngl: int) -> None:
        if self._positions is not None and self._positions.fit.is_a_number:
            self._experts.set_value(self._positions.fit.partial_blocks)
            self._controls.set_tensor_split(self._positions.fit.tensor_split)
        self._slider.set_value(ngl)

    def _on_best_taken(self) -> None:
        best = self._positions.best if self._positions is not None else None
        if best is not None and best.ngl is not None:
            self._experts.set_value(best.n_cpu_moe)
            self._slider.set_value(best.ngl)

    def _on_layer(self, index: int) -> None:
        if self._prepared is not None:
            self._slider.set_value(
                offload_model.ngl_to_reach(index, self._prepared.shape, self._choice().build)
            )

    def stop(self) -> None:
        """Stop asking llama.cpp and calculating."""
        self._said.stop()
        for latest in (self._latest, self._trying, self._reading):
            latest.cancel()

    # ------------------------------------------------------------------ showing

    def _choice(self) -> Choice:
        evidence = self._session.evidence
        return Choice(
            request=replace(
                self._controls.request, ngl=self._slider.value, n_cpu_moe=self._experts.value
            ),
            devices=self._controls.devices,
            host=host_of(evidence.machine),
            r=self._ratio(),
            build=builds.of_machine(evidence.machine, self._runtime.currentData() or LLAMA_CPP),
            runtime=self._runtime.currentData(),
            program=offload_model.llama_server(evidence.machine),
            companions=self._beside.companions,
        )

    def _ratio(self) -> Estimate | None:
        if self._controls.ratio > 0:
            return Estimate.typed(self._controls.ratio)
        if self._prepared is None:
            return None
        total, evidence = self._prepared.shape.layers_total, self._session.evidence
        measured = measured_r(evidence.runs, total) or measured_r(self._kept, total)
        return measured or table_r(evidence.machine, self._controls.devices)

    def _show(self) -> None:
        if self._prepared is None:
            return
        try:
            view = offload_model.offload_view(self._prepared, self._choice(), self._model_path)
        except UserError as error:
            self._note.setObjectName("errorText")
            self._note.setText(error.sentence())
            self._note.style().polish(self._note)
            self._note.show()
            return
        self._show_view(view)
        self._said.show_placement(self._choice(), view.placed)

    def _show_view(self, view: OffloadView) -> None:
        self._share = view.f
        for card, number in (
            (self._ngl_card, view.ngl),
            (self._share_card, view.share),
            (self._slowdown_card, view.slowdown),
        ):
            card.show_value(number.text, number.caption, number.source)
        self._map.show_cells(view.cells, view.cells_sentence)
        self._expert_text.setText(
            self.tr("Experts in system memory: the first {} of {} blocks (--n-cpu-moe)").format(
                self._experts.value, self._experts.slider.maximum()
            )
        )
        self._slider.slider.setAccessibleDescription(view.cells_sentence)
        self._show_rates(view.placed)
        self._bars.show_bars(view.bars)
        self._command.show_command(view.command, self.tr("n_gpu_layers and what differs here"))
        self._note.setObjectName("dim")
        self._note.style().polish(self._note)
        self._beside.show_problems(view.problems)
        self._note.setText("\n".join(view.notes))
        self._note.setVisible(bool(view.notes))

    def _show_rates(self, placed: Placement) -> None:
        if self._basis is None:
            return
        pace = pace_of(replace(self._basis, request=self._choice().request), placed)
        for line, number in (
            (self._generation, rate_model.generation_number(pace)),
            (self._prompt, rate_model.prompt_number(pace)),
        ):
            line.show_value(number.text, number.caption, number.source)

    def _start_basis(self) -> None:
        """Place what was measured here on this model's law, away from the window."""
        choice, evidence, kept = self._choice(), self._session.evidence, self._kept
        if self._prepared is None:
            return
        job = self._reading.start(
            lambda _cancel, _progress: basis_of(
                evidence.model, evidence.machine, runs=(*kept, *evidence.runs),
                devices=choice.devices, host=choice.host, request=choice.request, r=choice.r,
                fill=choice.fill,
            ),
            name="rates measured here",
        )  # fmt: skip
        job.done.connect(self._on_basis)

    def _on_basis(self, basis: Basis) -> None:
        self._basis = basis
        self._show()

    def _start_positions(self) -> None:
        """Try positions: what llama.cpp would choose, and the best under the margin."""
        prepared, choice = self._prepared, self._choice()
        if prepared is None:
            return
        job = self._trying.start(
            lambda cancel, _progress: position_model.positions_of(prepared, choice, cancel),
            name="positions worth to know",
        )
        job.done.connect(self._on_positions)
        job.failed.connect(self._on_no_positions)

    def _on_no_positions(self, error: Exception) -> None:
        """End the wait: the load is refused, which the note beside the bars explains."""
        self._positions = None
        self._slider.show_marks(())
        self._experts.show_marks(())
        self._said.forget_fit()
        self._best.show_text(offload_model.no_best(error))

    def _on_positions(self, found: Positions) -> None:
        self._positions = found
        self._slider.show_marks(position_model.layer_marks(found))
        self._experts.show_marks(position_model.expert_marks(found))
        self._said.show_fit(found.fit)
        is_offer = found.best.ngl is not None
        self._best.show_text(position_model.best_text(found), is_offer=is_offer)

    def _start_curve(self) -> None:
        prepared, choice = self._prepared, self._choice()
        if prepared is None:
            return
        job = self._latest.start(
            lambda cancel, _progress: offload_model.curve(prepared, choice, cancel),
            name="slowdown curve",
        )
        job.done.connect(self._on_curve)
        job.failed.connect(self._on_no_curve)

    def _on_no_curve(self, error: Exception) -> None:
        self._curve = ()
        self._curve_card.show_none(offload_model.no_curve(error))

    def _on_curve(self, points: tuple[CurvePoint, ...]) -> None:
        self._curve = points
        choice = self._choice()
        self._curve_card.show_curve(
            offload_model.plot_curve(points, choice.r, self._share),
            offload_model.plot_note(points, choice),
        )
        self._show_point()

    def _show_point(self) -> None:
        self._curve_card.show_point(
            offload_model.plot_point(self._curve, self._slider.value, self._ratio())
        )

    # ------------------------------------------------------------------ building

    def _make_body(self) -> None:
        numbers = QHBoxLayout()
        numbers.setSpacing(theme.M)
        self._ngl_card = NumberCard(self.tr("n_gpu_layers"), "nglValue")
        self._share_card = NumberCard(self.tr("f, share in system memory"), "shareValue")
        self._slowdown_card = NumberCard(self.tr("Predicted slowdown"), "slowdownValue")
        for card in (self._ngl_card, self._share_card, self._slowdown_card):
            numbers.addWidget(card, 1)
        self.body.addLayout(numbers)
        rates = QHBoxLayout()
        rates.setSpacing(theme.M)
        self._generation = RateLine(self.tr("Generation"), "generationValue")
        self._prompt = RateLine(self.tr("Prompt"), "promptValue")
        rates.addWidget(self._generation, 1)
        rates.addWidget(self._prompt, 1)
        self.body.addLayout(rates)
        self.body.addWidget(self._make_map())
        controls = Card()
        self._controls = LoadControls()
        controls.body.addWidget(self._controls)
        self._beside = CompanionRow(self._session)
        controls.body.addWidget(self._beside)
        self.body.addWidget(controls)
        self._lower = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._lower.setSpacing(theme.M)
        self._lower.addWidget(self._make_bars(), 1)
        self._curve_card = CurveCard()
        self._lower.addWidget(self._curve_card, 1)
        self.body.addLayout(self._lower)
        self._said = SaidPanel(self._session)
        self.body.addWidget(self._said)
        command = Card(self.tr("Set this in your program"))
        entries = tuple((one.title, one.id) for one in offload_model.runtimes())
        self._runtime = combo("offloadRuntime", entries)
        self._runtime.setAccessibleName(self.tr("Program that runs your models"))
        command.head.addWidget(self._runtime)
        self._command = CommandBox("offloadCommand")
        command.body.addWidget(self._command)
        self.body.addWidget(command)
        self.body.addStretch(1)

    def _make_map(self) -> Card:
        card = Card(self.tr("Layer map"))
        legend = QLabel(self.tr("plain: on a device   hatched: in system memory"))
        legend.setObjectName("caption")
        card.head.addWidget(legend)
        self._map = LayerMap()
        self._slider = PositionSlider("nglSlider", self.tr("n_gpu_layers"))
        card.body.addWidget(self._map)
        card.body.addWidget(self._slider)
        self._expert_row = QWidget()
        row = QVBoxLayout(self._expert_row)
        row.setContentsMargins(0, theme.S, 0, 0)
        row.setSpacing(theme.XS)
        self._expert_text = QLabel()
        self._expert_text.setObjectName("caption")
        self._experts = PositionSlider("moeSlider", self.tr("Blocks with experts on the host"))
        row.addWidget(self._expert_text)
        row.addWidget(self._experts)
        card.body.addWidget(self._expert_row)
        self._best = BestRow()
        card.body.addWidget(self._best)
        return card

    def _make_bars(self) -> Card:
        card = Card(self.tr("Where the bytes go"))
        self._bars = BarList()
        self._note = dim_label()
        card.body.addWidget(self._bars)
        card.body.addWidget(self._note)
        card.body.addStretch(1)
        return card
