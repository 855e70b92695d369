import { hash } from 'node:crypto'
import type { AgUiProtocol, StreamAnswer } from '#actors/call/call.ts'
import { readerOf } from '#actors/call/speaker.ts'
import type { UseCases } from '#actors/call/use-cases.ts'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import { contextOf } from '#runtime/index.ts'
import type { Host, Resident } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { firstOfTurn } from '../event-pages.ts'
import { messagePage } from '../messages/session-messages.ts'
import { agUiMessagesOf } from './ag-ui-messages.ts'
import { type AgUiRequest, agUiRequest } from './ag-ui-request.ts'
import { cancelledWithReader } from './cancelled-with-reader.ts'
import { approvesOf, type CallDecision, callAbout, continued, decideCalls, type ProtocolParts } from './decide-calls.ts'
import { inPlace, placedInput, turnInputOf } from './placed-input.ts'
import { type ThreadParts, threadSession } from './thread-sessions.ts'

/** Dependencies of `agUiUseCases`. */
export type AgUiParts = ProtocolParts & ThreadParts

type RunCall = Parameters<UseCases['ag_ui.run']>[0]
type TurnBody = Parameters<UseCases['sessions.turns']>[0]['body']

/** One run: its request, and the session of its thread. */
interface Run {
  readonly call: RunCall
  readonly request: AgUiRequest
  readonly session: Resident
}

/** Turns before the latest one that a run without a request of its own shows. */
const shownTurns = 50

/** Longest request whose messages are kept while its stream is open, in bytes. */
const maxKeptBytes = 256 * 1024

/** Characters at each end of a message by which it is recognised. */
const hashedChars = 16 * 1024

/** Sessions for pages with AG-UI (`HttpAgent`). */
export const agUiUseCases = (parts: AgUiParts): Pick<UseCases, 'ag_ui.run'> => ({
  'ag_ui.run': async (call) => {
    const request = agUiRequest(call.body)
    const thread = { agentId: call.params.agent_id, threadId: call.body.threadId, param: 'threadId' }
    const session = await threadSession(parts, call, thread)
    checkAgent(session, thread.agentId)
    await parts.host.delivered(session.id)
    const answer = await answerRun(parts, { call, request, session })
    return call.query.on_abort === 'cancel' ? cancelledWithReader(parts.host, session.id, answer) : answer
  },
})

/** @throws {ServiceError} `not_found` for a session of another agent. */
const checkAgent = (session: Resident, agentId: string): void => {
  if (contextOf(sessionDefinition, session.state.snapshot).agent_id === agentId) return
  throw new ServiceError('not_found', { param: 'threadId', message: 'The agent has no such session.' })
}

const answerRun = async (parts: AgUiParts, run: Run): Promise<StreamAnswer> => {
  const { call, request, session } = run
  const { calls } = contextOf(sessionDefinition, session.state.snapshot)
  const withStatus = (status: string) => {
    const ids = new Set(calls.filter((open) => open.status === status).map(({ action_id }) => action_id))
    return ({ action_id }: CallDecision): boolean => ids.has(action_id)
  }
  const isPending = withStatus('pending')
  const decisions = [...decidedHere(run), ...request.outputs.filter(isPending)]
  const decided =
    decisions.length === 0
      ? null
      : await decideCalls(parts, callAbout(call, session.id, null), { decisions, options: {} })
  const owed = request.outputs.filter(withStatus('deferred'))
  if (request.input !== null || owed.length > 0) return begin(parts, run, owed)
  const ids = new Set(decisions.map(({ action_id }) => action_id))
  const isWhole =
    decisions.every(isPending) && calls.every(({ status, action_id }) => status !== 'pending' || ids.has(action_id))
  if (decided === null || !isWhole) return follow(parts, run)
  return { ...decided, protocol: protocolOf(run) }
}

/**
 * The answers to interrupts. An agent's key decides about nothing.
 *
 * @throws {ServiceError} `forbidden`
 */
const decidedHere = ({ call, request }: Run): readonly CallDecision[] => {
  if (call.principal.kind !== 'agent_key') return request.answers
  const decision = request.answers.find(({ mayBeLeft }) => mayBeLeft !== true)
  if (decision === undefined) return []
  throw new ServiceError('forbidden', {
    param: decision.param,
    message: 'The key of an agent cannot decide about calls.',
  })
}

/**
 * Begins a turn. A message that began one before, by the same run or another, gets that turn, which is repeated if it
 * failed and is the latest.
 */
const begin = async (parts: AgUiParts, run: Run, owed: readonly CallDecision[]): Promise<StreamAnswer> => {
  const { call, request, session } = run
  const { input } = request
  const cause = input === null ? null : causeOf(session.id, input)
  const turn = (body: TurnBody, keyed: string | null) =>
    parts.useCases['sessions.turns']({
      ...callAbout(call, session.id, { ...toolsOf(call), ...body }),
      idempotency: keyed === null ? null : { cause: keyed, fingerprint: keyed, seed: null },
    })
  const tool_results = owed.map(({ action_id, output = '' }) => ({ action_id, output }))
  const began = await turn(
    { ...(input !== null && { input: turnInputOf(input) }), ...(owed.length > 0 && { tool_results }) },
    call.idempotency?.cause ?? cause,
  ).catch(inPlace(input ?? placedInput([])))
  const isRepeated = began.replayed && cause !== null && (await latestInput(parts.host, session)) === input?.text
  const { turn: latest } = contextOf(sessionDefinition, session.state.snapshot)
  const answer = isRepeated
    ? await turn({ retry_of: latest }, `${cause}:${call.body.runId}`).catch(whenNotFailed(began))
    : began
  return { ...answer, protocol: protocolOf(run) }
}

/** A message of the user begins one turn. Of a long text the ends count, since hashing it whole would hold the loop. */
const causeOf = (session: string, { id, text, parts }: NonNullable<AgUiRequest['input']>): string => {
  const images = parts.flatMap(({ part: { image_url, file_id } }) => endsOf(String(image_url ?? file_id ?? '')))
  return `ag_ui:${hash('sha256', JSON.stringify([session, id, ...endsOf(text), ...images]))}`
}

const endsOf = (text: string) => [text.length, text.slice(0, hashedChars), text.slice(-hashedChars)]

/** A turn that has not failed is not repeated: it goes on. */
const whenNotFailed =
  (began: StreamAnswer) =>
  (error: unknown): StreamAnswer => {
    const codes: readonly string[] = ['invalid_transition', 'turn_in_progress', 'approval_pending']
    if (error instanceof ServiceError && codes.includes(error.code)) return began
    throw error
  }

const latestInput = async (host: Host, session: Resident): Promise<unknown> => {
  const { turn } = contextOf(sessionDefinition, session.state.snapshot)
  const [started] = await host.readPage(session, (await firstOfTurn(host, session, turn)) - 1, 1)
  return started?.payload.input_text
}

/** All messages, and the latest turn from its start until it ends or pauses. */
const follow = async ({ host }: AgUiParts, run: Run): Promise<StreamAnswer> => {
  const { call, session } = run
  const { turn } = contextOf(sessionDefinition, session.state.snapshot)
  if (turn === 0) return { ...continued(host, session, session.state.lastSequence), protocol: protocolOf(run) }
  const first = await firstOfTurn(host, session, turn)
  const page = await messagePage(host, session, { before: turn, limit: shownTurns, reader: readerOf(call.principal) })
  return {
    ...continued(host, session, first - 1),
    protocol: { ...protocolOf(run), earlier: agUiMessagesOf(page), showsAll: true, answered: [] },
  }
}

const protocolOf = ({ call, request, session }: Run): AgUiProtocol => {
  const { threadId, runId, messages, state = null } = call.body
  const isKept = (call.bytes?.length ?? Number.POSITIVE_INFINITY) <= maxKeptBytes
  return {
    ...{ name: 'ag_ui', threadId, runId, sessionId: session.id, state, showsAll: false },
    approves: approvesOf(call.principal),
    answered: request.outputs.map(({ action_id }) => action_id),
    earlier: isKept ? messages : null,
  }
}

/**
 * The functions of the page. A turn waits for those of a client token, so that their outputs may come together with
 * decisions about other calls of the same answer. A key could lift approvals of the agent's tools by that.
 */
const toolsOf = ({ body: { tools = [] }, principal }: RunCall): Pick<TurnBody, 'tools'> => {
  if (tools.length === 0) return {}
  const waits = principal.kind === 'client_token' ? { needsApproval: true } : {}
  return {
    tools: tools.map(({ name, description, parameters }) => ({
      ...{ type: 'function', ...waits },
      function: {
        name,
        ...(description !== undefined && description !== '' && { description }),
        ...(parameters !== undefined && { parameters }),
      },
    })),
  }
}
