import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { consoleStripper } from '#src/start/sources.js'
import type { HttpServer } from '#transport/http/http-port.ts'
import { openServer } from '#transport/http/open-server.ts'
import { readStaticFiles } from '#transport/static-files.ts'
import { head, rawClient } from './http/raw-client.ts'
import { noUpgrade } from './http/serving.ts'

const longScript = 'let answer = 42\n'.repeat(100)

describe('the static file server', () => {
  let folder: string
  let server: HttpServer
  let port: number

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'static-'))
    const served = join(folder, 'served')
    await mkdir(join(served, 'charts'), { recursive: true })
    await writeFile(join(folder, 'secret.txt'), 'outside')
    await writeFile(join(served, 'index.html'), '<p>hällo')
    await writeFile(
      join(served, 'app.js'),
      '/**\n * Says a * b.\n */\nlet a = `\n /* b */`\n  /** C. */\n// D.\nlet b = a // E\n',
    )
    await writeFile(
      join(served, 'page.ts'),
      "import './parts.ts'\nlet a: A<`b`> = `\n c: D`\n  /** E. */\nexport const f = (g: H) => g as I\n",
    )
    await writeFile(join(served, 'parts.ts.js'), 'export const packed = 1\n')
    await writeFile(join(served, 'vendored.d.ts'), 'export const packed: 1\n')
    await writeFile(join(served, 'page.css'), '/* A. */\n.a,\n.b > .c {\n  margin: 0 auto;\n  content: "a b";\n}\n')
    await writeFile(join(served, 'charts', 'session.layout.json'), '{}')
    await writeFile(join(served, 'long.js'), longScript)
    await writeFile(join(served, 'notes.md'), 'not for browsers')
    await writeFile(join(folder, 'description.json'), '{"openapi":"3.1.0"}')
    const files = await readStaticFiles(served, { open: { '/openapi.json': join(folder, 'description.json') } })
    const request = (...[requested, response]: Parameters<typeof files.answer>): void => {
      if (!files.answer(requested, response)) response.send(404, [], 'none')
    }
    server = openServer({ request, upgrade: noUpgrade }, pino({ level: 'silent' }))
    port = await server.listen('127.0.0.1', 0)
  })

  afterAll(async () => {
    await server.close(0)
    await rm(folder, { recursive: true })
  })

  const get = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init)

  it.each([
    ['/', 'text/html; charset=utf-8', '<p>hällo'],
    ['/index.html', 'text/html; charset=utf-8', '<p>hällo'],
    ['/app.js', 'text/javascript; charset=utf-8', 'let a = `\n /* b */`\nlet b = a // E\n'],
    [
      '/page.ts',
      'text/javascript; charset=utf-8',
      "import './parts.ts'\nlet a         = `\n c: D`\nexport const f = (g   ) => g     \n",
    ],
    ['/parts.ts', 'text/javascript; charset=utf-8', 'export const packed = 1\n'],
    ['/page.css', 'text/css; charset=utf-8', '.a,.b > .c{margin: 0 auto;content: "a b";}'],
    ['/charts/session.layout.json', 'application/json; charset=utf-8', '{}'],
  ])('serves %s as %s', async (path, type, body) => {
    const answer = await get(path)
    expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([200, type, body])
  })

  it.each([
    ['br, gzip', 'br'],
    ['gzip', 'gzip'],
    ['gzip, br;q=0', 'gzip'],
    ['identity', null],
  ])('compresses as the client accepts: %s', async (accepted, encoding) => {
    const answer = await get('/long.js', { headers: { 'accept-encoding': accepted } })
    expect(answer.headers.get('content-encoding')).toBe(encoding)
    expect(answer.headers.get('vary')).toBe('accept-encoding')
    expect(await answer.text()).toBe(longScript)
    const etag = answer.headers.get('etag') ?? ''
    const again = await get('/long.js', { headers: { 'accept-encoding': accepted, 'if-none-match': etag } })
    expect([again.status, again.headers.get('etag')]).toEqual([304, etag])
  })

  it('serves a single file to pages of every origin, and the folder to its own origin only', async () => {
    const open = await get('/openapi.json')
    expect(await open.json()).toEqual({ openapi: '3.1.0' })
    expect(open.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(open.headers.get('access-control-allow-origin')).toBe('*')
    expect((await get('/app.js')).headers.get('access-control-allow-origin')).toBeNull()
  })

  it('lets a page load nothing from other origins', async () => {
    const { headers } = await get('/')
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'self';/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  it('responds with 304 to a client that has the file, and with 200 to one that has another version', async () => {
    const etag = (await get('/app.js')).headers.get('etag') ?? ''
    for (const tags of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const answer = await get('/app.js', { headers: { 'if-none-match': tags } })
      expect([answer.status, await answer.text()]).toEqual([304, ''])
    }
    expect((await get('/app.js', { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
  })

  it('answers HEAD with the head', async () => {
    const answer = await get('/', { method: 'HEAD' })
    expect([answer.status, answer.headers.get('content-length')]).toEqual([200, '9'])
  })

  it.each([
    '/../secret.txt',
    '/charts/../../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/..\\secret.txt',
    '//etc/passwd',
    '/notes.md',
    '/vendored.d.ts',
    '/parts.ts.js',
    '/charts',
    '/charts/',
    '/__proto__',
  ])('serves nothing at %s', async (path) => {
    const raw = await rawClient(port)
    raw.write(head('GET', path, 'connection: close'))
    const seen = await raw.closed
    expect(seen).not.toContain('outside')
    expect(seen).toMatch(/^HTTP\/1.1 4\d\d /)
  })

  it('names the file whose syntax is more than types, which no page could load', async () => {
    const other = join(folder, 'other')
    await mkdir(other)
    await writeFile(join(other, 'tones.ts'), 'export enum Tone { calm }\n')
    await expect(readStaticFiles(other)).rejects.toThrow(/other\/tones\.ts has syntax that is more than types$/)
  })

  it('serves TypeScript from what an earlier start has kept, and strips it again when it has changed', async () => {
    const [root, source] = [join(folder, 'root'), 'let a: A = 1\n']
    const keeping = consoleStripper(root)
    expect([keeping(source), keeping(source)]).toEqual(Array(2).fill(stripTypeScriptTypes(source)))
    const [kept = ''] = await readdir(join(root, '.cache/start/console'))
    await writeFile(join(root, '.cache/start/console', kept), 'let a = 2\n//')
    expect(consoleStripper(root)(source)).toBe('let a = 2')
    expect(consoleStripper(root)('let b: B = 1\n')).toBe('let b    = 1\n')
  })

  it('serves no other method', async () => {
    expect((await get('/app.js', { method: 'POST' })).status).toBe(404)
  })
})
