import { describe, expect, it } from 'vitest'
import { PageIndex } from '#retrieval/pages/page-index.ts'
import { PageSegment } from '#retrieval/pages/page-segment.ts'
import { PageSegmentWriter } from '#retrieval/pages/page-segment-writer.ts'
import type { SegmentBytes } from '#retrieval/segments/document-segment.ts'
import { findableRow } from '#src/actors/web/store/findable-row.ts'
import { madePage, queries, urlOf } from '#test/actors/web/store/made-pages.ts'
import { cpuMs } from '#test/support/cpu-ms.ts'

const page = (n: number, version = 1) => {
  const data = { ...madePage(n, version), url_key: urlOf(n), first_seen_at: 1, changed_at: 1 }
  const row = { id: `wpg_${n}`, project: 'prj_a', tenant: null, user: null, version, expires_at: null, data }
  return findableRow({ ...row, created_at: 1, updated_at: 1 })
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n)

/** Runs a generator to its end; `held` is the longest CPU time between two of its yields in ms. */
const run = <T>(steps: Generator<void, T, void>): { readonly value: T; readonly held: number } => {
  let held = 0
  for (;;) {
    const from = cpuMs()
    const { done, value } = steps.next()
    held = Math.max(held, cpuMs() - from)
    if (done === true) return { value, held }
  }
}

const segmentOf = (pages: readonly ReturnType<typeof page>[]): SegmentBytes => {
  const writer = new PageSegmentWriter()
  for (const each of pages) writer.add(each, () => 'en')
  return run(writer.finished()).value
}

const found = async (index: PageIndex) => {
  const all = []
  for (const query of queries) all.push((await index.search(query)).map(({ page: { id }, ...hit }) => ({ id, ...hit })))
  return all
}

describe('a segment of pages', () => {
  const pages = range(0, 400).map((n) => page(n))
  const whole = segmentOf(pages)

  it('that is read where it lies finds what an index finds to which each page was added, also after changes', async () => {
    const [stored, added] = [new PageIndex(), new PageIndex()]
    stored.attach(whole)
    for (const each of pages) added.add(each)
    expect(await found(stored)).toEqual(await found(added))
    for (const index of [stored, added]) {
      for (const n of range(20, 70)) index.remove(`wpg_${n}`)
      for (const n of range(100, 150)) index.add(page(n, 2))
    }
    expect(await found(stored)).toEqual(await found(added))
    expect(stored.size).toBe(350)
    expect(stored.bytes).toBeLessThan(added.bytes)
  })

  it('is the same when it is merged of others, without what they removed or replaced', async () => {
    const parts = [pages.slice(0, 150), pages.slice(150), range(10, 40).map((n) => page(n, 2))].map(segmentOf)
    const writer = new PageSegmentWriter()
    const isReplaced = (id: string, version: number) =>
      version === 1 && Number(id.slice(4)) >= 10 && Number(id.slice(4)) < 40
    for (const part of parts) {
      const segment = new PageSegment(part)
      const isKept = (at: number) => !isReplaced(segment.ids[at] ?? '', segment.versions[at] ?? 0)
      run(writer.copy(segment, isKept))
    }
    const merged = new PageIndex()
    merged.attach(run(writer.finished()).value)
    const added = new PageIndex()
    for (const n of [...range(0, 10), ...range(40, 400)]) added.add(page(n))
    for (const n of range(10, 40)) added.add(page(n, 2))
    expect(await found(merged)).toEqual(await found(added))
  })

  it('brings back no page that was removed, in whatever order segments are read', () => {
    const removal = new PageSegmentWriter()
    removal.written.removals.push(['wpg_7', 1])
    const index = new PageIndex()
    index.attach(run(removal.finished()).value)
    index.attach(whole)
    index.attach(segmentOf([page(7, 3), page(8, 3)]))
    index.attach(whole)
    expect([index.size, index.versionOf('wpg_7'), index.versionOf('wpg_8')]).toEqual([399, -1, 3])
  })

  it('is loaded for a twentieth of the work of analysing its pages', () => {
    const long = pages.map((each) => ({ ...each, text: each.text.repeat(6) }))
    const from = cpuMs()
    segmentOf(long)
    const analysed = cpuMs() - from
    const before = cpuMs()
    new PageIndex().attach(whole)
    expect(cpuMs() - before).toBeLessThan(analysed / 20)
  })
})
