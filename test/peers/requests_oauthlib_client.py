"""Signs in with requests-oauthlib: prints the authorization URL, reads the callback URL, and prints the user."""
import base64
import hashlib
import json
import os
import secrets
import sys

from requests_oauthlib import OAuth2Session

issuer, client_id, client_secret, redirect_uri = sys.argv[1:]
os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"  # the test server has no TLS

verifier = secrets.token_urlsafe(48)
challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
# the scopes are deliberately in a different order, because the library compares the requested scopes with the granted ones
session = OAuth2Session(client_id, redirect_uri=redirect_uri, scope=["users.read", "offline_access", "openid"])
url, _state = session.authorization_url(issuer + "/oauth/authorize", code_challenge=challenge, code_challenge_method="S256")
print(url, flush=True)
callback_url = sys.stdin.readline().strip()
session.fetch_token(issuer + "/oauth/token", authorization_response=callback_url, client_secret=client_secret, code_verifier=verifier)
session.refresh_token(issuer + "/oauth/token", client_id=client_id, client_secret=client_secret)
print(json.dumps(session.get(issuer + "/api/v1/users/me").json()), flush=True)
