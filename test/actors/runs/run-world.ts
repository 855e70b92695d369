import type { ResolvedConfig } from '#actors/sessions/turns/resolved-config.ts'
import type { ToolDeclaration } from '#actors/sessions/turns/turn-config.ts'
import { noAgent } from '#actors/sessions/turns/turn-plan.ts'
import type { ModelAnswer, ModelRequest } from '#gateway/call/provider-port.ts'
import type { LogEvent } from '#storage/ports.ts'
import type { TestModel } from '#test/support/test-model.ts'
import { agentConfigOf, callOf, collect, openWorld, type World, type WorldOptions } from '../sessions/harness.ts'

/** The agents of a test, by id. */
export type Agents = Readonly<Record<string, Partial<ResolvedConfig>>>

/** Opens an installation with these agents; any other agent has no tools. */
export const openRuns = (agents: Agents, options: Omit<WorldOptions, 'agents'> = {}): Promise<World> =>
  openWorld({ ...options, agents: async ({ agentId }) => agentConfigOf(agentId, agents[agentId]) })

/** An agent with these tools. */
export const withTools = (...tools: readonly ToolDeclaration[]): Partial<ResolvedConfig> => ({
  config: { ...noAgent, tools },
})

type CreateBody = Parameters<World['useCases']['runs.create']>[0]['body']

/** Starts a run. @returns its id. */
export const startRun = async (world: World, agent: string, more: Partial<CreateBody> = {}): Promise<string> =>
  (await world.useCases['runs.create'](callOf({ agent_id: agent }, {}, { input: { prompt: 'go' }, ...more }))).id

/** A run as it is now. */
export const runOf = (world: World, run: string) => world.useCases['runs.get'](callOf({ run_id: run }, {}, undefined))

/** Ends a run. */
export const cancelRun = (world: World, run: string) => world.useCases['runs.cancel'](callOf({ run_id: run }, {}, {}))

/** The log of a run until it ends. */
export const untilEnd = (world: World, run: string): Promise<readonly LogEvent[]> =>
  collect(world.host.feed.follow(run, 0, { at: 'idle' }))

/** The log of a run until an event of this type, the `count`th. */
export const until = (world: World, run: string, type: string, count = 1): Promise<readonly LogEvent[]> => {
  let seen = 0
  const after = (event: LogEvent): boolean => event.event_type === type && ++seen === count
  return collect(world.host.feed.follow(run, 0, { at: 'never', after }))
}

/** A model that answers depending on the request, so that many runs can call it in any order. */
export class AnsweringModel implements TestModel {
  readonly id = 'answering'
  readonly requests: ModelRequest[] = []
  /** The calls in progress, and the highest number of them so far. */
  running = 0
  max = 0
  readonly #answer: (request: ModelRequest, signal: AbortSignal) => Promise<Partial<ModelAnswer>> | Partial<ModelAnswer>

  constructor(
    answer: (request: ModelRequest, signal: AbortSignal) => Promise<Partial<ModelAnswer>> | Partial<ModelAnswer>,
  ) {
    this.#answer = answer
  }

  async stream(request: ModelRequest, _onDelta: (text: string) => void, signal: AbortSignal): Promise<ModelAnswer> {
    // a conversation grows after the call: records what was requested at that time
    this.requests.push({ ...request, messages: [...request.messages] })
    this.max = Math.max(this.max, ++this.running)
    try {
      const answer = await this.#answer(request, signal)
      if (answer.text !== undefined) _onDelta(answer.text)
      return { model: request.model, text: '', toolCalls: [], usage, finishReason: 'stop', ...answer }
    } finally {
      this.running--
    }
  }
}

const usage = { inputTokens: 10, outputTokens: 5, cachedTokens: 0, reasoningTokens: 0 }
