"""The declaration of a comparison or an audit: the groups, the person responsible, the purpose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.base.words import listed

LONGEST = 200
EQUALITY = "monitoring equality"
PROTECTED = "sex, origin, age, religion, disability and the like, or a proxy for one"
DISCRIMINATION = (
    "a comparison drops whole groups, and dropping people for who they are is discrimination;"
    " an audit drops nobody and may monitor equality"
)
ALLOWED = f"affinity audit --protected --purpose '{EQUALITY}'"
ASKS = {
    "groups_are": "What kind of groups are they (sources of candidates, suppliers, teams)?",
    "protected": f"Are they protected attributes of people ({PROTECTED})? yes or no",
    "responsible": "Who is responsible?",
    "purpose": "For which purpose?",
}
EXAMPLES = {
    "groups_are": "sources of candidates",
    "responsible": "head of recruiting",
    "purpose": "where to look for candidates next year",
}


def check_text(name: str, given: object) -> str:
    """Return an answer in words with single spaces.

    Raises:
        InvalidInput: it is empty, too long, or no text that can be printed.
    """
    text = " ".join(given.split()) if isinstance(given, str) else ""
    if not (1 <= len(text) <= LONGEST and text.isprintable()):
        raise InvalidInput(name, f"a text of 1 to {LONGEST} printable characters", given)
    return text


@dataclass(frozen=True)
class Declaration:
    """The meaning of the groups, the person responsible, and the purpose.

    Args:
        groups_are: the meaning of the groups, in words.
        responsible: the person or office that answers for it.
        purpose: the reason for it.
        protected: whether the groups are protected attributes of people, or proxies for them.
    """

    groups_are: str
    responsible: str
    purpose: str
    protected: bool = False

    def __post_init__(self) -> None:
        for name in ("groups_are", "responsible", "purpose"):
            object.__setattr__(self, name, check_text(name, getattr(self, name)))
        if not isinstance(self.protected, bool):
            raise InvalidInput("protected", "true or false", self.protected)

    def check_comparison(self) -> None:
        """Refuse a plan or a campaign that compares protected attributes.

        Raises:
            InvalidInput: the groups are declared as protected attributes.
        """
        if self.protected:
            rule = f"false for a plan or a campaign: {DISCRIMINATION} ({ALLOWED})"
            raise InvalidInput("protected", rule, self.protected)

    def check_audit(self) -> None:
        """Refuse an audit of protected attributes unless it monitors equality.

        Raises:
            InvalidInput: the groups are protected attributes, and the purpose is another one.
        """
        if self.protected and not self.purpose.casefold().startswith(EQUALITY):
            rule = (
                f"'{EQUALITY}', or begin so: groups that are protected attributes may be audited"
                " only to check that people are treated equally"
            )
            raise InvalidInput("purpose", rule, self.purpose)

    @property
    def sentence(self) -> str:
        kind = "protected attributes" if self.protected else "no protected attributes"
        return (
            f"Declared: the groups are {self.groups_are} ({kind});"
            f" responsible: {self.responsible}; purpose: {self.purpose}."
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return the declaration that a table has.

        Raises:
            InvalidInput: a key is missing or unknown, or a value breaks a rule.
        """
        if not isinstance(data, Mapping):
            raise InvalidInput("declaration", "a table", data)
        known = [item.name for item in fields(cls)]
        for name in data:
            if name not in known:
                raise InvalidInput("declaration", f"a table of {', '.join(known)}", name)
        missing = [name for name in known[:3] if name not in data]
        if missing:
            examples = listed([repr(EXAMPLES[name]) for name in missing])
            rule = f"given with the rest of the declaration, e.g. {examples}"
            raise InvalidInput(listed(missing), rule, None)
        return cls(**data)
