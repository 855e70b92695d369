import { orNotFound } from '#actors/call/not-found.ts'
import type { UseCases } from '#actors/call/use-cases.ts'
import type { Row } from '#records/schema.ts'
import { openedOrNull } from '#records/secret-box.ts'
import { Table } from '#records/table.ts'
import type { UpstreamReach } from '../call/authorization/small-request.ts'
import { newKeyText } from './connection-credentials.ts'
import { destinationOf } from './connection-rules.ts'
import type { ConnectionParts } from './connection-use-cases.ts'
import { type ConnectionData, connectionKeyAad, providerConnections } from './kinds.ts'
import type { Endpoint } from './managed-providers.ts'
import { connectionEndpoint } from './project-providers.ts'
import { checkKey, withoutKey } from './upstream/upstream-models.ts'
import { loadSdk } from './upstream/upstream-request.ts'

type TestUseCases = Pick<UseCases, 'provider_connections.validate' | 'provider_connections.test'>

const defaultTimeoutMs = 15_000

/** Tests keys, before and after they are stored. A failure of the provider is a result, not an error. */
export const connectionTestUseCases = (parts: ConnectionParts): TestUseCases => {
  const { box, guard, own, now } = parts
  const table = new Table(parts.records, providerConnections, now)
  const timeoutMs = parts.timeoutMs ?? defaultTimeoutMs
  // created per call: the client of these connections is loaded on first use
  const reach = () => ({ dispatcher: guard.dispatcher, timeoutMs })
  return {
    'provider_connections.validate': async ({ body }) => {
      const destination = destinationOf(guard, body)
      const { provider, api_format } = destination
      const where = { ...destination, api_key: newKeyText(guard, destination, body) }
      const { ok, ...found } = await timed(reach(), connectionEndpoint('', where))
      return { valid: ok, provider, api_format, ...found }
    },
    'provider_connections.test': async ({ scope, params }) => {
      const row = orNotFound(await table.get(scope, params.connection_id))
      const api_key = openedOrNull(box, row.data.api_key, connectionKeyAad(row))
      const endpoint = api_key === null ? null : connectionEndpoint(row.id, { ...row.data, api_key })
      const { ok, ...found } = await timed(reach(), endpoint)
      const status = ok ? 'ok' : 'failed'
      // a key that was replaced in the meantime was not the one tested
      const edit = ({ data }: Row<ConnectionData>): ConnectionData | null =>
        data.api_key === row.data.api_key ? { ...data, status, last_tested_at_ms: now() } : null
      await table.change(scope, row.id, { edit })
      own.changed(scope.project)
      return { success: ok, status, ...found }
    },
  }
}

/** Checks a key; null for one that cannot be decrypted. */
const timed = async (reach: UpstreamReach, endpoint: Endpoint | null) => {
  if (endpoint !== null) await loadSdk(endpoint)
  const startedAt = performance.now()
  const found = endpoint === null ? withoutKey : await checkKey(reach, endpoint)
  return {
    ok: found.ok,
    latency_ms: Math.round(performance.now() - startedAt),
    model_count: found.ok ? found.models.length : 0,
    error: found.ok ? null : { code: found.trouble, message: found.message },
  }
}
