import { createHash } from 'node:crypto'
import type { Answer } from '#test/gateway/call/scripted-upstream.ts'
import type { Api } from '../api.ts'
import { KnowledgeBase } from './knowledge-world.ts'

/** The model that `embeds` answers for. */
export const model = 'text-embedding-3-small'
const dimensions = 48
export const sources = 8
export const partsEach = 150
const subjects = 'harbour orchard glacier violin foundry lantern meadow compass'.split(' ')
const verbs = 'repairs paints measures sells guards cleans lends inspects'.split(' ')
const places = 'Trieste Bergen Lisbon Gdansk Malmo Cadiz Tartu Ghent'.split(' ')

/** A direction for each word; a text has the sum of its words'. */
const vectorOf = (text: string): readonly number[] => {
  const sum = Array.from({ length: dimensions }, () => 0)
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    const digest = createHash('sha512').update(word).digest()
    for (let at = 0; at < dimensions; at++) sum[at] = (sum[at] ?? 0) + (digest[at] ?? 0) - 127.5
  }
  return sum
}

export const partOf = (source: number, n: number): string =>
  `# Part ${source}.${n}\n\nThe ${subjects[n % 8]} keeper ${verbs[(source + n) % 8]} number ${source * 1000 + n} in ${places[(n * 3 + source) % 8]}.`

export const documentOf = (source: number): string =>
  Array.from({ length: partsEach }, (_, n) => partOf(source, n)).join('\n\n')

const queries = [
  'Who paints the glacier?',
  'harbour keeper in Bergen',
  'number 3107',
  'What does the violin keeper lend in Ghent?',
  'lantern meadow compass',
  'unrelated words entirely',
]

/** An embedder with a direction for each word. */
export const embeds: Answer = (response, { body }) => {
  const texts: readonly string[] = Array.isArray(body.input) ? body.input : [String(body.input)]
  const data = texts.map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) }))
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ object: 'list', data, model, usage: { prompt_tokens: 1, total_tokens: 1 } }))
}

/** A base with every document. */
export const filledBase = async (api: Api): Promise<KnowledgeBase> => {
  const made = await KnowledgeBase.create(api)
  for (let source = 0; source < sources; source++)
    await made.add({ text: documentOf(source), title: `Record ${source}`, metadata: { half: source % 2 } })
  return made
}

/** The hits of every query, with their scores to four digits. */
export const answersOf = async (
  base: KnowledgeBase,
  more: object = {},
): Promise<readonly Record<string, unknown>[][]> => {
  const answers = []
  for (const query of queries) {
    const { data, embedder } = (await base.search(query, { top_k: 20, threshold: 0, ...more })).body
    if (embedder !== `model/${model}`) throw new Error(`searched by ${embedder}`)
    answers.push(data.map((hit: Record<string, unknown>) => ({ ...hit, score: Number(hit.score).toFixed(4) })))
  }
  return answers
}
