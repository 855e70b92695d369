import { createHash } from 'node:crypto'
import type { Audited } from '#records/audited.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { newId } from '#runtime/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { organizationScope, type RecordStore } from '#storage/index.ts'
import type { DashboardSessions } from '../dashboard-sessions.ts'
import { type MemberData, members } from '../kinds.ts'
import { demote } from '../member-use-cases.ts'
import { noPassword } from '../passwords.ts'
import type { OidcConnectionData } from './kinds.ts'
import type { OidcIdentity } from './oidc-identity.ts'

/** A person is not to be signed in; the message is for that person. */
export class OidcRefused extends Error {
  override readonly name = 'OidcRefused'
}

/** Builds the audit entries of what a person does at the sign-in. */
type AuditOf = (member: Pick<Row<MemberData>, 'id' | 'project' | 'data'>) => Promise<Audited>

/** A person at a provider, whose sign-in was verified. */
export interface OidcPerson {
  readonly connection: Row<OidcConnectionData>
  readonly identity: OidcIdentity
  readonly auditOf: AuditOf
}

interface OidcMembersDeps {
  readonly records: RecordStore
  readonly now: () => number
  readonly dashboardSessions: Pick<DashboardSessions, 'closeAll' | 'recheckAll'>
}

/** Finds, links and creates the members that people at a provider are. */
export class OidcMembers {
  readonly #table: Table<MemberData>
  readonly #sessions: OidcMembersDeps['dashboardSessions']

  constructor({ records, now, dashboardSessions }: OidcMembersDeps) {
    this.#table = new Table(records, members, now)
    this.#sessions = dashboardSessions
  }

  /**
   * Returns the member of a person: the linked one; else the one with its verified address; else a new one.
   *
   * @throws {OidcRefused}
   */
  async of(person: OidcPerson): Promise<Row<MemberData>> {
    const { connection, identity } = person
    const linked = await this.#table.findGlobal({ oidc: markOf(person) })
    if (linked !== null) {
      if (linked.project !== connection.project) throw unknownPerson()
      return this.#withRole(linked, person)
    }
    if (identity.email === null) throw unknownPerson()
    const known = await this.#table.findGlobal({ email: identity.email })
    if (known === null) return this.#created(person)
    if (known.project !== connection.project) throw unknownPerson()
    await this.link(known, person)
    return this.#withRole(known, person)
  }

  /** Links a member to a person. @throws {OidcRefused} when either is linked otherwise */
  async link({ id, project }: Row<MemberData>, person: OidcPerson): Promise<void> {
    const mark = markOf(person)
    const scope = organizationScope(project)
    const holder = await this.#table.findGlobal({ oidc: mark })
    if (holder !== null && holder.id !== id)
      throw new OidcRefused('This account at the provider belongs to another member.')
    const member = await this.#table.get(scope, id)
    if (member === null) throw unknownPerson()
    if (member.data.oidc === mark) return
    if (member.data.oidc !== undefined)
      throw new OidcRefused('The member is linked to another account. An owner can remove that link.')
    const audited = await person.auditOf(member)
    const notices = () => [audited.line('oidc_linked', id)]
    // another request may have changed the member or linked the account meanwhile
    if ((await this.#table.replace(member, { ...member.data, oidc: mark }, { notices })) === null)
      throw new OidcRefused('The member was changed at the same time. Sign in again.')
  }

  async #created(person: OidcPerson): Promise<Row<MemberData>> {
    const { email, name, role } = person.identity
    if (!person.connection.data.creates_members || email === null) throw unknownPerson()
    if (role === null) throw noRole()
    const data = { email, name, role, password_hash: noPassword, oidc: markOf(person) }
    const made = { id: newId('usr'), project: person.connection.project, data }
    const audited = await person.auditOf(made)
    const member = await this.#table.insert({ ...made, notices: [audited.line('created', made.id)] })
    if (member === null) throw new OidcRefused('The member was created at the same time. Sign in again.')
    return member
  }

  /**
   * Sets the role that a claim gives, in open sessions too; without one they end. The last owner stays one, in open
   * sessions too: no one else could mend the rules by which the claim gives roles.
   */
  async #withRole(member: Row<MemberData>, { identity, auditOf }: OidcPerson): Promise<Row<MemberData>> {
    const { role, isRoleClaimed } = identity
    if (!isRoleClaimed) return member
    if (role === member.data.role) return member
    const audited = await auditOf(member)
    const scope = organizationScope(member.project)
    if (role === null) {
      const isLast = member.data.role === 'owner' && (await this.#table.count(scope, { role: 'owner' })) < 2
      const ended = isLast ? 0 : await this.#sessions.closeAll(member)
      if (ended > 0)
        await this.#table.notify(scope, member.id, () => [audited.line('other_sessions_ended', member.id, ['no_role'])])
      throw noRole()
    }
    const notices = audited.changed<MemberData>()
    const change = { edit: ({ data }: Row<MemberData>) => (data.role === role ? null : { ...data, role }), notices }
    if (member.data.role === 'owner') await demote(this.#table, member, change).catch(keepLastOwner)
    else await this.#table.change(scope, member.id, change)
    this.#sessions.recheckAll()
    return (await this.#table.get(scope, member.id)) ?? member
  }
}

/** The person of an issuer, as the members' table has it: an account of another issuer never matches. */
const markOf = ({ connection: { id, data }, identity: { subject } }: OidcPerson): string =>
  createHash('sha256')
    .update(JSON.stringify([id, data.issuer, subject]))
    .digest('base64url')

const keepLastOwner = (error: unknown): void => {
  if (!(error instanceof ServiceError) || error.code !== 'invalid_transition') throw error
}

const unknownPerson = (): OidcRefused =>
  new OidcRefused(
    'No member belongs to this account. The provider must have verified its e-mail address, in a domain that the organization allows; or sign in with a password and link the account.',
  )

const noRole = (): OidcRefused => new OidcRefused('The provider gives this account no role in the organization.')
