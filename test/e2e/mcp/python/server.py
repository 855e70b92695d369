"""A server of tools by the official SDK for Python: `python3 server.py PORT`."""

import sys

from mcp.server import MCPServer

server = MCPServer("python")


@server.tool()
def add(a: int, b: int) -> str:
    """Adds two numbers."""
    return f"The sum is {a + b}."


server.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
