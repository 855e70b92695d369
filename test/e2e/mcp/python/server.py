"""A server of tools by the official SDK for Python: `python3 server.py PORT`."""

import asyncio
import sys

from mcp.server import MCPServer

server = MCPServer("python")
counts = {"added": 0, "began": 0, "cancelled": 0}


@server.tool()
def add(a: int, b: int) -> str:
    """Adds two numbers."""
    counts["added"] += 1
    return f"The sum is {a + b}."


@server.tool()
async def wait() -> str:
    """Waits for longer than anyone does."""
    counts["began"] += 1
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        counts["cancelled"] += 1
        raise
    return "It is over."


@server.tool()
def read_counts() -> str:
    """Says what happened."""
    return " ".join(f"{name}={count}" for name, count in counts.items())


server.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
