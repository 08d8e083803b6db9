"""The options of a running llama-server, in old and new spellings."""

from app.core.request import LoadRequest, Switch
from app.runtimes import llama_words


def test_reads_what_the_user_asked() -> None:
    argv = ("llama-server", "-m", "/m/a.gguf", "-ngl", "18", "-c", "8192", "-t", "4", "-nkvo",
            "--cache-type-k=q8_0", "-ctv", "q8_0", "-fa", "on", "-ub", "256")  # fmt: skip
    assert llama_words.request_of(argv) == LoadRequest(
        ngl=18, ctx=8192, threads=4, kv_offload=False, cache_type_k="q8_0", cache_type_v="q8_0",
        flash_attn=Switch.ON, ubatch=256,
    )  # fmt: skip
    assert llama_words.model_of(argv) == "/m/a.gguf"


def test_keeps_the_defaults_of_what_is_not_said() -> None:
    assert llama_words.request_of(("llama-server", "--port", "8080")) == LoadRequest()
    assert llama_words.model_of(("llama-server",)) == ""


def test_reads_auto_all_and_devices() -> None:
    assert llama_words.request_of(("s", "-ngl", "auto")).ngl is None
    assert llama_words.request_of(("s", "-ngl", "all")).ngl == 999
    assert llama_words.request_of(("s", "-dev", "none")).use_devices is False
    assert llama_words.request_of(("s", "--device", "CUDA0,CUDA1")).device_ids == (
        "CUDA0",
        "CUDA1",
    )


def test_the_last_of_two_options_holds_as_in_llama_cpp() -> None:
    assert llama_words.request_of(("s", "-c", "1024", "--ctx-size", "2048")).ctx == 2048


def test_takes_no_flag_for_a_number() -> None:
    assert llama_words.request_of(("s", "-c", "many", "-fa", "yes")) == LoadRequest()
