"""The figures of `./dev bench accuracy`: errors, order of alternatives, regret."""

from __future__ import annotations

from dev.bench.accuracy import Outcome, alternatives, kendall, report, summary


def outcome(program: str, seed: int | None, predicted: float, measured: float, ranks: int = 2) -> Outcome:
    return Outcome(f"{program}-{seed}", program, "join", ranks, seed, predicted, measured)


def test_order_counts_only_pairs_that_measurement_tells_apart() -> None:
    three = [outcome("q", None, 1.0, 1.0), outcome("q", 1, 2.0, 2.0), outcome("q", 2, 1.5, 3.0)]
    assert kendall(three) == (2 - 1) / 3
    alike = [outcome("q", None, 2.0, 1.0), outcome("q", 1, 1.0, 1.01)]
    assert kendall(alike) is None


def test_regret_is_over_the_best_that_was_measured() -> None:
    group = [outcome("q", None, 3.0, 1.2), outcome("q", 1, 1.0, 1.5), outcome("q", 2, 2.0, 1.0)]
    figures = summary(group)
    assert abs(figures["regret_compiled"]["q"] - 0.2) < 1e-9
    assert abs(figures["regret_simulated"]["q"] - 0.5) < 1e-9


def test_errors_in_summary_and_table() -> None:
    group = [outcome("q", seed, 1.1, 1.0) for seed in (None, 1, 2)] + [outcome("p", None, 1.0, 2.0, ranks=1)]
    figures = summary(group)
    assert figures["plans"] == 4
    assert abs(figures["median_error"] - 0.1) < 1e-9
    assert abs(figures["mean_error"] - (0.3 + 0.5) / 4) < 1e-9
    assert list(alternatives(group)) == ["q"]
    assert "4" in report(group)
