"""Templates of sparse features, written as text: `word_pair(top=80)`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
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
        "target_insertion(top=50,aligned=1,by=frequency)",
        "discount",
    ),
    "extended_rules": ("target_insertion(top=50)", "discount"),
    "extended_labels": ("target_insertion(top=50)", "discount", "rule_overlap", "node_count"),
    "rm_sparse": (
        "rule_id",
        "rule_shape",
        "structural_distortion",
        "word_context(top=0,pairs=300)",
        "target_insertion(top=150,by=unaligned)",
        "source_deletion(top=150,by=unaligned)",
    ),
    "rm_phrase": (
        "rule_id",
        "word_context(top=0,pairs=300)",
        "target_insertion(top=150,by=unaligned)",
        "source_deletion(top=150,by=unaligned)",
    ),
    "hols_sparse": ("rule_id",),
    "fastforest_sparse": ("word_context(top=0)",),
    "rules_in_context": ("rule_id", "word_context(top=0)"),
    "sparse_hrm_local": ("reorder_local(top=80,classes=1)",),
    "sparse_hrm": (
        "reorder_local(top=80,classes=1)",
        "reorder_stack(top=80,classes=1)",
        "reorder_gap(top=80,classes=1)",
    ),
    "sparse_hrm_uncommon": (
        "reorder_local(top=0,classes=1)",
        "reorder_stack(top=0,classes=1)",
        "reorder_gap(top=0,classes=1)",
    ),
    "sparse_hrm_biphrases": (
        "reorder_local(top=80,classes=1)",
        "reorder_stack(top=80,classes=1)",
        "reorder_gap(top=80,classes=1)",
        "reorder_phrase",
    ),
}
"""Named feature sets. `phrase15`: dense features only; `extended`: PRO's (section 5.3) for phrases, `extended_rules`
for rules, `extended_labels` for rules with several labels; `rm_sparse`: RM's (section 4.2) for rules, `rm_phrase`
for phrases; `hols_sparse`: HOLS' (section 6); `fastforest_sparse`: FastForest's (section 6); `rules_in_context`: the
last two together; `sparse_hrm_local`, `sparse_hrm`, `sparse_hrm_uncommon`, `sparse_hrm_biphrases`: xBLEU's (section 6),
for phrase-based systems with word classes."""

_TEXT = re.compile(r"([a-z]\w*)(?:\(([^()]*)\))?")
_SETTING = re.compile(r"([a-z]\w*)=(\w+)")
_INTEGER = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class TemplateSetting:
    """A setting of a template with its default: an integer with a range, or one of several named choices."""

    name: str
    default: int | str
    least: int
    most: int
    choices: tuple[str, ...] = ()

    @classmethod
    def of_native(cls, name: str, value: int, least: int, most: int, choices: Sequence[str]) -> TemplateSetting:
        """The setting as the native registry has it, where a choice is its place in `choices`."""
        return cls(name, choices[value] if choices else value, least, most, tuple(choices))

    def parse(self, text: str, template: str) -> int | str:
        """The value that the text says; `code` checks it."""
        if not self.choices and _INTEGER.fullmatch(text) is None:
            raise InputError(f"expected settings of {template} such as {self.name}={self.default}, not {text!r}")
        return text if self.choices else int(text)

    def code(self, value: int | str, template: str) -> int:
        """The value for the native registry. Raises InputError if the setting cannot have it."""
        if self.choices:
            if value not in self.choices:
                raise InputError(f"{self.name} of {template} must be {' or '.join(self.choices)}, not {value!r}")
            return self.choices.index(str(value))
        if not isinstance(value, int) or not self.least <= value <= self.most:
            raise InputError(f"{self.name} of {template} must be from {self.least} to {self.most}, not {value!r}")
        return value


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
        name: TemplateKind(name, summary, tuple(TemplateSetting.of_native(*s) for s in settings), *limits)
        for name, summary, settings, *limits in template_kinds()
    }


def _unknown(name: str) -> InputError:
    """The error for a name that is no template, nor one of their sets."""
    near = difflib.get_close_matches(name, [*TEMPLATE_SETS, *known_templates()], n=1)
    meant = f"did you mean {near[0]}? " if near else ""
    return InputError(
        f"unknown template {name!r}; {meant}known templates: {', '.join(known_templates())}; "
        f"sets of templates: {', '.join(TEMPLATE_SETS)}"
    )


@dataclass(frozen=True, slots=True)
class Template:
    """A configured template. `values` are in the order of `known_templates()[name].settings`."""

    name: str
    values: tuple[int | str, ...] = ()

    def __post_init__(self) -> None:
        kind = known_templates().get(self.name)
        if kind is None:
            raise _unknown(self.name)
        if len(self.values) != len(kind.settings):
            raise InputError(f"{self.name} has {len(kind.settings)} settings, not {len(self.values)}")
        self.codes()

    def codes(self) -> list[int]:
        """The values as the native registry has them: a named choice is its place among the choices."""
        settings = known_templates()[self.name].settings
        return [setting.code(value, self.name) for setting, value in zip(settings, self.values, strict=True)]

    @property
    def needs_classes(self) -> bool:
        """Whether it looks at word classes (`classes=1`)."""
        names = (setting.name for setting in known_templates()[self.name].settings)
        return dict(zip(names, self.values, strict=True)).get("classes") == 1

    @classmethod
    def parse(cls, text: str) -> Template:
        """A template from its name, with optional settings in parentheses; omitted settings take their defaults."""
        if (match := _TEXT.fullmatch(text.strip())) is None:
            raise InputError(f"expected a template such as word_pair(top=80), not {text!r}")
        name, inside = match.groups()
        given: dict[str, str] = {}
        for part in (inside or "").split(",") if (inside or "").strip() else []:
            if (setting := _SETTING.fullmatch(part.replace(" ", ""))) is None:
                raise InputError(f"expected settings of {name} such as top=80, not {part.strip()!r}")
            if setting[1] in given:
                raise InputError(f"duplicate setting {setting[1]} of {name}")
            given[setting[1]] = setting[2]
        kind = known_templates().get(name)
        if kind is None:
            raise _unknown(name)
        if strange := given.keys() - {setting.name for setting in kind.settings}:
            raise InputError(f"{name} has no setting {min(strange)!r}")
        values = (
            setting.parse(given[setting.name], name) if setting.name in given else setting.default
            for setting in kind.settings
        )
        return cls(name, tuple(values))

    def __str__(self) -> str:
        names = (setting.name for setting in known_templates()[self.name].settings)
        settings = ",".join(f"{name}={value}" for name, value in zip(names, self.values, strict=True))
        return f"{self.name}({settings})" if settings else self.name


def parse_templates(
    texts: Iterable[str], *, has_rules: bool | None = None, has_classes: bool = True
) -> tuple[Template, ...]:
    """Templates from texts, each a template or the name of a set. Raises InputError for duplicates.

    With `has_rules` False, templates for rules with nonterminals are rejected; with True, those for phrases in a row.
    Without `has_classes`, templates that look at word classes are rejected.
    """
    texts = [text.strip() for text in texts]
    templates = [Template.parse(part) for text in texts for part in TEMPLATE_SETS.get(text, (text,))]
    names = [template.name for template in templates]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"duplicate template {twice[0]}")
    if has_rules is False and (strange := [name for name in names if known_templates()[name].for_rules_only]):
        raise InputError(
            f"the template {strange[0]} is for rules with nonterminals, which a phrase-based system lacks; leave it out"
            + (", or take rm_phrase instead of rm_sparse" if "rm_sparse" in texts else "")
        )
    if has_rules and (strange := [name for name in names if known_templates()[name].for_phrases_only]):
        raise InputError(
            f"the template {strange[0]} is for orientations of phrases, which a hierarchical system lacks; leave it out"
        )
    if not has_classes and (strange := [template.name for template in templates if template.needs_classes]):
        raise InputError(
            f"{strange[0]}(classes=1) needs word classes, which this system lacks: train it with "
            "`classes=(20, 50, 80)` (classes = [20, 50, 80] in a recipe), or leave classes=1 out"
        )
    return tuple(templates)
