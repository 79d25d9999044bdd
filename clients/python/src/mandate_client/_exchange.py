"""Code shared by the sync and the async client, which differ only in how they wait."""

from __future__ import annotations

import json
import random
import uuid
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Protocol, Sequence, TypedDict
from urllib.parse import quote

import httpx

from ._errors import ApiError, CallTimeoutError, ConnectionFailedError, DecodeError, MandateError
from ._version import VERSION

QueryValue = str | int | bool | Sequence[str] | Sequence[int] | None

#: Statuses after which a request is retried.
_RETRYABLE_STATUSES = (408, 429, 500, 502, 503, 504)


class CallOptions(TypedDict, total=False):
    """Options of a single call."""

    #: Timeout of each attempt, in seconds.
    timeout: float
    #: Maximum number of retries.
    max_retries: int
    #: Additional request headers.
    headers: Mapping[str, str]
    #: Called with the response, for example to read its `ETag`.
    on_response: Callable[[httpx.Response], None]


@dataclass(frozen=True)
class Request:
    """A request for one operation."""

    method: str
    path: str
    path_values: Mapping[str, str | int] = field(default_factory=dict)
    query: Mapping[str, QueryValue] = field(default_factory=dict)
    headers: Mapping[str, str | None] = field(default_factory=dict)
    json: object = None
    content: bytes | None = None
    returns_file: bool = False


class Sender(Protocol):
    def send(self, request: Request, options: CallOptions | None = None) -> Any: ...


class AsyncSender(Protocol):
    async def send(self, request: Request, options: CallOptions | None = None) -> Any: ...


@dataclass(frozen=True)
class Settings:
    base_url: str
    timeout: float
    max_retries: int
    max_retry_delay: float


@dataclass(frozen=True)
class PreparedRequest:
    """A request as it is sent. Every attempt sends the same idempotency key."""

    request: Request
    url: str
    headers: dict[str, str]
    content: bytes | None
    timeout: float
    max_retries: int
    max_retry_delay: float
    on_response: Callable[[httpx.Response], None] | None


def prepare(settings: Settings, request: Request, options: CallOptions) -> PreparedRequest:
    headers = {
        "Accept": "*/*" if request.returns_file else "application/json, application/problem+json",
        "User-Agent": f"mandate-client-python/{VERSION}",
        **options.get("headers", {}),
    }
    content = request.content
    if request.json is not None:
        content = json.dumps(request.json).encode()
        headers["Content-Type"] = "application/json"
    for name, value in request.headers.items():
        if name == "Idempotency-Key":
            headers[name] = value if value is not None else str(uuid.uuid4())
        elif value is not None:
            headers[name] = value
    path = request.path.format_map({name: quote(str(value), safe="") for name, value in request.path_values.items()})
    query = {name: _format_query_value(value) for name, value in request.query.items() if value is not None}
    repeatable = request.method in ("GET", "PUT", "DELETE") or "Idempotency-Key" in headers
    return PreparedRequest(
        request=request,
        url=str(httpx.URL(settings.base_url + path, params=query) if query else settings.base_url + path),
        headers=headers,
        content=content,
        timeout=options.get("timeout", settings.timeout),
        max_retries=options.get("max_retries", settings.max_retries) if repeatable else 0,
        max_retry_delay=settings.max_retry_delay,
        on_response=options.get("on_response"),
    )


def _format_query_value(value: QueryValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int)):
        return str(value)
    return ",".join(str(one) for one in value or ())


def parse_response(prepared: PreparedRequest, response: httpx.Response) -> Any:
    """Returns the response body. Raises an error if the API rejected the request."""
    if prepared.on_response is not None:
        prepared.on_response(response)
    if response.is_success:
        if prepared.request.returns_file:
            return response.content
        return None if response.status_code == 204 else _parse_json(response)
    problem = _parse_json(response)
    if not isinstance(problem, dict) or not isinstance(problem.get("code"), str):
        raise DecodeError(response.status_code, response.text)
    raise ApiError(response.status_code, problem, response.headers)


def _parse_json(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError as error:
        raise DecodeError(response.status_code, response.text) from error


def to_connection_error(error: httpx.TransportError) -> ConnectionFailedError:
    kind = CallTimeoutError if isinstance(error, httpx.TimeoutException) else ConnectionFailedError
    return kind(str(error) or type(error).__name__)


def is_rejected_token(error: MandateError) -> bool:
    return isinstance(error, (ApiError, DecodeError)) and error.status == 401


def calculate_retry_delay(error: MandateError, attempt: int, prepared: PreparedRequest) -> float | None:
    """Returns the delay before the next attempt, or `None` if there must not be another attempt. `attempt` starts at 0."""
    if attempt >= prepared.max_retries or not _is_transient(error):
        return None
    if isinstance(error, ApiError) and error.retry_after is not None:
        return error.retry_after if error.retry_after <= prepared.max_retry_delay else None
    return random.random() * min(8.0, 0.5 * 2.0**attempt)


def _is_transient(error: MandateError) -> bool:
    if isinstance(error, ApiError) and error.code == "idempotency_in_progress":
        return True
    if isinstance(error, (ApiError, DecodeError)):
        return error.status in _RETRYABLE_STATUSES
    return isinstance(error, ConnectionFailedError)


class RetryBudget:
    """Limits the retries of a client, because unlimited retries would multiply the load on a service that is down."""

    def __init__(self) -> None:
        self._tokens = 500

    def spend(self) -> bool:
        if self._tokens < 5:
            return False
        self._tokens -= 5
        return True

    def earn(self, attempt: int) -> None:
        self._tokens = min(500, self._tokens + (5 if attempt > 0 else 1))
