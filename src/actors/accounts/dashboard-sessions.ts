import type { Role } from '#specs/access.ts'
import { organizationScope } from '#storage/index.ts'
import { RecheckCache } from '../records/caches/recheck-cache.ts'
import type { Row } from '../records/schema.ts'
import { mintSecret, type SecretHash, secretHash } from '../records/secrets.ts'
import { Table } from '../records/table.ts'
import { newId } from '../runtime/index.ts'
import type { ApiKeysDeps } from './api-keys.ts'
import {
  type DashboardSessionData,
  dashboardSessions,
  type MemberData,
  members,
  type OrganizationData,
  organizations,
} from './kinds.ts'
import { type OidcConnectionData, oidcConnections } from './oidc/kinds.ts'

/** Lifetime of an unused dashboard session, in seconds. */
export const dashboardSessionS = 12 * 3600

const lifeMs = dashboardSessionS * 1000

/** A session in use is written at most this often, in ms. Its expiry is extended in steps of this length. */
const slideEveryMs = 5 * 60_000

/** How long another node may still accept a session that was ended on this node, in ms. */
const recheckMs = 1000

const maxCached = 10_000

/** Sessions of a member that are ended per page. */
const pageOfSessions = 100

/** The signed-in member and their session. */
export interface SignedIn {
  readonly sessionId: string
  readonly organization: string
  readonly memberId: string
  readonly role: Role
  /** The organisation requires a second factor, which the member has not set up yet. */
  readonly mustEnrol?: true
}

/** How and where a member signed in. */
export type SignInPlace = Required<Pick<DashboardSessionData, 'method' | 'connection' | 'device' | 'address_family'>>

interface VerifiedSession {
  readonly signedIn: SignedIn
  /** When it ends in any case: a role that a claim gave is valid until the next sign-in, which may not be put off by use. */
  readonly endsAtMs: number
  expiresAtMs: number
}

/**
 * Dashboard sessions. The cookie is a random value of which only a hash is stored. A session ends 12 hours after its
 * last use; one in which a provider gave the role, 12 hours after its sign-in.
 */
export class DashboardSessions {
  /** The rows; end a session by `close`, which also ends it on this node. */
  readonly table: Table<DashboardSessionData>
  readonly #members: Table<MemberData>
  readonly #organizations: Table<OrganizationData>
  readonly #connections: Table<OidcConnectionData>
  readonly #cache: RecheckCache<VerifiedSession>
  readonly #hash: SecretHash
  readonly #now: () => number

  constructor({ records, keys, now, credentialChanges: changes }: ApiKeysDeps) {
    this.table = new Table(records, dashboardSessions, now)
    this.#members = new Table(records, members, now)
    this.#organizations = new Table(records, organizations, now)
    this.#connections = new Table(records, oidcConnections, now)
    this.#hash = secretHash(keys.lasting('dashboard-sessions'))
    this.#now = now
    this.#cache = new RecheckCache({
      load: (hash) => this.#load(hash),
      maxAgeMs: recheckMs,
      maxEntries: maxCached,
      now,
      changes,
    })
  }

  /** Signs a member in. @returns the value of the cookie, which is not stored. */
  async open(member: Row<MemberData>, place?: SignInPlace): Promise<string> {
    const value = mintSecret('')
    const password = this.markOf(member.data.password_hash)
    await this.table.insert({
      id: newId('dse'),
      project: member.project,
      expiresAtMs: this.#now() + lifeMs,
      data: { hash: this.#hash(value), member_id: member.id, password, ...place },
    })
    return value
  }

  /** Returns a mark by which sessions name the password that they were opened with. */
  markOf(passwordHash: string): string {
    return this.#hash(passwordHash)
  }

  /**
   * Returns the member who is signed in with this cookie; null when the session is unknown or ended, or the member was
   * removed.
   */
  verify(value: string): SignedIn | null | Promise<SignedIn | null> {
    if (!/^[A-Za-z0-9_-]{43}$/.test(value)) return null
    const hash = this.#hash(value)
    const known = this.#cache.peek(hash)
    if (known !== undefined) return this.#accept(known)
    return this.#cache.load(hash).then((loaded) => (loaded === null ? null : this.#accept(loaded)))
  }

  /** Signs out; effective at once on this node. */
  async close(organization: string, sessionId: string): Promise<void> {
    const scope = organizationScope(organization)
    const row = await this.table.get(scope, sessionId)
    if (row === null) return
    await this.table.remove(scope, sessionId)
    this.#cache.forget(row.data.hash)
  }

  /**
   * Removes all sessions of a member: at once on this node, within a second on others. After a change of the password
   * they are invalid anyway.
   *
   * @param kept id of a session that is not ended, if any.
   * @returns the number of sessions that were ended.
   */
  async closeAll(member: Pick<Row<MemberData>, 'id' | 'project'>, kept: string | null = null): Promise<number> {
    const scope = organizationScope(member.project)
    const query = { where: { member_id: member.id }, limit: pageOfSessions }
    let ended = 0
    for (;;) {
      const rows = (await this.table.list(scope, query)).filter(({ id }) => id !== kept)
      if (rows.length === 0) break
      for (const { id } of rows) if (await this.table.remove(scope, id)) ended += 1
    }
    this.recheckAll()
    return ended
  }

  /** Drops all cached sessions on this node: call it after a member was changed or removed. */
  recheckAll(): void {
    this.#cache.clear()
  }

  #accept(session: VerifiedSession): SignedIn | null {
    const now = this.#now()
    if (Math.min(session.expiresAtMs, session.endsAtMs) <= now) return null
    if (session.expiresAtMs - now < lifeMs - slideEveryMs) this.#slide(session, now)
    return session.signedIn
  }

  async #load(hash: string): Promise<VerifiedSession | null> {
    const row = await this.table.findGlobal({ hash })
    if (row === null) return null
    const scope = organizationScope(row.project)
    const { method = 'password', connection = null } = row.data
    const [member, organization, provider] = await Promise.all([
      this.#members.get(scope, row.data.member_id),
      this.#organizations.get(scope, row.project),
      connection === null ? null : this.#connections.get(scope, connection),
    ])
    if (member === null || !this.#isOpen(row, member)) return null
    if (method === 'oidc' && provider?.data.is_active !== true) return null
    if (method === 'password' && !permitsPassword(organization, member)) return null
    const isBare = method === 'password' && member.data.totp_secret === undefined
    const signedIn = {
      sessionId: row.id,
      organization: row.project,
      memberId: member.id,
      role: member.data.role,
      ...(isBare && organization?.data.require_second_factor === true && { mustEnrol: true as const }),
    }
    const isClaimed = (provider?.data.role_claim ?? null) !== null
    const endsAtMs = isClaimed ? row.created_at + lifeMs : Number.POSITIVE_INFINITY
    return { signedIn: Object.freeze(signedIn), endsAtMs, expiresAtMs: row.expires_at ?? 0 }
  }

  /** Whether a session was opened with the current password, or the password was set in it. */
  #isOpen({ id, data: { password } }: Row<DashboardSessionData>, { data: member }: Row<MemberData>): boolean {
    const current = this.markOf(member.password_hash)
    const kept = member.kept_session
    return password === undefined || password === current || (kept?.id === id && kept.password === current)
  }

  /** Extends the expiry in the background; a failed write is made up for at a later use. */
  #slide(session: VerifiedSession, now: number): void {
    const { organization, sessionId } = session.signedIn
    session.expiresAtMs = now + lifeMs
    this.#extend(organization, sessionId, session.expiresAtMs).catch(() => undefined)
  }

  async #extend(organization: string, sessionId: string, expiresAtMs: number): Promise<void> {
    const row = await this.table.get(organizationScope(organization), sessionId)
    if (row !== null) await this.table.replace(row, row.data, { expiresAtMs })
  }
}

/** Whether a member may sign in with a password: owners always may, so that a provider's failure never locks all out. */
export const permitsPassword = (organization: Row<OrganizationData> | null, { data }: Row<MemberData>): boolean =>
  organization?.data.require_oidc !== true || data.role === 'owner'
