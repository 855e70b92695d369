import { defaultThreshold } from '#retrieval/passage-query.ts'
import { mean } from '../recall/measures.ts'
import type { Row } from '../row.ts'
import { type Embedding, MemoryScope, type SearchResult } from './memory-scope.ts'
import { Scopes, sizes } from './scopes.ts'
import type { Question, Sets } from './sets.ts'

/** Default number of memories that a request gets. */
const topK = 5

interface Outcome {
  readonly size: number
  readonly kind: string
  readonly style: string
  readonly language: string
  readonly isAnswerable: boolean
  readonly hasRightHit: boolean
  readonly passing: readonly boolean[]
  readonly first: boolean
  readonly five: boolean
  readonly firstByCosine: boolean
  readonly fiveByCosine: boolean
}

/** Searches with every question in scopes of every size and returns the rows of one engine. */
export async function measured(sets: Sets, embedding: Embedding | null, largest: number): Promise<readonly Row[]> {
  const scopes = new Scopes(sets, largest)
  const outcomes: Outcome[] = []
  for (const size of sizes.filter((each) => each <= largest)) {
    let [kept, opened]: [unknown, MemoryScope | null] = [null, null]
    for (const question of [...sets.questions, ...sets.strangers]) {
      const { memories } = scopes.of(question, size)
      if (kept !== memories) [kept, opened] = [memories, await MemoryScope.of(memories, embedding)]
      const result = await opened?.search(question.text, topK)
      if (result !== undefined) outcomes.push(outcomeOf(sets, question, { size, result }))
    }
  }
  return rowsOf(outcomes, embedding === null ? 'words' : 'vectors')
}

function outcomeOf(
  { people }: Sets,
  { user, kind, answers }: Question,
  { size, result: { hits, byCosine } }: { readonly size: number; readonly result: SearchResult },
): Outcome {
  const person = people.find((each) => each.user === user)
  const passing = hits.filter(({ score }) => score >= defaultThreshold).map(({ id }) => answers.includes(id))
  const isAmong = (ids: readonly string[], count: number): boolean =>
    ids.slice(0, count).some((id) => answers.includes(id))
  const ids = hits.map(({ id }) => id)
  // a question that the embedder does not read is found by its words only, also by plain cosines
  const cosines = byCosine.length === 0 ? [] : byCosine
  return {
    ...{ size, kind, passing, style: person?.style ?? '', language: person?.language ?? '' },
    ...{ isAnswerable: answers.length > 0, hasRightHit: passing.includes(true) },
    ...{ first: isAmong(ids, 1), five: isAmong(ids, topK) },
    ...{ firstByCosine: isAmong(cosines, 1), fiveByCosine: isAmong(cosines, topK) },
  }
}

type Measure = (one: Outcome) => number

function rowsOf(outcomes: readonly Outcome[], engine: 'words' | 'vectors'): readonly Row[] {
  const present = sizes.filter((size) => outcomes.some((each) => each.size === size))
  const main = engine === 'vectors' ? ['paraphrase', 'stem'] : ['stem']
  const isMain = (one: Outcome): boolean => one.isAnswerable && main.includes(one.kind)
  return present.flatMap((size) => {
    const here = outcomes.filter((one) => one.size === size)
    const answerable = here.filter(isMain)
    return [
      ...unlessEmpty(answerable).map((some) =>
        row(`${engine} ${size}: right hit`, shareOf(some, hit), { atLeast: engine === 'vectors' ? 0.85 : 0.6 }),
      ),
      ...split(answerable, ({ kind }) => kind).map(([kind, some]) =>
        row(`${engine} ${size}: right hit, ${kind}`, shareOf(some, hit)),
      ),
      ...kindsOf(here, 'statement').map((some) => row(`${engine} ${size}: right hit, statement`, shareOf(some, hit))),
      ...kindsOf(here, 'never_said').map((some) =>
        row(`${engine} ${size}: never said, any hit`, shareOf(some, any), { atMost: 0.05 }),
      ),
      ...kindsOf(here, 'near').map((some) => row(`${engine} ${size}: near, any hit`, shareOf(some, any))),
      ...unlessEmpty(answerable).map((some) =>
        row(`${engine} ${size}: precision`, precisionOf(some), { atLeast: 0.5 }),
      ),
      ...(engine === 'vectors' && size > 1
        ? rankingRows(
            size,
            here.filter((one) => one.isAnswerable),
          )
        : []),
      ...detailRows(engine, size, answerable),
    ]
  })
}

const hit: Measure = ({ hasRightHit }) => Number(hasRightHit)
const any: Measure = ({ passing }) => Number(passing.length > 0)
const shareOf = (some: readonly Outcome[], measure: Measure): number => mean(some.map(measure))
const precisionOf = (some: readonly Outcome[]): number => mean(some.flatMap(({ passing }) => passing.map(Number)))

const kindsOf = (here: readonly Outcome[], kind: string): readonly (readonly Outcome[])[] => {
  return unlessEmpty(here.filter((one) => one.kind === kind))
}

/** A set without questions of a kind has no figure for it. */
const unlessEmpty = (some: readonly Outcome[]): readonly (readonly Outcome[])[] => (some.length === 0 ? [] : [some])

const split = (some: readonly Outcome[], by: (one: Outcome) => string): readonly (readonly [string, Outcome[]])[] =>
  [...Map.groupBy(some, by)].toSorted(([a], [b]) => a.localeCompare(b))

/** Ranks beside those by the plain cosines of the same vectors, in all and by style. */
function rankingRows(size: number, here: readonly Outcome[]): readonly Row[] {
  const groups: readonly (readonly [string, readonly Outcome[]])[] = [
    ['', here],
    ...split(here, ({ style }) => `, ${style}`),
  ]
  return groups.flatMap(([name, some]) => [
    ranked(
      `vectors ${size}: R@1${name}`,
      shareOf(some, (one) => Number(one.first)),
      shareOf(some, (one) => Number(one.firstByCosine)),
    ),
    ...(size > topK
      ? [
          ranked(
            `vectors ${size}: R@5${name}`,
            shareOf(some, (one) => Number(one.five)),
            shareOf(some, (one) => Number(one.fiveByCosine)),
          ),
        ]
      : []),
  ])
}

const detailRows = (engine: string, size: number, answerable: readonly Outcome[]): readonly Row[] =>
  [({ style }: Outcome) => style, ({ language }: Outcome) => language].flatMap((by) =>
    split(answerable, by).map(([name, some]) => row(`${engine} ${size}: right hit, ${name}`, shareOf(some, hit))),
  )

const row = (measure: string, ours: number, bound?: { readonly atLeast?: number; readonly atMost?: number }): Row => ({
  ...{ measure, unit: '', ours },
  ...(bound !== undefined && { bound: { of: 'ours', ...bound } }),
})

const ranked = (measure: string, ours: number, cosine: number): Row => ({
  ...{ measure, unit: '', ours, against: { name: 'plain cosine', value: cosine } },
  bound: { of: 'ratio', atLeast: 1 },
})
