"""Lists the tools of a tool server and calls some, by the Python SDK; prints the results of each given mode as JSON."""

import asyncio
import json
import os
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def results(url: str, mode: str) -> dict:
    headers = {"authorization": f"Bearer {os.environ['SERVICE_API_KEY']}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            made = await client.call_tool("create_session", {"metadata": {"by": "python"}})
            refused = await client.call_tool("get_session", {"session_id": "ses_00000000000000000000000000"})
            return {
                "tools": tools,
                "made": made.structured_content,
                "refused": [refused.is_error, refused.content[0].text],
            }


async def main(url: str, *modes: str) -> None:
    print(json.dumps({mode: await results(url, mode) for mode in modes}))


asyncio.run(main(*sys.argv[1:]))
