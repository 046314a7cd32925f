"""Ed25519 signatures, by the library ``cryptography``, which loads when one is made or checked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from shapley2d._base.json_record import check_form
from shapley2d._base.limits import read_record_file
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    import os

ALGORITHM = "Ed25519"

_FORM = {
    "algorithm": re.compile(ALGORITHM),
    "public_key": re.compile("[0-9a-f]{64}"),
    "signature": re.compile("[0-9a-f]{128}"),
}
# Points of small order: a signature by such a key can be made to fit any text, by anyone. They are
# told by their second coordinate: 0, 1 and -1, and that of the points of order 8.
_PRIME = 2**255 - 19
_OCTIC = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
_SMALL = {0, 1, _PRIME - 1, _OCTIC, _PRIME - _OCTIC}


def sign(body: bytes, key: str | os.PathLike[str]) -> dict[str, str]:
    """Sign bytes with the private key of a PEM file; the record of the signature."""
    ed25519, serialization = _library()
    found = _read(key, "sign", serialization.load_pem_private_key, password=None)
    if not isinstance(found, ed25519.Ed25519PrivateKey):
        raise InputError(Setting("sign", str(key)), f" is not a private key of {ALGORITHM}")
    return {
        "algorithm": ALGORITHM,
        "public_key": _raw(found.public_key(), serialization).hex(),
        "signature": found.sign(body).hex(),
    }


def check_signature(body: bytes, record: Any) -> None:
    """Check a signature; a ValueError says in a phrase what is wrong."""
    ed25519, _ = _library()
    from cryptography.exceptions import InvalidSignature

    try:
        check_form(record, _FORM, exact=True)
    except ValueError:
        raise ValueError(f"its signature is not one of {ALGORITHM}") from None
    raw = bytes.fromhex(record["public_key"])
    if int.from_bytes(raw, "little") % 2**255 % _PRIME in _SMALL:
        raise ValueError("its key is of small order: anyone could have signed with it")
    try:
        public = ed25519.Ed25519PublicKey.from_public_bytes(raw)
        public.verify(bytes.fromhex(record["signature"]), body)
    except (InvalidSignature, ValueError):
        raise ValueError("its signature does not fit: it was changed after it was signed") from None


def public_key(path: str | os.PathLike[str]) -> str:
    """The public key of a PEM file, in hexadecimal."""
    ed25519, serialization = _library()
    found = _read(path, "public_key", serialization.load_pem_public_key)
    if not isinstance(found, ed25519.Ed25519PublicKey):
        raise InputError(Setting("public_key", str(path)), f" is not a public key of {ALGORITHM}")
    return str(_raw(found, serialization).hex())


def _read(path: str | os.PathLike[str], option: str, load: Any, **how: Any) -> Any:
    data = read_record_file(path)
    try:
        return load(data, **how)
    except TypeError:
        raise InputError(
            Setting(option, str(path)), " is locked with a password: give a key without one"
        ) from None
    except Exception:  # noqa: BLE001  (whatever a file provokes is the file's fault)
        kind = "private" if option == "sign" else "public"
        raise InputError(
            Setting(option, str(path)), f" is not a PEM file with a {kind} key of {ALGORITHM}"
        ) from None


def _raw(public: Any, serialization: Any) -> bytes:
    return bytes(public.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw))


def _library() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise InputError(
            "signatures need the package cryptography: pip install shapley2d[receipts]"
        ) from None
    return ed25519, serialization
