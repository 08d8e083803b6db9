"""The window that end-to-end tests drive is the one of the window tests."""

from tests.ui.conftest import qapp_cls, window

__all__ = ["qapp_cls", "window"]
