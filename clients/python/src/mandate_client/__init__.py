"""Client for the Mandate API."""

from . import models
from ._auth import Auth, BearerToken, ClientCredentials, RefreshToken, Tokens
from ._client import AsyncClient, Client
from ._errors import (
    ApiError,
    AuthorizationError,
    CallTimeoutError,
    ConnectionFailedError,
    DecodeError,
    MandateError,
    SignInRequiredError,
    WebhookVerificationError,
)
from ._events import follow_events, follow_events_async, iterate_events, iterate_events_async
from ._exchange import CallOptions
from ._pages import AsyncPages, Pages
from ._version import VERSION as __version__
from ._webhooks import verify_webhook

__all__ = [
    "ApiError",
    "AsyncClient",
    "AsyncPages",
    "Auth",
    "AuthorizationError",
    "BearerToken",
    "CallOptions",
    "CallTimeoutError",
    "Client",
    "ClientCredentials",
    "ConnectionFailedError",
    "DecodeError",
    "MandateError",
    "Pages",
    "RefreshToken",
    "SignInRequiredError",
    "Tokens",
    "WebhookVerificationError",
    "follow_events",
    "follow_events_async",
    "iterate_events",
    "iterate_events_async",
    "models",
    "verify_webhook",
    "__version__",
]
