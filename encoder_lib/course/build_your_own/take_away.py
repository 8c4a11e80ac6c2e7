"""A reader's encoder in a folder of its own, where it runs without this library."""

import json
import math
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from symtable import SymbolTable, symtable
from types import ModuleType
from typing import Any

from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch import nn

from encoder_lib.course.build_your_own.own import CHECKS, LENT, Workshop
from encoder_lib.course.build_your_own.source import functions_of, source_of

LOADER = Path(__file__).with_name("loader.py")
OURS = "encoder_lib"


def take_away(
    workshop: Workshop, encoder: nn.Module, tokenizer: Tokenizer, sizes: Mapping[str, float], folder: str | Path
) -> None:
    """Write a new folder: my_encoder.py with the nine parts and a loader, the parameters, the sizes, the tokenizer.

    sizes: the names and numbers that 12_build_your_own's `make` takes.

    Raises: FileExistsError when there is something of that name already; ValueError for an encoder of other parts, and
    for a part that needs what cannot be written down.
    """
    workshop.places(encoder)
    text, folder = program(workshop), Path(folder)
    if folder.exists():
        raise FileExistsError(f"folder: expected a name that is free, got {folder.name!r}, which is there; try another")
    folder.mkdir()
    (folder / "my_encoder.py").write_text(text, encoding="utf-8")
    (folder / "config.json").write_text(json.dumps(sizes, indent=2) + "\n", encoding="utf-8")
    tensors = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in encoder.state_dict().items()}
    save_file(tensors, folder / "model.safetensors")
    tokenizer.save(str(folder / "tokenizer.json"))


def program(workshop: Workshop) -> str:
    """The text of my_encoder.py: imports, the parts as they were written and what they use, and the loader.

    Raises: ValueError for a part that needs what cannot be written down.
    """
    head, _, below = LOADER.read_text(encoding="utf-8").partition(f"from {OURS}")
    imports, definitions = _needed(workshop)
    *above, last = head.rstrip().split("\n\n")
    lines = sorted(imports - set(head.split("\n")) | set(last.split("\n")), key=lambda line: (line[:4] == "from", line))
    return "\n\n\n".join(["\n\n".join([*above, "\n".join(lines)]), *definitions]) + below[below.index("\n\n\n") :]


def _needed(workshop: Workshop) -> tuple[set[str], list[str]]:
    """The imports and definitions that the nine parts need: each name once, after what it uses itself."""
    parts = {name: getattr(workshop, name) for name in CHECKS}
    seen: dict[str, Any] = {}
    imports: set[str] = set()
    definitions: list[str] = []

    def need(name: str, thing: Any, user: str) -> None:
        if name in seen:
            if seen[name] is not thing:
                raise ValueError(f"{user}: expected one meaning of {name}, got two; give one of them another name")
            return
        seen[name] = thing
        label = getattr(thing, "__name__", "")
        ours = str(getattr(thing, "__module__", "")).startswith(OURS) and thing is not parts.get(name)
        if line := _import_line(name, thing):
            imports.add(line)
        elif (text := "" if ours else source_of(thing)) and label != name:
            need(label, thing, user)
            definitions.append(f"{name} = {label}")
        elif text:
            known = functions_of(thing)[0].__globals__
            for other in sorted(_global_names(text) & known.keys() - {name}):
                need(other, parts.get(other, known[other]), name)
            definitions.append(f"# lent by the course\n{text}" if name in workshop.named(LENT) else text)
        elif isinstance(thing, bool | int | float | str | None):
            shown = repr(thing) if not isinstance(thing, float) or math.isfinite(thing) else f'float("{thing}")'
            definitions.append(f"{name} = {shown}")
        elif name == user:
            raise ValueError(
                f"{name}: expected a def or a class that was written in a cell without %%magic, got {thing!r}"
            )
        else:
            raise ValueError(f"{user}: expected to stand alone, got one that uses {name}; write it into {user}")

    for name, part in parts.items():
        need(name, part, name)
    return imports, definitions


def _import_line(name: str, thing: Any) -> str:
    """The line that imports a thing under that name; empty for what is written here, or belongs to this library."""
    if isinstance(thing, ModuleType):
        above, _, last = thing.__name__.rpartition(".")
        line = (
            f"import {last}"
            if not above
            else f"from {above} import {last}"
            if last == name
            else f"import {above}.{last}"
        )
        return "" if thing.__name__.startswith(OURS) else line if last == name else f"{line} as {name}"
    module, label = str(getattr(thing, "__module__", "")).split("."), getattr(thing, "__name__", "")
    if module[0] not in ("__main__", OURS):
        for end in range(1, len(module) + 1):  # where it is public: torch.Tensor, pathlib.Path
            path = ".".join(module[:end])
            if path in sys.modules and getattr(sys.modules[path], label, None) is thing:
                return f"from {path} import {label}" + (f" as {name}" if label != name else "")
    return ""


def _global_names(text: str) -> set[str]:
    """The names that a definition uses without giving them a value itself."""

    def tables(table: SymbolTable) -> Iterator[SymbolTable]:
        yield table
        for child in table.get_children():
            yield from tables(child)

    every = [symbol for table in tables(symtable(text, "", "exec")) for symbol in table.get_symbols()]
    return {symbol.get_name() for symbol in every if symbol.is_global() and symbol.is_referenced()}
