"""What options of `dragoman tune` contradict each other, whatever the candidates are."""

from __future__ import annotations

from dragoman.cli.tuning.options import TuneOptions, flag
from dragoman.errors import InputError
from dragoman.features import WeightFormat
from dragoman.tuning import LastSearch, LearnFrom, default_last

__all__ = ["check_options"]


def check_options(options: TuneOptions, *, reads_training: bool = False) -> None:
    """Raise InputError for options that contradict each other whatever the candidates are.

    `reads_training` says that the method learns from the training text by itself.
    """
    decodes = options.decoder is not None or options.system is not None or options.forest is not None
    if options.nbest and options.source is not None and not options.add and not decodes:
        raise InputError(
            "--source cannot be used with --nbest: the lists are fixed and nothing is decoded; leave it out, or "
            "add features with --add"
        )
    if not options.comparing:
        options.target()
    if options.resume and options.run is None and not options.tunes_system:
        raise InputError("--resume continues a run; name its folder with --run")
    if options.online and (options.comparing or not (options.tunes_system or options.forest)):
        raise InputError(
            "--online decodes while it learns, which needs one method and a system, or stored search spaces; give "
            "--system, or --forest"
        )
    _check_training(options)
    if options.learns_from is LearnFrom.DEVELOPMENT and options.limit is not None and not reads_training:
        raise InputError(
            "--limit is for lines of the training text; add --train or --learn-from training, or learn by hols or hils"
        )
    if options.judge_lines is not None and options.learns_from is not LearnFrom.LISTS and not reads_training:
        raise InputError("--judge-lines judge what was learned from the training text; add --train, or learn by hols")
    if options.limit is not None and options.limit < 1:
        raise InputError(f"--limit must be at least 1, not {options.limit}")
    if str(options.out) == "-" and (options.json or options.comparing or options.tunes_system):
        raise InputError("weights cannot go to standard output with --json, --method all or --system; name a file")
    if options.fast and options.accurate:
        raise InputError("choose one of --fast and --accurate")
    if options.template is not None and options.weights_format is not WeightFormat.MOSES_INI:
        raise InputError("a template belongs to the format of moses.ini; say --weights-format moses")
    if options.lower_is_better and options.external is None:
        raise InputError("--lower-is-better belongs to --external; metrics know their direction")


def _check_training(options: TuneOptions) -> None:
    given, how = options.given(), options.learns_from
    if options.train and options.learn_from not in (None, LearnFrom.LISTS):
        raise InputError(f"--train learns from lists; leave it out, or --learn-from {options.learn_from}")
    if how is LearnFrom.TRAINING and not options.online:
        raise InputError(
            "--learn-from training decodes while it learns; add --online (rm, mira), or learn from lists with --train"
        )
    if how is LearnFrom.LISTS and options.online:
        raise InputError(
            "--train learns from lists that are made once; leave out --online, or say --learn-from training"
        )
    if how is not LearnFrom.DEVELOPMENT and options.without_fold is not None:
        named = "--train" if options.train else f"--learn-from {how}"
        raise InputError(f"{named} leaves out the fold of each line; leave out --without-fold")
    on_lines = options.last is not None and options.last.on_lines
    if options.phi is not None and on_lines and options.without_fold is not None:
        raise InputError(f"--last {options.last} leaves out the fold of its lines; leave out --without-fold")
    if how is LearnFrom.LISTS and options.phi is not None:
        raise InputError("--phi gives what --train would learn; leave out one of them")
    if any(options.text_files()) and not all(options.text_files()):
        raise InputError(
            "pairs to learn from need both sides and their links: --text-source, --text-target and --text-align"
        )
    of_lists = sorted(flag(name) for name in given & {"theta", "where", "all_data"})
    if how is not LearnFrom.LISTS and of_lists:
        raise InputError(f"{', '.join(of_lists)} belongs to --train, which learns from lists of the training text")
    of_both = sorted(flag(name) for name in given & {"blocks", "last"})
    if how is not LearnFrom.LISTS and options.phi is None and of_both:
        raise InputError(f"{', '.join(of_both)} is for learned sparse weights; add --train, or --phi FILE")
    learner = options.method_type if how is LearnFrom.LISTS else None
    last = options.last or default_last(learner, all_data=options.all_data)
    if last is LastSearch.NONE and options.blocks is not None:
        raise InputError("--blocks belongs to a last search; leave it out, or name one, such as --last dev")
