import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { EarlyListener } from '#transport/early-listener.ts'
import { CannotListen } from '#transport/http/cannot-listen.ts'
import { openServer } from '#transport/http/open-server.ts'

const log = pino({ level: 'silent' })

describe.for(['uws', 'node'] as const)('a server on %s that has not started yet', (adapter) => {
  const listen = async () => {
    const early = new EarlyListener()
    const server = openServer(early, log, { adapter })
    onTestFinished(() => server.close(0))
    const port = await server.listen('127.0.0.1', 0)
    return { early, port, url: `http://127.0.0.1:${port}` }
  }

  it('answers probes, and queues requests with their bodies until there is a handler', async () => {
    const { early, url } = await listen()
    const waiting = fetch(`${url}/v1/x`, { method: 'POST', body: 'a body' })
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    const ready = await fetch(`${url}/readyz`)
    expect(ready.status).toBe(503)
    expect(await ready.json()).toEqual({ status: 'starting' })
    early.serve({
      request: (request, response) =>
        void request.body(100).then((body) => response.send(200, [], `${request.path} ${body}`)),
      upgrade: async () => ({ refuse: { status: 404, headers: [], body: '' } }),
    })
    expect(await (await waiting).text()).toBe('/v1/x a body')
    expect(await (await fetch(`${url}/readyz`)).text()).toBe('/readyz ')
  })

  it('refuses requests, and those that wait already, while the start waits for something', async () => {
    const { early, url } = await listen()
    const waiting = fetch(`${url}/v1/x`)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    early.wait('the store does not respond')
    for (const refused of [await waiting, await fetch(`${url}/v1/y`, { headers: { 'x-request-id': 'r-1' } })]) {
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
      expect(await refused.json()).toMatchObject({ error: { code: 'store_unavailable' } })
    }
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect(await (await fetch(`${url}/readyz`)).json()).toEqual({
      status: 'starting',
      reason: 'the store does not respond',
    })
    early.serve({
      request: (request, response) => response.send(200, [], request.path),
      upgrade: async () => ({ refuse: { status: 404, headers: [], body: '' } }),
    })
    for (const path of ['/v1/x', '/readyz']) expect(await (await fetch(url + path)).text()).toBe(path)
    // an operation that failed as the start ended
    early.wait('the store does not respond')
    for (const path of ['/v1/x', '/readyz']) expect(await (await fetch(url + path)).text()).toBe(path)
  })

  it('rejects with one sentence if its port is in use', async () => {
    const { port } = await listen()
    const second = openServer(new EarlyListener(), log, { adapter })
    const refused = second.listen('127.0.0.1', port)
    await expect(refused).rejects.toThrow(CannotListen)
    await expect(refused).rejects.toThrow(
      `127.0.0.1:${port}: the port is in use. Stop the process that uses it, or set PORT`,
    )
  })
})
