"""llama.cpp: the model file is damaged, cut, missing, no GGUF, or made for another version."""

import re

from app.core.log import Fact, Pattern, Sample
from app.logs.figures import always, file_fault

PATTERNS = (
    Pattern(
        fact=Fact.ERROR_FILE,
        keys=(
            "invalid magic",
            "failed to read magic",
            "failed to read header",
            "failed to read key-value pairs",
            "failed to read tensor",
            "exceeds remaining file size",
            "exceeds maximum",
            "extremely large",
            "only supports up to version",
            "no longer supported",
            "has invalid GGUF type",
            "has invalid ggml type",
            "has invalid number of",
            "has invalid offset",
            "has offset ",
            "bad GGUF version",
            "duplicate ",
        ),
        regex=re.compile(
            r"gguf_init_from_\w+(?:_impl)?: (?P<why>.*?(?:invalid magic|failed to read|exceeds"
            r"|version|no longer supported|has invalid|has offset|duplicate).*)"
        ),
        types={"why": file_fault},
        samples=(
            Sample(
                build="11434",
                line="0.00.010.000 E gguf_init_from_reader: invalid magic characters: 'vers', "
                "expected 'GGUF'",
                values={"why": "not-gguf"},
            ),
            Sample(
                build="11434",
                line="gguf_init_from_reader: tensor 'blk.0.attn_q.weight' has invalid ggml type "
                "250. should be in [0, 43)",
                values={"why": "newer"},
            ),
            Sample(
                build="2023-09",
                line="gguf_init_from_file: invalid magic number 4c4d4747",
                values={"why": "not-gguf"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_FILE,
        keys=("unknown (magic, version) combination: 46554747",),
        # that number is "GGUF", read by a build that is older than the format (August 2023)
        regex=re.compile(r"unknown \(magic, version\) combination: (?P<why>46554747)"),
        types={"why": always("newer")},
        samples=(
            Sample(
                build="2023-08 (abetlen/llama-cpp-python issue 902)",
                line="error loading model: unknown (magic, version) combination: 46554747, "
                "00000002; is this really a GGML file?",
                values={"why": "newer"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_FILE,
        keys=("failed to open ",),
        regex=re.compile(
            r"(?P<why>failed to open) (?:GGUF file )?'?(?P<path>/?[^':]+?)'?"
            r"(?: \((?P<reason>.+)\)|: (?P<reason2>.+))?$"
        ),
        types={"why": file_fault},
        samples=(
            Sample(
                build="11434",
                line="0.00.003.343 E gguf_init_from_file: failed to open GGUF file "
                "'/models/no-such-file.gguf' (No such file or directory)",
                values={
                    "why": "missing",
                    "path": "/models/no-such-file.gguf",
                    "reason": "No such file or directory",
                },
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_FILE,
        keys=("is not within the file bounds",),
        regex=re.compile(r"tensor '(?P<tensor>.+?)' data is (?P<why>not within the file bounds)"),
        types={"why": file_fault},
        samples=(
            Sample(
                build="11434",
                line="0.00.035.361 E llama_model_load: error loading model: tensor "
                "'blk.4.ffn_down.weight' data is not within the file bounds, model is corrupted "
                "or incomplete",
                values={"tensor": "blk.4.ffn_down.weight", "why": "cut"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_FILE,
        keys=(
            "error loading model: ",
            "error loading model hyperparameters",
            "error loading model vocabulary",
        ),
        regex=re.compile(
            r"error loading model(?: \w+)?: (?:\w{1,40}: )?"
            r"(?P<why>(?:tensor '(?P<tensor>[^']+)' not found|missing tensor '(?P<missing>[^']+)'"
            r"|wrong number of tensors|tensor '[^']+' has wrong shape"
            r"|illegal split file|failed to load GGUF split|invalid split|key not found in model"
            r"|unknown pre-tokenizer type|array key not found|corrupted model"
            r"|invalid model:|tensor '[^']+' has invalid data).*)"
        ),
        types={"why": file_fault},
        samples=(
            Sample(
                build="11434",
                line="0.00.132.644 E llama_model_load: error loading model: check_tensor_dims: "
                "tensor 'blk.1.ffn_down.weight' not found",
                values={"why": "other-tensors", "tensor": "blk.1.ffn_down.weight"},
            ),
            Sample(
                build="11434",
                line="llama_model_load: error loading model: llama_model_loader: failed to load "
                "GGUF split from /models/tiny-split-00002-of-00002.gguf",
                values={"why": "split"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_ARCHITECTURE,
        keys=("unknown model architecture",),
        regex=re.compile(r"unknown model architecture: '(?P<arch>[^']*)'"),
        samples=(
            Sample(
                build="11434",
                line="0.00.042.750 E llama_model_load: error loading model: unknown model "
                "architecture: 'nosucharch'",
                values={"arch": "nosucharch"},
            ),
            Sample(
                build="2023-09",
                line="error loading model: unknown model architecture: 'nosucharch'",
                values={"arch": "nosucharch"},
            ),
        ),
    ),
)
