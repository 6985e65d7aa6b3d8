"""Numbers, dates and times of day in both languages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

__all__ = ["clock_times", "dated_times", "number_words"]

Pairs = Sequence[tuple[str, tuple[str, ...]]]


def number_words(basic: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """All numbers from two to ninety-nine, from the words for 2 to 20 and the tens."""
    small, tens = basic[:19], basic[18:]
    units = [("ein", "one"), *small[:8]]
    numbers = list(small[:-1])
    for ten_de, ten_en in tens:
        numbers.append((ten_de, ten_en))
        numbers += [(f"{unit_de}und{ten_de}", f"{ten_en}-{unit_en}") for unit_de, unit_en in units]
    return numbers


def dated_times(
    weekdays: Pairs, months: Pairs, seasons: Pairs, numbers: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Time expressions with weekdays, months, seasons and counts: (kind of tense, German, translations)."""
    spans = (
        ("Tagen", "days", 4, ""),
        ("Wochen", "weeks", 2, ""),
        ("Monaten", "months", 5, " far"),
        ("Jahren", "years", 9, " far"),
    )
    for unit_de, unit_en, most, far in spans:
        for de, en in numbers[:most]:
            yield f"past{far}", f"vor {de} {unit_de}", (f"{en} {unit_en} ago",)
            yield f"fut{far}", f"in {de} {unit_de}", (f"in {en} {unit_en}",)
            if unit_de != "Tagen":
                yield "since", f"seit {de} {unit_de}", (f"for {en} {unit_en}",)
    for de, (en,) in weekdays:
        for kind in ("past", "fut"):
            yield kind, f"am {de}", (f"on {en}",)
        yield "past", f"letzten {de}", (f"last {en}",)
        yield "fut", f"nächsten {de}", (f"next {en}",)
        yield "hab", f"jeden {de}", (f"every {en}",)
        yield "hab", f"am {de}abend", (f"on {en} evenings",)
        yield "past", f"am {de}morgen", (f"on {en} morning",)
    for de, (en,) in months:
        yield "past far", f"im {de}", (f"in {en}",)
        yield "fut far", f"im {de}", (f"in {en}",)
        yield "since", f"seit {de}", (f"since {en}",)
    for de, translations in seasons:
        yield "hab", f"im {de}", tuple(f"in {en}" for en in translations)
        yield "past far", f"letzten {de}", tuple(f"last {en}" for en in translations)
        yield "fut far", f"nächsten {de}", tuple(f"next {en}" for en in translations)


def clock_times(numbers: Sequence[tuple[str, str]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """`um halb neun` is half past eight: German names the coming hour."""
    hours = [*numbers[:11], ("eins", "one")]
    for place, (de, en) in enumerate(hours):
        previous = hours[place - 1][1]
        yield f"um {de if de != 'eins' else 'ein'} Uhr", (f"at {en} o 'clock", f"at {en}")
        yield f"um halb {de}", (f"at half past {previous}",)
        yield f"um Viertel nach {de}", (f"at a quarter past {en}",)
        yield f"um Viertel vor {de}", (f"at a quarter to {en}",)
