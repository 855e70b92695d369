import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { updatedOf, updateSigns } from '#facts/updates/update-odds.ts'
import { OnnxModel } from '#retrieval/embedding/onnx-model.ts'
import { packagedModel } from '#retrieval/embedding/packaged-embedder.ts'
import { centred } from '#retrieval/embedding/update-judge.ts'
import { type Fitted, fittedTo, logitOf } from '../calibration/logistic.ts'
import { linesOf } from '../recall/lines.ts'
import { updateCase } from '../recall/schema.ts'

/**
 * `node bench/memory-sets/fit-updates.ts [--sets FOLDER]… [--write]`: trains the judge of updates,
 * `update.json` beside the packaged model, and prints the weights for `src/facts/updates/update-odds.ts`. Trained on
 * `update/texts`, written for this in many languages, and on sets of updates by other hands. A set is judged by weights
 * that were fitted without it, unless the result is written.
 *
 * A line of the texts is `o`, a statement; `u`, an update of each `o` before it; `i`, another statement about something alike;
 * `x`, one about something else that is said beside them. `#` ends them. `update/pairs` has a file for each of other writers, whose lines are
 * a letter, an older statement, a tab and a newer one: `u`, an update, `i`, one about something alike, `x`, one about something else; lines of
 * the same newer one are a case. A writer is judged as a set is.
 */
const several = { type: 'string', multiple: true } as const
const { values } = parseArgs({ options: { sets: several, write: { type: 'boolean' } } })

const folder = packagedModel.folder
/** Numbers of a pair: two cosines, the state of the newer text, products and the older one's vector, signs. */
const blocks = { cosines: 2, states: 0.12, products: 0.12, older: 0.08, signs: 0.5 } as const
const ridge = 2e-4
/** How often each pair by another hand counts. */
const timesOfOthers = 10
/** Other texts of the same file with which each one makes pairs. */
const others = 6
/** Their distance, so that most are of the same language. */
const near = 25
/** Older statements of other lines with which a newer one of another writer makes pairs. */
const besideOthers = 2

interface Pair {
  readonly set: string
  readonly of: string
  readonly newer: string
  readonly older: string
  readonly updates: boolean
}

interface Group {
  readonly old: string[]
  readonly updates: string[]
  readonly alike: string[]
  readonly beside: string[]
}

function groupsIn(file: string): readonly Group[] {
  const kinds = { o: 'old', u: 'updates', i: 'alike', x: 'beside' } as const
  return readFileSync(file, 'utf8')
    .split(/^#$/m)
    .map((block) => {
      const group: Group = { old: [], updates: [], alike: [], beside: [] }
      for (const line of block.split('\n')) {
        const kind = Object.entries(kinds).find(([letter]) => line.startsWith(`${letter} `))?.[1]
        if (kind !== undefined) group[kind].push(line.slice(2))
      }
      return group
    })
}

const product = (
  newer: readonly string[],
  older: readonly string[],
  updates = false,
): readonly Omit<Pair, 'set' | 'of'>[] =>
  newer.flatMap((one) => older.flatMap((other) => (one === other ? [] : [{ newer: one, older: other, updates }])))

/** Returns a number below `below` that follows from the seed, so that every fit sees the same pairs. */
let seed = 1
const chance = (below: number): number => {
  seed = (seed * 48_271) % 2_147_483_647
  return seed % below
}

function pairsOfTexts(): readonly Pair[] {
  const texts = join(folder, 'update/texts')
  return readdirSync(texts)
    .toSorted()
    .flatMap((file) => {
      const groups = groupsIn(join(texts, file))
      return groups.flatMap(({ old, updates, alike, beside }, at) => {
        const own = [
          ...product(updates, old, true),
          ...product(alike, old),
          ...product(updates, [...alike, ...beside]),
          ...product(beside, old),
          ...product(alike.slice(1), alike.slice(0, 1)),
        ]
        const foreign = Array.from({ length: others }, () => groups[at + chance(2 * near + 1) - near]).flatMap(
          (other) =>
            other === undefined || other === groups[at]
              ? []
              : product(
                  [...other.updates, ...other.alike].slice(0, 1 + chance(3)).slice(-1),
                  [...old, ...alike].slice(-1 - chance(2)),
                ),
        )
        return [...own, ...foreign].map((pair) => ({ set: '', of: `${file} ${at}`, ...pair }))
      })
    })
}

function pairsOf(set: string): readonly Pair[] {
  return ['updates/updates.jsonl', 'updates/independent.jsonl'].flatMap((file) =>
    linesOf(set, file, updateCase).flatMap(({ id, turns, current, stale }) =>
      turns.flatMap(({ text: newer }, at) =>
        turns.slice(0, at).map(({ text: older }, before) => ({
          ...{ set, of: `${file} ${id}`, newer, older },
          updates: stale.includes(before) && (at === current || stale.includes(at)),
        })),
      ),
    ),
  )
}

/** Pairs of a writer: those of the lines, and each newer statement beside older ones of other lines. */
function pairsOfWriter(file: string): readonly Pair[] {
  const lines = readFileSync(join(folder, 'update/pairs', file), 'utf8')
    .split('\n')
    .filter(Boolean)
  const pairs = lines.map((line) => {
    const [older = '', newer = ''] = line.slice(2).split('\t')
    return { set: file, of: newer, newer, older, updates: line.startsWith('u ') }
  })
  const beside = pairs.flatMap(({ set, of, newer }) =>
    Array.from({ length: besideOthers }, () => pairs[chance(pairs.length)]).flatMap((other) =>
      other === undefined || other.of === of ? [] : [{ set, of, newer, older: other.older, updates: false }],
    ),
  )
  return [...pairs, ...beside.filter(({ newer, older }) => newer !== older)]
}

const writers = readdirSync(join(folder, 'update/pairs')).toSorted()
const model = await OnnxModel.open({ ...packagedModel, threads: 1 })
const pairs = [...pairsOfTexts(), ...writers.flatMap(pairsOfWriter), ...(values.sets ?? []).flatMap(pairsOf)]
const meanings = new Map<string, Float32Array>()
for (const { newer, older } of pairs)
  for (const text of [newer, older]) if (!meanings.has(text)) meanings.set(text, await model.meaning(text))

const size = (meanings.values().next().value?.length ?? 0) / 2
const mean = Array.from({ length: size }, (_, at) => {
  const sum = [...meanings.values()].reduce((all, meaning) => all + (meaning[size + at] ?? 0), 0)
  return rounded(sum / meanings.size)
})
const dot = (one: ArrayLike<number>, other: ArrayLike<number>): number =>
  Array.from(one).reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0)

function featuresOf({ newer, older }: Pair): readonly number[] {
  const [one, other] = [meanings.get(newer) ?? new Float32Array(), meanings.get(older) ?? new Float32Array()]
  const [vector, of] = [one.subarray(size), other.subarray(size)]
  const [here, there] = [centred(vector, mean), centred(of, mean)]
  const products = here.map((value, at) => value * (there[at] ?? 0))
  return [
    dot(vector, of),
    dot(here, there),
    ...one.subarray(0, size),
    ...products,
    ...there,
    ...updateSigns(newer, older),
  ]
}

const scales = [
  ...[2, size, size, size, 7].flatMap((length, at) => new Array<number>(length).fill(Object.values(blocks)[at] ?? 0)),
]
const features = pairs.map(featuresOf)

const fittedWithout = (without: string | null): Fitted =>
  fittedTo(
    pairs.flatMap(({ set, updates }, at) =>
      set === without
        ? []
        : [{ features: features[at] ?? [], answers: updates, times: set === '' ? 1 : timesOfOthers }],
    ),
    { scales, ridge },
  )

/** Prints what weights that were fitted without a set find in it: as a memory of each case, turn by turn. */
function judge(set: string): void {
  const fitted = fittedWithout(set)
  const cases = Map.groupBy(
    pairs.flatMap((pair, at) => (pair.set === set ? [{ ...pair, odds: logitOf(fitted, features[at] ?? []) }] : [])),
    ({ of }) => of,
  )
  let [gone, doubted, updates, whole, undoubted, independent] = [0, 0, 0, 0, 0, 0]
  for (const each of cases.values()) {
    const [ended, doubtful] = [new Set<string>(), new Set<string>()]
    for (const turn of Map.groupBy(each, ({ newer }) => newer).values()) {
      const left = turn.filter(({ older }) => !ended.has(older))
      const found = updatedOf(left.map(({ odds }) => odds))
      const older = found === null ? undefined : left[found.place]?.older
      if (older !== undefined) (found?.sure ? ended : doubtful).add(older)
    }
    const stale = each.flatMap((pair) => (pair.updates ? [pair.older] : []))
    if (stale.length > 0) updates++
    else independent++
    if (stale.length > 0 && stale.every((text) => ended.has(text))) gone++
    if (stale.length > 0 && stale.every((text) => ended.has(text) || doubtful.has(text))) doubted++
    if (stale.length === 0 && ended.size === 0) whole++
    if (stale.length === 0 && ended.size + doubtful.size === 0) undoubted++
  }
  const share = (of: number, all: number): string => (of / all).toFixed(2)
  console.log(
    `${set}: superseded ${share(gone, updates)}, or marked ${share(doubted, updates)}; independent whole ${share(whole, independent)}, unmarked ${share(undoubted, independent)}`,
  )
}

if (values.write !== true) for (const set of [...writers, ...(values.sets ?? [])]) judge(set)
const { bias, weights } = fittedWithout(null)
console.log(
  pairs.length,
  'pairs, weights of signs:',
  JSON.stringify({ bias: rounded(bias), signs: weights.slice(-7).map(rounded) }),
)
if (values.write === true) {
  const from = (start: number, length = size) => weights.slice(start, start + length).map(rounded)
  const json = { cosines: from(0, 2), states: from(2), products: from(2 + size), older: from(2 + 2 * size), mean }
  writeFileSync(join(folder, 'update.json'), `${JSON.stringify(json)}\n`)
}

function rounded(value: number): number {
  return Number(value.toPrecision(4))
}
