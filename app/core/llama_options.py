"""A load request as llama.cpp's options, in the form of build 11434; only what was asked."""

from app.core.request import LoadRequest, SplitMode, Switch


def server_options(request: LoadRequest) -> tuple[str, ...]:
    """Return llama-server's options for what differs from its defaults."""
    found: list[str] = []
    if request.ngl is not None and request.ngl >= 0:
        found += ["-ngl", str(request.ngl)]
    if request.ctx is not None:
        found += ["-c", str(request.ctx)]
    for flag, kind in (("-ctk", request.cache_type_k), ("-ctv", request.cache_type_v)):
        if kind != "f16":
            found += [flag, kind]
    if request.flash_attn is not Switch.AUTO:
        found += ["-fa", request.flash_attn.value]
    if request.batch != 2048:
        found += ["-b", str(request.batch)]
    if request.ubatch != 512:
        found += ["-ub", str(request.ubatch)]
    if request.parallel is not None:
        found += ["-np", str(request.parallel)]
    return (*found, *_places(request), *_rest(request))


def _places(request: LoadRequest) -> list[str]:
    found: list[str] = []
    if not request.use_devices:
        found += ["-dev", "none"]
    elif request.device_ids:
        found += ["-dev", ",".join(request.device_ids)]
    if request.split_mode is not SplitMode.LAYER:
        found += ["-sm", request.split_mode.value]
    if request.main_gpu:
        found += ["-mg", str(request.main_gpu)]
    if request.tensor_split:
        found += ["-ts", ",".join(f"{share:g}" for share in request.tensor_split)]
    if request.cpu_moe:
        found.append("-cmoe")
    if request.n_cpu_moe:
        found += ["-ncmoe", str(request.n_cpu_moe)]
    if request.n_cpu_ffn:
        found += ["-ncffn", str(request.n_cpu_ffn)]
    for pattern, buffer in request.overrides:
        found += ["-ot", f"{pattern}={buffer}"]
    if not request.kv_offload:
        found.append("-nkvo")
    return found


def _rest(request: LoadRequest) -> list[str]:
    found: list[str] = []
    if request.swa_full:
        found.append("--swa-full")
    if not request.host_buffers:
        found.append("--no-host")
    if not request.repack:
        found.append("--no-repack")
    if not request.op_offload:
        found.append("--no-op-offload")
    if request.load_mode != "auto":
        found += ["--load-mode", request.load_mode]
    if request.fit_target_mib is not None:
        found += ["-fitt", str(request.fit_target_mib)]
    if request.fit_ctx is not None:
        found += ["-fitc", str(request.fit_ctx)]
    if request.threads is not None:
        found += ["-t", str(request.threads)]
    return found
