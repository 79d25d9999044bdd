"""Sources of access tokens, and the rules for replacing tokens."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Protocol, Sequence
from urllib.parse import quote, urlsplit

import httpx

from ._errors import AuthorizationError, DecodeError, SignInRequiredError
from ._exchange import to_connection_error

#: Number of seconds before its expiry at which a token is replaced.
_EARLY_SECONDS = 30
_MAX_ATTEMPTS = 3


class Auth(Protocol):
    """Provides access tokens. `rejected` is the token that the API has rejected, if any."""

    def access_token(self, http: httpx.Client, rejected: str | None = None) -> str | None: ...

    async def access_token_async(self, http: httpx.AsyncClient, rejected: str | None = None) -> str | None: ...


class BearerToken:
    """An access token or API key that is not replaced."""

    def __init__(self, token: str) -> None:
        self._token = token

    def access_token(self, http: httpx.Client, rejected: str | None = None) -> str | None:
        return None if rejected is not None else self._token

    async def access_token_async(self, http: httpx.AsyncClient, rejected: str | None = None) -> str | None:
        return None if rejected is not None else self._token


@dataclass(frozen=True)
class Tokens:
    """The tokens in a token endpoint response."""

    access_token: str
    #: Expiry time of the access token, in seconds since 1970.
    expires_at: float
    refresh_token: str | None


class _TokenEndpointAuth:
    """Requests tokens when needed. Concurrent calls share one request."""

    def __init__(self, issuer: str, client_id: str, client_secret: str | None) -> None:
        self._issuer = issuer.rstrip("/")
        self._client_id = client_id
        self._client_secret = client_secret
        self._tokens: Tokens | None = None
        self._endpoint: str | None = None
        self._lock = threading.Lock()
        self._async_lock = asyncio.Lock()

    def access_token(self, http: httpx.Client, rejected: str | None = None) -> str | None:
        with self._lock:
            usable = self._find_usable_token(rejected)
            if usable is not None:
                return usable
            for attempt in range(_MAX_ATTEMPTS):
                try:
                    if self._endpoint is None:
                        self._endpoint = self._read_endpoint(http.get(self._metadata_url(), follow_redirects=False))
                    response = http.post(self._endpoint, **self._token_request())
                except httpx.TransportError as error:
                    if attempt + 1 == _MAX_ATTEMPTS:
                        raise to_connection_error(error) from error
                    continue
                if response.status_code < 500 or attempt + 1 == _MAX_ATTEMPTS:
                    return self._store(response)
                time.sleep(0.5 * 2**attempt)
        raise AssertionError("unreachable")

    async def access_token_async(self, http: httpx.AsyncClient, rejected: str | None = None) -> str | None:
        async with self._async_lock:
            usable = self._find_usable_token(rejected)
            if usable is not None:
                return usable
            for attempt in range(_MAX_ATTEMPTS):
                try:
                    if self._endpoint is None:
                        self._endpoint = self._read_endpoint(await http.get(self._metadata_url(), follow_redirects=False))
                    response = await http.post(self._endpoint, **self._token_request())
                except httpx.TransportError as error:
                    if attempt + 1 == _MAX_ATTEMPTS:
                        raise to_connection_error(error) from error
                    continue
                if response.status_code < 500 or attempt + 1 == _MAX_ATTEMPTS:
                    return self._store(response)
                await asyncio.sleep(0.5 * 2**attempt)
        raise AssertionError("unreachable")

    def _find_usable_token(self, rejected: str | None) -> str | None:
        tokens = self._tokens
        if tokens is None or tokens.access_token == rejected or tokens.expires_at - _EARLY_SECONDS < time.time():
            return None
        return tokens.access_token

    def _metadata_url(self) -> str:
        """Returns the URL of the authorization server metadata (RFC 8414 section 3.1)."""
        scheme, host, path, _, _ = urlsplit(self._issuer)
        return f"{scheme}://{host}/.well-known/oauth-authorization-server{path}"

    def _read_endpoint(self, response: httpx.Response) -> str:
        metadata = _parse_object(response)
        if not response.is_success or metadata.get("issuer") != self._issuer:
            raise DecodeError(response.status_code, response.text)
        return str(metadata["token_endpoint"])

    def _token_request(self) -> dict[str, Any]:
        form = dict(self._form())
        if self._client_secret is None:
            return {"data": {**form, "client_id": self._client_id}}
        # The credentials are URL-encoded first (RFC 6749 section 2.3.1).
        return {"data": form, "auth": httpx.BasicAuth(quote(self._client_id, safe=""), quote(self._client_secret, safe=""))}

    def _form(self) -> Mapping[str, str]:
        raise NotImplementedError

    def _store(self, response: httpx.Response) -> str:
        body = _parse_object(response)
        if not response.is_success:
            self._reject(str(body.get("error", f"HTTP {response.status_code}")), body.get("error_description"))
        expires_at = time.time() + float(body.get("expires_in", 300))
        self._tokens = Tokens(str(body["access_token"]), expires_at, body.get("refresh_token"))
        return self._tokens.access_token

    def _reject(self, error: str, description: str | None) -> None:
        raise AuthorizationError(error, description)


class ClientCredentials(_TokenEndpointAuth):
    """Tokens of an application that acts on its own behalf."""

    def __init__(self, issuer: str, client_id: str, client_secret: str, scopes: Sequence[str] | None = None) -> None:
        super().__init__(issuer, client_id, client_secret)
        self._scopes = scopes

    def _form(self) -> Mapping[str, str]:
        scope = {} if self._scopes is None else {"scope": " ".join(self._scopes)}
        return {"grant_type": "client_credentials", **scope}


class RefreshToken(_TokenEndpointAuth):
    """Tokens of a signed-in user.

    Each refresh calls `on_tokens` with the new tokens. Store their `refresh_token`, because it replaces the previous one.
    """

    def __init__(
        self,
        issuer: str,
        client_id: str,
        refresh_token: str,
        *,
        client_secret: str | None = None,
        on_tokens: Callable[[Tokens], None] | None = None,
    ) -> None:
        super().__init__(issuer, client_id, client_secret)
        self._refresh_token = refresh_token
        self._on_tokens = on_tokens

    def _form(self) -> Mapping[str, str]:
        return {"grant_type": "refresh_token", "refresh_token": self._refresh_token}

    def _store(self, response: httpx.Response) -> str:
        token = super()._store(response)
        tokens = self._tokens
        if tokens is not None:
            # If the response has no refresh token, the previous one remains valid (RFC 6749 section 6).
            self._refresh_token = tokens.refresh_token or self._refresh_token
            if self._on_tokens is not None:
                self._on_tokens(Tokens(tokens.access_token, tokens.expires_at, self._refresh_token))
        return token

    def _reject(self, error: str, description: str | None) -> None:
        if error == "invalid_grant":
            raise SignInRequiredError(error, description)
        super()._reject(error, description)


def _parse_object(response: httpx.Response) -> dict[str, Any]:
    try:
        body = response.json()
    except ValueError as error:
        raise DecodeError(response.status_code, response.text) from error
    if not isinstance(body, dict):
        raise DecodeError(response.status_code, response.text)
    return body
