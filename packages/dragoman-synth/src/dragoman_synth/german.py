"""German inflection: declension of nouns, adjectives and articles, conjugation of verbs.

Genders are M, F, N and (for agreement) PL; cases NOM, ACC, DAT, GEN; persons 0 to 5 are ich, du, er, wir,
ihr, sie.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "ACC",
    "AUXILIARIES",
    "DAT",
    "GEN",
    "NOM",
    "PL",
    "Declension",
    "F",
    "Four",
    "GermanVerb",
    "M",
    "N",
    "adjective_forms",
    "conjugate",
    "determiner_forms",
    "noun_forms",
    "past_forms",
]

M, F, N, PL = range(4)
NOM, ACC, DAT, GEN = range(4)

Four = tuple[str, str, str, str]
"""Forms by case."""
Declension = tuple[Four, Four, Four, Four]
"""Forms by gender (or plural), then by case."""

_DER: Declension = (
    ("der", "den", "dem", "des"),
    ("die", "die", "der", "der"),
    ("das", "das", "dem", "des"),
    ("die", "die", "den", "der"),
)
_EIN: Declension = (
    ("", "en", "em", "es"),
    ("e", "e", "er", "er"),
    ("", "", "em", "es"),
    ("e", "e", "en", "er"),
)
_DIESER: Declension = (
    ("er", "en", "em", "es"),
    ("e", "e", "er", "er"),
    ("es", "es", "em", "es"),
    ("e", "e", "en", "er"),
)
_EN: Four = ("en", "en", "en", "en")
_WEAK: Declension = (("e", "en", "en", "en"), ("e", "e", "en", "en"), ("e", "e", "en", "en"), _EN)
_MIXED: Declension = (("er", "en", "en", "en"), ("e", "e", "en", "en"), ("es", "es", "en", "en"), _EN)
_STRONG: Declension = (
    ("er", "en", "em", "en"),
    ("e", "e", "er", "er"),
    ("es", "es", "em", "en"),
    ("e", "e", "en", "er"),
)


def _each(table: Declension, attach: Callable[[str], str]) -> Declension:
    rows: list[Four] = [(attach(a), attach(b), attach(c), attach(d)) for a, b, c, d in table]
    return (rows[0], rows[1], rows[2], rows[3])


def determiner_forms(word: str) -> Declension:
    """Declension of `der`, of `ein` words (ein, kein, mein, euer, …) or of `dies-` and the like."""
    if word == "der":
        return _DER
    if word.endswith("-"):
        return _each(_DIESER, lambda end: word[:-1] + end)
    long = "eur" if word == "euer" else word
    return _each(_EIN, lambda end: long + end if end else word)


def adjective_forms(stem: str) -> tuple[Declension, Declension, Declension]:
    """Weak, mixed and strong declension; a stem ending in `!` (rosa!) takes no endings."""
    if stem.endswith("!"):
        same = _each(_WEAK, lambda _: stem[:-1])
        return same, same, same
    if stem.endswith("e"):
        stem = stem[:-1]
    weak, mixed, strong = (_each(table, lambda end: stem + end) for table in (_WEAK, _MIXED, _STRONG))
    return weak, mixed, strong


def noun_forms(lemma: str, gender: int, plural: str, *, weak: bool = False, genitive: str = "") -> tuple[Four, Four]:
    """Singular and plural by case; `weak` is the n-declension (der Junge, den Jungen)."""
    if weak:
        oblique = lemma + ("n" if lemma.endswith(("e", "er", "rr", "bar")) else "en")
        singular: Four = (lemma, oblique, oblique, genitive or oblique)
    elif gender == F:
        singular = (lemma, lemma, lemma, lemma)
    else:
        singular = (lemma, lemma, lemma, genitive or _genitive(lemma))
    dative = plural if not plural or plural[-1] in "ns" else plural + "n"
    return singular, (plural, plural, dative, plural)


def _genitive(lemma: str) -> str:
    if lemma.endswith("nis"):
        return lemma + "ses"
    if lemma.endswith(("s", "ß", "x", "z")):
        return lemma + "es"
    if len(re.findall("[aeiouäöüy]+", lemma.lower())) == 1 and lemma[-1] not in "aeioufkr":
        return lemma + "es"
    return lemma + "s"


@dataclass(frozen=True, slots=True)
class GermanVerb:
    """All forms of a verb that sentences need; `present` and `past` by person, with the prefix split off."""

    infinitive: str
    prefix: str
    present: tuple[str, ...]
    past: tuple[str, ...]
    participle: str
    with_sein: bool
    imperative: str
    zu: str
    present_final: tuple[str, ...]
    past_final: tuple[str, ...]


AUXILIARIES: dict[str, tuple[str, ...]] = {
    "sein": ("bin", "bist", "ist", "sind", "seid", "sind"),
    "haben": ("habe", "hast", "hat", "haben", "habt", "haben"),
    "werden": ("werde", "wirst", "wird", "werden", "werdet", "werden"),
}
"""The present tense of auxiliary verbs, by person."""
_INSEPARABLE = ("be", "ge", "er", "ver", "zer", "ent", "emp", "über", "unter", "wieder")
_VOWELS = "aeiouäöü"


def conjugate(verb: str, parts: dict[str, str]) -> GermanVerb:
    """Conjugate `verb` (separable prefix before a bar: `an|rufen`).

    `parts` maps irregular base verbs to `present3 past3 participle` and an optional `s` (perfect with
    sein); inseparable derivatives of them (verstehen) need no entry of their own. `verb` may end in `+s`
    for sein or `+h` for haben.
    """
    verb, _, flag = verb.partition("+")
    prefix, _, base = verb.rpartition("|")
    row = parts.get(base)
    base = base.removesuffix("2")
    inseparable = ""
    if row is None:
        for start in _INSEPARABLE:
            if base.startswith(start) and len(base) > len(start) + 3:
                inseparable, row = start, parts.get(base[len(start) :])
                break
    if row is None:
        present, past, participle = _regular(base, ge=not inseparable)
        sein = ""
        pres3 = present[2]
    else:
        root = base[len(inseparable) :]
        pres3, past3, participle, sein = (*row.split(), "")[:4]
        if inseparable:
            participle = inseparable + participle.removeprefix("ge")
            pres3, past3, sein = inseparable + pres3, inseparable + past3, ""
        present, past = _irregular_present(inseparable + root, pres3), past_forms(past3)
    infinitive = prefix + base
    return GermanVerb(
        infinitive=infinitive,
        prefix=prefix,
        present=present,
        past=past,
        participle=prefix + participle,
        with_sein=flag == "s" or (sein == "s" and flag != "h"),
        imperative=_imperative(base, pres3),
        zu=f"{prefix}zu{base}" if prefix else f"zu {base}",
        present_final=tuple(prefix + form for form in present),
        past_final=tuple(prefix + form for form in past),
    )


def _stem(infinitive: str) -> str:
    return infinitive[:-2] if infinitive.endswith("en") else infinitive[:-1]


def _needs_e(stem: str) -> bool:
    """Whether endings -st and -t need a linking e: arbeitet, öffnet, but lernt, wohnt."""
    if stem[-1] in "td":
        return True
    if stem[-1] not in "nm" or len(stem) < 3 or stem[-2] in _VOWELS + "lrmn":
        return False
    return not (stem[-2] == "h" and stem[-3] in _VOWELS)


def _regular(base: str, *, ge: bool) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    stem = _stem(base)
    link = "e" if _needs_e(stem) else ""
    du = stem + link + ("t" if stem[-1] in "sßzx" else "st")
    ich = stem[:-2] + "le" if base.endswith("eln") else stem + "e"
    present = (ich, du, stem + link + "t", base, stem + link + "t", base)
    past3 = stem + link + "te"
    participle = stem + link + "t"
    if ge and not base.endswith("ieren"):
        participle = "ge" + participle
    return present, past_forms(past3), participle


def _irregular_present(base: str, pres3: str) -> tuple[str, ...]:
    if base in AUXILIARIES:
        return AUXILIARIES[base]
    if base == "tun":
        return ("tue", "tust", "tut", "tun", "tut", "tun")
    stem = _stem(base)
    link = "e" if _needs_e(stem) else ""
    if not pres3.endswith("t"):
        du = pres3 + "t" if pres3[-1] in "sß" else pres3 + "st"
        return (pres3, du, pres3, base, stem + link + "t", base)
    if stem[-1] == "t" and pres3 != stem + "et":
        du = pres3 + "st"
    else:
        root = pres3[:-1]
        du = root + ("t" if root[-1] in "sßzx" else "st")
    return (stem + "e", du, pres3, base, stem + link + "t", base)


def past_forms(past3: str) -> tuple[str, ...]:
    """Past or subjunctive by person, from the third person singular."""
    if past3.endswith(("te", "de")):
        return (past3, past3 + "st", past3, past3 + "n", past3 + "t", past3 + "n")
    if past3 == "war":
        return ("war", "warst", "war", "waren", "wart", "waren")
    du = past3 + ("est" if past3[-1] in "tdsßz" else "st")
    ihr = past3 + ("et" if past3[-1] in "td" else "t")
    return (past3, du, past3, past3 + "en", ihr, past3 + "en")


def _imperative(base: str, pres3: str) -> str:
    if base == "sein":
        return "sei"
    stem = _stem(base)
    if base.endswith("eln"):
        return stem[:-2] + "le"
    raised = pres3[:-1] if pres3.endswith("t") else stem
    if "e" in stem and "i" in raised and raised.replace("ie", "i").count("i") > stem.replace("ie", "i").count("i"):
        return raised
    return stem + "e" if _needs_e(stem) or base.endswith("ern") else stem
