import { createHash } from 'node:crypto'
import type { StoredEvent } from '#storage/ports.ts'
import type { Call, Principal } from '../call/call.ts'

/**
 * Who did it: the kind of credential, the key, member or end user behind it, and from where. An end user's address is
 * not kept: the log stays when they are forgotten.
 */
export type AuditActor = {
  readonly kind: Principal['kind'] | 'system'
  readonly id: string | null
  readonly address?: string
}

/** The caller, as the dispatcher found out. */
export type Caller = Pick<Call<unknown, unknown, unknown>, 'principal' | 'remoteAddress'>

/** What is worth a line of the audit log, beside when and under which tenant. */
export interface AuditNote {
  /** `<resource>.<past participle>`, such as `tenant.updated`. */
  readonly action: string
  readonly by: AuditActor
  readonly resource: { readonly type: string; readonly id: string }
  /** Names of the fields that changed. Never their values: the log outlives its subjects. */
  readonly changes?: readonly string[]
  /** What a person gave as the reason. */
  readonly reason?: string
  /** Where the log belongs, for rows that are not a project's own (members of an organisation). */
  readonly project?: string
}

/** What the server does of itself. */
export const bySystem: AuditActor = { kind: 'system', id: null }

/**
 * Who calls. An end user is named by a hash of who they are: the log stays when a user is forgotten, and a reader who knows
 * the user's id can still find what they did.
 */
export const actorOf = (caller: Caller): AuditActor => {
  const { kind, id } = nameOf(caller.principal)
  const address = isForPeople(caller.principal) ? '' : caller.remoteAddress
  return address === '' ? { kind, id } : { kind, id, address }
}

/** End users hold it, in their browsers. */
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

/** A request that may say why. */
export interface Reasoned {
  readonly reason?: string
}

/** The reason of a request as events and lines hold it; nothing where it gives none. */
export const reasonOf = (body: Reasoned | undefined): Reasoned =>
  body?.reason === undefined || body.reason === '' ? {} : { reason: body.reason }

/** Names of the fields in which two states of a resource differ. */
export const changedFields = (before: object, after: object): readonly string[] => {
  const [a, b] = [new Map(Object.entries(before)), new Map(Object.entries(after))]
  return [...new Set([...a.keys(), ...b.keys()])].filter(
    (key) => JSON.stringify(a.get(key)) !== JSON.stringify(b.get(key)),
  )
}

/** The message to the sink `audit`. */
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
