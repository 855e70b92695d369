import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A replacement for the third-party runtime. Its "model" is a JSON file with a row of numbers for each
 * token, which it returns as the hidden states of a sentence model; a reader takes the
 * mean row of a text, and its judge multiplies two and adds how often the first token of the question is in the text; a reader of updates
 * returns the numbers of tokens of both texts, as hundreds and ones, and a reader of skills that of a passage. It counts the texts that it was given in the file `runs`.
 */
const runtime = `
const { appendFileSync, readFileSync } = require('node:fs')
const { join } = require('node:path')
class Tensor { constructor(type, data, dims) { Object.assign(this, { type, data, dims }) } }
class Session {
  constructor({ rows, crashOn }) {
    Object.assign(this, { rows, crashOn, inputNames: ['input_ids', 'attention_mask'], outputNames: ['last_hidden_state'] })
  }
  async run({ input_ids, attention_mask, token_type_ids, states, question, texts: judged, words, parts, missing }) {
    if (states !== undefined && judged !== undefined) {
      const [older, newer] = tokensOf(judged)
      return { odds: { data: Float32Array.of(100 * older + newer) } }
    }
    if (states !== undefined) {
      const firsts = states.data.filter((_, at) => at % 2 === 0)
      return {
        vector: { data: meanOf(states) }, parts: { data: firsts }, weigh: { data: firsts.map(() => 1) },
        odds: { data: Float32Array.of(states.dims[1]) },
      }
    }
    if (judged !== undefined) return { odds: { data: productsOf(question, judged).map((odds, row) => odds + tokensLike(words, parts, missing)[row]) } }
    appendFileSync(join(__dirname, 'runs'), '.')
    if (token_type_ids !== undefined) throw new Error('an input that the model does not have')
    const [texts, length] = input_ids.dims
    if (texts !== 1) throw new Error('texts that are not run alone')
    const size = this.rows[0].length
    const data = new Float32Array(texts * length * size)
    for (let at = 0; at < texts * length; at++) {
      const token = Number(input_ids.data[at])
      if (token === this.crashOn) process.kill(process.pid, 'SIGKILL')
      // What is only filled up says something wrong, which pooling has to leave out.
      data.set(attention_mask.data[at] === 1n ? this.rows[token] : this.rows[0].map(() => 1e6), at * size)
    }
    const hidden = new Tensor('float32', data, [texts, length, size])
    return { last_hidden_state: hidden, inner: hidden }
  }
}
const meanOf = ({ data, dims: [, tokens, size] }) => {
  const sum = new Float32Array(size)
  for (let at = 0; at < data.length; at++) sum[at % size] += data[at] / tokens
  return sum
}
const tokensOf = ({ data, dims: [, , tokens] }) => [0, tokens].map((at) => data.subarray(at, at + tokens).filter((is) => is === 1).length)
const tokensLike = ({ data: [word] }, { data, dims: [texts, longest] }, missing) =>
  Array.from({ length: texts }, (_, row) =>
    data.subarray(row * longest, (row + 1) * longest).filter((part, at) => part === word && missing.data[row * longest + at] === 0).length)
const productsOf = ({ data: one, dims: [, size] }, { data, dims: [texts] }) =>
  Float32Array.from({ length: texts }, (_, row) => one.reduce((sum, value, at) => sum + value * data[row * size + at], 0))
// the sentence model is a field of the format, and in memory one of a part of it
const parsed = (model) => {
  const text = typeof model === 'string' ? readFileSync(model, 'latin1') : Buffer.from(model).toString('latin1')
  return JSON.parse(text.slice(Math.max(0, text.indexOf('{"rows"'))))
}
module.exports = { Tensor, InferenceSession: { create: async (model) => new Session(parsed(model)) } }
`

/** A tokenizer whose tokens are the words of a list; 0 for any other word. */
const tokenizers = `
exports.Tokenizer = class {
  constructor({ words }) { this.words = words }
  encode(text) { return { ids: text.split(' ').map((word) => Math.max(0, this.words.indexOf(word))) } }
}
`

/**
 * A model of four tokens in two dimensions: `tea` and `coffee` are similar, `car` is not, and `crash` ends its
 * process.
 */
const files: Readonly<Record<string, unknown>> = {
  'model.onnx': {
    rows: [
      [0, 0],
      [1, 0.1],
      [1, 0.2],
      [0, 1],
      [1, 1],
    ],
    crashOn: 4,
  },
  'tokenizer.json': { words: ['', 'tea', 'coffee', 'car', 'crash'] },
  'tokenizer_config.json': { model_max_length: 512 },
  'sentence_bert_config.json': { max_seq_length: 8 },
  '1_Pooling/config.json': { pooling_mode_cls_token: false, pooling_mode_mean_tokens: true },
}

/**
 * A folder with a model that runs on every platform; `without` leaves a file out, `also` replaces files. `hashes` are
 * those of the files as written.
 */
export function modelFolder(change: { readonly without?: string; readonly also?: Record<string, unknown> } = {}): {
  readonly folder: string
  readonly hashes: Readonly<Record<string, string>>
  readonly remove: () => void
} {
  const parent = mkdtempSync(join(tmpdir(), 'troupe-model-'))
  const folder = join(parent, 'Tiny Model')
  const write = (name: string, text: string): void => {
    if (name === change.without) return
    const path = join(folder, name)
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, text)
  }
  const written = Object.entries({ ...files, ...change.also }).map(
    ([name, json]) => [name, name === 'model.onnx' ? documented(json) : `${JSON.stringify(json)}\n`] as const,
  )
  for (const [name, text] of written) write(name, text)
  write('node_modules/onnxruntime-node/index.js', runtime)
  write('node_modules/@huggingface/tokenizers/index.js', tokenizers)
  const hashes = Object.fromEntries(
    written.map(([name, text]) => [name, createHash('sha256').update(text).digest('hex')]),
  )
  return { folder, hashes, remove: () => rmSync(parent, { recursive: true, force: true }) }
}

/** A model in the ONNX format without a graph, whose documentation is this. */
function documented(json: unknown): string {
  const text = `${JSON.stringify(json)}\n`
  return `2${String.fromCharCode(text.length)}${text}`
}
