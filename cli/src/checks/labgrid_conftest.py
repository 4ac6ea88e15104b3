"""In place of a board: a console that says what a file has, and a strategy that does nothing."""

import os
import re

import pytest


class Console:
    def __init__(self):
        with open(os.environ["EITRI_LOG"], "rb") as log:
            self.rest = log.read()

    def expect(self, patterns, timeout):
        found = [(match.start(), index, match) for index, pattern in enumerate(patterns)
                 if (match := re.search(pattern.encode(), self.rest))]
        if not found:
            raise TimeoutError(f"nothing for {timeout} s")
        _, index, match = min(found)
        before, self.rest = self.rest[:match.start()], self.rest[match.end():]
        return index, before, match, match.group(0)


class Target:
    def get_driver(self, name):
        assert name == "ConsoleProtocol"
        return Console()


class Strategy:
    def transition(self, status):
        assert status in ["running", "off"]


@pytest.fixture(scope="session")
def target():
    return Target()


@pytest.fixture(scope="session")
def strategy(target):
    return Strategy()
