"""An image in few colours, none of them far from the one drawn."""

import itertools

import numpy as np
from PIL import Image, ImageChops

COLOUR_ERROR = 8  # of 255: the most by which a stored colour may differ from the one drawn, in each channel
MOST_COMPARED = 5000  # colours of an image that are compared with one another


def indexed(image: Image.Image) -> Image.Image:
    """An RGB image with a palette of at most 256 colours where these are near enough to its own, else as it is.

    The first way is the quickest, and does for most pictures; the last one gets along with the fewest colours.
    """
    quick = image.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    if np.asarray(ImageChops.difference(image, quick.convert("RGB"))).max() <= COLOUR_ERROR:
        return quick
    pixels = np.asarray(image).reshape(-1, 3)  # (P, 3)
    packed, places = np.unique(pixels @ np.array([1 << 16, 1 << 8, 1]), return_inverse=True)  # (N,), (P,)
    colours = np.stack([packed >> 16, packed >> 8 & 255, packed & 255], axis=1).astype(np.int16)  # (N, 3)
    if len(colours) > MOST_COMPARED:
        return image
    ground = colours[np.bincount(places.ravel()).argmax()]  # the commonest colour stays exactly as it is
    corners = np.array(list(itertools.product((-COLOUR_ERROR, COLOUR_ERROR), repeat=3)), dtype=np.int16)  # (8, 3)
    around = (colours[:, None] + corners).reshape(-1, 3).clip(0, 255)  # (8 N, 3)
    for more in (np.empty((0, 3), np.int16), around):
        palette = _cover(colours, np.concatenate([ground[None], colours, more]))
        if len(palette) <= 256:
            far = np.stack([np.abs(colours - colour).max(axis=1) for colour in palette])  # (colours of the palette, N)
            result = Image.fromarray(far.argmin(axis=0)[places].reshape(image.height, image.width).astype(np.uint8))
            result.putpalette(palette.astype(np.uint8).tobytes())
            return result
    return image


def _cover(colours: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """Candidates (M, 3) that all the colours (N, 3) are near to: the first one, then by greedy set cover."""
    near = np.ones((len(candidates), len(colours)), dtype=bool)  # (M, N)
    for ours, theirs in zip(candidates.T, colours.T, strict=True):
        near &= np.abs(ours[:, None] - theirs) <= COLOUR_ERROR
    chosen, left, gain = [], np.ones(len(colours), dtype=bool), near.sum(axis=1)  # gain: how many each would add
    best = 0
    while left.any():
        chosen.append(best)
        new = near[best] & left
        left, gain = left & ~new, gain - near[:, new].sum(axis=1)
        best = gain.argmax()
    return candidates[chosen]
