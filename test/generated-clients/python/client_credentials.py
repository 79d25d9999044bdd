"""Requests an access token with client credentials, using only the standard library."""

import base64
import json
import os
import urllib.parse
import urllib.request


def request_token(url: str) -> str:
    basic = base64.b64encode(f"{os.environ['CLIENT_ID']}:{os.environ['CLIENT_SECRET']}".encode()).decode()
    body = urllib.parse.urlencode({"grant_type": "client_credentials"}).encode()
    request = urllib.request.Request(f"{url}/oauth/token", body, {"Authorization": f"Basic {basic}"})
    with urllib.request.urlopen(request) as response:
        return json.load(response)["access_token"]
