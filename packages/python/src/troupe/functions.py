"""Functions of a program as tools that the model may call."""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
import types
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Generic, Literal, ParamSpec, TypedDict, TypeVar, Union, get_args, get_origin, get_type_hints, overload

from .events import FunctionTool, FunctionToolFunction

if sys.version_info >= (3, 11):
    from typing import Unpack
else:
    from typing_extensions import Unpack

P = ParamSpec("P")
R = TypeVar("R")

JsonSchema = dict[str, object]

_SCALARS: Mapping[object, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
}


class FunctionOptions(TypedDict, total=False):
    """How a function is declared and run."""

    name: str
    """Default: the function's."""
    description: str
    """Says to the model when to call it. Default: the function's docstring."""
    parameters: JsonSchema
    """JSON Schema of the arguments. Default: made of the function's annotations."""
    needs_approval: bool
    """Whether it runs only in `session.approve`."""
    idempotent: bool
    """Whether a call whose output was lost with its process may run again."""


class AnyFunction:
    """A function that the model may call, with any arguments."""

    def __init__(self, run: Callable[..., object], options: FunctionOptions) -> None:
        self._call = run
        self.name = options.get("name") or run.__name__
        self.needs_approval = options.get("needs_approval", False)
        self.idempotent = options.get("idempotent", False)
        parameters = options.get("parameters") or _schema_of(run)
        declared: FunctionToolFunction = {"name": self.name, "parameters": parameters}
        says = options.get("description") or inspect.getdoc(run)
        if says:
            declared["description"] = says
        # a call that did not need one would end the turn instead of pausing it
        self.tool: FunctionTool = {"type": "function", "function": declared, "needsApproval": True}
        """Its declaration in a turn."""

    async def output(self, arguments: object) -> str:
        """Runs a call of the model, and returns its output or what failed. A function without `await` runs in a thread."""
        run = self._call
        named = arguments if isinstance(arguments, dict) else {}
        try:
            value = run(**named) if inspect.iscoroutinefunction(run) else await asyncio.to_thread(run, **named)
            value = await value if isinstance(value, Awaitable) else value
            return value if isinstance(value, str) else json.dumps(value)
        except Exception as error:
            return f"The function failed: {error or type(error).__name__}"


class Function(AnyFunction, Generic[P, R]):
    """A function that the model may call. Called from Python, it is the function itself."""

    def __init__(self, run: Callable[P, R], **options: Unpack[FunctionOptions]) -> None:
        super().__init__(run, options)
        self._run = run

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._run(*args, **kwargs)


@overload
def function(run: Callable[P, R], /) -> Function[P, R]: ...
@overload
def function(**options: Unpack[FunctionOptions]) -> Callable[[Callable[P, R]], Function[P, R]]: ...
def function(
    run: Callable[P, R] | None = None, /, **options: Unpack[FunctionOptions]
) -> Function[P, R] | Callable[[Callable[P, R]], Function[P, R]]:
    """
    Makes a function a tool of sessions that are opened with it. Its docstring says to the model when to call it, and its
    annotations are the schema of the arguments, with `Annotated[str, "description"]`.
    """
    return (lambda run: Function(run, **options)) if run is None else Function(run, **options)


def _schema_of(run: Callable[..., object]) -> JsonSchema:
    """JSON Schema of a function's arguments."""
    hints = get_type_hints(run, include_extras=True)
    parameters = inspect.signature(run).parameters.values()
    properties = {each.name: _schema(hints.get(each.name, object), each.name) for each in parameters}
    required = [each.name for each in parameters if each.default is inspect.Parameter.empty]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _schema(hint: object, name: str) -> JsonSchema:
    origin, inner = get_origin(hint), get_args(hint)
    if hint is object:
        return {}
    if hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    if origin is Annotated:
        says = [each for each in inner[1:] if isinstance(each, str)]
        return {**_schema(inner[0], name), **({"description": says[0]} if says else {})}
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema(each, name) for each in inner]}
    if origin in (list, tuple, Sequence) or hint in (list, tuple):
        return {"type": "array", **({"items": _schema(inner[0], name)} if inner else {})}
    if origin in (dict, Mapping) or hint is dict:
        return {"type": "object", **({"additionalProperties": _schema(inner[1], name)} if inner else {})}
    if isinstance(hint, type) and hasattr(hint, "__required_keys__"):
        fields = get_type_hints(hint, include_extras=True)
        properties = {field: _schema(each, field) for field, each in fields.items()}
        return {"type": "object", "properties": properties, "required": sorted(hint.__required_keys__)}
    raise TypeError(f"The type of {name} has no schema here ({hint}): pass parameters=… to @function.")
