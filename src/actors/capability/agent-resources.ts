import type { InputAnswer } from '#machines/action/action-data.ts'
import type { ToolProgress } from '#machines/session/session-data.ts'
import type { RequiredInput } from '#machines/tool-call/required-input.ts'
import type { Json, JsonObject } from '#specs/dsl/json.ts'
import type { RequiredConnection } from './connection-service.ts'
import type { Services } from './services.ts'

/**
 * A tool that a capability runs for agents whose config names one of its resources. It is created when a turn or run
 * starts and is stored with it, so a change of the resource never affects a turn in progress.
 */
export interface ServerTool {
  readonly type: 'server'
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject
  /** Name of the resource that runs it. */
  readonly resource: string
  /** Data for the resource when the tool is called; never shown to the model. */
  readonly settings: JsonObject
  /** Whether a call may be repeated after a failure. */
  readonly effect: 'idempotent' | 'at_most_once'
  readonly needsApproval?: boolean
  /** Default: `low`. */
  readonly risk_level?: 'low' | 'medium' | 'high' | 'critical'
  /** The model sees the tool only after a search has found it (`found_tools` in the output of a tool). */
  readonly deferred?: true
}

/**
 * Outcome of a tool call. External failures are outcomes, and do not throw. With `connection` the call was not made:
 * the turn or run waits until that connection exists, and then the tool is called again.
 */
export type ToolOutcome =
  | { readonly ok: true; readonly output: string }
  | {
      readonly ok: false
      readonly code: string
      readonly message: string
      readonly connection?: RequiredConnection
      /** The call resumes once a person has answered this, or declined to. */
      readonly input?: RequiredInput
    }

/** A person's answer to a question of a tool's server. */
export interface AnsweredInput {
  /** Opaque state from the server's question, returned unchanged. */
  readonly resume: string
  readonly answer: InputAnswer
}

/** One call of a server tool, on behalf of the owner of the session or run. */
export interface ServerToolCall {
  readonly project: string
  readonly tenant: string | null
  /** External id of the end user. */
  readonly user: string | null
  readonly tool: ServerTool
  readonly arguments: Json
  /** Id of the action that represents the call. */
  readonly actionId: string
  /** Present when the call resumes after an answer. */
  readonly input?: AnsweredInput
  readonly sessionId: string | null
  readonly runId: string | null
  /** The same on every retry. */
  readonly idempotencyKey: string
  readonly signal: AbortSignal
  /** Journals progress of the call; resolves when the entry is durable or dropped. Absent where no one follows. */
  readonly progress?: ReportProgress
}

/** Journals the progress of a call. */
export type ReportProgress = (progress: ToolProgress) => Promise<void>

/** The agent that uses a resource. `tenant` is null without an installation: calls of any tenant may follow. */
export interface AgentPlace {
  readonly project: string
  readonly tenant: string | null
  readonly agentId: string
  readonly installationId: string | null
}

/** Instructions and tools that a resource adds to the turns and runs of an agent. */
export interface Offer {
  /** Text after the agent's own instructions. */
  readonly instructions: readonly string[]
  readonly tools: readonly ServerTool[]
}

/** A resource that agents name in their config (`skills`, `knowledge` …), as its capability adds it to their turns. */
export interface AgentResource {
  /** Name of the resource; `ServerTool.resource`. */
  readonly name: string
  /** Fields of an agent's config that name it. */
  readonly fields: readonly string[]
  /** Returns why the declared value cannot be used; null when it can. */
  missing(place: AgentPlace, declared: Json): Promise<string | null>
  /** Returns what the resource adds. @param declared all entries of the agent's fields, in order; at least one. */
  offer(place: AgentPlace, declared: readonly Json[]): Promise<Offer>
  /** Runs a call. Never throws for an external failure. */
  run(call: ServerToolCall): Promise<ToolOutcome>
  /** Ends what waits elsewhere for an answer that will not arrive. Never throws. */
  release?(action: { readonly actionId: string; readonly project: string }): void | Promise<void>
}

const givenResources = new WeakMap<Services, Map<string, AgentResource>>()

/**
 * Registry of the resources that capabilities offer to agents, by name. Read it when the resources are needed, because
 * a capability that opens later may add one.
 */
export const agentResources = {
  /** Adds a resource. @throws {Error} for a name that is taken. */
  give(services: Services, resource: AgentResource): void {
    const known = givenResources.get(services) ?? new Map<string, AgentResource>()
    givenResources.set(services, known)
    if (known.has(resource.name)) throw new Error(`the resource ${resource.name} is given twice`)
    known.set(resource.name, resource)
  },
  of(services: Services): readonly AgentResource[] {
    return [...(givenResources.get(services)?.values() ?? [])]
  },
}

/** Returns what a config declares for a resource, over all of its fields. */
const declaredOf = ({ fields }: AgentResource, config: JsonObject): readonly Json[] =>
  fields.flatMap((field) => {
    const declared = config[field]
    return Array.isArray(declared) ? declared : []
  })

/** Returns what all resources add to an agent with this config. Of tools with the same name, the first is used. */
export const offersOf = async (
  resources: readonly AgentResource[],
  place: AgentPlace,
  config: JsonObject,
): Promise<Offer> => {
  const named = resources.map((resource) => ({ resource, declared: declaredOf(resource, config) }))
  const offers = await Promise.all(
    named.flatMap(({ resource, declared }) => (declared.length === 0 ? [] : [resource.offer(place, declared)])),
  )
  const names = new Set<string>()
  const tools = offers
    .flatMap((offer) => offer.tools)
    .filter(({ name }) => !names.has(name) && names.add(name) !== undefined)
  return { instructions: offers.flatMap(({ instructions }) => instructions), tools }
}
