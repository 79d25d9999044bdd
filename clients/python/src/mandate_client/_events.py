"""Iteration over the event feed."""

from __future__ import annotations

from typing import AsyncIterator, Iterator, Sequence

from ._client import AsyncClient, Client
from .models import Event, EventPage, EventTypeFilter

_WAIT_SECONDS = 25


def iterate_events(client: Client, *, after: int | None = None, type: Sequence[EventTypeFilter] | None = None) -> Iterator[Event]:
    """Returns the events after an ID (default: all stored events), and ends when there are no more.

    Store the `id` of the last processed event, and pass it as `after` the next time.
    """
    while True:
        page = client.events.list(after=after, type=type, limit=100)
        yield from page["data"]
        after = page["next_after"]
        if not page["has_more"]:
            return


def follow_events(client: Client, *, after: int | None = None, type: Sequence[EventTypeFilter] | None = None) -> Iterator[Event]:
    """Returns the events after an ID, and then new events as they occur. The iteration does not end."""
    while True:
        page: EventPage = client.events.list(after=after, type=type, limit=100, wait=_WAIT_SECONDS)
        yield from page["data"]
        after = page["next_after"]


async def iterate_events_async(
    client: AsyncClient, *, after: int | None = None, type: Sequence[EventTypeFilter] | None = None
) -> AsyncIterator[Event]:
    """Like `iterate_events`, but for `asyncio`."""
    while True:
        page = await client.events.list(after=after, type=type, limit=100)
        for event in page["data"]:
            yield event
        after = page["next_after"]
        if not page["has_more"]:
            return


async def follow_events_async(
    client: AsyncClient, *, after: int | None = None, type: Sequence[EventTypeFilter] | None = None
) -> AsyncIterator[Event]:
    """Like `follow_events`, but for `asyncio`."""
    while True:
        page = await client.events.list(after=after, type=type, limit=100, wait=_WAIT_SECONDS)
        for event in page["data"]:
            yield event
        after = page["next_after"]
