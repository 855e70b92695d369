import type { ServerKeys } from '#records/sealing/server-keys.ts'
import type { Role } from '#specs/access.ts'
import { organizationScope } from '#specs/scope.ts'
import type { RecordStore } from '#storage/ports.ts'
import { RecheckCache } from '../records/recheck-cache.ts'
import type { Row } from '../records/schema.ts'
import { mintSecret, type SecretHash, secretHash } from '../records/secrets.ts'
import { Table } from '../records/table.ts'
import { newId } from '../runtime/ids.ts'
import { type DashboardSessionData, dashboardSessions, type MemberData, members } from './kinds.ts'

/** Life of a dashboard session without use, in seconds. */
export const dashboardSessionS = 12 * 3600

const lifeMs = dashboardSessionS * 1000

/** A session in use is written at most this often, in ms: the expiry slides in steps of it. */
const slideEveryMs = 5 * 60_000

/** How long another node may still take a session that was ended here, in ms. */
const recheckMs = 1000

const maxCached = 10_000

/** Sessions of a member that are ended at a time. */
const pageOfSessions = 100

/** Who is signed in. */
export interface SignedIn {
  readonly sessionId: string
  readonly organization: string
  readonly memberId: string
  readonly role: Role
}

interface VerifiedSession {
  readonly signedIn: SignedIn
  expiresAtMs: number
}

/** Dashboard sessions: a random cookie value, of which a hash is stored; 12 hours after the last use they end. */
export class DashboardSessions {
  readonly #sessions: Table<DashboardSessionData>
  readonly #members: Table<MemberData>
  readonly #cache: RecheckCache<VerifiedSession>
  readonly #hash: SecretHash
  readonly #now: () => number

  constructor({ records, keys, now }: { records: RecordStore; keys: Pick<ServerKeys, 'lasting'>; now: () => number }) {
    this.#sessions = new Table(records, dashboardSessions, now)
    this.#members = new Table(records, members, now)
    this.#hash = secretHash(keys.lasting('dashboard-sessions'))
    this.#now = now
    this.#cache = new RecheckCache({
      load: (hash) => this.#load(hash),
      maxAgeMs: recheckMs,
      maxEntries: maxCached,
      now,
    })
  }

  /** Signs a member in. @returns the cookie's value, which is nowhere else. */
  async open(member: Row<MemberData>): Promise<string> {
    const value = mintSecret('')
    await this.#sessions.insert({
      id: newId('dse'),
      project: member.project,
      expiresAtMs: this.#now() + lifeMs,
      data: { hash: this.#hash(value), member_id: member.id },
    })
    return value
  }

  /** Who is signed in with this cookie; null when the session is unknown, ended or its member is gone. */
  verify(value: string): SignedIn | null | Promise<SignedIn | null> {
    if (!/^[A-Za-z0-9_-]{43}$/.test(value)) return null
    const hash = this.#hash(value)
    const known = this.#cache.peek(hash)
    if (known !== undefined) return this.#accept(known)
    return this.#cache.load(hash).then((loaded) => (loaded === null ? null : this.#accept(loaded)))
  }

  /** Signs out: on this node at once. */
  async close(organization: string, sessionId: string): Promise<void> {
    const scope = organizationScope(organization)
    const row = await this.#sessions.get(scope, sessionId)
    if (row === null) return
    await this.#sessions.remove(scope, sessionId)
    this.#cache.forget(row.data.hash)
  }

  /**
   * Signs a member out everywhere: on this node at once, on others within a second.
   *
   * @param kept the session that stays, if any.
   */
  async closeAll(member: Pick<Row<MemberData>, 'id' | 'project'>, kept: string | null = null): Promise<void> {
    const scope = organizationScope(member.project)
    const query = { where: { member_id: member.id }, limit: pageOfSessions }
    for (;;) {
      const rows = (await this.#sessions.list(scope, query)).filter(({ id }) => id !== kept)
      if (rows.length === 0) break
      for (const { id } of rows) await this.#sessions.remove(scope, id)
    }
    this.recheckAll()
  }

  /** Makes this node read the store again for every session: call it after a member was changed or removed. */
  recheckAll(): void {
    this.#cache.clear()
  }

  #accept(session: VerifiedSession): SignedIn | null {
    const now = this.#now()
    if (session.expiresAtMs <= now) return null
    if (session.expiresAtMs - now < lifeMs - slideEveryMs) this.#slide(session, now)
    return session.signedIn
  }

  async #load(hash: string): Promise<VerifiedSession | null> {
    const row = await this.#sessions.findGlobal({ hash })
    if (row === null) return null
    const member = await this.#members.get(organizationScope(row.project), row.data.member_id)
    if (member === null) return null
    const signedIn = {
      sessionId: row.id,
      organization: row.project,
      memberId: member.id,
      role: member.data.role,
    }
    return { signedIn: Object.freeze(signedIn), expiresAtMs: row.expires_at ?? 0 }
  }

  /** In the background; one that is lost is written at the next use. */
  #slide(session: VerifiedSession, now: number): void {
    const { organization, sessionId } = session.signedIn
    session.expiresAtMs = now + lifeMs
    this.#extend(organization, sessionId, session.expiresAtMs).catch(() => undefined)
  }

  async #extend(organization: string, sessionId: string, expiresAtMs: number): Promise<void> {
    const row = await this.#sessions.get(organizationScope(organization), sessionId)
    if (row !== null) await this.#sessions.replace(row, row.data, { expiresAtMs })
  }
}
