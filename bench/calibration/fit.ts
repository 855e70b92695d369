import { parseArgs } from 'node:util'
import type { Embedder } from '#retrieval/embedder.ts'
import { defaultThreshold } from '#retrieval/passage-query.ts'
import { backgroundOf } from '#retrieval/ranking/background.ts'
import { crowdOf } from '#retrieval/ranking/memory-score.ts'
import { KeptEmbedder } from '../recall/kept-embedder.ts'
import { mean } from '../recall/measures.ts'
import { type Example, type Fitted, fittedTo, logitOf } from './logistic.ts'
import { type Embedding, MemoryScope } from './memory-scope.ts'
import { openModel } from './open-model.ts'
import { Scopes, sizes } from './scopes.ts'
import { readSets, type Sets } from './sets.ts'
import { ownSets } from './topics.ts'

/**
 * `node bench/calibration/fit.ts [--embedder FOLDER]… [--sets FOLDER]… [--cache FOLDER]`: fits the score of a memory on
 * our own small set and on others of its format, and prints the weights for `src/retrieval/ranking/memory-score.ts`: by
 * words alone, with the vectors of each embedder, and with what the packaged model reads (`--embedder packaged`). Every
 * person is also judged by weights that were fitted without a fifth of the people, this one among them, and moved so
 * that one of twenty questions about what was never said has a hit; what was read, in scopes of every size, as far as the
 * weight of `crowd` can do that.
 *
 * The weights of names and speakers are not fitted here: these sets have none that mislead.
 */
const several = { type: 'string', multiple: true } as const
const { values } = parseArgs({ options: { embedder: several, sets: several, cache: { type: 'string' } } })

const largest = Number(process.env.CALIBRATION_LARGEST ?? 1_000)
const candidates = 16
const folds = 5
const shown = 5
const words = ['words_found', 'matched', 'total', 'length'] as const
const vectors = ['above_unrelated', 'above_unrelated_questions'] as const
/** Parts of an explained score that are features, in the order of the weights. */
const names = {
  vectors: [...vectors, ...words, 'size'],
  words: [...words, 'size'],
  read: ['read'],
} as const
type Model = keyof typeof names

interface Posed {
  readonly size: number
  readonly user: string
  readonly kind: string
  readonly language: string
  readonly isAnswerable: boolean
  readonly found: readonly { readonly parts: Readonly<Record<string, number>>; readonly answers: boolean }[]
}

async function posedWith(embedding: Embedding | null): Promise<readonly Posed[]> {
  const posed: Posed[] = []
  for (const [set, sets] of all.entries()) {
    const scopes = new Scopes(sets, largest)
    for (const size of sizes.filter((each) => each <= largest)) {
      let [kept, scope]: [unknown, MemoryScope | null] = [null, null]
      for (const { user, text, kind, answers } of [...sets.questions, ...sets.strangers]) {
        const { memories } = scopes.of({ user, text, kind, answers }, size)
        if (kept !== memories) [kept, scope] = [memories, await MemoryScope.of(memories, embedding)]
        const { hits = [] } = (await scope?.search(text, candidates, true)) ?? {}
        posed.push({
          ...{ size, kind, user: `${set} ${user}`, isAnswerable: answers.length > 0 },
          language: sets.people.find((person) => person.user === user)?.language ?? '',
          found: hits.map(({ id, parts = {} }) => ({ parts, answers: answers.includes(id) })),
        })
      }
    }
  }
  return posed
}

function examplesOf(model: Model, { found }: Posed): readonly Example[] {
  const needed = model === 'words' ? [] : [names[model][0]]
  return found
    .filter(({ parts }) => needed.every((name) => name in parts))
    .map(({ parts, answers }) => ({ features: names[model].map((name) => parts[name] ?? 0), answers }))
}

/** Fits all but the requests for something (`statement`), which a memory answers only after reasoning. */
const fitted = (model: Model, posed: readonly Posed[]): Fitted =>
  fittedTo(posed.flatMap((each) => (each.kind === 'statement' ? [] : examplesOf(model, each))))

interface Judged extends Posed {
  /** Best logit of all, and of those that answer among the first five. */
  readonly best: number
  readonly right: number
}

function report(model: Model, posed: readonly Posed[]): void {
  const users = [...new Set(posed.map(({ user }) => user))]
  const judged = Array.from({ length: folds }, (_, fold) => {
    const isOut = ({ user }: Posed): boolean => users.indexOf(user) % folds === fold
    const without = fitted(
      model,
      posed.filter((each) => !isOut(each)),
    )
    return posed.filter(isOut).map((each) => judgedBy(without, model, each))
  }).flat()
  const limit = limitOf(model, judged)
  const { bias, weights } = fitted(model, posed)
  const moved = { bias: bias - limit.base + Math.log(defaultThreshold / (1 - defaultThreshold)), crowd: -limit.crowd }
  console.log(model, { ...moved, ...Object.fromEntries(names[model].map((name, at) => [name, weights[at]])) })
  console.log('of people left out')
  for (const size of new Set(judged.map((each) => each.size))) {
    const here = judged.filter((each) => each.size === size)
    const least = limit.base + limit.crowd * crowdOf(size)
    const said = here.filter(({ isAnswerable, kind }) => isAnswerable && kind !== 'statement')
    const parts = [['all', said], ...Map.groupBy(said, ({ kind }) => kind), ...Map.groupBy(said, languageOf)] as const
    const hits = parts.map(([name, some]) => `${name} ${share(some, ({ right }) => right > least)}`).join(', ')
    const wrong = ['never_said', 'near'].map(
      (kind) =>
        `${kind} ${share(
          here.filter((each) => each.kind === kind),
          ({ best }) => best > least,
        )}`,
    )
    console.log(`${size}: right hit: ${hits}; any hit: ${wrong.join(', ')}`)
  }
}

/**
 * Returns the logit that one of twenty questions about what was never said exceeds: of those in all scopes, and for what
 * was read a straight line by the feature `crowd`, through the limits of the sizes.
 */
function limitOf(model: Model, judged: readonly Judged[]): { readonly base: number; readonly crowd: number } {
  const never = judged.filter(({ kind }) => kind === 'never_said')
  const limit = (some: readonly Judged[]): number =>
    some.map(({ best }) => best).toSorted((a, b) => a - b)[Math.floor(some.length * 0.95)] ?? 0
  if (model !== 'read') return { base: limit(never), crowd: 0 }
  const points = [...Map.groupBy(never, ({ size }) => size)].map(([size, some]) => ({
    x: crowdOf(size),
    y: limit(some),
  }))
  const x = mean(points.map((point) => point.x))
  const y = mean(points.map((point) => point.y))
  const slope =
    mean(points.map((point) => (point.x - x) * (point.y - y))) / mean(points.map((point) => (point.x - x) ** 2))
  return { base: y - slope * x, crowd: slope }
}

const languageOf = ({ language }: Posed): string => language

function judgedBy(by: Fitted, model: Model, posed: Posed): Judged {
  const logits = examplesOf(model, posed)
    .map(({ features, answers }) => ({ logit: logitOf(by, features), answers }))
    .toSorted((a, b) => b.logit - a.logit)
  const right = logits.slice(0, shown).find(({ answers }) => answers)
  const min = Number.NEGATIVE_INFINITY
  return { ...posed, best: logits[0]?.logit ?? min, right: right?.logit ?? min }
}

const share = <T>(some: readonly T[], holds: (one: T) => boolean): string =>
  (some.filter(holds).length / some.length).toFixed(2)

const all: readonly Sets[] = [ownSets(), ...(values.sets ?? []).map(readSets)]
report('words', await posedWith(null))
for (const name of values.embedder ?? []) {
  const local = await openModel(name)
  const embedder: Embedder =
    values.cache === undefined ? local : new KeptEmbedder(local, `${values.cache}/${local.id.replace('/', '-')}.bin`)
  const background = await backgroundOf({ embed: (texts, use) => embedder.embed(texts, use) })
  const posed = await posedWith({ embedder, background })
  report(name === 'packaged' ? 'read' : 'vectors', posed)
  await local.close()
}
