import { afterAll, beforeAll, describe } from 'vitest'
import type { Storage } from '#storage/ports.ts'
import { appendContract } from './contract/append.ts'
import { blobContract } from './contract/blobs.ts'
import { listContract } from './contract/lists.ts'
import { mergeContract } from './contract/merges.ts'
import { outboxContract } from './contract/outboxes.ts'
import { projectionContract } from './contract/projections.ts'
import { readContract } from './contract/reads.ts'
import { recordContract } from './contract/records.ts'
import { removalContract } from './contract/removals.ts'
import { scopeContract } from './contract/scopes.ts'
import { sweepContract } from './contract/sweeps.ts'
import { badges, gadgets, letters, parcels, widgets } from './samples.ts'

/** Opens an empty store whose clock is `now` (ms since the epoch). */
export type OpenStorage = (now: () => number) => Storage | Promise<Storage>

/** The kinds of the contract's records. */
export const contractKinds = [widgets, badges, gadgets, letters, parcels] as const

/** Parts of the contract that a store may lack; all are required unless set to false. */
export interface Capabilities {
  /** `CommitStore.merge`, for compaction. */
  readonly merges?: boolean
  /** `openOutboxes` and `closeOutbox`, for records that carry messages. */
  readonly outboxes?: boolean
  /** `project`, for list rows. */
  readonly projections?: boolean
  /** An id that another project uses is refused, as one database can check it, but not several shards. */
  readonly foreignIds?: boolean
  /** `clear`, `left` and `actorsOf`, for the deletion of owners. */
  readonly removals?: boolean
}

/** Environment of the parts of the contract; every test uses its own ids, so one store serves them all. */
export interface Subject {
  readonly store: () => Storage
  /** An id that no other test uses. */
  readonly fresh: (prefix: string) => string
  /** Sets the store's clock to this time (ms since the epoch). */
  readonly setNow: (now: number) => void
}

/** The guarantees of `src/storage/ports.ts`, to be run on every adapter. `has` names the parts that it lacks. */
export const storageContract = (name: string, open: OpenStorage, has: Capabilities = {}): void => {
  describe(`${name} storage`, () => {
    let opened: Storage | undefined
    let ids = 0
    let now = 10_000
    const store = (): Storage => {
      if (!opened) throw new Error('the store is not open')
      return opened
    }
    beforeAll(async () => {
      opened = await open(() => now)
      await opened.records.prepare(contractKinds)
    })
    afterAll(() => opened?.close())
    const subject: Subject = {
      store,
      fresh: (prefix) => `${prefix}_${String(++ids).padStart(4, '0')}`,
      setNow: (time) => {
        now = time
      },
    }
    describe('append', () => appendContract(subject))
    describe('reads', () => readContract(subject))
    describe('sweeps', () => sweepContract(subject))
    describe.skipIf(has.merges === false)('merges', () => mergeContract(subject))
    describe('records', () => recordContract(subject, has))
    describe('lists', () => listContract(subject))
    describe('scopes', () => scopeContract(subject))
    describe.skipIf(has.outboxes === false)('outboxes', () => outboxContract(subject))
    describe.skipIf(has.projections === false)('projections', () => projectionContract(subject))
    describe.skipIf(has.removals === false)('removals', () => removalContract(subject))
    describe('blobs', () => blobContract(subject))
  })
}
