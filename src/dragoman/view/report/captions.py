"""What stands above tables and figures, on the page and in Markdown."""

from __future__ import annotations

__all__ = [
    "BASELINE",
    "CANDIDATES",
    "CHOICES",
    "ERRORS",
    "FLIPS",
    "FOCUS",
    "KEPT",
    "LEARNING",
    "PAIRS",
    "POSSIBLE",
    "SENTENCES",
    "SETS",
    "SIZES",
    "SPREAD",
    "TEXTS",
    "TRAINING",
    "TUNING_SETS",
    "UNITS",
    "UPDATES",
    "WEIGHTS",
]

CHOICES = (
    "By the metric tuned for, means over runs. Features: those with a weight. Held out: every sentence of the "
    "development set by weights learned from the other folds, so its difference to dev is what a new text does not "
    "gain. Oracle: about the best that a choice from the lists of the test set can have."
)
LEARNING = (
    "Scores of decoding with the weights that a round began with, by the metric tuned for; of a method that measures "
    "live, on the development set that of the pass before. Solid: test set; dashed: development set. Thin lines are "
    "single runs, thick ones their mean over the runs that have the round."
)
KEPT = (
    "of the best round; dev is decoded with its weights, unless marked as live: then it is the score of the pass that "
    "learned them, by weights that moved."
)
SETS = (
    "The tuning set and every test set decoded with the kept weights, means over runs. Gap: BLEU on the tuning set "
    "less that on the test set."
)
ERRORS = (
    "Edits of TER to the nearest reference by kind, per 100 words of the references, means over runs; TER is the sum "
    "of all but words in shifted blocks. Function words are the most frequent words of the references."
)
FOCUS = (
    "Gains in points, positive if it is better, averaged over all test sets where both were run; length is the "
    "difference of length ratios. On every test set it is compared with the best other method there, by approximate "
    "randomisation over sentences with Holm's correction for the number of others (p < 0.05)."
)
POSSIBLE = (
    "Active features of the best round, means over runs. Possible: the features that weights could be learned of, the "
    "most of any method; a method that learns from lists could learn of those of its candidates, one that decodes the "
    "development set while it learns of those of everything its sentences could be translated with, and one that "
    "follows a gradient over the training text of those of the candidates there."
)
SIZES = (
    "Scores by the number of tuning sentences, of corpora that differ in it alone; means over runs. Solid: test set; "
    "dashed: tuning set, both decoded with the kept weights."
)
SPREAD = (
    "Difference of the model scores of the hope and the worst candidate of a list, mean ± standard deviation over "
    "lists, in the units that the method learns in, and where some are relative (the bound is 1) also in those of the "
    "start, in which methods compare. The best pass learned the kept weights; runs that kept the start have none. "
    "Margin, upper and lower: share of lists in which the constraint moved the weights, over all passes; blank for "
    "methods without bounds."
)
BASELINE = (
    "Means ± standard deviations over runs; Δ: difference to the baseline in points, p: that of the comparison. Tuning "
    "and test sets are decoded with the kept weights; CPU s: of a tuning run, shared steps included."
)
TUNING_SETS = (
    "Corpora that differ in the tuning set alone: rows are tuning sets, columns test sets; means ± standard deviations "
    "over runs, each of which may draw its sets anew."
)
PAIRS = (
    "Any two of them where all have the same test set: approximate randomisation over sentences, with Holm's "
    "correction for the number of pairs."
)
TEXTS = (
    "Tokens are those of the system; of several references the first is counted. Training text with all folds; of sets "
    "that each seed draws anew those of one."
)
TRAINING = (
    "Scores by the number of training sentences learned from. Solid: test set; dashed: development set, both decoded "
    "with the weights so far; dotted: what the sentences themselves were translated to while they were learned from."
)
UPDATES = (
    "Updates of held-out line search, means over runs: lines of the gradient, sparse features with a component, mean "
    "loss of a list, the factor of the weights in the loss; then what the search gave to the sparse weights before "
    "(c₁) and to the steps (α), relative to the dense weights (times their L1 norm before the update, divided by that "
    "after the search, because MERT does not keep their scale), and the score of its lines before and after it."
)
FLIPS = (
    "Features whose component of the gradient changed its sign since the update before, by the number of lists that "
    "have them, and of the largest components; cosine of the two gradients."
)
WEIGHTS = (
    "The greatest weights of the last round, by round, for the first seed of each row. Every feature has a scale of "
    "its own. Vectors are scaled so that their dense weights without unknown have length 1: unknown words are copied "
    "whatever they cost, so their weight ranks nothing and is left out."
)
CANDIDATES = (
    "Candidates are the translations that a round learned from, means over runs: those of all rounds so far, or for a "
    "method that decodes while it learns those of its pass."
)
SENTENCES = (
    "Numbers beside a system are the chrF of the sentence; the best is marked. Sentences are those with derivations, "
    "those whose systems differ most, the worst, the longest and evenly spaced ones; first seed of each row. Model "
    "scores in derivations rank translations of one system with the same weights: those of different systems cannot be "
    "compared."
)
GROUPS = (
    "Groups of features added one after another, means over seeds, measured by what is maximised. Held out: every "
    "sentence of the development set by weights learned without it. p: approximate randomisation over sentences "
    "of the test set, of the difference to the first of each list (with Holm's correction for the number of "
    "rows), and to the row before with the same method. The row that held-out sentences chose is one comparison, named "
    "before the test set is looked at, so the sentence on top has its p-value without correction."
)
UNITS = "Relative units: factors of scores and costs, C and D; means over runs."
