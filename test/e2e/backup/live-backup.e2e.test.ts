import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Api } from '../api.ts'
import { openHosted } from '../hosted/hosted-server.ts'
import { runTool } from '../hosted/operator-tool.ts'

const secretKey = `csk_${'b'.repeat(43)}`

const serve = async (folder: string): Promise<Api> => {
  const server = await openHosted({ DATA_DIR: folder, BOOTSTRAP_SECRET_KEY: secretKey })
  onTestFinished(() => server.stop())
  return new Api(server.url, { authorization: `Bearer ${secretKey}` })
}

const backUp = async (folder: string, out: string): Promise<number | null> =>
  (await runTool('backup', ['--out', out], { DATA_DIR: folder })).code

it('a backup of a busy server has every write acknowledged before it, and a server starts on it', async () => {
  const root = mkdtempSync(join(tmpdir(), 'troupe-backup-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const api = await serve(join(root, 'data'))
  const before = await Promise.all(Array.from({ length: 20 }, () => api.createSession()))
  const busy = { on: true, made: 0 }
  const writing = (async () => {
    while (busy.on) {
      await api.createSession()
      busy.made++
    }
  })()
  expect(await backUp(join(root, 'data'), join(root, 'copy'))).toBe(0)
  busy.on = false
  await writing
  expect(busy.made, 'the server went on meanwhile').toBeGreaterThan(0)
  expect(statSync(join(root, 'copy/troupe.db')).mode & 0o777).toBe(0o600)
  expect(await backUp(join(root, 'data'), join(root, 'copy')), 'a copy is never written over').toBe(1)

  const restored = await serve(join(root, 'copy'))
  for (const id of before) expect((await restored.get(`/v1/sessions/${id}`)).status).toBe(200)
  const turn = await restored.turn(before[0] ?? '', { input: 'hello' })
  expect((await turn.all()).at(-1)?.event).toBe('turn.completed')
})
