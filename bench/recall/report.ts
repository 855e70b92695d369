import type { Row } from '../row.ts'
import type { Collection, Question } from './collection.ts'
import { auroc, mean, ndcgAt, recallAt, reciprocalRank } from './measures.ts'

/** Lower bounds of measures, by `collection measure engine`, where engine is `lexical` or `hybrid`. */
const min: ReadonlyMap<string, number> = new Map<string, number>(
  [
    ...Object.entries({ 'R@5 hybrid': 0.69, 'R@10 hybrid': 0.77, 'MRR hybrid': 0.56 }),
    ...Object.entries({
      'R@5 lexical': 0.62,
      'R@10 lexical': 0.71,
      'has a hit hybrid': 0.88,
      'precision hybrid': 0.28,
    }),
    ...Object.entries({ 'AUROC hybrid': 0.65 }),
  ]
    .map(([name, value]): readonly [string, number] => [`LoCoMo ${name}`, value])
    .concat([
      ['BEAM 100K R@5 lexical', 0.57],
      ['BEAM 100K R@10 lexical', 0.64],
      ['BEAM 100K R@5 hybrid', 0.6],
      ['BEAM 100K R@10 hybrid', 0.69],
      ['Cranfield nDCG@10 lexical', 0.35],
      ['FinanceBench R@5 hybrid', 0.43],
      ['FinanceBench R@10 hybrid', 0.53],
      ['FinanceBench document@5 hybrid', 0.86],
      ['Cranfield nDCG@10 hybrid', 0.38],
      ['BEAM 100K newer first lexical', 0.6],
      ['BEAM 100K newer first hybrid', 0.6],
    ]),
)
const max: ReadonlyMap<string, number> = new Map([
  ['LoCoMo stranger has a hit hybrid', 0.03],
  ['LoCoMo CPU a search lexical', 1],
  ['LoCoMo CPU a search hybrid', 6.5],
])
const languages = { en: 0.985, zh: 0.99, th: 0.97, hi: 0.97, es: 0.97, ar: 0.95, de: 0.93, tr: 0.93, ru: 0.91 }

/** Search results for one question. */
export interface Found {
  readonly question: Question
  readonly ids: readonly string[]
  readonly top: number
  /** Whether each hit above the default threshold is relevant. */
  readonly passing: readonly boolean[]
  /** Whether any passage of another scope passes the threshold for the same question. */
  readonly strangerPasses: boolean
}

/** Results of an engine on a collection. */
export interface Measured {
  /** `lexical` or `hybrid`. */
  readonly kind: string
  readonly found: readonly Found[]
  /** CPU time per search in ms, of this process or of the server. */
  readonly cpuMs: number
  /** nDCG@10 on all questions, of both halves, and that of plain BM25; null where it is not compared. */
  readonly whole: { readonly ours: number; readonly plain: number } | null
}

/** Rows of a collection's measures, with their bounds. */
export function rowsOf({ name, profile, scopes }: Collection, { kind, found, cpuMs, whole }: Measured): readonly Row[] {
  const answerable = found.filter(({ question }) => question.sort !== 'wrong person')
  const of = (measure: (one: Found) => number): number => mean(answerable.map(measure))
  const recall = [
    row(
      name,
      `R@5 ${kind}`,
      of(({ ids, question }) => recallAt(ids, question.relevant, 5)),
    ),
    row(
      name,
      `R@10 ${kind}`,
      of(({ ids, question }) => recallAt(ids, question.relevant, 10)),
    ),
    row(
      name,
      `MRR ${kind}`,
      of(({ ids, question }) => reciprocalRank(ids, question.relevant)),
    ),
    row(
      name,
      `nDCG@10 ${kind}`,
      of(({ ids, question }) => ndcgAt(ids, question.relevant, 10)),
    ),
    ...(whole === null ? [] : besidePlain(name, whole)),
    row(name, `CPU a search ${kind}`, cpuMs, 'ms'),
  ]
  if (scopes[0]?.partOf !== undefined) recall.push(row(name, `document@5 ${kind}`, of(documentFound)))
  return profile === 'memory' && scopes.length < 2 ? recall : [...recall, ...thresholdRows(name, kind, found)]
}

/** Rows of both halves beside plain BM25, below which words never rank by more than .01. */
const besidePlain = (
  name: string,
  { ours, plain }: { readonly ours: number; readonly plain: number },
): readonly Row[] => [
  { measure: `${name} nDCG@10 lexical, all questions`, unit: '', ours, against: { name: 'plain BM25', value: plain } },
  { measure: `${name} below plain BM25`, unit: '', ours: plain - ours, bound: { of: 'ours', atMost: 0.01 } },
]

/**
 * Rows that show what passes the default threshold, and how well the score detects questions about the wrong person.
 */
function thresholdRows(name: string, kind: string, found: readonly Found[]): readonly Row[] {
  const answerable = found.filter(({ question }) => question.sort !== 'wrong person')
  const wrong = found.filter(({ question }) => question.sort === 'wrong person')
  const of = (measure: (one: Found) => number): number => mean(answerable.map(measure))
  const updates = answerable.filter(({ question }) => question.newer !== undefined)
  const tops = (all: readonly Found[]): readonly number[] => all.map(({ top }) => top)
  return [
    row(
      name,
      `has a hit ${kind}`,
      of((one) => Number(one.passing.length > 0)),
    ),
    row(
      name,
      `stranger has a hit ${kind}`,
      of(({ strangerPasses }) => Number(strangerPasses)),
    ),
    row(name, `precision ${kind}`, mean(answerable.flatMap((one) => one.passing.map(Number)))),
    ...(updates.length > 0 ? [row(name, `newer first ${kind}`, mean(updates.map(newerFirst)))] : []),
    ...(wrong.length > 0 ? [row(name, `AUROC ${kind}`, auroc(tops(answerable), tops(wrong)))] : []),
  ]
}

/** Returns 1 when one of the first five hits is from a document that answers the question, else 0. */
function documentFound({ question, ids }: Found): number {
  const documentOf = (part: string): string => part.split('#')[0] ?? ''
  const wanted = new Set([...question.relevant.keys()].map(documentOf))
  return Number(ids.slice(0, 5).some((id) => wanted.has(documentOf(id))))
}

function newerFirst({ question, ids }: Found): number {
  const first = (wanted: readonly string[]): number => ids.findIndex((id) => wanted.includes(id))
  const [newer, older] = [first(question.newer?.newer ?? []), first(question.newer?.older ?? [])]
  return Number(newer !== -1 && (older === -1 || newer < older))
}

function row(collection: string, measure: string, ours: number, unit = ''): Row {
  const name = `${collection} ${measure}`
  const [atLeast, atMost] = [min.get(name) ?? minIn(name), max.get(name)]
  const bound = atMost === undefined ? { ...(atLeast === undefined ? {} : { atLeast }) } : { atMost }
  return { measure: name, unit, ours, ...(Object.keys(bound).length > 0 ? { bound: { of: 'ours', ...bound } } : {}) }
}

const minIn = (name: string): number | undefined =>
  Object.entries(languages).find(([language]) => name === `XQuAD ${language} R@5 lexical`)?.[1]
