import type { Evidence, GatedCall, LogRow, SessionEvidence } from '#scripts/chaos/evidence.ts'
import type { Frame } from '#scripts/quickstart/sse-lines.ts'

type Event = readonly [event_type: string, payload: LogRow['payload']]

/** Log events of a completed turn. */
export const turnOf = (token: string, turn_number: number): readonly Event[] => [
  ['turn.started', { turn_number, model: 'm', input_text: `What is ${token}?` }],
  ['output_text.delta', { delta: 'You said: ' }],
  ['output_text.delta', { delta: `What is ${token}?` }],
  ['turn.completed', { turn_number, output: `You said: What is ${token}?`, usage: {} }],
]

/** Rows of a log with these events. */
export const logOf = (...turns: readonly (readonly Event[])[]): readonly LogRow[] =>
  turns
    .flatMap((events, at) => events.map((event) => [event, at + 1] as const))
    .map(([[event_type, payload], turn_number], at) => ({ sequence: at + 1, event_type, turn_number, payload }))

/** The frames of a client's stream of a log. */
export const framesOf = (log: readonly LogRow[]): readonly Frame[] =>
  log.map(({ sequence, event_type, payload }) => ({
    id: String(sequence),
    event: event_type === 'output_text.delta' ? 'response.output_text.delta' : event_type,
    data: payload,
  }))

export const approvalRequest = (token: string, change: { acknowledged?: boolean; output?: 'token' | null } = {}) => ({
  ...{ token, acknowledged: true, output: `You said: What is ${token}?` },
  ...change,
})

/** A session with two good turns, received by its client and by a watcher. */
export const session = (change: Partial<SessionEvidence> = {}): SessionEvidence => {
  const log = change.log === undefined ? logOf(turnOf('q1z', 1), turnOf('q2z', 2)) : change.log
  const view = { status: 'active', turn_count: 2 }
  return {
    id: 'ses_1',
    turns: [approvalRequest('q1z'), approvalRequest('q2z')],
    frames: framesOf(log ?? []),
    watched: framesOf(log ?? []),
    watching: true,
    session: view,
    listed: view,
    ...change,
    log,
  }
}

/** An approved tool call that may not be repeated. */
export const gated = (change: Partial<GatedCall> = {}): GatedCall => ({
  actionId: 'act_1',
  runs: 'at_most_once',
  decision: 'approve',
  acknowledged: true,
  action: { status: 'executed', error: null },
  ...change,
})

/** Evidence whose usage matches the completed turns of its sessions by default. */
export const evidence = (change: Partial<Evidence> = {}): Evidence => ({
  ...{ sessions: [], gated: [], plain: [], toolCalls: [], usage: usageOf(change.sessions ?? []) },
  ...change,
})

const usageOf = (sessions: readonly SessionEvidence[]): Evidence['usage'] => {
  const completed = ({ log }: SessionEvidence) =>
    (log ?? []).filter(({ event_type }) => event_type === 'turn.completed').length
  const rows = Object.fromEntries(sessions.map((each) => [each.id, completed(each)]))
  return { rows, interrupted: 0, invoiced: Object.values(rows).reduce((sum, count) => sum + count, 0) }
}

export const call = (key: string, actionId = 'act_1') => ({ key, actionId })
