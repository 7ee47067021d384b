"""Where logs come from: files, compressed files and stdin as bytes that can be read again, and as text."""

from __future__ import annotations

import gzip
import io
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, BinaryIO, cast

from mixlaw.errors import InputError

HEAD = 1 << 18
"""Bytes that detection looks at."""

Progress = Callable[[int], None]
"""Told the number of (compressed) bytes of one source that have been read so far."""

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_BOMS = ((b"\xff\xfe\x00\x00", "utf-32"), (b"\x00\x00\xfe\xff", "utf-32"), (b"\xef\xbb\xbf", "utf-8-sig"))
_BOMS_16 = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


@dataclass(frozen=True)
class Source:
    """One file (or stdin) to read.

    Attributes:
        path: the file; for stdin the temporary copy of it.
        name: how messages call it.
        root: the folder that the user named, when the file was found inside one.
        progress: told how far reading has come.
    """

    path: Path
    name: str
    root: Path | None = None
    progress: Progress | None = field(default=None, compare=False)

    @classmethod
    def at(cls, path: Path, *, root: Path | None = None, progress: Progress | None = None) -> Source:
        """A file; ``-`` is stdin, which is copied to a temporary file so that it can be read twice."""
        if str(path) == "-":
            return cls(_spool(sys.stdin.buffer), "stdin", progress=progress)
        if not path.is_file():
            got = "a folder" if path.is_dir() else "none of this name"
            raise InputError("a readable file", got, where=str(path))
        return cls(path, str(path), root, progress)

    @property
    def stem(self) -> str:
        """File name without the suffixes of formats and compression."""
        name = "stdin" if self.name == "stdin" else self.path.name
        known = (".gz", ".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json", ".log", ".out", ".parquet")
        while name.lower().endswith(known) and len(Path(name).stem):
            name = Path(name).stem
        return name

    def open(self) -> BinaryIO:
        """Open the bytes, decompressed.

        Raises:
            InputError: when the file cannot be read or is compressed in a way that needs another tool.
        """
        try:
            raw = _Counted(self.path, self.progress)
        except OSError as error:
            raise InputError("a readable file", error.strerror or str(error), where=self.name) from error
        magic = raw.peek()
        if magic.startswith(_ZSTD):
            raw.close()
            raise InputError("plain text or gzip", "zstd", where=self.name, hint="Decompress it first: zstd -d FILE.")
        buffered = io.BufferedReader(raw, 1 << 20)
        if magic.startswith(_GZIP):
            return cast(BinaryIO, gzip.GzipFile(fileobj=buffered))
        return buffered

    @cached_property
    def head(self) -> bytes:
        """The first bytes, decompressed."""
        with self.reading(), self.open() as handle:
            return handle.read(HEAD)

    @cached_property
    def encoding(self) -> str:
        """Text encoding, from the byte-order mark or the place of zero bytes; UTF-8 otherwise."""
        for mark, name in (*_BOMS, *_BOMS_16):
            if self.head.startswith(mark):
                return name
        sample = self.head[:4096]
        if sample.count(0) > len(sample) // 4:
            return "utf-16-le" if sample[1::2].count(0) > sample[::2].count(0) else "utf-16-be"
        return "utf-8"

    @cached_property
    def head_text(self) -> str:
        """The first bytes as text; bytes that are no text are replaced, line ends are as in the file."""
        return self.head.decode(self.encoding, errors="replace")

    @property
    def complete_head(self) -> bool:
        """Whether ``head`` is the whole file."""
        return len(self.head) < HEAD

    def text(self, *, errors: str = "strict") -> IO[str]:
        """Open as text with universal line ends."""
        return io.TextIOWrapper(self.open(), encoding=self.encoding, errors=errors)

    def lines(self) -> Iterator[str]:
        """Lines of a console log with their ends; bytes that are no text are replaced."""
        with self.reading(), self.text(errors="replace") as handle:
            yield from handle

    @cached_property
    def unterminated(self) -> bool:
        """Whether the last line has no end."""
        last = "\n"
        for line in self.lines():
            last = line
        return not last.endswith("\n")

    def reading(self) -> _Reading:
        """Context that turns broken bytes met while reading into an ``InputError``."""
        return _Reading(self.name)


class _Reading:
    """Turns what a damaged file makes the decoders raise into one sentence."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, UnicodeDecodeError):
            hint = "Save it as UTF-8 (or UTF-16 with a byte-order mark)."
            got = f"byte 0x{error.object[error.start]:02x}, which is not {error.encoding}"
            raise InputError("text", got, where=self.name, hint=hint) from error
        if isinstance(error, EOFError | gzip.BadGzipFile | gzip.zlib.error):  # type: ignore[attr-defined]
            raise InputError("a whole gzip file", f"a damaged one ({error})", where=self.name) from error
        if isinstance(error, OSError):
            raise InputError("a readable file", error.strerror or str(error), where=self.name) from error


class _Counted(io.RawIOBase):
    """A raw file that tells how far it has been read."""

    def __init__(self, path: Path, progress: Progress | None) -> None:
        self._file = path.open("rb", buffering=0)
        self._progress, self._done = progress, 0

    def peek(self) -> bytes:
        start = self._file.read(4)
        self._file.seek(0)
        return start

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        count = self._file.readinto(buffer)  # type: ignore[arg-type]
        self._done += count
        if self._progress is not None:
            self._progress(self._done)
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def _spool(stream: BinaryIO) -> Path:
    """Copy a stream to an unnamed temporary file and return a path that opens it."""
    handle = tempfile.NamedTemporaryFile(prefix="mixlaw-stdin-", delete=False)
    with handle:
        shutil.copyfileobj(stream, handle)
    _remove_at_exit(handle.name)
    return Path(handle.name)


def _remove_at_exit(name: str) -> None:
    import atexit

    atexit.register(Path(name).unlink, missing_ok=True)
