"""Train a small phrase-based model of the Thot toolkit from line-aligned text.

    python train.py SOURCE TARGET MODEL

MODEL is a folder: `tm*` is the translation model, `lm*` the language model (a trigram model by counts).
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import thot.alignment as ta
import thot.translation as tt

ORDER = 3
ITERATIONS = 5


def train_alignment(source: Path, target: Path, prefix: Path) -> None:
    """One direction of word alignment: the model, and the alignments of the corpus in GIZA's form."""
    model = ta.FastAlignModel()
    model.read_sentence_pairs(str(source), str(target))
    model.emit_training_alignments = True
    model.start_training()
    for _ in range(ITERATIONS):
        model.train()
    model.end_training()
    model.print(str(prefix))
    with prefix.with_name(prefix.name + ".bestal").open("w", encoding="utf-8") as output:
        pairs = zip(source.open(encoding="utf-8"), target.open(encoding="utf-8"), strict=True)
        for number, (source_line, target_line) in enumerate(pairs):
            words = ["NULL", *source_line.split()]
            links: list[list[int]] = [[] for _ in words]
            for place, linked in enumerate(model.get_training_alignment(number)[1].to_list(), start=1):
                links[linked].append(place)
            cells = [f"{word} ({{ {' '.join(map(str, places))} }})" for word, places in zip(words, links, strict=True)]
            output.write(f"# 1\n{' '.join(target_line.split())}\n{' '.join(cells)}\n")


def train_phrases(source: Path, target: Path, prefix: Path) -> None:
    """Both directions of alignment, symmetrised, and the phrase table."""
    inverse, direct = prefix.with_name(prefix.name + "_invswm"), prefix.with_name(prefix.name + "_swm")
    train_alignment(source, target, inverse)
    train_alignment(target, source, direct)
    extractor = tt.AlignmentExtractor()
    extractor.open(f"{direct}.bestal")
    extractor.symmetrize1(f"{inverse}.bestal", f"{prefix}.A3.final", transpose=True)
    extractor.close()
    limits = tt.PhraseExtractParameters()
    limits.max_target_phrase_length = 7
    phrases = tt.PhraseModel()
    phrases.build(f"{prefix}.A3.final", limits, pseudo_ml=False)
    phrases.print_phrase_table(f"{prefix}.ttable", n=20)
    smoothing = {
        "lambda": "0.7 0.7",
        "srcsegmlentable": "Uniform",
        "trgcutstable": "0.999",
        "trgsegmlentable": "Geometric",
    }
    for name, content in smoothing.items():
        prefix.with_name(f"{prefix.name}.{name}").write_text(content, encoding="utf-8")


def train_language_model(target: Path, prefix: Path) -> None:
    """N-gram counts; a word's first occurrence counts as unknown."""
    counts: Counter[tuple[str, ...]] = Counter()
    known: set[str] = set()
    lines = target.read_text(encoding="utf-8").splitlines()
    for line in lines:
        words = ["<s>"]
        for word in line.split():
            words.append(word if word in known else "<unk>")
            known.add(word)
        words.append("</s>")
        for n in range(1, ORDER + 1):
            counts.update(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
    n_words = sum(count for ngram, count in counts.items() if len(ngram) == 1)
    with prefix.open("w", encoding="utf-8") as output:
        for ngram, count in sorted(counts.items(), key=lambda item: (len(item[0]), item[0])):
            history = counts[ngram[:-1]] if len(ngram) > 1 else n_words
            output.write(f"{' '.join(ngram)} {history} {count}\n")
    prefix.with_name(prefix.name + ".weights").write_text(f"{ORDER} 3 10 " + "0.5 " * (3 * ORDER), encoding="utf-8")
    prefix.with_name(prefix.name + ".wp").write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def main() -> None:
    """Train."""
    source, target, folder = map(Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    train_phrases(source, target, folder / "tm")
    train_language_model(target, folder / "lm")


if __name__ == "__main__":
    main()
