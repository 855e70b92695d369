import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { StoredEvent } from '#storage/index.ts'
import type { Call, Principal } from '../call/call.ts'

/**
 * The actor of an audited action: the kind of credential, the key, member or end user behind it, and the client's
 * address. The address of an end user is not stored, because the log is kept when the user is erased.
 */
export type AuditActor = {
  readonly kind: Principal['kind'] | 'system'
  readonly id: string | null
  readonly address?: string
}

/** The caller, as determined by the dispatcher. */
export type Caller = Pick<Call<unknown, unknown, unknown>, 'principal' | 'remoteAddress'>

/** Content of an audit log entry, without its time and tenant. */
export interface AuditNote {
  /** `<resource>.<past participle>`, such as `tenant.updated`. */
  readonly action: string
  readonly by: AuditActor
  readonly resource: { readonly type: string; readonly id: string }
  /** Names of the fields that changed. Never their values: the log is kept when its subjects are erased. */
  readonly changes?: readonly string[]
  /** The reason that a person gave. */
  readonly reason?: string
  /** Project of the log, for rows that do not belong to a project (members of an organisation). */
  readonly project?: string
}

/** The actor of what the server does by itself. */
export const bySystem: AuditActor = { kind: 'system', id: null }

/**
 * Returns the audit actor of a caller. An end user is identified by a hash of their identity: the log is kept when the
 * user is erased, and a reader who knows the user's id can still find what they did.
 */
export const actorOf = (caller: Caller): AuditActor => {
  const { kind, id } = nameOf(caller.principal)
  const address = isForPeople(caller.principal) ? '' : caller.remoteAddress
  return address === '' ? { kind, id } : { kind, id, address }
}

/** Whether the credential is held by end users, in their browsers. */
const isForPeople = (principal: Principal): boolean =>
  principal.kind === 'client_token' ||
  principal.kind === 'public' ||
  (principal.kind === 'agent_key' && principal.keyType === 'public')

const nameOf = (principal: Principal): AuditActor => {
  const { kind } = principal
  if (kind === 'secret_key' || kind === 'agent_key') return { kind, id: principal.keyId }
  if (kind === 'dashboard') return { kind, id: principal.memberId }
  return { kind, id: kind === 'public' ? null : userMark(principal) }
}

const userMark = ({ project, tenant, user }: Extract<Principal, { kind: 'client_token' }>): string =>
  createHash('sha256')
    .update(JSON.stringify([project, tenant, user]))
    .digest('hex')
    .slice(0, 32)

/** A request that may include a reason. */
export interface Reasoned {
  readonly reason?: string
}

/** The reason of a request as stored in events and audit entries; empty when there is none. */
export const reasonOf = (body: Reasoned | undefined): Reasoned =>
  body?.reason === undefined || body.reason === '' ? {} : { reason: body.reason }

/** Names of the fields in which two states of a resource differ; the order of an object's fields does not matter. */
export const changedFields = (before: object, after: object): readonly string[] => {
  const [a, b] = [new Map(Object.entries(before)), new Map(Object.entries(after))]
  return [...new Set([...a.keys(), ...b.keys()])].filter((key) => !isDeepStrictEqual(a.get(key), b.get(key)))
}

/** What an edit returns: the new data, or null when nothing changes, so that nothing is written or audited. */
export const unlessSame = <T extends object>(before: T, after: T): T | null =>
  changedFields(before, after).length === 0 ? null : after

/** Builds the message to the sink `audit`. */
export const auditEvent = (
  { action, by, resource, changes = [], project, reason }: AuditNote,
  at: number,
): StoredEvent => ({
  type: 'audit',
  at,
  action,
  by: { ...by },
  resource: { ...resource },
  changes: [...changes],
  ...(project !== undefined && { project }),
  ...(reason !== undefined && { reason }),
})
