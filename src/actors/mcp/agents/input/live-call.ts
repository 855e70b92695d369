import type { ServerToolCall } from '#actors/capability/agent-resources.ts'
import type { ToolRequest } from '#actors/mcp/agents/call-tool.ts'
import { type McpWork, withServer } from '#actors/mcp/client/mcp-connection.ts'
import { McpFailure } from '#actors/mcp/client/mcp-failure.ts'
import type { JsonObject } from '#specs/dsl/json.ts'
import { resultOf } from './call-result.ts'
import { type Progress, ProgressReports } from './progress-reports.ts'
import { hashOf, type Question, questionOf } from './requested-input.ts'

/** What a server hears of its question: `content` are the values of a form. */
export type ElicitAnswer = {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: Readonly<Record<string, string | number | boolean | string[]>>
}

/** An answer that a person gave, by the question that it is for. */
export type GivenAnswer = { readonly hash: string; readonly answer: ElicitAnswer }

/** What a call comes to next: its result, or a question that the server waits for an answer of. */
export type CallStep =
  | { readonly kind: 'done'; readonly result: JsonObject }
  | { readonly kind: 'asked'; readonly question: Question; readonly hash: string }

/** How a call begins. */
export interface LiveCallStart {
  readonly guard: McpWork['guard']
  readonly request: ToolRequest
  /** Parameters of `tools/call`. */
  readonly params: { readonly name: string; readonly arguments: Record<string, unknown> }
  /** Answers that were given in an earlier call: a question that is put again has its answer at once. */
  readonly given: readonly GivenAnswer[]
}

/** What ends a wait for a call, and who hears how far it is. */
export type FollowedCall = Pick<ServerToolCall, 'signal' | 'progress'>

interface OpenQuestion {
  readonly question: Question
  readonly hash: string
  readonly reply: (answer: ElicitAnswer) => void
}

/** Time for a server to end by itself once its question was dismissed, in ms. */
const endingMs = 2_000

/** No request is open longer, questions included, in ms. */
const longestMs = 60 * 60 * 1000

/** A call of a tool whose server may put questions to a person over the connection of the call. */
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

  /** Answers that people gave so far. */
  get given(): readonly GivenAnswer[] {
    return this.#given
  }

  /** Resolves when the call has ended, however it did. */
  get ended(): Promise<unknown> {
    return this.#done.catch(() => {})
  }

  /** Whether the server still waits for an answer of this question. */
  waitsFor(hash: string): boolean {
    return !this.#over && this.#open?.hash === hash
  }

  /** Answers the question that is open. */
  answer(answer: ElicitAnswer): void {
    const open = this.#open
    if (open === null) return
    this.#open = null
    this.#given.push({ hash: open.hash, answer })
    open.reply(answer)
  }

  /**
   * What comes next. While it is waited for, `signal` cancels the call at the server, and so does the end of the time; and
   * `report` hears how far the call is.
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

  /** Ends the call: the server hears that its questions are dismissed, and then that the call is cancelled. */
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
    if (this.#waiting.length >= mostWaiting)
      throw new McpFailure('bad_answer', 'The server requests too much input at once.')
    const answer = Promise.withResolvers<ElicitAnswer>()
    const open = { question, hash, reply: answer.resolve }
    this.#waiting.push(open)
    withdrawn.addEventListener('abort', () => this.#withdraw(open), { once: true })
    this.#wake.resolve()
    return answer.promise
  }

  /** The server does not wait any longer: an answer would reach no one. */
  #withdraw(open: OpenQuestion): void {
    if (this.#open === open) this.#open = null
    const at = this.#waiting.indexOf(open)
    if (at >= 0) this.#waiting.splice(at, 1)
    open.reply({ action: 'cancel' })
  }
}

/** Questions of one call that wait for their turn. */
const mostWaiting = 8
