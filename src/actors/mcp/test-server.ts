import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import type { ResultOf } from '#specs/index.ts'
import { type Clock, isObject } from '../runtime/index.ts'
import { type McpConnection, withServer } from './client/mcp-connection.ts'
import { McpFailure } from './client/mcp-failure.ts'
import { discovered } from './client/read-tools.ts'
import { discoveryTimeoutMs } from './discover-tools.ts'
import type { ContentRequest } from './read-content.ts'
import { readAgent } from './remote-agents/agent-wire.ts'

const maxListed = 100
const maxText = 1024

type Tested = ResultOf<'mcp_servers.test'>

/** Connects to a server and lists what it offers. A failure is returned as a result, not thrown. */
export const testServer = async (
  { guard, clock }: { readonly guard: Pick<SsrfGuard, 'request'>; readonly clock: Clock },
  withTarget: ContentRequest['withTarget'],
): Promise<Tested> => {
  const startedAt = clock.now()
  const work = { guard, timeoutMs: discoveryTimeoutMs, signal: new AbortController().signal }
  try {
    const found = await withTarget(async (target) => {
      if (target.transport === 'a2a') return { ...(await readAgent(target, work)), resources: [], prompts: [] }
      return withServer(target, work, async (connection, signal) => ({
        ...(await discovered(connection, signal)),
        ...(await besides(connection, signal)),
      }))
    })
    return {
      ...{ ok: true, latency_ms: clock.now() - startedAt, error: null },
      protocol_version: found.protocol_version,
      transport_used: found.transport_used,
      server_info: found.server_info,
      tool_count: found.tools.length,
      resources: found.resources,
      prompts: found.prompts,
    }
  } catch (error) {
    if (!(error instanceof McpFailure)) throw error
    const { code, message } = error
    const nothing = { protocol_version: null, transport_used: null, server_info: null, tool_count: 0 }
    return {
      ok: false,
      latency_ms: clock.now() - startedAt,
      error: { code, message },
      ...nothing,
      resources: [],
      prompts: [],
    }
  }
}

/** Returns the resources and prompts of a server, if it declares any. */
const besides = async (
  { client }: McpConnection,
  signal: AbortSignal,
): Promise<Pick<Tested, 'resources' | 'prompts'>> => {
  const has = client.getServerCapabilities() ?? {}
  const resources = has.resources === undefined ? [] : (await client.listResources(undefined, { signal })).resources
  const prompts = has.prompts === undefined ? [] : (await client.listPrompts(undefined, { signal })).prompts
  return {
    resources: resources.slice(0, maxListed).map((each) => texts(each, ['uri', 'name', 'description', 'mimeType'])),
    prompts: prompts.slice(0, maxListed).map((each) => texts(each, ['name', 'description'])),
  }
}

const texts = (listed: unknown, names: readonly string[]) =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = isObject(listed) ? listed[name] : undefined
      return typeof value === 'string' ? [[name, value.slice(0, maxText)]] : []
    }),
  )
