"""The search: smoothing, event model, family of each column, gaps as values; each compared after calibration.

A choice is judged by the penalised log-loss of leave-one-out evidence, with the weights (one for all columns, one for
each block of words) and the class offsets fitted anew. What is simpler, or stands there already, stays unless it loses
by more than one standard error of the difference, and by more than `MARGIN` nats over the whole sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.families import AutoBoolean, AutoNumber, AutoString, Binned, Categorical, Complement, Family, Presence
from naively.schema.schema import Block
from naively.tuning.bells import bells
from naively.tuning.features import BETAS, EACH, Features, WordFeature, summed
from naively.tuning.loo_scores import Bench
from naively.tuning.solver import WEIGHT_PENALTY, Problem, Solution, standard_error_of_sum

__all__ = ["searched"]

Floats = NDArray[np.float64]
MARGIN = 1.0
APART = 0.1  # strength of the pull to the common weight, as a share of what the rows say
ROUGH = 1e-4  # of the objective, relative: a thousand nats are then known to a tenth or, as Newton's steps go, far less
STEP = 4.0  # between neighbouring values of alpha


class Search:
    """Features, and how good the best calibration of them is."""

    def __init__(self, bench: Bench, features: Features, usable: NDArray[np.bool_], base: Floats) -> None:
        """Judge what stands there."""
        self.bench, self.features, self.usable, self.base = bench, features, usable, base
        self.label, self.weight = bench.sample.label[usable], bench.sample.weight[usable]
        self.together = bench.leaving_weight[usable]
        self.last: Solution | None = None
        self.apart: Solution | None = None
        self.losses = self.judged(features)

    def judged(self, features: Features) -> Floats:
        """The weighted loss of each row after calibration, in nats."""
        columns = features.sum_of_columns()
        parts = [*([] if columns is None else [columns]), *(word.weighed() for word in features.words)]
        evidence = self._of_rows(np.stack(parts)) if parts else np.zeros((0, *self.base.shape))
        ones = np.ones(len(parts))
        start = self.last if self.last is not None and len(self.last.weight) == len(parts) else None
        problem = Problem(self.base, evidence, self.label, self.weight)
        self.last = problem.solve(ones, WEIGHT_PENALTY * ones, start, ROUGH)
        return problem.losses(self.last)

    def _of_rows(self, evidence: Floats) -> Floats:
        """Evidence of the rows that are looked at, all of them as a rule."""
        return evidence if self.usable.all() else evidence[:, self.usable]

    def judged_apart(self, features: Features) -> Floats:
        """The same, a weight for each column, pulled to the last common one: a column that is wrong may say less."""
        assert self.last is not None
        n, common = len(features.keys()), self.last.weight
        centre = np.concatenate([np.repeat(common[:1], n), common[min(n, 1) :]])
        problem = Problem(self.base, self._of_rows(features.stacked()), self.label, self.weight)
        start = Solution(self.last.offset, centre, 0.0)
        pull = np.where(np.arange(len(centre)) < n, APART * problem.curvature_of_weights(start) + 1e-3, WEIGHT_PENALTY)
        near = self.apart if self.apart is not None and len(self.apart.weight) == len(centre) else start
        self.apart = problem.solve(centre, pull, near, ROUGH)
        return problem.losses(self.apart)

    def evidence(self, blocks: Sequence[Block]) -> list[Floats]:
        """Evidence of blocks that have one family; single columns are scored together."""
        if not self.features.narrow:
            return [summed(self.bench, block) for block in blocks]
        counted = self.bench.model.schema.blocks
        source = [next(k for k, b in enumerate(counted) if block.names[0] in b.names) for block in blocks]
        out: list[Floats] = [np.zeros(0)] * len(blocks)
        for k in dict.fromkeys(source):
            chosen = [j for j, other in enumerate(source) if other == k]
            names, kinds = tuple(blocks[j].names[0] for j in chosen), tuple(blocks[j].kind(0) for j in chosen)
            found = self.bench.evidence(Block(names, kinds, blocks[0].family))
            for place, j in enumerate(chosen):
                out[j] = found[place : place + 1]
        return out

    def take_if_better(self, features: Features, losses: Floats | None = None, errors: float = 1.0) -> bool:
        """Take other features if they win, by more than chance: by so many standard errors."""
        found = self.judged(features) if losses is None else losses
        gain = self.losses - found
        if gain.sum() < max(MARGIN, errors * standard_error_of_sum(gain, self.weight, self.together)):
            return False
        self.losses, self.features = found, features
        return True


def searched(bench: Bench, features: Features, usable: NDArray[np.bool_], base: Floats) -> Features:
    """The features under the best choices."""
    search = Search(bench, features, usable, base)
    for i in range(len(features.words)):
        _event_model(search, i)
    open_columns = _open_columns(bench)
    for kind in (Categorical, Binned):
        _smoothing(search, kind, open_columns)
    bells(search, open_columns)
    _gaps(search)
    return search.features


COARSE = (0.0, 0.5, 1.0)  # values of β to begin with


def _event_model(search: Search, i: int) -> None:
    """Multinomial, boolean, complement or bernoulli, its alpha, and what a long text is worth.

    None of the four is simpler than the others: the one that does best is taken. Whether a word counts once is
    decided at alpha = 1.
    """
    if search.features.words[i].words is None:
        return _length(search, i, BETAS)
    _length(search, i, COARSE)
    once = hasattr(search.features.words[i].block.family, "binary") and search.take_if_better(
        _under(search, i, ("multinomial", True, 1.0)), errors=0.0
    )
    _smooth_words(search, i, "multinomial", once)
    if search.base.shape[1] > 2:  # of two classes, the other one is all others: complement is the same
        before = search.losses, search.features
        search.features = _under(search, i, ("complement", once, 1.0))
        search.losses = search.judged(search.features)
        _smooth_words(search, i, "complement", once)
        (losses, features), (search.losses, search.features) = (search.losses, search.features), before
        search.take_if_better(features, losses, errors=0.0)
    _coins(search, i)
    beta = search.features.words[i].beta
    return _length(search, i, (beta - 0.25, beta + 0.25))


COIN = 1 / STEP  # alpha to begin with


def _coins(search: Search, i: int) -> None:
    """Bernoulli, if it does better at its first alpha with some β: absent words have no length."""
    words = search.features.words[i].words
    if words is None or words.coins is None or not words.coins.few(words.leaving):
        return
    tossed = _under(search, i, ("bernoulli", True, COIN))
    found = [tossed.with_word(i, replace(tossed.words[i], beta=beta)) for beta in COARSE]
    losses = [search.judged(features) for features in found]
    best = int(np.argmin([loss.sum() for loss in losses]))
    if search.take_if_better(found[best], losses[best], errors=0.0):
        _smooth_words(search, i, "bernoulli", True, COIN)


def _smooth_words(search: Search, i: int, model: str, binary: bool, start: float = 1.0) -> None:
    """The best alpha on the way from the first one down, or else up."""
    for factor in (1 / STEP, STEP):
        alpha = start
        while 1e-3 < alpha * factor < 100 and search.take_if_better(_under(search, i, (model, binary, alpha * factor))):
            alpha *= factor
        if alpha != start:
            return


def _under(search: Search, i: int, settings: tuple[str, bool, float]) -> Features:
    word = search.features.words[i].under(*settings)
    block = replace(word.block, family=_family(word.block.family, *settings))
    return search.features.with_word(i, replace(word, block=block))


def _family(family: Family, model: str, binary: bool, alpha: float) -> Family:
    if hasattr(family, "binary"):
        return replace(family, model=model, binary=binary and model != "bernoulli", alpha=alpha)  # type: ignore[call-arg]
    if model == "complement":
        return Complement(alpha=alpha, **_kept(family))
    from naively.families import Multinomial

    return Multinomial(alpha=alpha, **_kept(family))


def _kept(family: Family) -> dict[str, Any]:
    return {"fractional": family.fractional} if hasattr(family, "fractional") else {}


def _length(search: Search, i: int, betas: Sequence[float]) -> None:
    """β, what a long text is worth."""
    for beta in betas:
        word: WordFeature = search.features.words[i]
        if beta != word.beta and 0 <= beta <= 1:
            search.take_if_better(search.features.with_word(i, replace(word, beta=beta)))


def _open_columns(bench: Bench) -> set[str]:
    """Columns whose family was not given."""
    counted = bench.model.schema.blocks
    return {n for b in counted if isinstance(b.family, (AutoNumber, AutoString, AutoBoolean)) for n in b.names}


def _smoothing(search: Search, kind: type[Categorical] | type[Binned], open_columns: set[str]) -> None:
    """One alpha for all columns of a family."""
    chosen = [
        i
        for i, block in enumerate(search.features.blocks)
        if type(block.family) is kind and block.names[0] in open_columns and not block.family.joint
    ]
    for factor in (STEP, 1 / STEP) if chosen else ():
        alpha = 1.0
        while 0.01 < alpha * factor < 300 and search.take_if_better(_with_alpha(search, chosen, alpha * factor)):
            alpha *= factor
        if alpha != 1.0:
            return


def _with_alpha(search: Search, chosen: Sequence[int], alpha: float) -> Features:
    features = search.features
    blocks = [replace(features.blocks[i], family=replace(features.blocks[i].family, alpha=alpha)) for i in chosen]  # type: ignore[call-arg]
    for i, block, evidence in zip(chosen, blocks, search.evidence(blocks), strict=True):
        features = features.with_block(i, block, evidence)
    return features


def _gaps(search: Search) -> None:
    """Whether a column has a value at all, as evidence of its own."""
    bench, there = (
        search.bench,
        {block.names[0] for block in search.features.blocks if isinstance(block.family, Presence)},
    )
    total = float(bench.model.seen.weight.sum())
    gappy: list[Block] = []
    for block in bench.model.schema.blocks:
        if not isinstance(block.family, (AutoNumber, AutoString, AutoBoolean)):
            continue
        presence = bench.statistic(Block(block.names, block.kinds, Presence()))
        share = presence.documents().sum(axis=0) / max(total, 1e-300)  # type: ignore[attr-defined]
        gappy += [
            Block((name,), block.kind(j), Presence())
            for j, name in enumerate(block.names)
            if 0.01 < share[j] < 0.99 and name not in there
        ]
    if not gappy or not search.features.narrow:
        return
    evidence = search.evidence(gappy)
    if len(gappy) > EACH:
        features = search.features
        for block, found in zip(gappy, evidence, strict=True):
            features = features.and_block(block, found)
        search.take_if_better(features)
        return
    for block, found in zip(gappy, evidence, strict=True):
        search.take_if_better(search.features.and_block(block, found))
