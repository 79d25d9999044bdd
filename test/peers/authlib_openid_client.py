"""Signs in as Authlib's web framework integrations do: prints the authorization URL, reads the callback URL, prints the user."""
import json
import os
import sys
from urllib.parse import parse_qs, urlsplit

from authlib.integrations.base_client import BaseApp, OAuth2Mixin, OpenIDMixin
from authlib.integrations.requests_client import OAuth2Session

issuer, client_id, client_secret, redirect_uri = sys.argv[1:]
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"  # the test server has no TLS


class Application(OAuth2Mixin, OpenIDMixin, BaseApp):
    """The base of the Flask and Django integrations, without a framework."""

    client_cls = OAuth2Session

    def _get_requested_token(self, *args, **kwargs):
        return self.token


application = Application(
    framework=None,
    name="mandate",
    client_id=client_id,
    client_secret=client_secret,
    server_metadata_url=issuer + "/.well-known/openid-configuration",
    client_kwargs={"scope": "openid profile email users.read", "code_challenge_method": "S256"},
)
request = application.create_authorization_url(redirect_uri)
print(request["url"], flush=True)
callback = parse_qs(urlsplit(sys.stdin.readline().strip()).query)
assert callback["state"] == [request["state"]]
application.token = application.fetch_access_token(
    redirect_uri, code=callback["code"][0], code_verifier=request["code_verifier"], state=request["state"]
)
claims = application.parse_id_token(application.token, nonce=request["nonce"])
user = application.userinfo()
assert user == {name: claims[name] for name in user}, (user, claims)
assert user.email_verified
me = application.get(issuer + "/api/v1/users/me").json()
assert user.sub == str(me["id"])
print(json.dumps({"id": int(user.sub), "email": user.email}), flush=True)
