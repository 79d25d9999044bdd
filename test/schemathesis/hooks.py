"""Schemathesis hooks for the caller's token, and for rules that the OpenAPI document cannot describe."""

import base64
import hashlib
import json
import os
import re

import requests
import schemathesis


@schemathesis.auth(refresh_interval=200)  # an access token is valid for 300 seconds
class AccessToken:
    """Access token of an administrator with all scopes."""

    def get(self, case, context):
        response = requests.get(os.environ["MANDATE_TOKEN_URL"], timeout=120)
        response.raise_for_status()
        protect_access(response.text)
        return response.text

    def set(self, case, data, context):
        case.headers = {**(case.headers or {}), "Authorization": f"Bearer {data}"}


# Schemathesis has no serializer for this media type. A generated file is sent unchanged.
@schemathesis.serializer("application/x-ndjson")
def serialize_lines(context, value):
    return value if isinstance(value, bytes) else str(value).encode()


# Path parameters with which a test case would revoke the access of all later test cases.
protected = set()


def protect_access(token):
    """Protect the token's user and application."""
    payload = token.split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    protected.add(("user_id", claims["sub"]))
    url, headers = f"{claims['iss']}/api/v1/applications?limit=100", {"Authorization": f"Bearer {token}"}
    for application in requests.get(url, headers=headers, timeout=120).json()["data"]:
        if application["client_id"] == claims["client_id"]:
            protected.add(("application_id", str(application["id"])))


def is_valid(case):
    """Return whether Schemathesis regards the case as valid."""
    return case.meta is not None and case.meta.generation.mode.is_positive


@schemathesis.hook
def before_call(context, case, kwargs):
    """
    Replace idempotency keys with valid ones, because the document describes the allowed characters only in words. Equal keys stay equal. If
    a case would change or delete the caller's account or application, replace the ID with one that does not exist.
    """
    if case.method != "GET":
        for name, value in (case.path_parameters or {}).items():
            if (name, str(value)) in protected:
                case.path_parameters[name] = 2**53 - 1
    key = (case.headers or {}).get("Idempotency-Key")
    if key and is_valid(case):
        case.headers["Idempotency-Key"] = hashlib.sha256(str(key).encode()).hexdigest()


# Errors in requests that are valid according to the document: the code, a pattern for the start of the error's text, and the reason.
EXPECTED_ERRORS = [
    # The result depends on stored data.
    ("unknown_reference", "", "The body contains the ID or code of a resource that does not exist."),
    ("invalid_cursor", "", "Only a cursor from an earlier response is valid."),
    ("currency_mismatch", "", "The currencies of the products are stored."),
    ("required", "This delivery method requires an address", "The delivery methods are stored."),
    ("out_of_range", "The event does not exist yet", "The ID of an event must not be greater than that of the newest event."),
    ("out_of_range", "The shop’s maximum limits do not permit", "The maximum of all limits is a setting."),
    ("out_of_range", "Must be in the future", "The result depends on the time of the request."),
    # The document does not list the valid values.
    ("invalid_value", "Must be an ISO 4217 code", "The document has no list of the currencies."),
    ("invalid_value", ".* is not a time zone", "The document has no list of the time zones."),
    ("invalid_value", "Must be an IANA time zone", "The document has no list of the time zones."),
    ("invalid_value", "This shop does not use this payment provider", "The payment providers are a setting."),
    # JSON Schema has no keyword for these rules, or its `format` keyword is less strict than the server.
    ("invalid_value", "The URL ", "A webhook needs an absolute URL of a public host."),
    ("invalid_value", "Must be (an? )?(absolute |https? )", "A URL needs a certain scheme."),
    ("invalid_value", "(?s).* is not an absolute URI", "A redirect URI is absolute."),
    ("invalid_value", "Must be an e-mail address", "The server rejects rare characters that RFC 5321 permits in an address."),
    ("invalid_value", "Must be a valid date between 1980|Must be between 1980", "JSON Schema has no ranges of dates."),
    ("invalid_image", "", "JSON Schema cannot describe the dimensions and the contents of an image."),
    ("invalid_request", "The body is empty", "JSON Schema cannot describe the length of a binary body."),
    # Conditions that involve several fields, and rules that the schema could express only with keywords that older documents lack. A
    # comparison of the documents would report such keywords as incompatible. The descriptions in the document state the rules.
    ("required", "This field is required if `quote_id` is omitted", "An order has either a quote, or items and delivery."),
    (
        "invalid_value",
        "(?i).*(fapi2|self-registered|confidential app|public app|grant type|contain a URI if|private_key_jwt|tls_client_auth|client certificates|for the type |jwks|unusable key|metadata document|users sign in)",
        "The fields of an application depend on each other.",
    ),
    ("invalid_value", "Must be set unless ", "The fields of a limit depend on each other."),
    (
        "invalid_value",
        "Must be set (for|if) |Must not be set with |Must include openid|Must be false if the audience|Apple requires|Must be a P-256|The logo "
        "|There is no active administrator",
        "The fields of an identity provider depend on each other, and a key must be usable.",
    ),
    ("out_of_range", "With `include=items`, a page can contain at most", "The maximum of a parameter depends on another one."),
    ("invalid_value", "Contains scopes that ", "Which scopes an application can have depends on its other fields."),
    ("out_of_range", "Must have at least 1 character", "The names of metadata have a minimum length."),
    ("out_of_range", "With the interval .* statistics cover at most", "The maximum length of a period depends on the interval."),
    ("conflicting_fields", "", "A field excludes another one."),
    ("conflicting_parameters", "", "A parameter excludes another one, or a range ends before it starts."),
    (
        "invalid_value",
        r"Must not contain (control characters|U\+|an? |the same column)",
        "Text has no control characters and no invisible characters.",
    ),
    ("invalid_value", "Must not contain .* twice", "A list contains no value twice."),
    ("invalid_value", "Must not be after", "A range ends before it starts."),
    ("invalid_value", "Must not be an order-line column|Requires `rows` to be `users`", "The columns of an export depend on its rows."),
    ("invalid_value", "The test provider does not support the token", "The valid tokens of payment methods depend on the provider."),
    ("invalid_value", "Must not be 0", "A stock change must not be zero."),
    ("invalid_value", "Must be 1 to 255 characters", "The idempotency key has its own error code, so its pattern is not in the schema."),
]


def is_expected(error):
    return any(error["code"] == code and re.match(pattern, error["detail"]) for code, pattern, _ in EXPECTED_ERRORS)


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Drop the failure if a valid request was rejected only with expected errors, or if a URL was rejected because it is too long."""
    # A server or proxy can return 414 for any operation with text in its query, so the document does not declare 414 for each operation.
    if response.status_code == 414:
        return failure.code not in {"ST103", "ST201"}
    if failure.code != "ST202" or response.status_code != 400:
        return True
    problem = response.json()
    return not all(is_expected(error) for error in problem.get("errors", [problem]))
