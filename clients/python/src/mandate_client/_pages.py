"""Paginated lists."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, AsyncIterator, Generic, Iterator, TypeVar, cast

from ._exchange import AsyncSender, CallOptions, Request, Sender

Item = TypeVar("Item")
Page = TypeVar("Page")


class Pages(Generic[Item, Page]):
    """A list. Iterating over the list returns the items of all pages, which are requested on demand."""

    def __init__(self, sender: Sender, request: Request, options: CallOptions | None) -> None:
        self._sender = sender
        self._request = request
        self._options = options

    def first_page(self) -> Page:
        return cast(Page, self._sender.send(self._request, self._options))

    def pages(self) -> Iterator[Page]:
        request: Request | None = self._request
        while request is not None:
            page = self._sender.send(request, self._options)
            yield page
            request = _next_request(request, page)

    def __iter__(self) -> Iterator[Item]:
        for page in self.pages():
            yield from cast(Any, page)["data"]


class AsyncPages(Generic[Item, Page]):
    """A list. Iterating over the list with `async for` returns the items of all pages, which are requested on demand."""

    def __init__(self, sender: AsyncSender, request: Request, options: CallOptions | None) -> None:
        self._sender = sender
        self._request = request
        self._options = options

    async def first_page(self) -> Page:
        return cast(Page, await self._sender.send(self._request, self._options))

    async def pages(self) -> AsyncIterator[Page]:
        request: Request | None = self._request
        while request is not None:
            page = await self._sender.send(request, self._options)
            yield page
            request = _next_request(request, page)

    async def __aiter__(self) -> AsyncIterator[Item]:
        async for page in self.pages():
            for item in cast(Any, page)["data"]:
                yield item


def _next_request(request: Request, page: Any) -> Request | None:
    cursor = page["next_cursor"]
    return None if cursor is None else replace(request, query={**request.query, "cursor": cursor})
