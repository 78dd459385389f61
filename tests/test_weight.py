"""What a page weighs, and that too much of it is a complaint."""

from pathlib import Path

import pytest

from tools import weight


def site(folder: Path, body: str, svg: int = 10) -> Path:
    (folder / "chapters").mkdir()
    (folder / "_images").mkdir()
    (folder / "_images" / "a.svg").write_text("x" * svg, encoding="utf-8")
    (folder / "chapters" / "a.html").write_text(f"<p>{body}", encoding="utf-8")
    (folder / "_static").mkdir()
    (folder / "_static" / "template.html").write_text("<p>", encoding="utf-8")
    return folder


def test_a_page_is_counted(tmp_path: Path):
    body = '<img src="../_images/a.svg"><script>if (a<b) "<b>"</script><svg><path/></svg>é'
    (page,) = weight.weights(site(tmp_path, body))
    assert page.name == "chapters/a"
    assert page.bytes == len(f"<p>{body}".encode())
    assert page.elements == 5  # p, img, script, svg, path
    assert page.svg == len("<svg><path/></svg>")
    assert page.complaints() == []


@pytest.mark.parametrize(
    ("body", "svg", "complaint"),
    [
        ("x" * weight.BYTES, 0, "chapters/a: 1,500,003 bytes, 1,500,000 are allowed"),
        ("<b>" * weight.ELEMENTS, 0, "chapters/a: 45,001 elements, 45,000 are allowed"),
        (
            '<img src="../_images/a.svg">',
            weight.SVG + 1,
            "chapters/a: 150,001 bytes in an SVG, 150,000 are allowed",
        ),
    ],
)
def test_too_much_is_a_complaint(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    body: str,
    svg: int,
    complaint: str,
):
    folder = site(tmp_path, body, svg)
    assert [text for page in weight.weights(folder) for text in page.complaints()] == [complaint]
    monkeypatch.setattr(weight, "HTML", folder)
    assert weight.main([]) == 1
    assert capsys.readouterr().out.endswith(f"{complaint}\n")


def test_an_unknown_page_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(weight, "HTML", site(tmp_path, ""))
    assert weight.main(["chapters/b"]) == 1
    assert "chapters/b" in capsys.readouterr().err
    assert weight.main(["chapters/a"]) == 0
