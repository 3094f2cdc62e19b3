"""Recordings in a shape of one's own: a file names the paths of conversation, role, text, call and result.

A path is names with dots, from an item: ``body.text``. With ``[*]`` for the items of a list it is from the record:
``$.turns[*].body.text``. ``call`` and ``result`` may be tables: ``{id, tool, arguments}`` and ``{id, tool, value}``.
``roles`` says which role is ``user``, ``assistant``, ``system`` or ``tool``, where that is not its name.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any, cast

from gllint_runtime.audit.formats import FormatError, Reader, Record, Walk, payload
from gllint_runtime.audit.table import first, parsed, speaker_of, table
from gllint_runtime.audit.turns import Called, Returned, Speaker

_KEYS = ("conversation", "role", "text", "call", "result")
_ITEMS = "[*]"


class MappedReader(Reader):
    """Reads records by the paths of a file, in JSON or TOML. Raises :class:`FormatError` for what names none."""

    def __init__(self, text: str) -> None:
        super().__init__()
        paths = parsed(text) if text.lstrip()[:1] == "{" else _toml(text)
        unknown = [key for key in paths if key not in (*_KEYS, "roles")] if isinstance(paths, Mapping) else []
        if not isinstance(paths, Mapping) or unknown or not {"text", "result"} & paths.keys():
            what = f"'{unknown[0]}' is none of its keys" if unknown else "it names no path of a text"
            raise FormatError(f"{what}: {', '.join(_KEYS)}, roles")
        roles = paths.get("roles")
        self._roles = {str(role): name for role, name in roles.items()} if isinstance(roles, Mapping) else {}
        self._items: tuple[str, ...] = ()
        self._paths = {key: self._path(paths[key]) for key in _KEYS if key in paths}

    def _path(self, path: Any) -> Any:
        """Return a path from an item; what leads to the list of items is noted."""
        if isinstance(path, Mapping):
            return {key: self._path(inner) for key, inner in path.items()}
        steps = str(path).removeprefix("$").removeprefix(".")
        head, mark, rest = steps.rpartition(_ITEMS)
        if mark:
            self._items = tuple(step.strip(".") for step in head.split(_ITEMS)) if head else ("",)
        return (rest.removeprefix("."),)

    def read(self, record: Any) -> list[Record]:
        """Return the conversations in a record, or the item of one that it is. Raises :class:`FormatError`."""
        items = [record]
        for step in self._items:
            lists = [first(item, (step,)) if step else item for item in items]
            items = [inner for value in lists if isinstance(value, list) for inner in value]
        if not self._items and isinstance(record, list):
            items = record
        walks: dict[str, Walk] = {}
        for item in items:
            name = self._at(item, "conversation") or self._at(record, "conversation")
            self._item(item, walks.setdefault("" if name is None else str(name)[:200], Walk(self._rules)))
        is_whole = bool(self._items) or isinstance(record, list)
        return [walk.record(name, is_whole=is_whole) for name, walk in walks.items() if walk.turns]

    def _at(self, item: Any, key: str, part: str = "") -> Any:
        path = self._paths.get(key)
        path = path.get(part) if isinstance(path, Mapping) else path
        return item if path == ("",) else first(item, path) if path else None

    def _item(self, item: Any, walk: Walk) -> None:
        """Read the turns of an item at the paths of the map."""
        role = self._at(item, "role")
        speaker = self._roles.get(str(role)) or speaker_of(role)
        parts = (("text", ""), ("call", "tool"), ("result", "value"))
        text, call, result = (self._at(item, key, part) for key, part in parts)
        if isinstance(call, (Mapping, list)):
            walk.read_calls(call, "call", 0)
        elif call is not None:
            arguments = (
                self._at(item, "call", "arguments") if isinstance(self._paths["call"], Mapping) else None
            )
            decoded = parsed(arguments) if isinstance(arguments, str) else None
            walk.turns.append(
                Called(self._id(item, "call"), str(call), arguments if decoded is None else decoded)
            )
        if speaker == "tool":
            result, text = text if result is None else result, None
        if result is not None:
            tool = self._at(item, "result", "tool") if isinstance(self._paths.get("result"), Mapping) else ""
            walk.turns.append(Returned(self._id(item, "result"), str(tool or ""), payload(result)))
        if text is not None and speaker is not None:
            walk.run(text, cast("Speaker", speaker))
        elif text is not None and result is None:
            names = ", ".join(sorted({*table().speakers.values()}))
            raise FormatError(f"the role {str(role)[:60]!r} is none of {names}: name it in `roles`")

    def _id(self, item: Any, key: str) -> str:
        path = self._paths.get(key)
        value = self._at(item, key, "id") if isinstance(path, Mapping) else None
        return "" if value is None else str(value)[:200]


def _toml(text: str) -> Any:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"it is neither JSON nor TOML: {error}") from None
