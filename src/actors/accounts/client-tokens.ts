import { createHash } from 'node:crypto'
import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import type { ServerKeys } from '#records/sealing/server-keys.ts'
import type { Principal } from '../call/call.ts'
import { keyName } from '../records/derive-key.ts'
import {
  maxRealtimeTokenS,
  type RealtimeGrant,
  realtimeClaims,
  realtimePrefix,
  realtimePrincipal,
} from './realtime-tokens.ts'

/** Longest lifetime of a client token in seconds; longer requested lifetimes are capped (`client_tokens.create`). */
const maxClientTokenS = 900

/** The claims of a client token: the user it identifies, and what it permits. */
export type ClientGrant = Omit<Extract<Principal, { kind: 'client_token' }>, 'kind' | 'limits' | 'realtimeSecret'>

/** A minted token; `expiresAtMs` is in ms since the epoch. */
export interface ClientToken {
  readonly token: string
  readonly expiresAtMs: number
}

interface Signing {
  readonly audience: string
  readonly subject: string
  readonly lifeS: number
}

interface VerifiedToken {
  readonly principal: Principal
  readonly expiresAtMs: number
}

const prefix = 'ect_'
const audience = 'troupe-client'
const realtimeAudience = 'troupe-realtime'
const maxCached = 50_000

/**
 * Mints and verifies client tokens: `ect_` followed by a JWT, signed with a key of this installation. Nothing is
 * stored.
 */
export class ClientTokens {
  readonly #key: Uint8Array
  readonly #kid: string
  /** Keys by kid, including those of earlier master keys. */
  readonly #known: ReadonlyMap<string, Uint8Array>
  readonly #now: () => number
  /** Verified tokens by SHA-256, so that no usable token is kept in memory. */
  readonly #verified = new Map<string, VerifiedToken>()

  constructor({ keys, now }: { readonly keys: Pick<ServerKeys, 'current' | 'others'>; readonly now: () => number }) {
    this.#key = keys.current('client-tokens')
    this.#kid = keyName(this.#key)
    this.#known = new Map([...keys.others('client-tokens'), this.#key].map((key) => [keyName(key), key]))
    this.#now = now
  }

  /** @param lifeS lifetime in seconds, capped at 900. */
  async mint(grant: ClientGrant, lifeS: number = maxClientTokenS): Promise<ClientToken> {
    const claims = {
      project: grant.project,
      tenant: grant.tenant,
      permissions: [...grant.permissions],
      session_id: grant.sessionId,
      installation_ids: [...grant.installationIds],
      ...(grant.mintedBy !== undefined && { minted_by: grant.mintedBy }),
    }
    const lived = Math.min(Math.max(1, Math.floor(lifeS)), maxClientTokenS)
    const { jwt, expiresAtMs } = await this.#signed(claims, { audience, subject: grant.user, lifeS: lived })
    return { token: prefix + jwt, expiresAtMs }
  }

  /** Mints an ephemeral secret (`ek_…`) for sessions of the Realtime API. */
  async mintRealtime(grant: RealtimeGrant, lifeS: number): Promise<ClientToken> {
    const subject = grant.user?.user ?? grant.secretId
    const options = { audience: realtimeAudience, subject, lifeS: Math.min(lifeS, maxRealtimeTokenS) }
    const { jwt, expiresAtMs } = await this.#signed(realtimeClaims(grant), options)
    return { token: realtimePrefix + jwt, expiresAtMs }
  }

  /**
   * Returns the principal of a token; null when it is not ours, was altered or has expired. Synchronous for a known
   * token.
   */
  verify(token: string): Principal | null | Promise<Principal | null> {
    if (token.length > 8192 || !(token.startsWith(prefix) || token.startsWith(realtimePrefix))) return null
    const digest = createHash('sha256').update(token).digest('base64url')
    const known = this.#verified.get(digest)
    if (known === undefined) return this.#check(token, digest)
    if (known.expiresAtMs > this.#now()) return known.principal
    this.#verified.delete(digest)
    return null
  }

  async #signed(claims: JWTPayload, { audience: aud, subject, lifeS }: Signing) {
    const issuedAtS = Math.floor(this.#now() / 1000)
    const jwt = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', kid: this.#kid })
      .setSubject(subject)
      .setAudience(aud)
      .setIssuedAt(issuedAtS)
      .setExpirationTime(issuedAtS + lifeS)
      .sign(this.#key)
    return { jwt, expiresAtMs: (issuedAtS + lifeS) * 1000 }
  }

  async #check(token: string, digest: string): Promise<Principal | null> {
    const isRealtime = token.startsWith(realtimePrefix)
    try {
      const jwt = token.slice(isRealtime ? realtimePrefix.length : prefix.length)
      const key = this.#known.get(decodeProtectedHeader(jwt).kid ?? '')
      if (key === undefined) return null
      const { payload } = await jwtVerify(jwt, key, {
        algorithms: ['HS256'],
        audience: isRealtime ? realtimeAudience : audience,
        currentDate: new Date(this.#now()),
        requiredClaims: ['exp', 'sub'],
      })
      const principal = isRealtime ? realtimePrincipal(payload) : principalOf(payload)
      if (principal !== null) this.#keep(digest, { principal, expiresAtMs: (payload.exp ?? 0) * 1000 })
      return principal
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof TypeError) return null
      throw error
    }
  }

  #keep(digest: string, token: VerifiedToken): void {
    if (this.#verified.size >= maxCached) {
      const oldest = this.#verified.keys().next()
      if (!oldest.done) this.#verified.delete(oldest.value)
    }
    this.#verified.set(digest, token)
  }
}

/** The signature proves that the claims are ours. Their types are checked anyway, for tokens of another release. */
const principalOf = (claims: Readonly<Record<string, unknown>>): Principal | null => {
  const { project, tenant, sub, permissions, session_id: sessionId, installation_ids: installationIds } = claims
  if (typeof project !== 'string' || typeof tenant !== 'string' || typeof sub !== 'string') return null
  if (!isStrings(permissions) || !isStrings(installationIds)) return null
  if (sessionId !== null && typeof sessionId !== 'string') return null
  const { minted_by: mintedBy } = claims
  const minter = typeof mintedBy === 'string' ? { mintedBy } : {}
  return Object.freeze({
    ...{ kind: 'client_token', project, tenant, user: sub, permissions, sessionId, installationIds, ...minter },
  })
}

const isStrings = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')
