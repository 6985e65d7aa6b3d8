"""The store of steps: found by content, made whole, made again when damaged, gone on with after a kill."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

import dragoman
from dragoman.errors import FailedError
from dragoman.work import code
from dragoman.work.code import program_name
from dragoman.work.store import Step, Store


class Work:
    """Writes two files and counts how often."""

    def __init__(self, content="content"):
        self.n_calls = 0
        self.content = content

    def __call__(self, folder, scratch):
        assert not scratch.exists()
        self.n_calls += 1
        (folder / "inner").mkdir()
        (folder / "inner" / "a").write_text(self.content)
        (folder / "b").write_bytes(bytes(1000))
        return {"told": (1, 2)}


def step(work=None, *, kind="some kind", module="dragoman.work.store", text="abc", resumes=False, **settings):
    key = {"settings": settings, "inputs": {"text": text}}
    return Step(kind=kind, key=key, modules=(module,), work=work or Work(), resumes=resumes)


def entries(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != "locks")


def test_a_result_is_made_once(tmp_path):
    work = Work()
    first = Store(tmp_path / "c").make(step(work, a=1))
    assert not first.found
    again = Store(tmp_path / "c").make(step(work, a=1))
    assert again.found
    assert (again.folder, again.cost.wall_s, work.n_calls) == (first.folder, first.cost.wall_s, 1)
    assert (again.folder / "inner" / "a").read_text() == "content"
    assert first.content == again.content == {"told": [1, 2]}
    other = Store(tmp_path / "c").make(step(work, a=2))
    assert other.folder != first.folder
    assert work.n_calls == 2
    assert Store(tmp_path / "c").has(step(a=1))
    assert not Store(tmp_path / "c").has(step(a=3))


def test_a_result_says_what_it_is_and_what_it_cost(tmp_path):
    made = Store(tmp_path).make(step(a=1))
    record = json.loads((made.folder / "step.json").read_text())
    assert (record["kind"], record["key"]["settings"]) == ("some kind", {"a": 1})
    assert set(record["cost"]) == {"wall_s", "cpu_s", "peak_bytes"}
    assert set(record["files"]) == {"inner/a", "b"}
    assert made.cost.peak_bytes > 0


def test_memory_of_steps_within_steps_counts(tmp_path):
    store = Store(tmp_path)

    def fill(_folder, _scratch):
        bytearray(b"x") * (300 << 20)

    def work(folder, scratch):
        store.make(step(fill))
        store.make(step(kind="small"))

    large = store.make(step(work, kind="large")).cost.peak_bytes
    assert large > 300 << 20
    assert store.make(step(kind="other")).cost.peak_bytes < large - (200 << 20)  # this process may be large itself


def test_names_depend_on_all_parts_of_a_step():
    steps = [
        step(a=1),
        step(a=2),
        step(b=1),
        step(kind="other", a=1),
        step(text="abd", a=1),
        step(module="dragoman.experiments.stages", a=1),
    ]
    assert len({one.name for one in steps}) == len(steps)
    assert step(a=1, b=2).name == step(b=2, a=1).name


DAMAGE = {
    "changed": lambda folder: (folder / "b").write_bytes(bytes(999) + b"x"),
    "shorter": lambda folder: (folder / "b").write_bytes(bytes(10)),
    "missing file": lambda folder: (folder / "inner" / "a").unlink(),
    "missing record": lambda folder: (folder / "step.json").unlink(),
    "half a record": lambda folder: (folder / "step.json").write_text('{"key"'),
    "another record": lambda folder: (folder / "step.json").write_text("[]"),
}


@pytest.mark.parametrize("resumes", [False, True])
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_result_is_noticed_and_made_again(tmp_path, damage, resumes):
    work, said = Work(), []
    made = Store(tmp_path).make(step(work, resumes=resumes))
    damage(made.folder)
    again = Store(tmp_path, said.append).make(step(work, resumes=resumes))
    assert work.n_calls == 2
    (told,) = said
    assert "some kind" in told
    assert "is damaged" in told
    assert str(made.folder) in told
    assert (again.folder / "inner" / "a").read_text() == "content"
    assert len((again.folder / "b").read_bytes()) == 1000
    assert Store(tmp_path).make(step(work, resumes=resumes)).found
    assert entries(tmp_path) == [made.folder.name]


def test_work_that_fails_leaves_nothing(tmp_path):
    def fail(folder, _):
        (folder / "half").write_text("x")
        raise OSError(28, "No space left on device")

    with pytest.raises(FailedError, match=r"cannot be written: No space left"):
        Store(tmp_path).make(step(fail))
    assert entries(tmp_path) == []
    with pytest.raises(ZeroDivisionError):
        Store(tmp_path).make(step(lambda *_: 1 // 0))
    assert entries(tmp_path) == []
    assert not Store(tmp_path).make(step()).found


def test_what_a_killed_process_left_is_swept(tmp_path):
    for left in (step(), step(of="another program")):
        (tmp_path / f"{left.name}.new").mkdir()
        (tmp_path / f"{left.name}.new" / "half").write_text("x")
    (tmp_path / f"{step(a=1).name}.part").mkdir()
    made = Store(tmp_path).make(step())
    assert entries(tmp_path) == sorted([made.folder.name, f"{step(a=1).name}.part"])


def test_what_another_process_is_making_stays(tmp_path):
    def work(folder, _):
        Store(tmp_path).make(step(a=2))
        (folder / "b").write_text("x")

    assert (Store(tmp_path).make(step(work, a=1)).folder / "b").exists()


def test_what_is_needed_only_meanwhile_is_not_kept(tmp_path):
    def work(folder, scratch):
        scratch.mkdir()
        (scratch / "on the way").write_text("x")
        (folder / "result").write_text("x")

    made = Store(tmp_path).make(step(work, resumes=True))
    assert sorted(path.name for path in made.folder.iterdir()) == ["result", "step.json"]
    (made.folder / "work").mkdir()  # a kill came before it was removed
    assert Store(tmp_path).make(step(work, resumes=True)).found
    assert not (made.folder / "work").exists()


def make_slowly(folder, queue):
    def work(scratch, _):
        queue.put("made")
        time.sleep(0.5)
        (scratch / "by").write_text(str(os.getpid()))

    store = Store(folder, lambda text: queue.put("waits" if "another process" in text else text))
    queue.put((store.make(step(work)).folder / "by").read_text())


def test_two_processes_make_a_result_once(tmp_path):
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    workers = [context.Process(target=make_slowly, args=(tmp_path, queue)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    said = [queue.get(timeout=60) for _ in range(3)]
    assert said.count("made") == 1
    said += [queue.get(timeout=60)] if "waits" in said else []
    results = [text for text in said if text not in ("made", "waits")]
    assert len(results) == 2
    assert len(set(results)) == 1


N_PIECES = 6


def by_pieces(log, stop_at=None):
    """Writes pieces, and all of them into one at the end; the piece `stop_at` is never finished."""

    def note(text):
        with log.open("a") as stream:
            stream.write(f"{text} ")

    def work(folder, scratch):
        scratch.mkdir(exist_ok=True)
        for number in range(N_PIECES):
            path = scratch / str(number)
            if not path.exists():
                if number == stop_at:
                    note("stops")
                    time.sleep(600)
                path.write_text(f"{number}\n")
                note(number)
        (folder / "all").write_text("".join((scratch / str(number)).read_text() for number in range(N_PIECES)))

    return work


def make_by_pieces(folder, log, stop_at, resumes):
    Store(folder).make(step(by_pieces(log, stop_at), resumes=resumes))


@pytest.mark.parametrize(("resumes", "again"), [(True, "3 4 5 "), (False, "0 1 2 3 4 5 ")])
def test_a_step_that_was_killed_goes_on_to_the_same_bytes(tmp_path, resumes, again):
    first, second = tmp_path / "first", tmp_path / "second"
    target, context = make_by_pieces, multiprocessing.get_context("spawn")
    process = context.Process(target=target, args=(tmp_path / "killed", first, 3, resumes))
    process.start()
    while not (first.exists() and "stops" in first.read_text()):
        assert process.is_alive()
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert not Store(tmp_path / "killed").has(step(resumes=resumes))
    made = Store(tmp_path / "killed").make(step(by_pieces(second), resumes=resumes))
    assert second.read_text() == again
    whole = Store(tmp_path / "whole").make(step(by_pieces(tmp_path / "third"), resumes=resumes))
    assert (made.folder / "all").read_bytes() == (whole.folder / "all").read_bytes()
    assert entries(tmp_path / "killed") == entries(tmp_path / "whole") == [made.folder.name]


def forget_code():
    """As a new process would."""
    for cached in (code.code_digest, code._digest, code._imported, code._file_of):
        cached.cache_clear()


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A copy of the program's code as another package, and the folder of a module that is a file of its own."""
    root = tmp_path / "programs/kopie"
    shutil.copytree(Path(dragoman.__file__).parent, root, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for path in root.rglob("*.py"):
        path.write_text(path.read_text().replace("from dragoman", "from kopie"))
    (root.parent / "alone.py").write_text("ONE = 1\n")
    monkeypatch.syspath_prepend(root.parent)
    yield root
    forget_code()
    sys.modules.pop("kopie", None)


@pytest.mark.parametrize(
    ("module", "changes", "stays"),
    [
        ("kopie.tuning.line_search", "optim/pro.py", "cli/app.py"),
        ("kopie.experiments.stages", "align/train.py", "view/report/records.py"),
        ("alone", "../alone.py", "optim/pro.py"),
    ],
)
def test_code_that_changes_makes_a_step_anew(tmp_path, copied, module, changes, stays):
    work, store = Work(), Store(tmp_path / "store")
    assert not store.make(step(work, module=module)).found
    for path, found in ((stays, True), (changes, False)):
        (copied / path).write_text((copied / path).read_text() + "# another line\n")
        forget_code()
        assert store.make(step(work, module=module)).found is found
    assert work.n_calls == 2


def test_a_program_has_a_name():
    assert program_name("dragoman.experiments.cell") != program_name("dragoman.work.store")
    assert program_name("dragoman.work.store").startswith(f"{dragoman.__version__}+")


def test_code_that_is_typed_in_has_no_digest(monkeypatch):
    monkeypatch.delattr(sys.modules["__main__"], "__file__", raising=False)
    forget_code()
    assert code.code_digest("__main__") == ""
