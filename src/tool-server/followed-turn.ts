import {
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { JsonObject } from '#specs/dsl/json.ts'
import { sessions } from '#specs/resources/sessions.ts'
import { SseDecoder } from '#src/outgoing/sse-decoder.ts'
import { jsonObjectOf } from './schema.ts'
import { requestOf, type ToolRequest } from './tool-request.ts'
import { type ApiAnswer, eventsResult, resultOf, type ToolResult, type TurnEvent } from './tool-result.ts'

/** Calls an operation of the API with the caller's credential. @throws when the server cannot be reached */
export type CallApi = (request: ToolRequest, follow: Followed) => Promise<ApiAnswer>

/** How a call is followed: `onPart` receives the parts of a stream as they arrive. */
export interface Followed {
  readonly signal: AbortSignal
  readonly onPart?: (part: Uint8Array) => void
}

/** A call of a tool whose operation streams a turn. */
export interface FollowedTurn {
  readonly first: ToolRequest
  readonly call: CallApi
  readonly mcpReq: ServerContext['mcpReq']
  /** Whether the client shows forms, and its credential may decide about calls. */
  readonly mayDecide: boolean
}

/** Name of the form, and of its field. */
const form = 'approval'

/**
 * Follows a turn to its end, with progress notifications if the client wants them. When it pauses for an approval, the
 * client's user is shown a form, and the turn goes on with the answer.
 */
export const followTurn = async (turn: FollowedTurn): Promise<ToolResult | InputRequiredResult> => {
  const awaited = turn.mcpReq.requestState<string>()
  const decided = awaited === undefined ? null : decisionOf(turn, awaited)
  // the turn has begun: the first request would begin another
  if (awaited !== undefined && decided === null)
    return eventsResult([{ event: 'turn.paused', data: { payload: { action_id: awaited } } }])
  const events: TurnEvent[] = []
  const reports: Promise<void>[] = []
  const onPart = decoderFor(turn, { events, reports })
  const answer = await turn.call(decided ?? turn.first, { signal: turn.mcpReq.signal, onPart })
  // the client discards what arrives after the result
  await Promise.all(reports)
  if (!answer.contentType.startsWith('text/event-stream')) {
    const result = resultOf(answer)
    // the answer to a rejection has no events, while the schema of the tool requires them
    return decided === null || result.isError === true
      ? result
      : eventsResult([{ event: 'turn.rejected', data: jsonObjectOf(answer.body) ?? {} }])
  }
  return pausedForm(turn, events) ?? eventsResult(events)
}

/** Collects the events of a stream without text deltas, since a later event has the whole text. */
const decoderFor = (
  { mcpReq }: FollowedTurn,
  { events, reports }: { readonly events: TurnEvent[]; readonly reports: Promise<void>[] },
) => {
  const token = mcpReq._meta?.progressToken
  let [progress, text] = [0, '']
  const decoder = new SseDecoder((data, event) => {
    const parsed = jsonObjectOf(data)
    if (event === '' || data === '') return
    progress += 1
    if (event.endsWith('output_text.delta')) text += textIn(parsed)
    else if (event !== 'reasoning.delta') {
      text ||= event
      events.push({ event, data: parsed ?? data })
    }
  })
  return (part: Uint8Array): void => {
    decoder.push(part)
    if (token === undefined || text === '') return
    const params = { progressToken: token, progress, message: text }
    text = ''
    // progress of a client that has gone is of no use
    reports.push(mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined))
  }
}

const textIn = (data: JsonObject | null): string => {
  const payload = data?.payload ?? data
  const delta = typeof payload === 'object' && payload !== null && 'delta' in payload ? payload.delta : ''
  return typeof delta === 'string' ? delta : ''
}

/**
 * The form for the call that a turn waits for; null when it waits for nothing that this client may decide. The state that
 * the client sends back is not signed: it names what the client's own credential approves.
 */
const pausedForm = ({ mayDecide, mcpReq, first }: FollowedTurn, events: readonly TurnEvent[]) => {
  const last = events.at(-1)
  const data = typeof last?.data === 'object' ? last.data : {}
  const paused = jsonObjectOf(JSON.stringify(data.payload ?? data)) ?? {}
  const session = /\/sessions\/([^/]+)\//.exec(first.path)?.[1]
  const { action_id: action, reason, run_by, tool } = paused
  if (!mayDecide || last?.event !== 'turn.paused' || reason !== 'approval_required' || run_by === 'caller') return null
  if (session === undefined || typeof action !== 'string') return null
  // an answer to a form of before this one would be sent again
  if (mcpReq.requestState<string>() === action) return null
  const called = JSON.stringify(paused.arguments ?? {}).slice(0, 2000)
  return inputRequired({
    requestState: action,
    inputRequests: {
      [form]: inputRequired.elicit({
        message: `The turn waits for your approval of the tool ${String(tool)} with the arguments ${called}`,
        requestedSchema: {
          type: 'object',
          properties: {
            approve: { type: 'boolean', title: 'Approve', description: 'Run the tool with these arguments.' },
          },
          required: ['approve'],
        },
      }),
    },
  })
}

/** The request that carries the user's answer to a form; null for a form that was cancelled or not answered. */
const decisionOf = ({ mcpReq, first }: FollowedTurn, action_id: string): ToolRequest | null => {
  const given = inputResponse(mcpReq.inputResponses, form)
  const session_id = /\/sessions\/([^/]+)\//.exec(first.path)?.[1]
  if (given.kind !== 'elicit' || given.action === 'cancel' || session_id === undefined) return null
  const operation = sessions[given.action === 'accept' && given.content?.approve === true ? approves : rejects]
  return requestOf({ operation }, { session_id: decodeURIComponent(session_id), action_id })
}

const [approves, rejects] = ['sessions.approve', 'sessions.reject'] as const
