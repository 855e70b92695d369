import { join } from 'node:path'
import { type Embedder, openLocalEmbedder } from '../src/retrieval/embedder.ts'
import { defaultThreshold } from '../src/retrieval/passage-query.ts'
import { readBeam } from './recall/beam.ts'
import { type Collection, isReported, type Question } from './recall/collection.ts'
import { readCranfield } from './recall/cranfield.ts'
import { type Engine, indexEngine, type Searchable } from './recall/engine.ts'
import { readLocomo } from './recall/locomo.ts'
import { madeMemories } from './recall/made.ts'
import { type Found, rowsOf } from './recall/report.ts'
import { readXquad } from './recall/xquad.ts'
import type { Row } from './row.ts'

/**
 * How much of what answers a question is found, by the index of `src/retrieval`: of the public sets below the folder
 * (`locomo`, `beam`, `xquad`, `cranfield`: clones of their repositories), else of a small made one. Vectors come from the
 * model in the folder EMBEDDER_PATH. Of the questions one half is reported; the weights were tuned on the other.
 */
export async function benchRecall(folder: string | null): Promise<readonly Row[]> {
  const path = process.env.EMBEDDER_PATH
  const embedder = path === undefined ? null : await openLocalEmbedder(path)
  const engines = [indexEngine(null), ...(embedder === null ? [] : [indexEngine(embedder)])]
  const rows: Row[] = []
  try {
    for (const collection of folder === null ? [madeMemories()] : collectionsIn(folder)) {
      for (const engine of engines) rows.push(...(await measured(collection, engine, embedder)))
    }
  } finally {
    await embedder?.close()
  }
  return rows
}

function collectionsIn(folder: string): readonly Collection[] {
  const found = [
    readLocomo(join(folder, 'locomo')),
    readBeam(join(folder, 'beam')),
    ...readXquad(join(folder, 'xquad')),
    readCranfield(join(folder, 'cranfield')),
  ].filter((collection) => collection !== null)
  if (found.length === 0) throw new Error(`no public set below ${folder}`)
  return found
}

async function measured(collection: Collection, engine: Engine, embedder: Embedder | null): Promise<readonly Row[]> {
  const { scopes } = collection
  const opened: Searchable[] = []
  for (const scope of scopes) opened.push(await engine.open(collection, scope))
  const found: Found[] = []
  const reported = scopes.flatMap(({ questions }, scope) => questions.map((question) => ({ question, scope })))
  for (const [place, { question, scope }] of reported.entries()) {
    const [own, other] = [opened[scope], opened[(scope + 1) % opened.length]]
    if (!isReported(place) || own === undefined || other === undefined) continue
    if (question.relevant.size === 0 && question.sort !== 'wrong person') continue
    found.push(await answered(question, own, other))
  }
  return rowsOf(collection, engine.name === 'lexical' || embedder === null ? 'lexical' : 'hybrid', found)
}

async function answered(question: Question, own: Searchable, other: Searchable): Promise<Found> {
  const before = process.cpuUsage()
  const { hits } = await own.search(question, { limit: 10, threshold: 0 })
  const { user, system } = process.cpuUsage(before)
  const strange = await other.search(question, { limit: 1, threshold: defaultThreshold })
  const passing = hits.filter(({ score }) => score >= defaultThreshold).map(({ id }) => question.relevant.has(id))
  return {
    ...{ question, ids: hits.map(({ id }) => id), top: Math.max(0, ...hits.map(({ score }) => score)), passing },
    ...{ strangerPasses: other !== own && strange.hits.length > 0, cpuMs: (user + system) / 1000 },
  }
}
