"""Verification of webhook deliveries (Standard Webhooks 1.0.0)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from typing import Mapping, Sequence, cast

from ._errors import WebhookVerificationError
from .models import Event


def verify_webhook(
    body: bytes | str,
    headers: Mapping[str, str],
    secrets: str | Sequence[str],
    *,
    tolerance: float = 300,
    now: float | None = None,
) -> Event:
    """Verifies the signature and the timestamp of a delivery, and returns its event.

    `body` is the request body exactly as received. `secrets` is the endpoint's secret (`whsec_...`) or, during a rotation, both
    secrets. An event may be delivered more than once, and events may arrive in any order.
    """
    names = {name.lower(): value for name, value in headers.items()}
    values = [names.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature")]
    if "" in values:
        raise WebhookVerificationError("webhook-id, webhook-timestamp or webhook-signature is missing")
    message_id, timestamp, signatures = values
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise WebhookVerificationError("webhook-timestamp is not a timestamp")
    if abs((time.time() if now is None else now) - int(timestamp)) > tolerance:
        raise WebhookVerificationError(f"webhook-timestamp is more than {tolerance} s from now")
    content = body.encode() if isinstance(body, str) else body
    signed = f"{message_id}.{timestamp}.".encode() + content
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        digest = hmac.new(_decode_secret(secret), signed, hashlib.sha256).digest()
        expected = "v1," + base64.b64encode(digest).decode()
        if any(hmac.compare_digest(expected.encode(), one.encode()) for one in signatures.split(" ")):
            try:
                return cast(Event, json.loads(content))
            except ValueError as error:
                raise WebhookVerificationError("the body is not JSON") from error
    raise WebhookVerificationError("no signature matches one of the secrets")


def _decode_secret(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        key = b""
    if not key:
        # The error must not contain the secret.
        raise ValueError("a webhook secret must be whsec_ followed by base64")
    return key
