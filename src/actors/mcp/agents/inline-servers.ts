import { createHmac } from 'node:crypto'
import { requireReachable } from '#actors/capability/reachable-url.ts'
import type { RemoteDeclaration, RemotePlace } from '#actors/capability/remote-tools.ts'
import type { ToolDefinition } from '#machines/mcp-server/known-tools.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { RecheckCache } from '#records/caches/recheck-cache.ts'
import type { ServerKeys } from '#records/sealing/server-keys.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { McpFailure } from '../client/mcp-failure.ts'
import type { DiscoverParts } from '../discover-tools.ts'
import { checkedHeaders, type ServerHeaders } from '../server-headers.ts'

export interface InlineParts {
  readonly guard: Pick<SsrfGuard, 'check'>
  readonly headers: ServerHeaders
  readonly read: DiscoverParts['read']
  readonly keys: Pick<ServerKeys, 'lasting'>
  /** ms since the epoch. */
  readonly now: () => number
}

/** A server that a turn defines, and its tools. */
export interface InlineServer {
  readonly id: string
  readonly label: string
  readonly url: string
  readonly tools: readonly ToolDefinition[]
}

const cachedMs = 60_000
const maxCached = 200

/**
 * Servers that are not registered but defined by a turn. The caller of the turn is responsible for them. The tools of a
 * server are read at most once per minute.
 */
export class InlineServers {
  readonly #parts: InlineParts
  readonly #key: Buffer
  readonly #known: RecheckCache<readonly ToolDefinition[]>
  readonly #secrets = new Map<string, Readonly<Record<string, string>>>()

  constructor(parts: InlineParts) {
    this.#parts = parts
    this.#key = parts.keys.lasting('mcp-inline-servers')
    const cache = { maxAgeMs: cachedMs, maxEntries: maxCached, now: parts.now }
    this.#known = new RecheckCache({ ...cache, load: (key) => this.#load(key) })
  }

  /** Returns the server and its tools. @throws {ServiceError} `missing_field`, `invalid_field`, `mcp_server_failed` */
  async server(place: RemotePlace, declared: RemoteDeclaration): Promise<InlineServer> {
    const { server_url: url, server_label: label, authorization } = declared
    if (url === undefined || label === undefined)
      throw new ServiceError('missing_field', {
        param: `${place.param}.server_id`,
        message: 'A server requires server_id, or server_label and server_url.',
      })
    requireReachable(this.#parts.guard, url, `${place.param}.server_url`)
    const given = {
      ...declared.headers,
      ...(authorization !== undefined && { authorization: `Bearer ${authorization}` }),
    }
    const headers = checkedHeaders(given, `${place.param}.headers`)
    const { project, tenant, user } = place
    const named = JSON.stringify([project, tenant, user, url, Object.entries(headers).sort()])
    const id = `mcp_inline_${createHmac('sha256', this.#key).update(named).digest('hex').slice(0, 40)}`
    const isKept = Object.keys(headers).length === 0 || this.#secrets.has(id)
    if (!isKept) await this.#parts.headers.keep({ project, tenant, user, id, url }, headers)
    const key = JSON.stringify([id, url])
    this.#secrets.set(id, headers)
    if (this.#secrets.size > maxCached) for (const first of this.#secrets.keys()) if (this.#secrets.delete(first)) break
    const tools = this.#known.peek(key) ?? (await this.#known.load(key))
    return { id, label, url, tools: tools ?? [] }
  }

  async #load(key: string): Promise<readonly ToolDefinition[]> {
    const [id = '', url = '']: readonly string[] = JSON.parse(key)
    const target = { url, transport: 'auto', headers: this.#secrets.get(id) ?? {} } as const
    try {
      return (await this.#parts.read(target, new AbortController().signal)).tools
    } catch (error) {
      if (!(error instanceof McpFailure)) throw error
      throw new ServiceError('mcp_server_failed', { message: `${error.message} (${error.code})`, cause: error })
    }
  }
}
