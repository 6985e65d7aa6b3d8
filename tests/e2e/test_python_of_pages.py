"""Every block of Python in README and in the pages runs, block after block, in a folder with the files it names."""

from __future__ import annotations

import pytest
from tests.kit.pages import ROOT, blocks_of, run_shell, write_lists

TEXT = """
dragoman corpus synth -n 200 --dev 20 --test 10 -o corpus -q
cp corpus/* .
"""
SYSTEM = f"{TEXT} dragoman train -s train.de -t train.en --folds 4 -o system -q\n"
FILES = {
    "README.md": "",
    "docs/alignment.md": f"{TEXT} mv train.de train.fr",
    "docs/cluster.md": "",
    "docs/features.md": f"{SYSTEM} dragoman gradient system -o gradient --loss softramp --k 10 -q --features rule_id",
    "docs/optimisers/composing.md": "",
    "docs/rules.md": SYSTEM.replace("--folds", "--model hiero --set added=true --folds"),
    "docs/search.md": SYSTEM,
    "docs/synth.md": "",
    "docs/training-text.md": f"""yes mo | head -n 100 > train.domain; yes web | head -n 100 >> train.domain
        {SYSTEM.replace("--folds", "--domains train.domain --folds")}
        dragoman lists system -o lists --k 10 -q
        dragoman gradient system -o gradient --loss softramp --k 10 --scale 10 -q --features rule_id""",
    "docs/tuning.md": SYSTEM,
}
"""What stands in the folder beside the toy decoder's lists."""

RUN_WITH_THEIR_COMMANDS = {"docs/curve.md", "docs/python.md", "docs/reranking.md", "docs/tutorial.md"}
"""By `test_documented_commands` and `test_tutorial`, between the commands that make their files."""

PAGES = {str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")} | {"README.md"}


def test_every_page_with_python_is_run():
    assert {page for page in PAGES if blocks_of(page, "python")} == set(FILES) | RUN_WITH_THEIR_COMMANDS


def test_few_blocks_are_not_run():
    """With a comment `not run: REASON` before them."""
    left = {page: why for page in PAGES for _, why in blocks_of(page, "python") if why}
    assert set(left) == {"docs/cluster.md"}


@pytest.mark.parametrize("page", sorted(FILES))
def test_python_runs(page, tmp_path, monkeypatch):
    write_lists(tmp_path)
    run_shell(FILES[page], tmp_path)
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    for number, (code, why) in enumerate(blocks_of(page, "python"), start=1):
        if why is None:
            exec(compile(code, f"{page}, block {number}", "exec"), names)
