import { pathOf, wordsOf } from '../api.ts'
import { endedEvent } from '../event-log.ts'
import { endsTurn, type Frame } from './conversation.ts'
import { streamTurn } from './server-events.ts'

interface Listener {
  readonly project: string
  readonly session: string
  readonly last: () => number
  readonly take: (frame: Frame) => void
  readonly trouble: (words: string) => void
}

/** sends turns, and passes their frames to the listener */
type Sender = Readonly<{ send: (turn: object) => void; follow: () => void; stop: () => void }>

/** Sends each turn as a request whose answer is the stream of its events. */
export const bySse = ({ project, session, last, take, trouble }: Listener): Sender => {
  const abort = new AbortController()
  const run = (turn: object | null) => {
    const taken = (frame: Frame) => {
      if (frame.event === endedEvent) {
        trouble(endedWords(frame))
        return true
      }
      take(frame)
      return endsTurn(frame.event)
    }
    streamTurn({ project, session, turn, after: last(), take: taken, signal: abort.signal }).catch((error) => {
      if (!abort.signal.aborted) trouble(wordsOf(error))
    })
  }
  return { send: run, follow: () => run(null), stop: () => abort.abort() }
}

/** Sends all turns of the session over one socket. */
export const byWebSocket = ({ project, session, last, take, trouble }: Listener): Sender => {
  const path = pathOf(project, 'sessions.socket', {
    params: { session_id: session },
    query: { project_id: project, restarts: true },
  })
  let socket: WebSocket | null = null
  let stopped = false
  const open = () => {
    if (socket !== null && socket.readyState <= WebSocket.OPEN) return socket
    const opened = new WebSocket(`${location.origin.replace(/^http/, 'ws')}${path}&after=${last()}`)
    opened.onmessage = ({ data }) => {
      const { event, data: payload, id = 0 } = JSON.parse(String(data))
      const frame = { event, data: payload, id: Number(id) }
      if (event !== endedEvent) {
        take(frame)
        return
      }
      opened.onclose = null
      trouble(endedWords(frame))
    }
    opened.onclose = ({ code, reason }) =>
      stopped || trouble(`The socket was closed (${code}${reason && `, ${reason}`}).`)
    socket = opened
    return opened
  }
  const send = (frame: object) => {
    const current = open()
    const text = JSON.stringify(frame)
    if (current.readyState === WebSocket.OPEN) current.send(text)
    else current.addEventListener('open', () => current.send(text), { once: true })
  }
  return {
    send: (turn) => send({ type: 'turn', ...turn }),
    // the socket receives all events once it is open
    follow: () => void open(),
    stop: () => {
      stopped = true
      socket?.close()
    },
  }
}

/** Why the server ended the stream of a session. */
const endedWords = ({ data }: Frame) =>
  data.reason === 'deleted' ? 'The session was deleted.' : 'The stream was ended: sign in again.'
