import type { Evidence, GatedCall, LogRow, SessionEvidence } from '#scripts/chaos/evidence.ts'
import type { Frame } from '#scripts/quickstart/sse-lines.ts'

type Event = readonly [event_type: string, payload: LogRow['payload']]

/** What a turn that answers leaves in the log. */
export const turnOf = (token: string, turn_number: number): readonly Event[] => [
  ['turn.started', { turn_number, model: 'm', input_text: `What is ${token}?` }],
  ['output_text.delta', { delta: 'You said: ' }],
  ['output_text.delta', { delta: `What is ${token}?` }],
  ['turn.completed', { turn_number, output: `You said: What is ${token}?`, usage: {} }],
]

/** Events as a log's rows. */
export const logOf = (...turns: readonly (readonly Event[])[]): readonly LogRow[] =>
  turns
    .flatMap((events, at) => events.map((event) => [event, at + 1] as const))
    .map(([[event_type, payload], turn_number], at) => ({ sequence: at + 1, event_type, turn_number, payload }))

/** A log as a client's stream shows it. */
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

/** Two good turns, seen by their client and by a watcher. */
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

/** An approved call of a tool that may not be repeated. */
export const gated = (change: Partial<GatedCall> = {}): GatedCall => ({
  actionId: 'act_1',
  runs: 'at_most_once',
  decision: 'approve',
  acknowledged: true,
  action: { status: 'executed', error: null },
  ...change,
})

/** Evidence whose usage is what its sessions' completed turns come to, unless said otherwise. */
export const evidence = (change: Partial<Evidence> = {}): Evidence => ({
  ...{ sessions: [], gated: [], plain: [], toolCalls: [], usage: usageOf(change.sessions ?? []) },
  ...change,
})

const usageOf = (sessions: readonly SessionEvidence[]): Evidence['usage'] => {
  const completed = ({ log }: SessionEvidence) =>
    (log ?? []).filter(({ event_type }) => event_type === 'turn.completed').length
  const rows = Object.fromEntries(sessions.map((each) => [each.id, completed(each)]))
  return { rows, invoiced: Object.values(rows).reduce((sum, count) => sum + count, 0) }
}

export const call = (key: string, actionId = 'act_1') => ({ key, actionId })
