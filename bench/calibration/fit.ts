import { parseArgs } from 'node:util'
import { type Embedder, openLocalEmbedder } from '#retrieval/embedder.ts'
import { backgroundOf } from '#retrieval/ranking/background.ts'
import { KeptEmbedder } from '../recall/kept-embedder.ts'
import { type Example, type Fitted, fittedTo, logitOf } from './logistic.ts'
import { type Embedding, MemoryScope } from './memory-scope.ts'
import { Scopes, sizes } from './scopes.ts'
import { readSets, type Sets } from './sets.ts'
import { ownSets } from './topics.ts'

/**
 * `node bench/calibration/fit.ts [--embedder FOLDER]… [--sets FOLDER]… [--cache FOLDER]`: fits the score of a memory on
 * our own small set and on others of its format, by words alone and with each embedder, and prints the weights for
 * `src/retrieval/ranking/memory-score.ts`. Every shape (embedder, size and style) is also judged by weights that were
 * fitted without it.
 *
 * The weights of names and speakers are not fitted here: these sets have none that mislead.
 */
const several = { type: 'string', multiple: true } as const
const { values } = parseArgs({ options: { embedder: several, sets: several, cache: { type: 'string' } } })

const largest = 1_000
const candidates = 20
/** Parts of an explained score that are features, in the order of the weights. */
const names = {
  vectors: ['above_unrelated', 'above_unrelated_questions', 'words_found', 'matched', 'total', 'length', 'size'],
  words: ['words_found', 'matched', 'total', 'length', 'size'],
} as const
type Model = keyof typeof names

interface Posed {
  readonly shape: string
  readonly kind: string
  readonly isAnswerable: boolean
  readonly examples: readonly Example[]
}

const all: readonly Sets[] = [ownSets(), ...(values.sets ?? []).map(readSets)]
report('words', await posedWith(null, 'words'))
const withVectors: Posed[] = []
for (const folder of values.embedder ?? []) {
  const local = await openLocalEmbedder(folder)
  const embedder: Embedder =
    values.cache === undefined ? local : new KeptEmbedder(local, `${values.cache}/${local.id.replace('/', '-')}.bin`)
  const background = await backgroundOf({ embed: (texts, use) => embedder.embed(texts, use) })
  withVectors.push(...(await posedWith({ embedder, background }, 'vectors')))
  await local.close()
}
if (withVectors.length > 0) report('vectors', withVectors)

async function posedWith(embedding: Embedding | null, model: Model): Promise<readonly Posed[]> {
  const posed: Posed[] = []
  for (const sets of all) {
    const scopes = new Scopes(sets, largest)
    for (const size of sizes.filter((each) => each <= largest)) {
      let [kept, scope]: [unknown, MemoryScope | null] = [null, null]
      for (const { user, text, kind, answers } of [...sets.questions, ...sets.strangers]) {
        const { memories } = scopes.of({ user, text, kind, answers }, size)
        if (kept !== memories) [kept, scope] = [memories, await MemoryScope.of(memories, embedding)]
        const { hits = [] } = (await scope?.search(text, candidates, true)) ?? {}
        const compared = hits.filter(({ parts }) => model === 'words' || parts?.above_unrelated !== undefined)
        const examples = compared.map(({ id, parts }) => ({
          features: names[model].map((name) => parts?.[name] ?? 0),
          answers: answers.includes(id),
        }))
        const style = sets.people.find((person) => person.user === user)?.style ?? ''
        const shape = `${embedding?.embedder.id ?? 'words'} ${size} ${style}`
        posed.push({ shape, kind, isAnswerable: answers.length > 0, examples })
      }
    }
  }
  return posed
}

/** Fits all but the requests for something (`statement`), which a memory answers only after reasoning. */
const fitted = (posed: readonly Posed[]): Fitted =>
  fittedTo(posed.flatMap(({ kind, examples }) => (kind === 'statement' ? [] : examples)))

function report(model: Model, posed: readonly Posed[]): void {
  const { bias, weights } = fitted(posed)
  console.log(model, { bias, ...Object.fromEntries(names[model].map((name, at) => [name, weights[at]])) })
  console.log('shape, left out of its fit: share with the right hit while one of 20 never-said questions has any')
  for (const shape of new Set(posed.map((each) => each.shape))) {
    const without = fitted(posed.filter((each) => each.shape !== shape))
    const own = posed.filter((each) => each.shape === shape)
    const best = (one: Posed, isWanted: (example: Example) => boolean): number =>
      Math.max(
        Number.NEGATIVE_INFINITY,
        ...one.examples.filter(isWanted).map(({ features }) => logitOf(without, features)),
      )
    const never = own.filter(({ kind }) => kind === 'never_said').map((one) => best(one, () => true))
    const limit = never.toSorted((a, b) => a - b)[Math.floor(never.length * 0.95)] ?? Number.NaN
    const said = own.filter(({ isAnswerable, kind }) => isAnswerable && kind !== 'statement')
    const passing = said.filter((one) => best(one, ({ answers }) => answers) >= limit).length / said.length
    console.log(shape, passing.toFixed(2), 'from', limit.toFixed(2))
  }
}
