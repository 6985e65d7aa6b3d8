"""The bodies of the API's requests."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from dragoman.errors import InputError
from dragoman.system import Preset
from dragoman.view.serve.explorer import Round, Search
from dragoman.view.serve.limits import check_unicode

__all__ = [
    "ExplainRequest",
    "ForceRequest",
    "ForestRequest",
    "LookupRequest",
    "Refusal",
    "ScoreRequest",
    "SearchRequest",
    "TranslateRequest",
]

Number = Annotated[float, Field(allow_inf_nan=False)]
Place = Annotated[int, Field(ge=0)]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _is_text(cls, data: Any) -> Any:
        try:
            check_unicode(data)
        except InputError as error:
            raise ValueError(str(error)) from error
        return data


class Refusal(BaseModel):
    """The answer to a request that is not fulfilled."""

    error: str = Field(description="What is wrong, and what to do.")


class TranslateRequest(_Request):
    """A text to translate, line by line."""

    text: str = Field(description="Source text as the system takes it, raw or tokenised; lines stay lines.")
    systems: list[str] | None = Field(None, max_length=16, description="Names of systems; all unless given.")
    effort: Preset = Field(Preset.DEFAULT, description="Search effort.")


class RoundName(_Request):
    """A round of the recorded run."""

    tuning: str
    number: Place


class SearchRequest(_Request):
    """A sentence of a text by one system, with its weights or others."""

    system: str = Field(description="Name of a system, as /api/about lists them.")
    text: str = Field(description="Source text as the system takes it, raw or tokenised.")
    sentence: Place = Field(0, description="Which sentence of the text, from 0.")
    effort: Preset = Field(Preset.DEFAULT, description="Search effort.")
    round: RoundName | None = Field(
        None, description='Decode with the weights of a round of the run: {"tuning": "…", "number": 1}.'
    )
    weights: dict[str, Number] = Field({}, max_length=200, description="Changed weights by feature.")

    def search(self) -> Search:
        return Search(
            system=self.system,
            text=self.text,
            sentence=self.sentence,
            preset=self.effort,
            round=None if self.round is None else Round(tuning=self.round.tuning, number=self.round.number),
            weights=self.weights,
        )


class ExplainRequest(SearchRequest):
    """The k best translations of a sentence, and the derivation of one."""

    k: int = Field(20, ge=1, description="Number of distinct translations.")
    candidate: Place = Field(0, description="Which of them is explained.")
    reference: str = Field("", description="A reference translation, by which candidates are scored.")


class ForestRequest(SearchRequest):
    """The search space of a sentence, for drawing."""

    threshold: float = Field(0.01, ge=0, le=1, description="Smallest posterior of an edge.")
    scale: float = Field(1.0, gt=0, le=1000, description="Factor of scores: p ∝ exp(scale · score).")
    edges: int = Field(150, ge=1, le=1000, description="Edges at most.")


class ForceRequest(SearchRequest):
    """A translation that the system is asked to derive."""

    target: str = Field(description="The translation wanted.")


class LookupRequest(_Request):
    """A phrase to look up in a system's tables."""

    system: str = Field(description="Name of a system.")
    phrase: str = Field(description="Words of the source, raw or tokens; [X,1] for a gap of a rule.")
    targets: int = Field(10, ge=1, le=100, description="Translations.")
    sentences: int = Field(3, ge=0, le=20, description="Training sentences of each.")


class ScoreRequest(_Request):
    """Translations and a reference, as text of a system."""

    system: str = Field(description="Name of the system whose text they are.")
    hypotheses: list[str] = Field(min_length=1, max_length=200, description="Translations, 200 at most.")
    reference: str = Field(description="The translation to compare them with.")
