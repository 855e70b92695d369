import { hash } from 'node:crypto'
import type { Call } from '#actors/call/call.ts'
import { isNotFound, nullWhenNotFound } from '#actors/call/not-found.ts'
import type { UseCases } from '#actors/call/use-cases.ts'
import type { TypedKind } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { derivedId, isId } from '#runtime/index.ts'
import type { Host, Resident } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import { projectScope, type RecordStore } from '#storage/index.ts'
import { newSessionOwner } from '../session-agent.ts'
import { findSession, type SessionParts } from '../session-use-cases.ts'

/** The sessions of threads whose ids the clients of other products choose. */
export const sessionThreads: TypedKind<{ readonly session_id: string }> = {
  name: 'session_threads',
  exported: null,
  filters: [{ fields: ['session_id'], narrow: true }],
}

/** Dependencies of `threadSession`. */
export interface ThreadParts extends SessionParts {
  readonly useCases: Pick<UseCases, 'sessions.create'>
}

/** A thread as a request names it: an id of a session, or one of the client's own. */
export interface NamedThread {
  readonly agentId: string
  readonly threadId: string
  /** Place of the id in the request. */
  readonly param: string
}

type ThreadCall = Pick<
  Call<unknown, unknown, unknown>,
  'principal' | 'scope' | 'requestId' | 'remoteAddress' | 'signal'
>

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Returns the session of a thread, which is created when the thread is new. A thread of the client's own belongs to the
 * agent, tenant and user that the credential acts for.
 *
 * @throws {ServiceError} `not_found` for a session that the caller does not reach or that was deleted; `invalid_field`
 * for an id that others could guess, with a key that browsers show; what `sessions.create` refuses.
 */
export const threadSession = async (parts: ThreadParts, call: ThreadCall, thread: NamedThread): Promise<Resident> => {
  const { threadId, param } = thread
  if (isId(threadId, 'ses')) return found(parts.host, call, { id: threadId, param })
  const { principal } = call
  if (principal.kind === 'agent_key' && principal.keyType === 'public' && !uuid.test(threadId))
    throw invalidField(
      param,
      'With a public key it must be a UUID, since every visitor who knows it reaches the session.',
    )
  const { id, isNew } = await keptThread(parts, call, thread)
  if (!isNew) {
    const known = await found(parts.host, call, { id, param }).catch(nullWhenNotFound)
    // a crash may have come between the record of the thread and its session
    if (known !== null) return known
  }
  const idempotency = { cause: `thread:${id}`, fingerprint: id, seed: id.slice('ses_'.length) }
  const body = newSession(thread.agentId)
  const creation = { principal, scope: call.scope, requestId: call.requestId, remoteAddress: call.remoteAddress }
  await parts.useCases['sessions.create']({
    ...{ ...creation, signal: call.signal, params: {}, query: {}, body, idempotency },
    ...{ after: null, accept: '', files: [] },
  })
  return found(parts.host, call, { id, param })
}

const newSession = (agent_id: string) => ({ agent_id, metadata: {} })

/** The id of the thread's session, which the first request for the thread determines. */
const keptThread = async (
  parts: ThreadParts,
  { principal, scope }: ThreadCall,
  { agentId, threadId }: NamedThread,
): Promise<{ readonly id: string; readonly isNew: boolean }> => {
  const { records, now, host } = parts
  const { project, tenant = null, user = null } = scope
  const table = new Table(records, sessionThreads, now)
  const id = derivedId('thr', 0, hash('sha256', JSON.stringify([project, tenant, user, agentId, threadId])))
  const before = await table.get(scope, id)
  if (before !== null) return { id: before.data.session_id, isNew: false }
  // a refused thread leaves no record
  await newSessionOwner(parts, { principal, scope, body: newSession(agentId) })
  const session_id = host.newActorId('ses')
  const kept = await table.insert({ id, project, tenant, user, data: { session_id } })
  if (kept !== null) return { id: session_id, isNew: true }
  const other = await table.get(scope, id)
  return { id: other?.data.session_id ?? session_id, isNew: false }
}

/** Removes the thread of a deleted session. */
export const forgetThread = async (records: RecordStore, project: string, session_id: string): Promise<void> => {
  const scope = projectScope(project)
  const [thread] = await records.list(sessionThreads, scope, { where: { session_id }, limit: 1 })
  if (thread !== undefined) await records.remove(sessionThreads, scope, thread.id)
}

const found = async (
  host: Host,
  call: ThreadCall,
  { id, param }: { readonly id: string; readonly param: string },
): Promise<Resident> => {
  try {
    return await findSession(host, call, id)
  } catch (error) {
    if (isNotFound(error))
      throw new ServiceError('not_found', { param, message: 'There is no such session.', cause: error })
    throw error
  }
}
