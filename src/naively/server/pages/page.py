"""What every page is made from: the request, one snapshot of the model, and the texts and colours of its classes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from starlette.requests import Request

from naively.data.labelled import Label
from naively.data.names import Names
from naively.data.plain import CellValue
from naively.explanation.palette import N_COLOURS
from naively.model.model import Model
from naively.server.pages.address import Query, Row, query_of_row, row_of, texts_of_classes, whole_number
from naively.server.problems import Problem
from naively.server.protocol import columns_of_texts
from naively.server.served import ServedModel
from naively.server.service import Service
from naively.server.writer import Snapshot


@dataclass
class Page:
    """A request for a page of a model, which is answered by one snapshot."""

    request: Request
    service: Service
    served: ServedModel
    snapshot: Snapshot

    @classmethod
    def of(cls, request: Request) -> Page:
        """Take the snapshot of the model that the address names."""
        service: Service = request.app.state.service
        served = service.get(request.path_params["name"])
        return cls(request, service, served, served.snapshot)

    @property
    def model(self) -> Model:
        """The model."""
        return self.snapshot.model

    @property
    def names(self) -> Names:
        """The columns of the model."""
        return self.model.schema.names

    @property
    def may_learn(self) -> bool:
        """Whether this visitor may teach the model."""
        return self.served.may_learn and self.request.state.access.may_learn

    def parameter(self, name: str) -> str | None:
        """Return a parameter of the address; None if it is empty."""
        return self.request.query_params.get(name) or None

    def number(self, name: str, default: int) -> int:
        """Return a parameter that is a whole number."""
        text = self.parameter(name)
        return default if text is None else whole_number(text, name)

    @cached_property
    def row(self) -> Row:
        """The values in the address."""
        return row_of(self.names, self.request.query_params.multi_items())

    @cached_property
    def columns(self) -> dict[str, list[CellValue]]:
        """The values in the address, as the types at training."""
        return columns_of_texts(self.model, {name: [text] for name, text in self.row.items()}) if self.row else {}

    @cached_property
    def row_query(self) -> Query:
        """The parameters of the row."""
        return query_of_row(self.names, self.row)

    @cached_property
    def class_texts(self) -> list[str]:
        """A text for each class."""
        return texts_of_classes(self.model.classes)

    def position(self, label: object) -> int | None:
        """Return the position of a class; 1 and "1" differ."""
        classes = enumerate(self.model.classes)
        return next((i for i, c in classes if c == label and isinstance(c, str) == isinstance(label, str)), None)

    def text_of(self, label: object) -> str:
        """Return the text of a class."""
        position = self.position(label)
        return str(label) if position is None else self.class_texts[position]

    def colour_of(self, label: object) -> int:
        """Return the number of the colour of a class, the same on every page."""
        return (self.position(label) or 0) % N_COLOURS

    def class_named(self, text: str | None) -> Label | None:
        """Return the class of a text; None without one."""
        if text is None:
            return None
        if text not in self.class_texts:
            raise Problem(400, f"the model has no class {text!r}.")
        return self.model.classes[self.class_texts.index(text)]

    def link(self, page: str, query: Query = (), suffix: str = "") -> str:
        """Return the address of a page of this model, below the path where the application is mounted."""
        path = str(self.request.app.url_path_for(page, name=self.served.name)) + suffix
        root = str(self.request.scope.get("root_path", "")).rstrip("/")
        return root + path + (f"?{urlencode(query)}" if query else "")
