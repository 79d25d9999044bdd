"""Statements that the type checker must accept, and statements that it must reject, each with the expected error."""

from __future__ import annotations

from typing import assert_type

from mandate_client import AsyncClient, Client, models


def narrow_event(event: models.Event) -> None:
    if event["type"] == "order.paid":
        assert_type(event["data"]["object"], models.Order)
    elif event["type"] == "payment.succeeded":
        assert_type(event["data"]["object"], models.Payment)
    if event["type"] == "order.payed":  # type: ignore[comparison-overlap]
        pass


def call(client: Client) -> None:
    assert_type(client.orders.get(1), models.Order)
    for order in client.orders.list(status=["paid"]):
        assert_type(order, models.OrderSummary)
    client.orders.list(status=["payed"])  # type: ignore[list-item]
    client.orders.get("1")  # type: ignore[arg-type]
    client.products.create({"name": "Mug"})  # type: ignore[typeddict-item]
    client.orders.create({}, idempotency="key")  # type: ignore[call-arg]
    client.branding.set_logo(b"", content_type="image/gif")  # type: ignore[arg-type]


async def call_async(client: AsyncClient) -> None:
    assert_type(await client.orders.get(1), models.Order)
    async for order in client.orders.list():
        assert_type(order, models.OrderSummary)
