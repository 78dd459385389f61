"""The search for known vulnerabilities: an index that says nothing is no good news."""

import io
import json
import urllib.error

import pytest

from tools import audit

LOCK = (
    "hatchling==1.33.0 \\\n    --hash=sha256:0\nuv==0.13.8 ; python_version < '4' \\\n    --hash=sha256:1\n"
)


def vulnerability(**other):
    return {"id": "PYSEC-1", "summary": "It leaks.", "fixed_in": ["0.14", "0.15"], "withdrawn": None, **other}


def page(version, *vulnerabilities):
    return {"info": {"version": version}, "vulnerabilities": list(vulnerabilities)}


@pytest.fixture
def index(monkeypatch):
    """The pages of an index that can be given others."""
    pages = {"hatchling/1.33.0": page("1.33.0"), "uv/0.13.8": page("0.13.8")}

    def urlopen(address, timeout):
        result = pages.get("/".join(address.split("/")[4:-1]))
        if result is None:
            raise urllib.error.HTTPError(address, 404, "Not Found", {}, None)
        return io.BytesIO(json.dumps(result).encode())

    monkeypatch.setattr(audit.urllib.request, "urlopen", urlopen)
    return pages


def test_nothing_is_known_of_these(index):
    assert audit.findings(LOCK) == []


def test_a_known_vulnerability_is_reported_with_what_mends_it(index):
    index["uv/0.13.8"] = page("0.13.8", vulnerability())
    assert audit.findings(LOCK) == ["uv 0.13.8: PYSEC-1, mended in 0.14, 0.15. It leaks."]


def test_one_that_nothing_mends_is_reported_too(index):
    index["uv/0.13.8"] = page("0.13.8", vulnerability(fixed_in=[]))
    assert audit.findings(LOCK) == ["uv 0.13.8: PYSEC-1, mended in no release. It leaks."]


def test_what_was_withdrawn_or_accepted_is_not(index, monkeypatch):
    index["uv/0.13.8"] = page("0.13.8", vulnerability(id="PYSEC-2"), vulnerability(withdrawn="2026-01-01"))
    monkeypatch.setattr(audit, "ACCEPTED", {"PYSEC-2": "nothing of it is used"})
    assert audit.findings(LOCK) == []


def test_the_page_of_a_project_serves_its_newest_release(index):
    index["uv"] = index.pop("uv/0.13.8")
    assert audit.findings(LOCK) == []


def test_the_page_of_a_project_does_not_serve_another_release(index):
    del index["uv/0.13.8"]
    index["uv"] = page("0.14")
    assert audit.findings(LOCK) == ["unknown for 1 of 2, for want of an answer: uv 0.13.8"]


def test_a_reply_without_the_data_is_none(index):
    del index["uv/0.13.8"]["vulnerabilities"]
    assert audit.findings(LOCK) == ["unknown for 1 of 2, for want of an answer: uv 0.13.8"]


def test_without_a_network_the_audit_fails(index, monkeypatch, tmp_path, capsys):
    (tmp_path / "lock").write_text(LOCK)
    monkeypatch.setattr(audit.environment, "LOCK", tmp_path / "lock")
    assert audit.main() == 0
    assert capsys.readouterr().out == "No known vulnerability in 2 packages.\n"
    index.clear()
    assert audit.main() == 1
    assert capsys.readouterr().out.startswith("unknown for 2 of 2, for want of an answer:")
