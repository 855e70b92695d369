import { errorIn, TroupeError } from './errors.ts'
import type { SessionEvent } from './events.ts'
import { queryOf, type Transport } from './follow.ts'
import type { Query, Troupe } from './troupe.ts'

/** A frame about the socket itself, which is in no log. */
interface SocketError {
  readonly event: 'error'
  readonly data: unknown
}

/** Reads sessions over WebSockets. A page sees no pings of one, so a silent socket is opened again after a time. */
export const webSocket: Transport = async ({ client, sessionId, after, signal, take }) => {
  const socket = await opened(client, `/v1/sessions/${sessionId}/ws`, queryOf(after))
  try {
    await new Promise<void>((resolve, reject) => {
      socket.onopen = () => take([])
      socket.onclose = () => resolve()
      // why a socket was refused is not shown to pages; a request without an upgrade says it
      const refused = () => (after < 0 ? reject(withoutSnapshots) : resolve())
      socket.onerror = () => {
        // browsers close it at once, before the request has said why
        socket.onclose = null
        client.request('GET', `/v1/sessions/${sessionId}`, { retryForMs: 0 }).then(refused, reject)
      }
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
    socket.onerror = null
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

/** Thrown by a socket that cannot begin with the messages that there are. */
const withoutSnapshots = new TroupeError('The socket has events only.', {
  code: 'invalid_field',
  status: 422,
  param: 'snapshot',
})
