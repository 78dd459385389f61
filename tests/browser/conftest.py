"""The browser of these tests, and what is said where there is none."""

import os

import pytest
from checks import FLAGS, chromium

LEFT_OUT = 77  # the exit status of a test that was left out, for automake and for tools/run.py


def pytest_configure(config):
    if hasattr(config, "workerinput") or chromium():
        return
    how = (
        "install Chromium (Debian: apt install chromium), "
        "or name a browser of its kind in the variable CHROMIUM"
    )
    if os.environ.get("CI"):
        pytest.exit(f"The browser tests need Chromium, and with CI set they are not left out: {how}.", 1)
    pytest.exit(f"The browser tests were left out, for want of Chromium: to have them, {how}.", LEFT_OUT)


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield browser
        browser.close()
