import { ServiceError } from '#specs/errors/errors.ts'
import { projectScope, type Scope } from '#storage/index.ts'
import type { AgentKeys } from '../accounts/agent-keys.ts'
import { type AgentKeyData, agentKeys, projectKeys } from '../accounts/kinds.ts'
import type { Principal } from '../call/call.ts'
import { orNotFound } from '../call/not-found.ts'
import { limitsOf } from '../call/reach.ts'
import type { UseCasesOf } from '../call/use-cases.ts'
import type { Services } from '../capability/services.ts'
import { type AuditActor, actorOf } from '../records/audit-note.ts'
import { futureOf } from '../records/future-time.ts'
import type { Notice } from '../records/notices.ts'
import { pageOf } from '../records/pages.ts'
import { rowTimes, timestampOrNull } from '../records/row-times.ts'
import type { Row } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import { newIdFor } from '../runtime/internal.ts'
import { expiryWithin, scopesWithin } from './inherited-limits.ts'
import { agents } from './kinds.ts'
import { noAgent, requireStillThere } from './still-there.ts'

export interface AgentKeyDeps extends Pick<Services, 'now' | 'records'> {
  readonly keys: AgentKeys
}

const viewOf = ({ data, ...row }: Row<AgentKeyData>) => ({
  id: row.id,
  agent_id: data.agent_id,
  name: data.name,
  environment: data.environment,
  key_type: data.key_type,
  allowed_domains: data.allowed_domains,
  prefix: data.prefix,
  last4: data.last4,
  created_by: data.created_by,
  scopes: data.scopes ?? null,
  expires_at: timestampOrNull(data.expires_at_ms),
  last_used_at: timestampOrNull(data.last_used_at_ms),
  revoked_at: timestampOrNull(data.revoked_at_ms),
  ...rowTimes(row),
})

const audit = (action: 'created' | 'revoked', id: string, by: AuditActor): Notice => ({
  kind: 'audit',
  action: `agent_key.${action}`,
  by,
  resource: { type: 'agent_key', id },
})

/**
 * Use-cases of keys that are restricted to one agent. The key itself is only returned by the request that creates it.
 */
export const agentKeyUseCases = ({ records, keys, now }: AgentKeyDeps): UseCasesOf<'agent_keys'> => {
  const table = new Table(records, agentKeys, now)
  const agentTable = new Table(records, agents, now)
  const projectKeyTable = new Table(records, projectKeys, now)
  const requireAgent = async (project: string, id: string): Promise<void> => {
    if ((await agentTable.get(projectScope(project), id)) === null) throw new ServiceError('not_found', noAgent)
  }
  const expiry = async (scope: Scope, principal: Principal, wanted: number | null): Promise<number | null> =>
    principal.kind === 'secret_key'
      ? expiryWithin(projectKeyTable, scope, { creator: principal.keyId, wanted })
      : wanted
  return {
    'agent_keys.list': async ({ scope, params, query }) => {
      await requireAgent(scope.project, params.agent_id)
      const where = { agent_id: params.agent_id }
      return pageOf(table, scope, { query: { ...query, where }, shown: { idPrefix: 'key', view: viewOf } })
    },
    'agent_keys.create': async (call) => {
      const { scope, params, body } = call
      await requireAgent(scope.project, params.agent_id)
      const { name, environment, key_type, allowed_domains } = body
      const scopes = scopesWithin(limitsOf(call.principal), body.scopes ?? {})
      const { secret, material } = keys.mint(key_type)
      const by = actorOf(call)
      const data = {
        ...{ agent_id: params.agent_id, name, environment, key_type, allowed_domains, ...material },
        created_by: by.id,
        ...(Object.keys(scopes).length > 0 && { scopes }),
        expires_at_ms: await expiry(scope, call.principal, futureOf('expires_at', body.expires_at, now())),
        revoked_at_ms: null,
        last_used_at_ms: null,
      }
      const id = newIdFor(call, 'key')
      const made = await table.insert({ id, project: scope.project, data, notices: [audit('created', id, by)] })
      // The request is repeated after a crash. Its first key was never returned to the caller, so it is replaced.
      const row = made ?? (await table.change(scope, id, { edit: (old) => ({ ...old.data, ...material }) }))
      const undo = () => table.remove(scope, id)
      await requireStillThere(agentTable, { project: scope.project, agentId: params.agent_id, undo })
      return { ...viewOf(found(row)), key: secret }
    },
    'agent_keys.delete': async (call) => {
      const { scope, params } = call
      const known = await table.get(scope, params.agent_key_id)
      if (known?.data.agent_id !== params.agent_id) throw new ServiceError('not_found', { param: 'agent_key_id' })
      const row = await table.change(scope, params.agent_key_id, {
        edit: ({ data }) => (data.revoked_at_ms === null ? { ...data, revoked_at_ms: now() } : null),
        notices: () => [audit('revoked', params.agent_key_id, actorOf(call))],
      })
      keys.forget(found(row))
      return viewOf(found(row))
    },
  }
}

const found = <T>(row: T | null | undefined): T => orNotFound(row, 'agent_key_id')
