"""`dragoman tune`: weights that maximise a metric."""

from __future__ import annotations

from dragoman.cli.declared import takes
from dragoman.cli.tuning.options import TuneOptions
from dragoman.cli.tuning.work import tune_as_told

__all__ = ["tune"]


@takes(TuneOptions)
def tune(options: TuneOptions) -> None:
    """Find weights that maximise a metric on candidates of any decoder: lists that exist, or a decoder at work.

    Examples: dragoman tune --system system --source dev.de -r dev.en -o tuned

    dragoman tune --system system --source dev.de -r dev.en --method pro --features extended -o tuned

    dragoman tune --system system --source dev.de -r dev.en --method mira --online --set measure=live -o tuned

    dragoman tune --system system --source dev.de -r dev.en --method rm --online --learn-from training -o tuned

    dragoman tune --system system --source dev.de -r dev.en --method xbleu --train --features reorder_local -o tuned

    dragoman tune --system system --source dev.de -r dev.en --phi phi.bin --features reorder_local -o tuned

    dragoman tune --nbest run1.nbest.gz --nbest run2.nbest.gz -r dev.ref --weights run2.dense -o weights.tsv

    dragoman tune --nbest candidates.jsonl --external comet --method pro -o weights.tsv

    dragoman tune --nbest run1.nbest.gz -r dev.ref --method all

    dragoman tune --moses-run mert-work --method mira -o tuned.ini --weights-format moses

    dragoman tune --lists lists --method xbleu --features extended -o weights.tsv --system-out tuned

    dragoman tune --stats features.dat scores.dat --weights init.opt -o weights.tsv

    dragoman tune --decoder 'moses -f {weights} -i {source} -n-best-list {nbest} {k} distinct' --weights moses.ini
    --weights-format moses --template moses.ini --source dev.src -r dev.ref --run runs/dev -o tuned.ini
    """
    tune_as_told(options)
