import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

/** Timeout of a network check, in ms. */
export const networkTimeoutMs = 3_000

/** Address of a server. */
export interface Address {
  readonly host: string
  readonly port: number
  readonly tls: boolean
}

/** `host:port`, without the credentials that a URL may carry. */
export const shown = ({ host, port }: Address): string => `${host}:${port}`

/**
 * Connects, calls `talk` with the connection, and closes it.
 *
 * @throws {Error} with a readable reason when that fails or takes longer than three seconds.
 */
export const overTcp = <T>({ host, port, tls }: Address, talk: (socket: Socket) => Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const socket = tls ? connectTls({ host, port, servername: host }) : connect(port, host)
    const impatience = setTimeout(() => end(new Error('no response within 3 s')), networkTimeoutMs)
    const end = (error: Error): void => {
      clearTimeout(impatience)
      socket.destroy()
      reject(error)
    }
    socket.once('error', end)
    socket.once(tls ? 'secureConnect' : 'connect', () => {
      talk(socket).then((answer) => {
        clearTimeout(impatience)
        socket.destroy()
        resolve(answer)
      }, end)
    })
  })
