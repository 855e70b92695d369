import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { bootstrap } from '#actors/accounts/bootstrap.ts'
import { openAuth } from '#actors/accounts/open-auth.ts'
import { activeInstallations } from '#actors/agents/active-installations.ts'
import { agentReaches } from '#actors/agents/agent-reaches.ts'
import { kinds } from '#actors/capabilities.ts'
import { keysOf } from '#records/sealing/server-keys.ts'
import { checkConfiguration } from '#scripts/doctor/configuration.ts'
import { checkDataFolder } from '#scripts/doctor/data-checks.ts'
import { checkEmbedder } from '#scripts/doctor/embedder-check.ts'
import { examine, reportOf } from '#scripts/doctor/examination.ts'
import type { Finding } from '#scripts/doctor/finding.ts'
import { skewFound } from '#scripts/doctor/mongo-check.ts'
import { checkPort } from '#scripts/doctor/network-checks.ts'
import { checkChromium, checkNode, checkUws } from '#scripts/doctor/process-checks.ts'
import { openSecretBox } from '#storage/secrets.ts'
import { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'

let folder = ''
const servers: Server[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-doctor-'))
})
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((closed) => server.close(closed))
  rmSync(folder, { recursive: true })
})

const listening = async (server: Server): Promise<number> => {
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port }: AddressInfo = Object(server.address())
  return port
}

/** Creates an installation with the master key `key`. */
const install = async (key: number): Promise<void> => {
  const storage = openSqliteStorage({ path: join(folder, 'troupe.db') })
  const { records } = storage
  await records.prepare(kinds)
  const masterKey = Buffer.alloc(32, key)
  const auth = openAuth({
    records,
    reachOfAgent: agentReaches({ records, now: Date.now }),
    activeInstallations: activeInstallations({ records, now: Date.now }),
    keys: keysOf({ masterKey }),
    box: openSecretBox({ masterKey }),
    now: Date.now,
  })
  const given = { secretKey: null, ownerEmail: null, ownerPassword: null }
  await bootstrap({ records, ...auth, given, now: Date.now })
  await storage.close()
}

const env = (more: Readonly<Record<string, string>> = {}) => ({
  DATA_DIR: folder,
  PORT: '0',
  EMBEDDER: 'none',
  ...more,
})
/** Addresses at which nothing listens. */
const nowhere = { MONGODB_URL: 'mongodb://127.0.0.1:1/', REDIS_URL: 'redis://127.0.0.1:1' }
const examined = async (more: Readonly<Record<string, string>> = {}) => examine(env(more))
const named = (findings: readonly Finding[], name: string) => findings.filter((each) => each.name === name)
const keyText = (key: number): string => Buffer.alloc(32, key).toString('base64')

it('shows how much space the disk of the data folder has left', () => {
  expect(checkDataFolder({ dataDir: folder }).says).toMatch(/with \d+\.\d GB left$|has \d\.\d GB left$/)
})

describe('a valid environment', () => {
  it('has no failed check and is not changed', async () => {
    const findings = await examined()
    expect(findings.filter(({ status }) => status === 'failed')).toEqual([])
    expect(readdirSync(folder)).toEqual([])
  })

  it('is accepted with a store and its key', async () => {
    await install(1)
    writeFileSync(join(folder, 'master.key'), `${keyText(1)}\n`, { mode: 0o600 })
    const findings = await examined()
    expect(named(findings, 'master key')).toEqual([expect.objectContaining({ status: 'ok' })])
    expect(named(findings, 'sqlite')).toEqual([expect.objectContaining({ status: 'ok' })])
  })
})

describe('the doctor finds that', () => {
  it.each([
    ['PORT is not a number', { PORT: 'abc' }, 'configuration', 'PORT must be a port number'],
    ['MASTER_KEY is too short', { MASTER_KEY: 'c2hvcnQ=' }, 'configuration', 'MASTER_KEY must be 32 bytes'],
    [
      'CHROMIUM_PATH names no existing file',
      { CHROMIUM_PATH: '/none' },
      'chromium',
      'CHROMIUM_PATH is not a file: /none',
    ],
    ['Redis cannot be reached', nowhere, 'redis', '127.0.0.1:1: connect ECONNREFUSED'],
    [
      'REDIS_URL is set without MONGODB_URL',
      { REDIS_URL: 'redis://127.0.0.1:1' },
      'configuration',
      'REDIS_URL requires MONGODB_URL',
    ],
    [
      'a provider cannot be reached',
      { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' },
      'openai',
      '127.0.0.1:1 cannot be reached',
    ],
    [
      'no provider has a key and the simulated provider is off',
      { SIMULATED_PROVIDER: 'off' },
      'providers',
      'no provider has a key, and SIMULATED_PROVIDER is off',
    ],
    ['MongoDB cannot be reached', { MONGODB_URL: 'mongodb://u:pw@127.0.0.1:1/' }, 'mongodb', 'does not answer'],
  ])('%s', async (_, more, name, says) => {
    const [finding] = named(await examined(more), name)
    expect(finding).toMatchObject({ status: 'failed', says: expect.stringContaining(says) })
    expect(finding?.advice).toBeTruthy()
  })

  it('several variables are invalid, each of them, and continues with the other checks', async () => {
    const findings = await examined({ PORT: 'abc', LOG_LEVEL: 'loud', ...nowhere })
    expect(named(findings, 'configuration').map(({ says }) => says.split(' ')[0])).toEqual(['PORT', 'LOG_LEVEL'])
    expect(named(findings, 'redis')).toHaveLength(1)
  })

  it('TRUSTED_PROXIES is missing behind a public URL', async () => {
    const env = { PUBLIC_URL: 'https://agents.example' }
    expect(checkConfiguration(env).findings).toContainEqual(
      expect.objectContaining({
        name: 'proxies',
        status: 'warning',
        advice: expect.stringContaining('TRUSTED_PROXIES'),
      }),
    )
    for (const known of [{ ...env, TRUSTED_PROXIES: '1' }, { PUBLIC_URL: 'http://127.0.0.1:8080' }, {}])
      expect(named(checkConfiguration(known).findings, 'proxies')).toEqual([])
  })

  it('the data folder is a file or cannot be created', async () => {
    const path = join(folder, 'file')
    writeFileSync(path, '')
    for (const dataDir of [path, join(path, 'inside')]) {
      const [finding] = named(await examined({ DATA_DIR: dataDir }), 'data folder')
      expect(finding).toMatchObject({ status: 'failed' })
    }
  })

  it('the SQLite file is not a database', async () => {
    writeFileSync(join(folder, 'troupe.db'), 'this is no database, it only has its name'.repeat(100))
    expect(named(await examined(), 'sqlite')).toEqual([expect.objectContaining({ status: 'failed' })])
  })

  it('the master key is readable by others or invalid', async () => {
    const path = join(folder, 'master.key')
    writeFileSync(path, keyText(1))
    chmodSync(path, 0o644)
    expect(named(await examined(), 'master key')).toEqual([
      expect.objectContaining({ status: 'failed', says: expect.stringContaining('chmod 600') }),
    ])
    writeFileSync(path, 'short')
    chmodSync(path, 0o600)
    expect(named(await examined(), 'master key')[0]?.says).toContain('does not hold 32 bytes')
  })

  it('the store was created with another master key, or the key file is missing', async () => {
    await install(1)
    const missing = { status: 'failed', says: expect.stringContaining('is missing, but the store was created with it') }
    expect(named(await examined(), 'master key')).toEqual([expect.objectContaining(missing)])
    const other = { status: 'failed', says: 'the store was created with another key' }
    expect(named(await examined({ MASTER_KEY: keyText(2) }), 'master key')).toEqual([expect.objectContaining(other)])
    expect(named(await examined({ MASTER_KEY: keyText(1) }), 'master key')[0]?.status).toBe('ok')
  })

  it('another program listens on the port, or its address is not local', async () => {
    const port = await listening(createHttpServer((_, response) => response.end('hello')))
    expect(await checkPort({ host: '127.0.0.1', port })).toMatchObject({ status: 'failed' })
    const ours = await listening(createHttpServer((_, response) => response.end('{"status":"ok"}')))
    expect(await checkPort({ host: '127.0.0.1', port: ours })).toMatchObject({ status: 'ok' })
    expect(await checkPort({ host: '192.0.2.1', port: 8080 })).toMatchObject({ status: 'failed' })
  })

  it('Node is too old, the native server does not load, or no browser is found', () => {
    expect(checkNode('20.19.0')).toMatchObject({ status: 'failed' })
    expect(checkNode('22.17.9')).toMatchObject({ status: 'failed' })
    expect(checkNode('22.18.0')).toMatchObject({ status: 'ok' })
    expect(checkNode('23.0.0')).toMatchObject({ status: 'ok' })
    const load = () => {
      throw new Error('GLIBC_2.38 not found')
    }
    expect(checkUws(load)).toMatchObject({ status: 'warning', says: expect.stringContaining('GLIBC_2.38') })
    expect(checkChromium({ chromiumPath: null }, () => null)).toMatchObject({ status: 'warning' })
  })

  it('the model of the embedder cannot be opened', async () => {
    expect(await checkEmbedder({ embedder: 'local', embedderPath: folder })).toMatchObject({
      ...{ status: 'warning', says: expect.stringContaining('no model.onnx in') },
    })
    const local = { embedder: 'local', embedderPath: null }
    expect(await checkEmbedder(local)).toMatchObject({ status: 'ok', says: expect.stringContaining('384 numbers') })
    expect(await checkEmbedder({ ...local, embedder: 'none' })).toMatchObject({ status: 'ok', says: 'EMBEDDER=none' })
  })

  it('the clock differs from MongoDB’s by more than the duration of the request', () => {
    const at = (ms: number) => skewFound({ localTime: new Date(ms) }, 100_000, 104_000)
    expect(at(102_000)).toMatchObject({ status: 'ok' })
    expect(at(99_500)).toMatchObject({ status: 'ok' })
    expect(at(98_000)).toMatchObject({ status: 'warning', says: '2000 ms ahead of MongoDB’s' })
    expect(at(107_000)).toMatchObject({ status: 'warning', says: '3000 ms behind MongoDB’s' })
  })
})

it('the doctor prints one line per check, with the advice below it', () => {
  const lines = reportOf([
    { name: 'node', status: 'ok', says: 'version 22' },
    { name: 'port', status: 'failed', says: 'in use', advice: 'Set PORT.' },
  ])
  expect(lines).toEqual([
    'ok       node  version 22',
    'FAILED   port  in use',
    '               → Set PORT.',
    '1 ok, 0 warnings, 1 failed',
  ])
})

it('the doctor exits with 1 if a check failed and 0 otherwise, and shows no secret', () => {
  mkdirSync(join(folder, 'data'))
  const run = (more: Readonly<Record<string, string>>) =>
    spawnSync(
      process.execPath,
      [
        ...['--disable-warning=ExperimentalWarning', '--import', resolve('src/start/kept-sources.js')],
        resolve('scripts/doctor.ts'),
      ],
      { env: { PATH: process.env.PATH, ...env(more) }, encoding: 'utf8' },
    )
  const secrets = { MASTER_KEY: keyText(9), OPENAI_API_KEY: 'sk-verysecret', REDIS_URL: 'redis://u:p4ss@127.0.0.1:1' }
  const broken = run({ ...secrets, OPENAI_BASE_URL: 'http://127.0.0.1:1', MONGODB_URL: 'mongodb://u:p4ss@127.0.0.1:1' })
  expect(broken.status).toBe(1)
  expect(broken.stdout).toMatch(/FAILED {3}mongodb[\s\S]*FAILED {3}redis[\s\S]*FAILED {3}openai/)
  for (const secret of ['p4ss', 'sk-verysecret', keyText(9)])
    expect(broken.stdout + broken.stderr).not.toContain(secret)
  expect(run({}).status).toBe(0)
})
