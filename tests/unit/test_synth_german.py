"""German inflection against hand-written tables."""

from __future__ import annotations

import pytest

from dragoman_synth.dates import clock_times, number_words
from dragoman_synth.german import (
    ACC,
    DAT,
    GEN,
    NOM,
    PL,
    F,
    M,
    N,
    adjective_forms,
    conjugate,
    determiner_forms,
    noun_forms,
)
from dragoman_synth.lexicon import lexicon
from dragoman_synth.phrases import COUNT, DEF, DEM, INDEF, NO, POSS, ZERO, Common, contract
from dragoman_synth.tables import irregular

CASES = (NOM, ACC, DAT, GEN)


def table(text: str) -> tuple[tuple[str, ...], ...]:
    """Rows by gender (or number), with a slash between; words by case."""
    return tuple(tuple(row.split()) for row in text.split("/"))


def test_determiners() -> None:
    assert determiner_forms("der") == table("der den dem des/die die der der/das das dem des/die die den der")
    ein = "ein einen einem eines/eine eine einer einer/ein ein einem eines/eine eine einen einer"
    assert determiner_forms("ein") == table(ein)
    assert determiner_forms("kein") == table(ein.replace("ein", "kein"))
    assert determiner_forms("euer") == table(
        "euer euren eurem eures/eure eure eurer eurer/euer euer eurem eures/eure eure euren eurer"
    )
    assert determiner_forms("dies-") == table(
        "dieser diesen diesem dieses/diese diese dieser dieser/dieses dieses diesem dieses/diese diese diesen dieser"
    )


def test_adjective_endings() -> None:
    weak, mixed, strong = adjective_forms("alt")
    assert weak == table("alte alten alten alten/alte alte alten alten/alte alte alten alten/alten alten alten alten")
    assert mixed == table(
        "alter alten alten alten/alte alte alten alten/altes altes alten alten/alten alten alten alten"
    )
    assert strong == table(
        "alter alten altem alten/alte alte alter alter/altes altes altem alten/alte alte alten alter"
    )
    assert {form for forms in adjective_forms("rosa!") for row in forms for form in row} == {"rosa"}


@pytest.mark.parametrize(
    ("gender", "weak", "truth"),
    [
        (M, False, "Lehrer Lehrer Lehrer Lehrers/Lehrer Lehrer Lehrern Lehrer"),
        (N, False, "Kind Kind Kind Kindes/Kinder Kinder Kindern Kinder"),
        (N, False, "Haus Haus Haus Hauses/Häuser Häuser Häusern Häuser"),
        (F, False, "Frau Frau Frau Frau/Frauen Frauen Frauen Frauen"),
        (N, False, "Auto Auto Auto Autos/Autos Autos Autos Autos"),
        (M, True, "Junge Jungen Jungen Jungen/Jungen Jungen Jungen Jungen"),
        (M, True, "Nachbar Nachbarn Nachbarn Nachbarn/Nachbarn Nachbarn Nachbarn Nachbarn"),
        (M, True, "Student Studenten Studenten Studenten/Studenten Studenten Studenten Studenten"),
        (M, True, "Bär Bären Bären Bären/Bären Bären Bären Bären"),
    ],
)
def test_nouns(gender: int, weak: bool, truth: str) -> None:
    singular, plural = table(truth)
    assert noun_forms(singular[NOM], gender, plural[NOM], weak=weak) == (singular, plural)


VERBS = """
lernen lerne lernst lernt lernt lernte gelernt lern zu lernen
warten warte wartest wartet wartet wartete gewartet warte zu warten
öffnen öffne öffnest öffnet öffnet öffnete geöffnet öffne zu öffnen
wohnen wohne wohnst wohnt wohnt wohnte gewohnt wohn zu wohnen
tanzen tanze tanzt tanzt tanzt tanzte getanzt tanz zu tanzen
füttern füttere fütterst füttert füttert fütterte gefüttert füttere zu füttern
besuchen besuche besuchst besucht besucht besuchte besucht besuch zu besuchen
reparieren repariere reparierst repariert repariert reparierte repariert reparier zu reparieren
lesen lese liest liest lest las gelesen lies zu lesen
essen esse isst isst esst aß gegessen iss zu essen
nehmen nehme nimmst nimmt nehmt nahm genommen nimm zu nehmen
fahren fahre fährst fährt fahrt fuhr gefahren fahr zu fahren
halten halte hältst hält haltet hielt gehalten halte zu halten
finden finde findest findet findet fand gefunden finde zu finden
wissen weiß weißt weiß wisst wusste gewusst - zu wissen
müssen muss musst muss müsst musste gemusst - zu müssen
können kann kannst kann könnt konnte gekonnt - zu können
verstehen verstehe verstehst versteht versteht verstand verstanden versteh zu verstehen
hängen2 hänge hängst hängt hängt hing gehangen häng zu hängen
an|rufen rufe rufst ruft ruft rief angerufen ruf anzurufen
ein|laden lade lädst lädt ladet lud eingeladen lade einzuladen
auf|räumen räume räumst räumt räumt räumte aufgeräumt räum aufzuräumen
an|probieren probiere probierst probiert probiert probierte anprobiert probier anzuprobieren
vor|bereiten bereite bereitest bereitet bereitet bereitete vorbereitet bereite vorzubereiten
teil|nehmen nehme nimmst nimmt nehmt nahm teilgenommen nimm teilzunehmen
"""


@pytest.mark.parametrize("row", VERBS.split("\n")[1:-1])
def test_verbs(row: str) -> None:
    """Infinitive, present (ich, du, er, ihr), past, participle, imperative (- for none), infinitive with zu."""
    verb, *forms = row.split(" ", 8)
    made = conjugate(verb, irregular("german"))
    ich, du, er, wir, ihr, sie = made.present
    imperative = "-" if forms[6] == "-" else made.imperative
    assert [ich, du, er, ihr, made.past[2], made.participle, imperative, made.zu] == forms
    assert made.prefix + wir == made.prefix + sie == made.infinitive
    assert made.present_final[2] == made.prefix + er


def test_auxiliary_of_the_perfect() -> None:
    verbs = ("gehen", "an|kommen", "auf|stehen+s", "bekommen", "fahren+h", "lesen")
    assert [conjugate(verb, irregular("german")).with_sein for verb in verbs] == [True] * 3 + [False] * 3


def phrase(
    noun: str, english: str, determiner: int, *, adjective: str = "", plural: bool = False, count: str = ""
) -> Common:
    words = lexicon().words
    found = next(n for n in words.nouns if n.singular[0] == noun and n.english[0] == english)
    adjectives = tuple(a for a in words.adjectives if a.plain == adjective)[:1]
    return Common(found, determiner, plural=plural, adjectives=adjectives, count=(count, ""))


AGREEMENT = {
    ("Hund", "dog", DEF, "alt"): "der alte Hund/den alten Hund/dem alten Hund/des alten Hundes",
    ("Hund", "dog", INDEF, "alt"): "ein alter Hund/einen alten Hund/einem alten Hund/eines alten Hundes",
    ("Tür", "door", INDEF, "rot"): "eine rote Tür/eine rote Tür/einer roten Tür/einer roten Tür",
    ("Haus", "house", NO, "teuer"): "kein teures Haus/kein teures Haus/keinem teuren Haus/keines teuren Hauses",
    ("Haus", "house", DEM, "dunkel"): (
        "dieses dunkle Haus/dieses dunkle Haus/diesem dunklen Haus/dieses dunklen Hauses"
    ),
    ("Kaffee", "coffee", ZERO, "stark"): "starker Kaffee/starken Kaffee/starkem Kaffee/starken Kaffees",
    ("Turm", "tower", POSS, "hoch"): "mein hoher Turm/meinen hohen Turm/meinem hohen Turm/meines hohen Turmes",
}


def test_agreement_in_phrases() -> None:
    for (noun, english, determiner, adjective), truth in AGREEMENT.items():
        built = phrase(noun, english, determiner, adjective=adjective)
        assert "/".join(built.de(case) for case in CASES) == truth


def test_agreement_in_the_plural() -> None:
    three = phrase("Buch", "book", COUNT, adjective="alt", plural=True, count="drei")
    assert "/".join(three.de(case) for case in CASES[:3]) == "drei alte Bücher/drei alte Bücher/drei alten Büchern"
    ours = phrase("Buch", "book", POSS + 5, adjective="alt", plural=True)
    assert "/".join(ours.de(case) for case in CASES) == (
        "unsere alten Bücher/unsere alten Bücher/unseren alten Büchern/unserer alten Bücher"
    )


def test_prepositions_contract_with_the_article() -> None:
    house = phrase("Haus", "house", DEF)
    assert contract("in", house, DAT) == "im Haus"
    assert contract("in", house, ACC) == "ins Haus"
    assert contract("zu", phrase("Tür", "door", DEF), DAT) == "zur Tür"
    assert contract("in", phrase("Haus", "house", DEM), DAT) == "in diesem Haus"
    assert contract("in", phrase("Haus", "house", DEF, plural=True), DAT) == "in den Häusern"
    house.tail = " , das brennt ,"
    assert contract("in", house, DAT) == "in dem Haus , das brennt ,"


def test_numbers_put_the_unit_first() -> None:
    basic = [("zwei", "two"), ("drei", "three")] + [("x", "y")] * 16 + [("zwanzig", "twenty"), ("dreißig", "thirty")]
    made = dict(number_words(basic))
    assert made["zweiundzwanzig"] == "twenty-two"
    assert made["einunddreißig"] == "thirty-one"
    assert len(lexicon().words.numbers) == 98


def test_half_an_hour_belongs_to_the_coming_hour() -> None:
    times = dict(clock_times(lexicon().words.numbers))
    assert times["um halb neun"] == ("at half past eight",)
    assert times["um halb zwei"] == ("at half past one",)
    assert times["um halb eins"] == ("at half past twelve",)
    assert times["um ein Uhr"][0] == "at one o 'clock"


def test_plural_gender_is_for_agreement_only() -> None:
    for noun in lexicon().words.nouns:
        assert noun.gender == PL or noun.singular[0]
        assert noun.mass or noun.plural[0]
        if noun.plural[0]:
            assert noun.plural[DAT][-1] in "ns", noun.plural
