import { join } from 'node:path'
import { type Embedder, openLocalEmbedder } from '../src/retrieval/embedder.ts'
import type { LocalEmbedder } from '../src/retrieval/embedding/local-embedder.ts'
import { defaultThreshold } from '../src/retrieval/passage-query.ts'
import { abstractSets, readAbstracts } from './recall/abstracts.ts'
import { readBeam } from './recall/beam.ts'
import { type Collection, isReported, partsOf, type Question, type Scope } from './recall/collection.ts'
import { type Engine, indexEngine, type Searchable } from './recall/engine.ts'
import { readFinanceBench } from './recall/financebench.ts'
import { KeptEmbedder } from './recall/kept-embedder.ts'
import { readLocomo } from './recall/locomo.ts'
import { madeMemories } from './recall/made.ts'
import { mean, ndcgAt } from './recall/measures.ts'
import { plainNdcg } from './recall/plain-bm25.ts'
import { type Found, rowsOf } from './recall/report.ts'
import { servedEngine } from './recall/served-engine.ts'
import { readXquad } from './recall/xquad.ts'
import type { Row } from './row.ts'

/**
 * Measures what share of the passages that answer a question is found, in the public sets below the folder (`locomo`,
 * `beam`, `xquad`, `financebench`, and the sets of abstracts: clones of their repositories), else in a small generated
 * set. Memories are written to a server and searched over HTTP. Documents are searched in the index of `src/retrieval`
 * (`npm run bench -- --only knowledge` searches them over HTTP), and beside it by plain BM25.
 *
 * Vectors come from the model in the folder EMBEDDER_PATH; those of documents are cached in the file EMBEDDINGS_FILE,
 * if that is set. One half of the questions is reported; the weights were tuned on the other. RECALL_SETS limits the
 * run to the sets that it names.
 */
export async function benchRecall(folder: string | null): Promise<readonly Row[]> {
  const path = process.env.EMBEDDER_PATH ?? null
  const embedder = path === null ? null : await openLocalEmbedder(path)
  const rows: Row[] = []
  try {
    for (const collection of folder === null ? [madeMemories()] : await collectionsIn(folder)) {
      for (const place of path === null ? [null] : [null, path]) {
        const engine =
          collection.profile === 'memory'
            ? await servedEngine(place)
            : indexEngine(place === null ? null : kept(embedder))
        try {
          rows.push(...(await measured(collection, engine)))
        } finally {
          await engine.close()
        }
      }
    }
  } finally {
    await embedder?.close()
  }
  return rows
}

const kept = (embedder: LocalEmbedder | null): Embedder | null => {
  const file = process.env.EMBEDDINGS_FILE
  return embedder === null || file === undefined ? embedder : new KeptEmbedder(embedder, file)
}

type Awaitable<T> = T | Promise<T>

async function collectionsIn(folder: string): Promise<readonly Collection[]> {
  const wanted = process.env.RECALL_SETS?.split(',') ?? ['locomo', 'beam', 'xquad', ...abstractSets, 'financebench']
  const readers: Readonly<Record<string, (path: string) => Awaitable<readonly (Collection | null)[]>>> = {
    locomo: (path) => [readLocomo(path)],
    beam: (path) => [readBeam(path)],
    xquad: readXquad,
    ...Object.fromEntries(abstractSets.map((name) => [name, (path: string) => readAbstracts(name, path)])),
    financebench: async (path) => [await readFinanceBench(path)],
  }
  const read = await Promise.all(wanted.map((name) => readers[name]?.(join(folder, name)) ?? []))
  const found = read.flat().filter((collection) => collection !== null)
  if (found.length === 0) throw new Error(`no public set below ${folder}`)
  return found
}

async function measured(collection: Collection, engine: Engine): Promise<readonly Row[]> {
  const { scopes } = collection
  const opened: Searchable[] = []
  for (const scope of scopes) opened.push(await engine.open(collection, scope))
  const all = scopes.flatMap(({ questions }, scope) => questions.map((question) => ({ question, scope })))
  const half = (isWanted: (place: number) => boolean) => all.filter((_, place) => isWanted(place)).filter(isJudged)
  // the half that is not reported runs first, so that the code is compiled, as on a running server
  const others = half((place) => !isReported(place))
  const othersAnswers: Answered[] = []
  for (const each of others) othersAnswers.push(await searched(opened, each))
  const reported = half(isReported)
  const answers: Answered[] = []
  const before = engine.cpuMs()
  for (const each of reported) answers.push(await searched(opened, each))
  const cpuMs = (engine.cpuMs() - before) / reported.length
  const found: Found[] = []
  for (const [at, { question, scope }] of reported.entries()) {
    const other = opened.length > 1 ? opened[(scope + 1) % opened.length] : undefined
    const strange = await (other?.search(question, { limit: 1, threshold: defaultThreshold }) ??
      opened[scope]?.search(question, {
        limit: 1,
        threshold: defaultThreshold,
        without: groupsOf(scopes[scope], question),
      }))
    const strangerPasses = strange?.hits.some(({ score }) => score >= defaultThreshold) ?? false
    found.push({ ...judged(question, hitsIn(scopes[scope], answers[at])), strangerPasses })
  }
  if (collection.profile !== 'document' || engine.name !== 'lexical')
    return rowsOf(collection, { kind: engine.name, found, cpuMs, whole: null })
  const ndcg = ({ question, ids }: Pick<Found, 'question' | 'ids'>): number => ndcgAt(ids, question.relevant, 10)
  const rest = others.map(({ question, scope }, at) => judged(question, hitsIn(scopes[scope], othersAnswers[at])))
  const whole = { ours: mean([...rest, ...found].map(ndcg)), plain: plainNdcg(collection) }
  return rowsOf(collection, { kind: engine.name, found, cpuMs, whole })
}

/** Groups that contain an answer to the question. Without them the scope has no answer, like that of another tenant. */
const groupsOf = (scope: Scope | undefined, { relevant }: Question): ReadonlySet<string> => {
  const counted = scope?.partOf ?? ((id: string) => id)
  const texts = scope?.texts ?? []
  return new Set(texts.flatMap(({ id, group }) => (relevant.has(counted(id)) && group !== null ? [group] : [])))
}

type Answered = Awaited<ReturnType<Searchable['search']>>

interface Posed {
  readonly question: Question
  readonly scope: number
}

const isJudged = ({ question }: Posed): boolean => question.relevant.size > 0 || question.sort === 'wrong person'

const searched = async (opened: readonly Searchable[], { question, scope }: Posed): Promise<Answered> =>
  (await opened[scope]?.search(question, { limit: 10, threshold: 0 })) ?? { hits: [] }

/** Replaces the id of each hit with that of the part that it counts as. */
function hitsIn(scope: Scope | undefined, { hits }: Answered = { hits: [] }): Answered['hits'] {
  const ids = hits.map(({ id }) => id)
  const parts = scope === undefined ? ids : partsOf(scope, ids)
  return hits.map(({ score }, at) => ({ id: parts[at] ?? '', score }))
}

function judged(question: Question, hits: Answered['hits']): Omit<Found, 'strangerPasses'> {
  const passing = hits.filter(({ score }) => score >= defaultThreshold).map(({ id }) => question.relevant.has(id))
  return { question, ids: hits.map(({ id }) => id), top: Math.max(0, ...hits.map(({ score }) => score)), passing }
}
