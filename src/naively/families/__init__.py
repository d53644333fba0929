"""One likelihood per file; see `base.py` for the methods that each has, always in the same order."""

from naively.data.kinds import Kind, Support
from naively.families.automatic import AutoBoolean, AutoNumber, AutoString, Identifier, NoValuesYet
from naively.families.base import Dropped, Family, LinearPart, Missing
from naively.families.bernoulli import Bernoulli, Presence
from naively.families.binned import Binned
from naively.families.categorical import Categorical
from naively.families.complement import Complement
from naively.families.exponential import Exponential
from naively.families.gaussian import Gaussian
from naively.families.log_normal import LogNormal
from naively.families.multinomial import Multinomial
from naively.families.poisson import Poisson
from naively.families.registry import family_named, family_names, register
from naively.families.text import Text
from naively.families.text_blocks import TextBlocks

__all__ = [
    "AutoBoolean",
    "AutoNumber",
    "AutoString",
    "Bernoulli",
    "Binned",
    "Categorical",
    "Complement",
    "Dropped",
    "Exponential",
    "Family",
    "Gaussian",
    "Identifier",
    "Kind",
    "LinearPart",
    "LogNormal",
    "Missing",
    "Multinomial",
    "NoValuesYet",
    "Poisson",
    "Presence",
    "Support",
    "Text",
    "TextBlocks",
    "family_named",
    "family_names",
    "register",
]

for _member in [globals()[name] for name in __all__]:
    if isinstance(_member, type) and issubclass(_member, Family) and _member is not Family:
        register(_member)
