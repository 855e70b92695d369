import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PageFetcher, textKinds } from '#actors/web/fetch/page-fetcher.ts'
import { openSsrfGuard, type SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { systemClock } from '#runtime/clock.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { cpuMs } from '#test/support/cpu-ms.ts'
import { expectWithin } from '#test/support/expect-within.ts'
import { html, Site, to } from '#test/support/site.ts'

const mebibyte = 1024 * 1024

/** Zeros of `megabytes` MB in gzip form: one block, compressed once and repeated. */
const packedZeros = (megabytes: number): Buffer => {
  const block = deflateRawSync(Buffer.alloc(mebibyte), { finishFlush: constants.Z_FULL_FLUSH })
  const head = gzipSync('').subarray(0, 10)
  return Buffer.concat([head, ...Array.from({ length: megabytes }, () => block), deflateRawSync('')])
}

describe('a page', () => {
  let site: Site
  let other: Site
  let guard: SsrfGuard
  let pages: PageFetcher
  let time = 0

  beforeAll(async () => {
    site = await Site.open()
    other = await Site.open()
    guard = openSsrfGuard({ allowedPrivateHosts: [site.host, other.host] })
  })
  beforeEach(() => {
    for (const one of [site, other]) {
      one.pages.clear()
      one.requested.length = 0
      one.pages.set('/', html('<p>hello'))
    }
    pages = new PageFetcher({ guard, clock: { ...systemClock, now: () => time } })
  })
  afterAll(async () => {
    await guard.close()
    await Promise.all([site.close(), other.close()])
  })

  const read = (url: string, options: { maxBytes?: number; timeoutMs?: number; signal?: AbortSignal } = {}) =>
    pages.fetch({
      ...{ url, maxBytes: mebibyte, timeoutMs: 30_000, signal: new AbortController().signal, kinds: textKinds },
      ...options,
    })
  const codeOf = async (result: Promise<unknown>): Promise<string> => {
    try {
      await result
      return 'read'
    } catch (error) {
      return error instanceof ServiceError ? error.code : String(error)
    }
  }

  it('is fetched with its final URL, its type and its time', async () => {
    time = 5
    const page = await read(site.url('/#part'))
    expect(page).toMatchObject({
      ...{ url: site.url('/#part'), finalUrl: site.url('/'), statusCode: 200, retrievedAt: 5, notModified: false },
      type: { mimeType: 'text/html', kind: 'html', charset: 'utf-8' },
    })
    expect(page.bytes.toString()).toBe('<p>hello')
    expect(page.contentHash).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(site.requested.at(-1)?.headers['user-agent']).toMatch(/^TroupeBot\//)
  })

  it('is fetched with its status, even if it is an error page', async () => {
    site.pages.set('/gone', { ...html('<p>gone'), status: 410 })
    expect((await read(site.url('/gone'))).statusCode).toBe(410)
  })

  describe('behind redirects', () => {
    it.each([301, 302, 303, 307, 308])('is read through %i', async (status) => {
      site.pages.set('/a', to('/', status))
      expect((await read(site.url('/a'))).finalUrl).toBe(site.url('/'))
    })

    it('is read after five redirects, but not after six', async () => {
      for (let n = 1; n <= 6; n += 1) site.pages.set(`/${n}`, to(n === 1 ? '/' : `/${n - 1}`))
      expect((await read(site.url('/5'))).finalUrl).toBe(site.url('/'))
      expect(await codeOf(read(site.url('/6')))).toBe('fetch_failed')
    })

    it.each<readonly [string, string]>([
      ['http://10.0.0.1/', 'unsafe_url'],
      ['http://169.254.169.254/latest/meta-data/', 'unsafe_url'],
      ['http://[::1]/', 'unsafe_url'],
      ['http://user:pass@127.0.0.1/', 'unsafe_url'],
      ['http://127.0.0.1:22/', 'unsafe_url'],
      ['file:///etc/passwd', 'invalid_url'],
      ['javascript:alert(1)', 'invalid_url'],
      ['http://', 'invalid_url'],
    ])('is refused if one leads to %s', async (location, code) => {
      site.pages.set('/a', to(location))
      expect(await codeOf(read(site.url('/a')))).toBe(code)
    })

    it('is refused if one leads to another private host, even if the first one is allowed', async () => {
      site.pages.set('/a', to(`http://127.0.0.1:${other.port + 1}/`))
      expect(await codeOf(read(site.url('/a')))).toBe('unsafe_url')
    })

    it('is refused by the robots.txt of a site that they lead to', async () => {
      site.pages.set('/a', to(other.url('/')))
      other.pages.set('/robots.txt', { headers: {}, body: 'User-agent: *\nDisallow: /' })
      expect(await codeOf(read(site.url('/a')))).toBe('robots_denied')
      expect(other.paths()).toEqual(['/robots.txt'])
    })

    it('is the redirect itself if that has no location', async () => {
      site.pages.set('/a', { status: 302, headers: { 'content-type': 'text/html' }, body: '<p>nowhere' })
      expect((await read(site.url('/a'))).statusCode).toBe(302)
    })

    it('is refused if they form a loop', async () => {
      site.pages.set('/a', to('/a'))
      expect(await codeOf(read(site.url('/a')))).toBe('fetch_failed')
    })
  })

  describe('of a site with robots.txt', () => {
    const denies = 'User-agent: *\nDisallow: /private'

    it('is refused if it is disallowed, and never requested', async () => {
      site.pages.set('/robots.txt', { body: denies })
      expect(await codeOf(read(site.url('/private/x')))).toBe('robots_denied')
      expect(await codeOf(read(site.url('/')))).toBe('read')
      expect(site.paths()).toEqual(['/robots.txt', '/'])
    })

    it.each<readonly [number, string]>([
      [404, 'read'],
      [401, 'read'],
      [403, 'read'],
      [410, 'read'],
      [429, 'robots_denied'],
      [500, 'robots_denied'],
      [503, 'robots_denied'],
    ])('that answers with %i is %s', async (status, code) => {
      site.pages.set('/robots.txt', { status, body: denies })
      expect(await codeOf(read(site.url('/private')))).toBe(code)
    })

    it('is subject to a file behind redirects, even on another site', async () => {
      site.pages.set('/robots.txt', to(other.url('/rules')))
      other.pages.set('/rules', { body: denies })
      expect(await codeOf(read(site.url('/private')))).toBe('robots_denied')
    })

    it('is refused if the file redirects to a private address, which is not requested', async () => {
      site.pages.set('/robots.txt', to('http://10.0.0.1/robots.txt'))
      expect(await codeOf(read(site.url('/')))).toBe('robots_denied')
    })

    it('is subject to a compressed file', async () => {
      site.pages.set('/robots.txt', { headers: { 'content-encoding': 'gzip' }, body: gzipSync(denies) })
      expect(await codeOf(read(site.url('/private')))).toBe('robots_denied')
    })

    it('is subject to the first 500 KiB of the file', async () => {
      const filler = '# filler\n'.repeat(60_000)
      site.pages.set('/robots.txt', { body: `${denies}\n${filler}Disallow: /late` })
      expect(await codeOf(read(site.url('/private')))).toBe('robots_denied')
      expect(await codeOf(read(site.url('/late')))).toBe('read')
    })

    it('is subject to the beginning of a file of 50 MB, and refused if the file redirects in a loop', async () => {
      site.pages.set('/robots.txt', { body: `${denies}\n${'# filler\n'.repeat(5_500_000)}` })
      const from = cpuMs()
      expect(await codeOf(read(site.url('/private')))).toBe('robots_denied')
      expect(cpuMs() - from).toBeLessThan(3_000)
      other.pages.set('/robots.txt', to('/robots.txt'))
      await expect(read(other.url('/'))).rejects.toMatchObject({
        code: 'robots_denied',
        details: { extra: { reason: 'robots_unreachable' } },
      })
    })

    it('is read under a file that is cached for an hour', async () => {
      await read(site.url('/'))
      time += 59 * 60_000
      await read(site.url('/'))
      expect(site.paths().filter((path) => path === '/robots.txt')).toHaveLength(1)
      time += 2 * 60_000
      await read(site.url('/'))
      expect(site.paths().filter((path) => path === '/robots.txt')).toHaveLength(2)
    })

    it('is read 30 seconds after the file failed', async () => {
      site.pages.set('/robots.txt', { status: 500 })
      expect(await codeOf(read(site.url('/')))).toBe('robots_denied')
      site.pages.delete('/robots.txt')
      time += 31_000
      expect(await codeOf(read(site.url('/')))).toBe('read')
    })
  })

  describe('that is compressed', () => {
    const text = '<p>packed'
    const page = (coding: string, body: Uint8Array) => ({
      headers: { 'content-type': 'text/html', 'content-encoding': coding },
      body,
    })
    it.each<readonly [string, Uint8Array]>([
      ['gzip', gzipSync(text)],
      ['x-gzip', gzipSync(text)],
      ['GZIP', gzipSync(text)],
      ['br', brotliCompressSync(text)],
      ['deflate', deflateSync(text)],
      ['deflate', deflateRawSync(text)],
      ['gzip, br', brotliCompressSync(gzipSync(text))],
      ['identity', Buffer.from(text)],
    ])('by %s is read (%#)', async (coding, body) => {
      site.pages.set('/a', page(coding, body))
      expect((await read(site.url('/a'))).bytes.toString()).toBe(text)
    })

    it.each<readonly [string, Uint8Array, string]>([
      ['compress', Buffer.from('x'), 'unsupported_content_type'],
      ['gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(text))), 'unsupported_content_type'],
      ['gzip', Buffer.from('no gzip at all'), 'fetch_failed'],
      ['gzip', gzipSync('x'.repeat(10_000)).subarray(0, 20), 'fetch_failed'],
    ])('by %s is refused if that is unsupported or broken (%#)', async (coding, body, code) => {
      site.pages.set('/a', page(coding, body))
      expect(await codeOf(read(site.url('/a')))).toBe(code)
    })

    it.each<readonly [string, () => Uint8Array]>([
      ['gzip', () => packedZeros(512)],
      ['br', () => brotliCompressSync(Buffer.alloc(256 * mebibyte), { params: { 1: 1 } })],
      ['gzip, gzip', () => gzipSync(packedZeros(512))],
    ])('as a bomb of %s uses little memory and time', async (coding, bomb) => {
      site.pages.set('/a', page(coding, bomb()))
      globalThis.gc?.()
      const [before, from] = [process.memoryUsage.rss(), cpuMs()]
      expect(await codeOf(read(site.url('/a'), { maxBytes: 5 * mebibyte }))).toBe('response_too_large')
      expect(cpuMs() - from).toBeLessThan(3_000)
      expect(process.memoryUsage.rss() - before).toBeLessThan(150 * mebibyte)
    })
  })

  it('is refused beyond maxBytes, to the byte', async () => {
    site.pages.set('/a', html('x'.repeat(1_000)))
    expect((await read(site.url('/a'), { maxBytes: 1_000 })).bytes.length).toBe(1_000)
    expect(await codeOf(read(site.url('/a'), { maxBytes: 999 }))).toBe('response_too_large')
  })

  it('that never ends is refused at maxBytes', async () => {
    site.pages.set('/a', {
      answer: (response) => {
        response.writeHead(200, { 'content-type': 'text/html' })
        const more = (): void => {
          while (!response.destroyed && response.write('x'.repeat(64 * 1024)));
          if (!response.destroyed) response.once('drain', more)
        }
        more()
      },
    })
    expect(await codeOf(read(site.url('/a')))).toBe('response_too_large')
  })

  it.each<readonly [string, (write: (part: string) => void) => void]>([
    ['sends no headers', () => {}],
    ['sends no body', (write) => write('')],
    ['sends a part and then nothing', (write) => write('<p>')],
  ])('is refused at its time limit if its server %s', async (_what, begin) => {
    site.pages.set('/a', {
      answer: (response) =>
        begin((part) => {
          response.writeHead(200, { 'content-type': 'text/html' })
          response.flushHeaders()
          response.write(part)
        }),
    })
    const from = performance.now()
    expect(await codeOf(read(site.url('/a'), { timeoutMs: 300 }))).toBe('fetch_timeout')
    const took = performance.now() - from
    site.pages.set('/usual', html('words'))
    await expectWithin(1_300, took, () => read(site.url('/usual')))
  })

  it('is refused if its server breaks the connection', async () => {
    site.pages.set('/a', {
      answer: (response) => {
        response.writeHead(200, { 'content-type': 'text/html', 'content-length': '100' })
        response.write('<p>', () => response.destroy())
      },
    })
    expect(await codeOf(read(site.url('/a')))).toBe('fetch_failed')
  })

  it.each<readonly [string, string | null, string | Uint8Array]>([
    ['an image', 'image/png', 'x'],
    ['an image that says it is HTML', 'text/html', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])],
    ['a PDF file that says it is text', 'text/plain', '%PDF-1.7'],
    ['an archive without a type', null, Buffer.from([0x50, 0x4b, 3, 4])],
    ['a PDF file', 'application/pdf', '%PDF-1.7'],
  ])('is refused if it is %s', async (_what, type, body) => {
    site.pages.set('/a', { headers: type === null ? {} : { 'content-type': type }, body })
    expect(await codeOf(read(site.url('/a')))).toBe('unsupported_content_type')
  })

  it('is reported as not modified if its server says so', async () => {
    site.pages.set('/a', { status: 304 })
    const known = { etag: '"1"', lastModified: 'Mon, 01 Jan 2024 00:00:00 GMT' }
    const signal = new AbortController().signal
    const request = { url: site.url('/a'), maxBytes: 10, timeoutMs: 5_000, signal, kinds: textKinds }
    expect((await pages.fetch({ ...request, known })).notModified).toBe(true)
    expect(site.requested.at(-1)?.headers).toMatchObject({
      'if-none-match': '"1"',
      'if-modified-since': 'Mon, 01 Jan 2024 00:00:00 GMT',
    })
  })

  it('is refused if its host name cannot be resolved', async () => {
    const lookup = (_host: string, _options: object, callback: (error: NodeJS.ErrnoException, found: []) => void) =>
      callback(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }), [])
    const nameless = openSsrfGuard({ allowedPrivateHosts: [], lookup })
    const fetcher = new PageFetcher({ guard: nameless, clock: systemClock })
    const signal = new AbortController().signal
    const request = { maxBytes: 10, timeoutMs: 5_000, signal, kinds: textKinds }
    expect(await codeOf(fetcher.fetch({ ...request, url: 'http://none.example/' }))).toBe('dns_unavailable')
    await nameless.close()
  })
})
