import { isBusy, statusOf } from '#machines/index.ts'
import { givenFields } from '#machines/session/session-data.ts'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ResultOf } from '#specs/index.ts'
import type { UseCases } from '../call/use-cases.ts'
import { actorOf, reasonOf } from '../records/audit-note.ts'
import { picked } from '../records/schema.ts'
import { contextOf, storedState } from '../runtime/index.ts'
import { newIdFor, type Resident } from '../runtime/internal.ts'
import { forkHistory } from './fork-history.ts'
import { imageIdsIn } from './input/unclaimed-images.ts'
import { agentOf, causeOf, findSession, type SessionParts } from './session-use-cases.ts'
import { newSessionView } from './session-views.ts'

type ForkCall = Parameters<UseCases['sessions.fork']>[0]

/** Creates a session with the history of another one (specs/decisions/0001-sessions.md). */
export const forkSession = async (parts: SessionParts, call: ForkCall): Promise<ResultOf<'sessions.fork'>> => {
  const { host, now } = parts
  const { scope, body, idempotency } = call
  const session = await findSession(host, call, call.params.session_id)
  const { project, tenant, user } = session.owner
  if (tenant !== null) await parts.checkTenant(project, tenant)
  if ((await agentOf(parts, session)) === null)
    throw new ServiceError('agent_not_runnable', { message: "The session's agent was deleted." })
  const from = { session_id: session.id, turn_number: turnOf(session, body?.turn_number) }
  const origin = contextOf(sessionDefinition, session.state.snapshot)
  const history = await forkHistory((id, after) => host.readLog(id, after), from)
  const id = newIdFor(call, 'ses', host.newActorId)
  const input = {
    session_id: id,
    ...picked(origin, ['agent_id', 'installation_id', ...givenFields]),
    ...(body?.metadata !== undefined && { metadata: body.metadata }),
    fork: { from, history, by: actorOf(call), ...reasonOf(body) },
  }
  const owner = { project, tenant, user, createdAt: now() }
  const places = { from: { actor: session.id, owner: session.owner }, to: { actor: id, owner } }
  const make = () => host.create({ kind: sessionDefinition, id, owner, input, cause: causeOf(idempotency) })
  await parts.media.copy(imageIdsIn(history), places, make)
  await host.rows.shownOf(id)
  return newSessionView(await host.find(scope, sessionDefinition, id))
}

/**
 * @throws {ServiceError} `not_found` for an unknown turn; `turn_in_progress` or `approval_pending` for one that has not
 * ended.
 */
const turnOf = (session: Resident, wanted: number | undefined): number => {
  const state = storedState(session.state.snapshot)
  const { turn } = contextOf(sessionDefinition, state)
  const isPaused = statusOf(sessionDefinition, state) === 'paused'
  const goesOn = isPaused || isBusy(sessionDefinition, state)
  const newest = goesOn ? turn - 1 : turn
  const chosen = wanted ?? newest
  if (chosen >= 1 && chosen <= newest) return chosen
  if (goesOn && (chosen === turn || wanted === undefined))
    throw new ServiceError(isPaused ? 'approval_pending' : 'turn_in_progress', { param: 'turn_number' })
  throw new ServiceError('not_found', { param: 'turn_number', message: 'The session has no turn with this number.' })
}
