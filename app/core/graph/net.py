"""What a model's graph is made of: inputs, norms, feed forward and experts (llama-graph.cpp).

The methods follow llm_graph_context's of build 11434; the tensors are those of one micro-batch.
"""

from collections.abc import Callable
from dataclasses import dataclass

from app.core.eras import Change, Era
from app.core.graph import build as g
from app.core.graph.build import Graph
from app.core.graph.tensor import Tensor
from app.core.shape import Shape

_MOST_EXPERTS = 1024  # LLAMA_MAX_EXPERTS


@dataclass(frozen=True, slots=True)
class Batch:
    """The micro-batch that is reserved, and how the program was asked to compute it."""

    n_tokens: int
    n_seqs: int
    n_outputs: int
    flash_attn: bool
    is_transposed: bool  # V's cache; made before flash attention "auto" is decided
    kind_k: str
    kind_v: str
    full_cells: int  # of one stream
    window_cells: int
    streams: int
    era: Era  # what the build does

    @property
    def is_mixed(self) -> bool:
        """Tell whether batches may mix tokens and embeddings, so that both have inputs."""
        return self.era.has(Change.MIXED_BATCHES)

    @property
    def keeps_hidden(self) -> bool:
        """Tell whether hidden rows are taken after the last block, not in it."""
        return self.era.has(Change.HIDDEN_ROWS)

    @property
    def seq_tokens(self) -> int:
        """Return the tokens of one sequence."""
        return self.n_tokens // self.n_seqs


@dataclass(frozen=True, slots=True)
class Homes:
    """Where layers are, as backend numbers; the last backend is the processor."""

    cpu: int
    blocks: tuple[int, ...]
    cache_buffers: tuple[str, ...]  # per block
    cache_on_cpu: bool  # --no-kv-offload
    binds_norms: bool  # all layers are offloaded, so norms stay with their layer


class Net:
    """One graph while it is built; blocks are those that are kept of equal ones."""

    def __init__(
        self,
        shape: Shape,
        batch: Batch,
        homes: Homes,
        blocks: tuple[int, ...],
        weight: Callable[[str], Tensor | None],
    ) -> None:
        self.shape = shape
        self.batch = batch
        self.homes = homes
        self.blocks = blocks
        self.graph = Graph()
        self.u = batch.n_tokens
        self._weight = weight
        self._traits = dict(shape.traits)
        self.fused: list[tuple[int, Tensor]] = []  # flash attention's nodes, with their block

    def weight(self, name: str) -> Tensor | None:
        """Return a weight by its whole name, None when the model has none of it."""
        return self._weight(name)

    def need(self, name: str) -> Tensor:
        """Return a weight that the architecture cannot be without; KeyError when it is."""
        found = self._weight(name)
        if found is None:
            raise KeyError(name)
        return found

    def trait(self, name: str) -> float:
        """Return a number of the header, 0 when it is not there."""
        return self._traits.get(name, 0.0)

    def has_trait(self, name: str) -> bool:
        """Tell whether the header has a number."""
        return name in self._traits

    def is_last(self, il: int) -> bool:
        """Tell whether a block is the model's last."""
        return il == self.blocks[-1]

    def embeddings(self, *, is_scaled: bool = False) -> Tensor:
        """build_inp_embd: tokens, embeddings, and the mixture of both."""
        table = self.need("token_embd.weight")
        # deepstack: further layers' shares beside each embedding, empty for tokens
        width = self.shape.n_embd * (1 + int(self.trait("n_deepstack_layers")))
        by_token = _widened(g.get_rows(table, g.given("i32", self.u)), width)
        self.graph.expand(by_token)
        if self.batch.era.has(Change.EMBEDDING_INPUT):
            self.graph.expand(g.given("f32", width, self.u))
        if self.batch.is_mixed:
            tokens, slots = g.given("i32", self.u), g.given("i64", self.u)
            copy = g.like("DUP", g.given("f32", width, self.u))
            rows = _widened(g.get_rows(table, tokens), width)
            self.graph.expand(g.set_rows(copy, rows, slots))
        current = by_token
        if self.trait("embedding_scale"):
            current = g.scale(current)
        if is_scaled and self.batch.is_mixed:
            current = g.mul(current, g.given("f32", 1, self.u))
        self.graph.expand(current)
        # earlier builds scale outside of build_inp_embd
        return g.scale(current) if is_scaled and not self.batch.is_mixed else current

    def position_input(self, per_token: int = 1) -> Tensor:
        """build_inp_pos."""
        return g.given("i32", self.u * per_token)

    def output_input(self) -> Tensor:
        """build_inp_out_ids."""
        return g.given("i32", self.batch.n_outputs)

    def norm(self, current: Tensor, name: str, il: int = -1, *, op: str = "RMS_NORM") -> Tensor:
        """build_norm; name without .weight."""
        weight, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        if weight is None:
            weight = self.weight(name)  # one of Falcon-H1's has no suffix
        result = g.like(op, current)
        if il >= 0 and self.homes.binds_norms and (weight is not None or bias is not None):
            result.backend = self.homes.blocks[il]
        if weight is not None:
            result = g.mul(result, weight)
        return result if bias is None else g.add(result, bias)

    def linear(self, name: str, current: Tensor) -> Tensor:
        """build_lora_mm with a bias where there is one."""
        result = g.mul_mat(self.need(f"{name}.weight"), current)
        bias = self.weight(f"{name}.bias")
        return result if bias is None else g.add(result, bias)

    def feed_forward(
        self, current: Tensor, prefix: str, *, suffix: str = "", act: str = "glu"
    ) -> Tensor:
        """build_ffn; act: glu (with or without a gate), halves (one matrix holds both), sqr."""
        gate = self.weight(f"{prefix}ffn_gate{suffix}.weight")
        up = self.linear(f"{prefix}ffn_up{suffix}", current)
        if act == "halves":
            current = g.glu(up)
        elif gate is not None:
            current = g.glu(self.linear(f"{prefix}ffn_gate{suffix}", current), up)
        else:
            current = g.unary(up)
            if act == "sqr":
                current = g.like("SQR", current)
        return self.linear(f"{prefix}ffn_down{suffix}", current)

    def experts(
        self,
        current: Tensor,
        prefix: str,
        *,
        gating: str = "softmax",
        is_normed: bool = True,
        act: str = "glu",
        logits: Tensor | None = None,
    ) -> Tensor:
        """build_moe_ffn; gating: softmax, sigmoid or late (softmax of the chosen weights)."""
        n_used = self.shape.n_expert_used
        if not 0 < n_used <= min(self.shape.n_expert, _MOST_EXPERTS):
            raise KeyError("expert_used_count")
        if logits is None:
            logits = g.mul_mat(self.need(f"{prefix}ffn_gate_inp.weight"), current)
        bias = self.weight(f"{prefix}ffn_gate_inp.bias")
        if bias is not None:
            logits = g.add(logits, bias)
        probs = logits
        if gating == "softmax":
            probs = g.like("SOFT_MAX", logits)
        elif gating == "sigmoid":
            probs = g.unary(logits)
        chosen = self._chosen(probs, prefix, n_used)
        weights = self._expert_weights(probs, chosen, gating, is_normed=is_normed)
        self.graph.expand(weights)
        current = g.reshape(current, current.ne[0], 1, current.ne[1])
        current = self._expert_units(current, prefix, chosen, act)
        out = g.mul_mat_id(self.need(f"{prefix}ffn_down_exps.weight"), current, chosen)
        out = self._expert_bias(out, f"{prefix}ffn_down_exps.bias", chosen)
        out = g.mul(out, weights)
        return self._sum_of_experts(out, n_used)

    def _chosen(self, probs: Tensor, prefix: str, n_used: int) -> Tensor:
        u = probs.ne[1]
        bias = self.weight(f"{prefix}exp_probs_b.bias")
        choice = probs if bias is None else g.add(probs, bias)
        n_groups = int(self.trait("expert_group_count"))
        if n_groups > 1:
            n, used = self.shape.n_expert // n_groups, int(self.trait("expert_group_used_count"))
            groups = g.reshape(choice, n, n_groups, u)
            scores = g.get_rows(g.reshape(groups, 1, n, n_groups, u), g.top_k(groups, 2))
            scores = g.sum_rows(g.reshape(scores, 2, n_groups, u))
            best = g.top_k(g.reshape(scores, n_groups, u), used)
            rows = g.get_rows(groups, best)
            choice = g.reshape(
                g.set_rows(g.like("FILL", groups), rows, best), self.shape.n_expert, u
            )
        return g.top_k(choice, n_used)

    def _expert_weights(
        self, probs: Tensor, chosen: Tensor, gating: str, *, is_normed: bool
    ) -> Tensor:
        n_used, u = chosen.ne[0], chosen.ne[1]
        weights = g.get_rows(g.reshape(probs, 1, self.shape.n_expert, u), chosen)
        if gating == "late":
            weights = g.like("SOFT_MAX", g.reshape(weights, n_used, u))
            weights = g.reshape(weights, 1, n_used, u)
        if is_normed:
            weights = g.reshape(weights, n_used, u)
            total = g.sum_rows(weights)
            total = g.written("CLAMP", total, total)
            weights = g.reshape(g.like("DIV", weights, total), 1, n_used, u)
        if self.trait("expert_weights_scale") not in (0.0, 1.0):
            weights = g.scale(weights)
        return weights

    def _expert_units(self, current: Tensor, prefix: str, chosen: Tensor, act: str) -> Tensor:
        merged = self.weight(f"{prefix}ffn_gate_up_exps.weight")
        if merged is not None:
            both = g.mul_mat_id(merged, current, chosen)
            half = (both.ne[0] // 2, *both.ne[1:])
            gate = g.slice_of(both, half, both.nb[1:3])
            return g.glu(gate, g.slice_of(both, half, both.nb[1:3]))
        up = g.mul_mat_id(self.need(f"{prefix}ffn_up_exps.weight"), current, chosen)
        up = self._expert_bias(up, f"{prefix}ffn_up_exps.bias", chosen)
        gates = self.weight(f"{prefix}ffn_gate_exps.weight")
        if gates is None:
            result = g.unary(up)
            return g.like("SQR", result) if act == "sqr" else result
        gate = g.mul_mat_id(gates, current, chosen)
        return g.glu(self._expert_bias(gate, f"{prefix}ffn_gate_exps.bias", chosen), up)

    def _expert_bias(self, current: Tensor, name: str, chosen: Tensor) -> Tensor:
        bias = self.weight(name)
        return current if bias is None else g.like("ADD_ID", current, bias, chosen)

    def _sum_of_experts(self, out: Tensor, n_used: int) -> Tensor:
        self.graph.expand(out)
        ne = (out.ne[0], out.ne[2], 1, 1)
        parts = [g.slice_of(out, ne, (out.nb[2],)) for _ in range(n_used)]
        for part in parts:
            self.graph.expand(part)
        total = parts[0]
        for part in parts[1:]:
            total = g.add(total, part)
            self.graph.expand(total)
        return g.cont(total) if n_used == 1 else total

    def finish(
        self, current: Tensor, *, name: str = "output_norm", is_capped: bool = False
    ) -> None:
        """Norm, output matrix and soft cap; the end of every graph."""
        self.logits(self.norm(current, name), is_capped=is_capped)

    def finish_hidden(self, current: Tensor, ids: Tensor, *, is_capped: bool = False) -> None:
        """Norm all rows, which a draft may ask for, then take those that are put out."""
        current = self.norm(current, "output_norm")
        if self.batch.keeps_hidden:
            current.is_output = True
            current = g.get_rows(current, ids)
        self.logits(current, is_capped=is_capped)

    def logits(self, current: Tensor, *, is_capped: bool = False) -> None:
        """Multiply with the output matrix and add all to the graph."""
        current.is_output = True
        current = g.mul_mat(self.need("output"), current)
        bias = self.weight("output.bias")
        if bias is not None:
            current = g.add(current, bias)
        if self.trait("logit_scale"):
            current = g.scale(current)
        if is_capped:
            current = g.scale(g.unary(g.scale(current)))
        current.is_output = True
        self.graph.expand(current)


def _widened(rows: Tensor, width: int) -> Tensor:
    return rows if rows.ne[0] == width else g.new("PAD", (width, *rows.ne[1:]), rows)
