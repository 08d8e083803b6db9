"""The one exception whose text is meant for the user."""


class UserError(Exception):
    """Something the user can act on: what went wrong, the detail, and what to do about it."""

    def __init__(self, title: str, detail: str = "", advice: str = "") -> None:
        super().__init__(title)
        self.title = title
        self.detail = detail
        self.advice = advice

    def sentence(self) -> str:
        """Return all parts on one line, for stderr."""
        return _sentences(self.title, self.detail, self.advice)

    def rest(self) -> str:
        """Return detail and advice as sentences, to stand below the title; "" without either."""
        return _sentences(self.detail, self.advice)


def _sentences(*parts: str) -> str:
    return " ".join(
        part if part.endswith((".", "?", "!")) else f"{part}." for part in parts if part
    )
