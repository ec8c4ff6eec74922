"""Takes model files apart, and puts them together again with a correct checksum."""

import hashlib
import json
from pathlib import Path

from cprime.storage.container import CHECKSUM, MAGIC, PREFIX
from cprime.storage.layout import aligned, placed

FIXTURES = Path(__file__).parent / "fixtures" / "models"


def taken_apart(content):
    """Return the header of a file, and the bytes of its arrays by their names."""
    header_length = PREFIX.unpack(content[: PREFIX.size])[3]
    start = PREFIX.size + header_length
    header = json.loads(content[PREFIX.size : start])
    places = placed(header["arrays"], start)
    return header, {n: content[at.offset : at.end] for n, at in places.items()}


def put_together(header, arrays, **prefix):
    """Return a file of this header, whatever it says, and these bytes."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    body = text
    for data in arrays.values():
        offset = aligned(PREFIX.size + len(body))
        body += bytes(offset - PREFIX.size - len(body)) + data
    length = PREFIX.size + len(body) + CHECKSUM
    values = {
        "version": 1,
        "zero": 0,
        "header_length": len(text),
        "length": length,
        **prefix,
    }
    return sealed(PREFIX.pack(MAGIC, *values.values()) + body + bytes(CHECKSUM))


def sealed(content):
    """Return a file with the checksum of what it holds."""
    content = content[:-CHECKSUM]
    return content + hashlib.sha256(content).digest()
