"""Experiments run into a report, for tests of their claims."""

import pytest

from palpate.experiments.report import Report


def failed(report):
    return [claim.name for claim in report.claims if not claim.passed]


def into(tmp_path, module, **options):
    report = Report(module.__name__.rpartition(".")[2], tmp_path, say=lambda line: None)
    module.run(report, **options)
    return report


@pytest.fixture
def undrawn(monkeypatch):
    """Figures are made, but not drawn: that is half of the time and more."""
    monkeypatch.setattr(Report, "figure", lambda self, name, figure: None)
