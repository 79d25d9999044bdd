"""Signs in at an MCP endpoint with the Python SDK, calls a tool, requests one more scope, and refreshes its token.

The client knows only the URL and its own metadata.

Prints each authorization URL, reads the callback URL from standard input, and at the end prints the results as JSON.
"""

import asyncio
import json
import sys
import time
from urllib.parse import parse_qs, urlsplit

from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

url, redirect_uri, metadata_url = sys.argv[1:4]


class Storage:
    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


async def show_authorization_url(authorization_url: str) -> None:
    print(authorization_url, flush=True)


async def read_callback() -> AuthorizationCodeResult:
    query = parse_qs(urlsplit(sys.stdin.readline().strip()).query)
    return AuthorizationCodeResult(code=query["code"][0], state=query["state"][0], iss=query["iss"][0])


async def main() -> None:
    storage = Storage()
    provider = OAuthClientProvider(
        server_url=url,
        client_metadata=OAuthClientMetadata(client_name="Python assistant", redirect_uris=[redirect_uri]),
        storage=storage,
        redirect_handler=show_authorization_url,
        callback_handler=read_callback,
        client_metadata_url=metadata_url or None,
    )
    async with create_mcp_http_client(auth=provider) as http_client:
        async with Client(streamable_http_client(url, http_client=http_client)) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            products = await client.call_tool("products_list", {})
            scope = storage.tokens.scope
            order = {"items": [{"product_id": 1, "quantity": 1}], "delivery": {"method": "pickup", "recipient_name": "A"}}
            placed = await client.call_tool("orders_create", order)
            tokens = storage.tokens
            provider.context.token_expiry_time = time.time() - 1
            await client.call_tool("products_list", {})
    print(
        json.dumps(
            {
                "tools": tools,
                "products": products.content[0].text,
                "scope": scope,
                "order": placed.content[0].text,
                "scopeAfterStepUp": tokens.scope,
                "refreshed": storage.tokens.access_token != tokens.access_token,
            }
        )
    )


asyncio.run(main())
