import type { Commit, LogEvent } from '#storage/ports.ts'
import type { LogRules } from '../log-rules.ts'
import { chunkOf, chunksIn } from '../sessions/attempt-text.ts'

/** A delegation according to the log of its run. */
interface ChildOfRun {
  readonly actionId: unknown
  ended: boolean
}

interface CallOfRun {
  requested: boolean
  approved: boolean
  resolved: boolean
}

const ends = new Set(['run.completed', 'run.failed', 'run.cancelled', 'run.expired'])

/**
 * The rules for the log of one run: it is queued, starts once and ends once, and nothing follows its end; model calls
 * are numbered, one at a time, and each text is that of the same call; a tool call has one output; a child is started
 * once and its result arrives once.
 */
export class RunRules implements LogRules {
  /** The type of its last event, once the run has ended. */
  end: string | undefined
  /** Model calls that were answered. */
  answers = 0
  readonly children = new Map<string, ChildOfRun>()
  readonly #chunksOf: (effect: string) => number
  readonly #commitOf: (effect: string) => Commit | undefined
  readonly #calls = new Map<string, CallOfRun>()
  #queued = false
  #started = false
  #thinking = false
  #steps = 0
  #text = ''

  constructor(chunksOf: (effect: string) => number, commitOf: (effect: string) => Commit | undefined) {
    this.#chunksOf = chunksOf
    this.#commitOf = commitOf
  }

  get open(): boolean {
    return this.#queued && this.end === undefined
  }

  take(event: LogEvent): string | null {
    const { event_type } = event
    if (this.end !== undefined) return `the run is over (${this.end})`
    if (event_type === 'run.queued') return this.#queue()
    if (!this.#queued) return 'the run is not queued yet'
    if (ends.has(event_type)) return this.#finish(event)
    if (event_type === 'run.started') return this.#start()
    if (!this.#started) return 'the run has not started'
    return this.#goOn(event)
  }

  #queue(): string | null {
    if (this.#queued) return 'the run is queued again'
    this.#queued = true
    return null
  }

  #start(): string | null {
    if (this.#started) return 'the run starts again'
    this.#started = true
    return null
  }

  #goOn(event: LogEvent): string | null {
    switch (event.event_type) {
      case 'run.model_call.started':
        return this.#requestedTool(event)
      case 'run.model_call.completed':
        return this.#answer(event)
      case 'run.delegated':
        return this.#delegate(event)
      case 'run.child.completed':
        return this.#childEnds(event)
      default:
        return this.#call(event)
    }
  }

  #requestedTool({ payload }: LogEvent): string | null {
    if (this.#thinking) return 'a model call goes on'
    if (payload.step !== this.#steps + 1) return `step ${payload.step} follows ${this.#steps}`
    const open = [...this.#calls].filter(([, { resolved }]) => !resolved).map(([id]) => id)
    if (open.length > 0) return `the model is asked while ${open.join()} is open`
    this.#steps++
    this.#thinking = true
    return null
  }

  #answer({ payload }: LogEvent): string | null {
    if (!this.#thinking || payload.step !== this.#steps) return `step ${payload.step} answers ${this.#steps}`
    this.#thinking = false
    this.answers++
    this.#text = String(payload.text)
    return this.#wrongText()
  }

  /** Checks that the text is the complete answer of the model to this step's call. */
  #wrongText(): string | null {
    const effect = chunksIn(this.#text)[0]?.call
    if (effect === undefined) return this.#text === '' ? null : `nobody said ${this.#text}`
    const requested = this.#commitOf(effect)?.effects.find(({ id }) => id === effect)
    if (requested?.params.step !== this.#steps) return `step ${this.#steps} has the text of another call: ${this.#text}`
    const said = Array.from({ length: this.#chunksOf(effect) }, (_, index) => chunkOf(effect, index)).join('')
    return said === this.#text ? null : `${effect} said ${said}, not ${this.#text}`
  }

  #delegate({ payload }: LogEvent): string | null {
    const child = String(payload.child_run_id)
    const { action_id } = payload
    const again = [...this.children.values()].some(({ actionId }) => actionId !== null && actionId === action_id)
    if (this.children.has(child) || again) return `${child} is delegated to again for ${action_id}`
    this.children.set(child, { actionId: action_id, ended: false })
    if (action_id === null) return null
    return this.#calls.get(String(action_id))?.resolved === false ? null : `${action_id} is no open call`
  }

  #childEnds({ payload }: LogEvent): string | null {
    const child = this.children.get(String(payload.child_run_id))
    if (child === undefined) return `${payload.child_run_id} is nobody's child here`
    if (child.ended) return `the result of ${payload.child_run_id} comes again`
    child.ended = true
    return child.actionId === payload.action_id ? null : `${payload.child_run_id} answers ${payload.action_id}`
  }

  #call({ event_type, payload }: LogEvent): string | null {
    const id = String(payload.action_id)
    const call = this.#calls.get(id)
    if (event_type === 'run.tool_call.started') {
      this.#calls.set(id, { requested: false, approved: false, resolved: false })
      return call === undefined ? null : `${id} is called again`
    }
    if (call === undefined || call.resolved) return `${id} is no open call`
    if (event_type === 'run.requires_action') return once(call, 'requested', id)
    if (event_type === 'run.action.approved') return once(call, 'approved', id)
    return once(call, 'resolved', id)
  }

  #finish({ event_type, payload }: LogEvent): string | null {
    this.end = event_type
    if (event_type !== 'run.completed') return null
    const open = [...this.#calls].filter(([, { resolved }]) => !resolved)
    const waiting = [...this.children].filter(([, { ended }]) => !ended)
    if (this.#thinking || open.length + waiting.length > 0) return 'the run is completed in the middle of its work'
    const output = Object(payload.output).text
    return output === this.#text ? null : `the output is ${output}, the model said ${this.#text}`
  }
}

const once = (call: CallOfRun, what: keyof CallOfRun, id: string): string | null => {
  if (call[what]) return `${id} is ${what} again`
  call[what] = true
  return null
}
