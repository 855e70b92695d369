import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { arrayOf, isObject, textOf, type WireObject } from '#outgoing/wire.ts'
import { runInSlices, type SlicedWork } from '#src/concurrency/run-in-slices.ts'
import { excerptOf } from '../excerpt.ts'
import { sendError, sendJson } from '../respond.ts'

/** Words of each of OpenAI's categories that has some. The page docs/simulated-model.md lists them. */
const words: Readonly<Record<string, RegExp>> = {
  harassment: /\b(?:idiot|moron)s?\b/i,
  'harassment/threatening': /\bi will hurt you\b/i,
  hate: /\bhate (?:all|those) people\b/i,
  illicit: /\b(?:launder money|pick a lock)\b/i,
  'self-harm': /\b(?:hurt|kill) myself\b/i,
  sexual: /\b(?:porn|nude)s?\b/i,
  violence: /\b(?:kill|murder|stab)(?:s|ed|ing)?\b/i,
}

/** OpenAI's categories without words of their own; never flagged. */
const wordless = [
  ...['hate/threatening', 'illicit/violent', 'self-harm/intent', 'self-harm/instructions'],
  ...['sexual/minors', 'violence/graphic'],
]
const categories = [...Object.keys(words), ...wordless].sort()
const maxInputs = 2048

/** Serves `/v1/moderations`: texts with certain words are flagged. A list of parts is one input, of texts several. */
export const moderations = async (request: WireObject, response: ServerResponse): Promise<void> => {
  const inputs = inputsOf(request.input)
  if (inputs.length === 0 || inputs.length > maxInputs) {
    sendError(response, 400, 'invalid_input')
    return
  }
  const id = `modr-${createHash('sha256').update(inputs.join('\n')).digest('hex').slice(0, 24)}`
  const results = await runInSlices(resultsOf(inputs))
  sendJson(response, 200, { id, model: request.model, results })
}

function* resultsOf(inputs: readonly string[]): SlicedWork<readonly object[]> {
  const results: object[] = []
  for (const input of inputs) {
    results.push(resultOf(excerptOf(input)))
    yield
  }
  return results
}

const inputsOf = (input: unknown): readonly string[] => {
  if (typeof input === 'string') return [input]
  const parts = arrayOf(input)
  return parts.some(isObject)
    ? [parts.map((part) => (isObject(part) ? textOf(part.text) : textOf(part))).join('\n')]
    : parts.map(textOf)
}

const resultOf = (text: string) => {
  const found = new Set(categories.filter((name) => words[name]?.test(text) === true))
  const each = <Value>(of: (name: string) => Value) => Object.fromEntries(categories.map((name) => [name, of(name)]))
  return {
    flagged: found.size > 0,
    categories: each((name) => found.has(name)),
    category_scores: each((name) => (found.has(name) ? 0.98 : 0.0001)),
    category_applied_input_types: each(() => ['text']),
  }
}
