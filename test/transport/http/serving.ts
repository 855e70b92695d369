import { pino } from 'pino'
import { afterEach } from 'vitest'
import { BodyPace } from '#transport/http/body-pace.ts'
import type { HttpHandler, HttpServer } from '#transport/http/http-port.ts'
import { openServer } from '#transport/http/open-server.ts'
import { type RawClient, rawClient } from './raw-client.ts'

/** Handler of a request. */
export type Answer = HttpHandler['request']

/** A promise with its resolvers. */
export const later = <T>() => Promise.withResolvers<T>()

/** A server on a free port. */
export interface Serving {
  readonly server: HttpServer
  readonly port: number
  readonly url: string
}

/** Refuses every upgrade. */
export const noUpgrade: HttpHandler['upgrade'] = () =>
  Promise.resolve({ refuse: { status: 404, headers: [], body: '' } })

/** Opens servers and raw clients for the tests of one suite; all are closed after each test. */
export const serving = (adapter: 'uws' | 'node') => {
  const servers: HttpServer[] = []
  const clients: RawClient[] = []

  afterEach(async () => {
    for (const { socket } of clients.splice(0)) socket.destroy()
    await Promise.all(servers.splice(0).map((server) => server.close(0)))
  })

  return {
    serve: async (request: Answer, upgrade = noUpgrade, pace = new BodyPace()): Promise<Serving> => {
      const server = openServer({ request, upgrade }, pino({ level: 'silent' }), { adapter, pace })
      servers.push(server)
      const port = await server.listen('127.0.0.1', 0)
      return { server, port, url: `http://127.0.0.1:${port}` }
    },
    client: async (port: number): Promise<RawClient> => {
      const made = await rawClient(port)
      clients.push(made)
      return made
    },
  }
}
