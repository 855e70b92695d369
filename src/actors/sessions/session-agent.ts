import { sessionDefinition } from '#machines/session/session-definition.ts'
import { contextOf } from '#runtime/schema.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf } from '#specs/index.ts'
import type { Call, Principal } from '../call/call.ts'
import type { Resident } from '../runtime/resident.ts'
import type { SessionParts } from './session-use-cases.ts'

/** Whether a credential that sees a session by its scope may also see it by its agent. */
export const reaches = (principal: Principal, session: Resident): boolean => {
  const { agent_id, installation_id } = contextOf(sessionDefinition, session.state.snapshot)
  if (principal.kind === 'agent_key') {
    if (principal.agentId !== agent_id) return false
    return principal.keyType === 'secret' || session.owner.tenant === null
  }
  if (principal.kind !== 'client_token' || principal.installationIds.length === 0) return true
  return installation_id !== undefined && principal.installationIds.includes(installation_id)
}

/**
 * What a list is narrowed to for this credential. @throws {ServiceError} `forbidden` for a key that browsers see: a reader who
 * looks at the page could list what others said; and for a token of some installations, whose user may have sessions of
 * others.
 */
export const listedFor = (principal: Principal): { readonly agent_id?: string } => {
  if (principal.kind === 'client_token' && principal.installationIds.length > 0) {
    throw new ServiceError('forbidden', { message: 'A token for installations cannot list anything.' })
  }
  if (principal.kind !== 'agent_key') return {}
  if (principal.keyType === 'public') {
    throw new ServiceError('forbidden', { message: 'A public key cannot list anything.' })
  }
  return { agent_id: principal.agentId }
}

/** The agent of a new session, and the installation that it runs in. */
type NewAgent = { readonly agent_id: string | null; readonly installation_id?: string }

/** What a new session is of: its agent, its tenant and its user. */
interface Beginning {
  readonly agent: NewAgent
  readonly tenant: string | null
  readonly user: string | null
}

/** An installation, as a new session needs it. */
export interface Installed {
  readonly agentId: string
  readonly tenant: string
  readonly active: boolean
}

type CreateCall = Pick<Call<unknown, unknown, BodyOf<'sessions.create'>>, 'principal' | 'scope' | 'body'>

/**
 * What a new session is of: the tenant and the user of the credential's scope, or those that the body names, and of the
 * installation that it names.
 *
 * @throws {ServiceError} `not_found` with the param `agent_id` or `installation_id`; `missing_field` for a token of several
 * installations; `forbidden` for a token of one session; `agent_not_runnable`.
 */
export const beginningOf = async (parts: SessionParts, call: CreateCall): Promise<Beginning> => {
  const { scope, body } = call
  const tenant = scope.tenant ?? body.tenant_id ?? null
  const user = scope.user ?? body.external_user_id ?? null
  if (body.installation_id === undefined) return { agent: await agentOfNew(parts, call, tenant), tenant, user }
  const { agentId, tenant: its } = await installationNamed(parts, call, tenant)
  await parts.checkTenant(scope.project, its)
  return { agent: { agent_id: agentId, installation_id: body.installation_id }, tenant: its, user }
}

/** The installation that the body names, which must be of this tenant and of the agent that the key or the body names. */
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
 * Which agent a new session gets: the one that the body names, which must be the key's, or one of the token's
 * installations; without a name the only one that there is.
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
  const agent = { project: scope.project, agentId, installationId: null, tenant }
  if ((await parts.agentConfig(agent)) === null) throw noAgent()
  return { agent_id: agentId }
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
