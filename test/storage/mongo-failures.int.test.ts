import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startMongod } from '#scripts/services/mongod.ts'
import type { Service } from '#scripts/services/service.ts'
import { openMongoStorage } from '#storage/mongo/open-mongo-storage.ts'
import { type AppendOutcome, type Commit, type Storage, StoreUnavailable } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { openPatientMongo } from './mongo-patience.ts'
import { commitOf, recordOf, widgets } from './samples.ts'

describe('a store whose mongod fails', () => {
  let mongod: Service
  /** Opened with the options of a server. */
  let store: Storage
  /** Opened with long patience, to prepare and verify data. */
  let patient: Storage
  const scope = projectScope('prj_1')

  beforeAll(async () => {
    mongod = await startMongod()
    patient = await openPatientMongo({ url: mongod.url, database: 'failures' })
    await patient.records.prepare([widgets])
    store = await vi.waitFor(() => openMongoStorage({ url: mongod.url, database: 'failures' }), { timeout: 60_000 })
  })
  afterAll(async () => {
    await Promise.all([store.close(), patient.close()])
    await mongod.stop()
  })

  /**
   * Appends from 16 concurrent writers, calls `begun` after the first hundred, and continues until an outcome is not
   * `done`.
   */
  const writeUntilTrouble = async (prefix: string, begun: () => void): Promise<Map<string, AppendOutcome>> => {
    const outcomes = new Map<string, AppendOutcome>()
    const appendUntilNotDone = async (actor: string): Promise<void> => {
      for (let seq = 1; ; seq++) {
        const [outcome = 'unknown'] = await store.commits.append([commitOf(actor, seq)])
        outcomes.set(`${actor}/${seq}`, outcome)
        if (outcomes.size === 100) begun()
        if (outcome !== 'done') return
      }
    }
    await Promise.all(
      Array.from({ length: 16 }, async (_, writer) => {
        // a paused machine interrupts writers too, but that is not the awaited interruption
        for (let again = 0; again === 0 || outcomes.size < 100; again++) {
          await appendUntilNotDone(`${prefix}_${writer}_${again}`)
        }
      }),
    )
    return outcomes
  }

  /** @returns the first commit with an unknown outcome. */
  const appendUntilHung = async (actor: string): Promise<Commit> => {
    for (let seq = 1; ; seq++) {
      const commit = commitOf(actor, seq)
      const [outcome] = await store.commits.append([commit])
      expect(['done', 'unknown']).toContain(outcome)
      if (outcome === 'unknown') return commit
    }
  }

  const appendUntilDone = async (actor: string, seq: number): Promise<void> => {
    for (;;) {
      const [outcome] = await store.commits.append([commitOf(actor, seq)])
      if (outcome !== 'unknown') return
    }
  }

  it('keeps every acknowledged commit after kill -9, and fails as unavailable within seconds', async () => {
    await patient.records.insert(widgets, recordOf('wid_before'))
    await patient.blobs.put('prj_1', 'before', 'content')
    let killed: Promise<void> | undefined
    const outcomes = await writeUntilTrouble('killed', () => {
      killed = mongod.kill9()
    })
    await killed
    const done = [...outcomes].filter(([, outcome]) => outcome === 'done')
    expect(done.length).toBeGreaterThan(50)
    expect(new Set(outcomes.values())).toEqual(new Set(['done', 'unknown']))

    const begin = performance.now()
    const answers = await Promise.allSettled([store.commits.head('killed_0_0'), store.ping()])
    expect(answers.map((answer) => answer.status === 'rejected' && answer.reason instanceof StoreUnavailable)).toEqual([
      true,
      true,
    ])
    expect(await store.commits.append([commitOf('killed_x', 1)])).toEqual(['unknown'])
    // about a second here; the driver alone would look for a server for half a minute, three times
    expect(performance.now() - begin).toBeLessThan(20_000)

    mongod = await mongod.restart()
    await appendUntilDone('killed_y', 1)
    for (const [key] of done) {
      const [actor = '', seq] = key.split('/')
      expect((await patient.commits.at(actor, Number(seq)))?.actor).toBe(actor)
    }
    expect(await patient.records.get(widgets, scope, 'wid_before')).toEqual(recordOf('wid_before'))
    expect(await patient.blobs.get('prj_1', 'before')).toBe('content')
  })

  it('keeps every acknowledged row when mongod is killed right after the write', async () => {
    const ids = Array.from({ length: 5 }, (_, batch) => Array.from({ length: 20 }, (_, at) => `wid_row_${batch}_${at}`))
    for (const batch of ids) await patient.records.project(batch.map((id) => ({ kind: widgets, record: recordOf(id) })))
    await mongod.kill9()
    mongod = await mongod.restart()
    const lost: string[] = []
    for (const id of ids.flat()) if ((await patient.records.get(widgets, scope, id)) === null) lost.push(id)
    expect(lost).toEqual([])
  })

  it('reports unknown while mongod hangs, and works again when it continues', async () => {
    process.kill(mongod.pid, 'SIGSTOP')
    try {
      // a signal takes effect with a delay: the first appends may still succeed
      const last = await appendUntilHung('hung')
      await expect(store.records.get(widgets, scope, 'wid_1')).rejects.toThrow(StoreUnavailable)
      await expect(store.records.project([{ kind: widgets, record: recordOf('wid_hung') }])).rejects.toThrow(
        StoreUnavailable,
      )
      await expect(store.commits.settle({ close: [last], undue: [], retire: [] })).rejects.toThrow(StoreUnavailable)
      process.kill(mongod.pid, 'SIGCONT')
      await appendUntilDone('hung_too', 1)
      const found = await patient.commits.at('hung', last.seq)
      expect([undefined, last.nonce]).toContain(found?.nonce)
    } finally {
      process.kill(mongod.pid, 'SIGCONT')
    }
  })
})
