import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, expect, it } from 'vitest'
import { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'
import { fromKeptSources } from '#test/start/from-kept-sources.ts'

const folder = mkdtempSync(join(tmpdir(), 'troupe-crash-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('SQLite keeps every acknowledged commit of a process that is killed while it writes', async () => {
  const path = join(folder, 'crash.db')
  const writer = join(import.meta.dirname, 'sqlite-writer.ts')
  const child = spawn(process.execPath, [...fromKeptSources, writer, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const acknowledged: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    acknowledged.push(line)
    if (acknowledged.length === 500) child.kill('SIGKILL')
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  expect(acknowledged.length).toBeGreaterThanOrEqual(500)
  const store = openSqliteStorage({ path })
  for (const line of acknowledged) {
    const [actor = '', seq] = line.split('/')
    expect((await store.commits.at(actor, Number(seq)))?.cause).toBe(`cause:${seq}`)
  }
  await store.close()
})
