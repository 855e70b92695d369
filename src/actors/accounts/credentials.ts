import { ServiceError } from '#specs/errors/errors.ts'
import type { Principal } from '../call/call.ts'
import { type AgentKeys, type AgentPrincipal, isAgentKey, permitsOrigin } from './agent-keys.ts'
import type { ApiKeys } from './api-keys.ts'
import type { ClientTokens } from './client-tokens.ts'
import type { DashboardSessions, SignedIn } from './dashboard-sessions.ts'
import type { ProjectDirectory, ProjectSettings } from './project-directory.ts'

/** The verifiers of each kind of credential. */
export interface CredentialsDeps {
  readonly apiKeys: ApiKeys
  readonly agentKeys: AgentKeys
  readonly clientTokens: ClientTokens
  readonly dashboardSessions: DashboardSessions
  readonly projects: ProjectDirectory
}

/**
 * Resolves a credential to a principal, wherever the request carries it. Each method throws or rejects with
 * `ServiceError` `authentication_required` for an unknown, revoked or expired credential, and returns synchronously
 * where it can.
 */
export class Credentials {
  readonly #deps: CredentialsDeps

  constructor(deps: CredentialsDeps) {
    this.#deps = deps
  }

  /**
   * Verifies a secret key (`csk_…`), a client token (`ect_…`) or an agent's key (`cak_…`, `cpk_…`).
   *
   * @param origin the request's `Origin`, to which agents' keys may be restricted.
   * @throws {ServiceError} `origin_not_allowed`
   */
  token(token: string, origin?: string | undefined): Principal | Promise<Principal> {
    const found = this.#token(token, origin)
    return found instanceof Promise ? found.then((principal) => this.#served(principal)) : this.#served(found)
  }

  #token(token: string, origin: string | undefined): Principal | Promise<Principal> {
    if (token.startsWith('ect_')) return required(this.#deps.clientTokens.verify(token))
    if (!isAgentKey(token)) return required(this.#deps.apiKeys.verify(token))
    const found = this.#deps.agentKeys.verify(token)
    return found instanceof Promise ? found.then((holder) => fromHere(holder, origin)) : fromHere(found, origin)
  }

  /** Verifies a client token, the only credential that is allowed in a URL. */
  clientToken(token: string): Principal | Promise<Principal> {
    const found = required(this.#deps.clientTokens.verify(token))
    return found instanceof Promise ? found.then((principal) => this.#served(principal)) : this.#served(found)
  }

  /**
   * Refuses the keys of a project that is being deleted; they will soon not exist. @throws {ServiceError}
   * `authentication_required`
   */
  #served(principal: Principal): Principal | Promise<Principal> {
    if (principal.kind === 'public' || principal.kind === 'dashboard') return principal
    if (principal.kind === 'client_token' && principal.mintedBy !== undefined)
      return this.#limited(principal, principal.mintedBy)
    return this.#unlessDeleting(principal)
  }

  /** Applies the limits of the key that minted a token, which ends with the key. */
  async #limited(token: Extract<Principal, { kind: 'client_token' }>, keyId: string): Promise<Principal> {
    const limits = await this.#deps.apiKeys.limitsOf(token.project, keyId)
    if (limits === null) throw new ServiceError('authentication_required')
    // a token reaches only its own tenant, which was among those of the key; so it never has to name one
    return this.#unlessDeleting({ ...token, limits: { ...limits, tenants: null } })
  }

  #unlessDeleting(principal: Exclude<Principal, { kind: 'public' }>): Principal | Promise<Principal> {
    const settings = this.#deps.projects.settings(principal.project)
    return settings instanceof Promise
      ? settings.then((found) => unlessDeleting(principal, found))
      : unlessDeleting(principal, settings)
  }

  /**
   * Verifies the cookie of a dashboard session.
   *
   * @param project the project that the request names; null for the organisation's first.
   * @param changes whether the request may write: a project that is being deleted can only be read.
   * @throws {ServiceError} `not_found` when the project does not belong to the member's organisation;
   * `project_deleting`.
   */
  async dashboard(cookie: string, project: string | null, changes = false): Promise<Principal> {
    const signedIn = await this.#deps.dashboardSessions.verify(cookie)
    if (signedIn === null) throw endedSession()
    return { kind: 'dashboard', ...signedIn, project: await this.#projectFor(signedIn, project, changes) }
  }

  async #projectFor({ organization }: SignedIn, project: string | null, changes: boolean): Promise<string> {
    if (project === null) return (await this.#deps.projects.first(organization)) ?? ''
    const settings = await this.#deps.projects.settings(project)
    if (settings?.organization !== organization) throw new ServiceError('not_found')
    if (changes && settings.deleting === true) throw new ServiceError('project_deleting')
    return project
  }
}

/** The error for a credential that is present but not valid; it does not say which of the reasons applies. */
export const unknownCredential = (): ServiceError =>
  new ServiceError('authentication_required', {
    message:
      'The key or token of the request is unknown, expired or revoked. Check that it is complete and belongs to this server.',
  })

const endedSession = (): ServiceError =>
  new ServiceError('authentication_required', { message: 'The dashboard session has ended. Sign in again.' })

const unlessDeleting = (principal: Principal, settings: ProjectSettings | null): Principal => {
  if (settings?.deleting === true) throw unknownCredential()
  return principal
}

const fromHere = (holder: AgentPrincipal | null, origin: string | undefined): Principal => {
  if (holder !== null && !permitsOrigin(holder.allowedDomains, origin)) throw new ServiceError('origin_not_allowed')
  return orRefuse(holder)
}

const required = (found: Principal | null | Promise<Principal | null>): Principal | Promise<Principal> => {
  if (found instanceof Promise) return found.then(orRefuse)
  return orRefuse(found)
}

const orRefuse = (principal: Principal | null): Principal => {
  if (principal === null) throw unknownCredential()
  return principal
}
