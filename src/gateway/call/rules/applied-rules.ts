import { objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { modelEndpoints } from '#specs/data/model-endpoints.ts'
import type { RoutingRule } from '#specs/resources/gateway/routing-policy.ts'
import { textBytes } from '../accounting/text-bytes.ts'
import { type ActorCaller, type Caller, isRequest, namesInHeader } from '../caller.ts'
import { conversationName } from '../pools/conversation-name.ts'
import { uniformOf } from '../pools/pool-order.ts'
import type { Routes } from '../routes.ts'

/** A call, as far as rules judge it. */
export interface RuledCall {
  readonly caller: Caller | ActorCaller
  /** Operation id. */
  readonly operation: string
  /** The request, with `model`. */
  readonly body: WireObject
  /** What a size is measured of; absent: `messages`. */
  readonly content?: unknown
  /** `metadata` of a request whose body here has none. */
  readonly metadata?: unknown
}

/** A rule that applies to a call, and the model that it names. */
interface AppliedRule {
  readonly name: string
  readonly model: string
  /** Whether the requested model could not serve the request as it was converted. */
  readonly isOnly?: true
}

/** The rules that apply to one call; null for none. */
export interface AppliedRules {
  readonly served: AppliedRule | null
  readonly shadow: AppliedRule | null
}

/** No rules. */
export const noRules: AppliedRules = { served: null, shadow: null }

/** Finds the rules that apply to a call; synchronously for a project in steady use. @throws {StoreUnavailable} */
export const appliedRules = (routes: Pick<Routes, 'rules'>, call: RuledCall): AppliedRules | Promise<AppliedRules> => {
  const { caller, operation } = call
  // an actor without an id works for no conversation
  if (modelEndpoints[operation] === undefined || (!isRequest(caller) && caller.actor === undefined)) return noRules
  const rules = routes.rules?.(caller.project) ?? []
  return rules instanceof Promise ? rules.then((late) => among(late, call)) : among(rules, call)
}

/** The models of a call in the order in which to try them. @param requested what it names itself. */
export const ruledModels = (
  { operation }: Pick<RuledCall, 'operation'>,
  { served }: AppliedRules,
  requested: readonly string[],
): readonly string[] => {
  if (served === null) return requested
  return modelEndpoints[operation]?.fallsBack === true && served.isOnly !== true
    ? [...new Set([served.model, ...requested])]
    : [served.model]
}

const among = (rules: readonly RoutingRule[], call: RuledCall): AppliedRules => {
  if (rules.length === 0) return noRules
  const { rules: kind = 'any', shadows = false } = modelEndpoints[call.operation] ?? {}
  const applies = (rule: RoutingRule, model: string | undefined): AppliedRule | null =>
    model !== undefined &&
    call.caller.models?.has(model) !== false &&
    (kind === 'any' || rule.when?.models !== undefined) &&
    holds(rule, call) &&
    isDrawn(rule, call)
      ? { name: rule.name, model }
      : null
  return {
    served: first(rules, (rule) => applies(rule, rule.model)),
    shadow: shadows ? first(rules, (rule) => applies(rule, rule.shadow_model)) : null,
  }
}

const first = <T, R>(items: readonly T[], of: (item: T) => R | null): R | null => {
  for (const item of items) {
    const found = of(item)
    if (found !== null) return found
  }
  return null
}

const holds = ({ when = {} }: RoutingRule, { caller, body, content, metadata: sent }: RuledCall): boolean => {
  const { models, tenants, tags, metadata = {}, min_bytes, max_bytes } = when
  if (models?.includes(textOf(body.model)) === false) return false
  if (tenants !== undefined && !tenants.includes(caller.tenant ?? '')) return false
  if (tags !== undefined && !isTagged(tags, caller)) return false
  const given = objectOf(sent ?? body.metadata)
  if (!Object.entries(metadata).every(([name, value]) => given[name] === value)) return false
  if (min_bytes === undefined && max_bytes === undefined) return true
  const size = textBytes(content ?? body.messages)
  return size >= (min_bytes ?? 0) && size <= (max_bytes ?? Number.POSITIVE_INFINITY)
}

/** Whether the request has all of the tags. Turns and runs have none. */
const isTagged = (tags: readonly string[], caller: Caller | ActorCaller): boolean => {
  const given = isRequest(caller) ? namesInHeader(caller, caller.headers?.routeTags) : []
  return tags.every((tag) => given.includes(tag))
}

/** Whether the call is in the share of the rule. */
const isDrawn = ({ name, percent = 100 }: RoutingRule, { caller, operation, body }: RuledCall): boolean => {
  if (percent >= 100) return true
  const drawnBy = modelEndpoints[operation]?.fallsBack === false ? ownerOf(caller) : conversationName(caller, body)
  const drawn = drawnBy === null ? Math.random() : uniformOf(`${name} ${drawnBy}`)
  return drawn * 100 < percent
}

/** Vectors of one user are compared with each other, so they are of one model. */
const ownerOf = ({ project, tenant, externalUserId }: Caller | ActorCaller): string =>
  JSON.stringify([project, tenant, externalUserId])

/** The note of `x-route` about the rules of a call; null for none. */
export const ruleNote = ({ served, shadow }: AppliedRules): string | null => {
  const notes = [
    ...(served === null ? [] : [`rule=${served.name}`]),
    ...(shadow === null ? [] : [`shadow=${shadow.name}`]),
  ]
  return notes.length === 0 ? null : notes.join(';')
}
