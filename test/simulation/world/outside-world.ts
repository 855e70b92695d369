import type { ToolOutcome } from '#actors/capability/agent-resources.ts'
import type { ToolCall } from '#actors/sessions/tools/tool-runner.ts'
import { type ModelAnswer, ModelError, type ModelRequest } from '#gateway/call/provider-port.ts'
import { allMessages, type TestModel } from '#test/support/test-model.ts'
import type { Ledger } from '../ledger.ts'
import { chunkOf } from '../sessions/attempt-text.ts'
import { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'
import { latencyMs, type SimProcess } from './sim-process.ts'

/**
 * The model's answer to one call: determined by the key of the call alone, so that a repeated call has the same answer.
 */
interface Script {
  readonly chunks: number
  readonly tools: number
  readonly fails: boolean
}

/** What exists outside of every process and outlives it: the models and the tools, with a record of their calls. */
export class OutsideWorld {
  readonly #seed: number
  readonly #scheduler: Scheduler
  readonly #random: Random
  readonly #note: (text: string) => void
  /** Calls that reached a tool, by action. */
  readonly calls = new Map<string, string[]>()
  ledger: Ledger | undefined
  /** Notified of the time from the commit that requests a model call to its first attempt, in ms. */
  onCalled: (waitMs: number) => void = () => {}
  readonly #attempts = new Map<string, number>()

  constructor(seed: number, scheduler: Scheduler, random: Random, note: (text: string) => void) {
    this.#seed = seed
    this.#scheduler = scheduler
    this.#random = random
    this.#note = note
  }

  /** The number of text chunks in the answer to a model call that is not interrupted. */
  readonly chunksOf = (call: string): number => this.#script(call).chunks

  #script(call: string): Script {
    const random = new Random(`${this.#seed}/${call}`)
    return { chunks: random.between(0, 6), tools: random.between(0, 2), fails: random.chance(0.06) }
  }

  /** The model, as one process reaches it. */
  modelFor(process: SimProcess): TestModel {
    return {
      id: 'simulated',
      stream: (request, onDelta, signal) => this.#speak(process, request, onDelta, signal),
    }
  }

  async #speak(
    process: SimProcess,
    request: ModelRequest,
    onDelta: (text: string) => void,
    signal: AbortSignal,
  ): Promise<ModelAnswer> {
    const call = request.idempotencyKey
    this.#called(process, call, 'the model')
    const script = this.#script(call)
    const attempt = this.#attemptOf(call)
    const requested = attempt === 0 ? this.ledger?.effects.get(call) : undefined
    if (requested !== undefined) this.onCalled(this.#scheduler.now() - requested.at)
    for (let index = 0; index < script.chunks; index++) {
      if (!this.#random.chance(0.3)) await this.#wait(process, signal)
      if (signal.aborted) throw new ModelError('cancelled', 'cancelled')
      onDelta(chunkOf(call, index, attempt))
    }
    await this.#wait(process, signal)
    if (signal.aborted) throw new ModelError('cancelled', 'cancelled')
    if (script.fails) throw new ModelError('provider_error', 'failed as scripted')
    return {
      model: request.model,
      text: '',
      toolCalls: this.#toolCalls(request, script),
      usage: { inputTokens: 1, outputTokens: 1, cachedTokens: 0, reasoningTokens: 0 },
      finishReason: 'stop',
    }
  }

  /** The number of the attempt in the text shows which of them a reader has; a run's readers see no text. */
  #attemptOf(call: string): number {
    if (call.startsWith('run_')) return 0
    const attempt = this.#attempts.get(call) ?? 0
    this.#attempts.set(call, attempt + 1)
    return attempt
  }

  /** Calls tools when it has not called any in this turn, or rarely again. */
  #toolCalls(request: ModelRequest, script: Script): ModelAnswer['toolCalls'] {
    const again = allMessages(request).at(-1)?.role === 'tool'
    const wanted = again && script.tools < 2 ? 0 : script.tools
    return this.#offered(request)
      .slice(0, wanted)
      .map(({ name }, index) => ({ callId: `c${index}`, name, arguments: argumentsOf(name) }))
  }

  /** A run has agents among its tools: any of them may be first. */
  #offered({ tools, idempotencyKey: call }: ModelRequest): ModelRequest['tools'] {
    if (!call.startsWith('run_')) return tools
    const first = new Random(`${this.#seed}/${call}/first`).between(0, Math.max(0, tools.length - 1))
    return [...tools.slice(first), ...tools.slice(0, first)]
  }

  /** Waits some time; a process that has to stop waiting is notified within 100 ms. */
  #wait(process: SimProcess, signal: AbortSignal): Promise<void> {
    const ms = this.#random.chance(0.05) ? this.#random.between(200, 2000) : this.#random.between(0, 40)
    return new Promise((resolve) => {
      process.after(ms, resolve)
      signal.addEventListener('abort', () => process.after(this.#random.between(0, 90), resolve), { once: true })
    })
  }

  /** The server of a tool, as one process reaches it: counts requests, and answers late or not at all. */
  runTool(process: SimProcess, call: ToolCall): Promise<ToolOutcome> {
    const { idempotencyKey: key, actionId, signal } = call
    const arrives = this.#random.chance(0.6)
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve({ ok: false, code: 'cancelled', message: 'cancelled' }))
      this.#called(process, key, `the tool for ${actionId}`)
      this.#scheduler.after(latencyMs(this.#random), () => {
        if (process.dead && !arrives) return
        this.#arrived(call)
        const failed = new Random(`${this.#seed}/${key}`).chance(0.15)
        const outcome: ToolOutcome = failed
          ? { ok: false, code: 'tool_http_error', message: 'failed as scripted' }
          : { ok: true, output: `ran ${key}` }
        process.after(this.#random.between(0, 120), () => resolve(outcome))
      })
    })
  }

  /** A call that a planted defect makes before its commit is written. */
  calledEarly(process: SimProcess, effect: string, actionId: string): void {
    this.#called(process, effect, `the tool for ${actionId}`)
  }

  #arrived({ idempotencyKey: key, actionId, tool }: ToolCall): void {
    const calls = this.calls.get(actionId) ?? []
    this.calls.set(actionId, calls)
    calls.push(key)
    this.#note(`tool called for ${actionId} by ${key}`)
    const once = tool.type !== 'http' || tool.effect !== 'idempotent'
    if (once && calls.length > 1) this.ledger?.broken(`the tool of ${actionId} is called ${calls.length} times`)
    if (new Set(calls).size > 1) this.ledger?.broken(`the tool of ${actionId} is called by ${calls.join(' and ')}`)
    if (once && this.ledger?.started.has(key) === false) this.ledger.broken(`${key} is called before it is marked`)
  }

  #called(process: SimProcess, effect: string, what: string): void {
    this.#note(`${process.name} calls ${what} by ${effect}`)
    const actor = effect.replace(/:\d+:\d+$/, '')
    const known = this.ledger?.effects.has(effect) === true || this.ledger?.forgotten.has(actor) === true
    if (!known) this.ledger?.broken(`${what} is called for ${effect}, which is not in the log`)
  }
}

const argumentsOf = (tool: string): string => (tool.startsWith('delegate_to_') ? '{"task":"dig"}' : '{}')
