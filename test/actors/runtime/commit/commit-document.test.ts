import { expect, it } from 'vitest'
import { restoreBlobs } from '#runtime/blobs/blob-fields.ts'
import {
  CommitTooLarge,
  commitOf,
  compacted,
  maxBlobBytes,
  maxCommitLength,
  maxPendingLength,
  maxSnapshotLength,
} from '#runtime/commit/commit-document.ts'
import { firstStep } from '#runtime/step/step.ts'
import type { BlobStore, Commit, Json, JsonObject, Reminder } from '#storage/ports.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { owner } from '../probe.ts'
import { probeDefinition } from '../probe-machine.ts'

const commit = (change: Partial<Commit> = {}, reminders: Readonly<Record<string, Reminder>> = {}): Commit => {
  const event = { type: 'create' }
  const step = firstStep(probeDefinition, {}, { actor: 'prb_1', event, at: 5 })
  if (step.kind !== 'next') throw new Error('the probe starts')
  const facts = { actor: 'prb_1', shard: 7, epoch: 3, at: 5, owner, cause: 'made', event }
  return { ...commitOf(probeDefinition, { ...step.draft, reminders }, facts), ...change }
}

const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value))

const sizeOf = (value: unknown): number => JSON.stringify(value).length

/** Blobs that record the order in which they were put. */
const watched = (): { blobs: BlobStore; put: string[] } => {
  const put: string[] = []
  const { blobs } = openMemoryStorage()
  return {
    blobs: {
      ...blobs,
      put: (project, hash, content) => {
        put.push(hash)
        return blobs.put(project, hash, content)
      },
    },
    put,
  }
}

it('contains the state after the step and the owner of the actor', () => {
  expect(commit()).toMatchObject({
    actor: 'prb_1',
    seq: 1,
    shard: 7,
    epoch: 3,
    at: 5,
    project: 'prj_1',
    tenant: 'ten_1',
    machine: 'probe@1',
    cause: 'made',
    open: true,
    due: null,
    snapshot: { value: 'idle', context: { count: 0 }, user: 'usr_1', created_at: 1, text_from: 0 },
  })
})

it('is due when its earliest reminder is due', () => {
  const at = (due: number): Reminder => ({ due, event: { type: 'wake' }, n: 1 })
  expect(commit({}, { late: at(90), early: at(10), middle: at(50) }).due).toBe(10)
})

it('has a new nonce for every write', () => {
  const nonces = Array.from({ length: 1000 }, () => commit().nonce)
  expect(new Set(nonces).size).toBe(1000)
})

it('is the same object if no value in it is long', () => {
  const small = commit()
  expect(compacted(small, watched().blobs)).toBe(small)
})

it('has its long values stored before it can be written', async () => {
  const { blobs, put } = watched()
  const payload: JsonObject = { input_text: 'x'.repeat(200_000) }
  const small = await compacted(commit({ events: [{ sequence: 1, event_type: 'said', payload }] }), blobs)
  expect(put).toHaveLength(1)
  expect(await blobs.get('prj_1', put[0] ?? '')).toBe(payload.input_text)
  expect(small.events).toEqual([{ sequence: 1, event_type: 'said', payload: { input_text: { $blob: put[0] } } }])
})

it('stays small if its event, log, messages or snapshot are long', async () => {
  const long = 'y'.repeat(100_000)
  const big = commit({
    event: { type: 'turn', text: long },
    events: [{ sequence: 1, event_type: 'said', payload: { inner: [{ text: long }] } }],
    messages: [{ id: 'm', to: 'prb_2', event: { type: 'keep', text: long } }],
    snapshot: { value: 'idle', context: { blob: 'z'.repeat(5000) } },
  })
  const small = await compacted(big, watched().blobs)
  expect(sizeOf(small)).toBeLessThan(2000)
  expect(sizeOf(small.snapshot)).toBeLessThan(300)
})

it('is not written if a long value cannot be stored', async () => {
  const blobs: BlobStore = {
    put: async () => Promise.reject(new Error('away')),
    get: async () => null,
    bytes: async () => null,
    hashes: async () => [],
    remove: async () => {},
  }
  const big = commit({ event: { type: 'turn', text: 'y'.repeat(100_000) } })
  await expect(async () => compacted(big, blobs)).rejects.toThrow('away')
})

it('is at most 256 KB long with a snapshot of at most 32 KB, however many fields make it long', async () => {
  const calls = Array.from({ length: 128 }, (_, index) => ({ id: `act_${index}`, arguments: 'a'.repeat(4000) }))
  const fields = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`field_${index}`, 'f'.repeat(4000)]))
  const big = commit({
    events: calls.map((payload, index) => ({ sequence: index + 1, event_type: 'tool_call.started', payload })),
    snapshot: { value: 'idle', context: { calls, ...fields } },
  })
  const { blobs } = watched()
  const small = await compacted(big, blobs)
  expect(sizeOf(small)).toBeLessThan(maxCommitLength + maxSnapshotLength)
  expect(sizeOf(small.snapshot)).toBeLessThan(maxSnapshotLength)
  const back = await Promise.all(
    [small.events, small.snapshot ?? null].map((each) => restoreBlobs(asJson(each), blobs, 'prj_1')),
  )
  expect(back).toEqual([big.events, big.snapshot])
})

it('is refused without a write if a field is longer than a store accepts', () => {
  const snapshot: JsonObject = { value: 'idle', context: { blob: 'ö'.repeat(maxBlobBytes / 2 + 1) } }
  expect(() => compacted(commit({ snapshot }), watched().blobs)).toThrow(CommitTooLarge)
})

it('refuses the step with which effects in flight or reminders exceed what every later commit can repeat', () => {
  const { blobs } = openMemoryStorage()
  const effect = { id: 'prb_1:1:0', name: 'work', params: { text: 'x'.repeat(60_000) }, policy: 'idempotent' } as const
  const flights = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`prb_1:1:${n}`, effect] as const))
  const count = Math.ceil(maxPendingLength / 60_000)
  expect(() => compacted(commit({ effects: [effect], in_flight: flights(count) }), blobs)).toThrow(CommitTooLarge)
  expect(() => compacted(commit({ effects: [effect], in_flight: flights(count - 1) }), blobs)).not.toThrow()
  // a step that adds none, such as that of a result, is never refused for them
  expect(() => compacted(commit({ in_flight: flights(count) }), blobs)).not.toThrow()
  const late = { due: 9, n: 1, event: { type: 'late', text: 'x'.repeat(maxPendingLength) } }
  expect(() => compacted(commit({}, { late }), blobs)).toThrow(CommitTooLarge)
})
