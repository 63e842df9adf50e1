"""A certificate of one's own, so that a page can come by https: browsers ask for it off this machine, for headsets."""

from __future__ import annotations

import ipaddress
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from palpate.jit.cache.folders import VARIABLE, secret_folder
from palpate.runtime.page.addresses import reachable

DAYS, FRESH_DAYS = 30, 20  # how long it is good for, and how long it is used


def make_certificate(host: str) -> tuple[Path, Path]:
    """Files of a certificate for this host, signed by itself, and of its key; made now, or kept from the last days.

    A browser shows a warning once: nobody else vouches for it.
    """
    openssl = shutil.which("openssl")
    if openssl is None:
        raise ValueError("--tls needs the program openssl to make a certificate")
    host = reachable(host)
    try:
        folder = secret_folder("tls", re.sub(r"[^\w.-]", "_", host))
    except OSError as problem:
        raise ValueError(f"--tls needs a folder for its key: {problem}; name one in {VARIABLE}") from None
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    if _fresh(certificate) and _fresh(key) and not key.stat().st_mode & 0o077:
        return certificate, key
    try:
        with tempfile.TemporaryDirectory(dir=folder) as making:  # nobody sees one without the other, or an open key
            new = Path(making)
            made = subprocess.run(
                [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                 "-days", str(DAYS), "-subj", "/CN=palpate", "-addext", f"subjectAltName={','.join(_names(host))}",
                 "-keyout", str(new / "key"), "-out", str(new / "certificate")],
                capture_output=True, text=True, check=False, umask=0o077 if os.name == "posix" else -1,
            )  # fmt: skip
            if made.returncode != 0:
                why = made.stderr.strip().splitlines() or ["it does not say why"]
                raise ValueError(f"openssl could not make a certificate: {why[-1]}")
            (new / "key").chmod(0o600)
            certificate.unlink(missing_ok=True)
            (new / "key").replace(key)
            (new / "certificate").replace(certificate)
    except OSError as problem:
        raise ValueError(f"--tls: a certificate cannot be kept in {folder}: {problem.strerror}") from None
    return certificate, key


def _fresh(file: Path) -> bool:
    return file.is_file() and time.time() - file.stat().st_mtime < FRESH_DAYS * 86400


def _names(host: str) -> list[str]:
    try:
        own = f"IP:{ipaddress.ip_address(host)}"
    except ValueError:
        own = f"DNS:{host}"
    return list(dict.fromkeys((own, "DNS:localhost", "IP:127.0.0.1")))
