"""A certificate of one's own, so that a page can come by https: browsers ask for it off this machine, for headsets."""

from __future__ import annotations

import ipaddress
import re
import shutil
import subprocess
import time
from pathlib import Path

from palpate.jit.cache import cache_dir
from palpate.runtime.addresses import reachable

DAYS, FRESH_DAYS = 30, 20  # how long it is good for, and how long it is used


def make_certificate(host: str) -> tuple[Path, Path]:
    """Files of a certificate for this host, signed by itself, and of its key; made now, or kept from the last days.

    A browser shows a warning once: nobody else vouches for it.
    """
    openssl = shutil.which("openssl")
    if openssl is None:
        raise ValueError("--tls needs the program openssl to make a certificate")
    host = reachable(host)
    folder = (cache_dir() or Path.home() / ".cache" / "palpate") / "tls" / re.sub(r"[^\w.-]", "_", host)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    if key.exists() and certificate.exists() and time.time() - certificate.stat().st_mtime < FRESH_DAYS * 86400:
        return certificate, key
    made = subprocess.run(
        [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-days", str(DAYS), "-subj", "/CN=palpate", "-addext", f"subjectAltName={','.join(_names(host))}",
         "-keyout", str(key), "-out", str(certificate)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if made.returncode != 0:
        certificate.unlink(missing_ok=True)  # the key may be another's by now
        why = made.stderr.strip().splitlines() or ["it does not say why"]
        raise ValueError(f"openssl could not make a certificate: {why[-1]}")
    key.chmod(0o600)
    return certificate, key


def _names(host: str) -> list[str]:
    try:
        own = f"IP:{ipaddress.ip_address(host)}"
    except ValueError:
        own = f"DNS:{host}"
    return list(dict.fromkeys((own, "DNS:localhost", "IP:127.0.0.1")))
