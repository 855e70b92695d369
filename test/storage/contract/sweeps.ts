import { expect, it } from 'vitest'
import type { Commit, CommitKey, OpenCommit } from '#storage/ports.ts'
import type { Subject } from '../contract.ts'
import { commitOf } from '../samples.ts'

const openOf = ({ actor, seq, shard, epoch, at }: Commit): OpenCommit => ({ actor, seq, shard, epoch, at })

const keys = (commits: readonly CommitKey[]): string[] => commits.map(({ actor, seq }) => `${actor}/${seq}`)

/** Contract of sweeps of open and due commits, and of settling them. Each test uses its own shards. */
export const sweepContract = ({ store, fresh }: Subject): void => {
  const seed = async (
    shards: readonly number[],
    change: (i: number) => Partial<Commit>,
  ): Promise<readonly Commit[]> => {
    const commits = shards.map((shard, i) => commitOf(fresh('ses'), 1, { shard, ...change(i) }))
    await store().commits.append(commits)
    return commits
  }

  it('finds open commits of the given shards, by shard and then oldest first, up to the limit', async () => {
    const [a, b, c, d] = (await seed([20, 21, 22, 20], (i) => ({ open: true, at: 300 - i * 50 }))).map(openOf)
    await seed([20, 21], () => ({ open: false }))
    expect(await store().commits.open({ limit: 10, shards: [21, 20] })).toStrictEqual([d, a, b])
    expect(await store().commits.open({ limit: 1, shards: [20, 21, 22] })).toEqual([d])
    expect(await store().commits.open({ limit: 10, shards: [22] })).toEqual([c])
    expect(await store().commits.open({ limit: 10, shards: [23] })).toEqual([])
    expect(await store().commits.open({ limit: 10, shards: [] })).toEqual([])
  })

  it('finds open commits of one actor and one millisecond in sequence order', async () => {
    const actor = fresh('ses')
    const commits = [11, 2, 9].map((seq) => commitOf(actor, seq, { shard: 26, open: true, at: 5 }))
    await store().commits.append(commits)
    expect((await store().commits.open({ limit: 10, shards: [26, 27] })).map(({ seq }) => seq)).toEqual([2, 9, 11])
  })

  it('continues with open commits at the position of a given commit, inclusive', async () => {
    const seeded = await seed([27, 27, 28, 27], (i) => ({ open: true, at: [5, 6, 1, 6][i] ?? 0 }))
    const pageFrom = async (at: number | undefined, limit: number) => {
      const from = at === undefined ? undefined : seeded[at]
      const page = await store().commits.open({ limit, shards: [27, 28], ...(from && { from }) })
      return page.map(({ actor }) => seeded.findIndex((each) => each.actor === actor))
    }
    expect((await pageFrom(undefined, 10)).toSorted()).toEqual([0, 1, 2, 3])
    expect((await pageFrom(1, 10)).toSorted()).toEqual([1, 2, 3])
    expect((await pageFrom(1, 2)).toSorted()).toEqual([1, 3])
    expect(await pageFrom(2, 10)).toEqual([2])
  })

  it('finds only open commits that are old enough', async () => {
    const seeded = await seed([29, 29, 32], (i) => ({ open: true, at: [5, 6, 4][i] ?? 0 }))
    const found = async (look: { readonly until: number; readonly from?: Commit }) => {
      const page = await store().commits.open({ limit: 10, shards: [29, 32], ...look })
      return page.map(({ actor }) => seeded.findIndex((each) => each.actor === actor))
    }
    expect(await found({ until: 6 })).toEqual([0, 1, 2])
    expect(await found({ until: 5 })).toEqual([0, 2])
    expect(await found({ until: 3 })).toEqual([])
    const [, second] = seeded
    if (second === undefined) throw new Error('not seeded')
    expect(await found({ until: 6, from: second })).toEqual([1, 2])
  })

  it('finds open commits of all shards if none is given', async () => {
    const seeded = await seed([24, 0, 255], () => ({ open: true, at: 1 }))
    expect(keys(await store().commits.open({ limit: 10_000 }))).toEqual(expect.arrayContaining([...keys(seeded)]))
  })

  it('finds due commits up to the given time, earliest first, up to the limit', async () => {
    const [late, early, never] = await seed([30, 31, 30], (i) => ({ due: [2_000, 1_000, null][i] ?? null }))
    expect(await store().commits.due({ now: 2_000, limit: 10, shards: [30, 31] })).toEqual([early, late])
    expect(await store().commits.due({ now: 1_999, limit: 10, shards: [30, 31] })).toEqual([early])
    expect(await store().commits.due({ now: 9_000, limit: 1, shards: [30, 31] })).toEqual([early])
    expect(keys(await store().commits.due({ now: 9_000, limit: 10_000 }))).toEqual(
      expect.arrayContaining(keys([early, late].flatMap((x) => x ?? []))),
    )
    expect(keys(await store().commits.due({ now: 9_000, limit: 10_000 }))).not.toContain(`${never?.actor}/1`)
    expect(await store().commits.due({ now: 9_000, limit: 10, shards: [] })).toEqual([])
    expect(await store().commits.due({ now: 9_000, from: 1_001, limit: 10, shards: [30, 31] })).toEqual([late])
    expect(await store().commits.due({ now: 9_000, from: 1_000, limit: 10, shards: [30, 31] })).toEqual([early, late])
  })

  it('excludes settled commits from the sweeps and keeps their other fields', async () => {
    const [both, opened, untouched] = await seed([40, 40, 40], (i) => ({ open: true, due: 100 + i, at: i }))
    if (!both || !opened || !untouched) throw new Error('not seeded')
    await store().commits.settle({ close: [both, opened], undue: [both], retire: [] })
    expect(await store().commits.open({ limit: 10, shards: [40] })).toEqual([openOf(untouched)])
    expect(await store().commits.due({ now: 1_000, limit: 10, shards: [40] })).toEqual([
      { ...opened, open: false },
      untouched,
    ])
    expect(await store().commits.at(both.actor, 1)).toEqual({ ...both, open: false, due: null })
  })

  it('excludes a retired commit from both sweeps and removes its snapshot', async () => {
    const [commit, other] = await seed([41, 41], () => ({ open: true, due: 1 }))
    if (!commit || !other) throw new Error('not seeded')
    await store().commits.settle({ close: [other], undue: [other], retire: [commit] })
    const { snapshot: _, ...stripped } = commit
    expect(await store().commits.open({ limit: 10, shards: [41] })).toEqual([])
    expect(await store().commits.due({ now: 1, limit: 10, shards: [41] })).toEqual([])
    expect(await store().commits.at(commit.actor, 1)).toStrictEqual({ ...stripped, open: false, due: null })
    expect(await store().commits.at(other.actor, 1)).toStrictEqual({ ...other, open: false, due: null })
  })

  it('settles commits repeatedly, and unknown commits, without harm', async () => {
    const [commit] = await seed([42], () => ({ open: true }))
    if (!commit) throw new Error('not seeded')
    const work = { close: [commit, { actor: fresh('ses'), seq: 9 }], undue: [commit], retire: [] }
    await Promise.all([store().commits.settle(work), store().commits.settle(work)])
    expect(await store().commits.open({ limit: 10, shards: [42] })).toEqual([])
    expect(await store().commits.at(commit.actor, 1)).toEqual({ ...commit, open: false })
  })

  it('excludes the commits of a forgotten actor', async () => {
    const [commit] = await seed([43], () => ({ open: true, due: 1 }))
    await store().commits.forget(commit?.actor ?? '')
    expect(await store().commits.open({ limit: 10, shards: [43] })).toEqual([])
    expect(await store().commits.due({ now: 1, limit: 10, shards: [43] })).toEqual([])
  })
}
