import type { Principal } from '#actors/call/call.ts'
import type { AgentReach } from '#actors/call/reach.ts'
import type { Caller } from '#gateway/call/caller.ts'
import { guardrailNames } from '#gateway/call/guarding/guardrail-names.ts'
import { isObject } from '#runtime/index.ts'
import { type JsonObject, projectScope, tenantScope, userScope } from '#storage/index.ts'

/** The fields of a caller that are stored for work after the request. The project is that of the actor. */
export const storedCaller = (caller: Caller): JsonObject => {
  const { tenant, externalUserId, keyId, agentId, requestId, scope, models } = caller
  const guardrails = guardrailNames(caller)
  return {
    ...{ tenant, external_user_id: externalUserId, key_id: keyId, agent_id: agentId, request_id: requestId },
    ...(models !== null && { models: [...models] }),
    ...(guardrails.length > 0 && { guardrails }),
    scope: { tenant: scope.tenant, user: scope.user },
  }
}

/** Restores a stored caller. Its credential may have been revoked since: work that was started continues. */
export const callerFrom = (project: string, stored: JsonObject): Caller => {
  const within = isObject(stored.scope) ? stored.scope : {}
  const agentId = textIn(stored.agent_id)
  const keyId = textIn(stored.key_id)
  const models = Array.isArray(stored.models) ? new Set(stored.models.map(String)) : null
  return {
    principal: principalFrom(project, keyId ?? '', agentId),
    scope: scopeFrom(project, textIn(within.tenant), textIn(within.user)),
    requestId: textIn(stored.request_id) ?? '',
    project,
    tenant: textIn(stored.tenant),
    externalUserId: textIn(stored.external_user_id),
    keyId,
    agentId,
    models,
    ...(Array.isArray(stored.guardrails) && { guardrails: stored.guardrails.map(String) }),
  }
}

const textIn = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/**
 * Only secret keys are restored, since public keys of agents cannot create responses. What the request named was checked
 * when it came.
 */
const principalFrom = (project: string, keyId: string, agentId: string | null): Principal =>
  agentId === null
    ? { kind: 'secret_key', project, keyId }
    : { kind: 'agent_key', project, keyId, agentId, keyType: 'secret', allowedDomains: [], reach: noMore }

const noMore: AgentReach = {
  models: new Set(),
  toolServers: new Set(),
  guardrails: [],
  serves: () => false,
  tenants: async () => [],
}

const scopeFrom = (project: string, tenant: string | null, user: string | null) => {
  if (tenant === null) return projectScope(project)
  return user === null ? tenantScope(project, tenant) : userScope(project, tenant, user)
}
