"""What weights learned from forests around references are worth on lines that neither they nor theta have seen.

    python bench/phi_unseen.py SYSTEM theta.tsv --features 'word_context(top=0)' --limit 4000 --lines 1500 \
        --set objective=expected-gain,contest=rules,dense=fixed --set dense=fixed

Learns phi from the training text but for its first fold, decodes lines of that fold by the tables of the others with
the weights theta, and chooses from these lists by theta + lambda phi: BLEU by lambda, each with the bonus for words (of
nine) that is best there; the same with lambda and bonus chosen on every other line and measured on the rest, in turn;
the mean correlation of phi with sentence BLEU within lists; the heaviest weights. The same with phi centred, by how
often features are in the lists and by how often in the forests (`--set centred=true`): it no longer says which source
sides to use. And, as a control, with the weights of phi permuted.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dragoman import System, _core
from dragoman.candidates import with_metric
from dragoman.features import FeatureIndex, FeatureTable, Weights, read_weights
from dragoman.metric import by_name
from dragoman.optim import FastForest, fit_scale, make_optimiser
from dragoman.optim.centring import centred, source_groups
from dragoman.search import ReferenceConfig
from dragoman.settings import parse_value
from dragoman.system import Preset
from dragoman.system.references import FoldReferences, LineForests

LAMBDAS = (0.0, 0.25, 0.5, 1.0, 1.5)
BONUSES = np.linspace(-0.2, 0.2, 9)
FOLD, N_PART, N_SCALE_LINES, N_SHOWN = 0, 1024, 500, 15


def forests(
    system: System, theta: Weights, lines: np.ndarray, method: FastForest, beams: tuple[float, float]
) -> tuple[_core.ReferenceStore, FeatureIndex, np.ndarray, float]:
    """A store of forests at the fitted scale, its index, the folds of its sentences, and the scale."""
    references, table = FoldReferences(system), FeatureTable.from_weights(theta, "weight")
    config = ReferenceConfig(max_wrong=method.max_wrong, prior=method.prior, wide=method.wide)
    index = FeatureIndex()

    def store_of(parts: Sequence[LineForests]) -> _core.ReferenceStore:
        ids = [index.extend_table(part.features.features, None) for part in parts]
        store = _core.ReferenceStore(len(index))
        for part, own in zip(parts, ids, strict=True):
            store.add(part.forests.arrays(), own)
        return store

    for name in system.translator.dense():
        index.intern(name)
    sample = store_of([references.parse(system.training.evenly(N_SCALE_LINES, lines), table, config)])
    scale = method.scale or fit_scale(method, sample, theta.values_on(index))
    scaled = table.with_columns({"weight": np.asarray(table.columns["weight"] * scale, np.float64)})
    config = replace(config, beam=beams[0], wrong_beam=beams[1])
    parts = [references.parse(lines[i : i + N_PART], scaled, config) for i in range(0, len(lines), N_PART)]
    store = store_of(parts)
    return store, index, system.training.folds[np.concatenate([part.lines for part in parts])[store.places()]], scale


class Lists:
    """k-best lists of lines of the fold that nothing was learned from."""

    def __init__(self, system: System, theta: Weights, n_lines: int, k: int) -> None:
        training = system.training
        lines = np.flatnonzero(training.folds == FOLD)
        lines = lines[np.linspace(0, len(lines) - 1, min(n_lines, len(lines))).astype(int)]
        view = system.view_on(FeatureIndex(), FOLD)
        sources = [training.source(int(line)) for line in lines]
        found = view.kbest(
            sources, k, weights=Weights.from_dict(dict(theta.items())), distinct=True, preset=Preset.FAST
        )
        self.metric = by_name("bleu")
        pool = with_metric(found, self.metric, [[training.target(int(line))] for line in lines]).in_memory()
        self._shard, self.index, self.at = pool.shards[0], pool.index, pool.shards[0].sentences
        self.names = self.index.names(np.arange(len(self.index), dtype=np.int32))
        dense = set(system.translator.dense())
        self.base = self.scores(np.array([theta[name] if name in dense else 0.0 for name in self.names]))
        self.words = self.scores(np.array([float(name == "words") for name in self.names]))
        self.gains = self.metric.segment_gains(self._shard.stats)
        self.is_even = np.arange(len(self.at) - 1) % 2 == 0

    def scores(self, values: np.ndarray) -> np.ndarray:
        shard = self._shard
        rows = np.repeat(np.arange(shard.n_candidates), np.diff(shard.feature_rows))
        return np.bincount(rows, values[shard.feature_ids] * shard.feature_values, shard.n_candidates)

    def choose(self, scores: np.ndarray) -> np.ndarray:
        return np.array([a + int(scores[a:b].argmax()) for a, b in zip(self.at[:-1], self.at[1:], strict=True)])

    def bleu(self, chosen: np.ndarray) -> float:
        return 100 * float(self.metric.score_of(self._shard.stats[chosen].sum(0)))

    def correlation(self, scores: np.ndarray) -> float:
        found = []
        for a, b in zip(self.at[:-1], self.at[1:], strict=True):
            x, y = scores[a:b], self.gains[a:b]
            if b - a >= 5 and y.std() > 0:
                found.append(np.corrcoef(x, y)[0, 1] if x.std() > 1e-9 else 0.0)
        return float(np.mean(found))

    def report(self, label: str, phi: np.ndarray) -> None:
        own = self.scores(phi)
        chosen = {
            (factor, bonus): self.choose(self.base + factor * own + bonus * self.words)
            for factor in LAMBDAS
            for bonus in BONUSES
        }
        best = [max(self.bleu(chosen[factor, bonus]) for bonus in BONUSES) for factor in LAMBDAS]
        row = " ".join(f"{factor:g}: {value:.2f}" for factor, value in zip(LAMBDAS, best, strict=True))
        crossed = []
        for keys in ([key for key in chosen if key[0] == 0], list(chosen)):
            parts = []
            for half in (self.is_even, ~self.is_even):
                key = max(keys, key=lambda key: self.bleu(chosen[key][half]))
                parts.append(chosen[key][~half])
            crossed.append(self.bleu(np.concatenate(parts)))
        print(
            f"{label}: correlation {self.correlation(own):+.3f}; by lambda {row}; crossed {crossed[0]:.2f} without, "
            f"{crossed[1]:.2f} with phi"
        )

    def counts(self) -> np.ndarray:
        """How many candidates have each feature."""
        return np.bincount(self._shard.feature_ids, minlength=len(self.names)).astype(float)

    def heaviest(self, phi: np.ndarray) -> list[tuple[str, float]]:
        order = np.argsort(-np.abs(phi) * np.sqrt(self.counts()))[:N_SHOWN]
        return [(self.names[i], float(phi[i])) for i in order]


def _settings(text: str) -> dict[str, object]:
    pairs = (pair.split("=", 1) for pair in text.split(",") if pair)
    return {name: parse_value(value) for name, value in pairs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("system")
    parser.add_argument("weights")
    parser.add_argument("--features", action="append", required=True)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--only", help="numbers of the lines to learn from, one a line, from 0")
    parser.add_argument("--lines", type=int, default=1500)
    parser.add_argument("--k", type=int, default=60)
    parser.add_argument("--beams", type=float, nargs=2, default=(4.0, 6.0))
    parser.add_argument("--set", action="append", default=[], help="settings of a method: name=value,name=value")
    options = parser.parse_args()
    system = System.load(options.system).with_templates(options.features)
    theta = read_weights(options.weights)
    lists = Lists(system, theta, options.lines, options.k)
    lines = system.training.select(limit=options.limit)
    if options.only:
        lines = np.intersect1d(lines, np.loadtxt(options.only, np.int64))
    rng = np.random.default_rng(1)
    for text in options.set or [""]:
        method = make_optimiser("fastforest", {"centred": False, **_settings(text)})
        assert isinstance(method, FastForest)
        store, index, folds, scale = forests(system, theta, lines, method, tuple(options.beams))
        dense = [index.find(name) for name in system.translator.dense()]
        positions = np.flatnonzero(folds != FOLD)
        start = theta.values_on(index) * scale
        found = method.learn_forests(
            store, start, dense, [], positions=positions, folds=folds[positions].astype(np.int64), seed=1
        )
        values = found.values / scale
        values[dense] = 0
        phi = Weights(index, values).values_on(lists.index)
        print(
            f"{text or 'defaults'}: {len(positions):,} sentences, {store.n_edges:,} edges, scale {scale:.3g}, held-out "
            f"loss {found.loss_before:.4f} -> {found.loss_after:.4f}, "
            f"{np.mean(values[values != 0] < 0):.0%} of {np.count_nonzero(values):,} weights negative"
        )
        lists.report("phi", phi)
        groups = source_groups(lists.index)
        lists.report("centred over lists", centred(phi, groups, lists.counts()))
        in_forests = Weights(index, store.counts().astype(float)).values_on(lists.index)
        lists.report("centred over forests", centred(phi, groups, in_forests))
        control = phi.copy()
        some = np.flatnonzero(control)
        control[some] = rng.permutation(control[some])
        lists.report("permuted", control)
        print("; ".join(f"{name} {value:+.3f}" for name, value in lists.heaviest(phi)))


if __name__ == "__main__":
    main()
