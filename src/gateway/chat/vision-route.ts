import { arrayOf, isObject } from '#outgoing/wire.ts'
import type { ChatBody } from '../call/chat-calls.ts'
import type { Route } from '../call/routes.ts'
import { capabilitiesOf, visionModelOf } from '../prices/model-capabilities.ts'

const upgrades = new WeakMap<Route, Route>()

/** Whether a request shows images. */
export const showsImages = ({ messages }: ChatBody): boolean =>
  arrayOf(messages).some(
    (message) => isObject(message) && Array.isArray(message.content) && message.content.some(isImage),
  )

/**
 * The route on which the same provider can see (`chat_completions.create`): another model of it where the requested one is
 * known not to. An unknown model is taken at its word.
 */
export const visionRoute = (route: Route): Route => {
  const known = upgrades.get(route)
  if (known !== undefined) return known
  const capabilities = capabilitiesOf(route.provider, route.model)
  const model = capabilities === null || capabilities.includes('vision') ? null : visionModelOf(route.provider)
  const made = model === null ? route : Object.freeze({ ...route, model })
  upgrades.set(route, made)
  return made
}

const isImage = (part: unknown): boolean => isObject(part) && part.type === 'image_url'
