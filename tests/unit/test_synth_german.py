"""German inflection against hand-written tables."""

from __future__ import annotations

import pytest

from dragoman.synth.dates import clock_times, number_words
from dragoman.synth.german import (
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
from dragoman.synth.lexicon import lexicon
from dragoman.synth.phrases import COUNT, DEF, DEM, INDEF, NO, POSS, ZERO, Common, contract
from dragoman.synth.tables import irregular

CASES = (NOM, ACC, DAT, GEN)


def table(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(row.split()) for row in text.strip().splitlines())


@pytest.mark.parametrize(
    ("word", "truth"),
    [
        ("der", "der den dem des\ndie die der der\ndas das dem des\ndie die den der"),
        ("ein", "ein einen einem eines\neine eine einer einer\nein ein einem eines\neine eine einen einer"),
        (
            "kein",
            "kein keinen keinem keines\nkeine keine keiner keiner\nkein kein keinem keines\nkeine keine keinen keiner",
        ),
        (
            "euer",
            "euer euren eurem eures\neure eure eurer eurer\neuer euer eurem eures\neure eure euren eurer",
        ),
        (
            "dies-",
            "dieser diesen diesem dieses\ndiese diese dieser dieser\n"
            "dieses dieses diesem dieses\ndiese diese diesen dieser",
        ),
    ],
)
def test_determiners(word: str, truth: str) -> None:
    assert determiner_forms(word) == table(truth)


def test_adjective_endings() -> None:
    weak, mixed, strong = adjective_forms("alt")
    assert weak == table(
        "alte alten alten alten\nalte alte alten alten\nalte alte alten alten\nalten alten alten alten"
    )
    assert mixed == table(
        "alter alten alten alten\nalte alte alten alten\naltes altes alten alten\nalten alten alten alten"
    )
    assert strong == table(
        "alter alten altem alten\nalte alte alter alter\naltes altes altem alten\nalte alte alten alter"
    )
    assert {form for forms in adjective_forms("rosa!") for row in forms for form in row} == {"rosa"}


@pytest.mark.parametrize(
    ("args", "weak", "truth"),
    [
        (("Lehrer", M, "Lehrer"), False, "Lehrer Lehrer Lehrer Lehrers\nLehrer Lehrer Lehrern Lehrer"),
        (("Kind", N, "Kinder"), False, "Kind Kind Kind Kindes\nKinder Kinder Kindern Kinder"),
        (("Haus", N, "Häuser"), False, "Haus Haus Haus Hauses\nHäuser Häuser Häusern Häuser"),
        (("Frau", F, "Frauen"), False, "Frau Frau Frau Frau\nFrauen Frauen Frauen Frauen"),
        (("Auto", N, "Autos"), False, "Auto Auto Auto Autos\nAutos Autos Autos Autos"),
        (("Junge", M, "Jungen"), True, "Junge Jungen Jungen Jungen\nJungen Jungen Jungen Jungen"),
        (
            ("Nachbar", M, "Nachbarn"),
            True,
            "Nachbar Nachbarn Nachbarn Nachbarn\nNachbarn Nachbarn Nachbarn Nachbarn",
        ),
        (("Student", M, "Studenten"), True, "Student Studenten Studenten Studenten\n" + "Studenten " * 4),
        (("Bär", M, "Bären"), True, "Bär Bären Bären Bären\nBären Bären Bären Bären"),
    ],
)
def test_nouns(args: tuple[str, int, str], weak: bool, truth: str) -> None:
    assert noun_forms(*args, weak=weak) == table(truth)


@pytest.mark.parametrize(
    ("verb", "present", "past3", "participle", "zu", "imperative"),
    [
        ("lernen", "lerne lernst lernt lernen lernt lernen", "lernte", "gelernt", "zu lernen", "lern"),
        ("warten", "warte wartest wartet warten wartet warten", "wartete", "gewartet", "zu warten", "warte"),
        ("öffnen", "öffne öffnest öffnet öffnen öffnet öffnen", "öffnete", "geöffnet", "zu öffnen", "öffne"),
        ("wohnen", "wohne wohnst wohnt wohnen wohnt wohnen", "wohnte", "gewohnt", "zu wohnen", "wohn"),
        ("tanzen", "tanze tanzt tanzt tanzen tanzt tanzen", "tanzte", "getanzt", "zu tanzen", "tanz"),
        (
            "füttern",
            "füttere fütterst füttert füttern füttert füttern",
            "fütterte",
            "gefüttert",
            "zu füttern",
            "füttere",
        ),
        (
            "besuchen",
            "besuche besuchst besucht besuchen besucht besuchen",
            "besuchte",
            "besucht",
            "zu besuchen",
            "besuch",
        ),
        (
            "reparieren",
            "repariere reparierst repariert reparieren repariert reparieren",
            "reparierte",
            "repariert",
            "zu reparieren",
            "reparier",
        ),
        ("lesen", "lese liest liest lesen lest lesen", "las", "gelesen", "zu lesen", "lies"),
        ("essen", "esse isst isst essen esst essen", "aß", "gegessen", "zu essen", "iss"),
        ("nehmen", "nehme nimmst nimmt nehmen nehmt nehmen", "nahm", "genommen", "zu nehmen", "nimm"),
        ("fahren", "fahre fährst fährt fahren fahrt fahren", "fuhr", "gefahren", "zu fahren", "fahr"),
        ("halten", "halte hältst hält halten haltet halten", "hielt", "gehalten", "zu halten", "halte"),
        ("finden", "finde findest findet finden findet finden", "fand", "gefunden", "zu finden", "finde"),
        ("wissen", "weiß weißt weiß wissen wisst wissen", "wusste", "gewusst", "zu wissen", ""),
        ("müssen", "muss musst muss müssen müsst müssen", "musste", "gemusst", "zu müssen", ""),
        ("können", "kann kannst kann können könnt können", "konnte", "gekonnt", "zu können", ""),
        (
            "verstehen",
            "verstehe verstehst versteht verstehen versteht verstehen",
            "verstand",
            "verstanden",
            "zu verstehen",
            "versteh",
        ),
        ("hängen2", "hänge hängst hängt hängen hängt hängen", "hing", "gehangen", "zu hängen", "häng"),
        ("an|rufen", "rufe rufst ruft rufen ruft rufen", "rief", "angerufen", "anzurufen", "ruf"),
        ("ein|laden", "lade lädst lädt laden ladet laden", "lud", "eingeladen", "einzuladen", "lade"),
        (
            "auf|räumen",
            "räume räumst räumt räumen räumt räumen",
            "räumte",
            "aufgeräumt",
            "aufzuräumen",
            "räum",
        ),
        (
            "an|probieren",
            "probiere probierst probiert probieren probiert probieren",
            "probierte",
            "anprobiert",
            "anzuprobieren",
            "probier",
        ),
        (
            "vor|bereiten",
            "bereite bereitest bereitet bereiten bereitet bereiten",
            "bereitete",
            "vorbereitet",
            "vorzubereiten",
            "bereite",
        ),
        (
            "teil|nehmen",
            "nehme nimmst nimmt nehmen nehmt nehmen",
            "nahm",
            "teilgenommen",
            "teilzunehmen",
            "nimm",
        ),
    ],
)
def test_verbs(verb: str, present: str, past3: str, participle: str, zu: str, imperative: str) -> None:
    made = conjugate(verb, irregular("german"))
    assert made.present == tuple(present.split())
    assert made.past[2] == past3
    assert made.participle == participle
    assert made.zu == zu
    assert not imperative or made.imperative == imperative
    assert made.present_final[2] == made.prefix + made.present[2]


@pytest.mark.parametrize(
    ("verb", "sein"),
    [
        ("gehen", True),
        ("an|kommen", True),
        ("auf|stehen+s", True),
        ("bekommen", False),
        ("fahren+h", False),
        ("lesen", False),
    ],
)
def test_auxiliary_of_the_perfect(verb: str, sein: bool) -> None:
    assert conjugate(verb, irregular("german")).with_sein is sein


def phrase(
    noun: str, english: str, determiner: int, *, adjective: str = "", plural: bool = False, count: str = ""
) -> Common:
    words = lexicon().words
    found = next(n for n in words.nouns if n.singular[0] == noun and n.english[0] == english)
    adjectives = tuple(a for a in words.adjectives if a.plain == adjective)[:1]
    return Common(found, determiner, plural=plural, adjectives=adjectives, count=(count, ""))


@pytest.mark.parametrize(
    ("made", "truth"),
    [
        (("Hund", "dog", DEF, "alt"), "der alte Hund/den alten Hund/dem alten Hund/des alten Hundes"),
        (
            ("Hund", "dog", INDEF, "alt"),
            "ein alter Hund/einen alten Hund/einem alten Hund/eines alten Hundes",
        ),
        (("Tür", "door", INDEF, "rot"), "eine rote Tür/eine rote Tür/einer roten Tür/einer roten Tür"),
        (
            ("Haus", "house", NO, "teuer"),
            "kein teures Haus/kein teures Haus/keinem teuren Haus/keines teuren Hauses",
        ),
        (
            ("Haus", "house", DEM, "dunkel"),
            "dieses dunkle Haus/dieses dunkle Haus/diesem dunklen Haus/dieses dunklen Hauses",
        ),
        (("Kaffee", "coffee", ZERO, "stark"), "starker Kaffee/starken Kaffee/starkem Kaffee/starken Kaffees"),
        (
            ("Turm", "tower", POSS, "hoch"),
            "mein hoher Turm/meinen hohen Turm/meinem hohen Turm/meines hohen Turmes",
        ),
    ],
)
def test_agreement_in_phrases(made: tuple[str, str, int, str], truth: str) -> None:
    built = phrase(made[0], made[1], made[2], adjective=made[3])
    spoken = [built.de(case) for case in CASES]
    assert "/".join(spoken) == truth


def test_agreement_in_the_plural() -> None:
    three = phrase("Buch", "book", COUNT, adjective="alt", plural=True, count="drei")
    assert [three.de(case) for case in CASES[:3]] == [
        "drei alte Bücher",
        "drei alte Bücher",
        "drei alten Büchern",
    ]
    ours = phrase("Buch", "book", POSS + 5, adjective="alt", plural=True)
    assert [ours.de(case) for case in CASES] == ["unsere alten Bücher"] * 2 + [
        "unseren alten Büchern",
        "unserer alten Bücher",
    ]


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
