"""Lists the tools of a tool server and calls some, by the Python SDK in one of its modes; prints the results as JSON."""

import asyncio
import json
import os
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def main(url: str, mode: str) -> None:
    headers = {"authorization": f"Bearer {os.environ['SERVICE_API_KEY']}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            made = await client.call_tool("create_session", {"metadata": {"by": "python"}})
            refused = await client.call_tool("get_session", {"session_id": "ses_00000000000000000000000000"})
            print(
                json.dumps(
                    {
                        "tools": tools,
                        "made": made.structured_content,
                        "refused": [refused.is_error, refused.content[0].text],
                    }
                )
            )


asyncio.run(main(sys.argv[1], sys.argv[2]))
