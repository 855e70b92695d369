import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { mongodSpec } from '#scripts/services/mongod.ts'
import { nodeOptions } from '#scripts/services/server.ts'
import { freePort, startService } from '#scripts/services/service.ts'
import { patience } from './patience.ts'

const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'troupe-start-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

/** Starts a process and collects its output. */
const begun = (
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  output: 'pipe' | number = 'pipe',
) => {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(command, args, {
    env: { PATH, HOME, HOST: '127.0.0.1', ...env },
    stdio: ['ignore', output, 'pipe'],
  })
  const printed = { out: '', err: '' }
  child.stdout?.on('data', (part) => (printed.out += part))
  child.stderr?.on('data', (part) => (printed.err += part))
  const ended = once(child, 'close').then(([code]) => Number(code ?? -1))
  return { child, printed, ended }
}

/** The same; it is killed at the end of the test. */
const run: typeof begun = (...given) => {
  const running = begun(...given)
  onTestFinished(async () => {
    running.child.kill('SIGKILL')
    await running.ended
  })
  return running
}

const program = [...nodeOptions, 'src/start.js']
const spawned = (env: Readonly<Record<string, string>>) => begun(process.execPath, program, env)
const server = (env: Readonly<Record<string, string>>, output: 'pipe' | number = 'pipe') =>
  run(process.execPath, program, env, output)

/** Root may write everywhere, unless it is without the capabilities that allow it. */
const obedient = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : []

/** A server that may do only what the modes of files allow its user. */
const serverOfUser = (env: Readonly<Record<string, string>>) => {
  const [command = '', ...args] = [...obedient, process.execPath, ...nodeOptions, 'src/start.js']
  return run(command, args, env)
}

/** Makes the dynamic linker refuse the native HTTP server, as on a system whose C library is too old for it. */
const withoutNativeServer = `data:text/javascript,${encodeURIComponent(`
  const { dlopen } = process
  process.dlopen = (module, path, ...flags) => {
    if (path.includes('uWebSockets')) throw new Error('libc.so.6: version not found')
    return dlopen.call(process, module, path, ...flags)
  }
`)}`

/** Makes the runtime of the packaged embedder unknown, as where it was not installed. */
const withoutRuntime = `data:text/javascript,${encodeURIComponent(`
  import Module from 'node:module'
  const resolve = Module._resolveFilename
  Module._resolveFilename = (name, ...rest) => {
    if (name === 'onnxruntime-node') throw new Error('not found')
    return resolve(name, ...rest)
  }
`)}`

const started = async (child: ChildProcess, printed: { readonly out: string }): Promise<void> => {
  while (!printed.out.includes('server started')) {
    if (child.stdout === null || child.exitCode !== null) throw new Error('it ended')
    await once(child.stdout, 'data')
  }
}

const takenPort = async (): Promise<{ readonly port: number; readonly free: () => Promise<unknown> }> => {
  const port = await freePort()
  const other = createServer().listen(port, '127.0.0.1')
  await once(other, 'listening')
  return { port, free: () => new Promise((resolve) => other.close(resolve)) }
}

describe('a start', () => {
  it('fails with one line when its port is taken, and leaves the secrets to the next start', async () => {
    const data = folder()
    const { port, free } = await takenPort()
    const env = { PORT: String(port), DATA_DIR: join(data, 'data') }
    const failed = server(env)
    expect(await failed.ended).toBe(1)
    expect(failed.printed.err).toBe(
      `The server cannot listen on 127.0.0.1:${port}: the port is in use. Stop the process that uses it, or set PORT to a free port.\n`,
    )
    await free()
    const { child, printed } = server(env)
    await started(child, printed)
    const [key = ''] = /csk_[A-Za-z0-9_-]+/.exec(printed.out) ?? []
    const answer = await fetch(`http://127.0.0.1:${port}/v1/sessions`, { headers: { authorization: `Bearer ${key}` } })
    expect(answer.status).toBe(200)
  })

  it('on the data of a running or paused server is refused on any port, leaves it running, and a kill leaves no lock', async () => {
    const data = folder()
    const env = { PORT: String(await freePort()), DATA_DIR: data }
    const first = server(env)
    await started(first.child, first.printed)
    expect(await server(env).ended, 'on its port too').toBe(1)
    expect(first.child.exitCode).toBeNull()
    for (const signal of ['SIGSTOP', 'SIGCONT'] as const) {
      first.child.kill(signal)
      const second = server({ PORT: '0', DATA_DIR: data })
      expect(await second.ended).toBe(1)
      expect(second.printed.err).toBe(
        `Another process uses ${join(data, 'troupe.db')}. Stop that server or tool first, or set DATA_DIR to another folder.\n`,
      )
      expect(second.printed.out).toBe('')
    }
    expect((await fetch(`http://127.0.0.1:${env.PORT}/readyz`)).status).toBe(200)
    first.child.kill('SIGKILL')
    await first.ended
    const next = server(env)
    await started(next.child, next.printed)
  })

  it.for([
    ['a full disk', '/dev/full', 'ENOSPC'],
    ['a pipe that is closed', null, 'EPIPE'],
  ] as const)(
    'whose output is %s reports its secrets as lost, and the next one shows new ones that work',
    async ([, path, code]) => {
      const env = { PORT: String(await freePort()), DATA_DIR: folder() }
      const failed = path === null ? server(env) : server(env, openSync(path, 'w'))
      failed.child.stdout?.destroy()
      expect(await failed.ended).toBe(1)
      expect(failed.printed.err).toBe(
        `The secrets of the first start cannot be written to the standard output (${code}). ` +
          'Start again with an output that takes them, or set BOOTSTRAP_SECRET_KEY and BOOTSTRAP_OWNER_PASSWORD.\n',
      )
      const { child, printed } = server(env)
      await started(child, printed)
      const [key = ''] = /csk_[A-Za-z0-9_-]+/.exec(printed.out) ?? []
      const headers = { authorization: `Bearer ${key}` }
      expect((await fetch(`http://127.0.0.1:${env.PORT}/v1/sessions`, { headers })).status).toBe(200)
    },
  )

  it('warns of an environment variable whose name is close to a known one, continues, and drains and exits with code 0 on the SIGHUP of a terminal that is closed', async () => {
    const { child, printed, ended } = server({ PORT: '0', DATA_DIR: folder(), MONGODB_URI: 'mongodb://127.0.0.1:9' })
    await started(child, printed)
    const lines = printed.out.split('\n').filter((line) => line.includes('MONGODB_URI'))
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 40, name: 'MONGODB_URI', meant: 'MONGODB_URL' },
    ])
    expect(printed.out).not.toContain('mongodb://')
    child.kill('SIGHUP')
    expect(await ended).toBe(0)
    expect(printed.out).toContain('shutting down')
  })

  it('accepts an empty UWS_HTTP_MAX_HEADERS_SIZE, as compose files set it, and drains and exits with code 0 on Ctrl-C', async () => {
    const { child, printed, ended } = server({ PORT: '0', DATA_DIR: folder(), UWS_HTTP_MAX_HEADERS_SIZE: '' })
    await started(child, printed)
    const [, url = ''] = /"url":"([^"]+)"/.exec(printed.out) ?? []
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    child.kill('SIGINT')
    expect(await ended).toBe(0)
    expect(printed.out).toContain('shutting down')
  })

  it('fails without a stack trace when EMBEDDER_PATH has no model', async () => {
    const data = folder()
    const failed = server({ PORT: '0', DATA_DIR: data, EMBEDDER_PATH: data })
    expect(await failed.ended).toBe(1)
    expect(failed.printed.err).toBe(
      `The configuration is invalid:\n  EMBEDDER_PATH must be the folder of a sentence model (no model.onnx in ${data})\n`,
    )
  })

  it('without the runtime of the packaged embedder finds memories by words, and says so once', async () => {
    const args = ['--import', withoutRuntime, ...nodeOptions, 'src/start.js']
    const { child, printed } = run(process.execPath, args, { PORT: '0', DATA_DIR: folder() })
    await started(child, printed)
    const [, url = ''] = /"url":"([^"]+)"/.exec(printed.out) ?? []
    const [key = ''] = /csk_[A-Za-z0-9_-]+/.exec(printed.out) ?? []
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const post = async (path: string, body: object) =>
      (await fetch(`${url}/v1/memory/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).json()
    await post('write', { userId: 'ada', content: 'I keep bees', wait: true })
    const found = await post('search', { userId: 'ada', query: 'bees', threshold: 0 })
    expect(found).toMatchObject({ embedder: null, results: [{ content: 'I keep bees' }] })
    const lines = printed.out.split('\n').filter((line) => line.includes('sentence model'))
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 40, reason: 'the package onnxruntime-node is not installed' },
    ])
  })

  it('without a native HTTP server that can be loaded serves with node:http, and says so once', async () => {
    const args = ['--import', withoutNativeServer, ...nodeOptions, 'src/start.js']
    const { child, printed } = run(process.execPath, args, { PORT: '0', DATA_DIR: folder() })
    await started(child, printed)
    const [, url = ''] = /"url":"([^"]+)"/.exec(printed.out) ?? []
    const [key = ''] = /csk_[A-Za-z0-9_-]+/.exec(printed.out) ?? []
    const answer = await fetch(`${url}/v1/sessions`, { headers: { authorization: `Bearer ${key}` } })
    expect(answer.status).toBe(200)
    // a header of node:http alone
    expect(answer.headers.get('keep-alive')).toMatch(/^timeout=/)
    const lines = printed.out.split('\n').filter((line) => line.includes('node:http'))
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 40, msg: 'uwebsockets not available, using node:http', reason: expect.stringContaining('libc.so.6') },
    ])
  })

  it.for([
    [
      'folder that this user may not write to',
      '.',
      0o500,
      /^DATA_DIR (\S+) cannot be used: .+ give it the folder, or name another one\.\n$/,
    ],
    [
      'master key that this user may not read',
      'master.key',
      0o000,
      /^(\S+) cannot be read by this user: make this user its owner \(chown\)\.\n$/,
    ],
  ] as const)('on a %s ends with one sentence that says what to do', async ([, name, mode, says]) => {
    const data = folder()
    const path = join(data, name)
    if (name !== '.') writeFileSync(path, '')
    chmodSync(path, mode)
    const failed = serverOfUser({ PORT: '0', DATA_DIR: data })
    expect(await failed.ended).toBe(1)
    expect(failed.printed.err).toMatch(says)
    expect(says.exec(failed.printed.err)?.[1]).toBe(path)
    expect(failed.printed.out).toBe('')
  })

  it('by npm drains and ends on the SIGTERM that npm receives', async () => {
    const { child, printed, ended } = run('npm', ['start'], { PORT: '0', DATA_DIR: folder() })
    await started(child, printed)
    const [, url = ''] = /"url":"([^"]+)"/.exec(printed.out) ?? []
    child.kill('SIGTERM')
    await ended
    expect(printed.out).toContain('shutting down')
    await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed')
  })
})

/** Hashes of the non-empty files of a folder by their names, without the store's shared memory. */
const contentOf = (path: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(path)
      .filter((name) => !name.endsWith('-shm'))
      .map((name) => [name, readFileSync(join(path, name))] as const)
      .filter(([, bytes]) => bytes.length > 0)
      .map(([name, bytes]) => [name, createHash('sha256').update(bytes).digest('hex')]),
  )

const overwritten = (file: Buffer, start: number, end: number): Buffer =>
  Buffer.concat([file.subarray(0, start), randomBytes(end - start), file.subarray(end)])

const pageBytes = 4096

describe('a start on a store that cannot be used', () => {
  const data = mkdtempSync(join(tmpdir(), 'troupe-start-'))
  const path = join(data, 'troupe.db')
  const key = `csk_${randomBytes(32).toString('base64url')}`
  let env: Readonly<Record<string, string>> = {}
  let good = Buffer.alloc(0)
  beforeAll(async () => {
    env = { PORT: String(await freePort()), DATA_DIR: data, BOOTSTRAP_SECRET_KEY: key }
    const first = spawned(env)
    await started(first.child, first.printed)
    first.child.kill('SIGTERM')
    expect(await first.ended).toBe(0)
    good = readFileSync(path)
  })
  afterAll(() => rmSync(data, { recursive: true, force: true }))

  it.for([
    ['is another file', 'is not a database', (file: Buffer) => randomBytes(file.length)],
    ['is damaged in its first page', 'is damaged', (file: Buffer) => overwritten(file, 100, pageBytes)],
    ['was cut off', 'is damaged', (file: Buffer) => file.subarray(0, 3 * pageBytes)],
  ] as const)('whose file %s fails with one line and changes no file', async ([, says, damaged]) => {
    writeFileSync(path, damaged(good))
    const before = contentOf(data)
    const failed = server(env)
    expect(await failed.ended).toBe(1)
    expect(failed.printed.err).toContain(`${path} ${says}`)
    expect(failed.printed.err).toContain('Restore a backup, or set DATA_DIR.')
    expect(failed.printed.err.trim().split('\n')).toHaveLength(1)
    expect(failed.printed.out).toBe('')
    expect(contentOf(data)).toEqual(before)
  })

  it('succeeds once the file is restored', async () => {
    writeFileSync(path, good)
    const again = server(env)
    await started(again.child, again.printed)
    const headers = { authorization: `Bearer ${key}` }
    expect((await fetch(`http://127.0.0.1:${env.PORT}/v1/sessions`, { headers })).status).toBe(200)
  })

  it('that is a MongoDB which stays unreachable for MONGODB_START_WAIT_S fails with one line without the password, and creates nothing', async () => {
    const data = join(folder(), 'data')
    const env = { PORT: String(await freePort()), DATA_DIR: data }
    const away = `127.0.0.1:${await freePort()}`
    const failed = server({
      ...{ ...env, MONGODB_START_WAIT_S: '1' },
      MONGODB_URL: `mongodb://ada:hidden-word@${away}/troupe`,
    })
    expect(await failed.ended).toBe(1)
    expect(failed.printed.err).toContain(`MongoDB at mongodb://${away}/troupe does not respond`)
    expect(failed.printed.err).toContain('Is it running, and is MONGODB_URL right?')
    expect(failed.printed.err.trim().split('\n')).toHaveLength(1)
    expect(failed.printed.err + failed.printed.out).not.toContain('hidden-word')
    expect(readdirSync(data)).toEqual([])

    const { child, printed } = server(env)
    await started(child, printed)
    expect(printed.out, 'it is the first start still').toMatch(/secret key {7}csk_/)
  })

  it('waits for a MongoDB that is away or hangs: alive, not ready, refusing requests, with one line every few seconds', {
    timeout: 120_000,
  }, async () => {
    const port = await freePort()
    const dataPort = await freePort()
    const url = `http://127.0.0.1:${port}`
    const env = { PORT: String(port), DATA_DIR: folder(), MONGODB_URL: `mongodb://127.0.0.1:${dataPort}/late` }
    const { child, printed, ended } = server(env)
    const waits = () => printed.out.split('\n').filter((line) => line.includes('waiting for the store'))
    await vi.waitFor(() => expect(waits()).toHaveLength(1), patience)
    const reason = 'the store does not respond'
    const notReady = async () => {
      expect((await fetch(`${url}/healthz`)).status).toBe(200)
      const ready = await fetch(`${url}/readyz`)
      expect([ready.status, await ready.json()]).toEqual([503, { status: 'starting', reason }])
      const refused = await fetch(`${url}/v1/sessions`)
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
      expect(await refused.json()).toMatchObject({ error: { code: 'store_unavailable' } })
    }
    await notReady()
    // a server that accepts connections and says nothing
    const sockets = new Set<Socket>()
    const hanging = createServer((socket) => sockets.add(socket)).listen(dataPort, '127.0.0.1')
    await once(hanging, 'listening')
    await vi.waitFor(() => expect(waits().length).toBeGreaterThan(2), { ...patience, timeout: 60_000 })
    expect(sockets.size, 'it has tried').toBeGreaterThan(0)
    await notReady()
    const times = waits().map((line) => JSON.parse(line).time)
    expect(times[2] - times[1], 'between two lines').toBeGreaterThan(3_000)
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => hanging.close(resolve))
    expect(child.exitCode).toBeNull()
    const mongod = await startService(mongodSpec(null), dataPort)
    onTestFinished(() => mongod.stop())
    await started(child, printed)
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    expect((await fetch(`${url}/v1/sessions`)).status).toBe(401)
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })

  it('that waits for MongoDB ends at once with SIGTERM', async () => {
    const env = { PORT: '0', DATA_DIR: folder(), MONGODB_URL: `mongodb://127.0.0.1:${await freePort()}/late` }
    const { child, printed, ended } = server(env)
    await vi.waitFor(() => expect(printed.out).toContain('waiting for the store'), patience)
    const from = performance.now()
    child.kill('SIGTERM')
    await ended
    expect(performance.now() - from).toBeLessThan(10_000)
  })
})
