import type { Call, Principal, StreamAnswer } from '#actors/call/call.ts'
import type { UseCases } from '#actors/call/use-cases.ts'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import { contextOf } from '#runtime/index.ts'
import type { Host, Resident } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { JsonObject, LogEvent } from '#storage/index.ts'
import { firstOfTurn } from '../event-pages.ts'
import { streamPlace } from '../session-agent.ts'
import { endsTurn, findSession } from '../session-use-cases.ts'

/** What the client of another product decides about one tool call. */
export interface CallDecision {
  readonly action_id: string
  /** Place of the decision in the request. */
  readonly param: string
  readonly approved: boolean
  /** Output of a tool that the client ran; absent for a mere approval. */
  readonly output?: string
  /** Values of a form that a server requested. */
  readonly content?: JsonObject
  /** The client may not be able to decide: then the call waits for those who can. */
  readonly mayBeLeft?: true
}

/** The use-cases of sessions that protocols of other products are made of. */
export interface ProtocolParts {
  readonly host: Host
  readonly useCases: Pick<UseCases, 'sessions.turns' | 'sessions.approve' | 'sessions.reject'>
}

type TurnCall = Parameters<UseCases['sessions.turns']>[0]
/** A request that continues or begins a turn of a session. */
export type ProtocolCall = Call<{ readonly session_id: string }, unknown, unknown>

type CallAbout<Body> = Call<TurnCall['params'], TurnCall['query'], Body>

/** A call of the same caller about a session, with another body. */
export const callAbout = <Body>(
  call: Call<unknown, unknown, unknown>,
  session_id: string,
  body: Body,
): CallAbout<Body> => ({
  ...{ principal: call.principal, scope: call.scope, params: { session_id }, query: {}, body },
  ...{ requestId: call.requestId, remoteAddress: call.remoteAddress, idempotency: null, after: null, accept: '' },
  ...{ files: [], reserved: call.reserved, signal: call.signal },
})

/** A call of the same caller about the same session, with another body. */
export const callWith = <Body>(call: ProtocolCall, body: Body): CallAbout<Body> =>
  callAbout(call, call.params.session_id, body)

/** The calls about which a credential may decide at all. */
export const approvesOf = (principal: Principal): 'end_user' | 'every' | 'none' => {
  if (principal.kind === 'agent_key') return 'none'
  if (principal.kind !== 'client_token') return 'every'
  return principal.permissions.includes('sessions:approve') ? 'end_user' : 'none'
}

/**
 * Decides about calls of the session's latest turn, and streams how it goes on. Calls that were decided before, by the
 * same request or by someone else, stay as they are: the stream is the same, so a request may be sent again.
 *
 * @throws {ServiceError} `not_found` for a call that the turn does not have; what `sessions.approve` and
 * `sessions.reject` refuse.
 */
export const decideCalls = async (
  { host, useCases }: ProtocolParts,
  call: ProtocolCall,
  { decisions, options }: { readonly decisions: readonly CallDecision[]; readonly options: Partial<TurnCall['body']> },
): Promise<StreamAnswer> => {
  const session = await findSession(host, call, call.params.session_id)
  await host.delivered(session.id)
  const { calls } = contextOf(sessionDefinition, session.state.snapshot)
  const statusOf = ({ action_id: id }: CallDecision) => calls.find(({ action_id }) => action_id === id)?.status
  const owed = decisions.filter((decision) => statusOf(decision) === 'deferred')
  if (owed.length > 0) {
    const tool_results = owed.map(({ action_id, output = '' }) => ({ action_id, output }))
    return useCases['sessions.turns'](callWith(call, { ...options, tool_results }))
  }
  const open = decisions.filter((decision) => statusOf(decision) === 'pending')
  for (const { action_id: id, output, param } of open)
    if (output !== undefined && calls.find(({ action_id }) => action_id === id)?.kind !== 'function')
      throw invalidField(param, 'The server runs this tool: only approve it.')
  const isNew = open.length === decisions.length
  const after = isNew ? session.state.lastSequence : await decidedAfter(host, session, decisions)
  // an approved call runs, although the rejection of another one ends the turn
  for (const decision of [...open.filter(({ approved }) => approved), ...open.filter(({ approved }) => !approved)])
    await decide({ host, useCases }, call, decision)
  return continued(host, session, after)
}

/** Streams a session after this sequence, until its latest turn ends or pauses. */
export const continued = (host: Host, session: Resident, after: number): StreamAnswer => {
  const { turn } = contextOf(sessionDefinition, session.state.snapshot)
  const ends = (event: LogEvent): boolean => endsTurn(event) && event.turn_number === turn
  const stream = host.feed.follow(session.id, after, { at: 'idle', after: ends, isFresh: true })
  return { stream, ...streamPlace(session), replayed: false }
}

const decide = async ({ useCases }: ProtocolParts, call: ProtocolCall, decision: CallDecision): Promise<void> => {
  const { action_id, approved, output, content, param, mayBeLeft } = decision
  const results = {
    ...(output !== undefined && { tool_results: [{ action_id, output }] }),
    ...(content !== undefined && { content }),
  }
  try {
    if (approved) await useCases['sessions.approve'](callWith(call, { action_id, ...results }))
    else await useCases['sessions.reject'](callWith(call, { action_id }))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const isLeft = mayBeLeft === true && (error.code === 'forbidden' || error.code === 'insufficient_scope')
    // someone else was first
    if (!isLeft && error.code !== 'action_already_resolved')
      throw new ServiceError(error.code, { ...error.details, message: error.message, param, cause: error })
  }
}

/** The sequence before the first of these decisions in the log of the latest turn. */
const decidedAfter = async (host: Host, session: Resident, decisions: readonly CallDecision[]): Promise<number> => {
  const { turn } = contextOf(sessionDefinition, session.state.snapshot)
  const missing = new Map(decisions.map(({ action_id, param }) => [action_id, param]))
  let decided: number | undefined
  let last = (await firstOfTurn(host, session, turn)) - 1
  for (;;) {
    const events = await host.readLog(session.id, last)
    for (const { event_type, payload, sequence } of events) {
      const id = String(payload.action_id)
      if (event_type === 'tool_call.started') missing.delete(id)
      if (event_type === 'turn.resumed' && decisions.some(({ action_id }) => action_id === id)) decided ??= sequence
    }
    const newest = events.at(-1)
    if (newest === undefined) break
    last = newest.sequence
  }
  for (const param of missing.values())
    throw new ServiceError('not_found', { param, message: 'The latest turn has no such tool call.' })
  return (decided ?? last + 1) - 1
}
