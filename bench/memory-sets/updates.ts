import { startServer } from '#scripts/services/server.ts'
import { type MemoryApi, memoryApi } from '../memory-api.ts'
import { jsonIn } from '../recall/files.ts'
import { linesOf, sharesBy } from '../recall/lines.ts'
import {
  listedIn,
  newerCases,
  type UpdateCase,
  type UpdateHit,
  updateCase,
  updateHitsIn,
  writtenOneIn,
} from '../recall/schema.ts'
import type { Row } from '../row.ts'
import { modelEnv } from '../turns.ts'
import { understandingModel } from './understanding-model.ts'

const key = `csk_${'u'.repeat(40)}`

interface Outcome extends Pick<UpdateCase, 'kind' | 'language'> {
  /** The current statement is found, before every one that it updates. */
  readonly newerFirst: boolean
  /** A statement that no longer holds is among the first five. */
  readonly stale: boolean
  /** The same, and not marked as one that may be outdated. */
  readonly staleUnmarked: boolean
  /** Every statement is current and whole. */
  readonly isWhole: boolean
  /** The same of the statements beside the update. */
  readonly isWholeBeside: boolean
}

/**
 * Measures updates in other words over the API, from `updates/updates.jsonl` and `updates/independent.jsonl` of the folder of sets: what a
 * user says over time (`turns`), a question, and which turn is current. Each case is a user of its own; then all cases
 * are one user, where an update may end the statement of another case. Once by `memory.write`, without a model, and
 * once by `memory.remember` with a stand-in for a model that understands every text: its facts come from the case itself,
 * so that this measures what follows from an extraction, and no model. `newer.json` has pairs of statements of another hand (`newerCases`), which are
 * written without a model only. Vectors come from the packaged model; with EMBEDDER=none there are none.
 */
export const benchUpdates = async (sets: string | null): Promise<readonly Row[]> => {
  const updates = linesOf(sets, 'updates/updates.jsonl', updateCase)
  const independent = linesOf(sets, 'updates/independent.jsonl', updateCase)
  const pairs = newerCases(jsonIn(sets, 'newer.json'))
  if (updates.length + pairs.length === 0) return []
  const model = await understandingModel(updates)
  const server = await startServer({
    ...{ BOOTSTRAP_SECRET_KEY: key, EMBEDDER: process.env.EMBEDDER ?? 'local', ...modelEnv(model) },
  })
  try {
    const api = memoryApi(server.url, key)
    // opens the embedder, for which no question waits longer than two seconds
    await api('write', { userId: 'first', content: 'This is the first memory.', wait: true })
    const ofPairs = await inTurn(pairs, (each) => outcomeOf(api, each, written))
    const byWords = await inTurn(updates, (each) => outcomeOf(api, each, written))
    const independentOutcomes = await inTurn(independent, (each) => outcomeOf(api, each, written))
    const byModel = await inTurn(updates, (each) => outcomeOf(api, each, remembered))
    const wrong = await endedInCrowd(api, [...pairs, ...updates, ...independent])
    return [
      ...rowsOf('pairs of newer.json', ofPairs, [0.6, 0.3]),
      ...sharesBy(ofPairs, {
        measure: 'statements beside an update all current',
        by: {},
        holds: ({ isWholeBeside }) => isWholeBeside,
        bound: { of: 'ours', atLeast: 0.9 },
      }),
      ...rowsOf('without a model', byWords, [0.6, 0.3]),
      ...independentRows(independentOutcomes),
      wrong,
      ...rowsOf('a stand-in that understands', byModel, [0.9, 0.1]),
    ]
  } finally {
    await server.stop()
    await model.stop()
  }
}

const rowsOf = (how: string, cases: readonly Outcome[], [first, stale]: readonly [number, number]): readonly Row[] => {
  const by = { kind: ({ kind }: Outcome) => kind, language: ({ language }: Outcome) => language }
  return [
    ...sharesBy(cases, {
      measure: `newer first, ${how}`,
      by,
      holds: ({ newerFirst }) => newerFirst,
      bound: { of: 'ours', atLeast: first },
    }),
    ...sharesBy(cases, {
      measure: `stale in the top 5, ${how}`,
      by,
      holds: (each) => each.stale,
      bound: { of: 'ours', atMost: stale },
    }),
    ...sharesBy(cases, { measure: `stale and unmarked, ${how}`, by: {}, holds: (each) => each.staleUnmarked }),
  ]
}

const independentRows = (cases: readonly Outcome[]): readonly Row[] =>
  sharesBy(cases, {
    measure: 'independent statements both current',
    by: { language: ({ language }: Outcome) => language },
    holds: ({ isWhole }) => isWhole,
    bound: { of: 'ours', atLeast: 0.9 },
  })

type Writing = (api: MemoryApi, userId: string, turn: UpdateCase['turns'][number]) => Promise<readonly string[]>

const written: Writing = async (api, userId, { text, at }) => {
  try {
    const { id } = writtenOneIn(await api('write', { userId, content: text, observed_at: at, wait: true }))
    return [id]
  } catch (error) {
    // a content that looks like a secret is found by no search
    if (String(error).includes('memory_refused')) return []
    throw error
  }
}

const remembered: Writing = async (api, userId, { text, at }) => {
  const body = { userId, user: text, observed_at: at, extract: { model: 'gpt-4o-mini' } }
  const ids = listedIn(await api('remember', body)).map(({ id }) => id)
  // an unchanged write waits for the vectors of all that is waiting
  await api('write', { userId: `${userId} waits`, content: text, wait: true }).catch(() => null)
  return ids
}

let users = 0

async function outcomeOf(api: MemoryApi, each: UpdateCase, writing: Writing): Promise<Outcome> {
  const userId = `user${users++}`
  const ids: (readonly string[])[] = []
  for (const turn of each.turns) ids.push(await writing(api, userId, turn))
  const query = { userId, query: each.question, topK: 5, threshold: 0 }
  const hits = updateHitsIn(await api('search', query))
  const placeOf = (turn: number): number => hits.findIndex(({ id }) => ids[turn]?.includes(id))
  const current = placeOf(each.current)
  const isStale = (hit: UpdateHit | undefined): boolean => each.stale_texts.some((text) => hit?.content.includes(text))
  const staleHits = hits.filter((hit) => isStale(hit) && !ids[each.current]?.includes(hit.id))
  const older = each.stale.map(placeOf).filter((place) => place >= 0 && isStale(hits[place]))
  const memories = listedIn(await api.get(`list?userId=${userId}&limit=100`))
  const beside = ids.filter((_, turn) => turn !== each.current && !each.stale.includes(turn)).flat()
  const isCurrent = ({ valid_to, superseded }: (typeof memories)[number]): boolean =>
    valid_to === null && superseded.length === 0
  return {
    ...{ kind: each.kind, language: each.language },
    newerFirst: current >= 0 && older.every((place) => place > current),
    stale: staleHits.length > 0,
    staleUnmarked: staleHits.some(({ isDoubtful }) => !isDoubtful),
    isWhole: memories.every(isCurrent),
    isWholeBeside: beside.every((id) => memories.some((memory) => memory.id === id && isCurrent(memory))),
  }
}

/** Writes every case into the memory of one user, and counts the statements that another case's statement ended. */
async function endedInCrowd(api: MemoryApi, cases: readonly UpdateCase[]): Promise<Row> {
  const caseOf = new Map<string, string>()
  let [ended, wrong] = [0, 0]
  for (const { id: name, turns } of cases) {
    for (const { text, at } of turns) {
      const body = { userId: 'crowd', content: text, observed_at: at, wait: true }
      const answer = await api('write', body).catch(() => null)
      if (answer === null) continue
      const { id, superseded } = writtenOneIn(answer)
      for (const other of superseded) {
        ended++
        if (caseOf.get(other) !== name) wrong++
      }
      caseOf.set(id, name)
    }
  }
  const statements = caseOf.size
  return {
    measure: `ended by an unrelated statement, ${statements} of one user (${wrong} of ${ended} ended)`,
    unit: '',
    ours: wrong / statements,
  }
}

async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = []
  for (const item of items) results.push(await work(item))
  return results
}
