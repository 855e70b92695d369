import type { Client } from '@a2a-js/sdk/client'
import type { Discovery } from '#machines/mcp-server/mcp-server.ts'
import { a2aSdk } from '#outgoing/a2a-sdk.ts'
import type { FetchLimits } from '#outgoing/guarded-fetch.ts'
import { isObject } from '#runtime/index.ts'
import type { McpTarget } from '../client/mcp-connection.ts'
import { McpFailure } from '../client/mcp-failure.ts'
import { definitionOf, sha256 } from '../client/tool-definition.ts'
import { mcpLimits, raced, type Wire, type WireWork, withWire } from '../client/wire.ts'
import { type AgentEndpoint, agentDefinition, agentTool } from './agent-endpoint.ts'

/** An agent to call: its endpoint, and the headers of every request. */
export type CalledAgent = Pick<McpTarget, 'headers'> & { readonly endpoint: AgentEndpoint }

/** Limits of one conversation: the client converts every value of a message in one turn of the event loop. */
export const agentLimits: FetchLimits = { ...mcpLimits, maxValues: 50_000 }

/** Reads the card of an agent: the tool by which models delegate to it. @throws {McpFailure} */
export const readAgent = (target: McpTarget, work: WireWork): Promise<Discovery> =>
  withWire({ ...work, limits: agentLimits }, async (wire) => {
    const { DefaultAgentCardResolver } = await a2aSdk()
    const resolver = new DefaultAgentCardResolver({ fetchImpl: fetchOf(target, wire), legacyCompat })
    const card: unknown = await raced(resolver.resolve(target.url, ''), wire.signal)
    if (!isObject(card)) throw new McpFailure('bad_answer', 'The response is no card of an agent.')
    const { annotations, ...listed } = agentDefinition(card, target.url)
    const read = definitionOf(listed, isObject(annotations) ? annotations : null)
    const tools = typeof read === 'string' ? [] : [read]
    return {
      tools,
      skipped: typeof read === 'string' ? [{ name: agentTool, reason: read }] : [],
      hash: sha256(tools.map(({ name, hash }) => [name, hash])),
      server_info: { name: shown(card.name), version: shown(card.version) },
      protocol_version:
        isObject(annotations) && isObject(annotations.endpoint) ? shown(annotations.endpoint.version) : null,
      transport_used: 'a2a',
    }
  })

/** Runs a unit of work with a client of an agent. @throws {McpFailure} */
export const withAgent = <T>(
  { headers, endpoint }: CalledAgent,
  work: WireWork,
  use: (client: Client, signal: AbortSignal) => Promise<T>,
): Promise<T> =>
  withWire({ ...work, limits: agentLimits }, async (wire) => {
    const { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } = await a2aSdk()
    const options = { fetchImpl: fetchOf({ headers }, wire), legacyCompat }
    const transports = [new JsonRpcTransportFactory(options), new RestTransportFactory(options)]
    const client = await new ClientFactory({ transports }).createFromAgentCard(cardOf(endpoint))
    return raced(use(client, wire.signal), wire.signal)
  })

const legacyCompat = { enabled: true }

const maxInfo = 512
const shown = (value: unknown): string => (typeof value === 'string' ? value.slice(0, maxInfo) : '')

/** Thrown for a response that no binding of the protocol has. */
class UnexpectedStatus extends Error {
  readonly status: number

  constructor(status: number) {
    super(`the agent responded with status ${status}`)
    this.status = status
  }
}

const fetchOf =
  ({ headers }: Pick<McpTarget, 'headers'>, { fetch, signal }: Wire): typeof globalThis.fetch =>
  async (url, init) => {
    const own = Object.fromEntries(new Headers(init?.headers))
    const signals = init?.signal ? [signal, init.signal] : [signal]
    const address = url instanceof Request ? url.url : url
    const answer = await fetch(address, { ...init, headers: { ...own, ...headers }, signal: AbortSignal.any(signals) })
    const { status, ok } = answer
    const isRefusal = status === 401 || status === 403 || status >= 500
    const isJson = /\bjson\b/i.test(answer.headers.get('content-type') ?? '')
    if (ok || (!isRefusal && isJson)) return answer
    await answer.body?.cancel()
    throw new UnexpectedStatus(status)
  }

/** The part of a card that the client needs, from what was reviewed: no card is read for a call. */
const cardOf = ({ url, binding, version, tenant, streaming }: AgentEndpoint) => ({
  ...{ name: '', description: '', version: '', provider: undefined, skills: [], signatures: [] },
  supportedInterfaces: [{ url, protocolBinding: binding, protocolVersion: version, tenant }],
  capabilities: { streaming, extensions: [] },
  ...{ securitySchemes: {}, securityRequirements: [], defaultInputModes: [], defaultOutputModes: [] },
})
