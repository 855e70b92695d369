import type { Client, StoredOAuthClientInformation } from '@modelcontextprotocol/client'
import type { ToolRequest } from '#actors/mcp/agents/call-tool.ts'
import { callWithInput } from '#actors/mcp/agents/input/call-with-input.ts'
import { HeldCalls } from '#actors/mcp/agents/input/held-calls.ts'
import { type McpWork, withServer } from '#actors/mcp/client/mcp-connection.ts'
import type { InputAnswer } from '#machines/action/action-data.ts'
import { openSsrfGuard } from '#outgoing/ssrf-guard.ts'
import { isObject } from '#runtime/schema.ts'
import type { JsonObject } from '#specs/dsl/json.ts'
import { signingIn } from './sign-in.ts'

/*
 * The client that the official conformance suite tests: our connection to MCP servers, through our SSRF guard. The
 * suite starts it once per scenario, with the server's URL as its argument.
 */

const url = process.argv.at(-1) ?? ''
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? ''
const given: unknown = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}')
const context = isObject(given) ? given : {}

const guard = openSsrfGuard({ allowedPrivateHosts: ['localhost', '127.0.0.1'] })

const argumentsOf = (name: string): JsonObject => (name === 'add_numbers' ? { a: 5, b: 3 } : {})

/**
 * In these scenarios, the server requests input in a result. Our client returns the request to its caller, and agents
 * pass it on to people.
 */
const requestsInput = scenario.startsWith('sep-2322-')
const held = new HeldCalls()

/** Calls a tool as agents do, with a person who accepts every request of the server. */
const callAsAgents = async (
  { name, given }: { readonly name: string; readonly given: JsonObject },
  signal: AbortSignal,
): Promise<void> => {
  const request: ToolRequest = {
    server: 'suite',
    target: { url, transport: 'streamable_http', headers: {} },
    tool: { name, input_schema: {} },
    timeoutMs: 25_000,
  }
  const call = { actionId: name, arguments: given, signal }
  let outcome = await callWithInput({ guard, held }, call, request)
  while (!outcome.ok && outcome.input !== undefined) {
    const answer: InputAnswer = { action: 'accept', content: {} }
    outcome = await callWithInput(
      { guard, held },
      { ...call, input: { resume: outcome.input.resume, answer } },
      request,
    )
  }
}

const callAll = async (client: Client, signal: AbortSignal): Promise<void> => {
  const { tools } = await client.listTools(undefined, { signal })
  const calls = Array.isArray(context.toolCalls)
    ? context.toolCalls.map((call) =>
        isObject(call) ? { name: String(call.name), given: Object(call.arguments) } : null,
      )
    : tools.map(({ name }) => ({ name, given: argumentsOf(name) }))
  for (const call of calls) {
    if (call === null) continue
    const made = requestsInput
      ? callAsAgents(call, signal)
      : client.callTool({ name: call.name, arguments: call.given }, { signal })
    await made.catch((error: unknown) => console.error(`${call.name}: ${String(error)}`))
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
