"""Ed25519 signatures, by the library ``cryptography``, which loads when one is made or checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d._base.limits import read_record_file
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    import os


def sign(body: bytes, key: str | os.PathLike[str]) -> dict[str, str]:
    """Sign bytes with the private key of a PEM file; the public key and the signature."""
    private = _key(key, "private")
    return {
        "public_key": private.public_key().public_bytes_raw().hex(),
        "signature": private.sign(body).hex(),
    }


def is_signed(body: bytes, record: dict[str, str]) -> bool:
    """Whether a signature of :func:`sign` is one of these bytes, by the key that it names."""
    ed25519, _ = _library()
    from cryptography.exceptions import InvalidSignature

    try:
        public = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(record["public_key"]))
        public.verify(bytes.fromhex(record["signature"]), body)
    except (InvalidSignature, ValueError):
        return False
    return True


def public_key(path: str | os.PathLike[str]) -> str:
    """The public key of a PEM file, in hexadecimal."""
    raw: bytes = _key(path, "public").public_bytes_raw()
    return raw.hex()


def _key(path: str | os.PathLike[str], kind: str) -> Any:
    ed25519, serialization = _library()
    data = read_record_file(path)
    try:
        if kind == "private":
            found = serialization.load_pem_private_key(data, password=None)
        else:
            found = serialization.load_pem_public_key(data)
    except Exception:  # noqa: BLE001  (whatever a file provokes is the file's fault)
        found = None
    if not isinstance(found, (ed25519.Ed25519PrivateKey, ed25519.Ed25519PublicKey)):
        raise InputError(f"{path} is not a PEM file with a {kind} Ed25519 key without a password")
    return found


def _library() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise InputError(
            "signatures need the package cryptography: pip install shapley2d[receipts]"
        ) from None
    return ed25519, serialization
