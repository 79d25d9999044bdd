"""Calls every method of every resource with a sender that only records the request, and prints the requests as JSON."""

import asyncio
import inspect
import json
from typing import Any

from mandate_client import AsyncPages, Pages, resources


class Recorder:
    def __init__(self) -> None:
        self.requests: list[Any] = []

    def send(self, request: Any, options: Any = None) -> Any:
        self.requests.append(request)


class AsyncRecorder(Recorder):
    async def send(self, request: Any, options: Any = None) -> Any:
        self.requests.append(request)


def list_methods(container: Any, recorder: Recorder) -> dict[str, Any]:
    listed = {}
    for resource, instance in vars(container).items():
        for name, method in inspect.getmembers(instance, inspect.ismethod):
            if name.startswith("_"):
                continue
            parameters = inspect.signature(method).parameters.values()
            values = {one.name: one.name for one in parameters if one.default is inspect.Parameter.empty}
            result = method(**values)
            if isinstance(result, Pages):
                result.first_page()
            elif isinstance(result, AsyncPages):
                asyncio.run(result.first_page())
            elif inspect.iscoroutine(result):
                asyncio.run(result)
            request = recorder.requests[-1]
            listed[f"{resource}.{name}"] = {
                "method": request.method,
                "path": request.path,
                "query": list(request.query),
                "headers": list(request.headers),
            }
    return listed


recorder, async_recorder = Recorder(), AsyncRecorder()
print(
    json.dumps(
        {
            "sync": list_methods(resources.Resources(recorder), recorder),
            "async": list_methods(resources.AsyncResources(async_recorder), async_recorder),
        }
    )
)
