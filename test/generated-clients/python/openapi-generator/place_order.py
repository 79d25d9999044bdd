"""Places an order with a client from OpenAPI Generator, reads the order and its event, and prints the results as JSON."""

import json
import os

from client_credentials import request_token
import openapi_client as mandate

url = os.environ["MANDATE_URL"]
client = mandate.ApiClient(mandate.Configuration(host=url, access_token=request_token(url)))
orders = mandate.OrdersApi(client)

products = mandate.ProductsApi(client).products_list()
placed = orders.orders_create(
    mandate.OrderCreate(
        items=[mandate.OrderItemCreate(product_id=products.data[0].id, quantity=2)],
        delivery=mandate.DeliveryInput(method="collection", recipient_name="Ann Lee"),
        user_id=int(os.environ["USER_ID"]),
        reference=os.environ["KEY"],
    ),
    idempotency_key=os.environ["KEY"],
)
order = orders.orders_get(placed.id)

missing = None
try:
    orders.orders_get(10**15)
except mandate.exceptions.NotFoundException as failure:
    assert isinstance(failure.data, mandate.Problem)
    missing = failure.data.code

event_reference = None
known_events = 0
page = mandate.EventsApi(client).events_list(limit=100)
for item in page.data:
    if not isinstance(item.actual_instance, mandate.KnownEvent):
        continue
    known_events += 1
    event = item.actual_instance.actual_instance
    if isinstance(event, mandate.OrderEvent) and event.type == "order.created" and event.data.object.id == order.id:
        event_reference = event.data.object.reference

print(json.dumps({
    "id": order.id, "reference": order.reference, "total": order.total, "status": order.status, "products": len(products.data),
    "missing": missing, "event_reference": event_reference, "known_events": known_events, "events": len(page.data),
}))
