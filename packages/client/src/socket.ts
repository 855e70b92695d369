import { errorOf, InvalidRequestError } from './errors.ts'
import type { SessionEvent } from './events.ts'
import { queryOf, type Transport } from './follow.ts'

/** A frame about the socket itself, which is in no log. */
interface SocketError {
  readonly event: 'error'
  readonly data: unknown
}

/** Reads sessions over WebSockets. A page sees no pings of one, so a silent socket is opened again after a time. */
export const webSocket: Transport = async ({ client, sessionId }, { after, signal, heard, take }) => {
  const socket = await client.socket(`/v1/sessions/${sessionId}/ws`, queryOf(after))
  try {
    await new Promise<void>((resolve, reject) => {
      socket.onopen = heard
      socket.onclose = () => resolve()
      // why a socket was refused is not shown to pages; a request without an upgrade says it
      const refused = () => (after < 0 ? reject(withoutSnapshots) : resolve())
      socket.onerror = () => client.request('GET', `/v1/sessions/${sessionId}`, { attempts: 1 }).then(refused, reject)
      socket.onmessage = ({ data }) => {
        try {
          heard()
          const frame: SessionEvent | SocketError = JSON.parse(String(data))
          if (frame.event === 'error') reject(errorOf(frame.data, { status: 400 }))
          else if (!take([frame])) resolve()
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

/** Thrown by a socket that cannot begin with the messages that there are. */
const withoutSnapshots = new InvalidRequestError('The socket has events only.', {
  code: 'invalid_field',
  status: 422,
  param: 'snapshot',
})
