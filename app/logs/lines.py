"""Turns a raw log line into its text: prefix, colours and wrappers off, level kept."""

import json
import re
from collections.abc import Iterator

MAX_TEXT = 1_000  # characters of a line that an event keeps
MAX_RAW = 8_192  # bytes of a line that are decoded
MAX_SOUGHT = 2_000  # characters of a line that are matched; the longest known are commands

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# common/log.cpp: minutes.seconds.milliseconds.microseconds, then the level (default since 2026-05)
_FULL = re.compile(r"(?:^|(?<=[\s\]:|]))\d+\.\d\d\.\d{3}\.\d{3} ([DIWE]) ")
_LEVEL = re.compile(r"([DIWE]) (?=\S)")
_SLOG = re.compile(r"\blevel=(TRACE|DEBUG|INFO|WARN|ERROR)\b")
# today's --log-jsonl, Docker's files, and llama-server from 2023-08 to 2024-09
_JSON = re.compile(r'\{"(?:type": ?"log|log": ?"|tid": ?"|timestamp": ?\d|function": ?")')
# what others put before a line: journald and syslog, docker compose, docker and kubectl with
# times, Jan and its engine cortex, LM Studio, Lemonade and router mode with one or more names in
# brackets, vLLM's processes
_WRAPPER = re.compile(
    r"(?:[^\W\d]{3,5}\.?|\d{1,2} ?\u6708) [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,6})? [\w.-]{1,64} "
    r"[\w.@-]{1,64}(?:\[\d{1,9}\])?: "
    r"|\d{4}-\d\d-\d\dT[\d:.]{8,18}(?:Z|[+-]\d\d:?\d\d) "
    r"(?:[\w.-]{1,64} [\w.@-]{1,64}\[\d{1,9}\]: )?"
    r"|\d{8} \d\d:\d\d:\d\d\.\d{6} UTC \d{1,10} [A-Z]{4,5} {1,2}"
    r"|[\w.-]{1,64} {1,64}\| ?"
    r"|(?:INFO|WARN|ERROR|DEBUG) {1,8}(?=\[)"
    r"|\[[^\]\s][^\]]{0,60}\](?:::\w{1,12}:|:)? ?"
    r"|\((?:EngineCore|(?:Vllm)?Worker|APIServer)\w{0,20}[^)]{0,40}\) ?"
)
_MOST_WRAPPERS = 6
_OF_THE_FORM = frozenset({"level", "function", "line", "msg", "message"})
_JSON_LEVELS = {"debug": "D", "info": "I", "warn": "W", "warning": "W", "error": "E"}
_SLOG_LEVELS = {"TRACE": "D", "DEBUG": "D", "INFO": "I", "WARN": "W", "ERROR": "E"}
_WRAPPER_LENGTH = 160  # a container name, a date and a level fit into this


def texts(raw: bytes) -> Iterator[tuple[str, str]]:
    """Yield (text, level) for each message of a line; level is D, I, W, E or "" for none.

    A line holds several when a lone carriage return redraws it, or when it is a JSON message.
    """
    line = raw[:MAX_RAW].decode("utf-8", "replace").removeprefix("\ufeff").rstrip("\r\n")
    for part in line.split("\r") if "\r" in line else (line,):
        found = _JSON.search(part, 0, _WRAPPER_LENGTH) if '{"' in part else None
        message = _from_json(part[found.start() :]) if found else None
        if message is None:
            yield strip(part[:MAX_SOUGHT])
            continue
        text, level = message
        for piece in text.splitlines():
            stripped, own = strip(piece[:MAX_SOUGHT])
            yield stripped, own or level


def plain(text: str) -> str:
    """Return the text without colours and NUL characters."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    return text.replace("\0", "") if "\0" in text else text


def strip(line: str) -> tuple[str, str]:
    """Return the text without prefix and colours, and the level."""
    line = plain(line)
    found = _FULL.search(line, 0, _WRAPPER_LENGTH)
    if found:
        return line[found.end() :].rstrip(), found[1]
    for _ in range(_MOST_WRAPPERS):
        found = _WRAPPER.match(line)
        if found is None:
            break
        line = line[found.end() :]
    found = _LEVEL.match(line)
    if found:
        return line[found.end() :].rstrip(), found[1]
    found = _SLOG.search(line, 0, _WRAPPER_LENGTH)
    return line.rstrip(), _SLOG_LEVELS[found[1]] if found else ""


def _from_json(line: str) -> tuple[str, str] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    text = value.get("msg", value.get("message", value.get("log")))
    level = value.get("level", "")
    if not isinstance(text, str):
        return None
    if "function" in value:  # llama-server to 2024-09: the figures stand beside the message
        said = (f"{k}={v}" for k, v in value.items() if k not in _OF_THE_FORM)
        text = f"{text} | {' '.join(said)}"
    return text, _JSON_LEVELS.get(level.lower(), "") if isinstance(level, str) else ""
