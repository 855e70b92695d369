import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { joinSockets } from '#scripts/chaos/tcp-proxy.ts'
import { Restartable } from '#scripts/cluster/restartable.ts'
import { startMongod } from '#scripts/services/mongod.ts'
import { startServer } from '#scripts/services/server.ts'
import { patience } from '../patience.ts'

/** Time in ms for which mongod is suspended: longer than a request waits for it. */
const stallMs = 6_000

/** The read of the number of starts, after indexes have been built and before actors are opened. */
const readsStarts = /find\0.{4}\w*epochs\0/s

it('a start waits for a MongoDB that stalls after it has responded, says so every few seconds, and then serves', {
  timeout: 120_000,
}, async () => {
  const mongod = new Restartable(await startMongod())
  onTestFinished(() => mongod.stop())
  let hasStalled = false
  const stalls = Promise.withResolvers<void>()
  const sockets = new Set<Socket>()
  const proxy = createServer((near) => {
    joinSockets(near, connect(mongod.port, '127.0.0.1'), sockets)
    near.on('data', (bytes) => {
      if (hasStalled || !readsStarts.test(bytes.toString('latin1'))) return
      hasStalled = true
      mongod.pause()
      stalls.resolve()
    })
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  onTestFinished(() => void proxy.close())
  const { port }: { port: number } = Object(proxy.address())

  const starting = startServer({ MONGODB_URL: `mongodb://127.0.0.1:${port}/stalled` })
  await stalls.promise
  const from = performance.now()
  await vi.waitFor(() => expect(performance.now() - from).toBeGreaterThan(stallMs), patience)
  mongod.resume()
  const server = await starting
  onTestFinished(() => server.stop())
  const lines = server.log().split('the store has stopped responding, the start waits').length - 1
  expect(lines).toBeGreaterThan(1)
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
  expect((await fetch(`${server.url}/v1/sessions`)).status).toBe(401)
})
