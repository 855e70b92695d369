import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installedPythons } from '#scripts/services/pythons.ts'
import { webhookHeaders } from '#src/outgoing/webhook-signature.ts'
import { startToolServer, type ToolServer } from '#test/e2e/tool-server.ts'
import { World } from '#test/e2e/world.ts'
import { png } from '#test/gateway/simulated/image-bytes.ts'
import { atNight } from '#test/setup/at-night.ts'
import { CuttingProxy } from '../client/cutting-proxy.ts'
import { pythonPackages } from './pythons.ts'

const sources = resolve('packages/python/src')
/** Compiled modules, which twenty programs load: compiling them takes longer than most of these run. */
const bytecode = resolve('.cache/python-bytecode')
const [newest, ...others] = installedPythons(10)
const httpx = newest === undefined ? null : pythonPackages('python-client', 'requirements.txt')
if (newest === undefined) console.error('NOT TESTED: the client for Python, since there is no Python 3.10 or newer.')

let [world, tool, proxy]: [World, ToolServer, CuttingProxy] = Object(Array(3))
beforeAll(async () => {
  tool = await startToolServer()
  world = await World.start({ tools: [tool] })
  proxy = await CuttingProxy.open(() => world.port)
})
afterAll(async () => {
  proxy.close()
  await world.stop()
  await tool.close()
})

/** Connections are cut at a third of the places by day. */
const step = atNight ? 1 : 3

/** What a program may have done to the server. */
const changes: Readonly<Record<string, () => Promise<void> | void>> = {
  crash: () => world.crash(),
  restart: () => world.restart(),
  'cut streams': () => {
    let bytes = 0
    proxy.next = (request) => {
      if (!request.includes('/stream?') || bytes > 1400) return null
      bytes += 5 * step
      return { afterBytes: bytes - 5 * step }
    }
  },
  'cut turns': () => {
    let bytes = 0
    proxy.next = (request) => {
      if (!request.includes('/turns') || bytes >= 600) return null
      bytes += 40 * step
      return { afterBytes: bytes - 40 * step }
    }
  },
}

/** Runs a function of program.py to its end. @returns what went wrong; '' if nothing did. */
const ran = async (python: string, name: string, env: Readonly<Record<string, string>> = {}): Promise<string> => {
  const child = spawn(
    python,
    ['-X', 'dev', '-W', 'ignore::ResourceWarning', join(import.meta.dirname, 'program.py'), name],
    {
      env: {
        PATH: process.env.PATH,
        PYTHONPATH: `${sources}:${httpx}`,
        PYTHONPYCACHEPREFIX: bytecode,
        URL: world.url,
        PROXY: proxy.url,
        TOOL: tool.url,
        KEY: world.secretKey,
        ...env,
      },
    },
  )
  const said = text(child.stderr)
  createInterface({ input: child.stdout }).on('line', async (line) => {
    await changes[JSON.parse(line)]?.()
    child.stdin.write('ok\n')
  })
  const [code] = await once(child, 'exit')
  return code === 0 ? '' : `exit ${code}: ${await said}`
}

/** All programs run on the newest Python, and each night on every other. */
const whole = [newest, ...(atNight ? others : [])].filter((python) => python !== undefined)

describe.skipIf(httpx === null).each(whole)('the client for Python, on $version', ({ path: python }) => {
  it('sends, streams typed events, follows from a snapshot and forks', async () => {
    expect(await ran(python, 'turn')).toBe('')
  })
  it('sends images of bytes and files, reads them by their ids, and refuses what is no image', async () => {
    const picture = join(mkdtempSync(join(tmpdir(), 'image-')), 'picture.png')
    writeFileSync(picture, png(640, 480))
    expect(await ran(python, 'images', { PICTURE: picture })).toBe('')
    rmSync(dirname(picture), { recursive: true })
  })
  it('sends a large request once while its upload takes longer than an answer may', async () => {
    expect(await ran(python, 'uploads')).toBe('')
  })
  it('approves, rejects, stops and retries, and says how a call was resolved also to who is late', async () => {
    expect(await ran(python, 'decisions')).toBe('')
  })
  it('runs a function once, though two clients of one folder of calls have it and a program ended in its call', async () => {
    expect(await ran(python, 'functions')).toBe('')
  })
  it('loses and doubles no event while the server is killed in the middle of a stream', async () => {
    expect(await ran(python, 'kills')).toBe('')
  })
  it('loses and doubles no event where a connection is cut, and sends a message once', async () => {
    expect(await ran(python, 'cuts')).toBe('')
    proxy.next = () => null
  })
  it('raises errors by type with code, param and request id, and one sentence for an address that is wrong', async () => {
    expect(await ran(python, 'errors')).toBe('')
  })
  it('fetches one token for many requests, and another when one is refused', async () => {
    expect(await ran(python, 'tokens')).toBe('')
  })
  it('yields all items of lists that come in pages', async () => {
    expect(await ran(python, 'pages')).toBe('')
  })
  it('calls operations by the names of the API, with and without await', async () => {
    expect(await ran(python, 'calls')).toBe('')
  })
  it('works without await where an event loop runs', async () => {
    expect(await ran(python, 'notebook')).toBe('')
  })
  it('accepts a webhook that is signed, and refuses one that is forged or old', async () => {
    const body = JSON.stringify({ type: 'run.completed', timestamp: '2026-01-01T00:00:00Z', data: { run_id: 'run_1' } })
    const secret = `whsec_${Buffer.from('a secret of a webhook, 32 bytes.').toString('base64')}`
    const headers = (timestampS: number) => JSON.stringify(webhookHeaders(secret, { id: 'evt_1', timestampS, body }))
    const now = Math.floor(Date.now() / 1000)
    const env = { BODY: body, SECRET: secret, HEADERS: headers(now), OLD: headers(now - 301) }
    expect(await ran(python, 'webhooks', env)).toBe('')
  })
  it('runs the first program of its page as it stands there', async () => {
    const page = readFileSync('packages/python/README.md', 'utf8')
    const [, block = ''] = /^```python\n([\s\S]*?)^```/m.exec(page) ?? []
    const env = { PYTHONPATH: `${sources}:${httpx}`, TROUPE_URL: world.url, TROUPE_KEY: world.secretKey }
    const { stdout } = await promisify(execFile)(python, ['-c', block], { env })
    expect(stdout.length).toBeGreaterThan(20)
  })
})
