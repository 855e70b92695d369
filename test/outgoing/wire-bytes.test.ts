import { afterEach, describe, expect, it } from 'vitest'
import { boundedBody } from '#outgoing/bounded-body.ts'
import { openSsrfGuard, type SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { FloodingServer, flood } from './flooding-server.ts'

const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
const opened: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
})

const answered = async (guard: SsrfGuard, server: FloodingServer, maxBytes = 1_000_000) => {
  const signal = AbortSignal.timeout(10_000)
  const url = `http://${server.host}/`
  const answer = await guard.request(url, { kind: 'web_page', method: 'GET', headers: {}, signal, maxRedirects: 0 })
  return boundedBody(answer.body, { maxBytes })
}

const openFor = async (answer: Parameters<typeof FloodingServer.open>[0]) => {
  const server = await FloodingServer.open(answer)
  const guard = openSsrfGuard({ allowedPrivateHosts: [server.host] })
  opened.push(guard, server)
  return { server, guard }
}

describe('bytes of a server without response content', () => {
  it.each([
    ['informational answers', '', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'],
    ['empty lines', '', '\r\n'],
    ['a status line', 'HTTP/1.1 200 ', 'well'],
    ['extensions of a chunk', `${head}1;`, 'a=b;'],
  ])('end the connection before its timeout: %s', async (_what, first, part) => {
    const { server, guard } = await openFor(flood(first, part.repeat(1000)))
    await expect(answered(guard, server)).rejects.toMatchObject({ code: 'ANSWER_WITHOUT_CONTENT' })
  })

  it('do not include a body that arrives byte by byte', async () => {
    const { server, guard } = await openFor(flood(head, '1\r\nA\r\n'.repeat(1000)))
    expect(await answered(guard, server)).toMatchObject({ isCut: true, bytes: { length: 1_000_000 } })
  })

  it('are counted per response, not per connection', async () => {
    const empty = `HTTP/1.1 204 No Content\r\nx-filler: ${'x'.repeat(8_000)}\r\n\r\n`
    const { server, guard } = await openFor((socket) => socket.write(empty))
    for (let count = 0; count < 200; count++) expect(await answered(guard, server)).toMatchObject({ isCut: false })
    expect(server.sockets.size).toBeLessThan(4)
  })
})
