import type { Client, StoredOAuthClientInformation } from '@modelcontextprotocol/client'
import { type McpWork, withServer } from '#actors/mcp/client/mcp-connection.ts'
import { openSsrfGuard } from '#outgoing/ssrf-guard.ts'
import { isObject } from '#runtime/schema.ts'
import { signingIn } from './sign-in.ts'

/*
 * The client under test of the official conformance suite: our connection to servers, through our guard. The suite starts it
 * once a scenario, with the server's URL as its argument.
 */

const url = process.argv.at(-1) ?? ''
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? ''
const given: unknown = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}')
const context = isObject(given) ? given : {}

const argumentsOf = (name: string): Record<string, unknown> => (name === 'add_numbers' ? { a: 5, b: 3 } : {})

const callAll = async (client: Client, signal: AbortSignal): Promise<void> => {
  const { tools } = await client.listTools(undefined, { signal })
  const calls = Array.isArray(context.toolCalls)
    ? context.toolCalls.map((call) =>
        isObject(call) ? { name: String(call.name), given: Object(call.arguments) } : null,
      )
    : tools.map(({ name }) => ({ name, given: argumentsOf(name) }))
  for (const call of calls) {
    if (call === null) continue
    await client.callTool({ name: call.name, arguments: call.given }, { signal }).catch((error: unknown) => {
      console.error(`${call.name}: ${String(error)}`)
    })
  }
  const { prompts, resources } = client.getServerCapabilities() ?? {}
  if (prompts !== undefined)
    for (const { name } of (await client.listPrompts()).prompts) await client.getPrompt({ name })
  if (resources !== undefined)
    for (const { uri } of (await client.listResources()).resources) await client.readResource({ uri })
}

const registered = (): StoredOAuthClientInformation | undefined => {
  const { client_id, client_secret } = context
  if (typeof client_id !== 'string' || typeof client_secret !== 'string') return undefined
  return { client_id, client_secret, token_endpoint_auth_method: 'client_secret_basic' }
}

const guard = openSsrfGuard({ allowedPrivateHosts: ['localhost', '127.0.0.1'] })
const work: McpWork = {
  guard,
  timeoutMs: 25_000,
  signal: new AbortController().signal,
  options: { capabilities: { elicitation: { form: { applyDefaults: true } } } },
  ...(scenario.startsWith('auth/') && { middleware: signingIn(url, registered()) }),
  prepare: (client) =>
    client.setRequestHandler('elicitation/create', async () => ({ action: 'accept' as const, content: {} })),
}

try {
  await withServer({ url, transport: 'streamable_http', headers: {} }, work, ({ client }, signal) =>
    callAll(client, signal),
  )
} catch (error) {
  console.error(error)
  process.exitCode = 1
}
await guard.close()
