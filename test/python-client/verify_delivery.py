"""Verifies a webhook delivery, and prints its event or the error."""

import json
import sys

from mandate_client import WebhookVerificationError, verify_webhook

given = json.loads(sys.argv[1])
try:
    event = verify_webhook(given["body"].encode(), given["headers"], given["secrets"], now=given["now"])
    print(event["id"], event["type"])
except WebhookVerificationError as error:
    print(error)
