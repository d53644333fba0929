"""Every answer in full: the prior, one line per column or word with the counts behind it, and their sum.

`explained.py` holds the plain data; `rows.py` makes it, with one file for each kind of statistic (`tokens.py`,
`words.py`, `values.py`, `bins.py`, `numbers.py`); `turning.py` looks for the fewest changes that would turn the
answer; `terminal.py` and `page.py` show it.
"""

from naively.explanation.explain import explain
from naively.explanation.explanation import Change, Contribution, Explanation, Turn

__all__ = ["Change", "Contribution", "Explanation", "Turn", "explain"]
