"""Templates of sparse features, written as text: `word_pair(top=80)`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from dragoman._core import template_kinds
from dragoman.errors import InputError

__all__ = ["TEMPLATE_SETS", "Template", "TemplateKind", "TemplateSetting", "known_templates", "parse_templates"]

TEMPLATE_SETS = {
    "phrase15": (),
    "extended": (
        "word_pair(top=80)",
        "source_length(max=7)",
        "target_length(max=7)",
        "joint_length(max=7)",
        "target_insertion(top=50,aligned=1)",
        "discount",
    ),
    "extended_rules": ("target_insertion(top=50)", "discount"),
    "extended_labels": ("target_insertion(top=50)", "discount", "rule_overlap", "node_count"),
    "rm_sparse": (
        "rule_id",
        "rule_shape",
        "structural_distortion",
        "word_context(top=0,pairs=300)",
        "target_insertion(top=150)",
        "source_deletion(top=150)",
    ),
    "hols_sparse": ("rule_id",),
    "fastforest_sparse": ("word_context(top=0)",),
    "rules_in_context": ("rule_id", "word_context(top=0)"),
}
"""Named feature sets. `phrase15`: dense features only; `extended`: PRO's (section 5.3) for phrases, `extended_rules`
for rules, `extended_labels` for rules with several labels; `rm_sparse`: RM's (section 4.2); `hols_sparse`: HOLS'
(section 6); `fastforest_sparse`: FastForest's (section 6); `rules_in_context`: the last two together."""

_TEXT = re.compile(r"([a-z]\w*)(?:\(([^()]*)\))?")
_SETTING = re.compile(r"([a-z]\w*)=(\d{1,18})")


@dataclass(frozen=True, slots=True)
class TemplateSetting:
    """An integer setting of a template, with its default and range."""

    name: str
    default: int
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class TemplateKind:
    """A registered template with its settings."""

    name: str
    summary: str
    settings: tuple[TemplateSetting, ...]
    for_rules_only: bool
    """Whether it applies only to rules with nonterminals; phrase-based systems reject it."""
    for_phrases_only: bool
    """Whether it applies only to phrases in a row; hierarchical systems reject it."""


@cache
def known_templates() -> dict[str, TemplateKind]:
    """All registered templates, by name."""
    return {
        name: TemplateKind(name, summary, tuple(TemplateSetting(*setting) for setting in settings), *limits)
        for name, summary, settings, *limits in template_kinds()
    }


@dataclass(frozen=True, slots=True)
class Template:
    """A configured template. `values` are in the order of `known_templates()[name].settings`."""

    name: str
    values: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        kind = known_templates().get(self.name)
        if kind is None:
            raise InputError(f"unknown template {self.name!r}; known templates: {', '.join(known_templates())}")
        if len(self.values) != len(kind.settings):
            raise InputError(f"{self.name} has {len(kind.settings)} settings, not {len(self.values)}")
        for setting, value in zip(kind.settings, self.values, strict=True):
            if not setting.least <= value <= setting.most:
                raise InputError(
                    f"{setting.name} of {self.name} must be from {setting.least} to {setting.most}, not {value}"
                )

    @classmethod
    def parse(cls, text: str) -> Template:
        """A template from its name, with optional settings in parentheses; omitted settings take their defaults."""
        if (match := _TEXT.fullmatch(text.strip())) is None:
            raise InputError(f"expected a template such as word_pair(top=80), not {text!r}")
        name, inside = match.groups()
        given: dict[str, int] = {}
        for part in (inside or "").split(",") if (inside or "").strip() else []:
            if (setting := _SETTING.fullmatch(part.replace(" ", ""))) is None:
                raise InputError(f"expected settings of {name} such as top=80, not {part.strip()!r}")
            if setting[1] in given:
                raise InputError(f"duplicate setting {setting[1]} of {name}")
            given[setting[1]] = int(setting[2])
        kind = known_templates().get(name)
        if kind is None:
            raise InputError(f"unknown template {name!r}; known templates: {', '.join(known_templates())}")
        if strange := given.keys() - {setting.name for setting in kind.settings}:
            raise InputError(f"{name} has no setting {min(strange)!r}")
        return cls(name, tuple(given.get(setting.name, setting.default) for setting in kind.settings))

    def __str__(self) -> str:
        names = (setting.name for setting in known_templates()[self.name].settings)
        settings = ",".join(f"{name}={value}" for name, value in zip(names, self.values, strict=True))
        return f"{self.name}({settings})" if settings else self.name


def parse_templates(texts: Iterable[str], *, has_rules: bool | None = None) -> tuple[Template, ...]:
    """Templates from texts, each a template or the name of a set. Raises InputError for duplicates.

    With `has_rules` False, templates for rules with nonterminals are rejected; with True, those for phrases in a row.
    """
    templates: list[Template] = []
    for text in texts:
        templates += [Template.parse(part) for part in TEMPLATE_SETS.get(text.strip(), (text,))]
    names = [template.name for template in templates]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"duplicate template {twice[0]}")
    if has_rules is False and (strange := [name for name in names if known_templates()[name].for_rules_only]):
        raise InputError(
            f"the template {strange[0]} is for rules with nonterminals, which a phrase-based system lacks; leave it out"
        )
    if has_rules and (strange := [name for name in names if known_templates()[name].for_phrases_only]):
        raise InputError(
            f"the template {strange[0]} is for orientations of phrases, which a hierarchical system lacks; leave it out"
        )
    return tuple(templates)
