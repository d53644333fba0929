"""Bins of dates are shown as days where no counted date lies between the cut and the next midnight."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import naively

FIRST = date(2020, 1, 1)


def test_bins_of_days_begin_at_days() -> None:
    days = [FIRST + timedelta(days=k) for k in range(200)]
    model = naively.fit({"day": days}, ["a"] * 101 + ["b"] * 99, columns={"day": naively.Binned()}, tune=False)
    (explanation,) = model.explain({"day": [date(2020, 3, 1)]}, leave_out=False)
    assert explanation.contributions[0].shown == "2020-03-01 (below 2020-04-11)"  # day 101 is the first of class b
    assert str(days[101]) == "2020-04-11"


def test_bins_of_times_keep_their_cuts() -> None:
    times = [datetime(2020, 1, 1) + timedelta(hours=k) for k in range(200)]
    model = naively.fit({"time": times}, ["a"] * 100 + ["b"] * 100, columns={"time": naively.Binned()}, tune=False)
    (explanation,) = model.explain({"time": [datetime(2020, 1, 1, 5)]}, leave_out=False)
    assert explanation.contributions[0].shown == "2020-01-01 05:00 (below 2020-01-05 03:30)"
