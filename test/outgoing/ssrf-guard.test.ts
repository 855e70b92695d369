import { createServer, type Server } from 'node:http'
import type { LookupFunction } from 'node:net'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { isPublicAddress } from '#outgoing/address-rules.ts'
import { openSsrfGuard, RedirectFailed, type SsrfGuard, SsrfRefused } from '#outgoing/ssrf-guard.ts'

const opened: SsrfGuard[] = []
const guard = (allowedPrivateHosts: readonly string[] = [], lookup?: LookupFunction): SsrfGuard => {
  const one = openSsrfGuard({ allowedPrivateHosts, ...(lookup === undefined ? {} : { lookup }) })
  opened.push(one)
  return one
}
/** A resolver that returns these answers in turn; the last one repeats. */
const answering = (...answers: readonly (readonly string[])[]): LookupFunction => {
  let requestCount = 0
  return (_host, _options, callback) => {
    const found = answers[Math.min(requestCount++, answers.length - 1)] ?? []
    callback(
      null,
      found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }
}
const get = {
  kind: 'web_page',
  method: 'GET',
  headers: {},
  signal: new AbortController().signal,
  maxRedirects: 2,
} as const

afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()))
})

describe('the SSRF guard', () => {
  let server: Server
  let port = 0
  const seen: { path: string; headers: Record<string, string | string[] | undefined> }[] = []

  beforeAll(async () => {
    server = createServer((request, response) => {
      seen.push({ path: request.url ?? '', headers: request.headers })
      const to = new URL(request.url ?? '', 'http://x').searchParams.get('to')
      const status = Number(new URL(request.url ?? '', 'http://x').searchParams.get('status') ?? 307)
      if (to === null) response.end('reached')
      else response.writeHead(status, { location: to }).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    port = typeof address === 'object' && address !== null ? address.port : 0
  })
  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve))
  })
  afterEach(() => {
    seen.length = 0
  })

  it.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://0/',
    'http://0.0.0.0/',
    'http://１２７.0.0.1/',
    'http://10.1.2.3/',
    'http://172.16.0.1/',
    'http://192.168.1.1/',
    'http://100.64.0.1/',
    'http://100.100.100.200/',
    'http://169.254.169.254/latest/meta-data/',
    'http://168.63.129.16/',
    'http://192.0.0.192/',
    'http://198.18.0.1/',
    'http://224.0.0.1/',
    'http://255.255.255.255/',
    'http://[::]/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::ffff:168.63.129.16]/',
    'http://[::127.0.0.1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[2001:0:7f00:1::]/',
    'http://[fc00::1]/',
    'http://[fd00:ec2::254]/',
    'http://[fe80::1]/',
    'http://[ff02::1]/',
    'http://[2001:db8::1]/',
  ])('refuses the address %s without a lookup', (url) => {
    expect(() => guard().check(url)).toThrow(SsrfRefused)
  })

  it.each(['ftp://example.com/', 'file:///etc/passwd', 'gopher://example.com/', 'javascript:1', 'not a url', '//x/'])(
    'refuses %s, which is no http URL',
    (url) => {
      expect(() => guard().check(url)).toThrow(SsrfRefused)
    },
  )

  it.each(['http://user@example.com/', 'http://:pw@example.com/', 'https://a:b@example.com/'])(
    'refuses credentials inside the URL %s',
    (url) => {
      expect(() => guard().check(url)).toThrow(/credentials/)
    },
  )

  it('names the variable that allows a private host, by address and by name', async () => {
    const one = guard([], answering(['10.0.0.1']))
    for (const [reach, variable] of [
      [one, 'ALLOWED_PRIVATE_HOSTS'],
      [one.content, 'ALLOWED_PRIVATE_CONTENT_HOSTS'],
    ] as const) {
      const message = `the address is not public, and ${variable} of this server does not list it`
      expect(() => reach.check('http://127.0.0.1/')).toThrow(message)
      await expect(reach.request('http://inside.example/', get)).rejects.toThrow(message)
    }
  })

  it('lets public addresses and names pass the first check', () => {
    for (const url of ['https://example.com/x?y', 'http://8.8.8.8/', 'http://[2606:4700::1111]/']) {
      expect(guard().check(url).href).toContain('//')
    }
  })

  it('refuses a name that resolves to a private address', async () => {
    const one = guard([], answering(['127.0.0.1']))
    await expect(one.request(`http://inside.example:${port}/`, get)).rejects.toThrow(SsrfRefused)
    expect(seen).toEqual([])
  })

  it('refuses a name if even one of its addresses is private', async () => {
    const one = guard([], answering(['93.184.216.34', '127.0.0.1']))
    await expect(one.request(`http://mixed.example:${port}/`, get)).rejects.toThrow(SsrfRefused)
    const six = guard([], answering(['::ffff:127.0.0.1']))
    await expect(six.request(`http://mapped.example:${port}/`, get)).rejects.toThrow(SsrfRefused)
  })

  it('refuses both requests to a name whose address changes between them', async () => {
    const one = guard([], answering(['192.0.2.1'], ['127.0.0.1']))
    await expect(one.request(`http://rebind.example:${port}/`, get)).rejects.toThrow(SsrfRefused)
    await expect(one.request(`http://rebind.example:${port}/`, get)).rejects.toThrow(SsrfRefused)
    expect(seen).toEqual([])
  })

  it('resolves a name once per connection, so that a second answer cannot be used', async () => {
    let requestCount = 0
    const counting: LookupFunction = (_host, _options, callback) => {
      requestCount++
      callback(null, [{ address: '127.0.0.1', family: 4 }])
    }
    await expect(guard([], counting).request(`http://once.example:${port}/`, get)).rejects.toThrow(SsrfRefused)
    expect(requestCount).toBe(1)
  })

  it('applies to direct users of its dispatcher', async () => {
    const direct = guard().dispatcher.request({ origin: `http://127.0.0.1:${port}`, path: '/', method: 'GET' })
    await expect(direct).rejects.toThrow(SsrfRefused)
    expect(seen).toEqual([])
  })

  it('allows a private host that the operator configured, on its port only', async () => {
    const one = guard([`127.0.0.1:${port}`])
    expect(await (await one.request(`http://127.0.0.1:${port}/`, get)).body.text()).toBe('reached')
    expect(() => one.check(`http://127.0.0.1:${port + 1}/`)).toThrow(SsrfRefused)
    const named = guard(['INSIDE.example'], answering(['127.0.0.1']))
    expect((await named.request(`http://inside.example:${port}/`, get)).statusCode).toBe(200)
    expect(() => guard(['[::1]']).check('http://[::1]:99/')).not.toThrow()
  })

  it('checks the target of every redirect', async () => {
    const one = guard([`127.0.0.1:${port}`])
    for (const target of [
      'http://169.254.169.254/',
      `http://127.0.0.1:${port + 1}/`,
      'file:///etc/passwd',
      'http://a:b@x/',
    ]) {
      const url = `http://127.0.0.1:${port}/?to=${encodeURIComponent(target)}`
      await expect(one.request(url, get)).rejects.toThrow(RedirectFailed)
    }
  })

  it('follows an allowed redirect, and drops credentials on another origin', async () => {
    const one = guard([`127.0.0.1:${port}`, `alias.example:${port}`], answering(['127.0.0.1']))
    const headers = { authorization: 'secret', 'x-kept': '1' }
    const same = `http://127.0.0.1:${port}/?to=/next`
    await (await one.request(same, { ...get, headers })).body.text()
    expect(seen.at(-1)).toMatchObject({ path: '/next', headers: { authorization: 'secret' } })
    const other = `http://127.0.0.1:${port}/?to=${encodeURIComponent(`http://alias.example:${port}/other`)}`
    await (
      await one.request(other, { ...get, headers: { ...headers, 'x-own': '1' }, credentials: ['x-own'] })
    ).body.text()
    expect(seen.at(-1)?.path).toBe('/other')
    expect(seen.at(-1)?.headers).toMatchObject({ 'x-kept': '1' })
    expect(seen.at(-1)?.headers).not.toHaveProperty('authorization')
    expect(seen.at(-1)?.headers).not.toHaveProperty('x-own')
  })

  it('keeps private hosts for configured URLs: content reaches only the hosts of its own list', async () => {
    const host = `127.0.0.1:${port}`
    const url = `http://${host}/image`
    const one = guard([host])
    expect(await (await one.request(url, get)).body.text()).toBe('reached')
    await expect(one.content.request(url, get)).rejects.toThrow(SsrfRefused)
    expect(() => one.content.check(url)).toThrow(SsrfRefused)
    const both = openSsrfGuard({ allowedPrivateHosts: [], allowedContentHosts: [host] })
    opened.push(both)
    expect(await (await both.content.request(url, get)).body.text()).toBe('reached')
    await expect(both.request(url, get)).rejects.toThrow(SsrfRefused)
  })

  it.each([301, 302, 303])(
    'follows %i for GET and checks its target, and returns it unfollowed for POST',
    async (status) => {
      const guard = openSsrfGuard({ allowedPrivateHosts: [`127.0.0.1:${port}`] })
      const sendRequest = async (method: 'GET' | 'POST', to: string) => {
        const url = `http://127.0.0.1:${port}/?status=${status}&to=${encodeURIComponent(to)}`
        const answer = await guard.request(url, {
          kind: 'web_page',
          method,
          headers: {},
          signal: AbortSignal.timeout(5000),
          maxRedirects: 3,
        })
        return [answer.statusCode, await answer.body.text()]
      }
      expect(await sendRequest('GET', `http://127.0.0.1:${port}/there`)).toEqual([200, 'reached'])
      expect(await sendRequest('POST', `http://127.0.0.1:${port}/there`)).toEqual([status, ''])
      await expect(sendRequest('GET', 'http://169.254.169.254/')).rejects.toThrow('the redirect cannot be followed')
      await guard.close()
    },
  )

  it('stops after the maximum number of redirects', async () => {
    const loop = `http://127.0.0.1:${port}/?to=${encodeURIComponent('/?to=%2F%3Fto%3D%252F%253Fto%253Dx')}`
    await expect(guard([`127.0.0.1:${port}`]).request(loop, { ...get, maxRedirects: 1 })).rejects.toThrow(
      RedirectFailed,
    )
    expect(seen).toHaveLength(2)
  })
})

describe('public addresses', () => {
  it('include no private IPv4 address, in any IPv6 notation', () => {
    const octet = fc.nat(255)
    const inside = fc.oneof(
      fc.tuple(fc.constantFrom(0, 10, 127), octet, octet, octet),
      fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
      fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), octet, octet),
      fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
      fc.tuple(fc.integer({ min: 224, max: 255 }), octet, octet, octet),
    )
    fc.assert(
      fc.property(inside, (octets) => {
        const four = octets.join('.')
        const hex = octets.map((part) => part.toString(16).padStart(2, '0')).join('')
        const groups = `${hex.slice(0, 4)}:${hex.slice(4)}`
        const forms = [four, `::ffff:${four}`, `::ffff:${groups}`, `64:ff9b::${groups}`, `2002:${groups}::`]
        expect(forms.filter(isPublicAddress)).toEqual([])
      }),
    )
  })

  it('include no text that is not an address', () => {
    expect(['', 'localhost', '1.2.3', '::g', '1.2.3.4.5'].filter(isPublicAddress)).toEqual([])
  })
})
