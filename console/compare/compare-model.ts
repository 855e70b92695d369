import type { ActorEvent } from '../event-log.ts'
import { dollars, duration } from '../format.ts'
import { lineDiff } from '../parts/line-diff.ts'
import { type Image, imagesIn, inputTextOf } from '../parts/turn-input.ts'
import { jsonText } from '../parts/turned-text.ts'
import { type Sums, sumsOf } from '../sums.ts'
import { errorText, toolFailure } from '../tool-failure.ts'

/** what happened in one step of a run or a turn */
export interface Part {
  readonly kind: 'input' | 'model' | 'tool' | 'run'
  /** of the tool, the model or the agent */
  readonly name: string
  /** what it was called with */
  readonly given: string
  readonly output: string
  /** of the input, one a line; '' for none */
  readonly images: string
  /** of a person; '' for none */
  readonly decision: string
  readonly failed: boolean
  readonly ms: number | null
}

type Course = Readonly<{ parts: readonly Part[]; answer: string; models: string; sums: Sums }>

export type Fact = Readonly<{ name: string; a: string; b: string; change: string; tone: 'bad' | 'calm' | '' }>

/**
 * What happened in a run or in turns of a session, from its log.
 *
 * @param contents marks of the bytes of images, by their ids
 */
export const courseOf = (events: readonly ActorEvent[], contents: ReadonlyMap<string, string> = new Map()): Course => {
  const book = new PartBook(Date.parse(events[0]?.created_at ?? ''), contents)
  for (const event of events) book.add(event)
  return { parts: book.parts, answer: book.answer, models: [...book.models].join(', '), sums: sumsOf(events) }
}

/** Id of the part that is the text of a turn, until a tool is called. */
const said = 'text'

/** The parts of a log, event by event. */
class PartBook {
  parts: Part[] = []
  /** Names of the models. */
  models: Set<string> = new Set()
  answer = ''
  /** Parts by their id in the log, with the time of their begin. */
  #open: Map<string, { part: Part; since: number }> = new Map()
  /** Time of the event before the text of a turn, which is when its model was called. */
  #before
  #at
  #contents

  /** @param from time of the first event, in ms */
  constructor(from: number, contents: ReadonlyMap<string, string>) {
    this.#before = from
    this.#at = from
    this.#contents = contents
  }

  add({ event_type, payload, created_at }: ActorEvent) {
    const name = event_type.replace(/^run\./, '')
    this.#at = Date.parse(created_at)
    const take = this.#takers[name]
    if (take !== undefined) take(payload)
    if (name === 'output_text.delta') return
    this.#open.delete(said)
    this.#before = this.#at
  }

  /** How each event changes the parts. */
  #takers: Readonly<Record<string, (data: ActorEvent['payload']) => void>> = {
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
      this.models.add(String(model))
      this.#part(`model ${step}`, { kind: 'model', name: String(model) })
    },
    'model_call.completed': ({ step, text }) => this.#end(`model ${step}`, { output: String(text ?? '') }),
    'tool_call.started': (call) => this.#call(call),
    'turn.paused': (call) => this.#call(call, 'waits'),
    requires_action: (call) => this.#call(call, 'waits'),
    'turn.resumed': ({ action_id, resolution, arguments: given, output }) => {
      this.#decided(action_id, resolution, given)
      if (output !== undefined) this.#end(String(action_id), { output: textOf(output) })
    },
    'action.connected': ({ action_id }) => this.#decided(action_id, 'connected'),
    'action.answered': ({ action_id, resolution }) => this.#decided(action_id, resolution),
    'action.approved': ({ action_id, arguments: given }) => this.#decided(action_id, 'approved', given),
    'action.rejected': ({ action_id, reason }) => this.#decided(action_id, reason),
    'tool_call.completed': ({ action_id, output }) =>
      this.#end(String(action_id), { output: textOf(output), failed: toolFailure(output) !== null }),
    delegated: ({ child_run_id, agent_id, input }) =>
      void this.#part(String(child_run_id), { kind: 'run', name: String(agent_id), given: textOf(input) }),
    'child.completed': ({ child_run_id, status, output, error }) =>
      this.#end(String(child_run_id), { output: answerOf(output) ?? textOf(error), failed: status !== 'completed' }),
    ...Object.fromEntries(
      ['turn.completed', 'turn.failed', 'completed', 'failed', 'cancelled', 'expired'].map((name) => [
        name,
        ({ output, error }) => {
          this.answer = error ? errorText(error) : (answerOf(output) ?? name)
        },
      ]),
    ),
  }

  #begin(text: unknown, { model, input }: ActorEvent['payload'] = {}) {
    if (model !== undefined) this.models.add(String(model))
    const images = imagesIn(input)
      .map((image) => nameOf(image, this.#contents))
      .join('\n')
    this.#part(`input ${this.parts.length}`, { kind: 'input', name: '', output: textOf(text), images })
  }

  /** The part with this id, which begins unless it is known. */
  #part(id: string, fields: Pick<Part, 'kind' | 'name'> & Partial<Part>, since: number = this.#at) {
    const known = this.#open.get(id)
    if (known !== undefined) return known.part
    const part = { given: '', output: '', images: '', decision: '', failed: false, ms: null, ...fields }
    this.parts.push(part)
    this.#open.set(id, { part, since })
    return part
  }

  #end(id: string, outcome: Partial<Part>) {
    const known = this.#open.get(id)
    if (known !== undefined) Object.assign(known.part, outcome, { ms: this.#at - known.since })
  }

  #call({ action_id, tool, arguments: given }: ActorEvent['payload'], decision: string = '') {
    const part = this.#part(String(action_id), { kind: 'tool', name: String(tool), given: textOf(given ?? {}) })
    Object.assign(part, { decision })
  }

  /** @param given arguments that the approver edited */
  #decided(id: unknown, decision: unknown, given?: unknown) {
    const edited = given === undefined ? {} : { given: textOf(given) }
    Object.assign(this.#open.get(String(id))?.part ?? {}, { decision, ...edited })
  }
}

/** An image by what two of them share that are the same: ids differ. */
const nameOf = ({ image_id = '', image_url, mime_type, bytes }: Image, contents: ReadonlyMap<string, string>) =>
  image_url ?? [mime_type, bytes && `${bytes} bytes`, contents.get(image_id)].filter(Boolean).join(', ')

/** What was answered, as text. */
const answerOf = (output: unknown) => {
  if (output === undefined || output === null) return null
  return textOf(typeof output === 'object' ? (Reflect.get(output, 'text') ?? output) : output)
}

/** A text, or a value as JSON. */
const textOf = (value: unknown) => {
  const only = typeof value === 'object' && value !== null && Object.keys(value).join() === 'prompt'
  const text = only ? Reflect.get(value, 'prompt') : value
  return typeof text === 'string' ? text : jsonText(text, 2)
}

/** The numbers of the turns in a log, in their order. */
export const turnsIn = (events: readonly ActorEvent[]): readonly { turn: number; text: string }[] =>
  events.flatMap(({ event_type, payload }) =>
    event_type === 'turn.started' ? [{ turn: Number(payload.turn_number), text: inputTextOf(payload) }] : [],
  )

/** The parts of two courses side by side: the same calls beside each other, in between what only one of them has. */
export const aligned = (a: readonly Part[], b: readonly Part[]): readonly (readonly [Part | null, Part | null])[] => {
  const rows: [Part | null, Part | null][] = []
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

const keyOf = ({ kind, name }: Part) =>
  kind === 'tool' || kind === 'run' ? `${kind} ${name.replaceAll('\n', ' ')}` : kind

/** In what two parts differ, except for their time. */
export const differences = (a: Part | null, b: Part | null): readonly string[] => {
  if (a === null || b === null) return [a === null ? 'only in B' : 'only in A']
  const names = {
    name: a.kind === 'model' ? 'model' : a.kind === 'run' ? 'agent' : 'tool',
    output: a.kind === 'input' ? 'input' : 'output',
    ...{ given: 'arguments', images: 'images', failed: 'outcome', decision: 'decision' },
  }
  return compared.flatMap((field) => (a[field] === b[field] ? [] : [names[field]]))
}

/** Fields of a part in which two may differ, in the order of their names. */
const compared = ['name', 'given', 'output', 'images', 'failed', 'decision'] as const

/** Share by which a figure has to change to stand out. */
const notable = 0.1

/** The figures of two courses, with their change from A to B. */
export const factsOf = (a: Course, b: Course): readonly Fact[] => [
  { name: 'Model', a: a.models, b: b.models, change: a.models === b.models ? '' : 'other', tone: '' },
  figure('Cost', a.sums.cost, b.sums.cost, dollars),
  figure('Tokens', a.sums.tokens, b.sums.tokens, (count) => count.toLocaleString('en')),
  figure('Tool calls', a.sums.tools, b.sums.tools, String),
  figure('Errors', a.sums.errors, b.sums.errors, String),
  figure('Took', a.sums.ms ?? 0, b.sums.ms ?? 0, duration),
]

const figure = (name: string, a: number, b: number, text: (value: number) => string): Fact => {
  const more = b > a
  const size = Math.abs(b - a)
  const share = a === 0 ? '' : ` (${more ? '+' : '−'}${Math.round((100 * size) / a)} %)`
  return {
    ...{ name, a: text(a), b: text(b), change: size === 0 ? '' : `${more ? '+' : '−'}${text(size)}${share}` },
    tone: size <= notable * a ? '' : more ? 'bad' : 'calm',
  }
}

/**
 * A mark of bytes, which others of the same size share only if they are the same (FNV-1a: a page without TLS has no
 * digests).
 */
export const markOf = (bytes: Uint8Array) => {
  let hash = 0x811c9dc5
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}
