"""Sync and async clients for the Mandate API."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpx

from ._auth import Auth, BearerToken
from ._errors import MandateError
from ._exchange import (
    CallOptions,
    PreparedRequest,
    Request,
    RetryBudget,
    Settings,
    calculate_retry_delay,
    is_rejected_token,
    parse_response,
    prepare,
    to_connection_error,
)
from .resources import AsyncResources, Resources


class _Sender:
    def __init__(self, settings: Settings, auth: Auth | None, http: httpx.Client) -> None:
        self._settings = settings
        self._auth = auth
        self._http = http
        self._budget = RetryBudget()

    def send(self, request: Request, options: CallOptions | None = None) -> Any:
        prepared = prepare(self._settings, request, options or {})
        token = self._auth.access_token(self._http) if self._auth else None
        attempt, is_token_replaced = 0, False
        while True:
            try:
                result = self._send_once(prepared, token)
                self._budget.earn(attempt)
                return result
            except MandateError as error:
                if self._auth and not is_token_replaced and is_rejected_token(error):
                    is_token_replaced = True
                    token = self._auth.access_token(self._http, rejected=token)
                    if token is None:
                        raise
                    continue
                delay = calculate_retry_delay(error, attempt, prepared)
                if delay is None or not self._budget.spend():
                    raise
            time.sleep(delay)
            attempt += 1

    def _send_once(self, prepared: PreparedRequest, token: str | None) -> Any:
        try:
            response = self._http.request(
                prepared.request.method,
                prepared.url,
                headers=_add_token(prepared.headers, token),
                content=prepared.content,
                timeout=prepared.timeout,
                follow_redirects=False,
            )
        except httpx.TransportError as error:
            raise to_connection_error(error) from error
        return parse_response(prepared, response)


class _AsyncSender:
    def __init__(self, settings: Settings, auth: Auth | None, http: httpx.AsyncClient) -> None:
        self._settings = settings
        self._auth = auth
        self._http = http
        self._budget = RetryBudget()

    async def send(self, request: Request, options: CallOptions | None = None) -> Any:
        prepared = prepare(self._settings, request, options or {})
        token = await self._auth.access_token_async(self._http) if self._auth else None
        attempt, is_token_replaced = 0, False
        while True:
            try:
                result = await self._send_once(prepared, token)
                self._budget.earn(attempt)
                return result
            except MandateError as error:
                if self._auth and not is_token_replaced and is_rejected_token(error):
                    is_token_replaced = True
                    token = await self._auth.access_token_async(self._http, rejected=token)
                    if token is None:
                        raise
                    continue
                delay = calculate_retry_delay(error, attempt, prepared)
                if delay is None or not self._budget.spend():
                    raise
            await asyncio.sleep(delay)
            attempt += 1

    async def _send_once(self, prepared: PreparedRequest, token: str | None) -> Any:
        try:
            response = await self._http.request(
                prepared.request.method,
                prepared.url,
                headers=_add_token(prepared.headers, token),
                content=prepared.content,
                timeout=prepared.timeout,
                follow_redirects=False,
            )
        except httpx.TransportError as error:
            raise to_connection_error(error) from error
        return parse_response(prepared, response)


class Client(Resources):
    """The API of one Mandate server. Each resource is an attribute: `client.orders.get(1)`.

    `auth` is an access token, an API key, `ClientCredentials` or `RefreshToken`. `timeout` applies to each attempt, in seconds. If the
    service requests a delay of more than `max_retry_delay` seconds, the call fails immediately. `http` replaces the HTTP client, for
    example to use a proxy.
    """

    def __init__(
        self,
        base_url: str,
        *,
        auth: Auth | str | None = None,
        timeout: float = 30.0,
        max_retries: int = 2,
        max_retry_delay: float = 60.0,
        http: httpx.Client | None = None,
    ) -> None:
        self._http = http or httpx.Client()
        settings = Settings(base_url.rstrip("/"), timeout, max_retries, max_retry_delay)
        super().__init__(_Sender(settings, _to_auth(auth), self._http))

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient(AsyncResources):
    """Like `Client`, but for `asyncio`."""

    def __init__(
        self,
        base_url: str,
        *,
        auth: Auth | str | None = None,
        timeout: float = 30.0,
        max_retries: int = 2,
        max_retry_delay: float = 60.0,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self._http = http or httpx.AsyncClient()
        settings = Settings(base_url.rstrip("/"), timeout, max_retries, max_retry_delay)
        super().__init__(_AsyncSender(settings, _to_auth(auth), self._http))

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _to_auth(auth: Auth | str | None) -> Auth | None:
    return BearerToken(auth) if isinstance(auth, str) else auth


def _add_token(headers: dict[str, str], token: str | None) -> dict[str, str]:
    return headers if token is None else {**headers, "Authorization": f"Bearer {token}"}
