import { afterEach, describe, expect, it, vi } from 'vitest'
import { boundedBody } from '#outgoing/bounded-body.ts'
import { openSsrfGuard, type SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { FloodingServer } from './flooding-server.ts'

const names = Array.from({ length: 20 }, (_, index) => `host-${index}.test`)
const opened: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
})

const openFor = async (answer: Parameters<typeof FloodingServer.open>[0]) => {
  const server = await FloodingServer.open(answer)
  const guard = openSsrfGuard({
    allowedPrivateHosts: names,
    lookup: (_name, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
  })
  opened.push(guard, server)
  return { server, guard }
}

const requestAll = (guard: SsrfGuard, server: FloodingServer, timeoutMs: number) =>
  Promise.allSettled(
    names.map(async (name) => {
      const signal = AbortSignal.timeout(timeoutMs)
      const url = `http://${name}:${server.port}/`
      const answer = await guard.request(url, { kind: 'web_page', method: 'GET', headers: {}, signal, maxRedirects: 0 })
      return boundedBody(answer.body, { maxBytes: 100 })
    }),
  )

const origins = ({ dispatcher }: SsrfGuard): number => Object.keys(Object(dispatcher).stats).length

describe('connections to hosts that customers choose', () => {
  it('close within seconds of their last use, even if the server offers a long keep-alive', async () => {
    const answer = 'HTTP/1.1 200 OK\r\nkeep-alive: timeout=600\r\ncontent-length: 2\r\n\r\nhi'
    const { server, guard } = await openFor((socket) => socket.write(answer))
    await requestAll(guard, server, 5_000)
    expect(server.sockets.size).toBe(names.length)
    await vi.waitFor(() => expect(server.sockets.size).toBe(0), 8_000)
    expect(origins(guard)).toBe(0)
  }, 15_000)

  it('leave nothing in memory for a host that never responds', async () => {
    const { server, guard } = await openFor(() => {})
    await requestAll(guard, server, 200)
    await vi.waitFor(() => expect(origins(guard)).toBe(0), 30_000)
    await vi.waitFor(() => expect(server.sockets.size).toBe(0), 30_000)
  })
})
