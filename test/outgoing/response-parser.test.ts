import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MalformedResponse, ResponseParser } from '#outgoing/http1/response-parser.ts'

interface Seen {
  status: number
  headers: Readonly<Record<string, string>>
  body: string
  reusable: boolean | null
}

/** Parses the parts and, if `closed`, the end of the connection. */
const read = (parts: readonly Buffer[], closed = false) => {
  const seen: Seen = { status: 0, headers: {}, body: '', reusable: null }
  const parser = new ResponseParser({
    head: (status, headers) => Object.assign(seen, { status, headers: { ...headers } }),
    data: (bytes) => {
      seen.body += bytes.toString('latin1')
    },
    end: (reusable) => {
      seen.reusable = reusable
    },
  })
  // the parser owns what is pushed: it gets a copy
  for (const part of parts) parser.push(Buffer.from(part))
  if (closed) parser.finish()
  return seen
}

const answer = (...lines: readonly string[]): Buffer => Buffer.from(lines.join('\r\n'), 'latin1')

const split = (bytes: Buffer, places: readonly number[]): Buffer[] => {
  const cuts = [...new Set(places.map((place) => place % bytes.length))].sort((a, b) => a - b)
  return [0, ...cuts]
    .map((from, at) => bytes.subarray(from, cuts[at] ?? bytes.length))
    .filter((part) => part.length > 0)
}

const chunked = answer(
  'HTTP/1.1 200 OK',
  'Transfer-Encoding: chunked',
  '',
  '5',
  'hello',
  'a;x=y',
  ' wörld\r\n!!',
  '0',
  'x: y',
  '',
  '',
)
const counted = answer('HTTP/1.1 503 Busy', 'Content-Length: 4', 'Retry-After: 7', 'x-a: 1', 'X-A: 2', '', 'busy')

describe('the parser of HTTP/1.1 responses', () => {
  it.each([
    ['chunks', chunked, 200, 'hello wörld\r\n!!'],
    ['a length', counted, 503, 'busy'],
    ['an early answer before', answer('HTTP/1.1 100 Continue', '', counted.toString('latin1')), 503, 'busy'],
  ] as const)('reads a body with %s, wherever the bytes are split', (_, bytes, status, body) => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 30 }), (places) => {
        expect(read(split(bytes, places))).toMatchObject({ status, body, reusable: true })
      }),
      { numRuns: 150 },
    )
    expect(read([...bytes].map((byte) => Buffer.of(byte)))).toMatchObject({ status, body, reusable: true })
  })

  it('reads chunk sizes in any notation, wherever the bytes are split', () => {
    const text = (length: number) => 'x'.repeat(length)
    const sizes = [1, 15, 16, 0xab, 0xabc, 40_000]
    const lines = [
      ...sizes.flatMap((size) => [size.toString(16), text(size)]),
      ...['0000000A', text(10), 'Fa', text(250), '3 ', text(3), '2;a=b', text(2), '000', '', ''],
    ]
    const bytes = answer('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', '', ...lines)
    const length = sizes.reduce((sum, size) => sum + size, 10 + 250 + 3 + 2)
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 12 }), (places) => {
        expect(read(split(bytes, places))).toMatchObject({ body: text(length), reusable: true })
      }),
    )
  })

  it('returns header names in lower case and joins repeated headers', () => {
    expect(read([counted]).headers).toEqual({ 'content-length': '4', 'retry-after': '7', 'x-a': '1, 2' })
  })

  it.each([
    ['that is to be closed', answer('HTTP/1.1 200 OK', 'connection: close', 'content-length: 2', '', 'ok'), false],
    ['of HTTP/1.0', answer('HTTP/1.0 200 OK', 'content-length: 2', '', 'ok'), false],
    [
      'of HTTP/1.0 that stays',
      answer('HTTP/1.0 200 OK', 'connection: Keep-Alive', 'content-length: 2', '', 'ok'),
      true,
    ],
    ['without a body', answer('HTTP/1.1 204 No Content', '', ''), true],
    ['with an empty body', answer('HTTP/1.1 200 OK', 'content-length: 0', '', ''), true],
  ])('reports whether the connection of a response %s can be reused', (_, bytes, reusable) => {
    expect(read([bytes]).reusable).toBe(reusable)
  })

  it('takes the end of the connection as the end of a response only if it has neither length nor chunks', () => {
    const open = answer('HTTP/1.1 200 OK', '', 'all of it')
    expect(read([open])).toMatchObject({ body: 'all of it', reusable: null })
    expect(read([open], true)).toMatchObject({ body: 'all of it', reusable: false })
    expect(read([chunked.subarray(0, -3)], true).reusable).toBeNull()
    expect(read([counted.subarray(0, -1)], true).reusable).toBeNull()
  })

  it.each([
    ['no status line', answer('HTTP/2 200', '', '')],
    ['another protocol', answer('HTTP/1.1 101 Switching', '', '')],
    ['two lengths', answer('HTTP/1.1 200 OK', 'content-length: 1', 'content-length: 2', '', 'ok')],
    ['an invalid length', answer('HTTP/1.1 200 OK', 'content-length: +2', '', 'ok')],
    [
      'both a length and chunks',
      answer('HTTP/1.1 200 OK', 'content-length: 2', 'transfer-encoding: chunked', '', '0', '', ''),
    ],
    ['an unsupported encoding', answer('HTTP/1.1 200 OK', 'transfer-encoding: gzip, chunked', '', '')],
    ['an invalid chunk size', answer('HTTP/1.1 200 OK', 'transfer-encoding: chunked', '', 'x', '')],
    [
      'a chunk that is longer than it says',
      answer('HTTP/1.1 200 OK', 'transfer-encoding: chunked', '', '2', 'okay', ''),
    ],
    ['line ends of another kind', Buffer.from('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\nok\n0\n\n')],
    ['a folded header', answer('HTTP/1.1 200 OK', 'x-a: 1', ' 2', '', '')],
    ['a space before the colon', answer('HTTP/1.1 200 OK', 'content-length : 2', '', 'ok')],
    ['bytes behind its end', answer('HTTP/1.1 200 OK', 'content-length: 2', '', 'ok, and more')],
    ['another answer behind it', Buffer.concat([counted, counted])],
    ['a head without end', Buffer.alloc(70_000, 'a')],
  ])('refuses a response with %s', (_, bytes) => {
    expect(() => read([bytes])).toThrow(MalformedResponse)
  })
})
