"""English inflection: plurals, articles, verbs, and contractions split as Moses does (`doesn 't`)."""

from __future__ import annotations

from dataclasses import dataclass

from dragoman_synth.tables import irregular

__all__ = ["BE", "EnglishVerb", "article", "comparative", "conjugate", "contract_not", "plural", "superlative"]

_VOWEL_SOUND = ("a", "e", "i", "o", "u")
_A_IN_SPITE = ("uni", "eur", "use", "one", "usu", "uto")
_AN_IN_SPITE = ("hour", "honest", "heir")


def plural(noun: str) -> str:
    """Plural of an English noun phrase, inflected on its last word, or on the word before `of`."""
    noun, of, rest = noun.partition(" of ")
    head, space, last = noun.rpartition(" ")
    return head + space + (irregular("plural").get(last) or _add_s(last)) + of + rest


def _add_s(word: str) -> str:
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    return word[:-1] + "ies" if word.endswith("y") and word[-2] not in "aeiou" else word + "s"


def article(word: str) -> str:
    """`a` or `an`, by the sound of the next word."""
    low = word.lower()
    if low.startswith(_AN_IN_SPITE):
        return "an"
    return "an" if low.startswith(_VOWEL_SOUND) and not low.startswith(_A_IN_SPITE) else "a"


@dataclass(frozen=True, slots=True)
class EnglishVerb:
    """Forms of an English verb; `present` and `past` by person 0 to 5."""

    base: str
    present: tuple[str, ...]
    past: tuple[str, ...]
    participle: str
    ing: str


BE = EnglishVerb(
    "be", ("am", "are", "is", "are", "are", "are"), ("was", "were", "was", "were", "were", "were"), "been", "being"
)
_DOUBLING = (
    "stop plan drop sit put get win cut hit let swim run begin forget set dig chat travel cancel drip step"
    " slip trip fit quit submit skip transfer shut"
)


def conjugate(base: str, parts: dict[str, str]) -> EnglishVerb:
    """Conjugate an English verb; `parts` maps an irregular base to `past participle`."""
    if base == "be":
        return BE
    doubled = base + (base[-1] if base in _DOUBLING.split() else "")
    if base == "have":
        third = "has"
    else:
        third = base + "es" if base.endswith("o") else _add_s(base)
    row = parts.get(base)
    if row is not None:
        past, participle = row.split()
    elif base.endswith("e"):
        past = participle = base + "d"
    elif base.endswith("y") and base[-2] not in "aeiou":
        past = participle = base[:-1] + "ied"
    else:
        past = participle = doubled + "ed"
    if base.endswith("ie"):
        ing = base[:-2] + "ying"
    elif base.endswith("e") and not base.endswith("ee"):
        ing = base[:-1] + "ing"
    else:
        ing = doubled + "ing"
    return EnglishVerb(base, (base, base, third, base, base, base), (past,) * 6, participle, ing)


_NOT = {"can": "can 't", "will": "won 't"}


def contract_not(auxiliary: str) -> str:
    """`does` → `doesn 't`; `am` and `may` have no such form and keep `not`."""
    if auxiliary in ("am", "may"):
        return auxiliary + " not"
    return _NOT.get(auxiliary, auxiliary + "n 't")


_COMPARED = {"good": ("better", "best"), "grey": ("greyer", "greyest")}


def _graded(adjective: str, ending: str) -> str | None:
    if adjective in _COMPARED:
        return _COMPARED[adjective][ending == "est"]
    if adjective.endswith("y") and len(adjective) <= 6:
        return adjective[:-1] + "i" + ending
    vowels = sum(letter in "aeiou" for letter in adjective.rstrip("e"))
    if vowels > 1 and not adjective.endswith(("ow", "er", "et", "mple")) and adjective not in _ONE_SYLLABLE.split():
        return None
    if adjective.endswith("e"):
        return adjective + ending[1:]
    if vowels == 1 and adjective[-1] in "bdgmnt" and adjective[-2] in "aeiou":
        return adjective + adjective[-1] + ending
    return adjective + ending


_ONE_SYLLABLE = "cheap deep sweet weak great clean poor quick loud young rich short dear cool"


def comparative(adjective: str) -> str:
    """`big` → `bigger`, `expensive` → `more expensive`."""
    return _graded(adjective, "er") or "more " + adjective


def superlative(adjective: str) -> str:
    """`big` → `biggest`, `expensive` → `most expensive`."""
    return _graded(adjective, "est") or "most " + adjective
