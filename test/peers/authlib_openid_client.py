"""Signs in as Authlib's web framework integrations do: prints the authorization URL, reads the callback URL, and prints the user and
the sign-out URL."""
import json
import os
import sys
from urllib.parse import parse_qs, urlencode, urlsplit

from authlib.integrations.base_client import BaseApp, OAuth2Mixin, OpenIDMixin
from authlib.integrations.requests_client import OAuth2Session

issuer, client_id, client_secret, redirect_uri = sys.argv[1:]
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"  # the test server has no TLS


class Application(OAuth2Mixin, OpenIDMixin, BaseApp):
    """The base class of the Flask and Django integrations, without a framework."""

    client_cls = OAuth2Session

    def _get_requested_token(self, *args, **kwargs):
        return self.token

    def _on_update_token(self, token, refresh_token=None, access_token=None):
        self.token = token


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
metadata = application.load_server_metadata()
first_access_token = application.token["access_token"]
with application._get_oauth_client(**metadata) as session:
    session.token = application.token
    session.refresh_token(metadata["token_endpoint"])
assert application.token["access_token"] != first_access_token
user = application.userinfo()
assert user == {name: claims[name] for name in user}, (user, claims)
assert user.email_verified
me = application.get(issuer + "/api/v1/users/me").json()
assert user.sub == str(me["id"])
sign_out = metadata["end_session_endpoint"] + "?" + urlencode({"id_token_hint": application.token["id_token"]})
print(json.dumps({"id": int(user.sub), "email": user.email, "sign_out": sign_out}), flush=True)
