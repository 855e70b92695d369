import { describe, expect, it } from 'vitest'
import { type Fact, user } from '#facts/fact.ts'
import { factsOf } from '#facts/facts-of.ts'
import { sameValue } from '#facts/names.ts'
import { asOf, current } from '#facts/supersession.ts'
import { atOnce } from '#src/concurrency/run-in-slices.ts'
import { type MadeUpRelation, severalValued, singleValued } from './made-up.ts'

const day = 86_400_000
const start = Date.UTC(2026, 0, 5)
const said = (text: string, observedAt: number): readonly Fact[] =>
  atOnce(factsOf(text, { observedAt, speaker: 'user' }))
const fill = (phrase: string, value: string): string => phrase.replace('{}', value)
const share = (results: readonly boolean[]): number => results.filter(Boolean).length / results.length

/** Every change from one value to another; `phrase` states the newer value. */
const changes = ({ relation, values, same }: MadeUpRelation, phrases: readonly string[]) =>
  phrases.flatMap((phrase) =>
    values.slice(1).map((newer, at) => {
      const older = values[at] ?? ''
      const facts = [...said(fill(same, older), start), ...said(fill(phrase, newer), start + 100 * day)]
      return { relation, older, newer, facts, phrase }
    }),
  )

const holds = (facts: readonly Fact[], relation: string, value: string): boolean =>
  facts.some((fact) => fact.subject === user && fact.relation === relation && sameValue(fact.object, value))

const isUpdated = ({ relation, older, newer, facts }: ReturnType<typeof changes>[number]): boolean =>
  holds(current(facts), relation, newer) && !holds(current(facts), relation, older)

describe('made-up facts extracted without a model', () => {
  it('have the newer value of a single-valued relation when both statements use the same words', () => {
    const results = singleValued.flatMap((each) => changes(each, [each.same]))
    expect(results.filter((each) => !isUpdated(each)).map(({ relation, newer }) => `${relation} ${newer}`)).toEqual([])
    expect(singleValued.length).toBeGreaterThanOrEqual(14)
  })

  it('have the newer value in at least 75% of other phrasings, and a stale value in at most 10%', () => {
    const results = singleValued.flatMap((each) => changes(each, each.others))
    const missed = results.filter((each) => !isUpdated(each))
    if (process.env.SHOW === '1')
      console.log(share(results.map(isUpdated)), [
        ...new Set(missed.map(({ relation, phrase }) => `${relation}: ${phrase}`)),
      ])
    expect(share(results.map(isUpdated))).toBeGreaterThanOrEqual(0.75)
    const stale = results.filter(
      ({ facts, relation, older, newer }) =>
        holds(current(facts), relation, newer) && holds(current(facts), relation, older),
    )
    expect(stale.length / results.length).toBeLessThanOrEqual(0.1)
  })

  it('have the older value as of a time before the change and the newer one after it', () => {
    const results = singleValued
      .flatMap((each) => changes(each, [each.same]))
      .flatMap(({ facts, relation, older, newer }) => [
        holds(asOf(facts, start + 50 * day), relation, older) && !holds(asOf(facts, start + 50 * day), relation, newer),
        holds(asOf(facts, start + 150 * day), relation, newer) &&
          !holds(asOf(facts, start + 150 * day), relation, older),
        !holds(asOf(facts, start - day), relation, older),
      ])
    expect(share(results)).toBeGreaterThanOrEqual(0.98)
  })

  it('keep every value of a relation with several values', () => {
    const kept = severalValued.flatMap(({ relation, values, same }) => {
      const facts = values.flatMap((value, at) => said(fill(same, value), start + at * day))
      return values.map((value) => holds(current(facts), relation, value))
    })
    expect(share(kept)).toBeGreaterThanOrEqual(0.98)
  })

  it('include at least 75% of the values of relations with several values in other phrasings', () => {
    const results = severalValued.flatMap(({ relation, values, others }) =>
      others.flatMap((phrase) =>
        values.map((value) => ({
          phrase,
          relation,
          found: holds(current(said(fill(phrase, value), start)), relation, value),
        })),
      ),
    )
    const missed = results.filter(({ found }) => !found)
    if (process.env.SHOW === '1')
      console.log(share(results.map(({ found }) => found)), [
        ...new Set(missed.map(({ relation, phrase }) => `${relation}: ${phrase}`)),
      ])
    expect(share(results.map(({ found }) => found))).toBeGreaterThanOrEqual(0.75)
  })
})
