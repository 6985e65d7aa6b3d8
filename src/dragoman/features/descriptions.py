"""What features mean, in a sentence for people: dense features by name, sparse ones by template."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["DENSE_FEATURES", "FEATURE_TEMPLATES", "describe_feature"]

_DIRECTIONS = {"bwd": "the phrase before it", "fwd": "the phrase after it"}
_ORIENTATIONS = {
    "m": "monotone: neighbours in the source, in the same order",
    "s": "swapped: neighbours in the source, in reverse order",
    "d": "discontinuous: not neighbours in the source",
    "l": "discontinuous to the left in the source",
    "r": "discontinuous to the right in the source",
    "g": "monotone beside one block of everything before or after",
}

DENSE_FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "lm": "language model: log probability of the target words and the end of the sentence",
        "lm_oov": "target words that the language model does not know",
        "p_e_f": "log probability of the target phrases or rules given their source sides",
        "p_f_e": "log probability of the source sides given the target phrases or rules",
        "lex_e_f": "log probability of the target words given the source words linked to them",
        "lex_f_e": "log probability of the source words given the target words linked to them",
        "count_log": "log of how often the rules were seen in training",
        "singleton": "rules that were seen once in training",
        "words": "target words; a greater weight makes translations longer",
        "phrases": "phrase pairs, not counting words copied through; a greater weight prefers many short phrases",
        "rules": "rules, not counting glue",
        "arity_0": "rules without nonterminals",
        "arity_1": "rules with one nonterminal",
        "arity_2": "rules with two nonterminals",
        "glue": "glue rules, which put parts side by side in the order of the source",
        "unknown": "source words that the tables do not know, copied through",
        "distortion": "minus the distance jumped between phrases, in source words",
        **{
            f"{model}_{direction}_{letter}": f"reordering: log probability of a phrase's orientation to {other}; {kind}"
            for model in ("reorder", "hrm")
            for direction, other in _DIRECTIONS.items()
            for letter, kind in _ORIENTATIONS.items()
        },
    }
)
"""By name, of both decoders."""

FEATURE_TEMPLATES: Mapping[str, str] = MappingProxyType(
    {
        "word_pair": "a linked pair of a source and a target word",
        "source_length": "phrase pairs or rules with this number of source words",
        "target_length": "phrase pairs or rules with this number of target words",
        "joint_length": "phrase pairs or rules with these numbers of source and target words",
        "target_insertion": "a target word, in most sets one without a link to the source",
        "source_deletion": "a source word without a link to the target",
        "discount": "phrase pairs or rules seen this often in training",
        "rule_id": "this phrase pair or rule",
        "rule_shape": "rules with this order of words (w) and nonterminals on both sides",
        "node_count": "rules with this label on the left-hand side",
        "rule_overlap": "nonterminals with this label",
        "word_context": "a linked word pair with the source word before (-1) or after it",
        "reorder_local": "orientation of a phrase to the block before it, with a word or class at its own edge",
        "reorder_stack": "orientation of a phrase to the block before it, with a word or class at an edge of the block",
        "reorder_gap": "orientation of a phrase to the block before it, with a source word or class between them",
        "reorder_phrase": "orientation of a phrase to the block before it, with the phrase itself",
        "structural_distortion": "nonterminals that are reordered or monotone and cover this number of words",
    }
)
"""By the part of a sparse feature's name before the colon."""


def describe_feature(name: str) -> str | None:
    """A sentence on a dense feature, a sparse one or a template; None for a name that is not the decoders'."""
    template, is_sparse, _ = name.partition(":")
    return FEATURE_TEMPLATES.get(template) or (None if is_sparse else DENSE_FEATURES.get(name))
