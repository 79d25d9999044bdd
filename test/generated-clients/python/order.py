"""Places an order with the generated client, using client credentials, and reads the order."""

import json
import os
import urllib3

import openapi_client
from openapi_client.api.orders_api import OrdersApi

url = os.environ["MANDATE_URL"]
basic = urllib3.make_headers(basic_auth=f"{os.environ['CLIENT_ID']}:{os.environ['CLIENT_SECRET']}")
response = urllib3.PoolManager().request(
    "POST", f"{url}/oauth/token", fields={"grant_type": "client_credentials"}, headers=basic, encode_multipart=False
)
token = json.loads(response.data)["access_token"]

configuration = openapi_client.Configuration(host=url)
configuration.access_token = token
orders = OrdersApi(openapi_client.ApiClient(configuration))
placed = orders.orders_create(
    openapi_client.OrderCreate(
        items=[openapi_client.OrderItemCreate(product_id=1, quantity=2)],
        delivery=openapi_client.DeliveryInput(method="collection", recipient_name="Ann Lee"),
        user_id=int(os.environ["USER_ID"]),
        reference="from Python",
    ),
    idempotency_key=os.environ["KEY"],
)
order = orders.orders_get(placed.id)
assert order.items[0].total == placed.subtotal

try:
    orders.orders_get(10**15)
except openapi_client.ApiException as failure:
    missing = json.loads(failure.body)["code"]

print(json.dumps({"id": order.id, "reference": order.reference, "total": order.total, "status": order.status, "missing": missing}))
