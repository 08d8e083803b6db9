"""Takes keys, tokens and typed prompts out of a command line before it is kept or shown."""

import re

HIDDEN = "(left out)"
_FLAGS = frozenset({
    "--api-key", "--api-key-file", "--hf-token", "-hft", "--token", "--password", "--ssl-key-file",
    "--admin-key", "--gradio-auth", "--gradio-auth-path", "--api-keys",
})  # fmt: skip
# what a person typed is nobody's business
_PROMPTS = frozenset({"-p", "--prompt", "-sys", "--system-prompt", "-f", "--file"})
_LOOKS_SECRET = re.compile(
    r"(?:sk-|hf_|ghp_|xox[bp]-)[\w-]{8,}|(?:[a-z]+://)[^/\s:@]+:[^/\s@]+@.*|[\w-]{40,}"
)
_NAMED = re.compile(r"(?i)(--?[\w-]*(?:key|token|secret|password|auth)[\w-]*)=.*")


def hidden_argv(argv: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command line with each secret and prompt replaced."""
    result: list[str] = []
    for index, word in enumerate(argv):
        before = argv[index - 1] if index else ""
        named = _NAMED.fullmatch(word)
        if named:
            result.append(f"{named[1]}={HIDDEN}")
        elif before in _FLAGS | _PROMPTS or _LOOKS_SECRET.fullmatch(word):
            result.append(HIDDEN)
        else:
            result.append(word)
    return tuple(result)
