"""Configures JupyterHub to sign users in with OpenID Connect. The hub starts no notebook servers."""

import os

from oauthenticator.generic import GenericOAuthenticator

c = get_config()  # noqa: F821
issuer = os.environ["ISSUER"]
folder = os.environ["FOLDER"]

c.JupyterHub.bind_url = f"http://127.0.0.1:{os.environ['CLIENT_PORT']}"
c.JupyterHub.hub_port = int(os.environ["HUB_PORT"])
c.JupyterHub.db_url = f"sqlite:///{folder}/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = f"{folder}/cookie_secret"
c.JupyterHub.default_url = "/hub/home"
c.JupyterHub.services = [{"name": "test", "api_token": os.environ["API_TOKEN"]}]
c.JupyterHub.load_roles = [{"name": "test", "services": ["test"], "scopes": ["admin:users"]}]
c.ConfigurableHTTPProxy.command = [os.environ["NODE"], f"{folder}/node_modules/configurable-http-proxy/bin/configurable-http-proxy"]
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{os.environ['PROXY_API_PORT']}"
c.ConfigurableHTTPProxy.pid_file = f"{folder}/proxy.pid"

c.JupyterHub.authenticator_class = GenericOAuthenticator
c.GenericOAuthenticator.client_id = os.environ["CLIENT_ID"]
c.GenericOAuthenticator.client_secret = os.environ["CLIENT_SECRET"]
c.GenericOAuthenticator.authorize_url = f"{issuer}/oauth/authorize"
c.GenericOAuthenticator.token_url = f"{issuer}/oauth/token"
c.GenericOAuthenticator.userdata_url = f"{issuer}/oauth/userinfo"
c.GenericOAuthenticator.oauth_callback_url = os.environ["REDIRECT_URI"]
c.GenericOAuthenticator.logout_redirect_url = os.environ["SIGN_OUT_URL"]
c.GenericOAuthenticator.scope = os.environ["SCOPE"].split()
c.GenericOAuthenticator.username_claim = "sub"
c.GenericOAuthenticator.allow_all = True
c.GenericOAuthenticator.auto_login = True
# The hub stores the tokens, and checks them with userinfo at each request, but at most once per second.
c.GenericOAuthenticator.enable_auth_state = True
c.GenericOAuthenticator.auth_refresh_age = 1
