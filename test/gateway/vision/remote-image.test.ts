import { createServer, type RequestListener, type Server } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { imageParts } from '#gateway/vision/image-parts.ts'
import { fetchImage } from '#gateway/vision/remote-image.ts'
import { openSsrfGuard, type SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { jpeg } from '../simulated/image-bytes.ts'
import { pngOf } from './vision-world.ts'

let server: Server | null = null
let guard: SsrfGuard | null = null

afterEach(async () => {
  await guard?.close()
  server?.closeAllConnections()
  await new Promise((resolve) => (server === null ? resolve(null) : server.close(resolve)))
  server = null
  guard = null
})

/** An image server on this machine, and a guard that allows it unless `blocked`. */
const serve = async (listener: RequestListener, blocked = false) => {
  const made = createServer(listener)
  server = made
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve))
  const address = made.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const opened = openSsrfGuard({ allowedPrivateHosts: blocked ? [] : [`127.0.0.1:${port}`] })
  guard = opened
  return { guard: opened, url: (path: string) => new URL(`http://127.0.0.1:${port}${path}`) }
}

const png = pngOf(16, 16)
const options = { maxBytes: 1000, signal: new AbortController().signal }

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => ({ code: 'none', message: '' }),
    (error) => ({ code: error.code, param: error.details?.param, message: error.message }),
  )

describe('a remote image', () => {
  it('is fetched, also through redirects', async () => {
    const { guard, url } = await serve((request, response) => {
      if (request.url === '/a') response.writeHead(302, { location: '/b' }).end()
      else response.writeHead(200, { 'content-type': 'image/png; charset=binary' }).end(png)
    })
    expect(await fetchImage({ guard }, { kind: 'remote', url: url('/a'), at: 'image_url' }, options)).toEqual({
      bytes: png,
      mimeType: 'image/png',
    })
  })

  it('is sent as bytes to providers that do not fetch, with its actual type, and as a URL to others', async () => {
    const { guard, url } = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'image/jpeg' }).end(png)
    })
    const sources = [{ kind: 'remote', at: 'images[0]', url: url('/a') }] as const
    const partsFor = (format: 'google' | 'openai' | 'anthropic') =>
      imageParts(sources, { format }, { remote: { guard }, signal: options.signal })
    const inline = { type: 'image_url', image_url: { url: `data:image/png;base64,${png.toString('base64')}` } }
    expect(await partsFor('google')).toEqual([inline])
    const address = { type: 'image_url', image_url: { url: url('/a').href } }
    expect([await partsFor('openai'), await partsFor('anthropic')]).toEqual([[address], [address]])
  })

  it('that is an HTML page is refused as an unsupported format', async () => {
    const { guard, url } = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>')
    })
    const sources = [
      { kind: 'file', at: 'files[0]', bytes: jpeg(4, 4), mimeType: '' },
      { kind: 'remote', at: 'images[0]', url: url('/a') },
    ] as const
    const refused = await refusal(
      imageParts(sources, { format: 'google' }, { remote: { guard }, signal: options.signal }),
    )
    expect(refused).toMatchObject({ code: 'unsupported_format', param: 'images[0]' })
  })

  it.each([
    ['does not exist', 404, {}, 'bad_request'],
    ['redirects without end', 302, { location: '/again' }, 'bad_request'],
    ['redirects to another scheme', 302, { location: 'ftp://images.example/' }, 'bad_request'],
    ['redirects to a private host', 302, { location: 'http://10.0.0.1/' }, 'bad_request'],
  ])('that %s is refused with its field', async (_, status, headers, code) => {
    const { guard, url } = await serve((_request, response) => {
      response.writeHead(status, headers).end()
    })
    const refused = await refusal(fetchImage({ guard }, { kind: 'remote', url: url('/a'), at: 'images[3]' }, options))
    expect(refused).toMatchObject({ code, param: 'images[3]' })
  })

  it('that is too large is aborted early', async () => {
    const { guard, url } = await serve((_, response) => {
      const pour = (): boolean => response.write(Buffer.alloc(600))
      response.on('drain', pour)
      pour()
      pour()
    })
    const refused = await refusal(
      fetchImage({ guard }, { kind: 'remote', url: url('/endless'), at: 'image_url' }, options),
    )
    expect(refused).toMatchObject({ code: 'image_too_large', param: 'image_url' })
  })

  it('that does not arrive in time is aborted', async () => {
    const { guard, url } = await serve(() => {})
    const refused = await refusal(
      fetchImage({ guard, timeoutMs: 50 }, { kind: 'remote', url: url('/silent'), at: 'image_url' }, options),
    )
    expect(refused).toMatchObject({ code: 'bad_request', message: 'image_url cannot be fetched in time.' })
  })

  it('is aborted when the caller disconnects', async () => {
    const gone = new AbortController()
    const { guard, url } = await serve(() => gone.abort())
    const refused = await refusal(
      fetchImage(
        { guard },
        { kind: 'remote', url: url('/silent'), at: 'image_url' },
        { ...options, signal: gone.signal },
      ),
    )
    expect(refused.code).toBe('cancelled')
  })

  it('on a private address is not fetched, and the error does not contain the address', async () => {
    let requestCount = 0
    const { guard, url } = await serve(() => {
      requestCount += 1
    }, true)
    const refused = await refusal(fetchImage({ guard }, { kind: 'remote', url: url('/a'), at: 'image_url' }, options))
    expect(refused).toMatchObject({ code: 'bad_request' })
    expect(refused.message).not.toContain('127.0.0.1')
    expect(requestCount).toBe(0)
  })
})
