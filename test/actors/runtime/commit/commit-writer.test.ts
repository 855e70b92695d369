import { beforeEach, describe, expect, it } from 'vitest'
import { type Written, writeCommit } from '#runtime/commit/commit-writer.ts'
import { type Commit, StoreUnavailable } from '#storage/ports.ts'
import { commitOf } from '#test/storage/samples.ts'
import { FaultyStorage } from '#test/support/faulty-storage.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

let faulty: FaultyStorage
let clock: VirtualClock

beforeEach(() => {
  faulty = new FaultyStorage(openMemoryStorage())
  clock = new VirtualClock()
})

type Outcome = Written | StoreUnavailable

const write = (commit: Commit): Promise<Outcome> =>
  writeCommit(faulty.storage.commits, commit, { clock }).catch((error: unknown) => {
    if (error instanceof StoreUnavailable) return error
    throw error
  })

const mine = commitOf('prb_1', 1)
const stored = (): Promise<Commit | null> => faulty.inner.commits.at('prb_1', 1)

it('is done with one write if no write fails', async () => {
  expect(await write(mine)).toBe('done')
  expect(faulty.appended).toHaveLength(1)
})

it('reports that another process was faster, or that the cause was processed before', async () => {
  await faulty.inner.commits.append([commitOf('prb_1', 1, { cause: 'theirs' })])
  expect(await write(mine)).toBe('overtaken')
  expect(await write(commitOf('prb_1', 2, { cause: 'theirs' }))).toBe('duplicate')
})

describe('when the answer is lost', () => {
  it('finds its commit and does not write it again', async () => {
    faulty.next('answer_lost')
    expect(await write(mine)).toBe('done')
    expect(faulty.appended).toHaveLength(1)
  })

  it('writes a commit again that was not stored', async () => {
    faulty.next('refused')
    expect(await write(mine)).toBe('done')
    expect((await stored())?.nonce).toBe(mine.nonce)
  })

  it('continues until an answer comes, however often it is lost', async () => {
    faulty.next('refused', 'refused', 'answer_lost')
    const written = write(mine)
    await clock.advance(1000)
    expect(await written).toBe('done')
  })

  it('recognizes its first write if that is stored just before its second', async () => {
    faulty.next('late')
    faulty.hold(() => (faulty.appended.length === 1 ? faulty.release().then(() => undefined) : undefined))
    expect(await write(mine)).toBe('done')
    expect(faulty.appended).toHaveLength(2)
  })

  it('does not mistake the commit of another host for its own', async () => {
    faulty.next('refused')
    faulty.hold(async () => {
      if (faulty.appended.length === 1) return
      await faulty.inner.commits.append([commitOf('prb_1', 1, { cause: 'theirs' })])
    })
    expect(await write(mine)).toBe('overtaken')
  })

  it('reports a duplicate if the cause was committed at another position', async () => {
    await faulty.inner.commits.append([commitOf('prb_1', 1, { cause: 'theirs' })])
    faulty.next('refused')
    expect(await write(commitOf('prb_1', 2, { cause: 'theirs' }))).toBe('duplicate')
  })
})

describe('while the store is away', () => {
  it('gives up within a second and reports an unknown outcome', async () => {
    faulty.away = true
    const written = write(mine)
    await clock.advance(250)
    expect(await Promise.race([written, 'waiting'])).toBe('waiting')
    await clock.advance(700)
    expect(await written).toBeInstanceOf(StoreUnavailable)
    expect(await stored()).toBeNull()
  })

  it('succeeds if the store comes back in time', async () => {
    faulty.away = true
    const written = write(mine)
    await clock.advance(200)
    faulty.away = false
    await clock.advance(500)
    expect(await written).toBe('done')
  })

  it('does not report success for a commit that it cannot read back', async () => {
    faulty.next('answer_lost')
    faulty.unreadable = true
    const written = write(mine)
    await clock.advance(4000)
    expect(await written).toBeInstanceOf(StoreUnavailable)
  })
})
