import { describe, expect, it } from 'vitest'
import { initialTransition } from 'xstate'
import { after, outcomeOf, pathOf } from '../outcome.ts'
import {
  advances,
  cancels,
  deletion,
  ends,
  fails,
  fills,
  machine,
  pauses,
  resumes,
  retention,
  walk,
} from './web-crawl-samples.ts'

const crawl = (...events: Parameters<typeof after>[2][]) =>
  after(machine, initialTransition(machine, walk.input)[0], ...events)

describe('a crawl', () => {
  it.each([
    ['crawling', []],
    ['crawling', [advances]],
    ['completed', [advances, fills]],
    ['completed', [ends]],
    ['waiting', [pauses]],
    ['crawling', [pauses, resumes]],
    ['cancelled', [pauses, cancels]],
    ['failed', [fails]],
    ['cancelled', [advances, cancels]],
    ['erasing', [ends, retention('completed')]],
    ['erasing', [fails, retention('failed')]],
    ['erasing', [cancels, retention('cancelled')]],
    ['erasing', [advances, deletion]],
  ] as const)('is %s after %j', (state, events) => {
    expect(pathOf(crawl(...events).value)).toBe(state)
  })

  it('keeps the results of each batch, and no waiting pages once it has ended', () => {
    expect(crawl(advances).context.progress).toMatchObject({ pages: [{ depth: 1 }], waiting: [{ depth: 1 }] })
    for (const end of [fills, cancels]) expect(crawl(advances, end).context.progress.waiting).toEqual([])
    expect(crawl(advances, fills).context.ended_at_ms).toBe(6)
  })

  it('waits until the first postponed page may be requested', () => {
    expect(crawl(pauses).context.wait_ms).toBe(3_000)
  })

  it('ignores a batch, a cancellation or a failure once it has ended', () => {
    for (const late of [advances, cancels, fails]) expect(outcomeOf(machine, crawl(ends), late)).toBe('ignored')
  })
})
