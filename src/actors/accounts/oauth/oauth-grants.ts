import { createHash } from 'node:crypto'
import type { Principal } from '#actors/call/call.ts'
import type { DashboardPrincipal } from '#actors/call/dashboard-principal.ts'
import { withLimits } from '#actors/call/reach.ts'
import { RecheckCache } from '#records/caches/recheck-cache.ts'
import type { Notice } from '#records/notices.ts'
import type { Row } from '#records/schema.ts'
import { mintSecret, type SecretHash, secretHash } from '#records/secrets.ts'
import { Table } from '#records/table.ts'
import { organizationScope, projectScope, type Scope } from '#storage/index.ts'
import type { ApiKeysDeps } from '../api-keys.ts'
import { type MemberData, members } from '../kinds.ts'
import { type AuthorizationRequest, requireResource } from './authorization-request.ts'
import { type OAuthGrantData, oauthGrants } from './kinds.ts'
import type { OAuthClient } from './oauth-clients.ts'
import { OAuthError } from './oauth-error.ts'

/** The principal of an access token. */
export type GrantPrincipal = Extract<Principal, { kind: 'secret_key' }>

/** What a token endpoint answers. */
export interface IssuedTokens {
  readonly accessToken: string
  readonly refreshToken: string
  readonly scopes: readonly string[]
}

/** A presented code or refresh token, with the client that presents it. */
export interface Presented {
  readonly token: string
  readonly clientId: string
  readonly resource: string | undefined
}

/** What a member granted, under the id of the grant. */
export interface Granted {
  readonly id: string
  readonly client: OAuthClient
  readonly request: AuthorizationRequest
  readonly resource: string
}

/** Lifetimes: of a code, of an access token in seconds, and of an unused refresh token. */
const codeMs = 60_000
export const accessTokenS = 3600
const refreshMs = 30 * 24 * 3_600_000

/** Access tokens that are valid at once: a request in progress goes on with the former one. */
const maxAccess = 2

/** How long another node may still accept a token that was revoked on this node, in ms. */
const recheckMs = 1000
const lastUsedEveryMs = 60_000
const maxCached = 10_000
const maxTries = 10

/** A kind, the part that all tokens of a grant share, and a part of its own. */
const tokenShape = /^o(?:ac|at|rt)_([\w-]{22})[\w-]{43}$/

/** Whether a credential has the prefix of an access token. */
export const isAccessToken = (token: string): boolean => token.startsWith('oat_')

interface KnownGrant {
  readonly principal: GrantPrincipal
  readonly expiresAtMs: number
  readonly id: string
  lastUsedWrittenMs: number
}

/**
 * What members grant to apps, and the codes and tokens of these grants, which are stored as hashes only. All of a grant
 * have a part in common, so that one of the past is recognised: it is presented by a thief, or after one,
 * and the grant ends (RFC 9700, section 4.14).
 */
export class OAuthGrants {
  readonly table: Table<OAuthGrantData>
  readonly #members: Table<MemberData>
  readonly #hash: SecretHash
  readonly #now: () => number
  readonly #cache: RecheckCache<KnownGrant>

  constructor({ records, keys, now, credentialChanges: changes }: ApiKeysDeps) {
    this.table = new Table(records, oauthGrants, now)
    this.#members = new Table(records, members, now)
    this.#hash = secretHash(keys.lasting('api-keys'))
    this.#now = now
    this.#cache = new RecheckCache({
      load: (names) => this.#load(names),
      ...{ maxAgeMs: recheckMs, maxEntries: maxCached, now, changes },
    })
  }

  /**
   * Stores what a member granted in a project. The code follows from the id, so that a request which is run again after
   * a crash stores nothing and returns the same code.
   *
   * @returns the code, which is valid for a minute and once.
   */
  async grant(
    by: DashboardPrincipal,
    { id, client, request, resource }: Granted,
    notices: (id: string) => readonly Notice[],
  ): Promise<string> {
    const handle = this.#hash(`handle of ${id}`).slice(0, 22)
    const code = `oac_${handle}${this.#hash(`code of ${id}`)}`
    await this.table.insert({
      ...{ id, project: by.project, expiresAtMs: this.#now() + codeMs, notices: notices(id) },
      data: {
        ...{ family: this.#hash(handle), client_id: client.id, client_name: client.name },
        ...{ organization: by.organization, member_id: by.memberId, scopes: request.scopes, resource },
        ...{ redirect_uri: request.redirectUri, challenge: request.challenge },
        ...{ code: this.#hash(code), refresh: null, access: [], last_used_at_ms: null },
      },
    })
    return code
  }

  /**
   * Exchanges a code for tokens. A wrong attempt ends the grant: the code is in the wrong hands.
   *
   * @throws {OAuthError} `invalid_grant`, `invalid_target`
   */
  exchange({ redirectUri, verifier, ...given }: Presented & { redirectUri: string; verifier: string }) {
    return this.#renewed(given, ({ data }) => {
      const challenge = createHash('sha256').update(verifier).digest('base64url')
      const isProven = /^[\w.~-]{43,128}$/.test(verifier) && challenge === data.challenge
      return isProven && data.redirect_uri === redirectUri && data.code === this.#hash(given.token)
    })
  }

  /**
   * Exchanges a refresh token for the next one. One that was exchanged before ends the grant.
   *
   * @throws {OAuthError} `invalid_grant`, `invalid_target`
   */
  refresh(given: Presented) {
    return this.#renewed(given, ({ data }) => data.refresh === this.#hash(given.token))
  }

  /** Ends the grant of a token, if the client is the one that it was issued to. */
  async revoke(token: string, clientId: string): Promise<void> {
    const row = await this.#find(token)
    const hash = this.#hash(token)
    const isOwn = row?.data.refresh === hash || row?.data.access.some((each) => each.hash === hash)
    if (row !== null && isOwn && row.data.client_id === clientId) await this.end(projectScope(row.project), row.id)
  }

  /** Ends a grant: at once on this node, within a second on others. @returns whether there was one. */
  async end(scope: Scope, id: string, notices?: (row: Row<OAuthGrantData>) => readonly Notice[]): Promise<boolean> {
    const isRemoved = await this.table.remove(scope, id, notices)
    this.#cache.clear()
    return isRemoved
  }

  /**
   * Returns the principal of an access token: a key with the scopes of the grant, and no more than its member; null for
   * one that is unknown or expired, whose grant has ended, or whose member was removed.
   */
  verify(token: string): GrantPrincipal | null | Promise<GrantPrincipal | null> {
    if (!tokenShape.test(token)) return null
    const names = `${this.#familyOf(token)} ${this.#hash(token)}`
    const known = this.#cache.peek(names)
    if (known !== undefined) return this.#accept(known)
    return this.#cache.load(names).then((loaded) => (loaded === null ? null : this.#accept(loaded)))
  }

  async #load(names: string): Promise<KnownGrant | null> {
    const [family = '', hash = ''] = names.split(' ')
    const row = await this.table.findGlobal({ family })
    const expiresAtMs = row?.data.access.find((each) => each.hash === hash)?.expires_at_ms ?? 0
    const member = row === null ? null : await this.#member(row)
    if (row === null || member === null || expiresAtMs <= this.#now()) return null
    const { scopes, resource, member_id: memberId, last_used_at_ms: used } = row.data
    const principal: GrantPrincipal = Object.freeze({
      ...{ kind: 'secret_key', project: row.project, keyId: row.id, ...withLimits({ operations: scopes }) },
      grant: { memberId, role: member.data.role, resource },
    })
    return { principal, expiresAtMs, id: row.id, lastUsedWrittenMs: used ?? 0 }
  }

  #accept(known: KnownGrant): GrantPrincipal | null {
    const now = this.#now()
    if (known.expiresAtMs <= now) return null
    if (now - known.lastUsedWrittenMs >= lastUsedEveryMs) {
      known.lastUsedWrittenMs = now
      const edit = ({ data }: Row<OAuthGrantData>) => ({ ...data, last_used_at_ms: now })
      // made up for a minute later when it fails
      this.table.change(projectScope(known.principal.project), known.id, { edit }).catch(() => undefined)
    }
    return known.principal
  }

  #member({ data }: Row<OAuthGrantData>): Promise<Row<MemberData> | null> {
    return this.#members.get(organizationScope(data.organization), data.member_id)
  }

  #familyOf(token: string): string {
    return this.#hash(tokenShape.exec(token)?.[1] ?? '')
  }

  async #find(token: string): Promise<Row<OAuthGrantData> | null> {
    return tokenShape.test(token) ? this.table.findGlobal({ family: this.#familyOf(token) }) : null
  }

  /**
   * Replaces what a grant's holder presents by new tokens. Of two requests with the same token one is second, and ends
   * the grant.
   *
   * @throws {OAuthError} `invalid_grant`, `invalid_target`
   */
  async #renewed(
    { token, clientId, resource }: Presented,
    isCurrent: (row: Row<OAuthGrantData>) => boolean,
  ): Promise<IssuedTokens> {
    for (let tried = 0; tried < maxTries; tried += 1) {
      const row = await this.#find(token)
      if (row === null || (await this.#member(row)) === null) throw invalidGrant()
      requireResource(resource, row.data.resource)
      if (row.data.client_id !== clientId || !isCurrent(row)) {
        await this.end(projectScope(row.project), row.id)
        throw invalidGrant()
      }
      const issued = this.#issue(row, tokenShape.exec(token)?.[1] ?? '')
      const written = await this.table.replace(row, issued.data, { expiresAtMs: this.#now() + refreshMs })
      if (written !== null) return issued.tokens
    }
    throw new OAuthError('temporarily_unavailable', 'The grant is changed by many requests at once.', 1)
  }

  #issue({ data }: Row<OAuthGrantData>, handle: string) {
    const [accessToken, refreshToken] = [mintSecret(`oat_${handle}`), mintSecret(`ort_${handle}`)]
    const access = { hash: this.#hash(accessToken), expires_at_ms: this.#now() + accessTokenS * 1000 }
    return {
      tokens: { accessToken, refreshToken, scopes: data.scopes } satisfies IssuedTokens,
      data: {
        ...data,
        code: null,
        refresh: this.#hash(refreshToken),
        access: [access, ...data.access].slice(0, maxAccess),
      },
    }
  }
}

/** One message for every reason: a thief learns nothing about a stolen token. */
const invalidGrant = (): OAuthError =>
  new OAuthError('invalid_grant', 'The code or token is unknown, expired, used before, or of another client.')
