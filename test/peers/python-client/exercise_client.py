"""Uses the sync or the async client, and prints the results as JSON. Both clients are used in the same way."""

from __future__ import annotations

import asyncio
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TypedDict

from mandate_client import (
    ApiError,
    AsyncClient,
    AuthorizationError,
    CallTimeoutError,
    Client,
    ClientCredentials,
    RefreshToken,
    SignInRequiredError,
    Tokens,
    iterate_events,
    iterate_events_async,
)
from mandate_client.models import Event, OrderCreate


class Given(TypedDict):
    issuer: str
    url: str
    silentUrl: str
    clientId: str
    clientSecret: str
    category: str
    productId: int
    userId: int
    webClientId: str
    webClientSecret: str
    refreshToken: str


given: Given = json.loads(sys.argv[1])


def build_order(quantity: int) -> OrderCreate:
    return {
        "user_id": given["userId"],
        "items": [{"product_id": given["productId"], "quantity": quantity}],
        "delivery": {"method": "pickup", "recipient_name": "Ann Lee"},
        "metadata": {"from": "Python"},
    }


def create_credentials(secret: str) -> ClientCredentials:
    return ClientCredentials(given["issuer"], given["clientId"], secret)


def create_refresh_token(token: str, refreshed: list[Tokens]) -> RefreshToken:
    return RefreshToken(
        given["issuer"], given["webClientId"], token, client_secret=given["webClientSecret"], on_tokens=refreshed.append
    )


def describe_error(error: ApiError) -> dict[str, object]:
    return {
        "code": error.code,
        "status": error.status,
        "detail": error.detail,
        "available": [entry.get("available") for entry in error.errors],
        "request_id": error.request_id is not None,
    }


def describe_event(event: Event) -> object:
    # The type of the event determines the type of the resource.
    if event["type"] == "order.paid":
        return [event["type"], event["data"]["object"]["total"]]
    return event["type"]


def exercise_sync() -> dict[str, object]:
    with Client(given["url"], auth=create_credentials(given["clientSecret"])) as client:
        start = client.events.list(limit=1)["latest_id"]
        names = [product["name"] for product in client.products.list(category=given["category"], limit=2, sort="name")]
        pages = sum(1 for _ in client.products.list(category=given["category"], limit=2).pages())
        etags: list[str | None] = []
        order = client.orders.create(
            build_order(2), options={"on_response": lambda response: etags.append(response.headers.get("etag"))}
        )
        updated = client.orders.update(order["id"], {"note": "by the gate"}, if_match=etags[-1])
        payment = client.payments.create(order["id"], {"provider": "manual"})
        paid = client.payments.confirm(payment["id"])
        try:
            client.orders.create(build_order(100_000 - 1))
        except ApiError as error:
            refused = describe_error(error)
        preview = client.orders.create(build_order(1), dry_run=True)
        while client.events.list(limit=1)["latest_id"] < start + 4:
            pass
        events = [describe_event(event) for event in iterate_events(client, after=start, type=["order.*"])]
    errors: list[str] = []
    try:
        Client(given["url"], auth=create_credentials("wrong")).orders.list().first_page()
    except AuthorizationError as authorization_error:
        errors.append(authorization_error.error)
    try:
        Client(given["silentUrl"], timeout=0.2, max_retries=0).products.get(1)
    except CallTimeoutError:
        errors.append("timeout")
    refreshed: list[Tokens] = []
    signed_in = Client(given["url"], auth=create_refresh_token(given["refreshToken"], refreshed))
    with ThreadPoolExecutor(5) as pool:
        users = {user["id"] for user in pool.map(lambda _: signed_in.users.me(), range(5))}
    try:
        Client(given["url"], auth=create_refresh_token("unknown", refreshed)).users.me()
    except SignInRequiredError as sign_in_error:
        errors.append(sign_in_error.error)
    return {
        "names": names,
        "pages": pages,
        "order": order["id"],
        "total": order["total"],
        "note": updated["note"],
        "paid": paid["status"],
        "refused": refused,
        "preview": preview["total"],
        "events": events,
        "errors": errors,
        "users": sorted(users),
        "refreshes": len(refreshed),
    }


async def exercise_async() -> dict[str, object]:
    async with AsyncClient(given["url"], auth=create_credentials(given["clientSecret"])) as client:
        start = (await client.events.list(limit=1))["latest_id"]
        names = [
            product["name"] async for product in client.products.list(category=given["category"], limit=2, sort="name")
        ]
        pages = len([page async for page in client.products.list(category=given["category"], limit=2).pages()])
        etags: list[str | None] = []
        order = await client.orders.create(
            build_order(2), options={"on_response": lambda response: etags.append(response.headers.get("etag"))}
        )
        updated = await client.orders.update(order["id"], {"note": "by the gate"}, if_match=etags[-1])
        payment = await client.payments.create(order["id"], {"provider": "manual"})
        paid = await client.payments.confirm(payment["id"])
        try:
            await client.orders.create(build_order(100_000 - 1))
        except ApiError as error:
            refused = describe_error(error)
        preview = await client.orders.create(build_order(1), dry_run=True)
        while (await client.events.list(limit=1))["latest_id"] < start + 4:
            pass
        events = [describe_event(event) async for event in iterate_events_async(client, after=start, type=["order.*"])]
    errors: list[str] = []
    try:
        await AsyncClient(given["url"], auth=create_credentials("wrong")).orders.list().first_page()
    except AuthorizationError as authorization_error:
        errors.append(authorization_error.error)
    try:
        await AsyncClient(given["silentUrl"], timeout=0.2, max_retries=0).products.get(1)
    except CallTimeoutError:
        errors.append("timeout")
    refreshed: list[Tokens] = []
    signed_in = AsyncClient(given["url"], auth=create_refresh_token(given["refreshToken"], refreshed))
    users = {user["id"] for user in await asyncio.gather(*(signed_in.users.me() for _ in range(5)))}
    try:
        await AsyncClient(given["url"], auth=create_refresh_token("unknown", refreshed)).users.me()
    except SignInRequiredError as sign_in_error:
        errors.append(sign_in_error.error)
    return {
        "names": names,
        "pages": pages,
        "order": order["id"],
        "total": order["total"],
        "note": updated["note"],
        "paid": paid["status"],
        "refused": refused,
        "preview": preview["total"],
        "events": events,
        "errors": errors,
        "users": sorted(users),
        "refreshes": len(refreshed),
    }


print(json.dumps(exercise_sync() if sys.argv[2] == "sync" else asyncio.run(exercise_async())))
