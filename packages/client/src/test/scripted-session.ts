import type { RequiredInput } from '../events.ts'
import { asFields } from '../schema.ts'
import { ScriptedLog } from './scripted-log.ts'

/** What the model does in a turn: it answers, fails, or calls a tool that waits, and goes on when the call is resolved. */
export type Script =
  | { readonly text: string }
  | { readonly error: { readonly code: string; readonly message: string } }
  | {
      readonly tool: string
      readonly arguments?: unknown
      /** `caller` for a function of the page. */
      readonly run_by?: 'caller'
      /** A call that no page may decide about. */
      readonly approver?: 'operator'
      /** What the tool's server requests of a person. */
      readonly input?: RequiredInput
      readonly next: Script
    }

/** Builds an error as the API answers it. */
export const refusal = (status: number, code: string): Response =>
  Response.json({ error: { type: 'invalid_request_error', code, message: code, param: null } }, { status })

/** The text of a turn's input. */
export const textIn = (input: unknown): string =>
  Array.isArray(input) ? input.flatMap(({ text }) => text ?? []).join('\n\n') : String(input ?? '')

/** One request to a session. */
interface Act {
  readonly body: Readonly<Record<string, unknown>>
  readonly key: string | null
  readonly script: () => Script
}

const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2, cost_usd: '0' }

/** A session whose turns follow scripts. */
export class ScriptedSession {
  readonly log = new ScriptedLog()
  /** Where the turns of keys begin, so that a repeated request makes no second one. */
  readonly #starts = new Map<string, number>()
  #turn = 0
  #input: unknown = ''
  #waiting: { readonly actionId: string; readonly next: Script; readonly resolution: string } | null = null
  #isBusy = false

  /** Sequence before the turn that a key began. */
  startOf(key: string | null): number | undefined {
    return this.#starts.get(key ?? '')
  }

  /** Carries out a request. @returns a refusal, or null */
  act(what: string, { body, key, script }: Act): Response | null {
    if (what === 'cancel') return this.#cancel()
    if (what === 'turns') {
      if (this.startOf(key) !== undefined) return null
      if (this.#isBusy) return refusal(409, 'turn_in_progress')
      this.#starts.set(key ?? '', this.log.last)
      this.#begin(body, script())
      return null
    }
    if (this.#waiting?.actionId !== body.action_id) return refusal(409, 'action_already_resolved')
    if (what === 'approve') this.#approve(body.tool_results)
    else this.#reject()
    return null
  }

  #begin({ input, retry_of }: Act['body'], script: Script): void {
    this.#isBusy = true
    this.#input = input ?? (retry_of === undefined ? '' : this.#input)
    const parts = Array.isArray(this.#input) ? { input: this.#input } : {}
    const more = { ...parts, ...(retry_of !== undefined && { retry_of }) }
    const input_text = textIn(this.#input)
    this.log.add('turn.started', { turn_number: ++this.#turn, model: 'scripted', input_text, ...more })
    this.#play(script)
  }

  #play(script: Script): void {
    if ('text' in script) {
      for (const [word] of script.text.matchAll(/\S+\s*/g)) this.log.add('output_text.delta', { delta: word })
      this.#complete(script.text)
    } else if ('error' in script) this.#fail(script.error)
    else {
      const { tool, next, run_by, approver, input } = script
      const actionId = `act_${this.log.last + 1}`
      const call = { tool, arguments: script.arguments ?? {}, action_id: actionId, ...(run_by && { run_by }) }
      const who = run_by === undefined ? approver !== 'operator' && { approver: 'end_user' } : { declared_by: 'page' }
      this.#waiting = { actionId, next, resolution: input ? 'answered' : 'approved' }
      this.log.add('tool_call.started', call)
      const wait = input ? { reason: 'input_required', input } : { reason: 'approval_required' }
      this.log.add('turn.paused', { ...wait, ...call, ...who })
    }
  }

  #approve(results: unknown): void {
    const { actionId: action_id, resolution } = this.#waiting ?? {}
    const [result] = Array.isArray(results) ? results : []
    const output = result === undefined ? undefined : String(asFields(result).output)
    this.log.add('turn.resumed', { action_id, resolution, ...(output !== undefined && { output }) })
    if (output === undefined) this.log.add('tool_call.completed', { tool: '', output: 'ok', action_id })
    const next = this.#waiting?.next
    this.#waiting = null
    if (next !== undefined) this.#play(next)
  }

  #reject(): void {
    this.log.add('turn.resumed', { action_id: this.#waiting?.actionId, resolution: 'rejected' })
    this.#complete('')
  }

  #cancel(): Response | null {
    if (!this.#isBusy) return refusal(409, 'no_turn_in_progress')
    this.#fail({ code: 'cancelled', message: 'The turn was cancelled.' })
    return null
  }

  #complete(output: string): void {
    this.#end()
    this.log.add('turn.completed', { turn_number: this.#turn, output, usage })
  }

  #fail(error: { readonly code: string; readonly message: string }): void {
    this.#end()
    this.log.add('turn.failed', { turn_number: this.#turn, output: { text: '', error }, error, usage })
  }

  #end(): void {
    this.#isBusy = false
    this.#waiting = null
  }
}
