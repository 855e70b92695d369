import { connect, type Socket } from 'node:net'
import { pino } from 'pino'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ConnectionLimit } from '#transport/http/connection-limit.ts'
import type { HttpServer } from '#transport/http/http-port.ts'
import { openServer } from '#transport/http/open-server.ts'
import { head } from './raw-client.ts'

const max = 3

/** Contract of every HTTP adapter: connections beyond the limit. */
export const connectionSuite = (adapter: 'uws' | 'node'): void => {
  describe('a connection limit', () => {
    const sockets: Socket[] = []
    const servers: HttpServer[] = []

    afterEach(async () => {
      for (const socket of sockets.splice(0)) socket.destroy()
      await Promise.all(servers.splice(0).map((server) => server.close(0)))
    })

    const serve = async (): Promise<{ readonly server: HttpServer; readonly port: number }> => {
      const log = pino({ level: 'silent' })
      const handler = {
        request: (_: unknown, response: { send(status: number, headers: [], body: string): void }) =>
          response.send(200, [], 'ok'),
        upgrade: () => Promise.resolve({ accept: () => {} }),
      }
      const server = openServer(handler, log, { adapter, connections: new ConnectionLimit(log, max) })
      servers.push(server)
      return { server, port: await server.listen('127.0.0.1', 0) }
    }

    /** First line of the response to a request on a new connection, which stays open if it was answered. */
    const answerOf = (port: number): Promise<string> =>
      new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1', () => socket.write(head('GET', '/')))
        sockets.push(socket)
        socket.once('data', (bytes) => resolve(bytes.toString('latin1').split('\r\n')[0] ?? ''))
        socket.once('error', () => resolve('closed'))
        socket.once('close', () => resolve('closed'))
      })

    it('closes a connection beyond it, serves the open ones, and accepts another when one has closed', async () => {
      const { server, port } = await serve()
      for (let at = 0; at < max; at++) expect(await answerOf(port)).toBe('HTTP/1.1 200 OK')
      expect(await answerOf(port)).toBe('closed')
      expect(await answerOf(port)).toBe('closed')
      expect(server.connections).toMatchObject({ max, refused: 2 })
      sockets[0]?.destroy()
      await vi.waitFor(() => expect(server.connections.open).toBe(max - 1), { timeout: 30_000 })
      expect(await answerOf(port)).toBe('HTTP/1.1 200 OK')
    })

    it('counts a connection that became a WebSocket until it is closed', async () => {
      const { server, port } = await serve()
      const peer = new WebSocket(`ws://127.0.0.1:${port}/`)
      await new Promise((resolve) => peer.addEventListener('open', resolve, { once: true }))
      expect(server.connections.open).toBe(1)
      peer.close()
      await vi.waitFor(() => expect(server.connections.open).toBe(0), { timeout: 30_000 })
    })
  })
}
