"""What the kernels of cells and codes refuse: nothing is read that is not there; the text says what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from naively._kernels import cells as core
from naively._kernels.cells import Cells

if TYPE_CHECKING:
    from numpy.typing import NDArray

DATA, INDICES, INDPTR = np.ones(3), np.array([0, 1, 1]), np.array([0, 2, 3])
LABEL = np.array([0, 1])


@pytest.mark.parametrize("label", [np.array([0, 2]), np.array([-1, 0]), np.array([2**32, 0]), np.array([0, 2], "i4")])
def test_labels(label: NDArray[Any]) -> None:
    for call in (
        lambda: core.count_csr((DATA, INDICES, INDPTR), 2, label, None, 2),
        lambda: core.count_csc((DATA, INDICES, INDPTR), label, None, 2),
        lambda: core.count_dense(np.ones((2, 2)), label, None, 2),
        lambda: core.count_codes(np.ones((2, 2)), np.array([2, 2]), label, None, 2),
    ):
        with pytest.raises(ValueError, match=r"must lie in \[0, 2\)"):
            call()


def test_labels_that_are_not_numbers() -> None:
    with pytest.raises(ValueError, match="class numbers"):
        core.count_dense(np.ones((2, 2)), np.array(["a", "b"]), None, 2)


@pytest.mark.parametrize("kind", ["i4", "i8"])
@pytest.mark.parametrize("bad", [[0, 2, 1], [-1, 0, 1], [1, -5, 0]])
def test_indices_outside(bad: list[int], kind: str) -> None:
    indices = np.array(bad, kind)
    table, out = np.zeros((2, 1)), np.zeros((2, 1))
    with pytest.raises(ValueError, match="outside"):
        core.count_csr((DATA, indices, INDPTR), 2, LABEL, None, 2)
    with pytest.raises(ValueError, match="outside"):
        core.count_csc((DATA, indices, INDPTR), LABEL, None, 2)
    with pytest.raises(ValueError, match="outside"):
        core.score_csr((DATA, indices, INDPTR), table, np.zeros(1), out)


def test_an_index_twice() -> None:
    for indices in ([1, 1, 0], [1, 0, 0]):
        matrix = np.ones(3), np.array(indices), np.array([0, 3])
        with pytest.raises(ValueError, match=r"sum_duplicates\(\)"):
            core.count_csr(matrix, 2, np.array([0]), None, 2)
        with pytest.raises(ValueError, match=r"sum_duplicates\(\)"):
            core.count_csc(matrix, LABEL, None, 2)


@pytest.mark.parametrize("indptr", [[0, 2, 4], [0, 3, 2], [1, 2, 3], [0, 2, 2], [-1, 2, 3], [0, 9, 3]])
def test_indptr(indptr: list[int]) -> None:
    with pytest.raises(ValueError, match="indptr"):
        core.count_csr((DATA, INDICES, np.array(indptr)), 2, LABEL, None, 2)


def test_sizes() -> None:
    with pytest.raises(ValueError, match="label has 2 entries, but 3"):
        core.count_dense(np.ones((3, 2)), LABEL, None, 2)
    with pytest.raises(ValueError, match="weight has 1 entries, but 2"):
        core.count_dense(np.ones((2, 2)), LABEL, np.ones(1), 2)
    with pytest.raises(ValueError, match=r"out has the shape \(2, 2\), but \(2, 3\)"):
        core.score_dense(np.ones((2, 2)), np.ones((2, 3)), np.ones(3), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="renumber_cells first"):
        core.merge_cells(Cells.empty(2, 1), Cells.empty(3, 1), 1)
    with pytest.raises(ValueError, match="class 5 of 3"):
        core.renumber_cells(Cells.empty(1, 1), np.array([5]), np.zeros(0), 3)


def test_tokens_of_tables() -> None:
    cells = core.count_dense(np.ones((1, 4)), np.array([0]), None, 1)[0]
    with pytest.raises(ValueError, match="token 3"):
        core.by_token(cells, 3)
    for place in ([0, 1, 2], [0, 1, 2, 4], [0, 1, -2, 2]):
        with pytest.raises(ValueError, match="has no position"):
            core.select_tokens(cells, np.array(place, dtype=np.int32), 4)
    with pytest.raises(ValueError, match="token 3"):
        core.renumber_cells(cells, np.array([0]), np.arange(3), 1)
    for indptr, classes in (([0, 2], [0, 1]), ([0, 1], [0, 7]), ([-1, 1], [0, 0]), ([2, 1], [0, 0])):
        with pytest.raises(ValueError, match="by_token"):
            core.score_csr(
                (np.ones(1), np.zeros(1, int), np.array([0, 1])),
                (np.zeros(1), np.array(indptr), np.array(classes[-1:], np.int32), np.ones(1)),
                np.zeros(1),
                np.zeros((1, 1)),
            )


def test_types() -> None:
    with pytest.raises(ValueError, match="numbers are needed"):
        core.count_dense(np.array([["a"]]), np.array([0]), None, 1)
    assert core.count_dense(np.ones((1, 1), np.float16), np.array([0]), None, 1)[0].rows.tolist() == [1]
    assert core.count_dense(np.ones((1, 1), ">f8"), np.array([0]), None, 1)[0].rows.tolist() == [1]
