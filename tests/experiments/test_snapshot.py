"""A snapshot knows what a store has, counts it once, and names what is damaged."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyarrow import parquet

from affinity_bandits import AffinityBandit
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.experiments import Cell, Shard, Store, run_shard, snapshot
from affinity_bandits.experiments.outcomes import OutcomesFile
from affinity_bandits.policies import UCB1, Uniform

BANDIT = AffinityBandit([0.4, 0.6])
ONE, OTHER = Cell(BANDIT, UCB1(), 100), Cell(BANDIT, Uniform(), 100)


def write(store: Store, *shards: tuple[Cell, int, int]) -> None:
    """Write a file with these first replicates and counts."""
    store.write([(one := Shard(*shard), run_shard(one)) for shard in shards])


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path)
    write(made, (ONE, 0, 3), (OTHER, 2, 2))
    write(made, (ONE, 2, 3), (ONE, 8, 1))
    return made


def test_gaps_are_those_between_all_files(store: Store) -> None:
    there = store.snapshot()
    assert there.gaps(ONE.identity, 10) == [range(5, 8), range(9, 10)]
    assert there.gaps(ONE.identity, 7) == [range(5, 7)]
    assert there.gaps(ONE.identity, 5) == []
    assert there.gaps(OTHER.identity, 4) == [range(2)]
    assert there.gaps("0" * 32, 4) == [range(4)]
    assert (there.count(ONE.identity, 10), there.count(ONE.identity, 4)) == (6, 4)
    assert there.identities() == sorted([ONE.identity, OTHER.identity])


def test_an_empty_store_has_nothing(tmp_path: Path) -> None:
    there = Store(tmp_path).snapshot()
    assert there.identities() == []
    assert there.gaps(ONE.identity, 3) == [range(3)]
    assert there.finished(ONE.identity) is None
    assert list(there.kept()) == []


def test_replicates_that_were_written_twice_count_once(store: Store, tmp_path: Path) -> None:
    found = store.snapshot().finished(ONE.identity)
    assert found is not None
    assert found.replicates.tolist() == [0, 1, 2, 3, 4, 8]
    other = Store(tmp_path / "other")
    write(other, (ONE, 8, 1), (ONE, 0, 5))
    write(other, (OTHER, 2, 2))
    assert other.content_hash() == store.content_hash()
    write(other, (ONE, 5, 1))
    assert other.content_hash() != store.content_hash()


def test_a_damaged_file_is_named_and_the_others_are_known(store: Store, tmp_path: Path) -> None:
    whole = store.snapshot()
    for path in sorted((tmp_path / "runs").iterdir()):
        content = path.read_bytes()
        path.write_bytes(content[:-3])
        there = store.snapshot()
        assert there.damaged == [f"runs/{path.name}"]
        assert there.count(ONE.identity, 10) in (3, 4)
        with pytest.raises(InvalidInput, match=rf"runs/{path.name} must be undamaged; run the"):
            there.finished(ONE.identity)
        assert {kept.identity for kept in there.kept()} <= {ONE.identity, OTHER.identity}
        path.write_bytes(content)
    assert store.snapshot().content_hash() == whole.content_hash()


@pytest.mark.parametrize("name", ["notes.txt", f"{'0' * 32}.parquet", f"{'0' * 32}.parquet.bak"])
def test_a_foreign_file_is_damaged(store: Store, name: str) -> None:
    store.files.write(f"runs/{name}", b"PAR1")
    assert store.snapshot().damaged == [f"runs/{name}"]
    assert store.snapshot(checked=False).damaged == [f"runs/{name}"]


def test_a_file_with_its_checksum_that_no_store_wrote_is_damaged(store: Store) -> None:
    name = f"runs/{snapshot.checksum(b'text')}.parquet"
    store.files.write(name, b"text")
    assert store.snapshot().damaged == [name]


@pytest.mark.parametrize(("small", "damaged"), [(0, 0), (2**20, 1)])
def test_of_large_files_only_parts_are_read_if_unchecked(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: int, damaged: int
) -> None:
    """Damage in other columns is then not seen; a small file is read whole and checked."""
    monkeypatch.setattr(snapshot, "SMALL_FILE", small)
    path = next(iter((tmp_path / "runs").iterdir()))
    columns = [parquet.read_metadata(path).row_group(0).column(i) for i in range(8)]
    (pulls,) = [one for one in columns if one.path_in_schema.startswith("pulls")]
    content = bytearray(path.read_bytes())
    content[pulls.data_page_offset + 5] ^= 1
    path.write_bytes(content)
    assert len(store.snapshot(checked=False).damaged) == damaged
    assert len(store.snapshot().damaged) == 1


def test_a_file_that_is_gone_since_it_was_listed_is_damaged(store: Store, tmp_path: Path) -> None:
    there = store.snapshot()
    for path in (tmp_path / "runs").iterdir():
        path.unlink()
    with pytest.raises(InvalidInput, match="run the sweep again"):
        there.finished(ONE.identity)


@pytest.mark.parametrize(("kept", "reads"), [(2**28, 2), (0, 6)])
def test_files_are_kept_in_memory_for_the_next_cells(
    store: Store, monkeypatch: pytest.MonkeyPatch, kept: int, reads: int
) -> None:
    """With no memory for more than one, the negative control, they are read for each cell."""
    monkeypatch.setattr(snapshot, "OPEN_BYTES", kept)
    opened = []

    def read(content: bytes) -> OutcomesFile:
        opened.append(content)
        return OutcomesFile(content)

    monkeypatch.setattr(snapshot, "OutcomesFile", read)
    there = store.snapshot()
    for _ in range(3):
        there.finished(ONE.identity)
    assert len(opened) == reads
