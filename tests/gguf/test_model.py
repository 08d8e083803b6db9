"""Whole models: split files, cut data, and the two real files."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import gguf_inspect
import pytest

from app.core.errors import UserError
from app.core.model import Fault, Model, SkippedArray, Tensor
from app.gguf.model import read_model
from app.gguf.sample import write_sample
from tests.gguf.build import Gguf, T, Typed, dense


def parts(folder: Path, *, count: int = 3, name: str = "big") -> list[Path]:
    """Write a model in parts, as llama-gguf-split does: all keys in the first."""
    whole = dense(blocks=3)
    paths: list[Path] = []
    for no in range(count):
        tensors = list(whole.tensors)[no::count]
        keys = {
            **(whole.keys if no == 0 else {}),
            "split.no": Typed("u16", no),
            "split.tensors.count": Typed("i32", len(whole.tensors)),
            "split.count": Typed("u16", count),
        }
        path = folder / f"{name}-{no + 1:05d}-of-{count:05d}.gguf"
        paths.append(Gguf(keys, tensors).write(path))
    return paths


def test_reads_a_whole_model(tmp_path: Path) -> None:
    path = dense("qwen3", blocks=2, more={"qwen3.extra": [1, 2]}).write(tmp_path / "m.gguf")
    model = read_model(str(path))
    assert (model.name, model.arch, model.version) == ("m.gguf", "qwen3", 3)
    assert model.problems == ()
    assert model.whole("block_count") == 2
    assert model.key("extra") == (1, 2)
    assert model.by_name["blk.1.ffn_down.weight"].shape == (512, 256)
    (part,) = model.parts
    assert (part.path, part.file_bytes, part.alignment) == (str(path), path.stat().st_size, 32)
    assert part.file_bytes == part.data_offset + model.tensor_bytes
    assert_like_peer(model, path)


@pytest.mark.parametrize("dropped", [0, 1, 2])
def test_joins_all_parts_whichever_of_them_is_opened(tmp_path: Path, dropped: int) -> None:
    paths = parts(tmp_path)
    model = read_model(paths[dropped])
    assert model.problems == ()
    assert model.name == "big-00001-of-00003.gguf"
    assert [part.path for part in model.parts] == [str(path) for path in paths]
    assert {t.name for t in model.tensors} == {t.name for t in dense(blocks=3).tensors}
    assert model.by_name["blk.0.attn_norm.weight"].part == 1
    assert model.file_bytes == sum(path.stat().st_size for path in paths)


def test_names_the_missing_part_and_reads_the_others(tmp_path: Path) -> None:
    paths = parts(tmp_path)
    paths[1].unlink()
    model = read_model(paths[2])
    (problem,) = model.problems
    assert problem.fault is Fault.PART_MISSING
    assert "big-00002-of-00003.gguf" in problem.text
    assert [part.path for part in model.parts] == [str(paths[0]), str(paths[2])]
    # a tensor's part is its place among the parts that are there
    last = {t.name for t in list(dense(blocks=3).tensors)[2::3]}
    assert {t.name for t in model.tensors if t.part == 1} == last


def test_counts_missing_parts_when_there_are_many(tmp_path: Path) -> None:
    first, *others = parts(tmp_path, count=6)
    for path in others:
        path.unlink()
    (problem,) = read_model(first).problems
    assert problem.text.startswith("5 of 6 parts")
    assert "big-00004-of-00006.gguf and 2 more" in problem.text


def test_asks_for_the_first_part_when_it_is_missing(tmp_path: Path) -> None:
    paths = parts(tmp_path)
    paths[0].unlink()
    with pytest.raises(UserError) as caught:
        read_model(paths[1])
    assert "part 2 of 3" in caught.value.title
    assert "big-00001-of-00003.gguf" in caught.value.advice


def test_says_so_when_a_part_was_renamed(tmp_path: Path) -> None:
    first, second, _ = parts(tmp_path)
    (problem,) = read_model(first.rename(tmp_path / "model.gguf")).problems
    assert problem.fault is Fault.PART_MISSING
    assert "renamed" in problem.text
    with pytest.raises(UserError, match="renamed"):
        read_model(second.rename(tmp_path / "second.gguf"))


def test_reports_a_part_that_cannot_be_read(tmp_path: Path) -> None:
    paths = parts(tmp_path)
    paths[1].write_bytes(paths[1].read_bytes()[:50])
    (problem,) = read_model(paths[0]).problems
    assert problem.fault is Fault.PART_MISSING
    assert "big-00002-of-00003.gguf ends inside its header" in problem.text


def test_reports_a_part_that_is_another(tmp_path: Path) -> None:
    paths = parts(tmp_path)
    paths[1].write_bytes(paths[2].read_bytes())
    (problem,) = read_model(paths[0]).problems
    assert "is not part 2 of 3" in problem.text
    paths[0].write_bytes(paths[2].read_bytes())
    with pytest.raises(UserError, match="another model"):
        read_model(paths[2])


def test_refuses_parts_that_do_not_belong_together(tmp_path: Path) -> None:
    paths = parts(tmp_path)
    keys = {"split.no": Typed("u16", 1), "split.count": Typed("u16", 3)}
    Gguf(keys, [T("output_norm.weight", (8,)), T("token_embd.weight", (8,))]).write(paths[1])
    with pytest.raises(UserError, match="do not belong together") as caught:
        read_model(paths[0])
    assert "is in big-0000" in caught.value.detail
    Gguf(keys, [T("extra", (8,))]).write(paths[1])
    with pytest.raises(UserError, match="do not belong together") as caught:
        read_model(paths[0])
    assert "tensors" in caught.value.detail


def test_refuses_a_count_of_parts_beyond_reason(tmp_path: Path) -> None:
    path = tmp_path / "m-00001-of-60000.gguf"
    dense(more={"split.count": Typed("u16", 60000), "split.no": 0}).write(path)
    with pytest.raises(UserError, match="damaged") as caught:
        read_model(path)
    assert "split.count" in caught.value.detail


def test_counts_missing_bytes_when_the_data_is_cut(tmp_path: Path) -> None:
    whole = dense()
    model = read_model(whole.write(tmp_path / "m.gguf", missing_bytes=1))
    (problem,) = model.problems
    assert problem.fault is Fault.TRUNCATED_DATA
    assert problem.missing_bytes == 1
    assert problem.tensor == "output.weight"
    model = read_model(whole.write(tmp_path / "m.gguf", missing_bytes=whole.data_bytes))
    assert model.problems[0].missing_bytes == whole.data_bytes
    assert model.problems[0].tensor == "token_embd.weight"
    assert len(model.tensors) == len(whole.tensors)


def test_counts_the_padding_before_the_data_as_missing_too(tmp_path: Path) -> None:
    path = dense(more={"general.name": "x"}).write(tmp_path / "m.gguf")
    data_offset = read_model(path).parts[0].data_offset
    path.write_bytes(path.read_bytes()[: data_offset - 1])
    (problem,) = read_model(path).problems
    assert problem.missing_bytes == dense().data_bytes + 1


def test_needs_no_padding_after_the_last_tensor(tmp_path: Path) -> None:
    # llama.cpp asks for offset + bytes only (llama-model-loader.h, build 11434)
    model = Gguf({"general.architecture": "a"}, [T("one", (3,))])
    assert read_model(model.write(tmp_path / "m.gguf", missing_bytes=20)).problems == ()
    assert len(read_model(model.write(tmp_path / "m.gguf", missing_bytes=21)).problems) == 1


def test_says_whose_part_is_cut(tmp_path: Path) -> None:
    paths = parts(tmp_path)
    with paths[2].open("r+b") as file:
        file.truncate(paths[2].stat().st_size - 100)
    (problem,) = read_model(paths[0]).problems
    assert problem.fault is Fault.TRUNCATED_DATA
    assert problem.text.startswith("big-00003-of-00003.gguf is incomplete: 100 of ")


def test_warns_when_the_bytes_are_in_the_other_order(tmp_path: Path) -> None:
    other = "<" if sys.byteorder == "big" else ">"
    path = replace(dense(), order=other).write(tmp_path / "m.gguf")
    model = read_model(path)
    assert model.is_big_endian == (other == ">")
    assert [problem.fault for problem in model.problems] == [Fault.WRONG_BYTE_ORDER]
    assert model.whole("block_count") == 2


@pytest.mark.parametrize("value", [None, "", 7])
def test_refuses_a_file_without_architecture(tmp_path: Path, value: str | int | None) -> None:
    keys = {} if value is None else {"general.architecture": value}
    with pytest.raises(UserError) as caught:
        read_model(Gguf(keys).write(tmp_path / "m.gguf"))
    assert "general.architecture" in caught.value.detail


def test_reads_the_sample_of_the_self_test(tmp_path: Path) -> None:
    path = tmp_path / "sample.gguf"
    write_sample(path)
    model = read_model(path)
    assert model.problems == ()
    assert model.whole("block_count") == 2
    assert model.parts[0].data_offset + model.tensor_bytes == path.stat().st_size
    assert_like_peer(model, path)


def assert_like_peer(model: Model, path: Path) -> None:
    """Compare keys, tensors and sizes with what gguf-inspect reads."""
    peer = gguf_inspect.parse_gguf(str(path))
    assert list(model.keys) == list(peer.metadata)
    for name, value in model.keys.items():
        if isinstance(value, SkippedArray):
            assert value.n == peer.metadata[name].count
        else:
            assert value == (tuple(v) if isinstance(v := peer.get(name), list) else v)
    assert [t.name for t in model.tensors] == [t.name for t in peer.tensors]
    for mine, other in zip(model.tensors, peer.tensors, strict=True):
        assert mine == Tensor(other.name, other.ggml_type, tuple(other.dims), other.offset)
        assert mine.n_bytes == other.nbytes
    assert model.parts[0].data_offset == peer.tensor_data_offset
    assert model.tensor_bytes == gguf_inspect.compute_sizes(peer).total_tensor_bytes


@pytest.mark.real
def test_reads_gemma_as_the_peer_does(gemma: Path) -> None:
    model = read_model(gemma)
    assert_like_peer(model, gemma)
    assert model.problems == ()
    assert (model.arch, len(model.tensors), model.tensor_bytes) == ("gemma3", 236, 246_587_904)
    assert model.keys["tokenizer.ggml.tokens"] == SkippedArray("str", 262_144)
    assert model.keys["general.tags"] == ("gemma3", "gemma", "google", "text-generation")


@pytest.mark.real
def test_joins_what_llama_gguf_split_makes(gemma: Path, llama_bin: Path, tmp_path: Path) -> None:
    argv = [str(llama_bin / "llama-gguf-split"), "--split", "--split-max-tensors", "90"]
    subprocess.run([*argv, str(gemma), str(tmp_path / "gemma")], check=True, capture_output=True)
    paths = sorted(tmp_path.glob("gemma-*.gguf"))
    assert len(paths) == 3
    model, whole = read_model(paths[1]), read_model(gemma)
    assert model.problems == ()
    assert [part.path for part in model.parts] == [str(path) for path in paths]
    sizes = {t.name: (t.type_id, t.shape) for t in model.tensors}
    assert sizes == {t.name: (t.type_id, t.shape) for t in whole.tensors}
    assert model.tensor_bytes == whole.tensor_bytes
    assert whole.keys.items() <= model.keys.items()


@pytest.mark.real
def test_plans_with_an_interrupted_download(deepseek_header: Path) -> None:
    model = read_model(deepseek_header)
    assert_like_peer(model, deepseek_header)
    (problem,) = model.problems
    assert problem.fault is Fault.TRUNCATED_DATA
    assert problem.missing_bytes == 4_683_073_248 - 99_614_720
    assert problem.tensor == "output.weight"
    assert model.tensor_bytes == 4_677_120_000
    template = model.keys["tokenizer.chat_template"]
    assert isinstance(template, str)
    assert template.startswith("{% if not add_generation_prompt is defined %}")
