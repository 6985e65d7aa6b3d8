"""Moses' statistics files of a pool, as its extractor writes them."""

from __future__ import annotations

import numpy as np

from dragoman.metric import Ter


def write_statistics(pool, features, scores, *, binary=False):
    """Writes features.dat and scores.dat of BLEU or TER; binary files have only dense features, as float32."""
    kind, names = ("BIN" if binary else "TXT"), pool.dense_names()
    label, rows_of = ("TER", lambda stats: stats) if isinstance(pool.metric, Ter) else ("BLEU", _bleu_rows)
    with features.open("wb") as feature_file, scores.open("wb") as score_file:
        for shard in pool.shards:
            for s, sentence in enumerate(shard.sentence_ids.tolist()):
                part = shard.part(s, s + 1)
                rows = rows_of(part.stats)
                dense, sparse = _features(part, pool)
                head = f"{sentence} {len(dense)} {len(names)} {' '.join(names)}".rstrip()
                told = f"{sentence} {len(rows)} {rows.shape[1]} {label}"
                plain = [" ".join([*map(str, row), *extra]) for row, extra in zip(dense, sparse, strict=True)]
                numbers = [" ".join(f"{x:g}" if x.is_integer() else repr(x) for x in row) for row in rows.tolist()]
                for file, what, header, values, lines in (
                    (feature_file, "FEATURES", head, dense, plain),
                    (score_file, "SCORES", told, rows, numbers),
                ):
                    body = values.astype("<f4").tobytes() if binary else "".join(f"{x}\n" for x in lines).encode()
                    file.write(f"{what}_{kind}_BEGIN_0 {header}\n".encode() + body + f"{what}_{kind}_END_0\n".encode())


def _bleu_rows(stats):
    """Match and total of each order, and the reference length."""
    pairs = np.stack([stats[:, 2:6], stats[:, 6:10]], axis=2).reshape(len(stats), 8)
    return np.column_stack([pairs, stats[:, 1]])


def _features(part, pool):
    """Dense values, and `name=value` of the sparse features, of each candidate."""
    columns = {id_: column for column, id_ in enumerate(sorted(pool.dense))}
    values = np.zeros((part.n_candidates, len(columns)), dtype=np.float32)
    sparse = [[] for _ in range(part.n_candidates)]
    for candidate, extra in enumerate(sparse):
        row = slice(part.feature_rows[candidate], part.feature_rows[candidate + 1])
        for id_, value in zip(part.feature_ids[row].tolist(), part.feature_values[row], strict=True):
            if id_ in columns:
                values[candidate, columns[id_]] = value
            else:
                extra.append(f"{pool.index.name(id_)}={value}")
    return values, sparse
