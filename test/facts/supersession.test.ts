import { describe, expect, it } from 'vitest'
import type { Fact } from '#facts/fact.ts'
import { asOf, closed, current, supersedes, timeline } from '#facts/supersession.ts'

const fact = (object: string, validFrom: number, more: Partial<Fact> = {}): Fact => ({
  subject: 'user',
  relation: 'lives_in',
  object,
  single: true,
  ended: false,
  validFrom,
  validTo: null,
  observedAt: validFrom,
  text: object,
  ...more,
})

describe('the supersession of facts', () => {
  const rome = fact('Rome', 10)
  const oslo = fact('Oslo', 20)

  it.each([
    ['another value later', oslo, rome, true],
    ['the same value later', fact('rome', 20), rome, false],
    ['a value with more detail', fact('Rome, Italy', 20), rome, false],
    ['an earlier time that is reported later', fact('Oslo', 5, { observedAt: 30 }), rome, false],
    ['another subject', { ...oslo, subject: 'Anna' }, rome, false],
    ['another relation', { ...oslo, relation: 'works_at' }, rome, false],
    [
      'several values',
      { ...oslo, relation: 'likes', single: false },
      { ...rome, relation: 'likes', single: false },
      false,
    ],
    ['the end of a value', fact('Rome', 20, { ended: true }), rome, true],
    ['the end of another value', fact('Paris', 20, { ended: true }), rome, false],
    ['the end of every value', fact('', 20, { ended: true }), rome, true],
    ['the same time, reported later', fact('Oslo', 10, { observedAt: 11 }), rome, true],
  ] as const)('is decided for %s', (_, newer, older, expected) => {
    expect(supersedes(newer, older)).toBe(expected)
    expect(closed(older, newer).validTo).toBe(expected ? newer.validFrom : null)
  })

  it('closes each of a hundred contradicting facts and keeps all of them', () => {
    const facts = Array.from({ length: 100 }, (_, at) => fact(`City ${at}`, at))
    expect(timeline(facts).map(({ validTo }) => validTo)).toEqual([
      ...Array.from({ length: 99 }, (_, at) => at + 1),
      null,
    ])
    expect(current(facts).map(({ object }) => object)).toEqual(['City 99'])
    expect(
      facts.every(
        ({ validFrom }) =>
          asOf(facts, validFrom + 0.5)
            .map(({ object }) => object)
            .join() === `City ${validFrom}`,
      ),
    ).toBe(true)
  })

  it('ends an earlier fact where the later one begins, in any order of statements', () => {
    const late = fact('Paris', 5, { observedAt: 30 })
    expect(timeline([rome, oslo, late]).map(({ object, validTo }) => `${object} ${validTo}`)).toEqual([
      'Paris 10',
      'Rome 20',
      'Oslo null',
    ])
  })

  it('keeps the first start of a value that is stated again', () => {
    expect(timeline([rome, fact('Rome', 15)])).toEqual([rome])
  })
})
