import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { OnnxModel } from '#retrieval/embedding/onnx-model.ts'
import { packagedModel } from '#retrieval/embedding/packaged-embedder.ts'
import { type Fitted, fittedTo, logitOf } from '../calibration/logistic.ts'

/**
 * `node bench/memory-sets/fit-lasting.ts [--write]`: trains the judge of what lasts of a user's life, `lasting` in `guard.json` beside the
 * packaged model, on `guard/lasting`: a file for each writer, with `+` before a sentence that states what lasts and `-` before another
 * one. Prints what weights that were fitted without a writer find in that writer's sentences.
 */
const { folder } = packagedModel
const texts = join(folder, 'guard/lasting')
/** Less than 1, so that the descent is stable where numbers go together. */
const scale = 0.1
const ridge = 0.0015
/** Logarithm of the odds that is needed: a memory that should not be there is worse than one that is missing. */
const needed = 0.3

interface Sentence {
  readonly writer: string
  readonly features: readonly number[]
  readonly answers: boolean
}

const model = await OnnxModel.open({ ...packagedModel, threads: 1 })
const sentences: Sentence[] = []
for (const writer of readdirSync(texts).toSorted())
  for (const line of readFileSync(join(texts, writer), 'utf8').split('\n').filter(Boolean))
    sentences.push({ writer, features: [...(await model.meaning(line.slice(2)))], answers: line.startsWith('+') })

const fittedOn = (some: readonly Sentence[]): Fitted => {
  const scales = new Array<number>(some[0]?.features.length ?? 0).fill(scale)
  const { bias, weights } = fittedTo(some, { scales, ridge })
  return { bias: bias - needed, weights }
}

for (const [writer, own] of Map.groupBy(sentences, ({ writer: name }) => name)) {
  const fitted = fittedOn(sentences.filter((each) => each.writer !== writer))
  const share = (answers: boolean): string => {
    const some = own.filter((each) => each.answers === answers)
    return `${(some.filter(({ features }) => logitOf(fitted, features) > 0).length / some.length).toFixed(2)} of ${some.length}`
  }
  console.log(`${writer}: found ${share(true)} that last, and ${share(false)} others`)
}

if (process.argv.includes('--write')) {
  const { bias, weights } = fittedOn(sentences)
  const path = join(folder, 'guard.json')
  const rounded = (value: number): number => Number(value.toPrecision(4))
  const judges: unknown = JSON.parse(readFileSync(path, 'utf8'))
  const lasting = { bias: rounded(bias), weights: weights.map(rounded) }
  writeFileSync(path, `${JSON.stringify({ ...Object(judges), lasting })}\n`)
}
