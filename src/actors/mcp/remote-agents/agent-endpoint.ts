import { isObject } from '#runtime/index.ts'
import type { Json, JsonObject } from '#specs/dsl/json.ts'
import { maxToolDescription } from '#specs/resources/mcp/mcp-limits.ts'
import { repeatedMessages } from '#specs/resources/protocols/a2a.ts'
import { McpFailure } from '../client/mcp-failure.ts'

/** Where an agent is called, as its reviewed card states it. */
export type AgentEndpoint = {
  readonly url: string
  readonly binding: 'JSONRPC' | 'HTTP+JSON'
  readonly version: string
  readonly tenant: string
  readonly streaming: boolean
  /** Whether the agent recognises a message that is sent again. */
  readonly repeats: boolean
}

/** The only tool of an agent. */
export const agentTool = 'delegate'

const maxText = 512
const maxSkills = 50

/** Returns the endpoint that the snapshot of an agent has; null for a tool of another server. */
export const endpointOf = (annotations: JsonObject | null): AgentEndpoint | null => {
  const endpoint = annotations?.endpoint
  if (!isObject(endpoint)) return null
  const { url, binding, version, tenant, streaming, repeats } = endpoint
  return {
    ...{ url: String(url), version: String(version), tenant: String(tenant) },
    binding: binding === 'HTTP+JSON' ? binding : 'JSONRPC',
    ...{ streaming: streaming === true, repeats: repeats === true },
  }
}

/**
 * Returns the tool by which models delegate to an agent: all of its card that they see, and where it is called. A change
 * of either is reviewed, since the tool is its snapshot.
 *
 * @param card as the agent sent it.
 * @throws {McpFailure} `bad_answer`, and `url_refused` for an agent at another origin: its credentials stay at the card's
 */
export const agentDefinition = (card: Readonly<Record<string, unknown>>, cardUrl: string): JsonObject => {
  const name = text(card.name)
  if (name === '') throw new McpFailure('bad_answer', 'The card of the agent has no name.', { isFinal: true })
  const skills = listOf(card.skills).map((skill) => `- ${text(skill.name)}: ${text(skill.description)}`)
  const lead = `Hands a task to the agent ${name}, and returns its result. ${text(card.description, maxToolDescription / 2)}`
  return {
    name: agentTool,
    description: [lead, ...skills.slice(0, maxSkills)].join('\n').slice(0, maxToolDescription),
    inputSchema: {
      type: 'object',
      properties: { task: { type: 'string', description: 'The task, with all that the agent needs to know.' } },
      required: ['task'],
    },
    annotations: {
      // a call continues with the task that it began, so it may be made again after a crash
      idempotentHint: true,
      endpoint: endpointIn(card, cardUrl),
      card_version: text(card.version),
      provider: isObject(card.provider) ? text(card.provider.organization) : '',
    },
  }
}

const endpointIn = (card: Readonly<Record<string, unknown>>, cardUrl: string): AgentEndpoint => {
  const offered = listOf(card.supportedInterfaces).flatMap((each): readonly AgentEndpoint[] => {
    const { protocolBinding: binding, protocolVersion, tenant } = each
    const url = URL.parse(text(each.url, maxUrl))
    const isKnown = binding === 'JSONRPC' || binding === 'HTTP+JSON'
    if (url === null || !isKnown || !/^(?:1\.|0\.3)/.test(text(protocolVersion))) return []
    const { streaming, extensions } = isObject(card.capabilities) ? card.capabilities : {}
    const repeats = listOf(extensions).some(({ uri }) => uri === repeatedMessages)
    const spoken = { binding, version: text(protocolVersion), tenant: text(tenant), repeats } as const
    return [{ url: url.href, ...spoken, streaming: streaming === true }]
  })
  if (offered.length === 0)
    throw new McpFailure('bad_answer', 'The card names no interface of A2A 1.0 or 0.3.', { isFinal: true })
  const own = offered.find(({ url }) => new URL(url).origin === new URL(cardUrl).origin)
  if (own !== undefined) return own
  throw new McpFailure('url_refused', 'The agent is at another origin than its card.', { isFinal: true })
}

const maxUrl = 2048

const text = (value: unknown, max = maxText): string => (typeof value === 'string' ? value.slice(0, max) : '')

const listOf = (value: unknown): readonly Readonly<Record<string, Json | undefined>>[] =>
  Array.isArray(value) ? value.filter(isObject) : []
