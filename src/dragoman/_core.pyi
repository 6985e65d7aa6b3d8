"""The native core. One stub per bound name; tests check that none is missing."""

import enum
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

class FeatureNames:
    def __init__(self, keys: NDArray[np.uint64], offsets: NDArray[np.int64], blob: NDArray[np.uint8]) -> None: ...
    def __len__(self) -> int: ...
    keys: NDArray[np.uint64]
    offsets: NDArray[np.int64]
    blob: NDArray[np.uint8]
    def names(self, places: NDArray[np.int64]) -> list[str]: ...
    def merge(self, other: FeatureNames) -> tuple[FeatureNames, NDArray[np.int64], NDArray[np.int64]]: ...
    def take(self, places: NDArray[np.int64]) -> FeatureNames: ...

def sort_features(index: FeatureIndex, ids: NDArray[np.int32]) -> tuple[FeatureNames, NDArray[np.int64]]: ...

class FeatureIndex:
    def __init__(self, key_bits: int = 64) -> None: ...
    def __len__(self) -> int: ...
    def intern(self, name: str) -> int: ...
    def find(self, name: str) -> int: ...
    def name(self, id: int) -> str: ...
    def names(self, ids: NDArray[np.int32]) -> list[str]: ...
    def keys(self) -> NDArray[np.uint64]: ...
    def extend(self, other: FeatureIndex, ids: NDArray[np.int32] | None = None) -> NDArray[np.int32]: ...
    def find_all(self, other: FeatureIndex, ids: NDArray[np.int32]) -> NDArray[np.int32]: ...
    def extend_table(self, table: FeatureNames, places: NDArray[np.int64] | None = None) -> NDArray[np.int32]: ...
    def find_table(self, table: FeatureNames) -> NDArray[np.int32]: ...
    def intern_lines(self, block: bytes) -> NDArray[np.int32]: ...
    def lines(self, begin: int, end: int) -> bytes: ...
    def __getstate__(self) -> bytes: ...
    def __setstate__(self, lines: bytes) -> None: ...

def feature_key(name: str) -> int: ...

class NbestReader:
    def __init__(self, index: FeatureIndex, words: WordTable) -> None: ...
    def read_fields(self, block: bytes, first_line: int, id: int, text: int, features: int, total: int) -> None: ...
    def read_json(self, block: bytes, first_line: int) -> None: ...
    def n_lines(self) -> int: ...
    def names(self) -> list[tuple[list[int], int]]: ...
    def first_gap(self) -> tuple[str, int, int, int] | None: ...
    def score_names(self) -> list[str]: ...
    def take(
        self,
    ) -> tuple[
        NDArray[np.int64],
        NDArray[np.int64],
        NDArray[np.int32],
        NDArray[np.float32],
        NDArray[np.int64],
        NDArray[np.int32],
        NDArray[np.float64],
        list[NDArray[np.float64]],
    ]: ...

class NbestStyle(enum.Enum):
    MOSES = 0
    ASSIGNMENTS = 1
    TRAVATAR = 2
    JSON = 3

def format_nbest(
    sentences: NDArray[np.int64],
    rows: NDArray[np.int64],
    ids: NDArray[np.int32],
    values: NDArray[np.float32],
    token_rows: NDArray[np.int64],
    tokens: NDArray[np.int32],
    sentence_ids: NDArray[np.int32],
    totals: NDArray[np.float64],
    scores: NDArray[np.float64],
    score_names: list[str],
    dense: list[tuple[str, list[int]]],
    index: FeatureIndex,
    words: WordTable,
    style: NbestStyle,
) -> bytes: ...
def model_scores(
    sentences: NDArray[np.int64],
    rows: NDArray[np.int64],
    ids: NDArray[np.int32],
    values: NDArray[np.float32],
    weights: NDArray[np.float64],
    n_threads: int = 1,
) -> NDArray[np.float64]: ...
def best_candidates(
    sentences: NDArray[np.int64],
    rows: NDArray[np.int64],
    ids: NDArray[np.int32],
    values: NDArray[np.float32],
    weights: NDArray[np.float64],
    n_threads: int = 1,
) -> NDArray[np.int64]: ...
def distinct_candidates(
    sentences: NDArray[np.int64],
    rows: NDArray[np.int64],
    ids: NDArray[np.int32],
    values: NDArray[np.float32],
    token_rows: NDArray[np.int64],
    tokens: NDArray[np.int32],
    extra: NDArray[np.float64],
    n_threads: int = 1,
) -> NDArray[np.int64]: ...
def project_candidates(
    sentences: NDArray[np.int64],
    rows: NDArray[np.int64],
    ids: NDArray[np.int32],
    values: NDArray[np.float32],
    drop: NDArray[np.uint8],
    target_rows: NDArray[np.int64],
    targets: NDArray[np.int32],
    coefficients: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]: ...
def gather_ids(
    rows: list[NDArray[np.int64]], values: list[NDArray[np.int32]], order: NDArray[np.int64]
) -> NDArray[np.int32]: ...
def gather_values(
    rows: list[NDArray[np.int64]], values: list[NDArray[np.float32]], order: NDArray[np.int64]
) -> NDArray[np.float32]: ...

class Scorer:
    @property
    def n_stats(self) -> int: ...
    def gain(self, total: NDArray[np.float64]) -> float: ...
    def gains(self, totals: NDArray[np.float64]) -> NDArray[np.float64]: ...

def bleu_scorer(max_order: int = 4) -> Scorer: ...
def ter_scorer() -> Scorer: ...
def chrf_scorer(n_orders: int, beta: float) -> Scorer: ...
def mean_scorer() -> Scorer: ...
def mix_scorer(constant: float, weights: list[float], scorers: list[Scorer]) -> Scorer: ...

class ListLoss: ...

class ListStore:
    def __init__(self, n_features: int, memory_bytes: int, folder: str) -> None: ...
    def add(
        self,
        sentences: NDArray[np.int64],
        rows: NDArray[np.int64],
        ids: NDArray[np.int32],
        values: NDArray[np.float32],
        gains: NDArray[np.float64],
        fixed: NDArray[np.uint8],
        weights: NDArray[np.float64],
        n_threads: int = 1,
    ) -> None: ...
    def seal(self) -> None: ...
    def scale_fixed(self, scale: float) -> None: ...
    def __len__(self) -> int: ...
    def n_bytes(self) -> int: ...
    def sentences(self) -> NDArray[np.int64]: ...
    def list_counts(self) -> NDArray[np.int32]: ...
    def differing(self) -> NDArray[np.uint8]: ...
    def variances(self) -> NDArray[np.float64]: ...
    def score_variance(self, order: NDArray[np.int64], weights: NDArray[np.float64]) -> float: ...
    def scored(
        self, order: NDArray[np.int64], weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]: ...
    def loss(
        self, loss: ListLoss, order: NDArray[np.int64], weights: NDArray[np.float64], n_threads: int = 1
    ) -> float: ...

class Learner:
    def __init__(
        self,
        start: NDArray[np.float64],
        n_lists: int,
        gradient_rates: NDArray[np.float64],
        penalty_rates: NDArray[np.float64],
        step: float,
        decay: float,
        l2: float,
        adaptive: bool,
        averaged: bool,
    ) -> None: ...
    def epoch(
        self, lists: ListStore, order: NDArray[np.int64], loss: ListLoss, batch: int = 1, n_threads: int = 1
    ) -> float: ...
    def begin_step(self, n_lists: int) -> None: ...
    def begin_list_step(
        self, lists: ListStore, order: NDArray[np.int64], begin: int, end: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]: ...
    def finish_list_step(self, lists: ListStore, order: NDArray[np.int64], slopes: NDArray[np.float64]) -> None: ...
    def touch(self, ids: NDArray[np.int32]) -> None: ...
    def apply(self, ids: NDArray[np.int32], gradient: NDArray[np.float64]) -> None: ...
    def live(self) -> NDArray[np.float64]: ...
    def weights(self) -> NDArray[np.float64]: ...
    def average(self) -> NDArray[np.float64]: ...

class Surface:
    def spreads(self) -> NDArray[np.float64]: ...
    def gain(self, weights: NDArray[np.float64]) -> float: ...
    def search_feature(self, weights: NDArray[np.float64], k: int, lower: float, upper: float) -> float: ...
    def search_direction(
        self, weights: NDArray[np.float64], direction: NDArray[np.float64], lower: float, upper: float
    ) -> float: ...
    def climb(
        self,
        starts: NDArray[np.float64],
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        max_passes: int,
        n_directions: int,
        seed: int,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]: ...

def surface(
    shards: list[
        tuple[
            NDArray[np.int64],
            NDArray[np.int64],
            NDArray[np.int32],
            NDArray[np.float32],
            NDArray[np.float64],
        ]
    ],
    chosen: NDArray[np.int32],
    weights: NDArray[np.float64],
    scorer: Scorer,
    n_threads: int = 1,
) -> Surface: ...
def sample_pairs(
    sentences: NDArray[np.int64],
    sentence_ids: NDArray[np.int32],
    gains: NDArray[np.float64],
    n_draws: int,
    n_kept: int,
    threshold: float,
    logistic: bool,
    seed: int,
    round: int,
    n_threads: int = 1,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def difference_rows(
    sentences: NDArray[np.int64],
    rows: NDArray[np.int64],
    ids: NDArray[np.int32],
    values: NDArray[np.float32],
    better: NDArray[np.int64],
    worse: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]: ...
def list_loss(name: str, setting: float = 1.0) -> ListLoss: ...
def list_loss_names() -> list[str]: ...
def sweep_envelopes(
    scorer: Scorer,
    first: NDArray[np.int64],
    begins: NDArray[np.float64],
    rows: NDArray[np.int64],
    stats: NDArray[np.float64],
    scale: float,
) -> tuple[float, float]: ...
def list_gradient(
    sentences: NDArray[np.int64],
    rows: NDArray[np.int64],
    ids: NDArray[np.int32],
    values: NDArray[np.float32],
    gains: NDArray[np.float64],
    weights: NDArray[np.float64],
    loss: ListLoss,
    n_threads: int = 1,
) -> tuple[float, NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]]: ...
def fit_logistic(
    rows: NDArray[np.int64],
    ids: NDArray[np.int32],
    values: NDArray[np.float64],
    offsets: NDArray[np.float64],
    n_features: int,
    row_weight: float,
    l2: float,
    max_iterations: int,
    tolerance: float,
    n_threads: int = 1,
) -> tuple[NDArray[np.float64], float, int, bool]: ...
def oracle_candidates(
    shards: list[tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]], scorer: Scorer
) -> list[NDArray[np.int64]]: ...

_ListShard = tuple[
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.float32],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
]

class Hope(enum.Enum):
    COST_BASED = 0
    MAX_BLEU = 1
    LOCAL = 2
    MODEL = 3

class Fear(enum.Enum):
    COST_BASED = 0
    MAX_COST = 1
    PREDICTION = 2

class CandidateLists:
    def __len__(self) -> int: ...
    def vary(self, frozen: NDArray[np.uint8]) -> bool: ...
    def spread(
        self, positions: NDArray[np.int64], n_features: int
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]: ...
    def totals(
        self, positions: NDArray[np.int64], weights: NDArray[np.float64], n_threads: int = 1
    ) -> NDArray[np.float64]: ...

def candidate_lists(shards: list[_ListShard], n_stats: int) -> CandidateLists: ...

class PseudoCorpus:
    def __init__(
        self,
        scorer: Scorer,
        background: NDArray[np.float64],
        prior: NDArray[np.float64],
        length: float,
        decay: float,
    ) -> None: ...
    def gains(self, statistics: NDArray[np.float64], length: float) -> NDArray[np.float64]: ...

class MarginLearner:
    def turn_to(self, lists: CandidateLists) -> None: ...
    def visit(self, positions: NDArray[np.int64], n_threads: int = 1) -> dict[str, float]: ...
    def survey(
        self,
        positions: NDArray[np.int64],
        score_scale: float = 1.0,
        gain_scale: float = 1.0,
        n_threads: int = 1,
    ) -> dict[str, float]: ...
    def state(self) -> tuple[NDArray[np.float64], NDArray[np.float64], int, NDArray[np.float64], float]: ...
    def restore(
        self,
        weights: NDArray[np.float64],
        past: NDArray[np.float64],
        ticks: int,
        background: NDArray[np.float64],
        length: float,
    ) -> None: ...
    def weights(self) -> NDArray[np.float64]: ...
    def live_weights(self) -> NDArray[np.float64]: ...
    def average(self) -> NDArray[np.float64]: ...

def margin_learner(
    lists: CandidateLists,
    start: NDArray[np.float64],
    rates: NDArray[np.float64],
    context: PseudoCorpus | None,
    limit: float,
    bound: float,
    bound_limit: float,
    bound_by_cost: bool,
    bound_floor: float,
    bound_unit: float,
    cutting_plane: bool,
    exact: bool,
    hope: Hope,
    local_size: int,
    fear: Fear,
    hope_background: bool,
    gain_scale: float,
    max_iterations: int,
    tolerance: float,
    bound_tolerance: float,
    batch: int,
) -> MarginLearner: ...

class RampLearner:
    def fix_hopes(self, positions: NDArray[np.int64], n_threads: int = 1) -> None: ...
    def descend(self, positions: NDArray[np.int64]) -> float: ...
    def weights(self) -> NDArray[np.float64]: ...

def ramp_learner(
    lists: CandidateLists,
    start: NDArray[np.float64],
    rates: NDArray[np.float64],
    hope: Hope,
    fear: Fear,
    step: float,
    penalty: float,
) -> RampLearner: ...
def margin_loss(
    sentences: NDArray[np.int64],
    rows: NDArray[np.int64],
    ids: NDArray[np.int32],
    values: NDArray[np.float32],
    gains: NDArray[np.float64],
    weights: NDArray[np.float64],
    hope: Hope,
    fear: Fear,
    local_size: int,
    ramp: bool,
    bound: float,
    bound_weight: float,
    bound_by_cost: bool,
    bound_floor: float,
) -> tuple[float, NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]]: ...

_ForestArrays = tuple[
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.float32],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.float32],
]
_Derivations = tuple[
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int32],
]
_KBest = tuple[
    NDArray[np.int64],
    NDArray[np.float64],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.float32],
    NDArray[np.int64],
    NDArray[np.int32],
    _Derivations | None,
]
_Rows = tuple[NDArray[np.int64], NDArray[np.int32]]
_Forced = tuple[list[Forest], _KBest, _Rows, _Rows, _Rows, NDArray[np.uint8]]

class Forest:
    n_nodes: int
    n_edges: int
    n_bytes: int
    def arrays(self) -> _ForestArrays: ...
    def edge_scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def inside(self, weights: NDArray[np.float64], sum: bool) -> NDArray[np.float64]: ...
    def marginals(self, weights: NDArray[np.float64], sum: bool) -> NDArray[np.float64]: ...
    def pruned(self, weights: NDArray[np.float64], threshold: float, sum: bool) -> Forest: ...
    def expected_features(
        self, weights: NDArray[np.float64]
    ) -> tuple[float, NDArray[np.int32], NDArray[np.float64]]: ...
    def tokens(self, edges: NDArray[np.int32]) -> NDArray[np.int32]: ...
    def features(self, edges: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.float32]]: ...

def forest_of_arrays(
    nodes: NDArray[np.int32],
    rules: NDArray[np.int64],
    spans: NDArray[np.int32],
    symbol_offsets: NDArray[np.int64],
    symbols: NDArray[np.int32],
    local_offsets: NDArray[np.int64],
    local_ids: NDArray[np.int32],
    local_values: NDArray[np.float32],
    node_edges: NDArray[np.int64],
    instances: NDArray[np.int32],
    tail_offsets: NDArray[np.int64],
    tails: NDArray[np.int32],
    feature_offsets: NDArray[np.int64],
    feature_ids: NDArray[np.int32],
    feature_values: NDArray[np.float32],
) -> Forest: ...
def kbest(forests: list[Forest], weights: NDArray[np.float64], k: int, distinct: bool, n_threads: int) -> _KBest: ...
def prune_forests(
    forests: list[Forest], weights: NDArray[np.float64], density: float, n_threads: int = 1
) -> list[Forest]: ...

class Translations:
    def __init__(self) -> None: ...
    def number(
        self,
        first: NDArray[np.int64],
        forests: NDArray[np.int32],
        token_offsets: NDArray[np.int64],
        tokens: NDArray[np.int32],
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...

def forest_envelopes(
    sentences: list[list[Forest]], weights: NDArray[np.float64], direction: NDArray[np.float64], n_threads: int = 1
) -> tuple[
    NDArray[np.int64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int32],
]: ...
def forest_oracles(
    forests: list[Forest],
    ref_offsets: NDArray[np.int64],
    segment_offsets: NDArray[np.int64],
    ids: NDArray[np.int32],
    order: int,
    beam: int,
    n_threads: int = 1,
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int32]]: ...
def read_hypergraph(text: bytes, words: WordTable, features: FeatureIndex) -> Forest: ...
def write_hypergraph(forest: Forest, words: WordTable, own_words: list[bytes], features: FeatureIndex) -> bytes: ...

class PhraseBatch:
    pass_offsets: NDArray[np.int64]
    pass_through: NDArray[np.int32]
    first: NDArray[np.int64]
    begin: NDArray[np.int32]
    end: NDArray[np.int32]
    target_offsets: NDArray[np.int64]
    targets: NDArray[np.int32]
    rules: NDArray[np.int64]
    scores: NDArray[np.float32]
    orientations: NDArray[np.float32]
    feature_offsets: NDArray[np.int64]
    feature_ids: NDArray[np.int32]
    feature_values: NDArray[np.float32]
    part_offsets: NDArray[np.int64] | None
    parts: NDArray[np.int32] | None
    word_part_offsets: NDArray[np.int64] | None
    word_parts: NDArray[np.int32] | None
    part_feature_offsets: NDArray[np.int64] | None
    part_feature_ids: NDArray[np.int32] | None
    part_feature_values: NDArray[np.float32] | None
    block_targets: NDArray[np.int32] | None
    block_passed: NDArray[np.int32] | None
    block_sources: NDArray[np.int32] | None
    block_start: NDArray[np.int32] | None
    gap_words: NDArray[np.int32] | None
    own_words: tuple[str, ...]
    def __len__(self) -> int: ...
    def interned(self, index: FeatureIndex) -> PhraseBatch: ...
    @staticmethod
    def from_arrays(*, own_words: Sequence[str] = ..., **arrays: NDArray[Any]) -> PhraseBatch: ...

class PhraseDecoder:
    def __init__(
        self,
        *,
        stack_size: int,
        pop_limit: int,
        beam: float,
        option_limit: int,
        distortion_limit: int,
        lm_feature: int,
        words: int,
        phrases: int,
        unknown: int,
        distortion: int,
        scores: list[int],
        reordering: list[tuple[bool, int, list[int], list[int]]],
        lm: LmModel | None,
        lm_words: NDArray[np.int32],
    ) -> None: ...
    def decode(
        self,
        batch: PhraseBatch,
        index: FeatureIndex,
        weights: NDArray[np.float64],
        n_threads: int,
        progress: Callable[[int], None] | None,
    ) -> list[Forest]: ...
    def kbest(
        self,
        batch: PhraseBatch,
        index: FeatureIndex,
        weights: NDArray[np.float64],
        k: int,
        distinct: bool,
        n_threads: int,
        progress: Callable[[int], None] | None,
        derivations: bool,
        steady: bool,
    ) -> _KBest: ...
    def references(
        self,
        batch: PhraseBatch,
        index: FeatureIndex,
        weights: NDArray[np.float64],
        target_offsets: NDArray[np.int64],
        targets: NDArray[np.int32],
        link_offsets: NDArray[np.int64],
        links: NDArray[np.int32],
        n_threads: int,
        progress: Callable[[int], None] | None,
        *,
        holes: bool,
        max_wrong: int,
        prior_weight: float,
        hole_prior: float,
        beam: float,
        wrong_beam: float,
    ) -> dict[str, NDArray[Any]]: ...
    def force(
        self,
        batch: PhraseBatch,
        index: FeatureIndex,
        weights: NDArray[np.float64],
        sentences: NDArray[np.int64],
        target_offsets: NDArray[np.int64],
        targets: NDArray[np.int32],
        copy_offsets: NDArray[np.int64],
        copies: NDArray[np.int32],
        width: int,
        may_edit: bool,
        n_threads: int,
        progress: Callable[[int], None] | None,
    ) -> _Forced: ...

class RuleBatch:
    sentence_offsets: NDArray[np.int64]
    words: NDArray[np.int32]
    pass_through: NDArray[np.int32]
    first_pattern: NDArray[np.int64]
    symbol_offsets: NDArray[np.int64]
    symbols: NDArray[np.int32]
    first_rule: NDArray[np.int64]
    lhs: NDArray[np.int32]
    target_offsets: NDArray[np.int64]
    targets: NDArray[np.int32]
    rules: NDArray[np.int64]
    scores: NDArray[np.float32]
    feature_offsets: NDArray[np.int64]
    feature_ids: NDArray[np.int32]
    feature_values: NDArray[np.float32]
    context_first_place: NDArray[np.int64] | None
    context_symbols: NDArray[np.int32] | None
    context_positions: NDArray[np.int32] | None
    context_first_row: NDArray[np.int64] | None
    context_feature_offsets: NDArray[np.int64] | None
    context_feature_ids: NDArray[np.int32] | None
    context_feature_values: NDArray[np.float32] | None
    gap_first_class: NDArray[np.int64] | None
    gap_classes: NDArray[np.int32] | None
    gap_feature_offsets: NDArray[np.int64] | None
    gap_feature_ids: NDArray[np.int32] | None
    gap_feature_values: NDArray[np.float32] | None
    gap_max_length: int
    labels: tuple[str, ...]
    own_words: tuple[str, ...]
    def __len__(self) -> int: ...
    def interned(self, index: FeatureIndex) -> RuleBatch: ...
    @staticmethod
    def from_arrays(
        *, labels: Sequence[str], gap_max_length: int = ..., own_words: Sequence[str] = ..., **arrays: NDArray[Any]
    ) -> RuleBatch: ...

class ChartDecoder:
    def __init__(
        self,
        *,
        pop_limit: int,
        beam: float,
        rule_limit: int,
        max_span: int,
        lm_feature: int,
        lm_oov: int,
        words: int,
        rules: int,
        glue: int,
        unknown: int,
        arities: list[int],
        scores: list[int],
        lm: LmModel | None,
        lm_words: NDArray[np.int32],
    ) -> None: ...
    def decode(
        self,
        batch: RuleBatch,
        index: FeatureIndex,
        weights: NDArray[np.float64],
        n_threads: int,
        progress: Callable[[int], None] | None,
        *,
        goal: int,
        glue: list[int],
        unknown: list[int],
    ) -> list[Forest]: ...
    def references(
        self,
        batch: RuleBatch,
        minimal: RuleBatch | None,
        index: FeatureIndex,
        weights: NDArray[np.float64],
        target_offsets: NDArray[np.int64],
        targets: NDArray[np.int32],
        link_offsets: NDArray[np.int64],
        links: NDArray[np.int32],
        n_threads: int,
        progress: Callable[[int], None] | None,
        *,
        tight: bool,
        holes: bool,
        wide: bool,
        max_wrong: int,
        prior_column: int,
        prior_weight: float,
        hole_prior: float,
        beam: float,
        wrong_beam: float,
        goal: int,
        glue: list[int],
        unknown: list[int],
    ) -> dict[str, NDArray[Any]]: ...
    def kbest(
        self,
        batch: RuleBatch,
        index: FeatureIndex,
        weights: NDArray[np.float64],
        k: int,
        distinct: bool,
        n_threads: int,
        progress: Callable[[int], None] | None,
        derivations: bool,
        steady: bool,
        *,
        goal: int,
        glue: list[int],
        unknown: list[int],
    ) -> _KBest: ...
    def force(
        self,
        batch: RuleBatch,
        index: FeatureIndex,
        weights: NDArray[np.float64],
        sentences: NDArray[np.int64],
        target_offsets: NDArray[np.int64],
        targets: NDArray[np.int32],
        copy_offsets: NDArray[np.int64],
        copies: NDArray[np.int32],
        width: int,
        may_edit: bool,
        n_threads: int,
        progress: Callable[[int], None] | None,
        *,
        goal: int,
        glue: list[int],
        unknown: list[int],
    ) -> _Forced: ...

class DerivationBatch:
    def __init__(
        self,
        *,
        sentence_offsets: NDArray[np.int64],
        words: NDArray[np.int32],
        folds: NDArray[np.int16],
        first_candidate: NDArray[np.int64],
        first_application: NDArray[np.int64],
        rules: NDArray[np.int64],
        begins: NDArray[np.int32],
        ends: NDArray[np.int32],
        rows: NDArray[np.int64],
        applications: NDArray[np.int32],
    ) -> None: ...

class DerivationFeatures:
    def __init__(
        self,
        grammar: GrammarTables,
        source: WordTable,
        target: WordTable,
        source_counts: NDArray[np.int64],
        target_counts: NDArray[np.int64],
        templates: list[tuple[str, list[int]]],
        labels: list[str],
        *,
        source_classes: NDArray[np.int32],
        target_classes: NDArray[np.int32],
        class_sizes: list[int],
    ) -> None: ...
    def intern(self, batch: DerivationBatch, index: FeatureIndex, blocks: Blocks | None, n_threads: int) -> None: ...
    def features(
        self,
        batch: DerivationBatch,
        dense_ids: NDArray[np.int32],
        dense: NDArray[np.float32],
        index: FeatureIndex,
        grow: bool,
        blocks: Blocks | None,
        n_threads: int,
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]: ...
    def steps(
        self, batch: DerivationBatch, index: FeatureIndex, grow: bool, blocks: Blocks | None
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]: ...
    def tokens(
        self, batch: DerivationBatch, passed: NDArray[np.int32], n_threads: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...

class WordTable:
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def intern(self, word: bytes) -> int: ...
    def find(self, word: bytes) -> int: ...
    def word(self, id: int) -> bytes: ...
    def blob(self) -> bytes: ...
    def offsets(self) -> NDArray[np.int64]: ...
    def encode_growing(self, block: bytes, first_line: int = 1) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
    def encode(
        self, block: bytes, unknown: int, first_line: int = 1
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
    def __getstate__(self) -> tuple[bytes, NDArray[np.int64]]: ...
    def __setstate__(self, state: tuple[bytes, NDArray[np.int64]]) -> None: ...

def checksum(data: NDArray[np.uint8]) -> int: ...
def word_table(blob: bytes, offsets: NDArray[np.int64]) -> WordTable: ...
def assign_folds(
    table: WordTable, offsets: NDArray[np.int64], ids: NDArray[np.int32], n_folds: int, seed: int
) -> NDArray[np.uint8]: ...
def escape_word(word: bytes) -> bytes: ...
def unescape_word(word: bytes) -> bytes: ...

class WordBigrams:
    @property
    def n_words(self) -> int: ...
    @property
    def n_sentences(self) -> int: ...
    def counts(self) -> NDArray[np.int64]: ...
    def cluster(
        self, sizes: Sequence[int], max_sweeps: int, n_threads: int, progress: Callable[[int], None] | None = None
    ) -> list[tuple[NDArray[np.int32], float, float, int, bool]]: ...

def word_bigrams(offsets: NDArray[np.int64], ids: NDArray[np.int32], n_ids: int) -> WordBigrams: ...

class WordExchange:
    def __init__(self, bigrams: WordBigrams, n_classes: int, classes: NDArray[np.int32]) -> None: ...
    def likelihood(self) -> float: ...
    def gains(self, id: int) -> NDArray[np.float64]: ...
    def move(self, id: int, to: int) -> None: ...
    def sweep(self) -> int: ...
    def classes(self) -> NDArray[np.int32]: ...

class Ibm2Model:
    @property
    def tension(self) -> float: ...
    def row_offsets(self) -> NDArray[np.int64]: ...
    def targets(self) -> NDArray[np.int32]: ...
    def probs(self) -> NDArray[np.float32]: ...
    def null_probs(self) -> NDArray[np.float32]: ...
    def align(
        self,
        source_offsets: NDArray[np.int64],
        source_ids: NDArray[np.int32],
        target_offsets: NDArray[np.int64],
        target_ids: NDArray[np.int32],
        n_threads: int,
    ) -> NDArray[np.int32]: ...

def train_ibm2(
    source_offsets: NDArray[np.int64],
    source_ids: NDArray[np.int32],
    target_offsets: NDArray[np.int64],
    target_ids: NDArray[np.int32],
    n_iterations: int,
    null_prob: float,
    tension: float,
    fit_tension: bool,
    alpha: float,
    max_length: int,
    n_threads: int,
    keep_model: bool,
    progress: Callable[[int], None] | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.float64], Ibm2Model | None]: ...
def links_of(
    offsets: NDArray[np.int64], assignment: NDArray[np.int32], by_source: bool
) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
def minimal_trees(
    source_lengths: NDArray[np.int32],
    target_lengths: NDArray[np.int32],
    offsets: NDArray[np.int64],
    links: NDArray[np.int32],
    n_threads: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.uint8]]: ...
def symmetrize_links(
    first_offsets: NDArray[np.int64],
    first_links: NDArray[np.int32],
    second_offsets: NDArray[np.int64],
    second_links: NDArray[np.int32],
    heuristic: str,
    n_threads: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
def overlap_of_links(
    first_offsets: NDArray[np.int64],
    first_links: NDArray[np.int32],
    second_offsets: NDArray[np.int64],
    second_links: NDArray[np.int32],
    n_threads: int,
) -> tuple[int, int, int]: ...
def parse_pharaoh(block: bytes, first_line: int = 1) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
def format_pharaoh(offsets: NDArray[np.int64], links: NDArray[np.int32], begin: int, end: int) -> bytes: ...

class ReferenceLength(enum.Enum):
    CLOSEST = 0
    SHORTEST = 1
    AVERAGE = 2

def expected_bleu(
    offsets: NDArray[np.int64],
    ids: NDArray[np.int32],
    lists: NDArray[np.int64],
    mass: NDArray[np.float64],
    order: int,
    n_threads: int,
) -> NDArray[np.float64]: ...
def expected_chrf(
    offsets: NDArray[np.int64],
    ids: NDArray[np.int32],
    lists: NDArray[np.int64],
    mass: NDArray[np.float64],
    character_offsets: NDArray[np.int64],
    characters: NDArray[np.int32],
    piece_offsets: NDArray[np.int64],
    pieces: NDArray[np.int32],
    char_order: int,
    word_order: int,
    beta: float,
    n_threads: int,
) -> NDArray[np.float64]: ...
def expected_ter(
    offsets: NDArray[np.int64],
    ids: NDArray[np.int32],
    lists: NDArray[np.int64],
    mass: NDArray[np.float64],
    n_threads: int,
) -> NDArray[np.float64]: ...
def expected_wer(
    offsets: NDArray[np.int64],
    ids: NDArray[np.int32],
    lists: NDArray[np.int64],
    mass: NDArray[np.float64],
    n_threads: int,
) -> NDArray[np.float64]: ...
def expected_ribes(
    offsets: NDArray[np.int64],
    ids: NDArray[np.int32],
    lists: NDArray[np.int64],
    mass: NDArray[np.float64],
    precision: float,
    brevity: float,
    n_threads: int,
) -> NDArray[np.float64]: ...
def expected_matches(
    offsets: NDArray[np.int64],
    ids: NDArray[np.int32],
    lists: NDArray[np.int64],
    mass: NDArray[np.float64],
    order: int,
    n_threads: int,
) -> NDArray[np.float64]: ...
def bleu_statistics(
    offsets: NDArray[np.int64],
    ids: NDArray[np.int32],
    sentence: NDArray[np.int32],
    ref_offsets: NDArray[np.int64],
    ref_word_offsets: NDArray[np.int64],
    ref_ids: NDArray[np.int32],
    order: int,
    length: ReferenceLength,
    n_threads: int,
) -> NDArray[np.float64]: ...
def chrf_statistics(
    offsets: NDArray[np.int64],
    ids: NDArray[np.int32],
    sentence: NDArray[np.int32],
    ref_offsets: NDArray[np.int64],
    ref_word_offsets: NDArray[np.int64],
    ref_ids: NDArray[np.int32],
    character_offsets: NDArray[np.int64],
    characters: NDArray[np.int32],
    piece_offsets: NDArray[np.int64],
    pieces: NDArray[np.int32],
    char_order: int,
    word_order: int,
    beta: float,
    n_threads: int,
) -> NDArray[np.float64]: ...
def ter_statistics(
    offsets: NDArray[np.int64],
    ids: NDArray[np.int32],
    sentence: NDArray[np.int32],
    ref_offsets: NDArray[np.int64],
    ref_word_offsets: NDArray[np.int64],
    ref_ids: NDArray[np.int32],
    n_threads: int,
) -> NDArray[np.float64]: ...
def wer_statistics(
    offsets: NDArray[np.int64],
    ids: NDArray[np.int32],
    sentence: NDArray[np.int32],
    ref_offsets: NDArray[np.int64],
    ref_word_offsets: NDArray[np.int64],
    ref_ids: NDArray[np.int32],
    n_threads: int,
) -> NDArray[np.float64]: ...
def ribes_scores(
    offsets: NDArray[np.int64],
    ids: NDArray[np.int32],
    sentence: NDArray[np.int32],
    ref_offsets: NDArray[np.int64],
    ref_word_offsets: NDArray[np.int64],
    ref_ids: NDArray[np.int32],
    precision: float,
    brevity: float,
    n_threads: int,
) -> NDArray[np.float64]: ...
def ter_edits(
    offsets: NDArray[np.int64],
    ids: NDArray[np.int32],
    sentence: NDArray[np.int32],
    ref_offsets: NDArray[np.int64],
    ref_word_offsets: NDArray[np.int64],
    ref_ids: NDArray[np.int32],
    n_threads: int,
) -> tuple[
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
]: ...

class LmModel:
    order: int
    n_ngrams: list[int]
    words: WordTable
    def score_text(
        self,
        block: bytes,
        first_line: int,
        bos: bool,
        eos: bool,
        n_threads: int,
        progress: Callable[[int], None] | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]: ...
    def score_ids(
        self,
        offsets: NDArray[np.int64],
        ids: NDArray[np.int32],
        bos: bool,
        eos: bool,
        n_threads: int,
        progress: Callable[[int], None] | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]: ...
    def score_sentence(self, ids: NDArray[np.int32], bos: bool, eos: bool) -> float: ...
    def ids_of(self, words: WordTable) -> NDArray[np.int32]: ...
    def full_scores(
        self, ids: NDArray[np.int32], bos: bool, eos: bool
    ) -> tuple[NDArray[np.float32], NDArray[np.int32]]: ...
    def file_pieces(self) -> list[memoryview]: ...

class LmPiece:
    score: float

class ArpaReader:
    def __init__(self) -> None: ...
    def feed(self, block: bytes) -> None: ...
    def finish(self) -> LmModel: ...

class ArpaWriter:
    def __init__(self, model: LmModel) -> None: ...
    def next_block(self) -> bytes: ...

class LmText:
    n_sentences: int
    n_tokens: int
    def __init__(self) -> None: ...
    def add(
        self,
        offsets: NDArray[np.int64],
        ids: NDArray[np.int32],
        n_words: int,
        marks: NDArray[np.uint8] | None = None,
        excluded: int = -1,
    ) -> None: ...

def load_lm(descriptor: int, verify: bool) -> LmModel: ...
def join_pieces(model: LmModel, items: list[int | LmPiece], begins_sentence: bool) -> LmPiece: ...
def estimate_lm(
    text: LmText,
    words: WordTable,
    order: int,
    prune: list[int],
    fallback: tuple[float, float, float] | None,
    progress: Callable[[int], None] | None = None,
) -> tuple[LmModel, list[tuple[float, float, float]], list[int]]: ...

class PhraseSmoothing(enum.Enum):
    NONE = 0
    KNESER_NEY = 1

class ReorderingModel(enum.Enum):
    WORD = 0
    PHRASE = 1
    HIERARCHICAL = 2

class GrammarTables:
    def n_pairs(self) -> int: ...
    def n_sources(self) -> int: ...
    def find_source(self, symbols: NDArray[np.int32]) -> int: ...
    def find_pair(self, source: NDArray[np.int32], target: NDArray[np.int32]) -> int: ...
    def sides(self, pair: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
    def word_counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...

_Options: TypeAlias = tuple[
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.float32],
    NDArray[np.float32],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.uint8],
]

class PhraseView:
    def n_reordering(self) -> int: ...
    def knows_source(self, word: int) -> bool: ...
    def knows_target(self, word: int) -> bool: ...
    def options(self, sentence: NDArray[np.int32]) -> _Options: ...
    def lookup(self, source: int) -> _Options: ...
    def pair(self, pair: int) -> _Options: ...

_Rules: TypeAlias = tuple[
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.uint8],
    NDArray[np.int64],
    NDArray[np.float64],
    NDArray[np.float32],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.uint8],
]

class RuleView:
    def n_scores(self) -> int: ...
    def knows_source(self, word: int) -> bool: ...
    def knows_target(self, word: int) -> bool: ...
    def lookup(self, source: int) -> _Rules: ...
    def rule(self, rule: int) -> _Rules: ...

class Blocks:
    def __init__(self, blocks: list[tuple[int, FeatureNames, NDArray[np.float64]]], rest: bool) -> None: ...
    def __len__(self) -> int: ...
    def covers(self, name: str) -> bool: ...

class RuleBuilder:
    def __init__(
        self,
        view: RuleView,
        source: WordTable,
        target: WordTable,
        source_counts: NDArray[np.int64],
        target_counts: NDArray[np.int64],
        templates: list[tuple[str, list[int]]],
        *,
        labels: list[str],
        score_columns: list[int],
        max_span: int,
        max_gap: int,
    ) -> None: ...
    def draft(
        self,
        offsets: NDArray[np.int64],
        ids: NDArray[np.int32],
        n_threads: int,
        progress: Callable[[int], None] | None,
    ) -> RuleDraft: ...
    def draft_pairs(
        self,
        offsets: NDArray[np.int64],
        ids: NDArray[np.int32],
        target_offsets: NDArray[np.int64],
        target_ids: NDArray[np.int32],
        link_offsets: NDArray[np.int64],
        links: NDArray[np.int32],
        wide: bool,
        n_threads: int,
        progress: Callable[[int], None] | None,
    ) -> RuleDraft: ...
    def draft_minimal(
        self,
        offsets: NDArray[np.int64],
        ids: NDArray[np.int32],
        target_offsets: NDArray[np.int64],
        target_ids: NDArray[np.int32],
        link_offsets: NDArray[np.int64],
        links: NDArray[np.int32],
        n_threads: int,
    ) -> RuleDraft: ...

class RuleDraft:
    places: NDArray[np.int64]
    def finish(
        self,
        ids: NDArray[np.int32],
        own_words: Sequence[str],
        index: FeatureIndex,
        keep_new: bool,
        blocks: Blocks | None,
    ) -> RuleBatch: ...

class RuleTable:
    def __init__(self, goal: str) -> None: ...
    def __len__(self) -> int: ...
    def labels(self) -> list[str]: ...
    def score_names(self) -> list[str]: ...
    def glued(self) -> list[str]: ...
    def add_hiero(self, block: bytes, first_line: int, source: WordTable, target: WordTable) -> None: ...
    def add_moses(self, block: bytes, first_line: int, source: WordTable, target: WordTable) -> None: ...
    def write(
        self, folder: str, n_source_words: int, n_target_words: int, max_memory_bytes: int, n_threads: int
    ) -> dict[str, int]: ...
    def place(self, grammar: GrammarTables) -> NDArray[np.float32]: ...

def template_kinds() -> list[tuple[str, str, list[tuple[str, int, int, int, list[str]]], bool, bool]]: ...

class OptionBuilder:
    def __init__(
        self,
        view: PhraseView,
        source: WordTable,
        target: WordTable,
        source_counts: NDArray[np.int64],
        target_counts: NDArray[np.int64],
        templates: list[tuple[str, list[int]]],
        *,
        source_classes: NDArray[np.int32],
        target_classes: NDArray[np.int32],
        class_sizes: list[int],
    ) -> None: ...
    def draft(
        self,
        offsets: NDArray[np.int64],
        ids: NDArray[np.int32],
        n_threads: int,
        progress: Callable[[int], None] | None,
    ) -> PhraseDraft: ...

class PhraseDraft:
    places: NDArray[np.int64]
    def finish(
        self,
        ids: NDArray[np.int32],
        own_words: Sequence[str],
        index: FeatureIndex,
        keep_new: bool,
        blocks: Blocks | None,
    ) -> PhraseBatch: ...

class MosesTable:
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def n_reordering(self) -> int: ...
    def add_phrases(self, block: bytes, first_line: int, source: WordTable, target: WordTable) -> None: ...
    def add_reordering(self, block: bytes, first_line: int, source: WordTable, target: WordTable) -> None: ...
    def write(
        self, folder: str, n_source_words: int, n_target_words: int, max_memory_bytes: int, n_threads: int
    ) -> dict[str, int]: ...
    def place(self, grammar: GrammarTables) -> tuple[NDArray[np.float32], NDArray[np.float32]]: ...

def extract_phrases(
    source_offsets: NDArray[np.int64],
    source_ids: NDArray[np.int32],
    target_offsets: NDArray[np.int64],
    target_ids: NDArray[np.int32],
    folds: NDArray[np.uint8],
    link_offsets: NDArray[np.int64],
    links: NDArray[np.int32],
    n_source_words: int,
    n_target_words: int,
    folder: str,
    max_length: int,
    max_sentence_length: int,
    max_memory_bytes: int,
    n_threads: int,
    progress: Callable[[int], None] | None = None,
) -> dict[str, int]: ...
def map_grammar(
    arrays: dict[str, NDArray[Any]],
    n_given_reordering: int,
    n_given_scores: int,
    is_rules: bool,
    min_count: int = 1,
    cut_composed: bool = False,
    has_added: bool = False,
) -> GrammarTables: ...
def extract_rules(
    source_offsets: NDArray[np.int64],
    source_ids: NDArray[np.int32],
    target_offsets: NDArray[np.int64],
    target_ids: NDArray[np.int32],
    folds: NDArray[np.uint8],
    link_offsets: NDArray[np.int64],
    links: NDArray[np.int32],
    n_source_words: int,
    n_target_words: int,
    folder: str,
    max_length: int,
    tight: bool,
    max_gaps: int,
    max_symbols: int,
    adjacent: bool,
    aligned: bool,
    min_source_gap: int,
    min_target_gap: int,
    fractional: bool,
    min_count: int,
    cut_composed: bool,
    added: bool,
    max_added: float,
    max_sentence_length: int,
    max_memory_bytes: int,
    n_threads: int,
    progress: Callable[[int], None] | None = None,
) -> dict[str, int]: ...
def minimal_rules(
    grammar: GrammarTables,
    source_offsets: NDArray[np.int64],
    source_ids: NDArray[np.int32],
    target_offsets: NDArray[np.int64],
    target_ids: NDArray[np.int32],
    link_offsets: NDArray[np.int64],
    links: NDArray[np.int32],
    n_threads: int,
) -> NDArray[np.int64]: ...
def hiero_view(
    grammar: GrammarTables, excluded_fold: int, max_targets: int, min_count: int, rank_column: int, added: bool
) -> RuleView: ...
def grammar_view(
    grammar: GrammarTables,
    excluded_fold: int,
    max_targets: int,
    min_count: int,
    smoothing: PhraseSmoothing,
    reordering: list[tuple[ReorderingModel, int]],
    reordering_smoothing: float,
    n_threads: int,
) -> PhraseView: ...
def format_rules(
    view: RuleView,
    labels: list[str],
    scores: list[str],
    source: WordTable,
    target: WordTable,
    begin: int,
    end: int,
    bare: bool,
) -> bytes: ...
def format_moses(
    grammar: GrammarTables, view: PhraseView, source: WordTable, target: WordTable, begin: int, end: int
) -> tuple[bytes, bytes]: ...

class GreedyDerivations:
    def __init__(self) -> None: ...
    def counts(self) -> tuple[int, int, int, int, int]: ...

class ReferenceModel:
    def __init__(
        self,
        loss: str,
        *,
        prior_weight: float = 1.0,
        cost_scale: float = 1.0,
        by_rule: bool = False,
        bound: float = 1.0,
    ) -> None: ...

class ReferenceStore:
    def __init__(self, n_features: int) -> None: ...
    def add(self, arrays: dict[str, NDArray[Any]], ids: NDArray[np.int32]) -> None: ...
    def __len__(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_edges(self) -> int: ...
    def n_bytes(self) -> int: ...
    def places(self) -> NDArray[np.int64]: ...
    def mean_squares(self, ids: NDArray[np.int32]) -> NDArray[np.float64]: ...
    def counts(self) -> NDArray[np.int32]: ...
    def value(
        self, model: ReferenceModel, order: NDArray[np.int64], weights: NDArray[np.float64], n_threads: int = 1
    ) -> tuple[float, float]: ...
    def gradient(
        self, model: ReferenceModel, sentence: int, weights: NDArray[np.float64]
    ) -> tuple[float, NDArray[np.int32], NDArray[np.float64]]: ...
    def shares(self, model: ReferenceModel, sentence: int, weights: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def weigh_references(self, model: ReferenceModel, weights: NDArray[np.float64], n_threads: int = 1) -> None: ...
    def epoch(
        self,
        learner: Learner,
        model: ReferenceModel,
        order: NDArray[np.int64],
        batch: int = 1,
        n_threads: int = 1,
        greedy: GreedyDerivations | None = None,
    ) -> float: ...
    def greedy_gradient(
        self,
        model: ReferenceModel,
        sentence: int,
        weights: NDArray[np.float64],
        derivation: NDArray[np.int32],
    ) -> tuple[float, NDArray[np.int32], NDArray[np.float64], NDArray[np.int32], int]: ...
