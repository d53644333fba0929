"""The compiled core of naively: count and score."""

from collections.abc import Sequence
from typing import Any, Annotated

import numpy
from numpy.typing import NDArray


def merge_cells(a: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]], b: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]], sign: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]: ...

def renumber_cells(cells: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]], class_map: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], index_map: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]: ...

def by_token(cells: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]], n_tokens: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]: ...

def count_csr(data: Annotated[NDArray[Any], dict(shape=(None,), device='cpu', writable=False)], indices: Annotated[NDArray[Any], dict(shape=(None,), device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_classes: int, n_jobs: int) -> tuple[tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]], tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]], tuple[int, int]]: ...

def count_csc(data: Annotated[NDArray[Any], dict(shape=(None,), device='cpu', writable=False)], indices: Annotated[NDArray[Any], dict(shape=(None,), device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_classes: int, n_jobs: int) -> tuple[tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]], tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]], tuple[int, int]]: ...

def count_dense(x: Annotated[NDArray[Any], dict(shape=(None, None), device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_classes: int, n_jobs: int) -> tuple[tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]], tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]], tuple[int, int]]: ...

def count_codes(codes: Annotated[NDArray[Any], dict(shape=(None, None), device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_classes: int, n_jobs: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.int64], dict(shape=(None, None))]]: ...

def column_range(x: Annotated[NDArray[Any], dict(shape=(None, None), device='cpu', writable=False)], n_jobs: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.bool_], dict(shape=(None,))], Annotated[NDArray[numpy.bool_], dict(shape=(None,))]]: ...

def score_codes(codes: Annotated[NDArray[Any], dict(shape=(None, None), device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_jobs: int) -> None: ...

def score_csr(data: Annotated[NDArray[Any], dict(shape=(None,), device='cpu', writable=False)], indices: Annotated[NDArray[Any], dict(shape=(None,), device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], class_constant: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_jobs: int) -> None: ...

def score_csr_sparse(data: Annotated[NDArray[Any], dict(shape=(None,), device='cpu', writable=False)], indices: Annotated[NDArray[Any], dict(shape=(None,), device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], base: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], token_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], token_class: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], token_value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], class_constant: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_jobs: int) -> None: ...

def score_dense(x: Annotated[NDArray[Any], dict(shape=(None, None), device='cpu', writable=False)], table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], class_constant: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_jobs: int) -> None: ...

UNICODE_VERSION: str = '14.0.0'

class Vocabulary:
    def __init__(self) -> None: ...

    def __len__(self) -> int: ...

    def find(self, words: Sequence[str | bytes]) -> NDArray[numpy.int32]:
        """Numbers of the words; −1 where a word is not there."""

    def add(self, words: Sequence[str | bytes]) -> NDArray[numpy.int32]:
        """Numbers of the words; new ones are appended."""

    def words(self, ids: NDArray[numpy.int32] | None = None) -> list[str]:
        """The words of these numbers, or all in order."""

    def export(self) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64]]:
        """All words as UTF-8, and their n + 1 offsets."""

    @staticmethod
    def from_arrays(bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Vocabulary:
        """The inverse of export; refuses what export cannot give."""

    def union(self, other: Vocabulary) -> NDArray[numpy.int32]:
        """Append the other's new words; the other's numbers in this vocabulary."""

    def __getstate__(self) -> tuple[Any, ...]: ...

    def __setstate__(self, arg: tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]], /) -> None: ...

class TextOptions:
    def __init__(self, tokens: str, lowercase: bool, strip_accents: bool, shortest: int, longest: int, stop_words: object, hash_bits: int) -> None: ...

class Documents:
    @staticmethod
    def of_sequence(documents: object) -> Documents: ...

    @staticmethod
    def of_tokens(documents: object) -> Documents: ...

    @staticmethod
    def of_buffers(offsets: Annotated[NDArray[Any], dict(shape=(None,), order='C', device='cpu')], data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], valid: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, bit_offset: int) -> Documents: ...

    def __len__(self) -> int: ...

def count_text(documents: Documents, label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_classes: int, vocabulary: Vocabulary | None, options: TextOptions, n_jobs: int) -> tuple[Any, ...]: ...

def score_text(documents: Documents, vocabulary: Vocabulary | None, options: TextOptions, base: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], token_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], token_class: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], token_value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], class_constant: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], binary: bool, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_jobs: int) -> None: ...

def score_text_table(documents: Documents, vocabulary: Vocabulary | None, options: TextOptions, table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], class_constant: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], binary: bool, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_jobs: int) -> None: ...

def token_rows(documents: Documents, vocabulary: Vocabulary | None, options: TextOptions, n_jobs: int) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int64]]: ...

def tokens(documents: Documents, options: TextOptions) -> list[list[str]]: ...
