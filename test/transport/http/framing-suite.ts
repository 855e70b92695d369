import { describe, expect, it } from 'vitest'
import { head } from './raw-client.ts'
import { type Answer, serving } from './serving.ts'

const chunked = '2\r\n{}\r\n0\r\n\r\n'
const inside = head('GET', '/inside')

/** Requests with an ambiguous end, by what is wrong; each has another request where a proxy may have seen its body. */
const ambiguous = {
  'two lengths': `${head('POST', '/', 'content-length: 2', `content-length: ${inside.length + 2}`)}{}${inside}`,
  'two equal lengths': `${head('POST', '/', 'content-length: 2', 'Content-Length: 2')}{}${inside}`,
  'a list of lengths': `${head('POST', '/', 'content-length: 2, 2')}{}${inside}`,
  'a length with a sign': `${head('POST', '/', 'content-length: +2')}{}${inside}`,
  'a length without a number': `${head('POST', '/', 'content-length: ')}${inside}`,
  'a length beside chunks': `${head('POST', '/', 'content-length: 2', 'transfer-encoding: chunked')}${chunked}${inside}`,
  'an unknown coding': `${head('POST', '/', 'transfer-encoding: xchunked')}${chunked}${inside}`,
  'a coding that ends in no chunks': `${head('POST', '/', 'transfer-encoding: gzip')}${chunked}${inside}`,
  'two codings': `${head('POST', '/', 'transfer-encoding: chunked', 'transfer-encoding: identity')}${chunked}${inside}`,
  'two hosts': `${head('POST', '/', 'host: there', 'content-length: 2')}{}${inside}`,
  'a space before the colon': `${head('POST', '/', 'content-length : 2')}{}${inside}`,
  'a folded line': `${head('POST', '/', 'x-a: b', ' content-length: 2')}{}${inside}`,
  'bare line feeds': `POST / HTTP/1.1\nhost: here\ncontent-length: 2\n\n{}${inside}`,
  'a bare line feed in a value': `${head('POST', '/', 'x-a: b\ncontent-length: 2')}{}${inside}`,
}

/** Contract of every HTTP adapter: requests that it and a proxy could read differently. */
export const framingSuite = (adapter: 'uws' | 'node'): void => {
  const { serve, client } = serving(adapter)

  const noting =
    (paths: string[]): Answer =>
    (request, response) => {
      paths.push(request.path)
      response.send(200, [], '')
    }

  describe('the end of a request', () => {
    it.each(Object.entries(ambiguous))(
      'made ambiguous by %s closes the connection, and nothing is served',
      async (_, bytes) => {
        const paths: string[] = []
        const { port } = await serve(noting(paths))
        const raw = await client(port)
        raw.write(bytes)
        expect(await raw.closed).not.toContain('200 OK')
        expect(paths).toEqual([])
      },
    )

    it('that is ambiguous closes a connection instead of upgrading it', async () => {
      const { port } = await serve(noting([]))
      const raw = await client(port)
      const upgrade = ['connection: upgrade', 'upgrade: websocket', 'sec-websocket-version: 13']
      const key = 'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA=='
      raw.write(`${head('GET', '/', ...upgrade, key, 'content-length: 0', 'content-length: 60')}${inside}`)
      expect(await raw.closed).not.toMatch(/200 OK|101 Switching/)
    })

    it.each(['content-length: 2', 'Transfer-Encoding: Chunked'])('is determined by %s', async (line) => {
      const paths: string[] = []
      const { port } = await serve(noting(paths))
      const raw = await client(port)
      raw.write(`${head('POST', '/one', line)}${line.startsWith('content') ? '{}' : chunked}`)
      await raw.until('200 OK')
      raw.write(head('GET', '/two', 'connection: close'))
      await raw.closed
      expect(paths).toEqual(['/one', '/two'])
    })
  })
}
