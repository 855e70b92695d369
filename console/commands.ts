import type { Actor } from './actor-facts.ts'
import type { StuckWork as Work } from './answers.d.ts'
import { callApi } from './api.ts'
import { sentAgain } from './parts/pictures.ts'
import type { Image } from './parts/turn-input.ts'
import { streamTurn } from './playground/server-events.ts'

/** the selected commit, null for the newest, its newest event, and the turn of a session at that time */
export interface Moment {
  readonly seq: number | null
  readonly sequence: number | null
  readonly turn: {
    readonly turn_number: number
    readonly input_text: string
    readonly images: readonly Image[]
    readonly model: string
  } | null
}

type Field = Readonly<{ label: string; value: string; rows: number; kind: 'json' | 'text' | 'number' }>

/** an action that a person can take on an actor */
export interface Command {
  readonly name: string
  /** carries it out */
  readonly send: (project: string, body: object) => Promise<unknown>
  /** its effect, in a sentence */
  readonly says: string
  /** its input in addition to the reason */
  readonly field?: Field
  /** builds the request from the field's text; may throw a SyntaxError */
  readonly body?: (text: string) => object
  /** loads the initial text of the field */
  readonly load?: (project: string) => Promise<{ input: unknown }>
  /** label of the button that does not carry it out */
  readonly keep?: string
  /** whether its result is opened */
  readonly leads?: boolean
  /** whether the operation takes no reason */
  readonly unreasoned?: boolean
}

/** Kinds of stuck work whose machine can be given another event instead. */
const skips = ['parked_actor', 'poison_result', 'failing_reminder', 'overdue_effect']

/** Actions that are available for an actor now. @param work its stuck work */
export const commandsOf = (
  actor: Actor,
  steps: readonly Step[],
  work: readonly Work[],
  moment: Moment,
): readonly Command[] => [...ofStuck(actor, work), ...(actor.parked === null ? ofMachine(actor, steps, moment) : [])]

const ofMachine = ({ id, machine, active }: Actor, steps: readonly Step[], moment: Moment): readonly Command[] => {
  if (machine === 'session')
    return [...ofSession(id, active, steps), ...(active[0] === 'deleted' ? [] : turnAgain(id, moment))]
  if (machine === 'run') return ofRun(id, active, moment)
  if (machine === 'delivery' && active.at(-1) !== 'erasing')
    return [
      plain('Replay', 'Sends the event again as a new delivery.', (project, body) =>
        callApi(project, 'webhook_deliveries.replay', { params: { delivery_id: id }, body }),
      ),
    ]
  return []
}

const ofSession = (id: string, active: readonly string[], steps: readonly Step[]): readonly Command[] => {
  const turns = steps
    .flatMap(({ events }) => events)
    .filter(({ event_type }) => /^turn\.(completed|failed)$/.test(event_type))
  const goesOn = active[0] === 'paused' || active.includes('active.working')
  const stop = cancel('Cancel turn', 'Ends the turn and withdraws its pending approvals.', (project, body) =>
    callApi(project, 'sessions.cancel', { params: { session_id: id }, body }),
  )
  const stops = goesOn ? [stop] : []
  if (turns.length === 0 || active[0] === 'deleted') return stops
  const field = { label: 'Last turn to copy; empty for the latest turn that has ended', value: '', rows: 1 }
  return [
    ...stops,
    {
      name: 'Fork',
      send: (project, body) => callApi(project, 'sessions.fork', { params: { session_id: id }, body }),
      says: 'Creates a new session with the history up to a turn. This session is not changed.',
      field: { ...field, kind: 'number' },
      body: (text) => (text.trim() === '' ? {} : { turn_number: Number(text) }),
    },
  ]
}

/**
 * Runs a turn again with an edited message: in a fork of the session before that turn, or, for the first turn, in a new
 * session of the same agent and user.
 */
const turnAgain = (id: string, { seq, turn }: Moment): readonly Command[] => {
  if (turn === null) return []
  const { turn_number, input_text, images, model } = turn
  const isFirst = turn_number === 1
  const params = { session_id: id }
  const where = isFirst ? 'a new session of the same agent and user' : `a new session with the turns before it`
  const shown = images.length === 0 ? '' : ', with its images,'
  const midway = seq === null ? '' : ` A turn starts at its message: its steps until commit ${seq} happen anew.`
  return [
    {
      name: 'Run again',
      says: `Sends the message of turn ${turn_number}${shown} to the same model in ${where}. This session is not changed. Tools and settings that its caller sent with the turn are not sent again.${midway}`,
      field: { label: `Message of turn ${turn_number}`, value: input_text, rows: 6, kind: 'text' },
      body: (text) => ({ text }),
      leads: true,
      unreasoned: isFirst,
      send: async (project, body) => {
        const { text = '', reason }: { text?: string; reason?: string } = body
        const pictures = await sentAgain(images, project, id)
        const texts = text.trim() === '' ? [] : [{ type: 'input_text', text }]
        const input = pictures.length === 0 ? text : [...texts, ...pictures]
        const made = isFirst
          ? await callApi(project, 'sessions.create', {
              body: likeOf(await callApi(project, 'sessions.get', { params })),
            })
          : await callApi(project, 'sessions.fork', { params, body: { turn_number: turn_number - 1, reason } })
        // the turn goes on without its reader
        const { signal } = new AbortController()
        await streamTurn({ project, session: made.id, turn: { input, model }, after: 0, take: () => true, signal })
        return made
      },
    },
  ]
}

/** The body that creates a session like this one. */
const likeOf = ({
  agent_id,
  installation_id,
  tenant_id,
  external_user_id,
  metadata,
}: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries({ agent_id, installation_id, tenant_id, external_user_id, metadata }).filter(
      ([, value]) => value !== null,
    ),
  )

const ofRun = (id: string, active: readonly string[], { seq, sequence }: Moment): readonly Command[] => [
  ...(active[0] === 'open'
    ? [
        cancel('Cancel run', 'Cancels the run and its child runs.', (project, body) =>
          callApi(project, 'runs.cancel', { params: { run_id: id }, body }),
        ),
      ]
    : []),
  {
    name: 'Run again',
    send: (project, body) =>
      callApi(project, 'runs.replay', {
        ...{ params: { run_id: id }, body: { ...body, ...(sequence !== null && { after_sequence: sequence }) } },
      }),
    says: `Starts a new run with the same agent version.${sequence === null ? '' : ` It goes on from commit ${seq}: it knows what was said and done until then, and does not do that again.`}`,
    field: { label: 'Input', value: '', rows: 6, kind: 'json' },
    body: (text) => ({ input: JSON.parse(text) }),
    load: (project) => callApi(project, 'runs.get', { params: { run_id: id } }),
    leads: true,
  },
]

const ofStuck = ({ parked }: Actor, work: readonly Work[]): readonly Command[] =>
  work.flatMap(({ id, kind, subject }, index) => {
    const more = work.length > 1 ? ` ${index + 1}` : ''
    const by =
      (verb: 'retry' | 'skip' | 'discard'): Command['send'] =>
      (project, body) =>
        callApi(project, `stuck.${verb}`, { params: { stuck_id: id }, body })
    const name = parked !== null && kind === 'parked_actor' ? 'Revive' : 'Retry'
    return [
      plain(`${name}${more}`, `Tries ${subject} again.`, by('retry')),
      ...(skips.includes(kind) ? [skip(`Skip${more}`, subject, by('skip'))] : []),
      plain(`Discard${more}`, `Discards ${subject}. This cannot be undone.`, by('discard')),
    ]
  })

const skip = (name: string, subject: string, send: Command['send']): Command => ({
  name,
  send,
  says: `Sends the machine an event in place of ${subject}.`,
  field: { label: 'Event', value: '{"type": ""}', rows: 3, kind: 'json' },
  body: (text) => ({ event: JSON.parse(text) }),
})

const plain = (name: string, says: string, send: Command['send']): Command => ({ name, send, says })

const cancel = (name: string, says: string, send: Command['send']): Command => ({
  ...plain(name, says, send),
  keep: 'Keep running',
})
