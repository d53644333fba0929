"""Explanations of predictions: the prior, one contribution per column or word, and their sum.

`explain.py` makes an Explanation from the terms of the families. `counterfactual.py` finds the fewest changes that
would change the prediction. `render_text.py` and `render_html.py` show it. `nomogram.py`, `word_weights.py` and
`linear.py` explain a model rather than a prediction.
"""

from naively.explanation.counterfactual import Change, Counterfactual
from naively.explanation.explain import explain
from naively.explanation.explanation import Contribution, Explanation

__all__ = ["Change", "Contribution", "Counterfactual", "Explanation", "explain"]
