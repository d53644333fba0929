"""Search for event models, smoothing, families and missing values as evidence.

A choice is judged by the penalised log-loss of leave-one-out evidence. Weights (one for all columns, one for each block
of words) and class offsets are fitted again for each choice. The simpler choice, or the current one, stays unless it
loses by more than one standard error of the difference and by more than `MIN_GAIN_NATS` over the sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from naively._kernels.types import Floats
from naively.families import Family, Presence
from naively.families.base import EventModel
from naively.schema.schema import Block
from naively.tuning.calibrate import COLUMN_PENALTY, prior_weight
from naively.tuning.features import Features
from naively.tuning.loo_scores import LooScorer
from naively.tuning.solver import WEIGHT_PENALTY, Solution, standard_error_of_sum

MIN_GAIN_NATS = 1.0
SEARCH_SHRINKAGE = 0.1  # strength of the pull to the common weight, as a share of the rows' own curvature
SEARCH_TOLERANCE = 1e-4  # relative: a thousand nats are known to a tenth, or far better after a Newton step
ALPHA_STEP = 4.0  # ratio of neighbouring values of alpha
FIRST_BERNOULLI_ALPHA = 1 / ALPHA_STEP
LENGTH_EXPONENTS = (0.0, 0.25, 0.5, 0.75, 1.0)
COARSE_LENGTH_EXPONENTS = (0.0, 0.5, 1.0)
MAX_COLUMNS_TRIED_SINGLY = 32  # more are tried all together


def search(scorer: LooScorer, features: Features) -> Features:
    """Return the features under the best choices."""
    current = Search(scorer, features)
    for i in range(len(features.words)):
        choose_event_model(current, i)
        start_next_part(current, i)
    open_columns = {n for b in scorer.model.schema.blocks if b.family.automatic for n in b.names}
    choose_smoothing(current, open_columns)
    group_rare_values(current, open_columns)
    choose_gaussian_or_binned(current, open_columns)
    choose_presence(current)
    return current.features


class Search:
    """The best features so far, and the loss of each row under their best calibration."""

    def __init__(self, scorer: LooScorer, features: Features) -> None:
        """Judge the features to begin with."""
        self.scorer, self.features = scorer, features
        self.weight, self.unit = scorer.scaled_weight
        self.last_shared: Solution | None = None
        self.last_own: Solution | None = None
        self.losses = self.losses_shared_weight(features)

    def losses_shared_weight(self, features: Features) -> Floats:
        """Return the weighted loss of each row in nats, with one weight for all columns."""
        problem = self.scorer.problem(features.summed_pieces())
        prior = self.last_prior = prior_weight(problem)
        last = self.last_shared
        start = replace(last, curvature=None) if last is not None and len(last.weight) == len(prior) else None
        self.last_shared = problem.solve(prior, WEIGHT_PENALTY / prior**2, start, SEARCH_TOLERANCE)
        return problem.losses(self.last_shared)

    def losses_own_weights(self, features: Features) -> Floats:
        """Return the same with a weight for each column, shrunk to the last common one."""
        assert self.last_shared is not None
        n_columns, n_words = len(features.keys()), len(features.words)
        group = np.concatenate([np.zeros(n_columns, np.intp), np.arange(n_words) + min(n_columns, 1)])
        centre, prior = self.last_shared.weight[group], self.last_prior[group]
        problem = self.scorer.problem(features.pieces())
        curvature, start = problem.curvature_at(Solution(self.last_shared.offset, centre, 0.0))
        is_column = np.arange(len(group)) < n_columns
        pull = np.where(is_column, SEARCH_SHRINKAGE * curvature + COLUMN_PENALTY, WEIGHT_PENALTY / prior**2)
        last = self.last_own
        if last is not None and len(last.weight) == len(centre):
            start = replace(last, curvature=start.curvature)
        self.last_own = problem.solve(centre, pull, start, SEARCH_TOLERANCE)
        return problem.losses(self.last_own)

    def evidence(self, blocks: Sequence[Block]) -> list[Floats]:
        """Return the evidence of blocks of one family; columns that were counted together are scored together."""
        if not self.features.has_weight_per_column:
            return [self.scorer.summed_evidence(block) for block in blocks]
        counted = self.scorer.model.schema.blocks
        source = [next(k for k, b in enumerate(counted) if block.names[0] in b.names) for block in blocks]
        out: list[Floats] = [np.zeros(0)] * len(blocks)
        for k in dict.fromkeys(source):
            members = [j for j, other in enumerate(source) if other == k]
            names, kinds = tuple(blocks[j].names[0] for j in members), tuple(blocks[j].kind(0) for j in members)
            evidence = self.scorer.evidence(Block(names, kinds, blocks[0].family))
            for i, j in enumerate(members):
                out[j] = evidence[i : i + 1]
        return out

    def take_if_better(
        self, features: Features | None, losses: Floats | None = None, min_standard_errors: float = 1.0
    ) -> bool:
        """Replace the features if others win by more than chance; return whether they do."""
        if features is None:
            return False
        if losses is None:
            losses = self.losses_shared_weight(features)
        gain = self.losses - losses
        chance = min_standard_errors * standard_error_of_sum(gain, self.weight, self.unit)
        if gain.sum() < max(MIN_GAIN_NATS, chance):
            return False
        self.losses, self.features = losses, features
        return True

    def word_settings(self, i: int, event_model: EventModel, binary: bool, alpha: float) -> Features | None:
        """Return the features with other settings for block i of words; None if it has no such settings."""
        word = self.features.words[i].with_settings(event_model, binary, alpha)
        return None if word is None else self.features.with_word(i, word)


def choose_event_model(current: Search, i: int) -> None:
    """Choose multinomial, boolean, complement or Bernoulli, its alpha, and what a long text is worth.

    None of the four is simpler than the others, so the best one wins. Whether a word counts once is decided at
    alpha = 1. With two classes, complement is the same as multinomial.
    """
    if current.features.words[i].scorer is None:
        choose_length_exponent(current, i, LENGTH_EXPONENTS)
        return
    choose_length_exponent(current, i, COARSE_LENGTH_EXPONENTS)
    binary = current.take_if_better(current.word_settings(i, "multinomial", True, 1.0), min_standard_errors=0.0)
    choose_word_alpha(current, i, "multinomial", binary)
    complement = current.word_settings(i, "complement", binary, 1.0) if len(current.scorer.model.classes) > 2 else None
    if complement is not None:
        before = current.losses, current.features
        current.losses, current.features = current.losses_shared_weight(complement), complement
        choose_word_alpha(current, i, "complement", binary)
        (losses, features), (current.losses, current.features) = (current.losses, current.features), before
        current.take_if_better(features, losses, min_standard_errors=0.0)
    choose_bernoulli(current, i)
    exponent = current.features.words[i].length_exponent
    choose_length_exponent(current, i, (exponent - 0.25, exponent + 0.25))


def start_next_part(current: Search, i: int) -> None:
    """Let the next part of the same column, such as its pairs of words, start from the choices for this one.

    Where words alone say most, no single choice would show what pairs are worth.
    """
    words = current.features.words
    if i + 1 == len(words) or words[i + 1].key.columns != words[i].key.columns or words[i + 1].scorer is None:
        return
    family = words[i].block.family
    event_model, alpha = family.event_model, getattr(family, "alpha", 1.0)
    if event_model == "bernoulli":
        event_model, alpha = "multinomial", 1.0
    started = words[i + 1].with_settings(event_model, family.counts_presence, alpha)
    if started is not None:
        started = replace(started, length_exponent=words[i].length_exponent)
        current.take_if_better(current.features.with_word(i + 1, started), min_standard_errors=0.0)


def choose_bernoulli(current: Search, i: int) -> None:
    """Take Bernoulli if it does better at its first alpha under any length exponent: absent words have no length."""
    words = current.features.words[i].scorer
    if words is None or not words.can_score_bernoulli:  # a class may have no text
        return
    bernoulli = current.word_settings(i, "bernoulli", True, FIRST_BERNOULLI_ALPHA)
    if bernoulli is None:
        return
    candidates = [
        bernoulli.with_word(i, replace(bernoulli.words[i], length_exponent=exponent))
        for exponent in COARSE_LENGTH_EXPONENTS
    ]
    losses = [current.losses_shared_weight(features) for features in candidates]
    best = int(np.argmin([loss.sum() for loss in losses]))
    if current.take_if_better(candidates[best], losses[best], min_standard_errors=0.0):
        choose_word_alpha(current, i, "bernoulli", True, FIRST_BERNOULLI_ALPHA)


def choose_word_alpha(current: Search, i: int, event_model: EventModel, binary: bool, start: float = 1.0) -> None:
    """Lower alpha while that helps; if it does not help at all, raise it."""
    for factor in (1 / ALPHA_STEP, ALPHA_STEP):
        alpha = start
        while 1e-3 < alpha * factor < 100 and current.take_if_better(
            current.word_settings(i, event_model, binary, alpha * factor)
        ):
            alpha *= factor
        if alpha != start:
            return


def choose_length_exponent(current: Search, i: int, exponents: Sequence[float]) -> None:
    """Choose how much less a long text is worth than its words one by one."""
    for exponent in exponents:
        word = current.features.words[i]
        if exponent != word.length_exponent and 0 <= exponent <= 1:
            current.take_if_better(current.features.with_word(i, replace(word, length_exponent=exponent)))


def choose_smoothing(current: Search, open_columns: set[str]) -> None:
    """Choose one alpha for all open columns of a family: first families for strings, then those for numbers."""
    groups: dict[type[Family], list[int]] = {}
    for i, block in enumerate(current.features.blocks):
        if block.names[0] in open_columns and block.family.tunes_alpha and not block.family.joint:
            groups.setdefault(type(block.family), []).append(i)
    for kind in sorted(groups, key=lambda kind: ("string" not in kind.kinds, kind.__name__)):
        for factor in (ALPHA_STEP, 1 / ALPHA_STEP):
            alpha = 1.0
            while 0.01 < alpha * factor < 300 and current.take_if_better(
                _with_alpha(current, groups[kind], alpha * factor)
            ):
                alpha *= factor
            if alpha != 1.0:
                break


def _with_alpha(current: Search, positions: Sequence[int], alpha: float) -> Features:
    families = [replace(current.features.blocks[i].family, alpha=alpha) for i in positions]  # type: ignore[call-arg]
    return _with_families(current, positions, families)


def _with_families(current: Search, positions: Sequence[int], families: Sequence[Family]) -> Features:
    """Return the features with other families for some blocks; blocks of one family are scored together."""
    blocks, per_block = list(current.features.blocks), list(current.features.evidence)
    for family in dict.fromkeys(families):
        members = [i for i, other in zip(positions, families, strict=True) if other == family]
        changed = [replace(blocks[i], family=family) for i in members]
        for i, block, evidence in zip(members, changed, current.evidence(changed), strict=True):
            blocks[i], per_block[i] = block, evidence
    return replace(current.features, blocks=tuple(blocks), evidence=tuple(per_block))


def group_rare_values(current: Search, open_columns: set[str]) -> None:
    """Let the rare values of a column share one cell, as many as do no harm.

    Fewer values are simpler, so the strongest grouping is taken that does not raise the log-loss by more than
    `MIN_GAIN_NATS` over the sample. Every column has its own weight, as in `choose_gaussian_or_binned`: grouping
    changes the weight of a column of rare values most of all.
    """
    if not current.features.has_weight_per_column:
        return
    scorer, is_first = current.scorer, True
    for i, block in enumerate(current.features.blocks[:MAX_COLUMNS_TRIED_SINGLY]):
        if block.names[0] not in open_columns or block.family.joint or not block.family.has_groupings:
            continue
        for family in reversed(block.family.groupings(scorer.statistic(block))):
            if is_first:
                is_first, current.losses = False, current.losses_own_weights(current.features)
            grouped = replace(block, family=family)
            features = current.features.with_block(i, grouped, current.evidence([grouped])[0])
            losses = current.losses_own_weights(features)
            if losses.sum() - current.losses.sum() <= MIN_GAIN_NATS:
                current.losses, current.features = losses, features
                break
    if not is_first:
        current.losses = current.losses_shared_weight(current.features)


def choose_gaussian_or_binned(current: Search, open_columns: set[str]) -> None:
    """Choose between a Gaussian and a binned likelihood for each open numeric column, or categories of few numbers.

    A Gaussian has two parameters per class, a binned likelihood has many. The search starts from the Gaussian and
    switches to bins only where bins lower the leave-one-out log-loss: first all columns together, then, if they are
    few, each in turn. Every column has its own weight in these comparisons. Under a shared weight, a Gaussian that fits
    badly would lower the weight of the columns that fit well. Bins need not win by more than a standard error: with
    long tails a few rows dominate that error, and harmful Gaussians would stay.

    A Gaussian may replace categories too: of grades, such as 1 to 5, neighbours are alike. Columns of two numbers stay
    categories.
    """
    numbers, categories = list[tuple[int, Family]](), list[tuple[int, Family]]()
    all_binned = True
    for i, block in enumerate(current.features.blocks):
        if block.names[0] in open_columns and block.family.role == "value":
            both = current.scorer.rivals(block)
            others = [family for family in both if type(family) is not type(block.family)]
            if len(others) == 1:  # the block's own family is one of the two
                numbers.append((i, others[0]))
                all_binned &= others[0] is both[0]
            elif others and current.features.has_weight_per_column and current.scorer.n_values(block) > 2:
                categories.append((i, both[0]))
    if numbers:
        other = _with_rivals(current, numbers)
        if all_binned:
            binned = current.features
            current.features, current.losses = other, current.losses_own_weights(other)
            current.take_if_better(binned, current.losses_own_weights(binned), min_standard_errors=0.0)
            other = binned if current.features is other else other
        else:  # the rules have made some Gaussian already; the others are tried one by one
            current.losses = current.losses_own_weights(current.features)
        _choose_one_by_one(current, other, [i for i, _ in numbers])
    if categories:
        before, other = current.features, _with_rivals(current, categories)
        current.losses = current.losses_own_weights(before)
        is_taken = current.take_if_better(other, current.losses_own_weights(other), min_standard_errors=0.0)
        _choose_one_by_one(current, before if is_taken else other, [i for i, _ in categories])
    if numbers or categories:
        current.losses = current.losses_shared_weight(current.features)


def _with_rivals(current: Search, candidates: Sequence[tuple[int, Family]]) -> Features:
    return _with_families(current, [i for i, _ in candidates], [family for _, family in candidates])


def _choose_one_by_one(current: Search, other: Features, positions: Sequence[int]) -> None:
    """Take some blocks of other features, each if it lowers the loss; every column has its own weight."""
    if current.features.has_weight_per_column and len(positions) <= MAX_COLUMNS_TRIED_SINGLY:
        for i in positions:
            features = current.features.with_block(i, other.blocks[i], other.evidence[i])
            current.take_if_better(features, current.losses_own_weights(features), min_standard_errors=0.0)


def choose_presence(current: Search) -> None:
    """Choose whether the presence of a value is evidence of its own, for columns with missing values."""
    scorer = current.scorer
    has_presence = {block.names[0] for block in current.features.blocks if block.family.role == "presence"}
    total = max(float(scorer.model.class_weights.weight.sum()), 1e-300)
    candidates: list[Block] = []
    for block in scorer.model.schema.blocks:
        if not block.family.automatic:
            continue
        presence = scorer.statistic(Block(block.names, block.kinds, Presence()))
        share = presence.documents().sum(axis=0) / total  # type: ignore[attr-defined]
        candidates += [
            Block((name,), block.kind(j), Presence())
            for j, name in enumerate(block.names)
            if 0.01 < share[j] < 0.99 and name not in has_presence
        ]
    if not candidates or not current.features.has_weight_per_column:
        return
    per_block = list(zip(candidates, current.evidence(candidates), strict=True))
    if len(candidates) <= MAX_COLUMNS_TRIED_SINGLY:
        for block, evidence in per_block:
            current.take_if_better(current.features.and_block(block, evidence))
        return
    features = current.features
    for block, evidence in per_block:
        features = features.and_block(block, evidence)
    current.take_if_better(features)
