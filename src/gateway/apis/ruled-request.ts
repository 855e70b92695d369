import type { Caller } from '#gateway/call/caller.ts'
import type { ChatBody } from '#gateway/call/chat-calls.ts'
import { orRefusal } from '#gateway/call/refusal.ts'
import type { Route, Routes } from '#gateway/call/routes.ts'
import { type AppliedRules, appliedRules } from '#gateway/call/rules/applied-rules.ts'
import { ServiceError } from '#specs/errors/errors.ts'

/** A request that is converted for the route that serves it first. */
export interface RuledCallOf<Traits, Request> {
  readonly caller: Caller
  /** Operation id. */
  readonly operation: string
  readonly model: string
  readonly metadata?: unknown
  /** Properties of a route that determine how a request is converted; undefined: no route is known. */
  readonly traitsOf: (route: Route | undefined) => Traits
  readonly convert: (traits: Traits) => Request
}

/** A converted request, and the rules of the routing policy by which its first route was found. */
export interface RuledRequest<Traits, Request> {
  readonly request: Request
  readonly traits: Traits
  readonly rules: AppliedRules
}

/**
 * Converts a request for the model that serves it by the rules of the project. The requested model is its fallback only
 * where its request would be the same.
 *
 * @throws {ServiceError} `model_not_found` and others, when no rule names another model.
 */
export const ruledRequest = async <Traits extends object, Request extends { readonly body: ChatBody }>(
  routes: Routes,
  call: RuledCallOf<Traits, Request>,
): Promise<RuledRequest<Traits, Request>> => {
  const { caller, operation, model, metadata, traitsOf, convert } = call
  const resolved = async (named: string) => orRefusal(async () => routes.resolve(caller.project, named, 'chat'))
  const own = await resolved(model)
  const all = (await routes.rules?.(caller.project)) ?? []
  if (own instanceof ServiceError && all.length === 0) throw own
  const traits = traitsOf(own instanceof ServiceError ? undefined : own[0])
  const request = convert(traits)
  const rules = await appliedRules(routes, { caller, operation, body: request.body, metadata })
  const { served } = rules
  const ruled = served === null ? null : await resolved(served.model)
  if (served === null || ruled === null || ruled instanceof ServiceError) {
    if (own instanceof ServiceError) throw own
    return { request, traits, rules }
  }
  const others = traitsOf(ruled[0])
  if (JSON.stringify(others) === JSON.stringify(traits)) return { request, traits, rules }
  return { request: convert(others), traits: others, rules: { ...rules, served: { ...served, isOnly: true } } }
}
