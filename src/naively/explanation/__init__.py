"""Explanations of predictions: the prior, one contribution per column or word, and their sum.

`explain.py` makes an Explanation from the terms of the families. `counterfactual.py` finds the fewest changes that
would change the prediction, `next_question.py` the missing column that is worth most. `render_text.py` and
`render_html.py` show an Explanation. `nomogram.py`, `word_weights.py` and `linear.py` explain a model.
"""

from naively.explanation.counterfactual import Change, Counterfactual
from naively.explanation.explain import explain
from naively.explanation.explanation import Contribution, Explanation, Others
from naively.explanation.explanations import Explanations
from naively.explanation.next_question import NextQuestion, Question, next_question

__all__ = [
    "Change", "Contribution", "Counterfactual", "Explanation", "Explanations", "NextQuestion", "Others", "Question",
    "explain",
    "next_question",
]  # fmt: skip
