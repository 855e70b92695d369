import type { World } from '../world.ts'

/** How a socket was closed, and its last frame; null if it received none. */
export interface ClosedSocket {
  readonly code: number
  readonly reason: string
  readonly last: ReturnType<typeof JSON.parse>
}

/** Opens the WebSocket of a session. @throws {Error} when it is refused */
export const openSocket = async (
  world: World,
  { session, token }: { readonly session: string; readonly token: string },
): Promise<{ readonly closed: Promise<ClosedSocket> }> => {
  const url = `${world.url.replace('http', 'ws')}/v1/sessions/${session}/ws`
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } })
  let last: ClosedSocket['last'] = null
  socket.onmessage = ({ data }) => {
    last = JSON.parse(data)
  }
  const closed = new Promise<ClosedSocket>((resolve) => {
    socket.onclose = ({ code, reason }) => resolve({ code, reason, last })
  })
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = () => reject(new Error('the socket was refused'))
  })
  return { closed }
}
