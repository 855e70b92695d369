import { expect, it } from 'vitest'
import { batchEffects } from '#gateway/batches/batch-effects.ts'
import { CancelledBatches } from '#gateway/batches/cancelled-batches.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import { effectContextOf } from '#test/support/effect-context-of.ts'
import { openServices } from '#test/support/open-services.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

it('a line is called once, however long its outcome cannot be stored', async () => {
  const clock = new VirtualClock()
  const { storage } = await openServices({ clock })
  const { blobs } = storage
  const line = { custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body: {} }
  let calls = 0
  const effects = batchEffects({
    ...{ storage, clock, cancelled: new CancelledBatches(undefined) },
    files: () => ({
      find: async () => ({
        purpose: 'batch',
        tenant: null,
        content: async function* () {
          yield Buffer.from(JSON.stringify(line))
        },
      }),
      keep: async () => {},
      make: async () => {},
      remove: async () => {},
    }),
    call: async () => {
      calls++
      return '{}'
    },
  })
  const caller = { scope: { project: 'prj_a', tenant: null, user: null } }
  const state = { endpoint: '/v1/chat/completions', caller, chunks: [0], cancelling_at_ms: null, input_file_id: 'f' }
  const context = effectContextOf('bat_1', state)
  await effects['batch.validateBatch']?.run({}, context)
  const { put } = blobs
  blobs.put = () => Promise.reject(new StoreUnavailable('away'))
  const run = effects['batch.runLine']?.run({ line: 0 }, context)
  run?.catch(() => {})
  await clock.advance(60_000)
  blobs.put = put
  await clock.advance(5_000)
  expect(await run).toMatchObject({ event: { type: 'line_done', ok: true } })
  expect(calls).toBe(1)
})
