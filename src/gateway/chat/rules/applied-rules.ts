import { type Caller, isRequest, namesInHeader } from '#gateway/call/caller.ts'
import { uniformOf } from '#gateway/call/pools/pool-order.ts'
import type { Routes } from '#gateway/call/routes.ts'
import { textBytes } from '#gateway/documents/text-bytes.ts'
import { objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import type { RoutingRule } from '#specs/resources/gateway/routing-policy.ts'
import type { ChatRunRequest } from '../chat-run-request.ts'
import { conversationName } from '../conversation-name.ts'

/** A rule that applies to a call, and the model that it names. */
interface AppliedRule {
  readonly name: string
  readonly model: string
}

/** The rules that apply to one call; null for none. */
export interface AppliedRules {
  readonly served: AppliedRule | null
  readonly shadow: AppliedRule | null
}

const none: AppliedRules = { served: null, shadow: null }

/** Operations whose requests any model can be given, as their fallbacks are. */
const ruled: ReadonlySet<string> = new Set(['chat_completions.create', 'ai_chat.create', 'responses.create'])

/** Finds the rules that apply to a call; synchronously for a project in steady use. @throws {StoreUnavailable} */
export const appliedRules = (
  routes: Pick<Routes, 'rules'>,
  { caller, operation, body, formatFor }: ChatRunRequest,
): AppliedRules | Promise<AppliedRules> => {
  if (!isRequest(caller) || formatFor !== undefined || !ruled.has(operation)) return none
  const rules = routes.rules?.(caller.project) ?? []
  return rules instanceof Promise ? rules.then((late) => among(late, caller, body)) : among(rules, caller, body)
}

const among = (rules: readonly RoutingRule[], caller: Caller, body: WireObject): AppliedRules => {
  if (rules.length === 0) return none
  const applies = (rule: RoutingRule, model: string | undefined): AppliedRule | null =>
    model !== undefined &&
    caller.models?.has(model) !== false &&
    holds(rule, caller, body) &&
    isDrawn(rule, caller, body)
      ? { name: rule.name, model }
      : null
  return {
    served: first(rules, (rule) => applies(rule, rule.model)),
    shadow: first(rules, (rule) => applies(rule, rule.shadow_model)),
  }
}

const first = <T, R>(items: readonly T[], of: (item: T) => R | null): R | null => {
  for (const item of items) {
    const found = of(item)
    if (found !== null) return found
  }
  return null
}

const holds = ({ when = {} }: RoutingRule, caller: Caller, body: WireObject): boolean => {
  const { models, tenants, tags, metadata = {}, min_bytes, max_bytes } = when
  if (models?.includes(textOf(body.model)) === false) return false
  if (tenants !== undefined && !tenants.includes(caller.tenant ?? '')) return false
  if (tags !== undefined && !isTagged(tags, caller)) return false
  const given = objectOf(body.metadata)
  if (!Object.entries(metadata).every(([name, value]) => given[name] === value)) return false
  if (min_bytes === undefined && max_bytes === undefined) return true
  const size = textBytes(body.messages)
  return size >= (min_bytes ?? 0) && size <= (max_bytes ?? Number.POSITIVE_INFINITY)
}

/** Whether the request has all of the tags. */
const isTagged = (tags: readonly string[], caller: Caller): boolean => {
  const given = namesInHeader(caller, caller.headers?.routeTags)
  return tags.every((tag) => given.includes(tag))
}

/** Whether the call is in the share of the rule. */
const isDrawn = ({ name, percent = 100 }: RoutingRule, caller: Caller, body: WireObject): boolean => {
  if (percent >= 100) return true
  const conversation = conversationName(caller, body)
  const drawn = conversation === null ? Math.random() : uniformOf(`${name} ${conversation}`)
  return drawn * 100 < percent
}

/** The note of `x-route` about the rules of a call; null for none. */
export const ruleNote = ({ served, shadow }: AppliedRules): string | null => {
  const notes = [
    ...(served === null ? [] : [`rule=${served.name}`]),
    ...(shadow === null ? [] : [`shadow=${shadow.name}`]),
  ]
  return notes.length === 0 ? null : notes.join(';')
}
