"""Signs in with Authlib: prints the authorization URL, reads the callback URL, and prints the user."""
import json
import os
import sys

from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session

issuer, client_id, client_secret, redirect_uri = sys.argv[1:]
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"  # the test server has no TLS

session = OAuth2Session(client_id, client_secret, scope="openid users.read offline_access", redirect_uri=redirect_uri, code_challenge_method="S256")
metadata = session.get(issuer + "/.well-known/openid-configuration", withhold_token=True).json()
verifier = generate_token(48)
url, state = session.create_authorization_url(metadata["authorization_endpoint"], code_verifier=verifier)
print(url, flush=True)
callback_url = sys.stdin.readline().strip()
session.fetch_token(metadata["token_endpoint"], authorization_response=callback_url, code_verifier=verifier, state=state)
session.refresh_token(metadata["token_endpoint"])
print(json.dumps(session.get(issuer + "/api/v1/users/me").json()), flush=True)
