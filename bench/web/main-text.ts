import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { pageTypeOf } from '#src/pages/content-type.ts'
import { readPage } from '#src/parsing/pages/read-page.ts'
import type { Row } from '../row.ts'
import { type Articles, type Chunked, readSet } from './schema.ts'

/** F1 over the 181 pages of scrapinghub's article-extraction-benchmark, by its own measure: runs of four words. */
export const articleRows = async (folder: string): Promise<readonly Row[]> => {
  const truth = readSet<Articles>(join(folder, 'ground-truth.json'))
  const precisions: number[] = []
  const recalls: number[] = []
  for (const [key, { articleBody = '' }] of Object.entries(truth)) {
    const text = await textOf(gunzipSync(readFileSync(join(folder, 'html', `${key}.html.gz`))))
    const { tp, fp, fn } = shared(runsOf(articleBody), runsOf(text))
    if (tp + fp > 0) precisions.push(tp / (tp + fp))
    if (tp + fn > 0) recalls.push(tp / (tp + fn))
  }
  const [precision, recall] = [mean(precisions), mean(recalls)]
  const f1 = (2 * precision * recall) / (precision + recall)
  return [
    {
      measure: `main text, ${Object.keys(truth).length} articles (scrapinghub)`,
      unit: 'F1',
      ours: f1,
      bound: { of: 'ours', atLeast: 0.965 },
    },
  ]
}

/**
 * F1 over the pages of trafilatura's evaluation, by its own measure: chunks that must be present, and chunks that must
 * not.
 */
export const chunkRows = async (folder: string): Promise<readonly Row[]> => {
  const truth = readSet<Chunked>(join(folder, 'evaldata.json'))
  const all = { tp: 0, fp: 0, fn: 0 }
  const unseen = { tp: 0, fp: 0, fn: 0 }
  let pages = 0
  for (const { file, with: wanted, without } of Object.values(truth)) {
    const path = ['cache', 'eval'].map((each) => join(folder, each, file)).find((each) => existsSync(each))
    if (path === undefined) continue
    pages += 1
    const text = normal(await textOf(readFileSync(path)))
    const found = wanted.filter((chunk) => text.includes(normal(chunk))).length
    const wrong = without.filter((chunk) => text.includes(normal(chunk))).length
    // phrases and class words were chosen on the other half
    for (const sum of pages % 2 === 1 ? [all, unseen] : [all]) {
      sum.tp += found
      sum.fn += wanted.length - found
      sum.fp += wrong
    }
  }
  const bound = { of: 'ours', atLeast: 0.91 } as const
  const rowOf = (of: string, { tp, fp, fn }: typeof all): Row => ({
    ...{ measure: `main text, ${of} (trafilatura)`, unit: 'F1', ours: (2 * tp) / (2 * tp + fp + fn), bound },
  })
  return [rowOf(`${pages} pages`, all), rowOf('the half of them that nothing was chosen on', unseen)]
}

const textOf = async (bytes: Uint8Array): Promise<string> => {
  const type = pageTypeOf('text/html', bytes)
  return type === null ? '' : (await readPage({ bytes, type, url: 'https://site.example/', format: 'text' })).content
}

const normal = (text: string): string => text.replace(/\s+/g, ' ').trim()

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

const runsOf = (text: string): ReadonlyMap<string, number> => {
  const words = text.match(/[\p{L}\p{N}\p{M}_]+/gu) ?? []
  const runs = new Map<string, number>()
  for (let at = 0; at < Math.max(1, words.length - 3); at += 1) {
    const run = words.slice(at, at + 4).join(' ')
    if (run !== '') runs.set(run, (runs.get(run) ?? 0) + 1)
  }
  return runs
}

const shared = (wanted: ReadonlyMap<string, number>, found: ReadonlyMap<string, number>) => {
  const sum = { tp: 0, fp: 0, fn: 0 }
  for (const run of new Set([...wanted.keys(), ...found.keys()])) {
    const [a, b] = [wanted.get(run) ?? 0, found.get(run) ?? 0]
    sum.tp += Math.min(a, b)
    sum.fp += Math.max(0, b - a)
    sum.fn += Math.max(0, a - b)
  }
  return sum
}
