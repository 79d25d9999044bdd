"""Places an order with a client from openapi-python-client, reads the order and its event, and prints the results as JSON."""

import json
import os

from client_credentials import request_token
from mandate import AuthenticatedClient, models
from mandate.api.events import events_list
from mandate.api.orders import orders_create, orders_get
from mandate.api.products import products_list

url = os.environ["MANDATE_URL"]
client = AuthenticatedClient(base_url=url, token=request_token(url))

products = products_list.sync(client=client)
assert isinstance(products, models.ProductPage)
placed = orders_create.sync(
    client=client,
    body=models.OrderCreate(
        items=[models.OrderItemCreate(product_id=products.data[0].id, quantity=2)],
        delivery=models.DeliveryInput(method="collection", recipient_name="Ann Lee"),
        user_id=int(os.environ["USER_ID"]),
        reference=os.environ["KEY"],
    ),
    idempotency_key=os.environ["KEY"],
)
assert isinstance(placed, models.Order), placed
order = orders_get.sync(placed.id, client=client)
assert isinstance(order, models.Order)

missing = orders_get.sync(10**15, client=client)
assert isinstance(missing, models.Problem)

event_reference = None
page = events_list.sync(client=client, limit=100)
assert isinstance(page, models.EventPage)
for event in page.data:
    if isinstance(event, models.OrderEvent) and event.type_ == "order.created" and event.data.object_.id == order.id:
        event_reference = event.data.object_.reference

print(json.dumps({
    "id": order.id, "reference": order.reference, "total": order.total, "status": order.status, "products": len(products.data),
    "missing": missing.code, "event_reference": event_reference,
    "known_events": sum(not isinstance(event, models.OtherEvent) for event in page.data), "events": len(page.data),
}))
