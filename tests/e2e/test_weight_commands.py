"""`dragoman weights`, as a user runs it."""

from __future__ import annotations

from dragoman.features import Weights, write_weights


def test_the_command_converts(tmp_path, inside):
    weights = Weights.from_dict({f"template:ü {i}": i - 90.5 for i in range(200)})
    write_weights(weights, tmp_path / "w.tsv")
    assert inside("weights", "w.tsv", "-o", "w.bin", "--json").json["n_weights"] == len(weights.ids())
    assert inside("weights", "w.bin", "-o", "again.tsv").status == 0
    assert (tmp_path / "again.tsv").read_bytes() == (tmp_path / "w.tsv").read_bytes()
    shown = inside("weights", "w.bin", "--top", 3, "--json").json["weights"]
    assert list(shown.values()) == sorted(weights.values.tolist(), key=abs, reverse=True)[:3]
    inside("weights", "w.bin", "-o", "w.cdec", "--format", "cdec", status=2)  # names with spaces
    assert "no column 'gradient'" in inside("weights", "w.bin", "--column", "gradient", status=2).err
    assert "text file" in inside("weights", "w.tsv", "--column", "weight", status=2).err
    data = bytearray((tmp_path / "w.bin").read_bytes())
    data[-100] ^= 1
    (tmp_path / "w.bin").write_bytes(data)
    assert "w.bin: does not match its checksum" in inside("weights", "w.bin", status=2).err
