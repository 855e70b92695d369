import type { InputAnswer } from '#machines/action/action-data.ts'
import type { ToolProgress } from '#machines/session/session-data.ts'
import type { RequiredInput } from '#machines/tool-call/required-input.ts'
import type { Json, JsonObject } from '#specs/dsl/json.ts'
import type { RequiredConnection } from './connection-service.ts'
import type { House } from './house.ts'

/**
 * A tool that a capability runs for agents which name something of it in their config. It is made when a turn or run
 * begins and kept with it, so that a change of the resource never changes a turn that goes on.
 */
export interface ServerTool {
  readonly type: 'server'
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject
  /** Name of the resource that runs it. */
  readonly resource: string
  /** What the resource has to know at a call; never shown to the model. */
  readonly settings: JsonObject
  /** Whether a call may be repeated after a failure. */
  readonly effect: 'idempotent' | 'at_most_once'
  readonly needsApproval?: boolean
  /** Default: `low`. */
  readonly risk_level?: 'low' | 'medium' | 'high' | 'critical'
  /** A model sees it once a search has found it (`found_tools` in the output of a tool). */
  readonly deferred?: true
}

/**
 * What a tool answered, or why it did not: failures of the world are results, not throws. With `connection` the call has
 * not been made: the turn or run waits until that connection is there, and then the tool is called again.
 */
export type ToolOutcome =
  | { readonly ok: true; readonly output: string }
  | {
      readonly ok: false
      readonly code: string
      readonly message: string
      readonly connection?: RequiredConnection
      /** The call goes on once a person answered this, or refused to. */
      readonly input?: RequiredInput
    }

/** A person's answer to what the server of a tool requested. */
export interface AnsweredInput {
  /** As the request had it. */
  readonly resume: string
  readonly answer: InputAnswer
}

/** One call of a server tool, on behalf of whom the session or run belongs to. */
export interface ServerToolCall {
  readonly project: string
  readonly tenant: string | null
  /** External id of the end user. */
  readonly user: string | null
  readonly tool: ServerTool
  readonly arguments: Json
  /** The action that stands for the call. */
  readonly actionId: string
  /** Present when the call goes on after an answer. */
  readonly input?: AnsweredInput
  readonly sessionId: string | null
  readonly runId: string | null
  /** The same on every retry. */
  readonly idempotencyKey: string
  readonly signal: AbortSignal
  /** Journals how far the call is; resolves when that is durable or dropped. Absent where no one follows. */
  readonly progress?: ReportProgress
}

/** Journals how far a call is. */
export type ReportProgress = (progress: ToolProgress) => Promise<void>

/** An agent as far as a resource has to know it. `tenant` is null without an installation, and then any may come. */
export interface AgentPlace {
  readonly project: string
  readonly tenant: string | null
  readonly agentId: string
  readonly installationId: string | null
}

/** What a resource adds to the turns and runs of an agent. */
export interface Offer {
  /** Text after the agent's own instructions. */
  readonly instructions: readonly string[]
  readonly tools: readonly ServerTool[]
}

/** Something that agents name in their config (`skills`, `knowledge` …), as its capability brings it to their turns. */
export interface AgentResource {
  /** Name of the resource; `ServerTool.resource`. */
  readonly name: string
  /** Fields of an agent's config that name it. */
  readonly fields: readonly string[]
  /** Why what is declared cannot be used; null when it can. */
  missing(place: AgentPlace, declared: Json): Promise<string | null>
  /** @param declared all that the agent's fields name, in order, at least one. */
  offer(place: AgentPlace, declared: readonly Json[]): Promise<Offer>
  /** Never throws for a failure of the world. */
  run(call: ServerToolCall): Promise<ToolOutcome>
  /** Gives up what is kept for an answer that will not come. */
  release?(actionId: string): void
}

const houses = new WeakMap<House, Map<string, AgentResource>>()

/** The resources that capabilities bring to agents, by name. Read them when they are needed: a later capability may bring one. */
export const agentResources = {
  /** Brings a resource; once. @throws {Error} for a name that is taken. */
  give(house: House, resource: AgentResource): void {
    const known = houses.get(house) ?? new Map<string, AgentResource>()
    houses.set(house, known)
    if (known.has(resource.name)) throw new Error(`the resource ${resource.name} is given twice`)
    known.set(resource.name, resource)
  },
  /** All of the house. */
  of(house: House): readonly AgentResource[] {
    return [...(houses.get(house)?.values() ?? [])]
  },
}

/** What a config declares of a resource, over all of its fields. */
export const declaredOf = ({ fields }: AgentResource, config: JsonObject): readonly Json[] =>
  fields.flatMap((field) => {
    const declared = config[field]
    return Array.isArray(declared) ? declared : []
  })

/** What all resources add to an agent of this config. A tool whose name is taken before it is left out. */
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
