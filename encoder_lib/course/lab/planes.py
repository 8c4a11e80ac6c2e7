"""Planes through a table of positions in which its rows turn as the position goes on, and how fast."""

from typing import NamedTuple

import torch
from torch import Tensor


def principal_coordinates(table: Tensor, n: int) -> Tensor:
    """The rows of a table, seen along the n directions in which they differ most.

        coordinates = (table − mean row) · directionsᵀ        directions: the first n right singular vectors

    The directions do not depend on the order of the rows: shuffled rows give the same coordinates, shuffled.

    Shapes: (T, D) -> (T, n).
    Source: Pearson 1901, "On lines and planes of closest fit to systems of points in space".
    """
    centred = table - table.mean(dim=0)  # (T, D)
    directions = torch.linalg.svd(centred, full_matrices=False).Vh[:n]  # (n, D)
    return centred @ directions.T  # (T, n)


class Plane(NamedTuple):
    """What the rows do in one plane from position to position: the hand of a clock.

    wavelength: the number of steps that a turn takes. growth: what the hand's length is multiplied with at each step.
    points: (T, 2), where the hand points at each position, its mean length 1.
    """

    wavelength: float
    growth: float
    points: Tensor

    def __str__(self) -> str:
        return f"{self.wavelength:.1f} steps a turn"


def find_planes(rows: Tensor) -> list[Plane]:
    """The planes that turn when the position goes on by one, the quickest first.

    Least squares finds the one matrix M that takes every row best to the next. Each pair of its complex eigenvalues
    λ = r · e^(±iω), with the left eigenvectors w, is a clock:

        wᵀ · rows[t + 1] ≈ λ · wᵀ · rows[t]            wavelength = 2π / ω,  growth = r

    Directions that M stretches or mirrors (real eigenvalues) belong to no clock.

    Shapes: rows (T, n), T ≥ 2n + 1: with fewer rows a matrix would fit whatever they are.
    Raises: ValueError for fewer rows.
    Source: Schmid 2010, "Dynamic mode decomposition of numerical and experimental data".
    """
    if len(rows) < 2 * rows.shape[1] + 1:
        least = 2 * rows.shape[1] + 1
        raise ValueError(
            f"rows: expected at least {least} rows of width {rows.shape[1]}, got {len(rows)}; with fewer, some matrix "
            "fits any rows: try principal_coordinates(rows, n) first"
        )
    rows = rows.detach().double()
    step = torch.linalg.lstsq(rows[:-1], rows[1:]).solution  # (n, n), Mᵀ: its eigenvectors are M's left ones
    values, vectors = torch.linalg.eig(step)  # (n,), (n, n)
    found = []
    for value, vector in zip(values, vectors.T, strict=True):
        if value.imag > 0:  # one of each pair
            points = torch.view_as_real(rows.to(vector.dtype) @ vector)  # (T, 2)
            points = points / points.norm(dim=1).mean()
            found.append(Plane((2 * torch.pi / value.angle()).item(), value.abs().item(), points))
    return sorted(found, key=lambda plane: plane.wavelength)
