import type { ServerToolCall } from '#actors/capability/agent-resources.ts'
import type { ToolRequest } from '#actors/mcp/agents/call-tool.ts'
import { type McpWork, withServer } from '#actors/mcp/client/mcp-connection.ts'
import { McpFailure } from '#actors/mcp/client/mcp-failure.ts'
import type { JsonObject } from '#specs/dsl/json.ts'
import { resultOf } from './call-result.ts'
import { type Progress, ProgressReports } from './progress-reports.ts'
import { hashOf, type Question, questionOf } from './requested-input.ts'

/** Answer to a server's request for input; `content` contains the values of a form. */
export type ElicitAnswer = {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: Readonly<Record<string, string | number | boolean | string[]>>
}

/** An answer given by a person, with the hash of its question. */
export type GivenAnswer = { readonly hash: string; readonly answer: ElicitAnswer }

/** Next step of a call: its result, or a question whose answer the server waits for. */
export type CallStep =
  | { readonly kind: 'done'; readonly result: JsonObject }
  | { readonly kind: 'asked'; readonly question: Question; readonly hash: string }

export interface LiveCallStart {
  readonly guard: McpWork['guard']
  readonly request: ToolRequest
  /** Parameters of `tools/call`. */
  readonly params: { readonly name: string; readonly arguments: Record<string, unknown> }
  /** Answers from an earlier call: a question that the server repeats is answered with them immediately. */
  readonly given: readonly GivenAnswer[]
}

/** Signal that cancels a call, and the receiver of its progress. */
export type FollowedCall = Pick<ServerToolCall, 'signal' | 'progress'>

interface OpenQuestion {
  readonly question: Question
  readonly hash: string
  readonly reply: (answer: ElicitAnswer) => void
}

/** Time in ms within which a server should end a call after its question was cancelled. */
const endingMs = 2_000

/** Maximum duration of a request in ms, including the time for questions. */
const longestMs = 60 * 60 * 1000

/** A tool call whose server may request input from a person over the connection of the call. */
export class LiveCall {
  readonly #stop = new AbortController()
  readonly #limit = new AbortController()
  readonly #waiting: OpenQuestion[] = []
  readonly #given: GivenAnswer[]
  readonly #done: Promise<CallStep>
  readonly #unused: GivenAnswer[]
  #wake = Promise.withResolvers<void>()
  #open: OpenQuestion | null = null
  #reports: ProgressReports | null = null
  #over = false

  constructor({ guard, request, params, given }: LiveCallStart) {
    this.#given = [...given]
    this.#unused = [...given]
    const work: McpWork = {
      ...{ guard, timeoutMs: request.timeoutMs, signal: this.#stop.signal, limit: this.#limit.signal },
      prepare: (client) =>
        client.setRequestHandler('elicitation/create', ({ params: wanted }, { mcpReq }) =>
          this.#put(wanted, mcpReq.signal),
        ),
    }
    const { name, input_schema } = request.tool
    const toolDefinition = { name, inputSchema: { ...input_schema, type: 'object' as const } }
    this.#done = withServer(request.target, work, async ({ client }, signal) => {
      const onprogress = (progress: Progress): void => this.#reports?.add(progress)
      const options = { signal, timeout: longestMs, toolDefinition, allowInputRequired: true, onprogress }
      return { kind: 'done' as const, result: await resultOf(() => client.callTool(params, options)) }
    }).finally(() => {
      this.#over = true
    })
    this.#done.catch(() => {})
  }

  /** Answers given so far. */
  get given(): readonly GivenAnswer[] {
    return this.#given
  }

  /** Resolves when the call has ended, whether it succeeded or failed. */
  get ended(): Promise<unknown> {
    return this.#done.catch(() => {})
  }

  /** Whether the server still waits for the answer to this question. */
  waitsFor(hash: string): boolean {
    return !this.#over && this.#open?.hash === hash
  }

  /** Answers the open question. */
  answer(answer: ElicitAnswer): void {
    const open = this.#open
    if (open === null) return
    this.#open = null
    this.#given.push({ hash: open.hash, answer })
    open.reply(answer)
  }

  /**
   * Waits for the next step. During the wait, `signal` cancels the call at the server, as does the timeout, and
   * `report` receives the call's progress.
   *
   * @throws {McpFailure}
   */
  async next({ signal, progress: report }: FollowedCall, timeoutMs: number): Promise<CallStep> {
    const reports = report === undefined ? null : new ProgressReports(report)
    this.#reports = reports
    const stop = (): void => this.#stop.abort()
    const late = setTimeout(() => this.#limit.abort(new DOMException('no answer in time', 'TimeoutError')), timeoutMs)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    try {
      return await Promise.race([this.#question(), this.#done])
    } finally {
      clearTimeout(late)
      signal.removeEventListener('abort', stop)
      await reports?.end()
    }
  }

  /** Ends the call: cancels its questions, and aborts the call itself if it does not end within `endingMs`. */
  async end(): Promise<void> {
    for (const open of [this.#open, ...this.#waiting]) open?.reply({ action: 'cancel' })
    this.#open = null
    this.#waiting.length = 0
    const late = setTimeout(() => this.#stop.abort(), endingMs)
    await this.ended
    clearTimeout(late)
  }

  async #question(): Promise<CallStep> {
    for (;;) {
      const open = this.#waiting.shift()
      if (open !== undefined) {
        this.#open = open
        return { kind: 'asked', question: open.question, hash: open.hash }
      }
      await this.#wake.promise
      this.#wake = Promise.withResolvers<void>()
    }
  }

  async #put(wanted: unknown, withdrawn: AbortSignal): Promise<ElicitAnswer> {
    const question = questionOf(wanted)
    const hash = hashOf(question)
    const known = this.#unused.findIndex((each) => each.hash === hash)
    const [before] = known < 0 ? [] : this.#unused.splice(known, 1)
    if (before !== undefined) return before.answer
    if (this.#waiting.length >= maxWaiting)
      throw new McpFailure('bad_answer', 'The server requests too much input at once.')
    const answer = Promise.withResolvers<ElicitAnswer>()
    const open = { question, hash, reply: answer.resolve }
    this.#waiting.push(open)
    withdrawn.addEventListener('abort', () => this.#withdraw(open), { once: true })
    this.#wake.resolve()
    return answer.promise
  }

  /** Removes a question that the server has withdrawn: an answer would not be received. */
  #withdraw(open: OpenQuestion): void {
    if (this.#open === open) this.#open = null
    const at = this.#waiting.indexOf(open)
    if (at >= 0) this.#waiting.splice(at, 1)
    open.reply({ action: 'cancel' })
  }
}

/** Maximum number of waiting questions in one call. */
const maxWaiting = 8
