import { dollars, duration } from '../format.js'
import { lineDiff } from '../parts/line-diff.js'
import { imagesIn, inputTextOf } from '../parts/turn-input.js'
import { jsonText } from '../parts/turned-text.js'
import { sumsOf } from '../sums.js'
import { toolFailure } from '../tool-failure.js'

/**
 * @typedef {object} Part what happened in one step of a run or a turn
 * @property {'input' | 'model' | 'tool' | 'run'} kind
 * @property {string} name of the tool, the model or the agent
 * @property {string} given what it was called with
 * @property {string} output
 * @property {string} images of the input, one a line; '' for none
 * @property {string} decision of a person; '' for none
 * @property {boolean} failed
 * @property {number | null} ms
 * @typedef {{ parts: readonly Part[], answer: string, models: string, sums: import('../sums.js').Sums }} Course
 * @typedef {{ name: string, a: string, b: string, change: string, tone: 'bad' | 'calm' | '' }} Fact
 */

/** What happened in a run or in turns of a session, from its log. @param {readonly ActorEvent[]} events @param {ReadonlyMap<string, string>} [contents] marks of the bytes of images, by their ids @returns {Course} */
export const courseOf = (events, contents = new Map()) => {
  const book = new PartBook(Date.parse(events[0]?.created_at ?? ''), contents)
  for (const event of events) book.add(event)
  return { parts: book.parts, answer: book.answer, models: [...book.models].join(', '), sums: sumsOf(events) }
}

/** Id of the part that is the text of a turn, until a tool is called. */
const said = 'text'

/** The parts of a log, event by event. */
class PartBook {
  /** @type {Part[]} */
  parts = []
  /** Names of the models. @type {Set<string>} */
  models = new Set()
  answer = ''
  /** Parts by their id in the log, with the time of their begin. @type {Map<string, { part: Part, since: number }>} */
  #open = new Map()
  /** Time of the event before the text of a turn, which is when its model was called. */
  #before
  #at
  #contents

  /** @param {number} from time of the first event, in ms @param {ReadonlyMap<string, string>} contents */
  constructor(from, contents) {
    this.#before = from
    this.#at = from
    this.#contents = contents
  }

  /** @param {ActorEvent} event */
  add({ event_type, payload, created_at }) {
    const name = event_type.replace(/^run\./, '')
    this.#at = Date.parse(created_at)
    const take = this.#takers[name]
    if (take !== undefined) take(payload)
    if (name === 'output_text.delta') return
    this.#open.delete(said)
    this.#before = this.#at
  }

  /** How each event changes the parts. @type {Readonly<Record<string, (data: any) => void>>} */
  #takers = {
    'turn.started': (turn) => this.#begin(inputTextOf(turn), turn),
    queued: ({ input }) => this.#begin(input),
    'output_text.delta': ({ delta }) => {
      const { output } = this.#part(said, { kind: 'model', name: 'Model' }, this.#before)
      this.#end(said, { output: output + String(delta ?? '') })
    },
    // the answer is generated again
    'turn.restarted': () => {
      this.parts = this.parts.filter((part) => part !== this.#open.get(said)?.part)
    },
    'model_call.started': ({ step, model }) => {
      this.models.add(model)
      this.#part(`model ${step}`, { kind: 'model', name: model })
    },
    'model_call.completed': ({ step, text }) => this.#end(`model ${step}`, { output: String(text ?? '') }),
    'tool_call.started': (call) => this.#call(call),
    'turn.paused': (call) => this.#call(call, 'waits'),
    requires_action: (call) => this.#call(call, 'waits'),
    'turn.resumed': ({ action_id, resolution, arguments: given, output }) => {
      this.#decided(action_id, resolution, given)
      if (output !== undefined) this.#end(action_id, { output: textOf(output) })
    },
    'action.connected': ({ action_id }) => this.#decided(action_id, 'connected'),
    'action.answered': ({ action_id, resolution }) => this.#decided(action_id, resolution),
    'action.approved': ({ action_id, arguments: given }) => this.#decided(action_id, 'approved', given),
    'action.rejected': ({ action_id, reason }) => this.#decided(action_id, reason),
    'tool_call.completed': ({ action_id, output }) =>
      this.#end(action_id, { output: textOf(output), failed: toolFailure(output) !== null }),
    delegated: ({ child_run_id, agent_id, input }) =>
      void this.#part(child_run_id, { kind: 'run', name: agent_id, given: textOf(input) }),
    'child.completed': ({ child_run_id, status, output, error }) =>
      this.#end(child_run_id, { output: textOf(output?.text ?? output ?? error), failed: status !== 'completed' }),
    ...Object.fromEntries(
      ['turn.completed', 'turn.failed', 'completed', 'failed', 'cancelled', 'expired'].map((name) => [
        name,
        (/** @type {any} */ { output, error }) => {
          this.answer = error ? `${error.code}: ${error.message}` : textOf(output?.text ?? output ?? name)
        },
      ]),
    ),
  }

  /** @param {unknown} text @param {{ model?: string, input?: unknown }} [turn] */
  #begin(text, { model, input } = {}) {
    if (model !== undefined) this.models.add(model)
    const images = imagesIn(input)
      .map((image) => nameOf(image, this.#contents))
      .join('\n')
    this.#part(`input ${this.parts.length}`, { kind: 'input', name: '', output: textOf(text), images })
  }

  /** The part with this id, which begins unless it is known. @param {string} id @param {Pick<Part, 'kind' | 'name'> & Partial<Part>} fields @param {number} [since] */
  #part(id, fields, since = this.#at) {
    const known = this.#open.get(id)
    if (known !== undefined) return known.part
    const part = { given: '', output: '', images: '', decision: '', failed: false, ms: null, ...fields }
    this.parts.push(part)
    this.#open.set(id, { part, since })
    return part
  }

  /** @param {string} id @param {Partial<Part>} outcome */
  #end(id, outcome) {
    const known = this.#open.get(id)
    if (known !== undefined) Object.assign(known.part, outcome, { ms: this.#at - known.since })
  }

  /** @param {{ action_id: string, tool: string, arguments?: unknown }} call @param {string} [decision] */
  #call({ action_id, tool, arguments: given }, decision = '') {
    Object.assign(this.#part(action_id, { kind: 'tool', name: tool, given: textOf(given ?? {}) }), { decision })
  }

  /** @param {string} id @param {string} decision @param {unknown} [given] arguments that the approver edited */
  #decided(id, decision, given) {
    const edited = given === undefined ? {} : { given: textOf(given) }
    Object.assign(this.#open.get(id)?.part ?? {}, { decision, ...edited })
  }
}

/** An image by what two of them share that are the same: ids differ. @param {import('../parts/turn-input.js').Image} image @param {ReadonlyMap<string, string>} contents */
const nameOf = ({ image_id = '', image_url, mime_type, bytes }, contents) =>
  image_url ?? [mime_type, bytes && `${bytes} bytes`, contents.get(image_id)].filter(Boolean).join(', ')

/** A text, or a value as JSON. @param {unknown} value */
const textOf = (value) => {
  const only = typeof value === 'object' && value !== null && Object.keys(value).join() === 'prompt'
  const text = only ? Reflect.get(value, 'prompt') : value
  return typeof text === 'string' ? text : jsonText(text, 2)
}

/** The numbers of the turns in a log, in their order. @param {readonly ActorEvent[]} events @returns {readonly { turn: number, text: string }[]} */
export const turnsIn = (events) =>
  events.flatMap(({ event_type, payload }) =>
    event_type === 'turn.started' ? [{ turn: Number(payload.turn_number), text: inputTextOf(payload) }] : [],
  )

/**
 * The parts of two courses side by side: the same calls beside each other, in between what only one of them has.
 *
 * @param {readonly Part[]} a
 * @param {readonly Part[]} b
 * @returns {readonly (readonly [Part | null, Part | null])[]}
 */
export const aligned = (a, b) => {
  /** @type {[Part | null, Part | null][]} */
  const rows = []
  let [left, right, block] = [0, 0, 0]
  for (const [sign] of lineDiff(a.map(keyOf).join('\n'), b.map(keyOf).join('\n'))) {
    const [mine, theirs] = [sign === '+' ? null : (a[left++] ?? null), sign === '-' ? null : (b[right++] ?? null)]
    // another call in the same place stands beside the one that it replaces
    const beside = rows
      .slice(block)
      .find(([one, other]) => sign === '+' && other === null && one?.kind === theirs?.kind)
    if (beside !== undefined) beside[1] = theirs
    else if (mine !== null || theirs !== null) rows.push([mine, theirs])
    if (sign === ' ') block = rows.length
  }
  return rows
}

/** @param {Part} part */
const keyOf = ({ kind, name }) => (kind === 'tool' || kind === 'run' ? `${kind} ${name.replaceAll('\n', ' ')}` : kind)

/** In what two parts differ, except for their time. @param {Part | null} a @param {Part | null} b @returns {readonly string[]} */
export const differences = (a, b) => {
  if (a === null || b === null) return [a === null ? 'only in B' : 'only in A']
  const named = a.kind === 'model' ? 'model' : a.kind === 'run' ? 'agent' : 'tool'
  return [
    ...(a.name === b.name ? [] : [named]),
    ...(a.given === b.given ? [] : ['arguments']),
    ...(a.output === b.output ? [] : [a.kind === 'input' ? 'input' : 'output']),
    ...(a.images === b.images ? [] : ['images']),
    ...(a.failed === b.failed ? [] : ['outcome']),
    ...(a.decision === b.decision ? [] : ['decision']),
  ]
}

/** Share by which a figure has to change to stand out. */
const notable = 0.1

/** The figures of two courses, with their change from A to B. @param {Course} a @param {Course} b @returns {readonly Fact[]} */
export const factsOf = (a, b) => [
  { name: 'Model', a: a.models, b: b.models, change: a.models === b.models ? '' : 'other', tone: '' },
  figure('Cost', a.sums.cost, b.sums.cost, dollars),
  figure('Tokens', a.sums.tokens, b.sums.tokens, (count) => count.toLocaleString('en')),
  figure('Tool calls', a.sums.tools, b.sums.tools, String),
  figure('Errors', a.sums.errors, b.sums.errors, String),
  figure('Took', a.sums.ms ?? 0, b.sums.ms ?? 0, duration),
]

/** @param {string} name @param {number} a @param {number} b @param {(value: number) => string} text @returns {Fact} */
const figure = (name, a, b, text) => {
  const more = b > a
  const size = Math.abs(b - a)
  const share = a === 0 ? '' : ` (${more ? '+' : '−'}${Math.round((100 * size) / a)} %)`
  return {
    ...{ name, a: text(a), b: text(b), change: size === 0 ? '' : `${more ? '+' : '−'}${text(size)}${share}` },
    tone: size <= notable * a ? '' : more ? 'bad' : 'calm',
  }
}

/** A mark of bytes, which others of the same size share only if they are the same (FNV-1a: a page without TLS has no digests). @param {Uint8Array} bytes */
export const markOf = (bytes) => {
  let hash = 0x811c9dc5
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}
