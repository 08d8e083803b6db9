"""The packages say what the product says, and the bundle takes every folder of plug-ins."""

import ast
import configparser
import runpy
from pathlib import Path
from xml.etree import ElementTree

import pytest

from app import product
from tests.house.tree import APP, ROOT

LINUX = ROOT / "installers" / "linux"
MIME = "application/x-gguf"


def xml(suffix: str) -> ElementTree.Element:
    return ElementTree.parse(LINUX / f"{product.DESKTOP_ID}{suffix}").getroot()


def test_desktop_entry_starts_the_product() -> None:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign] # the names have capitals
    parser.read(LINUX / f"{product.DESKTOP_ID}.desktop", encoding="utf-8")
    entry = parser["Desktop Entry"]
    assert entry["Name"] == product.NAME
    assert entry["Comment"] == product.SUMMARY
    assert entry["Exec"] == f"{product.SLUG} %F"
    assert entry["StartupWMClass"] == product.SLUG
    assert entry["Icon"] == product.DESKTOP_ID
    assert entry["MimeType"] == f"{MIME};"
    assert float(entry["Version"]) <= 1.4, "the validator of Debian 12 refuses 1.5"


def test_metainfo_names_this_version_first() -> None:
    metainfo = xml(".metainfo.xml")
    assert metainfo.findtext("id") == product.DESKTOP_ID
    assert metainfo.findtext("name") == product.NAME
    assert metainfo.findtext("launchable") == f"{product.DESKTOP_ID}.desktop"
    release = metainfo.find("releases/release")
    assert release is not None
    assert release.get("version") == product.VERSION


def test_file_type_is_known_by_name_and_by_content() -> None:
    space = "{http://www.freedesktop.org/standards/shared-mime-info}"
    kind = xml(".mime.xml").find(f"{space}mime-type")
    assert kind is not None
    assert kind.get("type") == MIME
    match = kind.find(f"{space}magic/{space}match")
    assert match is not None
    assert (match.get("offset"), match.get("value")) == ("0", "GGUF")
    glob = kind.find(f"{space}glob")
    assert glob is not None
    assert glob.get("pattern") == "*.gguf"


def test_windows_script_names_the_product() -> None:
    script = (ROOT / "installers" / "windows" / "slowscope.nsi").read_text(encoding="utf-8")
    assert f'!define NAME "{product.NAME}"' in script
    assert f'!define SLUG "{product.SLUG}"' in script
    # never the default of .gguf, only one more program that can open it
    assert 'WriteRegStr HKCU "Software\\Classes\\.gguf" ' not in script


def test_bundle_takes_every_folder_that_is_discovered() -> None:
    spec = ast.parse((ROOT / "build.spec").read_text(encoding="utf-8"))
    listed = next(
        ast.literal_eval(node.value)
        for node in spec.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "DISCOVERED"
    )
    assert set(listed) == {
        "app.rules",
        "app.probes",
        "app.runtimes",
        "app.logs.patterns",
        "app.ui.tabs",
        "app.cli",
    }
    for package in listed:
        assert (APP.parent / package.replace(".", "/") / "__init__.py").exists()


@pytest.mark.parametrize("newest", ["2.34", "2.36"])
def test_package_asks_for_the_c_library_that_it_needs(tmp_path: Path, newest: str) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "libone.so.1").write_bytes(b"\x7fELF\0GLIBC_2.2.5\0GLIBC_2.17\0")
    (tmp_path / "libtwo.so").write_bytes(f"\x7fELF\0GLIBC_{newest}\0GLIBC_2.9\0".encode())
    build_deb = runpy.run_path(str(LINUX / "build_deb.py"))
    assert build_deb["newest_glibc"](tmp_path) == newest
