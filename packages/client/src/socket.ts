import { errorIn, TroupeError } from './errors.ts'
import type { SessionEvent } from './events.ts'
import { queryOf, type Transport } from './follow.ts'
import type { Query, Troupe } from './troupe.ts'

/** A frame about the socket itself, which is in no log. */
interface SocketError {
  readonly event: 'error'
  readonly data: unknown
}

/**
 * Reads sessions over WebSockets, from their first event. A page sees no pings of one, so a silent socket is opened again
 * after a time.
 */
export const webSocket: Transport = async ({ client, sessionId, after, signal, take }) => {
  if (after < 0) throw withoutSnapshots
  const path = `/v1/sessions/${sessionId}`
  // browsers do not say why a socket was refused, and delay all sockets of a page for seconds once some have failed
  await client.request('GET', path, { retryForMs: 0, signal })
  const socket = await opened(client, `${path}/ws`, queryOf(after))
  try {
    await new Promise<void>((resolve, reject) => {
      socket.onopen = () => take([])
      socket.onclose = () => resolve()
      socket.onerror = () => reject(broken)
      socket.onmessage = ({ data }) => {
        try {
          const frame: SessionEvent | SocketError = JSON.parse(String(data))
          if (frame.event === 'error')
            void errorIn(Response.json(frame.data, { status: 400 }), client.options.baseUrl).then(reject)
          // what is in no log, such as the end of the stream, has no id
          else if (!take([{ ...frame, id: frame.id ?? 0 }])) resolve()
        } catch (error) {
          reject(error)
        }
      }
      signal.addEventListener('abort', () => resolve())
      if (signal.aborted) resolve()
    })
  } finally {
    socket.close()
  }
}

/** Opens a WebSocket. Pages cannot set headers on one, so there a token stands in the address. */
const opened = async (client: Troupe, path: string, query: Query): Promise<WebSocket> => {
  const bearer = await client.credential.bearer()
  const isToken = bearer.startsWith('ect_')
  const url = client.url(path, isToken ? { ...query, token: bearer } : query).replace('http', 'ws')
  if (isToken) return new WebSocket(url)
  // of Node, Bun and Deno, beside what the DOM's types know
  const SocketWithHeaders: new (url: string, options: object) => WebSocket = Object(WebSocket)
  return new SocketWithHeaders(url, { headers: { authorization: `Bearer ${bearer}` } })
}

/** A socket cannot begin with the messages that there are. */
const withoutSnapshots = new TroupeError('The socket has events only.', { code: 'invalid_field', param: 'snapshot' })

/** A socket that broke or was refused, though the session answers. */
const broken = new TroupeError('No WebSocket: does each proxy before the server pass upgrades?', { code: 'connection' })
