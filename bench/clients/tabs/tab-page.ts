import { Conversation } from '#client/conversation.ts'
import { type ClientToken, pageFunctions, type SessionState, sharedTabs, Troupe, webSocket } from '#client/index.ts'

/** A message of a tab, and what became of it. */
export interface SentMessage {
  readonly input: string
  status: 'open' | 'settled' | 'refused'
  /** The answer, or why there is none. */
  outcome: string
}

/** What a tab saw. Times are those of the clock that all tabs and the measurement share. */
export interface TabNotes {
  /** Sequence and name of each event that the session took, in this order. */
  readonly applied: (readonly [sequence: number, name: string])[]
  readonly connections: { readonly status: string; readonly at: number }[]
  /** Calls whose function this tab ran. */
  readonly ran: string[]
  readonly sent: SentMessage[]
  /** Decisions that were refused. */
  readonly undecided: string[]
}

/** What the measurement calls in a tab. */
export interface TabPage {
  readonly notes: TabNotes
  readonly state: () => SessionState
  readonly send: (input: string) => void
  readonly approveAll: () => void
}

/*
 * The page of a tab that shows one session, in whose address stand the session's id and, for a tab that reads over a WebSocket,
 * `,ws`. It has a function that the model may call.
 */
const { document, location } = Object(globalThis)
const [id = '', transport] = String(location.hash.slice(1)).split(',')
const notes: TabNotes = { applied: [], connections: [], ran: [], sent: [], undecided: [] }

const { apply } = Conversation.prototype
Conversation.prototype.apply = function (event) {
  if (event.event !== 'session.snapshot') notes.applied.push([event.id, event.event])
  apply.call(this, event)
}

const functions = pageFunctions({
  get_city: {
    description: 'The city of this user.',
    run: (_: object, { actionId }) => {
      notes.ran.push(actionId)
      return 'Porto'
    },
  },
})
const troupe = new Troupe({
  baseUrl: document.body.dataset.baseUrl,
  token: sharedTabs('ada', () =>
    fetch('/token', { method: 'POST' }).then(async (answer): Promise<ClientToken> => Object(await answer.json())),
  ),
  transport: transport === 'ws' ? webSocket : undefined,
})
const session = troupe.sessions.open(id === '' ? null : id, { functions })
session.subscribe(() => {
  const { connection } = session.getSnapshot()
  if (notes.connections.at(-1)?.status !== connection) notes.connections.push({ status: connection, at: Date.now() })
})

const send = (input: string): void => {
  const message: SentMessage = { input, status: 'open', outcome: '' }
  notes.sent.push(message)
  session.send(input).then(
    ({ status, text }) =>
      Object.assign(message, { status: 'settled', outcome: status === 'completed' ? text : status }),
    (error: unknown) => Object.assign(message, { status: 'refused', outcome: String(error) }),
  )
}

const approveAll = (): void => {
  for (const { action_id } of session.getSnapshot().approvals)
    session.approve(action_id).catch((error: unknown) => notes.undecided.push(String(error)))
}

const tab: TabPage = { notes, state: session.getSnapshot, send, approveAll }
Object.assign(globalThis, { tab })
