import { sessionDefinition } from '#machines/session/session-definition.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf } from '#specs/index.ts'
import type { Call, Principal } from '../call/call.ts'
import { reachesInstallation, reachesTenant, requireReach, type StreamPlace } from '../call/reach.ts'
import { contextOf } from '../runtime/index.ts'
import type { Resident } from '../runtime/internal.ts'
import type { SessionParts } from './session-use-cases.ts'

/**
 * Whether a credential may access a session with this agent and installation. The scope has been checked already.
 *
 * @throws {StoreUnavailable}
 */
export const mayAccessSession = (principal: Principal, session: Resident): boolean | Promise<boolean> => {
  const { agent_id, installation_id } = contextOf(sessionDefinition, session.state.snapshot)
  if (principal.kind === 'agent_key')
    return principal.agentId === agent_id && reachesTenant(principal, session.owner.tenant)
  return reachesInstallation(principal, installation_id ?? null)
}

/** The tenant and the installation of a session, by which its open streams are checked. */
export const streamPlace = ({ owner, state }: Resident): StreamPlace => ({
  tenant: owner.tenant,
  installation: contextOf(sessionDefinition, state.snapshot).installation_id ?? null,
})

/**
 * The filter that restricts lists of sessions and runs for the key of an agent; empty for other credentials.
 *
 * @throws {ServiceError} `forbidden` for a public key, with which any visitor of a web page could list other people's
 * sessions.
 */
export const keyListFilter = (principal: Principal): { readonly agent_id?: string } => {
  if (principal.kind !== 'agent_key') return {}
  if (principal.keyType === 'public') {
    throw new ServiceError('forbidden', { message: 'A public key cannot list anything.' })
  }
  return { agent_id: principal.agentId }
}

/** A filter of a session list. */
export interface SessionFilter {
  readonly agent_id?: string
  readonly installation_id?: string
}

/**
 * The filters whose lists together are the sessions that a credential may list: one for each installation of a token.
 *
 * @throws {ServiceError} `forbidden` for a public key.
 */
export const sessionListFilters = (principal: Principal): readonly SessionFilter[] =>
  principal.kind === 'client_token' && principal.installationIds.length > 0
    ? [...new Set(principal.installationIds)].map((installation_id) => ({ installation_id }))
    : [keyListFilter(principal)]

/** The agent of a new session, and its installation if it has one. */
type NewAgent = { readonly agent_id: string | null; readonly installation_id?: string }

/** Agent, tenant and user of a new session. */
interface Beginning {
  readonly agent: NewAgent
  readonly tenant: string | null
  readonly user: string | null
}

/** The properties of an installation that a new session depends on. */
export interface Installed {
  readonly agentId: string
  readonly tenant: string
  readonly active: boolean
}

type CreateCall = Pick<Call<unknown, unknown, BodyOf<'sessions.create'>>, 'principal' | 'scope' | 'body'>

/**
 * Determines the agent, tenant and user of a new session, from the scope of the credential, the body, and the
 * installation that the body names.
 *
 * @throws {ServiceError} `not_found` with the param `agent_id` or `installation_id`; `missing_field` for a token of
 * several installations; `forbidden` for a token of one session; `agent_not_runnable`.
 */
export const newSessionOwner = async (parts: SessionParts, call: CreateCall): Promise<Beginning> => {
  const { scope, body } = call
  const tenant = scope.tenant ?? body.tenant_id ?? null
  const user = scope.user ?? body.external_user_id ?? null
  if (body.installation_id === undefined) return { agent: await agentOfNew(parts, call, tenant), tenant, user }
  const { agentId, tenant: its } = await installationNamed(parts, call, tenant)
  await parts.checkTenant(scope.project, its)
  await requireReach(call.principal, its, 'installation_id')
  return { agent: { agent_id: agentId, installation_id: body.installation_id }, tenant: its, user }
}

/**
 * Returns the installation that the body names. It must belong to this tenant, and to the agent of the key or of the
 * body.
 */
const installationNamed = async (
  parts: SessionParts,
  { principal, scope, body }: CreateCall,
  tenant: string | null,
): Promise<Installed> => {
  const installationId = body.installation_id ?? ''
  const found = await parts.installed(scope.project, tenant, installationId)
  const ofKey = principal.kind !== 'agent_key' || principal.agentId === found?.agentId
  if (found === null || !ofKey || (body.agent_id ?? found.agentId) !== found.agentId) {
    throw new ServiceError('not_found', { param: 'installation_id', message: 'There is no such installation.' })
  }
  const { agentId } = found
  if ((await parts.agentConfig({ project: scope.project, agentId, installationId, tenant: found.tenant })) === null) {
    throw noAgent()
  }
  return found
}

/**
 * Chooses the agent of a new session: the one that the body names, which must be the key's agent or that of one of the
 * token's installations. If the body names none, the key's agent or the token's only installation is used; with other
 * credentials the session has no agent. A token reaches a private agent only through its tenant's installation.
 */
const agentOfNew = async (parts: SessionParts, call: CreateCall, tenant: string | null): Promise<NewAgent> => {
  const { principal, scope } = call
  if (principal.kind === 'client_token' && principal.sessionId !== null) {
    throw new ServiceError('forbidden', {
      message: 'The token is restricted to one session and cannot create another.',
    })
  }
  const named = call.body.agent_id ?? null
  if (principal.kind === 'client_token' && principal.installationIds.length > 0) {
    return installedOf(parts, principal, named)
  }
  if (principal.kind === 'agent_key' && named !== null && named !== principal.agentId) throw noAgent()
  const agentId = principal.kind === 'agent_key' ? principal.agentId : named
  if (agentId === null) return { agent_id: null }
  const config = await parts.agentConfig({ project: scope.project, agentId, installationId: null, tenant })
  if (config === null) throw noAgent()
  if (principal.kind !== 'client_token' || config.private !== true) return { agent_id: agentId }
  const installation_id = await parts.installationFor(scope.project, principal.tenant, agentId)
  if (installation_id === null) throw noAgent()
  return { agent_id: agentId, installation_id }
}

const installedOf = async (
  { installed }: SessionParts,
  { project, tenant, installationIds }: Extract<Principal, { kind: 'client_token' }>,
  named: string | null,
): Promise<NewAgent> => {
  if (named === null && installationIds.length > 1) {
    throw new ServiceError('missing_field', {
      param: 'agent_id',
      message: 'The token is valid for several installations: send agent_id.',
    })
  }
  for (const installation_id of installationIds) {
    const found = await installed(project, tenant, installation_id)
    if (found?.active && (named === null || named === found.agentId))
      return { agent_id: found.agentId, installation_id }
  }
  throw noAgent()
}

const noAgent = (): ServiceError =>
  new ServiceError('not_found', { param: 'agent_id', message: 'There is no such agent.' })
