import type { LookupAddress } from 'node:dns'
import { afterEach, describe, expect, it } from 'vitest'
import { openNameLookup } from '#outgoing/name-lookup.ts'
import { openSsrfGuard, publicOnly } from '#outgoing/ssrf-guard.ts'
import { type Known, NameServer } from './name-server.ts'

const opened: NameServer[] = []

afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
})

const known: Known = (name) => {
  if (name.startsWith('stalled')) return undefined
  return name === 'quick.test' ? ['198.51.100.7', '198.51.100.8'] : null
}

type System = (name: string) => Promise<readonly LookupAddress[]>
const nothing: System = async (name) => {
  throw Object.assign(new Error(name), { code: 'ENOTFOUND' })
}

const openLookup = async (system: System = nothing) => {
  const server = await NameServer.open(known)
  opened.push(server)
  const lookup = openNameLookup({ servers: [server.address], system })
  const find = (name: string) =>
    new Promise<unknown>((resolve, reject) =>
      lookup(name, { all: true }, (error, found) => (error === null ? resolve(found) : reject(error))),
    )
  return { server, find }
}

describe('host names that customers choose', () => {
  it('are queried from name servers, and never from the system resolver if they have addresses', async () => {
    const { find } = await openLookup()
    expect(await find('quick.test')).toEqual([
      { address: '198.51.100.7', family: 4 },
      { address: '198.51.100.8', family: 4 },
    ])
  })

  it('whose servers do not respond block no other name, and never reach the system resolver', async () => {
    const names: string[] = []
    const { find } = await openLookup(async (name) => {
      names.push(name)
      return nothing(name)
    })
    const stalled = Array.from({ length: 100 }, (_, index) =>
      find(`stalled-${index}.test`).catch((error) => error.code),
    )
    await find('quick.test')
    expect(new Set(await Promise.all(stalled))).toEqual(new Set(['EAI_AGAIN']))
    expect(names).toEqual([])
  }, 30_000)

  it('that no server knows are passed to the system resolver, one at a time', async () => {
    let running = 0
    let max = 0
    const { find } = await openLookup(async () => {
      running += 1
      max = Math.max(max, running)
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      return [{ address: '203.0.113.9', family: 4 }]
    })
    const found = await Promise.all(['a.test', 'b.test', 'c.test'].map(find))
    expect(found).toEqual(Array.from({ length: 3 }, () => [{ address: '203.0.113.9', family: 4 }]))
    expect(max).toBe(1)
  })

  it('fails with EAI_AGAIN beyond the queue limit of the system resolver', async () => {
    const held = Promise.withResolvers<readonly LookupAddress[]>()
    const { find } = await openLookup(() => held.promise)
    const codes = Array.from({ length: 80 }, (_, index) =>
      find(`unknown-${index}.test`).then(
        () => 'found',
        (error) => error.code,
      ),
    )
    expect(await Promise.race(codes)).toBe('EAI_AGAIN')
    held.resolve([{ address: '203.0.113.9', family: 4 }])
    expect((await Promise.all(codes)).filter((each) => each === 'found').length).toBeGreaterThan(60)
  })

  it('returns at most eight addresses to connect to', async () => {
    const many = Array.from({ length: 4000 }, (_, index) => ({
      address: `8.8.${index >> 8}.${index & 255}`,
      family: 4,
    }))
    const lookup = publicOnly((_name, _options, callback) => callback(null, many))
    const found = await new Promise((resolve) => lookup('many.test', { all: true }, (_error, list) => resolve(list)))
    expect(found).toEqual(many.slice(0, 8))
  })

  it('are refused if their server returns a private address', async () => {
    const server = await NameServer.open(() => ['127.0.0.1'])
    opened.push(server)
    const lookup = openNameLookup({ servers: [server.address], system: nothing })
    const guard = openSsrfGuard({ allowedPrivateHosts: [], lookup })
    const signal = new AbortController().signal
    const request = guard.request('http://rebound.test/', {
      kind: 'web_page',
      method: 'GET',
      headers: {},
      signal,
      maxRedirects: 0,
    })
    await expect(request).rejects.toMatchObject({ name: 'SsrfRefused' })
    await guard.close()
  })
})
