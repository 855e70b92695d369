import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { amends } from '#retrieval/analysis/amendments.ts'
import { analysisOf, english } from '#retrieval/analysis/analysis.ts'
import { statementKindOf } from '#retrieval/analysis/statement-kind.ts'
import { runsByDay } from '#test/setup/at-night.ts'

const phrases = [
  ...['now', 'no longer', 'any more', 'anymore', 'instead', 'from now on', 'these days', 'recently', 'lately'],
  ...['actually', 'correction', 're-schedule', 'reschedule', 're-scheduled', 'rescheduled', 'postponed', 'delayed'],
  ...['update', 'updated', 'upgraded', 'adjusted', 'revised', 'amended', 'changed', 'switched', 'replaced', 'moved'],
  ...['shifted', 'extended', 'shortened', 'increase', 'increased', 'raised', 'decrease', 'decreased', 'reduced'],
  ...['lowered', 'dropped', 'cut down', 'improved', 'grown', 'pushed back', 'pushed forward', 'pushed to'],
  ...['brought forward', 'turns out', 'up from', 'down from', 'new', 'I prefer', 'we really like to', 'I love to'],
  ...['I would rather', "I'd avoid", 'I hate', "I can't stand", 'my preference', 'my favorite', 'my favourite'],
  ...[
    'rather than',
    'Always do it when I ask',
    'Never if we say so',
    'please, whenever I want',
    "don't every time I mention",
  ],
  ...['remember, each time we discuss', 'only any time I talk', 'make sure anytime I send', 'If I request, include'],
]
const around = ['', ' ', '_', '-', '.', 'é', 'x', '1', '①', '’', 'the cello', 'near', 'a b', 'K', '\n', 'ＮＯＷ']

const text = fc
  .array(fc.constantFrom(...phrases, ...around, ...around, ...around), { maxLength: 6 })
  .chain((parts) => fc.constantFrom(...['', ' ', '-', '_'].map((between) => parts.join(between))))

describe('a text without a marker word', () => {
  it('is neither an amendment nor a stance', () => {
    fc.assert(
      fc.property(text, (each) => {
        if (!analysisOf(each, english).isMarked) expect([amends(each), statementKindOf(each)]).toEqual([false, null])
      }),
      { numRuns: runsByDay(5_000) },
    )
  })

  it.each(phrases)('does not contain "%s"', (phrase) => {
    const isFound = amends(phrase) || statementKindOf(phrase) !== null
    expect([isFound, analysisOf(phrase, english).isMarked]).toEqual([true, true])
  })

  it('is shorter than the analysed length', () => {
    expect(analysisOf(`${'x '.repeat(20_000)}`, english).isMarked).toBe(true)
    expect(analysisOf('The cello is red', english).isMarked).toBe(false)
  })
})
