import type { InFlight } from '#machines/index.ts'
import type { ResultOf } from '#specs/index.ts'
import type { Json, JsonObject, Storage } from '#storage/index.ts'
import { isObject } from '../runtime/index.ts'
import type { Resident } from '../runtime/internal.ts'
import { defaultTimeoutMs } from '../sessions/tools/http-tool.ts'
import { TurnConfigs, toolName } from '../sessions/turns/turn-config.ts'

type Flight = ResultOf<'project_actors.get'>['in_flight'][number]

/** A description of an effect's target for people: a model, or a tool with its URL; and its timeout in ms. */
interface About {
  readonly about: string | null
  readonly timeoutMs: number | null
}

const nothing: About = { about: null, timeoutMs: null }

/** The effects of an actor that have no result yet, each with its target and deadline. */
export const flightsOf = (storage: Pick<Storage, 'blobs' | 'commits'>, actor: Resident): Promise<readonly Flight[]> =>
  Promise.all(Object.entries(actor.state.inFlight).map(([id, flight]) => flightView(storage, actor, { ...flight, id })))

const flightView = async (
  storage: Pick<Storage, 'blobs' | 'commits'>,
  actor: Resident,
  { id, name, policy, started, params }: InFlight & { readonly id: string },
): Promise<Flight> => {
  const { about, timeoutMs } = await aboutOf(storage, actor, { name, params }).catch(() => nothing)
  const begun = await storage.commits.at(actor.id, Number(id.split(':')[1]))
  return {
    ...{ id, name, policy, started: started ?? false, about },
    since: begun === null ? null : new Date(begun.at).toISOString(),
    deadline: begun === null || timeoutMs === null ? null : new Date(begun.at + timeoutMs).toISOString(),
  }
}

const aboutOf = async (
  storage: Pick<Storage, 'blobs'>,
  { owner, state }: Resident,
  { name, params }: Pick<InFlight, 'name' | 'params'>,
): Promise<About> => {
  const context: JsonObject = state.snapshot.context
  if (name === 'callModel') return { ...nothing, about: textOf(context.model) }
  if (name === 'attemptDelivery') return { ...nothing, about: textOf(context.event_type) }
  if (name !== 'runTool') return nothing
  const tool = textOf(context.tool) ?? calledTool(context.calls, params.action_id)
  if (tool === null) return nothing
  const request = textOf(context.execute)
  if (request !== null) return httpTool(tool, JSON.parse(request))
  const { tools } = await new TurnConfigs(storage.blobs).read(owner.project, context.config ?? null)
  const declared = tools.find((each) => toolName(each) === tool)
  return declared?.type === 'http' ? httpTool(tool, declared) : { ...nothing, about: tool }
}

const calledTool = (calls: Json | undefined, action: Json | undefined): string | null => {
  const call = (Array.isArray(calls) ? calls : []).find((each: Json) => isObject(each) && each.action_id === action)
  return isObject(call) ? textOf(call.tool) : null
}

/** Describes an http tool without the query of its URL, which may contain a secret. */
const httpTool = (tool: string, declared: Json): About => {
  const { method = 'POST', url, timeout_ms } = isObject(declared) ? declared : {}
  const place = typeof url === 'string' ? URL.parse(url) : null
  return {
    about: place === null ? tool : `${tool} ${textOf(method) ?? 'POST'} ${place.origin}${place.pathname}`,
    timeoutMs: typeof timeout_ms === 'number' ? timeout_ms : defaultTimeoutMs,
  }
}

const textOf = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null)
