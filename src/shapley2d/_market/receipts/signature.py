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
    private = _key(key, "sign")
    return {
        "algorithm": ALGORITHM,
        "public_key": _raw(private.public_key()),
        "signature": private.sign(body).hex(),
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
    return _raw(_key(path, "public_key"))


def _key(path: str | os.PathLike[str], option: str) -> Any:
    """The key of a PEM file: the private one to sign with, or a public one."""
    ed25519, serialization = _library()
    data, kind = read_record_file(path), "private" if option == "sign" else "public"
    try:
        if option == "sign":
            found = serialization.load_pem_private_key(data, password=None)
        else:
            found = serialization.load_pem_public_key(data)
    except TypeError:
        raise InputError(
            Setting(option, str(path)), " is locked with a password: give a key without one"
        ) from None
    except Exception:  # noqa: BLE001  (whatever a file provokes is the file's fault)
        raise InputError(
            Setting(option, str(path)), f" is not a PEM file with a {kind} key of {ALGORITHM}"
        ) from None
    if not isinstance(found, (ed25519.Ed25519PrivateKey, ed25519.Ed25519PublicKey)):
        raise InputError(Setting(option, str(path)), f" is not a {kind} key of {ALGORITHM}")
    return found


def _raw(public: Any) -> str:
    _, serialization = _library()
    raw = public.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return str(raw.hex())


def _library() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise InputError(
            "signatures need the package cryptography: pip install shapley2d[receipts]"
        ) from None
    return ed25519, serialization
