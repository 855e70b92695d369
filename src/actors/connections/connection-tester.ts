import type { ConnectionContext, ConnectionError } from '#machines/connection/connection-data.ts'
import { connectionDefinition } from '#machines/connection/connection-definition.ts'
import { boundedBody } from '#outgoing/bounded-body.ts'
import { RedirectFailed, type SsrfGuard, SsrfRefused } from '#outgoing/ssrf-guard.ts'
import { connectorOf } from '#specs/data/connectors/connectors.ts'
import { contextOf, isObject, storedState } from '../runtime/index.ts'
import type { Resident } from '../runtime/internal.ts'
import type { ConnectionServers } from './connection-servers.ts'
import type { ConnectionTools } from './tools/connection-tools.ts'
import type { ConnectionAccesses } from './use/connection-access.ts'
import { baseUrlOf, connectorHeaders } from './use/requests.ts'

export interface TesterParts {
  readonly accesses: ConnectionAccesses
  readonly servers: ConnectionServers
  readonly tools: ConnectionTools
  readonly guard: Pick<SsrfGuard, 'request'>
  /** ms since the epoch. */
  readonly now: () => number
}

const timeoutMs = 15_000
const maxAnswerBytes = 64 * 1024

/** Tests connections with the test request of their connector. */
export class ConnectionTester {
  readonly #parts: TesterParts

  constructor(parts: TesterParts) {
    this.#parts = parts
  }

  /** Returns the outcome and the duration of a test. @throws {StoreUnavailable} */
  async test(connection: Resident): Promise<{ readonly latency_ms: number; readonly error: ConnectionError | null }> {
    const { now } = this.#parts
    const started = now()
    const error = await this.#trouble(connection)
    return { latency_ms: Math.max(0, Math.round(now() - started)), error }
  }

  async #trouble(connection: Resident): Promise<ConnectionError | null> {
    const { accesses, servers, tools } = this.#parts
    const { project } = connection.owner
    const access = await accesses.of(connection)
    if (access.kind === 'required') return { code: 'connection_required', message: access.message }
    if (access.kind === 'refused') return { code: access.code, message: access.message }
    const context = contextOf(connectionDefinition, storedState(connection.state.snapshot))
    const configured = (await servers.configured(project, context)) ?? context
    const imported = await tools.imported(project, context.pattern ?? connection.id)
    const url = testUrl({ ...configured, provided: context.provided }, imported?.base_url ?? null)
    // without a test request, the only evidence is that a token could be obtained
    return url === null ? null : this.#called(url, { ...connectorHeaders(context.connector), ...access.headers })
  }

  async #called(
    { url, method }: { readonly url: string; readonly method: 'GET' | 'POST' },
    headers: Readonly<Record<string, string>>,
  ): Promise<ConnectionError | null> {
    const signal = AbortSignal.timeout(timeoutMs)
    try {
      const answer = await this.#parts.guard.request(url, {
        ...{ kind: 'connection_test', method, signal, maxRedirects: 0 },
        headers: { accept: 'application/json', ...headers },
      })
      const { bytes } = await boundedBody(answer.body, { maxBytes: maxAnswerBytes })
      const { statusCode } = answer
      if (statusCode === 401 || statusCode === 403)
        return { code: 'refused', message: `The service refused the key or token (status ${statusCode}).` }
      if (statusCode < 200 || statusCode > 299)
        return { code: 'service_error', message: `The service responded with status ${statusCode}.` }
      return saysNo(bytes) ? { code: 'refused', message: 'The service refused the key or token.' } : null
    } catch (error) {
      if (error instanceof SsrfRefused || error instanceof RedirectFailed)
        return { code: 'address_refused', message: `The URL is refused: ${error.message}.` }
      const code = signal.aborted ? 'timeout' : 'unreachable'
      return {
        code,
        message: signal.aborted ? 'The service did not respond in time.' : 'The service cannot be reached.',
      }
    }
  }
}

/** Whether a response with status 200 reports a failure, as Slack's do. */
const saysNo = (bytes: Buffer): boolean => {
  try {
    const value: unknown = JSON.parse(bytes.toString())
    return isObject(value) && value.ok === false
  } catch {
    return false
  }
}

const testUrl = (
  context: Pick<ConnectionContext, 'connector' | 'config' | 'provided'>,
  imported: string | null,
): { readonly url: string; readonly method: 'GET' | 'POST' } | null => {
  const type = connectorOf(context.connector)
  const own = context.config.test_path
  const call = typeof own === 'string' ? { method: 'GET' as const, path: own } : (type?.test ?? null)
  const base = baseUrlOf(context, imported)
  return call === null || base === null ? null : { url: base + call.path, method: call.method }
}
