"""One load in each runtime's own words."""

from app.core.probe import LoadWish
from app.core.request import LoadRequest, SplitMode, Switch
from app.runtimes import jan, koboldcpp, llama_cpp, lm_studio, ollama, text_generation_webui

REQUEST = LoadRequest(
    ngl=18,
    ctx=8192,
    cache_type_k="q8_0",
    cache_type_v="q8_0",
    flash_attn=Switch.ON,
    threads=6,
    parallel=1,
)
WISH = LoadWish(REQUEST, "/models/gemma.gguf", layers_total=37)


def test_llama_cpp_gets_a_command() -> None:
    assert llama_cpp.RUNTIME.setting(WISH) == (
        "llama-server -m /models/gemma.gguf -ngl 18 -ctk q8_0 -ctv q8_0 -fa on -t 6 -c 8192 -np 1"
    )


def test_ollama_gets_a_modelfile_and_the_services_variables() -> None:
    assert ollama.RUNTIME.setting(WISH).splitlines() == [
        "FROM /models/gemma.gguf",
        "PARAMETER num_gpu 18",
        "PARAMETER num_ctx 8192",
        "PARAMETER num_thread 6",
        "# environment of the Ollama service, for all models:",
        "# OLLAMA_KV_CACHE_TYPE=q8_0",
        "# OLLAMA_FLASH_ATTENTION=1",
        "# OLLAMA_NUM_PARALLEL=1",
    ]


def test_ollama_says_what_it_cannot_do() -> None:
    request = LoadRequest(cache_type_k="q8_0", cache_type_v="f16", kv_offload=False, cpu_moe=True)
    text = ollama.RUNTIME.setting(LoadWish(request))
    assert "OLLAMA_KV_CACHE_TYPE" not in text
    assert text.splitlines()[-1] == (
        "# Ollama has no setting for: cache types q8_0 and f16, cache on the host, "
        "experts on the CPU"
    )


def test_lm_studio_gets_names_of_its_panel_and_a_share() -> None:
    lines = lm_studio.RUNTIME.setting(WISH).splitlines()
    assert lines[:2] == ["GPU Offload: 18 of 37", "Context Length: 8192"]
    assert "K Cache Quantization Type: q8_0" in lines
    # a share of the layers, not a number of them
    assert lines[-1] == "lms load MODEL --gpu 0.486 -c 8192"


def test_lm_studio_turns_the_ends_into_words() -> None:
    def command(ngl: int | None, *, use_devices: bool = True) -> str:
        request = LoadRequest(ngl=ngl, use_devices=use_devices)
        return lm_studio.RUNTIME.setting(LoadWish(request, layers_total=37)).splitlines()[-1]

    assert command(0) == "lms load MODEL --gpu off"
    assert command(99) == "lms load MODEL --gpu max"
    assert command(None) == "lms load MODEL"
    assert command(99, use_devices=False) == "lms load MODEL --gpu off"


def test_koboldcpp_gets_a_command() -> None:
    assert koboldcpp.RUNTIME.setting(WISH) == (
        "koboldcpp --model /models/gemma.gguf --gpulayers 18 --contextsize 8192 --quantkv q8_0 "
        "--threads 6 --parallelrequests 1"
    )


def test_koboldcpp_says_what_it_cannot_do() -> None:
    request = LoadRequest(cache_type_k="q8_0", tensor_split=(7, 3), n_cpu_moe=4)
    text = koboldcpp.RUNTIME.setting(LoadWish(request))
    assert "--tensor_split 7 3 --moecpu 4" in text
    assert text.endswith("# KoboldCpp has no setting for: cache types q8_0 and f16")


def test_jan_gets_names_of_its_settings() -> None:
    assert jan.RUNTIME.setting(WISH).splitlines() == [
        "GPU Layers: 18",
        "Context Size: 8192",
        "KV Cache K Type: q8_0",
        "KV Cache V Type: q8_0",
        "Flash Attention: on",
        "Threads: 6",
        "Parallel Sequences: 1",
    ]
    assert jan.RUNTIME.setting(LoadWish(LoadRequest())) == "No setting differs from Jan's own."


def test_experts_in_system_memory_are_said_where_a_program_can() -> None:
    wish = LoadWish(LoadRequest(ngl=49, n_cpu_moe=12), "/m.gguf", layers_total=49)
    assert "n_cpu_moe: 12" in jan.RUNTIME.setting(wish).splitlines()
    assert "CPU MoE: 12 of 48 blocks, a share of 0.25" in lm_studio.RUNTIME.setting(wish)
    assert "--extra-flags n-cpu-moe=12" in text_generation_webui.RUNTIME.setting(wish)
    told = ollama.RUNTIME.setting(wish)
    assert "LLAMA_ARG_N_CPU_MOE=12" in told and "undocumented" in told
    every = LoadWish(LoadRequest(cpu_moe=True), layers_total=49)
    assert "cpu_moe: on" in jan.RUNTIME.setting(every)
    assert "CPU MoE: 48 of 48 blocks" in lm_studio.RUNTIME.setting(every)
    assert "--cpu-moe" in text_generation_webui.RUNTIME.setting(every)


def test_several_devices_are_said_where_a_program_can() -> None:
    split = LoadWish(LoadRequest(tensor_split=(3.0, 1.0)), "/m.gguf")
    assert "tensor_split: 3,1" in jan.RUNTIME.setting(split)
    assert "--tensor-split 3,1" in text_generation_webui.RUNTIME.setting(split)
    assert "no setting for: a split ratio" in lm_studio.RUNTIME.setting(split)
    one = LoadWish(LoadRequest(split_mode=SplitMode.NONE, main_gpu=1), "/m.gguf")
    assert "PARAMETER main_gpu 1" in ollama.RUNTIME.setting(one)
    assert "Main GPU Index: 1" in jan.RUNTIME.setting(one)
    assert "--split-mode none --extra-flags main-gpu=1" in text_generation_webui.RUNTIME.setting(
        one
    )


def test_text_generation_webui_gets_what_differs_from_its_own_defaults() -> None:
    # its batches are 1024 each, ours of a plain llama-server
    assert text_generation_webui.RUNTIME.setting(WISH) == (
        "python server.py --model /models/gemma.gguf --loader llama.cpp --gpu-layers 18 "
        "--ctx-size 8192 --cache-type q8_0 --batch-size 2048 --ubatch-size 512 --threads 6 "
        "--parallel 1"
    )
    mixed = LoadWish(LoadRequest(cache_type_k="q8_0"), "/m.gguf")
    assert "no setting for: cache types q8_0 and f16" in text_generation_webui.RUNTIME.setting(
        mixed
    )


def test_files_beside_the_model_have_each_runtimes_own_words() -> None:
    request = LoadRequest(
        draft_path="d.gguf", draft_type="draft-simple", projector_path="p.gguf",
        projector_offload=False,
    )  # fmt: skip
    wish = LoadWish(request, "m.gguf")
    lines = ollama.RUNTIME.setting(wish).splitlines()
    assert lines[:3] == ["FROM m.gguf", "FROM p.gguf", "DRAFT d.gguf"]
    assert "the projector on the host" in lines[-1]
    kobold = koboldcpp.RUNTIME.setting(wish)
    assert "--mmproj p.gguf --mmprojcpu --draftmodel d.gguf" in kobold
    web = text_generation_webui.RUNTIME.setting(wish)
    assert "--mmproj p.gguf --model-draft d.gguf" in web and "no-mmproj-offload" in web
    assert "Draft Model: d.gguf" in lm_studio.RUNTIME.setting(wish)
    assert "mmproj_path: p.gguf" in jan.RUNTIME.setting(wish)
    assert "a draft model" in jan.RUNTIME.setting(wish)


def test_some_devices_are_named_in_each_runtimes_way() -> None:
    wish = LoadWish(LoadRequest(device_ids=("CUDA0", "CUDA2")), "m.gguf")
    assert llama_cpp.RUNTIME.setting(wish).endswith("-dev CUDA0,CUDA2")
    assert "# CUDA_VISIBLE_DEVICES=0,2" in ollama.RUNTIME.setting(wish)
    assert "--device CUDA0,CUDA2" in koboldcpp.RUNTIME.setting(wish)
    web = text_generation_webui.RUNTIME.setting(wish)
    assert "# set before it starts: CUDA_VISIBLE_DEVICES=0,2" in web
    assert "only CUDA0, CUDA2 on" in lm_studio.RUNTIME.setting(wish)
    assert "Devices for Offload: CUDA0, CUDA2" in jan.RUNTIME.setting(wish)


def test_ollama_cannot_name_a_device_by_rpc() -> None:
    wish = LoadWish(LoadRequest(device_ids=("RPC0", "ROCm1", "Vulkan0")), "m.gguf")
    lines = ollama.RUNTIME.setting(wish).splitlines()
    assert "# ROCR_VISIBLE_DEVICES=1" in lines and "# GGML_VK_VISIBLE_DEVICES=0" in lines
    assert lines[-1] == "# Ollama has no setting for: use of RPC0"
