import { startServer } from '../scripts/services/server.ts'
import { sized } from './extent.ts'
import { type MemoryApi, memoryApi } from './memory-api.ts'
import { type Found, foundIn, writtenIn } from './recall/schema.ts'
import type { Row } from './row.ts'

const key = `csk_${'g'.repeat(40)}`
const people = sized(120, 6)
const firsts = 'Ada Bruno Chiara Dmitri Esra Farid Greta Hugo Ines Jonas'.split(' ')
const lasts = 'Abel Brandt Costa Duarte Eriksen Fontana Gruber Hansen Ibsen Jansen Keller Lindt'.split(' ')
const heads = 'Alder Birch Cedar Dune Ember Flint Grove Heron Iris Juniper Kelp Larch'.split(' ')
const tails = ['Labs', 'Works', 'Robotics', 'Foods', 'Media']
const cities = 'Lisbon Oslo Graz Leeds Porto Turin Lyon Ghent Bergen Malaga'.split(' ')
const employed = ['works at', 'is employed by', 'joined', 'founded']
const placed = ['is based in', 'is headquartered in', 'has its office in', 'is located in']
const questions = [
  'Which city does NAME commute to?',
  'In what town is the office of NAME?',
  'Where should I meet NAME for work?',
]
/**
 * Distractors: further facts about each person, as close to the person as the employer, that do not lead to the answer.
 */
const beside = [
  'plays tennis with OTHER',
  'mentored OTHER',
  'likes rye bread',
  'has a dog called Rex',
  'speaks Portuguese',
]
const small = [
  'The weather in THERE was lovely in spring.',
  'I read a book about THERE on the train.',
  'Dinner with friends, we spoke of THERE.',
]

const name = (n: number): string => `${firsts[n % 10]} ${lasts[Math.floor(n / 10) % 12]}`
const company = (n: number): string => `${heads[n % 12]} ${tails[Math.floor(n / 12) % 5]}`
const pick = (of: readonly string[], n: number): string => of[n % of.length] ?? ''

/**
 * Measures the recall of facts that are two relations away from the question. The facts of a made-up town are stored as
 * memories of one user, and relations are extracted by rules. Each question names a person; its answer is the location
 * of the person's company, in a memory that shares no word with the question.
 *
 * Reports how often that far fact is among the results over HTTP, with and without relations, and how often the near
 * one (the employer) is. The search is lexical; with EMBEDDER_PATH set, it also uses that model.
 */
export const benchGraph = async (): Promise<readonly Row[]> => {
  const embedder = process.env.EMBEDDER_PATH
  const server = await startServer({
    BOOTSTRAP_SECRET_KEY: key,
    ...(embedder !== undefined && { EMBEDDER_PATH: embedder }),
  })
  try {
    const post = memoryApi(server.url, key)
    const far = await write(post, (n) => `${company(n)} ${pick(placed, n)} ${pick(cities, n)}.`, companies)
    const near = await write(post, (n) => `${name(n)} ${pick(employed, n)} ${company(n % companies)}.`, people)
    for (const words of beside) {
      await write(post, (n) => `${name(n)} ${words.replace('OTHER', name((n * 7 + 3) % people))}.`, people)
    }
    await noted(post, (n) => `${pick(small, n).replace('THERE', pick(cities, n * 7))} Note ${n}.`, people * 3)
    const share = async (graph: boolean, wanted: readonly string[]): Promise<number> => {
      let found = 0
      for (let n = 0; n < people; n++) {
        const query = pick(questions, n).replace('NAME', name(n))
        const hits = foundIn(await post('search', { userId: 'town', query, topK: 10, threshold: 0, graph }))
        if (has(hits, wanted[n % wanted.length] ?? '')) found++
      }
      return found / people
    }
    const alone = await share(false, far)
    return [
      {
        ...{ measure: 'far fact recalled', unit: '', ours: await share(true, far) },
        ...{ against: { name: 'without relations', value: alone }, bound: { of: 'ours', atLeast: 0.8 } },
      },
      { measure: 'near fact recalled', unit: '', ours: await share(true, near) },
    ]
  } finally {
    await server.stop()
  }
}

const companies = sized(60, 3)

const has = (hits: Found['hits'], wanted: string): boolean => hits.some(({ id }) => id === wanted)

/** Remembers what people say, from which relations are extracted. @returns the memories */
async function write(post: MemoryApi, contentOf: (n: number) => string, count: number): Promise<readonly string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n++) {
    const [id = ''] = writtenIn(await post('remember', { userId: 'town', user: contentOf(n) }))
    ids.push(id)
  }
  return ids
}

/** Writes notes verbatim, from which no relations are extracted. */
async function noted(post: MemoryApi, contentOf: (n: number) => string, count: number): Promise<void> {
  for (let first = 0; first < count; first += 50) {
    const some = Array.from({ length: Math.min(50, count - first) }, (_, n) => ({ content: contentOf(first + n) }))
    await post('write/batch', { userId: 'town', wait: true, memories: some })
  }
}
