import { ServiceError } from '#specs/errors/errors.ts'
import type { Principal } from '../call/call.ts'
import type { LimitsField } from '../call/reach.ts'
import { type AgentKeys, type AgentPrincipal, isAgentKey, permitsOrigin } from './agent-keys.ts'
import type { ApiKeys } from './api-keys.ts'
import type { ClientTokens } from './client-tokens.ts'
import type { DashboardSessions, SignedIn } from './dashboard-sessions.ts'
import { isAccessToken, type OAuthGrants } from './oauth/oauth-grants.ts'
import type { ProjectDirectory, ProjectSettings } from './project-directory.ts'
import { realtimePrefix } from './realtime-tokens.ts'

/**
 * Returns those of the installations that are active. At most a second old.
 *
 * @throws {StoreUnavailable}
 */
export type ActiveInstallations = (
  tenant: { readonly project: string; readonly tenant: string },
  ids: readonly string[],
) => readonly string[] | Promise<readonly string[]>

/** The verifiers of each kind of credential. */
export interface CredentialsDeps {
  readonly apiKeys: ApiKeys
  readonly agentKeys: AgentKeys
  readonly clientTokens: ClientTokens
  readonly dashboardSessions: DashboardSessions
  readonly oauthGrants: OAuthGrants
  readonly projects: ProjectDirectory
  /** Installations that tokens may be restricted to. */
  readonly activeInstallations: ActiveInstallations
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
   * Verifies a secret key (`csk_…`), a client token (`ect_…`), an ephemeral secret (`ek_…`), an agent's key (`cak_…`, `cpk_…`) or an access token of an app (`oat_…`).
   *
   * @param origin the request's `Origin`, to which agents' keys may be restricted.
   * @throws {ServiceError} `origin_not_allowed`
   */
  token(token: string, origin?: string | undefined): Principal | Promise<Principal> {
    const found = this.#token(token, origin)
    return found instanceof Promise ? found.then((principal) => this.served(principal)) : this.served(found)
  }

  #token(token: string, origin: string | undefined): Principal | Promise<Principal> {
    if (token.startsWith('ect_') || token.startsWith(realtimePrefix))
      return required(this.#deps.clientTokens.verify(token))
    if (isAccessToken(token)) return required(this.#deps.oauthGrants.verify(token))
    if (!isAgentKey(token)) return required(this.#deps.apiKeys.verify(token))
    const found = this.#deps.agentKeys.verify(token)
    return found instanceof Promise ? found.then((holder) => fromHere(holder, origin)) : fromHere(found, origin)
  }

  /** Verifies a client token, the only credential that is allowed in a URL. */
  clientToken(token: string): Principal | Promise<Principal> {
    const found = required(this.#deps.clientTokens.verify(token))
    return found instanceof Promise ? found.then((principal) => this.served(principal)) : this.served(found)
  }

  /**
   * Applies to a verified principal what may have changed since: refuses the keys of a project that is being deleted, and
   * what ends with the key that minted it. @throws {ServiceError} `authentication_required`
   */
  served(principal: Principal): Principal | Promise<Principal> {
    if (principal.kind === 'public' || principal.kind === 'dashboard') return principal
    if (principal.kind === 'secret_key' && principal.realtimeSecret !== undefined) return this.#ofKey(principal)
    if (principal.kind !== 'client_token') return this.#unlessDeleting(principal)
    const limited = this.#limited(principal)
    const installed =
      limited instanceof Promise ? limited.then((token) => this.#installed(token)) : this.#installed(limited)
    return installed instanceof Promise
      ? installed.then((token) => this.#unlessDeleting(token))
      : this.#unlessDeleting(installed)
  }

  /** Applies the limits of the key that minted an ephemeral secret, which ends with the key. */
  async #ofKey(secret: Extract<Principal, { kind: 'secret_key' }>): Promise<Principal> {
    const found = await this.#deps.apiKeys.limitsOf(secret.project, secret.keyId)
    if (found === null) throw unknownCredential()
    return this.#unlessDeleting(found.limits === undefined ? secret : { ...secret, limits: found.limits })
  }

  /** Applies the limits of the key that minted a token, which ends with the key. */
  #limited(token: ClientPrincipal): ClientPrincipal | Promise<ClientPrincipal> {
    if (token.mintedBy === undefined) return token
    const limits = this.#deps.apiKeys.limitsOf(token.project, token.mintedBy)
    return limits instanceof Promise ? limits.then((found) => withFound(token, found)) : withFound(token, limits)
  }

  /**
   * Restricts a token for installations to those that are active, and ends it with the last of them.
   *
   * @throws {ServiceError} `forbidden`
   */
  #installed(token: ClientPrincipal): ClientPrincipal | Promise<ClientPrincipal> {
    if (token.installationIds.length === 0) return token
    const active = this.#deps.activeInstallations(token, token.installationIds)
    return active instanceof Promise ? active.then((ids) => restrictedTo(token, ids)) : restrictedTo(token, active)
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

type ClientPrincipal = Extract<Principal, { kind: 'client_token' }>

const withFound = (token: ClientPrincipal, found: LimitsField | null): ClientPrincipal => {
  if (found === null) throw unknownCredential()
  if (found.limits === undefined) return token
  // a token reaches only its own tenant, which was among those of the key; so it never has to name one
  return { ...token, limits: { ...found.limits, tenants: null } }
}

const restrictedTo = (token: ClientPrincipal, installationIds: readonly string[]): ClientPrincipal => {
  if (installationIds.length === token.installationIds.length) return token
  // none means no restriction, so a token without any is refused
  if (installationIds.length > 0) return { ...token, installationIds }
  throw new ServiceError('forbidden', { message: 'The installations of the token are disabled.' })
}

/** The error for a credential that is present but not valid; it does not say which of the reasons applies. */
export const unknownCredential = (): ServiceError =>
  new ServiceError('authentication_required', {
    message:
      'The key or token of the request is unknown, expired or revoked. Check that it is complete and belongs to this server, or get a new client token, which lives 15 minutes at most.',
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
