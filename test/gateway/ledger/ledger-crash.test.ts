import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { callSegments, requestLog, segmentScope } from '#gateway/ledger/kinds.ts'
import { usageRows } from '#gateway/ledger/usage-rows.ts'
import { systemClock } from '#runtime/clock.ts'
import { projectScope } from '#storage/scope.ts'
import { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'
import { fromKeptSources } from '#test/start/from-kept-sources.ts'
import { openLedger, project } from './calls.ts'

const folder = mkdtempSync(join(tmpdir(), 'troupe-ledger-'))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('a process that is killed while it records calls', () => {
  it('leaves every flushed call exactly once in the embedded store', async () => {
    const path = join(folder, 'troupe.db')
    const script = new URL('./recorder.ts', import.meta.url).pathname
    const child = spawn(process.execPath, [...fromKeptSources, script, path], { stdio: ['ignore', 'pipe', 'inherit'] })
    let text = ''
    for await (const part of child.stdout.setEncoding('utf8')) {
      text += String(part)
      if (text.split('\n').length > 40) child.kill('SIGKILL')
    }
    if (child.signalCode === null) await once(child, 'exit')
    // The last complete line: the number of flushed calls.
    const flushed = Number(text.split('\n').at(-2))
    const storage = await openSqliteStorage({ path })
    const { ledger } = await openLedger(storage, systemClock)
    const ids = async (kind: typeof usageRows | typeof requestLog) => {
      const rows = await ledger.records.list(kind, projectScope(project), { limit: 1_000_000 })
      return rows.map(({ data }) => String(data.request_id))
    }
    const usage = await ids(usageRows)
    expect(new Set(usage).size).toBe(usage.length)
    expect(usage.length).toBeGreaterThanOrEqual(flushed)
    expect((await ids(requestLog)).sort()).toEqual(usage.sort())
    await ledger.records.count(usageRows, projectScope(project))
    expect(await storage.records.list(callSegments, segmentScope, { limit: 1 })).toEqual([])
    expect((await ids(usageRows)).sort()).toEqual(usage)
    await ledger.stop()
    await storage.close()
  }, 180_000)
})
