"""Planes that turn: those of sinusoids are found as they were built, also mixed; and too few rows."""

import math

import pytest
import torch

from encoder_lib import sinusoidal_table
from encoder_lib.course.lab.planes import find_planes, principal_coordinates


@pytest.fixture
def table():
    return sinusoidal_table(200, 6, base=100, dtype=torch.float64)


def test_the_clocks_of_sinusoids_are_found_with_their_wavelengths(table):
    planes = find_planes(table)
    wanted = [2 * math.pi * 100 ** (2 * k / 6) for k in range(3)]
    assert [plane.wavelength for plane in planes] == pytest.approx(wanted)
    assert [plane.growth for plane in planes] == pytest.approx([1, 1, 1])


def test_a_hand_keeps_its_length_and_turns_by_its_speed(table):
    for plane in find_planes(table):
        torch.testing.assert_close(plane.points.norm(dim=1), torch.ones(200).double())
        angle = torch.atan2(plane.points[:, 1], plane.points[:, 0])
        turned = angle.diff() % (2 * math.pi)
        torch.testing.assert_close(turned, torch.full((199,), 2 * math.pi / plane.wavelength).double())


def test_clocks_are_found_in_any_mixture_of_the_columns(table):
    torch.manual_seed(0)
    mixed = table @ torch.randn(6, 6).double()
    found, wanted = find_planes(mixed), find_planes(table)
    assert [c.wavelength for c in found] == pytest.approx([c.wavelength for c in wanted])


def test_a_hand_that_grows_is_told():
    growing = 1.01 ** torch.arange(50)[:, None] * sinusoidal_table(50, 2, dtype=torch.float64)
    (plane,) = find_planes(growing)
    assert plane.growth == pytest.approx(1.01) and plane.wavelength == pytest.approx(2 * math.pi)


def test_what_only_shrinks_is_no_clock():
    assert find_planes(0.9 ** torch.arange(20.0)[:, None]) == []


def test_principal_coordinates_keep_what_can_be_kept():
    torch.manual_seed(0)
    flat = torch.randn(30, 2).double() @ torch.randn(2, 9).double() + 5  # two directions, away from zero
    seen = principal_coordinates(flat, 2)
    assert seen.shape == (30, 2)
    torch.testing.assert_close(torch.cdist(seen, seen), torch.cdist(flat, flat), atol=1e-5, rtol=0)
    assert seen[:, 0].var() > seen[:, 1].var()
    torch.testing.assert_close(principal_coordinates(flat, 1).abs(), seen[:, :1].abs())


def test_shuffled_rows_have_the_same_coordinates_shuffled():
    torch.manual_seed(0)
    table, order = torch.randn(20, 5).double(), torch.randperm(20)
    seen, shuffled = principal_coordinates(table, 3), principal_coordinates(table[order], 3)
    torch.testing.assert_close(shuffled.abs(), seen[order].abs())


def test_too_few_rows_are_refused_with_a_way_out():
    with pytest.raises(ValueError, match=r"at least 13 rows of width 6, got 12; .*principal_coordinates"):
        find_planes(torch.randn(12, 6))
