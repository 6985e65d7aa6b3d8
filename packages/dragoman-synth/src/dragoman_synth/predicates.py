"""What things and people are: adjectives, comparison, professions, es gibt, and states with a dative."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dragoman_synth.english import BE, article, comparative
from dragoman_synth.german import ACC, AUXILIARIES, DAT, NOM, N, conjugate, past_forms
from dragoman_synth.phrases import DEF, GENERIC, INDEF, PRONOUNS, ZERO, Common, Phrase, join
from dragoman_synth.sentences import KINDS, Grammar, Sentence
from dragoman_synth.tables import expressions
from dragoman_synth.verbgroups import join_subject

if TYPE_CHECKING:
    from dragoman_synth.draw import Draw
    from dragoman_synth.lexemes import Adjective, Noun

__all__ = [
    "ache",
    "comparison",
    "costs",
    "feeling_cold",
    "general",
    "profession",
    "property_of",
    "superlative",
    "there_is",
]

_IS, _WAS = AUXILIARIES["sein"], past_forms("war")
_COLOUR = 3
_COST = conjugate("kosten", {})


def _described(g: Grammar, r: Draw) -> tuple[Common, Adjective]:
    noun = r.pick(g.describable)
    adjective = r.pick_where(noun.adjectives, lambda a: bool(a.comparative))
    mine = noun.classes & {"own", "portable", "pet", "clothes"} and r.chance(0.35)
    owner = r.pick((0, 0, 1, 5))
    return g.choose.thing(r, noun, "p" if mine else "d", owner), adjective


def property_of(g: Grammar, r: Draw) -> Sentence:
    """`Die Suppe ist zu scharf`: the noun decides what scharf means."""
    phrase, adjective = _described(g, r)
    phrase.adjectives = tuple(a for a in phrase.adjectives if a.order != adjective.order and a.order >= 2)
    if g.relatives.can(phrase) and r.chance(0.45):
        g.relatives.attach(r, phrase)
    past = r.chance(0.35)
    degrees = expressions("degree")
    degree, translations, _ = r.pick(degrees if adjective.order != _COLOUR else degrees[:2])
    german = join(phrase.de(NOM), (_WAS if past else _IS)[phrase.person], degree, adjective.plain)

    def english(draw: Draw) -> str:
        be = (BE.past if past else BE.present)[phrase.english_person]
        return join(phrase.en(draw), be, draw.prefer(translations), draw.prefer(adjective.english))

    return Sentence(german, english)


def _two_of_a_kind(g: Grammar, r: Draw) -> tuple[Common, Common, Adjective]:
    """Two things that can be compared, and in what."""
    first, adjective = r.draw_where(lambda r: _described(g, r), lambda found: found[1].order != _COLOUR)
    first.adjectives = ()
    kind = first.noun.classes.intersection(KINDS)
    pool = [noun for noun in g.describable if adjective in noun.adjectives and kind & noun.classes]
    others = [noun for noun in pool if noun.english != first.noun.english]
    noun = r.pick(others or pool)
    return first, Common(noun, DEF, plural="plonly" in noun.classes), adjective


def comparison(g: Grammar, r: Draw) -> Sentence:
    """Als means than after a comparative; so … wie is as … as."""
    first: Phrase
    second: Phrase
    if r.chance(0.45):
        first = g.choose.subject(r, pronouns=0.3)
        second = g.choose.name(r) if r.chance(0.5) else g.choose.relative(r)
        adjective = r.pick(g.human_adjectives)
    else:
        first, second, adjective = _two_of_a_kind(g, r)
    be = _IS[first.person]
    if r.chance(0.65):
        german = f"{first.de(NOM)} {be} {adjective.comparative} als {second.de(NOM)}"
        equal = ""
    else:
        equal = r.pick(("so", "nicht so", "genauso"))
        german = f"{first.de(NOM)} {be} {equal} {adjective.plain} wie {second.de(NOM)}"

    def english(draw: Draw) -> str:
        word = draw.prefer(adjective.english)
        head = f"{first.en(draw)} {BE.present[first.english_person]}"
        other = second.en_object(draw)
        if not equal:
            return f"{head} {comparative(word)} than {other}"
        just = {"so": ("as",), "nicht so": ("not as", "not so"), "genauso": ("just as", "as")}[equal]
        return f"{head} {draw.prefer(just)} {word} as {other}"

    return Sentence(german, english)


_BEST = "alt groß schön modern berühmt hoch gut spannend langweilig interessant lang traurig lustig bekannt seltsam"


def superlative(g: Grammar, r: Draw) -> Sentence:
    """`Das ist das älteste Haus der Stadt`."""
    best = _BEST.split()

    def draw(r: Draw) -> tuple[Noun, Adjective]:
        noun = r.pick(g.best)
        return noun, r.pick(noun.adjectives)

    noun, adjective = r.draw_where(draw, lambda found: bool(found[1].superlative) and found[1].plain in best)
    phrase = Common(noun, DEF, adjectives=(adjective,))
    phrase.superlative = True
    among, translations, _ = r.pick(expressions("best places" if "building" in noun.classes else "best works"))
    who = g.choose.relative(r)
    start, starts = r.pick(
        (
            ("das ist", ("that is", "this is", "that 's")),
            ("das war", ("that was", "this was")),
            (
                f"{who.de(NOM)} meint , das ist",
                (f"{who.en(r)} thinks this is", f"{who.en(r)} thinks that is"),
            ),
        )
    )

    def english(draw: Draw) -> str:
        return f"{draw.prefer(starts)} {phrase.en(draw)} {draw.prefer(translations)}"

    return Sentence(f"{start} {phrase.de(NOM)} {among}", english)


_CAREERS = (
    (0.35, "ist {} in {}", ("is", "works as")),
    (0.7, "arbeitet als {} in {}", ("works as", "is working as")),
    (0.85, "war früher {} in {}", ("used to be", "used to work as")),
    (1.0, "möchte {} werden", ("would like to become", "wants to become")),
)
"""With cumulative probabilities."""


def profession(g: Grammar, r: Draw) -> Sentence:
    """`Er ist Lehrer`: English needs an article; als means as."""
    subject = r.draw_where(
        g.choose.subject,
        lambda who: (
            who.gender < N and who.person == 2 and not (isinstance(who, Common) and "rel" not in who.noun.classes)
        ),
    )
    noun = r.pick_where(g.professions, lambda noun: noun.gender == subject.gender)
    lemma = noun.singular[0]
    place = r.pick(g.lexicon.words.cities)
    draw = r.random()
    career, verbs = next((german, english) for below, german, english in _CAREERS if draw < below)
    german = f"{subject.de(NOM)} {career.format(lemma, place[0])}"

    def english(d: Draw) -> str:
        title = d.prefer(noun.english)
        where = f"in {place[1]}" if " in " in career else ""
        return join(subject.en(d), d.prefer(verbs), article(title), title, where)

    return Sentence(german, english)


def there_is(g: Grammar, r: Draw) -> Sentence:
    """`Es gibt` takes the accusative and is there is or there are."""
    wild = r.chance(0.35)
    place = r.pick(g.nature if wild else g.towns)
    noun = r.pick(g.creatures if wild else g.sights)
    draw = r.random()
    adjectives = g.choose.adjectives(r, noun, 0.6)
    if draw < 0.45:
        phrase = Common(noun, INDEF, adjectives=adjectives)
    elif draw < 0.75:
        phrase = g.choose.thing(r, noun, "n", 0)
    else:
        phrase = Common(noun, ZERO, plural=True, adjectives=adjectives)
    many = phrase.english_person == 5
    past = r.chance(0.25)
    spot = g.choose.spot(r, place, goal=False)
    lead = r.chance(0.6)
    gibt = "gab" if past else "gibt"
    what = phrase.de(ACC)
    german = f"{spot.german} {gibt} es {what}" if lead else f"es {gibt} {what} {spot.german}"

    def english(d: Draw) -> str:
        be = ("were" if many else "was") if past else ("are" if many else "is")
        where = spot.en(d)
        if lead and d.chance(0.3):
            return f"{where} there {be} {phrase.en(d)}"
        return f"there {be} {phrase.en(d)} {where}"

    return Sentence(german, english)


def feeling_cold(g: Grammar, r: Draw) -> Sentence:
    """`Mir ist kalt`: the dative is the English subject."""
    who = g.choose.third(r) if r.chance(0.6) else PRONOUNS[r.pick((0, 0, 3))]
    word, translations, _ = r.pick(expressions("feeling"))
    past = r.chance(0.4)
    be = "war" if past else "ist"
    where, translated, _ = r.pick(expressions("feeling where"))

    def english(d: Draw) -> str:
        verb = (BE.past if past else BE.present)[who.english_person]
        return join(join_subject(who.en(d), verb, d), d.prefer(translations), d.prefer(translated))

    return Sentence(join(who.de(DAT), be, where, word), english)


def ache(g: Grammar, r: Draw) -> Sentence:
    """`Ihm tut der Kopf weh`: his head hurts."""
    who: Phrase = PRONOUNS[0]
    if r.chance(0.6):
        who = r.draw_where(g.choose.third, lambda who: who.person == 2)
    noun = r.pick(g.body)
    phrase = Common(noun, DEF)
    past = r.chance(0.4)
    time, translations, _ = r.pick(expressions("ache"))
    if time == "seit gestern":
        past = False
    verb = "tat" if past else "tut"
    german = join(who.de(DAT), verb, time, phrase.de(NOM), "weh")

    def english(d: Draw) -> str:
        body = f"{who.en_possessive(d)} {d.prefer(noun.english)}"
        hurt = "hurt" if past else "has been hurting" if time == "seit gestern" else d.prefer(("hurts", "is hurting"))
        return join(body, hurt, d.prefer(translations))

    return Sentence(german, english)


def costs(g: Grammar, r: Draw) -> Sentence:
    """Prices: German numbers put the unit before the ten."""
    noun = r.pick(g.priced)
    phrase = g.choose.thing(r, noun, "d", 0)
    numbers = g.lexicon.words.numbers
    if noun.classes & {"order", "paper", "buyfood"}:
        number = r.pick(numbers[:11])
    elif noun.classes & {"clothes", "book", "present"}:
        number = r.pick(numbers[13:])
    else:
        hundreds = r.pick(numbers[:8])
        number = (f"{hundreds[0]}hundert", f"{hundreds[1]} hundred")
    past = r.chance(0.35)
    verb = (_COST.past if past else _COST.present)[phrase.person]
    about, translations, _ = r.pick(expressions("price"))

    def english(d: Draw) -> str:
        cost = "cost" if past or phrase.english_person == 5 else "costs"
        return join(phrase.en(d), cost, d.prefer(translations), number[1], "euros")

    return Sentence(join(phrase.de(NOM), verb, about, number[0], "Euro"), english)


def general(g: Grammar, r: Draw) -> Sentence:
    """Abstract nouns: an article in German, none in English."""
    phrase = Common(r.pick(g.ideas), GENERIC)
    truth, translations, _ = r.pick_where(
        expressions("truth"), lambda truth: not truth.tag or phrase.noun.english[0] in truth.tag
    )
    who = r.draw_where(g.choose.third, lambda who: who.person == 2)
    thinker, verbs, _ = r.pick(expressions("thinking"))
    words = truth.split(" ")
    if words[0] == "kann":
        clause = f"man {phrase.de(ACC)} {' '.join(words[2:])} kann"
    else:
        clause = f"{phrase.de(NOM)} {' '.join([*words[1:], words[0]])}"

    def english(d: Draw) -> str:
        return f"{who.en(d)} {d.prefer(verbs)} {phrase.en(d)} {d.prefer(translations)}"

    return Sentence(f"{who.de(NOM)} {thinker} {clause}", english)
