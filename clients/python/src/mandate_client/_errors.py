"""The errors that calls raise."""

from __future__ import annotations

from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Mapping

from .models import ProblemEntry


class MandateError(Exception):
    """Base class of all errors."""


class ApiError(MandateError):
    """The API rejected the request. `code` identifies the reason."""

    def __init__(self, status: int, problem: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        self.status = status
        #: Error code, such as `out_of_stock` (`models.ProblemCode`).
        self.code: str = problem["code"]
        self.title: str = problem.get("title", f"HTTP {status}")
        #: Explanation for users.
        self.detail: str = problem.get("detail", self.title)
        #: All errors in the request.
        self.errors: list[ProblemEntry] = problem.get("errors", [])
        #: ID of the request. Include the ID when you contact support.
        self.request_id: str | None = problem.get("request_id", headers.get("x-request-id"))
        #: Delay in seconds that the service requests before the next attempt.
        self.retry_after: float | None = _parse_retry_after(headers.get("retry-after", ""))
        super().__init__(f"{self.detail} ({status} {self.code})")


class ConnectionFailedError(MandateError):
    """The service did not respond, but may still have executed the request."""


class CallTimeoutError(ConnectionFailedError):
    """The service did not respond in time, but may still have executed the request."""


class DecodeError(MandateError):
    """The response is not a valid API response. For example, a proxy responded with an HTML page."""

    def __init__(self, status: int, text: str) -> None:
        self.status = status
        #: Beginning of the response body.
        self.text = text[:2000]
        super().__init__(f"HTTP {status} is not a valid API response")


class AuthorizationError(MandateError):
    """The authorization server rejected a request (RFC 6749 section 5.2)."""

    def __init__(self, error: str, description: str | None = None) -> None:
        #: Error code, such as `invalid_client`.
        self.error = error
        super().__init__(error if description is None else f"{error}: {description}")


class SignInRequiredError(AuthorizationError):
    """The refresh token is no longer valid. The user must sign in again."""


class WebhookVerificationError(MandateError):
    """The delivery has no valid signature, or its timestamp is outside the tolerance."""


def _parse_retry_after(value: str) -> float | None:
    if value.isdigit():
        return float(value)
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (date - datetime.now(timezone.utc)).total_seconds())
