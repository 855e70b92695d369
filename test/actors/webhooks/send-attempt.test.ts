import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sendAttempt } from '#actors/webhooks/send-attempt.ts'
import { openSsrfGuard, type SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { Receiver } from './receiver.ts'

let receiver: Receiver
let guard: SsrfGuard

beforeEach(async () => {
  receiver = await Receiver.open()
  guard = openSsrfGuard({ allowedPrivateHosts: [receiver.host] })
})

afterEach(async () => {
  await guard.close()
  await receiver.close()
})

const send = (more: { url?: string; timeoutMs?: number; signal?: AbortSignal } = {}) =>
  sendAttempt(
    { url: more.url ?? receiver.url, headers: { 'content-type': 'application/json' }, body: '{"a":1}' },
    { guard, timeoutMs: more.timeoutMs ?? 15_000, signal: more.signal ?? new AbortController().signal },
  )

describe('an attempt', () => {
  it.each([200, 201, 202, 204, 299])('succeeds if the endpoint answers %d, whatever the body', async (status) => {
    receiver.reply = () => ({ status, headers: { 'content-type': 'text/html' }, body: status === 204 ? '' : '<p>ok' })
    expect(await send()).toMatchObject({ status, error: null })
    expect(receiver.received).toMatchObject([{ body: '{"a":1}', headers: { 'content-type': 'application/json' } }])
  })

  it.each([
    [400, 'http_error'],
    [410, 'http_error'],
    [500, 'http_error'],
    [304, 'redirect_refused'],
  ])('fails if the endpoint answers %d', async (status, error) => {
    receiver.reply = () => ({ status })
    expect(await send()).toMatchObject({ status, error })
  })

  it.each([301, 302, 303, 307, 308])('follows no redirect of status %d', async (status) => {
    receiver.reply = () => ({ status, headers: { location: `http://${receiver.host}/elsewhere` } })
    expect(await send()).toMatchObject({ error: 'redirect_refused' })
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook'])
  })

  it('fails if no answer arrives in time', async () => {
    receiver.reply = () => null
    expect(await send({ timeoutMs: 50 })).toEqual({ status: null, error: 'timeout', response: null })
  })

  it('fails if the port is closed', async () => {
    const { url } = receiver
    await receiver.close()
    expect(await send({ url })).toEqual({ status: null, error: 'unreachable', response: null })
    receiver = await Receiver.open()
  })

  it.each([
    ['closes the connection', (socket: Socket) => socket.end()],
    ['resets it', (socket: Socket) => socket.resetAndDestroy()],
    ['answers with bytes that are not HTTP', (socket: Socket) => socket.end('hello\r\n\r\n')],
  ])('reports a lost connection if the endpoint has received the event and %s', async (_, end) => {
    const heard: string[] = []
    const endpoint = createServer((socket) => {
      socket.on('error', () => {})
      socket.on('data', (part) => {
        heard.push(part.toString())
        if (heard.join('').includes('{"a":1}')) end(socket)
      })
    })
    endpoint.listen(0, '127.0.0.1')
    await once(endpoint, 'listening')
    const { port }: AddressInfo = Object(endpoint.address())
    const host = `127.0.0.1:${port}`
    const near = openSsrfGuard({ allowedPrivateHosts: [host] })
    const request = { url: `http://${host}/`, headers: {}, body: '{"a":1}' }
    const parts = { guard: near, timeoutMs: 15_000, signal: new AbortController().signal }
    expect(await sendAttempt(request, parts)).toEqual({ status: null, error: 'connection_lost', response: null })
    expect(heard.join('')).toContain('{"a":1}')
    await near.close()
    endpoint.close()
  })

  it('never connects to an address that is not public', async () => {
    const other = await Receiver.open()
    expect(await send({ url: other.url })).toMatchObject({ status: null, error: 'url_refused' })
    expect(await send({ url: 'http://169.254.169.254/latest/meta-data' })).toMatchObject({ error: 'url_refused' })
    expect(other.received).toEqual([])
    await other.close()
  })

  it('stores the first 2048 bytes of a response and harmless headers, with secrets masked', async () => {
    receiver.reply = () => ({
      status: 500,
      headers: { 'content-type': 'text/plain', 'set-cookie': 'a=b', 'x-internal': 'host-7' },
      body: 'x'.repeat(100_000),
    })
    const { response } = await send()
    expect(response).toMatchObject({ headers: { 'content-type': 'text/plain' }, body: 'x'.repeat(2048) })
    expect(JSON.stringify(response)).not.toMatch(/set-cookie|host-7/)
    receiver.reply = () => ({ status: 500, body: 'the key is csk_abcdefghijklmnop' })
    expect((await send()).response).toMatchObject({ body: 'the key is [masked]' })
  })
})
